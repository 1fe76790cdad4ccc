/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bitmap.c - sets of small numbers, a word at a time; bits of the last word beyond n are never
 * looked at.
 */
#include "lib/bitmap.h"
#include "lib/math.h"
#include "lib/printf.h"

#define LOW_MASK(n) ((n)&63 ? (1ul << ((n)&63)) - 1 : ~0ul) /* valid bits of the last word */

static unsigned long find_next(const unsigned long *map, unsigned long n, unsigned long start,
			       unsigned long flip)
{
	unsigned long i = start / 64, w;

	if (start >= n)
		return n;
	w = (map[i] ^ flip) & (~0ul << (start & 63));
	while (!w) {
		if (++i * 64 >= n)
			return n;
		w = map[i] ^ flip;
	}
	return min(i * 64 + __builtin_ctzl(w), n);
}

unsigned long find_next_bit(const unsigned long *map, unsigned long n, unsigned long start)
{
	return find_next(map, n, start, 0);
}

unsigned long find_next_zero_bit(const unsigned long *map, unsigned long n, unsigned long start)
{
	return find_next(map, n, start, ~0ul);
}

unsigned long find_last_bit(const unsigned long *map, unsigned long n)
{
	unsigned long i = BITS_TO_LONGS(n), mask = LOW_MASK(n);

	while (i--) {
		if (map[i] & mask)
			return i * 64 + 63 - __builtin_clzl(map[i] & mask);
		mask = ~0ul;
	}
	return n;
}

unsigned long bitmap_find_zero_area(const unsigned long *map, unsigned long n, unsigned long start,
				    unsigned long count, unsigned long align)
{
	for (;;) {
		unsigned long end;

		start = ALIGN_UP(find_next_zero_bit(map, n, start), align);
		if (start >= n || count > n - start)
			return n;
		end = find_next_bit(map, start + count, start);
		if (end >= start + count)
			return start;
		start = end + 1;
	}
}

void bitmap_set(unsigned long *map, unsigned long start, unsigned long count)
{
	while (count) {
		unsigned long bit = start & 63, len = min(64 - bit, count);

		map[start / 64] |= (~0ul >> (64 - len)) << bit;
		start += len;
		count -= len;
	}
}

void bitmap_clear(unsigned long *map, unsigned long start, unsigned long count)
{
	while (count) {
		unsigned long bit = start & 63, len = min(64 - bit, count);

		map[start / 64] &= ~((~0ul >> (64 - len)) << bit);
		start += len;
		count -= len;
	}
}

void bitmap_zero(unsigned long *map, unsigned long n)
{
	for (unsigned long i = 0; i < BITS_TO_LONGS(n); i++)
		map[i] = 0;
}

void bitmap_fill(unsigned long *map, unsigned long n)
{
	bitmap_zero(map, n);
	bitmap_set(map, 0, n);
}

void bitmap_copy(unsigned long *to, const unsigned long *from, unsigned long n)
{
	for (unsigned long i = 0; i < BITS_TO_LONGS(n); i++)
		to[i] = from[i];
}

void bitmap_and(unsigned long *to, const unsigned long *a, const unsigned long *b, unsigned long n)
{
	for (unsigned long i = 0; i < BITS_TO_LONGS(n); i++)
		to[i] = a[i] & b[i];
}

void bitmap_or(unsigned long *to, const unsigned long *a, const unsigned long *b, unsigned long n)
{
	for (unsigned long i = 0; i < BITS_TO_LONGS(n); i++)
		to[i] = a[i] | b[i];
}

void bitmap_andnot(unsigned long *to, const unsigned long *a, const unsigned long *b,
		   unsigned long n)
{
	for (unsigned long i = 0; i < BITS_TO_LONGS(n); i++)
		to[i] = a[i] & ~b[i];
}

/* The word of index i with the bits beyond n cut off. */
static inline unsigned long word(const unsigned long *map, unsigned long i, unsigned long n)
{
	return i == (n - 1) / 64 ? map[i] & LOW_MASK(n) : map[i];
}

bool bitmap_empty(const unsigned long *map, unsigned long n)
{
	return find_first_bit(map, n) >= n;
}

bool bitmap_full(const unsigned long *map, unsigned long n)
{
	return find_first_zero_bit(map, n) >= n;
}

bool bitmap_equal(const unsigned long *a, const unsigned long *b, unsigned long n)
{
	for (unsigned long i = 0; i < BITS_TO_LONGS(n); i++)
		if (word(a, i, n) != word(b, i, n))
			return false;
	return true;
}

bool bitmap_subset(const unsigned long *a, const unsigned long *b, unsigned long n)
{
	for (unsigned long i = 0; i < BITS_TO_LONGS(n); i++)
		if (word(a, i, n) & ~b[i])
			return false;
	return true;
}

bool bitmap_intersects(const unsigned long *a, const unsigned long *b, unsigned long n)
{
	for (unsigned long i = 0; i < BITS_TO_LONGS(n); i++)
		if (word(a, i, n) & b[i])
			return true;
	return false;
}

unsigned long bitmap_weight(const unsigned long *map, unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < BITS_TO_LONGS(n); i++)
		sum += hweight64(word(map, i, n));
	return sum;
}

int bitmap_print_list(char *buf, size_t size, const unsigned long *map, unsigned long n)
{
	size_t len = 0;
	unsigned long start = find_first_bit(map, n);

	if (size)
		*buf = 0;
	while (start < n) {
		unsigned long end = find_next_zero_bit(map, n, start);
		const char *comma = len ? "," : "";
		char *to = len < size ? buf + len : NULL;
		size_t room = len < size ? size - len : 0;

		if (end - start == 1)
			len += snprintf(to, room, "%s%lu", comma, start);
		else
			len += snprintf(to, room, "%s%lu-%lu", comma, start, end - 1);
		start = find_next_bit(map, n, end);
	}
	return len;
}

int bitmap_print_hex(char *buf, size_t size, const unsigned long *map, unsigned long n)
{
	size_t len = 0;
	unsigned long groups = (n + 31) / 32;

	if (size)
		*buf = 0;
	while (groups--) {
		u32 v = word(map, groups / 2, n) >> (groups & 1 ? 32 : 0);
		/* The top group has only as many digits as it has bits. */
		int width = len || !(n & 31) ? 8 : (int)((n & 31) + 3) / 4;

		len += snprintf(len < size ? buf + len : NULL, len < size ? size - len : 0,
				"%s%0*x", len ? "," : "", width, v);
	}
	return len;
}
