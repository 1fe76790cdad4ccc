/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_thp.c - huge pages as programs meet them: faults, parts that go, fork and both sides of copy
 * on write, rights, moves, locks, holders, no memory for one; and many at once. After each test all
 * counts are what they were.
 */
#include "arch/uaccess.h"
#include "kernel/rcu.h"
#include "lib/errno.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/vm/aspace.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/rmap.h"
#include "mm/vm/thp.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"

#define P PAGE_SIZE
#define H HPAGE_SIZE
#define ANON 0x22
#define NORESERVE 0x4000
#define RO 1
#define RW 3
enum { DONTNEED = 4, FREE = 8, COLD = 20, POPULATE_WRITE = 23 };

static int poke(unsigned long addr, u32 v)
{
	return put_user_u32(v, (u32 __user *)addr);
}

static u32 peek(unsigned long addr)
{
	u32 v;

	return get_user_u32(&v, (const u32 __user *)addr) ? 0xdead : v;
}

/* The huge page at addr, or NULL. */
static struct page *huge_at(struct aspace *mm, unsigned long addr)
{
	pte_t *pmd = pt_find_pmd(mm, addr), e = pmd ? pte_read(pmd) : (pte_t){ 0 };

	return pmd_thp(e) ? pfn_to_page(pte_pfn(e)) : NULL;
}

static struct page *small_at(struct aspace *mm, unsigned long addr)
{
	pte_t *pte = pt_find(mm, addr);

	return pte && pte_mapped(pte_read(pte)) ? pfn_to_page(pte_pfn(pte_read(pte))) : NULL;
}

/* What must be as it was, when all programs of a test are gone. */
struct counts {
	long n[7];
};

static void count(struct counts *c)
{
	static const enum zone_stat_item items[] = { NR_ANON_PAGES,    NR_ANON_THPS,
						     NR_ACTIVE_ANON,   NR_INACTIVE_ANON,
						     NR_ISOLATED_ANON, NR_MLOCK };
	struct zone *zone;

	lru_drain_all();
	rcu_barrier();
	for (u32 i = 0; i < ARRAY_SIZE(items); i++) {
		c->n[i] = 0;
		for_each_zone(zone)
			c->n[i] += (long)zone_state_exact(zone, items[i]);
	}
	c->n[6] = (long)anon_vma_count();
}

/* Can so many blocks be had at once, and something beside them? Small or shredded machines skip. */
static bool blocks(u32 n)
{
	struct page *page, *next;
	LIST_HEAD(list);

	for (; n; n--) {
		page = alloc_pages(GFP_HIGHUSER_MOVABLE | __GFP_NORETRY | __GFP_NOWARN,
				   HPAGE_ORDER);
		if (!page)
			break;
		list_add(&page->lru, &list);
	}
	list_for_each_entry_safe(page, next, &list, lru)
		free_pages_order(page, HPAGE_ORDER);
	return !n;
}
#define NEEDS(n)                                                                                   \
	do {                                                                                       \
		if (!blocks(n))                                                                    \
			KT_SKIP("too few blocks of order 9");                                      \
	} while (0)

struct world {
	struct counts before;
	struct aspace *mm;
	unsigned long base; /* huge * H bytes, aligned; some more on both sides */
	u32 thp;
};

static bool begin(struct world *w, unsigned long huge, unsigned long vm_flags)
{
	long addr;

	w->thp = switch_thp.value;
	WRITE_ONCE(switch_thp.value, THP_MADVISE);
	count(&w->before);
	w->mm = aspace_create();
	if (!w->mm)
		return false;
	addr = vm_map(w->mm, NULL, NULL, 0, (huge + 1) * H, RW, ANON | NORESERVE, 0,
		      VM_HUGEPAGE | vm_flags, NULL);
	w->base = ALIGN_UP((unsigned long)addr + 1, H);
	aspace_use(w->mm);
	return addr > 0;
}

/* NULL, or which count is not what it was. */
static const char *end(struct world *w)
{
	static const char *const name[] = { "anon",	"thps",	   "active",   "inactive",
					    "isolated", "mlocked", "anon_vmas" };
	const char *wrong = aspace_check(w->mm);
	struct counts now;

	aspace_use(NULL);
	aspace_grab(w->mm);
	aspace_put(w->mm);
	if (atomic_long_read(&w->mm->pt_pages) || !list_empty(&w->mm->deposits))
		wrong = "tables";
	aspace_drop(w->mm);
	WRITE_ONCE(switch_thp.value, w->thp);
	count(&now);
	for (u32 i = 0; i < ARRAY_SIZE(name) && !wrong; i++)
		if (now.n[i] != w->before.n[i]) {
			pr_err("# %s: %ld, was %ld\n", name[i], now.n[i], w->before.n[i]);
			wrong = name[i];
		}
	return wrong;
}

