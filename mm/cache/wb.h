/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wb.h - what the files of writeback share: lists, orders, names of reasons. Private to mm/cache.
 */
#ifndef MM_CACHE_WB_H
#define MM_CACHE_WB_H

#include "kernel/event.h"
#include "mm/cache/writeback.h"

extern const char *const wb_reason_name[NR_WB_REASONS];

/* ---- wb.c: lists. => wb->list_lock held unless said otherwise ---- */
/* b_more_io and what is older than the tick (0: all) go to b_io; number of mappings there. */
unsigned long wb_queue_io(struct wb *wb, u64 older_than);
/*
 * Off the lists when clean, else to the list the rules say. => MAPD_SYNCING set; true: the caller
 * calls wb_release(m) after it dropped list_lock
 */
bool wb_requeue(struct wb *wb, struct mapping *m, const struct writeback_control *wbc);
/* Back to b_dirty as if just dirtied, unless that would break the order by time. */
void wb_redirty_tail(struct wb *wb, struct mapping *m);
/* Off its list. => the caller releases afterwards */
void wb_dequeue(struct wb *wb, struct mapping *m);
void wb_sync_done(struct wb *wb, struct mapping *m); /* clears MAPD_SYNCING, wakes who waits */
/* Waits until MAPD_SYNCING is clear. => list_lock held, dropped meanwhile */
void wb_wait_syncing(struct wb *wb, struct mapping *m);
static inline void wb_release(struct mapping *m)
{
	if (m->ops->release)
		m->ops->release(m); /* m may be gone */
}
void wb_arm_timer(struct wb *wb); /* if something is dirty and periodic writing is on */
/* One mapping: pages, then attributes. => MAPD_SYNCING set, no lock; 0 or the first error */
int wb_write_single(struct wb *wb, struct mapping *m, struct writeback_control *wbc);

/* ---- flusher.c ---- */
void wb_queue_work(struct wb *wb, struct wb_work *work); /* => work->done set, any context */
int wb_flusher(void *wb);				 /* the thread */

/* ---- balance.c ---- */
/* Estimators and proportions of the device, when their time has come. => any thread context */
void wb_update_estimates(struct wb *wb);
/* What one look at a device's place gave, for tables. */
struct wb_position {
	unsigned long bg, limit, dirty, dirty_writeback; /* the machine */
	unsigned long bdi_limit, task_limit, bdi_reclaimable, bdi_writeback;
	u32 max_pause, min_pause; /* ticks */
};
void wb_position(struct wb *wb, struct wb_position *p);

DECLARE_EVENT(writeback_dirty_page);
DECLARE_EVENT(writeback_dirty_inode);

#endif
