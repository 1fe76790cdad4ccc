// SPDX-License-Identifier: BSD-2-Clause
/* init.c - the start of the block layer: memory, softirq, and the disks that boot words ask for. */
#include "drivers/blk/create.h"
#include "drivers/blk/internal.h"

void blk_init(void)
{
	bio_init_caches();
	blk_events_init();
	queue_init();
	create_init();
}
