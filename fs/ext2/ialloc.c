// SPDX-License-Identifier: BSD-2-Clause
/*
 * ialloc.c - new inodes, and in which group they are born.
 *
 * Files of one directory are used together, directories are not: so a file goes to its directory's
 * group, a directory that stands in the root to a group of its own (the emptiest, so that trees
 * spread over the disk), and a deeper directory near its parent as long as that group has its fair
 * share of free inodes and blocks. When the wanted group is full, files try groups at growing
 * distances (by the number of the directory, so that two full directories part), then all.
 *
 * Locking: alloc_lock. Source: the policy is that of the BSD fast file system [McKusick84] with the
 * spreading of [Orlov01], in a few lines.
 */
#include "fs/ext2/internal.h"

static int bitmap_get(struct ext2_fs *fs, u32 group, struct bblock *b)
{
	struct ext2_group *gr = &fs->group[group];
	struct ext2_group_desc *d = ext2_desc(fs, group);
	char why[120];
	int err;

	if (unlikely(gr->inodes_state == GROUP_BAD))
		return -EUCLEAN;
	err = bblock_read(fs->bdev, d->bg_inode_bitmap, fs->geo.block_size, b);
	if (unlikely(err)) {
		gr->inodes_state = GROUP_BAD;
		ext2_error(fs->sb, "group %u: inode bitmap %u cannot be read", group,
			   d->bg_inode_bitmap);
		return err;
	}
	if (likely(gr->inodes_state == GROUP_GOOD))
		return 0;
	err = ext2_check_inode_bitmap(&fs->geo, group, d, b->data, fs->mount_state & EXT2_VALID_FS,
				      why, sizeof(why));
	if (!err) {
		u32 free =
			fs->geo.inodes_per_group - bitmap_weight(b->data, fs->geo.inodes_per_group);

		atomic_long_add((long)free - d->bg_free_inodes_count, &fs->free_inodes);
		d->bg_free_inodes_count = free;
		gr->inodes_state = GROUP_GOOD;
		return 0;
	}
	gr->inodes_state = GROUP_BAD;
	bblock_put(b);
	return ext2_error(fs->sb, "%s", why);
}

/* ---- which group ---- */

static bool has_share(struct ext2_fs *fs, u32 group, long inodes, long blocks)
{
	const struct ext2_group_desc *d = ext2_desc(fs, group);

	return d->bg_free_inodes_count && d->bg_free_inodes_count >= inodes &&
	       d->bg_free_blocks_count >= blocks;
}

static u32 group_for_top_dir(struct ext2_fs *fs)
{
	u32 groups = fs->geo.groups, best = 0, dirs = U32_MAX;
	long inodes = atomic_long_read(&fs->free_inodes) / groups;
	long blocks = atomic_long_read(&fs->free_blocks) / groups;

	for (u32 i = 0; i < groups; i++) {
		if (!has_share(fs, i, inodes, blocks) ||
		    ext2_desc(fs, i)->bg_used_dirs_count >= dirs)
			continue;
		best = i;
		dirs = ext2_desc(fs, i)->bg_used_dirs_count;
	}
	return best;
}

static u32 group_for_dir(struct ext2_fs *fs, struct inode *parent)
{
	u32 groups = fs->geo.groups, start = ext2_info(parent)->group;
	long inodes = atomic_long_read(&fs->free_inodes) / groups;
	long blocks = atomic_long_read(&fs->free_blocks) / groups;

	if (parent->ino == EXT2_ROOT_INO || (ext2_info(parent)->flags & EXT2_TOPDIR_FL))
		return group_for_top_dir(fs);
	/* a little less than the average is still a fair share */
	for (u32 i = 0; i < groups; i++) {
		u32 n = (start + i) % groups;

		if (has_share(fs, n, inodes - inodes / 4, blocks - blocks / 4))
			return n;
	}
	return start;
}

static u32 group_for_file(struct ext2_fs *fs, struct inode *parent)
{
	u32 groups = fs->geo.groups, start = ext2_info(parent)->group, n;

	if (has_share(fs, start, 1, 1))
		return start;
	n = (start + parent->ino) % groups;
	for (u32 step = 1; step < groups; step <<= 1) {
		n = (n + step) % groups;
		if (has_share(fs, n, 1, 1))
			return n;
	}
	return start;
}

