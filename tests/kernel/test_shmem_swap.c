/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_shmem_swap.c - pages of shared memory on their way to a slot and back: contents, books, and
 * the races. The swap area is a piece of memory that can be slow and broken.
 */
#include "lib/err.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/cache/mapping.h"
#include "mm/debug/vmstat.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/page_alloc.h"
#include "mm/phys/zone.h"
#include "mm/swap/swap.h"
#include "sched/kthread.h"
#include "sched/sched.h"
#include "tests/kernel/ktest.h"

#define P PAGE_SIZE
#define SLOTS 300

static long charged;
static int charge(struct mapping *m, long pages)
{
	charged += pages;
	return 0;
}
static const struct mapping_ops memory_ops = { .charge = charge };

static struct mapping *make(void)
{
	struct mapping *m = kzalloc(sizeof(*m), GFP_KERNEL);

	charged = 0;
	if (m)
		mapping_init(m, &memory_ops, NULL, MAPF_SHMEM);
	return m;
}

static void unmake(struct mapping *m)
{
	mapping_destroy(m);
	kfree(m);
}

/* ---- a swap area in memory; with delay, a thread ends what was begun ---- */

struct pending {
	struct page *page;
	void (*done)(struct page *page, int err);
};
static struct store {
	char *bytes;
	bool broken, delay;
	u32 reads, writes, nr;
	struct pending waiting[64];
	spinlock_t lock;
} store = { .lock = SPINLOCK_INIT(RANK_LEAF, "test_store") };

static int store_submit(void *owner, u64 slot, struct page *page, bool write,
			void (*done)(struct page *page, int err))
{
	bool later;

	if (write)
		memcpy(store.bytes + slot * P, page_address(page), P);
	else
		memcpy(page_address(page), store.bytes + slot * P, P);
	spin_lock(&store.lock);
	store.reads += !write;
	store.writes += write;
	later = store.delay && store.nr < ARRAY_SIZE(store.waiting);
	if (later)
		store.waiting[store.nr++] = (struct pending){ page, done };
	spin_unlock(&store.lock);
	if (!later)
		done(page, store.broken ? -EIO : 0);
	return 0;
}
static const struct swap_ops store_ops = { .submit = store_submit };

static void store_end_all(void)
{
	for (;;) {
		struct pending p = { NULL };

		spin_lock(&store.lock);
		if (store.nr)
			p = store.waiting[--store.nr];
		spin_unlock(&store.lock);
		if (!p.page)
			return;
		p.done(p.page, 0);
	}
}

static int store_thread(void *arg)
{
	while (!kthread_should_stop()) {
		store_end_all();
		sched_yield();
	}
	store_end_all();
	return 0;
}

static int swap_open(u64 slots)
{
	struct swap_new n = { .path = "test", .ops = &store_ops, .owner = &store, .slots = slots };

	if (total_swap_pages())
		return -EBUSY; /* somebody else's swap would take the pages */
	store.broken = store.delay = false;
	store.reads = store.writes = store.nr = 0;
	store.bytes = kvmalloc(slots * P, GFP_KERNEL);
	return store.bytes ? swap_area_add(&n) : -ENOMEM;
}

static int swap_close(void)
{
	int err = swap_area_remove(&store);

	if (!err)
		kvfree(store.bytes);
	return err;
}

/* As reclaim does it. drop: the page leaves memory when it is written. */
static int out(struct mapping *m, unsigned long index, bool drop)
{
	struct page *page = pagecache_find(m, index);
	int err;

	if (!page)
		return -ENOENT;
	page_lock(page);
	err = page->mapping == m ? shmem_swap_out(page) : -ENOENT;
	if (err) {
		page_unlock(page);
		page_put(page);
		return err;
	}
	page_clear(page, PG_dirty);
	swap_write_page(page); /* unlocks */
	if (drop) {
		page_wait_writeback(page);
		page_lock(page);
		if (page_test(page, PG_swapcache))
			swapcache_drop(page);
		page_unlock(page);
	}
	page_put(page);
	return 0;
}

