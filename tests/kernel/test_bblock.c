/* SPDX-License-Identifier: BSD-2-Clause */
/* test_bblock.c - block devices, their cached blocks, the table of inodes, errors told to files. */
#include "tests/kernel/ktest.h"

#include "drivers/blk/create.h"
#include "fs/blkdev.h"
#include "fs/internal.h"
#include "kernel/time.h"
#include "lib/printf.h"
#include "mm/cache/writeback.h"
#include "mm/kmem/slab.h"
#include "sched/kthread.h"

static struct disk *ram;
static struct bdev *dev;

static bool open_ram(const char *line)
{
	dev = NULL;
	ram = disk_create(line);
	if (IS_ERR(ram))
		return false;
	dev = bdev_get(ram->whole.dev, 1, NULL);
	return !IS_ERR(dev);
}

static void remove_disk(struct disk *d)
{
	if (IS_ERR_OR_NULL(d))
		return;
	d->by_name = false;
	disk_remove(d);
	disk_put(d);
}

static void close_ram(void)
{
	if (!IS_ERR_OR_NULL(dev))
		bdev_put(dev, NULL);
	remove_disk(ram);
}

/* What the medium holds, past every cache. => -1: an error */
static int on_disk(u64 sector)
{
	struct bio *bio = bio_alloc(&ram->whole, BIO_READ, sector, 1, GFP_KERNEL);
	u8 *buf = kmalloc(SECTOR_SIZE, GFP_KERNEL);
	int v = -1;

	if (bio && buf) {
		bio_add_memory(bio, buf, SECTOR_SIZE);
		if (!submit_bio_wait(bio))
			v = buf[17];
	}
	if (bio)
		bio_put(bio);
	kfree(buf);
	return v;
}

static bool put_on_disk(u64 sector, u8 what)
{
	struct bio *bio = bio_alloc(&ram->whole, BIO_WRITE, sector, 1, GFP_KERNEL);
	u8 *buf = kmalloc(SECTOR_SIZE, GFP_KERNEL);
	bool ok = false;

	if (bio && buf) {
		memset(buf, what, SECTOR_SIZE);
		bio_add_memory(bio, buf, SECTOR_SIZE);
		ok = !submit_bio_wait(bio);
	}
	if (bio)
		bio_put(bio);
	kfree(buf);
	return ok;
}

static bool fill_block(u64 nr, u32 size, u8 what)
{
	struct bblock b;

	if (bblock_read(dev, nr, size, &b))
		return false;
	memset(b.data, what, size);
	bblock_dirty(&b);
	bblock_put(&b);
	return true;
}

KTEST(bblock, read_write_sync)
{
	struct bblock b;

	KT_ASSERT(open_ram("ram:size=1M"));
	KT_ASSERT(fill_block(3, 1024, 0x5a));
	KT_EQ(on_disk(6), 0); /* not yet */
	KT_EQ(bblock_sync(dev, 3, 1, 1024), 0);
	KT_EQ(on_disk(6), 0x5a);
	KT_EQ(on_disk(7), 0x5a);
	KT_EQ(on_disk(5), 0);
	KT_EQ(on_disk(8), 0);
	KT_EQ(bblock_read(dev, 1024, 1024, &b), -EFBIG);
	KT_ASSERT(!b.page);
	bblock_put(&b);
	KT_EQ(bblock_read(dev, ~0ull, 4096, &b), -EFBIG);
	KT_EQ(bblock_new(dev, 1, 4096, &b), 0);
	KT_EQ(((u8 *)b.data)[100], 0);
	bblock_put(&b);
	close_ram();
}

