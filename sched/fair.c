/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fair.c - EEVDF: earliest eligible virtual deadline first.
 *
 * Problem: n threads of weight w_i share a CPU; each should receive w_i / sum(w) of every stretch
 * of time, as nearly as slices allow, and one that needs the CPU soon for a short while should get
 * it soon.
 *
 * Idea: thread i's virtual runtime v_i advances by ran / w_i. In the ideal fluid machine all v are
 * equal, to V. Here
 *
 *     V = sum(w_i * v_i) / sum(w_i)          lag_i = w_i * (V - v_i)        sum(lag_i) = 0
 *
 * so a thread with v_i <= V has received too little: it is *eligible*. A thread asks for the CPU in
 * requests of slice_ns; a request made at v_i has the virtual deadline v_i + slice / w_i. Run the
 * eligible thread with the earliest deadline: then no thread is ever further than one request (plus
 * one tick) from its share [Stoica95].
 *
 *        received too much |  received too little
 *     ... v_3  v_1 --------V---------> v   (only v <= V may run; among those the earliest deadline)
 *
 * Leaving and coming back: a thread takes its lag with it (clamped to two requests, so that nobody
 * hoards) and is placed at V - lag' when it returns. Because its arrival moves V itself, lag' = lag
 * * (W + w) / W, W the weight already there; then its lag afterwards is just what it was. A debt
 * (negative lag) is worked off while asleep, at the speed at which it would have been on the queue.
 *
 * Invariants (fair_check): sum and load are over all queued entities, the running one included;
 * keys are kept relative to base, which follows V so that weight * key stays far below 2^63 (load <
 * 2^24, |key| < 2^38); the tree is ordered by deadline and every node knows the smallest vruntime
 * below it, so the pick is one walk down.
 * Locking: the queue's owner's. Source: [Stoica95]; weights of Linux's nice levels. Differs from
 * Linux: no delayed dequeue (the debt decays instead), no protection of the running thread beyond
 * its deadline order, the sum includes the running one.
 */
#include "sched/fair.h"

const u32 fair_weights[40] = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, /* -20 */
	9548,  7620,  6100,  4904,  3906,  3121,  2501,	 1991,	1586,  1277,  /* -10 */
	1024,  820,   655,   526,   423,   335,	  272,	 215,	172,   137,   /* 0 */
	110,   87,    70,    56,    45,	   36,	  29,	 23,	18,    15,    /* 10 */
};

static inline struct sched_entity *entity(const struct rb_node *node)
{
	return rb_entry(node, struct sched_entity, node);
}

static inline s64 key_of(const struct fair_rq *q, u64 vruntime)
{
	return (s64)(vruntime - q->base);
}

void fair_init(struct fair_rq *q)
{
	*q = (struct fair_rq){ .tree = RB_ROOT };
}

/* The request is served, or V has run 2^32 virtual ns away from base. */
bool __fair_update_rare(struct fair_rq *q, struct sched_entity *se)
{
	if (q->sum > (s64)(q->load << 32)) {
		s64 d = q->sum / (s64)q->load;

		q->base += (u64)d;
		q->sum -= d * (s64)q->load;
	}
	if (fair_before(se->vruntime, se->deadline))
		return false;
	se->deadline = se->vruntime + fair_to_virtual(se->slice_ns, se->weight);
	return true;
}

static inline void sum_add(struct fair_rq *q, const struct sched_entity *se)
{
	q->sum += key_of(q, se->vruntime) * (s64)se->weight;
	q->load += se->weight;
}

static inline void sum_sub(struct fair_rq *q, const struct sched_entity *se)
{
	q->load -= se->weight;
	if (!q->load) { /* the last one: V stands still where it was */
		q->base = se->vruntime;
		q->sum = 0;
		return;
	}
	q->sum -= key_of(q, se->vruntime) * (s64)se->weight;
}

