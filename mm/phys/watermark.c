/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watermark.c - how much of each zone is kept back, and from whom.
 *
 * Problem: reclaim needs memory to free memory, and a request that could be served from a high zone
 * must not eat the low one that others cannot do without. Idea: three marks per zone (min: only the
 * desperate go below; low: kswapd wakes;
 * high: kswapd sleeps), grown with the square root of memory; and per class of request a reserve on
 * every lower zone, in proportion to the memory that request could have used above it.
 *
 *     free pages   |------------|-----|------|---------------->
 *                  0           min   low   high   (+ reserve[class] for requests from above)
 *
 * Invariants: min <= low <= high; a zone reserves nothing from its own class; divisions truncate
 * (behaviour depends on it).
 * Source: [facts 1.2, 1.3, 1.5, 1.6], worked values in tests/host/test_watermark.c.
 */
#include "mm/phys/watermark.h"

#include "lib/math.h"

const long wm_default_ratio[WM_NR_RATIOS] = { 256, 256, 32, 32 };

unsigned long wm_min_free_kbytes(const struct wm_zone *z, int n)
{
	unsigned long low_kb = 0;

	for (int i = 0; i < n; i++)
		if (!z[i].is_high)
			low_kb += 4 * z[i].managed;
	return clamp((unsigned long)isqrt(16 * low_kb), 128ul, 65536ul);
}

unsigned long wm_thp_min_free_kbytes(unsigned long min_free_kbytes, int nr_zones,
				     unsigned long free_low)
{
	/*
	 * Two pageblocks per zone and 3 x 3 for the mixing of three migrate types; at most 5 % of
	 * memory.
	 */
	unsigned long pages = PAGEBLOCK_PAGES * nr_zones * 2 + PAGEBLOCK_PAGES * nr_zones * 9;

	return max(min_free_kbytes, 4 * min(pages, free_low / 20));
}

void wm_set(struct wm_zone *z, int n, unsigned long min_free_kbytes)
{
	unsigned long pages_min = min_free_kbytes / 4, low_pages = 0;

	for (int i = 0; i < n; i++)
		if (!z[i].is_high)
			low_pages += z[i].managed;
	for (int i = 0; i < n; i++) {
		unsigned long share = low_pages ? (u64)pages_min * z[i].managed / low_pages : 0;

		z[i].mark[WMARK_MIN] =
			z[i].is_high ? clamp(z[i].managed / 1024, 32ul, 128ul) : share;
		/* The gaps of a high zone follow its share, only its min is capped. */
		z[i].mark[WMARK_LOW] = z[i].mark[WMARK_MIN] + share / 4;
		z[i].mark[WMARK_HIGH] = z[i].mark[WMARK_MIN] + share / 2;
	}
}

void wm_reserve(const unsigned long *managed, const long *ratio,
		unsigned long reserve[NR_ZONE_TYPES][NR_ZONE_TYPES])
{
	for (int j = 0; j < NR_ZONE_TYPES; j++) {
		unsigned long above = managed[j];

		for (int i = j; i < NR_ZONE_TYPES; i++)
			reserve[i][j] = 0; /* its own class, and classes that cannot use it */
		for (int i = j - 1; i >= 0; i--) {
			reserve[i][j] = above / (unsigned long)max(ratio[i], 1l);
			above += managed[i];
		}
	}
}

unsigned long wm_dirty_balance_reserve(unsigned long managed, unsigned long high,
				       const unsigned long *reserve)
{
	unsigned long most = 0;

	for (int j = 0; j < NR_ZONE_TYPES; j++)
		most = max(most, reserve[j]);
	return min(managed, high + most);
}

u32 wm_inactive_ratio(unsigned long managed)
{
	unsigned long gb = managed >> (30 - PAGE_SHIFT);

	return max((u32)isqrt(10 * gb), 1u);
}

u32 wm_stat_threshold(u32 cpus, unsigned long managed)
{
	return min(125u, 2 * (u32)fls(cpus) * (1 + (u32)fls64(managed >> (27 - PAGE_SHIFT))));
}

u32 wm_pressure_threshold(u32 cpus, unsigned long low, unsigned long min)
{
	return (u32)clamp((low - min) / max(cpus, 1u), 1ul, 125ul);
}

bool wm_ok(unsigned long free_pages, const struct free_area *area, unsigned int order,
	   unsigned long mark, unsigned long reserve, u32 flags)
{
	long min = (long)mark, free = (long)free_pages - ((1l << order) - 1);

	if (flags & ALLOC_HIGH)
		min -= min / 2;
	if (flags & ALLOC_HARDER)
		min -= min / 4;
	if (free <= min + (long)reserve)
		return false;
	/*
	 * What is left at the end of the steps below is the blocks large enough, less one; if that
	 * is more than the largest of their marks no step fails. Of a large order few lists are
	 * larger.
	 */
	if (order > MAX_ORDER / 2) {
		long large = 1 - (1l << order);

		for (unsigned int o = order; o < MAX_ORDER; o++)
			large += (long)(area[o].nr_free << o);
		if (large > min >> 1)
			return true;
	}
	for (unsigned int o = 0; o < order; o++) {
		/*
		 * Blocks of smaller orders cannot serve this one; and of the larger ones less need
		 * be free.
		 */
		free -= (long)(area[o].nr_free << o);
		min >>= 1;
		if (free <= min)
			return false;
	}
	return true;
}
