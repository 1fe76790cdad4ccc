// SPDX-License-Identifier: BSD-2-Clause
/*
 * direct.c - O_DIRECT: a program's own pages go to the device and come from it.
 *
 * Problem: a program that caches by itself wants no second copy; but others may read the same file
 * through the page cache, and the pages it gives us may be unmapped, forked or freed meanwhile.
 * Idea: the pages are pinned by a reference each for as long as the device has them. Before the
 * transfer what is dirty in the cache is written and, for a write, thrown out; after a write it is
 * thrown out again, since somebody may have read the old bytes meanwhile.
 *
 *   program's memory   |....pppp|pppppppp|pp......|      pinned pages
 *   extents            |  extent A |  hole  | ext B|     from ops->direct_map
 *   bios               | bio | bio |  (zeros)|bio  |     at most 256 pieces each
 *
 * What a device cannot take as it is - a hole, bytes behind the end - a write leaves to the page
 * cache (io.c), as its short result says; nothing is given blocks here, so no crash can show what
 * they held before.
 *
 * One struct dio per call counts its bios; the last one to end finishes it: at once if pages need
 * no more than their reference back, in a worker thread if a page must be made dirty in its file or
 * the cache be thrown out. A caller that waits does that itself.
 *
 * A block must not get another owner while a transfer to it is under way: inode->dio counts calls
 * not yet ended, and truncation waits for them (inode_dio_wait). New ones cannot start, since they
 * need the inode's lock at their start.
 *
 * Locking: inode->lock (write: exclusive, read: shared) while extents are looked up and bios are
 * submitted; block devices need none, their blocks never move.
 */
#include "fs/direct.h"
#include "arch/uaccess.h"
#include "fs/blkdev_internal.h"
#include "fs/internal.h"
#include "fs/mpage.h"
#include "kernel/counter.h"
#include "mm/cache/writeback.h"
#include "mm/kmem/slab.h"
#include "mm/vm/aspace.h"
#include "sched/kthread.h"

COUNTER(dio_calls, "transfers past the page cache");
COUNTER(dio_bytes, "bytes they moved");

#define PIN_BATCH 32u

struct dio {
	struct mapping *m;
	struct inode *owner;
	u64 pos;
	size_t bytes; /* submitted, or zeroed; counted only by the submitter */
	bool write, async;
	int error;
	atomic_t pending;  /* bios not ended, and the submitter */
	struct bio *ended; /* by next (a) */
	struct completion completion;
	void (*done)(void *arg, ssize_t result);
	void *arg;
	struct dio *next; /* worker's list */
};

/* ---- the end ---- */
static DEFINE_WAIT_QUEUE(dio_wait);

static void dio_count_down(struct dio *d)
{
	if (atomic_dec_and_test(&d->owner->dio) && wait_queue_active(&dio_wait))
		wake_up_all(&dio_wait);
}

void inode_dio_wait(struct inode *inode)
{
	if (unlikely(atomic_read(&inode->dio)))
		wait_event(&dio_wait, !atomic_read(&inode->dio));
}

static ssize_t dio_result(const struct dio *d)
{
	return d->error ? d->error : (ssize_t)d->bytes;
}

/* Gives the pages back; those of a file that were read into are dirty now. */
static void release_bios(struct dio *d)
{
	struct bio *bio, *next;

	for (bio = d->ended; bio; bio = next) {
		next = bio->next;
		for (u32 i = 0; i < bio->nr_vecs; i++) {
			struct page *page = bio->vecs[i].page;

			if (!d->write && !page_test(page, PG_dirty))
				pagecache_set_dirty(page);
			page_put(page);
		}
		bio_put(bio);
	}
	d->ended = NULL;
}

/* Everything has ended. => may_sleep: thread context */
static void dio_finish(struct dio *d, bool may_sleep)
{
	release_bios(d);
	if (may_sleep && d->write && d->bytes && READ_ONCE(d->m->nr_pages))
		pagecache_invalidate_range(d->m, d->pos, d->pos + d->bytes);
	dio_count_down(d);
	count_add(dio_bytes, d->bytes);
}

