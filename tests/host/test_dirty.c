// SPDX-License-Identifier: BSD-2-Clause
/* test_dirty.c - dirtyable memory, limits and shares: the arithmetic of [facts 1.11]. */
// SOURCES: mm/cache/dirty.c
#include "host.h"
#include "lib/math.h"
#include "mm/cache/dirty.h"

HOST_TEST(dirtyable)
{
	struct dirty_figures f = { .free = 1000,
				   .inactive_file = 200,
				   .active_file = 300,
				   .anon = 400,
				   .reserve = 150,
				   .high = 100,
				   .highmem_is_dirtyable = true };

	CHECK_EQ(dirty_dirtyable(&f, 0), 1501); /* 2.6.37 without swap */
	f.swap = true;
	CHECK_EQ(dirty_dirtyable(&f, 0), 1901);			/* anonymous pages could go to it */
	CHECK_EQ(dirty_dirtyable(&f, 1), 1000 - 150 + 500 + 1); /* 3.16 */
	f.highmem_is_dirtyable = false;
	CHECK_EQ(dirty_dirtyable(&f, 1), 1251);
	f.reserve = 2000; /* more reserved than free */
	CHECK_EQ(dirty_dirtyable(&f, 1), 401);
	f.high = 5000;
	CHECK_EQ(dirty_dirtyable(&f, 1), 1); /* never 0 */
}

HOST_TEST(limits)
{
	struct dirty_tunables t = { .background_ratio = 10, .ratio = 20 };
	unsigned long bg, dirty;

	dirty_compute_limits(&t, 1000000, false, &bg, &dirty);
	CHECK_EQ(bg, 100000);
	CHECK_EQ(dirty, 200000);
	CHECK_EQ(dirty_freerun(bg, dirty), 150000);
	dirty_compute_limits(&t, 1000000, true, &bg, &dirty); /* LESS_THROTTLE or real time */
	CHECK_EQ(bg, 125000);
	CHECK_EQ(dirty, 250000);
	t.background_ratio = 30; /* not below the dirty limit: half of it */
	dirty_compute_limits(&t, 1000000, false, &bg, &dirty);
	CHECK_EQ(bg, 100000);
	t.bytes = 4097; /* rounded up */
	t.background_bytes = 1;
	dirty_compute_limits(&t, 1000000, false, &bg, &dirty);
	CHECK_EQ(dirty, 2);
	CHECK_EQ(bg, 1);
	t.ratio = t.background_ratio = 0;
	t.bytes = t.background_bytes = 0;
	dirty_compute_limits(&t, 1000000, false, &bg, &dirty);
	CHECK_EQ(dirty, 0);
	CHECK_EQ(bg, 0);
}

HOST_TEST(shares)
{
	/* half of the completions, no minima */
	CHECK_EQ(dirty_bdi_limit(200000, 1, 2, 0, 0, 100), 100000);
	/* 10 % for this one whatever happens, another has 20 %: of the other 70 % its share */
	CHECK_EQ(dirty_bdi_limit(200000, 1, 2, 30, 10, 100), 90000);
	CHECK_EQ(dirty_bdi_limit(200000, 0, 1, 30, 10, 100), 20000);
	CHECK_EQ(dirty_bdi_limit(200000, 1, 1, 0, 0, 40), 80000); /* max_ratio */
	CHECK_EQ(dirty_bdi_limit(200000, 1, 1, 150, 0, 100), 0);  /* absurd minima do not wrap */
	/* a task: its share of the soft zone off */
	CHECK_EQ(dirty_task_limit(160000, 16, 1, 1), 150000);
	CHECK_EQ(dirty_task_limit(160000, 8, 1, 1), 140000); /* 2.6.37 */
	CHECK_EQ(dirty_task_limit(160000, 16, 1, 100), 159900);
	CHECK_EQ(dirty_task_limit(160000, 1, 1, 1), 80000); /* at least half */
	CHECK_EQ(dirty_task_limit(0, 16, 1, 1), 0);
}

HOST_TEST(period)
{
	CHECK_EQ(prop_shift(1ul << 17, 0), 2 + 16); /* 2 + ilog2(dirty - 1) */
	CHECK_EQ(prop_shift((1ul << 17) + 1, 0), 2 + 17);
	CHECK_EQ(prop_shift(200000, 0), 2 + 17);
	CHECK_EQ(prop_shift(200000, 1), 17 - 1);
	CHECK_EQ(prop_shift(0, 0), 2); /* no logarithm of nothing */
	CHECK_EQ(prop_shift(1, 0), 2);
	CHECK_EQ(prop_shift(0, 1), 1);
	CHECK_EQ(prop_shift(8, 1), 1);
}

static double share(const struct prop_global *g, struct prop_local *l)
{
	u64 num, den;

	prop_norm(g, l);
	prop_fraction(g, l, &num, &den);
	CHECK(den && num <= den);
	return (double)num / den;
}

HOST_TEST(proportion_converges)
{
	struct prop_global g = { 0 };
	struct prop_local a = { 0 }, b = { 0 };
	double s;

	prop_set_shift(&g, 12);		  /* a period of 4096 */
	for (int i = 0; i < 20000; i++) { /* three of four are a's */
		prop_add(&g, &a, 3);
		prop_add(&g, &b, 1);
	}
	s = share(&g, &a) + share(&g, &b);
	CHECK(s > 0.9 && s <= 1.0);
	CHECK(share(&g, &a) > 0.68 && share(&g, &a) < 0.78);
	CHECK(share(&g, &b) > 0.22 && share(&g, &b) < 0.27);
	/* a stops: after a few periods nothing is left of it */
	prop_add(&g, &b, 5 * 4096);
	CHECK(share(&g, &a) < 0.01);
	CHECK(share(&g, &b) > 0.95);
}

/* One addition of n is n additions of one. */
HOST_TEST(proportion_in_one_go)
{
	struct prop_global g1 = { 0 }, g2 = { 0 };
	struct prop_local a1 = { 0 }, a2 = { 0 }, b1 = { 0 }, b2 = { 0 };

	prop_set_shift(&g1, 9);
	prop_set_shift(&g2, 9);
	for (int i = 0; i < 3000; i++) {
		u64 n = 1 + host_random() % 700;
		struct prop_local *l1 = i & 1 ? &a1 : &b1, *l2 = i & 1 ? &a2 : &b2;

		prop_add(&g1, l1, n);
		for (u64 k = 0; k < n; k++)
			prop_add(&g2, l2, 1);
		CHECK_EQ(g1.events, g2.events);
		CHECK_EQ(l1->events, l2->events);
	}
	prop_add(&g1, &a1, 1ull << 40); /* absurdly many: bounded work, a whole share */
	CHECK(share(&g1, &a1) > 0.95);
	CHECK(share(&g1, &b1) < 0.01);
}

HOST_TEST(proportion_changes_scale)
{
	struct prop_global g = { 0 };
	struct prop_local a = { 0 }, b = { 0 };
	double before, after;

	prop_set_shift(&g, 12);
	for (int i = 0; i < 10000; i++) {
		prop_add(&g, &a, 1);
		prop_add(&g, &b, 1);
	}
	before = share(&g, &a);
	prop_set_shift(&g, 15);
	after = share(&g, &a);
	CHECK(after > before * 0.8 && after < before * 1.25);
	prop_set_shift(&g, 8);
	after = share(&g, &a);
	CHECK(after > before * 0.7 && after < before * 1.3);
}
