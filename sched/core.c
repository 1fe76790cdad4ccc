/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core.c - the mechanism: who runs, how one thread gives way to the next, how a sleeper comes back.
 *
 * Problem: one CPU, many threads, and wake-ups from anywhere. Idea: every CPU has a run queue with
 * a lock; a policy (class.h) says which of its threads is next; this file does the rest, with one
 * reading of the clock per schedule().
 *
 *      thread_wake          __schedule: pick            __schedule: state != RUNNING
 *   asleep ------> queued <----------------> running ------------------------------> asleep
 *   (on_rq 0)      (on_rq 1)                 (on_rq 1, on_cpu 1)
 *
 * Invariants:
 *  - A thread belongs to the queue of t->cpu even when it sleeps; t->cpu changes only with that
 *    queue's lock held.
 *  - The queue's lock is held from before prev leaves the queue until prev is off its stack
 *    (finish_switch, run by the
 *    next thread). So whoever holds the lock of t->cpu and finds on_rq == 0 knows that t is
 *    entirely off the CPU, and a waker needs neither a second lock nor a wait for on_cpu.
 *  - Sleeping is: set the state (full barrier), test the condition, schedule(). Waking is: make the
 *    condition true, full
 *    barrier, look at the state. One of the two always sees the other.
 *  - A state other than RUNNING with a wake-up under way cannot be lost: the waker changes it with
 *    the queue locked, and
 *    __schedule() looks at it with the queue locked. DEAD and STOPPED are set with the lock held,
 *    so that a late waker of an earlier sleep cannot undo them.
 *  - A switch always happens at preemption count 0: the count needs no saving.
 *  - on_rq == 2: between two queues; the one who moves the thread owns it, others only change its
 *    fields.
 * Locking: run queue locks nest in order of CPU numbers (subclass); nothing is taken inside but
 * RANK_TIMER and below.
 */
#include "sched/autogroup.h"
#include "sched/internal.h"
#include "kernel/event.h"
#include "kernel/param.h"
#include "kernel/rcu.h"
#include "kernel/softirq.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "trace/wakeup.h"

DEFINE_PER_CPU(struct thread *, current_thread);
DEFINE_PER_CPU_ALIGNED(struct rq, runqueues);

/* Names, fields and text as Linux has them: its programs read our traces. */
DEFINE_EVENT(sched, sched_switch,
	     "prev_comm=%s prev_pid=%ld prev_prio=%ld prev_state=%s ==> next_comm=%s next_pid=%ld "
	     "next_prio=%ld",
	     "prev_comm[16]", "prev_pid", "prev_prio", "prev_state", "next_comm[16]", "next_pid",
	     "next_prio");
#define WAKEUP_FMT "comm=%s pid=%ld prio=%ld target_cpu=%03ld"
#define WAKEUP_FIELDS "comm[16]", "pid", "prio", "target_cpu"
DEFINE_EVENT(sched, sched_waking, WAKEUP_FMT, WAKEUP_FIELDS);
DEFINE_EVENT(sched, sched_wakeup, WAKEUP_FMT, WAKEUP_FIELDS);
DEFINE_EVENT(sched, sched_wakeup_new, WAKEUP_FMT, WAKEUP_FIELDS);
DEFINE_EVENT(sched, sched_migrate_task, "comm=%s pid=%ld prio=%ld orig_cpu=%ld dest_cpu=%ld",
	     "comm[16]", "pid", "prio", "orig_cpu", "dest_cpu");

/* Linux's numbers: 0..98 real time, 100..139 fair. */
static s64 shown_prio(const struct thread *t)
{
	int level = thread_level_eff(t);

	return level > LEVEL_RT ? 99 - (level - LEVEL_RT) : level < 0 ? 139 : 139 - level;
}

static u32 put_comm(u64 *args, const struct thread *t)
{
	char idle[16];

	snprintf(idle, sizeof(idle), "swapper/%u", t->cpu);
	event_text(args, 2, t->tid ? t->comm : idle);
	return 2;
}

