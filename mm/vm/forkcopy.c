/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forkcopy.c - fork: the child gets the parent's VMAs and shares its pages until one of them
 * writes.
 *
 * Cheap because of what is not done: a page that a fault would find again in the page cache is not
 * copied into the child's table (most children run exec next), so VMAs without anonymous pages cost
 * one object each. Anonymous pages are entered read-only on both sides, with one atomic addition
 * for reference and map count together; a swap entry is one more name of its slot. A huge page is
 * shared as one; the child's deposit is made before pt_lock is taken.
 * Locking: old->lock for writing; old's pt_lock while entries are copied. The child's table is seen
 * by nobody but rmap, which reads single entries.
 */
#include "mm/phys/page_alloc.h"
#include "mm/swap/swap.h"
#include "mm/vm/forkcopy.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"

struct copy {
	struct aspace *to;
	pte_t *dst; /* entry of the run's first address */
	long anon, swap;
	bool protected; /* a parent's entry lost its write bit */
	pte_t *pmd;	/* the child's, for a huge page */
	bool spare;	/* the child has one deposit more than huge pages */
};

static int copy_before(struct pt_walk *w, unsigned long addr)
{
	struct copy *c = w->arg;

	c->dst = pt_alloc(c->to, addr);
	return c->dst ? 0 : -ENOMEM;
}

_Static_assert(offsetof(struct page, refs) == offsetof(struct page, mapcount) + 4 &&
		       offsetof(struct page, mapcount) % 8 == 0,
	       "page_dup_mapping adds to both at once");

/* One more mapping and one more reference. => already mapped, so the lower half does not carry */
static __always_inline void page_dup_mapping(struct page *page)
{
	__atomic_fetch_add((u64 *)(void *)&page->mapcount, (1ull << 32) | 1, __ATOMIC_SEQ_CST);
}

/*
 * One more name for the slot. An entry that means nothing is copied all the same: who touches it
 * shall hear of it (swapfault.c), and not find zeroes. => both tables' locks as for copy_ptes
 */
static noinline int copy_swap(struct copy *c, pte_t *dst, pte_t e)
{
	if (swap_dup(pte_to_swp(e)) == -ENOMEM)
		return -ENOMEM;
	pte_set(dst, e);
	c->swap++;
	return 0;
}

static int copy_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct copy *c = w->arg;
	unsigned long to_dst = (unsigned long)c->dst - (unsigned long)pte;
	bool private = !(w->vma->flags & VM_SHARED);
	int err;

	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte), *dst;
		struct page *page;

		if (pte_none(e)) {
			pt_skip_none(&pte, &addr, end);
			continue;
		}
		dst = (pte_t *)((unsigned long)pte + to_dst);
		if (unlikely(!pte_mapped(e))) {
			if (pte_swap(e)) {
				err = copy_swap(c, dst, e);
				if (err)
					return err;
			} else if (page_test(pfn_to_page(pte_pfn(e)), PG_anon)) {
				/* being moved: the mover finds the child's entry, too */
				e = pte_migration_read(e);
				pte_set(pte, e);
				pte_set(dst, e);
				c->anon++;
			}
			continue;
		}
		if (unlikely(pte_special(e))) {
			pte_set(dst, e);
			continue;
		}
		page = pfn_to_page(pte_pfn(e));
		if (!page_test(page, PG_anon))
			continue;
		if (private && pte_write(e)) {
			__atomic_fetch_and(&pte->v, ~PTE_WRITE, __ATOMIC_SEQ_CST);
			e = pte_clear_bits(pte_read(pte), PTE_WRITE);
			c->protected = true;
		}
		page_dup_mapping(page);
		c->anon++;
		pte_set(dst, e);
	}
	return 0;
}

/* Others may find the child's table through rmap, so its deposits are locked with its own lock. */
static int copy_thp_before(struct pt_walk *w, unsigned long addr)
{
	struct copy *c = w->arg;
	struct page *table;

	c->pmd = pt_alloc_pmd(c->to, addr);
	if (!c->pmd)
		return -ENOMEM;
	if (c->spare)
		return 0;
	table = pt_table_alloc();
	if (!table)
		return -ENOMEM;
	spin_lock(&c->to->pt_lock);
	pt_deposit(c->to, table);
	spin_unlock(&c->to->pt_lock);
	atomic_long_inc(&c->to->pt_pages);
	c->spare = true;
	return 0;
}

static int copy_thp(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end)
{
	struct copy *c = w->arg;
	pte_t e = pte_read(pmd);

	if (pte_write(e)) {
		__atomic_fetch_and(&pmd->v, ~PTE_WRITE, __ATOMIC_SEQ_CST);
		e = pte_clear_bits(pte_read(pmd), PTE_WRITE);
		c->protected = true;
	}
	page_dup_mapping(pfn_to_page(pte_pfn(e)));
	c->anon += HPAGE_NR;
	pte_set(c->pmd, e);
	c->spare = false;
	return 0;
}

/* It was not needed: the huge page it was made for had become a table. */
static void drop_spare(struct copy *c)
{
	struct page *table;

	if (!c->spare)
		return;
	spin_lock(&c->to->pt_lock);
	table = pt_withdraw(c->to);
	spin_unlock(&c->to->pt_lock);
	pt_table_free(table);
	atomic_long_dec(&c->to->pt_pages);
	c->spare = false;
}

static const struct pt_walk_ops copy_ops = {
	.before = copy_before, .ptes = copy_ptes, .thp_before = copy_thp_before, .thp = copy_thp
};

static int copy_vma(struct aspace *mm, struct vma *old, struct copy *c)
{
	struct vma *vma = vma_clone(old, mm);
	struct pt_walk w = { .mm = old->mm, .vma = old, .arg = c };
	bool wipe = old->flags & VM_WIPEONFORK;

	if (!vma)
		return -ENOMEM;
	vma->flags &= ~(VM_LOCKED | VM_LOCKONFAULT);
	if (!wipe && anon_vma_fork(vma, old)) {
		vma_free(vma);
		return -ENOMEM;
	}
	vm_commit(vma->flags, vma_pages(vma));
	list_add_tail(&vma->list, &mm->vma_list);
	mm->nr_vmas++;
	rmap_link(vma);
	if (!old->anon_vma || wipe)
		return 0;
	return pt_walk(&w, &copy_ops, old->start, old->end);
}

int fork_copy(struct aspace *mm, struct aspace *old)
{
	struct copy c = { .to = mm };
	struct vma *vma;
	int err = 0;

	list_for_each_entry(vma, &old->vma_list, list) {
		if (vma->flags & VM_DONTCOPY) {
			vm_stat_account(mm, vma->flags, -(long)vma_pages(vma));
			continue;
		}
		err = copy_vma(mm, vma, &c);
		if (err)
			break;
	}
	drop_spare(&c);
	vma_tree_build(mm);
	atomic_long_add(c.anon, &mm->rss_anon);
	atomic_long_add(c.swap, &mm->rss_swap);
	if (c.protected)
		tlb_flush_mm(&old->arch);
	return err;
}
