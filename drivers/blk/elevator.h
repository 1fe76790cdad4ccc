/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elevator.h - the policy: in which order requests that wait go to the driver.
 *
 * A policy is a set of functions over its own data; it sees requests and the time, nothing else: no
 * lock (the queue's is held), no timer (it says when it wants to be asked again), no allocation
 * (data_bytes are brought). So it also compiles on the host (tests/host/test_elevator.c), and a
 * second one is an afternoon's work: write the file, add it to the list in elevator.c.
 *
 * In the hands of the policy a request offers: rb, node, fifo, deadline_ns, elevator_data[2].
 */
#ifndef DRIVERS_BLK_ELEVATOR_H
#define DRIVERS_BLK_ELEVATOR_H

#include "drivers/blk/blk.h"

/* A number of a policy that can be set: /sys/block/NAME/queue/iosched/ATTR. */
struct elevator_attr {
	const char *name;
	u32 offset;   /* of a u64 in its data */
	u64 unit;     /* what is shown times unit is stored (ms: 1000000) */
	u64 min, max; /* as shown */
};

enum elevator_side { ELV_FORMER, ELV_LATTER };

struct elevator_ops {
	const char *name;
	size_t data_bytes;
	const struct elevator_attr *attrs; /* ended by a NULL name; may be NULL */
	void (*init)(void *data);	   /* zeroed */
	/* Takes a request over. */
	void (*insert)(void *data, struct request *rq, u64 now);
	/*
	 * Takes the next one out. NULL: none now; *again != 0: ask again at that time. force:
	 * whatever there is, no waiting (the queue is being emptied).
	 */
	struct request *(*next)(void *data, u64 now, u64 *again, int force);
	/* One that next() gave has ended. */
	void (*completed)(void *data, struct request *rq, u64 now);
	/* May bio join rq? NULL: always. */
	bool (*allow_merge)(void *data, const struct request *rq, const struct bio *bio);
	/* The request that begins at sector: bio would stand in front of it. NULL: none, never */
	struct request *(*find_front)(void *data, const struct bio *bio, u64 sector);
	/* The neighbour of rq by sector, of its kind. NULL: none */
	struct request *(*neighbour)(void *data, struct request *rq, enum elevator_side side);
	/* A front merge moved the start of rq. NULL: no matter */
	void (*moved)(void *data, struct request *rq);
	/* gone has become part of rq: take it out. */
	void (*absorbed)(void *data, struct request *rq, struct request *gone);
};

extern const struct elevator_ops elevator_noop, elevator_deadline, elevator_cfq;
/* NULL: no such policy. */
const struct elevator_ops *elevator_find(const char *name);
/* Number i of the list, NULL behind the last. */
const struct elevator_ops *elevator_nth(unsigned int i);

/* The slice of one of `busy` synchronous queues under cfq, all in ns (facts.md 2.1). */
u64 cfq_sync_slice(u64 slice, u64 target, u64 idle, u32 busy);

/* ---- requests sorted by sector, for policies ------------------------------------------------- */
void elv_rb_add(struct rb_root *root, struct request *rq);
static inline void elv_rb_del(struct rb_root *root, struct request *rq)
{
	rb_erase(&rq->rb, root);
}
struct request *elv_rb_find(const struct rb_root *root, u64 sector);
/* First at or after sector. NULL: none */
struct request *elv_rb_from(const struct rb_root *root, u64 sector);
static inline struct request *elv_rb_neighbour(struct request *rq, enum elevator_side side)
{
	struct rb_node *n = side == ELV_LATTER ? rb_next(&rq->rb) : rb_prev(&rq->rb);

	return rb_entry_safe(n, struct request, rb);
}

#endif
