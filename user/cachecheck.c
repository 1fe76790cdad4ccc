/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cachecheck - advice about files, syncing of mappings, and what a mapping shows at and behind the
 * end of its file.
 *
 *	cachecheck [DIR]	works in DIR (default /tmp) on files it removes
 *
 * It prints what each call answered, and bytes; nothing that may differ between two correct
 * systems, so that the output on Linux (as root) and on this kernel can be compared line by line.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define P 4096l

static sigjmp_buf away;
static volatile int caught;

static const char *error_name(long e)
{
	static const struct {
		int e;
		const char *name;
	} names[] = {
#define E(x) { x, #x }
		E(EPERM),  E(EIO),    E(EBADF), E(ENOMEM), E(EACCES), E(EFAULT),     E(EBUSY),
		E(ENODEV), E(EINVAL), E(EFBIG), E(ENOSPC), E(ESPIPE), E(EOPNOTSUPP), E(ENOSYS),
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].e == e)
			return names[i].name;
	return "another error";
}

static void report(const char *what, long ret)
{
	if (ret >= 0)
		printf("%s = %ld\n", what, ret);
	else
		printf("%s = -%s\n", what, error_name(-ret));
}
#define R(nr, ...) report(#nr "(" #__VA_ARGS__ ")", syscall_(SYS_##nr, __VA_ARGS__))
#define syscall_(...) call(__VA_ARGS__, 0, 0, 0, 0, 0)
#define call(nr, a, b, c, d, e, ...)                                                               \
	raw6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

static void on_signal(int sig)
{
	caught = sig;
	siglongjmp(away, 1);
}

/* A byte of memory, or the signal that reading it brings. */
static void peek(const char *what, volatile char *at)
{
	caught = 0;
	if (!sigsetjmp(away, 1)) {
		char c = *at;

		printf("%s: %d\n", what, c);
	} else {
		printf("%s: signal %d\n", what, caught);
	}
}
#define PEEK(at) peek(#at, at)
static void poke(const char *what, volatile char *at, char c)
{
	caught = 0;
	if (!sigsetjmp(away, 1)) {
		*at = c;
		printf("%s <- %d\n", what, c);
	} else {
		printf("%s <- %d: signal %d\n", what, c, caught);
	}
}
#define POKE(at, c) poke(#at, at, c)

static void advice(int fd, int ro, int wo, int dir, int pipe_end)
{
	printf("-- advice\n");
	for (int a = -1; a <= 7; a++) {
		printf("advice %d: ", a);
		R(fadvise64, fd, 0, 0, a);
	}
	R(fadvise64, fd, 0, -1, POSIX_FADV_WILLNEED);
	R(fadvise64, fd, 5 * P, 100 * P, POSIX_FADV_WILLNEED);
	R(fadvise64, fd, 1l << 60, 0, POSIX_FADV_DONTNEED);
	R(fadvise64, ro, 0, 0, POSIX_FADV_SEQUENTIAL);
	R(fadvise64, wo, 0, 0, POSIX_FADV_SEQUENTIAL);
	R(fadvise64, pipe_end, 0, 0, POSIX_FADV_NORMAL);
	R(fadvise64, 99, 0, 0, POSIX_FADV_NORMAL);
	R(readahead, fd, 0, 4 * P);
	R(readahead, ro, 0, 0);
	R(readahead, wo, 0, 4 * P);
	R(readahead, dir, 0, 4 * P);
	R(readahead, pipe_end, 0, 4 * P);
	R(readahead, 99, 0, 4 * P);
	R(sync_file_range, fd, 0, 0, 7);
	R(sync_file_range, fd, 0, P, 8);
	R(sync_file_range, fd, -1, P, 0);
	R(sync_file_range, fd, 0, -1, 0);
	R(sync_file_range, 99, 0, 0, 0);
	R(sync_file_range, pipe_end, 0, 0, 0);
}

