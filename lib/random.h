/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random.h - a seeded generator as an instance (xoshiro256** [Blackman18], seeded by splitmix64):
 * same seed, same numbers, on every machine. Statistical quality only; not for secrets.
 */
#ifndef LIB_RANDOM_H
#define LIB_RANDOM_H

#include "lib/hash.h"

struct rng {
	u64 s[4];
};

static inline void rng_seed(struct rng *r, u64 seed)
{
	for (int i = 0; i < 4; i++) {
		seed += HASH_GOLDEN_64;
		r->s[i] = hash_mix(seed);
	}
}
static inline u64 __rng_rotl(u64 v, int k)
{
	return v << k | v >> (64 - k);
}
static inline u64 rng_u64(struct rng *r)
{
	u64 result = __rng_rotl(r->s[1] * 5, 7) * 9, t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = __rng_rotl(r->s[3], 45);
	return result;
}
static inline u32 rng_u32(struct rng *r)
{
	return rng_u64(r) >> 32;
}
/* => 0 .. n-1 (0 for n = 0), by the high word of a product; the bias is below n / 2^64. */
static inline u64 rng_below(struct rng *r, u64 n)
{
	return (u64)(((unsigned __int128)rng_u64(r) * n) >> 64);
}
/* => lo .. hi, both included. */
static inline u64 rng_range(struct rng *r, u64 lo, u64 hi)
{
	return lo + rng_below(r, hi - lo + 1);
}
/* True once in n. */
static inline bool rng_one_in(struct rng *r, u64 n)
{
	return rng_below(r, n) == 0;
}

#endif
