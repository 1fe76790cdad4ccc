/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * balance.h - what the brake counts about itself (/sys/kernel/quire/balance). Private to mm/cache.
 */
#ifndef MM_CACHE_BALANCE_H
#define MM_CACHE_BALANCE_H

#include "arch/percpu.h"
#include "kernel/param.h"

/* X(enum, name): events of the brake; ticks and nanoseconds are sums. */
#define BALANCE_COUNTS(X)                                                                          \
	X(BAL_CALLS, "calls")		/* entries that looked at the figures */                   \
	X(BAL_LOOKS, "looks")		/* rounds of the loop */                                   \
	X(BAL_FREERUN, "freerun_exits") /* below the middle of the two limits */                   \
	X(BAL_SLEEPS, "sleeps")		/* real ones */                                            \
	X(BAL_THINK, "think_exits")	/* had thought long enough: left without sleeping */       \
	X(BAL_EARLY, "early_exits")	/* pause below the minimum: left (min_pause 2, merged) */  \
	X(BAL_HARD, "hard")		/* sleeps of the whole max_pause */                        \
	X(BAL_KICKS, "kicks")		/* the flusher was woken */                                \
	X(BAL_KILLED, "killed")		/* a fatal signal ended it */                              \
	X(BAL_PAUSE_TICKS, "pause_ticks")                                                          \
	X(BAL_SLEPT_NS, "slept_ns")                                                                \
	X(BAL_BUSY_NS, "busy_ns") /* inside the brake, not asleep */                               \
	X(BAL_GROW, "grow")                                                                        \
	X(BAL_SHRINK, "shrink")                                                                    \
	X(BAL_IDLE_SET, "idle_set")                                                                \
	X(BAL_TARGET_SET, "target_set")                                                            \
	X(BAL_KEEP, "keep")                                                                        \
	X(BAL_PAGES, "pages")
#define _X(e, n) e,
enum balance_count { BALANCE_COUNTS(_X) NR_BALANCE_COUNTS };
#undef _X

#define BALANCE_HIST 256 /* real sleeps by whole ticks; the last one: that or longer */
struct balance_stats {
	u64 count[NR_BALANCE_COUNTS];
	u64 hist[BALANCE_HIST];
};
DECLARE_PER_CPU(struct balance_stats, balance_stats);
#define balance_count(item) this_cpu_inc(balance_stats.count[item])
#define balance_add(item, n) this_cpu_add(balance_stats.count[item], n)
void balance_slept(u64 ns);

extern long max_pause_ms;
DECLARE_SWITCH(min_pause);
DECLARE_SWITCH(dirty_throttle);

#endif
