/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both scanners of compaction at work on a zone of their own: buddy, LRU list and pageblocks are
 * real, moving a page is done by the test. The lock macros are the test's, so it sees each section
 * with interrupts off: which frames were looked at in it, and what another CPU may have done just
 * before it.
 *
 *   0  free scanner over many pageblocks in one section, migration scanner over one
 *   1  at most 512 frames, always of one pageblock; at most 32, up to a frame number ...11111
 *   2  at most 32 frames each
 */
// SOURCES: mm/compact/fragindex.c mm/compact/events.c mm/phys/watermark.c
#include "host.h"

#include "scanner_zone.h"

/* ---- bounds ---- */

static void whole_run(char (*kind)(unsigned long), u32 value)
{
	struct compact_control cc;
	unsigned long nr_free;

	make_zone(kind);
	set_switches(value);
	nr_free = zone->buddy.nr_free_pages;
	refuse = value == 1 ? 0 : 5;
	cc = (struct compact_control){ .zone = zone,
				       .order = -1,
				       .mt = MT_MOVABLE,
				       .sync = true,
				       .wait_locks = true,
				       .ignore_hints = true };
	CHECK_EQ(compact_zone(&cc), COMPACT_COMPLETE);
	check_zone(nr_free);
	CHECK(moved > 100);
	CHECK_EQ(vm_events[COMPACTPAGES], moved);
	CHECK(sec.nr[FREE] && sec.nr[MIGRATE]);
	/* What the report of the tracer says is what was done. */
	CHECK(sec.max_frames[MIGRATE] <= sec.max_work[MIGRATE]);
	CHECK(sec.max_frames[FREE] <= sec.max_work[FREE] + 1);
}

HOST_TEST(scan_bounds_before_the_document)
{
	whole_run(document, 0);
	CHECK(sec.max_work[FREE] > 10 * PAGEBLOCK_PAGES); /* all the way down at once */
	CHECK(sec.two_blocks);
	CHECK(sec.max_work[MIGRATE] > 32 && sec.max_work[MIGRATE] <= PAGEBLOCK_PAGES);
	whole_run(mixed, 0);
	CHECK(sec.max_work[MIGRATE] <= PAGEBLOCK_PAGES);
}

HOST_TEST(scan_bounds_as_posted)
{
	for (int i = 0; i < 2; i++) {
		whole_run(i ? mixed : document, 1);
		CHECK_EQ(sec.max_work[FREE], PAGEBLOCK_PAGES);
		CHECK(!sec.two_blocks);
		CHECK_EQ(sec.max_work[MIGRATE], 32);
		CHECK_EQ(sec.max_frames[MIGRATE], 32);
	}
}

HOST_TEST(scan_bounds_of_ours)
{
	for (int i = 0; i < 2; i++) {
		whole_run(i ? mixed : document, 2);
		/* and the pageblock's first, to see whose it is */
		CHECK(sec.max_work[FREE] <= 32 && sec.max_frames[FREE] <= 32 + 1);
		CHECK(sec.max_work[MIGRATE] <= 32 && sec.max_frames[MIGRATE] <= 32);
		CHECK(!sec.two_blocks);
	}
}

/* All that can move is above all that is free, whatever the values. */
HOST_TEST(scan_leaves_free_memory_in_a_row)
{
	for (u32 value = 0; value <= 2; value++) {
		struct compact_control cc = { .order = -1, .mt = MT_MOVABLE, .sync = true };
		unsigned long lowest = END;

		make_zone(mixed);
		set_switches(value);
		cc.zone = zone;
		cc.ignore_hints = true;
		CHECK_EQ(compact_zone(&cc), COMPACT_COMPLETE);
		for (unsigned long pfn = END - 1; pfn >= START; pfn--)
			if (page_test(frame(pfn), PG_lru))
				lowest = pfn;
		CHECK(lowest + 2 * PAGEBLOCK_PAGES > cc.migrate_pfn);
	}
}

