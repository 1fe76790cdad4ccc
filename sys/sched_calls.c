// SPDX-License-Identifier: BSD-2-Clause
/* sched_calls.c - policies, priorities, affinity of threads. */
#include "arch/smp.h"
#include "arch/uaccess.h"
#include "kernel/time.h"
#include "sched/sched.h"
#include "sys/process.h"
#include "sys/syscall.h"

#define SCHED_RESET_ON_FORK 0x40000000

static struct task *target(pid_t tid)
{
	if (tid)
		return task_get(tid);
	thread_get(current);
	return current_task();
}

static bool may_change(const struct task *t)
{
	const struct cred *me = &current_proc->cred;

	return !me->euid || me->euid == t->proc->cred.euid || me->euid == t->proc->cred.uid;
}

static bool is_rt(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

static int check_policy(const struct task *t, int policy, int prio)
{
	u64 limit = t->proc->rlim[RLIMIT_RTPRIO].cur;

	if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE &&
	    !is_rt(policy))
		return -EINVAL;
	if (prio < 0 || prio > 99 || is_rt(policy) != (prio != 0))
		return -EINVAL;
	if (!may_change(t))
		return -EPERM;
	if (is_rt(policy) && current_proc->cred.euid && (u64)prio > limit)
		return -EPERM;
	return 0;
}

/* policy -1: keep */
static long set_scheduler(pid_t pid, int policy, u64 user)
{
	struct task *t;
	u32 prio;
	int err;

	if (pid < 0 || !user)
		return -EINVAL;
	if (get_user_u32(&prio, (u32 __user *)user))
		return -EFAULT;
	t = target(pid);
	if (!t)
		return -ESRCH;
	if (policy == -1)
		policy = t->thread.policy;
	policy &= ~SCHED_RESET_ON_FORK;
	err = check_policy(t, policy, prio);
	if (!err)
		err = sched_set_policy(&t->thread, policy, prio, t->thread.nice);
	thread_put(&t->thread);
	return err;
}

SYSCALL(sched_setscheduler)
{
	return (int)a1 < 0 ? -EINVAL : set_scheduler(a0, a1, a2);
}

SYSCALL(sched_setparam)
{
	return set_scheduler(a0, -1, a1);
}

SYSCALL(sched_getscheduler)
{
	struct task *t;
	long ret;

	if ((pid_t)a0 < 0)
		return -EINVAL;
	t = target(a0);
	if (!t)
		return -ESRCH;
	ret = t->thread.policy;
	thread_put(&t->thread);
	return ret;
}

SYSCALL(sched_getparam)
{
	struct task *t;
	u32 prio;

	if ((pid_t)a0 < 0 || !a1)
		return -EINVAL;
	t = target(a0);
	if (!t)
		return -ESRCH;
	prio = is_rt(t->thread.policy) ? t->thread.rt_prio : 0;
	thread_put(&t->thread);
	return put_user_u32(prio, (u32 __user *)a1);
}

SYSCALL(sched_get_priority_max)
{
	return is_rt(a0)						    ? 99
	       : a0 == SCHED_OTHER || a0 == SCHED_BATCH || a0 == SCHED_IDLE ? 0
									    : -EINVAL;
}

SYSCALL(sched_get_priority_min)
{
	return is_rt(a0)						    ? 1
	       : a0 == SCHED_OTHER || a0 == SCHED_BATCH || a0 == SCHED_IDLE ? 0
									    : -EINVAL;
}

SYSCALL(sched_rr_get_interval)
{
	struct task *t;
	u64 ns;

	if ((pid_t)a0 < 0)
		return -EINVAL;
	t = target(a0);
	if (!t)
		return -ESRCH;
	ns = sched_rr_interval_ns(&t->thread);
	thread_put(&t->thread);
	return timespec_put(a1, ns);
}

SYSCALL(sched_yield)
{
	sched_yield();
	return 0;
}

/* ---- sched_setattr ---- */

struct sched_attr {
	u32 size, policy;
	u64 flags;
	s32 nice;
	u32 priority;
	u64 runtime, deadline, period;
};

SYSCALL(sched_setattr)
{
	struct sched_attr attr = { 0 };
	struct task *t;
	u32 size;
	int err;

	if ((pid_t)a0 < 0 || !a1 || a2)
		return -EINVAL;
	if (get_user_u32(&size, (u32 __user *)a1))
		return -EFAULT;
	if (size && size < sizeof(attr))
		return -E2BIG;
	if (copy_from_user(&attr, (void __user *)a1, sizeof(attr)))
		return -EFAULT;
	t = target(a0);
	if (!t)
		return -ESRCH;
	attr.nice = clamp(attr.nice, -20, 19);
	err = check_policy(t, attr.policy, attr.priority);
	if (!err && !is_rt(attr.policy) && attr.nice < t->thread.nice && current_proc->cred.euid)
		err = -EPERM;
	if (!err)
		err = sched_set_policy(&t->thread, attr.policy, attr.priority, attr.nice);
	thread_put(&t->thread);
	return err;
}

