/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iocheck - splice, tee, vmsplice, sendfile and asynchronous I/O, call by call, with their results.
 *
 *	iocheck [DIR]	works in DIR/iocheck (default /tmp), which it removes at the end
 *
 * As fscheck: it prints only what two correct systems agree on, so that the output on Linux and on
 * this kernel can be compared line by line. Bytes that were moved are checked here and counted in
 * the last line.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

static int wrong;

static const char *error_name(int e)
{
	static const struct {
		int e;
		const char *name;
	} names[] = {
#define E(x) { x, #x }
		E(EPERM),      E(ENOENT), E(EIO),    E(EBADF),	E(EAGAIN),	E(ENOMEM),
		E(EFAULT),     E(EEXIST), E(EISDIR), E(EINVAL), E(ESPIPE),	E(EPIPE),
		E(EOPNOTSUPP), E(EINTR),  E(EFBIG),  E(ENOSYS), E(EINPROGRESS),
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].e == e)
			return names[i].name;
	return "another error";
}

static void report(const char *what, long ret)
{
	if (ret < 0)
		printf("%s = %s\n", what, error_name(errno));
	else
		printf("%s = %ld\n", what, ret);
}
#define T(call) (errno = 0, report(#call, (long)(call)))

static void check(int ok, const char *what)
{
	if (!ok) {
		wrong++;
		printf("WRONG: %s\n", what);
	}
}
#define CHECK(x) check(!!(x), #x)

/* Bytes that tell their place. */
static char letter(long i)
{
	return 'a' + (i * 7 + i / 251) % 26;
}

static int is_pattern(const char *p, long n, long from)
{
	for (long i = 0; i < n; i++)
		if (p[i] != letter(from + i))
			return 0;
	return 1;
}

static char big[300000], in[300000];

static int make(const char *name, long n)
{
	int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);

	CHECK(write(fd, big, n) == n);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static long where(int fd)
{
	return lseek(fd, 0, SEEK_CUR);
}

/* Empties a pipe (its read end is set non-blocking) and checks the bytes. */
static long drain(int fd, long from)
{
	long n = 0, got;
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while ((got = read(fd, in + n, sizeof(in) - n)) > 0)
		n += got;
	fcntl(fd, F_SETFL, flags);
	CHECK(is_pattern(in, n, from));
	return n;
}

