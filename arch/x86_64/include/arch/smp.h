/* SPDX-License-Identifier: BSD-2-Clause */
/* smp.h - processors: how many, where they are, how to reach them. Logical CPU 0 is the boot CPU. */
#ifndef ARCH_SMP_H
#define ARCH_SMP_H

#include "arch/percpu.h"
#include "lib/types.h"

#ifdef QUIRE_HOST
#define nr_cpus 1u
#define nr_possible_cpus 1u
#else
extern u32 nr_cpus;          /* CPUs that answered and run; logical numbers 0..nr_cpus-1 */
extern u32 nr_possible_cpus; /* CPUs the firmware listed (capped by NR_CPUS and maxcpus=) */
#endif
extern u32 cpu_apic_id[NR_CPUS];
extern int cpu_node[NR_CPUS]; /* NUMA node of each logical CPU */
extern u64 cpu_online_mask;

/* Ask a CPU to look at its need_resched flag. => any context. */
void smp_send_reschedule(u32 cpu);
/*
 * Run fn(arg) on every CPU of mask (bit per CPU; this CPU included when set) in interrupt context and wait for all.
 * => interrupts on; preemption off or on; may not be called from interrupt context.
 */
void smp_call_mask(u64 mask, void (*fn)(void *), void *arg);
/* Panic path: stop all the others by NMI after they have saved their registers. => never waits for long. */
void smp_stop_others(void);
/* Starts the application processors. => after scheduler and time are up on the boot CPU; boot CPU only. */
void smp_start_others(void);

#endif
