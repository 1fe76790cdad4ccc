// SPDX-License-Identifier: BSD-2-Clause
/*
 * psi.c - pressure stall information: /proc/pressure/{cpu,memory,io}.
 *
 * Problem: how much is lost because something is short? Use alone does not tell: a CPU may be 100 %
 * busy without anybody waiting. Idea: measure lost time. Each CPU is at any time in a state per
 * resource:
 *
 *   cpu     some: more threads can run than do         full: never, for the whole machine
 *   memory  some: a thread is in a memory stall        full: and no thread does useful work: the
 *                                                      CPU is idle, or runs a stalled one
 *   io      some: a thread sleeps for I/O              full: and the CPU is idle
 *
 * A thread is in a memory stall between psi_memstall_enter and _leave: it reclaims, or waits for a
 * page that was in memory not long ago. It counts on the CPU it is on or was last on.
 *
 * Cost: the states follow from counts the run queue has anyway, so hot paths only take a time when
 * nr_running passes between 1 and 2. I/O states change where a thread sleeps for I/O, which are
 * rare branches already; "io full" is the CPU's iowait time. Memory states are looked at again
 * after each switch, but only while a stalled thread belongs to the CPU: AFTER_PSI then stays set
 * in rq->after.
 *
 * The machine's time: the mean over the CPUs, each weighted with the time it was not idle, per
 * period of 2 s. The averages move one step per period. The tick of a busy CPU starts that, in a
 * timer's softirq; an idle machine does nothing, and who reads makes up for what was missed, as
 * does the next tick (psi_avg.h). A long sleep for I/O on a machine without ticks is thus spread
 * evenly.
 * Locking: per-CPU times: run queue lock. Totals and averages: psi_lock, softirqs off; inside it
 * the run queue locks, one after the other.
 * Source: [Weiner18].
 */
#include "sched/psi.h"

#include "kernel/show.h"
#include "kernel/softirq.h"
#include "sched/internal.h"
#include "sched/psi_avg.h"

enum psi_state { CPU_SOME, MEM_SOME, MEM_FULL, IO_SOME, IO_FULL, NR_STATES };

/* What was seen of a CPU: now, and at the last collection (psi_lock). */
struct sample {
	u64 clock, idle;
	u64 time[NR_STATES];
};
static DEFINE_PER_CPU(struct sample, last_sample);

static DEFINE_SPINLOCK(psi_lock, RANK_PCP);
static u64 total[NR_STATES], total_at_step[NR_STATES]; /* (psi_lock) */
static u64 avg[NR_STATES][NR_PSI_WINDOWS];	       /* (psi_lock) */
static u64 step_at;				       /* (psi_lock) end of the last period */
static u64 tick_at = PSI_PERIOD_NS;		       /* a tick after this starts an update */

/* ---- states of a CPU: run queue lock held, clock up to date ---- */

static void set_state(struct psi_clock *c, bool on, u64 now)
{
	if (c->on == on)
		return;
	if (on)
		c->since = now;
	else
		c->ns += now - c->since;
	c->on = on;
}

static u64 clock_value(const struct psi_clock *c, u64 now)
{
	return c->ns + (c->on ? now - c->since : 0);
}

void psi_mem_update(struct rq *rq)
{
	bool some = rq->nr_memstall != 0;

	set_state(&rq->psi_mem_some, some, rq->clock);
	set_state(&rq->psi_mem_full, some && (rq->curr == rq->idle || rq->curr->in_memstall),
		  rq->clock);
	if (some)
		rq->after |= AFTER_PSI;
	else
		rq->after &= ~AFTER_PSI;
}

void psi_mem_change(struct rq *rq, int n)
{
	rq_update_clock(rq);
	rq->nr_memstall += n;
	psi_mem_update(rq);
}

void psi_io_change(struct rq *rq, int n)
{
	rq->nr_iowait += n;
	set_state(&rq->psi_io_some, rq->nr_iowait != 0, rq->clock);
}

bool psi_memstall_enter(void)
{
	struct thread *me = current;
	unsigned long flags;
	struct rq *rq;

	if (me->in_memstall)
		return true;
	local_irq_save_l(flags, "psi_memstall");
	rq = this_rq();
	rq_lock(rq);
	me->in_memstall = 1;
	psi_mem_change(rq, 1);
	rq_unlock(rq);
	local_irq_restore_l(flags, "psi_memstall");
	return false;
}

void psi_memstall_leave(bool before)
{
	struct thread *me = current;
	unsigned long flags;
	struct rq *rq;

	if (before)
		return;
	local_irq_save_l(flags, "psi_memstall");
	rq = this_rq();
	rq_lock(rq);
	me->in_memstall = 0;
	psi_mem_change(rq, -1);
	rq_unlock(rq);
	local_irq_restore_l(flags, "psi_memstall");
}

/* ---- the machine ---- */

