/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doc003.c - [seed-003]: kswapd should sleep only when a disk really has too much to do.
 *
 * One run: an ext2 without a block in use for its files, swap on another modelled disk, a little
 * idle program memory, and N streams through sparse mapped files (streams.c), all started together.
 * All counters of the document's table are read before and after. The machine (zones, CPUs) is
 * chosen by whoever boots; tools/lablib/doc003.py does it for the table.
 *
 * Control `congest`: a writer keeps a slow disk full of requests, and every zone counts as marked
 * congested (vm/zone_congested_forced). Both conditions of the new wait hold then, so it must
 * sleep.
 */
#include "frame.h"
#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char about[] =
	"kswapd frees memory ahead of time, in passes of falling priority (12, 11, ...): at each "
	"it\n"
	"looks at a larger part of every zone's lists. Below priority 10 it used to sleep for up "
	"to\n"
	"100 ms at the end of a pass, to let disks catch up. In a small zone the passes fall fast: "
	"a\n"
	"4096th of few pages is nothing, and a mapped page that was touched once is spared the "
	"first\n"
	"time. So it slept although no disk had anything to do, nobody woke it, and the programs "
	"ran\n"
	"out of free memory and had to reclaim for themselves. The patch sleeps only if a disk is\n"
	"congested and the zone was marked for that.\n"
	"\n"
	"It claims, for 78 streams through sparse mapped files on a machine whose highest zone has "
	"2 %\n"
	"of the memory: allocstall (allocations that had to reclaim) falls by 98.8 %, pages freed "
	"by\n"
	"such allocations by 99 %; kswapd scans 31 % more and stays as efficient (51 to 50 %); "
	"the\n"
	"whole takes 2 % less time.\n"
	"\n"
	"Look at: allocstall, who freed the pages (pgsteal_kswapd, pgsteal_direct), and as the "
	"cause\n"
	"kswapd_congestion_sleep_ms, the time kswapd slept in that place.\n";

static const struct lab_key keys[] = {
	{ "streams", "78", "processes, each with its own sparse file" },
	{ "size", "128M", "bytes of each file" },
	{ "idle", "8M", "bytes of program memory that nobody uses" },
	{ "sample", "500", "milliseconds between two samples" },
	{ "seed", "1", "moves the start: 137 microseconds each" },
	{ "disk", "bw:size=256M,bw=100M,discard",
	  "the model the files are on; none: use dir as it is" },
	{ "dir", "/mnt", "where it is mounted" },
	{ "swap", "none", "the model to swap to; none: no swap" },
	{ "autogroup", "1", "switch sched_autogroup: all streams share the weight of one thread" },
	{ "temper", "0", "switch kswapd_temper: the series' third patch" },
	{ "mapped", "0", "switch mapped_stream: the series' fifth patch" },
	{ "congest", "0", "1: a writer saturates a slow disk and every zone counts as marked" },
	{ NULL, NULL, NULL },
};

/* The document's rows, and what explains them. */
#define ZONES(family)                                                                              \
	family "_dma", family "_dma32", family "_normal", family "_high", family "_movable"
static const char *const vm[] = { "nr_vmscan_write",
				  "nr_vmscan_immediate_reclaim",
				  "pgpgin",
				  "pgpgout",
				  "pswpin",
				  "pswpout",
				  "pgactivate",
				  "pgdeactivate",
				  "pgfault",
				  "pgmajfault",
				  ZONES("pgsteal_kswapd"),
				  ZONES("pgsteal_direct"),
				  ZONES("pgscan_kswapd"),
				  ZONES("pgscan_direct"),
				  "pgscan_direct_throttle",
				  "pginodesteal",
				  "slabs_scanned",
				  "kswapd_inodesteal",
				  "kswapd_low_wmark_hit_quickly",
				  "kswapd_high_wmark_hit_quickly",
				  "kswapd_skip_congestion_wait",
				  "pageoutrun",
				  "allocstall",
				  "pgrotated",
				  ZONES("pgalloc"),
				  "pgfree",
				  "oom_kill",
				  "nr_free_pages",
				  "nr_file_pages",
				  "nr_inactive_file",
				  "nr_active_file",
				  NULL };

struct watched {
	const struct lab *lab;
	const struct streams *streams;
	struct lab_values first, before;
	pid_t kswapd;
};

