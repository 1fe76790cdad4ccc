/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seq.c - the buffer a show function prints into, and the walker of the registry of files.
 *
 * A seq counts every byte and stores those that fit. Whoever reads a file offers a buffer, sees
 * from count whether the text fitted, and comes again with a larger one. In panic there is no
 * memory for that: a flush function empties the buffer whenever it is full, so any table of the
 * kernel can be printed through 256 bytes.
 */
#include "kernel/show.h"
#include "kernel/bug.h"
#include "lib/bitmap.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "lib/string.h"

void seq_write(struct seq *seq, const void *data, size_t n)
{
	const char *p = data;

	while (seq->flush && seq->count + n > seq->size) {
		size_t part = min(n, seq->size - seq->count);

		memcpy(seq->buf + seq->count, p, part);
		seq->count += part;
		p += part;
		n -= part;
		seq->flush(seq);
	}
	if (seq->count < seq->size)
		memcpy(seq->buf + seq->count, p, min(n, seq->size - seq->count));
	seq->count += n;
}

void seq_puts(struct seq *seq, const char *s)
{
	seq_write(seq, s, strlen(s));
}

void seq_putc(struct seq *seq, char c)
{
	seq_write(seq, &c, 1);
}

/*
 * Straight into the buffer when it fits; with a flush function and too little room through a piece
 * of stack.
 */
void seq_printf(struct seq *seq, const char *fmt, ...)
{
	size_t room = seq->count < seq->size ? seq->size - seq->count : 0;
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	n = vsnprintf(room ? seq->buf + seq->count : NULL, room, fmt, ap);
	va_end(ap);
	if (seq->flush && n >= room) {
		char tmp[256];

		va_start(ap, fmt);
		n = vscnprintf(tmp, sizeof(tmp), fmt, ap);
		va_end(ap);
		seq_write(seq, tmp, n);
		return;
	}
	/* n == room: the last character gave way to the terminator, so it did not fit. */
	seq->count += n == room && n ? n + 1 : n;
}

void seq_bitmap_list(struct seq *seq, const unsigned long *bits, unsigned int nbits)
{
	char tmp[256];

	bitmap_print_list(tmp, sizeof(tmp), bits, nbits);
	seq_puts(seq, tmp);
}

void seq_bitmap_hex(struct seq *seq, const unsigned long *bits, unsigned int nbits)
{
	char tmp[256];

	bitmap_print_hex(tmp, sizeof(tmp), bits, nbits);
	seq_puts(seq, tmp);
}

/* ---- the registry ---- */

const char *const show_aliases[][2] = {
	{ "/sys/kernel/debug/tracing", "/sys/kernel/tracing" },
	{ NULL, NULL },
};

static struct show_entry *dynamic; /* pushed at the front, never removed */

void show_register(struct show_entry *entry)
{
	entry->next = READ_ONCE(dynamic);
	while (!__atomic_compare_exchange_n(&dynamic, &entry->next, entry, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

struct show_entry *show_next(struct show_entry *entry)
{
	if (!entry)
		entry = __show_start;
	else if (entry >= __show_start && entry < __show_end)
		entry++;
	else
		return entry->next;
	return entry < __show_end ? entry : READ_ONCE(dynamic);
}

long show_count(const struct show_entry *entry)
{
	return entry->nr ? entry->nr() : 1;
}

int show_path(const struct show_entry *entry, long index, char *buf, size_t n)
{
	const char *mark = entry->nr ? strchr(entry->path, '%') : NULL;
	size_t len;

	if (!mark) {
		len = strlcpy(buf, entry->path, n);
		return len < n ? (int)len : -ENAMETOOLONG;
	}
	if (index < 0 || index >= entry->nr() || (entry->present && !entry->present(index)))
		return 0;
	if (mark[1] == 's')
		len = snprintf(buf, n, "%.*s%s%s", (int)(mark - entry->path), entry->path,
			       entry->name(index), mark + 2);
	else
		len = snprintf(buf, n, "%.*s%ld%s", (int)(mark - entry->path), entry->path, index,
			       mark + 2);
	return len < n ? (int)len : -ENAMETOOLONG;
}

struct show_entry *show_find(const char *path, long *index)
{
	char buf[256];

	for (struct show_entry *e = NULL; (e = show_next(e));) {
		const char *mark = e->nr ? strchr(e->path, '%') : NULL;
		long n = mark ? show_count(e) : 1;

		if (!mark && strcmp(e->path, path))
			continue;
		if (mark && strncmp(e->path, path, mark - e->path))
			continue;
		for (long i = 0; i < n; i++) {
			if (mark && (show_path(e, i, buf, sizeof(buf)) <= 0 || strcmp(buf, path)))
				continue;
			if (index)
				*index = i;
			return e;
		}
	}
	return NULL;
}
