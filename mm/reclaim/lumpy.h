/* SPDX-License-Identifier: BSD-2-Clause */
/* lumpy.h - reclaim for the sake of a block: neighbours go together. */
#ifndef MM_RECLAIM_LUMPY_H
#define MM_RECLAIM_LUMPY_H

#include "mm/reclaim/scan.h"

/* Values of the switch lumpy. */
enum lumpy_mode { LUMPY_NEVER, LUMPY_LONG, LUMPY_BOUNDED, LUMPY_COMPACTION };
DECLARE_SWITCH(lumpy);

/* Pages taken for the sake of a block, chained through page->lru, each with a reference. */
struct lumpy {
	unsigned int order;
	bool any;		   /* neighbours of both types, active ones too */
	enum lru_list lru;	   /* where the tag pages come from */
	struct list_head pages[2]; /* 0 = anon, 1 = file */
	u32 nr[2];
	u32 seen;	 /* pages looked at that count as scanned */
	u32 deactivated; /* of those taken */
	u32 broken;	 /* blocks with a page in them that could not be taken */
};

bool lumpy_blocks(const struct scan_control *sc); /* does this scan take neighbours along? */
bool lumpy_any(const struct scan_control *sc);	  /* of every list, used or not? */
bool lumpy_must_wait(const struct scan_control *sc, unsigned long freed, unsigned long taken);
/*
 * Up to nr pages off the tail of l->lru, and the blocks around them. => lru_lock, given away and
 * taken again after each 32 frames unless the switch says 1 or 3 (then *flags is what to restore)
 */
void lumpy_isolate_locked(struct zone *zone, u32 nr, struct lumpy *l, unsigned long *flags);
/* Is there room for compaction to make the block in, so that no page need go? */
bool lumpy_left_to_compaction(struct zone *zone, const struct scan_control *sc);
/* The zone's scan gained so much: go on, so that compaction has room to work in? */
bool lumpy_go_on(struct zone *zone, const struct scan_control *sc, unsigned long freed);

#endif
