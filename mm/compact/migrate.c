/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * migrate.c - a page in use gets another frame.
 *
 * Problem: a frame is wanted (for a block, for another node) and a page lies there that programs
 * map, a file's index names, a slot of swap stands for. Idea: take the page from everybody who can
 * reach it without a reference, and see by the count that nobody else has it:
 *
 *   page tables   every entry becomes a migration entry                 mm/vm/migrmap.c
 *   LRU           isolated before                                       migrate_isolate
 *   page cache    the new page takes the slot, old count frozen         mm/cache/migrate.c
 *   swap cache    the same                                              mm/swap/cache.c
 *   a device      PG_writeback, or locked while it is read: not now
 *   references    any more than ours and the cache's: not now
 *
 *   lock old -> entries away -> exchange -> copy -> entries to new -> unlock both -> old is free
 *
 * Between exchange and copy the new page is found, but locked and not uptodate: who finds it waits.
 * If the exchange fails the entries become mappings of the old page again. So whoever holds a
 * reference to a page may rely on its mapping, index and slot: it does not migrate.
 *
 * Invariants: from the first entry taken to the last given back both pages are locked and the lock
 * of the page's mappings is held; swap_page_alone's sum is true under the page lock as ever.
 * Locking: page lock, rmap lock (only tried unless the caller knows better), index locks inside.
 * Interrupts are off for the exchange alone (one page), and in the LRU's sections.
 * Source: [seed-002]'s kernels for what it is for; own code.
 */
#include "mm/compact/migrate.h"

#include "lib/errno.h"
#include "mm/cache/mapping.h"
#include "mm/reclaim/lruvec.h"
#include "mm/swap/swap.h"
#include "mm/vm/rmap.h"
#include "sched/sched.h"

#define PASSES_ASYNC 3
#define PASSES_SYNC 10

static enum zone_stat_item isolated_item(const struct page *page)
{
	return page_test(page, PG_swapbacked) ? NR_ISOLATED_ANON : NR_ISOLATED_FILE;
}

bool migrate_isolate(struct page *page)
{
	if (page_test(page, PG_head) || page_test(page, PG_tail) || !lru_isolate(page))
		return false;
	page_set(page, PG_isolated);
	mod_zone_state(page_zone(page), isolated_item(page), 1);
	return true;
}

/* It is no longer a page on its way. */
static void not_isolated(struct page *page)
{
	mod_zone_state(page_zone(page), isolated_item(page), -1);
	page_clear(page, PG_isolated);
}

void migrate_putback(struct list_head *pages)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, pages, lru) {
		not_isolated(page);
		lru_putback(page);
		cond_resched();
	}
	list_init(pages);
}

static bool in_cache(const struct page *page)
{
	return page_test(page, PG_swapcache) || (page->mapping && !page_test(page, PG_anon));
}

/* Somebody is at work on it: references nobody who maps or caches it has, ours taken off. */
static bool is_held(const struct page *page)
{
	int mapped = page_mapcount(page);

	smp_rmb(); /* a mapping that goes gives its reference back afterwards */
	return atomic_read(&page->refs) > 1 + in_cache(page) + mapped;
}

/* 0: locked, and nothing that is seen at once stands against it. */
static int begin(struct page *old, const struct migrate_control *mc)
{
	if (!page_trylock(old)) {
		if (mc->mode == MIGRATE_ASYNC || !mc->wait_rmap)
			return -EAGAIN; /* the caller may hold that very lock */
		page_lock(old);
	}
	if (page_test(old, PG_writeback) && mc->mode == MIGRATE_SYNC)
		page_wait_writeback(old);
	if (!page_test(old, PG_writeback) && !is_held(old))
		return 0;
	page_unlock(old);
	return -EAGAIN;
}

#define COPIED_FLAGS                                                                               \
	(BIT(PG_referenced) | BIT(PG_active) | BIT(PG_workingset) | BIT(PG_error) |                \
	 BIT(PG_homed) | BIT(PG_readahead))

/* The new page's owner, before anybody can see it. */
static void dress(struct page *old, struct page *new)
{
	new->flags |= BIT(PG_locked) | (old->flags & (BIT(PG_swapbacked) | BIT(PG_anon)));
	new->memcg = old->memcg;
	new->index = old->index;
	if (page_test(old, PG_anon))
		new->anon_vma = old->anon_vma;
}

static void undress(struct page *new)
{
	new->flags &= PAGE_ZONE_BITS;
	new->mapping = NULL;
	new->private = 0;
}

