// SPDX-License-Identifier: BSD-2-Clause
/*
 * io.c - pages of the swap cache to and from their slots.
 *
 * Problem: a page must stay findable and whole until it is safe on the disk, and an error must not
 * lose it: memory is the only other copy. Idea: as for pages of files. Out: PG_writeback is set
 * under the page lock, the lock dropped, the end clears it; a page whose write failed is dirty
 * again before that, so nobody takes it for clean, and stays in memory. In: the page stays locked
 * until its bytes are there; after an error it is unlocked without PG_uptodate, and whoever waited
 * for it sees that.
 *
 *   out: locked, clean -> PG_writeback -> unlocked -> [device] -> clean, or dirty again
 *   in:  locked -> [device] -> PG_uptodate, or not -> unlocked
 *
 * A page of the cache belongs to no mapping, so nothing is counted against a device and no sync
 * waits for it; NR_WRITEBACK and NR_WRITTEN count it as any page. PG_reclaim, set by reclaim, takes
 * it to the tail of its list at the end; not after an error, else it would be tried again at once.
 * Locking: page lock; the end runs in softirqs.
 */
#include "kernel/printk.h"
#include "lib/errno.h"
#include "mm/debug/vmstat.h"
#include "mm/phys/page_alloc.h"
#include "mm/swap/internal.h"

const struct swap_plug_ops *swap_plug_ops;

void swap_plug_start(struct swap_plug *plug)
{
	const struct swap_plug_ops *ops = READ_ONCE(swap_plug_ops);

	plug->started = ops != NULL;
	if (ops)
		ops->start(plug->space);
}

void swap_plug_finish(struct swap_plug *plug)
{
	if (plug->started)
		swap_plug_ops->finish(plug->space);
}

static struct swap_area *area_of(const struct page *page)
{
	return &swap_areas[swp_type(page_swp(page)) % MAX_SWAP_AREAS];
}

/* Once per area and direction: the block layer names each of its errors. */
static noinline void tell(struct swap_area *a, const struct page *page, bool *told, int err)
{
	bool write = told == &a->told_write;

	if (!xchg(told, true))
		pr_err("swap: %s: error %d %s slot %llu%s", a->path, -err,
		       write ? "writing" : "reading",
		       (unsigned long long)swp_offset(page_swp(page)),
		       write ? "; the page stays in memory" : "");
}

static void write_done(struct page *page, int err)
{
	struct swap_area *a = area_of(page);

	if (unlikely(err)) {
		page_set(page, PG_dirty);
		page_clear(page, PG_reclaim);
		tell(a, page, &a->told_write, err);
	}
	mod_lruvec_state(page, NR_WRITEBACK, -1);
	if (likely(!err))
		mod_lruvec_state(page, NR_WRITTEN, 1);
	page_end_writeback(page); /* it may be somebody else's from here on */
}

int swap_write_page(struct page *page)
{
	struct swap_area *a = area_of(page);
	int err;

	ASSERT(page_test(page, PG_locked) && page_test(page, PG_swapcache));
	ASSERT(!page_test(page, PG_writeback));
	page_set(page, PG_writeback);
	mod_lruvec_state(page, NR_WRITEBACK, 1);
	page_unlock(page);
	err = a->ops->submit(a->owner, swp_offset(page_swp(page)), page, true, write_done);
	if (likely(!err)) {
		count_vm_event(PSWPOUT);
		return 0;
	}
	page_set(page, PG_dirty);
	page_clear(page, PG_reclaim);
	mod_lruvec_state(page, NR_WRITEBACK, -1);
	page_end_writeback(page);
	return err;
}

static void read_done(struct page *page, int err)
{
	struct swap_area *a = area_of(page);

	if (likely(!err))
		page_set(page, PG_uptodate);
	else
		tell(a, page, &a->told_read, err);
	page_unlock(page);
}

void swap_read_page(struct page *page)
{
	struct swap_area *a = area_of(page);
	int err;

	ASSERT(page_test(page, PG_locked) && page_test(page, PG_swapcache));
	ASSERT(!page_test(page, PG_uptodate));
	err = a->ops->submit(a->owner, swp_offset(page_swp(page)), page, false, read_done);
	if (likely(!err))
		count_vm_event(PSWPIN);
	else
		read_done(page, err);
}
