/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fragment.c - memory in pieces: the lower part full of holes, with pages in it that nobody can
 * move; all above it full.
 *
 * Everything is done with what any program may do, so it works on Linux as well (as root: it looks
 * its pages up in /proc/self/pagemap). A process of its own makes it and stays to hold it:
 *
 *   1. min_free_kbytes is lowered, so that the memory that programs may not have is small
 *   2. pages of programs, one by one, until hardly anything is free
 *   3. those that lie in the lower part are given back: that part is free as a whole, nothing else
 *      is
 *   4. a read of one byte in every 2 MiB of an empty mapping: each needs a page table, and nothing
 *      else (the byte is on the zero page). Page tables do not move. The lower part fills with
 *      them, block after block, in the order of the reads
 *   5. all but every 512th table are given back (their part of the mapping is unmapped), and in one
 *      pageblock of four this one, too: what is left is one table in three pageblocks of four
 *   6. pages of programs again, into the room around the tables
 *   7. of those in the lower part every frame with an odd number is given back, and min_free_kbytes
 *      is as it was. Half of the lower part is free, in single frames
 *
 *   frame 0                    low                                             end
 *      | t.p.p.p|p.p.p.p.|t.p.p.p|..  |  p p p p p p p p p p p p p p p p p p  |
 *        t: page table, p: page of a program, '.': free
 *
 * The upper part can be locked in memory; else reclaim finds it idle and takes it, and the way of
 * the free scanner gets shorter with every page.
 * Source: [facts 4.7].
 */
#include "frame.h"
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#define PAGE 4096ul
#define BLOCK (512 * PAGE)
#define LOOK 512u /* entries of pagemap a read */
#define MIN_FREE "/proc/sys/vm/min_free_kbytes"

struct area {
	char *base;
	unsigned long pages, next; /* next: the first that was never touched */
	int pagemap;
};

static unsigned long free_bytes(void)
{
	struct sysinfo s;

	return sysinfo(&s) < 0 ? 0 : s.freeram * s.mem_unit;
}

static void small_pages(void *at, unsigned long bytes)
{
	madvise(at, bytes, MADV_NOHUGEPAGE); /* EINVAL: there are no others */
}

/* Touches pages until no more than `keep` bytes are free. => how many */
static unsigned long fill(struct area *a, unsigned long keep)
{
	unsigned long n = 0;

	for (; a->next < a->pages; n++) {
		if (n % 64 == 0 && free_bytes() <= keep)
			break;
		*(unsigned long *)(a->base + a->next * PAGE) = a->next;
		a->next++;
	}
	return n;
}

/* Calls fn for each present page in the order of addresses. */
static void each(const struct area *a,
		 void (*fn)(const struct area *, unsigned long page, unsigned long pfn, void *arg),
		 void *arg)
{
	uint64_t entry[LOOK];
	unsigned long seen = 0;

	for (unsigned long at = 0; at < a->next; at += LOOK) {
		off_t where = (off_t)(((unsigned long)a->base / PAGE + at) * 8);
		ssize_t n = pread(a->pagemap, entry, sizeof(entry), where);

		if (n < 0)
			die("fragment: pagemap");
		for (unsigned long i = 0; i < (size_t)n / 8 && at + i < a->next; i++) {
			unsigned long pfn = entry[i] & ((1ull << 55) - 1);

			if (!(entry[i] >> 63))
				continue;
			if (!pfn) {
				fputs("fragment: /proc/self/pagemap hides the frames: not root?\n",
				      stderr);
				exit(1);
			}
			seen++;
			fn(a, at + i, pfn, arg);
		}
	}
	if (!seen) {
		fputs("fragment: no page of it is in memory\n", stderr);
		exit(1);
	}
}

/* A row of pages to which something is done when it ends. */
struct row {
	unsigned long low; /* first frame of the upper part */
	unsigned long from, to, pages, rows;
	int upper;  /* rows above, else below */
	int odd;    /* of these, frames with an odd number */
	int advice; /* for madvise; -1: mlock */
};

static void end_row(const struct area *a, struct row *r)
{
	char *at = a->base + r->from * PAGE;
	unsigned long bytes = (r->to - r->from) * PAGE;

	if (!bytes)
		return;
	if (r->advice < 0 ? mlock(at, bytes) < 0 : madvise(at, bytes, r->advice) < 0)
		die(r->advice < 0 ? "fragment: mlock" : "fragment: madvise");
	r->pages += r->to - r->from;
	r->rows++;
	r->from = r->to = 0;
}

static void add_row(const struct area *a, unsigned long page, unsigned long pfn, void *arg)
{
	struct row *r = arg;

	if ((pfn >= r->low) != r->upper || (r->odd && !(pfn & 1)))
		return;
	if (r->to != page) {
		end_row(a, r);
		r->from = page;
	}
	r->to = page + 1;
}

static unsigned long rows(const struct area *a, struct row *r)
{
	each(a, add_row, r);
	end_row(a, r);
	return r->pages;
}

