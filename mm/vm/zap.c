/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zap.c - taking the pages of a range out of a page table: munmap, exit, MADV_DONTNEED, truncation.
 *
 * Each entry is cleared under pt_lock and its page handed to the gather (tlbgather.c), which frees
 * after the flush. What the entry knew of the page goes to the page first: a dirty bit of a file
 * page must not be lost. For private anonymous memory dirty and accessed say nothing any more, as
 * long as nobody else can have the page. A swap entry gives its name back; the last one takes the
 * page out of the swap cache.
 *
 * A page in the swap cache whose last mapping goes may be mapped anew, and get another anon_vma,
 * before the gather settles its books: it is settled here, the reference to the anon_vma waits only
 * until pt_lock is free.
 * A huge page goes as one, if all of it is in the range; else it is split first.
 * Works under aspace->lock (either way) or, for truncation, under the mapping's i_mmap_lock.
 */
#include "mm/phys/page_alloc.h"
#include "mm/swap/swap.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"
#include "mm/vm/tlbgather.h"

struct zap {
	struct tlb_gather *g;
	bool keep_cows; /* only the file's own pages */
	bool fullmm;
	u32 nr_left;
	struct anon_vma
		*left[PT_BATCH]; /* of pages in the swap cache that lost their last mapping */
	struct page *deposit;	 /* of the huge page that was just taken out */
};

static noinline void free_deposit(struct zap *z)
{
	pt_table_free(z->deposit);
	atomic_long_dec(&z->g->mm->pt_pages);
	z->deposit = NULL;
}

static void put_left(struct zap *z)
{
	while (unlikely(z->nr_left))
		anon_vma_put(z->left[--z->nr_left], 1);
}

static int zap_before(struct pt_walk *w, unsigned long addr)
{
	struct zap *z = w->arg;
	struct tlb_gather *g = z->g;

	put_left(z);
	g->saw_table = true;
	tlb_gather_room(g, PT_BATCH);
	return 0;
}

static noinline void zap_file_page(struct tlb_gather *g, struct page *page, pte_t e)
{
	if (pte_dirty(e) && !page_test(page, PG_dirty))
		pagecache_set_dirty(page);
	if (pte_young(e) && !page_test(page, PG_referenced))
		page_set(page, PG_referenced);
	g->rss[page_test(page, PG_swapbacked) ? RSS_SHMEM : RSS_FILE]++;
}

/*
 * The last mapping of a page in the swap cache is gone; av is what it named before. => pt_lock; the
 * gather holds the entry's reference
 */
static noinline void settle_swapcached(struct zap *z, struct page *page, struct anon_vma *av)
{
	z->left[z->nr_left++] = av;
	if (unlikely(page_test(page, PG_mlocked)))
		mlock_page_gone(page);
	mod_lruvec_state(page, NR_ANON_PAGES, -1);
	if (page_trylock(page)) {
		swap_try_to_free(page);
		page_unlock(page);
	}
}

/* The slot keeps the bytes for others: before they can think the page is unused. */
static noinline void keep_dirty(struct page *page, pte_t e)
{
	if (pte_dirty(e) && !page_test(page, PG_dirty))
		page_set(page, PG_dirty);
}

/*
 * One mapping less. What counts is whether it is in the swap cache afterwards: reclaim puts only
 * mapped pages there, so a page that is not, will not be.
 * => GATHER_LAST: the gather settles
 */
static __always_inline int drop_mapping(struct zap *z, struct page *page)
{
	struct anon_vma *av = page->anon_vma; /* ours as long as it is mapped */

	if (atomic_add_return(-1, &page->mapcount) >= 0)
		return 0;
	if (likely(!page_test(page, PG_swapcache)))
		return GATHER_LAST;
	settle_swapcached(z, page, av);
	return 0;
}

/* Swap and migration entries: there is no page. => pt_lock */
static noinline void zap_absent(struct zap *z, pte_t *pte, pte_t e)
{
	if (pte_migration(e)) {
		/* Its mover holds the page; mapping and reference are gone already. */
		struct page *page = pfn_to_page(pte_pfn(e));
		bool anon = page_test(page, PG_anon);

		if (anon && z->keep_cows)
			return;
		pte_set(pte, (pte_t){ 0 });
		z->g->rss[anon				   ? RSS_ANON
			  : page_test(page, PG_swapbacked) ? RSS_SHMEM
							   : RSS_FILE]++;
		return;
	}
	if (z->keep_cows)
		return;
	pte_set(pte, (pte_t){ 0 });
	z->g->rss[RSS_SWAP]++;
	swap_forget(pte_to_swp(e));
}

