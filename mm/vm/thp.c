/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thp.c - faults that are answered with a huge page.
 *
 * Problem: 2 MiB touched page by page are 512 faults, 512 allocations, 512 entries to be taken out
 * again. Idea: where a program's private memory covers a whole aligned 2 MiB and nothing of it has
 * been touched, the first fault brings in all of it: one block of order 9, one entry in the place
 * of a table. Everything that is dear about it is in proportion to the bytes (clearing, copying),
 * and that is done in pieces of 32 pages with the scheduler in between.
 *
 * If no block is to be had the fault takes a small page as ever; khugepaged will look at the place
 * again. The order is that of small pages (fault.c): work without a lock, then pt_lock, and only if
 * the entry is still what it was, the new one goes in, with a deposit for the day it is split.
 *
 * A write to one that is mapped read-only (after fork): whoever is alone takes it as it is; else a
 * copy of the whole, or, if there is no block for that, the page is split and the fault comes back
 * for a small one. Alone: no mapping but ours, and no reference either, in one read. If there is a
 * reference (a splitter, reclaim), it is asked once more behind the page lock.
 *
 * The page is zeroed for readers, too: there is no huge zero page.
 * Locking: aspace->lock shared; pt_lock; a page lock in the slow case of COW.
 */
#include "mm/vm/thp.h"

#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/vm/fault.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "sched/sched.h"

#define STEP 32u /* pages between two chances for others */

bool thp_eligible(const struct vma *vma, unsigned long addr)
{
	const unsigned long no = VM_SHARED | VM_MAYSHARE | VM_LOCKED | VM_PFNMAP;
	unsigned long start = addr & HPAGE_MASK;

	if (!thp_wanted(vma) || vma->mapping || (vma->flags & (no | VM_WRITE)) != VM_WRITE)
		return false;
	return start >= vma->start && vma->end - start >= HPAGE_SIZE;
}

void anon_page_counted(struct page *page, int sign)
{
	if (likely(!page_test(page, PG_head))) {
		mod_lruvec_state(page, NR_ANON_PAGES, sign);
		return;
	}
	mod_lruvec_state(page, NR_ANON_PAGES, sign * (long)HPAGE_NR);
	mod_lruvec_state(page, NR_ANON_THPS, sign);
}

struct page *thp_alloc(struct vma *vma, unsigned long addr, gfp_t gfp)
{
	struct page *head;

	gfp |= __GFP_ACCOUNT;
	gfp &= ~(__GFP_ZERO | __GFP_COMP);
	if (unlikely(vma->policy))
		head = mpol_alloc_pages(vma->policy, gfp, HPAGE_ORDER, vma_index(vma, addr));
	else
		head = alloc_pages(gfp, HPAGE_ORDER);
	if (!head)
		return NULL;
	head->flags |= BIT(PG_head);
	head[1].comp_order = HPAGE_ORDER;
	return head;
}

/* Frames that follow each other do so in the kernel's map of memory. */
static inline void clear_some(struct page *page)
{
	void *va = page_kmap(page);

	clear_pages_raw(va, STEP);
	page_kunmap(va);
}

/* The part that was asked for comes last: it is what the caches hold then. */
void thp_clear(struct page *head, unsigned long addr)
{
	u32 last = ((addr & ~HPAGE_MASK) >> PAGE_SHIFT) & ~(STEP - 1);

	for (u32 i = 0; i < HPAGE_NR; i += STEP) {
		if (i == last)
			continue;
		clear_some(head + i);
		cond_resched();
	}
	clear_some(head + last);
}

static void thp_copy(struct page *to, struct page *from)
{
	for (u32 i = 0; i < HPAGE_NR; i += STEP) {
		void *src = page_kmap(from + i), *dst = page_kmap(to + i);

		copy_pages_raw(dst, src, STEP);
		page_kunmap(dst);
		page_kunmap(src);
		cond_resched();
	}
}

static inline pte_t thp_entry(const struct vma *vma, const struct page *head, bool write)
{
	return pte_make(page_to_pfn(head), vma->prot | PTE_HUGE | (write ? PTE_DIRTY : 0));
}

static noinline int fall_back(struct vma *vma)
{
	count_vm_event(THP_FAULT_FALLBACK);
	return THP_FALLBACK;
}

/* It is never locked in memory. */
void thp_account_new(struct page *head)
{
	anon_page_counted(head, 1);
	lru_add(head);
}

/* In the place of an empty entry, or given back if that is empty no more. */
static void enter(struct vma *vma, pte_t *pmd, struct page *head, struct page *table, pte_t entry)
{
	struct aspace *mm = vma->mm;

	thp_account_new(head);
	spin_lock(&mm->pt_lock);
	if (unlikely(!pte_none(pte_read(pmd)))) {
		spin_unlock(&mm->pt_lock);
		page_unset_new_anon(head, vma);
		pt_table_free(table);
		return;
	}
	pt_deposit(mm, table);
	pte_set(pmd, entry);
	spin_unlock(&mm->pt_lock);
	atomic_long_add(HPAGE_NR, &mm->rss_anon);
	atomic_long_inc(&mm->pt_pages);
	count_vm_event(THP_FAULT_ALLOC);
}

