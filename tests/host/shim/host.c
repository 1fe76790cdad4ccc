/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host.c - the floor below host tests: main(), the test list, and weak stand-ins for the few kernel
 * services that pure files call (printk, panic, warnings). A test may define its own.
 */
#include "host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

static struct host_test *first, **last = &first;
static jmp_buf leave;
static int failed, in_panic_test, warnings;
static uint64_t seed, state;
char host_panic_text[256];

void host_register(struct host_test *test)
{
	*last = test;
	last = &test->next;
}

void host_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "# %s:%d: %s (SEED=%llu)\n", file, line, what, (unsigned long long)seed);
	failed = 1;
	longjmp(leave, 1);
}

void host_fail_eq(const char *file, int line, const char *what, long a, long b)
{
	fprintf(stderr, "# %ld (%#lx) against %ld (%#lx)\n", a, a, b, b);
	host_fail(file, line, what);
}

uint64_t host_random(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

int host_panics(void (*fn)(void))
{
	jmp_buf outer;
	int panicked;

	memcpy(outer, leave, sizeof(outer));
	in_panic_test = 1;
	host_panic_text[0] = 0;
	panicked = setjmp(leave);
	if (!panicked)
		fn();
	in_panic_test = 0;
	memcpy(leave, outer, sizeof(outer));
	return panicked != 0;
}

__attribute__((weak, noreturn, format(printf, 1, 2))) void panic(const char *fmt, ...);
__attribute__((weak, format(printf, 2, 3))) void printk(int level, const char *fmt, ...);
__attribute__((weak)) void vprintk(int level, const char *fmt, va_list ap);
__attribute__((weak)) void warn_at(const char *file, int line, const char *what);

void panic(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(host_panic_text, sizeof(host_panic_text), fmt, ap);
	va_end(ap);
	if (!in_panic_test) {
		fprintf(stderr, "# panic: %s (SEED=%llu)\n", host_panic_text,
			(unsigned long long)seed);
		failed = 1;
	}
	longjmp(leave, 2);
}

void vprintk(int level, const char *fmt, va_list ap)
{
	if (getenv("VERBOSE")) {
		fprintf(stderr, "# <%d> ", level);
		vfprintf(stderr, fmt, ap);
		fputc('\n', stderr);
	}
}

void printk(int level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintk(level, fmt, ap);
	va_end(ap);
}

void warn_at(const char *file, int line, const char *what)
{
	warnings++;
	fprintf(stderr, "# warning at %s:%d: %s\n", file, line, what);
}

static bool chosen(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(name, argv[i]))
			return true;
	return argc < 2;
}

static void run(const struct host_test *t)
{
	if (setjmp(leave) == 0)
		t->fn();
}

int main(int argc, char **argv)
{
	int count = 0, bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : 1;
	for (struct host_test *t = first; t; t = t->next)
		count += chosen(t->name, argc, argv);
	printf("1..%d\n", count);
	for (struct host_test *t = first; t; t = t->next) {
		if (!chosen(t->name, argc, argv))
			continue;
		state = seed;
		failed = 0;
		run(t);
		printf("%s %s\n", failed ? "not ok" : "ok", t->name);
		bad += failed;
	}
	return bad != 0;
}
