// SPDX-License-Identifier: BSD-2-Clause
/*
 * super.c - file system types and superblocks. A superblock counts its mounts; the last one takes
 * the tree of names down and then the superblock. Kernel-wide ones (procfs, devtmpfs) keep one
 * count of their own and never end.
 *
 * The end of a disk's superblock, in this order: what is dirty is written; the names go, and with
 * them most inodes (files that were removed but still open gave up their blocks before); inodes
 * that lists of dirty ones hold are written and let go; the file system writes what it knows of
 * itself (->kill); everything goes to the medium, the device is flushed and closed. Only then may
 * somebody mount it again: he waits (super_share), and umount(2) returns after it.
 *
 * Locking: supers_lock (spinlock) for the list and its fields in the superblocks. Mounts of disks
 * come one after the other (disk_mounts), so a superblock is never seen half made.
 */
#include "fs/blkdev_internal.h"
#include "fs/internal.h"
#include "mm/cache/writeback.h"
#include "mm/kmem/slab.h"

static DEFINE_SPINLOCK(supers_lock, RANK_LEAF);
static LIST_HEAD(supers);
static DEFINE_WAIT_QUEUE(supers_wait);
static u32 nr_ends; /* (supers_lock) superblocks that ended, users that left */

static struct fs_type *types; /* in order of registration; only grows, at boot */

void fs_type_register(struct fs_type *t)
{
	struct fs_type **p = &types;

	while (*p)
		p = &(*p)->next;
	t->next = NULL;
	smp_store_release(p, t);
}

