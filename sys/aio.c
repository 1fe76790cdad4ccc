// SPDX-License-Identifier: BSD-2-Clause
/*
 * aio.c - contexts of asynchronous I/O, and the ring of events in the program's own memory.
 *
 * Problem: a program submits requests and wants to learn of their ends cheaply. Idea (Linux's): a
 * context is a ring of events that is mapped into the program; the kernel writes events at the tail
 * (through the pages, from any context), the reader - io_getevents, or libaio without entering the
 * kernel - takes them at the head. The address of the ring is the context's name.
 *
 *   head ........ tail ........            one slot stays empty; for every request in flight one is
 *   | events      | reserved, free         reserved at submission, so an event always finds room
 *
 * What the program writes into the ring (it can) hurts only itself: of its words the kernel reads
 * head, modulo the size, and the slot number when it looks up the context, which is then compared.
 *
 * Life: a context holds one reference until it is destroyed, each request in flight counts in
 * in_flight. io_destroy and the end of the address space (exec, exit of its last thread) wait until
 * that is 0: requests use the program's memory. A child of fork has the ring's pages but no
 * contexts.
 * Locking: ctx->lock with interrupts off for tail and counts (requests end in softirqs);
 * read_lock for the head; table->lock for the table of an address space.
 */
#include "sys/aio.h"
#include "arch/uaccess.h"
#include "kernel/param.h"
#include "kernel/show.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sys/process.h"
#include "sys/syscall.h"

#define EVENT_BYTES 32u
#define EVENTS_PER_PAGE (PAGE_SIZE / EVENT_BYTES)
#define MAX_EVENTS 0x10000000u

struct aio_table {
	struct mutex lock;
	u32 size;
	struct aio_ctx **ctx; /* (t) by id */
};

static long aio_max_nr = 65536; /* events all contexts together may ask for */
static atomic_long_t aio_nr;
TUNABLE("fs/aio-max-nr", aio_max_nr, 0, S32_MAX, NULL);

static int aio_nr_show(struct seq *seq)
{
	seq_printf(seq, "%ld\n", atomic_long_read(&aio_nr));
	return 0;
}
SHOW("/proc/sys/fs/aio-nr", 0444, aio_nr_show, NULL);

/* ---- the ring ---- */

/* Entry i lies behind the header, which is as large as one: none crosses a page. */
static struct aio_event *event_at(const struct aio_ctx *ctx, u32 i)
{
	char *page = page_address(ctx->pages[(i + 1) / EVENTS_PER_PAGE]);

	return (struct aio_event *)page + (i + 1) % EVENTS_PER_PAGE;
}

static u32 ring_head(const struct aio_ctx *ctx)
{
	return READ_ONCE(ctx->ring->head) % ctx->nr;
}

static u32 ring_used(const struct aio_ctx *ctx)
{
	u32 head = ring_head(ctx), tail = READ_ONCE(ctx->tail);

	return tail >= head ? tail - head : ctx->nr - head + tail;
}

bool aio_reserve(struct aio_ctx *ctx)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave_l(&ctx->lock, flags, "aio_reserve");
	ok = !ctx->dead && ctx->in_flight + ring_used(ctx) < ctx->nr - 1;
	ctx->in_flight += ok;
	spin_unlock_irqrestore_l(&ctx->lock, flags, "aio_reserve");
	return ok;
}

/* One request less. The waker may not touch the context after the last one's lock is dropped. */
static void left_locked(struct aio_ctx *ctx)
{
	if (--ctx->in_flight == 0 && unlikely(ctx->dead))
		wake_up_all(&ctx->idle);
}

void aio_unreserve(struct aio_ctx *ctx)
{
	unsigned long flags;

	spin_lock_irqsave_l(&ctx->lock, flags, "aio_reserve");
	left_locked(ctx);
	spin_unlock_irqrestore_l(&ctx->lock, flags, "aio_reserve");
}

