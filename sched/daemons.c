/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daemons.c - ksoftirqd, one per CPU: runs the softirqs that keep coming, as a thread among others,
 * so that a storm of interrupts cannot keep every thread from running.
 */
#include "kernel/printk.h"
#include "kernel/softirq.h"
#include "lib/errno.h"
#include "sched/internal.h"
#include "sched/kthread.h"

DEFINE_PER_CPU(struct thread *, ksoftirqd);

static int ksoftirqd_main(void *arg)
{
	while (!kthread_should_stop()) {
		thread_set_state(THREAD_INTERRUPTIBLE);
		if (!this_cpu_read(softirq_pending)) {
			schedule();
			continue;
		}
		WRITE_ONCE(current->state, THREAD_RUNNING);
		local_irq_disable_l("ksoftirqd");
		softirq_run();
		local_irq_enable_l("ksoftirqd");
		cond_resched();
	}
	WRITE_ONCE(current->state, THREAD_RUNNING);
	return 0;
}

static void ksoftirqd_wake(void)
{
	struct thread *t = this_cpu_read(ksoftirqd);

	if (t)
		thread_wake(t, THREAD_ASLEEP);
}

int sched_start_daemons(void)
{
	u32 cpu;

	for_each_online_cpu(cpu) {
		struct thread *t =
			kthread_create(ksoftirqd_main, NULL, cpu_node[cpu], "ksoftirqd/%u", cpu);

		if (!t) {
			pr_err("sched: no memory for ksoftirqd/%u", cpu);
			return -ENOMEM;
		}
		sched_set_affinity(t, CPU_BIT(cpu));
		per_cpu(ksoftirqd, cpu) = t;
		thread_start(t);
	}
	softirq_wake_daemon = ksoftirqd_wake;
	sched_debug_on();
	return 0;
}
