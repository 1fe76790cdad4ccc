/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread.h - what the scheduler knows of a thread. sched/ never allocates: whoever makes a thread brings its memory and
 * its stack (mm/kmem/kstack.c). Fields of higher floors are opaque pointers here.
 *
 * Locks: (p) pi_lock  (r) lock of its run queue  (c) only the thread itself  (o) set once before it first runs
 */
#ifndef SCHED_THREAD_H
#define SCHED_THREAD_H

#include "arch/context.h"
#include "kernel/cpumask.h"
#include "kernel/spinlock.h"
#include "lib/list.h"
#include "lib/rbtree.h"

struct aspace;
struct process;
struct mempolicy;
struct memcg;
struct reclaim_state;
struct mutex;

enum thread_state {
	THREAD_RUNNING = 0, /* running or on a run queue */
	THREAD_INTERRUPTIBLE = 1, /* asleep; a signal wakes it */
	THREAD_UNINTERRUPTIBLE = 2, /* asleep; only its event wakes it */
	THREAD_STOPPED = 4, /* job control */
	THREAD_KILLABLE = 8, /* asleep; only its event or a fatal signal wakes it */
	THREAD_DEAD = 16,
	THREAD_NEW = 32,
	THREAD_IDLE_STATE = 64,
};

/* Linux's numbers */
enum { SCHED_OTHER = 0, SCHED_FIFO = 1, SCHED_RR = 2, SCHED_BATCH = 3, SCHED_IDLE = 5 };

/* thread->flags: what kind of thread reclaim and throttling see (mm), and life-cycle bits */
#define TF_KTHREAD BIT(0)
#define TF_KSWAPD BIT(1)
#define TF_MEMALLOC BIT(2) /* may use the reserves: it frees memory */
#define TF_LESS_THROTTLE BIT(3)
#define TF_FLUSHER BIT(4)
#define TF_EXITING BIT(5)
#define TF_OOM_VICTIM BIT(6)
#define TF_NOFS BIT(7)
#define TF_NOIO BIT(8)
#define TF_SHOULD_STOP BIT(9) /* kthread_stop */

struct sched_entity { /* fair class (EEVDF) */
	struct rb_node node;
	u64 vruntime, deadline, min_vruntime; /* weighted ns; (r) */
	s64 vlag;
	u64 slice_ns;
	u32 weight;
	bool on_rq;
};
struct rt_entity {
	struct list_head node;
	u32 prio; /* 1..99, higher first */
	u64 slice_left_ns;
	bool on_rq;
};

struct thread {
	struct arch_thread arch; /* first: arch code casts */
	u32 state;               /* enum thread_state; written with thread_set_state */
	u32 flags;               /* TF_*; (c), TF_SHOULD_STOP and TF_OOM_VICTIM atomically */
	pid_t tid, tgid;         /* (o) 0 = idle; kthreads have tids, tgid = tid */
	char comm[16];
	void *stack;             /* lowest address (above the guard page) */

	spinlock_t pi_lock;      /* serialises wake-ups */
	u32 cpu;                 /* (r) run queue it is on or was last on */
	int on_cpu;              /* running right now (switching out clears it last) */
	int on_rq;               /* (r) */
	u32 policy;              /* SCHED_* (r) */
	int nice;                /* -20..19 (r) */
	u32 rt_prio;             /* 0 or 1..99: as asked for (r) */
	struct sched_entity se;
	struct rt_entity rt;
	cpumask_t allowed;       /* affinity (r) */
	u64 sum_exec_ns, exec_start_ns, utime_ns, stime_ns; /* (r) */
	u64 nvcsw, nivcsw;       /* voluntary / involuntary switches (c) */
	u64 start_ns;            /* when it was made */
	u64 wait_sum_ns, sleep_start_ns;
	u32 migrations;

	struct list_head all_node; /* list of all threads (RCU, thread_list_lock) */
	struct mutex *blocked_on;  /* priority inheritance */

	/* mm */
	struct aspace *mm;        /* address space, NULL for kernel threads */
	struct aspace *active_mm; /* whose tables are loaded (lazy TLB) (c) */
	struct mempolicy *mempolicy; /* of the thread; NULL = default */
	u16 il_next;              /* interleave position (c) */
	struct memcg *memcg;      /* charged group */
	struct reclaim_state *reclaim_state; /* (c) */
	u64 min_flt, maj_flt;     /* (c) */

	/* sys */
	struct process *proc;     /* NULL for kernel threads */
	void *sysdata;            /* sys/: struct task, signals and so on */

	void *kthread;            /* kthread's own record */
	void (*release)(struct thread *t); /* (o) gives memory back after the last switch away; may sleep: no */
	atomic_t refs;
	struct thread *wake_next; /* wake_q link */
	u16 lock_depth;           /* debug builds: held spinlocks are per CPU; sleeping locks here */
	u8 held_ranks[14];
};

DECLARE_PER_CPU(struct thread *, current_thread);
#ifdef QUIRE_HOST
extern struct thread *host_current;
#define current host_current
#else
#define current this_cpu_read(current_thread)
#endif

#endif
