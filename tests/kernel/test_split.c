/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_split.c - huge pages become 512 small ones: bytes, entries, counts and lists stay right in
 * every address space that maps them, beside threads that fault, zap, fork and protect, and with
 * the pages on their way to swap; a huge page somebody holds stays as it is.
 */
#include "arch/uaccess.h"
#include "lib/errno.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/kmem/vmalloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/reclaim/scan.h"
#include "mm/swap/swap.h"
#include "mm/vm/aspace.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"
#include "trace/irqsoff.h"

#define P PAGE_SIZE
#define ANON 0x22
#define FIXED 0x10
#define RW 3
#define BASE 0x40000000ul
#define DONTNEED 4
#define PAGEOUT 21

DECLARE_SWITCH(split_huge_irq);
static u32 thp_before;

static int poke(unsigned long addr, u32 v)
{
	return put_user_u32(v, (u32 __user *)addr);
}

static u32 peek(unsigned long addr)
{
	u32 v;

	return get_user_u32(&v, (const u32 __user *)addr) ? 0xdead : v;
}

static void thp_on(void)
{
	thp_before = thp_enabled;
	WRITE_ONCE(switch_thp.value, THP_ALWAYS);
}

static void thp_off(void)
{
	WRITE_ONCE(switch_thp.value, thp_before);
}

/* The entry a huge page would have at addr. */
static pte_t pmd_at(struct aspace *mm, unsigned long addr)
{
	pte_t *pmd = pt_find_pmd(mm, addr);

	return pmd ? pte_read(pmd) : (pte_t){ 0 };
}

/* The huge page behind addr, referenced, or NULL. => mm->lock, or nobody else is in mm */
static struct page *head_at(struct aspace *mm, unsigned long addr)
{
	pte_t *pmd = pt_find_pmd(mm, addr), e;
	struct page *head = NULL;

	if (!pmd)
		return NULL;
	spin_lock(&mm->pt_lock);
	e = pte_read(pmd);
	if (pmd_thp(e)) {
		head = pfn_to_page(pte_pfn(e));
		page_get(head);
	}
	spin_unlock(&mm->pt_lock);
	return head;
}

/* n huge pages at BASE, every small page with its number. NULL: there was no block, or no memory */
static struct aspace *make(unsigned long n)
{
	struct aspace *mm = aspace_create();

	if (!mm)
		return NULL;
	aspace_use(mm);
	if (vm_map(mm, NULL, NULL, BASE, n * HPAGE_SIZE, RW, ANON | FIXED, 0, 0, NULL) == BASE) {
		for (unsigned long i = 0; i < n * HPAGE_NR; i++)
			if (poke(BASE + i * P + 16, (u32)i + 1))
				break;
		if (pmd_thp(pmd_at(mm, BASE)) && pmd_thp(pmd_at(mm, BASE + (n - 1) * HPAGE_SIZE)))
			return mm;
	}
	aspace_use(NULL);
	aspace_put(mm);
	return NULL;
}

static void unmake(struct aspace *mm)
{
	aspace_use(NULL);
	aspace_put(mm);
	thp_off();
}

/* How many of the small pages from the first-th on do not have their number. => in mm */
static long wrong(unsigned long first, unsigned long n)
{
	long bad = 0;

	for (unsigned long i = first; i < first + n; i++)
		bad += peek(BASE + i * P + 16) != (u32)i + 1;
	return bad;
}

struct sums {
	long anon, thps, lru, isolated;
};

static struct sums sums(void)
{
	lru_drain_all();
	return (struct sums){ .anon = global_zone_state(NR_ANON_PAGES),
			      .thps = global_zone_state(NR_ANON_THPS),
			      .lru = global_zone_state(NR_ACTIVE_ANON) +
				     global_zone_state(NR_INACTIVE_ANON),
			      .isolated = global_zone_state(NR_ISOLATED_ANON) };
}

/* NULL, or which of the small pages of a split huge one is not as it should be */
static const char *pages_wrong(struct page *head, int mapped)
{
	for (unsigned int i = 0; i < HPAGE_NR; i++) {
		struct page *page = head + i;

		if (compound_order(page) || page_test(page, PG_tail))
			return "still part of a block";
		if (page->index != head->index + i || page->anon_vma != head->anon_vma)
			return "another owner or number";
		if (page_mapcount(page) != mapped || atomic_read(&page->refs) != mapped)
			return "map count or references";
		if (!page_test(page, PG_lru) || !page_test(page, PG_anon) ||
		    !page_test(page, PG_swapbacked) || !page_test(page, PG_uptodate) ||
		    page_test(page, PG_locked))
			return "flags";
	}
	return NULL;
}

