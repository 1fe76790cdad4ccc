// SPDX-License-Identifier: BSD-2-Clause
/*
 * loop.c - loop devices: a file (or a part of one, or another block device) as a disk.
 *
 * Problem: whoever submits a bio may hold locks of the file system on top and be out of memory;
 * the file below has locks of its own and wants memory for its pages. Idea: submit_bio only hangs
 * the bio on a list; one thread per device, which holds nothing, works them off in order through
 * the page cache of the file. Its allocations start no I/O (TF_NOIO), so reclaim never waits for
 * the device it serves, and it is not braked for the pages it makes dirty (TF_FLUSHER): they are
 * another's pages on their way, which are counted, and braked, above.
 *
 *   file system on loop0 -> bio -> list -> [loop0] -> read, write, fsync of the file
 *
 * A device is free (size 0), or bound to a file by LOOP_SET_FD or LOOP_CONFIGURE until LOOP_CLR_FD;
 * with LO_FLAGS_AUTOCLEAR until its last user closes it. Disks are made when /dev/loopN is opened
 * for the first time. A flush is an fdatasync of the file, a discard a hole in it.
 *
 * Locking: loops_mutex for which disks there are; loop->ctl (mutex, the same rank) for what the
 * device is bound to; loop->lock (spinlock) for the list. The worker reads what it is bound to
 * without a lock: that changes only while the list is empty and the disk has no size.
 */
#include "fs/loop.h"
#include "arch/uaccess.h"
#include "fs/blkdev_internal.h"
#include "fs/internal.h"
#include "kernel/counter.h"
#include "lib/printf.h"
#include "mm/cache/writeback.h"
#include "mm/kmem/slab.h"
#include "sched/kthread.h"

COUNTER(loop_bios, "transfers done by loop devices");

#define LOOP_MAJOR 7
#define NR_LOOPS 8u /* /dev nodes made at boot */
#define MAX_LOOPS 64u
#define CONTROL_MAJOR 10 /* misc */
#define CONTROL_MINOR 237

struct loop {
	u32 number;
	struct disk *disk;
	struct mutex ctl;
	struct file *backing; /* (ctl) NULL: free */
	u64 offset, sizelimit;
	u32 flags;     /* LO_FLAGS_* */
	char name[64]; /* as losetup gave it */
	spinlock_t lock;
	struct bio *first, **tail; /* (lock) */
	u32 nr_busy;		   /* (lock) queued, or being done */
	struct wait_queue wait, idle;
	struct thread *worker;
};
static DEFINE_MUTEX(loops_mutex, RANK_RENAME);
static struct loop *loops[MAX_LOOPS];
struct file *(*current_fd_file)(int fd);

/* ---- the worker ---- */
static int read_piece(struct loop *lo, void *mem, u32 n, u64 pos)
{
	while (n) {
		ssize_t got = vfs_read_kernel(lo->backing, mem, n, pos);

		if (got < 0)
			return -EIO;
		if (!got) { /* the file became shorter */
			memset(mem, 0, n);
			return 0;
		}
		mem = (char *)mem + got;
		pos += got;
		n -= got;
	}
	return 0;
}

static int write_piece(struct loop *lo, const void *mem, u32 n, u64 pos)
{
	while (n) {
		ssize_t got = vfs_write_kernel(lo->backing, mem, n, &pos);

		if (got <= 0)
			return got == -ENOSPC ? -ENOSPC : -EIO;
		mem = (const char *)mem + got;
		n -= got;
	}
	return 0;
}

static int transfer(struct loop *lo, struct bio *bio)
{
	u64 pos = lo->offset + (bio->disk_sector << SECTOR_SHIFT);
	int err = 0;

	if (bio->op == BIO_READ && bio->bytes > PAGE_SIZE)
		readahead_start(lo->backing->mapping, pos >> PAGE_SHIFT,
				PFN_UP(offset_in_page(pos) + bio->bytes));
	if (bio->flags & BIO_PREFLUSH)
		err = vfs_fsync(lo->backing, 1);
	for (u32 i = 0; i < bio->nr_vecs && !err; i++) {
		struct bio_vec *v = &bio->vecs[i];
		void *mem = bio_vec_addr(v);

		err = bio->op == BIO_READ ? read_piece(lo, mem, v->len, pos)
					  : write_piece(lo, mem, v->len, pos);
		if (v->page)
			page_kunmap(mem);
		pos += v->len;
		cond_resched();
	}
	if (!err && (bio->flags & BIO_FUA))
		err = vfs_fsync(lo->backing, 1);
	return err;
}

