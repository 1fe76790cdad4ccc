// SPDX-License-Identifier: BSD-2-Clause
/*
 * cache.c - the swap cache: which page holds what a slot holds.
 *
 * Problem: a page on its way to or from a slot has two homes, and a slot may be named by several
 * processes, which must all get the one page. Idea: as in the page cache, one index per area from
 * offset to page, which holds a reference; PG_swapcache and page->private say the same from the
 * page's side. The slot's cache bit says that there is such a page: whoever sets it enters his, so
 * two threads that read one slot end up with one page.
 *
 *   enter   cache bit set, page in the index          in one section of the lock,
 *   leave   page out of the index, cache bit cleared  so the bit never lies about the index
 *
 * Two books say who has a page: its map count, and the names of its slot. Both may change at any
 * time, but what is one turns into the other only under the page lock (a fault maps the page and
 * forgets its entry; reclaim makes entries of mappings). So under the page lock their sum is true:
 * swap_page_alone(). As long as a mapped page has names on the disk it stays in the cache.
 *
 * A page that nobody has any more (program gone) leaves the cache at once if it can be locked and
 * is not just being written; else reclaim finds it and lets it go unwritten.
 *
 * Lookup: under RCU, a reference is taken while there are others, then the page is asked whether it
 * still is that slot's. Locking: page lock for membership; cache->lock (spinlock, IRQs on) for the
 * index, area->lock inside it.
 */
#include "kernel/rcu.h"
#include "lib/errno.h"
#include "mm/cache/xarray.h"
#include "mm/debug/check.h"
#include "mm/debug/vmstat.h"
#include "mm/memcg/memcg.h"
#include "mm/phys/page_alloc.h"
#include "mm/swap/internal.h"

struct swap_cache {
	struct xarray pages; /* offset -> page */
	spinlock_t lock;
};
static struct swap_cache caches[MAX_SWAP_AREAS] = {
	[0 ... MAX_SWAP_AREAS - 1] = { .lock = SPINLOCK_INIT(RANK_RMAP, "swap_cache") },
};

static inline struct swap_cache *cache_of(swp_entry_t e)
{
	return &caches[swp_type(e) % MAX_SWAP_AREAS];
}

unsigned long swapcache_pages(void)
{
	return global_zone_state(NR_SWAPCACHE);
}

struct page *swapcache_find(swp_entry_t e)
{
	struct swap_cache *c = cache_of(e);
	struct page *page;

	rcu_read_lock();
	while ((page = xa_load(&c->pages, swp_offset(e)))) {
		if (unlikely(!page_get_unless_zero(page))) {
			cpu_relax(); /* just leaving: not for long, under the lock */
			continue;
		}
		if (likely(page_test(page, PG_swapcache) && READ_ONCE(page->private) == e.v))
			break;
		page_put(page);
	}
	rcu_read_unlock();
	return page;
}

/* own_bit: the slot is new and its cache bit is set already. => c->lock */
static int enter_locked(struct swap_cache *c, struct page *page, swp_entry_t e, bool own_bit)
{
	int err = own_bit ? 0 : swap_slot_cache(e);

	if (err)
		return err;
	err = xa_store(&c->pages, swp_offset(e), page, GFP_NOWAIT | __GFP_NOWARN);
	if (unlikely(err && !own_bit))
		swap_slot_uncache(e);
	return err;
}

static int enter(struct page *page, swp_entry_t e, bool own_bit)
{
	struct swap_cache *c = cache_of(e);
	int err;

	ASSERT(page_test(page, PG_locked) && !page_test(page, PG_swapcache));
	page->private = e.v;
	page_set(page, PG_swapcache);
	page_get(page);
	for (;;) {
		struct xa_node *spare;

		spin_lock(&c->lock);
		err = enter_locked(c, page, e, own_bit);
		spin_unlock(&c->lock);
		if (likely(err != -ENOMEM))
			break;
		spare = xa_node_alloc(GFP_NOIO | __GFP_HIGH | __GFP_NOWARN | __GFP_NORETRY);
		if (!spare)
			break;
		spin_lock(&c->lock);
		xa_add_spare(&c->pages, spare);
		spin_unlock(&c->lock);
	}
	if (likely(!err)) {
		mod_lruvec_state(page, NR_SWAPCACHE, 1);
		return 0;
	}
	page_clear(page, PG_swapcache);
	page->private = 0;
	page_put(page);
	return err;
}

int swapcache_add(struct page *page, swp_entry_t e)
{
	return enter(page, e, false);
}

