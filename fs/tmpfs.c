// SPDX-License-Identifier: BSD-2-Clause
/*
 * tmpfs.c - files in memory. The page cache is the disk and the dentry cache is the directory.
 *
 * Every name holds one reference on its dentry for as long as it exists ("pinned"), so the cache
 * cannot forget it; contents live in inode->data with no page_write: memory is their home.
 *
 * Reading a directory while names come and go: each new name gets the next number of its directory
 * (dentry->cookie) and goes to the head of the list of children, so the list is sorted, newest
 * first, without any search. A position in the directory is FIRST - cookie of the entry that comes
 * next (a bit more after a removal): removed entries leave no gap that matters, new ones are before
 * the position, and the reader ends. An open directory remembers (with a reference) the dentry it
 * stopped at, so continuing costs nothing even with ten thousand entries.
 *
 * Limits: size= counts pages (charged by the page cache through ->charge), nr_inodes= inodes. 0 is
 * no limit.
 * Locking: names under the directory's inode lock; the list of children also under dcache_lock.
 */
#include "fs/internal.h"
#include "lib/parse.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "sched/sched.h"

#define TMPFS_MAGIC 0x01021994
#define RAMFS_MAGIC 0x858458f6
#define DIRENT_SIZE 20 /* what an entry adds to a directory's st_size, as in Linux */
#define FIRST (1ull << 62)
#define READDIR_BATCH 32

struct tmpfs {
	u64 max_pages, max_inodes; /* 0: no limit */
	atomic_long_t used_pages, used_inodes;
	umode_t mode;
	u32 uid, gid;
};

static const struct inode_ops dir_iops, file_iops, link_iops, special_iops;
static const struct file_ops file_fops;

static struct tmpfs *tmpfs_of(const struct superblock *sb)
{
	return sb->private;
}

static int charge(struct mapping *m, long pages)
{
	struct tmpfs *fs = tmpfs_of(((struct inode *)m->owner)->sb);
	long used = atomic_long_add_return(pages, &fs->used_pages);

	if (pages > 0 && fs->max_pages && (u64)used > fs->max_pages) {
		atomic_long_sub(pages, &fs->used_pages);
		return -ENOSPC;
	}
	return 0;
}
static const struct mapping_ops tmpfs_mapping_ops = { .charge = charge };

struct inode *tmpfs_inode(struct superblock *sb, umode_t mode, dev_t dev)
{
	struct tmpfs *fs = tmpfs_of(sb);
	struct inode *inode;

	if ((u64)atomic_long_add_return(1, &fs->used_inodes) > fs->max_inodes && fs->max_inodes) {
		atomic_long_dec(&fs->used_inodes);
		return ERR_PTR(-ENOSPC);
	}
	inode = inode_new(sb, mode);
	if (!inode) {
		atomic_long_dec(&fs->used_inodes);
		return ERR_PTR(-ENOMEM);
	}
	inode->rdev = dev;
	switch (mode & S_IFMT) {
	case S_IFREG:
		inode->ops = &file_iops;
		inode->fops = &file_fops;
		mapping_init(&inode->data, &tmpfs_mapping_ops, inode, MAPF_SHMEM);
		inode->mapping = &inode->data;
		break;
	case S_IFDIR:
		inode->ops = &dir_iops;
		inode->fops = &tmpfs_dir_fops;
		inode->nlink = 2;
		break;
	case S_IFLNK:
		inode->ops = &link_iops;
		break;
	default:
		inode->ops = &special_iops;
	}
	return inode;
}

static void evict_inode(struct inode *inode)
{
	if (S_ISFIFO(inode->mode) && fifo_release)
		fifo_release(inode);
	atomic_long_dec(&tmpfs_of(inode->sb)->used_inodes);
}

/* Nothing is on a disk: a name that is not cached does not exist. */
static int lookup(struct inode *dir, struct dentry *d)
{
	return 0;
}

/* Gives inode (reference taken over) the name d in dir. */
static void add_name(struct inode *dir, struct dentry *d, struct inode *inode)
{
	d->cookie = ++dir->version;
	dentry_get(d); /* pinned */
	dir->data.size += DIRENT_SIZE;
	dentry_instantiate(d, inode);
	inode_touch(dir, ATTR_MTIME | ATTR_CTIME);
}

