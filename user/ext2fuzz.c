/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ext2fuzz - mounts damaged ext2 images, one after another, and uses them.
 *
 *	ext2fuzz BASES SIZE DISK DIR FIRST COUNT
 *
 * BASES: a file or disk that holds sound images of SIZE bytes, one behind the other. For each seed
 * from FIRST on one of them is copied to DISK, damaged in one to eight places, mounted on DIR, read
 * and changed all over, and unmounted. Most hits go where they hurt: superblock, descriptors,
 * bitmaps, inodes in use, directories, indirect blocks. Nothing is expected of a mount but that the
 * kernel lives and lets go of the disk again; a short table at the end says what happened.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define MAX_FILES 200
#define MAX_DEPTH 12

static uint8_t *image;
static size_t size;
static uint64_t state;
static char *found[MAX_FILES];
static int nr_found, nr_dirs;
static unsigned long mounted, refused, reads, read_errors, changes, change_errors;

static uint64_t rnd(void)
{
	state += 0x9e3779b97f4a7c15ull;
	uint64_t z = state;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static uint32_t get32(size_t at)
{
	uint32_t v = 0;

	if (at + 4 <= size)
		memcpy(&v, image + at, 4);
	return v;
}

static void put(size_t at, uint64_t v, unsigned int bytes)
{
	if (at + bytes <= size)
		memcpy(image + at, &v, bytes);
}

/* Values that tend to be wrong in interesting ways. */
static uint64_t evil(void)
{
	static const uint32_t values[] = {
		0,	1,	2,	 3,	     7,		 11,	     12,	0x7fff,
		0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0
	};

	switch (rnd() % 4) {
	case 0:
		return values[rnd() % (sizeof(values) / sizeof(values[0]))];
	case 1:
		return rnd();
	default:
		return rnd() % 1200; /* a likely block or inode number */
	}
}

struct layout {
	uint32_t block, groups_at, itable, inode_size, inodes;
};

static struct layout layout_of(void)
{
	struct layout l;

	l.block = 1024u << (get32(1024 + 24) & 3);
	l.groups_at = l.block == 1024 ? 2048 : l.block;
	l.itable = get32(l.groups_at + 8);
	l.inode_size = get32(1024 + 76) ? get32(1024 + 88) & 0xffff : 128;
	l.inodes = get32(1024 + 40);
	return l;
}

/* A block that a used inode leads to. */
static size_t some_block(const struct layout *l, size_t inode)
{
	uint32_t nr = get32(inode + 40 + 4 * (rnd() % 15));

	if (!nr)
		nr = get32(inode + 40);
	return (size_t)nr * l->block;
}

static void damage(void)
{
	struct layout l = layout_of();
	size_t inode = (size_t)l.itable * l.block;
	uint32_t ino = rnd() % 3 ? rnd() % 40 : rnd() % (l.inodes ? l.inodes : 1);
	size_t at;

	inode += (size_t)ino * l.inode_size;
	switch (rnd() % 30 ? 2 + rnd() % 8 : rnd() % 2) {
	case 0: /* superblock */
		put(1024 + rnd() % 104, evil(), 1 + rnd() % 4);
		break;
	case 1: /* descriptors and bitmaps */
		put(l.groups_at + rnd() % 32, evil(), 1 + rnd() % 4);
		break;
	case 2:
		at = (size_t)get32(l.groups_at + 4 * (rnd() % 2)) * l.block;
		put(at + rnd() % 256, rnd(), 8);
		break;
	case 3: /* an inode's attributes */
	case 4:
		put(inode + rnd() % 40, evil(), 1 + rnd() % 4);
		break;
	case 5: /* its map */
		put(inode + 40 + 4 * (rnd() % 15), evil(), 4);
		break;
	case 6: /* one of its blocks: entries, block numbers */
	case 7:
		put(some_block(&l, inode) + (rnd() % 64) * 4, evil(), rnd() % 2 ? 4 : 2);
		break;
	case 8: /* a block that leads to itself, or to another inode's */
		at = some_block(&l, inode);
		put(at + (rnd() % 16) * 4, at / l.block, 4);
		break;
	default:
		put(rnd() % size, rnd(), 1 + rnd() % 8);
	}
}

static void note(const char *path)
{
	if (nr_found < MAX_FILES)
		found[nr_found++] = strdup(path);
}

static void read_file(const char *path)
{
	static char buf[65536];
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	ssize_t n = 0;

	if (fd < 0) {
		read_errors++;
		return;
	}
	for (int i = 0; i < 20 && (n = read(fd, buf, sizeof(buf))) > 0; i++)
		reads++;
	read_errors += n < 0;
	lseek(fd, 0, SEEK_HOLE);
	if (lseek(fd, (off_t)(rnd() % (1ull << 36)), SEEK_SET) >= 0)
		n = read(fd, buf, 4096);
	lseek(fd, 100000, SEEK_DATA);
	close(fd);
}

static void walk(const char *path, int depth)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	char name[4096], text[300];
	struct stat st;

	if (!dir) {
		read_errors++;
		return;
	}
	for (int i = 0; i < 300 && (e = readdir(dir)); i++) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(name, sizeof(name), "%.3000s/%s", path, e->d_name);
		if (lstat(name, &st) < 0) {
			read_errors++;
			continue;
		}
		note(name);
		if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH && nr_dirs++ < 100)
			walk(name, depth + 1);
		else if (S_ISREG(st.st_mode))
			read_file(name);
		else if (S_ISLNK(st.st_mode))
			read_errors += readlink(name, text, sizeof(text)) < 0;
	}
	closedir(dir);
}

