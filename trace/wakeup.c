// SPDX-License-Identifier: BSD-2-Clause
/*
 * wakeup.c - the wake-up tracers: how long a woken thread waits for its CPU, and what for.
 *
 * Problem: a figure alone ("80 us until it ran") helps nobody; by the time it is known, what caused
 * it is over. Idea: while a thread waits, its CPU keeps account of what it does instead. A wake-up
 * opens a watch on the CPU the thread was queued on; hooks that run anyway file what they see:
 *
 *   wake-up              |--- waits ------------------------------------------|  switch to it
 *   watch:       sections with interrupts off: sum, the longest with site, work and stack
 *                threads that ran: each with its time
 *                at a tick: the stack of what was interrupted
 *                at the switch: the stack of who gave the CPU at last
 *
 * Only the record of a new maximum is kept, one per class (real-time, fair); maxima rise a
 * logarithmic number of times, so copying is rare. Latencies of all wake-ups go into a histogram
 * per class. What lies before the wake-up of a sleeper, the lateness of its timer, is a third row:
 * from a timer's time to the call of its function, with the interrupts-off section that held the
 * interrupt up.
 *
 * A CPU has four watches. A real-time thread takes the place of a fair one when all are taken; a
 * wake-up without a watch is in the histogram, and when it is the longest of all, its record says
 * that nobody watched.
 *
 * Two sides write: the waker, perhaps on another CPU, fills a watch with the queue's lock held; the
 * account (struct wake_delay) belongs to the waiting thread's CPU alone, with interrupts off. A
 * watch's number ties them: an account with another number is that of an earlier watch and starts
 * again. So the hook of a section takes no lock.
 *
 * Clocks: latencies are ktime; sections are measured by the tracer's clock and cut to the part
 * after the wake-up. With no interrupts-off tracer selected there are no sections in the account.
 * Locking: as the contract in wakeup.h says; records under record_lock. Nothing here sleeps, takes
 * another lock, or turns interrupts off or on in a hook.
 */
#include "trace/wakeup.h"
#include "arch/atomic.h"
#include "arch/cpu.h"
#include "arch/init.h"
#include "arch/smp.h"
#include "arch/timer.h"
#include "arch/trap.h"
#include "kernel/preempt.h"
#include "lib/math.h"
#include "lib/string.h"
#include "trace/wakeup_record.h"

#define NR_WATCHES 4
#define NR_RECENT 8 /* a power of two */

struct wake_watch {
	u64 id; /* 0: free. Set last */
	u64 since_ns, since_tsc;
	const void *who;
	enum wake_class class;
	bool moved;
	char context; /* of the waker: h hard interrupt, s softirq, . thread */
	struct wake_name woken, waker, curr;
};

struct wake_cpu {
	struct wake_watch watch[NR_WATCHES]; /* (lock of the CPU's queue) */
	struct wake_delay delay[NR_WATCHES]; /* this CPU, interrupts off */
	struct wake_section recent[NR_RECENT];
	u32 nr_recent;
	struct wake_hist hist[NR_WAKE_CLASSES + 1]; /* the last: timers */
};
static DEFINE_PER_CPU_ALIGNED(struct wake_cpu, wake_cpu);

bool wakeup_tracing;
struct wake_record wake_worst[NR_WAKE_CLASSES];
struct wake_timer_record wake_worst_timer;
u64 wake_threshold_ns[NR_WAKE_CLASSES];
static u64 since_enabled; /* earlier wake-ups are not measured */
static u64 next_id = 1;

/* ---- small things ---------------------------------------------------------------------------- */

static void name_thread(struct wake_name *n, const struct wake_thread *t)
{
	n->tid = t->tid;
	n->policy = t->policy;
	n->prio = t->prio;
	strlcpy(n->comm, t->comm, sizeof(n->comm));
}

static void name_current(struct wake_name *n)
{
	const char *comm = "?";
	pid_t tid = 0;

	if (trace_task)
		trace_task(&tid, &comm);
	*n = (struct wake_name){ .tid = tid };
	strlcpy(n->comm, comm, sizeof(n->comm));
}

static void hist_add(struct wake_hist *h, u64 ns)
{
	h->count++;
	h->total_ns += ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
	h->bucket[min(ilog2(ns | 1), WAKE_BUCKETS - 1u)]++;
}

/* The account of watch i, started anew when it is another watch's. NULL: no watch. */
static struct wake_delay *account_of(struct wake_cpu *c, u32 i)
{
	u64 id = smp_load_acquire(&c->watch[i].id);
	struct wake_delay *d = &c->delay[i];

	if (!id)
		return NULL;
	if (d->id != id) {
		memset(d, 0, offsetof(struct wake_delay, longest_stack));
		d->longest_stack[0] = d->tick_stack[0] = 0;
		d->id = id;
		d->mark_ns = c->watch[i].since_ns;
	}
	return d;
}

/* What a new record has to exceed. */
static u64 limit_ns(enum wake_class class)
{
	u64 threshold = READ_ONCE(latency_threshold);

	return threshold ? ticks_to_ns(threshold)
			 : max(READ_ONCE(wake_worst[class].len_ns), wake_threshold_ns[class]);
}

