/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_wakeup.c - the wake-up tracers tell how long a woken thread waited and what its CPU did
 * meanwhile: planted delays of each kind are found by name and length.
 */
#include "tests/kernel/ktest.h"

#include "arch/cpu.h"
#include "arch/init.h"
#include "arch/smp.h"
#include "kernel/ksyms.h"
#include "kernel/preempt.h"
#include "kernel/spinlock.h"
#include "kernel/time.h"
#include "lib/string.h"
#include "sched/kthread.h"
#include "sched/sched.h"
#include "trace/wakeup_record.h"

/* A sleeper on the CPU the test runs on. */
static struct {
	struct thread *thread;
	struct completion go;
	u32 runs;
	bool stop;
	char tracer[20];
} s;

static int sleeper(void *arg)
{
	while (!READ_ONCE(s.stop)) {
		wait_for_completion(&s.go);
		WRITE_ONCE(s.runs, s.runs + 1);
	}
	while (!kthread_should_stop())
		sleep_ns(NSEC_PER_MSEC);
	return 0;
}

static bool begin(const char *tracer, u32 policy)
{
	u32 cpu;

	preempt_disable();
	cpu = smp_processor_id();
	preempt_enable();
	sched_set_affinity(current, CPU_BIT(cpu));
	strlcpy(s.tracer, tracer_name(), sizeof(s.tracer));
	completion_init(&s.go);
	s.runs = 0;
	s.stop = false;
	s.thread = kthread_create(sleeper, NULL, -1, "kt_sleeper");
	if (!s.thread)
		return false;
	thread_get(s.thread);
	sched_set_affinity(s.thread, CPU_BIT(cpu));
	if (policy == SCHED_FIFO)
		sched_set_policy(s.thread, SCHED_FIFO, 50, 0);
	thread_start(s.thread);
	sleep_ns(2 * NSEC_PER_MSEC);
	return tracer_select(tracer) == 0;
}

static void end(void)
{
	tracer_select(s.tracer);
	WRITE_ONCE(s.stop, true);
	complete(&s.go);
	kthread_stop(s.thread);
	thread_put(s.thread);
	sched_set_affinity(current, ~0ull);
}

static bool exact_clock(void)
{
	return arch_clock_is_virtual && nr_cpus == 1;
}

static struct wake_record worst(enum wake_class class)
{
	struct wake_record r;
	unsigned long flags;

	local_irq_save_l(flags, "kt_worst");
	record_lock();
	r = wake_worst[class];
	record_unlock();
	local_irq_restore_l(flags, "kt_worst");
	return r;
}

static bool stack_has(const unsigned long *frames, const char *name)
{
	for (int i = 0; i < STACK_FRAMES && frames[i]; i++) {
		const char *found = ksym_lookup(frames[i], NULL);

		if (found && !strncmp(found, name, strlen(name)))
			return true;
	}
	return false;
}

/* Woken with interrupts off, which stay off for a while. */
KTEST(wakeup, a_section_is_named)
{
	struct wake_record r;
	unsigned long flags;

	KT_ASSERT(begin("wakeup_rt", SCHED_FIFO));
	local_irq_save_l(flags, "kt_held_up");
	complete(&s.go);
	irq_work(7);
	arch_run_nops(20000);
	local_irq_restore_l(flags, "kt_held_up");
	sleep_ns(NSEC_PER_MSEC);
	r = worst(WAKE_RT);
	end();
	KT_EQ(s.runs, 2); /* once more to end */
	KT_EQ(r.woken.tid, s.thread->tid);
	KT_ASSERT(!strcmp(r.woken.comm, "kt_sleeper"));
	KT_EQ(r.woken.policy, SCHED_FIFO);
	KT_EQ(r.woken.prio, 49);
	KT_ASSERT(r.watched && !r.moved && r.context == '.');
	KT_EQ(r.waker.tid, current->tid);
	KT_EQ(r.curr.tid, current->tid);
	KT_ASSERT(r.delay.longest.start && !strcmp(r.delay.longest.start->label, "kt_held_up"));
	KT_EQ(r.delay.longest.work, 7);
	KT_ASSERT(stack_has(r.delay.longest_stack, "ktest_wakeup_a_section_is_named"));
	KT_EQ(r.gave.tid, current->tid);
	KT_ASSERT(stack_has(r.gave_stack, "__schedule"));
	KT_EQ(r.delay.nr_ran, 1);
	KT_EQ(r.delay.ran[0].thread.tid, current->tid);
	if (exact_clock()) {
		KT_ASSERT(r.delay.longest_len >= 20000 && r.delay.longest_len < 26000);
		KT_ASSERT(r.len_ns > 20000 && r.len_ns < 60000);
		KT_EQ(r.delay.ran[0].ns, r.len_ns);
		KT_ASSERT(r.delay.off >= r.delay.longest_len && r.delay.off <= r.len_ns + 100);
	}
}

/* A woken thread waits because others run before it. */
static int hog(void *arg)
{
	arch_run_nops(100000);
	while (!kthread_should_stop())
		sleep_ns(NSEC_PER_MSEC);
	return 0;
}

