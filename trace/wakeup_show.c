// SPDX-License-Identifier: BSD-2-Clause
/*
 * wakeup_show.c - the files of the wake-up tracers.
 *
 *   /sys/kernel/quire/sched/wakeup_latency   one line per class: count, mean, percentiles, maximum,
 *                                            histogram; write 1 to measure under any tracer, 0 to
 *                                            stop, reset to start again
 *   /sys/kernel/quire/sched/wakeup_worst     what the longest waits waited for, a record per class:
 *                                            lines "word values", stacks as " => function"; `quire
 *                                            latency` makes a page of it
 */
#include "arch/init.h"
#include "arch/smp.h"
#include "kernel/ksyms.h"
#include "kernel/show.h"
#include "lib/errno.h"
#include "lib/math.h"
#include "lib/parse.h"
#include "lib/string.h"
#include "trace/wakeup_record.h"

bool wakeup_wanted;

static const char *const rows[] = {
	[WAKE_RT] = "rt", [WAKE_FAIR] = "fair", [NR_WAKE_CLASSES] = "timer"
};

/* The bound below which `part` of a thousand lie, no larger than the maximum. */
static u64 percentile(const struct wake_hist *h, u32 part)
{
	u64 want = (h->count * part + 999) / 1000, sum = 0;

	for (u32 k = 0; k < WAKE_BUCKETS; k++) {
		sum += h->bucket[k];
		if (sum >= want)
			return min((2ull << k) - 1, h->max_ns);
	}
	return h->max_ns;
}

static int latency_show(struct seq *seq)
{
	clock_describe(seq);
	seq_printf(seq,
		   "# measuring: %s; tracer %s; ns; histogram k:n = n waits of 2^k..2^(k+1)-1\n",
		   wakeup_tracing ? "on" : "off (write 1 here, or select wakeup or wakeup_rt)",
		   tracer_name());
	seq_puts(seq,
		 "# rt, fair: from a wake-up to the switch to the thread; timer: from a timer's "
		 "time to its function\n");
	seq_printf(seq, "#%-7s %9s %9s %9s %9s %9s %10s histogram\n", "class", "count", "mean",
		   "p50<=", "p99<=", "p999<=", "max");
	for (u32 row = 0; row <= NR_WAKE_CLASSES; row++) {
		struct wake_hist h;

		wakeup_hist_sum(row, &h);
		seq_printf(seq, "%-8s %9lu %9lu %9lu %9lu %9lu %10lu", rows[row],
			   (unsigned long)h.count,
			   (unsigned long)(h.count ? h.total_ns / h.count : 0),
			   (unsigned long)percentile(&h, 500), (unsigned long)percentile(&h, 990),
			   (unsigned long)percentile(&h, 999), (unsigned long)h.max_ns);
		for (u32 k = 0; k < WAKE_BUCKETS; k++)
			if (h.bucket[k])
				seq_printf(seq, " %u:%lu", k, (unsigned long)h.bucket[k]);
		seq_putc(seq, '\n');
	}
	return 0;
}

static ssize_t latency_store(const char *text, size_t n, long index)
{
	bool reset = !strncmp(text, "reset", 5), on = wakeup_wanted;
	int err = reset ? 0 : parse_bool(text, &on);

	if (err)
		return err;
	tracer_pause();
	if (reset)
		wakeup_reset();
	wakeup_wanted = on;
	tracer_resume();
	return n;
}
SHOW("/sys/kernel/quire/sched/wakeup_latency", 0644, latency_show, latency_store);

/* ---- records --------------------------------------------------------------------------------- */

static void copy_record(struct wake_record *r, enum wake_class class)
{
	unsigned long flags;

	local_irq_save_l(flags, "tracer");
	record_lock();
	*r = wake_worst[class];
	record_unlock();
	local_irq_restore_l(flags, "tracer");
}

static void show_name(struct seq *seq, const char *word, const struct wake_name *n)
{
	seq_printf(seq, "%s %d %u %d %s\n", word, n->tid, n->policy, n->prio,
		   n->tid ? n->comm : "<idle>");
}

static void show_stack(struct seq *seq, const char *word, const unsigned long *frames)
{
	if (!frames[0])
		return;
	seq_printf(seq, "%s\n", word);
	for (int i = 0; i < STACK_FRAMES && frames[i]; i++)
		seq_printf(seq, " => %pS\n", (void *)frames[i]);
}

static void show_site(struct seq *seq, const struct wake_section *s, u64 ticks)
{
	seq_printf(seq, "section %s %s %s:%u %s %lu %lu\n", s->start->label, s->start->func,
		   s->start->file, s->start->line, s->end == s->start ? "-" : s->end->label,
		   (unsigned long)ticks_to_ns(ticks), (unsigned long)s->work);
}

static void show_delay(struct seq *seq, const struct wake_delay *d)
{
	seq_printf(seq, "off %lu %u\n", (unsigned long)ticks_to_ns(d->off), d->nr_off);
	if (d->longest_len) {
		show_site(seq, &d->longest, d->longest_len);
		seq_printf(seq, "section_task %d %s\n", d->longest_task.tid, d->longest_task.comm);
		show_stack(seq, "section_stack", d->longest_stack);
	}
	for (u32 i = 0; i < d->nr_ran; i++)
		seq_printf(seq, "ran %lu %d %s\n", (unsigned long)d->ran[i].ns,
			   d->ran[i].thread.tid,
			   d->ran[i].thread.tid ? d->ran[i].thread.comm : "<idle>");
	if (d->other_ns)
		seq_printf(seq, "others %lu\n", (unsigned long)d->other_ns);
	if (d->ticks)
		seq_printf(seq, "ticks %u %s %d %s\n", d->ticks,
			   d->tick_user	     ? "user"
			   : d->tick_softirq ? "softirq"
					     : "kernel",
			   d->tick_task.tid, d->tick_task.comm);
	show_stack(seq, "tick_stack", d->tick_stack);
}

