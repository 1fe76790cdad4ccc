// SPDX-License-Identifier: BSD-2-Clause
/*
 * splice.c - moving bytes between files without the program's help: splice, tee, vmsplice,
 * sendfile.
 *
 * Linux moves references to pages where it can; here every byte is copied once (SPLICE_F_MOVE and
 * _GIFT are hints and change nothing). What remains is what programs rely on: which descriptors,
 * offsets and flags are allowed, how much is moved, where positions stand afterwards, and that no
 * byte is lost when the receiving side takes fewer than were there.
 *
 *   file -> pipe   the pages of the file are read straight into the pipe's pages (pipe_fill)
 *   pipe -> file   the file is written straight from the pipe's pages (pipe_peek)
 *   file -> file   sendfile: through a buffer of 64 KiB
 *
 * Files whose bytes do not lie in the page cache (terminals, sockets, /proc, devices) know only
 * user memory; for them the bytes go through a small anonymous mapping of the program that exists
 * for the time of the call.
 * Locking: none of its own; a pipe being emptied is marked (pipe_splice.c).
 */
#include "arch/uaccess.h"
#include "lib/err.h"
#include "mm/kmem/slab.h"
#include "sched/sched.h"
#include "sys/files.h"
#include "sys/pipe.h"
#include "sys/process.h"
#include "sys/syscall.h"

#define SPLICE_NONBLOCK 2u
#define SPLICE_ALL 15u /* MOVE, NONBLOCK, MORE, GIFT */
#define RW_MAX 0x7ffff000u
#define CHUNK 65536ul
#define IOV_MAX 1024u

/* One side of a copy that is a file, not a pipe. */
struct end {
	struct file *file;
	u64 *pos;
	u64 bounce; /* address of the mapping; 0: not made */
};

/* ---- files as kernel memory sees them ---- */

static bool in_cache(const struct file *f)
{
	return f->mapping && (S_ISREG(f->inode->mode) || S_ISBLK(f->inode->mode));
}

static int bounce_make(struct end *e)
{
	long addr;

	if (e->bounce)
		return 0;
	addr = vm_mmap(NULL, NULL, 0, CHUNK, 3 /* read, write */, 0x22 /* private, anonymous */, 0);
	if (addr < 0)
		return addr;
	e->bounce = addr;
	return 0;
}

static void bounce_drop(struct end *e)
{
	if (e->bounce)
		vm_munmap(e->bounce, CHUNK);
}

/* => bytes (0: the end) or -errno; the position moves */
static ssize_t end_read(struct end *e, char *to, size_t n)
{
	ssize_t ret;

	if (in_cache(e->file)) {
		ret = pagecache_read_kernel_ra(e->file->mapping, &e->file->ra, *e->pos, to, n);
		if (ret > 0)
			*e->pos += ret;
		return ret;
	}
	ret = bounce_make(e);
	if (ret)
		return ret;
	ret = vfs_read(e->file, (void __user *)e->bounce, min(n, CHUNK), e->pos);
	if (ret > 0 && copy_from_user(to, (const void __user *)e->bounce, ret))
		return -EFAULT;
	return ret;
}

static ssize_t end_write(struct end *e, const char *from, size_t n)
{
	int err;

	if (in_cache(e->file))
		return vfs_write_kernel(e->file, from, n, e->pos);
	err = bounce_make(e);
	if (err)
		return err;
	n = min(n, CHUNK);
	if (copy_to_user((void __user *)e->bounce, from, n))
		return -EFAULT;
	return vfs_write(e->file, (const void __user *)e->bounce, n, e->pos);
}

static ssize_t fill_from_file(void *arg, char *to, size_t n)
{
	return end_read(arg, to, n);
}

/* ---- pipe and file ---- */

static ssize_t file_to_pipe(struct end *in, struct file *pipe, size_t n, bool nonblock)
{
	ssize_t ret = pipe_wait_room(pipe, nonblock);

	if (ret || !n)
		return ret;
	if (in_cache(in->file))
		return pipe_fill(pipe, n, fill_from_file, in);
	/* What a device gave cannot be put back: never more than goes in at once. */
	ret = bounce_make(in);
	if (ret)
		return ret;
	ret = vfs_read(in->file, (void __user *)in->bounce, min(n, PAGE_SIZE), in->pos);
	if (ret > 0)
		ret = vfs_write(pipe, (const void __user *)in->bounce, ret, &pipe->pos);
	return ret;
}

