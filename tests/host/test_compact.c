/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What compaction decides by arithmetic: the fragmentation index with the document's cases, when it
 * is worth trying, how attempts are put off, and the ranges of the two scanners.
 */
// SOURCES: mm/compact/fragindex.c mm/phys/watermark.c
#include "host.h"

#include "mm/compact/fragindex.h"

struct page *host_mem_map;
unsigned long host_first_pfn;

static struct free_area area[MAX_ORDER];

static unsigned long set_free(unsigned int order, unsigned long n)
{
	area[order].nr_free = area[order].nr[MT_MOVABLE] = n;
	return n << order;
}

static void nothing_free(void)
{
	memset(area, 0, sizeof(area));
}

HOST_TEST(compact_index_tells_shortage_from_pieces)
{
	nothing_free();
	CHECK_EQ(frag_index(9, area), 0);
	set_free(0, 10000); /* all in single pages: 1000 - (1000 + 19531) / 10000 */
	CHECK_EQ(frag_index(9, area), 998);
	CHECK_EQ(frag_index(0, area), -1000);
	nothing_free();
	set_free(8, 4); /* 1024 pages in four halves: 1000 - (1000 + 2000) / 4 */
	CHECK_EQ(frag_index(9, area), 250);
	set_free(8, 1); /* too little, not too scattered: 1000 - (1000 + 500) / 1 */
	CHECK_EQ(frag_index(9, area), -500);
	set_free(9, 1);
	CHECK_EQ(frag_index(9, area), -1000);
	CHECK(frag_index(10, area) > -1000);
}

HOST_TEST(compact_index_grows_with_the_number_of_pieces)
{
	int last = -1000;

	for (int o = 8; o >= 0; o--) {
		nothing_free();
		set_free((unsigned int)o, 4096ul >> o);
		CHECK(frag_index(9, area) > last);
		last = frag_index(9, area);
		CHECK(last <= 1000);
	}
}

HOST_TEST(compact_unusable_part)
{
	nothing_free();
	CHECK_EQ(frag_unusable(3, area), 1000);
	set_free(3, 1);
	set_free(0, 8);
	CHECK_EQ(frag_unusable(0, area), 0);
	CHECK_EQ(frag_unusable(3, area), 500);
	CHECK_EQ(frag_unusable(4, area), 1000);
	set_free(10, 1);
	CHECK_EQ(frag_unusable(4, area), 16000 / 1040);
}

HOST_TEST(compact_suitable_cases)
{
	struct compact_input in = { .order = 9, .low = 100, .area = area, .threshold = 500 };

	nothing_free();
	in.free = set_free(0, 1124); /* LOW + 2 * 512 is not enough, one more is */
	CHECK_EQ(compact_suitable(&in), COMPACT_SKIPPED);
	in.free = set_free(0, 1125);
	CHECK_EQ(compact_suitable(&in), COMPACT_CONTINUE);
	in.threshold = 1000; /* whatever the index: reclaim first */
	CHECK_EQ(compact_suitable(&in), COMPACT_SKIPPED);
	in.threshold = 500;
	in.free += set_free(9, 1); /* a block, but taking it breaks the mark */
	CHECK_EQ(compact_suitable(&in), COMPACT_CONTINUE);
	in.free += set_free(9, 4) - 512;
	CHECK_EQ(compact_suitable(&in), COMPACT_PARTIAL);
	in.order = -1; /* not shifted by, whatever is free */
	in.free = 0;
	CHECK_EQ(compact_suitable(&in), COMPACT_CONTINUE);
}

HOST_TEST(compact_block_of_the_type_or_a_pageblock)
{
	nothing_free();
	set_free(4, 1);
	CHECK(compact_block_there(area, 4, MT_MOVABLE));
	CHECK(compact_block_there(area, 3, MT_MOVABLE));
	CHECK(!compact_block_there(area, 5, MT_MOVABLE));
	CHECK(!compact_block_there(area, 4, MT_UNMOVABLE));
	set_free(9, 1);
	CHECK(compact_block_there(area, 4, MT_UNMOVABLE));
}

/* Of so many attempts in a row, all of which fail, how many are made? */
static int attempts(struct zone *z, unsigned int order, int n)
{
	int made = 0;

	for (int i = 0; i < n; i++) {
		bool would = compact_would_defer(z, order);

		CHECK_EQ(compact_deferred(z, order), would);
		if (!would) {
			made++;
			compact_defer(z, order);
		}
	}
	return made;
}

HOST_TEST(compact_put_off)
{
	struct zone z = { .compact_defer_shift = 0 };

	CHECK_EQ(attempts(&z, MAX_ORDER, 1), 1);
	CHECK_EQ(z.compact_defer_shift, 1);
	/* one of 2, 4, 8, 16, 32, 64; then one of 64 for ever */
	CHECK_EQ(attempts(&z, MAX_ORDER, 2 + 4 + 8 + 16 + 32 + 64), 6);
	CHECK_EQ(z.compact_defer_shift, 6);
	CHECK_EQ(attempts(&z, MAX_ORDER, 640), 10);
	CHECK_EQ(z.compact_defer_shift, 6);
	compact_succeeded(&z, MAX_ORDER);
	CHECK_EQ(attempts(&z, MAX_ORDER, 1), 1);
	CHECK_EQ(z.compact_order_failed, 0);
}

HOST_TEST(compact_put_off_by_order)
{
	struct zone z = { .compact_defer_shift = 0 };

	compact_succeeded(&z, 4); /* up to order 4 it works */
	CHECK_EQ(z.compact_order_failed, 5);
	compact_defer(&z, 9);
	compact_defer(&z, 9);
	CHECK(!compact_deferred(&z, 4));
	CHECK(compact_deferred(&z, 9));
	compact_defer(&z, 3);
	CHECK(compact_deferred(&z, 4));
	CHECK(!compact_deferred(&z, 2));
}

HOST_TEST(compact_scanner_ranges)
{
	CHECK_EQ(migrate_scan_end(0), 512);
	CHECK_EQ(migrate_scan_end(511), 512);
	CHECK_EQ(migrate_scan_end(512), 1024);
	for (unsigned long pfn = 0; pfn < 5000; pfn++) {
		CHECK(migrate_scan_end(pfn) > pfn && migrate_scan_end(pfn) - pfn <= 512);
		CHECK(free_scan_start(pfn) <= pfn && pfn - free_scan_start(pfn) < 512);
		CHECK(free_scan_low(pfn) >= migrate_scan_end(pfn));
	}
}
