// SPDX-License-Identifier: BSD-2-Clause
/*
 * poll.c - poll, ppoll, select, pselect6: wait for any of many files.
 *
 * Theory: the first pass asks every file and leaves an entry in each of its wait queues; if nothing
 * is ready the thread sleeps until one entry fires, then asks again (later passes leave nothing).
 * An entry that fires only sets a flag and wakes the thread; all of them are taken out at the end.
 * Entries hold a reference to their file: another thread may close it.
 */
#include "sys/poll.h"
#include "arch/uaccess.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/syscall.h"

#define INLINE_ENTRIES 8
#define BLOCK_ENTRIES 48
#define DEFAULT_MASK (POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM)

struct poll_entry {
	struct wait_entry wait;
	struct wait_queue *queue;
	struct file *file;
	struct poller *poller;
};
struct poll_block {
	struct poll_block *next;
	u32 nr;
	struct poll_entry entry[BLOCK_ENTRIES];
};
struct poller {
	struct poll_table pt; /* first */
	struct thread *thread;
	struct file *file; /* asked right now */
	bool triggered;
	int error;
	u32 nr;
	struct poll_entry entry[INLINE_ENTRIES];
	struct poll_block *blocks;
};

static bool poll_fire(struct wait_entry *wait, u32 key)
{
	struct poller *p = container_of(wait, struct poll_entry, wait)->poller;

	WRITE_ONCE(p->triggered, true);
	smp_mb();
	wake_up_thread(p->thread);
	return true;
}

static struct poll_entry *new_entry(struct poller *p)
{
	struct poll_block *b = p->blocks;

	if (p->nr < INLINE_ENTRIES)
		return &p->entry[p->nr++];
	if (!b || b->nr == BLOCK_ENTRIES) {
		b = kmalloc(sizeof(*b), GFP_KERNEL);
		if (!b)
			return NULL;
		b->nr = 0;
		b->next = p->blocks;
		p->blocks = b;
	}
	return &b->entry[b->nr++];
}

static void poll_queue(struct poll_table *pt, struct wait_queue *q)
{
	struct poller *p = (struct poller *)pt;
	struct poll_entry *e = new_entry(p);

	if (!e) {
		p->error = -ENOMEM;
		return;
	}
	*e = (struct poll_entry){ .queue = q, .file = p->file, .poller = p };
	list_init(&e->wait.node);
	e->wait.thread = p->thread;
	e->wait.fn = poll_fire;
	file_get(p->file);
	wait_add(q, &e->wait);
}

static void poller_start(struct poller *p, bool wait)
{
	p->pt.queue = wait ? poll_queue : NULL;
	p->thread = current;
	p->triggered = false;
	p->error = 0;
	p->nr = 0;
	p->blocks = NULL;
}

static void drop_entry(struct poll_entry *e)
{
	wait_remove(e->queue, &e->wait);
	file_put(e->file);
}

static void poller_end(struct poller *p)
{
	for (u32 i = 0; i < p->nr; i++)
		drop_entry(&p->entry[i]);
	while (p->blocks) {
		struct poll_block *b = p->blocks;

		for (u32 i = 0; i < b->nr; i++)
			drop_entry(&b->entry[i]);
		p->blocks = b->next;
		kfree(b);
	}
}

u32 file_poll(struct file *f, struct poll_table *pt)
{
	return f->ops && f->ops->poll ? f->ops->poll(f, pt) : DEFAULT_MASK;
}

/* => the events ready; *bad: no such descriptor */
static u32 ask(struct poller *p, int fd, bool *bad)
{
	struct fd f = fd_get(fd);
	u32 mask;

	*bad = !f.file;
	if (!f.file)
		return POLLNVAL;
	p->file = f.file;
	mask = file_poll(f.file, &p->pt);
	fd_put(f);
	return mask;
}

/* => true: ask again; false: time is up */
static bool poller_sleep(struct poller *p, ktime_t deadline)
{
	s64 left = 1;

	p->pt.queue = NULL; /* entries are in place */
	thread_set_state(THREAD_INTERRUPTIBLE);
	if (!READ_ONCE(p->triggered) && !signal_pending())
		left = schedule_until(deadline);
	thread_set_state(THREAD_RUNNING);
	WRITE_ONCE(p->triggered, false);
	smp_mb();
	return left > 0;
}

/* ---- poll ---- */

struct pollfd {
	s32 fd;
	u16 events, revents;
};