static void splices(void)
{
	int f = make("src", 200000), out = open("dst", O_CREAT | O_RDWR | O_TRUNC, 0644);
	int app = open("dst", O_WRONLY | O_APPEND), dir = open(".", O_RDONLY), p[2], q[2];
	int null = open("/dev/null", O_WRONLY), rd = open("src", O_RDONLY);
	off_t off, minus = -1;

	CHECK(!pipe(p) && !pipe(q));
	puts("-- arguments");
	T(splice(f, NULL, p[1], NULL, 0, 0));
	T(splice(-1, NULL, p[1], NULL, 0, 0));
	T(splice(-1, NULL, p[1], NULL, 1, 0));
	T(splice(f, NULL, -1, NULL, 1, 0));
	T(splice(f, NULL, p[1], NULL, 1, 16));
	T(splice(f, NULL, out, NULL, 1, 0));
	T(splice(f, NULL, p[0], NULL, 1, 0));
	T(splice(p[1], NULL, out, NULL, 1, 0));
	T(splice(p[0], NULL, p[1], NULL, 1, SPLICE_F_NONBLOCK));
	off = 0;
	T(splice(p[0], &off, out, NULL, 1, SPLICE_F_NONBLOCK));
	T(splice(f, NULL, p[1], &off, 1, 0));
	T(splice(f, &minus, p[1], NULL, 1, 0));
	T(splice(f, (off_t *)1, p[1], NULL, 1, 0));
	T(splice(dir, NULL, p[1], NULL, 1, 0));
	T(splice(null, NULL, p[1], NULL, 1, 0));
	puts("-- file to pipe");
	T(splice(f, NULL, p[1], NULL, 10, 0));
	T(where(f));
	off = 100;
	T(splice(f, &off, p[1], NULL, 5, 0));
	T(off);
	T(where(f));
	CHECK(read(p[0], in, 10) == 10 && is_pattern(in, 10, 0));
	CHECK(read(p[0], in, 10) == 5 && is_pattern(in, 5, 100));
	lseek(f, 199995, SEEK_SET);
	T(splice(f, NULL, p[1], NULL, 100, 0));
	T(splice(f, NULL, p[1], NULL, 100, 0));
	off = 1l << 40;
	T(splice(f, &off, p[1], NULL, 100, 0));
	T(drain(p[0], 199995));
	lseek(f, 0, SEEK_SET);
	T(splice(f, NULL, p[1], NULL, 65536, 0));
	T(splice(f, NULL, p[1], NULL, 1, SPLICE_F_NONBLOCK));
	T(drain(p[0], 0));
	puts("-- pipe to file");
	T(splice(p[0], NULL, out, NULL, 10, SPLICE_F_NONBLOCK));
	CHECK(write(p[1], big, 1000) == 1000);
	T(splice(p[0], NULL, out, NULL, 400, 0));
	T(where(out));
	off = 5000;
	T(splice(p[0], NULL, out, &off, 100000, 0));
	T(off);
	T(where(out));
	CHECK(pread(out, in, 400, 0) == 400 && is_pattern(in, 400, 0));
	CHECK(pread(out, in, 700, 5000) == 600 && is_pattern(in, 600, 400));
	CHECK(write(p[1], big, 10) == 10);
	T(splice(p[0], NULL, app, NULL, 10, 0));
	T(splice(p[0], NULL, rd, NULL, 10, 0));
	T(splice(p[0], NULL, out, &minus, 10, 0));
	T(splice(p[0], NULL, null, NULL, 4, 0));
	T(splice(p[0], NULL, null, NULL, 400, 0));
	puts("-- pipe to pipe");
	T(splice(p[0], NULL, q[1], NULL, 10, SPLICE_F_NONBLOCK));
	CHECK(write(p[1], big, 3000) == 3000);
	T(splice(p[0], NULL, q[1], NULL, 1000, 0));
	T(splice(p[0], NULL, q[1], NULL, 100000, 0));
	T(drain(q[0], 0));
	T(splice(p[0], NULL, p[1], NULL, 10, 0));
	puts("-- ends");
	close(p[1]);
	T(splice(p[0], NULL, out, NULL, 10, 0));
	T(splice(p[0], NULL, q[1], NULL, 10, 0));
	close(q[0]);
	T(splice(f, NULL, q[1], NULL, 10, 0));
	T(tee(p[0], q[1], 10, 0));
	close(p[0]);
	close(q[1]);
	close(f), close(out), close(app), close(dir), close(null), close(rd);
}

static void tees(void)
{
	int p[2], q[2], f = make("src", 100);

	CHECK(!pipe(p) && !pipe(q));
	puts("-- tee");
	T(tee(p[0], q[1], 10, SPLICE_F_NONBLOCK));
	T(tee(p[0], q[1], 0, 0));
	T(tee(p[0], q[1], 0, 64));
	T(tee(p[0], p[1], 10, 0));
	T(tee(f, q[1], 10, 0));
	T(tee(p[1], q[1], 10, 0));
	T(tee(-1, q[1], 10, 0));
	CHECK(write(p[1], big, 5000) == 5000);
	T(tee(p[0], q[1], 3000, 0));
	T(drain(q[0], 0));
	T(tee(p[0], q[1], 100000, 0));
	T(drain(q[0], 0));
	T(drain(p[0], 0));
	close(p[1]);
	T(tee(p[0], q[1], 10, 0));
	close(p[0]), close(q[0]), close(q[1]), close(f);
}

static void vmsplices(void)
{
	struct iovec v[3] = { { big, 100 }, { big + 100, 0 }, { big + 100, 900 } };
	struct iovec to[2] = { { in, 300 }, { in + 300, 900 } }, bad = { (void *)8, 10 };
	struct iovec huge = { big, 200000 }, minus = { big, -1ul };
	int p[2], f = make("src", 100);

	CHECK(!pipe(p));
	puts("-- vmsplice");
	T(vmsplice(p[1], v, 3, 0));
	T(vmsplice(p[0], to, 2, 0));
	CHECK(is_pattern(in, 1000, 0));
	T(vmsplice(p[0], to, 2, SPLICE_F_NONBLOCK));
	T(vmsplice(p[1], v, 0, 0));
	T(vmsplice(p[1], v, 1, 32));
	T(vmsplice(p[1], v, 1025, 0));
	T(vmsplice(p[1], &bad, 1, 0));
	T(vmsplice(p[1], &minus, 1, 0));
	T(vmsplice(p[1], (struct iovec *)8, 1, 0));
	T(vmsplice(f, v, 1, 0));
	T(vmsplice(-1, v, 1, 0));
	T(vmsplice(p[1], &huge, 1, SPLICE_F_NONBLOCK) >= 61440);
	T(vmsplice(p[1], v, 1, SPLICE_F_NONBLOCK));
	CHECK(drain(p[0], 0) >= 61440);
	close(p[0]);
	T(vmsplice(p[1], v, 1, 0));
	close(p[1]), close(f);
}

