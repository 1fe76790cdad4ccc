/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_model.c - modelled disks as drivers: data comes back, time is the model's, discard mode
 * forgets file data and keeps metadata, the file of parameters works.
 */
#include "tests/kernel/ktest.h"

#include "drivers/blk/create.h"
#include "drivers/blk/diskmem.h"
#include "kernel/show.h"
#include "kernel/time.h"
#include "lib/err.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sched/kthread.h"

#define CHUNK (256u << 10)
static struct disk *disk;
static u8 *buf;

static bool open_disk(const char *line)
{
	disk = disk_create(line);
	buf = kmalloc(CHUNK, GFP_KERNEL);
	return !IS_ERR(disk) && buf;
}

static void close_disk(void)
{
	kfree(buf);
	disk->by_name = false;
	disk_remove(disk);
	disk_put(disk);
}

static int one(enum bio_op op, u64 sector, u32 bytes, u32 flags)
{
	struct bio *bio = bio_alloc(&disk->whole, op, sector, 1, GFP_KERNEL);
	int err;

	if (!bio)
		return -ENOMEM;
	bio->flags |= flags;
	if (op == BIO_READ || op == BIO_WRITE)
		bio_add_memory(bio, buf, bytes);
	else
		bio->bytes = bytes;
	err = submit_bio_wait(bio);
	bio_put(bio);
	return err;
}

/* ---- many at a time -------------------------------------------------------------------------- */
struct load {
	atomic_t left;
	struct completion done;
	int error;
};

static void load_end(struct bio *bio)
{
	struct load *load = bio->private;

	if (bio->error)
		load->error = bio->error;
	bio_put(bio);
	if (atomic_dec_and_test(&load->left))
		complete(&load->done);
}

/* nr transfers of `bytes`, one behind the other or at random places. => ns; 0: it failed */
static u64 run(enum bio_op op, u32 nr, u32 bytes, bool scattered)
{
	struct load load = { .error = 0 };
	u64 start = ktime_get(), places = disk->nr_sectors / (bytes >> 9);
	struct rng rng;

	rng_seed(&rng, 42);
	atomic_set(&load.left, nr + 1);
	completion_init(&load.done);
	for (u32 i = 0; i < nr; i++) {
		u64 place = scattered ? rng_below(&rng, places) : i;
		struct bio *bio = bio_alloc(&disk->whole, op, place * (bytes >> 9), 1, GFP_KERNEL);

		bio_add_memory(bio, buf, bytes);
		bio->end_io = load_end;
		bio->private = &load;
		submit_bio(bio);
	}
	if (!atomic_dec_and_test(&load.left))
		wait_for_completion(&load.done);
	return load.error ? 0 : ktime_get() - start;
}

static bool within(u64 value, u64 want, u32 per_mille)
{
	u64 off = value > want ? value - want : want - value;

	if (off * 1000 <= want * per_mille)
		return true;
	pr_err("# %llu, want %llu", (unsigned long long)value, (unsigned long long)want);
	return false;
}

static void fill(u32 seed)
{
	for (u32 i = 0; i < CHUNK / 4; i++)
		((u32 *)buf)[i] = i * 2654435761u + seed;
}

static bool is_filled(u32 seed, u32 bytes)
{
	for (u32 i = 0; i < bytes / 4; i++)
		if (((u32 *)buf)[i] != i * 2654435761u + seed)
			return false;
	return true;
}

static bool data_comes_back(void)
{
	for (u32 i = 0; i < 8; i++) {
		fill(i);
		if (one(BIO_WRITE, i * 1000 + 3, CHUNK, 0))
			return false;
	}
	for (u32 i = 0; i < 8; i++) {
		memset(buf, 0, CHUNK);
		if (one(BIO_READ, i * 1000 + 3, CHUNK, 0) || !is_filled(i, CHUNK))
			return false;
	}
	memset(buf, 1, CHUNK);
	return !one(BIO_READ, 20000, CHUNK, 0) && !memchr_inv(buf, 0, CHUNK);
}

KTEST(model, data_in_pages)
{
	static const char *const kinds[] = { "bw", "hdd", "ssd", "usb" };
	char line[64];

	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(line, sizeof(line), "%s:size=16M,mem=pages", kinds[i]);
		KT_ASSERT(open_disk(line));
		KT_ASSERT(data_comes_back());
		close_disk();
	}
}

