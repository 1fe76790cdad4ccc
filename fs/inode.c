// SPDX-License-Identifier: BSD-2-Clause
/*
 * inode.c - inodes: birth and end, times, attributes, and who may do what.
 *
 * An inode lives as long as somebody refers to it: its dentries, mostly; an unused dentry on the
 * LRU list keeps its inode, and the shrinker frees both. Inodes of disks are found by number in
 * icache.c, and while something of one waits to be written, a list of writeback holds it: so an
 * inode that still has names ends clean. Memory is given back after a grace period, since walks
 * under RCU look at inodes without a reference.
 *
 * Times have the granularity of the 1 kHz tick: writes within one tick look at the clock and store
 * nothing.
 */
#include "fs/internal.h"
#include "mm/cache/writeback.h"
#include "mm/kmem/slab.h"

static struct slab_cache *inode_cache;

static void root_cred(struct fs_cred *out, int real)
{
	*out = (struct fs_cred){ 0 };
}
void (*current_fs_cred)(struct fs_cred *out, int real) = root_cred;

struct inode *inode_new(struct superblock *sb, umode_t mode)
{
	struct inode *inode = slab_alloc(inode_cache, GFP_KERNEL | __GFP_ZERO);

	if (!inode)
		return NULL;
	inode->ino = atomic_long_add_return(1, &sb->next_ino);
	inode->mode = mode;
	inode->nlink = 1;
	inode->sb = sb;
	rwsem_init(&inode->lock, S_ISDIR(mode) ? RANK_INODE_DIR : RANK_INODE, "inode");
	atomic_set(&inode->refs, 1);
	list_init(&inode->sb_node);
	inode_touch(inode, ATTR_ATIME | ATTR_MTIME | ATTR_CTIME);
	inode->btime = inode->ctime;
	return inode;
}

static void free_rcu(struct rcu_head *head)
{
	struct inode *inode = container_of(head, struct inode, rcu);

	kfree(inode->link);
	slab_free(inode_cache, inode);
}

static noinline void evict(struct inode *inode)
{
	struct superblock *sb = inode->sb;

	inode->flags |= INODE_DYING; /* from here on nothing makes it dirty */
	if (inode->mapping == &inode->data) {
		WRITE_ONCE(inode->data.size, 0);
		if (unlikely(current->reclaim_state != NULL)) /* its name was given back */
			current->reclaim_state->inode_pages += inode->data.nr_pages;
		pagecache_truncate(&inode->data, 0);
	}
	if (sb->evict_inode && !(inode->flags & INODE_FAILED))
		sb->evict_inode(inode);
	if (inode->mapping == &inode->data)
		mapping_destroy(&inode->data);
	if (!list_empty(&inode->sb_node)) {
		spin_lock(&sb->lock);
		list_del_init(&inode->sb_node);
		spin_unlock(&sb->lock);
	}
	if (!hlist_unhashed(&inode->hash))
		icache_remove(inode);
	rcu_call(&inode->rcu, free_rcu);
}

/*
 * The last but one reference of a file without a name, and the other is the list of what is to be
 * written: nobody will read it, so it need not be.
 */
static noinline void forget_dirty(struct inode *inode)
{
	if (atomic_read(&inode->refs) == 2 && (READ_ONCE(inode->data.dirty) & MAPD_QUEUED))
		mapping_undirty(&inode->data);
}

void inode_put(struct inode *inode)
{
	ASSERT(atomic_read(&inode->refs) > 0);
	if (unlikely(!READ_ONCE(inode->nlink)) && READ_ONCE(inode->data.dirty))
		forget_dirty(inode);
	if (hlist_unhashed(&inode->hash) ? atomic_dec_and_test(&inode->refs)
					 : icache_put_last(inode))
		evict(inode);
}

void inode_lock_nested(struct inode *inode, unsigned int subclass)
{
	down_write_nested(&inode->lock, subclass);
}

