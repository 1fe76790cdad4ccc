/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_reclaim_more.c - reclaim's rarer parts: programs parked while the low reserves are going,
 * thresholds of the counters, whole blocks with their neighbours, mapped streams, exact counts.
 */
#include "arch/uaccess.h"
#include "lib/err.h"
#include "mm/cache/mapping.h"
#include "mm/kmem/slab.h"
#include "mm/phys/watermark.h"
#include "mm/reclaim/kswapd.h"
#include "mm/reclaim/lumpy.h"
#include "mm/reclaim/throttle.h"
#include "mm/vm/aspace.h"
#include "sched/kthread.h"
#include "sched/sched.h"
#include "sched/wait.h"
#include "tests/kernel/ktest.h"
#include "trace/irqsoff.h"

#define P PAGE_SIZE
DECLARE_SWITCH(mapped_stream);

static int blank(struct mapping *m, struct page *page)
{
	page_set(page, PG_uptodate);
	page_unlock(page);
	return 0;
}
static const struct mapping_ops blank_ops = { .read_page = blank };

static struct mapping *make(u64 pages)
{
	struct mapping *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (m) {
		mapping_init(m, &blank_ops, NULL, 0);
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

static void clear_stage(void)
{
	lru_drain_all();
	reclaim_ops->drop_clean();
	lru_drain_all();
}

/* ---- parking ---- */

static struct {
	struct completion done;
	gfp_t gfp;
	bool killed;
	s64 took; /* -1: not back yet */
} park;

/* A thread that is a program's as far as the rules go. */
static int parks(void *node)
{
	ktime_t start = ktime_get();

	__atomic_fetch_and(&current->flags, ~(u32)TF_KTHREAD, __ATOMIC_RELAXED);
	park.killed = throttle_direct(node, park.gfp);
	__atomic_fetch_or(&current->flags, TF_KTHREAD, __ATOMIC_RELAXED);
	park.took = (s64)(ktime_get() - start);
	complete(&park.done);
	return 0;
}

static bool start_parking(struct node *node, gfp_t gfp)
{
	struct thread *t;

	completion_init(&park.done);
	park.gfp = gfp;
	park.took = -1;
	t = kthread_create(parks, node, -1, "parked");
	if (t)
		thread_start(t);
	return t;
}

/* The node's low zones look as if their reserves were gone, or as they are. */
static void fake_shortage(struct node *node, unsigned long *saved, bool on)
{
	for (u32 i = 0; i < node->nr_zones; i++) {
		struct zone *z = &node->zones[i];

		if (on)
			saved[i] = z->watermark[WMARK_MIN];
		if (z->managed_pages)
			WRITE_ONCE(z->watermark[WMARK_MIN], on ? 4 * z->managed_pages : saved[i]);
	}
}

static bool has_low_zone(const struct node *node)
{
	for (u32 i = 0; i < node->nr_zones; i++)
		if (node->zones[i].type <= ZONE_NORMAL && node->zones[i].managed_pages)
			return true;
	return false;
}

KTEST(reclaim2, parked_until_reserves_are_back)
{
	struct node *node = nodes[0];
	unsigned long saved[MAX_ZONES];
	u64 count = vm_event_sum(PGSCAN_DIRECT_THROTTLE);
	bool ok;

	if (!node->kswapd || !has_low_zone(node))
		KT_SKIP("no low zone in the first node");
	KT_ASSERT(!throttle_direct(node, GFP_KERNEL)); /* nothing is short */
	fake_shortage(node, saved, true);
	ok = !throttle_direct(node, GFP_KERNEL); /* kernel threads pass */
	ok = ok && vm_event_sum(PGSCAN_DIRECT_THROTTLE) == count;
	ok = ok && start_parking(node, GFP_KERNEL);
	sleep_ns(30 * NSEC_PER_MSEC);
	ok = ok && vm_event_sum(PGSCAN_DIRECT_THROTTLE) == count + 1;
	ok = ok && park.took < 0; /* still there */
	fake_shortage(node, saved, false);
	kswapd_kick(node);
	KT_ASSERT(ok);
	wait_for_completion(&park.done);
	KT_ASSERT(!park.killed);
	KT_ASSERT(park.took >= 20 * NSEC_PER_MSEC && park.took < 2 * NSEC_PER_SEC);
}

/* Whoever may hold a file system's lock is let go after a second. */
KTEST(reclaim2, parked_nofs_one_second)
{
	struct node *node = nodes[0];
	unsigned long saved[MAX_ZONES];
	bool ok;

	if (!node->kswapd || !has_low_zone(node))
		KT_SKIP("no low zone in the first node");
	fake_shortage(node, saved, true);
	ok = start_parking(node, GFP_NOFS);
	if (ok)
		wait_for_completion(&park.done);
	fake_shortage(node, saved, false);
	KT_ASSERT(ok && !park.killed);
	KT_ASSERT(park.took >= NSEC_PER_SEC && park.took < 2 * NSEC_PER_SEC);
}

/* ---- counters ---- */

KTEST(reclaim2, thresholds_follow_pressure)
{
	u32 cpus = max(nr_possible_cpus, 1u);
	struct zone *z = zone_first();

	node_set_pressure(z->node, 1);
	KT_EQ(zone_pcp(z, 0)->stat_threshold,
	      wm_pressure_threshold(cpus, z->watermark[WMARK_LOW], z->watermark[WMARK_MIN]));
	node_set_pressure(z->node, 0);
	KT_EQ(zone_pcp(z, 0)->stat_threshold, wm_stat_threshold(cpus, z->managed_pages));
}

/* A second touch counts when the page moves, not when it cannot. */
KTEST(reclaim2, activation_counts_what_moves)
{
	struct mapping *m = make(1);
	struct page *page;
	u64 n;

	KT_ASSERT(m);
	page = pagecache_get(m, 0, 0);
	KT_ASSERT(!IS_ERR_OR_NULL(page));
	lru_drain_all();
	page_clear(page, PG_referenced);
	KT_ASSERT(lru_isolate(page));
	n = vm_event_sum(PGACTIVATE);
	page_mark_accessed(page);
	page_mark_accessed(page);
	KT_EQ(vm_event_sum(PGACTIVATE), n);
	KT_ASSERT(!page_test(page, PG_active));
	lru_putback(page);
	lru_drain_all();
	page_mark_accessed(page);
	page_mark_accessed(page);
	KT_ASSERT(page_test(page, PG_active));
	KT_EQ(vm_event_sum(PGACTIVATE), n + 1);
	page_put(page);
	unmake(m);
}

/* ---- blocks ---- */

#define BLOCK_PAGES 256ul

/* Free memory that lies in pieces, so that what is allocated next are neighbours. */
static void take_pieces(struct list_head *kept)
{
	unsigned long last = 0, row = 0;

	for (u32 i = 0; i < 20000 && row < 2 * BLOCK_PAGES; i++) {
		struct page *page = alloc_page(GFP_HIGHUSER_MOVABLE);
		unsigned long pfn;

		if (!page)
			return;
		pfn = page_to_pfn(page);
		row = pfn == last + 1 || pfn + 1 == last ? row + 1 : 0;
		last = pfn;
		list_add(&page->lru, kept);
	}
}

/* Every second page active; one scan for blocks of that order. => active pages left */
static long scan_blocks(struct mapping *m, u32 mode, unsigned int order)
{
	struct scan_control sc = { .gfp = GFP_KERNEL, .order = order, .nr_to_reclaim = ~0ul };
	u32 old = switch_value(lumpy);
	struct page *page, *next;
	LIST_HEAD(pieces);
	struct zone *z;
	long left = 0;

	clear_stage();
	pcp_drain_all();
	take_pieces(&pieces);
	for (u64 i = 0; i < BLOCK_PAGES; i++) {
		page = pagecache_get(m, i, 0);
		if (IS_ERR_OR_NULL(page))
			return -1;
		page_put(page);
	}
	lru_drain_all();
	for (u64 i = 0; i < BLOCK_PAGES; i += 2) {
		page = pagecache_find(m, i);
		if (page) {
			lru_activate(page);
			page_put(page);
		}
	}
	irqoff_reset();
	WRITE_ONCE(switch_lumpy.value, mode);
	for_each_zone(z) {
		sc.priority = 0;
		shrink_zone(z, &sc);
	}
	WRITE_ONCE(switch_lumpy.value, old);
	for (u64 i = 0; i < BLOCK_PAGES; i += 2) {
		page = pagecache_find(m, i);
		if (page) {
			left++;
			page_put(page);
		}
	}
	pagecache_truncate(m, 0);
	m->size = BLOCK_PAGES * P;
	list_for_each_entry_safe(page, next, &pieces, lru)
		free_page(page);
	return left;
}

KTEST(reclaim2, neighbours_go_with_the_tag)
{
	struct mapping *m = make(BLOCK_PAGES);
	struct irqoff_stat st;
	u64 down;
	long left;

	KT_ASSERT(m);
	left = scan_blocks(m, LUMPY_NEVER, 4);
	KT_ASSERT(left >= (long)BLOCK_PAGES * 3 / 8); /* by age alone most active ones stay */
	left = scan_blocks(m, LUMPY_COMPACTION, 4);
	KT_ASSERT(left >= (long)BLOCK_PAGES * 3 / 8); /* neighbours of the same list only */
	for (u32 mode = LUMPY_LONG; mode <= LUMPY_BOUNDED; mode++) {
		struct zone *z;

		down = vm_event_sum(PGDEACTIVATE);
		left = scan_blocks(m, mode, 4);
		/* a page seen is a page scanned, so half of them are left for the next scan */
		KT_ASSERT(left >= 0 && left <= (long)BLOCK_PAGES * 11 / 32);
		KT_ASSERT(vm_event_sum(PGDEACTIVATE) - down >= BLOCK_PAGES / 8);
		for_each_zone(z) {
			KT_EQ(zone_state_exact(z, NR_ISOLATED_FILE), 0);
			KT_EQ(zone_state_exact(z, NR_ISOLATED_ANON), 0);
			KT_ASSERT(!lruvec_check(z));
		}
		KT_ASSERT(scan_blocks(m, mode, 6) >= 0);
		/*
		 * whole blocks in one section, as that kernel did it; or never more than 32 frames
		 */
		if (irqoff_stat_of("shrink_inactive", &st) && st.count)
			KT_ASSERT(mode == LUMPY_LONG ? st.work_max > 32 : st.work_max <= 32);
	}
	unmake(m);
}

/* ---- mapped streams ---- */

#define STREAM_PAGES 512ul

/* Pages of a stream freed by the first look at them, or -1. */
static long first_look(u32 value)
{
	struct scan_control sc = { .gfp = GFP_KERNEL, .nr_to_reclaim = ~0ul, .kswapd = true };
	u32 old = switch_value(mapped_stream);
	struct mapping *m = make(STREAM_PAGES);
	struct aspace *mm = aspace_create();
	struct zone *z;
	long a, freed;
	u8 byte;

	if (!m || !mm)
		return -1;
	aspace_use(mm);
	clear_stage();
	a = vm_mmap(NULL, m, 0, STREAM_PAGES * P, 1, 1, 0);
	for (u64 i = 0; a > 0 && i < STREAM_PAGES; i++)
		if (copy_from_user(&byte, (const void __user *)(a + i * P), 1))
			a = -1;
	lru_drain_all();
	WRITE_ONCE(switch_mapped_stream.value, value);
	for_each_zone(z) {
		sc.priority = 0;
		shrink_zone(z, &sc);
		z->stream.streak = 0;
	}
	WRITE_ONCE(switch_mapped_stream.value, old);
	freed = a > 0 ? (long)(STREAM_PAGES - m->nr_pages) : -1;
	aspace_use(NULL);
	aspace_put(mm);
	unmake(m);
	return freed;
}

KTEST(reclaim2, mapped_stream_goes_at_the_first_look)
{
	long freed;

	KT_EQ(first_look(0), 0);
	freed = first_look(1);
	/* Eight batches of 32 are looked at twice, the others of the same zone once. */
	KT_ASSERT(freed >= (long)STREAM_PAGES / 4);
	KT_ASSERT(freed <= (long)(STREAM_PAGES - STREAM_BATCHES * SWAP_CLUSTER_MAX));
}
