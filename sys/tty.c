// SPDX-License-Identifier: BSD-2-Clause
/*
 * tty.c - terminal devices: between the serial driver's interrupts and read, write, poll.
 *
 * Receiving: the interrupt puts characters into the terminal's raw ring and wakes the terminal
 * thread (ttyd); that thread runs the line discipline, which may echo, send signals and wake
 * readers, under the terminal's mutex. So nothing long ever runs in the interrupt. Sending: writers
 * translate under the mutex into the driver's ring and sleep while it is full.
 *
 * Devices: ttyS0, ttyS1 (4:64, 4:65; ttyS1 starts raw: it is the clean channel for results),
 * console (5:1, the first serial line), tty (5:0, the caller's controlling terminal).
 */
#include "sys/tty.h"
#include "arch/init.h"
#include "arch/uaccess.h"
#include "drivers/char/uart.h"
#include "kernel/printk.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sched/kthread.h"
#include "sys/files.h"

static struct tty *serial, **serial_end = &serial; /* set at boot */
static DEFINE_WAIT_QUEUE(ttyd_wait);

static const struct termios default_termios = {
	.iflag = ICRNL | IXON,
	.oflag = OPOST | ONLCR,
	.cflag = 0x1cb2, /* B115200 CS8 CREAD HUPCL CLOCAL */
	.lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
	.cc = { 3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22, 0 },
};

void tty_setup(struct tty *tty)
{
	atomic_set(&tty->refs, 1);
	mutex_init(&tty->lock, RANK_TTY, "tty");
	spin_lock_init(&tty->raw_lock, RANK_CONSOLE, "tty_raw");
	wait_queue_init(&tty->read_wait);
	wait_queue_init(&tty->write_wait);
	tty->termios = default_termios;
	tty->winsize = (struct winsize){ .row = 24, .col = 80 };
}

void tty_put(struct tty *tty)
{
	if (atomic_dec_and_test(&tty->refs) && tty->free)
		tty->free(tty); /* pseudo terminals only: a serial line keeps its first reference */
}

bool tty_file_dead(const struct file *f)
{
	const struct tty *tty = f->private;

	return f->version != TTY_NEVER_DEAD && f->version != READ_ONCE(tty->hangups);
}

/* ---- towards the line ---- */

size_t tty_put_bytes(struct tty *tty, const u8 *p, size_t n)
{
	if (tty->driver)
		return tty->driver->write(tty->line, p, n);
	if (tty->link)
		return pty_put_bytes(tty, p, n);
	early_uart_write((const char *)p, n);
	return n;
}

size_t tty_room(struct tty *tty)
{
	if (tty->driver)
		return tty->driver->write_room(tty->line);
	return tty->link ? pty_room(tty) : 4096;
}

/* ---- from the line ---- */

static void line_receive(void *arg, const u8 *p, size_t n)
{
	struct tty *tty = arg;
	unsigned long flags;

	spin_lock_irqsave_l(&tty->raw_lock, flags, "tty_receive");
	for (size_t i = 0; i < n; i++) {
		if (tty->raw_head - tty->raw_tail == TTY_RAW_BYTES)
			tty->raw_lost++;
		else
			tty->raw[tty->raw_head++ % TTY_RAW_BYTES] = p[i];
	}
	spin_unlock_irqrestore_l(&tty->raw_lock, flags, "tty_receive");
	wake_up_all(&ttyd_wait);
}

static void line_writable(void *arg)
{
	struct tty *tty = arg;

	wake_up_all(&tty->write_wait);
}

static const struct tty_line_ops line_ops = { .receive = line_receive, .writable = line_writable };

static bool take_raw(struct tty *tty, u8 *buf, size_t *n)
{
	unsigned long flags;

	*n = 0;
	spin_lock_irqsave_l(&tty->raw_lock, flags, "tty_take_raw");
	while (tty->raw_tail != tty->raw_head && *n < 32)
		buf[(*n)++] = tty->raw[tty->raw_tail++ % TTY_RAW_BYTES];
	spin_unlock_irqrestore_l(&tty->raw_lock, flags, "tty_take_raw");
	return *n;
}

