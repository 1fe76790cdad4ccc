/* SPDX-License-Identifier: BSD-2-Clause */
/* exit_status.c - /sys/kernel/quire/exit_status. */
#include "kernel/exit_status.h"
#include "kernel/show.h"
#include "lib/parse.h"

u32 exit_status;

static int status_show(struct seq *seq)
{
	seq_printf(seq, "%u\n", READ_ONCE(exit_status));
	return 0;
}

static ssize_t status_store(const char *text, size_t n, long index)
{
	u32 v;
	int err = parse_u32(text, &v);

	if (err)
		return err;
	WRITE_ONCE(exit_status, v);
	return n;
}
SHOW("/sys/kernel/quire/exit_status", 0644, status_show, status_store);
