// SPDX-License-Identifier: BSD-2-Clause
/*
 * klogd.c - drains the kernel log to the console from a thread.
 *
 * Problem: a console at 115200 baud must never hold up whoever prints, least of all with interrupts
 * off. Idea: printk only stores a record and raises a flag; this thread writes records out one by
 * one with interrupts on. printk may be called with any lock held (even a run queue's), so it
 * cannot wake the thread itself: it sets a per-CPU softirq pending, which does. Until this thread
 * runs, and in panic, printk writes synchronously.
 */
#include "kernel/printk.h"
#include "kernel/softirq.h"
#include "sched/kthread.h"
#include "sys/klogd.h"

static struct thread *klogd;
static u32 work;

static void klogd_softirq(void)
{
	if (READ_ONCE(work))
		wake_up_thread(klogd);
}

static void klogd_wake(void)
{
	WRITE_ONCE(work, 1);
	softirq_raise(SOFTIRQ_TASKLET);
}

static int klogd_main(void *unused)
{
	for (;;) {
		thread_set_state(THREAD_UNINTERRUPTIBLE);
		if (!xchg(&work, 0u)) {
			schedule();
			continue;
		}
		thread_set_state(THREAD_RUNNING);
		while (printk_drain())
			cond_resched();
	}
	return 0;
}

void klogd_start(void)
{
	klogd = kthread_create(klogd_main, NULL, -1, "klogd");
	if (!klogd) {
		pr_warn("klogd: no memory for the log thread; the console stays synchronous");
		return;
	}
	work = 1;
	thread_start(klogd);
	softirq_open(SOFTIRQ_TASKLET, klogd_softirq);
	printk_set_async(klogd_wake);
}