static int zap_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct zap *z = w->arg;
	struct tlb_gather *g = z->g;
	unsigned long first = 0, last = 0;

	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte);
		struct page *page;

		if (pte_none(e)) {
			pt_skip_none(&pte, &addr, end);
			continue;
		}
		if (unlikely(!pte_mapped(e))) {
			zap_absent(z, pte, e);
			continue;
		}
		page = pfn_to_page(pte_pfn(e));
		if (unlikely(z->keep_cows) && !pte_special(e) && page_test(page, PG_anon))
			continue;
		if (z->fullmm)
			pte_set(pte, (pte_t){ 0 });
		else
			e = pte_get_and_clear(pte);
		if (!first)
			first = addr;
		last = addr;
		if (unlikely(pte_special(e)))
			continue;
		if (likely(page_test(page, PG_anon)))
			g->rss[RSS_ANON]++;
		else
			zap_file_page(g, page, e);
		if (unlikely(page_test(page, PG_swapcache)))
			keep_dirty(page, e);
		tlb_gather_page(g, page, drop_mapping(z, page));
	}
	if (first)
		tlb_gather_range(g, first, last + PAGE_SIZE);
	return 0;
}

static int zap_thp_before(struct pt_walk *w, unsigned long addr)
{
	struct zap *z = w->arg;

	if (z->deposit)
		free_deposit(z);
	tlb_gather_room(z->g, 1);
	return 0;
}

/* As 512 entries of one page; one flush forgets them all. */
static int zap_thp(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end)
{
	struct zap *z = w->arg;
	struct page *head = pfn_to_page(pte_pfn(pte_read(pmd)));

	if (end - addr != HPAGE_SIZE)
		return PT_SPLIT;
	if (z->fullmm)
		pte_set(pmd, (pte_t){ 0 });
	else
		pte_get_and_clear(pmd);
	z->deposit = pt_withdraw(w->mm);
	z->g->rss[RSS_ANON] += HPAGE_NR;
	z->g->saw_table = true;
	tlb_gather_range(z->g, addr, addr + PAGE_SIZE);
	tlb_gather_page(z->g, head, atomic_add_return(-1, &head->mapcount) < 0 ? GATHER_LAST : 0);
	return 0;
}

static const struct pt_walk_ops zap_ops = {
	.before = zap_before, .ptes = zap_ptes, .thp_before = zap_thp_before, .thp = zap_thp
};

static void zap(struct tlb_gather *g, struct vma *vma, unsigned long start, unsigned long end,
		bool keep_cows)
{
	struct pt_walk w = { .mm = vma->mm, .vma = vma };
	struct zap z;

	z.g = g;
	z.keep_cows = keep_cows;
	z.fullmm = g->fullmm;
	z.nr_left = 0;
	z.deposit = NULL;
	w.arg = &z;
	pt_walk(&w, &zap_ops, start, end);
	put_left(&z);
	if (unlikely(z.deposit))
		free_deposit(&z);
}

void zap_range(struct tlb_gather *g, struct vma *vma, unsigned long start, unsigned long end)
{
	zap(g, vma, start, end, false);
}

void zap_vma_range(struct vma *vma, unsigned long start, unsigned long end)
{
	struct tlb_gather g;

	vm_rss(vma->mm);
	tlb_gather_init(&g, vma->mm, 0);
	zap(&g, vma, start, end, false);
	tlb_gather_finish(&g);
}

/* The part of the VMA that maps pages [first, last]. */
static void unmap_one(struct vma *vma, unsigned long first, unsigned long last, bool keep_cows)
{
	unsigned long from = max(first, vma->pgoff),
		      to = min(last, vma->pgoff + vma_pages(vma) - 1);
	struct tlb_gather g;

	tlb_gather_init(&g, vma->mm, 0);
	zap(&g, vma, vma->start + ((from - vma->pgoff) << PAGE_SHIFT),
	    vma->start + ((to - vma->pgoff + 1) << PAGE_SHIFT), keep_cows);
	tlb_gather_finish(&g);
}

/*
 * Hook of the page cache. cows: private copies go as well (truncation), else they stay (hole
 * punching).
 * => truncate_lock held for writing, so no fault brings an entry back
 */
void vm_unmap_pages(struct mapping *m, unsigned long first, unsigned long last, int cows)
{
	struct vma *vma;

	mutex_lock(&m->i_mmap_lock);
	for (vma = i_mmap_first(m, first, last); vma; vma = i_mmap_next(vma, first, last))
		unmap_one(vma, first, last, !cows);
	mutex_unlock(&m->i_mmap_lock);
}

void vm_unmap_mapping(struct mapping *m, unsigned long first, unsigned long last)
{
	vm_unmap_pages(m, first, last, 1);
}
