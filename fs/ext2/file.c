// SPDX-License-Identifier: BSD-2-Clause
/*
 * file.c - open files and directories of ext2: what the generic code of fs/io.c leaves over.
 *
 * fsync makes promises, so its order matters: data pages first, then the indirect blocks that lead
 * to them, then the inode's record, then the device's own cache is told to make all of it safe. A
 * directory is synced in the same way: its pages are its data. Bitmaps and counts are not waited
 * for: a check of the file system derives them.
 *
 * Holes are punched as in other file systems; space is not reserved ahead (fallocate without
 * PUNCH_HOLE is not supported), since ext2 has no way to mark a block as unwritten.
 */
#include "fs/ext2/internal.h"

static int do_fsync(struct file *f, int datasync)
{
	struct inode *inode = f->inode;
	int err = generic_file_fsync(f, datasync);
	int meta = ext2_sync_inode(inode, datasync), safe, told;

	safe = blk_flush(ext2_fs(inode->sb)->bdev->part);
	told = file_wb_error(f);
	return told ? told : err ? err : meta ? meta : safe;
}

static s64 do_llseek(struct file *f, s64 off, int whence)
{
	struct inode *inode = f->inode;
	u64 size = READ_ONCE(inode->data.size), found;
	s64 pos;
	int err;

	switch (whence) {
	case SEEK_SET:
		pos = off;
		break;
	case SEEK_CUR:
		if (__builtin_add_overflow((s64)f->pos, off, &pos))
			return -EOVERFLOW;
		break;
	case SEEK_END:
		if (__builtin_add_overflow((s64)size, off, &pos))
			return -EOVERFLOW;
		break;
	case SEEK_DATA:
	case SEEK_HOLE:
		if (off < 0 || (u64)off >= size)
			return -ENXIO;
		err = mpage_seek(&ext2_fs(inode->sb)->mpage, &inode->data, off, whence == SEEK_HOLE,
				 &found);
		if (err)
			return err;
		if (whence == SEEK_DATA && found >= size)
			return -ENXIO;
		pos = found;
		break;
	default:
		return -EINVAL;
	}
	if (pos < 0 || (u64)pos > ext2_fs(inode->sb)->geo.max_size)
		return -EINVAL;
	f->pos = pos;
	return pos;
}

static int punch_hole(struct inode *inode, u64 from, u64 to)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	struct mapping *m = &inode->data;
	u32 bits = fs->geo.block_bits;
	u64 first = (from + (1u << bits) - 1) >> bits, last = to >> bits;
	int err;

	if (ext2_read_only(fs))
		return -EROFS;
	if (from >= m->size)
		return 0;
	if (to >= m->size) { /* the block of the end goes as a whole */
		to = m->size;
		last = (to + (1u << bits) - 1) >> bits;
	}
	down_write(&m->truncate_lock);
	pagecache_punch_locked(m, from, to);
	err = ext2_cut(inode, first, last);
	up_write(&m->truncate_lock);
	inode_touch(inode, ATTR_MTIME | ATTR_CTIME);
	ext2_mark(inode, EXT2_MAP);
	return err;
}

static int do_fallocate(struct file *f, int mode, u64 off, u64 len)
{
	struct inode *inode = f->inode;
	int err;

	if (mode != (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE))
		return -EOPNOTSUPP;
	inode_lock(inode);
	err = inode->flags & INODE_SWAPFILE ? -ETXTBSY : punch_hole(inode, off, off + len);
	inode_unlock(inode);
	return err;
}

/* The last writer goes: what was set aside for the file is free for others again. */
static void do_release(struct file *f)
{
	struct inode *inode = f->inode;
	struct ext2_info *info = ext2_info(inode);
	u32 bits = ext2_fs(inode->sb)->geo.block_bits;

	if (!f->wrote || atomic_read(&inode->writers) != 1)
		return;
	ext2_drop_window(inode);
	if (unlikely(READ_ONCE(info->high) > (READ_ONCE(inode->data.size) + (1u << bits) - 1) >>
		     bits)) {
		inode_lock(inode);
		ext2_cut_beyond_end(inode);
		inode_unlock(inode);
	}
}

const struct file_ops ext2_file_fops = {
	.release = do_release,
	.read = cached_read,
	.write = cached_write,
	.llseek = do_llseek,
	.mmap = cached_mmap,
	.fsync = do_fsync,
	.fallocate = do_fallocate,
	.direct = true,
};

/* A position in a directory is a byte offset; any may be asked for, so it is looked at afresh. */
static s64 dir_llseek(struct file *f, s64 off, int whence)
{
	if (whence == SEEK_CUR)
		off += f->pos;
	else if (whence == SEEK_END)
		off += f->inode->data.size;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (off < 0)
		return -EINVAL;
	f->pos = off;
	f->version = 0;
	return off;
}

const struct file_ops ext2_dir_fops = {
	.iterate = ext2_dir_iterate,
	.llseek = dir_llseek,
	.fsync = do_fsync,
};
