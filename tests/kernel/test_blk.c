// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_blk.c - the block layer against a disk whose driver is the test: it notes every request,
 * keeps or ends it, fails or refuses on order. (RAM disks and partitions: test_blkdisk.c)
 */
#include "tests/kernel/ktest.h"

#include "arch/smp.h"
#include "drivers/blk/internal.h"
#include "kernel/softirq.h"
#include "lib/string.h"
#include "mm/debug/vmstat.h"
#include "mm/phys/page_alloc.h"
#include "sched/kthread.h"

/* ---- the driver ------------------------------------------------------------------------------ */

#define LOG_MAX 512
struct logged {
	u64 sector;
	u32 nr, op, flags, tag;
};
struct td {
	struct disk *disk;
	spinlock_t lock;
	struct list_head held; /* by rq->node */
	bool hold;
	u32 nr_held, nr_log, busy_left, commits, timeouts;
	u64 bad_sector; /* requests that contain it fail */
	int bad_error;
	struct logged log[LOG_MAX];
};
static struct td td;

static int td_error(const struct request *rq)
{
	return rq->nr_sectors && td.bad_sector >= rq->sector &&
			       td.bad_sector < rq->sector + rq->nr_sectors
		       ? td.bad_error
		       : 0;
}

static int td_queue_rq(struct disk *disk, struct request *rq)
{
	unsigned long flags;
	bool keep;

	if (td.busy_left) {
		td.busy_left--;
		return -EBUSY;
	}
	spin_lock_irqsave(&td.lock, flags);
	if (td.nr_log < LOG_MAX)
		td.log[td.nr_log++] =
			(struct logged){ rq->sector, rq->nr_sectors, rq->op, rq->flags, rq->tag };
	keep = td.hold;
	if (keep) {
		list_add_tail(&rq->node, &td.held);
		td.nr_held++;
	}
	spin_unlock_irqrestore(&td.lock, flags);
	if (!keep)
		blk_end_request(rq, td_error(rq));
	return 0;
}

static void td_commit(struct disk *disk)
{
	td.commits++;
}

static void td_timeout(struct disk *disk, struct request *rq)
{
	td.timeouts++;
}

static const struct disk_ops td_ops = { .queue_rq = td_queue_rq,
					.commit = td_commit,
					.timeout = td_timeout };

/* Ends the oldest request held. => false: none */
static bool td_end_one(void)
{
	struct request *rq;
	unsigned long flags;

	spin_lock_irqsave(&td.lock, flags);
	rq = list_first_entry_or_null(&td.held, struct request, node);
	if (rq) {
		list_del(&rq->node);
		td.nr_held--;
	}
	spin_unlock_irqrestore(&td.lock, flags);
	if (rq)
		blk_end_request(rq, td_error(rq));
	return rq;
}

static void td_release_all(void)
{
	td.hold = false;
	while (td_end_one())
		;
}

/* 16 MiB, depth as told. */
static bool td_make(u32 depth, const char *elevator)
{
	memset(&td, 0, sizeof(td));
	spin_lock_init(&td.lock, RANK_LEAF, "td");
	list_init(&td.held);
	td.bad_sector = U64_MAX;
	td.disk = disk_alloc("tdisk", &td_ops, NULL);
	if (!td.disk)
		return false;
	td.disk->nr_sectors = 32768;
	td.disk->limits.queue_depth = depth;
	td.disk->limits.discard = true;
	if (disk_add(td.disk)) {
		disk_put(td.disk);
		return false;
	}
	td.nr_log = 0;
	td.commits = 0;
	return !queue_set_elevator(td.disk->queue, elevator);
}

static void td_drop(void)
{
	td_release_all();
	disk_remove(td.disk);
	disk_put(td.disk);
}

/* ---- bios ------------------------------------------------------------------------------------ */

static atomic_t ended, failed;
static int last_error;
static struct page *data_page;

