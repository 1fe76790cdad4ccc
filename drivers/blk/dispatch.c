// SPDX-License-Identifier: BSD-2-Clause
/*
 * dispatch.c - requests on their way to the driver: tags, the order of giving out, the driver's
 * "not now", and the watchdog over what it has.
 *
 * One CPU at a time gives out requests of a queue (q->issuing); another that wants to only asks it
 * to look again. With the lock held a few requests are taken out (first those that are ready, then
 * the policy's choice) and given tags; without it, softirqs off, the driver is called for each and
 * then told that the run is over (ops->commit). So completions that come at once are handled
 * together when softirqs are let in again.
 *
 * -EBUSY: the request goes back to the front and nothing more is tried until something of the
 * driver's ends; when nothing is under way, for a millisecond.
 * The watchdog's timer is armed only while the driver has something.
 * Locking: queue lock, never held around a call of the driver.
 */
#include "drivers/blk/internal.h"
#include "kernel/printk.h"
#include "kernel/softirq.h"

#define RETRY_NS NSEC_PER_MSEC

static int take_tag(struct blk_queue *q)
{
	for (u32 i = 0; i * 64 < q->depth; i++) {
		unsigned long freebits = ~q->tags[i];
		u32 tag;

		if (!freebits)
			continue;
		tag = i * 64 + __builtin_ctzl(freebits);
		if (tag >= q->depth)
			return -1;
		q->tags[i] |= 1ul << (tag & 63);
		return tag;
	}
	return -1;
}

/* Somebody should come back to this queue at `when`. => lock */
static void arm_timer(struct blk_queue *q, u64 when)
{
	if (!timer_pending(&q->timer) || q->timer.expires > when)
		timer_start(&q->timer, when);
}

static struct request *next_locked(struct blk_queue *q, u64 now)
{
	struct request *rq = list_first_entry_or_null(&q->ready, struct request, node);
	u64 again = 0;

	if (rq) {
		list_del(&rq->node);
		return rq;
	}
	if (!q->nr_waiting)
		return NULL;
	rq = q->elv->next(q->elv_data, now, &again, 0);
	if (rq) {
		q->nr_waiting--;
		rq->state = RQ_READY | RQ_BY_ELEVATOR;
		merge_hash_del(q, rq);
	} else if (again) {
		arm_timer(q, again);
	}
	return rq;
}

/* Takes up to ISSUE_BATCH requests for the driver out. => lock; how many */
static u32 collect_locked(struct blk_queue *q, struct request *batch[ISSUE_BATCH])
{
	u64 now = 0;
	u32 n = 0;

	while (n < ISSUE_BATCH && !q->busy && q->nr_in_driver < q->depth) {
		struct request *rq;
		int tag;

		if (!now)
			now = ktime_get();
		rq = next_locked(q, now);
		if (!rq)
			break;
		tag = take_tag(q);
		rq->tag = tag;
		rq->state = RQ_DRIVER | (rq->state & RQ_BY_ELEVATOR);
		rq->started_ns = now;
		rq->deadline_ns = now + q->time_limit_ns;
		list_add_tail(&rq->fifo, &q->in_driver);
		q->nr_in_driver++;
		batch[n++] = rq;
	}
	q->nr_issued += n;
	return n;
}

void driver_done_locked(struct blk_queue *q, struct request *rq)
{
	list_del(&rq->fifo);
	q->tags[rq->tag / 64] &= ~(1ul << (rq->tag & 63));
	q->busy = false;
	if (--q->nr_in_driver == 0 && timer_pending(&q->watchdog))
		timer_cancel(&q->watchdog);
}

/* The driver had no room for batch[i..n): back to the front, in order. => lock */
static void back_locked(struct blk_queue *q, struct request **batch, u32 i, u32 n)
{
	while (n-- > i) {
		driver_done_locked(q, batch[n]);
		batch[n]->state = RQ_READY | (batch[n]->state & RQ_BY_ELEVATOR);
		list_add(&batch[n]->node, &q->ready);
		q->nr_issued--;
	}
	q->nr_busy++;
	q->busy = true;
	if (!q->nr_in_driver)
		arm_timer(q, ktime_get() + RETRY_NS);
}

