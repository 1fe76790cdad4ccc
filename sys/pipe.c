// SPDX-License-Identifier: BSD-2-Clause
/*
 * pipe.c - pipes and FIFOs.
 *
 * Theory: a pipe is a ring of bytes [tail, head) that lies in up to `slots` pages; byte number b is
 * in page (b / PAGE_SIZE) % slots. Pages come when the head enters them and go when the tail leaves
 * them; one is kept. When the pipe runs empty both counters go back to 0, so a conversation of
 * short messages stays in one warm page and allocates nothing.
 *
 * A write of at most PIPE_BUF bytes goes in whole or waits (its room is counted first); longer ones
 * go in pieces. Whoever changes the ring wakes the other side only when somebody sleeps there. The
 * first sleeper of a side does not join the wait queue but stands in its slot (side->sleeper): two
 * processes in conversation never touch a queue; further sleepers, poll and epoll use the queue.
 *
 * Locking: pipe->lock (mutex: copying may fault). The emptiness and room tests read the counters
 * without it. A sleeper leaves its slot before it can end; the waker looks under RCU.
 */
#include "sys/pipe.h"
#include "arch/uaccess.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "sys/files.h"
#include "sys/pipe_internal.h"
#include "sys/process.h"
#include "sys/syscall.h"

#define FIONREAD 0x541b
#define F_SETPIPE_SZ 1031
#define F_GETPIPE_SZ 1032

static struct slab_cache *pipe_cache;
static DEFINE_MUTEX(fifo_lock, RANK_INODE); /* inode->private, users */

static struct pipe *pipe_new(void)
{
	struct pipe *p = slab_alloc(pipe_cache, GFP_KERNEL | __GFP_ZERO);

	if (!p)
		return NULL;
	mutex_init(&p->lock, RANK_PIPE, "pipe");
	p->slots = PIPE_SLOTS;
	p->pages = p->inline_pages;
	wait_queue_init(&p->readable.queue);
	wait_queue_init(&p->writable.queue);
	return p;
}

static void pipe_free(struct pipe *p)
{
	for (u32 i = 0; i < p->slots; i++)
		if (p->pages[i])
			put_free_page(p->pages[i]);
	if (p->spare)
		put_free_page(p->spare);
	if (p->pages != p->inline_pages)
		kfree(p->pages);
	slab_free(pipe_cache, p);
}

/* => lock; bytes taken out or -EFAULT */
static ssize_t take_out(struct pipe *p, char __user *buf, size_t n)
{
	size_t done = 0;

	n = min(n, pipe_used(p));
	while (done < n) {
		size_t off = p->tail % PAGE_SIZE, chunk = min(n - done, PAGE_SIZE - off);
		u32 slot = pipe_slot(p, p->tail);

		if (copy_to_user(buf + done, p->pages[slot] + off, chunk))
			return done ? (ssize_t)done : -EFAULT;
		done += chunk;
		pipe_advance(p, chunk);
	}
	return done;
}

/* => lock; bytes put in, -EFAULT, -ENOMEM */
static ssize_t put_in(struct pipe *p, const char __user *buf, size_t n)
{
	size_t done = 0;

	n = min(n, pipe_room(p));
	while (done < n) {
		size_t off = p->head % PAGE_SIZE, chunk = min(n - done, PAGE_SIZE - off);
		char *page = pipe_write_page(p);

		if (!page)
			return done ? (ssize_t)done : -ENOMEM;
		if (copy_from_user(page + off, buf + done, chunk))
			return done ? (ssize_t)done : -EFAULT;
		done += chunk;
		WRITE_ONCE(p->head, p->head + chunk);
	}
	return done;
}

static ssize_t pipe_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	struct pipe *p = f->private;
	ssize_t ret;

	if (!n)
		return 0;
	for (;;) {
		int err;

		if (pipe_used(p)) {
			bool was_full;

			mutex_lock(&p->lock);
			if (unlikely(p->peeking)) {
				mutex_unlock(&p->lock);
				err = pipe_wait_peek(p, f->flags & O_NONBLOCK);
				if (err)
					return err;
				continue;
			}
			was_full = pipe_room(p) < PIPE_BUF;
			ret = take_out(p, buf, n);
			mutex_unlock(&p->lock);
			if (ret) {
				if (was_full && pipe_room(p) >= PIPE_BUF)
					pipe_wake(&p->writable, POLLOUT | POLLWRNORM);
				return ret;
			}
		}
		if (!READ_ONCE(p->writers)) {
			smp_mb(); /* the last writer wrote before it left */
			if (pipe_used(p))
				continue;
			return 0;
		}
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = pipe_wait(&p->readable, pipe_used(p) || !READ_ONCE(p->writers));
		if (err)
			return err;
	}
}

