// SPDX-License-Identifier: BSD-2-Clause
/*
 * namei.c - names of ext2: looking up, making, removing, moving.
 *
 * The VFS has locked the directories and checked rights; here entries, link counts and inodes are
 * kept in step. A new name is written when its inode is complete, an old one is taken away before
 * its inode loses the link, and a rename writes the new name before it removes the old: whatever
 * part of it a crash leaves behind, no name leads to nothing.
 *
 * A directory has one name. On a damaged disk it can have two, or contain itself, and the locks of
 * the VFS (an ancestor before a descendant) would wait for each other; so the first name found is
 * remembered (entry_pos) and ".." must lead back, else the lookup fails.
 */
#include "fs/ext2/internal.h"

/* Is this the directory's one name? 0 or -EUCLEAN */
static int check_only_name(struct inode *dir, struct inode *inode, u64 pos)
{
	struct ext2_info *info = ext2_info(inode);
	struct ext2_slot dotdot;
	u32 parent;
	int err;

	if (inode->ino == EXT2_ROOT_INO || inode == dir)
		return ext2_inode_error(dir, "an entry names directory %llu, which is above it",
					(unsigned long long)inode->ino);
	err = ext2_dir_dotdot(inode, &dotdot);
	if (err)
		return err;
	parent = dotdot.de->inode;
	ext2_slot_put(&dotdot);
	if (parent != dir->ino || (info->entry_pos && info->entry_pos != pos + 1))
		return ext2_inode_error(dir, "directory %llu has another name (its parent is %u)",
					(unsigned long long)inode->ino, parent);
	info->entry_pos = pos + 1;
	return 0;
}

static int lookup(struct inode *dir, struct dentry *d)
{
	struct ext2_slot slot;
	struct inode *inode;
	int err = ext2_dir_find(dir, d->name, d->len, &slot);
	u32 ino;
	u64 pos;

	if (err)
		return err == -ENOENT ? 0 : err;
	ino = slot.de->inode;
	pos = slot.pos;
	ext2_slot_put(&slot);
	inode = ext2_iget(dir->sb, ino);
	if (IS_ERR(inode))
		return PTR_ERR(inode);
	err = S_ISDIR(inode->mode) ? check_only_name(dir, inode, pos) : 0;
	if (err) {
		inode_put(inode);
		return err;
	}
	dentry_instantiate(d, inode);
	return 0;
}

/* mount -o sync, dirsync, and directories marked so: on the disk before the call returns. */
static int settle(struct inode *dir, struct inode *inode, int err)
{
	if (likely(!(dir->sb->flags & (MS_SYNCHRONOUS | MS_DIRSYNC)) &&
		   !(ext2_info(dir)->flags & (EXT2_SYNC_FL | EXT2_DIRSYNC_FL))))
		return err;
	if (err)
		return err;
	err = mapping_sync_range(&dir->data, 0, U64_MAX);
	if (!err)
		err = ext2_sync_inode(dir, 0);
	if (!err && inode)
		err = ext2_sync_inode(inode, 0);
	return err ? err : blk_flush(ext2_fs(dir->sb)->bdev->part);
}

/* Gives a complete new inode its name; without one it ends. */
static int add_name(struct inode *dir, struct dentry *d, struct inode *inode)
{
	u64 pos;
	int err = ext2_dir_add(dir, d->name, d->len, inode, &pos);

	if (err) {
		inode->nlink = 0;
		inode_put(inode);
		return err;
	}
	if (S_ISDIR(inode->mode)) {
		ext2_info(inode)->entry_pos = pos + 1;
		dir->nlink++;
	}
	ext2_mark(inode, EXT2_MAP);
	dentry_instantiate(d, inode);
	return settle(dir, inode, 0);
}

static int mknod(struct inode *dir, struct dentry *d, umode_t mode, dev_t dev)
{
	struct inode *inode = ext2_new_inode(dir, mode, dev);

	return IS_ERR(inode) ? PTR_ERR(inode) : add_name(dir, d, inode);
}

static int create(struct inode *dir, struct dentry *d, umode_t mode)
{
	return mknod(dir, d, mode, 0);
}

