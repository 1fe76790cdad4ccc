// SPDX-License-Identifier: BSD-2-Clause
/*
 * socket.c - socketpair(AF_UNIX); every other socket is refused.
 *
 * A stream pair is two pipes crossed over. A datagram or seqpacket pair keeps message boundaries:
 * each direction is a queue of messages. Both hide behind the same file operations. No names, no
 * descriptors in messages.
 */
#include "arch/uaccess.h"
#include "mm/kmem/slab.h"
#include "sys/files.h"
#include "sys/pipe.h"
#include "sys/process.h"
#include "sys/syscall.h"

#define AF_UNIX 1
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOCK_SEQPACKET 5
#define SOCK_TYPE_MASK 15
#define MSG_PEEK 2
#define MSG_TRUNC 0x20
#define MSG_DONTWAIT 0x40
#define MSG_WAITALL 0x100
#define MSG_NOSIGNAL 0x4000
#define QUEUE_BYTES 212992u

struct message {
	struct list_head node;
	size_t bytes;
	u8 data[];
};
struct direction { /* datagrams one way */
	struct mutex lock;
	struct list_head messages;
	size_t bytes;
	struct wait_queue readable, writable;
	bool reader_gone, writer_gone;
};
struct pair {
	atomic_t refs;
	struct direction dir[2];
};
struct sock {
	int type;
	struct file *rx, *tx; /* stream: ends of two pipes */
	bool rx_shut, tx_shut;
	struct pair *pair; /* datagrams */
	struct direction *in, *out;
};

static const struct file_ops socket_ops;

static void follow_flags(struct file *pipe, const struct file *f)
{
	pipe->flags = (pipe->flags & ~O_NONBLOCK) | (f->flags & O_NONBLOCK);
}

/* ---- datagrams ---- */

static ssize_t dgram_read(struct sock *s, bool nonblock, void __user *buf, size_t n, bool peek,
			  size_t *full)
{
	struct direction *d = s->in;
	struct message *m;
	ssize_t ret;

	for (;;) {
		mutex_lock(&d->lock);
		m = list_first_entry_or_null(&d->messages, struct message, node);
		if (m)
			break;
		mutex_unlock(&d->lock);
		if (READ_ONCE(d->writer_gone) || READ_ONCE(d->reader_gone))
			return s->type == SOCK_SEQPACKET || d->reader_gone ? 0
			       : nonblock				   ? -EAGAIN
									   : -ECONNRESET;
		if (nonblock)
			return -EAGAIN;
		ret = wait_event_interruptible(&d->readable, !list_empty(&d->messages) ||
								     READ_ONCE(d->writer_gone) ||
								     READ_ONCE(d->reader_gone));
		if (ret)
			return ret;
	}
	ret = min(n, m->bytes);
	*full = m->bytes;
	if (copy_to_user(buf, m->data, ret))
		ret = -EFAULT;
	if (!peek) {
		list_del(&m->node);
		d->bytes -= m->bytes;
	}
	mutex_unlock(&d->lock);
	if (!peek) {
		kfree(m);
		wake_up_all(&d->writable);
	}
	return ret;
}

