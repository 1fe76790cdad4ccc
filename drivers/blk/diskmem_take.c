// SPDX-License-Identifier: BSD-2-Clause
/* diskmem_take.c - the pure half of diskmem: first fit in a sorted table of used pieces. */
#include "drivers/blk/diskmem.h"
#include "lib/string.h"

u64 diskmem_take(struct diskmem *d, u64 bytes)
{
	u64 at = d->start;
	u32 i;

	if (d->nr == DISKMEM_PIECES || !bytes)
		return 0;
	for (i = 0; i < d->nr && d->piece[i].start - at < bytes; i++)
		at = d->piece[i].end;
	if (i == d->nr && (d->end < at || d->end - at < bytes))
		return 0;
	memmove(&d->piece[i + 1], &d->piece[i], (d->nr - i) * sizeof(d->piece[0]));
	d->piece[i].start = at;
	d->piece[i].end = at + bytes;
	d->nr++;
	return at;
}

bool diskmem_give(struct diskmem *d, u64 start)
{
	for (u32 i = 0; i < d->nr; i++) {
		if (d->piece[i].start != start)
			continue;
		d->nr--;
		memmove(&d->piece[i], &d->piece[i + 1], (d->nr - i) * sizeof(d->piece[0]));
		return true;
	}
	return false;
}
