/* SPDX-License-Identifier: BSD-2-Clause */
/* futex_internal.h - shared by futex.c, futex_pi.c and futex_robust.c. */
#ifndef SYS_FUTEX_INTERNAL_H
#define SYS_FUTEX_INTERNAL_H

#include "kernel/spinlock.h"
#include "lib/list.h"
#include "mm/vm/aspace.h"
#include "sched/sched.h"
#include "sys/futex.h"

#define FUTEX_WAITERS 0x80000000u
#define FUTEX_OWNER_DIED 0x40000000u
#define FUTEX_TID_MASK 0x3fffffffu

struct futex_bucket {
	spinlock_t lock; /* RANK_FUTEX; IRQs stay on */
	struct list_head waiters;
};
struct futex_waiter { /* on the sleeper's stack */
	struct list_head node;
	struct futex_key key;
	u32 bitset;
	bool pi, owner; /* PI: handed the lock */
	struct thread *thread;
	struct futex_bucket *bucket; /* NULL: woken, the waker touches us no more */
};

struct futex_bucket *futex_bucket_of(const struct futex_key *key);
static inline bool futex_same(const struct futex_key *a, const struct futex_key *b)
{
	return a->object == b->object && a->offset == b->offset;
}
/*
 * Reads the word with page faults off, bucket lock held. 0 or -EFAULT (then touch it without the
 * lock and try again).
 */
int futex_peek(u64 addr, u32 *value);
/* Takes the waiter out. => true: it was still queued */
bool futex_unqueue(struct futex_waiter *w);
/* Takes w off its bucket and notes the thread for wake_q_run. => bucket lock */
void futex_mark_woken(struct futex_waiter *w, struct wake_q *q);
/* Sleeps until woken, time-out or signal. State was set before the bucket lock was dropped. */
void futex_sleep(struct futex_waiter *w, ktime_t deadline);

long futex_lock_pi(u64 addr, bool shared, ktime_t deadline, bool try);
long futex_unlock_pi(u64 addr, bool shared);
void futex_wake_pi(u64 addr); /* the owner died */

#endif
