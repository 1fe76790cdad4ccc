/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tricks.c - fork, mremap, mprotect, madvise, truncation and holes between the reads and writes.
 * What the pages hold afterwards is defined for each, so the check goes on.
 */
#define _GNU_SOURCE
#include "verify.h"
#include <sys/mman.h>
#include <sys/wait.h>

#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif
#define CHUNK_BYTES (CHUNK * PAGE)
#define SAMPLE 24

static uint32_t below(struct worker *w, uint32_t n)
{
	return (uint32_t)(random_next(&w->seed) % n);
}

static void check_some(struct worker *w, struct region *r, unsigned n)
{
	for (unsigned i = 0; r->pages && i < n; i++)
		region_check(w, r, below(w, r->pages));
}

static void write_some(struct worker *w, struct region *r, unsigned n)
{
	for (unsigned i = 0; r->pages && i < n; i++)
		region_write(w, r, below(w, r->pages));
}

/* The child has the memory of its birth, whatever the parent writes meanwhile, and the reverse. */
static void trick_fork(struct worker *w)
{
	struct region *anon = &w->own[ANON], *copy = &w->own[PRIVATE];
	int status = -1;
	pid_t pid = fork();

	if (pid < 0) {
		failed("fork", anon, 0);
		return;
	}
	if (pid == 0) {
		check_some(w, anon, SAMPLE);
		write_some(w, anon, SAMPLE / 2);
		write_some(w, copy, SAMPLE / 4);
		check_some(w, anon, SAMPLE);
		check_some(w, copy, SAMPLE);
		_exit(0);
	}
	count(forks, 1);
	random_next(&w->seed); /* other pages than the child's */
	write_some(w, anon, SAMPLE);
	write_some(w, copy, SAMPLE / 2);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		failed("a child died", anon, (uint32_t)status);
	check_some(w, anon, SAMPLE);
}

static void trick_move(struct worker *w, struct region *r, uint32_t c)
{
	unsigned char *to;
	bool ok;

	pthread_mutex_lock(&map_lock);
	to = mmap(NULL, CHUNK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ok = to != MAP_FAILED &&
	     mremap(r->chunk[c], CHUNK_BYTES, CHUNK_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
	pthread_mutex_unlock(&map_lock);
	if (!ok) {
		failed("mremap", r, c * CHUNK);
		return;
	}
	r->chunk[c] = to;
	count(moves, 1);
	region_check(w, r, c * CHUNK + below(w, CHUNK));
}

static void trick_protect(struct worker *w, struct region *r, uint32_t c)
{
	int prot = below(w, 2) ? PROT_READ : PROT_NONE;

	if (mprotect(r->chunk[c], CHUNK_BYTES, prot))
		failed("mprotect", r, c * CHUNK);
	for (unsigned i = 0; prot == PROT_READ && i < 4; i++)
		region_check(w, r, c * CHUNK + below(w, CHUNK));
	if (mprotect(r->chunk[c], CHUNK_BYTES, PROT_READ | PROT_WRITE))
		failed("mprotect", r, c * CHUNK);
	region_check(w, r, c * CHUNK + below(w, CHUNK));
	region_write(w, r, c * CHUNK + below(w, CHUNK));
	count(protects, 1);
}

/* A few pages are let go: zero, what the file holds, or (shared) what they were. */
static void trick_drop(struct worker *w, struct region *r, uint32_t c)
{
	uint32_t first = below(w, CHUNK), n = 1 + below(w, CHUNK - first);
	unsigned char *at = r->chunk[c] + first * PAGE;

	if (below(w, 2)) { /* told to be of no use just now; kernels may not know the words */
		if (madvise(at, n * PAGE, below(w, 2) ? MADV_COLD : MADV_PAGEOUT) &&
		    errno != EINVAL)
			failed("madvise", r, c * CHUNK + first);
	} else {
		n = n > 4 ? 4 : n;
		if (madvise(at, n * PAGE, MADV_DONTNEED))
			failed("madvise", r, c * CHUNK + first);
		for (uint32_t i = first; i < first + n && r->kind != MAPPED; i++)
			r->generation[c * CHUNK + i] = r->kind == PRIVATE;
	}
	count(drops, 1);
	region_check(w, r, c * CHUNK + first);
	region_check(w, r, c * CHUNK + first + n - 1);
}

/* The file becomes shorter, ends inside a page, and becomes as long as it was. */
static void trick_cut(struct worker *w, struct region *r)
{
	uint32_t index = r->pages - 1 - below(w, 8), generation = r->generation[index];
	off_t cut = (off_t)(index * PAGE) + 8 * (off_t)below(w, WORDS);
	const uint64_t zero[WORDS] = { 0 };
	size_t in = (size_t)cut % PAGE;

	if (ftruncate(r->fd, cut) || ftruncate(r->fd, (off_t)(r->pages * PAGE)) ||
	    pread(r->fd, w->buffer, PAGE, (off_t)(index * PAGE)) != (ssize_t)PAGE) {
		failed("truncate", r, index);
		return;
	}
	page_check_part(w->buffer, r, index, generation, "before the cut", 0, in);
	if (memcmp((char *)w->buffer + in, zero, PAGE - in))
		page_check_part(w->buffer, r, index, 0, "behind the cut", in, PAGE);
	for (uint32_t i = index + 1; i < r->pages; i++)
		r->generation[i] = 0;
	region_write(w, r, index);
	check_some(w, r, 2);
	region_check(w, r, r->pages - 1);
	count(cuts, 1);
}

/* A hole in a file in memory: a page, or a piece of it. */
static void trick_hole(struct worker *w, struct region *r)
{
	uint32_t index = below(w, r->pages), from = 8 * below(w, WORDS);
	bool whole = below(w, 2);

	if (!region_hold(r, index))
		return;
	if (whole)
		from = 0;
	if (fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)(index * PAGE + from), (off_t)(PAGE - from)))
		failed("hole", r, index);
	page_check_part(region_page(r, index), r, index, r->generation[index], "before the hole", 0,
			from);
	page_check_part(region_page(r, index), r, index, 0, "in the hole", from, PAGE);
	if (whole)
		r->generation[index] = 0;
	else
		region_write(w, r, index);
	region_check(w, r, index);
	count(holes, 1);
	region_drop(r, index);
}

void trick(struct worker *w)
{
	enum kind kind = (enum kind[]){ ANON, ANON, PRIVATE, MAPPED }[below(w, 4)];
	struct region *r = &w->own[kind], *file = &w->own[below(w, 2) ? MAPPED : CACHED];
	struct region *tmp = &w->common[TMPFILE - SHARED];
	uint32_t c = r->pages ? below(w, r->pages / CHUNK) : 0;

	switch (below(w, 8)) {
	case 0:
		if (w->own[ANON].pages)
			trick_fork(w);
		break;
	case 1:
	case 2:
		if (r->pages)
			trick_move(w, r, c);
		break;
	case 3:
		if (r->pages)
			trick_protect(w, r, c);
		break;
	case 4:
	case 5:
		if (r->pages)
			trick_drop(w, r, c);
		break;
	case 6:
		if (file->pages)
			trick_cut(w, file);
		break;
	default:
		if (tmp->pages)
			trick_hole(w, tmp);
	}
}