static int do_bio(struct loop *lo, struct bio *bio)
{
	u64 pos = lo->offset + (bio->disk_sector << SECTOR_SHIFT);
	int err;

	count(loop_bios);
	switch (bio->op) {
	case BIO_READ:
	case BIO_WRITE:
		return transfer(lo, bio);
	case BIO_FLUSH:
		return vfs_fsync(lo->backing, 1) ? -EIO : 0;
	case BIO_DISCARD:
		err = vfs_fallocate(lo->backing, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, pos,
				    bio->bytes);
		return err == -EOPNOTSUPP || !err ? err : -EIO;
	default:
		return -EOPNOTSUPP;
	}
}

static void one_done(struct loop *lo)
{
	bool idle;

	spin_lock(&lo->lock);
	idle = --lo->nr_busy == 0;
	spin_unlock(&lo->lock);
	if (idle)
		wake_up_all(&lo->idle);
}

static struct bio *take(struct loop *lo)
{
	struct bio *bio;

	spin_lock(&lo->lock);
	bio = lo->first;
	if (bio) {
		lo->first = bio->next;
		if (!lo->first)
			lo->tail = &lo->first;
		bio->next = NULL;
	}
	spin_unlock(&lo->lock);
	return bio;
}

static int worker(void *arg)
{
	struct loop *lo = arg;
	struct bio *bio;

	__atomic_fetch_or(&current->flags, TF_NOIO | TF_FLUSHER, __ATOMIC_RELAXED);
	for (;;) {
		wait_event(&lo->wait, READ_ONCE(lo->first));
		while ((bio = take(lo))) {
			bio_end(bio, do_bio(lo, bio));
			one_done(lo);
			cond_resched();
		}
	}
	return 0;
}

static void submit(struct disk *disk, struct bio *bio)
{
	struct loop *lo = disk->private;
	bool bound;

	spin_lock(&lo->lock);
	bound = READ_ONCE(lo->backing) && READ_ONCE(disk->nr_sectors);
	if (bound) {
		bio->next = NULL;
		*lo->tail = bio;
		lo->tail = &bio->next;
		lo->nr_busy++;
	}
	spin_unlock(&lo->lock);
	if (bound)
		wake_up_all(&lo->wait);
	else
		bio_end(bio, bio->op == BIO_FLUSH ? 0 : -ENXIO);
}

static const struct disk_ops loop_disk_ops = { .submit_bio = submit };

bool disk_is_loop(const struct disk *disk)
{
	return disk->ops == &loop_disk_ops;
}

/* ---- binding ---- */
static u64 loop_sectors(const struct loop *lo)
{
	u64 size = READ_ONCE(lo->backing->mapping->size);

	if (size <= lo->offset)
		return 0;
	size -= lo->offset;
	if (lo->sizelimit && size > lo->sizelimit)
		size = lo->sizelimit;
	return size >> SECTOR_SHIFT;
}

static void set_size(struct loop *lo)
{
	u32 block = lo->disk->limits.logical_block >> SECTOR_SHIFT;

	disk_set_size(lo->disk, loop_sectors(lo) / block * block);
}

/* A regular file with pages, or a block device that does not lead back to us. */
static int check_backing(const struct loop *lo, const struct file *f)
{
	if (!f->mapping || !(S_ISREG(f->inode->mode) || S_ISBLK(f->inode->mode)))
		return -EINVAL;
	while (file_is_blkdev(f)) {
		const struct disk *disk = ((struct bdev *)f->private)->part->disk;
		const struct loop *other = disk->private;

		if (!disk_is_loop(disk))
			break;
		if (other == lo)
			return -EBADF;
		f = READ_ONCE(other->backing);
		if (!f)
			return -EINVAL;
	}
	return 0;
}

static void apply_limits(struct loop *lo, u32 block)
{
	struct disk_limits *l = &lo->disk->limits;

	l->read_only = lo->flags & LO_FLAGS_READ_ONLY;
	l->discard = lo->backing->ops->fallocate && !l->read_only;
	l->logical_block = l->physical_block = block;
	lo->disk->whole.read_only = 0;
}

