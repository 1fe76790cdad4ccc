// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls_file.c - the system calls on open files that move data: read, write and their vector and
 * positional forms, seeking, copying between files.
 *
 * The file position is used in place (f->pos); it is locked only when the file is shared, and only
 * for files that have one. A descriptor looked up in a table of one's own takes no reference.
 */
#include "arch/uaccess.h"
#include "lib/err.h"
#include "mm/kmem/slab.h"
#include "sched/sched.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/syscall.h"

#define IOV_MAX 1024
#define IOV_FAST 8
#define COPY_CHUNK 65536ul
#define RWF_HIPRI 0x01 /* a hint: nobody polls here */
#define RWF_DSYNC 0x02
#define RWF_SYNC 0x04
#define RWF_NOWAIT 0x08
#define RWF_APPEND 0x10
#define RWF_SUPPORTED 0x1f

static inline void account_read(ssize_t n)
{
	struct process *p = current_proc;

	p->read_calls++;
	if (n > 0)
		p->read_chars += n;
}
static inline void account_write(ssize_t n)
{
	struct process *p = current_proc;

	p->write_calls++;
	if (n > 0)
		p->write_chars += n;
}

SYSCALL(read)
{
	struct fd fd = fd_get(a0);
	struct file *f = fd.file;
	ssize_t ret;
	bool locked;

	if (unlikely(!f))
		return -EBADF;
	locked = file_pos_lock(f);
	ret = vfs_read(f, (void __user *)a1, a2, &f->pos);
	file_pos_unlock(f, locked);
	account_read(ret);
	fd_put(fd);
	return ret;
}

SYSCALL(write)
{
	struct fd fd = fd_get(a0);
	struct file *f = fd.file;
	ssize_t ret;
	bool locked;

	if (unlikely(!f))
		return -EBADF;
	locked = file_pos_lock(f);
	ret = vfs_write(f, (const void __user *)a1, a2, &f->pos);
	file_pos_unlock(f, locked);
	account_write(ret);
	fd_put(fd);
	return ret;
}

static bool has_no_position(const struct file *f)
{
	return f->ops->llseek == file_no_seek || S_ISFIFO(f->inode->mode) ||
	       S_ISSOCK(f->inode->mode);
}

SYSCALL(pread64)
{
	struct fd fd = fd_get(a0);
	u64 pos = a3;
	ssize_t ret;

	if (!fd.file)
		return -EBADF;
	if ((s64)pos < 0)
		ret = -EINVAL;
	else
		ret = has_no_position(fd.file) ? -ESPIPE
					       : vfs_read(fd.file, (void __user *)a1, a2, &pos);
	account_read(ret);
	fd_put(fd);
	return ret;
}

SYSCALL(pwrite64)
{
	struct fd fd = fd_get(a0);
	u64 pos = a3;
	ssize_t ret;

	if (!fd.file)
		return -EBADF;
	if ((s64)pos < 0)
		ret = -EINVAL;
	else
		ret = has_no_position(fd.file)
			      ? -ESPIPE
			      : vfs_write(fd.file, (const void __user *)a1, a2, &pos);
	account_write(ret);
	fd_put(fd);
	return ret;
}

struct iovec {
	u64 base, len;
};
struct vector { /* a user's iovec array in kernel memory */
	struct iovec fast[IOV_FAST];
	struct iovec *v;
	u32 n;
};

static int vector_get(struct vector *vec, u64 user, u64 n)
{
	u64 total = 0;

	vec->v = vec->fast;
	vec->n = n;
	if (n > IOV_MAX)
		return -EINVAL;
	if (n > IOV_FAST) {
		vec->v = kmalloc(n * sizeof(*vec->v), GFP_KERNEL);
		if (!vec->v)
			return -ENOMEM;
	}
	if (copy_from_user(vec->v, (void __user *)user, n * sizeof(*vec->v))) {
		if (vec->v != vec->fast)
			kfree(vec->v);
		return -EFAULT;
	}
	for (u32 i = 0; i < n; i++) {
		if ((s64)vec->v[i].len < 0 ||
		    __builtin_add_overflow(total, vec->v[i].len, &total) || (s64)total < 0) {
			if (vec->v != vec->fast)
				kfree(vec->v);
			return -EINVAL;
		}
	}
	return 0;
}

static void vector_put(struct vector *vec)
{
	if (vec->v != vec->fast)
		kfree(vec->v);
}

