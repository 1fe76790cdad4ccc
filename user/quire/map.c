/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map.c - `quire map`: the memory map in the terminal.
 *
 *	quire map [-1] [-p]		once; without colours when this is no terminal, or with -p
 *	quire map -l [SECONDS]		live, drawn anew every so often (0.5), until q or ^C
 *	quire map BLOCK			everything about one pageblock
 *	... -f FILE			of a saved map
 *
 * Live: arrows (or h j k l) choose a block, whose contents stand below the map; space stops and
 * goes on; + and - change the pace. The terminal is as it was when the program ends, however it
 * ends.
 */
#include "mapdraw.h"
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

static struct map map;
static const char *path = MAP_FILE;

/* ---- the terminal ---- */

static struct termios before;
static int is_raw;
static volatile sig_atomic_t stop, resized;

static void on_signal(int sig)
{
	if (sig == SIGWINCH)
		resized = 1;
	else
		stop = 1;
}

/* Signals are caught only to be noticed; a write in a handler would end up inside a picture. */
static void catch_signals(void)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };
	struct sigaction sa = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		sigaction(sigs[i], &sa, NULL);
}

static void out(const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(1, p, n);

		if (done < 0 && errno != EINTR)
			break;
		p += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
}

static void out_text(const char *p)
{
	out(p, strlen(p));
}

static void terminal_back(void)
{
	if (!is_raw)
		return;
	is_raw = 0;
	out_text("\x1b[0m\x1b[?25h\x1b[?1049l");
	tcsetattr(0, TCSAFLUSH, &before);
}

static void terminal_raw(void)
{
	struct termios raw;

	if (tcgetattr(0, &before) < 0)
		return;
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	is_raw = 1;
	atexit(terminal_back);
	tcsetattr(0, TCSAFLUSH, &raw);
	out_text("\x1b[?1049h\x1b[?25l\x1b[2J");
}

/*
 * A serial line does not know its size; the terminal behind it does: the cursor is sent to a far
 * corner and asked where it came to. => 1: answered
 */
static int ask_size(int *columns, int *lines)
{
	char answer[32];
	size_t have = 0;
	struct pollfd p = { .fd = 0, .events = POLLIN };
	char *at;

	out_text("\x1b"
		 "7\x1b[999;999H\x1b[6n\x1b"
		 "8");
	while (have < sizeof(answer) - 1 && poll(&p, 1, 300) > 0) {
		ssize_t n = read(0, answer + have, 1);

		if (n <= 0)
			break;
		have += (size_t)n;
		if (answer[have - 1] == 'R')
			break;
	}
	answer[have] = 0;
	at = strstr(answer, "\x1b[");
	return at && sscanf(at, "\x1b[%d;%dR", lines, columns) == 2;
}

static void terminal_size(struct view *v, int may_ask)
{
	struct winsize w = { 0 };

	v->columns = 80;
	v->lines = 24;
	if (ioctl(1, TIOCGWINSZ, &w) == 0 && w.ws_col >= 20 && w.ws_row >= 8) {
		v->columns = w.ws_col;
		v->lines = w.ws_row;
	} else if (may_ask) {
		ask_size(&v->columns, &v->lines);
	}
	v->columns = v->columns > 400 ? 400 : v->columns;
}

/* ---- live ---- */

/* The picture cut to the screen, each line cleared to its end. */
static void put_screen(const struct text *t, int lines)
{
	static struct text screen;
	const char *p = t->p, *end = t->p + t->used;

	screen.used = 0;
	text_add(&screen, "\x1b[H");
	for (int i = 0; i < lines && p < end; i++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		nl = nl ? nl : end;
		text_add(&screen, "%s%.*s\x1b[K", i ? "\r\n" : "", (int)(nl - p), p);
		p = nl + 1;
	}
	text_add(&screen, "\x1b[J");
	out(screen.p, screen.used);
}

static void move(struct view *v, long step)
{
	long to = v->selected < 0 ? 0 : v->selected + step;

	if (to >= 0 && to < (long)map.nr_blocks)
		v->selected = to;
}

