/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_writeback.c - dirty pages on their way to a device that is slow, fails or does not exist any
 * more: lists, flusher, sync, errors, the brake. The device is a thread with a queue of pages.
 */
#include "kernel/param.h"
#include "kernel/time.h"
#include "lib/err.h"
#include "lib/math.h"
#include "lib/string.h"
#include "mm/cache/wb.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "mm/phys/zone.h"
#include "mm/reclaim/congestion.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"

#define QUEUE 8192u
struct device {
	struct bdi bdi;
	spinlock_t lock;
	struct page **queue; /* ring */
	u32 head, tail;
	struct wait_queue wait;
	struct thread *thread;
	u64 ns_per_page;
	int error;    /* every write ends with it */
	int refuse;   /* write_page returns it */
	bool redirty; /* write_page puts the page back */
	u32 writes;   /* calls of write_page */
	u32 ended;    /* pages */
	u32 owner_writes;
	int owner_error;
	atomic_t held;
	u8 reason;
};
static struct device *dev_of(struct mapping *m)
{
	return container_of(m->bdi, struct device, bdi);
}

static int write_page(struct mapping *m, struct page *page, struct writeback_control *wbc)
{
	struct device *d = dev_of(m);

	d->writes++;
	d->reason = wbc->reason;
	if (d->refuse || d->redirty) {
		if (d->redirty)
			page_redirty(wbc, page);
		page_unlock(page);
		return d->refuse;
	}
	page_start_writeback(page);
	page_unlock(page);
	for (;;) {
		bool full;

		spin_lock(&d->lock);
		full = d->head - d->tail == QUEUE;
		if (!full)
			d->queue[d->head++ % QUEUE] = page;
		spin_unlock(&d->lock);
		if (!full)
			break;
		sleep_ns(NSEC_PER_MSEC);
	}
	wake_up(&d->wait);
	return 0;
}

static int write_owner(struct mapping *m, struct writeback_control *wbc)
{
	dev_of(m)->owner_writes++;
	return dev_of(m)->owner_error;
}

static void hold(struct mapping *m)
{
	atomic_inc(&dev_of(m)->held);
}

static void release(struct mapping *m)
{
	atomic_dec(&dev_of(m)->held);
}

static const struct mapping_ops ops = {
	.write_page = write_page, .write_owner = write_owner, .hold = hold, .release = release
};

/* Ends pages one after the other, ns_per_page apart (at least a tick is slept at a time). */
static int device_thread(void *arg)
{
	struct device *d = arg;
	s64 credit = 0;

	while (!kthread_should_stop() || d->head != d->tail) {
		struct page *page = NULL;

		(void)wait_event_interruptible(&d->wait,
					       kthread_should_stop() || d->head != d->tail);
		spin_lock(&d->lock);
		if (d->head != d->tail)
			page = d->queue[d->tail++ % QUEUE];
		spin_unlock(&d->lock);
		if (!page)
			continue;
		credit -= (s64)d->ns_per_page;
		if (credit < 0) {
			ktime_t t = ktime_get();

			sleep_ns(max(-credit, (s64)NSEC_PER_MSEC));
			credit += (s64)(ktime_get() - t);
		}
		pagecache_end_writeback(page, d->error);
		d->ended++;
	}
	return 0;
}

static struct device *device_make(u64 ns_per_page)
{
	struct device *d = kzalloc(sizeof(*d), GFP_KERNEL);

	d->queue = kzalloc(QUEUE * sizeof(*d->queue), GFP_KERNEL);
	spin_lock_init(&d->lock, RANK_LEAF, "test_device");
	wait_queue_init(&d->wait);
	d->ns_per_page = ns_per_page;
	strlcpy(d->bdi.name, "9:9", sizeof(d->bdi.name));
	if (bdi_register(&d->bdi))
		return NULL;
	d->thread = kthread_run(device_thread, d, -1, "testdisk");
	return d;
}

static void device_unmake(struct device *d)
{
	bdi_unregister(&d->bdi);
	kthread_stop(d->thread);
	kfree(d->queue);
	kfree(d);
}

