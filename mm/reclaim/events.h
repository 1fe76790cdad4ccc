/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.h - what reclaim tells the tracer: vmscan_event(lru_isolate, zone, ...) records
 * mm_vmscan_lru_isolate. Off: one load and a predicted branch; the rest is out of line.
 */
#ifndef MM_RECLAIM_EVENTS_H
#define MM_RECLAIM_EVENTS_H

#include "kernel/event.h"
#include "mm/phys/zone.h"

DECLARE_EVENT(mm_vmscan_kswapd_sleep);
DECLARE_EVENT(mm_vmscan_kswapd_wake);
DECLARE_EVENT(mm_vmscan_wakeup_kswapd);
DECLARE_EVENT(mm_vmscan_direct_reclaim_begin);
DECLARE_EVENT(mm_vmscan_direct_reclaim_end);
DECLARE_EVENT(mm_vmscan_lru_isolate);
DECLARE_EVENT(mm_vmscan_lru_shrink_inactive);
DECLARE_EVENT(mm_vmscan_lru_shrink_active);
DECLARE_EVENT(mm_vmscan_writepage);

#define vmscan_event(name_, ...)                                                                   \
	do {                                                                                       \
		if (unlikely(event_mm_vmscan_##name_.enabled))                                     \
			vmscan_trace_##name_(__VA_ARGS__);                                         \
	} while (0)

/* What became of one batch of an inactive list. */
struct vmscan_inactive {
	u32 scanned, freed, dirty, writeback, congested, immediate, activated, ref_keep, unmap_fail;
	int priority;
};

void vmscan_trace_kswapd_sleep(int nid);
void vmscan_trace_kswapd_wake(int nid, enum zone_type class, unsigned int order);
void vmscan_trace_wakeup_kswapd(struct zone *zone, unsigned int order);
void vmscan_trace_direct_reclaim_begin(unsigned int order, gfp_t gfp);
void vmscan_trace_direct_reclaim_end(unsigned long reclaimed);
void vmscan_trace_lru_isolate(struct zone *zone, enum lru_list lru, unsigned int order,
			      unsigned long asked, unsigned long scanned, unsigned long taken);
void vmscan_trace_lru_shrink_inactive(struct zone *zone, enum lru_list lru,
				      const struct vmscan_inactive *v);
/* referenced: of the pages taken, found in use; deactivated: went to the inactive list */
void vmscan_trace_lru_shrink_active(struct zone *zone, enum lru_list lru, unsigned long taken,
				    unsigned long deactivated, unsigned long referenced,
				    int priority);
void vmscan_trace_writepage(struct page *page);
/* "GFP_KERNEL|__GFP_ZERO": lives for ever; "GFP_OTHER" once 24 different ones were asked for. */
const char *gfp_text(gfp_t gfp);

#endif
