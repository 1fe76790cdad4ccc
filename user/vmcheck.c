/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmcheck - the memory system calls, one after the other, with their results.
 *
 *	vmcheck [DIR]	works in DIR (default /tmp), on a file it removes
 *
 * It prints what each call answered and what memory then holds: errors, contents, residence,
 * signals of bad accesses, lines of /proc/self/maps relative to the area it works in. No absolute
 * address is printed, so that the output on Linux (as root, on tmpfs) and on this kernel can be
 * compared line by line.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define P 4096ul
#define AREA ((char *)0x200000000ul) /* nobody else's */
#define AREA_PAGES 64

static int file = -1;
static sigjmp_buf away;
static volatile int caught, caught_code;
static void *volatile caught_at;

static const char *error_name(long e)
{
	static const struct {
		int e;
		const char *name;
	} names[] = {
#define E(x) { x, #x }
		E(EPERM),  E(ENOENT), E(EINTR),	    E(EIO),	   E(EBADF),  E(EAGAIN), E(ENOMEM),
		E(EACCES), E(EFAULT), E(EBUSY),	    E(EEXIST),	   E(ENODEV), E(EINVAL), E(EFBIG),
		E(ENOSPC), E(ENOSYS), E(EOVERFLOW), E(EOPNOTSUPP), E(ENXIO),
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].e == e)
			return names[i].name;
	return "another error";
}

/* An address inside the area is printed as an offset; other addresses as "somewhere". */
static void report(const char *what, long ret)
{
	if (ret < 0 && ret > -4096)
		printf("%s = %s\n", what, error_name(-ret));
	else if (ret >= (long)AREA && ret <= (long)(AREA + AREA_PAGES * P))
		printf("%s = AREA+%#lx\n", what, ret - (long)AREA);
	else if (ret > 0x10000)
		printf("%s = somewhere\n", what);
	else
		printf("%s = %ld\n", what, ret);
}
#define R(call) report(#call, (long)(call))

static long do_mmap(void *at, size_t len, int prot, int flags, int fd, long off)
{
	return raw6(SYS_mmap, (long)at, (long)len, prot, flags, fd, off);
}
static long do_munmap(void *at, size_t len)
{
	return raw3(SYS_munmap, (long)at, (long)len, 0);
}
static long do_mprotect(void *at, size_t len, int prot)
{
	return raw3(SYS_mprotect, (long)at, (long)len, prot);
}
static long do_mremap(void *at, size_t len, size_t new_len, int flags, void *to)
{
	return raw6(SYS_mremap, (long)at, (long)len, (long)new_len, flags, (long)to, 0);
}
static long do_madvise(void *at, size_t len, int advice)
{
	return raw3(SYS_madvise, (long)at, (long)len, advice);
}
static long do_msync(void *at, size_t len, int flags)
{
	return raw3(SYS_msync, (long)at, (long)len, flags);
}
static long do_mincore(void *at, size_t len, void *vec)
{
	return raw3(SYS_mincore, (long)at, (long)len, (long)vec);
}
static long do_mlock(void *at, size_t len)
{
	return raw3(SYS_mlock, (long)at, (long)len, 0);
}
static long do_mlock2(void *at, size_t len, int flags)
{
	return raw3(SYS_mlock2, (long)at, (long)len, flags);
}
static long do_munlock(void *at, size_t len)
{
	return raw3(SYS_munlock, (long)at, (long)len, 0);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	caught = sig;
	caught_code = info->si_code;
	caught_at = info->si_addr;
	siglongjmp(away, 1);
}

