/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host.h - host tests: real kernel files, compiled for this machine with ASan and UBSan.
 *
 * A test file names the kernel files it needs in a line `// SOURCES: mm/phys/buddy.c lib/sort.c`
 * and holds any number of HOST_TEST(name) { ... CHECK(x); }. main() is here (shim/host.c): it runs
 * all of them, or those named on the command line, and prints `1..N` and `ok name` or `not ok
 * name`. Random numbers come from host_random(), seeded from SEED in the environment (default 1),
 * printed when a test fails.
 */
#ifndef HOST_H
#define HOST_H

/* The kernel has a dev_t of its own (lib/types.h); keep libc's out of its way. */
#define dev_t host_dev_t
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#undef dev_t

struct host_test {
	const char *name;
	void (*fn)(void);
	struct host_test *next;
};
void host_register(struct host_test *test);
/* Reports and leaves the running test. */
__attribute__((noreturn)) void host_fail(const char *file, int line, const char *what);
__attribute__((noreturn)) void host_fail_eq(const char *file, int line, const char *what, long a,
					    long b);
uint64_t host_random(void);
/* Runs fn and says whether it called panic(), whose text is then in host_panic_text. */
int host_panics(void (*fn)(void));
extern char host_panic_text[256];

#define HOST_TEST(name_)                                                                           \
	static void host_test_##name_(void);                                                       \
	static struct host_test host_entry_##name_ = { #name_, host_test_##name_, NULL };          \
	__attribute__((constructor)) static void host_ctor_##name_(void)                           \
	{                                                                                          \
		host_register(&host_entry_##name_);                                                \
	}                                                                                          \
	static void host_test_##name_(void)

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			host_fail(__FILE__, __LINE__, #cond);                                      \
	} while (0)
#define CHECK_EQ(a, b)                                                                             \
	do {                                                                                       \
		long _a = (long)(a), _b = (long)(b);                                               \
		if (_a != _b)                                                                      \
			host_fail_eq(__FILE__, __LINE__, #a " == " #b, _a, _b);                    \
	} while (0)
#define CHECK_STR(a, b)                                                                            \
	do {                                                                                       \
		const char *_sa = (a), *_sb = (b);                                                 \
		if (strcmp(_sa, _sb)) {                                                            \
			fprintf(stderr, "# got \"%s\", want \"%s\"\n", _sa, _sb);                  \
			host_fail(__FILE__, __LINE__, #a " == " #b);                               \
		}                                                                                  \
	} while (0)

#endif
