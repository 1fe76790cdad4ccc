/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fscheck - the file system calls, one after the other, with their results.
 *
 *	fscheck [DIR]	works in DIR/fscheck (default /tmp), which it removes at the end
 *
 * It prints what each call answered and nothing that may differ between two correct systems (no
 * times, no inode numbers), so that the output on Linux (as root, on tmpfs) and on this kernel can
 * be compared line by line.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <dirent.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/wait.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE 2
#endif
#define renameat2(...) syscall(SYS_renameat2, __VA_ARGS__)
#define statx(...) syscall(SYS_statx, __VA_ARGS__)

static const char *error_name(int e)
{
	static const struct {
		int e;
		const char *name;
	} names[] = {
#define E(x) { x, #x }
		E(EPERM),   E(ENOENT),	  E(EIO),	   E(ENXIO),  E(EBADF),	    E(EAGAIN),
		E(ENOMEM),  E(EACCES),	  E(EFAULT),	   E(EBUSY),  E(EEXIST),    E(EXDEV),
		E(ENODEV),  E(ENOTDIR),	  E(EISDIR),	   E(EINVAL), E(EMFILE),    E(ENOTTY),
		E(ETXTBSY), E(EFBIG),	  E(ENOSPC),	   E(ESPIPE), E(EROFS),	    E(EMLINK),
		E(EPIPE),   E(ERANGE),	  E(ENAMETOOLONG), E(ENOSYS), E(ENOTEMPTY), E(ELOOP),
		E(ENODATA), E(EOVERFLOW), E(EOPNOTSUPP),
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
/* A descriptor's number is nobody's business. */
static int opened(const char *what, int fd)
{
	printf("%s = %s\n", what, fd < 0 ? error_name(errno) : "open");
	return fd;
}
#define OPEN(...) (errno = 0, opened("open(" #__VA_ARGS__ ")", open(__VA_ARGS__)))
#define TRY(...)                                                                                   \
	do {                                                                                       \
		int _fd = OPEN(__VA_ARGS__);                                                       \
		if (_fd >= 0)                                                                      \
			close(_fd);                                                                \
	} while (0)

static void show(const char *name)
{
	struct stat st;

	if (lstat(name, &st) < 0)
		printf("%s: %s\n", name, error_name(errno));
	else
		printf("%s: mode %o nlink %lu size %ld uid %u gid %u\n", name, st.st_mode,
		       (unsigned long)st.st_nlink, S_ISDIR(st.st_mode) ? 0l : (long)st.st_size,
		       st.st_uid, st.st_gid);
}

static void put(const char *name, const char *text)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		printf("put %s: %s\n", name, error_name(errno));
	if (fd >= 0)
		close(fd);
}

static void names_and_errors(void)
{
	char longname[300], longpath[5000];

	memset(longname, 'x', sizeof(longname));
	longname[256] = 0;
	memset(longpath, '/', sizeof(longpath));
	longpath[4999] = 0;
	T(mkdir("d", 0777));
	T(mkdir("d", 0777));
	T(mkdir("d/", 0777));
	T(mkdir("d/e/", 0750));
	T(mkdir("none/e", 0777));
	T(mkdir("", 0777));
	T(mkdir(".", 0777));
	T(mkdir("..", 0777));
	T(mkdir("/", 0777));
	T(mkdir(longname, 0777));
	longname[255] = 0;
	T(mkdir(longname, 0777));
	T(rmdir(longname));
	T(access(longpath, F_OK));
	longpath[4095] = 0;
	T(access(longpath, F_OK));
	put("f", "hello\n");
	T(mkdir("f", 0777));
	T(mkdir("f/x", 0777));
	T(access("f/", F_OK));
	T(access("f/.", F_OK));
	T(access("f/..", F_OK));
	T(access("d/../f", F_OK));
	T(access("d/./e/../../f", F_OK));
	T(access("none/../f", F_OK));
	T(access("f", X_OK));
	T(access("d", X_OK));
	T(access("f", R_OK | W_OK));
	T(access("f", 8));
	T(rmdir("f"));
	T(rmdir("d"));
	T(rmdir("d/."));
	T(rmdir("d/.."));
	T(rmdir("/"));
	T(rmdir("none"));
	T(unlink("d"));
	T(unlink("d/"));
	T(unlink("f/"));
	T(unlink("none"));
	T(unlink("."));
	T(unlinkat(AT_FDCWD, "d/e", 0));
	T(unlinkat(AT_FDCWD, "d/e", AT_REMOVEDIR));
	T(unlinkat(AT_FDCWD, "d", 0x1000));
	T(unlinkat(99, "d", 0));
	T(access((char *)1, F_OK));
	show("d");
	show("f");
	T(rmdir("d"));
}

static void opening(void)
{
	int fd;
	char buf[16];

	TRY("f", O_RDONLY);
	TRY("f", O_RDONLY | O_DIRECTORY);
	TRY("f/", O_RDONLY);
	TRY("f", O_CREAT | O_EXCL | O_RDWR, 0600);
	TRY("none", O_RDWR);
	TRY("none/", O_CREAT | O_RDWR, 0600);
	TRY(".", O_CREAT | O_RDWR, 0600);
	TRY(".", O_RDWR);
	TRY(".", O_RDONLY | O_TRUNC);
	TRY(".", O_RDONLY);
	TRY(".", O_PATH);
	TRY("f/none", O_CREAT | O_RDWR, 0600);
	TRY("", O_RDONLY);
	TRY("", O_CREAT | O_RDWR, 0600);
	umask(027);
	TRY("masked", O_CREAT | O_RDWR, 0666);
	show("masked");
	umask(022);
	T(unlink("masked"));
	fd = OPEN("f", O_RDONLY);
	T(write(fd, "x", 1));
	T(read(fd, buf, 16));
	T(read(fd, buf, 16));
	T(lseek(fd, 2, SEEK_SET));
	T(read(fd, buf, 2));
	T(lseek(fd, 0, SEEK_CUR));
	T(lseek(fd, -100, SEEK_CUR));
	T(lseek(fd, -1, SEEK_END));
	T(lseek(fd, 0, 99));
	T(lseek(fd, 1l << 40, SEEK_SET));
	T(read(fd, buf, 4));
	T(pread(fd, buf, 4, 1));
	T(pread(fd, buf, 4, -1));
	T(read(fd, (void *)8, 4));
	T(pread(fd, (void *)8, 4, 0));
	T(ftruncate(fd, 0));
	T(fcntl(fd, F_GETFL) & O_ACCMODE);
	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_SETFD, FD_CLOEXEC));
	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, 4711));
	T(close(fd));
	T(close(fd));
	T(read(fd, buf, 1));
	T(lseek(fd, 0, SEEK_SET));
	fd = OPEN("f", O_PATH);
	T(read(fd, buf, 1));
	T(fchmod(fd, 0600));
	T(fcntl(fd, F_GETFL) & O_PATH ? 1 : 0);
	T(close(fd));
	fd = OPEN("f", O_WRONLY | O_APPEND);
	T(write(fd, "more\n", 5));
	T(lseek(fd, 0, SEEK_SET));
	T(write(fd, "end\n", 4));
	T(lseek(fd, 0, SEEK_CUR));
	T(read(fd, buf, 1));
	T(close(fd));
	show("f");
	TRY("f", O_WRONLY | O_TRUNC);
	show("f");
	fd = OPEN(".", O_RDONLY);
	T(read(fd, buf, 1));
	T(write(fd, buf, 1));
	T(fsync(fd));
	T(lseek(fd, 0, SEEK_END) == 0 ? 0 : -1);
	T(close(fd));
}

