// SPDX-License-Identifier: BSD-2-Clause
/*
 * flusher.c - the thread that writes one device's dirty mappings.
 *
 * Problem: dirty pages must go to the device before memory is full of them and before a crash could
 * lose too much, without many threads fighting for the disk's head. Idea: one thread per device, in
 * this order of work:
 *
 *   explicit items (sync, reclaim)  >  "start all"  >  periodic: older than dirty_expire_centisecs,
 *   looked at every dirty_writeback_centisecs  >  background: while the machine is over its limit
 *
 * Periodic and background work stop when an explicit item comes. Each mapping gets a chunk (1024
 * pages, or by bandwidth in the merged form) and then the next one its turn.
 * No livelock: an item writes what was dirty when it came (older_than, XA_TOWRITE); periodic work
 * is bounded by the number of pages dirty at its start.
 * No idle work: the periodic timer is armed when the first mapping becomes dirty and after each
 * round that left some, and taken away with the last one. Nothing dirty: no wake-up at all.
 * Locking: wb->list_lock, dropped while a mapping (MAPD_SYNCING) is written; wb->work_lock.
 * Source: [facts 1.12].
 */
#include "kernel/param.h"
#include "mm/cache/wb.h"
#include "sched/kthread.h"

#define CHUNK_PAGES 1024l /* 4 MiB */

#define WORK_FIELDS                                                                                \
	"name", "reason", "nr_pages", "sync", "for_kupdate", "range_cyclic", "background"
#define WORK_FMT                                                                                   \
	"bdi %s: reason=%s nr_pages=%ld sync_mode=%lu kupdate=%lu range_cyclic=%lu background=%lu"
DEFINE_EVENT(writeback, writeback_queue, WORK_FMT, WORK_FIELDS);
DEFINE_EVENT(writeback, writeback_exec, WORK_FMT, WORK_FIELDS);
DEFINE_EVENT(writeback, writeback_start, WORK_FMT, WORK_FIELDS);
DEFINE_EVENT(writeback, writeback_written, WORK_FMT, WORK_FIELDS);
DEFINE_EVENT(writeback, writeback_wait, WORK_FMT, WORK_FIELDS);
DEFINE_EVENT(writeback, writeback_pages_written, "%lu", "pages");
DEFINE_EVENT(writeback, writeback_wake_background, "bdi %s", "name");

#define trace_work(event, wb, w)                                                                   \
	trace_event(event, (u64)(wb)->bdi->trace_name, (u64)wb_reason_name[(w)->reason],           \
		    (u64)(w)->nr_pages, (w)->sync, (w)->for_kupdate, (w)->range_cyclic,            \
		    (w)->for_background)

DECLARE_SWITCH(dirty_throttle);

static bool explicit_work(struct wb *wb)
{
	return !list_empty(&wb->work_list);
}

static bool has_work(struct wb *wb)
{
	return explicit_work(wb) || (READ_ONCE(wb->state) & (WB_KICK | WB_TIMER | WB_START_ALL)) ||
	       kthread_should_stop();
}

/* ---- orders ---- */

static void wake_flusher(struct wb *wb, u32 bit)
{
	__atomic_fetch_or(&wb->state, bit, __ATOMIC_SEQ_CST);
	wake_up(&wb->wait);
}

void wb_queue_work(struct wb *wb, struct wb_work *work)
{
	unsigned long flags;

	trace_work(writeback_queue, wb, work);
	spin_lock_irqsave_l(&wb->work_lock, flags, "wb_work");
	list_add_tail(&work->node, &wb->work_list);
	spin_unlock_irqrestore_l(&wb->work_lock, flags, "wb_work");
	wake_up(&wb->wait);
}

