/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory map against the counters: on a machine where nothing happens the sums over all
 * pageblocks are the zones' counters; made pages appear in their class and in their block.
 */
#include "kernel/show.h"
#include "lib/math.h"
#include "lib/string.h"
#include "mm/debug/memmap.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/buddy.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "tests/kernel/ktest.h"

struct sums {
	struct block_counts c;
	unsigned long blocks, of_type[NR_MIGRATETYPES], bad;
};

static void sum_block(struct zone *zone, unsigned long block, unsigned int type,
		      const struct block_counts *c, void *arg)
{
	struct sums *s = arg;
	u32 pages = 0;

	for (u32 i = 0; i < NR_PAGE_CLASSES; i++) {
		s->c.of[i] += c->of[i];
		pages += c->of[i];
	}
	for (u32 i = 0; i < NR_PAGE_ATTRS; i++)
		s->c.attr[i] += c->attr[i];
	for (u32 i = 0; i < MAX_ORDER; i++)
		s->c.free[i] += c->free[i];
	s->c.pages += c->pages;
	s->blocks++;
	s->of_type[type]++;
	s->bad += pages != c->pages;
}

/* An item of a zone that the map knows, too. */
static const struct {
	enum zone_stat_item item;
	u8 attr; /* an attribute, not a class */
	u8 what;
} same_as[] = {
	{ NR_FREE_PAGES, 0, PC_FREE },
	{ NR_INACTIVE_ANON, 0, PC_INACTIVE_ANON },
	{ NR_ACTIVE_ANON, 0, PC_ACTIVE_ANON },
	{ NR_INACTIVE_FILE, 0, PC_INACTIVE_FILE },
	{ NR_ACTIVE_FILE, 0, PC_ACTIVE_FILE },
	{ NR_UNEVICTABLE, 0, PC_UNEVICTABLE },
	{ NR_PAGETABLE, 0, PC_TABLE },
	{ NR_KERNEL_STACK, 0, PC_STACK },
	{ NR_VMALLOC, 0, PC_VMALLOC },
	{ NR_ANON_PAGES, 1, PA_ANON_MAPPED },
	{ NR_MAPPED, 1, PA_FILE_MAPPED },
	{ NR_FILE_PAGES, 1, PA_CACHED },
	{ NR_SHMEM, 1, PA_SHMEM },
	{ NR_DIRTY, 1, PA_DIRTY },
	{ NR_WRITEBACK, 1, PA_WRITEBACK },
	{ NR_MLOCK, 1, PA_MLOCKED },
	{ NR_SWAPCACHE, 1, PA_SWAPCACHE },
};

static u64 all_items(struct zone *z)
{
	u64 sum = 0;

	for (u32 i = 0; i < NR_ZONE_STAT_ITEMS; i++)
		sum = sum * 31 + zone_state_exact(z, (enum zone_stat_item)i);
	return sum;
}

KTEST(memmap, sums_are_the_counters)
{
	static struct sums s;
	struct zone *z;

	lru_drain_all();
	for_each_zone(z) {
		u64 before;
		u32 tries = 0;

		/* Something may still be settling: wanted is a walk in which no counter moved. */
		do {
			KT_ASSERT(tries++ < 20);
			before = all_items(z);
			memset(&s, 0, sizeof(s));
			memmap_walk(z, sum_block, &s);
		} while (before != all_items(z));
		KT_EQ(s.bad, 0);
		KT_EQ(s.c.pages - s.c.of[PC_HOLE], z->present_pages);
		for (u32 i = 0; i < ARRAY_SIZE(same_as); i++) {
			unsigned long got = same_as[i].attr ? s.c.attr[same_as[i].what]
							    : s.c.of[same_as[i].what];

			if (got != zone_state_exact(z, same_as[i].item))
				pr_info("# %s zone %u: %s\n", __func__, z->seq,
					zone_stat_name(same_as[i].item));
			KT_EQ(got, zone_state_exact(z, same_as[i].item));
		}
		KT_EQ(s.c.of[PC_SLAB], zone_state_exact(z, NR_SLAB_RECLAIMABLE) +
					       zone_state_exact(z, NR_SLAB_UNRECLAIMABLE));
		KT_EQ(s.c.of[PC_WAITING], 0);
		for (u32 o = 0; o < MAX_ORDER; o++)
			KT_EQ(s.c.free[o], z->buddy.area[o].nr_free);
	}
}

/* The counts of one block. */
struct one {
	unsigned long block;
	struct block_counts c;
};

static void keep_block(struct zone *zone, unsigned long block, unsigned int type,
		       const struct block_counts *c, void *arg)
{
	struct one *one = arg;

	if (block == one->block)
		one->c = *c;
}

static struct block_counts counts_of(struct page *page)
{
	struct one one = { .block = page_to_pfn(page) >> PAGEBLOCK_ORDER };

	memmap_walk(page_zone(page), keep_block, &one);
	return one.c;
}

KTEST(memmap, a_block_taken_and_given_back)
{
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_COMP, PAGEBLOCK_ORDER);
	struct block_counts c;

	if (!page)
		KT_SKIP("no block of a pageblock's size is free");
	c = counts_of(page);
	KT_EQ(c.pages, PAGEBLOCK_PAGES);
	KT_EQ(c.of[PC_KERNEL], PAGEBLOCK_PAGES);
	free_pages_order(page, PAGEBLOCK_ORDER);
	c = counts_of(page);
	KT_EQ(c.of[PC_KERNEL], 0);
	KT_EQ(c.of[PC_FREE], PAGEBLOCK_PAGES);
}

KTEST(memmap, vmalloc_shows)
{
	void *p = vmalloc(64 * PAGE_SIZE);
	unsigned long before = 0, after = 0;
	struct zone *z;

	KT_ASSERT(p);
	for_each_zone(z) {
		static struct sums s;

		memset(&s, 0, sizeof(s));
		memmap_walk(z, sum_block, &s);
		before += s.c.of[PC_VMALLOC];
	}
	vfree(p);
	for_each_zone(z) {
		static struct sums s;

		memset(&s, 0, sizeof(s));
		memmap_walk(z, sum_block, &s);
		after += s.c.of[PC_VMALLOC];
	}
	KT_EQ(before - after, 64);
}

KTEST(memmap, text_in_one_walk)
{
	static char small[4096];
	long index;
	struct show_entry *e = show_find("/sys/kernel/quire/memmap", &index);
	struct seq seq = { .buf = small, .size = sizeof(small) };
	size_t want;
	char *text;

	KT_ASSERT(e);
	KT_EQ(e->show(&seq), 0);
	want = seq.count;
	KT_ASSERT(want > sizeof(small) || totalram_pages < 64 * PAGEBLOCK_PAGES);
	want += want / 8 + PAGE_SIZE; /* more blocks of text than now, and room for one long line */
	text = vmalloc(want);
	KT_ASSERT(text);
	seq = (struct seq){ .buf = text, .size = want };
	e->show(&seq);
	KT_ASSERT(seq.count <= seq.size && seq.count > 64);
	KT_ASSERT(!strncmp(text, "quire-memmap 1 time_ns=", 23));
	KT_ASSERT(text[seq.count - 1] == '\n');
	vfree(text);
}
