/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_reclaim.c - the rules by which memory is given back: two looks at a page touched once,
 * second touch by read, kswapd that keeps up with a stream, sleeps at rest, and gives up on what
 * cannot be had; parking, blocks, and the other patches of the series as switches.
 */
#include "arch/uaccess.h"
#include "lib/err.h"
#include "lib/string.h"
#include "mm/cache/mapping.h"
#include "mm/cache/readahead.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/kswapd.h"
#include "mm/reclaim/scan.h"
#include "mm/vm/aspace.h"
#include "sched/sched.h"
#include "tests/kernel/ktest.h"

#define P PAGE_SIZE
#define FEW 8ul

/* A file whose every page begins with its number and costs nothing to read. */
static int numbered(struct mapping *m, struct page *page)
{
	*(u64 *)page_kmap(page) = page->index;
	page_set(page, PG_uptodate);
	page_unlock(page);
	return 0;
}
static const struct mapping_ops numbered_ops = { .read_page = numbered };

static struct mapping *make(u64 pages)
{
	struct mapping *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (m) {
		mapping_init(m, &numbered_ops, NULL, 0);
		m->size = pages * P;
	}
	return m;
}

static void unmake(struct mapping *m)
{
	pagecache_truncate(m, 0);
	mapping_destroy(m);
	kfree(m);
}

/* Nothing but what the test makes shall be on the file lists. */
static void clear_stage(void)
{
	lru_drain_all();
	reclaim_ops->drop_clean();
	lru_drain_all();
}

/* Every inactive file page is looked at once, by kswapd's rules or a direct reclaimer's. */
static unsigned long one_look(bool kswapd)
{
	struct scan_control sc = { .gfp = GFP_KERNEL, .nr_to_reclaim = ~0ul, .kswapd = kswapd };
	struct zone *z;

	lru_drain_all();
	for_each_zone(z)
		shrink_zone(z, &sc);
	lru_drain_all();
	return sc.nr_reclaimed;
}

static bool kswapds_asleep(void)
{
	struct node *node;

	for_each_node(node)
		if (node->has_memory && !kswapd_asleep(node))
			return false;
	return true;
}

static bool wait_asleep(void)
{
	for (int i = 0; i < 300 && !kswapds_asleep(); i++)
		sleep_ns(20 * NSEC_PER_MSEC);
	return kswapds_asleep();
}

static u64 family(enum vm_event first)
{
	u64 n = 0;

	for (int i = 0; i < NR_ZONE_TYPES; i++)
		n += vm_event_sum(first + i);
	return n;
}

/* Reads pages [0, n) once. false: something read wrong. */
static bool stream(struct mapping *m, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		struct page *page = pagecache_get(m, i, 0);
		bool right;

		if (IS_ERR_OR_NULL(page))
			return false;
		right = *(u64 *)page_kmap(page) == i;
		page_put(page);
		if (!right)
			return false;
		cond_resched();
	}
	return true;
}

static u64 peek(unsigned long addr)
{
	u64 v;

	return copy_from_user(&v, (const void __user *)addr, sizeof(v)) ? ~0ull : v;
}

KTEST(reclaim, mapped_page_costs_two_looks)
{
	struct mapping *m = make(FEW);
	struct aspace *mm = aspace_create();
	u64 scanned, activated;
	long a;

	KT_ASSERT(m && mm);
	aspace_use(mm);
	clear_stage();
	a = vm_mmap(NULL, m, 0, FEW * P, 1, 1, 0);
	KT_ASSERT(a > 0);
	for (unsigned long i = 0; i < FEW; i++)
		KT_EQ(peek(a + i * P), i);
	scanned = family(PGSCAN_KSWAPD_DMA);
	activated = vm_event_sum(PGACTIVATE);
	one_look(true);
	KT_EQ(m->nr_pages, FEW); /* used since: one more trip */
	KT_ASSERT(family(PGSCAN_KSWAPD_DMA) - scanned >= FEW);
	KT_EQ(vm_event_sum(PGACTIVATE), activated);
	KT_ASSERT(one_look(true) >= FEW);
	KT_EQ(m->nr_pages, 0);
	for (unsigned long i = 0; i < FEW; i++)
		KT_EQ(peek(a + i * P), i); /* and they come back */
	KT_EQ(vm_munmap(a, FEW * P), 0);
	KT_ASSERT(!aspace_check(mm));
	aspace_use(NULL);
	aspace_put(mm);
	unmake(m);
}

