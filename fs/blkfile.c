// SPDX-License-Identifier: BSD-2-Clause
/*
 * blkfile.c - /dev/vda as a file: reading, writing and mapping a device through its page cache, and
 * the ioctls that fdisk, mkfs, blockdev and hdparm ask.
 */
#include "arch/uaccess.h"
#include "fs/blkdev_internal.h"
#include "fs/direct.h"
#include "fs/internal.h"
#include "fs/loop.h"
#include "mm/cache/bdi.h"
#include "mm/cache/writeback.h"
#include "mm/vm/aspace.h"

#define BLKROSET 0x125d
#define BLKROGET 0x125e
#define BLKRRPART 0x125f
#define BLKGETSIZE 0x1260
#define BLKFLSBUF 0x1261
#define BLKRASET 0x1262
#define BLKRAGET 0x1263
#define BLKFRASET 0x1264
#define BLKFRAGET 0x1265
#define BLKSECTGET 0x1267
#define BLKSSZGET 0x1268
#define BLKDISCARD 0x1277
#define BLKIOMIN 0x1278
#define BLKIOOPT 0x1279
#define BLKALIGNOFF 0x127a
#define BLKPBSZGET 0x127b
#define BLKDISCARDZEROES 0x127c
#define BLKSECDISCARD 0x127d
#define BLKROTATIONAL 0x127e
#define BLKZEROOUT 0x127f
#define BLKBSZGET 0x80081270
#define BLKBSZSET 0x40081271
#define BLKGETSIZE64 0x80081272
#define HDIO_GETGEO 0x0301

static struct bdev *bdev_of(const struct file *f)
{
	return f->private;
}

static int open(struct inode *inode, struct file *f)
{
	/* for writing, too: a device that only reads says so when it is written to */
	struct bdev *bdev = bdev_get(inode->rdev, 0, f->excl ? f : NULL);

	if (IS_ERR(bdev))
		return PTR_ERR(bdev);
	f->private = bdev;
	f->mapping = bdev->mapping;
	f->wb_err = errseq_sample(&bdev->mapping->wb_err);
	return 0;
}

static void release(struct file *f)
{
	bdev_put(bdev_of(f), f->excl ? f : NULL);
}

static ssize_t read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	struct bdev *bdev = bdev_of(f);
	ssize_t ret;

	bdev_update_size(bdev);
	if (unlikely(f->flags & O_DIRECT))
		return file_direct_read(f, buf, n, pos);
	ret = pagecache_read_ra(bdev->mapping, &f->ra, *pos, buf, n);
	if (ret > 0)
		*pos += ret;
	return ret;
}

static int fsync(struct file *f, int datasync)
{
	struct bdev *bdev = bdev_of(f);
	int err = mapping_sync_range(bdev->mapping, 0, U64_MAX);
	int flush = blk_flush(bdev->part), told = file_wb_error(f);

	return err ?: told ?: flush;
}

static ssize_t write(struct file *f, const void __user *buf, size_t n, u64 *pos)
{
	struct bdev *bdev = bdev_of(f);
	u64 size;
	ssize_t ret;

	if (bdev_read_only(bdev))
		return -EPERM;
	if (unlikely(bdev->inode->flags & INODE_SWAPFILE))
		return -ETXTBSY;
	bdev_update_size(bdev);
	size = bdev->mapping->size;
	if (f->flags & O_APPEND)
		*pos = size;
	if (*pos >= size)
		return n ? -ENOSPC : 0;
	n = min_t(u64, n, size - *pos);
	if (unlikely(f->flags & O_DIRECT)) {
		ret = file_direct_write(f, buf, n, pos);
	} else {
		inode_lock(bdev->inode);
		ret = pagecache_write(bdev->mapping, *pos, buf, n);
		inode_unlock(bdev->inode);
		if (ret > 0)
			*pos += ret;
	}
	if (ret > 0 && (f->flags & O_DSYNC)) {
		int err = fsync(f, 1);

		if (err)
			ret = err;
	}
	return ret;
}

