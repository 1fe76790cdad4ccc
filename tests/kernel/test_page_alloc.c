/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame allocator: fresh pages, orders, nodes, NUMA counters, exhaustion and recovery, lists
 * drained to nothing.
 */
#include "lib/random.h"
#include "lib/string.h"
#include "mm/phys/page_alloc.h"
#include "mm/phys/watermark.h"
#include "sched/sched.h"
#include "tests/kernel/ktest.h"

static bool fresh(const struct page *page)
{
	return atomic_read(&page->refs) == 1 && atomic_read(&page->mapcount) == -1 &&
	       !page->mapping && !page->private && !(page->flags & ~PAGE_ZONE_BITS);
}

static const char *check_all_zones(void)
{
	const char *what = NULL;
	struct zone *z;

	for_each_zone(z)
		what = what ? what : zone_check(z);
	return what;
}

KTEST(page_alloc, fresh_pages)
{
	for (unsigned int order = 0; order < MAX_ORDER; order++) {
		struct page *page = alloc_pages(GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY, order);

		if (!page) {
			KT_ASSERT(order > 3);
			continue;
		}
		KT_ASSERT(fresh(page));
		KT_ASSERT((page_to_pfn(page) & ((1ul << order) - 1)) == 0);
		for (unsigned long i = 1; i < 1ul << order; i++)
			KT_ASSERT(atomic_read(&page[i].refs) == 0 &&
				  page_zone(page + i) == page_zone(page));
		memset(page_address(page), 0x11, PAGE_SIZE << order);
		free_pages_order(page, order);
	}
	KT_ASSERT(!alloc_pages(GFP_KERNEL, MAX_ORDER));
}

KTEST(page_alloc, zero_and_compound)
{
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, 3);

	KT_ASSERT(page);
	KT_ASSERT(!memchr_inv(page_address(page), 0, PAGE_SIZE << 3));
	KT_EQ(compound_order(page), 3);
	for (int i = 1; i < 8; i++)
		KT_ASSERT(page_head(page + i) == page);
	page_put(page); /* the head's last reference frees all of it */
	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	KT_ASSERT(page && !memchr_inv(page_address(page), 0, PAGE_SIZE));
	free_page(page);
}

KTEST(page_alloc, classes)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_DMA);

	KT_EQ(gfp_zone_class(GFP_KERNEL), ZONE_NORMAL);
	KT_EQ(gfp_zone_class(GFP_KERNEL | __GFP_MOVABLE), ZONE_NORMAL);
	KT_EQ(gfp_zone_class(GFP_HIGHUSER), ZONE_HIGH);
	KT_EQ(gfp_zone_class(GFP_HIGHUSER_MOVABLE), ZONE_MOVABLE);
	KT_EQ(gfp_zone_class(GFP_KERNEL | __GFP_DMA32), ZONE_DMA32);
	KT_EQ(gfp_zone_class(GFP_HIGHUSER_MOVABLE | __GFP_DMA), ZONE_DMA);
	if (page) {
		KT_EQ(page_zone(page)->type, ZONE_DMA);
		free_page(page);
	}
}

KTEST(page_alloc, nodes)
{
	for (int n = 0; n < nr_nodes; n++) {
		struct page *page = alloc_pages_node(n, GFP_KERNEL, 0);

		KT_ASSERT(page);
		if (nodes[n]->has_memory)
			KT_EQ(page_node(page), n);
		free_page(page);
		page = alloc_pages_node(
			n, GFP_KERNEL | __GFP_THISNODE | __GFP_NOWARN | __GFP_NORETRY, 0);
		KT_EQ(page != NULL, nodes[n]->has_memory);
		if (page)
			free_page(page);
	}
}

KTEST(page_alloc, counters)
{
	u64 hit = 0, hit2 = 0, freed = vm_event_sum(PGFREE);
	struct zone *z;

	for_each_zone(z)
		hit += zone_numa_sum(z, NUMA_HIT);
	for (int i = 0; i < 100; i++) {
		struct page *page = alloc_page(GFP_KERNEL);

		KT_ASSERT(page);
		free_page(page);
	}
	for_each_zone(z)
		hit2 += zone_numa_sum(z, NUMA_HIT);
	KT_ASSERT(hit2 >= hit + 100);
	KT_ASSERT(vm_event_sum(PGFREE) >= freed + 100);
}

/*
 * Everything there is, down to the watermarks, and back: the same number free, all blocks whole
 * again.
 */
KTEST(page_alloc, exhaust_and_recover)
{
	unsigned long before, after, got = 0;
	struct page *list = NULL, *page;
	bool low = true, enough;
	struct zone *z;

	pcp_drain_all();
	before = nr_free_pages();
	while ((page = alloc_page(GFP_NOWAIT | __GFP_NOWARN | __GFP_HIGH_ZONE | __GFP_MOVABLE))) {
		page->private = (unsigned long)list;
		list = page;
		got++;
	}
	for_each_zone(z)
		low = low && !zone_watermark_ok(z, 0, z->watermark[WMARK_MIN] + PCP_BATCH_MAX,
						ZONE_MOVABLE, 0);
	enough = got > before / 2;
	while ((page = list)) {
		list = (struct page *)page->private;
		free_page(page);
		if ((--got & 1023) == 0)
			cond_resched();
	}
	pcp_drain_all();
	after = nr_free_pages();
	KT_ASSERT(enough && low);
	KT_ASSERT(after + 64 >= before && before + 64 >= after);
	KT_ASSERT(!check_all_zones());
}

KTEST(page_alloc, random_orders)
{
	static struct {
		struct page *page;
		u32 order;
	} held[512];
	u64 seed = 12345;
	u32 n = 0;

	for (int i = 0; i < 20000; i++) {
		u32 order, at;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		order = (u32)(seed >> 33) % 5;
		at = (u32)(seed >> 40) % 512;
		if (held[at].page) {
			KT_EQ(*(u64 *)page_address(held[at].page), (u64)held[at].page);
			free_pages_order(held[at].page, held[at].order);
			held[at].page = NULL;
			n--;
			continue;
		}
		held[at].page =
			alloc_pages(GFP_KERNEL | ((seed >> 60) & 1 ? __GFP_MOVABLE : 0), order);
		held[at].order = order;
		if (held[at].page) {
			*(u64 *)page_address(held[at].page) = (u64)held[at].page;
			n++;
		}
	}
	for (u32 i = 0; i < 512; i++)
		if (held[i].page) {
			free_pages_order(held[i].page, held[i].order);
			held[i].page = NULL;
		}
	KT_ASSERT(!check_all_zones());
}

KTEST(page_alloc, page_lock)
{
	struct page *page = alloc_page(GFP_KERNEL);

	KT_ASSERT(page);
	page_lock(page);
	KT_ASSERT(!page_trylock(page));
	page_unlock(page);
	KT_ASSERT(page_trylock(page));
	page_unlock(page);
	page_wait_writeback(page);
	free_page(page);
}
