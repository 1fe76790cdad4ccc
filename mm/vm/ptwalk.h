/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ptwalk.h - the one walker of user page tables: fork, zap, mprotect, mremap, mincore, smaps,
 * pagemap, mlock use it.
 *
 * Problem: everybody needs the same loop over four levels with the same traps (holes, huge leaves,
 * entries that are not present but not empty, locks, preemption), and nobody may pay for an
 * indirect call per entry. Idea: pt_walk() is an always-inlined function over a constant table of
 * callbacks, so the compiler pastes them in. The entry callback gets a run of entries of one table,
 * at most PT_BATCH of them, under pt_lock, and loops itself.
 *
 * What an entry can be: none; present (maybe special: zero page); PROT_NONE page; swap entry;
 * migration entry. Callbacks say which they care about with the pte_*() tests.
 *
 * Instead of a table there may be a huge page (a PMD, thp.h): thp() gets it under pt_lock, with the
 * part of it that is to be walked. Who cannot treat it, or the part, has it split and gets the 512
 * entries. One on its way is waited for; callbacks never see it.
 *
 * Locking: tables do not go away while the caller holds aspace->lock (either way), or an rmap lock
 * of a VMA that covers the range (munmap unlinks a VMA from rmap before it frees tables). A huge
 * page may go or become a table at any time, so its entry is read again under pt_lock. Splitting
 * and waiting take the page's locks: with an rmap lock held there must be no huge page. Between
 * runs the walker lets others in.
 */
#ifndef MM_VM_PTWALK_H
#define MM_VM_PTWALK_H

#include "sched/sched.h"
#include "mm/vm/aspace.h"

#define PT_BATCH 64
#define PT_BATCH_BYTES (PT_BATCH * PAGE_SIZE)

enum {
	PT_SPLIT = 0x10000, /* answer of thp(): split it, and walk the entries */
	PT_AGAIN,	    /* the walker's own: look once more at the same place */
};

struct pt_walk {
	struct aspace *mm;
	struct vma *vma; /* may be NULL */
	void *arg;
};
struct pt_walk_ops {
	/*
	 * Before each run, no lock held (may sleep); may be NULL. Non-zero ends the walk, here and
	 * below.
	 */
	int (*before)(struct pt_walk *w, unsigned long addr);
	/* The entries of [addr, end), all in one table. => pt_lock held */
	int (*ptes)(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end);
	/* As before(), where a huge page was seen; may be NULL. thp() does not always follow. */
	int (*thp_before)(struct pt_walk *w, unsigned long addr);
	/*
	 * A huge page: [addr, end) is the part to be walked, *pmd its entry (pmd_thp()). 0,
	 * PT_SPLIT, or what ends the walk; NULL: always split. => pt_lock held
	 */
	int (*thp)(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end);
	/* No table below [addr, end); NULL: passed over */
	int (*hole)(struct pt_walk *w, unsigned long addr, unsigned long end);
};

static __always_inline unsigned long pt_boundary(unsigned long addr, int level, unsigned long end)
{
	unsigned long size = PAGE_SIZE << (9 * level), next = (addr + size) & ~(size - 1);

	return next - 1 < end - 1 ? next : end;
}

/*
 * From an empty entry on: steps over more empty ones, four at a time; *pte and *addr stay at an
 * empty entry before end.
 */
static __always_inline void pt_skip_none(pte_t **pte, unsigned long *addr, unsigned long end)
{
	pte_t *p = *pte;
	unsigned long a = *addr;

	for (; a + 4 * PAGE_SIZE < end && !(p[1].v | p[2].v | p[3].v | p[4].v); p += 4)
		a += 4 * PAGE_SIZE;
	*pte = p;
	*addr = a;
}

/* For walks that have nothing to do at a huge page. */
static inline int pt_thp_pass(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end)
{
	return 0;
}

/* An entry above the tables that was not empty. => PT_AGAIN, 0 or what ends the walk (ptable.c) */
int pt_walk_huge(struct pt_walk *w, const struct pt_walk_ops *ops, pte_t *pmd, unsigned long addr,
		 unsigned long end);

/* The entry leads to a table. => user tables */
static __always_inline bool pt_is_table(pte_t e)
{
	return (e.v & (PTE_PRESENT | PTE_HUGE)) == PTE_PRESENT;
}

