/* SPDX-License-Identifier: BSD-2-Clause */
/* kswapd.h - the thread per node that keeps memory free. */
#ifndef MM_RECLAIM_KSWAPD_H
#define MM_RECLAIM_KSWAPD_H

#include "kernel/param.h"
#include "mm/phys/zone.h"

DECLARE_SWITCH(kswapd_wait_iff);

void kswapd_start(void); /* one thread for each node with memory; => once */
/* A request of class found zone below its low watermark. => any context, also with spinlocks held */
void kswapd_wake(struct zone *zone, unsigned int order, enum zone_type class);
/* Something could be reclaimed there: worth another try, should it have given up. */
void kswapd_try_again(struct node *node);
bool kswapd_asleep(const struct node *node); /* without a time limit (tests) */

#endif
