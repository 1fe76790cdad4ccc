// SPDX-License-Identifier: BSD-2-Clause
/*
 * io.c - reading, writing, seeking and sizing of open files; the operations of files whose pages
 * are in a mapping.
 *
 * Writers of one file take inode->lock, so writes are whole and O_APPEND finds the end; readers
 * take no lock (the page cache has its own rules). Size changes set mapping->size first and then
 * drop the pages.
 */
#include "fs/internal.h"
#include "sched/sched.h"

#define RW_MAX 0x7ffff000u /* as Linux: longer requests are cut */

ssize_t vfs_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	if (unlikely(!file_can_read(f)))
		return -EBADF;
	if (unlikely(!f->ops->read))
		return S_ISDIR(f->inode->mode) ? -EISDIR : -EINVAL;
	if (unlikely(n > RW_MAX)) {
		if ((ssize_t)n < 0)
			return -EINVAL;
		n = RW_MAX;
	}
	return f->ops->read(f, buf, n, pos);
}

ssize_t vfs_write(struct file *f, const void __user *buf, size_t n, u64 *pos)
{
	if (unlikely(!file_can_write(f)))
		return -EBADF;
	if (unlikely(!f->ops->write))
		return -EINVAL;
	if (unlikely(n > RW_MAX)) {
		if ((ssize_t)n < 0)
			return -EINVAL;
		n = RW_MAX;
	}
	return f->ops->write(f, buf, n, pos);
}

ssize_t vfs_read_kernel(struct file *f, void *buf, size_t n, u64 pos)
{
	if (!f->inode->mapping)
		return -EINVAL;
	return pagecache_read_kernel(f->inode->mapping, pos, buf, n);
}

s64 file_no_seek(struct file *f, s64 off, int whence)
{
	return -ESPIPE;
}

static s64 seek_by_size(struct file *f, s64 off, int whence)
{
	struct mapping *m = f->inode->mapping;
	s64 size = m ? (s64)READ_ONCE(m->size) : 0, pos;

	switch (whence) {
	case SEEK_SET:
		pos = off;
		break;
	case SEEK_CUR:
		if (off == 0)
			return f->pos;
		if (__builtin_add_overflow((s64)f->pos, off, &pos))
			return -EOVERFLOW;
		break;
	case SEEK_END:
		if (S_ISDIR(f->inode->mode))
			return -EINVAL;
		if (__builtin_add_overflow(size, off, &pos))
			return -EOVERFLOW;
		break;
	case SEEK_DATA:
	case SEEK_HOLE:
		if (!m)
			return -EINVAL;
		if (off < 0 || off >= size)
			return -ENXIO;
		pos = pagecache_seek(m, off, whence == SEEK_HOLE);
		if (pos >= size) {
			if (whence == SEEK_DATA)
				return -ENXIO;
			pos = size;
		}
		break;
	default:
		return -EINVAL;
	}
	if (pos < 0)
		return -EINVAL;
	f->pos = pos;
	return pos;
}

/* => the caller holds pos_lock when the file is shared */
s64 vfs_llseek(struct file *f, s64 off, int whence)
{
	if (f->flags & O_PATH)
		return -EBADF;
	if (f->ops->llseek)
		return f->ops->llseek(f, off, whence);
	return seek_by_size(f, off, whence);
}

static int set_size(struct inode *inode, u64 size)
{
	struct mapping *m = inode->mapping;
	u64 old = m->size;

	WRITE_ONCE(m->size, size);
	if (size < old)
		pagecache_truncate(m, size);
	inode_touch(inode, ATTR_MTIME | ATTR_CTIME);
	return 0;
}

int vfs_truncate(struct inode *inode, u64 size)
{
	struct kstat attr = { .size = size };
	int err;

	if (S_ISDIR(inode->mode))
		return -EISDIR;
	if (!S_ISREG(inode->mode) || !inode->mapping)
		return inode->fops && S_ISREG(inode->mode)
			       ? 0
			       : -EINVAL; /* procfs: nothing to cut off */
	if ((s64)size < 0)
		return -EINVAL;
	inode_lock(inode);
	err = inode->ops && inode->ops->setattr ? inode->ops->setattr(inode, &attr, ATTR_SIZE)
						: set_size(inode, size);
	inode_unlock(inode);
	return err;
}