int swapcache_add_new(struct page *page)
{
	swp_entry_t e = swap_slot_get();
	int err;

	ASSERT(page_test(page, PG_swapbacked));
	if (!e.v)
		return -ENOSPC;
	page_set(page, PG_dirty); /* the slot holds nothing of it yet */
	err = enter(page, e, true);
	if (err)
		swap_slot_uncache(e);
	return err;
}

/* => c->lock, page locked; the cache's reference is left */
static void leave_locked(struct swap_cache *c, struct page *page)
{
	swp_entry_t e = page_swp(page);

	xa_erase(&c->pages, swp_offset(e));
	page_clear(page, PG_swapcache);
	WRITE_ONCE(page->private, 0);
	swap_slot_uncache(e);
}

void swapcache_delete(struct page *page)
{
	struct swap_cache *c = cache_of(page_swp(page));

	ASSERT(page_test(page, PG_locked) && page_test(page, PG_swapcache));
	ASSERT(!page_test(page, PG_writeback));
	spin_lock(&c->lock);
	leave_locked(c, page);
	spin_unlock(&c->lock);
	mod_lruvec_state(page, NR_SWAPCACHE, -1);
	page_put(page);
}

bool swapcache_drop(struct page *page)
{
	struct swap_cache *c = cache_of(page_swp(page));
	bool dead = !page_mapped(page) && !swap_count(page_swp(page));

	if (page_test(page, PG_writeback) || atomic_read(&page->refs) != 2)
		return false;
	spin_lock(&c->lock);
	if (!page_ref_freeze(page, 2)) {
		spin_unlock(&c->lock);
		return false;
	}
	if (page_test(page, PG_dirty) && !dead) {
		page_ref_unfreeze(page, 2);
		spin_unlock(&c->lock);
		return false;
	}
	leave_locked(c, page);
	page_ref_unfreeze(page, 1);
	spin_unlock(&c->lock);
	mod_lruvec_state(page, NR_SWAPCACHE, -1);
	return true;
}

int swapcache_replace(struct page *old, struct page *new)
{
	struct swap_cache *c = cache_of(page_swp(old));

	ASSERT(page_test(old, PG_locked) && page_test(old, PG_swapcache));
	ASSERT(!page_test(old, PG_writeback) && !page_mapped(old));
	spin_lock(&c->lock);
	if (!page_ref_freeze(old, 2)) {
		spin_unlock(&c->lock);
		return -EAGAIN;
	}
	new->private = old->private;
	page_get(new);
	page_set(new, PG_swapcache);
	xa_replace(&c->pages, swp_offset(page_swp(old)), new);
	page_clear(old, PG_swapcache);
	WRITE_ONCE(old->private, 0);
	page_ref_unfreeze(old, 1);
	spin_unlock(&c->lock);
	mod_lruvec_state(old, NR_SWAPCACHE, -1);
	mod_lruvec_state(new, NR_SWAPCACHE, 1);
	return 0;
}

bool swap_try_to_free(struct page *page)
{
	ASSERT(page_test(page, PG_locked));
	if (!page_test(page, PG_swapcache) || page_test(page, PG_writeback) ||
	    swap_count(page_swp(page)))
		return false;
	swapcache_delete(page);
	page_set(page, PG_dirty);
	return true;
}

bool swap_page_alone(struct page *page)
{
	int names = page_test(page, PG_swapcache) ? max(swap_count(page_swp(page)), 0) : 0;

	ASSERT(page_test(page, PG_locked));
	return page_mapcount(page) + names == 1;
}

void swap_forget(swp_entry_t e)
{
	struct page *page;

	swap_free(e);
	if (swap_count(e))
		return; /* others have it, or nobody at all: it is free */
	page = swapcache_find(e);
	if (!page)
		return;
	if (page_trylock(page)) {
		if (page_test(page, PG_swapcache) && page->private == e.v && !page_mapped(page))
			swap_try_to_free(page);
		page_unlock(page);
	}
	page_put(page);
}

const char *swapcache_check(void)
{
	for (unsigned int type = 0; type < MAX_SWAP_AREAS; type++) {
		struct swap_cache *c = &caches[type];
		unsigned long offset = 0;
		struct page *page;

		rcu_read_lock();
		while ((page = xa_find(&c->pages, &offset, ~0ul))) {
			bool same = page_test(page, PG_swapcache) &&
				    READ_ONCE(page->private) == swp_entry(type, offset).v &&
				    page_test(page, PG_swapbacked);

			if (!same && xa_load(&c->pages, offset) == page) {
				rcu_read_unlock();
				return "a page in the swap cache does not know its slot";
			}
			if (!++offset)
				break;
		}
		rcu_read_unlock();
	}
	return NULL;
}
