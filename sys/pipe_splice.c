// SPDX-License-Identifier: BSD-2-Clause
/*
 * pipe_splice.c - a pipe from the side of splice, tee and sendfile.
 *
 * Taking bytes out towards a file must lose none when the file takes fewer. So a reader of this
 * kind peeks: it marks the pipe, uses the bytes where they lie without holding the lock (writers go
 * on behind them; no page with bytes moves or goes), and says at the end how many were taken.
 * Ordinary readers wait meanwhile.
 */
#include "sys/pipe_internal.h"
#include "sched/sched.h"

int pipe_wait_peek(struct pipe *p, bool nonblock)
{
	if (nonblock)
		return -EAGAIN;
	return wait_event_interruptible(&p->readable.queue, !READ_ONCE(p->peeking));
}

int pipe_peek_begin(struct file *f, bool nonblock)
{
	struct pipe *p = f->private;
	bool ours;
	int err;

	for (;;) {
		mutex_lock(&p->lock);
		ours = pipe_used(p) && !p->peeking;
		if (ours)
			p->peeking = true;
		mutex_unlock(&p->lock);
		if (ours)
			return 1;
		if (READ_ONCE(p->peeking)) {
			err = pipe_wait_peek(p, nonblock);
		} else if (pipe_used(p)) {
			err = 0;
		} else if (!READ_ONCE(p->writers)) {
			smp_mb(); /* the last writer wrote before it left */
			if (!pipe_used(p))
				return 0;
			err = 0;
		} else if (nonblock) {
			err = -EAGAIN;
		} else {
			err = pipe_wait(&p->readable, pipe_used(p) || !READ_ONCE(p->writers));
		}
		if (err)
			return err;
	}
}

size_t pipe_peek(struct file *f, size_t skip, const char **data)
{
	struct pipe *p = f->private;
	size_t n = 0, off;
	u64 at;

	mutex_lock(&p->lock); /* a resize moves the table of pages */
	if (skip < pipe_used(p)) {
		at = p->tail + skip;
		off = at % PAGE_SIZE;
		n = min(pipe_used(p) - skip, PAGE_SIZE - off);
		*data = p->pages[pipe_slot(p, at)] + off;
	}
	mutex_unlock(&p->lock);
	return n;
}

void pipe_peek_end(struct file *f, size_t taken)
{
	struct pipe *p = f->private;
	bool was_full;

	mutex_lock(&p->lock);
	was_full = pipe_room(p) < PIPE_BUF;
	while (taken) {
		size_t n = min(taken, PAGE_SIZE - p->tail % PAGE_SIZE);

		pipe_advance(p, n);
		taken -= n;
	}
	p->peeking = false;
	mutex_unlock(&p->lock);
	if (was_full && pipe_room(p) >= PIPE_BUF)
		pipe_wake(&p->writable, POLLOUT | POLLWRNORM);
	if (wait_queue_active(&p->readable.queue))
		wake_up_all(&p->readable.queue);
}

int pipe_wait_room(struct file *f, bool nonblock)
{
	struct pipe *p = f->private;
	int err;

	for (;;) {
		if (!READ_ONCE(p->readers))
			return pipe_broken(0);
		if (pipe_room(p))
			return 0;
		if (nonblock)
			return -EAGAIN;
		err = pipe_wait(&p->writable, pipe_room(p) >= PIPE_BUF || !READ_ONCE(p->readers));
		if (err)
			return err;
	}
}

ssize_t pipe_fill(struct file *f, size_t n, ssize_t (*fill)(void *arg, char *to, size_t n),
		  void *arg)
{
	struct pipe *p = f->private;
	size_t done = 0;
	ssize_t got = 0;

	mutex_lock(&p->lock);
	n = min(n, pipe_room(p));
	while (done < n) {
		size_t off = p->head % PAGE_SIZE;
		char *page = pipe_write_page(p);

		got = -ENOMEM;
		if (page)
			got = fill(arg, page + off, min(n - done, PAGE_SIZE - off));
		if (got <= 0)
			break;
		done += got;
		WRITE_ONCE(p->head, p->head + got);
	}
	mutex_unlock(&p->lock);
	if (done)
		pipe_wake(&p->readable, POLLIN | POLLRDNORM);
	return done ? (ssize_t)done : got;
}
