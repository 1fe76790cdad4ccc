/* SPDX-License-Identifier: BSD-2-Clause */
/* scan.h - one zone gives pages back: what direct.c and kswapd.c share. */
#ifndef MM_RECLAIM_SCAN_H
#define MM_RECLAIM_SCAN_H

#include "kernel/param.h"
#include "kernel/time.h"
#include "mm/reclaim/reclaim.h"
#include "mm/reclaim/targets.h"

#define RECLAIM_WAIT_NS (100 * NSEC_PER_MSEC)
DECLARE_SWITCH(scan_rules);
extern long laptop_mode; /* kswapd writes only when it cannot do without */

/* control-struct of one reclaim: who does it, how hard, and what came of it */
struct scan_control {
	gfp_t gfp; /* what the caller may do: __GFP_IO, __GFP_FS */
	int priority;
	unsigned int order; /* of the block somebody waits for */
	bool may_write;	    /* dirty pages may be written (never asked of who is no kswapd) */
	bool lumpy;	    /* this batch: a whole block shall go, used or not */
	bool sync;	    /* this batch: wait for pages that are being written */
	bool stream;	    /* this batch: mapped pages touched once go at the first look */
	unsigned long nr_to_reclaim;
	bool kswapd;
	bool compact_ready; /* out: a zone was passed over, for compaction can make the block */
	unsigned long nr_scanned; /* pages looked at; mapped ones count twice: they cost more */
	unsigned long nr_reclaimed;
};

/* What the current thread may do: gfp, less what its flags forbid. */
gfp_t reclaim_gfp(gfp_t gfp);
/* Scans the zone's lists once at sc->priority. => may sleep */
void shrink_zone(struct zone *zone, struct scan_control *sc);
/* Pages that reclaim could get at: those of files, and of programs while there is swap. */
unsigned long zone_reclaimable_pages(struct zone *zone);
/* More was scanned since a page came free than makes sense. */
static inline bool zone_given_up(struct zone *zone)
{
	return READ_ONCE(zone->pages_scanned) >= 6 * zone_reclaimable_pages(zone);
}
/* Given up, and no pages have come since that could be had. */
static inline bool zone_hopeless(struct zone *zone)
{
	return READ_ONCE(zone->all_unreclaimable) && zone_given_up(zone);
}
/* Refills the inactive anonymous list of a zone a little, if that is short. */
void age_anon(struct zone *zone, int priority);

#endif
