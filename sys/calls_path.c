// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls_path.c - the system calls that take names: opening, making, removing, renaming, links,
 * directories' contents, the current directory. Thin: copy the arguments, find the base, call fs/.
 */
#include "arch/uaccess.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "sys/calls_at.h"
#include "sys/process.h"

#define DIRENT_BUFFER 32768ul

static long do_open(int dirfd, u64 user, int flags, umode_t mode)
{
	struct at at;
	struct file *f;
	int fd, err = at_get(&at, dirfd, user, false);

	if (err)
		return err;
	fd = fd_alloc(0, flags & O_CLOEXEC);
	if (fd < 0) {
		at_put(&at);
		return fd;
	}
	if (!(flags & O_PATH))
		flags |= O_LARGEFILE;
	f = vfs_open(at.base, at.name, flags, mode);
	at_put(&at);
	if (IS_ERR(f)) {
		fd_cancel(fd);
		return PTR_ERR(f);
	}
	fd_install(fd, f);
	return fd;
}

SYSCALL(open)
{
	return do_open(AT_FDCWD, a0, a1, a2);
}

SYSCALL(openat)
{
	return do_open(a0, a1, a2, a3);
}

SYSCALL(creat)
{
	return do_open(AT_FDCWD, a0, O_CREAT | O_WRONLY | O_TRUNC, a1);
}

struct open_how {
	u64 flags, mode, resolve;
};

SYSCALL(openat2)
{
	struct open_how how;

	if (a3 < sizeof(how))
		return -EINVAL;
	if (copy_struct_from_user(&how, (void __user *)a2))
		return -EFAULT;
	if (how.flags >> 25 || how.mode & ~(u64)S_IALLUGO || (how.mode && !(how.flags & O_CREAT)))
		return -EINVAL;
	if (how.resolve)
		return -EOPNOTSUPP;
	return do_open(a0, a1, how.flags, how.mode);
}

#define WITH_AT(dirfd, user, call)                                                                 \
	({                                                                                         \
		struct at at;                                                                      \
		long _ret = at_get(&at, dirfd, user, false);                                       \
		if (!_ret) {                                                                       \
			_ret = (call);                                                             \
			at_put(&at);                                                               \
		}                                                                                  \
		_ret;                                                                              \
	})

SYSCALL(mkdir)
{
	return WITH_AT(AT_FDCWD, a0, vfs_mkdir(at.base, at.name, a1));
}

SYSCALL(mkdirat)
{
	return WITH_AT(a0, a1, vfs_mkdir(at.base, at.name, a2));
}

/* dev_t of programs: minor low 8 bits, major 12 bits, rest of minor. */
static dev_t dev_arg(u64 v)
{
	return MKDEV((v >> 8) & 0xfff, (v & 0xff) | ((v >> 12) & 0xfff00));
}

SYSCALL(mknod)
{
	return WITH_AT(AT_FDCWD, a0, vfs_mknod(at.base, at.name, a1, dev_arg(a2)));
}

SYSCALL(mknodat)
{
	return WITH_AT(a0, a1, vfs_mknod(at.base, at.name, a2, dev_arg(a3)));
}

SYSCALL(rmdir)
{
	return WITH_AT(AT_FDCWD, a0, vfs_unlink(at.base, at.name, 1));
}

SYSCALL(unlink)
{
	return WITH_AT(AT_FDCWD, a0, vfs_unlink(at.base, at.name, 0));
}

SYSCALL(unlinkat)
{
	if (a2 & ~(u64)AT_REMOVEDIR)
		return -EINVAL;
	return WITH_AT(a0, a1, vfs_unlink(at.base, at.name, a2 ? 1 : 0));
}

static long do_symlink(u64 target, int dirfd, u64 name)
{
	char *text = path_arg(target);
	long ret;

	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = WITH_AT(dirfd, name, vfs_symlink(text, at.base, at.name));
	path_arg_put(text);
	return ret;
}

SYSCALL(symlink)
{
	return do_symlink(a0, AT_FDCWD, a1);
}

SYSCALL(symlinkat)
{
	return do_symlink(a0, a1, a2);
}