/* One access: the byte read, or which signal it brought. */
static void access_byte(const char *what, char *p, int write, int value)
{
	volatile char c = 0;

	caught = 0;
	if (!sigsetjmp(away, 1)) {
		if (write)
			*(volatile char *)p = (char)value;
		else
			c = *(volatile char *)p;
	}
	if (caught)
		printf("%s: signal %d code %d at %s\n", what, caught, caught_code,
		       caught_at == p ? "the place" : "another place");
	else if (write)
		printf("%s: written\n", what);
	else
		printf("%s: %d\n", what, c);
}
#define GET(p) access_byte("read " #p, p, 0, 0)
#define PUT(p, v) access_byte("write " #p, p, 1, v)

/* The lines of maps that lie in the area, or its like, as far as they are the same everywhere. */
static void show_maps(const char *title)
{
	static char text[65536];
	char *line = text, *next;

	printf("-- maps: %s\n", title);
	if (slurp("/proc/self/maps", text, sizeof(text)) < 0)
		return;
	for (; *line; line = next) {
		unsigned long start, end, off;
		char prot[8];

		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		if (sscanf(line, "%lx-%lx %7s %lx", &start, &end, prot, &off) != 4)
			continue;
		if (start < (unsigned long)AREA || end > (unsigned long)(AREA + AREA_PAGES * P))
			continue;
		printf("   %#lx-%#lx %s %#lx\n", start - (unsigned long)AREA,
		       end - (unsigned long)AREA, prot, off);
	}
}

static void clear_area(void)
{
	do_munmap(AREA, AREA_PAGES * P);
}

#define RW (PROT_READ | PROT_WRITE)
#define PA (MAP_PRIVATE | MAP_ANONYMOUS)
#define SA (MAP_SHARED | MAP_ANONYMOUS)
#define FX MAP_FIXED

static void check_mmap(void)
{
	R(do_mmap(AREA, 4 * P, RW, PA, -1, 0));
	R(do_mmap(AREA, P, RW, PA | MAP_FIXED_NOREPLACE, -1, 0));
	R(do_mmap(AREA + 4 * P, P, RW, PA | MAP_FIXED_NOREPLACE, -1, 0));
	R(do_mmap(AREA + 8 * P, 0, RW, PA, -1, 0));
	R(do_mmap(AREA + 8 * P, P, RW, MAP_ANONYMOUS, -1, 0));
	R(do_mmap(AREA + 8 * P, P, RW, PA | SA, -1, 0));
	R(do_mmap(AREA + 8 * P + 1, P, RW, PA | FX, -1, 0));
	R(do_mmap(AREA + 8 * P + 1, P, RW, PA, -1, 0));
	R(do_mmap(AREA + 8 * P, P, RW, MAP_PRIVATE, 99, 0));
	R(do_mmap(AREA + 8 * P, P, RW, MAP_PRIVATE, file, 1));
	R(do_mmap(AREA + 8 * P, ~0ul, RW, PA, -1, 0));
	R(do_mmap(AREA + 8 * P, 1ul << 47, RW, PA, -1, 0));
	R(do_mmap((void *)(0x7ffffffff000), P, RW, PA | FX, -1, 0));
	R(do_mmap((void *)-P, P, RW, PA | FX, -1, 0));
	R(do_mmap(AREA + 8 * P, P, RW, MAP_PRIVATE, file, 0x7ffffffffffff000));
	R(do_mmap(AREA + 8 * P, P, RW, MAP_SHARED_VALIDATE | MAP_SYNC, file, 0));
	R(do_mmap(AREA + 8 * P, P, RW, MAP_SHARED_VALIDATE | 0x200000, file, 0));
	R(do_mmap(AREA + 8 * P, P, RW,
		  PA | MAP_NORESERVE | MAP_STACK | MAP_DENYWRITE | MAP_EXECUTABLE, -1, 0));
	R(do_mmap(AREA + 20 * P, P, RW, PA | MAP_GROWSDOWN, -1, 0));
	R(do_mmap(AREA + 12 * P, P, PROT_NONE, PA, -1, 0));
	R(do_mmap(AREA + 13 * P, P, PROT_WRITE, PA, -1, 0));
	show_maps("mmap");
	GET(AREA);
	PUT(AREA, 7);
	GET(AREA);
	GET(AREA + 5 * P);
	GET(AREA + 12 * P);
	PUT(AREA + 13 * P, 1);
	GET(AREA + 13 * P);
	clear_area();
}

