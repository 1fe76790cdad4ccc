/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pi.c - priority inheritance through mutexes.
 *
 * Problem: a low thread L holds a mutex that a high thread H wants; a middle thread keeps L off the
 * CPU, and so H for as long as it likes. Idea: while H waits, L runs at H's level; if L itself
 * waits for a mutex, so does that one's owner, and so on.
 *
 *     H --waits--> m1 --held by--> L --waits--> m2 --held by--> K          level of K = max(own, L,
 *                                                                          H)
 *
 * Each thread has the list of contended mutexes it holds (pi_held), each of them the level of its
 * first waiter (top); inherited level = the largest top. A change is carried along the chain, one
 * thread at a time, at most PI_DEPTH owners far.
 *
 * Invariants: a mutex is on its owner's pi_held list exactly while it has an owner and waiters;
 * m->top is written with m->lock and the owner's pi_lock held. While m->lock is held and there are
 * waiters, the owner cannot let go of m, hence cannot end.
 * Locking: m->lock, then a pi_lock, then the run queue. The chain goes the other way (from a thread
 * to the mutex it waits for): there the mutex's lock is only tried with the pi_lock held, which
 * keeps the mutex alive; if that fails, both are let go and it starts again; after PI_TRIES the
 * walk gives up (a deadlocked ring of mutexes ends there or at PI_DEPTH, and stays unboosted).
 */
#include "kernel/rcu.h"
#include "sched/internal.h"
#include "sched/mutex.h"

#define PI_DEPTH 16
#define PI_TRIES 1000

/* The level t inherits. True when that changed what it runs at. => t->pi_lock held */
static bool recompute(struct thread *t)
{
	int boost = LEVEL_IDLE, before;
	unsigned long flags;
	struct mutex *m;
	struct rq *rq;

	list_for_each_entry(m, &t->pi_held, held_node)
		boost = max(boost, m->top);
	if (boost == t->boost)
		return false;
	local_irq_save_l(flags, "pi_recompute");
	rq = thread_rq_lock(t);
	before = thread_level_eff(t);
	t->boost = boost;
	if (thread_level_eff(t) != before)
		thread_apply_level(rq, t);
	rq_unlock(rq);
	local_irq_restore_l(flags, "pi_recompute");
	return true;
}

static void queue_waiter(struct mutex *m, struct mutex_waiter *w)
{
	struct mutex_waiter *pos;

	list_for_each_entry_reverse(pos, &m->waiters, node) {
		if (pos->level >= w->level)
			break;
	}
	list_add(&w->node, &pos->node);
}

static inline int first_level(const struct mutex *m)
{
	return list_first_entry(&m->waiters, struct mutex_waiter, node)->level;
}

/*
 * t's level or pi_held may have changed: carries that as far as it matters. => t->pi_lock held;
 * dropped. RCU read side.
 */
static void walk(struct thread *t, bool changed)
{
	u32 depth = 0, tries = 0;

	while (depth < PI_DEPTH) {
		struct mutex *m = t->blocked_on;
		struct thread *next;

		changed |= recompute(t);
		if (!changed || !m)
			break;
		if (!spin_trylock(&m->lock)) {
			spin_unlock(&t->pi_lock);
			if (++tries > PI_TRIES)
				return;
			cpu_relax();
			spin_lock(&t->pi_lock);
			continue;
		}
		t->waiter->level = thread_level_eff(t);
		list_del(&t->waiter->node);
		queue_waiter(m, t->waiter);
		next = mutex_owner_of((unsigned long)atomic_long_read(&m->owner));
		spin_unlock(&t->pi_lock);
		if (!next) { /* between owners: the next one will look for itself */
			spin_unlock(&m->lock);
			return;
		}
		spin_lock(&next->pi_lock);
		m->top = first_level(m);
		spin_unlock(&m->lock);
		t = next;
		changed = false;
		depth++;
	}
	spin_unlock(&t->pi_lock);
}

/* m's waiters changed: tells its owner, if any. => m->lock held; dropped */
static void tell_owner(struct mutex *m)
{
	struct thread *owner = mutex_owner_of((unsigned long)atomic_long_read(&m->owner));

	if (!owner) {
		spin_unlock(&m->lock);
		return;
	}
	/* keeps the threads of the chain in memory while walk() lets go of everything */
	rcu_read_lock();
	spin_lock(&owner->pi_lock);
	if (list_empty(&m->waiters)) {
		list_del_init(&m->held_node);
	} else {
		m->top = first_level(m);
		if (list_empty(&m->held_node))
			list_add(&m->held_node, &owner->pi_held);
	}
	spin_unlock(&m->lock);
	walk(owner, false);
	rcu_read_unlock();
}

void pi_block(struct mutex *m, struct mutex_waiter *w)
{
	struct thread *t = w->thread;

	spin_lock(&t->pi_lock);
	w->level = thread_level_eff(t);
	queue_waiter(m, w);
	t->blocked_on = m;
	t->waiter = w;
	spin_unlock(&t->pi_lock);
	tell_owner(m);
}

void pi_unblock(struct mutex *m, struct mutex_waiter *w)
{
	struct thread *t = w->thread;

	spin_lock(&t->pi_lock);
	list_del(&w->node);
	t->blocked_on = NULL;
	t->waiter = NULL;
	spin_unlock(&t->pi_lock);
}

void pi_settle(struct mutex *m)
{
	tell_owner(m);
}

void pi_attach(struct mutex *m, struct thread *t)
{
	if (list_empty(&m->waiters))
		return;
	spin_lock(&t->pi_lock);
	m->top = first_level(m);
	list_add(&m->held_node, &t->pi_held);
	recompute(t); /* not waiting for anything: the chain ends here */
	spin_unlock(&t->pi_lock);
}

void pi_detach(struct mutex *m, struct thread *t)
{
	spin_lock(&t->pi_lock);
	list_del_init(&m->held_node);
	recompute(t);
	spin_unlock(&t->pi_lock);
}

void pi_level_changed(struct thread *t)
{
	if (!READ_ONCE(t->blocked_on))
		return;
	rcu_read_lock();
	spin_lock(&t->pi_lock);
	walk(t, t->blocked_on && t->waiter->level != thread_level_eff(t));
	rcu_read_unlock();
}
