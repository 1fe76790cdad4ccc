/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_diskcache.c - the page cache above a disk in miniature, which is slow, full or broken when
 * told to: homes of pages, short writes, reading ahead, writing back, mappings that notice writes,
 * and a load in which nothing may be lost.
 */
#include "arch/uaccess.h"
#include "lib/err.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/cache/readahead.h"
#include "mm/cache/writeback.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/page_alloc.h"
#include "mm/vm/aspace.h"
#include "mm/vm/ptwalk.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"

#define P PAGE_SIZE
#define BLOCKS 256ul

/* One file on one device; a block is a page. */
static struct disk_file {
	struct bdi bdi;
	struct mapping m;
	char *data; /* BLOCKS pages */
	bool homed[BLOCKS];
	long room;    /* blocks that can still be given */
	int delay_us; /* of each transfer; by the disk's thread */
	int broken;   /* reads and writes fail */
	int begins, reads, batches, writes, gone;
	/* the disk's thread: pages it has to do */
	spinlock_t lock;
	struct page *queue[BLOCKS * 2];
	u32 head, tail;
	struct wait_queue work;
	struct thread *thread;
} * d;

static void transfer(struct page *page, bool write)
{
	unsigned long i = page->index;
	char *va = page_kmap(page);

	if (write) {
		u64 end = d->m.size;

		if ((i + 1) * P > end && i * P < end)
			memset(va + end % P, 0, P - end % P);
		memcpy(d->data + i * P, va, P);
	} else if (d->homed[i]) {
		memcpy(va, d->data + i * P, P);
	} else {
		memset(va, 0, P);
	}
	page_kunmap(va);
}

static void finish(struct page *page)
{
	bool write = page_test(page, PG_writeback);

	if (!write) {
		transfer(page, false);
		if (!d->broken)
			page_set(page, PG_uptodate);
		page_unlock(page);
	} else {
		pagecache_end_writeback(page, d->broken ? -EIO : 0);
	}
}

static int disk_thread(void *arg)
{
	while (!kthread_should_stop()) {
		struct page *page = NULL;

		spin_lock(&d->lock);
		if (d->head != d->tail)
			page = d->queue[d->head++ % (BLOCKS * 2)];
		spin_unlock(&d->lock);
		if (page) {
			sleep_ns(d->delay_us * 1000l);
			finish(page);
		} else {
			sleep_ns(20000);
		}
	}
	return 0;
}

static void start(struct page *page)
{
	if (!d->delay_us) {
		finish(page);
		return;
	}
	spin_lock(&d->lock);
	d->queue[d->tail++ % (BLOCKS * 2)] = page;
	spin_unlock(&d->lock);
}

static int f_read_page(struct mapping *m, struct page *page)
{
	d->reads++;
	start(page);
	return 0;
}

static void f_read_pages(struct mapping *m, struct page **pages, unsigned int nr)
{
	d->batches++;
	for (unsigned int i = 0; i < nr; i++) {
		if (i && pages[i]->index != pages[0]->index + i)
			panic("read_pages: not consecutive");
		f_read_page(m, pages[i]);
	}
}

static int f_write_begin(struct mapping *m, struct page *page, u64 pos, size_t n, bool *homed)
{
	unsigned long i = page->index;

	d->begins++;
	if (pos / P != i || (pos + n - 1) / P != i)
		panic("write_begin: not of this page");
	if (!d->homed[i]) {
		if (d->room <= 0)
			return -ENOSPC;
		d->room--;
		memset(d->data + i * P, 0xee, P); /* what somebody else left there */
		d->homed[i] = true;
	}
	page_set(page, PG_homed);
	return 0;
}

static int f_write_page(struct mapping *m, struct page *page, struct writeback_control *wbc)
{
	d->writes++;
	if (!d->homed[page->index])
		panic("a page without a home is written");
	page_start_writeback(page);
	transfer(page, true);
	page_unlock(page);
	start(page);
	return 0;
}

