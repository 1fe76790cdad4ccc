/* SPDX-License-Identifier: BSD-2-Clause */
/* test_softirq.c - softirqs run with interrupts on, not nested, and softirq_disable keeps them off. */
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
	u64 before = this_cpu_read(softirq_count[SOFTIRQ_TIMER]);

	runs = nested = 0;
	bad = false;
	KT_ASSERT(!in_softirq());
	arm(NSEC_PER_MSEC);
	sleep_ns(5 * NSEC_PER_MSEC);
	KT_EQ(runs, 1);
	KT_EQ(nested, 0);
	KT_ASSERT(!bad);
	(void)before;
}

KTEST(softirq, disable_holds_them_back)
{
	ktime_t until;
	int while_off;

	runs = 0;
	softirq_disable();
	KT_ASSERT(in_softirq());
	KT_ASSERT(!may_sleep());
	arm(200 * NSEC_PER_USEC);
	until = ktime_get() + 3 * NSEC_PER_MSEC;
	while (ktime_get() < until)
		cpu_relax();
	softirq_disable(); /* nests */
	softirq_enable();
	while_off = runs;
	softirq_enable(); /* runs it here */
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
	sleep_ns(3 * NSEC_PER_MSEC);
	KT_EQ(runs, 1);
	KT_EQ(this_cpu_read(softirq_pending) & BIT(SOFTIRQ_TIMER), 0);
}