static void count_change(long ret)
{
	changes++;
	change_errors += ret < 0;
}

static void change_one(const char *dir, const char *path)
{
	static char buf[40000];
	char name[4096];
	int fd;

	snprintf(name, sizeof(name), "%s/new%u", dir, (unsigned int)(rnd() % 30));
	switch (rnd() % 10) {
	case 0:
		fd = open(path, O_WRONLY | O_NONBLOCK);
		count_change(fd);
		if (fd >= 0) {
			count_change(pwrite(fd, buf, rnd() % sizeof(buf), rnd() % 300000));
			count_change(ftruncate(fd, rnd() % 400000));
			count_change(fallocate(fd, 3, rnd() % 100000, 1 + rnd() % 100000));
			if (rnd() % 4 == 0)
				fsync(fd);
			close(fd);
		}
		break;
	case 1:
	case 2:
		fd = open(name, O_CREAT | O_RDWR, 0644);
		count_change(fd);
		if (fd >= 0) {
			count_change(write(fd, buf, rnd() % sizeof(buf)));
			close(fd);
		}
		break;
	case 3:
		count_change(unlink(path));
		break;
	case 4:
		count_change(rmdir(path));
		break;
	case 5:
		count_change(rename(path, name));
		break;
	case 6:
		count_change(mkdir(name, 0755));
		break;
	case 7:
		count_change(link(path, name));
		break;
	case 8:
		memset(buf, 'a', 100);
		buf[rnd() % 100 + 1] = 0;
		count_change(symlink(buf, name));
		break;
	default:
		snprintf(name, sizeof(name), "%.3000s/in%u", path, (unsigned int)(rnd() % 10));
		fd = open(name, O_CREAT | O_RDWR, 0644);
		count_change(fd);
		if (fd >= 0)
			close(fd);
	}
}

static int one(const char *bases, const char *disk, const char *dir, unsigned long seed)
{
	int fd = open(bases, O_RDONLY), in = open(disk, O_RDWR), err = 0;
	off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	struct statfs fs;
	unsigned long nr = end > 0 ? end / (off_t)size : 0;
	int ro = seed % 5 == 0;

	if (!nr || in < 0) {
		fprintf(stderr, "ext2fuzz: no images in %s, or no %s\n", bases, disk);
		return 1;
	}
	state = seed * 1000003;
	if (pread(fd, image, size, (off_t)(seed % nr * size)) != (ssize_t)size)
		err = 1;
	for (unsigned int i = 1 + rnd() % 8; i; i--)
		damage();
	if (pwrite(in, image, size, 0) != (ssize_t)size)
		err = 1;
	close(fd);
	close(in);
	if (err) {
		fprintf(stderr, "ext2fuzz: %s\n", strerror(errno));
		return 1;
	}
	if (mount(disk, dir, "ext2", ro ? MS_RDONLY : 0,
		  seed % 3 ? "errors=continue" : "errors=remount-ro") < 0) {
		refused++;
		return 0;
	}
	mounted++;
	nr_found = nr_dirs = 0;
	statfs(dir, &fs);
	walk(dir, 0);
	note(dir);
	for (int i = 0; i < 60 && nr_found; i++)
		change_one(dir, found[rnd() % nr_found]);
	if (seed % 4 == 0)
		sync();
	nr_dirs = 0;
	walk(dir, 0);
	while (nr_found)
		free(found[--nr_found]);
	if (umount(dir) < 0) {
		fprintf(stderr, "ext2fuzz: seed %lu: umount: %s\n", seed, strerror(errno));
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long first, count;

	if (argc != 7 || !(size = strtoul(argv[2], NULL, 0)) || !(image = malloc(size))) {
		fprintf(stderr, "usage: ext2fuzz BASES SIZE DISK DIR FIRST COUNT\n");
		return 2;
	}
	first = strtoul(argv[5], NULL, 0);
	count = strtoul(argv[6], NULL, 0);
	for (unsigned long seed = first; seed < first + count; seed++) {
		if (one(argv[1], argv[3], argv[4], seed))
			return 1;
		if (seed % 50 == 49)
			printf("ext2fuzz: seed %lu\n", seed);
	}
	printf("ext2fuzz: %lu images, %lu mounted, %lu refused, %lu reads, %lu failed, %lu "
	       "changes, "
	       "%lu failed\n",
	       count, mounted, refused, reads, read_errors, changes, change_errors);
	return 0;
}
