/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory map's classifier and its lines: every class and attribute by hand, then random memory
 * against a slow count of each frame, damaged orders, and lines read back.
 */
// SOURCES: mm/debug/pageclass.c mm/debug/memline.c
#include "host.h"

#include "mm/debug/memmap.h"

#define FIRST 0x2000ul
#define PAGES 4096ul
#define ZONE (9ul << PAGE_NODE_SHIFT)
#define OTHER (1ul << PAGE_NODE_SHIFT)

struct page *host_mem_map;
unsigned long host_first_pfn = FIRST;

static void set_up(void)
{
	free(host_mem_map);
	host_mem_map = aligned_alloc(64, PAGES * sizeof(struct page));
	memset(host_mem_map, 0, PAGES * sizeof(struct page));
	for (unsigned long i = 0; i < PAGES; i++) {
		host_mem_map[i].flags = ZONE;
		host_mem_map[i].mapcount.v = -1;
	}
}

/* A page in use: flags, mappings, references, and whether it has an owner. */
static struct page *use(unsigned long i, unsigned long flags, int mapped, int refs, bool owner)
{
	struct page *p = &host_mem_map[i];

	p->flags = ZONE | flags;
	p->mapcount.v = mapped - 1;
	p->refs.v = refs;
	p->mapping = owner ? (struct mapping *)0x1000 : NULL;
	return p;
}

static void free_block(unsigned long i, unsigned int order)
{
	host_mem_map[i].flags = ZONE | BIT(PG_buddy);
	host_mem_map[i].private = order | MT_MOVABLE << 8;
}

static struct block_counts count(unsigned long from, unsigned long to)
{
	struct block_counts c = { .pages = 0 };
	struct class_walk w = { .until = 0 };

	pageclass_count(&c, &w, FIRST + from, FIRST + to, ZONE);
	return c;
}

HOST_TEST(pageclass_each_class)
{
	static const struct {
		unsigned long flags;
		int mapped, refs;
		bool owner;
		u32 class, attrs;
	} want[] = {
		{ 0, 0, 0, false, PC_PCP, 0 },
		{ 0, 0, 1, false, PC_KERNEL, 0 },
		{ BIT(PG_slab), 0, 1, true, PC_SLAB, 0 },
		{ BIT(PG_kmalloc), 0, 1, false, PC_SLAB, 0 },
		{ BIT(PG_table), 0, 1, false, PC_TABLE, 0 },
		{ BIT(PG_kstack), 0, 1, false, PC_STACK, 0 },
		{ BIT(PG_vmalloc), 0, 1, false, PC_VMALLOC, 0 },
		{ BIT(PG_reserved), 0, 1, false, PC_RESERVED, 0 },
		{ BIT(PG_lru) | BIT(PG_anon) | BIT(PG_swapbacked), 1, 1, true, PC_INACTIVE_ANON,
		  BIT(PA_ANON_MAPPED) },
		{ BIT(PG_lru) | BIT(PG_active) | BIT(PG_anon) | BIT(PG_swapbacked), 2, 3, true,
		  PC_ACTIVE_ANON, BIT(PA_ANON_MAPPED) | BIT(PA_PINNED) },
		{ BIT(PG_lru) | BIT(PG_anon) | BIT(PG_swapbacked) | BIT(PG_swapcache) |
			  BIT(PG_dirty) | BIT(PG_writeback),
		  0, 1, true, PC_INACTIVE_ANON, BIT(PA_SWAPCACHE) | BIT(PA_WRITEBACK) },
		{ BIT(PG_lru), 0, 1, true, PC_INACTIVE_FILE, BIT(PA_CACHED) },
		{ BIT(PG_lru) | BIT(PG_active) | BIT(PG_dirty), 1, 2, true, PC_ACTIVE_FILE,
		  BIT(PA_CACHED) | BIT(PA_DIRTY) | BIT(PA_FILE_MAPPED) },
		{ BIT(PG_lru) | BIT(PG_active) | BIT(PG_swapbacked) | BIT(PG_dirty), 0, 1, true,
		  PC_ACTIVE_ANON, BIT(PA_CACHED) | BIT(PA_SHMEM) },
		{ BIT(PG_lru) | BIT(PG_unevictable) | BIT(PG_mlocked) | BIT(PG_anon) |
			  BIT(PG_swapbacked),
		  1, 1, true, PC_UNEVICTABLE, BIT(PA_ANON_MAPPED) | BIT(PA_MLOCKED) },
		{ BIT(PG_lru_pending) | BIT(PG_anon) | BIT(PG_swapbacked), 1, 1, true, PC_WAITING,
		  BIT(PA_ANON_MAPPED) },
		{ BIT(PG_isolated) | BIT(PG_anon) | BIT(PG_swapbacked), 1, 2, true, PC_OFF_LIST,
		  BIT(PA_ANON_MAPPED) },
		{ 0, 0, 2, true, PC_OFF_LIST, BIT(PA_CACHED) | BIT(PA_PINNED) },
	};

	set_up();
	for (u32 i = 0; i < ARRAY_SIZE(want); i++) {
		u32 attrs;

		use(i, want[i].flags, want[i].mapped, want[i].refs, want[i].owner);
		CHECK_EQ(page_classify(&host_mem_map[i], &attrs), want[i].class);
		CHECK_EQ(attrs, want[i].attrs);
	}
	use(20, BIT(PG_reserved), 0, 1, false)->private = 1;
	CHECK_EQ(count(20, 21).of[PC_HOLE], 1);
	use(21, BIT(PG_reserved), 0, 1, false)->private = 1;
	use(22, BIT(PG_reserved), 0, 1, false);
	use(23, BIT(PG_reserved), 0, 1, false);
	CHECK_EQ(count(20, 24).of[PC_HOLE], 2);
	CHECK_EQ(count(20, 24).of[PC_RESERVED], 2);
}

