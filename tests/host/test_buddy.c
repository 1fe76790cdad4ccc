/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buddy of a zone of 8192 pages with odd borders: random alloc, bulk alloc, free, claim; never
 * overlapping, always whole.
 */
// SOURCES: mm/phys/buddy.c
#include "host.h"

#include "mm/phys/buddy.h"

#define FIRST 0x1000ul /* memory map covers [FIRST, FIRST + PAGES) */
#define PAGES 10240ul
#define START (FIRST + 3)
#define END (FIRST + 8192 + 77)
#define ZONE_FLAGS (5ul << PAGE_NODE_SHIFT)

struct page *host_mem_map;
unsigned long host_first_pfn = FIRST;

static struct buddy b;
static u8 types[PAGES / PAGEBLOCK_PAGES + 1];
static u8 used[PAGES]; /* shadow: 1 = handed out */

static void set_up(void)
{
	free(host_mem_map);
	host_mem_map = aligned_alloc(64, PAGES * sizeof(struct page));
	memset(host_mem_map, 0, PAGES * sizeof(struct page));
	memset(types, MT_MOVABLE, sizeof(types));
	memset(used, 1, sizeof(used));
	for (unsigned long i = 0; i < PAGES; i++)
		host_mem_map[i].flags =
			FIRST + i >= START && FIRST + i < END ? ZONE_FLAGS : BIT(PG_reserved);
	buddy_init(&b, START, END, types, ZONE_FLAGS);
	for (unsigned long pfn = START; pfn < END;) {
		unsigned int order =
			__builtin_ctzl(pfn) < MAX_ORDER - 1 ? __builtin_ctzl(pfn) : MAX_ORDER - 1;

		while (pfn + (1ul << order) > END)
			order--;
		memset(&used[pfn - FIRST], 0, 1ul << order);
		buddy_free(&b, pfn_to_page(pfn), order);
		pfn += 1ul << order;
	}
}

static void check(void)
{
	const char *what = buddy_check(&b, ~0ul);
	unsigned long free_pages = 0;

	if (what)
		fprintf(stderr, "# %s\n", what);
	CHECK(!what);
	for (unsigned long i = START - FIRST; i < END - FIRST; i++)
		free_pages += !used[i];
	CHECK_EQ(free_pages, b.nr_free_pages);
}

static void take(struct page *page, unsigned int order)
{
	unsigned long at = page_to_pfn(page) - FIRST;

	CHECK(at >= START - FIRST && at + (1ul << order) <= END - FIRST);
	CHECK_EQ(at & ((1ul << order) - 1) & (FIRST - 1), 0);
	for (unsigned long i = at; i < at + (1ul << order); i++) {
		CHECK(!used[i]);
		used[i] = 1;
		CHECK(!page_test(host_mem_map + i, PG_buddy));
	}
}

static void give(struct page *page, unsigned int order)
{
	memset(&used[page_to_pfn(page) - FIRST], 0, 1ul << order);
	buddy_free(&b, page, order);
}

HOST_TEST(buddy_whole_after_setup)
{
	set_up();
	check();
	CHECK_EQ(b.nr_free_pages, END - START);
	CHECK(b.area[MAX_ORDER - 1].nr_free >= 7);
}

HOST_TEST(buddy_splits_and_merges)
{
	struct page *claim = NULL, *p[4];

	set_up();
	for (int i = 0; i < 4; i++) {
		p[i] = buddy_alloc(&b, 0, MT_MOVABLE, &claim);
		take(p[i], 0);
	}
	check();
	for (int i = 0; i < 4; i++)
		give(p[i], 0);
	check();
	CHECK_EQ(b.nr_free_pages, END - START);
}