/* Takes f over, also on failure. */
static int bind(struct loop *lo, struct file *f, const struct loop_info64 *info, u32 block)
{
	int err = check_backing(lo, f);

	if (!err && info->lo_offset % SECTOR_SIZE)
		err = -EINVAL;
	if (!err && lo->backing)
		err = -EBUSY;
	if (err) {
		file_put(f);
		return err;
	}
	lo->flags = info->lo_flags & (LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR | LO_FLAGS_PARTSCAN);
	if (!file_can_write(f))
		lo->flags |= LO_FLAGS_READ_ONLY;
	lo->offset = info->lo_offset;
	lo->sizelimit = info->lo_sizelimit;
	memcpy(lo->name, info->lo_file_name, sizeof(lo->name));
	lo->name[sizeof(lo->name) - 1] = 0;
	WRITE_ONCE(lo->backing, f);
	apply_limits(lo, block);
	set_size(lo);
	if (lo->flags & LO_FLAGS_PARTSCAN)
		disk_rescan(lo->disk);
	return 0;
}

/* => lo->ctl held; the file it was bound to, for the caller to put without it */
static struct file *unbind(struct loop *lo)
{
	struct file *f = lo->backing;

	disk_set_size(lo->disk, 0);
	wait_event(&lo->idle, !READ_ONCE(lo->nr_busy));
	disk_rescan(lo->disk); /* its partitions go with it */
	spin_lock(&lo->lock);
	WRITE_ONCE(lo->backing, NULL);
	spin_unlock(&lo->lock);
	lo->flags = 0;
	lo->offset = lo->sizelimit = 0;
	memset(lo->name, 0, sizeof(lo->name));
	return f;
}

/* Is a part of it open, from this number on (0: the whole disk)? */
static bool parts_in_use(const struct disk *disk, u32 first)
{
	for (u32 i = first; i < DISK_MINORS; i++)
		if (disk->parts[i] && READ_ONCE(disk->parts[i]->bdev))
			return true;
	return false;
}

void loop_last_close(struct disk *disk)
{
	struct loop *lo = disk->private;
	struct file *f = NULL;

	mutex_lock(&lo->ctl);
	if (lo->backing && (lo->flags & LO_FLAGS_AUTOCLEAR) && !parts_in_use(disk, 0))
		f = unbind(lo);
	mutex_unlock(&lo->ctl);
	if (f)
		file_put(f);
}

/* ---- ioctls of /dev/loopN ---- */
static int set_fd(struct loop *lo, struct file *dev, int fd, struct loop_info64 *info, u32 block)
{
	struct file *f = current_fd_file ? current_fd_file(fd) : NULL;
	int err;

	if (!f)
		return -EBADF;
	if (!file_can_write(dev))
		info->lo_flags |= LO_FLAGS_READ_ONLY;
	mutex_lock(&lo->ctl);
	err = bind(lo, f, info, block);
	mutex_unlock(&lo->ctl);
	return err;
}

static int configure(struct loop *lo, struct file *dev, unsigned long arg)
{
	struct loop_config *c = kmalloc(sizeof(*c), GFP_KERNEL);
	int err;

	if (!c)
		return -ENOMEM;
	err = copy_from_user(c, (void __user *)arg, sizeof(*c)) ? -EFAULT : 0;
	if (!err && !c->block_size)
		c->block_size = SECTOR_SIZE;
	if (!err && (c->block_size < SECTOR_SIZE || c->block_size > PAGE_SIZE ||
		     (c->block_size & (c->block_size - 1))))
		err = -EINVAL;
	if (!err)
		err = set_fd(lo, dev, c->fd, &c->info, c->block_size);
	kfree(c);
	return err;
}

/* Nobody else has it open: at once; else when the last one closes it. */
static int clear_fd(struct loop *lo, struct bdev *bdev)
{
	struct file *f = NULL;

	mutex_lock(&lo->ctl);
	if (!lo->backing) {
		mutex_unlock(&lo->ctl);
		return -ENXIO;
	}
	if (READ_ONCE(bdev->openers) > 1 || parts_in_use(lo->disk, 1)) {
		lo->flags |= LO_FLAGS_AUTOCLEAR;
	} else {
		bdev_sync(bdev);
		pagecache_truncate(bdev->mapping, 0);
		f = unbind(lo);
	}
	mutex_unlock(&lo->ctl);
	if (f)
		file_put(f);
	return 0;
}

static u64 user_dev(dev_t dev)
{
	return (MINOR(dev) & 0xff) | MAJOR(dev) << 8 | (u64)(MINOR(dev) & ~0xffu) << 12;
}

