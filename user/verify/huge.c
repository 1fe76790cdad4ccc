/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * huge.c - memory in huge pages, and everything that takes them apart and puts them together.
 *
 * The pages of the region are numbered as in all others; 512 of them fill one aligned place of
 * 2 MiB. A round picks such a place, does something with a part of it (or with all of it), asks for
 * it to be put together again, and looks at the first and last words of all 512 pages and at all of
 * a few. On a kernel without huge pages the same calls are made on small ones.
 */
#define _GNU_SOURCE
#include "verify.h"
#include <sys/mman.h>
#include <sys/wait.h>

#ifndef MADV_PAGEOUT
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define PLACE (HUGE_PAGES * PAGE)
#define CHUNKS (HUGE_PAGES / CHUNK)

static uint32_t below(struct worker *w, uint32_t n)
{
	return (uint32_t)(random_next(&w->seed) % n);
}

/* n aligned places in a row, not accessible */
static unsigned char *reserve(size_t n)
{
	size_t size = n * PLACE, front;
	unsigned char *p = mmap(NULL, size + PLACE, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	front = -(uintptr_t)p % PLACE;
	if (front)
		munmap(p, front);
	if (PLACE - front)
		munmap(p + front + size, PLACE - front);
	return p + front;
}

static bool map_at(unsigned char *at, size_t size)
{
	if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != at)
		return false;
	return !madvise(at, size, MADV_HUGEPAGE) || errno == EINVAL;
}

unsigned char *huge_map(uint32_t pages)
{
	unsigned char *p = reserve(pages / HUGE_PAGES);

	if (!p || !map_at(p, pages * PAGE))
		die("verify: memory for huge pages");
	return p;
}

static unsigned char *place_of(const struct region *r, uint32_t h)
{
	return r->chunk[h * CHUNKS];
}

/* The edges of all 512 pages, and all of some. */
static void look(struct worker *w, struct region *r, uint32_t h)
{
	for (uint32_t i = h * HUGE_PAGES; i < (h + 1) * HUGE_PAGES; i++)
		page_check_edges(region_page(r, i), r, i, r->generation[i]);
	for (unsigned i = 0; i < 4; i++)
		region_check(w, r, h * HUGE_PAGES + below(w, HUGE_PAGES));
}

static void write_some(struct worker *w, struct region *r, uint32_t h, unsigned n)
{
	while (n--)
		region_write(w, r, h * HUGE_PAGES + below(w, HUGE_PAGES));
}

static void forgotten(struct region *r, uint32_t first, uint32_t n)
{
	memset(r->generation + first, 0, n * sizeof(*r->generation));
}

/* A run of its pages, or now and then all of it. */
static uint32_t part(struct worker *w, uint32_t *first)
{
	if (!below(w, 6)) {
		*first = 0;
		return HUGE_PAGES;
	}
	*first = below(w, HUGE_PAGES);
	return 1 + below(w, HUGE_PAGES - *first < 64 ? HUGE_PAGES - *first : 64);
}

/* Unmapped, and new memory there. */
static void cut_out(struct worker *w, struct region *r, uint32_t h)
{
	uint32_t first, n = part(w, &first);
	unsigned char *at = place_of(r, h) + first * PAGE;

	pthread_mutex_lock(&map_lock);
	if (munmap(at, n * PAGE) || !map_at(at, n * PAGE))
		failed("unmapping a part", r, h * HUGE_PAGES + first);
	pthread_mutex_unlock(&map_lock);
	forgotten(r, h * HUGE_PAGES + first, n);
	count(huge.cut, 1);
}

static void protect(struct worker *w, struct region *r, uint32_t h)
{
	uint32_t first, n = part(w, &first);
	unsigned char *at = place_of(r, h) + first * PAGE;
	int prot = below(w, 2) ? PROT_READ : PROT_NONE;

	if (mprotect(at, n * PAGE, prot))
		failed("mprotect", r, h * HUGE_PAGES + first);
	if (prot == PROT_READ)
		look(w, r, h);
	if (mprotect(at, n * PAGE, PROT_READ | PROT_WRITE))
		failed("mprotect", r, h * HUGE_PAGES + first);
	count(huge.protected, 1);
}

/* Both sides write; each has its own afterwards. */
static void fork_it(struct worker *w, struct region *r, uint32_t h)
{
	int status = -1;
	pid_t pid = fork();

	if (pid < 0) {
		failed("fork", r, h * HUGE_PAGES);
		return;
	}
	if (pid == 0) {
		look(w, r, h);
		write_some(w, r, h, 6);
		if (below(w, 2))
			madvise(place_of(r, h), PLACE, MADV_COLLAPSE);
		look(w, r, h);
		_exit(0);
	}
	random_next(&w->seed);
	write_some(w, r, h, 6);
	look(w, r, h);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		failed("a child died", r, (uint32_t)status);
	count(huge.forked, 1);
}

static bool move_to(unsigned char *from, unsigned char *to, size_t size)
{
	return mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
}

/* Many mappings by now, which can neither be moved nor put together: begin anew. */
static void renew(struct worker *w, struct region *r, uint32_t h)
{
	if (!map_at(place_of(r, h), PLACE))
		failed("mmap", r, h * HUGE_PAGES);
	forgotten(r, h * HUGE_PAGES, HUGE_PAGES);
	for (uint32_t i = 0; i < HUGE_PAGES; i += 2)
		region_write(w, r, h * HUGE_PAGES + i);
}