/* => the first one the driver did not take, or n */
static u32 issue(struct disk *disk, struct request **batch, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct request *rq = batch[i];
		int err;

		blk_trace(block_rq_issue, trace_rq(&event_block_rq_issue, rq));
		err = disk->ops->queue_rq(disk, rq);
		if (likely(!err))
			continue;
		if (err == -EBUSY)
			break;
		blk_end_request(rq, err);
	}
	if (i && disk->ops->commit)
		disk->ops->commit(disk);
	return i;
}

static void arm_watchdog_locked(struct blk_queue *q)
{
	struct request *oldest = list_first_entry_or_null(&q->in_driver, struct request, fifo);

	if (oldest && !timer_pending(&q->watchdog))
		timer_start(&q->watchdog, oldest->deadline_ns);
}

/* After softirqs were let in: a driver that ends requests at once never costs a timer. */
static noinline void arm_watchdog(struct blk_queue *q)
{
	unsigned long flags;

	spin_lock_irqsave_l(&q->lock, flags, "blk_watchdog");
	arm_watchdog_locked(q);
	spin_unlock_irqrestore_l(&q->lock, flags, "blk_watchdog");
}

/* => lock held with IRQs off by flags; the same at the end */
static void run_locked(struct blk_queue *q)
{
	struct request *batch[ISSUE_BATCH];
	u32 n, taken;

	do {
		q->again = false;
		while ((n = collect_locked(q, batch))) {
			spin_unlock_irq_l(&q->lock, "blk_run");
			taken = issue(q->disk, batch, n);
			spin_lock_irq_l(&q->lock, "blk_run");
			if (unlikely(taken < n))
				back_locked(q, batch, taken, n);
		}
		if (q->again)
			q->busy = false;
	} while (q->again);
}

void queue_run(struct blk_queue *q)
{
	softirq_disable();
	spin_lock_irq_l(&q->lock, "blk_run");
	if (q->issuing) {
		q->again = true;
	} else {
		q->issuing = true;
		run_locked(q);
		q->issuing = false;
	}
	spin_unlock_irq_l(&q->lock, "blk_run");
	softirq_enable();
	if (READ_ONCE(q->nr_in_driver) && unlikely(!timer_pending(&q->watchdog)))
		arm_watchdog(q);
}

/* ---- timers ---------------------------------------------------------------------------------- */

static void timer_fired(struct timer *timer)
{
	struct blk_queue *q = container_of(timer, struct blk_queue, timer);

	spin_lock_irq_l(&q->lock, "blk_run");
	q->busy = false;
	spin_unlock_irq_l(&q->lock, "blk_run");
	queue_run(q);
}

void blk_queue_kick(struct disk *disk)
{
	timer_start(&disk->queue->timer, ktime_get()); /* softirqs, wherever we are */
}

static void complain_late(struct blk_queue *q, const struct request *rq, u64 now)
{
	pr_err("blk: %s: request %u (op %u, sector %llu, %u sectors) is with the driver for %llu "
	       "ms",
	       q->disk->name, rq->tag, rq->op, (unsigned long long)rq->sector, rq->nr_sectors,
	       (unsigned long long)((now - rq->started_ns) / NSEC_PER_MSEC));
}

static void watchdog_fired(struct timer *timer)
{
	struct blk_queue *q = container_of(timer, struct blk_queue, watchdog);
	struct request *rq, *late = NULL;
	u64 now = ktime_get();

	spin_lock_irq_l(&q->lock, "blk_watchdog");
	rq = list_first_entry_or_null(&q->in_driver, struct request, fifo);
	if (rq && rq->deadline_ns <= now) {
		late = rq;
		if (!(rq->state & RQ_LATE) && blk_may_log())
			complain_late(q, rq, now);
		rq->state |= RQ_LATE;
		rq->deadline_ns = now + q->time_limit_ns;
		list_move_tail(&rq->fifo, &q->in_driver);
	}
	arm_watchdog_locked(q);
	spin_unlock_irq_l(&q->lock, "blk_watchdog");
	if (late && q->disk->ops->timeout)
		q->disk->ops->timeout(q->disk, late);
}

void queue_timers_init(struct blk_queue *q)
{
	timer_init(&q->timer, timer_fired);
	timer_init(&q->watchdog, watchdog_fired);
}
