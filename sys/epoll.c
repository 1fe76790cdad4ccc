// SPDX-License-Identifier: BSD-2-Clause
/*
 * epoll.c - wait for any of many files, asked about only when something happened to them.
 *
 * Theory: each watched file is an item with an entry in each of the file's wait queues that stays
 * there. When a queue fires, the item goes on the epoll's ready list and a waiter is woken.
 * epoll_wait takes the list and asks each item's file what is
 * really ready: level-triggered items that are go back to the end of the list, edge-triggered ones
 * wait for the next event, one-shot ones are switched off.
 *
 * A file that is closed for good takes its items with it: struct file knows the items that watch it
 * (file->epoll), and the VFS calls epoll_file_gone() at its last reference. Epolls do not watch
 * epolls (-EINVAL), so locks nest one deep.
 *
 * Locking: epoll_mutex (which items exist; rare operations) > ep->mutex (scanning) > queue lock of
 * a file > ep->lock (ready list; IRQs off) > ep->wait's lock.
 */
#include "arch/uaccess.h"
#include "lib/rbtree.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sys/files.h"
#include "sys/poll.h"
#include "sys/process.h"
#include "sys/special.h"
#include "sys/syscall.h"

#define EPOLL_CTL_ADD 1
#define EPOLL_CTL_DEL 2
#define EPOLL_CTL_MOD 3
#define EPOLLEXCLUSIVE (1u << 28)
#define EPOLLWAKEUP (1u << 29)
#define EPOLLONESHOT (1u << 30)
#define EPOLLET (1u << 31)
#define EPOLL_PRIVATE (EPOLLEXCLUSIVE | EPOLLWAKEUP | EPOLLONESHOT | EPOLLET)
#define ITEM_QUEUES 2 /* no file has more than two wait queues */

struct epoll_event {
	u32 events;
	u64 data;
} __packed;

struct epoll {
	struct mutex mutex;
	struct rb_root items; /* (mutex) by file, fd */
	spinlock_t lock;
	struct list_head ready; /* (lock) */
	struct wait_queue wait, poll_wait;
};
struct item;
struct item_queue {
	struct wait_entry wait;
	struct wait_queue *queue;
	struct item *item;
};
struct item {
	struct rb_node node;
	struct epoll *ep;
	struct file *file; /* no reference: see epoll_file_gone */
	int fd;
	struct epoll_event event;  /* (mutex) */
	struct list_head ready;	   /* (ep->lock) */
	struct item *next_of_file; /* file->epoll chain (epoll_mutex) */
	u32 nr_queues;
	struct item_queue queues[ITEM_QUEUES];
};
struct item_poller {
	struct poll_table pt; /* first */
	struct item *item;
};

static DEFINE_MUTEX(epoll_mutex, RANK_FILE_POS);
static const struct file_ops epoll_ops;

/* ---- events ---- */

/* => ep->lock */
static void make_ready_locked(struct item *it)
{
	if (list_empty(&it->ready))
		list_add_tail(&it->ready, &it->ep->ready);
}

static void make_ready(struct item *it)
{
	struct epoll *ep = it->ep;
	unsigned long flags;

	spin_lock_irqsave_l(&ep->lock, flags, "epoll_ready");
	make_ready_locked(it);
	spin_unlock_irqrestore_l(&ep->lock, flags, "epoll_ready");
	if (wait_queue_active(&ep->wait))
		wake_up_nr(&ep->wait, 1, POLLIN);
	if (wait_queue_active(&ep->poll_wait))
		wake_up_nr(&ep->poll_wait, 0, POLLIN);
}

/* A watched queue fires; its lock is held. */
static bool item_fires(struct wait_entry *wait, u32 key)
{
	struct item *it = container_of(wait, struct item_queue, wait)->item;
	u32 events = READ_ONCE(it->event.events);

	if (!(events & ~EPOLL_PRIVATE))
		return false; /* one-shot, used up */
	if (key && !(key & (events | POLLERR | POLLHUP)))
		return false;
	make_ready(it);
	return true;
}

static void item_queue(struct poll_table *pt, struct wait_queue *q)
{
	struct item *it = ((struct item_poller *)pt)->item;
	struct item_queue *iq;

	if (it->nr_queues == ITEM_QUEUES)
		return;
	iq = &it->queues[it->nr_queues++];
	iq->queue = q;
	iq->item = it;
	list_init(&iq->wait.node);
	iq->wait.thread = current;
	iq->wait.fn = item_fires;
	wait_add(q, &iq->wait);
}

/* What the file says now, of what the item wants. */
static u32 ask(struct item *it, bool queue)
{
	struct item_poller ip = { .pt.queue = queue ? item_queue : NULL, .item = it };
	u32 events = it->event.events;

	if (!(events & ~EPOLL_PRIVATE) && !queue)
		return 0;
	return file_poll(it->file, &ip.pt) & (events | POLLERR | POLLHUP);
}

/* ---- items ---- */

static long compare(const struct item *it, const struct file *f, int fd)
{
	if (it->file != f)
		return it->file < f ? -1 : 1;
	return it->fd - fd;
}

