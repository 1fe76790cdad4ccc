/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zone_layout.c - zone boundaries as data (pure: compiles on the host).
 *
 * Problem: the documents measured machines with DMA, Normal, High and Movable zones; x86-64 has
 * DMA, DMA32 and Normal.
 * Idea: a layout is a list of pfn ranges with a type. A zone of a node is the intersection of one
 * range with the node's memory, so neither the allocator nor reclaim knows which layout is in
 * force.
 * Source: [facts 1.1, 8]; movablecore as documented for Linux's boot parameter of that name.
 */
#include "mm/phys/zone_layout.h"

#include "arch/page.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/phys/zone.h"

struct zone_layout zone_layout;

void zone_layout_default(struct zone_layout *l)
{
	const unsigned long dma_end = MiB(16) >> PAGE_SHIFT, dma32_end = GiB(4) >> PAGE_SHIFT;

	*l = (struct zone_layout){
		.nr = 3,
		.span = { { ZONE_DMA, false, 0, dma_end },
			  { ZONE_DMA32, false, dma_end, dma32_end },
			  { ZONE_NORMAL, false, dma32_end, ~0ul } },
	};
}

/* "208M" -> bytes; *end behind it. 0 when there is no number. */
static u64 parse_size(const char *s, const char **end)
{
	u64 v = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		v = v * 10 + (u64)(*s - '0');
	switch (*s) {
	case 'g':
	case 'G':
		v <<= 10;
		fallthrough;
	case 'm':
	case 'M':
		v <<= 10;
		fallthrough;
	case 'k':
	case 'K':
		v <<= 10;
		s++;
	}
	*end = s;
	return v;
}

int zone_layout_parse(struct zone_layout *l, const char *text)
{
	static const char *const names[NR_ZONE_TYPES] = { "dma:", "dma32:", "normal:", "high:",
							  "movable:" };
	struct zone_layout n = { .custom = true };
	unsigned long pfn = 0;
	bool high = false;
	u32 lowest = 0;

	while (*text) {
		u64 bytes;
		u32 type;

		for (type = lowest; type < NR_ZONE_TYPES; type++)
			if (!strncmp(text, names[type], strlen(names[type])))
				break;
		if (type == NR_ZONE_TYPES)
			return -EINVAL; /* unknown, or not in rising order */
		bytes = parse_size(text + strlen(names[type]), &text);
		if (!bytes || bytes % PAGE_SIZE || (*text && *text != ','))
			return -EINVAL;
		high = high || type == ZONE_HIGH;
		n.span[n.nr++] = (struct zone_span){ type, high, pfn, pfn + (bytes >> PAGE_SHIFT) };
		pfn += bytes >> PAGE_SHIFT;
		lowest = type + 1;
		if (*text == ',')
			text++;
	}
	if (!n.nr || n.span[0].is_high || n.span[0].type == ZONE_MOVABLE)
		return -EINVAL; /* the kernel must live somewhere */
	*l = n;
	return 0;
}

phys_addr_t zone_layout_low_end(void)
{
	for (u32 i = 0; i < zone_layout.nr; i++)
		if (zone_layout.span[i].is_high || zone_layout.span[i].type == ZONE_MOVABLE)
			return PFN_PHYS(zone_layout.span[i].start_pfn);
	return 0;
}

void movable_split(unsigned long want, const unsigned long *pages, unsigned long *take,
		   int nr_nodes)
{
	int open = 0;

	for (int i = 0; i < nr_nodes; i++) {
		take[i] = 0;
		open += pages[i] > 0;
	}
	/* Every round gives each node that still has room an equal share of what is left. */
	while (want && open) {
		unsigned long share = max(want / (unsigned long)open, 1ul);

		open = 0;
		for (int i = 0; i < nr_nodes && want; i++) {
			/* A node keeps a quarter for kernel data. */
			unsigned long room = pages[i] - pages[i] / 4 - take[i];
			unsigned long t = min(min(share, room), want);

			take[i] += t;
			want -= t;
			open += room > t;
		}
	}
}