/* ---- traps ---- */

static unsigned long race_block;
static unsigned int races;

static void changes_hands(int label)
{
	if (label != FREE || !race_block)
		return;
	*buddy_mt_slot(&zone->buddy, race_block) = MT_ISOLATE;
	races++;
	race_block = 0;
}

/* Where the second look under the lock says no, nothing is added: frames or restart point. */
static void one_race(u32 value)
{
	unsigned long last = free_scan_start(END), lost, nr_free;
	struct compact_control cc;

	make_zone(pages_below);
	set_switches(value);
	control(&cc, true);
	nr_free = zone->buddy.nr_free_pages;
	races = 0;
	/* the block before gave something, so an n that is left over would be seen */
	cc.free_pfn = last;
	cc.nr_migratepages = 32;
	compact_isolate_free(&cc);
	CHECK(cc.nr_freepages >= 32);
	race_block = lost = last - 2 * PAGEBLOCK_PAGES;
	before_section = changes_hands;
	cc.nr_migratepages = (u32)cc.nr_freepages + PAGEBLOCK_PAGES;
	cc.free_pfn = lost;
	cc.free_from = 0;
	compact_isolate_free(&cc);
	CHECK_EQ(races, 1);
	CHECK_EQ(nr_free - zone->buddy.nr_free_pages, cc.nr_freepages);
	CHECK(page_test(frame(lost), PG_buddy));
	CHECK(cc.free_pfn < lost);
	zone_free_list(zone, &cc.freepages);
	check_zone(nr_free);
}

HOST_TEST(scan_block_that_changes_hands)
{
	one_race(1);
	one_race(2);
}

/* A block that is lost in every section: nothing is taken at all, and the way ends. */
static void always_too_late(int label)
{
	if (label == FREE)
		memset(types, MT_ISOLATE, sizeof(types));
}

HOST_TEST(scan_always_too_late)
{
	for (u32 value = 1; value <= 2; value++) {
		struct compact_control cc;

		make_zone(pages_below);
		set_switches(value);
		control(&cc, true);
		before_section = always_too_late;
		cc.nr_migratepages = 32;
		compact_isolate_free(&cc);
		CHECK_EQ(cc.nr_freepages, 0);
		CHECK(list_empty(&cc.freepages));
		CHECK_EQ(sec.nr[FREE], 1);
	}
}

HOST_TEST(scan_restarts_at_the_highest_that_gave)
{
	for (u32 value = 0; value <= 1; value++) {
		unsigned long last = free_scan_start(END);
		struct compact_control cc;

		make_zone(pages_below);
		set_switches(value);
		types[(last >> PAGEBLOCK_ORDER) - (START >> PAGEBLOCK_ORDER)] = MT_RESERVE;
		control(&cc, true);
		cc.nr_migratepages = 4 * PAGEBLOCK_PAGES;
		compact_isolate_free(&cc);
		CHECK_EQ(cc.nr_freepages, 4 * PAGEBLOCK_PAGES);
		CHECK_EQ(list_length(&cc.freepages), cc.nr_freepages); /* single frames */
		CHECK_EQ(cc.free_pfn, last - 2 * PAGEBLOCK_PAGES);     /* a block of order 10 */
		zone_free_list(zone, &cc.freepages);
	}
}

/* Neither kept-back blocks, nor holes, nor what would bring the zone to its low mark. */
HOST_TEST(scan_leaves_alone_what_is_not_its)
{
	for (u32 value = 0; value <= 2; value++) {
		unsigned long low = START >> PAGEBLOCK_ORDER, nr_free;
		struct compact_control cc;

		make_zone(pages_below);
		set_switches(value);
		types[6] = MT_RESERVE;
		types[7] = MT_ISOLATE;
		absent = low + 8;
		control(&cc, true);
		nr_free = zone->buddy.nr_free_pages;
		zone->watermark[WMARK_LOW] = 2000;
		cc.nr_migratepages = 100 * PAGEBLOCK_PAGES;
		compact_isolate_free(&cc);
		CHECK(cc.nr_freepages > PAGEBLOCK_PAGES);
		CHECK(zone->buddy.nr_free_pages > 2000);
		for (unsigned long pfn = (low + 6) << PAGEBLOCK_ORDER;
		     pfn < (low + 9) << PAGEBLOCK_ORDER; pfn++)
			CHECK(page_test(frame(pfn), PG_buddy) || pfn % 1024);
		zone_free_list(zone, &cc.freepages);
		check_zone(nr_free);
	}
}

