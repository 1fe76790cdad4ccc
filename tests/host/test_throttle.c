// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_throttle.c - the decisions of the brake on dirtying: every row of the table in [facts 3.3],
 * the traps of 3.4, the estimators, and the whole control loop against a simulated disk.
 */
// SOURCES: mm/cache/throttle.c mm/cache/throttle_merged.c
#include "host.h"
#include "lib/math.h"
#include "mm/cache/throttle.h"

/* ---- [facts 3.3], [facts 3.2] ---- */

HOST_TEST(min_pause_table)
{
	static const struct {
		u32 hz, ms[10];
	} rows[] = {
		{ 1000, { 9, 19, 29, 39, 48, 58, 68, 78, 87, 97 } },
		{ 250, { 8, 16, 28, 36, 48, 56, 68, 76, 84, 96 } },
		{ 100, { 10, 10, 20, 30, 40, 50, 60, 70, 80, 90 } },
	};

	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		u32 hz = rows[r].hz, max = throttle_max_pause_hard(hz);

		CHECK_EQ(max * 1000 / hz, 200);
		for (u32 n = 1; n <= 10; n++) {
			u32 t = throttle_min_pause(25600, 25600 >> n, max, hz);

			CHECK_EQ(t * 1000 / hz, rows[r].ms[n - 1]);
		}
	}
}

HOST_TEST(min_pause_traps)
{
	/* one light or heavy dirtier, and right after the start: one tick, as before the patch */
	CHECK_EQ(throttle_min_pause(25600, 25600, 200, 1000), 1);
	CHECK_EQ(throttle_min_pause(25600, 51200, 200, 1000), 1);
	CHECK_EQ(throttle_min_pause(25600, 16384, 200, 1000), 1); /* same logarithm */
	/* a stalled device, a bandwidth of zero: guarded */
	CHECK_EQ(throttle_min_pause(0, 25600, 200, 1000), 1);
	CHECK_EQ(throttle_min_pause(0, 0, 200, 1000), 1);
	CHECK_EQ(throttle_min_pause(1024, 0, 200, 1000), 97);
	/* the clamp, and the trap of a max_pause of one tick: matches no pause but 0 */
	CHECK_EQ(throttle_min_pause(1 << 20, 1, 22, 1000), 11);
	CHECK_EQ(throttle_min_pause(1 << 20, 1, 1, 1000), 0);
	/* a hundred dirtiers: 58 or 68 by the rounding of two logarithms */
	CHECK_EQ(throttle_min_pause(25600, 256, 200, 1000), 58);
	CHECK_EQ(throttle_min_pause(25600, 255, 200, 1000), 68);
}

HOST_TEST(max_pause)
{
	/* 1 ms per 4 MiB of the limit plus 2 ticks */
	CHECK_EQ(throttle_max_pause(20480, 1000), 22); /* 80 MiB */
	CHECK_EQ(throttle_min_pause(25600, 100, throttle_max_pause(20480, 1000), 1000), 11);
	CHECK_EQ(throttle_max_pause(0, 1000), 2);
	CHECK_EQ(throttle_max_pause(204800, 1000), 200); /* 800 MiB: the longest */
	CHECK_EQ(throttle_max_pause(202752, 1000), 200);
	CHECK_EQ(throttle_max_pause(201728, 1000), 199);
	CHECK_EQ(throttle_max_pause(204800, 250), 50);
	CHECK_EQ(throttle_max_pause(204800, 100), 20);
	CHECK_EQ(throttle_max_pause(0, 4), 1); /* absurd clock: MAX_PAUSE wins */
}

