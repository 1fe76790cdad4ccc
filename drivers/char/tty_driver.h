/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tty_driver.h - the contract between serial lines (drivers/char) and the terminals above them
 * (sys/tty.c).
 *
 * A driver has lines 0..nr_lines-1. The terminal layer connects itself to a line with callbacks and
 * an argument; characters come up from the line's interrupt, output goes down into the driver's
 * ring and drains by interrupt.
 */
#ifndef DRIVERS_CHAR_TTY_DRIVER_H
#define DRIVERS_CHAR_TTY_DRIVER_H

#include "lib/types.h"

struct tty_line_ops { /* given by the terminal layer; called in hard interrupt context */
	void (*receive)(void *arg, const u8 *p, size_t n); /* n <= 32 */
	/* a write was cut short and now there is room again */
	void (*writable)(void *arg);
};
struct tty_driver {
	const char *name; /* lines are called name + number: "ttyS" */
	unsigned int nr_lines;
	bool (*present)(unsigned int line);
	/* => ops NULL disconnects */
	void (*connect)(unsigned int line, const struct tty_line_ops *ops, void *arg);
	/*
	 * Queues at most n bytes for output and starts sending. => bytes taken; any context, never
	 * sleeps.
	 */
	size_t (*write)(unsigned int line, const u8 *p, size_t n);
	size_t (*write_room)(unsigned int line); /* free bytes in the output buffer */
	size_t (*pending)(unsigned int line);	 /* bytes not sent yet */
	void (*flush)(unsigned int line);	 /* throws them away */
	void (*drain)(unsigned int line);	 /* polls until all is out: power off */
};

#endif
