/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frag - fragments memory, then heals it.
 *
 *	frag SIZE STEP		SIZE like 300M; keeps every STEP-th page at first
 *
 * Touches SIZE bytes, gives back all pages but every STEP-th, then those. The pages of the second
 * round have free neighbours on both sides, so each of them merges through many orders when it
 * comes back: the worst case for an allocator that frees in batches.
 */
#include "lab.h"
#include <sys/mman.h>

int main(int argc, char **argv)
{
	unsigned long bytes, step;
	char *p;

	if (argc != 3) {
		fprintf(stderr, "usage: frag SIZE STEP\n");
		return 2;
	}
	bytes = number("frag", argv[1]) & ~4095ul;
	step = number("frag", argv[2]);
	if (step < 2) {
		fprintf(stderr, "frag: STEP %lu is less than 2\n", step);
		return 2;
	}
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("frag: mmap");
	for (unsigned long at = 0; at < bytes; at += 4096)
		p[at] = 1;
	for (unsigned long at = 0; at < bytes; at += step * 4096) {
		unsigned long len = (step - 1) * 4096;

		if (at + 4096 + len > bytes)
			len = bytes > at + 4096 ? bytes - at - 4096 : 0;
		if (len && madvise(p + at + 4096, len, MADV_DONTNEED))
			die("frag: madvise");
	}
	if (munmap(p, bytes))
		die("frag: munmap");
	return 0;
}
