// SPDX-License-Identifier: BSD-2-Clause
/*
 * lumpy.c - reclaim for the sake of a block: neighbours go together.
 *
 * Problem: somebody needs 2^order frames in a row; reclaim by age frees frames that lie anywhere.
 * Idea (lumpy reclaim): each page at the tail of a list is a tag; the frames of the aligned block
 * around it are taken too, whatever their age, so that the whole block comes free. It throws out
 * what is in use, so it is done only for costly orders, or when it has become urgent.
 *
 *      frames    | . F A t . a F f |      t tag, f a (in)active pages: taken   F free: passed over
 *                ^ order-aligned            anything else: the block is given up there
 *
 * Switch lumpy: 0 never: blocks are compaction's business; the scan goes on until twice the
 * block's size is free, and of a zone that has room enough nothing is taken at all; 1 as in 2.6.37:
 * neighbours of both types and states, references ignored, and a direct reclaimer waits for those
 * being written; all of it in one section with interrupts off, of up to 32 tags and their blocks;
 * 2 the same, but the lock is given away after each 32 frames; 3 as in 2.6.38 with compaction:
 * isolation gets the order too, but takes neighbours of the tag's own list only, by the ordinary
 * verdicts, in one section; and the scan goes on until twice the block's size is free, room for
 * compaction to work in.
 *
 * The arithmetic (which frames, when, how long) has no state and is tested on the host.
 * Source: [facts 4.2], [seed-002]: its long shrink_inactive sections are these.
 */
#include "mm/reclaim/lumpy.h"

#include "mm/compact/compact.h"
#include "mm/swap/swap.h"

DEFINE_SWITCH(
	lumpy, LUMPY_NEVER, LUMPY_NEVER, LUMPY_COMPACTION, "002",
	"reclaim for blocks: 0 single pages, room for compaction, 1 with their neighbours in one "
	"section (2.6.37), 2 in sections of 32 frames, 3 neighbours of the same list, for "
	"compaction (2.6.38)");

#define SECTION_FRAMES 32u

bool lumpy_blocks(const struct scan_control *sc)
{
	enum lumpy_mode mode = switch_value(lumpy);

	if (mode == LUMPY_COMPACTION)
		return true; /* as that version did, whether it helped or not */
	return mode != LUMPY_NEVER && lumpy_wanted(sc->order, sc->priority);
}

bool lumpy_any(const struct scan_control *sc)
{
	return switch_value(lumpy) != LUMPY_COMPACTION;
}

bool lumpy_must_wait(const struct scan_control *sc, unsigned long freed, unsigned long taken)
{
	return !sc->kswapd && (sc->gfp & (__GFP_IO | __GFP_FS)) == (__GFP_IO | __GFP_FS) &&
	       lumpy_stall(sc->order, sc->priority, freed, taken);
}

/* => lru_lock; false: it is on no list, on none that is meant, or being freed */
static bool take(struct zone *zone, struct page *page, struct lumpy *l)
{
	enum lru_list lru = page_lru_list(page);
	bool file = lru >= LRU_INACTIVE_FILE;

	if (!page_test(page, PG_lru) || lru == LRU_UNEVICTABLE || (!l->any && lru != l->lru) ||
	    !page_get_unless_zero(page))
		return false;
	lruvec_del_locked(page_lruvec(page), page, lru);
	page_clear(page, PG_lru);
	if (page_test(page, PG_active)) {
		page_clear(page, PG_active);
		l->deactivated += page_nr(page);
	}
	list_add_tail(&page->lru, &l->pages[file]);
	l->nr[file] += page_nr(page);
	zone->lruvec.recent_scanned[file] += page_nr(page);
	return true;
}

/* One frame of a block. false: the block cannot become free. => lru_lock */
static bool take_neighbour(struct zone *zone, unsigned long pfn, struct lumpy *l)
{
	struct page *page;

	if (!pfn_valid(pfn))
		return false;
	page = pfn_to_page(pfn);
	if (page_zone(page) != zone)
		return false;
	/* Without a slot for it a page of a program stays where it is. */
	if (page_test(page, PG_anon) && !page_test(page, PG_swapcache) && !nr_swap_pages())
		return false;
	if (take(zone, page, l)) {
		l->seen++;
		return true;
	}
	return !page_test(page, PG_tail) && !atomic_read(&page->refs); /* free already */
}

/* Lets interrupts in after so many frames, if that is the way. */
static void breathe(struct zone *zone, u32 *frames, unsigned long *flags)
{
	if (++*frames < SECTION_FRAMES || switch_value(lumpy) != LUMPY_BOUNDED)
		return;
	irq_work(*frames);
	*frames = 0;
	spin_unlock_irqrestore_l(&zone->lru_lock, *flags, "shrink_inactive");
	spin_lock_irqsave_l(&zone->lru_lock, *flags, "shrink_inactive");
}

void lumpy_isolate_locked(struct zone *zone, u32 nr, struct lumpy *l, unsigned long *flags)
{
	struct list_head *list = &zone->lruvec.lists[l->lru];
	u32 frames = 0;

	while (l->seen < nr && !list_empty(list)) {
		struct page *tag = list_last_entry(list, struct page, lru);
		unsigned long pfn = page_to_pfn(tag), at;
		struct pfn_range r = lumpy_range(pfn, l->order, zone->start_pfn,
						 zone->start_pfn + zone->spanned_pages);

		l->seen++;
		if (!take(zone, tag, l)) {
			list_move(&tag->lru, list); /* being freed: out of the way */
			continue;
		}
		for (at = r.first; at < r.end; at++) {
			breathe(zone, &frames, flags);
			if (at == pfn)
				at += page_nr(tag) - 1; /* a huge page has its block for itself */
			else if (!take_neighbour(zone, at, l))
				break;
		}
		l->broken += at < r.end;
		breathe(zone, &frames, flags);
	}
	irq_work(frames);
}

bool lumpy_left_to_compaction(struct zone *zone, const struct scan_control *sc)
{
	return switch_value(lumpy) == LUMPY_NEVER && compaction_ready(zone, sc->order);
}

bool lumpy_go_on(struct zone *zone, const struct scan_control *sc, unsigned long freed)
{
	unsigned long room = 2ul << sc->order, inactive;

	if (!freed || !lumpy_wanted(sc->order, sc->priority) || switch_value(lumpy) == LUMPY_LONG ||
	    switch_value(lumpy) == LUMPY_BOUNDED || !pressure_ops || !pressure_ops->compact)
		return false;
	inactive = zone_state(zone, NR_INACTIVE_FILE);
	if (nr_swap_pages())
		inactive += zone_state(zone, NR_INACTIVE_ANON);
	return sc->nr_reclaimed < room && inactive > room;
}
