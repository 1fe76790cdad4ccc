// SPDX-License-Identifier: BSD-2-Clause
/*
 * blkdev.c - the record of a block device in use: who has it open, who has it for himself.
 *
 * Problem: a disk is used by programs through /dev, by file systems and by loop devices, and all of
 * them must see the same bytes; when the last one leaves, nothing may stay behind in memory, since
 * the medium may change or another machine may read it. Idea: the first user makes the record
 * (struct bdev: an inode of an internal superblock with one mapping), the last one writes what is
 * dirty, drops the pages and takes the record away. A part is in use exactly while part->bdev is
 * set.
 *
 *   closed -> [first bdev_get] -> open (openers >= 1) -> [last bdev_put] -> closing -> closed
 *
 * Whoever comes while it is closing waits: he must not read the medium before the last page has
 * reached it.
 *
 * Exclusive use: one holder per part; and a whole disk and its partitions are not held at the same
 * time by different ones. Opening without a holder is always possible.
 *
 * Locking: bdev_lock (mutex, RANK_BDEV) for part->bdev, openers, holder, closing. Nothing is
 * written, waited for or allocated under it.
 */
#include "fs/blkdev.h"
#include "fs/blkdev_internal.h"
#include "fs/internal.h"
#include "fs/loop.h"
#include "mm/cache/writeback.h"
#include "mm/kmem/slab.h"

static DEFINE_MUTEX(bdev_lock, RANK_BDEV);
static DEFINE_WAIT_QUEUE(bdev_wait);
static u32 closings; /* (bdev_lock) number of closings that ended */
static struct superblock *bdev_sb;

static const struct fs_type bdev_type = { .name = "bdev", .flags = FS_NODEV };

void bdev_update_size(struct bdev *bdev)
{
	u64 bytes = READ_ONCE(bdev->part->nr_sectors) << SECTOR_SHIFT;

	if (unlikely(READ_ONCE(bdev->mapping->size) != bytes))
		WRITE_ONCE(bdev->mapping->size, bytes);
}

/* A record nobody sees yet. => ERR_PTR(-ENOMEM) */
static struct bdev *bdev_create(struct blk_part *part)
{
	struct bdev *bdev = kzalloc(sizeof(*bdev), GFP_KERNEL);
	struct inode *inode = bdev ? inode_new(bdev_sb, S_IFBLK | 0600) : NULL;

	if (!inode) {
		kfree(bdev);
		return ERR_PTR(-ENOMEM);
	}
	disk_get(part->disk);
	bdev->part = part;
	bdev->inode = inode;
	bdev->mapping = &inode->data;
	bdev->block_size = PAGE_SIZE;
	inode->rdev = part->dev;
	inode->private = bdev;
	mapping_init(&inode->data, &bdev_mapping_ops, inode, MAPF_BDEV);
	inode->data.bdi = &part->disk->bdi;
	/* the kernel looks into these pages all the time, also with locks of a file system held */
	inode->data.gfp = GFP_USER & ~__GFP_FS;
	inode->mapping = &inode->data;
	bdev_update_size(bdev);
	return bdev;
}

static void evict_inode(struct inode *inode)
{
	struct bdev *bdev = inode->private;

	blk_part_put(bdev->part);
	kfree(bdev);
}

static bool held_by_other(const struct blk_part *part, const void *holder)
{
	const struct bdev *bdev = part ? part->bdev : NULL;

	return bdev && bdev->holder && bdev->holder != holder;
}

/* => bdev_lock held; 0 or -EBUSY */
static int claim_locked(struct bdev *bdev, void *holder)
{
	struct disk *disk = bdev->part->disk;

	if (held_by_other(bdev->part, holder))
		return -EBUSY;
	if (bdev->part->number) {
		if (held_by_other(&disk->whole, holder))
			return -EBUSY;
	} else {
		for (u32 i = 1; i < DISK_MINORS; i++)
			if (held_by_other(disk->parts[i], holder))
				return -EBUSY;
	}
	bdev->holder = holder;
	bdev->nr_claims++;
	return 0;
}

/* => bdev_lock held: one user more, or -EBUSY */
static int open_locked(struct bdev *bdev, void *holder)
{
	int err = holder ? claim_locked(bdev, holder) : 0;

	if (!err) {
		bdev->openers++;
		bdev_update_size(bdev);
	}
	return err;
}

/* part's reference stays the caller's. */
static struct bdev *get_part(struct blk_part *part, void *holder)
{
	struct bdev *fresh = NULL, *bdev;
	int err;

	for (;;) {
		u32 seen;

		mutex_lock(&bdev_lock);
		bdev = part->bdev;
		seen = closings;
		if (bdev && !bdev->closing)
			break;
		if (!bdev && fresh) {
			part->bdev = bdev = fresh;
			break;
		}
		mutex_unlock(&bdev_lock);
		if (bdev) {
			wait_event(&bdev_wait, READ_ONCE(closings) != seen);
			continue;
		}
		fresh = bdev_create(part);
		if (IS_ERR(fresh))
			return fresh;
	}
	err = open_locked(bdev, holder);
	if (bdev == fresh && !err)
		fresh = NULL;
	else if (bdev == fresh)
		part->bdev = NULL;
	mutex_unlock(&bdev_lock);
	if (fresh)
		inode_put(fresh->inode);
	return err ? ERR_PTR(err) : bdev;
}

