// SPDX-License-Identifier: BSD-2-Clause
/*
 * io.c - reading, writing, seeking and sizing of open files; the operations of files whose pages
 * are in a mapping.
 *
 * Writers of one file take inode->lock, so writes are whole and O_APPEND finds the end; readers
 * take no lock (the page cache has its own rules). Size changes set mapping->size first and then
 * drop the pages.
 */
#include "fs/direct.h"
#include "fs/internal.h"
#include "mm/cache/writeback.h"
#include "mm/vm/aspace.h"
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
	if (!f->mapping)
		return -EINVAL;
	return pagecache_read_kernel(f->mapping, pos, buf, n);
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

	if (size < m->size) {
		WRITE_ONCE(m->size, size);
		pagecache_truncate(m, size);
	} else if (size > m->size) {
		pagecache_extend(m, size);
	}
	inode_touch(inode, ATTR_MTIME | ATTR_CTIME);
	return 0;
}

/*
 * How long a file of the caller may become (RLIMIT_FSIZE). Asked only once somebody has set such a
 * limit: fsize_limits. The hook is sys's, as is telling the process (SIGXFSZ).
 */
bool fsize_limits;
u64 (*current_fsize_limit)(void);
void (*fsize_exceeded)(void);

/* May a regular file be written at pos? => bytes of n that may, or -EFBIG */
static noinline ssize_t limit_write(u64 pos, size_t n)
{
	u64 limit = current_fsize_limit ? current_fsize_limit() : ~0ull;

	if (pos >= limit && n) {
		fsize_exceeded();
		return -EFBIG;
	}
	return min_t(u64, n, limit - pos);
}

