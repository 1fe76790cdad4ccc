/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rmap.c - from a page to its page-table entries.
 *
 * Anonymous page: its anon_vma names a subtree of VMAs (anon_vma.c); a file page: the interval tree
 * of its mapping (i_mmap.c). In each such VMA the page can be at one address only: start + (index -
 * pgoff). Whether it is there, the entry says; it is read under that address space's pt_lock.
 * Tables cannot go away meanwhile: munmap unlinks a VMA from here, which takes the lock we hold,
 * before it frees them.
 */
#include "lib/errno.h"
#include "mm/phys/zone.h"
#include "mm/swap/swap.h"
#include "mm/vm/fault.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"

#define WALK_STEP 16

struct walk {
	struct page *page;
	rmap_fn fn;
	void *arg;
	bool no_wait; /* give up with -EAGAIN where a lock is held */
	u32 walked;   /* VMAs */
	/* an anonymous page lost its last mapping: its reference to the anon_vma goes at the end */
	int last_gone;
};

/* The entry that maps the page at addr: a PMD for a huge one. NULL: none does. => pt_lock */
static __always_inline pte_t *entry_at(struct aspace *mm, const struct page *page,
				       unsigned long addr)
{
	bool huge = page_test(page, PG_head);
	pte_t *pte = unlikely(huge) ? pt_find_pmd(mm, addr) : pt_find(mm, addr);
	pte_t e;

	if (!pte)
		return NULL;
	e = pte_read(pte);
	if (unlikely(huge) ? !pmd_thp(e) : !pte_mapped(e) || pte_special(e))
		return NULL;
	return pte_pfn(e) == page_to_pfn(page) ? pte : NULL;
}

static int walk_vma(struct walk *w, struct vma *vma)
{
	unsigned long index = w->page->index, addr;
	struct aspace *mm = vma->mm;
	int ret = 0;
	pte_t *pte;

	if (index < vma->pgoff || index - vma->pgoff >= vma_pages(vma))
		return 0;
	addr = vma->start + ((index - vma->pgoff) << PAGE_SHIFT);
	spin_lock(&mm->pt_lock);
	pte = entry_at(mm, w->page, addr);
	if (pte)
		ret = w->fn(w->page, vma, addr, pte, w->arg);
	spin_unlock(&mm->pt_lock);
	/* Not after each: who only tries the lock we hold would fail all the while. */
	if (++w->walked % WALK_STEP == 0)
		cond_resched();
	return ret;
}

struct anon_vma *anon_vma_next(struct anon_vma *top, struct anon_vma *av)
{
	if (!list_empty(&av->children))
		return list_first_entry(&av->children, struct anon_vma, sibling);
	while (av != top) {
		if (!list_is_last(&av->sibling, &av->parent->children))
			return list_next_entry(av, sibling);
		av = av->parent;
	}
	return NULL;
}

static int walk_anon(struct walk *w)
{
	struct anon_vma *top = page_anon_vma_get(w->page), *av;
	struct vma *vma;
	int ret = 0;

	ASSERT(page_test(w->page, PG_locked));
	if (!top)
		return 0;
	if (!w->no_wait) {
		mutex_lock(&top->root->lock);
	} else if (!mutex_trylock(&top->root->lock)) {
		anon_vma_put(top, 1);
		return -EAGAIN;
	}
	for (av = top; av && !ret; av = anon_vma_next(top, av)) {
		list_for_each_entry(vma, &av->vmas, anon_chain) {
			ret = walk_vma(w, vma);
			if (ret)
				break;
		}
	}
	mutex_unlock(&top->root->lock);
	anon_vma_put(top, 1 + w->last_gone);
	return ret;
}

static int walk_vmas(struct walk *w, struct mapping *m)
{
	unsigned long index = w->page->index;
	struct vma *vma;
	int ret = 0;

	for (vma = i_mmap_first(m, index, index); vma && !ret; vma = i_mmap_next(vma, index, index))
		ret = walk_vma(w, vma);
	return ret;
}

static int walk_file(struct walk *w)
{
	struct mapping *m = READ_ONCE(w->page->mapping);
	int ret;

	if (!m)
		return 0;
	if (!w->no_wait)
		mutex_lock(&m->i_mmap_lock);
	else if (!mutex_trylock(&m->i_mmap_lock))
		return -EAGAIN;
	ret = walk_vmas(w, m);
	mutex_unlock(&m->i_mmap_lock);
	return ret;
}

int rmap_walk(struct page *page, rmap_fn fn, void *arg)
{
	struct walk w = { .page = page, .fn = fn, .arg = arg };

	return page_test(page, PG_anon) ? walk_anon(&w) : walk_file(&w);
}

struct referenced {
	int count;
	unsigned long vm_flags;
};

static int referenced_one(struct page *page, struct vma *vma, unsigned long addr, pte_t *pte,
			  void *arg)
{
	struct referenced *r = arg;

	r->vm_flags |= vma->flags;
	if (pte_young(pte_read(pte))) {
		__atomic_fetch_and(&pte->v, ~PTE_ACCESSED, __ATOMIC_SEQ_CST);
		r->count++; /* no flush: a stale TLB only delays the next accessed bit */
	}
	return 0;
}

