/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rcu.c - grace periods and callbacks.
 *
 * Problem: free an object that readers may still look at, without the readers ever taking a lock.
 * Idea: a reader runs with preemption off, so a CPU that is seen with preemption on (a context
 * switch, user mode, a tick in preemptible code, the idle loop) has finished every reader it had
 * before. A grace period is over when each CPU has been seen so once since it began.
 *
 *   gp_cur   number of the running (or last) grace period      gp_done  last one that ended
 *   mask     CPUs not yet seen in gp_cur                       running: gp_cur == gp_done + 1
 *
 * Each CPU has three lists of callbacks: `next` collects; when `wait` is empty it becomes `wait`
 * with the number of the first grace period that starts after now (gp_cur + 1); when that is done
 * it becomes `done` and the RCU softirq calls it, 32 at a time.
 *
 * An idle CPU is no reader, but interrupts that wake it may be: so it is not counted as seen for as
 * long as it idles. Whoever starts a grace period sends the idle CPUs a reschedule interrupt; on
 * their way back through the idle loop they report. Idle costs nothing then, and nothing needs to
 * hook interrupt entry.
 *
 * Locking: rcu_lock (RANK_RCU) for the numbers and the mask; a CPU's lists belong to the CPU, with
 * interrupts off.
 * Source: [McKenney98] for the idea; the structure is the simplest that is correct for 64 CPUs.
 */
#include "kernel/rcu.h"
#include "arch/smp.h"
#include "kernel/counter.h"
#include "kernel/show.h"
#include "kernel/softirq.h"
#include "kernel/spinlock.h"

#define CALLBACKS_PER_TURN 32

struct rcu_list {
	struct rcu_head *first, **tail;
};
struct rcu_cpu {
	struct rcu_list next, wait, done;
	u64 wait_gp; /* wait may be called when this grace period is done */
	u64 seen_gp; /* this CPU has reported for this grace period */
	u32 idle;
	bool ready;
};
static DEFINE_PER_CPU_ALIGNED(struct rcu_cpu, rcu_cpu);
COUNTER(rcu_callbacks, "RCU callbacks run");
COUNTER(rcu_idle_kicks, "idle CPUs woken for a grace period");

static DEFINE_SPINLOCK(rcu_lock, RANK_RCU);
static u64 gp_cur, gp_done, gp_wanted;
static u64 mask;

static void list_reset(struct rcu_list *l)
{
	l->first = NULL;
	l->tail = &l->first;
}

/* Appends all of from to to. */
static void list_take(struct rcu_list *to, struct rcu_list *from)
{
	if (!from->first)
		return;
	*to->tail = from->first;
	to->tail = from->tail;
	list_reset(from);
}

static struct rcu_cpu *this_rcu(void)
{
	struct rcu_cpu *rc = this_cpu_ptr(&rcu_cpu);

	if (unlikely(!rc->ready)) {
		list_reset(&rc->next);
		list_reset(&rc->wait);
		list_reset(&rc->done);
		rc->ready = true;
	}
	return rc;
}

/* => rcu_lock held. */
static void start_gp_locked(void)
{
	u32 me = smp_processor_id();

	gp_cur++;
	mask = READ_ONCE(cpu_online_mask) | 1ull << me;
	smp_mb();
	for (u64 m = mask & ~(1ull << me); m; m &= m - 1) {
		u32 cpu = __builtin_ctzll(m);

		if (READ_ONCE(per_cpu(rcu_cpu, cpu).idle)) {
			count(rcu_idle_kicks);
			smp_send_reschedule(cpu);
		}
	}
}

/* Moves this CPU's lists on as far as they can go. => IRQs off; rcu_lock held. */
static void advance_locked(struct rcu_cpu *rc)
{
	if (rc->wait.first && rc->wait_gp <= gp_done) {
		list_take(&rc->done, &rc->wait);
		softirq_raise(SOFTIRQ_RCU);
	}
	if (rc->wait.first || !rc->next.first)
		return;
	list_take(&rc->wait, &rc->next);
	rc->wait_gp = gp_cur + 1;
	if (gp_wanted < rc->wait_gp)
		gp_wanted = rc->wait_gp;
	if (gp_cur == gp_done)
		start_gp_locked();
}

