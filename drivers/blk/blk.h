/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blk.h - disks: what a file system asks of one (struct bio), what a driver is asked (struct
 * request), and how a disk comes and goes. Front door of drivers/blk.
 *
 *   file system -> bio -> submit_bio -> [plug] -> queue (merge, elevator) -> request -> driver
 *               <- end_io <- softirq, in batches of 32 <- blk_end_request <-
 *
 * A disk has either a queue (ops->queue_rq: virtio, the models) or takes bios as they are
 * (ops->submit_bio: RAM disks, stacked devices). The unit of addresses is the sector, 512 bytes.
 *
 * Locks: (q) queue lock, IRQs off  (o) set before disk_add  (a) atomic or per CPU
 */
#ifndef DRIVERS_BLK_BLK_H
#define DRIVERS_BLK_BLK_H

#include "kernel/spinlock.h"
#include "lib/list.h"
#include "lib/rbtree.h"
#include "mm/cache/bdi.h"
#include "mm/phys/gfp.h"
#include "mm/phys/page.h"

#define SECTOR_SHIFT 9
#define SECTOR_SIZE 512u

struct disk;
struct blk_part;
struct blk_queue;
struct request;
struct seq;

enum bio_op {
	BIO_READ,
	BIO_WRITE,
	BIO_FLUSH, /* no data: what was written before is safe when it ends */
	BIO_DISCARD,
	BIO_WRITE_ZEROES,
	NR_BIO_OPS
};
#define BIO_SYNC 0x01u	   /* somebody waits: reads, fsync; the elevator prefers it */
#define BIO_META 0x02u	   /* metadata: a model in discard mode keeps these */
#define BIO_FUA 0x04u	   /* this write is safe when it ends */
#define BIO_PREFLUSH 0x08u /* a BIO_FLUSH before this write */
#define BIO_RAHEAD 0x10u   /* nobody waits: may fail when the device is busy */

struct bio_vec {
	struct page *page; /* NULL: kernel memory at address `addr` */
	void *addr;
	u32 off, len; /* off within the page (0 with addr) */
};

/*
 * One transfer to consecutive sectors. Whoever made it owns it again in end_io. The first nr_vecs
 * of vecs describe the memory; multiples of 512 bytes each.
 */
struct bio {
	struct blk_part *part; /* as submitted; sector is relative to it */
	u64 sector;
	u32 bytes; /* data length; BIO_DISCARD, BIO_WRITE_ZEROES: length of the range, no vecs */
	u8 op;	   /* enum bio_op */
	u8 flags;  /* BIO_* */
	u16 nr_vecs, max_vecs;
	u8 size_class; /* bio.c's: which slab it came from */
	u8 state;      /* the block layer's: BIO_STATE_* of internal.h */
	int error;     /* result: 0, -EIO, -ENOSPC, -EOPNOTSUPP, -ENXIO (beyond the end, gone) */
	void (*end_io)(struct bio *bio); /* softirq or the submitter's context; may not sleep */
	void *private;
	struct bio *next;     /* the block layer's: in a request, in a plug, in a completion list */
	u64 disk_sector;      /* the block layer's: relative to the disk */
	u64 start_ns;	      /* the block layer's: when it was submitted (bio disks) */
	pid_t tid;	      /* who asked (elevators that serve each in turn) */
	struct bio_vec *vecs; /* inline_vecs, or the caller's own array */
	struct bio_vec inline_vecs[];
};

/*
 * A bio with room for nr_vecs (<= BIO_MAX_VECS). Memory: a slab with a reserve behind it, so with
 * GFP_NOIO or GFP_NOFS it waits and does not fail. => GFP_NOWAIT: NULL when there is none
 */
#define BIO_MAX_VECS 256u
struct bio *bio_alloc(struct blk_part *part, enum bio_op op, u64 sector, unsigned int nr_vecs,
		      gfp_t gfp);
void bio_put(struct bio *bio); /* => any context */
/*
 * For stacked disks: another bio over the same memory (bio must outlive it) for sector of part;
 * op and flags as in bio. The rest as bio_alloc.
 */
struct bio *bio_clone(const struct bio *bio, struct blk_part *part, u64 sector, gfp_t gfp);
/*
 * False: full, by its vecs or by the limits of its disk (so no bio has to be split): submit it and
 * begin another.
 */
