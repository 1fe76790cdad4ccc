/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pagecache.c - which page holds which part of a file.
 *
 * Problem: read, write and mmap of one file must meet in one set of pages, found without a lock on
 * the way that matters, while truncation and reclaim take pages away. Idea: the index (xarray)
 * holds one reference to each page. A finder takes its own reference only while the count is above
 * zero and then checks that the page still belongs there; whoever removes a page clears
 * page->mapping before giving the index's reference back.
 *
 * Life of a page here:   alloc -> filled -> pagecache_add (visible) -> found, dirtied, mapped ...
 *                        -> pagecache_remove -> freed
 *
 * A page of a SHMEM mapping is filled before it becomes visible, so it is always uptodate, and
 * dirty from birth: memory is its only place. Reclaim may move it to swap: then the slot holds a
 * value (mm/swap/shmem.c) until somebody asks for the page. A page of a file on a disk is added
 * locked and not uptodate, then read; finders wait for the page lock.
 *
 * Invariants: page->mapping == m and page->index == i exactly for the page in slot i; nr_pages =
 * number of slots in use, nr_values of them by values, which for files are not counted as pages.
 * Locking: index and tags under mapping->lock with interrupts off (end of writeback clears tags in
 * an interrupt); each section handles one page. Lookups under RCU.
 */
#include "lib/err.h"
#include "mm/cache/internal.h"
#include "mm/cache/wb.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/reclaim.h"
#include "mm/swap/swap.h"

void (*mapping_unmap_hook)(struct mapping *m, unsigned long first, unsigned long last, int cows);
bool (*mapping_mkclean_hook)(struct page *page);
bool (*mapping_unmap_page_hook)(struct page *page);

static DEFINE_MUTEX(mappings_lock, RANK_MAPPING);
static LIST_HEAD(mappings);

/*
 * Reclaim's way in: the page is locked and off the LRU, the caller holds one reference, the index
 * the other.
 */
static bool reclaim_drop(struct page *page);
static const struct reclaim_ops cache_reclaim_ops = { .drop_page = reclaim_drop,
						      .drop_clean = pagecache_drop_clean };

void pagecache_init(void)
{
	xa_init_cache();
	reclaim_ops = &cache_reclaim_ops;
}

void mapping_init(struct mapping *m, const struct mapping_ops *ops, void *owner,
		  unsigned long flags)
{
	m->pages = (struct xarray){ NULL };
	spin_lock_init(&m->lock, RANK_MAPPING_TREE, "mapping");
	m->nr_pages = m->nr_values = 0;
	m->size = 0;
	m->ops = ops;
	m->flags = flags;
	m->gfp = GFP_HIGHUSER_MOVABLE;
	m->owner = owner;
	rwsem_init(&m->truncate_lock, RANK_MAPPING, "truncate");
	m->i_mmap = RB_ROOT_CACHED;
	mutex_init(&m->i_mmap_lock, RANK_I_MMAP, "i_mmap");
	m->bdi = NULL;
	m->dirtied_when = 0;
	list_init(&m->wb_link);
	m->dirty = 0;
	m->nr_mmap_writable = 0;
	m->writeback_index = 0;
	m->wb_err = 0;
	list_init(&m->all_node);
	m->unuse_pins = 0;
	m->going = false;
	if (!(flags & MAPF_SHMEM)) {
		mutex_lock(&mappings_lock);
		list_add_tail(&m->all_node, &mappings);
		mutex_unlock(&mappings_lock);
	}
}

/* Its index goes with all traces in it. => m->lock */
static void mapping_forget(struct mapping *m)
{
	u32 nodes = m->pages.value_nodes;

	m->pages.value_nodes = 0;
	mapping_note_traces(m, nodes);
}

void mapping_destroy(struct mapping *m)
{
	unsigned long flags;

	if (mapping_is_shmem(m)) {
		if (m->nr_pages || !list_empty(&m->all_node))
			shmem_forget_mapping(m);
	} else {
		mutex_lock(&mappings_lock);
		list_del_init(&m->all_node);
		mutex_unlock(&mappings_lock);
	}
	if (m->nr_pages)
		pagecache_truncate(m, 0);
	ASSERT(!mapping_mapped(m));
	/* Reclaim may have taken the last page and not have left the lock yet. */
	spin_lock_irqsave_l(&m->lock, flags, "mapping_destroy");
	mapping_forget(m);
	spin_unlock_irqrestore_l(&m->lock, flags, "mapping_destroy");
	xa_destroy(&m->pages);
}