static bool queue_from_pool(struct wb *wb, long nr_pages, enum wb_reason reason)
{
	struct wb_work *work = NULL;
	unsigned long flags;

	spin_lock_irqsave_l(&wb->work_lock, flags, "wb_work");
	if (wb->pool_used != (1u << WB_POOL) - 1) {
		u32 i = (u32)__builtin_ctz(~wb->pool_used);

		wb->pool_used |= 1u << i;
		work = &wb->pool[i];
		*work = (struct wb_work){ .nr_pages = nr_pages,
					  .reason = (u8)reason,
					  .range_cyclic = 1 };
		list_add_tail(&work->node, &wb->work_list);
	}
	spin_unlock_irqrestore_l(&wb->work_lock, flags, "wb_work");
	if (work)
		wake_up(&wb->wait);
	return work;
}

void wb_start_writeback(struct wb *wb, long nr_pages, enum wb_reason reason)
{
	if (!READ_ONCE(wb->nr_dirty_mappings))
		return;
	if (nr_pages > 0 && queue_from_pool(wb, nr_pages, reason))
		return;
	WRITE_ONCE(wb->start_all_reason, reason);
	wake_flusher(wb, WB_START_ALL);
}

void wakeup_flushers(long nr_pages, enum wb_reason reason)
{
	struct bdi *bdi;

	rcu_read_lock();
	for (bdi = NULL; (bdi = bdi_next(bdi));)
		if (!(bdi->capabilities & BDI_CAP_NO_WRITEBACK))
			wb_start_writeback(&bdi->wb, nr_pages, reason);
	rcu_read_unlock();
}

void wb_start_background(struct wb *wb)
{
	trace_event(writeback_wake_background, (u64)wb->bdi->trace_name);
	wake_flusher(wb, WB_KICK);
}

static struct wb_work *next_work(struct wb *wb)
{
	struct wb_work *work;
	unsigned long flags;

	spin_lock_irqsave_l(&wb->work_lock, flags, "wb_work");
	work = list_first_entry_or_null(&wb->work_list, struct wb_work, node);
	if (work)
		list_del_init(&work->node);
	spin_unlock_irqrestore_l(&wb->work_lock, flags, "wb_work");
	return work;
}

static void work_done(struct wb *wb, struct wb_work *work)
{
	struct completion *done = work->done;
	unsigned long flags;

	if (done) {
		complete(done); /* the item was on the waiter's stack */
		return;
	}
	spin_lock_irqsave_l(&wb->work_lock, flags, "wb_work");
	wb->pool_used &= ~(1u << (work - wb->pool));
	spin_unlock_irqrestore_l(&wb->work_lock, flags, "wb_work");
}

/* ---- writing ---- */

static long chunk_pages(struct wb *wb, const struct wb_work *work)
{
	unsigned long bg, limit;
	long pages;

	if (work->sync == WB_SYNC_ALL)
		return S64_MAX;
	if (!switch_value(dirty_throttle))
		return CHUNK_PAGES;
	dirty_limits(&bg, &limit);
	pages = (long)min(wb->est.avg_write_bw / 2, limit / 8);
	pages = min(pages, work->nr_pages);
	return ALIGN_DOWN(pages + CHUNK_PAGES, CHUNK_PAGES);
}

static bool wanted(const struct wb_work *work, const struct mapping *m)
{
	return work->which == WBW_ALL || (work->which == WBW_BDEV) == ((m->flags & MAPF_BDEV) != 0);
}

/* One mapping of b_io gets its chunk. => list_lock, dropped meanwhile; pages written (or 1) */
static long write_one(struct wb *wb, struct wb_work *work, struct mapping *m)
{
	long chunk, wrote;
	bool off;
	struct writeback_control wbc = { .sync = work->sync,
					 .reason = work->reason,
					 .tagged = work->sync == WB_SYNC_ALL,
					 .for_kupdate = work->for_kupdate,
					 .for_background = work->for_background,
					 .for_sync = work->for_sync,
					 .range_cyclic = work->range_cyclic,
					 .older_than = work->older_than,
					 .range_end = U64_MAX };

	m->dirty |= MAPD_SYNCING;
	spin_unlock(&wb->list_lock);
	chunk = chunk_pages(wb, work);
	wbc.nr_to_write = chunk;
	wb_write_single(wb, m, &wbc);
	wrote = chunk - wbc.nr_to_write;
	work->nr_pages -= wrote;
	cond_resched();
	spin_lock(&wb->list_lock);
	if (!(m->dirty & (MAPD_PAGES | MAPD_META)))
		wrote++; /* it is clean: that is progress too */
	off = wb_requeue(wb, m, &wbc);
	wb_sync_done(wb, m);
	if (off) {
		spin_unlock(&wb->list_lock);
		wb_release(m);
		spin_lock(&wb->list_lock);
	}
	return wrote;
}