static ssize_t vector_io(struct file *f, struct vector *vec, u64 *pos, bool writes)
{
	ssize_t done = 0;

	for (u32 i = 0; i < vec->n; i++) {
		struct iovec *v = &vec->v[i];
		ssize_t ret;

		if (!v->len && (i + 1 < vec->n || done))
			continue;
		ret = writes ? vfs_write(f, (const void __user *)v->base, v->len, pos)
			     : vfs_read(f, (void __user *)v->base, v->len, pos);
		if (ret < 0)
			return done ? done : ret;
		done += ret;
		if ((u64)ret < v->len)
			break;
	}
	return done;
}

/*
 * RWF_NOWAIT of a read: as many bytes as lie in the cache without a gap. => -EAGAIN: none; files
 * without pages in a cache cannot tell (-EOPNOTSUPP)
 */
static ssize_t cached_bytes(struct file *f, u64 pos, u64 want)
{
	struct mapping *m = f->mapping;
	u64 size, have = 0;

	if (!m)
		return -EOPNOTSUPP;
	size = READ_ONCE(m->size);
	if (pos >= size || !want)
		return 0;
	want = min(want, size - pos);
	while (have < want) {
		struct page *page = pagecache_find(m, (pos + have) >> PAGE_SHIFT);
		bool there = page ? page_test(page, PG_uptodate)
				  : (m->flags & MAPF_SHMEM) && !READ_ONCE(m->nr_values);

		if (page)
			page_put(page);
		if (!there)
			break;
		have += PAGE_SIZE - offset_in_page(pos + have);
	}
	return have ? (ssize_t)min(have, want) : -EAGAIN;
}

/* What preadv2 and pwritev2 ask for beside the transfer. => 0 or -errno; vec may become shorter */
static ssize_t rwf_before(struct file *f, struct vector *vec, u64 *pos, bool writes, u32 rwf)
{
	u64 total = 0, left;
	ssize_t ret;

	if (!(rwf & RWF_NOWAIT))
		return 0;
	if (writes)
		return -EOPNOTSUPP;
	for (u32 i = 0; i < vec->n; i++)
		total += vec->v[i].len;
	ret = cached_bytes(f, *pos, total);
	if (ret < 0)
		return ret;
	left = ret;
	for (u32 i = 0; i < vec->n; i++) {
		vec->v[i].len = min(vec->v[i].len, left);
		left -= vec->v[i].len;
	}
	return 0;
}

static ssize_t rwf_after(struct file *f, ssize_t ret, bool writes, u32 rwf)
{
	if (writes && ret > 0 && (rwf & (RWF_SYNC | RWF_DSYNC)) &&
	    (f->flags & O_DSYNC) != O_DSYNC) {
		int err = vfs_fsync(f, !(rwf & RWF_SYNC));

		if (err)
			return err;
	}
	return ret;
}

/* pos NULL: the file's own position. */
static ssize_t do_vector_flags(int n, u64 user, u64 count, u64 *pos, bool writes, u32 rwf)
{
	struct fd fd = fd_get(n);
	struct vector vec;
	ssize_t ret;

	if (!fd.file)
		return -EBADF;
	if (pos && (s64)*pos < 0)
		ret = -EINVAL;
	else if (pos && has_no_position(fd.file))
		ret = -ESPIPE;
	else if (writes ? !file_can_write(fd.file) : !file_can_read(fd.file))
		ret = -EBADF;
	else
		ret = vector_get(&vec, user, count);
	if (!ret) {
		bool locked = !pos && file_pos_lock(fd.file);
		u64 *at = pos ? pos : &fd.file->pos, end = POS_APPEND;

		if (unlikely(rwf))
			ret = rwf_before(fd.file, &vec, at, writes, rwf);
		if (!ret)
			ret = vector_io(fd.file, &vec, rwf & RWF_APPEND ? &end : at, writes);
		if (ret > 0 && (rwf & RWF_APPEND) && !pos)
			*at = end;
		file_pos_unlock(fd.file, locked);
		vector_put(&vec);
		if (unlikely(rwf))
			ret = rwf_after(fd.file, ret, writes, rwf);
	}
	if (writes)
		account_write(ret);
	else
		account_read(ret);
	fd_put(fd);
	return ret;
}

static ssize_t do_vector(int n, u64 user, u64 count, u64 *pos, bool writes)
{
	return do_vector_flags(n, user, count, pos, writes, 0);
}

SYSCALL(readv)
{
	return do_vector(a0, a1, a2, NULL, false);
}

SYSCALL(writev)
{
	return do_vector(a0, a1, a2, NULL, true);
}