/* Page i holds the number i + generation in each word. */
static int put_number(struct mapping *m, unsigned long i, u64 generation)
{
	static u64 words[P / 8];
	static DEFINE_MUTEX(words_lock, RANK_MAPPING);
	ssize_t n;

	mutex_lock(&words_lock);
	for (u32 k = 0; k < P / 8; k++)
		words[k] = i + generation;
	n = pagecache_write_kernel(m, i * P, words, P);
	mutex_unlock(&words_lock);
	return n == (ssize_t)P ? 0 : (int)n;
}

static s64 number_at(struct mapping *m, unsigned long i, u32 word)
{
	u64 v;

	return pagecache_read_kernel(m, i * P + word * 8, &v, 8) == 8 ? (s64)v : -1;
}

KTEST(shmem_swap, out_and_in)
{
	struct mapping *m = make();
	long shmem, cached;

	KT_EQ(swap_open(SLOTS), 0);
	for (u32 i = 0; i < 100; i++)
		KT_EQ(put_number(m, i, 1), 0);
	shmem = global_zone_state(NR_SHMEM);
	cached = global_zone_state(NR_FILE_PAGES);
	for (u32 i = 0; i < 100; i += 2)
		KT_EQ(out(m, i, true), 0);
	KT_EQ(m->nr_pages, 100); /* the file has as many blocks as before */
	KT_EQ(m->nr_values, 50);
	KT_EQ(charged, 100);
	KT_ASSERT(mapping_check(m));
	KT_EQ(swapcache_pages(), 0);
	KT_ASSERT(shmem - (long)global_zone_state(NR_SHMEM) >= 50 - 32);
	KT_ASSERT(cached - (long)global_zone_state(NR_FILE_PAGES) >= 50 - 64);
	KT_EQ(SLOTS - 1 - nr_swap_pages(), 50);
	KT_ASSERT(!pagecache_find(m, 4) && pagecache_find(m, 101) == NULL);
	KT_EQ(pagecache_seek(m, 0, true), 100 * P); /* what is in swap is data */
	KT_EQ(pagecache_seek(m, 4 * P, false), 4 * P);
	for (u32 i = 0; i < 100; i++)
		KT_EQ(number_at(m, i, i), i + 1);
	KT_EQ(m->nr_values, 0);
	KT_EQ(nr_swap_pages(), SLOTS - 1); /* no slot is left behind */
	KT_ASSERT(!swap_check() && !swapcache_check());
	unmake(m);
	KT_EQ(charged, 0);
	KT_EQ(swap_close(), 0);
}

KTEST(shmem_swap, write_brings_back)
{
	struct mapping *m = make();
	char b = 9;

	KT_EQ(swap_open(SLOTS), 0);
	for (u32 i = 0; i < 8; i++)
		KT_EQ(put_number(m, i, 7), 0);
	for (u32 i = 0; i < 8; i++)
		KT_EQ(out(m, i, true), 0);
	KT_EQ(pagecache_write_kernel(m, 3 * P + 8, &b, 1), 1); /* a part: the rest is kept */
	KT_EQ(number_at(m, 3, 0), 10);
	KT_EQ(number_at(m, 3, 1), 9);
	KT_EQ(put_number(m, 4, 70), 0); /* the whole */
	KT_EQ(number_at(m, 4, 511), 74);
	KT_EQ(m->nr_values, 6);
	KT_EQ(charged, 8);
	KT_EQ(out(m, 3, true), 0); /* and out once more, changed */
	KT_EQ(number_at(m, 3, 1), 9);
	KT_ASSERT(mapping_check(m));
	unmake(m); /* with six in swap */
	KT_EQ(charged, 0);
	KT_EQ(nr_swap_pages(), SLOTS - 1);
	KT_EQ(swap_close(), 0);
}