SYSCALL(sched_getattr)
{
	struct sched_attr attr = { .size = sizeof(attr) };
	struct task *t;

	if ((pid_t)a0 < 0 || !a1 || a3 || (u32)a2 < sizeof(attr) || (u32)a2 > PAGE_SIZE)
		return -EINVAL;
	t = target(a0);
	if (!t)
		return -ESRCH;
	attr.policy = t->thread.policy;
	if (is_rt(attr.policy))
		attr.priority = t->thread.rt_prio;
	else
		attr.nice = t->thread.nice;
	thread_put(&t->thread);
	return copy_struct_to_user((void __user *)a1, &attr);
}

/* ---- affinity ---- */

SYSCALL(sched_setaffinity)
{
	cpumask_t mask = 0;
	struct task *t;
	int err;

	if (copy_from_user(&mask, (void __user *)a2, min_t(u64, a1, sizeof(mask))))
		return -EFAULT;
	t = target(a0);
	if (!t)
		return -ESRCH;
	err = may_change(t) ? sched_set_affinity(&t->thread, mask) : -EPERM;
	thread_put(&t->thread);
	return err;
}

SYSCALL(sched_getaffinity)
{
	cpumask_t mask;
	struct task *t;

	if (a1 < sizeof(mask) || (a1 & 7))
		return -EINVAL;
	t = target(a0);
	if (!t)
		return -ESRCH;
	mask = t->thread.allowed & cpu_online_mask;
	thread_put(&t->thread);
	return copy_to_user((void __user *)a2, &mask, sizeof(mask)) ? -EFAULT : (long)sizeof(mask);
}

SYSCALL(getcpu)
{
	u32 cpu = smp_processor_id();

	if (a0 && put_user_u32(cpu, (u32 __user *)a0))
		return -EFAULT;
	return a1 ? put_user_u32(cpu_node[cpu], (u32 __user *)a1) : 0;
}

/* ---- nice ---- */

enum { PRIO_PROCESS, PRIO_PGRP, PRIO_USER };

static bool prio_matches(const struct process *p, int which, u32 who)
{
	switch (which) {
	case PRIO_PGRP:
		return p->pgid == (pid_t)(who ? who : (u32)current_proc->pgid);
	case PRIO_USER:
		return p->cred.uid == (who ? who : current_proc->cred.uid);
	default:
		return false;
	}
}

static int set_one(struct task *t, int nice)
{
	if (!may_change(t))
		return -EPERM;
	if (nice < t->thread.nice && current_proc->cred.euid &&
	    (u64)(20 - nice) > t->proc->rlim[RLIMIT_NICE].cur)
		return -EACCES;
	sched_set_nice(&t->thread, nice);
	return 0;
}

/*
 * Calls fn for every thread meant; the best (getpriority: largest) result, -ESRCH when there is
 * none.
 */
static int for_each_meant(int which, u32 who, int (*fn)(struct task *t, int arg), int arg)
{
	struct process *p;
	pid_t pid = 0;
	int ret = -ESRCH;

	if (which == PRIO_PROCESS) {
		struct task *t = target(who);

		if (!t)
			return -ESRCH;
		ret = fn(t, arg);
		thread_put(&t->thread);
		return ret;
	}
	while ((p = proc_next(pid))) {
		struct task *t;
		pid_t tid = 0;

		pid = p->pid + 1;
		while (prio_matches(p, which, who) && (t = proc_next_task(p, tid))) {
			int r = fn(t, arg);

			tid = t->thread.tid + 1;
			thread_put(&t->thread);
			ret = ret == -ESRCH || r > ret ? r : ret;
		}
		proc_put(p);
	}
	return ret;
}

static int get_one(struct task *t, int unused)
{
	return 20 - t->thread.nice;
}

SYSCALL(setpriority)
{
	int nice = clamp((int)a2, -20, 19);

	if ((int)a0 < PRIO_PROCESS || (int)a0 > PRIO_USER)
		return -EINVAL;
	return for_each_meant(a0, a1, set_one, nice);
}

SYSCALL(getpriority)
{
	if ((int)a0 < PRIO_PROCESS || (int)a0 > PRIO_USER)
		return -EINVAL;
	return for_each_meant(a0, a1, get_one, 0);
}

SYSCALL(ioprio_get)
{
	struct task *t;
	long ret;

	if ((int)a0 != 1)
		return (int)a0 == 2 || (int)a0 == 3 ? 0 : -EINVAL;
	t = target(a1);
	if (!t)
		return -ESRCH;
	ret = t->ioprio;
	thread_put(&t->thread);
	return ret;
}

SYSCALL(ioprio_set)
{
	struct task *t;

	if ((int)a0 != 1 || (u32)a2 >> 13 > 3)
		return -EINVAL;
	t = target(a1);
	if (!t)
		return -ESRCH;
	t->ioprio = a2;
	thread_put(&t->thread);
	return 0;
}
