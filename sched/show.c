/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show.c - /sys/kernel/quire/sched/runqueues: one line per CPU, below it the threads that wait
 * there.
 *
 * A queue is copied with its lock held (at most SHOW_THREADS threads) and printed afterwards:
 * printing is long.
 */
#include "kernel/show.h"
#include "lib/string.h"
#include "sched/internal.h"

#define SHOW_THREADS 20

struct shown_thread {
	pid_t tid;
	int nice;
	u32 weight, rt_prio; /* rt_prio 0: fair */
	s64 vruntime, deadline;
	char comm[16];
};
struct shown_rq {
	u32 nr_running, nr_fair, nr_iowait, nr_blocked, nr;
	int node;
	u64 load, switches, wakeups, remote, pulled, failed, throttled;
	pid_t curr;
	char curr_comm[16];
	struct shown_thread t[SHOW_THREADS];
};

static void copy_thread(struct shown_rq *s, const struct thread *t, u32 rt_prio, u64 base)
{
	struct shown_thread *d = &s->t[s->nr++];

	d->tid = t->tid;
	d->nice = t->nice;
	d->weight = t->se.weight;
	d->rt_prio = rt_prio;
	d->vruntime = (s64)(t->se.vruntime - base);
	d->deadline = (s64)(t->se.deadline - base);
	memcpy(d->comm, t->comm, sizeof(d->comm));
}

static void copy_waiting(struct shown_rq *s, struct rq *rq)
{
	struct rb_node *node = rb_first(&rq->fair.tree);

	for (u32 prio = 99; prio > 0 && rq->rt.nr; prio--) {
		struct thread *t;

		list_for_each_entry(t, &rq->rt.queue[prio], rt.node) {
			if (s->nr == SHOW_THREADS / 2)
				break;
			if (t != rq->curr)
				copy_thread(s, t, prio, rq->fair.base);
		}
	}
	for (; node && s->nr < SHOW_THREADS; node = rb_next(node))
		copy_thread(
			s,
			container_of(rb_entry(node, struct sched_entity, node), struct thread, se),
			0, rq->fair.base);
}

static void copy_rq(struct shown_rq *s, struct rq *rq)
{
	unsigned long flags;

	local_irq_save_l(flags, "runqueues_show");
	rq_lock(rq);
	s->nr = 0;
	s->node = rq->node;
	s->nr_running = rq->nr_running;
	s->nr_fair = rq->fair.nr;
	s->nr_iowait = rq->nr_iowait;
	s->nr_blocked = rq->nr_uninterruptible;
	s->load = rq->fair.load;
	s->switches = rq->nr_switches;
	s->wakeups = rq->nr_wakeups;
	s->remote = rq->nr_remote_wakeups;
	s->pulled = rq->nr_pulled;
	s->failed = rq->nr_pull_failed;
	s->throttled = rq->rt.nr_throttled;
	s->curr = rq->curr->tid;
	memcpy(s->curr_comm, rq->curr->comm, sizeof(s->curr_comm));
	copy_waiting(s, rq);
	irq_work(s->nr);
	rq_unlock(rq);
	local_irq_restore_l(flags, "runqueues_show");
}

static void print_thread(struct seq *seq, const struct shown_thread *t)
{
	if (t->rt_prio)
		seq_printf(seq, "        %6d %-15s rt %u\n", t->tid, t->comm, t->rt_prio);
	else
		seq_printf(
			seq,
			"        %6d %-15s nice %3d  weight %5u  vruntime %+ld  deadline %+ld ns\n",
			t->tid, t->comm, t->nice, t->weight, (long)t->vruntime, (long)t->deadline);
}

static int runqueues_show(struct seq *seq)
{
	struct shown_rq s;
	u32 cpu;

	seq_puts(seq, "cpu node running fair   load switches   wakeups  remote  pulled  failed "
		      "iowait blocked throttled"
		      " current\n");
	for_each_cpu(cpu, sched_cpus) {
		copy_rq(&s, cpu_rq(cpu));
		seq_printf(
			seq, "%3u %4d %7u %4u %6lu %8lu %9lu %7lu %7lu %7lu %6u %7u %9lu %d:%s\n",
			cpu, s.node, s.nr_running, s.nr_fair, (unsigned long)s.load,
			(unsigned long)s.switches, (unsigned long)s.wakeups,
			(unsigned long)s.remote, (unsigned long)s.pulled, (unsigned long)s.failed,
			s.nr_iowait, s.nr_blocked, (unsigned long)s.throttled, s.curr, s.curr_comm);
		for (u32 i = 0; i < s.nr; i++)
			print_thread(seq, &s.t[i]);
	}
	return 0;
}
SHOW("/sys/kernel/quire/sched/runqueues", 0444, runqueues_show, NULL);