KTEST(split, alone)
{
	struct sums start = sums(), before, after;
	u64 split = vm_event_sum(THP_SPLIT_PAGE), pmds = vm_event_sum(THP_SPLIT_PMD);
	struct aspace *mm;
	struct page *head;

	thp_on();
	mm = make(2);
	if (!mm) {
		thp_off();
		KT_SKIP("no block of order 9");
	}
	KT_ASSERT(!aspace_check(mm));
	before = sums();
	KT_EQ(before.thps, start.thps + 2);
	KT_EQ(before.anon, start.anon + 2 * HPAGE_NR);
	KT_EQ(before.lru, start.lru + 2 * HPAGE_NR);
	head = head_at(mm, BASE);
	page_put(head);
	thp_split_addr(mm, BASE + 77 * P);
	KT_ASSERT(pt_is_table(pmd_at(mm, BASE)));
	KT_ASSERT(pmd_thp(pmd_at(mm, BASE + HPAGE_SIZE)));
	after = sums();
	KT_EQ(after.thps, start.thps + 1);
	KT_EQ(after.anon, before.anon);
	KT_EQ(after.lru, before.lru);
	KT_ASSERT(!pages_wrong(head, 1));
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE), split + 1);
	KT_EQ(vm_event_sum(THP_SPLIT_PMD), pmds + 1);
	KT_EQ(wrong(0, 2 * HPAGE_NR), 0);
	KT_ASSERT(pte_dirty(pte_read(pt_find(mm, BASE + 3 * P))));
	for (unsigned long i = 0; i < HPAGE_NR; i++)
		KT_EQ(poke(BASE + i * P + 16, (u32)i + 1), 0);
	thp_split_addr(mm, BASE); /* a table already, and nothing at all */
	thp_split_addr(mm, BASE + 64 * HPAGE_SIZE);
	KT_ASSERT(!aspace_check(mm));
	KT_EQ(vm_madvise(mm, BASE + 5 * P, P, DONTNEED), 0);
	KT_EQ(peek(BASE + 5 * P + 16), 0);
	KT_EQ(wrong(6, HPAGE_NR - 6), 0);
	unmake(mm);
	after = sums();
	KT_EQ(after.thps, start.thps);
	KT_EQ(after.anon, start.anon);
	KT_EQ(after.lru, start.lru);
}

/* Both children and the parent see the split, whoever does it. */
KTEST(split, shared_by_fork)
{
	struct sums start = sums();
	struct aspace *mm, *a, *b;
	struct page *head;

	thp_on();
	mm = make(1);
	if (!mm) {
		thp_off();
		KT_SKIP("no block of order 9");
	}
	a = aspace_fork(mm);
	KT_ASSERT(!IS_ERR(a));
	b = aspace_fork(a);
	KT_ASSERT(!IS_ERR(b));
	KT_ASSERT(pmd_thp(pmd_at(mm, BASE)) && pmd_thp(pmd_at(a, BASE)) &&
		  pmd_thp(pmd_at(b, BASE)));
	head = head_at(b, BASE);
	KT_EQ(page_mapcount(head), 3);
	page_put(head);
	thp_split_addr(b, BASE + P);
	lru_drain_all();
	KT_ASSERT(pt_is_table(pmd_at(mm, BASE)) && pt_is_table(pmd_at(a, BASE)) &&
		  pt_is_table(pmd_at(b, BASE)));
	KT_ASSERT(!pages_wrong(head, 3));
	KT_ASSERT(!aspace_check(mm) && !aspace_check(a) && !aspace_check(b));
	KT_EQ(wrong(0, HPAGE_NR), 0);
	KT_EQ(poke(BASE + 9 * P + 16, 1234), 0);
	aspace_use(a);
	KT_EQ(wrong(0, HPAGE_NR), 0);
	KT_EQ(poke(BASE + 10 * P + 16, 4321), 0);
	aspace_use(b);
	KT_EQ(wrong(0, HPAGE_NR), 0);
	aspace_use(mm);
	KT_EQ(peek(BASE + 9 * P + 16), 1234);
	KT_EQ(wrong(10, HPAGE_NR - 10), 0);
	KT_ASSERT(!aspace_check(mm) && !aspace_check(a) && !aspace_check(b));
	aspace_put(a);
	aspace_use(NULL);
	aspace_put(b);
	unmake(mm);
	KT_EQ(sums().anon, start.anon);
	KT_EQ(sums().lru, start.lru);
	KT_EQ(sums().thps, start.thps);
}

