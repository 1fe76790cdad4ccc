/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thp_collapse.c - 512 small pages become one huge one.
 *
 * Problem: the pages of an aligned 2 MiB lie anywhere; they are mapped, on LRU lists, in the swap
 * cache, perhaps shared with a child, and the program goes on. Idea: take the whole table out of
 * the tree, so that one store hides all 512 places; what then still has one of the pages can be
 * counted.
 *
 *   look (lock shared)       worth it? pages in swap come back; the block is allocated
 *   lock for writing         nobody faults, maps or unmaps here
 *   root lock of anon_vma    nobody comes from a page to its entries (reclaim, migration, split)
 *   PMD empty, TLBs flushed  nobody stores any more
 *   each page: trylock,      references = mappings + swap cache, so nobody holds it; else all is
 *     count                  undone: locks off, the table goes back, nothing has changed
 *   copy                     32 pages between two chances for others
 *   table emptied, PMD set   the table is the deposit of the new page
 *   locks off                then the old pages lose their mapping and go, 128 at a time
 *
 * A page shared with others (fork) is copied like any other, it is read-only everywhere as long as
 * our mapping counts. Page locks are held from the count to the end, so reclaim and migration,
 * which take a page off its LRU list without a lock, come no further than that: the pages stay on
 * their lists, and nothing here turns interrupts off.
 *
 * A place that holds no page, or the zero page, becomes zeroes: memory that was not used before.
 * How many such places there may be is max_ptes_none (thp_look.c).
 * Locking: aspace->lock, root lock, pt_lock; page locks are only tried.
 */
#include "kernel/event.h"
#include "lib/errno.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/swap/swap.h"
#include "mm/vm/fault.h"
#include "mm/vm/internal.h"
#include "mm/vm/khugepaged.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/tlbgather.h"
#include "sched/sched.h"

#define STEP 32u /* pages between two chances for others */

DEFINE_EVENT(huge_memory, mm_collapse_huge_page, "mm=%lx addr=%lx pfn=%lx status=%s", "mm", "addr",
	     "pfn", "status");

/* The place itself, whatever the switch says (madvise asks in spite of it). */
static bool fits(const struct vma *vma, unsigned long addr)
{
	const unsigned long no = VM_SHARED | VM_MAYSHARE | VM_LOCKED | VM_PFNMAP | VM_NOHUGEPAGE;

	if (!vma || vma->mapping || !vma->anon_vma || vma->mm->thp_disabled ||
	    READ_ONCE(vma->mm->oom_reaped))
		return false;
	return (vma->flags & (no | VM_WRITE)) == VM_WRITE && addr >= vma->start &&
	       vma->end - addr >= HPAGE_SIZE;
}

/* ---- what is needed for it ---- */

/* Pages in swap come back, as if they were read. => mm->lock shared */
static bool bring_back(struct vma *vma, unsigned long start)
{
	for (unsigned long addr = start; addr < start + HPAGE_SIZE; addr += PAGE_SIZE) {
		pte_t *pte = pt_find(vma->mm, addr);

		if (!pte)
			return false;
		if (pte_swap(pte_read(pte)) && handle_fault(vma, addr, 0))
			return false;
		cond_resched();
	}
	return true;
}

/* By the VMA's policy, else where most of its pages lie. */
static struct page *new_block(struct vma *vma, unsigned long addr,
			      const struct collapse_control *cc)
{
	struct page *head;
	int node = 0;

	if (vma->policy)
		return thp_alloc(vma, addr, cc->gfp);
	for (int i = 1; i < nr_nodes; i++)
		if (cc->on_node[i] > cc->on_node[node])
			node = i;
	head = alloc_pages_node(node, cc->gfp | __GFP_ACCOUNT, HPAGE_ORDER);
	if (head) {
		head->flags |= BIT(PG_head);
		head[1].comp_order = HPAGE_ORDER;
	}
	return head;
}

/* All of it under the shared lock. CANDIDATE: *head is the new block */
static enum collapse_result prepare(struct aspace *mm, unsigned long addr,
				    struct collapse_control *cc, struct page **head)
{
	enum collapse_result r = COLLAPSE_UNFIT;
	struct vma *vma;

	down_read(&mm->lock);
	vma = vma_find(mm, addr);
	if (fits(vma, addr))
		r = collapse_look(vma, addr, cc);
	if (r == COLLAPSE_CANDIDATE && cc->swap && !bring_back(vma, addr))
		r = COLLAPSE_BUSY;
	if (r == COLLAPSE_CANDIDATE) {
		*head = new_block(vma, addr, cc);
		count_vm_event(*head ? THP_COLLAPSE_ALLOC : THP_COLLAPSE_ALLOC_FAILED);
		if (!*head)
			r = COLLAPSE_NOMEM;
	}
	up_read(&mm->lock);
	return r;
}

/* ---- the pages ---- */

