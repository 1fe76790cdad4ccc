/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printk.h - the kernel log: a ring of records with levels; the console is drained by a thread
 * (directly while there is none yet, and in panic). => printk is usable in any context, NMI
 * included.
 */
#ifndef KERNEL_PRINTK_H
#define KERNEL_PRINTK_H

#include "lib/types.h"

enum { LOG_EMERG, LOG_ALERT, LOG_CRIT, LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG };

void vprintk(int level, const char *fmt, va_list ap);
void printk(int level, const char *fmt, ...) __printf_like(2, 3);

/* "prefix: text" by convention; a final newline is implied. */
#define pr_err(...) printk(LOG_ERR, __VA_ARGS__)
#define pr_warn(...) printk(LOG_WARNING, __VA_ARGS__)
#define pr_notice(...) printk(LOG_NOTICE, __VA_ARGS__)
#define pr_info(...) printk(LOG_INFO, __VA_ARGS__)
#define pr_debug(...) printk(LOG_DEBUG, __VA_ARGS__)
#define pr_warn_once(...)                                                                          \
	do {                                                                                       \
		static bool _once;                                                                 \
		if (!_once) {                                                                      \
			_once = true;                                                              \
			pr_warn(__VA_ARGS__);                                                      \
		}                                                                                  \
	} while (0)

/* A sink of log text; write never sleeps, may be called with IRQs off only in panic. */
struct console {
	const char *name;
	void (*write)(const char *s, size_t n);
	struct console *next;
};
void console_register(struct console *con);
/*
 * The drain thread's body (started by sys/main once threads exist): printk_drain() writes out at
 * most one record.
 */
bool printk_drain(void);		   /* => false when the ring is empty */
void printk_set_async(void (*wake)(void)); /* from now on printk only wakes the drain thread */
void printk_flush(void);		   /* panic, power off: everything out, synchronously */

/*
 * syslog(2) and /dev/kmsg: copies records from sequence *seq on as "<level>[time] text\n". Returns
 * bytes.
 */
size_t printk_read(u64 *seq, char *buf, size_t n, int with_prefix);
size_t printk_ring_bytes(void);
u64 printk_first_seq(void);
u64 printk_next_seq(void);
void printk_clear(void);
extern int console_loglevel;

#endif
