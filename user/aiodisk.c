/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aiodisk - asynchronous I/O past the page cache, and programs that end in the middle of it.
 *
 *	aiodisk FILE	a disk or file whose contents may be overwritten (at least 4 MiB)
 *	aiodisk -b FILE [DEPTH [OPS]]	random reads of 4 KiB, DEPTH at a time: operations per
 *                                        second
 *
 * Prints a line per part, "0 wrong" at the end. Runs on Linux as well.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define DEPTH 64
#define BLOCK 4096
#define AREA (4 << 20)

struct iocb {
	unsigned long data;
	unsigned int key, rw_flags;
	unsigned short op;
	short prio;
	unsigned int fd;
	unsigned long buf, bytes;
	long offset;
	unsigned long reserved;
	unsigned int flags, resfd;
};
struct event {
	unsigned long data, obj;
	long res, res2;
};
enum { PREAD, PWRITE, FSYNC, FDSYNC, PREADV = 7, PWRITEV = 8 };
#define io_setup(n, c) syscall(SYS_io_setup, (long)(n), c)
#define io_destroy(c) syscall(SYS_io_destroy, c)
#define io_submit(c, n, l) syscall(SYS_io_submit, c, (long)(n), l)
#define io_getevents(c, m, n, e, t) syscall(SYS_io_getevents, c, (long)(m), (long)(n), e, t)

static int wrong;
static char *buf; /* DEPTH blocks */
static struct iocb cbs[DEPTH], *list[DEPTH];
static struct event events[DEPTH];

static void check(int ok, const char *what, int line)
{
	if (!ok && ++wrong < 20)
		printf("WRONG at %d: %s (errno %d)\n", line, what, errno);
}
#define CHECK(x) check(!!(x), #x, __LINE__)

/* What belongs at a place of the file after round r. */
static void paint(unsigned int *p, unsigned long block, unsigned int r)
{
	for (unsigned long i = 0; i < BLOCK / 4; i++)
		p[i] = block * 2654435761u + i * 40503u + r;
}

static int painted(const unsigned int *p, unsigned long block, unsigned int r)
{
	for (unsigned long i = 0; i < BLOCK / 4; i++)
		if (p[i] != (unsigned int)(block * 2654435761u + i * 40503u + r))
			return 0;
	return 1;
}

static void request(int i, int op, int fd, void *p, long bytes, long offset)
{
	cbs[i] = (struct iocb){ .op = op, .fd = fd, .buf = (unsigned long)p, .bytes = bytes };
	cbs[i].offset = offset;
	cbs[i].data = i;
	list[i] = &cbs[i];
}

/* All of n events; their results must be `want`. */
static void reap(unsigned long ctx, int n, long want)
{
	int got = 0;

	while (got < n) {
		long e = io_getevents(ctx, 1, DEPTH, events, NULL);

		CHECK(e > 0);
		if (e <= 0)
			return;
		for (long i = 0; i < e; i++)
			CHECK(events[i].res == want);
		got += e;
	}
}

static void write_and_read(int fd)
{
	unsigned long ctx = 0, nr = AREA / BLOCK;

	CHECK(!io_setup(DEPTH, &ctx));
	for (int round = 1; round <= 2; round++) {
		for (unsigned long b = 0; b < nr; b += DEPTH) {
			for (int i = 0; i < DEPTH; i++) {
				paint((void *)(buf + i * BLOCK), b + i, round);
				request(i, PWRITE, fd, buf + i * BLOCK, BLOCK, (b + i) * BLOCK);
			}
			CHECK(io_submit(ctx, DEPTH, list) == DEPTH);
			reap(ctx, DEPTH, BLOCK);
		}
		request(0, FSYNC, fd, NULL, 0, 0);
		CHECK(io_submit(ctx, 1, list) == 1);
		reap(ctx, 1, 0);
		for (unsigned long b = 0; b < nr; b += DEPTH) {
			memset(buf, 0, DEPTH * BLOCK);
			for (int i = 0; i < DEPTH; i++) /* backwards */
				request(i, PREAD, fd, buf + i * BLOCK, BLOCK,
					(nr - 1 - (b + i)) * BLOCK);
			CHECK(io_submit(ctx, DEPTH, list) == DEPTH);
			reap(ctx, DEPTH, BLOCK);
			for (int i = 0; i < DEPTH; i++)
				CHECK(painted((void *)(buf + i * BLOCK), nr - 1 - (b + i), round));
		}
	}
	CHECK(!io_destroy(ctx));
	printf("write and read: done\n");
}

/* Vectors go another way through the kernel. */
static void vectors(int fd)
{
	struct {
		void *base;
		unsigned long len;
	} v[DEPTH / 4][4];
	unsigned long ctx = 0;

	CHECK(!io_setup(DEPTH, &ctx));
	memset(buf, 0, DEPTH * BLOCK);
	for (int i = 0; i < DEPTH / 4; i++) {
		for (int k = 0; k < 4; k++) {
			v[i][k].base = buf + (i * 4 + k) * BLOCK;
			v[i][k].len = BLOCK;
		}
		request(i, PREADV, fd, v[i], 4, (long)i * 4 * BLOCK);
	}
	CHECK(io_submit(ctx, DEPTH / 4, list) == DEPTH / 4);
	reap(ctx, DEPTH / 4, 4 * BLOCK);
	for (int i = 0; i < DEPTH; i++)
		CHECK(painted((void *)(buf + i * BLOCK), i, 2));
	CHECK(!io_destroy(ctx));
	printf("vectors: done\n");
}