void inode_fill_stat(struct inode *inode, struct kstat *st)
{
	st->ino = inode->ino;
	st->size = inode->mapping ? READ_ONCE(inode->mapping->size) : 0;
	st->blocks = inode->mapping ? inode->mapping->nr_pages * (PAGE_SIZE / 512) : 0;
	if (inode->link)
		st->size = strlen(inode->link);
	st->dev = inode->sb->dev;
	st->rdev = inode->rdev;
	st->mode = inode->mode;
	st->nlink = inode->nlink;
	st->uid = inode->uid;
	st->gid = inode->gid;
	st->blksize = PAGE_SIZE;
	st->atime = inode->atime;
	st->mtime = inode->mtime;
	st->ctime = inode->ctime;
	st->btime = inode->btime;
}

static struct timespec64 coarse_now(void)
{
	u64 ns = ktime_get_real();

	ns -= ns % NSEC_PER_TICK;
	return (struct timespec64){ .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };
}

void inode_touch(struct inode *inode, unsigned int which)
{
	struct timespec64 now = coarse_now();

	if (which & ATTR_ATIME)
		inode->atime = now;
	if (which & ATTR_MTIME)
		inode->mtime = now;
	if (which & ATTR_CTIME)
		inode->ctime = now;
	if (inode->data.bdi)
		inode_mark_dirty(inode, MAPD_META);
}

/* After a read: only when the file changed since the last one (relatime). */
void inode_touch_atime(struct inode *inode)
{
	const struct timespec64 *a = &inode->atime, *m = &inode->mtime;

	if (unlikely(a->tv_sec < m->tv_sec || (a->tv_sec == m->tv_sec && a->tv_nsec <= m->tv_nsec)))
		inode_touch(inode, ATTR_ATIME);
}

/* Owner, group and mode of a new inode in dir. */
void inode_init_owner(struct inode *inode, const struct inode *dir)
{
	struct fs_cred cred;

	current_fs_cred(&cred, 0);
	inode->uid = cred.uid;
	inode->gid = cred.gid;
	if (dir && (dir->mode & S_ISGID)) {
		inode->gid = dir->gid;
		if (S_ISDIR(inode->mode))
			inode->mode |= S_ISGID;
	}
}

/* After a write. => inode->lock held for writing */
void inode_update_mtime(struct inode *inode)
{
	u64 tick = ktime_get() / NSEC_PER_TICK;

	if (likely(inode->mtime_tick == tick))
		return;
	inode->mtime_tick = tick;
	inode_touch(inode, ATTR_MTIME | ATTR_CTIME);
}

bool cred_in_group(const struct fs_cred *c, u32 gid)
{
	if (c->gid == gid)
		return true;
	for (u32 i = 0; i < c->nr_groups; i++)
		if (c->groups[i] == gid)
			return true;
	return false;
}

static int check_bits(struct inode *inode, int mask, const struct fs_cred *c)
{
	umode_t mode = READ_ONCE(inode->mode);

	if (c->uid == 0) {
		/*
		 * Root reads and writes anything, searches any directory, but executes only what
		 * somebody may.
		 */
		if ((mask & MAY_EXEC) && !S_ISDIR(mode) && !(mode & 0111))
			return -EACCES;
		return 0;
	}
	if (c->uid == inode->uid)
		mode >>= 6;
	else if (cred_in_group(c, inode->gid))
		mode >>= 3;
	return (mode & mask) == (umode_t)mask ? 0 : -EACCES;
}

int inode_permission(struct inode *inode, int mask, const struct fs_cred *cred)
{
	struct fs_cred own;

	if ((mask & MAY_WRITE) && (inode->sb->flags & MS_RDONLY) &&
	    (S_ISREG(inode->mode) || S_ISDIR(inode->mode) || S_ISLNK(inode->mode)))
		return -EROFS;
	if (!cred) {
		current_fs_cred(&own, 0);
		cred = &own;
	}
	if (inode->ops && inode->ops->permission) {
		int err = inode->ops->permission(inode, mask);

		if (err <= 0) /* > 0: the mode bits decide */
			return err;
	}
	return check_bits(inode, mask, cred);
}

