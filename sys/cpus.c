/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpus.c - what a starting processor needs of the higher floors: an idle thread with a stack on its
 * node, then the scheduler, its clock tick, and the idle loop.
 */
#include "arch/smp.h"
#include "kernel/time.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/page_alloc.h"
#include "sched/sched.h"
#include "sys/init.h"

static struct thread *idle_threads[NR_CPUS];
static char *idle_stacks[NR_CPUS];

/* Called again for the same number when a processor did not answer: what is there is used again. */
static void *cpu_stack_top(u32 cpu)
{
	int node = cpu_node[cpu];

	if (!idle_threads[cpu])
		idle_threads[cpu] =
			kmalloc_node(sizeof(struct thread), GFP_KERNEL | __GFP_ZERO, node);
	if (!idle_stacks[cpu])
		idle_stacks[cpu] = kstack_alloc(node);
	return idle_threads[cpu] && idle_stacks[cpu] ? idle_stacks[cpu] + KSTACK_BYTES : NULL;
}

static void cpu_main(u32 cpu)
{
	struct thread *idle = idle_threads[cpu];

	sched_init_cpu(cpu, idle);
	idle->stack = idle_stacks[cpu];
	idle->arch.stack_top = (unsigned long)idle_stacks[cpu] + KSTACK_BYTES;
	time_init_cpu();
	sched_idle_loop();
}

void cpus_init(void)
{
	static const struct smp_ops ops = { .ap_stack_top = cpu_stack_top, .ap_main = cpu_main };

	smp_ops = &ops;
}
