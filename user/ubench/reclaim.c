/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reclaim.c - what giving memory back costs (-r; DIR of -d for the stream's file).
 *
 * kswapd rows: a sparse file of twice the machine's memory is read, or touched page by page through
 * a mapping, so that a page must be freed for each new one. What that costs is the time kswapd ran
 * (/proc/PID/schedstat), divided by the pages it looked at, by those it freed, and by the MiB that
 * went by (/proc/vmstat). Direct reclaim, which the reader does himself, is in none of the rows;
 * its share is printed as a row of its own, per mille of the pages freed.
 *
 * swap rows: 4 MiB that a program wrote are paged out with MADV_PAGEOUT and touched again in order;
 * the copy to and from a RAM disk (512 a page and way with 8-byte words) is part of them. Without
 * swap they are left out.
 */
#define _GNU_SOURCE
#include "ubench.h"
#include <dirent.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
#define SWAP_PAGES 1024ul
#define CHUNK (64ul << 10)

int with_reclaim;
static char kswapd_stat[64];
static char chunk[CHUNK] __attribute__((aligned(4096)));
static char path[256];
static uint64_t stream_bytes;

/* Sum of the lines of /proc/vmstat that begin so. */
static uint64_t vmstat(const char *prefix)
{
	FILE *f = fopen("/proc/vmstat", "r");
	unsigned long long v, sum = 0;
	char name[64];

	if (!f)
		die("/proc/vmstat");
	while (fscanf(f, "%63s %llu", name, &v) == 2)
		if (!strncmp(name, prefix, strlen(prefix)))
			sum += v;
	fclose(f);
	return sum;
}

static int find_kswapd(void)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int found = 0;

	while (d && !found && (e = readdir(d))) {
		char name[300], comm[32] = "";
		FILE *f;

		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(name, sizeof(name), "/proc/%s/comm", e->d_name);
		f = fopen(name, "r");
		if (!f)
			continue;
		found = fgets(comm, sizeof(comm), f) && !strncmp(comm, "kswapd0", 7);
		fclose(f);
		if (found)
			snprintf(kswapd_stat, sizeof(kswapd_stat), "/proc/%.20s/schedstat",
				 e->d_name);
	}
	if (d)
		closedir(d);
	return found;
}

static uint64_t kswapd_ns(void)
{
	FILE *f = fopen(kswapd_stat, "r");
	unsigned long long ns = 0;

	if (!f || fscanf(f, "%llu", &ns) != 1)
		die(kswapd_stat);
	fclose(f);
	return ns;
}

/* ---- streams ---- */

struct seen {
	uint64_t ns, scanned, freed, direct;
};
static struct seen last[2]; /* of the read and the mapped stream */

static struct seen look(void)
{
	return (struct seen){ kswapd_ns(), vmstat("pgscan_kswapd"), vmstat("pgsteal_kswapd"),
			      vmstat("pgsteal_direct") };
}

