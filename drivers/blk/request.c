// SPDX-License-Identifier: BSD-2-Clause
/*
 * request.c - the pools of requests, and congestion.
 *
 * A queue has R = 128 requests for synchronous and 128 for asynchronous work; whoever finds his
 * pool empty sleeps. So the number of a disk's pages under way is bounded, and mm can tell that a
 * disk has enough to do before anybody sleeps there [seed-003]:
 *
 *      on  = R - R/8 + 1         = 113   reached: the device counts as congested
 *      off = R - R/8 - R/16 - 1  = 103   below: not any more, and everybody who waits is woken
 *
 * When the pool is full the thread that filled it may go on to 3/2 R for a while ("batching": 32
 * requests or 20 ms), and so may one that has slept for a request: else each woken thread would get
 * one request and sleep again, and the disk would see a mix of everybody's.
 *
 * Requests are made when they are first needed and then stay with the queue. Four are made with it:
 * without memory a submitter waits for one of these.
 * Locking: queue lock. Wake-ups are gathered and done after the unlock (bounded sections).
 * Source: numbers of facts.md 1.10; behaviour as described there.
 */
#include "drivers/blk/internal.h"
#include "kernel/counter.h"
#include "mm/kmem/slab.h"

#define BATCH_REQUESTS 32u
#define BATCH_NS (20 * NSEC_PER_MSEC)

struct slab_cache *request_cache;
COUNTER(blk_request_waits, "sleeps for a request because the pool was empty");

static bool batching(const struct thread *t, u64 now)
{
	if (!t->blk_batch)
		return false;
	return t->blk_batch == BATCH_REQUESTS || now - t->blk_batch_ns < BATCH_NS;
}

static void begin_batch(struct thread *t, u64 now)
{
	t->blk_batch = BATCH_REQUESTS;
	t->blk_batch_ns = now;
}

/* The pool is nearly or quite used up. => false: this thread has to wait */
static noinline bool admit_locked(struct blk_queue *q, struct request_pool *pool, u32 sync)
{
	if (pool->in_use + 1 >= q->nr_requests) {
		u64 now = ktime_get();

		if (!pool->full) {
			pool->full = true;
			begin_batch(current, now);
		} else if (!batching(current, now)) {
			return false;
		}
	}
	if (!pool->congested) {
		pool->congested = true;
		congestion_set(&q->disk->bdi, sync);
	}
	return pool->in_use < q->nr_requests * 3 / 2;
}

static void wait_locked(struct blk_queue *q, struct request_pool *pool)
{
	WAIT_ENTRY(e);

	count(blk_request_waits);
	wait_prepare_exclusive(&pool->wait, &e, THREAD_UNINTERRUPTIBLE);
	spin_unlock_irq_l(&q->lock, "blk_queue");
	io_schedule();
	wait_finish(&pool->wait, &e);
	spin_lock_irq_l(&q->lock, "blk_queue");
	begin_batch(current, ktime_get());
}

static void wait_thaw_locked(struct blk_queue *q)
{
	spin_unlock_irq_l(&q->lock, "blk_queue");
	blk_plug_flush_current(); /* the one who waits for the queue to be empty waits for these */
	wait_event(&q->frozen_wait, !READ_ONCE(q->frozen) || READ_ONCE(q->disk->dead));
	spin_lock_irq_l(&q->lock, "blk_queue");
}

/*
 * Makes one. Without memory those of the queue are under way and come back, perhaps to the other
 * pool: look again in a while.
 */
static void make_locked(struct blk_queue *q)
{
	struct request *rq;

	spin_unlock_irq_l(&q->lock, "blk_queue");
	rq = slab_alloc(request_cache, GFP_NOWAIT | __GFP_NOWARN);
	if (unlikely(!rq))
		sleep_ns(NSEC_PER_MSEC);
	spin_lock_irq_l(&q->lock, "blk_queue");
	if (rq) {
		rq->next_done = q->free;
		q->free = rq;
		q->nr_made++;
	}
}

struct request *request_get_locked(struct blk_queue *q, u32 sync)
{
	struct request_pool *pool = &q->pool[sync];
	struct request *rq;

	for (;;) {
		if (unlikely(READ_ONCE(q->disk->dead)))
			return NULL;
		if (unlikely(q->frozen)) {
			wait_thaw_locked(q);
			continue;
		}
		if (unlikely(pool->in_use + 1 >= q->on) && !admit_locked(q, pool, sync)) {
			wait_locked(q, pool);
			continue;
		}
		if (likely(q->free))
			break;
		make_locked(q); /* lets the lock go: everything is looked at again */
	}
	rq = q->free;
	q->free = rq->next_done;
	pool->in_use++;
	if (unlikely(current->blk_batch))
		current->blk_batch--;
	rq->sync = sync;
	return rq;
}

void request_put_locked(struct blk_queue *q, struct request *rq, struct wakeups *w)
{
	u32 sync = rq->sync;
	struct request_pool *pool = &q->pool[sync];

	w->any = true;
	rq->state = RQ_FREE;
	rq->next_done = q->free;
	q->free = rq;
	pool->in_use--;
	if (pool->in_use < q->off) {
		if (unlikely(pool->congested)) {
			pool->congested = false;
			congestion_clear(&q->disk->bdi, sync);
		}
		w->below[sync] = true;
	}
	if (pool->in_use + 1 <= q->nr_requests) {
		pool->full = false;
		if (!list_empty(&pool->wait.list))
			w->waiters[sync]++;
	}
	if (unlikely(q->frozen))
		w->empty = true;
}

void request_wake(struct blk_queue *q, const struct wakeups *w)
{
	for (u32 sync = 0; sync < NR_CONGEST; sync++) {
		if (w->below[sync])
			congestion_wake(sync);
		if (unlikely(w->waiters[sync]))
			wake_up_nr(&q->pool[sync].wait, w->waiters[sync], 0);
	}
	if (unlikely(w->empty))
		wake_up_all(&q->frozen_wait);
}

void request_init(struct request *rq, struct bio *bio, u64 now)
{
	rq->disk = bio->part->disk;
	rq->part = bio->part;
	rq->bio = bio;
	rq->last_bio = bio;
	rq->sector = bio->disk_sector;
	rq->nr_sectors = bio->bytes >> SECTOR_SHIFT;
	rq->nr_segments = bio->nr_vecs;
	rq->op = bio->op;
	rq->flags = bio->flags;
	rq->tag = 0;
	rq->queued_ns = now;
	rq->tid = bio->tid;
	rq->error = 0;
	rq->flush_steps = 0;
	rq->state = RQ_PLUGGED;
	hlist_node_init(&rq->hash);
	bio->next = NULL;
	if (likely(bio->op != BIO_FLUSH))
		stat_start(bio->part, bio->op, now);
}