static struct dio *worker_list; /* (a) */
static DEFINE_WAIT_QUEUE(worker_wait);
static struct thread *worker_thread;

static int worker(void *unused)
{
	for (;;) {
		struct dio *d, *next;

		wait_event(&worker_wait, READ_ONCE(worker_list));
		for (d = xchg(&worker_list, NULL); d; d = next) {
			next = d->next;
			dio_finish(d, true);
			d->done(d->arg, dio_result(d));
			kfree(d);
			cond_resched();
		}
	}
	return 0;
}

/* Can it be finished without sleeping? Memory of the program alone and nothing in the cache. */
static bool finish_is_short(const struct dio *d)
{
	if (d->write)
		return !READ_ONCE(d->m->nr_pages);
	for (struct bio *bio = d->ended; bio; bio = bio->next)
		for (u32 i = 0; i < bio->nr_vecs; i++)
			if (!page_test(bio->vecs[i].page, PG_anon))
				return false;
	return true;
}

static void dio_put(struct dio *d)
{
	struct dio *head;

	if (!atomic_dec_and_test(&d->pending))
		return;
	if (!d->async) {
		complete(&d->completion);
		return;
	}
	if (finish_is_short(d)) {
		dio_finish(d, false);
		d->done(d->arg, dio_result(d));
		kfree(d);
		return;
	}
	do {
		head = READ_ONCE(worker_list);
		d->next = head;
	} while (cmpxchg(&worker_list, head, d) != head);
	wake_up_all(&worker_wait);
}

static void dio_end_io(struct bio *bio)
{
	struct dio *d = bio->private;
	struct bio *head;

	if (unlikely(bio->error))
		d->error = bio->error == -ENOSPC ? -ENOSPC : -EIO;
	do {
		head = READ_ONCE(d->ended);
		bio->next = head;
	} while (cmpxchg(&d->ended, head, bio) != head);
	dio_put(d);
}

/* ---- the beginning ---- */
static struct bio *new_bio(struct dio *d, struct blk_part *part, u64 sector, u64 bytes)
{
	u32 vecs = min_t(u64, bytes / PAGE_SIZE + 2, BIO_MAX_VECS);
	struct bio *bio = bio_alloc(part, d->write ? BIO_WRITE : BIO_READ, sector, vecs, GFP_NOIO);

	if (!bio)
		return NULL;
	bio->flags = BIO_SYNC;
	bio->end_io = dio_end_io;
	bio->private = d;
	return bio;
}

static void send(struct dio *d, struct bio *bio)
{
	atomic_inc(&d->pending);
	if (d->write)
		current->io_write_bytes += bio->bytes;
	submit_bio(bio);
}

/*
 * One extent: memory [buf, buf + n) from sector on. => bytes handed over, or -EFAULT, -ENOMEM when
 * there are none
 */
static ssize_t submit_extent(struct dio *d, const struct dio_extent *e, unsigned long buf, size_t n)
{
	struct page *pages[PIN_BATCH];
	struct bio *bio = NULL;
	size_t done = 0, piece;
	u64 sector = e->sector;
	int got = 0;

	while (done < n) {
		u32 want = min_t(u64, PIN_BATCH, PFN_UP(offset_in_page(buf + done) + n - done));

		got = vm_pin_user(buf + done, want, !d->write, pages);
		if (got <= 0)
			break;
		for (int i = 0; i < got; i++) {
			u32 off = offset_in_page(buf + done);

			piece = min_t(size_t, PAGE_SIZE - off, n - done);
			if (bio && !bio_add_page(bio, pages[i], off, piece)) {
				send(d, bio);
				bio = NULL;
			} else if (bio) {
				goto next;
			}
			bio = new_bio(d, e->part, sector, n - done);
			if (!bio || !bio_add_page(bio, pages[i], off, piece)) {
				while (i < got)
					page_put(pages[i++]);
				if (bio)
					bio_put(bio);
				bio = NULL;
				got = -ENOMEM;
				goto out;
			}
next:
			done += piece;
			sector += piece >> SECTOR_SHIFT;
		}
		cond_resched();
	}
out:
	if (bio)
		send(d, bio);
	return done ? (ssize_t)done : got;
}

