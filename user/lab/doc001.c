/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doc001.c - [seed-001]: many writers to one disk should pause longer and be asked less often.
 *
 * One run: a modelled disk, N writers with a file each, a warm-up in which the estimators settle
 * (30 s at least: the pause between two calls adapts by 3 per cent a call), then the measurement.
 * Counted are real sleeps only; exits without a sleep (the task had thought long enough) have a
 * counter of their own. Once a second the estimators and limits are sampled.
 */
#include "frame.h"

#define BALANCE "/sys/kernel/quire/balance"
#define WB "/sys/kernel/quire/wb"
#define TICKS 1024 /* longest length of a pause with a place of its own */

static const char about[] =
	"The document is patch 16 of 35 of a series in which a task that dirties pages never "
	"writes\n"
	"them itself: it sleeps for a computed time while the flusher writes. How often it is "
	"asked is\n"
	"a number of pages of its own (nr_dirtied_pause), which grows by 3 % when pauses are too "
	"short\n"
	"and falls by a quarter when they reach the longest pause. Before the patch, too short "
	"meant\n"
	"one tick. With a hundred tasks on one disk each still pauses many times a second, and all "
	"of\n"
	"them together enter the throttle thousands of times a second, each time reading the "
	"global\n"
	"counters. The patch lets the lower end of the band rise with the number of tasks: 10 ms "
	"per\n"
	"doubling, at most half of the longest pause.\n"
	"\n"
	"It claims: more than 60 ms of pause with 100 and more writers, about 100 ms on average "
	"when\n"
	"the longest is 200 ms; one writer may go on pausing 100 times a second; 100 writers make\n"
	"100 x 100 calls a second before; more than 10 % of CPU time saved even on one socket.\n"
	"\n"
	"Look at: the histogram of real sleeps (side 0 lies to the left, side 1 between min_pause "
	"and\n"
	"200 ms), calls a second, throughput (must not change), and in the time line how "
	"throttle_bw\n"
	"finds write_bw / N: min_pause is taken from the logarithm of their ratio.\n";

static const struct lab_key keys[] = {
	{ "writers", "100", "processes, each with its own file" },
	{ "seconds", "60", "of measurement" },
	{ "warm", "60", "seconds before it" },
	{ "block", "64K", "bytes of one write(2)" },
	{ "total", "40G", "bytes of all files together: then each begins again" },
	{ "keep", "2G",
	  "of all files together stays in the cache behind the writers; 0: everything" },
	{ "think", "0", "microseconds a writer waits between two writes" },
	{ "stagger", "50000", "microseconds over which the starts are spread, by seed" },
	{ "seed", "1", "of the spread and of the data" },
	{ "disk", "bw:size=42G,bw=100M,discard", "the model; none: use dir as it is" },
	{ "dir", "/mnt", "where it is mounted" },
	{ "dirty_ratio", "20", "per cent of dirtyable memory" },
	{ "background_ratio", "10", "per cent" },
	{ "limit", "0",
	  "bytes of dirty memory instead (vm.dirty_bytes; half of it is background)" },
	{ "ramp", "0",
	  "switch bdi_ramp: 0 as in 2.6.37, 1 faster, as a patch of the document's series" },
	{ "max_pause_ms", "0", "longest pause; 0: as the document computes it from the limit" },
	{ NULL, NULL, NULL },
};

struct sample {
	struct lab_values v;
	unsigned long long hist[TICKS];
};

/* "hist T N" lines of the balance file. */
static void read_hist(unsigned long long *hist)
{
	static char text[65536];

	memset(hist, 0, TICKS * sizeof(*hist));
	if (slurp(BALANCE, text, sizeof(text)) < 0)
		return;
	for (char *line = strstr(text, "hist "); line; line = strstr(line + 1, "\nhist ")) {
		unsigned long tick;
		unsigned long long n;

		if (sscanf(line + (*line == '\n'), "hist %lu %llu", &tick, &n) == 2)
			hist[tick < TICKS ? tick : TICKS - 1] += n;
	}
}

