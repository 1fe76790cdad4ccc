/* SPDX-License-Identifier: BSD-2-Clause */
/* Bitmaps against arrays of bool. */
// SOURCES: lib/bitmap.c lib/printf.c lib/string.c
#include "host.h"

#include "lib/bitmap.h"

#define N 190

static unsigned long map[BITS_TO_LONGS(N)];
static bool model[N];

static bool bit(const unsigned long *m, unsigned long i)
{
	return m[i / 64] >> (i & 63) & 1;
}

static void randomize(void)
{
	memset(map, 0, sizeof(map));
	memset(model, 0, sizeof(model));
	for (int r = host_random() % 12; r >= 0; r--) {
		unsigned long start = host_random() % N, count = host_random() % (N - start + 1);
		bool value = host_random() % 2;

		if (value)
			bitmap_set(map, start, count);
		else
			bitmap_clear(map, start, count);
		for (unsigned long i = start; i < start + count; i++)
			model[i] = value;
	}
}

HOST_TEST(ranges_and_searches)
{
	for (int round = 0; round < 2000; round++) {
		unsigned long n = 1 + host_random() % N, start = host_random() % (n + 1), i,
			      weight = 0, last = n;

		randomize();
		for (i = 0; i < N; i++)
			CHECK_EQ(bit(map, i), model[i]);
		for (i = start; i < n && !model[i];)
			i++;
		CHECK_EQ(find_next_bit(map, n, start), i);
		for (i = start; i < n && model[i];)
			i++;
		CHECK_EQ(find_next_zero_bit(map, n, start), i);
		for (i = 0; i < n; i++) {
			weight += model[i];
			if (model[i])
				last = i;
		}
		CHECK_EQ(bitmap_weight(map, n), weight);
		CHECK_EQ(find_last_bit(map, n), last);
		CHECK_EQ(bitmap_empty(map, n), weight == 0);
		CHECK_EQ(bitmap_full(map, n), weight == n);
		i = 0;
		for_each_set_bit(start, map, n)
			i++;
		CHECK_EQ(i, weight);
	}
}

HOST_TEST(zero_area)
{
	for (int round = 0; round < 2000; round++) {
		unsigned long count = 1 + host_random() % 20, align = 1ul << host_random() % 4,
			      want = N;

		randomize();
		for (unsigned long s = 0; s + count <= N && want == N; s += align) {
			unsigned long i = 0;

			while (i < count && !model[s + i])
				i++;
			if (i == count)
				want = s;
		}
		CHECK_EQ(bitmap_find_zero_area(map, N, 0, count, align), want);
	}
}

HOST_TEST(set_algebra)
{
	unsigned long a[BITS_TO_LONGS(N)], out[BITS_TO_LONGS(N)];
	bool ma[N];

	for (int round = 0; round < 500; round++) {
		bool subset = true, meet = false, equal = true;

		randomize();
		memcpy(a, map, sizeof(a));
		memcpy(ma, model, sizeof(ma));
		if (round % 4)
			randomize();
		for (int i = 0; i < N; i++) {
			subset &= !ma[i] || model[i];
			meet |= ma[i] && model[i];
			equal &= ma[i] == model[i];
		}
		CHECK_EQ(bitmap_subset(a, map, N), subset);
		CHECK_EQ(bitmap_intersects(a, map, N), meet);
		CHECK_EQ(bitmap_equal(a, map, N), equal);
		bitmap_andnot(out, a, map, N);
		CHECK(!bitmap_intersects(out, map, N));
		bitmap_or(out, a, map, N);
		CHECK(bitmap_subset(a, out, N) && bitmap_subset(map, out, N));
		bitmap_and(out, a, map, N);
		CHECK(bitmap_subset(out, a, N) && bitmap_subset(out, map, N));
	}
}

HOST_TEST(printing)
{
	char buf[64];
	unsigned long m[2] = { 0x10f, 1ul << 63 };

	CHECK_EQ(bitmap_print_list(buf, sizeof(buf), m, 128), 9);
	CHECK_STR(buf, "0-3,8,127");
	bitmap_print_hex(buf, sizeof(buf), m, 64);
	CHECK_STR(buf, "00000000,0000010f");
	bitmap_print_hex(buf, sizeof(buf), m, 2);
	CHECK_STR(buf, "3");
	CHECK_EQ(bitmap_print_list(buf, 4, m, 128), 9);
	CHECK_STR(buf, "0-3");
	m[0] = m[1] = 0;
	bitmap_print_list(buf, sizeof(buf), m, 128);
	CHECK_STR(buf, "");
}
