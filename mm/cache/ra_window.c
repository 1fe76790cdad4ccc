/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ra_window.c - which pages to read ahead (policy; pure, no locks, no memory).
 *
 * Problem: a disk is fast only when it is asked for much at a time and before somebody waits, yet
 * pages read in vain cost time and push out useful ones. Idea: the reader's own misses and hits say
 * what he does; trust grows with each success and falls with each failure.
 *
 *   first miss, at 0 or where he went on     a window of a few times the request; all but the
 *   reading                                  request lies behind the marker
 *   he reaches the marker                    the next window, twice as large, up to max: it is read
 *                                            while he still works through the rest of this one
 *   a marker that is not ours                (two readers take turns) the window begins at the
 *                                            first hole behind it, as if it were his
 *   a miss, but the pages before are cached  he came here in order, through another file or while
 *                                            the state belonged to another stream: the length of
 *                                            that run is the trust he has earned
 *   a miss inside his own window             its pages were pushed out before he got there: memory
 *                                            is short, so the window shrinks to what he had managed
 *                                            to use (thrashing)
 *   any other miss                           random: read what is asked for
 *
 * Invariants: async <= size; size <= max unless the request itself is larger.
 * Source: the on-demand form of [Fengguang07], simplified.
 */
#include "lib/math.h"
#include "mm/cache/readahead.h"

#define RA_MIN 4u /* pages of a first, small window */

static u32 clamp_size(unsigned long n, u32 max)
{
	return n > max ? max : (u32)n;
}

/* First window for a request of nr pages. */
static u32 first_size(unsigned long nr, u32 max)
{
	unsigned long size = 1;

	while (size < nr && size < max)
		size <<= 1;
	if (size * 32 <= max)
		size *= 4;
	else if (size * 4 <= max)
		size *= 2;
	else if (nr <= max)
		size = max;
	if (size < RA_MIN)
		size = RA_MIN;
	return clamp_size(size, max);
}

static u32 next_size(u32 size, u32 max)
{
	if (size < max / 16)
		return size * 4 > RA_MIN ? size * 4 : RA_MIN;
	return size > max / 2 ? max : size * 2;
}

static bool set(struct ra_state *ra, unsigned long start, u32 size, u32 async)
{
	ra->start = start;
	ra->size = size;
	ra->async = async;
	return true;
}

/* A new stream begins at index. */
static bool begin(struct ra_state *ra, unsigned long index, unsigned long nr, u32 max)
{
	u32 size = first_size(nr, max);

	return set(ra, index, size, size > nr ? size - (u32)nr : size);
}

/* The window behind the current one, larger. */
static bool advance(struct ra_state *ra, u32 max)
{
	u32 size = next_size(ra->size, max);

	return set(ra, ra->start + ra->size, size, size);
}

bool ra_window_miss(struct ra_state *ra, unsigned long index, unsigned long nr, u32 max,
		    const struct ra_view *view)
{
	unsigned long run;

	if (ra->mode != RA_RANDOM) {
		if (!index)
			return begin(ra, index, nr, max);
		if (ra->size && index == ra->start + ra->size)
			return advance(ra, max);
		if (ra->size && index >= ra->start && index < ra->start + ra->size &&
		    (index == ra->prev + 1 || index == ra->prev)) {
			u32 used = (u32)(index - ra->start), size = used < RA_MIN ? RA_MIN : used;

			size = clamp_size(size, max);
			return set(ra, index, size, size > nr ? size - (u32)nr : 0);
		}
		if (index == ra->prev || index == ra->prev + 1 || ra->mode == RA_SEQUENTIAL ||
		    nr > max)
			return begin(ra, index, nr, max);
		run = view->run_before(view->arg, index, max);
		if (run > nr || run == index) {
			/* he read the file from its start: he will go on */
			u32 size = clamp_size((run == index ? 2 * run : run) + nr, max);

			return set(ra, index, size, size > nr ? size - (u32)nr : size);
		}
	}
	set(ra, index, (u32)nr, 0);
	return false;
}

bool ra_window_marker(struct ra_state *ra, unsigned long index, unsigned long nr, u32 max,
		      const struct ra_view *view)
{
	unsigned long hole;
	u32 size;

	if (ra->mode == RA_RANDOM)
		return false;
	if (ra->size && index == ra->start + ra->size - ra->async)
		return advance(ra, max);
	hole = view->next_hole(view->arg, index, max);
	if (!hole)
		return false;
	size = next_size(clamp_size(hole - index + nr, max), max);
	return set(ra, hole, size, size);
}