/* Writes what the pipe holds, at most n bytes; waits only for the first. */
static ssize_t pipe_to_file(struct file *pipe, struct end *out, size_t n, bool nonblock)
{
	size_t done = 0, taken;
	ssize_t ret = 0;

	while (done < n) {
		const char *data;
		size_t some;

		ret = pipe_peek_begin(pipe, nonblock || done);
		if (ret <= 0)
			break;
		for (taken = 0; done + taken < n; taken += ret) {
			some = min(pipe_peek(pipe, taken, &data), n - done - taken);
			ret = some ? end_write(out, data, some) : 0;
			if (ret <= 0)
				break;
		}
		pipe_peek_end(pipe, taken);
		done += taken;
		if (ret < 0 || !taken || signal_pending())
			break;
	}
	return done ? (ssize_t)done : ret;
}

/* ---- pipe and pipe ---- */

struct peeked {
	struct file *pipe;
	size_t done;
};

static ssize_t fill_from_pipe(void *arg, char *to, size_t n)
{
	struct peeked *p = arg;
	const char *data;
	size_t some = pipe_peek(p->pipe, p->done, &data);

	some = min(some, n);
	if (some)
		__builtin_memcpy(to, data, some);
	p->done += some;
	return some;
}

/* take: splice, else tee. Waits for bytes, then for room, and moves what is there then. */
static ssize_t pipe_to_pipe(struct file *in, struct file *out, size_t n, bool nonblock, bool take)
{
	for (;;) {
		struct peeked p = { in, 0 };
		ssize_t ret = pipe_wait_room(out, nonblock);

		if (ret)
			return ret;
		ret = pipe_peek_begin(in, nonblock);
		if (ret <= 0)
			return ret;
		ret = pipe_fill(out, n, fill_from_pipe, &p);
		pipe_peek_end(in, take && ret > 0 ? ret : 0);
		if (ret)
			return ret;
		if (nonblock)
			return -EAGAIN;
	}
}

/* ---- splice, tee ---- */

/* An offset argument: NULL, or the program's, which the file must be able to follow. 0 or -errno */
static int offset_arg(u64 user, struct file *f, u64 *store, u64 **pos)
{
	*pos = &f->pos;
	if (!user)
		return 0;
	if (get_user_u64(store, (const u64 __user *)user))
		return -EFAULT;
	*pos = store;
	return 0;
}

static bool seekable(const struct file *f)
{
	return f->ops->llseek != file_no_seek && !S_ISFIFO(f->inode->mode) &&
	       !S_ISSOCK(f->inode->mode);
}

static ssize_t splice_file(struct file *file, u64 user, struct file *pipe, size_t n, bool nonblock,
			   bool to_pipe)
{
	struct end e = { .file = file };
	u64 store;
	bool locked;
	ssize_t ret = offset_arg(user, file, &store, &e.pos);

	if (ret)
		return ret;
	if (to_pipe ? !file_can_read(file) || !file_can_write(pipe)
		    : !file_can_write(file) || !file_can_read(pipe))
		return -EBADF;
	if (user && !seekable(file))
		return -EINVAL;
	if (user && (s64)store < 0)
		return -EINVAL;
	if (to_pipe ? !file->ops->read : !file->ops->write || (file->flags & O_APPEND))
		return -EINVAL;
	locked = !user && file_pos_lock(file);
	ret = to_pipe ? file_to_pipe(&e, pipe, n, nonblock) : pipe_to_file(pipe, &e, n, nonblock);
	file_pos_unlock(file, locked);
	bounce_drop(&e);
	if (ret > 0 && user && put_user_u64(store, (u64 __user *)user))
		return -EFAULT;
	return ret;
}