KTEST(split, held_stays)
{
	u64 failed = vm_event_sum(THP_SPLIT_PAGE_FAILED);
	struct aspace *mm, *child;
	struct page *head;
	struct mutex *lock;
	u64 entry;

	thp_on();
	mm = make(1);
	if (!mm) {
		thp_off();
		KT_SKIP("no block of order 9");
	}
	child = aspace_fork(mm);
	KT_ASSERT(!IS_ERR(child));
	head = head_at(mm, BASE);
	page_get(head); /* somebody else's */
	page_lock(head);
	entry = pmd_at(child, BASE).v;
	KT_EQ(split_huge_page(head, 1, true), -EBUSY);
	KT_EQ(pmd_at(child, BASE).v, entry);
	KT_ASSERT(pmd_thp(pmd_at(mm, BASE)) && page_is_thp(head));
	KT_EQ(page_mapcount(head), 2);
	KT_EQ(atomic_read(&head->refs), 4);
	KT_ASSERT(!aspace_check(mm) && !aspace_check(child));
	KT_EQ(wrong(0, HPAGE_NR), 0);
	page_put(head);
	lock = &head->anon_vma->root->lock;
	mutex_lock(lock);
	KT_EQ(split_huge_page(head, 1, false), -EAGAIN);
	mutex_unlock(lock);
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE_FAILED), failed + 2);
	KT_EQ(split_huge_page(head, 1, false), 0);
	KT_ASSERT(page_test(head, PG_locked) && !page_test(head, PG_head));
	page_unlock(head);
	page_put(head);
	lru_drain_all();
	KT_ASSERT(!pages_wrong(head, 2));
	aspace_put(child);
	KT_EQ(wrong(0, HPAGE_NR), 0);
	KT_ASSERT(!aspace_check(mm));
	unmake(mm);
}

/* Off the list (reclaim has it), or waiting to be put on it. */
KTEST(split, wherever_the_head_is)
{
	struct sums start = sums(), now;
	struct aspace *mm;
	struct page *head;

	thp_on();
	mm = make(2); /* both wait in the batch of this CPU, unless we moved */
	if (!mm) {
		thp_off();
		KT_SKIP("no block of order 9");
	}
	thp_split_addr(mm, BASE);
	now = sums();
	KT_EQ(now.lru, start.lru + 2 * HPAGE_NR);
	head = head_at(mm, BASE + HPAGE_SIZE);
	KT_ASSERT(lru_isolate(head));
	page_put(head);
	now = sums();
	KT_EQ(now.lru, start.lru + HPAGE_NR);
	page_lock(head);
	KT_EQ(split_huge_page(head, 1, false), 0);
	page_unlock(head);
	KT_ASSERT(!page_test(head, PG_lru) && page_test(head + 1, PG_lru));
	now = sums();
	KT_EQ(now.lru, start.lru + 2 * HPAGE_NR - 1);
	lru_putback(head);
	now = sums();
	KT_EQ(now.lru, start.lru + 2 * HPAGE_NR);
	KT_ASSERT(!pages_wrong(head, 1));
	KT_EQ(wrong(0, 2 * HPAGE_NR), 0);
	KT_ASSERT(!aspace_check(mm));
	unmake(mm);
	KT_EQ(sums().lru, start.lru);
	KT_EQ(sums().anon, start.anon);
}

