// SPDX-License-Identifier: BSD-2-Clause
/*
 * balloc.c - which blocks are free, and giving them to files so that they lie well.
 *
 * Problem: files that grow at the same time, a block at a time, would interleave; and a search of
 * the bitmap for each block costs more than writing it. Idea: a window. When a file needs a block,
 * a run of them is taken from the bitmap at once (8 at first, twice as many each time the file goes
 * on growing, at most 1024): one is used, the rest is set aside for this file and handed out with
 * an addition. What is left goes back when the last writer closes the file, when it is cut or ends,
 * at every sync, and when the disk is full. Blocks in windows count as free.
 *
 * Where: at the goal (behind the block before it in the file) if that is free; else the next place
 * in that group where a run of the size begins, else any free block of it, else the same in the
 * following groups, those with hardly any room last.
 *
 * Invariants: a block is in a file's map, in a window, or free; bits of the last two kinds are set
 * and clear. free_blocks is the sum of the descriptors' counts; window_blocks that of the windows.
 * A bitmap is judged when it is first used; a group whose bitmap is bad is left alone.
 * Locking: alloc_lock for bitmaps and descriptors; a window under its own spinlock, so that handing
 * out takes no other, and a full disk can take windows from others.
 */
#include "fs/ext2/internal.h"
#include "sched/sched.h"

#define WINDOW_FIRST 8u
#define WINDOW_MAX 1024u

void ext2_desc_dirty(struct ext2_fs *fs, u32 group)
{
	bblock_dirty(&fs->descs[group / fs->geo.desc_per_block]);
	fs->super_dirty = true;
}

/* ---- judging ---- */

static bool overlaps(u32 a, u32 na, u32 b, u32 nb)
{
	return a < b + nb && b < a + na;
}

bool ext2_blocks_ok(struct ext2_fs *fs, u32 first, u32 count)
{
	const struct ext2_geometry *g = &fs->geo;

	if (first <= g->first_block || first >= g->blocks || count > g->blocks - first)
		return false;
	while (count) {
		u32 group = (first - g->first_block) / g->blocks_per_group;
		u32 start = ext2_group_first(g, group);
		u32 n = min(count, start + g->blocks_per_group - first);
		const struct ext2_group_desc *d = ext2_desc(fs, group);

		if (overlaps(first, n, d->bg_block_bitmap, 1) ||
		    overlaps(first, n, d->bg_inode_bitmap, 1) ||
		    overlaps(first, n, d->bg_inode_table, g->itable_blocks))
			return false;
		if (first - start <= g->desc_blocks &&
		    first - start < ext2_group_head_blocks(g, group, 0))
			return false;
		first += n;
		count -= n;
	}
	return true;
}

/* The group's block bitmap, judged. => alloc_lock; *b held, or -errno */
static int bitmap_get(struct ext2_fs *fs, u32 group, struct bblock *b)
{
	struct ext2_group *gr = &fs->group[group];
	const struct ext2_group_desc *d = ext2_desc(fs, group);
	char why[120];
	int err;

	if (unlikely(gr->blocks_state == GROUP_BAD))
		return -EUCLEAN;
	err = bblock_read(fs->bdev, d->bg_block_bitmap, fs->geo.block_size, b);
	if (unlikely(err)) {
		gr->blocks_state = GROUP_BAD;
		ext2_error(fs->sb, "group %u: block bitmap %u cannot be read", group,
			   d->bg_block_bitmap);
		return err;
	}
	if (likely(gr->blocks_state == GROUP_GOOD))
		return 0;
	err = ext2_check_block_bitmap(&fs->geo, group, d, b->data, fs->mount_state & EXT2_VALID_FS,
				      why, sizeof(why));
	if (!err) {
		u32 size = ext2_group_size(&fs->geo, group);
		u32 free = size - bitmap_weight(b->data, size);

		/* not cleanly unmounted: the bitmap is right, the count may be old */
		atomic_long_add((long)free - ext2_desc(fs, group)->bg_free_blocks_count,
				&fs->free_blocks);
		ext2_desc(fs, group)->bg_free_blocks_count = free;
		gr->blocks_state = GROUP_GOOD;
		return 0;
	}
	gr->blocks_state = GROUP_BAD;
	bblock_put(b);
	return ext2_error(fs->sb, "%s", why);
}

