/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sections.c - what the interrupts-off tracer saw, and what compaction's events tell, as records.
 *
 *	LAB sampled total_us=22355 samples=11 interval_us=1000000 longest=8409000
 *	LAB event us=8409 count=1 start=compaction_alloc end=compaction_alloc	a line of the report
 *	LAB site max=27779 work=512 count=93 total=2583447 label=compact_free func=... hist=14:93
 *	LAB stack max=27779 label=compact_free frames=a<b<c			of the worst sites
 *	LAB walk scanned=196000 blocks=383 taken=32		the longest way of the free scanner
 *	LAB step scanned=512 taken=0				and of the migration scanner
 *
 * Lengths of sites are ticks: instructions on the virtual clock.
 */
#include "frame.h"

#define TRACING "/sys/kernel/tracing"
#define STACKS 10

int sections_start(unsigned long interval_us)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", interval_us);
	if (lab_write(TRACING "/irqsoff_sample_us", text) < 0 ||
	    lab_write(TRACING "/irqsoff_report_unit", "us") < 0 ||
	    lab_write(TRACING "/current_tracer", "irqsoff") < 0)
		return -1;
	return lab_write(TRACING "/irqsoff_reset", "1");
}

static FILE *table(const char *name)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), TRACING "/%s", name);
	f = fopen(path, "re");
	if (!f)
		fprintf(stderr, "lab: %s: %s\n", path, strerror(errno));
	return f;
}

static void report(void)
{
	FILE *f = table("irqsoff_report");
	unsigned long samples = 0, interval = 0, total = 0, us, count;
	char line[512], start[128], end[128], *p;

	while (f && fgets(line, sizeof(line), f)) {
		p = strstr(line, "samples ");
		if (*line == '#' && p)
			sscanf(p, "samples %lu (interval %lu", &samples, &interval);
		else if (sscanf(line, "Total sampled time IRQs off (not real total time): %lu",
				&total) == 1)
			lab_record("sampled", "total_us=%lu samples=%lu interval_us=%lu", total,
				   samples, interval);
		else if (sscanf(line, "Event %127[^. ]..%127s %lu us count %lu", start, end, &us,
				&count) == 4)
			lab_record("event", "us=%lu count=%lu start=%s end=%s", us, count, start,
				   end);
	}
	if (f)
		fclose(f);
}

/* The histogram at the end of a line: " 4:12 5:3" as "4:12,5:3". */
static void commas(char *text)
{
	text[strcspn(text, "\n")] = 0;
	for (char *p = text; *p; p++)
		if (*p == ' ')
			*p = ',';
}

/* label function end count total max work_max task histogram; a task's name may have blanks */
static unsigned long sites(void)
{
	FILE *f = table("irqsoff_hist");
	unsigned long longest = 0;
	char line[2048];

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long count, total, max, work;
		char label[64], func[64], end[64], *hist;
		int rest = 0;

		if (*line == '#' || sscanf(line, "%63s %63s %63s %lu %lu %lu %lu %n", label, func,
					   end, &count, &total, &max, &work, &rest) != 7)
			continue;
		for (hist = line + rest; *hist; hist++) /* the first " NUMBER:NUMBER" */
			if (*hist == ' ' && hist[1] >= '0' && hist[1] <= '9' &&
			    hist[1 + strspn(hist + 1, "0123456789")] == ':')
				break;
		if (!*hist)
			continue;
		commas(++hist);
		if (max > longest)
			longest = max;
		lab_record("site",
			   "max=%lu work=%lu count=%lu total=%lu label=%s func=%s end=%s hist=%s",
			   max, work, count, total, label, func, end, hist);
	}
	if (f)
		fclose(f);
	return longest;
}

/* "label (function, file:line) max N by task" and then lines " => symbol+0x1/0x2". */
static void stacks(void)
{
	FILE *f = table("irqsoff_stacks");
	char line[512], frames[900] = "", label[64] = "";
	unsigned long max = 0;
	size_t used = 0;
	int nr = 0;

	while (f && nr < STACKS) {
		int more = fgets(line, sizeof(line), f) != NULL;
		char name[128], *p;

		if (more && sscanf(line, " => %127s", name) == 1) {
			name[strcspn(name, "+")] = 0;
			if (used + strlen(name) + 2 < sizeof(frames))
				used += (size_t)sprintf(frames + used, "%s%s", used ? "<" : "",
							name);
			continue;
		}
		if (used) {
			lab_record("stack", "max=%lu label=%s frames=%s", max, label, frames);
			nr++;
		}
		used = 0;
		if (!more)
			break;
		p = strstr(line, " max ");
		if (*line == '#' || !p)
			continue;
		sscanf(line, "%63s", label);
		max = strtoul(p + 5, NULL, 10);
	}
	if (f)
		fclose(f);
}

