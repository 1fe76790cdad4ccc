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
 */
#define _GNU_SOURCE
#include "lab.h"
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define BATCH 200
#define DIR "/tmp/sysfuzz"

struct shared {
	volatile uint64_t done;
	volatile int last;
};

static const char *const paths[] = {
	DIR "/a", DIR "/b", DIR "/dir", DIR "/dir/c", DIR "/missing", "/proc/self/maps",
	"/proc/self/stat", "/proc/meminfo", "/proc/vmstat", "/sys/devices/system/node/node0/meminfo",
	"/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "", ".", "..", "/",
};
#define NR_PATHS (sizeof(paths) / sizeof(paths[0]))

static char scratch[4 * 4096] __attribute__((aligned(4096)));

static int left_out(long nr)
{
	switch (nr) {
	case SYS_exit: case SYS_exit_group: case SYS_reboot: case SYS_rt_sigreturn:
	case SYS_kill: case SYS_tkill: case SYS_tgkill: case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo: case SYS_settimeofday: case SYS_clock_settime:
	case SYS_adjtimex: case SYS_clock_adjtime: case SYS_umount2: case SYS_mount:
	case SYS_acct: case SYS_quotactl: case SYS_pivot_root: case SYS_swapon: case SYS_swapoff: case SYS_vhangup:
	case SYS_pause: case SYS_rt_sigsuspend: case SYS_syslog: case SYS_kexec_load:
	case SYS_init_module: case SYS_delete_module: case SYS_iopl: case SYS_ioperm:
	case SYS_ptrace: case SYS_setpriority: case SYS_process_vm_writev:
	case 424 /* pidfd_send_signal */: case 448 /* process_mrelease */:
	case SYS_migrate_pages: case SYS_move_pages: case SYS_sched_setaffinity:
	case SYS_sched_setscheduler: case SYS_sched_setparam: case SYS_sched_setattr:
	case SYS_prlimit64:
		return 1;
	}
	return 0;
}

/* Calls that act on others by a process id are made, but on the caller itself. */
static int takes_pid(long nr)
{
	switch (nr) {
	case SYS_kill: case SYS_tkill: case SYS_sched_setaffinity: case SYS_sched_setscheduler:
	case SYS_sched_setparam: case SYS_prlimit64: case SYS_move_pages:
		return 1;
	}
	return 0;
}

static unsigned long argument(uint64_t *seed)
{
	uint64_t r = random_next(seed), v = random_next(seed);

	switch (r % 16) {
	case 0: return v % 16;                                       /* descriptor, small flag */
	case 1: return v % 4096;
	case 2: return 0;
	case 3: return ~0ul;
	case 4: return -(v % 4096);
	case 5: return (unsigned long)scratch + v % sizeof(scratch);
	case 6: return (unsigned long)scratch + sizeof(scratch) - v % 16; /* runs off the end */
	case 7: return (unsigned long)paths[v % NR_PATHS];
	case 8: return 0xffffffff80000000 + v % (64 << 20);          /* kernel image */
	case 9: return 0xffff800000000000 + v % (1ul << 40);         /* other kernel half */
	case 10: return 0x7fffffffe000 + v % 16384;                  /* the edge of user space */
	case 11: return 0x8000000000000000 | v;
	case 12: return 1ul << v % 64;
	case 13: return (1ul << v % 64) - 1;
	case 14: return (v % 64) << 12;                              /* page-sized lengths */
	default: return v;
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

static void one_call(uint64_t *seed, struct shared *s)
{
	unsigned long a[6];
	long nr;

	do
		nr = (long)(random_next(seed) % 460);
	while (left_out(nr) && !takes_pid(nr));
	for (int i = 0; i < 6; i++)
		a[i] = argument(seed);
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

static void child(uint64_t seed, struct shared *s, unsigned batch)
{
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
	struct shared *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				-1, 0);

	if (s == MAP_FAILED)
		die("sysfuzz: mmap");
	signal(SIGHUP, SIG_IGN);
	mkdir(DIR, 0755);
	for (start = clock_ns(CLOCK_MONOTONIC); total < count; children++) {
		unsigned batch = count - total < BATCH ? (unsigned)(count - total) : BATCH;
		uint64_t child_seed = random_next(&seed);
		pid_t pid;
		int status;

		s->done = 0;
		mkdir(DIR "/dir", 0755);
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
	printf("sysfuzz: %llu calls by %u children in %llu ms", (unsigned long long)total, children,
	       (unsigned long long)((clock_ns(CLOCK_MONOTONIC) - start) / 1000000));
	for (int i = 1; i < 65; i++)
		if (killed[i])
			printf(", signal %d: %u", i, killed[i]);
	printf(", stopped by force: %u\n", hung);
	remove_segments();
	if (system("rm -rf " DIR) != 0)
		printf("sysfuzz: " DIR " could not be removed\n");
	return 0;
}
