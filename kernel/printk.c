/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printk.c - the kernel log.
 *
 * Problem: anybody may print, in any context, an NMI in the middle of a printk included, so writers
 * can share no lock.
 * Idea: the ring is an array of 64-byte cells. A record takes k neighbouring cells; a writer
 * reserves them with one atomic add on `head` (a cell number that only grows) and fills them at
 * leisure. Every cell carries a stamp:
 *
 *   stamp = cell number * 4 + state      state: BUSY being written, FIRST first cell of a record,
 *                                        MORE continuation
 *
 *   head ->  | FIRST n | MORE n+1 | FIRST n+2 | BUSY n+3 | (old lap ...)
 *
 * A reader copies a record and looks at the stamps again afterwards: if they still carry the same
 * numbers the copy is good, otherwise a writer has lapped it and the record counts as lost. A
 * record's sequence number is the number of its first cell; sequence numbers rise but have gaps.
 *
 * Console: before the drain thread exists and in panic, whoever printed writes out what is in the
 * ring, one CPU at a time (`draining`); a printk that finds it taken leaves its record to the
 * other. Later printk only wakes the thread.
 *
 * Invariants: cells of one record are consecutive modulo the ring; FIRST stamps are written last
 * (store-release).
 * Locking: none; `draining` is a flag that is only ever tried.
 */
#include "kernel/printk.h"
#include "arch/atomic.h"
#include "arch/cpu.h"
#include "arch/timer.h"
#include "arch/percpu.h"
#include "kernel/panic.h"
#include "kernel/param.h"
#include "lib/errno.h"
#include "lib/parse.h"
#include "lib/printf.h"
#include "lib/string.h"

#define CELL_BYTES 64
#define NR_CELLS 2048 /* 128 KiB; a power of two */
#define LINE_MAX 400
#define MORE_TEXT (CELL_BYTES - 8)
#define FIRST_TEXT (CELL_BYTES - 24)

enum { BUSY = 0, FIRST = 1, MORE = 2 };

struct cell {
	u64 stamp;
	union {
		struct {
			u64 time;
			u16 len;
			u8 level, nr_cells;
			u32 cpu;
			char text[FIRST_TEXT];
		} first;
		char more[MORE_TEXT];
	};
};
_Static_assert(sizeof(struct cell) == CELL_BYTES, "a cell is one cache line");

struct record {
	u64 seq, time;
	u32 len, level, nr_cells, cpu;
	char text[LINE_MAX];
};

static struct cell ring[NR_CELLS] __aligned(64);
/* starts one lap on, so that the zero of a fresh cell is no valid stamp */
static u64 head = NR_CELLS;
static u64 cleared = NR_CELLS; /* dmesg -c: readers by syslog start here */
static u64 console_seq = NR_CELLS;
static u32 draining;
static struct console *consoles;
static void (*async_wake)(void);
int console_loglevel = LOG_INFO + 1; /* levels below this go to the console */

static int set_loglevel(const char *text)
{
	int v, err = parse_int(text, &v);

	if (!err && (v < 0 || v > 8))
		err = -ERANGE;
	if (!err)
		console_loglevel = v;
	return err;
}
BOOT_PARAM_FUNC("loglevel", set_loglevel, "console shows messages below this level (0-8)");

static int set_quiet(const char *text)
{
	console_loglevel = LOG_WARNING;
	return 0;
}
BOOT_PARAM_FUNC("quiet", set_quiet, "console shows errors only");

/*
 * Linux's four numbers: console level, level of a message without one, lowest and default console
 * level.
 */
static int loglevel_show(struct seq *seq)
{
	seq_printf(seq, "%d\t%d\t%d\t%d\n", console_loglevel, LOG_WARNING, 1, LOG_INFO + 1);
	return 0;
}

static ssize_t loglevel_store(const char *text, size_t n, long index)
{
	u64 v;
	const char *end = parse_digits(text, 10, &v);

	if (!end || end == text || v > 8 || (*end && !isspace_c(*end)))
		return -EINVAL;
	WRITE_ONCE(console_loglevel, v);
	return n;
}
SHOW("/proc/sys/kernel/printk", 0644, loglevel_show, loglevel_store);

static inline struct cell *cell_of(u64 n)
{
	return &ring[n % NR_CELLS];
}

static u32 cells_for(size_t len)
{
	return len <= FIRST_TEXT ? 1 : 1 + DIV_ROUND_UP(len - FIRST_TEXT, MORE_TEXT);
}

static void store(int level, const char *text, size_t len)
{
	u32 k = cells_for(len);
	u64 seq = __atomic_fetch_add(&head, k, __ATOMIC_SEQ_CST);
	struct cell *c = cell_of(seq);
	size_t done = min(len, (size_t)FIRST_TEXT);

	for (u32 i = 0; i < k; i++)
		WRITE_ONCE(cell_of(seq + i)->stamp, (seq + i) * 4 + BUSY);
	smp_wmb();
	c->first.time = arch_clock_ns();
	c->first.len = len;
	c->first.level = level;
	c->first.nr_cells = k;
	c->first.cpu = smp_processor_id();
	memcpy(c->first.text, text, done);
	for (u32 i = 1; i < k; i++) {
		size_t part = min(len - done, (size_t)MORE_TEXT);

		memcpy(cell_of(seq + i)->more, text + done, part);
		done += part;
		smp_store_release(&cell_of(seq + i)->stamp, (seq + i) * 4 + MORE);
	}
	smp_store_release(&c->stamp, seq * 4 + FIRST);
}

