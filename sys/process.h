/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process.h - processes (thread groups) and the user half of their threads.
 *
 * struct process is what a PID names: identity, family, signals, limits, totals. struct task is one
 * thread of it: the scheduler's struct thread comes first, so `current` is a task when
 * current->proc is set.
 *
 * Locks: (t) proc_tree_lock: family, groups, sessions, life and death (s) proc->lock (softirqs
 * off): signals, thread list
 *        (c) only the thread itself  (o) set once  (a) atomic
 */
#ifndef SYS_PROCESS_H
#define SYS_PROCESS_H

#include "fs/vfs.h"
#include "kernel/rcu.h"
#include "kernel/softirq.h"
#include "kernel/time.h"
#include "mm/vm/aspace.h"
#include "sched/wait.h"
#include "sys/signal.h"

struct files;
struct tty;
struct task;
struct posix_timer;

enum {
	RLIMIT_CPU,
	RLIMIT_FSIZE,
	RLIMIT_DATA,
	RLIMIT_STACK,
	RLIMIT_CORE,
	RLIMIT_RSS,
	RLIMIT_NPROC,
	RLIMIT_NOFILE,
	RLIMIT_MEMLOCK,
	RLIMIT_AS,
	RLIMIT_LOCKS,
	RLIMIT_SIGPENDING,
	RLIMIT_MSGQUEUE,
	RLIMIT_NICE,
	RLIMIT_RTPRIO,
	RLIMIT_RTTIME,
	RLIM_NLIMITS
};
#define RLIM_INFINITY (~0ul)
struct rlimit {
	u64 cur, max;
};

struct cred { /* of a process; sets are rare and single-threaded enough to be plain fields */
	u32 uid, euid, suid, fsuid;
	u32 gid, egid, sgid, fsgid;
	u32 nr_groups;
	u32 groups[32];
};

struct process_times {
	u64 utime_ns, stime_ns, min_flt, maj_flt, nvcsw, nivcsw;
	u64 read_bytes, write_bytes; /* of devices */
	unsigned long maxrss;	     /* pages */
};

/* proc->flags */
#define PF_ZOMBIE BIT(0)     /* every thread is gone; waits to be reaped (t) */
#define PF_EXECED BIT(1)     /* exec since fork: the parent may not setpgid it (t) */
#define PF_LEADER BIT(2)     /* its pid may be in use as a group or session id (t) */
#define PF_GROUP_EXIT BIT(3) /* exit_group or fatal signal: exit_code is decided (s) */
#define PF_UNKILLABLE BIT(4) /* PID 1: signals without a handler do nothing */
#define PF_SESSION_LEADER BIT(5)
#define PF_REAPED BIT(6)      /* struct kept only because its pid is still a group id (t) */
#define PF_CONTINUED BIT(7)   /* CLD_CONTINUED to be reported to wait (s) */
#define PF_STOP_REPORT BIT(8) /* CLD_STOPPED to be reported to wait (s) */
#define PF_STOPPED BIT(9)     /* all threads stopped (s) */
#define PF_SUBREAPER BIT(10)
#define PF_OOM_KILLED BIT(11)

struct process {
	pid_t pid; /* (o) tgid */
	atomic_t refs;
	u32 flags;			    /* PF_* */
	int exit_signal;		    /* (o) sent to the parent at the end; 0 none */
	pid_t pgid, sid;		    /* (t) */
	struct process *parent;		    /* (t) */
	struct list_head children, sibling; /* (t) */
	struct list_head all_node;	    /* (t) in order of creation; RCU for readers */
	struct hlist_node pid_node;	    /* (t) RCU */
	struct wait_queue child_wait;	    /* parent waits here for its children */

	spinlock_t lock;	  /* RANK_SIGHAND */
	struct list_head threads; /* (s) task->thread_node */
	u32 nr_threads;		  /* (s) live ones */
	/* (t) first thread, NULL after it was reaped with the process */
	struct task *leader;
	int exit_code;			 /* wait status */
	struct sigactions *actions;	 /* (s) shared copy-on-write with relatives */
	struct sigpending pending;	 /* (s) sent to the process */
	struct wait_queue signalfd_wait; /* signalfd readers and pollers */
	u32 stop_wanted;		 /* (s) threads that still must stop, see signal_stop.c */
	int stop_signal;		 /* (s) non-zero: a group stop is going on or in force */
	bool tell_continued;		 /* (s) the next thread to look tells the parent */
	struct task *exec_task;		 /* (s) de_thread: waits until it is alone */
	struct completion *vfork_done;	 /* parent waits for exec or exit */

