/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpage.h - pages of a file to and from the blocks of a disk, for any file system that can say
 * where a block lies.
 */
#ifndef FS_MPAGE_H
#define FS_MPAGE_H

#include "drivers/blk/blk.h"
#include "mm/cache/writeback.h"

struct file;

/* Where a run of blocks of a file lies. */
struct block_run {
	u64 block;  /* first block on the device; 0: a hole */
	u32 count;  /* blocks of the file it describes, >= 1 */
	bool fresh; /* given a home just now: what the device holds there is not the file's */
};
/*
 * Describes the blocks of the file from `block` on, at most `want` (a hint, >= 1). create: a hole
 * gets blocks (at least one). => may sleep; 0, -EIO, -ENOSPC, -EFBIG, -EROFS, -EUCLEAN
 */
typedef int (*get_block_fn)(struct mapping *m, u64 block, u32 want, int create,
			    struct block_run *run);

/* What mpage must know of a file system; one per superblock. */
struct mpage_fs {
	struct blk_part *part;
	get_block_fn get_block;
	u8 block_bits; /* 10, 11 or 12 */
};

/* mapping_ops->read_page and ->read_pages: reads in one bio what lies together, zeroes holes. */
int mpage_read_page(const struct mpage_fs *fs, struct mapping *m, struct page *page);
void mpage_read_pages(const struct mpage_fs *fs, struct mapping *m, struct page **pages,
		      unsigned int nr);
/* ->write_page: a page alone when wbc->fs is NULL, else it joins the bio gathered there. */
int mpage_write_page(const struct mpage_fs *fs, struct mapping *m, struct page *page,
		     struct writeback_control *wbc);
/* ->write_pages: the walk over the dirty pages, gathered into large bios. */
int mpage_write_pages(const struct mpage_fs *fs, struct mapping *m, struct writeback_control *wbc);
/* ->write_begin: homes for the blocks under [pos, pos + n) of one page. */
int mpage_write_begin(const struct mpage_fs *fs, struct mapping *m, struct page *page, u64 pos,
		      size_t n, bool *homed);
/*
 * ->page_mkwrite: homes for all blocks of the page that lie within the size, then dirty.
 * => 0, or -EFAULT when the page has left the file
 */
int mpage_page_mkwrite(const struct mpage_fs *fs, struct mapping *m, struct page *page);
/* Offset >= pos of the next data (hole != 0: hole) by the block map; m->size when none. */
int mpage_seek(const struct mpage_fs *fs, struct mapping *m, u64 pos, int hole, u64 *out);

#endif
