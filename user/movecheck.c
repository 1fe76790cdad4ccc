/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * movecheck - the system calls that say where memory lies and move it, with their results.
 *
 *	movecheck [DIR]	works in DIR (default /tmp; on tmpfs), on a file it removes
 *
 * Prints what each call answered, errors of every kind included, and on which nodes the pages of
 * its area lie then; their contents are checked. For a machine with the nodes 0 and 1, both with
 * memory, and its CPUs on node 0; as root. The output on Linux (6.1, transparent_hugepage=never,
 * numa_balancing=disable) and on this kernel can be compared line by line.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <sys/mman.h>
#include <sys/wait.h>

#define P 4096ul
#define AREA ((char *)0x200000000ul) /* nobody else's */
#define AREA_PAGES 64
#define ELSEWHERE ((char *)0x300000000ul) /* no page table there */
#define RW (PROT_READ | PROT_WRITE)
#define PA (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED)
#define SA (MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED)

enum { DEFAULT, PREFERRED, BIND, INTERLEAVE, LOCAL, PREFERRED_MANY };
enum { STRICT = 1, MOVE = 2, MOVE_ALL = 4 };
enum { BY_NODE = 1, BY_ADDR = 2, MEMS_ALLOWED = 4 };
#define UNTOUCHED (-77)

static int file = -1;

static const char *error_name(long e)
{
	static const struct {
		int e;
		const char *name;
	} names[] = {
#define E(x) { x, #x }
		E(EPERM),  E(ENOENT), E(ESRCH), E(EINTR),  E(EIO),    E(EAGAIN), E(ENOMEM),
		E(EACCES), E(EFAULT), E(EBUSY), E(EEXIST), E(ENODEV), E(EINVAL), E(ENOSYS),
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].e == e)
			return names[i].name;
	return "another error";
}

static void report(const char *what, long ret)
{
	if (ret < 0 && ret > -4096)
		printf("%s = %s\n", what, error_name(-ret));
	else
		printf("%s = %ld\n", what, ret);
}
#define R(call) report(#call, (long)(call))

static void section(const char *name)
{
	printf("-- %s\n", name);
}

static void map(char *at, unsigned long pages, int prot, int flags, int fd)
{
	if (raw6(SYS_mmap, (long)at, (long)(pages * P), prot, flags, fd, 0) != (long)at)
		die("mmap");
}

static void clear_area(void)
{
	map(AREA, AREA_PAGES, PROT_NONE, PA, -1);
	if (munmap(AREA, AREA_PAGES * P))
		die("munmap");
}

/* The i-th page of the area has contents of its own. */
static void fill(int from, int n)
{
	for (int i = from; i < from + n; i++)
		for (unsigned long at = 0; at < P; at += 8)
			*(volatile uint64_t *)(AREA + i * P + at) = (uint64_t)i * P + at + 1;
}

static int intact(int from, int n)
{
	for (int i = from; i < from + n; i++)
		for (unsigned long at = 0; at < P; at += 8)
			if (*(volatile uint64_t *)(AREA + i * P + at) != (uint64_t)i * P + at + 1)
				return 0;
	return 1;
}

static long move(int pid, long n, void *pages, void *nodes, void *status, int flags)
{
	return raw6(SYS_move_pages, pid, n, (long)pages, (long)nodes, (long)status, flags);
}

static long mbind_to(int page, int pages, int mode, unsigned long mask, int flags)
{
	return raw6(SYS_mbind, (long)(AREA + page * P), (long)(pages * P), mode, (long)&mask, 64,
		    flags);
}

static void print_status(int s)
{
	if (s == UNTOUCHED)
		printf(" -");
	else if (s < 0)
		printf(" %s", error_name(-s));
	else
		printf(" %d", s);
}

/* Nodes of the pages, as the kernel says without moving any. */
static void where(const char *what, char *at, int n)
{
	void *pages[AREA_PAGES];
	int status[AREA_PAGES];
	long ret;

	for (int i = 0; i < n; i++) {
		pages[i] = at + (unsigned long)i * P;
		status[i] = UNTOUCHED;
	}
	ret = move(0, n, pages, NULL, status, 0);
	printf("%s:", what);
	for (int i = 0; i < n; i++)
		print_status(status[i]);
	printf(ret ? " (%s)\n" : "\n", ret < 0 ? error_name(-ret) : "not all");
}