static int poll_pass(struct poller *p, struct pollfd *fds, u32 n)
{
	int count = 0;

	for (u32 i = 0; i < n; i++) {
		bool bad;

		fds[i].revents = 0;
		if (fds[i].fd < 0)
			continue;
		fds[i].revents =
			ask(p, fds[i].fd, &bad) & (fds[i].events | POLLERR | POLLHUP | POLLNVAL);
		if (fds[i].revents) {
			count++;
			p->pt.queue = NULL; /* we shall not sleep */
		}
	}
	return count;
}

static int poll_wait_for(struct pollfd *fds, u32 n, ktime_t deadline)
{
	struct poller p;
	bool last = deadline == 0;
	int count;

	poller_start(&p, !last);
	for (;;) {
		count = poll_pass(&p, fds, n);
		if (count || last)
			break;
		count = p.error;
		if (count)
			break;
		if (signal_pending()) {
			count = -EINTR;
			break;
		}
		last = !poller_sleep(&p, deadline);
	}
	poller_end(&p);
	return count;
}

/* => ready count, -EINTR, ... */
static int do_poll(u64 user, u64 n, ktime_t deadline)
{
	struct pollfd few[16], *fds = few;
	int ret;

	if (n > current_proc->rlim[RLIMIT_NOFILE].cur || n > (1u << 20))
		return -EINVAL;
	if (n > ARRAY_SIZE(few)) {
		fds = kvmalloc(n * sizeof(*fds), GFP_KERNEL);
		if (!fds)
			return -ENOMEM;
	}
	ret = -EFAULT;
	if (!copy_from_user(fds, (void __user *)user, n * sizeof(*fds))) {
		ret = poll_wait_for(fds, n, deadline);
		if (ret >= 0)
			for (u64 i = 0; i < n; i++)
				if (copy_to_user((char __user *)user + i * sizeof(*fds) + 6,
						 &fds[i].revents, 2)) {
					ret = -EFAULT;
					break;
				}
	}
	if (fds != few)
		kvfree(fds);
	return ret;
}

static ktime_t deadline_of(u64 ns)
{
	u64 now = ktime_get();

	if (!ns)
		return 0;
	return ns >= KTIME_MAX - now ? KTIME_MAX : now + ns;
}

static long poll_restart(struct restart_block *rb)
{
	long ret = do_poll(rb->arg[0], rb->arg[1], rb->arg[2]);

	if (ret == -EINTR)
		return -ERESTART_RESTARTBLOCK; /* arguments are still there */
	return ret;
}

SYSCALL(poll)
{
	struct restart_block *rb = &current_task()->restart;
	int ms = a2;
	ktime_t deadline = ms < 0 ? KTIME_MAX : deadline_of(ms * NSEC_PER_MSEC);
	long ret = do_poll(a0, (u32)a1, deadline);

	if (ret != -EINTR)
		return ret;
	rb->fn = poll_restart;
	rb->arg[0] = a0;
	rb->arg[1] = (u32)a1;
	rb->arg[2] = deadline;
	return -ERESTART_RESTARTBLOCK;
}

/* What is left of a time-out goes back to the caller (select, ppoll). */
static void put_time_left(u64 user, ktime_t deadline, bool timeval)
{
	u64 now = ktime_get(), left = deadline > now ? deadline - now : 0, v[2];

	if (!user || deadline == KTIME_MAX)
		return;
	v[0] = left / NSEC_PER_SEC;
	v[1] = left % NSEC_PER_SEC / (timeval ? 1000 : 1);
	if (copy_to_user((void __user *)user, v, sizeof(v)))
		return; /* read-only memory: as Linux, not an error */
}

static int timeout_arg(u64 user, ktime_t *deadline)
{
	u64 ns;
	int err;

	*deadline = KTIME_MAX;
	if (!user)
		return 0;
	err = timespec_arg(user, &ns);
	if (!err)
		*deadline = deadline_of(ns);
	return err;
}

SYSCALL(ppoll)
{
	ktime_t deadline;
	sigset_t mask;
	long ret = timeout_arg(a2, &deadline);

	if (ret)
		return ret;
	if (a3) {
		ret = signal_mask_arg(a3, a4, &mask);
		if (ret)
			return ret;
		signal_set_temporary_mask(mask);
	}
	ret = do_poll(a0, (u32)a1, deadline);
	if (a3)
		signal_end_temporary_mask(ret == -EINTR);
	put_time_left(a2, deadline, false);
	return ret == -EINTR ? -ERESTARTNOHAND : ret;
}

