// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls_stat.c - the system calls about attributes: the stat family, chmod, chown, times, extended
 * attributes.
 */
#include "arch/uaccess.h"
#include "lib/string.h"
#include "sys/calls_at.h"
#include "sys/process.h"

struct user_stat { /* struct stat of x86-64 */
	u64 dev, ino, nlink;
	u32 mode, uid, gid, pad0;
	u64 rdev;
	s64 size, blksize, blocks;
	u64 atime, atime_nsec, mtime, mtime_nsec, ctime, ctime_nsec;
	s64 unused[3];
};
_Static_assert(sizeof(struct user_stat) == 144, "struct stat");

/* minor low 8 bits, major 12 bits, rest of minor */
static u64 dev_out(dev_t dev)
{
	return (MINOR(dev) & 0xff) | MAJOR(dev) << 8 | (u64)(MINOR(dev) & ~0xffu) << 12;
}

static long stat_out(u64 user, const struct kstat *k)
{
	struct user_stat s;

	s.dev = dev_out(k->dev);
	s.ino = k->ino;
	s.nlink = k->nlink;
	s.mode = k->mode;
	s.uid = k->uid;
	s.gid = k->gid;
	s.pad0 = 0;
	s.rdev = dev_out(k->rdev);
	s.size = k->size;
	s.blksize = k->blksize;
	s.blocks = k->blocks;
	s.atime = k->atime.tv_sec;
	s.atime_nsec = k->atime.tv_nsec;
	s.mtime = k->mtime.tv_sec;
	s.mtime_nsec = k->mtime.tv_nsec;
	s.ctime = k->ctime.tv_sec;
	s.ctime_nsec = k->ctime.tv_nsec;
	s.unused[0] = s.unused[1] = s.unused[2] = 0;
	return copy_struct_to_user((void __user *)user, &s);
}

static long stat_at(int dirfd, u64 name, int flags, struct kstat *k)
{
	unsigned int lookup = (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
			      (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0);
	struct at at;
	struct path p;
	long ret = at_get(&at, dirfd, name, flags & AT_EMPTY_PATH);

	if (ret)
		return ret;
	if (!*at.name && at.base) { /* fstat by another name */
		ret = vfs_getattr(at.base, k);
	} else {
		ret = vfs_lookup(at.base, at.name, lookup, &p);
		if (!ret) {
			ret = vfs_getattr(&p, k);
			path_put(&p);
		}
	}
	at_put(&at);
	return ret;
}

SYSCALL(newfstatat)
{
	struct kstat k;
	long ret;

	if (a3 & ~(u64)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT))
		return -EINVAL;
	ret = stat_at(a0, a1, a3, &k);
	return ret ? ret : stat_out(a2, &k);
}

SYSCALL(stat)
{
	struct kstat k;
	long ret = stat_at(AT_FDCWD, a0, 0, &k);

	return ret ? ret : stat_out(a1, &k);
}

SYSCALL(lstat)
{
	struct kstat k;
	long ret = stat_at(AT_FDCWD, a0, AT_SYMLINK_NOFOLLOW, &k);

	return ret ? ret : stat_out(a1, &k);
}

SYSCALL(fstat)
{
	struct fd fd = fd_get(a0);
	struct kstat k;
	long ret;

	if (!fd.file)
		return -EBADF;
	ret = vfs_getattr(&fd.file->path, &k);
	fd_put(fd);
	return ret ? ret : stat_out(a1, &k);
}

struct statx_time {
	s64 sec;
	u32 nsec;
	s32 pad;
};
struct statx {
	u32 mask, blksize;
	u64 attributes;
	u32 nlink, uid, gid;
	u16 mode, pad0;
	u64 ino, size, blocks, attributes_mask;
	struct statx_time atime, btime, ctime, mtime;
	u32 rdev_major, rdev_minor, dev_major, dev_minor;
	u64 mnt_id, spare[13];
};
_Static_assert(sizeof(struct statx) == 256, "struct statx");
#define STATX_BASIC_AND_BTIME 0xfff
#define STATX_RESERVED 0x80000000u

static struct statx_time xtime(const struct timespec64 *t)
{
	return (struct statx_time){ .sec = t->tv_sec, .nsec = t->tv_nsec };
}

SYSCALL(statx)
{
	struct kstat k;
	struct statx x;
	long ret;

	if ((a3 & STATX_RESERVED) || (a2 & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE ||
	    (a2 &
	     ~(u64)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE)))
		return -EINVAL;
	ret = stat_at(a0, a1, a2, &k);
	if (ret)
		return ret;
	memset(&x, 0, sizeof(x));
	x.mask = STATX_BASIC_AND_BTIME;
	x.blksize = k.blksize;
	x.nlink = k.nlink;
	x.uid = k.uid;
	x.gid = k.gid;
	x.mode = k.mode;
	x.ino = k.ino;
	x.size = k.size;
	x.blocks = k.blocks;
	x.atime = xtime(&k.atime);
	x.btime = xtime(&k.btime);
	x.ctime = xtime(&k.ctime);
	x.mtime = xtime(&k.mtime);
	x.rdev_major = MAJOR(k.rdev);
	x.rdev_minor = MINOR(k.rdev);
	x.dev_major = MAJOR(k.dev);
	x.dev_minor = MINOR(k.dev);
	return copy_struct_to_user((void __user *)a4, &x);
}

