/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zones and nodes as built at boot: sizes add up, zonelists are in order, marks follow the
 * formulas, counters add up.
 */
#include "arch/smp.h"
#include "mm/phys/bootmem.h"
#include "mm/phys/page_alloc.h"
#include "mm/phys/watermark.h"
#include "tests/kernel/ktest.h"

KTEST(zone, sizes_add_up)
{
	unsigned long managed = 0;
	struct zone *z;

	for_each_zone(z) {
		KT_ASSERT(z->present_pages && z->present_pages <= z->spanned_pages);
		KT_ASSERT(z->managed_pages <= z->present_pages);
		KT_ASSERT(z->watermark[WMARK_MIN] <= z->watermark[WMARK_LOW]);
		KT_ASSERT(z->watermark[WMARK_LOW] <= z->watermark[WMARK_HIGH]);
		managed += z->managed_pages;
	}
	KT_EQ(managed, totalram_pages);
}

KTEST(zone, struct_pages)
{
	struct zone *z;

	for_each_zone(z) {
		unsigned long end = z->start_pfn + z->spanned_pages;

		KT_ASSERT(pfn_valid(z->start_pfn) && pfn_valid(end - 1));
		for (unsigned long pfn = z->start_pfn; pfn < end; pfn += 997)
			if (pfn_valid(pfn) && page_node(pfn_to_page(pfn)) == z->node->id)
				KT_ASSERT(page_zone(pfn_to_page(pfn))->type <= z->type ||
					  z->type == ZONE_MOVABLE);
	}
	KT_ASSERT(!pfn_valid(1ul << 40));
	if (diskmem_end)
		KT_ASSERT(!pfn_valid((diskmem_start + diskmem_end) / 2 >> PAGE_SHIFT));
}

KTEST(zone, zonelists)
{
	for (int n = 0; n < nr_nodes; n++)
		for (int class = 0; class < NR_ZONE_TYPES; class ++) {
			struct zonelist *zl = &nodes[n]->zonelist;
			u32 count = 0, usable = 0;
			struct zoneref *zr;
			struct zone *z;

			for_each_zoneref(zr, zl, class) {
				KT_ASSERT((int)zr->zone->type <= class && zr->zone->present_pages);
				if (count == 0 && nodes[n]->has_memory &&
				    nodes[n]->zones[0].type <= (u32) class)
					KT_ASSERT(zr->zone->node == nodes[n] ||
						  node_distance(n, zr->zone->node->id) > 0);
				count++;
			}
			for_each_zone(z)
				usable += z->type <= (u32) class;
			KT_EQ(count, usable);
		}
}

KTEST(zone, marks_follow_formula)
{
	struct wm_zone wm[MAX_NODES * MAX_ZONES];
	struct zone *z;
	int n = 0;

	for_each_zone(z)
		wm[n++] = (struct wm_zone){ .managed = z->managed_pages, .is_high = z->is_high };
	wm_set(wm, n, (unsigned long)min_free_kbytes);
	n = 0;
	for_each_zone(z) {
		/*
		 * Memory of the boot phase was given back after the marks were set: close, not
		 * equal.
		 */
		unsigned long want = wm[n++].mark[WMARK_LOW], have = z->watermark[WMARK_LOW];

		KT_ASSERT(have + have / 8 + 8 >= want && want + want / 8 + 8 >= have);
	}
}

KTEST(zone, counters_drift_within_bounds)
{
	struct zone *z = zone_first();
	unsigned long exact = zone_state_exact(z, NR_BOUNCE);

	for (int i = 0; i < 1000; i++)
		mod_zone_state(z, NR_BOUNCE, 1);
	KT_EQ(zone_state_exact(z, NR_BOUNCE), exact + 1000);
	KT_ASSERT(zone_state(z, NR_BOUNCE) + 125 * nr_cpus >= exact + 1000);
	mod_zone_state(z, NR_BOUNCE, -1000);
	KT_EQ(zone_state_exact(z, NR_BOUNCE), exact);
}
