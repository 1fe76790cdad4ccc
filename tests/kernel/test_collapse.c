/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_collapse.c - 512 small pages become a huge one: bytes, counts and tables stay right, with
 * holes, with a child that shares them, with pages in swap, beside threads that use them; what
 * somebody holds stays small, and nothing has changed then. khugepaged finds what may be collapsed,
 * keeps its limits, and stops.
 */
#include "arch/uaccess.h"
#include "kernel/show.h"
#include "kernel/time.h"
#include "lib/errno.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/swap/swap.h"
#include "mm/vm/aspace.h"
#include "mm/vm/internal.h"
#include "mm/vm/khugepaged.h"
#include "mm/vm/ptwalk.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"

#define P PAGE_SIZE
#define ANON 0x22
#define FIXED 0x10
#define RW 3
#define BASE 0x40000000ul
#define DONTNEED 4
#define HUGE 14
#define NOHUGE 15
#define PAGEOUT 21
#define COLLAPSE 25

static int poke(unsigned long addr, u32 v)
{
	return put_user_u32(v, (u32 __user *)addr);
}

static u32 peek(unsigned long addr)
{
	u32 v;

	return get_user_u32(&v, (const u32 __user *)addr) ? 0xdead : v;
}

static bool is_huge(struct aspace *mm, unsigned long addr)
{
	pte_t *pmd = pt_find_pmd(mm, addr);

	return pmd && pmd_thp(pte_read(pmd));
}

/* The small page behind addr, referenced; NULL: there is none. => nobody else is in mm */
static struct page *page_at(struct aspace *mm, unsigned long addr)
{
	pte_t *pte = pt_find(mm, addr);
	struct page *page = NULL;

	if (pte && pte_present(pte_read(pte))) {
		page = pfn_to_page(pte_pfn(pte_read(pte)));
		page_get(page);
	}
	return page;
}

/* What must be the same before and afterwards, counted when all batches are through. */
struct sums {
	long anon, thps, lru;
};

/* Over all zones; what the other CPUs have not yet added, too. */
static long exact(enum zone_stat_item item)
{
	struct zone *zone;
	long n = 0;

	for_each_zone(zone)
		n += (long)zone_state_exact(zone, item);
	return n;
}

static struct sums sums(void)
{
	lru_drain_all();
	return (struct sums){ .anon = exact(NR_ANON_PAGES),
			      .thps = exact(NR_ANON_THPS),
			      .lru = exact(NR_ACTIVE_ANON) + exact(NR_INACTIVE_ANON) };
}

static struct sums before;
static u32 thp_was;
static struct khugepaged_settings settings_were;

static void begin(void)
{
	pt_cache_drain();
	before = sums();
	thp_was = thp_enabled;
	settings_were = khugepaged_settings;
	/* small pages only, unless they are collapsed: nobody advised huge ones yet */
	WRITE_ONCE(switch_thp.value, THP_MADVISE);
}

static void end(struct aspace *mm)
{
	aspace_use(NULL);
	if (mm) {
		aspace_grab(mm);
		aspace_put(mm);
		/* khugepaged may be the last user just now: its memory goes when it lets go */
		for (int ms = 0; ms < 2000 && READ_ONCE(mm->total_vm); ms++)
			sleep_ns(NSEC_PER_MSEC);
		aspace_drop(mm);
	}
	WRITE_ONCE(switch_thp.value, thp_was);
	khugepaged_settings = settings_were;
	zones_forget_pageblocks();
}

#define BALANCED()                                                                                 \
	do {                                                                                       \
		struct sums now_ = sums();                                                         \
		KT_EQ(now_.anon, before.anon);                                                     \
		KT_EQ(now_.thps, before.thps);                                                     \
		KT_EQ(now_.lru, before.lru);                                                       \
	} while (0)

/* n times 2 MiB of small pages at BASE, each step-th written with its number. We are in it. */
static struct aspace *make(unsigned long n, unsigned long step)
{
	struct aspace *mm = aspace_create();