static void f_hold(struct mapping *m) {}
static void f_page_gone(struct mapping *m, struct page *page)
{
	d->gone++;
}

static const struct mapping_ops file_ops = {
	.read_page = f_read_page,
	.read_pages = f_read_pages,
	.write_begin = f_write_begin,
	.write_page = f_write_page,
	.hold = f_hold,
	.release = f_hold,
	.page_gone = f_page_gone,
};

static struct mapping *setup(u64 size)
{
	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return NULL;
	d->data = vmalloc(BLOCKS * P);
	d->room = BLOCKS;
	spin_lock_init(&d->lock, RANK_NONE, "fake disk");
	strlcpy(d->bdi.name, "fake", sizeof(d->bdi.name));
	d->bdi.ra_pages = 32;
	d->bdi.max_ratio = 100;
	if (!d->data || bdi_register(&d->bdi))
		return NULL;
	mapping_init(&d->m, &file_ops, NULL, 0);
	d->m.bdi = &d->bdi;
	d->m.size = size;
	for (u64 i = 0; i * P < size; i++) {
		d->homed[i] = true;
		memset(d->data + i * P, (int)i + 1, P);
	}
	d->thread = kthread_run(disk_thread, NULL, -1, "fakedisk");
	return d->thread ? &d->m : NULL;
}

static void teardown(void)
{
	mapping_undirty(&d->m);
	mapping_destroy(&d->m);
	kthread_stop(d->thread);
	bdi_unregister(&d->bdi);
	vfree(d->data);
	kfree(d);
}

/* The blocks of pages [first, end) are free. => truncate_lock held exclusively */
static void free_blocks(unsigned long first, unsigned long end)
{
	for (unsigned long i = first; i < min(end, BLOCKS); i++) {
		d->room += d->homed[i];
		d->homed[i] = false;
	}
}

static void shorten(struct mapping *m, u64 size)
{
	WRITE_ONCE(m->size, size);
	down_write(&m->truncate_lock);
	pagecache_truncate_locked(m, size);
	free_blocks(PFN_UP(size), BLOCKS);
	up_write(&m->truncate_lock);
}

static void punch(struct mapping *m, u64 from, u64 to)
{
	down_write(&m->truncate_lock);
	pagecache_punch_locked(m, from, to);
	free_blocks(PFN_UP(from), to >> PAGE_SHIFT);
	up_write(&m->truncate_lock);
}

static long dirty_now(void)
{
	long n = 0;
	struct zone *z;

	for_each_zone(z)
		n += (long)zone_state_exact(z, NR_DIRTY) + (long)zone_state_exact(z, NR_WRITEBACK);
	return n;
}

static int byte_at(struct mapping *m, u64 pos)
{
	u8 b;

	return pagecache_read_kernel(m, pos, &b, 1) == 1 ? b : -1;
}

static char pattern[8 * PAGE_SIZE];

KTEST(diskcache, homes_and_no_room)
{
	struct mapping *m = setup(0);
	long before = dirty_now();

	KT_ASSERT(m);
	memset(pattern, 'a', sizeof(pattern));
	KT_EQ(pagecache_write_kernel(m, 0, pattern, 3 * P), 3 * P);
	KT_EQ(d->begins, 3);
	KT_EQ(m->size, 3 * P);
	KT_EQ(pagecache_write_kernel(m, 10, pattern, P), P);
	KT_EQ(d->begins, 3); /* PG_homed: nobody asks twice */
	KT_EQ(dirty_now(), before + 3);
	d->room = 2;
	KT_EQ(pagecache_write_kernel(m, 3 * P, pattern, 5 * P), 2 * P);
	KT_EQ(m->size, 5 * P);
	KT_EQ(m->nr_pages, 5);
	KT_EQ(pagecache_write_kernel(m, 5 * P, pattern, 1), -ENOSPC);
	KT_EQ(pagecache_write_kernel(m, 5 * P - 1, pattern, 2), 1);
	KT_EQ(m->size, 5 * P);
	KT_EQ(m->nr_pages, 5);
	KT_ASSERT(!pagecache_find(m, 5));
	KT_EQ(byte_at(m, 5 * P - 1), 'a');
	KT_EQ(mapping_sync_range(m, 0, ~0ull), 0);
	KT_EQ(d->writes, 5);
	KT_EQ(dirty_now(), before);
	KT_EQ(pagecache_write_kernel(m, 4, "zz", 2), 2);
	KT_EQ(dirty_now(), before + 1);
	m->size = 0;
	pagecache_truncate(m, 0);
	KT_EQ(dirty_now(), before);
	KT_ASSERT(mapping_check(m));
	teardown();
}

