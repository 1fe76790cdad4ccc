/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rwlock.h - a fair reader-writer spinlock.
 *
 * Problem: many readers may share, a writer must be alone, nobody may starve. Idea: everybody takes
 * a ticket from `users`; a reader enters when `read` shows its ticket and at once lets the next
 * ticket read too (read++); a writer enters when `write` shows its ticket. Whoever leaves adds one
 * to write (a leaving writer also to read):
 *
 *   write <= read <= users        readers inside: tickets between write and read
 *
 * So requests are served in order of arrival, neighbouring readers together.
 * Rules: a reader may not take the lock again (a writer between the two would wait for the first
 * and block the second); a lock taken in interrupts must always be taken with interrupts off
 * (_irqsave forms).
 * Source: the ticket lock for readers and writers of [Mellor-Crummey91], simplified.
 */
#ifndef KERNEL_RWLOCK_H
#define KERNEL_RWLOCK_H

#include "kernel/spinlock.h"

typedef struct rwlock {
	union {
		u64 word;
		struct {
			u16 write, read, users, unused;
		};
		u32 turn; /* write and read together */
	};
} rwlock_t;
#define RWLOCK_INIT                                                                                \
	{                                                                                          \
		.word = 0                                                                          \
	}
#define DEFINE_RWLOCK(var) rwlock_t var = RWLOCK_INIT

static inline void rwlock_init(rwlock_t *lock)
{
	lock->word = 0;
}

#ifdef QUIRE_HOST
#define read_lock(l) ((void)(l))
#define read_unlock(l) ((void)(l))
#define write_lock(l) ((void)(l))
#define write_unlock(l) ((void)(l))
#define read_lock_irqsave(l, f) ((void)(l), (f) = 0)
#define read_unlock_irqrestore(l, f) ((void)(l), (void)(f))
#define write_lock_irqsave(l, f) ((void)(l), (f) = 0)
#define write_unlock_irqrestore(l, f) ((void)(l), (void)(f))
#else
static __always_inline void __read_acquire(rwlock_t *lock)
{
	u16 me = __atomic_fetch_add(&lock->users, 1, __ATOMIC_ACQUIRE);

	while (smp_load_acquire(&lock->read) != me)
		cpu_relax();
	WRITE_ONCE(lock->read, me + 1); /* only the holder of this turn writes it */
}
static __always_inline void __read_release(rwlock_t *lock)
{
	__atomic_fetch_add(&lock->write, 1, __ATOMIC_RELEASE); /* readers leave in any order */
}
static __always_inline void __write_acquire(rwlock_t *lock)
{
	u16 me = __atomic_fetch_add(&lock->users, 1, __ATOMIC_ACQUIRE);

	while (smp_load_acquire(&lock->write) != me)
		cpu_relax();
}
static __always_inline void __write_release(rwlock_t *lock)
{
	u16 next = lock->write + 1; /* nobody else is inside: both turns go on together */

	smp_store_release(&lock->turn, (u32)next << 16 | next);
}
static __always_inline void read_lock(rwlock_t *lock)
{
	preempt_disable();
	__read_acquire(lock);
}
static __always_inline void read_unlock(rwlock_t *lock)
{
	__read_release(lock);
	preempt_enable();
}
static __always_inline void write_lock(rwlock_t *lock)
{
	preempt_disable();
	__write_acquire(lock);
}
static __always_inline void write_unlock(rwlock_t *lock)
{
	__write_release(lock);
	preempt_enable();
}
#define __rw_irqsave(lock, flags, acquire)                                                         \
	do {                                                                                       \
		rwlock_t *_rw = (lock);                                                            \
		local_irq_save(flags);                                                             \
		acquire(_rw);                                                                      \
	} while (0)
#define __rw_irqrestore(lock, flags, release)                                                      \
	do {                                                                                       \
		release(lock);                                                                     \
		local_irq_restore(flags);                                                          \
		if ((flags)&X86_EFLAGS_IF)                                                         \
			preempt_check();                                                           \
	} while (0)
#define read_lock_irqsave(lock, flags) __rw_irqsave(lock, flags, __read_acquire)
#define read_unlock_irqrestore(lock, flags) __rw_irqrestore(lock, flags, __read_release)
#define write_lock_irqsave(lock, flags) __rw_irqsave(lock, flags, __write_acquire)
#define write_unlock_irqrestore(lock, flags) __rw_irqrestore(lock, flags, __write_release)
#endif

#endif