/* Everything handed out and back leaves the same blocks as at the start. */
HOST_TEST(buddy_random_walk)
{
	static struct {
		struct page *page;
		unsigned int order;
	} held[6000];
	unsigned long before[MAX_ORDER], n = 0;

	set_up();
	for (int o = 0; o < MAX_ORDER; o++)
		before[o] = b.area[o].nr_free;
	for (int step = 0; step < 60000; step++) {
		uint64_t r = host_random();
		unsigned int order = (r >> 8) % 16 < 10 ? (r >> 8) % 3 : (r >> 8) % MAX_ORDER;
		enum migratetype mt = (enum migratetype)((r >> 20) % MT_PCPTYPES);
		struct page *claim = NULL, *page;

		if ((r & 1) && n < 6000) {
			page = buddy_alloc(&b, order, mt, &claim);
			if (page) {
				take(page, order);
				held[n].page = page;
				held[n++].order = order;
			}
			if (claim && ((r >> 30) & 1))
				for (unsigned long
					     pfn = page_to_pfn(claim) & ~(PAGEBLOCK_PAGES - 1),
					     i = 0;
				     i < PAGEBLOCK_PAGES; i += 32)
					buddy_claim_range(&b, pfn + i, 32, mt);
		} else if (n) {
			unsigned long at = (r >> 8) % n;

			give(held[at].page, held[at].order);
			held[at] = held[--n];
		}
		if (step % 500 == 0)
			check();
	}
	while (n--)
		give(held[n].page, held[n].order);
	check();
	for (int o = 0; o < MAX_ORDER; o++)
		CHECK_EQ(b.area[o].nr_free, before[o]);
}

HOST_TEST(buddy_bulk)
{
	unsigned long total = 0;

	set_up();
	for (;;) {
		struct page *chain = NULL, *claim = NULL;
		unsigned int want = 1 + host_random() % PCP_BATCH_MAX, n, seen = 0;

		n = buddy_alloc_bulk(&b, MT_UNMOVABLE, want, &chain, &claim);
		for (struct page *p = chain; p; p = p->pcp_next, seen++)
			take(p, 0);
		CHECK_EQ(seen, n);
		total += n;
		if (!n)
			break;
	}
	check();
	CHECK_EQ(total, END - START);
	CHECK_EQ(b.nr_free_pages, 0);
}

/*
 * The type with nothing takes the largest foreign block; whole pageblocks change sides, others are
 * claimed.
 */
HOST_TEST(buddy_fallback_steals_the_largest)
{
	struct page *claim = NULL, *page;

	set_up();
	page = buddy_alloc(&b, 0, MT_UNMOVABLE, &claim);
	take(page, 0);
	CHECK_EQ(buddy_mt(&b, page_to_pfn(page)), MT_UNMOVABLE);
	CHECK(!claim);
	/* the rest of that block serves the next ones */
	for (int i = 0; i < 1000; i++) {
		struct page *p = buddy_alloc(&b, 0, MT_UNMOVABLE, &claim);

		take(p, 0);
		CHECK_EQ((page_to_pfn(p) ^ page_to_pfn(page)) >> (MAX_ORDER - 1), 0);
	}
	check();
}

HOST_TEST(buddy_keeps_isolated_blocks_apart)
{
	unsigned long pfn = (START | 1023) + 1; /* a whole top-order block */
	struct page *claim = NULL, *page;

	set_up();
	buddy_take(&b, pfn_to_page(pfn), MAX_ORDER - 1);
	memset(&used[pfn - FIRST], 1, 1024);
	*buddy_mt_slot(&b, pfn) = MT_ISOLATE;
	give(pfn_to_page(pfn), 9);
	give(pfn_to_page(pfn + 512), 9);
	check();
	CHECK_EQ(b.area[9].nr[MT_ISOLATE], 1);
	/* nobody is served from it */
	while ((page = buddy_alloc(&b, 0, MT_MOVABLE, &claim))) {
		CHECK(page_to_pfn(page) < pfn || page_to_pfn(page) >= pfn + 512);
		take(page, 0);
	}
	CHECK_EQ(b.nr_free_pages, 512);
}

/* Every second block of small orders is in use, the rest of a pageblock free. */
static unsigned long make_pieces(void)
{
	unsigned long pfn = (START | 1023) + 1;

	set_up();
	buddy_take(&b, pfn_to_page(pfn), MAX_ORDER - 1);
	memset(&used[pfn - FIRST], 1, 1024);
	for (unsigned long at = pfn; at < pfn + 512; at += 8)
		give(pfn_to_page(at), at % 64 ? 0 : 2);
	check();
	return pfn;
}

