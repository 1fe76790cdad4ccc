/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ubench - instructions per operation, seen from a program.
 *
 *	ubench [-c] [-d DIR] [-r] [NAME...]
 *		-c: comma-separated values; -d: file rows in DIR, too; -r: rows of reclaim;
 *		NAME: only rows that begin so
 *
 * Problem: how much does the kernel do for one system call, fault, fork? Idea: on the virtual
 * clock the time-stamp counter advances by one per instruction, so its difference over many
 * repetitions, divided by their number, is exact; elsewhere the same program prints cycles.
 * Each operation runs once as a warm-up and then timed; system calls are raw. The counter is
 * checked against CLOCK_MONOTONIC at the end. What is timed is written next to each function;
 * the list is that of the Linux figures the kernel is compared with.
 */
#define _GNU_SOURCE
#include "ubench.h"
#include <sched.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#define FILE_PAGES 1024
#define TEST_FILE "/tmp/ubench.tmp"

static const char *self;
static char buffer[PAGE] __attribute__((aligned(4096)));
static char *region;
static unsigned long region_pages;
static uint64_t clear_cost;

static void must(long ret, const char *what)
{
	if (ret < 0) {
		fprintf(stderr, "ubench: %s: %s\n", what, strerror((int)-ret));
		exit(1);
	}
}

static void *map(unsigned long bytes)
{
	long p = raw6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);

	must(p > -4096 && p < 0 ? p : 0, "mmap");
	raw3(SYS_madvise, p, (long)bytes, MADV_NOHUGEPAGE);
	return (void *)p;
}

/* What clearing one page costs here: rep stosq, as the kernel does it. */
static struct result clear_page(uint64_t n)
{
	uint64_t t = tsc();

	for (uint64_t i = 0; i < n; i++) {
		void *p = buffer;
		unsigned long words = PAGE / 8;

		__asm__ volatile("rep stosq" : "+D"(p), "+c"(words) : "a"(0ul) : "memory");
	}
	return (struct result){ tsc() - t, n };
}

static struct result getpid_call(uint64_t n)
{
	uint64_t t = tsc();

	for (uint64_t i = 0; i < n; i++)
		raw3(SYS_getpid, 0, 0, 0);
	return (struct result){ tsc() - t, n };
}

/* mmap and munmap of one page that nobody touches */
static struct result mmap_munmap(uint64_t n)
{
	uint64_t t = tsc();

	for (uint64_t i = 0; i < n; i++) {
		long p = raw6(SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		raw3(SYS_munmap, p, PAGE, 0);
	}
	return (struct result){ tsc() - t, n };
}

/* The first write to each page of a new region; clearing included. Leaves the region mapped. */
static struct result anon_fault(uint64_t n)
{
	uint64_t t;

	region = map(region_pages * PAGE);
	t = tsc();
	for (unsigned long i = 0; i < region_pages; i++)
		*(volatile char *)(region + i * PAGE) = 1;
	return (struct result){ tsc() - t, region_pages };
}

static struct result anon_munmap(uint64_t n)
{
	uint64_t t = tsc();

	raw3(SYS_munmap, (long)region, (long)(region_pages * PAGE), 0);
	return (struct result){ tsc() - t, region_pages };
}

/* The first read of each page: the shared page of zeroes. Leaves the region mapped. */
static struct result zero_fault(uint64_t n)
{
	uint64_t t;

	region = map(region_pages * PAGE);
	t = tsc();
	for (unsigned long i = 0; i < region_pages; i++)
		(void)*(volatile char *)(region + i * PAGE);
	return (struct result){ tsc() - t, region_pages };
}

/* Raw fork: the child touches nothing of libc. */
static long fork_raw(void)
{
	return raw6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
}

static struct result fork_exit(uint64_t n)
{
	uint64_t t = tsc();

	for (uint64_t i = 0; i < n; i++) {
		long pid = fork_raw();

		if (pid == 0)
			raw3(SYS_exit_group, 0, 0, 0);
		must(pid, "fork");
		raw6(SYS_wait4, pid, 0, 0, 0, 0, 0);
	}
	return (struct result){ tsc() - t, n };
}

/* The same with exec of this very program, which leaves at once. */
static struct result fork_exec(uint64_t n)
{
	char *argv[] = { (char *)self, "--leave", NULL }, *envp[] = { NULL };
	int status = 0;
	uint64_t t = tsc();

