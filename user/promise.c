/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * promise - a load that writes down what it was promised, and one that counts errors.
 *
 *	promise load DIR SEED STEPS LOG		until STEPS are done or the disk fails
 *	promise dump FILE...			whose sectors a file has
 *	promise eio FILE WRITERS COMMAND	COMMAND makes the disk fail (a line for the shell)
 *
 * load: a seeded mix of create, append, overwrite, rename, unlink and mkdir in DIR, with fsync of
 * file and directory, fdatasync and syncfs in between. LOG (on another file system) gets a line
 * before each change and one after each sync that succeeded; whoever has the medium and the log
 * can check what must be there (tests/qemu/promises.py says what exactly).
 *
 *	m D           directory D ("d" D) is about to be made      d D   fsync of it succeeded
 *	c F D         file F ("f" F) is about to be made in D      (D = -1: DIR itself)
 *	w F FIRST N V sectors of F are about to be written, version V
 *	s F           fsync or fdatasync of F succeeded            S     syncfs succeeded
 *	y F FIRST N   these sectors alone: msync, or a write with O_DSYNC
 *	r F D G       F is about to be renamed into D, to the name of number G
 *	u F           F is about to be unlinked
 *	x F           a write failed for want of space: F promises nothing any more
 *	e WHAT        the end
 *
 * Each sector says whose it is: "Q file sector version", then a pattern of these. No directory has
 * more names than its first sector holds, and a file that was promised never gets its first
 * indirect block afterwards: a file system without a journal cannot promise more than that.
 *
 * dump prints "@ PATH BYTES", then "FILE FIRST N VERSION" for each run of sectors that are whole,
 * and nothing for a sector that is not.
 *
 * eio: WRITERS processes open FILE, each writes a part of its own; after COMMAND each calls fsync
 * twice. Every one must see EIO exactly once.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define DIRS 12
#define NAMES 14   /* of a directory */
#define FILES 4096 /* ever */
#define DIRECT 24  /* sectors without an indirect block, blocks of 1 KiB */
#define LARGE 480

struct file {
	int dir, name; /* -1: no such file (any more) */
	int sectors;
	int large, version;
};
static struct file files[FILES];
static int nr_files, nr_dirs, root = -1, dir_fd[DIRS], log_fd, nr_large;
static uint64_t state;

static unsigned int rnd(unsigned int n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % n;
}

static void note(const char *fmt, ...)
{
	char line[80];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (write(log_fd, line, n) != n) {
		perror("promise: log");
		exit(2);
	}
}

static void finish(const char *what)
{
	note("e %s %s\n", what, strerror(errno));
	exit(0);
}

/* A store found no page: the disk has failed. */
static void bus_error(int signal)
{
	errno = EIO;
	finish("a store");
}

static void sector(char *out, int f, int s, int version)
{
	uint64_t h = (uint64_t)f << 40 ^ (uint64_t)s << 20 ^ (uint64_t)version;
	int n = snprintf(out, 64, "Q %d %d %d\n", f, s, version);

	for (; n < 512; n++) {
		h = h * 6364136223846793005ull + 1442695040888963407ull;
		out[n] = 'a' + (h >> 40) % 26;
	}
}

static const char *name_of(int number)
{
	static char name[16];

	snprintf(name, sizeof(name), "f%d", number);
	return name;
}

static int open_file(int f, int flags)
{
	int fd = openat(dir_fd[files[f].dir], name_of(files[f].name), flags, 0644);

	if (fd < 0)
		finish("open");
	return fd;
}

static int names_in(int dir)
{
	int n = 0;

	for (int f = 0; f < nr_files; f++)
		n += files[f].dir == dir;
	return n;
}

/* A file that is there; large: 0, 1, or -1 for any. -1: none */
static int any_file(int large)
{
	for (int tries = 0; tries < 64 && nr_files; tries++) {
		int f = rnd(nr_files);

		if (files[f].dir >= 0 && (large < 0 || files[f].large == large))
			return f;
	}
	return -1;
}

static void sync_file(int f, int fd)
{
	if (rnd(3) ? fsync(fd) : fdatasync(fd))
		finish("fsync");
	note("s %d\n", f);
}

static void sync_dir(int d)
{
	if (fsync(d < 0 ? root : dir_fd[d]))
		finish("fsync of a directory");
	note("d %d\n", d);
}

static void write_sectors(int f, int fd, int first, int n)
{
	static char buf[LARGE * 512] __attribute__((aligned(4096)));
	int version = ++files[f].version;

	for (int i = 0; i < n; i++)
		sector(buf + i * 512, f, first + i, version);
	note("w %d %d %d %d\n", f, first, n, version);
	if (pwrite(fd, buf, n * 512, first * 512L) != n * 512) {
		if (errno != ENOSPC)
			finish("write");
		note("x %d\n", f);
	}
	if (first + n > files[f].sectors)
		files[f].sectors = first + n;
}

