// SPDX-License-Identifier: BSD-2-Clause
/*
 * ldisc.c - the line discipline's input side (N_TTY): from characters typed to lines read.
 *
 * Theory: received characters go one by one through: flow control (^S ^Q), signals (^C ^\ ^Z),
 * translation (CR to NL), in canonical mode editing of the line being typed (erase, word erase,
 * kill, reprint, literal next), echo, and into a ring.
 * Three counters: tail <= canon_head <= head. Lines complete so far lie in [tail, canon_head), the
 * line being typed in [canon_head, head); each line's last byte has its line_end bit, an
 * end-of-file mark also its line_eof bit. In raw mode all of [tail, head) may be read and VMIN and
 * VTIME decide when.
 *
 * Locking: tty->lock; called by the terminal thread (never in an interrupt), so signals can be sent
 * from here.
 */
#include "arch/uaccess.h"
#include "lib/string.h"
#include "sys/tty.h"

#define SLOT(i) ((i) & (TTY_INPUT_BYTES - 1))
#define DISABLED 0 /* a control character that is off */

static bool mark_get(const u8 *map, u32 i)
{
	return map[SLOT(i) / 8] >> (SLOT(i) % 8) & 1;
}

static void mark_set(u8 *map, u32 i, bool on)
{
	u8 bit = 1u << (SLOT(i) % 8);

	if (on)
		map[SLOT(i) / 8] |= bit;
	else
		map[SLOT(i) / 8] &= ~bit;
}

static bool is(const struct tty *tty, int which, u8 c)
{
	return c == tty->termios.cc[which] && c != DISABLED;
}

static bool store(struct tty *tty, u8 c, bool end, bool eof)
{
	if (tty->head - tty->tail >= TTY_INPUT_BYTES - (end ? 0 : 1)) {
		if (tty->termios.iflag & IMAXBEL)
			ldisc_echo_raw(tty, '\a');
		return false;
	}
	tty->input[SLOT(tty->head)] = c;
	mark_set(tty->line_end, tty->head, end);
	mark_set(tty->line_eof, tty->head, eof);
	WRITE_ONCE(tty->head, tty->head + 1);
	return true;
}

/* ---- editing ---- */

static bool is_continuation(const struct tty *tty, u8 c)
{
	return (tty->termios.iflag & IUTF8) && (c & 0xc0) == 0x80;
}

static u32 width_at(const struct tty *tty, u8 c, u32 column)
{
	if (c == '\t')
		return 8 - (column & 7);
	if (c < 32 || c == 127)
		return tty->termios.lflag & ECHOCTL ? 2 : 0;
	return is_continuation(tty, c) ? 0 : 1;
}

/* Columns of the line being typed, its last character included or not. */
static u32 line_column(const struct tty *tty, u32 end)
{
	u32 column = tty->canon_column;

	for (u32 i = tty->canon_head; i != end; i++)
		column += width_at(tty, tty->input[SLOT(i)], column);
	return column;
}

static void rub_out(struct tty *tty, u32 columns, bool blank)
{
	while (columns--) {
		ldisc_echo_raw(tty, '\b');
		if (blank) {
			ldisc_echo_raw(tty, ' ');
			ldisc_echo_raw(tty, '\b');
		}
	}
}

/* Removes the last character of the line being typed. */
static u8 erase_one(struct tty *tty)
{
	u32 old = line_column(tty, tty->head), new;
	u8 c;

	do {
		c = tty->input[SLOT(tty->head - 1)];
		WRITE_ONCE(tty->head, tty->head - 1);
	} while (is_continuation(tty, c) && tty->head != tty->canon_head);
	new = line_column(tty, tty->head);
	if ((tty->termios.lflag & (ECHO | ECHOE)) == (ECHO | ECHOE))
		rub_out(tty, old - new, c != '\t');
	return c;
}

