/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules of faulty disks: the grammar, what matches, how often, and that a seed repeats. */
// SOURCES: drivers/blk/fault_rules.c drivers/blk/model_param.c drivers/blk/model_hdd.c
// SOURCES: drivers/blk/model_ssd.c drivers/blk/model_bw.c drivers/blk/model_cache.c
// SOURCES: lib/parse.c lib/printf.c lib/string.c lib/bitmap.c
#include "host.h"

#include "drivers/blk/fault_rules.h"
#include "lib/errno.h"

static struct fault_plan plan;
static struct rng rng;

static int line(const char *text)
{
	static char copy[256];
	const char *wrong;

	strcpy(copy, text);
	return fault_parse(&plan, copy, 1000, &wrong);
}

static void reset(void)
{
	fault_plan_init(&plan);
	rng_seed(&rng, 1);
}

static struct fault_verdict ask(u8 op, u64 sector, u32 nr)
{
	struct fault_verdict v;

	fault_judge(&plan, &rng, op, sector, nr, &v);
	return v;
}

HOST_TEST(grammar)
{
	static const char *const good[] = {
		"error",
		"error op=write",
		"error op=read+flush range=100-200 prob=5 every=10 after=3 count=2",
		"error errno=ENOSPC",
		"delay time=5000000ns",
		"delay op=flush every=2 time=7ns",
		"torn",
		"torn range=8-15 silent",
	};
	static const char *const bad[] = {
		"",
		"errors",
		"error op=",
		"error op=seek",
		"error range=9-3",
		"error prob=101",
		"error every=0",
		"error count=0",
		"delay",
		"delay us=",
		"torn op=read",
		"torn us=5",
		"error us=5",
		"error silent",
		"freeze",
		"freeze after=0",
		"freeze at=x",
		"freeze sometimes",
		"cache maybe",
		"cache unit=3",
		"cache keep=200%",
		"seed",
		"seed x",
		"del",
		"del 0",
		"error range=18446744073709551616",
		"thawed",
	};
	char text[200];

	for (u32 i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		reset();
		CHECK_EQ(line(good[i]), FAULT_CMD_NONE);
		CHECK_EQ(plan.nr, 1);
		CHECK_EQ(fault_format(&plan.rule[0], text, sizeof(text)), (long)strlen(good[i]));
		CHECK_STR(text, good[i]);
	}
	for (u32 i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fault_plan before;

		reset();
		before = plan;
		CHECK(line(bad[i]) < 0);
		CHECK(!memcmp(&before, &plan, sizeof(plan)));
	}
	reset();
	CHECK_EQ(line("error/op=write/every=3"), FAULT_CMD_NONE); /* slashes are blanks */
	CHECK_EQ(plan.rule[0].every, 3);
	CHECK_EQ(line("freeze after=9 hang"), FAULT_CMD_FREEZE);
	CHECK(plan.hang && plan.freeze_after == 9);
	CHECK_EQ(line("freeze in=5us eio"), FAULT_CMD_FREEZE);
	CHECK(!plan.hang && plan.freeze_at == 6000);
	CHECK_EQ(line("freeze now"), FAULT_CMD_FREEZE_NOW);
	CHECK_EQ(line("cache on destage=10% keep=30 unit=8"), FAULT_CMD_CACHE);
	CHECK(plan.cache && plan.destage == 10 && plan.keep == 30 && plan.unit == 8);
	CHECK_EQ(line("cache off"), FAULT_CMD_CACHE);
	CHECK(!plan.cache);
	CHECK_EQ(line("seed 77"), FAULT_CMD_SEED);
	CHECK_EQ(line("thaw\n"), FAULT_CMD_THAW);
	for (u32 i = plan.nr; i < FAULT_RULES; i++)
		CHECK_EQ(line("torn"), 0);
	CHECK_EQ(line("torn"), -ENOSPC);
	CHECK_EQ(line("del 0"), 0);
	CHECK_EQ(plan.nr, FAULT_RULES - 1);
	CHECK_EQ(line("clear"), 0);
	CHECK_EQ(plan.nr, 0);
	CHECK(fault_format(&(struct fault_rule){ .kind = FAULT_DELAY, .last = 5 }, text, 8) > 8);
}

HOST_TEST(matching)
{
	reset();
	line("error op=write range=100-109");
	CHECK_EQ(ask(FAULT_WRITE, 90, 10).error, 0);
	CHECK_EQ(ask(FAULT_WRITE, 90, 11).error, -EIO);
	CHECK_EQ(ask(FAULT_WRITE, 109, 1).error, -EIO);
	CHECK_EQ(ask(FAULT_WRITE, 110, 1).error, 0);
	CHECK_EQ(ask(FAULT_READ, 100, 1).error, 0);
	CHECK_EQ(ask(FAULT_FLUSH, 0, 0).error, 0);
	line("delay op=read us=10");
	line("delay op=read us=5");
	CHECK_EQ(ask(FAULT_READ, 0, 8).delay_ns, 15000);
	line("torn silent after=1");
	CHECK(!ask(FAULT_WRITE, 0, 8).torn);
	CHECK(ask(FAULT_WRITE, 0, 8).torn && ask(FAULT_WRITE, 0, 8).silent);
	CHECK(!ask(FAULT_READ, 0, 8).torn);
}

HOST_TEST(counting)
{
	int hits = 0;

	reset();
	line("error op=write every=3 after=2 count=4");
	for (int i = 1; i <= 30; i++) {
		bool hit = ask(FAULT_WRITE, 0, 1).error;

		CHECK_EQ(hit, i == 5 || i == 8 || i == 11 || i == 14);
		ask(FAULT_READ, 0, 1); /* does not count */
	}
	CHECK_EQ(plan.rule[0].hits, 4);
	reset();
	line("error prob=20%");
	for (int i = 0; i < 10000; i++)
		hits += !!ask(FAULT_READ, i, 1).error;
	CHECK(hits > 1850 && hits < 2150);
}

HOST_TEST(a_seed_repeats)
{
	u64 first[4] = { 0 };

	for (int round = 0; round < 2; round++) {
		reset();
		line("error prob=50");
		for (int i = 0; i < 256; i++)
			if (ask(FAULT_WRITE, i, 1).error)
				first[i / 64] ^= 1ull << i % 64;
	}
	for (int i = 0; i < 4; i++)
		CHECK_EQ(first[i], 0);
}