	for (uint64_t i = 0; i < n; i++) {
		long pid = fork_raw();

		if (pid == 0) {
			raw3(SYS_execve, (long)self, (long)argv, (long)envp);
			raw3(SYS_exit_group, 1, 0, 0);
		}
		must(pid, "fork");
		raw6(SYS_wait4, pid, (long)&status, 0, 0, 0, 0);
	}
	t = tsc() - t;
	must(status ? -ENOEXEC : 0, "exec");
	return (struct result){ t, n };
}

static void make_pipe(int fds[2])
{
	must(raw3(SYS_pipe2, (long)fds, 0, 0), "pipe2");
}

/* One byte to another process and one back. */
static struct result pipe_two(uint64_t n)
{
	int there[2], back[2];
	uint64_t t;
	long pid;
	char c = 0;

	make_pipe(there);
	make_pipe(back);
	pid = fork_raw();
	must(pid, "fork");
	if (pid == 0) {
		close(there[1]);
		while (raw3(SYS_read, there[0], (long)&c, 1) == 1)
			raw3(SYS_write, back[1], (long)&c, 1);
		raw3(SYS_exit_group, 0, 0, 0);
	}
	t = tsc();
	for (uint64_t i = 0; i < n; i++) {
		raw3(SYS_write, there[1], (long)&c, 1);
		raw3(SYS_read, back[0], (long)&c, 1);
	}
	t = tsc() - t;
	close(there[1]);
	raw6(SYS_wait4, pid, 0, 0, 0, 0, 0);
	close(there[0]);
	close(back[0]);
	close(back[1]);
	return (struct result){ t, n };
}

static struct result pipe_one(uint64_t n)
{
	int fds[2];
	uint64_t t;
	char c = 0;

	make_pipe(fds);
	t = tsc();
	for (uint64_t i = 0; i < n; i++) {
		raw3(SYS_write, fds[1], (long)&c, 1);
		raw3(SYS_read, fds[0], (long)&c, 1);
	}
	t = tsc() - t;
	close(fds[0]);
	close(fds[1]);
	return (struct result){ t, n };
}

/* Two processes on one CPU give way to each other; per switch. */
static struct result yield_switch(uint64_t n)
{
	volatile int *stop =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t t;
	long pid;

	if (stop == MAP_FAILED)
		die("ubench: mmap");
	*stop = 0;
	pid = fork_raw();
	must(pid, "fork");
	if (pid == 0) {
		while (!*stop)
			raw3(SYS_sched_yield, 0, 0, 0);
		raw3(SYS_exit_group, 0, 0, 0);
	}
	for (int i = 0; i < 10; i++)
		raw3(SYS_sched_yield, 0, 0, 0);
	t = tsc();
	for (uint64_t i = 0; i < n; i++)
		raw3(SYS_sched_yield, 0, 0, 0);
	t = tsc() - t;
	*stop = 1;
	raw6(SYS_wait4, pid, 0, 0, 0, 0, 0);
	munmap((void *)stop, PAGE);
	return (struct result){ t, 2 * n };
}

/* 4 KiB writes and reads on /tmp: append makes the file, overwrite and read find it. */
static struct result file_pass(int flags, int nr)
{
	int fd = open(TEST_FILE, flags, 0600);
	uint64_t t;

	if (fd < 0)
		die("ubench: " TEST_FILE);
	t = tsc();
	for (int i = 0; i < FILE_PAGES; i++)
		if (raw3(nr, fd, (long)buffer, PAGE) != PAGE)
			die("ubench: short read or write on " TEST_FILE);
	t = tsc() - t;
	close(fd);
	return (struct result){ t, FILE_PAGES };
}

static struct result tmpfs_append(uint64_t n)
{
	unlink(TEST_FILE);
	return file_pass(O_WRONLY | O_CREAT | O_TRUNC, SYS_write);
}

static struct result tmpfs_overwrite(uint64_t n)
{
	return file_pass(O_WRONLY | O_CREAT, SYS_write);
}

static struct result tmpfs_read(uint64_t n)
{
	return file_pass(O_RDONLY | O_CREAT, SYS_read);
}

static struct result lseek_read(uint64_t n)
{
	int fd = open(TEST_FILE, O_RDONLY | O_CREAT, 0600);
	uint64_t t;

