// SPDX-License-Identifier: BSD-2-Clause
/*
 * submit.c - the one way in: checks a bio, finds its place on the disk, hands it on; and the
 * helpers that wait for one (flush, discard, zero).
 *
 * Everything a driver relies on is checked here once: the range lies on the part, addresses and
 * lengths are whole logical blocks, the limits hold, the operation exists, the disk lives. What
 * fails ends at once with an error; one line in the log names part, operation and place.
 * A disk without a volatile cache never sees BIO_FLUSH, BIO_FUA or BIO_PREFLUSH.
 */
#include "drivers/blk/internal.h"
#include "kernel/printk.h"
#include "kernel/time.h"
#include "lib/string.h"
#include "mm/debug/vmstat.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"

static const char *const op_names[NR_BIO_OPS] = { "read", "write", "flush", "discard",
						  "write zeroes" };

bool blk_may_log(void)
{
	static DEFINE_SPINLOCK(lock, RANK_LEAF);
	static u64 window;
	static u32 printed, suppressed;
	u64 now = ktime_get();
	unsigned long flags;
	u32 lost = 0;
	bool ok;

	spin_lock_irqsave(&lock, flags);
	if (!window || now - window > 5 * NSEC_PER_SEC) {
		window = now;
		printed = 0;
		lost = suppressed;
		suppressed = 0;
	}
	ok = printed < 10;
	if (ok)
		printed++;
	else
		suppressed++;
	spin_unlock_irqrestore(&lock, flags);
	if (lost)
		pr_err("blk: %u more lines were not printed", lost);
	return ok;
}

static int refuse(const struct bio *bio, const char *why, int error)
{
	if (blk_may_log())
		pr_err("blk: %s: %s of %u sectors at %llu refused: %s", bio->part->name,
		       op_names[bio->op], bio->bytes >> SECTOR_SHIFT,
		       (unsigned long long)bio->sector, why);
	return error;
}

static __always_inline int check(const struct bio *bio)
{
	const struct blk_part *part = bio->part;
	const struct disk *disk = part->disk;
	u64 n = bio->bytes >> SECTOR_SHIFT, size = READ_ONCE(part->nr_sectors);
	u32 block = disk->limits.logical_block;

	if (unlikely(READ_ONCE(disk->dead)))
		return -ENXIO;
	if (unlikely(n > size || bio->sector > size - n))
		return refuse(bio, "beyond the end", -ENXIO);
	if (unlikely((bio->bytes | (u32)bio->sector << SECTOR_SHIFT) & (block - 1) || !n))
		return refuse(bio, "not whole logical blocks", -EIO);
	if (bio_is_write(bio) && unlikely(READ_ONCE(part->read_only) || disk->limits.read_only))
		return refuse(bio, "read-only", -EIO);
	if (unlikely(bio->op > BIO_WRITE)) {
		if (!(bio->op == BIO_DISCARD ? disk->limits.discard : disk->limits.write_zeroes))
			return -EOPNOTSUPP;
		return 0;
	}
	if (unlikely(n > disk->limits.hw_max_sectors || bio->nr_vecs > disk->limits.max_segments ||
		     !bio->nr_vecs))
		return refuse(bio, "not within the limits of the disk", -EIO);
	return 0;
}

/* The end of a bio that never came to a driver, or the owner's part of any end. */
static void bio_finish(struct bio *bio, int error)
{
	bio->error = error;
	bio->end_io(bio);
}

void bio_end(struct bio *bio, int error)
{
	if (bio->state & BIO_STATE_COUNTED) {
		bio->state = 0;
		preempt_disable();
		stat_end(bio->part, bio->op, bio->bytes >> SECTOR_SHIFT, bio->start_ns,
			 ktime_get());
		preempt_enable();
	}
	if (unlikely(error) && bio->op <= BIO_FLUSH && error != -ENXIO && blk_may_log())
		pr_err("blk: %s: %s error at sector %llu, %u sectors (error %d)", bio->part->name,
		       op_names[bio->op], (unsigned long long)bio->sector,
		       bio->bytes >> SECTOR_SHIFT, -error);
	bio_finish(bio, error);
}

static void count_bio(const struct bio *bio)
{
	if (bio->op == BIO_READ) {
		count_vm_events(PGPGIN, bio->bytes >> 10);
		current->io_read_bytes += bio->bytes;
	} else if (bio->op == BIO_WRITE) {
		count_vm_events(PGPGOUT, bio->bytes >> 10);
	}
}

static void submit_to_driver(struct bio *bio, struct disk *disk)
{
	bio->start_ns = ktime_get();
	bio->state = BIO_STATE_COUNTED;
	stat_start(bio->part, bio->op, bio->start_ns);
	disk->ops->submit_bio(disk, bio);
}

