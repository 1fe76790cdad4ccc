/* SPDX-License-Identifier: BSD-2-Clause */
/* compact.h - making blocks of free frames by moving the pages between them. */
#ifndef MM_COMPACT_COMPACT_H
#define MM_COMPACT_COMPACT_H

#include "kernel/param.h"
#include "mm/compact/fragindex.h"

DECLARE_SWITCH(compact_free_irq);
DECLARE_SWITCH(compact_migrate_irq);
DECLARE_SWITCH(compact_lock_lazy);
DECLARE_SWITCH(compact_hints);
DECLARE_SWITCH(kcompactd);

/*
 * Compacts the zones of a list, nearest first, for an allocation of that order (pressure_ops has
 * the contract). sync: may wait for pages that are being written. => may sleep; any lock above mm
 * may be held
 */
bool compact_try(struct zonelist *zl, gfp_t gfp, unsigned int order, enum zone_type class, int sync,
		 struct page **page);
/* What came of it; later attempts are put off after failures. */
void compact_tried(struct zonelist *zl, unsigned int order, enum zone_type class, int sync,
		   bool served);
/* Is it worth compacting the zone for a block? order -1: for as many as there can be */
enum compact_result compaction_suitable(struct zone *zone, int order);
/* Is there room enough that reclaim would only get in the way? */
bool compaction_ready(struct zone *zone, unsigned int order);
/* The whole zone, all zones of a node, whatever was tried before. => may sleep, no lock held */
enum compact_result compact_whole_zone(struct zone *zone);
void compact_node(struct node *node);
/* kswapd has done what it can for a block: the node's thread may move pages now. => any context */
void kcompactd_wake(struct node *node, unsigned int order, enum zone_type class);
void compact_init(void); /* => once, slabs and threads exist */

#endif
