/* SPDX-License-Identifier: BSD-2-Clause */
/* targets.h - how many pages of which list reclaim looks at: arithmetic alone, no lock, no zone. */
#ifndef MM_RECLAIM_TARGETS_H
#define MM_RECLAIM_TARGETS_H

#include "mm/phys/zone.h"

#define SWAP_CLUSTER_MAX 32u /* pages of one batch */
#define DEF_PRIORITY 12
#define NR_EVICTABLE_LISTS 4 /* LRU_INACTIVE_ANON .. LRU_ACTIVE_FILE */

/* Values of the switch scan_rules: whose rules. */
enum scan_rules { SCAN_RULES_3_0, SCAN_RULES_3_6, SCAN_RULES_3_8, NR_SCAN_RULES };

/* What is known of a zone when a scan of it begins. */
struct scan_input {
	unsigned long size[NR_EVICTABLE_LISTS]; /* pages on each list */
	unsigned long recent_scanned[2], recent_rotated[2];
	unsigned long free, high; /* free pages, high watermark */
	u32 swappiness;		  /* 0..100 */
	int priority;
	bool swap; /* there is a free swap slot */
	bool kswapd, unreclaimable, memcg;
	enum scan_rules rules;
};

enum scan_balance { BALANCE_FILE, BALANCE_ANON, BALANCE_WEIGHTED };
enum scan_balance scan_balance(const struct scan_input *in);
/* Is a list too small to be worth a scan scanned nevertheless? */
bool scan_forced(const struct scan_input *in);
/* Pages to look at, by list. */
void scan_targets(const struct scan_input *in, unsigned long nr[NR_EVICTABLE_LISTS]);
/* Halves the pair when more than a quarter of the type's pages were scanned. */
void scan_forget(unsigned long *scanned, unsigned long *rotated, unsigned long pages);
bool inactive_file_low(unsigned long active, unsigned long inactive);
bool inactive_anon_low(unsigned long active, unsigned long inactive, u32 ratio);
/* Are so many taken off the lists at the moment that one more shall wait? nofs: may not call fs */
bool isolated_too_many(unsigned long isolated, unsigned long inactive, bool nofs,
		       enum scan_rules rules);
/* A batch of which so many are being written: is that worth a wait? */
bool writeback_enough(unsigned long writeback, unsigned long taken, int priority);
/* So little is free of what the low zones keep for those who free memory that others must park. */
bool reserves_low(unsigned long free, unsigned long min_marks);
/*
 * Third patch of [seed-003]'s series: the priority a zone is scanned at when kswapd, for the sake
 * of another zone, has come from prev (this zone's last scan) to now.
 */
int tempered_priority(int prev, int now);
/*
 * Fifth patch: nr pages were looked at, so many of them mapped and touched once, whether they were
 * kept for it or not. Smaller lots are gathered until there are SWAP_CLUSTER_MAX.
 */
#define STREAM_BATCHES 8
void stream_note(struct stream_watch *w, u32 touched, u32 nr);
/* Is a node balanced for a block of some order, when so many of its pages are in zones that are? */
bool enough_balanced(unsigned long balanced, unsigned long managed);
/* Frames [first, end) of the block around pfn, cut to the zone; what the walk looks at. */
struct pfn_range {
	unsigned long first, end;
};
struct pfn_range lumpy_range(unsigned long pfn, unsigned int order, unsigned long zone_start,
			     unsigned long zone_end);
/* Is a request of that order at that priority worth reclaiming whole blocks? */
bool lumpy_wanted(unsigned int order, int priority);
/* May a reclaimer that is not kswapd wait for the pages of a block, of which taken - freed stay? */
bool lumpy_stall(unsigned int order, int priority, unsigned long freed, unsigned long taken);

/* Distance above the high mark kswapd aims at: min(low, ceil(managed / 100)). */
unsigned long balance_gap(unsigned long low, unsigned long managed);

#endif