static ssize_t do_splice(struct file *in, u64 in_off, struct file *out, u64 out_off, size_t n,
			 u32 flags)
{
	bool ip = file_is_pipe(in), op = file_is_pipe(out), nonblock = flags & SPLICE_NONBLOCK;

	if ((ip && in_off) || (op && out_off))
		return -ESPIPE;
	if (ip && op) {
		if (!file_can_read(in) || !file_can_write(out))
			return -EBADF;
		if (in->private == out->private)
			return -EINVAL;
		nonblock |= ((in->flags | out->flags) & O_NONBLOCK) != 0;
		return pipe_to_pipe(in, out, n, nonblock, true);
	}
	if (ip)
		return splice_file(out, out_off, in, n, nonblock, false);
	if (op)
		return splice_file(in, in_off, out, n, nonblock || (out->flags & O_NONBLOCK), true);
	return !file_can_read(in) || !file_can_write(out) ? -EBADF : -EINVAL;
}

SYSCALL(splice)
{
	struct fd in, out;
	ssize_t ret = -EBADF;

	if (!a4)
		return 0;
	if (a5 & ~(u64)SPLICE_ALL)
		return -EINVAL;
	in = fd_get(a0);
	out = fd_get(a2);
	if (in.file && out.file)
		ret = do_splice(in.file, a1, out.file, a3, min_t(u64, a4, RW_MAX), a5);
	if (in.file)
		fd_put(in);
	if (out.file)
		fd_put(out);
	return ret;
}

SYSCALL(tee)
{
	struct fd in, out;
	ssize_t ret = -EBADF;

	if (a3 & ~(u64)SPLICE_ALL)
		return -EINVAL;
	if (!a2)
		return 0;
	in = fd_get(a0);
	out = fd_get(a1);
	if (in.file && out.file && file_can_read(in.file) && file_can_write(out.file)) {
		bool nonblock =
			(a3 & SPLICE_NONBLOCK) || ((in.file->flags | out.file->flags) & O_NONBLOCK);

		ret = -EINVAL;
		if (file_is_pipe(in.file) && file_is_pipe(out.file) &&
		    in.file->private != out.file->private)
			ret = pipe_to_pipe(in.file, out.file, min_t(u64, a2, RW_MAX), nonblock,
					   false);
	}
	if (in.file)
		fd_put(in);
	if (out.file)
		fd_put(out);
	return ret;
}

/* ---- vmsplice ---- */

struct piece {
	u64 base, len;
};

static ssize_t fill_from_user(void *arg, char *to, size_t n)
{
	struct piece *p = arg;

	n = min(n, p->len);
	if (copy_from_user(to, (const void __user *)p->base, n))
		return -EFAULT;
	p->base += n;
	p->len -= n;
	return n;
}

/* From memory: what fits now, after a wait for the first byte of room. */
static ssize_t user_to_pipe(struct file *pipe, struct piece *v, u32 n, bool nonblock)
{
	ssize_t done = 0, ret = pipe_wait_room(pipe, nonblock);

	for (u32 i = 0; i < n && !ret; i++) {
		u64 want = v[i].len;

		if (!want)
			continue;
		ret = pipe_fill(pipe, want, fill_from_user, &v[i]);
		if (ret <= 0)
			break;
		done += ret;
		if ((u64)ret < want)
			break;
		ret = 0;
	}
	return done ? done : ret;
}

static ssize_t pipe_to_user(struct file *pipe, struct piece *v, u32 n, bool nonblock)
{
	ssize_t done = 0, ret = 0;
	size_t taken = 0, some;
	const char *data;

	ret = pipe_peek_begin(pipe, nonblock);
	if (ret <= 0)
		return ret;
	for (u32 i = 0; i < n && ret >= 0; i++) {
		while (v[i].len && (some = pipe_peek(pipe, taken, &data))) {
			some = min_t(u64, some, v[i].len);
			if (copy_to_user((void __user *)v[i].base, data, some)) {
				ret = -EFAULT;
				break;
			}
			v[i].base += some;
			v[i].len -= some;
			taken += some;
			done += some;
		}
		if (v[i].len)
			break;
	}
	pipe_peek_end(pipe, taken);
	return done ? done : ret;
}

