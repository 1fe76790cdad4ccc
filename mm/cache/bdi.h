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

#include "kernel/preempt.h"
#include "kernel/spinlock.h"
#include "kernel/time.h"
#include "lib/errseq.h"
#include "lib/list.h"
#include "mm/cache/dirty.h"
#include "mm/cache/throttle.h"
#include "sched/mutex.h"
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

/* One order to the flusher. */
struct wb_work {
	struct list_head node; /* (k) */
	long nr_pages;
	u64 older_than; /* tick: mappings dirtied after it are left */
	u8 sync;	/* enum wb_sync */
	u8 reason;	/* enum wb_reason */
	u8 which;	/* WBW_* */
	u8 for_kupdate, for_background, for_sync, range_cyclic;
	struct completion *done; /* NULL: one of wb->pool */
};
#define WBW_ALL 0u
#define WBW_FILES 1u /* no block-device mappings */
#define WBW_BDEV 2u  /* only those */
#define WB_POOL 8u   /* explicit orders at a time for which nobody waits */

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
	struct wb_work pool[WB_POOL];
	u32 pool_used;	      /* (k) bit i: pool[i] is queued or at work */
	u32 state;	      /* WB_* bits (a) */
	u32 start_all_reason; /* enum wb_reason */
	u64 last_old_flush;   /* tick of the last periodic round */
	u64 timer_armed;      /* times the periodic timer was set, for tests */
	struct thread *flusher;
	struct wait_queue wait;	 /* the flusher sleeps here */
	struct timer timer;	 /* periodic; armed only while something is dirty (w) */
	struct throttle_est est; /* (e) */
	u32 dirty_exceeded;
	u64 written_counted;	       /* (e) pages written that completions knows of */
	struct prop_local completions; /* (e) */
};
#define WB_KICK 1u	/* look for background work */
#define WB_TIMER 2u	/* the periodic timer fired */
#define WB_START_ALL 4u /* write everything that is dirty now */
#define WB_RUNNING 8u	/* the flusher is at work */

struct bdi {
	char name[32]; /* "253:0" */
	dev_t dev;
	u32 ra_pages;		  /* largest readahead, pages [32] */
	u32 min_ratio, max_ratio; /* per cent of the dirty limit [0, 100] */
	u32 capabilities;	  /* BDI_CAP_* (o) */
	u32 congested;		  /* bit 0 async (write), bit 1 sync (read) (a) */
	s64 *stat;		  /* (a) per CPU: [NR_BDI_STATS] deltas, BDI_STAT_STRIDE apart */
	atomic_long_t total[NR_BDI_STATS];
	/*
	 * Pages under writeback, exact, in two halves: those started before and after the last
	 * change of wb_epoch. A sync changes it and waits for the old half to reach 0.
	 */
	atomic_long_t inflight[2];
	u32 wb_epoch;
	errseq_t wb_err;	   /* any failed write of the device */
	struct wait_queue drained; /* a half of inflight reached 0 */
	struct mutex sync_mutex;   /* one change of wb_epoch at a time */
	spinlock_t est_lock;	   /* estimators of wb */
	struct wb wb;		   /* the root group's */
	const char *trace_name;	   /* name, for ever */
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

/*
 * Counters with per-CPU deltas of at most bdi_stat_batch. BDI_WRITEBACK is exact (inflight) and
 * never added to by hand.
 */
#define BDI_STAT_STRIDE 8 /* one cache line per CPU */
extern s64 bdi_stat_batch;
unsigned long bdi_stat_error(void); /* bdi_stat may be off by so much */
/* => any context */
static __always_inline void bdi_stat_add(struct bdi *bdi, enum bdi_stat item, long n)
{
	s64 *p, v;

	preempt_disable_short();
	p = &bdi->stat[smp_processor_id() * BDI_STAT_STRIDE + item];
	v = *p + n;
	/* An interrupt may add between our look and our add: both are one instruction. */
	if (likely(v <= bdi_stat_batch && v >= -bdi_stat_batch))
		local_add64(p, n);
	else
		atomic_long_add(n, &bdi->total[item]);
	preempt_enable_short();
}
unsigned long bdi_stat(struct bdi *bdi, enum bdi_stat item);	 /* off by the CPUs' deltas */
unsigned long bdi_stat_sum(struct bdi *bdi, enum bdi_stat item); /* exact */
/*
 * Next registered device, NULL starts and ends. => rcu_read_lock, or nobody unregisters meanwhile
 */
struct bdi *bdi_next(struct bdi *bdi);

#endif
