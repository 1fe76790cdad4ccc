/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rcu.h - readers that take no lock: a reader runs with preemption off; an object is freed only
 * after every CPU has passed a quiescent state (context switch, idle, user mode) since it was
 * unlinked.
 */
#ifndef KERNEL_RCU_H
#define KERNEL_RCU_H

#include "arch/atomic.h"
#include "kernel/preempt.h"

struct rcu_head {
	struct rcu_head *next;
	void (*fn)(struct rcu_head *head);
};

static __always_inline void rcu_read_lock(void)
{
	preempt_disable();
}
static __always_inline void rcu_read_unlock(void)
{
	preempt_enable();
}
#define rcu_dereference(p) READ_ONCE(p)
#define rcu_assign_pointer(p, v) smp_store_release(&(p), v)

/*
 * fn(head) runs in softirq context after a grace period, in batches of at most 32. => any context.
 */
void rcu_call(struct rcu_head *head, void (*fn)(struct rcu_head *head));
/* Reported by sched (switch, idle entry) and the tick (user mode). => preemption off. */
void rcu_note_quiescent(void);
/* Tick: anything for RCU to do on this CPU? Idle uses it to keep grace periods going. */
bool rcu_needs_cpu(void);
void rcu_tick(bool user);
/*
 * The idle loop around arch_idle(): a CPU in between is asked by a reschedule interrupt to report.
 * => IRQs off.
 */
void rcu_idle_enter(void);
void rcu_idle_exit(void);
u64 rcu_grace_periods(void);
void rcu_init(void); /* by time_init() */
/* sched/rcu_sync.c: waits for a grace period / for all callbacks so far. => may sleep. */
void synchronize_rcu(void);
void rcu_barrier(void);

#endif