HOST_TEST(pageclass_blocks_across_borders)
{
	struct block_counts a = { .pages = 0 }, b = { .pages = 0 };
	struct class_walk w = { .until = 0 };

	set_up();
	free_block(0, 10); /* two pageblocks */
	pageclass_count(&a, &w, FIRST, FIRST + 512, ZONE);
	pageclass_count(&b, &w, FIRST + 512, FIRST + 1024, ZONE);
	CHECK_EQ(a.of[PC_FREE], 512);
	CHECK_EQ(b.of[PC_FREE], 512);
	CHECK_EQ(a.free[10], 1);
	CHECK_EQ(b.free[10], 0);
	CHECK_EQ(a.pages + b.pages, 1024);

	/* A compound page, its tails as make_compound leaves them. */
	set_up();
	use(1024, BIT(PG_head) | BIT(PG_lru) | BIT(PG_anon) | BIT(PG_swapbacked), 1, 1, true);
	host_mem_map[1025].comp_order = 9;
	for (u32 i = 1025; i < 1536; i++)
		host_mem_map[i].flags |= BIT(PG_tail);
	a = count(1024, 1536);
	CHECK_EQ(a.of[PC_INACTIVE_ANON], 512);
	CHECK_EQ(a.attr[PA_HUGE], 512);
	CHECK_EQ(a.attr[PA_ANON_MAPPED], 512);
}

HOST_TEST(pageclass_nonsense_orders)
{
	set_up();
	free_block(3, 7);   /* not aligned to it */
	free_block(8, 200); /* no such order */
	use(16, BIT(PG_head) | BIT(PG_slab), 0, 1, true);
	host_mem_map[17].comp_order = 0xdeadbeef;

	struct block_counts c = count(0, 512);

	CHECK_EQ(c.pages, 512);
	CHECK_EQ(c.of[PC_FREE], 2);
	CHECK_EQ(c.free[0], 2);
	CHECK_EQ(c.of[PC_SLAB], 1);
	CHECK_EQ(c.of[PC_PCP], 509);
}

HOST_TEST(pageclass_only_the_zone)
{
	set_up();
	for (u32 i = 0; i < 100; i++)
		host_mem_map[i].flags = OTHER;
	host_mem_map[40].flags |= BIT(PG_buddy);
	host_mem_map[40].private = 3;
	CHECK_EQ(count(0, 512).pages, 412);
	CHECK_EQ(count(0, 90).pages, 0);
}

