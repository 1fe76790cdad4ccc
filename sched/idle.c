/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * idle.c - what a CPU does when there is nothing to do, as the lowest scheduler class; and how CPUs
 * join the scheduler.
 *
 * The idle thread of a CPU is the flow of control it booted with. It runs with preemption off
 * (count 1), so that an interrupt can never switch away in the middle of the idle protocol; it
 * gives up that 1 only to schedule. Idle time is measured, not sampled: the class's update gets the
 * exact ns.
 */
#include "arch/bootinfo.h"
#include "kernel/event.h"
#include "kernel/rcu.h"
#include "sched/internal.h"

static struct thread boot_idle;

static void idle_enqueue(struct rq *rq, struct thread *t, enum enqueue_how how) {}

static void idle_dequeue(struct rq *rq, struct thread *t)
{
	panic("sched: the idle thread of cpu %u tried to sleep", rq->cpu);
}

static struct thread *idle_pick(struct rq *rq)
{
	return rq->idle;
}

static void idle_set_next(struct rq *rq, struct thread *t)
{
	rq->curr_level = -2;
}

static void idle_put_prev(struct rq *rq, struct thread *t) {}

static bool idle_update(struct rq *rq, struct thread *t, u64 delta_ns)
{
	if (rq->nr_iowait)
		rq->times.iowait_ns += delta_ns;
	else
		rq->times.idle_ns += delta_ns;
	return false;
}

static bool idle_tick(struct rq *rq, struct thread *t)
{
	return rq->nr_running != 0;
}

static bool idle_preempts(struct rq *rq, struct thread *woken)
{
	return false;
}

static void idle_yield(struct rq *rq, struct thread *t) {}

static void idle_set_params(struct rq *rq, struct thread *t, int level) {}

static struct thread *idle_movable(struct rq *rq, u32 cpu)
{
	return NULL;
}

static u64 idle_interval(const struct thread *t)
{
	return 0;
}

const struct sched_class idle_class = {
	.name = "idle",
	.rank = 0,
	.enqueue = idle_enqueue,
	.dequeue = idle_dequeue,
	.pick = idle_pick,
	.set_next = idle_set_next,
	.put_prev = idle_put_prev,
	.update = idle_update,
	.tick = idle_tick,
	.preempts = idle_preempts,
	.yield = idle_yield,
	.set_params = idle_set_params,
	.movable = idle_movable,
	.interval = idle_interval,
};

/* ---- the loop -------------------------------------------------------------------------------- */

atomic_t sched_outside;
#define OUTSIDE_NOPS 2000 /* 2 us of the counted clock between two looks */

/* => IRQs off, and again when it returns */
static noinline void idle_awake(void)
{
	rcu_idle_enter();
	while (!need_resched() && atomic_read(&sched_outside)) {
		local_irq_enable_l("idle");
		cpu_relax();
		arch_run_nops(OUTSIDE_NOPS);
		local_irq_disable_l("idle");
	}
	rcu_idle_exit();
}

/* One wait for an interrupt. The clock's tick sleeps too; RCU does not wait for this CPU. */
static void idle_once(void)
{
	local_irq_disable_l("idle");
	if (unlikely(atomic_read(&sched_outside)))
		idle_awake();
	if (!need_resched()) {
		rcu_idle_enter();
		tick_stop_idle();
		if (likely(!need_resched())) { /* that ran softirqs */
			arch_idle();
			local_irq_disable_l("idle");
		}
		rcu_idle_exit();
		tick_start();
	}
	local_irq_enable_l("idle");
}

void sched_idle_loop(void)
{
	preempt_disable();
	for (;;) {
		while (!need_resched())
			idle_once();
		preempt_enable_no_resched();
		schedule();
		preempt_disable();
	}
}

/* ---- CPUs join ------------------------------------------------------------------------------- */

static void rq_init(struct rq *rq, u32 cpu, struct thread *idle)
{
	spin_lock_init(&rq->lock, RANK_RUNQUEUE, "run queue");
	lock_set_subclass(&rq->lock, (u16)(cpu + 1));
	rq->cpu = cpu;
	rq->idle = idle;
	rq->curr = idle;
	rq->curr_level = -2;
	rq->clock = ktime_get();
	fair_init(&rq->fair);
	for (u32 i = 0; i < ARRAY_SIZE(rq->rt.queue); i++)
		list_init(&rq->rt.queue[i]);
	rq->rt.period_start = rq->clock;
	rq->kick_interval = NSEC_PER_MSEC;
}

/* Turns the running flow of control into the CPU's idle thread. */
static void adopt_idle(u32 cpu, struct thread *idle)
{
	thread_init(idle, NULL, "idle/", NULL);
	idle->comm[5] = (char)(cpu < 10 ? '0' + cpu : '0' + cpu / 10);
	idle->comm[6] = (char)(cpu < 10 ? 0 : '0' + cpu % 10);
	idle->state = THREAD_RUNNING;
	idle->on_rq = 1;
	idle->on_cpu = 1;
	idle->cpu = cpu;
	idle->allowed = CPU_BIT(cpu);
	idle->sclass = &idle_class;
	rq_init(cpu_rq(cpu), cpu, idle);
	idle->exec_start_ns = cpu_rq(cpu)->clock;
	this_cpu_write(current_thread, idle);
	this_cpu_write(current_arch, &idle->arch);
	balance_add_cpu(cpu);
	__atomic_fetch_or(&sched_cpus, CPU_BIT(cpu), __ATOMIC_SEQ_CST);
	if (cpu) /* the boot CPU has work to do before it is idle */
		__atomic_fetch_or(&sched_idle_cpus, CPU_BIT(cpu), __ATOMIC_SEQ_CST);
}

/* For the tracers. */
static void tell_task(pid_t *tid, const char **comm)
{
	*tid = current->tid;
	*comm = current->comm;
}

void sched_init(void)
{
	trace_task = tell_task;
	adopt_idle(0, &boot_idle);
	account_init();
	sched_trace_init();
}

void sched_init_cpu(u32 cpu, struct thread *idle)
{
	adopt_idle(cpu, idle);
}
