/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * readlat - how long single reads of a file take.
 *
 *	readlat NAME FILE COUNT [BYTES [PAUSE_US]]
 *
 * COUNT reads of BYTES (16K) at places in a fixed random order, none twice, with a pause (1 ms)
 * between them; not from memory, without readahead. Prints "@lat NAME mean p50 p90 p99 max" in
 * microseconds.
 */
#include "lab.h"
#include <fcntl.h>
#include <sys/stat.h>

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	unsigned long count, bytes, places, sum = 0;
	uint64_t rng = 1, pause_us;
	uint32_t *order, *took;
	struct stat st;
	char *buf;
	int fd;

	if (argc < 4) {
		fprintf(stderr, "usage: readlat NAME FILE COUNT [BYTES [PAUSE_US]]\n");
		return 2;
	}
	count = number("COUNT", argv[3]);
	bytes = argc > 4 ? number("BYTES", argv[4]) : 16384;
	pause_us = argc > 5 ? number("PAUSE_US", argv[5]) : 1000;
	fd = open(argv[2], O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		die(argv[2]);
	places = (unsigned long)st.st_size / bytes;
	if (places < count || !count) {
		fprintf(stderr, "readlat: %s has room for %lu reads\n", argv[2], places);
		return 2;
	}
	order = malloc(places * sizeof(*order));
	took = malloc(count * sizeof(*took));
	buf = malloc(bytes);
	if (!order || !took || !buf)
		die("readlat: malloc");
	memset(buf, 0, bytes);
	memset(took, 0, count * sizeof(*took));
	for (unsigned long i = 0; i < places; i++)
		order[i] = (uint32_t)i;
	for (unsigned long i = 0; i < count; i++) {
		unsigned long j = i + random_next(&rng) % (places - i);
		uint32_t t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (unsigned long i = 0; i < count; i++) {
		uint64_t t0 = clock_ns(CLOCK_MONOTONIC);

		if (pread(fd, buf, bytes, (off_t)(order[i] * bytes)) != (ssize_t)bytes)
			die("readlat: pread");
		took[i] = (uint32_t)((clock_ns(CLOCK_MONOTONIC) - t0) / 1000);
		sum += took[i];
		if (pause_us)
			usleep((useconds_t)pause_us);
	}
	qsort(took, count, sizeof(*took), by_size);
	printf("@lat %s %lu %u %u %u %u\n", argv[1], sum / count, took[count / 2],
	       took[count * 9 / 10], took[count * 99 / 100], took[count - 1]);
	return 0;
}
