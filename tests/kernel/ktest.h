/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktest.h - in-kernel suites (TESTS=1 images). KTEST(suite, name) { ... KT_ASSERT(x); } runs in a
 * kernel thread, may sleep. Boot with ktest=all or ktest=suite[.name],...: output is KTAP with a
 * plan, then the machine powers off (exit status).
 */
#ifndef TESTS_KERNEL_KTEST_H
#define TESTS_KERNEL_KTEST_H

#include "kernel/printk.h"
#include "lib/types.h"

struct ktest {
	const char *suite, *name;
	void (*fn)(struct ktest *t);
	bool failed;
	const char *skip; /* reason */
};
#define KTEST(suite_, name_)                                                                       \
	static void __concat(ktest_##suite_##_, name_)(struct ktest * t);                          \
	static struct ktest __concat(__ktest_##suite_##_, name_)                                   \
		__attribute__((section(".ktests"), used, aligned(8))) = {                          \
			.suite = #suite_, .name = #name_, .fn = __concat(ktest_##suite_##_, name_) \
		};                                                                                 \
	static void __concat(ktest_##suite_##_, name_)(struct ktest * t)
#define KT_ASSERT(cond)                                                                            \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			ktest_fail(t, __FILE__, __LINE__, #cond);                                  \
			return;                                                                    \
		}                                                                                  \
	} while (0)
#define KT_EQ(a, b)                                                                                \
	do {                                                                                       \
		long _a = (long)(a), _b = (long)(b);                                               \
		if (_a != _b) {                                                                    \
			ktest_fail_eq(t, __FILE__, __LINE__, #a " == " #b, _a, _b);                \
			return;                                                                    \
		}                                                                                  \
	} while (0)
#define KT_SKIP(why)                                                                               \
	do {                                                                                       \
		t->skip = why;                                                                     \
		return;                                                                            \
	} while (0)
void ktest_fail(struct ktest *t, const char *file, int line, const char *what);
void ktest_fail_eq(struct ktest *t, const char *file, int line, const char *what, long a, long b);
/*
 * tests/kernel/ktest.c: runs what `ktest=` names; powers off. Called by sys/main when the parameter
 * is there.
 */
void ktest_main(const char *pattern);

#endif