/* Steps 4 and 5. => tables that stay; *made: how many there were */
static unsigned long tables(unsigned long keep, unsigned int of_four, unsigned long *made)
{
	unsigned long room = free_bytes(), want = room > keep ? (room - keep) / PAGE : 0, n, from,
		      kept = 0;
	char *base;

	*made = 0;
	if (!want || !of_four)
		return 0;
	base = mmap(NULL, (want + 1) * BLOCK, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		die("fragment: room for page tables");
	small_pages(base, (want + 1) * BLOCK);
	base += -(unsigned long)base % BLOCK;
	for (n = 0; n < want && (n % 64 || free_bytes() > keep); n++)
		if (((volatile char *)base)[n * BLOCK])
			exit(1);
	for (unsigned long i = from = 0; i <= n; i++) {
		if (i < n && (i % 512 || i / 512 % 4 >= of_four))
			continue;
		if (i > from && munmap(base + from * BLOCK, (i - from) * BLOCK) < 0)
			die("fragment: munmap");
		kept += i < n;
		from = i + 1;
	}
	*made = n;
	return kept;
}

static void make(const struct fragment *f, struct fragment_done *done)
{
	unsigned long low = f->low_bytes / PAGE;
	struct row back = { .low = low, .advice = MADV_DONTNEED };
	struct row lock = { .low = low, .upper = 1, .advice = -1 };
	struct row half = { .low = low, .odd = 1, .advice = MADV_DONTNEED };
	struct area a = { .pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) };
	struct sysinfo s;

	if (a.pagemap < 0)
		die("/proc/self/pagemap");
	if (sysinfo(&s) < 0)
		die("fragment: sysinfo");
	a.pages = 2 * (s.totalram * s.mem_unit / PAGE);
	a.base = mmap(NULL, a.pages * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a.base == MAP_FAILED)
		die("fragment: mmap");
	small_pages(a.base, a.pages * PAGE);
	done->filled = fill(&a, f->keep_bytes);
	done->back = rows(&a, &back);
	done->tables = tables(f->keep_bytes, f->of_four, &done->tables_made);
	done->again = fill(&a, f->keep_bytes);
	if (f->lock)
		done->locked = rows(&a, &lock);
	done->holes = rows(&a, &half);
	done->ready = 1;
}

static void write_number(const char *path, unsigned long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu\n", value);
	lab_write(path, text);
}

int fragment_start(struct fragment *f)
{
	char text[32] = "", byte;
	int ends[2];

	f->done = mmap(NULL, sizeof(*f->done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (f->done == MAP_FAILED || pipe(ends) < 0)
		die("fragment");
	if (lab_line(MIN_FREE, text, sizeof(text)))
		write_number(MIN_FREE, 1024);
	fflush(stdout);
	f->pid = fork();
	if (f->pid < 0)
		die("fragment: fork");
	if (f->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		make(f, f->done);
		close(ends[1]);
		for (;;)
			pause();
	}
	close(ends[1]);
	while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(ends[0]);
	if (*text)
		lab_write(MIN_FREE, text);
	if (f->done->ready)
		return 0;
	fprintf(stderr, "lab: memory was not fragmented\n");
	fragment_stop(f);
	return -1;
}

void fragment_stop(struct fragment *f)
{
	if (f->pid <= 0)
		return;
	kill(f->pid, SIGKILL);
	waitpid(f->pid, NULL, 0);
	f->pid = 0;
}

int fragment_main(int argc, char **argv)
{
	struct fragment f = { .low_bytes = 256ul << 20, .of_four = 3, .keep_bytes = 16ul << 20 };
	unsigned long seconds = 60;

	for (int i = 0; i + 1 < argc; i += 2) {
		unsigned long value = number(argv[i], argv[i + 1]);

		if (!strcmp(argv[i], "--low"))
			f.low_bytes = value;
		else if (!strcmp(argv[i], "--of-four"))
			f.of_four = (unsigned int)value;
		else if (!strcmp(argv[i], "--keep"))
			f.keep_bytes = value;
		else if (!strcmp(argv[i], "--lock"))
			f.lock = (int)value;
		else if (!strcmp(argv[i], "--seconds"))
			seconds = value;
		else
			f.low_bytes = 0;
	}
	if (argc % 2 || !f.low_bytes || f.of_four > 4) {
		fputs("lab fragment [--low Z] [--of-four N] [--keep Z] [--lock 0|1] [--seconds "
		      "S]\n",
		      stderr);
		return 2;
	}
	if (fragment_start(&f) < 0)
		return 1;
	printf("%lu pages filled, %lu of them below %lu MiB; %lu page tables there, %lu left; "
	       "%lu pages around them, %lu holes; %lu locked above\n",
	       f.done->filled + f.done->again, f.done->back, f.low_bytes >> 20, f.done->tables_made,
	       f.done->tables, f.done->again, f.done->holes, f.done->locked);
	fflush(stdout);
	sleep_until(clock_ns(CLOCK_MONOTONIC) + seconds * 1000000000u);
	fragment_stop(&f);
	return 0;
}
