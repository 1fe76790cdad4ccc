/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * swapcheck - what swapon(2) and swapoff(2) accept and refuse, and what may be done to a file or
 * device that is a swap area.
 *
 *	swapcheck file DIR		works in files of DIR, which must lie on a disk
 *	swapcheck device NODE		overwrites the header of that device, of 1 MiB at least
 *	swapcheck on PATH PRIORITY	swapon with a priority (-1: without)
 *	swapcheck poke PATH BYTE VALUE	writes four bytes, least first: to damage a header
 *
 * It knows what a correct system answers: prints what is wrong, and a line with the number of
 * checks. Exit status 1 if anything was. Must be root, with no other swap area.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PAGE 4096l
#define PAGES 64
#define PREFER 0x8000
#ifndef FALLOC_FL_KEEP_SIZE
#define FALLOC_FL_KEEP_SIZE 1
#define FALLOC_FL_PUNCH_HOLE 2
#endif

static int checks, wrong;
static char page[4096] __attribute__((aligned(4096)));

static int check(int ok, const char *what, int line)
{
	checks++;
	if (!ok) {
		wrong++;
		printf("swapcheck: line %d: %s (errno %d)\n", line, what, errno);
	}
	return ok;
}
#define CHECK(x) check(!!(x), #x, __LINE__)
#define FAILS(x, e) check((errno = 0, (x) == -1) && errno == (e), #x " fails with " #e, __LINE__)

static int on(const char *path, int flags)
{
	return syscall(SYS_swapon, path, flags);
}

static int off(const char *path)
{
	return syscall(SYS_swapoff, path);
}

/* ---- headers ---- */
static void put32(long at, uint32_t v)
{
	memcpy(page + at, &v, 4);
}

/* Version, last page, number of bad pages; the signature of that many bytes a page. */
static void write_header(int fd, uint32_t version, uint32_t last, uint32_t bad, const char *magic)
{
	memset(page, 0, PAGE);
	put32(1024, version);
	put32(1028, last);
	put32(1032, bad);
	memcpy(page + PAGE - 10, magic, 10);
	CHECK(pwrite(fd, page, PAGE, 0) == PAGE);
}

static void good_header(int fd)
{
	write_header(fd, 1, PAGES - 1, 0, "SWAPSPACE2");
}

static void header_with(const char *path, int fd, uint32_t version, uint32_t last, uint32_t bad,
			const char *magic)
{
	write_header(fd, version, last, bad, magic);
	FAILS(on(path, 0), EINVAL);
}

static void damaged_headers(const char *path, int fd, uint32_t pages)
{
	header_with(path, fd, 1, PAGES - 1, 0, "nothing...");
	header_with(path, fd, 1, PAGES - 1, 0, "SWAP-SPACE");
	header_with(path, fd, 2, PAGES - 1, 0, "SWAPSPACE2");
	header_with(path, fd, 0x01000000, PAGES - 1, 0, "SWAPSPACE2");
	header_with(path, fd, 1, 0, 0, "SWAPSPACE2");
	header_with(path, fd, 1, pages, 0, "SWAPSPACE2");
	header_with(path, fd, 1, 0xffffffff, 0, "SWAPSPACE2");
	header_with(path, fd, 1, PAGES - 1, 638, "SWAPSPACE2");
	header_with(path, fd, 1, PAGES - 1, 0xffffffff, "SWAPSPACE2");
	header_with(path, fd, 1, PAGES - 1, 1, "SWAPSPACE2"); /* bad page 0: the header */
	good_header(fd);
}

/* ---- /proc/swaps ---- */
struct line {
	char path[256], type[16];
	long size, used, prio;
};

static int proc_swaps(struct line *out, int max)
{
	FILE *f = fopen("/proc/swaps", "r");
	char text[512];
	int n = 0;

	if (!f || !fgets(text, sizeof(text), f))
		return -1;
	CHECK(!strcmp(text, "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"));
	while (n < max && fgets(text, sizeof(text), f))
		if (sscanf(text, "%255s %15s %ld %ld %ld", out[n].path, out[n].type, &out[n].size,
			   &out[n].used, &out[n].prio) == 5)
			n++;
	fclose(f);
	return n;
}

/* ---- what nobody may do to an area ---- */
static void as_user(const char *path)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		int bad = setuid(1000) || on(path, 0) != -1 || errno != EPERM || off(path) != -1 ||
			  errno != EPERM;

		_exit(bad);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void touch_area(const char *path, int is_file)
{
	int fd = open(path, O_RDWR), direct = open(path, O_RDWR | O_DIRECT);

	CHECK(fd >= 0 && direct >= 0);
	FAILS(on(path, 0), EBUSY);
	FAILS(pwrite(fd, page, 100, 0), ETXTBSY);
	FAILS(pwrite(fd, page, PAGE, PAGE), ETXTBSY);
	FAILS(pwrite(direct, page, PAGE, PAGE), ETXTBSY);
	CHECK(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	CHECK(errno == ETXTBSY);
	FAILS(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE), ETXTBSY);
	CHECK(pread(fd, page, PAGE, 0) == PAGE && !memcmp(page + PAGE - 10, "SWAPSPACE2", 10));
	if (is_file) {
		FAILS(ftruncate(fd, PAGE), ETXTBSY);
		FAILS(truncate(path, 0), ETXTBSY);
		FAILS(open(path, O_WRONLY | O_TRUNC), ETXTBSY);
		FAILS(unlink(path), EPERM);
		FAILS(rename(path, "swapcheck.new"), EPERM);
		FAILS(rename("swapcheck.holes", path), EPERM);
	} else {
		FAILS(open(path, O_RDONLY | O_EXCL), EBUSY);
	}
	close(fd);
	close(direct);
}

