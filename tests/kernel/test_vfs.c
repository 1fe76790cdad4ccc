// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_vfs.c - names, mounts, tmpfs and the initramfs as programs see them, driven from inside the
 * kernel.
 */
#include "fs/vfs.h"
#include "kernel/rcu.h"
#include "lib/err.h"
#include "lib/printf.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"

#define DIR "/vfstest"
#define MANY 3000

static int touch(const char *name)
{
	struct file *f = vfs_open(NULL, name, O_CREAT | O_WRONLY | O_EXCL, 0644);

	if (IS_ERR(f))
		return PTR_ERR(f);
	file_put(f);
	return 0;
}

static int exists(const char *name)
{
	struct path p;
	int err = vfs_lookup(NULL, name, 0, &p);

	if (!err)
		path_put(&p);
	return err;
}

static long nlink_of(const char *name)
{
	struct path p;
	struct kstat st;
	int err = vfs_lookup(NULL, name, 0, &p);

	if (err)
		return err;
	err = vfs_getattr(&p, &st);
	path_put(&p);
	return err ? err : (long)st.nlink;
}

struct reader { /* collects the names of one directory */
	struct dir_context ctx;
	char (*names)[32];
	u32 n, max;
};

static bool collect(struct dir_context *ctx, const char *name, size_t len, u64 ino,
		    unsigned int type)
{
	struct reader *r = container_of(ctx, struct reader, ctx);

	if (r->n == r->max)
		return false;
	snprintf(r->names[r->n++], 32, "%.*s", (int)len, name);
	return true;
}

/* Removes everything below name, and name; reading and removing take turns, as rm -r does. */
static int remove_tree(const char *name)
{
	struct file *f = vfs_open(NULL, name, O_RDONLY | O_DIRECTORY, 0);
	struct reader r = { .ctx = { .emit = collect }, .max = 40 };
	char(*path)[300];
	int err = 0;

	if (IS_ERR(f))
		return PTR_ERR(f);
	r.names = kmalloc(r.max * 32, GFP_KERNEL);
	path = kmalloc(300, GFP_KERNEL);
	while (r.names && path) {
		r.n = 0;
		down_read(&f->inode->lock);
		f->ops->iterate(f, &r.ctx);
		up_read(&f->inode->lock);
		for (u32 i = 0; i < r.n; i++) {
			if (!strcmp(r.names[i], ".") || !strcmp(r.names[i], ".."))
				continue;
			snprintf(*path, 300, "%s/%s", name, r.names[i]);
			err = vfs_unlink(NULL, *path, 0);
			if (err == -EISDIR)
				err = remove_tree(*path);
			if (err)
				break;
		}
		if (err || r.n < r.max)
			break;
	}
	kfree(r.names);
	kfree(path);
	file_put(f);
	return err ? err : vfs_unlink(NULL, name, 1);
}

