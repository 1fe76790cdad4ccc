/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * direct.c - an allocation that found nothing gives memory back itself.
 *
 * Problem: kswapd was too slow or could not help. Idea: the allocating thread scans the zones it
 * may use, from priority 12 (a 4096th of each list) to 0 (all of it), until 32 pages came free. As
 * soon as more than 48 pages were looked at the flushers are told to write as many; below priority
 * 10 it waits for a congested disk, if the zone it would like best is marked so.
 *
 * Dirty pages are not written here. Where they are what is left, the allocation waits for the
 * device, at most 100 ms at a time: a program that writes faster than its disk must become slow,
 * not be killed. Only when no page was written for ten seconds is it over with patience
 * (reclaim_worth_waiting), and memory counts as exhausted. Whoever may not wait for I/O (GFP_NOIO,
 * the flushers themselves) takes what clean pages there are.
 * Source: [facts 1.8].
 */
#include "mm/cache/writeback.h"
#include "mm/compact/compact.h"
#include "mm/kmem/slab.h"
#include "mm/reclaim/congestion.h"
#include "mm/reclaim/events.h"
#include "mm/reclaim/kswapd.h"
#include "mm/reclaim/lumpy.h"
#include "mm/reclaim/scan.h"
#include "mm/reclaim/workingset.h"
#include "mm/reclaim/throttle.h"
#include "sched/sched.h"

#define PATIENCE_NS (10 * NSEC_PER_SEC)
#define LAST_RESORT 1024 /* objects of each shrinker when no page came free at all */

const struct reclaim_ops *reclaim_ops;

/* Each zone of the list once. Pages that could be reclaimed in them. */
static unsigned long shrink_zones(struct zonelist *zl, enum zone_type class,
				  struct scan_control *sc)
{
	unsigned long lru_pages = 0;
	struct zoneref *zr;

	for_each_zoneref(zr, zl, class) {
		struct zone *zone = zr->zone;
		unsigned long before = sc->nr_reclaimed;

		lru_pages += zone_reclaimable_pages(zone);
		if (zone_hopeless(zone) && sc->priority != DEF_PRIORITY)
			continue;
		if (unlikely(sc->order) && lumpy_left_to_compaction(zone, sc)) {
			sc->compact_ready = true;
			continue;
		}
		shrink_zone(zone, sc);
		if (sc->nr_reclaimed != before)
			kswapd_try_again(zone->node);
	}
	return lru_pages;
}

static struct zone *preferred_zone(struct zonelist *zl, enum zone_type class)
{
	struct zoneref *zr;

	for_each_zoneref(zr, zl, class)
		return zr->zone;
	return NULL;
}

static unsigned long reclaim(struct zonelist *zl, enum zone_type class, struct scan_control *sc)
{
	struct zone *preferred = preferred_zone(zl, class);
	unsigned long total_scanned = 0, objects = 0;

	if (!reclaim_ops || !preferred)
		return 0;
	for (sc->priority = DEF_PRIORITY; sc->priority >= 0; sc->priority--) {
		unsigned long lru_pages;

		sc->nr_scanned = 0;
		lru_pages = shrink_zones(zl, class, sc);
		if (sc->gfp & __GFP_FS)
			objects += shrink_slab(sc->nr_scanned, lru_pages, &sc->nr_reclaimed);
		total_scanned += sc->nr_scanned;
		if (sc->nr_reclaimed >= sc->nr_to_reclaim)
			break;
		if (sc->compact_ready)
			return max(sc->nr_reclaimed, 1ul); /* it is compaction's turn */
		if (total_scanned > sc->nr_to_reclaim + sc->nr_to_reclaim / 2) {
			wakeup_flushers(laptop_mode ? 0 : (long)total_scanned, WB_REASON_VMSCAN);
			sc->may_write = true;
		}
		if (sc->nr_scanned && sc->priority < DEF_PRIORITY - 2 && (sc->gfp & __GFP_IO))
			wait_iff_congested(preferred, CONGEST_ASYNC, RECLAIM_WAIT_NS);
	}
	if (!sc->nr_reclaimed) {
		/* Not a page: what other CPUs have not yet put on the lists, and every slab. */
		lru_drain_try();
		sc->priority = 0;
		shrink_zones(zl, class, sc);
		if (!sc->nr_reclaimed && (sc->gfp & __GFP_FS))
			objects += shrink_slab_all(LAST_RESORT);
	}
	return sc->nr_reclaimed ? sc->nr_reclaimed : objects;
}

unsigned long reclaim_pages(struct zonelist *zl, enum zone_type class, unsigned long nr)
{
	struct scan_control sc = { .gfp = reclaim_gfp(GFP_KERNEL),
				   .nr_to_reclaim = nr,
				   .may_write = !laptop_mode };

	return reclaim(zl, class, &sc);
}

static unsigned long direct_reclaim(struct zonelist *zl, gfp_t gfp, unsigned int order,
				    enum zone_type class)
{
	struct scan_control sc = { .gfp = reclaim_gfp(gfp),
				   .order = order,
				   .nr_to_reclaim = SWAP_CLUSTER_MAX,
				   .may_write = !laptop_mode };
	struct zone *zone = preferred_zone(zl, class);
	unsigned long freed;

	if (!zone)
		return 0;
	if (throttle_direct(zone->node, sc.gfp))
		return 1; /* it is dying, which frees more: nobody else has to */
	count_vm_event(ALLOCSTALL);
	vmscan_event(direct_reclaim_begin, order, sc.gfp);
	freed = reclaim(zl, class, &sc);
	vmscan_event(direct_reclaim_end, freed);
	return freed;
}

/* Between two tries of an allocation. */
static void wait_before_retry(struct zonelist *zl, enum zone_type class, u64 ns)
{
	struct zone *zone = preferred_zone(zl, class);

	if (zone)
		wait_iff_congested(zone, CONGEST_ASYNC, ns);
}

/* May this allocation wait for a device? */
static bool may_wait(gfp_t gfp)
{
	return reclaim_gfp(gfp) & __GFP_IO;
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
	congestion_wait(CONGEST_ASYNC, RECLAIM_WAIT_NS);
	return true;
}

static const struct pressure_ops pressure = { .direct_reclaim = direct_reclaim,
					      .compact = compact_try,
					      .compacted = compact_tried,
					      .wait = wait_before_retry,
					      .wake_kswapd = kswapd_wake,
					      .worth_waiting = reclaim_worth_waiting,
					      .oom = oom_kill };

void reclaim_init(void)
{
	pressure_ops = &pressure;
	kswapd_start();
	compact_init();
	oom_init();
	workingset_init();
	reclaim_checks_init();
}