SYSCALL(preadv)
{
	u64 pos = a3;

	return do_vector(a0, a1, a2, &pos, false);
}

SYSCALL(pwritev)
{
	u64 pos = a3;

	return do_vector(a0, a1, a2, &pos, true);
}

/* Position -1: the file's own. */
SYSCALL(preadv2)
{
	u64 pos = a3;

	if (a5 & ~(RWF_SUPPORTED & ~RWF_APPEND))
		return -EOPNOTSUPP;
	return do_vector_flags(a0, a1, a2, pos == ~0ull ? NULL : &pos, false, a5);
}

SYSCALL(pwritev2)
{
	u64 pos = a3;
	u32 rwf = a5;

	if (a5 & ~RWF_SUPPORTED)
		return -EOPNOTSUPP;
	if (rwf & RWF_APPEND) { /* only files with a size know where that is */
		struct fd fd = fd_get(a0);

		if (!fd.file)
			return -EBADF;
		if (!S_ISREG(fd.file->inode->mode) || !fd.file->mapping)
			rwf &= ~RWF_APPEND;
		fd_put(fd);
	}
	return do_vector_flags(a0, a1, a2, pos == ~0ull ? NULL : &pos, true, rwf);
}

SYSCALL(lseek)
{
	struct fd fd = fd_get(a0);
	s64 ret;
	bool locked;

	if (!fd.file)
		return -EBADF;
	locked = file_pos_lock(fd.file);
	ret = vfs_llseek(fd.file, a1, (int)a2);
	file_pos_unlock(fd.file, locked);
	fd_put(fd);
	return ret;
}

/*
 * Copies between two files whose contents are in the page cache. => bytes or -errno; positions move
 */
static ssize_t copy_cached(struct file *in, u64 *ipos, struct file *out, u64 *opos, size_t n)
{
	char *buf = kmalloc(COPY_CHUNK, GFP_KERNEL);
	ssize_t done = 0, ret = 0;

	if (!buf)
		return -ENOMEM;
	while (n) {
		ret = pagecache_read_kernel(in->mapping, *ipos, buf, min(n, COPY_CHUNK));
		if (ret <= 0)
			break;
		ret = vfs_write_kernel(out, buf, ret, opos);
		if (ret <= 0)
			break;
		*ipos += ret;
		done += ret;
		n -= ret;
		if (fatal_signal_pending())
			break;
		cond_resched();
	}
	kfree(buf);
	return done ? done : ret;
}

static bool is_cached(const struct file *f)
{
	return S_ISREG(f->inode->mode) && f->mapping;
}

/* Optional user positions of copy_file_range: *pos the one to use. */
static int user_pos(u64 user, u64 *store, struct file *f, u64 **pos)
{
	*pos = &f->pos;
	if (!user)
		return 0;
	if (get_user_u64(store, (u64 __user *)user))
		return -EFAULT;
	*pos = store;
	return (s64)*store < 0 ? -EINVAL : 0;
}

static ssize_t do_copy_range(struct file *in, u64 in_user, struct file *out, u64 out_user, u64 n)
{
	u64 in_store, out_store, *ipos, *opos;
	ssize_t ret;

	if (S_ISDIR(in->inode->mode) || S_ISDIR(out->inode->mode))
		return -EISDIR;
	if (!is_cached(in) || !is_cached(out))
		return -EINVAL;
	if (!file_can_read(in) || !file_can_write(out) || (out->flags & O_APPEND))
		return -EBADF;
	ret = user_pos(in_user, &in_store, in, &ipos);
	if (!ret)
		ret = user_pos(out_user, &out_store, out, &opos);
	if (ret)
		return ret;
	n = min_t(u64, n, 0x7ffff000);
	if (in->inode == out->inode && *ipos < *opos + n && *opos < *ipos + n)
		return -EINVAL;
	ret = copy_cached(in, ipos, out, opos, n);
	if (ret > 0 && ((in_user && put_user_u64(in_store, (u64 __user *)in_user)) ||
			(out_user && put_user_u64(out_store, (u64 __user *)out_user))))
		ret = -EFAULT;
	return ret;
}

SYSCALL(copy_file_range)
{
	struct fd in = fd_get(a0), out = fd_get(a2);
	ssize_t ret;

	if (!in.file || !out.file)
		ret = -EBADF;
	else
		ret = a5 ? -EINVAL : do_copy_range(in.file, a1, out.file, a3, a4);
	if (in.file)
		fd_put(in);
	if (out.file)
		fd_put(out);
	return ret;
}