struct page *pagecache_find(struct mapping *m, unsigned long index)
{
	return mapping_find_get(m, index);
}

unsigned int pagecache_find_batch(struct mapping *m, unsigned long index, unsigned int n,
				  struct page **pages)
{
	rcu_read_lock();
	n = xa_load_batch(&m->pages, index, n, (void **)pages);
	for (unsigned int i = 0; i < n; i++) {
		struct page *page = pages[i];

		if (!page)
			continue;
		if (unlikely(xa_is_value(page))) {
			pages[i] = NULL;
			continue;
		}
		if (unlikely(!page_get_unless_zero(page))) {
			pages[i] = NULL;
		} else if (unlikely(READ_ONCE(page->mapping) != m ||
				    READ_ONCE(page->index) != index + i)) {
			page_put(page);
			pages[i] = NULL;
		}
	}
	rcu_read_unlock();
	return n;
}

/* *trace: what reclaim left at the place. => m->lock */
static inline int store_locked(struct mapping *m, unsigned long index, struct page *page,
			       void **trace)
{
	u32 nodes = m->pages.value_nodes;
	int err = xa_store(&m->pages, index, page, 0); /* IRQs are off: no time for the allocator */

	if (unlikely(err == -EEXIST) && !mapping_is_shmem(m) &&
	    xa_is_value(xa_load(&m->pages, index))) {
		*trace = xa_replace(&m->pages, index, page);
		m->nr_values--;
		err = 0;
	}
	m->nr_pages += !err;
	mapping_note_traces(m, nodes);
	return err;
}

int pagecache_add(struct mapping *m, unsigned long index, struct page *page, gfp_t gfp)
{
	void *trace = NULL;
	unsigned long flags;
	int err;

	page->mapping = m;
	page->index = index;
	if (mapping_is_shmem(m))
		page->flags |= BIT(PG_swapbacked); /* not visible yet */
	page_get(page);
	for (;;) {
		struct xa_node *spare;

		spin_lock_irqsave_l(&m->lock, flags, "pagecache_add");
		err = store_locked(m, index, page, &trace);
		spin_unlock_irqrestore_l(&m->lock, flags, "pagecache_add");
		if (likely(err != -ENOMEM))
			break;
		spare = xa_node_alloc(gfp & ~(__GFP_HIGH_ZONE | __GFP_MOVABLE | __GFP_ZERO));
		if (!spare)
			break;
		spin_lock_irqsave_l(&m->lock, flags, "pagecache_spare");
		xa_add_spare(&m->pages, spare);
		spin_unlock_irqrestore_l(&m->lock, flags, "pagecache_spare");
	}
	if (unlikely(err)) {
		page->mapping = NULL;
		page_put(page);
		return err;
	}
	if (unlikely(trace))
		workingset_refault(page, trace);
	if (mapping_is_shmem(m))
		mod_lruvec_state_pair(page, NR_FILE_PAGES, NR_SHMEM, 1);
	else
		mod_lruvec_state(page, NR_FILE_PAGES, 1);
	lru_add(page);
	return 0;
}

/* What is left to do when the index has let go of a page. => its reference is still there */
static inline void left_index(struct mapping *m, struct page *page, bool dirty)
{
	if (mapping_is_shmem(m)) {
		mod_lruvec_state_pair(page, NR_FILE_PAGES, NR_SHMEM, -1);
		return;
	}
	mod_lruvec_state(page, NR_FILE_PAGES, -1);
	if (dirty)
		mapping_account_cleaned(m, page);
	if (page_test(page, PG_private) && m->ops && m->ops->page_gone)
		m->ops->page_gone(m, page);
}

void pagecache_remove(struct page *page)
{
	struct mapping *m = page->mapping;
	unsigned long flags;
	bool dirty;
	u32 nodes;

	spin_lock_irqsave_l(&m->lock, flags, "pagecache_remove");
	nodes = m->pages.value_nodes;
	xa_erase(&m->pages, page->index);
	mapping_note_traces(m, nodes);
	m->nr_pages--;
	dirty = page_test(page, PG_dirty) && page_test_and_clear(page, PG_dirty);
	WRITE_ONCE(page->mapping, NULL);
	spin_unlock_irqrestore_l(&m->lock, flags, "pagecache_remove");
	left_index(m, page, dirty);
	page_put(page);
}

/*
 * Nobody may find the page and write into it between the look at its count and its removal: the
 * count is frozen at zero meanwhile, under the lock so that no finder spins for long. Once the index
 * is empty the mapping may go: who has PG_private pages outlives them.
 */
