/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spinlock.h - locks for short sections: fair (ticket) spinlocks, with ranks checked in debug
 * builds.
 *
 * Problem: CPUs must take turns, in order of arrival, and never in a circle. Idea: a 32-bit word of
 * two 16-bit tickets (next, owner); an arriving CPU takes a ticket with one locked add and waits
 * for its number with pause. Every lock has a class {rank, name}; a thread may only take locks of
 * rising rank (habit lock-ranks; the order is enum lock_rank), and a class used in interrupt
 * context may never be taken with interrupts on (debug builds panic on either).
 * Invariants: preemption is off while a lock is held (irqsave forms: interrupts are off, which
 * implies it).
 */
#ifndef KERNEL_SPINLOCK_H
#define KERNEL_SPINLOCK_H

#include "arch/atomic.h"
#include "arch/cpu.h"
#include "arch/irqflags.h"
#include "kernel/preempt.h"

/*
 * Acquisition order: a lock may be taken while holding only locks of smaller rank (equal: with a
 * subclass).
 */
enum lock_rank {
	RANK_NONE = 0,
	/* sleeping locks (sched/mutex.h, rwsem) come first */
	RANK_FILE_POS = 6, /* file->pos_lock */
	RANK_SHOW_FILE,	   /* text of a procfs or sysfs file being made */
	RANK_RENAME,	   /* two directories are about to be locked */
	RANK_FS_CONTEXT,   /* root and current directory */
	RANK_MOUNT = 10,
	RANK_PROC_TREE, /* process table, sessions */
	RANK_TTY,
	RANK_INODE_DIR, /* inode->lock of directories, then of files */
	RANK_INODE,
	RANK_SHOW_TREE, /* tree of procfs and sysfs names */
	RANK_PIPE,
	RANK_MMAP,    /* aspace->lock */
	RANK_MAPPING, /* mapping->invalidate / truncate */
	RANK_PAGE_LOCK,
	RANK_I_MMAP,   /* mapping->i_mmap_lock: who maps the file */
	RANK_FS_MAP,   /* block map of one inode */
	RANK_FS_ALLOC, /* bitmaps of a file system */
	RANK_BDEV,     /* open block devices */
	RANK_DISK,     /* list of disks, partition tables */
	RANK_BDI,      /* list of backing devices, one sync at a time */
	RANK_ANON_VMA, /* root lock of an anon_vma tree */
	/* spinlocks */
	RANK_FIRST_SPIN = 40,
	RANK_FILES = 40, /* file table */
	RANK_SIGHAND,
	RANK_THREAD_LIST, /* thread_list_lock */
	RANK_DCACHE,
	RANK_FUTEX,
	RANK_PGTABLE, /* page-table pages */
	RANK_RMAP,
	RANK_WB,	   /* wb->list_lock: dirty mappings of a device */
	RANK_MAPPING_TREE, /* mapping->lock: page cache index */
	RANK_LRU,	   /* zone->lru_lock */
	RANK_MEMCG,
	RANK_BLK,
	RANK_DEVICE, /* rings and registers of one device */
	RANK_VMALLOC,
	RANK_SLAB,
	RANK_ZONE, /* zone->lock: buddy */
	RANK_PCP,
	RANK_WAITQUEUE,
	RANK_THREAD, /* thread->pi_lock: wake-up */
	RANK_RUNQUEUE,
	RANK_TIMER,
	RANK_SOFTIRQ,
	RANK_RCU,
	RANK_TRACE,
	RANK_CONSOLE,
	RANK_PRINTK,
	RANK_LEAF, /* takes nothing inside */
};

struct lock_class {
	const char *name;
	u16 rank;
	u8 in_irq;	/* seen in interrupt context */
	u8 irqs_on;	/* seen taken with interrupts on */
	u8 under_irq;	/* seen taken while holding a lock with in_irq */
	u8 in_softirq;	/* seen in softirq context */
	u8 softirqs_on; /* seen taken with softirqs on */
};

typedef struct spinlock {
	union {
		u32 word;
		struct {
			u16 owner, next;
		};
	};
#ifdef QUIRE_DEBUG
	u32 cpu; /* holder + 1 */
	const char *name;
	u16 rank, subclass;
	u8 in_irq, irqs_on;
#endif
} spinlock_t;

#ifdef QUIRE_DEBUG
#define SPINLOCK_INIT(rank_, name_)                                                                \
	{                                                                                          \
		.word = 0, .name = (name_), .rank = (rank_)                                        \
	}
/* before waiting: rank, self-deadlock, irq use */
void lock_debug_acquire(spinlock_t *lock, const char *func);
void lock_debug_release(spinlock_t *lock);
bool lock_debug_held(const spinlock_t *lock); /* by this CPU */
#define lock_set_subclass(lock, sub) ((lock)->subclass = (sub))
#else
#define SPINLOCK_INIT(rank_, name_)                                                                \
	{                                                                                          \
		.word = 0                                                                          \
	}
