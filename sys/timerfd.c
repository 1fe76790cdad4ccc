// SPDX-License-Identifier: BSD-2-Clause
/*
 * timerfd.c - timers one can read and poll. The kernel timer only counts expiries and wakes;
 * reading takes the count.
 */
#include "arch/uaccess.h"
#include "mm/kmem/slab.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/syscall.h"
#include "sys/timers.h"

#define TFD_TIMER_ABSTIME 1u

struct timerfd {
	spinlock_t lock; /* IRQs off: the timer's function */
	int clock;
	struct timer timer;
	u64 expires_ns, interval_ns; /* ktime; 0: off */
	u64 ticks;
	struct wait_queue wait;
};

static void timerfd_expired(struct timer *t)
{
	struct timerfd *tf = container_of(t, struct timerfd, timer);
	unsigned long flags;
	u64 now = ktime_get();

	spin_lock_irqsave_l(&tf->lock, flags, "timerfd");
	if (tf->expires_ns && now >= tf->expires_ns) {
		tf->ticks++;
		if (tf->interval_ns) {
			u64 missed = (now - tf->expires_ns) / tf->interval_ns;

			tf->ticks += missed;
			tf->expires_ns += (missed + 1) * tf->interval_ns;
			timer_start(t, max_t(u64, tf->expires_ns, now + 10000));
		} else {
			tf->expires_ns = 0;
		}
	}
	spin_unlock_irqrestore_l(&tf->lock, flags, "timerfd");
	wake_up_nr(&tf->wait, 0, POLLIN);
}

static u64 take_ticks(struct timerfd *tf)
{
	unsigned long flags;
	u64 ticks;

	spin_lock_irqsave_l(&tf->lock, flags, "timerfd");
	ticks = tf->ticks;
	tf->ticks = 0;
	spin_unlock_irqrestore_l(&tf->lock, flags, "timerfd");
	return ticks;
}

static ssize_t timerfd_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	struct timerfd *tf = f->private;
	u64 ticks;

	if (n < sizeof(ticks))
		return -EINVAL;
	while (!(ticks = take_ticks(tf))) {
		int err;

		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&tf->wait, READ_ONCE(tf->ticks));
		if (err)
			return err;
	}
	return copy_to_user(buf, &ticks, sizeof(ticks)) ? -EFAULT : (ssize_t)sizeof(ticks);
}

static u32 timerfd_poll(struct file *f, struct poll_table *pt)
{
	struct timerfd *tf = f->private;

	poll_wait(pt, &tf->wait);
	return READ_ONCE(tf->ticks) ? POLLIN | POLLRDNORM : 0;
}

static void timerfd_release(struct file *f)
{
	struct timerfd *tf = f->private;
	unsigned long flags;

	spin_lock_irqsave_l(&tf->lock, flags, "timerfd");
	tf->expires_ns = 0;
	spin_unlock_irqrestore_l(&tf->lock, flags, "timerfd");
	timer_cancel_sync(&tf->timer);
	kfree(tf);
}

static const struct file_ops timerfd_ops = {
	.read = timerfd_read,
	.poll = timerfd_poll,
	.release = timerfd_release,
	.llseek = file_no_seek,
};

SYSCALL(timerfd_create)
{
	int clock = a0;
	u32 flags = a1;
	struct timerfd *tf;
	struct file *f;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	if (clock != 0 && clock != 1 && clock != 7 && clock != 8 && clock != 9)
		return -EINVAL;
	tf = kzalloc(sizeof(*tf), GFP_KERNEL);
	if (!tf)
		return -ENOMEM;
	spin_lock_init(&tf->lock, RANK_SIGHAND, "timerfd");
	timer_init(&tf->timer, timerfd_expired);
	wait_queue_init(&tf->wait);
	tf->clock = clock;
	f = anon_file("[timerfd]", &timerfd_ops, tf, O_RDWR | (flags & O_NONBLOCK), 0600);
	if (IS_ERR(f)) {
		kfree(tf);
		return PTR_ERR(f);
	}
	return fd_new(f, flags & O_CLOEXEC);
}

struct itimerspec {
	s64 interval_sec, interval_nsec, value_sec, value_nsec;
};

static bool ns_of(s64 sec, s64 nsec, u64 *ns)
{
	if (sec < 0 || sec >= S64_MAX / (s64)NSEC_PER_SEC || (u64)nsec >= NSEC_PER_SEC)
		return false;
	*ns = sec * NSEC_PER_SEC + nsec;
	return true;
}

/* => lock */
static struct itimerspec value_locked(const struct timerfd *tf)
{
	u64 now = ktime_get(), left = !tf->expires_ns	     ? 0
				      : tf->expires_ns > now ? tf->expires_ns - now
							     : 1;

	return (struct itimerspec){ tf->interval_ns / NSEC_PER_SEC, tf->interval_ns % NSEC_PER_SEC,
				    left / NSEC_PER_SEC, left % NSEC_PER_SEC };
}

static struct timerfd *timerfd_of(struct fd f)
{
	return f.file && f.file->ops == &timerfd_ops ? f.file->private : NULL;
}

SYSCALL(timerfd_settime)
{
	struct itimerspec new, old;
	u64 value, interval;
	struct timerfd *tf;
	unsigned long flags;
	struct fd f;

	if (a1 & ~3ull)
		return -EINVAL;
	if (copy_struct_from_user(&new, (void __user *)a2))
		return -EFAULT;
	if (!ns_of(new.value_sec, new.value_nsec, &value) ||
	    !ns_of(new.interval_sec, new.interval_nsec, &interval))
		return -EINVAL;
	f = fd_get(a0);
	tf = timerfd_of(f);
	if (!tf) {
		fd_put(f);
		return f.file ? -EINVAL : -EBADF;
	}
	timer_cancel_sync(&tf->timer);
	spin_lock_irqsave_l(&tf->lock, flags, "timerfd");
	old = value_locked(tf);
	tf->ticks = 0;
	tf->interval_ns = interval;
	tf->expires_ns = 0;
	if (value) {
		u64 now = ktime_get();

		if (a1 & TFD_TIMER_ABSTIME)
			tf->expires_ns =
				tf->clock == 0 || tf->clock == 8 ? clock_to_ktime(0, value) : value;
		else
			tf->expires_ns = now + value;
		timer_start(&tf->timer, tf->expires_ns);
	}
	spin_unlock_irqrestore_l(&tf->lock, flags, "timerfd");
	fd_put(f);
	return a3 ? copy_struct_to_user((void __user *)a3, &old) : 0;
}

SYSCALL(timerfd_gettime)
{
	struct fd f = fd_get(a0);
	struct timerfd *tf = timerfd_of(f);
	struct itimerspec now;
	unsigned long flags;

	if (!tf) {
		fd_put(f);
		return f.file ? -EINVAL : -EBADF;
	}
	spin_lock_irqsave_l(&tf->lock, flags, "timerfd");
	now = value_locked(tf);
	spin_unlock_irqrestore_l(&tf->lock, flags, "timerfd");
	fd_put(f);
	return copy_struct_to_user((void __user *)a1, &now);
}
