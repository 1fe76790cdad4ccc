// SPDX-License-Identifier: BSD-2-Clause
/*
 * swapfault.c - a fault on memory that lies in a slot of a swap area.
 *
 *   entry -> page in the swap cache, read if need be -> page lock -> is it still that slot's? ->
 *   pt_lock -> is the entry still there? -> mapped, entry's name given back
 *
 * The page lock makes the sum of mappings and names true, so it says whether anybody else can have
 * the page. If not, a write gets it as it is, and out of the cache; else it is copied (cow.c), as
 * after a fork.
 *
 * Which VMAs can map the page from now on? While it is mapped somewhere it keeps its anon_vma X:
 * who has an entry got it from a mapping in X's subtree. The first mapping after a time without any
 * gives it a new one: the VMA's own, if nobody else has a name; else the root of the tree, since
 * the others are somewhere in it.
 *
 * A page that could not be read is SIGBUS for whoever had it read; it leaves the cache, so the next
 * attempt, and who only waited for it, or finds it as a neighbour of another's, asks the disk
 * again. An entry that names no slot (a damaged table) is said once and SIGBUS.
 */
#include "kernel/printk.h"
#include "mm/reclaim/lruvec.h"
#include "mm/swap/swap.h"
#include "mm/vm/fault.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "sched/sched.h"

void page_map_again(struct page *page, struct vma *vma, unsigned long addr, int alone)
{
	struct anon_vma *av;

	if (atomic_read(&page->mapcount) >= 0) {
		atomic_inc(&page->mapcount);
		return;
	}
	av = alone ? vma->anon_vma : vma->anon_vma->root;
	atomic_inc(&av->refs);
	page->index = vma_index(vma, addr);
	WRITE_ONCE(page->anon_vma, av);
	if (!page_test(page, PG_anon))
		page_set(page, PG_anon);
	atomic_set(&page->mapcount, 0);
	mod_lruvec_state(page, NR_ANON_PAGES, 1);
}

/* Nothing came for the entry. */
static noinline int no_page(pte_t *pte, pte_t e)
{
	static u32 told;

	if (pte_read(pte).v != e.v)
		return 0; /* somebody was faster */
	if (swap_count(pte_to_swp(e)) >= 0)
		return -ENOMEM;
	if (pte_read(pte).v != e.v)
		return 0;
	if (!xchg(&told, 1))
		pr_err("swap: an entry of %s names slot %llu of area %u, which holds nothing",
		       current->comm, (unsigned long long)pte_swap_offset(e), pte_swap_type(e));
	return -EIO;
}

/* => page locked; false: the entry has changed */
static bool map_page(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e, struct page *page,
		     unsigned int flags)
{
	bool alone = swap_page_alone(page);
	struct aspace *mm = vma->mm;
	pgprot_t prot = vma->prot & ~PTE_WRITE;

	if (alone && (flags & FAULT_WRITE) && (vma->flags & VM_WRITE))
		prot = vma->prot | PTE_DIRTY;
	if (flags & FAULT_UNUSE)
		prot &= ~PTE_ACCESSED;
	spin_lock(&mm->pt_lock);
	if (unlikely(pte_read(pte).v != e.v)) {
		spin_unlock(&mm->pt_lock);
		swap_try_to_free(page); /* whoever took the last name could not lock it */
		return false;
	}
	page_get(page);
	page_map_again(page, vma, addr, alone);
	pte_set(pte, pte_make(page_to_pfn(page), prot));
	swap_free(pte_to_swp(e));
	if (unlikely(vma->flags & VM_LOCKED))
		mlock_page(page);
	spin_unlock(&mm->pt_lock);
	atomic_long_inc(&mm->rss_anon);
	atomic_long_dec(&mm->rss_swap);
	if ((prot & PTE_WRITE) || (flags & FAULT_UNUSE) || (vma->flags & VM_LOCKED) ||
	    swap_half_full())
		swap_try_to_free(page);
	return true;
}

/* ours: it was read for this fault. => page locked: unlocks and puts it */
static int swap_fault_page(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e,
			   struct page *page, unsigned int flags, bool ours)
{
	bool mapped = false;
	pte_t now;
	int err = 0;

	if (unlikely(!page_test(page, PG_swapcache) || page_swp(page).v != pte_to_swp(e).v)) {
		; /* another's by now, so the entry is gone, too */
	} else if (unlikely(!page_test(page, PG_uptodate))) {
		swapcache_delete(page);
		err = ours && pte_read(pte).v == e.v ? -EIO : 0;
	} else if (unlikely(anon_vma_prepare(vma))) {
		err = -ENOMEM;
	} else {
		mapped = map_page(vma, addr, pte, e, page, flags);
	}
	page_unlock(page);
	page_put(page);
	if (!mapped || !(flags & FAULT_WRITE))
		return err;
	now = pte_read(pte);
	return pte_present(now) && !pte_write(now) ? fault_cow(vma, addr, pte, now, flags) : 0;
}

int swap_fault(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e, unsigned int flags)
{
	struct page *page;
	bool major;

	page = swapin(pte_to_swp(e), vma, addr, &major);
	if (unlikely(!page))
		return no_page(pte, e);
	if (major && !(flags & FAULT_UNUSE)) {
		current->maj_flt++;
		current->min_flt--; /* counted when it began */
		count_vm_event(PGMAJFAULT);
	}
	page_lock(page);
	return swap_fault_page(vma, addr, pte, e, page, flags, major);
}

int vm_swap_back(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e)
{
	return swap_fault(vma, addr, pte, e, FAULT_UNUSE);
}
