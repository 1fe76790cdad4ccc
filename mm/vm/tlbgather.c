/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tlbgather.c - flush, then free.
 *
 * Problem: a page may be given away only after every TLB has forgotten it, and a flush per page is
 * far too dear; so is settling counters, anon_vma references and LRU lists page by page. Idea:
 * collect up to 128 pages, flush once, then
 * settle in runs: pages of one zone and one anon_vma follow each other nearly always, so a run
 * costs one addition.
 *
 * Order that matters: entry cleared (by the caller, under pt_lock) -> flush -> anon_vma reference
 * and counters -> page reference. A dying address space needs no flush for its pages (nobody runs
 * in it any more, and a processor that speculates through a stale entry only reads), but it does
 * for its tables: a stale upper level would make the page walker read, and mark, memory that is
 * somebody else's by then.
 */
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"
#include "mm/vm/tlbgather.h"

void tlb_gather_init(struct tlb_gather *g, struct aspace *mm, int fullmm)
{
	g->mm = mm;
	g->start = ~0ul;
	g->end = 0;
	g->nr = 0;
	g->nr_tables = 0;
	g->fullmm = fullmm;
	g->saw_table = false;
	g->tables = NULL;
	for (int i = 0; i < NR_RSS; i++)
		g->rss[i] = 0;
}

void tlb_gather_table(struct tlb_gather *g, struct page *table, unsigned long addr)
{
	table->private = (unsigned long)g->tables;
	g->tables = table;
	g->nr_tables++;
	tlb_gather_range(g, addr, addr + PAGE_SIZE);
}

/* A run of pages that lost their last mapping: same zone, group and kind. */
struct run {
	struct page *page; /* any of them, for zone and group */
	struct anon_vma *av;
	enum zone_stat_item item;
	int nr;
};

static __always_inline void run_end(struct run *r)
{
	if (!r->nr)
		return;
	mod_lruvec_state(r->page, r->item, -r->nr);
	if (r->av)
		anon_vma_put(r->av, r->nr);
	r->nr = 0;
}

static __always_inline void run_add(struct run *r, struct page *page)
{
	bool anon = page_test(page, PG_anon);
	struct anon_vma *av = anon ? page->anon_vma : NULL;

	if (unlikely(!r->nr || av != r->av || page_zid(page) != page_zid(r->page) ||
		     page->memcg != r->page->memcg)) {
		run_end(r);
		r->page = page;
		r->av = av;
		r->item = anon ? NR_ANON_PAGES : NR_MAPPED;
	}
	r->nr++;
}

static noinline void settle_huge(struct page *head)
{
	anon_page_counted(head, -1);
	anon_vma_put(head->anon_vma, 1);
}

/*
 * Counters and anon_vma references of the pages nobody maps any more; then the array holds plain
 * pointers.
 */
static void settle(struct tlb_gather *g)
{
	struct run run = { .nr = 0 };

	for (u32 i = 0; i < g->nr; i++) {
		struct page *page = (struct page *)(g->pages[i] & ~GATHER_LAST);

		if (!(g->pages[i] & GATHER_LAST))
			continue;
		g->pages[i] = (unsigned long)page;
		if (unlikely(READ_ONCE(page->flags) & (BIT(PG_mlocked) | BIT(PG_head)))) {
			if (page_is_thp(page)) {
				settle_huge(page);
				continue;
			}
			if (page_test(page, PG_mlocked))
				mlock_page_gone(page);
		}
		run_add(&run, page);
	}
	run_end(&run);
}

static void sync_rss(struct tlb_gather *g)
{
	struct aspace *mm = g->mm;

	if (g->rss[RSS_ANON])
		atomic_long_sub(g->rss[RSS_ANON], &mm->rss_anon);
	if (g->rss[RSS_FILE])
		atomic_long_sub(g->rss[RSS_FILE], &mm->rss_file);
	if (g->rss[RSS_SHMEM])
		atomic_long_sub(g->rss[RSS_SHMEM], &mm->rss_shmem);
	if (g->rss[RSS_SWAP])
		atomic_long_sub(g->rss[RSS_SWAP], &mm->rss_swap);
	g->rss[RSS_ANON] = g->rss[RSS_FILE] = g->rss[RSS_SHMEM] = g->rss[RSS_SWAP] = 0;
}

static void free_tables(struct tlb_gather *g)
{
	struct page *table = g->tables, *next;

	if (!table)
		return;
	for (; table; table = next) {
		next = (struct page *)table->private;
		pt_table_free(table);
	}
	atomic_long_sub(g->nr_tables, &g->mm->pt_pages);
	g->tables = NULL;
	g->nr_tables = 0;
}

void tlb_gather_flush(struct tlb_gather *g)
{
	if (g->start < g->end && (!g->fullmm || g->tables)) {
		if (g->fullmm || g->tables)
			tlb_flush_mm(&g->mm->arch);
		else
			tlb_flush_range(&g->mm->arch, g->start, g->end);
		g->start = ~0ul;
		g->end = 0;
	}
	if (g->nr) {
		settle(g);
		release_pages((struct page **)g->pages, g->nr);
		g->nr = 0;
	}
	free_tables(g);
}

void tlb_gather_finish(struct tlb_gather *g)
{
	tlb_gather_flush(g);
	sync_rss(g);
}
