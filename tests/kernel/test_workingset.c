/* SPDX-License-Identifier: BSD-2-Clause */
/* test_workingset.c - pages that come back: traces, distance, activation, and the bound on traces. */
#include "lib/err.h"
#include "mm/cache/mapping.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/reclaim/scan.h"
#include "mm/reclaim/workingset.h"
#include "sched/sched.h"
#include "tests/kernel/ktest.h"

#define NR 256ul /* pages of a file: four nodes of its index */

static int nothing(struct mapping *m, struct page *page)
{
	page_set(page, PG_uptodate);
	page_unlock(page);
	return 0;
}
static const struct mapping_ops ops = { .read_page = nothing };

static struct mapping *make(void)
{
	struct mapping *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (m) {
		mapping_init(m, &ops, NULL, 0);
		m->size = 1ull << 40;
	}
	return m;
}

static void unmake(struct mapping *m)
{
	pagecache_truncate(m, 0);
	mapping_destroy(m);
	kfree(m);
}

/* Pages 0, step, 2 step ... are read; used twice: they become active. => how many are active */
static unsigned long fill(struct mapping *m, unsigned long nr, unsigned long step, bool twice)
{
	unsigned long active = 0;

	for (unsigned long i = 0; i < nr; i++) {
		struct page *page = pagecache_get(m, i * step, 0);

		if (IS_ERR_OR_NULL(page))
			return ~0ul;
		if (twice) {
			page_mark_accessed(page);
			page_mark_accessed(page);
		}
		active += page_test(page, PG_active);
		page_put(page);
		cond_resched();
	}
	lru_drain_all();
	return active;
}

static void evict(void)
{
	struct scan_control sc = { .gfp = GFP_KERNEL, .nr_to_reclaim = ~0ul };
	struct zone *z;

	lru_drain_all();
	for_each_zone(z)
		shrink_zone(z, &sc);
	lru_drain_all();
}

static void clear_stage(void)
{
	lru_drain_all();
	reclaim_ops->drop_clean();
	lru_drain_all();
}

static u64 exact(enum zone_stat_item item)
{
	struct zone *z;
	u64 n = 0;

	for_each_zone(z)
		n += zone_state_exact(z, item);
	return n;
}

static u32 set_switch(u32 value)
{
	u32 old = switch_value(workingset);

	WRITE_ONCE(switch_workingset.value, value);
	return old;
}

KTEST(workingset, page_that_leaves_leaves_a_trace)
{
	unsigned long nodes = workingset_nr_nodes();
	struct mapping *m = make();
	u64 refaults;
	u32 old;

	KT_ASSERT(m);
	clear_stage();
	old = set_switch(1);
	KT_EQ(fill(m, NR, 1, false), 0);
	evict();
	KT_EQ(m->nr_pages, 0);
	KT_EQ(m->nr_values, NR);
	KT_EQ(m->pages.value_nodes, NR / 64);
	KT_EQ(workingset_nr_nodes(), nodes + NR / 64);
	KT_ASSERT(!pagecache_find(m, 5));
	refaults = exact(WORKINGSET_REFAULT);
	KT_ASSERT(fill(m, 64, 1, false) <= 64);
	KT_EQ(exact(WORKINGSET_REFAULT), refaults + 64);
	KT_EQ(m->nr_pages, 64);
	KT_EQ(m->nr_values, NR - 64);
	KT_EQ(m->pages.value_nodes, NR / 64 - 1);
	KT_ASSERT(mapping_check(m));
	set_switch(old);
	unmake(m);
	KT_EQ(workingset_nr_nodes(), nodes);
}

/* Away for no longer than the active list is long: it starts active. */
KTEST(workingset, short_absence_starts_active)
{
	struct mapping *m = make(), *hot = make();
	u64 activated;
	u32 old;

	KT_ASSERT(m && hot);
	clear_stage();
	old = set_switch(1);
	KT_EQ(fill(hot, 4 * NR, 1, true), 4 * NR);
	KT_EQ(fill(m, NR, 1, false), 0);
	for (int i = 0; i < 4 && m->nr_pages; i++)
		evict();
	KT_EQ(m->nr_pages, 0);
	KT_ASSERT(fill(hot, 4 * NR, 1, true) >= 4 * NR); /* where it shrank */
	activated = exact(WORKINGSET_ACTIVATE);
	KT_EQ(fill(m, NR, 1, false), NR);
	KT_EQ(exact(WORKINGSET_ACTIVATE), activated + NR);
	set_switch(old);
	unmake(m);
	unmake(hot);
}

/* With nothing active a long absence is just that. */
KTEST(workingset, long_absence_is_a_new_page)
{
	struct mapping *m = make();
	struct page *page;
	u32 old;

	KT_ASSERT(m);
	clear_stage();
	old = set_switch(1);
	KT_EQ(fill(m, NR, 1, false), 0);
	evict();
	KT_EQ(m->nr_pages, 0);
	if (exact(NR_ACTIVE_FILE) < NR / 2) { /* page 0 went first: NR - 1 others since */
		page = pagecache_get(m, 0, 0);
		KT_ASSERT(!IS_ERR_OR_NULL(page));
		KT_ASSERT(!page_test(page, PG_active));
		page_put(page);
	}
	set_switch(old);
	unmake(m);
}

KTEST(workingset, switch_off_leaves_none)
{
	struct mapping *m = make();
	u64 refaults = exact(WORKINGSET_REFAULT);
	u32 old;

	KT_ASSERT(m);
	clear_stage();
	old = set_switch(0);
	KT_EQ(fill(m, NR, 1, false), 0);
	evict();
	KT_EQ(m->nr_pages, 0);
	KT_EQ(m->nr_values, 0);
	KT_EQ(fill(m, NR, 1, false), 0);
	KT_EQ(exact(WORKINGSET_REFAULT), refaults);
	set_switch(old);
	unmake(m);
}

/* drop_caches is no loss of a working set; truncation takes traces along. */
KTEST(workingset, no_traces_of_what_was_dropped_or_cut)
{
	struct mapping *m = make();
	u32 old;

	KT_ASSERT(m);
	clear_stage();
	old = set_switch(1);
	KT_EQ(fill(m, NR, 1, false), 0);
	clear_stage();
	KT_EQ(m->nr_pages + m->nr_values, 0);
	fill(m, NR, 1, false);
	evict();
	KT_EQ(m->nr_values, NR);
	fill(m, 10, 1, false);
	pagecache_truncate(m, 5 * PAGE_SIZE);
	KT_EQ(m->nr_pages, 5);
	KT_EQ(m->nr_values, 0);
	KT_EQ(m->pages.value_nodes, 0);
	set_switch(old);
	unmake(m);
}

/* One page per node of the index: the traces cost a node each and can be had back. */
KTEST(workingset, traces_are_bounded)
{
	struct mapping *m = make();
	unsigned long nodes;
	u32 old;

	KT_ASSERT(m);
	clear_stage();
	while (mapping_forget_traces(1000)) /* of files that are no test's */
		;
	nodes = workingset_nr_nodes();
	old = set_switch(1);
	KT_EQ(fill(m, NR, 64, false), 0);
	evict();
	KT_EQ(m->nr_values, NR);
	KT_EQ(workingset_nr_nodes(), nodes + NR);
	KT_ASSERT(mapping_forget_traces(10) >= 10);
	KT_ASSERT(m->nr_values <= NR - 10 && mapping_check(m));
	while (mapping_forget_traces(1000))
		;
	KT_EQ(m->nr_values, 0);
	KT_EQ(workingset_nr_nodes(), nodes);
	set_switch(old);
	unmake(m);
}