#define lock_debug_acquire(lock, func) ((void)0)
#define lock_debug_release(lock) ((void)0)
#define lock_set_subclass(lock, sub) ((void)0)
#endif
#define DEFINE_SPINLOCK(var, rank) spinlock_t var = SPINLOCK_INIT(rank, #var)

static inline void spin_lock_init(spinlock_t *lock, enum lock_rank rank, const char *name)
{
	*lock = (spinlock_t)SPINLOCK_INIT(rank, name);
}

#ifdef QUIRE_HOST
#define spin_lock(l) ((void)(l))
#define spin_unlock(l) ((void)(l))
#define spin_trylock(l) ((void)(l), true)
#define spin_is_contended(l) ((void)(l), false)
#define spin_lock_irqsave_l(l, f, n) ((void)(l), (f) = 0)
#define spin_unlock_irqrestore_l(l, f, n) ((void)(l), (void)(f))
#define spin_lock_irq_l(l, n) ((void)(l))
#define spin_unlock_irq_l(l, n) ((void)(l))
#define assert_spin_held(l) ((void)(l))
#else

void spin_wait(spinlock_t *lock, u16 ticket); /* out of line: bounded-backoff pause loop */

static __always_inline void __spin_acquire(spinlock_t *lock)
{
	u32 v = __atomic_fetch_add(&lock->word, 0x10000, __ATOMIC_ACQUIRE);

	if (unlikely((u16)v != (u16)(v >> 16)))
		spin_wait(lock, v >> 16);
}
static __always_inline void __spin_release(spinlock_t *lock)
{
	__asm__ volatile("incw %0" : "+m"(lock->owner) : : "memory", "cc");
}
static __always_inline void spin_lock(spinlock_t *lock)
{
	preempt_disable();
	lock_debug_acquire(lock, __func__);
	__spin_acquire(lock);
}
static __always_inline void spin_unlock(spinlock_t *lock)
{
	lock_debug_release(lock);
	__spin_release(lock);
	preempt_enable();
}
static __always_inline bool spin_trylock(spinlock_t *lock)
{
	u32 v = READ_ONCE(lock->word);

	preempt_disable();
	if ((u16)v == (u16)(v >> 16) && cmpxchg(&lock->word, v, v + 0x10000) == v) {
		lock_debug_acquire(lock, "trylock");
		return true;
	}
	preempt_enable();
	return false;
}
static inline bool spin_is_locked(const spinlock_t *lock)
{
	u32 v = READ_ONCE(lock->word);

	return (u16)v != (u16)(v >> 16);
}
/* Does another CPU wait for a lock we hold? */
static inline bool spin_is_contended(const spinlock_t *lock)
{
	u32 v = READ_ONCE(lock->word);

	return (u16)((v >> 16) - v) > 1;
}
/* With interrupts off preemption cannot happen, so these leave the preempt count alone. */
#define spin_lock_irqsave_l(lock, flags, label)                                                    \
	do {                                                                                       \
		spinlock_t *_sl = (lock);                                                          \
		local_irq_save_l(flags, label);                                                    \
		lock_debug_acquire(_sl, __func__);                                                 \
		__spin_acquire(_sl);                                                               \
	} while (0)
#define spin_unlock_irqrestore_l(lock, flags, label)                                               \
	do {                                                                                       \
		spinlock_t *_sl = (lock);                                                          \
		lock_debug_release(_sl);                                                           \
		__spin_release(_sl);                                                               \
		local_irq_restore_l(flags, label);                                                 \
		if ((flags)&X86_EFLAGS_IF)                                                         \
			preempt_check();                                                           \
	} while (0)
#define spin_lock_irq_l(lock, label)                                                               \
	do {                                                                                       \
		spinlock_t *_sl = (lock);                                                          \
		local_irq_disable_l(label);                                                        \
		lock_debug_acquire(_sl, __func__);                                                 \
		__spin_acquire(_sl);                                                               \
	} while (0)
#define spin_unlock_irq_l(lock, label)                                                             \
	do {                                                                                       \
		spinlock_t *_sl = (lock);                                                          \
		lock_debug_release(_sl);                                                           \
		__spin_release(_sl);                                                               \
		local_irq_enable_l(label);                                                         \
		preempt_check();                                                                   \
	} while (0)
#ifdef QUIRE_DEBUG
#define assert_spin_held(lock) ASSERT(lock_debug_held(lock))
#else
#define assert_spin_held(lock) ((void)(lock))
#endif
#endif

#define spin_lock_irqsave(lock, flags) spin_lock_irqsave_l(lock, flags, __func__)
#define spin_unlock_irqrestore(lock, flags) spin_unlock_irqrestore_l(lock, flags, __func__)
#define spin_lock_irq(lock) spin_lock_irq_l(lock, __func__)
#define spin_unlock_irq(lock) spin_unlock_irq_l(lock, __func__)

#include "kernel/bug.h"

#endif
