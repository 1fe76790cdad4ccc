/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wait.c - wait queues, completions, batches of wake-ups.
 *
 * A waiter puts itself on the list, then sets its state (full barrier), then tests its condition; a
 * waker makes the condition true, then (full barrier) looks at the list. So an empty list needs no
 * lock to be seen as empty. The waker takes a woken waiter off the list itself; then wait_finish()
 * finds nothing to do and needs no lock either.
 *
 * A wake-up costs some 200 instructions with interrupts off, and a queue may hold thousands: after
 * WAKE_BATCH of them the lock is let go for a moment. A bookmark entry (fn = bookmark) keeps the
 * place; other wakers step over it.
 */
#include "sched/internal.h"
#include "sched/wait.h"

#define WAKE_BATCH 12

void wait_queue_init(struct wait_queue *q)
{
	spin_lock_init(&q->lock, RANK_WAITQUEUE, "wait queue");
	list_init(&q->list);
}

void wait_add(struct wait_queue *q, struct wait_entry *e)
{
	unsigned long flags;

	spin_lock_irqsave_l(&q->lock, flags, "wait_queue");
	list_add(&e->node, &q->list); /* before the exclusive ones */
	spin_unlock_irqrestore_l(&q->lock, flags, "wait_queue");
}

void wait_remove(struct wait_queue *q, struct wait_entry *e)
{
	unsigned long flags;

	spin_lock_irqsave_l(&q->lock, flags, "wait_queue");
	list_del_init(&e->node);
	spin_unlock_irqrestore_l(&q->lock, flags, "wait_queue");
}

static __always_inline void prepare(struct wait_queue *q, struct wait_entry *e, u32 state,
				    u32 exclusive)
{
	unsigned long flags;

	e->exclusive = exclusive;
	spin_lock_irqsave_l(&q->lock, flags, "wait_queue");
	if (list_empty(&e->node)) {
		if (exclusive)
			list_add_tail(&e->node, &q->list);
		else
			list_add(&e->node, &q->list);
	}
	/* before the unlock: whoever wakes from now on finds it */
	WRITE_ONCE(current->state, state);
	spin_unlock_irqrestore_l(&q->lock, flags, "wait_queue");
	smp_mb(); /* on the list and in the state before the condition is tested */
}

void wait_prepare(struct wait_queue *q, struct wait_entry *e, u32 state)
{
	prepare(q, e, state, 0);
}

void wait_prepare_exclusive(struct wait_queue *q, struct wait_entry *e, u32 state)
{
	prepare(q, e, state, 1);
}

void wait_finish(struct wait_queue *q, struct wait_entry *e)
{
	WRITE_ONCE(current->state, THREAD_RUNNING);
	/*
	 * The waker links next, then prev, to itself: both seen means that it is done with the
	 * entry.
	 */
	if (READ_ONCE(e->node.next) == &e->node && READ_ONCE(e->node.prev) == &e->node)
		return;
	wait_remove(q, e);
}

static bool bookmark(struct wait_entry *e, u32 key)
{
	return false;
}

static __always_inline bool wake_entry(struct wait_entry *e, u32 key)
{
	if (e->fn)
		return e->fn(e, key);
	if (!wake_up_thread(e->thread))
		return false;
	list_del_init(&e->node);
	return true;
}

/*
 * Wakes from *from on (an entry or the head). => q->lock held; returns where to go on, the head
 * when done.
 */
static struct list_head *wake_batch(struct wait_queue *q, struct list_head *from, u32 *nr, u32 key)
{
	u32 batch = WAKE_BATCH;

	while (from != &q->list && batch--) {
		struct wait_entry *e = list_entry(from, struct wait_entry, node);
		u32 exclusive = e->exclusive;

		from = from->next;
		if (wake_entry(e, key) && exclusive && *nr && --*nr == 0)
			return &q->list;
	}
	return from;
}

