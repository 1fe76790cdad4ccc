/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * earlycon.c - COM1, polled, without locks: the console until drivers/char takes over, and the last
 * way out in a panic.
 */
#include "arch/io.h"
#include "internal.h"

#define COM1 0x3f8
#define UART_LSR 5
#define LSR_THRE 0x20

static void put(u8 c)
{
	/* Bounded: a machine without this UART reads 0xff or 0 and must not hang. */
	for (u32 i = 0; i < 20000 && !(inb(COM1 + UART_LSR) & LSR_THRE); i++)
		cpu_relax();
	outb(c, COM1);
}

void early_uart_write(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\n')
			put('\r');
		put(s[i]);
	}
}