static int mknod(struct inode *dir, struct dentry *d, umode_t mode, dev_t dev)
{
	struct inode *inode = tmpfs_inode(dir->sb, mode, dev);

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	inode_init_owner(inode, dir);
	if (S_ISDIR(mode))
		dir->nlink++;
	add_name(dir, d, inode);
	return 0;
}

static int create(struct inode *dir, struct dentry *d, umode_t mode)
{
	return mknod(dir, d, mode, 0);
}

static int symlink(struct inode *dir, struct dentry *d, const char *target)
{
	struct inode *inode;
	char *text = kstrdup(target, GFP_KERNEL);

	if (!text)
		return -ENOMEM;
	inode = tmpfs_inode(dir->sb, S_IFLNK | 0777, 0);
	if (IS_ERR(inode)) {
		kfree(text);
		return PTR_ERR(inode);
	}
	inode->link = text;
	inode_init_owner(inode, dir);
	add_name(dir, d, inode);
	return 0;
}

static int link(struct inode *inode, struct inode *dir, struct dentry *d)
{
	inode->nlink++;
	inode_touch(inode, ATTR_CTIME);
	inode_get(inode);
	add_name(dir, d, inode);
	return 0;
}

static int unlink(struct inode *dir, struct dentry *d)
{
	d->inode->nlink--;
	dir->data.size -= DIRENT_SIZE;
	inode_touch(d->inode, ATTR_CTIME);
	inode_touch(dir, ATTR_MTIME | ATTR_CTIME);
	dentry_put(d); /* the pin; the caller has its own */
	return 0;
}

static bool is_empty(struct dentry *dir)
{
	struct dentry *c;
	bool empty = true;

	spin_lock(&dcache_lock);
	list_for_each_entry(c, &dir->children, child) {
		if (c->inode) {
			empty = false;
			break;
		}
	}
	spin_unlock(&dcache_lock);
	return empty;
}

static int rmdir(struct inode *dir, struct dentry *d)
{
	if (!is_empty(d))
		return -ENOTEMPTY;
	d->inode->nlink = 0;
	dir->nlink--;
	dir->data.size -= DIRENT_SIZE;
	inode_touch(dir, ATTR_MTIME | ATTR_CTIME);
	dentry_put(d);
	return 0;
}

static int exchange(struct inode *od, struct dentry *o, struct inode *nd, struct dentry *n)
{
	if (od != nd) {
		int move = S_ISDIR(o->inode->mode) - S_ISDIR(n->inode->mode);

		od->nlink -= move;
		nd->nlink += move;
	}
	o->cookie = ++nd->version;
	n->cookie = ++od->version;
	inode_touch(od, ATTR_MTIME | ATTR_CTIME);
	inode_touch(nd, ATTR_MTIME | ATTR_CTIME);
	return 0;
}

static int rename(struct inode *od, struct dentry *o, struct inode *nd, struct dentry *n,
		  unsigned int flags)
{
	bool isdir = S_ISDIR(o->inode->mode);

	if (flags & RENAME_EXCHANGE)
		return exchange(od, o, nd, n);
	if (n->inode) {
		int err = isdir ? rmdir(nd, n) : unlink(nd, n);

		if (err)
			return err;
	}
	if (isdir && od != nd) {
		od->nlink--;
		nd->nlink++;
	}
	od->data.size -= DIRENT_SIZE;
	nd->data.size += DIRENT_SIZE;
	o->cookie = ++nd->version;
	inode_touch(o->inode, ATTR_CTIME);
	inode_touch(od, ATTR_MTIME | ATTR_CTIME);
	inode_touch(nd, ATTR_MTIME | ATTR_CTIME);
	return 0;
}

static int setattr(struct inode *inode, const struct kstat *attr, unsigned int mask)
{
	if (mask & ATTR_SIZE) {
		u64 old = inode->data.size;

		WRITE_ONCE(inode->data.size, attr->size);
		if (attr->size < old)
			pagecache_truncate(&inode->data, attr->size);
		inode_touch(inode, ATTR_MTIME | ATTR_CTIME);
	}
	return inode_default_setattr(inode, attr, mask);
}

