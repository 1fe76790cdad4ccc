/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lruvec.c - the LRU lists and the way on and off them.
 *
 * Problem: every page of a program goes onto a list when it is born and off when it dies, under one
 * lock per zone that is taken with interrupts off (the end of writeback in the disk's interrupt
 * rotates pages). Idea: births collect in a per-CPU batch, deaths come in arrays anyway; each batch
 * is one lock. Reclaimers and mlock see pages only once they are on a list.
 *
 * A waiting page carries PG_lru_pending and remembers its slot (in page->lru.next, not in use yet),
 * but no reference: copy-on-write tests reference counts. Whoever drops the last reference takes
 * the page out of the slot:
 *
 *     freer:    cmpxchg(slot, page, NULL) == page  -> the batch never sees it
 *     drainer:  lru_lock; xchg(slot, NULL) == page -> PG_lru, on the list; unlock
 *
 * If the freer loses, the drainer holds lru_lock until the page is on its list; so the freer takes
 * lru_lock and removes it the ordinary way. Should the freer have read a list link instead of the
 * slot, its cmpxchg compares a link with a struct
 * page address and fails: a link points into a page, never at its start.
 *
 * Invariants: PG_lru <=> on a list, and then the flags name that list; PG_lru and PG_lru_pending
 * never together outside the lock; nr[] counts pages (a compound page counts all of them).
 * Locking: zone->lru_lock, IRQs off, at most LRU_BATCH pages a time; the batch itself preemption
 * off, never in interrupts.
 */
#include "mm/reclaim/lruvec.h"

#include "kernel/preempt.h"
#include "mm/reclaim/workingset.h"

struct lru_batch {
	u32 nr;
	struct page *slot[LRU_BATCH];
};
static DEFINE_PER_CPU(struct lru_batch, lru_batch);

/* The zone lock walked along with pages of many zones; NO_ZID: none held. */
#define NO_ZID NR_ZIDS
struct lru_walk {
	struct zone *zone;
	unsigned int zid, held; /* pages since it was taken */
	unsigned long flags;
};

static __always_inline void walk_unlock(struct lru_walk *w)
{
	if (w->zid == NO_ZID)
		return;
	irq_work(w->held);
	spin_unlock_irqrestore_l(&w->zone->lru_lock, w->flags, "lru_batch");
	w->zid = NO_ZID;
}

/* Holds the lock of page's zone, for at most LRU_BATCH pages in a row. */
static __always_inline void walk_lock(struct lru_walk *w, const struct page *page)
{
	if (unlikely(page_zid(page) != w->zid || w->held == LRU_BATCH)) {
		walk_unlock(w);
		w->zid = page_zid(page);
		w->zone = page_zone(page);
		w->held = 0;
		spin_lock_irqsave_l(&w->zone->lru_lock, w->flags, "lru_batch");
	}
	w->held++;
}

/* Empties a batch of this CPU. => preemption off */
static noinline void drain(struct lru_batch *b)
{
	struct lru_walk w = { .zid = NO_ZID };

	for (u32 i = 0; i < b->nr; i++) {
		struct page *page = READ_ONCE(b->slot[i]);

		if (!page)
			continue; /* freed meanwhile */
		walk_lock(&w, page);
		page = xchg(&b->slot[i], NULL);
		if (unlikely(!page))
			continue;
		if (unlikely(page_test(page, PG_mlocked)))
			page_set(page, PG_unevictable);
		/* From waiting to being on a list, in one step. */
		__atomic_fetch_xor(&page->flags, BIT(PG_lru) | BIT(PG_lru_pending),
				   __ATOMIC_RELAXED);
		lruvec_add_locked(page_lruvec_in(w.zone, page), page, page_lru_list(page));
	}
	walk_unlock(&w);
	b->nr = 0;
}

void lru_add(struct page *page)
{
	struct lru_batch *b;
	struct page **slot;

	ASSERT(!in_interrupt());
	ASSERT(!page_test(page, PG_lru) && !page_test(page, PG_lru_pending));
	preempt_disable_short();
	b = this_cpu_ptr(&lru_batch);
	while (unlikely(b->nr == LRU_BATCH)) {
		preempt_enable_short_later();
		lru_drain_local();
		preempt_disable_short();
		b = this_cpu_ptr(&lru_batch);
	}
	slot = &b->slot[b->nr++];
	page->lru.next = (struct list_head *)slot;
	page_set(page, PG_lru_pending);
	smp_store_release(slot, page);
	preempt_enable_short();
}