/* Another value in each page, each far from the others in its page, too. */
static unsigned long spot(unsigned long base, u32 i)
{
	return base + i * P + (i * 52 & 0xffc);
}

static int fill(unsigned long base, u32 stamp)
{
	for (u32 i = 0; i < HPAGE_NR; i++)
		if (poke(spot(base, i), stamp + i))
			return -EFAULT;
	return 0;
}

/* The first page that does not hold what fill() wrote, or HPAGE_NR. */
static u32 differs(unsigned long base, u32 stamp)
{
	u32 i = 0;

	while (i < HPAGE_NR && peek(spot(base, i)) == stamp + i)
		i++;
	return i;
}

KTEST(thp, fault)
{
	u64 faults = vm_event_sum(THP_FAULT_ALLOC);
	struct world w;
	struct page *head;

	NEEDS(4);
	KT_ASSERT(begin(&w, 2, 0));
	KT_EQ(poke(w.base + 5 * P, 42), 0);
	head = huge_at(w.mm, w.base);
	KT_ASSERT(head && page_is_thp(head) && compound_order(head) == HPAGE_ORDER);
	KT_EQ(page_to_pfn(head) % HPAGE_NR, 0);
	KT_EQ(vm_event_sum(THP_FAULT_ALLOC) - faults, 1);
	KT_EQ(atomic_long_read(&w.mm->rss_anon), HPAGE_NR);
	KT_EQ(global_zone_state(NR_ANON_THPS) - w.before.n[1], 1);
	for (u32 i = 0; i < HPAGE_NR; i++)
		KT_EQ(peek(w.base + i * P), i == 5 ? 42 : 0);
	KT_EQ(fill(w.base, 1000), 0);
	KT_EQ(differs(w.base, 1000), HPAGE_NR);
	KT_EQ(peek(w.base + H), 0); /* a read brings one in, too */
	KT_ASSERT(huge_at(w.mm, w.base + H));
	KT_EQ(poke(w.base - P, 1), 0); /* here 2 MiB do not fit */
	KT_ASSERT(!huge_at(w.mm, w.base - P) && small_at(w.mm, w.base - P));
	KT_EQ(atomic_long_read(&w.mm->rss_anon), 2 * HPAGE_NR + 1);
	lru_drain_all();
	KT_EQ(global_zone_state(NR_INACTIVE_ANON) + global_zone_state(NR_ACTIVE_ANON) -
		      w.before.n[2] - w.before.n[3],
	      2 * HPAGE_NR + 1);
	KT_ASSERT(!end(&w));
}

static bool small_for(struct world *w)
{
	bool small;

	vm_madvise(w->mm, w->base, H, DONTNEED);
	small = !poke(w->base, 1) && !huge_at(w->mm, w->base);
	vm_munmap(w->base, H);
	return small && vm_map(w->mm, NULL, NULL, w->base, H, RW, ANON | 0x10, 0, VM_HUGEPAGE,
			       NULL) == (long)w->base;
}

KTEST(thp, not_wanted)
{
	struct world w;
	long addr;

	KT_ASSERT(begin(&w, 1, 0));
	WRITE_ONCE(switch_thp.value, THP_NEVER);
	KT_ASSERT(small_for(&w));
	WRITE_ONCE(switch_thp.value, THP_ALWAYS);
	w.mm->thp_disabled = true;
	KT_ASSERT(small_for(&w));
	w.mm->thp_disabled = false;
	KT_EQ(vm_madvise(w.mm, w.base, H, 15), 0); /* NOHUGEPAGE */
	KT_ASSERT(small_for(&w));
	KT_EQ(vm_mlock(w.base, H, 1), 0);
	KT_ASSERT(!poke(w.base, 1) && !huge_at(w.mm, w.base));
	KT_EQ(vm_munlock(w.base, H), 0);
	addr = vm_map(w.mm, NULL, NULL, 0, 4 * H, RW, 0x21, 0, VM_HUGEPAGE, NULL); /* shared */
	KT_ASSERT(addr > 0 && !poke(addr + 2 * H, 1) && !huge_at(w.mm, addr + 2 * H));
	addr = vm_map(w.mm, NULL, NULL, 0, 4 * H, RO, ANON, 0, VM_HUGEPAGE, NULL);
	KT_ASSERT(addr > 0 && !peek(addr + 2 * H) && !huge_at(w.mm, addr + 2 * H));
	WRITE_ONCE(switch_thp.value, THP_MADVISE);
	addr = vm_map(w.mm, NULL, NULL, 0, 4 * H, RW, ANON, 0, 0, NULL);
	KT_ASSERT(addr > 0 && !poke(addr + 2 * H, 1) && !huge_at(w.mm, addr + 2 * H));
	KT_ASSERT(!end(&w));
}