/* Wanted again while it is in the cache, and while it is being written: it is not read. */
KTEST(shmem_swap, back_from_the_cache)
{
	struct mapping *m = make();
	struct thread *ender;

	KT_EQ(swap_open(SLOTS), 0);
	KT_EQ(put_number(m, 0, 5), 0);
	KT_EQ(put_number(m, 1, 5), 0);
	KT_EQ(out(m, 0, false), 0);
	KT_EQ(swapcache_pages(), 1);
	KT_EQ(number_at(m, 0, 3), 5);
	store.delay = true;
	KT_EQ(out(m, 1, false), 0);
	ender = kthread_run(store_thread, NULL, -1, "ender");
	KT_ASSERT(ender);
	KT_EQ(number_at(m, 1, 3), 6);
	kthread_stop(ender);
	KT_EQ(store.reads, 0);
	KT_EQ(store.writes, 2);
	KT_EQ(swapcache_pages(), 0);
	KT_EQ(nr_swap_pages(), SLOTS - 1);
	unmake(m);
	KT_EQ(swap_close(), 0);
}

KTEST(shmem_swap, truncate)
{
	struct mapping *m = make();

	KT_EQ(swap_open(SLOTS), 0);
	for (u32 i = 0; i < 20; i++)
		KT_EQ(put_number(m, i, 1), 0);
	for (u32 i = 0; i < 20; i++)
		KT_EQ(out(m, i, i != 12), 0);
	m->size = 10 * P + 16; /* two words of page 10 stay */
	pagecache_truncate(m, m->size);
	KT_EQ(m->nr_pages, 11);
	KT_EQ(charged, 11);
	KT_EQ(SLOTS - 1 - nr_swap_pages(), 10); /* page 10 came back to be zeroed in part */
	pagecache_extend(m, 20 * P);
	KT_EQ(number_at(m, 10, 1), 11);
	KT_EQ(number_at(m, 10, 2), 0);
	KT_EQ(number_at(m, 12, 0), 0);
	pagecache_punch(m, 2 * P + 8, 5 * P);
	KT_EQ(m->nr_pages, 9);
	KT_EQ(number_at(m, 2, 0), 3);
	KT_EQ(number_at(m, 2, 1), 0);
	KT_EQ(number_at(m, 3, 0), 0);
	KT_EQ(number_at(m, 5, 0), 6);
	KT_ASSERT(mapping_check(m));
	unmake(m);
	KT_EQ(charged, 0);
	KT_EQ(nr_swap_pages(), SLOTS - 1);
	KT_EQ(swap_close(), 0);
}

/* What is in use, locked in memory, or has no room, stays as it was. */
KTEST(shmem_swap, refused)
{
	struct mapping *m = make();
	struct page *page;

	KT_EQ(swap_open(4), 0);
	for (u32 i = 0; i < 4; i++)
		KT_EQ(put_number(m, i, 1), 0);
	page = pagecache_find(m, 0);
	KT_EQ(out(m, 0, true), -EBUSY); /* a second user: somebody may be writing to it */
	page_put(page);
	m->flags |= MAPF_UNEVICTABLE;
	KT_EQ(out(m, 0, true), -EBUSY);
	m->flags &= ~MAPF_UNEVICTABLE;
	KT_EQ(nr_swap_pages(), 3);
	KT_EQ(swapcache_pages(), 0);
	for (u32 i = 0; i < 3; i++)
		KT_EQ(out(m, i, true), 0);
	KT_EQ(out(m, 3, true), -ENOSPC);
	for (u32 i = 0; i < 4; i++)
		KT_EQ(number_at(m, i, 0), i + 1);
	unmake(m);
	KT_EQ(swap_close(), 0);
}

KTEST(shmem_swap, read_error)
{
	struct mapping *m = make();

	KT_EQ(swap_open(SLOTS), 0);
	for (u32 i = 0; i < 3; i++)
		KT_EQ(put_number(m, i, 1), 0);
	for (u32 i = 0; i < 3; i++)
		KT_EQ(out(m, i, true), 0);
	store.broken = true;
	KT_EQ(number_at(m, 1, 0), -1);
	m->size = P + 8;
	pagecache_truncate(m, m->size); /* what cannot be read cannot be kept either */
	store.broken = false;
	KT_EQ(m->nr_pages, 1);
	KT_EQ(charged, 1);
	KT_EQ(number_at(m, 1, 0), 0);
	unmake(m);
	KT_EQ(charged, 0);
	KT_EQ(nr_swap_pages(), SLOTS - 1);
	KT_EQ(swap_close(), 0);
}

