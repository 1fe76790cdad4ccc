/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * share - do pinned loops without system calls each get their share?
 *
 *	share [CPUS [MILLISECONDS]]
 *
 * One process per CPU counts as fast as it can until told to stop. On an emulator with one
 * thread for all CPUs a careless timer tick starves a CPU completely. Exit status 1 when a
 * process gets less than 80 % of an equal share.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MAX 64

struct shared {
	volatile int ready[MAX], go, stop;
	volatile uint64_t count[MAX][8]; /* a cache line each */
};

static void child(struct shared *s, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		_exit(2);
	s->ready[cpu] = 1;
	while (!s->go)
		;
	while (!s->stop)
		s->count[cpu][0]++;
	_exit(0);
}

static void sleep_ns(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

int main(int argc, char **argv)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	int cpus = argc > 1 ? (int)number("share", argv[1]) : (int)online;
	uint64_t ms = argc > 2 ? number("share", argv[2]) : 1000, sum = 0;
	int bad = 0, status, all;
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		die("share: mmap");
	if (cpus < 1 || cpus > MAX || cpus > online) {
		fprintf(stderr, "share: %d CPUs: this machine has %ld\n", cpus, online);
		return 2;
	}
	for (int i = 0; i < cpus; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("share: fork");
		if (pid == 0)
			child(s, i);
	}
	do {
		sleep_ns(1000000);
		all = 1;
		for (int i = 0; i < cpus; i++)
			all &= s->ready[i];
	} while (!all);
	s->go = 1;
	sleep_ns(ms * 1000000);
	s->stop = 1;
	for (int i = 0; i < cpus; i++)
		if (wait(&status) < 0 || status)
			bad = 1;
	for (int i = 0; i < cpus; i++)
		sum += s->count[i][0];
	for (int i = 0; i < cpus; i++) {
		uint64_t percent = sum ? s->count[i][0] * 100 * (uint64_t)cpus / sum : 0;

		printf("cpu %d: %llu counts, %llu %% of its share\n", i,
		       (unsigned long long)s->count[i][0], (unsigned long long)percent);
		bad |= percent < 80;
	}
	printf("share: %s\n", bad ? "FAIL" : "ok");
	return bad;
}
