// SPDX-License-Identifier: BSD-2-Clause
/*
 * alloc_latency.c - what an allocation that was not quick cost its thread.
 *
 * Problem: counters say how often memory was short, not how long somebody waited for it. Idea: the
 * slow path reads the clock when it begins and when it ends; the fast one is not touched. Times go
 * into one histogram per order and outcome, in powers of two of a nanosecond (on the virtual clock:
 * of an instruction, plus idle time), kept per CPU and summed when read.
 *
 *   walked      there was a page below the low watermark after all
 *   reclaimed   the thread gave memory back, or waited for it
 *   failed      it got none
 *
 * A time contains whatever ran in between: interrupts, and other threads where the thread slept or
 * was preempted; that is what it waited.
 * Locking: none: one CPU's cells change with preemption off; an interrupt between load and store of
 * an addition is excluded by the single instruction. A reset racing with an addition may lose one
 * of the two.
 */
#include "mm/phys/alloc_latency.h"

#include "arch/percpu.h"
#include "arch/smp.h"
#include "kernel/cpumask.h"
#include "kernel/preempt.h"
#include "kernel/show.h"
#include "lib/math.h"
#include "lib/string.h"
#include "mm/phys/buddy.h"

#define BUCKETS 40 /* bucket i: below 2^i ns; the last: the rest, 9 minutes and more */

struct latency {
	u32 bucket[MAX_ORDER][NR_ALLOC_OUTCOMES][BUCKETS];
	u64 ns[MAX_ORDER][NR_ALLOC_OUTCOMES];
	u64 longest[MAX_ORDER][NR_ALLOC_OUTCOMES];
};
static DEFINE_PER_CPU(struct latency, alloc_latency);

static const char *const outcome_name[NR_ALLOC_OUTCOMES] = { "walked", "reclaimed", "failed" };

void alloc_latency_note(unsigned int order, enum alloc_outcome how, u64 ns)
{
	u32 bucket = min((u32)fls64(ns), BUCKETS - 1u);

	preempt_disable();
	this_cpu_inc(alloc_latency.bucket[order][how][bucket]);
	this_cpu_add(alloc_latency.ns[order][how], ns);
	if (ns > this_cpu_ptr(&alloc_latency)->longest[order][how])
		this_cpu_ptr(&alloc_latency)->longest[order][how] = ns;
	preempt_enable();
}

void alloc_latency_reset(void)
{
	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++)
		memset(&per_cpu(alloc_latency, cpu), 0, sizeof(struct latency));
}

u64 alloc_latency_count(unsigned int order, enum alloc_outcome how, u64 *longest_ns)
{
	u64 n = 0, longest = 0;

	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++) {
		const struct latency *l = &per_cpu(alloc_latency, cpu);

		for (int i = 0; i < BUCKETS; i++)
			n += READ_ONCE(l->bucket[order][how][i]);
		longest = max(longest, READ_ONCE(l->longest[order][how]));
	}
	if (longest_ns)
		*longest_ns = longest;
	return n;
}

/* The sum over CPUs of one row; => its total. */
static u64 sum_row(unsigned int order, int how, u64 row[BUCKETS], u64 *ns)
{
	u64 n = 0;

	*ns = 0;
	memset(row, 0, BUCKETS * sizeof(*row));
	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++) {
		const struct latency *l = &per_cpu(alloc_latency, cpu);

		for (int i = 0; i < BUCKETS; i++) {
			row[i] += READ_ONCE(l->bucket[order][how][i]);
			n += READ_ONCE(l->bucket[order][how][i]);
		}
		*ns += READ_ONCE(l->ns[order][how]);
	}
	return n;
}

/* An upper bound of the p-th per mille: the end of the bucket it lies in, or the longest. */
static u64 permille(const u64 row[BUCKETS], u64 n, u64 longest, u32 p)
{
	u64 seen = 0, want = (n * p + 999) / 1000;

	for (int i = 0; i < BUCKETS - 1; i++) {
		seen += row[i];
		if (seen >= want)
			return min((1ull << i) - (i != 0), longest);
	}
	return longest;
}

static void show_row(struct seq *seq, unsigned int order, int how)
{
	u64 row[BUCKETS], ns, longest, n = sum_row(order, how, row, &ns);

	if (!n)
		return;
	alloc_latency_count(order, (enum alloc_outcome)how, &longest);
	seq_printf(seq, "%5u %-9s %9llu %12llu %12llu %12llu %12llu ", order, outcome_name[how],
		   (unsigned long long)n, (unsigned long long)(ns / n),
		   (unsigned long long)permille(row, n, longest, 500),
		   (unsigned long long)permille(row, n, longest, 990), (unsigned long long)longest);
	for (int i = 0; i < BUCKETS; i++)
		if (row[i])
			seq_printf(seq, " %d:%llu", i, (unsigned long long)row[i]);
	seq_putc(seq, '\n');
}

static int latency_show(struct seq *seq)
{
	seq_puts(seq, "# ns in the allocator's slow path; log2:count = allocations below 2^log2 "
		      "ns; writing resets\n");
	seq_puts(seq,
		 "order outcome       count         mean    p50 (<=)    p99 (<=)      longest  "
		 "histogram\n");
	for (unsigned int order = 0; order < MAX_ORDER; order++)
		for (int how = 0; how < NR_ALLOC_OUTCOMES; how++)
			show_row(seq, order, how);
	return 0;
}

static ssize_t latency_store(const char *text, size_t n, long index)
{
	alloc_latency_reset();
	return (ssize_t)n;
}
SHOW("/sys/kernel/quire/alloc_latency", 0644, latency_show, latency_store);
