/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * class.h - what a scheduling policy is to the mechanism (core.c). A policy owns its part of struct
 * rq and answers these questions; a second fair policy is a file with one of these tables. Classes
 * are asked in the order rt, fair, idle.
 *
 * => every function: run queue lock held, IRQs off, rq->clock and the running thread's account up
 *    to date.
 */
#ifndef SCHED_CLASS_H
#define SCHED_CLASS_H

#include "sched/thread.h"

struct rq;

enum enqueue_how {
	ENQUEUE_NEW,	/* first time */
	ENQUEUE_WAKEUP, /* was asleep */
	ENQUEUE_MOVE,	/* from another CPU, or after a change of policy, weight, affinity */
};

struct sched_class {
	const char *name;
	u32 rank; /* 2 rt, 1 fair, 0 idle: a woken thread of a higher one always preempts */
	void (*enqueue)(struct rq *rq, struct thread *t, enum enqueue_how how);
	void (*dequeue)(struct rq *rq, struct thread *t); /* queued or running */
	/*
	 * The thread to run next (the running one included when it is still queued), or NULL.
	 * Changes nothing.
	 */
	struct thread *(*pick)(struct rq *rq);
	void (*set_next)(struct rq *rq, struct thread *t); /* t starts to run */
	/* t stops running and stays queued (idle: always) */
	void (*put_prev)(struct rq *rq, struct thread *t);
	/*
	 * The running thread ran delta_ns more. => true when it should make room for others, if
	 * there are any.
	 */
	bool (*update)(struct rq *rq, struct thread *t, u64 delta_ns);
	/* The running thread lived through one tick. => true when it should make room. */
	bool (*tick)(struct rq *rq, struct thread *t);
	/* against a running thread of the same class */
	bool (*preempts)(struct rq *rq, struct thread *woken);
	void (*yield)(struct rq *rq, struct thread *t);
	/* The weight or priority in force changes to what t's fields say. => t not queued. */
	void (*set_params)(struct rq *rq, struct thread *t, int level);
	/* A queued, not running thread that may go to CPU cpu, or NULL. Looks at 16 at most. */
	struct thread *(*movable)(struct rq *rq, u32 cpu);
	u64 (*interval)(const struct thread *t); /* sched_rr_get_interval */
};

extern const struct sched_class rt_class, fair_class, idle_class;

/*
 * Levels put all priorities on one line, for inheritance: -1 SCHED_IDLE, 0..39 = nice 19..-20,
 * 101..199 real time.
 * thread_level: as asked for; thread_level_eff: what it inherits included.
 */
#define LEVEL_IDLE (-1)
#define LEVEL_RT 100
static inline int thread_level(const struct thread *t)
{
	if (t->policy == SCHED_FIFO || t->policy == SCHED_RR)
		return LEVEL_RT + (int)t->rt_prio;
	return t->policy == SCHED_IDLE ? LEVEL_IDLE : 19 - t->nice;
}
static inline int thread_level_eff(const struct thread *t)
{
	return max(thread_level(t), t->boost);
}

#endif
