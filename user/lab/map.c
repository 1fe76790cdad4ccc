/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map.c - the memory map over time, as records: `lab run ID map=500` samples every 500 ms, whatever
 * the experiment does.
 *
 * A process of its own reads /sys/kernel/quire/memmap and prints what changed since its last look:
 *
 *	LAB mapzone id=1 node=0 name=DMA32 first=8 blocks=120
 *	LAB map t=1.500 b=17:M93000e0000,18:...
 *
 * A block is eleven characters: its type (U R M V I), the largest order of a free block in it (0-9,
 * a; - none), then nine counts, each one digit of 0-9 A-Z a-z _ - in eights of pages, rounded up:
 * free, programs (without shared memory), files, shared memory, dirty or written, kernel, reserved,
 * huge, pinned. tools/lablib/memmap.py reads them.
 *
 * Looking costs (docs/memmap.md), in a process: it takes part in the load it shows.
 */
#include "frame.h"
#include <sys/prctl.h>
#include <sys/wait.h>

#define MEMMAP "/sys/kernel/quire/memmap"
#define CHARS 11
#define PER_LINE 40 /* blocks in one record */
#define MAX_BLOCKS 32768

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-";
static pid_t sampler;

/* Digits of a block, in this order, and the keys of the file that make them up. */
static const struct {
	char keys[16];
	char less[4]; /* these are another digit's */
} parts[] = {
	{ "f pc", "" },	 { "ia aa ue lw ol", "ca" }, { "ca", "sh" }, { "sh", "" },
	{ "di wb", "" }, { "sl pt ks vm ke", "" },   { "rs", "" },   { "hu", "" },
	{ "pn", "" },
};
#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

struct seen {
	char code[CHARS + 1];
	unsigned long nr;
};
static struct seen *seen; /* of the last look, in the order of the file */
static unsigned long nr_seen;

/* The number after " KEY=" of a line, 0 without it. */
static unsigned long value_of(const char *line, const char *key, size_t len)
{
	for (const char *p = line; (p = strchr(p, ' ')); p++)
		if (!strncmp(p + 1, key, len) && p[1 + len] == '=')
			return strtoul(p + 2 + len, NULL, 10);
	return 0;
}

static unsigned long sum_of(const char *line, const char *keys)
{
	unsigned long sum = 0;

	while (*keys) {
		size_t len = strcspn(keys, " ");

		sum += value_of(line, keys, len);
		keys += len + (keys[len] == ' ');
	}
	return sum;
}

/* Largest order of the free blocks: how many numbers follow "f=N:". */
static char largest_free(const char *line)
{
	const char *p = strstr(line, " f=");
	int order = 0;

	if (!p)
		return '-';
	p += 3 + strspn(p + 3, "0123456789");
	if (*p != ':')
		return 'a'; /* covered by a block that began in the one before */
	for (p++; *p && *p != ' '; p++)
		order += *p == '.';
	return order < 10 ? (char)('0' + order) : 'a';
}

static void encode(char *code, const char *line, char type)
{
	code[0] = type;
	code[1] = largest_free(line);
	for (size_t i = 0; i < NR_PARTS; i++) {
		unsigned long n = sum_of(line, parts[i].keys),
			      less = *parts[i].less ? sum_of(line, parts[i].less) : 0;

		n = n > less ? (n - less + 7) / 8 : 0;
		code[2 + i] = digits[n < 63 ? n : 63];
	}
	code[CHARS] = 0;
}

/* What a look prints, so that a record is one write. */
static char out[PER_LINE * 24 + 64];
static size_t used;
static int in_line;

static void end_line(void)
{
	if (!in_line)
		return;
	out[used++] = '\n';
	for (size_t done = 0; done < used;) {
		ssize_t n = write(1, out + done, used - done);

		if (n < 0 && errno != EINTR)
			_exit(1);
		done += n > 0 ? (size_t)n : 0;
	}
	in_line = 0;
}

static void put_block(double t, const struct seen *b)
{
	if (!in_line)
		used = (size_t)snprintf(out, sizeof(out), "LAB map t=%.3f b=", t);
	used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%lu:%s", in_line ? "," : "",
				 b->nr, b->code);
	if (++in_line == PER_LINE)
		end_line();
}

/* => 0; -1: the file is not there */
static int look(double t, int first)
{
	static char text[1 << 20];
	unsigned long at = 0, before = nr_seen, zone_nr = ~0ul;
	char *line, *save;

	if (slurp(MEMMAP, text, sizeof(text)) < 0)
		return -1;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct seen now;
		unsigned long start, spanned;
		unsigned int zone;
		char name[16], type;
		int node;

		if (first && sscanf(line, "zone %u node=%d name=%15s start=%lu spanned=%lu", &zone,
				    &node, name, &start, &spanned) == 5)
			lab_record("mapzone", "id=%u node=%d name=%s first=%lu blocks=%lu", zone,
				   node, name, start / 512,
				   (start + spanned + 511) / 512 - start / 512);
		if (sscanf(line, "%lu %u %c", &now.nr, &zone, &type) != 3 || at == MAX_BLOCKS)
			continue;
		if (first)
			fflush(stdout);
		encode(now.code, line, type);
		/* A block that two zones share is the first one's. */
		if (zone_nr == now.nr)
			continue;
		zone_nr = now.nr;
		if (at >= before || seen[at].nr != now.nr || strcmp(seen[at].code, now.code))
			put_block(t, &now);
		seen[at++] = now;
	}
	nr_seen = at;
	end_line();
	return 0;
}

/* Told to stop: noticed between two looks, so that the last record is whole. */
static volatile sig_atomic_t told;

static void on_term(int sig)
{
	told = 1;
}

static void sample(const struct lab *lab, unsigned long ms)
{
	struct sigaction sa = { .sa_handler = on_term };

	sigaction(SIGTERM, &sa, NULL);
	for (unsigned long i = 0; !told; i++) {
		uint64_t at = lab->start_ns + i * ms * 1000000ull;
		struct timespec t = { .tv_sec = (time_t)(at / 1000000000u),
				      .tv_nsec = (long)(at % 1000000000u) };

		while (!told && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
			;
		look((double)(clock_ns(CLOCK_MONOTONIC) - lab->start_ns) / 1e9, i == 0);
	}
}

int lab_map_start(const struct lab *lab, unsigned long ms)
{
	fflush(stdout);
	if (access(MEMMAP, R_OK) < 0) {
		lab_say("no memory map: %s: %s", MEMMAP, strerror(errno));
		return -1;
	}
	sampler = fork();
	if (sampler < 0)
		die("lab: map");
	if (!sampler) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		seen = calloc(MAX_BLOCKS, sizeof(*seen));
		if (seen)
			sample(lab, ms);
		_exit(0);
	}
	return 0;
}

void lab_map_stop(void)
{
	if (sampler <= 0)
		return;
	kill(sampler, SIGTERM);
	waitpid(sampler, NULL, 0);
	sampler = 0;
}
