// SPDX-License-Identifier: BSD-2-Clause
/*
 * change.c - making and removing names: create, mkdir, mknod, symlink, link, unlink, rmdir; and the
 * small calls that only look (readlink, access, chdir). Rename has a file of its own.
 *
 * Every change holds the lock of its directory for writing; the victim's own lock (a directory's:
 * nested) is taken inside, so that a directory found empty stays empty until it is marked dead.
 * Evicting file contents happens after all locks are dropped, with the last reference.
 */
#include "fs/internal.h"

int may_create(struct inode *dir, const struct fs_cred *cred)
{
	if (dir->flags & INODE_DEAD)
		return -ENOENT;
	return inode_permission(dir, MAY_WRITE | MAY_EXEC, cred);
}

/* May victim (positive) be taken out of dir? isdir: the caller removes a directory. */
int may_delete(struct inode *dir, struct dentry *victim, const struct fs_cred *cred, int isdir)
{
	struct inode *inode = victim->inode;
	int err = inode_permission(dir, MAY_WRITE | MAY_EXEC, cred);

	if (err)
		return err;
	if ((dir->mode & S_ISVTX) && cred->uid && cred->uid != inode->uid && cred->uid != dir->uid)
		return -EPERM;
	if (isdir && !S_ISDIR(inode->mode))
		return -ENOTDIR;
	if (!isdir && S_ISDIR(inode->mode))
		return -EISDIR;
	if (dentry_is_root(victim) || (victim->flags & DENTRY_MOUNTED))
		return -EBUSY;
	return inode->flags & INODE_SWAPFILE ? -EPERM : 0;
}

struct making { /* one new name, between start and end */
	struct walk w;
	struct inode *dir;
	struct dentry *d;
};

/* => 0: the directory is locked and m->d is a negative dentry in it */
static int make_start(struct making *m, const struct path *base, const char *name, bool for_dir)
{
	int err = walk_parent_ref(&m->w, base, name, 0);

	if (err)
		return err;
	if (m->w.last.type != LAST_NORM) {
		walk_fail(&m->w);
		return -EEXIST;
	}
	m->dir = path_inode(&m->w.path);
	super_change_begin(m->dir->sb);
	inode_lock(m->dir);
	m->d = lookup_locked(m->w.path.dentry, &m->w.last);
	if (IS_ERR(m->d)) {
		err = PTR_ERR(m->d);
		m->d = NULL;
	} else if (m->d->inode) {
		err = -EEXIST;
	} else if (m->w.last.slash && !for_dir) {
		err = -ENOENT;
	} else {
		err = mount_want_write(&m->w.path);
	}
	if (!err)
		err = may_create(m->dir, &m->w.cred);
	return err;
}

static int make_end(struct making *m, int err)
{
	inode_unlock(m->dir);
	if (m->d)
		dentry_put(m->d);
	super_change_end(m->dir->sb);
	walk_fail(&m->w);
	return err;
}

/* make_start failed: it may have failed before or after the lock was taken. */
#define MAKE(m, base, name, for_dir, call)                                                         \
	({                                                                                         \
		int _err;                                                                          \
		(m).dir = NULL;                                                                    \
		_err = make_start(&(m), base, name, for_dir);                                      \
		if (!_err)                                                                         \
			_err = (call);                                                             \
		(m).dir ? make_end(&(m), _err) : _err;                                             \
	})

#define OP_OR_EPERM(dir, op, ...) ((dir)->ops->op ? (dir)->ops->op(__VA_ARGS__) : -EPERM)

int vfs_mkdir(const struct path *base, const char *name, umode_t mode)
{
	struct making m;

	return MAKE(
		m, base, name, true,
		OP_OR_EPERM(m.dir, mkdir, m.dir, m.d, (mode & 01777 & ~m.w.fs->umask) | S_IFDIR));
}

static int do_mknod(struct making *m, umode_t mode, dev_t dev)
{
	mode = (mode & (S_IFMT | S_IALLUGO)) & ~(m->w.fs->umask & 0777);
	if ((S_ISCHR(mode) || S_ISBLK(mode)) && m->w.cred.uid)
		return -EPERM;
	if (S_ISREG(mode))
		return OP_OR_EPERM(m->dir, create, m->dir, m->d, mode);
	return OP_OR_EPERM(m->dir, mknod, m->dir, m->d, mode, dev);
}

int vfs_mknod(const struct path *base, const char *name, umode_t mode, dev_t dev)
{
	struct making m;

	switch (mode & S_IFMT) {
	case 0:
		mode |= S_IFREG;
		fallthrough;
	case S_IFREG:
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
	case S_IFSOCK:
		return MAKE(m, base, name, false, do_mknod(&m, mode, dev));
	case S_IFDIR:
		return -EPERM;
	default:
		return -EINVAL;
	}
}

int vfs_symlink(const char *target, const struct path *base, const char *name)
{
	struct making m;

	if (!*target)
		return -ENOENT;
	return MAKE(m, base, name, false, OP_OR_EPERM(m.dir, symlink, m.dir, m.d, target));
}

static int do_link(struct making *m, const struct path *old)
{
	struct inode *inode = path_inode(old);
	int err;

	if (old->mnt->sb != m->w.path.mnt->sb)
		return -EXDEV;
	if (S_ISDIR(inode->mode))
		return -EPERM;
	inode_lock(inode);
	err = inode->nlink ? OP_OR_EPERM(m->dir, link, inode, m->dir, m->d) : -ENOENT;
	inode_unlock(inode);
	return err;
}