KTEST(diskcache, parts_of_pages)
{
	struct mapping *m = setup(2 * P + 100);

	KT_ASSERT(m);
	memset(pattern, 'b', sizeof(pattern));
	KT_EQ(pagecache_write_kernel(m, P + 7, pattern, 3), 3);
	KT_EQ(byte_at(m, P + 6), 2); /* was read first */
	KT_EQ(byte_at(m, P + 7), 'b');
	KT_EQ(byte_at(m, P + 10), 2);
	for (int i = 0; i < 50; i++) /* longer and longer in its last page */
		KT_EQ(pagecache_write_kernel(m, 2 * P + 100 + i, pattern, 1), 1);
	KT_EQ(m->size, 2 * P + 150);
	KT_EQ(byte_at(m, 2 * P + 99), 3);
	KT_EQ(byte_at(m, 2 * P + 149), 'b');
	/* far behind the end: what lies between is zero */
	memset(d->data + 2 * P + 100, 0x55, P - 100);
	KT_EQ(pagecache_write_kernel(m, 6 * P + 9, pattern, 1), 1);
	KT_EQ(byte_at(m, 2 * P + 150), 0);
	KT_EQ(byte_at(m, 4 * P), 0);
	KT_EQ(byte_at(m, 6 * P + 8), 0);
	KT_EQ(mapping_sync_range(m, 0, ~0ull), 0);
	KT_EQ(d->data[2 * P + 149], 'b');
	KT_EQ(d->data[2 * P + 150], 0);
	KT_ASSERT(!d->homed[4]);
	/* a page that could not be read can be written whole */
	KT_EQ(pagecache_drop_range(m, 0, 7 * P), 4);
	KT_EQ(m->nr_pages, 0);
	d->broken = 1;
	KT_EQ(byte_at(m, P), -1);
	KT_EQ(pagecache_write_kernel(m, P + 1, pattern, 5), -EIO);
	KT_EQ(pagecache_write_kernel(m, P, pattern, P), P);
	d->broken = 0;
	KT_EQ(byte_at(m, P + 4000), 'b');
	KT_EQ(byte_at(m, 10), 1);
	teardown();
}

KTEST(diskcache, punch_and_invalidate)
{
	struct mapping *m = setup(8 * P);
	struct page *page;

	KT_ASSERT(m);
	KT_EQ(pagecache_write_kernel(m, 0, pattern, 8 * P), 8 * P);
	page = pagecache_find(m, 2);
	KT_ASSERT(page && page_test(page, PG_homed));
	punch(m, 2 * P + 100, 5 * P + 100);
	KT_ASSERT(!page_test(page, PG_homed));
	page_put(page);
	KT_EQ(m->nr_pages, 6);
	KT_EQ(byte_at(m, 2 * P + 100) | byte_at(m, 4 * P) | byte_at(m, 5 * P + 99), 0);
	KT_EQ(pagecache_invalidate_range(m, P, 3 * P), 0);
	KT_EQ(d->data[P], pattern[P]); /* written first */
	KT_EQ(m->nr_pages, 5);	       /* 8, less a hole of 2, one read again, less 2 */
	KT_EQ(byte_at(m, 2 * P + 100), 0);
	KT_EQ(pagecache_write_kernel(m, 3 * P + 5, "x", 1), 1);
	KT_EQ(pagecache_invalidate(m, 0, ~0ul), 5); /* dirty ones stay: 0, 3, 5, 6, 7 */
	KT_ASSERT(mapping_check(m));
	teardown();
}

