// SPDX-License-Identifier: BSD-2-Clause
/*
 * cut.c - taking blocks away from a file: from a point to the end, or out of the middle.
 *
 * Both are one walk over the tree of map.c with a range [from, to) of file blocks. A subtree
 * outside is not visited; one that lies inside goes with its indirect block; one that is cut by an
 * edge loses entries, and its indirect block too when nothing is left in it. Data blocks that
 * follow each other on the disk are freed together.
 *
 * Against damaged maps: each number is judged before it is used, and freeing a block that is free
 * already stops the walk. So the work is bounded by the size of the disk, whatever the numbers say:
 * an indirect block that is named a second time has been freed the first time.
 *
 * Locking: the caller has set the size and taken the pages out, and holds truncate_lock; map_lock
 * is held for the whole walk.
 */
#include "fs/ext2/internal.h"
#include "sched/sched.h"

struct cut { /* control-struct of one walk */
	struct inode *inode;
	struct ext2_info *info;
	struct ext2_fs *fs;
	u64 from, to;		  /* blocks of the file */
	u32 run_first, run_count; /* data blocks about to be freed together */
	int err;		  /* first error */
	bool stop;		  /* damage: free nothing more */
};

static void failed(struct cut *c, int err, bool stop)
{
	if (!c->err)
		c->err = err;
	c->stop |= stop;
}

static void flush_run(struct cut *c)
{
	int err;

	if (!c->run_count || c->stop)
		return;
	err = ext2_free_blocks(c->fs, c->inode->ino, c->run_first, c->run_count);
	c->run_count = 0;
	if (err)
		failed(c, err, true);
}

static void uncount(struct cut *c)
{
	u32 sectors = c->fs->geo.block_size >> 9;

	c->info->blocks -= min(c->info->blocks, sectors);
}

static void cut_data(struct cut *c, u32 *slot)
{
	u32 nr = *slot;

	if (!ext2_blocks_ok(c->fs, nr, 1)) {
		failed(c,
		       ext2_inode_error(c->inode, "its map names block %u, which is no file's", nr),
		       true);
		return;
	}
	*slot = 0;
	uncount(c);
	if (c->run_count && c->run_first + c->run_count == nr) {
		c->run_count++;
		return;
	}
	flush_run(c);
	c->run_first = nr;
	c->run_count = 1;
}

static bool all_zero(const u32 *slots, u32 n)
{
	while (n--)
		if (slots[n])
			return false;
	return true;
}

static void cut_slot(struct cut *c, u32 *slot, u32 depth, u64 first);

/* The entries of an indirect block that lie in the range. */
static void cut_entries(struct cut *c, u32 *slots, u32 depth, u64 first)
{
	u32 bits = c->fs->geo.ptrs_bits, ptrs = c->fs->geo.ptrs, shift = (depth - 1) * bits;
	u32 i = c->from > first ? (c->from - first) >> shift : 0;

	for (; i < ptrs && !c->stop; i++) {
		u64 at = first + ((u64)i << shift);

		if (at >= c->to)
			break;
		if (slots[i])
			cut_slot(c, &slots[i], depth - 1, at);
	}
	cond_resched();
}

/* *slot (not 0) stands for the blocks from `first` on, depth levels above data. */
static void cut_slot(struct cut *c, u32 *slot, u32 depth, u64 first)
{
	struct ext2_fs *fs = c->fs;
	u64 span = 1ull << depth * fs->geo.ptrs_bits;
	bool whole = c->from <= first && first + span <= c->to;
	struct bblock b;
	u32 nr = *slot;
	int err;

	if (!depth) {
		cut_data(c, slot);
		return;
	}
	if (!ext2_blocks_ok(fs, nr, 1)) {
		failed(c, ext2_inode_error(c->inode, "indirect block %u is none", nr), true);
		return;
	}
	err = bblock_read(fs->bdev, nr, fs->geo.block_size, &b);
	if (err) { /* what hangs below it is lost until the file system is checked */
		failed(c, err, false);
		if (whole)
			*slot = 0;
		return;
	}
	cut_entries(c, b.data, depth, first);
	if (c->stop || !(whole || all_zero(b.data, fs->geo.ptrs))) {
		ext2_meta_dirty(c->info, &b);
		bblock_put(&b);
		return;
	}
	bblock_put(&b);
	flush_run(c);
	if (c->stop)
		return;
	bblock_forget(fs->bdev, nr, 1, fs->geo.block_size);
	*slot = 0;
	uncount(c);
	err = ext2_free_blocks(fs, c->inode->ino, nr, 1);
	if (err)
		failed(c, err, true);
}

int ext2_cut(struct inode *inode, u64 from, u64 to)
{
	struct cut c = { .inode = inode,
			 .info = ext2_info(inode),
			 .fs = ext2_fs(inode->sb),
			 .from = from,
			 .to = to };
	u32 bits = c.fs->geo.ptrs_bits;
	u64 first = EXT2_NDIR;

	if (from >= to)
		return 0;
	ext2_drop_window(inode);
	mutex_lock(&c.info->map_lock);
	ext2_leaf_drop_locked(c.info);
	c.info->meta_last = 0;
	c.info->goal_disk = 0;
	c.info->run_length = 0;
	if (c.info->high <= to)
		c.info->high = min(c.info->high, from);
	for (u32 i = 0; i < EXT2_NDIR; i++)
		if (c.info->data[i] && from <= i && i < to && !c.stop)
			cut_slot(&c, &c.info->data[i], 0, i);
	for (u32 depth = 1; depth <= 3; depth++) {
		u64 span = 1ull << depth * bits;
		u32 *slot = &c.info->data[EXT2_NDIR - 1 + depth];

		if (*slot && from < first + span && first < to && !c.stop)
			cut_slot(&c, slot, depth, first);
		first += span;
	}
	flush_run(&c);
	mutex_unlock(&c.info->map_lock);
	ext2_mark(inode, EXT2_MAP);
	return c.err;
}

void ext2_cut_beyond_end(struct inode *inode)
{
	struct ext2_info *info = ext2_info(inode);
	u32 bits = ext2_fs(inode->sb)->geo.block_bits;
	u64 end = (READ_ONCE(inode->data.size) + (1u << bits) - 1) >> bits;

	if (likely(READ_ONCE(info->high) <= end))
		return;
	down_write(&inode->data.truncate_lock);
	ext2_cut(inode, end, U64_MAX);
	up_write(&inode->data.truncate_lock);
}
