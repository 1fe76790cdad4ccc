/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * softirq.c - the deferred half of interrupts.
 *
 * A handler raises a bit of this CPU; at the outermost interrupt exit the raised handlers run with
 * interrupts on, one softirq at a time per CPU (the softirq part of the preemption count is set).
 * Raised again while running, they get MAX_ROUNDS rounds; what is left then goes to ksoftirqd, an
 * ordinary thread, so a flood cannot starve threads.
 */
#include "kernel/softirq.h"
#include "arch/irqflags.h"
#include "arch/smp.h"
#include "kernel/bug.h"
#include "kernel/preempt.h"
#include "kernel/show.h"

#define MAX_ROUNDS 8

DEFINE_PER_CPU(u32, __preempt_count) = NO_RESCHED;
DEFINE_PER_CPU(u32, softirq_pending);
DEFINE_PER_CPU(u64[NR_SOFTIRQS], softirq_count);
void (*softirq_wake_daemon)(void);

static void (*handlers[NR_SOFTIRQS])(void);
static const char *const names[NR_SOFTIRQS] = { "TIMER", "SCHED", "IRQ_POLL",
						"BLOCK", "RCU",	  "TASKLET" };

void softirq_open(enum softirq nr, void (*handler)(void))
{
	WRITE_ONCE(handlers[nr], handler);
}

void softirq_raise(enum softirq nr)
{
	this_cpu_or(softirq_pending, BIT(nr));
}

static void run_round(u32 pending)
{
	while (pending) {
		u32 nr = __builtin_ctz(pending);
		void (*fn)(void) = READ_ONCE(handlers[nr]);

		pending &= pending - 1;
		this_cpu_inc(softirq_count[nr]);
		if (fn)
			fn();
	}
}

void softirq_run(void)
{
	u32 pending;

	if (in_interrupt())
		return;
	preempt_disable(); /* the tracer's hook; then the one is exchanged for a softirq level */
	this_cpu_add(__preempt_count, SOFTIRQ_OFFSET - 1);
	for (int i = 0; i < MAX_ROUNDS && (pending = this_cpu_read(softirq_pending)); i++) {
		this_cpu_write(softirq_pending, 0);
		local_irq_enable_l("softirq");
		run_round(pending);
		local_irq_disable_l("softirq");
	}
	/* Still a softirq: the thread below may hold any spinlock that leaves interrupts on. */
	if (this_cpu_read(softirq_pending) && softirq_wake_daemon)
		softirq_wake_daemon();
	this_cpu_sub(__preempt_count, SOFTIRQ_OFFSET - 1);
	preempt_enable_no_resched();
}

void softirq_disable(void)
{
	preempt_disable(); /* so that the tracer sees it */
	this_cpu_add(__preempt_count, SOFTIRQ_OFFSET - 1);
	barrier();
}

/*
 * The last enable runs what was raised meanwhile; an interrupt between the look and the end runs it
 * by itself.
 */
void softirq_enable(void)
{
	unsigned long flags;

	barrier();
	if ((this_cpu_read(__preempt_count) & SOFTIRQ_MASK) != SOFTIRQ_OFFSET || in_hardirq()) {
		this_cpu_sub(__preempt_count, SOFTIRQ_OFFSET);
		return;
	}
	ASSERT(!irqs_disabled());
	this_cpu_sub(__preempt_count, SOFTIRQ_OFFSET - 1);
	if (unlikely(this_cpu_read(softirq_pending))) {
		local_irq_save_l(flags, "softirq");
		softirq_run();
		local_irq_restore_l(flags, "softirq");
	}
	preempt_enable();
}

static int softirqs_show(struct seq *seq)
{
	seq_puts(seq, "                    ");
	for (u32 cpu = 0; cpu < nr_cpus; cpu++)
		seq_printf(seq, "CPU%-8u", cpu);
	for (u32 nr = 0; nr < NR_SOFTIRQS; nr++) {
		seq_printf(seq, "\n%12s:", names[nr]);
		for (u32 cpu = 0; cpu < nr_cpus; cpu++)
			seq_printf(seq, " %10lu", (unsigned long)per_cpu(softirq_count, cpu)[nr]);
	}
	seq_putc(seq, '\n');
	return 0;
}
SHOW("/proc/softirqs", 0444, softirqs_show, NULL);
