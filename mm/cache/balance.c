// SPDX-License-Identifier: BSD-2-Clause
/*
 * balance.c - the brake on those who make pages dirty.
 *
 * Who dirties pages of a device calls here each nr_dirtied_pause pages, looks at how much is dirty,
 * and sleeps; the flusher does all the writing. Three loops meet here:
 *
 *   1. per call    pause = pages / allowed bandwidth - time since the last pause  (throttle_look)
 *   2. 10 x / s    the device's speed, throttle_bw, smoothed dirty pages          (throttle_update)
 *   3. per call    nr_dirtied_pause: how many pages between two calls             (throttle_adapt)
 *
 * Switch dirty_throttle: 0 this is the position of [seed-001] (v4, after its patch 15), 1 the form
 * that was merged later. Switch min_pause (document 001): 0 only a pause of one tick makes
 * nr_dirtied_pause grow; 1 one of at most throttle_min_pause ticks does; 2 nr_dirtied_pause is set
 * to what makes the wanted pause, and shorter pauses are not slept.
 *
 * The flusher itself and who frees memory (TF_MEMALLOC) are not held: they clean. A fatal signal
 * ends the sleep and the loop. Estimators: one updater at a time (trylock); the others go on with
 * what is there. Source: [seed-001], [facts 3.2-3.4].
 */
#include "mm/cache/balance.h"

#include "kernel/event.h"
#include "mm/cache/internal.h"
#include "mm/cache/wb.h"
#include "mm/debug/vmstat.h"
#include "mm/phys/zone.h"
#include "sched/sched.h"

DEFINE_SWITCH(min_pause, 1, 0, 2, "001",
	      "nr_dirtied_pause grows after a pause of: 0 one tick, 1 up to 10 ms per doubling of "
	      "the dirtiers, 2 is set to what makes that pause");
DEFINE_SWITCH(dirty_throttle, 0, 0, 1, "001",
	      "the brake on dirtying: 0 as at the document's position, 1 as merged later (cubic "
	      "position ratio, balanced rate)");

DEFINE_EVENT(writeback, global_dirty_state,
	     "dirty=%lu writeback=%lu bg_thresh=%lu thresh=%lu limit=%lu dirtied=%lu written=%lu",
	     "nr_dirty", "nr_writeback", "background_thresh", "dirty_thresh", "dirty_limit",
	     "nr_dirtied", "nr_written");
DEFINE_EVENT(writeback, bdi_dirty_ratelimit,
	     "bdi %s: write_bw=%lu awrite_bw=%lu dirty_rate=%lu dirty_ratelimit=%lu "
	     "task_ratelimit=%lu balanced_dirty_ratelimit=%lu",
	     "bdi", "write_bw", "avg_write_bw", "dirty_rate", "dirty_ratelimit", "task_ratelimit",
	     "balanced_dirty_ratelimit");
DEFINE_EVENT(writeback, balance_dirty_pages,
	     "bdi %s: limit=%lu setpoint=%lu dirty=%lu bdi_setpoint=%lu bdi_dirty=%lu "
	     "dirty_ratelimit=%lu task_ratelimit=%lu dirtied=%lu dirtied_pause=%lu paused=%lu "
	     "pause=%ld period=%lu think=%ld",
	     "bdi", "limit", "setpoint", "dirty", "bdi_setpoint", "bdi_dirty", "dirty_ratelimit",
	     "task_ratelimit", "dirtied", "dirtied_pause", "paused", "pause", "period", "think");
DEFINE_EVENT(writeback, balance_min_pause, "bdi %s: min_pause=%lu max_pause=%lu move=%lu pause=%ld",
	     "bdi", "min_pause_ticks", "max_pause_ticks", "move", "pause");

#define CLEANER_STEP 64u /* pages between two looks of a thread that is not held */

/* control-struct of one call */
struct balance {
	struct wb *wb;
	struct wb_position pos;
	u32 pages;	       /* dirtied since the last call */
	s64 pause;	       /* ticks: of the last round, 0 none */
	u32 max_pause;	       /* of the last round */
	unsigned long task_bw; /* allowed to this task, last round */
	unsigned long period;
	u64 slept_ns;
	bool exceeded;
};

static u32 max_pause_for(u32 by_memory)
{
	long ms = READ_ONCE(max_pause_ms);

	return ms ? (u32)max(ms * HZ / 1000, 1l) : by_memory;
}

/* Dirty and under writeback of the device; exact when the counters' error would matter. */
static void read_bdi(struct bdi *bdi, struct wb_position *p)
{
	if (p->bdi_limit < 2 * bdi_stat_error())
		p->bdi_reclaimable = bdi_stat_sum(bdi, BDI_RECLAIMABLE);
	else
		p->bdi_reclaimable = bdi_stat(bdi, BDI_RECLAIMABLE);
	p->bdi_writeback = bdi_stat(bdi, BDI_WRITEBACK);
}