static void check_munmap(void)
{
	R(do_mmap(AREA, 10 * P, RW, PA, -1, 0));
	PUT(AREA + 3 * P, 3);
	R(do_munmap(AREA + 1, P));
	R(do_munmap(AREA, 0));
	R(do_munmap(AREA, ~0ul));
	R(do_munmap((void *)0x7ffffffff000, P));
	R(do_munmap(AREA + 4 * P, 2 * P));
	R(do_munmap(AREA + 4 * P, 2 * P));
	R(do_munmap(AREA + 9 * P, 1));
	R(do_munmap(AREA, P));
	show_maps("munmap");
	GET(AREA + 3 * P);
	GET(AREA + 4 * P);
	R(do_munmap(AREA + 2 * P, 6 * P));
	show_maps("munmap across");
	clear_area();
}

static void check_mprotect(void)
{
	R(do_mmap(AREA, 8 * P, RW, PA, -1, 0));
	PUT(AREA + 2 * P, 42);
	R(do_mprotect(AREA + 1, P, PROT_READ));
	R(do_mprotect(AREA, 0, PROT_READ));
	R(do_mprotect(AREA, P, 0x40));
	R(do_mprotect(AREA, P, PROT_READ | PROT_GROWSDOWN));
	R(do_mprotect(AREA, P, PROT_READ | PROT_GROWSDOWN | PROT_GROWSUP));
	R(do_mprotect(AREA, ~0ul, PROT_READ));
	R(do_mprotect(AREA + 2 * P, P, PROT_READ));
	PUT(AREA + 2 * P, 1);
	GET(AREA + 2 * P);
	R(do_mprotect(AREA + 2 * P, P, PROT_NONE));
	GET(AREA + 2 * P);
	show_maps("mprotect");
	R(do_mprotect(AREA + 2 * P, P, RW));
	GET(AREA + 2 * P);
	PUT(AREA + 2 * P, 43);
	show_maps("mprotect back");
	R(do_munmap(AREA + 4 * P, P));
	R(do_mprotect(AREA + 3 * P, 3 * P, PROT_READ));
	PUT(AREA + 3 * P, 1);
	PUT(AREA + 5 * P, 1);
	R(do_mprotect(AREA + 4 * P, P, PROT_READ));
	clear_area();
}

