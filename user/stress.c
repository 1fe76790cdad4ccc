/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stress - many CPUs at one thing. Plain Linux programs' work, done by several at once, with
 * checks.
 *
 *	stress [-n ROUNDS] [-s SEED] [-j WORKERS] [TEST...]		without TEST: all, in order
 *
 * Problem: races show only when two do the same thing at the same moment, and a race that was lost
 * often shows only as a wrong number. Idea: each test has an invariant that its result must fulfil
 * whatever the order was: nothing changes behind mprotect, a child keeps the memory it was born
 * with, counters add up, every token arrives. Counted in rounds, never in time; random choices come
 * from the seed. The exit status is the number of tests that failed.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define FUTEX_WAIT 0
#define FUTEX_WAKE 1
#define FUTEX_REQUEUE 3
#define PAGE 4096ul
#define DIR_NAME "/tmp/stress"
#define MAX_WORKERS 64

static unsigned rounds = 100, workers = 4;
static uint64_t first_seed = 1;
static int *wrong; /* shared by all processes */

static void bad(const char *format, ...)
{
	va_list ap;

	if (__atomic_fetch_add(wrong, 1, __ATOMIC_SEQ_CST) > 5)
		return;
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

static void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("stress: mmap");
	return p;
}

static pid_t checked_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("stress: fork");
	return pid;
}

static void checked_wait(pid_t pid, const char *who)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			bad("%s: wait: %s", who, strerror(errno));
			return;
		}
	if (status)
		bad("%s: child ended with status %#x", who, status);
}

/* fn(number, seed) in as many processes as there are workers. */
static void in_processes(const char *name, void (*fn)(unsigned, uint64_t))
{
	pid_t pids[MAX_WORKERS];

	for (unsigned i = 0; i < workers; i++) {
		pids[i] = checked_fork();
		if (pids[i] == 0) {
			fn(i, first_seed * 1000 + i);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < workers; i++)
		checked_wait(pids[i], name);
}

static void in_threads(void *(*fn)(void *))
{
	pthread_t t[MAX_WORKERS];

	for (unsigned long i = 0; i < workers; i++)
		if (pthread_create(&t[i], NULL, fn, (void *)i)) {
			bad("no thread");
			workers = (unsigned)i;
		}
	for (unsigned i = 0; i < workers; i++)
		pthread_join(t[i], NULL);
}

/* ---- shoot: other CPUs' translations ---- */

static volatile unsigned long *target; /* a page others write to */
static volatile int shoot_stop, shoot_closed;
static __thread sigjmp_buf shoot_escape;

static void shoot_fault(int sig)
{
	siglongjmp(shoot_escape, 1);
}

static void *shoot_writer(void *arg)
{
	volatile unsigned long n = 0;

	sigsetjmp(shoot_escape, 1);
	while (!shoot_stop) {
		if (shoot_closed) {
			sched_yield();
			continue;
		}
		target[(unsigned long)arg] = ++n;
	}
	return NULL;
}

static unsigned long sum_of(const volatile unsigned long *p)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < workers; i++)
		sum += p[i];
	return sum;
}

static void hold_still(const char *what)
{
	unsigned long before = sum_of(target);

	for (int i = 0; i < 50; i++)
		if (sum_of(target) != before) {
			bad("shoot: the page changed behind %s", what);
			return;
		}
}

static void shoot_fork(void)
{
	pid_t pid = checked_fork();

	if (pid == 0) {
		hold_still("fork"); /* the parent's threads go on in their own copy */
		_exit(0);
	}
	checked_wait(pid, "shoot");
}

static void shoot_replace(void)
{
	void *p;

	shoot_closed = 1;
	munmap((void *)target, PAGE);
	p = mmap((void *)target, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p == MAP_FAILED || sum_of(target))
		bad("shoot: a new page is not zero");
	hold_still("munmap");
	mprotect((void *)target, PAGE, PROT_READ | PROT_WRITE);
	shoot_closed = 0;
}

