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
 * makes a new page of zeros. Pages go in batches of 16: each is locked alone, the index lock is
 * held for one page at a time.
 */
#include "lib/err.h"
#include "lib/string.h"
#include "mm/cache/internal.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"

#define TRUNC_BATCH 16

/* Zeroes bytes [from, to) of one page, if it is cached (or, on a disk, exists). */
static void zero_partial(struct mapping *m, u64 from, u64 to)
{
	unsigned int flags = mapping_is_shmem(m) || !m->ops || !m->ops->read_page ? 0 : PCG_CREATE;
	struct page *page = flags ? pagecache_get(m, from >> PAGE_SHIFT, flags)
				  : mapping_find_get(m, from >> PAGE_SHIFT);
	char *va;

	if (IS_ERR_OR_NULL(page))
		return;
	va = page_kmap(page);
	memset(va + offset_in_page(from), 0, to - from);
	page_kunmap(va);
	pagecache_set_dirty(page);
	page_put(page);
}

/* The next pages at or after *index, referenced; *index moves behind the last. */
static unsigned int next_batch(struct mapping *m, unsigned long *index, unsigned long last,
			       struct page **pages)
{
	unsigned int n = 0;

	rcu_read_lock();
	while (n < TRUNC_BATCH && *index <= last) {
		struct page *page = xa_find(&m->pages, index, last);

		if (!page) {
			*index = last;
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

/* => truncate_lock held exclusively, PTEs gone */
static void remove_range(struct mapping *m, unsigned long first, unsigned long last)
{
	struct page *pages[TRUNC_BATCH];
	unsigned long index = first, removed = 0;

	for (;;) {
		unsigned int n = next_batch(m, &index, last, pages);

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

void pagecache_truncate(struct mapping *m, u64 from)
{
	unsigned long first = PFN_UP(from);

	down_write(&m->truncate_lock);
	if (mapping_mapped(m) && mapping_unmap_hook)
		mapping_unmap_hook(m, first, ~0ul, 1);
	if (m->nr_pages)
		remove_range(m, first, ~0ul);
	if (offset_in_page(from))
		zero_partial(m, from, (u64)first << PAGE_SHIFT);
	up_write(&m->truncate_lock);
}

void pagecache_punch(struct mapping *m, u64 from, u64 to)
{
	unsigned long first = PFN_UP(from), end = to >> PAGE_SHIFT;

	if (from >= to)
		return;
	down_write(&m->truncate_lock);
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
	up_write(&m->truncate_lock);
}
