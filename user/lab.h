/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab.h - what the lab's programs share: raw system calls, the time-stamp counter, a seeded
 * random generator, small file helpers. Plain Linux programs; they run on Linux as well.
 */
#ifndef USER_LAB_H
#define USER_LAB_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* The system call itself, without libc's errno: a negative errno on failure. */
static inline long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long raw3(long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

/* On the virtual clock the counter advances by one per instruction. */
static inline uint64_t tsc(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

static inline uint64_t clock_ns(int clock)
{
	struct timespec t;

	raw3(SYS_clock_gettime, clock, (long)&t, 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* splitmix64: the same numbers from the same seed, everywhere. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static inline void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Reads a small file into text, NUL-terminated. => bytes read, or -1. */
static inline ssize_t slurp(const char *path, char *text, size_t size)
{
	size_t have = 0;
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	while (have + 1 < size && (n = read(fd, text + have, size - 1 - have)) > 0)
		have += (size_t)n;
	close(fd);
	text[have] = 0;
	return n < 0 ? -1 : (ssize_t)have;
}

/* A number from the command line; says what is wrong with it and exits when it is none. */
static inline unsigned long number(const char *what, const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 0);

	if (*end == 'k' || *end == 'K')
		value <<= 10, end++;
	else if (*end == 'm' || *end == 'M')
		value <<= 20, end++;
	else if (*end == 'g' || *end == 'G')
		value <<= 30, end++;
	if (end == text || *end) {
		fprintf(stderr, "%s: '%s' is not a number\n", what, text);
		exit(2);
	}
	return value;
}

#endif