/*
 * What the cache knows better is written; what would be old afterwards goes. => 0 or -errno
 * (-EBUSY: a mapping keeps making it dirty)
 */
static int make_coherent(struct dio *d, u64 pos, size_t n)
{
	struct mapping *m = d->m;
	errseq_t since;
	int err;

	if (!READ_ONCE(m->nr_pages))
		return 0;
	if (d->write)
		return pagecache_invalidate_range(m, pos, pos + n);
	since = READ_ONCE(m->wb_err);
	err = mapping_sync_range(m, pos, pos + n - 1);
	return err ?: errseq_check(&m->wb_err, since);
}

static bool aligned(const struct dio *d, const struct dio_extent *e, unsigned long buf, size_t n)
{
	u32 mask = e->hole ? SECTOR_SIZE - 1 : e->part->disk->limits.logical_block - 1;

	return !((buf & (SECTOR_SIZE - 1)) | ((d->pos | n) & mask));
}

/*
 * All extents of [pos, pos + n). A read may ask for the rest of the last block, of which the file
 * has only `valid` bytes. d->bytes is what was handed over; the error of what stopped it, if
 * nothing was.
 */
static int submit_all(struct dio *d, unsigned long buf, size_t n)
{
	struct blk_plug plug;
	int err = 0;

	blk_plug_start(&plug);
	while (d->bytes < n) {
		u64 pos = d->pos + d->bytes;
		struct dio_extent e;
		ssize_t ret;

		err = d->m->ops->direct_map(d->m, pos, n - d->bytes, &e);
		if (err)
			break;
		if (!aligned(d, &e, buf, n)) {
			err = -EINVAL;
			break;
		}
		e.bytes = min_t(u64, e.bytes, n - d->bytes);
		if (e.hole && d->write)
			break;
		if (e.hole)
			ret = e.bytes - clear_user((void __user *)(buf + d->bytes), e.bytes);
		else
			ret = submit_extent(d, &e, buf + d->bytes, e.bytes);
		if (ret <= 0) {
			err = ret ? ret : -EFAULT;
			break;
		}
		d->bytes += ret;
		if ((u64)ret < e.bytes)
			break;
		if (fatal_signal_pending())
			break;
	}
	blk_plug_finish(&plug);
	return err;
}

static int dio_start(struct dio *d, struct mapping *m, u64 pos, unsigned long buf, size_t n,
		     int write)
{
	u64 block = container_of(m->bdi, struct disk, bdi)->limits.logical_block;
	int err;

	d->m = m;
	d->owner = m->owner;
	d->pos = pos;
	d->bytes = 0;
	d->write = write;
	d->error = 0;
	d->ended = NULL;
	atomic_set(&d->pending, 1);
	atomic_inc(&d->owner->dio);
	count(dio_calls);
	/* the last block of a file is read as a whole: the memory for it is there */
	if (!write && pos + n > READ_ONCE(m->size))
		n = min_t(u64, n, ALIGN_UP(m->size, block) - pos);
	err = make_coherent(d, pos, n);
	if (!err)
		err = submit_all(d, buf, n);
	if (d->bytes)
		err = 0;
	/* the file ends within the last block */
	if (!write && d->bytes && pos + d->bytes > READ_ONCE(m->size))
		d->bytes = m->size - pos;
	return err;
}

