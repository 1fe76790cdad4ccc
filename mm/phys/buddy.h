/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * buddy.h - the buddy system of one zone: no lock, no policy, instance-able. struct buddy is in
 * mm/phys/zone.h.
 * => every function: the zone's lock is held (a test needs none), interrupts as the caller likes.
 */
#ifndef MM_PHYS_BUDDY_H
#define MM_PHYS_BUDDY_H

#include "mm/phys/zone.h"

/*
 * Frames [start_pfn, end_pfn), none free yet. pageblock_mt: one byte per pageblock touched, set by
 * the caller.
 * => a struct page exists for every frame of each 2^(MAX_ORDER-1)-aligned block the span touches;
 *    flags: zone bits.
 */
void buddy_init(struct buddy *b, unsigned long start_pfn, unsigned long end_pfn, u8 *pageblock_mt,
		unsigned long flags);

/*
 * Puts 2^order frames back, merged with free neighbours. => refs 0, no flags but the zone bits;
 * number of merges
 */
unsigned int buddy_free(struct buddy *b, struct page *page, unsigned int order);

/*
 * Takes 2^order frames of a migrate type: its own lists, then (fallback) the largest block of
 * another type, then RESERVE.
 * => NULL when there is none. *claim receives a page whose pageblock should be claimed for mt
 *    (buddy_claim), or NULL.
 */
struct page *buddy_alloc(struct buddy *b, unsigned int order, enum migratetype mt,
			 struct page **claim);

/*
 * Takes up to n (<= PCP_BATCH_MAX) single frames, whole small blocks first, chained through
 * pcp_next.
 * => how many (fewer where memory is fragmented: the work is bounded; 0: there is none); *chain =
 *    first.
 */
unsigned int buddy_alloc_bulk(struct buddy *b, enum migratetype mt, unsigned int n,
			      struct page **chain, struct page **claim);

/*
 * Claiming a pageblock, in steps that fit an interrupts-off section: moves free blocks starting in
 * [pfn, pfn + n) to mt's lists. => number of free pages moved or already there.
 */
unsigned int buddy_claim_range(struct buddy *b, unsigned long pfn, unsigned int n,
			       enum migratetype mt);

/*
 * Takes this very free block of given order off its list (compaction, isolation). => page is
 * PG_buddy of that order.
 */
void buddy_take(struct buddy *b, struct page *page, unsigned int order);

/*
 * The first 2^order frames of a free block of order found; what is left of it stays free. => as
 * buddy_alloc
 */
struct page *buddy_take_part(struct buddy *b, struct page *page, unsigned int found,
			     unsigned int order);
/*
 * Free blocks beginning in [pfn, pfn + n) leave the lists for the end of out, linked by lru, their
 * order in private; pageblocks they fill become movable ones. None that would leave less than keep
 * free pages. *next: where to go on, behind the last block.
 * => frames taken; frames of [pfn, pfn + n) have page structs
 */
unsigned int buddy_isolate_range(struct buddy *b, unsigned long pfn, unsigned int n,
				 unsigned long keep, struct list_head *out, unsigned long *next);
/* The same, but each block is taken apart here: out gets single frames, the last one first. */
unsigned int buddy_isolate_frames(struct buddy *b, unsigned long pfn, unsigned int n,
				  unsigned long keep, struct list_head *out);

/* Validator: NULL or what is wrong. => looks at up to max_blocks free blocks. */
const char *buddy_check(const struct buddy *b, unsigned long max_blocks);

static __always_inline u8 *buddy_mt_slot(const struct buddy *b, unsigned long pfn)
{
	return &b->pageblock_mt[(pfn >> PAGEBLOCK_ORDER) - (b->start_pfn >> PAGEBLOCK_ORDER)];
}
static __always_inline enum migratetype buddy_mt(const struct buddy *b, unsigned long pfn)
{
	return (enum migratetype) * buddy_mt_slot(b, pfn);
}
/*
 * First frame of a free block: private holds the order in bits 0..7 and the type of the list it is
 * on above.
 */
static __always_inline unsigned int buddy_order(const struct page *page)
{
	return page->private & 0xff;
}
static __always_inline unsigned int buddy_list_mt(const struct page *page)
{
	return (unsigned int)(page->private >> 8) & 0xff;
}
static __always_inline bool page_is_buddy(const struct page *page, unsigned int order,
					  unsigned long zone_flags)
{
	return (page->flags & (PAGE_ZONE_BITS | BIT(PG_buddy))) == (zone_flags | BIT(PG_buddy)) &&
	       buddy_order(page) == order;
}

#endif