void aio_complete(struct aio_ctx *ctx, u64 obj, u64 data, s64 res)
{
	unsigned long flags;

	spin_lock_irqsave_l(&ctx->lock, flags, "aio_complete");
	*event_at(ctx, ctx->tail) = (struct aio_event){ data, obj, res, 0 };
	ctx->tail = ctx->tail + 1 == ctx->nr ? 0 : ctx->tail + 1;
	smp_store_release(&ctx->ring->tail, ctx->tail);
	smp_mb(); /* the event before the look at the sleepers */
	if (!list_empty(&ctx->wait.list))
		wake_up_nr(&ctx->wait, 0, 0);
	left_locked(ctx);
	spin_unlock_irqrestore_l(&ctx->lock, flags, "aio_complete");
}

/* ---- contexts ---- */

static void ctx_free(struct aio_ctx *ctx)
{
	for (u32 i = 0; i < ctx->nr_pages; i++)
		if (ctx->pages[i])
			page_put(ctx->pages[i]);
	kfree(ctx->pages);
	atomic_long_sub(ctx->max_reqs, &aio_nr);
	kfree(ctx);
}

void aio_ctx_put(struct aio_ctx *ctx)
{
	if (atomic_dec_and_test(&ctx->refs))
		ctx_free(ctx);
}

/* Makes the file, its pages and the mapping. 0 or -errno */
static int ring_map(struct aio_ctx *ctx)
{
	size_t bytes = (size_t)ctx->nr_pages * PAGE_SIZE;
	struct file *file = shmem_file("[aio]", bytes, O_RDWR);
	long addr;

	if (IS_ERR(file))
		return PTR_ERR(file);
	for (u32 i = 0; i < ctx->nr_pages; i++) {
		struct page *page = pagecache_get(file->inode->mapping, i, PCG_CREATE);

		if (IS_ERR(page)) {
			file_put(file);
			return -EAGAIN;
		}
		ctx->pages[i] = page;
	}
	ctx->ring = page_address(ctx->pages[0]);
	addr = vm_mmap(file, file->inode->mapping, 0, bytes, 3 /* read, write */, 1 /* shared */,
		       0);
	file_put(file);
	if (addr < 0)
		return addr;
	ctx->user_id = addr;
	return 0;
}

/* Room for twice as many events as asked for, at least a few per CPU; whole pages. */
static struct aio_ctx *ctx_new(u32 max_reqs)
{
	struct aio_ctx *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	u32 nr = max(max_reqs, nr_possible_cpus * 4) * 2 + 2;

	if (!ctx)
		return NULL;
	atomic_set(&ctx->refs, 1);
	ctx->mm = current->mm;
	ctx->max_reqs = max_reqs;
	ctx->nr_pages = PFN_UP((u64)(nr + 1) * EVENT_BYTES);
	ctx->nr = ctx->nr_pages * EVENTS_PER_PAGE - 1;
	spin_lock_init(&ctx->lock, RANK_FUTEX, "aio");
	mutex_init(&ctx->read_lock, RANK_FILE_POS, "aio_read");
	wait_queue_init(&ctx->wait);
	wait_queue_init(&ctx->idle);
	ctx->pages = kzalloc(ctx->nr_pages * sizeof(*ctx->pages), GFP_KERNEL);
	if (!ctx->pages) {
		kfree(ctx);
		return NULL;
	}
	atomic_long_add(max_reqs, &aio_nr);
	return ctx;
}

/* The table of the current address space, made when it is wanted. NULL: no memory */
static struct aio_table *table_get(void)
{
	struct aio_table *t = READ_ONCE(current->mm->aio), *made;

	if (t)
		return t;
	made = kzalloc(sizeof(*made), GFP_KERNEL);
	if (!made)
		return NULL;
	mutex_init(&made->lock, RANK_FILE_POS, "aio_table");
	t = cmpxchg(&current->mm->aio, NULL, (void *)made);
	if (t)
		kfree(made);
	return t ? t : made;
}