/* A kernel thread by its name. 0: there is none */
static pid_t thread_named(const char *wanted)
{
	struct dirent *d;
	pid_t found = 0;
	DIR *proc = opendir("/proc");

	while (proc && !found && (d = readdir(proc))) {
		char path[300], name[64];

		snprintf(path, sizeof(path), "/proc/%s/comm", d->d_name);
		if (*d->d_name >= '0' && *d->d_name <= '9' && lab_line(path, name, sizeof(name)) &&
		    !strcmp(name, wanted))
			found = (pid_t)atoi(d->d_name);
	}
	if (proc)
		closedir(proc);
	return found;
}

/* kswapd's time on a CPU and its time waiting for one. */
static void take_kswapd(struct lab_values *v, pid_t kswapd)
{
	unsigned long long ran, waited;
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", kswapd);
	if (!kswapd || !lab_line(path, text, sizeof(text)) ||
	    sscanf(text, "%llu %llu", &ran, &waited) != 2)
		return;
	values_set(v, "kswapd_ran_us", ran / 1000);
	values_set(v, "kswapd_waited_us", waited / 1000);
}

static void take(struct lab_values *v, pid_t kswapd)
{
	values_begin(v);
	values_lines(v, "/proc/vmstat", "", vm);
	values_lines(v, "/sys/kernel/quire/counters", "", NULL);
	values_stat(v);
	take_kswapd(v, kswapd);
}

static unsigned long long zones(const struct lab_values *now, const struct lab_values *before,
				const char *family)
{
	static const char *const types[] = { "dma", "dma32", "normal", "high", "movable" };
	unsigned long long sum = 0;
	char name[64];

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		snprintf(name, sizeof(name), "%s_%s", family, types[i]);
		sum += values_delta(now, before, name);
	}
	return sum;
}

static void sample(void *arg)
{
	static struct lab_values now;
	struct watched *w = arg;
	const struct lab_values *b = &w->before;

	take(&now, w->kswapd);
	lab_record("series",
		   "t=%.3f phase=measure faults=%llu steal_kswapd=%llu steal_direct=%llu "
		   "scan_kswapd=%llu scan_direct=%llu allocstall=%llu sleep_ms=%llu skip=%llu "
		   "kswapd_ran_us=%llu kswapd_waited_us=%llu free=%llu",
		   (double)(now.ns - w->first.ns) / 1e9, values_delta(&now, b, "pgfault"),
		   zones(&now, b, "pgsteal_kswapd"), zones(&now, b, "pgsteal_direct"),
		   zones(&now, b, "pgscan_kswapd"), zones(&now, b, "pgscan_direct"),
		   values_delta(&now, b, "allocstall"),
		   values_delta(&now, b, "kswapd_congestion_sleep_ms"),
		   values_delta(&now, b, "kswapd_skip_congestion_wait"),
		   values_delta(&now, b, "kswapd_ran_us"),
		   values_delta(&now, b, "kswapd_waited_us"), values_get(&now, "nr_free_pages"));
	w->before = now;
}

static void totals(const struct watched *w)
{
	static struct lab_values last;
	const struct lab_values *first = &w->first;
	double seconds;

	take(&last, w->kswapd);
	seconds = (double)(last.ns - first->ns) / 1e9;
	lab_record("total", "seconds=%.6f streams=%u pages=%llu", seconds, w->streams->nr,
		   (unsigned long long)w->streams->nr * (w->streams->file_bytes / 4096));
	for (int i = 0; i < last.nr; i++) {
		const char *name = last.v[i].name;

		if (!values_has(first, name))
			continue;
		if (last.v[i].value >= values_get(first, name))
			lab_record("delta", "%s=%llu", name, values_delta(&last, first, name));
		lab_record("last", "%s=%llu", name, last.v[i].value);
	}
	lab_say("003 side %d: %.3f s, allocstall %llu, freed by kswapd %llu, by the streams %llu; "
		"kswapd slept %llu ms for congestion",
		w->lab->side, seconds, values_delta(&last, first, "allocstall"),
		zones(&last, first, "pgsteal_kswapd"), zones(&last, first, "pgsteal_direct"),
		values_delta(&last, first, "kswapd_congestion_sleep_ms"));
}

/* Program memory that is written once and left alone. */
static int idle_memory(unsigned long bytes)
{
	char *map;

	if (!bytes)
		return 0;
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return -1;
	for (unsigned long at = 0; at < bytes; at += 4096)
		*(unsigned long *)(map + at) = at;
	return 0;
}