static ssize_t dgram_write(struct sock *s, bool nonblock, const void __user *buf, size_t n)
{
	struct direction *d = s->out;
	struct message *m;
	int err;

	if (n > QUEUE_BYTES - sizeof(*m))
		return -EMSGSIZE;
	m = kmalloc(sizeof(*m) + n, GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	m->bytes = n;
	err = copy_from_user(m->data, buf, n) ? -EFAULT : 0;
	while (!err) {
		if (READ_ONCE(d->reader_gone)) {
			err = s->type == SOCK_SEQPACKET ? -EPIPE : -ECONNREFUSED;
			break;
		}
		mutex_lock(&d->lock);
		if (!d->bytes || d->bytes + n <= QUEUE_BYTES) {
			d->bytes += n;
			list_add_tail(&m->node, &d->messages);
			mutex_unlock(&d->lock);
			wake_up_all(&d->readable);
			return n;
		}
		mutex_unlock(&d->lock);
		err = nonblock ? -EAGAIN
			       : wait_event_interruptible(&d->writable,
							  READ_ONCE(d->bytes) + n <= QUEUE_BYTES ||
								  READ_ONCE(d->reader_gone));
	}
	kfree(m);
	return err;
}

static void dgram_close(struct sock *s)
{
	struct pair *pair = s->pair;
	struct message *m, *next;

	WRITE_ONCE(s->in->reader_gone, true);
	WRITE_ONCE(s->out->writer_gone, true);
	wake_up_all(&s->in->writable);
	wake_up_all(&s->out->readable);
	if (!atomic_dec_and_test(&pair->refs))
		return;
	for (int i = 0; i < 2; i++)
		list_for_each_entry_safe(m, next, &pair->dir[i].messages, node)
			kfree(m);
	kfree(pair);
}

/* ---- both kinds ---- */

static ssize_t sock_receive(struct file *f, void __user *buf, size_t n, u32 flags, size_t *full)
{
	struct sock *s = f->private;
	bool nonblock = (f->flags & O_NONBLOCK) || (flags & MSG_DONTWAIT);
	struct file *pipe;

	*full = 0;
	if (s->pair)
		return dgram_read(s, nonblock, buf, n, flags & MSG_PEEK, full);
	if (READ_ONCE(s->rx_shut))
		return 0;
	pipe = s->rx;
	follow_flags(pipe, f);
	if (nonblock)
		pipe->flags |= O_NONBLOCK;
	return pipe->ops->read(pipe, buf, n, NULL);
}

static ssize_t sock_send(struct file *f, const void __user *buf, size_t n, u32 flags)
{
	struct sock *s = f->private;
	bool nonblock = (f->flags & O_NONBLOCK) || (flags & MSG_DONTWAIT);
	struct file *pipe;

	if (s->pair)
		return dgram_write(s, nonblock, buf, n);
	if (READ_ONCE(s->tx_shut))
		return -EPIPE;
	pipe = s->tx;
	follow_flags(pipe, f);
	if (nonblock)
		pipe->flags |= O_NONBLOCK;
	return pipe->ops->write(pipe, buf, n, NULL);
}

static ssize_t sock_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	size_t full;

	return sock_receive(f, buf, n, 0, &full);
}

static ssize_t sock_write(struct file *f, const void __user *buf, size_t n, u64 *pos)
{
	return sock_send(f, buf, n, 0);
}

static u32 sock_poll(struct file *f, struct poll_table *pt)
{
	struct sock *s = f->private;
	u32 mask = 0, rx = POLLIN | POLLRDNORM | POLLHUP, tx = POLLERR;

	if (!s->pair) {
		u32 m = s->rx->ops->poll(s->rx, pt);

		if (!s->rx_shut)
			rx = m;
		m = s->tx->ops->poll(s->tx, pt);
		if (!s->tx_shut)
			tx = m;
		mask = (rx & (POLLIN | POLLRDNORM)) | (tx & (POLLOUT | POLLWRNORM));
		if (rx & POLLHUP)
			mask |= POLLIN | POLLRDNORM | (tx & POLLERR ? POLLHUP | POLLOUT : 0);
		return mask;
	}
	poll_wait(pt, &s->in->readable);
	poll_wait(pt, &s->out->writable);
	if (!list_empty(&s->in->messages))
		mask |= POLLIN | POLLRDNORM;
	if (READ_ONCE(s->in->writer_gone))
		mask |= POLLIN | POLLRDNORM | POLLHUP;
	if (READ_ONCE(s->out->bytes) < QUEUE_BYTES / 2)
		mask |= POLLOUT | POLLWRNORM;
	return mask;
}

static long sock_ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
	struct sock *s = f->private;

	return s->rx ? s->rx->ops->ioctl(s->rx, cmd, arg) : -ENOTTY;
}

static void sock_free(struct sock *s)
{
	if (s->rx)
		file_put(s->rx);
	if (s->tx)
		file_put(s->tx);
	if (s->pair)
		dgram_close(s);
	kfree(s);
}

static void sock_release(struct file *f)
{
	sock_free(f->private);
}

static const struct file_ops socket_ops = {
	.read = sock_read,
	.write = sock_write,
	.poll = sock_poll,
	.ioctl = sock_ioctl,
	.release = sock_release,
	.llseek = file_no_seek,
};

/* ---- making a pair ---- */

static void direction_init(struct direction *d)
{
	mutex_init(&d->lock, RANK_PIPE, "socket");
	list_init(&d->messages);
	wait_queue_init(&d->readable);
	wait_queue_init(&d->writable);
}

