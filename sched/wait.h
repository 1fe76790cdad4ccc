/* SPDX-License-Identifier: BSD-2-Clause */
/* wait.h - wait queues and completions. */
#ifndef SCHED_WAIT_H
#define SCHED_WAIT_H

#include "lib/errno.h"
#include "sched/sched.h"

struct wait_queue {
	spinlock_t lock; /* RANK_WAITQUEUE, taken with IRQs off */
	struct list_head list;
};
struct wait_entry {
	struct list_head node;
	struct thread *thread;
	/*
	 * NULL: wake thread. Else called with queue lock held; returns true when it counts as a
	 * wake-up (poll).
	 */
	bool (*fn)(struct wait_entry *e, u32 key);
	u32 exclusive;
};
#define WAIT_QUEUE_INIT(name)                                                                      \
	{                                                                                          \
		.lock = SPINLOCK_INIT(RANK_WAITQUEUE, #name), .list = LIST_HEAD_INIT((name).list)  \
	}
#define DEFINE_WAIT_QUEUE(name) struct wait_queue name = WAIT_QUEUE_INIT(name)
void wait_queue_init(struct wait_queue *q);
void wait_add(struct wait_queue *q, struct wait_entry *e);
void wait_remove(struct wait_queue *q, struct wait_entry *e);
/* Adds (if not queued) and sets the state; then test the condition; then schedule. */
void wait_prepare(struct wait_queue *q, struct wait_entry *e, u32 state);
void wait_prepare_exclusive(struct wait_queue *q, struct wait_entry *e, u32 state);
void wait_finish(struct wait_queue *q, struct wait_entry *e);
/*
 * Wake all non-exclusive waiters and at most nr exclusive ones (0 = all), in batches of 32. => any
 * context
 */
void wake_up_nr(struct wait_queue *q, u32 nr, u32 key);
#define wake_up(q) wake_up_nr(q, 1, 0)
#define wake_up_all(q) wake_up_nr(q, 0, 0)
static inline bool wait_queue_active(const struct wait_queue *q)
{
	smp_mb();
	return !list_empty(&q->list);
}
#define WAIT_ENTRY(name)                                                                           \
	struct wait_entry name = { .node = LIST_HEAD_INIT(name.node), .thread = current }

#define __wait_event(q, cond, state_, deadline_, interrupted)                                      \
	({                                                                                         \
		WAIT_ENTRY(_we);                                                                   \
		s64 _ret = 1;                                                                      \
		for (;;) {                                                                         \
			wait_prepare(q, &_we, state_);                                             \
			if (cond)                                                                  \
				break;                                                             \
			if (interrupted) {                                                         \
				_ret = -ERESTARTSYS;                                               \
				break;                                                             \
			}                                                                          \
			_ret = schedule_until(deadline_);                                          \
			if (_ret <= 0 && !(cond)) {                                                \
				_ret = 0;                                                          \
				break;                                                             \
			}                                                                          \
			_ret = _ret ? _ret : 1;                                                    \
		}                                                                                  \
		wait_finish(q, &_we);                                                              \
		_ret;                                                                              \
	})
#define wait_event(q, cond) ((void)__wait_event(q, cond, THREAD_UNINTERRUPTIBLE, KTIME_MAX, false))
/* 0 or -ERESTARTSYS */
#define wait_event_interruptible(q, cond)                                                          \
	(int)min_t(s64, __wait_event(q, cond, THREAD_INTERRUPTIBLE, KTIME_MAX, signal_pending()), 0)
#define wait_event_killable(q, cond)                                                               \
	(int)min_t(s64, __wait_event(q, cond, THREAD_KILLABLE, KTIME_MAX, fatal_signal_pending()), \
		   0)
/* > 0: condition true; 0: timed out; -ERESTARTSYS. deadline is absolute ktime. */
#define wait_event_until(q, cond, deadline)                                                        \
	__wait_event(q, cond, THREAD_UNINTERRUPTIBLE, deadline, false)
#define wait_event_interruptible_until(q, cond, deadline)                                          \
	__wait_event(q, cond, THREAD_INTERRUPTIBLE, deadline, signal_pending())

struct completion {
	u32 done;
	struct wait_queue wait;
};
void completion_init(struct completion *c);
void complete(struct completion *c); /* any context */
void complete_all(struct completion *c);
void wait_for_completion(struct completion *c);
int wait_for_completion_killable(struct completion *c); /* 0 or -ERESTARTSYS */

#endif