static void look(u32 cpu, struct sample *s)
{
	struct rq *rq = cpu_rq(cpu);
	unsigned long flags;

	local_irq_save_l(flags, "psi_look");
	rq_lock(rq);
	if (rq->curr == rq->idle)
		rq_update_curr(rq); /* its time is idle or iowait */
	else
		rq_update_clock(rq);
	s->clock = rq->clock;
	s->idle = rq->times.idle_ns;
	s->time[CPU_SOME] = rq->psi_cpu_ns;
	if (rq->nr_running > 1)
		s->time[CPU_SOME] += rq->clock;
	s->time[MEM_SOME] = clock_value(&rq->psi_mem_some, rq->clock);
	s->time[MEM_FULL] = clock_value(&rq->psi_mem_full, rq->clock);
	s->time[IO_SOME] = clock_value(&rq->psi_io_some, rq->clock);
	s->time[IO_FULL] = rq->times.iowait_ns;
	rq_unlock(rq);
	local_irq_restore_l(flags, "psi_look");
}

/* What a CPU adds to the sums, from its last sample to this one. */
static void add_cpu(struct psi_sum *sum, const struct sample *old, const struct sample *new)
{
	u64 elapsed = new->clock - old->clock, idle = min(new->idle - old->idle, elapsed);
	u64 busy = elapsed - idle, delta[NR_STATES];

	for (int i = 0; i < NR_STATES; i++) {
		delta[i] = min(new->time[i] - old->time[i], elapsed);
		busy = max(busy, delta[i]); /* idle with a stalled sleeper is not idle */
	}
	for (int i = 0; i < NR_STATES; i++)
		psi_sum_add(&sum[i], delta[i], busy);
}

/* Totals up to now. => softirqs off, psi_lock held */
static void collect_locked(u64 now)
{
	static u64 collected_at;
	struct psi_sum sum[NR_STATES];
	struct sample s;
	u32 cpu;

	for (int i = 0; i < NR_STATES; i++)
		psi_sum_init(&sum[i], now - collected_at);
	collected_at = now;
	for_each_cpu(cpu, sched_cpus) {
		struct sample *old = &per_cpu(last_sample, cpu);

		look(cpu, &s);
		add_cpu(sum, old, &s);
		*old = s;
	}
	for (int i = 0; i < NR_STATES; i++)
		total[i] += psi_sum_result(&sum[i]);
}

static void update(void)
{
	u64 now, periods;

	softirq_disable();
	spin_lock(&psi_lock);
	now = ktime_get();
	collect_locked(now);
	periods = (now - step_at) / PSI_PERIOD_NS;
	if (periods) {
		for (int i = 0; i < NR_STATES; i++) {
			psi_step(avg[i], total[i] - total_at_step[i], periods);
			total_at_step[i] = total[i];
		}
		step_at += periods * PSI_PERIOD_NS;
	}
	WRITE_ONCE(tick_at, step_at + PSI_PERIOD_NS);
	spin_unlock(&psi_lock);
	softirq_enable();
}

static void run(struct timer *t)
{
	update();
}
static struct timer psi_timer = { .fn = run };

void psi_tick(u64 now)
{
	if (likely(now < READ_ONCE(tick_at)))
		return;
	WRITE_ONCE(tick_at, now + PSI_PERIOD_NS); /* update() says it better */
	if (!timer_pending(&psi_timer))
		timer_start(&psi_timer, (ktime_t)now);
}

void psi_totals(enum psi_resource r, u64 *some_ns, u64 *full_ns)
{
	static const s8 some[] = { CPU_SOME, MEM_SOME, IO_SOME },
			full[] = { -1, MEM_FULL, IO_FULL };

	update();
	*some_ns = READ_ONCE(total[some[r]]);
	*full_ns = full[r] < 0 ? 0 : READ_ONCE(total[full[r]]);
}

/* ---- /proc/pressure ---- */

static void show_line(struct seq *seq, const char *word, const u64 a[NR_PSI_WINDOWS], u64 ns)
{
	static const char *const names[NR_PSI_WINDOWS] = { "avg10", "avg60", "avg300" };

	seq_puts(seq, word);
	for (int i = 0; i < NR_PSI_WINDOWS; i++) {
		u64 hundredths = (a[i] * 100 + PSI_PERCENT / 2) / PSI_PERCENT;

		seq_printf(seq, " %s=%llu.%02llu", names[i], (unsigned long long)(hundredths / 100),
			   (unsigned long long)(hundredths % 100));
	}
	seq_printf(seq, " total=%llu\n", (unsigned long long)(ns / 1000));
}

static int show_two(struct seq *seq, int some, int full)
{
	static const u64 none[NR_PSI_WINDOWS];

	update();
	show_line(seq, "some", avg[some], total[some]);
	show_line(seq, "full", full < 0 ? none : avg[full], full < 0 ? 0 : total[full]);
	return 0;
}

static int cpu_show(struct seq *seq)
{
	return show_two(seq, CPU_SOME, -1);
}
static int memory_show(struct seq *seq)
{
	return show_two(seq, MEM_SOME, MEM_FULL);
}
static int io_show(struct seq *seq)
{
	return show_two(seq, IO_SOME, IO_FULL);
}
SHOW("/proc/pressure/cpu", 0444, cpu_show, NULL);
SHOW("/proc/pressure/memory", 0444, memory_show, NULL);
SHOW("/proc/pressure/io", 0444, io_show, NULL);
