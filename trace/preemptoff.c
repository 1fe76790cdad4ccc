/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * preemptoff.c - the preemption tracers.
 *
 * preempt_disable() and preempt_enable() look at one flag; while a preemption tracer is selected
 * they call these hooks. A section starts when the count of the running thread leaves zero and ends
 * when it comes back to zero; hard interrupts do not count by themselves. With preemptirqsoff a
 * section is any stretch with preemption or interrupts off: it starts at the first of the two and
 * ends when both are on again.
 *
 * All preempt-off sections are accounted to the one site "preempt_off"; the maximum tells the
 * callers' addresses. The idle loop runs with preemption off for ever: its waiting is cut out by
 * preemptoff_idle().
 */
#include "arch/cpu.h"
#include "kernel/preempt.h"
#include "trace/internal.h"

bool preemptoff_enabled;
struct irq_site site_preempt __attribute__((section(".irq_sites"), used, aligned(8))) = {
	.label = "preempt_off",
	.func = "preempt_disable",
	.file = "kernel/preempt.h",
	.line = 0,
};
static struct irq_site site_preempt_idle
	__attribute__((section(".irq_sites"), used, aligned(8))) = {
		.label = "idle",
		.func = "tick_stop_idle",
		.file = "kernel/time.c",
		.line = 0,
	};

#define THREAD_COUNT (PREEMPT_MASK | SOFTIRQ_MASK)

static void start(unsigned long ip)
{
	struct open_section *o = this_cpu_ptr(&open_section);

	o->ip = ip;
	o->work = 0;
	o->start = rdtsc();
	barrier();
	o->site = &site_preempt;
}

/* => the count has just been raised. */
void preemptoff_start(void)
{
	if ((preempt_count() & THREAD_COUNT) != 1 || in_hardirq())
		return;
	if (this_cpu_ptr(&open_section)->site)
		return; /* interrupts were off already: their section goes on */
	start((unsigned long)__builtin_return_address(0));
}

/*
 * => the count is about to be lowered. Interrupts may be on: an interrupt between here and the end
 *    finds no open section of its own kind (preemptoff), or one that it must not touch because the
 *    count is not zero (preemptirqsoff).
 */
void preemptoff_stop(void)
{
	struct open_section *o = this_cpu_ptr(&open_section);
	u64 now = rdtsc();

	if ((preempt_count() & THREAD_COUNT) != 1 || in_hardirq())
		return;
	if (tracer_current == TRACER_PREEMPTIRQSOFF && irqs_disabled())
		return; /* goes on until they are on */
	section_close(o, &site_preempt, now, (unsigned long)__builtin_return_address(0));
}

void preemptoff_idle(bool enter)
{
	struct open_section *o = this_cpu_ptr(&open_section);

	if (enter)
		section_close(o, &site_preempt_idle, rdtsc(),
			      (unsigned long)__builtin_return_address(0));
	else if (!o->site)
		start((unsigned long)__builtin_return_address(0));
}