static __always_inline int pt_walk(struct pt_walk *w, const struct pt_walk_ops *ops,
				   unsigned long start, unsigned long end)
{
	struct aspace *mm = w->mm;
	unsigned long addr = start, next;
	int ret = 0;

	while (addr < end) {
		pte_t *table = mm->arch.pgd;
		int level;

		for (level = 3; level > 0; level--) {
			pte_t e = pte_read(table + pt_index(addr, level));

			if (unlikely(level == 1 ? !pt_is_table(e) : !pte_present(e)))
				break;
			table = pte_table(e);
		}
		if (unlikely(level)) {
			pte_t *entry = table + pt_index(addr, level);

			next = pt_boundary(addr, level, end);
			if (pte_none(pte_read(entry)))
				ret = ops->hole ? ops->hole(w, addr, next) : 0;
			else
				ret = pt_walk_huge(w, ops, entry, addr, next);
			if (ret == PT_AGAIN)
				continue;
			if (ret)
				return ret;
			addr = next;
			continue;
		}
		for (next = pt_boundary(addr, 1, end); addr < next;) {
			unsigned long stop =
				min(next, (addr + PT_BATCH_BYTES) & ~(PT_BATCH_BYTES - 1));

			if (ops->before) {
				ret = ops->before(w, addr);
				if (ret)
					return ret;
			}
			spin_lock(&mm->pt_lock);
			ret = ops->ptes(w, table + pt_index(addr, 0), addr, stop);
			spin_unlock(&mm->pt_lock);
			if (ret)
				return ret;
			addr = stop;
			cond_resched();
		}
	}
	return 0;
}

/*
 * The lowest-level entry of addr, or NULL when there is no table (or a huge page, also one on its
 * way). => as for pt_walk
 */
static __always_inline pte_t *pt_find(struct aspace *mm, unsigned long addr)
{
	pte_t *table = mm->arch.pgd;

	for (int level = 3; level > 0; level--) {
		pte_t e = pte_read(table + pt_index(addr, level));

		if (unlikely(level == 1 ? !pt_is_table(e) : !pte_present(e)))
			return NULL;
		table = pte_table(e);
	}
	return table + pt_index(addr, 0);
}

/*
 * The entry of level 1 for addr: of a table, a huge page, or empty. NULL: there is none. => as
 * above
 */
static __always_inline pte_t *pt_find_pmd(struct aspace *mm, unsigned long addr)
{
	pte_t *table = mm->arch.pgd;

	for (int level = 3; level > 1; level--) {
		pte_t e = pte_read(table + pt_index(addr, level));

		if (unlikely(!pte_present(e)))
			return NULL;
		table = pte_table(e);
	}
	return table + pt_index(addr, 1);
}

/*
 * The same, with the missing tables made. => may sleep; NULL when out of memory (pt_alloc: or a
 * huge page is there)
 */
pte_t *pt_alloc_pmd(struct aspace *mm, unsigned long addr);
pte_t *pt_alloc_slow(struct aspace *mm, unsigned long addr);
static __always_inline pte_t *pt_alloc(struct aspace *mm, unsigned long addr)
{
	pte_t *table = mm->arch.pgd;

	for (int level = 3; level > 0; level--) {
		pte_t e = pte_read(table + pt_index(addr, level));

		if (unlikely(level == 1 ? !pt_is_table(e) : !pte_present(e)))
			return pt_alloc_slow(mm, addr);
		table = pte_table(e);
	}
	return table + pt_index(addr, 0);
}

struct tlb_gather;
/*
 * Hands the tables of [start, end) that cover nothing of [.., floor) and [ceiling, ..) to the
 * gather. => all entries in [floor, ceiling) are none; aspace->lock for writing
 */
void pt_free_range(struct tlb_gather *g, unsigned long start, unsigned long end,
		   unsigned long floor, unsigned long ceiling);
/*
 * Table pages are all zero when they come here, and go back to a short per-CPU list. => after the
 * TLB flush
 */
void pt_table_free(struct page *table);
unsigned long pt_cache_drain(void); /* this CPU's list back to the allocator; pages */
void pt_cache_init(void);

#endif
