/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mutex.c - a lock to sleep for.
 *
 * One word says it all while nobody waits: 0 free, else the owner. Bit 0 says that there are
 * waiters; then both sides go through m->lock. Waiters queue by level (pi.c), first come first
 * served among equals. Unlocking wakes the first waiter but leaves the mutex free, so a thread
 * already running may take it first (waiting for the sleeper to arrive would make every critical
 * section a switch long); a first waiter that was passed over once sets handoff, and the next
 * unlock makes it the
 * owner by itself: so nobody waits for more than one passing-over.
 * Invariants: bit 0 set <=> the list is not empty or somebody with m->lock is about to change that;
 * with m->lock held and bit 0 set the word changes only by the holder of m->lock.
 * Locking: m->lock is a plain spinlock: mutexes are not for interrupts.
 */
#include "lib/errno.h"
#include "sched/internal.h"
#include "sched/mutex.h"

#define MUTEX_WAITERS 1l

void mutex_init(struct mutex *m, enum lock_rank rank, const char *name)
{
	atomic_long_set(&m->owner, 0);
	spin_lock_init(&m->lock, RANK_WAITQUEUE, name);
	list_init(&m->waiters);
	list_init(&m->held_node);
	m->top = LEVEL_IDLE;
	m->handoff = false;
	m->rank = (u16)rank;
	m->name = name;
}

bool mutex_held(const struct mutex *m)
{
	return mutex_owner_of((unsigned long)atomic_long_read(&m->owner)) == current;
}

static inline struct mutex_waiter *first_waiter(struct mutex *m)
{
	return list_first_entry_or_null(&m->waiters, struct mutex_waiter, node);
}

/* Makes t the owner. => m->lock held, no owner, t not on the list */
static void set_owner(struct mutex *m, struct thread *t)
{
	m->handoff = false;
	atomic_long_set(&m->owner, (long)t | (list_empty(&m->waiters) ? 0 : MUTEX_WAITERS));
	pi_attach(m, t);
}

/* Gave up waiting. => m->lock held; dropped */
static void cancel(struct mutex *m, struct mutex_waiter *w)
{
	bool first = first_waiter(m) == w;

	pi_unblock(m, w);
	if (first)
		m->handoff = false;
	if (list_empty(&m->waiters))
		__atomic_fetch_and(&m->owner.v, ~MUTEX_WAITERS, __ATOMIC_SEQ_CST);
	else if (!mutex_owner_of((unsigned long)atomic_long_read(&m->owner)))
		wake_up_thread(first_waiter(m)->thread); /* the wake-up may have been ours */
	pi_settle(m);
}

static noinline int lock_slow(struct mutex *m, u32 state)
{
	struct mutex_waiter w = { .thread = current };
	unsigned long word;
	bool woken = false;

	spin_lock(&m->lock);
	word = (unsigned long)__atomic_fetch_or(&m->owner.v, MUTEX_WAITERS, __ATOMIC_SEQ_CST);
	ASSERT(mutex_owner_of(word) != current);
	/* free in the meantime, or free and ours to take first */
	if (!mutex_owner_of(word) && !m->handoff) {
		set_owner(m, current);
		spin_unlock(&m->lock);
		return 0;
	}
	pi_block(m, &w);
	spin_lock(&m->lock);
	for (;;) {
		if (w.granted)
			break;
		if (!mutex_owner_of((unsigned long)atomic_long_read(&m->owner)) &&
		    first_waiter(m) == &w) {
			pi_unblock(m, &w);
			set_owner(m, current);
			break;
		}
		if (woken && first_waiter(m) == &w)
			m->handoff = true;
		if (state == THREAD_INTERRUPTIBLE && signal_pending()) {
			cancel(m, &w);
			return -EINTR;
		}
		thread_set_state(state);
		spin_unlock(&m->lock);
		schedule();
		woken = true;
		spin_lock(&m->lock);
	}
	spin_unlock(&m->lock);
	return 0;
}

static noinline void unlock_slow(struct mutex *m)
{
	struct mutex_waiter *w;
	struct thread *t;

	spin_lock(&m->lock);
	ASSERT(mutex_held(m));
	w = first_waiter(m);
	if (!w) {
		__atomic_store_n(&m->owner.v, 0, __ATOMIC_RELEASE);
		spin_unlock(&m->lock);
		return;
	}
	t = w->thread;
	pi_detach(m, current);
	atomic_long_set(&m->owner, MUTEX_WAITERS);
	if (m->handoff) {
		pi_unblock(m, w);
		set_owner(m, t);
		w->granted = true;
	}
	wake_up_thread(t); /* it cannot be gone: it needs m->lock to leave */
	spin_unlock(&m->lock);
}

void mutex_lock(struct mutex *m)
{
	might_sleep();
	sleep_lock_acquire(m->rank, m->name);
	if (unlikely(cmpxchg(&m->owner.v, 0l, (long)current) != 0))
		lock_slow(m, THREAD_UNINTERRUPTIBLE);
}

int mutex_lock_interruptible(struct mutex *m)
{
	int error;

	might_sleep();
	sleep_lock_acquire(m->rank, m->name);
	if (likely(cmpxchg(&m->owner.v, 0l, (long)current) == 0))
		return 0;
	error = lock_slow(m, THREAD_INTERRUPTIBLE);
	if (error)
		sleep_lock_release(m->rank);
	return error;
}

bool mutex_trylock(struct mutex *m)
{
	if (cmpxchg(&m->owner.v, 0l, (long)current) != 0)
		return false;
	sleep_lock_acquire(RANK_NONE, m->name); /* cannot deadlock: no order */
	return true;
}

void mutex_unlock(struct mutex *m)
{
	ASSERT(mutex_held(m));
	sleep_lock_release(m->rank);
	if (unlikely(cmpxchg(&m->owner.v, (long)current, 0l) != (long)current))
		unlock_slow(m);
}