static void sendfiles(void)
{
	int f = make("src", 200000), out = open("dst", O_CREAT | O_RDWR | O_TRUNC, 0644), p[2];
	int app = open("dst", O_WRONLY | O_APPEND), dir = open(".", O_RDONLY);
	int wr = open("src", O_WRONLY), null = open("/dev/null", O_WRONLY);
	off_t off, minus = -1;

	CHECK(!pipe(p));
	puts("-- sendfile");
	T(sendfile(out, f, NULL, 150000));
	T(where(f));
	T(where(out));
	off = 199990;
	T(sendfile(out, f, &off, 100));
	T(off);
	T(where(f));
	T(where(out));
	T(sendfile(out, f, &off, 100));
	CHECK(pread(out, in, 150000, 0) == 150000 && is_pattern(in, 150000, 0));
	CHECK(pread(out, in, 100, 150000) == 10 && is_pattern(in, 10, 199990));
	T(sendfile(out, f, NULL, 0));
	T(sendfile(out, f, &minus, 1));
	T(sendfile(out, f, (off_t *)1, 1));
	T(sendfile(out, wr, NULL, 1));
	T(sendfile(out, -1, NULL, 1));
	T(sendfile(-1, f, NULL, 1));
	T(sendfile(dir, f, NULL, 1));
	T(sendfile(out, dir, NULL, 1));
	T(sendfile(app, f, NULL, 1));
	T(sendfile(null, f, NULL, 1000));
	lseek(f, 1000, SEEK_SET);
	T(sendfile(p[1], f, NULL, 1000));
	T(drain(p[0], 1000));
	off = 0;
	T(sendfile(p[1], f, &off, 65536));
	T(off);
	T(drain(p[0], 0));
	close(p[0]);
	T(sendfile(p[1], f, NULL, 10));
	close(p[1]), close(f), close(out), close(app), close(dir), close(wr), close(null);
}

/* ---- asynchronous I/O ---- */

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
enum { PREAD, PWRITE, FSYNC, FDSYNC, PREADX, POLL, NOOP, PREADV, PWRITEV };

#define io_setup(n, c) syscall(SYS_io_setup, (long)(n), c)
#define io_destroy(c) syscall(SYS_io_destroy, c)
#define io_submit(c, n, l) syscall(SYS_io_submit, c, (long)(n), l)
#define io_getevents(c, m, n, e, t) syscall(SYS_io_getevents, c, (long)(m), (long)(n), e, t)
#define io_cancel(c, b, e) syscall(SYS_io_cancel, c, b, e)

static struct iocb iocb(int op, int fd, void *buf, unsigned long n, long off)
{
	struct iocb cb = { .op = op, .fd = fd, .buf = (unsigned long)buf, .bytes = n };

	cb.offset = off;
	cb.data = 1234;
	cb.key = 77;
	return cb;
}

/* Submits one; what the submission said, and the event's result. */
static void one(unsigned long ctx, const char *what, struct iocb cb)
{
	struct iocb *list = &cb;
	struct event e = { 0 };
	long ret;

	errno = 0;
	ret = io_submit(ctx, 1, &list);
	printf("%s: submitted %s", what, ret < 0 ? error_name(errno) : "");
	if (ret < 0) {
		puts("");
		return;
	}
	printf("%ld, ", ret);
	ret = io_getevents(ctx, 1, 1, &e, NULL);
	printf("%ld event, result %s%ld, res2 %ld, key %u\n", ret,
	       e.res < 0 ? error_name(-e.res) : "", e.res < 0 ? 0 : e.res, e.res2, cb.key);
	CHECK(e.data == cb.data && e.obj == (unsigned long)&cb);
}