/* A part goes: of one huge page, out of the middle of another, across two. */
KTEST(thp, munmap)
{
	u64 splits = vm_event_sum(THP_SPLIT_PAGE);
	struct world w;

	NEEDS(8);
	KT_ASSERT(begin(&w, 5, 0));
	for (u32 i = 0; i < 5; i++)
		KT_EQ(fill(w.base + i * H, i << 16), 0);
	KT_EQ(vm_munmap(w.base + 3 * H, H), 0); /* a whole one out of the middle */
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE), splits);
	KT_EQ(peek(w.base + 3 * H), 0xdead);
	KT_EQ(vm_munmap(w.base + 7 * P, 2 * P), 0);
	KT_ASSERT(!huge_at(w.mm, w.base) && huge_at(w.mm, w.base + H));
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE) - splits, 1);
	KT_EQ(peek(w.base + 8 * P), 0xdead);
	KT_EQ(peek(spot(w.base, 9)), 9);
	KT_EQ(vm_munmap(w.base + 2 * H - 4 * P, 8 * P),
	      0); /* the end of one, the start of the next */
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE) - splits, 3);
	KT_EQ(peek(spot(w.base + H, 507)), (1u << 16) + 507);
	KT_EQ(peek(spot(w.base + H, 508)), 0xdead);
	KT_EQ(peek(spot(w.base + 2 * H, 4)), (2u << 16) + 4);
	KT_EQ(atomic_long_read(&w.mm->rss_anon), 4 * HPAGE_NR - 10);
	KT_ASSERT(!aspace_check(w.mm));
	KT_EQ(vm_madvise(w.mm, w.base + 4 * H, H, DONTNEED), 0);
	KT_EQ(peek(w.base + 4 * H), 0);
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE) - splits, 3);
	KT_EQ(fill(w.base + 4 * H, 9), 0);
	KT_EQ(vm_madvise(w.mm, w.base + 4 * H, 5 * P, DONTNEED), 0);
	KT_EQ(peek(spot(w.base + 4 * H, 4)), 0);
	KT_EQ(peek(spot(w.base + 4 * H, 5)), 9 + 5);
	KT_ASSERT(!end(&w));
}

KTEST(thp, fork)
{
	struct aspace *child;
	struct page *head;
	struct world w;

	NEEDS(7);
	KT_ASSERT(begin(&w, 2, 0));
	KT_EQ(fill(w.base, 1), 0);
	KT_EQ(fill(w.base + H, 2), 0);
	head = huge_at(w.mm, w.base);
	child = aspace_fork(w.mm);
	KT_ASSERT(!IS_ERR(child));
	KT_ASSERT(huge_at(child, w.base) == head && page_mapcount(head) == 2);
	KT_ASSERT(!aspace_check(w.mm) && !aspace_check(child));
	KT_EQ(fill(w.base, 1000), 0); /* the parent writes: a copy */
	KT_ASSERT(huge_at(w.mm, w.base) != head && huge_at(w.mm, w.base));
	KT_EQ(page_mapcount(head), 1);
	aspace_use(child);
	KT_EQ(differs(w.base, 1), HPAGE_NR);
	KT_EQ(fill(w.base, 3000), 0); /* the child is alone now */
	KT_ASSERT(huge_at(child, w.base) == head);
	KT_EQ(fill(w.base + H, 4000), 0); /* the child writes first */
	aspace_use(w.mm);
	KT_EQ(differs(w.base, 1000), HPAGE_NR);
	KT_EQ(differs(w.base + H, 2), HPAGE_NR);
	head = huge_at(w.mm, w.base + H);
	KT_EQ(fill(w.base + H, 5), 0);
	KT_ASSERT(huge_at(w.mm, w.base + H) == head);
	KT_ASSERT(!aspace_check(w.mm) && !aspace_check(child));
	aspace_put(child);
	KT_ASSERT(!end(&w));
}