static void test_shoot(void)
{
	struct sigaction sa = { .sa_handler = shoot_fault, .sa_flags = SA_NODEFER };
	uint64_t seed = first_seed;
	pthread_t t[MAX_WORKERS];

	target = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &sa, NULL);
	shoot_stop = shoot_closed = 0;
	for (unsigned long i = 0; i < workers; i++)
		pthread_create(&t[i], NULL, shoot_writer, (void *)i);
	for (unsigned i = 0; i < rounds; i++) {
		switch (random_next(&seed) % 4) {
		case 0:
		case 1:
			shoot_closed = random_next(&seed) & 1;
			mprotect((void *)target, PAGE, PROT_READ);
			hold_still("mprotect");
			mprotect((void *)target, PAGE, PROT_READ | PROT_WRITE);
			shoot_closed = 0;
			break;
		case 2:
			shoot_fork();
			break;
		case 3:
			shoot_replace();
			break;
		}
		sched_yield();
	}
	shoot_stop = 1;
	for (unsigned i = 0; i < workers; i++)
		pthread_join(t[i], NULL);
	signal(SIGSEGV, SIG_DFL);
	munmap((void *)target, PAGE);
}

/* ---- cow: everybody's copy is his own ---- */

#define COW_PAGES 16

static void cow_fill(unsigned long *area, unsigned long mark, uint64_t *seed)
{
	for (int i = 0; i < COW_PAGES; i++)
		if (random_next(seed) & 1)
			area[(unsigned long)i * PAGE / 8 + mark % 512] = mark;
}

static unsigned long cow_sum(const unsigned long *area)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < COW_PAGES * PAGE / 8; i++)
		sum = sum * 31 + area[i];
	return sum;
}

static void cow_tree(unsigned long *area, unsigned depth, uint64_t seed)
{
	pid_t pids[2];
	unsigned long sum;

	cow_fill(area, seed | 1, &seed);
	sum = cow_sum(area);
	for (int i = 0; i < 2 && depth; i++) {
		pids[i] = checked_fork();
		if (pids[i] == 0) {
			if (cow_sum(area) != sum)
				bad("cow: a child sees other memory than its parent had");
			cow_tree(area, depth - 1, seed + (unsigned)i);
			_exit(0);
		}
		cow_fill(area, seed ^ 5, &seed);
		sum = cow_sum(area);
	}
	for (int i = 0; i < 2 && depth; i++)
		checked_wait(pids[i], "cow");
	if (cow_sum(area) != sum)
		bad("cow: memory changed by itself");
}

static void cow_worker(unsigned number_, uint64_t seed)
{
	unsigned long *area = mmap(NULL, COW_PAGES * PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned i = 0; i < rounds / 20 + 1; i++)
		cow_tree(area, 3, random_next(&seed));
}

static void test_cow(void)
{
	in_processes("cow", cow_worker);
}

/* ---- maps: threads map, unmap and protect in one address space ---- */

