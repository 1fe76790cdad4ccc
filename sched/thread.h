/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread.h - what the scheduler knows of a thread. sched/ never allocates: whoever makes a thread
 * brings its memory and its stack (mm/kmem/kstack.c). Fields of higher floors are opaque pointers
 * here.
 *
 * Locks: (p) pi_lock (r) lock of its run queue (c) only the thread itself (o) set once before it
 * first runs
 *        (t) thread_list_lock, readers RCU
 */
#ifndef SCHED_THREAD_H
#define SCHED_THREAD_H

#include "arch/context.h"
#include "kernel/cpumask.h"
#include "kernel/spinlock.h"
#include "kernel/rcu.h"
#include "lib/list.h"
#include "sched/fair.h"

struct aspace;
struct process;
struct mempolicy;
struct memcg;
struct reclaim_state;
struct mutex;
struct mutex_waiter;
struct sched_class;

enum thread_state {
	THREAD_RUNNING = 0,	    /* running or on a run queue */
	THREAD_INTERRUPTIBLE = 1,   /* asleep; a signal wakes it */
	THREAD_UNINTERRUPTIBLE = 2, /* asleep; only its event wakes it */
	THREAD_STOPPED = 4,	    /* job control */
	THREAD_KILLABLE = 8,	    /* asleep; only its event or a fatal signal wakes it */
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

struct sched_group;
struct rt_entity { /* real-time class */
	struct list_head node;
	u32 prio; /* 1..99, higher first; effective (inherited) */
	u64 slice_left_ns;
	bool on_rq;
};

struct thread {
	struct arch_thread arch; /* first: arch code casts */
	u32 state;		 /* enum thread_state; written with thread_set_state */
	u32 flags;		 /* TF_*; (c), TF_SHOULD_STOP and TF_OOM_VICTIM atomically */
	pid_t tid, tgid;	 /* (o) 0 = idle; kthreads have tids, tgid = tid */
	char comm[16];
	void *stack; /* lowest address (above the guard page) */

	u32 cpu;			  /* (r) run queue it is on or was last on */
	int on_cpu;			  /* running right now (switching out clears it last) */
	int on_rq;			  /* (r) 0 no, 1 queued or running, 2 between two queues */
	const struct sched_class *sclass; /* (r) class it runs in (inheritance included) */
	u32 policy;			  /* SCHED_* (r) */
	int nice;			  /* -20..19 (r) */
	u32 rt_prio;			  /* 0 or 1..99: as asked for (r) */
	struct sched_entity se;
	struct sched_group *group; /* (r) of its session (sched/autogroup.h), NULL: none */
	u32 group_load;		   /* (r) what it adds to its group, 0: nothing */
	struct rt_entity rt;
	cpumask_t allowed;				    /* affinity (r) */
	u64 sum_exec_ns, exec_start_ns, utime_ns, stime_ns; /* (r) */
	u64 nvcsw, nivcsw;				/* voluntary / involuntary switches (c) */
	u64 start_ns;					/* when it was made */
	u64 wait_sum_ns, wait_start_ns, sleep_start_ns; /* (r) waiting = runnable, not running */
	/* thread_cputime: what was told last, never goes back */
	u64 shown_utime_ns, shown_stime_ns;
	u64 woken_ns; /* (r) when it was woken, until it runs; 0 unless that is traced */
	u32 migrations;
	u8 in_iowait;	/* (c) the next sleep is for I/O */
	u8 in_memstall; /* (r) sched/psi.h */

	struct list_head all_node;  /* (t) list of all threads */
	struct hlist_node tid_node; /* (t) by tid */
	struct rcu_head rcu;	    /* the end */

	/* priority inheritance (sched/pi.c); levels as thread_level() */
	spinlock_t pi_lock;
	struct mutex *blocked_on;    /* (p) mutex it waits for */
	struct mutex_waiter *waiter; /* (p) its entry there */
	struct list_head pi_held;    /* (p) contended mutexes it holds */
	int boost;		     /* (p)+(r) inherited level, -1 none */

	/* mm */
	struct aspace *mm;		     /* address space, NULL for kernel threads */
	struct aspace *active_mm;	     /* whose tables are loaded (lazy TLB) (c) */
	struct mempolicy *mempolicy;	     /* of the thread; NULL = default */
	u16 il_next;			     /* interleave position (c) */
	struct memcg *memcg;		     /* charged group */
	struct reclaim_state *reclaim_state; /* (c) */
	u64 min_flt, maj_flt;		     /* (c) */
	u64 oom_flt;   /* (c) number of the fault that found no memory last, */
	u32 oom_tries; /* (c) and how many before it in a row did not either */
	/* the brake on dirtying (mm/cache/balance.c): pages since the last look, pages between two
	 * looks, tick of the end of the last pause (c) */
	u32 nr_dirtied, nr_dirtied_pause;
	u64 paused_when;
	u64 dirties, dirties_period; /* floating share of all dirtying (mm/cache/dirty.h) (c) */
	u64 io_read_bytes, io_write_bytes; /* caused at devices (c), /proc/PID/io */
	struct blk_plug *plug;		   /* requests gathered (c) */
	u32 blk_batch;			   /* requests it may still take from a full pool (c) */
	u64 blk_batch_ns;		   /* since when (c) */

	/* sys */
	struct process *proc; /* NULL for kernel threads */
	void *sysdata;	      /* sys/: struct task, signals and so on */

	void *kthread; /* kthread's own record */
	/*
	 * (o) gives the memory back. => from an RCU callback after the last reference went; may not
	 * sleep
	 */
	void (*release)(struct thread *t);
	atomic_t refs;
	struct thread *wake_next; /* wake_q link */
	/* debug builds: held spinlocks are per CPU; sleeping locks here */
	u16 lock_depth;
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
