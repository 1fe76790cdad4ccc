// SPDX-License-Identifier: BSD-2-Clause
/*
 * futex.c - the kernel half of user-space locks: sleep if a word still has this value, wake whoever
 * sleeps on it.
 *
 * Theory: the word is in user memory, so no lock of ours guards it. What we guard is the decision:
 * "compare and go to sleep" happens under the bucket lock of the word's key, and a waker changes
 * the word first and then looks into the bucket under the same lock. Either the sleeper sees the
 * new value or the waker sees the sleeper. An empty bucket is seen without the lock; so a sleeper
 * goes on the list before it reads the word (full barriers on both sides).
 *
 * Keys: private words are (address space, address), shared ones (mapping, offset), so processes
 * that map the same page at different places meet. The word is read with page faults off under the
 * lock; if it is not there the lock is dropped, the page touched, and all begins again.
 *
 * Locking: bucket->lock; two buckets in rising order of index. Waiters live on stacks: bucket =
 * NULL is the waker's last touch.
 */
#include "sys/futex_internal.h"
#include "arch/uaccess.h"
#include "lib/hash.h"
#include "sys/process.h"
#include "sys/syscall.h"

#define NR_BUCKETS 256u

enum {
	FUTEX_WAIT,
	FUTEX_WAKE,
	FUTEX_FD,
	FUTEX_REQUEUE,
	FUTEX_CMP_REQUEUE,
	FUTEX_WAKE_OP,
	FUTEX_LOCK_PI,
	FUTEX_UNLOCK_PI,
	FUTEX_TRYLOCK_PI,
	FUTEX_WAIT_BITSET,
	FUTEX_WAKE_BITSET,
	FUTEX_WAIT_REQUEUE_PI,
	FUTEX_CMP_REQUEUE_PI,
	FUTEX_LOCK_PI2
};
#define FUTEX_PRIVATE_FLAG 128
#define FUTEX_CLOCK_REALTIME 256
#define BITSET_ANY 0xffffffffu

static struct futex_bucket buckets[NR_BUCKETS];

struct futex_bucket *futex_bucket_of(const struct futex_key *key)
{
	u64 h = ((u64)key->object ^ key->offset) * 0x9e3779b97f4a7c15ull;

	return &buckets[h >> 56 & (NR_BUCKETS - 1)];
}

int futex_peek(u64 addr, u32 *value)
{
	int err;

	pagefault_disable();
	err = get_user_u32(value, (const u32 __user *)addr);
	pagefault_enable();
	return err;
}

static int touch(u64 addr)
{
	u32 v;

	return get_user_u32(&v, (const u32 __user *)addr);
}

static int key_of(u64 addr, bool shared, struct futex_key *key)
{
	if (addr & 3)
		return -EINVAL;
	if (addr >= USER_TOP)
		return -EFAULT;
	return vm_futex_key(addr, shared, key);
}

bool futex_unqueue(struct futex_waiter *w)
{
	struct futex_bucket *b;

	while ((b = READ_ONCE(w->bucket))) {
		spin_lock(&b->lock);
		if (w->bucket == b) {
			list_del(&w->node);
			w->bucket = NULL;
			spin_unlock(&b->lock);
			return true;
		}
		spin_unlock(&b->lock); /* requeued meanwhile */
	}
	return false;
}

void futex_mark_woken(struct futex_waiter *w, struct wake_q *q)
{
	list_del(&w->node);
	wake_q_add(q, w->thread);
	smp_store_release(&w->bucket, NULL);
}

void futex_sleep(struct futex_waiter *w, ktime_t deadline)
{
	if (READ_ONCE(w->bucket) && !signal_pending())
		schedule_until(deadline);
	thread_set_state(THREAD_RUNNING);
}

/* ---- wait ---- */