ssize_t pipe_broken(size_t done)
{
	if (done)
		return done;
	signal_send_task(current_task(), SIGPIPE,
			 &(struct ksiginfo){ .code = SI_USER,
					     .pid = current->tgid,
					     .uid = current_proc->cred.uid });
	return -EPIPE;
}

static ssize_t pipe_write(struct file *f, const void __user *user, size_t n, u64 *pos)
{
	const char __user *buf = user;
	struct pipe *p = f->private;
	size_t done = 0, want = n <= PIPE_BUF ? n : 1;

	if (!n)
		return 0;
	for (;;) {
		ssize_t put = 0;
		int err;

		if (!READ_ONCE(p->readers))
			return pipe_broken(done);
		mutex_lock(&p->lock);
		if (pipe_room(p) >= want)
			put = put_in(p, buf + done, n - done);
		mutex_unlock(&p->lock);
		if (put > 0)
			pipe_wake(&p->readable, POLLIN | POLLRDNORM);
		if (put < 0)
			return done ? (ssize_t)done : put;
		done += put;
		if (done == n)
			return done;
		if (f->flags & O_NONBLOCK)
			return done ? (ssize_t)done : -EAGAIN;
		err = pipe_wait(&p->writable, pipe_room(p) >= PIPE_BUF || !READ_ONCE(p->readers));
		if (err)
			return done ? (ssize_t)done : err;
	}
}

static u32 pipe_poll(struct file *f, struct poll_table *pt)
{
	struct pipe *p = f->private;
	u32 mask = 0;

	if (file_can_read(f)) {
		poll_wait(pt, &p->readable.queue);
		if (pipe_used(p))
			mask |= POLLIN | POLLRDNORM;
		if (!READ_ONCE(p->writers) && f->version != p->w_opens)
			mask |= POLLHUP;
	}
	if (file_can_write(f)) {
		poll_wait(pt, &p->writable.queue);
		if (pipe_room(p) >= PIPE_BUF)
			mask |= POLLOUT | POLLWRNORM;
		if (!READ_ONCE(p->readers))
			mask |= POLLERR;
	}
	return mask;
}

static long pipe_ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
	struct pipe *p = f->private;

	if (cmd != FIONREAD)
		return -ENOTTY;
	return put_user_u32(pipe_used(p), (u32 __user *)arg);
}

/* One open file less on each side it had. */
static void leave(struct pipe *p, struct file *f)
{
	mutex_lock(&p->lock);
	if (file_can_read(f))
		p->readers--;
	if (file_can_write(f))
		p->writers--;
	mutex_unlock(&p->lock);
	if (p->readers || p->writers) {
		pipe_wake_all(&p->readable);
		pipe_wake_all(&p->writable);
	}
}

void pipe_shutdown(struct file *f)
{
	leave(f->private, f);
	/* neither reads nor writes any more; the release counts it no second time */
	f->flags |= O_PATH;
}

int pipe_files(struct file *ends[2], u32 flags)
{
	struct pipe *p = pipe_new();
	struct file *r, *w;

	if (!p)
		return -ENFILE;
	p->readers = p->writers = 1;
	p->users = 1;
	p->r_opens = p->w_opens = 1;
	r = anon_file("pipe", &fifo_file_ops, p, O_RDONLY | flags, S_IFIFO | 0600);
	if (IS_ERR(r)) {
		pipe_free(p);
		return PTR_ERR(r);
	}
	path_get(&r->path);
	w = file_alloc(&r->path, &fifo_file_ops, O_WRONLY | flags);
	if (IS_ERR(w)) {
		p->writers = 0; /* r's release frees p */
		file_put(r);
		return PTR_ERR(w);
	}
	w->private = p;
	p->users = 2;
	ends[0] = r;
	ends[1] = w;
	return 0;
}

static long do_pipe(u64 user, u32 flags)
{
	struct file *ends[2];
	bool cloexec = flags & O_CLOEXEC;
	int fds[2], err;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return -EINVAL;
	err = pipe_files(ends, flags & O_NONBLOCK);
	if (err)
		return err;
	fds[0] = fd_alloc(0, cloexec);
	err = fds[0];
	if (err < 0)
		goto no_fd0;
	fds[1] = fd_alloc(0, cloexec);
	err = fds[1];
	if (err < 0)
		goto no_fd1;
	err = -EFAULT;
	if (copy_to_user((void __user *)user, fds, sizeof(fds)))
		goto no_copy;
	fd_install(fds[0], ends[0]);
	fd_install(fds[1], ends[1]);
	return 0;
no_copy:
	fd_cancel(fds[1]);
no_fd1:
	fd_cancel(fds[0]);
no_fd0:
	file_put(ends[0]);
	file_put(ends[1]);
	return err;
}

SYSCALL(pipe)
{
	return do_pipe(a0, 0);
}