static ssize_t do_vmsplice(struct file *f, u64 user, u64 n, u32 flags)
{
	bool nonblock = (flags & SPLICE_NONBLOCK) || (f->flags & O_NONBLOCK);
	struct piece few[8], *v = few;
	u64 total = 0;
	ssize_t ret = 0;

	if (!file_can_write(f) && !file_can_read(f))
		return -EBADF;
	if (n > IOV_MAX)
		return -EINVAL;
	if (n > ARRAY_SIZE(few))
		v = kmalloc(n * sizeof(*v), GFP_KERNEL);
	if (!v)
		return -ENOMEM;
	if (copy_from_user(v, (const void __user *)user, n * sizeof(*v)))
		ret = -EFAULT;
	for (u64 i = 0; i < n && !ret; i++)
		if ((s64)v[i].len < 0 || __builtin_add_overflow(total, v[i].len, &total))
			ret = -EINVAL;
	if (!ret && !file_is_pipe(f))
		ret = total ? -EBADF : 0;
	else if (!ret && total)
		ret = file_can_write(f) ? user_to_pipe(f, v, n, nonblock)
					: pipe_to_user(f, v, n, nonblock);
	if (v != few)
		kfree(v);
	return ret;
}

SYSCALL(vmsplice)
{
	struct fd fd;
	ssize_t ret = -EBADF;

	if (a3 & ~(u64)SPLICE_ALL)
		return -EINVAL;
	fd = fd_get(a0);
	if (fd.file) {
		ret = do_vmsplice(fd.file, a1, a2, a3);
		fd_put(fd);
	}
	return ret;
}

/* ---- sendfile ---- */

/* => bytes the receiver took; in stands behind them, or -errno */
static ssize_t copy_through(struct end *in, struct end *out, size_t n)
{
	char *buf = kmalloc(CHUNK, GFP_KERNEL);
	ssize_t got = 0, put = 0;
	size_t done = 0;

	if (!buf)
		return -ENOMEM;
	while (done < n) {
		u64 from = *in->pos;

		got = end_read(in, buf, min(n - done, CHUNK));
		if (got <= 0)
			break;
		put = end_write(out, buf, got);
		if (put < got)
			*in->pos = from + max(put, (ssize_t)0);
		if (put <= 0)
			break;
		done += put;
		if (put < got || signal_pending())
			break;
		cond_resched();
	}
	kfree(buf);
	return done ? (ssize_t)done : got < 0 ? got : put;
}

static ssize_t do_sendfile(struct file *in, struct file *out, u64 user, u64 n)
{
	struct end from = { .file = in }, to = { .file = out, .pos = &out->pos };
	u64 store;
	bool locked;
	ssize_t ret = offset_arg(user, in, &store, &from.pos);

	if (ret)
		return ret;
	if (!file_can_read(in))
		return -EBADF;
	if (user && !seekable(in))
		return -ESPIPE;
	if (!file_can_write(out))
		return -EBADF;
	if ((user && (s64)store < 0) || !in->ops->read || !out->ops->write ||
	    (!S_ISREG(in->inode->mode) && !S_ISBLK(in->inode->mode)) || (out->flags & O_APPEND))
		return -EINVAL;
	n = min_t(u64, n, RW_MAX);
	locked = !user && file_pos_lock(in);
	if (!n)
		ret = 0;
	else if (file_is_pipe(out))
		ret = file_to_pipe(&from, out, n, out->flags & O_NONBLOCK);
	else
		ret = copy_through(&from, &to, n);
	file_pos_unlock(in, locked);
	bounce_drop(&from);
	bounce_drop(&to);
	if (user && put_user_u64(store, (u64 __user *)user))
		return -EFAULT;
	return ret;
}

SYSCALL(sendfile)
{
	struct fd in = fd_get(a1), out = fd_get(a0);
	ssize_t ret = -EBADF;

	if (in.file && out.file)
		ret = do_sendfile(in.file, out.file, a2, a3);
	if (in.file)
		fd_put(in);
	if (out.file)
		fd_put(out);
	return ret;
}
