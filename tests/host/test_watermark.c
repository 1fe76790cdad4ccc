/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watermarks, reserves, thresholds: every worked value of the documents' formulas; zone layouts;
 * movable split.
 */
// SOURCES: mm/phys/watermark.c mm/phys/zone_layout.c
#include "host.h"

#include "mm/phys/watermark.h"
#include "mm/phys/zone_layout.h"

struct page *host_mem_map;
unsigned long host_first_pfn;

#define PAGES_OF(mib) ((unsigned long)(mib) << 8)

struct want {
	unsigned long mib;
	bool high;
	unsigned long min, low, high_mark;
};

static void layout(unsigned long kbytes, const struct want *w, int n)
{
	struct wm_zone z[5] = { 0 };

	for (int i = 0; i < n; i++)
		z[i] = (struct wm_zone){ .managed = PAGES_OF(w[i].mib), .is_high = w[i].high };
	CHECK_EQ(wm_min_free_kbytes(z, n), kbytes);
	wm_set(z, n, kbytes);
	for (int i = 0; i < n; i++) {
		CHECK_EQ(z[i].mark[WMARK_MIN], w[i].min);
		CHECK_EQ(z[i].mark[WMARK_LOW], w[i].low);
		CHECK_EQ(z[i].mark[WMARK_HIGH], w[i].high_mark);
	}
}
#define LAYOUT(kb, ...)                                                                            \
	do {                                                                                       \
		const struct want _w[] = { __VA_ARGS__ };                                          \
		layout(kb, _w, (int)(sizeof(_w) / sizeof(_w[0])));                                 \
	} while (0)

HOST_TEST(watermarks_of_known_machines)
{
	LAYOUT(2896, { 16, 0, 22, 27, 33 }, { 496, 0, 701, 876, 1051 });
	LAYOUT(4096, { 16, 0, 16, 20, 24 }, { 368, 0, 368, 460, 552 }, { 640, 0, 640, 800, 960 });
	LAYOUT(8192, { 16, 0, 8, 10, 12 }, { 3056, 0, 1528, 1910, 2292 },
	       { 1024, 0, 512, 640, 768 });
	LAYOUT(1915, { 16, 0, 34, 42, 51 }, { 208, 0, 443, 553, 664 }, { 276, 1, 69, 216, 363 },
	       { 12, 1, 32, 38, 44 });
	LAYOUT(3831, { 16, 0, 17, 21, 25 }, { 880, 0, 939, 1173, 1408 }, { 1112, 1, 128, 424, 721 },
	       { 40, 1, 32, 42, 53 });
}

HOST_TEST(min_free_is_clamped)
{
	struct wm_zone small = { .managed = 16 }, large = { .managed = PAGES_OF(1 << 20) };

	CHECK_EQ(wm_min_free_kbytes(&small, 1), 128);
	CHECK_EQ(wm_min_free_kbytes(&large, 1), 65536);
}

HOST_TEST(reserves)
{
	unsigned long r[NR_ZONE_TYPES][NR_ZONE_TYPES];
	const unsigned long high[NR_ZONE_TYPES] = { PAGES_OF(16), 0, PAGES_OF(208), PAGES_OF(276),
						    PAGES_OF(12) };
	const unsigned long split[NR_ZONE_TYPES] = { PAGES_OF(16), PAGES_OF(368), PAGES_OF(640), 0,
						     0 };

	wm_reserve(high, wm_default_ratio, r);
	CHECK_EQ(r[ZONE_DMA][ZONE_NORMAL], 208);
	CHECK_EQ(r[ZONE_DMA][ZONE_HIGH], 484);
	CHECK_EQ(r[ZONE_DMA][ZONE_MOVABLE], 496);
	CHECK_EQ(r[ZONE_NORMAL][ZONE_HIGH], 2208);
	CHECK_EQ(r[ZONE_NORMAL][ZONE_MOVABLE], 2304);
	CHECK_EQ(r[ZONE_HIGH][ZONE_MOVABLE], 96);
	CHECK_EQ(r[ZONE_HIGH][ZONE_HIGH], 0);
	CHECK_EQ(r[ZONE_NORMAL][ZONE_DMA], 0);
	wm_reserve(split, wm_default_ratio, r);
	CHECK_EQ(r[ZONE_DMA][ZONE_DMA32], 368);
	CHECK_EQ(r[ZONE_DMA][ZONE_NORMAL], 1008);
	CHECK_EQ(r[ZONE_DMA32][ZONE_NORMAL], 640);
}

/* A Normal zone of 53248 pages refuses a Movable-class request at free <= low + 2304. */
HOST_TEST(reserve_protects_normal)
{
	struct free_area area[MAX_ORDER] = { { .nr_free = 100000 } };

	CHECK(!wm_ok(553 + 2304, area, 0, 553, 2304, 0));
	CHECK(wm_ok(553 + 2304 + 1, area, 0, 553, 2304, 0));
	CHECK(wm_ok(554, area, 0, 553, 0, 0));
	CHECK(!wm_ok(553, area, 0, 553, 0, 0));
	/* desperate ones may go lower: half, and a quarter off the rest */
	CHECK(wm_ok(278, area, 0, 553, 0, ALLOC_HIGH));
	CHECK(!wm_ok(277, area, 0, 553, 0, ALLOC_HIGH));
	CHECK(wm_ok(209, area, 0, 553, 0, ALLOC_HIGH | ALLOC_HARDER));
	CHECK(!wm_ok(208, area, 0, 553, 0, ALLOC_HIGH | ALLOC_HARDER));
}

