/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bitmap.h - arrays of unsigned long as sets of small numbers. Single bits, also the atomic ones:
 * arch/atomic.h.
 */
#ifndef LIB_BITMAP_H
#define LIB_BITMAP_H

#include "lib/types.h"

#define BITS_PER_LONG 64
#define BITS_TO_LONGS(n) (((n) + 63) / 64)
#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]

/* => the number of the first set (zero) bit at or after start; n when there is none. */
unsigned long find_next_bit(const unsigned long *map, unsigned long n, unsigned long start);
unsigned long find_next_zero_bit(const unsigned long *map, unsigned long n, unsigned long start);
#define find_first_bit(map, n) find_next_bit(map, n, 0)
#define find_first_zero_bit(map, n) find_next_zero_bit(map, n, 0)
/* => the last set bit below n, or n. */
unsigned long find_last_bit(const unsigned long *map, unsigned long n);
/*
 * First run of count zero bits whose start is a multiple of align (a power of two); n when there is
 * none.
 */
unsigned long bitmap_find_zero_area(const unsigned long *map, unsigned long n, unsigned long start,
				    unsigned long count, unsigned long align);
void bitmap_set(unsigned long *map, unsigned long start, unsigned long count);
void bitmap_clear(unsigned long *map, unsigned long start, unsigned long count);
void bitmap_zero(unsigned long *map, unsigned long n);
void bitmap_fill(unsigned long *map, unsigned long n);
void bitmap_copy(unsigned long *to, const unsigned long *from, unsigned long n);
void bitmap_and(unsigned long *to, const unsigned long *a, const unsigned long *b, unsigned long n);
void bitmap_or(unsigned long *to, const unsigned long *a, const unsigned long *b, unsigned long n);
void bitmap_andnot(unsigned long *to, const unsigned long *a, const unsigned long *b,
		   unsigned long n);
bool bitmap_empty(const unsigned long *map, unsigned long n);
bool bitmap_full(const unsigned long *map, unsigned long n);
bool bitmap_equal(const unsigned long *a, const unsigned long *b, unsigned long n);
bool bitmap_subset(const unsigned long *a, const unsigned long *b, unsigned long n); /* a in b */
bool bitmap_intersects(const unsigned long *a, const unsigned long *b, unsigned long n);
unsigned long bitmap_weight(const unsigned long *map, unsigned long n);
/* "0-3,8" and "00000001,0000000f" (groups of 32 bits); like snprintf. */
int bitmap_print_list(char *buf, size_t size, const unsigned long *map, unsigned long n);
int bitmap_print_hex(char *buf, size_t size, const unsigned long *map, unsigned long n);

#define for_each_set_bit(bit, map, n)                                                              \
	for ((bit) = find_next_bit(map, n, 0); (bit) < (n);                                        \
	     (bit) = find_next_bit(map, n, (bit) + 1))
#define for_each_clear_bit(bit, map, n)                                                            \
	for ((bit) = find_next_zero_bit(map, n, 0); (bit) < (n);                                   \
	     (bit) = find_next_zero_bit(map, n, (bit) + 1))

#endif
