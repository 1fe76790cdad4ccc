/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check.h - validators of mm's structures: each proves its invariants and returns NULL or what is
 * wrong. Run by tests, by reading /sys/kernel/quire/check, and around mutations in debug builds.
 */
#ifndef MM_DEBUG_CHECK_H
#define MM_DEBUG_CHECK_H

#include "lib/types.h"

/*
 * mm/kmem/slab_show.c: *cache receives the name of the bad one. => sections bounded; objects in
 * flight do not matter.
 */
const char *slab_check(const char **cache);
/*
 * Others add themselves: name and check function, e.g. CHECK("lru", lru_check). Walked by
 * /sys/kernel/quire/check.
 */
struct checker {
	const char *name;
	const char *(*check)(void); /* NULL: fine */
	struct checker *next;
};
void checker_register(struct checker *c);
/* Everything: NULL, or the text of the first finding with *where = whose. => may sleep */
const char *check_all(const char **where);

#endif
