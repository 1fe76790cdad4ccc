/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sysfuzz - random system calls with random arguments, from a seed.
 *
 *	sysfuzz [COUNT [SEED]]		made for a guest one can lose
 *
 * Problem: does any combination of arguments bring the kernel down? Idea: children make up to
 * BATCH calls each with arguments from a list of nasty values; when one dies or hangs, that is its
 * own fault and the next goes on with the next seed. Left out are calls that would end the test
 * itself rather than attack the kernel: power off, setting the clock, signals to strangers, and
 * changes to mounts that others stand on. Children made by a random clone leave at once, without
 * touching a stack. Prints how many calls were made and what the children died of.
 *
 * Wholly random arguments seldom get past the first check. So half the calls come from a table that
 * says what each argument should be, and get that, mostly; each child begins with descriptors of
 * every kind, mappings, and on every second seed a second thread that does the same; every other
 * one is not root.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define BATCH 200
#define DIR "/tmp/sysfuzz"

struct shared {
	volatile uint64_t done;
	volatile int last;
};

static const char *const paths[] = {
	DIR "/a",
	DIR "/b",
	DIR "/dir",
	DIR "/dir/c",
	DIR "/missing",
	"/proc/self/maps",
	"/proc/self/stat",
	"/proc/meminfo",
	"/proc/vmstat",
	"/sys/devices/system/node/node0/meminfo",
	"/dev/null",
	"/dev/zero",
	"/dev/full",
	"/dev/urandom",
	"",
	".",
	"..",
	"/",
};
#define NR_PATHS (sizeof(paths) / sizeof(paths[0]))

static char scratch[4 * 4096] __attribute__((aligned(4096)));

static int left_out(long nr)
{
	switch (nr) {
	case SYS_exit:
	case SYS_exit_group:
	case SYS_reboot:
	case SYS_rt_sigreturn:
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo:
	case SYS_settimeofday:
	case SYS_clock_settime:
	case SYS_adjtimex:
	case SYS_clock_adjtime:
	case SYS_umount2:
	case SYS_mount:
	case SYS_acct:
	case SYS_quotactl:
	case SYS_pivot_root:
	case SYS_swapon:
	case SYS_swapoff:
	case SYS_vhangup:
	case SYS_pause:
	case SYS_rt_sigsuspend:
	case SYS_syslog:
	case SYS_kexec_load:
	case SYS_init_module:
	case SYS_delete_module:
	case SYS_iopl:
	case SYS_ioperm:
	case SYS_ptrace:
	case SYS_setpriority:
	case SYS_process_vm_writev:
	case 424 /* pidfd_send_signal */:
	case 448 /* process_mrelease */:
	case SYS_migrate_pages:
	case SYS_move_pages:
	case SYS_sched_setaffinity:
	case SYS_sched_setscheduler:
	case SYS_sched_setparam:
	case SYS_sched_setattr:
	case SYS_prlimit64:
		return 1;
	}
	return 0;
}

/* Calls that act on others by a process id are made, but on the caller itself. */
static int takes_pid(long nr)
{
	switch (nr) {
	case SYS_kill:
	case SYS_tkill:
	case SYS_sched_setaffinity:
	case SYS_sched_setscheduler:
	case SYS_sched_setparam:
	case SYS_prlimit64:
	case SYS_move_pages:
		return 1;
	}
	return 0;
}

static unsigned long argument(uint64_t *seed)
{
	uint64_t r = random_next(seed), v = random_next(seed);

	switch (r % 16) {
	case 0:
		return v % 16; /* descriptor, small flag */
	case 1:
		return v % 4096;
	case 2:
		return 0;
	case 3:
		return ~0ul;
	case 4:
		return -(v % 4096);
	case 5:
		return (unsigned long)scratch + v % sizeof(scratch);
	case 6:
		return (unsigned long)scratch + sizeof(scratch) - v % 16; /* runs off the end */
	case 7:
		return (unsigned long)paths[v % NR_PATHS];
	case 8:
		return 0xffffffff80000000 + v % (64 << 20); /* kernel image */
	case 9:
		return 0xffff800000000000 + v % (1ul << 40); /* other kernel half */
	case 10:
		return 0x7fffffffe000 + v % 16384; /* the edge of user space */
	case 11:
		return 0x8000000000000000 | v;
	case 12:
		return 1ul << v % 64;
	case 13:
		return (1ul << v % 64) - 1;
	case 14:
		return (v % 64) << 12; /* page-sized lengths */
	default:
		return v;
	}
}

