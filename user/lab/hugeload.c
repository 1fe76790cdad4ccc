/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hugeload.c - programs that want huge pages, again and again, and one that streams a file.
 *
 * Each task has a region of whole 2 MiB, aligned. A round: the region is mapped, every area of 2
 * MiB is filled, page by page (one fault where there is a huge page, 512 where there is none),
 * older areas are looked at again now and then (what went to swap comes back), and it is unmapped.
 * All regions together are larger than what is free, so each huge page has to be made by compaction
 * or by reclaim, and huge pages go to swap.
 *
 * Every page says whose it is (task, round, page); a page that says something else when it is
 * looked at ends the task with status 3.
 *
 * mix: each area also gets what huge pages meet in life, one thing an area: a page of other
 * protection, a hole, a copy after fork, a part unmapped, small pages collapsed to a huge one
 * (MADV_COLLAPSE), a push to swap, a move to another address.
 *
 * Plain system calls: the same load runs on Linux (`lab huge`).
 * Source: [facts 4.7].
 */
#define _GNU_SOURCE
#include "frame.h"
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define PAGE 4096ul
#define BLOCK (512 * PAGE)
#define CHUNK 65536
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

struct task {
	const struct hugeload *h;
	struct huge_counts *c;
	char *region;
	uint64_t key; /* of this task and round */
	uint64_t random;
};

static uint64_t mark(const struct task *t, unsigned long page)
{
	return (t->key ^ page) * 0x9e3779b97f4a7c15u | 1;
}

static uint64_t *at_page(const struct task *t, unsigned long page)
{
	return (uint64_t *)(t->region + page * PAGE);
}

static void fill(struct task *t, unsigned long area)
{
	for (unsigned long p = area * 512; p < (area + 1) * 512; p++)
		*at_page(t, p) = mark(t, p);
	t->c->areas++;
}

static void expect(struct task *t, unsigned long page, uint64_t want)
{
	uint64_t is = *at_page(t, page);

	t->c->verified++;
	if (is == want)
		return;
	fprintf(stderr, "lab: page %lu holds %#llx, not %#llx\n", page, (unsigned long long)is,
		(unsigned long long)want);
	_exit(3);
}

static void verify(struct task *t, unsigned long area)
{
	for (unsigned long p = area * 512; p < (area + 1) * 512; p++)
		expect(t, p, mark(t, p));
}

static void think(const struct task *t)
{
	if (t->h->think_us)
		sleep_until(clock_ns(CLOCK_MONOTONIC) + t->h->think_us * 1000);
}

/* A child writes every eighth page of the area, its own copy; ours stays. */
static void forked(struct task *t, unsigned long area)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		for (unsigned long p = area * 512; p < (area + 1) * 512; p += 8) {
			expect(t, p, mark(t, p));
			*at_page(t, p) = ~mark(t, p);
		}
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
		_exit(3);
	t->c->forked++;
	verify(t, area);
}