static bool raw_waiting(void)
{
	for (struct tty *tty = serial; tty; tty = tty->next)
		if (READ_ONCE(tty->raw_head) != READ_ONCE(tty->raw_tail))
			return true;
	return false;
}

static int ttyd(void *unused)
{
	u8 buf[32];
	size_t n;

	for (;;) {
		(void)wait_event_interruptible(&ttyd_wait, raw_waiting());
		for (struct tty *tty = serial; tty; tty = tty->next)
			while (take_raw(tty, buf, &n)) {
				mutex_lock(&tty->lock);
				ldisc_receive(tty, buf, n);
				mutex_unlock(&tty->lock);
			}
	}
	return 0;
}

/* ---- file operations ---- */

static ssize_t tty_read(struct file *f, void __user *buf, size_t n, u64 *pos)
{
	struct tty *tty = f->private;
	int err;

	if (tty_file_dead(f))
		return 0;
	err = tty_check_background(tty, SIGTTIN);
	return err ? err : ldisc_read(tty, f, buf, n);
}

/* One piece of at most 256 bytes. => bytes used, 0: no room */
static ssize_t write_piece(struct tty *tty, const u8 __user *buf, size_t n)
{
	u8 piece[256];
	size_t done;

	n = min(n, sizeof(piece));
	if (copy_from_user(piece, buf, n))
		return -EFAULT;
	mutex_lock(&tty->lock);
	done = ldisc_output(tty, piece, n);
	mutex_unlock(&tty->lock);
	return done;
}

static bool writable_now(struct tty *tty, struct file *f)
{
	return (!READ_ONCE(tty->stopped) && tty_room(tty) >= 8) || tty_file_dead(f) ||
	       (tty->link && !READ_ONCE(tty->link->open_count));
}

static ssize_t tty_write(struct file *f, const void __user *user, size_t n, u64 *pos)
{
	const u8 __user *buf = user;
	struct tty *tty = f->private;
	size_t done = 0;

	if (tty->termios.lflag & TOSTOP) {
		int err = tty_check_background(tty, SIGTTOU);

		if (err)
			return err;
	}
	while (done < n) {
		ssize_t put;
		int err;

		if (tty_file_dead(f) || (tty->link && !READ_ONCE(tty->link->open_count)))
			return done ? (ssize_t)done : -EIO;
		put = write_piece(tty, buf + done, n - done);
		if (put < 0)
			return done ? (ssize_t)done : put;
		done += put;
		if (put)
			continue;
		if (f->flags & O_NONBLOCK)
			return done ? (ssize_t)done : -EAGAIN;
		/*
		 * The driver's wake-up may come just before we sleep: look again every 10 ms at the
		 * latest.
		 */
		err = wait_event_interruptible_until(&tty->write_wait, writable_now(tty, f),
						     ktime_get() + 10 * NSEC_PER_MSEC) < 0
			      ? -ERESTARTSYS
			      : 0;
		if (err)
			return done ? (ssize_t)done : err;
	}
	return done;
}

static u32 tty_poll(struct file *f, struct poll_table *pt)
{
	struct tty *tty = f->private;
	u32 mask = 0;

	poll_wait(pt, &tty->read_wait);
	poll_wait(pt, &tty->write_wait);
	if (ldisc_ready(tty))
		mask |= POLLIN | POLLRDNORM;
	if (tty_file_dead(f) || (tty->link && !READ_ONCE(tty->link->open_count)))
		mask |= POLLHUP | POLLIN | POLLRDNORM;
	if (!READ_ONCE(tty->stopped) && tty_room(tty) >= 8)
		mask |= POLLOUT | POLLWRNORM;
	return mask;
}

