/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * writers.c - processes that dirty page cache, each in its own file: what a hundred `dd` do.
 *
 * A writer appends blocks to the end of its share of the disk, then begins again. The share should
 * be larger than what a run writes: one who comes round to pages that are still dirty makes no new
 * ones, is not held by anybody, and only burns CPU time. Cache that lies keep_bytes behind is
 * dropped (it was written long ago), so memory stays as it is without any reclaim in the picture. A
 * writer counts its bytes in memory shared with its parent and looks there whether to stop. Plain
 * system
 * calls: the same load runs on Linux.
 */
#include "frame.h"
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

struct writers_shared {
	volatile int go, stop;
	volatile unsigned long long bytes[];
};

static void file_name(const struct writers *w, unsigned int i, char *path, size_t size)
{
	snprintf(path, size, "%s/writer%04u", w->dir, i);
}

static void nap(unsigned long us)
{
	struct timespec t = { .tv_sec = (time_t)(us / 1000000),
			      .tv_nsec = (long)(us % 1000000) * 1000 };

	raw3(SYS_nanosleep, (long)&t, 0, 0);
}

/* Drops whole pieces of DROP bytes that end keep_bytes before `at`. => how far it is dropped now */
#define DROP (1ul << 20)
static unsigned long drop_behind(const struct writers *w, int fd, unsigned long dropped,
				 unsigned long at)
{
	if (!w->keep_bytes || at < dropped + w->keep_bytes + DROP)
		return dropped;
	posix_fadvise(fd, (off_t)dropped, DROP, POSIX_FADV_DONTNEED);
	return dropped + DROP;
}

static void writer(const struct writers *w, unsigned int i)
{
	uint64_t seed = w->seed + i;
	unsigned long at = 0, dropped = 0;
	char path[256], *block = malloc(w->block);
	int fd;

	if (!block)
		die("writer: block");
	for (unsigned long n = 0; n + 8 <= w->block; n += 8)
		*(uint64_t *)(block + n) = random_next(&seed);
	file_name(w, i, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		die(path);
	while (!w->shared->go && !w->shared->stop)
		nap(1000);
	if (w->stagger_us)
		nap(random_next(&seed) % w->stagger_us);
	while (!w->shared->stop) {
		long n = raw6(SYS_pwrite64, fd, (long)block, (long)w->block, (long)at, 0, 0);

		if (n <= 0) {
			errno = (int)-n;
			die(path);
		}
		w->shared->bytes[i] += (unsigned long long)n;
		at += (unsigned long)n;
		dropped = drop_behind(w, fd, dropped, at);
		if (at + w->block > w->file_bytes)
			at = dropped = 0;
		if (w->think_us)
			nap(w->think_us);
	}
	_exit(0);
}

int writers_start(struct writers *w)
{
	size_t size = sizeof(*w->shared) + w->nr * sizeof(w->shared->bytes[0]);

	if (w->file_bytes < w->block)
		w->file_bytes = w->block;
	w->shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	w->pids = calloc(w->nr, sizeof(*w->pids));
	if (w->shared == MAP_FAILED || !w->pids) {
		fprintf(stderr, "lab: no memory for %u writers\n", w->nr);
		return -1;
	}
	fflush(stdout);
	for (unsigned int i = 0; i < w->nr; i++) {
		w->pids[i] = fork();
		if (w->pids[i] == 0)
			writer(w, i);
		if (w->pids[i] < 0) {
			fprintf(stderr, "lab: writer %u: fork: %s\n", i, strerror(errno));
			w->nr = i;
			writers_stop(w);
			return -1;
		}
	}
	w->shared->go = 1;
	return 0;
}

unsigned long long writers_bytes(const struct writers *w)
{
	unsigned long long sum = 0;

	for (unsigned int i = 0; i < w->nr; i++)
		sum += w->shared->bytes[i];
	return sum;
}

void writers_spread(const struct writers *w, unsigned long long *least, unsigned long long *most)
{
	*least = *most = w->shared->bytes[0];
	for (unsigned int i = 1; i < w->nr; i++) {
		unsigned long long b = w->shared->bytes[i];

		*least = b < *least ? b : *least;
		*most = b > *most ? b : *most;
	}
}

int writers_stop(struct writers *w)
{
	char path[256];
	int status, bad = 0;

	w->shared->stop = 1;
	for (unsigned int i = 0; i < w->nr; i++) {
		bad += waitpid(w->pids[i], &status, 0) < 0 || status != 0;
		file_name(w, i, path, sizeof(path));
		unlink(path);
	}
	free(w->pids);
	return bad;
}

int writers_main(int argc, char **argv)
{
	struct writers w = { .nr = 1, .block = 64 << 10, .file_bytes = 64 << 20, .seed = 1 };
	unsigned long seconds = 10;
	unsigned long long last = 0, all;
	int bad;

	for (int i = 0; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--dir"))
			w.dir = argv[i + 1];
		else if (!strcmp(argv[i], "--writers"))
			w.nr = (unsigned int)number(argv[i], argv[i + 1]);
		else if (!strcmp(argv[i], "--seconds"))
			seconds = number(argv[i], argv[i + 1]);
		else if (!strcmp(argv[i], "--block"))
			w.block = number(argv[i], argv[i + 1]);
		else if (!strcmp(argv[i], "--size"))
			w.file_bytes = number(argv[i], argv[i + 1]);
		else if (!strcmp(argv[i], "--think"))
			w.think_us = number(argv[i], argv[i + 1]);
		else
			w.nr = 0;
	}
	if (!w.dir || !w.nr || !w.block || argc % 2) {
		fputs("lab writers --dir D [--writers N] [--seconds S] [--block B] [--size Z] "
		      "[--think US]\n",
		      stderr);
		return 2;
	}
	if (writers_start(&w) < 0)
		return 1;
	for (unsigned long s = 1; s <= seconds; s++) {
		sleep_until(clock_ns(CLOCK_MONOTONIC) + 1000000000u);
		all = writers_bytes(&w);
		printf("%3lu s  %8.2f MiB/s\n", s, (double)(all - last) / (1 << 20));
		fflush(stdout);
		last = all;
	}
	bad = writers_stop(&w);
	printf("%u writers, %lu s, %.2f MiB/s\n", w.nr, seconds,
	       (double)last / (1 << 20) / (double)(seconds ? seconds : 1));
	return bad != 0;
}