const struct fs_type *fs_type_find(const char *name)
{
	for (struct fs_type *t = types; t; t = t->next)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

static int filesystems_show(struct seq *seq)
{
	for (struct fs_type *t = types; t; t = t->next)
		seq_printf(seq, "%s\t%s\n", t->flags & FS_NODEV ? "nodev" : "", t->name);
	return 0;
}
SHOW("/proc/filesystems", 0444, filesystems_show, NULL);

/* Device numbers of file systems without a device: 0:N. */
dev_t super_next_dev(void)
{
	static atomic_t last = ATOMIC_INIT(0);

	return MKDEV(0, (u32)atomic_add_return(1, &last));
}

struct superblock *super_new(const struct fs_type *t, u32 flags, const char *source)
{
	struct superblock *sb = kzalloc(sizeof(*sb), GFP_KERNEL);

	if (!sb)
		return ERR_PTR(-ENOMEM);
	sb->type = t;
	sb->flags = flags;
	sb->dev = super_next_dev();
	list_init(&sb->inodes);
	list_init(&sb->node);
	spin_lock_init(&sb->lock, RANK_LEAF, "superblock");
	strlcpy(sb->source, source && *source ? source : t->name, sizeof(sb->source));
	return sb;
}

/* => 0 or -ENOMEM, then inode is put and the superblock freed */
int super_set_root(struct superblock *sb, struct inode *root)
{
	sb->root = root ? dentry_alloc_root(sb, root) : NULL;
	if (sb->root) {
		spin_lock(&supers_lock);
		list_add_tail(&sb->node, &supers);
		spin_unlock(&supers_lock);
		return 0;
	}
	if (root)
		inode_put(root);
	kfree(sb);
	return -ENOMEM;
}

struct superblock *super_next(struct superblock *prev)
{
	struct list_head *at;
	struct superblock *next = NULL;
	bool wake = false;

	spin_lock(&supers_lock);
	for (at = prev ? prev->node.next : supers.next; at != &supers; at = at->next) {
		next = list_entry(at, struct superblock, node);
		if (!next->dying)
			break;
		next = NULL;
	}
	if (next)
		next->users++;
	if (prev && --prev->users == 0 && prev->dying) {
		nr_ends++;
		wake = true;
	}
	spin_unlock(&supers_lock);
	if (wake)
		wake_up_all(&supers_wait);
	return next;
}

struct superblock *super_share(const struct fs_type *t, const char *source, u32 flags)
{
	struct superblock *sb;
	dev_t dev;
	u32 seen;

	if ((t->flags & FS_NODEV) || !source || bdev_path_dev(source, &dev))
		return NULL; /* the type's own mount says what is wrong */
	for (;;) {
		bool found = false;

		spin_lock(&supers_lock);
		list_for_each_entry(sb, &supers, node) {
			found = sb->bdev && sb->bdev->part->dev == dev;
			if (found)
				break;
		}
		seen = nr_ends;
		if (!found || !sb->dying)
			break;
		spin_unlock(&supers_lock);
		wait_event(&supers_wait, READ_ONCE(nr_ends) != seen);
	}
	if (list_entry_is_head(sb, &supers, node))
		sb = NULL;
	else if (sb->type != t || ((sb->flags ^ flags) & MS_RDONLY) ||
		 !atomic_inc_not_zero(&sb->mounts))
		sb = ERR_PTR(-EBUSY);
	spin_unlock(&supers_lock);
	return sb;
}

int super_sync(struct superblock *sb, int wait)
{
	int err = 0, own = 0, dev = 0;

	if (sb->flags & MS_RDONLY)
		return 0;
	if (sb->bdev)
		err = bdi_sync(&sb->bdev->part->disk->bdi, wait);
	if (sb->sync)
		own = sb->sync(sb, wait);
	if (sb->bdev && wait)
		dev = bdev_sync(sb->bdev);
	return err ?: own ?: dev;
}

/* ---- remounting ---- */

static DEFINE_WAIT_QUEUE(gate_wait);

void super_change_wake(void)
{
	wake_up_all(&gate_wait);
}

void super_gate_close(struct superblock *sb)
{
	atomic_inc(&sb->closing);
	smp_mb();
	wait_event(&gate_wait, !atomic_read(&sb->changing));
}

void super_gate_open(struct superblock *sb)
{
	atomic_dec(&sb->closing);
}

/* Is a file open for writing, or deleted and still in use (its blocks are to be freed)? */
static bool has_writers(struct superblock *sb)
{
	struct inode *inode;
	bool found = false;

	spin_lock(&sb->lock);
	list_for_each_entry(inode, &sb->inodes, sb_node) {
		found = atomic_read(&inode->writers) > 0 || !inode->nlink;
		if (found)
			break;
	}
	spin_unlock(&sb->lock);
	return found;
}

int super_remount(struct superblock *sb, u32 flags, const char *data)
{
	int err = 0;

	if (sb->bdev && ((sb->flags ^ flags) & MS_RDONLY)) {
		if (!(flags & MS_RDONLY) && bdev_read_only(sb->bdev))
			return -EACCES;
		if ((flags & MS_RDONLY) && has_writers(sb))
			return -EBUSY;
	}
	if (sb->remount)
		err = sb->remount(sb, flags, data);
	if (!err)
		sb->flags = (sb->flags & ~MS_RDONLY) | (flags & MS_RDONLY);
	return err;
}

/* The device of a superblock that is gone. */
static void leave_device(struct bdev *bdev)
{
	bdev_sync(bdev);
	bdev_invalidate(bdev);
	bdev_put(bdev, bdev->holder);
}

/* No mount is left, and nobody will find it. */
static noinline void super_end(struct superblock *sb)
{
	super_sync(sb, 1);
	dentry_tree_kill(sb->root);
	if (sb->bdev && icache_evict_all(sb))
		return; /* said so: memory that is in use stays */
	if (sb->kill)
		sb->kill(sb);
	rcu_barrier(); /* inodes freed after a grace period still name it */
	if (sb->bdev)
		leave_device(sb->bdev);
	spin_lock(&supers_lock);
	list_del(&sb->node);
	nr_ends++;
	spin_unlock(&supers_lock);
	wake_up_all(&supers_wait);
	kfree(sb);
}

void super_put(struct superblock *sb)
{
	bool last;

	spin_lock(&supers_lock);
	last = atomic_dec_and_test(&sb->mounts);
	if (last)
		sb->dying = true;
	spin_unlock(&supers_lock);
	if (!last)
		return;
	wait_event(&supers_wait, READ_ONCE(sb->users) == 0);
	super_end(sb);
}

/*
 * sync(2): devices first start with everything, then each file system has its say, then each
 * device is waited for and told to make it safe. Disks come in order of birth, so one that lies in
 * a file of another (a loop device) may leave work to the other: its flush is that file's fsync.
 */
void vfs_sync_all(int wait)
{
	struct superblock *sb = NULL;
	struct disk *disk = NULL;

	while ((disk = disk_next(disk)))
		bdi_sync(&disk->bdi, 0);
	while ((sb = super_next(sb)))
		if (sb->sync && !(sb->flags & MS_RDONLY))
			sb->sync(sb, wait);
	if (!wait)
		return;
	while ((disk = disk_next(disk))) {
		bdi_sync(&disk->bdi, 1);
		blk_flush(&disk->whole);
	}
}

bool mount_option(char **data, char **name, char **value)
{
	while (*data && **data) {
		char *word = strsep(data, ",");

		if (!*word)
			continue;
		*name = word;
		*value = strchr(word, '=');
		if (*value)
			*(*value)++ = 0;
		return true;
	}
	return false;
}

int vfs_statfs(const struct path *p, struct kstatfs *out)
{
	struct superblock *sb = p->dentry->sb;
	int err = 0;

	*out = (struct kstatfs){ .bsize = PAGE_SIZE, .namelen = NAME_MAX };
	if (sb->statfs)
		err = sb->statfs(sb, out);
	/* ST_RDONLY 1, NOSUID 2, NODEV 4, NOEXEC 8 as in mount(2); ST_VALID 32; ST_RELATIME 4096 */
	out->flags =
		((p->mnt->flags | sb->flags) & 15) | 32 | (p->mnt->flags & MS_RELATIME ? 4096 : 0);
	return err;
}