static const char *state_letter(const struct thread *t)
{
	return t->on_rq && t->state != THREAD_DEAD ? "R"
	       : t->state & THREAD_INTERRUPTIBLE   ? "S"
	       : t->state & THREAD_STOPPED	   ? "T"
	       : t->state & THREAD_DEAD		   ? "X"
	       : t->state & THREAD_ASLEEP	   ? "D"
						   : "R";
}

/* Out of the hot paths: the record's array on the stack costs registers. */
static void trace_switch(struct thread *prev, struct thread *next)
{
	u64 args[14];
	u32 n = put_comm(args, prev);

	args[n++] = prev->tid;
	args[n++] = shown_prio(prev);
	args[n++] = (u64)state_letter(prev);
	n += put_comm(args + n, next);
	args[n++] = next->tid;
	args[n] = shown_prio(next);
	event_record(&event_sched_switch, args);
}
static noinline void trace_wakeup(struct trace_event_def *event, struct thread *t, u32 cpu)
{
	u64 args[14];
	u32 n = put_comm(args, t);

	args[n++] = t->tid;
	args[n++] = shown_prio(t);
	args[n] = cpu;
	event_record(event, args);
}
static noinline void trace_migrate(struct thread *t, u32 from, u32 to)
{
	u64 args[14];
	u32 n = put_comm(args, t);

	if (unlikely(wakeup_tracing) && t->on_rq == 1)
		wakeup_move(t, from, to);
	if (!event_sched_migrate_task.enabled)
		return;
	args[n++] = t->tid;
	args[n++] = shown_prio(t);
	args[n++] = from;
	args[n] = to;
	event_record(&event_sched_migrate_task, args);
}

/*
 * One flag for all that looks at wake-ups and switches, so that each costs one test when nobody
 * does; what is behind it tests again.
 */
static bool sched_traced;

static void traced_changed(void)
{
	WRITE_ONCE(sched_traced, event_sched_switch.enabled || event_sched_waking.enabled ||
					 event_sched_wakeup.enabled ||
					 event_sched_wakeup_new.enabled || wakeup_tracing);
}

void sched_trace_init(void)
{
	sched_trace_changed = traced_changed;
	traced_changed();
}

/* ---- the wake-up tracers (trace/wakeup.h) ---------------------------------------------------- */

static struct wake_thread wake_thread(const struct thread *t)
{
	return (struct wake_thread){ .who = t,
				     .tid = t->tid,
				     .policy = t->policy,
				     .prio = (s32)shown_prio(t),
				     .comm = t->comm,
				     .class = t->sclass->rank == 2 ? WAKE_RT : WAKE_FAIR };
}

static void watch_wakeup(struct rq *rq, struct thread *t)
{
	struct wake_thread woken = wake_thread(t), curr = wake_thread(rq->curr);

	t->woken_ns = wakeup_begin(rq->cpu, rq->clock, &woken, &curr);
}

/* t is queued on rq after a sleep. */
static noinline void trace_woken(struct rq *rq, struct thread *t)
{
	if (event_sched_waking.enabled)
		trace_wakeup(&event_sched_waking, t, rq->cpu);
	if (event_sched_wakeup.enabled)
		trace_wakeup(&event_sched_wakeup, t, rq->cpu);
	if (wakeup_tracing)
		watch_wakeup(rq, t);
}

static void watch_switch(struct rq *rq, struct thread *prev, struct thread *next,
			 unsigned long caller)
{
	struct wake_thread from = wake_thread(prev), to = wake_thread(next);

	wakeup_switch(rq->clock, &from, &to, next->woken_ns, caller);
	next->woken_ns = 0;
}

static noinline void trace_switching(struct rq *rq, struct thread *prev, struct thread *next)
{
	if (event_sched_switch.enabled)
		trace_switch(prev, next);
	if (wakeup_tracing)
		watch_switch(rq, prev, next, (unsigned long)__builtin_return_address(0));
}

