/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * time.c - timers and the tick.
 *
 * Problem: thousands of timers at nanosecond resolution, one alarm per CPU, and no long work with
 * interrupts off. Idea: each CPU keeps its timers in a red-black tree by (expiry, order of arming),
 * so equal times fire in the order they were armed, on every run the same. The alarm stands on the
 * earlier of first timer and next tick. Its interrupt only does the tick and raises the TIMER
 * softirq; that takes expired timers out one by one and calls them with interrupts on, 32 per turn.
 *
 *   alarm = min(first timer, next tick while the tick is on)
 *
 * The tick is 1 kHz for accounting only (the clock is the TSC). It is staggered: CPU n ticks n/N of
 * a period later than CPU 0, so that the CPUs of an emulator that runs them in turn do not fall
 * into step. An idle CPU switches its tick off and arms the alarm for its first timer.
 *
 * A timer that is running on another CPU is re-armed there (never two at once). timer->cpu changes
 * only under the locks of both bases, taken in CPU order.
 *
 * Locking: base->lock (RANK_TIMER, subclass = CPU), interrupts off.
 */
#include "kernel/time.h"
#include "arch/smp.h"
#include "arch/trap.h"
#include "kernel/bug.h"
#include "kernel/rcu.h"
#include "kernel/show.h"
#include "kernel/softirq.h"
#include "trace/wakeup.h"

#define TIMERS_PER_TURN 32

enum { TIMER_IDLE = 0, TIMER_QUEUED = 1 };

struct timer_base {
	spinlock_t lock;
	struct rb_root_cached timers; /* (lock) */
	struct timer *running;	      /* (lock) whose function runs right now; only compared */
	ktime_t armed;		      /* what the alarm stands on, KTIME_MAX: nothing */
	ktime_t next_tick;
	bool inside; /* its timer interrupt is running: read by others' turn policy */
	bool tick_on, ready;
	u64 nr_fired, nr_ticks;
};
static DEFINE_PER_CPU_ALIGNED(struct timer_base, timer_base);

void (*tick_hook)(bool user, ktime_t now);
static u64 realtime_offset;

u64 ktime_get_real(void)
{
	return ktime_get() + READ_ONCE(realtime_offset);
}

void ktime_set_real(u64 ns)
{
	WRITE_ONCE(realtime_offset, ns - ktime_get());
}

void delay_ns(u64 ns)
{
	ktime_t end = ktime_get() + ns;

	while (ktime_get() < end)
		cpu_relax();
}

/* ---- timers ---- */

static bool timer_less(const struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct timer, node)->expires < rb_entry(b, struct timer, node)->expires;
}

static struct timer *first_timer(const struct timer_base *base)
{
	return rb_entry_safe(base->timers.rb_leftmost, struct timer, node);
}

/*
 * => IRQs off, this CPU's base, lock held. Expired timers do not count: their softirq is on its
 * way.
 */
static void arm_alarm(struct timer_base *base, ktime_t now)
{
	struct timer *first = first_timer(base);
	ktime_t deadline = base->tick_on ? base->next_tick : KTIME_MAX;

	if (first && first->expires > now && first->expires < deadline)
		deadline = first->expires;
	if (deadline == base->armed)
		return;
	base->armed = deadline;
	if (deadline != KTIME_MAX)
		arch_timer_arm(deadline);
}

void timer_init(struct timer *t, void (*fn)(struct timer *t))
{
	t->fn = fn;
	t->expires = 0;
	t->cpu = 0;
	t->state = TIMER_IDLE;
}

/* Locks the base t belongs to. => IRQs off already. */
static struct timer_base *lock_base(struct timer *t)
{
	for (;;) {
		u32 cpu = READ_ONCE(t->cpu);
		struct timer_base *base = &per_cpu(timer_base, cpu);

		spin_lock(&base->lock);
		if (t->cpu == cpu)
			return base;
		spin_unlock(&base->lock);
	}
}

/* Locks the base t belongs to and this CPU's (maybe the same). */
static struct timer_base *lock_bases(struct timer *t, struct timer_base *here)
{
	u32 me = smp_processor_id();

	for (;;) {
		u32 cpu = READ_ONCE(t->cpu);
		struct timer_base *old = &per_cpu(timer_base, cpu);

		if (cpu < me)
			spin_lock(&old->lock);
		spin_lock(&here->lock);
		if (cpu > me)
			spin_lock(&old->lock);
		if (t->cpu == cpu)
			return old;
		if (old != here)
			spin_unlock(&old->lock);
		spin_unlock(&here->lock);
	}
}

static void dequeue(struct timer *t, struct timer_base *base)
{
	rb_erase_cached(&t->node, &base->timers);
	t->state = TIMER_IDLE;
}

