/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bdi.h - backing devices as the page cache sees them: who still has to be written (wb), how fast
 * the device takes it, how much of it is dirty, and whether it is congested. A disk embeds one.
 *
 * Locks: (w) wb->list_lock  (k) wb->work_lock, IRQs off  (e) bdi->est_lock  (a) atomic or per CPU
 * (o) set before bdi_register
 */
#ifndef MM_CACHE_BDI_H
#define MM_CACHE_BDI_H

#include "kernel/spinlock.h"
#include "kernel/time.h"
#include "lib/list.h"
#include "sched/wait.h"

struct bdi;
struct mapping;
struct memcg;

enum bdi_stat {
	BDI_RECLAIMABLE, /* dirty pages */
	BDI_WRITEBACK,	 /* pages being written */
	BDI_DIRTIED,	 /* ever dirtied */
	BDI_WRITTEN,	 /* ever written back */
	NR_BDI_STATS
};

/* The dirty mappings of one device (later: of one memory group on one device). */
struct wb {
	struct bdi *bdi;
	struct memcg *memcg; /* NULL: root */
	spinlock_t list_lock;
	struct list_head b_dirty;	 /* (w) by time of first dirtying, newest first */
	struct list_head b_io;		 /* (w) being written */
	struct list_head b_more_io;	 /* (w) need another round */
	unsigned long nr_dirty_mappings; /* (w) */
	spinlock_t work_lock;
	struct list_head work_list; /* (k) explicit work items */
	u32 state;		    /* WB_* bits (a) */
	u64 last_old_flush;	    /* tick of the last periodic round */
	struct thread *flusher;
	struct wait_queue wait; /* the flusher sleeps here */
	struct timer timer;	/* periodic; armed only while something is dirty */
	u64 bw_time_stamp, written_stamp, dirtied_stamp; /* (e) */
	unsigned long write_bandwidth;			 /* (e) pages per second */
	unsigned long avg_write_bandwidth;
	unsigned long
		throttle_bandwidth; /* document's position: about write_bandwidth / dirtiers */
	unsigned long dirty_ratelimit, balanced_dirty_ratelimit; /* merged form */
	unsigned long avg_dirty;
	u32 dirty_exceeded;
	u64 completions; /* of the floating proportion */
	u64 completions_period;
};

struct bdi {
	char name[32]; /* "253:0" */
	dev_t dev;
	u32 ra_pages;		  /* largest readahead, pages [32] */
	u32 min_ratio, max_ratio; /* per cent of the dirty limit [0, 100] */
	u32 capabilities;	  /* BDI_CAP_* (o) */
	u32 congested;		  /* bit 0 async (write), bit 1 sync (read) (a) */
	s64 *stat;		  /* (a) per CPU: [NR_BDI_STATS] deltas */
	atomic_long_t total[NR_BDI_STATS];
	spinlock_t est_lock; /* estimators of wb */
	struct wb wb;	     /* the root group's */
	struct list_head node;
	u32 registered;
};
#define BDI_CAP_NO_WRITEBACK 1u /* memory is the home: no accounting, no flusher */

/*
 * A flusher thread and a place in the lists. => may sleep; 0 or -ENOMEM. name and dev are set.
 */
int bdi_register(struct bdi *bdi);
/* Everything written or given up; the flusher ends. => may sleep, nobody dirties any more */
void bdi_unregister(struct bdi *bdi);
void bdi_stat_add(struct bdi *bdi, enum bdi_stat item, long n);	 /* any context */
unsigned long bdi_stat(struct bdi *bdi, enum bdi_stat item);	 /* off by the CPUs' deltas */
unsigned long bdi_stat_sum(struct bdi *bdi, enum bdi_stat item); /* exact */
/* Next registered device (referenced by its registration; RCU), NULL starts and ends. */
struct bdi *bdi_next(struct bdi *bdi);

#endif
