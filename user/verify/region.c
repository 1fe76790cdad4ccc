/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * region.c - the kinds of memory: made, written, checked.
 *
 * A region of one thread is nobody else's, so what it holds is known. A shared one has a byte per
 * page that a process takes before it works on the page; who finds it taken goes elsewhere. Files
 * are also read and written behind the back of their mappings: both see one page.
 */
#define _GNU_SOURCE
#include "verify.h"
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

const char *const kind_name[NR_KINDS] = { "anon", "private", "mapped",	"cached",
					  "huge", "shared",  "tmpfile", "segment" };

static void *must_map(size_t size, int prot, int flags, int fd)
{
	void *p = mmap(NULL, size, prot, flags, fd, 0);

	if (p == MAP_FAILED)
		die("verify: mmap");
	return p;
}

static int file_of(enum kind kind, uint32_t owner, size_t size, const char *dir)
{
	char path[200];
	int fd;

	if (kind == TMPFILE) {
		fd = memfd_create("verify", MFD_CLOEXEC);
	} else {
		snprintf(path, sizeof(path), "%s/verify-%x", dir, owner);
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		unlink(path);
	}
	if (fd < 0 || ftruncate(fd, (off_t)size))
		die("verify: a file for the load");
	return fd;
}

static void *segment_of(size_t size)
{
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	void *p = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

	if (p == (void *)-1)
		die("verify: shared memory segment");
	shmctl(id, IPC_RMID, NULL);
	return p;
}

/* A private mapping shows the file until it is written to: so the file is filled first. */
static void fill_file(struct region *r)
{
	uint64_t buffer[WORDS];

	for (uint32_t i = 0; i < r->pages; i++) {
		page_fill(buffer, r, i, 1);
		if (pwrite(r->fd, buffer, PAGE, (off_t)(i * PAGE)) != (ssize_t)PAGE)
			die("verify: filling a file");
		r->generation[i] = 1;
	}
}

void region_make(struct region *r, enum kind kind, uint32_t owner, uint32_t pages, const char *dir)
{
	int private = MAP_PRIVATE | MAP_ANONYMOUS, shared = MAP_SHARED | MAP_ANONYMOUS;
	bool common = kind >= SHARED;
	unsigned char *base = NULL;
	size_t size;

	if (kind == HUGE)
		pages = (pages + HUGE_PAGES - 1) / HUGE_PAGES * HUGE_PAGES;
	pages = (pages + CHUNK - 1) / CHUNK * CHUNK;
	size = pages * PAGE;
	*r = (struct region){ .kind = kind, .owner = owner | kind, .pages = pages, .fd = -1 };
	if (!pages)
		return;
	r->generation = must_map(pages * sizeof(*r->generation), PROT_READ | PROT_WRITE,
				 common ? shared : private, -1);
	if (common)
		r->page_lock = must_map(pages, PROT_READ | PROT_WRITE, shared, -1);
	if (kind == PRIVATE || kind == MAPPED || kind == CACHED || kind == TMPFILE)
		r->fd = file_of(kind, r->owner, size, dir);
	if (kind == PRIVATE)
		fill_file(r);
	if (kind == SEGMENT)
		base = segment_of(size);
	else if (kind == HUGE)
		base = huge_map(pages);
	else if (kind != CACHED)
		base = must_map(size, PROT_READ | PROT_WRITE,
				r->fd >= 0 ? (kind == PRIVATE ? MAP_PRIVATE : MAP_SHARED)
					   : (common ? shared : private),
				r->fd);
	if (!base)
		return;
	r->chunk = calloc(pages / CHUNK, sizeof(*r->chunk));
	if (!r->chunk)
		die("verify");
	for (uint32_t i = 0; i < pages / CHUNK; i++)
		r->chunk[i] = base + i * CHUNK * PAGE;
}

bool region_hold(struct region *r, uint32_t index)
{
	return !r->page_lock || !__atomic_exchange_n(&r->page_lock[index], 1, __ATOMIC_ACQUIRE);
}

void region_drop(struct region *r, uint32_t index)
{
	if (r->page_lock)
		__atomic_store_n(&r->page_lock[index], 0, __ATOMIC_RELEASE);
}

static void check_by_read(struct worker *w, struct region *r, uint32_t index, uint32_t generation)
{
	count(reread, 1);
	if (pread(r->fd, w->buffer, PAGE, (off_t)(index * PAGE)) != (ssize_t)PAGE)
		failed("read", r, index);
	else
		page_check(w->buffer, r, index, generation, "read");
}

void region_check(struct worker *w, struct region *r, uint32_t index)
{
	bool by_read = r->fd >= 0 && (!r->chunk || random_next(&w->seed) % 8 == 0);

	if (by_read) /* the file behind a private mapping stays what it was */
		check_by_read(w, r, index, r->kind == PRIVATE ? 1 : r->generation[index]);
	if (r->chunk)
		page_check(region_page(r, index), r, index, r->generation[index], "memory");
}

void region_write(struct worker *w, struct region *r, uint32_t index)
{
	uint32_t generation = r->generation[index] + 1;
	bool by_write =
		r->fd >= 0 && r->kind != PRIVATE && (!r->chunk || random_next(&w->seed) % 8 == 0);

	if (by_write) {
		page_fill(w->buffer, r, index, generation);
		if (pwrite(r->fd, w->buffer, PAGE, (off_t)(index * PAGE)) != (ssize_t)PAGE) {
			failed("write", r, index);
			return;
		}
	} else {
		page_fill(region_page(r, index), r, index, generation);
	}
	r->generation[index] = generation;
	count(written[r->kind], 1);
}