KTEST(split, across_a_border)
{
	struct aspace *mm;

	thp_on();
	mm = make(2);
	if (!mm) {
		thp_off();
		KT_SKIP("no block of order 9");
	}
	thp_split_across(mm, BASE + HPAGE_SIZE); /* between the two */
	KT_ASSERT(pmd_thp(pmd_at(mm, BASE)) && pmd_thp(pmd_at(mm, BASE + HPAGE_SIZE)));
	KT_EQ(vm_munmap(BASE + 100 * P, 50 * P), 0);
	KT_ASSERT(pt_is_table(pmd_at(mm, BASE)) && pmd_thp(pmd_at(mm, BASE + HPAGE_SIZE)));
	KT_EQ(wrong(0, 100), 0);
	KT_EQ(wrong(150, 2 * HPAGE_NR - 150), 0);
	KT_ASSERT(!aspace_check(mm));
	KT_EQ(vm_mprotect(BASE + HPAGE_SIZE + 8 * P, 8 * P, 1), 0);
	KT_ASSERT(pt_is_table(pmd_at(mm, BASE + HPAGE_SIZE)));
	KT_ASSERT(poke(BASE + HPAGE_SIZE + 9 * P, 1));
	KT_EQ(poke(BASE + HPAGE_SIZE + 7 * P, 1), 0);
	KT_EQ(wrong(150, 2 * HPAGE_NR - 150), 0);
	KT_ASSERT(!aspace_check(mm));
	unmake(mm);
}

/* ---- swap ---- */

#define SLOTS 4096ul
static char *swap_data;

static int submit(void *owner, u64 slot, struct page *page, bool write,
		  void (*done)(struct page *page, int err))
{
	char *va = page_kmap(page);

	if (write)
		memcpy(swap_data + slot * P, va, P);
	else
		memcpy(va, swap_data + slot * P, P);
	page_kunmap(va);
	done(page, 0);
	return 0;
}

static void release(void *owner) {}
static const struct swap_ops swap_test_ops = { .submit = submit, .release = release };

static int swap_on(void)
{
	struct swap_new n = {
		.path = "/split", .ops = &swap_test_ops, .owner = &swap_data, .slots = SLOTS
	};

	swap_data = vmalloc(SLOTS * P);
	return swap_data ? swap_area_add(&n) : -ENOMEM;
}

static int swap_off(void)
{
	int err = swap_area_remove(&swap_data);

	vfree(swap_data);
	return err;
}

/* What reclaim does with a page at the end of its list. => head referenced: consumed */
static unsigned long reclaim(struct page *head)
{
	bool taken = lru_isolate(head);

	page_put(head);
	return taken ? reclaim_isolated(&head, 1) : 0;
}

/* Reclaim splits it, and swaps its head; the others come next. */
KTEST(split, reclaimed)
{
	struct sums start = sums();
	u64 split, out;
	struct aspace *mm, *child;
	struct page *head;

	KT_EQ(swap_on(), 0);
	thp_on();
	mm = make(1);
	child = mm ? aspace_fork(mm) : NULL;
	if (!mm || IS_ERR(child)) {
		thp_off();
		swap_off();
		KT_SKIP("no block of order 9");
	}
	lru_drain_all();
	split = vm_event_sum(THP_SPLIT_PAGE);
	out = vm_event_sum(PSWPOUT);
	reclaim(head_at(mm, BASE)); /* used just now: it stays */
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE), split);
	head = head_at(mm, BASE);
	KT_ASSERT(head && page_test(head, PG_active));
	lru_deactivate(head);
	lru_drain_all();
	KT_EQ(reclaim(head), 1);
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE), split + 1);
	KT_EQ(vm_event_sum(PSWPOUT), out + 1);
	KT_ASSERT(pte_swap(pte_read(pt_find(mm, BASE))) &&
		  pte_swap(pte_read(pt_find(child, BASE))));
	KT_ASSERT(pte_mapped(pte_read(pt_find(mm, BASE + P))));
	KT_ASSERT(!aspace_check(mm) && !aspace_check(child));
	KT_EQ(wrong(0, HPAGE_NR), 0);
	KT_EQ(vm_madvise(mm, BASE, HPAGE_SIZE, PAGEOUT), 0);
	aspace_use(child);
	KT_EQ(wrong(0, HPAGE_NR), 0);
	aspace_use(mm);
	KT_EQ(wrong(0, HPAGE_NR), 0);
	KT_ASSERT(!aspace_check(mm) && !aspace_check(child) && !swapcache_check());
	aspace_put(child);
	unmake(mm);
	KT_EQ(swap_off(), 0);
	KT_EQ(sums().anon, start.anon);
	KT_EQ(sums().lru, start.lru);
	KT_EQ(sums().isolated, start.isolated);
}