/* => t->lock */
static int table_add_locked(struct aio_table *t, struct aio_ctx *ctx)
{
	u32 id = 0, size = t->size ? t->size * 2 : 4;
	struct aio_ctx **more;

	while (id < t->size && t->ctx[id])
		id++;
	if (id == t->size) {
		more = krealloc(t->ctx, size * sizeof(*more), GFP_KERNEL);
		if (!more)
			return -ENOMEM;
		memset(more + t->size, 0, (size - t->size) * sizeof(*more));
		t->ctx = more;
		t->size = size;
	}
	ctx->id = id;
	*ctx->ring = (struct aio_ring){ .id = id,
					.nr = ctx->nr,
					.magic = AIO_RING_MAGIC,
					.compat = 1,
					.header_bytes = sizeof(struct aio_ring) };
	t->ctx[id] = ctx;
	return 0;
}

struct aio_ctx *aio_ctx_find(u64 user_id)
{
	struct aio_table *t = READ_ONCE(current->mm->aio);
	struct aio_ctx *ctx = NULL;
	u32 id;

	if (!t || get_user_u32(&id, (const u32 __user *)user_id))
		return NULL;
	mutex_lock(&t->lock);
	if (id < t->size && t->ctx[id] && t->ctx[id]->user_id == user_id) {
		ctx = t->ctx[id];
		atomic_inc(&ctx->refs);
	}
	mutex_unlock(&t->lock);
	return ctx;
}

/* No new requests; waits for those in flight. => off the table */
static void ctx_kill(struct aio_ctx *ctx)
{
	unsigned long flags;

	spin_lock_irqsave_l(&ctx->lock, flags, "aio_kill");
	ctx->dead = true;
	spin_unlock_irqrestore_l(&ctx->lock, flags, "aio_kill");
	wake_up_all(&ctx->wait);
	wait_event(&ctx->idle, !READ_ONCE(ctx->in_flight));
	/* whoever made it 0 has left the lock */
	spin_lock_irqsave_l(&ctx->lock, flags, "aio_kill");
	spin_unlock_irqrestore_l(&ctx->lock, flags, "aio_kill");
}

static long setup(u32 nr_events, u64 user)
{
	struct aio_table *t;
	struct aio_ctx *ctx;
	long err;

	if (nr_events > MAX_EVENTS)
		return -EINVAL;
	if (atomic_long_read(&aio_nr) + nr_events > READ_ONCE(aio_max_nr))
		return -EAGAIN;
	t = table_get();
	ctx = t ? ctx_new(nr_events) : NULL;
	if (!ctx)
		return -ENOMEM;
	err = ring_map(ctx);
	if (!err) {
		mutex_lock(&t->lock);
		err = table_add_locked(t, ctx);
		mutex_unlock(&t->lock);
		if (!err && put_user_u64(ctx->user_id, (u64 __user *)user)) {
			mutex_lock(&t->lock);
			t->ctx[ctx->id] = NULL;
			mutex_unlock(&t->lock);
			ctx_kill(ctx);
			err = -EFAULT;
		}
		if (err)
			vm_munmap(ctx->user_id, (size_t)ctx->nr_pages * PAGE_SIZE);
	}
	if (err)
		aio_ctx_put(ctx);
	return err;
}

SYSCALL(io_setup)
{
	u64 old;

	if (get_user_u64(&old, (const u64 __user *)a1))
		return -EFAULT;
	if (old || !(u32)a0)
		return -EINVAL;
	return setup(a0, a1);
}

SYSCALL(io_destroy)
{
	struct aio_ctx *ctx = aio_ctx_find(a0);
	struct aio_table *t = current->mm->aio;
	bool ours;

	if (!ctx)
		return -EINVAL;
	mutex_lock(&t->lock);
	ours = t->ctx[ctx->id] == ctx;
	if (ours)
		t->ctx[ctx->id] = NULL;
	mutex_unlock(&t->lock);
	if (ours) {
		ctx_kill(ctx);
		vm_munmap(ctx->user_id, (size_t)ctx->nr_pages * PAGE_SIZE);
		aio_ctx_put(ctx);
	}
	aio_ctx_put(ctx);
	return ours ? 0 : -EINVAL;
}