static int stream_open(void)
{
	struct sysinfo info;
	int fd;

	sysinfo(&info);
	stream_bytes = (uint64_t)info.totalram * info.mem_unit * 2 / CHUNK * CHUNK;
	snprintf(path, sizeof(path), "%s/ubench.stream", disk_dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		die(path);
	unlink(path);
	if (ftruncate(fd, (off_t)stream_bytes) < 0)
		die("ubench: ftruncate");
	return fd;
}

static void read_all(int fd)
{
	for (uint64_t at = 0; at < stream_bytes; at += CHUNK)
		if (raw3(SYS_read, fd, (long)chunk, CHUNK) != (long)CHUNK)
			die("ubench: short read of the stream");
}

static void touch_all(int fd)
{
	char *p = mmap(NULL, stream_bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		die("ubench: mmap of the stream");
	for (uint64_t at = 0; at < stream_bytes; at += PAGE)
		(void)*(volatile char *)(p + at);
	munmap(p, stream_bytes);
}

static struct seen stream(int mapped)
{
	int fd = stream_open();
	struct seen a, b;

	a = look();
	(mapped ? touch_all : read_all)(fd);
	b = look();
	close(fd);
	last[mapped] = (struct seen){ b.ns - a.ns, b.scanned - a.scanned, b.freed - a.freed,
				      b.direct - a.direct };
	return last[mapped];
}

static struct result per(uint64_t ticks, uint64_t count)
{
	return (struct result){ ticks, count ? count : 1 };
}

static struct result read_scan(uint64_t n)
{
	struct seen s = stream(0);

	return per(s.ns, s.scanned);
}
static struct result read_free(uint64_t n)
{
	return per(last[0].ns, last[0].freed);
}
static struct result read_mib(uint64_t n)
{
	return per(last[0].ns, stream_bytes >> 20);
}
static struct result read_direct(uint64_t n)
{
	return per(last[0].direct * 1000, last[0].direct + last[0].freed);
}
static struct result map_scan(uint64_t n)
{
	struct seen s = stream(1);

	return per(s.ns, s.scanned);
}
static struct result map_free(uint64_t n)
{
	return per(last[1].ns, last[1].freed);
}
static struct result map_mib(uint64_t n)
{
	return per(last[1].ns, stream_bytes >> 20);
}
static struct result map_direct(uint64_t n)
{
	return per(last[1].direct * 1000, last[1].direct + last[1].freed);
}

/* ---- swap ---- */

static char *pages;

static struct result swap_out(uint64_t n)
{
	uint64_t t, before;

	if (!pages) {
		pages = mmap(NULL, SWAP_PAGES * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages == MAP_FAILED)
			die("ubench: mmap");
		madvise(pages, SWAP_PAGES * PAGE, MADV_NOHUGEPAGE);
	}
	for (unsigned long i = 0; i < SWAP_PAGES; i++)
		*(volatile unsigned long *)(pages + i * PAGE) = i + 1;
	before = vmstat("pswpout");
	t = tsc();
	if (madvise(pages, SWAP_PAGES * PAGE, MADV_PAGEOUT) < 0)
		die("ubench: MADV_PAGEOUT");
	t = tsc() - t;
	return per(t, vmstat("pswpout") - before);
}

static struct result swap_in(uint64_t n)
{
	uint64_t t, before = vmstat("pswpin");

	t = tsc();
	for (unsigned long i = 0; i < SWAP_PAGES; i++)
		if (*(volatile unsigned long *)(pages + i * PAGE) != i + 1)
			die("ubench: a page came back from swap with other bytes");
	t = tsc() - t;
	return per(t, vmstat("pswpin") - before);
}

static const struct bench stream_benches[] = {
	{ "kswapd_read_scan", "kswapd, per page looked at, file read once", read_scan, 0, GROSS,
	  0 },
	{ "kswapd_read_free", "kswapd, per page freed, file read once", read_free, 0, GROSS, 0 },
	{ "kswapd_read_mib", "kswapd, per MiB read", read_mib, 0, GROSS, 0 },
	{ "direct_read_permille", "pages direct reclaim freed, per mille", read_direct, 0, GROSS,
	  0 },
	{ "kswapd_map_scan", "kswapd, per page looked at, file touched once through a mapping",
	  map_scan, 0, GROSS, 0 },
	{ "kswapd_map_free", "kswapd, per page freed, the same", map_free, 0, GROSS, 0 },
	{ "kswapd_map_mib", "kswapd, per MiB touched", map_mib, 0, GROSS, 0 },
	{ "direct_map_permille", "pages direct reclaim freed, per mille", map_direct, 0, GROSS, 0 },
};
static const struct bench swap_benches[] = {
	{ "swap_out", "page out one page (MADV_PAGEOUT)", swap_out, 0, GROSS, 0 },
	{ "swap_in", "touch a page that is in swap", swap_in, 0, GROSS, 0 },
};

void reclaim_rows(void (*run)(const struct bench *b))
{
	struct sysinfo info;

	if (sysinfo(&info) == 0 && info.totalswap) {
		swap_out(0); /* warms up */
		swap_in(0);
		for (size_t i = 0; i < sizeof(swap_benches) / sizeof(swap_benches[0]); i++)
			run(&swap_benches[i]);
	}
	if (!disk_dir || !find_kswapd())
		return;
	for (size_t i = 0; i < sizeof(stream_benches) / sizeof(stream_benches[0]); i++)
		run(&stream_benches[i]);
}