static void note_end(struct bio *bio)
{
	if (bio->error) {
		last_error = bio->error;
		atomic_inc(&failed);
	}
	atomic_inc(&ended);
	bio_put(bio);
}

static void counters_zero(void)
{
	atomic_set(&ended, 0);
	atomic_set(&failed, 0);
	last_error = 0;
}

/* n sectors (at most 8) at sector; not waited for */
static void submit(enum bio_op op, u64 sector, u32 n, u32 flags)
{
	struct bio *bio = bio_alloc(&td.disk->whole, op, sector, 1, GFP_KERNEL);

	bio->flags = flags;
	bio->end_io = note_end;
	if (n)
		bio_add_page(bio, data_page, 0, n * SECTOR_SIZE);
	submit_bio(bio);
}

static bool all_ended(int n)
{
	for (int i = 0; i < 1000 && atomic_read(&ended) < n; i++)
		sleep_ns(NSEC_PER_MSEC);
	return atomic_read(&ended) == n;
}

/* Waits until the driver holds n. */
static bool holds(u32 n)
{
	for (int i = 0; i < 1000 && READ_ONCE(td.nr_held) != n; i++)
		sleep_ns(NSEC_PER_MSEC);
	return td.nr_held == n;
}

#define BEGIN(depth, elevator)                                                                     \
	data_page = alloc_page(GFP_KERNEL | __GFP_ZERO);                                           \
	KT_ASSERT(data_page);                                                                      \
	counters_zero();                                                                           \
	KT_ASSERT(td_make(depth, elevator))
#define END()                                                                                      \
	td_drop();                                                                                 \
	free_page(data_page)

/* ---- merging --------------------------------------------------------------------------------- */

KTEST(blk, plug_merges_and_sorts)
{
	static const u64 order[] = { 3, 0, 1, 7, 2, 6, 4, 5 };
	struct blk_plug plug;

	BEGIN(32, "deadline");
	blk_plug_start(&plug);
	for (u32 i = 0; i < ARRAY_SIZE(order); i++)
		submit(BIO_WRITE, 100 + 8 * order[i], 8, 0);
	submit(BIO_WRITE, 40, 8, 0);
	submit(BIO_READ, 164, 8, 0); /* touches the write, but reads do not join writes */
	KT_EQ(td.nr_log, 0);
	blk_plug_finish(&plug);
	KT_ASSERT(all_ended(10));
	KT_EQ(td.nr_log, 3);
	KT_EQ(td.log[0].op, BIO_READ); /* deadline: reads first */
	KT_EQ(td.log[1].sector, 40);
	KT_EQ(td.log[2].sector, 100);
	KT_EQ(td.log[2].nr, 64);
	KT_ASSERT(td.commits >= 1 && td.commits <= 2);
	END();
}

KTEST(blk, merges_in_the_queue)
{
	BEGIN(1, "deadline");
	td.hold = true;
	submit(BIO_WRITE, 1000, 8, 0); /* the driver has this one and no room for more */
	submit(BIO_WRITE, 100, 8, 0);
	submit(BIO_WRITE, 108, 8, 0); /* back */
	submit(BIO_WRITE, 92, 8, 0);  /* front */
	submit(BIO_WRITE, 124, 8, 0); /* on its own */
	KT_EQ(td.disk->queue->nr_waiting, 2);
	submit(BIO_WRITE, 116, 8, 0); /* closes the gap: all one */
	KT_EQ(td.disk->queue->nr_waiting, 1);
	KT_EQ(td.disk->queue->pool[CONGEST_ASYNC].in_use, 2);
	submit(BIO_WRITE, 132, 8, BIO_META); /* metadata stays apart */
	submit(BIO_WRITE, 140, 8, BIO_SYNC); /* so does what is waited for */
	KT_EQ(td.disk->queue->nr_waiting, 3);
	td_release_all();
	KT_ASSERT(all_ended(8));
	KT_EQ(td.nr_log, 4);
	KT_EQ(td.log[1].sector, 92);
	KT_EQ(td.log[1].nr, 40);
	KT_EQ(td.disk->queue->pool[CONGEST_ASYNC].in_use, 0);
	KT_EQ(td.disk->queue->pool[CONGEST_SYNC].in_use, 0);
	END();
}

