/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tty_driver.h - the contract between a serial port's driver (drivers/char) and the terminals above it (sys/tty.c).
 *
 * The driver registers its ports; the terminal layer attaches to each with an owner and two callbacks. Characters come
 * up from the port's interrupt; output goes down into the driver's own buffer and drains by interrupt.
 */
#ifndef DRIVERS_CHAR_TTY_DRIVER_H
#define DRIVERS_CHAR_TTY_DRIVER_H

#include "lib/types.h"

struct tty_port;

struct tty_driver {
	const char *name; /* "uart" */
	/* Queues at most n bytes for output and starts sending. => bytes taken; any context, never sleeps. */
	size_t (*write)(struct tty_port *port, const u8 *p, size_t n);
	/* Free bytes in the output buffer; bytes still to be sent. */
	size_t (*write_room)(struct tty_port *port);
	size_t (*pending)(struct tty_port *port);
	/* Speed in bits per second from TCSETS; NULL: fixed. */
	void (*set_speed)(struct tty_port *port, u32 baud);
};
struct tty_port {
	const char *name;   /* "ttyS0": also the device node */
	u32 minor;          /* of major 4: 64 + n */
	const struct tty_driver *driver;
	void *private;      /* the driver's */
	/* Filled by the terminal layer before any interrupt is let in (tty_port_attach). */
	void *owner;
	void (*receive)(void *owner, const u8 *p, size_t n); /* hard interrupt context; n <= 64 */
	void (*writable)(void *owner);                       /* room again; hard interrupt or softirq context */
	void (*attached)(struct tty_port *port);             /* the driver's: turn the receive interrupt on; may be NULL */
	struct tty_port *next;
};
/* drivers/char/tty_ports.c. Driver's init: a port exists. => thread context or boot, before tty_init(). */
void tty_port_register(struct tty_port *port);
/* First registered port, then ->next. */
struct tty_port *tty_ports(void);

#endif
