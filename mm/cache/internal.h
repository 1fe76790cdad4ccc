/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - what the files of mm/cache share. */
#ifndef MM_CACHE_INTERNAL_H
#define MM_CACHE_INTERNAL_H

#include "kernel/rcu.h"
#include "mm/cache/bdi.h"
#include "mm/cache/mapping.h"
#include "mm/phys/zone.h"
#include "mm/reclaim/workingset.h"
#include "sched/thread.h"

/*
 * A value in the index stands for a page that is not in memory: of a SHMEM mapping, it is in swap
 * (mm/swap/shmem.c brings it back); of a file, a trace of what reclaim dropped. Who looks for pages
 * finds none there.
 *
 * The page at index with a reference, or NULL; lockless. A page found in the index may be on its
 * way out: a reference is only taken while there are others, and page->mapping, cleared before the
 * index gives its reference back, is looked at again afterwards.
 */
static __always_inline struct page *mapping_find_get(struct mapping *m, unsigned long index)
{
	struct page *page;

	rcu_read_lock();
	while ((page = xa_load(&m->pages, index))) {
		if (unlikely(xa_is_value(page))) {
			page = NULL;
			break;
		}
		if (unlikely(!page_get_unless_zero(page))) {
			cpu_relax();
			continue;
		}
		if (likely(READ_ONCE(page->mapping) == m && READ_ONCE(page->index) == index))
			break;
		page_put(page);
	}
	rcu_read_unlock();
	return page;
}

/* The first page at or after *index (<= last), referenced; *index becomes its index. NULL: none. */
static inline struct page *mapping_next_get(struct mapping *m, unsigned long *index,
					    unsigned long last)
{
	struct page *page;

	rcu_read_lock();
	while ((page = xa_find(&m->pages, index, last))) {
		if (unlikely(xa_is_value(page))) {
			page = NULL;
			if (*index == last)
				break;
			++*index;
			rcu_read_unlock(); /* many in a row: others get a turn */
			rcu_read_lock();
			continue;
		}
		if (unlikely(!page_get_unless_zero(page))) {
			cpu_relax();
			continue;
		}
		if (likely(READ_ONCE(page->mapping) == m && READ_ONCE(page->index) == *index))
			break;
		page_put(page);
	}
	rcu_read_unlock();
	return page;
}

static inline bool mapping_is_shmem(const struct mapping *m)
{
	return m->flags & MAPF_SHMEM;
}
/* The item at index, a value too; to compare, not to use. */
static inline void *mapping_item(struct mapping *m, unsigned long index)
{
	void *item;

	rcu_read_lock();
	item = xa_load(&m->pages, index);
	rcu_read_unlock();
	return item;
}
/*
 * SHMEM: may the index hold values? Once it has held one, for ever: so a finder that met one and
 * asks afterwards never takes a page that came back meanwhile for a hole.
 */
static inline bool shmem_may_be_swapped(const struct mapping *m)
{
	return mapping_is_shmem(m) && !list_empty(&m->all_node);
}
/*
 * A SHMEM mapping has no page at index: the one that is in swap, brought back, else NULL.
 * ERR_PTR(-ENOMEM, -EIO)
 */
struct page *shmem_missing(struct mapping *m, unsigned long index);
/*
 * The books of dirty pages: one entry for each change of PG_dirty, whoever makes it. The counters
 * may be behind each other for a moment, never for ever.
 */
static inline void mapping_account_dirtied(struct mapping *m, struct page *page)
{
	mod_lruvec_state_pair(page, NR_DIRTY, NR_DIRTIED, 1);
	if (likely(m->bdi != NULL)) {
		bdi_stat_add(m->bdi, BDI_RECLAIMABLE, 1);
		bdi_stat_add(m->bdi, BDI_DIRTIED, 1);
		current->nr_dirtied++;
		current->io_write_bytes += PAGE_SIZE;
	}
}
static inline void mapping_account_cleaned(struct mapping *m, struct page *page)
{
	mod_lruvec_state(page, NR_DIRTY, -1);
	if (likely(m->bdi != NULL))
		bdi_stat_add(m->bdi, BDI_RECLAIMABLE, -1);
}
/*
 * Removes a page nobody but the caller uses: true when it went. => page locked, clean; the caller's
 * reference is left
 */
bool mapping_remove_unused(struct mapping *m, struct page *page);
/*
 * Around changes of values in a file's index, under its lock: takes the nodes with nothing but
 * traces into the books of mm/reclaim/workingset.c.
 */
static inline void mapping_note_traces(struct mapping *m, u32 before)
{
	if (unlikely(m->pages.value_nodes != before) && !mapping_is_shmem(m))
		workingset_nodes((long)m->pages.value_nodes - (long)before);
}
/* truncate.c: zeroes the last page behind the end of the file. => the owner's lock */
void pagecache_zero_tail(struct mapping *m);
/* readahead.c: the page of a read that misses, or hits a marker. => truncate_lock shared */
void readahead_miss(struct mapping *m, struct ra_state *ra, unsigned long index, unsigned long nr);
void readahead_marker(struct mapping *m, struct ra_state *ra, struct page *page,
		      unsigned long index, unsigned long nr);
static inline int mapping_charge(struct mapping *m, long pages)
{
	return m->ops && m->ops->charge ? m->ops->charge(m, pages) : 0;
}

#endif
