/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memhog - takes memory and touches it.
 *
 *	memhog SIZE [SECONDS [locked]]	SIZE like 64M, or `all`: until nothing is left (or until
 *	killed); locked: mlockall before
 *
 * Prints how much it got. Each page gets a different first word, which is checked at the end.
 */
#include "lab.h"
#include <sys/mman.h>

#define CHUNK (1ul << 20)

static unsigned long check(char *const *chunks, unsigned long count)
{
	unsigned long bad = 0;

	for (unsigned long i = 0; i < count; i++)
		for (unsigned long at = 0; at < CHUNK; at += 4096)
			bad += *(unsigned long *)(chunks[i] + at) != (i << 20 | at) + 1;
	return bad;
}

int main(int argc, char **argv)
{
	unsigned long want, got = 0, limit = 1ul << 18, bad;
	char **chunks;

	if (argc < 2) {
		fprintf(stderr, "usage: memhog SIZE|all [SECONDS [locked]]\n");
		return 2;
	}
	want = strcmp(argv[1], "all") ? (number("memhog", argv[1]) + CHUNK - 1) / CHUNK : limit;
	chunks = mmap(NULL, limit * sizeof(*chunks), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (chunks == MAP_FAILED)
		die("memhog: mmap");
	if (argc > 3 && !strcmp(argv[3], "locked") && mlockall(MCL_CURRENT | MCL_FUTURE))
		die("memhog: mlockall");
	while (got < want && got < limit) {
		char *p = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		if (p == MAP_FAILED)
			break;
		for (unsigned long at = 0; at < CHUNK; at += 4096)
			*(unsigned long *)(p + at) = (got << 20 | at) + 1;
		chunks[got++] = p;
	}
	if (argc > 2)
		sleep((unsigned)number("memhog", argv[2]));
	bad = check(chunks, got);
	printf("memhog: %lu MiB of %s taken, %lu wrong pages\n", got, argv[1], bad);
	return bad != 0 || (got < want && strcmp(argv[1], "all"));
}
