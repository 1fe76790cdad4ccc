/* SPDX-License-Identifier: BSD-2-Clause */
/* The scheduler in the running kernel: switches, policies, placement, sleeping locks, timeouts. */
#include "arch/init.h"
#include "arch/smp.h"
#include "kernel/rcu.h"
#include "kernel/time.h"
#include "lib/string.h"
#include "sched/kthread.h"
#include "sched/mutex.h"
#include "tests/kernel/ktest.h"

#define MS NSEC_PER_MSEC

/* Sleeps until kthread_stop(): test threads end here so that they can always be stopped. */
static int until_stopped(int result)
{
	for (;;) {
		thread_set_state(THREAD_UNINTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
	}
	thread_set_state(THREAD_RUNNING);
	return result;
}

static struct thread *make(int (*fn)(void *), void *arg, cpumask_t mask)
{
	struct thread *t = kthread_create(fn, arg, -1, "ktest");

	if (t && mask)
		sched_set_affinity(t, mask);
	return t;
}

static void spin_ns(u64 ns)
{
	u64 end = current->sum_exec_ns + ns; /* own time, brought up to date by every tick */

	while (READ_ONCE(current->sum_exec_ns) < end)
		cond_resched();
}

/* What others will do soon; a CPU of an emulator may have to wait long for its turn. */
#define EVENTUALLY(cond)                                                                           \
	({                                                                                         \
		int _n = 0;                                                                        \
		while (!(cond) && _n++ < 5000)                                                     \
			sleep_ns(MS);                                                              \
		(cond);                                                                            \
	})

/* ---- switching, kthreads ---- */

KTEST(sched, switch_cost)
{
	u64 ns = sched_bench_switch(1000);

	printk(LOG_INFO, "# kthread switch with wake-up: %lu ns", (unsigned long)ns);
	KT_ASSERT(ns > 0);
}

static int add_one(void *arg)
{
	(*(int *)arg)++;
	return until_stopped(42);
}

KTEST(sched, kthread_stop_returns_result)
{
	int n = 0;
	struct thread *th = kthread_run(add_one, &n, -1, "ktest/%d", 7);

	KT_ASSERT(th);
	KT_ASSERT(!strcmp(th->comm, "ktest/7"));
	KT_ASSERT(th->tid > 1);
	KT_EQ(kthread_stop(th), 42);
	KT_EQ(n, 1);
}

KTEST(sched, many_threads)
{
	struct thread *th[40];
	int n[40] = { 0 };

	for (int i = 0; i < 40; i++) {
		th[i] = kthread_run(add_one, &n[i], -1, "ktest");
		KT_ASSERT(th[i]);
	}
	for (int i = 0; i < 40; i++)
		KT_EQ(kthread_stop(th[i]), 42);
	for (int i = 0; i < 40; i++)
		KT_EQ(n[i], 1);
	synchronize_rcu();
	rcu_barrier();
}

static bool finds(pid_t tid, struct thread *th)
{
	bool same;

	rcu_read_lock();
	same = thread_find(tid) == th;
	rcu_read_unlock();
	return same;
}

KTEST(sched, thread_find_by_tid)
{
	int n = 0;
	struct thread *th = kthread_run(add_one, &n, -1, "ktest");
	pid_t tid;

	KT_ASSERT(th);
	tid = th->tid;
	KT_ASSERT(finds(tid, th));
	kthread_stop(th);
	KT_ASSERT(EVENTUALLY(finds(tid, NULL)));
}

KTEST(sched, tids_do_not_come_again_at_once)
{
	pid_t a = tid_alloc(), b;

	KT_ASSERT(a > 1);
	tid_free(a);
	b = tid_alloc();
	KT_ASSERT(b > 1 && b != a);
	tid_free(b);
}

/* ---- fair ---- */

struct hog {
	u64 ran;
	u32 *stop;
};

static int hog(void *arg)
{
	struct hog *h = arg;

	while (!READ_ONCE(*h->stop)) {
		for (int i = 0; i < 100; i++) /* a pause would be dear on an emulator */
			barrier();
		cond_resched();
	}
	h->ran = thread_runtime_ns(current);
	return until_stopped(0);
}

static bool run_hogs(struct hog *h, struct thread **t, int n, const int *nice, cpumask_t mask,
		     u64 ns)
{
	u32 stop = 0;

	for (int i = 0; i < n; i++) {
		h[i] = (struct hog){ .stop = &stop };
		t[i] = make(hog, &h[i], mask);
		if (!t[i])
			return false;
		sched_set_nice(t[i], nice ? nice[i] : 0);
	}
	for (int i = 0; i < n; i++)
		thread_start(t[i]);
	sleep_ns((s64)ns);
	WRITE_ONCE(stop, 1);
	for (int i = 0; i < n; i++)
		kthread_stop(t[i]);
	return true;
}

KTEST(sched, equal_shares)
{
	struct hog h[4];
	struct thread *th[4];
	u64 sum = 0;

	KT_ASSERT(run_hogs(h, th, 4, NULL, CPU_BIT(0), 200 * MS));
	for (int i = 0; i < 4; i++)
		sum += h[i].ran;
	for (int i = 0; i < 4; i++)
		KT_ASSERT(h[i].ran > sum * 21 / 100 && h[i].ran < sum * 29 / 100);
}

KTEST(sched, nice_shares)
{
	static const int nice[2] = { 0, 5 }; /* 1024 : 335 */
	struct hog h[2];
	struct thread *th[2];
	u64 ratio;

	KT_ASSERT(run_hogs(h, th, 2, nice, CPU_BIT(0), 400 * MS));
	ratio = h[0].ran * 100 / h[1].ran;
	KT_ASSERT(ratio > 270 && ratio < 345);
}

/* ---- real time ---- */

struct order {
	u32 next;
	u32 at[4];
};
struct racer {
	struct order *order;
	u32 id;
	u64 spin_ns;
};

static int race(void *arg)
{
	struct racer *r = arg;

	if (r->spin_ns)
		spin_ns(r->spin_ns);
	r->order->at[r->order->next++] = r->id;
	return until_stopped(0);
}

static bool start_race(struct racer *r, struct thread **t, int n, u32 policy, const u32 *prio)
{
	/* Nobody runs before all are queued: we are above them. */
	sched_set_policy(current, SCHED_FIFO, 99, 0);
	for (int i = 0; i < n; i++) {
		t[i] = make(race, &r[i], CPU_BIT(0));
		if (!t[i])
			return false;
		sched_set_policy(t[i], policy, prio[i], 0);
		thread_start(t[i]);
	}
	sched_set_policy(current, SCHED_OTHER, 0, 0);
	return true;
}

KTEST(sched, fifo_priorities)
{
	static const u32 prio[3] = { 10, 30, 20 };
	struct order o = { 0 };
	struct racer r[3] = { { &o, 0, MS }, { &o, 1, MS }, { &o, 2, MS } };
	struct thread *th[3];

	sched_set_affinity(current, CPU_BIT(0));
	KT_ASSERT(start_race(r, th, 3, SCHED_FIFO, prio));
	for (int i = 0; i < 3; i++)
		kthread_stop(th[i]);
	sched_set_affinity(current, ~0ull);
	KT_EQ(o.at[0], 1);
	KT_EQ(o.at[1], 2);
	KT_EQ(o.at[2], 0);
}

/*
 * A short one behind a long one of the same priority: FIFO makes it wait, RR lets it in after 100
 * ms.
 */
static u32 first_home(u32 policy)
{
	static const u32 prio[2] = { 10, 10 };
	struct order o = { 0 };
	struct racer r[2] = { { &o, 0, 250 * MS }, { &o, 1, 10 * MS } };
	struct thread *t[2];

	sched_set_affinity(current, CPU_BIT(0));
	if (!start_race(r, t, 2, policy, prio))
		return 9;
	for (int i = 0; i < 2; i++)
		kthread_stop(t[i]);
	sched_set_affinity(current, ~0ull);
	return o.at[0];
}

KTEST(sched, fifo_is_not_sliced)
{
	KT_EQ(first_home(SCHED_FIFO), 0);
}

KTEST(sched, rr_takes_turns)
{
	KT_EQ(first_home(SCHED_RR), 1);
}

KTEST(sched, policy_arguments)
{
	KT_EQ(sched_set_policy(current, SCHED_FIFO, 0, 0), -EINVAL);
	KT_EQ(sched_set_policy(current, SCHED_RR, 100, 0), -EINVAL);
	KT_EQ(sched_set_policy(current, SCHED_OTHER, 1, 0), -EINVAL);
	KT_EQ(sched_set_policy(current, 4, 0, 0), -EINVAL);
	KT_EQ(sched_set_policy(current, SCHED_OTHER, 0, 20), -EINVAL);
	KT_EQ(sched_set_affinity(current, 0), -EINVAL);
	KT_EQ(sched_set_policy(current, SCHED_BATCH, 0, 3), 0);
	KT_EQ(sched_set_policy(current, SCHED_OTHER, 0, 0), 0);
}

/* ---- several CPUs ---- */

struct traveller {
	u32 cpu, stop;
};

static int travel(void *arg)
{
	struct traveller *w = arg;

	while (!READ_ONCE(w->stop)) {
		WRITE_ONCE(w->cpu, smp_processor_id());
		cond_resched();
	}
	return until_stopped(0);
}

KTEST(sched, affinity_moves_runner)
{
	struct traveller w = { .cpu = ~0u };
	struct thread *th;
	bool ok = true;

	if (nr_cpus < 2)
		KT_SKIP("one CPU");
	th = make(travel, &w, CPU_BIT(0));
	KT_ASSERT(th);
	thread_start(th);
	for (u32 cpu = 0; cpu < 2 * nr_cpus && ok; cpu++) {
		sched_set_affinity(th, CPU_BIT(cpu % nr_cpus));
		ok = EVENTUALLY(READ_ONCE(w.cpu) == cpu % nr_cpus);
	}
	WRITE_ONCE(w.stop, 1);
	kthread_stop(th);
	KT_ASSERT(ok);
}

KTEST(sched, affinity_moves_self)
{
	for (u32 cpu = 0; cpu < nr_cpus; cpu++) {
		KT_EQ(sched_set_affinity(current, CPU_BIT(cpu)), 0);
		KT_EQ(smp_processor_id(), cpu);
	}
	sched_set_affinity(current, ~0ull);
}

/* All made on CPU 0: they spread out, and none gets less than half of a CPU. */
KTEST(sched, idle_cpus_take_work)
{
	struct hog h[8];
	struct thread *th[8];
	u32 n = min(nr_cpus, 8u);

	if (n < 2)
		KT_SKIP("one CPU");
	KT_ASSERT(run_hogs(h, th, (int)n, NULL, 0, 200 * MS));
	for (u32 i = 0; i < n; i++)
		KT_ASSERT(h[i].ran > 100 * MS);
}

/* ---- waiting ---- */

struct gate {
	struct wait_queue q;
	u32 open;
	atomic_t through;
};

static int pass(void *arg)
{
	struct gate *g = arg;

	wait_event(&g->q, READ_ONCE(g->open));
	atomic_inc(&g->through);
	return until_stopped(0);
}

KTEST(sched, wake_all_in_batches)
{
	static struct gate g;
	struct thread *th[30];
	bool all_wait, all_through;

	memset(&g, 0, sizeof(g));
	wait_queue_init(&g.q);
	for (int i = 0; i < 30; i++) {
		th[i] = kthread_run(pass, &g, -1, "ktest");
		KT_ASSERT(th[i]);
	}
	all_wait = EVENTUALLY(list_count(&g.q.list) == 30) && !atomic_read(&g.through);
	WRITE_ONCE(g.open, 1);
	wake_up_all(&g.q);
	all_through = EVENTUALLY(atomic_read(&g.through) == 30);
	for (int i = 0; i < 30; i++)
		kthread_stop(th[i]);
	KT_ASSERT(all_wait && all_through);
	KT_ASSERT(list_empty(&g.q.list));
}

static int pass_exclusive(void *arg)
{
	struct gate *g = arg;
	WAIT_ENTRY(e);

	for (;;) {
		wait_prepare_exclusive(&g->q, &e, THREAD_UNINTERRUPTIBLE);
		if (READ_ONCE(g->open))
			break;
		schedule();
	}
	wait_finish(&g->q, &e);
	atomic_inc(&g->through);
	return until_stopped(0);
}

KTEST(sched, wake_one_exclusive)
{
	static struct gate g;
	struct thread *th[4];
	int ok = 0;

	memset(&g, 0, sizeof(g));
	wait_queue_init(&g.q);
	for (int i = 0; i < 4; i++) {
		th[i] = kthread_run(pass_exclusive, &g, -1, "ktest");
		KT_ASSERT(th[i]);
	}
	ok += EVENTUALLY(list_count(&g.q.list) == 4);
	WRITE_ONCE(g.open, 1);
	for (int i = 1; i <= 4; i++) {
		wake_up(&g.q);
		ok += EVENTUALLY(atomic_read(&g.through) >= i);
		sleep_ns(2 * MS);
		ok += atomic_read(&g.through) == i;
	}
	wake_up_all(&g.q);
	for (int i = 0; i < 4; i++)
		kthread_stop(th[i]);
	KT_EQ(ok, 9);
}

KTEST(sched, wait_times_out)
{
	DEFINE_WAIT_QUEUE(q);
	u64 start = ktime_get(), took;

	KT_EQ(wait_event_until(&q, false, start + 3 * MS), 0);
	took = ktime_get() - start;
	KT_ASSERT(took >= 3 * MS);
	KT_ASSERT(list_empty(&q.list));
	KT_ASSERT(wait_event_until(&q, true, ktime_get() + MS) > 0);
}

static int finish(void *arg)
{
	complete(arg);
	return until_stopped(0);
}

KTEST(sched, completion)
{
	struct completion c;
	struct thread *th;

	completion_init(&c);
	th = kthread_run(finish, &c, -1, "ktest");
	KT_ASSERT(th);
	wait_for_completion(&c);
	KT_EQ(c.done, 0);
	complete(&c);
	complete(&c);
	wait_for_completion(&c);
	KT_EQ(c.done, 1);
	complete_all(&c);
	for (int i = 0; i < 5; i++)
		wait_for_completion(&c);
	kthread_stop(th);
}

/* On an idle CPU a sleeper is back within 50 us of virtual time, never early. */
KTEST(sched, sleep_accuracy)
{
	static const u64 want[] = { 10000, 100000, 1000000, 2500000, 17000000 };

	for (u32 i = 0; i < ARRAY_SIZE(want); i++) {
		u64 start = ktime_get(), took;

		sleep_ns((s64)want[i]);
		took = ktime_get() - start;
		KT_ASSERT(took >= want[i]);
		if (arch_clock_is_virtual && nr_cpus == 1)
			KT_ASSERT(took < want[i] + 50000);
	}
}

KTEST(sched, timeout_leaves_rest)
{
	s64 left;

	/* does not sleep: all of it is left but what the call costs */
	thread_set_state(THREAD_RUNNING);
	left = schedule_timeout(1000 * (s64)MS);
	KT_ASSERT(left > 900 * (s64)MS && left <= 1000 * (s64)MS);
}

KTEST(sched, idle_time_is_exact)
{
	struct cpu_times a, b;
	u64 idle;

	if (nr_cpus > 1)
		KT_SKIP("others run too");
	sched_cpu_times(0, &a);
	sleep_ns(50 * MS);
	sched_cpu_times(0, &b);
	idle = b.idle_ns + b.iowait_ns - a.idle_ns - a.iowait_ns;
	KT_ASSERT(idle > 48 * MS && idle <= 51 * MS);
}

/* ---- locks ---- */

struct pi_set {
	struct mutex m1, m2;
	struct completion low_has, mid_has;
	u32 release;
};

static int pi_low(void *arg)
{
	struct pi_set *s = arg;

	mutex_lock(&s->m1);
	complete(&s->low_has);
	while (!READ_ONCE(s->release))
		sleep_ns(MS / 2);
	mutex_unlock(&s->m1);
	return until_stopped(0);
}

static int pi_mid(void *arg)
{
	struct pi_set *s = arg;

	mutex_lock(&s->m2);
	complete(&s->mid_has);
	mutex_lock(&s->m1);
	mutex_unlock(&s->m1);
	mutex_unlock(&s->m2);
	return until_stopped(0);
}

static int pi_high(void *arg)
{
	struct pi_set *s = arg;

	mutex_lock(&s->m2);
	mutex_unlock(&s->m2);
	return until_stopped(0);
}

/* high -> m2 -> mid -> m1 -> low: low runs at high's priority as long as that lasts. */
KTEST(sched, mutex_inheritance_chain)
{
	struct thread *low, *mid, *high;
	static struct pi_set s;

	mutex_init(&s.m1, RANK_NONE, "pi m1");
	mutex_init(&s.m2, RANK_NONE, "pi m2");
	completion_init(&s.low_has);
	completion_init(&s.mid_has);
	s.release = 0;
	low = make(pi_low, &s, 0);
	mid = make(pi_mid, &s, 0);
	high = make(pi_high, &s, 0);
	KT_ASSERT(low && mid && high);
	sched_set_nice(low, 10);
	thread_start(low);
	wait_for_completion(&s.low_has);
	thread_start(mid);
	wait_for_completion(&s.mid_has);
	KT_ASSERT(EVENTUALLY(low->boost == 19)); /* mid is at nice 0 */
	KT_EQ(low->se.weight, 1024);
	sched_set_policy(high, SCHED_FIFO, 42, 0);
	thread_start(high);
	KT_ASSERT(EVENTUALLY(low->boost == 142));
	KT_EQ(mid->boost, 142);
	KT_EQ(low->rt.prio, 42);
	/* a change while it waits goes down the chain as well */
	sched_set_policy(high, SCHED_FIFO, 50, 0);
	KT_EQ(low->boost, 150);
	WRITE_ONCE(s.release, 1);
	kthread_stop(high);
	KT_EQ(low->boost, -1);
	KT_EQ(mid->boost, -1);
	KT_EQ(low->se.weight, 110);
	kthread_stop(mid);
	kthread_stop(low);
	KT_ASSERT(!atomic_long_read(&s.m1.owner) && !atomic_long_read(&s.m2.owner));
}

struct crowd {
	struct mutex m;
	struct rwsem s;
	u32 counter, readers, writers, bad;
	atomic_t inside;
};

static int crowd_mutex(void *arg)
{
	struct crowd *c = arg;

	for (int i = 0; i < 200; i++) {
		u32 v;

		mutex_lock(&c->m);
		v = READ_ONCE(c->counter);
		if (i % 8 == 0)
			sched_yield();
		if (i % 32 == 0)
			sleep_ns(10000);
		WRITE_ONCE(c->counter, v + 1);
		mutex_unlock(&c->m);
	}
	return until_stopped(0);
}

KTEST(sched, mutex_excludes)
{
	static struct crowd c;
	struct thread *th[6];

	memset(&c, 0, sizeof(c));
	mutex_init(&c.m, RANK_NONE, "crowd");
	for (int i = 0; i < 6; i++) {
		th[i] = kthread_run(crowd_mutex, &c, -1, "ktest");
		KT_ASSERT(th[i]);
	}
	for (int i = 0; i < 6; i++)
		kthread_stop(th[i]);
	KT_EQ(c.counter, 1200);
	KT_EQ(atomic_long_read(&c.m.owner), 0);
}

static int crowd_rwsem(void *arg)
{
	struct crowd *c = arg;

	for (int i = 0; i < 200; i++) {
		bool write = (i + current->tid) % 4 == 0;

		if (write) {
			down_write(&c->s);
			if (atomic_add_return(1, &c->inside) != 1)
				c->bad++;
			WRITE_ONCE(c->writers, c->writers + 1);
			if (i % 8 == 0)
				sched_yield();
			if (i % 16 == 0) { /* nobody but other readers from here on */
				atomic_sub(1, &c->inside);
				downgrade_write(&c->s);
				up_read(&c->s);
				continue;
			}
			atomic_sub(1, &c->inside);
			up_write(&c->s);
		} else {
			u32 w;

			down_read(&c->s);
			w = READ_ONCE(c->writers);
			if (i % 5 == 0)
				sleep_ns(5000);
			if (atomic_read(&c->inside) || w != READ_ONCE(c->writers))
				c->bad++;
			up_read(&c->s);
		}
	}
	return until_stopped(0);
}

KTEST(sched, rwsem_excludes)
{
	static struct crowd c;
	struct thread *th[8];

	memset(&c, 0, sizeof(c));
	rwsem_init(&c.s, RANK_NONE, "crowd");
	for (int i = 0; i < 8; i++) {
		th[i] = kthread_run(crowd_rwsem, &c, -1, "ktest");
		KT_ASSERT(th[i]);
	}
	for (int i = 0; i < 8; i++)
		kthread_stop(th[i]);
	KT_EQ(c.bad, 0);
	KT_EQ(c.writers, 400);
	KT_EQ(atomic_long_read(&c.s.count), 0);
}

/* A writer that waits stops new readers, and is served before them. */
static int write_once(void *arg)
{
	struct crowd *c = arg;

	down_write(&c->s);
	c->writers = c->readers + 1;
	up_write(&c->s);
	return until_stopped(0);
}

static int read_once(void *arg)
{
	struct crowd *c = arg;

	down_read(&c->s);
	c->readers++;
	up_read(&c->s);
	return until_stopped(0);
}

KTEST(sched, rwsem_first_come_first_served)
{
	static struct crowd c;
	struct thread *w, *r;

	memset(&c, 0, sizeof(c));
	rwsem_init(&c.s, RANK_NONE, "queue");
	down_read(&c.s);
	w = kthread_run(write_once, &c, -1, "ktest");
	KT_ASSERT(w);
	KT_ASSERT(EVENTUALLY(!list_empty(&c.s.waiters)));
	KT_ASSERT(!down_read_trylock(&c.s));
	r = kthread_run(read_once, &c, -1, "ktest");
	KT_ASSERT(r);
	KT_ASSERT(EVENTUALLY(list_count(&c.s.waiters) == 2));
	KT_EQ(c.readers, 0);
	up_read(&c.s);
	kthread_stop(w);
	kthread_stop(r);
	KT_EQ(c.writers, 1); /* the writer saw no reader */
	KT_EQ(c.readers, 1);
	KT_ASSERT(down_write_trylock(&c.s));
	KT_ASSERT(!down_read_trylock(&c.s));
	up_write(&c.s);
}

/* ---- RCU ---- */

static void set_flag(struct rcu_head *head)
{
	*(u32 *)(head + 1) = 1;
}

KTEST(sched, rcu_barrier_waits_for_callbacks)
{
	static struct {
		struct rcu_head head;
		u32 flag;
	} x;

	x.flag = 0;
	rcu_call(&x.head, set_flag);
	rcu_barrier();
	KT_EQ(x.flag, 1);
	synchronize_rcu();
}