KTEST(wakeup, threads_before_it_are_named)
{
	struct wake_record r;
	struct thread *other;
	bool found = false;

	if (nr_cpus > 1)
		KT_SKIP("others would run elsewhere");
	KT_ASSERT(begin("wakeup_rt", SCHED_FIFO));
	other = kthread_create(hog, NULL, -1, "kt_hog");
	KT_ASSERT(other);
	sched_set_policy(other, SCHED_FIFO, 60, 0);
	preempt_disable();
	thread_start(other);
	complete(&s.go);
	preempt_enable();
	sleep_ns(2 * NSEC_PER_MSEC);
	r = worst(WAKE_RT);
	for (u32 i = 0; i < r.delay.nr_ran; i++)
		if (r.delay.ran[i].thread.tid == other->tid)
			found = r.delay.ran[i].ns >= 100000;
	kthread_stop(other);
	end();
	KT_ASSERT(found);
	KT_EQ(r.woken.prio, 49);
	KT_ASSERT(r.len_ns >= 100000);
}

/* Interrupts on, but the kernel does not give way: ticks tell where it was. */
KTEST(wakeup, a_long_way_in_the_kernel_is_shown)
{
	struct wake_record r;

	KT_ASSERT(begin("wakeup", SCHED_OTHER));
	preempt_disable();
	complete(&s.go);
	arch_run_nops(5 * NSEC_PER_MSEC);
	preempt_enable();
	sleep_ns(NSEC_PER_MSEC);
	r = worst(WAKE_FAIR);
	end();
	if (!exact_clock())
		KT_SKIP("needs a clock that counts instructions");
	KT_EQ(r.woken.tid, s.thread->tid);
	KT_EQ(r.woken.prio, 120);
	KT_ASSERT(r.len_ns >= 5000000);
	KT_ASSERT(r.delay.ticks >= 3 && !r.delay.tick_user);
	KT_ASSERT(stack_has(r.delay.tick_stack, "arch_run_nops"));
	KT_ASSERT(r.delay.off < r.len_ns / 10);
}

KTEST(wakeup, every_wait_counts)
{
	struct wake_hist before, after;
	u64 sum = 0;

	KT_ASSERT(begin("wakeup_rt", SCHED_FIFO));
	wakeup_hist_sum(WAKE_RT, &before);
	for (int i = 0; i < 100; i++) {
		complete(&s.go);
		sleep_ns(100 * NSEC_PER_USEC);
	}
	wakeup_hist_sum(WAKE_RT, &after);
	end();
	KT_EQ(after.count - before.count, 100);
	for (u32 k = 0; k < WAKE_BUCKETS; k++)
		sum += after.bucket[k];
	KT_EQ(sum, after.count);
	KT_ASSERT(after.total_ns >= after.count && after.max_ns <= after.total_ns);
}

/* A timer that was due while interrupts were off, and which section that was. */
static void nothing(struct timer *timer) {}

KTEST(wakeup, a_late_timer_names_the_section)
{
	struct wake_timer_record r;
	struct timer timer;
	unsigned long flags;

	KT_ASSERT(begin("wakeup", SCHED_OTHER));
	timer_init(&timer, nothing);
	local_irq_save_l(flags, "kt_late_timer");
	timer_start(&timer, ktime_get() + 5000);
	irq_work(3);
	arch_run_nops(3 * NSEC_PER_MSEC);
	local_irq_restore_l(flags, "kt_late_timer");
	sleep_ns(NSEC_PER_MSEC);
	r = wake_worst_timer;
	end();
	if (!exact_clock())
		KT_SKIP("needs a clock that counts instructions");
	KT_ASSERT(r.late_ns > 2900000);
	KT_EQ(r.fn, (unsigned long)nothing);
	KT_ASSERT(r.section.start && !strcmp(r.section.start->label, "kt_late_timer"));
	KT_EQ(r.section.work, 3);
	KT_ASSERT(r.held > 2900000 && r.held <= r.late_ns);
}

/* Off means off: no latency is measured from a wake-up before the tracer came on. */
KTEST(wakeup, nothing_from_before)
{
	struct wake_hist h;

	KT_ASSERT(begin("wakeup_rt", SCHED_FIFO));
	tracer_select("nop");
	complete(&s.go);
	sleep_ns(NSEC_PER_MSEC);
	wakeup_reset();
	wakeup_hist_sum(WAKE_RT, &h);
	KT_EQ(h.count, 0);
	preempt_disable(); /* woken while off, runs while on */
	complete(&s.go);
	KT_EQ(READ_ONCE(s.runs), 1);
	preempt_enable();
	sleep_ns(NSEC_PER_MSEC);
	tracer_select("wakeup_rt");
	sleep_ns(NSEC_PER_MSEC);
	wakeup_hist_sum(WAKE_RT, &h);
	KT_EQ(h.count, 0);
	complete(&s.go);
	sleep_ns(NSEC_PER_MSEC);
	wakeup_hist_sum(WAKE_RT, &h);
	end();
	KT_EQ(h.count, 1);
}
