/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * truncate.c - taking pages out of a file while others read, write and map it.
 *
 * Problem: after truncation nobody may still see, or bring back, a page behind the new end: not a
 * reader that found the page just before, not a fault that looked at the size just before. Idea:
 * the order
 *
 *   1. the owner writes the new size        faults and reads from now on stop at it
 *   2. truncate_lock, exclusive             the faults that saw the old size have finished and
 *                                           mapped their page
 *   3. page-table entries go                nobody maps a page of the range, and nobody can
 *   4. pages leave the index                a reader that still holds one reads old bytes, as if it
 *                                           had been earlier
 *   5. the tail of the last page is zeroed  so that a later extension shows zeros
 *
 * Faults hold truncate_lock shared from their look at the size until the entry is in the table.
 * Writers are kept out by the owner's lock. A hole (punch) is the same without 1: a fault after it
 * makes a new page of zeros. A page under writeback is waited for: the device reads it. Pages go in
 * batches of 16: each is locked alone, the index lock is held for one page at a time. A page in
 * swap goes with its slot.
 *
 * A file system on a disk holds truncate_lock itself (the _locked forms) until it has freed the
 * blocks: a fault in between would read them once more.
 */
#include "lib/err.h"
#include "lib/string.h"
#include "mm/cache/internal.h"
#include "mm/cache/writeback.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/swap/swap.h"
#include "sched/sched.h"

#define TRUNC_BATCH 16

static bool all_zero(const u8 *p, size_t n)
{
	while (n && !*p)
		p++, n--;
	return !n;
}

/*
 * Zeroes bytes [off, end) of a page. One that is zero there already (a hole) does not become dirty.
 * => page locked
 */
static void zero_bytes(struct page *page, unsigned int off, unsigned int end)
{
	struct mapping *m = page->mapping;
	char *va = page_kmap(page);

	if (m->flags & MAPF_STABLE)
		page_wait_writeback(page);
	if (!all_zero((u8 *)va + off, end - off)) {
		memset(va + off, 0, end - off);
		smp_mb();
		pagecache_set_dirty(page);
	}
	page_kunmap(va);
}

/*
 * The page at index if there is one, in memory or in swap: it is to be zeroed in part, and has to
 * come back for that. What swap lost is a hole from now on. NULL: none
 */
static struct page *shmem_partial(struct mapping *m, unsigned long index)
{
	struct page *page;

	for (;;) {
		void *item;

		page = mapping_find_get(m, index);
		if (!page)
			page = shmem_missing(m, index);
		item = PTR_ERR(page) == -EIO ? mapping_item(m, index) : NULL;
		if (xa_is_value(item) && shmem_forget(m, index, item))
			mapping_charge(m, -1);
		if (PTR_ERR(page) != -ENOMEM || fatal_signal_pending())
			return IS_ERR(page) ? NULL : page;
		sched_yield(); /* others give memory back */
	}
}

/*
 * Zeroes bytes [from, to) of one page, if it is cached (or, on a disk, exists). Blocks there may be
 * freed next: the page asks for a home again. => truncate_lock held exclusively
 */
static void zero_partial(struct mapping *m, u64 from, u64 to)
{
	unsigned int off = offset_in_page(from);
	struct page *page;

	if (mapping_is_shmem(m))
		page = shmem_partial(m, from >> PAGE_SHIFT);
	else if (m->ops && m->ops->read_page)
		page = pagecache_get(m, from >> PAGE_SHIFT, PCG_CREATE);
	else
		page = mapping_find_get(m, from >> PAGE_SHIFT);

	if (IS_ERR_OR_NULL(page))
		return;
	page_lock(page);
	if (page->mapping == m && page_test(page, PG_uptodate)) {
		/* A writable entry would let a store find its home gone: it asks again. */
		if (page_mapped(page) && !mapping_is_shmem(m) && mapping_mkclean_hook &&
		    mapping_mkclean_hook(page))
			pagecache_set_dirty(page);
		zero_bytes(page, off, off + (to - from));
		if (!mapping_is_shmem(m))
			page_clear(page, PG_homed);
	}
	page_unlock(page);
	page_put(page);
}

void pagecache_zero_tail(struct mapping *m)
{
	u64 size = m->size;
	struct page *page;

	if (!offset_in_page(size))
		return;
	page = mapping_is_shmem(m) ? shmem_partial(m, size >> PAGE_SHIFT)
				   : mapping_find_get(m, size >> PAGE_SHIFT);
	if (!page)
		return;
	page_lock(page);
	if (page->mapping == m && page_test(page, PG_uptodate))
		zero_bytes(page, offset_in_page(size), PAGE_SIZE);
	page_unlock(page);
	page_put(page);
}

void pagecache_extend(struct mapping *m, u64 size)
{
	if (size <= m->size)
		return;
	pagecache_zero_tail(m);
	WRITE_ONCE(m->size, size);
}

/*
 * The next pages at or after *index, referenced; *index moves behind the last. None, but *value:
 * that is what *index holds.
 */
static unsigned int next_batch(struct mapping *m, unsigned long *index, unsigned long last,
			       struct page **pages, void **value)
{
	unsigned int n = 0;

