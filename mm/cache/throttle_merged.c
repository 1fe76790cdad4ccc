// SPDX-License-Identifier: BSD-2-Clause
/*
 * throttle_merged.c - the brake on dirtying in the form that was merged a year after [seed-001].
 *
 * Problem: the position of one device alone does not say how the machine stands, and a bandwidth
 * that is only nudged up or down takes seconds to fit a new number of dirtiers. Idea: measure both
 * sides. What the dirtiers did in the last 200 ms against what the device wrote gives the balanced
 * rate in one step; the position only corrects it:
 *
 *   ratio 2 |'.                       dirty pages of the machine: cubic around the set point,
 *           |  '.__                   flat near it (noise does nothing), steep near the limit
 *         1 |------'-.__                 x = (setpoint - dirty) / (limit - setpoint)
 *           |            '.              ratio = 1 + x^3
 *         0 +-----------------          then a straight line for the device around its part of
 *        freerun   setpoint  limit      the set point: up to x 8 when it runs dry, / 4 far above
 *
 *   task_ratelimit = ratelimit * ratio;  pause = pages / task_ratelimit - thinking
 *
 * The pause is aimed at (throttle_target_pause): nr_dirtied_pause is set to what makes it, instead
 * of creeping there. Fixed point: 1.0 is 1 << RATELIMIT_CALC_SHIFT. Source: [facts 3.2, last
 * paragraph; 3.4, last trap].
 */
#include "lib/math.h"
#include "mm/cache/throttle.h"

#define ONE (1l << RATELIMIT_CALC_SHIFT)
#define POLL_FLOOR 32 /* pages: looking more often costs more than it tells */

static long cubic(long setpoint, long dirty, long limit)
{
	long x = (setpoint - dirty) * ONE / ((limit - setpoint) | 1);
	long ratio = x * x / ONE * x / ONE + ONE;

	return clamp(ratio, 0l, 2 * ONE);
}

void throttle_pos_ratio(struct throttle_pos *p)
{
	unsigned long bdi_limit = min(p->bdi_limit, p->limit), share, span, foot;
	u64 ratio;

	p->setpoint = (p->freerun + p->limit) / 2;
	p->bdi_setpoint = 0;
	p->ratio = 0;
	if (p->dirty >= p->limit)
		return;
	ratio = (u64)cubic((long)p->setpoint, (long)p->dirty, (long)p->limit);
	/* A device that was idle has no share yet: let it begin with a part of what is left. */
	bdi_limit = max(bdi_limit, (p->limit - p->dirty) / 8);
	share = (bdi_limit << 16) / (p->limit | 1);
	p->bdi_setpoint = p->setpoint * share >> 16;
	span = (p->limit - bdi_limit + 8 * p->write_bw) * share >> 16;
	foot = p->bdi_setpoint + span; /* where the line would reach 0 */
	if (p->bdi_dirty < foot - span / 4)
		ratio = ratio * (foot - p->bdi_dirty) / ((foot - p->bdi_setpoint) | 1);
	else
		ratio /= 4;
	if (p->bdi_dirty < bdi_limit / 2) { /* runs dry: the disk must not idle */
		if (p->bdi_dirty > bdi_limit / 16)
			ratio = ratio * (bdi_limit / 2) / p->bdi_dirty;
		else
			ratio *= 8;
	}
	p->ratio = ratio;
}

/* Over about 3 s, then a second stage that ignores movement towards the average. */
static void update_write_bw(struct throttle_est *e, u64 pages, u64 elapsed, u32 hz)
{
	u64 period = roundup_pow_of_two(3 * (u64)hz), old = e->write_bw, bw = pages * hz;

	if (elapsed > period) {
		e->write_bw = bw / elapsed;
		e->avg_write_bw = e->write_bw;
		return;
	}
	bw = (bw + old * (period - elapsed)) >> ilog2(period);
	if (e->avg_write_bw > old && old >= bw)
		e->avg_write_bw -= (e->avg_write_bw - old) >> 3;
	if (e->avg_write_bw < old && old <= bw)
		e->avg_write_bw += (old - e->avg_write_bw) >> 3;
	e->write_bw = bw;
}

