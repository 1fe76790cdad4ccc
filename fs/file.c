// SPDX-License-Identifier: BSD-2-Clause
/*
 * file.c - open files: allocation, open(2), the last close, and files without a name (pipes).
 *
 * struct file comes from a type-stable cache: a thread that shares its file table looks a file up
 * without a lock, raises refs unless it is 0, and then checks that the slot still holds it. So a
 * freed file keeps refs == 0.
 */
#include "fs/blkdev_internal.h"
#include "fs/internal.h"
#include "kernel/counter.h"
#include "mm/kmem/slab.h"

COUNTER(files_opened, "open files made");

static struct slab_cache *file_cache;
static atomic_long_t nr_files;
static long sysctl_file_max = 1 << 20;
static struct mount *anon_mount;
const struct file_ops *fifo_ops;
void (*fifo_release)(struct inode *inode);
void (*file_release_hook)(struct file *f);

static void file_ctor(void *p)
{
	struct file *f = p;

	atomic_set(&f->refs, 0);
}

struct file *file_alloc(const struct path *path, const struct file_ops *ops, u32 flags)
{
	struct file *f = NULL;

	if (likely(atomic_long_read(&nr_files) < sysctl_file_max))
		f = slab_alloc(file_cache, GFP_KERNEL);
	if (unlikely(!f)) {
		path_put(path);
		return ERR_PTR(atomic_long_read(&nr_files) < sysctl_file_max ? -ENOMEM : -ENFILE);
	}
	atomic_long_inc(&nr_files);
	f->path = *path;
	f->inode = path->dentry->inode;
	f->ops = ops;
	f->flags = flags & ~(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC);
	f->pos = 0;
	mutex_init(&f->pos_lock, RANK_FILE_POS, "file position");
	f->private = NULL;
	f->mapping = f->inode->mapping;
	f->wb_err = f->mapping ? errseq_sample(&f->mapping->wb_err) : 0;
	ra_state_init(&f->ra);
	f->version = 0;
	f->owner = 0;
	f->epoll = NULL;
	f->flock = 0;
	f->wrote = f->denies_write = f->excl = false;
	f->locks_pos = S_ISREG(f->inode->mode) || S_ISDIR(f->inode->mode);
	smp_store_release(&f->refs.v, 1);
	count(files_opened);
	return f;
}

static void file_free(struct file *f)
{
	struct path path = f->path;

	if (f->wrote)
		atomic_dec(&f->inode->writers);
	if (f->denies_write)
		atomic_inc(&f->inode->writers);
	slab_free(file_cache, f);
	atomic_long_dec(&nr_files);
	path_put(&path);
}

void file_put(struct file *f)
{
	ASSERT(atomic_read(&f->refs) > 0);
	if (!atomic_dec_and_test(&f->refs))
		return;
	if (unlikely(f->flock))
		flock_release(f);
	if (unlikely(f->epoll) && file_release_hook)
		file_release_hook(f);
	if (f->ops->release)
		f->ops->release(f);
	file_free(f);
}

static const struct file_ops no_ops; /* O_PATH */

/* Operations for an inode that is being opened. NULL: there is nothing behind it */
static const struct file_ops *ops_for(struct inode *inode)
{
	/*
	 * an eventfd and its like cannot be opened a second time, through /proc/PID/fd; a pipe can
	 */
	if (inode->fops)
		return inode->sb == anon_mount->sb && !inode->fops->open ? NULL : inode->fops;
	if (S_ISCHR(inode->mode))
		return chrdev_find(inode->rdev);
	if (S_ISBLK(inode->mode))
		return &blkdev_file_ops;
	if (S_ISFIFO(inode->mode))
		return fifo_ops;
	return NULL;
}

static int check_open(const struct path *path, int flags, bool created)
{
	struct inode *inode = path_inode(path);
	bool writes = flags & (O_WRONLY | O_RDWR);
	int mask = 0;

	if (S_ISLNK(inode->mode))
		return -ELOOP;
	if (S_ISDIR(inode->mode) && (writes || (flags & (O_CREAT | O_TRUNC))))
		return -EISDIR;
	if ((S_ISCHR(inode->mode) || S_ISBLK(inode->mode)) && (path->mnt->flags & MS_NODEV))
		return -EACCES;
	if (created)
		return 0;
	if (writes || (flags & O_TRUNC)) {
		mask |= MAY_WRITE;
		if (S_ISREG(inode->mode) && mount_want_write(path))
			return -EROFS;
	}
	if (!(flags & O_WRONLY))
		mask |= MAY_READ;
	return inode_permission(inode, mask, NULL);
}