void lru_drain_local(void)
{
	struct lru_batch *b;

	preempt_disable();
	b = this_cpu_ptr(&lru_batch);
	if (b->nr)
		drain(b);
	preempt_enable();
}

static void drain_here(void *unused)
{
	lru_drain_local();
}

void lru_drain_all(void)
{
	visit_cpus(drain_here, NULL);
}

void lru_drain_try(void)
{
	visit_cpus_alone(drain_here, NULL);
}

/* A page without references out of its batch. false: it is on a list now. */
static __always_inline bool leave_batch(struct page *page)
{
	struct page **slot = (struct page **)READ_ONCE(page->lru.next);

	if (!page_test(page, PG_lru_pending) || cmpxchg(slot, page, (struct page *)NULL) != page)
		return false;
	page_clear(page, PG_lru_pending);
	return true;
}

static __always_inline void lru_del_locked(struct page *page)
{
	ASSERT(page_test(page, PG_lru));
	lruvec_del_locked(page_lruvec(page), page, page_lru_list(page));
	page_clear(page, PG_lru);
}

void page_lru_release(struct page *page)
{
	struct zone *zone = page_zone(page);
	unsigned long flags;

	if (leave_batch(page))
		return;
	spin_lock_irqsave_l(&zone->lru_lock, flags, "lru_release");
	lru_del_locked(page);
	spin_unlock_irqrestore_l(&zone->lru_lock, flags, "lru_release");
}

void release_pages(struct page **pages, unsigned int nr)
{
	struct lru_walk w = { .zid = NO_ZID };
	unsigned int dead = 0;

	for (unsigned int i = 0; i < nr; i++) {
		struct page *page = pages[i];

		if (!atomic_dec_and_test(&page->refs))
			continue;
		pages[dead++] = page;
		if (!(page->flags & (BIT(PG_lru) | BIT(PG_lru_pending))) ||
		    (unlikely(page->flags & BIT(PG_lru_pending)) && leave_batch(page)))
			continue;
		walk_lock(&w, page);
		ASSERT(page_test(page, PG_lru));
		lruvec_del_locked(page_lruvec_in(w.zone, page), page, page_lru_list(page));
		page->flags &= ~BIT(PG_lru); /* nobody else has it any more */
	}
	walk_unlock(&w);
	for (unsigned int i = 0; i < dead; i++)
		free_frozen_page(pages[i], compound_order(pages[i]));
}

/* Changes flags of a page on a list, and the list with them. */
static void move_page(struct page *page, unsigned long set, unsigned long clear,
		      enum vm_event count)
{
	struct zone *zone = page_zone(page);
	unsigned long flags;
	struct lruvec *v;

	if (page_test(page, PG_lru_pending))
		lru_drain_local(); /* if it waits on another CPU, it will be found in time */
	spin_lock_irqsave_l(&zone->lru_lock, flags, "lru_move");
	if (page_test(page, PG_lru)) {
		v = page_lruvec(page);
		lruvec_del_locked(v, page, page_lru_list(page));
		__atomic_fetch_or(&page->flags, set, __ATOMIC_RELAXED);
		__atomic_fetch_and(&page->flags, ~clear, __ATOMIC_RELAXED);
		lruvec_add_locked(v, page, page_lru_list(page));
		this_cpu_add(vm_events[count], page_nr(page));
	}
	spin_unlock_irqrestore_l(&zone->lru_lock, flags, "lru_move");
}

void lru_activate(struct page *page)
{
	if (page_test(page, PG_active) || page_test(page, PG_unevictable))
		return;
	move_page(page, BIT(PG_active), BIT(PG_referenced), PGACTIVATE);
}

void lru_deactivate(struct page *page)
{
	if (!page_test(page, PG_active) || page_test(page, PG_unevictable))
		return;
	move_page(page, 0, BIT(PG_active) | BIT(PG_referenced), PGDEACTIVATE);
}

