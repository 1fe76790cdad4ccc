/* SPDX-License-Identifier: BSD-2-Clause */
/* page_alloc.h - the front door of the frame allocator. */
#ifndef MM_PHYS_PAGE_ALLOC_H
#define MM_PHYS_PAGE_ALLOC_H

#include "mm/phys/zone.h"

/*
 * 2^order contiguous frames, refs = 1, from the current CPU's node or by the thread's memory
 * policy.
 * => NULL when out of memory (an ordinary result). With __GFP_DIRECT_RECLAIM may sleep. __GFP_ZERO
 *    clears.
 *    __GFP_COMP makes a compound page (order in page->order, tails point to the head). A head
 *    without marked tails (thp_alloc) is freed as such.
 */
struct page *alloc_pages(gfp_t gfp, unsigned int order);
/*
 * What a fresh page looks like: refs 1, mapcount -1, mapping and private 0, flags only node and
 * zone, memcg NULL or the root group; contents undefined without __GFP_ZERO. Freeing wants mapcount
 * -1 and no PG_locked, PG_writeback, PG_buddy, PG_reserved; it resets the other flags itself.
 * Frames behind the first of a block of order > 0 have refs 0.
 */
/* node -1 = here; no policy */
struct page *alloc_pages_node(int node, gfp_t gfp, unsigned int order);
/*
 * node = preferred (-1: here); only nodes in nodemask (0 = all); no policy, numa counters as for a
 * policy's choice.
 */
struct page *alloc_pages_nodemask(int node, u64 nodemask, gfp_t gfp, unsigned int order);
/*
 * mm/vm sets it: asked by alloc_pages() when the current thread has a memory policy and this is no
 * interrupt.
 */
extern struct page *(*mempolicy_alloc)(gfp_t gfp, unsigned int order);
void numa_interleave_hit(struct page *page); /* counts it on the page's zone */
static inline struct page *alloc_page(gfp_t gfp)
{
	return alloc_pages(gfp, 0);
}
/* drops the one reference; frees when it was the last */
void free_pages_order(struct page *page, unsigned int order);
static inline void free_page(struct page *page)
{
	free_pages_order(page, 0);
}
/*
 * Frees order-0 pages whose refs are already 0 in batches (zap, LRU release): bounded IRQ-off
 * sections.
 */
void free_page_list(struct list_head *list);
/* The same for one page whose refs are 0 and which is on no list. */
void free_frozen_page(struct page *page, unsigned int order);
void *get_free_page(gfp_t gfp); /* kernel address of one page or NULL */
void put_free_page(void *va);
/*
 * Runs fn(arg) on every CPU, one after the other, by going there: no interrupt does long work for
 * us. => may sleep
 */
void visit_cpus(void (*fn)(void *arg), void *arg);
/*
 * The same for work that serves everybody: nothing is done while another thread is on such a tour.
 * Many threads that all want it would only wait for each other's CPUs.
 */
void visit_cpus_alone(void (*fn)(void *arg), void *arg);
/*
 * Free blocks that were taken off the buddy (buddy_isolate_*), linked through lru, order in
 * private: back to it, in bounded sections. The list is empty afterwards. => thread context
 */
void zone_free_list(struct zone *zone, struct list_head *blocks);
/* A pageblock without page structs is not in any zone. */
bool pageblock_present(unsigned long pfn);
/* Empties this CPU's (all CPUs') per-CPU lists into the buddy. => may sleep for the last two */
void pcp_drain_local(void);
void pcp_drain_all(void);
void pcp_drain_try(void); /* unless somebody is at it */

unsigned long nr_free_pages(void);
extern unsigned long totalram_pages; /* MemTotal */

/* Reclaim and OOM stand above: hooks set by mm/reclaim (NULL: allocation just fails). */
struct pressure_ops {
	/* Tries to free pages; returns number freed (0: no progress). => may sleep */
	unsigned long (*direct_reclaim)(struct zonelist *zl, gfp_t gfp, unsigned int order,
					enum zone_type class);
	/*
	 * Moves pages together until there is a block of that order. sync: may wait for pages.
	 * true: worth another walk, unless *page is the block itself, off its zone already. => may
	 * sleep. May be NULL.
	 */
	bool (*compact)(struct zonelist *zl, gfp_t gfp, unsigned int order, enum zone_type class,
			int sync, struct page **page);
	/* What the walk after it found: a block, or none. */
	void (*compacted)(struct zonelist *zl, unsigned int order, enum zone_type class, int sync,
			  bool served);
	/*
	 * Before a retry: sleeps up to ns if the first zone of the list is congested. May be NULL.
	 */
	void (*wait)(struct zonelist *zl, enum zone_type class, u64 ns);
	void (*wake_kswapd)(struct zone *zone, unsigned int order, enum zone_type class);
	/*
	 * Before that, when nothing more is freed: are pages on their way to a disk? Sleeps a
	 * bounded time then. May be NULL.
	 */
	bool (*worth_waiting)(gfp_t gfp);
	/* Kills somebody; true when a retry makes sense. */
	bool (*oom)(gfp_t gfp, unsigned int order);
};
extern const struct pressure_ops *pressure_ops;

/* Tunables, /proc/sys/vm. */
extern long min_free_kbytes;
extern long lowmem_reserve_ratio[NR_ZONE_TYPES - 1];

/* Validators (habit): NULL or what is wrong; walk everything in bounded sections. => may sleep */
const char *zone_check(struct zone *zone);

/*
 * boot: nodes, zones, memmap from bootmem + numa_info; then everything free goes to the buddy;
 * later memory of init.
 */
void mm_phys_init(void);
void free_reserved_range(phys_addr_t start, phys_addr_t end, const char *what);

#endif
