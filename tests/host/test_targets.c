/* SPDX-License-Identifier: BSD-2-Clause */
/* How many pages reclaim looks at: the documents' worked figures, each rule beside its twin. */
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

HOST_TEST(targets_reserves_of_the_low_zones)
{
	CHECK(reserves_low(0, 100));
	CHECK(reserves_low(50, 100));
	CHECK(!reserves_low(51, 100));
	CHECK(reserves_low(50, 101)); /* 101 / 2 truncates */
	CHECK(!reserves_low(0, 0));   /* no low zone at all: nobody waits for it */
}

HOST_TEST(targets_tempered_priority)
{
	CHECK_EQ(tempered_priority(12, 12), 12);
	CHECK_EQ(tempered_priority(12, 11), 11); /* step by step: as it is */
	CHECK_EQ(tempered_priority(12, 10), 11);
	CHECK_EQ(tempered_priority(12, 7), 9);
	CHECK_EQ(tempered_priority(12, 0), 6);
	CHECK_EQ(tempered_priority(7, 6), 6); /* once: then the last one is the present one */
	CHECK_EQ(tempered_priority(6, 12), 12);
}

HOST_TEST(targets_mapped_stream)
{
	struct stream_watch w = { 0 };

	for (u32 i = 1; i <= STREAM_BATCHES + 3; i++) {
		stream_note(&w, 26, 32);
		CHECK_EQ(w.streak, min(i, (u32)STREAM_BATCHES));
	}
	stream_note(&w, 25, 32); /* 78 %: over at once */
	CHECK_EQ(w.streak, 0);
	stream_note(&w, 20, 20); /* small lots make a batch together */
	CHECK_EQ(w.streak, 0);
	stream_note(&w, 12, 12);
	CHECK_EQ(w.streak, 1);
	stream_note(&w, 31, 31);
	CHECK_EQ(w.streak, 1);
	stream_note(&w, 0, 10); /* 31 of 41 */
	CHECK_EQ(w.streak, 0);
}

HOST_TEST(targets_quarter_balanced)
{
	CHECK(!enough_balanced(249, 1000));
	CHECK(enough_balanced(250, 1000));
	CHECK(enough_balanced(250, 1003)); /* the quarter truncates */
}

HOST_TEST(targets_lumpy_range)
{
	struct pfn_range r = lumpy_range(0x1234, 4, 0x1000, 0x2000);

	CHECK_EQ(r.first, 0x1230);
	CHECK_EQ(r.end, 0x1240);
	r = lumpy_range(0x1234, 0, 0x1000, 0x2000);
	CHECK_EQ(r.first, 0x1234);
	CHECK_EQ(r.end, 0x1235);
	r = lumpy_range(0x1005, 9, 0x1003, 0x2000); /* the zone begins inside the block */
	CHECK_EQ(r.first, 0x1003);
	CHECK_EQ(r.end, 0x1200);
	r = lumpy_range(0x1ff0, 9, 0x1000, 0x1ff8); /* and ends in it */
	CHECK_EQ(r.first, 0x1e00);
	CHECK_EQ(r.end, 0x1ff8);
	for (unsigned int order = 0; order < MAX_ORDER; order++)
		for (unsigned long pfn = 0x800; pfn < 0xc00; pfn += 37) {
			r = lumpy_range(pfn, order, 0x800, 0xc00);
			CHECK(r.first <= pfn && pfn < r.end);
			CHECK_EQ(r.first % (1ul << order), 0);
			CHECK(r.end - r.first <= 1ul << order);
		}
}

HOST_TEST(targets_lumpy_when)
{
	CHECK(!lumpy_wanted(0, 0)); /* single pages: never */
	CHECK(!lumpy_wanted(3, 10));
	CHECK(lumpy_wanted(3, 9));
	CHECK(lumpy_wanted(4, 12));	    /* costly: at once */
	CHECK(!lumpy_stall(4, 12, 32, 32)); /* all came free */
	CHECK(lumpy_stall(4, 12, 31, 32));
	CHECK(!lumpy_stall(3, 5, 0, 32));
	CHECK(lumpy_stall(3, 4, 0, 32));
}
