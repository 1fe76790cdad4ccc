/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * buddy.c - the buddy system of one zone.
 *
 * Problem: hand out contiguous runs of 2^n frames and put them together again when they come back.
 * Idea: a free block of order n starts at a multiple of 2^n; its buddy is the block whose number
 * differs in bit n only. Freeing merges with the buddy as long as that one is free and of the same
 * order; allocating splits a larger block and keeps the halves.
 *
 *     order 2   [ 0 1 2 3 ]          free 1: buddy 0 free? yes -> [0 1], buddy [2 3] free? yes ->
 *                                    [0 1 2 3]
 *     order 1   [0 1] [2 3]
 *     order 0   [0][1][2][3]
 *
 * Grouping by mobility: every pageblock (2^9 frames) has a migrate type, and the lists are kept per
 * type, so that frames that can move stay together and can be cleared later. A type that runs dry
 * takes the LARGEST block of another type; when that is half a pageblock row or more it also claims
 * the rest of the pageblock (buddy_claim_range in steps by the caller, who may let interrupts in
 * between).
 *
 * Invariants: PG_buddy is set exactly on the first frame of each free block, private says its order
 * and list; no two buddies of the same order are both free (below the top order, isolation apart);
 * area[o].nr_free counts the blocks of order o over all types, area[o].nr[mt] those on each list;
 * nr_free_pages is their sum; mt_mask may have stale set bits, never missing ones.
 * Locking: none in here; the caller holds zone->lock. A neighbour that is not free may change its
 * flags at any time, but only we set or clear PG_buddy.
 * Source: [Knuth97] 2.5; grouping by mobility as in [seed-002]'s kernels.
 */
#include "mm/phys/buddy.h"

#include "lib/math.h"

const char *const migratetype_name[NR_MIGRATETYPES] = { "Unmovable", "Reclaimable", "Movable",
							"Reserve", "Isolate" };

/* Whom to rob, in this order. RESERVE is the last resort and never changes its type. */
static const u8 fallbacks[MT_PCPTYPES][2] = {
	[MT_UNMOVABLE] = { MT_RECLAIMABLE, MT_MOVABLE },
	[MT_RECLAIMABLE] = { MT_UNMOVABLE, MT_MOVABLE },
	[MT_MOVABLE] = { MT_RECLAIMABLE, MT_UNMOVABLE },
};

void buddy_init(struct buddy *b, unsigned long start_pfn, unsigned long end_pfn, u8 *pageblock_mt,
		unsigned long flags)
{
	*b = (struct buddy){ .start_pfn = start_pfn,
			     .end_pfn = end_pfn,
			     .pageblock_mt = pageblock_mt,
			     .flags = flags };
	for (int o = 0; o < MAX_ORDER; o++)
		for (int mt = 0; mt < NR_MIGRATETYPES; mt++)
			list_init(&b->area[o].free[mt]);
}

static __always_inline void block_add(struct buddy *b, struct page *page, unsigned int order,
				      unsigned int mt)
{
	struct free_area *area = &b->area[order];

	page->private = order | mt << 8;
	page->flags |= BIT(PG_buddy);
	list_add(&page->lru, &area->free[mt]);
	area->nr_free++;
	area->nr[mt]++;
	b->mt_mask[mt] |= 1u << order;
}

static __always_inline void block_del(struct buddy *b, struct page *page, unsigned int order)
{
	__list_del(&page->lru);
	page->flags &= ~BIT(PG_buddy);
	b->area[order].nr_free--;
	b->area[order].nr[buddy_list_mt(page)]--;
}

/* A pageblock that is being isolated keeps to itself. */
static bool isolation_border(const struct buddy *b, unsigned long pfn, unsigned long bud_pfn)
{
	enum migratetype m = buddy_mt(b, pfn), n = buddy_mt(b, bud_pfn);

	return m != n && (m == MT_ISOLATE || n == MT_ISOLATE);
}

unsigned int buddy_free(struct buddy *b, struct page *page, unsigned int order)
{
	const unsigned int from = order;
	const unsigned long want = b->flags | BIT(PG_buddy);
	unsigned long pfn = page_to_pfn(page);
	unsigned long bit = 1ul << order;

	b->nr_free_pages += bit;
	for (; order < MAX_ORDER - 1; order++, bit <<= 1) {
		struct page *bud = pfn & bit ? page - bit : page + bit;

		if ((bud->flags & (PAGE_ZONE_BITS | BIT(PG_buddy))) != want ||
		    buddy_order(bud) != order)
			break;
		if (unlikely(order >= PAGEBLOCK_ORDER) && isolation_border(b, pfn, pfn ^ bit))
			break;
		block_del(b, bud, order);
		if (pfn & bit)
			page = bud;
		pfn &= ~bit;
	}
	block_add(b, page, order, buddy_mt(b, pfn));
	return order - from;
}

