/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timed - how long a command takes.
 *
 *	timed NAME COMMAND...	runs it and prints "@time NAME microseconds status"
 */
#include "lab.h"
#include <sys/wait.h>

int main(int argc, char **argv)
{
	uint64_t t0 = clock_ns(CLOCK_MONOTONIC), t1;
	int status = -1;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: timed NAME COMMAND...\n");
		return 2;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	t1 = clock_ns(CLOCK_MONOTONIC);
	printf("@time %s %lu %d\n", argv[1], (unsigned long)((t1 - t0) / 1000),
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	return status != 0;
}