/* The 512 places of the table that is out of the tree. */
struct gathered {
	struct page **pages; /* NULL where there is none */
	u32 n;		     /* places looked at */
	u32 none, shared;
};

/* Mappings and references in one read: nobody but they and the swap cache has the page. */
static bool is_free_of_holders(const struct page *page)
{
	u64 counts = __atomic_load_n((const u64 *)(const void *)&page->mapcount, __ATOMIC_ACQUIRE);
	u32 mappings = (u32)counts + 1, refs = (u32)(counts >> 32);

	return refs == mappings + page_test(page, PG_swapcache);
}

static void unlock_all(struct gathered *g)
{
	for (u32 i = 0; i < g->n; i++)
		if (g->pages[i])
			page_unlock(g->pages[i]);
}

/* Locks every page and counts. Else none is locked. => table out of the tree */
static enum collapse_result lock_all(struct gathered *g, const pte_t *table,
				     const struct collapse_control *cc)
{
	enum collapse_result r = COLLAPSE_DONE;

	for (g->n = 0; g->n < HPAGE_NR; g->n++) {
		pte_t e = pte_read(table + g->n);
		struct page *page;

		g->pages[g->n] = NULL;
		if (pte_none(e) || (pte_present(e) && pte_special(e))) {
			g->none++;
			continue;
		}
		page = pte_present(e) ? pfn_to_page(pte_pfn(e)) : NULL;
		if (!page || !page_trylock(page)) {
			r = COLLAPSE_BUSY;
			break;
		}
		g->pages[g->n] = page;
		g->shared += page_mapcount(page) > 1;
		if (!page_test(page, PG_anon) || !is_free_of_holders(page)) {
			g->n++;
			r = COLLAPSE_BUSY;
			break;
		}
	}
	if (r == COLLAPSE_DONE && g->none > cc->max_none)
		r = COLLAPSE_NONE;
	if (r == COLLAPSE_DONE && g->shared > cc->max_shared)
		r = COLLAPSE_SHARED;
	if (r != COLLAPSE_DONE)
		unlock_all(g);
	return r;
}

static void fill(struct page *head, const struct gathered *g)
{
	for (u32 i = 0; i < HPAGE_NR; i++) {
		void *to = page_kmap(head + i), *from;

		if (g->pages[i]) {
			from = page_kmap(g->pages[i]);
			copy_page_raw(to, from);
			page_kunmap(from);
		} else {
			clear_page_raw(to);
		}
		page_kunmap(to);
		if (i % STEP == STEP - 1)
			cond_resched();
	}
}

/* Mapped by nobody here any more; each still has that mapping's count and reference. */
static void drop_all(struct aspace *mm, const struct gathered *g)
{
	struct tlb_gather gather;

	tlb_gather_init(&gather, mm, 0);
	for (u32 i = 0; i < HPAGE_NR; i++) {
		struct page *page = g->pages[i];
		struct anon_vma *av;
		int last;

		if (!page)
			continue;
		if (page_test(page, PG_swapcache))
			swap_try_to_free(page);
		av = page->anon_vma;
		last = atomic_add_return(-1, &page->mapcount) < 0;
		if (unlikely(page_test(page, PG_swapcache))) { /* others may map it anew */
			page_unlock(page);
			page_mapping_gone(mm, page, av, last);
			continue;
		}
		page_unlock(page);
		tlb_gather_room(&gather, 1);
		tlb_gather_page(&gather, page, last ? GATHER_LAST : 0);
		if (i % STEP == STEP - 1)
			cond_resched();
	}
	tlb_gather_finish(&gather);
}

/* ---- the exchange ---- */

/* The table's entry is taken out and no TLB has it. NULL: there is no table, *r says why. */
static pte_t *take_table(struct aspace *mm, pte_t *pmd, unsigned long addr, enum collapse_result *r)
{
	pte_t e;

	spin_lock(&mm->pt_lock);
	e = pmd ? pte_read(pmd) : (pte_t){ 0 };
	if (pt_is_table(e))
		pte_set(pmd, (pte_t){ 0 });
	spin_unlock(&mm->pt_lock);
	if (pt_is_table(e)) {
		tlb_flush_range(&mm->arch, addr, addr + HPAGE_SIZE);
		return pte_table(e);
	}
	*r = pte_none(e) ? COLLAPSE_EMPTY : pmd_thp(e) ? COLLAPSE_MAPPED : COLLAPSE_BUSY;
	return NULL;
}

static void put_table_back(struct aspace *mm, pte_t *pmd, pte_t *table)
{
	spin_lock(&mm->pt_lock);
	pte_set(pmd, pte_make(page_to_pfn(virt_to_page(table)), PAGE_TABLE_USER));
	spin_unlock(&mm->pt_lock);
}