/* ---- the migration scanner's lock ---- */

static unsigned long ends[600], nr_ends;
static unsigned long last_seen;
static void note_frame(unsigned long pfn)
{
	last_seen = pfn;
}
static void note_end(int label)
{
	if (last_seen && nr_ends < 600)
		ends[nr_ends++] = last_seen;
}

/* Interrupts come in before each frame whose number ends in 11111, whoever waits or not. */
HOST_TEST(scan_breathes_at_absolute_frame_numbers)
{
	struct compact_control cc;

	make_zone(kernel_only);
	set_switches(1);
	control(&cc, true);
	at_frame = note_frame;
	before_section = note_end;
	nr_ends = last_seen = 0;
	CHECK_EQ(compact_isolate_migrate(&cc), 0);
	CHECK_EQ(nr_ends, PAGEBLOCK_PAGES / 32);
	for (unsigned long i = 0; i < nr_ends; i++)
		CHECK_EQ((ends[i] + 1) % 32, 0);
	CHECK_EQ(breaks, 1); /* before the lock; nobody wants the CPU */
	CHECK_EQ(sec.nr[MIGRATE], PAGEBLOCK_PAGES / 32 + 1);
}

static void tick(unsigned long pfn)
{
	resched |= pfn % 64 == 10;
}

HOST_TEST(scan_gives_way_at_once)
{
	struct compact_control cc;

	make_zone(kernel_only);
	set_switches(1);
	control(&cc, true);
	at_frame = tick;
	compact_isolate_migrate(&cc);
	CHECK_EQ(breaks, 1 + PAGEBLOCK_PAGES / 64);
	contended = true;
	control(&cc, true);
	at_frame = NULL;
	compact_isolate_migrate(&cc);
	CHECK(sec.max_frames[MIGRATE] <= 32);
	CHECK(sec.nr[MIGRATE] > PAGEBLOCK_PAGES - 5);
	killed = true; /* a fatal signal ends the step, with the lock given back */
	control(&cc, true);
	compact_isolate_migrate(&cc);
	CHECK_EQ(sec.open, -1);
	CHECK_EQ(cc.migrate_pfn, START);
}

/* Before the document nobody can ask: the tick does not come in. */
HOST_TEST(scan_of_the_document_holds_on)
{
	struct compact_control cc;

	make_zone(kernel_only);
	set_switches(0);
	control(&cc, true);
	at_frame = tick;
	compact_isolate_migrate(&cc);
	CHECK_EQ(sec.nr[MIGRATE], 1);
	CHECK_EQ(sec.max_frames[MIGRATE], PAGEBLOCK_PAGES - 5);
	CHECK_EQ(breaks, 0);
}

HOST_TEST(scan_lazy_locks_for_pages_only)
{
	for (int lazy = 0; lazy <= 1; lazy++) {
		struct compact_control cc;

		make_zone(kernel_only);
		set_switches(lazy ? 1 : 2);
		switch_compact_lock_lazy.value = (u32)lazy;
		control(&cc, true);
		for (int i = 0; i < 10; i++)
			CHECK_EQ(compact_isolate_migrate(&cc), 0);
		CHECK_EQ(sec.nr[MIGRATE], 0);
		CHECK_EQ(cc.scanned_migrate, 10 * PAGEBLOCK_PAGES - 5);
		make_zone(pages_only);
		switch_compact_lock_lazy.value = (u32)lazy;
		control(&cc, true);
		CHECK_EQ(compact_isolate_migrate(&cc), 32);
		CHECK_EQ(sec.nr[MIGRATE], 1);
		migrate_putback(&cc.migratepages);
		check_zone(zone->buddy.nr_free_pages);
	}
}

