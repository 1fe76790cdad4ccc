// SPDX-License-Identifier: BSD-2-Clause
/*
 * aio_submit.c - requests of asynchronous I/O: from a user's iocb to an event in the ring.
 *
 * Three ways to run one:
 *  - O_DIRECT with one piece of memory is handed to the block layer (fs/direct.h) and ends in a
 *    softirq: io_submit returns at once, no thread waits.
 *  - O_DIRECT with several pieces, fsync and fdatasync are run by workers: kernel threads that
 *    borrow the program's address space for one request. Workers are started when all are busy, up
 *    to MAX_WORKERS, and leave after IDLE_NS without work.
 *  - Everything else runs inside io_submit, as on Linux: a buffered write is a copy, and a buffered
 *    read of cached pages is one; only a cold read makes io_submit wait. Its event is in the ring
 *    when io_submit returns.
 *
 * The end of a request may come in a softirq, where the last reference of a file must not be
 * dropped: mostly it is not the last (the descriptor is still open); else a worker drops it.
 *
 * A worker gives the address space back before the event is written: the program's end waits for
 * the event (aio.c), so the memory cannot go while somebody uses it.
 * Locking: pool_lock, interrupts off, for the list of work and the counts.
 */
#include "arch/uaccess.h"
#include "fs/direct.h"
#include "kernel/preempt.h"
#include "lib/list.h"
#include "mm/kmem/slab.h"
#include "sched/kthread.h"
#include "sys/aio.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/syscall.h"

#define MAX_WORKERS 32u
#define IDLE_NS (5 * NSEC_PER_SEC)
#define IOV_MAX 1024u

enum { OP_PREAD = 0, OP_PWRITE = 1, OP_FSYNC = 2, OP_FDSYNC = 3, OP_PREADV = 7, OP_PWRITEV = 8 };
#define FLAG_RESFD 1u
#define FLAG_IOPRIO 2u
#define RWF_DSYNC 2u
#define RWF_SYNC 4u
#define RWF_APPEND 16u
#define RWF_KNOWN (1u | RWF_DSYNC | RWF_SYNC | RWF_APPEND) /* the first: high priority, a hint */

struct iocb { /* the program's */
	u64 data;
	u32 key, rw_flags;
	u16 op;
	s16 priority;
	u32 fd;
	u64 buf, bytes, offset, reserved;
	u32 flags, resfd;
};

struct vec {
	u64 base, len;
};

struct aio_req {
	struct aio_ctx *ctx;
	struct file *file, *eventfd; /* referenced; eventfd NULL: none wanted */
	u64 obj, data;		     /* for the event */
	u64 pos;
	u16 op;
	u32 rw_flags;
	u32 nr_vec;
	struct vec one, *vec;  /* &one, or kmalloc'd */
	struct list_head node; /* (pool_lock) */
	bool only_put;	       /* ended; a worker drops the files */
};

static struct slab_cache *request_cache;
static DEFINE_SPINLOCK(pool_lock, RANK_FUTEX);
static LIST_HEAD(pool_work);
static u32 pool_workers, pool_idle, pool_pending; /* (pool_lock) */
static DEFINE_WAIT_QUEUE(pool_wait);

static inline bool op_reads(u16 op)
{
	return op == OP_PREAD || op == OP_PREADV;
}

static inline bool op_syncs(u16 op)
{
	return op == OP_FSYNC || op == OP_FDSYNC;
}

static inline bool op_vectored(u16 op)
{
	return op == OP_PREADV || op == OP_PWRITEV;
}

static void request_free(struct aio_req *rq)
{
	if (rq->vec != &rq->one)
		kfree(rq->vec);
	slab_free(request_cache, rq);
}

/* => may sleep */
static void put_files(struct aio_req *rq)
{
	if (rq->file)
		file_put(rq->file);
	if (rq->eventfd)
		file_put(rq->eventfd);
}

static void pool_add(struct aio_req *rq);

/* Drops a reference that is not the last. false: it is */
static bool put_if_shared(struct file **f)
{
	if (*f && !atomic_add_unless(&(*f)->refs, -1, 1))
		return false;
	*f = NULL;
	return true;
}