static void make_dir(void)
{
	char name[16];
	int d = nr_dirs;

	if (d == DIRS)
		return;
	snprintf(name, sizeof(name), "d%d", d);
	note("m %d\n", d);
	if (mkdirat(root, name, 0755))
		finish("mkdir");
	dir_fd[d] = openat(root, name, O_RDONLY | O_DIRECTORY);
	if (dir_fd[d] < 0)
		finish("open of a directory");
	nr_dirs++;
	sync_dir(d);
	sync_dir(-1);
}

static void create(int large)
{
	int d = rnd(nr_dirs), f = nr_files, fd, n;

	if (f == FILES || names_in(d) == NAMES || (large && nr_large > 6))
		return;
	files[f] = (struct file){ .dir = d, .name = f, .large = large };
	nr_files++;
	nr_large += large;
	note("c %d %d\n", f, d);
	fd = open_file(f, O_CREAT | O_EXCL | O_WRONLY);
	n = large ? DIRECT + 1 + rnd(LARGE - DIRECT) : 1 + rnd(DIRECT);
	for (int at = 0; at < n; at += 64)
		write_sectors(f, fd, at, n - at < 64 ? n - at : 64);
	if (rnd(10) < 7) {
		sync_file(f, fd);
		if (rnd(10) < 7)
			sync_dir(d);
	}
	close(fd);
}

static void append(void)
{
	int f = any_file(0), fd, n = 1 + rnd(6);

	if (f < 0 || files[f].sectors + n > DIRECT)
		return;
	fd = open_file(f, O_WRONLY);
	write_sectors(f, fd, files[f].sectors, n);
	if (rnd(2))
		sync_file(f, fd);
	close(fd);
}

/* By stores to a shared mapping. => msync was asked for and succeeded */
static bool store_sectors(int f, int fd, int first, int n)
{
	int version = ++files[f].version, from = first / 8 * 8;
	size_t bytes = (first + n - from) * 512L;
	char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, from * 512L);
	bool sync = rnd(2);

	if (map == MAP_FAILED)
		finish("mmap");
	note("w %d %d %d %d\n", f, first, n, version);
	for (int i = 0; i < n; i++)
		sector(map + (first + i - from) * 512, f, first + i, version);
	if (sync && msync(map, bytes, MS_SYNC))
		finish("msync");
	munmap(map, bytes);
	return sync;
}

static void overwrite(void)
{
	static const int how[8] = { 0, 0, 0, 0, O_DSYNC, O_DIRECT, O_DIRECT, -1 };
	int f = any_file(-1), fd, first, n, flags = how[rnd(8)];

	if (f < 0)
		return;
	first = rnd(files[f].sectors);
	n = 1 + rnd(files[f].sectors - first);
	n = n > 40 ? 40 : n;
	fd = open_file(f, flags < 0 ? O_RDWR : O_WRONLY | flags);
	if (flags < 0) {
		if (store_sectors(f, fd, first, n))
			note("y %d %d %d\n", f, first, n);
	} else {
		write_sectors(f, fd, first, n);
		if (flags == O_DSYNC)
			note("y %d %d %d\n", f, first, n);
	}
	if (rnd(2))
		sync_file(f, fd);
	close(fd);
}

static void gone(int f)
{
	nr_large -= files[f].large;
	files[f].dir = files[f].name = -1;
}

static void rename_one(void)
{
	int f = any_file(-1), g = any_file(-1), d = rnd(nr_dirs), old, name;
	char from[16];

	if (f < 0)
		return;
	name = files[f].name;
	old = files[f].dir;
	if (g >= 0 && g != f && rnd(3) == 0) { /* over another one */
		d = files[g].dir;
		name = files[g].name;
	} else if (d != old && names_in(d) == NAMES) {
		return;
	} else {
		g = -1;
		if (d == old)
			return;
	}
	snprintf(from, sizeof(from), "%s", name_of(files[f].name));
	note("r %d %d %d\n", f, d, name);
	if (renameat(dir_fd[old], from, dir_fd[d], name_of(name)))
		finish("rename");
	if (g >= 0)
		gone(g);
	files[f].dir = d;
	files[f].name = name;
	if (rnd(2)) {
		sync_dir(d);
		if (d != old)
			sync_dir(old);
	}
}

static void unlink_one(void)
{
	int f = any_file(-1), d;

	if (f < 0)
		return;
	d = files[f].dir;
	note("u %d\n", f);
	if (unlinkat(dir_fd[d], name_of(files[f].name), 0))
		finish("unlink");
	gone(f);
	if (rnd(2))
		sync_dir(d);
}

static void sync_something(void)
{
	int f = any_file(-1), fd;

	if (rnd(6) == 0) {
		if (syscall(SYS_syncfs, root))
			finish("syncfs");
		note("S\n");
		return;
	}
	sync_dir(rnd(nr_dirs));
	if (f < 0)
		return;
	fd = open_file(f, O_RDONLY);
	sync_file(f, fd);
	close(fd);
}

