/* SPDX-License-Identifier: BSD-2-Clause */
/* test_faulty.c - the faulty disk over a RAM disk: every kind of fault, the cache, the freeze. */
#include "tests/kernel/ktest.h"

#include "drivers/blk/create.h"
#include "kernel/show.h"
#include "kernel/time.h"
#include "lib/err.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sched/kthread.h"

#define SECTORS 64u /* of one transfer at most */
static struct disk *ram, *faulty;
static u8 *buf;

static void remove(struct disk *d)
{
	if (IS_ERR_OR_NULL(d))
		return;
	d->by_name = false;
	disk_remove(d);
	disk_put(d);
}

static bool open_pair(const char *options)
{
	char line[160];

	ram = disk_create("ram:size=1M");
	if (IS_ERR(ram))
		return false;
	snprintf(line, sizeof(line), "faulty:over=%s%s%s", ram->name, *options ? "," : "", options);
	faulty = disk_create(line);
	buf = kzalloc(SECTORS * SECTOR_SIZE, GFP_KERNEL);
	return !IS_ERR(faulty) && buf;
}

static void close_pair(void)
{
	kfree(buf);
	remove(faulty);
	remove(ram);
}

static int transfer(struct disk *d, enum bio_op op, u64 sector, u32 nr, u32 flags)
{
	struct bio *bio = bio_alloc(&d->whole, op, sector, 1, GFP_KERNEL);
	int err;

	if (!bio)
		return -ENOMEM;
	bio->flags |= flags;
	if (op == BIO_READ || op == BIO_WRITE)
		bio_add_memory(bio, buf, nr * SECTOR_SIZE);
	err = submit_bio_wait(bio);
	bio_put(bio);
	return err;
}

static int put(struct disk *d, u64 sector, u32 nr, u8 what, u32 flags)
{
	memset(buf, what, nr * SECTOR_SIZE);
	return transfer(d, BIO_WRITE, sector, nr, flags);
}

/* How many of the sectors hold `what` throughout; -1: an error, -2: a sector is mixed. */
static int count_of(struct disk *d, u64 sector, u32 nr, u8 what)
{
	int n = 0;

	memset(buf, 0xee, nr * SECTOR_SIZE);
	if (transfer(d, BIO_READ, sector, nr, 0))
		return -1;
	for (u32 i = 0; i < nr; i++) {
		u8 *s = buf + i * SECTOR_SIZE;

		if (memchr_inv(s, *s, SECTOR_SIZE))
			return -2;
		n += *s == what;
	}
	return n;
}

static ssize_t rules(const char *text)
{
	char path[64];
	long index;
	struct show_entry *e;

	snprintf(path, sizeof(path), "/sys/block/%s/rules", faulty->name);
	e = show_find(path, &index);
	return e && e->store ? e->store(text, strlen(text), index) : -ENOENT;
}

KTEST(faulty, passes_through)
{
	KT_ASSERT(open_pair(""));
	KT_EQ(faulty->nr_sectors, ram->nr_sectors);
	KT_EQ(put(faulty, 10, 20, 'a', 0), 0);
	KT_EQ(count_of(ram, 10, 20, 'a'), 20);
	KT_EQ(count_of(ram, 30, 1, 0), 1);
	KT_EQ(put(ram, 12, 1, 'b', 0), 0);
	KT_EQ(count_of(faulty, 10, 20, 'b'), 1);
	KT_EQ(transfer(faulty, BIO_FLUSH, 0, 0, 0), 0);
	KT_EQ(put(faulty, faulty->nr_sectors - 1, 1, 'z', BIO_FUA), 0);
	KT_EQ(count_of(ram, ram->nr_sectors - 1, 1, 'z'), 1);
	close_pair();
}

