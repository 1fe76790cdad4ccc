/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The initramfs reader: good archives, and a hundred thousand damaged ones in exactly sized memory
 * (ASan watches).
 */
// SOURCES: lib/cpio.c lib/string.c
#include "host.h"

#include "lib/cpio.h"
#include "lib/errno.h"

static size_t put(u8 *to, const char *name, const void *data, u32 size, u32 mode)
{
	char header[111];
	size_t n = strlen(name) + 1, at;

	sprintf(header, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", 1, mode, 2, 3,
		1, 99, size, 0, 0, 5, 6, (u32)n, 0);
	memcpy(to, header, 110);
	memcpy(to + 110, name, n);
	for (at = 110 + n; at & 3;)
		to[at++] = 0;
	memcpy(to + at, data, size);
	for (at += size; at & 3;)
		to[at++] = 0;
	return at;
}

static size_t sample(u8 *to)
{
	size_t n = put(to, "./bin", "", 0, 040755);

	n += put(to + n, "/bin/hello", "hello, world", 12, 0100644);
	n += put(to + n, ".", "", 0, 040755);
	n += put(to + n, "TRAILER!!!", "", 0, 0);
	memset(to + n, 0, 200);
	n += 200; /* padding, then a second archive */
	n += put(to + n, "second", "x", 1, 0100600);
	return n + put(to + n, "TRAILER!!!", "", 0, 0);
}

HOST_TEST(reads_entries)
{
	static u8 buf[4096];
	struct cpio_iter it;
	struct cpio_entry e;

	cpio_open(&it, buf, sample(buf));
	CHECK(cpio_probe(buf, it.len));
	CHECK_EQ(cpio_next(&it, &e), 1);
	CHECK_STR(e.name, "bin");
	CHECK_EQ(e.mode, 040755);
	CHECK_EQ(cpio_next(&it, &e), 1);
	CHECK_STR(e.name, "bin/hello");
	CHECK(e.size == 12 && !memcmp(e.data, "hello, world", 12));
	CHECK(e.uid == 2 && e.gid == 3 && e.mtime == 99 && e.rdev_major == 5 && e.rdev_minor == 6);
	CHECK_EQ(cpio_next(&it, &e), 1);
	CHECK_STR(e.name, "");
	CHECK_EQ(cpio_next(&it, &e), 1);
	CHECK_STR(e.name, "second");
	CHECK_EQ(cpio_next(&it, &e), 0);
}

HOST_TEST(names_what_is_wrong)
{
	static u8 buf[4096];
	struct cpio_iter it;
	struct cpio_entry e;
	size_t n = put(buf, "file", "data", 4, 0100644);

	cpio_open(&it, buf, n - 4);
	CHECK_EQ(cpio_next(&it, &e), -EINVAL);
	CHECK_STR(it.error, "the data is cut off");
	cpio_open(&it, buf, 50);
	CHECK_EQ(cpio_next(&it, &e), -EINVAL);
	CHECK_STR(it.error, "the header is cut off");
	buf[20] = 'g';
	cpio_open(&it, buf, n);
	CHECK_EQ(cpio_next(&it, &e), -EINVAL);
	CHECK_STR(it.error, "a header field is not hexadecimal");
	buf[0] = 'x';
	CHECK_EQ(cpio_next(&it, &e), -EINVAL);
	CHECK_EQ(it.pos, 0);
	cpio_open(&it, buf, 0);
	CHECK_EQ(cpio_next(&it, &e), 0);
}

HOST_TEST(fuzz)
{
	static u8 good[4096];
	size_t full = sample(good);

	for (int round = 0; round < 100000; round++) {
		size_t n = host_random() % 4 ? full : host_random() % (full + 1);
		u8 *copy = malloc(n ? n : 1);
		struct cpio_iter it;
		struct cpio_entry e;
		u64 sum = 0;
		int entries = 0;

		memcpy(copy, good, n);
		for (int hits = 1 + host_random() % 4; n && hits > 0; hits--)
			copy[host_random() % n] =
				host_random() % 3 ? "0123456789abcdefF\377"[host_random() % 18]
						  : host_random();
		cpio_open(&it, copy, n);
		while (cpio_next(&it, &e) == 1) {
			sum += strlen(e.name);
			for (size_t i = 0; i < e.size; i++)
				sum += e.data[i];
			CHECK(++entries < 20);
		}
		free(copy);
		if (sum == 1)
			fputs("", stderr); /* keep sum alive */
	}
}
