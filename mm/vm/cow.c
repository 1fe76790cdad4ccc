/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cow.c - the first write to a page that was shared on purpose.
 *
 * The entry is present and read-only, the VMA allows writing. Why is it read-only?
 *   zero page                          -> a cleared page of our own
 *   shared mapping of a file           -> the owner hears of the write, the entry becomes writable
 *   anonymous page, mapped here alone  -> nobody else is left: it becomes writable as it is (no copy)
 *   anonymous page, mapped elsewhere   -> copy; fork shared it
 *   page of a file, private mapping    -> copy
 *
 * Alone means mapcount 1: only a fork of this very address space could add a mapping, and fork excludes faults by
 * aspace->lock; others can only go away. (A page in the swap cache has a second life and is copied.)
 * Replacing an entry: clear, flush, set, so that no processor ever writes to the old page after the new one is visible.
 */
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/vm/fault.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"

static inline pgprot_t cow_prot(const struct vma *vma)
{
	return vma->prot | PTE_DIRTY; /* FAULT_FORCE: vma->prot has no write bit, the copy stays read-only */
}

/* Same page, writable. False when the entry changed meanwhile. */
static bool make_writable(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e)
{
	bool same;

	spin_lock(&vma->mm->pt_lock);
	same = ((pte_read(pte).v ^ e.v) & ~(PTE_ACCESSED | PTE_DIRTY)) == 0;
	if (same)
		pte_set(pte, pte_set_bits(pte_read(pte), PTE_WRITE | PTE_DIRTY | PTE_ACCESSED));
	spin_unlock(&vma->mm->pt_lock);
	tlb_flush_page_local(addr); /* others fault once more and find it writable */
	return same;
}

static int shared_write(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e, struct page *page)
{
	int err;

	page_get(page);
	down_read(&vma->mapping->truncate_lock);
	err = page->mapping == vma->mapping ? file_page_mkwrite(vma->mapping, page) : 0;
	if (!err && page->mapping == vma->mapping)
		make_writable(vma, addr, pte, e);
	up_read(&vma->mapping->truncate_lock);
	page_put(page);
	return err && err != -ENOMEM ? -EIO : err;
}

/* Puts copy in the place of old (NULL: zero page). */
static int replace(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e, struct page *old, struct page *copy)
{
	struct aspace *mm = vma->mm;
	bool last = false;

	page_set_new_anon(copy, vma, addr);
	spin_lock(&mm->pt_lock);
	if (unlikely((pte_read(pte).v ^ e.v) & ~(PTE_ACCESSED | PTE_DIRTY))) {
		spin_unlock(&mm->pt_lock);
		page_unset_new_anon(copy, vma);
		return 0;
	}
	pte_get_and_clear(pte);
	tlb_flush_range(&mm->arch, addr, addr + PAGE_SIZE);
	pte_set(pte, pte_make(page_to_pfn(copy), cow_prot(vma)));
	if (old)
		last = atomic_add_return(-1, &old->mapcount) < 0;
	spin_unlock(&mm->pt_lock);
	if (!old || !page_test(old, PG_anon))
		atomic_long_inc(&mm->rss_anon);
	page_account_new_anon(copy, vma);
	if (old)
		page_mapping_gone(mm, old, last);
	return 0;
}

void page_mapping_gone(struct aspace *mm, struct page *page, int last)
{
	bool anon = page_test(page, PG_anon);

	if (!anon)
		atomic_long_dec(page_test(page, PG_swapbacked) ? &mm->rss_shmem : &mm->rss_file);
	if (last) {
		if (unlikely(page_test(page, PG_mlocked)))
			mlock_page_gone(page);
		mod_lruvec_state(page, anon ? NR_ANON_PAGES : NR_MAPPED, -1);
		if (anon)
			anon_vma_put(page->anon_vma, 1);
	}
	page_put(page);
}

int fault_cow(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e, unsigned int flags)
{
	struct page *old = pte_special(e) ? NULL : pfn_to_page(pte_pfn(e)), *copy;
	bool anon = old && page_test(old, PG_anon);

	if (old && !anon && (vma->flags & VM_SHARED))
		return shared_write(vma, addr, pte, e, old);
	if (anon && atomic_read(&old->mapcount) == 0 && !page_test(old, PG_swapcache)) {
		if (vma->flags & VM_WRITE)
			make_writable(vma, addr, pte, e);
		return 0;
	}
	if (anon_vma_prepare(vma))
		return -ENOMEM;
	copy = vma_alloc_page(vma, addr, old ? 0 : __GFP_ZERO);
	if (!copy)
		return -ENOMEM;
	if (old) {
		void *from, *to;

		/* Our mapping keeps old alive; whoever unmaps it meanwhile makes replace() see another entry. */
		rcu_read_lock();
		if (!page_get_unless_zero(old)) {
			rcu_read_unlock();
			page_put(copy);
			return 0;
		}
		rcu_read_unlock();
		from = page_kmap(old);
		to = page_kmap(copy);
		copy_page_raw(to, from);
		page_kunmap(to);
		page_kunmap(from);
		replace(vma, addr, pte, e, old, copy);
		page_put(old);
		return 0;
	}
	return replace(vma, addr, pte, e, NULL, copy);
}
