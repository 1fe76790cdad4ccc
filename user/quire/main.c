/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quire - what this kernel can show and do, on one page.
 *
 *	quire			the page
 *	quire switches		every switch: value, default, document, meaning
 *	quire set NAME VALUE	turn a switch
 *	quire show [DIR]	every file below /sys/kernel/quire (or DIR), with its first line
 *	quire counters [WORD]	the lines of /proc/vmstat that contain WORD
 *	quire map ...		the memory map, in colour and live (map.c)
 *	quire latency ...	what woken threads waited for (latency.c)
 *	quire tsc		the time-stamp counter now
 *	quire settled [CMD...]	caches dropped, then free pages and every slab's objects: two calls
 *                                with
 *				a load between them print the same when the load left nothing
 *                                behind;
 *				then becomes CMD
 */
#define _GNU_SOURCE
#include "quire.h"
#include <dirent.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define SYSTEM "/sys/kernel/quire"
#define SWITCHES SYSTEM "/switches"

static const struct {
	const char *path, *what;
} files[] = {
	{ "/sys/kernel/tracing/irqsoff_report", "longest interrupts-off sections" },
	{ "/sys/kernel/tracing/irqsoff_hist", "their lengths, a histogram per site" },
	{ "/sys/kernel/tracing/current_tracer",
	  "irqsoff, preemptoff, preemptirqsoff, wakeup, wakeup_rt, nop" },
	{ "/sys/kernel/quire/sched/wakeup_latency", "waits of woken threads; quire latency" },
	{ "/proc/buddyinfo", "free blocks by order" },
	{ "/proc/pagetypeinfo", "the same by migrate type" },
	{ "/proc/zoneinfo", "zones, watermarks, per-CPU lists" },
	{ "/proc/vmstat", "counters" },
	{ "/proc/meminfo", "where memory is" },
	{ "/proc/slabinfo", "kernel objects" },
	{ "/proc/self/smaps", "an address space in detail" },
	{ "/sys/devices/system/node/node0/numastat", "allocations by node" },
};

static void chomp(char *text)
{
	text[strcspn(text, "\n")] = 0;
}

static int first_line(const char *path, char *text, size_t size)
{
	if (slurp(path, text, size) < 0)
		return -1;
	chomp(text);
	return 0;
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static void node_lines(void)
{
	struct dirent **names;
	int n = scandir("/sys/devices/system/node", &names, visible, versionsort);

	for (int i = 0; i < n; i++) {
		char path[300], text[4096], cpus[128] = "none";
		unsigned long total = 0, unused = 0;
		int id;

		if (sscanf(names[i]->d_name, "node%d", &id) == 1) {
			snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", id);
			if (slurp(path, text, sizeof(text)) >= 0) {
				char *p = strstr(text, "MemTotal:"), *q = strstr(text, "MemFree:");

				total = p ? strtoul(p + 9, NULL, 10) : 0;
				unused = q ? strtoul(q + 8, NULL, 10) : 0;
			}
			snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", id);
			first_line(path, cpus, sizeof(cpus));
			printf("  node %d: CPUs %s, %lu MiB, %lu MiB free\n", id,
			       *cpus ? cpus : "none", total >> 10, unused >> 10);
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

static int switch_field(const char *name, const char *field, char *text, size_t size)
{
	char path[512];

	snprintf(path, sizeof(path), SWITCHES "/%s/%s", name, field);
	text[0] = 0;
	return first_line(path, text, size);
}

static void switches(void)
{
	struct dirent **names;
	int n = scandir(SWITCHES, &names, visible, alphasort);

	if (n <= 0) {
		printf(access("/sys/kernel/quire", F_OK)
			       ? "  (this is not Quire, or /sys is not mounted)\n"
			       : "  (none in this kernel)\n");
		return;
	}
	for (int i = 0; i < n; i++) {
		char value[64], normal[64], about[256], document[64];

		switch_field(names[i]->d_name, "value", value, sizeof(value));
		switch_field(names[i]->d_name, "default", normal, sizeof(normal));
		switch_field(names[i]->d_name, "about", about, sizeof(about));
		switch_field(names[i]->d_name, "document", document, sizeof(document));
		printf("  %-22s %s%s%s%s  %s%s%s%s\n", names[i]->d_name, value,
		       strcmp(value, normal) ? " (default " : "",
		       strcmp(value, normal) ? normal : "", strcmp(value, normal) ? ")" : "", about,
		       *document ? " [" : "", document, *document ? "]" : "");
		free(names[i]);
	}
	free(names);
}

static int set_switch(const char *name, const char *value)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), SWITCHES "/%s/value", name);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, value, strlen(value)) < 0) {
		fprintf(stderr, "quire: switch %s = %s: %s\n", name, value, strerror(errno));
		return 1;
	}
	return close(fd) != 0;
}

