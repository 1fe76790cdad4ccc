/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * smp.h - processors: how many, where they are, how to reach them. Logical CPU 0 is the boot CPU.
 */
#ifndef ARCH_SMP_H
#define ARCH_SMP_H

#include "arch/percpu.h"
#include "lib/types.h"

#ifdef QUIRE_HOST
#define nr_cpus 1u
#define nr_possible_cpus 1u
#else
extern u32 nr_cpus;	     /* CPUs that answered and run; logical numbers 0..nr_cpus-1 */
extern u32 nr_possible_cpus; /* CPUs the firmware listed (capped by NR_CPUS and maxcpus=) */
#endif
extern u32 cpu_apic_id[NR_CPUS];
extern int cpu_node[NR_CPUS]; /* NUMA node of each logical CPU */
extern u64 cpu_online_mask;

/* Ask a CPU to look at its need_resched flag. => any context. */
void smp_send_reschedule(u32 cpu);
/* sched/core.c implements it: that interrupt arrived. => hard interrupt context, IRQs off. */
void sched_ipi(void);
/*
 * Run fn(arg) on every CPU of mask (bit per CPU; this CPU included when set) in interrupt context
 * and wait for all.
 * => interrupts on; preemption off or on; may not be called from interrupt context.
 */
void smp_call_mask(u64 mask, void (*fn)(void *), void *arg);
/*
 * Panic path: stop all the others by NMI after they have saved their registers. => never waits for
 * long.
 */
void smp_stop_others(void);
/* What the higher floors do for a starting CPU. Set once, before smp_start_others(). */
struct smp_ops {
	/*
	 * Boot CPU: top of the stack (its idle thread's) the CPU will start on; NULL: leave this
	 * CPU out.
	 */
	void *(*ap_stack_top)(u32 cpu);
	/*
	 * On the new CPU, IRQs off, GS/GDT/APIC ready, marked online: join the scheduler; never
	 * returns.
	 */
	void (*ap_main)(u32 cpu);
};
extern const struct smp_ops *smp_ops;
/*
 * Starts the application processors. => after scheduler and time are up on the boot CPU; boot CPU
 * only.
 */
void smp_start_others(void);

#endif
