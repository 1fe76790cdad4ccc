/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency.c - the file `trace`: with a latency tracer the longest section in ftrace's latency
 * format, with nop the event rings. Writing to it clears.
 */
#include "kernel/param.h"
#include "kernel/preempt.h"
#include "kernel/show.h"
#include "arch/smp.h"
#include "kernel/ksyms.h"
#include "lib/string.h"
#include "trace/internal.h"

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

/* time in ns since the section began. */
static void line(struct seq *seq, const struct section *s, u64 ns, const char *what,
		 const char *where)
{
	u32 depth = s->preempt & PREEMPT_MASK;
	char context = s->preempt & HARDIRQ_MASK   ? (s->preempt & SOFTIRQ_MASK ? 'H' : 'h')
		       : s->preempt & SOFTIRQ_MASK ? 's'
						   : '.';
	char mark = ns > 100000 ? '!' : ns > 1000 ? '+' : ' ';

	seq_printf(seq, "%8.8s-%-7d %3u%c.%c%c. %4luus%c: %s <-%s\n", s->tid ? s->comm : "<idle>",
		   s->tid, s->cpu, s->start == &site_preempt ? '.' : 'd', context,
		   depth ? '0' + (depth > 9 ? 9 : depth) : '.', (unsigned long)(ns / 1000), mark,
		   what, where);
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

static void show_section(struct seq *seq, const struct section *s)
{
	u64 ns = ticks_to_ns(s->len);

	seq_printf(seq, "# %s latency trace v1.1.5 on quire\n", tracer_name());
	seq_puts(seq, "# --------------------------------------------------------------------\n");
	seq_printf(seq, "# latency: %lu us, #2/2, CPU#%u | (M:%s VP:0, KP:0, SP:0 HP:0 #P:%u)\n",
		   (unsigned long)(ns / 1000), s->cpu, model(), nr_cpus);
	seq_puts(seq, "#    -----------------\n");
	seq_printf(seq, "#    | task: %s-%d (uid:0 nice:0 policy:0 rt_prio:0)\n", s->comm, s->tid);
	seq_puts(seq, "#    -----------------\n");
	seq_printf(seq, "#  => started at: %s\n", place(s->start, s->start_ip));
	seq_printf(seq, "#  => ended at:   %s\n", place(s->end, s->end_ip));
	seq_puts(seq, "#\n");
	clock_describe(seq);
	seq_printf(seq, "# exactly %lu ns, work %lu\n#\n", (unsigned long)ns,
		   (unsigned long)s->work);
	seq_puts(seq, "#                  _------=> CPU#\n"
		      "#                 / _-----=> irqs-off\n"
		      "#                | / _----=> need-resched\n"
		      "#                || / _---=> hardirq/softirq\n"
		      "#                ||| / _--=> preempt-depth\n"
		      "#                |||| /     delay\n"
		      "#  cmd     pid   ||||| time  |   caller\n"
		      "#     \\   /      |||||  \\    |   /\n");
	line(seq, s, 0, place(s->start, s->start_ip), function(s->start, s->start_ip));
	line(seq, s, ns, place(s->end, s->end_ip), function(s->end, s->end_ip));
	line(seq, s, ns, "<stack trace>", function(s->end, s->end_ip));
	for (int i = 0; i < STACK_FRAMES && s->stack[i]; i++)
		seq_printf(seq, " => %s\n", place(NULL, s->stack[i]));
}

static int trace_show(struct seq *seq)
{
	struct section s;
	unsigned long flags;

	seq_printf(seq, "# tracer: %s\n#\n", tracer_name());
	if (tracer_current == TRACER_NOP) {
		seq_printf(seq, "# entries-written: %lu   #P:%u\n#\n",
			   (unsigned long)event_count_recorded(), nr_cpus);
		seq_puts(seq, "#                                _-----=> irqs-off/BH-disabled\n"
			      "#                               / _----=> need-resched\n"
			      "#                              | / _---=> hardirq/softirq\n"
			      "#                              || / _--=> preempt-depth\n"
			      "#                              ||| / _-=> migrate-disable\n"
			      "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
			      "#              | |         |   |||||     |         |\n");
		event_show(seq);
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
	slow_limit_update();
	record_unlock();
	local_irq_restore_l(flags, "tracer");
	return n;
}
SHOW("/sys/kernel/tracing/trace", 0644, trace_show, trace_store);
