/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * migrmap.c - the entries of a page that changes its frame.
 *
 * Problem: all programs that map a page must see the old frame or the new one, and nobody may store
 * to the old one once it is being copied. Idea: each entry becomes a migration entry, which faults;
 * who faults waits for the page's lock, which the mover holds. Afterwards each of them becomes a
 * mapping of the new frame, or of the old one again if it did not work out.
 *
 * The lock of the page's mappings (its file's, or the root's of its anon_vma tree) is held from the
 * first to the last: so munmap, mremap and the attaching half of fork wait, no lock has to be had a
 * second time, and every migration entry is found again. What fork copies meanwhile is found, too:
 * a parent's VMA comes before its child's in the walk, and both entries are written under the
 * parent's pt_lock; a child that was copied before its parent was visited holds an entry we still
 * come to.
 *
 * Counts: a migration entry is no mapping (map count, reference, NR_ANON_PAGES, NR_MAPPED), but it
 * is resident memory of its address space. Who zaps it takes that back and is done.
 * Locking: page lock, then i_mmap_lock or the root lock, then pt_lock of one address space at a
 * time.
 */
#include "lib/errno.h"
#include "mm/phys/zone.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"

int rmap_hold(struct rmap_hold *h, struct page *page, int wait)
{
	struct mutex *lock;

	ASSERT(page_test(page, PG_locked));
	*h = (struct rmap_hold){ .page = page };
	if (!page_mapped(page))
		return -ENOENT;
	if (page_test(page, PG_anon)) {
		h->av = page_anon_vma_get(page);
		if (!h->av)
			return -ENOENT;
		lock = &h->av->root->lock;
	} else {
		h->mapping = READ_ONCE(page->mapping);
		if (!h->mapping)
			return -ENOENT;
		lock = &h->mapping->i_mmap_lock;
	}
	if (wait) {
		mutex_lock(lock);
	} else if (!mutex_trylock(lock)) {
		if (h->av)
			anon_vma_put(h->av, 1);
		return -EAGAIN;
	}
	return 0;
}

void rmap_release(struct rmap_hold *h)
{
	if (h->av) {
		mutex_unlock(&h->av->root->lock);
		anon_vma_put(h->av, 1 + h->puts);
	} else {
		mutex_unlock(&h->mapping->i_mmap_lock);
	}
}

struct move {
	struct rmap_hold *h;
	struct page *to; /* NULL: to migration entries */
	int nr;
};

/* => pt_lock */
static void leave(struct rmap_hold *h, struct vma *vma, unsigned long addr, pte_t *pte)
{
	struct page *page = h->page;
	pte_t e = pte_get_and_clear(pte);

	/*
	 * Before the flush: who faults as soon as he has been told finds the entry he has to wait
	 * at, not an empty one, for which he would take a reference out of the file's cache.
	 */
	pte_set(pte, pte_make_migration(page_to_pfn(page), e));
	tlb_flush_range(&vma->mm->arch, addr, addr + PAGE_SIZE);
	if (h->mapping && pte_dirty(e) && !page_test(page, PG_dirty))
		pagecache_set_dirty(page);
	if (atomic_add_return(-1, &page->mapcount) < 0) {
		mod_lruvec_state(page, h->av ? NR_ANON_PAGES : NR_MAPPED, -1);
		h->puts += h->av != NULL;
	}
	page_put(page); /* the mover has his own */
}

/* => pt_lock */
static void arrive(struct move *v, struct vma *vma, pte_t *pte, pte_t e)
{
	struct page *to = v->to;

	page_get(to);
	if (atomic_add_return(1, &to->mapcount) == 0) {
		if (v->h->av)
			atomic_inc(&v->h->av->refs);
		mod_lruvec_state(to, v->h->av ? NR_ANON_PAGES : NR_MAPPED, 1);
	}
	pte_set(pte, pte_from_migration(e, page_to_pfn(to), vma->prot));
	/* Here, so that a munlock either finds the mark or has changed the flags before. */
	if (unlikely(vma->flags & VM_LOCKED))
		mlock_page(to);
}

static void visit(struct move *v, struct vma *vma)
{
	const unsigned long index = v->h->page->index, pfn = page_to_pfn(v->h->page);
	struct aspace *mm = vma->mm;
	unsigned long addr;
	pte_t *pte, e;

	if (index < vma->pgoff || index - vma->pgoff >= vma_pages(vma))
		return;
	addr = vma->start + ((index - vma->pgoff) << PAGE_SHIFT);
	spin_lock(&mm->pt_lock);
	pte = pt_find(mm, addr);
	e = pte ? pte_read(pte) : (pte_t){ 0 };
	if (v->to && pte_migration(e) && pte_pfn(e) == pfn) {
		arrive(v, vma, pte, e);
		v->nr++;
	} else if (!v->to && pte_mapped(e) && !pte_special(e) && pte_pfn(e) == pfn) {
		leave(v->h, vma, addr, pte);
		v->nr++;
	}
	spin_unlock(&mm->pt_lock);
}

static void visit_all(struct move *v)
{
	struct rmap_hold *h = v->h;
	unsigned long index = h->page->index;
	struct vma *vma;

	if (h->mapping) {
		for (vma = i_mmap_first(h->mapping, index, index); vma;
		     vma = i_mmap_next(vma, index, index))
			visit(v, vma);
		return;
	}
	for (struct anon_vma *av = h->av; av; av = anon_vma_next(h->av, av))
		list_for_each_entry(vma, &av->vmas, anon_chain)
			visit(v, vma);
}

int rmap_to_migration(struct rmap_hold *h)
{
	struct move v = { .h = h };

	visit_all(&v);
	return v.nr;
}

int rmap_from_migration(struct rmap_hold *h, struct page *to)
{
	struct move v = { .h = h, .to = to };

	visit_all(&v);
	return v.nr;
}
