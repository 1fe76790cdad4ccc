// SPDX-License-Identifier: BSD-2-Clause
/* time_calls.c - clocks and sleeping. */
#include "arch/uaccess.h"
#include "kernel/time.h"
#include "sys/process.h"
#include "sys/syscall.h"
#include "sys/timers.h"

enum {
	CLOCK_REALTIME,
	CLOCK_MONOTONIC,
	CLOCK_PROCESS_CPUTIME,
	CLOCK_THREAD_CPUTIME,
	CLOCK_MONOTONIC_RAW,
	CLOCK_REALTIME_COARSE,
	CLOCK_MONOTONIC_COARSE,
	CLOCK_BOOTTIME,
	CLOCK_REALTIME_ALARM,
	CLOCK_BOOTTIME_ALARM,
	CLOCK_TAI = 11
};
#define TIMER_ABSTIME 1

/* Clocks of other processes and threads: ~pid << 3 | thread << 2 | kind */
static int other_cpu_clock(int clock, u64 *ns)
{
	pid_t pid = ~(clock >> 3);
	int ret = -EINVAL;

	if ((clock & 3) == 3)
		return -EINVAL;
	if (clock & 4) {
		struct task *t = task_get(pid ? pid : current->tid);

		if (t && t->proc == current_proc) {
			*ns = thread_runtime_ns(&t->thread);
			ret = 0;
		}
		if (t)
			thread_put(&t->thread);
	} else {
		struct process *p = proc_get(pid ? pid : current->tgid);

		if (p) {
			*ns = proc_cputime_ns(p);
			ret = 0;
			proc_put(p);
		}
	}
	return ret;
}

bool clock_is_cpu(int clock)
{
	return clock < 0 || clock == CLOCK_PROCESS_CPUTIME || clock == CLOCK_THREAD_CPUTIME;
}

int clock_now(int clock, u64 *ns)
{
	switch (clock) {
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
	case CLOCK_BOOTTIME_ALARM:
		*ns = ktime_get();
		return 0;
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_REALTIME_ALARM:
	case CLOCK_TAI:
		*ns = ktime_get_real();
		return 0;
	case CLOCK_PROCESS_CPUTIME:
		*ns = proc_cputime_ns(current_proc);
		return 0;
	case CLOCK_THREAD_CPUTIME:
		*ns = thread_runtime_ns(current);
		return 0;
	default:
		return clock < 0 ? other_cpu_clock(clock, ns) : -EINVAL;
	}
}

ktime_t clock_to_ktime(int clock, u64 ns)
{
	u64 now = 0, mono = ktime_get();

	if (clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME)
		return ns;
	clock_now(clock, &now);
	if (ns <= now)
		return mono;
	return ns - now >= KTIME_MAX - mono ? KTIME_MAX : mono + (ns - now);
}

SYSCALL(clock_gettime)
{
	u64 ns = 0;
	int err = clock_now(a0, &ns);

	return err ? err : timespec_put(a1, ns);
}

SYSCALL(clock_getres)
{
	u64 ns = 0;
	int err = clock_now(a0, &ns), clock = a0;

	if (err || !a1)
		return err;
	return timespec_put(a1, clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE
					? NSEC_PER_TICK
					: 1);
}

SYSCALL(clock_settime)
{
	u64 ns;
	int err;

	if ((int)a0 != CLOCK_REALTIME)
		return -EINVAL;
	err = timespec_arg(a1, &ns);
	if (err)
		return err;
	if (current_proc->cred.euid)
		return -EPERM;
	ktime_set_real(ns);
	return 0;
}

SYSCALL(gettimeofday)
{
	u64 ns = ktime_get_real();
	s64 tv[2] = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / 1000 };
	u32 zone[2] = { 0, 0 };

	if (a0 && copy_to_user((void __user *)a0, tv, sizeof(tv)))
		return -EFAULT;
	return a1 && copy_to_user((void __user *)a1, zone, sizeof(zone)) ? -EFAULT : 0;
}

SYSCALL(settimeofday)
{
	s64 tv[2];

	if (!a0)
		return 0;
	if (copy_from_user(tv, (void __user *)a0, sizeof(tv)))
		return -EFAULT;
	if (tv[0] < 0 || tv[0] > S64_MAX / (s64)NSEC_PER_SEC - 1 || tv[1] < 0 || tv[1] >= 1000000)
		return -EINVAL;
	if (current_proc->cred.euid)
		return -EPERM;
	ktime_set_real(tv[0] * NSEC_PER_SEC + tv[1] * 1000);
	return 0;
}

SYSCALL(time)
{
	u64 now = ktime_get_real() / NSEC_PER_SEC;

	if (a0 && put_user_u64(now, (u64 __user *)a0))
		return -EFAULT;
	return now;
}

/* ---- sleeping ---- */

/* => 0: slept; -EINTR */
static int sleep_until(ktime_t deadline)
{
	while (ktime_get() < deadline) {
		thread_set_state(THREAD_INTERRUPTIBLE);
		if (signal_pending()) {
			thread_set_state(THREAD_RUNNING);
			return -EINTR;
		}
		schedule_until(deadline);
	}
	thread_set_state(THREAD_RUNNING);
	return 0;
}

static long put_remaining(u64 user, ktime_t deadline, long ret)
{
	u64 now = ktime_get();

	if (user && timespec_put(user, deadline > now ? deadline - now : 0))
		return -EFAULT;
	return ret;
}

static long sleep_restart(struct restart_block *rb)
{
	if (!sleep_until(rb->arg[0]))
		return 0;
	return put_remaining(rb->arg[1], rb->arg[0], -ERESTART_RESTARTBLOCK);
}

static long relative_sleep(u64 ns, u64 remaining)
{
	u64 now = ktime_get();
	ktime_t deadline = ns >= KTIME_MAX - now ? KTIME_MAX : now + ns;
	struct restart_block *rb = &current_task()->restart;

	if (!sleep_until(deadline))
		return 0;
	*rb = (struct restart_block){ .fn = sleep_restart, .arg = { deadline, remaining } };
	return put_remaining(remaining, deadline, -ERESTART_RESTARTBLOCK);
}

SYSCALL(nanosleep)
{
	u64 ns;
	int err = timespec_arg(a0, &ns);

	return err ? err : relative_sleep(ns, a1);
}

SYSCALL(clock_nanosleep)
{
	int clock = a0, flags = a1, err;
	u64 ns, now;

	err = clock_now(clock, &now);
	if (err)
		return err;
	if (clock == CLOCK_THREAD_CPUTIME)
		return -EINVAL;
	if (clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_REALTIME_COARSE ||
	    clock == CLOCK_MONOTONIC_COARSE)
		return -EOPNOTSUPP;
	err = timespec_arg(a2, &ns);
	if (err)
		return err;
	if (clock_is_cpu(clock)) { /* time of a process: look again until it has come */
		u64 target = flags & TIMER_ABSTIME ? ns : now + ns;

		while (!clock_now(clock, &now) && now < target)
			if (sleep_until(ktime_get() +
					max_t(u64, (target - now) / nr_cpus, NSEC_PER_MSEC)))
				return -ERESTARTNOHAND;
		return 0;
	}
	if (!(flags & TIMER_ABSTIME))
		return relative_sleep(ns, a3);
	return sleep_until(clock_to_ktime(clock, ns)) ? -ERESTARTNOHAND : 0;
}
