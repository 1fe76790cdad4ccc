// SPDX-License-Identifier: BSD-2-Clause
/*
 * signalfd.c - blocked signals as records to read. The file holds a set; the signals are those of
 * whoever reads.
 *
 * poll and epoll leave entries in the wait queue of the process that asks, and an epoll can outlive
 * that process (a child has it). So the file pins every process that ever polled it: entries are
 * gone before the file is, and the file before the pins.
 */
#include "arch/uaccess.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/syscall.h"

struct signalfd_info {
	u32 signo;
	s32 error, code;
	u32 pid, uid;
	s32 fd;
	u32 tid, band, overrun, trapno;
	s32 status, value_int;
	u64 ptr, utime, stime, addr;
	u8 pad[48];
};
_Static_assert(sizeof(struct signalfd_info) == 128, "ABI");

struct pin {
	struct process *p;
	struct pin *next;
};
struct signalfd {
	sigset_t set;
	spinlock_t lock; /* pins */
	struct pin *pins;
};

static sigset_t *set_of(struct file *f)
{
	return &((struct signalfd *)f->private)->set;
}

/* => lock */
static bool pinned(const struct signalfd *s, const struct process *p)
{
	for (const struct pin *pin = s->pins; pin; pin = pin->next)
		if (pin->p == p)
			return true;
	return false;
}

/* => false: no memory, nothing may be queued */
static bool pin_current(struct signalfd *s)
{
	struct pin *pin;
	bool there;

	spin_lock(&s->lock);
	there = pinned(s, current_proc);
	spin_unlock(&s->lock);
	if (there)
		return true;
	pin = kmalloc(sizeof(*pin), GFP_KERNEL);
	if (!pin)
		return false;
	pin->p = current_proc;
	spin_lock(&s->lock);
	there = pinned(s, current_proc);
	if (!there) {
		atomic_inc(&pin->p->refs);
		pin->next = s->pins;
		s->pins = pin;
	}
	spin_unlock(&s->lock);
	if (there)
		kfree(pin);
	return true;
}

static int dequeue(sigset_t set, struct ksiginfo *info)
{
	struct process *p = current_proc;
	int sig;

	proc_lock(p);
	sig = signal_dequeue(current_task(), ~set, info);
	if (sig)
		signal_recalc(current_task());
	proc_unlock(p);
	return sig;
}

static sigset_t pending_in(sigset_t set)
{
	return (READ_ONCE(current_task()->pending.set) | READ_ONCE(current_proc->pending.set)) &
	       set;
}

static ssize_t signalfd_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	sigset_t set = *set_of(f);
	size_t done = 0;

	if (n < sizeof(struct signalfd_info))
		return -EINVAL;
	while (n - done >= sizeof(struct signalfd_info)) {
		struct signalfd_info out;
		struct ksiginfo info;

		if (!dequeue(set, &info)) {
			int err;

			if (done)
				break;
			if (f->flags & O_NONBLOCK)
				return -EAGAIN;
			err = wait_event_interruptible(&current_proc->signalfd_wait,
						       pending_in(set));
			if (err)
				return err;
			continue;
		}
		memset(&out, 0, sizeof(out));
		out.signo = info.signo;
		out.error = info.error;
		out.code = info.code;
		out.pid = info.pid;
		out.uid = info.uid;
		out.status = info.status;
		out.utime = info.utime;
		out.stime = info.stime;
		out.ptr = info.value;
		out.value_int = info.value;
		if (info.code == SI_TIMER) {
			out.tid = info.pid;
			out.overrun = info.uid;
		}
		if (copy_to_user((char __user *)buf + done, &out, sizeof(out)))
			return done ? (ssize_t)done : -EFAULT;
		done += sizeof(out);
	}
	return done;
}

static u32 signalfd_poll(struct file *f, struct poll_table *pt)
{
	if (pt && pt->queue && pin_current(f->private))
		poll_wait(pt, &current_proc->signalfd_wait);
	return pending_in(*set_of(f)) ? POLLIN | POLLRDNORM : 0;
}

static void signalfd_release(struct file *f)
{
	struct signalfd *s = f->private;
	struct pin *pin;

	while ((pin = s->pins)) {
		s->pins = pin->next;
		proc_put(pin->p);
		kfree(pin);
	}
	kfree(s);
}

static const struct file_ops signalfd_ops = {
	.read = signalfd_read,
	.poll = signalfd_poll,
	.release = signalfd_release,
	.llseek = file_no_seek,
};

static long do_signalfd(int fd, u64 user, u64 size, u32 flags)
{
	struct signalfd *s;
	sigset_t mask;
	struct file *f;
	int err = signal_mask_arg(user, size, &mask);

	if (err)
		return err;
	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	mask &= ~SIG_UNBLOCKABLE;
	if (fd != -1) {
		struct fd old = fd_get(fd);

		if (!old.file)
			return -EBADF;
		err = old.file->ops == &signalfd_ops ? fd : -EINVAL;
		if (err >= 0)
			*set_of(old.file) = mask;
		fd_put(old);
		if (err >= 0)
			wake_up_all(&current_proc->signalfd_wait);
		return err;
	}
	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	s->set = mask;
	spin_lock_init(&s->lock, RANK_LEAF, "signalfd");
	f = anon_file("[signalfd]", &signalfd_ops, s, O_RDWR | (flags & O_NONBLOCK), 0600);
	if (IS_ERR(f)) {
		kfree(s);
		return PTR_ERR(f);
	}
	return fd_new(f, flags & O_CLOEXEC);
}

SYSCALL(signalfd)
{
	return do_signalfd(a0, a1, a2, 0);
}

SYSCALL(signalfd4)
{
	return do_signalfd(a0, a1, a2, a3);
}
