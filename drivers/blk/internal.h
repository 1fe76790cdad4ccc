/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * internal.h - what the files of drivers/blk share: the queue, the statistics, the slots of names.
 *
 * Locks: (q) queue->lock, IRQs off  (d) disk_lock  (o) set once  (a) atomic or per CPU
 */
#ifndef DRIVERS_BLK_INTERNAL_H
#define DRIVERS_BLK_INTERNAL_H

#include "drivers/blk/elevator.h"
#include "kernel/event.h"
#include "lib/errno.h"
#include "mm/reclaim/congestion.h"
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
/* A flush of the device itself. => preemption off */
static inline void stat_flush(struct blk_part *whole, u64 start, u64 now)
{
	struct part_stat_cpu *c = &whole->stats->cpu[smp_processor_id()];

	c->ios[STAT_FLUSH]++;
	c->nsecs[STAT_FLUSH] += now - start;
}
/* Two requests became one: only one will end. */
static inline void stat_unstart(struct blk_part *part, enum bio_op op)
{
	atomic_dec(&part->disk->whole.stats->inflight[op != BIO_READ]);
	if (part->number)
		atomic_dec(&part->stats->inflight[op != BIO_READ]);
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
void ramdisk_init(void);
void queue_init(void); /* softirq, cache of requests */

/* ---- the queue of a disk that takes requests ------------------------------------------------- */

#define POOL_DEFAULT 128u    /* requests per direction */
#define QUEUE_DEPTH_MAX 256u /* tags */
#define MERGE_HASH 64u
#define PLUG_MAX 16u	 /* requests a plug holds before it is flushed */
#define INSERT_BATCH 8u	 /* of these given to the queue with the lock held once */
#define ISSUE_BATCH 8u	 /* requests taken out with the lock held once */
#define FINISH_BATCH 16u /* requests put back with the lock held once */
#define END_BATCH 32u	 /* bios ended per run of the softirq */

enum request_state {
	RQ_FREE,
	RQ_PLUGGED,  /* in a plug */
	RQ_ELEVATOR, /* with the policy */
	RQ_READY,    /* on q->ready: past the policy, or never there */
	RQ_DRIVER,
	RQ_FLUSH, /* waits in the flush machine */
	RQ_DONE,
};
#define RQ_STATE 0x0fu
#define RQ_BY_ELEVATOR 0x10u /* the policy gave it out and wants to hear of its end */
#define RQ_LATE 0x20u	     /* the watchdog has spoken of it */
#define RQ_TOLD 0x40u	     /* its numbers are counted, some bios may have ended */

/* One direction: CONGEST_ASYNC or CONGEST_SYNC. */
struct request_pool {
	u32 in_use;	/* (q) */
	bool congested; /* (q) as told to mm */
	bool full;	/* (q) newcomers wait, batching threads may go on to 3/2 */
	struct wait_queue wait;
};

struct flush_machine {
	struct request rq; /* the BIO_FLUSH that is given to the driver */
	struct list_head waiting[2];
	u32 next; /* waiting[next] gathers, the other is what rq serves */
	bool running;
	bool draining; /* rq has ended: those it served go on, some at a time */
};

struct blk_queue {
	struct disk *disk; /* (o) */
	spinlock_t lock;
	struct request_pool pool[NR_CONGEST];
	u32 nr_requests, on, off;	/* (q) size of a pool; thresholds of congestion */
	struct request *free;		/* (q) */
	u32 nr_made;			/* (q) requests there are */
	const struct elevator_ops *elv; /* (q) changes only while the queue is frozen and empty */
	void *elv_data;
	struct request *last_merge;		  /* (q) */
	struct hlist_head hash[MERGE_HASH];	  /* (q) by end sector */
	struct list_head ready;			  /* (q) by node */
	struct list_head in_driver;		  /* (q) by fifo, by deadline_ns */
	u32 nr_in_driver, nr_waiting;		  /* (q) waiting: with the policy */
	u32 depth;				  /* (q) tags */
	unsigned long tags[QUEUE_DEPTH_MAX / 64]; /* (q) */
	bool issuing, again;   /* (q) somebody is in queue_run; it should look again */
	bool busy;	       /* (q) the driver said -EBUSY */
	bool frozen;	       /* (q) no new requests: the policy changes */
	bool stopped;	       /* (q) dead and drained */
	struct timer timer;    /* ask the policy (or the driver) again */
	struct timer watchdog; /* a request in the driver is late */
	u64 time_limit_ns;
	struct flush_machine flush;	   /* (q) */
	struct wait_queue frozen_wait;	   /* for thaw; for empty */
	struct mutex tune;		   /* one change of a tunable at a time */
	u64 nr_merged, nr_issued, nr_busy; /* (q) */
};

/* queue.c */
int queue_create(struct disk *disk); /* 0 or -ENOMEM */
/* New bios fail already: fails what waits, waits for the driver's. => may sleep */
void queue_drain_dead(struct disk *disk);
void queue_destroy(struct disk *disk);
void queue_submit(struct bio *bio); /* checked; disk_sector set */
/* => may sleep; 0, -EINVAL (no such policy), -ENOMEM */
int queue_set_elevator(struct blk_queue *q, const char *name);
void queue_set_nr_requests(struct blk_queue *q, u32 nr);
/* A request that came from a plug or a submitter goes to the policy (or the flush machine). */
struct wakeups;
void queue_insert_locked(struct blk_queue *q, struct request *rq, u64 now, struct wakeups *w);

/* request.c: the pools */
extern struct slab_cache *request_cache;
/* => lock held, IRQs off; may let go of it and sleep; NULL: the disk is dead, bio should fail */
struct request *request_get_locked(struct blk_queue *q, u32 sync);
struct wakeups {
	u32 waiters[NR_CONGEST]; /* of the pools */
	bool below[NR_CONGEST];	 /* "wake who waits for congestion to pass" */
	bool empty, any;
};
/* => lock held. What is to be woken goes to w, for request_wake() after the unlock. */
void request_put_locked(struct blk_queue *q, struct request *rq, struct wakeups *w);
void request_wake(struct blk_queue *q, const struct wakeups *w);
void request_init(struct request *rq, struct bio *bio, u64 now);
static inline u32 bio_pool(const struct bio *bio)
{
	return bio->op == BIO_READ || bio->flags & BIO_SYNC ? CONGEST_SYNC : CONGEST_ASYNC;
}

/* merge.c */
static inline bool op_merges(u32 op, u32 flags)
{
	return op <= BIO_WRITE && !(flags & (BIO_FUA | BIO_PREFLUSH));
}
/* Joins bio to rq if it fits at its end or front. 0: no, else ELV_LATTER + 1 / ELV_FORMER + 1 */
int merge_try(struct request *rq, struct bio *bio);
/* Joins bio to a request that waits with the policy. => lock; true: done, forget the bio */
bool merge_locked(struct blk_queue *q, struct bio *bio, struct wakeups *w);
/* rq was just inserted: perhaps it continues another. */
void merge_inserted_locked(struct blk_queue *q, struct request *rq, struct wakeups *w);
void merge_hash_add(struct blk_queue *q, struct request *rq);
void merge_hash_del(struct blk_queue *q, struct request *rq);

/* plug.c */
bool plug_merge(struct blk_plug *plug, struct bio *bio);
void plug_add(struct blk_plug *plug, struct request *rq);

/* dispatch.c */
void queue_run(struct blk_queue *q); /* => no lock, IRQs on, any context but hard interrupts */
void queue_timers_init(struct blk_queue *q);
/* The driver is done with rq. => lock */
void driver_done_locked(struct blk_queue *q, struct request *rq);

/* flush.c */
void flush_init(struct blk_queue *q);
/* Does it need more than one step? Then it is taken over. => lock */
bool flush_take_locked(struct blk_queue *q, struct request *rq);
/* One step of rq (or the machine's own request) ended. => lock; true: it was one of these */
bool flush_step_done_locked(struct blk_queue *q, struct request *rq, u64 now);
/* A part of those that the last flush served. => lock; true: let interrupts in and call again */
bool flush_drain_locked(struct blk_queue *q);

/* complete.c */
void request_done(struct request *rq); /* rq->error is set: its bios end in the softirq */
void complete_init(void);

#endif