static s64 llseek(struct file *f, s64 off, int whence)
{
	struct bdev *bdev = bdev_of(f);
	s64 base;

	bdev_update_size(bdev);
	switch (whence) {
	case SEEK_SET:
		base = 0;
		break;
	case SEEK_CUR:
		base = f->pos;
		break;
	case SEEK_END:
		base = bdev->mapping->size;
		break;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow(base, off, &off) || off < 0 || off > (s64)bdev->mapping->size)
		return -EINVAL;
	return f->pos = off;
}

static struct mapping *mmap(struct file *f, unsigned long vm_flags)
{
	struct bdev *bdev = bdev_of(f);

	bdev_update_size(bdev);
	if ((bdev->inode->flags & INODE_SWAPFILE) && (vm_flags & VM_SHARED) && file_can_write(f))
		return ERR_PTR(-ETXTBSY);
	return bdev->mapping;
}

enum range_op { RANGE_DISCARD, RANGE_ZERO };

/* Bytes [from, from + len) of the device; what is cached of them goes. */
static int change_range(struct file *f, u64 from, u64 len, enum range_op op)
{
	struct bdev *bdev = bdev_of(f);
	u64 block = bdev->part->disk->limits.logical_block, end;
	int err;

	if (!file_can_write(f))
		return -EBADF;
	if (bdev_read_only(bdev))
		return -EPERM;
	bdev_update_size(bdev);
	if (((from | len) & (block - 1)) || !len || __builtin_add_overflow(from, len, &end) ||
	    end > bdev->mapping->size)
		return -EINVAL;
	if (op == RANGE_DISCARD && !bdev->part->disk->limits.discard)
		return -EOPNOTSUPP;
	inode_lock(bdev->inode);
	err = bdev->inode->flags & INODE_SWAPFILE
		      ? -ETXTBSY
		      : pagecache_invalidate_range(bdev->mapping, from, end);
	if (!err)
		err = op == RANGE_DISCARD
			      ? blk_discard(bdev->part, from >> SECTOR_SHIFT, len >> SECTOR_SHIFT)
			      : blk_zero(bdev->part, from >> SECTOR_SHIFT, len >> SECTOR_SHIFT);
	if (!err) /* somebody may have read meanwhile */
		err = pagecache_invalidate_range(bdev->mapping, from, end);
	inode_unlock(bdev->inode);
	return err;
}

static int range_ioctl(struct file *f, unsigned long arg, enum range_op op)
{
	u64 range[2];

	if (copy_from_user(range, (void __user *)arg, sizeof(range)))
		return -EFAULT;
	return change_range(f, range[0], range[1], op);
}

static int fallocate(struct file *f, int mode, u64 off, u64 len)
{
	struct bdev *bdev = bdev_of(f);
	u64 size;

	bdev_update_size(bdev);
	size = bdev->mapping->size;
	if (off >= size)
		return -EINVAL;
	if (off + len > size) {
		if (!(mode & FALLOC_FL_KEEP_SIZE))
			return -EINVAL;
		len = size - off;
	}
	switch (mode & ~FALLOC_FL_KEEP_SIZE) {
	case FALLOC_FL_ZERO_RANGE:
		return change_range(f, off, len, RANGE_ZERO);
	case FALLOC_FL_PUNCH_HOLE:
		return mode & FALLOC_FL_KEEP_SIZE ? change_range(f, off, len, RANGE_ZERO)
						  : -EOPNOTSUPP;
	default:
		return -EOPNOTSUPP;
	}
}

static int must_be_root(void)
{
	struct fs_cred cred;

	current_fs_cred(&cred, 0);
	return cred.uid ? -EACCES : 0;
}

static int put_u32(unsigned long arg, u32 v)
{
	return put_user_u32(v, (u32 __user *)arg);
}

static int put_u64(unsigned long arg, u64 v)
{
	return put_user_u64(v, (u64 __user *)arg);
}

static int put_u16(unsigned long arg, u16 v)
{
	return copy_to_user((void __user *)arg, &v, sizeof(v)) ? -EFAULT : 0;
}

