/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own memory functions (their string instructions run here too) and the functions libc
 * lacks.
 */
// SOURCES: lib/string.c arch/x86_64/string.c
#include "host.h"

#include "lib/errno.h"
#include "lib/string.h"

void *kernel_memcpy(void *to, const void *from, size_t n);
void *kernel_memmove(void *to, const void *from, size_t n);
void *kernel_memset(void *to, int c, size_t n);
int kernel_memcmp(const void *a, const void *b, size_t n);

static u8 a[300], b[300];

static void randomize(void)
{
	for (int i = 0; i < 300; i++)
		a[i] = b[i] = host_random();
}

HOST_TEST(memory_functions)
{
	for (int round = 0; round < 50000; round++) {
		size_t n = host_random() % (round % 4 ? 20 : 130), from = host_random() % 160,
		       to = host_random() % 160;
		int c;

		randomize();
		kernel_memmove(a + to, a + from, n);
		memmove(b + to, b + from, n);
		CHECK(!memcmp(a, b, 300));
		kernel_memset(a + to, (int)from, n);
		memset(b + to, (int)from, n);
		CHECK(!memcmp(a, b, 300));
		if (from + n <= to || to + n <= from) {
			kernel_memcpy(a + to, a + from, n);
			memcpy(b + to, b + from, n);
			CHECK(!memcmp(a, b, 300));
		}
		c = kernel_memcmp(a + from, b + from, n);
		CHECK_EQ(c, 0);
		if (n) {
			size_t at = host_random() % n;

			a[from + at] ^= 1 << host_random() % 8;
			c = kernel_memcmp(a + from, b + from, n);
			CHECK_EQ(c < 0, a[from + at] < b[from + at]);
			CHECK(c);
		}
	}
}

HOST_TEST(bounded_copies)
{
	char buf[8];

	CHECK_EQ(strlcpy(buf, "0123456789", 8), 10);
	CHECK_STR(buf, "0123456");
	CHECK_EQ(strscpy(buf, "0123456789", 8), -E2BIG);
	CHECK_EQ(strscpy(buf, "0123456", 8), 7);
	CHECK_STR(buf, "0123456");
	strlcpy(buf, "ab", 8);
	CHECK_EQ(strlcat(buf, "cdefghij", 8), 10);
	CHECK_STR(buf, "abcdefg");
}

HOST_TEST(pieces)
{
	char text[] = "a,b;;c", *rest = text, strip[] = "  x y \n";

	CHECK_STR(strsep(&rest, ",;"), "a");
	CHECK_STR(strsep(&rest, ",;"), "b");
	CHECK_STR(strsep(&rest, ",;"), "");
	CHECK_STR(strsep(&rest, ",;"), "c");
	CHECK(!strsep(&rest, ",;"));
	CHECK_STR(strstrip(strip), "x y");
	CHECK(str_match("*", "") && str_match("a*c", "abbc") && str_match("?b*", "ab") &&
	      str_match("*a*b*", "xxaxxbxx"));
	CHECK(!str_match("a*c", "abb") && !str_match("?", "") && !str_match("", "a"));
	CHECK(str_has_prefix("quire", "qui") && !str_has_prefix("qu", "qui"));
	CHECK(!memchr_inv("aaaa", 'a', 4) && *(char *)memchr_inv("aaba", 'a', 4) == 'b');
}
