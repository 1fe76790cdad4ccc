// SPDX-License-Identifier: BSD-2-Clause
/*
 * plug.c - a thread that is about to submit many bios gathers its requests first.
 *
 * Problem: a disk that is given the first of a hundred neighbouring bios at once has no chance to
 * merge it with the other ninety-nine. Idea: between start and finish new requests stay on a list
 * on the submitter's stack; further bios merge into them without any lock; then the list goes to
 * the queue sorted by sector, with the lock taken once. A thread that falls asleep flushes its list
 * (it might sleep for one of these very requests), and a full list flushes itself.
 *
 * Invariants: a plug belongs to the thread in whose current->plug it is; nobody else looks at it. A
 * request in it counts as used in its pool.
 */
#include "drivers/blk/internal.h"
#include "sched/sched.h"

void blk_plug_start(struct blk_plug *plug)
{
	plug->first = NULL;
	plug->last = NULL;
	plug->count = 0;
	if (current->plug)
		return;
	current->plug = plug;
}

void blk_plug_finish(struct blk_plug *plug)
{
	if (current->plug != plug)
		return;
	if (plug->count)
		blk_plug_flush_current();
	current->plug = NULL;
}

bool plug_merge(struct blk_plug *plug, struct bio *bio)
{
	struct request *rq = plug->last;

	if (!rq)
		return false;
	if (merge_try(rq, bio))
		return true;
	for (rq = plug->first; rq != plug->last; rq = rq->next_done)
		if (merge_try(rq, bio))
			return true;
	return false;
}

void plug_add(struct blk_plug *plug, struct request *rq)
{
	if (!plug->count)
		blk_trace(block_plug, trace_plug());
	rq->next_done = NULL;
	if (plug->last)
		plug->last->next_done = rq;
	else
		plug->first = rq;
	plug->last = rq;
	if (++plug->count >= PLUG_MAX)
		blk_plug_flush_current();
}

static bool before(const struct request *a, const struct request *b)
{
	return a->disk != b->disk ? a->disk < b->disk : a->sector < b->sector;
}

/* Insertion sort: the list is short and nearly always sorted already. */
static u32 sorted_array(struct blk_plug *plug, struct request *out[PLUG_MAX])
{
	u32 n = 0, i;

	for (struct request *rq = plug->first; rq; rq = rq->next_done) {
		for (i = n++; i && before(rq, out[i - 1]); i--)
			out[i] = out[i - 1];
		out[i] = rq;
	}
	return n;
}

void blk_plug_flush_current(void)
{
	struct blk_plug *plug = current->plug;
	struct request *rqs[PLUG_MAX];
	u32 n, i = 0;

	if (!plug || !plug->count)
		return;
	n = sorted_array(plug, rqs);
	plug->first = NULL;
	plug->last = NULL;
	plug->count = 0;
	while (i < n) {
		struct blk_queue *q = rqs[i]->disk->queue;
		struct wakeups w = { 0 };
		u64 now = ktime_get();
		u32 first = i;

		spin_lock_irq_l(&q->lock, "blk_plug");
		for (; i < n && i - first < INSERT_BATCH && rqs[i]->disk->queue == q; i++)
			queue_insert_locked(q, rqs[i], now, &w);
		spin_unlock_irq_l(&q->lock, "blk_plug");
		blk_trace(block_unplug, trace_unplug(i - first));
		if (unlikely(w.any))
			request_wake(q, &w);
		if (i == n || rqs[i]->disk->queue != q)
			queue_run(q);
	}
}
