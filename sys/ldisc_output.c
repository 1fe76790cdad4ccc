// SPDX-License-Identifier: BSD-2-Clause
/*
 * ldisc_output.c - the line discipline's output side: OPOST translation, the cursor column, echo.
 *
 * Runs of ordinary characters go to the driver in one piece; only the few that OPOST changes are
 * taken one by one. The column is followed because erasing a tab and expanding one need it. =>
 * tty->lock everywhere.
 */
#include "lib/string.h"
#include "sys/tty.h"

static void note_column(struct tty *tty, u8 c)
{
	switch (c) {
	case '\n':
		if (tty->termios.oflag & (ONLCR | ONLRET))
			tty->column = 0;
		break;
	case '\r':
		tty->column = 0;
		break;
	case '\b':
		if (tty->column)
			tty->column--;
		break;
	case '\t':
		tty->column = (tty->column | 7) + 1;
		break;
	default:
		if (c >= 32 && c != 127 && !((tty->termios.iflag & IUTF8) && (c & 0xc0) == 0x80))
			tty->column++;
	}
}

static bool is_special(u8 c)
{
	return c < 32 || c == 127;
}

/* One character that OPOST may change. => false: no room */
static bool put_special(struct tty *tty, u8 c)
{
	u32 flags = tty->termios.oflag;
	u8 out[8] = { c };
	size_t n = 1;

	if (c == '\n' && (flags & ONLCR)) {
		out[0] = '\r';
		out[1] = '\n';
		n = 2;
	} else if (c == '\r' && (flags & ONOCR) && !tty->column) {
		return true;
	} else if (c == '\r' && (flags & OCRNL)) {
		out[0] = '\n';
	} else if (c == '\t' && (flags & XTABS) == XTABS) {
		n = 8 - (tty->column & 7);
		memset(out, ' ', n);
	}
	if (tty_room(tty) < n)
		return false;
	tty_put_bytes(tty, out, n);
	note_column(tty, c);
	return true;
}

size_t ldisc_output(struct tty *tty, const u8 *p, size_t n)
{
	size_t done = 0;

	if (tty->stopped)
		return 0;
	if (!(tty->termios.oflag & OPOST)) {
		done = tty_put_bytes(tty, p, n);
		for (size_t i = 0; i < done; i++)
			note_column(tty, p[i]);
		return done;
	}
	while (done < n) {
		size_t run = 0, put;

		while (done + run < n && !is_special(p[done + run]))
			run++;
		if (run) {
			put = tty_put_bytes(tty, p + done, run);
			for (size_t i = 0; i < put; i++)
				note_column(tty, p[done + i]);
			done += put;
			if (put < run)
				break;
		} else if (put_special(tty, p[done])) {
			done++;
		} else {
			break;
		}
	}
	return done;
}

void ldisc_echo_raw(struct tty *tty, u8 c)
{
	bool stopped = tty->stopped;

	tty->stopped = false; /* echo is not held back */
	ldisc_output(tty, &c, 1);
	tty->stopped = stopped;
}

void ldisc_echo(struct tty *tty, u8 c)
{
	if ((tty->termios.lflag & ECHOCTL) && is_special(c) && c != '\t' && c != '\n') {
		ldisc_echo_raw(tty, '^');
		ldisc_echo_raw(tty, c ^ 0x40);
	} else {
		ldisc_echo_raw(tty, c);
	}
}
