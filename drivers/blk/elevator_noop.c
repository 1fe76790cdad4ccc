// SPDX-License-Identifier: BSD-2-Clause
/*
 * elevator_noop.c - first come, first served; only merging changes anything. For devices without a
 * head to move, and the smallest example of a policy.
 */
#include "drivers/blk/elevator.h"

struct noop {
	struct list_head queue; /* by rq->node */
};

static void noop_init(void *data)
{
	list_init(&((struct noop *)data)->queue);
}

static void noop_insert(void *data, struct request *rq, u64 now)
{
	list_add_tail(&rq->node, &((struct noop *)data)->queue);
}

static struct request *noop_next(void *data, u64 now, u64 *again, int force)
{
	struct noop *e = data;
	struct request *rq = list_first_entry_or_null(&e->queue, struct request, node);

	if (rq)
		list_del(&rq->node);
	return rq;
}

static struct request *noop_neighbour(void *data, struct request *rq, enum elevator_side side)
{
	struct noop *e = data;
	struct list_head *n = side == ELV_LATTER ? rq->node.next : rq->node.prev;

	return n == &e->queue ? NULL : list_entry(n, struct request, node);
}

static void noop_absorbed(void *data, struct request *rq, struct request *gone)
{
	list_del(&gone->node);
}

const struct elevator_ops elevator_noop = {
	.name = "noop",
	.data_bytes = sizeof(struct noop),
	.init = noop_init,
	.insert = noop_insert,
	.next = noop_next,
	.neighbour = noop_neighbour,
	.absorbed = noop_absorbed,
};