/* => 0: queued, state set; -EAGAIN, -EFAULT, -EINVAL */
static int wait_setup(u64 addr, bool shared, u32 expected, struct futex_waiter *w)
{
	struct futex_bucket *b;
	u32 value;
	int err;

	for (;;) {
		err = key_of(addr, shared, &w->key);
		if (err)
			return err;
		b = futex_bucket_of(&w->key);
		spin_lock(&b->lock);
		list_add_tail(&w->node, &b->waiters);
		smp_mb(); /* wake_key() changes the word, then looks at the list without the lock */
		err = futex_peek(addr, &value);
		if (likely(!err && value == expected))
			break;
		list_del(&w->node);
		spin_unlock(&b->lock);
		if (!err)
			return -EAGAIN;
		err = touch(addr);
		if (err)
			return err;
	}
	w->thread = current;
	w->bucket = b;
	thread_set_state(THREAD_INTERRUPTIBLE);
	spin_unlock(&b->lock);
	return 0;
}

/* => 0 woken, -ETIMEDOUT, -EINTR, -EAGAIN, -EFAULT, -EINVAL */
static long do_wait(u64 addr, bool shared, u32 expected, ktime_t deadline, u32 bitset)
{
	struct futex_waiter w = { .bitset = bitset };

	if (!bitset)
		return -EINVAL;
	for (;;) {
		int err = wait_setup(addr, shared, expected, &w);

		if (err)
			return err;
		futex_sleep(&w, deadline);
		if (!futex_unqueue(&w))
			return 0;
		if (signal_pending())
			return -EINTR;
		if (ktime_get() >= deadline)
			return -ETIMEDOUT;
	}
}

static long wait_restart(struct restart_block *rb)
{
	long ret = do_wait(rb->arg[0], rb->arg[1], rb->arg[2], rb->arg[3], rb->arg[4]);

	return ret == -EINTR ? -ERESTART_RESTARTBLOCK : ret;
}

static long futex_wait(u64 addr, bool shared, u32 expected, ktime_t deadline, u32 bitset)
{
	struct restart_block *rb = &current_task()->restart;
	long ret = do_wait(addr, shared, expected, deadline, bitset);

	if (ret != -EINTR)
		return ret;
	if (deadline == KTIME_MAX)
		return -ERESTARTSYS;
	*rb = (struct restart_block){ .fn = wait_restart,
				      .arg = { addr, shared, expected, deadline, bitset } };
	return -ERESTART_RESTARTBLOCK;
}

/* ---- wake ---- */

/* => bucket lock; at most nr */
static int wake_some(struct futex_bucket *b, const struct futex_key *key, u32 nr, u32 bitset,
		     struct wake_q *q)
{
	struct futex_waiter *w, *n;
	u32 count = 0;

	if (!nr)
		return 0;
	list_for_each_entry_safe(w, n, &b->waiters, node) {
		if (!futex_same(&w->key, key) || !(w->bitset & bitset))
			continue;
		if (w->pi)
			return -EINVAL;
		futex_mark_woken(w, q);
		if (++count >= nr)
			break;
	}
	return count;
}

static long wake_key(const struct futex_key *key, u32 nr, u32 bitset)
{
	struct futex_bucket *b = futex_bucket_of(key);
	WAKE_Q(q);
	int ret;

	/*
	 * The word was changed before we look. The lock word is read before the list: a sleeper
	 * that has read the old value still holds the lock or is on the list already; one that
	 * takes the lock later reads the new value.
	 */
	smp_mb();
	if (!spin_is_locked(&b->lock) && list_empty(&b->waiters))
		return 0;
	spin_lock(&b->lock);
	ret = wake_some(b, key, nr, bitset, &q);
	spin_unlock(&b->lock);
	wake_q_run(&q);
	return ret;
}

static long futex_wake(u64 addr, bool shared, u32 nr, u32 bitset)
{
	struct futex_key key;
	int err = key_of(addr, shared, &key);

	if (err)
		return err;
	return bitset ? wake_key(&key, nr, bitset) : -EINVAL;
}

/* CLEARTID: waiters may have used the shared or the private form; both keys are looked up. */
void futex_wake_user(u64 addr, u32 nr)
{
	futex_wake(addr, true, nr, BITSET_ANY);
	futex_wake(addr, false, nr, BITSET_ANY);
}

/* ---- two words ---- */

static void lock_two(struct futex_bucket *a, struct futex_bucket *b)
{
	if (a > b)
		swap(a, b);
	spin_lock(&a->lock);
	if (a != b)
		spin_lock(&b->lock);
}