static struct mapping *file_make(struct device *d)
{
	struct mapping *m = kzalloc(sizeof(*m), GFP_KERNEL);

	mapping_init(m, &ops, NULL, 0);
	m->bdi = &d->bdi;
	return m;
}

static void file_unmake(struct mapping *m)
{
	mapping_undirty(m);
	mapping_destroy(m);
	kfree(m);
}

static void dirty_pages(struct mapping *m, unsigned long first, unsigned long n)
{
	for (unsigned long i = first; i < first + n; i++) {
		struct page *page = pagecache_get(m, i, PCG_CREATE | PCG_WRITE);

		if (IS_ERR(page))
			return;
		pagecache_set_dirty(page);
		page_put(page);
		if (m->size < (i + 1) * PAGE_SIZE)
			m->size = (i + 1) * PAGE_SIZE;
	}
}

static void tune(const char *name, const char *value)
{
	for (struct tunable *t = __tunables_start; t < __tunables_end; t++)
		if (!strcmp(t->name, name))
			tunable_store(t, value);
}

static long tuned(const char *name)
{
	for (struct tunable *t = __tunables_start; t < __tunables_end; t++)
		if (!strcmp(t->name, name))
			return *t->value;
	return -1;
}

static void tune_defaults(void)
{
	tune("vm/dirty_background_ratio", "10");
	tune("vm/dirty_ratio", "20");
	tune("vm/dirty_writeback_centisecs", "500");
	tune("vm/dirty_expire_centisecs", "3000");
}

static unsigned long dirty_now(void)
{
	unsigned long n = 0;
	struct zone *z;

	for_each_zone(z)
		n += zone_state_exact(z, NR_DIRTY) + zone_state_exact(z, NR_WRITEBACK);
	return n;
}

KTEST(writeback, sync_cycle)
{
	unsigned long before = dirty_now();
	struct device *d = device_make(1000);
	struct mapping *m = file_make(d);

	dirty_pages(m, 0, 100);
	KT_EQ(bdi_stat_sum(&d->bdi, BDI_RECLAIMABLE), 100);
	KT_EQ(bdi_stat_sum(&d->bdi, BDI_DIRTIED), 100);
	KT_EQ(dirty_now(), before + 100);
	KT_EQ(atomic_read(&d->held), 1);
	KT_EQ(m->dirty, MAPD_PAGES | MAPD_QUEUED);
	KT_ASSERT(timer_pending(&d->bdi.wb.timer));
	KT_EQ(bdi_sync(&d->bdi, 1), 0);
	KT_EQ(d->ended, 100);
	KT_EQ(bdi_stat_sum(&d->bdi, BDI_WRITTEN), 100);
	KT_EQ(bdi_stat_sum(&d->bdi, BDI_RECLAIMABLE), 0);
	KT_EQ(bdi_stat(&d->bdi, BDI_WRITEBACK), 0);
	KT_EQ(dirty_now(), before);
	KT_EQ(m->dirty, 0);
	KT_EQ(atomic_read(&d->held), 0);
	KT_EQ(d->bdi.wb.nr_dirty_mappings, 0);
	KT_ASSERT(!timer_pending(&d->bdi.wb.timer));
	KT_ASSERT(!xa_tagged(&m->pages, XA_DIRTY) && !xa_tagged(&m->pages, XA_WRITEBACK) &&
		  !xa_tagged(&m->pages, XA_TOWRITE));
	/* one file alone, part of it */
	dirty_pages(m, 0, 20);
	KT_EQ(mapping_sync_range(m, 4 * PAGE_SIZE, 8 * PAGE_SIZE - 1), 0);
	KT_EQ(d->ended, 104);
	KT_EQ(mapping_sync_range(m, 0, U64_MAX), 0);
	KT_EQ(mapping_sync_owner(m, 0), 0);
	KT_EQ(d->ended, 120);
	KT_EQ(m->dirty, 0);
	KT_EQ(d->owner_writes, 0);
	/* attributes: fdatasync only when it must */
	mapping_mark_dirty(m, MAPD_META);
	KT_EQ(mapping_sync_owner(m, 1), 0);
	KT_EQ(d->owner_writes, 0);
	mapping_mark_dirty(m, MAPD_META | MAPD_DATASYNC);
	KT_EQ(mapping_sync_owner(m, 1), 0);
	KT_EQ(d->owner_writes, 1);
	mapping_mark_dirty(m, MAPD_META);
	KT_EQ(bdi_sync(&d->bdi, 1), 0);
	KT_EQ(d->owner_writes, 2);
	KT_EQ(atomic_read(&d->held), 0);
	file_unmake(m);
	device_unmake(d);
}