static struct item *find(struct epoll *ep, const struct file *f, int fd)
{
	struct rb_node *n = ep->items.rb_node;

	while (n) {
		struct item *it = container_of(n, struct item, node);
		long c = compare(it, f, fd);

		if (!c)
			return it;
		n = c > 0 ? n->rb_left : n->rb_right;
	}
	return NULL;
}

static bool item_less(const struct rb_node *a, const struct rb_node *b)
{
	const struct item *x = container_of(a, struct item, node),
			  *y = container_of(b, struct item, node);

	return compare(x, y->file, y->fd) < 0;
}

/* => epoll_mutex, ep->mutex */
static void remove_item(struct item *it)
{
	struct epoll *ep = it->ep;
	struct item **link = (struct item **)&it->file->epoll;
	unsigned long flags;

	for (u32 i = 0; i < it->nr_queues; i++)
		wait_remove(it->queues[i].queue, &it->queues[i].wait);
	spin_lock_irqsave_l(&ep->lock, flags, "epoll_remove");
	list_del_init(&it->ready);
	spin_unlock_irqrestore_l(&ep->lock, flags, "epoll_remove");
	while (*link != it)
		link = &(*link)->next_of_file;
	*link = it->next_of_file;
	rb_erase(&it->node, &ep->items);
	kfree(it);
}

static void epoll_file_gone(struct file *f)
{
	struct item *it;

	mutex_lock(&epoll_mutex);
	while ((it = f->epoll)) {
		struct epoll *ep = it->ep;

		mutex_lock(&ep->mutex);
		remove_item(it);
		mutex_unlock(&ep->mutex);
	}
	mutex_unlock(&epoll_mutex);
}

/* => epoll_mutex, ep->mutex */
static int add_item(struct epoll *ep, struct file *f, int fd, const struct epoll_event *ev)
{
	struct item *it;

	if (!f->ops || !f->ops->poll)
		return -EPERM;
	it = kzalloc(sizeof(*it), GFP_KERNEL);
	if (!it)
		return -ENOMEM;
	it->ep = ep;
	it->file = f;
	it->fd = fd;
	it->event = *ev;
	list_init(&it->ready);
	it->next_of_file = f->epoll;
	f->epoll = it;
	rb_add(&it->node, &ep->items, item_less);
	if (ask(it, true))
		make_ready(it);
	return 0;
}

static int change(struct epoll *ep, int op, struct file *f, int fd, const struct epoll_event *ev)
{
	struct item *it = find(ep, f, fd);

	if (op == EPOLL_CTL_ADD)
		return it ? -EEXIST : add_item(ep, f, fd, ev);
	if (!it)
		return -ENOENT;
	if (op == EPOLL_CTL_DEL) {
		remove_item(it);
		return 0;
	}
	it->event = *ev;
	smp_mb();
	if (ask(it, false))
		make_ready(it);
	return 0;
}

SYSCALL(epoll_ctl)
{
	struct epoll_event ev = { 0 };
	struct fd e, f;
	int err;

	if (a1 != EPOLL_CTL_DEL && copy_struct_from_user(&ev, (void __user *)a3))
		return -EFAULT;
	e = fd_get(a0);
	f = fd_get(a2);
	err = -EBADF;
	if (!e.file || !f.file)
		goto out;
	err = -EINVAL;
	if (e.file->ops != &epoll_ops || f.file->ops == &epoll_ops || (int)a1 < EPOLL_CTL_ADD ||
	    (int)a1 > EPOLL_CTL_MOD)
		goto out;
	if (a1 != EPOLL_CTL_DEL)
		ev.events |= POLLERR | POLLHUP;
	mutex_lock(&epoll_mutex);
	mutex_lock(&((struct epoll *)e.file->private)->mutex);
	err = change(e.file->private, a1, f.file, a2, &ev);
	mutex_unlock(&((struct epoll *)e.file->private)->mutex);
	mutex_unlock(&epoll_mutex);
out:
	fd_put(f);
	fd_put(e);
	return err;
}

/* ---- waiting ---- */

static struct item *take_ready(struct epoll *ep)
{
	struct item *it = NULL;
	unsigned long flags;

	spin_lock_irqsave_l(&ep->lock, flags, "epoll_take");
	if (!list_empty(&ep->ready)) {
		it = list_first_entry(&ep->ready, struct item, ready);
		list_del_init(&it->ready);
	}
	spin_unlock_irqrestore_l(&ep->lock, flags, "epoll_take");
	return it;
}

