/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thp_look.c - is it worth making one huge page of these 2 MiB?
 *
 * Counts, without changing anything, what lies there: empty places would become memory that was not
 * used before, pages in swap would have to be read, shared ones would be there twice. khugepaged
 * has a limit for each, and wants to see that the place is written and used; who asks for it by
 * madvise has none.
 * Locking: aspace->lock either way; pt_lock 64 entries at a time.
 */
#include "kernel/event.h"
#include "mm/vm/internal.h"
#include "mm/vm/khugepaged.h"
#include "mm/vm/ptwalk.h"

DEFINE_EVENT(huge_memory, mm_khugepaged_scan_pmd,
	     "mm=%lx addr=%lx writable=%lu referenced=%lu none_or_zero=%lu unmapped=%lu status=%s",
	     "mm", "addr", "writable", "referenced", "none_or_zero", "unmapped", "status");

const char *const collapse_result_name[NR_COLLAPSE_RESULTS] = {
	"succeeded",
	"pmd_mapped",
	"candidate",
	"pmd_null",
	"exceed_none_pte",
	"exceed_swap_pte",
	"exceed_shared_pte",
	"no_writable_page",
	"lack_referenced_page",
	"page_busy",
	"alloc_huge_page_failed",
	"vma_check",
};

struct look {
	struct collapse_control *cc;
	enum collapse_result result; /* DONE: nothing against it so far */
};

static void look_at(struct look *l, pte_t e)
{
	struct collapse_control *cc = l->cc;
	struct page *page;

	if (pte_none(e) || (pte_present(e) && pte_special(e))) {
		cc->none++;
		return;
	}
	if (pte_swap(e)) {
		cc->swap++;
		return;
	}
	if (!pte_present(e)) {
		l->result = COLLAPSE_BUSY; /* on its way */
		return;
	}
	page = pfn_to_page(pte_pfn(e));
	cc->shared += page_mapcount(page) > 1;
	cc->young += pte_young(e);
	cc->writable += pte_write(e);
	cc->on_node[page_node(page)]++;
	if (page_test(page, PG_locked))
		l->result = COLLAPSE_BUSY;
}

static int look_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct look *l = w->arg;

	for (; addr < end; addr += PAGE_SIZE, pte++)
		look_at(l, pte_read(pte));
	return l->result == COLLAPSE_DONE ? 0 : 1;
}

static int look_thp(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end)
{
	((struct look *)w->arg)->result = COLLAPSE_MAPPED;
	return 1;
}

static int look_hole(struct pt_walk *w, unsigned long addr, unsigned long end)
{
	((struct look *)w->arg)->result = COLLAPSE_EMPTY;
	return 1;
}

static const struct pt_walk_ops look_ops = { .ptes = look_ptes,
					     .thp = look_thp,
					     .hole = look_hole };

static enum collapse_result judge(const struct collapse_control *cc)
{
	if (cc->none > cc->max_none || cc->none == HPAGE_NR)
		return COLLAPSE_NONE;
	if (cc->swap > cc->max_swap)
		return COLLAPSE_SWAP;
	if (cc->shared > cc->max_shared)
		return COLLAPSE_SHARED;
	if (cc->unused_too)
		return COLLAPSE_CANDIDATE;
	if (!cc->writable)
		return COLLAPSE_RO;
	if (!cc->young || (cc->swap && cc->young < HPAGE_NR / 2))
		return COLLAPSE_UNUSED;
	return COLLAPSE_CANDIDATE;
}

enum collapse_result collapse_look(struct vma *vma, unsigned long addr, struct collapse_control *cc)
{
	struct look l = { .cc = cc, .result = COLLAPSE_DONE };
	struct pt_walk w = { .mm = vma->mm, .vma = vma, .arg = &l };

	cc->none = cc->swap = cc->shared = cc->young = cc->writable = 0;
	for (u32 i = 0; i < ARRAY_SIZE(cc->on_node); i++)
		cc->on_node[i] = 0;
	pt_walk(&w, &look_ops, addr, addr + HPAGE_SIZE);
	if (l.result == COLLAPSE_DONE)
		l.result = judge(cc);
	trace_event(mm_khugepaged_scan_pmd, (u64)vma->mm, addr, cc->writable, cc->young, cc->none,
		    cc->swap, (u64)collapse_result_name[l.result]);
	return l.result;
}
