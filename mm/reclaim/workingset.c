// SPDX-License-Identifier: BSD-2-Clause
/*
 * workingset.c - refault distance: was a page thrown out too early?
 *
 * Problem: a page of a file is taken from the tail of the inactive list if it was not used twice on
 * the way there. When the set of pages in use is larger than that list, each is thrown out just
 * before its second use, for ever, while the active list keeps pages that nobody uses any more.
 * Idea: measure what was missing.
 *
 *     head  [ inactive ]  tail -> out          [ active ]
 *            <- slots -> <--- away --->
 *
 * Each eviction and each activation moves the inactive list on by one page: age counts them per
 * zone. A page that goes leaves the age in its place in the index. When it comes back, age - trace
 * is the number of slots by which the inactive list was too short. If the active list has at least
 * as many, the page would have been used twice if that had been inactive: it starts active, and
 * competes with those that are.
 *
 * Traces of pages that never come back cost memory: nodes of the index with nothing but traces are
 * counted, and a shrinker takes some away when they are more than an eighth of the pages on the
 * lists.
 * Switch: 0 as before 3.15, 1 as since then.
 * Locking: the age is atomic; traces are changed under the mapping's lock.
 * Source: [facts 1.7] for the lists, [Weiner14].
 */
#include "mm/reclaim/workingset.h"

#include "mm/cache/mapping.h"
#include "mm/kmem/slab.h"
#include "mm/phys/zone.h"

DEFINE_SWITCH(
	workingset, 1, 0, 1, "003",
	"pages of files that come back: 0 are new, 1 start active if they were not away longer "
	"than the active list is long (3.15 and later)");

static atomic_long_t age[NR_ZIDS];
static atomic_long_t value_nodes;

void workingset_nodes(long n)
{
	if (n)
		atomic_long_add(n, &value_nodes);
}

unsigned long workingset_nr_nodes(void)
{
	return (unsigned long)max(atomic_long_read(&value_nodes), 0l);
}

void *workingset_eviction(struct page *page)
{
	unsigned int zid = page_zid(page);

	if (!switch_value(workingset))
		return NULL;
	return xa_mk_value(ws_pack((unsigned long)atomic_long_add_return(1, &age[zid]), zid));
}

static struct zone *zone_of(unsigned int zid)
{
	return &nodes[zid & 7]->zones[zid >> 3 & 7];
}

void workingset_refault(struct page *page, void *trace)
{
	unsigned int zid = ws_zid(xa_to_value(trace));
	struct zone *zone = zone_of(zid);
	unsigned long distance;

	if (!switch_value(workingset))
		return; /* it was on when the trace was left */
	distance = ws_distance(xa_to_value(trace), (unsigned long)atomic_long_read(&age[zid]));
	mod_zone_state(zone, WORKINGSET_REFAULT, 1);
	if (distance > zone_state(zone, NR_ACTIVE_FILE))
		return;
	mod_zone_state(zone, WORKINGSET_ACTIVATE, 1);
	page_set(page, PG_active);
	workingset_activation(page);
}

void workingset_activation(const struct page *page)
{
	atomic_long_inc(&age[page_zid(page)]);
}

/* ---- the bound ---- */

static unsigned long lru_pages(void)
{
	return global_zone_state(NR_ACTIVE_FILE) + global_zone_state(NR_INACTIVE_FILE) +
	       global_zone_state(NR_ACTIVE_ANON) + global_zone_state(NR_INACTIVE_ANON);
}

static unsigned long count_nodes(struct shrinker *s)
{
	return ws_nodes_too_many(workingset_nr_nodes(), lru_pages());
}

static unsigned long scan_nodes(struct shrinker *s, unsigned long nr)
{
	unsigned long gone = mapping_forget_traces(nr);
	struct zone *zone;

	/* The nodes may lie anywhere; Linux has the line per zone. */
	for_each_zone(zone) {
		mod_zone_state(zone, WORKINGSET_NODERECLAIM, (long)gone);
		break;
	}
	return gone;
}

static struct shrinker shrinker = { .name = "workingset",
				    .count = count_nodes,
				    .scan = scan_nodes };

void workingset_init(void)
{
	shrinker_register(&shrinker);
}