/* A split hits both sides; what one of them unmaps afterwards the other keeps. */
KTEST(thp, fork_split)
{
	u64 pmds = vm_event_sum(THP_SPLIT_PMD);
	struct aspace *child, *grandchild;
	struct world w;

	NEEDS(4);
	KT_ASSERT(begin(&w, 1, 0));
	KT_EQ(fill(w.base, 7), 0);
	child = aspace_fork(w.mm);
	KT_ASSERT(!IS_ERR(child));
	grandchild = aspace_fork(child);
	KT_ASSERT(!IS_ERR(grandchild));
	KT_EQ(vm_munmap(w.base + 100 * P, 10 * P), 0);
	KT_EQ(vm_event_sum(THP_SPLIT_PMD) - pmds, 3);
	KT_ASSERT(!huge_at(child, w.base) && !huge_at(grandchild, w.base));
	KT_EQ(page_mapcount(small_at(child, w.base)), 3);
	KT_EQ(page_mapcount(small_at(child, w.base + 105 * P)), 2);
	KT_ASSERT(!aspace_check(w.mm) && !aspace_check(child) && !aspace_check(grandchild));
	aspace_use(child);
	KT_EQ(differs(w.base, 7), HPAGE_NR);
	KT_EQ(fill(w.base, 8), 0);
	aspace_use(grandchild);
	KT_EQ(differs(w.base, 7), HPAGE_NR);
	aspace_put(child);
	KT_EQ(fill(w.base, 9), 0);
	aspace_use(w.mm);
	KT_EQ(differs(w.base, 7), 100);
	aspace_put(grandchild);
	KT_ASSERT(!end(&w));
}

KTEST(thp, mprotect)
{
	u64 splits = vm_event_sum(THP_SPLIT_PAGE);
	struct page *head;
	struct world w;

	NEEDS(4);
	KT_ASSERT(begin(&w, 2, 0));
	KT_EQ(fill(w.base, 1), 0);
	KT_EQ(fill(w.base + H, 2), 0);
	head = huge_at(w.mm, w.base);
	KT_EQ(vm_mprotect(w.base, H, RO), 0);
	KT_EQ(poke(w.base, 5), -EFAULT);
	KT_EQ(differs(w.base, 1), HPAGE_NR);
	KT_ASSERT(huge_at(w.mm, w.base) == head && !aspace_check(w.mm));
	KT_EQ(vm_mprotect(w.base, H, RW), 0);
	KT_EQ(fill(w.base, 3), 0);
	KT_ASSERT(huge_at(w.mm, w.base) == head);
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE), splits);
	KT_EQ(vm_mprotect(w.base + 9 * P, P, RO), 0);
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE) - splits, 1);
	KT_EQ(poke(w.base + 9 * P, 5), -EFAULT);
	KT_EQ(poke(spot(w.base, 10), 3 + 10), 0);
	KT_EQ(vm_mprotect(w.base + 9 * P, P, RW), 0);
	KT_EQ(differs(w.base, 3), HPAGE_NR);
	KT_EQ(vm_mprotect(w.base + H, H, 0), 0);
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE) - splits, 2);
	KT_EQ(peek(w.base + H), 0xdead);
	KT_ASSERT(!aspace_check(w.mm));
	KT_EQ(vm_mprotect(w.base + H, H, RW), 0);
	KT_EQ(differs(w.base + H, 2), HPAGE_NR);
	KT_ASSERT(!end(&w));
}

