/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * huge.c - rows of huge pages: the first touch of 2 MiB, its end, taking it apart, putting it
 * together again. Each is per huge page; a row is measured only if its pages were huge ones
 * (/proc/vmstat), so a kernel without them, or without memory for them, has none of these rows.
 */
#define _GNU_SOURCE
#include "ubench.h"
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define HUGE (2ul << 20)
#define NR_HUGE 24ul

static char *place;

static uint64_t faults_huge(void)
{
	FILE *f = fopen("/proc/vmstat", "r");
	unsigned long long v = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "thp_fault_alloc %llu", &v) == 1)
			break;
	if (f)
		fclose(f);
	return v;
}

/* Address space for NR_HUGE of them, nothing touched. */
static void map_place(void)
{
	char *p = mmap(NULL, (NR_HUGE + 1) * HUGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("ubench: mmap");
	place = (char *)(((unsigned long)p + HUGE - 1) & ~(HUGE - 1));
	munmap(p, (size_t)(place - p));
	munmap(place + NR_HUGE * HUGE, (size_t)(p + HUGE - place));
	madvise(place, NR_HUGE * HUGE, MADV_HUGEPAGE);
}

static void touch(void)
{
	for (unsigned long i = 0; i < NR_HUGE; i++)
		*(volatile char *)(place + i * HUGE) = 1;
}

static struct result thp_fault(uint64_t n)
{
	uint64_t t = tsc();

	touch();
	return (struct result){ tsc() - t, NR_HUGE };
}

/* One small page of each gets another protection: a page table of 512 entries. */
static struct result thp_split(uint64_t n)
{
	uint64_t t = tsc();

	for (unsigned long i = 0; i < NR_HUGE; i++)
		raw3(SYS_mprotect, (long)(place + i * HUGE), PAGE, PROT_READ);
	t = tsc() - t;
	for (unsigned long i = 0; i < NR_HUGE; i++)
		raw3(SYS_mprotect, (long)(place + i * HUGE), PAGE, PROT_READ | PROT_WRITE);
	return (struct result){ t, NR_HUGE };
}

/* Together again; copying included. */
static struct result thp_collapse(uint64_t n)
{
	uint64_t t = tsc();
	long err = raw3(SYS_madvise, (long)place, NR_HUGE * HUGE, MADV_COLLAPSE);

	t = tsc() - t;
	return (struct result){ err ? 0 : t, NR_HUGE };
}

static struct result thp_munmap(uint64_t n)
{
	uint64_t t = tsc();

	raw3(SYS_munmap, (long)place, NR_HUGE * HUGE, 0);
	return (struct result){ tsc() - t, NR_HUGE };
}

static const struct bench rows[] = {
	{ "thp_fault", "first write to 2 MiB, one huge page", thp_fault, 0, NET_CLEAR_HUGE, 0 },
	{ "thp_split", "mprotect of one page of a huge one", thp_split, 0, GROSS, 0 },
	{ "thp_collapse", "madvise(MADV_COLLAPSE) of 2 MiB", thp_collapse, 0, NET_COPY_HUGE, 0 },
	{ "thp_munmap", "munmap of a huge page", thp_munmap, 0, GROSS, 0 },
};

void huge_rows(void (*run)(const struct bench *b))
{
	uint64_t before = faults_huge();

	/* warms up, and shows whether it works at all */
	map_place();
	touch();
	thp_split(0);
	thp_collapse(0);
	thp_munmap(0);
	if (faults_huge() - before < NR_HUGE)
		return;
	map_place();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		run(&rows[i]);
}
