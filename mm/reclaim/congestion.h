/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * congestion.h - when a device has too much to do, and the two ways to wait for that to pass.
 *
 * A queue that fills its pool of requests up to 7/8 calls congestion_set, one that falls below
 * 13/16 congestion_clear; every completion that finds it below calls congestion_wake.
 */
#ifndef MM_RECLAIM_CONGESTION_H
#define MM_RECLAIM_CONGESTION_H

#include "lib/types.h"

struct bdi;
struct zone;
enum congestion_dir { CONGEST_ASYNC, CONGEST_SYNC, NR_CONGEST };

void congestion_set(struct bdi *bdi, enum congestion_dir dir);
void congestion_clear(struct bdi *bdi, enum congestion_dir dir);
/* Wakes every sleeper of that direction. => any context; cheap when nobody sleeps */
void congestion_wake(enum congestion_dir dir);
bool bdi_is_congested(const struct bdi *bdi, enum congestion_dir dir);
/* Devices congested in this direction. */
int nr_congested(enum congestion_dir dir);
/* Always sleeps: until woken or for ns. => nanoseconds left */
s64 congestion_wait(enum congestion_dir dir, u64 ns);
/*
 * Was the zone seen full of pages that a congested device did not take? (Or is every zone to count
 * as such: vm/zone_congested_forced.)
 */
bool zone_marked_congested(const struct zone *zone);
/* Sleeps only if some device is congested and the zone is marked; else yields. => ns left */
s64 wait_iff_congested(struct zone *zone, enum congestion_dir dir, u64 ns);

#endif