/* => alloc_lock; the number of a free inode of the group, now marked, or -errno */
static s64 take_in_group(struct ext2_fs *fs, u32 group, bool dir)
{
	u32 per_group = fs->geo.inodes_per_group, bit, low = 0;
	struct ext2_group_desc *d = ext2_desc(fs, group);
	struct ext2_group *gr = &fs->group[group];
	struct bblock b;
	int err;

	if (!d->bg_free_inodes_count && gr->inodes_state != GROUP_UNSEEN)
		return -ENOSPC;
	err = bitmap_get(fs, group, &b);
	if (err)
		return err;
	if (group == 0)
		low = fs->geo.first_ino - 1;
	bit = find_next_zero_bit(b.data, per_group, max(gr->inode_hint, low));
	if (bit >= per_group) {
		bool lies = d->bg_free_inodes_count;

		bblock_put(&b);
		if (!lies)
			return -ENOSPC;
		gr->inodes_state = GROUP_BAD;
		return ext2_error(fs->sb, "group %u: bg_free_inodes_count %u, the bitmap has none",
				  group, d->bg_free_inodes_count);
	}
	bitmap_set(b.data, bit, 1);
	gr->inode_hint = bit + 1;
	if (d->bg_free_inodes_count)
		d->bg_free_inodes_count--;
	atomic_long_dec(&fs->free_inodes);
	if (dir) {
		d->bg_used_dirs_count++;
		atomic_long_inc(&fs->nr_dirs);
	}
	bblock_dirty(&b);
	ext2_desc_dirty(fs, group);
	bblock_put(&b);
	return (s64)group * per_group + bit + 1;
}

static s64 take_inode(struct ext2_fs *fs, struct inode *parent, bool dir)
{
	u32 groups = fs->geo.groups, group;
	s64 ino = -ENOSPC;

	mutex_lock(&fs->alloc_lock);
	group = dir ? group_for_dir(fs, parent) : group_for_file(fs, parent);
	for (u32 i = 0; i < groups; i++) {
		ino = take_in_group(fs, (group + i) % groups, dir);
		if (ino > 0)
			break;
	}
	mutex_unlock(&fs->alloc_lock);
	return ino;
}

/* Marks the number as free again. */
static void give_back(struct ext2_fs *fs, u32 ino, bool dir)
{
	u32 group = (ino - 1) / fs->geo.inodes_per_group;
	u32 bit = (ino - 1) % fs->geo.inodes_per_group;
	struct ext2_group_desc *d = ext2_desc(fs, group);
	struct bblock b;

	mutex_lock(&fs->alloc_lock);
	if (bitmap_get(fs, group, &b))
		goto out;
	if (!test_bit(bit, b.data)) {
		bblock_put(&b);
		ext2_error(fs->sb, "inode %u is freed, but is free already", ino);
		goto out;
	}
	bitmap_clear(b.data, bit, 1);
	fs->group[group].inode_hint = min(fs->group[group].inode_hint, bit);
	d->bg_free_inodes_count++;
	atomic_long_inc(&fs->free_inodes);
	if (dir) {
		if (d->bg_used_dirs_count)
			d->bg_used_dirs_count--;
		atomic_long_dec(&fs->nr_dirs);
	}
	bblock_dirty(&b);
	ext2_desc_dirty(fs, group);
	bblock_put(&b);
out:
	mutex_unlock(&fs->alloc_lock);
}

void ext2_free_inode(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);

	if (inode->ino < fs->geo.first_ino) {
		ext2_error(inode->sb, "reserved inode %llu would be freed",
			   (unsigned long long)inode->ino);
		return;
	}
	give_back(fs, inode->ino, S_ISDIR(inode->mode));
}

static void init_owner(struct ext2_fs *fs, struct inode *inode, struct inode *dir)
{
	inode_init_owner(inode, dir);
	if (fs->grpid)
		inode->gid = dir->gid;
}

struct inode *ext2_new_inode(struct inode *dir, umode_t mode, dev_t dev)
{
	struct ext2_fs *fs = ext2_fs(dir->sb);
	struct inode *inode;
	struct ext2_info *info;
	s64 ino;
	int err;

	if (ext2_read_only(fs))
		return ERR_PTR(-EROFS);
	ino = take_inode(fs, dir, S_ISDIR(mode));
	if (ino < 0)
		return ERR_PTR(ino);
	inode = inode_new(dir->sb, mode);
	if (!inode || ext2_info_init(inode)) {
		err = -ENOMEM;
		goto fail;
	}
	info = ext2_info(inode);
	inode->ino = ino;
	inode->rdev = dev;
	init_owner(fs, inode, dir);
	info->group = (ino - 1) / fs->geo.inodes_per_group;
	info->fresh = true;
	info->flags = ext2_info(dir)->flags & EXT2_INHERITED_FL;
	if (!S_ISDIR(mode))
		info->flags &= ~EXT2_DIRSYNC_FL;
	info->generation = fs->next_generation++;
	ext2_inode_ops(inode);
	err = inode_hash_insert(inode);
	if (!err)
		return inode;
	ext2_error(dir->sb, "inode %llu is free in the bitmap, but in use",
		   (unsigned long long)ino);
	err = -EIO;
fail:
	give_back(fs, ino, S_ISDIR(mode));
	if (inode) {
		inode->nlink = 1; /* nothing of it is on the disk */
		inode_put(inode);
	}
	return ERR_PTR(err);
}