enum preempt_mode preempt_mode = PREEMPT_VOLUNTARY;
u64 sched_cpus, sched_idle_cpus, sched_busy_cpus;

static void mm_none(struct aspace *mm) {}
static void mm_switch_none(struct aspace *prev, struct aspace *next) {}
void (*mm_switch_hook)(struct aspace *prev, struct aspace *next) = mm_switch_none;
void (*mm_grab_hook)(struct aspace *mm) = mm_none;
void (*mm_drop_hook)(struct aspace *mm) = mm_none;
bool (*signal_pending_hook)(struct thread *t, bool fatal_only);
void (*plug_flush_hook)(void);

static int preempt_param(const char *text)
{
	static const char *const names[] = { "none", "voluntary", "full" };

	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(text, names[i])) {
			preempt_mode = i;
			return 0;
		}
	}
	return -EINVAL;
}
BOOT_PARAM_FUNC("preempt", preempt_param, "preemption of kernel code: none, voluntary or full");

/* ---- queue operations ------------------------------------------------------------------------ */

static __always_inline void update_curr(struct rq *rq)
{
	struct thread *t = rq->curr;
	u64 delta;

	rq_update_clock(rq);
	delta = rq->clock - t->exec_start_ns;
	if (unlikely((s64)delta <= 0))
		return;
	t->exec_start_ns = rq->clock;
	t->sum_exec_ns += delta;
	if (unlikely(t->sclass->update(rq, t, delta)) && rq->nr_running > 1)
		rq_resched(rq);
}

void rq_update_curr(struct rq *rq)
{
	update_curr(rq);
}

void rq_resched(struct rq *rq)
{
	struct thread *t = rq->curr;

	if (t->arch.user_work & USER_WORK_RESCHED)
		return;
	__atomic_fetch_or(&t->arch.user_work, USER_WORK_RESCHED, __ATOMIC_SEQ_CST);
	if (rq->cpu == smp_processor_id())
		set_need_resched_local();
	else
		smp_send_reschedule(rq->cpu);
}

/*
 * The hints. A CPU stops to count as idle when something is queued on it, not when it gets round to
 * run it: else the next one to be placed would go there as well.
 */
static void hint_more(struct rq *rq)
{
	if (rq->nr_running == 2)
		__atomic_fetch_or(&sched_busy_cpus, CPU_BIT(rq->cpu), __ATOMIC_RELAXED);
	else if (READ_ONCE(sched_idle_cpus) & CPU_BIT(rq->cpu))
		__atomic_fetch_and(&sched_idle_cpus, ~CPU_BIT(rq->cpu), __ATOMIC_RELAXED);
}

static void hint_idle(struct rq *rq)
{
	if (!(READ_ONCE(sched_idle_cpus) & CPU_BIT(rq->cpu)))
		__atomic_fetch_or(&sched_idle_cpus, CPU_BIT(rq->cpu), __ATOMIC_RELAXED);
}

static __always_inline void activate(struct rq *rq, struct thread *t, enum enqueue_how how)
{
	t->on_rq = 1;
	t->wait_start_ns = rq->clock;
	t->sclass->enqueue(rq, t, how);
	if (++rq->nr_running > 2)
		return;
	if (rq->nr_running == 2)
		rq->psi_cpu_ns -= rq->clock;
	if (nr_cpus > 1)
		hint_more(rq);
}

static __always_inline void deactivate(struct rq *rq, struct thread *t)
{
	t->on_rq = 0;
	t->sclass->dequeue(rq, t);
	if (--rq->nr_running != 1)
		return;
	rq->psi_cpu_ns += rq->clock;
	if (nr_cpus > 1)
		__atomic_fetch_and(&sched_busy_cpus, ~CPU_BIT(rq->cpu), __ATOMIC_RELAXED);
}

void rq_activate(struct rq *rq, struct thread *t, enum enqueue_how how)
{
	activate(rq, t, how);
}

void rq_deactivate(struct rq *rq, struct thread *t)
{
	deactivate(rq, t);
}

