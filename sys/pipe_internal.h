/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pipe_internal.h - the ring of a pipe, between its files: pipe.c (read, write, life) and
 * pipe_splice.c (bytes that move without a program's buffer). Theory: pipe.c.
 */
#ifndef SYS_PIPE_INTERNAL_H
#define SYS_PIPE_INTERNAL_H

#include "fs/vfs.h"
#include "kernel/rcu.h"
#include "mm/phys/page_alloc.h"
#include "sched/mutex.h"
#include "sched/wait.h"
#include "sys/pipe.h"

#define PIPE_SLOTS 16u
#define PIPE_MAX_SLOTS 256u
#define PIPE_BUF 4096u

struct pipe_side {
	struct thread *sleeper; /* NULL: free */
	struct wait_queue queue;
};
struct pipe {
	struct mutex lock;
	u32 slots;	/* a power of two */
	u64 head, tail; /* bytes */
	char **pages;	/* slots of them; NULL where nothing lies */
	char *inline_pages[PIPE_SLOTS];
	char *spare;
	struct pipe_side readable, writable;
	/* somebody looks at bytes without taking them (splice, tee): readers wait (lock) */
	bool peeking;
	u32 readers, writers; /* open files */
	u32 r_opens, w_opens; /* FIFO: openings so far */
	u32 users;	      /* struct files that point here, openers included (fifo_lock) */
};

static inline size_t pipe_used(const struct pipe *p)
{
	return READ_ONCE(p->head) - READ_ONCE(p->tail);
}

/*
 * The page the tail stands in is not given to the head again: it goes away when the tail leaves it.
 */
static inline size_t pipe_room(const struct pipe *p)
{
	return (size_t)p->slots * PAGE_SIZE -
	       (READ_ONCE(p->head) - (READ_ONCE(p->tail) & ~(u64)(PAGE_SIZE - 1)));
}

static inline u32 pipe_slot(const struct pipe *p, u64 pos)
{
	return (pos / PAGE_SIZE) & (p->slots - 1);
}

/* The tail has left a page: keep it as the spare or give it back. => lock */
static inline void pipe_drop_page(struct pipe *p, u32 slot)
{
	char *page = p->pages[slot];

	p->pages[slot] = NULL;
	if (!p->spare)
		p->spare = page;
	else
		put_free_page(page);
}

/*
 * n bytes are taken out, all of one page. When the pipe runs empty it stays in slot 0's page from
 * now on. => lock
 */
static inline void pipe_advance(struct pipe *p, size_t n)
{
	u32 slot = pipe_slot(p, p->tail);

	WRITE_ONCE(p->tail, p->tail + n);
	if (p->tail == p->head) {
		if (slot != 0)
			pipe_drop_page(p, slot);
		WRITE_ONCE(p->tail, 0);
		WRITE_ONCE(p->head, 0);
	} else if (p->tail % PAGE_SIZE == 0) {
		pipe_drop_page(p, slot);
	}
}

static inline char *pipe_write_page(struct pipe *p)
{
	char **slot = &p->pages[pipe_slot(p, p->head)];

	if (likely(*slot != NULL))
		return *slot;
	if (p->spare)
		swap(*slot, p->spare);
	else
		*slot = get_free_page(GFP_KERNEL);
	return *slot;
}

static inline void pipe_wake(struct pipe_side *s, u32 key)
{
	struct thread *t;

	rcu_read_lock();
	t = READ_ONCE(s->sleeper);
	if (t)
		wake_up_thread(t);
	rcu_read_unlock();
	if (unlikely(!list_empty(&s->queue.list)))
		wake_up_nr(&s->queue, 1, key);
}

static inline void pipe_wake_all(struct pipe_side *s)
{
	smp_mb();
	pipe_wake(s, 0);
	wake_up_all(&s->queue);
}

/* Sleeps until cond or a signal. => 0 or -ERESTARTSYS */
#define pipe_wait(s, cond)                                                                         \
	({                                                                                         \
		struct pipe_side *_s = (s);                                                        \
		int _err = 0;                                                                      \
		if (likely(!cmpxchg(&_s->sleeper, NULL, current))) {                               \
			for (;;) {                                                                 \
				thread_set_state(THREAD_INTERRUPTIBLE);                            \
				if (cond)                                                          \
					break;                                                     \
				if (signal_pending()) {                                            \
					_err = -ERESTARTSYS;                                       \
					break;                                                     \
				}                                                                  \
				schedule();                                                        \
			}                                                                          \
			WRITE_ONCE(current->state, THREAD_RUNNING);                                \
			WRITE_ONCE(_s->sleeper, NULL);                                             \
		} else {                                                                           \
			_err = wait_event_interruptible(&_s->queue, cond);                         \
		}                                                                                  \
		_err;                                                                              \
	})

/* Until nobody peeks any more. 0, -EAGAIN (nonblock), -ERESTARTSYS */
int pipe_wait_peek(struct pipe *p, bool nonblock);
/* Nobody reads any more: done, or SIGPIPE and -EPIPE when nothing was written. */
ssize_t pipe_broken(size_t done);

#endif
