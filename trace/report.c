/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report.c - irqsoff_report: the sampled report of the 2011 document.
 *
 * Rule: every interval (10 s unless set) the longest section since the last sample is taken as the
 * sample, and the maximum starts again from zero. The report counts samples by {start..end,
 * duration}: so a line is the worst of one interval, a count above 1 means equal maxima in several
 * intervals, and the total is the sum of duration x count, not the time interrupts were off. The
 * interval that runs while the file is read counts as if it ended now.
 *
 * Samples are kept to the nanosecond; irqsoff_report_unit (us or ns) says how they are printed, and
 * samples that are equal in that unit become one line. The table keeps the first 1024 different
 * samples.
 * Source: [seed-002].
 */
#include "arch/smp.h"
#include "arch/timer.h"
#include "kernel/ksyms.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "kernel/softirq.h"
#include "kernel/time.h"
#include "lib/errno.h"
#include "lib/parse.h"
#include "lib/sort.h"
#include "lib/string.h"
#include "trace/internal.h"

#define MAX_SAMPLES 1024

struct sample {
	const char *start, *end;
	u64 ns;
	u32 count;
};

static struct sample samples[MAX_SAMPLES]; /* (samples_lock) */
static u32 nr_keys;			   /* (samples_lock) */
static u64 nr_samples, nr_lost;		   /* (samples_lock) */
static DEFINE_SPINLOCK(samples_lock, RANK_TRACE);
static struct timer sampler;
static bool sampler_ready;
static u64 interval_us = 10000000;
static bool unit_ns;

static const char *name_of(const struct irq_site *site, unsigned long ip)
{
	const char *name = ip ? ksym_lookup(ip, NULL) : NULL;

	return name ? name : site->label;
}

static struct section take_interval(bool reset)
{
	unsigned long flags;
	struct section s;

	local_irq_save_l(flags, "sampler");
	record_lock();
	s = interval_section;
	if (reset) {
		interval_section = (struct section){ 0 };
		slow_limit_update();
	}
	record_unlock();
	local_irq_restore_l(flags, "sampler");
	return s;
}

static void add_sample_locked(const struct section *s)
{
	const char *start = name_of(s->start, s->start_ip), *end = name_of(s->end, s->end_ip);
	u64 ns = ticks_to_ns(s->len);

	nr_samples++;
	for (u32 i = 0; i < nr_keys; i++) {
		struct sample *k = &samples[i];

		if (k->ns == ns && !strcmp(k->start, start) && !strcmp(k->end, end)) {
			k->count++;
			return;
		}
	}
	if (nr_keys < MAX_SAMPLES)
		samples[nr_keys++] = (struct sample){ start, end, ns, 1 };
	else
		nr_lost++;
}

static void take_sample(struct timer *t)
{
	struct section s = take_interval(true);

	if (s.start) {
		spin_lock(&samples_lock);
		add_sample_locked(&s);
		spin_unlock(&samples_lock);
	}
	timer_start(t, t->expires + READ_ONCE(interval_us) * NSEC_PER_USEC);
}

void sampler_update(void)
{
	bool want = tracing_is_on && tracer_current != TRACER_NOP;

	if (!sampler_ready) {
		timer_init(&sampler, take_sample);
		sampler_ready = true;
	}
	if (!want) {
		timer_cancel_sync(&sampler);
	} else if (!timer_pending(&sampler)) {
		take_interval(true);
		timer_start(&sampler, ktime_get() + READ_ONCE(interval_us) * NSEC_PER_USEC);
	}
}

void report_reset(void)
{
	take_interval(true);
	softirq_disable();
	spin_lock(&samples_lock);
	nr_keys = 0;
	nr_samples = nr_lost = 0;
	spin_unlock(&samples_lock);
	softirq_enable();
	if (timer_pending(&sampler))
		timer_start(&sampler, ktime_get() + READ_ONCE(interval_us) * NSEC_PER_USEC);
}

/* Longest first, then by name, so that equal contents print equally. */
static int by_length(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	int c;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	c = strcmp(x->start, y->start);
	return c ? c : strcmp(x->end, y->end);
}