static void read_machine(struct wb_position *p)
{
	dirty_global(&p->dirty, &p->dirty_writeback);
	dirty_limits(&p->bg, &p->limit);
	trace_event(global_dirty_state, p->dirty, p->dirty_writeback - p->dirty, p->bg, p->limit,
		    p->limit, global_zone_state(NR_DIRTIED), global_zone_state(NR_WRITTEN));
}

static void read_device(struct wb *wb, struct wb_position *p)
{
	p->bdi_limit = dirty_bdi_limit_now(wb->bdi, p->limit);
	p->task_limit = dirty_task_limit_now(p->bdi_limit);
	read_bdi(wb->bdi, p);
	p->max_pause = max_pause_for(throttle_max_pause(p->bdi_limit, HZ));
	p->min_pause = throttle_min_pause(wb->est.write_bw, wb->est.throttle_bw, p->max_pause, HZ);
}

void wb_position(struct wb *wb, struct wb_position *p)
{
	read_machine(p);
	read_device(wb, p);
}

static void fill_pos(const struct wb *wb, const struct wb_position *p, struct throttle_pos *t)
{
	*t = (struct throttle_pos){ .limit = p->limit,
				    .bg = p->bg,
				    .freerun = dirty_freerun(p->bg, p->limit),
				    .dirty = p->dirty_writeback,
				    .bdi_limit = p->bdi_limit,
				    .bdi_dirty = p->bdi_reclaimable + p->bdi_writeback,
				    .write_bw = wb->est.avg_write_bw };
}

static void update_estimates(struct wb *wb, const struct wb_position *p)
{
	u64 now = jiffies(), written = bdi_stat_sum(wb->bdi, BDI_WRITTEN);
	u64 dirtied = bdi_stat_sum(wb->bdi, BDI_DIRTIED), elapsed = now - wb->est.stamp;
	u64 dirtied_before = wb->est.dirtied_stamp;
	struct throttle_pos pos;
	bool done;

	dirty_count_completions(wb->bdi, written);
	fill_pos(wb, p, &pos);
	if (switch_value(dirty_throttle)) {
		done = throttle_update_merged(&wb->est, now, written, dirtied, &pos, HZ);
	} else {
		done = throttle_update(&wb->est, now, written, pos.bdi_dirty, p->bdi_limit, HZ);
		wb->est.ratelimit = wb->est.throttle_bw;
	}
	if (!done)
		return;
	wb->est.dirtied_stamp = dirtied;
	trace_event(bdi_dirty_ratelimit, (u64)wb->bdi->trace_name, wb->est.write_bw,
		    wb->est.avg_write_bw, (dirtied - dirtied_before) * HZ / max(elapsed, (u64)1),
		    wb->est.ratelimit, wb->est.ratelimit * pos.ratio >> RATELIMIT_CALC_SHIFT,
		    wb->est.balanced_ratelimit);
}

/* The figures of *p are read afresh unless given. */
static void maybe_update(struct wb *wb, const struct wb_position *p)
{
	u32 interval = switch_value(dirty_throttle) ? HZ / 5 : HZ / 10;
	struct wb_position own;

	if (jiffies() - READ_ONCE(wb->est.stamp) < interval || !spin_trylock(&wb->bdi->est_lock))
		return;
	if (!p) {
		wb_position(wb, &own);
		p = &own;
	}
	update_estimates(wb, p);
	spin_unlock(&wb->bdi->est_lock);
}

void wb_update_estimates(struct wb *wb)
{
	maybe_update(wb, NULL);
}

/* Sleeps ticks, or until a fatal signal. */
static void pause_now(struct balance *b, s64 ticks)
{
	ktime_t start = ktime_get(), end = start + (u64)ticks * NSEC_PER_TICK;
	u8 old = current->in_iowait;
	u64 ns;

	current->in_iowait = 1;
	do {
		thread_set_state(THREAD_KILLABLE);
		if (fatal_signal_pending()) {
			WRITE_ONCE(current->state, THREAD_RUNNING);
			balance_count(BAL_KILLED);
			break;
		}
	} while (schedule_until(end) > 0);
	current->in_iowait = old;
	ns = ktime_get() - start;
	b->slept_ns += ns;
	balance_count(BAL_SLEEPS);
	balance_add(BAL_PAUSE_TICKS, (u64)ticks);
	balance_add(BAL_SLEPT_NS, ns);
	balance_slept(ns);
}

static void kick_flusher(struct wb *wb, const struct wb_position *p)
{
	if ((READ_ONCE(wb->state) & (WB_RUNNING | WB_KICK)) || p->dirty <= p->bg)
		return;
	balance_count(BAL_KICKS);
	wb_start_background(wb);
}

