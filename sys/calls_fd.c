// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls_fd.c - the system calls on open files that move no data: descriptors (close, dup, fcntl),
 * sizes, syncing, advice, locks, ioctl.
 */
#include "arch/uaccess.h"
#include "kernel/printk.h"
#include "lib/err.h"
#include "sys/files.h"
#include "sys/pipe.h"
#include "sys/process.h"
#include "sys/syscall.h"

enum {
	F_DUPFD,
	F_GETFD,
	F_SETFD,
	F_GETFL,
	F_SETFL,
	F_GETLK,
	F_SETLK,
	F_SETLKW,
	F_SETOWN,
	F_GETOWN,
	F_SETSIG,
	F_GETSIG
};
#define F_OFD_GETLK 36
#define F_OFD_SETLK 37
#define F_OFD_SETLKW 38
#define F_DUPFD_CLOEXEC 1030
#define F_SETPIPE_SZ 1031
#define F_GETPIPE_SZ 1032
#define F_UNLCK 2
#define FD_CLOEXEC 1
#define SETFL_MASK (O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME | O_NONBLOCK)

#define FIONCLEX 0x5450
#define FIOCLEX 0x5451
#define FIONBIO 0x5421
#define FIOASYNC 0x5452
#define FIONREAD 0x541b
#define FICLONE 0x40049409

SYSCALL(close)
{
	return fd_close(a0);
}

SYSCALL(close_range)
{
	if ((a2 & ~6ull) || (u32)a0 > (u32)a1)
		return -EINVAL;
	return fd_close_range(a0, a1, a2 & 4);
}

static long dup_from(int n, unsigned int from, bool cloexec)
{
	struct file *f = fd_get_file(n);
	int fd;

	if (!f)
		return -EBADF;
	fd = fd_alloc(from, cloexec);
	if (fd < 0)
		file_put(f);
	else
		fd_install(fd, f);
	return fd;
}

SYSCALL(dup)
{
	return dup_from(a0, 0, false);
}

static long dup_to(int old, int new, bool cloexec)
{
	struct file *f = fd_get_file(old);

	return f ? fd_replace(new, f, cloexec) : -EBADF;
}

SYSCALL(dup2)
{
	if ((int)a0 == (int)a1) {
		struct fd fd = fd_get(a0);

		if (!fd.file)
			return -EBADF;
		fd_put(fd);
		return (int)a1;
	}
	return dup_to(a0, a1, false);
}

SYSCALL(dup3)
{
	if ((a2 & ~(u64)O_CLOEXEC) || (int)a0 == (int)a1)
		return -EINVAL;
	return dup_to(a0, a1, a2 & O_CLOEXEC);
}

/* Record locks are always granted: programs that use them alone behave; no two are kept apart. */
static long record_lock(unsigned int cmd, u64 arg)
{
	if (cmd == F_GETLK || cmd == F_OFD_GETLK) {
		u16 type = F_UNLCK;

		return copy_to_user((void __user *)arg, &type, sizeof(type)) ? -EFAULT : 0;
	}
	pr_warn_once("fcntl: record locks are granted without looking (first asked by %s, pid %d)",
		     current->comm, current->tgid);
	return 0;
}

static long file_fcntl(struct file *f, unsigned int cmd, u64 arg)
{
	switch (cmd) {
	case F_GETFL:
		return f->flags;
	case F_SETFL:
		if ((arg & O_DIRECT) && !f->ops->direct && S_ISREG(f->inode->mode))
			return -EINVAL;
		f->flags = (f->flags & ~SETFL_MASK) | (arg & SETFL_MASK);
		return 0;
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return record_lock(cmd, arg);
	case F_SETOWN:
		f->owner = (int)arg;
		return 0;
	case F_GETOWN:
		return f->owner;
	case F_SETSIG:
	case F_GETSIG:
		return 0;
	case F_SETPIPE_SZ:
	case F_GETPIPE_SZ:
		return pipe_fcntl(f, cmd, arg);
	default:
		return -EINVAL;
	}
}

SYSCALL(fcntl)
{
	struct fd fd;
	long ret;

	switch ((unsigned int)a1) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return dup_from(a0, a2, (unsigned int)a1 == F_DUPFD_CLOEXEC);
	case F_GETFD:
		return fd_get_cloexec(a0);
	case F_SETFD:
		return fd_set_cloexec(a0, a2 & FD_CLOEXEC);
	}
	fd = fd_get(a0);
	if (!fd.file)
		return -EBADF;
	if ((fd.file->flags & O_PATH) && (unsigned int)a1 != F_GETFL)
		ret = -EBADF;
	else
		ret = file_fcntl(fd.file, a1, a2);
	fd_put(fd);
	return ret;
}

