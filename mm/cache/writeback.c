// SPDX-License-Identifier: BSD-2-Clause
/*
 * writeback.c - one page's way from dirty to clean, and the walk over a mapping's dirty pages.
 *
 *   state        PG_dirty PG_writeback  tags            who may go on
 *   clean           0         0         -
 *   dirty           1         0         DIRTY           whoever holds the page lock
 *   being written   0         1         WRITEBACK       the device's softirq
 *   redirtied       1         1         DIRTY WRITEBACK the softirq; a next writer waits for it
 *
 * Problem: pages are dirtied, written, truncated and mapped at the same time. Idea: PG_dirty is
 * cleared before the page is write-protected in its mappers' tables, and the tags move under
 * mapping->lock together with a look at PG_dirty: so a store that comes later makes the page dirty
 * again and no store is lost. A page under writeback does not leave its mapping; the end clears the
 * tag, tells the error and only then PG_writeback, and touches the page no more.
 * A walk for data integrity first marks what is dirty now (XA_TOWRITE) and then writes only marked
 * pages: a busy writer cannot keep it going.
 *
 * Tag changes: mapping->lock, IRQs off, one page a section (marking: one node of the index).
 */
#include "mm/cache/internal.h"
#include "mm/cache/wb.h"
#include "mm/reclaim/lruvec.h"

#define WALK_BATCH 16

DEFINE_EVENT(writeback, writeback_dirty_page, "bdi %s: owner=%lx index=%lu", "name", "ino",
	     "index");
DEFINE_EVENT(writeback, wbc_writepage,
	     "bdi %s: towrt=%ld skip=%ld mode=%lu kupd=%lu bgrd=%lu reclm=%lu cyclic=%lu", "name",
	     "nr_to_write", "pages_skipped", "sync_mode", "for_kupdate", "for_background",
	     "for_reclaim", "range_cyclic");

bool page_clear_dirty_for_io(struct page *page)
{
	struct mapping *m = page->mapping;

	if (!page_test_and_clear(page, PG_dirty))
		return false;
	/*
	 * Only now: a fault that makes the entry writable again looks at PG_dirty afterwards. What
	 * the entries held is written with this write.
	 */
	if (page_mapped(page) && mapping_mkclean_hook)
		mapping_mkclean_hook(page);
	mapping_account_cleaned(m, page);
	return true;
}

void page_start_writeback(struct page *page)
{
	struct mapping *m = page->mapping;
	struct bdi *bdi = m->bdi;
	unsigned long flags, bits = BIT(PG_writeback);

	ASSERT(!page_test(page, PG_writeback));
	if (bdi) { /* counted before the dirty tag goes: bdi.c */
		u32 half = READ_ONCE(bdi->wb_epoch) & 1;

		atomic_long_inc(&bdi->inflight[half]);
		bits |= half ? BIT(PG_wb_epoch) : 0;
	}
	__atomic_fetch_or(&page->flags, bits, __ATOMIC_SEQ_CST);
	spin_lock_irqsave_l(&m->lock, flags, "start_writeback");
	xa_set_tag(&m->pages, page->index, XA_WRITEBACK);
	xa_clear_tag(&m->pages, page->index, XA_TOWRITE);
	if (!page_test(page, PG_dirty))
		xa_clear_tag(&m->pages, page->index, XA_DIRTY);
	spin_unlock_irqrestore_l(&m->lock, flags, "start_writeback");
	mod_lruvec_state(page, NR_WRITEBACK, 1);
}

void pagecache_end_writeback(struct page *page, int error)
{
	struct mapping *m = page->mapping; /* stays while PG_writeback is set */
	struct bdi *bdi = m->bdi;
	u32 half = page_test(page, PG_wb_epoch);
	unsigned long flags;

	if (unlikely(error)) {
		page_set(page, PG_error);
		mapping_set_error(m, error);
	}
	spin_lock_irqsave_l(&m->lock, flags, "end_writeback");
	xa_clear_tag(&m->pages, page->index, XA_WRITEBACK);
	spin_unlock_irqrestore_l(&m->lock, flags, "end_writeback");
	mod_lruvec_state(page, NR_WRITEBACK, -1);
	mod_lruvec_state(page, NR_WRITTEN, 1);
	if (!bdi) {
		page_end_writeback(page);
		return;
	}
	bdi_stat_add(bdi, BDI_WRITTEN, 1);
	/* Neither page nor mapping are ours after this; the device is (bdi_unregister waits). */
	rcu_read_lock();
	page_end_writeback(page);
	if (atomic_long_dec_and_test(&bdi->inflight[half]) && wait_queue_active(&bdi->drained))
		wake_up_all(&bdi->drained);
	rcu_read_unlock();
}