static void trace_look(const struct balance *b, s64 think)
{
	const struct wb_position *p = &b->pos;

	trace_event(balance_dirty_pages, (u64)b->wb->bdi->trace_name, p->limit,
		    dirty_freerun(p->bg, p->limit), p->dirty_writeback, p->bdi_limit,
		    p->bdi_reclaimable + p->bdi_writeback, b->wb->est.ratelimit, b->task_bw,
		    b->pages, current->nr_dirtied_pause, b->slept_ns / NSEC_PER_MSEC,
		    (u64)(b->pause * 1000 / HZ), b->period * 1000 / HZ, (u64)(think * 1000 / HZ));
}

static u32 idle_pause(const struct wb *wb, const struct wb_position *p)
{
	if (p->dirty_writeback <= dirty_freerun(p->bg, p->limit))
		return throttle_idle_pause(p->limit, p->dirty_writeback);
	return throttle_idle_pause(p->bdi_limit, p->bdi_reclaimable + p->bdi_writeback);
}

/* ---- the document's position ---- */

/* Value 2: shorter than the minimum is not slept; the debt is kept. true: leave. */
static bool too_short(struct balance *b, s64 pause, u32 min_pause, u64 now)
{
	if (pause >= (s64)min_pause)
		return false;
	if (pause < -(s64)HZ)
		current->paused_when = now;
	else if (b->period)
		current->paused_when += b->period;
	balance_count(BAL_EARLY);
	return true;
}

/* One round. true: another one. */
static bool document_round(struct balance *b)
{
	struct wb *wb = b->wb;
	struct wb_position *p = &b->pos;
	struct throttle_look look;
	enum throttle_verdict verdict;
	u64 now, paused_when = current->paused_when;

	balance_count(BAL_LOOKS);
	read_machine(p);
	if (p->dirty_writeback <= dirty_freerun(p->bg, p->limit)) {
		balance_count(BAL_FREERUN);
		return false;
	}
	read_device(wb, p);
	maybe_update(wb, p);
	kick_flusher(wb, p);
	now = jiffies();
	look = (struct throttle_look){ .bdi_limit = p->bdi_limit,
				       .task_limit = p->task_limit,
				       .bdi_dirty = p->bdi_reclaimable + p->bdi_writeback,
				       .avg_dirty = wb->est.avg_dirty,
				       .throttle_bw = wb->est.throttle_bw,
				       .now = now,
				       .nr_dirtied = b->pages,
				       .max_pause = p->max_pause,
				       .hz = HZ,
				       .over_limit = p->dirty_writeback > p->limit,
				       .paused_when = paused_when };
	verdict = throttle_look(&look);
	b->pause = look.pause;
	b->max_pause = p->max_pause;
	b->task_bw = look.bw;
	b->period = look.period;
	trace_look(b, (s64)(now - paused_when));
	if (switch_value(min_pause) == 2 && verdict != THROTTLE_HARD) {
		u32 nr, least = throttle_target_pause(wb->est.write_bw, wb->est.throttle_bw,
						      look.bw, p->max_pause, HZ, true, &nr);

		current->nr_dirtied_pause = max(nr, 1u);
		balance_count(BAL_TARGET_SET);
		if (too_short(b, (s64)(paused_when + look.period - now), least, now))
			return false;
	} else if (verdict == THROTTLE_THINK) {
		current->paused_when = look.paused_when;
		balance_count(BAL_THINK);
		return false;
	}
	if (verdict == THROTTLE_HARD)
		balance_count(BAL_HARD);
	pause_now(b, look.pause);
	current->paused_when = now + (u64)look.pause;
	b->exceeded = look.bdi_dirty > look.bdi_limit || look.over_limit;
	if (!b->exceeded || fatal_signal_pending())
		return false;
	WRITE_ONCE(wb->dirty_exceeded, 1);
	return true;
}

static void document_adapt(struct balance *b)
{
	const struct wb_position *p = &b->pos;
	u32 sw = switch_value(min_pause), least;
	enum throttle_move move;

	if (sw == 2 && b->pause && b->task_bw)
		return; /* set already */
	least = throttle_min_pause(b->wb->est.write_bw, b->wb->est.throttle_bw, b->max_pause, HZ);
	move = throttle_adapt(&current->nr_dirtied_pause, b->pause, least, b->max_pause,
			      p->dirty_writeback < p->bg, sw == 0, idle_pause(b->wb, p));
	trace_event(balance_min_pause, (u64)b->wb->bdi->trace_name, least, b->max_pause, move,
		    (u64)b->pause);
	balance_count(move == THROTTLE_GROW	? BAL_GROW
		      : move == THROTTLE_SHRINK ? BAL_SHRINK
		      : move == THROTTLE_IDLE	? BAL_IDLE_SET
						: BAL_KEEP);
}

/* ---- the merged form ---- */