KTEST(blk, merging_obeys_the_limits)
{
	struct blk_plug plug;

	BEGIN(32, "noop");
	td.disk->limits.max_sectors = 24;
	blk_plug_start(&plug);
	for (u32 i = 0; i < 9; i++)
		submit(BIO_WRITE, 8 * i, 8, 0);
	blk_plug_finish(&plug);
	KT_ASSERT(all_ended(9));
	KT_EQ(td.nr_log, 3);
	for (u32 i = 0; i < 3; i++)
		KT_EQ(td.log[i].nr, 24);
	END();
}

KTEST(blk, pieces_in_order)
{
	struct page *pages[3];
	struct bio *bio;
	struct rq_iter it = { 0 };
	struct request *rq;

	BEGIN(1, "noop");
	td.hold = true;
	submit(BIO_WRITE, 1000, 8, 0);
	for (u32 i = 0; i < 3; i++) {
		pages[i] = alloc_page(GFP_KERNEL);
		bio = bio_alloc(&td.disk->whole, BIO_WRITE, 8 * i, 2, GFP_KERNEL);
		bio->end_io = note_end;
		KT_ASSERT(bio_add_page(bio, pages[i], 0, 1024));
		KT_ASSERT(bio_add_page(bio, pages[i], 1024, 3072));
		submit_bio(bio);
	}
	td_end_one();
	KT_ASSERT(holds(1));
	rq = list_first_entry(&td.held, struct request, node);
	KT_EQ(rq->nr_segments, 6);
	for (u32 i = 0; i < 6; i++) {
		KT_ASSERT(rq_next_piece(rq, &it));
		KT_ASSERT(it.addr == (char *)page_address(pages[i / 2]) + (i % 2 ? 1024 : 0));
		KT_EQ(it.bytes, i % 2 ? 3072 : 1024);
	}
	KT_ASSERT(!rq_next_piece(rq, &it));
	td_release_all();
	KT_ASSERT(all_ended(4));
	for (u32 i = 0; i < 3; i++)
		free_page(pages[i]);
	END();
}

KTEST(blk, sleeping_flushes_the_plug)
{
	struct blk_plug plug;
	struct bio *bio;

	BEGIN(32, "deadline");
	blk_plug_start(&plug);
	submit(BIO_WRITE, 0, 8, 0);
	KT_EQ(td.nr_log, 0);
	sleep_ns(NSEC_PER_MSEC);
	KT_EQ(td.nr_log, 1);
	bio = bio_alloc(&td.disk->whole, BIO_READ, 64, 1, GFP_KERNEL);
	bio_add_page(bio, data_page, 0, PAGE_SIZE);
	KT_EQ(submit_bio_wait(bio), 0); /* would wait for ever for its own plug */
	bio_put(bio);
	blk_plug_finish(&plug);
	KT_ASSERT(all_ended(1));
	END();
}

/* ---- pools and congestion -------------------------------------------------------------------- */

static u64 scattered(u32 i)
{
	return (u64)(i * 7919u % 2000) * 16; /* no two touch */
}

static void fill(u32 from, u32 to, enum bio_op op)
{
	for (u32 i = from; i < to; i++)
		submit(op, scattered(i), 8, 0);
}

