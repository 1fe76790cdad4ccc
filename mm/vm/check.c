/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check.c - validator of one address space: the VMA tree, the entries against the VMAs (nothing
 * outside, nothing writable where writing is forbidden, every anonymous page numbered for its
 * place; every swap entry has a slot; a huge page lies in one VMA and has its deposit), and the
 * counts of resident and swapped pages against the entries.
 */
#include "kernel/printk.h"
#include "mm/phys/zone.h"
#include "mm/swap/swap.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"

struct count {
	long anon, file, shmem, swap, huge;
	const char *wrong;
	unsigned long where;
};

static const char *entry_fault(struct count *c, struct vma *vma, unsigned long addr, pte_t e)
{
	struct page *page = pfn_to_page(pte_pfn(e));

	if (pte_present(e) && pte_write(e) && !(vma->flags & VM_WRITE))
		return "writable entry in a VMA that forbids writing";
	if (pte_present(e) && !(vma->flags & VM_ACCESS))
		return "present entry in a VMA without access";
	if (pte_special(e))
		return pte_pfn(e) == zero_pfn && !pte_write(e) ? NULL : "bad special entry";
	if (page_mapcount(page) < 1 || atomic_read(&page->refs) < 1)
		return "mapped page without map count or reference";
	if (page->index != vma_index(vma, addr))
		return "page number does not fit the place";
	if (page_test(page, PG_anon)) {
		c->anon++;
		return vma->anon_vma ? NULL : "anonymous page in a VMA without anon_vma";
	}
	*(page_test(page, PG_swapbacked) ? &c->shmem : &c->file) += 1;
	return page->mapping == vma->mapping ? NULL : "page of another file";
}

static int check_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct count *c = w->arg;

	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte);

		if (pte_swap(e)) {
			c->swap++;
			c->wrong = !w->vma	       ? "swap entry outside all VMAs"
				   : !w->vma->anon_vma ? "swap entry in a VMA without anon_vma"
				   : swap_count(pte_to_swp(e)) < 1 ? "swap entry without a slot"
								   : NULL;
			if (c->wrong) {
				c->where = addr;
				return 1;
			}
		}
		if (pte_migration(e)) {
			const struct page *page = pfn_to_page(pte_pfn(e));

			*(page_test(page, PG_anon)	   ? &c->anon
			  : page_test(page, PG_swapbacked) ? &c->shmem
							   : &c->file) += 1;
		}
		if (!pte_mapped(e))
			continue;
		c->wrong = w->vma ? entry_fault(c, w->vma, addr, e) : "entry outside all VMAs";
		if (c->wrong) {
			c->where = addr;
			return 1;
		}
	}
	return 0;
}

static const char *thp_wrong(struct vma *vma, unsigned long addr, unsigned long end, pte_t e)
{
	struct page *head = pfn_to_page(pte_pfn(e));

	if (!vma || (addr & ~HPAGE_MASK) || end - addr != HPAGE_SIZE)
		return "huge page reaches out of its VMA";
	if (vma->mapping || !vma->anon_vma || (vma->flags & VM_LOCKED))
		return "huge page in a VMA that cannot have one";
	if (pte_write(e) && !(vma->flags & VM_WRITE))
		return "writable huge page in a VMA that forbids writing";
	if (!page_is_thp(head) || compound_order(head) != HPAGE_ORDER)
		return "huge entry without a huge page";
	if (page_mapcount(head) < 1 || atomic_read(&head->refs) < page_mapcount(head))
		return "huge page without map count or reference";
	return head->index == vma_index(vma, addr) ? NULL : "huge page's number does not fit";
}

static int check_thp(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end)
{
	struct count *c = w->arg;

	c->huge++;
	c->anon += HPAGE_NR;
	c->wrong = thp_wrong(w->vma, addr, end, pte_read(pmd));
	c->where = addr;
	return c->wrong != NULL;
}

static const struct pt_walk_ops check_ops = { .ptes = check_ptes, .thp = check_thp };

static const char *deposits_wrong(struct aspace *mm, long huge)
{
	struct page *table;
	long n = 0;

	spin_lock(&mm->pt_lock);
	list_for_each_entry(table, &mm->deposits, lru)
		n++;
	spin_unlock(&mm->pt_lock);
	return n == huge ? NULL : "deposited tables are not as many as huge pages";
}

/* => nobody changes mm meanwhile (lock held or sole user); NULL or what is wrong, also logged */
const char *aspace_check(struct aspace *mm)
{
	struct count c = { 0 };
	struct pt_walk w = { .mm = mm, .arg = &c };
	unsigned long from = 0, total = 0;
	struct vma *vma;

	if (!vma_tree_check(mm))
		c.wrong = "VMA tree";
	list_for_each_entry(vma, &mm->vma_list, list) {
		if (c.wrong)
			break;
		w.vma = NULL;
		pt_walk(&w, &check_ops, from, vma->start);
		w.vma = vma;
		if (!c.wrong)
			pt_walk(&w, &check_ops, vma->start, vma->end);
		from = vma->end;
		total += vma_pages(vma);
	}
	w.vma = NULL;
	if (!c.wrong)
		pt_walk(&w, &check_ops, from, USER_TOP);
	if (!c.wrong && (c.anon != atomic_long_read(&mm->rss_anon) ||
			 c.file != atomic_long_read(&mm->rss_file) ||
			 c.shmem != atomic_long_read(&mm->rss_shmem) ||
			 c.swap != atomic_long_read(&mm->rss_swap)))
		c.wrong = "resident counts";
	if (!c.wrong)
		c.wrong = deposits_wrong(mm, c.huge);
	if (!c.wrong && total != mm->total_vm)
		c.wrong = "total_vm";
	if (c.wrong)
		pr_err("aspace_check: %s (at %#lx; anon %ld/%ld file %ld/%ld shmem %ld/%ld "
		       "swap %ld/%ld total %lu/%lu)",
		       c.wrong, c.where, c.anon, atomic_long_read(&mm->rss_anon), c.file,
		       atomic_long_read(&mm->rss_file), c.shmem, atomic_long_read(&mm->rss_shmem),
		       c.swap, atomic_long_read(&mm->rss_swap), total, mm->total_vm);
	return c.wrong;
}
