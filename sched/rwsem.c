/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rwsem.c - a sleeping lock that many may read under or one write.
 *
 * Problem: readers that never end would starve a writer, and a writer that always wins would starve
 * readers. Idea: first come,
 * first served: whoever finds somebody waiting waits behind; when the lock falls free it is handed
 * to the first waiter, or, if that is a reader, to all readers up to the next writer. So a writer
 * waits for the readers that were there and for those queued before it, never for later ones; and
 * the same the other way round.
 *
 *   count:  bit 0 a writer has it | bit 1 somebody waits | bits 8.. number of readers
 *
 * Readers add themselves in one locked instruction and look at what they hit; a reader that hits
 * bit 0 or 1 takes itself off again under s->lock and queues. Its passing trace can only make a
 * hand-over stop early, and it looks again itself.
 * Invariants: bit 1 set <=> list not empty (s->lock); with bit 1 set nobody but the hand-over
 * (s->lock) sets bit 0; ownership is given by the releaser (granted), never grabbed from the list.
 * No inheritance: readers have no owner to boost. A reader may not take the same lock again: a
 * writer between the two would stop both.
 */
#include "lib/errno.h"
#include "sched/internal.h"
#include "sched/mutex.h"

#define RW_WRITER 1l
#define RW_WAITERS 2l
#define RW_READER 256l

struct rwsem_waiter {
	struct list_head node;
	struct thread *thread;
	bool writer;
	bool granted;
};

void rwsem_init(struct rwsem *s, enum lock_rank rank, const char *name)
{
	atomic_long_set(&s->count, 0);
	spin_lock_init(&s->lock, RANK_WAITQUEUE, name);
	list_init(&s->waiters);
	s->writer = NULL;
	s->rank = (u16)rank;
	s->name = name;
}

static void grant(struct rwsem_waiter *w, struct wake_q *q)
{
	struct thread *t = w->thread;

	list_del(&w->node);
	wake_q_add(q, t); /* takes a reference: w is gone as soon as granted is seen */
	smp_store_release(&w->granted, true);
}

/* Hands the lock to whom it belongs now, if it is free. => s->lock held */
static void hand_over(struct rwsem *s, struct wake_q *q)
{
	while (!list_empty(&s->waiters)) {
		struct rwsem_waiter *w = list_first_entry(&s->waiters, struct rwsem_waiter, node);
		long c = atomic_long_read(&s->count);

		if (c & RW_WRITER)
			break;
		if (w->writer) {
			if (c == RW_WAITERS &&
			    atomic_long_cmpxchg(&s->count, c, c | RW_WRITER) == c) {
				s->writer = w->thread;
				grant(w, q);
			}
			break; /* else readers are in; the last of them comes here again */
		}
		atomic_long_add(RW_READER, &s->count);
		grant(w, q);
	}
	if (list_empty(&s->waiters))
		__atomic_fetch_and(&s->count.v, ~RW_WAITERS, __ATOMIC_SEQ_CST);
}

static noinline void release_slow(struct rwsem *s)
{
	WAKE_Q(q);

	spin_lock(&s->lock);
	hand_over(s, &q);
	spin_unlock(&s->lock);
	wake_q_run(&q);
}

/* Queued: sleeps until granted. => s->lock held; dropped. 0 or -EINTR */
static int wait_granted(struct rwsem *s, struct rwsem_waiter *w, u32 state)
{
	WAKE_Q(q);

	list_add_tail(&w->node, &s->waiters);
	__atomic_fetch_or(&s->count.v, RW_WAITERS, __ATOMIC_SEQ_CST);
	hand_over(s, &q); /* it may have fallen free before bit 1 was there to be seen */
	spin_unlock(&s->lock);
	wake_q_run(&q);
	for (;;) {
		thread_set_state(state);
		if (smp_load_acquire(&w->granted))
			break;
		if (state == THREAD_KILLABLE && fatal_signal_pending()) {
			bool granted;

			thread_set_state(THREAD_RUNNING);
			spin_lock(&s->lock);
			granted = w->granted;
			if (!granted) {
				list_del(&w->node);
				hand_over(s, &q);
			}
			spin_unlock(&s->lock);
			wake_q_run(&q);
			return granted ? 0 : -EINTR;
		}
		schedule();
	}
	thread_set_state(THREAD_RUNNING);
	return 0;
}

