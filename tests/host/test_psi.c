/* SPDX-License-Identifier: BSD-2-Clause */
/* Pressure: the decaying averages and the weighted mean over CPUs, against floating point. */
// SOURCES:
#include "host.h"

#include "sched/psi_avg.h"

#define S 1000000000ull

static double percent(u64 avg)
{
	return (double)avg / PSI_PERCENT;
}

static double power(double e, u64 n)
{
	double r = 1;

	while (n--)
		r *= e;
	return r;
}

static const double decay[NR_PSI_WINDOWS] = { 0.81873075307798186, 0.96721610048444578,
					      0.99335550625503441 };

static bool near(double a, double b, double by)
{
	return a - b < by && b - a < by;
}

HOST_TEST(psi_share_of_a_period)
{
	CHECK_EQ(psi_share(0, 1), 0);
	CHECK_EQ(psi_share(PSI_PERIOD_NS, 1), 100 * PSI_PERCENT);
	CHECK_EQ(psi_share(PSI_PERIOD_NS + 5, 1), 100 * PSI_PERCENT);
	CHECK_EQ(psi_share(PSI_PERIOD_NS / 2, 1), 50 * PSI_PERCENT);
	CHECK_EQ(psi_share(PSI_PERIOD_NS, 4), 25 * PSI_PERCENT);
	/* a year of which a quarter was lost: no overflow */
	CHECK(near(percent(psi_share(90ull * 86400 * S, 180ull * 86400)), 25, 0.01));
	CHECK(near(percent(psi_share(3650ull * 86400 * S, 3650ull * 86400)), 50, 0.01));
}

HOST_TEST(psi_averages_follow_the_exponential)
{
	u64 avg[NR_PSI_WINDOWS] = { 0 };
	double want[NR_PSI_WINDOWS] = { 0 };
	u64 rng = 88172645463325252ull;

	for (int step = 0; step < 3000; step++) {
		u64 stalled;

		rng ^= rng << 13;
		rng ^= rng >> 7;
		rng ^= rng << 17;
		stalled = step % 700 < 300 ? rng % (PSI_PERIOD_NS + 1) : 0;
		psi_step(avg, stalled, 1);
		for (int i = 0; i < NR_PSI_WINDOWS; i++) {
			want[i] = want[i] * decay[i] +
				  100.0 * (double)stalled / PSI_PERIOD_NS * (1 - decay[i]);
			CHECK(near(percent(avg[i]), want[i], 0.01));
		}
	}
}

HOST_TEST(psi_stalled_all_the_time_is_a_hundred)
{
	u64 avg[NR_PSI_WINDOWS] = { 0 };

	for (int i = 0; i < 4000; i++)
		psi_step(avg, PSI_PERIOD_NS, 1);
	for (int i = 0; i < NR_PSI_WINDOWS; i++) {
		CHECK(near(percent(avg[i]), 100, 0.005));
		CHECK(avg[i] <= 100 * PSI_PERCENT);
	}
	psi_step(avg, 0, 5); /* ten seconds of quiet: 1/e of the short one is left */
	CHECK(near(percent(avg[PSI_10]), 36.79, 0.01));
	psi_step(avg, 0, 1000000); /* three weeks */
	for (int i = 0; i < NR_PSI_WINDOWS; i++)
		CHECK_EQ(avg[i], 0);
}

/* Periods that were missed are as good as periods in which the loss was even. */
HOST_TEST(psi_missed_periods_are_made_up_for)
{
	for (u64 n = 1; n < 200; n += 7) {
		u64 once[NR_PSI_WINDOWS] = { 40 * PSI_PERCENT, 3 * PSI_PERCENT, PSI_PERCENT };
		u64 each[NR_PSI_WINDOWS] = { 40 * PSI_PERCENT, 3 * PSI_PERCENT, PSI_PERCENT };

		psi_step(once, n * (PSI_PERIOD_NS / 4), n);
		for (u64 i = 0; i < n; i++)
			psi_step(each, PSI_PERIOD_NS / 4, 1);
		for (int i = 0; i < NR_PSI_WINDOWS; i++)
			CHECK(near(percent(once[i]), percent(each[i]), 0.02));
	}
	for (int i = 0; i < NR_PSI_WINDOWS; i++) {
		static const u32 e[NR_PSI_WINDOWS] = PSI_DECAYS;

		for (u64 n = 0; n < 300; n += 11)
			CHECK(near((double)psi_power(e[i], n) / PSI_ONE, power(decay[i], n), 1e-6));
	}
}

HOST_TEST(psi_cpus_weigh_what_they_were_busy)
{
	struct psi_sum sum;

	psi_sum_init(&sum, 2 * S); /* one CPU busy and stalled half of it, one idle */
	psi_sum_add(&sum, S, 2 * S);
	psi_sum_add(&sum, 0, 0);
	CHECK(near((double)psi_sum_result(&sum), 1e9, 1e5));
	psi_sum_init(&sum, 2 * S); /* the other one busy without a stall: half as bad */
	psi_sum_add(&sum, S, 2 * S);
	psi_sum_add(&sum, 0, 2 * S);
	CHECK(near((double)psi_sum_result(&sum), 0.5e9, 1e5));
	psi_sum_init(&sum, 0);
	CHECK_EQ(psi_sum_result(&sum), 0);
	/* 64 CPUs, a month, stalled all the time */
	psi_sum_init(&sum, 30ull * 86400 * S);
	for (int i = 0; i < 64; i++)
		psi_sum_add(&sum, 30ull * 86400 * S, 30ull * 86400 * S);
	CHECK(near((double)psi_sum_result(&sum) / 1e9, 30.0 * 86400, 1));
}
