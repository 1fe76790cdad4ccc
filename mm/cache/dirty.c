// SPDX-License-Identifier: BSD-2-Clause
/*
 * dirty.c - how much may be dirty: pure arithmetic.
 *
 * Problem: dirty pages are memory that cannot be given to anybody else before a disk was waited
 * for, so they must stay a modest part of memory; and a slow USB stick must not fill the whole part
 * and make writers to a fast disk wait. Idea: three limits, each a part of the one before:
 *
 *   dirtyable memory   what could hold file pages: free + file pages (or, before 3.x, + anonymous
 *                      ones when there is swap)
 *   machine            background (flushers begin) and dirty (writers are held): per cent of it
 *   device             its share of recent completions (floating proportion), between its own
 *                      min_ratio and max_ratio
 *   task               the device's, less a soft zone times its share of recent dirtying: who
 *                      dirties most is held first
 *
 * Floating proportion: events are counted by each and by all. Every half period (2^(shift-1) events
 * of all) all counts are halved, by each for himself when he next looks; so what is old fades.
 *
 *      share = mine / (2^(shift-1) + events of all in this half period)
 *
 * Source: [facts 1.11].
 */
#include "mm/cache/dirty.h"

#include "lib/math.h"

unsigned long dirty_dirtyable(const struct dirty_figures *f, u32 form)
{
	unsigned long file = f->inactive_file + f->active_file, sum;

	if (form == 0)
		sum = f->free + file + (f->swap ? f->anon : 0);
	else
		sum = (f->free > f->reserve ? f->free - f->reserve : 0) + file;
	if (!f->highmem_is_dirtyable)
		sum -= min(sum, f->high);
	return sum + 1;
}

void dirty_compute_limits(const struct dirty_tunables *t, unsigned long dirtyable, bool lift,
			  unsigned long *background, unsigned long *dirty)
{
	unsigned long bg, limit;

	limit = t->bytes ? DIV_ROUND_UP((unsigned long)t->bytes, 4096)
			 : dirtyable * (unsigned long)t->ratio / 100;
	bg = t->background_bytes ? DIV_ROUND_UP((unsigned long)t->background_bytes, 4096)
				 : dirtyable * (unsigned long)t->background_ratio / 100;
	if (bg >= limit)
		bg = limit / 2;
	if (lift) {
		bg += bg / 4;
		limit += limit / 4;
	}
	*background = bg;
	*dirty = limit;
}

u32 prop_shift(unsigned long dirty_limit, u32 ramp)
{
	u32 log = dirty_limit > 2 ? ilog2(dirty_limit - 1) : 0;

	return ramp ? max(log, 2u) - 1 : 2 + log;
}

static u64 scale(u64 v, u32 from, u32 to)
{
	return to >= from ? v << min(to - from, 63u) : v >> min(from - to, 63u);
}

static u64 half_period(const struct prop_global *g)
{
	return 1ull << (g->shift - 1);
}

void prop_set_shift(struct prop_global *g, u32 shift)
{
	shift = clamp(shift, 1u, 40u);
	if (g->shift)
		g->events = scale(g->events, g->shift, shift);
	g->shift = shift;
}

void prop_norm(const struct prop_global *g, struct prop_local *l)
{
	u64 half = half_period(g), now = g->events & ~(half - 1), passed;

	if (l->shift != g->shift) { /* the period changed: the same place on the new scale */
		if (l->shift) {
			l->period = scale(l->period, l->shift, g->shift) & ~(half - 1);
			l->events = scale(l->events, l->shift, g->shift);
		} else {
			l->period = now;
		}
		l->shift = g->shift;
	}
	if (l->period == now)
		return;
	passed = (now - l->period) / half;
	l->events = passed < 64 ? l->events >> passed : 0;
	l->period = now;
}

void prop_add(struct prop_global *g, struct prop_local *l, u64 n)
{
	u64 half = half_period(g);

	/* More than a few periods at once: only the last ones leave a trace. */
	if (n > 16 * half) {
		g->events += n - 16 * half;
		n = 16 * half;
	}
	while (n) {
		u64 step = min(n, half - (g->events & (half - 1)));

		prop_norm(g, l);
		l->events += step;
		g->events += step;
		n -= step;
	}
	prop_norm(g, l);
}

void prop_fraction(const struct prop_global *g, const struct prop_local *l, u64 *num, u64 *den)
{
	u64 half = half_period(g);

	*den = half + (g->events & (half - 1));
	*num = min(l->events, *den);
}

unsigned long dirty_bdi_limit(unsigned long dirty, u64 num, u64 den, u32 min_sum, u32 min, u32 max)
{
	unsigned long share = dirty * (100 - min_t(u32, min_sum, 100)) / 100;

	share = mul_div_u64(share, num, den) + dirty * min / 100;
	return min_t(unsigned long, share, dirty *max / 100);
}

unsigned long dirty_task_limit(unsigned long bdi_limit, u32 soft, u64 num, u64 den)
{
	unsigned long soft_zone = mul_div_u64(bdi_limit / soft, num, den);

	return max(bdi_limit - min(soft_zone, bdi_limit), bdi_limit / 2);
}