static int dir_getattr(struct inode *inode, struct kstat *st)
{
	inode_fill_stat(inode, st);
	/* data.size of a directory counts its entries */
	st->size = 2 * DIRENT_SIZE + inode->data.size;
	return 0;
}

static const struct inode_ops dir_iops = {
	.lookup = lookup,
	.create = create,
	.mkdir = create,
	.mknod = mknod,
	.symlink = symlink,
	.link = link,
	.unlink = unlink,
	.rmdir = rmdir,
	.rename = rename,
	.getattr = dir_getattr,
};
static const struct inode_ops file_iops = { .setattr = setattr };
static const struct inode_ops link_iops;
static const struct inode_ops special_iops;

/*
 * The first existing entry at or after pos. => dcache_lock; NULL at the end. from (may be NULL)
 * lies at or before it.
 */
static struct dentry *entry_at(struct dentry *dir, struct dentry *from, u64 pos)
{
	struct dentry *d;

	if (from && !list_empty(&from->child) && from->parent == dir)
		d = from;
	else
		d = list_first_entry(&dir->children, struct dentry, child);
	list_for_each_entry_from(d, &dir->children, child)
		if (d->inode && FIRST - d->cookie >= pos)
			return d;
	return NULL;
}

/*
 * Up to READDIR_BATCH entries in one hold of the lock. => false: the buffer is full or the end is
 * reached
 */
static bool emit_batch(struct file *f, struct dir_context *ctx)
{
	struct dentry *dir = f->path.dentry, *from = f->private, *d, *keep = NULL;
	bool more = true;

	spin_lock(&dcache_lock);
	d = entry_at(dir, f->version == ctx->pos ? from : NULL, ctx->pos);
	for (int i = 0; d && more && i < READDIR_BATCH; i++) {
		more = ctx->emit(ctx, d->name, d->len, d->inode->ino, DT_OF(d->inode->mode));
		if (more) {
			ctx->pos = FIRST - d->cookie + 1;
			d = entry_at(dir, d, ctx->pos);
		}
	}
	if (d) {
		keep = d;
		dentry_get(keep);
	}
	spin_unlock(&dcache_lock);
	f->private = keep;
	f->version = ctx->pos;
	if (from)
		dentry_put(from);
	return keep && more;
}

static int iterate(struct file *f, struct dir_context *ctx)
{
	if (!dir_emit_dots(f, ctx))
		return 0;
	while (emit_batch(f, ctx))
		cond_resched();
	return 0;
}

static s64 dir_llseek(struct file *f, s64 off, int whence)
{
	if (whence == SEEK_CUR)
		off += f->pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (off < 0)
		return -EINVAL;
	f->pos = off;
	return off;
}

static void dir_release(struct file *f)
{
	if (f->private)
		dentry_put(f->private);
}

const struct file_ops tmpfs_dir_fops = { .iterate = iterate,
					 .llseek = dir_llseek,
					 .release = dir_release };

/* Makes the pages of [off, off + len) exist. */
static int allocate_range(struct inode *inode, u64 off, u64 len)
{
	for (u64 i = off >> PAGE_SHIFT; i <= (off + len - 1) >> PAGE_SHIFT; i++) {
		struct page *page = pagecache_get(&inode->data, i, PCG_CREATE);

		if (IS_ERR(page))
			return PTR_ERR(page);
		page_put(page);
		if (fatal_signal_pending())
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int fallocate(struct file *f, int mode, u64 off, u64 len)
{
	struct inode *inode = f->inode;
	struct tmpfs *fs = tmpfs_of(inode->sb);
	int err = 0;

	if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE))
		return -EOPNOTSUPP;
	if ((mode & FALLOC_FL_PUNCH_HOLE) && !(mode & FALLOC_FL_KEEP_SIZE))
		return -EOPNOTSUPP;
	inode_lock(inode);
	if (mode & FALLOC_FL_PUNCH_HOLE) {
		pagecache_punch(&inode->data, off, off + len);
	} else if (fs->max_pages && PFN_UP(len) > fs->max_pages) {
		err = -ENOSPC;
	} else {
		err = allocate_range(inode, off, len);
		if (!err && !(mode & FALLOC_FL_KEEP_SIZE) && off + len > inode->data.size)
			WRITE_ONCE(inode->data.size, off + len);
	}
	inode_touch(inode, ATTR_MTIME | ATTR_CTIME);
	inode_unlock(inode);
	return err;
}

