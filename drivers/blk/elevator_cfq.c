// SPDX-License-Identifier: BSD-2-Clause
/*
 * elevator_cfq.c - time slices of the disk: completely fair queueing, the elevator of the
 * documents' kernels.
 *
 * Problem: threads that read want the head at different places; served request by request every one
 * of them pays a seek each time. Idea: each thread that waits (synchronous requests) has a queue of
 * its own and gets the disk alone for a slice of time; all asynchronous writes share one queue.
 * After its last request the owner of the slice is probably about to ask for the next place, so the
 * disk is left idle for a few ms rather than sent away. The slice begins with the first completion.
 *
 *     active --+ slice 100 ms (async 40 ms)      busy: [tid 12] [tid 7] [async] ...
 *     requests go out by sector                  round robin
 *
 * The slice bends to a target latency: with q busy synchronous queues a round lasts q slices; when
 * that exceeds target_latency (300 ms; 600 ms is the patch "cfq600" of [seed-000]'s series) each
 * gets target / q, but at least twice the idle wait, 16 ms.
 *
 * A thread that thinks longer than the idle wait, or seeks all over the disk, is not waited for. A
 * synchronous request takes the disk from an asynchronous slice at once. Asynchronous requests wait
 * until no synchronous one is in the driver, and vice versa while waiting pays.
 *
 * Invariants: a queue is LISTED or ACTIVE while it has requests; busy_sync counts the synchronous
 * ones of these. Whenever next() says "none" though there is something, a completion or *again
 * brings the next question.
 * Locking: the queue's lock. Source: model of facts.md 2.1 [seed-000]; names of the tunables are
 * Linux's. Left out: priorities, groups, cooperating queues.
 */
#include "drivers/blk/elevator.h"
#include "lib/math.h"

#define NR_QUEUES 128u /* threads with a queue of their own; more share by number */
#define PROBES 8u
#define SEEK_FAR 800u	  /* sectors: further away counts as a seek */
#define MANY_SEEKS 4	  /* of the last 32 requests */
#define ENOUGH_SAMPLES 80 /* of 256: the mean think time is believed */

enum place { PLACE_NONE, PLACE_LISTED, PLACE_ACTIVE };

struct cfq_queue {
	struct list_head busy;
	struct rb_root sorted;
	struct list_head fifo;
	u32 queued, dispatched; /* here; in the driver */
	pid_t tid;
	u8 sync, place;
	u32 seeks;    /* one bit per request, newest lowest */
	u32 nr_seeks; /* bits in it */
	u64 last_end_sector;
	u64 last_end_ns; /* 0: nothing ended yet */
	u64 think_samples, think_total, think_mean;
};

struct cfq {
	struct cfq_queue async, sync[NR_QUEUES];
	struct list_head busy;
	struct cfq_queue *active;
	u64 slice_end;	  /* 0: no request of the slice has ended yet */
	u64 idle_until;	  /* 0: not waiting for the active queue */
	bool fifo_looked; /* at the oldest, once per slice */
	u32 busy_sync;
	u32 in_driver[2]; /* async, sync */
	u64 position;	  /* end of the last request given out */
	u64 slice_sync, slice_async, slice_idle, target_latency; /* ns */
	u64 quantum, expire_sync, expire_async, back_max, back_penalty, low_latency;
};

static bool is_sync(enum bio_op op, u32 flags)
{
	return op == BIO_READ || flags & BIO_SYNC;
}

u64 cfq_sync_slice(u64 slice, u64 target, u64 idle, u32 busy)
{
	u64 bent;

	if (busy < 2 || busy * slice <= target)
		return slice;
	bent = target / busy;
	return max(bent, min(slice, 2 * idle));
}

static void queue_init_one(struct cfq_queue *cq, bool sync)
{
	list_init(&cq->busy);
	cq->sorted = RB_ROOT;
	list_init(&cq->fifo);
	cq->sync = sync;
	cq->tid = -1;
}

