/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fair policy's arithmetic (sched/fair.c) on a simulated CPU with a 1 ms tick: shares, lag,
 * latency.
 *
 * The simulator runs the picked entity until its next event (tick, sleep, wake) and lets
 * fair_check() prove the queue after every operation.
 */
// SOURCES: sched/fair.c lib/rbtree.c
#include "host.h"

#include "sched/fair.h"

#define MAX 40
#define TICK 1000000ull
#define MS 1000000ull

struct sim_thread {
	struct sched_entity se;
	u64 ran;	   /* real ns */
	u64 burst, pause;  /* 0: always runnable */
	u64 left, wake_at; /* of the burst; when asleep */
	u64 slept_since, woke_at, worst_latency;
	bool waiting; /* woken, has not run since */
};
struct sim {
	struct fair_rq q;
	struct sim_thread t[MAX];
	int n;
	u64 now, next_tick;
};

static void sim_init(struct sim *s)
{
	memset(s, 0, sizeof(*s));
	fair_init(&s->q);
	s->next_tick = TICK;
}

static struct sim_thread *sim_add(struct sim *s, u32 weight, u64 burst, u64 pause)
{
	struct sim_thread *t = &s->t[s->n++];

	t->se.weight = weight;
	t->se.slice_ns = FAIR_SLICE_NS;
	t->burst = t->left = burst;
	t->pause = pause;
	fair_enqueue_new(&s->q, &t->se);
	CHECK(fair_check(&s->q));
	return t;
}

static void sim_schedule(struct sim *s)
{
	struct sched_entity *next = fair_pick(&s->q);

	CHECK(!!next == (s->q.nr != 0));
	if (next && next != s->q.curr) {
		fair_put_curr(&s->q);
		fair_set_curr(&s->q, next);
	}
	CHECK(fair_check(&s->q));
	if (next) {
		struct sim_thread *t = container_of(next, struct sim_thread, se);

		CHECK(fair_eligible(&s->q, next));
		if (t->waiting && s->now - t->woke_at > t->worst_latency)
			t->worst_latency = s->now - t->woke_at;
		t->waiting = false;
	}
}

static u64 next_event(struct sim *s, struct sim_thread *running)
{
	u64 at = s->next_tick;

	for (int i = 0; i < s->n; i++)
		if (!s->t[i].se.on_rq && s->t[i].wake_at < at)
			at = s->t[i].wake_at;
	if (running && running->burst && s->now + running->left < at)
		at = s->now + running->left;
	return at > s->now ? at : s->now;
}

static bool wake_due(struct sim *s)
{
	bool preempt = false;

	for (int i = 0; i < s->n; i++) {
		struct sim_thread *t = &s->t[i];

		if (t->se.on_rq || t->wake_at > s->now)
			continue;
		fair_enqueue(&s->q, &t->se, s->now - t->slept_since);
		CHECK(fair_check(&s->q));
		t->left = t->burst;
		t->woke_at = s->now;
		t->waiting = true;
		preempt |= !s->q.curr || fair_preempts(&s->q, &t->se);
	}
	return preempt;
}

static void sim_step(struct sim *s)
{
	struct sim_thread *t = s->q.curr ? container_of(s->q.curr, struct sim_thread, se) : NULL;
	u64 at = next_event(s, t), delta = at - s->now;
	bool resched = false;

	s->now = at;
	if (t && delta) {
		resched = fair_update(&s->q, delta);
		t->ran += delta;
		if (t->burst)
			t->left -= delta;
	}
	if (t && t->burst && !t->left) {
		fair_dequeue(&s->q, &t->se);
		t->slept_since = s->now;
		t->wake_at = s->now + t->pause;
		resched = true;
	}
	resched |= wake_due(s);
	if (at == s->next_tick)
		s->next_tick += TICK;
	if (resched)
		sim_schedule(s);
}

static void sim_run(struct sim *s, u64 until)
{
	sim_schedule(s);
	while (s->now < until)
		sim_step(s);
}

