/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify.h - the verifying load: what its files share. Every page of memory says whose it is, and
 * the whole of it follows from that.
 */
#ifndef USER_VERIFY_H
#define USER_VERIFY_H

#include "../lab.h"
#include <pthread.h>
#include <stdbool.h>

#define PAGE 4096ul
#define WORDS (PAGE / 8)
#define CHUNK 64u	/* pages that are moved and protected together */
#define HUGE_PAGES 512u /* in a huge page */

/*
 * Kinds of memory. Those before SHARED belong to one thread alone, the others to all processes.
 */
enum kind {
	ANON,	 /* private, anonymous */
	PRIVATE, /* a file of a disk, mapped privately */
	MAPPED,	 /* the same, mapped shared */
	CACHED,	 /* the same, by read and write */
	HUGE,	 /* private, anonymous, in aligned places of HUGE_PAGES */
	SHARED,	 /* anonymous, shared */
	TMPFILE, /* a file in memory, mapped and by read and write */
	SEGMENT, /* System V */
	NR_KINDS,
};
extern const char *const kind_name[NR_KINDS];

struct region {
	enum kind kind;
	uint32_t owner; /* process << 16 | thread << 8 | kind */
	uint32_t pages;
	int fd;
	unsigned char **chunk;	  /* where its pages are, CHUNK at a time; NULL: not mapped */
	uint32_t *generation;	  /* of each page; 0: never written, all zero */
	unsigned char *page_lock; /* shared kinds: one byte per page */
};

/* What was done with huge pages. */
struct huge_counts {
	unsigned long cut, protected, forked, moved, renewed, dropped, paged_out, locked, peeked;
	unsigned long asked, done; /* put together */
};

/* One for all processes, in shared memory. */
struct shared {
	unsigned long checked[NR_KINDS], written[NR_KINDS], reread;
	unsigned long forks, moves, protects, drops, cuts, holes;
	unsigned long sent, stayed; /* pages from node to node */
	struct huge_counts huge;
	unsigned long wrong_pages, wrong_bytes, failures;
	int stop, ready;
};
extern struct shared *all;
#define count(field, n) __atomic_fetch_add(&all->field, (n), __ATOMIC_RELAXED)

struct worker {
	struct region own[SHARED], *common; /* common: NR_KINDS - SHARED of them */
	unsigned number;		    /* over all processes */
	uint64_t seed;
	uint64_t buffer[WORDS];
	const char *dir;
	uint64_t *bounce; /* a page, and a file without cache (huge.c) */
	int direct;
};

/* ---- page.c ---- */
void page_fill(uint64_t *page, const struct region *r, uint32_t index, uint32_t generation);
/* Checks bytes [from, to) of the page; says what is wrong with it and counts it. */
bool page_check_part(const uint64_t *page, const struct region *r, uint32_t index,
		     uint32_t generation, const char *how, size_t from, size_t to);
bool page_check(const uint64_t *page, const struct region *r, uint32_t index, uint32_t generation,
		const char *how);
/* Its first and last words only. */
bool page_check_edges(const uint64_t *page, const struct region *r, uint32_t index,
		      uint32_t generation);
void failed(const char *what, const struct region *r, uint32_t index);

/* ---- region.c ---- */
/* dir: for the kinds on a disk. Exits with a message when the system has no room. */
void region_make(struct region *r, enum kind kind, uint32_t owner, uint32_t pages, const char *dir);
void region_check(struct worker *w, struct region *r, uint32_t index);
void region_write(struct worker *w, struct region *r, uint32_t index);
/* Its page for the caller alone; false: somebody is at it. */
bool region_hold(struct region *r, uint32_t index);
void region_drop(struct region *r, uint32_t index);
static inline uint64_t *region_page(const struct region *r, uint32_t index)
{
	return (uint64_t *)(r->chunk[index / CHUNK] + index % CHUNK * PAGE);
}

/*
 * Held by threads that make a hole in the address space for a moment, and by all that map anything
 * where there is room. Not in children of a fork.
 */
extern pthread_mutex_t map_lock;

/* ---- tricks.c ---- */
/* Something else than reading and writing, with memory whose contents stay known. */
void trick(struct worker *w);

/* ---- huge.c ---- */
/* Aligned memory for huge pages; pages: a multiple of HUGE_PAGES. Exits when there is none. */
unsigned char *huge_map(uint32_t pages);
/* Something that takes a huge page apart, or puts one together. */
void trick_huge(struct worker *w);
void huge_report(void);

/* ---- nodes.c ---- */
/* Some pages are asked to another node; their contents go along. */
void send_to_node(struct worker *w, unsigned nodes);

#endif
