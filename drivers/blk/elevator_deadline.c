// SPDX-License-Identifier: BSD-2-Clause
/*
 * elevator_deadline.c - sweep by sector, but nobody waits for ever.
 *
 * Problem: sorting by sector saves seeks and starves whoever is far away. Idea: every request
 * stands in two orders, by sector and by age, reads apart from writes. Requests go out in runs of
 * rising sectors; after fifo_batch of a run the oldest is looked at: has its time limit passed, the
 * next run begins at it. Reads go first, since somebody waits for them, but after writes_starved
 * runs of reads while writes waited there is a run of writes.
 *
 *        by age    [ w7  w2  w9 ]  limit 5 s after arrival
 *        by sector   2 .. 7 .. 9   run ->
 *
 * Invariants: each request is in exactly one tree and one age list; next_rq[dir] is the request
 * behind the last one that went out, or NULL.
 * Locking: the queue's lock. Source: the idea and the numbers are those of Linux's deadline
 * scheduler (read 500 ms, write 5 s, 16, 2) as its documentation describes them.
 */
#include "drivers/blk/elevator.h"

struct deadline {
	struct rb_root sorted[2];
	struct list_head fifo[2];
	struct request *next_rq[2];
	u64 expire[2]; /* ns */
	u64 fifo_batch, writes_starved, front_merges;
	u64 batching, starved;
	u32 dir; /* of the run */
};

static unsigned int dir_of(const struct request *rq)
{
	return rq->op != BIO_READ;
}

static void deadline_init(void *data)
{
	struct deadline *e = data;

	for (int dir = 0; dir < 2; dir++) {
		e->sorted[dir] = RB_ROOT;
		list_init(&e->fifo[dir]);
	}
	e->expire[0] = 500 * NSEC_PER_MSEC;
	e->expire[1] = 5 * NSEC_PER_SEC;
	e->fifo_batch = 16;
	e->writes_starved = 2;
	e->front_merges = 1;
}

static void deadline_insert(void *data, struct request *rq, u64 now)
{
	struct deadline *e = data;
	unsigned int dir = dir_of(rq);

	elv_rb_add(&e->sorted[dir], rq);
	rq->deadline_ns = now + e->expire[dir];
	list_add_tail(&rq->fifo, &e->fifo[dir]);
}

static void take_out(struct deadline *e, struct request *rq)
{
	unsigned int dir = dir_of(rq);

	if (e->next_rq[dir] == rq)
		e->next_rq[dir] = elv_rb_neighbour(rq, ELV_LATTER);
	elv_rb_del(&e->sorted[dir], rq);
	list_del(&rq->fifo);
}

/* rq goes out; the run of its direction goes on behind it. */
static struct request *send(struct deadline *e, struct request *rq)
{
	unsigned int dir = dir_of(rq);
	struct request *behind = elv_rb_neighbour(rq, ELV_LATTER);

	e->batching++;
	e->next_rq[0] = NULL;
	e->next_rq[1] = NULL;
	take_out(e, rq);
	e->next_rq[dir] = behind;
	return rq;
}

static struct request *oldest(struct deadline *e, unsigned int dir)
{
	return list_first_entry_or_null(&e->fifo[dir], struct request, fifo);
}

/* Which direction gets the next run. => there is something */
static unsigned int choose_dir(struct deadline *e)
{
	bool writes = !list_empty(&e->fifo[1]);

	if (!list_empty(&e->fifo[0]) && !(writes && e->starved++ >= e->writes_starved))
		return 0;
	e->starved = 0;
	return 1;
}

static struct request *deadline_next(void *data, u64 now, u64 *again, int force)
{
	struct deadline *e = data;
	struct request *rq = e->next_rq[1] ? e->next_rq[1] : e->next_rq[0];
	unsigned int dir;

	if (rq && e->batching < e->fifo_batch)
		return send(e, rq);
	if (list_empty(&e->fifo[0]) && list_empty(&e->fifo[1]))
		return NULL;
	dir = choose_dir(e);
	rq = e->next_rq[dir];
	if (!rq || oldest(e, dir)->deadline_ns <= now)
		rq = oldest(e, dir);
	e->batching = 0;
	return send(e, rq);
}

static struct request *deadline_find_front(void *data, const struct bio *bio, u64 sector)
{
	struct deadline *e = data;

	return e->front_merges ? elv_rb_find(&e->sorted[bio->op != BIO_READ], sector) : NULL;
}

static struct request *deadline_neighbour(void *data, struct request *rq, enum elevator_side side)
{
	return elv_rb_neighbour(rq, side);
}

static void deadline_moved(void *data, struct request *rq)
{
	struct deadline *e = data;

	elv_rb_del(&e->sorted[dir_of(rq)], rq);
	elv_rb_add(&e->sorted[dir_of(rq)], rq);
}

static void deadline_absorbed(void *data, struct request *rq, struct request *gone)
{
	struct deadline *e = data;

	if (gone->deadline_ns < rq->deadline_ns) { /* the joint request inherits the older place */
		list_move(&rq->fifo, &gone->fifo);
		rq->deadline_ns = gone->deadline_ns;
	}
	take_out(e, gone);
}

#define DEADLINE_ATTR(field, name_, unit_, max_)                                                   \
	{                                                                                          \
		.name = name_, .offset = offsetof(struct deadline, field), .unit = unit_,          \
		.max = max_                                                                        \
	}
static const struct elevator_attr deadline_attrs[] = {
	DEADLINE_ATTR(expire[0], "read_expire", NSEC_PER_MSEC, 1000000),
	DEADLINE_ATTR(expire[1], "write_expire", NSEC_PER_MSEC, 1000000),
	DEADLINE_ATTR(fifo_batch, "fifo_batch", 1, 100000),
	DEADLINE_ATTR(writes_starved, "writes_starved", 1, 100000),
	DEADLINE_ATTR(front_merges, "front_merges", 1, 1),
	{ .name = NULL },
};

const struct elevator_ops elevator_deadline = {
	.name = "deadline",
	.data_bytes = sizeof(struct deadline),
	.attrs = deadline_attrs,
	.init = deadline_init,
	.insert = deadline_insert,
	.next = deadline_next,
	.find_front = deadline_find_front,
	.neighbour = deadline_neighbour,
	.moved = deadline_moved,
	.absorbed = deadline_absorbed,
};
