// SPDX-License-Identifier: BSD-2-Clause
/*
 * shmem.c - pages of shared memory and tmpfs in swap.
 *
 * Problem: such a page is found through its mapping, by any process, by offset; no page table can
 * name its slot. Idea: the mapping's index does: where the page was stands a value, the entry. Who
 * looks for a page finds none there, and whoever must have it brings it back. The slot has exactly
 * one name, the value.
 *
 *   out: page cached and in the index --> value in the index, page in the swap cache --> written
 *   in:  page of the swap cache, locked, not being written --> in the index; value and slot gone
 *
 * Readers and writers of the page cache hold no page lock, only a reference, while they copy; and a
 * fault holds one until its entry is in the table. So a page leaves the index only while nobody has
 * one: the count is frozen at zero in the moment of the exchange. Who comes later finds the value.
 *
 * Invariants: m->nr_values = values in the index, counted in m->nr_pages as well (the file has as
 * many blocks as before); a page is never in an index and, unlocked, in the swap cache at once.
 * Locking: page lock for both steps; m->lock, IRQs off, for the exchange of one item; the swap
 * cache's and slots' locks never inside it. A mapping that has ever had a value is on a list for
 * swapoff, which pins it there while at work; its owner waits for that before it goes.
 * Source: the idea is Linux's; own code.
 */
#include "kernel/bug.h"
#include "lib/err.h"
#include "mm/cache/mapping.h"
#include "mm/memcg/memcg.h"
#include "mm/phys/page_alloc.h"
#include "mm/swap/swap.h"
#include "sched/sched.h"
#include "sched/wait.h"

static DEFINE_SPINLOCK(shmem_lock, RANK_LEAF); /* the list, unuse_pins, going */
static LIST_HEAD(shmem_list);
static DEFINE_WAIT_QUEUE(unpinned);

static inline void *entry_value(swp_entry_t e)
{
	return xa_mk_value(e.v);
}
static inline swp_entry_t value_entry(const void *value)
{
	return (swp_entry_t){ xa_to_value(value) };
}

/* ---- out ---- */

/* On the list before its first value. false: it is going. */
static bool join_list(struct mapping *m)
{
	bool ok;

	if (likely(!list_empty(&m->all_node)))
		return true;
	spin_lock(&shmem_lock);
	ok = !m->going;
	if (ok && list_empty(&m->all_node))
		list_add_tail(&m->all_node, &shmem_list);
	spin_unlock(&shmem_lock);
	return ok;
}

/*
 * The value takes the page's place, if nobody but index, swap cache and caller has the page. The
 * mapping may go as soon as its lock is free.
 */
static bool exchange_out(struct mapping *m, struct page *page, swp_entry_t e)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave_l(&m->lock, flags, "shmem_out");
	ok = page_ref_freeze(page, 3);
	if (likely(ok)) {
		xa_replace(&m->pages, page->index, entry_value(e));
		m->nr_values++;
		WRITE_ONCE(page->mapping, NULL);
		page_ref_unfreeze(page, 2);
	}
	spin_unlock_irqrestore_l(&m->lock, flags, "shmem_out");
	return ok;
}

int shmem_swap_out(struct page *page)
{
	struct mapping *m = page->mapping;
	swp_entry_t e;
	int err;

	ASSERT(page_test(page, PG_locked) && page_test(page, PG_uptodate));
	ASSERT(m && (m->flags & MAPF_SHMEM) && !page_test(page, PG_swapcache));
	if ((m->flags & MAPF_UNEVICTABLE) || page_mapped(page) || atomic_read(&page->refs) != 2 ||
	    !join_list(m))
		return -EBUSY;
	err = swapcache_add_new(page);
	if (err)
		return err;
	e = page_swp(page);
	err = swap_dup(e); /* the value's name */
	if (!err && exchange_out(m, page, e)) {
		mod_lruvec_state_pair(page, NR_FILE_PAGES, NR_SHMEM, -1);
		return 0;
	}
	if (!err)
		swap_free(e);
	swap_try_to_free(page);
	return err ? err : -EBUSY;
}

/* ---- in ---- */

/* => page locked, of the swap cache's entry; false: the index holds something else */
static bool exchange_in(struct mapping *m, unsigned long index, void *value, struct page *page)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave_l(&m->lock, flags, "shmem_in");
	ok = xa_load(&m->pages, index) == value;
	if (likely(ok)) {
		page_get(page);
		page->index = index;
		WRITE_ONCE(page->mapping, m);
		xa_replace(&m->pages, index, page);
		m->nr_values--;
	}
	spin_unlock_irqrestore_l(&m->lock, flags, "shmem_in");
	return ok;
}

