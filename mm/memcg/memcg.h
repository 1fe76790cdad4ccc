/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memcg.h - memory groups: whose page is it. For now there is the root group only; a page's memcg
 * NULL means root. The charge points are in place, so that hierarchy, limits and writeback per
 * group only fill these functions.
 */
#ifndef MM_MEMCG_MEMCG_H
#define MM_MEMCG_MEMCG_H

#include "mm/phys/zone.h"

struct memcg {
	struct memcg *parent; /* NULL: root */
	u32 id;		      /* root 1 */
};
extern struct memcg root_memcg;

static inline struct memcg *page_memcg(const struct page *page)
{
	return page->memcg ? page->memcg : &root_memcg;
}
/*
 * Charges a page to the current thread's group. => may sleep by gfp; 0 or -ENOMEM (over the limit,
 * nothing to reclaim).
 */
static inline int memcg_charge(struct page *page, gfp_t gfp)
{
	(void)page;
	(void)gfp;
	return 0;
}
/* => the page is about to be freed or was never used. */
static inline void memcg_uncharge(struct page *page)
{
	(void)page;
}
/* The list set a page belongs on: of its group in its zone. */
static inline struct lruvec *page_lruvec(const struct page *page)
{
	return &page_zone(page)->lruvec;
}
/* The same where the zone is known already. */
static inline struct lruvec *page_lruvec_in(struct zone *zone, const struct page *page)
{
	(void)page;
	return &zone->lruvec;
}

#endif