/* ---- taking ---- */

/* The run of clear bits at `from`, at most want. */
static u32 run_at(const unsigned long *map, u32 size, u32 from, u32 want)
{
	u32 end = min(size, from + want);

	return find_next_bit(map, end, from) - from;
}

/*
 * A place for want blocks in one group, best from bit `goal` on. => 0: *bit, *count set; -ENOSPC
 */
static int place_in_group(const unsigned long *map, u32 size, u32 hint, u32 goal, u32 want,
			  u32 *bit, u32 *count)
{
	u32 at, tries = 0;

	if (goal < size) {
		*bit = goal;
		*count = run_at(map, size, goal, want);
		if (*count)
			return 0;
	}
	/* the next run that is long enough, looked for in a bounded number of holes */
	for (at = max(goal < size ? goal : 0, hint); tries < 64; tries++) {
		at = find_next_zero_bit(map, size, at);
		if (at >= size)
			break;
		*count = run_at(map, size, at, want);
		if (*count == want) {
			*bit = at;
			return 0;
		}
		at += *count;
	}
	*bit = find_next_zero_bit(map, size, max(goal < size ? goal : 0, hint));
	if (*bit >= size)
		*bit = find_next_zero_bit(map, size, hint);
	if (*bit >= size)
		return -ENOSPC;
	*count = run_at(map, size, *bit, want);
	return 0;
}

/* => alloc_lock; 0: *first, *count taken from the group; -ENOSPC; -EUCLEAN and the like */
static int take_in_group(struct ext2_fs *fs, u32 group, u32 goal, u32 want, u32 *first, u32 *count)
{
	u32 size = ext2_group_size(&fs->geo, group), bit;
	struct ext2_group *gr = &fs->group[group];
	struct ext2_group_desc *d = ext2_desc(fs, group);
	struct bblock b;
	int err;

	if (!d->bg_free_blocks_count && gr->blocks_state != GROUP_UNSEEN)
		return -ENOSPC;
	err = bitmap_get(fs, group, &b);
	if (err)
		return err;
	err = place_in_group(b.data, size, gr->block_hint, goal, want, &bit, count);
	if (!err) {
		*first = ext2_group_first(&fs->geo, group) + bit;
		bitmap_set(b.data, bit, *count);
		if (bit == gr->block_hint)
			gr->block_hint = bit + *count;
		d->bg_free_blocks_count -= min_t(u32, *count, d->bg_free_blocks_count);
		atomic_long_sub(*count, &fs->free_blocks);
		bblock_dirty(&b);
		ext2_desc_dirty(fs, group);
	} else if (d->bg_free_blocks_count) {
		gr->blocks_state = GROUP_BAD;
		err = ext2_error(fs->sb, "group %u: bg_free_blocks_count %u, the bitmap has none",
				 group, d->bg_free_blocks_count);
	}
	bblock_put(&b);
	return err;
}

/* May the caller go below the blocks reserved for root? */
static bool may_use_reserved(const struct ext2_fs *fs)
{
	struct fs_cred cred;

	current_fs_cred(&cred, 0);
	return cred.uid == 0 || cred.uid == fs->resuid ||
	       (fs->resgid && cred_in_group(&cred, fs->resgid));
}

/* Blocks the caller may have in all. */
static long room_left(const struct ext2_fs *fs)
{
	long left = atomic_long_read(&fs->free_blocks);

	if (left > (long)fs->geo.reserved + (long)WINDOW_MAX)
		return left - fs->geo.reserved;
	return may_use_reserved(fs) ? left : left - (long)fs->geo.reserved;
}