HOST_TEST(adapt)
{
	u32 nr = 100;

	/* nothing dirty to speak of: the idle value, both ways */
	CHECK_EQ(throttle_adapt(&nr, 0, 58, 200, true, false, 77), THROTTLE_IDLE);
	CHECK_EQ(nr, 77);
	/* before the patch: one tick and no other length */
	nr = 100;
	CHECK_EQ(throttle_adapt(&nr, 1, 58, 200, false, true, 0), THROTTLE_GROW);
	CHECK_EQ(nr, 100 + 100 / 32 + 1);
	CHECK_EQ(throttle_adapt(&nr, 2, 58, 200, false, true, 0), THROTTLE_KEEP);
	CHECK_EQ(throttle_adapt(&nr, 0, 58, 200, false, true, 0), THROTTLE_KEEP);
	/* after: up to min_pause, and the side effect: a pause of 0 above the background limit */
	nr = 100;
	CHECK_EQ(throttle_adapt(&nr, 58, 58, 200, false, false, 0), THROTTLE_GROW);
	CHECK_EQ(throttle_adapt(&nr, 59, 58, 200, false, false, 0), THROTTLE_KEEP);
	CHECK_EQ(throttle_adapt(&nr, 0, 58, 200, false, false, 0), THROTTLE_GROW);
	/* the longest pause: a quarter off, down to one page */
	for (int before = 0; before < 2; before++) {
		nr = 100;
		CHECK_EQ(throttle_adapt(&nr, 200, 58, 200, false, before, 0), THROTTLE_SHRINK);
		CHECK_EQ(nr, 75);
		for (int i = 0; i < 50; i++)
			throttle_adapt(&nr, 200, 58, 200, false, before, 0);
		CHECK_EQ(nr, 1);
		/* a small number still grows */
		throttle_adapt(&nr, 1, 1, 200, false, before, 0);
		CHECK_EQ(nr, 2);
	}
	CHECK_EQ(throttle_idle_pause(1000, 100), 31);
	CHECK_EQ(throttle_idle_pause(100, 100), 1);
	CHECK_EQ(throttle_idle_pause(100, 200), 1);
}

static struct throttle_look look_at(unsigned long dirty, u32 pages, u64 paused_when)
{
	return (struct throttle_look){ .bdi_limit = 160000,
				       .task_limit = 160000,
				       .bdi_dirty = dirty,
				       .avg_dirty = dirty,
				       .throttle_bw = 1000,
				       .now = 100000,
				       .nr_dirtied = pages,
				       .max_pause = 158,
				       .hz = 1000,
				       .paused_when = paused_when };
}

HOST_TEST(look)
{
	/* L - A = 10000 of a soft zone of 20001 and 10001: bw = 1000 * 10000/20001 * 10000/10001 */
	struct throttle_look l = look_at(150000, 50, 100000);

	CHECK_EQ(throttle_look(&l), THROTTLE_SLEEP);
	CHECK_EQ(l.bw, 498); /* 499 after the first division, 498 after the second */
	CHECK_EQ(l.period, 1000 * 50 / 499 + 1);
	CHECK_EQ(l.pause, 101);
	/* part of the time was spent thinking */
	l = look_at(150000, 50, 99960);
	CHECK_EQ(throttle_look(&l), THROTTLE_SLEEP);
	CHECK_EQ(l.pause, 61);
	/* all of it, and up to 100 ms more: the debt is remembered */
	l = look_at(150000, 50, 99899);
	CHECK_EQ(throttle_look(&l), THROTTLE_THINK);
	CHECK_EQ(l.pause, 1);
	CHECK_EQ(l.paused_when, 100000);
	l = look_at(150000, 50, 99799);
	CHECK_EQ(throttle_look(&l), THROTTLE_THINK);
	CHECK_EQ(l.paused_when, 99900);
	/* more than that: forgotten */
	l = look_at(150000, 50, 99798);
	CHECK_EQ(throttle_look(&l), THROTTLE_THINK);
	CHECK_EQ(l.paused_when, 100000);
	/* ten seconds ago or never: one tick is slept */
	l = look_at(150000, 50, 100000 - 10101);
	CHECK_EQ(throttle_look(&l), THROTTLE_SLEEP);
	CHECK_EQ(l.pause, 1);
	l = look_at(150000, 50, 100000 - 10100);
	CHECK_EQ(throttle_look(&l), THROTTLE_THINK);
	/* clamped to max_pause without being a hard throttle */
	l = look_at(159000, 500, 100000);
	CHECK_EQ(throttle_look(&l), THROTTLE_SLEEP);
	CHECK_EQ(l.pause, 158);
	/* hard: at the task's limit, or the machine over its own */
	l = look_at(160000, 50, 99000);
	CHECK_EQ(throttle_look(&l), THROTTLE_HARD);
	CHECK_EQ(l.pause, 158);
	l = look_at(1000, 50, 100000);
	l.over_limit = true;
	CHECK_EQ(throttle_look(&l), THROTTLE_HARD);
	/* the smoothed figure counts unless the real one is higher, or it lies over T */
	l = look_at(150000, 50, 100000);
	l.avg_dirty = 155000;
	throttle_look(&l);
	CHECK(l.bw < 150);
	l.avg_dirty = 140000;
	throttle_look(&l);
	CHECK_EQ(l.bw, 498);
	l.avg_dirty = 161000;
	throttle_look(&l);
	CHECK_EQ(l.bw, 498);
	/* degenerate limits do not divide by zero or wrap */
	l = look_at(0, 50, 100000);
	l.bdi_limit = l.task_limit = 0;
	CHECK_EQ(throttle_look(&l), THROTTLE_HARD);
}

