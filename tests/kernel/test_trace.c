/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_trace.c - the tracer finds planted sections with site, length and work; events are recorded;
 * idle is left out.
 */
#include "tests/kernel/ktest.h"

#include "arch/init.h"
#include "arch/smp.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "kernel/spinlock.h"
#include "kernel/time.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "sched/kthread.h"
#include "trace/irqsoff.h"

DEFINE_EVENT(ktest, ktest_event, "a=%lu b=%lx", "a", "b");

static u64 planted(u64 n)
{
	struct irqoff_stat stat;

	irqoff_reset();
	irqoff_plant(n);
	return irqoff_stat_of("planted", &stat) && stat.count == 1 ? stat.max : 0;
}

static bool exact_clock(void)
{
	return arch_clock_is_virtual && nr_cpus == 1;
}

KTEST(trace, planted_lengths)
{
	static const u64 sizes[] = { 0, 1, 63, 64, 100, 10000, 65537, 1000000 };
	char old[20];
	u64 base;

	strlcpy(old, tracer_name(), sizeof(old));
	KT_EQ(tracer_select("irqsoff"), 0);
	base = planted(0);
	KT_ASSERT(base > 0);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		u64 len = planted(sizes[i]);

		if (exact_clock())
			KT_EQ(len, sizes[i] + base);
		else
			KT_ASSERT(len > 0);
	}
	if (exact_clock())
		KT_ASSERT(base < 40);
	tracer_select(old);
}

KTEST(trace, site_counts_and_work)
{
	struct irqoff_stat stat;
	unsigned long flags, sum = 0;

	tracer_select("irqsoff");
	irqoff_reset();
	for (int i = 0; i < 10; i++) {
		local_irq_save_l(flags, "kt_outer");
		irq_work(i);
		{
			unsigned long inner;

			local_irq_save_l(inner, "kt_inner"); /* nested: no section of its own */
			local_irq_restore_l(inner, "kt_inner");
		}
		local_irq_restore_l(flags, "kt_outer_end");
	}
	KT_ASSERT(irqoff_stat_of("kt_outer", &stat));
	KT_EQ(stat.count, 10);
	KT_EQ(stat.work_max, 9);
	KT_ASSERT(!strcmp(stat.end->label, "kt_outer_end"));
	KT_ASSERT(stat.total >= stat.max && stat.max > 0);
	for (int k = 0; k < 32; k++)
		sum += stat.hist[k];
	KT_EQ(sum, 10);
	KT_ASSERT(!irqoff_stat_of("kt_inner", &stat));
	KT_ASSERT(!irqoff_stat_of("kt_no_such_label", &stat));
}

KTEST(trace, off_records_nothing)
{
	struct irqoff_stat stat;
	unsigned long flags;

	tracer_select("irqsoff");
	irqoff_reset();
	tracing_set_on(false);
	local_irq_save_l(flags, "kt_off");
	local_irq_restore_l(flags, "kt_off");
	KT_ASSERT(!irqoff_stat_of("kt_off", &stat));
	/* A section that is open while the tracer comes on must not count. */
	tracing_set_on(true);
	local_irq_save_l(flags, "kt_off");
	local_irq_restore_l(flags, "kt_off");
	KT_ASSERT(irqoff_stat_of("kt_off", &stat));
	KT_EQ(stat.count, 1);
}

KTEST(trace, idle_is_left_out)
{
	struct irqoff_stat stat;

	if (!exact_clock())
		KT_SKIP("needs exact lengths");
	tracer_select("irqsoff");
	irqoff_reset();
	sleep_ns(50 * NSEC_PER_MSEC);
	if (irqoff_stat_of("idle", &stat))
		KT_ASSERT(stat.max < 20000);
	if (irqoff_stat_of("irq_entry", &stat))
		KT_ASSERT(stat.max < 20000);
}

static size_t read_file(const char *path, char *buf, size_t n)
{
	long index;
	struct show_entry *e = show_find(path, &index);
	struct seq seq = { .buf = buf, .size = n - 1, .index = index };

	if (!e || !e->show || e->show(&seq))
		return 0;
	buf[min(seq.count, n - 1)] = 0;
	return seq.count;
}

static ssize_t write_file(const char *path, const char *text)
{
	long index;
	struct show_entry *e = show_find(path, &index);

	return e && e->store ? e->store(text, strlen(text), index) : -ENOENT;
}

#define T "/sys/kernel/tracing/"
static char text[16384];

