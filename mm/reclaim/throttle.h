/* SPDX-License-Identifier: BSD-2-Clause */
/* throttle.h - programs wait while the reserves of the low zones are going. */
#ifndef MM_RECLAIM_THROTTLE_H
#define MM_RECLAIM_THROTTLE_H

#include "mm/phys/page_alloc.h"

void throttle_init(void);
/*
 * Before a program reclaims for itself: parks it while the low zones of its node are at half of
 * their min marks, until kswapd has filled them or has given up. true: a fatal signal ended the
 * wait, so nobody has to be killed for it. => may sleep; kernel threads pass
 */
bool throttle_direct(struct node *node, gfp_t gfp);
/* By kswapd, after each priority, before it sleeps and when it gives up. */
void throttle_wake(struct node *node, int anyway);

#endif