static void edit_erase(struct tty *tty, u8 typed)
{
	if (tty->head == tty->canon_head)
		return;
	erase_one(tty);
	if ((tty->termios.lflag & (ECHO | ECHOE)) == ECHO)
		ldisc_echo(tty, typed);
}

static void edit_word_erase(struct tty *tty)
{
	bool seen = false;

	while (tty->head != tty->canon_head) {
		u8 c = tty->input[SLOT(tty->head - 1)];
		bool word = isalpha_c(c) || isdigit_c(c) || c == '_' || c >= 128;

		if (seen && !word)
			break;
		seen |= word;
		erase_one(tty);
	}
}

static void edit_kill(struct tty *tty, u8 typed)
{
	u32 flags = tty->termios.lflag;

	if ((flags & (ECHO | ECHOK | ECHOKE | ECHOE)) == (ECHO | ECHOK | ECHOKE | ECHOE)) {
		while (tty->head != tty->canon_head)
			erase_one(tty);
		return;
	}
	WRITE_ONCE(tty->head, tty->canon_head);
	if (flags & ECHO)
		ldisc_echo(tty, typed);
	if (flags & ECHOK)
		ldisc_echo_raw(tty, '\n');
}

static void edit_reprint(struct tty *tty, u8 typed)
{
	ldisc_echo(tty, typed);
	ldisc_echo_raw(tty, '\n');
	tty->canon_column = 0;
	for (u32 i = tty->canon_head; i != tty->head; i++)
		ldisc_echo(tty, tty->input[SLOT(i)]);
}

static void end_line(struct tty *tty, u8 c, bool eof)
{
	if (!store(tty, c, true, eof))
		return;
	WRITE_ONCE(tty->canon_head, tty->head);
	wake_up_all(&tty->read_wait);
}

/* => true: c was an editing or line-ending character */
static bool canonical(struct tty *tty, u8 c)
{
	u32 flags = tty->termios.lflag;
	bool extended = flags & IEXTEN;

	if (is(tty, VERASE, c)) {
		edit_erase(tty, c);
	} else if (is(tty, VKILL, c)) {
		edit_kill(tty, c);
	} else if (extended && is(tty, VWERASE, c)) {
		edit_word_erase(tty);
	} else if (extended && is(tty, VLNEXT, c)) {
		tty->lnext = true;
		if ((flags & (ECHO | ECHOCTL)) == (ECHO | ECHOCTL)) {
			ldisc_echo_raw(tty, '^');
			ldisc_echo_raw(tty, '\b');
		}
	} else if (extended && is(tty, VREPRINT, c) && (flags & ECHO)) {
		edit_reprint(tty, c);
	} else if (c == '\n') {
		if (flags & (ECHO | ECHONL))
			ldisc_echo_raw(tty, '\n');
		end_line(tty, c, false);
	} else if (is(tty, VEOF, c)) {
		end_line(tty, 0, true);
	} else if (is(tty, VEOL, c) || (extended && is(tty, VEOL2, c))) {
		if (flags & ECHO)
			ldisc_echo(tty, c);
		end_line(tty, c, false);
	} else {
		return false;
	}
	return true;
}

/* ---- the way of one character ---- */

static bool signal_char(struct tty *tty, u8 c)
{
	int sig = is(tty, VINTR, c)   ? SIGINT
		  : is(tty, VQUIT, c) ? SIGQUIT
		  : is(tty, VSUSP, c) ? SIGTSTP
				      : 0;

	if (!sig)
		return false;
	if (!(tty->termios.lflag & NOFLSH)) {
		ldisc_flush_input(tty);
		if (tty->driver)
			tty->driver->flush(tty->line);
		else if (tty->link)
			pty_flush_output(tty);
	}
	tty->stopped = false;
	if (tty->termios.lflag & ECHO)
		ldisc_echo(tty, c);
	tty_signal_foreground(tty, sig);
	return true;
}

static void go_on(struct tty *tty)
{
	tty->stopped = false;
	wake_up_all(&tty->write_wait);
}

