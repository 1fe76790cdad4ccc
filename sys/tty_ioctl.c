// SPDX-License-Identifier: BSD-2-Clause
/* tty_ioctl.c - settings of terminals: termios, window size, flow control, queue sizes. */
#include "arch/uaccess.h"
#include "lib/string.h"
#include "sys/tty.h"

#define TCGETS 0x5401
#define TCSETS 0x5402
#define TCSETSW 0x5403
#define TCSETSF 0x5404
#define TCSBRK 0x5409
#define TCXONC 0x540a
#define TCFLSH 0x540b
#define TIOCEXCL 0x540c
#define TIOCNXCL 0x540d
#define TIOCOUTQ 0x5411
#define TIOCSTI 0x5412
#define TIOCGWINSZ 0x5413
#define TIOCSWINSZ 0x5414
#define TIOCMGET 0x5415
#define FIONREAD 0x541b
#define TIOCGETD 0x5424
#define TCSBRKP 0x5425

static size_t output_pending(struct tty *tty)
{
	if (tty->driver)
		return tty->driver->pending(tty->line);
	return tty->link ? ldisc_bytes(tty->link) : 0;
}

void tty_drain(struct tty *tty)
{
	while (tty->driver && output_pending(tty) && !signal_pending()) {
		thread_set_state(THREAD_INTERRUPTIBLE);
		schedule_timeout(NSEC_PER_MSEC); /* the FIFO has no interrupt for "all sent" */
	}
	thread_set_state(THREAD_RUNNING);
}

static long get_termios(struct tty *tty, unsigned long arg)
{
	struct termios t;

	mutex_lock(&tty->lock);
	t = tty->termios;
	mutex_unlock(&tty->lock);
	return copy_to_user((void __user *)arg, &t, sizeof(t)) ? -EFAULT : 0;
}

static long set_termios(struct tty *tty, unsigned int cmd, unsigned long arg)
{
	struct termios t, old;
	long ret = tty_check_background(tty, SIGTTOU);

	if (ret)
		return ret;
	if (copy_from_user(&t, (void __user *)arg, sizeof(t)))
		return -EFAULT;
	if (cmd != TCSETS) {
		tty_drain(tty);
		if (signal_pending())
			return -ERESTARTSYS;
	}
	mutex_lock(&tty->lock);
	if (cmd == TCSETSF)
		ldisc_flush_input(tty);
	old = tty->termios;
	tty->termios = t;
	tty->termios.line = 0;
	if (!(t.iflag & IXON))
		tty->stopped = false;
	ldisc_settings_changed(tty, &old);
	mutex_unlock(&tty->lock);
	wake_up_all(&tty->write_wait);
	return 0;
}

static long set_winsize(struct tty *tty, unsigned long arg)
{
	struct winsize w;
	bool changed;

	if (copy_struct_from_user(&w, (void __user *)arg))
		return -EFAULT;
	mutex_lock(&tty->lock);
	changed = memcmp(&w, &tty->winsize, sizeof(w));
	tty->winsize = w;
	if (tty->link)
		tty->link->winsize = w;
	mutex_unlock(&tty->lock);
	if (changed)
		tty_signal_foreground(tty->is_master ? tty->link : tty, SIGWINCH);
	return 0;
}

static long get_winsize(struct tty *tty, unsigned long arg)
{
	struct winsize w;

	mutex_lock(&tty->lock);
	w = tty->winsize;
	mutex_unlock(&tty->lock);
	return copy_struct_to_user((void __user *)arg, &w);
}

static long flow(struct tty *tty, unsigned long arg)
{
	long ret = tty_check_background(tty, SIGTTOU);

	if (ret)
		return ret;
	if (arg > 3)
		return -EINVAL;
	mutex_lock(&tty->lock);
	if (arg < 2)
		tty->stopped = arg == 0;
	else if (tty->termios.cc[arg == 2 ? VSTOP : VSTART])
		tty_put_bytes(tty, &tty->termios.cc[arg == 2 ? VSTOP : VSTART], 1);
	mutex_unlock(&tty->lock);
	wake_up_all(&tty->write_wait);
	return 0;
}

static long flush(struct tty *tty, unsigned long arg)
{
	long ret = tty_check_background(tty, SIGTTOU);

	if (ret)
		return ret;
	if (arg > 2)
		return -EINVAL;
	mutex_lock(&tty->lock);
	if (arg != 1)
		ldisc_flush_input(tty);
	if (arg != 0 && tty->driver)
		tty->driver->flush(tty->line);
	mutex_unlock(&tty->lock);
	wake_up_all(&tty->write_wait);
	return 0;
}

static long type_in(struct tty *tty, unsigned long arg)
{
	u8 c;

	if (current_proc->cred.euid)
		return -EPERM;
	if (copy_from_user(&c, (void __user *)arg, 1))
		return -EFAULT;
	mutex_lock(&tty->lock);
	ldisc_receive(tty, &c, 1);
	mutex_unlock(&tty->lock);
	return 0;
}

long tty_ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
	struct tty *tty = f->private, *end = tty->is_master ? tty->link : tty;
	long ret;

	if (tty_file_dead(f))
		return -EIO;
	ret = tty_job_ioctl(tty, cmd, arg);
	if (ret != -ENOIOCTL)
		return ret;
	switch (cmd) {
	case TCGETS:
		return get_termios(end, arg);
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
		return set_termios(end, cmd, arg);
	case TIOCGWINSZ:
		return get_winsize(end, arg);
	case TIOCSWINSZ:
		return set_winsize(tty, arg);
	case TCXONC:
		return flow(end, arg);
	case TCFLSH:
		return flush(tty, arg);
	case TCSBRK:
	case TCSBRKP:
		tty_drain(tty);
		return signal_pending() ? -ERESTARTSYS : 0;
	case TIOCEXCL:
	case TIOCNXCL:
		tty->excl = cmd == TIOCEXCL;
		return 0;
	case TIOCOUTQ:
		return put_user_u32(output_pending(tty), (u32 __user *)arg);
	case FIONREAD:
		return put_user_u32(ldisc_bytes(tty), (u32 __user *)arg);
	case TIOCSTI:
		return type_in(end, arg);
	case TIOCGETD:
		return put_user_u32(0, (u32 __user *)arg);
	case TIOCMGET:
		return put_user_u32(0x166, (u32 __user *)arg); /* DTR RTS CTS CAR DSR */
	default:
		return -ENOTTY;
	}
}
