/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fair.c - EEVDF: earliest eligible virtual deadline first.
 *
 * Problem: n threads of weight w_i share a CPU; each should receive w_i / sum(w) of every stretch of time, as nearly as
 * slices allow, and one that needs the CPU soon for a short while should get it soon.
 *
 * Idea: thread i's virtual runtime v_i advances by ran / w_i. In the ideal fluid machine all v are equal, to V. Here
 *
 *     V = sum(w_i * v_i) / sum(w_i)          lag_i = w_i * (V - v_i)        sum(lag_i) = 0
 *
 * so a thread with v_i <= V has received too little: it is *eligible*. A thread asks for the CPU in requests of slice_ns;
 * a request made at v_i has the virtual deadline v_i + slice / w_i. Run the eligible thread with the earliest deadline:
 * then no thread is ever further than one request (plus one tick) from its share [Stoica95].
 *
 *        received too much |  received too little
 *     ... v_3  v_1 --------V---------> v   (only v <= V may run; among those the earliest deadline)
 *
 * Leaving and coming back: a thread takes its lag with it (clamped to two requests, so that nobody hoards) and is
 * placed at V - lag' when it returns. Because its arrival moves V itself, lag' = lag * (W + w) / W, W the weight already
 * there; then its lag afterwards is just what it was. A debt (negative lag) is worked off while asleep, at the speed
 * at which it would have been on the queue.
 *
 * Invariants (fair_check): sum and load are over all queued entities, the running one included; keys are kept relative to
 * base, which follows V so that weight * key stays far below 2^63 (load < 2^24, |key| < 2^38); the tree is ordered by
 * deadline and every node knows the smallest vruntime below it, so the pick is one walk down.
 * Locking: the queue's owner's. Source: [Stoica95]; weights of Linux's nice levels. Differs from Linux: no delayed dequeue
 * (the debt decays instead), no protection of the running thread beyond its deadline order, the sum includes the running one.
 */
#include "sched/fair.h"

const u32 fair_weights[40] = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, /* -20 */
	9548,  7620,  6100,  4904,  3906,  3121,  2501,  1991,	1586,  1277,  /* -10 */
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

/* Moves base to V when V has run 2^32 virtual ns away from it. */
void __fair_rebase(struct fair_rq *q)
{
	s64 d = q->sum / (s64)q->load;

	q->base += (u64)d;
	q->sum -= d * (s64)q->load;
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
		link = fair_before(se->deadline, entity(parent)->deadline) ? &parent->rb_left :
									     &parent->rb_right;
	}
	rb_link_node(&se->node, parent, link);
	rb_insert_augmented(&se->node, &q->tree, update_min);
}

void __fair_tree_erase(struct fair_rq *q, struct sched_entity *se)
{
	rb_erase_augmented(&se->node, &q->tree, update_min);
}

/* Debt is paid while asleep: V would have passed this much of it. */
static s64 lag_after_sleep(const struct fair_rq *q, const struct sched_entity *se, u64 slept_ns)
{
	u64 paid = slept_ns * FAIR_WEIGHT_0 / (q->load + se->weight);

	return (u64)-se->vlag <= paid ? 0 : se->vlag + (s64)paid;
}

/* Where se stands relative to base: at V, less its lag (stretched, because it moves V itself). */
static inline s64 place(const struct fair_rq *q, const struct sched_entity *se, enum fair_how how, u64 slept_ns)
{
	s64 lag = how == FAIR_NEW ? 0 : se->vlag, load = (s64)q->load;

	if (!load)
		return 0;
	if (lag < 0 && how == FAIR_WAKE)
		lag = lag_after_sleep(q, se, slept_ns);
	if (lag)
		lag = lag * (load + se->weight) / load;
	return q->sum / load - lag;
}

void fair_enqueue(struct fair_rq *q, struct sched_entity *se, enum fair_how how, u64 slept_ns)
{
	u64 request = fair_to_virtual(se->slice_ns, se->weight);

	se->vruntime = q->base + (u64)place(q, se, how, slept_ns);
	se->deadline = se->vruntime + (how == FAIR_NEW ? request / 2 : request);
	se->on_rq = true;
	sum_add(q, se);
	q->nr++;
	__fair_tree_insert(q, se);
}

static inline s64 clamp_lag(const struct sched_entity *se, s64 lag)
{
	s64 limit = (s64)fair_to_virtual(2 * se->slice_ns, se->weight);

	return lag > limit ? limit : lag < -limit ? -limit : lag;
}

void fair_dequeue(struct fair_rq *q, struct sched_entity *se)
{
	se->vlag = clamp_lag(se, q->sum / (s64)q->load - key_of(q, se->vruntime));
	se->on_rq = false;
	if (q->curr == se)
		q->curr = NULL;
	else
		fair_tree_remove(q, se);
	sum_sub(q, se);
	q->nr--;
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
	/* w * lag is time owed: it stays. V of the others is where the old lag left it, see the theory. */
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

static bool check_node(const struct fair_rq *q, const struct rb_node *node, s64 *sum, u64 *load, u32 *nr,
		       u64 *least)
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
		if (i ? fair_before(entity(kid)->deadline, se->deadline) :
			fair_before(se->deadline, entity(kid)->deadline))
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