static void update_min(struct rb_node *node)
{
	struct sched_entity *se = entity(node);
	u64 least = se->vruntime;

	if (node->rb_left && fair_before(entity(node->rb_left)->min_vruntime, least))
		least = entity(node->rb_left)->min_vruntime;
	if (node->rb_right && fair_before(entity(node->rb_right)->min_vruntime, least))
		least = entity(node->rb_right)->min_vruntime;
	se->min_vruntime = least;
}

void __fair_tree_insert(struct fair_rq *q, struct sched_entity *se)
{
	struct rb_node **link = &q->tree.rb_node, *parent = NULL;

	se->min_vruntime = se->vruntime;
	if (!*link) { /* alone: a black root, and nothing to tell anybody */
		se->node = (struct rb_node){ .parent_color = 1 };
		*link = &se->node;
		return;
	}
	while (*link) {
		parent = *link;
		link = fair_before(se->deadline, entity(parent)->deadline) ? &parent->rb_left
									   : &parent->rb_right;
	}
	rb_link_node(&se->node, parent, link);
	rb_insert_augmented(&se->node, &q->tree, update_min);
}

void __fair_tree_erase(struct fair_rq *q, struct sched_entity *se)
{
	rb_erase_augmented(&se->node, &q->tree, update_min);
}

/* The running entity is not in the tree, and neither is one alone. */
static inline void enter(struct fair_rq *q, struct sched_entity *se, s64 key, u64 request)
{
	u32 w = se->weight;
	u64 v = q->base + (u64)key;

	se->vruntime = v;
	se->deadline = v + request;
	se->on_rq = true;
	q->sum += key * (s64)w;
	q->load += w;
	q->nr++;
	__fair_tree_insert(q, se);
}

/* Debt is worked off while asleep: V would have passed slept / weight of it. */
static inline s64 lag_after_sleep(s64 lag, u64 load, u64 slept_ns)
{
	s64 paid = (s64)(slept_ns * FAIR_WEIGHT_0 / load);

	return paid + lag >= 0 ? 0 : lag + paid;
}

void fair_enqueue(struct fair_rq *q, struct sched_entity *se, u64 slept_ns)
{
	s64 load = (s64)q->load, lag = se->vlag, key = 0;
	u32 w = se->weight;

	if (load) {
		if (lag < 0)
			lag = lag_after_sleep(lag, (u64)load + w, slept_ns);
		key = q->sum / load;
		if (lag) /* stretched, because it moves V itself */
			key -= lag * (load + w) / load;
	}
	enter(q, se, key, fair_to_virtual(se->slice_ns, w));
}

void fair_enqueue_new(struct fair_rq *q, struct sched_entity *se)
{
	enter(q, se, q->load ? q->sum / (s64)q->load : 0,
	      fair_to_virtual(se->slice_ns, se->weight) / 2);
}

/* Two requests either way. */
static noinline void clamp_lag(struct sched_entity *se)
{
	s64 limit = (s64)fair_to_virtual(2 * se->slice_ns, se->weight);

	se->vlag = se->vlag > limit ? limit : se->vlag < -limit ? -limit : se->vlag;
}

/* => out of the tree, not curr. The rare calls come last: no register has to survive them. */
static __always_inline void leave(struct fair_rq *q, struct sched_entity *se)
{
	s64 key = key_of(q, se->vruntime), lag = q->sum / (s64)q->load - key;
	s64 limit = (s64)se->slice_ns * 2 * FAIR_WEIGHT_0;
	u32 w = se->weight;

	se->vlag = lag;
	se->on_rq = false;
	if (likely(--q->nr)) {
		q->load -= w;
		q->sum -= key * (s64)w;
	} else { /* the last one: V stands still where it was */
		q->load = 0;
		q->sum = 0;
		q->base += (u64)key;
	}
	if (unlikely((u64)(lag * (s64)w + limit) > 2 * (u64)limit))
		clamp_lag(se);
}