unsigned long sections_stop(void)
{
	unsigned long longest;

	lab_write(TRACING "/tracing_on", "0");
	report();
	longest = sites();
	stacks();
	return longest;
}

/* ---- compaction's events ---- */

static const char *const watched[] = { "mm_compaction_isolate_freepages",
				       "mm_compaction_isolate_migratepages", "mm_compaction_begin",
				       "mm_compaction_end", NULL };

static void enable(const char *value)
{
	char path[160];

	for (int i = 0; watched[i]; i++) {
		snprintf(path, sizeof(path), TRACING "/events/compaction/%s/enable", watched[i]);
		lab_write(path, value);
	}
}

void walks_start(int on)
{
	if (!on)
		return;
	lab_write(TRACING "/buffer_size_kb", "8192");
	enable("1");
}

#define RUNNING 64
/* Runs of compaction that have begun and not ended, by thread. */
struct runs {
	struct {
		int tid;
		double at;
	} open[RUNNING];
	unsigned long nr;
	double seconds, longest;
};

static void begins(struct runs *r, int tid, double at)
{
	for (int i = 0; i < RUNNING; i++)
		if (!r->open[i].tid || r->open[i].tid == tid) {
			r->open[i].tid = tid;
			r->open[i].at = at;
			return;
		}
}

static void ends(struct runs *r, int tid, double at)
{
	for (int i = 0; i < RUNNING; i++)
		if (r->open[i].tid == tid) {
			r->open[i].tid = 0;
			r->nr++;
			r->seconds += at - r->open[i].at;
			if (at - r->open[i].at > r->longest)
				r->longest = at - r->open[i].at;
			return;
		}
}

/* A line of the event ring: "  comm-12  [000] ....  1.234567: name: fields" */
static int event_of(char *line, int *tid, double *at, char **name)
{
	char *cpu = strstr(line, " ["), *colon, *dash, *p;

	if (!cpu)
		return 0;
	for (dash = cpu; dash > line && *dash != '-'; dash--)
		;
	*tid = atoi(dash + 1);
	colon = strstr(cpu, ": ");
	if (!colon)
		return 0;
	for (p = colon; p > cpu && p[-1] != ' '; p--)
		;
	*at = strtod(p, NULL);
	*name = colon + 2;
	return 1;
}

void walks_stop(int on)
{
	unsigned long walk[3] = { 0 }, step[2] = { 0 }, lines = 0;
	static struct runs r;
	char line[512];
	FILE *f;

	if (!on)
		return;
	enable("0");
	lab_write(TRACING "/current_tracer", "nop");
	f = table("trace");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long from, to, scanned, taken;
		char *name, *p;
		double at;
		int tid;

		if (*line == '#' || !event_of(line, &tid, &at, &name))
			continue;
		lines++;
		p = strstr(name, "range=(");
		if (p && sscanf(p, "range=(0x%lx ~ 0x%lx) nr_scanned=%lu nr_taken=%lu", &from, &to,
				&scanned, &taken) == 4) {
			if (!strncmp(name, "mm_compaction_isolate_free", 26) && scanned > walk[0]) {
				walk[0] = scanned;
				walk[1] = (to > from ? to - from : 0) / 512 + 1;
				walk[2] = taken;
			} else if (!strncmp(name, "mm_compaction_isolate_mig", 25) &&
				   scanned > step[0]) {
				step[0] = scanned;
				step[1] = taken;
			}
		} else if (!strncmp(name, "mm_compaction_begin:", 20)) {
			begins(&r, tid, at);
		} else if (!strncmp(name, "mm_compaction_end:", 18)) {
			ends(&r, tid, at);
		}
	}
	if (f)
		fclose(f);
	lab_record("walk", "scanned=%lu blocks=%lu taken=%lu", walk[0], walk[1], walk[2]);
	lab_record("step", "scanned=%lu taken=%lu", step[0], step[1]);
	lab_record("runs", "events=%lu runs=%lu seconds=%.6f longest=%.6f", lines, r.nr, r.seconds,
		   r.longest);
}
