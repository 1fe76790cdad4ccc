/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * readahead.h - reading pages before they are asked for: the state of one open file, and what
 * system calls and faults ask of it. ra_window.c decides (pure), readahead.c does.
 */
#ifndef MM_CACHE_READAHEAD_H
#define MM_CACHE_READAHEAD_H

#include "lib/types.h"

struct file;
struct mapping;
struct page;

/* How a program says it will read: posix_fadvise(2). */
enum ra_mode { RA_NORMAL, RA_RANDOM, RA_SEQUENTIAL };

/*
 * One open file. Nobody locks it: two threads that read through one file may confuse the window,
 * never the data. All zero: just opened.
 *
 *   |<--------------- size --------------->|
 *   |                  |<------ async ---->|
 *   start              marker              end: the next window begins here
 */
struct ra_state {
	unsigned long start; /* current window, in pages */
	u32 size;	     /* 0: none yet */
	u32 async;	     /* of these, pages behind the marker */
	u32 mmap_miss;	     /* faults that found nothing, less those that did */
	u32 mode;	     /* enum ra_mode */
	unsigned long prev;  /* the page read last */
};
static inline void ra_state_init(struct ra_state *ra)
{
	*ra = (struct ra_state){ .prev = ~0ul };
}

/* ---- ra_window.c: pure --------------------------------------------------------------------- */

/* What the policy may ask about the cache. */
struct ra_view {
	/* First index > index that is not cached, at most index + max; 0: none within reach */
	unsigned long (*next_hole)(void *arg, unsigned long index, unsigned long max);
	/* How many pages right before index are cached, at most max. */
	unsigned long (*run_before)(void *arg, unsigned long index, unsigned long max);
	void *arg;
};
/*
 * Page index, the first of nr wanted ones, is missing. max: the largest window, > 0. Sets the
 * window (false: no pattern, read just what is wanted: start, size, async = 0).
 */
bool ra_window_miss(struct ra_state *ra, unsigned long index, unsigned long nr, u32 max,
		    const struct ra_view *view);
/* Page index carries the marker: the next window; false: nothing to read. */
bool ra_window_marker(struct ra_state *ra, unsigned long index, unsigned long nr, u32 max,
		      const struct ra_view *view);

/* ---- readahead.c --------------------------------------------------------------------------- */

/* Largest window of a mapping in this mode, pages; 0: its device reads nothing ahead. */
u32 readahead_max(const struct mapping *m, u32 mode);
/*
 * Starts reading the missing pages of [first, first + nr), up to the end of the file; nobody waits
 * for them. => may sleep; pages started
 */
unsigned long readahead_start(struct mapping *m, unsigned long first, unsigned long nr);
/*
 * A fault at index of a mapped file found no page. mode: as madvise(2) said for the VMA.
 * => truncate_lock shared; ra may be NULL
 */
void readahead_fault(struct mapping *m, struct ra_state *ra, unsigned long index, u32 mode);
/* A fault found its page with PG_readahead on it. => as above */
void readahead_fault_hit(struct mapping *m, struct ra_state *ra, struct page *page);
/*
 * posix_fadvise(2) on [off, off + len), len 0: to the end. 0 or -EINVAL. readahead(2) is WILLNEED.
 */
int readahead_advise(struct mapping *m, struct ra_state *ra, u64 off, u64 len, int advice);
#define FADV_NORMAL 0
#define FADV_RANDOM 1
#define FADV_SEQUENTIAL 2
#define FADV_WILLNEED 3
#define FADV_DONTNEED 4
#define FADV_NOREUSE 5

#endif