static int count_writer(struct file *f)
{
	struct inode *inode = f->inode;
	int v = atomic_read(&inode->writers);

	if (!S_ISREG(inode->mode) || !(f->flags & (O_WRONLY | O_RDWR)))
		return 0;
	while (v >= 0)
		if (try_cmpxchg(&inode->writers.v, &v, v + 1)) {
			f->wrote = true;
			return 0;
		}
	return -ETXTBSY;
}

int file_deny_write(struct file *f)
{
	struct inode *inode = f->inode;
	int v = atomic_read(&inode->writers);

	while (v <= 0)
		if (try_cmpxchg(&inode->writers.v, &v, v - 1)) {
			f->denies_write = true;
			return 0;
		}
	return -ETXTBSY;
}

static struct file *do_open_path(const struct path *path, int flags, bool created)
{
	struct inode *inode = path_inode(path);
	const struct file_ops *ops = &no_ops;
	struct file *f;
	int err = 0;

	if (!(flags & O_PATH)) {
		err = check_open(path, flags, created);
		ops = err ? NULL : ops_for(inode);
		if (!err && !ops)
			err = -ENXIO;
		if (err) {
			path_put(path);
			return ERR_PTR(err);
		}
	}
	f = file_alloc(path, ops, flags);
	if (IS_ERR(f) || (flags & O_PATH))
		return f;
	f->excl = flags & O_EXCL;
	err = (flags & O_DIRECT) && !ops->direct && S_ISREG(inode->mode) ? -EINVAL
									 : count_writer(f);
	if (!err && ops->open)
		err = ops->open(inode, f);
	if (err) {
		atomic_set(&f->refs, 0);
		file_free(f);
		return ERR_PTR(err);
	}
	if (unlikely(flags & O_TRUNC) && S_ISREG(inode->mode) && !created) {
		err = vfs_truncate(inode, 0);
		if (err) {
			file_put(f);
			return ERR_PTR(err);
		}
	}
	return f;
}

static struct file *open_path(const struct path *path, int flags, bool created)
{
	struct superblock *sb = path_inode(path)->sb;
	struct file *f;

	if (flags & O_PATH || !(flags & (O_WRONLY | O_RDWR | O_TRUNC)))
		return do_open_path(path, flags, created);
	path_get(path); /* the superblock stays, whatever becomes of the file */
	super_change_begin(sb);
	f = do_open_path(path, flags, created);
	super_change_end(sb);
	path_put(path);
	return f;
}

struct file *vfs_open_path(const struct path *path, int flags)
{
	return open_path(path, flags, false);
}

/*
 * The last component of open(O_CREAT). => 0: *d referenced and positive; a link may still have to
 * be followed
 */
static int open_or_create(struct walk *w, int flags, umode_t mode, struct dentry **out,
			  bool *created)
{
	struct dentry *dir = w->path.dentry, *d;
	struct inode *inode = dir->inode;
	int err = 0;

	*created = false;
	d = dcache_find_get(dir, w->last.hash, w->last.name, w->last.len);
	if (d && d->inode) {
		*out = d;
		return flags & O_EXCL ? -EEXIST : 0;
	}
	if (d)
		dentry_put(d);
	super_change_begin(inode->sb);
	inode_lock(inode);
	d = lookup_locked(dir, &w->last);
	if (IS_ERR(d)) {
		inode_unlock(inode);
		super_change_end(inode->sb);
		*out = NULL;
		return PTR_ERR(d);
	}
	if (!d->inode) {
		err = mount_want_write(&w->path);
		if (!err)
			err = may_create(inode, &w->cred);
		if (!err)
			err = inode->ops->create
				      ? inode->ops->create(inode, d,
							   (mode & S_IALLUGO & ~w->fs->umask) |
								   S_IFREG)
				      : -EACCES;
		*created = !err;
	} else if (flags & O_EXCL) {
		err = -EEXIST;
	}
	inode_unlock(inode);
	super_change_end(inode->sb);
	*out = d;
	return err;
}