/* => old not mapped. 0: new is where old was, still empty */
static int exchange(struct page *old, struct page *new)
{
	if (page_test(old, PG_swapcache))
		return swapcache_replace(old, new);
	if (old->mapping && !page_test(old, PG_anon))
		return pagecache_replace(old, new);
	/* Nobody finds it any more but who waits for it, and he lets go at once. */
	return atomic_read(&old->refs) == 1 ? 0 : -EAGAIN;
}

static void copy(struct page *old, struct page *new)
{
	void *to = page_kmap(new), *from = page_kmap(old);
	unsigned long flags = READ_ONCE(old->flags) & COPIED_FLAGS;

	copy_page_raw(to, from);
	page_kunmap(from);
	page_kunmap(to);
	if (page_test(old, PG_dirty))
		flags |= BIT(PG_dirty); /* of a file it has moved already */
	__atomic_fetch_or(&new->flags, flags, __ATOMIC_RELAXED);
	smp_mb(); /* the bytes before the word that they are there */
	if (page_test(old, PG_uptodate))
		page_set(new, PG_uptodate);
}

/* Both locked. 0 or -EAGAIN */
static int move(struct page *old, struct page *new, const struct migrate_control *mc)
{
	bool held = false;
	struct rmap_hold h;
	int err;

	if (page_mapped(old)) {
		err = rmap_hold(&h, old, mc->wait_rmap);
		if (err == -EAGAIN)
			return err;
		held = !err;
		if (held)
			rmap_to_migration(&h);
	}
	err = page_mapped(old) ? -EAGAIN : exchange(old, new);
	if (!err)
		copy(old, new);
	if (held) {
		rmap_from_migration(&h, err ? old : new);
		rmap_release(&h);
	}
	return err;
}

int migrate_page(struct page *old, struct page *new, const struct migrate_control *mc)
{
	int err = begin(old, mc);

	if (err)
		return err;
	dress(old, new);
	err = move(old, new, mc);
	if (err) {
		undress(new);
		page_unlock(old);
		return err;
	}
	if (page_test(old, PG_mlocked))
		mlock_page_gone(old);
	not_isolated(old);
	page_unlock(new);
	page_get(new);
	lru_putback(new);
	page_unlock(old);
	return 0;
}

static int migrate_one(struct page *old, struct migrate_control *mc)
{
	struct page *new = mc->get_new(old, mc);
	int err;

	if (!new)
		return -ENOMEM;
	err = migrate_page(old, new, mc);
	if (err && mc->put_new)
		mc->put_new(new, mc);
	else
		page_put(new);
	return err;
}

/* Its owner is gone meanwhile, and nobody but us has it: as good as moved. */
static bool is_dead(const struct page *page)
{
	return atomic_read(&page->refs) == 1 && !page_mapped(page) && !in_cache(page);
}

/* One pass: pages that moved leave the list. => how many could be tried again; -ENOMEM */
static int one_pass(struct list_head *pages, struct migrate_control *mc)
{
	struct page *page, *next;
	int again = 0;

	list_for_each_entry_safe(page, next, pages, lru) {
		bool dead = is_dead(page);
		int err = dead ? 0 : migrate_one(page, mc);

		if (err == -ENOMEM)
			return err;
		again += err == -EAGAIN;
		cond_resched();
		if (err)
			continue;
		list_del(&page->lru);
		if (dead)
			not_isolated(page);
		mc->nr_succeeded++;
		if (mc->done)
			mc->done(page, 0, mc);
		page_put(page);
	}
	return again;
}

int migrate_pages(struct list_head *pages, struct migrate_control *mc)
{
	int passes = mc->mode == MIGRATE_ASYNC ? PASSES_ASYNC : PASSES_SYNC, left = 1, stayed = 0;
	unsigned long before = mc->nr_succeeded;
	struct page *page;

	for (int i = 0; i < passes && left > 0; i++)
		left = one_pass(pages, mc);
	list_for_each_entry(page, pages, lru) {
		stayed++;
		if (mc->done)
			mc->done(page, left == -ENOMEM ? -ENOMEM : -EBUSY, mc);
	}
	mc->nr_failed += (unsigned long)stayed;
	count_vm_events(PGMIGRATE_SUCCESS, mc->nr_succeeded - before);
	count_vm_events(PGMIGRATE_FAIL, (unsigned long)stayed);
	return left == -ENOMEM ? -ENOMEM : stayed;
}