static void links(void)
{
	char buf[32], name[16], to[16];

	T(symlink("f", "l"));
	T(symlink("f", "l"));
	T(symlink("", "l2"));
	T(symlink("f", "none/l"));
	T(symlink("f", "l3/"));
	T(readlink("l", buf, sizeof(buf)));
	T(readlink("f", buf, sizeof(buf)));
	T(readlink("none", buf, sizeof(buf)));
	T(readlink("l", buf, 0));
	T(symlink("/a/long/target", "long"));
	T(readlink("long", buf, 5));
	show("long");
	TRY("l", O_RDONLY | O_NOFOLLOW);
	TRY("l", O_PATH | O_NOFOLLOW);
	TRY("l", O_CREAT | O_EXCL | O_RDWR, 0600);
	T(symlink("made", "dangling"));
	TRY("dangling", O_RDONLY);
	TRY("dangling", O_CREAT | O_EXCL | O_RDWR, 0600);
	TRY("dangling", O_CREAT | O_RDWR, 0600);
	show("made");
	T(symlink("loop2", "loop1"));
	T(symlink("loop1", "loop2"));
	T(access("loop1", F_OK));
	TRY("loop1", O_CREAT | O_RDWR, 0600);
	T(mkdir("loop1", 0777));
	T(mkdir("dir", 0777));
	T(symlink("dir", "ldir"));
	T(symlink("dir/", "ldir2"));
	T(mkdir("ldir/x", 0777));
	T(rmdir("ldir"));
	T(rmdir("ldir/"));
	T(unlink("ldir/"));
	T(access("ldir/x/../../f", F_OK));
	TRY("ldir", O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	TRY("ldir/", O_RDONLY | O_NOFOLLOW);
	for (int i = 0; i < 42; i++) {
		snprintf(name, sizeof(name), "c%d", i + 1);
		snprintf(to, sizeof(to), i ? "c%d" : "f", i);
		if (symlink(to, name) < 0)
			perror("symlink");
	}
	T(access("c40", F_OK));
	T(access("c41", F_OK));
	T(link("f", "hard"));
	T(link("f", "hard"));
	T(link("none", "hard2"));
	T(link("dir", "hard2"));
	T(link("l", "hardlink"));
	show("hardlink");
	T(linkat(AT_FDCWD, "l", AT_FDCWD, "hard3", AT_SYMLINK_FOLLOW));
	T(linkat(AT_FDCWD, "f", AT_FDCWD, "hard4", 1));
	show("f");
	T(unlink("hard"));
	show("f");
	T(unlinkat(AT_FDCWD, "hard3", 0));
	T(lchown("l", 5, 6));
	show("l");
}

static void renames(void)
{
	T(rename("none", "x"));
	T(rename("f", "f"));
	T(rename("dir", "dir/x/y"));
	T(rename("dir/x", "dir"));
	T(rename("f", "dir"));
	T(rename("dir", "f"));
	T(rename("f", "g/"));
	T(rename("f/", "g"));
	T(rename("dir/.", "g"));
	T(rename("dir", "."));
	T(rename("f", "/"));
	T(mkdir("empty", 0777));
	T(rename("dir", "empty/"));
	T(rename("empty", "dir"));
	T(rename("f", "f2"));
	show("f");
	show("f2");
	T(rename("f2", "f"));
	put("other", "other");
	T(renameat2(AT_FDCWD, "f", AT_FDCWD, "other", RENAME_NOREPLACE));
	T(renameat2(AT_FDCWD, "f", AT_FDCWD, "other", RENAME_EXCHANGE));
	show("f");
	show("other");
	T(renameat2(AT_FDCWD, "f", AT_FDCWD, "none", RENAME_EXCHANGE));
	T(renameat2(AT_FDCWD, "f", AT_FDCWD, "dir", RENAME_EXCHANGE));
	show("f");
	show("dir");
	T(renameat2(AT_FDCWD, "f", AT_FDCWD, "dir", RENAME_EXCHANGE));
	T(renameat2(AT_FDCWD, "f", AT_FDCWD, "dir", 99));
	T(rename("other", "f"));
	show("f");
	show("dir");
}

static void sizes(void)
{
	int fd = OPEN("s", O_CREAT | O_RDWR, 0600), fd2;
	struct iovec v[3] = { { "ab", 2 }, { "", 0 }, { "cde", 3 } };
	char buf[8192];
	struct stat st;
	loff_t off = 0, off2 = 100;

	T(ftruncate(fd, 10000));
	T(pwrite(fd, "x", 1, 1 << 20));
	show("s");
	T(lseek(fd, 0, SEEK_DATA));
	T(lseek(fd, 0, SEEK_HOLE));
	T(lseek(fd, 1 << 20, SEEK_HOLE));
	T(lseek(fd, (1 << 20) + 1, SEEK_DATA));
	T(pread(fd, buf, sizeof(buf), (1 << 20) - 4096));
	T(buf[4096] == 'x' && !buf[4095] && !buf[0]);
	T(ftruncate(fd, 5000));
	T(pread(fd, buf, sizeof(buf), 4096));
	T(ftruncate(fd, -1));
	T(truncate("none", 0));
	T(truncate(".", 0));
	T(truncate("s", 100));
	T(ftruncate(fd, 200));
	T(pread(fd, buf, sizeof(buf), 0));
	T(fallocate(fd, 0, 0, 16384));
	T(fallocate(fd, FALLOC_FL_KEEP_SIZE, 16384, 16384));
	T(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 4096));
	T(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 4096, 4096));
	T(fallocate(fd, 0, 0, 0));
	T(fallocate(fd, 0, -1, 5));
	fstat(fd, &st);
	T(st.st_blocks);
	T(st.st_size);
	T(lseek(fd, 0, SEEK_SET));
	T(writev(fd, v, 3));
	T(readv(fd, v, 0));
	T(writev(fd, v, -1));
	T(writev(fd, v, 1025));
	T(preadv(fd, (struct iovec[]){ { buf, 3 }, { buf + 3, 100 } }, 2, 0));
	T(memcmp(buf, "abcde", 5));
	T(pwritev(fd, v, 3, 8190));
	fd2 = OPEN("copy", O_CREAT | O_RDWR, 0600);
	T(copy_file_range(fd, &off, fd2, &off2, 5, 0));
	T(off);
	T(off2);
	T(copy_file_range(fd, NULL, fd2, NULL, 1 << 20, 7));
	T(copy_file_range(fd2, NULL, fd2, NULL, 10, 0));
	T(sendfile(fd2, fd, NULL, 100));
	T(flock(fd, LOCK_EX | LOCK_NB));
	T(flock(fd, LOCK_EX | LOCK_NB));
	T(flock(fd, LOCK_UN));
	T(flock(fd, 77));
	T(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	T(posix_fadvise(fd, 0, 0, 77));
	T(fsync(fd));
	T(fdatasync(fd));
	T(syncfs(fd));
	T(write(fd, (void *)8, 10));
	T(fchmod(fd, 04755));
	T(fchown(fd, 7, 8));
	show("s");
	T(close(fd));
	T(close(fd2));
}