/*
 * Nothing dirty: the flusher does not run, no timer is armed. Something dirty: once per interval.
 */
KTEST(writeback, quiet_when_clean)
{
	struct device *d = device_make(1000);
	struct mapping *m = file_make(d);
	u64 armed, switches;

	tune("vm/dirty_writeback_centisecs", "10");
	tune("vm/dirty_expire_centisecs", "200");
	sleep_ns(50 * NSEC_PER_MSEC);
	armed = d->bdi.wb.timer_armed;
	switches = d->bdi.wb.flusher->nvcsw;
	sleep_ns(1000 * NSEC_PER_MSEC);
	KT_EQ(d->bdi.wb.timer_armed, armed);
	KT_EQ(d->bdi.wb.flusher->nvcsw, switches);
	dirty_pages(m, 0, 5);
	KT_EQ(d->bdi.wb.timer_armed, armed + 1);
	sleep_ns(250 * NSEC_PER_MSEC); /* not old enough */
	KT_EQ(d->ended, 0);
	KT_ASSERT(d->bdi.wb.timer_armed >= armed + 2);
	for (int i = 0; i < 100 && d->ended < 5; i++)
		sleep_ns(100 * NSEC_PER_MSEC);
	KT_EQ(d->ended, 5);
	KT_EQ(d->reason, WB_REASON_PERIODIC);
	sleep_ns(150 * NSEC_PER_MSEC);
	armed = d->bdi.wb.timer_armed;
	switches = d->bdi.wb.flusher->nvcsw;
	KT_ASSERT(!timer_pending(&d->bdi.wb.timer));
	sleep_ns(1000 * NSEC_PER_MSEC);
	KT_EQ(d->bdi.wb.timer_armed, armed);
	KT_EQ(d->bdi.wb.flusher->nvcsw, switches);
	/* periodic writing switched off: no timer at all */
	tune("vm/dirty_writeback_centisecs", "0");
	sleep_ns(20 * NSEC_PER_MSEC);
	dirty_pages(m, 0, 5);
	KT_EQ(d->bdi.wb.timer_armed, armed);
	KT_ASSERT(!timer_pending(&d->bdi.wb.timer));
	tune_defaults();
	file_unmake(m);
	device_unmake(d);
}

/* Every write fails: told once to each observer, the pages are given up, nothing runs for ever. */
KTEST(writeback, device_that_always_fails)
{
	unsigned long before = dirty_now();
	struct device *d = device_make(1000);
	struct mapping *m = file_make(d);
	errseq_t a = errseq_sample(&m->wb_err), b = a;
	u32 writes;

	d->error = -EIO;
	d->owner_error = -EIO;
	dirty_pages(m, 0, 50);
	mapping_mark_dirty(m, MAPD_META);
	KT_EQ(bdi_sync(&d->bdi, 1), -EIO);
	KT_EQ(errseq_check_and_advance(&m->wb_err, &a), -EIO);
	KT_EQ(errseq_check_and_advance(&m->wb_err, &a), 0);
	KT_EQ(errseq_check_and_advance(&m->wb_err, &b), -EIO);
	KT_EQ(bdi_sync(&d->bdi, 1), 0); /* nothing is left to fail */
	KT_EQ(dirty_now(), before);
	KT_EQ(m->dirty, 0);
	/* fails before it begins (no place on the device) */
	d->error = 0;
	d->owner_error = 0;
	d->refuse = -ENOSPC;
	dirty_pages(m, 0, 50);
	KT_EQ(mapping_sync_range(m, 0, U64_MAX), -ENOSPC);
	KT_EQ(errseq_check_and_advance(&m->wb_err, &a), -ENOSPC);
	KT_EQ(mapping_sync_owner(m, 0), 0);
	KT_EQ(dirty_now(), before);
	KT_EQ(m->dirty, 0);
	KT_ASSERT(!xa_tagged(&m->pages, XA_DIRTY));
	/* cannot be written now, for ever: stays dirty, is tried at times, not in a circle */
	d->refuse = 0;
	d->redirty = true;
	tune("vm/dirty_writeback_centisecs", "10");
	tune("vm/dirty_expire_centisecs", "10");
	dirty_pages(m, 0, 3);
	d->writes = 0;
	sleep_ns(1000 * NSEC_PER_MSEC);
	writes = d->writes;
	KT_ASSERT(writes >= 3 && writes <= 3 * 12);
	KT_ASSERT(m->dirty & MAPD_PAGES);
	KT_EQ(dirty_now(), before + 3);
	d->writes = 0;
	bdi_sync(&d->bdi, 1); /* returns */
	KT_ASSERT(d->writes <= 3 * 3);
	d->redirty = false;
	KT_EQ(bdi_sync(&d->bdi, 1), 0);
	KT_EQ(dirty_now(), before);
	tune_defaults();
	file_unmake(m);
	device_unmake(d);
}

