/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show.h - the one registry of things that can be read (and set) by name: /proc, /sys, tracefs, the
 * panic path, gdb.
 *
 * Owners register their files next to the data: SHOW("/proc/meminfo", 0444, meminfo_show, NULL).
 * procfs, sysfs and tracefs only walk the table. A show function prints the whole file into a seq;
 * when the text does not fit the reader comes again with a larger buffer (so show functions have no
 * side effects).
 * Paths are absolute. SHOW_ARRAY paths contain one %d that runs over 0..nr()-1; SHOW_NAMED paths
 * contain one %s that runs over name(0)..name(nr()-1), and a name may contain slashes
 * ("vm/swappiness"). Walkers need not care:
 *
 *   for (e = NULL; (e = show_next(e));)
 *           for (i = 0; i < show_count(e); i++)
 *                   if (show_path(e, i, buf, sizeof(buf)) > 0) ... buf is the path of one file ...
 */
#ifndef KERNEL_SHOW_H
#define KERNEL_SHOW_H

#include "lib/types.h"

struct seq {
	char *buf;
	size_t size;			/* of buf */
	size_t count;			/* bytes wanted so far; > size means it did not fit */
	void (*flush)(struct seq *seq); /* panic path: called when full, empties buf; else NULL */
	/* argument of the file: the process of /proc/PID files, the index otherwise NULL */
	void *arg;
	long index; /* SHOW_ARRAY index, else 0 */
};
void seq_printf(struct seq *seq, const char *fmt, ...) __printf_like(2, 3);
void seq_puts(struct seq *seq, const char *s);
void seq_putc(struct seq *seq, char c);
void seq_write(struct seq *seq, const void *data, size_t n);
/* A node or CPU mask as list "0-3,8" and as hex "00000000,0000000f". */
void seq_bitmap_list(struct seq *seq, const unsigned long *bits, unsigned int nbits);
void seq_bitmap_hex(struct seq *seq, const unsigned long *bits, unsigned int nbits);

struct show_entry {
	const char *path;
	u16 mode; /* 0444, 0644, 0200 */
	/* 0 or -errno; NULL: not readable */
	int (*show)(struct seq *seq);
	/* n (NUL-terminated text) or -errno; NULL: not writable */
	ssize_t (*store)(const char *text, size_t n, long index);
	int (*nr)(void);		 /* SHOW_ARRAY */
	bool (*present)(long index);	 /* optional: is there a file for this index now */
	const char *(*name)(long index); /* SHOW_NAMED */
	struct show_entry *next;	 /* dynamic ones */
};
extern struct show_entry __show_start[], __show_end[];

#define SHOW(path_, mode_, show_, store_)                                                          \
	static struct show_entry __unique(__show_)                                                 \
		__attribute__((section(".show"), used, aligned(8))) = {                            \
			.path = path_, .mode = mode_, .show = show_, .store = store_               \
		}
#define SHOW_ARRAY(path_, mode_, nr_, present_, show_, store_)                                     \
	static struct show_entry __unique(__show_)                                                 \
		__attribute__((section(".show"), used, aligned(8))) = { .path = path_,             \
									.mode = mode_,             \
									.show = show_,             \
									.store = store_,           \
									.nr = nr_,                 \
									.present = present_ }
#define SHOW_NAMED(path_, mode_, nr_, name_, show_, store_)                                        \
	static struct show_entry __unique(__show_)                                                 \
		__attribute__((section(".show"), used, aligned(8))) = { .path = path_,             \
									.mode = mode_,             \
									.show = show_,             \
									.store = store_,           \
									.nr = nr_,                 \
									.name = name_ }
/* For things that come to be at run time (a disk). => entry stays valid for ever. */
void show_register(struct show_entry *entry);
/* Walks static, then dynamic entries: *entry = NULL starts. */
struct show_entry *show_next(struct show_entry *entry);
/* How many files the entry stands for now (1 for a plain one). */
long show_count(const struct show_entry *entry);
/* Path of file number index. => its length; 0: no such file now; -ENAMETOOLONG. */
int show_path(const struct show_entry *entry, long index, char *buf, size_t n);
/* Finds the file of a path. => the entry and its index, or NULL. */
struct show_entry *show_find(const char *path, long *index);
/*
 * Trees that also appear under an older name: pairs {link, target}, ended by {NULL, NULL}; symbolic
 * links in sysfs.
 */
extern const char *const show_aliases[][2];

#endif
