/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tlbgather.h - pages taken out of page tables wait here until no TLB can still reach them, then go
 * in batches.
 *
 * Protocol: tlb_gather_init; entries are cleared and pages handed in; tlb_gather_finish (or a full
 * batch) flushes the TLB once for the whole range, then settles rmap counts, drops the references
 * and frees. On one CPU, or when no other CPU ever ran the address space, the flush sends no
 * interrupt.
 */
#ifndef MM_VM_TLBGATHER_H
#define MM_VM_TLBGATHER_H

#include "mm/vm/aspace.h"

#define GATHER_PAGES 128
#define GATHER_LAST 1ul /* low bit of an entry: this was the page's last mapping */

enum { RSS_ANON, RSS_FILE, RSS_SHMEM, RSS_SWAP, NR_RSS };

struct tlb_gather {
	struct aspace *mm;
	unsigned long start, end; /* to be flushed; start >= end: nothing */
	u32 nr, nr_tables;
	bool fullmm;	     /* the address space is dying: nobody runs in it */
	bool saw_table;	     /* there was a table in a range given to zap */
	struct page *tables; /* by private */
	long rss[NR_RSS];    /* pages taken out */
	unsigned long pages[GATHER_PAGES];
};

void tlb_gather_init(struct tlb_gather *g, struct aspace *mm, int fullmm);
void tlb_gather_flush(struct tlb_gather *g); /* may sleep */
void tlb_gather_finish(struct tlb_gather *g);
/* A page-table page that is out of the tree. */
void tlb_gather_table(struct tlb_gather *g, struct page *table, unsigned long addr);

static __always_inline void tlb_gather_range(struct tlb_gather *g, unsigned long start,
					     unsigned long end)
{
	g->start = min(g->start, start);
	g->end = max(g->end, end);
}
/* => there is room: at most PT_BATCH pages between two tlb_gather_room() */
static __always_inline void tlb_gather_page(struct tlb_gather *g, struct page *page,
					    unsigned long last)
{
	g->pages[g->nr++] = (unsigned long)page | last;
}
static __always_inline void tlb_gather_room(struct tlb_gather *g, u32 want)
{
	if (unlikely(g->nr + want > GATHER_PAGES))
		tlb_gather_flush(g);
}

#endif