/* ---- estimators ---- */

HOST_TEST(estimator_bandwidth)
{
	struct throttle_est e;
	u64 written = 0, now = 0;

	throttle_est_init(&e, 0);
	CHECK_EQ(e.write_bw, 25600);
	CHECK_EQ(e.throttle_bw, 25600);
	CHECK(!throttle_update(&e, 99, 100, 0, 100000, 1000)); /* at most every 100 ms */
	for (int i = 0; i < 600; i++) { /* a minute at 10000 pages a second */
		now += 100;
		written += 1000;
		CHECK(throttle_update(&e, now, written, 50000, 160000, 1000));
	}
	CHECK(e.write_bw > 9900 && e.write_bw < 10200);
	/* a gap of more than half a second says nothing */
	now += 501;
	CHECK(throttle_update(&e, now, written, 50000, 160000, 1000));
	CHECK(e.write_bw > 9900 && e.write_bw < 10200);
	/* a stalled device: falls, to 0 in the end, without trouble */
	for (int i = 0; i < 3000; i++)
		throttle_update(&e, now += 100, written, 50000, 160000, 1000);
	CHECK(e.write_bw < 110);
	CHECK_EQ(throttle_min_pause(e.write_bw, e.throttle_bw, 200, 1000), 1);
}

HOST_TEST(estimator_throttle)
{
	const unsigned long L = 160000; /* gap 10001 */
	struct throttle_est e;
	u64 now = 0;

	/* right at the limit: an eighth off each time: ten times less in about two seconds */
	throttle_est_init(&e, 0);
	e.avg_dirty = e.old_dirty = L;
	for (int i = 0; i < 18; i++)
		throttle_update(&e, now += 100, 0, L, L, 1000);
	CHECK(e.throttle_bw > 2000 && e.throttle_bw < 2600);
	/* below 8 nothing is left to take off: it never reaches 0 */
	for (int i = 0; i < 1000; i++)
		throttle_update(&e, now += 100, 0, L + 5, L, 1000);
	CHECK_EQ(e.throttle_bw, 7);
	/* a gap away: unchanged */
	throttle_est_init(&e, now);
	e.avg_dirty = e.old_dirty = L - 10001;
	throttle_update(&e, now += 100, 2560, L - 10001, L, 1000);
	CHECK_EQ(e.throttle_bw, 25600);
	/* there, but faster than the disk by half: falls */
	e.throttle_bw = 50000;
	throttle_update(&e, now += 100, 5120, L - 10001, L, 1000);
	CHECK_EQ(e.throttle_bw, 50000 - 50000 / 8);
	/* far below and slower than half the disk: a sixteenth and one more */
	e.throttle_bw = 1000;
	e.avg_dirty = e.old_dirty = L - 25003;
	throttle_update(&e, now += 100, 7680, L - 25003, L, 1000);
	CHECK_EQ(e.throttle_bw, 1000 + 62 + 1);
	/* no limit at all */
	e.avg_dirty = e.old_dirty = 0;
	throttle_update(&e, now += 100, 10240, 0, 0, 1000);
}

HOST_TEST(estimator_dirty)
{
	struct throttle_est e;

	throttle_est_init(&e, 0);
	throttle_update(&e, 100, 0, 16000, 160000, 1000);
	CHECK_EQ(e.avg_dirty, 16000);
	throttle_update(&e, 200, 0, 17600, 160000, 1000); /* away, upwards: a sixteenth */
	CHECK_EQ(e.avg_dirty, 16100);
	throttle_update(&e, 300, 0, 17000, 160000, 1000); /* back towards it: ignored */
	CHECK_EQ(e.avg_dirty, 16100);
	throttle_update(&e, 400, 0, 12900, 160000, 1000); /* through it and away, downwards */
	CHECK_EQ(e.avg_dirty, 15900);
	throttle_update(&e, 500, 0, 14000, 160000, 1000);
	CHECK_EQ(e.avg_dirty, 15900);
}

