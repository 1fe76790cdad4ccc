/* SPDX-License-Identifier: BSD-2-Clause */
/* watermark.h - the arithmetic of zone reserves; pure, in pages unless a name says otherwise. */
#ifndef MM_PHYS_WATERMARK_H
#define MM_PHYS_WATERMARK_H

#include "mm/phys/zone.h"

struct wm_zone {
	unsigned long managed;
	bool is_high;
	unsigned long mark[NR_WMARKS]; /* result of wm_set */
};
#define WM_NR_RATIOS (NR_ZONE_TYPES - 1)
extern const long wm_default_ratio[WM_NR_RATIOS];

/* Over all zones of the machine. */
unsigned long wm_min_free_kbytes(const struct wm_zone *z, int n);
/*
 * What min_free_kbytes is raised to when huge pages are in use; free_low: pages of all zones that
 * are not high.
 */
unsigned long wm_thp_min_free_kbytes(unsigned long min_free_kbytes, int nr_zones,
				     unsigned long free_low);
void wm_set(struct wm_zone *z, int n, unsigned long min_free_kbytes);
/* Of one node, all zone types (0 = absent): reserve[zone][class of request]. */
void wm_reserve(const unsigned long *managed, const long *ratio,
		unsigned long reserve[NR_ZONE_TYPES][NR_ZONE_TYPES]);
/* managed, high mark, reserve row of the zone. */
unsigned long wm_dirty_balance_reserve(unsigned long managed, unsigned long high,
				       const unsigned long *reserve);
u32 wm_inactive_ratio(unsigned long managed);
u32 wm_stat_threshold(u32 cpus, unsigned long managed);
u32 wm_pressure_threshold(u32 cpus, unsigned long low, unsigned long min);
/*
 * The test every allocation makes: flags ALLOC_HIGH, ALLOC_HARDER; area[] = free blocks per order.
 */
bool wm_ok(unsigned long free, const struct free_area *area, unsigned int order, unsigned long mark,
	   unsigned long reserve, u32 flags);

#endif