bool bdev_read_only(const struct bdev *bdev)
{
	return READ_ONCE(bdev->part->read_only) || bdev->part->disk->limits.read_only;
}

struct bdev *bdev_get(dev_t dev, int writable, void *holder)
{
	struct blk_part *part = blk_part_get_dev(dev);
	struct bdev *bdev;

	if (!part && !loop_probe(dev))
		part = blk_part_get_dev(dev);
	if (!part)
		return ERR_PTR(-ENXIO);
	if (READ_ONCE(part->disk->dead))
		bdev = ERR_PTR(-ENXIO);
	else if (writable && (part->read_only || part->disk->limits.read_only))
		bdev = ERR_PTR(-EROFS);
	else
		bdev = get_part(part, holder);
	blk_part_put(part);
	return bdev;
}

/* The device number of a block node. => 0, -ENOTBLK, -EACCES (nodev), or of the walk */
static int node_dev(const char *path, dev_t *dev)
{
	struct path p;
	int err = vfs_lookup(NULL, path, LOOKUP_FOLLOW, &p);

	if (err)
		return err;
	*dev = path_inode(&p)->rdev;
	if (!S_ISBLK(path_inode(&p)->mode))
		err = -ENOTBLK;
	else if (p.mnt->flags & MS_NODEV)
		err = -EACCES;
	path_put(&p);
	return err;
}

int bdev_path_dev(const char *path, dev_t *dev)
{
	struct blk_part *part;
	int err = *path == '/' ? node_dev(path, dev) : -ENOENT;

	if (err != -ENOENT)
		return err;
	if (!strncmp(path, "/dev/", 5))
		path += 5;
	part = blk_part_get(path);
	if (!part)
		return -ENOENT;
	*dev = part->dev;
	blk_part_put(part);
	return 0;
}

struct bdev *bdev_get_path(const char *path, int writable, void *holder)
{
	dev_t dev;
	int err = bdev_path_dev(path, &dev);

	return err ? ERR_PTR(err) : bdev_get(dev, writable, holder);
}

/* The last user is gone: to the medium with it. */
static void close_last(struct bdev *bdev)
{
	struct mapping *m = bdev->mapping;
	struct disk *disk = bdev->part->disk;

	mapping_sync_range(m, 0, U64_MAX);
	mapping_undirty(m);
	pagecache_truncate(m, 0);
	mutex_lock(&bdev_lock);
	bdev->part->bdev = NULL;
	closings++;
	mutex_unlock(&bdev_lock);
	if (disk_is_loop(disk))
		loop_last_close(disk);
	wake_up_all(&bdev_wait);
	inode_put(bdev->inode);
}

void bdev_put(struct bdev *bdev, void *holder)
{
	bool last;

	mutex_lock(&bdev_lock);
	if (holder) {
		ASSERT(bdev->holder == holder);
		if (--bdev->nr_claims == 0)
			bdev->holder = NULL;
	}
	ASSERT(bdev->openers > 0);
	last = --bdev->openers == 0;
	bdev->closing = last;
	mutex_unlock(&bdev_lock);
	if (last)
		close_last(bdev);
}

int bdev_sync(struct bdev *bdev)
{
	struct mapping *m = bdev->mapping;
	errseq_t since = READ_ONCE(m->wb_err);
	int err = mapping_sync_range(m, 0, U64_MAX), flush;

	if (!err)
		err = errseq_check(&m->wb_err, since);
	flush = blk_flush(bdev->part);
	return err || flush ? -EIO : 0;
}

void bdev_invalidate(struct bdev *bdev)
{
	pagecache_drop_range(bdev->mapping, 0, U64_MAX);
}

int super_bdev(const char *source, u32 flags, void *holder, struct bdev **out)
{
	struct bdev *bdev;

	if (!source || !*source)
		return -EINVAL;
	bdev = bdev_get_path(source, !(flags & MS_RDONLY), holder);
	if (!IS_ERR(bdev)) {
		*out = bdev;
		return 0;
	}
	/* mount(8) tries again for reading after this one */
	return PTR_ERR(bdev) == -EROFS ? -EACCES : PTR_ERR(bdev);
}

/* A line in /proc/devices for each new major number. */
static void note_major(const struct disk *disk)
{
	char name[DISK_NAME];
	size_t n = strlcpy(name, disk->name, sizeof(name));

	if (chrdev_find(MKDEV(disk->major, 0) | CHRDEV_BLOCK))
		return;
	while (n > 1 && name[n - 1] >= '0' && name[n - 1] <= '9')
		name[--n] = 0;
	if (n == 3 && name[1] == 'd') /* vda: the kind is vd */
		name[2] = 0;
	blkdev_register(disk->major, 0, 1u << 20, &blkdev_file_ops,
			kstrdup(name, GFP_KERNEL) ?: "disk");
}

static void part_added(struct blk_part *part)
{
	note_major(part->disk);
	devfs_node(part->name, S_IFBLK | 0660, part->dev);
}

/* Users keep their records; whatever they ask for fails from now on. */
static void part_removed(struct blk_part *part)
{
	devfs_remove(part->name);
}

static const struct disk_hooks hooks = { .added = part_added, .removed = part_removed };

void blkdev_init(void)
{
	bdev_sb = super_new(&bdev_type, 0, "bdev");
	if (IS_ERR(bdev_sb))
		panic("blkdev: no memory for the superblock of devices");
	bdev_sb->evict_inode = evict_inode;
	disk_hooks = &hooks;
	loop_init();
}