/* ---- the merged form ---- */

HOST_TEST(merged_position)
{
	struct throttle_pos p = { .limit = 20000,
				  .bg = 10000,
				  .freerun = 15000,
				  .dirty = 17500,
				  .bdi_limit = 20000,
				  .bdi_dirty = 17500,
				  .write_bw = 1000 };

	throttle_pos_ratio(&p);
	CHECK_EQ(p.setpoint, 17500);
	CHECK(p.ratio > 1000 && p.ratio <= 1024); /* balanced */
	p.dirty = p.bdi_dirty = 20000;
	throttle_pos_ratio(&p);
	CHECK_EQ(p.ratio, 0);
	p.dirty = p.bdi_dirty = 15000;
	throttle_pos_ratio(&p);
	CHECK(p.ratio > 2000); /* near the free run: twice and more */
	p.dirty = 17500;
	p.bdi_dirty = 100; /* this device runs dry */
	throttle_pos_ratio(&p);
	CHECK(p.ratio >= 8 * 1024);
	p.bdi_dirty = 19999; /* and this one holds everything */
	p.bdi_limit = 2000;
	throttle_pos_ratio(&p);
	CHECK(p.ratio <= 1024 / 4);
}

HOST_TEST(merged_target)
{
	u32 nr, least;

	/* one dd at 100 MB/s: 10 ms, 250 pages; not below half of it */
	least = throttle_target_pause(25600, 25600, 25600, 200, 1000, true, &nr);
	CHECK_EQ(nr, 250);
	CHECK_EQ(least, 6);
	/* a hundred: n = 6: 10 + 58 ms of 256 pages a second are 17 pages; up to 32 if it can be */
	least = throttle_target_pause(25600, 256, 256, 200, 1000, true, &nr);
	CHECK_EQ(nr, 32);
	CHECK_EQ(least, 63);
	/* 32 would need more than the longest pause */
	least = throttle_target_pause(25600, 100, 100, 200, 1000, true, &nr);
	CHECK_EQ(nr, 19);
	CHECK_EQ(least, 200);
	/* unscaled */
	least = throttle_target_pause(25600, 6400, 6400, 200, 1000, false, &nr);
	CHECK_EQ(nr, 62);
	CHECK_EQ(least, 6);
	throttle_target_pause(0, 0, 0, 1, 1000, true, &nr);
}

HOST_TEST(merged_ratelimit_finds_the_balance)
{
	struct throttle_est e;
	u64 now = 0, written = 0, dirtied = 0;
	struct throttle_pos p = {
		.limit = 200000, .bg = 100000, .freerun = 150000, .bdi_limit = 200000
	};

	/* ten dirtiers at the rate they are allowed; the disk writes 5000 a second */
	throttle_est_init(&e, 0);
	p.dirty = 160000;
	for (int i = 0; i < 1500; i++) {
		unsigned long pages;

		p.bdi_dirty = p.dirty;
		p.write_bw = e.avg_write_bw;
		throttle_pos_ratio(&p);
		pages = 10 * (e.ratelimit * p.ratio >> RATELIMIT_CALC_SHIFT) / 5;
		now += 200;
		written += 1000;
		dirtied += pages;
		p.dirty += pages;
		p.dirty -= min(p.dirty, 1000ul);
		CHECK(throttle_update_merged(&e, now, written, dirtied, &p, 1000));
	}
	CHECK(p.dirty > 150000 && p.dirty < 200000);
	if (getenv("SHOW"))
		printf("# ratelimit %lu write_bw %lu balanced %lu\n", e.ratelimit, e.avg_write_bw,
		       e.balanced_ratelimit);
	CHECK(e.ratelimit > 400 && e.ratelimit < 600);
}

/* ---- the loop closed over a simulated disk ---- */