static bool remove_unused(struct mapping *m, struct page *page, bool leave_trace)
{
	unsigned long flags;
	void *trace;
	u32 nodes;

	if (page_test(page, PG_dirty) || page_test(page, PG_writeback) || page_mapped(page) ||
	    atomic_read(&page->refs) != 2)
		return false;
	spin_lock_irqsave_l(&m->lock, flags, "pagecache_remove");
	if (!page_ref_freeze(page, 2)) {
		spin_unlock_irqrestore_l(&m->lock, flags, "pagecache_remove");
		return false;
	}
	if (unlikely(page_test(page, PG_dirty))) {
		page_ref_unfreeze(page, 2);
		spin_unlock_irqrestore_l(&m->lock, flags, "pagecache_remove");
		return false;
	}
	trace = leave_trace ? workingset_eviction(page) : NULL;
	nodes = m->pages.value_nodes;
	if (trace) {
		xa_replace(&m->pages, page->index, trace);
		m->nr_values++;
	} else {
		xa_erase(&m->pages, page->index);
	}
	mapping_note_traces(m, nodes);
	m->nr_pages--;
	WRITE_ONCE(page->mapping, NULL);
	page_ref_unfreeze(page, 1);
	spin_unlock_irqrestore_l(&m->lock, flags, "pagecache_remove");
	if (unlikely(page_test(page, PG_private)))
		left_index(m, page, false);
	else
		mod_lruvec_state(page, NR_FILE_PAGES, -1);
	return true;
}

bool mapping_remove_unused(struct mapping *m, struct page *page)
{
	return remove_unused(m, page, false);
}

/*
 * The page has just become dirty: tag, books, and word to the device's flusher. Should truncation
 * have taken the page meanwhile, its entry in the books is either both lines or none.
 */
static noinline void became_dirty(struct mapping *m, struct page *page)
{
	unsigned long flags;
	bool dirty;

	spin_lock_irqsave_l(&m->lock, flags, "set_dirty");
	dirty = page_test(page, PG_dirty);
	if (likely(page->mapping == m)) {
		if (likely(dirty)) /* else its writing begins just now */
			xa_set_tag(&m->pages, page->index, XA_DIRTY);
		dirty = true;
	} else if (dirty) {
		dirty = !page_test_and_clear(page, PG_dirty);
	} else {
		dirty = true; /* whoever cleared it has written his line */
	}
	spin_unlock_irqrestore_l(&m->lock, flags, "set_dirty");
	if (!dirty)
		return;
	mapping_account_dirtied(m, page);
	trace_event(writeback_dirty_page, (u64)(m->bdi ? m->bdi->trace_name : "none"),
		    (u64)m->owner, page->index);
	/* Who takes MAPD_PAGES back looks at the tags under m->lock afterwards: no barrier here. */
	if (m->bdi && unlikely(!(READ_ONCE(m->dirty) & MAPD_PAGES)))
		mapping_mark_dirty(m, MAPD_PAGES);
}

void pagecache_set_dirty(struct page *page)
{
	struct mapping *m = READ_ONCE(page->mapping);

	if (page_test(page, PG_dirty) || page_test_and_set(page, PG_dirty))
		return;
	/* their home is memory or swap */
	if (page_test(page, PG_anon) || !m || mapping_is_shmem(m))
		return;
	became_dirty(m, page);
}

/*
 * Makes the missing page of a SHMEM mapping: zeroed, uptodate, in the index. ERR_PTR(-EEXIST):
 * somebody was faster.
 */
static struct page *shmem_make(struct mapping *m, unsigned long index, struct page **fresh)
{
	int err = mapping_charge(m, 1);
	struct page *page;

	if (err)
		return ERR_PTR(err);
	if (fresh && *fresh) {
		page = *fresh;
		*fresh = NULL;
	} else {
		page = alloc_page(m->gfp | __GFP_ZERO);
	}
	if (!page) {
		mapping_charge(m, -1);
		return ERR_PTR(-ENOMEM);
	}
	page->flags |= BIT(PG_uptodate) | BIT(PG_homed) | BIT(PG_dirty); /* memory is its home */
	err = pagecache_add(m, index, page, m->gfp);
	if (!err)
		return page;
	page_put(page);
	mapping_charge(m, -1);
	return ERR_PTR(err);
}

/*
 * Makes the missing page of a file and starts reading it (or, when it will be overwritten, zeroes
 * it). => as above
 */
