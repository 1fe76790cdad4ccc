/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * migrate.c - a page of the cache changes its frame: the exchange in the index.
 *
 * In one section of mapping->lock the old page's count is frozen, which proves that nobody but the
 * index and the mover has it, the new page takes its slot (tags stay with the slot), and dirtiness
 * moves with it. The contents follow afterwards: the new page is locked and not uptodate until they
 * are there, and whoever finds it waits for that, as for a page being read.
 */
#include "lib/errno.h"
#include "mm/cache/internal.h"

/* => m->lock, old frozen */
static int exchange(struct mapping *m, struct page *old, struct page *new, bool *dirty)
{
	if (page_test(old, PG_private)) {
		int err = m->ops && m->ops->page_migrate ? m->ops->page_migrate(m, old, new)
							 : -EAGAIN;

		if (err)
			return err;
	}
	new->index = old->index;
	new->mapping = m;
	page_get(new);
	*dirty = page_test_and_clear(old, PG_dirty);
	if (*dirty)
		page_set(new, PG_dirty);
	xa_replace(&m->pages, old->index, new);
	WRITE_ONCE(old->mapping, NULL);
	return 0;
}

int pagecache_replace(struct page *old, struct page *new)
{
	struct mapping *m = old->mapping;
	unsigned long flags;
	bool dirty = false;
	int err = -EAGAIN;

	ASSERT(page_test(old, PG_locked) && page_test(new, PG_locked));
	ASSERT(!page_test(old, PG_writeback) && !page_mapped(old));
	spin_lock_irqsave_l(&m->lock, flags, "cache_replace");
	if (page_ref_freeze(old, 2)) {
		err = exchange(m, old, new, &dirty);
		page_ref_unfreeze(old, err ? 2 : 1);
	}
	spin_unlock_irqrestore_l(&m->lock, flags, "cache_replace");
	if (err)
		return err;
	if (mapping_is_shmem(m)) {
		mod_lruvec_state_pair(old, NR_FILE_PAGES, NR_SHMEM, -1);
		mod_lruvec_state_pair(new, NR_FILE_PAGES, NR_SHMEM, 1);
		return 0;
	}
	mod_lruvec_state(old, NR_FILE_PAGES, -1);
	mod_lruvec_state(new, NR_FILE_PAGES, 1);
	if (dirty) {
		mod_lruvec_state(old, NR_DIRTY, -1);
		mod_lruvec_state(new, NR_DIRTY, 1);
	}
	return 0;
}
