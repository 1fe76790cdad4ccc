// SPDX-License-Identifier: BSD-2-Clause
/*
 * scan_free.c - the scanner that descends: free frames from the zone's end on, to move pages to.
 *
 * Problem: free blocks leave the buddy under zone->lock, with interrupts off. Where most pageblocks
 * have nothing to give (full, or not movable), the way to the next free frame is long. Idea of the
 * document's first patch: the way needs no lock, only what is taken does. Switch compact_free_irq:
 *
 *   0  the lock is held for the whole way, over as many pageblocks as it takes
 *   1  one section for each pageblock that looks suitable; looked at again under the lock, for it
 *      may have changed hands (taken: nothing then, which the posted patch left to chance)
 *   2  ours: one section for each 32 frames in which a free block begins
 *
 *        zone end                                                       migration scanner
 *         |  full  |  full  |unmov.|  full  | . . free |  full  | ...          |
 *      0  [============================================]
 *      1  [=======][=======]       [=======][=========]
 *      2                                      [] [] []
 *
 * A pageblock is suitable if it is movable, or free as a whole; those kept back (RESERVE) or being
 * isolated are not. Restart point: the highest pageblock that gave something, in ours the place in
 * the last one; never above where it began (2.6.38 set a scanner that had come to the other one
 * ahead of it again, and they did not meet: not repeated). A block whose loss would bring the zone
 * to its low mark is left where it is. Values 0 and 1 take blocks apart into frames under the lock
 * as that kernel did, ours when they are used.
 * Locking: zone->lock, label compact_free, work: frames visited.
 * Source: [facts 4.2-4.4], [seed-002].
 */
#include "mm/compact/internal.h"
#include "sched/sched.h"

DEFINE_SWITCH(
	compact_free_irq, 2, 0, 2, "002",
	"compaction's free scanner: 0 one section of interrupts off until it has enough, 1 one "
	"a pageblock (first patch), 2 one for 32 frames, where free blocks are");

static unsigned long keep_back(const struct zone *zone)
{
	return zone->watermark[WMARK_LOW] + 1;
}

static bool of_zone(const struct zone *zone, unsigned long pfn)
{
	return pageblock_present(pfn) &&
	       (pfn_to_page(pfn)->flags & PAGE_ZONE_BITS) == zone->buddy.flags;
}

/* => with or without the lock; then it is only likely */
static bool is_suitable(const struct zone *zone, unsigned long pfn)
{
	const struct page *page = pfn_to_page(pfn);
	enum migratetype mt = buddy_mt(&zone->buddy, pfn);

	if (mt == MT_RESERVE || mt == MT_ISOLATE)
		return false;
	return mt == MT_MOVABLE ||
	       (page_test(page, PG_buddy) && buddy_order(page) >= PAGEBLOCK_ORDER);
}

static unsigned long block_frames(const struct zone *zone, unsigned long pfn)
{
	return min(pfn + PAGEBLOCK_PAGES, zone->buddy.end_pfn) - pfn;
}

static unsigned int take_frames_locked(struct compact_control *cc, unsigned long pfn,
				       unsigned long *visited)
{
	struct zone *zone = cc->zone;
	unsigned int n =
		buddy_isolate_frames(&zone->buddy, pfn, (unsigned int)block_frames(zone, pfn),
				     keep_back(zone), &cc->freepages);

	*visited += block_frames(zone, pfn);
	zone_sync_free(zone);
	return n;
}

/* Value 0. The loop of the document's kernel, to the letter. */
static unsigned long one_section(struct compact_control *cc, unsigned long low)
{
	unsigned long pfn = cc->free_pfn, high = min(low, pfn), visited = 0, flags;

	spin_lock_irqsave_l(&cc->zone->lock, flags, "compact_free");
	for (; pfn > low && cc->nr_migratepages > cc->nr_freepages; pfn -= PAGEBLOCK_PAGES) {
		unsigned int n;

		visited++;
		if (!of_zone(cc->zone, pfn) || !is_suitable(cc->zone, pfn))
			continue;
		visited--;
		n = take_frames_locked(cc, pfn, &visited);
		cc->nr_freepages += n;
		if (n)
			high = max(high, pfn);
	}
	irq_work(visited);
	spin_unlock_irqrestore_l(&cc->zone->lock, flags, "compact_free");
	cc->scanned_free += visited;
	return high;
}

