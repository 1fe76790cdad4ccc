/* SPDX-License-Identifier: BSD-2-Clause */
/* counter.c - the sums behind COUNTER(), and the file that lists them. */
#include "kernel/counter.h"
#include "arch/smp.h"
#include "kernel/show.h"

extern struct counter __counters_start[], __counters_end[];

u64 counter_sum(const u64 *percpu_value)
{
	u64 sum = 0;

	for (u32 cpu = 0; cpu < nr_cpus; cpu++)
		sum += READ_ONCE(per_cpu(*percpu_value, cpu));
	return sum;
}

static int counters_show(struct seq *seq)
{
	for (struct counter *c = __counters_start; c < __counters_end; c++)
		seq_printf(seq, "%s %lu\n", c->name, (unsigned long)counter_sum(c->value));
	return 0;
}
SHOW("/sys/kernel/quire/counters", 0444, counters_show, NULL);

static int counters_about_show(struct seq *seq)
{
	for (struct counter *c = __counters_start; c < __counters_end; c++)
		seq_printf(seq, "%-32s %s\n", c->name, c->about);
	return 0;
}
SHOW("/sys/kernel/quire/counters_about", 0444, counters_about_show, NULL);