static int make_ends(int type, struct sock *s[2])
{
	struct file *ab[2], *ba[2];
	struct pair *pair;
	int err;

	if (type == SOCK_STREAM) {
		err = pipe_files(ab, 0);
		if (err)
			return err;
		err = pipe_files(ba, 0);
		if (err) {
			file_put(ab[0]);
			file_put(ab[1]);
			return err;
		}
		s[0]->tx = ab[1];
		s[1]->rx = ab[0];
		s[1]->tx = ba[1];
		s[0]->rx = ba[0];
		return 0;
	}
	pair = kzalloc(sizeof(*pair), GFP_KERNEL);
	if (!pair)
		return -ENOMEM;
	atomic_set(&pair->refs, 2);
	for (int i = 0; i < 2; i++) {
		direction_init(&pair->dir[i]);
		s[i]->pair = pair;
		s[i]->in = &pair->dir[i];
		s[i]->out = &pair->dir[1 - i];
	}
	return 0;
}

static int make_files(int type, u32 flags, struct file *files[2])
{
	struct sock *s[2] = { kzalloc(sizeof(struct sock), GFP_KERNEL),
			      kzalloc(sizeof(struct sock), GFP_KERNEL) };
	int err = -ENOMEM;

	if (!s[0] || !s[1])
		goto fail;
	s[0]->type = s[1]->type = type;
	err = make_ends(type, s);
	if (err)
		goto fail;
	for (int i = 0; i < 2; i++) {
		files[i] = anon_file("socket", &socket_ops, s[i], O_RDWR | flags, S_IFSOCK | 0777);
		if (IS_ERR(files[i])) {
			err = PTR_ERR(files[i]);
			if (i)
				file_put(files[0]);
			else
				sock_free(s[0]);
			sock_free(s[1]);
			return err;
		}
	}
	return 0;
fail:
	kfree(s[0]);
	kfree(s[1]);
	return err;
}

SYSCALL(socketpair)
{
	int type = a1 & SOCK_TYPE_MASK, fds[2], err;
	u32 flags = a1 & ~(u64)SOCK_TYPE_MASK;
	struct file *files[2] = { NULL, NULL };

	if (flags & ~(O_NONBLOCK | O_CLOEXEC))
		return -EINVAL;
	if (a0 != AF_UNIX)
		return a0 == 2 || a0 == 10 ? -EOPNOTSUPP
					   : -EAFNOSUPPORT; /* INET, INET6: no pairs there */
	if (type != SOCK_STREAM && type != SOCK_DGRAM && type != SOCK_SEQPACKET)
		return -ESOCKTNOSUPPORT;
	if (a2 > 1)
		return -EPROTONOSUPPORT;
	err = make_files(type, flags & O_NONBLOCK, files);
	if (err)
		return err;
	fds[0] = fd_alloc(0, flags & O_CLOEXEC);
	fds[1] = fds[0] < 0 ? fds[0] : fd_alloc(0, flags & O_CLOEXEC);
	err = min(fds[0], fds[1]);
	if (err >= 0)
		err = copy_to_user((void __user *)a3, fds, sizeof(fds)) ? -EFAULT : 0;
	if (!err) {
		fd_install(fds[0], files[0]);
		fd_install(fds[1], files[1]);
		return 0;
	}
	for (int i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			fd_cancel(fds[i]);
		file_put(files[i]);
	}
	return err;
}

/* ---- the rest ---- */

SYSCALL(socket)
{
	return -EAFNOSUPPORT;
}

/* => 0 and f (fd_put), or -EBADF, -ENOTSOCK */
static int socket_of(int fd, struct fd *f)
{
	*f = fd_get(fd);
	if (!f->file)
		return -EBADF;
	if (f->file->ops == &socket_ops)
		return 0;
	fd_put(*f);
	return -ENOTSOCK;
}

static long refuse(int fd, int error)
{
	struct fd f;
	int err = socket_of(fd, &f);

	if (err)
		return err;
	fd_put(f);
	return error;
}

#define REFUSED(name, error)                                                                       \
	SYSCALL(name)                                                                              \
	{                                                                                          \
		return refuse(a0, error);                                                          \
	}
REFUSED(connect, -EISCONN)
REFUSED(bind, -EINVAL)
REFUSED(listen, -EOPNOTSUPP)
REFUSED(accept, -EOPNOTSUPP)
REFUSED(accept4, -EOPNOTSUPP)

SYSCALL(sendto)
{
	struct fd f;
	long ret = socket_of(a0, &f);

	if (ret)
		return ret;
	ret = a4 && a5 ? -EISCONN : sock_send(f.file, (void __user *)a1, a2, a3);
	fd_put(f);
	return ret;
}