bool bio_add_page(struct bio *bio, struct page *page, unsigned int off, unsigned int len);
bool bio_add_memory(struct bio *bio, void *addr, unsigned int len);
static inline void *bio_vec_addr(const struct bio_vec *v)
{
	return v->page ? (char *)page_kmap(v->page) + v->off : (char *)v->addr;
}
static inline bool bio_is_write(const struct bio *bio)
{
	return bio->op != BIO_READ;
}
/*
 * Hands it over; ends with end_io, at once when it is malformed or the disk is gone. => may sleep
 * (pool of requests), never with a spinlock held
 */
void submit_bio(struct bio *bio);
/* The same, waits; the bio stays the caller's. 0 or -errno. */
int submit_bio_wait(struct bio *bio);
/* Makes what was written safe (nothing to do without a volatile cache). 0 or -errno */
int blk_flush(struct blk_part *part);
/* Ranges in sectors of the part. 0, -EOPNOTSUPP, -EIO. => may sleep */
int blk_discard(struct blk_part *part, u64 sector, u64 nr_sectors);
int blk_zero(struct blk_part *part, u64 sector, u64 nr_sectors); /* falls back to writing */

/*
 * Plug: requests made between start and finish are gathered, sorted and merged before the driver
 * sees them. Lives on the stack; current->plug names it; flushed too when the thread sleeps. An
 * inner plug is none: the outer one goes on.
 */
struct blk_plug {
	struct request *first, *last; /* by next_done */
	u32 count;
};
void blk_plug_start(struct blk_plug *plug);
void blk_plug_finish(struct blk_plug *plug);
void blk_plug_flush_current(void); /* => may not sleep: schedule() calls it */

/* ---- for drivers ---------------------------------------------------------------------------- */

/* What the device can do; unset values mean the default in brackets. */
struct disk_limits {
	u32 max_sectors;  /* of one request [1024] */
	u32 max_segments; /* [128] */
	u32 max_segment_bytes;
	u32 hw_max_sectors; /* what max_sectors was at disk_add: it can only be lowered */
	u32 logical_block;  /* bytes [512] */
	u32 physical_block; /* bytes [logical_block] */
	u32 queue_depth;    /* requests in the driver at a time [32] */
	u32 nr_hw_queues;   /* [1] */
	u32 max_discard_sectors;
	bool write_cache; /* volatile: BIO_FLUSH and BIO_FUA mean something */
	bool fua;	  /* the device does FUA itself; else the block layer flushes afterwards */
	bool discard, write_zeroes, rotational, read_only;
};

struct disk_ops {
	/*
	 * Starts a request. => softirqs off, IRQs on, no lock held; may not sleep; 0: taken,
	 * blk_end_request comes later (or came already); -EBUSY: no room now, given again after the
	 * next end; other -errno: it ends with that error
	 */
	int (*queue_rq)(struct disk *disk, struct request *rq);
	/* After a run of queue_rq calls: ring the bell once. Same context. May be NULL. */
	void (*commit)(struct disk *disk);
	/*
	 * Instead of a queue: a bio with disk_sector set, checked; bio_end when done. => may sleep
	 */
	void (*submit_bio)(struct disk *disk, struct bio *bio);
	/*
	 * A request did not end within the time limit. => softirq; it may be ending right now: the
	 * driver looks, under its own lock, whether it still has it; then ends it or says why not
	 */
	void (*timeout)(struct disk *disk, struct request *rq);
	/* disk_remove begins: dead is set. End what would never end by itself. May be NULL. */
	void (*removed)(struct disk *disk);
	/* The last user is gone after disk_remove: free private. */
	void (*release)(struct disk *disk);
	/* Own lines of /sys/block/NAME/model. May be NULL. */
	void (*show)(struct disk *disk, struct seq *seq);
	/* "key=value" written to that file. 0 or -errno. NULL: it cannot be written */
	int (*store)(struct disk *disk, const char *text);
};