static void unlock_two(struct futex_bucket *a, struct futex_bucket *b)
{
	spin_unlock(&a->lock);
	if (a != b)
		spin_unlock(&b->lock);
}

static int requeue_some(struct futex_bucket *from, struct futex_bucket *to,
			const struct futex_key *key1, const struct futex_key *key2, u32 nr_wake,
			u32 nr_requeue, struct wake_q *q)
{
	struct futex_waiter *w, *n;
	u32 woken = 0, moved = 0;

	list_for_each_entry_safe(w, n, &from->waiters, node) {
		if (!futex_same(&w->key, key1))
			continue;
		if (w->pi)
			return -EINVAL;
		if (woken < nr_wake) {
			futex_mark_woken(w, q);
			woken++;
		} else if (moved < nr_requeue) {
			w->key = *key2;
			if (to != from) { /* else we would meet it again, and again */
				list_move_tail(&w->node, &to->waiters);
				smp_store_release(&w->bucket, to);
			}
			moved++;
		} else {
			break;
		}
	}
	return woken + moved;
}

static long futex_requeue(u64 addr1, u64 addr2, bool shared, int nr_wake, int nr_requeue,
			  const u32 *expected)
{
	struct futex_key key1, key2;
	struct futex_bucket *b1, *b2;
	WAKE_Q(q);
	long ret;

	if (nr_wake < 0 || nr_requeue < 0)
		return -EINVAL;
	for (;;) {
		u32 value = 0;

		ret = key_of(addr1, shared, &key1);
		if (!ret)
			ret = key_of(addr2, shared, &key2);
		if (ret)
			return ret;
		b1 = futex_bucket_of(&key1);
		b2 = futex_bucket_of(&key2);
		lock_two(b1, b2);
		if (expected)
			ret = futex_peek(addr1, &value);
		if (!ret) {
			ret = expected && value != *expected
				      ? -EAGAIN
				      : requeue_some(b1, b2, &key1, &key2, nr_wake, nr_requeue, &q);
			break;
		}
		unlock_two(b1, b2);
		ret = touch(addr1);
		if (ret)
			return ret;
	}
	unlock_two(b1, b2);
	wake_q_run(&q);
	return ret;
}

/*
 * Does the encoded operation on the second word. => old value's comparison in *hit; 0, -EFAULT,
 * -ENOSYS
 */
static int word_op(u64 addr, u32 code, bool *hit)
{
	int op = code >> 28 & 7, cmp = code >> 24 & 15, oparg = (int)(code << 8) >> 20,
	    cmparg = (int)(code << 20) >> 20;
	u32 old, new, found;
	int err;

	if (code >> 31)
		oparg = 1 << (oparg & 31);
	pagefault_disable();
	err = get_user_u32(&old, (u32 __user *)addr);
	while (!err) {
		new = op == 0	? (u32)oparg
		      : op == 1 ? old + oparg
		      : op == 2 ? old | oparg
		      : op == 3 ? old & ~oparg
				: old ^ oparg;
		err = op > 4 ? -ENOSYS : cmpxchg_user_u32((u32 __user *)addr, old, new, &found);
		if (err || found == old)
			break;
		old = found;
	}
	pagefault_enable();
	if (err)
		return err;
	switch (cmp) {
	case 0:
		*hit = (int)old == cmparg;
		return 0;
	case 1:
		*hit = (int)old != cmparg;
		return 0;
	case 2:
		*hit = (int)old < cmparg;
		return 0;
	case 3:
		*hit = (int)old <= cmparg;
		return 0;
	case 4:
		*hit = (int)old > cmparg;
		return 0;
	case 5:
		*hit = (int)old >= cmparg;
		return 0;
	default:
		return -ENOSYS;
	}
}

static int touch_writable(u64 addr)
{
	u32 v, found;
	int err = get_user_u32(&v, (u32 __user *)addr);

	return err ? err : cmpxchg_user_u32((u32 __user *)addr, v, v, &found);
}