ssize_t direct_io(struct mapping *m, u64 pos, void __user *buf, size_t n, int write)
{
	struct dio d = { .async = false };
	int err;

	if ((pos | n | (unsigned long)buf) & (SECTOR_SIZE - 1))
		return -EINVAL;
	if (!n || pos >= READ_ONCE(m->size))
		return 0;
	completion_init(&d.completion);
	err = dio_start(&d, m, pos, (unsigned long)buf, n, write);
	dio_put(&d);
	wait_for_completion(&d.completion);
	dio_finish(&d, true);
	if (write && err == -EBUSY)
		return 0; /* through the cache, then */
	return err ?: dio_result(&d);
}

/* Can a write be done by the device alone? => inode->lock held */
static bool write_is_plain(struct mapping *m, u64 pos, size_t n)
{
	u64 end = pos + n;

	if (end > m->size)
		return false;
	while (pos < end) {
		struct dio_extent e;

		if (m->ops->direct_map(m, pos, end - pos, &e) || e.hole)
			return false;
		pos += e.bytes;
	}
	return true;
}

static ssize_t start_async(struct dio *d, struct mapping *m, u64 pos, void __user *buf, size_t n,
			   int write)
{
	int err;

	d->async = true;
	err = dio_start(d, m, pos, (unsigned long)buf, n, write);
	if (err) { /* nothing is under way */
		dio_finish(d, true);
		return err;
	}
	dio_put(d);
	return -EIOCBQUEUED;
}

ssize_t direct_io_async(struct file *f, u64 pos, void __user *buf, size_t n, int write,
			void (*done)(void *arg, ssize_t result), void *arg)
{
	struct mapping *m = f->mapping;
	struct inode *owner = m->owner;
	bool locks = S_ISREG(owner->mode);
	struct dio *d;
	ssize_t ret;

	if ((pos | n | (unsigned long)buf) & (SECTOR_SIZE - 1))
		return -EINVAL;
	if (!n || (!write && pos >= READ_ONCE(m->size)))
		return 0;
	d = kmalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return -ENOMEM;
	d->done = done;
	d->arg = arg;
	if (locks && write)
		inode_lock(owner);
	else if (locks)
		inode_lock_shared(owner);
	if (write && unlikely(owner->flags & INODE_SWAPFILE))
		ret = -ETXTBSY;
	else if (write && (locks ? (f->flags & (O_APPEND | O_DSYNC)) || fsize_limits ||
					   !write_is_plain(m, pos, n)
				 : (f->flags & O_DSYNC) || pos + n > m->size))
		ret = -EAGAIN;
	else
		ret = start_async(d, m, pos, buf, n, write);
	if (locks && write)
		inode_unlock(owner);
	else if (locks)
		inode_unlock_shared(owner);
	if (ret != -EIOCBQUEUED)
		kfree(d);
	if (ret == -EAGAIN || ret == -EBUSY) /* by the slow way, waiting */
		ret = write ? vfs_write(f, buf, n, &pos) : vfs_read(f, buf, n, &pos);
	return ret;
}

int mpage_direct_map(const struct mpage_fs *fs, struct mapping *m, u64 pos, u64 len,
		     struct dio_extent *out)
{
	u64 block = pos >> fs->block_bits, in_block = pos & ((1ul << fs->block_bits) - 1);
	u64 want = (in_block + len + (1ul << fs->block_bits) - 1) >> fs->block_bits;
	struct block_run run = { 0 };
	int err = fs->get_block(m, block, min_t(u64, want, U32_MAX), 0, &run);

	if (err)
		return err;
	out->part = fs->part;
	out->hole = !run.block;
	out->sector = ((run.block << fs->block_bits) + in_block) >> SECTOR_SHIFT;
	out->bytes = ((u64)run.count << fs->block_bits) - in_block;
	return 0;
}

void direct_init(void)
{
	worker_thread = kthread_run(worker, NULL, -1, "dio");
	if (!worker_thread)
		panic("direct: no memory for the worker");
}