static int get_info(struct loop *lo, struct loop_info64 *info)
{
	int err = 0;

	memset(info, 0, sizeof(*info));
	mutex_lock(&lo->ctl);
	if (!lo->backing) {
		err = -ENXIO;
	} else {
		info->lo_device = user_dev(lo->backing->inode->sb->dev);
		info->lo_inode = lo->backing->inode->ino;
		info->lo_rdevice = user_dev(lo->backing->inode->rdev);
		info->lo_offset = lo->offset;
		info->lo_sizelimit = lo->sizelimit;
		info->lo_number = lo->number;
		info->lo_flags = lo->flags;
		memcpy(info->lo_file_name, lo->name, sizeof(lo->name));
	}
	mutex_unlock(&lo->ctl);
	return err;
}

static int set_info(struct loop *lo, struct bdev *bdev, const struct loop_info64 *info)
{
	const u32 settable = LO_FLAGS_AUTOCLEAR | LO_FLAGS_PARTSCAN;
	bool scan;
	int err = 0;

	if (info->lo_encrypt_type || info->lo_offset % SECTOR_SIZE)
		return -EINVAL;
	mutex_lock(&lo->ctl);
	if (!lo->backing) {
		mutex_unlock(&lo->ctl);
		return -ENXIO;
	}
	if (lo->offset != info->lo_offset || lo->sizelimit != info->lo_sizelimit) {
		bdev_sync(bdev);
		wait_event(&lo->idle, !READ_ONCE(lo->nr_busy));
		pagecache_truncate(bdev->mapping, 0);
		lo->offset = info->lo_offset;
		lo->sizelimit = info->lo_sizelimit;
		set_size(lo);
		bdev_update_size(bdev);
	}
	scan = (info->lo_flags & ~lo->flags) & LO_FLAGS_PARTSCAN;
	lo->flags = (lo->flags & ~settable) | (info->lo_flags & settable);
	memcpy(lo->name, info->lo_file_name, sizeof(lo->name));
	lo->name[sizeof(lo->name) - 1] = 0;
	if (scan)
		err = disk_rescan(lo->disk);
	mutex_unlock(&lo->ctl);
	return err;
}

/* The old form: 32-bit offset, no size limit. */
static int old_info_to_user(struct loop *lo, unsigned long arg)
{
	struct loop_info64 info;
	struct loop_info old = { 0 };
	int err = get_info(lo, &info);

	if (err)
		return err;
	if (info.lo_offset > S32_MAX)
		return -EOVERFLOW;
	old.lo_number = info.lo_number;
	old.lo_device = info.lo_device;
	old.lo_inode = info.lo_inode;
	old.lo_rdevice = info.lo_rdevice;
	old.lo_offset = info.lo_offset;
	old.lo_flags = info.lo_flags;
	memcpy(old.lo_name, info.lo_file_name, sizeof(old.lo_name));
	return copy_to_user((void __user *)arg, &old, sizeof(old)) ? -EFAULT : 0;
}

static int old_info_from_user(struct loop *lo, struct bdev *bdev, unsigned long arg)
{
	struct loop_info64 info = { 0 };
	struct loop_info old;

	if (copy_from_user(&old, (void __user *)arg, sizeof(old)))
		return -EFAULT;
	if (old.lo_offset < 0)
		return -EINVAL;
	info.lo_offset = old.lo_offset;
	info.lo_encrypt_type = old.lo_encrypt_type;
	info.lo_flags = old.lo_flags;
	memcpy(info.lo_file_name, old.lo_name, sizeof(old.lo_name));
	return set_info(lo, bdev, &info);
}

static int status_ioctl(struct loop *lo, struct bdev *bdev, unsigned int cmd, unsigned long arg)
{
	struct loop_info64 info;
	int err;

	switch (cmd) {
	case LOOP_SET_STATUS:
		return old_info_from_user(lo, bdev, arg);
	case LOOP_GET_STATUS:
		return old_info_to_user(lo, arg);
	case LOOP_SET_STATUS64:
		if (copy_from_user(&info, (void __user *)arg, sizeof(info)))
			return -EFAULT;
		return set_info(lo, bdev, &info);
	default:
		err = get_info(lo, &info);
		if (!err && copy_to_user((void __user *)arg, &info, sizeof(info)))
			err = -EFAULT;
		return err;
	}
}

static int set_capacity(struct loop *lo, struct bdev *bdev)
{
	int err = -ENXIO;

	mutex_lock(&lo->ctl);
	if (lo->backing) {
		set_size(lo);
		bdev_update_size(bdev);
		err = 0;
	}
	mutex_unlock(&lo->ctl);
	return err;
}