static const struct file_ops file_fops = {
	.read = cached_read,
	.write = cached_write,
	.mmap = cached_mmap,
	.fsync = cached_fsync,
	.fallocate = fallocate,
};

static int statfs(struct superblock *sb, struct kstatfs *out)
{
	struct tmpfs *fs = tmpfs_of(sb);
	u64 used = max_t(long, atomic_long_read(&fs->used_pages), 0);
	u64 inodes = max_t(long, atomic_long_read(&fs->used_inodes), 0);

	out->type = sb->type == &ramfs_type ? RAMFS_MAGIC : TMPFS_MAGIC;
	if (fs->max_pages) {
		out->blocks = fs->max_pages;
		out->bfree = out->bavail = fs->max_pages - min(used, fs->max_pages);
	}
	if (fs->max_inodes) {
		out->files = fs->max_inodes;
		out->ffree = fs->max_inodes - min(inodes, fs->max_inodes);
	}
	return 0;
}

/* "50%" of RAM, "64M", "1g". */
static int parse_tmpfs_size(char *text, u64 *pages)
{
	size_t n = strlen(text);
	u64 v;

	if (n && text[n - 1] == '%') {
		text[n - 1] = 0;
		if (parse_u64(text, &v) || v > 10000)
			return -EINVAL;
		*pages = v * totalram_pages / 100;
		return 0;
	}
	if (parse_size(text, &v))
		return -EINVAL;
	*pages = PFN_UP(v);
	return 0;
}

static int parse_one(struct tmpfs *fs, const char *name, char *value)
{
	u64 v;

	if (!strcmp(name, "size"))
		return value ? parse_tmpfs_size(value, &fs->max_pages) : -EINVAL;
	if (!strcmp(name, "mode")) {
		const char *end = value ? parse_digits(value, 8, &v) : NULL;

		if (!end || *end || end == value)
			return -EINVAL;
		fs->mode = v & S_IALLUGO;
		return 0;
	}
	if (!strcmp(name, "nr_inodes"))
		return value ? parse_size(value, &fs->max_inodes) : -EINVAL;
	if (!strcmp(name, "nr_blocks"))
		return value ? parse_size(value, &fs->max_pages) : -EINVAL;
	if (!strcmp(name, "uid"))
		return value ? parse_u32(value, &fs->uid) : -EINVAL;
	if (!strcmp(name, "gid"))
		return value ? parse_u32(value, &fs->gid) : -EINVAL;
	if (!strcmp(name, "huge") || !strcmp(name, "mpol") || !strcmp(name, "inode32") ||
	    !strcmp(name, "inode64") || !strcmp(name, "noswap"))
		return 0; /* accepted, no effect */
	return -EINVAL;
}

static int parse_options(struct tmpfs *fs, const char *data)
{
	char *copy = data ? kstrdup(data, GFP_KERNEL) : NULL, *rest = copy, *name, *value;
	int err = 0;

	if (data && !copy)
		return -ENOMEM;
	while (!err && mount_option(&rest, &name, &value)) {
		err = parse_one(fs, name, value);
		if (err)
			pr_warn("tmpfs: bad mount option %s=%s", name, value ? value : "");
	}
	kfree(copy);
	return err;
}

static int remount(struct superblock *sb, u32 flags, const char *data)
{
	struct tmpfs *fs = tmpfs_of(sb), next = *fs;
	int err = parse_options(&next, data);

	if (err)
		return err;
	if ((next.max_pages && (u64)atomic_long_read(&fs->used_pages) > next.max_pages) ||
	    (next.max_inodes && (u64)atomic_long_read(&fs->used_inodes) > next.max_inodes))
		return -EINVAL;
	fs->max_pages = next.max_pages;
	fs->max_inodes = next.max_inodes;
	return 0;
}