	begin();
	if (!mm)
		return NULL;
	aspace_use(mm);
	if (vm_map(mm, NULL, NULL, BASE, n * HPAGE_SIZE, RW, ANON | FIXED, 0, 0, NULL) == BASE) {
		unsigned long i;

		for (i = 0; i < n * HPAGE_NR; i += step)
			if (poke(BASE + i * P + 16, (u32)i + 1))
				break;
		if (i >= n * HPAGE_NR)
			return mm;
	}
	end(mm);
	return NULL;
}

/* How many of the places do not hold what make() wrote. */
static long wrong(unsigned long n, unsigned long step)
{
	long bad = 0;

	for (unsigned long i = 0; i < n * HPAGE_NR; i++)
		bad += peek(BASE + i * P + 16) != (i % step ? 0 : (u32)i + 1);
	return bad;
}

KTEST(collapse, all_small_pages)
{
	struct aspace *mm = make(2, 1);
	long tables, rss;

	KT_ASSERT(mm);
	tables = atomic_long_read(&mm->pt_pages);
	rss = atomic_long_read(&mm->rss_anon);
	KT_EQ(thp_collapse(mm, BASE), 0);
	KT_ASSERT(is_huge(mm, BASE) && !is_huge(mm, BASE + HPAGE_SIZE));
	KT_EQ(atomic_long_read(&mm->pt_pages), tables);
	KT_EQ(atomic_long_read(&mm->rss_anon), rss);
	KT_EQ(wrong(2, 1), 0);
	KT_ASSERT(!aspace_check(mm));
	KT_EQ(sums().anon, before.anon + 2 * HPAGE_NR);
	KT_EQ(sums().lru, before.lru + 2 * HPAGE_NR);
	KT_EQ(sums().thps, before.thps + 1);
	KT_EQ(thp_collapse(mm, BASE + 5 * P), 0); /* it is one already */
	KT_EQ(poke(BASE + 7 * P + 16, 99), 0);
	KT_EQ(peek(BASE + 7 * P + 16), 99);
	KT_EQ(vm_munmap(BASE, HPAGE_SIZE), 0);
	KT_ASSERT(!aspace_check(mm));
	KT_EQ(sums().thps, before.thps);
	end(mm);
	BALANCED();
}

KTEST(collapse, holes_and_zero_pages)
{
	struct aspace *mm = make(1, 7);

	KT_ASSERT(mm);
	KT_EQ(peek(BASE + 3 * P + 16), 0); /* the zero page */
	KT_EQ(thp_collapse(mm, BASE), 0);
	KT_ASSERT(is_huge(mm, BASE));
	KT_EQ(atomic_long_read(&mm->rss_anon), HPAGE_NR);
	KT_EQ(wrong(1, 7), 0);
	KT_ASSERT(!aspace_check(mm));
	/* Taken apart again, by half of it going. */
	KT_EQ(vm_madvise(mm, BASE, HPAGE_SIZE / 2, DONTNEED), 0);
	KT_ASSERT(!is_huge(mm, BASE));
	KT_EQ(peek(BASE + 16), 0);
	KT_EQ(peek(BASE + 259 * P + 16), 260);
	KT_ASSERT(!aspace_check(mm));
	KT_EQ(thp_collapse(mm, BASE), 0);
	KT_EQ(peek(BASE + 259 * P + 16), 260);
	KT_ASSERT(!aspace_check(mm));
	end(mm);
	BALANCED();
}

KTEST(collapse, held_stays)
{
	struct aspace *mm = make(1, 1);
	struct page *page, *now;

	KT_ASSERT(mm);
	page = page_at(mm, BASE + 400 * P);
	KT_ASSERT(page);
	KT_EQ(thp_collapse(mm, BASE), -EAGAIN);
	KT_ASSERT(!is_huge(mm, BASE));
	now = page_at(mm, BASE + 400 * P);
	KT_ASSERT(now == page);
	page_put(now);
	for (unsigned long i = 0; i < HPAGE_NR; i++) {
		now = page_at(mm, BASE + i * P);
		KT_ASSERT(now && !page_test(now, PG_locked) && page_mapcount(now) == 1);
		page_put(now);
	}
	page_lock(page);
	page_put(page);
	KT_EQ(thp_collapse(mm, BASE), -EAGAIN);
	page_unlock(page);
	KT_EQ(wrong(1, 1), 0);
	KT_ASSERT(!aspace_check(mm));
	KT_EQ(thp_collapse(mm, BASE), 0);
	KT_EQ(wrong(1, 1), 0);
	end(mm);
	BALANCED();
}