KTEST(vfs, path_errors)
{
	char *name = kmalloc(PATH_MAX, GFP_KERNEL);

	KT_ASSERT(name);
	KT_EQ(vfs_mkdir(NULL, DIR, 0755), 0);
	KT_EQ(touch(DIR "/f"), 0);
	KT_EQ(exists(""), -ENOENT);
	KT_EQ(exists(DIR "/none"), -ENOENT);
	KT_EQ(exists(DIR "/none/x"), -ENOENT);
	KT_EQ(exists(DIR "/f/x"), -ENOTDIR);
	KT_EQ(exists(DIR "/f/"), -ENOTDIR);
	KT_EQ(exists(DIR "/f/."), -ENOTDIR);
	KT_EQ(exists(DIR "//.//../" DIR "/f"), 0);
	KT_EQ(exists("/../../.." DIR), 0);
	memset(name, 'a', 300);
	name[300] = 0;
	KT_EQ(exists(name), -ENAMETOOLONG);
	name[255] = 0;
	KT_EQ(touch(name), 0);
	KT_EQ(vfs_unlink(NULL, name, 0), 0);
	KT_EQ(touch(DIR "/f"), -EEXIST);
	KT_EQ(vfs_mkdir(NULL, DIR "/f", 0755), -EEXIST);
	KT_EQ(vfs_mkdir(NULL, DIR "/.", 0755), -EEXIST);
	KT_EQ(vfs_mkdir(NULL, "/", 0755), -EEXIST);
	KT_EQ(vfs_mkdir(NULL, DIR "/d/", 0755), 0);
	KT_EQ(vfs_unlink(NULL, DIR "/d", 0), -EISDIR);
	KT_EQ(vfs_unlink(NULL, DIR "/f", 1), -ENOTDIR);
	KT_EQ(vfs_unlink(NULL, DIR "/d/.", 1), -EINVAL);
	KT_EQ(vfs_unlink(NULL, DIR "/d/..", 1), -ENOTEMPTY);
	KT_EQ(vfs_unlink(NULL, DIR, 1), -ENOTEMPTY);
	KT_EQ(vfs_unlink(NULL, "/", 1), -EBUSY);
	KT_EQ(PTR_ERR(vfs_open(NULL, DIR "/d", O_WRONLY, 0)), -EISDIR);
	KT_EQ(PTR_ERR(vfs_open(NULL, DIR "/new/", O_CREAT | O_WRONLY, 0644)), -EISDIR);
	KT_EQ(PTR_ERR(vfs_open(NULL, DIR "/f", O_RDONLY | O_DIRECTORY, 0)), -ENOTDIR);
	KT_EQ(remove_tree(DIR), 0);
	kfree(name);
}

KTEST(vfs, symlinks)
{
	char buf[64], from[40], to[40];
	struct file *f;

	KT_EQ(vfs_mkdir(NULL, DIR, 0755), 0);
	KT_EQ(vfs_symlink("f", NULL, DIR "/l"), 0);
	KT_EQ(exists(DIR "/l"), 0);
	KT_EQ(PTR_ERR(vfs_open(NULL, DIR "/l", O_RDONLY, 0)), -ENOENT);
	KT_EQ(touch(DIR "/l"), -EEXIST);
	f = vfs_open(NULL, DIR "/l", O_CREAT | O_WRONLY, 0644); /* through the link */
	KT_ASSERT(!IS_ERR(f));
	file_put(f);
	KT_EQ(exists(DIR "/f"), 0);
	KT_EQ(vfs_readlink(NULL, DIR "/l", buf, sizeof(buf)), 1);
	KT_EQ(vfs_readlink(NULL, DIR "/f", buf, sizeof(buf)), -EINVAL);
	KT_EQ(vfs_symlink(DIR, NULL, DIR "/up"), 0);
	KT_EQ(exists(DIR "/up/up/up/f"), 0);
	KT_EQ(vfs_symlink("loop", NULL, DIR "/loop"), 0);
	KT_EQ(PTR_ERR(vfs_open(NULL, DIR "/loop", O_RDONLY, 0)), -ELOOP);
	KT_EQ(PTR_ERR(vfs_open(NULL, DIR "/l", O_RDONLY | O_NOFOLLOW, 0)), -ELOOP);
	for (int i = 1; i <= 41; i++) { /* c1 -> f, c2 -> c1, ... */
		snprintf(from, sizeof(from), DIR "/c%d", i);
		snprintf(to, sizeof(to), i == 1 ? "f" : "c%d", i - 1);
		KT_EQ(vfs_symlink(to, NULL, from), 0);
	}
	KT_EQ(vfs_access(NULL, DIR "/c40", 0, 0), 0);
	KT_EQ(vfs_access(NULL, DIR "/c41", 0, 0), -ELOOP);
	KT_EQ(vfs_symlink("f/", NULL, DIR "/slash"), 0);
	KT_EQ(vfs_access(NULL, DIR "/slash", 0, 0), -ENOTDIR);
	KT_EQ(remove_tree(DIR), 0);
}

