/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aio.h - asynchronous I/O as programs see it (io_setup, io_submit, io_getevents...), between its
 * files: aio.c keeps contexts and their rings, aio_submit.c runs requests.
 *
 * Locks: (l) ctx->lock, IRQs off  (r) ctx->read_lock  (t) table->lock  (o) set before it is seen
 */
#ifndef SYS_AIO_H
#define SYS_AIO_H

#include "fs/vfs.h"
#include "mm/vm/aspace.h"

/* The start of the ring in the program's memory; libaio reads and moves head itself. */
struct aio_ring {
	u32 id, nr;	/* slot in the table; entries */
	u32 head, tail; /* head is the program's: never believed beyond % nr */
	u32 magic, compat, incompat, header_bytes;
};
struct aio_event {
	u64 data, obj;
	s64 res, res2;
};
#define AIO_RING_MAGIC 0xa10a10a1u

struct aio_ctx {
	atomic_t refs;
	struct aspace *mm;     /* (o) whose; no reference: it ends after its contexts */
	u64 user_id;	       /* (o) address of the ring there */
	u32 id;		       /* (t) slot */
	u32 nr;		       /* (o) entries of the ring */
	u32 max_reqs;	       /* (o) as asked for: counted in aio-nr */
	u32 nr_pages;	       /* (o) */
	struct page **pages;   /* (o) of the ring, referenced */
	struct aio_ring *ring; /* (o) first page */
	spinlock_t lock;
	u32 tail;		/* (l) */
	u32 in_flight;		/* (l) submitted, no event yet */
	bool dead;		/* (l) */
	struct mutex read_lock; /* one reader of the ring at a time */
	struct wait_queue wait; /* for events */
	struct wait_queue idle; /* for in_flight == 0 */
};

/* The context of an address in the current address space, referenced; NULL: there is none. */
struct aio_ctx *aio_ctx_find(u64 user_id);
void aio_ctx_put(struct aio_ctx *ctx);
/* A place in the ring for one more event. false: none left, or the context is going. */
bool aio_reserve(struct aio_ctx *ctx);
/* Gives it back unused, or fills it. => any context; the context may be gone afterwards */
void aio_unreserve(struct aio_ctx *ctx);
void aio_complete(struct aio_ctx *ctx, u64 obj, u64 data, s64 res);

void aio_submit_init(void);
void aio_init(void);

/* eventfd.c: the file when it is an eventfd, referenced; ERR_PTR(-EBADF, -EINVAL) */
struct file *eventfd_get(int fd);
void eventfd_signal(struct file *f); /* adds one, unless full. => any context */

#endif
