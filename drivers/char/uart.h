/* SPDX-License-Identifier: BSD-2-Clause */
/* uart.h - the two 16550 serial ports: ttyS0 (0x3f8, console) and ttyS1 (0x2f8, results). */
#ifndef DRIVERS_CHAR_UART_H
#define DRIVERS_CHAR_UART_H

#include "drivers/char/tty_driver.h"

extern const struct tty_driver uart_driver;

/*
 * Finds the ports, sets 115200 8N1 with FIFOs, takes their interrupts. => after arch_irq_init();
 * once. 0 or -ENODEV.
 */
int uart_init(void);

#endif