KTEST(vfs, links_and_nlink)
{
	KT_EQ(vfs_mkdir(NULL, DIR, 0755), 0);
	KT_EQ(nlink_of(DIR), 2);
	KT_EQ(vfs_mkdir(NULL, DIR "/a", 0755), 0);
	KT_EQ(vfs_mkdir(NULL, DIR "/b", 0755), 0);
	KT_EQ(nlink_of(DIR), 4);
	KT_EQ(touch(DIR "/a/f"), 0);
	KT_EQ(vfs_link(NULL, DIR "/a/f", NULL, DIR "/b/g", 0), 0);
	KT_EQ(nlink_of(DIR "/a/f"), 2);
	KT_EQ(vfs_link(NULL, DIR "/a", NULL, DIR "/c", 0), -EPERM);
	KT_EQ(vfs_unlink(NULL, DIR "/a/f", 0), 0);
	KT_EQ(nlink_of(DIR "/b/g"), 1);
	KT_EQ(vfs_rename(NULL, DIR "/a", NULL, DIR "/b/a", 0), 0);
	KT_EQ(nlink_of(DIR), 3);
	KT_EQ(nlink_of(DIR "/b"), 3);
	KT_EQ(exists(DIR "/b/a/../g"), 0);
	KT_EQ(remove_tree(DIR), 0);
}

KTEST(vfs, rename)
{
	char name[80];

	KT_EQ(vfs_mkdir(NULL, DIR, 0755), 0);
	KT_EQ(vfs_mkdir(NULL, DIR "/d", 0755), 0);
	KT_EQ(vfs_mkdir(NULL, DIR "/e", 0755), 0);
	KT_EQ(touch(DIR "/f"), 0);
	KT_EQ(touch(DIR "/d/in"), 0);
	KT_EQ(vfs_rename(NULL, DIR "/none", NULL, DIR "/x", 0), -ENOENT);
	KT_EQ(vfs_rename(NULL, DIR "/d", NULL, DIR "/d/sub", 0), -EINVAL);
	KT_EQ(vfs_rename(NULL, DIR "/e", NULL, DIR "/d", 0), -ENOTEMPTY);
	KT_EQ(vfs_rename(NULL, DIR "/d/in", NULL, DIR "/d", 0), -ENOTEMPTY);
	KT_EQ(vfs_rename(NULL, DIR "/f", NULL, DIR "/e", 0), -EISDIR);
	KT_EQ(vfs_rename(NULL, DIR "/e", NULL, DIR "/f", 0), -ENOTDIR);
	KT_EQ(vfs_rename(NULL, DIR "/f", NULL, DIR "/g/", 0), -ENOTDIR);
	KT_EQ(vfs_rename(NULL, DIR "/f", NULL, DIR "/d/in", RENAME_NOREPLACE), -EEXIST);
	KT_EQ(vfs_rename(NULL, DIR "/f", NULL, DIR "/none", RENAME_EXCHANGE), -ENOENT);
	KT_EQ(vfs_rename(NULL, DIR "/f", NULL, DIR "/d", RENAME_EXCHANGE), 0);
	KT_EQ(exists(DIR "/f/in"), 0);
	KT_EQ(vfs_rename(NULL, DIR "/d", NULL, DIR "/f/in", 0), 0);
	KT_EQ(exists(DIR "/d"), -ENOENT);
	KT_EQ(vfs_rename(NULL, DIR "/f", NULL, DIR "/e", 0), 0); /* over an empty directory */
	KT_EQ(exists(DIR "/e/in"), 0);
	/* Long names, back and forth: the name text outside of the dentry. */
	snprintf(name, sizeof(name), DIR "/%060d", 7);
	KT_EQ(vfs_rename(NULL, DIR "/e", NULL, name, 0), 0);
	KT_EQ(exists(name), 0);
	KT_EQ(vfs_rename(NULL, name, NULL, DIR "/e", 0), 0);
	KT_EQ(exists(name), -ENOENT);
	KT_EQ(exists(DIR "/e/in"), 0);
	KT_EQ(vfs_rename(NULL, DIR "/e/.", NULL, DIR "/x", 0), -EBUSY);
	KT_EQ(remove_tree(DIR), 0);
}