/* Moves n pages from `at` on to one node. */
static void move_to(const char *what, int pid, char *at, int n, int node, int flags)
{
	void *pages[AREA_PAGES];
	int status[AREA_PAGES], nodes[AREA_PAGES];
	long ret;

	for (int i = 0; i < n; i++) {
		pages[i] = at + (unsigned long)i * P;
		status[i] = UNTOUCHED;
		nodes[i] = node;
	}
	ret = move(pid, n, pages, nodes, status, flags);
	printf("%s to %d, flags %d = ", what, node, flags);
	printf(ret < 0 ? "%s;" : "%.0s%ld;", ret < 0 ? error_name(-ret) : "", ret);
	for (int i = 0; i < n; i++)
		print_status(status[i]);
	printf("\n");
}

/* Runs fn as nobody. */
static void as_nobody(void (*fn)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			die("setresuid");
		fn();
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		printf("nobody ended with %#x\n", status);
}

/* A child that shares the area and waits. */
static pid_t start_child(int end[2], int own)
{
	char c;
	int ready[2];
	pid_t pid;

	fflush(stdout);
	if (pipe(end) || pipe(ready))
		die("pipe");
	pid = fork();
	if (!pid) {
		close(end[1]);
		if (own)
			fill(0, own);
		if (write(ready[1], "r", 1) != 1)
			die("write");
		if (read(end[0], &c, 1))
			die("read");
		_exit(own && !intact(0, own));
	}
	close(end[0]);
	if (read(ready[0], &c, 1) != 1)
		die("child");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end_child(pid_t pid, int end[2])
{
	int status;

	close(end[1]);
	waitpid(pid, &status, 0);
	printf("child: %d\n", status);
}

static void arguments_as_nobody(void)
{
	void *page = AREA;
	int node = 1, status = UNTOUCHED;

	R(move(0, 1, &page, &node, &status, MOVE_ALL));
	R(move(1, 1, &page, NULL, &status, 0));
	R(move(1, 1, &page, NULL, &status, 1));
	R(move(9999999, 1, &page, NULL, &status, 0));
	R(move(getppid(), 1, &page, NULL, &status, 0));
	R(move(getpid(), 0, &page, NULL, &status, 0));
}

static void check_arguments(void)
{
	void *pages[4] = { AREA, AREA + P, AREA + 2 * P, AREA + 3 * P };
	int nodes[4] = { 0, 0, 0, 0 }, status[4] = { UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED };
	pid_t pid;

	section("move_pages: arguments");
	map(AREA, 8, RW, PA, -1);
	fill(0, 4);
	R(move(0, 1, pages, nodes, status, STRICT));
	R(move(0, 1, pages, nodes, status, 8));
	R(move(0, 1, pages, nodes, status, -1));
	R(move(9999999, 1, pages, nodes, status, MOVE));
	R(move(9999999, 1, pages, nodes, status, 8));
	R(move(-1, 1, pages, nodes, status, MOVE));
	R(move(0, 0, NULL, NULL, NULL, 0));
	R(move(0, 0, NULL, nodes, NULL, MOVE));
	R(move(0, 1, (void *)8, NULL, status, 0));
	R(move(0, 1, pages, NULL, (void *)8, 0));
	R(move(0, 1, (void *)8, nodes, status, MOVE));
	R(move(0, 1, pages, (void *)8, status, MOVE));
	R(move(0, 1, pages, nodes, (void *)8, MOVE));
	for (int bad = 0; bad < 6; bad++) {
		static const int none[6] = { -1, 2, 63, 64, 1024, 0x7fffffff };

		nodes[2] = none[bad];
		for (int i = 0; i < 4; i++)
			status[i] = UNTOUCHED;
		printf("node %d: ", none[bad]);
		R(move(0, 4, pages, nodes, status, MOVE));
		for (int i = 0; i < 4; i++)
			print_status(status[i]);
		printf("\n");
	}
	R(move(getpid(), 4, pages, NULL, status, 0));
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	R(move(pid, 1, pages, NULL, status, 0) /* of a zombie */);
	waitpid(pid, NULL, 0);
	R(move(pid, 1, pages, NULL, status, 0) /* of nobody */);
	as_nobody(arguments_as_nobody);
	clear_area();
}

/* What can lie at an address. */
static void check_status(void)
{
	volatile char c;

	section("status");
	map(AREA, 8, RW, PA, -1);
	fill(0, 1);
	c = AREA[2 * P];
	map(AREA + 3 * P, 2, PROT_NONE, PA, -1);
	mprotect(AREA + 5 * P, P, RW);
	AREA[5 * P] = 1;
	mprotect(AREA + 5 * P, P, PROT_NONE);
	where("touched, not, zero page, no rights twice, lost rights, not, not, hole", AREA, 9);
	move_to("the same", 0, AREA, 9, 1, MOVE);
	move_to("the same", 0, AREA, 9, 0, MOVE);
	where("odd address", AREA + 123, 1);
	where("end of memory", (char *)-P, 1);
	where("nothing", NULL, 1);
	where("kernel", (char *)0xffff800000000000, 1);
	map(ELSEWHERE, 1, RW, PA, -1);
	where("no table", ELSEWHERE, 1);
	move_to("no table", 0, ELSEWHERE, 1, 1, MOVE);
	munmap(ELSEWHERE, P);
	map(AREA + 16 * P, 4, RW, SA, -1);
	AREA[17 * P] = 1;
	c = AREA[18 * P];
	where("shared: not, written, read, not", AREA + 16 * P, 4);
	move_to("shared", 0, AREA + 16 * P, 4, 1, MOVE);
	move_to("shared", 0, AREA + 16 * P, 4, 0, MOVE);
	if (ftruncate(file, 4 * P) || pwrite(file, "abc", 3, P) != 3)
		die("file");
	map(AREA + 24 * P, 5, RW, MAP_PRIVATE | MAP_FIXED, file);
	AREA[26 * P] = 1;
	c = AREA[25 * P];
	c = AREA[27 * P];
	where("file: not, read, written, hole read, behind the end", AREA + 24 * P, 5);
	move_to("file", 0, AREA + 24 * P, 5, 1, MOVE);
	move_to("file", 0, AREA + 24 * P, 5, 0, MOVE);
	(void)c;
	printf("file %s, memory %s\n", memcmp(AREA + 25 * P, "abc", 4) ? "wrong" : "right",
	       intact(0, 1) ? "right" : "wrong");
	clear_area();
}

static void check_move(void)
{
	void *pages[8];
	int nodes[8], status[8];

	section("move_pages");
	map(AREA, 16, RW, PA, -1);
	fill(0, 8);
	where("born", AREA, 9);
	move_to("all", 0, AREA, 8, 1, MOVE);
	where("moved", AREA, 8);
	move_to("without a flag", 0, AREA, 8, 0, 0);
	where("moved", AREA, 8);
	move_to("by its number", getpid(), AREA, 8, 1, MOVE_ALL);
	move_to("once more", 0, AREA, 8, 1, MOVE);
	for (int i = 0; i < 8; i++) {
		pages[i] = AREA + (unsigned long)i * P + (unsigned long)i;
		nodes[i] = i & 1;
		status[i] = UNTOUCHED;
	}
	R(move(0, 8, pages, nodes, status, MOVE) /* odd ones stay, even ones come back */);
	for (int i = 0; i < 8; i++)
		print_status(status[i]);
	printf("\n");
	where("striped", AREA, 8);
	for (int i = 0; i < 8; i++) {
		pages[i] = AREA + P * (unsigned long)(i / 2 * 2);
		nodes[i] = 1;
		status[i] = UNTOUCHED;
	}
	R(move(0, 8, pages, nodes, status, MOVE) /* each named twice */);
	for (int i = 0; i < 8; i++)
		print_status(status[i]);
	printf("\n");
	where("all there", AREA, 8);
	R(mlock(AREA, 8 * P) ? -errno : 0);
	move_to("locked in memory", 0, AREA, 8, 0, MOVE);
	R(munlock(AREA, 8 * P) ? -errno : 0);
	R(mprotect(AREA, 8 * P, PROT_READ) ? -errno : 0);
	move_to("read-only", 0, AREA, 8, 1, MOVE);
	R(mprotect(AREA, 8 * P, RW) ? -errno : 0);
	printf("contents %s\n", intact(0, 8) ? "right" : "wrong");
	fill(0, 8);
	move_to("written again", 0, AREA, 8, 0, MOVE);
	printf("contents %s\n", intact(0, 8) ? "right" : "wrong");
	clear_area();
}

static void child_of_nobody(void)
{
	int end[2];
	pid_t pid;

	map(AREA, 4, RW, PA, -1);
	fill(0, 4);
	pid = start_child(end, 0);
	move_to("nobody's, shared", 0, AREA, 4, 1, MOVE);
	move_to("nobody's, shared", 0, AREA, 4, 1, MOVE_ALL);
	fill(1, 2);
	move_to("nobody's, two of them own", 0, AREA, 4, 1, MOVE);
	end_child(pid, end);
	move_to("nobody's, alone", 0, AREA, 4, 1, MOVE);
	printf("contents %s\n", intact(0, 4) ? "right" : "wrong");
}

static void check_shared(void)
{
	int end[2];
	pid_t pid;

	section("pages of several programs");
	map(AREA, 8, RW, PA, -1);
	fill(0, 4);
	pid = start_child(end, 0);
	move_to("shared by fork", 0, AREA, 4, 1, MOVE);
	move_to("shared by fork", 0, AREA, 4, 1, MOVE_ALL);
	where("then", AREA, 4);
	move_to("the child's", pid, AREA, 4, 0, MOVE);
	move_to("the child's", pid, AREA, 4, 0, MOVE_ALL);
	where("then", AREA, 4);
	end_child(pid, end);
	move_to("alone again", 0, AREA, 4, 1, MOVE);
	printf("contents %s\n", intact(0, 4) ? "right" : "wrong");
	pid = start_child(end, 4);
	move_to("the child's own", pid, AREA, 5, 1, MOVE);
	move_to("the child's own", pid, AREA, 5, 0, MOVE);
	where("not this program's", AREA, 4);
	end_child(pid, end);
	map(AREA, 4, RW, SA, -1);
	fill(0, 4);
	pid = start_child(end, 4);
	move_to("shared memory", 0, AREA, 4, 1, MOVE);
	move_to("shared memory", 0, AREA, 4, 1, MOVE_ALL);
	where("then", AREA, 4);
	end_child(pid, end);
	as_nobody(child_of_nobody);
	clear_area();
}

static void policy_at(const char *what, int page)
{
	unsigned long mask[16] = { 0 };
	int mode = -1;
	long ret = raw6(SYS_get_mempolicy, (long)&mode, (long)mask, 1024, (long)(AREA + page * P),
			BY_ADDR, 0);

	if (ret < 0)
		report(what, ret);
	else
		printf("%s: policy %#x of nodes %#lx\n", what, mode, mask[0]);
}

static void mbind_as_nobody(void)
{
	map(AREA, 4, RW, PA, -1);
	fill(0, 4);
	R(mbind_to(0, 4, BIND, 2, MOVE_ALL));
	R(mbind_to(0, 4, BIND, 2, MOVE_ALL | 8));
	R(mbind_to(0, 4, 99, 2, MOVE_ALL));
	R(mbind_to(0, 4, BIND, 2, MOVE | STRICT));
	where("nobody's", AREA, 4);
}

static void check_mbind(void)
{
	int end[2];
	pid_t pid;

	section("mbind");
	map(AREA, 8, RW, PA, -1);
	fill(0, 4);
	R(mbind_to(0, 8, BIND, 2, STRICT));
	policy_at("misplaced", 0);
	R(mbind_to(0, 8, BIND, 1, STRICT));
	policy_at("placed", 0);
	R(mbind_to(0, 8, BIND, 2, 0));
	where("without a flag", AREA, 5);
	policy_at("without a flag", 0);
	R(mbind_to(0, 4, BIND, 2, MOVE));
	where("moved", AREA, 4);
	R(mbind_to(0, 8, BIND, 1, MOVE | STRICT));
	where("moved back", AREA, 4);
	R(mbind_to(2, 2, PREFERRED, 2, MOVE));
	where("two by preference", AREA, 4);
	R(mbind_to(0, 8, INTERLEAVE, 3, MOVE | STRICT));
	where("interleaved, all are right", AREA, 4);
	fill(4, 4);
	where("interleaved, two new ones alike", AREA + 4 * P, 2);
	R(mbind_to(0, 8, INTERLEAVE, 2, MOVE | STRICT));
	where("interleaved over one", AREA, 8);
	R(mbind_to(0, 8, LOCAL, 0, MOVE | STRICT));
	where("local", AREA, 8);
	R(mbind_to(0, 8, PREFERRED_MANY, 2, MOVE | STRICT));
	where("one of many", AREA, 8);
	R(mbind_to(0, 8, DEFAULT, 0, MOVE | STRICT));
	where("default", AREA, 8);
	policy_at("default", 0);
	R(mbind_to(0, 8, BIND, 3, MOVE));
	R(mbind_to(0, 8, BIND, 0xff02, MOVE) /* nodes that are not there, too */);
	where("bound", AREA, 8);
	R(mbind_to(0, 8, BIND, 4, MOVE) /* only such */);
	R(mbind_to(0, 8, BIND | 1 << 15, 6, MOVE));
	policy_at("static", 0);
	R(mbind_to(0, 8, BIND | 1 << 14, 4, MOVE));
	policy_at("relative", 0);
	R(mbind_to(0, 8, BIND | 3 << 14, 2, MOVE));
	R(mbind_to(0, 8, BIND, 2, 8));
	R(mbind_to(0, 8, BIND, 2, MOVE | MOVE_ALL));
	printf("contents %s\n", intact(0, 8) ? "right" : "wrong");

	munmap(AREA + 2 * P, P);
	R(mbind_to(0, 8, BIND, 1, 0) /* a hole */);
	R(mbind_to(0, 8, BIND, 1, MOVE));
	policy_at("a hole", 0);
	R(mbind_to(2, 4, BIND, 1, MOVE) /* it begins with one */);
	R(mbind_to(4, 8, BIND, 1, MOVE) /* it ends with one */);
	R(mbind_to(2, 1, BIND, 1, MOVE) /* nothing else */);
	where("all where they were", AREA, 8);
	R(mbind_to(0, 8, DEFAULT, 0, MOVE));
	policy_at("default over a hole", 7);
	where("default over a hole", AREA, 8);
	R(mbind_to(2, 1, DEFAULT, 0, MOVE));
	R(mbind_to(2, 6, DEFAULT, 0, 0));
	R(mbind_to(5, 0, BIND, 2, MOVE));
	R(raw6(SYS_mbind, (long)AREA + 7, P, BIND, 0, 0, MOVE));
	R(raw6(SYS_mbind, (long)AREA, -1, DEFAULT, 0, 0, MOVE));
	R(raw6(SYS_mbind, (long)AREA, -P, DEFAULT, 0, 0, MOVE));
	clear_area();

	map(AREA, 8, RW, PA, -1);
	fill(0, 8);
	pid = start_child(end, 0);
	fill(6, 2);
	R(mbind_to(0, 8, BIND, 2, MOVE));
	where("shared by fork but two", AREA, 8);
	R(mbind_to(0, 8, BIND, 2, MOVE | STRICT));
	R(mbind_to(0, 8, BIND, 2, MOVE_ALL | STRICT));
	where("all", AREA, 8);
	end_child(pid, end);
	printf("contents %s\n", intact(0, 8) ? "right" : "wrong");
	clear_area();

	map(AREA, 4, RW, SA, -1);
	fill(0, 4);
	R(mbind_to(0, 4, BIND, 2, MOVE | STRICT));
	where("shared memory", AREA, 4);
	printf("contents %s\n", intact(0, 4) ? "right" : "wrong");
	as_nobody(mbind_as_nobody);
	clear_area();
}

static long migrate(int pid, unsigned long maxnode, unsigned long from, unsigned long to)
{
	long ret = raw6(SYS_migrate_pages, pid, (long)maxnode, (long)&from, (long)&to, 0, 0);

	return ret > 0 ? 0 : ret; /* pages of the program itself may have stayed */
}

static void migrate_as_nobody(void)
{
	map(AREA, 4, RW, PA, -1);
	fill(0, 4);
	R(migrate(0, 64, 1, 4));
	R(migrate(0, 64, 1, 6));
	R(migrate(1, 64, 1, 2));
	R(migrate(getppid(), 64, 1, 2));
	R(migrate(0, 64, 1, 2));
	where("nobody's", AREA, 4);
}

static void check_migrate(void)
{
	int end[2];
	pid_t pid;

	section("migrate_pages");
	map(AREA, 8, RW, PA, -1);
	fill(0, 4);
	R(migrate(9999999, 64, 1, 2));
	R(raw6(SYS_migrate_pages, 0, 64, 0, 0, 0, 0));
	R(raw6(SYS_migrate_pages, 0, 64, 8, 8, 0, 0));
	R(raw6(SYS_migrate_pages, 0, 0, (long)AREA, (long)AREA, 0, 0));
	R(raw6(SYS_migrate_pages, 9999999, 0, (long)AREA, (long)AREA, 0, 0));
	R(migrate(0, 1, 1, 2));
	R(migrate(0, 32769, 1, 2) < 0 /* beyond the two words: another error or none */);
	R(migrate(0, 32770, 1, 2));
	R(migrate(0, 64, 1, 0));
	R(migrate(0, 64, 1, 4));
	R(migrate(0, 64, 1, 1));
	where("stayed", AREA, 5);
	R(migrate(0, 64, 1, 2));
	where("0 to 1", AREA, 5);
	R(migrate(0, 64, 1, 2));
	R(migrate(0, 64, 3, 1));
	where("0,1 to 0", AREA, 5);
	R(mbind_to(2, 2, BIND, 2, MOVE));
	where("two on 1", AREA, 5);
	R(migrate(0, 64, 3, 2));
	where("0,1 to 1", AREA, 5);
	R(migrate(0, 64, 2, 3));
	where("1 to 0,1", AREA, 5);
	R(migrate(0, 64, 1, 6));
	where("0 to 1,2", AREA, 5);
	R(migrate(0, 64, 6, 1));
	where("1,2 to 0", AREA, 5);
	R(migrate(0, 64, 4, 2));
	where("2 to 1", AREA, 5);
	R(migrate(getpid(), 64, 1, 2));
	where("by its number", AREA, 5);
	printf("contents %s\n", intact(0, 4) ? "right" : "wrong");
	fill(0, 4);
	pid = start_child(end, 2);
	R(migrate(pid, 64, 2, 1));
	where("the child's; two are also here", AREA, 4);
	end_child(pid, end);
	R(migrate(0, 64, 2, 1));
	where("back", AREA, 4);
	R(migrate(pid, 64, 2, 1));
	printf("contents %s\n", intact(0, 4) ? "right" : "wrong");
	as_nobody(migrate_as_nobody);
	clear_area();
}

/* How many bits of a node mask count. */
static void check_masks(void)
{
	static const unsigned long many[] = { 0,  1,	2,    3,     4,	    63,	   64,	  65,
					      66, 1024, 1025, 32767, 32768, 32769, 32770, ~0ul };
	static unsigned long mask[1024], got[1024];
	int mode;

	section("masks");
	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		memset(mask, 0, sizeof(mask));
		mask[0] = 3;
		printf("%lu: ", many[i]);
		R(raw3(SYS_set_mempolicy, BIND, (long)mask, (long)many[i]));
		memset(got, 0xff, sizeof(got));
		mode = -1;
		R(raw6(SYS_get_mempolicy, (long)&mode, (long)got, (long)many[i], 0, 0, 0));
		printf("%d %lx %lx %lx\n", mode, got[0], got[1], got[511]);
		raw3(SYS_set_mempolicy, DEFAULT, 0, 0);
	}
	for (int i = 0; i < 8; i++) {
		static const int bits[8] = { 0, 32, 64, 127, 600, 1023, 1024, 1500 };
		int bit = bits[i];

		memset(mask, 0, sizeof(mask));
		mask[0] = 1;
		mask[bit / 64] |= 1ul << bit % 64;
		printf("bit %d: ", bit);
		R(raw3(SYS_set_mempolicy, BIND, (long)mask, 2000));
	}
	raw3(SYS_set_mempolicy, DEFAULT, 0, 0);
	memset(got, 0xff, sizeof(got));
	R(raw6(SYS_get_mempolicy, (long)&mode, (long)got, 1024, 0, MEMS_ALLOWED, 0));
	printf("%d %lx %lx\n", mode, got[0], got[1]);
	R(raw6(SYS_get_mempolicy, (long)&mode, (long)got, 1024, 0, MEMS_ALLOWED | BY_NODE, 0));
	R(raw6(SYS_get_mempolicy, (long)&mode, (long)got, 1024, 0, 8, 0));
	R(raw6(SYS_get_mempolicy, (long)&mode, 0, 0, (long)AREA, 0, 0));
	R(raw6(SYS_get_mempolicy, (long)&mode, 0, 0, (long)AREA, BY_ADDR, 0));
	R(raw6(SYS_get_mempolicy, (long)&mode, 0, 0, 0, BY_NODE, 0));
	map(AREA, 2, RW, PA, -1);
	R(mbind_to(1, 1, BIND, 2, 0));
	R(raw6(SYS_get_mempolicy, (long)&mode, 0, 0, (long)(AREA + P), BY_ADDR | BY_NODE, 0));
	printf("node %d\n", mode);
	R(raw6(SYS_get_mempolicy, 8, 0, 0, 0, 0, 0));
	R(raw6(SYS_get_mempolicy, 0, 8, 1024, 0, 0, 0));
	clear_area();
}

