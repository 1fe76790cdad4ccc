/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracer.c - which tracer runs, and Linux's face of it: the control files under
 * /sys/kernel/tracing.
 *
 * The hooks look at two flags only, irqoff_enabled and preemptoff_enabled; everything else decides
 * what they shall be. While a flag changes, a CPU may be inside a hook or inside a section whose
 * start was seen and whose end will not be.
 * So a change goes: flags off; wait until every CPU has taken an interrupt (interrupts were on
 * there, so it is in no section); forget open sections; flags on.
 */
#include "arch/cpu.h"
#include "arch/init.h"
#include "arch/smp.h"
#include "arch/timer.h"
#include "kernel/param.h"
#include "kernel/preempt.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "kernel/time.h"
#include "lib/errno.h"
#include "lib/math.h"
#include "lib/parse.h"
#include "lib/string.h"
#include "trace/wakeup_record.h"

static const char *const names[NR_TRACERS] = { "nop",	 "irqsoff",  "preemptoff", "preemptirqsoff",
					       "wakeup", "wakeup_rt" };
enum tracer tracer_current;
bool tracing_is_on = true;
static bool have_stats;
static char boot_tracer[20] = "irqsoff";
BOOT_PARAM_STRING("tracer", boot_tracer,
		  "latency tracer at boot: irqsoff (default), preemptoff, preemptirqsoff, wakeup, "
		  "wakeup_rt, nop");
static bool boot_tracing = true;
BOOT_PARAM_BOOL("tracing_on", boot_tracing, "whether the tracer records from boot on");

u64 ticks_to_ns(u64 ticks)
{
	return arch_clock_is_virtual ? ticks : mul_u64_u64_shr(ticks, tsc_mult, tsc_shift);
}

u64 ns_to_ticks(u64 ns)
{
	return arch_clock_is_virtual ? ns : mul_div_u64(ns, tsc_khz, 1000000);
}

/* One line that says what the lengths are; tested at boot, not declared. */
void clock_describe(struct seq *seq)
{
	seq_printf(seq, "# clock: %s\n",
		   arch_clock_is_virtual ? "virtual: 1 instruction = 1 ns (tested); work is "
					   "counted, cache misses are not"
					 : "wall: the host's time, as the TSC tells it");
	if (arch_clock_is_virtual && nr_cpus > 1)
		seq_printf(seq,
			   "# %u CPUs share that clock: lengths contain the other CPUs' turns; "
			   "work is exact\n",
			   nr_cpus);
}

static void nothing(void *arg) {}

static void forget_open(void)
{
	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++)
		WRITE_ONCE(per_cpu(open_section, cpu).site, NULL);
}

void tracer_pause(void)
{
	WRITE_ONCE(irqoff_enabled, false);
	WRITE_ONCE(preemptoff_enabled, false);
	WRITE_ONCE(wakeup_tracing, false);
	sched_trace_changed();
	if (nr_cpus > 1)
		smp_call_mask(READ_ONCE(cpu_online_mask), nothing, NULL);
	forget_open();
	wakeup_forget_open();
}

static void update_limits(void)
{
	unsigned long flags;

	sched_trace_changed();
	local_irq_save_l(flags, "tracer");
	record_lock();
	slow_limit_update();
	record_unlock();
	local_irq_restore_l(flags, "tracer");
}

static bool is_wakeup(enum tracer tracer)
{
	return tracer == TRACER_WAKEUP || tracer == TRACER_WAKEUP_RT;
}

/* The wake-up tracers want the interrupts-off sections too: they are what threads wait for. */
void tracer_resume(void)
{
	bool on = tracing_is_on && have_stats && tracer_current != TRACER_NOP;

	WRITE_ONCE(preemptoff_enabled, on && (tracer_current == TRACER_PREEMPTOFF ||
					      tracer_current == TRACER_PREEMPTIRQSOFF));
	if (tracing_is_on && (wakeup_wanted || is_wakeup(tracer_current)))
		wakeup_start();
	update_limits();
	WRITE_ONCE(irqoff_enabled, on && tracer_current != TRACER_PREEMPTOFF);
	sampler_update();
}

static enum tracer find(const char *name)
{
	char word[20];
	int i = 0;

	strlcpy(word, name, sizeof(word));
	while (i < NR_TRACERS && strcmp(names[i], strstrip(word)))
		i++;
	return i;
}

int tracer_select(const char *name)
{
	enum tracer tracer = find(name);

	if (tracer == NR_TRACERS)
		return -EINVAL;
	if (tracer != TRACER_NOP && !have_stats)
		return -ENOMEM;
	if (tracer == tracer_current)
		return 0;
	tracer_pause();
	tracer_current = tracer;
	/* the old tracer's maximum says nothing about the new one's sections */
	max_section = (struct section){ 0 };
	if (is_wakeup(tracer))
		wakeup_reset();
	tracer_resume();
	return 0;
}

const char *tracer_name(void)
{
	return names[tracer_current];
}

void tracing_set_on(bool on)
{
	if (on == tracing_is_on)
		return;
	tracer_pause();
	tracing_is_on = on;
	WRITE_ONCE(event_recording, on);
	tracer_resume();
}