int thp_fault(struct vma *vma, unsigned long addr, unsigned int flags)
{
	unsigned long start = addr & HPAGE_MASK;
	pte_t *pmd = pt_find_pmd(vma->mm, addr);
	struct page *head, *table;

	if (unlikely(!pmd || anon_vma_prepare(vma)))
		return -ENOMEM;
	head = thp_alloc(vma, start, thp_gfp(vma));
	if (unlikely(!head))
		return fall_back(vma);
	table = pt_table_alloc();
	if (unlikely(!table)) {
		page_put(head);
		return fall_back(vma);
	}
	thp_clear(head, addr);
	page_set_new_anon(head, vma, start);
	enter(vma, pmd, head, table, thp_entry(vma, head, flags & FAULT_WRITE));
	return 0;
}

void thp_wait(struct aspace *mm, pte_t *pmd)
{
	pte_t e;

	spin_lock(&mm->pt_lock);
	e = pte_read(pmd);
	if (likely(pmd_moving(e)))
		page_wait_unlocked_under(pfn_to_page(pte_pfn(e)), &mm->pt_lock);
	else
		spin_unlock(&mm->pt_lock);
}

/* ---- copy on write ---- */

static inline bool same_entry(pte_t *pmd, pte_t e)
{
	return ((pte_read(pmd).v ^ e.v) & ~(PTE_ACCESSED | PTE_DIRTY)) == 0;
}

/* As it is, if the entry is still the same and no other has the page; locked: by page lock. */
static bool take_it(struct vma *vma, unsigned long addr, pte_t *pmd, pte_t e, bool locked)
{
	struct page *head = pfn_to_page(pte_pfn(e));
	u64 counts;
	bool alone;

	spin_lock(&vma->mm->pt_lock);
	counts = __atomic_load_n((const u64 *)(const void *)&head->mapcount, __ATOMIC_ACQUIRE);
	alone = same_entry(pmd, e) && (locked ? (u32)counts == 0 : counts == 1ull << 32);
	if (alone)
		pte_set(pmd, pte_set_bits(pte_read(pmd), PTE_WRITE | PTE_DIRTY | PTE_ACCESSED));
	spin_unlock(&vma->mm->pt_lock);
	if (alone)
		tlb_flush_page_local(addr); /* others fault once more and find it writable */
	return alone;
}

/* A reference, if the entry is still there. */
static bool hold(struct aspace *mm, pte_t *pmd, pte_t e)
{
	bool same;

	spin_lock(&mm->pt_lock);
	same = same_entry(pmd, e);
	if (same)
		page_get(pfn_to_page(pte_pfn(e)));
	spin_unlock(&mm->pt_lock);
	return same;
}

/* One mapping, but somebody has a reference: behind his lock it is certain. => head referenced */
static bool take_it_locked(struct vma *vma, unsigned long addr, pte_t *pmd, pte_t e)
{
	struct page *head = pfn_to_page(pte_pfn(e));
	bool alone;

	page_lock(head);
	alone = take_it(vma, addr, pmd, e, true);
	page_unlock(head);
	return alone;
}

/* copy in the place of old, unless the entry has changed. => old referenced; consumes copy */
static void replace(struct vma *vma, unsigned long start, pte_t *pmd, pte_t e, struct page *copy)
{
	struct page *old = pfn_to_page(pte_pfn(e));
	struct aspace *mm = vma->mm;
	struct anon_vma *av;
	bool last;

	page_set_new_anon(copy, vma, start);
	thp_account_new(copy);
	spin_lock(&mm->pt_lock);
	if (unlikely(!same_entry(pmd, e))) {
		spin_unlock(&mm->pt_lock);
		page_unset_new_anon(copy, vma);
		return;
	}
	pte_get_and_clear(pmd);
	tlb_flush_range(&mm->arch, start, start + PAGE_SIZE);
	pte_set(pmd, thp_entry(vma, copy, true));
	av = old->anon_vma;
	last = atomic_add_return(-1, &old->mapcount) < 0;
	spin_unlock(&mm->pt_lock);
	page_mapping_gone(mm, old, av, last);
}

int thp_cow(struct vma *vma, unsigned long addr, pte_t *pmd, pte_t e, unsigned int flags)
{
	struct page *old = pfn_to_page(pte_pfn(e)), *copy = NULL;
	unsigned long start = addr & HPAGE_MASK;

	if (unlikely(!(vma->flags & VM_WRITE))) { /* a debugger writes: to a small page */
		thp_split_addr(vma->mm, addr);
		return 0;
	}
	if (take_it(vma, addr, pmd, e, false))
		return 0;
	if (anon_vma_prepare(vma))
		return -ENOMEM;
	if (!hold(vma->mm, pmd, e))
		return 0;
	if (page_mapcount(old) == 1 && take_it_locked(vma, addr, pmd, e)) {
		page_put(old);
		return 0;
	}
	if (thp_eligible(vma, addr))
		copy = thp_alloc(vma, start, thp_gfp(vma));
	if (copy) {
		thp_copy(copy, old);
		replace(vma, start, pmd, e, copy);
	}
	page_put(old);
	if (!copy) {
		fall_back(vma);
		thp_split_addr(vma->mm, addr);
	}
	return 0;
}