/* To another aligned place; or a part away and back. => map_lock; false: many mappings */
static bool move_pages(struct worker *w, struct region *r, uint32_t h)
{
	unsigned char *at = place_of(r, h), *to = reserve(1);
	uint32_t first, n = part(w, &first);
	bool whole = n == HUGE_PAGES || below(w, 2);

	if (!to || !move_to(whole ? at : at + first * PAGE, to, whole ? PLACE : n * PAGE)) {
		if (!to || errno != EFAULT)
			failed("mremap", r, h * HUGE_PAGES);
		if (to)
			munmap(to, PLACE);
		return false;
	}
	if (whole) {
		for (uint32_t i = 0; i < CHUNKS; i++)
			r->chunk[h * CHUNKS + i] = to + i * CHUNK * PAGE;
		return true;
	}
	if (!move_to(to, at + first * PAGE, n * PAGE))
		failed("mremap back", r, h * HUGE_PAGES + first);
	munmap(to, PLACE);
	return true;
}

static void move_it(struct worker *w, struct region *r, uint32_t h)
{
	pthread_mutex_lock(&map_lock);
	if (move_pages(w, r, h)) {
		count(huge.moved, 1);
	} else {
		renew(w, r, h);
		count(huge.renewed, 1);
	}
	pthread_mutex_unlock(&map_lock);
}

static void let_go(struct worker *w, struct region *r, uint32_t h)
{
	uint32_t first, n = part(w, &first);

	if (madvise(place_of(r, h) + first * PAGE, n * PAGE, MADV_DONTNEED))
		failed("madvise", r, h * HUGE_PAGES + first);
	forgotten(r, h * HUGE_PAGES + first, n);
	count(huge.dropped, 1);
}

static void page_out(struct worker *w, struct region *r, uint32_t h)
{
	uint32_t first, n = part(w, &first);

	if (madvise(place_of(r, h) + first * PAGE, n * PAGE,
		    below(w, 4) ? MADV_PAGEOUT : MADV_COLD) &&
	    errno != EINVAL)
		failed("madvise", r, h * HUGE_PAGES + first);
	count(huge.paged_out, 1);
}

static void lock_it(struct worker *w, struct region *r, uint32_t h)
{
	uint32_t first, n = part(w, &first);
	unsigned char *at = place_of(r, h) + first * PAGE;

	n = n > 16 ? 16 : n;
	if (mlock(at, n * PAGE)) {
		if (errno != ENOMEM && errno != EPERM && errno != EAGAIN)
			failed("mlock", r, h * HUGE_PAGES + first);
		return;
	}
	look(w, r, h);
	if (munlock(at, n * PAGE))
		failed("munlock", r, h * HUGE_PAGES + first);
	count(huge.locked, 1);
}

/* The kernel takes hold of one page by its address: to a disk and back. */
static void peek(struct worker *w, struct region *r, uint32_t h)
{
	uint32_t i = h * HUGE_PAGES + below(w, HUGE_PAGES);
	char path[200];

	if (!w->dir)
		return;
	if (!w->bounce) {
		pthread_mutex_lock(&map_lock);
		w->bounce = aligned_alloc(PAGE, PAGE);
		snprintf(path, sizeof(path), "%s/verify-%x-direct", w->dir, r->owner);
		w->direct = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_DIRECT, 0600);
		unlink(path);
		if (!w->bounce || w->direct < 0)
			die("verify: a file without cache");
		pthread_mutex_unlock(&map_lock);
	}
	if (pwrite(w->direct, region_page(r, i), PAGE, 0) != (ssize_t)PAGE ||
	    pread(w->direct, w->bounce, PAGE, 0) != (ssize_t)PAGE)
		failed("direct write and read", r, i);
	else
		page_check(w->bounce, r, i, r->generation[i], "sent to a disk");
	count(huge.peeked, 1);
}

static void put_together(struct region *r, uint32_t h)
{
	count(huge.asked, 1);
	if (!madvise(place_of(r, h), PLACE, MADV_COLLAPSE))
		count(huge.done, 1);
	else if (errno != EAGAIN && errno != EBUSY && errno != ENOMEM && errno != EINVAL)
		failed("MADV_COLLAPSE", r, h * HUGE_PAGES);
}

void trick_huge(struct worker *w)
{
	struct region *r = &w->own[HUGE];
	static void (*const tricks[])(struct worker *, struct region *, uint32_t) = {
		cut_out, protect, move_it, let_go, page_out, lock_it, peek, fork_it,
	};
	uint32_t h;

	if (!r->pages)
		return;
	h = below(w, r->pages / HUGE_PAGES);
	tricks[below(w, sizeof(tricks) / sizeof(tricks[0]))](w, r, h);
	look(w, r, h);
	write_some(w, r, h, 4);
	if (below(w, 4)) {
		put_together(r, h);
		look(w, r, h);
	}
}

void huge_report(void)
{
	const struct huge_counts *c = &all->huge;

	printf("verify: huge: %lu cut, %lu protected, %lu forked, %lu moved, %lu made anew, %lu "
	       "let go, %lu paged "
	       "out, %lu locked, %lu sent to a disk; %lu of %lu put together\n",
	       c->cut, c->protected, c->forked, c->moved, c->renewed, c->dropped, c->paged_out,
	       c->locked, c->peeked, c->done, c->asked);
}