static s64 visible_error(s64 res)
{
	return res == -ERESTARTSYS || res == -ERESTARTNOHAND || res == -ERESTARTNOINTR ||
			       res == -ERESTART_RESTARTBLOCK
		       ? -EINTR
		       : res;
}

/* The event, the wake-up, and what is left of the request. => any context */
static void request_end(struct aio_req *rq, s64 res)
{
	struct file *eventfd = rq->eventfd;
	bool shared = put_if_shared(&rq->file);

	if (eventfd) /* kept until it was told */
		atomic_inc(&eventfd->refs);
	shared = put_if_shared(&rq->eventfd) && shared;
	aio_complete(rq->ctx, rq->obj, rq->data, visible_error(res));
	if (eventfd) {
		eventfd_signal(eventfd);
		if (!put_if_shared(&eventfd)) {
			rq->eventfd = eventfd;
			shared = false;
		}
	}
	if (shared) {
		request_free(rq);
		return;
	}
	if (in_interrupt()) {
		rq->only_put = true;
		pool_add(rq); /* start_direct() has seen to it that there is a worker */
		return;
	}
	put_files(rq);
	request_free(rq);
}

static void direct_done(void *arg, ssize_t result)
{
	request_end(arg, result);
}

/* ---- running one here and now ---- */

static ssize_t run_vec(struct aio_req *rq)
{
	ssize_t done = 0, ret = 0;

	for (u32 i = 0; i < rq->nr_vec; i++) {
		struct vec *v = &rq->vec[i];

		if (!v->len && (i + 1 < rq->nr_vec || done))
			continue;
		ret = op_reads(rq->op)
			      ? vfs_read(rq->file, (void __user *)v->base, v->len, &rq->pos)
			      : vfs_write(rq->file, (const void __user *)v->base, v->len, &rq->pos);
		if (ret < 0)
			return done ? done : ret;
		done += ret;
		if ((u64)ret < v->len)
			break;
	}
	return done;
}

static ssize_t run(struct aio_req *rq)
{
	ssize_t ret;
	int err;

	if (op_syncs(rq->op))
		return vfs_fsync(rq->file, rq->op == OP_FDSYNC);
	ret = run_vec(rq);
	if (ret > 0 && !op_reads(rq->op) && (rq->rw_flags & (RWF_DSYNC | RWF_SYNC))) {
		err = vfs_fsync(rq->file, !(rq->rw_flags & RWF_SYNC));
		if (err)
			return err;
	}
	return ret;
}

/* ---- workers ---- */

/* Until there is work (one sleeper is woken for each piece). false: the time is over */
static bool pool_sleep(ktime_t deadline)
{
	WAIT_ENTRY(e);
	s64 left = 1;

	wait_prepare_exclusive(&pool_wait, &e, THREAD_UNINTERRUPTIBLE);
	if (list_empty(&pool_work))
		left = schedule_until(deadline);
	wait_finish(&pool_wait, &e);
	return left > 0 || !list_empty(&pool_work);
}

/*
 * The next piece of work; NULL after a time without any (then the worker is not counted any more).
 * The last worker stays for ever, without a timer.
 */
static struct aio_req *pool_next(void)
{
	struct aio_req *rq = NULL;
	unsigned long flags;
	bool leave = false, last;

	for (;;) {
		spin_lock_irqsave_l(&pool_lock, flags, "aio_pool");
		last = pool_workers == 1;
		leave = leave && !last;
		if (!list_empty(&pool_work)) {
			rq = list_first_entry(&pool_work, struct aio_req, node);
			list_del(&rq->node);
			pool_pending--;
		} else if (leave) {
			pool_workers--;
		} else {
			pool_idle++;
		}
		spin_unlock_irqrestore_l(&pool_lock, flags, "aio_pool");
		if (rq || leave)
			return rq;
		leave = !pool_sleep(last ? KTIME_MAX : ktime_get() + IDLE_NS);
		spin_lock_irqsave_l(&pool_lock, flags, "aio_pool");
		pool_idle--;
		spin_unlock_irqrestore_l(&pool_lock, flags, "aio_pool");
	}
}

