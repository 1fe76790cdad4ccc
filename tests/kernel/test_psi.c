/* SPDX-License-Identifier: BSD-2-Clause */
/* test_psi.c - pressure: who waits for a CPU, for I/O, for memory is measured, and nobody else. */
#include "kernel/cpumask.h"
#include "kernel/time.h"
#include "sched/kthread.h"
#include "sched/psi.h"
#include "sched/sched.h"
#include "tests/kernel/ktest.h"

#define MS NSEC_PER_MSEC

struct span {
	enum psi_resource r;
	u64 some, full, start;
};

static struct span begin(enum psi_resource r)
{
	struct span s = { .r = r };

	psi_totals(r, &s.some, &s.full);
	s.start = ktime_get();
	return s;
}

static void end(struct span *s)
{
	u64 some, full;

	psi_totals(s->r, &some, &full);
	s->some = some - s->some;
	s->full = full - s->full;
	s->start = ktime_get() - s->start;
}

static void burn(u64 ns)
{
	ktime_t until = ktime_get() + (ktime_t)ns;

	while (ktime_get() < until)
		cond_resched();
}

static int burner(void *arg)
{
	while (!kthread_should_stop())
		burn(MS);
	return 0;
}

/* A thread of the test's own CPU (from now on pinned). => NULL: no memory */
static struct thread *start(int (*fn)(void *), void *arg, const char *name)
{
	struct thread *t = kthread_create(fn, arg, -1, "%s", name);

	sched_set_affinity(current, CPU_BIT(0));
	if (!t)
		return NULL;
	sched_set_affinity(t, CPU_BIT(0));
	thread_start(t);
	return t;
}

KTEST(psi, cpu_is_short_when_two_want_it)
{
	struct span s;
	struct thread *other;

	sched_set_affinity(current, CPU_BIT(0));
	s = begin(PSI_CPU);
	burn(50 * MS); /* alone */
	end(&s);
	KT_ASSERT(s.some < 10 * MS);
	other = start(burner, NULL, "psi-burn");
	KT_ASSERT(other);
	s = begin(PSI_CPU);
	burn(100 * MS);
	end(&s);
	kthread_stop(other);
	KT_ASSERT(s.some > 80 * MS && s.some <= s.start + MS);
	KT_EQ(s.full, 0);
}

KTEST(psi, sleep_for_io_counts_as_io)
{
	struct span s = begin(PSI_IO);

	sched_set_affinity(current, CPU_BIT(0));
	sleep_ns(50 * MS); /* a sleep as such is nobody's fault */
	end(&s);
	KT_ASSERT(s.some < MS);
	s = begin(PSI_IO);
	current->in_iowait = 1;
	sleep_ns(100 * MS);
	current->in_iowait = 0;
	end(&s);
	KT_ASSERT(s.some > 95 * MS && s.some <= s.start);
	KT_ASSERT(s.full > 90 * MS && s.full <= s.some);
}

KTEST(psi, io_is_not_full_beside_work)
{
	struct thread *other = start(burner, NULL, "psi-burn");
	struct span s;

	KT_ASSERT(other);
	s = begin(PSI_IO);
	current->in_iowait = 1;
	sleep_ns(100 * MS);
	current->in_iowait = 0;
	end(&s);
	kthread_stop(other);
	KT_ASSERT(s.some > 90 * MS);
	KT_ASSERT(s.full < 10 * MS);
}

/* A stalled thread that runs is full: nothing useful happens. So is one asleep beside nobody. */
KTEST(psi, memory_stall_running_and_asleep)
{
	struct span s = begin(PSI_MEMORY);
	bool outer, inner;

	sched_set_affinity(current, CPU_BIT(0));
	burn(20 * MS);
	end(&s);
	KT_ASSERT(s.some < MS);
	s = begin(PSI_MEMORY);
	outer = psi_memstall_enter();
	inner = psi_memstall_enter();
	KT_ASSERT(!outer && inner);
	burn(50 * MS);
	psi_memstall_leave(inner);
	sleep_ns(50 * MS);
	psi_memstall_leave(outer);
	burn(20 * MS);
	end(&s);
	KT_ASSERT(s.some > 95 * MS && s.some < 110 * MS);
	KT_ASSERT(s.full > 90 * MS && s.full <= s.some);
}

static int staller(void *arg)
{
	bool before = psi_memstall_enter();

	while (!kthread_should_stop())
		sleep_ns(MS);
	psi_memstall_leave(before);
	return 0;
}

KTEST(psi, memory_is_not_full_beside_work)
{
	struct thread *other = start(staller, NULL, "psi-stall");
	struct span s;

	KT_ASSERT(other);
	sleep_ns(2 * MS);
	s = begin(PSI_MEMORY);
	burn(100 * MS);
	end(&s);
	kthread_stop(other);
	KT_ASSERT(s.some > 95 * MS);
	KT_ASSERT(s.full < 20 * MS);
	s = begin(PSI_MEMORY);
	burn(20 * MS);
	end(&s);
	KT_ASSERT(s.some < MS); /* it took its stall away with it */
}

/* A stall that changes its CPU takes its count along. */
KTEST(psi, stall_moves_with_its_thread)
{
	struct span s;
	bool before;

	if (nr_cpus < 2)
		KT_SKIP("one CPU");
	sched_set_affinity(current, CPU_BIT(0));
	before = psi_memstall_enter();
	sched_set_affinity(current, CPU_BIT(1));
	sleep_ns(MS);
	psi_memstall_leave(before);
	s = begin(PSI_MEMORY);
	burn(20 * MS);
	end(&s);
	sched_set_affinity(current, ~0ull);
	KT_ASSERT(s.some < MS);
}
