/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forkbomb - many processes at once, with a bound.
 *
 *	forkbomb [PROCESSES [DEPTH]]
 *
 * Each process forks until it is refused or the total is reached; DEPTH levels of them. All sleep
 * until everyone is there, then all are killed and waited for. Says how many there were.
 */
#include "lab.h"
#include <sys/mman.h>
#include <sys/wait.h>

struct shared {
	int made, refused;
};

static void level(struct shared *s, int limit, int depth)
{
	for (;;) {
		pid_t pid;

		if (__atomic_add_fetch(&s->made, 1, __ATOMIC_SEQ_CST) > limit) {
			__atomic_sub_fetch(&s->made, 1, __ATOMIC_SEQ_CST);
			break;
		}
		pid = fork();
		if (pid < 0) {
			__atomic_sub_fetch(&s->made, 1, __ATOMIC_SEQ_CST);
			__atomic_add_fetch(&s->refused, 1, __ATOMIC_SEQ_CST);
			break;
		}
		if (pid == 0) {
			if (depth > 1)
				level(s, limit, depth - 1);
			for (;;)
				pause();
		}
	}
}

int main(int argc, char **argv)
{
	int limit = argc > 1 ? (int)number("forkbomb", argv[1]) : 1000;
	int depth = argc > 2 ? (int)number("forkbomb", argv[2]) : 3;
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t leader;
	int status;

	if (s == MAP_FAILED)
		die("forkbomb: mmap");
	leader = fork();
	if (leader < 0)
		die("forkbomb: fork");
	if (leader == 0) {
		setpgid(0, 0);
		level(s, limit, depth);
		for (;;)
			pause();
	}
	setpgid(leader, leader);
	for (int last = -1; last != s->made; usleep(20000))
		last = s->made;
	kill(-leader, SIGKILL);
	while (waitpid(-leader, &status, 0) > 0 || errno == EINTR)
		;
	printf("forkbomb: %d processes, %d forks refused\n", s->made, s->refused);
	return 0;
}
