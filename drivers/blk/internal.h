/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * internal.h - what the files of drivers/blk share: the queue, the statistics, the slots of names.
 *
 * Locks: (q) queue->lock, IRQs off  (d) disk_lock  (o) set once  (a) atomic or per CPU
 */
#ifndef DRIVERS_BLK_INTERNAL_H
#define DRIVERS_BLK_INTERNAL_H

#include "drivers/blk/blk.h"
#include "kernel/event.h"
#include "lib/errno.h"
#include "sched/mutex.h"

/* ---- statistics: one set per part, the sums of Linux's /proc/diskstats (stats.c) ------------- */

enum stat_group { STAT_READ, STAT_WRITE, STAT_DISCARD, STAT_FLUSH, NR_STAT_GROUPS };
struct part_stat_cpu {
	u64 ios[NR_STAT_GROUPS], merges[NR_STAT_GROUPS];
	u64 sectors[NR_STAT_GROUPS], nsecs[NR_STAT_GROUPS];
} __cacheline_aligned;
struct part_stats {
	u64 stamp;	      /* (a) up to here io_ticks is right */
	u64 io_ticks;	      /* (a) ns with something in flight */
	atomic_t inflight[2]; /* reads, everything else */
	struct part_stat_cpu cpu[];
};
struct part_stats *part_stats_new(void); /* NULL: no memory */
static inline enum stat_group stat_group(enum bio_op op)
{
	static const u8 group[NR_BIO_OPS] = { STAT_READ, STAT_WRITE, STAT_FLUSH, STAT_DISCARD,
					      STAT_WRITE };

	return group[op];
}
static __always_inline void stat_ticks(struct part_stats *s, u64 now, bool busy)
{
	u64 stamp = READ_ONCE(s->stamp);

	if ((s64)(now - stamp) > 0 && try_cmpxchg(&s->stamp, &stamp, now) && busy)
		__atomic_fetch_add(&s->io_ticks, now - stamp, __ATOMIC_RELAXED);
}
static __always_inline bool stat_busy(const struct part_stats *s)
{
	return atomic_read(&s->inflight[0]) || atomic_read(&s->inflight[1]);
}
static __always_inline void stat_start_one(struct part_stats *s, enum bio_op op, u64 now)
{
	stat_ticks(s, now, stat_busy(s));
	atomic_inc(&s->inflight[op != BIO_READ]);
}
/* => preemption off */
static __always_inline void stat_end_one(struct part_stats *s, enum bio_op op, u32 sectors,
					 u64 start, u64 now)
{
	struct part_stat_cpu *c = &s->cpu[smp_processor_id()];
	enum stat_group g = stat_group(op);

	stat_ticks(s, now, true);
	atomic_dec(&s->inflight[op != BIO_READ]);
	c->ios[g]++;
	c->sectors[g] += sectors;
	c->nsecs[g] += now - start;
}
static __always_inline void stat_start(struct blk_part *part, enum bio_op op, u64 now)
{
	stat_start_one(part->disk->whole.stats, op, now);
	if (part->number)
		stat_start_one(part->stats, op, now);
}
static __always_inline void stat_end(struct blk_part *part, enum bio_op op, u32 sectors, u64 start,
				     u64 now)
{
	stat_end_one(part->disk->whole.stats, op, sectors, start, now);
	if (part->number)
		stat_end_one(part->stats, op, sectors, start, now);
}
static __always_inline void stat_merge(struct blk_part *part, enum bio_op op)
{
	u32 cpu = smp_processor_id();

	part->disk->whole.stats->cpu[cpu].merges[stat_group(op)]++;
	if (part->number)
		part->stats->cpu[cpu].merges[stat_group(op)]++;
}
void part_stat_show(struct seq *seq, const struct blk_part *part); /* the numbers, no newline */

/* ---- bio states ------------------------------------------------------------------------------ */
#define BIO_STATE_COUNTED 1u /* a bio disk: stat_start was called */

/* ---- names: a place for every name that ever was, so that /sys paths keep their numbers ------ */
#define MAX_DISKS 64
struct disk_slot {
	char name[DISK_NAME];
	char dev_text[16]; /* "253,0" for trace events */
	struct disk *disk; /* (d) now; NULL: none of that name */
};
extern struct mutex disk_lock;
extern struct list_head disk_list; /* (d) by birth */
int nr_disk_slots(void);
struct disk_slot *disk_slot(long i);
struct disk *disk_slot_get(long i); /* referenced, or NULL */
/* Names of partitions that ever were (for /sys): slot of the disk and number. */
struct part_slot {
	char path[2 * DISK_NAME + 8]; /* "vda/vda1" */
	u16 slot;
	u16 number;
};
int nr_part_slots(void);
struct part_slot *part_slot(long i);
/* => false: gone */
bool part_slot_present(long i);
int part_slots_add(struct disk *disk); /* => (d); 0 or -ENOMEM */

/* ---- messages -------------------------------------------------------------------------------- */
/* May one more line of trouble be printed now? At most ten in five seconds; says how many not. */
bool blk_may_log(void);

/* ---- trace events (events.c) ----------------------------------------------------------------- */
DECLARE_EVENT(block_bio_queue);
DECLARE_EVENT(block_rq_insert);
DECLARE_EVENT(block_rq_issue);
DECLARE_EVENT(block_rq_complete);
DECLARE_EVENT(block_plug);
DECLARE_EVENT(block_unplug);
void trace_bio_queue(const struct bio *bio);
void trace_rq(struct trace_event_def *def, const struct request *rq);
void trace_rq_complete(const struct request *rq, int error, u32 bytes);
void trace_plug(void);
void trace_unplug(u32 count);
#define blk_trace(name, call)                                                                      \
	do {                                                                                       \
		if (unlikely(event_##name.enabled))                                                \
			call;                                                                      \
	} while (0)

/* ---- the parts of the life of a disk --------------------------------------------------------- */
void bio_init_caches(void);
void blk_events_init(void);
/* partition_read.c: => may sleep; the new table of disk->parts[1..]. Nobody else changes them. */
int disk_read_partitions(struct disk *disk);
/* sysfs of queues */
int queue_create(struct disk *disk); /* 0 or -ENOMEM */
/* New bios fail already: waits for what is in flight, fails what waits. => may sleep */
void queue_drain_dead(struct disk *disk);
void queue_destroy(struct disk *disk);
void queue_submit(struct bio *bio); /* checked; disk_sector set */
void queue_init(void);		    /* softirq, caches */
void ramdisk_init(void);

#endif