/* Gives the halves that are too many back, the upper ones first. */
static __always_inline void split_down(struct buddy *b, struct page *page, unsigned int high,
				       unsigned int low, unsigned int mt)
{
	while (high > low) {
		high--;
		block_add(b, page + (1ul << high), high, mt);
	}
}

/* First block of mt of at least this order, or NULL. */
static __always_inline struct page *find_block(struct buddy *b, unsigned int order, unsigned int mt,
					       unsigned int *found)
{
	u32 mask = b->mt_mask[mt] & (~0u << order);

	while (mask) {
		unsigned int o = __ffs(mask);
		struct list_head *list = &b->area[o].free[mt];

		if (likely(!list_empty(list))) {
			*found = o;
			return list_first_entry(list, struct page, lru);
		}
		b->mt_mask[mt] &= ~(1u << o);
		mask &= mask - 1;
	}
	return NULL;
}

/* Largest block of another type; the whole pageblocks it covers change their type at once. */
static noinline struct page *find_fallback(struct buddy *b, unsigned int order, unsigned int mt,
					   unsigned int *found, struct page **claim)
{
	for (int o = MAX_ORDER - 1; o >= (int)order; o--) {
		for (u32 i = 0; i < ARRAY_SIZE(fallbacks[0]); i++) {
			struct list_head *list = &b->area[o].free[fallbacks[mt][i]];
			struct page *page;

			if (list_empty(list))
				continue;
			page = list_first_entry(list, struct page, lru);
			*found = o;
			for (unsigned long p = 0; o >= PAGEBLOCK_ORDER && p < 1ul << o;
			     p += PAGEBLOCK_PAGES)
				*buddy_mt_slot(b, page_to_pfn(page) + p) = mt;
			/*
			 * Smaller: unmovable pages keep to blocks they have; so claim early rather
			 * than spread.
			 */
			if (o < PAGEBLOCK_ORDER &&
			    (o >= PAGEBLOCK_ORDER / 2 || mt == MT_RECLAIMABLE))
				*claim = page;
			return page;
		}
	}
	return NULL;
}

/* *rest: type of the lists the halves not needed go to. */
static __always_inline struct page *take_block(struct buddy *b, unsigned int order,
					       enum migratetype mt, unsigned int *found, u32 *rest,
					       struct page **claim)
{
	struct page *page = find_block(b, order, mt, found);

	*rest = mt;
	if (unlikely(!page)) {
		page = find_fallback(b, order, mt, found, claim);
		if (page && !*claim)
			*rest = buddy_mt(b, page_to_pfn(page));
		if (!page) {
			page = find_block(b, order, MT_RESERVE, found);
			*rest = MT_RESERVE;
		}
		if (!page)
			return NULL;
	}
	block_del(b, page, *found);
	return page;
}

struct page *buddy_alloc(struct buddy *b, unsigned int order, enum migratetype mt,
			 struct page **claim)
{
	unsigned int found;
	u32 rest;
	struct page *page = take_block(b, order, mt, &found, &rest, claim);

	if (unlikely(!page))
		return NULL;
	split_down(b, page, found, order, rest);
	b->nr_free_pages -= 1ul << order;
	return page;
}

/*
 * In fragmented memory each page is a block of its own: about 180 instructions, three times that
 * from another type's list.
 */
#define BULK_STEPS_MAX 16

unsigned int buddy_alloc_bulk(struct buddy *b, enum migratetype mt, unsigned int n,
			      struct page **chain, struct page **claim)
{
	struct page *first = NULL, **tail = &first;
	unsigned int got = 0, steps = 0;

	while (got < n && steps < BULK_STEPS_MAX && !*claim) {
		unsigned int fit = __fls(n - got), found;
		u32 rest;
		struct page *page = take_block(b, 0, mt, &found, &rest, claim);

		if (unlikely(!page))
			break;
		steps += rest == mt ? 1 : 3;
		if (found > fit) {
			split_down(b, page, found, fit, rest);
			found = fit;
		}
		got += 1u << found;
		for (struct page *end = page + (1ul << found); page < end; page++) {
			*tail = page;
			tail = &page->pcp_next;
		}
	}
	*tail = NULL;
	*chain = first;
	b->nr_free_pages -= got;
	return got;
}

unsigned int buddy_claim_range(struct buddy *b, unsigned long pfn, unsigned int n,
			       enum migratetype mt)
{
	unsigned long end = min(pfn + n, b->end_pfn);
	unsigned int moved = 0;

	for (pfn = max(pfn, b->start_pfn); pfn < end;) {
		struct page *page = pfn_to_page(pfn);
		unsigned int order = buddy_order(page);

		if ((page->flags & (PAGE_ZONE_BITS | BIT(PG_buddy))) !=
		    (b->flags | BIT(PG_buddy))) {
			pfn++;
			continue;
		}
		block_del(b, page, order);
		block_add(b, page, order, mt);
		moved += 1u << order;
		pfn += 1ul << order;
	}
	return moved;
}

void buddy_take(struct buddy *b, struct page *page, unsigned int order)
{
	block_del(b, page, order);
	b->nr_free_pages -= 1ul << order;
}

