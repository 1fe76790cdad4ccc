/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tty.h - terminals: a line discipline between a driver (or the other half of a pseudo terminal) and programs.
 *
 * Locks: (T) tty->lock (mutex, RANK_TTY)  (r) tty->raw_lock (IRQs off): ring of received characters
 */
#ifndef SYS_TTY_H
#define SYS_TTY_H

#include "drivers/char/tty_driver.h"
#include "fs/vfs.h"
#include "sys/process.h"

struct termios { /* kernel form of Linux x86: TCGETS */
	u32 iflag, oflag, cflag, lflag;
	u8 line;
	u8 cc[19];
};
enum { VINTR, VQUIT, VERASE, VKILL, VEOF, VTIME, VMIN, VSWTC, VSTART, VSTOP, VSUSP, VEOL, VREPRINT, VDISCARD, VWERASE,
       VLNEXT, VEOL2 };
struct winsize {
	u16 row, col, xpixel, ypixel;
};

#define TTY_INPUT_BYTES 4096 /* of cooked input; a power of two */
#define TTY_RAW_BYTES 2048

struct tty {
	atomic_t refs;
	char name[12];
	dev_t dev;
	struct mutex lock;
	struct termios termios;          /* (T) */
	struct winsize winsize;          /* (T) */
	struct wait_queue read_wait, write_wait;
	/* input after the line discipline (T): bytes [tail, head); complete lines end before canon_head */
	u8 input[TTY_INPUT_BYTES];
	u8 line_end[TTY_INPUT_BYTES / 8]; /* bit: this byte ends a line (or is EOF) */
	u32 head, tail, canon_head;
	u32 column, canon_column;        /* cursor, and where the line being typed began (T) */
	bool lnext, stopped, hung_up, echo_erasing; /* (T) ^V pending, ^S */
	/* characters as received (r), filled by the driver's interrupt */
	spinlock_t raw_lock;
	u8 raw[TTY_RAW_BYTES];
	u32 raw_head, raw_tail;
	bool raw_overflow;
	const struct tty_driver *driver; /* NULL: pseudo terminal */
	struct tty *link;                /* the other half */
	bool is_master, locked, excl;
	int pty_index, open_count;
	pid_t pgrp, session;             /* foreground group, session it controls (t) */
	void *private;
};

void tty_get(struct tty *tty);
void tty_put(struct tty *tty);
void tty_session_end(struct process *leader); /* SIGHUP to the foreground group, nobody has the terminal any more */
void tty_hangup(struct tty *tty);
void tty_init(void);                       /* thread context: ttyS0, ttyS1, console, tty, ptmx */

/* ldisc.c. => tty->lock */
void ldisc_reset(struct tty *tty);
void ldisc_receive(struct tty *tty, const u8 *p, size_t n);
ssize_t ldisc_read(struct tty *tty, struct file *f, u8 __user *buf, size_t n); /* takes the lock itself */
size_t ldisc_output(struct tty *tty, const u8 *p, size_t n); /* OPOST processing; bytes used */
bool ldisc_input_ready(struct tty *tty);
u32 ldisc_input_bytes(struct tty *tty);
void ldisc_flush_input(struct tty *tty);
/* tty.c for the discipline */
void tty_write_raw(struct tty *tty, const u8 *p, size_t n);
void tty_signal_foreground(struct tty *tty, int sig);
/* tty_ioctl.c */
long tty_ioctl(struct file *f, unsigned int cmd, unsigned long arg);
/* Job control of the calling process on its terminal: 0 or -ERESTARTSYS / -EIO after SIGTTIN or SIGTTOU. */
int tty_check_background(struct tty *tty, int sig);
struct tty *tty_of(struct file *f);
void tty_drain(struct tty *tty);
/* pty.c */
void pty_init(void);
void pty_master_input(struct tty *master, const u8 *p, size_t n);

#endif