static __always_inline void check_preempt(struct rq *rq, struct thread *t)
{
	const struct sched_class *mine = rq->curr->sclass;

	if (t->sclass == mine ? mine->preempts(rq, t) : t->sclass->rank > mine->rank)
		rq_resched(rq);
}

void rq_check_preempt(struct rq *rq, struct thread *t)
{
	check_preempt(rq, t);
}

void rq_move(struct rq *src, struct rq *dst, struct thread *t)
{
	trace_migrate(t, src->cpu, dst->cpu);
	deactivate(src, t);
	if (unlikely(t->in_memstall)) {
		psi_mem_change(src, -1);
		psi_mem_change(dst, 1);
	}
	t->wait_sum_ns += src->clock - t->wait_start_ns;
	t->cpu = dst->cpu;
	t->migrations++;
	activate(dst, t, ENQUEUE_MOVE);
}

/*
 * Takes t, which is on no queue, to CPU cpu. => rq = its queue, locked; returns the new one,
 * locked. Its affinity may change while neither lock is held, hence the loop.
 */
static struct rq *carry(struct rq *rq, struct thread *t, u32 cpu)
{
	t->on_rq = 2;
	while (cpu != rq->cpu) {
		trace_migrate(t, rq->cpu, cpu);
		t->cpu = cpu;
		t->migrations++;
		if (unlikely(t->in_memstall))
			psi_mem_change(rq, -1);
		rq_unlock(rq);
		rq = cpu_rq(cpu);
		rq_lock(rq);
		if (unlikely(t->in_memstall))
			psi_mem_change(rq, 1);
		if (unlikely(!(t->allowed & CPU_BIT(cpu))))
			cpu = select_cpu_allowed(t);
	}
	return rq;
}

/* t is queued, not running, and may not stay. => rq locked; returns t's new queue, locked. */
struct rq *rq_expel(struct rq *rq, struct thread *t)
{
	if (unlikely(wakeup_tracing))
		wakeup_move(t, rq->cpu, rq->cpu); /* its watch ends here */
	update_curr(rq);
	deactivate(rq, t);
	t->wait_sum_ns += rq->clock - t->wait_start_ns;
	rq = carry(rq, t, select_cpu_allowed(t));
	update_curr(rq);
	activate(rq, t, ENQUEUE_MOVE);
	check_preempt(rq, t);
	return rq;
}

/* ---- switching ------------------------------------------------------------------------------- */

/* The rarer duties after a switch. => IRQs off, queue locked; returns with both undone. */
static noinline void finish_special(struct rq *rq, struct thread *prev)
{
	struct aspace *mm = rq->drop_mm;
	u32 after = rq->after;

	rq->after = 0;
	if (after & AFTER_PSI) {
		psi_mem_update(rq);
		if (after == AFTER_PSI) { /* as common as any switch while memory is short */
			rq_unlock(rq);
			local_irq_enable_l("schedule");
			return;
		}
	}
	rq->drop_mm = NULL;
	if (after & AFTER_MOVE) {
		rq = carry(rq, prev, select_cpu_allowed(prev));
		update_curr(rq);
		activate(rq, prev, ENQUEUE_MOVE);
		check_preempt(rq, prev);
	}
	rq_unlock(rq);
	preempt_disable();
	local_irq_enable_l("schedule");
	if (after & AFTER_DROP_MM)
		mm_drop_hook(mm);
	if (after & AFTER_DEAD)
		thread_put(prev);
	preempt_enable();
}

/* Runs on next's stack. */
static __always_inline void finish_switch(struct thread *prev)
{
	struct rq *rq = this_rq();

	smp_store_release(&prev->on_cpu, 0);
	if (unlikely(rq->after)) {
		finish_special(rq, prev);
		return;
	}
	rq_unlock(rq);
	local_irq_enable_l("schedule");
}

void thread_first_run(struct arch_thread *prev)
{
	finish_switch((struct thread *)prev);
}