void rcu_call(struct rcu_head *head, void (*fn)(struct rcu_head *head))
{
	struct rcu_cpu *rc;
	unsigned long flags;

	head->fn = fn;
	head->next = NULL;
	local_irq_save_l(flags, "rcu_call");
	rc = this_rcu();
	*rc->next.tail = head;
	rc->next.tail = &head->next;
	if (!rc->wait.first) {
		spin_lock(&rcu_lock);
		advance_locked(rc);
		spin_unlock(&rcu_lock);
	}
	local_irq_restore_l(flags, "rcu_call");
}

/* This CPU has no reader now. => IRQs off. */
static void report(struct rcu_cpu *rc)
{
	spin_lock(&rcu_lock);
	if (rc->seen_gp != gp_cur) {
		rc->seen_gp = gp_cur;
		mask &= ~(1ull << smp_processor_id());
		if (!mask && gp_cur != gp_done) {
			gp_done = gp_cur;
			if (gp_wanted > gp_done)
				start_gp_locked();
		}
	}
	advance_locked(rc);
	spin_unlock(&rcu_lock);
}

static inline bool has_work(const struct rcu_cpu *rc)
{
	return rc->seen_gp != READ_ONCE(gp_cur) ||
	       (rc->wait.first && rc->wait_gp <= READ_ONCE(gp_done)) ||
	       (!rc->wait.first && rc->next.first);
}

void rcu_note_quiescent(void)
{
	struct rcu_cpu *rc = this_cpu_ptr(&rcu_cpu);
	unsigned long flags;

	if (likely(!has_work(rc)))
		return;
	local_irq_save_l(flags, "rcu_report");
	report(this_rcu());
	local_irq_restore_l(flags, "rcu_report");
}

/*
 * => hard interrupt. Code interrupted with preemption on cannot be a reader, and neither can a
 * program.
 */
void rcu_tick(bool user)
{
	struct rcu_cpu *rc = this_cpu_ptr(&rcu_cpu);

	if (!has_work(rc))
		return;
	if (user || !(preempt_count() & (PREEMPT_MASK | SOFTIRQ_MASK))) {
		report(this_rcu());
		return;
	}
	/*
	 * A CPU whose ticks keep hitting readers is asked to pass through the scheduler, which
	 * reports.
	 */
	if (rc->seen_gp != READ_ONCE(gp_cur))
		set_need_resched_local();
	if (rc->wait.first && rc->wait_gp <= READ_ONCE(gp_done)) {
		spin_lock(&rcu_lock);
		advance_locked(rc);
		spin_unlock(&rcu_lock);
	}
}

bool rcu_needs_cpu(void)
{
	const struct rcu_cpu *rc = this_cpu_ptr(&rcu_cpu);

	return rc->next.first || rc->wait.first || rc->done.first;
}

/*
 * The store of idle comes before the look at gp_cur, and a starter stores gp_cur before it looks at
 * idle: one of the two sees the other.
 */
void rcu_idle_enter(void)
{
	struct rcu_cpu *rc = this_cpu_ptr(&rcu_cpu);

	xchg(&rc->idle, 1u);
	rcu_note_quiescent();
}

void rcu_idle_exit(void)
{
	WRITE_ONCE(this_cpu_ptr(&rcu_cpu)->idle, 0);
	rcu_note_quiescent();
}

u64 rcu_grace_periods(void)
{
	return READ_ONCE(gp_done);
}

/* The RCU softirq. */
static void run_callbacks(void)
{
	struct rcu_cpu *rc = this_cpu_ptr(&rcu_cpu);

	for (int i = 0; i < CALLBACKS_PER_TURN; i++) {
		struct rcu_head *head;

		local_irq_disable_l("rcu_callbacks");
		head = rc->done.first;
		if (head) {
			rc->done.first = head->next;
			if (!head->next)
				rc->done.tail = &rc->done.first;
		}
		local_irq_enable_l("rcu_callbacks");
		if (!head)
			return;
		count(rcu_callbacks);
		head->fn(head);
	}
	if (READ_ONCE(rc->done.first))
		softirq_raise(SOFTIRQ_RCU);
}

void rcu_init(void)
{
	softirq_open(SOFTIRQ_RCU, run_callbacks);
}

static int rcu_show(struct seq *seq)
{
	seq_printf(seq, "grace period %lu, done %lu, waiting for CPUs %lx\n",
		   (unsigned long)READ_ONCE(gp_cur), (unsigned long)READ_ONCE(gp_done),
		   (unsigned long)READ_ONCE(mask));
	return 0;
}
SHOW("/sys/kernel/quire/rcu", 0444, rcu_show, NULL);
