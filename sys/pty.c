// SPDX-License-Identifier: BSD-2-Clause
/*
 * pty.c - pseudo terminals: /dev/ptmx makes a pair, the slave is /dev/pts/N (136:N).
 *
 * What the master writes is what a serial line would receive: it goes through the slave's line
 * discipline. What the slave (or its echo) writes lands in the master's raw ring, which the master
 * reads as it is. So only one mutex is involved, the slave's; the ring has its spinlock.
 *
 * A pair lives until both halves are closed. When the master goes the slave is hung up.
 */
#include "arch/uaccess.h"
#include "lib/printf.h"
#include "mm/kmem/slab.h"
#include "sys/tty.h"

#define NR_PTYS 64
#define TIOCGPTN 0x80045430u
#define TIOCSPTLCK 0x40045431u
#define TIOCGPTLCK 0x80045439u
#define FIONREAD 0x541b

struct pty_pair {
	struct tty master, slave;
	atomic_t halves;
};

static struct pty_pair *pairs[NR_PTYS];
static DEFINE_MUTEX(pty_lock, RANK_TTY);

static struct pty_pair *pair_of(struct tty *tty)
{
	return tty->is_master ? container_of(tty, struct pty_pair, master)
			      : container_of(tty, struct pty_pair, slave);
}

static void half_free(struct tty *tty)
{
	struct pty_pair *pair = pair_of(tty);

	if (atomic_dec_and_test(&pair->halves))
		kfree(pair);
}

/* ---- slave to master ---- */

size_t pty_put_bytes(struct tty *tty, const u8 *p, size_t n)
{
	struct tty *master = tty->link;
	unsigned long flags;
	size_t done = 0;

	while (done < n) {
		size_t batch = min_t(size_t, n - done, 32), i;

		spin_lock_irqsave_l(&master->raw_lock, flags, "pty_put");
		for (i = 0; i < batch && master->raw_head - master->raw_tail < TTY_RAW_BYTES; i++)
			master->raw[master->raw_head++ % TTY_RAW_BYTES] = p[done + i];
		spin_unlock_irqrestore_l(&master->raw_lock, flags, "pty_put");
		done += i;
		if (i < batch)
			break;
	}
	if (done)
		wake_up_all(&master->read_wait);
	return done;
}

size_t pty_room(struct tty *tty)
{
	struct tty *master = tty->link;

	return TTY_RAW_BYTES - (READ_ONCE(master->raw_head) - READ_ONCE(master->raw_tail));
}

void pty_flush_output(struct tty *slave)
{
	struct tty *master = slave->link;
	unsigned long flags;

	spin_lock_irqsave_l(&master->raw_lock, flags, "pty_flush");
	master->raw_tail = master->raw_head;
	spin_unlock_irqrestore_l(&master->raw_lock, flags, "pty_flush");
}

static size_t take(struct tty *master, u8 *buf, size_t n)
{
	unsigned long flags;
	size_t got = 0;

	spin_lock_irqsave_l(&master->raw_lock, flags, "pty_take");
	while (got < n && master->raw_tail != master->raw_head)
		buf[got++] = master->raw[master->raw_tail++ % TTY_RAW_BYTES];
	spin_unlock_irqrestore_l(&master->raw_lock, flags, "pty_take");
	return got;
}

static bool master_has_data(const struct tty *m)
{
	return READ_ONCE(m->raw_head) != READ_ONCE(m->raw_tail);
}

/* The slave was open once and is closed now. */
static bool slave_gone(const struct tty *m)
{
	return m->link->index < 0 && !READ_ONCE(m->link->open_count);
}

static ssize_t ptm_read(struct file *f, void __user *user, size_t n, u64 *pos)
{
	struct tty *m = f->private;
	size_t done = 0;
	u8 chunk[32];

	if (!n)
		return 0;
	while (!master_has_data(m)) {
		int err;

		if (slave_gone(m))
			return -EIO;
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&m->read_wait, master_has_data(m) || slave_gone(m));
		if (err)
			return err;
	}
	while (done < n) {
		size_t got = take(m, chunk, min(n - done, sizeof(chunk)));

		if (!got)
			break;
		if (copy_to_user((u8 __user *)user + done, chunk, got))
			return done ? (ssize_t)done : -EFAULT;
		done += got;
	}
	wake_up_all(&m->link->write_wait);
	return done;
}

static size_t slave_room(const struct tty *slave)
{
	return TTY_INPUT_BYTES - (READ_ONCE(slave->head) - READ_ONCE(slave->tail));
}

