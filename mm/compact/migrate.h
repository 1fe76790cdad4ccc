/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * migrate.h - moving pages in use to other frames: compaction, move_pages(2) and their like.
 */
#ifndef MM_COMPACT_MIGRATE_H
#define MM_COMPACT_MIGRATE_H

#include "mm/phys/page_alloc.h"

enum migrate_mode {
	MIGRATE_ASYNC, /* page locks are only tried, pages under writeback passed over */
	MIGRATE_SYNC,
};

struct migrate_control {
	enum migrate_mode mode;
	/* no lock above mm is held: locks of pages and mappings may be waited for */
	bool wait_rmap;
	/* A fresh page for old, refs 1; NULL: none left, the rest stays. => may sleep */
	struct page *(*get_new)(struct page *old, struct migrate_control *mc);
	/* It was not used; NULL: page_put */
	void (*put_new)(struct page *page, struct migrate_control *mc);
	/* Outcome of each page, once: 0 or -errno; may be NULL. => old is still referenced */
	void (*done)(struct page *old, int result, struct migrate_control *mc);
	void *arg;
	unsigned long nr_succeeded, nr_failed; /* out */
};

/*
 * Off the LRU with a reference, PG_isolated, counted as isolated. false: it is on no list.
 * => thread context; the caller knows that it is a page that can be on one
 */
bool migrate_isolate(struct page *page);
/* Those left on a list after migrate_pages(): back to the LRU. */
void migrate_putback(struct list_head *pages);
/*
 * Isolated pages, linked by lru, each to a frame from get_new. Those that moved leave the list. 0,
 * or how many stayed; -ENOMEM: get_new had none. => may sleep
 */
int migrate_pages(struct list_head *pages, struct migrate_control *mc);
/*
 * One isolated page. 0: old's contents, mappings and place in its cache are new's, new is on the
 * LRU, old is free when the caller puts it. -EAGAIN: not now; new is as fresh as before. => both
 * referenced by the caller, who puts both
 */
int migrate_page(struct page *old, struct page *new, const struct migrate_control *mc);

#endif
