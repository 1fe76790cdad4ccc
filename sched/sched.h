/* SPDX-License-Identifier: BSD-2-Clause */
/* sched.h - the scheduler's front door. */
#ifndef SCHED_SCHED_H
#define SCHED_SCHED_H

#include "kernel/time.h"
#include "sched/thread.h"

/*
 * Boot order: sched_init() on the boot CPU makes the running code its idle thread; sched_init_cpu()
 * on each other CPU.
 */
void sched_init(void);
void sched_init_cpu(u32 cpu, struct thread *idle);
__noreturn void sched_idle_loop(void);
/*
 * How many wait for something outside the machine while its clock counts instructions and skips
 * idle time (a disk on the host): while there is one, an idle CPU runs instead of sleeping, else
 * the clock would jump to the next timer before the host has answered.
 */
extern atomic_t sched_outside;

/*
 * Threads of the scheduler's own: ksoftirqd on every CPU. => after kthread_create works; once. 0 or
 * -ENOMEM.
 */
int sched_start_daemons(void);

/*
 * t: zeroed memory. Sets defaults from parent (NULL: a kernel thread's). => the caller then sets
 * tid, tgid, arch state, mm, release, and starts it. One reference is the thread's own; it goes
 * with thread_exit().
 */
void thread_init(struct thread *t, struct thread *parent, const char *comm, void *stack);
/* Puts a new thread (state THREAD_NEW) on the list of threads and on a run queue. */
void thread_start(struct thread *t);
/* The last thing a thread does. t->release(t) runs after it is off its stack. => never returns. */
__noreturn void thread_exit(void);
static inline void thread_get(struct thread *t)
{
	atomic_inc(&t->refs);
}
void thread_put(struct thread *t); /* last reference: t->release after a grace period */

/* Gives the CPU away; returns when scheduled again. => may sleep (asserts no spinlock is held). */
void schedule(void);
/* cond_resched(): a voluntary preemption point, one branch; returns whether it switched. */
bool __cond_resched(void);
static inline bool cond_resched(void)
{
	return unlikely(need_resched()) && __cond_resched();
}
void sched_yield(void);
/* Sets own state before testing the wake condition: full barrier included. */
#define thread_set_state(s) xchg(&current->state, (u32)(s))
/* STOPPED and the like: a late wake-up of an earlier sleep cannot undo it. */
void thread_set_special_state(u32 state);
/*
 * Wakes t if its state is in mask. => any context; true when it was asleep. Wake-ups of many:
 * collect in a wake_q, then wake_q_run (bounded sections).
 */
bool thread_wake(struct thread *t, u32 mask);
#define THREAD_ASLEEP (THREAD_INTERRUPTIBLE | THREAD_UNINTERRUPTIBLE | THREAD_KILLABLE)
static inline bool wake_up_thread(struct thread *t)
{
	return thread_wake(t, THREAD_ASLEEP);
}
struct wake_q {
	struct thread *first, **last;
};
#define WAKE_Q(name) struct wake_q name = { NULL, &name.first }
void wake_q_add(struct wake_q *q, struct thread *t); /* takes a reference */
void wake_q_run(struct wake_q *q);
/* Makes a running thread enter the kernel soon (signals). => any context */
void thread_kick(struct thread *t);

/*
 * Sleep at most until the absolute time; state must be set. Returns the time left (0: timed out).
 */
s64 schedule_until(ktime_t deadline);
/* ns relative; KTIME_MAX = for ever. Returns ns left. */
s64 schedule_timeout(s64 ns);
void sleep_ns(s64 ns); /* uninterruptible */

/*
 * sys/ sets it: is there a signal (mask fatal only) for the current thread? Interruptible sleeps
 * ask it.
 */
extern bool (*signal_pending_hook)(struct thread *t, bool fatal_only);
/*
 * drivers/blk sets it: the running thread, which has a plug, is about to sleep. => its state is set
 * already; may not sleep
 */
