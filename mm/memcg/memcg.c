/* SPDX-License-Identifier: BSD-2-Clause */
/* memcg.c - the root group. */
#include "mm/memcg/memcg.h"

struct memcg root_memcg = { .id = 1 };

void mod_lruvec_state(struct page *page, enum zone_stat_item item, long delta)
{
	mod_zone_state(page_zone(page), item, delta);
}

void mod_lruvec_state_pair(struct page *page, enum zone_stat_item a, enum zone_stat_item b,
			   long delta)
{
	mod_zone_state_pair(page_zone(page), a, b, delta);
}
