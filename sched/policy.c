/* SPDX-License-Identifier: BSD-2-Clause */
/* policy.c - what may be changed about a thread while it lives: policy, nice, affinity. */
#include "lib/errno.h"
#include "sched/internal.h"

static inline const struct sched_class *class_of_level(int level)
{
	return level >= LEVEL_RT ? &rt_class : &fair_class;
}

void thread_apply_level(struct rq *rq, struct thread *t)
{
	int level = thread_level_eff(t);
	bool queued = t->on_rq == 1;
	bool running = rq && rq->curr == t;

	if (running && t == rq->idle)
		return;
	if (queued) {
		rq_update_curr(rq);
		rq_deactivate(rq, t);
		if (running)
			t->sclass->put_prev(rq, t);
	}
	t->sclass = class_of_level(level);
	t->sclass->set_params(rq, t, level);
	if (!queued)
		return;
	rq_activate(rq, t, ENQUEUE_MOVE);
	if (running) {
		t->sclass->set_next(rq, t);
		rq_resched(rq); /* it may not be the first any more */
	} else {
		rq_check_preempt(rq, t);
	}
}

int sched_set_policy(struct thread *t, u32 policy, u32 rt_prio, int nice)
{
	bool rt = policy == SCHED_FIFO || policy == SCHED_RR;
	unsigned long flags;
	struct rq *rq;

	if (!rt && policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE)
		return -EINVAL;
	if (rt ? rt_prio < 1 || rt_prio > 99 : rt_prio != 0)
		return -EINVAL;
	if (nice < -20 || nice > 19)
		return -EINVAL;
	local_irq_save_l(flags, "sched_set_policy");
	rq = thread_rq_lock(t);
	t->policy = policy;
	t->rt_prio = rt_prio;
	t->nice = nice;
	thread_apply_level(rq, t);
	rq_unlock(rq);
	local_irq_restore_l(flags, "sched_set_policy");
	if (flags & X86_EFLAGS_IF)
		preempt_check();
	pi_level_changed(t);
	return 0;
}

void sched_set_nice(struct thread *t, int nice)
{
	nice = clamp(nice, -20, 19);
	sched_set_policy(t, t->policy, t->rt_prio, nice);
}

/*
 * Waiting threads move at once. A running one is asked to leave and moves when it next passes
 * through the scheduler; the caller itself has moved when this returns.
 */
int sched_set_affinity(struct thread *t, cpumask_t mask)
{
	unsigned long flags;
	bool leave = false;
	struct rq *rq;

	if (!(mask & READ_ONCE(sched_cpus)))
		return -EINVAL;
	local_irq_save_l(flags, "sched_set_affinity");
	rq = thread_rq_lock(t);
	t->allowed = mask;
	if (t->on_rq == 1 && !(mask & CPU_BIT(rq->cpu))) {
		if (rq->curr == t) {
			rq_resched(rq);
			leave = t == current;
		} else {
			rq = rq_expel(rq, t);
		}
	}
	rq_unlock(rq);
	local_irq_restore_l(flags, "sched_set_affinity");
	if (leave && may_sleep())
		schedule();
	else if (flags & X86_EFLAGS_IF)
		preempt_check();
	return 0;
}

u64 sched_rr_interval_ns(struct thread *t)
{
	return t->sclass->interval(t);
}
