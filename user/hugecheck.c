/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hugecheck - are huge pages there when they are wanted?
 *
 *	hugecheck serve PERCENT WANTED	memory in single pages first: PERCENT of what is free is
 *					filled with small pages, every second one given back; then
 *					WANTED (%) of what is free is asked for in huge pages
 *	hugecheck hold SIZE		takes SIZE in huge pages, a part of them split again, and
 *					keeps it until it is killed
 *
 * serve prints how many of the 2 MiB places were served with one huge page, and checks the pages
 * that stand between the holes: they have moved, and hold what they held. Works on Linux, too.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <sys/mman.h>
#include <sys/sysinfo.h>

#define PAGE 4096ul
#define PLACE (512 * PAGE)

static unsigned long free_bytes(void)
{
	struct sysinfo s;

	if (sysinfo(&s))
		die("hugecheck: sysinfo");
	return s.freeram * s.mem_unit;
}

static char *map(size_t size, int advice)
{
	char *p = mmap(NULL, size + PLACE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die("hugecheck: mmap");
	p += -(uintptr_t)p % PLACE;
	madvise(p, size, advice); /* EINVAL: there are no huge pages */
	return p;
}

static unsigned long mark(unsigned long page)
{
	return (page + 1) * 0x9e3779b97f4a7c15ul;
}

/* Bytes of huge pages this program has. */
static unsigned long huge_bytes(void)
{
	static char text[65536];
	char *p;

	if (slurp("/proc/self/smaps_rollup", text, sizeof(text)) < 0)
		die("hugecheck: /proc/self/smaps_rollup");
	p = strstr(text, "AnonHugePages:");
	return p ? strtoul(p + 14, NULL, 10) * 1024 : 0;
}

static int serve(unsigned long percent, unsigned long wanted)
{
	unsigned long size = free_bytes() / 100 * percent & ~(PLACE - 1), wrong = 0, asked, got;
	char *p = map(size, MADV_NOHUGEPAGE), *huge;

	for (unsigned long i = 0; i < size / PAGE; i++)
		*(unsigned long *)(p + i * PAGE) = mark(i);
	for (unsigned long i = 0; i < size / PAGE; i += 2)
		if (madvise(p + i * PAGE, PAGE, MADV_DONTNEED))
			die("hugecheck: madvise");
	asked = free_bytes() / 100 * wanted / PLACE;
	printf("hugecheck: %lu MiB in %lu pages with holes between, %lu MiB free, %lu places of 2 "
	       "MiB "
	       "asked for\n",
	       size >> 20, size / PAGE / 2, free_bytes() >> 20, asked);
	fflush(stdout);
	huge = map(asked * PLACE, MADV_HUGEPAGE);
	for (unsigned long i = 0; i < asked; i++)
		for (unsigned long j = 0; j < 512; j++)
			*(unsigned long *)(huge + i * PLACE + j * PAGE) = ~mark(i * 512 + j);
	got = huge_bytes() / PLACE;
	for (unsigned long i = 1; i < size / PAGE; i += 2)
		wrong += *(unsigned long *)(p + i * PAGE) != mark(i);
	for (unsigned long i = 0; i < asked * 512; i++)
		wrong += *(unsigned long *)(huge + i * PAGE) != ~mark(i);
	printf("hugecheck: %lu of %lu served with a huge page, %lu wrong pages\n", got, asked,
	       wrong);
	return wrong != 0;
}

static __attribute__((noreturn)) void hold(unsigned long size)
{
	char *p;

	size &= ~(PLACE - 1);
	p = map(size, MADV_HUGEPAGE);
	for (unsigned long at = 0; at < size; at += PAGE)
		p[at] = 1;
	for (unsigned long at = 0; at < size / 4; at += PLACE) {
		mprotect(p + at + PAGE, PAGE, PROT_READ);
		mprotect(p + at + PAGE, PAGE, PROT_READ | PROT_WRITE);
	}
	printf("hugecheck: %lu MiB of %lu in huge pages\n", huge_bytes() >> 20, size >> 20);
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "serve"))
		return serve(number("hugecheck", argv[2]), number("hugecheck", argv[3]));
	if (argc == 3 && !strcmp(argv[1], "hold"))
		hold(number("hugecheck", argv[2]));
	fprintf(stderr, "usage: hugecheck serve PERCENT WANTED | hugecheck hold SIZE\n");
	return 2;
}
