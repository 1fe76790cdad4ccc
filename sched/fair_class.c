/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fair_class.c - SCHED_OTHER, SCHED_BATCH, SCHED_IDLE: the EEVDF arithmetic of fair.c as a
 * scheduler class.
 */
#include "sched/autogroup.h"
#include "sched/internal.h"

static inline struct thread *thread_of(struct sched_entity *se)
{
	return container_of(se, struct thread, se);
}

static __always_inline void enqueue(struct rq *rq, struct thread *t, enum enqueue_how how)
{
	if (likely(how == ENQUEUE_WAKEUP))
		fair_enqueue(&rq->fair, &t->se, rq->clock - t->sleep_start_ns);
	else if (how == ENQUEUE_NEW)
		fair_enqueue_new(&rq->fair, &t->se);
	else
		fair_enqueue(&rq->fair, &t->se, 0);
}

/* With groups (autogroup.h). Apart, so that the ways without them stay a test and a jump. */
static noinline void enqueue_grouped(struct rq *rq, struct thread *t, enum enqueue_how how)
{
	sched_group_enter(t);
	enqueue(rq, t, how);
}

static noinline void dequeue_grouped(struct rq *rq, struct thread *t)
{
	fair_dequeue(&rq->fair, &t->se);
	sched_group_leave(t);
}

static noinline bool update_grouped(struct rq *rq, struct thread *t, u64 delta_ns)
{
	bool served = fair_update(&rq->fair, delta_ns);

	if (served)
		sched_group_refresh(&rq->fair, t);
	return served;
}

static void fair_class_enqueue(struct rq *rq, struct thread *t, enum enqueue_how how)
{
	if (unlikely(switch_value(sched_autogroup)))
		enqueue_grouped(rq, t, how);
	else
		enqueue(rq, t, how);
}

static void fair_class_dequeue(struct rq *rq, struct thread *t)
{
	if (unlikely(t->group_load))
		dequeue_grouped(rq, t);
	else
		fair_dequeue(&rq->fair, &t->se);
}

static struct thread *fair_class_pick(struct rq *rq)
{
	return thread_of(fair_pick(&rq->fair));
}

static void fair_class_set_next(struct rq *rq, struct thread *t)
{
	t->wait_sum_ns += rq->clock - t->wait_start_ns;
	rq->curr_level = 0;
	fair_set_curr(&rq->fair, &t->se);
}

static void fair_class_put_prev(struct rq *rq, struct thread *t)
{
	t->wait_start_ns = rq->clock;
	fair_put_curr(&rq->fair);
}

static bool fair_class_update(struct rq *rq, struct thread *t, u64 delta_ns)
{
	if (unlikely(t->group_load | switch_value(sched_autogroup)))
		return update_grouped(rq, t, delta_ns);
	return fair_update(&rq->fair, delta_ns);
}

/*
 * The tick has nothing to add: the request's end is noticed by update. A debtor who is not eligible
 * may finish it.
 */
static bool fair_class_tick(struct rq *rq, struct thread *t)
{
	return false;
}

static bool fair_class_preempts(struct rq *rq, struct thread *woken)
{
	if (likely(rq->curr->policy != SCHED_IDLE) && !fair_preempts(&rq->fair, &woken->se))
		return false;
	return woken->policy == SCHED_OTHER; /* BATCH and IDLE wait for the end of the request */
}

static void fair_class_yield(struct rq *rq, struct thread *t)
{
	fair_yield(&rq->fair);
}

static void fair_class_set_params(struct rq *rq, struct thread *t, int level)
{
	u32 weight = level == LEVEL_IDLE ? FAIR_WEIGHT_IDLE : fair_weight(19 - level);

	if (weight != t->se.weight)
		fair_reweight(NULL, &t->se, weight);
}

/* From the latest deadline backwards: those would wait longest here. */
static struct thread *fair_class_movable(struct rq *rq, u32 cpu)
{
	struct rb_node *node = rb_last(&rq->fair.tree);

	for (u32 i = 0; node && i < 16; i++, node = rb_prev(node)) {
		struct thread *t = thread_of(rb_entry(node, struct sched_entity, node));

		if (t->allowed & CPU_BIT(cpu))
			return t;
	}
	return NULL;
}

static u64 fair_class_interval(const struct thread *t)
{
	return t->se.slice_ns;
}

const struct sched_class fair_class = {
	.name = "fair",
	.rank = 1,
	.enqueue = fair_class_enqueue,
	.dequeue = fair_class_dequeue,
	.pick = fair_class_pick,
	.set_next = fair_class_set_next,
	.put_prev = fair_class_put_prev,
	.update = fair_class_update,
	.tick = fair_class_tick,
	.preempts = fair_class_preempts,
	.yield = fair_class_yield,
	.set_params = fair_class_set_params,
	.movable = fair_class_movable,
	.interval = fair_class_interval,
};
