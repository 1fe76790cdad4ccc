/* SPDX-License-Identifier: BSD-2-Clause */
/* The early allocator's core: random reservations against a map of pages. */
// SOURCES: mm/phys/bootmem.c mm/phys/zone_layout.c
#include "host.h"

#include "arch/page.h"
#include "mm/phys/bootmem.h"
#include "mm/phys/page.h"

struct page *host_mem_map;
unsigned long host_first_pfn;

#define PAGES 4096u
static u8 map[PAGES]; /* 0 no RAM, 1 + node: free RAM, 100: reserved */
static struct bootmem bm;

static void ram(unsigned start, unsigned end, int node)
{
	bm_add(&bm, (u64)start << PAGE_SHIFT, (u64)end << PAGE_SHIFT, node);
	memset(map + start, 1 + node, end - start);
}

static void reserve(unsigned start, unsigned end)
{
	CHECK_EQ(bm_reserve(&bm, (u64)start << PAGE_SHIFT, (u64)end << PAGE_SHIFT, "x"), 0);
	for (unsigned i = start; i < end; i++)
		map[i] = map[i] ? 100 : 0;
}

static void set_up(void)
{
	memset(&bm, 0, sizeof(bm));
	memset(map, 0, sizeof(map));
	ram(2000, 3000, 1);
	ram(1, 160, 0);
	ram(256, 2000, 0);
	ram(3500, 4000, 1);
}

static void check(void)
{
	u8 seen[PAGES] = { 0 };
	phys_addr_t pos = 0, start, end;

	while (bm_next_free(&bm, &pos, &start, &end)) {
		CHECK(start < end);
		for (u64 p = start >> PAGE_SHIFT; p < end >> PAGE_SHIFT; p++) {
			CHECK(!seen[p]);
			seen[p] = 1;
		}
	}
	for (unsigned i = 0; i < PAGES; i++)
		CHECK_EQ(seen[i], map[i] != 0 && map[i] != 100);
	for (unsigned i = 1; i < bm.nr_reserved; i++)
		CHECK(bm.reserved[i - 1].end < bm.reserved[i].start);
	for (unsigned i = 1; i < bm.nr_memory; i++)
		CHECK(bm.memory[i - 1].end <= bm.memory[i].start);
}

HOST_TEST(bootmem_free_ranges)
{
	set_up();
	check();
	reserve(0, 100);
	reserve(150, 300);
	reserve(3000, 3400); /* a hole */
	check();
	reserve(90, 160); /* joins two */
	check();
}

HOST_TEST(bootmem_top_down_and_node_local)
{
	set_up();
	CHECK_EQ(bm_find(&bm, PAGE_SIZE, PAGE_SIZE, -1, ~0ull), 3999ul << PAGE_SHIFT);
	CHECK_EQ(bm_find(&bm, PAGE_SIZE, PAGE_SIZE, 0, ~0ull), 1999ul << PAGE_SHIFT);
	CHECK_EQ(bm_find(&bm, 600 * PAGE_SIZE, PAGE_SIZE, 1, ~0ull), 2400ul << PAGE_SHIFT);
	CHECK_EQ(bm_find(&bm, PAGE_SIZE, PMD_SIZE, 1, ~0ull), 3584ul << PAGE_SHIFT);
	CHECK_EQ(bm_find(&bm, PAGE_SIZE, PAGE_SIZE, -1, 1024 * PAGE_SIZE), 1023ul << PAGE_SHIFT);
	CHECK_EQ(bm_find(&bm, 1800 * PAGE_SIZE, PAGE_SIZE, 1, ~0ull), 0);
	CHECK_EQ(bm_find(&bm, PAGE_SIZE, PAGE_SIZE, 2, ~0ull), 0);
}

HOST_TEST(bootmem_random)
{
	for (int round = 0; round < 200; round++) {
		set_up();
		for (int i = 0; i < 60; i++) {
			unsigned n = 1 + host_random() % 80, align = 1u << host_random() % 6;
			phys_addr_t at = bm_find(&bm, n * PAGE_SIZE, align * PAGE_SIZE,
						 (int)(host_random() % 3) - 1, ~0ull);

			if (!at)
				continue;
			CHECK_EQ(at % (align * PAGE_SIZE), 0);
			for (unsigned p = at >> PAGE_SHIFT; p < (at >> PAGE_SHIFT) + n; p++)
				CHECK(map[p] && map[p] != 100);
			reserve(at >> PAGE_SHIFT, (at >> PAGE_SHIFT) + n);
		}
		check();
	}
}

HOST_TEST(bootmem_carving)
{
	set_up();
	bm_remove(&bm, 500ul << PAGE_SHIFT, 600ul << PAGE_SHIFT);
	memset(map + 500, 0, 100);
	check();
	bm_remove(&bm, 2900ul << PAGE_SHIFT, ~0ull);
	memset(map + 2900, 0, PAGES - 2900);
	check();
	CHECK_EQ(bm.nr_memory, 4);
}
