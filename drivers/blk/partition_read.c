// SPDX-License-Identifier: BSD-2-Clause
/*
 * partition_read.c - the partitions of a disk as parts: reads the table, makes the records, prints
 * the line " vda: vda1 vda2".
 */
#include "drivers/blk/internal.h"
#include "drivers/blk/partition.h"
#include "kernel/printk.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"

static int read_sectors(struct partition_source *src, u64 sector, u32 n, void *buf)
{
	struct disk *disk = src->private;
	struct bio *bio = bio_alloc(&disk->whole, BIO_READ, sector, 4, GFP_KERNEL);
	u32 block = disk->limits.logical_block;
	int err = 0;

	if (!bio)
		return -ENOMEM;
	if (n % (block >> SECTOR_SHIFT) || !bio_add_memory(bio, buf, n << SECTOR_SHIFT))
		err = -EINVAL;
	if (!err)
		err = submit_bio_wait(bio);
	bio_put(bio);
	return err == -EINVAL ? -EIO : err;
}

static void complain_line(struct partition_source *src, const char *line)
{
	struct disk *disk = src->private;

	pr_warn("blk: %s: %s", disk->name, line);
}

static struct blk_part *part_new(struct disk *disk, u32 number)
{
	struct blk_part *part = kzalloc(sizeof(*part), GFP_KERNEL);
	size_t len = strlen(disk->name);

	if (!part)
		return NULL;
	part->stats = part_stats_new();
	if (!part->stats) {
		kfree(part);
		return NULL;
	}
	part->disk = disk;
	part->number = number;
	part->dev = disk->whole.dev + number;
	snprintf(part->name, sizeof(part->name), "%s%s%u", disk->name,
		 isdigit_c(disk->name[len - 1]) ? "p" : "", number);
	return part;
}

static int part_set(struct disk *disk, const struct partition *p)
{
	struct blk_part *part = disk->parts[p->number];

	if (!part)
		part = part_new(disk, p->number);
	if (!part)
		return -ENOMEM;
	part->start = p->start;
	part->read_only = disk->limits.read_only;
	smp_store_release(&disk->parts[p->number], part);
	WRITE_ONCE(part->nr_sectors, p->nr_sectors);
	return 0;
}

static void print_line(struct disk *disk, const struct partition *table, int n)
{
	char line[128];
	size_t len = 0;

	for (int i = 0; i < n && len < sizeof(line) - 1; i++) {
		struct blk_part *part = disk->parts[table[i].number];

		if (part)
			len += scnprintf(line + len, sizeof(line) - len, " %s", part->name);
	}
	pr_info(" %s:%s", disk->name, line);
}

int disk_read_partitions(struct disk *disk)
{
	struct partition *table = kmalloc(PARTITION_MAX * sizeof(*table), GFP_KERNEL);
	u8 *scratch = kmalloc(PARTITION_SCRATCH, GFP_KERNEL);
	struct partition_source src = { .nr_sectors = disk->nr_sectors,
					.logical_block = disk->limits.logical_block,
					.read = read_sectors,
					.complain = complain_line,
					.scratch = scratch,
					.private = disk };
	int n = table && scratch ? partition_scan(&src, table) : -ENOMEM, err = 0;

	for (int i = 0; i < n && !err; i++)
		err = part_set(disk, &table[i]);
	if (n > 0)
		print_line(disk, table, n);
	else if (n < 0 && n != -EINVAL)
		pr_warn("blk: %s: the partition table could not be read: error %d", disk->name, -n);
	kfree(scratch);
	kfree(table);
	return n < 0 ? n : err;
}