static bool flow_char(struct tty *tty, u8 c)
{
	if (is(tty, VSTART, c)) {
		go_on(tty);
		return true;
	}
	if (is(tty, VSTOP, c)) {
		tty->stopped = true;
		return true;
	}
	if (tty->stopped && (tty->termios.iflag & IXANY))
		go_on(tty);
	return false;
}

static void accept(struct tty *tty, u8 c)
{
	if (tty->head == tty->canon_head)
		tty->canon_column = tty->column;
	if (!store(tty, c, false, false))
		return;
	if (tty->termios.lflag & ECHO)
		ldisc_echo(tty, c);
}

static void receive_one(struct tty *tty, u8 c)
{
	const struct termios *t = &tty->termios;

	if (t->iflag & ISTRIP)
		c &= 0x7f;
	if (tty->lnext) {
		tty->lnext = false;
		accept(tty, c);
		return;
	}
	if ((t->iflag & IXON) && flow_char(tty, c))
		return;
	if ((t->lflag & ISIG) && signal_char(tty, c))
		return;
	if (c == '\r') {
		if (t->iflag & IGNCR)
			return;
		if (t->iflag & ICRNL)
			c = '\n';
	} else if (c == '\n' && (t->iflag & INLCR)) {
		c = '\r';
	}
	if ((t->lflag & ICANON) && canonical(tty, c))
		return;
	accept(tty, c);
}

void ldisc_receive(struct tty *tty, const u8 *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		receive_one(tty, p[i]);
	if (!(tty->termios.lflag & ICANON)) {
		WRITE_ONCE(tty->canon_head, tty->tail);
		if (tty->head != tty->tail)
			wake_up_all(&tty->read_wait);
	}
}

void ldisc_flush_input(struct tty *tty)
{
	WRITE_ONCE(tty->tail, tty->head);
	WRITE_ONCE(tty->canon_head, tty->head);
	tty->lnext = false;
}

void ldisc_settings_changed(struct tty *tty, const struct termios *old)
{
	if (!((old->lflag ^ tty->termios.lflag) & ICANON))
		return;
	if (!(tty->termios.lflag & ICANON) || tty->head == tty->tail) {
		tty->canon_head = tty->tail;
	} else { /* what was typed in raw mode counts as one line */
		for (u32 i = tty->tail; i != tty->head; i++) {
			mark_set(tty->line_end, i, i + 1 == tty->head);
			mark_set(tty->line_eof, i, false);
		}
		tty->canon_head = tty->head;
	}
	wake_up_all(&tty->read_wait);
}

/* ---- reading ---- */

bool ldisc_ready(const struct tty *tty)
{
	u32 min = tty->termios.cc[VTIME] ? 1 : tty->termios.cc[VMIN], n;

	if (tty->termios.lflag & ICANON)
		return READ_ONCE(tty->canon_head) != READ_ONCE(tty->tail);
	n = READ_ONCE(tty->head) - READ_ONCE(tty->tail);
	return n && n >= min_t(u32, min, 1);
}

u32 ldisc_bytes(const struct tty *tty)
{
	u32 end = tty->termios.lflag & ICANON ? tty->canon_head : tty->head, n = end - tty->tail;

	for (u32 i = tty->tail; i != end && (tty->termios.lflag & ICANON); i++)
		n -= mark_get(tty->line_eof, i);
	return n;
}

/* Bytes of the first line, at most n. *done: the line's end was reached. => tty->lock */
static size_t take_line(struct tty *tty, u8 *buf, size_t n, bool *done)
{
	size_t got = 0;

	*done = false;
	while (tty->tail != tty->canon_head && got < n && !*done) {
		*done = mark_get(tty->line_end, tty->tail);
		if (!mark_get(tty->line_eof, tty->tail))
			buf[got++] = tty->input[SLOT(tty->tail)];
		WRITE_ONCE(tty->tail, tty->tail + 1);
	}
	return got;
}

