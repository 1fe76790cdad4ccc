/* SPDX-License-Identifier: BSD-2-Clause */
/* kswapd.h - the thread per node that keeps memory free. */
#ifndef MM_RECLAIM_KSWAPD_H
#define MM_RECLAIM_KSWAPD_H

#include "kernel/param.h"
#include "mm/phys/zone.h"

/* Values of the switch kswapd_wait_iff. */
enum kswapd_wait { WAIT_ALWAYS, WAIT_IFF_PER_ZONE, WAIT_IFF_ONCE, WAIT_IFF_LAST, WAIT_NEVER };
DECLARE_SWITCH(kswapd_wait_iff);
DECLARE_SWITCH(kswapd_temper);

void kswapd_start(void); /* one thread for each node with memory; => once */
/*
 * A request of class found zone below its low watermark. => any context, also with spinlocks held
 */
void kswapd_wake(struct zone *zone, unsigned int order, enum zone_type class);
/* Whatever the marks say: there is work in the node. */
void kswapd_kick(struct node *node);
/* Something could be reclaimed there: worth another try, should it have given up. */
void kswapd_try_again(struct node *node);
/* After MAX_FAILURES passes without a page: it is not woken any more. */
bool kswapd_gave_up(const struct node *node);
bool kswapd_asleep(const struct node *node); /* without a time limit (tests) */

#endif