/* The neighbour of a dirty block changes on the medium behind the cache's back, and stays. */
KTEST(bblock, only_dirty_sectors_are_written)
{
	KT_ASSERT(open_ram("ram:size=1M"));
	KT_ASSERT(fill_block(0, 512, 1)); /* sectors 0, 3, 4, 7 of the first page: three runs */
	KT_ASSERT(fill_block(3, 512, 2));
	KT_ASSERT(fill_block(4, 512, 3));
	KT_ASSERT(fill_block(7, 512, 4));
	for (int i = 1; i < 7; i++)
		if (i != 3 && i != 4)
			KT_ASSERT(put_on_disk(i, 0x77));
	KT_EQ(bblock_sync(dev, 0, 8, 512), 0);
	for (int i = 0; i < 8; i++) {
		static const u8 want[] = { 1, 0x77, 0x77, 2, 3, 0x77, 0x77, 4 };

		KT_EQ(on_disk(i), want[i]);
	}
	KT_ASSERT(fill_block(1, 512, 9)); /* the marks were taken: only this one now */
	KT_ASSERT(put_on_disk(0, 0x66));
	KT_EQ(bblock_sync(dev, 0, 8, 512), 0);
	KT_EQ(on_disk(0), 0x66);
	KT_EQ(on_disk(1), 9);
	close_ram();
}

/* A page that write(2) made dirty as a whole stays so when a block of it is marked too. */
KTEST(bblock, whole_page_and_block)
{
	u8 *buf = kmalloc(PAGE_SIZE, GFP_KERNEL);
	struct bblock b;

	KT_ASSERT(buf && open_ram("ram:size=1M"));
	KT_EQ(bblock_read(dev, 0, 4096, &b), 0); /* cached, clean */
	bblock_put(&b);
	memset(buf, 0x21, PAGE_SIZE);
	KT_EQ(pagecache_write_kernel(dev->mapping, 0, buf, PAGE_SIZE), PAGE_SIZE);
	KT_ASSERT(fill_block(1, 512, 0x22));
	KT_EQ(bdev_sync(dev), 0);
	for (int i = 0; i < 8; i++)
		KT_EQ(on_disk(i), i == 1 ? 0x22 : 0x21);
	/* the other way round: a marked block first, then a write beside it */
	KT_ASSERT(fill_block(0, 512, 0x31));
	memset(buf, 0x32, 1024);
	KT_EQ(pagecache_write_kernel(dev->mapping, 1024, buf, 1024), 1024);
	KT_EQ(bdev_sync(dev), 0);
	KT_EQ(on_disk(0), 0x31);
	KT_EQ(on_disk(1), 0x22);
	KT_EQ(on_disk(2), 0x32);
	KT_EQ(on_disk(3), 0x32);
	KT_EQ(on_disk(4), 0x21);
	kfree(buf);
	close_ram();
}

KTEST(bblock, forget_drops_what_is_dirty)
{
	KT_ASSERT(open_ram("ram:size=1M"));
	KT_ASSERT(fill_block(0, 1024, 1));
	KT_ASSERT(fill_block(1, 1024, 2));
	bblock_forget(dev, 1, 1, 1024);
	KT_EQ(bdev_sync(dev), 0);
	KT_EQ(on_disk(0), 1);
	KT_EQ(on_disk(2), 0);
	KT_ASSERT(fill_block(5, 4096, 3));
	KT_ASSERT(fill_block(6, 4096, 3));
	bblock_forget(dev, 5, 2, 4096);
	KT_ASSERT(!xa_tagged(&dev->mapping->pages, XA_DIRTY));
	KT_EQ(bdev_sync(dev), 0);
	KT_EQ(on_disk(40), 0);
	close_ram();
}

KTEST(bblock, the_last_close_writes_and_forgets)
{
	struct bblock b;

	KT_ASSERT(open_ram("ram:size=1M"));
	KT_ASSERT(fill_block(2, 4096, 0x44));
	bdev_put(dev, NULL);
	KT_ASSERT(!ram->whole.bdev);
	KT_EQ(on_disk(16), 0x44);
	KT_ASSERT(put_on_disk(16, 0x45));
	dev = bdev_get(ram->whole.dev, 1, NULL);
	KT_ASSERT(!IS_ERR(dev));
	KT_EQ(bblock_read(dev, 2, 4096, &b), 0);
	KT_EQ(((u8 *)b.data)[17], 0x45);
	bblock_put(&b);
	close_ram();
}

