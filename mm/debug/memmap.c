/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memmap.c - /sys/kernel/quire/memmap: the state of every pageblock, one line each.
 *
 * Problem: what a compaction or a reclaim does to memory shows in where things lie, not in sums.
 * Idea: walk the struct pages zone by zone, count each pageblock (pageclass.c) and print a line
 * (memline.c). Readers come several times a second, so nothing is locked, nothing is remembered,
 * and the text's length is estimated first: a buffer that is too small would mean a second walk.
 * Locking: none. Interrupts are never off; between two blocks others may run. Zones, spans and
 * struct pages are there for ever.
 */
#include "mm/debug/memmap.h"

#include "kernel/show.h"
#include "kernel/time.h"
#include "lib/math.h"
#include "mm/phys/buddy.h"
#include "sched/sched.h"

#define LINE_GUESS 64ul

static unsigned long first_block(const struct zone *z)
{
	return z->start_pfn >> PAGEBLOCK_ORDER;
}

static unsigned long end_block(const struct zone *z)
{
	return (z->start_pfn + z->spanned_pages - 1 + PAGEBLOCK_PAGES) >> PAGEBLOCK_ORDER;
}

void memmap_walk(struct zone *zone,
		 void (*fn)(struct zone *zone, unsigned long block, unsigned int type,
			    const struct block_counts *c, void *arg),
		 void *arg)
{
	unsigned long end = end_block(zone);
	struct class_walk w = { .until = 0 };

	for (unsigned long b = first_block(zone); b < end; b++) {
		unsigned long pfn = b << PAGEBLOCK_ORDER;
		unsigned int type = buddy_mt(&zone->buddy, max(pfn, zone->start_pfn));
		struct block_counts c = { .pages = 0 };

		if (type >= NR_MIGRATETYPES)
			continue; /* no struct pages */
		pageclass_count(&c, &w, pfn, pfn + PAGEBLOCK_PAGES, zone->buddy.flags);
		if (c.pages)
			fn(zone, b, type, &c, arg);
		cond_resched();
	}
}

static void print_block(struct zone *zone, unsigned long block, unsigned int type,
			const struct block_counts *c, void *arg)
{
	struct seq *seq = arg;
	char line[MEMMAP_LINE];

	seq_write(seq, line, memmap_line(line, block, zone->seq, type, c));
}

static int memmap_show(struct seq *seq)
{
	unsigned long blocks = 0, zones = 0;
	struct zone *z;

	for_each_zone(z) {
		blocks += end_block(z) - first_block(z);
		zones++;
	}
	if (!seq->flush && seq->size < blocks * LINE_GUESS) {
		seq->count = blocks * LINE_GUESS; /* come again with so much */
		return 0;
	}
	seq_printf(seq, "quire-memmap %d time_ns=%llu block_pages=%lu zones=%lu\n", MEMMAP_VERSION,
		   (unsigned long long)ktime_get(), PAGEBLOCK_PAGES, zones);
	for_each_zone(z)
		seq_printf(
			seq,
			"zone %u node=%d name=%s start=%lu spanned=%lu present=%lu managed=%lu\n",
			z->seq, z->node->id, z->name, z->start_pfn, z->spanned_pages,
			z->present_pages, z->managed_pages);
	for_each_zone(z)
		memmap_walk(z, print_block, seq);
	return 0;
}
SHOW("/sys/kernel/quire/memmap", 0444, memmap_show, NULL);