static void cfq_init(void *data)
{
	struct cfq *c = data;

	queue_init_one(&c->async, false);
	for (u32 i = 0; i < NR_QUEUES; i++)
		queue_init_one(&c->sync[i], true);
	list_init(&c->busy);
	c->slice_sync = 100 * NSEC_PER_MSEC;
	c->slice_async = 40 * NSEC_PER_MSEC;
	c->slice_idle = 8 * NSEC_PER_MSEC;
	c->target_latency = 300 * NSEC_PER_MSEC;
	c->quantum = 8;
	c->expire_sync = 125 * NSEC_PER_MSEC;
	c->expire_async = 250 * NSEC_PER_MSEC;
	c->back_max = 2 * 16384; /* sectors: 16 MiB */
	c->back_penalty = 2;
	c->low_latency = 1;
}

/* ---- which queue ----------------------------------------------------------------------------- */

static struct cfq_queue *find_queue(struct cfq *c, pid_t tid, bool sync)
{
	struct cfq_queue *unused = NULL;

	if (!sync)
		return &c->async;
	for (u32 i = 0; i < PROBES; i++) {
		struct cfq_queue *cq = &c->sync[((u32)tid + i) % NR_QUEUES];

		if (cq->tid == tid)
			return cq;
		if (!unused && cq->place == PLACE_NONE && !cq->dispatched)
			unused = cq;
	}
	if (!unused)
		return &c->sync[(u32)tid % NR_QUEUES]; /* shared */
	unused->tid = tid;
	unused->seeks = 0;
	unused->nr_seeks = 0;
	unused->last_end_ns = 0;
	unused->think_samples = 0;
	unused->think_total = 0;
	unused->think_mean = 0;
	return unused;
}

static struct cfq_queue *queue_of(const struct request *rq)
{
	return rq->elevator_data[0];
}

static bool seeky(const struct cfq_queue *cq)
{
	return cq->nr_seeks > MANY_SEEKS;
}

/* Does it pay to keep the disk for this queue when it has nothing to ask right now? */
static bool worth_waiting(const struct cfq *c, const struct cfq_queue *cq)
{
	if (!cq->sync || !c->slice_idle)
		return false;
	if (cq->think_samples > ENOUGH_SAMPLES && cq->think_mean > c->slice_idle)
		return false;
	return !seeky(cq) || c->busy_sync == 1;
}

/* How long does the thread think between the end of one request and the next? Mean of 1/8. */
static void learn_think(const struct cfq *c, struct cfq_queue *cq, u64 now)
{
	u64 t;

	if (!cq->last_end_ns || cq->queued || cq->dispatched)
		return;
	t = min(now - cq->last_end_ns, 2 * c->slice_idle);
	cq->think_samples = (7 * cq->think_samples + 256) / 8;
	cq->think_total = (7 * cq->think_total + 256 * t) / 8;
	cq->think_mean = (cq->think_total + 128) / cq->think_samples;
}

static void learn_seek(struct cfq_queue *cq, const struct request *rq)
{
	bool far = abs_diff(rq->sector, cq->last_end_sector) > SEEK_FAR;

	cq->nr_seeks += far - (cq->seeks >> 31);
	cq->seeks = cq->seeks << 1 | far;
	cq->last_end_sector = rq->sector + rq->nr_sectors;
}

/* ---- whose turn ------------------------------------------------------------------------------ */

static void make_busy(struct cfq *c, struct cfq_queue *cq)
{
	if (cq->place != PLACE_NONE)
		return;
	cq->place = PLACE_LISTED;
	list_add_tail(&cq->busy, &c->busy);
	c->busy_sync += cq->sync;
}

static void make_unbusy(struct cfq *c, struct cfq_queue *cq)
{
	if (cq->place == PLACE_LISTED)
		list_del(&cq->busy);
	cq->place = PLACE_NONE;
	c->busy_sync -= cq->sync;
}

static void expire(struct cfq *c)
{
	struct cfq_queue *cq = c->active;

	c->active = NULL;
	c->idle_until = 0;
	if (!cq->queued) {
		make_unbusy(c, cq);
		return;
	}
	cq->place = PLACE_LISTED;
	list_add_tail(&cq->busy, &c->busy);
}

static struct cfq_queue *activate(struct cfq *c)
{
	struct cfq_queue *cq = list_first_entry_or_null(&c->busy, struct cfq_queue, busy);

	if (!cq)
		return NULL;
	list_del(&cq->busy);
	cq->place = PLACE_ACTIVE;
	c->active = cq;
	c->slice_end = 0;
	c->idle_until = 0;
	c->fifo_looked = false;
	return cq;
}