/* What /proc says of the area: words of its lines of numa_maps, of smaps, bits of pagemap. */
static void show_area(const char *what)
{
	static char text[1 << 20];
	uint64_t entries[4];
	unsigned char vec[4];
	char *at;
	int fd = open("/proc/self/pagemap", O_RDONLY);

	printf("%s:", what);
	if (slurp("/proc/self/numa_maps", text, sizeof(text)) < 0)
		die("numa_maps");
	at = strstr(text, "200000000 ");
	for (char *w = at ? strtok(strtok(at, "\n"), " ") : NULL; w; w = strtok(NULL, " "))
		if (strncmp(w, "active", 6) && strncmp(w, "mapmax", 6) && strncmp(w, "file", 4))
			printf(" %s", w);
	printf("\n");
	if (slurp("/proc/self/smaps", text, sizeof(text)) < 0)
		die("smaps");
	at = strstr(text, "200000000-");
	for (char *l = at ? strtok(at, "\n") : NULL; l && (l == at || !strchr(l, '-'));
	     l = strtok(NULL, "\n"))
		if (!strncmp(l, "Rss", 3) || !strncmp(l, "Pss:", 4) ||
		    !strncmp(l, "Anonymous", 9) || !strncmp(l, "Private_Dirty", 13) ||
		    !strncmp(l, "Shared_Dirty", 12) || !strncmp(l, "AnonHuge", 8) ||
		    !strncmp(l, "THPelig", 7))
			printf("  %s\n", l);
	if (fd < 0 || pread(fd, entries, sizeof(entries), (off_t)((unsigned long)AREA / P * 8)) !=
			      (ssize_t)sizeof(entries))
		die("pagemap");
	close(fd);
	if (mincore(AREA, 4 * P, vec))
		die("mincore");
	for (int i = 0; i < 4; i++)
		printf("  page %d:%s%s%s%s frame, in core %d\n", i,
		       entries[i] >> 63 ? " present" : "", entries[i] >> 61 & 1 ? " file" : "",
		       entries[i] >> 56 & 1 ? " exclusive" : "",
		       entries[i] << 9 >> 9 ? " a" : " no", vec[i]);
}

static void check_show(void)
{
	int end[2];
	pid_t pid;

	section("what /proc shows");
	map(AREA, 4, RW, PA, -1);
	fill(0, 3);
	show_area("new");
	R(mbind_to(0, 4, BIND, 2, MOVE));
	show_area("bound to 1");
	move_to("one", 0, AREA, 1, 0, MOVE);
	show_area("one on 0");
	pid = start_child(end, 0);
	show_area("shared");
	end_child(pid, end);
	clear_area();
	map(AREA, 4, RW, SA, -1);
	fill(0, 2);
	move_to("one", 0, AREA, 1, 1, MOVE);
	show_area("shared memory");
	clear_area();
}

int main(int argc, char **argv)
{
	char name[256];
	int fd;

	snprintf(name, sizeof(name), "%s/movecheck.tmp", argc > 1 ? argv[1] : "/tmp");
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	file = fd < 0 ? -1 : dup2(fd, 9);
	if (file < 0)
		die(name);
	unlink(name);
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	clear_area();
	check_arguments();
	check_status();
	check_move();
	check_shared();
	check_mbind();
	check_migrate();
	check_masks();
	check_show();
	return 0;
}