static void *maps_worker(void *arg)
{
	uint64_t seed = first_seed + (unsigned long)arg;
	unsigned long *at[8] = { NULL }, size[8] = { 0 };

	for (unsigned i = 0; i < rounds * 10; i++) {
		uint64_t r = random_next(&seed);
		unsigned k = r % 8;

		if (!at[k]) {
			size[k] = 1 + (r >> 8) % 8;
			at[k] = mmap(NULL, size[k] * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (at[k] == MAP_FAILED) {
				bad("maps: mmap: %s", strerror(errno));
				return NULL;
			}
			for (unsigned long p = 0; p < size[k]; p++) {
				if (at[k][p * PAGE / 8])
					bad("maps: a new page is not zero");
				at[k][p * PAGE / 8] = (unsigned long)&at[k][p] ^ seed;
			}
			at[k][1] = seed;
			continue;
		}
		for (unsigned long p = 0; p < size[k]; p++)
			if (at[k][p * PAGE / 8] != ((unsigned long)&at[k][p] ^ at[k][1]))
				bad("maps: somebody else's page");
		if (r & 0x10000) {
			mprotect(at[k], size[k] * PAGE, PROT_READ);
			mprotect(at[k], PAGE, PROT_READ | PROT_WRITE);
			mprotect(at[k], size[k] * PAGE, PROT_READ | PROT_WRITE);
		} else {
			munmap(at[k], size[k] * PAGE);
			at[k] = NULL;
		}
	}
	for (int k = 0; k < 8; k++)
		if (at[k])
			munmap(at[k], size[k] * PAGE);
	return NULL;
}

static void test_maps(void)
{
	in_threads(maps_worker);
}

/* ---- file: one file mapped, written, cut by all ---- */

#define FILE_PAGES 16
static sigjmp_buf file_escape;

static void file_fault(int sig)
{
	siglongjmp(file_escape, sig);
}

/* Every word ever written is its offset times two plus one: whatever is read is that or zero. */
static void file_step(int fd, volatile unsigned long *map, uint64_t r)
{
	unsigned long word = r % (FILE_PAGES * PAGE / 8), value = word * 16 + 1;

	switch (r >> 32 & 15) {
	case 0:
		if (ftruncate(fd, (off_t)(r >> 40) % (FILE_PAGES * (off_t)PAGE)) < 0)
			bad("file: ftruncate: %s", strerror(errno));
		break;
	case 1:
	case 2:
		if (ftruncate(fd, FILE_PAGES * PAGE) < 0)
			bad("file: ftruncate: %s", strerror(errno));
		break;
	case 3:
		mprotect((void *)(map + word / 512 * 512), PAGE, PROT_READ);
		break;
	case 4:
		mprotect((void *)map, FILE_PAGES * PAGE, PROT_READ | PROT_WRITE);
		break;
	case 5:
		madvise((void *)(map + word / 512 * 512), PAGE, MADV_DONTNEED);
		break;
	case 6:
	case 7:
		if (pwrite(fd, &value, 8, (off_t)word * 8) != 8)
			bad("file: write");
		break;
	case 8:
		if (pread(fd, &value, 8, (off_t)word * 8) == 8 && value && value != word * 16 + 1)
			bad("file: read %#lx at word %lu", value, word);
		break;
	case 9:
		if (mmap((void *)map, FILE_PAGES * PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) != map)
			bad("file: mmap: %s", strerror(errno));
		break;
	case 10:
	case 11:
	case 12:
		map[word] = value;
		break;
	default:
		value = map[word];
		if (value && value != word * 16 + 1)
			bad("file: found %#lx at word %lu", value, word);
	}
}

static void file_worker(unsigned number_, uint64_t seed)
{
	struct sigaction sa = { .sa_handler = file_fault, .sa_flags = SA_NODEFER };
	int fd = open(DIR_NAME "/file", O_RDWR | O_CREAT, 0600);
	static uint64_t state; /* outlives the long jump */
	static unsigned i;
	void *map;

	sigaction(SIGBUS, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	if (fd < 0 || ftruncate(fd, FILE_PAGES * PAGE) < 0)
		die("stress: file");
	map = mmap(NULL, FILE_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	state = seed;
	i = 0;
	sigsetjmp(file_escape, 1);
	while (i++ < rounds * 20)
		file_step(fd, map, random_next(&state));
}

static void test_file(void)
{
	in_processes("file", file_worker);
	unlink(DIR_NAME "/file");
}

/* ---- names: one directory for all ---- */

static void names_worker(unsigned number_, uint64_t seed)
{
	char a[64], b[64];

	for (unsigned i = 0; i < rounds * 10; i++) {
		uint64_t r = random_next(&seed);
		struct dirent *e;
		DIR *d;
		int fd;

		snprintf(a, sizeof(a), DIR_NAME "/d%u/n%u", (unsigned)(r >> 8) % 3,
			 (unsigned)(r >> 16) % 8);
		snprintf(b, sizeof(b), DIR_NAME "/d%u/n%u", (unsigned)(r >> 24) % 3,
			 (unsigned)(r >> 32) % 8);
		switch (r % 12) {
		case 0:
		case 1:
			fd = open(a, O_CREAT | O_RDWR, 0600);
			if (fd >= 0 && write(fd, a, 8) != 8)
				bad("names: write");
			if (fd >= 0)
				close(fd);
			break;
		case 2:
			unlink(a);
			break;
		case 3:
		case 4:
			rename(a, b);
			break;
		case 5:
			link(a, b);
			break;
		case 6:
			symlink(a, b);
			break;
		case 7:
			mkdir(a, 0700);
			break;
		case 8:
			rmdir(a);
			break;
		case 9:
			raw6(SYS_renameat2, AT_FDCWD, (long)a, AT_FDCWD, (long)b, 2 /* exchange */,
			     0);
			break;
		case 10:
			fd = open(a, O_RDONLY);
			if (fd >= 0)
				close(fd);
			break;
		default:
			b[sizeof(DIR_NAME) + 2] = 0;
			d = opendir(b);
			if (!d) {
				bad("names: %s: %s", b, strerror(errno));
				break;
			}
			while ((e = readdir(d)))
				if (!strchr("n.", e->d_name[0]))
					bad("names: strange name %s", e->d_name);
			closedir(d);
		}
	}
}

static void test_names(void)
{
	mkdir(DIR_NAME "/d0", 0700);
	mkdir(DIR_NAME "/d1", 0700);
	mkdir(DIR_NAME "/d2", 0700);
	in_processes("names", names_worker);
	if (system("rm -rf " DIR_NAME "/d0 " DIR_NAME "/d1 " DIR_NAME "/d2"))
		bad("names: what is left cannot be removed");
}

/* ---- pipes: a ring of processes, and many writers to one pipe ---- */

static void test_ring(void)
{
	int ring[MAX_WORKERS][2];
	pid_t pids[MAX_WORKERS];
	unsigned long token = 0;

	for (unsigned i = 0; i <= workers; i++)
		if (pipe2(ring[i], O_CLOEXEC) < 0)
			die("stress: pipe");
	for (unsigned i = 0; i < workers; i++) {
		pids[i] = checked_fork();
		if (pids[i])
			continue;
		for (unsigned k = 0; k < rounds * 10; k++) {
			if (read(ring[i][0], &token, 8) != 8)
				bad("ring: read");
			token++;
			if (write(ring[i + 1][1], &token, 8) != 8)
				bad("ring: write");
		}
		_exit(0);
	}
	for (unsigned k = 0; k < rounds * 10; k++) {
		if (write(ring[0][1], &token, 8) != 8 || read(ring[workers][0], &token, 8) != 8)
			bad("ring: no token");
		if (token != (k + 1ul) * workers)
			bad("ring: token %lu", token);
	}
	for (unsigned i = 0; i <= workers; i++) {
		close(ring[i][0]);
		close(ring[i][1]);
		if (i < workers)
			checked_wait(pids[i], "ring");
	}
}

static int many_pipe[2];

static void many_worker(unsigned number_, uint64_t seed)
{
	unsigned long record[64];

	for (unsigned i = 0; i < rounds * 4; i++) {
		for (int k = 0; k < 64; k++)
			record[k] = (unsigned long)number_ << 32 | i;
		if (write(many_pipe[1], record, sizeof(record)) != sizeof(record))
			bad("many: short write");
	}
}

static void test_many(void)
{
	unsigned long record[64], next[MAX_WORKERS] = { 0 };
	unsigned got = 0;
	pid_t reader;
	ssize_t n;

	if (pipe(many_pipe) < 0)
		die("stress: pipe");
	reader = checked_fork();
	if (reader) {
		close(many_pipe[0]);
		in_processes("many", many_worker);
		close(many_pipe[1]);
		checked_wait(reader, "many");
		return;
	}
	close(many_pipe[1]);
	while ((n = read(many_pipe[0], record, sizeof(record))) == sizeof(record)) {
		unsigned long who = record[0] >> 32;

		if (who >= workers || (record[0] & 0xffffffff) != next[who]++ ||
		    record[63] != record[0])
			bad("many: record of %lu torn or out of order", who);
		got++;
	}
	if (got != workers * rounds * 4)
		bad("many: %u records, then %zd (%s)", got, n, n < 0 ? strerror(errno) : "end");
	_exit(0);
}

/* ---- futex: a lock of our own, a condition, requeue ---- */

static struct lock_area {
	int lock, sequence, unlocked;
	unsigned long count;
} * area;

static long futex(int *word, int op, int value, long timeout, int *word2, int value3)
{
	return raw6(SYS_futex, (long)word, op, value, timeout, (long)word2, value3);
}

static void lock(int *word)
{
	int c = 0;

	if (__atomic_compare_exchange_n(word, &c, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE))
		futex(word, FUTEX_WAIT, 2, 0, NULL, 0);
}

static void unlock(int *word)
{
	if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
		futex(word, FUTEX_WAKE, 1, 0, NULL, 0);
}

static void futex_worker(unsigned number_, uint64_t seed)
{
	for (unsigned i = 0; i < rounds * 20; i++) {
		lock(&area->lock);
		area->count++;
		if (random_next(&seed) % 16 == 0)
			sched_yield();
		unlock(&area->lock);
	}
}

/*
 * Everybody waits until all are there; the last one wakes one and moves the others to a second
 * word.
 */
static void barrier_worker(unsigned number_, uint64_t seed)
{
	for (unsigned i = 0; i < rounds * 2; i++) {
		int now = __atomic_load_n(&area->sequence, __ATOMIC_SEQ_CST);

		if (__atomic_add_fetch(&area->count, 1, __ATOMIC_SEQ_CST) % workers == 0) {
			__atomic_add_fetch(&area->sequence, 1, __ATOMIC_SEQ_CST);
			futex(&area->sequence, FUTEX_REQUEUE, 1, INT_MAX, &area->unlocked, 0);
			futex(&area->unlocked, FUTEX_WAKE, INT_MAX, 0, NULL, 0);
			continue;
		}
		while (__atomic_load_n(&area->sequence, __ATOMIC_SEQ_CST) == now)
			futex(&area->sequence, FUTEX_WAIT, now, 0, NULL, 0);
	}
}

static void test_futex(void)
{
	area = shared(sizeof(*area));
	in_processes("futex", futex_worker);
	if (area->count != (unsigned long)workers * rounds * 20)
		bad("futex: counted %lu", area->count);
	area->count = 0;
	in_processes("barrier", barrier_worker);
	if (area->sequence != (int)rounds * 2)
		bad("futex: %d barriers", area->sequence);
	munmap(area, sizeof(*area));
}

/* ---- signals: queued ones arrive, each once ---- */

static volatile unsigned signals_got;
static volatile unsigned long signals_sum;

static void signals_handler(int sig, siginfo_t *info, void *context)
{
	signals_got++;
	signals_sum += (unsigned long)info->si_value.sival_int;
}

static void test_signals(void)
{
	struct sigaction sa = { .sa_sigaction = signals_handler,
				.sa_flags = SA_SIGINFO | SA_RESTART };
	unsigned each = rounds * 2;
	pid_t parent = getpid(), pids[MAX_WORKERS];

	signals_got = 0;
	signals_sum = 0;
	sigaction(SIGRTMIN + 1, &sa, NULL);
	for (unsigned i = 0; i < workers; i++) {
		pids[i] = checked_fork();
		if (pids[i])
			continue;
		for (unsigned k = 0; k < each; k++)
			while (sigqueue(parent, SIGRTMIN + 1,
					(union sigval){ .sival_int = (int)k }) < 0)
				if (errno != EAGAIN)
					bad("signals: %s", strerror(errno));
				else
					sched_yield();
		_exit(0);
	}
	for (unsigned i = 0; i < workers; i++)
		checked_wait(pids[i], "signals");
	if (signals_got != workers * each ||
	    signals_sum != (unsigned long)workers * each * (each - 1) / 2)
		bad("signals: %u of %u came", signals_got, workers * each);
	signal(SIGRTMIN + 1, SIG_DFL);
}

/* Stop and continue: the child goes on counting after each pair. */
static void test_jobs(void)
{
	volatile unsigned long *count = shared(PAGE);
	pid_t pid = checked_fork();
	int status;

	if (pid == 0)
		for (;;)
			(*count)++;
	for (unsigned i = 0; i < rounds; i++) {
		unsigned long before;

		kill(pid, SIGSTOP);
		if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
			bad("jobs: not stopped: %#x", status);
		before = *count;
		sched_yield();
		if (*count != before)
			bad("jobs: it runs although it is stopped");
		kill(pid, SIGCONT);
		if (waitpid(pid, &status, WCONTINUED) != pid || !WIFCONTINUED(status))
			bad("jobs: not continued: %#x", status);
		while (*count == before)
			sched_yield();
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	munmap((void *)count, PAGE);
}

/* ---- lives: fork, threads, exec, exit all at once ---- */

static void *lives_thread(void *arg)
{
	uint64_t seed = (unsigned long)arg;

	switch (random_next(&seed) % 4) {
	case 0:
		_exit(7);
	case 1:
		raw3(SYS_exit, 0, 0, 0);
		break;
	case 2:
		kill(getpid(), SIGKILL);
		break;
	default:
		execl("/proc/self/exe", "stress", "-x", NULL);
		execl("/bin/stress", "stress", "-x", NULL);
	}
	return NULL;
}

static void lives_worker(unsigned number_, uint64_t seed)
{
	for (unsigned i = 0; i < rounds / 4 + 1; i++) {
		uint64_t r = random_next(&seed);
		pid_t pid = checked_fork();
		int status;

		if (pid == 0) {
			pthread_t t;

			for (unsigned k = 0; k < 1 + r / 2 % 4; k++)
				pthread_create(&t, NULL, lives_thread, (void *)(r + k));
			for (unsigned k = 0; k < r / 64 % 4; k++)
				if (fork() == 0)
					_exit(0);
			if (r & 1024)
				_exit(7);
			for (;;)
				pause();
		}
		usleep((useconds_t)(r >> 40) % 2000);
		kill(pid, SIGKILL);
		if (waitpid(pid, &status, 0) != pid)
			bad("lives: wait");
		else if (!(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) &&
			 !(WIFEXITED(status) &&
			   (WEXITSTATUS(status) == 7 || WEXITSTATUS(status) == 8)))
			bad("lives: status %#x", status);
	}
}

static void test_lives(void)
{
	in_processes("lives", lives_worker);
}

/* ---- mounts ---- */

static void mounts_worker(unsigned number_, uint64_t seed)
{
	char name[64], file[80];

	for (unsigned i = 0; i < rounds; i++) {
		uint64_t r = random_next(&seed);
		int fd;

		snprintf(name, sizeof(name), DIR_NAME "/m%u", (unsigned)(r % 3));
		snprintf(file, sizeof(file), "%s/file", name);
		switch (r >> 8 & 3) {
		case 0:
			mount("none", name, "tmpfs", 0, "");
			break;
		case 1:
			umount2(name, r >> 16 & 1 ? MNT_DETACH : 0);
			break;
		default:
			fd = open(file, O_RDWR | O_CREAT, 0600);
			if (fd >= 0) {
				if (write(fd, file, 8) != 8)
					bad("mounts: write");
				close(fd);
			}
		}
	}
}

static void test_mounts(void)
{
	char name[64];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), DIR_NAME "/m%u", i);
		mkdir(name, 0700);
	}
	in_processes("mounts", mounts_worker);
	for (unsigned i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), DIR_NAME "/m%u", i);
		while (umount(name) == 0)
			;
		if (errno != EINVAL && errno != EPERM)
			bad("mounts: %s: %s", name, strerror(errno));
	}
}

