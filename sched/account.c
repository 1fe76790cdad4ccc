/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * account.c - the tick, and who used the CPU.
 *
 * How long a thread ran is exact (sum_exec_ns, from the clock at every switch). How that splits
 * into user and system time is
 * sampled: each tick of 1 ms is charged whole to what it interrupted, and thread_cputime() scales
 * the two samples to the exact sum. Idle and I/O wait are exact; interrupt time is not told apart,
 * softirq time is sampled.
 *
 * Load average: a = a * e + active * (1 - e) every 5 s, active = running + uninterruptible user
 * threads, for 1, 5 and 15 minutes. A machine that slept tickless makes up for the missed steps
 * with active = 0 when it is next looked at.
 */
#include "kernel/rcu.h"
#include "kernel/softirq.h"
#include "sched/internal.h"
#include "trace/wakeup.h"

#define LOAD_STEP_NS (5 * NSEC_PER_SEC)
#define LOAD_ONE 2048ul /* 11 bits */
/* LOAD_ONE / exp(5 s / 1, 5, 15 min) */
static const unsigned long load_decay[3] = { 1884, 2014, 2037 };

static DEFINE_SPINLOCK(load_lock, RANK_LEAF);
static unsigned long load[3];
static u64 load_next = LOAD_STEP_NS;

static void load_step(unsigned long active)
{
	for (int i = 0; i < 3; i++) {
		unsigned long v = load[i] * load_decay[i] + active * (LOAD_ONE - load_decay[i]);

		if (active >= load[i])
			v += LOAD_ONE -
			     1; /* round towards the target, as /proc/loadavg readers expect */
		load[i] = v / LOAD_ONE;
	}
}

/* x^n in 11-bit fixed point. */
static unsigned long fixed_power(unsigned long x, u64 n)
{
	unsigned long result = LOAD_ONE;

	for (; n; n >>= 1) {
		if (n & 1)
			result = (result * x + LOAD_ONE / 2) / LOAD_ONE;
		x = (x * x + LOAD_ONE / 2) / LOAD_ONE;
	}
	return result;
}

static void load_catch_up(u64 now)
{
	unsigned long active = 0;
	u64 missed;
	u32 cpu;

	if (now < load_next)
		return;
	missed = (now - load_next) / LOAD_STEP_NS;
	load_next += (missed + 1) * LOAD_STEP_NS;
	for (int i = 0; missed && i < 3; i++)
		load[i] = load[i] * fixed_power(load_decay[i], missed) / LOAD_ONE;
	for_each_cpu(cpu, sched_cpus)
		active += cpu_rq(cpu)->nr_running + cpu_rq(cpu)->nr_uninterruptible;
	load_step(active * LOAD_ONE);
}

void loadavg_tick(u64 now)
{
	if (likely(now < READ_ONCE(load_next)) || !spin_trylock(&load_lock))
		return;
	load_catch_up(now);
	spin_unlock(&load_lock);
}

void sched_loadavg(unsigned long out[3])
{
	unsigned long flags;

	spin_lock_irqsave_l(&load_lock, flags, "loadavg");
	load_catch_up(ktime_get());
	for (int i = 0; i < 3; i++)
		out[i] = load[i];
	spin_unlock_irqrestore_l(&load_lock, flags, "loadavg");
}

static void charge_tick(struct rq *rq, struct thread *t, bool user)
{
	if (t == rq->idle)
		return; /* exact, see idle_update */
	if (user) {
		t->utime_ns += NSEC_PER_TICK;
		if (t->nice > 0)
			rq->times.nice_ns += NSEC_PER_TICK;
		else
			rq->times.user_ns += NSEC_PER_TICK;
	} else {
		t->stime_ns += NSEC_PER_TICK;
		if (in_softirq())
			rq->times.softirq_ns += NSEC_PER_TICK;
		else
			rq->times.system_ns += NSEC_PER_TICK;
	}
}

/* Hard interrupt, IRQs off, once per ms on a CPU that is not idle. */
static void sched_tick(bool user, ktime_t now)
{
	struct rq *rq = this_rq();
	struct thread *t;

	if (unlikely(wakeup_tracing))
		wakeup_tick();
	rq_lock(rq);
	t = rq->curr;
	charge_tick(rq, t, user);
	rq_update_curr(rq);
	if (t->sclass->tick(rq, t) || (unlikely(rq->rt.throttled) && rt_new_period(rq)))
		rq_resched(rq);
	rq_unlock(rq);
	if (nr_cpus > 1)
		balance_tick(rq, now);
	loadavg_tick(now);
	psi_tick(now);
}

void account_init(void)
{
	tick_hook = sched_tick;
}

/* ---- reading --------------------------------------------------------------------------------- */

u64 thread_runtime_ns(struct thread *t)
{
	unsigned long flags;
	struct rq *rq;
	u64 ns;

	local_irq_save_l(flags, "thread_runtime");
	rq = thread_rq_lock(t);
	if (rq->curr == t)
		rq_update_curr(rq);
	ns = t->sum_exec_ns;
	rq_unlock(rq);
	local_irq_restore_l(flags, "thread_runtime");
	return ns;
}

void thread_cputime(struct thread *t, u64 *utime_ns, u64 *stime_ns)
{
	u64 sum = thread_runtime_ns(t), u = t->utime_ns, s = t->stime_ns, total = u + s;

	if (total) /* in us: 2^64 is enough for half a million CPU seconds squared */
		s = sum / 1000 * (s / 1000) / (total / 1000) * 1000;
	else
		s = 0;
	s = max(s, t->shown_stime_ns);
	s = min(s, sum);
	u = max(sum - s, t->shown_utime_ns);
	t->shown_stime_ns = s;
	t->shown_utime_ns = u;
	*utime_ns = u;
	*stime_ns = s;
}

void sched_cpu_times(u32 cpu, struct cpu_times *out)
{
	struct rq *rq = cpu_rq(cpu);
	unsigned long flags;

	local_irq_save_l(flags, "sched_cpu_times");
	rq_lock(rq);
	if (rq->curr == rq->idle)
		rq_update_curr(rq);
	*out = rq->times;
	rq_unlock(rq);
	local_irq_restore_l(flags, "sched_cpu_times");
}

#define SUM_OVER_CPUS(name, type, field)                                                           \
	type name(void)                                                                            \
	{                                                                                          \
		type n = 0;                                                                        \
		u32 cpu;                                                                           \
                                                                                                   \
		for_each_cpu(cpu, sched_cpus)                                                      \
			n += READ_ONCE(cpu_rq(cpu)->field);                                        \
		return n;                                                                          \
	}
SUM_OVER_CPUS(sched_nr_switches, u64, nr_switches)
SUM_OVER_CPUS(sched_nr_running, u32, nr_running)
SUM_OVER_CPUS(sched_nr_iowait, u32, nr_iowait)
SUM_OVER_CPUS(sched_nr_forks, u64, nr_forks)