KTEST(collapse, shared_with_a_child)
{
	struct aspace *mm = make(1, 1), *child;

	KT_ASSERT(mm);
	child = aspace_fork(mm);
	KT_ASSERT(!IS_ERR(child));
	KT_EQ(poke(BASE + 5 * P + 16, 1000), 0); /* the parent has its own of this one */
	KT_EQ(thp_collapse(mm, BASE), 0);
	KT_EQ(peek(BASE + 5 * P + 16), 1000);
	KT_EQ(poke(BASE + 6 * P + 16, 1001), 0);
	KT_ASSERT(!aspace_check(mm) && !aspace_check(child));
	aspace_use(child);
	KT_EQ(wrong(1, 1), 0);
	KT_EQ(thp_collapse(child, BASE), 0);
	KT_EQ(wrong(1, 1), 0);
	KT_EQ(poke(BASE + 16, 1002), 0);
	aspace_use(mm);
	KT_EQ(peek(BASE + 16), 1);
	KT_EQ(peek(BASE + 6 * P + 16), 1001);
	KT_ASSERT(!aspace_check(mm) && !aspace_check(child));
	KT_EQ(sums().thps, before.thps + 2);
	KT_EQ(sums().anon, before.anon + 2 * HPAGE_NR);
	aspace_put(child);
	end(mm);
	BALANCED();
}

KTEST(collapse, places_that_do_not_fit)
{
	struct aspace *mm = make(2, 1);

	KT_ASSERT(mm);
	KT_EQ(vm_madvise(mm, BASE, HPAGE_SIZE, NOHUGE), 0);
	KT_EQ(thp_collapse(mm, BASE), -EINVAL);
	KT_EQ(vm_madvise(mm, BASE, 2 * HPAGE_SIZE, COLLAPSE), -EINVAL);
	KT_EQ(vm_madvise(mm, BASE + HPAGE_SIZE, HPAGE_SIZE, COLLAPSE), 0);
	KT_ASSERT(is_huge(mm, BASE + HPAGE_SIZE));
	KT_EQ(vm_madvise(mm, BASE, 2 * HPAGE_SIZE, HUGE), 0);
	KT_EQ(vm_mprotect(BASE, P, 1), 0); /* two VMAs in one 2 MiB */
	KT_EQ(thp_collapse(mm, BASE), -EINVAL);
	KT_EQ(vm_mprotect(BASE, P, RW), 0);
	mm->thp_disabled = true;
	KT_EQ(thp_collapse(mm, BASE), -EINVAL);
	mm->thp_disabled = false;
	KT_EQ(vm_mlock(BASE, HPAGE_SIZE, 0), 0);
	KT_EQ(thp_collapse(mm, BASE), -EINVAL);
	KT_EQ(vm_munlock(BASE, HPAGE_SIZE), 0);
	KT_EQ(vm_munmap(BASE + 2 * P, P), 0);
	KT_EQ(vm_madvise(mm, BASE, 2 * HPAGE_SIZE, COLLAPSE), -ENOMEM);
	KT_EQ(vm_madvise(mm, BASE + P, HPAGE_SIZE - 2 * P, COLLAPSE), -ENOMEM);
	KT_ASSERT(!aspace_check(mm));
	end(mm);
	BALANCED();
}

/* ---- swap ---- */

#define SLOTS 1024ul
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
		.path = "/collapse", .ops = &swap_test_ops, .owner = &swap_data, .slots = SLOTS
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

