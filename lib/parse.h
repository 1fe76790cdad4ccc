/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parse.h - text to numbers, strictly: the whole text must be the number (one final newline is
 * allowed, as `echo` writes it), nothing overflows silently. => 0 or -EINVAL (not a number),
 * -ERANGE (does not fit); *out untouched then.
 */
#ifndef LIB_PARSE_H
#define LIB_PARSE_H

#include "lib/types.h"

int parse_u64(const char *s, u64 *out); /* decimal, 0x hexadecimal, 0 octal */
int parse_s64(const char *s, s64 *out);
int parse_u32(const char *s, u32 *out);
int parse_int(const char *s, int *out);
int parse_ulong(const char *s, unsigned long *out);
int parse_size(const char *s, u64 *out); /* with suffix K, M, G, T (1024 each; small letters too) */
int parse_bool(const char *s, bool *out); /* 1 0 y n yes no on off true false */
/* "0-3,8" into bits 0..nbits-1; an empty text is the empty set. */
int parse_list(const char *s, unsigned long *bits, unsigned int nbits);
/* Hexadecimal mask "ff" or "1,00000000" (groups of 32 bits). */
int parse_hex_mask(const char *s, unsigned long *bits, unsigned int nbits);

/*
 * Reads the digits at s (base 0: as written, 2..16). => the first character not used; NULL:
 * overflow; s: no digits.
 */
const char *parse_digits(const char *s, unsigned int base, u64 *out);
/* Digits with an optional size suffix. => like parse_digits. */
const char *parse_size_prefix(const char *s, u64 *out);

#endif
