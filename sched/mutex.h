/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mutex.h - sleeping locks: mutex with priority inheritance, reader-writer semaphore. Ranks as for
 * spinlocks (they come before all spinlocks). Uncontended: one locked instruction each way.
 */
#ifndef SCHED_MUTEX_H
#define SCHED_MUTEX_H

#include "sched/wait.h"

struct mutex {
	atomic_long_t owner;	    /* struct thread * | 1 when there are waiters */
	spinlock_t lock;	    /* protects waiters */
	struct list_head waiters;   /* (lock) by level, then arrival */
	struct list_head held_node; /* (owner's pi_lock) owner's list of contended mutexes */
	int top;		    /* (lock + owner's pi_lock) level of the first waiter */
	/* (lock) the first waiter was passed over: it is next for sure */
	bool handoff;
	u16 rank;
	const char *name;
};
void mutex_init(struct mutex *m, enum lock_rank rank, const char *name);
#define MUTEX_INIT(m, rank_)                                                                       \
	{                                                                                          \
		.lock = SPINLOCK_INIT(RANK_WAITQUEUE, #m), .waiters = LIST_HEAD_INIT((m).waiters), \
		.held_node = LIST_HEAD_INIT((m).held_node), .rank = rank_, .name = #m              \
	}
#define DEFINE_MUTEX(m, rank_) struct mutex m = MUTEX_INIT(m, rank_)
void mutex_lock(struct mutex *m);
/*
 * Two of one rank at once: the owner of the data says in which order; debug builds allow equal
 * ranks.
 */
#define mutex_lock_nested(m, subclass) mutex_lock(m)
int mutex_lock_interruptible(struct mutex *m); /* 0 or -EINTR */
bool mutex_trylock(struct mutex *m);
void mutex_unlock(struct mutex *m);
bool mutex_held(const struct mutex *m); /* by the current thread */

struct rwsem {
	atomic_long_t count; /* readers, or writer bit; see rwsem.c */
	spinlock_t lock;
	struct list_head waiters;
	struct thread *writer;
	u16 rank;
	const char *name;
};
void rwsem_init(struct rwsem *s, enum lock_rank rank, const char *name);
#define RWSEM_INIT(s, rank_)                                                                       \
	{                                                                                          \
		.lock = SPINLOCK_INIT(RANK_WAITQUEUE, #s), .waiters = LIST_HEAD_INIT((s).waiters), \
		.rank = rank_, .name = #s                                                          \
	}
void down_read(struct rwsem *s);
bool down_read_trylock(struct rwsem *s);
int down_read_killable(struct rwsem *s);
void up_read(struct rwsem *s);
void down_write(struct rwsem *s);
#define down_write_nested(s, subclass) down_write(s)
#define down_read_nested(s, subclass) down_read(s)
int down_write_killable(struct rwsem *s);
bool down_write_trylock(struct rwsem *s);
void up_write(struct rwsem *s);
void downgrade_write(struct rwsem *s);

#endif