int loop_ioctl(struct file *f, struct bdev *bdev, unsigned int cmd, unsigned long arg)
{
	struct loop *lo = bdev->part->disk->private;
	struct loop_info64 none = { 0 };

	switch (cmd) {
	case LOOP_SET_FD:
		return set_fd(lo, f, (int)arg, &none, SECTOR_SIZE);
	case LOOP_CONFIGURE:
		return configure(lo, f, arg);
	case LOOP_CLR_FD:
		return clear_fd(lo, bdev);
	case LOOP_SET_STATUS:
	case LOOP_GET_STATUS:
	case LOOP_SET_STATUS64:
	case LOOP_GET_STATUS64:
		return status_ioctl(lo, bdev, cmd, arg);
	case LOOP_SET_CAPACITY:
		return set_capacity(lo, bdev);
	case LOOP_SET_DIRECT_IO:
		return arg ? -EINVAL : 0;
	default:
		return -ENOTTY;
	}
}

/* ---- which devices there are ---- */
/* => loops_mutex held; 0 or -errno */
static int loop_make(u32 number)
{
	struct loop *lo = kzalloc(sizeof(*lo), GFP_KERNEL);
	char name[16];
	int err = -ENOMEM;

	if (!lo)
		return -ENOMEM;
	snprintf(name, sizeof(name), "loop%u", number);
	lo->number = number;
	mutex_init(&lo->ctl, RANK_RENAME, "loop");
	spin_lock_init(&lo->lock, RANK_BLK, "loop list");
	lo->tail = &lo->first;
	wait_queue_init(&lo->wait);
	wait_queue_init(&lo->idle);
	lo->disk = disk_alloc(name, &loop_disk_ops, lo);
	if (!lo->disk)
		goto free;
	lo->disk->empty_ok = lo->disk->in_order = true;
	lo->disk->limits.write_cache = lo->disk->limits.fua = true;
	lo->worker = kthread_run(worker, lo, -1, "%s", name);
	if (!lo->worker)
		goto put;
	err = disk_add(lo->disk);
	if (!err) {
		loops[number] = lo;
		return 0;
	}
	pr_err("loop: %s not made: error %d", name, -err);
	return err; /* the worker keeps them: it waits for ever */
put:
	disk_put(lo->disk);
free:
	kfree(lo);
	return err;
}

int loop_probe(dev_t dev)
{
	u32 number = MINOR(dev) / DISK_MINORS;
	int err = 0;

	if (MAJOR(dev) != LOOP_MAJOR || MINOR(dev) % DISK_MINORS || number >= MAX_LOOPS)
		return -ENXIO;
	mutex_lock(&loops_mutex);
	if (!loops[number])
		err = loop_make(number);
	mutex_unlock(&loops_mutex);
	return err;
}

static int get_free(void)
{
	int number = -ENOSPC;

	mutex_lock(&loops_mutex);
	for (u32 i = 0; i < MAX_LOOPS; i++) {
		if (!loops[i] || !READ_ONCE(loops[i]->backing)) {
			number = i;
			break;
		}
	}
	if (number >= 0 && !loops[number]) {
		int err = loop_make(number);

		if (err)
			number = err;
	}
	mutex_unlock(&loops_mutex);
	return number;
}

static long control_ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case LOOP_CTL_GET_FREE:
		return get_free();
	case LOOP_CTL_ADD:
		if (arg >= MAX_LOOPS)
			return -EINVAL;
		if (loops[arg])
			return -EEXIST;
		return loop_probe(MKDEV(LOOP_MAJOR, (u32)arg * DISK_MINORS)) ?: (long)arg;
	case LOOP_CTL_REMOVE: /* they stay; a free one costs little */
		return arg < MAX_LOOPS && loops[arg] ? -EBUSY : -ENODEV;
	default:
		return -ENOTTY;
	}
}

static const struct file_ops control_fops = { .ioctl = control_ioctl, .llseek = file_no_seek };

void loop_init(void)
{
	char name[16];

	chrdev_register(CONTROL_MAJOR, CONTROL_MINOR, 1, &control_fops, "misc");
	devfs_node("loop-control", S_IFCHR | 0660, MKDEV(CONTROL_MAJOR, CONTROL_MINOR));
	blkdev_register(LOOP_MAJOR, 0, 1u << 20, &blkdev_file_ops, "loop");
	for (u32 i = 0; i < NR_LOOPS; i++) {
		snprintf(name, sizeof(name), "loop%u", i);
		devfs_node(name, S_IFBLK | 0660, MKDEV(LOOP_MAJOR, i * DISK_MINORS));
	}
}