/* A call whose child, if it makes one, ends at once on whatever stack it has. */
static long guarded(long nr, const unsigned long *a)
{
	register long r10 __asm__("r10") = (long)a[3];
	register long r8 __asm__("r8") = (long)a[4];
	register long r9 __asm__("r9") = (long)a[5];
	long ret;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%edi, %%edi\n\t"
			 "mov $60, %%eax\n\t"
			 "syscall\n"
			 "1:"
			 : "=a"(ret)
			 : "a"(nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/*
 * What arguments should be: f descriptor, p path, b buffer, n its size, o offset, l flags of one or
 * two bits, i small number, a page address, L length in pages, P protection, t short time, s struct
 * with random content, v vector of buffers, g signal, 0 nothing.
 */
static const struct {
	short nr;
	char kinds[7];
} typed[] = {
	{ SYS_read, "fbn" },
	{ SYS_write, "fbn" },
	{ SYS_open, "pll" },
	{ SYS_close, "i" },
	{ SYS_stat, "pb" },
	{ SYS_fstat, "fb" },
	{ SYS_lstat, "pb" },
	{ SYS_poll, "sit" },
	{ SYS_lseek, "foi" },
	{ SYS_mmap, "aLPlfo" },
	{ SYS_mprotect, "aLP" },
	{ SYS_munmap, "aL" },
	{ SYS_brk, "a" },
	{ SYS_rt_sigaction, "gs0i" },
	{ SYS_rt_sigprocmask, "is0i" },
	{ SYS_ioctl, "fls" },
	{ SYS_pread64, "fbno" },
	{ SYS_pwrite64, "fbno" },
	{ SYS_readv, "fvi" },
	{ SYS_writev, "fvi" },
	{ SYS_access, "pi" },
	{ SYS_pipe, "b" },
	{ SYS_select, "ibbbt" },
	{ SYS_mremap, "aLLia" },
	{ SYS_msync, "aLi" },
	{ SYS_mincore, "aLb" },
	{ SYS_madvise, "aLi" },
	{ SYS_shmget, "inl" },
	{ SYS_shmat, "ial" },
	{ SYS_shmctl, "iib" },
	{ SYS_shmdt, "a" },
	{ SYS_dup, "f" },
	{ SYS_dup2, "fi" },
	{ SYS_nanosleep, "tb" },
	{ SYS_setitimer, "isb" },
	{ SYS_sendfile, "ffbn" },
	{ SYS_socketpair, "iiib" },
	{ SYS_sendto, "fbnl" },
	{ SYS_recvfrom, "fbnl" },
	{ SYS_sendmsg, "fsl" },
	{ SYS_recvmsg, "fsl" },
	{ SYS_shutdown, "fi" },
	{ SYS_fork, "" },
	{ SYS_wait4, "0bib" },
	{ SYS_fcntl, "fii" },
	{ SYS_fcntl, "fli" },
	{ SYS_flock, "fi" },
	{ SYS_fsync, "f" },
	{ SYS_truncate, "po" },
	{ SYS_ftruncate, "fo" },
	{ SYS_getdents64, "fbn" },
	{ SYS_getcwd, "bn" },
	{ SYS_chdir, "p" },
	{ SYS_fchdir, "f" },
	{ SYS_rename, "pp" },
	{ SYS_mkdir, "pl" },
	{ SYS_rmdir, "p" },
	{ SYS_creat, "pl" },
	{ SYS_link, "pp" },
	{ SYS_unlink, "p" },
	{ SYS_symlink, "pp" },
	{ SYS_readlink, "pbn" },
	{ SYS_chmod, "pl" },
	{ SYS_fchmod, "fl" },
	{ SYS_chown, "pii" },
	{ SYS_utimensat, "fpsi" },
	{ SYS_mknod, "pli" },
	{ SYS_statfs, "pb" },
	{ SYS_sigaltstack, "sb" },
	{ SYS_mlock, "aL" },
	{ SYS_munlock, "aL" },
	{ SYS_mlockall, "i" },
	{ SYS_prctl, "iiiii" },
	{ SYS_arch_prctl, "la" },
	{ SYS_futex, "biltbi" },
	{ SYS_futex, "aiitai" },
	{ SYS_set_robust_list, "bn" },
	{ SYS_epoll_create1, "0" },
	{ SYS_epoll_ctl, "fifs" },
	{ SYS_epoll_wait, "fbit" },
	{ SYS_timer_create, "isb" },
	{ SYS_timer_settime, "iisb" },
	{ SYS_timer_delete, "i" },
	{ SYS_clock_nanosleep, "iitb" },
	{ SYS_mbind, "aLibil" },
	{ SYS_set_mempolicy, "ibi" },
	{ SYS_get_mempolicy, "bbial" },
	{ SYS_openat, "fpll" },
	{ SYS_mkdirat, "fpl" },
	{ SYS_unlinkat, "fpi" },
	{ SYS_renameat2, "fpfpi" },
	{ SYS_linkat, "fpfpl" },
	{ SYS_fchmodat, "fpl" },
	{ SYS_faccessat, "fpi" },
	{ SYS_signalfd4, "fsil" },
	{ SYS_timerfd_create, "il" },
	{ SYS_timerfd_settime, "fisb" },
	{ SYS_eventfd2, "il" },
	{ SYS_fallocate, "fioo" },
	{ SYS_dup3, "fil" },
	{ SYS_pipe2, "bl" },
	{ SYS_preadv, "fvio" },
	{ SYS_pwritev, "fvio" },
	{ SYS_getrandom, "bni" },
	{ SYS_memfd_create, "pi" },
	{ SYS_copy_file_range, "fbfbn" },
	{ SYS_splice, "fbfbnl" },
	{ SYS_tee, "ffnl" },
	{ SYS_statx, "fplib" },
	{ SYS_membarrier, "li" },
	{ SYS_waitid, "iibib" },
	{ SYS_sched_yield, "" },
	{ SYS_clone, "lai" },
	{ SYS_umask, "l" },
	{ SYS_setpgid, "00" },
	{ SYS_rt_sigtimedwait, "sbti" },
	{ SYS_rt_sigpending, "bi" },
	{ SYS_process_vm_readv, "ivivii" },
	{ SYS_sysinfo, "b" },
	{ SYS_getrusage, "ib" },
	{ SYS_times, "b" },
	{ SYS_getitimer, "ib" },
	{ SYS_move_pages, "0ibbbi" },
	{ SYS_migrate_pages, "0ibb" },
	{ SYS_close_range, "iil" },
	{ SYS_openat2, "fpsn" },
};
#define NR_TYPED (sizeof(typed) / sizeof(typed[0]))
#define PAGES 64
static char *arena; /* PAGES pages of different mappings */

static unsigned long buffer(uint64_t *seed)
{
	uint64_t v = random_next(seed);

	return v & 1 ? (unsigned long)scratch + v / 2 % sizeof(scratch)
		     : (unsigned long)arena + (v / 2 % PAGES << 12) + v / 256 % 4096;
}

static unsigned long meant(char kind, uint64_t *seed)
{
	uint64_t v = random_next(seed), *at;

	switch (kind) {
	case 'f':
		return v % 16 ? v / 16 % 48 : (unsigned long)-100;
	case 'p':
		return (unsigned long)paths[v % NR_PATHS];
	case 'b':
		return buffer(seed);
	case 'n':
		return v % 4 ? v / 4 % 4096 : v / 4 % 65536;
	case 'o':
		return v % 4 ? v / 4 % 65536 : v / 4 % (1ul << 22);
	case 'l':
		return (1ul << v % 20) | (v & 1 << 20 ? 1ul << v / 64 % 12 : 0);
	case 'i':
		return v % 24;
	case 'g':
		return v % 65;
	case 'a':
		return (unsigned long)arena + (v % PAGES << 12);
	case 'L':
		return (v % 8) << 12;
	case 'P':
		return v % 8;
	case 't':
	case 's':
	case 'v':
		at = (uint64_t *)(scratch + v % 200 * 64);
		for (int i = 0; i < 8; i++)
			at[i] = kind == 't'   ? (i ? v / 256 % 2000000 : 0)
				: kind == 'v' ? (i % 2 ? random_next(seed) % 8192 : buffer(seed))
				: v & 1 << (8 + i) ? random_next(seed) % 16
						   : buffer(seed);
		return (unsigned long)at;
	}
	return 0;
}

static long typed_call(uint64_t *seed, unsigned long *a)
{
	unsigned which = (unsigned)(random_next(seed) % NR_TYPED);

	memset(a, 0, 6 * sizeof(*a));
	for (int i = 0; i < 6 && typed[which].kinds[i]; i++)
		a[i] = random_next(seed) % 16 ? meant(typed[which].kinds[i], seed) : argument(seed);
	return typed[which].nr;
}

static long random_call(uint64_t *seed, unsigned long *a)
{
	long nr;

	do
		nr = (long)(random_next(seed) % 460);
	while (left_out(nr) && !takes_pid(nr));
	for (int i = 0; i < 6; i++)
		a[i] = argument(seed);
	return nr;
}

static void one_call(uint64_t *seed, struct shared *s)
{
	unsigned long a[6];
	long nr = random_next(seed) & 1 ? typed_call(seed, a) : random_call(seed, a);

	if (takes_pid(nr))
		a[0] = (unsigned long)raw3(SYS_getpid, 0, 0, 0);
	if (nr == SYS_kill || nr == SYS_tkill)
		a[1] = random_next(seed) % 8 ? 0 : a[1];
	if (nr == SYS_alarm)
		a[0] = 1;
	if (nr == SYS_close || nr == SYS_dup2 || nr == SYS_dup3)
		a[nr != SYS_close] |= 4;
	s->last = (int)nr;
	if (nr == SYS_clone || nr == SYS_fork || nr == SYS_vfork || nr == 435)
		guarded(nr, a);
	else
		raw6(nr, (long)a[0], (long)a[1], (long)a[2], (long)a[3], (long)a[4], (long)a[5]);
	s->done++;
}

/* Descriptors of every kind from 3 up, and an arena of private, shared and file pages. */
static void furnish(void)
{
	static const char *const names[] = { "a",
					     "b",
					     "dir",
					     ".",
					     "/proc/self/maps",
					     "/proc/self/stat",
					     "/proc",
					     "/dev/zero",
					     "/dev/null",
					     "/dev/full",
					     "/dev/urandom",
					     "/dev/ptmx",
					     "/proc/meminfo",
					     "/dev/pts/0",
					     "/sys/devices/system/node" };
	int pair[2], fd = -1, mem;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		fd = open(names[i],
			  (i < 2   ? O_CREAT | O_RDWR
			   : i < 7 ? O_RDONLY
				   : O_RDWR) |
				  O_NONBLOCK,
			  0644);
		if (fd < 0)
			open(names[i], O_RDONLY | O_NONBLOCK);
	}
	mem = (int)raw3(SYS_memfd_create, (long)"memory", 0, 0);
	if (mem >= 0 && ftruncate(mem, 8 << 12) == 0)
		arena = NULL;
	for (int i = 0; i < 2; i++)
		if (pipe2(pair, O_NONBLOCK) < 0 ||
		    raw6(SYS_socketpair, 1, 1, 0, (long)pair, 0, 0) < 0)
			break;
	raw3(SYS_eventfd2, 1, O_NONBLOCK, 0);
	raw3(SYS_timerfd_create, CLOCK_MONOTONIC, O_NONBLOCK, 0);
	raw3(SYS_epoll_create1, 0, 0, 0);
	raw6(SYS_signalfd4, -1, (long)scratch, 8, O_NONBLOCK, 0, 0);
	arena = mmap(NULL, PAGES << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		_exit(2);
	mmap(arena + (16 << 12), 16 << 12, PROT_READ | PROT_WRITE,
	     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mmap(arena + (32 << 12), 8 << 12, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, mem, 0);
	mmap(arena + (40 << 12), 8 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, mem, 0);
}

/* A thread without libc: it makes calls like the first one until the batch is through. */
static int second(void *arg)
{
	static struct shared mine;
	uint64_t seed = *(uint64_t *)arg;

	for (int i = 0; i < BATCH; i++)
		one_call(&seed, &mine);
	raw3(SYS_exit, 0, 0, 0);
	return 0;
}

static void child(uint64_t seed, struct shared *s, unsigned batch)
{
	static char stack[65536] __attribute__((aligned(16)));
	static uint64_t other;
	struct rlimit files = { 64, 64 }, space = { 256ul << 20, 256ul << 20 }, none = { 0, 0 };
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3; i++)
		dup2(null, i);
	setpgid(0, 0);
	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_AS, &space);
	setrlimit(RLIMIT_CORE, &none);
	if (chdir(DIR) < 0)
		_exit(2);
	alarm(1);
	furnish();
	if (seed & 2 && setuid(65534) < 0)
		_exit(3);
	other = ~seed;
	if (seed & 1)
		clone(second, stack + sizeof(stack),
		      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			      CLONE_SYSVSEM,
		      &other);
	for (unsigned i = 0; i < batch; i++)
		one_call(&seed, s);
	_exit(0);
}

/* Waits for a child that may have blocked every signal. => its wait status, -1 if it had to go */
static int wait_for(pid_t pid)
{
	int status;

	for (int ms = 0; ms < 1500; ms++) {
		struct timespec t = { 0, 1000000 };
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid)
			return status;
		nanosleep(&t, NULL);
	}
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

/* A child that is root may have removed what the next one needs. */
static void restore(void)
{
	static const struct {
		const char *name;
		unsigned minor;
	} nodes[] = {
		{ "/dev/null", 3 }, { "/dev/zero", 5 }, { "/dev/full", 7 }, { "/dev/urandom", 9 }
	};

	umask(0);
	mkdir(DIR, 0777);
	mkdir(DIR "/dir", 0777);
	for (unsigned i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		mknod(nodes[i].name, S_IFCHR | 0666, makedev(1, nodes[i].minor));
}

/* Shared memory segments outlive their makers; give them back. */
static void remove_segments(void)
{
	char line[512];
	FILE *f = fopen("/proc/sysvipc/shm", "re");
	long key, id;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%ld %ld", &key, &id) == 2)
			raw3(SYS_shmctl, id, 0 /* IPC_RMID */, 0);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? number("sysfuzz", argv[1]) : 10000;
	uint64_t seed = argc > 2 ? number("sysfuzz", argv[2]) : 1, total = 0, start;
	unsigned children = 0, killed[65] = { 0 }, hung = 0;
	struct shared *s =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		die("sysfuzz: mmap");
	signal(SIGHUP, SIG_IGN);
	for (start = clock_ns(CLOCK_MONOTONIC); total < count; children++) {
		unsigned batch = count - total < BATCH ? (unsigned)(count - total) : BATCH;
		uint64_t child_seed = random_next(&seed);
		pid_t pid;
		int status;

		s->done = 0;
		restore();
		pid = fork();
		if (pid < 0)
			die("sysfuzz: fork");
		if (pid == 0)
			child(child_seed, s, batch);
		status = wait_for(pid);
		kill(-pid, SIGKILL);
		if (status < 0)
			hung++;
		else if (WIFSIGNALED(status))
			killed[WTERMSIG(status)]++;
		/* The child may have written over the count; one call was made at least. */
		total += s->done >= 1 && s->done <= batch ? s->done : 1;
	}
	/* A line of its own: a child may have written to the console. */
	printf("\nsysfuzz: %llu calls by %u children in %llu ms", (unsigned long long)total,
	       children, (unsigned long long)((clock_ns(CLOCK_MONOTONIC) - start) / 1000000));
	for (int i = 1; i < 65; i++)
		if (killed[i])
			printf(", signal %d: %u", i, killed[i]);
	printf(", stopped by force: %u\n", hung);
	remove_segments();
	for (int fd = 0; fd < 3; fd++)
		flock(fd, LOCK_UN); /* a child's lock belongs to the open file it has from us */
	restore();
	if (system("rm -rf " DIR) != 0)
		printf("sysfuzz: " DIR " could not be removed\n");
	return 0;
}