KTEST(vfs, open_unlinked)
{
	struct file *f;
	char buf[8] = "quire!!";
	u64 pos = 0;

	KT_EQ(vfs_mkdir(NULL, DIR, 0755), 0);
	f = vfs_open(NULL, DIR "/f", O_CREAT | O_RDWR, 0600);
	KT_ASSERT(!IS_ERR(f));
	KT_EQ(vfs_write_kernel(f, buf, 8, &pos), 8);
	KT_EQ(vfs_unlink(NULL, DIR "/f", 0), 0);
	KT_EQ(exists(DIR "/f"), -ENOENT);
	memset(buf, 0, 8);
	KT_EQ(vfs_read_kernel(f, buf, 8, 0), 8);
	KT_ASSERT(!strcmp(buf, "quire!!"));
	file_put(f);
	f = vfs_open(NULL, DIR, O_RDONLY | O_DIRECTORY, 0);
	KT_ASSERT(!IS_ERR(f));
	KT_EQ(vfs_unlink(NULL, DIR, 1), 0);
	KT_EQ(vfs_mkdir(&f->path, "x", 0755), -ENOENT); /* a dead directory */
	file_put(f);
}

KTEST(vfs, many_entries)
{
	struct fs_counts before, after;
	char name[64];

	shrink_slab_all(~0ul);
	rcu_barrier();
	fs_counts(&before);
	KT_EQ(vfs_mkdir(NULL, DIR, 0755), 0);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), DIR "/entry%d", i);
		if (i & 1)
			KT_EQ(vfs_mkdir(NULL, name, 0755), 0);
		else
			KT_EQ(touch(name), 0);
	}
	KT_EQ(nlink_of(DIR), 2 + MANY / 2);
	KT_EQ(remove_tree(DIR), 0);
	shrink_slab_all(~0ul);
	rcu_barrier();
	fs_counts(&after);
	KT_EQ(after.dentries, before.dentries);
	KT_EQ(after.inodes, before.inodes);
	KT_EQ(after.files, before.files);
}

KTEST(vfs, mounts)
{
	struct file *f;

	KT_EQ(vfs_mkdir(NULL, DIR, 0755), 0);
	KT_EQ(vfs_mkdir(NULL, DIR "/m", 0755), 0);
	KT_EQ(vfs_mkdir(NULL, DIR "/n", 0755), 0);
	KT_EQ(touch(DIR "/m/under"), 0);
	KT_EQ(vfs_mount("t", DIR "/m", "nonsense", 0, NULL), -ENODEV);
	KT_EQ(vfs_mount("t", DIR "/m", "tmpfs", 0, "size=16k,bad=1"), -EINVAL);
	KT_EQ(vfs_mount("t", DIR "/m", "tmpfs", 0, "size=16k"), 0);
	KT_EQ(exists(DIR "/m/under"), -ENOENT);
	KT_EQ(vfs_unlink(NULL, DIR "/m", 1), -EBUSY);
	KT_EQ(touch(DIR "/m/f"), 0);
	KT_EQ(vfs_rename(NULL, DIR "/m/f", NULL, DIR "/f", 0), -EXDEV);
	KT_EQ(vfs_link(NULL, DIR "/m/f", NULL, DIR "/f", 0), -EXDEV);
	KT_EQ(exists(DIR "/m/../m/f"), 0);
	f = vfs_open(NULL, DIR "/m/f", O_RDONLY, 0);
	KT_ASSERT(!IS_ERR(f));
	KT_EQ(vfs_umount(DIR "/m", 0), -EBUSY);
	KT_EQ(vfs_mount(DIR "/m", DIR "/n", NULL, MS_BIND, NULL), 0);
	KT_EQ(exists(DIR "/n/f"), 0);
	KT_EQ(vfs_mount(NULL, DIR "/n", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), 0);
	KT_EQ(touch(DIR "/n/g"), -EROFS);
	KT_EQ(touch(DIR "/m/g"), 0);
	KT_EQ(vfs_umount(DIR "/n", 0), 0);
	KT_EQ(vfs_mount(DIR "/m", DIR "/n", NULL, MS_MOVE, NULL), 0);
	KT_EQ(exists(DIR "/m/under"), 0);
	KT_EQ(exists(DIR "/n/f"), 0);
	KT_EQ(vfs_umount(DIR "/n", MNT_DETACH), 0);
	KT_EQ(exists(DIR "/n/f"), -ENOENT);
	file_put(f);
	KT_EQ(vfs_umount(DIR "/n", 0), -EINVAL);
	KT_EQ(remove_tree(DIR), 0);
}