int page_referenced(struct page *page, unsigned long *vm_flags)
{
	struct referenced r = { 0 };

	if (page_mapped(page))
		rmap_walk(page, referenced_one, &r);
	if (page_test_and_clear(page, PG_referenced))
		r.count++;
	*vm_flags = r.vm_flags;
	return r.count;
}

int page_referenced_ptes(struct page *page, unsigned long *vm_flags)
{
	struct referenced r = { 0 };
	struct walk w = { .page = page, .fn = referenced_one, .arg = &r, .no_wait = true };
	int err = 0;

	if (page_mapped(page))
		err = page_test(page, PG_anon) ? walk_anon(&w) : walk_file(&w);
	*vm_flags = r.vm_flags;
	return err ? err : r.count;
}

static int mkclean_one(struct page *page, struct vma *vma, unsigned long addr, pte_t *pte,
		       void *arg)
{
	bool *dirty = arg;
	pte_t e = pte_read(pte);

	if (!pte_write(e) && !pte_dirty(e))
		return 0;
	e = pte_get_and_clear(pte); /* a processor may just be setting the dirty bit */
	pte_set(pte, pte_clear_bits(e, PTE_WRITE | PTE_DIRTY));
	tlb_flush_range(&vma->mm->arch, addr, addr + PAGE_SIZE);
	*dirty |= pte_dirty(e);
	return 0;
}

/*
 * Hook of the page cache: from now on the next store to the file's page is noticed (page_mkwrite).
 * Private mappings never write to it, but their entries may be among those visited.
 */
bool vm_page_mkclean(struct page *page)
{
	bool dirty = false;

	if (page_mapped(page) && !page_test(page, PG_anon))
		rmap_walk(page, mkclean_one, &dirty);
	return dirty;
}

static int unmap_one(struct page *page, struct vma *vma, unsigned long addr, pte_t *pte, void *arg)
{
	pte_t e = pte_read(pte);

	if (vma->flags & VM_LOCKED)
		return 1;
	if (pte_young(e)) {
		__atomic_fetch_and(&pte->v, ~PTE_ACCESSED, __ATOMIC_SEQ_CST);
		return 1;
	}
	e = pte_get_and_clear(pte);
	tlb_flush_range(&vma->mm->arch, addr, addr + PAGE_SIZE);
	if (pte_dirty(e))
		pagecache_set_dirty(page);
	page_mapping_gone(vma->mm, page, NULL, atomic_add_return(-1, &page->mapcount) < 0);
	return 0;
}

/*
 * Hook of the page cache: reclaim wants this page. Whoever asks may hold any lock above this
 * room's, so i_mmap_lock is only tried.
 */
bool vm_unmap_page(struct page *page)
{
	struct walk w = { .page = page, .fn = unmap_one };
	struct mapping *m = READ_ONCE(page->mapping);

	if (page_test(page, PG_anon) || !m || !mutex_trylock(&m->i_mmap_lock))
		return false;
	walk_vmas(&w, m);
	mutex_unlock(&m->i_mmap_lock);
	return !page_mapped(page);
}

/* ---- anonymous pages: entries become swap entries ---- */

static int swap_out_one(struct page *page, struct vma *vma, unsigned long addr, pte_t *pte,
			void *arg)
{
	swp_entry_t to = page_swp(page);
	struct aspace *mm = vma->mm;
	int *last = arg;
	pte_t e = pte_read(pte);

	if (vma->flags & VM_LOCKED)
		return 1;
	if (pte_young(e)) {
		__atomic_fetch_and(&pte->v, ~PTE_ACCESSED, __ATOMIC_SEQ_CST);
		return 1;
	}
	if (swap_dup(to))
		return 1;
	e = pte_get_and_clear(pte);
	tlb_flush_range(&mm->arch, addr, addr + PAGE_SIZE);
	if (pte_dirty(e) && !page_test(page, PG_dirty))
		page_set(page, PG_dirty);
	pte_set(pte, swp_to_pte(to));
	atomic_long_dec(&mm->rss_anon);
	atomic_long_inc(&mm->rss_swap);
	if (atomic_add_return(-1, &page->mapcount) < 0)
		*last = 1;
	page_put(page); /* the cache and the caller have theirs */
	return 0;
}

int page_swap_out_entries(struct page *page)
{
	struct walk w = { .page = page, .fn = swap_out_one, .no_wait = true };
	int ret;

	ASSERT(page_test(page, PG_anon) && page_test(page, PG_swapcache) &&
	       !page_test(page, PG_head));
	w.arg = &w.last_gone;
	ret = walk_anon(&w);
	if (w.last_gone) {
		if (unlikely(page_test(page, PG_mlocked)))
			mlock_page_gone(page);
		mod_lruvec_state(page, NR_ANON_PAGES, -1);
	}
	return ret;
}
