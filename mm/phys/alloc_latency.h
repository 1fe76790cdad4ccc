/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alloc_latency.h - how long allocations spend in the slow path: /sys/kernel/quire/alloc_latency.
 */
#ifndef MM_PHYS_ALLOC_LATENCY_H
#define MM_PHYS_ALLOC_LATENCY_H

#include "lib/types.h"

enum alloc_outcome {
	ALLOC_WALKED,	 /* a page from below the low watermark, without waiting */
	ALLOC_RECLAIMED, /* a page after reclaim, compaction or a wait */
	ALLOC_FAILED,
	NR_ALLOC_OUTCOMES
};
/* => any context; order below MAX_ORDER */
void alloc_latency_note(unsigned int order, enum alloc_outcome how, u64 ns);
/* Number of allocations noted, and the longest in ns. */
u64 alloc_latency_count(unsigned int order, enum alloc_outcome how, u64 *longest_ns);
void alloc_latency_reset(void);

#endif