/* Kernel threads keep the tables that are loaded; see sched.h. */
static __always_inline void switch_mm(struct rq *rq, struct thread *prev, struct thread *next)
{
	struct aspace *old = prev->active_mm;

	if (!next->mm) {
		next->active_mm = old;
		if (!prev->mm)
			prev->active_mm = NULL; /* the grab goes over with it */
		else
			mm_grab_hook(old);
		return;
	}
	next->active_mm = next->mm;
	if (old != next->mm)
		mm_switch_hook(old, next->mm);
	if (!prev->mm && old) {
		prev->active_mm = NULL;
		rq->drop_mm = old;
		rq->after |= AFTER_DROP_MM;
	}
}

static __always_inline void switch_threads(struct rq *rq, struct thread *prev, struct thread *next)
{
	rq->nr_switches++;
	if (prev->on_rq == 1) {
		prev->nivcsw++;
		prev->sclass->put_prev(rq, prev);
	} else {
		prev->nvcsw++;
	}
	if (unlikely(sched_traced))
		trace_switching(rq, prev, next);
	next->sclass->set_next(rq, next);
	next->exec_start_ns = rq->clock;
	next->on_cpu = 1;
	rq->curr = next;
	switch_mm(rq, prev, next);
	this_cpu_write(current_thread, next);
	finish_switch((struct thread *)arch_switch_to(&prev->arch, &next->arch));
}

static __always_inline struct thread *pick_next(struct rq *rq)
{
	struct thread *t;

again:
	if (likely(rq->nr_running)) {
		if (likely(rq->nr_running == rq->fair.nr))
			return fair_class.pick(rq);
		t = rt_class.pick(rq);
		return t ? t : fair_class.pick(rq);
	}
	if (nr_cpus > 1) {
		if (newidle_balance(rq))
			goto again;
		hint_idle(rq);
	}
	return rq->idle;
}

/* The running thread goes to sleep, unless a signal it listens to is there. */
static __always_inline void go_to_sleep(struct rq *rq, struct thread *prev)
{
	u32 state = prev->state;

	if ((state & (THREAD_INTERRUPTIBLE | THREAD_KILLABLE)) &&
	    unlikely(prev->arch.user_work & USER_WORK_SIGNAL) && signal_pending_hook &&
	    signal_pending_hook(prev, !(state & THREAD_INTERRUPTIBLE))) {
		prev->state = THREAD_RUNNING;
		return;
	}
	deactivate(rq, prev);
	prev->sleep_start_ns = rq->clock;
	if (unlikely(prev->in_iowait))
		psi_io_change(rq, 1);
	if (unlikely(state & (THREAD_UNINTERRUPTIBLE | THREAD_KILLABLE | THREAD_DEAD))) {
		if (state == THREAD_DEAD)
			rq->after |= AFTER_DEAD;
		else if (!(prev->flags & TF_KTHREAD))
			rq->nr_uninterruptible++;
	}
}

/*
 * The one place where threads change. preempted: the thread did not ask for it, so its state does
 * not count.
 * => preemption count 0, IRQs on or off; returns with IRQs on.
 */
static void __schedule(bool preempted)
{
	struct thread *prev, *next;
	struct rq *rq;

	local_irq_disable_l("schedule");
	rq = this_rq();
	prev = rq->curr;
	rcu_note_quiescent();
	rq_lock(rq);
	update_curr(rq);
	if (!preempted && prev->state != THREAD_RUNNING) {
		go_to_sleep(rq, prev);
	} else if (unlikely(!(prev->allowed & CPU_BIT(rq->cpu)))) {
		deactivate(rq, prev); /* its affinity changed: away with it */
		prev->on_rq = 2;
		rq->after |= AFTER_MOVE;
	}
	clear_need_resched_local();
	if (prev->arch.user_work & USER_WORK_RESCHED)
		__atomic_fetch_and(&prev->arch.user_work, ~USER_WORK_RESCHED, __ATOMIC_SEQ_CST);
	next = pick_next(rq);
	ASSERT(rq->fair.nr > 64 || fair_check(&rq->fair)); /* debug builds */
	if (likely(next != prev)) {
		switch_threads(rq, prev, next);
		return;
	}
	rq_unlock(rq);
	local_irq_enable_l("schedule");
}