KTEST(faulty, errors_by_rule)
{
	KT_ASSERT(open_pair("rule=error/op=write/range=100-109/count=3"));
	KT_EQ(put(faulty, 92, 8, 'a', 0), 0);
	KT_EQ(put(faulty, 96, 8, 'a', 0), -EIO);
	KT_EQ(put(faulty, 109, 1, 'a', 0), -EIO);
	KT_EQ(count_of(faulty, 100, 8, 0), 8);
	KT_EQ(put(faulty, 100, 1, 'a', 0), -EIO);
	KT_EQ(put(faulty, 100, 1, 'a', 0), 0); /* three were to fail */
	KT_ASSERT(rules("clear\nerror op=flush errno=ENOSPC\n") > 0);
	KT_EQ(transfer(faulty, BIO_FLUSH, 0, 0, 0), -ENOSPC);
	KT_EQ(put(faulty, 100, 1, 'b', 0), 0);
	KT_ASSERT(rules("del 0; error op=read every=2") > 0);
	KT_EQ(count_of(faulty, 0, 1, 0), 1);
	KT_EQ(count_of(faulty, 0, 1, 0), -1);
	KT_EQ(count_of(faulty, 0, 1, 0), 1);
	KT_EQ(rules("error op=seek"), -EINVAL);
	KT_EQ(count_of(faulty, 0, 1, 0), -1); /* the bad line changed nothing */
	close_pair();
}

KTEST(faulty, delays)
{
	ktime_t start;

	KT_ASSERT(open_pair("rule=delay/op=write/time=50ms"));
	start = ktime_get();
	KT_EQ(put(faulty, 0, 8, 'a', 0), 0);
	KT_ASSERT(ktime_get() - start >= 50 * NSEC_PER_MSEC);
	start = ktime_get();
	KT_EQ(count_of(faulty, 0, 8, 'a'), 8);
	KT_ASSERT(ktime_get() - start < 50 * NSEC_PER_MSEC);
	close_pair();
}

KTEST(faulty, torn_writes)
{
	int n;

	KT_ASSERT(open_pair("seed=5,rule=torn/count=1"));
	KT_EQ(put(faulty, 0, 64, 'a', 0), -EIO);
	n = count_of(ram, 0, 64, 'a');
	KT_ASSERT(n > 10 && n < 54);
	KT_EQ(count_of(ram, 0, 64, 0), 64 - n);
	KT_ASSERT(rules("torn silent after=0 count=1") > 0);
	KT_EQ(put(faulty, 0, 64, 'b', 0), 0); /* it lies */
	n = count_of(ram, 0, 64, 'b');
	KT_ASSERT(n > 10 && n < 54);
	KT_EQ(put(faulty, 0, 64, 'c', 0), 0);
	KT_EQ(count_of(ram, 0, 64, 'c'), 64);
	close_pair();
}

KTEST(faulty, freezes_after_writes)
{
	int n;

	KT_ASSERT(open_pair("seed=3,rule=freeze/after=3"));
	KT_EQ(put(faulty, 0, 8, 'a', 0), 0);
	KT_EQ(put(faulty, 8, 8, 'a', 0), 0);
	KT_EQ(put(faulty, 16, 48, 'a', 0), -EIO); /* torn */
	KT_EQ(put(faulty, 64, 8, 'a', 0), -EIO);
	KT_EQ(transfer(faulty, BIO_FLUSH, 0, 0, 0), -EIO);
	KT_EQ(count_of(faulty, 0, 8, 'a'), -1);
	KT_EQ(count_of(ram, 0, 16, 'a'), 16);
	n = count_of(ram, 16, 48, 'a');
	KT_ASSERT(n > 4 && n < 44);
	KT_EQ(count_of(ram, 64, 8, 0), 8);
	KT_ASSERT(rules("thaw") > 0);
	KT_EQ(count_of(faulty, 16, 48, 'a'), n);
	KT_EQ(put(faulty, 64, 8, 'b', 0), 0);
	close_pair();
}

KTEST(faulty, freezes_at_a_time)
{
	KT_ASSERT(open_pair("rule=freeze/in=20ms"));
	KT_EQ(put(faulty, 0, 8, 'a', 0), 0);
	sleep_ns(30 * NSEC_PER_MSEC);
	KT_EQ(put(faulty, 0, 8, 'b', 0), -EIO);
	KT_EQ(count_of(ram, 0, 8, 'a'), 8);
	close_pair();
}

