/* SPDX-License-Identifier: BSD-2-Clause */
/* signal.h - signals: numbers, kernel form of siginfo, sending and receiving. */
#ifndef SYS_SIGNAL_H
#define SYS_SIGNAL_H

#include "arch/regs.h"
#include "kernel/spinlock.h"
#include "lib/list.h"

#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGSTKFLT 16
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGURG 23
#define SIGXCPU 24
#define SIGXFSZ 25
#define SIGVTALRM 26
#define SIGPROF 27
#define SIGWINCH 28
#define SIGIO 29
#define SIGPWR 30
#define SIGSYS 31
#define SIGRTMIN 32
#define NSIG 64

typedef u64 sigset_t; /* bit n-1 = signal n */
#define sigmask(n) (1ull << ((n)-1))
#define SIG_UNBLOCKABLE (sigmask(SIGKILL) | sigmask(SIGSTOP))
#define SIG_STOP_SET (sigmask(SIGSTOP) | sigmask(SIGTSTP) | sigmask(SIGTTIN) | sigmask(SIGTTOU))
#define SIG_IGNORED_SET (sigmask(SIGCONT) | sigmask(SIGCHLD) | sigmask(SIGWINCH) | sigmask(SIGURG))
#define SIG_SYNC_SET                                                                               \
	(sigmask(SIGSEGV) | sigmask(SIGBUS) | sigmask(SIGILL) | sigmask(SIGTRAP) |                 \
	 sigmask(SIGFPE) | sigmask(SIGSYS))
#define SIG_CORE_SET                                                                               \
	(SIG_SYNC_SET | sigmask(SIGQUIT) | sigmask(SIGABRT) | sigmask(SIGXCPU) | sigmask(SIGXFSZ))

#define SI_USER 0
#define SI_KERNEL 0x80
#define SI_QUEUE (-1)
#define SI_TIMER (-2)
#define SI_TKILL (-6)
#define CLD_EXITED 1
#define CLD_KILLED 2
#define CLD_DUMPED 3
#define CLD_STOPPED 5
#define CLD_CONTINUED 6
#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define BUS_ADRERR 2

#define SA_NOCLDSTOP 1ul
#define SA_NOCLDWAIT 2ul
#define SA_SIGINFO 4ul
#define SA_RESTORER 0x04000000ul
#define SA_ONSTACK 0x08000000ul
#define SA_RESTART 0x10000000ul
#define SA_NODEFER 0x40000000ul
#define SA_RESETHAND 0x80000000ul
#define SIG_DFL 0ul
#define SIG_IGN 1ul

struct ksigaction { /* as rt_sigaction passes it */
	u64 handler, flags, restorer;
	sigset_t mask;
};
struct sigactions { /* shared copy-on-write between relatives; writers own it alone */
	atomic_t refs;
	sigset_t caught;  /* signals with a handler */
	sigset_t ignored; /* SIG_IGN */
	struct ksigaction action[NSIG];
};

struct ksiginfo { /* kernel form; the 128-byte form is made when it goes to user mode */
	int signo, error, code;
	pid_t pid;	  /* sender or child; timer id for SI_TIMER */
	u32 uid;	  /* sender; overrun count for SI_TIMER */
	int status;	  /* SIGCHLD */
	u64 value;	  /* sigqueue/timer value, or fault address, or band */
	u64 utime, stime; /* SIGCHLD, in clock ticks */
};
struct sigqueue {
	struct list_head node;
	struct ksiginfo info;
	void *owner; /* a POSIX timer that embeds it (not freed here) */
};
struct sigpending {
	sigset_t set;
	u32 nr; /* entries in queue, bounded by RLIMIT_SIGPENDING */
	struct list_head queue;
};

struct process;
struct task;

/*
 * Sending. info NULL: SI_KERNEL. => any context (thread context with IRQs on or softirq); p and
 * task referenced by the caller or RCU. 0, -EAGAIN (queue limit, real-time signals from sigqueue
 * only).
 */
int signal_send_process(struct process *p, int sig, const struct ksiginfo *info);
int signal_send_task(struct task *t, int sig, const struct ksiginfo *info);
/* The current thread, not to be blocked or ignored away (faults). */
void signal_force(int sig, int code, u64 addr);
/*
 * Puts a preallocated entry (a timer's) on the queue. => p->lock; false: it is still queued or the
 * signal is ignored
 */
bool signal_send_queued_locked(struct process *p, struct task *t, struct sigqueue *q);
/* Every process of a group. => thread context; 0 or -ESRCH */
int signal_send_pgrp(pid_t pgid, int sig, const struct ksiginfo *info);
/* Same with proc_tree_lock held. */
int signal_send_pgrp_locked(pid_t pgid, int sig, const struct ksiginfo *info);
void signal_kill_process(struct process *p); /* SIGKILL, whoever it is (OOM) */

/* Parts used across sys/. */
/* => proc->lock; sets or clears USER_WORK_SIGNAL of the current */
void signal_recalc(struct task *t);
void signal_set_blocked(sigset_t mask); /* the current thread's mask */
/* => proc->lock; signal or 0 */
int signal_dequeue(struct task *t, sigset_t mask, struct ksiginfo *info);
void signal_wake(struct task *t, bool fatal);			 /* => proc->lock */
void signal_remove_everywhere(struct process *p, sigset_t mask); /* => p->lock */
void signal_force_info(const struct ksiginfo *info);
int signal_mask_arg(u64 user, u64 size, sigset_t *mask); /* 0, -EINVAL, -EFAULT */
extern const struct trap_ops sys_trap_ops;
/* an entry was taken out by hand: is the bit still right? */
void signal_fix_set(struct sigpending *pend, int sig);
void signal_flush(struct sigpending *p);			 /* frees queue */
void signal_copy_info(void *to128, const struct ksiginfo *info); /* 128-byte user form */
struct sigactions *sigactions_share(struct process *p);		 /* fork */
/* Takes p->lock with p->actions owned by p alone. 0 or -ENOMEM (lock not taken). */
int sigactions_lock_own(struct process *p);
void sigactions_put(struct sigactions *a);
int signal_exec_reset(struct process *p);	  /* exec: handlers to default; 0 or -ENOMEM */
void signal_return_to_user(struct pt_regs *regs); /* trap_ops->user_return */
int signal_setup_frame(struct pt_regs *regs, const struct ksigaction *act,
		       const struct ksiginfo *info, sigset_t mask);
bool signal_is_ignored(struct process *p, int sig); /* => proc->lock */
/* ppoll, pselect, epoll_pwait, sigsuspend: temporary mask; put back at the return to user mode. */
void signal_set_temporary_mask(sigset_t mask);
void signal_end_temporary_mask(bool interrupted); /* not interrupted: put it back now */
void signal_exit_task(struct task *t); /* the current thread: takes no signals any more */
extern struct sigactions initial_actions;
void signal_init(void);

#endif
