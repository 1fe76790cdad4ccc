// SPDX-License-Identifier: BSD-2-Clause
/*
 * queue.c - the queue of a disk that takes requests: from bio to request, the life of the queue,
 * and the change of its policy.
 *
 *   bio -> merge in the plug -> merge in the queue -> a new request -> plug -> policy -> driver
 *
 * Changing the policy: the queue is frozen (newcomers wait before they have a request), runs empty
 * (waiting requests are few and bounded), then the functions and their data are exchanged.
 * The end: the disk is dead before; what waits fails with -ENXIO, what the driver has must end by
 * itself, and the queue is empty when both pools are.
 */
#include "drivers/blk/internal.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/softirq.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"

static char elevator_word[16];
BOOT_PARAM_STRING("elevator", elevator_word,
		  "policy of disk queues: noop, deadline (default), cfq");

#define TIME_LIMIT_NS (30 * NSEC_PER_SEC)
#define FIRST_REQUESTS 4

/* ---- submission ------------------------------------------------------------------------------ */

void queue_insert_locked(struct blk_queue *q, struct request *rq, u64 now, struct wakeups *w)
{
	blk_trace(block_rq_insert, trace_rq(&event_block_rq_insert, rq));
	if (unlikely(READ_ONCE(q->disk->dead))) {
		rq->error = -ENXIO;
		rq->state = RQ_DONE;
		request_done(rq);
		return;
	}
	if (unlikely(rq->op == BIO_FLUSH || rq->flags & (BIO_FUA | BIO_PREFLUSH)) &&
	    flush_take_locked(q, rq))
		return;
	rq->state = RQ_ELEVATOR;
	q->elv->insert(q->elv_data, rq, now);
	q->nr_waiting++;
	if (op_merges(rq->op, rq->flags)) {
		merge_hash_add(q, rq);
		q->last_merge = rq;
		if (q->nr_waiting > 1)
			merge_inserted_locked(q, rq, w);
	}
}

void queue_submit(struct bio *bio)
{
	struct blk_queue *q = bio->part->disk->queue;
	struct blk_plug *plug = current->plug;
	bool merges = op_merges(bio->op, bio->flags);
	struct wakeups w = { 0 };
	struct request *rq;
	u64 now;

	if (plug && merges && plug_merge(plug, bio))
		return;
	spin_lock_irq_l(&q->lock, "blk_queue");
	if (merges && q->nr_waiting && merge_locked(q, bio, &w)) {
		spin_unlock_irq_l(&q->lock, "blk_queue");
		if (unlikely(w.any))
			request_wake(q, &w);
		return;
	}
	rq = request_get_locked(q, bio_pool(bio));
	if (unlikely(!rq)) {
		spin_unlock_irq_l(&q->lock, "blk_queue");
		bio->error = -ENXIO;
		bio->end_io(bio);
		return;
	}
	now = ktime_get();
	request_init(rq, bio, now);
	if (plug && merges) {
		spin_unlock_irq_l(&q->lock, "blk_queue");
		plug_add(plug, rq);
		return;
	}
	queue_insert_locked(q, rq, now, &w);
	spin_unlock_irq_l(&q->lock, "blk_queue");
	if (unlikely(w.any))
		request_wake(q, &w);
	queue_run(q);
}

/* ---- tunables -------------------------------------------------------------------------------- */

void queue_set_nr_requests(struct blk_queue *q, u32 nr)
{
	spin_lock_irq_l(&q->lock, "blk_tune");
	q->nr_requests = nr;
	q->on = min(nr - nr / 8 + 1, nr);
	q->off = max(nr - nr / 8 - nr / 16, 2u) - 1;
	spin_unlock_irq_l(&q->lock, "blk_tune");
	for (u32 sync = 0; sync < NR_CONGEST; sync++)
		wake_up_all(&q->pool[sync].wait);
}

static const struct elevator_ops *elevator_default(const struct disk *disk)
{
	const struct elevator_ops *ops = NULL;

	if (*elevator_word) {
		ops = elevator_find(elevator_word);
		if (!ops)
			pr_err("blk: elevator=%s names no policy", elevator_word);
	}
	if (!ops)
		ops = disk->in_order ? &elevator_noop : &elevator_deadline;
	return ops;
}

static void *elevator_data(const struct elevator_ops *ops)
{
	void *data = kzalloc(max(ops->data_bytes, sizeof(long)), GFP_KERNEL);

	if (data)
		ops->init(data);
	return data;
}

static bool is_empty(struct blk_queue *q)
{
	return !READ_ONCE(q->pool[0].in_use) && !READ_ONCE(q->pool[1].in_use);
}

