/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_softirq.c - softirqs run with interrupts on, not nested, and softirq_disable keeps them off.
 */
#include "tests/kernel/ktest.h"

#include "kernel/softirq.h"
#include "kernel/time.h"
#include "sched/kthread.h"

static struct timer timer;
static volatile int runs, nested, depth;
static volatile bool bad;

static void probe(struct timer *t)
{
	if (depth++)
		nested++;
	if (irqs_disabled() || !in_softirq() || !in_interrupt() || in_hardirq())
		bad = true;
	runs++;
	depth--;
}

static void arm(u64 ns)
{
	timer_init(&timer, probe);
	timer_start(&timer, ktime_get() + ns);
}

KTEST(softirq, context)
{
	runs = nested = 0;
	bad = false;
	KT_ASSERT(!in_softirq());
	arm(NSEC_PER_MSEC);
	for (int i = 0; i < 1000 && timer_pending(&timer); i++)
		sleep_ns(5 * NSEC_PER_MSEC);
	timer_cancel_sync(&timer);
	KT_EQ(runs, 1);
	KT_EQ(nested, 0);
	KT_ASSERT(!bad);
}

KTEST(softirq, disable_holds_them_back)
{
	ktime_t until, due;
	int while_off;

	runs = 0;
	softirq_disable();
	KT_ASSERT(in_softirq());
	KT_ASSERT(!may_sleep());
	arm(200 * NSEC_PER_USEC);
	due = timer.expires;
	until = ktime_get() + NSEC_PER_SEC; /* the alarm of a busy host may be late */
	while (ktime_get() < until &&
	       (ktime_get() <= due || !(this_cpu_read(softirq_pending) & BIT(SOFTIRQ_TIMER))))
		cpu_relax();
	softirq_disable(); /* nests */
	softirq_enable();
	while_off = runs;
	softirq_enable(); /* runs it here */
	timer_cancel_sync(&timer);
	KT_EQ(while_off, 0);
	KT_EQ(runs, 1);
	KT_ASSERT(may_sleep());
}

KTEST(softirq, raised_from_a_thread)
{
	runs = 0;
	timer_init(&timer, probe);
	preempt_disable();
	timer_start(&timer, 0);
	softirq_raise(SOFTIRQ_TIMER);
	preempt_enable();
	for (int i = 0; i < 1000 && timer_pending(&timer); i++)
		sleep_ns(3 * NSEC_PER_MSEC);
	timer_cancel_sync(&timer);
	KT_EQ(runs, 1);
}
