/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * direct.c - an allocation that found nothing gives memory back itself.
 *
 * Idea (a simple first form): walk the inactive file list of each zone from its cold end in batches
 * of 32, harder from round to round. A page used since it was last looked at gets another trip; a
 * clean, unmapped one leaves the page cache. When the inactive list is shorter than the active one
 * it is refilled from there. Then the shrinkers. Dirty, mapped and anonymous pages are left alone;
 * writing and swapping come with the full reclaim.
 * Locking: lru_lock for taking a batch off; nothing while pages are examined.
 */
#include "kernel/event.h"
#include "mm/kmem/slab.h"
#include "mm/reclaim/reclaim.h"
#include "sched/sched.h"

#define SWAP_CLUSTER_MAX 32u
#define DEF_PRIORITY 12

const struct reclaim_ops *reclaim_ops;

/* Up to 32 pages from the cold end, each with a reference. */
static u32 take_batch(struct zone *zone, enum lru_list lru, struct page **batch)
{
	struct list_head *list = &zone->lruvec.lists[lru];
	unsigned long flags;
	u32 n = 0, seen = 0;

	spin_lock_irqsave_l(&zone->lru_lock, flags, "shrink_inactive");
	while (seen++ < SWAP_CLUSTER_MAX && !list_empty(list)) {
		struct page *page = list_last_entry(list, struct page, lru);

		if (!page_get_unless_zero(page)) { /* being freed: out of the way */
			list_move(&page->lru, list);
			continue;
		}
		lruvec_del_locked(&zone->lruvec, page, lru);
		page_clear(page, PG_lru);
		batch[n++] = page;
	}
	zone->pages_scanned += n;
	irq_work(seen);
	spin_unlock_irqrestore_l(&zone->lru_lock, flags, "shrink_inactive");
	return n;
}

static unsigned long shrink_inactive(struct zone *zone)
{
	struct page *batch[SWAP_CLUSTER_MAX];
	u32 n = take_batch(zone, LRU_INACTIVE_FILE, batch);
	unsigned long freed = 0;

	count_vm_event_zone(PGSCAN_DIRECT, zone->type, n);
	for (u32 i = 0; i < n; i++) {
		struct page *page = batch[i];

		if (!page_test_and_clear(page, PG_referenced) && reclaim_ops->drop_page(page)) {
			page_put(page);
			freed++;
		} else {
			lru_putback(page);
		}
	}
	count_vm_event_zone(PGSTEAL_DIRECT, zone->type, freed);
	return freed;
}

static void shrink_active(struct zone *zone)
{
	struct page *batch[SWAP_CLUSTER_MAX];
	u32 n = take_batch(zone, LRU_ACTIVE_FILE, batch);

	count_vm_event_zone(PGREFILL, zone->type, n);
	for (u32 i = 0; i < n; i++) {
		page_clear(batch[i], PG_active);
		page_clear(batch[i], PG_referenced);
		lru_putback(batch[i]);
	}
	count_vm_events(PGDEACTIVATE, n);
}

static unsigned long shrink_zone(struct zone *zone, int priority, unsigned long want)
{
	struct lruvec *v = &zone->lruvec;
	unsigned long freed = 0;
	long scan = (long)(v->nr[LRU_INACTIVE_FILE] >> priority) + SWAP_CLUSTER_MAX;

	for (; scan > 0 && freed < want; scan -= SWAP_CLUSTER_MAX) {
		if (v->nr[LRU_ACTIVE_FILE] > v->nr[LRU_INACTIVE_FILE])
			shrink_active(zone);
		if (!v->nr[LRU_INACTIVE_FILE])
			break;
		freed += shrink_inactive(zone);
		cond_resched();
	}
	return freed;
}

unsigned long reclaim_pages(struct zonelist *zl, enum zone_type class, unsigned long nr)
{
	unsigned long freed = 0;
	struct zoneref *zr;

	if (!reclaim_ops)
		return 0;
	lru_drain_local();
	for (int priority = DEF_PRIORITY; priority >= 0 && freed < nr; priority--) {
		if (priority == DEF_PRIORITY / 2)
			lru_drain_all(); /* getting serious: other CPUs' batches too */
		for_each_zoneref(zr, zl, class)
			freed += shrink_zone(zr->zone, priority, nr - min(freed, nr));
	}
	return freed;
}

static unsigned long direct_reclaim(struct zonelist *zl, gfp_t gfp, unsigned int order,
				    enum zone_type class)
{
	unsigned long freed = reclaim_pages(zl, class, SWAP_CLUSTER_MAX);

	if (freed < SWAP_CLUSTER_MAX && (gfp & __GFP_FS))
		freed += shrink_slab_all(1024);
	return freed;
}

static const struct pressure_ops simple_pressure = { .direct_reclaim = direct_reclaim,
						     .oom = oom_kill };

void reclaim_init(void)
{
	pressure_ops = &simple_pressure;
	reclaim_checks_init();
}