static void take(struct sample *s, const struct writers *w, const char *bdi)
{
	static const char *const vm[] = { "nr_dirty",	"nr_writeback",	 "nr_dirtied",
					  "nr_written", "nr_free_pages", NULL };
	struct lab_values *v = &s->v;

	values_begin(v);
	values_set(v, "bytes", w->shared ? writers_bytes(w) : 0);
	values_lines(v, BALANCE, "", NULL);
	values_pairs(v, WB, bdi);
	values_lines(v, "/proc/vmstat", "vm_", vm);
	values_stat(v);
}

/* What one sample says, as a record; times relative to the start of the load. */
static void series(const struct sample *s, const char *phase, uint64_t start)
{
	static const char *const names[] = {
		"bytes",	"vm_nr_written", "vm_nr_dirty", "vm_nr_writeback", "write_bw",
		"throttle_bw",	"avg_dirty",	 "bdi_dirty",	"bdi_writeback",   "bdi_limit",
		"task_limit",	"limit",	 "bg",		"freerun",	   "max_pause",
		"min_pause",	"calls",	 "sleeps",	"think_exits",	   "early_exits",
		"pause_ticks",	"busy_ns",	 "grow",	"shrink",	   "stat_system",
		"stat_softirq", "stat_idle",
	};
	static char line[2048];
	size_t used = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (values_has(&s->v, names[i]))
			used += (size_t)snprintf(line + used, sizeof(line) - used, " %s=%llu",
						 names[i], values_get(&s->v, names[i]));
	lab_record("series", "t=%.3f phase=%s%s", (double)(s->v.ns - start) / 1e9, phase, line);
}

static void progress(const struct lab *lab, const struct sample *now, const struct sample *before,
		     const struct writers *w, const char *phase, unsigned long s, unsigned long all)
{
	const struct lab_values *n = &now->v, *b = &before->v;
	double seconds = (double)(n->ns - b->ns) / 1e9;
	unsigned long long sleeps = values_delta(n, b, "sleeps");

	lab_say("001 side %d, %u writers, %s %lu/%lu s: %.1f MiB/s, %.0f calls/s, pause %.1f ms, "
		"write_bw %llu, throttle_bw %llu pages/s",
		lab->side, w->nr, phase, s, all,
		(double)values_delta(n, b, "bytes") / (1 << 20) / seconds,
		(double)values_delta(n, b, "calls") / seconds,
		sleeps ? (double)values_delta(n, b, "slept_ns") / 1e6 / (double)sleeps : 0.0,
		values_get(n, "write_bw"), values_get(n, "throttle_bw"));
}

/* One phase, sampled at each whole second; *last is its last sample. */
static void phase(const struct lab *lab, const struct writers *w, const char *name, uint64_t start,
		  uint64_t from, unsigned long seconds, struct sample *last)
{
	static struct sample now, told;

	told = *last;
	for (unsigned long s = 1; s <= seconds; s++) {
		sleep_until(from + s * 1000000000ull);
		take(&now, w, lab->bdi);
		series(&now, name, start);
		if (s % 5 == 0 || s == seconds) {
			progress(lab, &now, &told, w, name, s, seconds);
			told = now;
		}
	}
	if (seconds)
		*last = now;
}

/* All differences over the measurement, the histogram, and for a person a summary. */
static void totals(const struct lab *lab, const struct writers *w, struct sample *a,
		   struct sample *b, unsigned long long least, unsigned long long most)
{
	double seconds = (double)(b->v.ns - a->v.ns) / 1e9;
	unsigned long long sleeps = 0, ticks = 0;