static ssize_t ptm_write(struct file *f, const void __user *user, size_t n, u64 *pos)
{
	struct tty *m = f->private, *slave = m->link;
	size_t done = 0;
	u8 chunk[64];

	while (done < n) {
		size_t part = min(n - done, sizeof(chunk));

		/*
		 * A canonical line that fills the ring is discarded by the discipline: do not wait
		 * for it.
		 */
		if (!(slave->termios.lflag & ICANON) && slave_room(slave) < sizeof(chunk) * 2) {
			int err;

			if (f->flags & O_NONBLOCK)
				return done ? (ssize_t)done : -EAGAIN;
			err = wait_event_interruptible(&m->write_wait,
						       slave_room(slave) >= sizeof(chunk) * 2);
			if (err)
				return done ? (ssize_t)done : err;
		}
		if (copy_from_user(chunk, (const u8 __user *)user + done, part))
			return done ? (ssize_t)done : -EFAULT;
		mutex_lock(&slave->lock);
		ldisc_receive(slave, chunk, part);
		mutex_unlock(&slave->lock);
		done += part;
	}
	return done;
}

static u32 ptm_poll(struct file *f, struct poll_table *pt)
{
	struct tty *m = f->private;
	u32 mask = POLLOUT | POLLWRNORM;

	poll_wait(pt, &m->read_wait);
	if (master_has_data(m))
		mask |= POLLIN | POLLRDNORM;
	if (slave_gone(m))
		mask |= POLLHUP;
	return mask;
}

static long ptm_ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
	struct tty *m = f->private;
	u32 v;

	switch (cmd) {
	case TIOCGPTN:
		return put_user_u32(m->index, (u32 __user *)arg);
	case TIOCSPTLCK:
		if (get_user_u32(&v, (u32 __user *)arg))
			return -EFAULT;
		m->link->locked = v;
		return 0;
	case TIOCGPTLCK:
		return put_user_u32(m->link->locked, (u32 __user *)arg);
	case FIONREAD:
		return put_user_u32(m->raw_head - m->raw_tail, (u32 __user *)arg);
	default:
		return tty_ioctl(f, cmd, arg);
	}
}

static struct pty_pair *new_pair(int index)
{
	struct pty_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL);

	if (!pair)
		return NULL;
	atomic_set(&pair->halves, 2);
	tty_setup(&pair->master);
	tty_setup(&pair->slave);
	pair->master.is_master = true;
	pair->master.index = index;
	pair->master.termios.lflag = pair->master.termios.iflag = pair->master.termios.oflag = 0;
	pair->slave.locked = true;
	pair->slave.winsize = (struct winsize){ 0 };
	pair->slave.dev = MKDEV(136, index);
	scnprintf(pair->slave.name, sizeof(pair->slave.name), "pts/%d", index);
	pair->master.link = &pair->slave;
	pair->slave.link = &pair->master;
	pair->master.free = pair->slave.free = half_free;
	return pair;
}

/* The slave's device node comes and goes with the pair, whoever the caller is. => pty_lock */
static void slave_node(int index, bool make)
{
	bool before = current->proc && current_task()->as_kernel;
	char name[16];

	scnprintf(name, sizeof(name), "pts/%d", index);
	if (current->proc)
		current_task()->as_kernel = true;
	if (make)
		/* the node is root's: let another user reach the slave he has just made */
		devfs_node(name, S_IFCHR | (current_proc->cred.euid ? 0666 : 0620),
			   MKDEV(136, index));
	else
		devfs_remove(name);
	if (current->proc)
		current_task()->as_kernel = before;
}

static int ptm_open(struct inode *inode, struct file *f)
{
	struct pty_pair *pair;
	int index, err = -ENOSPC;

	mutex_lock(&pty_lock);
	for (index = 0; index < NR_PTYS && pairs[index]; index++)
		;
	if (index < NR_PTYS) {
		pair = new_pair(index);
		err = pair ? 0 : -ENOMEM;
	}
	if (!err) {
		pairs[index] = pair;
		pair->master.open_count = 1;
		f->private = &pair->master;
		f->version = TTY_NEVER_DEAD;
		slave_node(index, true);
	}
	mutex_unlock(&pty_lock);
	return err;
}

static void ptm_release(struct file *f)
{
	struct tty *m = f->private, *slave = m->link;

	mutex_lock(&pty_lock);
	pairs[m->index] = NULL;
	slave_node(m->index, false);
	m->open_count = 0;
	mutex_unlock(&pty_lock);
	tty_hangup(slave);
	tty_put(slave);
	tty_put(m);
}

struct tty *pty_find_slave(dev_t dev)
{
	u32 index = MINOR(dev);
	struct tty *slave = NULL;

	mutex_lock(&pty_lock);
	if (index < NR_PTYS && pairs[index]) {
		slave = &pairs[index]->slave;
		slave->index = -1; /* was open */
		tty_get(slave);
	}
	mutex_unlock(&pty_lock);
	return slave;
}

static const struct file_ops ptm_ops = {
	.open = ptm_open,
	.release = ptm_release,
	.read = ptm_read,
	.write = ptm_write,
	.poll = ptm_poll,
	.ioctl = ptm_ioctl,
	.llseek = file_no_seek,
};

void pty_init(void)
{
	chrdev_register(5, 2, 1, &ptm_ops, "ptmx");
	chrdev_register(136, 0, NR_PTYS, &tty_file_ops, "pts");
	devfs_node("ptmx", S_IFCHR | 0666, MKDEV(5, 2));
	devfs_node("pts/", S_IFDIR | 0755, 0);
}