static bool merged_round(struct balance *b)
{
	struct wb *wb = b->wb;
	struct wb_position *p = &b->pos;
	struct throttle_pos pos;
	u64 now = jiffies();
	u32 least, nr;
	s64 pause;

	balance_count(BAL_LOOKS);
	read_machine(p);
	if (p->dirty_writeback <= dirty_freerun(p->bg, p->limit)) {
		balance_count(BAL_FREERUN);
		current->paused_when = now;
		current->nr_dirtied_pause = throttle_idle_pause(p->limit, p->dirty_writeback);
		return false;
	}
	kick_flusher(wb, p);
	read_device(wb, p);
	fill_pos(wb, p, &pos);
	b->exceeded = pos.bdi_dirty > p->bdi_limit && p->dirty_writeback > p->limit;
	if (b->exceeded && !wb->dirty_exceeded)
		WRITE_ONCE(wb->dirty_exceeded, 1);
	maybe_update(wb, p);
	throttle_pos_ratio(&pos);
	b->task_bw = wb->est.ratelimit * pos.ratio >> RATELIMIT_CALC_SHIFT;
	b->max_pause =
		max_pause_for(throttle_max_pause_merged(wb->est.avg_write_bw, pos.bdi_dirty, HZ));
	least = throttle_target_pause(wb->est.avg_write_bw, wb->est.ratelimit, b->task_bw,
				      b->max_pause, HZ, switch_value(min_pause) != 0, &nr);
	b->period = b->task_bw ? (unsigned long)HZ * b->pages / b->task_bw : b->max_pause;
	pause = (s64)b->period;
	if (b->task_bw && current->paused_when)
		pause -= (s64)(now - current->paused_when);
	b->pause = pause;
	trace_look(b, (s64)(now - current->paused_when));
	if (b->task_bw) {
		if (pause < (s64)least) {
			if (!b->period && current->nr_dirtied_pause <= b->pages)
				current->nr_dirtied_pause += b->pages;
			too_short(b, pause, least, now);
			return false;
		}
		if (pause > (s64)b->max_pause) { /* the rest is owed, but not for ever */
			now += (u64)min(pause - b->max_pause, (s64)b->max_pause);
			pause = b->max_pause;
		}
	} else {
		balance_count(BAL_HARD);
	}
	pause_now(b, max(pause, (s64)1));
	current->paused_when = now + (u64)pause;
	current->nr_dirtied_pause = max(nr, 1u);
	balance_count(BAL_TARGET_SET);
	/*
	 * Hard over: until it is better, but a device with nothing dirty need not wait for others.
	 */
	return !b->task_bw && pos.bdi_dirty > bdi_stat_error() && !fatal_signal_pending();
}

/*
 * Who cleans one device may dirty another (a loop device's worker): never held, but that device's
 * flusher must hear of it, for nobody else will tell.
 */
static void cleaner_dirtied(struct wb *wb)
{
	struct wb_position pos;

	read_machine(&pos);
	kick_flusher(wb, &pos);
	current->nr_dirtied_pause = CLEANER_STEP;
}

void balance_dirty_pages(struct mapping *m)
{
	struct bdi *bdi = m->bdi;
	struct balance b = { .wb = &bdi->wb, .max_pause = throttle_max_pause_hard(HZ) };
	ktime_t start;

	if (!bdi->registered || (bdi->capabilities & BDI_CAP_NO_WRITEBACK) ||
	    (current->flags & (TF_FLUSHER | TF_MEMALLOC))) {
		if ((current->flags & TF_FLUSHER) && bdi->registered)
			cleaner_dirtied(b.wb);
		current->nr_dirtied = 0;
		return;
	}
	if (unlikely(!current->nr_dirtied_pause)) { /* its first dirty page */
		wb_position(b.wb, &b.pos);
		current->nr_dirtied_pause = idle_pause(b.wb, &b.pos);
	}
	if (current->nr_dirtied < current->nr_dirtied_pause && !READ_ONCE(b.wb->dirty_exceeded))
		return;
	might_sleep();
	start = ktime_get();
	b.pages = current->nr_dirtied;
	balance_count(BAL_CALLS);
	balance_add(BAL_PAGES, b.pages);
	dirty_count_task(b.pages);
	if (switch_value(dirty_throttle)) {
		while (merged_round(&b))
			;
	} else {
		while (document_round(&b))
			;
		document_adapt(&b);
	}
	if (!b.exceeded && READ_ONCE(b.wb->dirty_exceeded))
		WRITE_ONCE(b.wb->dirty_exceeded, 0);
	kick_flusher(b.wb, &b.pos);
	current->nr_dirtied = 0;
	balance_add(BAL_BUSY_NS, ktime_get() - start - b.slept_ns);
}

void writeback_init(void)
{
	dirty_init();
}
