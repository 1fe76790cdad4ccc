/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * writeback.h - the way of dirty pages to their device, and the brake on those who make them.
 *
 *   write(2), store  -> pagecache_set_dirty -> mapping on wb->b_dirty -> balance_dirty_pages
 *   flusher, fsync   -> mapping_write_pages -> ops->write_page: page_start_writeback, bio
 *   disk's softirq   -> pagecache_end_writeback
 *
 * A mapping on a wb list holds its owner (ops->hold), so an inode with something to write stays.
 */
#ifndef MM_CACHE_WRITEBACK_H
#define MM_CACHE_WRITEBACK_H

#include "lib/errseq.h"
#include "mm/cache/bdi.h"
#include "mm/cache/mapping.h"

enum wb_reason { /* names as in Linux's trace events */
		 WB_REASON_BACKGROUND,
		 WB_REASON_VMSCAN,
		 WB_REASON_SYNC,
		 WB_REASON_PERIODIC,
		 WB_REASON_LAPTOP_TIMER,
		 WB_REASON_FREE_MORE_MEM,
		 WB_REASON_FS_FREE_SPACE,
		 WB_REASON_FORKER_THREAD,
		 NR_WB_REASONS
};
enum wb_sync { WB_SYNC_NONE, WB_SYNC_ALL };

/* control-struct of one round of writing */
struct writeback_control {
	long nr_to_write;	    /* falls with each page written */
	long pages_skipped;	    /* locked, or redirtied by the file system */
	u64 range_start, range_end; /* bytes, end inclusive; [0, U64_MAX] everything */
	u8 sync;		    /* enum wb_sync: wait for locks and for writeback in flight */
	u8 reason;		    /* enum wb_reason */
	u8 for_background, for_kupdate, for_reclaim, for_sync;
	u8 range_cyclic; /* go on at m->writeback_index */
	u8 tagged;	 /* XA_TOWRITE marks the pages dirty now; later ones wait */
	u64 older_than;	 /* tick; 0: all */
	void *fs;	 /* the file system's: bio being gathered */
};

/* ---- one page. => page locked unless said otherwise ------------------------------------------ */
/* Dirty no more because it will be written now; mapped: entries are write-protected first. */
bool page_clear_dirty_for_io(struct page *page); /* false: it was clean */
void page_start_writeback(struct page *page);	 /* then unlock it and submit */
/* The bio ended. => any context, not locked; error also goes to the mapping */
void pagecache_end_writeback(struct page *page, int error);
/* Could not be written now. */
void page_redirty(struct writeback_control *wbc, struct page *page);
/* Dirty is dropped without writing (truncation, freed metadata). */
void page_cancel_dirty(struct page *page);

/* ---- one mapping ---- */
#define MAPD_PAGES 1u	 /* has dirty pages */
#define MAPD_META 2u	 /* owner's attributes changed */
#define MAPD_DATASYNC 4u /* of these, some that fdatasync must write (size, block map) */
#define MAPD_SYNCING 8u	 /* the flusher, or a sync, works on it */
#define MAPD_QUEUED 16u	 /* on a wb list, owner held */
/* => any context that may take wb->list_lock (not under mapping->lock) */
void mapping_mark_dirty(struct mapping *m, u32 what);
/*
 * Writes dirty pages as wbc says: ops->write_pages, or the generic walk over the tags calling
 * ops->write_page. => may sleep; 0 or the first error
 */
int mapping_write_pages(struct mapping *m, struct writeback_control *wbc);
int mapping_write_generic(struct mapping *m, struct writeback_control *wbc,
			  int (*write_page)(struct mapping *m, struct page *page,
					    struct writeback_control *wbc));
/* Starts writing (sync != 0: everything, TOWRITE-tagged) bytes [from, to]. */
int mapping_start_writeback(struct mapping *m, u64 from, u64 to, enum wb_sync sync,
			    enum wb_reason reason);
/* Waits for writeback in flight. Errors are in m->wb_err: errseq_check_and_advance. */
void mapping_wait_writeback(struct mapping *m, u64 from, u64 to);
/* Both; the error of starting, if any. */
int mapping_sync_range(struct mapping *m, u64 from, u64 to);
/* Owner's attributes, if dirty (datasync: only MAPD_DATASYNC). */
int mapping_sync_owner(struct mapping *m, int datasync);
void mapping_set_error(struct mapping *m, int err); /* any context */
/*
 * The owner goes (or its last name went): off the lists, hold dropped, dirty pages stay until
 * truncation drops them. => waits for a flusher at work on it
 */
void mapping_undirty(struct mapping *m);

/* ---- devices ---- */
/* Asks the flusher for nr_pages (0: all that is dirty now). => any context */
void wb_start_writeback(struct wb *wb, long nr_pages, enum wb_reason reason);
void wakeup_flushers(long nr_pages, enum wb_reason reason); /* all devices */
void wb_start_background(struct wb *wb); /* look whether the machine is over its background limit */
/*
 * Everything that is dirty on the device now: files first, then block-device mappings; wait: until
 * it is written (no flush command: the file system does that). 0 or -EIO
 */
int bdi_sync(struct bdi *bdi, int wait);

/* ---- the brake ---- */
/*
 * Called by whoever dirtied pages of m, after each page, no lock but the inode's held: may sleep
 * for a computed time. Cheap until current->nr_dirtied reaches current->nr_dirtied_pause.
 */
void balance_dirty_pages(struct mapping *m);
static __always_inline void balance_dirty_pages_ratelimited(struct mapping *m)
{
	if (m->bdi && unlikely(current->nr_dirtied >= current->nr_dirtied_pause ||
			       READ_ONCE(m->bdi->wb.dirty_exceeded)))
		balance_dirty_pages(m);
}
/* Global figures in pages, as in the document's kernels (era). */
void dirty_limits(unsigned long *background, unsigned long *dirty);
unsigned long dirtyable_pages(void);
void writeback_init(void); /* => before the first bdi */

#endif
