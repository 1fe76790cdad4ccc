// SPDX-License-Identifier: BSD-2-Clause
/*
 * unuse.c - swapoff: everything in an area comes back to memory.
 *
 * Problem: slots do not know who names them. Idea: ask everybody: each shared memory object, then
 * each address space, whose entries are turned into mappings as a fault would do it; then each
 * slot, for pages that only the cache still has. Programs go on meanwhile. No new slot of the area
 * is given out, so names only become fewer, but for fork; a child comes onto the list, behind its
 * parent, before the parent's lock is free, so one round meets every entry in one of the two.
 *
 * What can be left after a round: entries of a program that is just dying, and places of objects
 * that moved while they were looked through. So rounds are repeated, with a pause, as long as slots
 * are in use; when nothing changes for some seconds, the caller says how many are left.
 * Locking: no lock but aspace->lock (shared) of the one looked at; a reference keeps its place in
 * the list.
 */
#include "lib/errno.h"
#include "mm/phys/page_alloc.h"
#include "mm/swap/swap.h"
#include "mm/vm/aspace.h"
#include "mm/vm/ptwalk.h"
#include "sched/sched.h"

#define PAUSE_NS (10 * NSEC_PER_MSEC)
#define MAX_IDLE_ROUNDS 300 /* three seconds */

/* The entries of the area in one run of a table. */
struct found {
	unsigned int type;
	pte_t *pte; /* of addr */
	unsigned long addr;
	u64 set; /* bit i: entry i is one of them */
};
_Static_assert(PT_BATCH == 64, "one bit per entry of a run");

static bool entry_of(pte_t e, unsigned int type)
{
	return pte_swap(e) && pte_swap_type(e) == type;
}

static int bring_back(struct pt_walk *w, struct found *f)
{
	for (; f->set; f->set &= f->set - 1) {
		unsigned int i = __ffs(f->set);
		pte_t e = pte_read(f->pte + i);
		int err;

		if (!entry_of(e, f->type))
			continue;
		err = vm_swap_back(w->vma, f->addr + i * PAGE_SIZE, f->pte + i, e);
		if (!err && signal_pending())
			err = -EINTR;
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

static int unuse_before(struct pt_walk *w, unsigned long addr)
{
	return bring_back(w, w->arg);
}

static int unuse_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct found *f = w->arg;

	f->pte = pte;
	f->addr = addr;
	for (unsigned int i = 0; addr < end; addr += PAGE_SIZE, i++)
		if (entry_of(pte_read(pte + i), f->type))
			f->set |= 1ull << i;
	return 0;
}

static const struct pt_walk_ops unuse_ops = { .before = unuse_before,
					      .ptes = unuse_ptes,
					      .thp = pt_thp_pass };

static int unuse_aspace(struct aspace *mm, unsigned int type)
{
	struct found f = { .type = type };
	struct pt_walk w = { .mm = mm, .arg = &f };
	struct vma *vma;
	int err = 0;

	if (!atomic_long_read(&mm->rss_swap))
		return 0;
	down_read(&mm->lock);
	list_for_each_entry(vma, &mm->vma_list, list) {
		if (!vma->anon_vma)
			continue;
		w.vma = vma;
		err = pt_walk(&w, &unuse_ops, vma->start, vma->end);
		if (!err)
			err = bring_back(&w, &f);
		if (err)
			break;
	}
	up_read(&mm->lock);
	return err;
}

/* The next one of the list that still has users, held; mm (NULL: the beginning) is put. */
static struct aspace *next_aspace(struct aspace *mm)
{
	struct aspace *found = NULL;
	struct list_head *pos;

	spin_lock(&aspace_list_lock);
	for (pos = mm ? mm->node.next : aspace_list.next; pos != &aspace_list; pos = pos->next) {
		struct aspace *next = list_entry(pos, struct aspace, node);

		if (atomic_inc_not_zero(&next->users)) {
			found = next;
			break;
		}
	}
	spin_unlock(&aspace_list_lock);
	if (mm)
		aspace_put(mm);
	return found;
}

static int unuse_aspaces(unsigned int type)
{
	struct aspace *mm = NULL;
	int err;

	while ((mm = next_aspace(mm))) {
		err = unuse_aspace(mm, type);
		if (err) {
			aspace_put(mm);
			return err;
		}
	}
	return 0;
}

/* A page that the cache has leaves it, when its slot has no name. */
static void leave_cache(swp_entry_t e)
{
	struct page *page = swapcache_find(e);

	if (!page)
		return;
	page_lock(page);
	if (page_test(page, PG_swapcache) && page_swp(page).v == e.v) {
		page_wait_writeback(page);
		swap_try_to_free(page);
	}
	page_unlock(page);
	page_put(page);
}

/* How many slots are in use after a look at all of them; -EINTR */
static long unuse_slots(unsigned int type)
{
	long used = 0;

	for (u64 slot = 1;; slot++) {
		swp_entry_t e = swp_entry(type, slot);

		if (swap_count(e) < 0) {
			if (!swap_get(e)) /* behind the last one */
				return used;
			swap_put(e);
			continue;
		}
		leave_cache(e);
		used += swap_count(e) >= 0;
		if (signal_pending())
			return -EINTR;
		cond_resched();
	}
}

int swap_unuse(unsigned int type)
{
	long used, before = -1;
	int idle = 0, err;

	for (;;) {
		err = shmem_unuse(type);
		if (!err)
			err = unuse_aspaces(type);
		if (err)
			return err;
		used = unuse_slots(type);
		if (used <= 0)
			return (int)used;
		idle = used == before ? idle + 1 : 0;
		if (idle == MAX_IDLE_ROUNDS)
			return 0;
		before = used;
		sleep_ns(PAUSE_NS);
	}
}