KTEST(collapse, out_of_swap)
{
	struct aspace *mm = make(1, 1), *child;

	KT_ASSERT(mm);
	KT_EQ(swap_on(), 0);
	lru_drain_all();
	KT_EQ(vm_madvise(mm, BASE + 8 * P, 200 * P, PAGEOUT), 0);
	KT_ASSERT(atomic_long_read(&mm->rss_swap) > 100);
	KT_EQ(thp_collapse(mm, BASE), 0);
	KT_EQ(atomic_long_read(&mm->rss_swap), 0);
	KT_EQ(atomic_long_read(&mm->rss_anon), HPAGE_NR);
	KT_EQ(wrong(1, 1), 0);
	KT_ASSERT(!aspace_check(mm) && !swapcache_check() && !swap_check());
	KT_EQ(vm_munmap(BASE, HPAGE_SIZE), 0);
	/* Slots that a child names, too: the pages stay in the swap cache for it. */
	KT_EQ(vm_mmap(NULL, NULL, BASE, HPAGE_SIZE, RW, ANON | FIXED, 0), BASE);
	for (unsigned long i = 0; i < HPAGE_NR; i++)
		KT_EQ(poke(BASE + i * P + 16, (u32)i + 1), 0);
	lru_drain_all();
	KT_EQ(vm_madvise(mm, BASE + 8 * P, 200 * P, PAGEOUT), 0);
	child = aspace_fork(mm);
	KT_ASSERT(!IS_ERR(child));
	KT_EQ(thp_collapse(mm, BASE), 0);
	KT_EQ(wrong(1, 1), 0);
	KT_EQ(poke(BASE + 9 * P + 16, 5), 0);
	KT_ASSERT(!aspace_check(mm) && !aspace_check(child) && !swapcache_check());
	aspace_use(child);
	KT_EQ(wrong(1, 1), 0);
	KT_ASSERT(!aspace_check(child) && !swapcache_check());
	aspace_use(mm);
	aspace_put(child);
	end(mm);
	KT_EQ(swap_off(), 0);
	BALANCED();
}

/* ---- khugepaged ---- */

/* Until it is huge, or for so many milliseconds. */
static bool becomes_huge(struct aspace *mm, unsigned long addr, int ms)
{
	for (; ms > 0 && !is_huge(mm, addr); ms -= 10)
		sleep_ns(10 * NSEC_PER_MSEC);
	return is_huge(mm, addr);
}

KTEST(collapse, khugepaged_finds_it)
{
	struct aspace *mm = make(3, 1);
	u64 scans;

	KT_ASSERT(mm);
	khugepaged_settings.scan_sleep_millisecs = 20;
	KT_EQ(vm_madvise(mm, BASE, 2 * HPAGE_SIZE, HUGE), 0);
	KT_ASSERT(becomes_huge(mm, BASE, 2000) && becomes_huge(mm, BASE + HPAGE_SIZE, 2000));
	KT_ASSERT(!is_huge(mm, BASE + 2 * HPAGE_SIZE)); /* nobody asked for that one */
	KT_EQ(wrong(3, 1), 0);
	KT_ASSERT(!aspace_check(mm));
	/* Nothing changes: it does not wake. */
	sleep_ns(NSEC_PER_SEC);
	scans = khugepaged_full_scans;
	KT_ASSERT(list_empty(&mm->khuge));
	sleep_ns(2 * NSEC_PER_SEC);
	KT_EQ(khugepaged_full_scans, scans);
	/* Something does: it finds that, too. */
	KT_EQ(vm_madvise(mm, BASE + 2 * HPAGE_SIZE, HPAGE_SIZE, HUGE), 0);
	KT_ASSERT(becomes_huge(mm, BASE + 2 * HPAGE_SIZE, 2000));
	KT_ASSERT(khugepaged_full_scans > scans);
	end(mm);
	BALANCED();
}

KTEST(collapse, khugepaged_keeps_its_limits)
{
	struct aspace *mm = make(2, 4);

	KT_ASSERT(mm);
	khugepaged_settings.scan_sleep_millisecs = 20;
	khugepaged_settings.max_ptes_none = HPAGE_NR / 2;
	KT_EQ(vm_madvise(mm, BASE, 2 * HPAGE_SIZE, HUGE), 0);
	KT_ASSERT(!becomes_huge(mm, BASE, 1500));
	KT_ASSERT(list_empty(&mm->khuge)); /* it has tried a few times, and gave up */
	for (unsigned long i = 0; i < HPAGE_NR; i++)
		if (i % 4)
			KT_EQ(poke(BASE + i * P + 16, 0), 0);
	khugepaged_all(); /* as a write to a setting does */
	KT_ASSERT(becomes_huge(mm, BASE, 2000) && !is_huge(mm, BASE + HPAGE_SIZE));
	KT_EQ(wrong(2, 4), 0);
	end(mm);
	BALANCED();
}