static void attributes(void)
{
	struct stat st;
	struct {
		uint32_t mask, blksize;
		uint64_t attributes;
		uint32_t nlink, uid, gid;
		uint16_t mode;
		char rest[220];
	} sx;
	struct timespec t[2] = { { 1000, 5 }, { 2000, 7 } };

	T(chmod("f", 0640));
	show("f");
	T(chmod("none", 0640));
	T(fchmodat(AT_FDCWD, "f", 0600, 0));
	T(chown("f", 1, 2));
	show("f");
	T(chown("f", -1, 3));
	show("f");
	T(utimensat(AT_FDCWD, "f", t, 0));
	T(stat("f", &st));
	T(st.st_atim.tv_sec);
	T(st.st_mtim.tv_nsec);
	t[0].tv_nsec = UTIME_OMIT;
	t[1].tv_nsec = 2000000000;
	T(utimensat(AT_FDCWD, "f", t, 0));
	t[1].tv_nsec = UTIME_OMIT;
	T(utimensat(AT_FDCWD, "f", t, 0));
	T(utimensat(AT_FDCWD, "none", NULL, 0));
	T(utimensat(AT_FDCWD, "f", NULL, 0));
	T(statx(AT_FDCWD, "f", 0, 0xfff, &sx));
	T(sx.mode);
	T(sx.uid);
	T(statx(AT_FDCWD, "", AT_EMPTY_PATH, 0xfff, &sx));
	T(statx(AT_FDCWD, "", 0, 0xfff, &sx));
	T(fstatat(AT_FDCWD, "l", &st, AT_SYMLINK_NOFOLLOW));
	T(S_ISLNK(st.st_mode));
	T(fstatat(AT_FDCWD, "l", &st, 0x10));
	T(mknod("fifo", S_IFIFO | 0644, 0));
	T(mknod("null", S_IFCHR | 0666, 0x103));
	T(mknod("sock", S_IFSOCK | 0666, 0));
	T(mknod("bad", S_IFDIR | 0666, 0));
	T(mknod("plain", 0666, 0));
	show("fifo");
	show("null");
	show("plain");
	TRY("sock", O_RDONLY);
	TRY("fifo", O_WRONLY | O_NONBLOCK);
	TRY("fifo", O_RDONLY | O_NONBLOCK);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void listing(const char *dir)
{
	char *names[200];
	size_t n = 0;
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d) {
		printf("opendir %s: %s\n", dir, error_name(errno));
		return;
	}
	while ((e = readdir(d)) && n < 200) {
		char text[300];

		snprintf(text, sizeof(text), "%s/%d", e->d_name, e->d_type);
		names[n++] = strdup(text);
	}
	qsort(names, n, sizeof(names[0]), by_name);
	printf("%s:", dir);
	for (size_t i = 0; i < n; i++) {
		printf(" %s", names[i]);
		free(names[i]);
	}
	printf("\n");
	rewinddir(d);
	for (n = 0; readdir(d); n++)
		;
	printf("%zu entries again\n", n);
	closedir(d);
}