static u64 slice_of(const struct cfq *c, const struct cfq_queue *cq)
{
	if (!cq->sync)
		return c->slice_async;
	if (!c->low_latency)
		return c->slice_sync;
	return cfq_sync_slice(c->slice_sync, c->target_latency, c->slice_idle, c->busy_sync);
}

static void cfq_insert(void *data, struct request *rq, u64 now)
{
	struct cfq *c = data;
	struct cfq_queue *cq = find_queue(c, rq->tid, is_sync(rq->op, rq->flags));

	rq->elevator_data[0] = cq;
	learn_think(c, cq, now);
	learn_seek(cq, rq);
	elv_rb_add(&cq->sorted, rq);
	rq->deadline_ns = now + (cq->sync ? c->expire_sync : c->expire_async);
	list_add_tail(&rq->fifo, &cq->fifo);
	cq->queued++;
	if (c->active == cq) {
		c->idle_until = 0;
		return;
	}
	make_busy(c, cq);
	if (c->active && cq->sync && !c->active->sync) {
		expire(c);
		list_move(&cq->busy, &c->busy); /* to the front */
	}
}

/* ---- which request --------------------------------------------------------------------------- */

/* The nearest in front of the head; behind it only when that is much nearer. */
static struct request *nearest(const struct cfq *c, const struct cfq_queue *cq)
{
	struct request *ahead = elv_rb_from(&cq->sorted, c->position), *behind;
	u64 ahead_by, behind_by;

	if (ahead)
		behind = elv_rb_neighbour(ahead, ELV_FORMER);
	else
		behind = rb_entry_safe(rb_last(&cq->sorted), struct request, rb);
	behind_by = behind ? c->position - behind->sector : U64_MAX;
	if (ahead) {
		ahead_by = ahead->sector - c->position;
		if (behind_by > c->back_max || behind_by * c->back_penalty >= ahead_by)
			return ahead;
		return behind;
	}
	if (behind_by <= c->back_max)
		return behind;
	return rb_entry(rb_first(&cq->sorted), struct request, rb); /* a new sweep */
}

static struct request *choose(struct cfq *c, struct cfq_queue *cq, u64 now)
{
	struct request *old = list_first_entry(&cq->fifo, struct request, fifo);

	if (!c->fifo_looked) {
		c->fifo_looked = true;
		if (old->deadline_ns <= now)
			return old;
	}
	return nearest(c, cq);
}

static struct request *give_out(struct cfq *c, struct cfq_queue *cq, struct request *rq)
{
	elv_rb_del(&cq->sorted, rq);
	list_del(&rq->fifo);
	cq->queued--;
	cq->dispatched++;
	c->in_driver[cq->sync]++;
	c->position = rq->sector + rq->nr_sectors;
	return rq;
}

static bool may_dispatch(const struct cfq *c, const struct cfq_queue *cq)
{
	if (cq->sync && c->in_driver[0] && worth_waiting(c, cq))
		return false; /* first the others' writes out of the way */
	if (!cq->sync && c->in_driver[1])
		return false;
	return list_empty(&c->busy) || cq->dispatched < c->quantum;
}

static struct request *any_request(struct cfq *c)
{
	struct cfq_queue *cq = c->active && c->active->queued ? c->active : NULL;
	struct request *rq;

	if (!cq)
		cq = list_first_entry_or_null(&c->busy, struct cfq_queue, busy);
	if (!cq)
		return NULL;
	rq = give_out(c, cq, list_first_entry(&cq->fifo, struct request, fifo));
	if (!cq->queued && cq != c->active)
		make_unbusy(c, cq);
	return rq;
}

static struct request *cfq_next(void *data, u64 now, u64 *again, int force)
{
	struct cfq *c = data;

	if (force)
		return any_request(c);
	for (;;) {
		struct cfq_queue *cq = c->active ? c->active : activate(c);

		if (!cq)
			return NULL;
		if (c->slice_end && now >= c->slice_end) {
			expire(c);
			continue;
		}
		if (cq->queued)
			return may_dispatch(c, cq) ? give_out(c, cq, choose(c, cq, now)) : NULL;
		if (cq->dispatched && worth_waiting(c, cq))
			return NULL;
		if (c->idle_until > now) {
			if (!list_empty(&c->busy))
				*again = c->idle_until;
			return NULL;
		}
		expire(c);
	}
}