/*
 * => 0: w->path is the file (walk_end still to be called); -errno: w->path still to be put
 * (walk_fail)
 */
static int walk_create(struct walk *w, int flags, umode_t mode, bool *created)
{
	for (;;) {
		struct dentry *d;
		const char *text;
		int err;

		if (w->last.type != LAST_NORM || w->last.slash)
			return -EISDIR;
		err = open_or_create(w, flags, mode, &d, created);
		if (err) {
			if (d)
				dentry_put(d);
			return err;
		}
		if (!S_ISLNK(d->inode->mode) || (flags & (O_NOFOLLOW | O_EXCL))) {
			struct dentry *dir = w->path.dentry;

			w->path.dentry = d;
			dentry_put(dir);
			path_follow_mounts(&w->path);
			return 0;
		}
		text = walk_follow_link(w, d);
		if (IS_ERR(text))
			return PTR_ERR(text);
		if (!text)
			return 0; /* a magic link brought us there */
		err = walk_to_parent(w, text);
		if (err)
			return err;
	}
}

static struct file *open_create(const struct path *base, const char *name, int flags, umode_t mode)
{
	struct walk w;
	bool created = false;
	int err = walk_parent_ref(&w, base, name, 0);

	if (err)
		return ERR_PTR(err);
	err = walk_create(&w, flags, mode, &created);
	if (err) {
		walk_fail(&w);
		return ERR_PTR(err);
	}
	walk_end(&w);
	return open_path(&w.path, flags, created);
}

struct file *vfs_open(const struct path *base, const char *name, int flags, umode_t mode)
{
	unsigned int lookup = 0;
	struct path path;
	int err;

	if (flags & O_PATH)
		flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	if ((flags & O_TMPFILE) == O_TMPFILE)
		return ERR_PTR(-EOPNOTSUPP);
	if (flags & O_CREAT) {
		if (flags & O_DIRECTORY)
			return ERR_PTR(-EINVAL);
		return open_create(base, name, flags, mode);
	}
	if (!(flags & O_NOFOLLOW))
		lookup |= LOOKUP_FOLLOW;
	if (flags & O_DIRECTORY)
		lookup |= LOOKUP_DIRECTORY;
	err = vfs_lookup(base, name, lookup, &path);
	if (err)
		return ERR_PTR(err);
	return open_path(&path, flags, false);
}

/*
 * Files without a name live on a superblock of their own; each is the root of its own little tree.
 */
static const struct fs_type anon_type = { .name = "anon", .flags = FS_NODEV };

struct file *anon_file(const char *name, const struct file_ops *ops, void *private, u32 flags,
		       umode_t mode)
{
	struct inode *inode = inode_new(anon_mount->sb, mode);
	struct path path = { anon_mount, NULL };
	struct file *f;

	if (!inode)
		return ERR_PTR(-ENOMEM);
	inode_init_owner(inode, NULL);
	inode->private = private;
	inode->fops = ops;
	path.dentry = dentry_alloc_anon(anon_mount->sb, name, inode);
	if (!path.dentry) {
		inode_put(inode);
		return ERR_PTR(-ENOMEM);
	}
	mount_get(anon_mount);
	f = file_alloc(&path, ops, flags);
	if (!IS_ERR(f))
		f->private = private;
	return f;
}

unsigned long files_nr(void)
{
	return atomic_long_read(&nr_files);
}

static int file_nr_show(struct seq *seq)
{
	seq_printf(seq, "%ld\t0\t%ld\n", atomic_long_read(&nr_files), sysctl_file_max);
	return 0;
}
SHOW("/proc/sys/fs/file-nr", 0444, file_nr_show, NULL);
TUNABLE("fs/file-max", sysctl_file_max, 64, S64_MAX, NULL);

void file_init(void)
{
	struct superblock *sb = super_new(&anon_type, 0, "anon");

	file_cache = slab_create("file", sizeof(struct file), 64, SLAB_TYPESAFE_RCU, file_ctor);
	if (!file_cache || IS_ERR(sb) || super_set_root(sb, inode_new(sb, S_IFDIR | 0700)))
		panic("file: no memory for the caches");
	anon_mount = mount_internal(sb);
	if (!anon_mount)
		panic("file: no memory for the mount of pipes");
}