int vfs_fallocate(struct file *f, int mode, u64 off, u64 len)
{
	if ((s64)off < 0 || (s64)len <= 0)
		return -EINVAL;
	if (!file_can_write(f))
		return -EBADF;
	if (S_ISFIFO(f->inode->mode))
		return -ESPIPE;
	if (S_ISDIR(f->inode->mode))
		return -EISDIR;
	if (!S_ISREG(f->inode->mode))
		return -ENODEV;
	if ((s64)(off + len) < 0)
		return -EFBIG;
	return f->ops->fallocate ? f->ops->fallocate(f, mode, off, len) : -EOPNOTSUPP;
}

int vfs_fsync(struct file *f, int datasync)
{
	if (f->flags & O_PATH)
		return -EBADF;
	if (f->ops->fsync)
		return f->ops->fsync(f, datasync);
	return S_ISREG(f->inode->mode) || S_ISDIR(f->inode->mode) || S_ISBLK(f->inode->mode)
		       ? 0
		       : -EINVAL;
}

ssize_t cached_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	ssize_t ret = pagecache_read(inode->mapping, *pos, buf, n);

	if (likely(ret > 0)) {
		*pos += ret;
		if (!(f->flags & O_NOATIME))
			inode_touch_atime(inode);
	}
	return ret;
}

/* A write by somebody else than root takes set-id bits away. */
static noinline void strip_setid(struct inode *inode)
{
	struct fs_cred cred;

	current_fs_cred(&cred, 0);
	if (cred.uid)
		inode->mode &= ~(S_ISUID | (inode->mode & 0010 ? S_ISGID : 0));
}

ssize_t cached_write(struct file *f, const void __user *buf, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	ssize_t ret;

	inode_lock(inode);
	if (unlikely(f->flags & O_APPEND))
		*pos = inode->mapping->size;
	if (unlikely((s64)*pos < 0 || *pos + n > S64_MAX)) {
		ret = -EFBIG;
	} else {
		ret = pagecache_write(inode->mapping, *pos, buf, n);
		if (likely(ret > 0)) {
			*pos += ret;
			if (unlikely(inode->mode & (S_ISUID | S_ISGID)))
				strip_setid(inode);
			inode_update_mtime(inode);
		}
	}
	inode_unlock(inode);
	if (unlikely(ret > 0 && (f->flags & O_DSYNC)) && f->ops->fsync) {
		int err = f->ops->fsync(f, 1);

		if (err)
			ret = err;
	}
	return ret;
}

ssize_t vfs_write_kernel(struct file *f, const void *buf, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	ssize_t ret;

	if (!inode->mapping || (s64)*pos < 0 || *pos + n > S64_MAX)
		return -EINVAL;
	inode_lock(inode);
	ret = pagecache_write_kernel(inode->mapping, *pos, buf, n);
	if (ret > 0) {
		*pos += ret;
		inode_update_mtime(inode);
	}
	inode_unlock(inode);
	return ret;
}

struct mapping *cached_mmap(struct file *f, unsigned long vm_flags)
{
	if (!(f->flags & O_NOATIME))
		inode_touch_atime(f->inode);
	return f->inode->mapping;
}

int cached_fsync(struct file *f, int datasync)
{
	return 0; /* memory is the home of these pages; file systems with a disk bring their own */
}

const struct file_ops pagecache_file_ops = {
	.read = cached_read,
	.write = cached_write,
	.mmap = cached_mmap,
	.fsync = cached_fsync,
};

bool dir_emit_dots(struct file *f, struct dir_context *ctx)
{
	if (ctx->pos == 0) {
		if (!ctx->emit(ctx, ".", 1, f->inode->ino, DT_DIR))
			return false;
		ctx->pos = 1;
	}
	if (ctx->pos == 1) {
		struct dentry *parent = dentry_parent_get(f->path.dentry);
		bool ok = ctx->emit(ctx, "..", 2, parent->inode->ino, DT_DIR);

		dentry_put(parent);
		if (!ok)
			return false;
		ctx->pos = 2;
	}
	return true;
}