static noinline void dequeue_waiting(struct fair_rq *q, struct sched_entity *se)
{
	fair_tree_remove(q, se);
	leave(q, se);
}

void fair_dequeue(struct fair_rq *q, struct sched_entity *se)
{
	if (unlikely(q->curr != se)) {
		dequeue_waiting(q, se);
		return;
	}
	q->curr = NULL;
	leave(q, se);
}

struct sched_entity *__fair_pick(const struct fair_rq *q)
{
	struct sched_entity *curr = q->curr, *best = NULL;
	struct rb_node *node = q->tree.rb_node;

	if (curr && !fair_eligible(q, curr))
		curr = NULL;
	while (node) {
		struct rb_node *left = node->rb_left;

		if (left && fair_vruntime_eligible(q, entity(left)->min_vruntime)) {
			node = left; /* somebody with an earlier deadline may run */
			continue;
		}
		if (fair_eligible(q, entity(node))) {
			best = entity(node);
			break;
		}
		node = node->rb_right;
	}
	if (!best || (curr && !fair_before(best->deadline, curr->deadline)))
		return curr;
	return best;
}

void fair_reweight(struct fair_rq *q, struct sched_entity *se, u32 weight)
{
	s64 rel, lag;
	bool running;
	u64 vtime;

	if (!se->on_rq) { /* lag and weight are kept for the next time */
		se->vlag = se->vlag * (s64)se->weight / (s64)weight;
		se->weight = weight;
		return;
	}
	running = q->curr == se;
	vtime = fair_vtime(q);
	lag = (s64)(vtime - se->vruntime);
	rel = (s64)(se->deadline - se->vruntime);
	if (!running)
		fair_tree_remove(q, se);
	sum_sub(q, se);
	/*
	 * w * lag is time owed: it stays. V of the others is where the old lag left it, see the
	 * theory.
	 */
	vtime = fair_vtime(q);
	lag = q->load ? lag * (s64)se->weight / (s64)weight : 0;
	rel = rel * (s64)se->weight / (s64)weight;
	if (q->load)
		lag = lag * (s64)(q->load + weight) / (s64)q->load;
	se->weight = weight;
	se->vruntime = vtime - (u64)lag;
	se->deadline = se->vruntime + (u64)rel;
	sum_add(q, se);
	if (!running)
		__fair_tree_insert(q, se);
}

void fair_yield(struct fair_rq *q)
{
	struct sched_entity *se = q->curr;

	if (se)
		se->deadline += fair_to_virtual(se->slice_ns, se->weight);
}

static bool check_node(const struct fair_rq *q, const struct rb_node *node, s64 *sum, u64 *load,
		       u32 *nr, u64 *least)
{
	const struct sched_entity *se = entity(node);
	u64 m = se->vruntime, sub;

	for (int i = 0; i < 2; i++) {
		const struct rb_node *kid = i ? node->rb_right : node->rb_left;

		if (!kid)
			continue;
		if (!check_node(q, kid, sum, load, nr, &sub))
			return false;
		if (fair_before(sub, m))
			m = sub;
		if (i ? fair_before(entity(kid)->deadline, se->deadline)
		      : fair_before(se->deadline, entity(kid)->deadline))
			return false;
	}
	*sum += key_of(q, se->vruntime) * (s64)se->weight;
	*load += se->weight;
	++*nr;
	*least = m;
	return se->on_rq && se->min_vruntime == m && se != q->curr;
}

bool fair_check(const struct fair_rq *q)
{
	s64 sum = 0;
	u64 load = 0, least;
	u32 nr = 0;

	if (q->tree.rb_node && !check_node(q, q->tree.rb_node, &sum, &load, &nr, &least))
		return false;
	if (q->curr) {
		sum += key_of(q, q->curr->vruntime) * (s64)q->curr->weight;
		load += q->curr->weight;
		nr++;
	}
	return sum == q->sum && load == q->load && nr == q->nr;
}