KTEST(thp, mremap)
{
	u64 splits = vm_event_sum(THP_SPLIT_PAGE);
	struct page *head;
	struct world w;
	unsigned long to;

	NEEDS(6);
	KT_ASSERT(begin(&w, 3, 0));
	for (u32 i = 0; i < 3; i++)
		KT_EQ(fill(w.base + i * H, i << 16), 0);
	head = huge_at(w.mm, w.base);
	to = w.base - 64 * H;
	KT_EQ(vm_mremap(w.base, H, H, 3, to), to);
	KT_ASSERT(huge_at(w.mm, to) == head && !huge_at(w.mm, w.base));
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE), splits);
	KT_EQ(differs(to, 0), HPAGE_NR);
	KT_ASSERT(!aspace_check(w.mm));
	KT_EQ(vm_mremap(to, H, H, 3, to - 8 * H + 16 * P), to - 8 * H + 16 * P); /* not aligned */
	to = to - 8 * H + 16 * P;
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE) - splits, 1);
	KT_EQ(differs(to, 0), HPAGE_NR);
	KT_ASSERT(!aspace_check(w.mm));
	KT_EQ(vm_mremap(w.base + H, 2 * H, 2 * H - 3 * P, 0, 0), w.base + H); /* shrinks */
	KT_EQ(vm_event_sum(THP_SPLIT_PAGE) - splits, 2);
	KT_EQ(peek(spot(w.base + 2 * H, 508)), (2u << 16) + 508);
	KT_EQ(peek(spot(w.base + 2 * H, 509)), 0xdead);
	to = w.base - 80 * H;
	KT_EQ(vm_mremap(w.base + H, 2 * H - 3 * P, 4 * H, 3, to), to); /* moves and grows */
	KT_ASSERT(huge_at(w.mm, to));
	KT_EQ(differs(to, 1u << 16), HPAGE_NR);
	KT_EQ(differs(to + H, 2u << 16), 509);
	KT_EQ(poke(to + 2 * H, 1), 0);
	KT_ASSERT(huge_at(w.mm, to + 2 * H));
	KT_ASSERT(!end(&w));
}

KTEST(thp, mlock)
{
	struct world w;

	NEEDS(4);
	KT_ASSERT(begin(&w, 2, 0));
	KT_EQ(fill(w.base, 1), 0);
	KT_EQ(fill(w.base + H, 2), 0);
	KT_EQ(vm_mlock(w.base + 4 * P, 8 * P, 0), 0);
	KT_ASSERT(!huge_at(w.mm, w.base) && huge_at(w.mm, w.base + H));
	KT_EQ(global_zone_state(NR_MLOCK) - w.before.n[5], 8);
	KT_EQ(vm_mlock(w.base + H, H, 0), 0);
	KT_ASSERT(!huge_at(w.mm, w.base + H) && !aspace_check(w.mm));
	KT_EQ(global_zone_state(NR_MLOCK) - w.before.n[5], HPAGE_NR + 8);
	KT_EQ(differs(w.base, 1), HPAGE_NR);
	KT_EQ(differs(w.base + H, 2), HPAGE_NR);
	KT_EQ(vm_munlock(w.base, 2 * H), 0);
	KT_EQ(global_zone_state(NR_MLOCK), w.before.n[5]);
	KT_ASSERT(!end(&w));
}

/* Who takes a page by address gets a small one, and nothing moves away under him. */
KTEST(thp, held)
{
	struct page *pages[4], *head;
	struct world w;
	u32 v = 77;

	NEEDS(5);
	KT_ASSERT(begin(&w, 3, 0));
	KT_EQ(fill(w.base, 1), 0);
	KT_EQ(fill(w.base + H, 2), 0);
	head = huge_at(w.mm, w.base);
	KT_EQ(vm_pin_user(w.base + 10 * P, 4, 1, pages), 4);
	for (u32 i = 0; i < 4; i++) {
		KT_ASSERT(pages[i] == head + 10 + i && !page_test(pages[i], PG_head));
		KT_EQ(atomic_read(&pages[i]->refs), 2);
	}
	KT_ASSERT(!huge_at(w.mm, w.base));
	KT_EQ(vm_munmap(w.base, H), 0); /* the pinned ones live on */
	KT_EQ(*(u32 *)((char *)page_address(pages[1]) + (11 * 52 & 0xffc)), 1 + 11);
	for (u32 i = 0; i < 4; i++)
		page_put(pages[i]);
	KT_EQ(vm_access(w.mm, w.base + H + 3 * P, &v, 4, 1), 4);
	KT_EQ(peek(w.base + H + 3 * P), 77);
	KT_EQ(vm_pin_user(w.base + 2 * H, 1, 1, pages), 1); /* nothing there yet */
	KT_ASSERT(!page_test(pages[0], PG_head));
	page_put(pages[0]);
	KT_ASSERT(!end(&w));
}

