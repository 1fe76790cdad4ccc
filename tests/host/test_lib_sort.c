/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting, searching, arithmetic, random numbers. */
// SOURCES: lib/sort.c
#include "host.h"

#include "lib/math.h"
#include "lib/random.h"
#include "lib/sort.h"

struct wide {
	u32 key;
	u8 rest[9]; /* an odd size */
};

static int by_key(const void *a, const void *b)
{
	u32 x = ((const struct wide *)a)->key, y = ((const struct wide *)b)->key;

	return x < y ? -1 : x > y;
}

static int find_key(const void *key, const void *element)
{
	u32 x = *(const u32 *)key, y = ((const struct wide *)element)->key;

	return x < y ? -1 : x > y;
}

HOST_TEST(sort_and_search)
{
	static struct wide w[600];

	for (int round = 0; round < 100; round++) {
		size_t n = host_random() % 600;
		u64 sum = 0, after = 0;

		for (size_t i = 0; i < n; i++) {
			w[i].key = host_random() % 700 * 2;
			memset(w[i].rest, (int)w[i].key, sizeof(w[i].rest));
			sum += w[i].key;
		}
		sort(w, n, sizeof(w[0]), by_key);
		for (size_t i = 0; i < n; i++) {
			u32 odd = w[i].key + 1;
			struct wide *found = bsearch(&w[i].key, w, n, sizeof(w[0]), find_key);

			CHECK(!i || w[i - 1].key <= w[i].key);
			CHECK_EQ(w[i].rest[8], (u8)w[i].key);
			after += w[i].key;
			CHECK(found && found->key == w[i].key);
			CHECK(!bsearch(&odd, w, n, sizeof(w[0]), find_key));
		}
		CHECK_EQ(sum, after);
	}
}

HOST_TEST(arithmetic)
{
	CHECK_EQ(ilog2(1), 0);
	CHECK_EQ(ilog2(U64_MAX), 63);
	CHECK_EQ(fls64(0), 0);
	CHECK_EQ(order_base_2(5), 3);
	CHECK_EQ(order_base_2(8), 3);
	CHECK_EQ(roundup_pow_of_two(1), 1);
	CHECK_EQ(gcd(48, 36), 12);
	for (int i = 0; i < 20000; i++) {
		u64 v = host_random() >> host_random() % 64, r = isqrt(v);
		u64 a = host_random() >> host_random() % 64,
		    b = host_random() >> host_random() % 64;
		u64 c = (host_random() >> host_random() % 64) | 1;
		unsigned __int128 q = (unsigned __int128)a * b / c;
		unsigned int shift = host_random() % 64;

		CHECK(r * r <= v && (r == U32_MAX || (r + 1) * (r + 1) > v));
		CHECK_EQ(hweight64(v), __builtin_popcountll(v));
		CHECK_EQ(mul_div_u64(a, b, c), q > U64_MAX ? U64_MAX : (u64)q);
		CHECK_EQ(mul_u64_u64_shr(a, b, shift), (u64)((unsigned __int128)a * b >> shift));
	}
	CHECK_EQ(mul_div_u64(1, 1, 0), U64_MAX);
}

HOST_TEST(random_numbers)
{
	struct rng a, b;
	u32 bucket[16] = { 0 };

	rng_seed(&a, 42);
	rng_seed(&b, 42);
	for (int i = 0; i < 16000; i++) {
		u64 v = rng_u64(&a);

		CHECK(v == rng_u64(&b));
		bucket[v >> 60]++;
		CHECK(rng_below(&a, 10) < 10 && rng_below(&b, 10) < 10);
	}
	for (int i = 0; i < 16; i++)
		CHECK(bucket[i] > 800 && bucket[i] < 1200);
	CHECK_EQ(rng_below(&a, 1), 0);
	CHECK_EQ(rng_range(&a, 5, 5), 5);
}
