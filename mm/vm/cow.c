/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cow.c - the first write to a page that was shared on purpose.
 *
 * The entry is present and read-only, the VMA allows writing. Why is it read-only?
 *   zero page                          -> a cleared page of our own
 *   shared mapping of a file           -> the owner hears of the write, the entry becomes writable
 *   anonymous page, mapped here alone -> nobody else is left: it becomes writable as it is (no
 *   copy)
 *   anonymous page, mapped elsewhere   -> copy; fork shared it
 *   page of a file, private mapping    -> copy
 *
 * Alone means mapcount 1: only a fork of this very address space could add a mapping, and fork
 * excludes faults by aspace->lock; others can only go away. A page in the swap cache may also have
 * names on the disk, and those turn into mappings and back. With no reference but that of our entry
 * it is not in the cache; both counts lie in one word, so this is one read. If there are more, the
 * page lock tells (swap_page_alone); the page then leaves the cache.
 * Replacing an entry: clear, flush, set, so that no processor ever writes to the old page after the
 * new one is visible.
 */
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/swap/swap.h"
#include "mm/vm/fault.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"

static inline pgprot_t cow_prot(const struct vma *vma)
{
	/* FAULT_FORCE: vma->prot has no write bit, the copy stays read-only */
	return vma->prot | PTE_DIRTY;
}

static inline bool same_entry(pte_t *pte, pte_t e)
{
	return ((pte_read(pte).v ^ e.v) & ~(PTE_ACCESSED | PTE_DIRTY)) == 0;
}

/* Nobody but this entry has the anonymous page, not even the swap cache: mapcount 0, refs 1. */
static inline bool sole_owner(const struct page *page)
{
	return page_test(page, PG_anon) &&
	       __atomic_load_n((const u64 *)(const void *)&page->mapcount, __ATOMIC_ACQUIRE) ==
		       1ull << 32;
}

/*
 * Same page, writable, if the entry is still what it was (and the page of a private one, if it is
 * given, still ours alone).
 */
static bool make_writable(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e,
			  struct page *sole)
{
	bool same;

	spin_lock(&vma->mm->pt_lock);
	same = same_entry(pte, e) && (!sole || sole_owner(sole));
	if (same) {
		pte_set(pte, pte_set_bits(pte_read(pte), PTE_WRITE | PTE_DIRTY | PTE_ACCESSED));
		if (vma->flags & VM_SHARED)
			file_page_written(pfn_to_page(pte_pfn(e)));
	}
	spin_unlock(&vma->mm->pt_lock);
	tlb_flush_page_local(addr); /* others fault once more and find it writable */
	return same;
}

/* A reference to the page behind the entry, if it is still there. */
static bool hold(struct aspace *mm, pte_t *pte, pte_t e, struct page *page)
{
	bool same;

	spin_lock(&mm->pt_lock);
	same = same_entry(pte, e);
	if (same)
		page_get(page);
	spin_unlock(&mm->pt_lock);
	return same;
}

/* => truncate_lock shared, page referenced */
static int shared_write_locked(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e,
			       struct page *page)
{
	struct mapping *m = vma->mapping;
	int err;

	if (page->mapping != m)
		return 0; /* truncated: the next try finds no entry */
	err = file_page_mkwrite_begin(m, page);
	if (err)
		return err == -ENOMEM ? err : -EIO;
	make_writable(vma, addr, pte, e, NULL);
	file_page_mkwrite_end(m, page);
	return 0;
}

static int shared_write(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e, struct page *page)
{
	struct mapping *m = vma->mapping;
	int err;

	if (!hold(vma->mm, pte, e, page))
		return 0;
	down_read(&m->truncate_lock);
	err = shared_write_locked(vma, addr, pte, e, page);
	up_read(&m->truncate_lock);
	page_put(page);
	file_written(vma);
	return err;
}