void page_redirty(struct writeback_control *wbc, struct page *page)
{
	struct mapping *m = page->mapping;

	wbc->pages_skipped++;
	if (page_test(page, PG_dirty))
		return;
	pagecache_set_dirty(page);
	/* Not newly dirtied: neither this thread nor the device shall be held for it. */
	mod_lruvec_state(page, NR_DIRTIED, -1);
	if (m->bdi) {
		bdi_stat_add(m->bdi, BDI_DIRTIED, -1);
		if (current->nr_dirtied)
			current->nr_dirtied--;
	}
}

void page_cancel_dirty(struct page *page)
{
	struct mapping *m = page->mapping;
	unsigned long flags;

	if (!m || !page_test_and_clear(page, PG_dirty))
		return;
	spin_lock_irqsave_l(&m->lock, flags, "cancel_dirty");
	if (!page_test(page, PG_dirty)) {
		xa_clear_tag(&m->pages, page->index, XA_DIRTY);
		xa_clear_tag(&m->pages, page->index, XA_TOWRITE);
	}
	spin_unlock_irqrestore_l(&m->lock, flags, "cancel_dirty");
	mapping_account_cleaned(m, page);
}

void mapping_set_error(struct mapping *m, int err)
{
	if (!err)
		return;
	/* What Linux tells: no space as itself, all else as an I/O error. */
	err = err == -ENOSPC || err == -EDQUOT ? err : -EIO;
	errseq_set(&m->wb_err, err);
	if (m->bdi)
		errseq_set(&m->bdi->wb_err, err);
}

/* ---- the walk ---- */

/* Marks the pages that are dirty now, a node of the index (64 pages) at a time. */
static void mark_towrite(struct mapping *m, unsigned long first, unsigned long last)
{
	unsigned long flags, index = first;
	bool more;

	do {
		spin_lock_irqsave_l(&m->lock, flags, "mark_towrite");
		more = xa_copy_tag(&m->pages, &index, last, XA_DIRTY, XA_TOWRITE);
		spin_unlock_irqrestore_l(&m->lock, flags, "mark_towrite");
		cond_resched();
	} while (more && index++ < last);
}

/* The next tagged pages from *index on, referenced. false in *more: there are none behind. */
static unsigned int next_tagged(struct mapping *m, unsigned long *index, unsigned long last,
				enum xa_tag tag, struct page **pages, bool *more)
{
	unsigned int n = 0;

	rcu_read_lock();
	while (n < WALK_BATCH) {
		struct page *page = xa_find_tag(&m->pages, index, last, tag);

		if (!page) {
			*more = false;
			break;
		}
		if (!page_get_unless_zero(page)) {
			rcu_read_unlock();
			cpu_relax(); /* being taken out: look again */
			rcu_read_lock();
			continue;
		}
		pages[n++] = page;
		if (*index == last) {
			*more = false;
			break;
		}
		++*index;
	}
	rcu_read_unlock();
	return n;
}

/* A tag nothing stands behind (dirt dropped, or a write that failed before it began) goes. */
static void drop_stale_tags(struct mapping *m, struct page *page)
{
	unsigned long flags;

	spin_lock_irqsave_l(&m->lock, flags, "stale_tags");
	if (page->mapping == m && !page_test(page, PG_dirty)) {
		xa_clear_tag(&m->pages, page->index, XA_DIRTY);
		xa_clear_tag(&m->pages, page->index, XA_TOWRITE);
	}
	spin_unlock_irqrestore_l(&m->lock, flags, "stale_tags");
}

/* true: locked, and its dirt is ours to write. */
static bool claim(struct mapping *m, struct page *page, struct writeback_control *wbc)
{
	if (!page_trylock(page)) {
		if (wbc->sync == WB_SYNC_NONE) {
			wbc->pages_skipped++;
			return false;
		}
		page_lock(page);
	}
	if (page->mapping == m) {
		if (!page_test(page, PG_dirty)) {
			drop_stale_tags(m, page);
		} else {
			if (page_test(page, PG_writeback) && wbc->sync == WB_SYNC_ALL)
				page_wait_writeback(page);
			if (!page_test(page, PG_writeback) && page_clear_dirty_for_io(page))
				return true;
		}
	}
	page_unlock(page);
	return false;
}

static int write_claimed(struct mapping *m, struct page *page, struct writeback_control *wbc,
			 int (*write_page)(struct mapping *m, struct page *page,
					   struct writeback_control *wbc))
{
	long skipped = wbc->pages_skipped;
	int err;

