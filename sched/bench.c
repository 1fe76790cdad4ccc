/* SPDX-License-Identifier: BSD-2-Clause */
/* bench.c - the price of a switch: two kernel threads wake each other and sleep. */
#include "sched/internal.h"
#include "sched/kthread.h"

struct ball {
	struct thread *player[2];
	u32 turn; /* whose */
	u32 rounds;
	u64 ns;
};

static int play(struct ball *b, u32 me)
{
	for (u32 i = 0; i < b->rounds; i++) {
		for (;;) {
			thread_set_state(THREAD_UNINTERRUPTIBLE);
			if (READ_ONCE(b->turn) == me)
				break;
			schedule();
		}
		WRITE_ONCE(current->state, THREAD_RUNNING);
		WRITE_ONCE(b->turn, !me);
		wake_up_thread(b->player[!me]);
	}
	return 0;
}

static int play0(void *arg)
{
	struct ball *b = arg;
	u64 start = ktime_get();

	play(b, 0);
	b->ns = ktime_get() - start;
	while (!kthread_should_stop()) {
		thread_set_state(THREAD_UNINTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule();
	}
	WRITE_ONCE(current->state, THREAD_RUNNING);
	return 0;
}

static int play1(void *arg)
{
	play(arg, 1);
	while (!kthread_should_stop()) {
		thread_set_state(THREAD_UNINTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule();
	}
	WRITE_ONCE(current->state, THREAD_RUNNING);
	return 0;
}

u64 sched_bench_switch(u32 rounds)
{
	struct ball b = { .rounds = rounds };
	u32 cpu = current->cpu;

	b.player[0] = kthread_create(play0, &b, -1, "switch/0");
	b.player[1] = kthread_create(play1, &b, -1, "switch/1");
	if (!b.player[0] || !b.player[1]) {
		b.rounds = 0;
		for (u32 i = 0; i < 2; i++)
			if (b.player[i]) {
				thread_start(b.player[i]);
				kthread_stop(b.player[i]);
			}
		return 0;
	}
	for (u32 i = 0; i < 2; i++) {
		sched_set_affinity(b.player[i], CPU_BIT(cpu));
		thread_get(b.player[i]); /* the other one's last wake-up may come after its end */
		thread_start(b.player[i]);
	}
	for (u32 i = 0; i < 2; i++)
		kthread_stop(b.player[i]);
	for (u32 i = 0; i < 2; i++)
		thread_put(b.player[i]);
	return b.ns / (2ull * rounds);
}
