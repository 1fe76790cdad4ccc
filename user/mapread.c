/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mapread - touches every page of a file through a mapping, in order or at random.
 *
 *	mapread FILE [random [SEED]]
 *
 * Prints how much it touched and the faults that took: minor ones, and those that waited for a
 * disk.
 */
#include "lab.h"
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define P 4096ul

int main(int argc, char **argv)
{
	uint64_t rng = argc > 3 ? number("SEED", argv[3]) : 1;
	int random = argc > 2 && !strcmp(argv[2], "random");
	unsigned long pages, sum = 0;
	struct rusage usage;
	struct stat st;
	char *m;
	int fd;

	if (argc < 2 || (argc > 2 && !random)) {
		fprintf(stderr, "usage: mapread FILE [random [SEED]]\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		die(argv[1]);
	pages = ((unsigned long)st.st_size + P - 1) / P;
	m = mmap(NULL, pages * P, PROT_READ, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED)
		die("mmap");
	if (random)
		madvise(m, pages * P, MADV_RANDOM);
	for (unsigned long i = 0; i < pages; i++)
		sum += (unsigned char)m[(random ? random_next(&rng) % pages : i) * P];
	getrusage(RUSAGE_SELF, &usage);
	printf("%lu x 64 KiB, sum %lu\n", pages / 16, sum);
	printf("%ld minor faults, %ld major\n", usage.ru_minflt, usage.ru_majflt);
	return 0;
}