/* ---- the waker's side ------------------------------------------------------------------------ */

static struct wake_watch *free_watch(struct wake_cpu *c, enum wake_class class)
{
	struct wake_watch *fair = NULL;

	for (u32 i = 0; i < NR_WATCHES; i++) {
		if (!c->watch[i].id)
			return &c->watch[i];
		if (c->watch[i].class == WAKE_FAIR)
			fair = &c->watch[i];
	}
	return class == WAKE_RT ? fair : NULL;
}

u64 wakeup_begin(u32 cpu, u64 now, const struct wake_thread *woken, const struct wake_thread *curr)
{
	struct wake_watch *w = free_watch(&per_cpu(wake_cpu, cpu), woken->class);

	if (!w)
		return now;
	WRITE_ONCE(w->id, 0);
	smp_wmb();
	w->since_ns = now;
	w->since_tsc = rdtsc();
	w->who = woken->who;
	w->class = woken->class;
	w->moved = false;
	w->context = in_hardirq() ? 'h' : in_softirq() ? 's' : '.';
	name_thread(&w->woken, woken);
	name_thread(&w->curr, curr);
	name_current(&w->waker);
	smp_store_release(&w->id, __atomic_fetch_add(&next_id, 1, __ATOMIC_RELAXED));
	return now;
}

void wakeup_move(const void *who, u32 from, u32 to)
{
	struct wake_cpu *c = &per_cpu(wake_cpu, from);
	struct wake_watch *w;

	for (u32 i = 0; i < NR_WATCHES; i++) {
		if (!c->watch[i].id || c->watch[i].who != who)
			continue;
		w = to == from ? NULL : free_watch(&per_cpu(wake_cpu, to), c->watch[i].class);
		if (w) {
			WRITE_ONCE(w->id, 0);
			smp_wmb();
			memcpy((char *)w + sizeof(w->id), (char *)&c->watch[i] + sizeof(w->id),
			       sizeof(*w) - sizeof(w->id));
			w->moved = true;
			smp_store_release(&w->id, c->watch[i].id);
		}
		WRITE_ONCE(c->watch[i].id, 0);
		return;
	}
}

/* ---- the account ----------------------------------------------------------------------------- */

static void add_section(struct wake_watch *w, struct wake_delay *d, const struct wake_section *s,
			unsigned long caller)
{
	u64 from = max(s->from, w->since_tsc), len;

	if ((s64)(s->to - from) <= 0)
		return;
	len = s->to - from;
	d->off += len;
	d->nr_off++;
	if (len <= d->longest_len)
		return;
	d->longest = *s;
	d->longest_len = len;
	name_current(&d->longest_task);
	/* a stack costs a thousand instructions: only where this may become the record's */
	d->longest_stack[0] = 0;
	if (caller && ticks_to_ns(len) * 4 > limit_ns(w->class))
		take_stack(NULL, d->longest_stack, caller);
}

void wakeup_section(struct irq_site *start, struct irq_site *end, u64 from, u64 to, u64 work,
		    unsigned long caller)
{
	struct wake_cpu *c = this_cpu_ptr(&wake_cpu);
	struct wake_section *s = &c->recent[c->nr_recent++ % NR_RECENT];

	*s = (struct wake_section){ start, end, from, to, work };
	for (u32 i = 0; i < NR_WATCHES; i++) {
		struct wake_delay *d = account_of(c, i);

		if (d)
			add_section(&c->watch[i], d, s, caller);
	}
}

static void add_run(struct wake_delay *d, const struct wake_thread *t, u64 now)
{
	u64 ns = now - d->mark_ns;
	u32 i = 0;

	d->mark_ns = now;
	if ((s64)ns <= 0)
		return;
	while (i < d->nr_ran && d->ran[i].thread.tid != t->tid)
		i++;
	if (i == WAKE_RAN) {
		d->other_ns += ns;
		return;
	}
	if (i == d->nr_ran) {
		name_thread(&d->ran[i].thread, t);
		d->nr_ran++;
	}
	d->ran[i].ns += ns;
}

void wakeup_tick(void)
{
	struct wake_cpu *c = this_cpu_ptr(&wake_cpu);
	struct pt_regs *regs = this_cpu_read(irq_regs);

	for (u32 i = 0; i < NR_WATCHES; i++) {
		struct wake_delay *d = account_of(c, i);

		if (!d)
			continue;
		d->ticks++;
		name_current(&d->tick_task);
		d->tick_user = regs && user_mode(regs);
		d->tick_softirq = in_softirq() != 0;
		d->tick_stack[0] = 0;
		if (regs && !d->tick_user)
			take_stack(regs, d->tick_stack, 0);
	}
}

/* ---- the end of a wait ----------------------------------------------------------------------- */

/* The section that is open at the switch counts up to here. */
static void add_open(struct wake_watch *w, struct wake_delay *d)
{
	struct open_section *o = this_cpu_ptr(&open_section);
	struct wake_section s = { o->site, o->site, o->start, rdtsc(), o->work };

	if (o->site)
		add_section(w, d, &s, 0);
}