	lab_record("total", "seconds=%.6f writers=%u least_bytes=%llu most_bytes=%llu", seconds,
		   w->nr, least, most);
	for (int i = 0; i < b->v.nr; i++) {
		const char *name = b->v.v[i].name;

		if (!values_has(&a->v, name))
			continue;
		if (b->v.v[i].value >= values_get(&a->v, name))
			lab_record("delta", "%s=%llu", name, values_delta(&b->v, &a->v, name));
		lab_record("last", "%s=%llu", name, b->v.v[i].value);
	}
	for (unsigned int t = 0; t < TICKS; t++) {
		unsigned long long n = b->hist[t] - a->hist[t];

		if (!n)
			continue;
		lab_record("hist", "tick=%u n=%llu", t, n);
		sleeps += n;
		ticks += n * t;
	}
	lab_say("001 side %d, %u writers: %.2f MiB/s, %.1f calls/s, %.1f sleeps/s of %.2f ticks on "
		"average; min_pause %llu, max_pause %llu ticks",
		lab->side, w->nr, (double)values_delta(&b->v, &a->v, "bytes") / (1 << 20) / seconds,
		(double)values_delta(&b->v, &a->v, "calls") / seconds, (double)sleeps / seconds,
		sleeps ? (double)ticks / (double)sleeps : 0.0, values_get(&b->v, "min_pause"),
		values_get(&b->v, "max_pause"));
}

static int limits(const struct lab *lab)
{
	unsigned long limit = lab_number(lab, "limit"), pause = lab_number(lab, "max_pause_ms");
	int bad = 0;

	/*
	 * The whole brake at the document's position, with the dirtyable memory of its time. Before
	 * the limits, because periods are computed anew when those are set.
	 */
	bad |= lab_switch("dirty_throttle", 0);
	bad |= lab_switch("dirtyable", 0);
	bad |= lab_switch("bdi_ramp", (int)lab_number(lab, "ramp"));
	if (limit) {
		bad |= lab_tunable("vm/dirty_bytes", limit);
		bad |= lab_tunable("vm/dirty_background_bytes", limit / 2);
	} else {
		bad |= lab_tunable("vm/dirty_ratio", lab_number(lab, "dirty_ratio"));
		bad |= lab_tunable("vm/dirty_background_ratio",
				   lab_number(lab, "background_ratio"));
	}
	bad |= lab_tunable("vm/max_pause_ms", pause);
	return bad;
}

static int run(struct lab *lab)
{
	static struct sample first, last;
	unsigned long warm = lab_number(lab, "warm"), seconds = lab_number(lab, "seconds");
	struct writers w = {
		.dir = lab_text(lab, "dir"),
		.nr = (unsigned int)lab_number(lab, "writers"),
		.block = lab_number(lab, "block"),
		.think_us = lab_number(lab, "think"),
		.stagger_us = lab_number(lab, "stagger"),
		.seed = lab_number(lab, "seed") * 1000003,
	};
	unsigned long long least, most;
	uint64_t start;
	int bad;

	if (!w.nr || !w.block || !seconds) {
		fputs("lab: writers, block and seconds must not be 0\n", stderr);
		return 2;
	}
	w.file_bytes = lab_number(lab, "total") / w.nr / w.block * w.block;
	w.keep_bytes = lab_number(lab, "keep") / w.nr;
	if (limits(lab) < 0 || lab_disk(lab, lab_text(lab, "disk"), w.dir) < 0)
		return 1;
	lab_provenance(lab);
	if (writers_start(&w) < 0)
		return 1;
	start = clock_ns(CLOCK_MONOTONIC);
	take(&last, &w, lab->bdi);
	phase(lab, &w, "warm", start, start, warm, &last);
	take(&first, &w, lab->bdi);
	read_hist(first.hist);
	last = first;
	phase(lab, &w, "measure", start, start + warm * 1000000000ull, seconds, &last);
	read_hist(last.hist);
	writers_spread(&w, &least, &most);
	totals(lab, &w, &first, &last, least, most);
	bad = writers_stop(&w);
	if (bad)
		fprintf(stderr, "lab: %d of %u writers did not end well\n", bad, w.nr);
	return bad != 0;
}

static const struct lab_experiment experiment = {
	.id = "001",
	.title = "writers to one disk pause longer and less often",
	.switch_name = "min_pause",
	.sides = 3,
	.about = about,
	.keys = keys,
	.run = run,
};
LAB_EXPERIMENT(experiment);