static int worker(void *unused)
{
	struct aio_req *rq;

	while ((rq = pool_next())) {
		ssize_t ret;

		if (rq->only_put) {
			put_files(rq);
			request_free(rq);
			continue;
		}
		aspace_use(rq->ctx->mm);
		ret = run(rq);
		aspace_use(NULL); /* its end waits for the event below */
		request_end(rq, ret);
	}
	return 0;
}

static void pool_add(struct aio_req *rq)
{
	unsigned long flags;

	spin_lock_irqsave_l(&pool_lock, flags, "aio_pool");
	list_add_tail(&rq->node, &pool_work);
	pool_pending++;
	spin_unlock_irqrestore_l(&pool_lock, flags, "aio_pool");
	wake_up(&pool_wait);
}

/* One more worker when the idle ones do not suffice. -ENOMEM: there is none at all */
static int pool_grow(void)
{
	unsigned long flags;
	bool grow;

	spin_lock_irqsave_l(&pool_lock, flags, "aio_pool");
	grow = pool_workers < MAX_WORKERS && pool_idle <= pool_pending;
	pool_workers += grow;
	spin_unlock_irqrestore_l(&pool_lock, flags, "aio_pool");
	if (!grow || kthread_run(worker, NULL, -1, "aio"))
		return 0;
	spin_lock_irqsave_l(&pool_lock, flags, "aio_pool");
	grow = --pool_workers == 0;
	spin_unlock_irqrestore_l(&pool_lock, flags, "aio_pool");
	return grow ? -ENOMEM : 0;
}

/* ---- submitting ---- */

/* The pieces of memory of a request, as the program's iocb says. 0 or -errno */
static int get_vec(struct aio_req *rq, const struct iocb *cb)
{
	u64 total = 0;

	rq->one = (struct vec){ cb->buf, cb->bytes };
	rq->nr_vec = 1;
	if (op_vectored(rq->op)) {
		if (cb->bytes > IOV_MAX)
			return -EINVAL;
		rq->nr_vec = cb->bytes;
		if (rq->nr_vec > 1) {
			rq->vec = kmalloc(rq->nr_vec * sizeof(struct vec), GFP_KERNEL);
			if (!rq->vec) {
				rq->vec = &rq->one;
				return -ENOMEM;
			}
		}
		if (copy_from_user(rq->vec, (const void __user *)cb->buf,
				   rq->nr_vec * sizeof(struct vec)))
			return -EFAULT;
	}
	for (u32 i = 0; i < rq->nr_vec; i++) {
		const struct vec *v = &rq->vec[i];

		if ((s64)v->len < 0 || __builtin_add_overflow(total, v->len, &total) ||
		    (s64)total < 0)
			return -EINVAL;
		if (!access_ok((void __user *)v->base, v->len))
			return -EFAULT;
	}
	return 0;
}

static int check_rw(struct aio_req *rq, const struct iocb *cb)
{
	struct file *f = rq->file;
	int err;

	if (cb->rw_flags & ~RWF_KNOWN)
		return -EOPNOTSUPP;
	if (op_reads(rq->op) ? !file_can_read(f) : !file_can_write(f))
		return -EBADF;
	if (op_reads(rq->op) ? !f->ops->read : !f->ops->write)
		return -EINVAL;
	err = get_vec(rq, cb);
	if (err)
		return err;
	if ((s64)rq->pos < 0)
		return -EINVAL;
	if ((rq->rw_flags & RWF_APPEND) && !op_reads(rq->op))
		rq->pos = POS_APPEND;
	return 0;
}

static int check_sync(struct aio_req *rq, const struct iocb *cb)
{
	if (cb->buf || cb->offset || cb->bytes || cb->rw_flags)
		return -EINVAL;
	return rq->file->ops->fsync ? 0 : -EINVAL;
}