/* Random memory: single pages of any flags, free blocks, compound pages; counted page by page. */
static void fill(struct block_counts *want)
{
	static const unsigned long bits[] = {
		PG_lru,	      PG_active,  PG_swapbacked, PG_anon,  PG_dirty,	   PG_writeback,
		PG_swapcache, PG_mlocked, PG_slab,	 PG_table, PG_lru_pending, PG_unevictable
	};

	for (unsigned long i = 0; i < PAGES;) {
		u32 order = host_random() % 4 ? 0 : (u32)(host_random() % MAX_ORDER), attrs = 0;
		unsigned long flags = 0, n;
		u32 class;

		while (i & ((1ul << order) - 1))
			order--;
		n = 1ul << order;
		if (order && host_random() % 2) {
			free_block(i, order);
			want->free[order]++;
			class = PC_FREE;
		} else {
			for (u32 k = host_random() % 4; k; k--)
				flags |= BIT(bits[host_random() % ARRAY_SIZE(bits)]);
			use(i, flags | (order ? BIT(PG_head) : 0), (int)(host_random() % 3),
			    (int)(host_random() % 4), host_random() % 2);
			if (order) {
				host_mem_map[i + 1].comp_order = order;
				for (unsigned long t = 1; t < n; t++)
					host_mem_map[i + t].flags = ZONE | BIT(PG_tail);
			}
			class = page_classify(&host_mem_map[i], &attrs);
			if (order >= PAGEBLOCK_ORDER)
				attrs |= BIT(PA_HUGE);
		}
		want->of[class] += (u32)n;
		want->pages += (u32)n;
		for (u32 a = 0; a < NR_PAGE_ATTRS; a++)
			want->attr[a] += attrs & BIT(a) ? (u32)n : 0;
		/* A run of the same. */
		for (u32 k = order ? 0 : host_random() % 40; k && i + n < PAGES; k--, n++) {
			host_mem_map[i + n] = host_mem_map[i];
			want->of[class]++;
			want->pages++;
			for (u32 a = 0; a < NR_PAGE_ATTRS; a++)
				want->attr[a] += !!(attrs & BIT(a));
		}
		i += n;
	}
}

HOST_TEST(pageclass_random)
{
	for (int round = 0; round < 200; round++) {
		struct block_counts want = { .pages = 0 }, got = { .pages = 0 };
		struct class_walk w = { .until = 0 };
		u32 sum = 0;

		set_up();
		fill(&want);
		for (unsigned long i = 0; i < PAGES; i += PAGEBLOCK_PAGES) {
			struct block_counts one = { .pages = 0 };

			pageclass_count(&one, &w, FIRST + i, FIRST + i + PAGEBLOCK_PAGES, ZONE);
			CHECK_EQ(one.pages, PAGEBLOCK_PAGES);
			for (u32 k = 0; k < sizeof(got) / sizeof(u32); k++)
				((u32 *)&got)[k] += ((u32 *)&one)[k];
		}
		for (u32 k = 0; k < NR_PAGE_CLASSES; k++)
			sum += got.of[k];
		CHECK_EQ(sum, PAGES);
		CHECK(!memcmp(&want, &got, sizeof(want)));
	}
}

HOST_TEST(memline_text)
{
	struct block_counts c = { .pages = 512 };
	char text[MEMMAP_LINE];
	size_t n;

	n = memmap_line(text, 0, 0, 77, &c);
	text[n] = 0;
	CHECK_STR(text, "0 0 -\n");
	c.of[PC_FREE] = 100;
	c.free[2] = 1;
	c.free[5] = 3;
	c.of[PC_ACTIVE_FILE] = 412;
	c.attr[PA_DIRTY] = 7;
	n = memmap_line(text, 1234567, 3, MT_MOVABLE, &c);
	text[n] = 0;
	CHECK_STR(text, "1234567 3 M f=100:0.0.1.0.0.3 af=412 di=7\n");
	/* A free block of the top order covers the next pageblock too: frames, and none begins. */
	c = (struct block_counts){ .pages = 512 };
	c.of[PC_FREE] = 512;
	n = memmap_line(text, 9, 0, MT_ISOLATE, &c);
	text[n] = 0;
	CHECK_STR(text, "9 0 I f=512\n");
}

HOST_TEST(memline_longest)
{
	struct block_counts c;
	char text[MEMMAP_LINE + 1];

	for (u32 k = 0; k < sizeof(c) / sizeof(u32); k++)
		((u32 *)&c)[k] = PAGEBLOCK_PAGES;
	text[MEMMAP_LINE] = 77;
	CHECK(memmap_line(text, ~0ul, ~0u, MT_RESERVE, &c) <= MEMMAP_LINE);
	CHECK_EQ(text[MEMMAP_LINE], 77);
}