/* All or nothing: a CPU without statistics could not run the hooks. */
static bool allocate_stats(void)
{
	size_t bytes = nr_irq_sites * sizeof(struct site_stat);

	if (!trace_alloc) {
		pr_warn("tracer: nobody gives memory for statistics, the latency tracers stay off");
		return false;
	}
	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++) {
		struct open_section *o = &per_cpu(open_section, cpu);

		o->stats = trace_alloc(bytes, cpu);
		if (!o->stats) {
			pr_warn("tracer: no %zu bytes for the statistics of CPU %u, the latency "
				"tracers stay off",
				bytes, cpu);
			return false;
		}
	}
	return true;
}

void trace_init(void)
{
	enum tracer tracer = find(boot_tracer);

	nr_irq_sites = __irq_sites_end - __irq_sites_start;
	for (u32 i = 0; i < nr_irq_sites; i++)
		__irq_sites_start[i].id = i;
	have_stats = allocate_stats();
	if (tracer == NR_TRACERS) {
		pr_warn("tracer: tracer=%s is not irqsoff, preemptoff, preemptirqsoff, wakeup, "
			"wakeup_rt or nop, ignored",
			boot_tracer);
		tracer = TRACER_IRQSOFF;
	}
	tracer_current = have_stats ? tracer : TRACER_NOP;
	tracing_is_on = boot_tracing;
	event_init();
	forget_open();
	tracer_resume();
	pr_info("tracer: %s over %u interrupts-off sites, %zu KiB per CPU", tracer_name(),
		nr_irq_sites, nr_irq_sites * sizeof(struct site_stat) / 1024);
}

/* ---- files ---- */

static int current_show(struct seq *seq)
{
	seq_printf(seq, "%s\n", tracer_name());
	return 0;
}

static ssize_t current_store(const char *text, size_t n, long index)
{
	int err = tracer_select(text);

	return err ? err : (ssize_t)n;
}
SHOW("/sys/kernel/tracing/current_tracer", 0644, current_show, current_store);

static int available_show(struct seq *seq)
{
	seq_puts(seq, "wakeup_rt wakeup preemptirqsoff preemptoff irqsoff nop\n");
	return 0;
}
SHOW("/sys/kernel/tracing/available_tracers", 0444, available_show, NULL);

static int on_show(struct seq *seq)
{
	seq_printf(seq, "%d\n", tracing_is_on);
	return 0;
}

static ssize_t on_store(const char *text, size_t n, long index)
{
	bool on;
	int err = parse_bool(text, &on);

	if (err)
		return err;
	tracing_set_on(on);
	return n;
}
SHOW("/sys/kernel/tracing/tracing_on", 0644, on_show, on_store);

static u64 max_ns(void)
{
	unsigned long flags;
	u64 len;

	if (is_wakeup(tracer_current))
		return READ_ONCE(wake_worst[wakeup_traced_class()].len_ns);
	local_irq_save_l(flags, "tracer");
	record_lock();
	len = max_section.len;
	record_unlock();
	local_irq_restore_l(flags, "tracer");
	return ticks_to_ns(len);
}

static int max_show(struct seq *seq)
{
	seq_printf(seq, "%lu\n", (unsigned long)(max_ns() / 1000));
	return 0;
}

static ssize_t max_store(const char *text, size_t n, long index)
{
	unsigned long flags;
	u64 us;
	int err = parse_u64(text, &us);

	if (err)
		return err;
	if (us > U64_MAX / 1000000)
		return -ERANGE;
	local_irq_save_l(flags, "tracer");
	record_lock();
	if (is_wakeup(tracer_current)) {
		for (u32 class = 0; class < NR_WAKE_CLASSES; class ++) {
			wake_worst[class].len_ns = 0;
			wake_threshold_ns[class] = us * 1000;
		}
		goto out;
	}
	max_section = (struct section){ .len = ns_to_ticks(us * 1000) };
	slow_limit_update();
out:
	record_unlock();
	local_irq_restore_l(flags, "tracer");
	return n;
}
SHOW("/sys/kernel/tracing/tracing_max_latency", 0644, max_show, max_store);

static int thresh_show(struct seq *seq)
{
	seq_printf(seq, "%lu\n", (unsigned long)(ticks_to_ns(READ_ONCE(latency_threshold)) / 1000));
	return 0;
}

static ssize_t thresh_store(const char *text, size_t n, long index)
{
	unsigned long flags;
	u64 us;
	int err = parse_u64(text, &us);

	if (err)
		return err;
	if (us > U64_MAX / 1000000)
		return -ERANGE;
	local_irq_save_l(flags, "tracer");
	record_lock();
	latency_threshold = ns_to_ticks(us * 1000);
	slow_limit_update();
	record_unlock();
	local_irq_restore_l(flags, "tracer");
	return n;
}
SHOW("/sys/kernel/tracing/tracing_thresh", 0644, thresh_show, thresh_store);

static int clock_show(struct seq *seq)
{
	clock_describe(seq);
	return 0;
}
SHOW("/sys/kernel/tracing/quire_clock", 0444, clock_show, NULL);

static int trace_clock_show(struct seq *seq)
{
	seq_puts(seq, "[local]\n");
	return 0;
}
SHOW("/sys/kernel/tracing/trace_clock", 0444, trace_clock_show, NULL);
