/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * time.h - clocks, high-resolution timers, and the 1 kHz accounting tick.
 *
 * ktime is nanoseconds since boot, read from the clocksource (never from ticks). Timers expire in
 * the TIMER softirq with interrupts on, at most 32 per turn. The tick is a hard-interrupt callback;
 * an idle CPU switches it off (tickless) and arms its alarm for the next timer only.
 */
#ifndef KERNEL_TIME_H
#define KERNEL_TIME_H

#include "arch/timer.h"
#include "kernel/spinlock.h"
#include "lib/rbtree.h"

#define HZ 1000
#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_USEC 1000ull
#define NSEC_PER_TICK (NSEC_PER_SEC / HZ)
#define KTIME_MAX S64_MAX

struct timespec64 {
	s64 tv_sec;
	long tv_nsec;
};

static inline ktime_t ktime_get(void)
{
	return arch_clock_ns();
}
/* CLOCK_REALTIME = ktime + offset; settable. */
u64 ktime_get_real(void);
void ktime_set_real(u64 ns);
static inline unsigned long jiffies(void)
{
	return ktime_get() / NSEC_PER_TICK;
}

struct timer {
	struct rb_node node;
	ktime_t expires;
	void (*fn)(struct timer *timer); /* TIMER softirq, IRQs on; may re-arm */
	u32 cpu;			 /* where it is queued */
	u8 state;			 /* enum in time.c: idle, queued, running */
};
void timer_init(struct timer *t, void (*fn)(struct timer *t));
/* Arms (or moves) t on this CPU for absolute time expires. => any context, IRQs on or off. */
void timer_start(struct timer *t, ktime_t expires);
/*
 * Takes t out. true: it was pending and will not run. false: it was not pending (it may be running
 * right now).
 */
bool timer_cancel(struct timer *t);
/*
 * Takes t out and waits until its function does not run any more. => may not be called from the
 * function itself.
 */
bool timer_cancel_sync(struct timer *t);
static inline bool timer_pending(const struct timer *t)
{
	return READ_ONCE(t->state) == 1;
}

/*
 * The tick: sched/ registers its accounting hook; user = interrupted user mode. Hard interrupt
 * context.
 */
extern void (*tick_hook)(bool user, ktime_t now);
/* Idle loop: stop and restart this CPU's tick. => IRQs off. */
void tick_stop_idle(void);
void tick_start(void);
/* Per-CPU start of the tick (each CPU once, staggered). => IRQs off. */
void time_init_cpu(void);
void time_init(void); /* boot CPU, after the TSC is calibrated */

/* Busy wait; for device code only. */
void delay_ns(u64 ns);

#endif
