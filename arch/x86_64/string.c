/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * string.c - memory functions with the quadword string instructions.
 *
 * `rep movsq` moves 8 bytes per counted instruction and needs no SSE state; the odd bytes at the end are covered by one
 * quadword that overlaps what was already moved. Below 8 bytes two overlapping moves of half the size do the same.
 */
#include "lib/string.h"

#undef memcpy
#undef memmove
#undef memset
#undef memcmp

typedef u64 __attribute__((may_alias, aligned(1))) u64_any;
typedef u32 __attribute__((may_alias, aligned(1))) u32_any;
typedef u16 __attribute__((may_alias, aligned(1))) u16_any;

/* n < 8; all loads come before the stores, so the areas may overlap. */
static __always_inline void move_small(u8 *to, const u8 *from, size_t n)
{
	if (n >= 4) {
		u32 a = *(const u32_any *)from, b = *(const u32_any *)(from + n - 4);

		*(u32_any *)to = a;
		*(u32_any *)(to + n - 4) = b;
	} else if (n >= 2) {
		u16 a = *(const u16_any *)from, b = *(const u16_any *)(from + n - 2);

		*(u16_any *)to = a;
		*(u16_any *)(to + n - 2) = b;
	} else if (n) {
		*to = *from;
	}
}

void *memcpy(void *to, const void *from, size_t n)
{
	void *d = to;
	const void *s = from;
	size_t words = n / 8;

	if (unlikely(!words)) {
		move_small(to, from, n);
		return to;
	}
	__asm__ volatile("rep movsq" : "+D"(d), "+S"(s), "+c"(words) : : "memory");
	if (n & 7)
		*(u64_any *)((u8 *)to + n - 8) = *(const u64_any *)((const u8 *)from + n - 8);
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	u8 *d = to;
	const u8 *s = from;

	if (n < 8) {
		move_small(d, s, n);
	} else if ((size_t)(d - s) >= n) { /* to lies before from, or the areas do not touch */
		u64 last = *(const u64_any *)(s + n - 8);
		size_t words = n / 8;
		void *dp = d;
		const void *sp = s;

		__asm__ volatile("rep movsq" : "+D"(dp), "+S"(sp), "+c"(words) : : "memory");
		*(u64_any *)(d + n - 8) = last;
	} else {
		u64 first = *(const u64_any *)s;

		while (n >= 8) {
			n -= 8;
			*(u64_any *)(d + n) = *(const u64_any *)(s + n);
		}
		*(u64_any *)d = first;
	}
	return to;
}

void *memset(void *to, int c, size_t n)
{
	u64 v = (u8)c * 0x0101010101010101ull;
	size_t words = n / 8;
	u8 *p = to;
	void *d = to;

	if (unlikely(!words)) {
		if (n >= 4) {
			*(u32_any *)p = (u32)v;
			*(u32_any *)(p + n - 4) = (u32)v;
		} else if (n) {
			p[0] = p[n - 1] = p[n / 2] = (u8)v;
		}
		return to;
	}
	__asm__ volatile("rep stosq" : "+D"(d), "+c"(words) : "a"(v) : "memory");
	*(u64_any *)(p + n - 8) = v;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *p = a, *q = b;

	for (; n >= 8; n -= 8, p += 8, q += 8)
		if (*(const u64_any *)p != *(const u64_any *)q)
			break;
	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}
