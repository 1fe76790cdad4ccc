/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * diskcheck - the calls that matter on a disk: O_DIRECT beside the page cache and mmap, O_SYNC,
 * preadv2 and pwritev2, sync_file_range, syncfs, the file size limit.
 *
 *	diskcheck DIR			works in a file of DIR, which must lie on a disk
 *	diskcheck device /dev/NAME	overwrites that device, of 1 MiB at least
 *	diskcheck sync|dsync|rwf FILE	writes its input there with O_SYNC, O_DSYNC or RWF_DSYNC
 *
 * It knows what a correct system answers: prints what is wrong, and a line with the number of
 * checks. Exit status 1 if anything was.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define KB 1024l
#define SIZE (256 * KB)
/* linux/fs.h, linux/falloc.h and linux/hdreg.h are not everywhere */
#define BLKGETSIZE 0x1260
#define BLKSSZGET 0x1268
#define BLKSECDISCARD 0x127d
#define BLKZEROOUT 0x127f
#define BLKGETSIZE64 0x80081272
#define HDIO_GETGEO 0x301
#ifndef FALLOC_FL_KEEP_SIZE
#define FALLOC_FL_KEEP_SIZE 1
#define FALLOC_FL_PUNCH_HOLE 2
#endif
#define HIPRI 1
#define DSYNC 2
#define SYNC 4
#define NOWAIT 8
#define APPEND 16

static int wrong, checks;
static char buffer[1000];
static char *a, *b; /* SIZE bytes each, page aligned */

static void check(int ok, const char *what, int line)
{
	checks++;
	if (ok)
		return;
	wrong++;
	printf("diskcheck: line %d: %s (errno %d)\n", line, what, errno);
}
#define CHECK(x) check(!!(x), #x, __LINE__)
#define FAILS(call, error)                                                                         \
	check((call) == -1 && errno == (error), #call " fails with " #error, __LINE__)

/* Not in every libc. */
static long readv_at(int fd, const struct iovec *v, int n, long pos, int rwf)
{
	return syscall(SYS_preadv2, fd, v, n, pos, 0, rwf);
}

static long writev_at(int fd, const struct iovec *v, int n, long pos, int rwf)
{
	return syscall(SYS_pwritev2, fd, v, n, pos, 0, rwf);
}

static void fill(char *p, long n, int seed)
{
	for (long i = 0; i < n; i++)
		p[i] = (char)(i * 7 + i / 512 + seed);
}

static int reopen(int fd, int flags)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags);
}

/* Both ways see the same bytes, whoever wrote last. */
static void direct(int fd)
{
	int d = reopen(fd, O_RDWR | O_DIRECT);
	char *m;

	CHECK(d >= 0);
	fill(a, SIZE, 1);
	CHECK(pwrite(fd, a, SIZE, 0) == SIZE); /* cached and dirty */
	memset(b, 0, SIZE);
	CHECK(pread(d, b, SIZE, 0) == SIZE && !memcmp(a, b, SIZE));
	fill(a, 16 * KB, 2);
	CHECK(pwrite(d, a, 16 * KB, 32 * KB) == 16 * KB);
	CHECK(pread(fd, b, 16 * KB, 32 * KB) == 16 * KB && !memcmp(a, b, 16 * KB));
	m = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(m != MAP_FAILED);
	CHECK(!memcmp(m + 32 * KB, a, 16 * KB));
	fill(a, 8 * KB, 3); /* over a page that is mapped and was touched */
	CHECK(pwrite(d, a, 8 * KB, 32 * KB) == 8 * KB);
	CHECK(!memcmp(m + 32 * KB, a, 8 * KB));
	m[64 * KB] = 'x';
	CHECK(pread(d, b, 4 * KB, 64 * KB) == 4 * KB && b[0] == 'x');
	/* memory that is itself the page cache of the file */
	CHECK(pread(d, m + 128 * KB, 8 * KB, 32 * KB) == 8 * KB);
	CHECK(pread(fd, b, 8 * KB, 128 * KB) == 8 * KB && !memcmp(a, b, 8 * KB));
	munmap(m, SIZE);
	/* alignment: offset, length, memory */
	FAILS(pread(d, b, 4 * KB, 100), EINVAL);
	FAILS(pread(d, b, 1000, 0), EINVAL);
	FAILS(pread(d, b + 1, 4 * KB, 0), EINVAL);
	FAILS(pwrite(d, b, 4 * KB, 100), EINVAL);
	CHECK(pread(d, b + 512, 512, 512) == 512);
	FAILS(pread(d, (void *)8192, 4 * KB, 0), EFAULT);
	/* the end of the file */
	CHECK(!ftruncate(fd, SIZE - 100));
	CHECK(pread(d, b, 4 * KB, SIZE - 4 * KB) == 4 * KB - 100);
	CHECK(pread(d, b, 4 * KB, SIZE) == 0);
	CHECK(pwrite(d, a, 4 * KB, SIZE + 4 * KB) == 4 * KB); /* grows, with a hole */
	CHECK(pread(fd, b, 8 * KB, SIZE) == 8 * KB && b[0] == 0 && !memcmp(b + 4 * KB, a, 4 * KB));
	CHECK(pread(d, b, 8 * KB, SIZE) == 8 * KB && b[4095] == 0 &&
	      !memcmp(b + 4 * KB, a, 4 * KB));
	close(d);
}