KTEST(vfs, tmpfs_space)
{
	static char page[4096];
	struct file *f;
	u64 pos = 0;
	ssize_t n = 0;

	memset(page, 7, sizeof(page));
	KT_EQ(vfs_mkdir(NULL, DIR, 0755), 0);
	KT_EQ(vfs_mount("t", DIR, "tmpfs", 0, "size=16k,nr_inodes=3"), 0);
	f = vfs_open(NULL, DIR "/f", O_CREAT | O_RDWR, 0600);
	KT_ASSERT(!IS_ERR(f));
	while ((n = vfs_write_kernel(f, page, sizeof(page), &pos)) > 0)
		;
	KT_EQ(n, -ENOSPC);
	KT_EQ(pos, 16384);
	KT_EQ(vfs_truncate(f->inode, 0), 0);
	pos = 1 << 20;
	KT_EQ(vfs_write_kernel(f, page, 100, &pos), 100); /* sparse */
	KT_EQ(f->inode->data.size, (1 << 20) + 100);
	KT_EQ(vfs_llseek(f, 0, SEEK_DATA), 1 << 20);
	KT_EQ(vfs_llseek(f, 1 << 20, SEEK_HOLE), (1 << 20) + 100);
	KT_EQ(vfs_llseek(f, 2 << 20, SEEK_DATA), -ENXIO);
	KT_EQ(vfs_fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1 << 20, 4096), 0);
	KT_EQ(vfs_llseek(f, 0, SEEK_DATA), -ENXIO);
	KT_EQ(vfs_fallocate(f, 0, 0, 8192), 0);
	KT_EQ(f->inode->data.nr_pages, 2);
	KT_EQ(touch(DIR "/g"), 0);
	KT_EQ(touch(DIR "/h"), -ENOSPC);
	file_put(f);
	KT_EQ(vfs_umount(DIR, 0), 0);
	KT_EQ(vfs_unlink(NULL, DIR, 1), 0);
}

KTEST(vfs, initramfs)
{
	static const char entry[] = "070701"
				    "00000001000081800000000000000000000000010000000000000003000000"
				    "00000000000000000000000000"
				    "0000001500000000"
				    "vfstest/sub/dir/file\0\0" /* 110 + 21 + 1 = 132 */
				    "abc";
	char buf[4] = "";
	struct file *f;

	KT_EQ(initramfs_unpack(entry, 135), 0);
	f = vfs_open(NULL, DIR "/sub/dir/file", O_RDONLY, 0);
	KT_ASSERT(!IS_ERR(f));
	KT_EQ(vfs_read_kernel(f, buf, 3, 0), 3);
	KT_ASSERT(!strcmp(buf, "abc"));
	file_put(f);
	KT_EQ(initramfs_unpack(entry, 133), -EINVAL);
	KT_EQ(initramfs_unpack("no archive", 10), -EINVAL);
	KT_EQ(remove_tree(DIR), 0);
}