static void misfits(int fd)
{
	struct stat st;
	unsigned long ctx = 0;
	long end = AREA;

	fstat(fd, &st);
	if (S_ISREG(st.st_mode))
		end = st.st_size;
	CHECK(!io_setup(DEPTH, &ctx));
	request(0, PREAD, fd, buf + 1, BLOCK, 0);
	CHECK(io_submit(ctx, 1, list) != 1 || io_getevents(ctx, 1, 1, events, NULL) == 1);
	CHECK(events[0].res == -EINVAL);
	request(0, PREAD, fd, buf, 100, 0);
	CHECK(io_submit(ctx, 1, list) != 1 || io_getevents(ctx, 1, 1, events, NULL) == 1);
	CHECK(events[0].res == -EINVAL);
	request(0, PREAD, fd, (void *)(8l * BLOCK), BLOCK, 0);
	CHECK(io_submit(ctx, 1, list) != 1 || io_getevents(ctx, 1, 1, events, NULL) == 1);
	CHECK(events[0].res == -EFAULT);
	request(0, PREAD, fd, buf, BLOCK, end + (1l << 30));
	CHECK(io_submit(ctx, 1, list) != 1 || io_getevents(ctx, 1, 1, events, NULL) == 1);
	CHECK(events[0].res == 0 || events[0].res == BLOCK);
	CHECK(!io_destroy(ctx));
	printf("misfits: done\n");
}

/* Leaves with everything in flight, in one of several ways. */
static void leave(int how, int fd, char *file)
{
	unsigned long ctx = 0;
	char *own = mmap(NULL, DEPTH * BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	if (io_setup(DEPTH, &ctx))
		_exit(1);
	for (int i = 0; i < DEPTH; i++)
		request(i, PREAD, fd, own + i * BLOCK, BLOCK,
			(long)i * 17 % (AREA / BLOCK) * BLOCK);
	if (io_submit(ctx, DEPTH, list) != DEPTH)
		_exit(2);
	switch (how) {
	case 0:
		_exit(9);
	case 1:
		execl("/proc/self/exe", "aiodisk", "-", file, NULL);
		_exit(3);
	case 2:
		munmap(own, DEPTH * BLOCK);
		_exit(9);
	case 3:
		close(fd);
		_exit(io_destroy(ctx) ? 4 : 9);
	case 4:
		kill(getpid(), SIGKILL);
		break;
	case 5: /* a child of the middle: has the ring's pages, not the context */
		if (!fork())
			_exit(io_getevents(ctx, 1, 1, events, NULL) == -1 ? 0 : 1);
		wait(NULL);
		_exit(io_getevents(ctx, DEPTH, DEPTH, events, NULL) == DEPTH ? 9 : 5);
	}
	_exit(6);
}

static void endings(int fd, char *file)
{
	int status;

	for (int n = 0; n < 48; n++) {
		pid_t pid = fork();

		if (!pid)
			leave(n % 6, fd, file);
		CHECK(waitpid(pid, &status, 0) == pid);
		if (n % 6 == 4)
			CHECK(WIFSIGNALED(status));
		else
			CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
	}
	printf("endings: done\n");
}

/* The freed memory of those who left is nobody's: what is read later is right. */
static int bench(int argc, char **argv)
{
	int fd = open(argv[2], O_RDONLY | O_DIRECT);
	long depth = argc > 3 ? atoi(argv[3]) : 32, ops = argc > 4 ? atoi(argv[4]) : 20000,
	     done = 0;
	unsigned long ctx = 0, seed = 1;
	long blocks = lseek(fd, 0, SEEK_END) / BLOCK;
	uint64_t t0, t1;

	if (fd < 0 || depth < 1 || depth > DEPTH || blocks < 1 || io_setup(DEPTH, &ctx))
		return 1;
	t0 = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < depth; i++) {
		seed = seed * 6364136223846793005ul + 1442695040888963407ul;
		request(i, PREAD, fd, buf + i * BLOCK, BLOCK,
			(long)((seed >> 33) % blocks) * BLOCK);
	}
	if (io_submit(ctx, depth, list) != depth)
		return 2;
	while (done < ops) {
		long e = io_getevents(ctx, 1, depth, events, NULL), more = 0;

		if (e < 1)
			return 3;
		for (long k = 0; k < e; k++) {
			int i = events[k].data;

			if (events[k].res != BLOCK)
				return 4;
			seed = seed * 6364136223846793005ul + 1442695040888963407ul;
			cbs[i].offset = (long)((seed >> 33) % blocks) * BLOCK;
			list[more++] = &cbs[i];
		}
		done += e;
		if (io_submit(ctx, more, list) != more)
			return 5;
	}
	t1 = clock_ns(CLOCK_MONOTONIC);
	printf("depth %ld: %ld reads of 4 KiB, %ld us, %ld per second\n", depth, done,
	       (long)((t1 - t0) / 1000), (long)(done * 1000000000ull / (t1 - t0)));
	return 0;
}

int main(int argc, char **argv)
{
	int fd;

	buf = mmap(NULL, DEPTH * BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc > 1 && !strcmp(argv[1], "-"))
		return 9;
	if (argc > 2 && !strcmp(argv[1], "-b"))
		return bench(argc, argv);
	fd = argc > 1 ? open(argv[1], O_RDWR | O_DIRECT) : -1;
	if (fd < 0 || buf == MAP_FAILED) {
		fprintf(stderr, "usage: aiodisk FILE (%s)\n", strerror(errno));
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	write_and_read(fd);
	vectors(fd);
	misfits(fd);
	endings(fd, argv[1]);
	vectors(fd);
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
