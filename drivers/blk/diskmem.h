/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * diskmem.h - pieces of the memory that diskmem= set aside: the media of modelled disks. In the
 * direct map, in no zone, without page structs. A handful of large pieces: first fit in a sorted
 * table.
 */
#ifndef DRIVERS_BLK_DISKMEM_H
#define DRIVERS_BLK_DISKMEM_H

#include "lib/types.h"

#define DISKMEM_PIECES 64
struct diskmem { /* (diskmem_mutex) */
	u64 start, end;
	struct diskmem_piece {
		u64 start, end;
	} piece[DISKMEM_PIECES]; /* sorted */
	u32 nr;
};
/* Pure core: address of the lowest gap of `bytes`, marked used; 0: none. */
u64 diskmem_take(struct diskmem *d, u64 bytes);
/* => false: no piece starts there */
bool diskmem_give(struct diskmem *d, u64 start);

/* Zeroed; NULL: no gap that large. => may sleep */
void *diskmem_alloc(u64 bytes);
void diskmem_free(void *mem); /* => may sleep */
u64 diskmem_free_bytes(void); /* largest gap */

#endif
