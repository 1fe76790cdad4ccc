/* SPDX-License-Identifier: BSD-2-Clause */
/* page_alloc.h - the front door of the frame allocator. */
#ifndef MM_PHYS_PAGE_ALLOC_H
#define MM_PHYS_PAGE_ALLOC_H

#include "mm/phys/zone.h"

/*
 * 2^order contiguous frames, refs = 1, from the current CPU's node or by the thread's memory policy.
 * => NULL when out of memory (an ordinary result). With __GFP_DIRECT_RECLAIM may sleep. __GFP_ZERO clears.
 *    __GFP_COMP makes a compound page (order in page->order, tails point to the head).
 */
struct page *alloc_pages(gfp_t gfp, unsigned int order);
struct page *alloc_pages_node(int node, gfp_t gfp, unsigned int order); /* node -1 = here; no policy */
static inline struct page *alloc_page(gfp_t gfp)
{
	return alloc_pages(gfp, 0);
}
void free_pages_order(struct page *page, unsigned int order); /* drops the one reference; frees when it was the last */
static inline void free_page(struct page *page)
{
	free_pages_order(page, 0);
}
/* Frees order-0 pages whose refs are already 0 in batches (zap, LRU release): bounded IRQ-off sections. */
void free_page_list(struct list_head *list);
void *get_free_page(gfp_t gfp); /* kernel address of one page or NULL */
void put_free_page(void *va);
/* Empties this CPU's (all CPUs') per-CPU lists into the buddy. => may sleep for _all. */
void pcp_drain_local(void);
void pcp_drain_all(void);

unsigned long nr_free_pages(void);
extern unsigned long totalram_pages; /* MemTotal */

/* Reclaim and OOM stand above: hooks set by mm/reclaim (NULL: allocation just fails). */
struct pressure_ops {
	/* Tries to free pages; returns number freed. => may sleep */
	unsigned long (*direct_reclaim)(struct zonelist *zl, gfp_t gfp, unsigned int order, enum zone_type class);
	void (*wake_kswapd)(struct zone *zone, unsigned int order, enum zone_type class);
	/* Kills somebody; true when a retry makes sense. */
	bool (*oom)(gfp_t gfp, unsigned int order);
};
extern const struct pressure_ops *pressure_ops;

/* boot: nodes, zones, memmap from bootmem + numa_info; then everything free goes to the buddy; later memory of init. */
void mm_phys_init(void);
void free_reserved_range(phys_addr_t start, phys_addr_t end, const char *what);

#endif
