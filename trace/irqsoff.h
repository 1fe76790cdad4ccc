/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * irqsoff.h - the latency tracers: how long interrupts (or preemption) stayed off, where, and who
 * did it.
 *
 * The hooks themselves are declared by those who call them: arch/irqflags.h and kernel/preempt.h.
 */
#ifndef TRACE_IRQSOFF_H
#define TRACE_IRQSOFF_H

#include "arch/irqflags.h"
#include "kernel/event.h"

/*
 * Numbers the sites, gets the statistics from trace_alloc, starts the tracer named by tracer=
 * (irqsoff). => boot.
 */
void trace_init(void);

/*
 * Statistics of one site, summed over CPUs; lengths in clock ticks (instructions on the virtual
 * clock).
 */
struct irqoff_stat {
	u64 count, total, max, work_max;
	u64 hist[32]; /* [k]: sections of 2^k .. 2^(k+1)-1 ticks; the last holds all longer ones */
	const struct irq_site *end; /* where the longest one ended */
	s32 tid;
	char comm[16];
};
/* All sites with this label together. => false: no such site, or it never closed a section. */
bool irqoff_stat_of(const char *label, struct irqoff_stat *out);
/* Forgets all statistics, the maximum and the report. => may sleep. */
void irqoff_reset(void);
/*
 * Exactly nr_instructions + c instructions with interrupts off, c the same for every number; site
 * label "planted".
 */
void irqoff_plant(u64 nr_instructions);
/*
 * Selects a tracer by name: irqsoff, preemptoff, preemptirqsoff, nop. => 0 or -EINVAL; may sleep.
 */
int tracer_select(const char *name);
/* => the name of the selected tracer. */
const char *tracer_name(void);
void tracing_set_on(bool on);

#endif