static void syncing(int fd)
{
	char *m = mmap((void *)0x200000000ul, 6 * P, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	printf("-- msync\n");
	POKE(m + 3, 1);
	R(msync, m, P, MS_SYNC);
	R(msync, m, P, MS_ASYNC);
	R(msync, m, P, MS_INVALIDATE);
	R(msync, m, P, MS_SYNC | MS_INVALIDATE);
	R(msync, m, P, 0);
	R(msync, m, P, MS_SYNC | MS_ASYNC);
	R(msync, m, P, 8);
	R(msync, m + 1, P, MS_SYNC);
	R(msync, m, 0, MS_SYNC);
	R(msync, m, 7 * P, MS_SYNC);
	R(msync, m, ~0ul, MS_SYNC);
	R(munmap, m + 2 * P, P);
	R(msync, m, 6 * P, MS_SYNC);
	R(msync, m, 2 * P, MS_SYNC);
	R(mlock, m, P);
	R(msync, m, P, MS_INVALIDATE);
	R(msync, m, P, MS_SYNC);
	R(munlock, m, P);
	R(madvise, m, 2 * P, MADV_WILLNEED);
	R(madvise, m, 2 * P, MADV_SEQUENTIAL);
	R(madvise, m, 2 * P, MADV_RANDOM);
	R(madvise, m, 2 * P, MADV_DONTNEED);
	PEEK(m + 3);
	R(munmap, m, 6 * P);
}

static void ends(int fd)
{
	char *m, *p, buf[8] = { 0 };

	printf("-- the end of a file\n");
	R(ftruncate, fd, P + 100);
	m = mmap(NULL, 4 * P, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p = mmap(NULL, 4 * P, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	PEEK(m + P + 99);
	PEEK(m + P + 100);
	PEEK(m + 2 * P);
	POKE(m + 2 * P, 1);
	PEEK(p + 2 * P);
	POKE(p + 2 * P, 1);
	POKE(m + P + 100, 7); /* behind the end, in its page */
	PEEK(m + P + 100);
	R(pread64, fd, buf, 8, P + 98);
	R(ftruncate, fd, P + 200);
	PEEK(m + P + 100);
	R(pread64, fd, buf, 8, P + 98);
	printf("%d %d %d\n", buf[1], buf[2], buf[3]);
	POKE(m + P + 300, 9);
	R(pwrite64, fd, "x", 1, 3 * P);
	PEEK(m + P + 300);
	PEEK(m + 2 * P + 5);
	PEEK(m + 3 * P);
	PEEK(m + 3 * P + 1);
	printf("-- private copies\n");
	R(pwrite64, fd, "abc", 3, 10);
	PEEK(p + 10);
	POKE(p + 10, 'z');
	PEEK(m + 10);
	R(pwrite64, fd, "d", 1, 10);
	PEEK(m + 10);
	PEEK(p + 10);
	POKE(p + 3 * P, 'q');
	R(ftruncate, fd, P);
	PEEK(p + 3 * P);
	PEEK(p + 10);
	PEEK(p + P);
	R(ftruncate, fd, 4 * P);
	PEEK(m + 3 * P);
	PEEK(p + 3 * P);
	printf("-- holes\n");
	R(pwrite64, fd, "hhhh", 4, 2 * P - 2);
	POKE(m + 2 * P + 7, 'k');
	R(fallocate, fd, FALLOC_FL_PUNCH_HOLE, 0, P);
	R(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * P - 1, P);
	PEEK(m + 2 * P - 2);
	PEEK(m + 2 * P - 1);
	PEEK(m + 2 * P);
	PEEK(m + 2 * P + 7);
	POKE(m + 5, 'r');
	R(madvise, m, P, MADV_REMOVE);
	PEEK(m + 5);
	R(madvise, p, P, MADV_REMOVE);
	R(lseek, fd, 0, SEEK_END);
	munmap(m, 4 * P);
	munmap(p, 4 * P);
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : "/tmp";
	struct sigaction sa = { .sa_handler = on_signal };
	int fd, ro, wo, dirfd, ends_of_pipe[2];
	static char data[6 * P];
	char name[512];

	sigaction(SIGBUS, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	snprintf(name, sizeof(name), "%s/cachecheck", dir);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	ro = open(name, O_RDONLY);
	wo = open(name, O_WRONLY);
	dirfd = open(dir, O_RDONLY);
	if (fd < 0 || ro < 0 || wo < 0 || dirfd < 0 || pipe(ends_of_pipe))
		die(name);
	memset(data, 5, sizeof(data));
	if (write(fd, data, sizeof(data)) != (ssize_t)sizeof(data))
		die(name);
	advice(fd, ro, wo, dirfd, ends_of_pipe[0]);
	syncing(fd);
	ends(fd);
	printf("-- rights\n");
	report("mmap read-only, shared, to write",
	       (long)mmap(NULL, P, PROT_WRITE, MAP_SHARED, ro, 0) == -1 ? -errno : 0);
	report("mmap write-only",
	       (long)mmap(NULL, P, PROT_WRITE, MAP_SHARED, wo, 0) == -1 ? -errno : 0);
	R(ftruncate, ro, 0);
	R(fsync, ro);
	R(fdatasync, wo);
	R(fsync, dirfd);
	R(fsync, ends_of_pipe[0]);
	unlink(name);
	return 0;
}