/*
 * => 1: *r holds the record seq; 0: seq is still being written or lies ahead; -1: lost or no first
 * cell.
 */
static int fetch(u64 seq, struct record *r)
{
	struct cell *c = cell_of(seq);
	u64 stamp = smp_load_acquire(&c->stamp);
	size_t done;

	if (seq >= READ_ONCE(head) || stamp == seq * 4 + BUSY || stamp < seq * 4)
		return 0;
	if (stamp != seq * 4 + FIRST)
		return -1;
	r->seq = seq;
	r->time = c->first.time;
	r->len = min_t(u32, c->first.len, LINE_MAX);
	r->level = c->first.level;
	r->nr_cells = c->first.nr_cells;
	r->cpu = c->first.cpu;
	done = min_t(size_t, r->len, FIRST_TEXT);
	memcpy(r->text, c->first.text, done);
	for (u32 i = 1; done < r->len; i++) {
		size_t part = min_t(size_t, r->len - done, MORE_TEXT);

		memcpy(r->text + done, cell_of(seq + i)->more, part);
		if (smp_load_acquire(&cell_of(seq + i)->stamp) != (seq + i) * 4 + MORE)
			return -1;
		done += part;
	}
	smp_rmb();
	return READ_ONCE(c->stamp) == seq * 4 + FIRST && r->nr_cells ? 1 : -1;
}

static u64 oldest(void)
{
	u64 h = READ_ONCE(head);

	return h > 2 * NR_CELLS ? h - NR_CELLS : NR_CELLS;
}

/* Moves *seq to the next record that can be read, and reads it. => false: nothing (more) there. */
static bool next_record(u64 *seq, struct record *r)
{
	if (*seq < oldest())
		*seq = oldest();
	for (;;) {
		int got = fetch(*seq, r);

		if (got > 0) {
			*seq += r->nr_cells;
			return true;
		}
		if (got == 0 && (*seq >= READ_ONCE(head) || !panic_in_progress()))
			return false; /* in panic nobody finishes it: step over */
		(*seq)++;
	}
}

static size_t format_record(const struct record *r, char *buf, size_t n, int with_level)
{
	size_t len = 0;

	if (with_level)
		len += scnprintf(buf, n, "<%u>", r->level);
	return len + scnprintf(buf + len, n - len, "[%5lu.%06lu] %.*s\n",
			       (unsigned long)(r->time / 1000000000),
			       (unsigned long)(r->time / 1000 % 1000000), (int)r->len, r->text);
}

static void console_write(const char *s, size_t n)
{
	for (struct console *con = READ_ONCE(consoles); con; con = con->next)
		con->write(s, n);
}

bool printk_drain(void)
{
	struct record r;
	char line[LINE_MAX + 40];
	bool more;

	if (!READ_ONCE(consoles) || xchg(&draining, 1u))
		return false;
	more = next_record(&console_seq, &r);
	if (more && (int)r.level < console_loglevel)
		console_write(line, format_record(&r, line, sizeof(line), 0));
	smp_store_release(&draining, 0u);
	return more;
}

void printk_flush(void)
{
	/*
	 * A holder that was stopped in the middle never comes back: after a while its turn is over.
	 */
	for (u32 i = 0; READ_ONCE(draining) && i < 1000000; i++)
		cpu_relax();
	WRITE_ONCE(draining, 0u);
	while (printk_drain())
		;
}

void printk_set_async(void (*wake)(void))
{
	WRITE_ONCE(async_wake, wake);
	if (wake)
		wake();
}

void vprintk(int level, const char *fmt, va_list ap)
{
	char line[LINE_MAX];
	size_t n = vscnprintf(line, sizeof(line), fmt, ap), start = 0;
	void (*wake)(void) = READ_ONCE(async_wake);

	/* Every line of a longer text is a record of its own. */
	while (start < n) {
		size_t len = 0;

		while (start + len < n && line[start + len] != '\n')
			len++;
		store(level, line + start, len);
		start += len + 1;
	}
	if (!n)
		store(level, "", 0);
	if (wake && !panic_in_progress())
		wake();
	else
		while (printk_drain())
			;
}

void printk(int level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintk(level, fmt, ap);
	va_end(ap);
}

/* => boot, one CPU; what was printed so far appears on the first console. */
void console_register(struct console *con)
{
	con->next = consoles;
	consoles = con;
	if (!async_wake)
		while (printk_drain())
			;
}

size_t printk_read(u64 *seq, char *buf, size_t n, int with_prefix)
{
	size_t done = 0;
	struct record r;
	char line[LINE_MAX + 40];

	for (;;) {
		u64 next = *seq;
		size_t len;

		if (!next_record(&next, &r))
			return done;
		len = format_record(&r, line, sizeof(line), with_prefix);
		if (done + len > n) {
			if (done)
				return done;
			len = n; /* the caller's buffer is smaller than one line */
		}
		memcpy(buf + done, line, len);
		done += len;
		*seq = next;
		if (done == n)
			return done;
	}
}

size_t printk_ring_bytes(void)
{
	return NR_CELLS * CELL_BYTES;
}

u64 printk_first_seq(void)
{
	return max(READ_ONCE(cleared), oldest());
}

u64 printk_next_seq(void)
{
	return READ_ONCE(head);
}

void printk_clear(void)
{
	WRITE_ONCE(cleared, READ_ONCE(head));
}
