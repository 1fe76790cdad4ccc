/* SPDX-License-Identifier: BSD-2-Clause */
/* How many pages reclaim looks at: worked figures of the documents, and each rule beside its twin. */
// SOURCES: mm/reclaim/targets.c
#include "host.h"

#include "mm/reclaim/targets.h"

struct page *host_mem_map;
unsigned long host_first_pfn;

static unsigned long file_target(struct scan_input *in, int priority)
{
	unsigned long nr[NR_EVICTABLE_LISTS];

	in->priority = priority;
	scan_targets(in, nr);
	CHECK_EQ(nr[LRU_INACTIVE_ANON] + nr[LRU_ACTIVE_ANON], in->swap ? nr[0] + nr[1] : 0);
	return nr[LRU_INACTIVE_FILE];
}

HOST_TEST(targets_small_zones_of_the_document)
{
	struct scan_input in = { .rules = SCAN_RULES_3_6, .kswapd = true, .swappiness = 60 };
	static const unsigned long large[] = { 2, 5, 10, 20 }, small[] = { 0, 1, 3, 6 };

	for (int i = 0; i < 4; i++) {
		in.size[LRU_INACTIVE_FILE] = 10240;
		CHECK_EQ(file_target(&in, DEF_PRIORITY - i), large[i]);
		in.size[LRU_INACTIVE_FILE] = 3072;
		CHECK_EQ(file_target(&in, DEF_PRIORITY - i), small[i]);
	}
	CHECK_EQ(file_target(&in, 0), 3072);
}

HOST_TEST(targets_forced_minimum)
{
	struct scan_input in = { .rules = SCAN_RULES_3_6, .kswapd = true };

	in.size[LRU_INACTIVE_FILE] = 3072;
	CHECK_EQ(file_target(&in, 12), 0);
	in.unreclaimable = true;
	CHECK_EQ(file_target(&in, 12), 32);
	in.kswapd = false; /* direct reclaim of such a zone is not forced */
	CHECK_EQ(file_target(&in, 12), 0);
	in.memcg = true;
	CHECK_EQ(file_target(&in, 12), 32);
	in = (struct scan_input){ .rules = SCAN_RULES_3_0, .kswapd = true };
	in.size[LRU_INACTIVE_FILE] = 3072;
	CHECK_EQ(file_target(&in, 12), 32);
	CHECK_EQ(file_target(&in, 10), 3);
	in.kswapd = false;
	CHECK_EQ(file_target(&in, 12), 0);
}

HOST_TEST(targets_balance)
{
	struct scan_input in = { .rules = SCAN_RULES_3_6, .swappiness = 60, .high = 1000 };
	unsigned long nr[NR_EVICTABLE_LISTS];

	in.size[LRU_INACTIVE_ANON] = in.size[LRU_ACTIVE_ANON] = 4096;
	in.size[LRU_INACTIVE_FILE] = 500;
	in.size[LRU_ACTIVE_FILE] = 400;
	in.free = 100;
	CHECK_EQ(scan_balance(&in), BALANCE_FILE); /* no swap */
	in.swap = true;
	CHECK_EQ(scan_balance(&in), BALANCE_ANON); /* 900 + 100 <= 1000 */
	scan_targets(&in, nr);
	CHECK_EQ(nr[LRU_INACTIVE_ANON], 4096);
	CHECK_EQ(nr[LRU_INACTIVE_FILE], 0);
	in.free = 101;
	CHECK_EQ(scan_balance(&in), BALANCE_WEIGHTED);
	in.rules = SCAN_RULES_3_8;
	CHECK_EQ(scan_balance(&in), BALANCE_FILE);
	in.size[LRU_ACTIVE_FILE] = 501;
	CHECK_EQ(scan_balance(&in), BALANCE_WEIGHTED);
}

HOST_TEST(targets_weights)
{
	struct scan_input in = { .rules = SCAN_RULES_3_6, .swappiness = 60, .swap = true };
	unsigned long nr[NR_EVICTABLE_LISTS];

	for (int lru = 0; lru < NR_EVICTABLE_LISTS; lru++)
		in.size[lru] = 40200;
	scan_targets(&in, nr); /* nothing known yet: 60 and 140 of 201 */
	CHECK_EQ(nr[LRU_INACTIVE_ANON], 12000);
	CHECK_EQ(nr[LRU_ACTIVE_FILE], 28000);
	/* 99 of 199 scanned file pages were in use: 140 * 200 / 100 = 280; 60 + 280 + 1 = 341 */
	in.recent_scanned[1] = 199;
	in.recent_rotated[1] = 99;
	scan_targets(&in, nr);
	CHECK_EQ(nr[LRU_INACTIVE_FILE], 40200 * 280 / 341);
	CHECK_EQ(nr[LRU_INACTIVE_ANON], 40200 * 60 / 341);
	in.swappiness = 0;
	scan_targets(&in, nr);
	CHECK_EQ(nr[LRU_INACTIVE_ANON], 0);
}

HOST_TEST(targets_forgetting)
{
	unsigned long scanned = 250, rotated = 101;

	scan_forget(&scanned, &rotated, 1000); /* a quarter is not yet more than it */
	CHECK_EQ(scanned, 250);
	scan_forget(&scanned, &rotated, 999);
	CHECK_EQ(scanned, 125);
	CHECK_EQ(rotated, 50);
}

HOST_TEST(targets_when_lists_are_low)
{
	CHECK(!inactive_file_low(10, 10));
	CHECK(inactive_file_low(11, 10));
	CHECK(!inactive_anon_low(30, 10, 3));
	CHECK(inactive_anon_low(31, 10, 3));
}

HOST_TEST(targets_isolated)
{
	CHECK(!isolated_too_many(80, 80, false, SCAN_RULES_3_6));
	CHECK(isolated_too_many(81, 80, false, SCAN_RULES_3_6));
	CHECK(!isolated_too_many(10, 80, false, SCAN_RULES_3_8));
	CHECK(isolated_too_many(11, 80, false, SCAN_RULES_3_8));
	CHECK(!isolated_too_many(80, 80, true, SCAN_RULES_3_8));
	CHECK(isolated_too_many(81, 80, true, SCAN_RULES_3_8));
}

HOST_TEST(targets_waits_and_gap)
{
	CHECK(!writeback_enough(0, 0, 0)); /* none is never enough */
	CHECK(!writeback_enough(31, 32, 12));
	CHECK(writeback_enough(32, 32, 12));
	CHECK(!writeback_enough(7, 32, 10));
	CHECK(writeback_enough(8, 32, 10));
	CHECK(writeback_enough(1, 32, 6));
	CHECK_EQ(balance_gap(500, 10000), 100);
	CHECK_EQ(balance_gap(500, 10001), 101);
	CHECK_EQ(balance_gap(50, 10001), 50);
}