static noinline int read_slow(struct rwsem *s, u32 state)
{
	struct rwsem_waiter w = { .thread = current };

	spin_lock(&s->lock);
	/* Our count is in already. Without writer and queue it simply stays. */
	if (!(atomic_long_read(&s->count) & RW_WRITER) && list_empty(&s->waiters)) {
		spin_unlock(&s->lock);
		return 0;
	}
	atomic_long_sub(RW_READER, &s->count);
	return wait_granted(s, &w, state);
}

static noinline int write_slow(struct rwsem *s, u32 state)
{
	struct rwsem_waiter w = { .thread = current, .writer = true };

	spin_lock(&s->lock);
	return wait_granted(s, &w, state);
}

static inline int read_lock(struct rwsem *s, u32 state)
{
	might_sleep();
	sleep_lock_acquire(s->rank, s->name);
	if (likely(!(atomic_long_fetch_add(RW_READER, &s->count) & (RW_WRITER | RW_WAITERS))))
		return 0;
	return read_slow(s, state);
}

static inline int write_lock(struct rwsem *s, u32 state)
{
	might_sleep();
	sleep_lock_acquire(s->rank, s->name);
	if (likely(atomic_long_cmpxchg(&s->count, 0, RW_WRITER) == 0)) {
		s->writer = current;
		return 0;
	}
	return write_slow(s, state);
}

void down_read(struct rwsem *s)
{
	read_lock(s, THREAD_UNINTERRUPTIBLE);
}

int down_read_killable(struct rwsem *s)
{
	int error = read_lock(s, THREAD_KILLABLE);

	if (error)
		sleep_lock_release(s->rank);
	return error;
}

bool down_read_trylock(struct rwsem *s)
{
	long c = atomic_long_read(&s->count);

	while (!(c & (RW_WRITER | RW_WAITERS))) {
		if (try_cmpxchg(&s->count.v, &c, c + RW_READER)) {
			sleep_lock_acquire(RANK_NONE, s->name);
			return true;
		}
	}
	return false;
}

void up_read(struct rwsem *s)
{
	long c;

	sleep_lock_release(s->rank);
	c = atomic_long_add_return(-RW_READER, &s->count);
	ASSERT(c >= 0);
	if (unlikely(c == RW_WAITERS))
		release_slow(s);
}

void down_write(struct rwsem *s)
{
	write_lock(s, THREAD_UNINTERRUPTIBLE);
}

int down_write_killable(struct rwsem *s)
{
	int error = write_lock(s, THREAD_KILLABLE);

	if (error)
		sleep_lock_release(s->rank);
	return error;
}

bool down_write_trylock(struct rwsem *s)
{
	if (atomic_long_cmpxchg(&s->count, 0, RW_WRITER) != 0)
		return false;
	s->writer = current;
	sleep_lock_acquire(RANK_NONE, s->name);
	return true;
}

void up_write(struct rwsem *s)
{
	sleep_lock_release(s->rank);
	ASSERT(s->writer == current);
	s->writer = NULL;
	if (unlikely(atomic_long_add_return(-RW_WRITER, &s->count) & RW_WAITERS))
		release_slow(s);
}

void downgrade_write(struct rwsem *s)
{
	ASSERT(s->writer == current);
	s->writer = NULL;
	if (atomic_long_add_return(RW_READER - RW_WRITER, &s->count) & RW_WAITERS)
		release_slow(s); /* readers at the head of the queue may join */
}