static void show_options(struct superblock *sb, struct seq *seq)
{
	struct tmpfs *fs = tmpfs_of(sb);

	if (fs->max_pages && fs->max_pages != totalram_pages / 2)
		seq_printf(seq, ",size=%luk", (unsigned long)fs->max_pages * (PAGE_SIZE / 1024));
	if (fs->max_inodes && fs->max_inodes != totalram_pages / 2)
		seq_printf(seq, ",nr_inodes=%lu", (unsigned long)fs->max_inodes);
	if (fs->mode != 01777)
		seq_printf(seq, ",mode=%03o", fs->mode);
	if (fs->uid)
		seq_printf(seq, ",uid=%u", fs->uid);
	if (fs->gid)
		seq_printf(seq, ",gid=%u", fs->gid);
}

static void kill_super(struct superblock *sb)
{
	kfree(sb->private);
}

static struct superblock *fill_super(struct superblock *sb, struct tmpfs *fs)
{
	struct inode *root;
	int err;

	sb->private = fs;
	sb->statfs = statfs;
	sb->evict_inode = evict_inode;
	sb->remount = remount;
	sb->kill = kill_super;
	sb->show_options = show_options;
	root = tmpfs_inode(sb, S_IFDIR | fs->mode, 0);
	if (!IS_ERR(root)) {
		root->uid = fs->uid;
		root->gid = fs->gid;
	}
	err = super_set_root(sb, IS_ERR(root) ? NULL : root);
	return err ? ERR_PTR(err) : sb;
}

static struct superblock *tmpfs_mount(const struct fs_type *t, const char *source, u32 flags,
				      const char *data)
{
	struct tmpfs *fs = kzalloc(sizeof(*fs), GFP_KERNEL);
	struct superblock *sb;
	int err;

	if (!fs)
		return ERR_PTR(-ENOMEM);
	fs->mode = t == &rootfs_type ? 0755 : 01777;
	if (t == &tmpfs_type)
		fs->max_pages = fs->max_inodes = totalram_pages / 2;
	err = parse_options(fs, data);
	sb = err ? ERR_PTR(err) : super_new(t, flags, source);
	if (!IS_ERR(sb))
		sb = fill_super(sb, fs);
	if (IS_ERR(sb))
		kfree(fs);
	return sb;
}

struct fs_type tmpfs_type = { .name = "tmpfs", .flags = FS_NODEV, .mount = tmpfs_mount };
struct fs_type ramfs_type = { .name = "ramfs", .flags = FS_NODEV, .mount = tmpfs_mount };
struct fs_type rootfs_type = { .name = "rootfs", .flags = FS_NODEV, .mount = tmpfs_mount };

static struct mount *shmem_mount;

struct file *shmem_file(const char *name, u64 size, u32 flags)
{
	struct inode *inode = tmpfs_inode(shmem_mount->sb, S_IFREG | 0600, 0);
	struct path path = { shmem_mount, NULL };

	if (IS_ERR(inode))
		return ERR_PTR(PTR_ERR(inode));
	inode_init_owner(inode, NULL);
	inode->nlink = 0;
	inode->data.size = size;
	path.dentry = dentry_alloc(shmem_mount->root, name, min_t(size_t, strlen(name), NAME_MAX));
	if (!path.dentry) {
		inode_put(inode);
		return ERR_PTR(-ENOMEM);
	}
	dentry_instantiate(path.dentry, inode);
	path.dentry->flags |= DENTRY_UNHASHED;
	mount_get(shmem_mount);
	return file_alloc(&path, inode->fops, flags);
}

void tmpfs_init(void)
{
	struct superblock *sb;

	fs_type_register(&tmpfs_type);
	fs_type_register(&ramfs_type);
	fs_type_register(&rootfs_type);
	sb = ramfs_type.mount(&ramfs_type, "shmem", 0, NULL);
	shmem_mount = IS_ERR(sb) ? NULL : mount_internal(sb);
	if (!shmem_mount)
		panic("tmpfs: no memory for the mount of shared memory");
}