void timer_start(struct timer *t, ktime_t expires)
{
	struct timer_base *here, *old, *base;
	unsigned long flags;
	bool first;

	local_irq_save_l(flags, "timer_start");
	here = this_cpu_ptr(&timer_base);
	old = lock_bases(t, here);
	if (t->state == TIMER_QUEUED)
		dequeue(t, old);
	base = old->running == t ? old : here;
	t->cpu = base == here ? smp_processor_id() : t->cpu;
	t->expires = expires;
	t->state = TIMER_QUEUED;
	first = rb_add_cached(&t->node, &base->timers, timer_less);
	/*
	 * On the other CPU the softirq that runs t looks at the tree again afterwards and sets the
	 * alarm.
	 */
	if (first && base == here && here->ready && expires < here->armed) {
		here->armed = expires;
		arch_timer_arm(expires);
	}
	if (old != here)
		spin_unlock(&old->lock);
	spin_unlock(&here->lock);
	local_irq_restore_l(flags, "timer_start");
}

bool timer_cancel(struct timer *t)
{
	struct timer_base *base;
	unsigned long flags;
	bool was;

	if (READ_ONCE(t->state) == TIMER_IDLE)
		return false;
	local_irq_save_l(flags, "timer_cancel");
	base = lock_base(t);
	was = t->state == TIMER_QUEUED;
	if (was)
		dequeue(t,
			base); /* the alarm may fire for nothing: cheaper than setting it again */
	spin_unlock(&base->lock);
	local_irq_restore_l(flags, "timer_cancel");
	return was;
}

bool timer_cancel_sync(struct timer *t)
{
	bool was = false;

	for (;;) {
		struct timer_base *base;
		unsigned long flags;
		bool running;

		local_irq_save_l(flags, "timer_cancel");
		base = lock_base(t);
		running = base->running == t;
		if (t->state == TIMER_QUEUED) {
			dequeue(t, base);
			was = true;
		}
		spin_unlock(&base->lock);
		local_irq_restore_l(flags, "timer_cancel");
		if (!running)
			return was;
		cpu_relax();
	}
}

/* The TIMER softirq. */
static void run_timers(void)
{
	struct timer_base *base = this_cpu_ptr(&timer_base);
	ktime_t now = ktime_get();
	struct timer *t;

	spin_lock_irq_l(&base->lock, "timer_run");
	for (int i = 0; (t = first_timer(base)) && t->expires <= now; i++) {
		if (i == TIMERS_PER_TURN) {
			softirq_raise(SOFTIRQ_TIMER);
			break;
		}
		dequeue(t, base);
		base->running = t;
		base->nr_fired++;
		if (unlikely(wakeup_tracing))
			wakeup_timer(t->expires, (const void *)t->fn);
		spin_unlock_irq_l(&base->lock, "timer_run");
		t->fn(t); /* may free or re-arm t */
		spin_lock_irq_l(&base->lock, "timer_run");
		base->running = NULL;
	}
	/* Something may have expired since `now`: an alarm in the past fires at once. */
	arm_alarm(base, now);
	spin_unlock_irq_l(&base->lock, "timer_run");
}

/* ---- the tick ---- */

/*
 * A turn policy for emulators that run the CPUs one after the other, measured with loops that never
 * pause (QEMU's counted clock; each CPU's share of its due): a CPU runs until the next alarm of any
 * CPU or until it arms its own, and the next CPU that is awake then finds no time left. With three
 * and more awake and even phases that rotates (99 %). With two, or one and another just woken, the
 * higher would starve for ever: so the lowest that ticks gives its turn away after arming. With two
 * CPUs in all, CPU 1's phase then decides: 500 us 77:123, 250 us 83:117, 100 us 99:101. A rotation
 * can also lose one that does not run its tick (an idle CPU whose alarm went off while two others
 * are awake): whoever is late by a period gets the turn as well.
 *
 * Arming the earliest alarm of all ends the own turn, in the middle of the timer interrupt. A CPU
 * whose next turn comes a period later finds that alarm due already, and is interrupted again
 * before its softirqs: for ever, with one other that loops. So the turn is given again while
 * somebody stands in that interrupt; the second time its alarm is still ahead.
 */
#define PHASE_OF_TWO_NS 100000
static u64 ticking; /* CPUs whose tick is on */

/* Has an alarm of another CPU been due for a period? Then it had no turn since. */
static bool anyone_late(ktime_t now)
{
	for (u32 cpu = 0; cpu < nr_cpus; cpu++)
		if (READ_ONCE(per_cpu(timer_base, cpu).armed) + NSEC_PER_TICK < now)
			return true;
	return false;
}

/* Is another CPU in the middle of its timer interrupt? */
static bool anyone_inside(void)
{
	u32 me = smp_processor_id();

	for (u32 cpu = 0; cpu < nr_cpus; cpu++)
		if (cpu != me && READ_ONCE(per_cpu(timer_base, cpu).inside))
			return true;
	return false;
}

static inline void give_turn(ktime_t now)
{
	u64 mask = READ_ONCE(ticking), me = 1ull << smp_processor_id(), others = mask & ~me;

	if (nr_cpus == 1 || (mask & (me - 1)))
		return;
	if (!(others & (others - 1)) || anyone_late(now)) {
		cpu_relax();
		for (int i = 0; i < 2 && nr_cpus > 2 && anyone_inside(); i++)
			cpu_relax();
	}
}

