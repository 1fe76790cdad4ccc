/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hugecalls - who gets huge pages, as the switches, madvise and prctl have it.
 *
 * Prints a line for each way of asking: 1 when the first touch of 2 MiB brought a huge page, else
 * 0; and the answers of prctl and of madvise(MADV_COLLAPSE). Works on Linux 6.1, too.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define PAGE 4096ul
#define PLACE (512 * PAGE)

static const char *self;

static char *map(int advice)
{
	char *p = mmap(NULL, 2 * PLACE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("hugecalls: mmap");
	if (advice)
		madvise(p, 2 * PLACE, advice);
	return p + -(uintptr_t)p % PLACE;
}

static unsigned long huge_bytes(void)
{
	static char text[65536];
	char *p;

	if (slurp("/proc/self/smaps_rollup", text, sizeof(text)) < 0)
		die("hugecalls: /proc/self/smaps_rollup");
	p = strstr(text, "AnonHugePages:");
	return p ? strtoul(p + 14, NULL, 10) * 1024 : 0;
}

static void touched(const char *what, int advice)
{
	unsigned long before = huge_bytes();
	char *p = map(advice);

	*(volatile char *)p = 1;
	printf("%s %d\n", what, huge_bytes() - before == PLACE);
}

static void answer(const char *what, int ret)
{
	if (ret >= 0)
		printf("%s %d\n", what, ret);
	else if (errno == EINVAL || errno == ENOMEM || errno == EAGAIN)
		printf("%s %s\n", what,
		       errno == EINVAL	 ? "EINVAL"
		       : errno == ENOMEM ? "ENOMEM"
					 : "EAGAIN");
	else
		printf("%s %d\n", what, -errno);
}

/* Small pages first, then all at once; every page must hold what it held. */
static void collapsed(void)
{
	unsigned long before = huge_bytes(), bad = 0;
	char *p = map(MADV_NOHUGEPAGE);

	for (unsigned long i = 0; i < 512; i++)
		*(volatile unsigned long *)(p + i * PAGE) = i + 1;
	answer("collapse_refused", madvise(p, PLACE, MADV_COLLAPSE));
	madvise(p, PLACE, MADV_HUGEPAGE);
	answer("collapse", madvise(p, PLACE, MADV_COLLAPSE));
	for (unsigned long i = 0; i < 512; i++)
		bad += *(volatile unsigned long *)(p + i * PAGE) != i + 1;
	printf("collapse_huge %d\ncollapse_wrong %lu\n", huge_bytes() - before == PLACE, bad);
	munmap(p + PAGE, PAGE);
	printf("collapse_cut %d\n", huge_bytes() - before == 0);
	answer("collapse_hole", madvise(p, PLACE, MADV_COLLAPSE));
}

static void child(const char *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (arg)
			execl(self, self, arg, (char *)NULL);
		else
			touched("fork_plain", 0);
		fflush(stdout);
		_exit(arg != NULL);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("hugecalls: child");
}

int main(int argc, char **argv)
{
	static char path[256];

	if (argc > 1) {
		answer("exec_get", prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
		touched("exec_plain", 0);
		return 0;
	}
	self = readlink("/proc/self/exe", path, sizeof(path) - 1) > 0 ? path : argv[0];
	touched("plain", 0);
	touched("advised", MADV_HUGEPAGE);
	touched("refused", MADV_NOHUGEPAGE);
	answer("bad_set", prctl(PR_SET_THP_DISABLE, 1, 1, 0, 0));
	answer("bad_get", prctl(PR_GET_THP_DISABLE, 1, 0, 0, 0));
	answer("get", prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
	answer("set", prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0));
	answer("get_set", prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
	touched("disabled_plain", 0);
	touched("disabled_advised", MADV_HUGEPAGE);
	child(NULL);
	child("exec");
	answer("clear", prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0));
	touched("again_advised", MADV_HUGEPAGE);
	collapsed();
	return 0;
}