KTEST(model, data_in_diskmem)
{
	u64 before = diskmem_free_bytes();

	if (before < 16 << 20)
		KT_SKIP("no diskmem=");
	for (int i = 0; i < 3; i++) { /* a new disk is empty, whatever the last one held */
		KT_ASSERT(open_disk("bw:size=8M"));
		KT_EQ(diskmem_free_bytes(), before - (8 << 20));
		KT_EQ(one(BIO_READ, 3, CHUNK, 0), 0);
		KT_ASSERT(!memchr_inv(buf, 0, CHUNK));
		fill(i);
		KT_EQ(one(BIO_WRITE, 3, CHUNK, 0), 0);
		memset(buf, 0, CHUNK);
		KT_EQ(one(BIO_READ, 3, CHUNK, 0), 0);
		KT_ASSERT(is_filled(i, CHUNK));
		close_disk();
	}
	KT_EQ(diskmem_free_bytes(), before);
	KT_ASSERT(IS_ERR(disk_create("bw:size=1T")));
}

KTEST(model, constant_rate)
{
	/* 16 MiB at 100 MiB/s are 160 ms, whatever the size of the pieces */
	KT_ASSERT(open_disk("bw:size=64M,bw=100M,mem=pages"));
	KT_ASSERT(within(run(BIO_WRITE, 64, CHUNK, false), 160 * NSEC_PER_MSEC, 5));
	KT_ASSERT(within(run(BIO_READ, 4096, 4096, false), 160 * NSEC_PER_MSEC, 5));
	KT_ASSERT(within(run(BIO_WRITE, 512, 32768, true), 160 * NSEC_PER_MSEC, 5));
	close_disk();
}

KTEST(model, hdd_seeks)
{
	u64 streamed, queued, alone, start;
	struct rng rng;

	KT_ASSERT(open_disk("hdd:size=4G,bw=100M,discard"));
	streamed = run(BIO_WRITE, 64, CHUNK, false);
	/* one seek and rotation at first, then the platter's rate */
	KT_ASSERT(streamed > 160 * NSEC_PER_MSEC && streamed < 190 * NSEC_PER_MSEC);
	queued = run(BIO_READ, 128, 4096, true);
	start = ktime_get();
	rng_seed(&rng, 1);
	for (u32 i = 0; i < 64; i++)
		KT_EQ(one(BIO_READ, rng_below(&rng, disk->nr_sectors / 8) * 8, 4096, 0), 0);
	alone = 2 * (ktime_get() - start);
	/* alone: half a rotation and a seek; queued: the nearest of many first */
	KT_ASSERT(alone > 128 * 6 * NSEC_PER_MSEC && alone < 128 * 18 * NSEC_PER_MSEC);
	KT_ASSERT(queued * 3 < alone * 2);
	close_disk();
}

KTEST(model, usb_is_slow)
{
	KT_ASSERT(open_disk("usb:size=16M,bw=20M,write_bw=10M,latency=5ms,mem=pages"));
	/* 8 requests of 256 KiB: each 5 ms and 25 ms */
	memset(buf, 7, CHUNK);
	for (u32 i = 0; i < 8; i++) {
		u64 start = ktime_get();

		KT_EQ(one(BIO_WRITE, i * 1024, CHUNK, 0), 0);
		KT_ASSERT(within(ktime_get() - start, 30 * NSEC_PER_MSEC, 10));
	}
	close_disk();
}

KTEST(model, discard_keeps_metadata)
{
	KT_ASSERT(open_disk("bw:size=4G,discard"));
	fill(1);
	KT_EQ(one(BIO_WRITE, 0, CHUNK, BIO_META), 0);
	KT_EQ(one(BIO_WRITE, 4096, CHUNK, 0), 0);
	memset(buf, 0, CHUNK);
	KT_EQ(one(BIO_READ, 0, CHUNK, 0), 0);
	KT_ASSERT(is_filled(1, CHUNK));
	KT_EQ(one(BIO_READ, 4096, CHUNK, 0), 0);
	KT_ASSERT(!memchr_inv(buf, 0, CHUNK));
	/* data over metadata: zeros, and only there */
	memset(buf, 0xff, CHUNK);
	KT_EQ(one(BIO_WRITE, 1, 512, 0), 0);
	KT_EQ(one(BIO_WRITE, 8, 8192, 0), 0);
	KT_EQ(one(BIO_READ, 0, CHUNK, 0), 0);
	KT_ASSERT(!memchr_inv(buf + 512, 0, 512) && !memchr_inv(buf + 4096, 0, 8192));
	memset(buf + 512, 0, 512);
	KT_ASSERT(((u32 *)buf)[256] == 256 * 2654435761u + 1); /* sector 2 as it was */
	KT_ASSERT(((u32 *)buf)[3072] == 3072 * 2654435761u + 1);
	close_disk();
}

