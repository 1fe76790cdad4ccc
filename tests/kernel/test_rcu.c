/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rcu.c - grace periods end, never early, and callbacks run in order in softirq context. */
#include "tests/kernel/ktest.h"

#include "arch/smp.h"
#include "kernel/rcu.h"
#include "kernel/time.h"
#include "sched/kthread.h"

#define N 200

struct object {
	struct rcu_head rcu;
	int number;
	u32 alive; /* 0xa11fe while readers may see it */
};
static struct object objects[N];
static volatile int called, last_number;
static volatile bool bad;

static void callback(struct rcu_head *head)
{
	struct object *o = container_of(head, struct object, rcu);

	if (!in_softirq() || irqs_disabled())
		bad = true;
	if (o->number != last_number + 1)
		bad = true;
	last_number = o->number;
	o->alive = 0;
	called++;
}

KTEST(rcu, callbacks_run_in_order)
{
	called = 0;
	last_number = -1;
	bad = false;
	preempt_disable(); /* one CPU's list */
	for (int i = 0; i < N; i++) {
		objects[i].number = i;
		rcu_call(&objects[i].rcu, callback);
	}
	KT_EQ(called, 0); /* we are a reader: nothing may have run */
	preempt_enable();
	for (int i = 0; i < 1000 && called < N; i++)
		sleep_ns(NSEC_PER_MSEC);
	KT_EQ(called, N);
	KT_ASSERT(!bad);
}

KTEST(rcu, synchronize_advances)
{
	u64 before = rcu_grace_periods();

	synchronize_rcu();
	/* With one CPU the caller's own presence is the quiescent state. */
	KT_ASSERT(nr_cpus == 1 || rcu_grace_periods() > before);
	rcu_barrier();
}

static void note(struct rcu_head *head)
{
	called++;
}

/*
 * Spinning inside a reader for several ticks must hold the callback back, on this CPU as on others.
 */
KTEST(rcu, reader_holds_it_back)
{
	static struct rcu_head head;
	ktime_t until;
	int inside;

	called = 0;
	rcu_read_lock();
	rcu_call(&head, note);
	until = ktime_get() + 10 * NSEC_PER_MSEC;
	while (ktime_get() < until)
		cpu_relax();
	inside = called;
	rcu_read_unlock();
	KT_EQ(inside, 0);
	for (int i = 0; i < 1000 && !called; i++)
		sleep_ns(NSEC_PER_MSEC);
	KT_EQ(called, 1);
}

static struct object *shared;
static volatile bool stop;
static atomic_t readers, torn;

static int reader(void *arg)
{
	while (!stop) {
		struct object *o;

		rcu_read_lock();
		o = rcu_dereference(shared);
		for (int i = 0; i < 50; i++)
			if (READ_ONCE(o->alive) != 0xa11fe)
				atomic_inc(&torn);
		rcu_read_unlock();
		cond_resched();
	}
	atomic_dec(&readers);
	return 0;
}

KTEST(rcu, readers_see_living_objects)
{
	static struct object pair[2];

	pair[0].alive = 0xa11fe;
	shared = &pair[0];
	stop = false;
	atomic_set(&torn, 0);
	atomic_set(&readers, 0);
	for (u32 i = 0; i < nr_cpus + 1; i++) {
		atomic_inc(&readers);
		if (!kthread_run(reader, NULL, -1, "ktest-rcu"))
			atomic_dec(&readers);
	}
	for (int i = 0; i < 40; i++) {
		struct object *old = shared, *fresh = &pair[old == &pair[0]];

		fresh->alive = 0xa11fe;
		rcu_assign_pointer(shared, fresh);
		synchronize_rcu();
		old->alive = 0xdead; /* "freed" */
	}
	stop = true;
	for (int i = 0; i < 1000 && atomic_read(&readers); i++)
		sleep_ns(NSEC_PER_MSEC);
	KT_EQ(atomic_read(&readers), 0);
	KT_EQ(atomic_read(&torn), 0);
}