/* 0; -EEXIST, -EIO. => page locked */
static int bring_in(struct mapping *m, unsigned long index, void *value, struct page *page)
{
	swp_entry_t e = value_entry(value);

	page_wait_writeback(page);
	if (!page_test(page, PG_swapcache) || page_swp(page).v != e.v)
		return -EEXIST;
	if (unlikely(!page_test(page, PG_uptodate)))
		return -EIO;
	page_set(page, PG_homed); /* memory is its home again */
	if (!exchange_in(m, index, value, page))
		return -EEXIST;
	mod_lruvec_state_pair(page, NR_FILE_PAGES, NR_SHMEM, 1);
	swap_free(e);
	if (unlikely(!swap_try_to_free(page)))
		panic("swap: slot %#lx of a shared page has other names", e.v);
	return 0;
}

struct page *shmem_swap_in(struct mapping *m, unsigned long index, void *value, bool *major)
{
	struct page *page = swapin(value_entry(value), NULL, index << PAGE_SHIFT, major);
	int err;

	if (!page) {
		bool same;

		rcu_read_lock();
		same = xa_load(&m->pages, index) == value;
		rcu_read_unlock();
		return ERR_PTR(same ? -ENOMEM : -EEXIST);
	}
	page_lock(page);
	err = bring_in(m, index, value, page);
	page_unlock(page);
	if (likely(!err))
		return page;
	page_put(page);
	return ERR_PTR(err);
}

unsigned int shmem_forget(struct mapping *m, unsigned long index, void *value)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave_l(&m->lock, flags, "shmem_forget");
	ok = xa_load(&m->pages, index) == value;
	if (ok) {
		xa_erase(&m->pages, index);
		m->nr_values--;
		m->nr_pages--;
	}
	spin_unlock_irqrestore_l(&m->lock, flags, "shmem_forget");
	if (ok)
		swap_forget(value_entry(value));
	return ok;
}

/* ---- swapoff ---- */

void shmem_forget_mapping(struct mapping *m)
{
	spin_lock(&shmem_lock);
	m->going = true;
	while (m->unuse_pins) {
		spin_unlock(&shmem_lock);
		wait_event(&unpinned, !READ_ONCE(m->unuse_pins));
		spin_lock(&shmem_lock);
	}
	list_del_init(&m->all_node);
	spin_unlock(&shmem_lock);
}

/* The next value of this type at or after *index; NULL: none. */
static void *next_value(struct mapping *m, unsigned long *index, unsigned int type)
{
	void *item;

	rcu_read_lock();
	while ((item = xa_find(&m->pages, index, ~0ul))) {
		if (xa_is_value(item) && swp_type(value_entry(item)) == type)
			break;
		item = NULL;
		if (++*index == 0)
			break;
		rcu_read_unlock(); /* the file may be large: others get a turn */
		cond_resched();
		rcu_read_lock();
	}
	rcu_read_unlock();
	return item;
}

/* => pinned */
static int unuse_mapping(struct mapping *m, unsigned int type)
{
	unsigned long index = 0;
	void *value;

	while (!READ_ONCE(m->going) && (value = next_value(m, &index, type))) {
		bool major;
		struct page *page = shmem_swap_in(m, index, value, &major);

		if (!IS_ERR(page))
			page_put(page);
		else if (PTR_ERR(page) != -EEXIST)
			return PTR_ERR(page);
		if (signal_pending())
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* => shmem_lock */
static void unpin(struct mapping *m)
{
	if (!--m->unuse_pins && m->going)
		wake_up_all(&unpinned);
}

int shmem_unuse(unsigned int type)
{
	struct mapping *m;
	int err = 0;

	spin_lock(&shmem_lock);
	list_for_each_entry(m, &shmem_list, all_node) {
		if (m->going || !READ_ONCE(m->nr_values))
			continue;
		m->unuse_pins++; /* it stays on the list, so its successor can be found */
		spin_unlock(&shmem_lock);
		err = unuse_mapping(m, type);
		spin_lock(&shmem_lock);
		unpin(m);
		if (err)
			break;
	}
	spin_unlock(&shmem_lock);
	return err;
}