#define DISK_NAME 24
#define DISK_MINORS 16u /* the disk and fifteen partitions */
struct blk_part {
	struct disk *disk;
	u64 start, nr_sectors;
	dev_t dev;
	u32 number; /* 0: the whole disk */
	u32 read_only;
	char name[DISK_NAME + 4]; /* "vda", "vda1", "nvme0p1": a digit before the number gets a p */
	void *bdev;		  /* fs/blkdev.c: its open record; under that file's lock */
	struct part_stats *stats;
};
struct disk {
	char name[DISK_NAME];
	u32 major, first_minor;
	u64 nr_sectors; /* changes with disk_set_size */
	const struct disk_ops *ops;
	void *private;
	struct disk_limits limits; /* (o) */
	struct blk_queue *queue;   /* NULL with ops->submit_bio */
	struct bdi bdi;
	struct blk_part whole;
	struct blk_part *parts[DISK_MINORS]; /* [0] == &whole */
	atomic_t refs;
	atomic_t pins; /* users that could not go on without it (swap): it is not removed */
	bool dead;     /* removed: every new bio fails with -ENXIO */
	bool by_name;  /* made by a line of /sys/kernel/quire/disks, which can remove it too */
	bool empty_ok; /* (o) may have no sectors (a loop device nobody has bound) */
	bool in_order; /* (o) its queue starts with the elevator noop (an SSD, a stacked disk) */
	u16 slot;      /* place in /sys/block */
	struct list_head node;
};

/*
 * A zeroed disk, not visible yet; fill in nr_sectors and limits. One reference, the caller's. The
 * letters of the name choose the major number (ram 1, loop 7, sd 8, vd 253, others 252), the
 * number or letters behind them the minor. NULL: no memory.
 */
struct disk *disk_alloc(const char *name, const struct disk_ops *ops, void *private);
/*
 * Makes it visible: queue, bdi, /proc/partitions, /dev (through disk_hooks), reads the partition
 * table. => may sleep; 0, -ENOMEM, -EEXIST (the name is taken), -ENOSPC (64 disks), -EINVAL (size
 * 0 or limits that contradict each other: named in the log)
 */
int disk_add(struct disk *disk);
/* New bios fail, old ones end; then its names go. The memory goes with the last reference. */
void disk_remove(struct disk *disk);
void disk_get(struct disk *disk);
void disk_put(struct disk *disk);
int disk_rescan(struct disk *disk); /* partition table again; -EBUSY when a partition is in use */
void disk_set_size(struct disk *disk, u64 nr_sectors);
/* By name ("vda1") or number; the disk referenced, or NULL. */
struct blk_part *blk_part_get(const char *name);
struct blk_part *blk_part_get_dev(dev_t dev);
static inline void blk_part_put(struct blk_part *part)
{
	disk_put(part->disk);
}
/* Next disk in order of birth, referenced; drops prev. NULL starts and ends. */
struct disk *disk_next(struct disk *prev);

/* What fs/ does when a disk or partition appears: /dev nodes, open records. */
struct disk_hooks {
	void (*added)(struct blk_part *part);
	void (*removed)(struct blk_part *part); /* its cache must let go */
};
extern const struct disk_hooks *disk_hooks;

/* One request: bios to consecutive sectors in one direction. */
struct request {
	struct disk *disk;
	struct bio *bio, *last_bio;
	u64 sector; /* of the disk */
	u32 nr_sectors, nr_segments;
	u8 op, flags;
	u16 tag; /* < limits.queue_depth while the driver has it */
	u64 queued_ns, started_ns;
	pid_t tid;	       /* of the thread that asked first */
	struct list_head node; /* elevator's, or the driver's while it has it */
	void *elevator_data[2];
	u64 driver_data[4]; /* the driver's while it has it */
	int error;
	/* private to drivers/blk */
	struct blk_part *part;	   /* statistics */
	struct request *next_done; /* list of the ended, of a plug, of the free */
	struct hlist_node hash;	   /* back-merge candidates, by end sector */
	struct rb_node rb;	   /* elevator: by sector */
	struct list_head fifo;	   /* elevator: by age; then those in the driver, by age */
	u64 deadline_ns;
	u32 state;
	u8 flush_steps, sync; /* sync: which pool it was taken from */
};
/* Ended with 0 or -errno. => any context, once; its bios end in softirq context */
void blk_end_request(struct request *rq, int error);
/* The end of a bio that ops->submit_bio was given. => any context, once */
void bio_end(struct bio *bio, int error);
/* The driver has room again after -EBUSY though nothing ended. => any context */
void blk_queue_kick(struct disk *disk);
/*
 * The pieces of memory of a request in order: *it = (struct rq_iter){0} starts; false at the end.
 * Each piece is contiguous in physical memory.
 */
struct rq_iter {
	struct bio *bio;
	u32 vec;
	void *addr;
	u32 bytes;
};
bool rq_next_piece(const struct request *rq, struct rq_iter *it);

/* sys/main.c: slabs, softirq, the disks that boot parameters ask for. => thread context */
void blk_init(void);

#endif