static void cfq_completed(void *data, struct request *rq, u64 now)
{
	struct cfq *c = data;
	struct cfq_queue *cq = queue_of(rq);

	cq->dispatched--;
	c->in_driver[cq->sync]--;
	cq->last_end_ns = now;
	if (c->active != cq)
		return;
	if (!c->slice_end)
		c->slice_end = now + slice_of(c, cq);
	if (cq->queued || cq->dispatched || !worth_waiting(c, cq))
		return;
	if (cq->think_samples > ENOUGH_SAMPLES && c->slice_end < now + cq->think_mean)
		return; /* the slice ends before the thread is back */
	c->idle_until = now + c->slice_idle;
}

/* ---- merging --------------------------------------------------------------------------------- */

static bool cfq_allow_merge(void *data, const struct request *rq, const struct bio *bio)
{
	bool sync = is_sync(bio->op, bio->flags);

	if (sync != queue_of(rq)->sync)
		return false;
	return !sync || queue_of(rq)->tid == bio->tid;
}

static struct request *cfq_find_front(void *data, const struct bio *bio, u64 sector)
{
	struct cfq *c = data;
	bool sync = is_sync(bio->op, bio->flags);

	for (u32 i = 0; sync && i < PROBES; i++) {
		struct cfq_queue *cq = &c->sync[((u32)bio->tid + i) % NR_QUEUES];

		if (cq->tid == bio->tid)
			return elv_rb_find(&cq->sorted, sector);
	}
	return sync ? NULL : elv_rb_find(&c->async.sorted, sector);
}

static struct request *cfq_neighbour(void *data, struct request *rq, enum elevator_side side)
{
	return elv_rb_neighbour(rq, side);
}

static void cfq_moved(void *data, struct request *rq)
{
	elv_rb_del(&queue_of(rq)->sorted, rq);
	elv_rb_add(&queue_of(rq)->sorted, rq);
}

static void cfq_absorbed(void *data, struct request *rq, struct request *gone)
{
	struct cfq_queue *cq = queue_of(gone); /* neighbours are of one queue */

	if (gone->deadline_ns < rq->deadline_ns) {
		list_move(&rq->fifo, &gone->fifo);
		rq->deadline_ns = gone->deadline_ns;
	}
	elv_rb_del(&cq->sorted, gone);
	list_del(&gone->fifo);
	cq->queued--;
}

#define CFQ_ATTR(field, name_, unit_, min_, max_)                                                  \
	{                                                                                          \
		.name = name_, .offset = offsetof(struct cfq, field), .unit = unit_, .min = min_,  \
		.max = max_                                                                        \
	}
static const struct elevator_attr cfq_attrs[] = {
	CFQ_ATTR(slice_sync, "slice_sync", NSEC_PER_MSEC, 1, 100000),
	CFQ_ATTR(slice_async, "slice_async", NSEC_PER_MSEC, 1, 100000),
	CFQ_ATTR(slice_idle, "slice_idle", NSEC_PER_MSEC, 0, 10000),
	CFQ_ATTR(target_latency, "target_latency", NSEC_PER_MSEC, 1, 100000),
	CFQ_ATTR(quantum, "quantum", 1, 1, 256),
	CFQ_ATTR(expire_sync, "fifo_expire_sync", NSEC_PER_MSEC, 1, 1000000),
	CFQ_ATTR(expire_async, "fifo_expire_async", NSEC_PER_MSEC, 1, 1000000),
	CFQ_ATTR(back_max, "back_seek_max", 2, 0, 1000000000), /* shown in KiB */
	CFQ_ATTR(back_penalty, "back_seek_penalty", 1, 1, 1000),
	CFQ_ATTR(low_latency, "low_latency", 1, 0, 1),
	{ .name = NULL },
};

const struct elevator_ops elevator_cfq = {
	.name = "cfq",
	.data_bytes = sizeof(struct cfq),
	.attrs = cfq_attrs,
	.init = cfq_init,
	.insert = cfq_insert,
	.next = cfq_next,
	.completed = cfq_completed,
	.allow_merge = cfq_allow_merge,
	.find_front = cfq_find_front,
	.neighbour = cfq_neighbour,
	.moved = cfq_moved,
	.absorbed = cfq_absorbed,
};