/* => number given out, or -EFAULT */
static int harvest(struct epoll *ep, u64 user, int max)
{
	struct item *again[64], *it;
	u32 nr_again = 0;
	int count = 0;

	mutex_lock(&ep->mutex);
	while (count < max && nr_again < ARRAY_SIZE(again) && (it = take_ready(ep))) {
		struct epoll_event out = it->event;

		out.events = ask(it, false);
		if (!out.events)
			continue;
		if (copy_to_user((struct epoll_event __user *)user + count, &out, sizeof(out))) {
			again[nr_again++] = it;
			count = count ? count : -EFAULT;
			break;
		}
		count++;
		if (it->event.events & EPOLLONESHOT)
			it->event.events &= EPOLL_PRIVATE;
		else if (!(it->event.events & EPOLLET))
			again[nr_again++] = it;
	}
	for (u32 i = 0; i < nr_again; i++) {
		unsigned long flags;

		spin_lock_irqsave_l(&ep->lock, flags, "epoll_again");
		make_ready_locked(again[i]);
		spin_unlock_irqrestore_l(&ep->lock, flags, "epoll_again");
	}
	mutex_unlock(&ep->mutex);
	return count;
}

static long do_epoll_wait(int fd, u64 user, int max, ktime_t deadline)
{
	struct fd f = fd_get(fd);
	struct epoll *ep;
	long ret = -EBADF;

	if (!f.file)
		return -EBADF;
	ep = f.file->private;
	if (f.file->ops != &epoll_ops || max <= 0 ||
	    max > S32_MAX / (int)sizeof(struct epoll_event))
		ret = -EINVAL;
	else
		ret = 0;
	while (!ret) {
		s64 left;

		ret = harvest(ep, user, max);
		if (ret || !deadline)
			break;
		left = wait_event_interruptible_until(&ep->wait, !list_empty(&ep->ready), deadline);
		if (left < 0)
			ret = -EINTR;
		if (!left)
			break;
	}
	fd_put(f);
	return ret;
}

static ktime_t deadline_of_ns(u64 ns)
{
	u64 now = ktime_get();

	return !ns ? 0 : ns >= KTIME_MAX - now ? KTIME_MAX : now + ns;
}

static ktime_t deadline_of_ms(int ms)
{
	return ms < 0 ? KTIME_MAX : deadline_of_ns(ms * NSEC_PER_MSEC);
}

SYSCALL(epoll_wait)
{
	return do_epoll_wait(a0, a1, a2, deadline_of_ms(a3));
}

static long wait_with_mask(u64 a0, u64 a1, u64 a2, ktime_t deadline, u64 sigmask, u64 size)
{
	sigset_t mask;
	long ret;

	if (sigmask) {
		ret = signal_mask_arg(sigmask, size, &mask);
		if (ret)
			return ret;
		signal_set_temporary_mask(mask);
	}
	ret = do_epoll_wait(a0, a1, a2, deadline);
	if (sigmask)
		signal_end_temporary_mask(ret == -EINTR);
	return ret;
}

SYSCALL(epoll_pwait)
{
	return wait_with_mask(a0, a1, a2, deadline_of_ms(a3), a4, a5);
}

SYSCALL(epoll_pwait2)
{
	ktime_t deadline = KTIME_MAX;
	u64 ns;

	if (a3) {
		int err = timespec_arg(a3, &ns);

		if (err)
			return err;
		deadline = deadline_of_ns(ns);
	}
	return wait_with_mask(a0, a1, a2, deadline, a4, a5);
}

/* ---- the file ---- */

static u32 epoll_poll(struct file *f, struct poll_table *pt)
{
	struct epoll *ep = f->private;

	poll_wait(pt, &ep->poll_wait);
	return list_empty(&ep->ready) ? 0 : POLLIN | POLLRDNORM;
}

static void epoll_release(struct file *f)
{
	struct epoll *ep = f->private;
	struct rb_node *n;

	mutex_lock(&epoll_mutex);
	mutex_lock(&ep->mutex);
	while ((n = rb_first(&ep->items)))
		remove_item(container_of(n, struct item, node));
	mutex_unlock(&ep->mutex);
	mutex_unlock(&epoll_mutex);
	kfree(ep);
}

static const struct file_ops epoll_ops = {
	.poll = epoll_poll,
	.release = epoll_release,
	.llseek = file_no_seek,
};

static long epoll_new(u32 flags)
{
	struct epoll *ep;
	struct file *f;

	if (flags & ~O_CLOEXEC)
		return -EINVAL;
	ep = kzalloc(sizeof(*ep), GFP_KERNEL);
	if (!ep)
		return -ENOMEM;
	mutex_init(&ep->mutex, RANK_SHOW_FILE, "epoll");
	spin_lock_init(&ep->lock, RANK_WAITQUEUE, "epoll");
	lock_set_subclass(&ep->lock, 1);
	wait_queue_init(&ep->wait);
	wait_queue_init(&ep->poll_wait);
	lock_set_subclass(&ep->wait.lock, 2);
	lock_set_subclass(&ep->poll_wait.lock, 2);
	list_init(&ep->ready);
	f = anon_file("[eventpoll]", &epoll_ops, ep, O_RDWR, 0600);
	if (IS_ERR(f)) {
		kfree(ep);
		return PTR_ERR(f);
	}
	return fd_new(f, flags & O_CLOEXEC);
}

SYSCALL(epoll_create)
{
	return (int)a0 <= 0 ? -EINVAL : epoll_new(0);
}

SYSCALL(epoll_create1)
{
	return epoll_new(a0);
}

void epoll_init(void)
{
	file_release_hook = epoll_file_gone;
}
