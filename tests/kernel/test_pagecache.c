/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_pagecache.c - pages of a file: read, write, holes, truncation, disks that are slow or
 * broken, and the races.
 */
#include "lib/err.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/cache/mapping.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"

#define P PAGE_SIZE

static long charged, charge_limit;
static int charge(struct mapping *m, long pages)
{
	if (pages > 0 && charged + pages > charge_limit)
		return -ENOSPC;
	charged += pages;
	return 0;
}
static const struct mapping_ops memory_ops = { .charge = charge };

static struct mapping *make(const struct mapping_ops *ops, unsigned long flags)
{
	struct mapping *m = kzalloc(sizeof(*m), GFP_KERNEL);

	charged = 0;
	charge_limit = 10000;
	if (m)
		mapping_init(m, ops, NULL, flags);
	return m;
}

static void unmake(struct mapping *m)
{
	mapping_destroy(m);
	kfree(m);
}

static int byte_at(struct mapping *m, u64 pos)
{
	u8 b;

	return pagecache_read_kernel(m, pos, &b, 1) == 1 ? b : -1;
}

KTEST(pagecache, read_write)
{
	struct mapping *m = make(&memory_ops, MAPF_SHMEM);
	char buf[300];

	memset(buf, 'x', sizeof(buf));
	KT_EQ(pagecache_write_kernel(m, 2 * P - 100, buf, 300), 300);
	KT_EQ(m->size, 2 * P + 200);
	KT_EQ(m->nr_pages, 2);
	KT_EQ(charged, 2);
	KT_EQ(byte_at(m, 0), 0);
	KT_EQ(m->nr_pages, 2); /* reading a hole makes nothing */
	KT_EQ(byte_at(m, 2 * P - 101), 0);
	KT_EQ(byte_at(m, 2 * P - 100), 'x');
	KT_EQ(byte_at(m, 2 * P + 199), 'x');
	KT_EQ(byte_at(m, 2 * P + 200), -1);
	KT_EQ(pagecache_read_kernel(m, 2 * P + 150, buf, 300), 50);
	KT_EQ(pagecache_seek(m, 0, false), P);
	KT_EQ(pagecache_seek(m, P, true), 2 * P + 200);
	charge_limit = 2;
	KT_EQ(pagecache_write_kernel(m, 9 * P, buf, 1), -ENOSPC);
	KT_ASSERT(mapping_check(m));
	unmake(m);
	KT_EQ(charged, 0);
}

KTEST(pagecache, truncate_punch)
{
	struct mapping *m = make(&memory_ops, MAPF_SHMEM);
	u8 ones[64];

	memset(ones, 1, sizeof(ones));
	for (u64 pos = 0; pos < 20 * P; pos += 64)
		KT_EQ(pagecache_write_kernel(m, pos, ones, 64), 64);
	KT_EQ(m->nr_pages, 20);
	pagecache_punch(m, 2 * P + 10, 5 * P + 20);
	KT_EQ(m->nr_pages, 18);
	KT_EQ(byte_at(m, 2 * P + 9), 1);
	KT_EQ(byte_at(m, 2 * P + 10), 0);
	KT_EQ(byte_at(m, 4 * P), 0);
	KT_EQ(byte_at(m, 5 * P + 19), 0);
	KT_EQ(byte_at(m, 5 * P + 20), 1);
	pagecache_punch(m, 7 * P + 5, 7 * P + 6);
	KT_EQ(byte_at(m, 7 * P + 4) + byte_at(m, 7 * P + 5) + byte_at(m, 7 * P + 6), 2);
	KT_EQ(pagecache_seek(m, 3 * P, false), 5 * P);
	KT_EQ(pagecache_seek(m, 0, true), 3 * P);
	m->size = 10 * P + 1;
	pagecache_truncate(m, m->size);
	KT_EQ(m->nr_pages, 9);
	m->size = 20 * P;
	KT_EQ(byte_at(m, 10 * P), 1);
	KT_EQ(byte_at(m, 10 * P + 1), 0);
	KT_EQ(byte_at(m, 15 * P), 0);
	KT_ASSERT(mapping_check(m));
	unmake(m);
	KT_EQ(charged, 0);
}

/* A disk in miniature: page i is full of byte i; it breaks when told to. */
static int broken, reads;
static int disk_read(struct mapping *m, struct page *page)
{
	char *va = page_kmap(page);

	reads++;
	memset(va, (int)page->index, P);
	page_kunmap(va);
	if (!broken)
		page_set(page, PG_uptodate);
	page_unlock(page);
	return broken ? -EIO : 0;
}
static const struct mapping_ops disk_ops = { .read_page = disk_read };

KTEST(pagecache, disk)
{
	struct mapping *m = make(&disk_ops, 0);
	char one = 77;

	m->size = 8 * P;
	reads = broken = 0;
	KT_EQ(byte_at(m, 3 * P), 3);
	KT_EQ(byte_at(m, 3 * P + 9), 3);
	KT_EQ(reads, 1);
	KT_EQ(pagecache_write_kernel(m, 4 * P + 1, &one, 1), 1); /* part of a page: read first */
	KT_EQ(reads, 2);
	KT_EQ(byte_at(m, 4 * P), 4);
	KT_EQ(byte_at(m, 4 * P + 1), 77);
	KT_ASSERT(xa_get_tag(&m->pages, 4, XA_DIRTY) && !xa_get_tag(&m->pages, 3, XA_DIRTY));
	broken = 1;
	KT_EQ(byte_at(m, 6 * P), -1);
	broken = 0;
	KT_EQ(byte_at(m, 6 * P), 6); /* read again */
	KT_EQ(m->nr_pages, 3);
	KT_ASSERT(pagecache_drop_clean() >= 2);
	KT_EQ(m->nr_pages, 1); /* the dirty one */
	KT_ASSERT(mapping_check(m));
	unmake(m);
}

/* One thread changes the size and fills, others read: nobody sees a byte that was never there. */
static struct mapping *shared;
static int reader(void *arg)
{
	long bad = 0;

	while (!kthread_should_stop()) {
		for (unsigned long i = 0; i < 64; i++) {
			int b = byte_at(shared, i * P + 5);

			bad += b != -1 && b != 0 && b != (int)(i + 1);
		}
		cond_resched();
	}
	return bad ? -EIO : 0;
}

KTEST(pagecache, race)
{
	struct thread *r[2];
	struct rng rng;

	shared = make(&memory_ops, MAPF_SHMEM);
	rng_seed(&rng, 5);
	for (int i = 0; i < 2; i++)
		r[i] = kthread_run(reader, NULL, -1, "reader/%d", i);
	KT_ASSERT(r[0] && r[1]);
	for (int round = 0; round < 300; round++) {
		unsigned long i = rng_below(&rng, 64);
		char b = i + 1;

		switch (rng_below(&rng, 3)) {
		case 0:
			shared->size = i * P + rng_below(&rng, P);
			pagecache_truncate(shared, shared->size);
			break;
		case 1:
			pagecache_punch(shared, i * P, (i + 4) * P);
			break;
		default:
			KT_EQ(pagecache_write_kernel(shared, i * P + 5, &b, 1), 1);
		}
		cond_resched();
	}
	KT_EQ(kthread_stop(r[0]), 0);
	KT_EQ(kthread_stop(r[1]), 0);
	KT_ASSERT(mapping_check(shared));
	unmake(shared);
}
