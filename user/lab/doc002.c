/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doc002.c - [seed-002]: compaction keeps interrupts off for milliseconds; two patches end it.
 *
 * One run: memory in pieces (fragment.c), swap on a modelled disk, tasks that want huge pages and a
 * process that streams a file (hugeload.c), the tracer on. What the document's tool printed is read
 * at the end: the worst section of every interval, then every site with its histogram, the frames
 * visited in its longest section, and the stacks of the worst.
 *
 * A side is a pair of switches: (compact_free_irq, compact_migrate_irq) = (0,0), (1,0), (1,1), the
 * three columns of the document, and (2,2), ours.
 */
#include "frame.h"
#include <sys/stat.h>

static const char about[] =
	"Compaction makes blocks of free pages: one scanner climbs and takes pages that can move,\n"
	"another descends and takes free ones to move them to. In 2.6.38 the second held the "
	"zone's\n"
	"lock, with interrupts off, for the whole way down to the next free page; where memory is\n"
	"full that is all of it. The first held the LRU lock for a pageblock of 512 frames.\n"
	"\n"
	"The document's three reports, of a test with huge pages: 22355 us of sampled time with\n"
	"interrupts off, the worst 8409 us in the free scanner; with the first patch (a lock for "
	"each\n"
	"pageblock) 5493, nothing of the scanner left; with the second (let interrupts in every "
	"32\n"
	"frames) 4367. A sample is the longest section of one interval, so this is not a sum of "
	"time.\n"
	"\n"
	"Look at: LAB event lines, the report in the document's layout; LAB site "
	"label=compact_free\n"
	"and compact_migrate, whose work= are the frames visited in one section: they do not "
	"depend\n"
	"on any clock.\n";

static const char *const sides[] = {
	"before: compact_free_irq=0 compact_migrate_irq=0",
	"the first patch: compact_free_irq=1 compact_migrate_irq=0",
	"both patches: compact_free_irq=1 compact_migrate_irq=1",
	"ours: compact_free_irq=2 compact_migrate_irq=2",
};

static int turn(int side)
{
	static const int pairs[][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 2, 2 } };

	return lab_switch("compact_free_irq", pairs[side][0]) < 0 ||
			       lab_switch("compact_migrate_irq", pairs[side][1]) < 0
		       ? -1
		       : 0;
}

static const struct lab_key keys[] = {
	{ "seconds", "12", "of load" },
	{ "sample", "1000", "milliseconds: an interval of the report" },
	{ "tasks", "4", "processes that want huge pages" },
	{ "size", "64M", "region of each" },
	{ "think", "4000", "microseconds after each 2 MiB" },
	{ "mix", "0", "1: everything that splits, copies and collapses huge pages as well" },
	{ "low", "256M", "this part of memory gets the holes; 0: none is made" },
	{ "of_four", "3", "pageblocks of four with a page in it that cannot move" },
	{ "keep", "16M", "left free while memory is filled" },
	{ "lock", "1", "the upper part is locked in memory; 0: idle" },
	{ "file", "128M", "read over and over by one process; 0: nobody reads" },
	{ "read", "4000", "microseconds of pause after each 64 KiB" },
	{ "disk", "bw:size=192M,bw=100M,discard", "the model the file is on; none: dir as it is" },
	{ "dir", "/mnt", "where it is mounted" },
	{ "swap", "bw:size=256M,bw=100M", "the model to swap to; none: no swap" },
	{ "enabled", "always", "transparent_hugepage/enabled; -: as the kernel has it" },
	{ "whole", "0", "1: sections count from the first moment, not from the load on" },
	{ "walks", "1", "compaction's events too: the longest way of each scanner" },
	{ "seed", "1", "moves the start, and what the tasks look at again" },
	{ NULL, NULL, NULL },
};

