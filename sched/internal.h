/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - the run queue and what the files of sched/ tell each other. Not for other rooms. */
#ifndef SCHED_INTERNAL_H
#define SCHED_INTERNAL_H

#include "arch/smp.h"
#include "kernel/bug.h"
#include "sched/class.h"
#include "sched/sched.h"

struct rt_rq {
	u64 bitmap[2]; /* bit prio: list not empty */
	struct list_head queue[100];
	u32 nr;
	bool throttled;
	u64 time_ns, period_start; /* real-time work of this period */
	u64 nr_throttled;
};

/* What finish_switch() has to do beyond unlocking. */
#define AFTER_DROP_MM 1u
#define AFTER_DEAD 2u
#define AFTER_MOVE 4u
#define AFTER_PSI 8u /* stays: a thread in a memory stall belongs to this CPU */

/* psi.c: how long something was so. */
struct psi_clock {
	u64 ns, since;
	bool on;
};

/*
 * One per CPU. Everything is protected by lock (taken with IRQs off), but for what says otherwise:
 * (s) read without it by the balancer as a hint, (c) this CPU only.
 */
struct rq {
	spinlock_t lock;
	u32 cpu;
	u32 nr_running; /* all classes but idle, the running one included (s) */
	u32 after;	/* AFTER_* of the switch under way */
	/* ktime of the last update: one reading serves a whole schedule() */
	u64 clock;
	struct thread *curr, *idle; /* curr (s) under RCU */
	u64 nr_switches;
	struct fair_rq fair;
	struct aspace *drop_mm;
	int curr_level; /* effective level of curr, -2 idle (s) */
	int node;
	u32 nr_iowait, nr_uninterruptible; /* sleepers that were last here */

	/* balancing */
	u64 next_balance, next_remote; /* (c) */
	u64 next_kick, kick_interval;  /* (c); interval is set back by a successful puller */
	u32 kicked;		       /* an idle CPU is asked to pull */
	u64 nr_pulled, nr_pull_failed;

	/* accounts, ns: from the tick, but idle and iowait are exact */
	struct cpu_times times;
	u64 nr_wakeups, nr_remote_wakeups, nr_forks;

	/* pressure (psi.c); psi_cpu_ns: less the clock when it began, while nr_running > 1 */
	u64 psi_cpu_ns;
	struct psi_clock psi_io_some, psi_mem_some, psi_mem_full;
	u32 nr_memstall;

	struct rt_rq rt;
};
DECLARE_PER_CPU(struct rq, runqueues);

#define cpu_rq(cpu) (&per_cpu(runqueues, cpu))
#define this_rq() this_cpu_ptr(&runqueues)

/* Hints, one bit per CPU: queues that run, sit idle, have more than one runnable thread. */
extern u64 sched_cpus, sched_idle_cpus, sched_busy_cpus;
extern u64 sched_node_cpus[];

/* => IRQs off: preemption cannot happen, so the count stays alone. */
static __always_inline void rq_lock(struct rq *rq)
{
	lock_debug_acquire(&rq->lock, __func__);
	__spin_acquire(&rq->lock);
}
static __always_inline void rq_unlock(struct rq *rq)
{
	lock_debug_release(&rq->lock);
	__spin_release(&rq->lock);
}
/* Both, in order of their numbers. => IRQs off. */
static inline void rq_lock_two(struct rq *a, struct rq *b)
{
	rq_lock(a->cpu < b->cpu ? a : b);
	rq_lock(a->cpu < b->cpu ? b : a);
}
/* Locks the queue t belongs to. => IRQs off. */
static inline struct rq *thread_rq_lock(struct thread *t)
{
	for (;;) {
		struct rq *rq = cpu_rq(READ_ONCE(t->cpu));

		rq_lock(rq);
		if (likely(rq->cpu == READ_ONCE(t->cpu)))
			return rq;
		rq_unlock(rq);
	}
}

static __always_inline void rq_update_clock(struct rq *rq)
{
	u64 now = ktime_get();

	if (likely((s64)(now - rq->clock) > 0))
		rq->clock = now;
}

/* core.c. => lock held, IRQs off */
void rq_update_curr(struct rq *rq); /* clock, and the account of the running thread */
void rq_resched(struct rq *rq);	    /* the running thread shall give way soon */
void rq_activate(struct rq *rq, struct thread *t, enum enqueue_how how);
void rq_deactivate(struct rq *rq, struct thread *t);
void rq_check_preempt(struct rq *rq, struct thread *t);
/* Moves a thread that is queued on src and not running; both locked. */
void rq_move(struct rq *src, struct rq *dst, struct thread *t);
/* to a CPU it may use; returns that queue, locked */
struct rq *rq_expel(struct rq *rq, struct thread *t);

/*
 * rt.c: starts a new period when the old one is over; true when that lets throttled threads run
 * again.
 */
bool rt_new_period(struct rq *rq);

/* policy.c: puts t's effective level in force. => its queue locked */
void thread_apply_level(struct rq *rq, struct thread *t);

/* balance.c */
u32 select_cpu_wake(struct thread *t);
u32 select_cpu_new(struct thread *t);
u32 select_cpu_allowed(struct thread *t); /* after its affinity has changed */
/* => rq locked, stays locked; true when something is queued now */
bool newidle_balance(struct rq *rq);
void balance_tick(struct rq *rq, u64 now);
void balance_add_cpu(u32 cpu);

/* core.c: looks at the events and tracers from now on */
void sched_trace_init(void);

/* account.c */
void account_init(void);
void account_tick(struct rq *rq, struct thread *curr, bool user);
void loadavg_tick(u64 now);

/* psi.c. => rq locked; its clock up to date but for psi_mem_change */
void psi_mem_update(struct rq *rq);
void psi_mem_change(struct rq *rq, int n); /* n threads in a memory stall more */
void psi_io_change(struct rq *rq, int n);  /* n sleepers for I/O more */
void psi_tick(u64 now);

/* pi.c */
struct mutex;
struct mutex_waiter {
	struct list_head node;
	struct thread *thread;
	int level;
	bool granted; /* the owner made us the next owner and took us off the list */
};
static inline struct thread *mutex_owner_of(unsigned long word)
{
	return (struct thread *)(word & ~1ul);
}
/*
 * The current thread waits for m: queues w by level, boosts the owner and whom it waits for. =>
 * m->lock held; dropped
 */
void pi_block(struct mutex *m, struct mutex_waiter *w);
/* w waits no more. => m->lock held; the owner's share is settled with pi_settle() or pi_attach() */
void pi_unblock(struct mutex *m, struct mutex_waiter *w);
/* t owns m from now on / no more. => m->lock held */
void pi_attach(struct mutex *m, struct thread *t);
void pi_detach(struct mutex *m, struct thread *t);
/* The waiters of m became fewer: so may be what its owner inherits. => m->lock held; dropped */
void pi_settle(struct mutex *m);
/* The level of t itself changed (policy, nice). => no locks held, IRQs on or off */
void pi_level_changed(struct thread *t);

/* debug.c: from now on threads exist and the checks make sense */
void sched_debug_on(void);

/* threads.c */
void thread_list_add(struct thread *t);
void thread_list_del(struct thread *t);

DECLARE_PER_CPU(struct thread *, ksoftirqd);

#endif
