// SPDX-License-Identifier: BSD-2-Clause
/*
 * swapin.c - pages come back from their slots.
 *
 * Problem: a seek costs as much as reading a hundred pages, and what left memory together is often
 * wanted together. Idea: slots were given out in rising order in that case, so the fault reads the
 * aligned cluster of 2^page-cluster slots around its own, as far as they are in use, in one go.
 * Neighbours nobody asks for lie on the inactive list and leave again unwritten.
 *
 * Races: two threads want one slot: the cache bit of the slot decides who reads, the other finds
 * his page and waits for its lock. The entry is freed meanwhile: the slot has no name any more, or
 * another page's; NULL, or a page its caller finds to be another's when he looks at the entry
 * again. An area that goes keeps its slots until all their pages are out of the cache. Source:
 * [seed-003] era kernels' fixed cluster; own code.
 */
#include "kernel/param.h"
#include "lib/errno.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/swap/swap.h"
#include "mm/vm/aspace.h"
#include "sched/sched.h"

static long page_cluster = 3;
TUNABLE("vm/page-cluster", page_cluster, 0, 10, NULL);

/* A page to read into: locked, PG_swapbacked. */
static struct page *fresh_page(struct vma *vma, unsigned long addr, gfp_t gfp)
{
	struct page *page =
		vma ? vma_alloc_page(vma, addr, gfp) : alloc_page(GFP_HIGHUSER_MOVABLE | gfp);

	if (page)
		page->flags |= BIT(PG_locked) | BIT(PG_swapbacked);
	return page;
}

/* The cached page of an entry, referenced; *read: it was not there and is being read. NULL */
static struct page *find_or_read(swp_entry_t e, struct vma *vma, unsigned long addr, gfp_t gfp,
				 bool *read)
{
	struct page *page = NULL, *found;
	int err = 0;

	for (;;) {
		found = swapcache_find(e);
		if (found)
			break;
		if (!page)
			page = fresh_page(vma, addr, gfp);
		if (!page)
			return NULL;
		err = swapcache_add(page, e);
		if (!err) {
			lru_add(page);
			swap_read_page(page);
			*read = true;
			return page;
		}
		if (err != -EEXIST)
			break;
		cond_resched();
	}
	if (page) {
		page->flags &= ~BIT(PG_locked);
		page_put(page);
	}
	return found;
}

struct page *swapin(swp_entry_t e, struct vma *vma, unsigned long addr, bool *major)
{
	struct page *wanted = swapcache_find(e);
	u64 window = 1ull << READ_ONCE(page_cluster), slot = swp_offset(e);
	u64 first = max(slot & ~(window - 1), (u64)1), last = slot | (window - 1);
	struct swap_plug plug;

	*major = false;
	if (wanted || !swap_get(e))
		return wanted;
	swap_plug_start(&plug);
	for (u64 i = first; i <= last; i++) {
		swp_entry_t near = swp_entry(swp_type(e), i);
		gfp_t gfp = i == slot ? 0 : __GFP_NORETRY | __GFP_NOWARN;
		struct page *page;
		bool read = false;

		if (i != slot && swap_count(near) <= 0)
			continue;
		page = find_or_read(near, vma, addr, gfp, &read);
		if (i == slot) {
			wanted = page;
			*major = read;
			if (!page)
				break;
		} else if (page) {
			page_put(page);
		}
	}
	swap_plug_finish(&plug);
	swap_put(e);
	return wanted;
}

void swapin_start(swp_entry_t e, struct vma *vma, unsigned long addr)
{
	struct page *page;
	bool read = false;

	if (!swap_get(e))
		return;
	page = find_or_read(e, vma, addr, __GFP_NORETRY | __GFP_NOWARN, &read);
	if (page)
		page_put(page);
	swap_put(e);
}
