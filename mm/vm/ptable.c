/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ptable.c - life of user page-table pages.
 *
 * Problem: a small process needs seven table pages, each 512 words that must read zero; clearing
 * them would be a fifth of the cost of fork. Idea: a table is freed only when all its entries are
 * none, that is, when it is zero already. So freed tables go to a short list per CPU and come back
 * without clearing.
 *
 * When is a table free to go? Not by counting: munmap knows the neighbours. All entries between the
 * end of the previous VMA (floor) and the start of the next (ceiling) are none, so a table whose
 * whole range lies between them is empty.
 * Locking: entries that point to tables are set and cleared under pt_lock; tables are freed with
 * aspace->lock held for writing, after the TLB flush (processors remember upper levels, too).
 *
 * Deposits: for each huge page that stands in the place of a table the address space keeps an empty
 * one (aspace->deposits), so that taking the huge page apart never has to allocate. pt_pages counts
 * a table from its birth to its end, in the tree or deposited.
 */
#include "arch/smp.h"
#include "kernel/param.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"
#include "mm/vm/tlbgather.h"

#define PT_CACHE_MAX 32

struct pt_cache {
	struct page *head; /* linked by private */
	u32 count;
	int node; /* the CPU's, plus one; 0: not asked yet */
};
static DEFINE_PER_CPU(struct pt_cache, pt_cache);

static struct page *table_alloc(void)
{
	struct pt_cache *c;
	struct page *page;

	preempt_disable();
	c = this_cpu_ptr(&pt_cache);
	page = c->head;
	if (likely(page)) {
		c->head = (struct page *)page->private;
		c->count--;
	}
	preempt_enable();
	if (likely(page)) {
		page->private = 0;
		return page;
	}
	page = alloc_page(GFP_KERNEL | __GFP_ZERO | __GFP_ACCOUNT);
	if (page) {
		page_set(page, PG_table);
		mod_lruvec_state(page, NR_PAGETABLE, 1);
	}
	return page;
}

static void table_release(struct page *page)
{
	page_clear(page, PG_table);
	mod_lruvec_state(page, NR_PAGETABLE, -1);
	page->private = 0;
	free_page(page);
}

void pt_table_free(struct page *page)
{
	struct pt_cache *c;
	bool keep;

	ASSERT(page_test(page, PG_table));
#ifdef QUIRE_DEBUG
	for (unsigned int i = 0; i < PTRS_PER_TABLE; i++)
		BUG_ON(!pte_none(((pte_t *)page_address(page))[i]));
#endif
	preempt_disable();
	c = this_cpu_ptr(&pt_cache);
	if (unlikely(!c->node))
		c->node = cpu_mem_node(smp_processor_id()) + 1;
	keep = c->count < PT_CACHE_MAX && page_node(page) + 1 == c->node;
	if (keep) {
		page->private = (unsigned long)c->head;
		c->head = page;
		c->count++;
	}
	preempt_enable();
	if (!keep)
		table_release(page);
}

unsigned long pt_cache_drain(void)
{
	unsigned long n = 0;

	for (;; n++) {
		struct pt_cache *c;
		struct page *page;

		preempt_disable();
		c = this_cpu_ptr(&pt_cache);
		page = c->head;
		if (page) {
			c->head = (struct page *)page->private;
			c->count--;
		}
		preempt_enable();
		if (!page)
			return n;
		table_release(page);
	}
}

static unsigned long pt_cache_count(struct shrinker *s)
{
	unsigned long n = 0;

	for (u32 cpu = 0; cpu < nr_cpus; cpu++)
		n += READ_ONCE(per_cpu(pt_cache.count, cpu));
	return n;
}

static void drain_here(void *freed)
{
	*(unsigned long *)freed += pt_cache_drain();
}

/* A thread that reclaims gives its own CPU's short list; one that drops caches goes round. */
static unsigned long pt_cache_scan(struct shrinker *s, unsigned long nr)
{
	unsigned long freed = pt_cache_drain();

	if (nr > freed && !(current->flags & TF_MEMALLOC))
		visit_cpus(drain_here, &freed);
	return freed;
}

static struct shrinker pt_cache_shrinker = { .name = "page_tables",
					     .count = pt_cache_count,
					     .scan = pt_cache_scan };

void pt_cache_init(void)
{
	shrinker_register(&pt_cache_shrinker);
}

struct page *pt_table_alloc(void)
{
	return table_alloc();
}

void pt_deposit(struct aspace *mm, struct page *table)
{
	list_add(&table->lru, &mm->deposits);
}

struct page *pt_withdraw(struct aspace *mm)
{
	struct page *table = list_first_entry(&mm->deposits, struct page, lru);

	ASSERT(!list_empty(&mm->deposits));
	list_del(&table->lru);
	return table;
}