HOST_TEST(higher_orders_need_higher_blocks)
{
	struct free_area area[MAX_ORDER] = { { .nr_free = 1000 } };

	/* 1000 single pages, nothing larger */
	CHECK(wm_ok(1000, area, 0, 100, 0, 0));
	CHECK(!wm_ok(1000, area, 1, 100, 0, 0));
	/* 40 blocks of order 3 beside them: 320 pages, mark halves per order: 100/2/2/2 */
	area[3].nr_free = 40;
	CHECK(wm_ok(1320, area, 3, 100, 0, 0));
	area[3].nr_free = 2;
	CHECK(!wm_ok(1016, area, 3, 100, 0, 0));
}

HOST_TEST(other_figures)
{
	const unsigned long reserve[NR_ZONE_TYPES] = { 0, 0, 0, 2208, 2304 };

	CHECK_EQ(wm_dirty_balance_reserve(53248, 664, reserve), 2968);
	CHECK_EQ(wm_dirty_balance_reserve(1000, 664, reserve), 1000);
	CHECK_EQ(wm_inactive_ratio(PAGES_OF(512)), 1);
	CHECK_EQ(wm_inactive_ratio(PAGES_OF(1024)), 3);
	CHECK_EQ(wm_inactive_ratio(PAGES_OF(10240)), 10);
	CHECK_EQ(wm_stat_threshold(1, PAGES_OF(16)), 2);
	CHECK_EQ(wm_stat_threshold(2, PAGES_OF(496)), 12);
	CHECK_EQ(wm_stat_threshold(64, PAGES_OF(16384)), 125);
	CHECK_EQ(wm_pressure_threshold(1, 876, 701), 125);
	CHECK_EQ(wm_pressure_threshold(4, 876, 701), 43);
	CHECK_EQ(wm_pressure_threshold(64, 27, 22), 1);
	CHECK_EQ(wm_thp_min_free_kbytes(2896, 2, 131072), 4 * (131072 / 20));
	CHECK_EQ(wm_thp_min_free_kbytes(8192, 3, 1048576), 4 * 512 * 33);
}

HOST_TEST(zone_layouts)
{
	struct zone_layout l;

	zone_layout_default(&l);
	CHECK_EQ(l.nr, 3);
	CHECK_EQ(l.span[1].end_pfn, 1ul << 20);
	CHECK_EQ(zone_layout_parse(&l, "dma:16M,normal:208M,high:276M,movable:12M"), 0);
	CHECK_EQ(l.nr, 4);
	CHECK_EQ(l.span[1].start_pfn, PAGES_OF(16));
	CHECK_EQ(l.span[2].end_pfn, PAGES_OF(500));
	CHECK(!l.span[1].is_high && l.span[2].is_high && l.span[3].is_high);
	CHECK_EQ(l.span[3].type, ZONE_MOVABLE);
	CHECK_EQ(zone_layout_parse(&l, "dma:16M,normal:1G"), 0);
	CHECK_EQ(l.nr, 2);
	/* refused, and nothing changed */
	CHECK(zone_layout_parse(&l, "normal:16M,dma:1G") < 0);
	CHECK(zone_layout_parse(&l, "high:16M") < 0);
	CHECK(zone_layout_parse(&l, "dma:16M,normal:") < 0);
	CHECK(zone_layout_parse(&l, "dma:16M;normal:1G") < 0);
	CHECK(zone_layout_parse(&l, "dma:1000") < 0);
	CHECK(zone_layout_parse(&l, "") < 0);
	CHECK_EQ(l.nr, 2);
}

HOST_TEST(movable_is_spread)
{
	const unsigned long even[2] = { 65536, 65536 }, odd[3] = { 65536, 0, 8192 };
	unsigned long take[3];

	movable_split(32768, even, take, 2);
	CHECK_EQ(take[0], 16384);
	CHECK_EQ(take[1], 16384);
	movable_split(32768, odd, take, 3);
	CHECK_EQ(take[1], 0);
	CHECK_EQ(take[2], 6144); /* it keeps a quarter */
	CHECK_EQ(take[0], 32768 - 6144);
	movable_split(1 << 20, even, take, 2); /* more than there is */
	CHECK_EQ(take[0], 49152);
}

/* The rule as it is written down, step by step. */
static bool by_steps(long free, const struct free_area *area, unsigned int order, long min)
{
	free -= (1l << order) - 1;
	for (unsigned int o = 0; free > min && o < order; o++) {
		free -= (long)(area[o].nr_free << o);
		min >>= 1;
	}
	return free > min;
}

HOST_TEST(watermark_large_orders)
{
	u32 yes = 0, no = 0;

	for (u32 i = 0; i < 20000; i++) {
		struct free_area area[MAX_ORDER] = { 0 };
		unsigned int order = 1 + host_random() % (MAX_ORDER - 1);
		unsigned long min = host_random() % 3000, free = 0;
		bool ok;

		for (u32 o = 0; o < MAX_ORDER; o++) {
			area[o].nr_free = host_random() % (2048u >> o);
			free += area[o].nr_free << o;
		}
		ok = by_steps((long)free, area, order, (long)min);
		CHECK_EQ(wm_ok(free, area, order, min, 0, 0), ok);
		yes += ok;
		no += !ok;
	}
	CHECK(yes > 1000 && no > 1000);
}
