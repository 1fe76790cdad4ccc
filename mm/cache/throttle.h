/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * throttle.h - the decisions of the brake on dirtying, as pure functions: no clock, no locks, no
 * globals. Time is in ticks (hz per second), memory in pages, bandwidth in pages per second.
 * throttle.c: at the position of [seed-001]; throttle_merged.c: the form that was merged later.
 */
#ifndef MM_CACHE_THROTTLE_H
#define MM_CACHE_THROTTLE_H

#include "lib/types.h"

/* What is known about one device's speed; both bandwidths start at 100 MB/s. */
#define THROTTLE_INIT_BW 25600ul
struct throttle_est {
	u64 stamp;				     /* tick of the last update */
	u64 written_stamp, dirtied_stamp;	     /* counts of pages then */
	unsigned long write_bw, avg_write_bw;	     /* pages per second written back */
	unsigned long throttle_bw;		     /* about write_bw / dirtiers */
	unsigned long avg_dirty, old_dirty;	     /* smoothed dirty + writeback pages */
	unsigned long ratelimit, balanced_ratelimit; /* merged form's throttle_bw */
};
void throttle_est_init(struct throttle_est *e, u64 now);

/* ---- the document's position ---- */
#define THROTTLE_BDI_SOFT 8	     /* throttling ramps over the top 1/8 below a device's limit */
#define THROTTLE_TASK_SOFT 16	     /* and over 1/16 below a task's limit */
u32 throttle_max_pause_hard(u32 hz); /* MAX_PAUSE: 200 ms */
/* 1 ms for 4 MiB of the device's limit, plus 2 ticks, at most MAX_PAUSE. */
u32 throttle_max_pause(unsigned long bdi_limit, u32 hz);
/* [seed-001]: about 10 ms for each doubling of the number of heavy dirtiers. */
u32 throttle_min_pause(unsigned long write_bw, unsigned long throttle_bw, u32 max, u32 hz);
/*
 * One update of all estimators: written pages so far and dirty + writeback pages now. false: too
 * early (less than 100 ms).
 */
bool throttle_update(struct throttle_est *e, u64 now, u64 written, unsigned long dirty,
		     unsigned long bdi_limit, u32 hz);

enum throttle_verdict {
	THROTTLE_FREE,	/* below the free run: leave */
	THROTTLE_THINK, /* thought long enough: leave without sleeping */
	THROTTLE_SLEEP,
	THROTTLE_HARD, /* sleep the whole max_pause: over a limit */
};
/* control-struct of one look of the loop: in above the line, out below */
struct throttle_look {
	unsigned long bdi_limit, task_limit; /* L, T */
	unsigned long bdi_dirty, avg_dirty;  /* D, smoothed */
	unsigned long throttle_bw;
	u64 now;
	u32 nr_dirtied; /* pages since the last look */
	u32 max_pause;	/* ticks */
	u32 hz;
	bool over_limit; /* the machine is over its dirty limit */
	u64 paused_when; /* in and out: tick at which the last pause ended */
	/* ---- */
	unsigned long bw;     /* allowed to this task */
	unsigned long period; /* ticks its pages are worth */
	s64 pause;	      /* ticks; 1 with THROTTLE_THINK */
};
enum throttle_verdict throttle_look(struct throttle_look *l);

/* nr_dirtied_pause of a task below the free run, or new: global or device figures in pages. */
u32 throttle_idle_pause(unsigned long limit, unsigned long dirty);
enum throttle_move { THROTTLE_KEEP, THROTTLE_IDLE, THROTTLE_GROW, THROTTLE_SHRINK, THROTTLE_SET };
/*
 * How nr_dirtied_pause moves after the loop; the new value in *nr. idle: idle value. before_patch:
 * min_pause is not looked at, only a pause of one tick makes it grow.
 */
enum throttle_move throttle_adapt(u32 *nr, s64 pause, u32 min_pause, u32 max_pause, bool below_bg,
				  bool before_patch, u32 idle);

/* ---- the merged form ---- */
#define RATELIMIT_CALC_SHIFT 10
struct throttle_pos {				 /* in */
	unsigned long limit, bg, freerun, dirty; /* the machine */
	unsigned long bdi_limit, bdi_dirty;	 /* the device */
	unsigned long write_bw;			 /* its avg_write_bw */
	unsigned long setpoint, bdi_setpoint,
		ratio; /* out; ratio: 1 << RATELIMIT_CALC_SHIFT is 1 */
};
void throttle_pos_ratio(struct throttle_pos *p);
/* Every 200 ms. false: too early. */
bool throttle_update_merged(struct throttle_est *e, u64 now, u64 written, u64 dirtied,
			    struct throttle_pos *p, u32 hz);
u32 throttle_max_pause_merged(unsigned long write_bw, unsigned long bdi_dirty, u32 hz);
/*
 * The pause to aim at, and the nr_dirtied_pause that makes it; below the value returned a task does
 * not sleep. scale: 10 ms more for each doubling of dirtiers (else 10 ms whoever dirties).
 */
u32 throttle_target_pause(unsigned long write_bw, unsigned long ratelimit,
			  unsigned long task_ratelimit, u32 max, u32 hz, bool scale,
			  u32 *nr_dirtied_pause);

#endif