/* At most 32 pages a step, never past the pageblock; the next step goes on where it stopped. */
HOST_TEST(scan_takes_at_most_a_cluster)
{
	for (u32 value = 0; value <= 2; value++) {
		struct compact_control cc;
		unsigned long at = START;

		make_zone(pages_only);
		set_switches(value);
		control(&cc, true);
		cc.free_pfn = END;
		for (int i = 0; i < 40; i++) {
			u32 want = (u32)min(32ul, migrate_scan_end(at) - at);

			zone->vm_stat[NR_ISOLATED_ANON].v = zone->vm_stat[NR_ISOLATED_FILE].v = 0;
			cc.nr_migratepages = 0;
			CHECK_EQ(compact_isolate_migrate(&cc), want);
			at += want;
			CHECK_EQ(cc.migrate_pfn, at);
		}
	}
}

HOST_TEST(scan_async_enters_movable_blocks_only)
{
	for (u32 value = 0; value <= 2; value++)
		for (int sync = 0; sync <= 1; sync++) {
			struct compact_control cc;
			unsigned long got[3] = { 0 }, written = 0;
			struct page *page;

			make_zone(mixed);
			set_switches(value);
			types[1] = MT_UNMOVABLE;
			control(&cc, sync);
			while (cc.migrate_pfn < FIRST + 3 * PAGEBLOCK_PAGES) {
				cc.nr_migratepages = 0;
				compact_isolate_migrate(&cc);
			}
			list_for_each_entry(page, &cc.migratepages, lru) {
				got[(page_to_pfn(page) - FIRST) >> PAGEBLOCK_ORDER]++;
				written += page_test(page, PG_writeback);
			}
			CHECK(got[0] && got[2]);
			CHECK_EQ(!!got[1], sync);
			CHECK_EQ(!!written, sync);
		}
}

/* Too many are away already: it waits for them, with interrupts on. */
HOST_TEST(scan_waits_for_those_isolated)
{
	struct compact_control cc;

	make_zone(pages_below);
	set_switches(2);
	control(&cc, true);
	zone->vm_stat[NR_ISOLATED_ANON].v = (long)nr_lru / 2 + 1;
	CHECK_EQ(compact_isolate_migrate(&cc), 32);
	CHECK_EQ(waits, 1);
	zone->vm_stat[NR_ISOLATED_ANON].v = (long)nr_lru / 2 - 32;
	cc.nr_migratepages = 0;
	CHECK_EQ(compact_isolate_migrate(&cc), 32);
	CHECK_EQ(waits, 1);
}

/* A huge page is passed as a whole, one whose order is not yet written frame by frame. */
HOST_TEST(scan_passes_huge_pages)
{
	for (u32 value = 0; value <= 2; value++) {
		unsigned long huge = FIRST + 2 * PAGEBLOCK_PAGES;
		struct compact_control cc;

		make_zone(pages_below);
		set_switches(value);
		for (unsigned long pfn = huge; pfn < huge + PAGEBLOCK_PAGES; pfn++) {
			lruvec_del_locked(&zone->lruvec, frame(pfn), page_lru_list(frame(pfn)));
			frame(pfn)->flags = ZONE_FLAGS;
			nr_lru--;
		}
		frame(huge)[1].comp_order = 9;
		frame(huge)->flags |=
			BIT(PG_head) | BIT(PG_lru) | BIT(PG_anon) | BIT(PG_swapbacked);
		control(&cc, true);
		cc.migrate_pfn = huge;
		CHECK_EQ(compact_isolate_migrate(&cc), 0);
		CHECK_EQ(cc.migrate_pfn, huge + PAGEBLOCK_PAGES);
		CHECK_EQ(cc.scanned_migrate, 1);
		frame(huge)[1].comp_order = ~0ul;
		cc.migrate_pfn = huge;
		CHECK_EQ(compact_isolate_migrate(&cc), 0);
		CHECK_EQ(cc.migrate_pfn, huge + PAGEBLOCK_PAGES);
	}
}

