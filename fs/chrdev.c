// SPDX-License-Identifier: BSD-2-Clause
/*
 * chrdev.c - which operations stand behind a device number, and devtmpfs, the tmpfs that has a node
 * for each.
 *
 * devtmpfs is one superblock that exists from boot on; drivers put nodes into it through
 * devfs_node(), mounting it just shows it. Programs may add and remove names there as in any tmpfs.
 */
#include "fs/internal.h"
#include "mm/kmem/slab.h"

#define MAX_RANGES 64

static struct chrdev_range {
	u32 major, minor, nr_minors; /* major with CHRDEV_BLOCK's bit for block devices */
	const struct file_ops *fops;
	const char *name;
} ranges[MAX_RANGES];
static u32 nr_ranges; /* grows at its end under the lock, read without */
static DEFINE_SPINLOCK(ranges_lock, RANK_LEAF);
static struct superblock *devtmpfs;
static struct mount *devtmpfs_mount;

static void add_range(u32 major, u32 minor, u32 nr, const struct file_ops *fops, const char *name,
		      bool block)
{
	spin_lock(&ranges_lock);
	if (nr_ranges == MAX_RANGES)
		panic("chrdev: more than %u device ranges", MAX_RANGES);
	ranges[nr_ranges] = (struct chrdev_range){ major, minor, nr, fops, name };
	if (block)
		ranges[nr_ranges].major |= CHRDEV_BLOCK >> 20;
	smp_store_release(&nr_ranges, nr_ranges + 1);
	spin_unlock(&ranges_lock);
}

void chrdev_register(u32 major, u32 minor, u32 nr_minors, const struct file_ops *fops,
		     const char *name)
{
	add_range(major, minor, nr_minors, fops, name, false);
}

void blkdev_register(u32 major, u32 minor, u32 nr_minors, const struct file_ops *fops,
		     const char *name)
{
	add_range(major, minor, nr_minors, fops, name, true);
}

/* dev with CHRDEV_BLOCK set: a block device. */
const struct file_ops *chrdev_find(dev_t dev)
{
	u32 n = smp_load_acquire(&nr_ranges);

	for (u32 i = 0; i < n; i++)
		if (ranges[i].major == MAJOR(dev) &&
		    MINOR(dev) - ranges[i].minor < ranges[i].nr_minors)
			return ranges[i].fops;
	return NULL;
}

static void show_kind(struct seq *seq, const char *title, u32 block)
{
	seq_printf(seq, "%s devices:\n", title);
	for (u32 i = 0; i < smp_load_acquire(&nr_ranges); i++) {
		u32 major = ranges[i].major & ~(CHRDEV_BLOCK >> 20);
		bool again = i && ranges[i - 1].major == ranges[i].major &&
			     !strcmp(ranges[i - 1].name, ranges[i].name);

		if ((ranges[i].major & (CHRDEV_BLOCK >> 20)) == block && !again)
			seq_printf(seq, "%3u %s\n", major, ranges[i].name);
	}
}

static int devices_show(struct seq *seq)
{
	show_kind(seq, "Character", 0);
	seq_putc(seq, '\n');
	show_kind(seq, "Block", CHRDEV_BLOCK >> 20);
	return 0;
}
SHOW("/proc/devices", 0444, devices_show, NULL);

/* name may lie in directories, which are made; "shm/" or S_IFDIR in mode makes a directory. */
void devfs_node(const char *name, umode_t mode, dev_t dev)
{
	struct path root = { devtmpfs_mount, devtmpfs->root }, p;
	char dir[64];
	int err;

	for (const char *slash = strchr(name, '/'); slash && slash[1];
	     slash = strchr(slash + 1, '/')) {
		strlcpy(dir, name, min_t(size_t, sizeof(dir), slash - name + 1));
		err = vfs_mkdir(&root, dir, 0755);
		if (err && err != -EEXIST)
			pr_err("devtmpfs: directory %s: error %d", dir, -err);
	}
	err = S_ISDIR(mode) ? vfs_mkdir(&root, name, mode) : vfs_mknod(&root, name, mode, dev);
	if (err && err != -EEXIST) {
		pr_err("devtmpfs: node %s: error %d", name, -err);
		return;
	}
	if (!vfs_lookup(&root, name, 0, &p)) { /* whatever the umask took */
		path_inode(&p)->mode = (path_inode(&p)->mode & S_IFMT) | (mode & S_IALLUGO);
		path_put(&p);
	}
}

void devfs_remove(const char *name)
{
	struct path root = { devtmpfs_mount, devtmpfs->root };
	int err = vfs_unlink(&root, name, 0);

	if (err && err != -ENOENT)
		pr_err("devtmpfs: remove %s: error %d", name, -err);
}

void devfs_symlink(const char *name, const char *target)
{
	struct path root = { devtmpfs_mount, devtmpfs->root };
	int err = vfs_symlink(target, &root, name);

	if (err && err != -EEXIST)
		pr_err("devtmpfs: link %s: error %d", name, -err);
}

static struct superblock *devtmpfs_get(const struct fs_type *t, const char *source, u32 flags,
				       const char *data)
{
	if (data && devtmpfs->remount && devtmpfs->remount(devtmpfs, flags, data))
		return ERR_PTR(-EINVAL);
	return devtmpfs;
}
static struct fs_type devtmpfs_type = { .name = "devtmpfs",
					.flags = FS_NODEV,
					.mount = devtmpfs_get };

void chrdev_init(void)
{
	devtmpfs = tmpfs_type.mount(&tmpfs_type, "devtmpfs", 0, "mode=0755");
	devtmpfs_mount = IS_ERR(devtmpfs) ? NULL : mount_internal(devtmpfs);
	if (!devtmpfs_mount)
		panic("devtmpfs: no memory");
	devtmpfs->type = &devtmpfs_type;
	fs_type_register(&devtmpfs_type);
}
