/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c - the list of validators and /sys/kernel/quire/check, which runs them all. */
#include "mm/debug/check.h"

#include "kernel/show.h"
#include "kernel/spinlock.h"

static struct checker *checkers;

void checker_register(struct checker *c)
{
	c->next = checkers;
	smp_store_release(&checkers, c); /* at boot, one after the other */
}

const char *check_all(const char **where)
{
	for (struct checker *c = checkers; c; c = c->next) {
		const char *what = c->check();

		if (what) {
			*where = c->name;
			return what;
		}
	}
	return NULL;
}

static int check_show(struct seq *seq)
{
	for (struct checker *c = checkers; c; c = c->next) {
		const char *what = c->check();

		seq_printf(seq, "%-12s %s\n", c->name, what ? what : "ok");
	}
	return 0;
}
SHOW("/sys/kernel/quire/check", 0444, check_show, NULL);