SYSCALL(pipe2)
{
	return do_pipe(a0, a1);
}

/* ---- size ---- */

/* => lock. Bytes keep their order; positions restart at 0. */
static int resize_locked(struct pipe *p, u32 slots)
{
	size_t n = pipe_used(p);
	u32 from = p->tail / PAGE_SIZE, nr = DIV_ROUND_UP(p->tail % PAGE_SIZE + n, PAGE_SIZE);
	char **pages;

	if (nr > slots)
		return -EBUSY;
	pages = kzalloc(slots * sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (u32 i = 0; i < nr; i++)
		swap(pages[i], p->pages[(from + i) & (p->slots - 1)]);
	for (u32 i = 0; i < p->slots; i++)
		if (p->pages[i])
			put_free_page(p->pages[i]);
	if (p->pages != p->inline_pages)
		kfree(p->pages);
	p->pages = pages;
	p->slots = slots;
	p->tail %= PAGE_SIZE;
	p->head = p->tail + n;
	return 0;
}

long pipe_fcntl(struct file *f, unsigned int cmd, u64 arg)
{
	struct pipe *p = f->private;
	u32 slots = 1;
	int err;

	if (f->ops != &fifo_file_ops)
		return -EBADF;
	if (cmd == F_GETPIPE_SZ)
		return (long)p->slots * PAGE_SIZE;
	if (arg > PIPE_MAX_SLOTS * PAGE_SIZE)
		return -EPERM;
	while (slots * PAGE_SIZE < arg)
		slots *= 2;
	mutex_lock(&p->lock);
	err = resize_locked(p, slots);
	mutex_unlock(&p->lock);
	if (err)
		return err;
	pipe_wake_all(&p->writable);
	return (long)slots * PAGE_SIZE;
}

/*
 * ---- opening: a pipe hangs on its inode while somebody has it open. An inode with a name is a
 * FIFO; one without can be opened again through /proc/PID/fd. ----
 */

static void fifo_unuse(struct inode *inode, struct pipe *p)
{
	mutex_lock(&fifo_lock);
	if (--p->users == 0) {
		inode->private = NULL;
		pipe_free(p);
	}
	mutex_unlock(&fifo_lock);
}

static struct pipe *fifo_use(struct inode *inode)
{
	struct pipe *p;

	mutex_lock(&fifo_lock);
	p = inode->private;
	if (!p)
		inode->private = p = pipe_new();
	if (p)
		p->users++;
	mutex_unlock(&fifo_lock);
	return p;
}

/* The other side must have opened it at least once since we came. */
static int fifo_wait(struct wait_queue *q, u32 *side, u32 *opens)
{
	u32 seen = READ_ONCE(*opens);

	return wait_event_interruptible(q, READ_ONCE(*side) || READ_ONCE(*opens) != seen);
}

static int fifo_open(struct inode *inode, struct file *f)
{
	struct pipe *p = fifo_use(inode);
	bool r = file_can_read(f), w = file_can_write(f), block = !(f->flags & O_NONBLOCK);
	int err = 0;

	if (!p)
		return -ENOMEM;
	mutex_lock(&p->lock);
	if (w && !r && !block && !p->readers)
		err = -ENXIO;
	if (!err) {
		p->readers += r;
		p->writers += w;
		p->r_opens += r;
		p->w_opens += w;
	}
	f->private = p;
	f->version = r && !w && !p->writers ? p->w_opens : p->w_opens - 1;
	mutex_unlock(&p->lock);
	if (err) {
		fifo_unuse(inode, p);
		return err;
	}
	pipe_wake_all(&p->readable);
	pipe_wake_all(&p->writable);
	if (block && r && !w && !READ_ONCE(p->writers)) {
		err = fifo_wait(&p->readable.queue, &p->writers, &p->w_opens);
		f->version = p->w_opens - 1;
	} else if (block && w && !r && !READ_ONCE(p->readers)) {
		err = fifo_wait(&p->writable.queue, &p->readers, &p->r_opens);
	}
	if (err) {
		leave(p, f);
		fifo_unuse(inode, p);
	}
	return err;
}

static void fifo_close(struct file *f)
{
	struct pipe *p = f->private;

	leave(p, f);
	fifo_unuse(f->inode, p);
}

const struct file_ops fifo_file_ops = {
	.open = fifo_open,
	.read = pipe_read,
	.write = pipe_write,
	.poll = pipe_poll,
	.ioctl = pipe_ioctl,
	.release = fifo_close, /* also of pipes without a name */
	.llseek = file_no_seek,
};

void pipe_init(void)
{
	pipe_cache = slab_create("pipe", sizeof(struct pipe), 64, 0, NULL);
	if (!pipe_cache)
		panic("pipe: no memory for the cache");
	fifo_ops = &fifo_file_ops;
}