/* Without a place to go it stays what it is. */
KTEST(split, no_swap_no_split)
{
	u64 split = vm_event_sum(THP_SPLIT_PAGE);
	struct aspace *mm;
	struct page *head;

	if (nr_swap_pages())
		KT_SKIP("there is swap");
	thp_on();
	mm = make(1);
	if (!mm) {
		thp_off();
		KT_SKIP("no block of order 9");
	}
	lru_drain_all();
	for (int i = 0; i < 3; i++) {
		head = head_at(mm, BASE);
		lru_deactivate(head);
		reclaim(head);
	}
	KT_ASSERT(pmd_thp(pmd_at(mm, BASE)));
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE), split);
	KT_ASSERT(!aspace_check(mm));
	unmake(mm);
}

/* ---- a crowd, and two who split ---- */

#define CROWD 3
#define HUGE_PAGES 4ul
#define PAGES (HUGE_PAGES * HPAGE_NR)
#define STEPS 700
static struct aspace *crowd_mm;
static u64 done_splits, busy_splits;

static void one_step(struct rng *rng, long *bad)
{
	unsigned long h = rng_below(rng, HUGE_PAGES), base = BASE + h * HPAGE_SIZE;
	unsigned long i = h * HPAGE_NR + rng_below(rng, HPAGE_NR), addr = BASE + i * P;
	unsigned long n = min(1 + rng_below(rng, 40), PAGES - i);
	struct aspace *child;
	u32 v;

	switch (rng_below(rng, 20)) {
	case 0:
		vm_madvise(crowd_mm, addr, n * P, DONTNEED);
		break;
	case 1:
	case 2:
		vm_madvise(crowd_mm, base, HPAGE_SIZE, DONTNEED);
		break;
	case 3:
		vm_munmap(addr, n * P);
		break;
	case 4:
	case 5:
		vm_mmap(NULL, NULL, base, HPAGE_SIZE, RW, ANON | FIXED, 0);
		break;
	case 6:
		vm_mprotect(addr, n * P, rng_below(rng, 2) ? RW : (int)rng_below(rng, 2));
		break;
	case 7:
		vm_mprotect(base, HPAGE_SIZE, rng_below(rng, 4) ? RW : 1);
		break;
	case 8:
		child = aspace_fork(crowd_mm);
		if (!IS_ERR(child))
			aspace_put(child);
		break;
	case 9:
		rng_below(rng, 2) ? vm_mlock(addr, n * P, 0) : vm_munlock(BASE, PAGES * P);
		break;
	case 10:
		vm_madvise(crowd_mm, addr, n * P, PAGEOUT);
		break;
	default:
		v = peek(addr + 16);
		*bad += v != 0 && v != 0xdead && v != (u32)i + 1;
		poke(addr + 16, (u32)i + 1);
	}
}

static int crowd_member(void *arg)
{
	struct rng rng;
	long bad = 0;

	rng_seed(&rng, (unsigned long)arg);
	aspace_use(crowd_mm);
	for (int step = 0; step < STEPS; step++) {
		one_step(&rng, &bad);
		cond_resched();
	}
	aspace_use(NULL);
	while (!kthread_should_stop())
		sleep_ns(NSEC_PER_MSEC);
	return bad ? -EIO : 0;
}

/* From the page (as reclaim comes), by address (as a system call), or all the way to swap. */
static void split_something(struct rng *rng)
{
	unsigned long addr = BASE + rng_below(rng, HUGE_PAGES) * HPAGE_SIZE;
	u32 how = rng_below(rng, 4);
	struct page *head;
	int err = 0;

	down_read(&crowd_mm->lock);
	if (how == 0)
		thp_split_addr(crowd_mm, addr);
	head = head_at(crowd_mm, addr);
	up_read(&crowd_mm->lock);
	if (!head)
		return;
	if (how == 1) {
		lru_deactivate(head);
		lru_drain_local();
		reclaim(head);
		return;
	}
	page_lock(head);
	if (page_is_thp(head)) {
		err = split_huge_page(head, 1, how == 2);
		done_splits += !err;
		busy_splits += err != 0;
	}
	page_unlock(head);
	page_put(head);
}