/* A device that ends within a page: the rest reads as zero and is never written. */
KTEST(bblock, end_within_a_page)
{
	struct bblock b;
	u8 *buf = kmalloc(PAGE_SIZE, GFP_KERNEL);

	KT_ASSERT(buf && open_ram("ram:size=1M"));
	bdev_put(dev, NULL);
	disk_set_size(ram, 11);
	dev = bdev_get(ram->whole.dev, 1, NULL);
	KT_ASSERT(!IS_ERR(dev));
	KT_EQ(dev->mapping->size, 11 * 512);
	KT_EQ(bblock_read(dev, 10, 512, &b), 0);
	memset(b.data, 0x12, 512);
	bblock_dirty(&b);
	bblock_put(&b);
	KT_EQ(bblock_read(dev, 11, 512, &b), -EFBIG);
	memset(buf, 0x13, PAGE_SIZE);
	KT_EQ(pagecache_write_kernel(dev->mapping, 8 * 512, buf, 1024), 1024);
	KT_EQ(bdev_sync(dev), 0);
	KT_EQ(on_disk(9), 0x13);
	KT_EQ(on_disk(10), 0x12);
	kfree(buf);
	close_ram();
}

KTEST(bblock, holders_exclude_each_other)
{
	int one, two;
	struct bdev *b;

	KT_ASSERT(open_ram("ram:size=1M"));
	b = bdev_get(ram->whole.dev, 1, &one);
	KT_ASSERT(b == dev);
	KT_EQ(PTR_ERR(bdev_get(ram->whole.dev, 1, &two)), -EBUSY);
	KT_ASSERT(bdev_get(ram->whole.dev, 0, &one) == dev);
	bdev_put(dev, &one);
	KT_EQ(PTR_ERR(bdev_get(ram->whole.dev, 1, &two)), -EBUSY);
	bdev_put(dev, &one);
	KT_ASSERT(bdev_get(ram->whole.dev, 1, &two) == dev);
	bdev_put(dev, &two);
	KT_EQ(PTR_ERR(bdev_get(MKDEV(252, 4000), 1, NULL)), -ENXIO);
	KT_EQ(PTR_ERR(bdev_get_path("/dev/null", 0, NULL)), -ENOTBLK);
	ram->whole.read_only = 1;
	KT_EQ(PTR_ERR(bdev_get(ram->whole.dev, 1, NULL)), -EROFS);
	close_ram();
}

/* The disk is pulled out while it is open and has dirty blocks: errors, no hang, no crash. */
KTEST(bblock, removed_while_open)
{
	struct bblock b;
	struct disk *d;

	KT_ASSERT(open_ram("ram:size=1M"));
	KT_ASSERT(fill_block(1, 4096, 1));
	d = ram;
	disk_get(d);
	d->by_name = false;
	disk_remove(d);
	KT_EQ(PTR_ERR(bdev_get(d->whole.dev, 0, NULL)), -ENXIO);
	KT_ASSERT(bblock_read(dev, 5, 4096, &b) < 0);
	KT_EQ(bblock_read(dev, 1, 4096, &b), 0); /* still cached */
	memset(b.data, 2, 4096);
	bblock_dirty(&b);
	bblock_put(&b);
	KT_ASSERT(bdev_sync(dev) < 0);
	bdev_put(dev, NULL);
	disk_put(d);
	disk_put(d);
}

