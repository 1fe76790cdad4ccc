/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * direct.c - an allocation that found nothing gives memory back itself.
 *
 * Idea (a simple first form): walk the inactive file list of each zone from its cold end in batches
 * of 32, harder from round to round. A page used since it was last looked at gets another trip; a
 * clean one leaves the page cache, taken out of page tables first if nobody used it there. When the
 * inactive list is shorter than the active one it is refilled from there. Then the shrinkers.
 * Anonymous pages are left alone; swapping comes with the full reclaim.
 *
 * Dirty pages are not written here. Where they are what is left, the flushers are told to write,
 * and the allocation waits for the device, at most 100 ms at a time: a program that writes faster
 * than its disk must become slow, not be killed. Only when no page was written for ten seconds is
 * it over with patience (reclaim_worth_waiting), and memory counts as exhausted. Whoever may not
 * wait for I/O (GFP_NOIO, the flushers themselves) takes what clean pages there are.
 * Locking: lru_lock for taking a batch off; nothing while pages are examined.
 */
#include "kernel/event.h"
#include "kernel/time.h"
#include "mm/cache/writeback.h"
#include "mm/kmem/slab.h"
#include "mm/reclaim/congestion.h"
#include "mm/reclaim/reclaim.h"
#include "sched/sched.h"

#define SWAP_CLUSTER_MAX 32u
#define DEF_PRIORITY 12

#define WAIT_STEP_NS (100 * NSEC_PER_MSEC)
#define PATIENCE_NS (10 * NSEC_PER_SEC)

const struct reclaim_ops *reclaim_ops;

/* control-struct of one call */
struct scan {
	unsigned long dirty;	 /* seen: dirty, not being written */
	unsigned long writeback; /* seen: being written */
};

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

/* Why a page stays; a page being written comes to the cold end as soon as that is over. */
static void keep(struct page *page, struct scan *sc)
{
	if (page_test(page, PG_writeback)) {
		sc->writeback++;
		if (!page_test(page, PG_reclaim))
			page_set(page, PG_reclaim);
	} else if (page_test(page, PG_dirty) && !page_test(page, PG_swapbacked)) {
		sc->dirty++;
	}
	lru_putback(page);
}

static unsigned long shrink_inactive(struct zone *zone, struct scan *sc)
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
			keep(page, sc);
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

static unsigned long shrink_zone(struct zone *zone, int priority, unsigned long want,
				 struct scan *sc)
{
	struct lruvec *v = &zone->lruvec;
	unsigned long freed = 0;
	long scan = (long)(v->nr[LRU_INACTIVE_FILE] >> priority) + SWAP_CLUSTER_MAX;

	for (; scan > 0 && freed < want; scan -= SWAP_CLUSTER_MAX) {
		if (v->nr[LRU_ACTIVE_FILE] > v->nr[LRU_INACTIVE_FILE])
			shrink_active(zone);
		if (!v->nr[LRU_INACTIVE_FILE])
			break;
		freed += shrink_inactive(zone, sc);
		cond_resched();
	}
	return freed;
}

static unsigned long scan_zones(struct zonelist *zl, enum zone_type class, unsigned long nr,
				struct scan *sc)
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
			freed += shrink_zone(zr->zone, priority, nr - min(freed, nr), sc);
	}
	return freed;
}

unsigned long reclaim_pages(struct zonelist *zl, enum zone_type class, unsigned long nr)
{
	struct scan sc = { 0 };

	return scan_zones(zl, class, nr, &sc);
}

/* May this allocation wait for a device? */
static bool may_wait(gfp_t gfp)
{
	return (gfp & __GFP_IO) && !(current->flags & (TF_FLUSHER | TF_NOIO));
}

static unsigned long direct_reclaim(struct zonelist *zl, gfp_t gfp, unsigned int order,
				    enum zone_type class)
{
	struct scan sc = { 0 };
	unsigned long freed = scan_zones(zl, class, SWAP_CLUSTER_MAX, &sc);

	if (freed < SWAP_CLUSTER_MAX && (gfp & __GFP_FS) && !(current->flags & TF_NOFS))
		freed += shrink_slab_all(1024);
	if (sc.dirty > freed)
		wakeup_flushers((long)(sc.dirty + SWAP_CLUSTER_MAX), WB_REASON_VMSCAN);
	if (!freed && (sc.dirty || sc.writeback) && may_wait(gfp))
		congestion_wait(CONGEST_ASYNC, WAIT_STEP_NS);
	return freed;
}

/*
 * Nothing could be freed: is something on its way to a disk that will become free? Sleeps a little
 * in that case.
 */
static bool reclaim_worth_waiting(gfp_t gfp)
{
	static u64 seen_written;
	static ktime_t seen_at;
	u64 written = global_zone_state(NR_WRITTEN);
	ktime_t now = ktime_get();

	if (!may_wait(gfp) || !(global_zone_state(NR_DIRTY) + global_zone_state(NR_WRITEBACK)))
		return false;
	if (written != READ_ONCE(seen_written) || !READ_ONCE(seen_at)) {
		WRITE_ONCE(seen_written, written);
		WRITE_ONCE(seen_at, now);
	} else if (now - READ_ONCE(seen_at) > PATIENCE_NS) {
		/* whoever runs out of memory next begins to count anew */
		WRITE_ONCE(seen_at, 0);
		return false;
	}
	wakeup_flushers(0, WB_REASON_VMSCAN);
	congestion_wait(CONGEST_ASYNC, WAIT_STEP_NS);
	return true;
}

static const struct pressure_ops simple_pressure = { .direct_reclaim = direct_reclaim,
						     .worth_waiting = reclaim_worth_waiting,
						     .oom = oom_kill };

void reclaim_init(void)
{
	pressure_ops = &simple_pressure;
	reclaim_checks_init();
}