static void show_record(struct seq *seq, enum wake_class class)
{
	struct wake_record r;

	copy_record(&r, class);
	seq_printf(seq, "class %s\n", rows[class]);
	seq_printf(seq, "latency %lu\n", (unsigned long)r.len_ns);
	if (!r.len_ns)
		return;
	seq_printf(seq, "when %lu\ncpu %u\n", (unsigned long)r.when_ns, r.cpu);
	show_name(seq, "woken", &r.woken);
	if (!r.watched) {
		seq_puts(seq, "unwatched\n");
		return;
	}
	if (r.moved)
		seq_puts(seq, "moved\n");
	seq_printf(seq, "waker %c %d %s\n", r.context, r.waker.tid,
		   r.waker.tid ? r.waker.comm : "<idle>");
	show_name(seq, "running", &r.curr);
	show_delay(seq, &r.delay);
	show_name(seq, "gave", &r.gave);
	show_stack(seq, "gave_stack", r.gave_stack);
}

static void show_timer(struct seq *seq)
{
	struct wake_timer_record r;
	unsigned long flags;

	local_irq_save_l(flags, "tracer");
	record_lock();
	r = wake_worst_timer;
	record_unlock();
	local_irq_restore_l(flags, "tracer");
	seq_printf(seq, "class timer\nlatency %lu\n", (unsigned long)r.late_ns);
	if (!r.late_ns)
		return;
	seq_printf(seq, "when %lu\ncpu %u\nfunction %pS\n", (unsigned long)r.when_ns, r.cpu,
		   (void *)r.fn);
	if (r.section.start)
		show_site(seq, &r.section, r.held);
}

static int worst_show(struct seq *seq)
{
	clock_describe(seq);
	for (u32 class = 0; class < NR_WAKE_CLASSES; class ++)
		show_record(seq, class);
	show_timer(seq);
	return 0;
}
SHOW("/sys/kernel/quire/sched/wakeup_worst", 0444, worst_show, NULL);

/* ---- the file trace of tracers wakeup and wakeup_rt ------------------------------------------ */

enum wake_class wakeup_traced_class(void)
{
	return tracer_current == TRACER_WAKEUP && READ_ONCE(wake_worst[WAKE_FAIR].len_ns) >
							  READ_ONCE(wake_worst[WAKE_RT].len_ns)
		       ? WAKE_FAIR
		       : WAKE_RT;
}

static const char *comm_of(const struct wake_name *n)
{
	return n->tid ? n->comm : "<idle>";
}

/* Linux's form of a wake-up and of a switch: pid:prio:state. */
static void show_pair(struct seq *seq, const struct wake_record *r, const struct wake_name *at,
		      u64 ns, u64 delay, const char *arrow, char context)
{
	struct latency_line line = { .comm = comm_of(at),
				     .tid = at->tid,
				     .cpu = r->cpu,
				     .irqs_off = true,
				     .context = context,
				     .ns = ns,
				     .delay_ns = delay };

	latency_line_start(seq, &line);
	seq_printf(seq, "%7d:%3d:R %s [%03u] %7d:%3d:R %s\n", at->tid, at->prio, arrow, r->cpu,
		   r->woken.tid, r->woken.prio, comm_of(&r->woken));
}

static void show_lines(struct seq *seq, const struct wake_record *r)
{
	const struct wake_delay *d = &r->delay;
	struct latency_line at = { .comm = d->longest_task.tid ? d->longest_task.comm : "<idle>",
				   .tid = d->longest_task.tid,
				   .cpu = r->cpu,
				   .irqs_off = true,
				   .context = '.',
				   .ns = r->len_ns };

	show_pair(seq, r, r->watched ? &r->curr : &r->woken, 0, r->len_ns, "  +", r->context);
	if (!r->watched)
		return;
	if (d->longest_len) {
		latency_line_start(seq, &at);
		seq_printf(seq,
			   "%s <-%s, %lu ns, work %lu: the longest of %u sections, %lu ns in all\n",
			   d->longest.start->label, d->longest.start->func,
			   (unsigned long)ticks_to_ns(d->longest_len),
			   (unsigned long)d->longest.work, d->nr_off,
			   (unsigned long)ticks_to_ns(d->off));
	}
	show_pair(seq, r, &r->gave, r->len_ns, 0, "==>", '.');
	for (int i = 0; i < STACK_FRAMES && r->gave_stack[i]; i++) {
		if (!i) {
			latency_line_start(seq, &at);
			seq_puts(seq, "<stack trace>\n");
		}
		seq_printf(seq, " => %s\n", ksym_lookup(r->gave_stack[i], NULL) ?: "?");
	}
}

void wakeup_show_trace(struct seq *seq, enum wake_class class)
{
	struct latency_head head = { 0 };
	struct wake_record r;

	copy_record(&r, class);
	if (!r.len_ns) {
		clock_describe(seq);
		return;
	}
	head.ns = r.len_ns;
	head.cpu = r.cpu;
	head.entries = r.watched ? 3 + (r.gave_stack[0] != 0) - !r.delay.longest_len : 1;
	head.comm = comm_of(&r.woken);
	head.tid = r.woken.tid;
	head.policy = r.woken.policy;
	head.nice = r.woken.prio >= 100 ? r.woken.prio - 120 : 0;
	head.rt_prio = r.woken.prio < 100 ? 99 - r.woken.prio : 0;
	latency_header(seq, &head);
	seq_puts(seq, "#\n");
	clock_describe(seq);
	latency_columns(seq);
	show_lines(seq, &r);
}
