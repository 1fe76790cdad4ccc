/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash.h - hashing of words and strings: multiplicative for numbers and pointers, FNV-1a for bytes
 * [FNV].
 */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include "lib/types.h"

#define HASH_GOLDEN_64 0x9e3779b97f4a7c15ull /* 2^64 / golden ratio, odd */

/* => 0 .. 2^bits - 1 (bits 1..64): the product's high bits depend on every bit of v. */
static __always_inline u64 hash_64(u64 v, unsigned int bits)
{
	return (v * HASH_GOLDEN_64) >> (64 - bits);
}
static __always_inline u32 hash_ptr(const void *p, unsigned int bits)
{
	return hash_64((unsigned long)p, bits);
}
/* A full mix of 64 bits (finaliser of splitmix64). */
static __always_inline u64 hash_mix(u64 v)
{
	v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
	return v ^ (v >> 31);
}
static inline u64 hash_bytes(const void *data, size_t n, u64 seed)
{
	const u8 *p = data;
	u64 h = 0xcbf29ce484222325ull ^ seed;

	while (n--)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}
static inline u64 hash_string(const char *s, u64 seed)
{
	u64 h = 0xcbf29ce484222325ull ^ seed;

	while (*s)
		h = (h ^ (u8)*s++) * 0x100000001b3ull;
	return h;
}

#endif