KTEST(vfs, registry)
{
	struct file *f;

	KT_EQ(vfs_mkdir(NULL, DIR, 0755), 0);
	KT_EQ(vfs_mount("proc", DIR, "proc", 0, NULL), 0);
	KT_EQ(vfs_mount("proc", DIR, "proc", 0, NULL), -EBUSY);
	KT_EQ(exists(DIR "/filesystems"), 0);
	KT_EQ(exists(DIR "/sys/fs/file-nr"), 0);
	KT_EQ(exists(DIR "/none"), -ENOENT);
	KT_EQ(touch(DIR "/new"), -EACCES);
	KT_EQ(vfs_mkdir(NULL, DIR "/new", 0755), -EPERM);
	KT_EQ(PTR_ERR(vfs_open(NULL, DIR "/filesystems", O_WRONLY, 0)), -EACCES);
	f = vfs_open(NULL, DIR "/sys/fs/file-max", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	KT_ASSERT(!IS_ERR(f));
	file_put(f);
	KT_EQ(vfs_umount(DIR, 0), 0);
	KT_EQ(vfs_mount("sysfs", DIR, "sysfs", 0, NULL), 0);
	KT_EQ(exists(DIR "/kernel/tracing"), 0);
	KT_EQ(vfs_umount(DIR, 0), 0);
	KT_EQ(vfs_unlink(NULL, DIR, 1), 0);
}

/* Several threads make, move, look up and remove the same few names; the tree stays whole. */
static atomic_t storm_errors;
static int storm(void *arg)
{
	struct rng rng;
	char a[48], b[48];

	rng_seed(&rng, (unsigned long)arg);
	for (int i = 0; i < 1500; i++) {
		int err = 0;

		snprintf(a, sizeof(a), DIR "/d%d/%s", (int)rng_below(&rng, 3),
			 rng_one_in(&rng, 2) ? "x" : "y");
		snprintf(b, sizeof(b), DIR "/d%d/%s", (int)rng_below(&rng, 3),
			 rng_one_in(&rng, 2) ? "x" : "y");
		switch (rng_below(&rng, 6)) {
		case 0:
			err = touch(a);
			break;
		case 1:
			err = vfs_mkdir(NULL, a, 0755);
			break;
		case 2:
			err = vfs_unlink(NULL, a, rng_one_in(&rng, 2));
			break;
		case 3:
			err = vfs_rename(NULL, a, NULL, b,
					 rng_one_in(&rng, 4) ? RENAME_EXCHANGE : 0);
			break;
		default:
			err = exists(a);
		}
		if (err && err != -ENOENT && err != -EEXIST && err != -ENOTDIR && err != -EISDIR &&
		    err != -EINVAL && err != -ENOTEMPTY)
			atomic_inc(&storm_errors);
		cond_resched();
	}
	while (!kthread_should_stop())
		sleep_ns(NSEC_PER_MSEC);
	return 0;
}

KTEST(vfs, storm)
{
	struct thread *threads[4];
	struct fs_counts before, after;

	shrink_slab_all(~0ul);
	rcu_barrier();
	fs_counts(&before);
	atomic_set(&storm_errors, 0);
	KT_EQ(vfs_mkdir(NULL, DIR, 0755), 0);
	KT_EQ(vfs_mkdir(NULL, DIR "/d0", 0755), 0);
	KT_EQ(vfs_mkdir(NULL, DIR "/d1", 0755), 0);
	KT_EQ(vfs_mkdir(NULL, DIR "/d2", 0755), 0);
	for (long i = 0; i < 4; i++) {
		threads[i] = kthread_run(storm, (void *)(i + 1), -1, "storm/%ld", i);
		KT_ASSERT(threads[i]);
	}
	for (int i = 0; i < 4; i++)
		kthread_stop(threads[i]);
	KT_EQ(atomic_read(&storm_errors), 0);
	KT_EQ(remove_tree(DIR), 0);
	shrink_slab_all(~0ul);
	rcu_barrier();
	fs_counts(&after);
	KT_EQ(after.dentries, before.dentries);
	KT_EQ(after.inodes, before.inodes);
}