static u64 load_of(struct sim *s)
{
	u64 load = 0;

	for (int i = 0; i < s->n; i++)
		load += s->t[i].se.weight;
	return load;
}

/*
 * Always-runnable threads of any weights: nobody is ever further from its share than one request
 * and one tick.
 */
HOST_TEST(shares_within_one_request)
{
	for (int round = 0; round < 60; round++) {
		struct sim s;
		int n = 2 + (int)(host_random() % 12);
		u64 load;

		sim_init(&s);
		for (int i = 0; i < n; i++)
			sim_add(&s, fair_weight((int)(host_random() % 40) - 20), 0, 0);
		load = load_of(&s);
		sim_schedule(&s);
		while (s.now < 2000 * MS) {
			sim_step(&s);
			for (int i = 0; i < n; i++) {
				double share = (double)s.now * s.t[i].se.weight / (double)load;
				double off = (double)s.t[i].ran - share;

				CHECK(off < (double)(FAIR_SLICE_NS + 2 * TICK));
				CHECK(off > -(double)(FAIR_SLICE_NS + 2 * TICK));
			}
		}
	}
}

/* The lags add up to nothing, whatever comes and goes. */
HOST_TEST(lag_is_conserved)
{
	struct sim s;

	sim_init(&s);
	for (int i = 0; i < 20; i++)
		sim_add(&s, fair_weight((int)(host_random() % 40) - 20),
			i % 2 ? 0 : 1 + host_random() % (5 * MS), 1 + host_random() % (20 * MS));
	sim_schedule(&s);
	for (int step = 0; step < 100000; step++) {
		__int128 sum = 0;

		sim_step(&s);
		if (!s.q.nr)
			continue;
		for (int i = 0; i < s.n; i++)
			if (s.t[i].se.on_rq)
				sum += (__int128)(s64)(fair_vtime(&s.q) - s.t[i].se.vruntime) *
				       s.t[i].se.weight;
		/* V is rounded by less than 1: the sum by less than the load */
		CHECK(sum < (__int128)s.q.load && sum > -(__int128)s.q.load);
	}
}

/* A thread that needs little gets all it needs, soon, beside hogs. */
HOST_TEST(light_sleeper_is_served_soon)
{
	for (int hogs = 1; hogs <= 8; hogs++) {
		struct sim s;
		struct sim_thread *light;
		u64 cycles;

		sim_init(&s);
		for (int i = 0; i < hogs; i++)
			sim_add(&s, FAIR_WEIGHT_0, 0, 0);
		light = sim_add(&s, FAIR_WEIGHT_0, 200000, 40 * MS);
		sim_run(&s, 4000 * MS);
		cycles = light->ran / 200000;
		CHECK(cycles >= 4000 / (41 + (u64)hogs * 3));
		CHECK(light->worst_latency <= (u64)hogs * (FAIR_SLICE_NS + TICK));
		for (int i = 1; i < hogs; i++) { /* and the hogs stay equal */
			s64 d = (s64)(s.t[i].ran - s.t[0].ran);

			CHECK(d < (s64)(2 * FAIR_SLICE_NS + 2 * TICK) &&
			      d > -(s64)(2 * FAIR_SLICE_NS + 2 * TICK));
		}
	}
}

/*
 * Sleeping does not pay: one that sleeps at the end of each request gets no more than its share of
 * the time it was awake.
 */
HOST_TEST(sleeping_does_not_hoard)
{
	struct sim s;
	struct sim_thread *a, *b;

	sim_init(&s);
	a = sim_add(&s, FAIR_WEIGHT_0, 0, 0);
	b = sim_add(&s, FAIR_WEIGHT_0, 3 * MS, 1000); /* runs 3 ms, sleeps 1 us */
	sim_run(&s, 3000 * MS);
	CHECK(b->ran <= a->ran + a->ran / 10);
	CHECK(a->ran <= 2 * b->ran);
}