static int splitter(void *arg)
{
	struct rng rng;

	rng_seed(&rng, (unsigned long)arg);
	while (!kthread_should_stop()) {
		split_something(&rng);
		if (rng_below(&rng, 2) == 0)
			sleep_ns(50000);
		cond_resched();
	}
	return 0;
}

KTEST(split, crowd)
{
	long mlocked = global_zone_state(NR_MLOCK), tables = global_zone_state(NR_PAGETABLE);
	struct thread *member[CROWD], *s[2];
	struct sums start = sums(), end;
	u64 split = vm_event_sum(THP_SPLIT_PAGE), made = vm_event_sum(THP_FAULT_ALLOC);
	int results = 0;

	KT_EQ(swap_on(), 0);
	thp_on();
	done_splits = busy_splits = 0;
	crowd_mm = make(HUGE_PAGES);
	if (!crowd_mm) {
		thp_off();
		swap_off();
		KT_SKIP("no blocks of order 9");
	}
	aspace_use(NULL);
	for (unsigned long i = 0; i < 2; i++)
		s[i] = kthread_run(splitter, (void *)(i + 50), -1, "split/%lu", i);
	for (unsigned long i = 0; i < CROWD; i++) {
		member[i] = kthread_run(crowd_member, (void *)(i + 1), -1, "crowd/%lu", i);
		KT_ASSERT(member[i] && s[0] && s[1]);
	}
	for (int i = 0; i < CROWD; i++)
		results |= kthread_stop(member[i]);
	kthread_stop(s[0]);
	kthread_stop(s[1]);
	pr_warn("# split.crowd: %llu huge pages came, %llu were split (%llu by hand, %llu busy)\n",
		(unsigned long long)(vm_event_sum(THP_FAULT_ALLOC) - made),
		(unsigned long long)(vm_event_sum(THP_SPLIT_PAGE) - split),
		(unsigned long long)done_splits, (unsigned long long)busy_splits);
	KT_EQ(results, 0);
	KT_ASSERT(vm_event_sum(THP_SPLIT_PAGE) - split > 20);
	KT_ASSERT(!aspace_check(crowd_mm) && !swapcache_check());
	unmake(crowd_mm);
	KT_EQ(swap_off(), 0);
	end = sums();
	KT_EQ(end.anon, start.anon);
	KT_EQ(end.thps, start.thps);
	KT_EQ(end.lru, start.lru);
	KT_EQ(end.isolated, start.isolated);
	KT_EQ(global_zone_state(NR_MLOCK), mlocked);
	KT_ASSERT(global_zone_state(NR_PAGETABLE) <= tables + 64); /* some are kept for later */
}

/* ---- how long interrupts are off, and what it costs ---- */

KTEST(split, sections)
{
	struct irqoff_stat stat[2];
	struct aspace *mm;
	char old[20];
	u64 from, to;

	thp_on();
	mm = make(2);
	if (!mm) {
		thp_off();
		KT_SKIP("no block of order 9");
	}
	lru_drain_all();
	strlcpy(old, tracer_name(), sizeof(old));
	KT_EQ(tracer_select("irqsoff"), 0);
	for (u32 form = 0; form < 2; form++) {
		WRITE_ONCE(switch_split_huge_irq.value, form * 2);
		irqoff_reset();
		thp_split_addr(mm, BASE + form * HPAGE_SIZE);
		KT_ASSERT(irqoff_stat_of("split_huge", &stat[form]));
	}
	tracer_select(old);
	KT_EQ(wrong(0, 2 * HPAGE_NR), 0);
	unmake(mm);
	thp_on();
	mm = make(1);
	KT_ASSERT(mm);
	from = rdtsc();
	thp_split_addr(mm, BASE);
	to = rdtsc();
	unmake(mm);
	pr_warn("# split.sections: %llu pages %llu ticks in one, %llu pages %llu ticks in steps; "
		"%llu ticks a split\n",
		(unsigned long long)stat[0].work_max, (unsigned long long)stat[0].max,
		(unsigned long long)stat[1].work_max, (unsigned long long)stat[1].max,
		(unsigned long long)(to - from));
	KT_EQ(stat[0].work_max, HPAGE_NR - 1);
	KT_EQ(stat[1].work_max, 32);
	KT_ASSERT(stat[1].max * 4 < stat[0].max || nr_cpus > 1);
}