KTEST(trace, files)
{
	KT_ASSERT(write_file(T "current_tracer", "nonsense") < 0);
	KT_ASSERT(write_file(T "current_tracer", "irqsoff\n") == 8);
	KT_ASSERT(write_file(T "irqsoff_report_unit", "ns\n") > 0);
	KT_ASSERT(write_file(T "irqsoff_sample_us", "1") < 0);
	irqoff_reset();
	irqoff_plant(50000);
	KT_ASSERT(read_file(T "irqsoff_report", text, sizeof(text)));
	KT_ASSERT(strstr(text, "Total sampled time IRQs off (not real total time): "));
	if (exact_clock())
		KT_ASSERT(strstr(text, "Event planted..planted 5"));
	KT_ASSERT(write_file(T "irqsoff_report_unit", "us\n") > 0);
	KT_ASSERT(read_file(T "irqsoff_hist", text, sizeof(text)));
	KT_ASSERT(strstr(text, "planted") && strstr(text, "irqoff_plant"));
	KT_ASSERT(read_file(T "trace", text, sizeof(text)));
	KT_ASSERT(strstr(text, "# irqsoff latency trace") && strstr(text, "=> started at:"));
	if (exact_clock())
		KT_ASSERT(strstr(text, "=> started at: planted\n") && strstr(text, "irqoff_plant"));
	KT_ASSERT(write_file(T "tracing_max_latency", "0") > 0);
	KT_ASSERT(read_file(T "irqsoff_stacks", text, sizeof(text)));
	KT_ASSERT(strstr(text, " => "));
}

/* Samples of several intervals: equal maxima are counted together. */
KTEST(trace, sampling)
{
	if (!exact_clock())
		KT_SKIP("needs exact lengths");
	tracer_select("irqsoff");
	KT_ASSERT(write_file(T "irqsoff_report_unit", "ns") > 0);
	KT_ASSERT(write_file(T "irqsoff_sample_us", "10000") > 0);
	irqoff_reset();
	for (int i = 0; i < 4; i++) {
		irqoff_plant(200000);
		sleep_ns(10 * NSEC_PER_MSEC);
	}
	KT_ASSERT(read_file(T "irqsoff_report", text, sizeof(text)));
	KT_ASSERT(strstr(text, "Event planted..planted 2000") && strstr(text, "ns count 4\n"));
	write_file(T "irqsoff_sample_us", "10000000");
	write_file(T "irqsoff_report_unit", "us");
	irqoff_reset();
}

KTEST(trace, preemption_tracers)
{
	static const char *const names[] = { "preemptoff", "preemptirqsoff" };
	struct irqoff_stat stat;

	for (int i = 0; i < 2; i++) {
		unsigned long flags;
		bool found;

		KT_EQ(tracer_select(names[i]), 0);
		irqoff_reset();
		preempt_disable();
		preempt_disable();
		arch_run_nops(100000);
		preempt_enable();
		local_irq_save_l(flags, "kt_in_preempt");
		local_irq_restore_l(flags, "kt_in_preempt");
		preempt_enable();
		sleep_ns(20 * NSEC_PER_MSEC);
		found = irqoff_stat_of("preempt_off", &stat);
		tracer_select("irqsoff");
		KT_ASSERT(found);
		if (exact_clock())
			KT_ASSERT(stat.max >= 100000 && stat.max < 3000000);
		KT_ASSERT(!irqoff_stat_of("kt_in_preempt", &stat));
	}
}

KTEST(trace, events)
{
	tracer_select("nop");
	KT_ASSERT(write_file(T "trace", "") >= 0);
	trace_event(ktest_event, 1, 2);
	KT_ASSERT(read_file(T "trace", text, sizeof(text)));
	KT_ASSERT(!strstr(text, "ktest_event"));
	KT_ASSERT(event_set("ktest:ktest_event") == 1);
	KT_ASSERT(event_set("ktest:nothing") < 0);
	for (u64 i = 0; i < 3; i++)
		trace_event(ktest_event, i, 0xabc);
	KT_ASSERT(event_set("!ktest_event") == 1);
	trace_event(ktest_event, 9, 9);
	KT_ASSERT(read_file(T "trace", text, sizeof(text)));
	KT_ASSERT(strstr(text, "ktest_event: a=0 b=abc\n") &&
		  strstr(text, "ktest_event: a=2 b=abc\n"));
	KT_ASSERT(!strstr(text, "a=9"));
	KT_ASSERT(write_file(T "trace", "") >= 0);
	tracer_select("irqsoff");
}

/* The ring keeps the newest records and can be read from any position. */
KTEST(trace, log_ring)
{
	u64 seq = printk_next_seq();
	size_t n;

	printk(LOG_DEBUG, "ktest: a record of %d digits: %040d", 40, 7);
	printk(LOG_DEBUG, "two\nlines");
	n = printk_read(&seq, text, sizeof(text) - 1, 1);
	text[n] = 0;
	KT_ASSERT(strstr(
		text, "ktest: a record of 40 digits: 0000000000000000000000000000000000000007\n"));
	KT_ASSERT(strstr(text, "] two\n") && strstr(text, "] lines\n"));
	KT_ASSERT(text[0] == '<');
	KT_EQ(seq, printk_next_seq());
	KT_EQ(printk_read(&seq, text, sizeof(text), 1), 0);
}
