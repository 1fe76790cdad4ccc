/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * srctree - a tree of small files like that of a kernel's sources, made and checked.
 *
 *	srctree [-c] ROOT DIRECTORIES FILES BYTES	FILES in each directory, BYTES on average
 *
 * Directories lie three deep, ten to a directory. Sizes are skewed as those of sources are: most
 * files are small, a few are sixteen times as large. What is in a file follows from its number.
 * -c: compares instead; exit status 1: something was missing, too long, too short or different.
 */
#include "lab.h"
#include <stdbool.h>
#include <sys/stat.h>

static uint64_t words[1 << 17];
static bool check;

static size_t size_of(uint64_t *seed, size_t mean)
{
	uint64_t r = random_next(seed);
	size_t part = mean / 2 ? mean / 2 : 1;

	if (r % 32 == 0)
		return part * 16 / 2 + (r >> 8) % (part * 16);
	return (r >> 8) % (part * 2) / 2 + part / 4;
}

static void content(uint64_t seed, size_t bytes)
{
	for (size_t i = 0; i * 8 < bytes; i++)
		words[i] = seed += 0x9e3779b97f4a7c15u;
}

static int file(const char *path, uint64_t seed, size_t mean)
{
	static char have[sizeof(words)];
	size_t bytes = size_of(&seed, mean), n = 0;
	ssize_t got = 1;
	int fd;

	if (bytes > sizeof(words) - 1)
		bytes = sizeof(words) - 1;
	content(seed, bytes);
	fd = check ? open(path, O_RDONLY) : open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0) {
		perror(path);
		return 1;
	}
	while (got > 0 && (check || n < bytes)) {
		got = check ? read(fd, have + n, sizeof(have) - n)
			    : write(fd, (char *)words + n, bytes - n);
		n += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	if (got < 0 || n != bytes || (check && memcmp(have, words, bytes))) {
		fprintf(stderr, "srctree: %s: %zu of %zu bytes, %s\n", path, n, bytes,
			got < 0 ? strerror(errno) : "or different ones");
		return 1;
	}
	return 0;
}

static int directory(const char *root, unsigned d, unsigned files, size_t mean)
{
	char path[300];
	int bad = 0, n = snprintf(path, sizeof(path), "%s", root);

	for (unsigned level = 100; level; level /= 10) {
		n += snprintf(path + n, sizeof(path) - (size_t)n, "/dir%u", d / level);
		if (!check && mkdir(path, 0755) && errno != EEXIST) {
			perror(path);
			return 1;
		}
	}
	for (unsigned f = 0; f < files && bad < 5; f++) {
		snprintf(path + n, sizeof(path) - (size_t)n, "/source-file-%u.c", f);
		bad += file(path, (uint64_t)d << 32 | f, mean);
	}
	return bad;
}

int main(int argc, char **argv)
{
	unsigned long dirs, files, mean, bad = 0;

	check = argc > 1 && !strcmp(argv[1], "-c");
	argc -= check;
	argv += check;
	if (argc != 5) {
		fprintf(stderr, "usage: srctree [-c] ROOT DIRECTORIES FILES BYTES\n");
		return 2;
	}
	dirs = number("srctree", argv[2]);
	files = number("srctree", argv[3]);
	mean = number("srctree", argv[4]);
	if (!check && mkdir(argv[1], 0755))
		die(argv[1]);
	for (unsigned d = 0; d < dirs && bad < 5; d++)
		bad += (unsigned long)directory(argv[1], d, (unsigned)files, mean);
	printf("srctree: %lu files %s, %lu wrong\n", dirs * files, check ? "compared" : "written",
	       bad);
	return bad != 0;
}
