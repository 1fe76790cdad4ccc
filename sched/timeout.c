/* SPDX-License-Identifier: BSD-2-Clause */
/* timeout.c - sleeping until a point in time: a timer on the sleeper's stack wakes it. */
#include "sched/internal.h"

struct sleeper {
	struct timer timer;
	struct thread *thread;
};

static void sleeper_expired(struct timer *timer)
{
	thread_wake(container_of(timer, struct sleeper, timer)->thread, THREAD_ASLEEP);
}

s64 schedule_until(ktime_t deadline)
{
	struct sleeper s;
	s64 left;

	if (deadline == KTIME_MAX) {
		schedule();
		return KTIME_MAX;
	}
	left = (s64)(deadline - ktime_get());
	if (left <= 0) {
		WRITE_ONCE(current->state, THREAD_RUNNING);
		cond_resched();
		return 0;
	}
	s.thread = current;
	timer_init(&s.timer, sleeper_expired);
	timer_start(&s.timer, deadline);
	schedule();
	timer_cancel_sync(&s.timer);
	left = (s64)(deadline - ktime_get());
	return left > 0 ? left : 0;
}

s64 schedule_timeout(s64 ns)
{
	u64 now;

	if (ns >= (s64)KTIME_MAX)
		return schedule_until(KTIME_MAX);
	now = ktime_get();
	/* A deadline beyond the end of time is for ever. */
	return schedule_until(ns > (s64)(KTIME_MAX - now) ? KTIME_MAX : now + (u64)max(ns, (s64)0));
}

void sleep_ns(s64 ns)
{
	ktime_t deadline = ktime_get() + (u64)max(ns, (s64)0);

	do
		thread_set_state(THREAD_UNINTERRUPTIBLE);
	while (schedule_until(deadline) > 0);
}