/* The last thread of an address space is gone, its memory is not yet. => may sleep */
static void aio_mm_exit(struct aspace *mm)
{
	struct aio_table *t = mm->aio;

	for (u32 i = 0; i < t->size; i++)
		if (t->ctx[i]) {
			ctx_kill(t->ctx[i]);
			aio_ctx_put(t->ctx[i]);
		}
	kfree(t->ctx);
	kfree(t);
	mm->aio = NULL;
}

/* ---- reading events ---- */

/* Copies at most n events to the program. How many, or -errno */
static long take_events(struct aio_ctx *ctx, u64 user, u32 n)
{
	u32 head, left, done = 0;

	mutex_lock(&ctx->read_lock);
	head = ring_head(ctx);
	left = min(n, ring_used(ctx));
	while (left) {
		u32 page_left = EVENTS_PER_PAGE - (head + 1) % EVENTS_PER_PAGE,
		    run = min(min(left, page_left), ctx->nr - head);

		if (copy_to_user((void __user *)(user + (u64)done * EVENT_BYTES),
				 event_at(ctx, head), run * EVENT_BYTES)) {
			mutex_unlock(&ctx->read_lock);
			return -EFAULT;
		}
		done += run;
		left -= run;
		head = head + run == ctx->nr ? 0 : head + run;
	}
	smp_store_release(&ctx->ring->head, head);
	mutex_unlock(&ctx->read_lock);
	return done;
}

static bool something(struct aio_ctx *ctx)
{
	return ring_used(ctx) || READ_ONCE(ctx->dead);
}

/* Number of events (as many as there are by the end of the time, up to n), or -errno */
static long read_events(struct aio_ctx *ctx, long min_nr, long n, u64 user, ktime_t deadline)
{
	long done = 0, got, err;

	for (;;) {
		got = take_events(ctx, user + done * EVENT_BYTES, n - done);
		if (got < 0)
			return done ? done : got;
		done += got;
		if (done >= min_nr)
			return done;
		if (got)
			continue;
		if (READ_ONCE(ctx->dead))
			return done ? done : -EINVAL;
		if (!deadline)
			return done;
		err = wait_event_interruptible_until(&ctx->wait, something(ctx), deadline);
		if (err < 0)
			return done ? done : -EINTR;
		if (err == 0)
			deadline = 0; /* one more look */
	}
}

static long get_events(u64 id, long min_nr, long n, u64 user, u64 timeout)
{
	ktime_t deadline = KTIME_MAX;
	struct aio_ctx *ctx;
	u64 ns, now = ktime_get();
	long ret;

	if (timeout) {
		ret = timespec_arg(timeout, &ns);
		if (ret)
			return ret;
		deadline = !ns ? 0 : ns >= KTIME_MAX - now ? KTIME_MAX : now + ns;
	}
	ctx = aio_ctx_find(id);
	if (!ctx)
		return -EINVAL;
	ret = -EINVAL;
	if (min_nr >= 0 && min_nr <= n)
		ret = read_events(ctx, min_nr, n, user, deadline);
	aio_ctx_put(ctx);
	return ret;
}

SYSCALL(io_getevents)
{
	return get_events(a0, a1, a2, a3, a4);
}

SYSCALL(io_pgetevents)
{
	struct {
		u64 mask, size;
	} arg = { 0, 0 };
	sigset_t mask;
	long ret = 0;

	if (a5 && copy_struct_from_user(&arg, (void __user *)a5))
		return -EFAULT;
	if (arg.mask)
		ret = signal_mask_arg(arg.mask, arg.size, &mask);
	if (ret)
		return ret;
	if (arg.mask)
		signal_set_temporary_mask(mask);
	ret = get_events(a0, a1, a2, a3, a4);
	if (arg.mask)
		signal_end_temporary_mask(ret == -EINTR);
	return ret == -EINTR ? -ERESTARTNOHAND : ret;
}

void aio_init(void)
{
	aspace_exit_hook = aio_mm_exit;
	aio_submit_init();
}