KTEST(thp, advice)
{
	u64 faults = vm_event_sum(THP_FAULT_ALLOC);
	struct world w;

	NEEDS(5);
	KT_ASSERT(begin(&w, 3, 0));
	KT_EQ(vm_madvise(w.mm, w.base, 3 * H, POPULATE_WRITE), 0);
	KT_EQ(vm_event_sum(THP_FAULT_ALLOC) - faults, 3);
	KT_EQ(atomic_long_read(&w.mm->rss_anon), 3 * HPAGE_NR);
	KT_EQ(vm_madvise(w.mm, w.base, H, FREE), 0);
	KT_EQ(atomic_long_read(&w.mm->rss_anon), 2 * HPAGE_NR);
	KT_EQ(fill(w.base + H, 3), 0);
	KT_EQ(vm_madvise(w.mm, w.base + H, 2 * H, 3), 0); /* WILLNEED: nothing to do */
	KT_ASSERT(huge_at(w.mm, w.base + H));
	KT_EQ(vm_madvise(w.mm, w.base + H, H, COLD), 0);
	KT_ASSERT(!huge_at(w.mm, w.base + H) && huge_at(w.mm, w.base + 2 * H));
	KT_EQ(differs(w.base + H, 3), HPAGE_NR);
	KT_ASSERT(!end(&w));
}

/* Takes every block of order 9 there is; nobody is woken to make more. */
static void hog(struct list_head *list)
{
	const gfp_t gfp = (GFP_HIGHUSER_MOVABLE & ~__GFP_RECLAIM) | __GFP_NOWARN;
	struct page *page;

	while ((page = alloc_pages(gfp, HPAGE_ORDER)))
		list_add(&page->lru, list);
}

static void release(struct list_head *list)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, list, lru)
		free_pages_order(page, HPAGE_ORDER);
}

DECLARE_SWITCH(thp_defrag);

KTEST(thp, no_block)
{
	u64 fallbacks = vm_event_sum(THP_FAULT_FALLBACK);
	u32 defrag = switch_thp_defrag.value;
	struct aspace *child;
	bool small, split;
	struct page *old;
	struct world w;
	LIST_HEAD(list);

	NEEDS(4);
	KT_ASSERT(begin(&w, 2, 0));
	KT_EQ(fill(w.base, 5), 0);
	old = huge_at(w.mm, w.base);
	child = aspace_fork(w.mm);
	KT_ASSERT(!IS_ERR(child));
	WRITE_ONCE(switch_thp_defrag.value, 0); /* never: a fault takes what there is */
	hog(&list);
	small = !poke(w.base + H, 1) && !huge_at(w.mm, w.base + H);
	hog(&list);
	split = !poke(spot(w.base, 3), 99) && !huge_at(w.mm, w.base) && !huge_at(child, w.base);
	release(&list);
	WRITE_ONCE(switch_thp_defrag.value, defrag);
	KT_ASSERT(small && small_at(w.mm, w.base + H));
	KT_ASSERT(split);
	KT_ASSERT(vm_event_sum(THP_FAULT_FALLBACK) - fallbacks >= 2);
	KT_ASSERT(small_at(w.mm, w.base + 3 * P) != old + 3);
	KT_ASSERT(small_at(child, w.base + 3 * P) == old + 3);
	KT_EQ(differs(w.base, 5), 3);
	KT_ASSERT(!aspace_check(w.mm) && !aspace_check(child));
	aspace_use(child);
	KT_EQ(differs(w.base, 5), HPAGE_NR);
	aspace_use(w.mm);
	aspace_put(child);
	KT_ASSERT(!end(&w));
}

/* ---- a crowd ---- */

#define CROWD 3u
#define OWN 2u /* huge pages each */
static struct aspace *crowd_mm;
static unsigned long crowd_base;

struct member {
	struct rng rng;
	unsigned long at;	  /* where its memory is */
	u32 seen[OWN * HPAGE_NR]; /* what each page holds */
	u32 next, bad;
	struct thread *thread;
};

static void check_pages(struct member *m, u32 from, u32 n)
{
	for (u32 i = from; i < from + n && i < OWN * HPAGE_NR; i++)
		m->bad += peek(spot(m->at, i)) != m->seen[i];
}

/* The child sees what is there now, and what it writes nobody else sees. */
static void fork_step(struct member *m, u32 i)
{
	struct aspace *child = aspace_fork(crowd_mm);

	if (IS_ERR(child))
		return;
	poke(spot(m->at, i), m->next);
	aspace_use(child);
	m->bad += peek(spot(m->at, i)) != m->seen[i];
	poke(spot(m->at, (i + 1) % (OWN * HPAGE_NR)), 0xbad);
	aspace_use(crowd_mm);
	m->seen[i] = m->next++;
	aspace_put(child);
	check_pages(m, i, 2);
}

