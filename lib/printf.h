/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printf.h - formatted text into a buffer. Understood: flags - + space # 0, width and precision
 * (also *), lengths hh h l ll z t j, conversions d i u x X o c s p %. Extensions of %p: %pS
 * symbol+offset (through printf_symbol), %pU a 16-byte UUID, %*ph bytes as hex.
 */
#ifndef LIB_PRINTF_H
#define LIB_PRINTF_H

#include "lib/types.h"

#ifdef QUIRE_HOST
#include <stdio.h>
#define vsnprintf quire_vsnprintf
#define snprintf quire_snprintf
#endif

/*
 * Writes at most size bytes with the final NUL; => the length the whole text has. => any context.
 */
int vsnprintf(char *buf, size_t size, const char *fmt, va_list ap);
int snprintf(char *buf, size_t size, const char *fmt, ...) __printf_like(3, 4);
/* The same, but => the number of characters really in buf. */
int vscnprintf(char *buf, size_t size, const char *fmt, va_list ap);
int scnprintf(char *buf, size_t size, const char *fmt, ...) __printf_like(3, 4);

/* Names a text address for %pS; kernel/ksyms.c sets it, NULL prints the number. => any context. */
extern const char *(*printf_symbol)(char *buf, size_t n, unsigned long addr);

#endif
