/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.c - what the host reads: records, and with them everything a figure depends on.
 */
#include "frame.h"
#include <dirent.h>
#include <stdarg.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#define SWITCHES "/sys/kernel/quire/switches"

void lab_record(const char *kind, const char *fmt, ...)
{
	va_list args;

	printf("LAB %s ", kind);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

void lab_note(const char *kind, const char *name, const char *text)
{
	printf("LAB %s %s=%s\n", kind, name, text);
}

void lab_say(const char *fmt, ...)
{
	va_list args;

	printf("# ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

int lab_line(const char *path, char *text, size_t size)
{
	text[0] = 0;
	if (slurp(path, text, size) < 0)
		return 0;
	text[strcspn(text, "\n")] = 0;
	return 1;
}

int lab_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (n < 0)
		fprintf(stderr, "lab: %s = %s: %s\n", path, text, strerror(errno));
	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

int lab_tunable(const char *name, unsigned long value)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	snprintf(text, sizeof(text), "%lu", value);
	return lab_write(path, text);
}

int lab_switch(const char *name, int value)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), SWITCHES "/%s/value", name);
	snprintf(text, sizeof(text), "%d", value);
	return lab_write(path, text);
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* Every file of a directory, sorted, as records of one kind; inside: the file in each of them. */
static void directory(const char *kind, const char *dir, const char *inside, const char *prefix)
{
	struct dirent **names;
	int n = scandir(dir, &names, visible, alphasort);

	for (int i = 0; i < n; i++) {
		char path[512], name[300], text[256];

		snprintf(path, sizeof(path), "%s/%s%s", dir, names[i]->d_name, inside);
		snprintf(name, sizeof(name), "%s%s", prefix, names[i]->d_name);
		if (lab_line(path, text, sizeof(text)))
			lab_note(kind, name, text);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

/* Node and zone layout from /proc/zoneinfo: "0:DMA=3840,0:DMA32=..." in managed pages. */
static void zones(void)
{
	static char text[65536], out[512];
	int node = 0;
	char zone[32] = "";
	unsigned long managed;
	size_t used = 0;

	if (slurp("/proc/zoneinfo", text, sizeof(text)) < 0)
		return;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		sscanf(line, "Node %d, zone %31s", &node, zone);
		if (sscanf(line, " managed %lu", &managed) == 1 && managed && used < sizeof(out))
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%d:%s=%lu",
						 used ? "," : "", node, zone, managed);
	}
	if (used)
		lab_note("machine", "zones", out);
}

/*
 * The counter against the clock: on the virtual clock both advance by one per instruction. What is
 * printed was measured, not declared.
 */
static void clock_test(void)
{
	uint64_t t = tsc(), n = clock_ns(CLOCK_MONOTONIC);
	char text[160];

	for (volatile int i = 0; i < 20000; i++)
		;
	t = tsc() - t;
	n = clock_ns(CLOCK_MONOTONIC) - n;
	lab_record("machine", "clock_ratio_permille=%llu",
		   (unsigned long long)(t * 1000 / (n ? n : 1)));
	if (lab_line("/sys/kernel/tracing/quire_clock", text, sizeof(text)))
		lab_note("machine", "clock", text);
}

void lab_provenance(struct lab *lab)
{
	static char text[4096];
	struct utsname u;
	struct sysinfo info;

	lab_record("run", "document=%s switch=%s side=%d", lab->exp->id, lab->exp->switch_name,
		   lab->side);
	for (const struct lab_key *k = lab->exp->keys; k->name; k++)
		lab_note("key", k->name, lab_text(lab, k->name));
	if (uname(&u) == 0) {
		snprintf(text, sizeof(text), "%s %s %s", u.sysname, u.release, u.version);
		lab_note("machine", "kernel", text);
	}
	if (sysinfo(&info) == 0)
		lab_record("machine", "mem_kib=%lu cpus=%ld", info.totalram / 1024 * info.mem_unit,
			   sysconf(_SC_NPROCESSORS_ONLN));
	if (lab_line("/proc/cmdline", text, sizeof(text))) {
		char *seed = strstr(text, "seed=");

		lab_record("machine", "seed=%.*s", seed ? (int)strcspn(seed + 5, " ") : 4,
			   seed ? seed + 5 : "none");
	}
	if (lab_line("/sys/kernel/quire/hz", text, sizeof(text)))
		lab_note("machine", "hz", text);
	clock_test();
	zones();
	directory("switch", SWITCHES, "/value", "");
	directory("tunable", "/proc/sys/vm", "", "vm/");
	if (*lab->device) {
		snprintf(text, sizeof(text) / 2, "/sys/block/%s/model", lab->device);
		if (lab_line(text, text + 512, sizeof(text) - 512))
			lab_note("machine", "disk", text + 512);
	}
}
