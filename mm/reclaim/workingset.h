/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workingset.h - how long a page was away when it comes back. The page cache calls it: a page that
 * reclaim takes leaves a trace (a value in its index), which the next page at that place finds.
 */
#ifndef MM_RECLAIM_WORKINGSET_H
#define MM_RECLAIM_WORKINGSET_H

#include "kernel/param.h"
#include "mm/phys/page.h"

struct mapping;

DECLARE_SWITCH(workingset);

/* A trace: the age of its zone's inactive list at that moment, and which zone. 63 bits. */
#define WS_ZID_BITS 6
#define WS_AGE_MASK ((1ul << (63 - WS_ZID_BITS)) - 1)
static inline unsigned long ws_pack(unsigned long age, unsigned int zid)
{
	return (age & WS_AGE_MASK) << WS_ZID_BITS | zid;
}
static inline unsigned int ws_zid(unsigned long trace)
{
	return trace & ((1u << WS_ZID_BITS) - 1);
}
/* Pages that entered the inactive list's end meanwhile; the age may have wrapped once. */
static inline unsigned long ws_distance(unsigned long trace, unsigned long age)
{
	return (age - (trace >> WS_ZID_BITS)) & WS_AGE_MASK;
}
/* Nodes of the index that hold traces alone, and how many may be kept for so many pages. */
static inline unsigned long ws_nodes_too_many(unsigned long nodes, unsigned long lru_pages)
{
	unsigned long limit = lru_pages / 8; /* 576 bytes each: 1.8 % of what the pages hold */

	return nodes > limit ? nodes - limit : 0;
}

/* The value to leave in the index in place of a page, or NULL. => m->lock; file pages */
void *workingset_eviction(struct page *page);
/* A page takes the place of the trace: it becomes active if it was not away for long. => page new, not
 * on a list */
void workingset_refault(struct page *page, void *trace);
/* A page of a file was used a second time. */
void workingset_activation(const struct page *page);
void workingset_init(void);
/* Nodes with traces alone became more or fewer. */
void workingset_nodes(long n);
unsigned long workingset_nr_nodes(void);

#endif