KTEST(shmem_swap, swapoff)
{
	struct mapping *m[3];

	KT_EQ(swap_open(SLOTS), 0);
	for (u32 k = 0; k < 3; k++) {
		m[k] = make();
		for (u32 i = 0; i < 30; i++)
			KT_EQ(put_number(m[k], i, 1000 * k), 0);
		for (u32 i = k; i < 30; i += 2)
			KT_EQ(out(m[k], i, i % 3 == 0), 0);
	}
	KT_EQ(swap_close(), 0);
	for (u32 k = 0; k < 3; k++) {
		KT_EQ(m[k]->nr_values, 0);
		for (u32 i = 0; i < 30; i++)
			KT_EQ(number_at(m[k], i, 1), 1000 * k + i);
		KT_ASSERT(mapping_check(m[k]));
		unmake(m[k]);
	}
}

/* Readers, a writer that counts up, truncation and reclaim at once, on a slow disk. */
static struct mapping *shared;

static int reader(void *arg)
{
	struct rng rng;
	long bad = 0;

	rng_seed(&rng, (unsigned long)arg);
	while (!kthread_should_stop()) {
		u32 i = rng_below(&rng, 64);
		s64 v = number_at(shared, i, rng_below(&rng, 512));

		bad += v != -1 && v != 0 && (v - i) % 1000;
		sched_yield();
	}
	return bad ? -EIO : 0;
}

static int swapper(void *arg)
{
	struct rng rng;
	long done = 0;

	rng_seed(&rng, 77 + (unsigned long)arg);
	while (!kthread_should_stop()) {
		done += !out(shared, rng_below(&rng, 64), rng_below(&rng, 2));
		sched_yield();
	}
	return done ? 0 : -ENOENT;
}

KTEST(shmem_swap, race)
{
	struct thread *threads[5];
	u64 generation[64] = { 0 };
	struct rng rng;

	KT_EQ(swap_open(SLOTS), 0);
	store.delay = true;
	shared = make();
	shared->size = 64 * P;
	rng_seed(&rng, 5);
	threads[0] = kthread_run(reader, (void *)1, -1, "reader/0");
	threads[1] = kthread_run(reader, (void *)2, -1, "reader/1");
	threads[2] = kthread_run(swapper, (void *)0, -1, "swapper/0");
	threads[3] = kthread_run(swapper, (void *)1, -1, "swapper/1");
	threads[4] = kthread_run(store_thread, NULL, -1, "ender");
	for (int round = 0; round < 1500; round++) {
		u32 i = rng_below(&rng, 64);
		s64 v = number_at(shared, i, 5);

		KT_EQ(v, generation[i] ? generation[i] + i : 0);
		if (rng_below(&rng, 40) == 0) {
			pagecache_punch(shared, i * P, (i + 1) * P);
			generation[i] = 0;
		} else {
			generation[i] += 1000;
			KT_EQ(put_number(shared, i, generation[i]), 0);
		}
		if (rng_below(&rng, 8) == 0)
			sched_yield();
	}
	for (u32 k = 0; k < 5; k++)
		KT_EQ(kthread_stop(threads[k]), 0);
	store.delay = false;
	KT_ASSERT(mapping_check(shared));
	for (u32 i = 0; i < 64; i++)
		KT_EQ(number_at(shared, i, 7), generation[i] ? generation[i] + i : 0);
	KT_EQ(nr_swap_pages(), SLOTS - 1);
	KT_ASSERT(!swap_check() && !swapcache_check());
	KT_ASSERT(store.reads && store.writes);
	unmake(shared);
	KT_EQ(charged, 0);
	KT_EQ(swap_close(), 0);
}
