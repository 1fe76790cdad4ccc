/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zone_layout.h - where zones begin and end: data, not code. The ordinary layout splits by address
 * (16 MiB, 4 GiB); zones=dma:16M,normal:208M,high:276M,movable:12M gives sizes from address 0
 * upwards and knows High.
 */
#ifndef MM_PHYS_ZONE_LAYOUT_H
#define MM_PHYS_ZONE_LAYOUT_H

#include "lib/types.h"

#define LAYOUT_MAX_ZONES 5
struct zone_span {
	u32 type; /* enum zone_type */
	bool is_high;
	unsigned long start_pfn, end_pfn;
};
struct zone_layout {
	u32 nr;
	bool custom; /* from zones= */
	struct zone_span span[LAYOUT_MAX_ZONES];
};
extern struct zone_layout zone_layout;

void zone_layout_default(struct zone_layout *l);
/* Pure: 0 or -EINVAL; *l is unchanged on error. Movable carved from High is high. */
int zone_layout_parse(struct zone_layout *l, const char *text);
/* End address of what kernel data may use; 0 = no limit (no High zone). */
phys_addr_t zone_layout_low_end(void);

/*
 * movablecore=: pages of Movable each node gives, spread evenly; a node too small gives all but
 * what it keeps and the others take over the rest. pages[n] = pages of node n; take[n] receives the
 * result.
 */
void movable_split(unsigned long want, const unsigned long *pages, unsigned long *take,
		   int nr_nodes);

#endif
