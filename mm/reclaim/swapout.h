/* SPDX-License-Identifier: BSD-2-Clause */
/* swapout.h - what reclaim does with pages whose home is swap: programs' memory and tmpfs. */
#ifndef MM_RECLAIM_SWAPOUT_H
#define MM_RECLAIM_SWAPOUT_H

#include "mm/phys/gfp.h"
#include "mm/phys/page.h"

enum swapout {
	SWAPOUT_KEEP,	  /* not now */
	SWAPOUT_ACTIVATE, /* in use, or there is no slot for it */
	SWAPOUT_CLEAN,	  /* its slot has it: swapcache_drop() */
	SWAPOUT_DIRTY,	  /* to be written: swapout_write() */
};
/*
 * Gives the page a slot if it has none, and takes its mappings away. => locked, PG_swapbacked, not
 * under writeback, off the LRU, referenced by the caller; waits for no lock
 */
enum swapout swapout_prepare(struct page *page, gfp_t gfp);
/*
 * Begins to write it: it comes to the tail of its list when that is over. true: it was written at
 * once, and left the cache: only the caller's reference is left. => as above, dirty, in the swap
 * cache, nobody else's; unlocks
 */
bool swapout_write(struct page *page);

#endif