KTEST(bblock, cost_of_a_cached_block)
{
	struct bblock b;
	u64 start, read, dirty;

	KT_ASSERT(open_ram("ram:size=1M"));
	KT_ASSERT(fill_block(1, 4096, 1));
	start = ktime_get();
	for (int i = 0; i < 1000; i++) {
		bblock_read(dev, 1, 4096, &b);
		bblock_put(&b);
	}
	read = (ktime_get() - start) / 1000;
	bblock_read(dev, 1, 4096, &b);
	start = ktime_get();
	for (int i = 0; i < 1000; i++)
		bblock_dirty(&b);
	dirty = (ktime_get() - start) / 1000;
	bblock_put(&b);
	pr_notice("bblock: read and put %llu ns, mark again %llu ns", (unsigned long long)read,
		  (unsigned long long)dirty);
	close_ram();
}

/* ---- writeback against marking: no change is lost -------------------------------------------- */
#define RACE_ROUNDS 3000u

static int syncer(void *unused)
{
	while (!kthread_should_stop()) {
		bblock_sync(dev, 0, 16, 512);
		cond_resched();
	}
	return 0;
}

KTEST(bblock, marks_and_writeback_race)
{
	struct thread *s;
	struct bblock b;

	KT_ASSERT(open_ram("ram:size=1M"));
	s = kthread_run(syncer, NULL, -1, "syncer");
	KT_ASSERT(s);
	for (u32 i = 1; i <= RACE_ROUNDS; i++) {
		for (u32 k = 0; k < 16; k += 3) {
			if (bblock_read(dev, k, 512, &b))
				break;
			memset(b.data, i, 512);
			bblock_dirty(&b);
			bblock_put(&b);
		}
		if (i % 64 == 0)
			cond_resched();
	}
	kthread_stop(s);
	KT_EQ(bdev_sync(dev), 0);
	for (u32 k = 0; k < 16; k++)
		KT_EQ(on_disk(k), k % 3 ? 0 : (u8)RACE_ROUNDS);
	close_ram();
}

/* ---- inodes by number ---- */
static struct superblock *sb;
static atomic_t evicted, filled, failed;

static void test_evict(struct inode *inode)
{
	atomic_inc(&evicted);
	if (inode->ino % 3 == 0)
		schedule_timeout(1); /* the window in which others find it dying */
}
static const struct fs_type test_type = { .name = "icachetest", .flags = FS_NODEV };

static bool make_sb(void)
{
	if (!sb) {
		sb = super_new(&test_type, 0, "test");
		if (IS_ERR(sb))
			return false;
		sb->evict_inode = test_evict;
	}
	atomic_set(&evicted, 0);
	atomic_set(&filled, 0);
	atomic_set(&failed, 0);
	return true;
}

static struct inode *get_inode(u64 ino, int err)
{
	struct inode *inode = inode_iget(sb, ino);

	if (IS_ERR(inode))
		return inode;
	if (inode->flags & INODE_NEW) {
		atomic_inc(&filled);
		inode->mode = S_IFREG | 0644;
		inode->uid = ino;
		inode_new_done(inode, err);
		if (err)
			return ERR_PTR(err);
	}
	return inode;
}

KTEST(icache, one_inode_per_number)
{
	struct inode *a, *b, *c;

	KT_ASSERT(make_sb());
	a = get_inode(7, 0);
	b = get_inode(7, 0);
	c = get_inode(8, 0);
	KT_ASSERT(!IS_ERR(a) && a == b && c != a);
	KT_EQ(atomic_read(&filled), 2);
	inode_put(a);
	KT_EQ(atomic_read(&evicted), 0);
	inode_put(b);
	KT_EQ(atomic_read(&evicted), 1);
	KT_EQ(PTR_ERR(get_inode(9, -EIO)), -EIO);
	KT_EQ(atomic_read(&evicted), 1); /* nothing of the file system was in it */
	a = get_inode(9, 0);		 /* an error is not remembered */
	KT_ASSERT(!IS_ERR(a));
	b = inode_new(sb, S_IFREG);
	KT_ASSERT(b);
	b->ino = 9;
	KT_EQ(inode_hash_insert(b), -EEXIST);
	b->ino = 10;
	KT_EQ(inode_hash_insert(b), 0);
	KT_ASSERT(get_inode(10, 0) == b);
	inode_put(b);
	inode_put(b);
	inode_put(a);
	inode_put(c);
	KT_ASSERT(list_empty(&sb->inodes));
}