static int limit_size(const struct inode *inode, u64 size)
{
	if (likely(!fsize_limits) || size <= inode->mapping->size)
		return 0;
	return limit_write(size - 1, 1) < 0 ? -EFBIG : 0;
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
	inode_dio_wait(inode);
	err = inode->flags & INODE_SWAPFILE ? -ETXTBSY : limit_size(inode, size);
	if (!err)
		err = inode->ops && inode->ops->setattr
			      ? inode->ops->setattr(inode, &attr, ATTR_SIZE)
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
	if (!S_ISREG(f->inode->mode) && !S_ISBLK(f->inode->mode))
		return -ENODEV;
	if ((s64)(off + len) < 0)
		return -EFBIG;
	if (f->inode->flags & INODE_SWAPFILE)
		return -ETXTBSY;
	if (unlikely(fsize_limits) && S_ISREG(f->inode->mode) && f->inode->mapping &&
	    !(mode & FALLOC_FL_KEEP_SIZE) && limit_size(f->inode, off + len))
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

int vfs_fsync_range(struct file *f, u64 from, u64 to, int datasync)
{
	return vfs_fsync(f, datasync);
}

int generic_file_fsync(struct file *f, int datasync)
{
	int err = mapping_sync_range(f->mapping, 0, U64_MAX);
	int owner = mapping_sync_owner(&f->inode->data, datasync);

	return err ?: owner;
}

int file_wb_error(struct file *f)
{
	static DEFINE_SPINLOCK(told, RANK_LEAF); /* two threads that fsync one file at once */
	int err;

	if (!f->mapping || likely(!errseq_check(&f->mapping->wb_err, READ_ONCE(f->wb_err))))
		return 0;
	spin_lock(&told);
	err = errseq_check_and_advance(&f->mapping->wb_err, &f->wb_err);
	spin_unlock(&told);
	return err;
}

int vfs_syncfs(struct file *f)
{
	int err;

	if (f->flags & O_PATH)
		return -EBADF;
	err = super_sync(f->inode->sb, 1);
	return err ?: file_wb_error(f);
}

#define SYNC_WAIT_BEFORE 1u
#define SYNC_WRITE 2u
#define SYNC_WAIT_AFTER 4u

int vfs_sync_file_range(struct file *f, u64 off, u64 len, unsigned int flags)
{
	struct mapping *m = f->mapping;
	u64 to = len ? off + len - 1 : U64_MAX;
	int err = 0;

	if (f->flags & O_PATH)
		return -EBADF;
	if ((s64)off < 0 || (s64)len < 0 || (s64)(off + len) < 0 || (flags & ~7u))
		return -EINVAL;
	if (!S_ISREG(f->inode->mode) && !S_ISBLK(f->inode->mode) && !S_ISDIR(f->inode->mode))
		return -ESPIPE;
	if (!m || !m->bdi)
		return 0;
	if (flags & SYNC_WAIT_BEFORE)
		mapping_wait_writeback(m, off, to);
	if (flags & SYNC_WRITE)
		err = mapping_start_writeback(m, off, to, WB_SYNC_NONE, WB_REASON_SYNC);
	if (flags & SYNC_WAIT_AFTER)
		mapping_wait_writeback(m, off, to);
	if (!err && (flags & (SYNC_WAIT_BEFORE | SYNC_WAIT_AFTER)))
		err = file_wb_error(f);
	return err;
}

/* After a read: the time, if anybody wants to know. */
static __always_inline void file_accessed(struct file *f)
{
	if (unlikely((f->flags & O_NOATIME) ||
		     ((f->path.mnt->flags | f->inode->sb->flags) & (MS_NOATIME | MS_RDONLY))))
		return;
	inode_touch_atime(f->inode);
}

ssize_t cached_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	ssize_t ret;

	if (unlikely(file_is_direct(f)))
		return file_direct_read(f, buf, n, pos);
	ret = pagecache_read_ra(f->mapping, &f->ra, *pos, buf, n);
	if (likely(ret > 0)) {
		*pos += ret;
		file_accessed(f);
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

/*
 * Where a write begins and how much of it may be done. => inode->lock held; bytes (n, or fewer), or
 * -EFBIG, -ETXTBSY
 */
static __always_inline ssize_t write_checks(struct file *f, size_t n, u64 *pos)
{
	if (unlikely(f->inode->flags & INODE_SWAPFILE))
		return -ETXTBSY;
	if (unlikely(f->flags & O_APPEND || *pos == POS_APPEND))
		*pos = f->mapping->size;
	if (unlikely((s64)*pos < 0 || *pos + n > S64_MAX))
		return -EFBIG;
	return unlikely(fsize_limits) ? limit_write(*pos, n) : (ssize_t)n;
}

/* After a write: set-id bits, times, and that there is a new size to be kept. */
static __always_inline void write_done(struct inode *inode, u64 old_size)
{
	if (unlikely(inode->mode & (S_ISUID | S_ISGID)))
		strip_setid(inode);
	inode_update_mtime(inode);
	if (inode->mapping->size != old_size)
		inode_mark_dirty(inode, MAPD_META | MAPD_DATASYNC);
}

/* O_SYNC, O_DSYNC, mount -o sync: ret bytes before pos to the medium. => ret or -errno */
static noinline ssize_t write_sync(struct file *f, ssize_t ret, u64 pos)
{
	int err = vfs_fsync_range(f, pos - ret, pos - 1, (f->flags & O_SYNC) != O_SYNC);

	return err ?: ret;
}

ssize_t cached_write(struct file *f, const void __user *buf, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	struct mapping *m = inode->mapping;
	ssize_t ret;

	if (unlikely(file_is_direct(f)))
		return file_direct_write(f, buf, n, pos);
	inode_lock(inode);
	ret = write_checks(f, n, pos);
	if (likely(ret >= 0)) {
		u64 old_size = m->size;

		ret = pagecache_write(m, *pos, buf, ret);
		if (likely(ret > 0)) {
			*pos += ret;
			write_done(inode, old_size);
		}
	}
	inode_unlock(inode);
	if (unlikely(ret > 0 && ((f->flags & O_DSYNC) | (inode->sb->flags & MS_SYNCHRONOUS))))
		ret = write_sync(f, ret, *pos);
	return ret;
}

/*
 * O_DIRECT: what the device takes as it is goes there; the rest (holes, blocks behind the end, an
 * unaligned tail of the file) goes through the cache and out of it again.
 */
static ssize_t direct_or_cached(struct file *f, const void __user *buf, size_t n, u64 pos)
{
	struct mapping *m = f->mapping;
	ssize_t done = 0, ret;
	u64 from;

	if ((pos | n | (unsigned long)buf) & (SECTOR_SIZE - 1))
		return -EINVAL;
	/* the sectors that lie within the file */
	if (pos < m->size)
		done = direct_io(m, pos, (void __user *)buf,
				 min_t(u64, n, (m->size - pos) & ~(SECTOR_SIZE - 1ul)), 1);
	if (done < 0 || done == (ssize_t)n)
		return done;
	from = pos + done;
	ret = pagecache_write(m, from, (const char __user *)buf + done, n - done);
	if (ret > 0) {
		int err = pagecache_invalidate_range(m, from, from + ret);

		if (err && err != -EBUSY)
			ret = err;
	}
	return ret < 0 ? (done ?: ret) : done + ret;
}

ssize_t file_direct_write(struct file *f, const void __user *buf, size_t n, u64 *pos)
{
	struct inode *owner = f->mapping->owner; /* of a block device: not the node */
	ssize_t ret;

	if (!S_ISREG(owner->mode)) { /* blocks that never move, a size that stays */
		ret = direct_or_cached(f, buf, n, *pos);
		if (ret > 0)
			*pos += ret;
		return ret;
	}
	inode_lock(owner);
	ret = write_checks(f, n, pos);
	if (ret > 0) {
		u64 old_size = f->mapping->size;

		ret = direct_or_cached(f, buf, ret, *pos);
		if (ret > 0) {
			*pos += ret;
			write_done(owner, old_size);
		}
	}
	inode_unlock(owner);
	if (ret > 0 && ((f->flags & O_DSYNC) | (owner->sb->flags & MS_SYNCHRONOUS)))
		ret = write_sync(f, ret, *pos);
	return ret;
}

ssize_t file_direct_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	struct inode *owner = f->mapping->owner;
	bool locks = S_ISREG(owner->mode);
	ssize_t ret;

	if (locks)
		inode_lock_shared(owner);
	ret = direct_io(f->mapping, *pos, buf, n, 0);
	if (locks)
		inode_unlock_shared(owner);
	if (ret > 0) {
		*pos += ret;
		if (S_ISREG(f->inode->mode))
			file_accessed(f);
	}
	return ret;
}

ssize_t vfs_write_kernel(struct file *f, const void *buf, size_t n, u64 *pos)
{
	struct mapping *m = f->mapping;
	struct inode *inode = m ? m->owner : NULL; /* of a block device: not the node */
	ssize_t ret = n;

	if (!m || (s64)*pos < 0 || *pos + n > S64_MAX)
		return -EINVAL;
	inode_lock(inode);
	if (S_ISREG(inode->mode))
		ret = write_checks(f, n, pos);
	else if (inode->flags & INODE_SWAPFILE)
		ret = -ETXTBSY;
	else if (*pos + n > m->size)
		ret = -ENOSPC;
	if (ret >= 0) {
		u64 old_size = m->size;

		ret = pagecache_write_kernel(m, *pos, buf, ret);
		if (ret > 0) {
			*pos += ret;
			if (S_ISREG(inode->mode))
				write_done(inode, old_size);
		}
	}
	inode_unlock(inode);
	return ret;
}

struct mapping *cached_mmap(struct file *f, unsigned long vm_flags)
{
	/* also where mprotect(2) could make it writable later */
	if (unlikely(((struct inode *)f->mapping->owner)->flags & INODE_SWAPFILE) &&
	    (vm_flags & VM_SHARED) && file_can_write(f))
		return ERR_PTR(-ETXTBSY);
	file_accessed(f);
	return f->mapping;
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
