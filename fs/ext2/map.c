// SPDX-License-Identifier: BSD-2-Clause
/*
 * map.c - where the blocks of a file lie, and homes for new ones.
 *
 *   i_block[0..11]  -> data                    P block numbers (4 bytes each) fit a block
 *   i_block[12]     -> [P] -> data
 *   i_block[13]     -> [P] -> [P] -> data
 *   i_block[14]     -> [P] -> [P] -> [P] -> data
 *
 * Problem: an append should cost a few dozen steps, not a walk down this tree. Idea: the leaf (the
 * block of numbers that points to data) used last stays held by the inode; a file read or written
 * in order finds P blocks in it before the next walk. Blocks come from the inode's window
 * (balloc.c), so a new home is: a number from the window, a store into the leaf, a mark.
 *
 * Indirect blocks that change are noted by number, so that fsync writes these and not the whole
 * device: once per leaf, since the last one noted is remembered. When there is no memory for the
 * note, meta_all says: all of the device's.
 *
 * Invariants: every number is judged before it is followed (ext2_blocks_ok); the tree is at most
 * three deep, so damaged numbers cannot lead in a circle. leaf is part of the tree: who takes the
 * tree apart (cut.c) lets go of it first.
 * Locking: map_lock of the inode, a mutex: the tree is read and changed under it.
 */
#include "fs/ext2/internal.h"

void ext2_leaf_drop_locked(struct ext2_info *info)
{
	bblock_put(&info->leaf);
	info->leaf.page = NULL;
}

static noinline void note_meta(struct ext2_info *info, u32 nr)
{
	if (info->nr_meta == info->max_meta) {
		u32 max = info->max_meta ? info->max_meta * 2 : META_SLOTS + 1;
		u32 *more = krealloc(info->meta, max * sizeof(u32), GFP_NOFS | __GFP_NOWARN);

		if (!more) {
			info->meta_all = true;
			return;
		}
		info->meta = more;
		info->max_meta = max;
	}
	info->meta[info->nr_meta++] = nr;
	info->meta_last = nr;
}

void ext2_meta_dirty(struct ext2_info *info, struct bblock *b)
{
	bblock_dirty(b);
	if (unlikely(info->meta_last != b->nr))
		note_meta(info, b->nr);
}

static int sync_noted(struct ext2_fs *fs, const u32 *meta, u32 nr)
{
	u32 bits = fs->geo.block_bits;
	int err = 0;

	for (u32 i = 0; nr > 1 && i < nr; i++)
		mapping_start_writeback(fs->bdev->mapping, (u64)meta[i] << bits,
					((u64)meta[i] + 1) << bits, WB_SYNC_ALL, WB_REASON_SYNC);
	for (u32 i = 0; i < nr; i++) {
		int e = bblock_sync(fs->bdev, meta[i], 1, 1u << bits);

		err = err ? err : e;
	}
	return err;
}

/* Writes the noted indirect blocks and waits. 0 or -EIO */
int ext2_meta_sync(struct inode *inode)
{
	struct ext2_info *info = ext2_info(inode);
	struct ext2_fs *fs = ext2_fs(inode->sb);
	u32 *meta, nr;
	bool all;
	int err;

	if (!READ_ONCE(info->nr_meta) && !READ_ONCE(info->meta_all))
		return 0;
	mutex_lock(&info->map_lock);
	meta = info->meta;
	nr = info->nr_meta;
	all = info->meta_all;
	info->meta = NULL;
	info->nr_meta = info->max_meta = info->meta_last = 0;
	info->meta_all = false;
	mutex_unlock(&info->map_lock);
	err = all ? mapping_sync_range(fs->bdev->mapping, 0, U64_MAX) : sync_noted(fs, meta, nr);
	kfree(meta);
	return err;
}

/* A new indirect block for *slot. => map_lock; 0: b holds it */
static int new_indirect(struct inode *inode, u32 *slot, struct bblock *parent, u32 goal,
			struct bblock *b)
{
	struct ext2_info *info = ext2_info(inode);
	struct ext2_fs *fs = ext2_fs(inode->sb);
	u32 nr, one = 1;
	int err = ext2_take_blocks(inode, goal, &nr, &one);

	if (err)
		return err;
	err = bblock_new(fs->bdev, nr, fs->geo.block_size, b);
	if (err) {
		ext2_free_blocks(fs, inode->ino, nr, 1);
		return err;
	}
	ext2_meta_dirty(info, b);
	*slot = nr;
	if (parent->page)
		ext2_meta_dirty(info, parent);
	info->blocks += fs->geo.block_size >> 9;
	return 0;
}

static int read_indirect(struct inode *inode, u32 nr, struct bblock *b)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);

	if (unlikely(!ext2_blocks_ok(fs, nr, 1)))
		return ext2_inode_error(inode, "indirect block %u is none", nr);
	return bblock_read(fs->bdev, nr, fs->geo.block_size, b);
}

/* How deep below the inode a block lies, and its number there. 0: direct; < 0: -EFBIG */
static int depth_of(const struct ext2_geometry *g, u64 block, u64 *n)
{
	*n = block;
	if (block < EXT2_NDIR)
		return 0;
	*n -= EXT2_NDIR;
	for (u32 depth = 1; depth <= 3; depth++) {
		u64 span = 1ull << depth * g->ptrs_bits;

		if (*n < span)
			return depth;
		*n -= span;
	}
	return -EFBIG;
}