/* A device goes with dirty pages on it. */
KTEST(writeback, device_goes)
{
	unsigned long before = dirty_now();
	struct device *d = device_make(1000);
	struct mapping *m = file_make(d);

	d->redirty = true; /* nothing can be written any more */
	dirty_pages(m, 0, 10);
	bdi_unregister(&d->bdi);
	KT_EQ(atomic_read(&d->held), 0);
	KT_EQ(m->dirty & MAPD_QUEUED, 0);
	KT_EQ(errseq_check(&m->wb_err, 0), -EIO);
	/* who still has the file may dirty it: harmless */
	dirty_pages(m, 10, 10);
	balance_dirty_pages_ratelimited(m);
	KT_EQ(m->dirty & MAPD_QUEUED, 0);
	file_unmake(m);
	KT_EQ(dirty_now(), before);
	kthread_stop(d->thread);
	kfree(d->queue);
	kfree(d);
}

static u32 busy_stop, busy_rounds;
static int busy_writer(void *arg)
{
	struct mapping *m = arg;

	while (!READ_ONCE(busy_stop)) {
		dirty_pages(m, busy_rounds % 64 * 4, 4);
		busy_rounds++;
		sleep_ns(100 * NSEC_PER_USEC);
		cond_resched();
	}
	while (!kthread_should_stop())
		sleep_ns(NSEC_PER_MSEC);
	return 0;
}

/* fsync and sync end although somebody dirties the same pages all the time. */
KTEST(writeback, no_livelock)
{
	struct device *d = device_make(50 * NSEC_PER_USEC);
	struct mapping *m = file_make(d);
	struct thread *w;

	busy_stop = busy_rounds = 0;
	dirty_pages(m, 0, 256);
	w = kthread_run(busy_writer, m, -1, "busy");
	while (READ_ONCE(busy_rounds) < 3)
		sleep_ns(NSEC_PER_MSEC);
	for (int i = 0; i < 200 && (i < 5 || READ_ONCE(busy_rounds) <= 10); i++) {
		u32 ended = d->ended;

		KT_EQ(mapping_sync_range(m, 0, U64_MAX), 0);
		KT_ASSERT(d->ended - ended <= 3 * 256);
		ended = d->ended;
		KT_EQ(bdi_sync(&d->bdi, 1), 0);
		KT_ASSERT(d->ended - ended <= 5 * 256);
	}
	WRITE_ONCE(busy_stop, 1);
	kthread_stop(w);
	KT_ASSERT(busy_rounds > 10);
	KT_EQ(bdi_sync(&d->bdi, 1), 0);
	KT_EQ(m->dirty, 0);
	file_unmake(m);
	device_unmake(d);
}