static void check_mremap(void)
{
	R(do_mmap(AREA, 4 * P, RW, PA, -1, 0));
	PUT(AREA, 1);
	PUT(AREA + 3 * P, 4);
	R(do_mremap(AREA, 4 * P, 2 * P, 0, 0));
	GET(AREA + 3 * P);
	R(do_mremap(AREA, 2 * P, 6 * P, 0, 0));
	show_maps("mremap grown");
	R(do_mmap(AREA + 6 * P, P, PROT_READ, PA | FX, -1, 0));
	R(do_mremap(AREA, 6 * P, 8 * P, 0, 0));
	R(do_mremap(AREA, 6 * P, 8 * P, MREMAP_MAYMOVE | MREMAP_FIXED, AREA + 20 * P));
	GET(AREA);
	GET(AREA + 20 * P);
	R(do_mremap(AREA + 20 * P, 8 * P, 8 * P, MREMAP_MAYMOVE | MREMAP_FIXED, AREA + 24 * P));
	R(do_mremap(AREA + 20 * P, 8 * P, 8 * P, MREMAP_FIXED, AREA + 40 * P));
	R(do_mremap(AREA + 20 * P, 8 * P, 8 * P, MREMAP_MAYMOVE | MREMAP_FIXED, AREA + 40 * P + 1));
	R(do_mremap(AREA + 20 * P + 1, 8 * P, 8 * P, MREMAP_MAYMOVE, 0));
	R(do_mremap(AREA + 20 * P, 8 * P, 0, MREMAP_MAYMOVE, 0));
	R(do_mremap(AREA + 20 * P, 8 * P, 8 * P, 16, 0));
	R(do_mremap(AREA + 20 * P, 0, 8 * P, MREMAP_MAYMOVE, 0));
	R(do_mremap(AREA + 20 * P, 12 * P, 16 * P, MREMAP_MAYMOVE, 0));
	R(do_mremap(AREA + 50 * P, P, 2 * P, MREMAP_MAYMOVE, 0));
	/* DONTUNMAP */
	R(do_mremap(AREA + 20 * P, 8 * P, 8 * P, MREMAP_MAYMOVE | 4, AREA + 40 * P));
	R(do_mremap(AREA + 20 * P, 8 * P, 9 * P, MREMAP_MAYMOVE | 4, AREA + 40 * P));
	show_maps("mremap DONTUNMAP");
	GET(AREA + 20 * P);
	GET(AREA + 40 * P);
	clear_area();
	R(do_mmap(AREA, 2 * P, RW, SA, -1, 0));
	PUT(AREA, 9);
	/* a second view */
	R(do_mremap(AREA, 0, 2 * P, MREMAP_MAYMOVE | MREMAP_FIXED, AREA + 8 * P));
	GET(AREA + 8 * P);
	PUT(AREA + 8 * P, 10);
	GET(AREA);
	clear_area();
}

static void residence(const char *what, char *at, int pages)
{
	unsigned char vec[64];
	long ret = do_mincore(at, (size_t)pages * P, vec);

	printf("%s: ", what);
	if (ret)
		printf("%s", error_name(-ret));
	for (int i = 0; !ret && i < pages; i++)
		putchar('0' + (vec[i] & 1));
	putchar('\n');
}

static void check_madvise(void)
{
	static const int advice[] = { 0,  1,  2,  3,  4,  8,  10, 11, 14, 15,
				      16, 17, 18, 19, 20, 21, 22, 23, 24 };

	R(do_mmap(AREA, 8 * P, RW, PA, -1, 0));
	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
		char what[40];

		snprintf(what, sizeof(what), "madvise(anon, %d)", advice[i]);
		if (advice[i] == 14 || advice[i] == 15)
			continue; /* whether there are huge pages is the machine's business */
		report(what, do_madvise(AREA, P, advice[i]));
	}
	R(do_madvise(AREA, P, 77));
	R(do_madvise(AREA + 1, P, MADV_DONTNEED));
	R(do_madvise(AREA, 0, MADV_DONTNEED));
	R(do_madvise(AREA, ~0ul, MADV_DONTNEED));
	clear_area();
	R(do_mmap(AREA, 8 * P, RW, PA, -1, 0));
	PUT(AREA, 5);
	PUT(AREA + P, 6);
	residence("resident", AREA, 4);
	R(do_madvise(AREA, P, MADV_DONTNEED));
	residence("after DONTNEED", AREA, 4);
	GET(AREA);
	GET(AREA + P);
	R(do_madvise(AREA, 8 * P, 23));
	residence("after POPULATE_WRITE", AREA, 8);
	R(do_munmap(AREA + 4 * P, P));
	R(do_madvise(AREA + 2 * P, 6 * P, MADV_DONTNEED));
	residence("hole", AREA, 8);
	residence("after DONTNEED over a hole", AREA + 5 * P, 3);
	R(do_madvise(AREA + 4 * P, P, MADV_DONTNEED));
	R(do_mprotect(AREA, P, PROT_READ));
	R(do_madvise(AREA, P, 23));
	R(do_mlock(AREA + P, P));
	R(do_madvise(AREA + P, P, MADV_DONTNEED));
	R(do_madvise(AREA + P, P, 24));
	R(do_madvise(AREA + P, P, MADV_REMOVE));
	clear_area();
	R(do_mmap(AREA, 4 * P, RW, SA, -1, 0));
	PUT(AREA + P, 5);
	R(do_madvise(AREA, P, 8));
	R(do_madvise(AREA, P, 18));
	R(do_madvise(AREA, 4 * P, MADV_DONTNEED));
	GET(AREA + P);
	R(do_madvise(AREA, 4 * P, MADV_REMOVE));
	GET(AREA + P);
	clear_area();
}

