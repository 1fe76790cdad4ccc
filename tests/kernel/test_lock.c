/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_lock.c - spinlocks and reader-writer locks: exclusion among CPUs and with interrupts, state
 * words, checks.
 */
#include "tests/kernel/ktest.h"

#include "arch/smp.h"
#include "kernel/rwlock.h"
#include "kernel/spinlock.h"
#include "sched/kthread.h"

#define TURNS 2000

static DEFINE_SPINLOCK(lock, RANK_LEAF);
static DEFINE_RWLOCK(rwlock);
static volatile long shared, mirror;
static volatile bool torn;
static atomic_t left;

KTEST(lock, word)
{
	unsigned long flags;

	KT_ASSERT(!spin_is_locked(&lock));
	spin_lock(&lock);
	KT_ASSERT(spin_is_locked(&lock));
	KT_ASSERT(!may_sleep());
	spin_unlock(&lock);
	KT_ASSERT(!spin_is_locked(&lock));
	KT_ASSERT(may_sleep());
	spin_lock_irqsave(&lock, flags);
	KT_ASSERT(irqs_disabled());
	assert_spin_held(&lock);
	spin_unlock_irqrestore(&lock, flags);
	KT_ASSERT(!irqs_disabled());
}

KTEST(lock, trylock)
{
	bool first, second;

	first = spin_trylock(&lock);
	second = spin_trylock(&lock);
	if (first)
		spin_unlock(&lock);
	KT_ASSERT(first);
	KT_ASSERT(!second);
	KT_ASSERT(may_sleep());
}

/* The tickets are 16 bits wide: they must go round. */
KTEST(lock, tickets_wrap)
{
	for (int i = 0; i < 70000; i++) {
		spin_lock(&lock);
		spin_unlock(&lock);
	}
	KT_ASSERT(!spin_is_locked(&lock));
	KT_ASSERT(spin_trylock(&lock));
	spin_unlock(&lock);
}

KTEST(lock, nested_flags)
{
	unsigned long outer, inner;

	local_irq_save(outer);
	local_irq_save(inner);
	KT_ASSERT(irqs_disabled());
	local_irq_restore(inner);
	KT_ASSERT(irqs_disabled());
	local_irq_restore(outer);
	KT_ASSERT(!irqs_disabled());
}

static int adder(void *arg)
{
	for (int i = 0; i < TURNS; i++) {
		unsigned long flags;

		if (i & 1) {
			spin_lock(&lock);
			shared = shared + 1;
			spin_unlock(&lock);
		} else {
			spin_lock_irqsave(&lock, flags);
			shared = shared + 1;
			spin_unlock_irqrestore(&lock, flags);
		}
		if (i % 100 == 0)
			sched_yield();
	}
	atomic_dec(&left);
	return 0;
}

static int reader(void *arg)
{
	for (int i = 0; i < TURNS; i++) {
		read_lock(&rwlock);
		if (shared != mirror)
			torn = true;
		read_unlock(&rwlock);
		if (i % 64 == 0)
			sched_yield();
	}
	atomic_dec(&left);
	return 0;
}

static int writer(void *arg)
{
	for (int i = 0; i < TURNS; i++) {
		write_lock(&rwlock);
		shared = shared + 1;
		for (int k = 0; k < 10; k++)
			barrier();
		mirror = mirror + 1;
		write_unlock(&rwlock);
		if (i % 64 == 0)
			sched_yield();
	}
	atomic_dec(&left);
	return 0;
}

static bool run_threads(int (*const fns[])(void *), int nr)
{
	atomic_set(&left, nr);
	for (int i = 0; i < nr; i++)
		if (!kthread_run(fns[i], NULL, -1, "ktest-lock"))
			atomic_dec(&left);
	for (int i = 0; i < 10000 && atomic_read(&left); i++)
		sleep_ns(1000000);
	return !atomic_read(&left);
}

KTEST(lock, spinlock_excludes)
{
	static int (*const fns[])(void *) = { adder, adder, adder, adder };

	shared = 0;
	KT_ASSERT(run_threads(fns, 4));
	KT_EQ(shared, 4 * TURNS);
}

KTEST(lock, rwlock_excludes)
{
	static int (*const fns[])(void *) = { reader, writer, reader, writer, reader };

	shared = mirror = 0;
	torn = false;
	KT_ASSERT(run_threads(fns, 5));
	KT_ASSERT(!torn);
	KT_EQ(shared, 2 * TURNS);
}

KTEST(lock, rwlock_readers_share)
{
	read_lock(&rwlock);
	KT_EQ(rwlock.users - rwlock.write, 1);
	/* a second reader, as another CPU would be: no writer waits, so it enters */
	__read_acquire(&rwlock);
	KT_EQ((u16)(rwlock.read - rwlock.write), 2);
	__read_release(&rwlock);
	read_unlock(&rwlock);
	KT_EQ(rwlock.users, rwlock.write);
	write_lock(&rwlock);
	KT_EQ((u16)(rwlock.users - rwlock.write), 1);
	write_unlock(&rwlock);
	KT_EQ(rwlock.users, rwlock.read);
}

KTEST(lock, held_is_per_cpu)
{
#ifdef QUIRE_DEBUG
	bool held;

	spin_lock(&lock);
	held = lock_debug_held(&lock);
	spin_unlock(&lock);
	KT_ASSERT(held);
	KT_ASSERT(!lock_debug_held(&lock));
#else
	KT_SKIP("debug builds only");
#endif
}
