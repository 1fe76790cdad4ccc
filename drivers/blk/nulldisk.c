// SPDX-License-Identifier: BSD-2-Clause
/*
 * nulldisk.c - a disk that forgets: writes vanish, reads are zeros, and every request ends before
 * queue_rq returns. What is left is the cost of the block layer itself (sys/kbench.c), and the
 * smallest example of a driver with a queue.
 */
#include "drivers/blk/create.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "lib/err.h"
#include "lib/string.h"

static int null_queue_rq(struct disk *disk, struct request *rq)
{
	struct rq_iter it = { 0 };

	if (rq->op == BIO_READ)
		while (rq_next_piece(rq, &it))
			memset(it.addr, 0, it.bytes);
	blk_end_request(rq, 0);
	return 0;
}

static void null_show(struct disk *disk, struct seq *seq)
{
	seq_printf(seq, "model null\nbytes %llu\n",
		   (unsigned long long)disk->nr_sectors << SECTOR_SHIFT);
}

static const struct disk_ops null_ops = { .queue_rq = null_queue_rq, .show = null_show };

static struct disk *null_create(char *args)
{
	u64 bytes = GiB(1), depth = 32;
	const struct disk_arg keys[] = {
		{ "size", DISK_ARG_SIZE, &bytes, PAGE_SIZE, 1ull << 50 },
		{ "depth", DISK_ARG_UINT, &depth, 1, 256 },
	};
	char name[DISK_NAME];
	struct disk *disk;
	int err = disk_args_parse("null", args, keys, ARRAY_SIZE(keys));

	if (!err && disk_name_next("null", name) < 0)
		err = -ENOSPC;
	if (err)
		return ERR_PTR(err);
	disk = disk_alloc(name, &null_ops, NULL);
	if (!disk)
		return ERR_PTR(-ENOMEM);
	disk->nr_sectors = ALIGN_DOWN(bytes, (u64)PAGE_SIZE) >> SECTOR_SHIFT;
	disk->limits.queue_depth = depth;
	disk->limits.discard = true;
	disk->limits.write_zeroes = true;
	disk->in_order = true;
	err = disk_add(disk);
	if (!err)
		return disk;
	pr_err("null: %s not added: error %d", name, -err);
	disk_put(disk);
	return ERR_PTR(err);
}
DISK_MODEL("null", null_create, "forgets writes, reads zeros, at once: size=, depth=");
