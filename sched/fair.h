/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fair.h - the arithmetic of the fair policy (EEVDF) on one queue. Pure: no locks, no clock, no
 * threads; the same file runs in the host tests. sched/fair_class.c puts it behind the
 * scheduler-class header.
 */
#ifndef SCHED_FAIR_H
#define SCHED_FAIR_H

#include "lib/rbtree.h"

#define FAIR_WEIGHT_0 1024u    /* nice 0 */
#define FAIR_WEIGHT_IDLE 3u    /* SCHED_IDLE */
#define FAIR_SLICE_NS 1800000u /* default request: two ticks less what the ticks themselves take */

/*
 * All vruntime-like values are virtual ns: real ns * 1024 / weight. Protected by the lock of the
 * queue.
 */
struct sched_entity {
	struct rb_node node; /* by deadline; the running one is out of the tree */
	u64 vruntime, deadline;
	u64 min_vruntime; /* smallest vruntime in this subtree */
	s64 vlag;	  /* V - vruntime when it left the queue (clamped) */
	u64 slice_ns;	  /* real ns of one request */
	u32 weight;
	bool on_rq;
};

struct fair_rq {
	struct rb_root tree;
	struct sched_entity *curr; /* the running one: counted in sum, load, nr; not in the tree */
	u64 base;		   /* zero point of the keys in sum */
	s64 sum;		   /* sum of weight * (vruntime - base) */
	u64 load;		   /* sum of weight */
	u32 nr;
};

/* Linux's table: every step of nice is 1.25 times, about 10 % of the CPU between two. */
extern const u32 fair_weights[40];
static inline u32 fair_weight(int nice)
{
	return fair_weights[nice + 20];
}

static inline bool fair_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}
/* Real ns to virtual ns, rounded to nearest: many small steps must not add up to free time. */
static inline u64 fair_to_virtual(u64 ns, u32 weight)
{
	if (likely(weight == FAIR_WEIGHT_0))
		return ns;
	return (ns * FAIR_WEIGHT_0 + weight / 2) / weight;
}

void fair_init(struct fair_rq *q);
/* V, the virtual time at which everybody would have had exactly its share (to less than 1). */
static inline u64 fair_vtime(const struct fair_rq *q)
{
	return q->load ? q->base + (u64)(q->sum / (s64)q->load) : q->base;
}
/* v <= V, without a division. */
static inline bool fair_vruntime_eligible(const struct fair_rq *q, u64 vruntime)
{
	return (s64)(vruntime - q->base) * (s64)q->load <= q->sum;
}
/* Has se received no more than its share? Exact. */
static inline bool fair_eligible(const struct fair_rq *q, const struct sched_entity *se)
{
	return fair_vruntime_eligible(q, se->vruntime);
}

bool __fair_update_rare(struct fair_rq *q, struct sched_entity *se);
/*
 * The running entity ran delta_ns. => true when its request is served (its deadline has moved on).
 */
static inline bool fair_update(struct fair_rq *q, u64 delta_ns)
{
	struct sched_entity *se = q->curr;
	u64 dv = fair_to_virtual(delta_ns, se->weight), v = se->vruntime + dv;
	s64 sum = q->sum + (s64)(dv * se->weight);

	se->vruntime = v;
	q->sum = sum;
	if (likely(fair_before(v, se->deadline) && sum <= (s64)(q->load << 32)))
		return false;
	return __fair_update_rare(q, se);
}

/*
 * => se not queued. It comes back with its lag, of which it worked off debt for slept_ns (0: it
 *    comes from another queue or class). New ones have no lag and ask for half a request.
 */
void fair_enqueue(struct fair_rq *q, struct sched_entity *se, u64 slept_ns);
void fair_enqueue_new(struct fair_rq *q, struct sched_entity *se);
/* => se queued or running; the running one was brought up to date by fair_update(). */
void fair_dequeue(struct fair_rq *q, struct sched_entity *se);

struct sched_entity *__fair_pick(const struct fair_rq *q);
/*
 * The eligible entity with the earliest deadline, the running one included; NULL when empty.
 * Changes nothing.
 */
static inline struct sched_entity *fair_pick(const struct fair_rq *q)
{
	if (q->nr == 1) /* the usual case of two threads taking turns */
		return q->curr ? q->curr : rb_entry(q->tree.rb_node, struct sched_entity, node);
	return __fair_pick(q);
}

void __fair_tree_insert(struct fair_rq *q, struct sched_entity *se);
void __fair_tree_erase(struct fair_rq *q, struct sched_entity *se);
static inline void fair_tree_remove(struct fair_rq *q, struct sched_entity *se)
{
	if (likely(q->nr == 1))
		q->tree.rb_node = NULL; /* alone */
	else
		__fair_tree_erase(q, se);
}
/*
 * se (queued) becomes the running one / the running one goes back to the tree (if it is still
 * queued).
 */
static inline void fair_set_curr(struct fair_rq *q, struct sched_entity *se)
{
	q->curr = se;
	fair_tree_remove(q, se);
}
static inline void fair_put_curr(struct fair_rq *q)
{
	struct sched_entity *se = q->curr;

	q->curr = NULL;
	if (se && se->on_rq)
		__fair_tree_insert(q, se);
}
/* Changes the weight; lag in real time and the relative deadline stay. */
void fair_reweight(struct fair_rq *q, struct sched_entity *se, u32 weight);
/* The running one gives up the rest of its request: its deadline moves one request on. */
void fair_yield(struct fair_rq *q);
/* Should se (just queued) run instead of the running one? */
static inline bool fair_preempts(const struct fair_rq *q, const struct sched_entity *se)
{
	return q->curr && fair_before(se->deadline, q->curr->deadline) && fair_eligible(q, se);
}
/* Validator: sums, counts, order and augmented minima agree. */
bool fair_check(const struct fair_rq *q);

#endif