static noinline void keep_record(const struct wake_watch *w, const struct wake_delay *d, u64 len,
				 u64 now, const struct wake_thread *prev, unsigned long caller)
{
	struct wake_record *r = &wake_worst[w->class];

	record_lock();
	r->len_ns = len;
	r->when_ns = now;
	r->cpu = smp_processor_id();
	r->watched = true;
	r->moved = w->moved;
	r->context = w->context;
	r->woken = w->woken;
	r->waker = w->waker;
	r->curr = w->curr;
	name_thread(&r->gave, prev);
	r->gave_stack[0] = 0;
	if (prev->tid)
		take_stack(NULL, r->gave_stack, caller);
	r->delay = *d;
	record_unlock();
}

/* The longest so far, and nobody watched. */
static noinline void keep_bare(u64 len, u64 now, const struct wake_thread *t)
{
	struct wake_record *r = &wake_worst[t->class];

	record_lock();
	memset(r, 0, sizeof(*r));
	r->len_ns = len;
	r->when_ns = now;
	r->cpu = smp_processor_id();
	r->context = '.';
	name_thread(&r->woken, t);
	record_unlock();
}

void wakeup_switch(u64 now, const struct wake_thread *prev, const struct wake_thread *next,
		   u64 woken_ns, unsigned long caller)
{
	struct wake_cpu *c = this_cpu_ptr(&wake_cpu);
	u64 len = now - woken_ns;
	bool counts = woken_ns >= since_enabled && woken_ns && (s64)len >= 0, record, kept = false;

	record = counts && len > limit_ns(next->class);
	for (u32 i = 0; i < NR_WATCHES; i++) {
		struct wake_delay *d = account_of(c, i);
		struct wake_watch *w = &c->watch[i];

		if (!d)
			continue;
		add_run(d, prev, now);
		if (w->who != next->who)
			continue;
		if (record && w->since_ns == woken_ns) {
			add_open(w, d);
			keep_record(w, d, len, now, prev, caller);
			kept = true;
		}
		WRITE_ONCE(w->id, 0);
	}
	if (!counts)
		return;
	hist_add(&c->hist[next->class], len);
	if (record && !kept)
		keep_bare(len, now, next);
}

/* ---- timers ---------------------------------------------------------------------------------- */

/* The longest of the last sections that reached beyond the time the timer was due. */
static noinline void keep_timer(const struct wake_cpu *c, u64 late, u64 now, const void *fn)
{
	u64 due = rdtsc() - ns_to_ticks(late), best = 0;
	struct wake_timer_record r = {
		.late_ns = late, .when_ns = now, .cpu = smp_processor_id(), .fn = (unsigned long)fn
	};

	for (u32 i = 0; i < min(c->nr_recent, (u32)NR_RECENT); i++) {
		const struct wake_section *s = &c->recent[i];
		u64 from = max(s->from, due);

		if ((s64)(s->to - from) <= 0 || s->to - from <= best)
			continue;
		best = s->to - from;
		r.section = *s;
	}
	r.held = best;
	record_lock();
	if (late > wake_worst_timer.late_ns)
		wake_worst_timer = r;
	record_unlock();
}

void wakeup_timer(u64 expires, const void *fn)
{
	struct wake_cpu *c = this_cpu_ptr(&wake_cpu);
	u64 now = arch_clock_ns(), late = now - expires;

	if ((s64)late < 0 || expires < since_enabled)
		return;
	hist_add(&c->hist[NR_WAKE_CLASSES], late);
	if (late > READ_ONCE(wake_worst_timer.late_ns))
		keep_timer(c, late, now, fn);
}

/* ---- control --------------------------------------------------------------------------------- */

void wakeup_forget_open(void)
{
	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++)
		for (u32 i = 0; i < NR_WATCHES; i++)
			WRITE_ONCE(per_cpu(wake_cpu, cpu).watch[i].id, 0);
}

void wakeup_start(void)
{
	since_enabled = arch_clock_ns();
	smp_wmb();
	WRITE_ONCE(wakeup_tracing, true);
}

void wakeup_reset(void)
{
	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++)
		memset(per_cpu(wake_cpu, cpu).hist, 0, sizeof(per_cpu(wake_cpu, cpu).hist));
	memset(wake_worst, 0, sizeof(wake_worst));
	memset(wake_threshold_ns, 0, sizeof(wake_threshold_ns));
	memset(&wake_worst_timer, 0, sizeof(wake_worst_timer));
}

void wakeup_hist_sum(u32 row, struct wake_hist *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++) {
		const struct wake_hist *h = &per_cpu(wake_cpu, cpu).hist[row];

		sum->count += h->count;
		sum->total_ns += h->total_ns;
		sum->max_ns = max(sum->max_ns, h->max_ns);
		for (u32 k = 0; k < WAKE_BUCKETS; k++)
			sum->bucket[k] += h->bucket[k];
	}
}
