// SPDX-License-Identifier: BSD-2-Clause
/*
 * initramfs.c - unpacks a newc archive into the root file system. Entries that cannot be made are
 * named and skipped; a damaged archive ends the unpacking with one line that says where and why
 * (what came before it stays).
 *
 * Hard links: entries with nlink > 1 and equal (device, inode); the data comes with the last of
 * them (GNU cpio) or the first, so every one that has data writes it.
 */
#include "fs/internal.h"
#include "lib/cpio.h"
#include "mm/kmem/slab.h"

struct hard_link {
	struct hard_link *next;
	u32 dev_major, dev_minor, ino;
	const char *name; /* in the archive */
};

struct unpack {
	struct path root;
	struct hard_link *links;
};

static int make_parents(struct unpack *u, const char *name)
{
	char dir[PATH_MAX / 4];

	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		size_t len = slash - name;
		int err;

		if (len >= sizeof(dir))
			return -ENAMETOOLONG;
		memcpy(dir, name, len);
		dir[len] = 0;
		err = vfs_mkdir(&u->root, dir, 0755);
		if (err && err != -EEXIST)
			return err;
	}
	return 0;
}

static void set_attributes(struct inode *inode, const struct cpio_entry *e)
{
	struct timespec64 t = { .tv_sec = e->mtime };

	inode->mode = (inode->mode & S_IFMT) | (e->mode & S_IALLUGO);
	inode->uid = e->uid;
	inode->gid = e->gid;
	if (e->mtime)
		inode->mtime = inode->ctime = t;
}

/* The name of an earlier entry of the same file, or NULL; remembers this one then. */
static const char *earlier_link(struct unpack *u, const struct cpio_entry *e)
{
	struct hard_link *l;

	if (e->nlink < 2)
		return NULL;
	for (l = u->links; l; l = l->next)
		if (l->ino == e->ino && l->dev_major == e->dev_major &&
		    l->dev_minor == e->dev_minor)
			return l->name;
	l = kmalloc(sizeof(*l), GFP_KERNEL);
	if (l) {
		*l = (struct hard_link){ u->links, e->dev_major, e->dev_minor, e->ino, e->name };
		u->links = l;
	}
	return NULL;
}

static int write_data(struct inode *inode, const struct cpio_entry *e)
{
	ssize_t n = e->size ? pagecache_write_kernel(inode->mapping, 0, e->data, e->size) : 0;

	return n < 0 ? n : (size_t)n < e->size ? -ENOSPC : 0;
}

static int make_entry(struct unpack *u, const struct cpio_entry *e)
{
	int err;

	switch (e->mode & S_IFMT) {
	case S_IFDIR:
		err = vfs_mkdir(&u->root, e->name, 0755);
		return err == -EEXIST ? 0 : err;
	case S_IFLNK: {
		char *target = kmalloc(e->size + 1, GFP_KERNEL);

		if (!target)
			return -ENOMEM;
		memcpy(target, e->data, e->size);
		target[e->size] = 0;
		vfs_unlink(&u->root, e->name, 0);
		err = vfs_symlink(target, &u->root, e->name);
		kfree(target);
		return err;
	}
	default:
		vfs_unlink(&u->root, e->name, 0);
		return vfs_mknod(&u->root, e->name, e->mode, MKDEV(e->rdev_major, e->rdev_minor));
	}
}

static int unpack_one(struct unpack *u, const struct cpio_entry *e)
{
	const char *first = S_ISREG(e->mode) ? earlier_link(u, e) : NULL;
	struct path p;
	int err = make_parents(u, e->name);

	if (err)
		return err;
	if (first)
		err = vfs_link(&u->root, first, &u->root, e->name, 0);
	else
		err = *e->name ? make_entry(u, e) : 0;
	if (!err)
		err = vfs_lookup(&u->root, e->name, LOOKUP_EMPTY, &p);
	if (err)
		return err;
	if (S_ISREG(e->mode) && S_ISREG(path_inode(&p)->mode))
		err = write_data(path_inode(&p), e);
	set_attributes(path_inode(&p), e);
	path_put(&p);
	return err;
}

int initramfs_unpack(const void *data, size_t bytes)
{
	struct unpack u = { .links = NULL };
	struct cpio_iter it;
	struct cpio_entry e;
	int ret, entries = 0;

	fs_root_get(&u.root);
	cpio_open(&it, data, bytes);
	while ((ret = cpio_next(&it, &e)) > 0) {
		int err = unpack_one(&u, &e);

		if (err)
			pr_err("initramfs: %s: error %d, left out", *e.name ? e.name : "/", -err);
		entries++;
		if (err == -ENOMEM || err == -ENOSPC) {
			ret = err;
			break;
		}
	}
	if (ret < 0 && it.error)
		pr_err("initramfs: damaged at offset %lu of %lu: %s; %d entries unpacked",
		       (unsigned long)it.pos, (unsigned long)bytes, it.error, entries);
	while (u.links) {
		struct hard_link *next = u.links->next;

		kfree(u.links);
		u.links = next;
	}
	path_put(&u.root);
	return ret;
}
