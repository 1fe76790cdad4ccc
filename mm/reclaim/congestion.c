// SPDX-License-Identifier: BSD-2-Clause
/*
 * congestion.c - devices that have too much to do, and the two ways to wait for that to pass.
 *
 * Problem: who needs memory, or wants to write, should not heap more on a device that is busy up to
 * its ears; but waiting when no device is busy helps nobody. Idea: each device has a bit per
 * direction, the machine a count of devices with the bit, and a queue per direction that every
 * completion below the low threshold wakes.
 *
 *   congestion_wait      always sleeps: until such a completion, or the whole time. With no I/O in
 *                        flight nobody wakes it.
 *   wait_iff_congested   sleeps only if some device is congested AND the zone was seen full of
 *                        pages
 *                        that could not be written for that reason; else it gives the CPU away.
 *
 * The thresholds (7/8 and 13/16 of the pool of requests) belong to the queue in drivers/blk.
 * Source: [facts 1.10], [seed-003].
 */
#include "mm/reclaim/congestion.h"

#include "kernel/event.h"
#include "kernel/param.h"
#include "mm/cache/bdi.h"
#include "mm/phys/zone.h"
#include "sched/wait.h"

DEFINE_EVENT(writeback, writeback_congestion_wait, "usec_timeout=%lu usec_delayed=%lu",
	     "usec_timeout", "usec_delayed");
DEFINE_EVENT(writeback, writeback_wait_iff_congested, "usec_timeout=%lu usec_delayed=%lu",
	     "usec_timeout", "usec_delayed");

static struct wait_queue queues[NR_CONGEST] = {
	WAIT_QUEUE_INIT(queues[CONGEST_ASYNC]),
	WAIT_QUEUE_INIT(queues[CONGEST_SYNC]),
};
static atomic_t congested[NR_CONGEST];

/* For experiments: every zone counts as marked. The other condition, a congested disk, is real. */
static long all_marked;
TUNABLE("vm/zone_congested_forced", all_marked, 0, 1, NULL);

void congestion_set(struct bdi *bdi, enum congestion_dir dir)
{
	if (!(__atomic_fetch_or(&bdi->congested, 1u << dir, __ATOMIC_SEQ_CST) & 1u << dir))
		atomic_inc(&congested[dir]);
}

void congestion_clear(struct bdi *bdi, enum congestion_dir dir)
{
	if (__atomic_fetch_and(&bdi->congested, ~(1u << dir), __ATOMIC_SEQ_CST) & 1u << dir)
		atomic_dec(&congested[dir]);
}

void congestion_wake(enum congestion_dir dir)
{
	if (wait_queue_active(&queues[dir]))
		wake_up_all(&queues[dir]);
}

bool bdi_is_congested(const struct bdi *bdi, enum congestion_dir dir)
{
	return READ_ONCE(bdi->congested) & 1u << dir;
}

int nr_congested(enum congestion_dir dir)
{
	return atomic_read(&congested[dir]);
}

/* Sleeps once: a wake-up ends it, whatever it was for. */
static s64 sleep_on(enum congestion_dir dir, u64 ns)
{
	WAIT_ENTRY(entry);
	u8 old = current->in_iowait;
	s64 left;

	wait_prepare(&queues[dir], &entry, THREAD_UNINTERRUPTIBLE);
	current->in_iowait = 1;
	left = schedule_timeout((s64)ns);
	current->in_iowait = old;
	wait_finish(&queues[dir], &entry);
	return left;
}

s64 congestion_wait(enum congestion_dir dir, u64 ns)
{
	ktime_t start = ktime_get();
	s64 left = sleep_on(dir, ns);

	trace_event(writeback_congestion_wait, ns / 1000, (ktime_get() - start) / 1000);
	return left;
}

bool zone_marked_congested(const struct zone *zone)
{
	return (READ_ONCE(zone->zone_flags) & BIT(ZF_CONGESTED)) || READ_ONCE(all_marked);
}

s64 wait_iff_congested(struct zone *zone, enum congestion_dir dir, u64 ns)
{
	ktime_t start = ktime_get();
	s64 left;

	if (!nr_congested(dir) || !zone_marked_congested(zone)) {
		cond_resched();
		left = (s64)ns - (s64)(ktime_get() - start);
		left = max(left, (s64)0);
	} else {
		left = sleep_on(dir, ns);
	}
	trace_event(writeback_wait_iff_congested, ns / 1000, (ktime_get() - start) / 1000);
	return left;
}