struct page *buddy_take_part(struct buddy *b, struct page *page, unsigned int found,
			     unsigned int order)
{
	unsigned int mt = buddy_list_mt(page);

	block_del(b, page, found);
	split_down(b, page, found, order, mt);
	b->nr_free_pages -= 1ul << order;
	return page;
}

/* Whole pageblocks that are taken as targets: movable pages come in. */
static void blocks_become_movable(struct buddy *b, unsigned long pfn, unsigned int order)
{
	for (unsigned long end = pfn + (1ul << order); pfn < end; pfn += PAGEBLOCK_PAGES)
		if (buddy_mt(b, pfn) < MT_PCPTYPES)
			*buddy_mt_slot(b, pfn) = MT_MOVABLE;
}

/* Order of the free block at pfn, now off its list; -1: there is none, or it must stay. */
static int isolate_block(struct buddy *b, unsigned long pfn, unsigned long keep)
{
	struct page *page = pfn_to_page(pfn);
	unsigned int order;

	if ((page->flags & (PAGE_ZONE_BITS | BIT(PG_buddy))) != (b->flags | BIT(PG_buddy)))
		return -1;
	order = buddy_order(page);
	if (b->nr_free_pages < keep + (1ul << order))
		return -1;
	buddy_take(b, page, order);
	page->private = order;
	if (unlikely(order >= PAGEBLOCK_ORDER))
		blocks_become_movable(b, pfn, order);
	return (int)order;
}

unsigned int buddy_isolate_range(struct buddy *b, unsigned long pfn, unsigned int n,
				 unsigned long keep, struct list_head *out, unsigned long *next)
{
	unsigned long end = min(pfn + n, b->end_pfn);
	unsigned int taken = 0;

	for (pfn = max(pfn, b->start_pfn); pfn < end;) {
		int order = isolate_block(b, pfn, keep);

		if (order >= 0) {
			list_add_tail(&pfn_to_page(pfn)->lru, out);
			taken += 1u << order;
			pfn += 1ul << order;
		} else {
			pfn++;
		}
	}
	*next = pfn;
	return taken;
}

unsigned int buddy_isolate_frames(struct buddy *b, unsigned long pfn, unsigned int n,
				  unsigned long keep, struct list_head *out)
{
	unsigned long end = min(pfn + n, b->end_pfn);
	unsigned int taken = 0;

	for (pfn = max(pfn, b->start_pfn); pfn < end;) {
		int order = isolate_block(b, pfn, keep);
		struct page *page = pfn_to_page(pfn);

		if (order < 0) {
			pfn++;
			continue;
		}
		for (unsigned long i = 0; i < 1ul << order; i++, page++) {
			page->private = 0;
			list_add(&page->lru, out);
		}
		taken += 1u << order;
		pfn += 1ul << order;
	}
	return taken;
}

static const char *check_block(const struct buddy *b, const struct page *page, unsigned int order)
{
	unsigned long pfn = page_to_pfn(page);

	if (!page_is_buddy(page, order, b->flags))
		return "a listed block is not marked free, of another order or of another zone";
	if (pfn & ((1ul << order) - 1))
		return "a free block is not aligned to its order";
	if (pfn < b->start_pfn || pfn + (1ul << order) > b->end_pfn)
		return "a free block reaches out of the zone";
	if (atomic_read(&page->refs) != 0)
		return "a free page has references";
	if (order < MAX_ORDER - 1 &&
	    page_is_buddy(pfn_to_page(pfn ^ (1ul << order)), order, b->flags) &&
	    !isolation_border(b, pfn, pfn ^ (1ul << order)))
		return "two free buddies were not merged";
	return NULL;
}

const char *buddy_check(const struct buddy *b, unsigned long max_blocks)
{
	unsigned long pages = 0, seen = 0;

	for (unsigned int o = 0; o < MAX_ORDER; o++) {
		unsigned long blocks = 0;

		for (unsigned int mt = 0; mt < NR_MIGRATETYPES; mt++) {
			const struct list_head *list = &b->area[o].free[mt], *p;
			unsigned long before = blocks;

			if (!list_empty(list) && !(b->mt_mask[mt] & (1u << o)))
				return "mt_mask misses a list that has blocks";
			list_for_each(p, list) {
				const struct page *page = list_entry(p, struct page, lru);
				const char *what = check_block(b, page, o);

				if (what)
					return what;
				if (p->next->prev != p || buddy_list_mt(page) != mt)
					return "a free list is broken, or a block is on another "
					       "list than it says";
				if (++seen > max_blocks)
					return NULL;
				blocks++;
			}
			if (blocks - before != b->area[o].nr[mt])
				return "nr[] differs from a list";
		}
		if (blocks != b->area[o].nr_free)
			return "nr_free differs from the lists";
		pages += blocks << o;
	}
	return pages == b->nr_free_pages ? NULL : "nr_free_pages differs from the lists";
}