/* User memory of a kernel thread. */
static struct aspace *enter(void)
{
	struct aspace *mm = aspace_create();

	if (mm)
		aspace_use(mm);
	return mm;
}
static const char *leave(struct aspace *mm)
{
	const char *wrong = aspace_check(mm);

	aspace_use(NULL);
	aspace_put(mm);
	return wrong;
}

KTEST(diskcache, reading_ahead)
{
	struct mapping *m = setup(200 * P);
	struct aspace *mm = enter();
	struct ra_state ra;
	long buf;

	KT_ASSERT(m && mm);
	buf = vm_mmap(NULL, NULL, 0, 8 * P, 3, 0x22, 0);
	KT_ASSERT(buf > 0);
	ra_state_init(&ra);
	d->delay_us = 50;
	for (u64 i = 0; i < 200; i++) {
		u8 b;

		KT_EQ(pagecache_read_ra(m, &ra, i * P, (void __user *)buf, P), P);
		KT_ASSERT(!copy_from_user(&b, (void __user *)(buf + 77), 1));
		KT_EQ(b, (u8)(i + 1));
	}
	KT_EQ(d->reads, 200);
	KT_ASSERT(d->batches <= 10); /* 4, 8, 16, 32, 32, ... */
	KT_EQ(m->nr_pages, 200);
	KT_EQ(pagecache_drop_range(m, 0, 200 * P), 200);
	d->batches = d->reads = 0;
	readahead_advise(m, &ra, 0, 0, FADV_RANDOM);
	for (u64 i = 20; i < 30; i++)
		KT_EQ(pagecache_read_ra(m, &ra, i * P, (void __user *)buf, P), P);
	KT_EQ(d->reads, 10);
	readahead_advise(m, &ra, 100 * P, 50 * P, FADV_WILLNEED);
	KT_EQ(d->reads, 60);
	KT_EQ(byte_at(m, 149 * P), 150);
	KT_EQ(d->reads, 60);
	readahead_advise(m, &ra, 0, 0, FADV_DONTNEED);
	KT_EQ(m->nr_pages, 0);
	KT_ASSERT(!leave(mm));
	teardown();
}

static pte_t entry_at(struct aspace *mm, unsigned long addr)
{
	pte_t *pte = pt_find(mm, addr), none = { 0 };

	return pte ? pte_read(pte) : none;
}
static int poke(unsigned long addr, u32 v)
{
	return put_user_u32(v, (u32 __user *)addr);
}
static u32 peek(unsigned long addr)
{
	u32 v;

	return get_user_u32(&v, (const u32 __user *)addr) ? 0xdead : v;
}

