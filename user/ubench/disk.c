/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk.c - rows of files on a disk's file system (DIR of -d): the page cache, not the disk, is
 * timed.
 *
 * The file has 1024 pages. "Dirty" rows find the pages as the writes before left them; "clean" ones
 * come after an fsync. Mappings are new each time, so every first touch of a page is a fault,
 * unless the kernel maps the neighbours along; a fault row counts pages, whatever the number of
 * faults.
 */
#define _GNU_SOURCE
#include "ubench.h"
#include <sys/stat.h>
#include <sys/mman.h>

#define FILE_PAGES 1024ul

const char *disk_dir;
static char buffer[PAGE] __attribute__((aligned(4096)));
static char path[256];

static int file_open(int flags)
{
	int fd;

	snprintf(path, sizeof(path), "%s/ubench.tmp", disk_dir);
	fd = open(path, flags, 0600);
	if (fd < 0)
		die(path);
	return fd;
}

static struct result pass(int fd, int nr)
{
	uint64_t t = tsc();

	for (unsigned long i = 0; i < FILE_PAGES; i++)
		if (raw3(nr, fd, (long)buffer, PAGE) != PAGE)
			die("ubench: short read or write on the disk");
	t = tsc() - t;
	close(fd);
	return (struct result){ t, FILE_PAGES };
}

static void clean(void)
{
	int fd = file_open(O_RDWR | O_CREAT);

	if (fsync(fd) < 0)
		die("ubench: fsync");
	close(fd);
}

static struct result append(uint64_t n)
{
	unlink(path);
	return pass(file_open(O_WRONLY | O_CREAT | O_TRUNC), SYS_write);
}

static struct result overwrite_dirty(uint64_t n)
{
	return pass(file_open(O_WRONLY), SYS_write);
}

static struct result overwrite_clean(uint64_t n)
{
	clean();
	return pass(file_open(O_WRONLY), SYS_write);
}

static struct result read_hot(uint64_t n)
{
	return pass(file_open(O_RDONLY), SYS_read);
}

static struct result seek_read(uint64_t n)
{
	int fd = file_open(O_RDONLY);
	uint64_t t = tsc();

	for (uint64_t i = 0; i < n; i++) {
		raw3(SYS_lseek, fd, (long)(i % FILE_PAGES * PAGE), SEEK_SET);
		raw3(SYS_read, fd, (long)buffer, 1);
	}
	t = tsc() - t;
	close(fd);
	return (struct result){ t, n };
}

/* Touches every page of a new mapping; *unmap (may be NULL): what taking it away costs. */
static struct result touch(int flags, int write, uint64_t *unmap)
{
	int fd = file_open(O_RDWR);
	char *p = mmap(NULL, FILE_PAGES * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
	uint64_t t;

	if (p == MAP_FAILED)
		die("ubench: mmap");
	t = tsc();
	if (write)
		for (unsigned long i = 0; i < FILE_PAGES; i++)
			*(volatile char *)(p + i * PAGE) = (char)i;
	else
		for (unsigned long i = 0; i < FILE_PAGES; i++)
			(void)*(volatile char *)(p + i * PAGE);
	t = tsc() - t;
	if (unmap)
		*unmap = tsc();
	munmap(p, FILE_PAGES * PAGE);
	if (unmap)
		*unmap = tsc() - *unmap;
	close(fd);
	return (struct result){ t, FILE_PAGES };
}

static struct result map_read(uint64_t n)
{
	return touch(MAP_SHARED, 0, NULL);
}

static struct result map_unmap(uint64_t n)
{
	uint64_t t;

	touch(MAP_SHARED, 0, &t);
	return (struct result){ t, FILE_PAGES };
}

static struct result map_private(uint64_t n)
{
	return touch(MAP_PRIVATE, 1, NULL);
}

static struct result map_shared_dirty(uint64_t n)
{
	return touch(MAP_SHARED, 1, NULL);
}

static struct result map_shared_clean(uint64_t n)
{
	clean();
	return touch(MAP_SHARED, 1, NULL);
}

#define NAMES 1000u

static void name_of(char *to, size_t size, unsigned int i)
{
	snprintf(to, size, "%s/ubench.dir/file%u", disk_dir, i);
}

/* A thousand empty files in a new directory, the path from the root each time. */
static struct result create(uint64_t n)
{
	char name[300];
	uint64_t t = 0, start;

	snprintf(name, sizeof(name), "%s/ubench.dir", disk_dir);
	if (mkdir(name, 0700) < 0)
		die(name);
	for (unsigned int i = 0; i < NAMES; i++) {
		long fd;

		name_of(name, sizeof(name), i);
		start = tsc();
		fd = raw3(SYS_open, (long)name, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd < 0)
			die(name);
		raw3(SYS_close, fd, 0, 0);
		t += tsc() - start;
	}
	return (struct result){ t, NAMES };
}

/* ... and their removal. */
static struct result remove_names(void)
{
	char name[300];
	uint64_t t = 0, start;

	for (unsigned int i = 0; i < NAMES; i++) {
		name_of(name, sizeof(name), i);
		start = tsc();
		if (raw3(SYS_unlink, (long)name, 0, 0) < 0)
			die(name);
		t += tsc() - start;
	}
	snprintf(name, sizeof(name), "%s/ubench.dir", disk_dir);
	rmdir(name);
	return (struct result){ t, NAMES };
}

static struct result bench_create(uint64_t n)
{
	struct result r = create(n);

	remove_names();
	return r;
}

static struct result bench_unlink(uint64_t n)
{
	create(n);
	return remove_names();
}

static struct result fsync_page(uint64_t n)
{
	int fd = file_open(O_RDWR);
	uint64_t t = tsc();

	for (uint64_t i = 0; i < n; i++) {
		raw6(SYS_pwrite64, fd, (long)buffer, PAGE, (long)(i % FILE_PAGES * PAGE), 0, 0);
		raw3(SYS_fsync, fd, 0, 0);
	}
	t = tsc() - t;
	close(fd);
	return (struct result){ t, n };
}

const struct bench disk_benches[] = {
	{ "ext2_append", "write 4 KiB at the end, disk file", append, 0, GROSS, 1 },
	{ "ext2_overwrite", "write 4 KiB over, page dirty", overwrite_dirty, 0, GROSS, 1 },
	{ "ext2_overwrite_clean", "write 4 KiB over, page clean", overwrite_clean, 0, GROSS, 1 },
	{ "ext2_read", "read 4 KiB, cached", read_hot, 0, GROSS, 1 },
	{ "ext2_lseek_read", "lseek + read 1 byte", seek_read, 2000, GROSS, 1 },
	{ "map_read", "first read of a page of a shared file mapping, per page", map_read, 0, GROSS,
	  1 },
	{ "map_unmap", "munmap of it, per page", map_unmap, 0, GROSS, 1 },
	{ "map_cow", "first write to a private file mapping, per page", map_private, 0, GROSS, 1 },
	{ "map_shared_clean", "first write to a shared file mapping, page clean", map_shared_clean,
	  0, GROSS, 1 },
	{ "map_shared", "first write to a shared file mapping, page dirty", map_shared_dirty, 0,
	  GROSS, 1 },
	{ "ext2_create", "create and close an empty file", bench_create, 0, GROSS, 1 },
	{ "ext2_unlink", "unlink an empty file", bench_unlink, 0, GROSS, 1 },
	{ "ext2_fsync", "write 4 KiB + fsync", fsync_page, 100, GROSS, 1 },
};
const size_t nr_disk_benches = sizeof(disk_benches) / sizeof(disk_benches[0]);

void disk_done(void)
{
	unlink(path);
}