void schedule(void)
{
	might_sleep_check();
	if (unlikely(current->plug))
		plug_flush_hook(); /* only drivers/blk, which sets it, makes plugs */
	__schedule(false);
}

bool __cond_resched(void)
{
	if (this_cpu_read(__preempt_count) != 0 || irqs_disabled())
		return false;
	__schedule(true);
	return true;
}

void preempt_schedule(void)
{
	if (likely(preempt_mode != PREEMPT_FULL) || irqs_disabled())
		return;
	while (this_cpu_read(__preempt_count) == 0)
		__schedule(true);
}

void preempt_schedule_irq(void)
{
	if (likely(preempt_mode != PREEMPT_FULL))
		return;
	while (this_cpu_read(__preempt_count) == 0) {
		__schedule(true);
		local_irq_disable_l("preempt_schedule_irq");
	}
}

void sched_yield(void)
{
	struct rq *rq;

	local_irq_disable_l("sched_yield");
	rq = this_rq();
	rq_lock(rq);
	update_curr(rq);
	rq->curr->sclass->yield(rq, rq->curr);
	rq_unlock(rq);
	local_irq_enable_l("sched_yield");
	schedule();
}

void io_schedule(void)
{
	u8 old = current->in_iowait;

	current->in_iowait = 1;
	schedule();
	current->in_iowait = old;
}

/* ---- waking ---------------------------------------------------------------------------------- */

/* => rq = queue of t, locked, t asleep on it; returns the queue t is on now, locked. */
static __always_inline struct rq *wake_sleeper(struct rq *rq, struct thread *t)
{
	if (unlikely(t->in_iowait)) {
		update_curr(rq); /* up to now an idle CPU waited for it */
		psi_io_change(rq, -1);
	}
	if (unlikely(t->state & (THREAD_UNINTERRUPTIBLE | THREAD_KILLABLE)) &&
	    !(t->flags & TF_KTHREAD))
		rq->nr_uninterruptible--;
	WRITE_ONCE(t->state, THREAD_RUNNING);
	if (nr_cpus > 1) {
		u32 cpu = select_cpu_wake(t);

		if (cpu != rq->cpu)
			rq = carry(rq, t, cpu);
		if (cpu != smp_processor_id())
			rq->nr_remote_wakeups++;
	}
	rq->nr_wakeups++;
	update_curr(rq);
	activate(rq, t, ENQUEUE_WAKEUP);
	if (unlikely(sched_traced))
		trace_woken(rq, t);
	check_preempt(rq, t);
	return rq;
}

bool thread_wake(struct thread *t, u32 mask)
{
	unsigned long flags;
	bool woken = false;
	struct rq *rq;

	smp_mb(); /* the caller's condition before our look at the state */
	if (!(READ_ONCE(t->state) & mask))
		return false;
	local_irq_save_l(flags, "thread_wake");
	rq = thread_rq_lock(t);
	if (likely(t->state & mask)) {
		woken = true;
		if (unlikely(t->on_rq))
			WRITE_ONCE(t->state, THREAD_RUNNING); /* it had not gone yet */
		else
			rq = wake_sleeper(rq, t);
	}
	rq_unlock(rq);
	local_irq_restore_l(flags, "thread_wake");
	if (flags & X86_EFLAGS_IF)
		preempt_check();
	return woken;
}

void thread_kick(struct thread *t)
{
	preempt_disable();
	if (READ_ONCE(t->on_cpu) && READ_ONCE(t->cpu) != smp_processor_id())
		smp_send_reschedule(t->cpu);
	preempt_enable();
}

void sched_ipi(void)
{
	struct rq *rq = this_rq();

	if ((rq->curr->arch.user_work & USER_WORK_RESCHED) || (rq->kicked && rq->curr == rq->idle))
		set_need_resched_local();
}

