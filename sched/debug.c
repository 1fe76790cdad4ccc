/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debug.c - debug builds: nothing sleeps with a spinlock held, and sleeping locks are taken in
 * order of their ranks.
 *
 * Held ranks lie in the thread (a sleeping lock follows its thread, not a CPU). Equal ranks are
 * allowed (two directories of a rename): their order is the owner's matter. Trylocks and locks of
 * RANK_NONE have no order.
 */
#include "kernel/spinlock.h"
#include "sched/internal.h"

#ifdef QUIRE_DEBUG
static bool checking;

void sched_debug_on(void)
{
	checking = true;
}

void might_sleep_check(void)
{
	if (likely(may_sleep()) || !checking)
		return;
	panic("sched: thread %d (%s) may sleep here but must not: preempt count %#x, interrupts %s",
	      current->tid, current->comm, preempt_count(), irqs_disabled() ? "off" : "on");
}

void sleep_lock_acquire(u32 rank, const char *name)
{
	struct thread *t = current;

	for (u32 i = 0; rank && i < t->lock_depth; i++) {
		if (t->held_ranks[i] > rank && checking)
			panic("sched: thread %d (%s) takes %s (rank %u) while it holds a lock of "
			      "rank %u",
			      t->tid, t->comm, name, rank, t->held_ranks[i]);
	}
	if (t->lock_depth >= ARRAY_SIZE(t->held_ranks))
		panic("sched: thread %d (%s) takes %s: it holds %u sleeping locks already", t->tid,
		      t->comm, name, t->lock_depth);
	t->held_ranks[t->lock_depth++] = (u8)rank;
}

void sleep_lock_release(u32 rank)
{
	struct thread *t = current;
	int i;

	for (i = t->lock_depth - 1; i >= 0 && t->held_ranks[i] != rank; i--)
		;
	if (i < 0) /* taken with trylock */
		for (i = t->lock_depth - 1; i >= 0 && t->held_ranks[i] != RANK_NONE; i--)
			;
	if (i < 0)
		panic("sched: thread %d (%s) gives back a lock of rank %u it does not hold", t->tid,
		      t->comm, rank);
	for (t->lock_depth--; i < t->lock_depth; i++)
		t->held_ranks[i] = t->held_ranks[i + 1];
}
#else
void sched_debug_on(void) {}
#endif
