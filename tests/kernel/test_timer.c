/* SPDX-License-Identifier: BSD-2-Clause */
/* test_timer.c - timers fire in order, once, not early; cancel means cancel; the tick goes on. */
#include "tests/kernel/ktest.h"

#include "arch/smp.h"
#include "kernel/random.h"
#include "kernel/softirq.h"
#include "kernel/time.h"
#include "sched/kthread.h"

#define N 100

struct probe {
	struct timer timer;
	ktime_t want, fired_at;
	int order, times;
	u32 cpu;
};
static struct probe probes[N];
static int fired;
static bool bad_context;

static void fire(struct timer *t)
{
	struct probe *p = container_of(t, struct probe, timer);

	if (irqs_disabled() || !in_softirq() || in_hardirq())
		bad_context = true;
	p->fired_at = ktime_get();
	p->order = fired++;
	p->times++;
	p->cpu = smp_processor_id();
}

static void reset(void)
{
	for (int i = 0; i < N; i++)
		if (probes[i].timer.fn)
			timer_cancel_sync(&probes[i].timer);
	fired = 0;
	bad_context = false;
	for (int i = 0; i < N; i++) {
		probes[i] = (struct probe){ .order = -1 };
		timer_init(&probes[i].timer, fire);
	}
}

static bool wait_for(int nr)
{
	for (int i = 0; i < 2000 && READ_ONCE(fired) < nr; i++)
		sleep_ns(NSEC_PER_MSEC);
	return READ_ONCE(fired) == nr;
}

KTEST(timer, order_and_time)
{
	ktime_t base;

	reset();
	preempt_disable(); /* all on one CPU */
	base = ktime_get() + 2 * NSEC_PER_MSEC;
	for (int i = 0; i < N; i++) {
		/* ten different times, in a mixed order: equal ones fire as they were armed */
		probes[i].want = base + (i * 7 % 10) * 100 * NSEC_PER_USEC;
		timer_start(&probes[i].timer, probes[i].want);
	}
	preempt_enable();
	KT_ASSERT(wait_for(N));
	KT_ASSERT(!bad_context);
	for (int i = 0; i < N; i++) {
		KT_EQ(probes[i].times, 1);
		KT_ASSERT(probes[i].fired_at >= probes[i].want);
		KT_ASSERT(!timer_pending(&probes[i].timer));
		for (int j = 0; j < i; j++) {
			bool before = probes[j].want <= probes[i].want;

			KT_EQ(probes[j].order < probes[i].order, before);
		}
	}
}

KTEST(timer, cancel)
{
	reset();
	for (int i = 0; i < 10; i++)
		timer_start(&probes[i].timer, ktime_get() + 5 * NSEC_PER_MSEC);
	for (int i = 0; i < 10; i += 2) {
		KT_ASSERT(timer_cancel(&probes[i].timer));
		KT_ASSERT(!timer_cancel(&probes[i].timer));
		KT_ASSERT(!timer_cancel_sync(&probes[i].timer));
	}
	KT_ASSERT(wait_for(5));
	sleep_ns(20 * NSEC_PER_MSEC);
	KT_EQ(fired, 5);
	for (int i = 0; i < 10; i++)
		KT_EQ(probes[i].times, i & 1);
}

KTEST(timer, moved_earlier_and_later)
{
	ktime_t now;

	reset();
	now = ktime_get();
	timer_start(&probes[0].timer, now + 3600 * NSEC_PER_SEC);
	timer_start(&probes[0].timer, now + 2 * NSEC_PER_MSEC); /* earlier: the alarm must follow */
	timer_start(&probes[1].timer, now + 1 * NSEC_PER_MSEC);
	timer_start(&probes[1].timer, now + 4 * NSEC_PER_MSEC);
	KT_ASSERT(wait_for(2));
	KT_EQ(probes[0].order, 0);
	KT_ASSERT(probes[1].fired_at >= now + 4 * NSEC_PER_MSEC);
	KT_ASSERT(probes[0].fired_at < now + 1800 * NSEC_PER_SEC);
}

KTEST(timer, in_the_past)
{
	reset();
	timer_start(&probes[0].timer, 0);
	KT_ASSERT(wait_for(1));
}

static void again(struct timer *t)
{
	struct probe *p = container_of(t, struct probe, timer);

	if (++p->times < 50)
		timer_start(t, t->expires + 100 * NSEC_PER_USEC);
	else
		fired++;
}

KTEST(timer, rearms_itself)
{
	reset();
	timer_init(&probes[0].timer, again);
	timer_start(&probes[0].timer, ktime_get() + NSEC_PER_MSEC);
	KT_ASSERT(wait_for(1));
	KT_EQ(probes[0].times, 50);
}

/* More than a turn's worth on one instant: all fire, with interrupts let in between. */
KTEST(timer, many_at_once)
{
	ktime_t when = ktime_get() + 3 * NSEC_PER_MSEC;

	reset();
	for (int i = 0; i < N; i++)
		timer_start(&probes[i].timer, when);
	KT_ASSERT(wait_for(N));
}

static volatile bool hold, held;

static void slow(struct timer *t)
{
	held = true;
	for (u64 i = 0; hold && i < 100000000; i++)
		cpu_relax();
	held = false;
	fired++;
}

static int release(void *arg)
{
	sleep_ns(5 * NSEC_PER_MSEC);
	hold = false;
	return 0;
}

KTEST(timer, cancel_sync_waits)
{
	if (nr_cpus < 2)
		KT_SKIP("needs two CPUs");
	reset();
	hold = true;
	timer_init(&probes[0].timer, slow);
	KT_ASSERT(kthread_run(release, NULL, -1, "ktest-release"));
	timer_start(&probes[0].timer, ktime_get());
	for (int i = 0; i < 1000 && !held && !fired; i++)
		sleep_ns(100 * NSEC_PER_USEC);
	timer_cancel_sync(&probes[0].timer);
	KT_ASSERT(!held);
	hold = false;
}

KTEST(timer, random_load)
{
	int cancelled = 0;

	reset();
	for (int round = 0; round < 400; round++) {
		struct probe *p = &probes[random_u64() % N];

		if (random_u64() % 3)
			timer_start(&p->timer, ktime_get() + random_u64() % (2 * NSEC_PER_MSEC));
		else
			cancelled += timer_cancel(&p->timer);
		if (round % 10 == 0)
			sleep_ns(100 * NSEC_PER_USEC);
	}
	for (int i = 0; i < N; i++)
		for (int k = 0; k < 1000 && timer_pending(&probes[i].timer); k++)
			sleep_ns(NSEC_PER_MSEC);
	for (int i = 0; i < N; i++)
		KT_ASSERT(!timer_pending(&probes[i].timer));
	KT_ASSERT(fired > 0 && cancelled >= 0);
}

KTEST(timer, clock_goes_on)
{
	ktime_t start = ktime_get(), last = start;

	for (int i = 0; i < 1000; i++) {
		ktime_t now = ktime_get();

		KT_ASSERT(now >= last);
		last = now;
	}
	sleep_ns(20 * NSEC_PER_MSEC);
	KT_ASSERT(ktime_get() >= start + 20 * NSEC_PER_MSEC);
	KT_ASSERT(jiffies() == ktime_get() / NSEC_PER_TICK || jiffies() > 0);
}