/* ---- select ---- */

struct select_sets {
	unsigned long *in[3], *out[3];
	u32 words;
};
static const u32 select_in[3] = { POLLIN | POLLRDNORM | POLLHUP | POLLERR,
				  POLLOUT | POLLWRNORM | POLLERR, POLLPRI };

static int select_pass(struct poller *p, struct select_sets *s)
{
	int count = 0;

	for (u32 w = 0; w < s->words; w++) {
		unsigned long all = s->in[0][w] | s->in[1][w] | s->in[2][w];

		for (; all; all &= all - 1) {
			u32 bit = __builtin_ctzl(all);
			bool bad;
			u32 mask = ask(p, w * 64 + bit, &bad);

			if (bad)
				return -EBADF;
			for (int k = 0; k < 3; k++)
				if ((s->in[k][w] >> bit & 1) && (mask & select_in[k])) {
					s->out[k][w] |= 1ul << bit;
					count++;
					p->pt.queue = NULL;
				}
		}
	}
	return count;
}

static int select_wait(struct select_sets *s, ktime_t deadline)
{
	struct poller p;
	bool last = deadline == 0;
	int count;

	poller_start(&p, !last);
	for (;;) {
		count = select_pass(&p, s);
		if (count || last)
			break;
		count = p.error;
		if (count)
			break;
		if (signal_pending()) {
			count = -EINTR;
			break;
		}
		last = !poller_sleep(&p, deadline);
	}
	poller_end(&p);
	return count;
}

static int do_select(int n, const u64 user[3], ktime_t deadline)
{
	struct select_sets s;
	unsigned long few[6 * 4], *bits = few;
	size_t bytes;
	int ret = -EFAULT;

	if (n < 0)
		return -EINVAL;
	n = min_t(u32, n, current_task()->files->size);
	s.words = DIV_ROUND_UP(n, 64);
	bytes = s.words * 8ul;
	if (s.words > 4) {
		bits = kvmalloc(6 * bytes, GFP_KERNEL);
		if (!bits)
			return -ENOMEM;
	}
	memset(bits, 0, 6 * bytes);
	for (int k = 0; k < 3; k++) {
		s.in[k] = bits + k * s.words;
		s.out[k] = bits + (3 + k) * s.words;
		if (user[k] && copy_from_user(s.in[k], (void __user *)user[k], bytes))
			goto out;
		if (n % 64)
			s.in[k][s.words - 1] &= (1ul << n % 64) - 1;
	}
	ret = select_wait(&s, deadline);
	for (int k = 0; k < 3 && ret >= 0; k++)
		if (user[k] && copy_to_user((void __user *)user[k], s.out[k], bytes))
			ret = -EFAULT;
out:
	if (bits != few)
		kvfree(bits);
	return ret;
}

SYSCALL(select)
{
	const u64 user[3] = { a1, a2, a3 };
	ktime_t deadline = KTIME_MAX;
	s64 tv[2];
	int ret;

	if (a4) {
		if (copy_from_user(tv, (void __user *)a4, sizeof(tv)))
			return -EFAULT;
		if (tv[0] < 0 || tv[1] < 0)
			return -EINVAL;
		deadline = tv[0] > S64_MAX / 2000000000
				   ? KTIME_MAX
				   : deadline_of(tv[0] * NSEC_PER_SEC + (u64)tv[1] * 1000);
	}
	ret = do_select(a0, user, deadline);
	put_time_left(a4, deadline, true);
	return ret == -EINTR ? -ERESTARTNOHAND : ret;
}

SYSCALL(pselect6)
{
	const u64 user[3] = { a1, a2, a3 };
	ktime_t deadline;
	u64 sig[2] = { 0, 0 };
	sigset_t mask;
	int ret = timeout_arg(a4, &deadline);

	if (ret)
		return ret;
	if (a5 && copy_from_user(sig, (void __user *)a5, sizeof(sig)))
		return -EFAULT;
	if (sig[0]) {
		ret = signal_mask_arg(sig[0], sig[1], &mask);
		if (ret)
			return ret;
		signal_set_temporary_mask(mask);
	}
	ret = do_select(a0, user, deadline);
	if (sig[0])
		signal_end_temporary_mask(ret == -EINTR);
	put_time_left(a4, deadline, false);
	return ret == -EINTR ? -ERESTARTNOHAND : ret;
}
