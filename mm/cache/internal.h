/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - what the files of mm/cache share. */
#ifndef MM_CACHE_INTERNAL_H
#define MM_CACHE_INTERNAL_H

#include "kernel/rcu.h"
#include "mm/cache/mapping.h"

/*
 * The page at index with a reference, or NULL; lockless. A page found in the index may be on its
 * way out: a reference is only taken while there are others, and page->mapping, cleared before the
 * index gives its reference back, is looked at again afterwards.
 */
static __always_inline struct page *mapping_find_get(struct mapping *m, unsigned long index)
{
	struct page *page;

	rcu_read_lock();
	while ((page = xa_load(&m->pages, index))) {
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

static inline bool mapping_is_shmem(const struct mapping *m)
{
	return m->flags & MAPF_SHMEM;
}
static inline int mapping_charge(struct mapping *m, long pages)
{
	return m->ops && m->ops->charge ? m->ops->charge(m, pages) : 0;
}

#endif