/* Value 1. */
static unsigned long section_per_block(struct compact_control *cc, unsigned long low)
{
	unsigned long pfn = cc->free_pfn, high = min(low, pfn), flags;

	for (; pfn > low && cc->nr_migratepages > cc->nr_freepages; pfn -= PAGEBLOCK_PAGES) {
		unsigned long visited = 0;
		unsigned int n = 0;

		cond_resched();
		if (!of_zone(cc->zone, pfn) || !is_suitable(cc->zone, pfn)) {
			cc->scanned_free++;
			continue;
		}
		spin_lock_irqsave_l(&cc->zone->lock, flags, "compact_free");
		if (is_suitable(cc->zone, pfn)) {
			n = take_frames_locked(cc, pfn, &visited);
			cc->nr_freepages += n;
		}
		irq_work(visited);
		spin_unlock_irqrestore_l(&cc->zone->lock, flags, "compact_free");
		cc->scanned_free += visited;
		if (n)
			high = max(high, pfn);
	}
	return high;
}

/* Does a free block begin in [pfn, pfn + 32)? => its place, or where the next 32 begin */
static unsigned long look_for_free(const struct zone *zone, unsigned long pfn, unsigned long end,
				   bool *found)
{
	*found = false;
	for (end = min(end, pfn + COMPACT_CLUSTER); pfn < end; pfn++)
		if (page_test(pfn_to_page(pfn), PG_buddy)) {
			*found = true;
			break;
		}
	return pfn;
}

/* Value 2, one pageblock from `at` on. => where it stopped: enough, or the block's end */
static unsigned long steps_in_block(struct compact_control *cc, unsigned long at, unsigned long end)
{
	struct zone *zone = cc->zone;

	while (at < end && cc->nr_migratepages > cc->nr_freepages) {
		unsigned long from = at, flags;
		bool found;

		cond_resched();
		at = look_for_free(zone, at, end, &found);
		cc->scanned_free += at - from;
		if (!found)
			continue;
		from = at;
		spin_lock_irqsave_l(&zone->lock, flags, "compact_free");
		if (is_suitable(zone, ALIGN_DOWN(at, PAGEBLOCK_PAGES)))
			cc->nr_freepages += buddy_isolate_range(
				&zone->buddy, at, (unsigned int)min(32ul, end - at),
				keep_back(zone), &cc->freepages, &at);
		else
			at = end; /* it changed hands */
		zone_sync_free(zone);
		irq_work(min(at - from, (unsigned long)COMPACT_CLUSTER));
		spin_unlock_irqrestore_l(&zone->lock, flags, "compact_free");
		cc->scanned_free += at - from;
	}
	return at;
}

static void steps(struct compact_control *cc, unsigned long low)
{
	unsigned long pfn = cc->free_pfn;

	for (; pfn > low && cc->nr_migratepages > cc->nr_freepages; pfn -= PAGEBLOCK_PAGES) {
		unsigned long end, at, had = cc->nr_freepages;
		bool goes_on = cc->free_from > pfn && cc->free_from < pfn + PAGEBLOCK_PAGES;

		cond_resched();
		cc->scanned_free++;
		if (!of_zone(cc->zone, pfn) || !is_suitable(cc->zone, pfn) ||
		    compact_hint(cc, pfn, HINT_NOTHING_FREE))
			continue;
		end = pfn + block_frames(cc->zone, pfn);
		at = steps_in_block(cc, goes_on ? cc->free_from : pfn, end);
		if (at < end) {
			cc->free_from = at;
			break;
		}
		if (!goes_on && cc->nr_freepages == had)
			compact_hint_set(cc, pfn, HINT_NOTHING_FREE);
	}
	/* All the way down: the scanners have met, there is nothing more. */
	cc->free_pfn = pfn > low ? pfn : cc->migrate_pfn;
}

void compact_isolate_free(struct compact_control *cc)
{
	unsigned long low = free_scan_low(cc->migrate_pfn), from = cc->free_pfn,
		      scanned = cc->scanned_free, had = cc->nr_freepages;

	switch (switch_value(compact_free_irq)) {
	case 0:
		cc->free_pfn = one_section(cc, low);
		break;
	case 1:
		cc->free_pfn = section_per_block(cc, low);
		break;
	default:
		steps(cc, low);
	}
	count_vm_events(COMPACTISOLATED, cc->nr_freepages - had);
	trace_event(mm_compaction_isolate_freepages, cc->free_pfn, from, cc->scanned_free - scanned,
		    cc->nr_freepages - had);
}