#define ICACHE_THREADS 4
#define ICACHE_ROUNDS 2000u
static atomic_t ended;

static int icache_user(void *arg)
{
	u64 seed = (unsigned long)arg * 77 + 1;

	for (u32 i = 0; i < ICACHE_ROUNDS; i++) {
		struct inode *inode;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		inode = get_inode(100 + (seed >> 33) % 4, (seed >> 40) % 16 ? 0 : -EIO);
		if (IS_ERR(inode)) {
			if (PTR_ERR(inode) != -EIO)
				atomic_inc(&failed);
			continue;
		}
		if (inode->uid != inode->ino ||
		    (inode->flags & (INODE_NEW | INODE_DYING | INODE_FAILED)))
			atomic_inc(&failed);
		if (seed >> 60 == 3)
			cond_resched();
		inode_put(inode);
	}
	atomic_inc(&ended);
	while (!kthread_should_stop())
		schedule_timeout(NSEC_PER_MSEC);
	return 0;
}

KTEST(icache, lookup_and_end_race)
{
	struct thread *users[ICACHE_THREADS];
	u32 n;

	KT_ASSERT(make_sb());
	atomic_set(&ended, 0);
	for (n = 0; n < ICACHE_THREADS; n++) {
		users[n] = kthread_run(icache_user, (void *)(unsigned long)n, -1, "icache%u", n);
		if (!users[n])
			break;
	}
	while (atomic_read(&ended) < (int)n)
		schedule_timeout(NSEC_PER_MSEC);
	for (u32 i = 0; i < n; i++)
		kthread_stop(users[i]);
	KT_EQ(n, ICACHE_THREADS);
	KT_EQ(atomic_read(&failed), 0);
	KT_ASSERT(list_empty(&sb->inodes));
	KT_ASSERT(atomic_read(&evicted) > 0);
}

/* ---- an error of writing is told once to every open file ---- */
static struct file *open_dev(const char *name)
{
	char path[40];

	snprintf(path, sizeof(path), "/dev/%s", name);
	return vfs_open(NULL, path, O_RDWR, 0);
}

KTEST(bblock, errors_told_once_to_every_file)
{
	struct disk *faulty;
	struct file *a, *b, *late;
	char line[80];
	u64 pos = 0;
	u8 *buf = kzalloc(PAGE_SIZE, GFP_KERNEL);

	KT_ASSERT(buf);
	vfs_mkdir(NULL, "/dev", 0755);
	KT_EQ(vfs_mount("devtmpfs", "/dev", "devtmpfs", 0, NULL), 0);
	ram = disk_create("ram:size=1M");
	KT_ASSERT(!IS_ERR(ram));
	snprintf(line, sizeof(line), "faulty:over=%s,rule=error/op=write", ram->name);
	faulty = disk_create(line);
	KT_ASSERT(!IS_ERR(faulty));
	a = open_dev(faulty->name);
	b = open_dev(faulty->name);
	KT_ASSERT(!IS_ERR(a) && !IS_ERR(b));
	KT_EQ(vfs_fsync(a, 0), 0);
	KT_EQ(pagecache_write_kernel(a->mapping, pos, buf, 512), 512);
	KT_EQ(vfs_fsync(a, 0), -EIO);
	KT_EQ(vfs_fsync(a, 0), 0);
	KT_EQ(vfs_fsync(b, 0), -EIO);
	KT_EQ(vfs_fsync(b, 0), 0);
	late = open_dev(faulty->name);
	KT_ASSERT(!IS_ERR(late));
	KT_EQ(vfs_fsync(late, 0), 0); /* it was told already to those who were there */
	file_put(a);
	file_put(b);
	file_put(late);
	remove_disk(faulty);
	remove_disk(ram);
	kfree(buf);
	KT_EQ(vfs_umount("/dev", 0), 0);
}