static size_t take_raw(struct tty *tty, u8 *buf, size_t n)
{
	size_t got = 0;

	while (tty->tail != tty->head && got < n) {
		buf[got++] = tty->input[SLOT(tty->tail)];
		WRITE_ONCE(tty->tail, tty->tail + 1);
	}
	WRITE_ONCE(tty->canon_head, tty->tail);
	return got;
}

static bool other_side_gone(const struct tty *tty)
{
	return tty->link && !READ_ONCE(tty->link->open_count);
}

/*
 * Waits for something to read. => 0 ready, 1 time is up, 2 the other side or the line is gone,
 * -EAGAIN, -ERESTARTSYS
 */
static int wait_input(struct tty *tty, struct file *f, ktime_t deadline)
{
	s64 left;

	if (ldisc_ready(tty))
		return 0;
	if (tty_file_dead(f) || other_side_gone(tty))
		return 2;
	if (f->flags & O_NONBLOCK)
		return -EAGAIN;
	left = wait_event_interruptible_until(
		&tty->read_wait, ldisc_ready(tty) || tty_file_dead(f) || other_side_gone(tty),
		deadline);
	if (left < 0)
		return left;
	return ldisc_ready(tty) ? 0 : left ? 2 : 1;
}

static ssize_t read_canonical(struct tty *tty, struct file *f, u8 __user *buf, size_t n)
{
	size_t total = 0;
	bool done = false;
	u8 chunk[256];

	while (total < n && !done) {
		size_t got;

		if (!total) {
			int err = wait_input(tty, f, KTIME_MAX);

			if (err)
				return err < 0 ? err : tty->link && !tty_file_dead(f) ? -EIO : 0;
		}
		mutex_lock(&tty->lock);
		if (!(tty->termios.lflag & ICANON)) {
			mutex_unlock(&tty->lock);
			break;
		}
		got = take_line(tty, chunk, min(n - total, sizeof(chunk)), &done);
		mutex_unlock(&tty->lock);
		if (copy_to_user(buf + total, chunk, got))
			return total ? (ssize_t)total : -EFAULT;
		total += got;
		if (!got && !done)
			break; /* somebody else took it */
	}
	return total;
}

static ssize_t read_raw(struct tty *tty, struct file *f, u8 __user *buf, size_t n)
{
	u32 min = tty->termios.cc[VMIN], tenths = tty->termios.cc[VTIME];
	ktime_t deadline = KTIME_MAX;
	size_t total = 0;
	u8 chunk[256];

	if (!min)
		deadline = tenths ? ktime_get() + tenths * (NSEC_PER_SEC / 10) : 0;
	while (total < n) {
		size_t got;
		int err = 0;

		if (!ldisc_ready(tty)) {
			if (total >= max_t(u32, min, 1))
				break;
			if (total && min && tenths) /* the clock runs between characters */
				deadline = ktime_get() + tenths * (NSEC_PER_SEC / 10);
			err = deadline ? wait_input(tty, f, deadline) : 1;
		}
		if (err) {
			if (total || err == 1)
				break;
			return err < 0 ? err : tty->link && !tty_file_dead(f) ? -EIO : 0;
		}
		mutex_lock(&tty->lock);
		got = take_raw(tty, chunk, min(n - total, sizeof(chunk)));
		mutex_unlock(&tty->lock);
		if (copy_to_user(buf + total, chunk, got))
			return total ? (ssize_t)total : -EFAULT;
		total += got;
	}
	return total;
}

ssize_t ldisc_read(struct tty *tty, struct file *f, u8 __user *buf, size_t n)
{
	ssize_t ret;

	if (!n)
		return 0;
	ret = READ_ONCE(tty->termios.lflag) & ICANON ? read_canonical(tty, f, buf, n)
						     : read_raw(tty, f, buf, n);
	if (ret > 0 && tty->link)
		wake_up_all(&tty->link->write_wait);
	return ret;
}