static void check_incore_sync_lock(void)
{
	unsigned char vec[4];

	R(do_mmap(AREA, 4 * P, RW, PA, -1, 0));
	R(do_mincore(AREA + 1, P, vec));
	R(do_mincore(AREA, P, (void *)8));
	R(do_mincore(AREA + 4 * P, P, vec));
	R(do_mincore(AREA, 0, vec));
	R(do_mincore((void *)0x7ffffffff000, P, vec));
	R(do_msync(AREA + 1, P, MS_SYNC));
	R(do_msync(AREA, P, MS_SYNC | MS_ASYNC));
	R(do_msync(AREA, P, 16));
	R(do_msync(AREA, P, 0));
	R(do_msync(AREA, 4 * P, MS_SYNC | MS_INVALIDATE));
	R(do_msync(AREA, 5 * P, MS_ASYNC));
	R(do_msync(AREA, ~0ul, MS_ASYNC));
	R(do_mlock(AREA, 2 * P));
	residence("locked", AREA, 4);
	R(do_msync(AREA, P, MS_INVALIDATE));
	R(do_munlock(AREA + P, P));
	R(do_msync(AREA + P, P, MS_INVALIDATE));
	R(do_mlock2(AREA + 2 * P, P, 1));
	residence("locked on fault", AREA, 4);
	PUT(AREA + 2 * P, 1);
	residence("locked on fault, touched", AREA, 4);
	R(do_mlock2(AREA, P, 2));
	R(do_mlock(AREA + 3 * P, 3 * P));
	R(do_mlock(AREA, ~0ul));
	R(do_munlock(AREA + 10 * P, P));
	R(do_mlock(AREA, 0));
	R(raw3(SYS_mlockall, 0, 0, 0));
	R(raw3(SYS_mlockall, 8, 0, 0));
	R(raw3(SYS_mlockall, 4, 0, 0));
	R(raw3(SYS_mlockall, MCL_FUTURE, 0, 0));
	R(do_mmap(AREA + 8 * P, 2 * P, RW, PA, -1, 0));
	residence("mapped locked", AREA + 8 * P, 2);
	R(raw3(SYS_munlockall, 0, 0, 0));
	R(do_mmap(AREA + 12 * P, 2 * P, RW, PA | MAP_POPULATE, -1, 0));
	residence("populated", AREA + 12 * P, 2);
	R(do_mmap(AREA + 16 * P, 2 * P, PROT_NONE, PA, -1, 0));
	R(do_mlock(AREA + 16 * P, P));
	clear_area();
}