/* Truncation and the last release while pages are on their way. */
KTEST(writeback, truncate_in_flight)
{
	unsigned long before = dirty_now();
	struct device *d = device_make(100 * NSEC_PER_USEC);

	for (int round = 0; round < 10; round++) {
		struct mapping *m = file_make(d);

		dirty_pages(m, 0, 64);
		wb_start_writeback(&d->bdi.wb, 0, WB_REASON_FREE_MORE_MEM);
		sleep_ns((u64)round * 700 * NSEC_PER_USEC);
		m->size = 8 * PAGE_SIZE;
		pagecache_truncate(m, m->size);
		KT_EQ(m->nr_pages, 8);
		file_unmake(m);
		KT_EQ(d->bdi.wb.nr_dirty_mappings, 0);
		KT_EQ(atomic_read(&d->held), 0);
	}
	KT_EQ(dirty_now(), before);
	KT_EQ(bdi_stat(&d->bdi, BDI_WRITEBACK), 0);
	device_unmake(d);
}

/* Over the background limit the flusher starts by itself and stops below it. */
KTEST(writeback, background)
{
	struct device *d = device_make(2000);
	struct mapping *m = file_make(d);

	tune("vm/dirty_background_bytes", "819200"); /* 200 pages */
	tune("vm/dirty_bytes", "819200000");
	KT_EQ(tuned("vm/dirty_ratio"), 0);
	KT_EQ(tuned("vm/dirty_background_ratio"), 0);
	current->nr_dirtied_pause = 0;
	for (int i = 0; i < 1000; i++) {
		dirty_pages(m, (unsigned long)i, 1);
		balance_dirty_pages_ratelimited(m);
	}
	/* below: what is left is not written before it is old */
	sleep_ns(300 * NSEC_PER_MSEC);
	balance_dirty_pages(m);
	sleep_ns(300 * NSEC_PER_MSEC);
	KT_ASSERT(d->ended > 300);
	KT_EQ(d->reason, WB_REASON_BACKGROUND);
	KT_ASSERT(bdi_stat_sum(&d->bdi, BDI_RECLAIMABLE) <= 200);
	tune("vm/dirty_ratio", "20");
	KT_EQ(tuned("vm/dirty_bytes"), 0);
	tune_defaults();
	KT_EQ(tuned("vm/dirty_background_bytes"), 0);
	file_unmake(m);
	device_unmake(d);
}

/* Who cleans another device (a loop's worker) is not held, but the flusher hears of its pages. */
KTEST(writeback, cleaner_of_another)
{
	struct device *d = device_make(2000);
	struct mapping *m = file_make(d);
	u32 flags = current->flags;

	tune("vm/dirty_background_bytes", "819200"); /* 200 pages */
	tune("vm/dirty_bytes", "1638400");
	current->nr_dirtied_pause = 0;
	current->flags |= TF_FLUSHER;
	for (int i = 0; i < 1000; i++) {
		dirty_pages(m, (unsigned long)i, 1);
		balance_dirty_pages_ratelimited(m);
	}
	current->flags = flags;
	sleep_ns(300 * NSEC_PER_MSEC); /* long before anything is old */
	KT_ASSERT(d->ended > 300);
	KT_EQ(d->reason, WB_REASON_BACKGROUND);
	tune_defaults();
	current->nr_dirtied_pause = 0;
	file_unmake(m);
	device_unmake(d);
}

/* A fast writer to a slow device: held at the limit, at the speed of the device. */
static struct mapping *brake_file;
static u32 brake_stop;
static int brake_writer(void *arg)
{
	unsigned long base = (unsigned long)arg * 1024, i = 0;

	while (!READ_ONCE(brake_stop)) {
		dirty_pages(brake_file, base + i++ % 1024, 1);
		balance_dirty_pages_ratelimited(brake_file);
		cond_resched();
	}
	while (!kthread_should_stop())
		sleep_ns(NSEC_PER_MSEC);
	return 0;
}

