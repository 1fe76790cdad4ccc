/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blkdev.h - block devices as files, and the cached blocks a file system keeps its metadata in.
 *
 * Each part (disk or partition) that is in use has one struct bdev with one mapping: /dev/vda read
 * through the page cache and a file system's bitmaps and inode tables are the same pages.
 *
 * A page of that mapping knows which of its eight sectors are dirty (page->private with
 * PG_private, a mask): only these are written. So a page may hold a metadata block beside a block
 * of file data that lives in the file's own pages, and never overwrites the latter.
 */
#ifndef FS_BLKDEV_H
#define FS_BLKDEV_H

#include "drivers/blk/blk.h"
#include "fs/vfs.h"

/* Lock: (b) bdev_lock of blkdev.c */
struct bdev {
	struct blk_part *part;
	struct inode *inode;	 /* of the internal superblock; inode->private is the bdev */
	struct mapping *mapping; /* &inode->data */
	void *holder;		 /* (b) exclusive user: a superblock, a loop device */
	u32 openers, nr_claims;	 /* (b) users; of them by the holder */
	bool closing;		 /* (b) the last user writes what is dirty */
	u32 block_size;		 /* BLKBSZGET: what a file system on it uses; told, not used */
};

/*
 * holder != NULL: for its exclusive use. Referenced bdev or ERR_PTR(-ENXIO no such device, -EBUSY
 * another holder, -EROFS when writing was asked of a read-only one, -ENOMEM).
 */
struct bdev *bdev_get(dev_t dev, int writable, void *holder);
/* By path ("/dev/vda1", any device node) or, before there is a /dev, by name ("/dev/" cut off). */
struct bdev *bdev_get_path(const char *path, int writable, void *holder);
void bdev_put(struct bdev *bdev, void *holder);
/* Writes all its dirty pages, waits, flushes the device's cache. 0 or -EIO */
int bdev_sync(struct bdev *bdev);
/* Forgets clean pages (after an unmount: the medium may change). */
void bdev_invalidate(struct bdev *bdev);

/* ---- cached blocks: size 512..4096, a power of two; nr counts blocks of that size ---- */
struct bblock {
	struct bdev *bdev;
	struct page *page; /* referenced; NULL: nothing held */
	void *data;
	u64 nr;
	u32 size;
};
/* Read in if need be. 0, -EIO, -ENOMEM, -EFBIG (behind the end). */
int bblock_read(struct bdev *bdev, u64 nr, u32 size, struct bblock *out);
/* Zeroed without reading; the caller fills it and calls bblock_dirty. */
int bblock_new(struct bdev *bdev, u64 nr, u32 size, struct bblock *out);
void bblock_dirty(struct bblock *b); /* after the change */
void bblock_put(struct bblock *b);   /* harmless on one that holds nothing */
/* Starts reading (nobody waits). */
void bblock_readahead(struct bdev *bdev, u64 nr, unsigned int count, u32 size);
/* Writes these blocks if dirty and waits. => 0 or -EIO; no flush command */
int bblock_sync(struct bdev *bdev, u64 nr, unsigned int count, u32 size);
/*
 * The blocks are no metadata any more (freed, or about to be file data): dirty is dropped and
 * writeback in flight is waited for.
 */
void bblock_forget(struct bdev *bdev, u64 nr, unsigned int count, u32 size);

/* mount(2) of a type that lives on a disk: opens source exclusively. 0 or -errno. */
int super_bdev(const char *source, u32 flags, void *holder, struct bdev **out);

void blkdev_init(void);

#endif