KTEST(blk, congestion_at_113_until_103)
{
	struct blk_queue *q;

	for (u32 dir = CONGEST_ASYNC; dir <= CONGEST_SYNC; dir++) {
		enum bio_op op = dir == CONGEST_SYNC ? BIO_READ : BIO_WRITE;
		int before = nr_congested(dir);
		u32 done = 0;

		BEGIN(1, "noop");
		q = td.disk->queue;
		td.hold = true;
		fill(0, 112, op);
		KT_EQ(q->pool[dir].in_use, 112);
		KT_ASSERT(!bdi_is_congested(&td.disk->bdi, dir));
		fill(112, 113, op);
		KT_EQ(q->pool[dir].in_use, 113);
		KT_ASSERT(bdi_is_congested(&td.disk->bdi, dir));
		KT_ASSERT(!bdi_is_congested(&td.disk->bdi, !dir));
		KT_EQ(nr_congested(dir), before + 1);
		while (q->pool[dir].in_use > 103) {
			KT_ASSERT(td_end_one());
			KT_ASSERT(all_ended(++done));
		}
		KT_ASSERT(bdi_is_congested(&td.disk->bdi, dir));
		KT_ASSERT(td_end_one());
		KT_ASSERT(all_ended(++done));
		KT_EQ(q->pool[dir].in_use, 102);
		KT_ASSERT(!bdi_is_congested(&td.disk->bdi, dir));
		KT_EQ(nr_congested(dir), before);
		td_release_all();
		KT_ASSERT(all_ended(113));
		END();
	}
}

static int filler(void *arg)
{
	fill(0, 300, BIO_WRITE);
	return 0;
}

static bool settles_at(u32 n)
{
	for (int i = 0; i < 200 && td.disk->queue->pool[CONGEST_ASYNC].in_use != n; i++)
		sleep_ns(NSEC_PER_MSEC);
	sleep_ns(5 * NSEC_PER_MSEC);
	return td.disk->queue->pool[CONGEST_ASYNC].in_use == n;
}

/*
 * The thread that fills the pool may take 32 more from the request that filled it on; a second one
 * then has to wait at once. Reads have a pool of their own.
 */
KTEST(blk, full_pool_and_batches)
{
	struct thread *first, *second;

	BEGIN(1, "noop");
	td.hold = true;
	first = kthread_create(filler, NULL, -1, "blk_fill1");
	second = kthread_create(filler, NULL, -1, "blk_fill2");
	KT_ASSERT(first && second);
	thread_start(first);
	KT_ASSERT(settles_at(127 + 32));
	KT_ASSERT(td.disk->queue->pool[CONGEST_ASYNC].full);
	thread_start(second);
	KT_ASSERT(settles_at(127 + 32));
	submit(BIO_READ, 32000, 8, 0);
	KT_EQ(td.disk->queue->pool[CONGEST_SYNC].in_use, 1);
	td_release_all();
	KT_ASSERT(all_ended(601));
	KT_EQ(atomic_read(&failed), 0);
	KT_EQ(td.disk->queue->pool[CONGEST_ASYNC].in_use, 0);
	KT_ASSERT(td.disk->queue->nr_made <= 2 * 192 + FINISH_BATCH);
	END();
}

KTEST(blk, nr_requests_moves_the_thresholds)
{
	BEGIN(1, "noop");
	queue_set_nr_requests(td.disk->queue, 16);
	KT_EQ(td.disk->queue->on, 15);
	KT_EQ(td.disk->queue->off, 12);
	td.hold = true;
	fill(0, 14, BIO_WRITE);
	KT_ASSERT(!bdi_is_congested(&td.disk->bdi, CONGEST_ASYNC));
	fill(14, 15, BIO_WRITE);
	KT_ASSERT(bdi_is_congested(&td.disk->bdi, CONGEST_ASYNC));
	td_release_all();
	KT_ASSERT(all_ended(15));
	END();
}

/* ---- flush ----------------------------------------------------------------------------------- */

static bool logged_ops(const char *want)
{
	char got[64] = "";

	for (u32 i = 0; i < td.nr_log && i < 60; i++)
		got[i] = td.log[i].op == BIO_FLUSH		      ? 'F'
			 : td.log[i].op == BIO_READ		      ? 'R'
			 : td.log[i].flags & (BIO_FUA | BIO_PREFLUSH) ? 'U'
								      : 'W';
	if (!strcmp(got, want))
		return true;
	pr_err("# got %s, want %s", got, want);
	return false;
}

