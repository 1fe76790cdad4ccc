// SPDX-License-Identifier: BSD-2-Clause
/*
 * eventfd.c - a 64-bit counter behind a descriptor: write adds, read takes all (or one, as a
 * semaphore).
 */
#include "arch/uaccess.h"
#include "lib/err.h"
#include "mm/kmem/slab.h"
#include "sys/aio.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/syscall.h"

#define EFD_SEMAPHORE 1u

struct eventfd {
	spinlock_t lock; /* count; IRQs off: softirqs signal */
	u64 count;
	bool semaphore;
	struct wait_queue wait;
};

static bool try_take(struct eventfd *e, u64 *value)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave_l(&e->lock, flags, "eventfd");
	ok = e->count != 0;
	*value = e->semaphore ? 1 : e->count;
	if (ok)
		e->count -= *value;
	spin_unlock_irqrestore_l(&e->lock, flags, "eventfd");
	return ok;
}

static bool try_add(struct eventfd *e, u64 value)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave_l(&e->lock, flags, "eventfd");
	ok = U64_MAX - 1 - e->count >= value;
	if (ok)
		e->count += value;
	spin_unlock_irqrestore_l(&e->lock, flags, "eventfd");
	return ok;
}

static ssize_t eventfd_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	struct eventfd *e = f->private;
	u64 value;

	if (n < sizeof(value))
		return -EINVAL;
	while (!try_take(e, &value)) {
		int err;

		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&e->wait, READ_ONCE(e->count));
		if (err)
			return err;
	}
	if (wait_queue_active(&e->wait))
		wake_up_nr(&e->wait, 0, POLLOUT);
	return copy_to_user(buf, &value, sizeof(value)) ? -EFAULT : (ssize_t)sizeof(value);
}

static ssize_t eventfd_write(struct file *f, const void __user *buf, size_t n, u64 *pos)
{
	struct eventfd *e = f->private;
	u64 value;

	if (n < sizeof(value))
		return -EINVAL;
	if (copy_from_user(&value, buf, sizeof(value)))
		return -EFAULT;
	if (value == U64_MAX)
		return -EINVAL;
	while (!try_add(e, value)) {
		int err;

		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&e->wait,
					       U64_MAX - 1 - READ_ONCE(e->count) >= value);
		if (err)
			return err;
	}
	if (wait_queue_active(&e->wait))
		wake_up_nr(&e->wait, 0, POLLIN);
	return sizeof(value);
}

static u32 eventfd_poll(struct file *f, struct poll_table *pt)
{
	struct eventfd *e = f->private;
	u64 count;

	poll_wait(pt, &e->wait);
	count = READ_ONCE(e->count);
	return (count ? POLLIN | POLLRDNORM : 0) | (count < U64_MAX - 1 ? POLLOUT | POLLWRNORM : 0);
}

static void eventfd_release(struct file *f)
{
	kfree(f->private);
}

static const struct file_ops eventfd_ops = {
	.read = eventfd_read,
	.write = eventfd_write,
	.poll = eventfd_poll,
	.release = eventfd_release,
	.llseek = file_no_seek,
};

struct file *eventfd_get(int fd)
{
	struct file *f = fd_get_file(fd);

	if (!f)
		return ERR_PTR(-EBADF);
	if (f->ops == &eventfd_ops)
		return f;
	file_put(f);
	return ERR_PTR(-EINVAL);
}

void eventfd_signal(struct file *f)
{
	struct eventfd *e = f->private;

	try_add(e, 1);
	if (wait_queue_active(&e->wait))
		wake_up_nr(&e->wait, 0, POLLIN);
}

static long do_eventfd(u32 initial, u32 flags)
{
	struct eventfd *e;
	struct file *f;

	if (flags & ~(EFD_SEMAPHORE | O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	e = kzalloc(sizeof(*e), GFP_KERNEL);
	if (!e)
		return -ENOMEM;
	spin_lock_init(&e->lock, RANK_LEAF, "eventfd");
	wait_queue_init(&e->wait);
	e->count = initial;
	e->semaphore = flags & EFD_SEMAPHORE;
	f = anon_file("[eventfd]", &eventfd_ops, e, O_RDWR | (flags & O_NONBLOCK), 0600);
	if (IS_ERR(f)) {
		kfree(e);
		return PTR_ERR(f);
	}
	return fd_new(f, flags & O_CLOEXEC);
}

SYSCALL(eventfd)
{
	return do_eventfd(a0, 0);
}

SYSCALL(eventfd2)
{
	return do_eventfd(a0, a1);
}