static int take_locked(struct ext2_fs *fs, u32 goal, u32 want, u32 *first, u32 *count)
{
	const struct ext2_geometry *g = &fs->geo;
	u32 group = (goal - g->first_block) / g->blocks_per_group;
	u32 bit = (goal - g->first_block) % g->blocks_per_group;
	int err, bad = 0;

	/* second round: groups that are almost full too */
	for (u32 round = 0; round < 2; round++)
		for (u32 i = 0; i < g->groups; i++) {
			u32 n = group + i < g->groups ? group + i : group + i - g->groups;

			if (i && !round && ext2_desc(fs, n)->bg_free_blocks_count < want)
				continue;
			err = take_in_group(fs, n, i ? 0 : bit, want, first, count);
			if (err != -ENOSPC && err != -EUCLEAN && err != -EIO)
				return err;
			if (err != -ENOSPC)
				bad = err;
		}
	return bad ? bad : -ENOSPC;
}

/* Gives a window back. => alloc_lock */
static void drop_window_locked(struct ext2_fs *fs, struct ext2_info *info);

static void drop_windows_locked(struct ext2_fs *fs)
{
	while (!list_empty(&fs->windows))
		drop_window_locked(fs,
				   list_first_entry(&fs->windows, struct ext2_info, window_node));
}

/* From the window. => how many, 0: it is empty */
static u32 take_from_window(struct ext2_info *info, u32 want, u32 *first)
{
	struct ext2_fs *fs = ext2_fs(info->inode->sb);
	u32 n;

	spin_lock(&info->window_lock);
	n = min(want, info->window_count);
	*first = info->window_start;
	info->window_start += n;
	info->window_count -= n;
	spin_unlock(&info->window_lock);
	if (n)
		atomic_long_sub(n, &fs->window_blocks);
	return n;
}

/* What was taken beyond `used` becomes the window. => alloc_lock */
static void set_window_locked(struct ext2_fs *fs, struct ext2_info *info, u32 first, u32 count)
{
	spin_lock(&info->window_lock);
	ASSERT(!info->window_count);
	info->window_start = first;
	info->window_count = count;
	spin_unlock(&info->window_lock);
	atomic_long_add(count, &fs->window_blocks);
	if (!info->in_list) {
		info->in_list = true;
		list_add_tail(&info->window_node, &fs->windows);
	}
}

/* How many to ask for: what is needed now, and for a growing file a window behind it. */
static u32 window_size(struct inode *inode, u32 want, long left)
{
	struct ext2_info *info = ext2_info(inode);
	u32 n;

	if (!S_ISREG(inode->mode) || left < 4 * (long)WINDOW_MAX)
		return want;
	info->run_length = info->run_length ? min(info->run_length * 2, WINDOW_MAX) : WINDOW_FIRST;
	n = max(want, info->run_length);
	return n;
}

static noinline int take_new(struct inode *inode, u32 goal, u32 *first, u32 *count)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	struct ext2_info *info = ext2_info(inode);
	u32 want = *count, got = 0;
	long left;
	int err;

	if (ext2_read_only(fs))
		return -EROFS;
	if (goal <= fs->geo.first_block || goal >= fs->geo.blocks)
		goal = ext2_group_first(&fs->geo, info->group);
	mutex_lock(&fs->alloc_lock);
	left = room_left(fs);
	if (left < (long)want + 1 && atomic_long_read(&fs->window_blocks)) {
		drop_windows_locked(fs);
		left = room_left(fs);
	}
	if (left <= 0) {
		mutex_unlock(&fs->alloc_lock);
		return -ENOSPC;
	}
	want = min_t(long, want, left);
	err = take_locked(fs, goal, window_size(inode, want, left), first, &got);
	if (err == -ENOSPC && atomic_long_read(&fs->window_blocks)) {
		drop_windows_locked(fs);
		err = take_locked(fs, goal, want, first, &got);
	}
	if (!err && got > want)
		set_window_locked(fs, info, *first + want, got - want);
	mutex_unlock(&fs->alloc_lock);
	*count = min(got, want);
	return err;
}