static int mkdir(struct inode *dir, struct dentry *d, umode_t mode)
{
	struct inode *inode;
	int err;

	if (dir->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	inode = ext2_new_inode(dir, mode, 0);
	if (IS_ERR(inode))
		return PTR_ERR(inode);
	inode->nlink = 2;
	err = ext2_dir_make(inode, dir->ino);
	if (err) {
		inode->nlink = 0;
		inode_put(inode);
		return err;
	}
	return add_name(dir, d, inode);
}

static int fill_link(struct inode *inode, const char *target, size_t len)
{
	struct ext2_info *info = ext2_info(inode);
	ssize_t done;

	inode->link = kstrdup(target, GFP_NOFS);
	if (!inode->link)
		return -ENOMEM;
	if (len < sizeof(info->data)) {
		memcpy(info->data, target, len);
		inode->data.size = len;
		return 0;
	}
	done = pagecache_write_kernel(&inode->data, 0, target, len);
	return done < 0 ? done : (size_t)done < len ? -ENOSPC : 0;
}

static int symlink(struct inode *dir, struct dentry *d, const char *target)
{
	size_t len = strlen(target);
	struct inode *inode;
	int err;

	if (len >= ext2_fs(dir->sb)->geo.block_size)
		return -ENAMETOOLONG;
	inode = ext2_new_inode(dir, S_IFLNK | 0777, 0);
	if (IS_ERR(inode))
		return PTR_ERR(inode);
	err = fill_link(inode, target, len);
	if (err) {
		inode->nlink = 0;
		inode_put(inode);
		return err;
	}
	return add_name(dir, d, inode);
}

static int link(struct inode *inode, struct inode *dir, struct dentry *d)
{
	int err;

	if (inode->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	if (ext2_read_only(ext2_fs(dir->sb)))
		return -EROFS;
	err = ext2_dir_add(dir, d->name, d->len, inode, NULL);
	if (err)
		return err;
	inode->nlink++;
	inode_touch(inode, ATTR_CTIME);
	ext2_mark(inode, EXT2_ATTR);
	inode_get(inode);
	dentry_instantiate(d, inode);
	return settle(dir, inode, 0);
}

/* A name of inode is gone (two links of a directory: its name and its "."). */
static void drop_link(struct inode *inode)
{
	if (S_ISDIR(inode->mode))
		inode->nlink = 0;
	else if (inode->nlink)
		inode->nlink--;
	else
		ext2_inode_error(inode, "more names than i_links_count");
	inode_touch(inode, ATTR_CTIME);
	ext2_mark(inode, EXT2_ATTR);
}

static void drop_parent_link(struct inode *dir)
{
	if (dir->nlink > 2)
		dir->nlink--;
	ext2_mark(dir, EXT2_ATTR);
}

/* The entry of d in dir, which must still name its inode. */
static int find_entry(struct inode *dir, const struct dentry *d, struct ext2_slot *slot)
{
	int err = ext2_dir_find(dir, d->name, d->len, slot);

	if (!err && slot->de->inode != d->inode->ino) {
		ext2_slot_put(slot);
		err = -EUCLEAN;
	}
	return err;
}

static int unlink(struct inode *dir, struct dentry *d)
{
	struct ext2_slot slot;
	int err;

	if (ext2_read_only(ext2_fs(dir->sb)))
		return -EROFS;
	err = find_entry(dir, d, &slot);
	if (err)
		return err;
	ext2_dir_remove(dir, &slot);
	ext2_slot_put(&slot);
	drop_link(d->inode);
	return settle(dir, NULL, 0);
}

static int rmdir(struct inode *dir, struct dentry *d)
{
	int err = ext2_dir_empty(d->inode);

	if (err < 0)
		return err;
	if (!err)
		return -ENOTEMPTY;
	err = unlink(dir, d);
	if (!err)
		drop_parent_link(dir);
	return err;
}

/* ---- rename ---- */

/* The moved directory's ".." now leads to parent. */
static int set_dotdot(struct inode *inode, struct inode *parent)
{
	struct ext2_slot slot;
	int err = ext2_dir_dotdot(inode, &slot);

	if (err)
		return err;
	ext2_dir_set(inode, &slot, parent);
	ext2_slot_put(&slot);
	return 0;
}

static void remember_place(struct inode *inode, u64 pos)
{
	if (S_ISDIR(inode->mode))
		ext2_info(inode)->entry_pos = pos + 1;
}

static int exchange(struct inode *od, struct dentry *o, struct inode *nd, struct dentry *n)
{
	struct inode *a = o->inode, *b = n->inode;
	struct ext2_slot sa, sb;
	int err = find_entry(od, o, &sa);

	if (err)
		return err;
	err = find_entry(nd, n, &sb);
	if (!err) {
		ext2_dir_set(nd, &sb, a);
		ext2_dir_set(od, &sa, b);
		remember_place(a, sb.pos);
		remember_place(b, sa.pos);
		ext2_slot_put(&sb);
	}
	ext2_slot_put(&sa);
	if (err || od == nd)
		return err;
	if (S_ISDIR(a->mode)) {
		err = set_dotdot(a, nd);
		nd->nlink++;
		drop_parent_link(od);
	}
	if (S_ISDIR(b->mode)) {
		int e = set_dotdot(b, od);

		err = err ? err : e;
		od->nlink++;
		drop_parent_link(nd);
	}
	return err;
}

/* Puts inode under the name n of nd, in the place of another or as a new entry. */
static int place(struct inode *nd, struct dentry *n, struct inode *inode, u64 *pos)
{
	bool isdir = S_ISDIR(inode->mode);
	struct ext2_slot slot;
	int err;

	if (!n->inode)
		return ext2_dir_add(nd, n->name, n->len, inode, pos);
	if (isdir) {
		err = ext2_dir_empty(n->inode);
		if (err <= 0)
			return err ? err : -ENOTEMPTY;
	}
	err = find_entry(nd, n, &slot);
	if (err)
		return err;
	*pos = slot.pos;
	ext2_dir_set(nd, &slot, inode);
	ext2_slot_put(&slot);
	drop_link(n->inode);
	if (isdir)
		drop_parent_link(nd);
	return 0;
}

static int rename(struct inode *od, struct dentry *o, struct inode *nd, struct dentry *n,
		  unsigned int flags)
{
	struct inode *inode = o->inode;
	bool moves = S_ISDIR(inode->mode) && od != nd;
	struct ext2_slot slot;
	int err;
	u64 pos;

	if (ext2_read_only(ext2_fs(od->sb)))
		return -EROFS;
	if (flags & RENAME_EXCHANGE)
		return settle(nd, inode, exchange(od, o, nd, n));
	if (moves && !n->inode && nd->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	err = find_entry(od, o, &slot); /* an entry does not move when others come */
	if (err)
		return err;
	err = place(nd, n, inode, &pos);
	if (!err) {
		ext2_dir_remove(od, &slot);
		remember_place(inode, pos);
		inode_touch(inode, ATTR_CTIME);
		ext2_mark(inode, EXT2_ATTR);
		if (moves) {
			err = set_dotdot(inode, nd);
			nd->nlink++;
			drop_parent_link(od);
			ext2_mark(nd, EXT2_ATTR);
		}
	}
	ext2_slot_put(&slot);
	if (!err && od != nd)
		err = settle(nd, inode, 0);
	return settle(od, NULL, err);
}

/* The text of a long link, which lies in a block. */
static ssize_t readlink(struct dentry *d, char *buf, size_t n)
{
	struct inode *inode = d->inode;
	u64 size = inode->data.size;
	ssize_t done = pagecache_read_kernel(&inode->data, 0, buf, min_t(u64, n, size));

	if (done > 0 && strnlen(buf, done) != (size_t)done)
		return ext2_inode_error(inode, "a NUL in the text of a symbolic link");
	return done;
}

const struct inode_ops ext2_dir_iops = {
	.lookup = lookup,
	.create = create,
	.mkdir = mkdir,
	.mknod = mknod,
	.symlink = symlink,
	.link = link,
	.unlink = unlink,
	.rmdir = rmdir,
	.rename = rename,
	.setattr = ext2_setattr,
	.getattr = ext2_getattr,
};
const struct inode_ops ext2_file_iops = { .setattr = ext2_setattr, .getattr = ext2_getattr };
const struct inode_ops ext2_link_iops = { .readlink = readlink,
					  .setattr = ext2_setattr,
					  .getattr = ext2_getattr };
const struct inode_ops ext2_special_iops = { .setattr = ext2_setattr, .getattr = ext2_getattr };