/* ---- beginning and end of threads ------------------------------------------------------------ */

void thread_init(struct thread *t, struct thread *parent, const char *comm, void *stack)
{
	strlcpy(t->comm, comm, sizeof(t->comm));
	t->stack = stack;
	t->state = THREAD_NEW;
	t->flags = parent ? 0 : TF_KTHREAD;
	t->policy = parent ? parent->policy : SCHED_OTHER;
	t->nice = parent ? parent->nice : 0;
	t->rt_prio = parent ? parent->rt_prio : 0;
	t->allowed = parent ? parent->allowed : ~0ull;
	t->cpu = smp_processor_id();
	t->boost = LEVEL_IDLE;
	t->se.slice_ns = FAIR_SLICE_NS;
	t->se.weight = FAIR_WEIGHT_0;
	list_init(&t->rt.node);
	list_init(&t->all_node);
	spin_lock_init(&t->pi_lock, RANK_THREAD, "pi_lock");
	list_init(&t->pi_held);
	atomic_set(&t->refs, 1);
	t->start_ns = ktime_get();
	sched_group_inherit(t, parent);
	thread_apply_level(NULL, t);
}

void thread_start(struct thread *t)
{
	unsigned long flags;
	struct rq *rq;

	ASSERT(t->state == THREAD_NEW);
	thread_list_add(t);
	local_irq_save_l(flags, "thread_start");
	t->cpu = nr_cpus > 1 ? select_cpu_new(t) : 0;
	rq = cpu_rq(t->cpu);
	rq_lock(rq);
	WRITE_ONCE(t->state, THREAD_RUNNING);
	update_curr(rq);
	activate(rq, t, ENQUEUE_NEW);
	if (unlikely(sched_traced) && event_sched_wakeup_new.enabled)
		trace_wakeup(&event_sched_wakeup_new, t, rq->cpu);
	rq->nr_forks++;
	check_preempt(rq, t);
	rq_unlock(rq);
	local_irq_restore_l(flags, "thread_start");
	if (flags & X86_EFLAGS_IF)
		preempt_check();
}

void thread_set_special_state(u32 state)
{
	struct rq *rq;

	local_irq_disable_l("thread_state");
	rq = this_rq();
	rq_lock(rq);
	WRITE_ONCE(current->state, state);
	rq_unlock(rq);
	local_irq_enable_l("thread_state");
}

void thread_exit(void)
{
	struct thread *t = current;

	thread_list_del(t);
	might_sleep_check();
	thread_set_special_state(THREAD_DEAD);
	__schedule(false);
	panic("sched: dead thread %d (%s) runs again", t->tid, t->comm);
}

static void thread_free(struct rcu_head *head)
{
	struct thread *t = container_of(head, struct thread, rcu);

	if (t->group)
		sched_group_put(t->group);
	if (t->release)
		t->release(t);
}

void thread_put(struct thread *t)
{
	if (atomic_dec_and_test(&t->refs))
		rcu_call(&t->rcu, thread_free);
}

void sched_use_mm(struct aspace *mm)
{
	struct aspace *old, *drop = NULL;
	struct thread *t = current;
	unsigned long flags;

	preempt_disable();
	local_irq_save_l(flags, "sched_use_mm");
	old = t->active_mm;
	if (mm) {
		if (!t->mm)
			drop = old;
		t->mm = mm;
		t->active_mm = mm;
		if (old != mm)
			mm_switch_hook(old, mm);
	} else if (t->mm) {
		mm_grab_hook(old);
		t->mm = NULL;
	}
	local_irq_restore_l(flags, "sched_use_mm");
	if (drop)
		mm_drop_hook(drop);
	preempt_enable();
}

bool signal_pending(void)
{
	struct thread *t = current;

	return t->proc && signal_pending_hook && signal_pending_hook(t, false);
}

bool fatal_signal_pending(void)
{
	struct thread *t = current;

	return t->proc && signal_pending_hook && signal_pending_hook(t, true);
}