/* ---- a crowd ---- */

#define CROWD 3
#define BLOCKS 4ul
static struct aspace *crowd_mm;

static void one_step(struct rng *rng, long *bad)
{
	unsigned long i = rng_below(rng, BLOCKS * HPAGE_NR), addr = BASE + i * P;
	unsigned long n = rng_below(rng, 4) ? 1 + rng_below(rng, 16) : HPAGE_NR;
	struct aspace *child;
	u32 v;

	n = min(n, BLOCKS * HPAGE_NR - i);
	switch (rng_below(rng, 64)) {
	case 0:
		vm_madvise(crowd_mm, addr, n * P, DONTNEED);
		break;
	case 1:
		vm_mprotect(addr, n * P, rng_below(rng, 2) ? RW : 1);
		break;
	case 2:
		vm_mmap(NULL, NULL, addr, n * P, RW, ANON | FIXED, 0);
		break;
	case 3:
		child = aspace_fork(crowd_mm);
		if (!IS_ERR(child))
			aspace_put(child);
		break;
	case 4:
		vm_madvise(crowd_mm, addr, min(n, 16ul) * P, PAGEOUT);
		break;
	case 5:
		down_read(&crowd_mm->lock);
		thp_split_addr(crowd_mm, addr);
		up_read(&crowd_mm->lock);
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
	for (int step = 0; step < (nr_cpus > 1 ? 700 : 6000); step++) {
		one_step(&rng, &bad);
		if (step % 8 == 0)
			sleep_ns(50000);
	}
	aspace_use(NULL);
	while (!kthread_should_stop())
		sleep_ns(1000000);
	return bad ? -EIO : 0;
}

static u64 made, refused;

static int collapser(void *arg)
{
	struct rng rng;

	rng_seed(&rng, 99);
	while (!kthread_should_stop()) {
		int err = thp_collapse(crowd_mm, BASE + rng_below(&rng, BLOCKS) * HPAGE_SIZE);

		made += !err;
		refused += err == -EAGAIN;
		sleep_ns(100000);
	}
	return 0;
}

KTEST(collapse, crowd)
{
	struct thread *member[CROWD], *c;
	u64 alloc = vm_event_sum(THP_COLLAPSE_ALLOC), splits = vm_event_sum(THP_SPLIT_PAGE);
	int results = 0;

	crowd_mm = make(BLOCKS, 1);
	KT_ASSERT(crowd_mm);
	aspace_use(NULL);
	KT_EQ(swap_on(), 0);
	made = refused = 0;
	c = kthread_run(collapser, NULL, -1, "collapser");
	for (unsigned long i = 0; i < CROWD; i++) {
		member[i] = kthread_run(crowd_member, (void *)(i + 1), -1, "crowd/%lu", i);
		KT_ASSERT(member[i]);
	}
	for (unsigned long i = 0; i < CROWD; i++)
		results |= kthread_stop(member[i]);
	kthread_stop(c);
	KT_EQ(results, 0);
	alloc = vm_event_sum(THP_COLLAPSE_ALLOC) - alloc;
	pr_info("collapse: %llu asked for and got, %llu refused, %llu blocks taken, %llu splits\n",
		(unsigned long long)made, (unsigned long long)refused, (unsigned long long)alloc,
		(unsigned long long)(vm_event_sum(THP_SPLIT_PAGE) - splits));
	KT_ASSERT(made > 5 && alloc > 5);
	KT_ASSERT(!aspace_check(crowd_mm) && !swapcache_check());
	end(crowd_mm);
	KT_EQ(swap_off(), 0);
	BALANCED();
}
