/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * streams.c - processes that read through sparse mapped files: pressure without a disk.
 *
 * A stream makes a file, unlinks it, gives it a size without a single block (a hole), maps it
 * shared, advises random access (so nothing is read ahead), and stops itself. When all have stopped
 * they are continued together; each then reads one byte of every page, once, and ends. Every fault
 * fills a fresh page of the page cache with zeros, nothing is ever read from the disk, and no page
 * is wanted again: all there is to see is how memory is taken back. Plain system calls: the same
 * load runs on Linux (`lab streams`).
 *
 * One process group for all of them, so that one signal starts the race.
 * Source: [seed-003], whose load is of this form; [facts 5.1].
 */
#include "frame.h"
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PAGE 4096ul

static void stream(const struct streams *s, unsigned int i)
{
	unsigned long bytes = s->file_bytes, sum = 0;
	const volatile unsigned char *map;
	char path[256];
	int fd;

	setpgid(0, i ? s->pids[0] : 0);
	snprintf(path, sizeof(path), "%s/stream%04u", s->dir, i);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || unlink(path) < 0 || ftruncate(fd, (off_t)bytes) < 0)
		die(path);
	map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || madvise((void *)map, bytes, MADV_RANDOM) < 0)
		die("stream: map");
	raise(SIGSTOP);
	for (unsigned long at = 0; at < bytes; at += PAGE)
		sum += map[at];
	_exit(sum ? 3 : 0); /* a hole reads as zeros */
}

/* Until the process has stopped. => 0; it ended instead: -1 */
static int wait_stopped(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) ? 0 : -1;
}

int streams_prepare(struct streams *s)
{
	s->pids = calloc(s->nr, sizeof(*s->pids));
	if (!s->pids)
		return -1;
	fflush(stdout);
	for (unsigned int i = 0; i < s->nr; i++) {
		s->pids[i] = fork();
		if (s->pids[i] == 0)
			stream(s, i);
		if (s->pids[i] < 0 || wait_stopped(s->pids[i]) < 0) {
			fprintf(stderr, "lab: stream %u of %u did not get ready\n", i, s->nr);
			for (unsigned int k = 0; k <= i; k++)
				if (s->pids[k] > 0)
					kill(s->pids[k], SIGKILL);
			while (wait(NULL) > 0)
				;
			return -1;
		}
	}
	return 0;
}

/* Takes up what has ended. => how many still run */
static unsigned int reap(struct streams *s)
{
	int status;

	while (s->left && waitpid(-s->pids[0], &status, WNOHANG) > 0) {
		s->left--;
		s->bad += status != 0;
	}
	return s->left;
}

void streams_watch(struct streams *s, uint64_t every_ns, void (*sample)(void *), void *arg)
{
	uint64_t next = clock_ns(CLOCK_MONOTONIC) + every_ns;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	s->left = s->nr;
	s->bad = 0;
	kill(-s->pids[0], SIGCONT);
	while (reap(s)) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		struct timespec t;

		if (now >= next) {
			sample(arg);
			next += every_ns;
			continue;
		}
		t.tv_sec = (time_t)((next - now) / 1000000000u);
		t.tv_nsec = (long)((next - now) % 1000000000u);
		sigtimedwait(&child, NULL, &t);
	}
	sigprocmask(SIG_UNBLOCK, &child, NULL);
	free(s->pids);
}

static void nothing(void *arg) {}

int streams_main(int argc, char **argv)
{
	struct streams s = { .nr = 4, .file_bytes = 64 << 20 };
	uint64_t start;

	for (int i = 0; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--dir"))
			s.dir = argv[i + 1];
		else if (!strcmp(argv[i], "--streams"))
			s.nr = (unsigned int)number(argv[i], argv[i + 1]);
		else if (!strcmp(argv[i], "--size"))
			s.file_bytes = number(argv[i], argv[i + 1]);
		else
			s.nr = 0;
	}
	if (!s.dir || !s.nr || argc % 2) {
		fputs("lab streams --dir D [--streams N] [--size Z]\n", stderr);
		return 2;
	}
	if (streams_prepare(&s) < 0)
		return 1;
	start = clock_ns(CLOCK_MONOTONIC);
	streams_watch(&s, ~0ull >> 2, nothing, NULL);
	printf("%u streams of %lu pages: %.3f s\n", s.nr, s.file_bytes / PAGE,
	       (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e9);
	return s.bad != 0;
}
