// SPDX-License-Identifier: BSD-2-Clause
/*
 * futex_pi.c - futexes whose word names their owner: lock, trylock, unlock with hand-over.
 *
 * The word holds the owner's tid; FUTEX_WAITERS tells the owner to unlock through the kernel.
 * Unlocking gives the lock to the waiter of the highest priority by writing its tid, so nobody can
 * slip in between. The owner's priority is not raised meanwhile (caveat: inheritance ends at the
 * kernel's own mutexes); the order of hand-over is what keeps real-time programs correct, the boost
 * what would bound their waiting.
 */
#include "arch/uaccess.h"
#include "sys/futex_internal.h"
#include "sys/process.h"

static int word_xchg(u64 addr, u32 from, u32 to, u32 *found)
{
	int err;

	pagefault_disable();
	err = cmpxchg_user_u32((u32 __user *)addr, from, to, found);
	pagefault_enable();
	return err;
}

/* Smaller is more urgent. */
static int urgency(const struct thread *t)
{
	return t->rt_prio ? -(int)t->rt_prio : 120 + t->nice;
}

/* => bucket lock; queued in order of urgency, first come first within one */
static void enqueue(struct futex_bucket *b, struct futex_waiter *w)
{
	struct futex_waiter *pos;

	list_for_each_entry(pos, &b->waiters, node)
		if (futex_same(&pos->key, &w->key) && urgency(pos->thread) > urgency(w->thread))
			break;
	list_add_tail(&w->node, &pos->node);
}

static struct futex_waiter *first_waiter(struct futex_bucket *b, const struct futex_key *key)
{
	struct futex_waiter *w;

	list_for_each_entry(w, &b->waiters, node)
		if (futex_same(&w->key, key) && w->pi)
			return w;
	return NULL;
}

/*
 * One try under the bucket lock. => 1: we own it; 0: queued (w set up); -EFAULT: touch and try
 * again; -EAGAIN: word changed, try again; -EDEADLK, -ESRCH, -EWOULDBLOCK
 */
static int try_lock(u64 addr, struct futex_bucket *b, struct futex_waiter *w, bool try)
{
	u32 me = current->tid, value, found, new;
	struct task *owner;
	int err = futex_peek(addr, &value);

	if (err)
		return err;
	if ((value & FUTEX_TID_MASK) == me)
		return -EDEADLK;
	if (!(value & FUTEX_TID_MASK)) {
		new = me | (value & FUTEX_OWNER_DIED) |
		      (first_waiter(b, &w->key) ? FUTEX_WAITERS : 0);
		err = word_xchg(addr, value, new, &found);
		return err ? err : found == value ? 1 : -EAGAIN;
	}
	rcu_read_lock();
	owner = task_find(value & FUTEX_TID_MASK);
	rcu_read_unlock();
	if (!owner)
		return -ESRCH;
	if (try)
		return -EWOULDBLOCK - 1000;
	if (!(value & FUTEX_WAITERS)) {
		err = word_xchg(addr, value, value | FUTEX_WAITERS, &found);
		if (err || found != value)
			return err ? err : -EAGAIN;
	}
	w->bucket = b;
	thread_set_state(THREAD_INTERRUPTIBLE);
	enqueue(b, w);
	return 0;
}

static int touch_word(u64 addr)
{
	u32 v, found;
	int err = get_user_u32(&v, (u32 __user *)addr);

	return err ? err : cmpxchg_user_u32((u32 __user *)addr, v, v, &found);
}

long futex_lock_pi(u64 addr, bool shared, ktime_t deadline, bool try)
{
	struct futex_waiter w = { .bitset = ~0u, .pi = true, .thread = current };
	struct futex_bucket *b;
	int ret;

	if (addr & 3)
		return -EINVAL;
	for (;;) {
		ret = addr >= USER_TOP ? -EFAULT : vm_futex_key(addr, shared, &w.key);
		if (ret)
			return ret;
		b = futex_bucket_of(&w.key);
		spin_lock(&b->lock);
		ret = try_lock(addr, b, &w, try);
		spin_unlock(&b->lock);
		if (ret == 1)
			return 0;
		if (ret == -EWOULDBLOCK - 1000)
			return -EWOULDBLOCK;
		if (ret == -EFAULT) {
			ret = touch_word(addr);
			if (ret)
				return ret;
			continue;
		}
		if (ret == -EAGAIN) {
			cond_resched();
			continue;
		}
		if (ret)
			return ret;
		futex_sleep(&w, deadline);
		if (!futex_unqueue(&w)) {
			if (w.owner)
				return 0;
			continue; /* the owner died: compete */
		}
		if (signal_pending())
			return -ERESTARTNOINTR;
		if (ktime_get() >= deadline)
			return -ETIMEDOUT;
	}
}

/* => bucket lock; hands the lock on or frees it. 0, -EFAULT, -EAGAIN, -EPERM */
static int hand_over(u64 addr, struct futex_bucket *b, const struct futex_key *key,
		     struct wake_q *q)
{
	struct futex_waiter *w, *next;
	u32 value, found, new = 0;
	int err = futex_peek(addr, &value);

	if (err)
		return err;
	if ((value & FUTEX_TID_MASK) != (u32)current->tid)
		return -EPERM;
	w = first_waiter(b, key);
	if (w) {
		list_del_init(&w->node);
		next = first_waiter(b, key);
		new = w->thread->tid | (next ? FUTEX_WAITERS : 0);
	}
	err = word_xchg(addr, value, new, &found);
	if (err || found != value) {
		if (w)
			enqueue(b, w);
		return err ? err : -EAGAIN;
	}
	if (w) {
		w->owner = true;
		futex_mark_woken(w, q);
	}
	return 0;
}

long futex_unlock_pi(u64 addr, bool shared)
{
	struct futex_key key;
	struct futex_bucket *b;
	WAKE_Q(q);
	int ret;

	if (addr & 3)
		return -EINVAL;
	do {
		ret = addr >= USER_TOP ? -EFAULT : vm_futex_key(addr, shared, &key);
		if (ret)
			return ret;
		b = futex_bucket_of(&key);
		spin_lock(&b->lock);
		ret = hand_over(addr, b, &key, &q);
		spin_unlock(&b->lock);
		if (ret == -EFAULT) {
			ret = touch_word(addr);
			if (ret)
				return ret;
			ret = -EAGAIN;
		}
	} while (ret == -EAGAIN);
	wake_q_run(&q);
	return ret;
}

/* The owner died: the first waiter tries again for itself. */
void futex_wake_pi(u64 addr)
{
	for (int shared = 0; shared < 2; shared++) {
		struct futex_waiter *w;
		struct futex_bucket *b;
		struct futex_key key;
		WAKE_Q(q);

		if (vm_futex_key(addr, shared, &key))
			continue;
		b = futex_bucket_of(&key);
		spin_lock(&b->lock);
		w = first_waiter(b, &key);
		if (w)
			futex_mark_woken(w, &q);
		spin_unlock(&b->lock);
		wake_q_run(&q);
	}
}