/* ---- terminals: hung up while others use them ---- */

static void tty_child(const char *slave, uint64_t seed)
{
	char text[64];
	int fd;

	setsid();
	fd = open(slave, O_RDWR);
	if (fd < 0)
		_exit(0); /* the master is gone already */
	ioctl(fd, TIOCSCTTY, 0);
	for (;;)
		if (random_next(&seed) & 1 ? write(fd, "hello\n", 6) <= 0
					   : read(fd, text, sizeof(text)) <= 0)
			_exit(0);
}

static void tty_worker(unsigned number_, uint64_t seed)
{
	for (unsigned i = 0; i < rounds / 4 + 1; i++) {
		char slave[32], text[64];
		int master = open("/dev/ptmx", O_RDWR | O_NOCTTY), n, zero = 0, status;
		pid_t pid;

		if (master < 0)
			return; /* no pseudo terminals here */
		if (ioctl(master, TIOCSPTLCK, &zero) < 0 || ioctl(master, TIOCGPTN, &n) < 0) {
			bad("tty: no slave: %s", strerror(errno));
			return;
		}
		snprintf(slave, sizeof(slave), "/dev/pts/%d", n);
		pid = checked_fork();
		if (pid == 0) {
			close(master);
			tty_child(slave, seed);
		}
		fcntl(master, F_SETFL, O_NONBLOCK);
		for (unsigned k = 0; k < random_next(&seed) % 20; k++) {
			if (write(master, "typed\n", 6) < 0 && errno != EAGAIN)
				bad("tty: write: %s", strerror(errno));
			if (read(master, text, sizeof(text)) < 0 && errno != EAGAIN && errno != EIO)
				bad("tty: read: %s", strerror(errno));
		}
		close(master);
		if (waitpid(pid, &status, 0) != pid || (status && !WIFSIGNALED(status)))
			bad("tty: status %#x", status);
	}
}

