/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * softirq.h - work an interrupt leaves behind, run with interrupts on right after it (or by
 * ksoftirqd when it does not end): timers, RCU callbacks, block completions. => handlers do bounded
 * batches (32 objects) and raise again.
 */
#ifndef KERNEL_SOFTIRQ_H
#define KERNEL_SOFTIRQ_H

#include "arch/percpu.h"

enum softirq {
	SOFTIRQ_TIMER,
	SOFTIRQ_SCHED,
	SOFTIRQ_POLL, /* drivers/virtio: what one interrupt left in a ring */
	SOFTIRQ_BLOCK,
	SOFTIRQ_RCU,
	SOFTIRQ_TASKLET,
	NR_SOFTIRQS
};

DECLARE_PER_CPU(u32, softirq_pending);
DECLARE_PER_CPU(u64[NR_SOFTIRQS], softirq_count);

void softirq_open(enum softirq nr, void (*handler)(void));
/*
 * => any context; on this CPU. Outside an interrupt it runs at the next interrupt exit or
 * softirq_enable.
 */
void softirq_raise(enum softirq nr);
/*
 * Runs pending softirqs. => called by arch at the outermost interrupt exit with IRQs off; returns
 * with them off.
 */
void softirq_run(void);
/*
 * Keep softirqs off this CPU for a while (locks shared with a softirq handler). Nests; implies
 * preemption off.
 */
void softirq_disable(void);
void softirq_enable(void);
/* sched/ gives the wake-up of this CPU's ksoftirqd. */
extern void (*softirq_wake_daemon)(void);

#endif