/* What the program asks for, checked; the files are held. 0 or -errno */
static int prepare(struct aio_req *rq, const struct iocb *cb)
{
	if (cb->reserved || (s64)cb->bytes < 0)
		return -EINVAL;
	rq->file = fd_get_file(cb->fd);
	if (!rq->file)
		return -EBADF;
	if (cb->flags & FLAG_RESFD) {
		struct file *f = eventfd_get(cb->resfd);

		if (IS_ERR(f))
			return PTR_ERR(f);
		rq->eventfd = f;
	}
	if (put_user_u32(0, (u32 __user *)(rq->obj + offsetof(struct iocb, key))))
		return -EFAULT;
	switch (cb->op) {
	case OP_PREAD:
	case OP_PWRITE:
	case OP_PREADV:
	case OP_PWRITEV:
		return check_rw(rq, cb);
	case OP_FSYNC:
	case OP_FDSYNC:
		return check_sync(rq, cb);
	}
	return -EINVAL;
}

/* Through the block layer without a thread? Then the request may be gone already. */
static bool start_direct(struct aio_req *rq)
{
	ssize_t ret;

	if (rq->nr_vec != 1 || (rq->rw_flags & ~1u) || (rq->file->flags & O_APPEND))
		return false;
	if (!READ_ONCE(pool_workers) && pool_grow())
		return false;
	ret = direct_io_async(rq->file, rq->pos, (void __user *)rq->vec->base, rq->vec->len,
			      !op_reads(rq->op), direct_done, rq);
	if (ret != -EIOCBQUEUED)
		request_end(rq, ret);
	return true;
}

static void start(struct aio_req *rq)
{
	/* Who may not keep the set-id bits of a file by writing to it is known here only. */
	bool direct = (rq->file->flags & O_DIRECT) && rq->file->ops->direct &&
		      (op_reads(rq->op) || !(rq->file->inode->mode & (S_ISUID | S_ISGID)));

	if (direct && !op_syncs(rq->op) && start_direct(rq))
		return;
	if ((direct || op_syncs(rq->op)) && !pool_grow())
		pool_add(rq);
	else
		request_end(rq, run(rq));
}

static int submit_one(struct aio_ctx *ctx, u64 user)
{
	struct aio_req *rq;
	struct iocb cb;
	int err;

	if (copy_struct_from_user(&cb, (const void __user *)user))
		return -EFAULT;
	if (!aio_reserve(ctx))
		return -EAGAIN;
	rq = slab_alloc(request_cache, GFP_KERNEL);
	if (!rq) {
		aio_unreserve(ctx);
		return -EAGAIN;
	}
	*rq = (struct aio_req){ .ctx = ctx,
				.obj = user,
				.data = cb.data,
				.pos = cb.offset,
				.op = cb.op,
				.rw_flags = cb.rw_flags };
	rq->vec = &rq->one;
	err = prepare(rq, &cb);
	if (!err) {
		start(rq);
		return 0;
	}
	put_files(rq);
	request_free(rq);
	aio_unreserve(ctx);
	return err;
}

SYSCALL(io_submit)
{
	struct aio_ctx *ctx;
	long n = a1, done = 0;
	u64 user;
	int err = 0;

	if (n < 0)
		return -EINVAL;
	ctx = aio_ctx_find(a0);
	if (!ctx)
		return -EINVAL;
	n = min_t(long, n, ctx->nr);
	while (done < n && !err) {
		if (get_user_u64(&user, (const u64 __user *)(a2 + done * 8)))
			err = -EFAULT;
		else
			err = submit_one(ctx, user);
		done += !err;
	}
	aio_ctx_put(ctx);
	return done ? done : err;
}

/* No request here can be taken back once it was given: as on Linux for files. */
SYSCALL(io_cancel)
{
	struct aio_ctx *ctx;
	u32 key;

	if (get_user_u32(&key, (const u32 __user *)(a1 + offsetof(struct iocb, key))))
		return -EFAULT;
	if (key)
		return -EINVAL;
	ctx = aio_ctx_find(a0);
	if (ctx)
		aio_ctx_put(ctx);
	return -EINVAL;
}

void aio_submit_init(void)
{
	request_cache = slab_create("kiocb", sizeof(struct aio_req), 0, 0, NULL);
	if (!request_cache)
		panic("aio: no memory for the cache of requests");
}
