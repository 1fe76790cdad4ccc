/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thp.h - huge pages of private anonymous memory: 2 MiB, one entry of level 1 (a PMD).
 *
 * A huge page is one page with PG_head and compound_order 9. Whole PMDs map it, nothing else; who
 * needs a part of it splits the page, in every address space at once. So there is no count per
 * small page, and the 511 frames behind the head stay untouched struct pages (no flags, no
 * references) until a split makes pages of them. A huge page fills exactly one pageblock.
 *
 *   refs      mappings + holders, of the head; nobody ever holds a part: vm_get_page() and its like
 *             split first
 *   mapcount  PMDs that map it, minus one
 *   counters  NR_ANON_PAGES and the LRU count 512, NR_ANON_THPS one
 *   deposit   per huge PMD its address space keeps one empty page table (aspace->deposits), so that
 *             a split never allocates
 *   on its way  while it is split its PMDs are migration entries; who meets one waits for the page
 *             lock
 *
 * Locks: page lock, root lock of the anon_vma, pt_lock, as for migration (mm/compact/migrate.c).
 */
#ifndef MM_VM_THP_H
#define MM_VM_THP_H

#include "kernel/param.h"
#include "mm/phys/gfp.h"
#include "mm/phys/page.h"
#include "mm/vm/aspace.h"

#define HPAGE_ORDER 9u
#define HPAGE_NR (1u << HPAGE_ORDER)
#define HPAGE_SIZE (PAGE_SIZE << HPAGE_ORDER)
#define HPAGE_MASK (~(HPAGE_SIZE - 1))

static __always_inline bool page_is_thp(const struct page *page)
{
	const unsigned long both = BIT(PG_head) | BIT(PG_anon);

	return (READ_ONCE(page->flags) & both) == both;
}
/* A level-1 entry of a user table that maps a huge page. */
static __always_inline bool pmd_thp(pte_t e)
{
	return pte_present(e) && pte_huge(e);
}
/* The huge page behind it is being split (or made): wait with thp_wait(). */
static __always_inline bool pmd_moving(pte_t e)
{
	return pte_migration(e);
}

/* ---- thp.c: faults ---- */

#define THP_FALLBACK 1 /* small pages then */
/*
 * May a fault at addr of vma be answered with a huge page: switch and VMA flags, an aligned 2 MiB
 * inside the VMA, private anonymous, not VM_LOCKED, not the temporary stack. => mm->lock
 */
bool thp_eligible(const struct vma *vma, unsigned long addr);
/*
 * The PMD of addr is empty: a huge page there. 0, THP_FALLBACK, -ENOMEM. => mm->lock shared; may
 * sleep
 */
int thp_fault(struct vma *vma, unsigned long addr, unsigned int flags);
/*
 * Write to a huge page mapped read-only: reused, copied, or split (then the fault is taken again).
 * 0, -ENOMEM
 */
int thp_cow(struct vma *vma, unsigned long addr, pte_t *pmd, pte_t e, unsigned int flags);
/* Waits until the PMD is no longer on its way. => mm->lock either way, no rmap lock, may sleep */
void thp_wait(struct aspace *mm, pte_t *pmd);
/* For an address of vma, by policy: a head of order 9, refs 1, not cleared; NULL. => may sleep */
struct page *thp_alloc(struct vma *vma, unsigned long addr, gfp_t gfp);
/* The part around addr comes last. => others get a turn every 32 pages */
void thp_clear(struct page *head, unsigned long addr);
/* page_account_new_anon() for a huge page: counters, LRU. => before its entry is set */
void thp_account_new(struct page *head);
/* Counts of an anonymous page (any order) that gets its first / lost its last mapping. */
void anon_page_counted(struct page *page, int sign);

/* ---- thp_split.c ---- */

/*
 * Makes 512 small pages of a huge one. All its PMDs become tables of 512 entries; the tails go to
 * the LRU, the head stays where it was (isolated: off; else on). refs: references the caller holds;
 * wait: locks of mappings may be waited for. 0; -EBUSY: somebody else holds it; -EAGAIN: lock not
 * to be had.
 * => head locked (it stays so); no lock above mm when wait; interrupts are off for at most 32 pages
 *    at a time ("split_huge")
 */
int split_huge_page(struct page *head, int refs, bool wait);
/*
 * No huge page is mapped at addr's PMD afterwards (it may be a table, or empty). Loops until it is
 * so.
 * => mm->lock either way, no rmap lock; may sleep
 */
void thp_split_addr(struct aspace *mm, unsigned long addr);
/* If a huge PMD of mm reaches across addr (not 2 MiB aligned): splits it. For vma_split(). */
void thp_split_across(struct aspace *mm, unsigned long addr);

/*
 * ptable.c: deposits. => pt_lock; pt_pages stays as it is: it counts a table from its birth to its
 * end, in the tree or deposited
 */
struct page *pt_table_alloc(void); /* an empty table or NULL. => no lock, may sleep */
void pt_deposit(struct aspace *mm, struct page *table);
struct page *pt_withdraw(struct aspace *mm); /* => there is one */

/* ---- khugepaged.c, thp_show.c ---- */
enum { THP_NEVER, THP_MADVISE, THP_ALWAYS };
/* /sys/kernel/mm/transparent_hugepage/enabled; default madvise */
DECLARE_SWITCH(thp);
#define thp_enabled switch_value(thp)
/* By switch, VMA flags and prctl; nothing is said about borders and kind. */
bool thp_wanted(const struct vma *vma);
gfp_t thp_gfp(const struct vma *vma); /* by .../defrag and the VMA's flags, for faults */
void thp_init(void);		      /* boot: threads can be made */
/* Somebody advised huge pages: khugepaged starts, min_free_kbytes rises. => may sleep */
void thp_advised(void);
/*
 * A VMA became eligible (fault fell back, madvise, mmap): khugepaged looks at mm again. => cheap,
 * any lock of this room
 */
void khugepaged_enter(struct aspace *mm, const struct vma *vma);
void khugepaged_fork(struct aspace *child, const struct aspace *parent);
void khugepaged_exit(struct aspace *mm); /* the last user is gone: before the VMAs go */
/*
 * Collapses the small pages of one aligned 2 MiB now (also MADV_COLLAPSE). 0; -EAGAIN pages busy;
 * -ENOMEM; -EINVAL not eligible. => takes mm->lock for writing itself
 */
int thp_collapse(struct aspace *mm, unsigned long addr);

#endif