/*
 * Writes b_io until it is empty, the item is done, or a tenth of a second is over (then the caller
 * looks whether there is something more important). => list_lock; progress made
 */
static long write_b_io(struct wb *wb, struct wb_work *work)
{
	u64 start = jiffies();
	LIST_HEAD(others); /* not wanted: back where they came from, oldest last */
	long wrote = 0;

	while (!list_empty(&wb->b_io)) {
		struct mapping *m = list_last_entry(&wb->b_io, struct mapping, wb_link);

		if (!wanted(work, m)) {
			list_move(&m->wb_link, &others);
			continue;
		}
		if (m->dirty & MAPD_SYNCING) { /* a sync of that file is at work */
			if (work->sync == WB_SYNC_ALL)
				wb_wait_syncing(wb, m);
			else
				list_move(&m->wb_link, &wb->b_more_io);
			continue;
		}
		wrote += write_one(wb, work, m);
		if (wrote && (jiffies() - start > HZ / 10 || work->nr_pages <= 0))
			break;
	}
	list_splice_tail(&others, &wb->b_dirty);
	return wrote;
}

/* One item. Pages written. */
static long wb_writeback(struct wb *wb, struct wb_work *work)
{
	long asked = work->nr_pages;
	bool first = true;

	if (!work->older_than)
		work->older_than = jiffies();
	trace_work(writeback_exec, wb, work);
	spin_lock(&wb->list_lock);
	for (;;) {
		long wrote;

		if (work->nr_pages <= 0)
			break;
		if ((work->for_background || work->for_kupdate) && explicit_work(wb))
			break; /* afterwards again: periodic by age, background by limit */
		if (work->for_background) {
			bool over;

			spin_unlock(&wb->list_lock);
			over = dirty_over_background();
			spin_lock(&wb->list_lock);
			if (!over)
				break;
			work->older_than = jiffies();
		}
		if (work->for_kupdate)
			work->older_than = jiffies() -
					   min_t(u64, jiffies(),
						 (u64)READ_ONCE(dirty_expire_centisecs) * HZ / 100);
		trace_work(writeback_start, wb, work);
		/* What an older item left in b_io need not be all this one wants. */
		if (first || list_empty(&wb->b_io))
			wb_queue_io(wb, work->older_than);
		first = false;
		wrote = write_b_io(wb, work);
		trace_work(writeback_written, wb, work);
		spin_unlock(&wb->list_lock);
		wb_update_estimates(wb);
		spin_lock(&wb->list_lock);
		if (wrote)
			continue;
		if (list_empty(&wb->b_more_io))
			break;
		/* All that is left is being written by others: until one of them is done. */
		trace_work(writeback_wait, wb, work);
		if (list_last_entry(&wb->b_more_io, struct mapping, wb_link)->dirty & MAPD_SYNCING)
			wb_wait_syncing(wb, NULL);
	}
	spin_unlock(&wb->list_lock);
	return asked - work->nr_pages;
}

static long all_dirty_pages(struct wb *wb)
{
	unsigned long dirty, with_writeback;

	dirty_global(&dirty, &with_writeback);
	return (long)(dirty + wb->nr_dirty_mappings);
}

static long run_start_all(struct wb *wb)
{
	struct wb_work work = { .reason = (u8)READ_ONCE(wb->start_all_reason), .range_cyclic = 1 };

	if (!(__atomic_fetch_and(&wb->state, ~WB_START_ALL, __ATOMIC_SEQ_CST) & WB_START_ALL))
		return 0;
	work.nr_pages = all_dirty_pages(wb);
	return wb_writeback(wb, &work);
}