static long set_flag(struct file *f, u32 flag, u64 user)
{
	u32 on;

	if (get_user_u32(&on, (u32 __user *)user))
		return -EFAULT;
	f->flags = on ? f->flags | flag : f->flags & ~flag;
	return 0;
}

static long file_ioctl(struct file *f, unsigned int cmd, u64 arg)
{
	switch (cmd) {
	case FIONBIO:
		return set_flag(f, O_NONBLOCK, arg);
	case FIOASYNC:
		return set_flag(f, O_ASYNC, arg);
	case FICLONE:
		return -EOPNOTSUPP;
	case FIONREAD:
		if (S_ISREG(f->inode->mode)) {
			u64 size = f->mapping ? f->mapping->size : 0;

			/* cut to an int, as Linux does */
			return put_user_u32(size - f->pos, (u32 __user *)arg);
		}
		break;
	}
	return f->ops->ioctl ? f->ops->ioctl(f, cmd, arg) : -ENOTTY;
}

SYSCALL(ioctl)
{
	struct fd fd;
	long ret;

	if ((u32)a1 == FIOCLEX || (u32)a1 == FIONCLEX)
		return fd_set_cloexec(a0, (u32)a1 == FIOCLEX);
	fd = fd_get(a0);
	if (!fd.file)
		return -EBADF;
	ret = fd.file->flags & O_PATH ? -EBADF : file_ioctl(fd.file, a1, a2);
	fd_put(fd);
	return ret;
}

SYSCALL(ftruncate)
{
	struct fd fd = fd_get(a0);
	long ret;

	if (!fd.file)
		return -EBADF;
	if ((s64)a1 < 0 || !S_ISREG(fd.file->inode->mode) || !file_can_write(fd.file))
		ret = -EINVAL;
	else
		ret = vfs_truncate(fd.file->inode, a1);
	fd_put(fd);
	return ret;
}

SYSCALL(fallocate)
{
	struct fd fd = fd_get(a0);
	long ret;

	if (!fd.file)
		return -EBADF;
	ret = vfs_fallocate(fd.file, (int)a1, a2, a3);
	fd_put(fd);
	return ret;
}

static long do_fsync(int n, int datasync)
{
	struct fd fd = fd_get(n);
	long ret;

	if (!fd.file)
		return -EBADF;
	ret = vfs_fsync(fd.file, datasync);
	fd_put(fd);
	return ret;
}

SYSCALL(fsync)
{
	return do_fsync(a0, 0);
}

SYSCALL(fdatasync)
{
	return do_fsync(a0, 1);
}

SYSCALL(sync)
{
	vfs_sync_all(1);
	return 0;
}

SYSCALL(syncfs)
{
	struct fd fd = fd_get(a0);
	long ret;

	if (!fd.file)
		return -EBADF;
	ret = vfs_syncfs(fd.file);
	fd_put(fd);
	return ret;
}

SYSCALL(sync_file_range)
{
	struct fd fd = fd_get(a0);
	long ret;

	if (!fd.file)
		return -EBADF;
	ret = vfs_sync_file_range(fd.file, a1, a2, a3);
	fd_put(fd);
	return ret;
}

/* The page cache's part of posix_fadvise(2) and readahead(2): mm/cache/readahead.c. */
static long advise(struct file *f, u64 off, u64 len, int advice)
{
	if (S_ISFIFO(f->inode->mode))
		return -ESPIPE;
	if (advice < FADV_NORMAL || advice > FADV_NOREUSE || (s64)len < 0)
		return -EINVAL;
	if (!f->mapping || (f->mapping->flags & MAPF_SHMEM))
		return 0;
	return readahead_advise(f->mapping, &f->ra, off, len, advice);
}

SYSCALL(fadvise64)
{
	struct fd fd = fd_get(a0);
	long ret;

	if (!fd.file)
		return -EBADF;
	ret = fd.file->flags & O_PATH ? -EBADF : advise(fd.file, a1, a2, (int)a3);
	fd_put(fd);
	return ret;
}

SYSCALL(readahead)
{
	struct fd fd = fd_get(a0);
	struct file *f = fd.file;
	long ret;

	if (!f)
		return -EBADF;
	if (!file_can_read(f))
		ret = -EBADF;
	else if (!S_ISREG(f->inode->mode) && !S_ISBLK(f->inode->mode))
		ret = -EINVAL;
	else /* len 0: nothing, not everything */
		ret = a2 ? advise(f, a1, a2 > S64_MAX ? S64_MAX : a2, FADV_WILLNEED) : 0;
	fd_put(fd);
	return ret;
}

SYSCALL(flock)
{
	struct fd fd = fd_get(a0);
	long ret;

	if (!fd.file)
		return -EBADF;
	ret = fd.file->flags & O_PATH ? -EBADF : vfs_flock(fd.file, (int)a1);
	fd_put(fd);
	return ret;
}
