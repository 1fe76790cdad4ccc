// SPDX-License-Identifier: BSD-2-Clause
/*
 * swapout.c - pages whose home is swap leave memory.
 *
 *   locked, unused -> slot, in the swap cache, dirty -> entries become swap entries -> written ->
 *   (later, at the tail of the list:) clean, unmapped -> out of the cache, free
 *
 * A page of tmpfs has its entries taken away first; the place in its file's index then names the
 * slot. A page in the cache that nothing names any more (its program is gone) is dropped unwritten.
 * A page that came back from swap and was not written to since still has its bytes in its slot: it
 * leaves for nothing.
 *
 * A huge page becomes 512 small ones first: its head goes on, the others are next on the list.
 *
 * One that turns out to be in use, or locked in memory, keeps its place; a slot that was given to
 * it in vain is free again.
 * Needs __GFP_IO only: no file system stands between a slot and its device as far as memory goes.
 * Locking: the page lock, held by the caller; everything else is tried.
 * Source: [facts 1.7].
 */
#include "mm/reclaim/swapout.h"

#include "lib/errno.h"
#include "mm/cache/mapping.h"
#include "mm/memcg/memcg.h"
#include "mm/reclaim/events.h"
#include "mm/swap/swap.h"
#include "mm/vm/rmap.h"
#include "mm/vm/thp.h"

/* Nobody has it, and nothing on the disk names its slot. */
static bool nobody_has(struct page *page)
{
	return page_test(page, PG_swapcache) && !page_mapped(page) && !swap_count(page_swp(page));
}

/* 0: no entry is left */
static enum swapout anon_prepare(struct page *page)
{
	int err = 0;

	if (!page_test(page, PG_swapcache)) {
		if (!page_mapped(page))
			return SWAPOUT_KEEP; /* being freed */
		if (unlikely(page_is_thp(page))) {
			if (!nr_swap_pages())
				return SWAPOUT_ACTIVATE;
			if (split_huge_page(page, 1, false))
				return SWAPOUT_KEEP;
		}
		if (swapcache_add_new(page))
			return SWAPOUT_ACTIVATE;
	}
	if (page_mapped(page)) {
		err = page_swap_out_entries(page);
		if (page_mapped(page)) {
			swap_try_to_free(page);
			return err == 1 ? SWAPOUT_ACTIVATE : SWAPOUT_KEEP;
		}
	}
	return SWAPOUT_DIRTY;
}

static enum swapout shmem_prepare(struct page *page)
{
	if (!page->mapping)
		return SWAPOUT_KEEP; /* truncated */
	if (!nr_swap_pages() || (page->mapping->flags & MAPF_UNEVICTABLE))
		return SWAPOUT_ACTIVATE;
	if (page_mapped(page) && !(mapping_unmap_page_hook && mapping_unmap_page_hook(page))) {
		page_set(page, PG_referenced);
		return SWAPOUT_KEEP;
	}
	return shmem_swap_out(page) ? SWAPOUT_ACTIVATE : SWAPOUT_DIRTY;
}

enum swapout swapout_prepare(struct page *page, gfp_t gfp)
{
	bool cached = page_test(page, PG_swapcache);
	enum swapout out;

	if (page_test(page, PG_mlocked))
		return SWAPOUT_KEEP; /* goes to the unevictable list */
	if (nobody_has(page))
		return SWAPOUT_CLEAN;
	if (!cached && !(gfp & __GFP_IO))
		return SWAPOUT_KEEP;
	out = page_test(page, PG_anon) ? anon_prepare(page)
	      : cached		       ? SWAPOUT_DIRTY
				       : shmem_prepare(page);
	if (out != SWAPOUT_DIRTY)
		return out;
	if (!page_test(page, PG_dirty) || nobody_has(page))
		return SWAPOUT_CLEAN;
	return gfp & __GFP_IO ? SWAPOUT_DIRTY : SWAPOUT_KEEP;
}

bool swapout_write(struct page *page)
{
	bool gone = false;

	page_clear(page, PG_dirty);
	page_set(page, PG_reclaim);
	if (swap_write_page(page))
		return false;
	mod_zone_state(page_zone(page), NR_VMSCAN_WRITE, 1);
	vmscan_event(writepage, page);
	if (page_test(page, PG_writeback) || page_test(page, PG_dirty) || !page_trylock(page))
		return false;
	if (page_test(page, PG_swapcache)) /* a memory disk has written it already */
		gone = swapcache_drop(page);
	page_unlock(page);
	return gone;
}