static void check_file(void)
{
	char word[8] = "";
	int ro = open("/proc/self/fd/9", O_RDONLY), wo = open("/proc/self/fd/9", O_WRONLY);

	if (ftruncate(file, 2 * P + 100) || pwrite(file, "abc", 3, P) != 3)
		die("file");
	R(do_mmap(AREA, 4 * P, RW, MAP_SHARED, file, 0));
	R(do_mmap(AREA + 8 * P, 4 * P, RW, MAP_PRIVATE, file, 0));
	GET(AREA + P);
	GET(AREA + 8 * P + P);
	PUT(AREA + P, 'x');
	GET(AREA + 8 * P + P);
	PUT(AREA + 8 * P + P, 'y');
	GET(AREA + P);
	if (pread(file, word, 3, P) != 3)
		die("read back");
	printf("file has %s\n", word);
	GET(AREA + 2 * P + 99);
	GET(AREA + 2 * P + 100);
	GET(AREA + 3 * P);
	PUT(AREA + 8 * P + 3 * P, 1);
	R(ftruncate(file, P) ? -errno : 0);
	GET(AREA + P);
	GET(AREA + 8 * P + P);
	R(ftruncate(file, 3 * P) ? -errno : 0);
	GET(AREA + P);
	GET(AREA + 8 * P + P);
	PUT(AREA + 2 * P, 'z');
	R(do_madvise(AREA, P, 8));
	R(do_madvise(AREA + 8 * P, P, 18));
	R(do_madvise(AREA + 8 * P, P, MADV_REMOVE));
	R(do_madvise(AREA + 2 * P, P, MADV_REMOVE));
	GET(AREA + 2 * P);
	R(do_mmap(AREA + 16 * P, P, PROT_READ, MAP_SHARED, wo, 0));
	R(do_mmap(AREA + 16 * P, P, PROT_READ, MAP_PRIVATE, wo, 0));
	R(do_mmap(AREA + 16 * P, P, RW, MAP_SHARED, ro, 0));
	R(do_mmap(AREA + 16 * P, P, RW, MAP_PRIVATE, ro, 0));
	R(do_mmap(AREA + 20 * P, P, PROT_READ, MAP_SHARED, ro, 0));
	R(do_mprotect(AREA + 20 * P, P, RW));
	R(do_mprotect(AREA + 16 * P, P, RW));
	R(do_mmap(AREA + 24 * P, 2 * P, PROT_READ, MAP_PRIVATE, file, 0));
	R(do_mmap(AREA + 26 * P, P, PROT_READ, MAP_PRIVATE, file, 2 * P));
	R(do_mmap(AREA + 27 * P, P, PROT_READ, MAP_PRIVATE, file, 4 * P));
	show_maps("file");
	close(ro);
	close(wo);
	clear_area();
}

/* What a child changes, and what of it the parent sees. */
static void check_fork(void)
{
	int status;
	pid_t pid;

	R(do_mmap(AREA, 4 * P, RW, PA, -1, 0));
	R(do_mmap(AREA + 4 * P, 2 * P, RW, SA, -1, 0));
	for (int i = 0; i < 6; i++)
		AREA[i * P] = (char)(i + 1);
	R(do_madvise(AREA + P, P, 18));	    /* WIPEONFORK */
	R(do_madvise(AREA + 2 * P, P, 10)); /* DONTFORK */
	fflush(stdout);
	pid = fork();
	if (!pid) {
		GET(AREA);
		GET(AREA + P);
		GET(AREA + 2 * P);
		PUT(AREA + 3 * P, 33);
		PUT(AREA + 5 * P, 55);
		fflush(stdout);
		_exit(7);
	}
	waitpid(pid, &status, 0);
	printf("child: %d\n", WEXITSTATUS(status));
	GET(AREA + 2 * P);
	GET(AREA + 3 * P);
	GET(AREA + 5 * P);
	clear_area();
}

static void check_limits(void)
{
	struct rlimit old, less;
	long at = raw3(SYS_brk, 0, 0, 0), brk = at;

	R(raw3(SYS_brk, 1, 0, 0) == brk);
	R(raw3(SYS_brk, brk + 3 * (long)P, 0, 0) - brk);
	*(volatile char *)(brk + 2 * P) = 1;
	R(raw3(SYS_brk, brk, 0, 0) - brk);
	getrlimit(RLIMIT_DATA, &old);
	less = old;
	less.rlim_cur = 4 * P;
	setrlimit(RLIMIT_DATA, &less);
	R(raw3(SYS_brk, brk + 300 * (long)P, 0, 0) - brk);
	R(do_mmap(AREA, 300 * P, RW, PA, -1, 0));
	R(do_mmap(AREA, 30 * P, PROT_READ, PA, -1, 0));
	R(do_mprotect(AREA, 30 * P, RW));
	setrlimit(RLIMIT_DATA, &old);
	R(do_mprotect(AREA, 30 * P, RW));
	clear_area();
	getrlimit(RLIMIT_AS, &old);
	less = old;
	less.rlim_cur = 1;
	setrlimit(RLIMIT_AS, &less);
	R(do_mmap(AREA, P, PROT_NONE, PA, -1, 0));
	setrlimit(RLIMIT_AS, &old);
	R(do_mmap(AREA, P, PROT_NONE, PA, -1, 0));
	clear_area();
}

