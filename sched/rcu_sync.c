/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rcu_sync.c - waiting for RCU: for all readers that run now, or for all callbacks given so far.
 *
 * A reader runs with preemption off. So on a machine with one CPU a thread that runs (and may
 * sleep) proves by that alone that no reader is in the middle of anything, and synchronize_rcu()
 * has nothing to wait for.
 */
#include "kernel/rcu.h"
#include "sched/internal.h"
#include "sched/mutex.h"

struct rcu_waiter {
	struct rcu_head head;
	struct completion done;
};

static void rcu_waiter_done(struct rcu_head *head)
{
	complete(&container_of(head, struct rcu_waiter, head)->done);
}

void synchronize_rcu(void)
{
	struct rcu_waiter w;

	might_sleep();
	if (nr_cpus == 1)
		return;
	completion_init(&w.done);
	rcu_call(&w.head, rcu_waiter_done);
	wait_for_completion(&w.done);
}

static DEFINE_PER_CPU(struct rcu_head, barrier_head);
static DEFINE_MUTEX(barrier_mutex, RANK_NONE);
static struct completion barrier_done;
static atomic_t barrier_left;

static void barrier_fn(struct rcu_head *head)
{
	if (atomic_dec_and_test(&barrier_left))
		complete(&barrier_done);
}

/* On every CPU: callbacks of one CPU run in the order they were given. */
static void barrier_queue(void *arg)
{
	rcu_call(this_cpu_ptr(&barrier_head), barrier_fn);
}

void rcu_barrier(void)
{
	mutex_lock(&barrier_mutex);
	completion_init(&barrier_done);
	atomic_set(&barrier_left, (int)nr_cpus);
	smp_call_mask(READ_ONCE(cpu_online_mask), barrier_queue, NULL);
	wait_for_completion(&barrier_done);
	mutex_unlock(&barrier_mutex);
}
