// SPDX-License-Identifier: BSD-2-Clause
/*
 * advise_lru.c - advice about which pages will be wanted: MADV_COLD, MADV_PAGEOUT, and
 * MADV_WILLNEED of memory in swap.
 *
 * COLD: the pages become the first that reclaim looks at. PAGEOUT: reclaim looks at them now. Both
 * take the accessed bits away and leave pages alone that others map too. WILLNEED begins to read
 * what lies in slots; nobody waits for it.
 * Huge pages are split for COLD and PAGEOUT, which may mean a part of them.
 * As everywhere, entries are looked at under pt_lock in runs, the work is done between the runs.
 */
#include "mm/reclaim/reclaim.h"
#include "mm/swap/swap.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"

struct advise {
	bool pageout;
	u32 nr;
	struct page *pages[PT_BATCH]; /* referenced */
};

static void take_cold(struct page *page)
{
	page_clear(page, PG_referenced);
	lru_deactivate(page);
	page_put(page);
}

/* Off the lists, at most a batch at a time, and to reclaim. */
static void take_out(struct page **pages, u32 nr)
{
	u32 taken = 0;

	for (u32 i = 0; i < nr; i++) {
		struct page *page = pages[i];
		bool isolated = lru_isolate(page);

		page_put(page); /* isolated: that reference is left */
		if (!isolated)
			continue;
		page_clear(page, PG_referenced);
		page_clear(page, PG_active);
		pages[taken++] = page;
	}
	reclaim_isolated(pages, taken);
}

static void advise_flush(struct advise *a)
{
	for (u32 i = 0; i < a->nr && !a->pageout; i++)
		take_cold(a->pages[i]);
	for (u32 i = 0; i < a->nr && a->pageout; i += LRU_BATCH)
		take_out(a->pages + i, min(a->nr - i, (u32)LRU_BATCH));
	a->nr = 0;
}

static int advise_before(struct pt_walk *w, unsigned long addr)
{
	advise_flush(w->arg);
	return fatal_signal_pending() ? -EINTR : 0;
}

static int advise_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct advise *a = w->arg;

	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte);
		struct page *page;

		if (!pte_mapped(e) || pte_special(e))
			continue;
		page = pfn_to_page(pte_pfn(e));
		if (page_mapcount(page) != 1)
			continue;
		if (pte_young(e))
			__atomic_fetch_and(&pte->v, ~PTE_ACCESSED, __ATOMIC_SEQ_CST);
		page_get(page);
		a->pages[a->nr++] = page;
	}
	return 0;
}

static const struct pt_walk_ops advise_ops = { .before = advise_before, .ptes = advise_ptes };

void vma_advise_cold(struct vma *vma, unsigned long start, unsigned long end, int pageout)
{
	struct advise a = { .pageout = pageout };
	struct pt_walk w = { .mm = vma->mm, .vma = vma, .arg = &a };

	pt_walk(&w, &advise_ops, start, end);
	advise_flush(&a);
}

struct willneed {
	unsigned long addr; /* of bit 0 */
	pte_t *pte;
	u64 set;
};

static void willneed_flush(struct willneed *n, struct vma *vma)
{
	for (; n->set; n->set &= n->set - 1) {
		unsigned int i = __ffs(n->set);
		pte_t e = pte_read(n->pte + i);

		if (pte_swap(e))
			swapin_start(pte_to_swp(e), vma, n->addr + i * PAGE_SIZE);
	}
}

static int willneed_before(struct pt_walk *w, unsigned long addr)
{
	willneed_flush(w->arg, w->vma);
	return fatal_signal_pending() ? -EINTR : 0;
}

static int willneed_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct willneed *n = w->arg;

	n->pte = pte;
	n->addr = addr;
	for (unsigned int i = 0; addr < end; addr += PAGE_SIZE, i++)
		if (pte_swap(pte_read(pte + i)))
			n->set |= 1ull << i;
	return 0;
}

static const struct pt_walk_ops willneed_ops = { .before = willneed_before,
						 .ptes = willneed_ptes,
						 .thp = pt_thp_pass };

void vma_swap_willneed(struct vma *vma, unsigned long start, unsigned long end)
{
	struct willneed n = { .set = 0 };
	struct pt_walk w = { .mm = vma->mm, .vma = vma, .arg = &n };

	if (!vma->anon_vma || !atomic_long_read(&vma->mm->rss_swap))
		return;
	pt_walk(&w, &willneed_ops, start, end);
	willneed_flush(&n, vma);
}
