/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memmap.h - the text of /sys/kernel/quire/memmap, and counting what it says. Format:
 * docs/memmap.md.
 */
#ifndef MM_DEBUG_MEMMAP_H
#define MM_DEBUG_MEMMAP_H

#include "mm/debug/pageclass.h"

#define MEMMAP_VERSION 1
/* Longest line of a block: every key with its largest number. */
#define MEMMAP_LINE 384

/*
 * One line, with its newline, into text (MEMMAP_LINE bytes). Pure. => its length
 */
size_t memmap_line(char *text, unsigned long block, u32 zone, unsigned int type,
		   const struct block_counts *c);
/*
 * Calls fn for every pageblock with frames of the zone, lowest first. => no lock; lets others run
 * between blocks; may sleep
 */
void memmap_walk(struct zone *zone,
		 void (*fn)(struct zone *zone, unsigned long block, unsigned int type,
			    const struct block_counts *c, void *arg),
		 void *arg);

#endif
