// SPDX-License-Identifier: BSD-2-Clause
/*
 * throttle.c - the decisions of the brake on dirtying, at the position of [seed-001].
 *
 * Problem: programs make pages dirty much faster than a disk takes them. The one who dirties must
 * be slowed to his fair part of the disk's speed, without doing I/O himself and without
 * oscillation.
 * Idea: he sleeps. Each nr_dirtied_pause pages he looks where the device stands, and sleeps as long
 * as these pages are worth at his allowed bandwidth:
 *
 *      allowed                                   L  limit of the device, T of the task (<= L)
 *        |----------.                            A  its dirty pages, smoothed
 *        |           '.                          bw = throttle_bw * (L-A)/(L/8) * (T-A)/(L/16)
 *        |             '.                        throttle_bw itself wanders towards
 *        |               '-._                    (speed of the disk) / (number of dirtiers)
 *      --+---------------------'--- dirty
 *               7/8 L      T  L                  period = pages / bw;  pause = period - thinking
 *
 * Two controllers share the work: the position (A between 7/8 L and T) answers at once, and
 * throttle_bw, updated ten times a second, takes the lasting part over. A third, nr_dirtied_pause,
 * keeps the pauses in a band: it grows by 3 % + 1 page when a pause was short and falls by a
 * quarter when it was the longest allowed. What "short" means is the document's subject: before it
 * one tick; with it about 10 ms for each doubling of the number of dirtiers (throttle_min_pause).
 *
 * All in integers that truncate, in ticks, as posted; nothing is "repaired". Source: [seed-001],
 * [facts 3.2, 3.3].
 */
#include "mm/cache/throttle.h"

#include "lib/math.h"

void throttle_est_init(struct throttle_est *e, u64 now)
{
	*e = (struct throttle_est){ .stamp = now,
				    .write_bw = THROTTLE_INIT_BW,
				    .avg_write_bw = THROTTLE_INIT_BW,
				    .throttle_bw = THROTTLE_INIT_BW,
				    .ratelimit = THROTTLE_INIT_BW,
				    .balanced_ratelimit = THROTTLE_INIT_BW };
}

u32 throttle_max_pause_hard(u32 hz)
{
	return max(hz / 5, 1u);
}

u32 throttle_max_pause(unsigned long bdi_limit, u32 hz)
{
	unsigned int shift = 20 - ilog2(roundup_pow_of_two(hz));

	return (u32)min_t(u64, (bdi_limit >> shift) + 2, throttle_max_pause_hard(hz));
}

u32 throttle_min_pause(unsigned long write_bw, unsigned long throttle_bw, u32 max, u32 hz)
{
	unsigned int hi = write_bw ? ilog2(write_bw) : 0;
	unsigned int lo = throttle_bw ? ilog2(throttle_bw) : 0;

	if (lo >= hi)
		return 1;
	return clamp((hi - lo) * (10 * hz) / 1024, 1u, max / 2);
}

/* ---- estimators ---- */

/* Weight: elapsed time in units of 10 ms, of 1024; at most an eighth. */
static void update_write_bw(struct throttle_est *e, u64 pages, u64 elapsed, u32 hz)
{
	u64 bw = pages * hz / elapsed;
	u64 weight = min_t(u64, elapsed / max(hz / 100, 1u), 128);

	e->write_bw = (e->write_bw * (1024 - weight) + bw * weight) >> 10;
	e->avg_write_bw = e->write_bw;
}

/* A sixteenth of the way, and only while the figure moves away from the average. */
static void update_avg_dirty(struct throttle_est *e, unsigned long dirty)
{
	if (!e->avg_dirty)
		e->avg_dirty = dirty;
	else if (dirty > e->avg_dirty && dirty >= e->old_dirty)
		e->avg_dirty += (dirty - e->avg_dirty) / 16;
	else if (dirty < e->avg_dirty && dirty <= e->old_dirty)
		e->avg_dirty -= (e->avg_dirty - dirty) / 16;
	e->old_dirty = dirty;
}

/*
 * Close below the limit: more dirtiers than thought, fall fast. A little farther and faster than
 * the disk by half: too. Far below and slower than half the disk: rise.
 */
static void update_throttle_bw(struct throttle_est *e, unsigned long limit)
{
	long gap = (long)(limit / THROTTLE_TASK_SOFT + 1);
	long room = max((long)limit - (long)e->avg_dirty, 0l); /* L - d */
	unsigned long tb = e->throttle_bw;

	if (room < gap)
		tb -= tb >> (3 + 4 * room / gap);
	else if (room < 2 * gap - gap / 4 && tb > e->write_bw + e->write_bw / 2)
		tb -= tb >> (3 + 4 * (room - gap) / gap);
	else if (2 * room >= 5 * gap && tb < e->write_bw / 2)
		tb += tb / 16 + 1;
	e->throttle_bw = tb;
}

bool throttle_update(struct throttle_est *e, u64 now, u64 written, unsigned long dirty,
		     unsigned long bdi_limit, u32 hz)
{
	u64 elapsed = now - e->stamp;

	if (elapsed < max(hz / 10, 1u))
		return false;
	if (elapsed <= hz / 2) { /* longer: nobody dirtied, the figures say nothing */
		update_write_bw(e, written - e->written_stamp, elapsed, hz);
		update_avg_dirty(e, dirty);
		update_throttle_bw(e, bdi_limit);
	}
	e->stamp = now;
	e->written_stamp = written;
	return true;
}

/* ---- one look ---- */

enum throttle_verdict throttle_look(struct throttle_look *l)
{
	unsigned long L = l->bdi_limit, T = l->task_limit, A = l->avg_dirty;

	if (A < l->bdi_dirty || A > T)
		A = l->bdi_dirty;
	l->bw = 0;
	l->period = 0;
	if (A >= T || l->over_limit) {
		l->pause = l->max_pause;
		return THROTTLE_HARD;
	}
	l->bw = l->throttle_bw * (L - A) / (L / THROTTLE_BDI_SOFT + 1);
	l->bw = l->bw * (T - A) / (L / THROTTLE_TASK_SOFT + 1);
	l->period = (unsigned long)l->hz * l->nr_dirtied / (l->bw + 1) + 1;
	l->pause = (s64)(l->paused_when + l->period - l->now);
	if (l->pause <= 0 && l->pause > -10 * (s64)l->hz) {
		if (-l->pause <= (s64)l->hz / 10)
			l->paused_when += l->period;
		else
			l->paused_when = l->now;
		l->pause = 1;
		return THROTTLE_THINK;
	}
	l->pause = clamp(l->pause, (s64)1, (s64)l->max_pause);
	return THROTTLE_SLEEP;
}

u32 throttle_idle_pause(unsigned long limit, unsigned long dirty)
{
	return limit > dirty ? 1 + (u32)isqrt(limit - dirty) : 1;
}

enum throttle_move throttle_adapt(u32 *nr, s64 pause, u32 min_pause, u32 max_pause, bool below_bg,
				  bool before_patch, u32 idle)
{
	if (pause == 0 && below_bg) {
		*nr = idle;
		return THROTTLE_IDLE;
	}
	if (before_patch ? pause == 1 : pause <= (s64)min_pause) {
		*nr += *nr / 32 + 1;
		return THROTTLE_GROW;
	}
	if (pause >= (s64)max_pause) { /* again and again: down to 1 */
		*nr -= (*nr + 2) / 4;
		return THROTTLE_SHRINK;
	}
	return THROTTLE_KEEP;
}
