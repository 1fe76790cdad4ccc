// SPDX-License-Identifier: BSD-2-Clause
/*
 * hints.c - what a run of compaction leaves for the next one.
 *
 * Problem: each run begins at the ends of the zone and goes over the same barren pageblocks again
 * before it comes to where the last one stopped. Idea: two bits a pageblock (nothing to move,
 * nothing free, seen when a scanner came through it in vain) and the two places where it stopped.
 * When the scanners have met everything is forgotten, so nothing stays hidden for ever; a run that
 * began in the middle and failed starts once more from the ends.
 *
 * Switch compact_hints: 0 none of this, as in 2.6.38 (then orders are not told apart either when
 * attempts are put off, and an asynchronous failure puts them off, too).
 * Locking: none; a bit or a place that gets lost costs one more look.
 */
#include "kernel/printk.h"
#include "lib/bitmap.h"
#include "lib/string.h"
#include "mm/compact/internal.h"
#include "mm/kmem/slab.h"

DEFINE_SWITCH(
	compact_hints, 1, 0, 1, "002",
	"compaction: 0 begins at the ends of the zone each time (2.6.38), 1 remembers where it "
	"stopped and which pageblocks were barren");

static unsigned long zone_blocks(const struct zone *zone)
{
	return ((zone->start_pfn + zone->spanned_pages - 1) >> PAGEBLOCK_ORDER) -
	       (zone->start_pfn >> PAGEBLOCK_ORDER) + 1;
}

static size_t skip_bytes(const struct zone *zone)
{
	return BITS_TO_LONGS(2 * zone_blocks(zone)) * sizeof(long);
}

void compact_hints_init(void)
{
	struct zone *zone;

	for_each_zone(zone) {
		zone->compact_skip = kzalloc(skip_bytes(zone), GFP_KERNEL);
		if (!zone->compact_skip)
			pr_warn("compact: no memory for the hints of zone %s\n", zone->name);
	}
}

static bool used(const struct compact_control *cc)
{
	return !cc->ignore_hints && cc->zone->compact_skip && switch_value(compact_hints);
}

static unsigned long bit_of(const struct compact_control *cc, unsigned long pfn,
			    enum compact_hint h)
{
	return 2 * ((pfn >> PAGEBLOCK_ORDER) - (cc->zone->start_pfn >> PAGEBLOCK_ORDER)) + h;
}

bool compact_hint(const struct compact_control *cc, unsigned long pfn, enum compact_hint h)
{
	return used(cc) && test_bit(bit_of(cc, pfn, h), cc->zone->compact_skip);
}

void compact_hint_set(const struct compact_control *cc, unsigned long pfn, enum compact_hint h)
{
	if (used(cc))
		set_bit(bit_of(cc, pfn, h), cc->zone->compact_skip);
}

static void forget(struct zone *zone)
{
	WRITE_ONCE(zone->compact_migrate_pfn, 0);
	WRITE_ONCE(zone->compact_free_pfn, 0);
	if (zone->compact_skip)
		memset(zone->compact_skip, 0, skip_bytes(zone));
}

void compact_hints_start(struct compact_control *cc)
{
	struct zone *zone = cc->zone;
	unsigned long m = READ_ONCE(zone->compact_migrate_pfn),
		      f = READ_ONCE(zone->compact_free_pfn);

	cc->migrate_pfn = zone->start_pfn;
	cc->free_pfn = free_scan_start(zone->start_pfn + zone->spanned_pages);
	cc->free_from = 0;
	if (used(cc) && m > cc->migrate_pfn && m < f && f <= cc->free_pfn) {
		cc->migrate_pfn = m;
		cc->free_pfn = f;
	}
}

void compact_hints_end(struct compact_control *cc, enum compact_result result)
{
	if (result == COMPACT_COMPLETE) {
		forget(cc->zone);
	} else if (used(cc)) {
		WRITE_ONCE(cc->zone->compact_migrate_pfn,
			   ALIGN_DOWN(cc->migrate_pfn, PAGEBLOCK_PAGES));
		WRITE_ONCE(cc->zone->compact_free_pfn, cc->free_pfn);
	}
}