KTEST(reclaim, used_by_two_is_kept)
{
	struct mapping *m = make(FEW);
	struct aspace *mm = aspace_create();
	u64 activated, deactivated;
	long a, b;

	KT_ASSERT(m && mm);
	aspace_use(mm);
	clear_stage();
	a = vm_mmap(NULL, m, 0, FEW * P, 1, 1, 0);
	b = vm_mmap(NULL, m, 0, FEW * P, 1, 1, 0);
	KT_ASSERT(a > 0 && b > 0);
	for (unsigned long i = 0; i < FEW; i++)
		KT_ASSERT(peek(a + i * P) == i && peek(b + i * P) == i);
	activated = vm_event_sum(PGACTIVATE);
	deactivated = vm_event_sum(PGDEACTIVATE);
	one_look(false);
	KT_EQ(m->nr_pages, FEW);
	KT_EQ(vm_event_sum(PGACTIVATE) - activated, FEW);
	/* active now, and the inactive list is the shorter one: they move over, and then go */
	for (int i = 0; i < 4 && m->nr_pages; i++)
		one_look(false);
	KT_EQ(m->nr_pages, 0);
	KT_ASSERT(vm_event_sum(PGDEACTIVATE) - deactivated >= FEW);
	KT_EQ(vm_munmap(a, FEW * P), 0);
	KT_EQ(vm_munmap(b, FEW * P), 0);
	aspace_use(NULL);
	aspace_put(mm);
	unmake(m);
}

KTEST(reclaim, second_read_makes_active)
{
	struct mapping *m = make(2);
	struct ra_state ra;
	struct page *page;
	u64 v;

	KT_ASSERT(m);
	clear_stage();
	ra_state_init(&ra);
	for (int i = 0; i < 3; i++) /* in a row by one file: one use */
		KT_EQ(pagecache_read_kernel_ra(m, &ra, 8 * i, &v, 8), 8);
	page = pagecache_find(m, 0);
	KT_ASSERT(page && page_test(page, PG_referenced) && !page_test(page, PG_workingset));
	KT_EQ(pagecache_read_kernel_ra(m, &ra, P, &v, 8), 8);
	KT_EQ(pagecache_read_kernel_ra(m, &ra, 0, &v, 8), 8);
	page_put(page);
	KT_ASSERT(one_look(true) >= 1); /* the other, read once */
	KT_ASSERT(page_test(page, PG_active));
	KT_EQ(m->nr_pages, 1);
	unmake(m);
}

/* A dirty page is not written by those who must not, but marked. */
KTEST(reclaim, dirty_page_is_kept)
{
	struct mapping *m = make(1);
	unsigned long marked;
	struct page *page;

	KT_ASSERT(m);
	clear_stage();
	page = pagecache_get(m, 0, 0);
	KT_ASSERT(!IS_ERR_OR_NULL(page));
	pagecache_set_dirty(page);
	marked = zone_state_exact(page_zone(page), NR_VMSCAN_IMMEDIATE);
	one_look(false);
	KT_EQ(m->nr_pages, 1);
	KT_ASSERT(page_test(page, PG_reclaim) && page_test(page, PG_dirty));
	KT_EQ(zone_state_exact(page_zone(page), NR_VMSCAN_IMMEDIATE), marked + 1);
	page_put(page);
	unmake(m);
}

