// SPDX-License-Identifier: BSD-2-Clause
/* boot_times.c - the list behind boot_mark() and its file; see boot_times.h. */
#include "arch/bootinfo.h"
#include "arch/cpu.h"
#include "kernel/show.h"
#include "sys/boot_times.h"

#define MAX_MARKS 32

static struct {
	const char *what;
	u64 tsc;
} marks[MAX_MARKS];
static unsigned int nr_marks;

void boot_mark(const char *what)
{
	if (nr_marks < MAX_MARKS) {
		marks[nr_marks].what = what;
		marks[nr_marks++].tsc = rdtsc();
	}
}

static int boot_times_show(struct seq *seq)
{
	u64 last = boot_info.tsc_at_entry;

	seq_printf(seq, "%-24s %14s %14s\n", "phase", "tsc", "since entry");
	seq_printf(seq, "%-24s %14s %14s\n", "kernel entry", "0", "0");
	for (unsigned int i = 0; i < nr_marks; i++) {
		seq_printf(seq, "%-24s %14llu %14llu\n", marks[i].what,
			   (unsigned long long)(marks[i].tsc - last),
			   (unsigned long long)(marks[i].tsc - boot_info.tsc_at_entry));
		last = marks[i].tsc;
	}
	return 0;
}
SHOW("/sys/kernel/quire/boot_times", 0444, boot_times_show, NULL);