static void contexts(void)
{
	unsigned long ctx = 0, second = 0, busy = 5;
	struct event e[4];
	struct timespec none = { 0, 0 };
	struct iocb cb = iocb(PREAD, 0, in, 1, 0), *list[2] = { &cb, NULL };

	puts("-- contexts");
	T(io_setup(0, &ctx));
	T(io_setup(4, &busy));
	T(io_setup(4, NULL));
	T(io_setup(0x7fffffff, &ctx));
	T(io_setup(4, &ctx));
	T(io_setup(1, &second));
	CHECK(ctx != second && ((unsigned int *)ctx)[4] == 0xa10a10a1);
	CHECK(((unsigned int *)ctx)[7] == 32 && ((unsigned int *)ctx)[1] >= 4);
	T(io_destroy(second));
	T(io_destroy(second));
	T(io_destroy(12345));
	T(io_getevents(second, 0, 1, e, &none));
	T(io_getevents(ctx, 0, 1, e, NULL));
	T(io_getevents(ctx, 1, 1, e, &none));
	T(io_getevents(ctx, 2, 1, e, &none));
	T(io_getevents(ctx, -1, 1, e, &none));
	T(io_getevents(ctx, 0, -1, e, &none));
	T(io_getevents(ctx, 0, 1, e, (void *)8));
	T(io_submit(ctx, 0, list));
	T(io_submit(ctx, -1, list));
	T(io_submit(ctx, 1, (void *)8));
	T(io_submit(ctx, 1, list + 1));
	T(io_submit(12345, 1, list));
	T(io_cancel(ctx, &cb, e));
	cb.key = 0;
	T(io_cancel(ctx, &cb, e));
	T(io_destroy(ctx));
}

static void requests(void)
{
	int f = make("src", 50000), rd = open("src", O_RDONLY), wr = open("src", O_WRONLY);
	int dir = open(".", O_RDONLY), efd = eventfd(0, EFD_NONBLOCK), p[2];
	struct iovec v[2] = { { in, 100 }, { in + 100, 200 } };
	unsigned long ctx = 0;
	struct iocb cb;
	unsigned long count = 0;

	CHECK(!pipe(p));
	puts("-- requests");
	T(io_setup(8, &ctx));
	one(ctx, "read", iocb(PREAD, f, in, 1000, 500));
	CHECK(is_pattern(in, 1000, 500));
	T(where(f));
	one(ctx, "read over the end", iocb(PREAD, f, in, 1000, 49900));
	one(ctx, "read behind the end", iocb(PREAD, f, in, 1000, 60000));
	one(ctx, "read at -1", iocb(PREAD, f, in, 1000, -1));
	one(ctx, "read too much", iocb(PREAD, f, in, -1ul, 0));
	one(ctx, "read to nowhere", iocb(PREAD, f, (void *)8, 10, 0));
	one(ctx, "write", iocb(PWRITE, f, big, 1000, 50000));
	CHECK(pread(f, in, 1000, 50000) == 1000 && is_pattern(in, 1000, 0));
	one(ctx, "write nothing", iocb(PWRITE, f, big, 0, 0));
	one(ctx, "read a write-only file", iocb(PREAD, wr, in, 10, 0));
	one(ctx, "write a read-only file", iocb(PWRITE, rd, big, 10, 0));
	one(ctx, "read a closed file", iocb(PREAD, 999, in, 10, 0));
	one(ctx, "read a directory", iocb(PREAD, dir, in, 10, 0));
	one(ctx, "readv", iocb(PREADV, f, v, 2, 1000));
	CHECK(is_pattern(in, 300, 1000));
	one(ctx, "writev", iocb(PWRITEV, f, v, 2, 2000));
	one(ctx, "readv of nothing", iocb(PREADV, f, v, 0, 0));
	one(ctx, "readv of too many", iocb(PREADV, f, v, 2000, 0));
	one(ctx, "fsync", iocb(FSYNC, f, NULL, 0, 0));
	one(ctx, "fdsync", iocb(FDSYNC, f, NULL, 0, 0));
	one(ctx, "fsync with an offset", iocb(FSYNC, f, NULL, 0, 1));
	one(ctx, "fsync of a pipe", iocb(FSYNC, p[0], NULL, 0, 0));
	one(ctx, "no such operation", iocb(NOOP, f, NULL, 0, 0));
	one(ctx, "no such operation", iocb(99, f, NULL, 0, 0));
	cb = iocb(PREAD, f, in, 10, 0);
	cb.reserved = 1;
	one(ctx, "reserved field", cb);
	cb = iocb(PREAD, f, in, 10, 0);
	cb.rw_flags = 0x10000;
	one(ctx, "unknown flag", cb);
	cb = iocb(PWRITE, f, big, 10, 0);
	cb.rw_flags = 16;
	one(ctx, "append", cb);
	T(lseek(f, 0, SEEK_END));
	cb = iocb(PREAD, f, in, 10, 0);
	cb.flags = 1;
	cb.resfd = efd;
	one(ctx, "with an eventfd", cb);
	T(read(efd, &count, 8));
	T(count);
	cb.resfd = f;
	one(ctx, "no eventfd", cb);
	cb.resfd = 999;
	one(ctx, "closed eventfd", cb);
	CHECK(write(p[1], big, 100) == 100);
	one(ctx, "read a pipe", iocb(PREAD, p[0], in, 1000, 0));
	one(ctx, "write a pipe", iocb(PWRITE, p[1], big, 10, 0));
	T(io_destroy(ctx));
	close(f), close(rd), close(wr), close(dir), close(efd), close(p[0]), close(p[1]);
}

