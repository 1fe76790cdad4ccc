/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers, sizes, lists: round trips, limits, and what must be refused. */
// SOURCES: lib/parse.c lib/bitmap.c lib/printf.c lib/string.c
#include "host.h"

#include "lib/bitmap.h"
#include "lib/errno.h"
#include "lib/parse.h"
#include "lib/printf.h"

HOST_TEST(numbers)
{
	u64 u = 7;
	s64 s;
	u32 w;
	int i;

	CHECK(!parse_u64("0", &u) && u == 0);
	CHECK(!parse_u64("18446744073709551615\n", &u) && u == U64_MAX);
	CHECK_EQ(parse_u64("18446744073709551616", &u), -ERANGE);
	CHECK(!parse_u64("0xffffFFFFffffFFFF", &u) && u == U64_MAX);
	CHECK_EQ(parse_u64("0x10000000000000000", &u), -ERANGE);
	CHECK(!parse_u64("0755", &u) && u == 0755);
	u = 7;
	CHECK_EQ(parse_u64("", &u), -EINVAL);
	CHECK_EQ(parse_u64("0x", &u), -EINVAL);
	CHECK_EQ(parse_u64("12x", &u), -EINVAL);
	CHECK_EQ(parse_u64(" 12", &u), -EINVAL);
	CHECK_EQ(parse_u64("-1", &u), -EINVAL);
	CHECK_EQ(parse_u64("12\n\n", &u), -EINVAL);
	CHECK_EQ(u, 7);
	CHECK(!parse_s64("-9223372036854775808", &s) && s == -S64_MAX - 1);
	CHECK_EQ(parse_s64("-9223372036854775809", &s), -ERANGE);
	CHECK_EQ(parse_s64("9223372036854775808", &s), -ERANGE);
	CHECK(!parse_u32("4294967295", &w) && w == U32_MAX);
	CHECK_EQ(parse_u32("4294967296", &w), -ERANGE);
	CHECK(!parse_int("-2147483648", &i) && i == -INT_MAX - 1);
	CHECK_EQ(parse_int("2147483648", &i), -ERANGE);
}

HOST_TEST(sizes)
{
	u64 v;

	CHECK(!parse_size("64M", &v) && v == MiB(64));
	CHECK(!parse_size("1g", &v) && v == GiB(1));
	CHECK(!parse_size("4K\n", &v) && v == 4096);
	CHECK(!parse_size("0x10k", &v) && v == 16384);
	CHECK(!parse_size("16777215T", &v));
	CHECK_EQ(parse_size("16777216T", &v), -ERANGE);
	CHECK_EQ(parse_size("M", &v), -EINVAL);
	CHECK_EQ(parse_size("1MB", &v), -EINVAL);
}

HOST_TEST(bools)
{
	bool b = false;

	CHECK(!parse_bool("on", &b) && b);
	CHECK(!parse_bool("0\n", &b) && !b);
	CHECK(!parse_bool("Y", &b) && b);
	CHECK_EQ(parse_bool("2", &b), -EINVAL);
	CHECK_EQ(parse_bool("", &b), -EINVAL);
	CHECK_EQ(parse_bool("on\nx", &b), -EINVAL);
}

HOST_TEST(lists_round_trip)
{
	char text[1024], again[1024];

	for (int round = 0; round < 3000; round++) {
		DECLARE_BITMAP(a, 200) = { 0 };
		DECLARE_BITMAP(b, 200);
		unsigned int n = 1 + host_random() % 200;

		for (int i = host_random() % 40; i > 0; i--) {
			unsigned long start = host_random() % n;

			bitmap_set(a, start, 1 + host_random() % (n - start));
			if (host_random() % 2)
				bitmap_clear(a, start, 1);
		}
		bitmap_print_list(text, sizeof(text), a, n);
		memset(b, 0xff, sizeof(b));
		CHECK_EQ(parse_list(text, b, n), 0);
		CHECK(bitmap_equal(a, b, n));
		bitmap_print_hex(text, sizeof(text), a, n);
		CHECK_EQ(parse_hex_mask(text, b, n), 0);
		CHECK(bitmap_equal(a, b, n));
		bitmap_print_hex(again, sizeof(again), b, n);
		CHECK_STR(text, again);
	}
}

HOST_TEST(lists_refused)
{
	static const char *const bad[] = { "1,", ",1",	"1-",	  "-1",	  "3-1",
					   "a",	 "1 2", "0-3,8x", "1,,2", "1\n2" };
	unsigned long bits[1] = { 0x5555 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQ(parse_list(bad[i], bits, 64), -EINVAL);
	CHECK_EQ(parse_list("64", bits, 64), -ERANGE);
	CHECK_EQ(parse_list("0-99999999999999999999999", bits, 64), -ERANGE);
	CHECK_EQ(parse_hex_mask("g", bits, 64), -EINVAL);
	CHECK_EQ(parse_hex_mask("", bits, 64), -EINVAL);
	CHECK_EQ(parse_hex_mask("1,00000000,00000000", bits, 64), -ERANGE);
	CHECK_EQ(bits[0], 0x5555);
	CHECK_EQ(parse_list("\n", bits, 64), 0);
	CHECK_EQ(bits[0], 0);
}

HOST_TEST(noise_is_survived)
{
	static const char letters[] = "0123456789-,xkKMG \nabcf";
	unsigned long bits[2];
	char text[24];
	u64 u;
	s64 s;
	bool b;

	for (int round = 0; round < 100000; round++) {
		int n = host_random() % (sizeof(text) - 1);

		for (int i = 0; i < n; i++)
			text[i] = letters[host_random() % (sizeof(letters) - 1)];
		text[n] = 0;
		parse_u64(text, &u);
		parse_s64(text, &s);
		parse_size(text, &u);
		parse_bool(text, &b);
		parse_list(text, bits, 1 + host_random() % 128);
		parse_hex_mask(text, bits, 1 + host_random() % 128);
	}
}
