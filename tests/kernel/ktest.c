/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktest.c - runs the in-kernel suites and reports in KTAP.
 *
 * The suites are the entries of section .ktests, in link order. `ktest=` names what runs: "all", or
 * a list of "suite" and "suite.name". The plan comes first, so a kernel that dies in the middle is
 * seen; then one line per test; then the machine powers off, with a failing status when one failed.
 */
#include "tests/kernel/ktest.h"

#include "arch/cpu.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "lib/string.h"

BOOT_PARAM_WORD("ktest", "in-kernel tests to run: all, suite, suite.name, ...");

extern struct ktest __ktests_start[], __ktests_end[];

/* Does the word [w, w + n) name this test? "all", "suite" or "suite.name". */
static bool word_names(const struct ktest *t, const char *w, size_t n)
{
	size_t suite = strlen(t->suite);

	if (n == 3 && !memcmp(w, "all", 3))
		return true;
	if (n < suite || memcmp(w, t->suite, suite))
		return false;
	if (n == suite)
		return true;
	return w[suite] == '.' && strlen(t->name) == n - suite - 1 &&
	       !memcmp(w + suite + 1, t->name, n - suite - 1);
}

static bool chosen(const struct ktest *t, const char *pattern)
{
	while (*pattern) {
		size_t n = 0;

		while (pattern[n] && pattern[n] != ',')
			n++;
		if (word_names(t, pattern, n))
			return true;
		pattern += n + (pattern[n] == ',');
	}
	return false;
}

void ktest_fail(struct ktest *t, const char *file, int line, const char *what)
{
	t->failed = true;
	printk(LOG_ERR, "# %s.%s: %s:%d: %s", t->suite, t->name, file, line, what);
}

void ktest_fail_eq(struct ktest *t, const char *file, int line, const char *what, long a, long b)
{
	t->failed = true;
	printk(LOG_ERR, "# %s.%s: %s:%d: %s: %ld (%#lx) against %ld (%#lx)", t->suite, t->name,
	       file, line, what, a, (unsigned long)a, b, (unsigned long)b);
}

static void run(struct ktest *t, unsigned int number)
{
	t->failed = false;
	t->skip = NULL;
	t->fn(t);
	if (t->skip)
		printk(LOG_ERR, "ok %u %s.%s # SKIP %s", number, t->suite, t->name, t->skip);
	else
		printk(LOG_ERR, "%s %u %s.%s", t->failed ? "not ok" : "ok", number, t->suite,
		       t->name);
}

void ktest_main(const char *pattern)
{
	unsigned int count = 0, number = 0, failed = 0;
	struct ktest *t;

	for (t = __ktests_start; t < __ktests_end; t++)
		count += chosen(t, pattern);
	printk(LOG_ERR, "KTAP version 1");
	printk(LOG_ERR, "1..%u", count);
	for (t = __ktests_start; t < __ktests_end; t++) {
		if (!chosen(t, pattern))
			continue;
		run(t, ++number);
		failed += t->failed;
	}
	printk(LOG_ERR, "# ktest: %u run, %u failed", number, failed);
	printk_flush();
	arch_poweroff(failed || !count);
}