int ext2_take_blocks(struct inode *inode, u32 goal, u32 *first, u32 *count)
{
	u32 n = take_from_window(ext2_info(inode), *count, first);

	if (likely(n)) {
		*count = n;
		return 0;
	}
	return take_new(inode, goal, first, count);
}

/* ---- giving back ---- */

/* => alloc_lock; blocks of one group */
static int give_back_locked(struct ext2_fs *fs, u64 owner, u32 group, u32 first, u32 count)
{
	u32 bit = first - ext2_group_first(&fs->geo, group), at;
	struct ext2_group_desc *d = ext2_desc(fs, group);
	struct ext2_group *gr = &fs->group[group];
	u32 size = ext2_group_size(&fs->geo, group);
	struct bblock b;
	int err = bitmap_get(fs, group, &b);

	if (err)
		return err;
	at = find_next_zero_bit(b.data, bit + count, bit);
	if (unlikely(at < bit + count)) {
		bblock_put(&b);
		return ext2_error(fs->sb, "inode %llu: block %u is freed, but is free already",
				  (unsigned long long)owner, first + (at - bit));
	}
	bitmap_clear(b.data, bit, count);
	gr->block_hint = min(gr->block_hint, bit);
	d->bg_free_blocks_count = min_t(u32, d->bg_free_blocks_count + count, size);
	atomic_long_add(count, &fs->free_blocks);
	bblock_dirty(&b);
	ext2_desc_dirty(fs, group);
	bblock_put(&b);
	return 0;
}

static int free_locked(struct ext2_fs *fs, u64 owner, u32 first, u32 count)
{
	const struct ext2_geometry *g = &fs->geo;
	int err = 0;

	while (count && !err) {
		u32 group = (first - g->first_block) / g->blocks_per_group;
		u32 n = min(count, ext2_group_first(g, group) + g->blocks_per_group - first);

		err = give_back_locked(fs, owner, group, first, n);
		first += n;
		count -= n;
	}
	return err;
}

int ext2_free_blocks(struct ext2_fs *fs, u64 owner, u32 first, u32 count)
{
	int err;

	if (!ext2_blocks_ok(fs, first, count))
		return ext2_error(fs->sb, "inode %llu: blocks %u + %u are freed, but are no file's",
				  (unsigned long long)owner, first, count);
	mutex_lock(&fs->alloc_lock);
	err = free_locked(fs, owner, first, count);
	mutex_unlock(&fs->alloc_lock);
	return err;
}

static void drop_window_locked(struct ext2_fs *fs, struct ext2_info *info)
{
	u64 ino = info->inode->ino;
	u32 first, count;

	spin_lock(&info->window_lock);
	first = info->window_start;
	count = info->window_count;
	info->window_count = 0;
	spin_unlock(&info->window_lock);
	list_del_init(&info->window_node);
	/* the inode may end as soon as it sees this */
	smp_store_release(&info->in_list, false);
	if (!count)
		return;
	atomic_long_sub(count, &fs->window_blocks);
	free_locked(fs, ino, first, count);
}

void ext2_drop_window(struct inode *inode)
{
	struct ext2_info *info = ext2_info(inode);
	struct ext2_fs *fs = ext2_fs(inode->sb);

	if (!smp_load_acquire(&info->in_list))
		return;
	mutex_lock(&fs->alloc_lock);
	if (info->in_list)
		drop_window_locked(fs, info);
	mutex_unlock(&fs->alloc_lock);
}

void ext2_drop_windows(struct ext2_fs *fs)
{
	if (list_empty(&fs->windows))
		return;
	mutex_lock(&fs->alloc_lock);
	drop_windows_locked(fs);
	mutex_unlock(&fs->alloc_lock);
}