	struct cred cred;
	struct rlimit rlim[RLIM_NLIMITS];
	struct tty *tty; /* (t) controlling terminal */
	u64 start_ns;
	struct process_times dead_threads, dead_children;     /* (s), (t) */
	u64 read_chars, write_chars, read_calls, write_calls; /* /proc/PID/io; approximate */
	/* interval timers */
	struct timer real_timer; /* ITIMER_REAL (s) */
	u64 real_interval_ns;
	struct {
		u64 expires_ns, interval_ns; /* of cpu time; 0 off (s) */
	} cpu_itimer[2];		     /* ITIMER_VIRTUAL, ITIMER_PROF */
	struct timer cpu_timer;	       /* looks at cpu_itimer and RLIMIT_CPU when they may be due */
	struct list_head posix_timers; /* (s) */
	int next_timer_id;
	u32 nr_posix_timers; /* (s) bounded by RLIMIT_SIGPENDING */
	int oom_score_adj;
	long oom_family; /* (t) while a victim is chosen: claims of its clones */
	u32 personality;
	bool dumpable, keepcaps, no_new_privs, oom_claimed;
	char comm[16]; /* the leader's, kept for zombies */
	struct rcu_head rcu;
};

struct restart_block {
	long (*fn)(struct restart_block *rb);
	u64 arg[5];
};

struct task {
	struct thread thread;	      /* first: current is one */
	struct process *proc;	      /* (o) same as thread.proc */
	struct list_head thread_node; /* (s) proc->threads */
	struct hlist_node tid_node;   /* (t) RCU */
	struct files *files;	      /* (c); others under task_files_get */
	struct fs_context *fs;	      /* (c) */
	sigset_t blocked;	      /* (s) written by the thread itself */
	sigset_t saved_mask;	      /* sigsuspend, ppoll: mask to restore (c) */
	bool restore_mask;
	bool exiting;		    /* (s) */
	bool stopped, stop_pending; /* (s) group stop */
	bool in_vfork;
	int pdeath_signal;
	struct sigpending pending; /* (s) sent to this thread */
	sigset_t wait_set;	   /* (s) sigtimedwait: signals it sleeps for */
	u64 sas_sp, sas_size;	   /* sigaltstack (c) */
	u32 sas_flags;
	struct restart_block restart;
	u64 clear_child_tid, set_child_tid; /* user addresses (c) */
	u64 robust_list;
	size_t robust_len;
	struct completion *vfork_done; /* of the parent that waits for this child (c) */
	void (*first_run)(struct task *task, struct pt_regs *regs); /* PID 1: before user mode */
	u64 timer_slack_ns;
	u32 ioprio;
	u64 trap_nr, trap_error, trap_addr; /* last exception, for signal frames (c) */
	bool as_kernel;			    /* file system rights of the kernel for a moment (c) */
};

/*
 * proc->lock: timers send signals from softirqs, so these stay off; interrupts stay on (thread
 * lists may be long).
 */
static inline void proc_lock(struct process *p)
{
	softirq_disable();
	spin_lock(&p->lock);
}
static inline void proc_unlock(struct process *p)
{
	spin_unlock(&p->lock);
	softirq_enable();
}

static inline struct task *current_task(void)
{
	return (struct task *)current;
}
#define current_proc (current->proc)

extern spinlock_t proc_tree_lock; /* RANK_FILES: before any proc->lock; IRQs stay on */
extern struct list_head proc_list;
extern struct process *init_process; /* PID 1 */

/*
 * Lookup. => _get forms return a reference or NULL; the plain one needs rcu_read_lock or
 * proc_tree_lock.
 */
