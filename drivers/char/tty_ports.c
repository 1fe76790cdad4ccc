// SPDX-License-Identifier: BSD-2-Clause
/* tty_ports.c - the list of serial ports found at boot, in order of registration. */
#include "drivers/char/tty_driver.h"

static struct tty_port *first, **last = &first;

void tty_port_register(struct tty_port *port)
{
	port->next = NULL;
	*last = port;
	last = &port->next;
}

struct tty_port *tty_ports(void)
{
	return first;
}
