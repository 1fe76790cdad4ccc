/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - shared inside mm/phys: per-CPU page lists and the zone lock's small helpers. */
#ifndef MM_PHYS_INTERNAL_H
#define MM_PHYS_INTERNAL_H

#include "mm/phys/buddy.h"
#include "mm/phys/page_alloc.h"

/* This CPU's lists by zone id of a page, and of the zone it prefers for each class of request. */
DECLARE_PER_CPU(struct pcp *[NR_ZIDS], pcp_of_zid);
DECLARE_PER_CPU(struct pcp *[NR_ZONE_TYPES], pcp_preferred);
DECLARE_PER_CPU(struct node *, local_node); /* nearest node with memory */

extern struct pcp *pcp_block[NR_CPUS]; /* every CPU's lists, indexed by zone->seq */
extern struct zone *all_zones[MAX_NODES * MAX_ZONES];
extern u32 nr_all_zones;

extern u8 *pageblock_types; /* by pfn >> PAGEBLOCK_ORDER; PAGEBLOCK_HOLE = no page structs */
extern unsigned long nr_pageblocks;
#define PAGEBLOCK_HOLE 0xff
#define PAGE_HOLE 1ul /* page->private of a reserved page without RAM */

extern const u8 gfp_class_table[16];
extern const u8 gfp_mt_table[4];

static __always_inline enum zone_type gfp_class(gfp_t gfp)
{
	return (enum zone_type)gfp_class_table[gfp & 15];
}
/* Bits 3 (movable) and 4 (reclaimable). */
static __always_inline enum migratetype gfp_mt(gfp_t gfp)
{
	return (enum migratetype)gfp_mt_table[(gfp >> 3) & 3];
}
/*
 * Migrate type of a page's pageblock. The byte's index is page_to_pfn(page) >> PAGEBLOCK_ORDER, and
 * that is the struct page's address shifted, less a constant: pageblock_types_by_page has the
 * constant taken off beforehand.
 */
extern const u8 *pageblock_types_by_page;
static __always_inline unsigned int pageblock_mt(const struct page *page)
{
	_Static_assert(sizeof(struct page) == 64, "the shift below");
	return pageblock_types_by_page[(unsigned long)page >> (6 + PAGEBLOCK_ORDER)];
}

/* Pages for an empty open magazine. => preemption off; false: the zone has nothing. */
bool pcp_refill(struct pcp *pcp, enum migratetype mt);
/* Puts a page on a list whose open magazine is full: makes room first. => preemption off. */
void pcp_push_full(struct pcp *pcp, struct pcp_list *l, struct page *page);
/*
 * What pcp_preferred points at where there is no such zone: always below its watermark, so never
 * used.
 */
extern struct pcp pcp_none;
void pcp_init(struct pcp *pcp, struct zone *zone);
/* Straight from and to the buddy, one irqs-off section. => any context. */
struct page *zone_take(struct zone *zone, unsigned int order, enum migratetype mt);
void zone_put(struct zone *zone, struct page *page, unsigned int order);
/* Recomputes watermarks and reserves after managed pages or a tunable changed. */
void zones_setup_marks(void);
void zonelists_build(void);
void page_wait_init(void);

/* What one walk of a zonelist looks for. */
struct alloc_context {
	struct zonelist *zl;
	u64 nodemask; /* 0 = all */
	enum zone_type class;
	enum migratetype mt;
	unsigned int order;
	u32 flags; /* ALLOC_* */
	u8 mark;   /* WMARK_* */
};
/* The first zone of the list that is above the mark gives the pages; NULL. => any context */
struct page *zonelist_get_page(const struct alloc_context *ac);
/* One block of that order was given: the zone's and the preferred zone's counters. */
void count_alloc(struct zone *zone, struct zone *preferred, unsigned int order);
/* What can be done when no zone is above its low mark (alloc_slow.c). NULL: nothing helped. */
struct page *alloc_slow(struct alloc_context *ac, gfp_t gfp);

#define FREE_COUNTS 0x00000000ffffffffull /* mapcount -1, refs 0, read as one */
static __always_inline u64 page_counts(const struct page *page)
{
	return *(const u64 *)&page->mapcount;
}
/* Reports a page that is not as it should be; the first one with a backtrace. */
void bad_page(struct page *page, const char *why);

#endif