struct process *proc_find(pid_t pid);
struct process *proc_get(pid_t pid);
struct task *task_find(pid_t tid); /* => rcu_read_lock or proc_tree_lock; any live thread */
struct task *task_get(pid_t tid);  /* thread_put(&task->thread) */
void proc_put(struct process *p);
/* The address space of a process with a reference (aspace_put), NULL when it has none any more. */
struct aspace *proc_get_mm(struct process *p);
/* Its file table / fs_context with a reference (files_put, fs_put), or NULL. */
struct files *proc_get_files(struct process *p);
struct fs_context *proc_get_fs(struct process *p);
u32 proc_nr_threads_total(void);
extern long threads_max; /* /proc/sys/kernel/threads-max: clone gives -EAGAIN from there on */

/* fork.c */
#define CLONE_VM 0x100ul
#define CLONE_FS 0x200ul
#define CLONE_FILES 0x400ul
#define CLONE_SIGHAND 0x800ul
#define CLONE_PTRACE 0x2000ul
#define CLONE_VFORK 0x4000ul
#define CLONE_PARENT 0x8000ul
#define CLONE_THREAD 0x10000ul
#define CLONE_NEWNS 0x20000ul
#define CLONE_SYSVSEM 0x40000ul
#define CLONE_SETTLS 0x80000ul
#define CLONE_PARENT_SETTID 0x100000ul
#define CLONE_CHILD_CLEARTID 0x200000ul
#define CLONE_DETACHED 0x400000ul
#define CLONE_UNTRACED 0x800000ul
#define CLONE_CHILD_SETTID 0x1000000ul
#define CLONE_NEW_ANY 0x7e020080ul /* namespaces: not supported */
#define CLONE_IO 0x80000000ul
struct clone_args {
	u64 flags; /* without the exit signal */
	int exit_signal;
	u64 stack, tls, parent_tid, child_tid;
};
long do_clone(const struct clone_args *args);
/*
 * Wires task into its process and family; sibling: as a child of the caller's parent, not of the
 * caller.
 * => tree lock not held; 0 or -ERESTARTNOINTR when a signal came or the process is ending
 */
int task_launch(struct task *task, struct process *p, bool sibling);
struct fs_context *fs_copy(struct fs_context *old);
void fs_put(struct fs_context *fs);

/* exit.c */
/* zombie: off every table; then process_reaped(p) without the lock */
void process_reap_locked(struct process *p);
void process_reaped(struct process *p);
extern atomic_t nr_stopped_processes;
__noreturn void do_exit(int code);	 /* this thread; code is a wait status */
__noreturn void do_group_exit(int code); /* the whole process */
void task_mm_release(struct task *task); /* exec and exit: CLEARTID, robust list, vfork */

/* exec.c: from kernel pointers (PID 1). 0: arch_user_regs() is set. */
int exec_kernel(const char *path, const char *const *argv, const char *const *envp);

/* Totals of a process, dead threads included. => takes proc->lock */
void proc_times(struct process *p, struct process_times *out);
u64 proc_cputime_ns(struct process *p);
/* => proc->lock or the thread itself */
void task_times_add(struct task *t, struct process_times *sum);
int rusage_to_user(u64 user, const struct process_times *t);
unsigned long mm_maxrss(struct aspace *mm); /* pages */

/* Tables and groups (process.c). => the _locked ones hold proc_tree_lock */
struct process *process_alloc(void);		/* refs 1, zeroed, lists and locks ready; NULL */
struct task *task_alloc(int node);		/* with a kernel stack; NULL */
void task_discard(struct task *task);		/* never started */
void process_publish_locked(struct process *p); /* visible to lookups */
void task_publish_locked(struct task *task);
void task_unpublish_locked(struct task *task);
/* reaped: pid given back unless still a group id */
void process_unpublish_locked(struct process *p);
bool pgrp_exists_locked(pid_t pgid, pid_t sid); /* sid 0: any session */
bool pgrp_orphaned_locked(pid_t pgid, const struct process *without);
void pgrp_left_locked(void); /* a process changed or left its group */
/* Next process in order of pid >= pid, referenced, or NULL. */
struct process *proc_next(pid_t pid);
/* Next thread of p with tid >= tid, referenced, or NULL. */
struct task *proc_next_task(struct process *p, pid_t tid);
u32 proc_count(void);
void process_init(void);
#endif