KTEST(writeback, brake)
{
	for (u32 form = 0; form < 2; form++) {
		struct device *d = device_make(200 * NSEC_PER_USEC); /* 5000 pages a second */
		struct thread *w[3];
		unsigned long limit, bg, worst = 0;
		u32 ended;

		switch_store(switch_find("dirty_throttle"), form ? "1" : "0");
		brake_file = file_make(d);
		brake_stop = 0;
		tune("vm/dirty_background_bytes", "2048000"); /* 500 pages */
		tune("vm/dirty_bytes", "4096000");	      /* 1000 pages */
		for (unsigned long i = 0; i < 3; i++)
			w[i] = kthread_run(brake_writer, (void *)i, -1, "writer");
		sleep_ns(2000 * NSEC_PER_MSEC);
		ended = d->ended;
		for (int i = 0; i < 20; i++) {
			worst = max(worst, bdi_stat_sum(&d->bdi, BDI_RECLAIMABLE) +
						   bdi_stat(&d->bdi, BDI_WRITEBACK));
			sleep_ns(50 * NSEC_PER_MSEC);
		}
		ended = d->ended - ended;
		WRITE_ONCE(brake_stop, 1);
		for (int i = 0; i < 3; i++)
			kthread_stop(w[i]);
		dirty_limits(&bg, &limit);
		KT_EQ(limit, 1000);
		pr_info("# form %u: %u pages in a second, at most %lu dirty\n", form, ended, worst);
		KT_ASSERT(worst <= limit + limit / 2);
		KT_ASSERT(ended > 500); /* the device is kept busy (it could do 5000) */
		KT_ASSERT(d->bdi.wb.est.write_bw < 25600);
		tune_defaults();
		KT_EQ(bdi_sync(&d->bdi, 1), 0);
		file_unmake(brake_file);
		device_unmake(d);
	}
	switch_store(switch_find("dirty_throttle"), "0");
}

KTEST(writeback, congestion)
{
	struct device *d = device_make(1000);
	struct zone *z = zone_first();
	s64 left;

	KT_EQ(nr_congested(CONGEST_ASYNC), 0);
	congestion_set(&d->bdi, CONGEST_ASYNC);
	congestion_set(&d->bdi, CONGEST_ASYNC);
	KT_EQ(nr_congested(CONGEST_ASYNC), 1);
	KT_EQ(nr_congested(CONGEST_SYNC), 0);
	/* the zone is not marked: no sleep */
	left = wait_iff_congested(z, CONGEST_ASYNC, 50 * NSEC_PER_MSEC);
	KT_ASSERT(left > 40 * (s64)NSEC_PER_MSEC);
	set_bit(ZF_CONGESTED, &z->zone_flags);
	KT_EQ(wait_iff_congested(z, CONGEST_ASYNC, 20 * NSEC_PER_MSEC), 0);
	/* marked, but no device is congested in that direction */
	left = wait_iff_congested(z, CONGEST_SYNC, 50 * NSEC_PER_MSEC);
	KT_ASSERT(left > 40 * (s64)NSEC_PER_MSEC);
	clear_bit(ZF_CONGESTED, &z->zone_flags);
	congestion_clear(&d->bdi, CONGEST_ASYNC);
	congestion_clear(&d->bdi, CONGEST_ASYNC);
	KT_EQ(nr_congested(CONGEST_ASYNC), 0);
	/* always sleeps */
	KT_EQ(congestion_wait(CONGEST_ASYNC, 20 * NSEC_PER_MSEC), 0);
	/* a device goes while it is congested */
	congestion_set(&d->bdi, CONGEST_SYNC);
	device_unmake(d);
	KT_EQ(nr_congested(CONGEST_SYNC), 0);
}

/* Many CPUs count; the exact sum is exact. */
static struct bdi *counted;
static void count_here(void *arg)
{
	for (int i = 0; i < 1001; i++)
		bdi_stat_add(counted, BDI_DIRTIED, i % 7 == 3 ? -2 : 1);
}

KTEST(writeback, counters)
{
	struct device *d = device_make(1000);
	long want = 0;

	counted = &d->bdi;
	for (int i = 0; i < 1001; i++)
		want += i % 7 == 3 ? -2 : 1;
	count_here(NULL);
	KT_EQ(bdi_stat_sum(counted, BDI_DIRTIED), want);
	KT_ASSERT(abs_diff(bdi_stat(counted, BDI_DIRTIED), (u64)want) <= bdi_stat_error());
	device_unmake(d);
}
