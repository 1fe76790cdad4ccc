/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wakeup.h - how long a woken thread waits for its CPU, and what it waited for. sched/ and
 * kernel/time.c call these hooks while wakeup_tracing is set; theory in wakeup.c.
 */
#ifndef TRACE_WAKEUP_H
#define TRACE_WAKEUP_H

#include "lib/types.h"

#ifdef QUIRE_HOST
#define wakeup_tracing false
#else
extern bool wakeup_tracing; /* read-mostly; off: each hook costs a compare and a branch */
#endif

enum wake_class { WAKE_RT, WAKE_FAIR, NR_WAKE_CLASSES };

/* A thread as the scheduler sees it at the time of the call. */
struct wake_thread {
	const void *who; /* only compared */
	s32 tid;	 /* 0: idle */
	u32 policy;	 /* SCHED_* */
	s32 prio;	 /* as Linux prints it: 0..99 real time, 120 + nice */
	const char *comm;
	enum wake_class class;
};

struct irq_site;

/*
 * woken is now queued on CPU cpu, where curr runs. => lock of that queue held, interrupts off.
 * Returns the time to keep with the thread: what wakeup_switch() wants as woken_ns.
 */
u64 wakeup_begin(u32 cpu, u64 now, const struct wake_thread *woken, const struct wake_thread *curr);
/*
 * This CPU is about to switch. woken_ns: what wakeup_begin() gave for next; 0: it was not asleep.
 * caller: the return address the stack of prev shall begin with.
 * => lock of this CPU's queue held, interrupts off; on prev's stack.
 */
void wakeup_switch(u64 now, const struct wake_thread *prev, const struct wake_thread *next,
		   u64 woken_ns, unsigned long caller);
/* A waiting thread goes to another CPU. => locks of both queues held, or of the old one alone */
void wakeup_move(const void *who, u32 from, u32 to);
/* The tick, in hard interrupt context. */
void wakeup_tick(void);
/* A timer due at `expires` is about to be called. => interrupts off */
void wakeup_timer(u64 expires, const void *fn);
/* An interrupts-off section of this CPU ended: its readings of the clock. => interrupts off */
void wakeup_section(struct irq_site *start, struct irq_site *end, u64 from, u64 to, u64 work,
		    unsigned long caller);

#endif