/* Two steps of nice are 1.25^2. */
HOST_TEST(nice_ratio)
{
	struct sim s;
	struct sim_thread *a, *b;

	sim_init(&s);
	a = sim_add(&s, fair_weight(0), 0, 0);
	b = sim_add(&s, fair_weight(5), 0, 0);
	sim_run(&s, 10000 * MS);
	CHECK(a->ran * 100 / b->ran >= 300 && a->ran * 100 / b->ran <= 312); /* 1024 / 335 */
}

/* Changing the weight leaves V where it is, and the time owed. */
HOST_TEST(reweight_keeps_v)
{
	struct sim s;

	sim_init(&s);
	for (int i = 0; i < 10; i++)
		sim_add(&s, fair_weight((int)(host_random() % 40) - 20), 0, 0);
	sim_run(&s, 100 * MS);
	for (int round = 0; round < 20000; round++) {
		struct sim_thread *t = &s.t[host_random() % 10];
		u64 v = fair_vtime(&s.q), old = t->se.weight;
		s64 lag = (s64)(v - t->se.vruntime) * t->se.weight, after, slack;

		fair_reweight(&s.q, &t->se, fair_weight((int)(host_random() % 40) - 20));
		CHECK(fair_check(&s.q));
		/*
		 * V and the new lag are each rounded by less than 1, and that is stretched by
		 * weight / weight of the others
		 */
		slack = (s64)((old + t->se.weight) / (s.q.load - t->se.weight)) + 3;
		CHECK((s64)(fair_vtime(&s.q) - v) <= slack &&
		      (s64)(fair_vtime(&s.q) - v) >= -slack);
		after = (s64)(fair_vtime(&s.q) - t->se.vruntime) * t->se.weight;
		CHECK(after - lag < 2 * 88761 * slack && lag - after < 2 * 88761 * slack);
		sim_schedule(&s);
		sim_step(&s);
	}
}

/* Yielding hands over to an equal. */
HOST_TEST(yield_lets_others_run)
{
	struct sim s;
	struct sched_entity *first;

	sim_init(&s);
	sim_add(&s, FAIR_WEIGHT_0, 0, 0);
	sim_add(&s, FAIR_WEIGHT_0, 0, 0);
	sim_schedule(&s);
	first = s.q.curr;
	fair_update(&s.q, 1000);
	fair_yield(&s.q);
	sim_schedule(&s);
	CHECK(s.q.curr != first);
}

/* The pick agrees with a plain search: eligible, earliest deadline. */
HOST_TEST(pick_is_exact)
{
	struct sim s;

	sim_init(&s);
	for (int i = 0; i < MAX; i++) {
		struct sim_thread *t =
			sim_add(&s, fair_weight((int)(host_random() % 40) - 20), 0, 0);

		t->se.slice_ns = 100000 + host_random() % (20 * MS);
	}
	sim_schedule(&s);
	for (int step = 0; step < 20000; step++) {
		struct sched_entity *best = NULL, *picked = fair_pick(&s.q);

		for (int i = 0; i < MAX; i++) {
			struct sched_entity *se = &s.t[i].se;

			if (fair_eligible(&s.q, se) &&
			    (!best || (s64)(se->deadline - best->deadline) < 0))
				best = se;
		}
		CHECK(picked && picked->deadline == best->deadline && fair_eligible(&s.q, picked));
		sim_step(&s);
		if (step % 3 == 0)
			sim_schedule(&s);
	}
}

/* Hours of virtual time at the lightest weight: no overflow of the sums. */
HOST_TEST(long_run)
{
	struct sim s;

	sim_init(&s);
	sim_add(&s, 15, 0, 0);
	sim_add(&s, 88761, 0, 0);
	sim_add(&s, FAIR_WEIGHT_IDLE, 0, 0);
	sim_schedule(&s);
	for (int i = 0; i < 200000; i++) {
		s.now += 700 * MS; /* long stretches without a tick */
		fair_update(&s.q, 700 * MS);
		sim_schedule(&s);
	}
}
