// SPDX-License-Identifier: BSD-2-Clause
/*
 * flush.c - making written data safe on a disk with a volatile cache.
 *
 * A write may ask for a flush before it (PREFLUSH) and to be safe itself when it ends (FUA); a
 * BIO_FLUSH is a flush alone. What the device offers decides the steps:
 *
 *                       device has FUA          it has not
 *   PREFLUSH            flush, write            flush, write
 *   FUA                 write (FUA)             write, flush
 *   both                flush, write (FUA)      flush, write, flush
 *
 * Many threads that fsync at once ask for many flushes, and one serves all: requests that need a
 * flush gather on a list while the device is busy with the previous one; when that ends, one flush
 * goes out for the whole list, and the next list begins. A flush covers the writes that ended
 * before it was given to the device; a request joins a list only after its own write ended, so the
 * order is kept.
 *
 * Invariants: the machine's own request is with the driver or free; waiting[next] is never the list
 * it serves. Locking: queue lock. Source: double-buffered flush lists as Linux documents them for
 * its flush machinery; own code.
 */
#include "drivers/blk/internal.h"

#define STEP_PRE 1u
#define STEP_DATA 2u
#define STEP_POST 4u

void flush_init(struct blk_queue *q)
{
	list_init(&q->flush.waiting[0]);
	list_init(&q->flush.waiting[1]);
}

static void start_flush_locked(struct blk_queue *q)
{
	struct flush_machine *f = &q->flush;
	struct request *rq = &f->rq;

	if (f->running || list_empty(&f->waiting[f->next]))
		return;
	f->running = true;
	f->next ^= 1;
	rq->disk = q->disk;
	rq->part = &q->disk->whole;
	rq->op = BIO_FLUSH;
	rq->flags = BIO_PREFLUSH;
	rq->bio = NULL;
	rq->sector = 0;
	rq->nr_sectors = 0;
	rq->nr_segments = 0;
	rq->error = 0;
	rq->state = RQ_READY;
	rq->flush_steps = STEP_PRE;
	list_add_tail(&rq->node, &q->ready);
}

/* The next step of rq, or its end. => lock */
static void advance_locked(struct blk_queue *q, struct request *rq)
{
	struct flush_machine *f = &q->flush;

	if (rq->error || !rq->flush_steps) {
		rq->flush_steps = 0;
		request_done(rq);
	} else if (rq->flush_steps & STEP_DATA && !(rq->flush_steps & STEP_PRE)) {
		rq->state = RQ_READY;
		list_add_tail(&rq->node, &q->ready);
	} else {
		rq->state = RQ_FLUSH;
		list_add_tail(&rq->node, &f->waiting[f->next]);
	}
}

bool flush_take_locked(struct blk_queue *q, struct request *rq)
{
	u32 steps = 0;

	if (rq->op == BIO_FLUSH) {
		steps = STEP_PRE;
	} else {
		if (rq->flags & BIO_PREFLUSH)
			steps |= STEP_PRE;
		if (rq->flags & BIO_FUA && !q->disk->limits.fua)
			steps |= STEP_POST;
		rq->flags &= ~BIO_PREFLUSH;
		if (steps & STEP_POST)
			rq->flags &= ~BIO_FUA;
		if (!steps)
			return false;
		steps |= STEP_DATA;
	}
	rq->flush_steps = steps;
	advance_locked(q, rq);
	start_flush_locked(q);
	return true;
}

/* Those that the last flush served go on, FINISH_BATCH at a time. */
bool flush_drain_locked(struct blk_queue *q)
{
	struct flush_machine *f = &q->flush;
	struct list_head *served = &f->waiting[f->next ^ 1];
	u32 n = 0;

	while (!list_empty(served) && n++ < FINISH_BATCH) {
		struct request *rq = list_first_entry(served, struct request, node);

		list_del(&rq->node);
		rq->flush_steps &= rq->flush_steps & STEP_PRE ? ~STEP_PRE : ~STEP_POST;
		if (f->rq.error)
			rq->error = f->rq.error;
		advance_locked(q, rq);
	}
	if (!list_empty(served))
		return true;
	f->draining = false;
	f->running = false;
	start_flush_locked(q);
	return false;
}

/* => rq->flush_steps is not 0 */
bool flush_step_done_locked(struct blk_queue *q, struct request *rq, u64 now)
{
	if (rq == &q->flush.rq) {
		stat_flush(&q->disk->whole, rq->started_ns, now);
		q->flush.draining = true;
		return true;
	}
	rq->flush_steps &= ~STEP_DATA;
	advance_locked(q, rq);
	start_flush_locked(q);
	return true;
}
