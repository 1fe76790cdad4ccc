/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * preempt.h - one per-CPU word says whether the running thread may be switched away from.
 *
 *   bits 0-7   preemption-off nesting     bits 8-15  softirq nesting
 *   bits 16-19 hard interrupt nesting     bit 20     NMI
 *   bit 31     set = NO reschedule wanted (inverted, so "all zero" means: may and should switch)
 *
 * preempt_enable() is then one decrement and one branch. The word belongs to the CPU and is saved
 * and restored by the scheduler across a switch (a thread always switches at the same depth).
 * With preempt=none|voluntary the hook behind a zero word returns at once for kernel code;
 * preempt=full switches.
 */
#ifndef KERNEL_PREEMPT_H
#define KERNEL_PREEMPT_H

#include "arch/percpu.h"

#define PREEMPT_MASK 0x000000ffu
#define SOFTIRQ_MASK 0x0000ff00u
#define HARDIRQ_MASK 0x000f0000u
#define NMI_MASK 0x00100000u
#define SOFTIRQ_OFFSET 0x100u
#define HARDIRQ_OFFSET 0x10000u
#define NMI_OFFSET 0x100000u
#define NO_RESCHED 0x80000000u

#ifdef QUIRE_HOST
#define preempt_disable() ((void)0)
#define preempt_enable() ((void)0)
#define preempt_enable_no_resched() ((void)0)
#define preempt_disable_short() ((void)0)
#define preempt_enable_short() ((void)0)
#define preempt_enable_short_later() ((void)0)
#define preempt_enable_short_test() false
#define in_interrupt() false
#define in_hardirq() false
#define preempt_count() 0u
#define may_sleep() true
#define need_resched() false
#else
DECLARE_PER_CPU(u32, __preempt_count);

/*
 * sched/ implements it: switch if preemption is full. => count is zero and a reschedule is wanted.
 */
void preempt_schedule(void);

/*
 * trace/preemptoff.c: called while a preemption tracer is selected, after the count was raised and
 * before it is lowered. Otherwise each costs a compare and a predicted branch.
 */
extern bool preemptoff_enabled;
void preemptoff_start(void);
void preemptoff_stop(void);
/* the idle loop is about to wait (has waited) with preemption off */
void preemptoff_idle(bool enter);

#define preempt_count() (this_cpu_read(__preempt_count) & ~NO_RESCHED)
#define preempt_disable()                                                                          \
	do {                                                                                       \
		this_cpu_inc(__preempt_count);                                                     \
		barrier();                                                                         \
		if (unlikely(preemptoff_enabled))                                                  \
			preemptoff_start();                                                        \
	} while (0)
#define preempt_enable_no_resched()                                                                \
	do {                                                                                       \
		if (unlikely(preemptoff_enabled))                                                  \
			preemptoff_stop();                                                         \
		barrier();                                                                         \
		this_cpu_dec(__preempt_count);                                                     \
	} while (0)
static __always_inline void preempt_enable(void)
{
	bool zero;

	if (unlikely(preemptoff_enabled))
		preemptoff_stop();
	barrier();
	__asm__ volatile("decl %%gs:%1" : "=@ccz"(zero), "+m"(__preempt_count) : : "memory");
	if (unlikely(zero))
		preempt_schedule();
}
/*
 * For straight-line sections of a dozen instructions (a pop from a per-CPU list): as above, but the
 * preemption tracer does not look. => no loop, no call in between.
 */
#define preempt_disable_short()                                                                    \
	do {                                                                                       \
		this_cpu_inc(__preempt_count);                                                     \
		barrier();                                                                         \
	} while (0)
/*
 * true: the caller calls preempt_schedule() itself (as a tail call, so that the common path needs
 * no stack frame).
 */
static __always_inline __must_check bool preempt_enable_short_test(void)
{
	bool zero;

	barrier();
	__asm__ volatile("decl %%gs:%1" : "=@ccz"(zero), "+m"(__preempt_count) : : "memory");
	return unlikely(zero);
}
static __always_inline void preempt_enable_short(void)
{
	if (preempt_enable_short_test())
		preempt_schedule();
}
/* The caller goes on to something that ends in preempt_enable() anyway. */
#define preempt_enable_short_later()                                                               \
	do {                                                                                       \
		barrier();                                                                         \
		this_cpu_dec(__preempt_count);                                                     \
	} while (0)
/* After interrupts came back on (spin_unlock_irqrestore): a wake-up meanwhile may want this CPU. */
static __always_inline void preempt_check(void)
{
	if (unlikely(this_cpu_read(__preempt_count) == 0))
		preempt_schedule();
}

#define in_nmi() (this_cpu_read(__preempt_count) & NMI_MASK)
#define in_hardirq() (this_cpu_read(__preempt_count) & (HARDIRQ_MASK | NMI_MASK))
#define in_softirq() (this_cpu_read(__preempt_count) & SOFTIRQ_MASK)
#define in_interrupt() this_cpu_test32(__preempt_count, SOFTIRQ_MASK | HARDIRQ_MASK | NMI_MASK)
/* True in thread context with preemption and interrupts on. */
#define may_sleep() (preempt_count() == 0 && !irqs_disabled())

static __always_inline bool need_resched(void)
{
	return !(this_cpu_read(__preempt_count) & NO_RESCHED);
}
static __always_inline void set_need_resched_local(void)
{
	this_cpu_and(__preempt_count, ~NO_RESCHED);
}
static __always_inline void clear_need_resched_local(void)
{
	this_cpu_or(__preempt_count, NO_RESCHED);
}
#endif

#endif