/* => samples_lock held, softirqs off; the order of the table does not matter to anybody else. */
static void print_samples(struct seq *seq)
{
	u64 unit = unit_ns ? 1 : 1000, total = 0;
	const char *name = unit_ns ? "ns" : "us";

	for (u32 i = 0; i < nr_keys; i++)
		total += samples[i].ns / unit * samples[i].count;
	seq_printf(seq, "Total sampled time IRQs off (not real total time): %lu\n",
		   (unsigned long)total);
	for (u32 i = 0, j; i < nr_keys; i = j) {
		u32 count = 0;

		for (j = i; j < nr_keys && samples[j].ns / unit == samples[i].ns / unit &&
			    !strcmp(samples[j].start, samples[i].start) &&
			    !strcmp(samples[j].end, samples[i].end);
		     j++)
			count += samples[j].count;
		seq_printf(seq, "Event %s..%s %lu %s count %u\n", samples[i].start, samples[i].end,
			   (unsigned long)(samples[i].ns / unit), name, count);
	}
}

/* Sorts by length in the report's unit, so that what prints equal is neighbours. */
static int by_unit(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	u64 unit = unit_ns ? 1 : 1000;
	int c;

	if (x->ns / unit != y->ns / unit)
		return x->ns / unit < y->ns / unit ? 1 : -1;
	c = strcmp(x->start, y->start);
	if (!c)
		c = strcmp(x->end, y->end);
	return c ? c : by_length(a, b);
}

static int report_show(struct seq *seq)
{
	struct section now = take_interval(false);
	u32 keys;
	u64 nr, lost;
	int extra = -1;

	clock_describe(seq);
	softirq_disable();
	spin_lock(&samples_lock);
	keys = nr_keys;
	nr = nr_samples;
	lost = nr_lost;
	if (now.start && nr_keys < MAX_SAMPLES) {
		const char *start = name_of(now.start, now.start_ip),
			   *end = name_of(now.end, now.end_ip);
		u64 ns = ticks_to_ns(now.len);

		samples[nr_keys++] = (struct sample){ start, end, ns, 1 };
		extra = 1;
	}
	sort(samples, nr_keys, sizeof(samples[0]), by_unit);
	seq_printf(seq,
		   "# tracer %s, samples %lu (interval %lu us), the running interval included\n",
		   tracer_name(), (unsigned long)(nr + (extra > 0)), (unsigned long)interval_us);
	if (lost)
		seq_printf(seq, "# %lu samples lost: the table is full\n", (unsigned long)lost);
	print_samples(seq);
	if (extra > 0) { /* take the running interval's entry out again */
		u64 ns = ticks_to_ns(now.len);
		const char *start = name_of(now.start, now.start_ip),
			   *end = name_of(now.end, now.end_ip);

		for (u32 i = 0; i < nr_keys; i++) {
			if (samples[i].ns != ns || samples[i].count != 1 ||
			    strcmp(samples[i].start, start) || strcmp(samples[i].end, end))
				continue;
			samples[i] = samples[nr_keys - 1];
			break;
		}
		nr_keys = keys;
	}
	spin_unlock(&samples_lock);
	softirq_enable();
	return 0;
}
SHOW("/sys/kernel/tracing/irqsoff_report", 0444, report_show, NULL);

static int interval_show(struct seq *seq)
{
	seq_printf(seq, "%lu\n", (unsigned long)interval_us);
	return 0;
}

static ssize_t interval_store(const char *text, size_t n, long index)
{
	u64 us;
	int err = parse_u64(text, &us);

	if (err)
		return err;
	if (us < 1000 || us > 3600000000ull)
		return -EINVAL;
	WRITE_ONCE(interval_us, us);
	if (timer_pending(&sampler))
		timer_start(&sampler, ktime_get() + us * NSEC_PER_USEC);
	return n;
}
SHOW("/sys/kernel/tracing/irqsoff_sample_us", 0644, interval_show, interval_store);

static int unit_show(struct seq *seq)
{
	seq_puts(seq, unit_ns ? "ns\n" : "us\n");
	return 0;
}

static ssize_t unit_store(const char *text, size_t n, long index)
{
	if (!strncmp(text, "ns", 2))
		unit_ns = true;
	else if (!strncmp(text, "us", 2))
		unit_ns = false;
	else
		return -EINVAL;
	return n;
}
SHOW("/sys/kernel/tracing/irqsoff_report_unit", 0644, unit_show, unit_store);