static void update_ratelimit(struct throttle_est *e, u64 dirtied, u64 elapsed,
			     const struct throttle_pos *p, u32 hz)
{
	unsigned long rate = dirtied * hz / elapsed, now = e->ratelimit, step = 0, goal;
	unsigned long task = (now * p->ratio >> RATELIMIT_CALC_SHIFT) + 1;
	/* If everybody dirtied at `task` and that made `rate`, this makes what the disk writes. */
	unsigned long balanced = min(task * e->avg_write_bw / (rate | 1), e->avg_write_bw);

	/* Moved only when all signs point the same way. */
	if (p->dirty < p->setpoint) {
		goal = min(min(e->balanced_ratelimit, balanced), task);
		step = goal > now ? goal - now : 0;
	} else {
		goal = max(max(e->balanced_ratelimit, balanced), task);
		step = goal < now ? now - goal : 0;
	}
	goal = now / (2 * step + 1); /* small errors are noise */
	step = goal < 64 ? step >> goal : 0;
	step = (step + 7) / 8;
	e->ratelimit = max(now < balanced ? now + step : now - min(step, now), 1ul);
	e->balanced_ratelimit = balanced;
}

bool throttle_update_merged(struct throttle_est *e, u64 now, u64 written, u64 dirtied,
			    struct throttle_pos *p, u32 hz)
{
	u64 elapsed = now - e->stamp;

	if (elapsed < max(hz / 5, 1u))
		return false;
	/* After a second of silence only the stamps. */
	if (elapsed <= hz || written != e->written_stamp) {
		p->write_bw = e->avg_write_bw;
		throttle_pos_ratio(p);
		update_ratelimit(e, dirtied - e->dirtied_stamp, elapsed, p, hz);
		update_write_bw(e, written - e->written_stamp, elapsed, hz);
	}
	e->throttle_bw = e->ratelimit;
	e->stamp = now;
	e->written_stamp = written;
	e->dirtied_stamp = dirtied;
	return true;
}

/* Not so long that the device could write all it has and stand idle (its load may fall to 1/8). */
u32 throttle_max_pause_merged(unsigned long write_bw, unsigned long bdi_dirty, u32 hz)
{
	u64 t = bdi_dirty / (1 + write_bw / roundup_pow_of_two(1 + hz / 8)) + 1;

	return (u32)min_t(u64, t, throttle_max_pause_hard(hz));
}

u32 throttle_target_pause(unsigned long write_bw, unsigned long ratelimit,
			  unsigned long task_ratelimit, u32 max_pause, u32 hz, bool scale,
			  u32 *nr_dirtied_pause)
{
	unsigned int hi = write_bw ? ilog2(write_bw) : 0, lo = ratelimit ? ilog2(ratelimit) : 0;
	u64 second = roundup_pow_of_two(hz), pages, t = max(hz / 100, 1u);

	if (scale && hi > lo)
		t += (u64)(hi - lo) * (10 * hz) / 1024;
	t = min_t(u64, t, 1 + max_pause / 2);
	pages = ratelimit * t / second;
	if (pages < POLL_FLOOR) { /* rather a longer pause, if there is one */
		t = max_pause;
		pages = ratelimit * t / second;
		if (pages > POLL_FLOOR) {
			pages = POLL_FLOOR;
			t = hz * POLL_FLOOR / ratelimit;
		}
	}
	if (hz * pages / (task_ratelimit + 1) > max_pause) {
		t = max_pause;
		pages = task_ratelimit * t / second;
	}
	*nr_dirtied_pause = (u32)min_t(u64, pages, U32_MAX);
	return (u32)(pages >= POLL_FLOOR ? 1 + t / 2 : t);
}
