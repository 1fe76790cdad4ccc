// SPDX-License-Identifier: BSD-2-Clause
/*
 * autogroup.c - the threads of a session share one weight.
 *
 * Problem: shares by thread favour whoever has many threads. 78 programs of one terminal leave a
 * kernel thread beside them 1/40 of a CPU, and all memory of the machine may wait for that thread.
 * Idea: what counts is the session. All threads of a session together weigh as much as one thread
 * of nice 0, whatever their number; nice decides among them only. Kernel threads and PID 1 are in
 * no session group and weigh what they always did.
 *
 *     weight of a thread = 1024 x own weight / sum of the own weights of its queued fellows
 *
 * The sum runs over all CPUs, so a CPU has the part of the session's weight that its threads there
 * are of all. This is flat: there is one queue per CPU as before, and no tree of groups. The sum
 * changes at every wake-up, the weight of a thread follows when it is queued and at the end of each
 * of its requests; in between it is off by what came and went meanwhile.
 *
 * Invariant: group->load is the sum of group_load of its threads; group_load is not 0 only while
 * the thread is queued in the fair class, and is then its own weight, to which se.weight returns.
 * Locking: group and group_load by the queue lock of the thread; load is atomic.
 * Source: Linux since 2.6.38 has such groups for sessions (CONFIG_SCHED_AUTOGROUP, on in the
 * configurations of distributions); there as a tree of queues. [seed-003] was measured in that
 * time.
 */
#include "sched/autogroup.h"

#include "kernel/show.h"
#include "sched/internal.h"

DEFINE_SWITCH(sched_autogroup, 0, 0, 1, "003",
	      "1: the threads of a session together weigh as much as one thread of nice 0");

#define LEAST_WEIGHT 2

void sched_group_init(struct sched_group *g, void (*release)(struct sched_group *g))
{
	*g = (struct sched_group){ .release = release };
	atomic_set(&g->refs, 1);
}

void sched_group_put(struct sched_group *g)
{
	if (atomic_dec_and_test(&g->refs))
		g->release(g);
}

/* => t->group_load */
static u32 weight_now(const struct thread *t)
{
	u64 load = (u64)atomic_long_read(&t->group->load), own = t->group_load;

	if (!switch_value(sched_autogroup) || !load)
		return (u32)own;
	return max((u32)(own * FAIR_WEIGHT_0 / load), (u32)LEAST_WEIGHT);
}

static void count_in(struct thread *t)
{
	t->group_load = t->se.weight;
	atomic_long_add(t->group_load, &t->group->load);
}

void sched_group_enter(struct thread *t)
{
	if (!t->group)
		return;
	count_in(t);
	fair_reweight(NULL, &t->se, weight_now(t));
}

void sched_group_refresh(struct fair_rq *q, struct thread *t)
{
	if (!t->group)
		return;
	if (!t->group_load) /* the switch was turned on while it was queued */
		count_in(t);
	fair_reweight(q, &t->se, weight_now(t));
}

void sched_group_leave(struct thread *t)
{
	atomic_long_add(-(long)t->group_load, &t->group->load);
	fair_reweight(NULL, &t->se, t->group_load);
	t->group_load = 0;
}

void sched_group_join(struct thread *t, struct sched_group *g)
{
	struct sched_group *old;
	unsigned long flags;
	struct rq *rq;

	atomic_inc(&g->refs);
	local_irq_save_l(flags, "sched_group");
	rq = thread_rq_lock(t);
	old = t->group;
	t->group = g;
	if (t->group_load) { /* else it counts from when it is queued next */
		atomic_long_add(-(long)t->group_load, &old->load);
		atomic_long_add(t->group_load, &g->load);
	}
	rq_unlock(rq);
	local_irq_restore_l(flags, "sched_group");
	if (old)
		sched_group_put(old);
}

/* The same under Linux's name. */
static int enabled_show(struct seq *seq)
{
	seq_printf(seq, "%u\n", switch_value(sched_autogroup));
	return 0;
}

static ssize_t enabled_store(const char *text, size_t n, long index)
{
	int err = switch_store(&switch_sched_autogroup, text);

	return err ? err : (ssize_t)n;
}
SHOW("/proc/sys/kernel/sched_autogroup_enabled", 0644, enabled_show, enabled_store);