static void directories(void)
{
	char buf[PATH_MAX], small[4];
	long pos;
	DIR *d;
	int fd, n = 0;

	listing(".");
	T(mkdir("many", 0777));
	for (int i = 0; i < 2000; i++) {
		snprintf(buf, sizeof(buf), "many/%d", i);
		put(buf, "");
	}
	d = opendir("many");
	while (d && readdir(d))
		n++;
	T(n);
	rewinddir(d);
	for (int i = 0; i < 700; i++)
		readdir(d);
	pos = telldir(d);
	snprintf(buf, sizeof(buf), "%s", readdir(d)->d_name);
	for (int i = 0; i < 500; i++)
		readdir(d);
	seekdir(d, pos);
	T(strcmp(buf, readdir(d)->d_name));
	rewinddir(d);
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	T(rmdir("many"));
	fd = OPEN(".", O_RDONLY);
	T(syscall(SYS_getdents64, fd, small, sizeof(small)));
	T(fchdir(fd));
	T(close(fd));
	T(fchdir(fd));
	T(chdir("f"));
	T(chdir("none"));
	T(chdir("dir"));
	T(syscall(SYS_getcwd, buf, 3));
	T(strcmp(getcwd(buf, sizeof(buf)) + strlen(buf) - 12, "/fscheck/dir"));
	T(chdir(".."));
	T(mkdir("gone", 0777));
	T(chdir("gone"));
	T(rmdir("../gone"));
	T(syscall(SYS_getcwd, buf, sizeof(buf)));
	TRY("x", O_CREAT | O_RDWR, 0600);
	TRY(".", O_RDONLY);
	T(access("..", F_OK));
	listing(".");
	T(chdir(".."));
}