#define SLOW_PAGES 4096u
/*
 * Every second page of a disk of 1 MiB/s, over and over: requests that cannot be merged. The
 * flusher has more than the queue takes, always.
 */
static void saturate(const char *disk)
{
	static char page[4096];
	char node[64];
	int fd;

	snprintf(node, sizeof(node), "/dev/%s", disk);
	fd = open(node, O_RDWR);
	if (fd < 0)
		die(node);
	for (unsigned int i = 0;; i = (i + 1) % SLOW_PAGES)
		if (pwrite(fd, page, sizeof(page), (off_t)i * 2 * 4096) < 0)
			die(node);
}

/* => the writer, once the disk has much to do; -1 after one line */
static pid_t congest(char *disk, size_t size)
{
	pid_t writer;

	if (lab_model("bw:size=64M,bw=1M,discard", disk, size) < 0 ||
	    lab_tunable("vm/dirty_background_bytes", 1 << 20) < 0 ||
	    lab_tunable("vm/dirty_bytes", 8 << 20) < 0 ||
	    lab_tunable("vm/zone_congested_forced", 1) < 0)
		return -1;
	fflush(stdout);
	writer = fork();
	if (writer == 0)
		saturate(disk);
	sleep_until(clock_ns(CLOCK_MONOTONIC) + 500000000u);
	return writer;
}

/* What it still has to write must not take a minute. */
static void decongest(const char *disk, pid_t writer)
{
	char path[96];

	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	snprintf(path, sizeof(path), "/sys/block/%s/model", disk);
	lab_write(path, "bw=1G");
	sync();
	lab_model_gone(disk);
}

static int measure(struct lab *lab, struct streams *s)
{
	static struct watched w;

	w.lab = lab;
	w.streams = s;
	w.kswapd = thread_named("kswapd0");
	if (idle_memory(lab_number(lab, "idle")) < 0 || streams_prepare(s) < 0)
		return 1;
	if (!lab_number(lab, "congest"))
		sync(); /* what making the files left to write */
	sleep_until(clock_ns(CLOCK_MONOTONIC) + lab_number(lab, "seed") * 137000u);
	take(&w.first, w.kswapd);
	w.before = w.first;
	streams_watch(s, lab_number(lab, "sample") * 1000000ull, sample, &w);
	totals(&w);
	if (s->bad)
		fprintf(stderr, "lab: %u of %u streams did not end well\n", s->bad, s->nr);
	return s->bad != 0;
}

static int in_session(struct lab *lab)
{
	struct streams s = {
		.dir = lab_text(lab, "dir"),
		.nr = (unsigned int)lab_number(lab, "streams"),
		.file_bytes = lab_number(lab, "size") & ~4095ul,
	};
	char slow[32] = "";
	pid_t writer = 0;
	int status;

	if (!s.nr || !s.file_bytes || !lab_number(lab, "sample")) {
		fputs("lab: streams, size and sample must not be 0\n", stderr);
		return 2;
	}
	if (lab_switch("sched_autogroup", (int)lab_number(lab, "autogroup")) < 0 ||
	    lab_switch("kswapd_temper", (int)lab_number(lab, "temper")) < 0 ||
	    lab_switch("mapped_stream", (int)lab_number(lab, "mapped")) < 0 ||
	    lab_disk(lab, lab_text(lab, "disk"), s.dir) < 0 ||
	    lab_swap(lab, lab_text(lab, "swap")) < 0)
		return 1;
	if (lab_number(lab, "congest") && (writer = congest(slow, sizeof(slow))) < 0)
		return 1;
	lab_provenance(lab);
	status = measure(lab, &s);
	if (writer)
		decongest(slow, writer);
	return status;
}

/*
 * All of it in a session of its own, as at a terminal of its own: kernels of the document's time
 * give a session one share of the CPU, not one to each of its processes (sched_autogroup).
 */
static int run(struct lab *lab)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setsid();
		status = in_session(lab);
		lab_disk_gone(lab);
		fflush(stdout);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static const struct lab_experiment document_003 = {
	.id = "003",
	.title = "kswapd sleeps only when a disk is congested",
	.switch_name = "kswapd_wait_iff",
	.sides = 3,
	.about = about,
	.keys = keys,
	.run = run,
};
LAB_EXPERIMENT(document_003);