extern void (*plug_flush_hook)(void);
bool signal_pending(void);
bool fatal_signal_pending(void);
/*
 * sys/mm set these. mm_switch_hook: a switch to a different address space (prev NULL: none was
 * loaded yet) with IRQs off. Kernel threads run on whatever tables are loaded (lazy TLB) and hold
 * that aspace by mm_grab_hook; mm_drop_hook gives it back after the switch, IRQs on, preemption
 * off, may not sleep.
 */
extern void (*mm_switch_hook)(struct aspace *prev, struct aspace *next);
extern void (*mm_grab_hook)(struct aspace *mm);
extern void (*mm_drop_hook)(struct aspace *mm);
/*
 * The current thread changes to mm (exec), or gives its address space up (NULL: exit; the tables
 * stay loaded, held by a grab). => thread context; the thread's own reference to the old aspace
 * stays the caller's to drop.
 */
void sched_use_mm(struct aspace *mm);

/* Policies. 0, -EINVAL, -ESRCH. */
int sched_set_policy(struct thread *t, u32 policy, u32 rt_prio, int nice);
void sched_set_nice(struct thread *t, int nice);
/* migrates; -EINVAL when no online CPU is in it */
int sched_set_affinity(struct thread *t, cpumask_t mask);
u64 sched_rr_interval_ns(struct thread *t);
u64 thread_runtime_ns(struct thread *t); /* exact now, running or not */
/* utime + stime of the thread, from the tick and from entry points */
void thread_cputime(struct thread *t, u64 *utime_ns, u64 *stime_ns);

/* Statistics for /proc/stat, loadavg. */
struct cpu_times {
	u64 user_ns, nice_ns, system_ns, idle_ns, iowait_ns, irq_ns, softirq_ns;
};
void sched_cpu_times(u32 cpu, struct cpu_times *out);
u64 sched_nr_switches(void);
u32 sched_nr_running(void);
u32 sched_nr_iowait(void);
u64 sched_nr_forks(void);
void sched_loadavg(unsigned long out[3]); /* fixed point, 11 bits */
/* Marks the current thread as waiting for I/O in its next sleep. */
void io_schedule(void);

/* All threads, kernel and user: RCU-protected list. */
extern struct list_head thread_list;
extern spinlock_t thread_list_lock;
struct thread *thread_find(pid_t tid); /* => under rcu_read_lock; NULL when absent */
pid_t tid_alloc(void);		       /* next free tid, -EAGAIN when pid_max is reached */
void tid_free(pid_t tid);

/*
 * Preemption model: preempt=none|voluntary|full. none: kernel code is switched away from at
 * cond_resched() only;
 * voluntary: also wherever it might sleep anyway; full: whenever the preemption count allows.
 */
enum preempt_mode { PREEMPT_NONE, PREEMPT_VOLUNTARY, PREEMPT_FULL };
extern enum preempt_mode preempt_mode;
#ifdef QUIRE_DEBUG
/* panics with a spinlock held, in interrupt context, or with interrupts off */
void might_sleep_check(void);
#else
#define might_sleep_check() ((void)0)
#endif
/* Stands at the head of everything that may sleep. */
static inline void might_sleep(void)
{
	might_sleep_check();
	if (unlikely(need_resched()) && preempt_mode != PREEMPT_NONE)
		__cond_resched();
}
/* Debug builds: order of the sleeping locks of the current thread (spinlocks have lock_debug_*). */
#ifdef QUIRE_DEBUG
void sleep_lock_acquire(u32 rank, const char *name);
void sleep_lock_release(u32 rank);
#else
#define sleep_lock_acquire(rank, name) ((void)0)
#define sleep_lock_release(rank) ((void)0)
#endif
/* Interrupt exit to kernel code with IRQs off: switches when full preemption allows. */
void preempt_schedule_irq(void);

/*
 * Two kernel threads wake each other rounds times: ns (virtual clock: instructions) per switch,
 * wake-up included.
 */
u64 sched_bench_switch(u32 rounds);

#endif