/* Puts copy in the place of old (NULL: zero page). */
static int replace(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e, struct page *old,
		   struct page *copy)
{
	struct aspace *mm = vma->mm;
	struct anon_vma *av = NULL;
	bool last = false;

	page_set_new_anon(copy, vma, addr);
	page_account_new_anon(copy, vma);
	spin_lock(&mm->pt_lock);
	if (unlikely(!same_entry(pte, e))) {
		spin_unlock(&mm->pt_lock);
		page_unset_new_anon(copy, vma);
		return 0;
	}
	pte_get_and_clear(pte);
	tlb_flush_range(&mm->arch, addr, addr + PAGE_SIZE);
	pte_set(pte, pte_make(page_to_pfn(copy), cow_prot(vma)));
	if (old) {
		av = old->anon_vma;
		last = atomic_add_return(-1, &old->mapcount) < 0;
	}
	spin_unlock(&mm->pt_lock);
	if (!old || !page_test(old, PG_anon))
		atomic_long_inc(&mm->rss_anon);
	if (old)
		page_mapping_gone(mm, old, av, last);
	return 0;
}

void page_mapping_gone(struct aspace *mm, struct page *page, struct anon_vma *av, int last)
{
	bool anon = page_test(page, PG_anon);

	if (!anon)
		atomic_long_dec(page_test(page, PG_swapbacked) ? &mm->rss_shmem : &mm->rss_file);
	if (last) {
		if (unlikely(page_test(page, PG_mlocked)))
			mlock_page_gone(page);
		if (anon) {
			anon_page_counted(page, -1);
			anon_vma_put(av, 1);
		} else {
			mod_lruvec_state(page, NR_MAPPED, -1);
		}
	}
	page_put(page);
}

static int copy_and_replace(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e,
			    struct page *old, struct page *copy)
{
	void *from, *to;
	int err;

	if (!hold(vma->mm, pte, e, old)) {
		page_put(copy);
		return 0;
	}
	from = page_kmap(old);
	to = page_kmap(copy);
	copy_page_raw(to, from);
	page_kunmap(to);
	page_kunmap(from);
	err = replace(vma, addr, pte, e, old, copy);
	page_put(old);
	return err;
}

/*
 * The anonymous page has one mapping, but more references: the swap cache's, or somebody's for a
 * moment. true: it was ours alone, or the entry has changed: nothing to copy.
 */
static noinline bool reuse_slow(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e,
				struct page *page)
{
	bool alone;

	if (!hold(vma->mm, pte, e, page))
		return true;
	page_lock(page);
	alone = swap_page_alone(page);
	if (alone)
		swap_try_to_free(page);
	if (vma->flags & VM_WRITE) {
		if (alone)
			make_writable(vma, addr, pte, e, NULL);
	} else if (page_test(page, PG_swapcache)) {
		alone = false; /* FAULT_FORCE writes to the page itself, unseen by its entry */
	}
	page_unlock(page);
	page_put(page);
	return alone;
}

int fault_cow(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e, unsigned int flags)
{
	struct page *old = pte_special(e) ? NULL : pfn_to_page(pte_pfn(e)), *copy;

	if (old && vma->mapping && (vma->flags & VM_SHARED))
		return shared_write(vma, addr, pte, e, old);
	if (old && sole_owner(old)) {
		if (vma->flags & VM_WRITE)
			make_writable(vma, addr, pte, e, old);
		return 0;
	}
	if (old && page_test(old, PG_anon) && atomic_read(&old->mapcount) == 0 &&
	    reuse_slow(vma, addr, pte, e, old))
		return 0;
	if (anon_vma_prepare(vma))
		return -ENOMEM;
	copy = vma_alloc_page(vma, addr, old ? 0 : __GFP_ZERO);
	if (!copy)
		return -ENOMEM;
	return old ? copy_and_replace(vma, addr, pte, e, old, copy)
		   : replace(vma, addr, pte, e, NULL, copy);
}