/* => 0: leave */
static int key(struct view *v, double *seconds, int *paused)
{
	char c[8];
	ssize_t n = read(0, c, sizeof(c));
	char k = n > 0 ? c[0] : 0;

	if (n == 0)
		return 0; /* the terminal is gone */
	if (n >= 3 && c[0] == 27 && (c[1] == '[' || c[1] == 'O'))
		k = c[2] == 'A'	  ? 'k'
		    : c[2] == 'B' ? 'j'
		    : c[2] == 'C' ? 'l'
		    : c[2] == 'D' ? 'h'
				  : 0;
	switch (k) {
	case 'q':
	case 'Q':
	case 3:
		return 0;
	case ' ':
		*paused = !*paused;
		break;
	case '+':
		*seconds = *seconds > 0.1 ? *seconds / 2 : *seconds;
		break;
	case '-':
		*seconds = *seconds < 30 ? *seconds * 2 : *seconds;
		break;
	case 'l':
	case 'h':
		move(v, k == 'l' ? v->per_cell : -v->per_cell);
		break;
	case 'j':
	case 'k':
		move(v, (k == 'j' ? 1l : -1l) * v->per_row * v->per_cell);
		break;
	}
	return 1;
}

static void frame(struct view *v, double seconds, int paused)
{
	static struct text t;

	t.used = 0;
	if (v->selected >= (long)map.nr_blocks)
		v->selected = -1;
	v->lines -= 2;
	draw_map(&t, &map, v);
	v->lines += 2;
	if (v->selected >= 0)
		draw_line_of(&t, &map, v->selected, v);
	text_add(&t,
		 "\n\x1b[38;5;244m%s every %.2g s   q leave, arrows choose a block, space %s, + - "
		 "pace"
		 "\x1b[0m",
		 paused ? "stopped," : "live,", seconds, paused ? "go on" : "stop");
	put_screen(&t, v->lines);
}

static int live(double seconds)
{
	struct view v = { .colour = 1, .selected = -1 };
	struct pollfd p = { .fd = 0, .events = POLLIN };
	int paused = 0;

	if (!isatty(0) || !isatty(1)) {
		fprintf(stderr, "quire: map -l wants a terminal\n");
		return 2;
	}
	if (map_read(&map, path) < 0)
		return 1;
	catch_signals();
	terminal_raw();
	terminal_size(&v, 1);
	while (!stop) {
		int n;

		if (resized) {
			resized = 0;
			terminal_size(&v, 0);
			out_text("\x1b[2J");
		}
		if (!paused && map_read(&map, path) < 0)
			break;
		frame(&v, seconds, paused);
		n = poll(&p, 1, paused ? -1 : (int)(seconds * 1000));
		if (n > 0 && !key(&v, &seconds, &paused))
			break;
	}
	terminal_back();
	return 0;
}

/* ---- once ---- */

static int once(int plain)
{
	struct view v = { .colour = !plain && isatty(1), .selected = -1, .columns = 80 };
	struct text t = { 0 };

	if (map_read(&map, path) < 0)
		return 1;
	if (v.colour) {
		terminal_size(&v, 0);
		v.lines = 0;
	}
	draw_map(&t, &map, &v);
	out(t.p, t.used);
	return 0;
}

static int block(const char *text, int plain)
{
	struct view v = { .colour = !plain && isatty(1), .selected = -1, .columns = 80 };
	unsigned long nr = number("quire: map", text);
	struct text t = { 0 };

	if (map_read(&map, path) < 0)
		return 1;
	for (unsigned long i = 0; i < map.nr_blocks; i++)
		if (map.block[i].nr == nr)
			draw_block(&t, &map, (long)i, &v);
	if (!t.used) {
		fprintf(stderr, "quire: map: there is no pageblock %lu\n", nr);
		return 1;
	}
	out(t.p, t.used);
	return 0;
}

int map_main(int argc, char **argv)
{
	const char *which = NULL;
	int is_live = 0, plain = 0;
	double seconds = 0.5;

	for (int i = 1; i < argc; i++) {
		char *end;

		if (!strcmp(argv[i], "-l")) {
			is_live = 1;
			if (i + 1 < argc && strtod(argv[i + 1], &end) > 0.02 && !*end)
				seconds = strtod(argv[++i], NULL);
		} else if (!strcmp(argv[i], "-p")) {
			plain = 1;
		} else if (!strcmp(argv[i], "-f") && i + 1 < argc) {
			path = argv[++i];
		} else if (argv[i][0] != '-' && !which) {
			which = argv[i];
		} else if (strcmp(argv[i], "-1")) {
			fprintf(stderr,
				"usage: quire map [-1] [-p] [-l [SECONDS]] [-f FILE] [BLOCK]\n");
			return 2;
		}
	}
	if (is_live)
		return live(seconds);
	return which ? block(which, plain) : once(plain);
}