/* ---- a whole attempt ---- */

static struct zonelist *list_of_one(void)
{
	static struct zonelist zl;

	zl.refs[0] = (struct zoneref){ .zone = zone, .class = 0 };
	zl.refs[1].zone = NULL;
	return &zl;
}

/* Every second frame is the kernel's, no block can be made: 1, 3, 7, ... 63 attempts left out. */
static char hopeless(unsigned long pfn)
{
	return pfn % 2 ? 'k' : pfn % 4 ? '.' : 'p';
}

static void deferral(u32 hints)
{
	make_zone(hopeless);
	switch_compact_hints.value = hints;
	set_switches(2);
	for (int round = 1; round <= 9; round++) {
		unsigned long left_out = 0;
		struct page *page = NULL;

		while (!compact_try(list_of_one(), GFP_KERNEL, 9, 0, 1, &page)) {
			CHECK(left_out < 64);
			left_out++;
		}
		CHECK(!page);
		CHECK_EQ(left_out, round == 1 ? 0 : (1 << min(round - 1, 6)) - 1);
		compact_tried(list_of_one(), 9, 0, 1, false);
		CHECK_EQ(vm_events[COMPACTSTALL], round);
		CHECK_EQ(vm_events[COMPACTFAIL], round);
	}
	/* success forgets it all */
	compact_tried(list_of_one(), 9, 0, 1, true);
	CHECK_EQ(zone->compact_defer_shift, 0);
	check_zone(zone->buddy.nr_free_pages);
}

HOST_TEST(scan_attempts_are_put_off)
{
	deferral(0);
	deferral(1);
}

/* An index of -1000 means that a block is there; the whole zone (order -1) has no index at all. */
HOST_TEST(scan_slips_of_2_6_38)
{
	struct compact_control cc = { .order = 9, .mt = MT_MOVABLE, .sync = true };

	make_zone(pages_below);
	cc.zone = zone;
	CHECK_EQ(frag_index(9, zone->buddy.area), -1000);
	CHECK_EQ(compact_zone(&cc), COMPACT_PARTIAL); /* without a look at any frame */
	CHECK_EQ(cc.scanned_migrate + cc.scanned_free, 0);
	cc.order = -1;
	CHECK_EQ(compact_zone(&cc), COMPACT_COMPLETE);
	make_zone(document);
	cc = (struct compact_control){ .zone = zone, .order = 9, .mt = MT_MOVABLE, .sync = true };
	CHECK(frag_index(9, zone->buddy.area) > 500);
	zone->watermark[WMARK_LOW] =
		zone->buddy.nr_free_pages - 1000; /* too little room for copies */
	CHECK_EQ(compact_zone(&cc), COMPACT_SKIPPED);
}

/* It ends as soon as the block is there and the zone keeps its low mark with it. */
HOST_TEST(scan_ends_with_the_block)
{
	for (u32 value = 0; value <= 2; value++) {
		struct compact_control cc = { .order = 8, .mt = MT_MOVABLE, .sync = true };
		unsigned long nr_free;

		make_zone(scattered);
		set_switches(value);
		nr_free = zone->buddy.nr_free_pages;
		cc.zone = zone;
		CHECK_EQ(compact_zone(&cc), COMPACT_PARTIAL);
		CHECK(compact_block_there(zone->buddy.area, 8, MT_MOVABLE));
		CHECK(cc.migrate_pfn < FIRST + 4 * PAGEBLOCK_PAGES);
		check_zone(nr_free);
	}
}
