/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spinlock.c - the waiting side of the ticket locks, and the checks of debug builds.
 *
 * A waiter whose ticket is k turns away pauses about k times as long between looks, so the line of
 * the lock word does not bounce for nothing; at least one pause each time, because on an emulator
 * that runs its CPUs in turn the pause is what lets the holder run.
 *
 * Debug: every CPU keeps the spinlocks it holds in a small stack. A new lock must have a higher
 * rank than the topmost (equal: a higher subclass) of the same context; an interrupt or a softirq
 * on top of a thread starts a chain of its own. What keeps those chains from closing a circle are
 * facts per class (a class is a name):
 *
 *   in_irq and irqs_on          the interrupt may find its own CPU holding the lock
 *   in_softirq and softirqs_on  the same with a softirq
 *   irqs_on and under_irq       A holds it, interrupted by a handler that wants the interrupt's
 *                               lock I; B holds I and
 *                               wants it
 *
 * Each pair panics when its second fact appears. trylock only records: it cannot wait, so it cannot
 * close a circle.
 */
#include "kernel/spinlock.h"
#include "arch/smp.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "lib/hash.h"
#include "lib/string.h"

void spin_wait(spinlock_t *lock, u16 ticket)
{
	u16 owner;

	while ((owner = smp_load_acquire(&lock->owner)) != ticket)
		for (u32 turns = min_t(u32, (u16)(ticket - owner), 16); turns; turns--)
			cpu_relax();
}

#ifdef QUIRE_DEBUG
#define MAX_HELD 16
#define MAX_CLASSES 512

struct held_locks {
	u32 nr;
	spinlock_t *lock[MAX_HELD];
	u8 context[MAX_HELD];
};
static DEFINE_PER_CPU(struct held_locks, held_locks);
static struct lock_class classes[MAX_CLASSES];

enum { THREAD, SOFTIRQ, HARDIRQ };

static u8 context_now(void)
{
	return in_hardirq() ? HARDIRQ : in_softirq() ? SOFTIRQ : THREAD;
}

/*
 * By the text of the name: the same name in two places is the same class. NULL when the table is
 * full.
 */
static struct lock_class *class_of(const spinlock_t *lock)
{
	const char *name = lock->name ? lock->name : "?";
	u32 h = hash_string(name, 0) % MAX_CLASSES;

	for (u32 i = 0; i < MAX_CLASSES; i++, h = (h + 1) % MAX_CLASSES) {
		const char *nobody = NULL;

		if (!READ_ONCE(classes[h].name) && try_cmpxchg(&classes[h].name, &nobody, name))
			classes[h].rank = lock->rank;
		if (!strcmp(classes[h].name, name))
			return &classes[h];
	}
	return NULL;
}

static void print_held(const struct held_locks *held)
{
	for (u32 i = 0; i < held->nr; i++)
		pr_err("lock: held: %s (rank %u.%u)", held->lock[i]->name, held->lock[i]->rank,
		       held->lock[i]->subclass);
}

static void check_context(spinlock_t *lock, const char *func, const struct held_locks *held)
{
	struct lock_class *class = class_of(lock), *outer;
	u8 now = context_now();

	if (!class)
		return;
	if (now == HARDIRQ)
		class->in_irq = 1;
	else if (!irqs_disabled())
		class->irqs_on = 1;
	if (now == SOFTIRQ && !irqs_disabled())
		class->in_softirq = 1;
	else if (now == THREAD && !irqs_disabled())
		class->softirqs_on = 1;
	for (u32 i = 0; i < held->nr && !class->under_irq; i++)
		if (held->context[i] == now && (outer = class_of(held->lock[i])) && outer->in_irq)
			class->under_irq = 1;
	if (class->in_irq && class->irqs_on)
		panic("lock: %s is used in interrupts and taken with interrupts on (now in %s)",
		      lock->name, func);
	if (class->in_softirq && class->softirqs_on)
		panic("lock: %s is used in softirqs and taken with softirqs on (now in %s)",
		      lock->name, func);
	if (class->under_irq && class->irqs_on) {
		print_held(held);
		panic("lock: %s is taken with interrupts on, and under a lock of interrupts (now "
		      "in %s)",
		      lock->name, func);
	}
}

static void check_order(spinlock_t *lock, const char *func, const struct held_locks *held,
			u8 context)
{
	spinlock_t *top = held->nr ? held->lock[held->nr - 1] : NULL;

	for (u32 i = 0; i < held->nr; i++)
		if (held->lock[i] == lock)
			panic("lock: %s takes %s, which this CPU holds already", func, lock->name);
	if (!top || held->context[held->nr - 1] != context)
		return;
	if (lock->rank < top->rank ||
	    (lock->rank == top->rank && lock->subclass <= top->subclass)) {
		print_held(held);
		panic("lock: %s takes %s (rank %u.%u) under %s (rank %u.%u)", func, lock->name,
		      lock->rank, lock->subclass, top->name, top->rank, top->subclass);
	}
}

void lock_debug_acquire(spinlock_t *lock, const char *func)
{
	struct held_locks *held = this_cpu_ptr(&held_locks);
	u8 context = context_now();
	unsigned long flags;

	if (in_nmi() || panic_in_progress())
		return;
	if (strcmp(func, "trylock")) {
		check_context(lock, func, held);
		check_order(lock, func, held, context);
	}
	/*
	 * An interrupt in the middle pushes and pops its own, but it must not find the number half
	 * changed.
	 */
	local_irq_save_l(flags, "lock_debug");
	if (held->nr == MAX_HELD)
		panic("lock: more than %d spinlocks held on one CPU", MAX_HELD);
	held->context[held->nr] = context;
	held->lock[held->nr++] = lock;
	WRITE_ONCE(lock->cpu, smp_processor_id() + 1);
	local_irq_restore_l(flags, "lock_debug");
}

void lock_debug_release(spinlock_t *lock)
{
	struct held_locks *held = this_cpu_ptr(&held_locks);
	unsigned long flags;
	u32 i;

	if (in_nmi() || panic_in_progress())
		return;
	local_irq_save_l(flags, "lock_debug");
	i = held->nr;
	while (i && held->lock[i - 1] != lock)
		i--;
	if (!i)
		panic("lock: %s released by a CPU that does not hold it", lock->name);
	for (; i < held->nr; i++) {
		held->lock[i - 1] = held->lock[i];
		held->context[i - 1] = held->context[i];
	}
	held->nr--;
	WRITE_ONCE(lock->cpu, 0);
	local_irq_restore_l(flags, "lock_debug");
}

/* A waiter marks the lock before it has it, so look at this CPU's stack, not only at the mark. */
bool lock_debug_held(const spinlock_t *lock)
{
	const struct held_locks *held = this_cpu_ptr(&held_locks);

	for (u32 i = 0; i < held->nr; i++)
		if (held->lock[i] == lock)
			return true;
	return false;
}

static int lock_classes_show(struct seq *seq)
{
	seq_puts(seq, "rank in_irq irqs_on under_irq in_softirq softirqs_on name\n");
	for (u32 i = 0; i < MAX_CLASSES; i++)
		if (classes[i].name)
			seq_printf(seq, "%4u %6u %7u %9u %10u %11u %s\n", classes[i].rank,
				   classes[i].in_irq, classes[i].irqs_on, classes[i].under_irq,
				   classes[i].in_softirq, classes[i].softirqs_on, classes[i].name);
	return 0;
}
SHOW("/sys/kernel/quire/lock_classes", 0444, lock_classes_show, NULL);
#endif
