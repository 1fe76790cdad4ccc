/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dirty.h - how much may be dirty: dirtyable memory, limits, and each device's and task's share of
 * them. dirty.c is arithmetic only; dirty_vm.c feeds it the machine's figures and tunables.
 */
#ifndef MM_CACHE_DIRTY_H
#define MM_CACHE_DIRTY_H

#include "lib/types.h"

/* ---- pure ---- */
struct dirty_figures {					      /* pages */
	unsigned long free, inactive_file, active_file, anon; /* anon: both lists */
	unsigned long reserve;				      /* sum of dirty_balance_reserve */
	unsigned long high; /* the part of free + file that lies in High zones */
	bool swap;	    /* there is swap space left */
	bool highmem_is_dirtyable;
};
/* form 0: 2.6.37, 1: 3.16. Never 0. */
unsigned long dirty_dirtyable(const struct dirty_figures *f, u32 form);

struct dirty_tunables {
	long background_ratio, ratio, background_bytes, bytes; /* bytes 0: the ratio counts */
};
/* lift: LESS_THROTTLE or real time: both limits x 1.25. */
void dirty_compute_limits(const struct dirty_tunables *t, unsigned long dirtyable, bool lift,
			  unsigned long *background, unsigned long *dirty);
static inline unsigned long dirty_freerun(unsigned long background, unsigned long dirty)
{
	return (background + dirty) / 2;
}

/*
 * Floating proportion: what part of all recent events was mine? Events are counted in half periods
 * of 2^(shift-1); when the sum of all passes one, everybody's count is halved (each does it for
 * himself, when he next looks).
 */
struct prop_global {
	u64 events;
	u32 shift;
};
struct prop_local {
	u64 events;
	u64 period; /* the global half period up to which events was halved */
	u32 shift;
};
/*
 * ramp 0: 2 + ilog2(limit - 1), as in 2.6.37; 1: ilog2(limit - 1) - 1, eight times shorter: a
 * device's share follows its completions within about a third of the limit
 */
u32 prop_shift(unsigned long dirty_limit, u32 ramp);
void prop_set_shift(struct prop_global *g, u32 shift);
void prop_norm(const struct prop_global *g, struct prop_local *l);
void prop_add(struct prop_global *g, struct prop_local *l, u64 n);
/* num / den. => l is normal */
void prop_fraction(const struct prop_global *g, const struct prop_local *l, u64 *num, u64 *den);

/* A device's share of the dirty limit; min, max: its min_ratio, max_ratio in per cent. */
unsigned long dirty_bdi_limit(unsigned long dirty, u64 num, u64 den, u32 min_sum, u32 min, u32 max);
/*
 * A task's: limit less its share of the soft zone (1/soft of the limit), at least half. [2.6.37: 8,
 * seed-001: 16]
 */
unsigned long dirty_task_limit(unsigned long bdi_limit, u32 soft, u64 num, u64 den);

/* ---- of this machine ---- */
extern long dirty_writeback_centisecs, dirty_expire_centisecs;
/* Dirty pages, and dirty plus under writeback (global, approximate). */
void dirty_global(unsigned long *dirty, unsigned long *with_writeback);
bool dirty_over_background(void);
struct bdi;
/* This device's share of the limit (the estimators keep it current). */
unsigned long dirty_bdi_limit_now(struct bdi *bdi, unsigned long dirty);
/* Completions since the last call enter the proportions. => bdi->est_lock */
void dirty_count_completions(struct bdi *bdi, u64 written);
/* The running task made n pages dirty. */
void dirty_count_task(u32 n);
unsigned long dirty_task_limit_now(unsigned long bdi_limit);
void dirty_init(void);

#endif