static struct page *file_make(struct mapping *m, unsigned long index, unsigned int flags)
{
	bool read = !(flags & PCG_WRITE) && m->ops && m->ops->read_page;
	struct page *page = alloc_page(m->gfp | (read ? 0 : __GFP_ZERO));
	int err;

	if (!page)
		return ERR_PTR(-ENOMEM);
	page->flags |= read ? BIT(PG_locked) : BIT(PG_uptodate);
	err = pagecache_add(m, index, page, m->gfp);
	if (err) {
		page->flags &= ~BIT(PG_locked);
		page_put(page);
		return ERR_PTR(err);
	}
	if (read) {
		err = m->ops->read_page(m, page); /* unlocks */
		if (err) {
			page_put(page);
			return ERR_PTR(err);
		}
	}
	return page;
}

/*
 * A found page that is not uptodate or is wanted locked: waits, reads it again after an error. The
 * page (locked when asked for), NULL when it was taken out meanwhile, or ERR_PTR. Consumes the
 * reference unless the page is returned.
 */
static struct page *page_settle(struct mapping *m, struct page *page, unsigned int flags)
{
	for (int tries = 0;; tries++) {
		page_lock(page);
		if (page->mapping != m) {
			page_unlock(page);
			page_put(page);
			return NULL;
		}
		if (page_test(page, PG_uptodate) || (flags & PCG_WRITE) || !m->ops ||
		    !m->ops->read_page) {
			if (!(flags & PCG_LOCK))
				page_unlock(page);
			return page;
		}
		/* It was read once in vain already: once more, then it is an error. */
		if (tries == 1 || m->ops->read_page(m, page)) {
			if (tries == 1)
				page_unlock(page);
			page_put(page);
			return ERR_PTR(-EIO);
		}
	}
}

/* A page that was in swap is counted as a fault that had to read, when it was a fault. */
static noinline struct page *shmem_back(struct mapping *m, unsigned long index, void *value,
					bool fault)
{
	bool major = false;
	struct page *page = shmem_swap_in(m, index, value, &major);

	if (fault && major) {
		current->maj_flt++;
		current->min_flt--; /* counted when it began */
		count_vm_event(PGMAJFAULT);
	}
	return page;
}

/* ERR_PTR(-EEXIST): there is one by now, or was: look again. */
static struct page *shmem_absent(struct mapping *m, unsigned long index, unsigned int flags,
				 struct page **fresh)
{
	void *item = unlikely(shmem_may_be_swapped(m)) ? mapping_item(m, index) : NULL;

	if (unlikely(item))
		return xa_is_value(item) ? shmem_back(m, index, item, fresh != NULL)
					 : ERR_PTR(-EEXIST);
	return flags & PCG_CREATE ? shmem_make(m, index, fresh) : NULL;
}

struct page *shmem_missing(struct mapping *m, unsigned long index)
{
	return shmem_may_be_swapped(m) ? pagecache_get(m, index, 0) : NULL;
}

struct page *pagecache_get_with(struct mapping *m, unsigned long index, unsigned int flags,
				struct page **fresh)
{
	for (;;) {
		struct page *page = mapping_find_get(m, index);

		if (!page) {
			page = mapping_is_shmem(m) ? shmem_absent(m, index, flags, fresh)
						   : file_make(m, index, flags);
			if (!page)
				return NULL;
			if (IS_ERR(page)) {
				if (PTR_ERR(page) == -EEXIST)
					continue;
				return page;
			}
		}
		if (likely(page_test(page, PG_uptodate) && !(flags & PCG_LOCK)))
			return page;
		page = page_settle(m, page, flags);
		if (page)
			return page;
	}
}

struct page *pagecache_get(struct mapping *m, unsigned long index, unsigned int flags)
{
	return pagecache_get_with(m, index, flags, NULL);
}

u64 pagecache_seek(struct mapping *m, u64 pos, bool hole)
{
	unsigned long index = pos >> PAGE_SHIFT;
	u64 size = READ_ONCE(m->size), found;

	if (!mapping_is_shmem(m))
		return hole ? size : pos;
	if (!hole) { /* a value is data: a page in swap */
		void *item;

		rcu_read_lock();
		item = xa_find(&m->pages, &index, ~0ul);
		rcu_read_unlock();
		found = (u64)index << PAGE_SHIFT;
		return item ? min(max(found, pos), size) : size;
	}
	for (;;) {
		void *item;

		rcu_read_lock();
		item = xa_load(&m->pages, index);
		rcu_read_unlock();
		found = (u64)index << PAGE_SHIFT;
		if (!item || found >= size)
			return min(max(found, pos), size);
		index++;
		cond_resched();
	}
}