static const char *const vm[] = { "nr_free_pages",
				  "nr_anon_pages",
				  "nr_file_pages",
				  "nr_anon_transparent_hugepages",
				  "nr_page_table_pages",
				  "nr_mlock",
				  "pgfault",
				  "pgmajfault",
				  "pswpin",
				  "pswpout",
				  "pgactivate",
				  "pgdeactivate",
				  "allocstall",
				  "pageoutrun",
				  "pgpgin",
				  "pgpgout",
				  "compact_blocks_moved",
				  "compact_pages_moved",
				  "compact_pagemigrate_failed",
				  "compact_stall",
				  "compact_fail",
				  "compact_success",
				  "compact_daemon_wake",
				  "compact_migrate_scanned",
				  "compact_free_scanned",
				  "compact_isolated",
				  "pgmigrate_success",
				  "pgmigrate_fail",
				  "pgscan_direct_dma32",
				  "pgscan_kswapd_dma32",
				  "pgsteal_direct_dma32",
				  "pgsteal_kswapd_dma32",
				  "thp_fault_alloc",
				  "thp_fault_fallback",
				  "thp_collapse_alloc",
				  "thp_collapse_alloc_failed",
				  "thp_split",
				  "thp_split_page",
				  "thp_split_pmd",
				  "thp_swpout_fallback",
				  "oom_kill",
				  NULL };

struct watched {
	const struct hugeload *h;
	struct lab_values first, before;
	struct huge_counts counts;
};

static void take(struct lab_values *v)
{
	values_begin(v);
	values_lines(v, "/proc/vmstat", "", vm);
	values_stat(v);
}

static void sample(struct watched *w)
{
	static struct lab_values now;
	const struct lab_values *b = &w->before;
	struct huge_counts c = hugeload_counts(w->h);

	take(&now);
	lab_record("series",
		   "t=%.3f phase=measure free=%llu areas=%lu huge=%llu fallback=%llu stall=%llu "
		   "success=%llu moved=%llu migrate_scanned=%llu free_scanned=%llu split=%llu "
		   "swapout=%llu swapin=%llu anon=%llu file=%llu",
		   (double)(now.ns - w->first.ns) / 1e9, values_get(&now, "nr_free_pages"),
		   c.areas - w->counts.areas, values_delta(&now, b, "thp_fault_alloc"),
		   values_delta(&now, b, "thp_fault_fallback"),
		   values_delta(&now, b, "compact_stall"), values_delta(&now, b, "compact_success"),
		   values_delta(&now, b, "compact_pages_moved"),
		   values_delta(&now, b, "compact_migrate_scanned"),
		   values_delta(&now, b, "compact_free_scanned"),
		   values_delta(&now, b, "thp_split_page"), values_delta(&now, b, "pswpout"),
		   values_delta(&now, b, "pswpin"), values_get(&now, "nr_anon_pages"),
		   values_get(&now, "nr_file_pages"));
	w->counts = c;
	w->before = now;
}

static void totals(const struct watched *w)
{
	static struct lab_values last;
	struct huge_counts c = hugeload_counts(w->h);

	take(&last);
	lab_record("total", "seconds=%.6f", (double)(last.ns - w->first.ns) / 1e9);
	lab_record("load",
		   "areas=%lu rounds=%lu verified=%lu collapsed=%lu forked=%lu bytes_read=%lu",
		   c.areas, c.rounds, c.verified, c.collapsed, c.forked, c.bytes_read);
	for (int i = 0; i < last.nr; i++) {
		const char *name = last.v[i].name;

		if (!values_has(&w->first, name))
			continue;
		if (last.v[i].value >= values_get(&w->first, name))
			lab_record("delta", "%s=%llu", name, values_delta(&last, &w->first, name));
		lab_record("last", "%s=%llu", name, last.v[i].value);
	}
}

/* A file with blocks behind it: what its reader asks for comes from the disk. */
static int make_file(const struct lab *lab, char *path, size_t size)
{
	static char chunk[65536];
	unsigned long bytes = lab_number(lab, "file");
	int fd;

	if (!bytes)
		return 0;
	snprintf(path, size, "%s/stream", lab_text(lab, "dir"));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		die(path);
	memset(chunk, 1, sizeof(chunk));
	for (unsigned long at = 0; at < bytes; at += sizeof(chunk))
		if (write(fd, chunk, sizeof(chunk)) != sizeof(chunk))
			die(path);
	if (fsync(fd) < 0)
		die(path);
	close(fd);
	return lab_write("/proc/sys/vm/drop_caches", "3");
}