struct sim_task {
	u64 wake;
	u32 nr_dirtied_pause;
	u64 paused_when;
};
struct sim_result {
	double mean_pause, calls, pages;
	u32 min_pause;
	unsigned long throttle_bw;
};

/* N writers that dirty at once whatever they may, against a disk of bw pages a second. */
static struct sim_result simulate(u32 n, u32 seconds, bool before, unsigned long limit, u32 max,
				  unsigned long bw)
{
	static struct sim_task task[256];
	struct throttle_est e;
	struct sim_result r = { 0 };
	unsigned long dirty = limit * 3 / 4;
	u64 written = 0, pause_sum = 0, sleeps = 0;
	u64 credit = 0;

	throttle_est_init(&e, 0);
	for (u32 i = 0; i < n; i++)
		task[i] = (struct sim_task){ .nr_dirtied_pause = 448, .wake = i % 7 };
	for (u64 now = 1; now < seconds * 1000ull; now++) {
		bool count = now > seconds * 500ull;

		credit += bw;
		while (credit >= 1000) {
			u64 pages = min_t(u64, credit / 1000, dirty);

			credit %= 1000;
			dirty -= pages;
			written += pages;
		}
		for (u32 i = 0; i < n; i++) {
			struct sim_task *t = &task[i];
			struct throttle_look l;
			enum throttle_verdict v;

			if (t->wake > now)
				continue;
			dirty += t->nr_dirtied_pause;
			throttle_update(&e, now, written, dirty, limit, 1000);
			l = (struct throttle_look){
				.bdi_limit = limit,
				.task_limit = limit - limit / 16 / n,
				.bdi_dirty = dirty,
				.avg_dirty = e.avg_dirty,
				.throttle_bw = e.throttle_bw,
				.now = now,
				.nr_dirtied = t->nr_dirtied_pause,
				.max_pause = max,
				.hz = 1000,
				.over_limit = dirty > limit,
				.paused_when = t->paused_when,
			};
			v = throttle_look(&l);
			t->paused_when = l.paused_when;
			r.min_pause = throttle_min_pause(e.write_bw, e.throttle_bw, max, 1000);
			if (count) {
				r.calls++;
				r.pages += t->nr_dirtied_pause;
			}
			if (v != THROTTLE_THINK) {
				t->wake = now + l.pause;
				t->paused_when = t->wake;
				if (count) {
					pause_sum += l.pause;
					sleeps++;
				}
			}
			throttle_adapt(&t->nr_dirtied_pause, l.pause, r.min_pause, max, false,
				       before, 32);
		}
	}
	r.mean_pause = (double)pause_sum / (sleeps ? sleeps : 1);
	r.calls /= seconds / 2.0;
	r.pages /= seconds / 2.0;
	r.throttle_bw = e.throttle_bw;
	return r;
}

/*
 * What [seed-001] promises, on a disk that is as even as no disk is: a hundred writers look far
 * less often and sleep more than 60 ms, the disk writes as much, few writers notice nothing.
 */
HOST_TEST(closed_loop)
{
	const unsigned long limit = 204800, bw = 25600;

	for (u32 n = 1; n <= 128; n = n == 64 ? 100 : n == 100 ? 128 : n * 2) {
		struct sim_result b = simulate(n, 60, true, limit, 200, bw);
		struct sim_result a = simulate(n, 60, false, limit, 200, bw);

		if (getenv("SHOW"))
			printf("# %3u writers, before: pause %6.1f calls %6.0f/s | after: pause "
			       "%6.1f calls %6.0f/s min_pause %u throttle_bw %lu\n",
			       n, b.mean_pause, b.calls, a.mean_pause, a.calls, a.min_pause,
			       a.throttle_bw);
		CHECK(a.pages > 0.97 * bw && a.pages < 1.03 * bw);
		CHECK(b.pages > 0.97 * bw && b.pages < 1.03 * bw);
		if (n <= 2) {
			CHECK(a.calls == b.calls && a.mean_pause == b.mean_pause);
			CHECK_EQ(a.min_pause, 1);
		}
		if (n >= 100) {
			CHECK(b.calls > 5 * a.calls);
			CHECK(b.mean_pause < 60);
			CHECK(a.mean_pause > 60);
			CHECK(a.min_pause >= 48 && a.min_pause <= 78);
		}
	}
}