static void crowd_step(struct member *m)
{
	u32 i = (u32)rng_below(&m->rng, OWN * HPAGE_NR), n = 1 + (u32)rng_below(&m->rng, 20);
	unsigned long addr = m->at + i * P, len;
	struct page *page;

	n = min(n, OWN * HPAGE_NR - i);
	len = n * P;
	switch (rng_below(&m->rng, 12)) {
	case 0:
		if (rng_below(&m->rng, 2)) { /* a whole one */
			i &= ~(HPAGE_NR - 1);
			n = HPAGE_NR;
		}
		m->bad += vm_madvise(crowd_mm, m->at + i * P, n * P, DONTNEED) != 0;
		memset(m->seen + i, 0, n * sizeof(u32));
		break;
	case 1:
		m->bad += vm_mprotect(addr, len, RO) != 0;
		m->bad += poke(addr, 1) != -EFAULT;
		m->bad += vm_mprotect(addr, len, RW) != 0;
		break;
	case 2:
		i &= ~(HPAGE_NR - 1);
		m->bad += vm_mprotect(m->at + i * P, H, RO) != 0;
		m->bad += vm_mprotect(m->at + i * P, H, RW) != 0;
		break;
	case 3:
		fork_step(m, i);
		break;
	case 4:
		if (vm_pin_user(addr, 1, 0, &page) == 1) {
			check_pages(m, i, 1);
			page_put(page);
		}
		break;
	case 5:
		vm_mlock(addr, len, 0);
		vm_munlock(addr, len);
		break;
	case 6: /* all of it to the other of two places */
		len = OWN * H;
		addr = m->at ^ (4 * H);
		m->bad += vm_mremap(m->at, len, len, 3, addr) != (long)addr;
		m->at = addr;
		break;
	case 7: /* anew and without tables, so that huge pages may come */
		m->bad += vm_map(crowd_mm, NULL, NULL, m->at, OWN * H, RW, ANON | 0x10, 0,
				 VM_HUGEPAGE, NULL) != (long)m->at;
		memset(m->seen, 0, sizeof(m->seen));
		break;
	default:
		m->bad += poke(spot(m->at, i), m->next) != 0;
		m->seen[i] = m->next++;
		check_pages(m, i, n);
	}
}

static int crowd_member(void *arg)
{
	struct member *m = arg;

	aspace_use(crowd_mm);
	for (int step = 0; step < 200; step++) {
		crowd_step(m);
		if (step % 16 == 0)
			sleep_ns(10000);
		cond_resched();
	}
	check_pages(m, 0, OWN * HPAGE_NR);
	aspace_use(NULL);
	while (!kthread_should_stop())
		sleep_ns(1000000);
	return 0;
}

static int splitter(void *arg)
{
	struct rng rng;

	rng_seed(&rng, 7);
	while (!kthread_should_stop()) {
		down_read(&crowd_mm->lock);
		thp_split_addr(crowd_mm, crowd_base + rng_below(&rng, CROWD * 8) * H);
		up_read(&crowd_mm->lock);
		sleep_ns(200000);
	}
	return 0;
}

KTEST(thp, crowd)
{
	u64 splits = vm_event_sum(THP_SPLIT_PAGE), faults = vm_event_sum(THP_FAULT_ALLOC);
	struct member *m = kzalloc(CROWD * sizeof(*m), GFP_KERNEL);
	struct thread *sp;
	struct world w;
	u32 bad = 0;

	NEEDS(14);
	KT_ASSERT(m && begin(&w, CROWD * 8 + 8, 0));
	crowd_mm = w.mm;
	crowd_base = ALIGN_UP(w.base, 8 * H);
	for (u32 i = 0; i < CROWD; i++) { /* in the lower half of 16 MiB each */
		m[i].at = crowd_base + i * 8 * H;
		m[i].next = 1 + (i << 24);
		rng_seed(&m[i].rng, i + 1);
		KT_EQ(vm_munmap(m[i].at + OWN * H, (8 - OWN) * H), 0);
		m[i].thread = kthread_run(crowd_member, &m[i], -1, "crowd/%u", i);
		KT_ASSERT(m[i].thread);
	}
	sp = kthread_run(splitter, NULL, -1, "splitter");
	KT_ASSERT(sp);
	for (u32 i = 0; i < CROWD; i++) {
		kthread_stop(m[i].thread);
		bad += m[i].bad;
	}
	kthread_stop(sp);
	pr_warn("# thp.crowd: %llu huge pages, %llu splits\n",
		(unsigned long long)(vm_event_sum(THP_FAULT_ALLOC) - faults),
		(unsigned long long)(vm_event_sum(THP_SPLIT_PAGE) - splits));
	KT_EQ(bad, 0);
	KT_ASSERT(vm_event_sum(THP_SPLIT_PAGE) - splits > 20);
	KT_ASSERT(!end(&w));
	kfree(m);
}