/* The table is emptied and becomes the deposit of the page that takes its place. */
static void enter(struct vma *vma, pte_t *pmd, unsigned long addr, pte_t *table, struct page *head,
		  const struct gathered *g)
{
	struct aspace *mm = vma->mm;

	for (u32 i = 0; i < HPAGE_NR; i++)
		pte_set(table + i, (pte_t){ 0 });
	page_set_new_anon(head, vma, addr);
	thp_account_new(head);
	spin_lock(&mm->pt_lock);
	pt_deposit(mm, virt_to_page(table));
	pte_set(pmd, pte_make(page_to_pfn(head), vma->prot | PTE_DIRTY | PTE_HUGE));
	spin_unlock(&mm->pt_lock);
	atomic_long_add(g->none, &mm->rss_anon);
}

/* => mm->lock for writing and the root lock, so that nobody comes to the table but through us */
static enum collapse_result exchange(struct vma *vma, unsigned long addr, struct page *head,
				     struct gathered *g, const struct collapse_control *cc)
{
	enum collapse_result r = COLLAPSE_UNFIT;
	pte_t *pmd = pt_find_pmd(vma->mm, addr);
	pte_t *table = take_table(vma->mm, pmd, addr, &r);

	if (!table)
		return r;
	r = lock_all(g, table, cc);
	if (r != COLLAPSE_DONE) {
		put_table_back(vma->mm, pmd, table);
		return r;
	}
	fill(head, g);
	enter(vma, pmd, addr, table, head, g);
	return r;
}

static enum collapse_result exchange_locked(struct aspace *mm, unsigned long addr,
					    struct page *head, struct gathered *g,
					    const struct collapse_control *cc)
{
	enum collapse_result r = COLLAPSE_UNFIT;
	struct rmap_lock l;
	struct vma *vma;

	down_write(&mm->lock);
	vma = vma_find(mm, addr);
	if (fits(vma, addr)) {
		rmap_lock(&l, NULL, vma->anon_vma);
		r = exchange(vma, addr, head, g, cc);
		rmap_unlock(&l);
	}
	up_write(&mm->lock);
	return r;
}

enum collapse_result collapse(struct aspace *mm, unsigned long addr, struct collapse_control *cc)
{
	struct gathered g = { .pages = get_free_page(GFP_KERNEL) };
	struct page *head = NULL;
	enum collapse_result r = g.pages ? prepare(mm, addr, cc, &head) : COLLAPSE_NOMEM;

	if (r == COLLAPSE_CANDIDATE) {
		r = exchange_locked(mm, addr, head, &g, cc);
		trace_event(mm_collapse_huge_page, (u64)mm, addr, page_to_pfn(head),
			    (u64)collapse_result_name[r]);
		if (r == COLLAPSE_DONE)
			drop_all(mm, &g);
		else
			page_put(head);
	}
	if (g.pages)
		put_free_page(g.pages);
	return r;
}

/* ---- on demand ---- */

int thp_collapse(struct aspace *mm, unsigned long addr)
{
	struct collapse_control cc = {
		.max_none = HPAGE_NR,
		.max_swap = HPAGE_NR,
		.max_shared = HPAGE_NR,
		.unused_too = true,
		.gfp = (GFP_HIGHUSER_MOVABLE & ~__GFP_KSWAPD_RECLAIM) | __GFP_NOWARN,
	};

	switch (collapse(mm, addr & HPAGE_MASK, &cc)) {
	case COLLAPSE_DONE:
	case COLLAPSE_MAPPED:
		return 0;
	case COLLAPSE_NOMEM:
		return -ENOMEM;
	case COLLAPSE_BUSY:
		return -EAGAIN;
	default:
		return -EINVAL;
	}
}

/* 0 or -ENOMEM: a part of the range belongs to no VMA; -EINVAL: a VMA can have no huge pages. */
static int check_range(struct aspace *mm, unsigned long start, unsigned long end)
{
	int err = 0;

	down_read(&mm->lock);
	for (unsigned long addr = start; addr < end && !err;) {
		struct vma *vma = vma_find(mm, addr);

		if (!vma || vma->start > addr)
			err = -ENOMEM;
		else if (vma->mapping || mm->thp_disabled ||
			 (vma->flags & (VM_SHARED | VM_MAYSHARE | VM_PFNMAP | VM_NOHUGEPAGE)))
			err = -EINVAL;
		else
			addr = vma->end;
	}
	up_read(&mm->lock);
	return err;
}

int thp_madvise_collapse(struct aspace *mm, unsigned long start, unsigned long end)
{
	int err = check_range(mm, start, end);

	if (err)
		return err;
	for (unsigned long addr = ALIGN_UP(start, HPAGE_SIZE); addr + HPAGE_SIZE <= end;
	     addr += HPAGE_SIZE) {
		int one = thp_collapse(mm, addr);

		if (one == -ENOMEM)
			return one;
		if (one)
			err = one; /* the last failure is told, the rest is tried all the same */
		if (fatal_signal_pending())
			return -EINTR;
	}
	return err;
}
