/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lruvec.h - pages that can be reclaimed, in the order of their last use: five lists per (memory
 * group, zone). A page's list follows from its flags: PG_unevictable, else PG_swapbacked (anon or
 * file list), PG_active.
 * => while PG_lru is set these flags change under zone->lru_lock only (the functions here); before
 *    lru_add() freely.
 */
#ifndef MM_RECLAIM_LRUVEC_H
#define MM_RECLAIM_LRUVEC_H

#include "mm/memcg/memcg.h"
#include "mm/phys/page_alloc.h"

#define LRU_BATCH 32

static __always_inline enum lru_list page_lru_list(const struct page *page)
{
	unsigned long f = READ_ONCE(page->flags);

	if (unlikely(f & BIT(PG_unevictable)))
		return LRU_UNEVICTABLE;
	return (enum lru_list)((f & BIT(PG_swapbacked) ? 0 : LRU_INACTIVE_FILE) +
			       ((f >> PG_active) & 1));
}

/*
 * Puts a page on the list its flags say (PG_mlocked: unevictable), in this CPU's batch of at most
 * LRU_BATCH. Takes no
 * reference: a page freed before its batch is through leaves the batch. => thread context; page is
 * on no list.
 */
void lru_add(struct page *page);
/*
 * Drops one reference of each; those at 0 leave the LRU and are freed, lru_lock at most 32 pages at
 * a time.
 * => thread context; the array's contents are destroyed; compound heads are fine.
 */
void release_pages(struct page **pages, unsigned int nr);
/* Second touch: to the active list. => caller has a reference; any context but interrupts */
void lru_activate(struct page *page);
void lru_deactivate(struct page *page);
/* A use of a page (read, write): first PG_referenced, then active. => caller has a reference */
void page_mark_accessed(struct page *page);
/*
 * mlock, munlock: to and from the unevictable list; the caller sets and clears PG_mlocked itself,
 * before.
 */
void lru_make_unevictable(struct page *page);
void lru_make_evictable(struct page *page);
/*
 * Takes the page off its list and a reference for the caller. false: it is on none. Back with
 * lru_putback().
 */
bool lru_isolate(struct page *page);
void lru_putback(struct page *page); /* lru_add() and drops lru_isolate()'s reference */
/*
 * Many of one zone, at most LRU_BATCH, each referenced and on no list: onto the lists their flags
 * say; the references stay. => lru_lock
 */
void lru_putback_locked(struct zone *zone, struct page **pages, u32 nr);
/* Waiting additions onto their lists: this CPU's, every CPU's (these may sleep). */
void lru_drain_local(void);
void lru_drain_all(void);
void lru_drain_try(void); /* unless somebody is at it */
/* Validator. => NULL or what is wrong; looks at up to 32 pages of each list. */
const char *lruvec_check(struct zone *zone);

/* For reclaim, with the lock held. */
static __always_inline void lruvec_count_locked(struct lruvec *v, enum lru_list lru, long n)
{
	v->nr[lru] += n;
	/* All lists of a zone change under its one lru_lock, so its counter needs no locked add. */
	v->zone->vm_stat[NR_INACTIVE_ANON + lru].v += n;
}
static __always_inline void lruvec_del_locked(struct lruvec *v, struct page *page,
					      enum lru_list lru)
{
	__list_del(&page->lru);
	lruvec_count_locked(v, lru, -(long)page_nr(page));
}
static __always_inline void lruvec_add_locked(struct lruvec *v, struct page *page,
					      enum lru_list lru)
{
	list_add(&page->lru, &v->lists[lru]);
	lruvec_count_locked(v, lru, page_nr(page));
}

#endif
