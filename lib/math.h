/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * math.h - integer arithmetic the language lacks: logarithms, roots, wide products. Inline and
 * pure.
 */
#ifndef LIB_MATH_H
#define LIB_MATH_H

#include "lib/types.h"

/* Position of the highest set bit plus one; 0 for 0. */
static __always_inline int fls64(u64 v)
{
	return v ? 64 - __builtin_clzll(v) : 0;
}
static __always_inline int fls(u32 v)
{
	return v ? 32 - __builtin_clz(v) : 0;
}
/* Position of the lowest set bit plus one; 0 for 0. */
static __always_inline int ffs64(u64 v)
{
	return v ? __builtin_ctzll(v) + 1 : 0;
}
/* Number of the lowest (highest) set bit. => v != 0. */
static __always_inline unsigned int __ffs(unsigned long v)
{
	return __builtin_ctzl(v);
}
static __always_inline unsigned int __fls(unsigned long v)
{
	return 63 - __builtin_clzl(v);
}
/* floor(log2 v). => v != 0. */
static __always_inline unsigned int ilog2(u64 v)
{
	return 63 - __builtin_clzll(v);
}
/* Smallest n with 2^n >= v; 0 for 0 and 1. */
static __always_inline unsigned int order_base_2(u64 v)
{
	return v > 1 ? fls64(v - 1) : 0;
}
static __always_inline bool is_power_of_2(u64 v)
{
	return v && !(v & (v - 1));
}
static __always_inline u64 roundup_pow_of_two(u64 v)
{
	return 1ull << order_base_2(v);
}
static __always_inline u64 rounddown_pow_of_two(u64 v)
{
	return 1ull << ilog2(v);
}
static __always_inline unsigned int hweight64(u64 v)
{
	v -= (v >> 1) & 0x5555555555555555ull;
	v = (v & 0x3333333333333333ull) + ((v >> 2) & 0x3333333333333333ull);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (v * 0x0101010101010101ull) >> 56;
}
/* floor(sqrt v), digit by digit in base 4. */
static inline u64 isqrt(u64 v)
{
	u64 root = 0, bit = v ? 1ull << (ilog2(v) & ~1u) : 0;

	for (; bit; bit >>= 2) {
		if (v >= root + bit) {
			v -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}
static inline u64 gcd(u64 a, u64 b)
{
	while (b) {
		u64 r = a % b;

		a = b;
		b = r;
	}
	return a;
}
/* a * b >> shift without losing the middle. */
static __always_inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (u64)(((unsigned __int128)a * b) >> shift);
}
/*
 * a * b / c with a 128-bit product, rounded down; U64_MAX when the quotient does not fit or c is 0.
 * (The compiler's 128-bit division would need a run-time library: schoolbook, one bit a step, when
 * the product is wide.)
 */
static inline u64 mul_div_u64(u64 a, u64 b, u64 c)
{
	unsigned __int128 p = (unsigned __int128)a * b;
	u64 hi = p >> 64, lo = (u64)p, q = 0;

	if (!hi)
		return c ? lo / c : U64_MAX;
	if (hi >= c)
		return U64_MAX;
	for (int i = 0; i < 64; i++) {
		u64 carry = hi >> 63;

		hi = hi << 1 | lo >> 63;
		lo <<= 1;
		q <<= 1;
		if (carry || hi >= c) {
			hi -= c;
			q |= 1;
		}
	}
	return q;
}
static __always_inline u64 abs_diff(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

#define check_add_overflow(a, b, out) __builtin_add_overflow(a, b, out)
#define check_sub_overflow(a, b, out) __builtin_sub_overflow(a, b, out)
#define check_mul_overflow(a, b, out) __builtin_mul_overflow(a, b, out)

#endif
