// SPDX-License-Identifier: BSD-2-Clause
/*
 * complete.c - the end of requests: from the driver's interrupt to everybody's end_io.
 *
 * A driver says "ended" from any context; that only puts the request on a list of this CPU and
 * raises SOFTIRQ_BLOCK. The softirq, interrupts on, takes the requests in order: their bios end
 * (END_BATCH per run, then it is raised again), then, with the queue lock held once for at most
 * FINISH_BATCH of them, tags and requests go back; then sleepers are woken and the queue is run.
 * A request with steps of a flush left comes back here when the last one ended.
 */
#include "drivers/blk/internal.h"
#include "kernel/printk.h"
#include "kernel/softirq.h"

/* Ended requests of a CPU, oldest first. Touched with IRQs off, by its CPU alone. */
struct done_list {
	struct request *first, *last;
};
static DEFINE_PER_CPU(struct done_list, done_list);

void request_done(struct request *rq)
{
	struct done_list *l;
	unsigned long flags;

	rq->next_done = NULL;
	local_irq_save_l(flags, "blk_done");
	l = this_cpu_ptr(&done_list);
	if (l->first)
		l->last->next_done = rq;
	else
		l->first = rq;
	l->last = rq;
	softirq_raise(SOFTIRQ_BLOCK);
	local_irq_restore_l(flags, "blk_done");
}

void blk_end_request(struct request *rq, int error)
{
	rq->error = error;
	request_done(rq);
	if (!in_interrupt() && !irqs_disabled()) { /* a thread: nothing else would run it soon */
		softirq_disable();
		softirq_enable();
	}
}

static struct request *take_all(void)
{
	struct done_list *l;
	struct request *rq;

	local_irq_disable_l("blk_done");
	l = this_cpu_ptr(&done_list);
	rq = l->first;
	l->first = NULL;
	local_irq_enable_l("blk_done");
	return rq;
}

/* What was not done in this run, in front of what came meanwhile. */
static void put_back(struct request *first)
{
	struct request *last = first;
	struct done_list *l;

	while (last->next_done)
		last = last->next_done;
	local_irq_disable_l("blk_done");
	l = this_cpu_ptr(&done_list);
	last->next_done = l->first;
	if (!l->first)
		l->last = last;
	l->first = first;
	softirq_raise(SOFTIRQ_BLOCK);
	local_irq_enable_l("blk_done");
}

static noinline void complain(const struct request *rq)
{
	static const char *const names[NR_BIO_OPS] = { "read", "write", "flush", "discard",
						       "write zeroes" };

	if (rq->error == -EOPNOTSUPP && rq->op > BIO_FLUSH)
		return;
	if (rq->error != -ENXIO && blk_may_log())
		pr_err("blk: %s: %s error at sector %llu, %u sectors (error %d)", rq->disk->name,
		       names[rq->op], (unsigned long long)rq->sector, rq->nr_sectors, -rq->error);
}

/* => how many bios ended; rq->bio NULL: all */
static u32 end_bios(struct request *rq, u32 budget)
{
	struct bio *bio = rq->bio;
	int error = rq->error;
	u32 n = 0;

	for (; bio && n < budget; n++) {
		struct bio *next = bio->next;

		bio->error = error;
		bio->end_io(bio);
		bio = next;
	}
	rq->bio = bio;
	return n;
}

/* The request itself has ended (no steps left): its numbers, once, before anybody is told. */
static void account(struct request *rq, u64 now)
{
	blk_trace(block_rq_complete, trace_rq_complete(rq, rq->error, rq->nr_sectors));
	if (unlikely(rq->error))
		complain(rq);
	if (likely(rq->op != BIO_FLUSH)) /* what flushes cost is counted by the machine (flush.c) */
		stat_end(rq->part, rq->op, rq->nr_sectors, rq->queued_ns, now);
}

/* Puts the n requests of one queue back. */
static void finish(struct blk_queue *q, struct request **rqs, u32 n, u64 now)
{
	struct wakeups w = { 0 };
	bool more;

	spin_lock_irq_l(&q->lock, "blk_finish");
	for (u32 i = 0; i < n; i++) {
		struct request *rq = rqs[i];
		u32 state = rq->state;

		if ((state & RQ_STATE) == RQ_DRIVER)
			driver_done_locked(q, rq);
		rq->state = RQ_DONE;
		if (state & RQ_BY_ELEVATOR && q->elv->completed)
			q->elv->completed(q->elv_data, rq, now);
		if (likely(!rq->flush_steps) || !flush_step_done_locked(q, rq, now))
			request_put_locked(q, rq, &w);
	}
	while (unlikely(q->flush.draining) && flush_drain_locked(q)) {
		spin_unlock_irq_l(&q->lock, "blk_finish");
		spin_lock_irq_l(&q->lock, "blk_finish");
	}
	more = q->nr_waiting || !list_empty(&q->ready);
	spin_unlock_irq_l(&q->lock, "blk_finish");
	if (w.any)
		request_wake(q, &w);
	if (more)
		queue_run(q);
}

/*
 * The requests of one queue at the head of the list, as far as the budget goes. => what is left of
 * the list
 */
static struct request *one_queue(struct request *rq, u32 *budget, u64 now)
{
	struct blk_queue *q = rq->disk->queue;
	struct request *batch[FINISH_BATCH];
	u32 n = 0;

	while (rq && rq->disk->queue == q && n < FINISH_BATCH && *budget) {
		if (likely(!rq->flush_steps)) {
			if (!(rq->state & RQ_TOLD)) {
				account(rq, now);
				rq->state |= RQ_TOLD;
			}
			*budget -= min(*budget, end_bios(rq, *budget));
			if (rq->bio)
				break;
		}
		batch[n++] = rq;
		rq = rq->next_done;
	}
	if (n)
		finish(q, batch, n, now);
	return rq;
}

static void done_softirq(void)
{
	struct request *rq = take_all();
	u32 budget = END_BATCH;
	u64 now = ktime_get();

	while (rq && budget)
		rq = one_queue(rq, &budget, now);
	if (rq)
		put_back(rq);
}

void complete_init(void)
{
	softirq_open(SOFTIRQ_BLOCK, done_softirq);
}