static unsigned long pages_on(struct list_head *list, bool back)
{
	struct page *page, *next;
	unsigned long n = 0;

	list_for_each_entry_safe(page, next, list, lru) {
		unsigned int order = (unsigned int)page->private;

		CHECK(!page_test(page, PG_buddy) && atomic_read(&page->refs) == 0);
		n += 1ul << order;
		if (back) {
			list_del(&page->lru);
			give(page, order);
		}
	}
	return n;
}

HOST_TEST(buddy_isolates_in_steps)
{
	unsigned long pfn = make_pieces(), free_pages = b.nr_free_pages, next = pfn, taken = 0;
	LIST_HEAD(list);

	while (next < pfn + 512) {
		unsigned long from = next;

		taken += buddy_isolate_range(&b, next, 32, 0, &list, &next);
		CHECK(next >= from + 32);
	}
	CHECK_EQ(taken, 8 * 4 + 56);
	CHECK_EQ(b.nr_free_pages, free_pages - taken);
	CHECK_EQ(pages_on(&list, false), taken);
	for (unsigned long at = pfn; at < pfn + 512; at++)
		CHECK(!page_test(pfn_to_page(at), PG_buddy));
	CHECK_EQ(pages_on(&list, true), taken);
	CHECK_EQ(b.nr_free_pages, free_pages);
	check();
}

HOST_TEST(buddy_isolates_frames)
{
	unsigned long pfn = make_pieces(), free_pages = b.nr_free_pages;
	LIST_HEAD(list);

	CHECK_EQ(buddy_isolate_frames(&b, pfn, 512, 0, &list), 8 * 4 + 56);
	CHECK_EQ(list_first_entry(&list, struct page, lru)->private, 0);
	CHECK_EQ(pages_on(&list, true), 8 * 4 + 56); /* the fours grow together again */
	CHECK_EQ(b.nr_free_pages, free_pages);
	check();
}

HOST_TEST(buddy_isolation_keeps_the_mark_and_the_borders)
{
	unsigned long pfn = make_pieces(), next;
	LIST_HEAD(list);

	CHECK_EQ(buddy_isolate_range(&b, pfn, 512, b.nr_free_pages - 5, &list, &next), 5);
	CHECK_EQ(pages_on(&list, true), 5);
	CHECK_EQ(buddy_isolate_range(&b, END - 1, 512, 0, &list, &next), 1);
	CHECK_EQ(next, END);
	give(pfn_to_page(END - 1), 0);
	check();
}

HOST_TEST(buddy_whole_pageblocks_become_movable)
{
	unsigned long pfn = (START | 1023) + 1, next;
	LIST_HEAD(list);

	set_up();
	*buddy_mt_slot(&b, pfn) = MT_UNMOVABLE;
	*buddy_mt_slot(&b, pfn + 512) = MT_RESERVE;
	CHECK_EQ(buddy_isolate_range(&b, pfn, 32, 0, &list, &next), 1024);
	CHECK_EQ(next, pfn + 1024);
	CHECK_EQ(buddy_mt(&b, pfn), MT_MOVABLE);
	CHECK_EQ(buddy_mt(&b, pfn + 512), MT_RESERVE);
}

HOST_TEST(buddy_takes_a_part)
{
	unsigned long pfn = (START | 1023) + 1, free_pages;
	struct page *page;

	set_up();
	free_pages = b.nr_free_pages;
	page = buddy_take_part(&b, pfn_to_page(pfn), MAX_ORDER - 1, 4);
	CHECK_EQ(page_to_pfn(page), pfn);
	take(page, 4);
	CHECK_EQ(b.nr_free_pages, free_pages - 16);
	check();
	give(page, 4);
	check();
	CHECK(page_is_buddy(page, MAX_ORDER - 1, ZONE_FLAGS));
}