/* flags: AT_SYMLINK_FOLLOW, AT_EMPTY_PATH */
int vfs_link(const struct path *ob, const char *o, const struct path *nb, const char *n,
	     unsigned int flags)
{
	unsigned int lookup = (flags & AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0) |
			      (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0);
	struct making m;
	struct path old;
	int err = vfs_lookup(ob, o, lookup, &old);

	if (err)
		return err;
	err = MAKE(m, nb, n, false, do_link(&m, &old));
	path_put(&old);
	return err;
}

static int unlink_locked(struct inode *dir, struct dentry *d)
{
	struct inode *inode = d->inode;
	int err;

	inode_lock(inode);
	err = OP_OR_EPERM(dir, unlink, dir, d);
	inode_unlock(inode);
	if (!err)
		dentry_drop(d);
	return err;
}

static int rmdir_locked(struct inode *dir, struct dentry *d)
{
	struct inode *inode = d->inode;
	int err;

	inode_lock_nested(inode, 1);
	err = OP_OR_EPERM(dir, rmdir, dir, d);
	if (!err)
		inode->flags |= INODE_DEAD;
	inode_unlock(inode);
	if (!err) {
		dentry_drop(d);
		dentry_prune_children(d);
	}
	return err;
}

static int remove_last(struct walk *w, struct dentry *d, int rmdir)
{
	struct inode *dir = path_inode(&w->path);
	int err;

	if (!d->inode)
		return -ENOENT;
	if (w->last.slash && !rmdir)
		return S_ISDIR(d->inode->mode) ? -EISDIR : -ENOTDIR;
	err = mount_want_write(&w->path);
	if (!err)
		err = may_delete(dir, d, &w->cred, rmdir);
	if (err)
		return err;
	return rmdir ? rmdir_locked(dir, d) : unlink_locked(dir, d);
}

int vfs_unlink(const struct path *base, const char *name, int rmdir)
{
	static const int rmdir_errors[] = {
		[LAST_ROOT] = -EBUSY, [LAST_DOT] = -EINVAL, [LAST_DOTDOT] = -ENOTEMPTY
	};
	struct walk w;
	struct dentry *d;
	struct inode *dir;
	int err = walk_parent_ref(&w, base, name, 0);

	if (err)
		return err;
	if (w.last.type != LAST_NORM) {
		err = rmdir ? rmdir_errors[w.last.type] : -EISDIR;
		walk_fail(&w);
		return err;
	}
	dir = path_inode(&w.path);
	super_change_begin(dir->sb);
	inode_lock(dir);
	d = lookup_locked(w.path.dentry, &w.last);
	err = IS_ERR(d) ? PTR_ERR(d) : remove_last(&w, d, rmdir);
	inode_unlock(dir);
	if (!IS_ERR(d))
		dentry_put(d);
	super_change_end(dir->sb);
	walk_fail(&w);
	return err;
}

ssize_t vfs_readlink(const struct path *base, const char *name, char *buf, size_t n)
{
	struct path p;
	struct inode *inode;
	ssize_t ret = vfs_lookup(base, name, LOOKUP_EMPTY, &p);

	if (ret)
		return ret;
	inode = path_inode(&p);
	if (!S_ISLNK(inode->mode)) {
		ret = *name ? -EINVAL : -ENOENT;
	} else if (inode->link) {
		ret = min(strlen(inode->link), n);
		memcpy(buf, inode->link, ret);
	} else {
		ret = inode->ops && inode->ops->readlink ? inode->ops->readlink(p.dentry, buf, n)
							 : -EINVAL;
	}
	path_put(&p);
	return ret;
}

/*
 * mode: F_OK 0 or MAY_*; flags: AT_EACCESS, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH. By the real ids
 * without AT_EACCESS.
 */
int vfs_access(const struct path *base, const char *name, int mode, unsigned int flags)
{
	unsigned int lookup = (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
			      (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0);
	struct fs_cred cred;
	struct path p;
	int err;

	if (mode & ~7)
		return -EINVAL;
	err = vfs_lookup(base, name, lookup, &p);
	if (err)
		return err;
	current_fs_cred(&cred, !(flags & AT_EACCESS));
	if (mode)
		err = inode_permission(path_inode(&p), mode, &cred);
	if (!err && (mode & MAY_EXEC) && S_ISREG(path_inode(&p)->mode) &&
	    (p.mnt->flags & MS_NOEXEC))
		err = -EACCES;
	if (!err && (mode & MAY_WRITE) && !S_ISCHR(path_inode(&p)->mode) &&
	    !S_ISBLK(path_inode(&p)->mode))
		err = mount_want_write(&p);
	path_put(&p);
	return err;
}

static int change_place(const struct path *base, const char *name, bool root)
{
	struct fs_context *fs = current_fs();
	struct fs_cred cred;
	struct path p;
	int err = vfs_lookup(base, name,
			     LOOKUP_FOLLOW | LOOKUP_DIRECTORY | (base ? LOOKUP_EMPTY : 0), &p);

	if (err)
		return err;
	current_fs_cred(&cred, 0);
	err = inode_permission(path_inode(&p), MAY_EXEC, &cred);
	if (!err && root && cred.uid)
		err = -EPERM;
	if (!err) {
		down_write(&fs->lock);
		fs_set_path(fs, root ? &fs->root : &fs->cwd, &p);
		up_write(&fs->lock);
	}
	path_put(&p);
	return err;
}

int vfs_chdir(const struct path *base, const char *name)
{
	return change_place(base, name, false);
}

int vfs_chroot(const char *name)
{
	return change_place(NULL, name, true);
}
