/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formatted text: against the C library's, for every flag, width, precision and length it shares
 * with ours.
 */
// SOURCES: lib/printf.c lib/string.c
#include "host.h"

static int (*const libc_snprintf)(char *, size_t, const char *, ...) = snprintf;

#include "lib/printf.h"
#include "lib/string.h"

static void same(const char *ours, int n, const char *theirs, int m, const char *fmt)
{
	if (strcmp(ours, theirs) || n != m)
		fprintf(stderr, "# format \"%s\": \"%s\" (%d), libc \"%s\" (%d)\n", fmt, ours, n,
			theirs, m);
	CHECK_STR(ours, theirs);
	CHECK_EQ(n, m);
}

#define SAME(size, fmt, ...)                                                                       \
	do {                                                                                       \
		char _a[300], _b[300];                                                             \
		int _n = snprintf(_a, size, fmt, __VA_ARGS__);                                     \
		int _m = libc_snprintf(_b, size, fmt, __VA_ARGS__);                                \
		same(_a, _n, _b, _m, fmt);                                                         \
	} while (0)

#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-truncation"
#pragma GCC diagnostic ignored "-Wformat-overflow"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

HOST_TEST(numbers_like_libc)
{
	static const char *const flags[] = { "", "-", "0", "+", " ", "#", "-0", "+0", "#0", "-#" };
	static const char *const lengths[] = { "", "l", "ll", "h", "hh", "z" };
	static const char convs[] = "diuxXo";
	char fmt[40];

	for (int i = 0; i < 60000; i++) {
		u64 v = host_random() >> host_random() % 64;
		const char *len = lengths[host_random() % 6];
		int n = libc_snprintf(fmt, sizeof(fmt), "<%%%s", flags[host_random() % 10]);

		if (host_random() % 2)
			n += libc_snprintf(fmt + n, sizeof(fmt) - n, "%d",
					   (int)(host_random() % 30));
		if (host_random() % 3 == 0)
			n += libc_snprintf(fmt + n, sizeof(fmt) - n, ".%d",
					   (int)(host_random() % 25));
		libc_snprintf(fmt + n, sizeof(fmt) - n, "%s%c>", len, convs[host_random() % 6]);
		if (host_random() % 8 == 0)
			v = 0;
		if (len[0] == 'l' || len[0] == 'z')
			SAME(300, fmt, v);
		else
			SAME(300, fmt, (int)v);
	}
}

HOST_TEST(strings_like_libc)
{
	SAME(300, "%s|%10s|%-10s|%.3s|%10.2s|%-6.4s|", "abc", "abc", "abc", "abcdef", "abc",
	     "abcdef");
	SAME(300, "%c%5c%-5c|%%", 'x', 'y', 'z');
	SAME(300, "%*d|%-*d|%.*s|%*s", 6, 42, 6, 42, 2, "abcdef", -8, "left");
	SAME(300, "%.*d", -1, 7);
}

HOST_TEST(truncation)
{
	char buf[8] = "zzzzzzz";

	for (size_t size = 1; size <= 8; size++)
		SAME(size, "%s-%d", "hello", 12345);
	CHECK_EQ(snprintf(NULL, 0, "%s", "twelve chars"), 12);
	CHECK_EQ(snprintf(buf, 0, "abc"), 3);
	CHECK_STR(buf, "zzzzzzz");
	CHECK_EQ(scnprintf(buf, 4, "abcdef"), 3);
	CHECK_STR(buf, "abc");
	CHECK_EQ(scnprintf(buf, 0, "abcdef"), 0);
}

static const char *symbol(char *buf, size_t n, unsigned long addr)
{
	libc_snprintf(buf, n, "fn%lx", addr);
	return buf;
}

HOST_TEST(extensions)
{
	static const u8 bytes[16] = { 1, 2, 0xab, 0xff };
	char buf[100];

	snprintf(buf, sizeof(buf), "%p", (void *)0x12abul);
	CHECK_STR(buf, "00000000000012ab");
	snprintf(buf, sizeof(buf), "%pS", (void *)0x12ul);
	CHECK_STR(buf, "0000000000000012");
	printf_symbol = symbol;
	snprintf(buf, sizeof(buf), "[%pS]", (void *)0x12ul);
	CHECK_STR(buf, "[fn12]");
	printf_symbol = NULL;
	snprintf(buf, sizeof(buf), "%*ph", 4, bytes);
	CHECK_STR(buf, "01 02 ab ff");
	snprintf(buf, sizeof(buf), "%pU", bytes);
	CHECK_STR(buf, "0102abff-0000-0000-0000-000000000000");
	snprintf(buf, sizeof(buf), "%s", (char *)NULL);
	CHECK_STR(buf, "(null)");
	snprintf(buf, sizeof(buf), "50%");
	CHECK_STR(buf, "50");
	snprintf(buf, sizeof(buf), "%q");
	CHECK_STR(buf, "%q");
}