static int hanging_write(void *arg)
{
	u8 *own = kzalloc(SECTOR_SIZE, GFP_KERNEL);
	struct bio *bio = bio_alloc(&faulty->whole, BIO_WRITE, 0, 1, GFP_KERNEL);

	bio_add_memory(bio, own, SECTOR_SIZE);
	*(int *)arg = submit_bio_wait(bio);
	bio_put(bio);
	kfree(own);
	while (!kthread_should_stop())
		sleep_ns(NSEC_PER_MSEC);
	return 0;
}

KTEST(faulty, hangs_until_thaw)
{
	struct thread *thread;
	int result = 1;

	KT_ASSERT(open_pair("freeze=hang,rule=freeze/now"));
	thread = kthread_run(hanging_write, &result, -1, "hanging");
	KT_ASSERT(thread);
	sleep_ns(50 * NSEC_PER_MSEC);
	KT_EQ(READ_ONCE(result), 1);
	KT_ASSERT(rules("thaw") > 0);
	kthread_stop(thread);
	KT_EQ(result, -EIO);
	KT_EQ(count_of(ram, 0, 1, 0), 1);
	close_pair();
}

KTEST(faulty, volatile_cache)
{
	KT_ASSERT(open_pair("cache,destage=0"));
	KT_EQ(put(faulty, 3, 20, 'a', 0), 0); /* not aligned to anything */
	KT_EQ(count_of(ram, 0, 32, 0), 32);
	KT_EQ(count_of(faulty, 3, 20, 'a'), 20);
	KT_EQ(count_of(faulty, 0, 32, 'a'), 20);
	KT_EQ(put(ram, 0, 3, 'm', 0), 0); /* the medium shows where the cache has nothing */
	KT_EQ(count_of(faulty, 0, 8, 'm'), 3);
	KT_EQ(put(faulty, 5, 2, 'b', BIO_FUA), 0);
	KT_EQ(count_of(ram, 0, 32, 'b'), 2);
	KT_EQ(count_of(ram, 0, 32, 'a'), 0);
	KT_EQ(transfer(faulty, BIO_FLUSH, 0, 0, 0), 0);
	KT_EQ(count_of(ram, 3, 20, 'a'), 18);
	KT_EQ(count_of(ram, 3, 20, 'b'), 2);
	/* PREFLUSH: what came before is safe, this one is not */
	KT_EQ(put(faulty, 40, 8, 'c', 0), 0);
	KT_EQ(put(faulty, 48, 8, 'd', BIO_PREFLUSH), 0);
	KT_EQ(count_of(ram, 40, 8, 'c'), 8);
	KT_EQ(count_of(ram, 48, 8, 'd'), 0);
	/* removal is an orderly farewell */
	remove(faulty);
	faulty = NULL;
	KT_EQ(count_of(ram, 48, 8, 'd'), 8);
	close_pair();
}

/* Per round: what was flushed is there; of the rest a part; sectors are whole; some were lost. */
static bool cut_is_fair(u32 unit, int *kept)
{
	int new, old;

	if (put(faulty, 0, 64, 'o', 0) || transfer(faulty, BIO_FLUSH, 0, 0, 0) ||
	    put(faulty, 0, 64, 'n', 0) || rules("freeze now") < 0)
		return false;
	if (put(faulty, 0, 8, 'x', 0) != -EIO || count_of(faulty, 0, 8, 'n') != -1)
		return false;
	if (count_of(ram, 0, 64, 'o') != 64 || rules("thaw") < 0)
		return false;
	new = count_of(ram, 0, 64, 'n');
	old = count_of(ram, 0, 64, 'o');
	if (new < 0 || new + old != 64 || count_of(faulty, 0, 64, 'n') != new)
		return false;
	for (u32 i = 0; i < 64; i += unit) {
		int n = count_of(ram, i, unit, 'n');

		if (n && n != (int)unit)
			return false;
	}
	*kept += new;
	return true;
}

