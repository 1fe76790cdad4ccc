/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kthread.c - life of a kernel thread: set up, run, asked to stop, gone. Memory is brought and
 * taken by mm/kmem/kstack.c.
 */
#include "sched/internal.h"
#include "sched/kthread.h"

static void kthread_entry(void *arg)
{
	struct kthread *k = arg;

	k->result = k->fn(k->arg);
	tid_free(k->thread.tid);
	complete_all(&k->exited);
	thread_exit();
}

void kthread_setup(struct kthread *k, void *stack, size_t stack_bytes, int (*fn)(void *), void *arg,
		   const char *name)
{
	struct thread *t = &k->thread;

	thread_init(t, NULL, name, stack);
	t->tid = tid_alloc();
	t->tgid = t->tid;
	t->kthread = k;
	k->fn = fn;
	k->arg = arg;
	completion_init(&k->exited);
	arch_thread_init_kernel(&t->arch, (char *)stack + stack_bytes, kthread_entry, k);
}

bool kthread_should_stop(void)
{
	struct kthread *k = current->kthread;

	return k && READ_ONCE(k->should_stop);
}

int kthread_stop(struct thread *t)
{
	struct kthread *k = t->kthread;
	int result;

	thread_get(t);
	WRITE_ONCE(k->should_stop, 1);
	wake_up_thread(t);
	wait_for_completion(&k->exited);
	result = k->result;
	thread_put(t);
	return result;
}
