/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * direct.h - O_DIRECT: between a program's pages and the device, past the page cache.
 *
 * A file can do it when its mapping_ops has direct_map (block devices: bdevmap.c; files that
 * mpage.h serves: mpage_direct_map). Everything else is in direct.c.
 */
#ifndef FS_DIRECT_H
#define FS_DIRECT_H

#include "drivers/blk/blk.h"
#include "fs/vfs.h"

/* Where bytes [pos, pos + bytes) of a file lie. */
struct dio_extent {
	struct blk_part *part;
	u64 sector; /* of the part */
	u64 bytes;  /* how far this holds, from pos on */
	bool hole;  /* no blocks: reads give zeros; writes go through the page cache */
};

/*
 * Transfers and waits. Bytes: short at the end of the file, and for writes at a hole (the rest is
 * for the page cache). -EINVAL: pos, n or buf not multiples of the logical block. => process
 * context; inode->lock held (reads: shared; block devices: not at all)
 */
ssize_t direct_io(struct mapping *m, u64 pos, void __user *buf, size_t n, int write);

/*
 * The same without waiting (AIO), with the locks taken inside. => -EIOCBQUEUED: done(arg, bytes or
 * -errno) is called once, from a softirq or a thread, may not sleep; else it ended here with this
 * result and done is not called
 */
#define EIOCBQUEUED 529
ssize_t direct_io_async(struct file *f, u64 pos, void __user *buf, size_t n, int write,
			void (*done)(void *arg, ssize_t result), void *arg);

/* read(2), write(2) of a file with O_DIRECT. */
ssize_t file_direct_read(struct file *f, void __user *buf, size_t n, u64 *pos);
ssize_t file_direct_write(struct file *f, const void __user *buf, size_t n, u64 *pos);
static inline bool file_is_direct(const struct file *f)
{
	return (f->flags & O_DIRECT) && f->mapping && f->mapping->ops &&
	       f->mapping->ops->direct_map;
}

/* ->direct_map of a file that mpage.h serves. */
struct mpage_fs;
int mpage_direct_map(const struct mpage_fs *fs, struct mapping *m, u64 pos, u64 len,
		     struct dio_extent *out);

/*
 * Waits until no direct I/O of the inode is under way: before its blocks are given to others. =>
 * inode->lock held for writing (no new one starts)
 */
void inode_dio_wait(struct inode *inode);

#endif