static void print_fragment(const struct fragment *f, const char *when)
{
	const struct fragment_done *d = f->done;
	char line[300];
	FILE *b = fopen("/proc/buddyinfo", "re");

	if (!strcmp(when, "before") && f->pid)
		lab_record("fragment",
			   "filled=%lu back=%lu tables_made=%lu tables=%lu again=%lu locked=%lu "
			   "holes=%lu",
			   d->filled, d->back, d->tables_made, d->tables, d->again, d->locked,
			   d->holes);
	while (b && fgets(line, sizeof(line), b)) {
		line[strcspn(line, "\n")] = 0;
		lab_say("free blocks %s: %s", when, line);
	}
	if (b)
		fclose(b);
}

/* => 0; what is not there is no error where the kernel has no huge pages */
static void set_enabled(const char *value)
{
	const char *path = "/sys/kernel/mm/transparent_hugepage/enabled";

	if (*value == '-')
		return;
	if (access(path, W_OK) == 0)
		lab_write(path, value);
	else
		lab_say("no huge pages in this kernel");
}

static int measure(struct lab *lab, struct hugeload *h, struct fragment *f)
{
	unsigned long ms = lab_number(lab, "sample"), n = lab_number(lab, "seconds") * 1000 / ms;
	int walks = lab_number(lab, "walks") != 0, bad;
	static struct watched w;
	unsigned long longest;
	uint64_t at;

	w.h = h;
	sleep_until(clock_ns(CLOCK_MONOTONIC) + lab_number(lab, "seed") * 137000u);
	walks_start(walks);
	if (!lab_number(lab, "whole") && sections_start(ms * 1000) < 0)
		return 1;
	at = clock_ns(CLOCK_MONOTONIC);
	take(&w.first);
	w.before = w.first;
	if (hugeload_start(h) < 0)
		return 1;
	for (unsigned long i = 1; i <= n; i++) {
		sleep_until(at + i * ms * 1000000u);
		sample(&w);
	}
	longest = sections_stop();
	totals(&w);
	bad = hugeload_stop(h);
	print_fragment(f, "after");
	walks_stop(walks);
	lab_say("002 side %d: the longest section %lu ticks, %llu huge pages of %llu asked for, %d "
		"tasks failed",
		lab->side, longest, values_delta(&w.before, &w.first, "thp_fault_alloc"),
		values_delta(&w.before, &w.first, "thp_fault_alloc") +
			values_delta(&w.before, &w.first, "thp_fault_fallback"),
		bad);
	return bad != 0;
}

static int run(struct lab *lab)
{
	char path[96] = "";
	struct fragment f = { .low_bytes = lab_number(lab, "low"),
			      .of_four = (unsigned int)lab_number(lab, "of_four"),
			      .keep_bytes = lab_number(lab, "keep"),
			      .lock = lab_number(lab, "lock") != 0 };
	struct hugeload h = { .nr = (unsigned int)lab_number(lab, "tasks"),
			      .bytes = lab_number(lab, "size") & -(2ul << 20),
			      .think_us = lab_number(lab, "think"),
			      .mix = lab_number(lab, "mix") != 0,
			      .file_us = lab_number(lab, "read"),
			      .seed = lab_number(lab, "seed") };
	int status;

	if (!h.nr || !h.bytes || !lab_number(lab, "sample") || !lab_number(lab, "seconds")) {
		fputs("lab: tasks, size, sample and seconds must not be 0\n", stderr);
		return 2;
	}
	if (lab_number(lab, "whole") && sections_start(lab_number(lab, "sample") * 1000) < 0)
		return 1;
	set_enabled(lab_text(lab, "enabled"));
	if (lab_disk(lab, lab_text(lab, "disk"), lab_text(lab, "dir")) < 0 ||
	    lab_swap(lab, lab_text(lab, "swap")) < 0 || make_file(lab, path, sizeof(path)) < 0)
		return 1;
	h.file = *path ? path : NULL;
	lab_provenance(lab);
	if (f.low_bytes && fragment_start(&f) < 0)
		return 1;
	print_fragment(&f, "before");
	status = measure(lab, &h, &f);
	fragment_stop(&f);
	return status;
}

static const struct lab_experiment document_002 = {
	.id = "002",
	.title = "compaction lets interrupts in",
	.switch_name = "compact_*_irq",
	.sides = 4,
	.turn = turn,
	.side_names = sides,
	.about = about,
	.keys = keys,
	.run = run,
};
LAB_EXPERIMENT(document_002);