static void check_policy(void)
{
	unsigned long mask = 1, got = 0, odd = 1ul << 63;
	int mode = -1;

	R(do_mmap(AREA, 4 * P, RW, PA, -1, 0));
	R(raw6(SYS_get_mempolicy, (long)&mode, 0, 0, 0, 0, 0));
	printf("mode %d\n", mode);
	R(raw6(SYS_mbind, (long)AREA, P, 2, (long)&mask, 64, 0));
	R(raw6(SYS_get_mempolicy, (long)&mode, (long)&got, 1025, (long)AREA, 2, 0) > -4096 ? 0 : 1);
	R(raw6(SYS_mbind, (long)AREA + 1, P, 2, (long)&mask, 64, 0));
	R(raw6(SYS_mbind, (long)AREA, P, 2, 0, 0, 0));
	R(raw6(SYS_mbind, (long)AREA, P, 0, (long)&mask, 64, 0));
	R(raw6(SYS_mbind, (long)AREA, P, 99, (long)&mask, 64, 0));
	R(raw6(SYS_mbind, (long)AREA, P, 2, (long)&mask, 64, 64));
	R(raw6(SYS_mbind, (long)AREA, P, 2, (long)&odd, 65, 0));
	R(raw6(SYS_mbind, (long)AREA, 0, 2, (long)&mask, 64, 0));
	R(raw6(SYS_mbind, (long)(AREA + 4 * P), P, 2, (long)&mask, 64, 0));
	R(raw6(SYS_mbind, (long)AREA, P, 2, 8, 64, 0));
	R(raw6(SYS_mbind, (long)AREA, P, 0, 0, 0, 0));
	R(raw3(SYS_set_mempolicy, 1, 0, 0));
	R(raw3(SYS_set_mempolicy, 4, (long)&mask, 64));
	R(raw3(SYS_set_mempolicy, 3, 0, 0));
	R(raw3(SYS_set_mempolicy, 2, (long)&mask, 64));
	R(raw6(SYS_get_mempolicy, (long)&mode, 0, 0, 0, 0, 0));
	printf("mode %d\n", mode);
	R(raw3(SYS_set_mempolicy, 0, 0, 0));
	R(raw6(SYS_get_mempolicy, (long)&mode, 0, 0, (long)AREA, 0, 0));
	R(raw6(SYS_get_mempolicy, (long)&mode, 0, 0, 0, 8, 0));
	R(raw6(SYS_get_mempolicy, (long)&mode, 0, 0, (long)AREA + 4 * (long)P, 2, 0));
	R(raw6(SYS_get_mempolicy, (long)&mode, 0, 0, 0, 1, 0));
	PUT(AREA, 1);
	clear_area();
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	char name[256];
	int fd;

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	snprintf(name, sizeof(name), "%s/vmcheck.tmp", argc > 1 ? argv[1] : "/tmp");
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	file = fd < 0 ? -1 : dup2(fd, 9);
	if (file < 0)
		die(name);
	setvbuf(stdout, NULL, _IOFBF, 65536);
	clear_area();
	check_mmap();
	check_munmap();
	check_mprotect();
	check_mremap();
	check_madvise();
	check_incore_sync_lock();
	check_file();
	check_fork();
	check_limits();
	check_policy();
	unlink(name);
	return 0;
}
