/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tty.h - terminals: a line discipline between a driver (or the other half of a pseudo terminal)
 * and programs.
 *
 * Locks: (T) tty->lock (mutex, RANK_TTY)  (r) tty->raw_lock (IRQs off): ring of received characters
 *        (t) proc_tree_lock
 */
#ifndef SYS_TTY_H
#define SYS_TTY_H

#include "drivers/char/tty_driver.h"
#include "fs/vfs.h"
#include "sys/process.h"

struct termios { /* what TCGETS passes */
	u32 iflag, oflag, cflag, lflag;
	u8 line;
	u8 cc[19];
};
enum {
	VINTR,
	VQUIT,
	VERASE,
	VKILL,
	VEOF,
	VTIME,
	VMIN,
	VSWTC,
	VSTART,
	VSTOP,
	VSUSP,
	VEOL,
	VREPRINT,
	VDISCARD,
	VWERASE,
	VLNEXT,
	VEOL2
};
/* iflag */
#define IGNBRK 0x1u
#define BRKINT 0x2u
#define ISTRIP 0x20u
#define INLCR 0x40u
#define IGNCR 0x80u
#define ICRNL 0x100u
#define IUCLC 0x200u
#define IXON 0x400u
#define IXANY 0x800u
#define IXOFF 0x1000u
#define IMAXBEL 0x2000u
#define IUTF8 0x4000u
/* oflag */
#define OPOST 0x1u
#define OLCUC 0x2u
#define ONLCR 0x4u
#define OCRNL 0x8u
#define ONOCR 0x10u
#define ONLRET 0x20u
#define XTABS 0x1800u
/* lflag */
#define ISIG 0x1u
#define ICANON 0x2u
#define ECHO 0x8u
#define ECHOE 0x10u
#define ECHOK 0x20u
#define ECHONL 0x40u
#define NOFLSH 0x80u
#define TOSTOP 0x100u
#define ECHOCTL 0x200u
#define ECHOPRT 0x400u
#define ECHOKE 0x800u
#define IEXTEN 0x8000u

struct winsize {
	u16 row, col, xpixel, ypixel;
};

#define TTY_INPUT_BYTES 4096u /* cooked input; a power of two */
#define TTY_RAW_BYTES 2048u

struct tty {
	atomic_t refs;
	char name[12];
	dev_t dev;
	struct mutex lock;
	struct termios termios; /* (T) */
	struct winsize winsize; /* (T) */
	struct wait_queue read_wait, write_wait;
	/*
	 * input after the line discipline (T): bytes [tail, head), counters; complete lines end
	 * before canon_head
	 */
	u32 head, tail, canon_head;
	u32 column, canon_column; /* cursor, and where the line being typed began (T) */
	u32 hangups;		  /* files opened before the last one are dead (T) */
	bool lnext, stopped;	  /* ^V pending, ^S (T) */
	/* characters as received (r), filled by the driver's interrupt */
	spinlock_t raw_lock;
	u32 raw_head, raw_tail, raw_lost;
	/* NULL: pseudo terminal, or a console without a serial line */
	const struct tty_driver *driver;
	unsigned int line;
	struct tty *link; /* the other half of a pair */
	bool is_master, locked, excl;
	int index, open_count;		  /* (T) */
	pid_t pgrp, session;		  /* foreground group, session it controls (t) */
	struct tty *next;		  /* list of serial terminals (set at boot) */
	void (*free)(struct tty *tty);	  /* last reference gone; NULL: kfree */
	u8 line_end[TTY_INPUT_BYTES / 8]; /* bit: this byte ends a line */
	u8 line_eof[TTY_INPUT_BYTES / 8]; /* bit: it is an end-of-file mark, not data */
	u8 input[TTY_INPUT_BYTES];
	u8 raw[TTY_RAW_BYTES];
};

static inline void tty_get(struct tty *tty)
{
	atomic_inc(&tty->refs);
}
void tty_put(struct tty *tty);
/* zeroed struct: locks, queues, default settings; refs 1 */
void tty_setup(struct tty *tty);
/* SIGHUP to the foreground group, nobody has the terminal any more */
void tty_session_end(struct process *leader);
void tty_hangup(struct tty *tty);
bool tty_file_dead(const struct file *f); /* hung up since it was opened */
void tty_init(void);			  /* thread context: ttyS*, console, tty, ptmx */
#define TTY_NEVER_DEAD (~0ull)		  /* file->version of /dev/console */

/* ldisc.c. => tty->lock unless said otherwise */
void ldisc_receive(struct tty *tty, const u8 *p, size_t n);
/* takes the lock itself */
ssize_t ldisc_read(struct tty *tty, struct file *f, u8 __user *buf, size_t n);
bool ldisc_ready(const struct tty *tty); /* would a read return now? no lock needed */
u32 ldisc_bytes(const struct tty *tty);	 /* FIONREAD */
void ldisc_flush_input(struct tty *tty);
void ldisc_settings_changed(struct tty *tty, const struct termios *old);
/* ldisc_output.c: OPOST. Bytes of p used (less than n: the driver is full or stopped). */
size_t ldisc_output(struct tty *tty, const u8 *p, size_t n);
void ldisc_echo(struct tty *tty, u8 c); /* as ECHO and ECHOCTL want it */
void ldisc_echo_raw(struct tty *tty, u8 c);

/* tty.c for the discipline */
/* to the driver or the other half; bytes taken */
size_t tty_put_bytes(struct tty *tty, const u8 *p, size_t n);
size_t tty_room(struct tty *tty);
void tty_signal_foreground(struct tty *tty, int sig);
/*
 * tty_job.c: the calling process on its terminal. 0, or -ERESTARTSYS / -EIO after SIGTTIN or
 * SIGTTOU.
 */
int tty_check_background(struct tty *tty, int sig);
/* open without O_NOCTTY by a session leader without terminal */
void tty_take_control(struct tty *tty);
/* -ENOIOCTL when not its */
long tty_job_ioctl(struct tty *tty, unsigned int cmd, unsigned long arg);
#define ENOIOCTL 515
/* tty_ioctl.c */
long tty_ioctl(struct file *f, unsigned int cmd, unsigned long arg);
void tty_drain(struct tty *tty); /* waits until output is sent, or a signal */
/* pty.c */
void pty_init(void);
extern const struct file_ops tty_file_ops;
struct tty *pty_find_slave(dev_t dev); /* referenced, or NULL */
size_t pty_put_bytes(struct tty *tty, const u8 *p, size_t n);
size_t pty_room(struct tty *tty);
void pty_flush_output(struct tty *slave); /* what the master has not read yet goes */

#endif
