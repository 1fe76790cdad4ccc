/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fragindex.h - what compaction decides by arithmetic alone: is memory in pieces or just short, is
 * a block there already, shall this attempt be left out, which frames does a scanner look at next.
 */
#ifndef MM_COMPACT_FRAGINDEX_H
#define MM_COMPACT_FRAGINDEX_H

#include "mm/phys/watermark.h"

/* What became of a zone. Larger is better. */
enum compact_result {
	COMPACT_SKIPPED,  /* not worth trying: memory is short, or the attempt is put off */
	COMPACT_CONTINUE, /* worth trying; not finished */
	COMPACT_PARTIAL,  /* there is a block */
	COMPACT_COMPLETE, /* the scanners met */
};

/*
 * Why a request of that order fails: towards 0 because there is too little memory, towards 1000
 * because it is in pieces; -1000: it does not fail, a block is there.
 */
int frag_index(unsigned int order, const struct free_area *area);
/* Part of the free memory that is of no use to that order, in thousandths. */
int frag_unusable(unsigned int order, const struct free_area *area);

/* A zone as it is when somebody wants a block. order -1: everything, whatever is free */
struct compact_input {
	int order;
	unsigned long free, low; /* free pages, low watermark */
	const struct free_area *area;
	int threshold; /* extfrag_threshold */
};
enum compact_result compact_suitable(const struct compact_input *in);
/* Is there a block for that type, or one of a whole pageblock? */
bool compact_block_there(const struct free_area *area, unsigned int order, enum migratetype mt);

/*
 * Putting off: after each failure twice as many attempts are left out, 63 at most. With MAX_ORDER
 * all orders are alike, as in 2.6.38; else only orders as large as the one that failed are put off.
 */
void compact_defer(struct zone *zone, unsigned int order);
bool compact_deferred(struct zone *zone, unsigned int order); /* this attempt; counts it */
bool compact_would_defer(const struct zone *zone, unsigned int order);
void compact_succeeded(struct zone *zone, unsigned int order);

/* Where the scanners begin and stop. */
static inline unsigned long migrate_scan_end(unsigned long pfn)
{
	return ALIGN_UP(pfn + 1, PAGEBLOCK_PAGES); /* one pageblock, or what is left of it */
}
static inline unsigned long free_scan_start(unsigned long zone_end)
{
	return ALIGN_DOWN(zone_end, PAGEBLOCK_PAGES);
}
/* The free scanner leaves the block under the other one and the next alone. */
static inline unsigned long free_scan_low(unsigned long migrate_pfn)
{
	return migrate_pfn + PAGEBLOCK_PAGES;
}

#endif