	rcu_read_lock();
	while (n < TRUNC_BATCH && *index <= last) {
		struct page *page = xa_find(&m->pages, index, last);

		if (!page) {
			*index = last;
			break;
		}
		if (unlikely(xa_is_value(page))) {
			*value = n ? NULL : page;
			break;
		}
		if (page_get_unless_zero(page))
			pages[n++] = page;
		else
			break; /* frozen for a moment: come again */
		if (++*index == 0) {
			*index = last;
			break;
		}
	}
	rcu_read_unlock();
	return n;
}

static void remove_page(struct mapping *m, struct page *page, unsigned long *removed)
{
	page_lock(page);
	if (page->mapping == m) {
		page_wait_writeback(page);
		ASSERT(!page_mapped(page));
		pagecache_remove(page);
		++*removed;
	}
	page_unlock(page);
}

/* Something other than a page in memory leaves the index. How many pages the file has less. */
static unsigned int forget_value(struct mapping *m, unsigned long index, void *value)
{
	unsigned long flags;
	u32 nodes;

	if (mapping_is_shmem(m))
		return shmem_forget(m, index, value);
	spin_lock_irqsave_l(&m->lock, flags, "forget_value");
	nodes = m->pages.value_nodes;
	if (xa_load(&m->pages, index) == value) {
		xa_erase(&m->pages, index);
		m->nr_values--;
	}
	mapping_note_traces(m, nodes);
	spin_unlock_irqrestore_l(&m->lock, flags, "forget_value");
	return 0;
}

/* => truncate_lock held exclusively, PTEs gone */
static void remove_range(struct mapping *m, unsigned long first, unsigned long last)
{
	struct page *pages[TRUNC_BATCH];
	unsigned long index = first, removed = 0;

	for (;;) {
		void *value = NULL;
		unsigned int n = next_batch(m, &index, last, pages, &value);

		if (unlikely(value)) {
			removed += forget_value(m, index, value);
			cond_resched();
			continue;
		}
		if (!n) {
			unsigned long again = first;
			void *left;

			rcu_read_lock();
			left = xa_find(&m->pages, &again, last);
			rcu_read_unlock();
			if (!left)
				break;
			index = again;
			cpu_relax();
			continue;
		}
		for (unsigned int i = 0; i < n; i++)
			remove_page(m, pages[i], &removed);
		release_pages(pages, n);
		cond_resched();
	}
	if (removed && mapping_is_shmem(m))
		mapping_charge(m, -(long)removed);
}

void pagecache_truncate_locked(struct mapping *m, u64 from)
{
	unsigned long first = PFN_UP(from);

	if (mapping_mapped(m) && mapping_unmap_hook)
		mapping_unmap_hook(m, first, ~0ul, 1);
	if (m->nr_pages)
		remove_range(m, first, ~0ul);
	if (offset_in_page(from))
		zero_partial(m, from, (u64)first << PAGE_SHIFT);
}

void pagecache_truncate(struct mapping *m, u64 from)
{
	down_write(&m->truncate_lock);
	pagecache_truncate_locked(m, from);
	up_write(&m->truncate_lock);
}

void pagecache_punch_locked(struct mapping *m, u64 from, u64 to)
{
	unsigned long first = PFN_UP(from), end = to >> PAGE_SHIFT;

	if (from >= to)
		return;
	if (first < end) {
		if (mapping_mapped(m) && mapping_unmap_hook)
			mapping_unmap_hook(m, first, end - 1, 0);
		remove_range(m, first, end - 1);
	}
	if (first > end) { /* inside one page */
		zero_partial(m, from, to);
	} else {
		if (offset_in_page(from))
			zero_partial(m, from, (u64)first << PAGE_SHIFT);
		if (offset_in_page(to))
			zero_partial(m, (u64)end << PAGE_SHIFT, to);
	}
}

void pagecache_punch(struct mapping *m, u64 from, u64 to)
{
	down_write(&m->truncate_lock);
	pagecache_punch_locked(m, from, to);
	up_write(&m->truncate_lock);
}

/* Removed, one by one; -EBUSY for those that are dirty. => truncate_lock exclusive, entries gone */
static int invalidate_indexes(struct mapping *m, unsigned long first, unsigned long last)
{
	unsigned long index = first;
	struct page *page;
	int err = 0;

	while ((page = mapping_next_get(m, &index, last))) {
		page_lock(page);
		page_wait_writeback(page);
		if (page->mapping == m && page_test(page, PG_dirty))
			err = -EBUSY;
		else if (page->mapping == m)
			pagecache_remove(page);
		page_unlock(page);
		page_put(page);
		if (index++ == last)
			break;
		cond_resched();
	}
	return err;
}

int pagecache_invalidate_range(struct mapping *m, u64 from, u64 to)
{
	unsigned long first = from >> PAGE_SHIFT, last;
	int err;

	if (from >= to || !m->nr_pages)
		return 0;
	last = (to - 1) >> PAGE_SHIFT;
	err = m->bdi ? mapping_sync_range(m, from, to - 1) : 0;
	if (err)
		return err;
	down_write(&m->truncate_lock);
	if (mapping_mapped(m) && mapping_unmap_hook)
		mapping_unmap_hook(m, first, last, 0);
	err = invalidate_indexes(m, first, last);
	up_write(&m->truncate_lock);
	return err;
}