static inline void set_ticking(bool on)
{
	u64 me = 1ull << smp_processor_id();

	if (nr_possible_cpus == 1)
		return;
	if (on)
		__atomic_fetch_or(&ticking, me, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&ticking, ~me, __ATOMIC_RELAXED);
}

/* First tick time after now on this CPU's phase of the period. */
static ktime_t next_phase(ktime_t now)
{
	u64 cpu = smp_processor_id();
	u64 phase = nr_possible_cpus == 2 ? cpu * PHASE_OF_TWO_NS
					  : cpu * NSEC_PER_TICK / nr_possible_cpus;

	return (now + NSEC_PER_TICK - phase) / NSEC_PER_TICK * NSEC_PER_TICK + phase;
}

static void tick(struct timer_base *base, ktime_t now)
{
	struct pt_regs *regs = this_cpu_read(irq_regs);
	bool user = regs && user_mode(regs);

	base->nr_ticks++;
	base->next_tick += NSEC_PER_TICK;
	if (base->next_tick <= now) /* interrupts were off for longer than a period */
		base->next_tick = next_phase(now);
	rcu_tick(user);
	if (tick_hook)
		tick_hook(user, now);
}

void timer_interrupt(void)
{
	struct timer_base *base = this_cpu_ptr(&timer_base);
	ktime_t now = ktime_get();
	bool ticked = base->tick_on && now >= base->next_tick;
	struct timer *first;

	base->armed = KTIME_MAX;
	WRITE_ONCE(base->inside, true);
	if (ticked)
		tick(base, now);
	spin_lock(&base->lock);
	first = first_timer(base);
	if (first && first->expires <= now)
		softirq_raise(SOFTIRQ_TIMER);
	arm_alarm(base, now);
	spin_unlock(&base->lock);
	WRITE_ONCE(base->inside, false);
	if (ticked)
		give_turn(now);
}

void tick_stop_idle(void)
{
	struct timer_base *base = this_cpu_ptr(&timer_base);

	if (this_cpu_read(softirq_pending))
		softirq_run();
	if (base->tick_on && !rcu_needs_cpu()) {
		spin_lock(&base->lock);
		base->tick_on = false;
		set_ticking(false);
		arm_alarm(base, ktime_get());
		spin_unlock(&base->lock);
	}
	if (unlikely(preemptoff_enabled))
		preemptoff_idle(true); /* waiting is not holding anybody up */
}

void tick_start(void)
{
	struct timer_base *base = this_cpu_ptr(&timer_base);
	ktime_t now;

	if (unlikely(preemptoff_enabled) && preempt_count())
		preemptoff_idle(false);
	if (base->tick_on || !base->ready)
		return;
	now = ktime_get();
	spin_lock(&base->lock);
	base->tick_on = true;
	set_ticking(true);
	base->next_tick = next_phase(now);
	arm_alarm(base, now);
	spin_unlock(&base->lock);
}

void time_init_cpu(void)
{
	struct timer_base *base = this_cpu_ptr(&timer_base);

	base->armed = KTIME_MAX;
	base->ready = true;
	tick_start();
}

void time_init(void)
{
	for (u32 cpu = 0; cpu < nr_possible_cpus; cpu++) {
		struct timer_base *base = &per_cpu(timer_base, cpu);

		spin_lock_init(&base->lock, RANK_TIMER, "timer_base");
		lock_set_subclass(&base->lock, cpu + 1);
		base->timers = RB_ROOT_CACHED;
		base->armed = KTIME_MAX;
	}
	realtime_offset = arch_boot_realtime_sec() * NSEC_PER_SEC;
	softirq_open(SOFTIRQ_TIMER, run_timers);
	rcu_init();
	time_init_cpu();
}

/* At most 64 timers per CPU are shown; the lock is let go every 16. */
static int timer_list_show(struct seq *seq)
{
	seq_printf(seq, "now at %lu nsecs\n", (unsigned long)ktime_get());
	for (u32 cpu = 0; cpu < nr_cpus; cpu++) {
		struct timer_base *base = &per_cpu(timer_base, cpu);
		struct {
			ktime_t expires;
			void *fn;
		} list[16];
		int n = 0;

		spin_lock_irq_l(&base->lock, "timer_list");
		for (struct rb_node *p = base->timers.rb_leftmost; p && n < 16; p = rb_next(p)) {
			struct timer *t = rb_entry(p, struct timer, node);

			list[n].expires = t->expires;
			list[n++].fn = t->fn;
		}
		spin_unlock_irq_l(&base->lock, "timer_list");
		seq_printf(seq, "\ncpu: %u\n tick %s, next %lu, ticks %lu, timers fired %lu\n", cpu,
			   base->tick_on ? "on" : "off", (unsigned long)base->next_tick,
			   (unsigned long)base->nr_ticks, (unsigned long)base->nr_fired);
		for (int i = 0; i < n; i++)
			seq_printf(seq, " #%d: %pS expires at %lu\n", i, list[i].fn,
				   (unsigned long)list[i].expires);
	}
	return 0;
}
SHOW("/proc/timer_list", 0444, timer_list_show, NULL);