static bool steps(u32 cache, u32 fua, u32 flags, const char *want)
{
	td.disk->limits.write_cache = cache;
	td.disk->limits.fua = fua;
	td.nr_log = 0;
	counters_zero();
	submit(BIO_WRITE, 64, 8, flags);
	return all_ended(1) && logged_ops(want);
}

KTEST(blk, flush_sequences)
{
	BEGIN(32, "deadline");
	KT_ASSERT(steps(0, 0, BIO_PREFLUSH | BIO_FUA, "W"));
	KT_ASSERT(steps(1, 0, 0, "W"));
	KT_ASSERT(steps(1, 0, BIO_PREFLUSH, "FW"));
	KT_ASSERT(steps(1, 0, BIO_FUA, "WF"));
	KT_ASSERT(steps(1, 0, BIO_PREFLUSH | BIO_FUA, "FWF"));
	KT_ASSERT(steps(1, 1, BIO_FUA, "U"));
	KT_ASSERT(steps(1, 1, BIO_PREFLUSH | BIO_FUA, "FU"));
	td.nr_log = 0;
	KT_EQ(blk_flush(&td.disk->whole), 0);
	KT_ASSERT(logged_ops("F"));
	td.disk->limits.write_cache = false;
	td.nr_log = 0;
	KT_EQ(blk_flush(&td.disk->whole), 0);
	KT_ASSERT(logged_ops(""));
	KT_EQ(td.disk->queue->pool[0].in_use + td.disk->queue->pool[1].in_use, 0);
	END();
}

/* What asks for a flush while one is under way shares the next one. */
KTEST(blk, flushes_are_shared)
{
	BEGIN(32, "deadline");
	td.disk->limits.write_cache = true;
	td.hold = true;
	submit(BIO_FLUSH, 0, 0, 0);
	KT_ASSERT(holds(1));
	for (u32 i = 0; i < 40; i++)
		submit(BIO_FLUSH, 0, 0, 0);
	submit(BIO_WRITE, 8, 8, BIO_PREFLUSH);
	KT_ASSERT(holds(1));
	td_end_one();
	KT_ASSERT(holds(1));
	KT_EQ(atomic_read(&ended), 1);
	td_end_one();
	KT_ASSERT(all_ended(41)); /* all but the write, which goes to the driver now */
	KT_ASSERT(holds(1));
	td_end_one();
	KT_ASSERT(all_ended(42));
	KT_ASSERT(logged_ops("FFW"));
	END();
}

KTEST(blk, failed_flush_fails_all)
{
	struct request *rq;

	BEGIN(32, "deadline");
	td.disk->limits.write_cache = true;
	td.hold = true;
	submit(BIO_WRITE, 8, 8, BIO_PREFLUSH);
	submit(BIO_WRITE, 64, 8, 0);
	KT_ASSERT(holds(2));
	rq = list_first_entry(&td.held, struct request, node);
	KT_EQ(rq->op, BIO_FLUSH);
	list_del(&rq->node);
	td.nr_held--;
	blk_end_request(rq, -EIO);
	KT_ASSERT(all_ended(1));
	KT_EQ(last_error, -EIO);
	td_release_all();
	KT_ASSERT(all_ended(2));
	KT_EQ(atomic_read(&failed), 1);
	KT_EQ(td.nr_log, 2); /* its data never went out */

	END();
}

/* ---- errors ---------------------------------------------------------------------------------- */