void page_mark_accessed(struct page *page)
{
	if (!page_test(page, PG_referenced)) {
		page_set(page, PG_referenced);
	} else if (!page_test(page, PG_active) && !page_test(page, PG_unevictable)) {
		lru_activate(page);
		if (!page_test(page, PG_swapbacked))
			workingset_activation(page);
	}
}

void lru_make_unevictable(struct page *page)
{
	if (!page_test(page, PG_unevictable)) {
		move_page(page, BIT(PG_unevictable), BIT(PG_active), UNEVICTABLE_CULLED);
	}
}

void lru_make_evictable(struct page *page)
{
	if (page_test(page, PG_unevictable)) {
		move_page(page, 0, BIT(PG_unevictable), UNEVICTABLE_RESCUED);
	}
}

/*
 * A reclaimer may hold the page in a batch just now (or it waits in one of lru_add): then the mark
 * takes it to the tail when it comes back.
 */
void page_lru_rotate(struct page *page)
{
	struct zone *zone = page_zone(page);
	unsigned long flags, f;

	spin_lock_irqsave_l(&zone->lru_lock, flags, "lru_rotate");
	f = READ_ONCE(page->flags);
	if (!(f & (BIT(PG_active) | BIT(PG_unevictable) | BIT(PG_dirty)))) {
		if (f & BIT(PG_lru))
			list_move_tail(&page->lru, &page_lruvec(page)->lists[page_lru_list(page)]);
		else
			page_set(page, PG_reclaim);
		count_vm_event(PGROTATED);
	}
	spin_unlock_irqrestore_l(&zone->lru_lock, flags, "lru_rotate");
}

bool lru_isolate(struct page *page)
{
	struct zone *zone = page_zone(page);
	unsigned long flags;
	bool taken = false;

	if (page_test(page, PG_lru_pending))
		lru_drain_local();
	spin_lock_irqsave_l(&zone->lru_lock, flags, "lru_isolate");
	if (page_test(page, PG_lru) && page_get_unless_zero(page)) {
		lru_del_locked(page);
		taken = true;
	}
	spin_unlock_irqrestore_l(&zone->lru_lock, flags, "lru_isolate");
	return taken;
}

void lru_putback(struct page *page)
{
	lru_add(page);
	page_put(page);
}

/* If its writing has ended while it was away (page_lru_rotate); else that is still to come. */
static noinline void back_to_tail_locked(struct page *page)
{
	if (page_test(page, PG_writeback) || page_test(page, PG_dirty))
		return;
	page_clear(page, PG_reclaim);
	if (!page_test(page, PG_active) && !page_test(page, PG_unevictable))
		list_move_tail(&page->lru, &page_lruvec(page)->lists[page_lru_list(page)]);
}

void lru_putback_locked(struct zone *zone, struct page **pages, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		struct page *page = pages[i];

		if (unlikely(page_test(page, PG_mlocked)))
			page_set(page, PG_unevictable);
		page_set(page, PG_lru);
		lruvec_add_locked(page_lruvec_in(zone, page), page, page_lru_list(page));
		if (unlikely(page_test(page, PG_reclaim)))
			back_to_tail_locked(page);
	}
	irq_work(nr);
}

const char *lruvec_check(struct zone *zone)
{
	const char *what = NULL;
	unsigned long flags;

	spin_lock_irqsave_l(&zone->lru_lock, flags, "lruvec_check");
	for (int lru = 0; lru < NR_LRU_LISTS && !what; lru++) {
		const struct page *page;
		u32 n = 0;

		if ((zone->lruvec.nr[lru] == 0) != list_empty(&zone->lruvec.lists[lru]))
			what = "an LRU counter is zero with pages on its list, or the other way";
		list_for_each_entry(page, &zone->lruvec.lists[lru], lru) {
			if (n++ == LRU_BATCH || what)
				break;
			if (!page_test(page, PG_lru) || (int)page_lru_list(page) != lru)
				what = "a page is on another LRU list than its flags say";
			else if (page_zone(page) != zone)
				what = "a page is on another zone's LRU list";
		}
	}
	spin_unlock_irqrestore_l(&zone->lru_lock, flags, "lruvec_check");
	return what;
}