/* kswapd may sleep with a zone above the ones it was woken for below HIGH, but not below LOW. */
static bool below_low(void)
{
	struct zone *z;

	for_each_zone(z)
		if (!z->all_unreclaimable &&
		    !zone_watermark_ok(z, 0, z->watermark[WMARK_LOW], z->type, 0))
			return true;
	return false;
}

KTEST(reclaim, kswapd_keeps_up_with_a_stream)
{
	unsigned long n = totalram_pages + totalram_pages / 4;
	u64 runs, stalls, stolen, kills;
	struct mapping *m;

	if (totalram_pages > 300ul << 8)
		KT_SKIP("it streams more than the memory there is: small machines only");
	m = make(n);
	KT_ASSERT(m);
	KT_ASSERT(wait_asleep());
	runs = vm_event_sum(PAGEOUTRUN);
	stalls = vm_event_sum(ALLOCSTALL);
	stolen = family(PGSTEAL_KSWAPD_DMA);
	kills = vm_event_sum(OOM_KILL);
	KT_ASSERT(stream(m, n));
	KT_ASSERT(vm_event_sum(PAGEOUTRUN) > runs);
	KT_ASSERT(wait_asleep());
	KT_ASSERT(!below_low());
	pr_info("reclaim: stream of %lu pages: %llu by kswapd, %llu stalls", n,
		(unsigned long long)(family(PGSTEAL_KSWAPD_DMA) - stolen),
		(unsigned long long)(vm_event_sum(ALLOCSTALL) - stalls));
	KT_ASSERT(vm_event_sum(ALLOCSTALL) - stalls <= n / 200);
	KT_ASSERT(family(PGSTEAL_KSWAPD_DMA) - stolen >= n / 10);
	KT_EQ(vm_event_sum(OOM_KILL), kills);
	unmake(m);
}

KTEST(reclaim, asleep_at_rest)
{
	u64 before;

	KT_ASSERT(wait_asleep());
	before = vm_event_sum(PAGEOUTRUN) + vm_event_sum(KSWAPD_LOW_WMARK_HIT_QUICKLY) +
		 vm_event_sum(KSWAPD_HIGH_WMARK_HIT_QUICKLY);
	sleep_ns(300 * NSEC_PER_MSEC);
	KT_ASSERT(kswapds_asleep());
	KT_EQ(vm_event_sum(PAGEOUTRUN) + vm_event_sum(KSWAPD_LOW_WMARK_HIT_QUICKLY) +
		      vm_event_sum(KSWAPD_HIGH_WMARK_HIT_QUICKLY),
	      before);
}

#define GFP_TRY (GFP_HIGHUSER_MOVABLE | __GFP_NORETRY | __GFP_NOWARN)
#define FUTILE 100

KTEST(reclaim, gives_up_on_what_cannot_be_had)
{
	struct page *list = NULL, *page;
	unsigned long got = 0;
	u64 runs, after;

	if (totalram_pages > 300ul << 8)
		KT_SKIP("it takes all memory: small machines only");
	clear_stage();
	while ((page = alloc_page(GFP_TRY))) {
		page->private = (unsigned long)list;
		list = page;
		got++;
	}
	runs = vm_event_sum(PAGEOUTRUN);
	for (int i = 0; i < FUTILE; i++) {
		page = alloc_page(GFP_TRY);
		if (page) { /* somebody gave one back */
			page->private = (unsigned long)list;
			list = page;
		}
	}
	after = vm_event_sum(PAGEOUTRUN);
	while ((page = list)) {
		list = (struct page *)page->private;
		page->private = 0;
		free_page(page);
	}
	KT_ASSERT(got > totalram_pages / 4);
	KT_ASSERT(after - runs <= 20ul * nr_nodes + FUTILE / 4);
	KT_ASSERT(wait_asleep());
	for (u32 i = 0; i < 3; i++)
		if ((page = alloc_page(GFP_TRY)))
			free_page(page);
	KT_ASSERT(page);
}