KTEST(model, ssd_discards)
{
	KT_ASSERT(open_disk("ssd:size=16M,mem=pages"));
	fill(2);
	KT_EQ(one(BIO_WRITE, 0, CHUNK, 0), 0);
	KT_EQ(blk_discard(&disk->whole, 4, 100), 0);
	KT_EQ(blk_zero(&disk->whole, 200, 8), 0);
	KT_EQ(one(BIO_READ, 0, CHUNK, 0), 0);
	KT_ASSERT(is_filled(2, 4 * 512));
	KT_ASSERT(!memchr_inv(buf + 4 * 512, 0, 100 * 512));
	KT_ASSERT(!memchr_inv(buf + 200 * 512, 0, 8 * 512));
	KT_ASSERT(((u32 *)buf)[104 * 128] == 104 * 128 * 2654435761u + 2);
	KT_EQ(blk_discard(&disk->whole, 0, disk->nr_sectors), 0);
	KT_EQ(one(BIO_READ, 0, CHUNK, 0), 0);
	KT_ASSERT(!memchr_inv(buf, 0, CHUNK));
	close_disk();
}

KTEST(model, cache_waits_at_a_flush)
{
	u64 start;

	KT_ASSERT(open_disk("hdd:size=1G,bw=100M,cache=8M,destage=50%,discard"));
	KT_ASSERT(disk->limits.write_cache);
	start = ktime_get();
	KT_ASSERT(run(BIO_WRITE, 16, CHUNK, false)); /* 4 MiB into the cache at the link's rate */
	KT_ASSERT(ktime_get() - start < 15 * NSEC_PER_MSEC);
	KT_EQ(blk_flush(&disk->whole), 0);
	/* all of it, at 50 MiB/s */
	KT_ASSERT(within(ktime_get() - start, 80 * NSEC_PER_MSEC, 50));
	close_disk();
}

static ssize_t set(const char *text)
{
	char path[64];
	struct show_entry *e;
	long index;

	snprintf(path, sizeof(path), "/sys/block/%s/model", disk->name);
	e = show_find(path, &index);
	return e && e->store ? e->store(text, strlen(text), index) : -ENOENT;
}

KTEST(model, parameters_in_use)
{
	KT_ASSERT(open_disk("bw:size=64M,bw=100M,discard"));
	KT_ASSERT(set("bw=50M") > 0);
	KT_ASSERT(within(run(BIO_WRITE, 64, CHUNK, false), 320 * NSEC_PER_MSEC, 5));
	KT_ASSERT(set("latency=20ms\n") > 0);
	KT_ASSERT(within(run(BIO_WRITE, 1, CHUNK, false), 25 * NSEC_PER_MSEC, 10));
	KT_EQ(set("depth=1"), -EBUSY);
	KT_EQ(set("bw=0"), -ERANGE);
	KT_EQ(set("colour=red"), -ENOENT);
	KT_EQ(set("bw"), -EINVAL);
	close_disk();
	KT_ASSERT(open_disk("hdd:size=64M,discard"));
	KT_EQ(set("seek_avg=1s"), -EINVAL); /* above seek_full */
	KT_ASSERT(set("seek_full=1s") > 0);
	KT_ASSERT(set("seek_avg=1s") > 0);
	close_disk();
}

KTEST(model, refusals)
{
	static const char *const lines[] = {
		"bw:bw=fast",
		"bw:size=0",
		"hdd:rpm=1",
		"hdd:seek_avg=1us",
		"hdd:size=1G,capacity=1M",
		"ssd:page=5000",
		"ssd:channels=64,dies=16",
		"usb:depth=2",
		"bw:mem=paper",
		"bw:colour=red",
		"hdd:bw",
	};

	for (u32 i = 0; i < ARRAY_SIZE(lines); i++)
		KT_ASSERT(IS_ERR(disk_create(lines[i])));
}