/* What a disk of this size would look like with 255 heads of 63 sectors. */
static int get_geometry(struct bdev *bdev, unsigned long arg)
{
	struct {
		u8 heads, sectors;
		u16 cylinders;
		u64 start;
	} geo = { .heads = 255, .sectors = 63, .start = bdev->part->start };

	geo.cylinders = min_t(u64, bdev->part->disk->nr_sectors / (255 * 63), 0xffff);
	return copy_to_user((void __user *)arg, &geo, sizeof(geo)) ? -EFAULT : 0;
}

static int set_block_size(struct bdev *bdev, unsigned long arg)
{
	u32 size;

	if (get_user_u32(&size, (u32 __user *)arg))
		return -EFAULT;
	if (size < bdev->part->disk->limits.logical_block || size > PAGE_SIZE ||
	    (size & (size - 1)))
		return -EINVAL;
	bdev->block_size = size;
	return 0;
}

static int set_read_only(struct bdev *bdev, unsigned long arg)
{
	u32 on;

	if (get_user_u32(&on, (u32 __user *)arg))
		return -EFAULT;
	WRITE_ONCE(bdev->part->read_only, !!on);
	return 0;
}

static int flush_buffers(struct bdev *bdev)
{
	int err = bdev_sync(bdev);

	bdev_invalidate(bdev);
	return err;
}

static int rescan(struct bdev *bdev)
{
	if (bdev->part->number)
		return -EINVAL;
	mapping_sync_range(bdev->mapping, 0, U64_MAX);
	return disk_rescan(bdev->part->disk);
}

/* Those that change something. */
static int change_ioctl(struct file *f, struct bdev *bdev, unsigned int cmd, unsigned long arg)
{
	int err;

	switch (cmd) {
	case BLKDISCARD:
		return range_ioctl(f, arg, RANGE_DISCARD);
	case BLKZEROOUT:
		return range_ioctl(f, arg, RANGE_ZERO);
	case BLKSECDISCARD:
		return -EOPNOTSUPP;
	}
	err = must_be_root();
	if (err)
		return err;
	switch (cmd) {
	case BLKROSET:
		return set_read_only(bdev, arg);
	case BLKRRPART:
		return rescan(bdev);
	case BLKFLSBUF:
		return flush_buffers(bdev);
	case BLKRASET:
	case BLKFRASET:
		bdev->mapping->bdi->ra_pages = min_t(unsigned long, arg, 65536) >> (PAGE_SHIFT - 9);
		return 0;
	case BLKBSZSET:
		return set_block_size(bdev, arg);
	}
	return disk_is_loop(bdev->part->disk) ? loop_ioctl(f, bdev, cmd, arg) : -ENOTTY;
}

static long ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
	struct bdev *bdev = bdev_of(f);
	const struct disk_limits *l = &bdev->part->disk->limits;

	switch (cmd) {
	case BLKGETSIZE:
		return put_u64(arg, bdev->part->nr_sectors);
	case BLKGETSIZE64:
		return put_u64(arg, bdev->part->nr_sectors << SECTOR_SHIFT);
	case BLKSSZGET:
		return put_u32(arg, l->logical_block);
	case BLKPBSZGET:
	case BLKIOMIN:
		return put_u32(arg, l->physical_block);
	case BLKIOOPT:
	case BLKALIGNOFF:
	case BLKDISCARDZEROES:
		return put_u32(arg, 0);
	case BLKSECTGET:
		return put_u16(arg, min_t(u32, l->max_sectors, 0xffff));
	case BLKROTATIONAL:
		return put_u16(arg, l->rotational);
	case BLKBSZGET:
		return put_u32(arg, bdev->block_size);
	case BLKRAGET:
	case BLKFRAGET:
		return put_u64(arg, (u64)bdev->mapping->bdi->ra_pages << (PAGE_SHIFT - 9));
	case BLKROGET:
		return put_u32(arg, bdev_read_only(bdev));
	case HDIO_GETGEO:
		return get_geometry(bdev, arg);
	default:
		return change_ioctl(f, bdev, cmd, arg);
	}
}

const struct file_ops blkdev_file_ops = {
	.open = open,
	.release = release,
	.read = read,
	.write = write,
	.llseek = llseek,
	.mmap = mmap,
	.fsync = fsync,
	.fallocate = fallocate,
	.ioctl = ioctl,
	.direct = true,
};
