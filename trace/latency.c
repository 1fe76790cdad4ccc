/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency.c - the file `trace`: with a latency tracer the longest section or wait in ftrace's
 * latency format, with nop the event rings. Writing to it clears.
 *
 * The columns are those of Linux 6.1, character by character, for programs that take them apart
 * (tools/lablib/ftrace.py is the grammar). Lines of ours begin with # and stand before the
 * column heads.
 */
#include "arch/smp.h"
#include "kernel/ksyms.h"
#include "kernel/param.h"
#include "kernel/preempt.h"
#include "kernel/show.h"
#include "lib/string.h"
#include "trace/wakeup_record.h"

/* "label" of a site, or the function of an address for the preemption tracers. */
static const char *place(const struct irq_site *site, unsigned long ip)
{
	const char *name = ip ? ksym_lookup(ip, NULL) : NULL;

	return name ? name : site ? site->label : "?";
}

static const char *function(const struct irq_site *site, unsigned long ip)
{
	const char *name = ip ? ksym_lookup(ip, NULL) : NULL;

	return name ? name : site ? site->func : "?";
}

/* Linux's marks of a long wait until the next line. */
static char mark(u64 ns)
{
	static const struct {
		u64 ns;
		char mark;
	} marks[] = { { 1000000000, '$' }, { 100000000, '@' }, { 10000000, '*' },
		      { 1000000, '#' },	   { 100000, '!' },    { 10000, '+' } };

	for (u32 i = 0; i < ARRAY_SIZE(marks); i++)
		if (ns > marks[i].ns)
			return marks[i].mark;
	return ' ';
}

void latency_line_start(struct seq *seq, const struct latency_line *l)
{
	static const char depth[] = ".123456789abcdef";

	seq_printf(seq, "%8.8s-%-7d %3u%c.%c%c. %4luus%c: ", l->comm, l->tid, l->cpu,
		   l->irqs_off ? 'd' : '.', l->context, depth[min(l->preempt_depth, 15u)],
		   (unsigned long)(l->ns / 1000), mark(l->delay_ns));
}

/* The preemption model under ftrace's names. */
static const char *model(void)
{
	const char *preempt = param_get("preempt");

	return !preempt			  ? "desktop"
	       : !strcmp(preempt, "none") ? "server"
	       : !strcmp(preempt, "full") ? "preempt"
					  : "desktop";
}

void latency_header(struct seq *seq, const struct latency_head *h)
{
	seq_printf(seq, "# %s latency trace v1.1.5 on quire\n", tracer_name());
	seq_puts(seq, "# --------------------------------------------------------------------\n");
	seq_printf(seq, "# latency: %lu us, #%u/%u, CPU#%u | (M:%s VP:0, KP:0, SP:0 HP:0 #P:%u)\n",
		   (unsigned long)(h->ns / 1000), h->entries, h->entries, h->cpu, model(), nr_cpus);
	seq_puts(seq, "#    -----------------\n");
	seq_printf(seq, "#    | task: %s-%d (uid:0 nice:%d policy:%u rt_prio:%u)\n", h->comm,
		   h->tid, h->nice, h->policy, h->rt_prio);
	seq_puts(seq, "#    -----------------\n");
}

void latency_columns(struct seq *seq)
{
	seq_puts(seq, "#                    _------=> CPU#            \n"
		      "#                   / _-----=> irqs-off/BH-disabled\n"
		      "#                  | / _----=> need-resched    \n"
		      "#                  || / _---=> hardirq/softirq \n"
		      "#                  ||| / _--=> preempt-depth   \n"
		      "#                  |||| / _-=> migrate-disable \n"
		      "#                  ||||| /     delay           \n"
		      "#  cmd     pid     |||||| time  |   caller     \n"
		      "#     \\   /        ||||||  \\    |    /       \n");
}

