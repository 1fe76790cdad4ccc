// SPDX-License-Identifier: BSD-2-Clause
/* calls_mount.c - mount, umount2, pivot_root, statfs. */
#include "arch/uaccess.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sys/calls_at.h"
#include "sys/process.h"

#define MS_MGC_MASK 0xffff0000u
#define MS_MGC_VALUE 0xc0ed0000u

/* An optional text argument; NULL stays NULL. */
static int text_arg(u64 user, char **out)
{
	*out = NULL;
	if (!user)
		return 0;
	*out = path_arg_empty(user);
	if (!IS_ERR(*out))
		return 0;
	return PTR_ERR(*out);
}

SYSCALL(mount)
{
	char *source = NULL, *dir = NULL, *type = NULL, *data = NULL;
	u32 flags = a3;
	int err = text_arg(a0, &source);

	if ((flags & MS_MGC_MASK) == MS_MGC_VALUE)
		flags &= ~MS_MGC_MASK;
	if (err)
		source = NULL;
	if (!err) {
		dir = path_arg(a1);
		err = IS_ERR(dir) ? PTR_ERR(dir) : 0;
		if (err)
			dir = NULL;
	}
	if (!err) {
		err = text_arg(a2, &type);
		if (err)
			type = NULL;
	}
	if (!err) {
		err = text_arg(a4, &data);
		if (err)
			data = NULL;
	}
	if (!err)
		err = vfs_mount(source, dir, type, flags, data);
	kfree(source);
	kfree(dir);
	kfree(type);
	kfree(data);
	return err;
}

SYSCALL(umount2)
{
	char *dir = path_arg(a0);
	long ret;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	ret = vfs_umount(dir, (int)a1);
	path_arg_put(dir);
	return ret;
}

SYSCALL(pivot_root)
{
	char *new_root = path_arg(a0), *put_old;
	long ret;

	if (IS_ERR(new_root))
		return PTR_ERR(new_root);
	put_old = path_arg(a1);
	if (IS_ERR(put_old)) {
		path_arg_put(new_root);
		return PTR_ERR(put_old);
	}
	ret = vfs_pivot_root(new_root, put_old);
	path_arg_put(new_root);
	path_arg_put(put_old);
	return ret;
}

struct user_statfs {
	s64 type, bsize, blocks, bfree, bavail, files, ffree;
	s32 fsid[2];
	s64 namelen, frsize, flags, spare[4];
};
_Static_assert(sizeof(struct user_statfs) == 120, "struct statfs");

static long statfs_path(const struct path *p, u64 user)
{
	struct kstatfs k;
	struct user_statfs s;
	int err = vfs_statfs(p, &k);

	if (err)
		return err;
	s = (struct user_statfs){ .type = k.type,
				  .bsize = k.bsize,
				  .blocks = k.blocks,
				  .bfree = k.bfree,
				  .bavail = k.bavail,
				  .files = k.files,
				  .ffree = k.ffree,
				  .namelen = k.namelen,
				  .frsize = k.bsize,
				  .flags = k.flags,
				  .fsid = { (s32)p->dentry->sb->dev, 0 } };
	return copy_struct_to_user((void __user *)user, &s);
}

SYSCALL(statfs)
{
	struct at at;
	struct path p;
	long ret = at_get(&at, AT_FDCWD, a0, false);

	if (ret)
		return ret;
	ret = vfs_lookup(NULL, at.name, LOOKUP_FOLLOW, &p);
	if (!ret) {
		ret = statfs_path(&p, a1);
		path_put(&p);
	}
	at_put(&at);
	return ret;
}

SYSCALL(fstatfs)
{
	struct fd fd = fd_get(a0);
	long ret;

	if (!fd.file)
		return -EBADF;
	ret = statfs_path(&fd.file->path, a1);
	fd_put(fd);
	return ret;
}