/* To another address and back. */
static void moved(struct task *t, unsigned long area)
{
	char *here = t->region + area * BLOCK, *there;

	there = mmap(NULL, 2 * BLOCK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (there == MAP_FAILED)
		die("lab: mmap");
	if (mremap(here, BLOCK, BLOCK, MREMAP_MAYMOVE | MREMAP_FIXED,
		   there + -(unsigned long)there % BLOCK) == MAP_FAILED ||
	    mremap(there + -(unsigned long)there % BLOCK, BLOCK, BLOCK,
		   MREMAP_MAYMOVE | MREMAP_FIXED, here) == MAP_FAILED)
		die("lab: mremap");
	munmap(there, 2 * BLOCK);
}

/* One page changes its protection, so what was huge is small; then it may be huge again. */
static void collapsed(struct task *t, unsigned long area)
{
	char *here = t->region + area * BLOCK;

	if (mprotect(here + 5 * PAGE, PAGE, PROT_READ) < 0 ||
	    mprotect(here + 5 * PAGE, PAGE, PROT_READ | PROT_WRITE) < 0)
		die("lab: mprotect");
	t->c->collapsed += madvise(here, BLOCK, MADV_COLLAPSE) == 0;
}

/* What can happen to an area. Its contents are as fill() made them afterwards. */
static void something(struct task *t, unsigned long area)
{
	char *here = t->region + area * BLOCK;
	unsigned long page = area * 512 + random_next(&t->random) % 400;

	switch (area % 7) {
	case 0:
		collapsed(t, area);
		break;
	case 1: /* a hole of 100 pages, then full again */
		madvise(t->region + page * PAGE, 100 * PAGE, MADV_DONTNEED);
		expect(t, page + 99, 0);
		fill(t, area);
		break;
	case 2:
		forked(t, area);
		break;
	case 3: /* a part goes, another mapping comes there */
		if (mmap(t->region + page * PAGE, 16 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			die("lab: mmap");
		fill(t, area);
		break;
	case 4:
		moved(t, area);
		break;
	case 5:
		madvise(here, BLOCK, MADV_PAGEOUT);
		break;
	default:
		madvise(here, BLOCK, MADV_DONTNEED);
		fill(t, area);
	}
}

static void round_of(struct task *t)
{
	unsigned long areas = t->h->bytes / BLOCK;

	for (unsigned long i = 0; i < areas; i++) {
		fill(t, i);
		if (t->h->mix)
			something(t, i);
		if (i && i % 4 == 0)
			verify(t, random_next(&t->random) % i);
		think(t);
	}
	t->c->rounds++;
}

static void task(const struct hugeload *h, unsigned int nr)
{
	struct task t = { .h = h, .c = &h->counts[nr], .random = h->seed * 1000 + nr };
	unsigned long bytes = h->bytes + BLOCK;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (uint64_t n = 0;; n++) {
		char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);

		if (map == MAP_FAILED)
			die("lab: huge: mmap");
		t.region = map + -(unsigned long)map % BLOCK;
		t.key = (uint64_t)nr << 56 | n << 32;
		madvise(t.region, h->bytes, MADV_HUGEPAGE); /* EINVAL: then there are none */
		round_of(&t);
		if (munmap(map, bytes) < 0)
			die("lab: huge: munmap");
	}
}

static void reader(const struct hugeload *h)
{
	static char buffer[CHUNK];
	int fd = open(h->file, O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0)
		die(h->file);
	for (;;) {
		ssize_t n = read(fd, buffer, sizeof(buffer));

		if (n < 0)
			die(h->file);
		if (n == 0)
			lseek(fd, 0, SEEK_SET);
		h->counts[h->nr].bytes_read += (unsigned long)n;
		if (h->file_us)
			sleep_until(clock_ns(CLOCK_MONOTONIC) + h->file_us * 1000);
	}
}

int hugeload_start(struct hugeload *h)
{
	unsigned int all = h->nr + (h->file != NULL);

	h->pids = calloc(h->nr + 1, sizeof(*h->pids));
	h->counts = mmap(NULL, (h->nr + 1) * sizeof(*h->counts), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!h->pids || h->counts == MAP_FAILED)
		die("lab: huge");
	fflush(stdout);
	for (unsigned int i = 0; i < all; i++) {
		h->pids[i] = fork();
		if (h->pids[i] == 0) {
			if (i < h->nr)
				task(h, i);
			else
				reader(h);
			_exit(1);
		}
		if (h->pids[i] < 0)
			die("lab: huge: fork");
	}
	return 0;
}

struct huge_counts hugeload_counts(const struct hugeload *h)
{
	struct huge_counts sum = { 0 };

	for (unsigned int i = 0; i <= h->nr; i++) {
		const struct huge_counts *c = &h->counts[i];

		sum.areas += c->areas;
		sum.rounds += c->rounds;
		sum.verified += c->verified;
		sum.collapsed += c->collapsed;
		sum.forked += c->forked;
		sum.bytes_read += c->bytes_read;
	}
	return sum;
}

int hugeload_stop(struct hugeload *h)
{
	int status, bad = 0;

	for (unsigned int i = 0; i <= h->nr; i++) {
		if (h->pids[i] <= 0)
			continue;
		kill(h->pids[i], SIGKILL);
		if (waitpid(h->pids[i], &status, 0) == h->pids[i] && WIFSIGNALED(status) &&
		    WTERMSIG(status) == SIGKILL)
			continue;
		fprintf(stderr, "lab: %s %u ended before its time: status %#x\n",
			i < h->nr ? "task" : "the reader", i, status);
		bad++;
	}
	free(h->pids);
	return bad;
}

int hugeload_main(int argc, char **argv)
{
	struct hugeload h = { .nr = 4, .bytes = 64ul << 20, .seed = 1 };
	unsigned long seconds = 10;
	struct huge_counts c;
	int bad;

	for (int i = 0; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--file"))
			h.file = argv[i + 1];
		else if (!strcmp(argv[i], "--tasks"))
			h.nr = (unsigned int)number(argv[i], argv[i + 1]);
		else if (!strcmp(argv[i], "--size"))
			h.bytes = number(argv[i], argv[i + 1]) & -BLOCK;
		else if (!strcmp(argv[i], "--think"))
			h.think_us = number(argv[i], argv[i + 1]);
		else if (!strcmp(argv[i], "--mix"))
			h.mix = (int)number(argv[i], argv[i + 1]);
		else if (!strcmp(argv[i], "--seconds"))
			seconds = number(argv[i], argv[i + 1]);
		else
			h.nr = 0;
	}
	if (argc % 2 || !h.nr || !h.bytes) {
		fputs("lab huge [--tasks N] [--size Z] [--think US] [--mix 0|1] [--file F] "
		      "[--seconds S]\n",
		      stderr);
		return 2;
	}
	if (hugeload_start(&h) < 0)
		return 1;
	sleep_until(clock_ns(CLOCK_MONOTONIC) + seconds * 1000000000u);
	c = hugeload_counts(&h);
	bad = hugeload_stop(&h);
	printf("%u tasks, %lu s: %lu areas of 2 MiB, %lu rounds, %lu pages looked at again, %lu "
	       "collapsed, %lu forks, %lu MiB read\n",
	       h.nr, seconds, c.areas, c.rounds, c.verified, c.collapsed, c.forked,
	       c.bytes_read >> 20);
	return bad != 0;
}