/*
 * Makes info->leaf the one that points to block. => map_lock; 0; 1: a hole, *left blocks long from
 * here; -errno
 */
static noinline int load_leaf(struct inode *inode, u64 block, int create, u32 goal, u64 *left)
{
	struct ext2_info *info = ext2_info(inode);
	const struct ext2_geometry *g = &ext2_fs(inode->sb)->geo;
	struct bblock parent = { .page = NULL }, b;
	int depth, err;
	u32 *slot;
	u64 n;

	depth = depth_of(g, block, &n);
	if (depth < 0)
		return depth;
	slot = &info->data[EXT2_NDIR - 1 + depth];
	for (; depth; depth--) {
		u64 span = 1ull << depth * g->ptrs_bits;

		if (*slot)
			err = read_indirect(inode, *slot, &b);
		else if (create)
			err = new_indirect(inode, slot, &parent, goal, &b);
		else
			err = 1;
		if (err == 1)
			*left = span - (n & (span - 1));
		bblock_put(&parent);
		if (err)
			return err;
		parent = b;
		slot = (u32 *)b.data + ((n >> (depth - 1) * g->ptrs_bits) & (g->ptrs - 1));
	}
	ext2_leaf_drop_locked(info);
	info->leaf = parent;
	info->leaf_first = block - (n & (g->ptrs - 1));
	return 0;
}

/* Where a new home for block would be best: behind its neighbour, else behind the leaf. */
static u32 goal_for(const struct ext2_info *info, u64 block, const u32 *slot, bool first)
{
	if (info->goal_file == block && info->goal_disk)
		return info->goal_disk;
	if (slot && !first && slot[-1])
		return slot[-1] + 1;
	if (slot && info->leaf.page && block >= EXT2_NDIR)
		return info->leaf.nr + 1;
	return 0;
}

/* Homes for at most n blocks that have none, from block on. => map_lock */
static int give_homes(struct inode *inode, u64 block, u32 *slot, bool first, u32 n,
		      struct block_run *run)
{
	struct ext2_info *info = ext2_info(inode);
	u32 bits = ext2_fs(inode->sb)->geo.block_bits, count = 1, start;
	int err;

	while (count < n && !slot[count])
		count++;
	if (info->goal_file != block)
		info->run_length = 0;
	err = ext2_take_blocks(inode, goal_for(info, block, slot, first), &start, &count);
	if (unlikely(err))
		return err;
	for (u32 i = 0; i < count; i++)
		slot[i] = start + i;
	if (block >= EXT2_NDIR)
		ext2_meta_dirty(info, &info->leaf);
	info->blocks += count << (bits - 9);
	info->goal_file = block + count;
	info->goal_disk = start + count;
	if (info->high < block + count)
		info->high = block + count;
	ext2_mark(inode, EXT2_MAP);
	*run = (struct block_run){ start, count, true };
	return 0;
}

/* The run that begins at slot[0], at most n long. */
static int describe(struct inode *inode, const u32 *slot, u32 n, struct block_run *run)
{
	u32 start = slot[0], count = 1;

	if (start) {
		while (count < n && slot[count] == start + count)
			count++;
		if (unlikely(!ext2_blocks_ok(ext2_fs(inode->sb), start, count)))
			return ext2_inode_error(inode, "its map names block %u, which is no file's",
						start);
	} else {
		while (count < n && !slot[count])
			count++;
	}
	*run = (struct block_run){ start, count, false };
	return 0;
}

static int get_block_locked(struct inode *inode, u64 block, u32 want, int create,
			    struct block_run *run)
{
	struct ext2_info *info = ext2_info(inode);
	u32 ptrs = ext2_fs(inode->sb)->geo.ptrs, at;
	u64 left = 0;
	u32 *slots;

	if (block < EXT2_NDIR) {
		slots = info->data;
		at = block;
		left = EXT2_NDIR - block;
	} else {
		if (!info->leaf.page || block - info->leaf_first >= ptrs) {
			int err = load_leaf(inode, block, create, info->goal_disk, &left);

			if (err == 1) {
				*run = (struct block_run){ 0, min_t(u64, left, want), false };
				return 0;
			}
			if (err)
				return err;
		}
		slots = info->leaf.data;
		at = block - info->leaf_first;
		left = ptrs - at;
	}
	want = min_t(u64, want, left);
	if (create && !slots[at])
		return give_homes(inode, block, &slots[at], at == 0, want, run);
	return describe(inode, &slots[at], want, run);
}

int ext2_get_block(struct mapping *m, u64 block, u32 want, int create, struct block_run *run)
{
	struct inode *inode = ext2_owner(m);
	const struct ext2_geometry *g = &ext2_fs(inode->sb)->geo;
	struct ext2_info *info = ext2_info(inode);
	int err;

	if (unlikely(block >= g->max_size >> g->block_bits)) {
		if (create)
			return -EFBIG;
		*run = (struct block_run){ 0, want, false };
		return 0;
	}
	mutex_lock(&info->map_lock);
	err = get_block_locked(inode, block, want, create, run);
	mutex_unlock(&info->map_lock);
	return err;
}