KTEST(blk, bad_bios_are_refused)
{
	struct bio *bio;

	BEGIN(32, "deadline");
	submit(BIO_WRITE, 32768, 8, 0);
	KT_EQ(last_error, -ENXIO);
	submit(BIO_WRITE, 32764, 8, 0);
	KT_EQ(last_error, -ENXIO);
	submit(BIO_READ, U64_MAX - 3, 8, 0);
	KT_EQ(last_error, -ENXIO);
	KT_EQ(atomic_read(&failed), 3);
	bio = bio_alloc(&td.disk->whole, BIO_WRITE, 0, 1, GFP_KERNEL);
	KT_ASSERT(bio_add_page(bio, data_page, 0, 100));
	KT_EQ(submit_bio_wait(bio), -EIO);
	bio_put(bio);
	bio = bio_alloc(&td.disk->whole, BIO_WRITE, 0, 1, GFP_KERNEL);
	KT_EQ(submit_bio_wait(bio), -EIO); /* no data */
	bio_put(bio);
	bio = bio_alloc(&td.disk->whole, BIO_WRITE_ZEROES, 0, 0, GFP_KERNEL);
	bio->bytes = PAGE_SIZE;
	KT_EQ(submit_bio_wait(bio), -EOPNOTSUPP);
	bio_put(bio);
	td.disk->whole.read_only = 1;
	last_error = 0;
	submit(BIO_WRITE, 0, 8, 0);
	KT_EQ(last_error, -EIO);
	KT_EQ(td.nr_log, 0);
	END();
}

KTEST(blk, driver_errors_reach_their_bios)
{
	struct blk_plug plug;

	BEGIN(32, "deadline");
	td.bad_sector = 100;
	td.bad_error = -EIO;
	blk_plug_start(&plug);
	for (u32 i = 0; i < 4; i++) {
		submit(BIO_WRITE, 96 + 8 * i, 8, 0); /* one request, all four fail */
		submit(BIO_WRITE, 1000 + 8 * i, 8, 0);
	}
	blk_plug_finish(&plug);
	KT_ASSERT(all_ended(8));
	KT_EQ(atomic_read(&failed), 4);
	KT_EQ(last_error, -EIO);
	END();
}

KTEST(blk, busy_driver_is_asked_again)
{
	struct blk_plug plug;

	BEGIN(4, "noop");
	td.busy_left = 5; /* with nothing under way: a timer asks again */
	blk_plug_start(&plug);
	for (u32 i = 0; i < 12; i++)
		submit(BIO_WRITE, 64 * i, 8, 0);
	blk_plug_finish(&plug);
	KT_ASSERT(all_ended(12));
	for (u32 i = 0; i < 12; i++)
		KT_EQ(td.log[i].sector, 64 * i); /* nothing was overtaken */
	KT_ASSERT(td.disk->queue->nr_busy >= 1);
	KT_EQ(td.disk->queue->nr_in_driver, 0);
	END();
}

KTEST(blk, watchdog_speaks_and_goes_to_sleep)
{
	struct blk_queue *q;

	BEGIN(4, "deadline");
	q = td.disk->queue;
	q->time_limit_ns = 5 * NSEC_PER_MSEC;
	td.hold = true;
	KT_ASSERT(!timer_pending(&q->watchdog));
	submit(BIO_READ, 0, 8, 0);
	KT_ASSERT(timer_pending(&q->watchdog));
	sleep_ns(23 * NSEC_PER_MSEC);
	KT_ASSERT(td.timeouts >= 3 && td.timeouts <= 5);
	KT_ASSERT(td_end_one());
	KT_ASSERT(all_ended(1));
	KT_ASSERT(!timer_pending(&q->watchdog)); /* an idle machine has no wake-ups */
	KT_ASSERT(!timer_pending(&q->timer));
	KT_EQ(last_error, 0);
	END();
}

/* ---- order ----------------------------------------------------------------------------------- */

static bool order_is(u32 from, const u64 *want, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		if (td.log[from + i].sector != want[i]) {
			pr_err("# request %u is %llu, want %llu", i,
			       (unsigned long long)td.log[from + i].sector,
			       (unsigned long long)want[i]);
			return false;
		}
	}
	return true;
}