static void many(void)
{
	int f = make("src", 50000);
	struct iocb cb[40], *list[41];
	struct event e[64];
	unsigned long ctx = 0, seen = 0;
	struct timespec soon = { 0, 10000000 };
	volatile unsigned int *ring;
	long ret;

	puts("-- many");
	T(io_setup(100, &ctx));
	ring = (volatile unsigned int *)ctx;
	for (int i = 0; i < 40; i++) {
		cb[i] = iocb(PREAD, f, in + i * 1000, 1000, i * 1000);
		cb[i].data = i;
		list[i] = &cb[i];
	}
	list[20]->op = 99;
	T(io_submit(ctx, 40, list));
	T(io_submit(ctx, 20, list + 20));
	list[20]->op = PREAD;
	list[40] = NULL;
	T(io_submit(ctx, 21, list + 20));
	T((ring[3] - ring[2]) % ring[1]);
	T(io_getevents(ctx, 3, 5, e, NULL));
	ret = io_getevents(ctx, 35, 64, e + 5, NULL);
	T(ret);
	for (int i = 0; i < 40; i++)
		seen |= 1ul << e[i].data;
	CHECK(seen == (1ul << 40) - 1 && is_pattern(in, 40000, 0));
	T(io_getevents(ctx, 1, 4, e, &soon));
	for (int round = 0; round < 100; round++) {
		CHECK(io_submit(ctx, 40, list) == 40);
		CHECK(io_getevents(ctx, 40, 64, e, NULL) == 40);
	}
	T(io_destroy(ctx));
	close(f);
}

/* A full ring says so; taking events without the kernel makes room. */
static void ring_full(void)
{
	int f = make("src", 100);
	struct iocb cb = iocb(PREAD, f, in, 1, 0), *list = &cb;
	unsigned long ctx = 0;
	volatile unsigned int *ring;
	unsigned int n = 0;

	puts("-- a full ring");
	T(io_setup(1, &ctx));
	ring = (volatile unsigned int *)ctx;
	while (n < 100000 && io_submit(ctx, 1, &list) == 1)
		n++;
	T(io_submit(ctx, 1, &list));
	CHECK(n >= 1 && n < ring[1]);
	ring[2] = (ring[2] + 2) % ring[1];
	T(io_submit(ctx, 1, &list));
	T(io_submit(ctx, 1, &list));
	T(io_submit(ctx, 1, &list));
	T(io_destroy(ctx));
	close(f);
}

/* A child has no contexts; exec and exit with one open are no trouble. */
static void families(void)
{
	unsigned long ctx = 0, mine = 0;
	struct event e;
	struct timespec none = { 0, 0 };
	int status;
	pid_t pid;

	puts("-- families");
	T(io_setup(4, &ctx));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		T(io_getevents(ctx, 0, 1, &e, &none));
		T(io_destroy(ctx));
		T(io_setup(4, &mine));
		fflush(stdout);
		_exit(7);
	}
	waitpid(pid, &status, 0);
	T(WEXITSTATUS(status));
	T(io_getevents(ctx, 0, 1, &e, &none));
	pid = fork();
	if (!pid) {
		io_setup(4, &mine);
		execl("/proc/self/exe", "iocheck", "-", NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	T(WEXITSTATUS(status));
	T(io_destroy(ctx));
}

int main(int argc, char **argv)
{
	char dir[200];

	if (argc > 1 && !strcmp(argv[1], "-"))
		return 9;
	signal(SIGPIPE, SIG_IGN);
	snprintf(dir, sizeof(dir), "%s/iocheck", argc > 1 ? argv[1] : "/tmp");
	if (mkdir(dir, 0755) || chdir(dir)) {
		fprintf(stderr, "iocheck: %s: %s\n", dir, strerror(errno));
		return 1;
	}
	setvbuf(stdout, NULL, _IOFBF, 65536);
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = letter(i);
	splices();
	tees();
	vmsplices();
	sendfiles();
	contexts();
	requests();
	many();
	ring_full();
	families();
	unlink("src");
	unlink("dst");
	CHECK(!chdir("/") && !rmdir(dir));
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