static void step(void)
{
	static const struct {
		unsigned int below;
		int what;
	} mix[] = { { 22, 0 }, { 28, 1 }, { 46, 2 }, { 66, 3 }, { 76, 4 },
		    { 86, 5 }, { 88, 6 }, { 96, 7 }, { 100, 8 } };
	unsigned int r = rnd(100), i = 0;

	while (r >= mix[i].below)
		i++;
	switch (mix[i].what) {
	case 0:
	case 1:
		create(mix[i].what);
		break;
	case 2:
		append();
		break;
	case 3:
		overwrite();
		break;
	case 4:
		rename_one();
		break;
	case 5:
		unlink_one();
		break;
	case 6:
		make_dir();
		break;
	case 7:
		sync_something();
		break;
	default: /* so that the flushers write, too */
		usleep(20000 * (1 + rnd(20)));
	}
}

static int load(char **argv)
{
	state = strtoull(argv[3], NULL, 10) * 0x9e3779b97f4a7c15ull + 1;
	log_fd = open(argv[5], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	root = open(argv[2], O_RDONLY | O_DIRECTORY);
	if (log_fd < 0 || root < 0) {
		perror("promise");
		return 2;
	}
	signal(SIGBUS, bus_error);
	for (int d = 0; d < 4; d++)
		make_dir();
	for (long n = strtol(argv[4], NULL, 10); n > 0; n--)
		step();
	errno = 0;
	finish("all steps done");
	return 0;
}

/* ---- dump ------------------------------------------------------------------------------------ */

/* => the version of a whole sector s of *file, or -1 */
static int whose(const char *data, int s, int *file)
{
	char want[512];
	int at, version;

	if (sscanf(data, "Q %d %d %d", file, &at, &version) != 3 || at != s)
		return -1;
	sector(want, *file, s, version);
	return memcmp(want, data, 512) ? -1 : version;
}

static void dump_file(const char *path)
{
	int fd = open(path, O_RDONLY), first = 0, n = 0, run_file = -1, run_version = -1;
	char data[513] = "";

	if (fd < 0) {
		printf("@ %s -1\n", path);
		return;
	}
	printf("@ %s %ld\n", path, (long)lseek(fd, 0, SEEK_END));
	for (int s = 0;; s++) {
		bool end = pread(fd, data, 512, s * 512L) != 512;
		int file = -1, version = end ? -1 : whose(data, s, &file);

		if (n && (version != run_version || file != run_file)) {
			printf("%d %d %d %d\n", run_file, first, n, run_version);
			n = 0;
		}
		if (end)
			break;
		if (version < 0)
			continue;
		if (!n)
			first = s;
		n++;
		run_file = file;
		run_version = version;
	}
	close(fd);
}

/* ---- eio ------------------------------------------------------------------------------------- */

/* Exit status: bit 0 the first fsync said EIO, bit 1 the second succeeded. */
static int writer(const char *path, int me, int ready, int go)
{
	char buf[8192], c;
	int fd = open(path, O_RDWR), first, second;

	memset(buf, 'A' + me % 26, sizeof(buf));
	if (fd < 0 || pwrite(fd, buf, sizeof(buf), me * 8192L) != sizeof(buf))
		return 64;
	if (write(ready, "r", 1) != 1 || read(go, &c, 1) != 0)
		return 65;
	first = fsync(fd) && errno == EIO;
	second = fsync(fd) == 0;
	return first | second << 1;
}

static int eio(char **argv)
{
	int writers = atoi(argv[3]), ready[2], go[2], bad = 0, status;
	char c;

	if (pipe(ready) || pipe(go))
		return 2;
	close(open(argv[2], O_CREAT | O_RDWR, 0644));
	for (int i = 0; i < writers; i++) {
		if (fork() == 0) {
			close(go[1]);
			_exit(writer(argv[2], i, ready[1], go[0]));
		}
	}
	for (int i = 0; i < writers; i++)
		if (read(ready[0], &c, 1) != 1)
			return 2;
	if (system(argv[4]))
		return 2;
	close(go[0]);
	close(go[1]); /* all at once */
	for (int i = 0; i < writers; i++) {
		wait(&status);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) {
			printf("promise: a writer ended with status %x\n", status);
			bad++;
		}
	}
	printf("promise: %d of %d writers saw EIO exactly once\n", writers - bad, writers);
	return bad != 0;
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "load"))
		return load(argv);
	if (argc == 5 && !strcmp(argv[1], "eio"))
		return eio(argv);
	if (argc > 1 && !strcmp(argv[1], "dump")) {
		for (int i = 2; i < argc; i++)
			dump_file(argv[i]);
		return 0;
	}
	fprintf(stderr, "usage: promise load DIR SEED STEPS LOG\n"
			"       promise dump FILE...\n"
			"       promise eio FILE WRITERS COMMAND\n");
	return 2;
}
