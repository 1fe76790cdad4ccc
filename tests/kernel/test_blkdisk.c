// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_blkdisk.c - RAM disks (holes, discard, the end of the last reference), partitions as parts,
 * and the lines that make disks.
 */
#include "tests/kernel/ktest.h"

#include "arch/smp.h"
#include "drivers/blk/create.h"
#include "drivers/blk/internal.h"
#include "kernel/show.h"
#include "lib/err.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"

static int rw(struct blk_part *part, enum bio_op op, u64 sector, void *buf, u32 bytes)
{
	struct bio *bio = bio_alloc(part, op, sector, 1, GFP_KERNEL);
	int err = bio_add_memory(bio, buf, bytes) ? submit_bio_wait(bio) : -E2BIG;

	bio_put(bio);
	return err;
}

static unsigned long ram_pages(struct disk *disk)
{
	char text[256] = "", *p;
	struct seq seq = { .buf = text, .size = sizeof(text) - 1 };
	u64 v = 0;

	disk->ops->show(disk, &seq);
	p = strstr(text, "memory ");
	for (p = p ? p + 7 : text; isdigit_c(*p); p++)
		v = v * 10 + *p - '0';
	return v / PAGE_SIZE;
}

KTEST(blkdisk, ramdisk)
{
	struct disk *disk = disk_create("ram:size=4M");
	u8 *buf = kmalloc(8192, GFP_KERNEL);

	KT_ASSERT(!IS_ERR(disk) && buf);
	KT_EQ(disk->major, 1);
	memset(buf, 0xff, 8192);
	KT_EQ(rw(&disk->whole, BIO_READ, 0, buf, 8192), 0);
	KT_ASSERT(!memchr_inv(buf, 0, 8192));
	KT_EQ(ram_pages(disk), 0);
	memset(buf, 0x5a, 8192);
	KT_EQ(rw(&disk->whole, BIO_WRITE, 3, buf, 8192), 0); /* over three pages */
	KT_EQ(ram_pages(disk), 3);
	memset(buf, 0, 8192);
	KT_EQ(rw(&disk->whole, BIO_READ, 3, buf, 8192), 0);
	KT_ASSERT(!memchr_inv(buf, 0x5a, 8192));
	KT_EQ(blk_discard(&disk->whole, 4, 16), 0); /* page 1 whole, parts of 0 and 2 */
	KT_EQ(ram_pages(disk), 2);
	KT_EQ(rw(&disk->whole, BIO_READ, 3, buf, 8192), 0);
	KT_ASSERT(buf[511] == 0x5a && buf[512] == 0 && !memchr_inv(buf + 512, 0, 15 * 512));
	KT_EQ(blk_zero(&disk->whole, 0, 8192), 0);
	KT_EQ(ram_pages(disk), 0);
	KT_EQ(rw(&disk->whole, BIO_WRITE, 8191, buf, 1024), -ENXIO);
	KT_EQ(rw(&disk->whole, BIO_WRITE, 8191, buf, 512), 0);
	KT_EQ(blk_flush(&disk->whole), 0);
	disk_get(disk);
	disk_remove(disk);
	KT_EQ(rw(&disk->whole, BIO_READ, 0, buf, 512), -ENXIO);
	KT_EQ(ram_pages(disk), 1); /* until the last reference goes */
	disk_put(disk);
	disk_put(disk);
	kfree(buf);
}

static void put32(u8 *p, u32 v)
{
	for (int i = 0; i < 4; i++)
		p[i] = v >> 8 * i;
}

KTEST(blkdisk, partitions)
{
	struct disk *disk = disk_create("ram:size=1M");
	u8 *buf = kzalloc(512, GFP_KERNEL);
	char name[DISK_NAME + 8];
	struct blk_part *part;

	KT_ASSERT(!IS_ERR(disk) && buf);
	buf[446 + 4] = 0x83;
	put32(buf + 446 + 8, 64);
	put32(buf + 446 + 12, 256);
	buf[446 + 16 + 4] = 0x83;
	put32(buf + 446 + 16 + 8, 300); /* overlaps the first: left out */
	put32(buf + 446 + 16 + 12, 100);
	buf[510] = 0x55;
	buf[511] = 0xaa;
	KT_EQ(rw(&disk->whole, BIO_WRITE, 0, buf, 512), 0);
	KT_EQ(disk_rescan(disk), 0);
	strlcpy(name, disk->name, sizeof(name));
	strlcat(name, "p1", sizeof(name));
	part = blk_part_get(name);
	KT_ASSERT(part);
	KT_EQ(part->start, 64);
	KT_EQ(part->nr_sectors, 256);
	KT_EQ(part->dev, disk->whole.dev + 1);
	KT_ASSERT(!disk->parts[2]);
	memset(buf, 0x77, 512);
	KT_EQ(rw(part, BIO_WRITE, 10, buf, 512), 0);
	memset(buf, 0, 512);
	KT_EQ(rw(&disk->whole, BIO_READ, 74, buf, 512), 0);
	KT_ASSERT(!memchr_inv(buf, 0x77, 512));
	KT_EQ(rw(part, BIO_WRITE, 256, buf, 512), -ENXIO);
	KT_EQ(part->stats->cpu[smp_processor_id()].ios[STAT_WRITE] > 0 || nr_cpus > 1, 1);
	memset(buf, 0, 512);
	KT_EQ(rw(&disk->whole, BIO_WRITE, 0, buf, 512), 0);
	KT_EQ(disk_rescan(disk), 0);
	KT_ASSERT(!blk_part_get(name));
	KT_EQ(rw(part, BIO_READ, 0, buf, 512), -ENXIO); /* held, but empty now */
	blk_part_put(part);
	disk_remove(disk);
	disk_put(disk);
	kfree(buf);
}

KTEST(blkdisk, lines_that_make_disks)
{
	static const char *const bad[] = { "nokind",	  "ram",	   "ram:size=0",
					   "ram:size=1X", "ram:length=5M", "ram:size" };

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++)
		KT_EQ(PTR_ERR(disk_create(bad[i])), -EINVAL);
}