/* As another user: the rights that root does not notice. */
static void as_user(void)
{
	T(setgid(1000));
	T(setuid(1000));
	TRY("secret", O_RDONLY);
	TRY("secret/in", O_RDONLY);
	TRY("readonly", O_RDONLY);
	TRY("readonly", O_WRONLY);
	TRY("readonly", O_RDONLY | O_TRUNC);
	T(unlink("readonly"));
	T(unlink("sticky/theirs"));
	T(rename("sticky/theirs", "sticky/mine"));
	TRY("sticky/own", O_CREAT | O_RDWR, 0600);
	T(unlink("sticky/own"));
	T(chmod("readonly", 0777));
	T(chown("readonly", 1000, 1000));
	T(utimensat(AT_FDCWD, "readonly", NULL, 0));
	T(mknod("sticky/dev", S_IFCHR | 0666, 0x103));
	T(mkdir("newdir", 0777));
	T(access("readonly", W_OK));
	T(access("group", R_OK));
	T(chroot("."));
}

static void permissions(void)
{
	int status;

	T(mkdir("secret", 0700));
	put("secret/in", "x");
	put("readonly", "x");
	put("group", "x");
	T(chown("group", 0, 1000));
	T(chmod("group", 0640));
	T(mkdir("sticky", 01777));
	T(chmod("sticky", 01777));
	put("sticky/theirs", "x");
	fflush(stdout);
	if (!fork()) {
		as_user();
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
}

static void devices(void)
{
	char buf[64];
	int fd = OPEN("/dev/zero", O_RDWR);

	memset(buf, 1, sizeof(buf));
	T(read(fd, buf, 64));
	T(buf[63]);
	T(write(fd, buf, 64));
	T(close(fd));
	fd = OPEN("/dev/full", O_RDWR);
	T(write(fd, buf, 64));
	T(close(fd));
	fd = OPEN("/dev/null", O_RDWR);
	T(write(fd, buf, 64));
	T(read(fd, buf, 64));
	T(lseek(fd, 10, SEEK_SET));
	T(ftruncate(fd, 0));
	T(close(fd));
	fd = OPEN("/dev/urandom", O_RDONLY);
	T(read(fd, buf, 64));
	T(close(fd));
	TRY("/dev/null/x", O_RDONLY);
	TRY("/dev/null", O_CREAT | O_TRUNC | O_WRONLY, 0600);
}

static void busy_text(void)
{
	int fd, status;

	fd = OPEN("/proc/self/exe", O_RDWR);
	fd = OPEN("/proc/self/cmdline", O_RDONLY);
	T(close(fd));
	put("script", "#!/bin/sh\n");
	T(access("script", X_OK));
	fflush(stdout);
	if (!fork()) {
		execl("script", "script", NULL);
		printf("exec = %s\n", error_name(errno));
		execl("dir", "dir", NULL);
		printf("exec = %s\n", error_name(errno));
		execl("none", "none", NULL);
		printf("exec = %s\n", error_name(errno));
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : "/tmp";
	char cleanup[PATH_MAX];

	umask(022);
	if (chdir(dir) < 0 || (mkdir("fscheck", 0755) < 0) || chdir("fscheck") < 0) {
		perror("fscheck");
		return 1;
	}
	names_and_errors();
	opening();
	links();
	renames();
	sizes();
	attributes();
	directories();
	permissions();
	devices();
	busy_text();
	if (chdir("..") < 0)
		perror("chdir");
	snprintf(cleanup, sizeof(cleanup), "rm -rf fscheck");
	return system(cleanup) ? 1 : 0;
}