/* May the caller change these attributes? */
int attr_allowed(struct inode *inode, const struct kstat *attr, unsigned int mask,
		 const struct fs_cred *cred)
{
	bool owner = cred->uid == 0 || cred->uid == inode->uid;

	if (cred->uid == 0)
		return 0;
	if ((mask & ATTR_MODE) && !owner)
		return -EPERM;
	if ((mask & ATTR_UID) && (!owner || attr->uid != inode->uid))
		return -EPERM;
	if ((mask & ATTR_GID) &&
	    (!owner || (attr->gid != inode->gid && !cred_in_group(cred, attr->gid))))
		return -EPERM;
	if ((mask & ATTR_SIZE))
		return inode_permission(inode, MAY_WRITE, cred);
	return 0;
}

/* => inode->lock held for writing */
int inode_default_setattr(struct inode *inode, const struct kstat *attr, unsigned int mask)
{
	if (mask & ATTR_UID)
		inode->uid = attr->uid;
	if (mask & ATTR_GID)
		inode->gid = attr->gid;
	if ((mask & (ATTR_UID | ATTR_GID)) && !S_ISDIR(inode->mode)) {
		inode->mode &= ~S_ISUID;
		if (inode->mode & 0010)
			inode->mode &= ~S_ISGID;
	}
	if (mask & ATTR_MODE)
		inode->mode = (inode->mode & S_IFMT) | (attr->mode & S_IALLUGO);
	if (mask & ATTR_ATIME)
		inode->atime = attr->atime;
	if (mask & ATTR_MTIME)
		inode->mtime = attr->mtime;
	if (mask & ATTR_CTIME)
		inode->ctime = attr->ctime;
	return 0;
}

int vfs_getattr(const struct path *p, struct kstat *st)
{
	struct inode *inode = path_inode(p);

	if (inode->ops && inode->ops->getattr)
		return inode->ops->getattr(inode, st);
	inode_fill_stat(inode, st);
	return 0;
}

int vfs_setattr(const struct path *p, const struct kstat *attr, unsigned int mask)
{
	struct inode *inode = path_inode(p);
	struct kstat copy = *attr;
	struct fs_cred cred;
	int err;

	super_change_begin(inode->sb);
	err = mount_want_write(p);
	if (err)
		goto out;
	current_fs_cred(&cred, 0);
	inode_lock(inode);
	err = attr_allowed(inode, attr, mask, &cred);
	if (!err && (mask & ATTR_MODE) && cred.uid && !cred_in_group(&cred, inode->gid))
		copy.mode &= ~S_ISGID;
	if (!err) {
		copy.ctime = coarse_now();
		mask |= ATTR_CTIME;
		err = inode->ops && inode->ops->setattr ? inode->ops->setattr(inode, &copy, mask)
							: inode_default_setattr(inode, &copy, mask);
	}
	inode_unlock(inode);
out:
	super_change_end(inode->sb);
	return err;
}

static int inode_nr_show(struct seq *seq)
{
	seq_printf(seq, "%lu\t0\n", slab_nr_objects(inode_cache));
	return 0;
}
SHOW("/proc/sys/fs/inode-nr", 0444, inode_nr_show, NULL);

void fs_counts(struct fs_counts *out)
{
	out->dentries = dcache_nr();
	out->inodes = slab_nr_objects(inode_cache);
	out->files = files_nr();
}

void inode_init(void)
{
	inode_cache = slab_create("inode", sizeof(struct inode), 64, SLAB_RECLAIMABLE, NULL);
	if (!inode_cache)
		panic("inode: no memory for the cache");
	icache_init();
}