static long futex_wake_op(u64 addr1, u64 addr2, bool shared, u32 nr1, u32 nr2, u32 code)
{
	struct futex_key key1, key2;
	struct futex_bucket *b1, *b2;
	WAKE_Q(q);
	bool hit = false;
	long ret;

	for (;;) {
		ret = key_of(addr1, shared, &key1);
		if (!ret)
			ret = key_of(addr2, shared, &key2);
		if (ret)
			return ret;
		b1 = futex_bucket_of(&key1);
		b2 = futex_bucket_of(&key2);
		lock_two(b1, b2);
		ret = word_op(addr2, code, &hit);
		if (ret != -EFAULT)
			break;
		unlock_two(b1, b2);
		ret = touch_writable(addr2);
		if (ret)
			return ret;
	}
	if (!ret) {
		ret = wake_some(b1, &key1, nr1, BITSET_ANY, &q);
		if (hit && ret >= 0)
			ret += wake_some(b2, &key2, nr2, BITSET_ANY, &q);
	}
	unlock_two(b1, b2);
	wake_q_run(&q);
	return ret;
}

/* ---- the call ---- */

static int deadline_arg(u64 user, int cmd, bool realtime, ktime_t *deadline)
{
	u64 ns, now = ktime_get();
	int err;

	*deadline = KTIME_MAX;
	if (!user)
		return 0;
	err = timespec_arg(user, &ns);
	if (err)
		return err;
	if (cmd == FUTEX_WAIT) { /* relative */
		*deadline = ns >= KTIME_MAX - now ? KTIME_MAX : now + ns;
	} else if (realtime) {
		u64 real = ktime_get_real();

		*deadline = ns <= real			   ? now
			    : ns - real >= KTIME_MAX - now ? KTIME_MAX
							   : now + (ns - real);
	} else {
		*deadline = ns;
	}
	return 0;
}

SYSCALL(futex)
{
	int op = a1, cmd = op & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
	bool shared = !(op & FUTEX_PRIVATE_FLAG), realtime = op & FUTEX_CLOCK_REALTIME;
	ktime_t deadline = KTIME_MAX;
	u32 expected = a5;
	int err;

	if (realtime && cmd != FUTEX_WAIT_BITSET && cmd != FUTEX_WAIT_REQUEUE_PI &&
	    cmd != FUTEX_LOCK_PI2 && cmd != FUTEX_WAIT)
		return -ENOSYS;
	if (cmd == FUTEX_WAIT || cmd == FUTEX_WAIT_BITSET || cmd == FUTEX_LOCK_PI ||
	    cmd == FUTEX_LOCK_PI2) {
		err = deadline_arg(a3, cmd, realtime || cmd == FUTEX_LOCK_PI, &deadline);
		if (err)
			return err;
	}
	switch (cmd) {
	case FUTEX_WAIT:
		return futex_wait(a0, shared, a2, deadline, BITSET_ANY);
	case FUTEX_WAIT_BITSET:
		return futex_wait(a0, shared, a2, deadline, a5);
	case FUTEX_WAKE:
		return futex_wake(a0, shared, max_t(int, a2, 1), BITSET_ANY);
	case FUTEX_WAKE_BITSET:
		return futex_wake(a0, shared, max_t(int, a2, 1), a5);
	case FUTEX_REQUEUE:
		return futex_requeue(a0, a4, shared, a2, a3, NULL);
	case FUTEX_CMP_REQUEUE:
		return futex_requeue(a0, a4, shared, a2, a3, &expected);
	case FUTEX_WAKE_OP:
		return futex_wake_op(a0, a4, shared, a2, a3, a5);
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return futex_lock_pi(a0, shared, deadline, false);
	case FUTEX_TRYLOCK_PI:
		return futex_lock_pi(a0, shared, KTIME_MAX, true);
	case FUTEX_UNLOCK_PI:
		return futex_unlock_pi(a0, shared);
	default:
		return -ENOSYS;
	}
}

void futex_init(void)
{
	for (u32 i = 0; i < NR_BUCKETS; i++) {
		spin_lock_init(&buckets[i].lock, RANK_FUTEX, "futex");
		lock_set_subclass(&buckets[i].lock, i);
		list_init(&buckets[i].waiters);
	}
}