KTEST(diskcache, mapping_notices_writes)
{
	struct mapping *m = setup(4 * P + 10);
	struct aspace *mm = enter();
	long before = dirty_now(), s, p;
	u32 v;

	KT_ASSERT(m && mm);
	s = vm_mmap(NULL, m, 0, 8 * P, 3, 1, 0);
	p = vm_mmap(NULL, m, 0, 8 * P, 3, 2, 0);
	KT_ASSERT(s > 0 && p > 0);
	KT_EQ(peek(s), 0x01010101);
	KT_ASSERT(!pte_write(entry_at(mm, s)));
	KT_EQ(poke(s, 77), 0);
	KT_ASSERT(pte_write(entry_at(mm, s)));
	KT_EQ(dirty_now(), before + 1);
	KT_EQ(mapping_sync_range(m, 0, ~0ull), 0);
	KT_EQ(*(u32 *)d->data, 77);
	KT_ASSERT(!pte_write(entry_at(mm, s)));
	KT_EQ(dirty_now(), before);
	KT_EQ(poke(s, 78), 0);
	KT_EQ(poke(s + 8, 79), 0);
	KT_EQ(dirty_now(), before + 1);
	KT_EQ(mapping_sync_range(m, 0, ~0ull), 0);
	KT_EQ(*(u32 *)d->data, 78);
	KT_EQ(poke(p + P, 5), 0); /* a private copy is no business of the disk */
	KT_EQ(dirty_now(), before);
	KT_EQ(peek(s + P), 0x02020202);
	/* no room for a page's home: SIGBUS, nothing else */
	d->room = 0;
	d->homed[2] = false;
	KT_EQ(poke(s + 2 * P, 1), -EFAULT);
	KT_EQ(dirty_now(), before);
	d->room = 10;
	KT_EQ(poke(s + 2 * P, 1), 0);
	/* the tail of the last page: stored to, and gone when the file grows */
	KT_EQ(poke(s + 4 * P + 12, 0x99999999), 0);
	KT_EQ(peek(s + 5 * P), 0xdead);
	pagecache_extend(m, 6 * P);
	KT_EQ(peek(s + 4 * P + 12), 0);
	KT_EQ(peek(s + 5 * P), 0);
	KT_EQ(pagecache_read_kernel(m, 4 * P + 8, &v, 4), 4);
	KT_EQ(v, 0x00000505 & v);
	/* reclaim: two looks, then the entries and the page go */
	KT_EQ(mapping_sync_range(m, 0, ~0ull), 0);
	KT_EQ(vm_munmap(s, 8 * P), 0);
	KT_EQ(vm_munmap(p, 8 * P), 0);
	KT_EQ(pagecache_invalidate(m, 0, ~0ul), 0);
	KT_EQ(m->nr_pages, 0);
	KT_ASSERT(!leave(mm));
	teardown();
}

KTEST(diskcache, broken_disk)
{
	struct mapping *m = setup(4 * P);
	struct aspace *mm = enter();
	long before = dirty_now(), s;
	errseq_t seen;

	KT_ASSERT(m && mm);
	s = vm_mmap(NULL, m, 0, 4 * P, 3, 1, 0);
	d->broken = 1;
	KT_EQ(peek(s), 0xdead);
	KT_EQ(poke(s + P, 1), -EFAULT);
	KT_EQ(dirty_now(), before);
	d->broken = 0;
	KT_EQ(peek(s), 0x01010101); /* asked again */
	KT_EQ(poke(s, 5), 0);
	seen = errseq_sample(&m->wb_err);
	d->broken = 1;
	mapping_sync_range(m, 0, ~0ull);
	KT_EQ(errseq_check_and_advance(&m->wb_err, &seen), -EIO);
	KT_EQ(errseq_check_and_advance(&m->wb_err, &seen), 0); /* told once */
	KT_EQ(dirty_now(), before);
	d->broken = 0;
	KT_EQ(peek(s), 5);
	KT_EQ(poke(s, 6), 0);
	KT_EQ(dirty_now(), before + 1);
	KT_EQ(mapping_sync_range(m, 0, ~0ull), 0);
	KT_EQ(*(u32 *)d->data, 6);
	KT_EQ(vm_munmap(s, 4 * P), 0);
	KT_ASSERT(!leave(mm));
	teardown();
}

KTEST(diskcache, truncate_waits_for_the_disk)
{
	struct mapping *m = setup(0);
	long before = dirty_now();

	KT_ASSERT(m);
	KT_EQ(pagecache_write_kernel(m, 0, pattern, 8 * P), 8 * P);
	d->delay_us = 300;
	KT_EQ(mapping_start_writeback(m, 0, ~0ull, WB_SYNC_ALL, WB_REASON_SYNC), 0);
	m->size = P;
	pagecache_truncate(m, P);
	KT_EQ(m->nr_pages, 1);
	mapping_wait_writeback(m, 0, ~0ull);
	KT_EQ(dirty_now(), before);
	KT_ASSERT(mapping_check(m));
	teardown();
}

/*
 * One thread writes, stores through a mapping, truncates and punches, and keeps a copy of what the
 * file must hold; two write it back and push it out of memory as fast as they can.
 */