SYSCALL(recvfrom)
{
	struct fd f;
	size_t full;
	long ret = socket_of(a0, &f);

	if (ret)
		return ret;
	ret = sock_receive(f.file, (void __user *)a1, a2, a3, &full);
	if (ret >= 0 && (a3 & MSG_TRUNC) && full > (size_t)ret)
		ret = full;
	fd_put(f);
	if (ret >= 0 && a5 && put_user_u32(0, (u32 __user *)a5))
		return -EFAULT;
	return ret;
}

struct user_msghdr {
	u64 name;
	u32 namelen, pad;
	u64 iov, iovlen, control, controllen;
	u32 flags, pad2;
};
struct user_iovec {
	u64 base, len;
};

/* Streams: one piece after the other; datagrams: only messages in one piece. */
static long do_message(int fd, u64 user, u32 flags, bool send)
{
	struct user_msghdr h;
	struct fd f;
	long total = 0, ret = socket_of(fd, &f);

	if (ret)
		return ret;
	if (copy_struct_from_user(&h, (void __user *)user))
		ret = -EFAULT;
	else if (h.iovlen > 1024)
		ret = -EMSGSIZE;
	else if (send && h.controllen)
		ret = -EOPNOTSUPP;
	else if (h.iovlen > 1 && ((struct sock *)f.file->private)->pair)
		ret = -EOPNOTSUPP;
	for (u64 i = 0; !ret && i < h.iovlen; i++) {
		struct user_iovec v;
		size_t full;
		long n;

		if (copy_struct_from_user(&v, (struct user_iovec __user *)h.iov + i)) {
			ret = -EFAULT;
			break;
		}
		n = send ? sock_send(f.file, (void __user *)v.base, v.len, flags)
			 : sock_receive(f.file, (void __user *)v.base, v.len,
					total ? flags | MSG_DONTWAIT : flags, &full);
		if (n < 0) {
			ret = n;
			break;
		}
		total += n;
		if ((u64)n < v.len)
			break;
	}
	if (!send && !ret) {
		h.namelen = 0;
		h.controllen = 0;
		h.flags = 0;
		ret = copy_struct_to_user((void __user *)user, &h);
	}
	fd_put(f);
	return total ? total : ret;
}

SYSCALL(sendmsg)
{
	return do_message(a0, a1, a2, true);
}

SYSCALL(recvmsg)
{
	return do_message(a0, a1, a2, false);
}

SYSCALL(shutdown)
{
	struct sock *s;
	struct fd f;
	long ret = socket_of(a0, &f);
	u32 how = a1;

	if (ret)
		return ret;
	s = f.file->private;
	if (how > 2) {
		ret = -EINVAL;
	} else if (s->pair) {
		if (how != 1)
			WRITE_ONCE(s->in->reader_gone, true);
		if (how != 0)
			WRITE_ONCE(s->out->writer_gone, true);
		wake_up_all(&s->in->writable);
		wake_up_all(&s->out->readable);
	} else {
		if (how != 1 && !xchg(&s->rx_shut, true))
			pipe_shutdown(s->rx);
		if (how != 0 && !xchg(&s->tx_shut, true))
			pipe_shutdown(s->tx);
	}
	fd_put(f);
	return ret;
}

static long put_name(int fd, u64 name, u64 len)
{
	struct fd f;
	u32 room;
	u16 family = AF_UNIX;
	long ret = socket_of(fd, &f);

	if (ret)
		return ret;
	fd_put(f);
	if (get_user_u32(&room, (u32 __user *)len) ||
	    copy_to_user((void __user *)name, &family, min_t(u32, room, 2)))
		return -EFAULT;
	return put_user_u32(2, (u32 __user *)len);
}

SYSCALL(getsockname)
{
	return put_name(a0, a1, a2);
}

SYSCALL(getpeername)
{
	return put_name(a0, a1, a2);
}

SYSCALL(setsockopt)
{
	return refuse(a0, 0);
}

SYSCALL(getsockopt)
{
	struct fd f;
	long ret = socket_of(a0, &f);
	u32 value = 0, room;

	if (ret)
		return ret;
	if (a1 == 1 && a2 == 3) /* SO_TYPE */
		value = ((struct sock *)f.file->private)->type;
	else if (a1 == 1 && (a2 == 7 || a2 == 8)) /* buffer sizes */
		value = QUEUE_BYTES;
	fd_put(f);
	if (get_user_u32(&room, (u32 __user *)a4) ||
	    copy_to_user((void __user *)a3, &value, min_t(u32, room, 4)))
		return -EFAULT;
	return put_user_u32(min_t(u32, room, 4), (u32 __user *)a4);
}
