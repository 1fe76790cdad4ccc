/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kthread.h - kernel threads. Memory: kthread_create() in mm/kmem/kstack.c; this is the life cycle.
 */
#ifndef SCHED_KTHREAD_H
#define SCHED_KTHREAD_H

#include "sched/wait.h"

struct kthread {
	struct thread thread; /* first */
	int (*fn)(void *arg);
	void *arg;
	int result;
	u32 should_stop;
	struct completion exited;
};
/*
 * k zeroed, stack its lowest address; not started. => allocates the tid: a negative k->thread.tid
 * (-EAGAIN) means that none is left, and the caller frees what it brought. The caller sets
 * k->thread.release (gives k and the stack back).
 */
void kthread_setup(struct kthread *k, void *stack, size_t stack_bytes, int (*fn)(void *), void *arg,
		   const char *name);
bool kthread_should_stop(void);
/*
 * Asks it to stop, wakes it, waits for its end; returns fn's result. => only for threads that run
 * until they are asked.
 */
int kthread_stop(struct thread *t);

/*
 * mm/kmem/kstack.c: allocates thread and guarded stack. node -1 = any. => may sleep; NULL when out
 * of memory. kthread_run also starts it. Affinity may be set between create and thread_start().
 */
struct thread *kthread_create(int (*fn)(void *), void *arg, int node, const char *namefmt, ...)
	__printf_like(4, 5);
struct thread *kthread_run(int (*fn)(void *), void *arg, int node, const char *namefmt, ...)
	__printf_like(4, 5);

#endif
