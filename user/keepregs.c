/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keepregs.c - a system call leaves the registers alone that the program keeps across it.
 *
 *     keepregs MS      sleeps so long in one call, with known values in rbx, rbp and r12 - r15
 *
 * What goes on meanwhile (a tracer switched on or off) must not be seen in them afterwards.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#define NR 6
static const char *const name[NR] = { "rbx", "rbp", "r12", "r13", "r14", "r15" };
uint64_t after[NR] __attribute__((used)); /* the assembly names it */

__attribute__((naked, noinline)) static void sleep_with_values(const struct timespec *ts)
{
	__asm__ volatile("push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
			 "mov $35, %eax; xor %esi, %esi\n" /* nanosleep(ts, NULL) */
			 "mov $0x1111, %ebx; mov $0x2222, %ebp; mov $0x3333, %r12d\n"
			 "mov $0x4444, %r13d; mov $0x5555, %r14d; mov $0x6666, %r15d\n"
			 "syscall\n"
			 "mov %rbx, after(%rip); mov %rbp, after+8(%rip)\n"
			 "mov %r12, after+16(%rip); mov %r13, after+24(%rip)\n"
			 "mov %r14, after+32(%rip); mov %r15, after+40(%rip)\n"
			 "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
			 "ret\n");
}

int main(int argc, char **argv)
{
	unsigned long ms = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	struct timespec ts = { .tv_sec = (time_t)(ms / 1000),
			       .tv_nsec = (long)(ms % 1000) * 1000000 };
	int bad = 0;

	_Static_assert(SYS_nanosleep == 35, "the number above");
	if (!ms) {
		fputs("keepregs MS\n", stderr);
		return 2;
	}
	sleep_with_values(&ts);
	for (int i = 0; i < NR; i++) {
		if (after[i] == 0x1111u * (unsigned int)(i + 1))
			continue;
		printf("keepregs: %s is %#llx\n", name[i], (unsigned long long)after[i]);
		bad = 1;
	}
	puts(bad ? "keepregs: wrong" : "keepregs: kept");
	return bad;
}