void wake_up_nr(struct wait_queue *q, u32 nr, u32 key)
{
	struct wait_entry mark = { .fn = bookmark };
	struct list_head *from;
	unsigned long flags;

	smp_mb();
	if (list_empty(&q->list))
		return;
	spin_lock_irqsave_l(&q->lock, flags, "wake_up");
	from = wake_batch(q, q->list.next, &nr, key);
	while (unlikely(from != &q->list)) {
		list_add_tail(&mark.node, from);
		spin_unlock_irqrestore_l(&q->lock, flags, "wake_up");
		spin_lock_irqsave_l(&q->lock, flags, "wake_up");
		from = mark.node.next;
		list_del(&mark.node);
		from = wake_batch(q, from, &nr, key);
	}
	spin_unlock_irqrestore_l(&q->lock, flags, "wake_up");
}

/*
 * ---- completions: done counts, under the queue's lock; the waiter always takes it, so the waker's
 * unlock is its last touch
 */

void completion_init(struct completion *c)
{
	c->done = 0;
	wait_queue_init(&c->wait);
}

static void wake_first_locked(struct wait_queue *q)
{
	u32 nr = 1;

	wake_batch(q, q->list.next, &nr, 0);
}

void complete(struct completion *c)
{
	unsigned long flags;

	spin_lock_irqsave_l(&c->wait.lock, flags, "complete");
	if (c->done != U32_MAX)
		c->done++;
	wake_first_locked(&c->wait);
	spin_unlock_irqrestore_l(&c->wait.lock, flags, "complete");
}

void complete_all(struct completion *c)
{
	unsigned long flags;

	spin_lock_irqsave_l(&c->wait.lock, flags, "complete");
	c->done = U32_MAX;
	spin_unlock_irqrestore_l(&c->wait.lock, flags, "complete");
	wake_up_all(&c->wait);
}

static bool take_done(struct completion *c)
{
	unsigned long flags;
	bool done;

	spin_lock_irqsave_l(&c->wait.lock, flags, "complete");
	done = c->done != 0;
	if (done && c->done != U32_MAX)
		c->done--;
	spin_unlock_irqrestore_l(&c->wait.lock, flags, "complete");
	return done;
}

static int wait_done(struct completion *c, u32 state)
{
	WAIT_ENTRY(e);
	int error = 0;

	might_sleep();
	while (!take_done(c)) {
		wait_prepare_exclusive(&c->wait, &e, state);
		if (READ_ONCE(c->done))
			continue;
		if (state == THREAD_KILLABLE && fatal_signal_pending()) {
			error = -ERESTARTSYS;
			break;
		}
		schedule();
	}
	wait_finish(&c->wait, &e);
	return error;
}

void wait_for_completion(struct completion *c)
{
	wait_done(c, THREAD_UNINTERRUPTIBLE);
}

int wait_for_completion_killable(struct completion *c)
{
	return wait_done(c, THREAD_KILLABLE);
}

/* ---- batches: the end of the chain is marked, since wake_next == NULL means "on no batch" ---- */

#define WAKE_Q_END ((struct thread *)1)

void wake_q_add(struct wake_q *q, struct thread *t)
{
	/*
	 * On another batch already: that one's wake-up comes after our condition, see smp_mb in
	 * thread_wake.
	 */
	if (cmpxchg(&t->wake_next, NULL, WAKE_Q_END) != NULL)
		return;
	thread_get(t);
	*q->last = t;
	q->last = &t->wake_next;
}

void wake_q_run(struct wake_q *q)
{
	struct thread *t = q->first;

	if (!t)
		return;
	while (t != WAKE_Q_END) {
		struct thread *next = t->wake_next;

		WRITE_ONCE(t->wake_next, NULL);
		smp_mb();
		wake_up_thread(t);
		thread_put(t);
		t = next;
	}
	q->first = NULL;
	q->last = &q->first;
}