static long setattr_at(int dirfd, u64 name, int flags, const struct kstat *attr, unsigned int mask)
{
	unsigned int lookup = (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
			      (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0);
	struct at at;
	struct path p;
	long ret = at_get(&at, dirfd, name, flags & AT_EMPTY_PATH);

	if (ret)
		return ret;
	ret = vfs_lookup(at.base, at.name, lookup, &p);
	if (!ret) {
		if ((mask & ATTR_MODE) && S_ISLNK(p.dentry->inode->mode))
			ret = -EOPNOTSUPP;
		else
			ret = vfs_setattr(&p, attr, mask);
		path_put(&p);
	}
	at_put(&at);
	return ret;
}

static long setattr_fd(int n, const struct kstat *attr, unsigned int mask)
{
	struct fd fd = fd_get(n);
	long ret;

	if (!fd.file)
		return -EBADF;
	ret = fd.file->flags & O_PATH ? -EBADF : vfs_setattr(&fd.file->path, attr, mask);
	fd_put(fd);
	return ret;
}

SYSCALL(chmod)
{
	struct kstat k = { .mode = a1 };

	return setattr_at(AT_FDCWD, a0, 0, &k, ATTR_MODE);
}

SYSCALL(fchmod)
{
	struct kstat k = { .mode = a1 };

	return setattr_fd(a0, &k, ATTR_MODE);
}

SYSCALL(fchmodat)
{
	struct kstat k = { .mode = a2 };

	return setattr_at(a0, a1, 0, &k, ATTR_MODE);
}

SYSCALL(fchmodat2)
{
	struct kstat k = { .mode = a2 };

	if (a3 & ~(u64)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return setattr_at(a0, a1, a3, &k, ATTR_MODE);
}

/* Ids of -1 stay as they are. => mask */
static unsigned int owner_arg(u32 uid, u32 gid, struct kstat *k)
{
	*k = (struct kstat){ .uid = uid, .gid = gid };
	return (uid != ~0u ? ATTR_UID : 0) | (gid != ~0u ? ATTR_GID : 0);
}

SYSCALL(chown)
{
	struct kstat k;
	unsigned int mask = owner_arg(a1, a2, &k);

	return setattr_at(AT_FDCWD, a0, 0, &k, mask);
}

SYSCALL(lchown)
{
	struct kstat k;
	unsigned int mask = owner_arg(a1, a2, &k);

	return setattr_at(AT_FDCWD, a0, AT_SYMLINK_NOFOLLOW, &k, mask);
}

SYSCALL(fchown)
{
	struct kstat k;
	unsigned int mask = owner_arg(a1, a2, &k);

	return setattr_fd(a0, &k, mask);
}

SYSCALL(fchownat)
{
	struct kstat k;
	unsigned int mask = owner_arg(a2, a3, &k);

	if (a4 & ~(u64)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return setattr_at(a0, a1, a4, &k, mask);
}

/* ---- times ---- */

#define UTIME_NOW 0x3fffffff
#define UTIME_OMIT 0x3ffffffe

struct times_arg {
	struct kstat k;
	unsigned int mask;
	bool now; /* both are "now": writing permission is enough */
};

static int one_time(struct timespec64 *t, unsigned int which, struct times_arg *ta)
{
	if (t->tv_nsec == UTIME_OMIT)
		return 0;
	ta->mask |= which;
	if (t->tv_nsec == UTIME_NOW) {
		u64 ns = ktime_get_real();

		*t = (struct timespec64){ .tv_sec = ns / NSEC_PER_SEC,
					  .tv_nsec = ns % NSEC_PER_SEC };
		return 0;
	}
	ta->now = false;
	return (u64)t->tv_nsec >= NSEC_PER_SEC ? -EINVAL : 0;
}

static int times_from(struct times_arg *ta, struct timespec64 atime, struct timespec64 mtime)
{
	int err;

	ta->mask = 0;
	ta->now = atime.tv_nsec != UTIME_OMIT && mtime.tv_nsec != UTIME_OMIT;
	err = one_time(&atime, ATTR_ATIME, ta);
	if (!err)
		err = one_time(&mtime, ATTR_MTIME, ta);
	ta->k.atime = atime;
	ta->k.mtime = mtime;
	return err;
}

static int times_now(struct times_arg *ta)
{
	struct timespec64 now = { .tv_nsec = UTIME_NOW };

	return times_from(ta, now, now);
}

static long set_times(const struct path *p, const struct times_arg *ta)
{
	struct inode *inode = p->dentry->inode;
	struct fs_cred cred;

	current_fs_cred(&cred, 0);
	if (!ta->mask)
		return 0;
	if (cred.uid && cred.uid != inode->uid) {
		if (!ta->now)
			return -EPERM;
		if (inode_permission(inode, MAY_WRITE, &cred))
			return -EACCES;
	}
	return vfs_setattr(p, &ta->k, ta->mask);
}

/* name 0: the file of the descriptor itself */
static long times_at(int dirfd, u64 name, int flags, const struct times_arg *ta)
{
	struct at at;
	struct path p;
	long ret;

	if (!name && dirfd != AT_FDCWD) {
		struct fd fd = fd_get(dirfd);

		if (!fd.file)
			return -EBADF;
		ret = flags ? -EINVAL : set_times(&fd.file->path, ta);
		fd_put(fd);
		return ret;
	}
	ret = at_get(&at, dirfd, name, flags & AT_EMPTY_PATH);
	if (ret)
		return ret;
	ret = vfs_lookup(at.base, at.name,
			 (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
				 (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0),
			 &p);
	if (!ret) {
		ret = set_times(&p, ta);
		path_put(&p);
	}
	at_put(&at);
	return ret;
}

SYSCALL(utimensat)
{
	struct timespec64 t[2];
	struct times_arg ta;
	int err;

	if (a3 & ~(u64)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (!a2) {
		err = times_now(&ta);
	} else {
		if (copy_from_user(t, (void __user *)a2, sizeof(t)))
			return -EFAULT;
		err = times_from(&ta, t[0], t[1]);
	}
	return err ? err : times_at(a0, a1, a3, &ta);
}

static int times_from_timeval(struct times_arg *ta, u64 user)
{
	s64 tv[4];

	if (!user)
		return times_now(ta);
	if (copy_from_user(tv, (void __user *)user, sizeof(tv)))
		return -EFAULT;
	if ((u64)tv[1] >= 1000000 || (u64)tv[3] >= 1000000)
		return -EINVAL;
	return times_from(ta, (struct timespec64){ tv[0], tv[1] * 1000 },
			  (struct timespec64){ tv[2], tv[3] * 1000 });
}

SYSCALL(utimes)
{
	struct times_arg ta;
	int err = times_from_timeval(&ta, a1);

	return err ? err : times_at(AT_FDCWD, a0, 0, &ta);
}

SYSCALL(futimesat)
{
	struct times_arg ta;
	int err = times_from_timeval(&ta, a2);

	return err ? err : times_at(a0, a1, 0, &ta);
}

SYSCALL(utime)
{
	struct times_arg ta;
	s64 t[2];
	int err;

	if (!a1) {
		err = times_now(&ta);
	} else {
		if (copy_from_user(t, (void __user *)a1, sizeof(t)))
			return -EFAULT;
		err = times_from(&ta, (struct timespec64){ t[0], 0 },
				 (struct timespec64){ t[1], 0 });
	}
	return err ? err : times_at(AT_FDCWD, a0, 0, &ta);
}

/* ---- extended attributes: no file system here keeps any ---- */

static long xattr_path(u64 name, bool follow, long result)
{
	struct at at;
	struct path p;
	long ret = at_get(&at, AT_FDCWD, name, false);

	if (ret)
		return ret;
	ret = vfs_lookup(NULL, at.name, follow ? LOOKUP_FOLLOW : 0, &p);
	if (!ret) {
		path_put(&p);
		ret = result;
	}
	at_put(&at);
	return ret;
}

static long xattr_fd(int n, long result)
{
	struct fd fd = fd_get(n);

	if (!fd.file)
		return -EBADF;
	fd_put(fd);
	return result;
}

SYSCALL(getxattr)
{
	return xattr_path(a0, true, -EOPNOTSUPP);
}
SYSCALL(lgetxattr)
{
	return xattr_path(a0, false, -EOPNOTSUPP);
}
SYSCALL(fgetxattr)
{
	return xattr_fd(a0, -EOPNOTSUPP);
}
SYSCALL(setxattr)
{
	return xattr_path(a0, true, -EOPNOTSUPP);
}
SYSCALL(lsetxattr)
{
	return xattr_path(a0, false, -EOPNOTSUPP);
}
SYSCALL(fsetxattr)
{
	return xattr_fd(a0, -EOPNOTSUPP);
}
SYSCALL(listxattr)
{
	return xattr_path(a0, true, 0);
}
SYSCALL(llistxattr)
{
	return xattr_path(a0, false, 0);
}
SYSCALL(flistxattr)
{
	return xattr_fd(a0, 0);
}
SYSCALL(removexattr)
{
	return xattr_path(a0, true, -EOPNOTSUPP);
}
SYSCALL(lremovexattr)
{
	return xattr_path(a0, false, -EOPNOTSUPP);
}
SYSCALL(fremovexattr)
{
	return xattr_fd(a0, -EOPNOTSUPP);
}
