/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rt.c - SCHED_FIFO and SCHED_RR: fixed priorities 1..99, a list for each, a bitmap to find the
 * highest.
 *
 * Problem: the thread of the highest priority runs, always, and equals take turns only as POSIX
 * says. Idea: all runnable real-time threads, the running one included, stand in the list of their
 * priority; the first of the highest list runs. FIFO keeps its place at the head when something
 * higher interrupts it; RR goes to the tail when its 100 ms are over. A runaway real-time thread
 * would lock everybody else out for good, so real-time work may take 950 ms of each second; then
 * the others run until the second is over (only if there are any). kernel/sched_rt_runtime_us = -1
 * turns that off.
 * Invariants: bit p set <=> queue[p] not empty; nr counts them all. Locking: the run queue's.
 */
#include "kernel/param.h"
#include "sched/internal.h"

#define RR_SLICE_NS (100 * NSEC_PER_MSEC)
#define RT_PERIOD_NS NSEC_PER_SEC

static long rt_runtime_us = 950000;
TUNABLE("kernel/sched_rt_runtime_us", rt_runtime_us, -1, 1000000, NULL);

static inline void mark(struct rt_rq *rt, u32 prio)
{
	rt->bitmap[prio / 64] |= 1ull << (prio & 63);
}

static inline void unmark(struct rt_rq *rt, u32 prio)
{
	if (list_empty(&rt->queue[prio]))
		rt->bitmap[prio / 64] &= ~(1ull << (prio & 63));
}

static inline struct list_head *highest(struct rt_rq *rt)
{
	if (rt->bitmap[1])
		return &rt->queue[127 - __builtin_clzll(rt->bitmap[1])];
	return &rt->queue[63 - __builtin_clzll(rt->bitmap[0])];
}

static void rt_enqueue(struct rq *rq, struct thread *t, enum enqueue_how how)
{
	list_add_tail(&t->rt.node, &rq->rt.queue[t->rt.prio]);
	mark(&rq->rt, t->rt.prio);
	t->rt.on_rq = true;
	rq->rt.nr++;
}

static void rt_dequeue(struct rq *rq, struct thread *t)
{
	list_del_init(&t->rt.node);
	unmark(&rq->rt, t->rt.prio);
	t->rt.on_rq = false;
	rq->rt.nr--;
}

static struct thread *rt_pick(struct rq *rq)
{
	if (!rq->rt.nr || (unlikely(rq->rt.throttled) && rq->fair.nr))
		return NULL;
	return list_first_entry(highest(&rq->rt), struct thread, rt.node);
}

static void rt_set_next(struct rq *rq, struct thread *t)
{
	t->wait_sum_ns += rq->clock - t->wait_start_ns;
	rq->curr_level = LEVEL_RT + (int)t->rt.prio;
}

static void rt_put_prev(struct rq *rq, struct thread *t)
{
	t->wait_start_ns = rq->clock;
}

static inline bool alone(struct rq *rq, struct thread *t)
{
	return list_is_singular(&rq->rt.queue[t->rt.prio]);
}

bool rt_new_period(struct rq *rq)
{
	struct rt_rq *rt = &rq->rt;
	bool was = rt->throttled;

	if (likely(rq->clock - rt->period_start < RT_PERIOD_NS))
		return false;
	rt->period_start = rq->clock;
	rt->time_ns = 0;
	rt->throttled = false;
	return was;
}

static bool rt_update(struct rq *rq, struct thread *t, u64 delta_ns)
{
	struct rt_rq *rt = &rq->rt;

	rt_new_period(rq);
	rt->time_ns += delta_ns;
	if (unlikely(rt->time_ns > (u64)rt_runtime_us * NSEC_PER_USEC) && rt_runtime_us < 1000000 &&
	    !rt->throttled) {
		rt->throttled = true;
		rt->nr_throttled++;
	}
	if (t->policy == SCHED_RR) {
		if (t->rt.slice_left_ns > delta_ns) {
			t->rt.slice_left_ns -= delta_ns;
		} else {
			t->rt.slice_left_ns = RR_SLICE_NS;
			if (!alone(rq, t)) {
				list_move_tail(&t->rt.node, &rq->rt.queue[t->rt.prio]);
				return true;
			}
		}
	}
	return unlikely(rt->throttled) && rq->fair.nr;
}

static bool rt_tick(struct rq *rq, struct thread *t)
{
	return false;
}

static bool rt_preempts(struct rq *rq, struct thread *woken)
{
	return woken->rt.prio > rq->curr->rt.prio;
}

static void rt_yield(struct rq *rq, struct thread *t)
{
	list_move_tail(&t->rt.node, &rq->rt.queue[t->rt.prio]);
}

static void rt_set_params(struct rq *rq, struct thread *t, int level)
{
	t->rt.prio = (u32)(level - LEVEL_RT);
	if (!t->rt.slice_left_ns)
		t->rt.slice_left_ns = RR_SLICE_NS;
}

static struct thread *rt_movable(struct rq *rq, u32 cpu)
{
	u32 seen = 0;

	for (int w = 1; w >= 0; w--) {
		for (u64 map = rq->rt.bitmap[w]; map;) {
			u32 bit = 63 - (u32)__builtin_clzll(map);
			struct thread *t;

			map &= ~(1ull << bit);
			list_for_each_entry(t, &rq->rt.queue[w * 64 + (int)bit], rt.node) {
				if (t != rq->curr && (t->allowed & CPU_BIT(cpu)))
					return t;
				if (++seen >= 16)
					return NULL;
			}
		}
	}
	return NULL;
}

static u64 rt_interval(const struct thread *t)
{
	return t->policy == SCHED_RR ? RR_SLICE_NS : 0;
}

const struct sched_class rt_class = {
	.name = "rt",
	.rank = 2,
	.enqueue = rt_enqueue,
	.dequeue = rt_dequeue,
	.pick = rt_pick,
	.set_next = rt_set_next,
	.put_prev = rt_put_prev,
	.update = rt_update,
	.tick = rt_tick,
	.preempts = rt_preempts,
	.yield = rt_yield,
	.set_params = rt_set_params,
	.movable = rt_movable,
	.interval = rt_interval,
};