KTEST(blk, elevators_order)
{
	static const u64 in[] = { 3000, 100, 2000, 400, 1000 };
	static const u64 want[][5] = {
		{ 3000, 100, 2000, 400, 1000 }, /* noop: as they came */
		{ 3000, 100, 400, 1000, 2000 }, /* deadline: from the oldest on, then again */
		{ 100, 400, 1000, 2000, 3000 }, /* cfq: from the head on */
	};

	for (u32 e = 0; elevator_nth(e); e++) {
		BEGIN(1, elevator_nth(e)->name);
		td.hold = true;
		submit(BIO_READ, 0, 8, 0);
		for (u32 i = 0; i < 5; i++)
			submit(BIO_READ, in[i], 8, 0);
		td_release_all();
		KT_ASSERT(all_ended(6));
		KT_ASSERT(order_is(1, want[e], 5));
		END();
	}
}

static int reader(void *arg)
{
	for (u32 i = 0; i < 400 && !kthread_should_stop(); i++) {
		struct bio *bio =
			bio_alloc(&td.disk->whole, i % 4 ? BIO_READ : BIO_WRITE,
				  scattered(i + 97 * (u32)(unsigned long)arg), 1, GFP_KERNEL);

		if (!bio)
			break;
		bio_add_page(bio, data_page, 0, PAGE_SIZE);
		if (submit_bio_wait(bio))
			atomic_inc(&failed);
		bio_put(bio);
		atomic_inc(&ended);
	}
	while (!kthread_should_stop())
		sleep_ns(NSEC_PER_MSEC);
	return 0;
}

#define READERS 4
static bool start_readers(struct thread **t)
{
	for (u32 i = 0; i < READERS; i++) {
		t[i] = kthread_run(reader, (void *)(unsigned long)i, -1, "blk_read%u", i);
		if (!t[i])
			return false;
	}
	return true;
}

static void stop_readers(struct thread **t)
{
	for (u32 i = 0; i < READERS; i++)
		kthread_stop(t[i]);
}

KTEST(blk, policy_changes_under_load)
{
	struct thread *readers[READERS];

	BEGIN(4, "deadline");
	KT_ASSERT(start_readers(readers));
	for (u32 i = 0; i < 30; i++) {
		KT_EQ(queue_set_elevator(td.disk->queue, elevator_nth(i % 3)->name), 0);
		sleep_ns(NSEC_PER_MSEC / 8);
	}
	KT_EQ(queue_set_elevator(td.disk->queue, "nonsense"), -EINVAL);
	KT_ASSERT(all_ended(READERS * 400));
	stop_readers(readers);
	KT_EQ(atomic_read(&failed), 0);
	KT_EQ(td.disk->queue->pool[0].in_use + td.disk->queue->pool[1].in_use, 0);
	END();
}

/* ---- coming and going ------------------------------------------------------------------------ */

KTEST(blk, removal_under_load)
{
	struct thread *readers[READERS];

	BEGIN(4, "cfq");
	KT_ASSERT(start_readers(readers));
	sleep_ns(NSEC_PER_MSEC / 2);
	fill(0, 100, BIO_WRITE);
	disk_remove(td.disk);
	KT_ASSERT(all_ended(READERS * 400 + 100));
	stop_readers(readers);
	KT_EQ(td.disk->queue->pool[0].in_use + td.disk->queue->pool[1].in_use, 0);
	KT_ASSERT(!blk_part_get("tdisk"));
	last_error = 0;
	submit(BIO_READ, 0, 8, 0);
	KT_EQ(last_error, -ENXIO);
	disk_put(td.disk);
	free_page(data_page);
}

KTEST(blk, removal_waits_for_the_driver)
{
	BEGIN(4, "noop");
	td.hold = true;
	fill(0, 50, BIO_WRITE);
	KT_EQ(td.nr_held, 4);
	td.hold = false;
	for (u32 i = 0; i < 4; i++)
		td_end_one();
	disk_remove(td.disk);
	KT_ASSERT(all_ended(50));
	disk_put(td.disk);
	free_page(data_page);
}