static void flags(int fd)
{
	struct iovec v[2] = { { a, 100 }, { a + 100, 200 } };
	int s = reopen(fd, O_RDWR | O_SYNC), ds = reopen(fd, O_RDWR | O_DSYNC | O_APPEND);
	struct stat st;

	CHECK(!ftruncate(fd, 0));
	fill(a, SIZE, 4);
	CHECK(pwrite(s, a, 100 * KB, 0) == 100 * KB);
	CHECK(write(ds, a, 10) == 10);
	CHECK(!fstat(fd, &st) && st.st_size == 100 * KB + 10 && st.st_blocks >= 200);
	CHECK(writev_at(fd, v, 2, 0, DSYNC) == 300);
	CHECK(writev_at(fd, v, 2, 0, SYNC | HIPRI) == 300);
	CHECK(writev_at(fd, v, 2, 0, APPEND) == 300);
	CHECK(!fstat(fd, &st) && st.st_size == 100 * KB + 310);
	CHECK(readv_at(fd, v, 2, 0, NOWAIT) == 300);
	FAILS(readv_at(fd, v, 2, 0, 0x4000), EOPNOTSUPP);
	CHECK(!fsync(fd) && !fdatasync(fd) && !syncfs(fd));
	CHECK(!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	FAILS(readv_at(fd, v, 2, 64 * KB, NOWAIT), EAGAIN);
	CHECK(readahead(fd, 0, 64 * KB) == 0);
	CHECK(!sync_file_range(fd, 0, 0, 7) && !sync_file_range(fd, 4096, 100, 2));
	FAILS(sync_file_range(fd, 0, 0, 8), EINVAL);
	FAILS(sync_file_range(fd, -1, 0, 2), EINVAL);
	FAILS(fsync(-1), EBADF);
	close(s);
	close(ds);
}

static void size_limit(int fd)
{
	struct rlimit lim = { 64 * KB, RLIM_INFINITY };
	int status;
	pid_t child = fork();

	if (!child) {
		setrlimit(RLIMIT_FSIZE, &lim);
		ftruncate(fd, 0);
		if (pwrite(fd, a, 100 * KB, 10 * KB) != 54 * KB)
			_exit(1);
		signal(SIGXFSZ, SIG_IGN);
		if (pwrite(fd, a, 1, 64 * KB) != -1 || errno != EFBIG)
			_exit(2);
		if (ftruncate(fd, 64 * KB + 1) != -1 || errno != EFBIG)
			_exit(3);
		if (ftruncate(fd, 64 * KB) || pwrite(fd, a, 1, 64 * KB - 1) != 1)
			_exit(4);
		signal(SIGXFSZ, SIG_DFL);
		pwrite(fd, a, 1, 64 * KB);
		_exit(5);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
	if (!WIFSIGNALED(status))
		printf("diskcheck: the limited child ended with %d\n", WEXITSTATUS(status));
}

static long ioctl_range(int fd, unsigned long cmd, uint64_t from, uint64_t len)
{
	uint64_t range[2] = { from, len };

	return ioctl(fd, cmd, range);
}

static int is_zero(const char *p, long n)
{
	while (n--)
		if (*p++)
			return 0;
	return 1;
}

/* A block device as a file: mapped, discarded, zeroed, held. */
static void device(const char *path)
{
	int fd = open(path, O_RDWR), d = open(path, O_RDWR | O_DIRECT), ro;
	struct {
		unsigned char heads, sectors;
		unsigned short cylinders;
		unsigned long start;
	} geo;
	uint64_t size = 0;
	unsigned long count = 0;
	unsigned int block = 0;
	char *m;

	CHECK(fd >= 0 && d >= 0);
	CHECK(!ioctl(fd, BLKGETSIZE64, &size) && !ioctl(fd, BLKGETSIZE, &count));
	CHECK(size == count * 512 && lseek(fd, 0, SEEK_END) == (long)size);
	CHECK(!ioctl(fd, BLKSSZGET, &block) && block >= 512 && block <= 4096);
	CHECK(!ioctl(fd, HDIO_GETGEO, &geo) && geo.heads == 255 && geo.sectors == 63);
	FAILS(lseek(fd, size + 1, SEEK_SET), EINVAL);
	FAILS(ioctl(fd, BLKSECDISCARD, &size), EOPNOTSUPP);
	FAILS(ioctl(fd, 0x5401, &size), ENOTTY);
	fill(a, SIZE, 5);
	CHECK(pwrite(fd, a, SIZE, 0) == SIZE);
	m = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(m != MAP_FAILED && !memcmp(m, a, SIZE));
	m[5000] = 'y';
	CHECK(!msync(m, SIZE, MS_SYNC));
	CHECK(pread(d, b, 4 * KB, 4 * KB) == 4 * KB && b[5000 - 4 * KB] == 'y');
	CHECK(!memcmp(b, a + 4 * KB, 900));
	munmap(m, SIZE);
	CHECK(!ioctl_range(fd, BLKZEROOUT, 16 * KB, 8 * KB));
	CHECK(pread(fd, b, 16 * KB, 12 * KB) == 16 * KB && is_zero(b + 4 * KB, 8 * KB));
	CHECK(!memcmp(b, a + 12 * KB, 4 * KB) && !memcmp(b + 12 * KB, a + 24 * KB, 4 * KB));
	CHECK(!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 64 * KB, 4 * KB));
	CHECK(pread(d, b, 4 * KB, 64 * KB) == 4 * KB && is_zero(b, 4 * KB));
	FAILS(ioctl_range(fd, BLKZEROOUT, 100, 512), EINVAL);
	FAILS(ioctl_range(fd, BLKZEROOUT, size, 512), EINVAL);
	FAILS(fallocate(fd, 0, 0, 4096), EOPNOTSUPP);
	ro = open(path, O_RDONLY);
	FAILS(ioctl_range(ro, BLKZEROOUT, 0, 512), EBADF);
	close(ro);
	ro = open(path, O_RDONLY | O_EXCL);
	CHECK(ro >= 0);
	FAILS(open(path, O_RDONLY | O_EXCL), EBUSY);
	close(ro);
	FAILS(pwrite(fd, a, 1, size), ENOSPC);
	CHECK(pwrite(fd, a, 100, size - 10) == 10);
	CHECK(pread(fd, b, 100, size - 10) == 10 && !memcmp(a, b, 10));
	CHECK(pread(fd, b, 100, size) == 0);
	CHECK(!fsync(fd));
	close(fd);
	close(d);
}

static int copy_safely(const char *how, const char *path)
{
	int mode = !strcmp(how, "sync") ? O_SYNC : !strcmp(how, "dsync") ? O_DSYNC : 0;
	int fd = open(path, O_WRONLY | O_CREAT | mode, 0644);
	long n, pos = 0;

	while (fd >= 0 && (n = read(0, buffer, 1000)) > 0) {
		struct iovec v = { buffer, n };

		if (writev_at(fd, &v, 1, pos, mode ? 0 : DSYNC) != n)
			break;
		pos += n;
	}
	if (fd >= 0 && !n)
		return 0;
	perror(path);
	return 1;
}

int main(int argc, char **argv)
{
	const char *name = "diskcheck.file";
	int fd;

	if (argc == 3 && strcmp(argv[1], "device"))
		return copy_safely(argv[1], argv[2]);
	if (argc < 2 || (argc == 2 && chdir(argv[1]))) {
		fprintf(stderr, "usage: diskcheck DIR | device NODE | sync|dsync|rwf FILE\n");
		return 2;
	}
	a = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	b = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc == 3) {
		device(argv[2]);
		printf("diskcheck: %d checks, %d wrong\n", checks, wrong);
		return !!wrong;
	}
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	CHECK(a != MAP_FAILED && b != MAP_FAILED && fd >= 0);
	if (wrong)
		return 1;
	direct(fd);
	flags(fd);
	size_limit(fd);
	close(fd);
	CHECK(!unlink(name));
	printf("diskcheck: %d checks, %d wrong\n", checks, wrong);
	return !!wrong;
}