	if (fd < 0)
		die("ubench: " TEST_FILE);
	t = tsc();
	for (uint64_t i = 0; i < n; i++) {
		raw3(SYS_lseek, fd, (long)(i % FILE_PAGES * PAGE), SEEK_SET);
		raw3(SYS_read, fd, (long)buffer, 1);
	}
	t = tsc() - t;
	close(fd);
	return (struct result){ t, n };
}

static struct result open_close(uint64_t n)
{
	uint64_t t = tsc();

	for (uint64_t i = 0; i < n; i++)
		raw3(SYS_close, raw3(SYS_open, (long)TEST_FILE, O_RDONLY, 0), 0, 0);
	return (struct result){ tsc() - t, n };
}

static const struct bench benches[] = {
	{ "clear_page", "rep stosq of one page, in user mode", clear_page, 1000, GROSS, 1 },
	{ "getpid", "system call", getpid_call, 10000, GROSS, 1 },
	{ "mmap_munmap", "one untouched page", mmap_munmap, 2000, GROSS, 1 },
	{ "anon_fault", "first write to a page, per page", anon_fault, 0, NET_CLEAR, 0 },
	{ "anon_munmap", "munmap of written pages, per page", anon_munmap, 0, GROSS, 0 },
	{ "zero_fault", "first read of a page, per page", zero_fault, 0, GROSS, 0 },
	{ "zero_munmap", "munmap of read pages, per page", anon_munmap, 0, GROSS, 0 },
	{ "fork_exit", "fork + exit + wait", fork_exit, 200, GROSS, 1 },
	{ "fork_exec", "fork + exec + exit + wait", fork_exec, 100, GROSS, 1 },
	{ "pipe_two", "pipe round trip, two processes", pipe_two, 1000, GROSS, 1 },
	{ "pipe_one", "pipe write + read, one process", pipe_one, 2000, GROSS, 1 },
	{ "yield_switch", "sched_yield between two processes", yield_switch, 1000, GROSS, 1 },
	{ "tmpfs_append", "write 4 KiB at the end", tmpfs_append, 0, NET_COPY, 1 },
	{ "tmpfs_overwrite", "write 4 KiB over", tmpfs_overwrite, 0, NET_COPY, 1 },
	{ "tmpfs_read", "read 4 KiB", tmpfs_read, 0, NET_COPY, 1 },
	{ "lseek_read", "lseek + read 1 byte", lseek_read, 2000, GROSS, 1 },
	{ "open_close", "open + close of a file in /tmp", open_close, 2000, GROSS, 1 },
};

#define NR (sizeof(benches) / sizeof(benches[0]))

static void row(const char *name, const char *suffix, uint64_t each, uint64_t count,
		const char *about, int csv)
{
	char full[64];

	snprintf(full, sizeof(full), "%s%s", name, suffix);
	printf(csv ? "%s,%llu,%llu,%s\n" : "%-20s %9llu %8llu  %s\n", full,
	       (unsigned long long)each, (unsigned long long)count, about);
}

static void run(const struct bench *b, int csv)
{
	struct result r;
	uint64_t each;

	if (b->again)
		b->run(b->count < 100 ? b->count : b->count / 10);
	r = b->run(b->count);
	each = (r.ticks + r.count / 2) / r.count;
	row(b->name, "", each, r.count, b->about, csv);
	if (b->run == clear_page)
		clear_cost = each;
	if (b->net == NET_CLEAR)
		row(b->name, "_net", each > clear_cost ? each - clear_cost : 0, r.count,
		    "the same, clearing taken off", csv);
	if (b->net == NET_COPY)
		row(b->name, "_net", each > 512 ? each - 512 : 0, r.count,
		    "the same, 512 for copying taken off", csv);
	if (b->net == NET_CLEAR_HUGE)
		row(b->name, "_net", each > 512 * 512 ? each - 512 * 512 : 0, r.count,
		    "the same, 262144 for clearing taken off", csv);
	if (b->net == NET_COPY_HUGE)
		row(b->name, "_net", each > 512 * 512 ? each - 512 * 512 : 0, r.count,
		    "the same, 262144 for copying taken off", csv);
}

static int chosen(const char *name, int argc, char **argv, int first)
{
	for (int i = first; i < argc; i++)
		if (!strncmp(argv[i], name, strlen(argv[i])))
			return 1;
	return first >= argc;
}

static char **chosen_args;
static int chosen_nr, as_csv;

static void run_chosen(const struct bench *b)
{
	if (chosen(b->name, chosen_nr, chosen_args, 0))
		run(b, as_csv);
}

static void run_always(const struct bench *b)
{
	run(b, as_csv);
}

/* A first pass over a region, so that the timed one finds page tables and lists as in use. */
static void warm_region(void)
{
	struct sysinfo info;

	region_pages = (64ul << 20) / PAGE;
	if (sysinfo(&info) == 0) {
		unsigned long fit = info.freeram / PAGE * info.mem_unit / 4;

		if (fit < region_pages)
			region_pages = fit;
	}
	anon_fault(0);
	anon_munmap(0);
}

int main(int argc, char **argv)
{
	static char path[256];
	uint64_t t0, n0, ticks, ns;
	cpu_set_t set;
	int first = 1, csv = 0;

	if (argc > 1 && !strcmp(argv[1], "--leave"))
		raw3(SYS_exit_group, 0, 0, 0);
	if (argc > first && !strcmp(argv[first], "-c"))
		csv = 1, first++;
	if (argc > first + 1 && !strcmp(argv[first], "-d"))
		disk_dir = argv[first + 1], first += 2;
	if (argc > first && !strcmp(argv[first], "-r"))
		with_reclaim = 1, first++;
	self = readlink("/proc/self/exe", path, sizeof(path) - 1) > 0 ? path : argv[0];
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	t0 = tsc();
	n0 = clock_ns(CLOCK_MONOTONIC);
	warm_region();
	clear_page(10);
	clear_cost = clear_page(1000).ticks / 1000;
	if (csv)
		printf("name,ticks,count,about\n");
	else
		printf("%-20s %9s %8s  %s\n", "operation", "ticks", "count", "what");
	for (size_t i = 0; i < NR; i++)
		/* A munmap row needs the region of the fault row before it. */
		if (chosen(benches[i].name, argc, argv, first) ||
		    (i + 1 < NR && benches[i + 1].run == anon_munmap &&
		     chosen(benches[i + 1].name, argc, argv, first)))
			run(&benches[i], csv);
		else if (benches[i].run == anon_munmap && region && i &&
			 chosen(benches[i - 1].name, argc, argv, first))
			raw3(SYS_munmap, (long)region, (long)(region_pages * PAGE), 0);
	unlink(TEST_FILE);
	for (size_t i = 0; disk_dir && i < nr_disk_benches; i++)
		if (chosen(disk_benches[i].name, argc, argv, first))
			run(&disk_benches[i], csv);
	if (disk_dir)
		disk_done();
	chosen_args = argv + first, chosen_nr = argc - first, as_csv = csv;
	if (chosen("thp_fault", argc, argv, first) || chosen("thp_split", argc, argv, first) ||
	    chosen("thp_collapse", argc, argv, first) || chosen("thp_munmap", argc, argv, first))
		huge_rows(run_always); /* each needs what the one before left */
	if (with_reclaim)
		reclaim_rows(run_chosen);
	ticks = tsc() - t0;
	ns = clock_ns(CLOCK_MONOTONIC) - n0;
	if (csv)
		printf("clock_ratio_permille,%llu,1,ticks per 1000 ns of CLOCK_MONOTONIC\n",
		       (unsigned long long)(ticks * 1000 / (ns ? ns : 1)));
	else
		printf("ticks per 1000 ns of CLOCK_MONOTONIC: %llu\n",
		       (unsigned long long)(ticks * 1000 / (ns ? ns : 1)));
	return 0;
}