static void line(struct seq *seq, const struct section *s, u64 ns, u64 delay, const char *what,
		 const char *where)
{
	struct latency_line l = { .comm = s->tid ? s->comm : "<idle>",
				  .tid = s->tid,
				  .cpu = s->cpu,
				  .preempt_depth = s->preempt & PREEMPT_MASK,
				  .irqs_off = s->start != &site_preempt,
				  .ns = ns,
				  .delay_ns = delay };

	l.context = s->preempt & HARDIRQ_MASK	? (s->preempt & SOFTIRQ_MASK ? 'H' : 'h')
		    : s->preempt & SOFTIRQ_MASK ? 's'
						: '.';
	latency_line_start(seq, &l);
	if (where)
		seq_printf(seq, "%s <-%s\n", what, where);
	else
		seq_printf(seq, "%s\n", what);
}

static void show_section(struct seq *seq, const struct section *s)
{
	u64 ns = ticks_to_ns(s->len);
	struct latency_head head = {
		.ns = ns, .cpu = s->cpu, .entries = 3, .comm = s->comm, .tid = s->tid
	};

	latency_header(seq, &head);
	seq_printf(seq, "#  => started at: %s\n", place(s->start, s->start_ip));
	seq_printf(seq, "#  => ended at:   %s\n", place(s->end, s->end_ip));
	seq_puts(seq, "#\n");
	clock_describe(seq);
	seq_printf(seq, "# exactly %lu ns, work %lu\n#\n", (unsigned long)ns,
		   (unsigned long)s->work);
	latency_columns(seq);
	line(seq, s, 0, ns, place(s->start, s->start_ip), function(s->start, s->start_ip));
	line(seq, s, ns, 0, place(s->end, s->end_ip), function(s->end, s->end_ip));
	line(seq, s, ns, 0, "<stack trace>", NULL);
	for (int i = 0; i < STACK_FRAMES && s->stack[i]; i++)
		seq_printf(seq, " => %s\n", place(NULL, s->stack[i]));
}

static void show_events(struct seq *seq)
{
	seq_printf(seq, "# entries-in-buffer/entries-written: %lu/%lu   #P:%u\n#\n",
		   (unsigned long)event_count_kept(), (unsigned long)event_count_recorded(),
		   nr_cpus);
	seq_puts(seq, "#                                _-----=> irqs-off/BH-disabled\n"
		      "#                               / _----=> need-resched\n"
		      "#                              | / _---=> hardirq/softirq\n"
		      "#                              || / _--=> preempt-depth\n"
		      "#                              ||| / _-=> migrate-disable\n"
		      "#                              |||| /     delay\n"
		      "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
		      "#              | |         |   |||||     |         |\n");
	event_show(seq);
}

static int trace_show(struct seq *seq)
{
	struct section s;
	unsigned long flags;

	seq_printf(seq, "# tracer: %s\n#\n", tracer_name());
	if (tracer_current == TRACER_NOP) {
		show_events(seq);
		return 0;
	}
	if (tracer_current >= TRACER_WAKEUP) {
		wakeup_show_trace(seq, wakeup_traced_class());
		return 0;
	}
	local_irq_save_l(flags, "tracer");
	record_lock();
	s = max_section;
	record_unlock();
	local_irq_restore_l(flags, "tracer");
	if (s.start)
		show_section(seq, &s);
	else
		clock_describe(seq);
	return 0;
}

static ssize_t trace_store(const char *text, size_t n, long index)
{
	unsigned long flags;

	event_clear();
	local_irq_save_l(flags, "tracer");
	record_lock();
	max_section = (struct section){ 0 };
	if (tracer_current >= TRACER_WAKEUP)
		for (u32 class = 0; class < NR_WAKE_CLASSES; class ++)
			wake_worst[class].len_ns = 0;
	slow_limit_update();
	record_unlock();
	local_irq_restore_l(flags, "tracer");
	return n;
}
SHOW("/sys/kernel/tracing/trace", 0644, trace_show, trace_store);