/* The table below an empty entry, made unless somebody was faster: what the entry is then. */
static noinline pte_t fill_entry(struct aspace *mm, pte_t *entry)
{
	struct page *page = table_alloc();
	pte_t e;

	if (!page)
		return (pte_t){ 0 };
	spin_lock(&mm->pt_lock);
	e = pte_read(entry);
	if (pte_none(e)) {
		e = pte_make(page_to_pfn(page), PAGE_TABLE_USER);
		pte_set(entry, e);
		page = NULL;
	}
	spin_unlock(&mm->pt_lock);
	if (page)
		pt_table_free(page);
	else
		atomic_long_inc(&mm->pt_pages);
	return e;
}

/* Down to the entry of that level. */
static pte_t *alloc_to(struct aspace *mm, unsigned long addr, int lowest)
{
	pte_t *table = mm->arch.pgd;

	for (int level = 3; level > lowest; level--) {
		pte_t *entry = table + pt_index(addr, level), e = pte_read(entry);

		if (pte_none(e))
			e = fill_entry(mm, entry);
		if (!pt_is_table(e))
			return NULL;
		table = pte_table(e);
	}
	return table + pt_index(addr, lowest);
}

pte_t *pt_alloc_pmd(struct aspace *mm, unsigned long addr)
{
	return alloc_to(mm, addr, 1);
}

pte_t *pt_alloc_slow(struct aspace *mm, unsigned long addr)
{
	return alloc_to(mm, addr, 0);
}

int pt_walk_huge(struct pt_walk *w, const struct pt_walk_ops *ops, pte_t *pmd, unsigned long addr,
		 unsigned long end)
{
	pte_t e = pte_read(pmd);
	int ret = PT_SPLIT;

	if (pmd_moving(e)) {
		thp_wait(w->mm, pmd);
		return PT_AGAIN;
	}
	if (!pmd_thp(e)) /* a table by now */
		return PT_AGAIN;
	if (ops->thp) {
		if (ops->thp_before && (ret = ops->thp_before(w, addr)))
			return ret;
		spin_lock(&w->mm->pt_lock);
		ret = pmd_thp(pte_read(pmd)) ? ops->thp(w, pmd, addr, end) : PT_AGAIN;
		spin_unlock(&w->mm->pt_lock);
		cond_resched();
	}
	if (ret != PT_SPLIT)
		return ret;
	thp_split_addr(w->mm, addr);
	return PT_AGAIN;
}

/*
 * Does a whole table entry of this level around addr lie in [floor, ceiling)? Bounds that wrap mean
 * the end of space.
 */
static bool inside(unsigned long addr, int level, unsigned long floor, unsigned long ceiling)
{
	unsigned long size = PAGE_SIZE << (9 * level), base = addr & ~(size - 1);

	return base >= floor && base + size - 1 <= ceiling - 1;
}

/*
 * table of level `level`; frees the tables one level below where they are empty, after their own
 * children.
 */
static void free_level(struct tlb_gather *g, pte_t *table, int level, unsigned long start,
		       unsigned long end, unsigned long floor, unsigned long ceiling)
{
	unsigned long addr, next;

	for (addr = start; addr < end; addr = next) {
		pte_t *entry = table + pt_index(addr, level), e = pte_read(entry);

		next = pt_boundary(addr, level, end);
		if (!pte_present(e) || pte_huge(e))
			continue;
		if (level > 1)
			free_level(g, pte_table(e), level - 1, addr, next, floor, ceiling);
		if (!inside(addr, level, floor, ceiling))
			continue;
		spin_lock(&g->mm->pt_lock);
		pte_set(entry, (pte_t){ 0 });
		spin_unlock(&g->mm->pt_lock);
		tlb_gather_table(g, pfn_to_page(pte_pfn(e)), addr);
	}
}

void pt_free_range(struct tlb_gather *g, unsigned long start, unsigned long end,
		   unsigned long floor, unsigned long ceiling)
{
	/*
	 * Nothing was ever touched in a short range: it has no table, and the one above covers
	 * others, too.
	 */
	if (!g->saw_table && !((start ^ (end - 1)) & ~(PMD_SIZE - 1)) &&
	    !inside(start, 2, floor, ceiling))
		return;
	/* A lowest table that must stay at an end of the range takes all above it with it. */
	if (!inside(end - 1, 1, floor, ceiling))
		end = (end - 1) & ~(PMD_SIZE - 1);
	if (end > start && !inside(start, 1, floor, ceiling))
		start = (start + PMD_SIZE) & ~(PMD_SIZE - 1);
	if (start >= end)
		return;
	free_level(g, g->mm->arch.pgd, 3, start, end, floor, ceiling);
}