int queue_set_elevator(struct blk_queue *q, const char *name)
{
	const struct elevator_ops *ops = elevator_find(name);
	void *data, *old;

	if (!ops)
		return -EINVAL;
	data = elevator_data(ops);
	if (!data)
		return -ENOMEM;
	mutex_lock(&q->tune);
	blk_plug_flush_current();
	spin_lock_irq_l(&q->lock, "blk_tune");
	q->frozen = true;
	spin_unlock_irq_l(&q->lock, "blk_tune");
	wait_event(&q->frozen_wait, is_empty(q));
	spin_lock_irq_l(&q->lock, "blk_tune");
	old = q->elv_data;
	q->elv = ops;
	q->elv_data = data;
	q->frozen = false;
	spin_unlock_irq_l(&q->lock, "blk_tune");
	wake_up_all(&q->frozen_wait);
	mutex_unlock(&q->tune);
	kfree(old);
	return 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void queue_setup(struct blk_queue *q, struct disk *disk)
{
	q->disk = disk;
	spin_lock_init(&q->lock, RANK_BLK, "blk_queue");
	wait_queue_init(&q->pool[0].wait);
	wait_queue_init(&q->pool[1].wait);
	wait_queue_init(&q->frozen_wait);
	mutex_init(&q->tune, RANK_DISK, "blk_tune");
	list_init(&q->ready);
	list_init(&q->in_driver);
	disk->limits.queue_depth = min(disk->limits.queue_depth, QUEUE_DEPTH_MAX);
	q->depth = disk->limits.queue_depth;
	q->time_limit_ns = TIME_LIMIT_NS;
	flush_init(q);
	queue_timers_init(q);
	queue_set_nr_requests(q, POOL_DEFAULT);
}

static void free_requests(struct blk_queue *q)
{
	while (q->free) {
		struct request *rq = q->free;

		q->free = rq->next_done;
		slab_free(request_cache, rq);
	}
}

int queue_create(struct disk *disk)
{
	struct blk_queue *q = kzalloc(sizeof(*q), GFP_KERNEL);

	if (!q)
		return -ENOMEM;
	queue_setup(q, disk);
	q->elv = elevator_default(disk);
	q->elv_data = elevator_data(q->elv);
	for (int i = 0; i < FIRST_REQUESTS; i++) {
		struct request *rq = slab_alloc(request_cache, GFP_KERNEL);

		if (!rq)
			break;
		rq->next_done = q->free;
		q->free = rq;
		q->nr_made++;
	}
	if (!q->elv_data || q->nr_made < FIRST_REQUESTS) {
		free_requests(q);
		kfree(q->elv_data);
		kfree(q);
		return -ENOMEM;
	}
	disk->queue = q;
	return 0;
}

/* Everything that has not reached the driver fails. FINISH_BATCH with the lock held once. */
static void fail_waiting(struct blk_queue *q)
{
	struct request *rq;
	u64 again;
	u32 n;

	do {
		spin_lock_irq_l(&q->lock, "blk_drain");
		for (n = 0; n < FINISH_BATCH; n++) {
			rq = list_first_entry_or_null(&q->ready, struct request, node);
			if (rq) {
				list_del(&rq->node);
			} else if (q->nr_waiting) {
				rq = q->elv->next(q->elv_data, ktime_get(), &again, 1);
				q->nr_waiting--;
				merge_hash_del(q, rq);
				rq->state = RQ_READY | RQ_BY_ELEVATOR;
			} else {
				break;
			}
			rq->error = -ENXIO;
			request_done(rq);
		}
		spin_unlock_irq_l(&q->lock, "blk_drain");
		softirq_disable();
		softirq_enable(); /* runs what was raised */
	} while (n);
}

void queue_drain_dead(struct disk *disk)
{
	struct blk_queue *q = disk->queue;

	blk_plug_flush_current();
	spin_lock_irq_l(&q->lock, "blk_drain");
	q->frozen = true; /* so that the last request wakes us */
	spin_unlock_irq_l(&q->lock, "blk_drain");
	wake_up_all(&q->pool[0].wait);
	wake_up_all(&q->pool[1].wait);
	wake_up_all(&q->frozen_wait);
	for (;;) {
		fail_waiting(q);
		if (wait_event_until(&q->frozen_wait, is_empty(q),
				     ktime_get() + 10 * NSEC_PER_MSEC) > 0)
			break;
	}
	timer_cancel_sync(&q->timer);
	timer_cancel_sync(&q->watchdog);
}

void queue_destroy(struct disk *disk)
{
	struct blk_queue *q = disk->queue;

	timer_cancel_sync(&q->timer);
	timer_cancel_sync(&q->watchdog);
	free_requests(q);
	kfree(q->elv_data);
	kfree(q);
	disk->queue = NULL;
}

/* ---- what drivers ask of a request ----------------------------------------------------------- */

bool rq_next_piece(const struct request *rq, struct rq_iter *it)
{
	struct bio *bio = it->bio ? it->bio : rq->bio;
	const struct bio_vec *v;

	if (!bio)
		return false;
	while (it->vec >= bio->nr_vecs) {
		bio = bio->next;
		it->vec = 0;
		if (!bio)
			return false;
	}
	v = &bio->vecs[it->vec++];
	it->bio = bio;
	it->addr = bio_vec_addr(v);
	it->bytes = v->len;
	return true;
}

void queue_init(void)
{
	request_cache = slab_create("request", sizeof(struct request), 0, SLAB_HWALIGN, NULL);
	if (!request_cache)
		panic("blk: no memory for the cache of requests");
	complete_init();
	plug_flush_hook = blk_plug_flush_current;
}