	trace_event(wbc_writepage, (u64)(m->bdi ? m->bdi->trace_name : "none"),
		    (u64)wbc->nr_to_write, (u64)wbc->pages_skipped, wbc->sync, wbc->for_kupdate,
		    wbc->for_background, wbc->for_reclaim, wbc->range_cyclic);
	err = write_page(m, page, wbc);
	if (unlikely(err))
		drop_stale_tags(m, page);
	if (likely(wbc->pages_skipped == skipped)) /* a page put back is no progress */
		wbc->nr_to_write--;
	return err;
}

/* Pages [first, last]; *done: where to go on (range_cyclic). 0 or the first error. */
static int write_range(struct mapping *m, struct writeback_control *wbc, unsigned long first,
		       unsigned long last, unsigned long *done,
		       int (*write_page)(struct mapping *m, struct page *page,
					 struct writeback_control *wbc))
{
	enum xa_tag tag = wbc->tagged ? XA_TOWRITE : XA_DIRTY;
	struct page *pages[WALK_BATCH];
	unsigned long index = first;
	bool more = true;
	int ret = 0;

	*done = first;
	while (more) {
		unsigned int n = next_tagged(m, &index, last, tag, pages, &more), i;

		for (i = 0; i < n; i++) {
			unsigned long at = pages[i]->index;
			int err;

			if (!claim(m, pages[i], wbc))
				continue;
			err = write_claimed(m, pages[i], wbc, write_page);
			*done = at + 1;
			ret = ret ? ret : err;
			/*
			 * Integrity: everything is tried. Else an error or a used-up chunk ends it.
			 */
			if (wbc->sync == WB_SYNC_NONE && (err || wbc->nr_to_write <= 0)) {
				more = false;
				break;
			}
		}
		if (!more && i < n) {
			release_pages(pages, n);
			return ret;
		}
		release_pages(pages, n);
		cond_resched();
	}
	*done = 0; /* came to the end */
	return ret;
}

int mapping_write_generic(struct mapping *m, struct writeback_control *wbc,
			  int (*write_page)(struct mapping *m, struct page *page,
					    struct writeback_control *wbc))
{
	unsigned long first = wbc->range_start >> PAGE_SHIFT, last = wbc->range_end >> PAGE_SHIFT;
	unsigned long done;
	int err;

	if (wbc->range_cyclic) {
		first = m->writeback_index;
		last = ~0ul >> PAGE_SHIFT;
	}
	if (wbc->tagged)
		mark_towrite(m, first, last);
	err = write_range(m, wbc, first, last, &done, write_page);
	if (wbc->range_cyclic) {
		/* From the start again, for what lies before where we began. */
		if (!err && !done && first && wbc->nr_to_write > 0)
			err = write_range(m, wbc, 0, first - 1, &done, write_page);
		m->writeback_index = done;
	}
	return err;
}

int mapping_write_pages(struct mapping *m, struct writeback_control *wbc)
{
	int err = 0;

	if (m->ops->write_pages)
		err = m->ops->write_pages(m, wbc);
	else if (m->ops->write_page)
		err = mapping_write_generic(m, wbc, m->ops->write_page);
	if (err < 0)
		mapping_set_error(m, err);
	return err;
}

static bool has_tag(struct mapping *m, enum xa_tag tag)
{
	bool tagged;

	rcu_read_lock();
	tagged = xa_tagged(&m->pages, tag);
	rcu_read_unlock();
	return tagged;
}

int mapping_start_writeback(struct mapping *m, u64 from, u64 to, enum wb_sync sync,
			    enum wb_reason reason)
{
	struct writeback_control wbc = { .sync = sync,
					 .reason = reason,
					 .tagged = sync == WB_SYNC_ALL,
					 .nr_to_write = S64_MAX,
					 .range_start = from,
					 .range_end = to };

	if (!m->bdi || (m->bdi->capabilities & BDI_CAP_NO_WRITEBACK) || !has_tag(m, XA_DIRTY))
		return 0;
	return mapping_write_pages(m, &wbc);
}

void mapping_wait_writeback(struct mapping *m, u64 from, u64 to)
{
	unsigned long index = from >> PAGE_SHIFT, last = to >> PAGE_SHIFT;
	struct page *pages[WALK_BATCH];
	bool more = true;

	if (!has_tag(m, XA_WRITEBACK))
		return;
	while (more) {
		unsigned int n = next_tagged(m, &index, last, XA_WRITEBACK, pages, &more);

		for (unsigned int i = 0; i < n; i++)
			page_wait_writeback(pages[i]);
		release_pages(pages, n);
		cond_resched();
	}
}

int mapping_sync_range(struct mapping *m, u64 from, u64 to)
{
	int err = mapping_start_writeback(m, from, to, WB_SYNC_ALL, WB_REASON_SYNC);

	mapping_wait_writeback(m, from, to);
	return err;
}