static void show(const char *dir)
{
	struct dirent **names;
	int n = scandir(dir, &names, visible, alphasort);

	for (int i = 0; i < n; i++) {
		char path[512], text[4096];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		free(names[i]);
		if (lstat(path, &st) < 0 || S_ISLNK(st.st_mode))
			continue;
		if (S_ISDIR(st.st_mode))
			show(path);
		else if (!(st.st_mode & 0444))
			printf("%-56s (written only)\n", path);
		else if (first_line(path, text, sizeof(text)) == 0)
			printf("%-56s %.60s\n", path, text);
	}
	if (n >= 0)
		free(names);
}

static int counters(const char *word)
{
	char line[256];
	FILE *f = fopen("/proc/vmstat", "re");

	if (!f)
		die("quire: /proc/vmstat");
	while (fgets(line, sizeof(line), f))
		if (!word || strstr(line, word))
			fputs(line, stdout);
	fclose(f);
	return 0;
}

static int page(void)
{
	struct utsname u;
	char text[512];

	uname(&u);
	printf("%s %s %s\n", u.sysname, u.release, u.version);
	if (first_line("/proc/cmdline", text, sizeof(text)) == 0)
		printf("command line: %s\n", text);
	if (first_line("/sys/devices/system/cpu/online", text, sizeof(text)) == 0)
		printf("CPUs %s\n", text);
	node_lines();
	printf("\nSwitches (quire set NAME VALUE, or NAME=VALUE at boot):\n");
	switches();
	printf("\nWorth reading:\n");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (access(files[i].path, R_OK) == 0)
			printf("  %-42s %s\n", files[i].path, files[i].what);
	printf("\nPrograms: ubench (instructions per operation), share, memhog, forkbomb,\n"
	       "  pthread_test, wild, sysfuzz, elffuzz; all of busybox.\n"
	       "More: quire switches | show | counters [WORD] | map [-l]\n");
	return 0;
}

/*
 * The sum of the numbers after WORD at the start of a line of /proc/FILE, blanks before it ignored.
 */
static unsigned long sum_of(const char *path, const char *word)
{
	FILE *f = fopen(path, "re");
	unsigned long sum = 0, value;
	char line[512], name[64];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " %63s %lu", name, &value) == 2 && !strcmp(name, word))
			sum += value;
	if (f)
		fclose(f);
	return sum;
}

static unsigned long lines_of(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned long n = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

static void drop_caches(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	sync();
	usleep(200000); /* the last one's remains go with the next grace period */
	if (fd < 0 || write(fd, "3", 1) != 1)
		die("quire: /proc/sys/vm/drop_caches");
	close(fd);
}

/*
 * Pages on per-CPU lists are free too. Pages of slabs count as free beside the objects, which are
 * listed one cache at a time: where the same objects lie decides how many pages they take. Likewise
 * vmap_area also holds the gaps between areas; the areas themselves are lines of /proc/vmallocinfo.
 */
static int settled(char **next)
{
	char line[512], name[64];
	unsigned long objects;
	FILE *f;

	drop_caches();
	drop_caches();
	printf("free %lu\n", sum_of("/proc/vmstat", "nr_free_pages") +
				     sum_of("/proc/zoneinfo", "count:") +
				     sum_of("/proc/vmstat", "nr_slab_reclaimable") +
				     sum_of("/proc/vmstat", "nr_slab_unreclaimable"));
	f = fopen("/proc/slabinfo", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %lu", name, &objects) != 2 || name[0] == '#')
			continue;
		else if (!strcmp(name, "vmap_area"))
			printf("areas %lu\n", lines_of("/proc/vmallocinfo"));
		else
			printf("slab %s %lu\n", name, objects);
	if (f)
		fclose(f);
	fflush(stdout);
	if (!*next)
		return 0;
	execvp(*next, next);
	die("quire: exec");
	return 127;
}

int main(int argc, char **argv)
{
	if (argc == 1)
		return page();
	if (!strcmp(argv[1], "switches") && argc == 2)
		switches();
	else if (!strcmp(argv[1], "set") && argc == 4)
		return set_switch(argv[2], argv[3]);
	else if (!strcmp(argv[1], "show") && argc <= 3)
		show(argc == 3 ? argv[2] : SYSTEM);
	else if (!strcmp(argv[1], "counters") && argc <= 3)
		return counters(argc == 3 ? argv[2] : NULL);
	else if (!strcmp(argv[1], "tsc") && argc == 2)
		printf("%llu\n", (unsigned long long)tsc());
	else if (!strcmp(argv[1], "settled"))
		return settled(argv + 2);
	else if (!strcmp(argv[1], "map"))
		return map_main(argc - 1, argv + 1);
	else if (!strcmp(argv[1], "latency"))
		return latency_main(argc - 1, argv + 1);
	else {
		fprintf(stderr, "usage: quire [switches | set NAME VALUE | show [DIR] | "
				"counters [WORD] | map [-l] | latency [...] | tsc | "
				"settled [CMD...]]\n");
		return 2;
	}
	return 0;
}