KTEST(faulty, a_cut_drops_a_subset)
{
	int kept = 0;

	KT_ASSERT(open_pair("cache,seed=9"));
	for (int i = 0; i < 20; i++)
		KT_ASSERT(cut_is_fair(1, &kept));
	KT_ASSERT(kept > 500 && kept < 780); /* of 1280, half */
	kept = 0;
	KT_ASSERT(rules("cache on unit=8 keep=25%") > 0);
	for (int i = 0; i < 20; i++)
		KT_ASSERT(cut_is_fair(8, &kept));
	KT_ASSERT(kept > 160 && kept < 480);
	KT_ASSERT(rules("cache on keep=0") > 0);
	kept = 0;
	KT_ASSERT(cut_is_fair(8, &kept));
	KT_EQ(kept, 0);
	close_pair();
}

KTEST(faulty, old_versions_may_reach_the_medium)
{
	int first;

	KT_ASSERT(open_pair("cache,seed=2,destage=50%,keep=0%"));
	KT_EQ(put(faulty, 0, 64, '1', 0), 0);
	KT_EQ(put(faulty, 0, 64, '2', 0), 0);
	KT_ASSERT(rules("freeze now") > 0);
	KT_ASSERT(rules("thaw") > 0);
	first = count_of(ram, 0, 64, '1');
	KT_ASSERT(first > 10 && first < 54);
	KT_EQ(count_of(ram, 0, 64, 0), 64 - first);
	close_pair();
}

KTEST(faulty, a_freeze_inside_a_flush)
{
	int n;

	/* 4 scattered writes, then the flush sends 4 runs: the third freezes it */
	KT_ASSERT(open_pair("cache,destage=0,keep=0,rule=freeze/after=7"));
	for (u32 i = 0; i < 4; i++)
		KT_EQ(put(faulty, i * 100, 8, 'a', 0), 0);
	KT_EQ(transfer(faulty, BIO_FLUSH, 0, 0, 0), -EIO);
	KT_ASSERT(rules("thaw") > 0);
	n = count_of(ram, 0, 8, 'a') + count_of(ram, 100, 8, 'a') + count_of(ram, 200, 8, 'a') +
	    count_of(ram, 300, 8, 'a');
	KT_EQ(n, 16);
	close_pair();
}

KTEST(faulty, over_what_is_not_there)
{
	KT_ASSERT(IS_ERR(disk_create("faulty:over=nothing")));
	KT_ASSERT(IS_ERR(disk_create("faulty:seed=1")));
	KT_ASSERT(IS_ERR(disk_create("faulty:over")));
	KT_ASSERT(IS_ERR(disk_create("faulty")));
	KT_ASSERT(IS_ERR(disk_create("faulty:destage=30,over=nothing")));
	KT_ASSERT(IS_ERR(disk_create("faulty:rule=freeze/now,rule=thaw")));
}

/* Words that act on the disk below may stand before its name. */
KTEST(faulty, words_in_any_order)
{
	static const char *const words[] = { "destage=30", "keep=10", "unit=8", "rule=cache/off",
					     "rule=freeze/now,rule=thaw" };

	ram = disk_create("ram:size=1M");
	KT_ASSERT(!IS_ERR(ram));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		char line[96];

		snprintf(line, sizeof(line), "faulty:%s,over=%s", words[i], ram->name);
		faulty = disk_create(line);
		KT_ASSERT(!IS_ERR(faulty));
		remove(faulty);
	}
	remove(ram);
}

/* Each holds its lock while the next works, so the tower has a limit. */
KTEST(faulty, tower)
{
	struct disk *d[8], *below;
	int n = 0;

	ram = disk_create("ram:size=1M");
	KT_ASSERT(!IS_ERR(ram));
	for (below = ram; n < 8; below = d[n++]) {
		char line[64];

		snprintf(line, sizeof(line), "faulty:over=%s,cache", below->name);
		d[n] = disk_create(line);
		if (IS_ERR(d[n]))
			break;
	}
	KT_EQ(n, 4);
	KT_EQ(blk_flush(&d[n - 1]->whole), 0);
	while (n--)
		remove(d[n]);
	remove(ram);
}
