// SPDX-License-Identifier: BSD-2-Clause
/*
 * fragindex.c - is it worth moving pages?
 *
 * Problem: a request for a block fails either because memory is short (then reclaim helps) or
 * because what is free lies in pieces (then compaction does). Idea: one number between 0 and 1000.
 * With F free pages in B free blocks and a request of R pages:
 *
 *     index = 1000 - (1000 + F * 1000 / R) / B
 *
 * If every piece is small, B is large against F / R, and the index comes near 1000; if there is
 * little free at all, B is small, and it comes near 0. Up to extfrag_threshold memory counts as
 * short. A request that would not fail has no such index: -1000.
 *
 * Two slips of 2.6.38 are not repeated: the test for "a block is there" compared with -1, which the
 * function never returns; and a request for the whole zone (order -1) was shifted by before it was
 * looked at.
 * Locking: none; counts are read as they are.
 * Source: [facts 4.2], [seed-002].
 */
#include "mm/compact/fragindex.h"

#define MAX_SHIFT 6 /* of deferral: 63 of 64 attempts are left out at most */

struct free_info {
	unsigned long pages, blocks,
		suitable; /* suitable: blocks of that order there are in larger */
};

static struct free_info count_free(unsigned int order, const struct free_area *area)
{
	struct free_info f = { 0, 0, 0 };

	for (unsigned int o = 0; o < MAX_ORDER; o++) {
		unsigned long n = READ_ONCE(area[o].nr_free);

		f.blocks += n;
		f.pages += n << o;
		if (o >= order)
			f.suitable += n << (o - order);
	}
	return f;
}

int frag_index(unsigned int order, const struct free_area *area)
{
	struct free_info f = count_free(order, area);

	if (!f.blocks)
		return 0;
	if (f.suitable)
		return -1000;
	return 1000 - (int)((1000 + f.pages * 1000 / (1ul << order)) / f.blocks);
}

int frag_unusable(unsigned int order, const struct free_area *area)
{
	struct free_info f = count_free(order, area);

	if (!f.pages)
		return 1000;
	return (int)((f.pages - (f.suitable << order)) * 1000 / f.pages);
}

enum compact_result compact_suitable(const struct compact_input *in)
{
	unsigned long mark;
	int index;

	if (in->order < 0)
		return COMPACT_CONTINUE;
	/* Room for the copies: both places of a page are in use for a moment. */
	mark = in->low + (2ul << in->order);
	if (!wm_ok(in->free, in->area, 0, mark, 0, 0))
		return COMPACT_SKIPPED;
	index = frag_index((unsigned int)in->order, in->area);
	if (index >= 0 && index <= in->threshold)
		return COMPACT_SKIPPED;
	if (index < 0 && wm_ok(in->free, in->area, (unsigned int)in->order, mark, 0, 0))
		return COMPACT_PARTIAL;
	return COMPACT_CONTINUE;
}

bool compact_block_there(const struct free_area *area, unsigned int order, enum migratetype mt)
{
	for (unsigned int o = order; o < MAX_ORDER; o++)
		if (READ_ONCE(area[o].nr[mt]) ||
		    (o >= PAGEBLOCK_ORDER && READ_ONCE(area[o].nr_free)))
			return true;
	return false;
}

void compact_defer(struct zone *zone, unsigned int order)
{
	zone->compact_considered = 0;
	zone->compact_defer_shift = min(zone->compact_defer_shift + 1, (u32)MAX_SHIFT);
	if (order < zone->compact_order_failed)
		zone->compact_order_failed = order;
}

bool compact_would_defer(const struct zone *zone, unsigned int order)
{
	return order >= zone->compact_order_failed &&
	       zone->compact_considered + 1 < 1u << zone->compact_defer_shift;
}

bool compact_deferred(struct zone *zone, unsigned int order)
{
	u32 limit = 1u << zone->compact_defer_shift;

	if (order < zone->compact_order_failed)
		return false;
	zone->compact_considered = min(zone->compact_considered + 1, limit);
	return zone->compact_considered < limit;
}

void compact_succeeded(struct zone *zone, unsigned int order)
{
	zone->compact_considered = zone->compact_defer_shift = 0;
	if (order < MAX_ORDER && order >= zone->compact_order_failed)
		zone->compact_order_failed = order + 1;
}
