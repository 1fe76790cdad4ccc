/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hist.c - irqsoff_hist: every site's statistics, the longest first; irqsoff_stacks: who did the
 * longest ones; irqsoff_reset. A label that an inlined function planted in several places is one
 * line.
 */
#include "arch/page.h"
#include "arch/smp.h"
#include "kernel/ksyms.h"
#include "kernel/show.h"
#include "kernel/spinlock.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "lib/sort.h"
#include "lib/string.h"
#include "trace/internal.h"

#define MAX_LINES 2048

/* One line: all sites with the same label and function. */
struct entry {
	u16 site; /* the first of them */
	u16 next; /* chain of the others: index + 1 into chain[] by site */
	u64 max;
};
static struct entry entries[MAX_LINES]; /* (hist_lock) */
static u16 chain[2 * MAX_LINES];	/* (hist_lock) site -> next site of the same line + 1 */
static DEFINE_SPINLOCK(hist_lock, RANK_TRACE);

static struct site_stat *stat_of(u32 cpu, u32 site)
{
	struct site_stat *stats = per_cpu(open_section, cpu).stats;

	return stats ? &stats[site] : NULL;
}

/* Adds one site's numbers of all CPUs; *top becomes the record of the longest. */
static void add_site(u32 site, struct irqoff_stat *sum, const struct site_stat **top)
{
	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++) {
		const struct site_stat *s = stat_of(cpu, site);

		if (!s || !READ_ONCE(s->count))
			continue;
		sum->count += s->count;
		sum->total += s->total;
		sum->work_max = max(sum->work_max, s->work_max);
		for (int k = 0; k < HIST_BUCKETS; k++)
			sum->hist[k] += s->hist[k];
		if (!*top || s->max > sum->max) {
			*top = s;
			sum->max = s->max;
			sum->end = s->end;
			sum->tid = s->tid;
			memcpy(sum->comm, s->comm, sizeof(sum->comm));
		}
	}
}

bool irqoff_stat_of(const char *label, struct irqoff_stat *out)
{
	const struct site_stat *top = NULL;

	memset(out, 0, sizeof(*out));
	for (u32 i = 0; i < nr_irq_sites; i++)
		if (!strcmp(__irq_sites_start[i].label, label))
			add_site(i, out, &top);
	return top != NULL;
}

static u64 site_max(u32 site)
{
	u64 top = 0;

	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++) {
		const struct site_stat *s = stat_of(cpu, site);

		if (s && s->count)
			top = max(top, s->max + 1);
	}
	return top;
}

static bool same_line(u32 a, u32 b)
{
	return !strcmp(__irq_sites_start[a].label, __irq_sites_start[b].label) &&
	       !strcmp(__irq_sites_start[a].func, __irq_sites_start[b].func);
}

static int by_max(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->max != y->max)
		return x->max < y->max ? 1 : -1;
	return (int)x->site - (int)y->site;
}

/* Fills entries[], sorted. => hist_lock held; the number of lines. */
static u32 collect_locked(void)
{
	u32 n = 0, sites = min_t(u32, nr_irq_sites, ARRAY_SIZE(chain));

	for (u32 i = 0; i < sites; i++) {
		u64 top = site_max(i);
		u32 j = 0;

		chain[i] = 0;
		if (!top)
			continue;
		while (j < n && !same_line(entries[j].site, i))
			j++;
		if (j < n) {
			chain[i] = entries[j].next;
			entries[j].next = i + 1;
			entries[j].max = max(entries[j].max, top);
		} else if (n < MAX_LINES) {
			entries[n++] = (struct entry){ .site = i, .max = top };
		}
	}
	sort(entries, n, sizeof(entries[0]), by_max);
	return n;
}

static void sum_line(const struct entry *e, struct irqoff_stat *sum, const struct site_stat **top)
{
	memset(sum, 0, sizeof(*sum));
	*top = NULL;
	add_site(e->site, sum, top);
	for (u16 s = e->next; s; s = chain[s - 1])
		add_site(s - 1, sum, top);
}

static int hist_show(struct seq *seq)
{
	u32 n;

	clock_describe(seq);
	seq_printf(seq, "# unit: %s; histogram k:n = n sections of 2^k..2^(k+1)-1; tracer %s\n",
		   ticks_to_ns(1ull << 20) == 1ull << 20 ? "ns" : "TSC ticks", tracer_name());
	seq_printf(seq, "#%-23s %-28s %-20s %10s %12s %9s %8s %-16s histogram\n", "label",
		   "function", "ends at", "count", "total", "max", "work_max", "task at max");
	spin_lock(&hist_lock);
	n = collect_locked();
	for (u32 i = 0; i < n; i++) {
		const struct irq_site *site = &__irq_sites_start[entries[i].site];
		const struct site_stat *top;
		struct irqoff_stat sum;
		char task[28];

		sum_line(&entries[i], &sum, &top);
		if (!top)
			continue;
		snprintf(task, sizeof(task), "%s-%d", sum.comm, sum.tid);
		seq_printf(seq, "%-24s %-28s %-20s %10lu %12lu %9lu %8lu %-16s", site->label,
			   site->func, sum.end ? sum.end->label : "?", (unsigned long)sum.count,
			   (unsigned long)sum.total, (unsigned long)sum.max,
			   (unsigned long)sum.work_max, task);
		for (int k = 0; k < HIST_BUCKETS; k++)
			if (sum.hist[k])
				seq_printf(seq, " %d:%lu", k, (unsigned long)sum.hist[k]);
		seq_putc(seq, '\n');
	}
	spin_unlock(&hist_lock);
	return 0;
}
SHOW("/sys/kernel/tracing/irqsoff_hist", 0444, hist_show, NULL);

static int stacks_show(struct seq *seq)
{
	u32 n;

	clock_describe(seq);
	spin_lock(&hist_lock);
	n = min(collect_locked(), 20u);
	for (u32 i = 0; i < n; i++) {
		const struct irq_site *site = &__irq_sites_start[entries[i].site];
		const struct site_stat *top;
		struct irqoff_stat sum;

		sum_line(&entries[i], &sum, &top);
		if (!top)
			continue;
		seq_printf(seq, "%s (%s, %s:%u) max %lu by %s-%d\n", site->label, site->func,
			   site->file, site->line, (unsigned long)sum.max, sum.comm, sum.tid);
		for (int k = 0; k < STACK_FRAMES && top->stack[k]; k++)
			seq_printf(seq, " => %pS\n", (void *)(KERNEL_BASE + top->stack[k]));
	}
	spin_unlock(&hist_lock);
	return 0;
}
SHOW("/sys/kernel/tracing/irqsoff_stacks", 0444, stacks_show, NULL);

/* Not inlined: tools/referee sees it called. */
noinline void irqoff_reset(void)
{
	tracer_pause();
	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++)
		if (stat_of(cpu, 0))
			memset(stat_of(cpu, 0), 0, nr_irq_sites * sizeof(struct site_stat));
	max_section = (struct section){ 0 };
	report_reset();
	tracer_resume();
}

static ssize_t reset_store(const char *text, size_t n, long index)
{
	irqoff_reset();
	return n;
}
SHOW("/sys/kernel/tracing/irqsoff_reset", 0200, NULL, reset_store);
