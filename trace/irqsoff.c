/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * irqsoff.c - the interrupts-off tracer: the two hooks, and what happens at a new maximum.
 *
 * Problem: measure every interrupts-off section exactly, at a cost that does not change what is
 * measured. Idea: the places that turn interrupts off are static records (struct irq_site,
 * arch/irqflags.h), so a section's key is known
 * without searching: the start hook stores {TSC, site}; the stop hook takes the difference and adds
 * it to stats[site->id] of its CPU. Both read the clock nearest to the section (last in the start
 * hook, first in the stop hook), so a section's length is that of the code in between plus a
 * constant; the tracer's own work lies outside.
 *
 *   cli  [start: ... rdtsc]  <-- length -->  [rdtsc ... stop]  sti
 *
 * Only when a length exceeds its site's maximum, or the maximum of the sampling interval or of the
 * tracer, the slow path
 * runs: it takes the task's name and the stack, and files the section as the new record. Maxima
 * rise a logarithmic number of times, so this is rare.
 *
 * Invariants: the hooks run with interrupts off on their own CPU, so per-CPU data needs no lock;
 * they never call anything that turns interrupts off or on. The records are guarded by a flag that
 * is spun on with interrupts off.
 * Source: the sampling rule and the report of [seed-002].
 */
#include "arch/atomic.h"
#include "arch/cpu.h"
#include "arch/init.h"
#include "arch/page.h"
#include "arch/timer.h"
#include "kernel/preempt.h"
#include "lib/math.h"
#include "lib/string.h"
#include "trace/internal.h"
#include "trace/wakeup.h"

bool irqoff_enabled;
u32 nr_irq_sites;
DEFINE_PER_CPU_ALIGNED(struct open_section, open_section);

struct section max_section, interval_section;
u64 latency_threshold;
static u64 record_above; /* a section longer than this is a record of some kind */
static u64 slow_above;	 /* the same, or 0: each is looked at while threads' waits are traced */
static u32 records_busy;

void record_lock(void)
{
	while (xchg(&records_busy, 1u))
		cpu_relax();
}

void record_unlock(void)
{
	smp_store_release(&records_busy, 0u);
}

void slow_limit_update(void)
{
	u64 tracer = latency_threshold ? latency_threshold : max_section.len;

	WRITE_ONCE(record_above, min(tracer, interval_section.len));
	WRITE_ONCE(slow_above, wakeup_tracing ? 0 : record_above);
}

struct stack_walk {
	unsigned long *frames;
	unsigned long from; /* frames before this return address belong to the tracer */
	u32 nr;
	bool started;
};

static void take_frame(unsigned long addr, void *arg)
{
	struct stack_walk *w = arg;

	w->started |= addr == w->from;
	if (w->started && w->nr < STACK_FRAMES)
		w->frames[w->nr++] = addr;
}

void take_stack(const struct pt_regs *regs, unsigned long *frames, unsigned long from)
{
	struct stack_walk walk = { .frames = frames, .from = from, .started = !from };

	arch_backtrace(regs, take_frame, &walk);
	if (walk.nr < STACK_FRAMES)
		frames[walk.nr] = 0;
}

/* A new maximum of its site, or more. */
static noinline void section_record(struct section *s, struct site_stat *stat, unsigned long caller)
{
	const char *comm = "?";
	pid_t tid = 0;

	take_stack(NULL, s->stack, caller);
	if (trace_task)
		trace_task(&tid, &comm);
	s->tid = tid;
	s->cpu = smp_processor_id();
	s->preempt = preempt_count();
	s->when = arch_clock_ns();
	memcpy(s->comm, comm, strnlen(comm, 15));
	if (s->len >= stat->max) {
		stat->max = s->len;
		stat->end = s->end;
		stat->tid = tid;
		memcpy(stat->comm, s->comm, sizeof(stat->comm));
		for (int i = 0; i < STACK_FRAMES; i++)
			stat->stack[i] = s->stack[i] ? (u32)(s->stack[i] - KERNEL_BASE) : 0;
	}
	if (s->len <= READ_ONCE(record_above))
		return;
	record_lock();
	if (s->len > interval_section.len)
		interval_section = *s;
	if (latency_threshold ? s->len > latency_threshold : s->len > max_section.len)
		max_section = *s;
	slow_limit_update();
	record_unlock();
}

static noinline void section_slow(struct open_section *o, struct irq_site *end, u64 len,
				  unsigned long end_ip, struct irq_site *start,
				  unsigned long caller)
{
	struct section s = { .len = len,
			     .work = o->work,
			     .start = start,
			     .end = end,
			     .start_ip = o->ip,
			     .end_ip = end_ip };

	if (len > o->stats[start->id].max || len > READ_ONCE(record_above))
		section_record(&s, &o->stats[start->id], caller);
	if (wakeup_tracing)
		wakeup_section(start, end, o->start, o->start + len, o->work, caller);
}

static __always_inline void close_section(struct open_section *o, struct irq_site *end, u64 now,
					  unsigned long end_ip, unsigned long caller)
{
	struct irq_site *start = o->site;
	struct site_stat *stat;
	u64 len, work;

	if (unlikely(!start))
		return; /* the tracer came on in the middle of it */
	o->site = NULL;
	len = now - o->start;
	work = o->work;
	stat = &o->stats[start->id];
	stat->count++;
	stat->total += len;
	stat->hist[min(ilog2(len | 1), HIST_BUCKETS - 1u)]++;
	if (unlikely(work > stat->work_max))
		stat->work_max = work;
	if (unlikely(len > stat->max || len > slow_above))
		section_slow(o, end, len, end_ip, start, caller);
}

void section_close(struct open_section *o, struct irq_site *end, u64 now, unsigned long end_ip)
{
	close_section(o, end, now, end_ip, end_ip);
}

/* With a preemption tracer on, sections of two kinds join; preemptoff.c handles them. */
void irqoff_start(struct irq_site *site)
{
	struct open_section *o = this_cpu_ptr(&open_section);

	if (unlikely(preemptoff_enabled) && o->site)
		return;
	o->site = site;
	o->work = 0;
	o->ip = 0;
	o->start = rdtsc();
}

void irqoff_stop(struct irq_site *site)
{
	u64 now = rdtsc();

	if (unlikely(preemptoff_enabled) && preempt_count())
		return;
	close_section(this_cpu_ptr(&open_section), site, now, 0,
		      (unsigned long)__builtin_return_address(0));
}

void irqoff_work(unsigned long n)
{
	this_cpu_ptr(&open_section)->work += n;
}
