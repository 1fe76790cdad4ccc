/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstack.c - kernel stacks with guard pages, and the memory of kernel threads.
 *
 * Problem: a stack overflow must fault, not write into a neighbour; but mapping five pages for
 * every fork would cost more than the rest of it. Idea: a stack is an area of four mapped pages;
 * the guard behind the previous area lies below it, its own guard above. Stacks of threads that
 * ended are kept mapped: a few per CPU, more in a pool (linked through the first word of each), and
 * given back by a shrinker.
 * Locking: per-CPU part preemption off; pool_lock with IRQs off, since the last reference to a
 * thread may go anywhere.
 */
#include "arch/smp.h"
#include "kernel/spinlock.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/kmem/vmalloc_internal.h"
#include "mm/phys/page_alloc.h"
#include "sched/kthread.h"

#define STACK_PAGES (KSTACK_BYTES / PAGE_SIZE)
#define CPU_STACKS 4
#define POOL_MAX 32 /* above, allocations give some back */

struct stack_cache {
	u32 nr;
	void *stack[CPU_STACKS];
};
static DEFINE_PER_CPU(struct stack_cache, stack_cache);
static DEFINE_SPINLOCK(pool_lock, RANK_VMALLOC);
static void *pool;
static unsigned long pool_nr;

static void *pool_take(void)
{
	unsigned long flags;
	void *s;

	spin_lock_irqsave_l(&pool_lock, flags, "kstack_pool");
	s = pool;
	if (s) {
		pool = *(void **)s;
		pool_nr--;
	}
	spin_unlock_irqrestore_l(&pool_lock, flags, "kstack_pool");
	return s;
}

static void stack_destroy(void *s)
{
	struct vm_area *a = vm_area_of(s);

	vm_area_unmap(a, NR_KERNEL_STACK);
	vm_area_free(a);
}

static noinline void *stack_make(int node)
{
	struct vm_area *a = vm_area_alloc(STACK_PAGES, VMA_KSTACK);

	if (!a)
		return NULL;
	if (vm_area_fill(a, GFP_KERNEL, node, NR_KERNEL_STACK)) {
		vm_area_unmap(a, NR_KERNEL_STACK);
		vm_area_free(a);
		return NULL;
	}
	return (void *)a->va;
}

void *kstack_alloc(int node)
{
	struct stack_cache *sc;
	void *s = NULL;

	preempt_disable();
	sc = this_cpu_ptr(&stack_cache);
	if (sc->nr && (node < 0 || node == cpu_node[smp_processor_id()]))
		s = sc->stack[--sc->nr];
	preempt_enable();
	if (likely(s != NULL))
		return s;
	if (pool) {
		s = pool_take();
		/* A burst of threads ended: let the pool shrink two by two while new ones come. */
		for (int i = 0; s && i < 2 && pool_nr > POOL_MAX && may_sleep(); i++) {
			void *extra = pool_take();

			if (extra)
				stack_destroy(extra);
		}
	}
	return s ? s : stack_make(node);
}

void kstack_free(void *s)
{
	struct stack_cache *sc;
	unsigned long flags;

	preempt_disable();
	sc = this_cpu_ptr(&stack_cache);
	if (likely(sc->nr < CPU_STACKS && !in_interrupt())) {
		sc->stack[sc->nr++] = s;
		preempt_enable();
		return;
	}
	preempt_enable();
	spin_lock_irqsave_l(&pool_lock, flags, "kstack_pool");
	*(void **)s = pool;
	pool = s;
	pool_nr++;
	spin_unlock_irqrestore_l(&pool_lock, flags, "kstack_pool");
}

static void empty_here(void *unused)
{
	for (;;) {
		struct stack_cache *sc;
		void *s = NULL;

		preempt_disable();
		sc = this_cpu_ptr(&stack_cache);
		if (sc->nr)
			s = sc->stack[--sc->nr];
		preempt_enable();
		if (!s)
			break;
		stack_destroy(s);
	}
}

static unsigned long stacks_count(struct shrinker *s)
{
	unsigned long n = pool_nr;
	u32 cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		n += per_cpu(stack_cache, cpu).nr;
	return n;
}

static unsigned long stacks_scan(struct shrinker *s, unsigned long nr)
{
	unsigned long done = 0;
	void *stack;

	while (done < nr && (stack = pool_take())) {
		stack_destroy(stack);
		done++;
	}
	if (done < nr)
		visit_cpus(empty_here, NULL);
	return done;
}

static struct shrinker stack_shrinker = {
	.name = "kstack", .count = stacks_count, .scan = stacks_scan, .batch = 8
};

/* ---- kernel threads ---- */

static struct slab_cache *kthread_cache;

void kstack_init(void)
{
	kthread_cache = slab_create("kthread", sizeof(struct kthread), 64, 0, NULL);
	if (!kthread_cache)
		panic("kstack: no memory for the kthread cache");
	list_add_tail(&stack_shrinker.node, &shrinkers);
}

static void kthread_release(struct thread *t)
{
	kstack_free(t->stack);
	slab_free(kthread_cache, container_of(t, struct kthread, thread));
}

static struct thread *create(int (*fn)(void *), void *arg, int node, const char *fmt, va_list ap)
{
	struct kthread *k = slab_alloc(kthread_cache, GFP_KERNEL | __GFP_ZERO);
	char name[sizeof(k->thread.comm)];
	void *stack;

	if (!k)
		return NULL;
	stack = kstack_alloc(node);
	if (!stack) {
		slab_free(kthread_cache, k);
		return NULL;
	}
	vsnprintf(name, sizeof(name), fmt, ap);
	kthread_setup(k, stack, KSTACK_BYTES, fn, arg, name);
	k->thread.release = kthread_release;
	return &k->thread;
}

struct thread *kthread_create(int (*fn)(void *), void *arg, int node, const char *namefmt, ...)
{
	struct thread *t;
	va_list ap;

	va_start(ap, namefmt);
	t = create(fn, arg, node, namefmt, ap);
	va_end(ap);
	return t;
}

struct thread *kthread_run(int (*fn)(void *), void *arg, int node, const char *namefmt, ...)
{
	struct thread *t;
	va_list ap;

	va_start(ap, namefmt);
	t = create(fn, arg, node, namefmt, ap);
	va_end(ap);
	if (t)
		thread_start(t);
	return t;
}