static void test_tty(void)
{
	in_processes("tty", tty_worker);
}

/* ---------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "shoot", test_shoot }, { "cow", test_cow },	  { "maps", test_maps },
	{ "file", test_file },	 { "names", test_names }, { "ring", test_ring },
	{ "many", test_many },	 { "futex", test_futex }, { "signals", test_signals },
	{ "jobs", test_jobs },	 { "lives", test_lives }, { "mounts", test_mounts },
	{ "tty", test_tty },
};
#define NR_TESTS (sizeof(tests) / sizeof(tests[0]))

static int run(unsigned i)
{
	*wrong = 0;
	tests[i].run();
	printf("%-8s %s\n", tests[i].name, *wrong ? "WRONG" : "ok");
	return *wrong != 0;
}

int main(int argc, char **argv)
{
	int option, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt(argc, argv, "n:s:j:x")) != -1)
		switch (option) {
		case 'n':
			rounds = (unsigned)number("stress", optarg);
			break;
		case 's':
			first_seed = number("stress", optarg);
			break;
		case 'j':
			workers = (unsigned)number("stress", optarg);
			break;
		case 'x':
			return 8;
		default:
			return 2;
		}
	if (workers < 1 || workers >= MAX_WORKERS) {
		fprintf(stderr, "stress: -j %u: expected 1 to %d\n", workers, MAX_WORKERS - 1);
		return 2;
	}
	wrong = shared(PAGE);
	mkdir(DIR_NAME, 0700);
	for (unsigned i = 0; i < NR_TESTS; i++) {
		int wanted = optind == argc;

		for (int k = optind; k < argc; k++)
			wanted |= !strcmp(argv[k], tests[i].name);
		if (wanted)
			failed += run(i);
	}
	if (system("rm -rf " DIR_NAME))
		failed++;
	printf("stress: %d of %zu tests wrong, seed %lu, %u rounds, %u workers\n", failed, NR_TESTS,
	       (unsigned long)first_seed, rounds, workers);
	return failed;
}