/* ---- several threads want the same huge page ---- */

#define RACE_HUGE 6u
static unsigned long race_base;

static int racer(void *arg)
{
	unsigned long word = (unsigned long)arg;
	u32 bad = 0;

	aspace_use(crowd_mm);
	for (u32 i = 0; i < RACE_HUGE; i++) { /* all in the same order, each in its own words */
		bad += poke(race_base + i * H + word * 8, (u32)word + 1) != 0;
		cond_resched();
	}
	for (u32 i = 0; i < RACE_HUGE; i++)
		bad += peek(race_base + i * H + word * 8) != word + 1;
	aspace_use(NULL);
	while (!kthread_should_stop())
		sleep_ns(1000000);
	return bad ? -EIO : 0;
}

/* First on empty places, then, with a child that has them too, on shared ones. */
static int race(void)
{
	struct thread *t[CROWD + 1];
	int bad = 0;

	for (unsigned long i = 0; i <= CROWD; i++)
		t[i] = kthread_run(racer, (void *)i, -1, "racer/%lu", i);
	for (u32 i = 0; i <= CROWD; i++)
		bad |= t[i] ? kthread_stop(t[i]) : -ENOMEM;
	return bad;
}

KTEST(thp, race)
{
	struct aspace *child;
	struct world w;

	NEEDS(16);
	KT_ASSERT(begin(&w, RACE_HUGE, 0));
	crowd_mm = w.mm;
	race_base = w.base;
	KT_EQ(race(), 0);
	for (u32 i = 0; i < RACE_HUGE; i++)
		KT_ASSERT(huge_at(w.mm, w.base + i * H));
	KT_EQ(atomic_long_read(&w.mm->rss_anon), RACE_HUGE * HPAGE_NR);
	child = aspace_fork(w.mm);
	KT_ASSERT(!IS_ERR(child));
	KT_EQ(race(), 0);
	KT_EQ(atomic_long_read(&w.mm->rss_anon), RACE_HUGE * HPAGE_NR);
	for (u32 i = 0; i < RACE_HUGE; i++)
		KT_ASSERT(huge_at(w.mm, w.base + i * H) != huge_at(child, w.base + i * H));
	KT_ASSERT(!aspace_check(w.mm) && !aspace_check(child));
	aspace_put(child);
	KT_ASSERT(!end(&w));
}

/*
 * What a huge page costs beside its bytes (512 * 512 counted instructions of clearing). Printed,
 * not judged.
 */
KTEST(thp, cost)
{
	struct world w;
	u64 at[6], clear;

	NEEDS(8);
	KT_ASSERT(begin(&w, 8, 0));
	KT_EQ(poke(w.base, 1), 0);
	thp_clear(huge_at(w.mm, w.base), w.base);
	at[0] = rdtsc();
	thp_clear(huge_at(w.mm, w.base), w.base);
	clear = rdtsc() - at[0];
	at[0] = rdtsc();
	for (u32 i = 1; i < 5; i++)
		KT_EQ(poke(w.base + i * H, 1), 0);
	at[1] = rdtsc();
	KT_EQ(vm_munmap(w.base + H, H), 0);
	at[2] = rdtsc();
	KT_EQ(vm_madvise(w.mm, w.base + 3 * H, H, DONTNEED), 0);
	at[3] = rdtsc();
	KT_EQ(vm_munmap(w.base + 2 * H, 2 * H), 0);
	at[4] = rdtsc();
	thp_split_addr(w.mm, w.base);
	at[5] = rdtsc();
	pr_warn("# thp.cost: fault %lld net of clearing (%llu), munmap %llu, DONTNEED %llu, munmap "
		"with "
		"an empty one %llu, split %llu\n",
		(long long)((at[1] - at[0]) / 4 - clear), (unsigned long long)clear,
		(unsigned long long)(at[2] - at[1]), (unsigned long long)(at[3] - at[2]),
		(unsigned long long)(at[4] - at[3]), (unsigned long long)(at[5] - at[4]));
	KT_ASSERT(!end(&w));
}