static int syncer(void *arg)
{
	while (!kthread_should_stop()) {
		mapping_sync_range(&d->m, 0, ~0ull);
		sleep_ns(20000); /* with nothing to write it would keep a CPU from the others */
	}
	return 0;
}
static int dropper(void *arg)
{
	while (!kthread_should_stop()) {
		pagecache_drop_range(&d->m, 0, ~0ull);
		sleep_ns(50000);
	}
	return 0;
}

#define LOAD_PAGES 24ul

static const char *load_step(struct rng *rng, struct mapping *m, char *want, long map)
{
	unsigned long i = rng_below(rng, LOAD_PAGES), n = 1 + rng_below(rng, 3 * P);
	u64 pos = i * P + rng_below(rng, P);
	u32 v = (u32)rng_u64(rng);

	n = min(n, LOAD_PAGES * P - pos);
	switch (rng_below(rng, 8)) {
	case 0:
		if (pos < m->size) { /* shorter */
			shorten(m, pos);
			memset(want + pos, 0, LOAD_PAGES * P - pos);
		} else {
			pagecache_extend(m, pos);
		}
		return NULL;
	case 1:
		punch(m, pos, min(pos + n, m->size));
		if (pos < m->size)
			memset(want + pos, 0, min(pos + n, m->size) - pos);
		return NULL;
	case 2:
	case 3:
	case 4:
		pos &= ~3ull;
		if (pos + 4 > m->size)
			return NULL;
		if (poke(map + pos, v))
			return "a store failed";
		memcpy(want + pos, &v, 4);
		return NULL;
	default:
		memset(pattern, (int)v, n);
		if (pagecache_write_kernel(m, pos, pattern, n) != (ssize_t)n)
			return "a write failed";
		memcpy(want + pos, pattern, n);
		return NULL;
	}
}

static const char *compare(struct mapping *m, const char *want)
{
	static char got[PAGE_SIZE];

	for (u64 pos = 0; pos < m->size; pos += P) {
		size_t n = min(P, m->size - pos);

		if (pagecache_read_kernel(m, pos, got, P) != (ssize_t)n)
			return "a read failed";
		if (memcmp(got, want + pos, n))
			return "the file holds something else than was written";
	}
	return NULL;
}

KTEST(diskcache, nothing_is_lost)
{
	struct mapping *m = setup(0);
	struct aspace *mm = enter();
	char *want = vmalloc(LOAD_PAGES * P);
	struct thread *s, *r;
	const char *wrong = NULL;
	long before = dirty_now(), map;
	struct rng rng;

	KT_ASSERT(m && mm && want);
	memset(want, 0, LOAD_PAGES * P);
	map = vm_mmap(NULL, m, 0, LOAD_PAGES * P, 3, 1, 0);
	KT_ASSERT(map > 0);
	d->delay_us = 5;
	s = kthread_run(syncer, NULL, -1, "syncer");
	r = kthread_run(dropper, NULL, -1, "dropper");
	KT_ASSERT(s && r);
	rng_seed(&rng, 42);
	for (int step = 0; step < 3000 && !wrong; step++) {
		wrong = load_step(&rng, m, want, map);
		if (!wrong && step % 64 == 0)
			wrong = compare(m, want);
		if (step % 7 == 0)
			sleep_ns(20000);
	}
	kthread_stop(s);
	kthread_stop(r);
	if (wrong)
		pr_err("diskcache: %s", wrong);
	KT_ASSERT(!wrong);
	/* And so does the disk. */
	KT_EQ(mapping_sync_range(m, 0, ~0ull), 0);
	KT_EQ(vm_munmap(map, LOAD_PAGES * P), 0);
	KT_EQ(pagecache_invalidate(m, 0, ~0ul), 0);
	KT_EQ(m->nr_pages, 0);
	KT_ASSERT(!compare(m, want));
	KT_EQ(dirty_now(), before);
	KT_ASSERT(mapping_check(m));
	vfree(want);
	KT_ASSERT(!leave(mm));
	teardown();
}
