/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faulty.h - what the two files of the faulty disk share: the device, and the pieces of its bios.
 *
 * Locks: (f) lock, softirqs off, RANK_BLK  (c) cache_mutex  (o) set once
 */
#ifndef DRIVERS_BLK_FAULTY_H
#define DRIVERS_BLK_FAULTY_H

#include "drivers/blk/blk.h"
#include "drivers/blk/fault_rules.h"
#include "kernel/time.h"
#include "mm/cache/xarray.h"
#include "sched/mutex.h"

struct faulty {
	struct disk *disk;	/* (o) */
	struct blk_part *lower; /* (o) referenced */
	int number;		/* (o) of its name */
	int depth;		/* (o) faulty disks below this one */
	bool ready;		/* the rules hold from now on */
	spinlock_t lock;
	struct fault_plan plan; /* (f) */
	struct rng rng;		/* (f) */
	u32 frozen;		/* (f) written; read anywhere */
	u64 frozen_ns;		/* (f) */
	u64 writes; /* (f) since the last freeze rule: asked of us, or sent to the medium */
	struct list_head hung; /* (f) struct faulty_io */
	struct timer freeze_timer;
	struct mutex cache_mutex;
	/* (c) struct page by sector / 8; page->private: mask of its sectors not on the medium */
	struct xarray cache;
	u64 cache_pages; /* (c) */
	u32 caching;	 /* (c) written; read anywhere: data may be in the cache */
	struct {	 /* (f), the second line (c) */
		u64 asked[NR_BIO_OPS], errors, delays, delay_ns, torn, torn_lost, refused, hung;
		u64 cached, flushed, destaged, kept, dropped, write_through;
	} stats;
};

/* ---- faulty.c -------------------------------------------------------------------------------- */
void faulty_lock(struct faulty *f);
void faulty_unlock(struct faulty *f);
/* One write is about to reach the medium: counts it. => false: frozen (maybe by this one) */
bool faulty_may_write(struct faulty *f);
/* A seeded choice: true with a chance of per_cent. */
bool faulty_chance(struct faulty *f, u32 per_cent);

/* ---- writing to the disk below, in runs ------------------------------------------------------ */
struct faulty_run {
	struct faulty *f;
	struct bio *bio; /* being gathered */
	u64 next;	 /* sector it would go on at */
	atomic_t left;	 /* bios on the way, and one */
	struct completion done;
	int error;
	bool force;   /* frozen or not */
	bool refused; /* by the freeze: the rest stays where it is */
	/* called for each piece that was sent. May be NULL */
	void (*sent)(const struct bio_vec *v);
};
void run_start(struct faulty_run *run, struct faulty *f);
void run_add(struct faulty_run *run, u64 sector, struct bio_vec v);
/* Waits for all. => 0, -EIO... or -ESHUTDOWN: frozen before all were sent */
int run_finish(struct faulty_run *run);

/* The parts of a bio, each within one aligned 4 KiB of the disk. piece zeroed starts. */
struct bio_piece {
	u64 sector;
	struct bio_vec v;
	u32 vec, done; /* of the bio: next vec, bytes of it done */
};
bool bio_next_piece(const struct bio *bio, struct bio_piece *p);

/* ---- faulty_cache.c. => may sleep ------------------------------------------------------------ */
/* Takes the write. 0 or -errno */
int cache_write(struct faulty *f, struct bio *bio);
/* => 1: nothing of it is in the cache, read below; else done: 0 or -errno */
int cache_read(struct faulty *f, struct bio *bio);
/* Everything to the medium, and safe there. 0, -EIO, -ESHUTDOWN (frozen) */
int cache_flush(struct faulty *f);
/* After a freeze: what survived by chance goes to the medium, the rest is forgotten. */
int cache_power_cut(struct faulty *f);
void cache_drop_all(struct faulty *f);

#endif