/* A flush has no place: only asks whether the disk lives. => true: the bio has ended */
static bool flush_is_nothing(struct bio *bio, struct disk *disk)
{
	if (READ_ONCE(disk->dead) || bio->bytes) {
		bio_finish(bio, bio->bytes ? refuse(bio, "a flush with data", -EIO) : -ENXIO);
		return true;
	}
	if (disk->limits.write_cache)
		return false;
	bio_finish(bio, 0);
	return true;
}

void submit_bio(struct bio *bio)
{
	struct disk *disk = bio->part->disk;
	int err;

	might_sleep();
	bio->state = 0;
	if (unlikely(bio->op == BIO_FLUSH)) {
		bio->sector = 0;
		if (flush_is_nothing(bio, disk))
			return;
	} else {
		err = check(bio);
		if (unlikely(err)) {
			bio_finish(bio, err);
			return;
		}
	}
	if (!disk->limits.write_cache)
		bio->flags &= ~(BIO_FUA | BIO_PREFLUSH);
	bio->disk_sector = bio->part->start + bio->sector;
	count_bio(bio);
	blk_trace(block_bio_queue, trace_bio_queue(bio));
	if (disk->queue)
		queue_submit(bio);
	else
		submit_to_driver(bio, disk);
}

static void wake_waiter(struct bio *bio)
{
	complete(bio->private);
}

int submit_bio_wait(struct bio *bio)
{
	struct completion done;
	u8 iowait = current->in_iowait;

	completion_init(&done);
	bio->private = &done;
	bio->end_io = wake_waiter;
	bio->flags |= BIO_SYNC;
	submit_bio(bio);
	if (!READ_ONCE(done.done))
		blk_plug_flush_current();
	current->in_iowait = 1;
	wait_for_completion(&done);
	current->in_iowait = iowait;
	return bio->error;
}

int blk_flush(struct blk_part *part)
{
	struct bio *bio;
	int err;

	if (!part->disk->limits.write_cache)
		return READ_ONCE(part->disk->dead) ? -ENXIO : 0;
	bio = bio_alloc(part, BIO_FLUSH, 0, 0, GFP_NOIO);
	if (!bio)
		return -ENOMEM;
	err = submit_bio_wait(bio);
	bio_put(bio);
	return err;
}

/* Ranges are cut into pieces of at most this; bio->bytes is 32 bits wide. */
#define RANGE_MAX ((1u << 22) - 8)

static int range_op(struct blk_part *part, enum bio_op op, u64 sector, u64 nr)
{
	u32 piece = part->disk->limits.max_discard_sectors;
	int err = 0;

	piece = piece ? min(piece, RANGE_MAX) : RANGE_MAX;
	while (nr && !err) {
		u32 n = min_t(u64, nr, piece);
		struct bio *bio = bio_alloc(part, op, sector, 0, GFP_NOIO);

		if (!bio)
			return -ENOMEM;
		bio->bytes = n << SECTOR_SHIFT;
		err = submit_bio_wait(bio);
		bio_put(bio);
		sector += n;
		nr -= n;
		cond_resched();
	}
	return err;
}

int blk_discard(struct blk_part *part, u64 sector, u64 nr_sectors)
{
	if (!part->disk->limits.discard)
		return -EOPNOTSUPP;
	return range_op(part, BIO_DISCARD, sector, nr_sectors);
}

static int write_zero_pages(struct blk_part *part, u64 sector, u64 nr)
{
	struct page *zero = alloc_page(GFP_NOIO | __GFP_ZERO);
	int err = zero ? 0 : -ENOMEM;

	while (nr && !err) {
		struct bio *bio = bio_alloc(part, BIO_WRITE, sector, BIO_MAX_VECS, GFP_NOIO);
		u64 left = nr;

		if (!bio) {
			err = -ENOMEM;
			break;
		}
		while (left) {
			u32 n = min_t(u64, left, PAGE_SIZE >> SECTOR_SHIFT);

			if (!bio_add_page(bio, zero, 0, n << SECTOR_SHIFT))
				break;
			left -= n;
		}
		err = submit_bio_wait(bio);
		bio_put(bio);
		sector += nr - left;
		nr = left;
	}
	if (zero)
		page_put(zero);
	return err;
}

int blk_zero(struct blk_part *part, u64 sector, u64 nr_sectors)
{
	int err = -EOPNOTSUPP;

	if (part->disk->limits.write_zeroes)
		err = range_op(part, BIO_WRITE_ZEROES, sector, nr_sectors);
	return err == -EOPNOTSUPP ? write_zero_pages(part, sector, nr_sectors) : err;
}