static void area(const char *path, int is_file)
{
	struct line l[4];

	FAILS(on(path, 0x80000), EINVAL);
	FAILS(off(path), EINVAL);
	as_user(path);
	CHECK(!on(path, PREFER | 77));
	CHECK(proc_swaps(l, 4) == 1);
	CHECK(strstr(l[0].path, strrchr(path, '/') ? strrchr(path, '/') : path));
	CHECK(!strcmp(l[0].type, is_file ? "file" : "partition"));
	CHECK(l[0].size == (PAGES - 1) * 4 && l[0].used == 0 && l[0].prio == 77);
	as_user(path);
	touch_area(path, is_file);
	CHECK(!off(path));
	FAILS(off(path), EINVAL);
	CHECK(proc_swaps(l, 4) == 0);
	/* all as before */
	CHECK(!on(path, 0));
	CHECK(proc_swaps(l, 4) == 1 && l[0].prio == -2);
	CHECK(!off(path));
}

/* Bad pages of a header are not used; a file may have none on Linux, a device may. */
static void bad_pages(const char *path, int fd)
{
	struct line l[4];

	write_header(fd, 1, PAGES - 1, 3, "SWAPSPACE2");
	put32(1536, 5);
	put32(1540, PAGES - 1);
	put32(1544, PAGES);
	CHECK(pwrite(fd, page, PAGE, 0) == PAGE);
	FAILS(on(path, 0), EINVAL);
	put32(1544, 6);
	CHECK(pwrite(fd, page, PAGE, 0) == PAGE);
	CHECK(!on(path, 0));
	CHECK(proc_swaps(l, 4) == 1 && l[0].size == (PAGES - 1 - 3) * 4);
	CHECK(!off(path));
	good_header(fd);
}

static void device(const char *path)
{
	int fd = open(path, O_RDWR);
	long size = lseek(fd, 0, SEEK_END);

	if (!CHECK(fd >= 0 && size >= 1 << 20))
		return;
	damaged_headers(path, fd, size / PAGE);
	bad_pages(path, fd);
	area(path, 0);
	CHECK(pwrite(fd, page, PAGE, 0) == PAGE);
	close(fd);
}

static void odd_paths(void)
{
	int fd = open("/tmp/swapcheck.tmpfs", O_RDWR | O_CREAT | O_TRUNC, 0600);

	FAILS(on("/nowhere/at/all", 0), ENOENT);
	FAILS(off("/nowhere/at/all"), ENOENT);
	FAILS(on("/", 0), EISDIR);
	FAILS(on("/dev/null", 0), EINVAL);
	FAILS(on((char *)8, 0), EFAULT);
	FAILS(off((char *)8), EFAULT);
	CHECK(fd >= 0);
	for (long i = 0; i < PAGES; i++)
		CHECK(pwrite(fd, page, PAGE, i * PAGE) == PAGE);
	good_header(fd);
	FAILS(on("/tmp/swapcheck.tmpfs", 0), EINVAL); /* no device below it */
	close(fd);
	unlink("/tmp/swapcheck.tmpfs");
}

static void file(void)
{
	const char *path = "swapcheck.file";
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), holes;

	if (!CHECK(fd >= 0))
		return;
	FAILS(on(path, 0), EINVAL); /* empty */
	for (long i = 0; i < PAGES; i++)
		CHECK(pwrite(fd, page, PAGE, i * PAGE) == PAGE);
	CHECK(!fsync(fd));
	damaged_headers(path, fd, PAGES);
	holes = open("swapcheck.holes", O_RDWR | O_CREAT | O_TRUNC, 0600);
	good_header(holes);
	CHECK(!ftruncate(holes, PAGES * PAGE));
	FAILS(on("swapcheck.holes", 0), EINVAL);
	CHECK(pwrite(holes, page, PAGE, 0) == PAGE); /* as writable as before */
	area(path, 1);
	odd_paths();
	CHECK(!unlink("swapcheck.holes"));
	CHECK(!ftruncate(fd, PAGE) && !unlink(path));
	close(fd);
	close(holes);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "on")) {
		int prio = atoi(argv[3]);

		if (!on(argv[2], prio < 0 ? 0 : PREFER | prio))
			return 0;
		perror(argv[2]);
		return 1;
	}
	if (argc == 5 && !strcmp(argv[1], "poke")) {
		uint32_t v = strtoul(argv[4], NULL, 0);
		int fd = open(argv[2], O_WRONLY);

		if (fd >= 0 && pwrite(fd, &v, 4, strtol(argv[3], NULL, 0)) == 4 && !fsync(fd))
			return 0;
		perror(argv[2]);
		return 1;
	}
	if (argc == 3 && !strcmp(argv[1], "device")) {
		device(argv[2]);
	} else if (argc == 3 && !strcmp(argv[1], "file") && !chdir(argv[2])) {
		file();
	} else {
		fprintf(stderr, "usage: swapcheck file DIR | device NODE | on PATH PRIORITY | "
				"poke PATH BYTE VALUE\n");
		return 2;
	}
	printf("swapcheck: %d checks, %d wrong\n", checks, wrong);
	return !!wrong;
}