KTEST(blk, names_and_numbers)
{
	struct disk *a = disk_alloc("vdb", &td_ops, NULL), *b = disk_alloc("vdb", &td_ops, NULL);
	struct blk_part *part;

	KT_ASSERT(a && b);
	a->nr_sectors = b->nr_sectors = 8;
	KT_EQ(disk_add(a), 0);
	KT_EQ(a->whole.dev, 253u << 20 | 16);
	KT_EQ(disk_add(b), -EEXIST);
	part = blk_part_get("vdb");
	KT_ASSERT(part == &a->whole);
	blk_part_put(part);
	part = blk_part_get_dev(253u << 20 | 16);
	KT_ASSERT(part == &a->whole);
	blk_part_put(part);
	KT_ASSERT(!blk_part_get("vdb1"));
	disk_remove(a);
	disk_put(a);
	KT_EQ(disk_add(b), 0); /* the name is free again */
	disk_remove(b);
	disk_put(b);
	a = disk_alloc("odd", &td_ops, NULL);
	KT_ASSERT(a);
	a->nr_sectors = 9;
	a->limits.logical_block = 1024;
	KT_EQ(disk_add(a), -EINVAL);
	disk_put(a);
}

/* ---- statistics ------------------------------------------------------------------------------ */

KTEST(blk, statistics)
{
	struct blk_plug plug;
	u64 ios[2] = { 0 }, sectors[2] = { 0 }, merges = 0;
	u64 in = vm_event_sum(PGPGIN), out = vm_event_sum(PGPGOUT);
	struct part_stats *s;

	BEGIN(32, "deadline");
	s = td.disk->whole.stats;
	td.hold = true;
	submit(BIO_READ, 512, 8, 0);
	blk_plug_start(&plug);
	for (u32 i = 0; i < 4; i++)
		submit(BIO_WRITE, 8 * i, 8, 0);
	blk_plug_finish(&plug);
	KT_EQ(atomic_read(&s->inflight[0]), 1);
	KT_EQ(atomic_read(&s->inflight[1]), 1);
	sleep_ns(10 * NSEC_PER_MSEC);
	td_release_all();
	KT_ASSERT(all_ended(5));
	KT_EQ(atomic_read(&s->inflight[0]) + atomic_read(&s->inflight[1]), 0);
	for (u32 cpu = 0; cpu < NR_CPUS && cpu < nr_cpus; cpu++) {
		for (u32 g = 0; g < 2; g++) {
			ios[g] += s->cpu[cpu].ios[g];
			sectors[g] += s->cpu[cpu].sectors[g];
		}
		merges += s->cpu[cpu].merges[STAT_WRITE];
	}
	KT_EQ(ios[STAT_READ], 2); /* one by the search for partitions */
	KT_EQ(ios[STAT_WRITE], 1);
	KT_EQ(sectors[STAT_WRITE], 32);
	KT_EQ(merges, 3);
	KT_ASSERT(s->io_ticks >= 10 * NSEC_PER_MSEC);
	KT_EQ(vm_event_sum(PGPGOUT) - out, 16);
	KT_ASSERT(vm_event_sum(PGPGIN) - in >= 4);
	END();
}

/* ---- bios ------------------------------------------------------------------------------------ */

KTEST(blk, bios_hold_what_they_say)
{
	struct bio *bio, *clone;

	BEGIN(4, "noop");
	bio = bio_alloc(&td.disk->whole, BIO_WRITE, 0, BIO_MAX_VECS, GFP_KERNEL);
	KT_ASSERT(bio);
	for (u32 i = 0; i < 128; i++)
		KT_ASSERT(bio_add_page(bio, data_page, 0, PAGE_SIZE));
	KT_ASSERT(!bio_add_page(bio, data_page, 0, PAGE_SIZE)); /* 512 KiB, the disk's limit */
	clone = bio_clone(bio, &td.disk->whole, 2048, GFP_KERNEL);
	KT_ASSERT(clone && clone->bytes == bio->bytes && clone->vecs == bio->vecs);
	KT_EQ(submit_bio_wait(clone), 0);
	KT_EQ(td.log[0].sector, 2048);
	KT_EQ(td.log[0].nr, 1024);
	bio_put(clone);
	bio_put(bio);
	END();
}