static long two_names(int od, u64 o, int nd, u64 n, unsigned int flags, bool empty_ok,
		      int (*fn)(const struct path *, const char *, const struct path *,
				const char *, unsigned int))
{
	struct at from, to;
	long ret = at_get(&from, od, o, empty_ok);

	if (ret)
		return ret;
	ret = at_get(&to, nd, n, false);
	if (!ret) {
		ret = fn(from.base, from.name, to.base, to.name, flags);
		at_put(&to);
	}
	at_put(&from);
	return ret;
}

SYSCALL(link)
{
	return two_names(AT_FDCWD, a0, AT_FDCWD, a1, 0, false, vfs_link);
}

SYSCALL(linkat)
{
	if (a4 & ~(u64)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return two_names(a0, a1, a2, a3, a4, a4 & AT_EMPTY_PATH, vfs_link);
}

SYSCALL(rename)
{
	return two_names(AT_FDCWD, a0, AT_FDCWD, a1, 0, false, vfs_rename);
}

SYSCALL(renameat)
{
	return two_names(a0, a1, a2, a3, 0, false, vfs_rename);
}

SYSCALL(renameat2)
{
	return two_names(a0, a1, a2, a3, a4, false, vfs_rename);
}

static long do_readlink(int dirfd, u64 name, u64 buf, int size)
{
	char *text;
	struct at at;
	ssize_t n = size <= 0 ? -EINVAL : at_get(&at, dirfd, name, true);

	if (n)
		return n;
	if (!*at.name && !at.base) {
		at_put(&at);
		return -ENOENT;
	}
	text = kmalloc(PATH_MAX, GFP_KERNEL);
	n = text ? vfs_readlink(at.base, at.name, text, min_t(size_t, size, PATH_MAX)) : -ENOMEM;
	if (n > 0 && copy_to_user((void __user *)buf, text, n))
		n = -EFAULT;
	kfree(text);
	at_put(&at);
	return n;
}

SYSCALL(readlink)
{
	return do_readlink(AT_FDCWD, a0, a1, a2);
}

SYSCALL(readlinkat)
{
	return do_readlink(a0, a1, a2, a3);
}

SYSCALL(access)
{
	return WITH_AT(AT_FDCWD, a0, vfs_access(at.base, at.name, (int)a1, 0));
}

SYSCALL(faccessat)
{
	return WITH_AT(a0, a1, vfs_access(at.base, at.name, (int)a2, 0));
}

SYSCALL(faccessat2)
{
	struct at at;
	long ret;

	if (a3 & ~(u64)(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	ret = at_get(&at, a0, a1, a3 & AT_EMPTY_PATH);
	if (!ret) {
		ret = vfs_access(at.base, at.name, (int)a2, a3);
		at_put(&at);
	}
	return ret;
}

SYSCALL(truncate)
{
	struct at at;
	struct path p;
	long ret;

	if ((s64)a1 < 0)
		return -EINVAL;
	ret = at_get(&at, AT_FDCWD, a0, false);
	if (ret)
		return ret;
	ret = vfs_lookup(NULL, at.name, LOOKUP_FOLLOW, &p);
	if (!ret) {
		struct inode *inode = p.dentry->inode;

		if (S_ISREG(inode->mode))
			ret = inode_permission(inode, MAY_WRITE, NULL);
		if (!ret && ((p.mnt->flags | p.mnt->sb->flags) & MS_RDONLY))
			ret = -EROFS;
		if (!ret && atomic_read(&inode->writers) < 0)
			ret = -ETXTBSY;
		if (!ret)
			ret = vfs_truncate(inode, a1);
		path_put(&p);
	}
	at_put(&at);
	return ret;
}

SYSCALL(chdir)
{
	return WITH_AT(AT_FDCWD, a0, vfs_chdir(NULL, at.name));
}

SYSCALL(fchdir)
{
	struct fd fd = fd_get(a0);
	long ret;

	if (!fd.file)
		return -EBADF;
	ret = S_ISDIR(fd.file->inode->mode) ? vfs_chdir(&fd.file->path, "") : -ENOTDIR;
	fd_put(fd);
	return ret;
}

SYSCALL(chroot)
{
	return WITH_AT(AT_FDCWD, a0, vfs_chroot(at.name));
}

SYSCALL(getcwd)
{
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL), *text;
	struct path cwd;
	long ret;

	if (!buf)
		return -ENOMEM;
	fs_context_get(current_task()->fs, NULL, &cwd);
	text = vfs_path(&cwd, buf, PATH_MAX);
	if (cwd.dentry->flags & DENTRY_UNHASHED)
		ret = -ENOENT;
	else if (IS_ERR(text))
		ret = PTR_ERR(text);
	else if (strlen(text) + 1 > a1)
		ret = -ERANGE;
	else
		ret = copy_to_user((void __user *)a0, text, strlen(text) + 1)
			      ? -EFAULT
			      : (long)strlen(text) + 1;
	path_put(&cwd);
	kfree(buf);
	return ret;
}

SYSCALL(umask)
{
	struct fs_context *fs = current_task()->fs;
	umode_t old = fs->umask;

	fs->umask = a0 & 0777;
	return old;
}

/* ---- directories' contents ---- */

struct dirent_buf { /* entries in kernel memory, copied out at the end */
	struct dir_context ctx;
	char *buf;
	size_t size, used;
	size_t last;   /* offset of the last entry, whose d_off is set when the next one comes */
	bool old;      /* getdents(2): the type lies in the last byte */
	bool overflow; /* an entry did not fit */
};
struct dirent_head { /* both forms begin so; the 64 form has the type before the name */
	u64 ino;
	s64 off;
	u16 reclen;
} __packed;

static void set_off(struct dirent_buf *b)
{
	if (b->used)
		((struct dirent_head *)(b->buf + b->last))->off = b->ctx.pos;
}

static bool emit_dirent(struct dir_context *ctx, const char *name, size_t len, u64 ino,
			unsigned int type)
{
	struct dirent_buf *b = container_of(ctx, struct dirent_buf, ctx);
	size_t head = sizeof(struct dirent_head) + !b->old;
	size_t reclen = ALIGN_UP(head + len + 1 + b->old, 8);
	char *p = b->buf + b->used;

	set_off(b);
	if (b->used + reclen > b->size) {
		b->overflow = true;
		return false;
	}
	*(struct dirent_head *)p = (struct dirent_head){ .ino = ino, .reclen = reclen };
	if (!b->old)
		p[head - 1] = type;
	memcpy(p + head, name, len);
	memset(p + head + len, 0, reclen - head - len);
	if (b->old)
		p[reclen - 1] = type;
	b->last = b->used;
	b->used += reclen;
	return true;
}

static long read_directory(struct file *f, u64 user, size_t size, bool old)
{
	struct dirent_buf b = { .ctx = { .emit = emit_dirent, .pos = f->pos },
				.size = min(size, DIRENT_BUFFER),
				.old = old };
	struct inode *inode = f->inode;
	long ret;

	b.buf = kvmalloc(b.size ? b.size : 1, GFP_KERNEL);
	if (!b.buf)
		return -ENOMEM;
	down_read(&inode->lock);
	ret = inode->flags & INODE_DEAD ? -ENOENT : f->ops->iterate(f, &b.ctx);
	up_read(&inode->lock);
	set_off(&b);
	if (!ret && b.used)
		ret = copy_to_user((void __user *)user, b.buf, b.used) ? -EFAULT : (long)b.used;
	else if (!ret && b.overflow)
		ret = -EINVAL;
	if (ret >= 0) {
		f->pos = b.ctx.pos;
		if (!(f->flags & O_NOATIME))
			inode_touch_atime(inode);
	}
	kvfree(b.buf);
	return ret;
}

static long do_getdents(int n, u64 user, size_t size, bool old)
{
	struct fd fd = fd_get(n);
	long ret;

	if (!fd.file)
		return -EBADF;
	if (fd.file->flags & O_PATH) {
		ret = -EBADF;
	} else if (!fd.file->ops->iterate) {
		ret = -ENOTDIR;
	} else {
		bool locked = file_pos_lock(fd.file);

		ret = read_directory(fd.file, user, size, old);
		file_pos_unlock(fd.file, locked);
	}
	fd_put(fd);
	return ret;
}

SYSCALL(getdents64)
{
	return do_getdents(a0, a1, (u32)a2, false);
}

SYSCALL(getdents)
{
	return do_getdents(a0, a1, (u32)a2, true);
}