static struct tty *find_serial(dev_t dev)
{
	for (struct tty *tty = serial; tty; tty = tty->next)
		if (tty->dev == dev)
			return tty;
	return NULL;
}

static struct tty *controlling_tty(void)
{
	struct tty *tty;

	if (!current_proc)
		return NULL;
	spin_lock(&proc_tree_lock);
	tty = current_proc->tty;
	if (tty)
		tty_get(tty);
	spin_unlock(&proc_tree_lock);
	return tty;
}

static int tty_open(struct inode *inode, struct file *f)
{
	struct tty *tty;
	bool console = inode->rdev == MKDEV(5, 1);

	if (inode->rdev == MKDEV(5, 0)) {
		tty = controlling_tty();
	} else if (MAJOR(inode->rdev) == 136) {
		tty = pty_find_slave(inode->rdev);
	} else {
		tty = console ? serial : find_serial(inode->rdev);
		if (tty)
			tty_get(tty);
	}
	if (!tty)
		return -ENXIO;
	if (tty->link && tty->locked) {
		tty_put(tty);
		return -EIO;
	}
	if (tty->excl && current_proc && current_proc->cred.euid) {
		tty_put(tty);
		return -EBUSY;
	}
	mutex_lock(&tty->lock);
	tty->open_count++;
	f->version = console ? TTY_NEVER_DEAD : tty->hangups;
	mutex_unlock(&tty->lock);
	f->private = tty;
	if (!console && !(f->flags & O_NOCTTY) && inode->rdev != MKDEV(5, 0))
		tty_take_control(tty);
	return 0;
}

static void tty_release(struct file *f)
{
	struct tty *tty = f->private;

	mutex_lock(&tty->lock);
	tty->open_count--;
	mutex_unlock(&tty->lock);
	if (tty->link)
		wake_up_all(&tty->link->read_wait);
	tty_put(tty);
}

const struct file_ops tty_file_ops = {
	.open = tty_open,
	.release = tty_release,
	.read = tty_read,
	.write = tty_write,
	.poll = tty_poll,
	.ioctl = tty_ioctl,
	.llseek = file_no_seek,
};

/* ---- boot ---- */

static struct tty *add_serial(const struct tty_driver *driver, unsigned int line)
{
	struct tty *tty = kzalloc(sizeof(*tty), GFP_KERNEL);

	if (!tty)
		return NULL;
	tty_setup(tty);
	scnprintf(tty->name, sizeof(tty->name), "ttyS%u", line);
	tty->dev = MKDEV(4, 64 + line);
	tty->driver = driver;
	tty->line = line;
	if (line == 1) {
		tty->termios.iflag = tty->termios.oflag = tty->termios.lflag = 0;
	}
	*serial_end = tty;
	serial_end = &tty->next;
	devfs_node(tty->name, S_IFCHR | 0660, tty->dev);
	return tty;
}

void tty_init(void)
{
	const struct tty_driver *driver = &uart_driver;

	if (uart_init())
		pr_warn("tty: no serial port: the console cannot be read");
	for (unsigned int line = 0; line < driver->nr_lines; line++)
		if (driver->present(line) && !add_serial(driver, line))
			pr_warn("tty: no memory for ttyS%u", line);
	if (!serial)
		add_serial(NULL, 0);
	chrdev_register(4, 64, 4, &tty_file_ops, "ttyS");
	chrdev_register(5, 0, 2, &tty_file_ops, "tty");
	devfs_node("console", S_IFCHR | 0600, MKDEV(5, 1));
	devfs_node("tty", S_IFCHR | 0666, MKDEV(5, 0));
	pty_init();
	if (!kthread_run(ttyd, NULL, -1, "ttyd"))
		pr_warn("tty: no memory for the terminal thread: no input");
	for (struct tty *tty = serial; tty; tty = tty->next)
		if (tty->driver)
			tty->driver->connect(tty->line, &line_ops, tty);
}