/* One clean, unused page leaves the cache; true when it did. */
static bool drop_one(struct mapping *m, struct page *page)
{
	bool gone;

	if (page_test(page, PG_dirty) || page_test(page, PG_writeback) || !page_trylock(page))
		return false;
	gone = page->mapping == m && mapping_remove_unused(m, page);
	page_unlock(page);
	return gone;
}

static bool reclaim_drop(struct page *page)
{
	struct mapping *m = page->mapping;

	return m && !page_test(page, PG_anon) && !mapping_is_shmem(m) &&
	       remove_unused(m, page, true);
}

/* Pages of [first, last] that can go, go. *stayed counts the others. */
static unsigned long drop_indexes(struct mapping *m, unsigned long first, unsigned long last,
				  unsigned long *stayed)
{
	unsigned long index = first, freed = 0;
	struct page *page;

	while ((page = mapping_next_get(m, &index, last))) {
		bool gone = drop_one(m, page);

		page_put(page);
		freed += gone;
		*stayed += !gone;
		if (index++ == last)
			break;
		cond_resched();
	}
	return freed;
}

unsigned long pagecache_drop_range(struct mapping *m, u64 from, u64 to)
{
	unsigned long first = PFN_UP(from), end = to >> PAGE_SHIFT, stayed = 0;

	if (mapping_is_shmem(m) || first >= end)
		return 0;
	return drop_indexes(m, first, end - 1, &stayed);
}

unsigned long pagecache_invalidate(struct mapping *m, unsigned long first, unsigned long last)
{
	unsigned long stayed = 0;

	if (!m->nr_pages)
		return 0;
	down_write(&m->truncate_lock);
	if (mapping_mapped(m) && mapping_unmap_hook)
		mapping_unmap_hook(m, first, last, 0);
	drop_indexes(m, first, last, &stayed);
	up_write(&m->truncate_lock);
	return stayed;
}

unsigned long pagecache_drop_clean(void)
{
	unsigned long freed = 0, stayed = 0;
	struct mapping *m;

	mutex_lock(&mappings_lock);
	list_for_each_entry(m, &mappings, all_node)
		freed += drop_indexes(m, 0, ~0ul, &stayed);
	mutex_unlock(&mappings_lock);
	return freed;
}

/* One node of a file's index, from *index on. => 1 if it went */
static unsigned long forget_node(struct mapping *m, unsigned long *index)
{
	unsigned long flags;
	unsigned int n;
	u32 nodes;

	spin_lock_irqsave_l(&m->lock, flags, "forget_traces");
	nodes = m->pages.value_nodes;
	n = xa_forget_values(&m->pages, index);
	m->nr_values -= n;
	mapping_note_traces(m, nodes);
	spin_unlock_irqrestore_l(&m->lock, flags, "forget_traces");
	return n != 0;
}

/* Round the files: each call goes on where the last one ended. */
unsigned long mapping_forget_traces(unsigned long nr)
{
	unsigned long gone = 0, files = 0;
	struct mapping *m, *first = NULL;

	if (!mutex_trylock(&mappings_lock))
		return 0;
	while (gone < nr && !list_empty(&mappings)) {
		m = list_first_entry(&mappings, struct mapping, all_node);
		if (m == first)
			break; /* once round */
		if (!first)
			first = m;
		list_move_tail(&m->all_node, &mappings);
		if (READ_ONCE(m->pages.value_nodes)) {
			unsigned long index = 0;

			do {
				gone += forget_node(m, &index);
				cond_resched();
			} while (index && gone < nr);
		}
		if (!(++files % 64))
			cond_resched();
	}
	mutex_unlock(&mappings_lock);
	return gone;
}

bool mapping_check(struct mapping *m)
{
	unsigned long index = 0, pages = 0, values = 0;
	struct page *page;

	if (xa_check(&m->pages) != (long)(m->nr_pages + (mapping_is_shmem(m) ? 0 : m->nr_values)))
		return false;
	while ((page = xa_find(&m->pages, &index, ~0ul))) {
		if (xa_is_value(page)) {
			if (mapping_is_shmem(m) &&
			    swap_count((swp_entry_t){ xa_to_value(page) }) != 1)
				return false;
			values++;
		} else if (page->mapping != m || page->index != index ||
			   atomic_read(&page->refs) < 1) {
			return false;
		} else {
			pages++;
		}
		if (!++index)
			break;
	}
	return values == m->nr_values && pages == m->nr_pages - (mapping_is_shmem(m) ? values : 0);
}