static long run_periodic(struct wb *wb)
{
	struct wb_work work = { .reason = WB_REASON_PERIODIC, .for_kupdate = 1, .range_cyclic = 1 };
	u64 interval = (u64)READ_ONCE(dirty_writeback_centisecs) * HZ / 100, now = jiffies();

	if (!interval || now - wb->last_old_flush < interval)
		return 0;
	wb->last_old_flush = now;
	work.nr_pages = all_dirty_pages(wb);
	return work.nr_pages ? wb_writeback(wb, &work) : 0;
}

static long run_background(struct wb *wb)
{
	struct wb_work work = { .reason = WB_REASON_BACKGROUND,
				.nr_pages = S64_MAX,
				.for_background = 1,
				.range_cyclic = 1 };

	return wb->nr_dirty_mappings && dirty_over_background() ? wb_writeback(wb, &work) : 0;
}

static long do_writeback(struct wb *wb)
{
	struct wb_work *work;
	long wrote = 0;

	__atomic_fetch_or(&wb->state, WB_RUNNING, __ATOMIC_SEQ_CST);
	__atomic_fetch_and(&wb->state, ~(WB_KICK | WB_TIMER), __ATOMIC_SEQ_CST);
	while ((work = next_work(wb))) {
		wrote += wb_writeback(wb, work);
		work_done(wb, work);
	}
	wrote += run_start_all(wb);
	wrote += run_periodic(wb);
	wrote += run_background(wb);
	__atomic_fetch_and(&wb->state, ~WB_RUNNING, __ATOMIC_SEQ_CST);
	return wrote;
}

/* The end: everything, at most two rounds (what fails is given up by bdi_unregister). */
static void last_writeback(struct wb *wb)
{
	do_writeback(wb);
	for (int round = 0; round < 2 && wb->nr_dirty_mappings; round++) {
		struct wb_work work = { .reason = WB_REASON_FORKER_THREAD,
					.sync = WB_SYNC_ALL,
					.for_sync = 1,
					.nr_pages = S64_MAX };

		wb_writeback(wb, &work);
	}
}

int wb_flusher(void *arg)
{
	struct wb *wb = arg;

	current->flags |= TF_FLUSHER;
	while (!kthread_should_stop()) {
		long wrote;

		(void)wait_event_interruptible(&wb->wait, has_work(wb));
		wrote = do_writeback(wb);
		trace_event(writeback_pages_written, (u64)wrote);
		spin_lock(&wb->list_lock);
		wb_arm_timer(wb);
		spin_unlock(&wb->list_lock);
	}
	last_writeback(wb);
	return 0;
}

/* ---- sync ---- */

static void sync_part(struct wb *wb, u8 which, int wait)
{
	struct completion done;
	struct wb_work work = { .sync = wait ? WB_SYNC_ALL : WB_SYNC_NONE,
				.reason = WB_REASON_SYNC,
				.which = which,
				.for_sync = 1,
				.nr_pages = S64_MAX,
				.older_than = jiffies(),
				.done = &done };

	completion_init(&done);
	wb_queue_work(wb, &work);
	wait_for_completion(&done);
}

/* Waits for the pages that are under writeback now (bdi.c). */
static void wait_inflight(struct bdi *bdi)
{
	u32 old;

	mutex_lock(&bdi->sync_mutex);
	old = bdi->wb_epoch & 1;
	__atomic_store_n(&bdi->wb_epoch, bdi->wb_epoch + 1, __ATOMIC_SEQ_CST);
	wait_event(&bdi->drained, atomic_long_read(&bdi->inflight[old]) == 0);
	mutex_unlock(&bdi->sync_mutex);
}

int bdi_sync(struct bdi *bdi, int wait)
{
	struct wb *wb = &bdi->wb;
	errseq_t since = bdi->wb_err;

	if (!bdi->registered || !wb->flusher)
		return 0;
	for (u8 which = WBW_FILES; which <= WBW_BDEV; which++) {
		if (READ_ONCE(wb->nr_dirty_mappings))
			sync_part(wb, which, wait);
		if (wait)
			wait_inflight(bdi);
	}
	return errseq_check(&bdi->wb_err, since) ? -EIO : 0;
}
