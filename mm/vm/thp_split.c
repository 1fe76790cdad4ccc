// SPDX-License-Identifier: BSD-2-Clause
/*
 * thp_split.c - a huge page becomes 512 small ones, in every address space at once.
 *
 * Problem: somebody needs a part: munmap of half of it, mprotect, a page that is to go to swap, be
 * locked, moved or held. Whoever maps the huge page must see the same bytes before and after,
 * nobody may free the frames in between, and 511 struct pages nobody ever looked at have to become
 * pages; nothing of that may fail half-way or keep interrupts off for long.
 *
 * Idea: the huge page cannot be reached without its head, and the head is reached through its PMDs,
 * its LRU list and references. So, with the lock of its mappings held:
 *
 *   PMDs     -> moving: present no more, who meets one waits for the page lock we have
 *   the head -> its references must be the mappings' and the caller's, no more; then, in one
 *               section under lru_lock, it stops being a head: from here on there is no way back
 *   tails    -> flags, owner, counts as if all PMDs were tables already; onto the LRU, 32 at a
 *               time, next to the head, or where reclaim that has it off the list finds them first
 *   PMDs     -> tables: the deposit of each address space is filled with 512 entries, and set
 *
 * The counts of a tail are right before its first entry is there, so nobody can take it to 0 too
 * early; reclaim and compaction that meet a tail on the LRU cannot get the lock of its mappings. A
 * moving PMD keeps its mapping count and its reference, so undoing is putting the PMDs back.
 *
 * Invariants: the PMDs met are as many as the mapping count says and at least one, else a fork is
 * just adding one or the last has gone, and the split is off; NR_ANON_PAGES, resident counts and
 * the LRU's sums do not change.
 * Locking: page lock, root lock of the anon_vma, pt_lock of one address space at a time (512
 * entries are written under it, interrupts on); lru_lock with interrupts off for at most 32 pages
 * (all of them with split_huge_irq=0, as in the document's kernel), label split_huge.
 * Source: what it is for: [seed-002]; 2.6.38 split under the same locks, in one go.
 */
#include "kernel/param.h"
#include "lib/errno.h"
#include "mm/reclaim/lruvec.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"
#include "sched/sched.h"

DEFINE_SWITCH(split_huge_irq, 2, 0, 2, "002",
	      "the small pages of a split huge one go onto their list: 0 in one section with "
	      "interrupts off (2.6.38), 1 and 2 at most 32 at a time");

struct split {
	struct rmap_hold h;
	struct page *head;
	int pmds; /* moving */
};

enum step { LEAVE, RETURN, TABLE };

/* The processor may set the dirty bit until it has forgotten the entry. => pt_lock */
static void leave(struct vma *vma, unsigned long addr, pte_t *pmd)
{
	pte_t e;

	do
		e = pte_read(pmd);
	while (!pte_cmpxchg(pmd, e, pmd_make_moving(e)));
	tlb_flush_range(&vma->mm->arch, addr, addr + PAGE_SIZE); /* all of it: one entry */
}

/* => pt_lock */
static void make_table(struct aspace *mm, pte_t *pmd, pte_t e)
{
	struct page *table = pt_withdraw(mm);
	pte_t *to;

	BUG_ON(!table); /* each huge PMD came with one */
	to = page_address(table);
	for (unsigned int i = 0; i < HPAGE_NR; i++)
		pte_set(to + i, pmd_part(e, i));
	pte_set(pmd, pte_make(page_to_pfn(table), PAGE_TABLE_USER));
}

/* Where vma would have the page, if all of it. NULL: it cannot */
static pte_t *pmd_in(struct vma *vma, const struct page *head, unsigned long *addr)
{
	unsigned long index = head->index;

	if (index < vma->pgoff || index - vma->pgoff >= vma_pages(vma))
		return NULL;
	*addr = vma->start + ((index - vma->pgoff) << PAGE_SHIFT);
	if ((*addr & ~HPAGE_MASK) || vma->end - *addr < HPAGE_SIZE)
		return NULL;
	return pt_find_pmd(vma->mm, *addr);
}

/* true: the page is there, and something was done */
static bool visit(struct split *s, struct vma *vma, enum step step)
{
	struct aspace *mm = vma->mm;
	unsigned long addr;
	pte_t *pmd, e;
	bool there;

	spin_lock(&mm->pt_lock);
	pmd = pmd_in(vma, s->head, &addr);
	e = pmd ? pte_read(pmd) : (pte_t){ 0 };
	there = (step == LEAVE ? pmd_thp(e) : pmd_moving(e)) && pte_pfn(e) == page_to_pfn(s->head);
	if (there && step == LEAVE) {
		leave(vma, addr, pmd);
		s->pmds++;
	} else if (there && step == RETURN) {
		pte_set(pmd, pmd_from_moving(e));
	} else if (there) {
		make_table(mm, pmd, pmd_from_moving(e));
	}
	spin_unlock(&mm->pt_lock);
	return there;
}

static void visit_all(struct split *s, enum step step)
{
	struct vma *vma;

	for (struct anon_vma *av = s->h.av; av; av = anon_vma_next(s->h.av, av))
		list_for_each_entry(vma, &av->vmas, anon_chain)
			if (visit(s, vma, step))
				cond_resched();
}

/* The point of no return. false: somebody else has it, or nobody any more */
static bool behead(struct split *s, int refs)
{
	struct page *head = s->head;
	struct zone *zone = page_zone(head);
	unsigned long flags;
	bool alone;

	refs += s->pmds;
	spin_lock_irqsave_l(&zone->lru_lock, flags, "split_huge");
	alone = s->pmds && page_mapcount(head) == s->pmds && page_ref_freeze(head, refs);
	if (alone) {
		if (page_test(head, PG_lru))
			lruvec_count_locked(page_lruvec(head), page_lru_list(head),
					    1 - (long)HPAGE_NR);
		page_clear(head, PG_head);
		page_ref_unfreeze(head, refs);
	}
	irq_work(1);
	spin_unlock_irqrestore_l(&zone->lru_lock, flags, "split_huge");
	return alone;
}

#define FLAGS_OF_TAILS                                                                             \
	(BIT(PG_anon) | BIT(PG_swapbacked) | BIT(PG_uptodate) | BIT(PG_dirty) | BIT(PG_active) |   \
	 BIT(PG_referenced) | BIT(PG_workingset))

/* The i-th page, as it is when each PMD is a table. Nobody can find it yet. */
static void dress(const struct split *s, unsigned int i, unsigned long flags)
{
	struct page *head = s->head, *tail = head + i;

	ASSERT(!(tail->flags & ~PAGE_ZONE_BITS) && !atomic_read(&tail->refs));
	tail->flags |= flags;
	tail->anon_vma = s->h.av;
	tail->index = head->index + i;
	tail->private = 0;
	tail->memcg = head->memcg;
	atomic_set(&tail->mapcount, s->pmds - 1);
	atomic_set(&tail->refs, s->pmds);
}

/*
 * The head's neighbours on its list, so that it comes out first and they in order; if it is off the
 * list, the end that is looked at next; if it waits to be put on it, the beginning. => lru_lock
 */
static struct list_head *place(struct lruvec *v, struct page *head, enum lru_list lru)
{
	if (page_test(head, PG_lru) && page_lru_list(head) == lru)
		return &head->lru;
	return page_test(head, PG_lru_pending) ? v->lists[lru].next : &v->lists[lru];
}

/* Pages first .. first + n - 1, the last one first. */
static void add_to_lru(struct page *head, unsigned int first, unsigned int n)
{
	struct zone *zone = page_zone(head);
	struct lruvec *v = page_lruvec_in(zone, head);
	enum lru_list lru = page_lru_list(head + first);
	struct list_head *at;
	unsigned long flags;

	spin_lock_irqsave_l(&zone->lru_lock, flags, "split_huge");
	at = place(v, head, lru);
	for (struct page *tail = head + first + n - 1; tail >= head + first; tail--) {
		tail->flags |= BIT(PG_lru);
		list_add_tail(&tail->lru, at);
	}
	lruvec_count_locked(v, lru, n);
	irq_work(n);
	spin_unlock_irqrestore_l(&zone->lru_lock, flags, "split_huge");
}

static void make_pages(struct split *s)
{
	unsigned long flags = READ_ONCE(s->head->flags) & FLAGS_OF_TAILS;
	const unsigned int step = switch_value(split_huge_irq) ? LRU_BATCH : HPAGE_NR - 1;

	atomic_add(HPAGE_NR - 1, &s->h.av->refs);
	for (unsigned int end = HPAGE_NR, first; end > 1; end = first) {
		first = end > step ? end - step : 1;
		for (unsigned int i = first; i < end; i++)
			dress(s, i, flags);
		add_to_lru(s->head, first, end - first);
		cond_resched();
	}
}

int split_huge_page(struct page *head, int refs, bool wait)
{
	struct split s = { .head = head };
	int err;

	ASSERT(page_test(head, PG_locked) && page_is_thp(head));
	err = rmap_hold(&s.h, head, wait);
	if (err) {
		count_vm_event(THP_SPLIT_PAGE_FAILED);
		return err == -EAGAIN ? err : -EBUSY;
	}
	visit_all(&s, LEAVE);
	if (behead(&s, refs)) {
		make_pages(&s);
		visit_all(&s, TABLE);
		mod_lruvec_state(head, NR_ANON_THPS, -1);
		count_vm_event(THP_SPLIT_PAGE);
		count_vm_events(THP_SPLIT_PMD, (unsigned long)s.pmds);
	} else {
		visit_all(&s, RETURN);
		count_vm_event(THP_SPLIT_PAGE_FAILED);
		err = -EBUSY;
	}
	rmap_release(&s.h);
	return err;
}

/* ---- by address ---- */

/* 0: look again; -EBUSY: somebody holds the page */
static int split_behind(struct aspace *mm, pte_t *pmd)
{
	struct page *head = NULL;
	int err = 0;
	pte_t e;

	spin_lock(&mm->pt_lock);
	e = pte_read(pmd);
	if (pmd_thp(e)) {
		head = pfn_to_page(pte_pfn(e));
		page_get(head);
	}
	spin_unlock(&mm->pt_lock);
	if (!head)
		return 0;
	if (!page_trylock(head)) {
		page_wait_unlocked_put(head);
		return 0;
	}
	if (page_is_thp(head))
		err = split_huge_page(head, 1, true);
	page_unlock(head);
	page_put(head);
	return err;
}

/*
 * References that stand against it are short ones (reclaim that has the page off its list, a copy
 * being made of it); but their holder may need this very CPU.
 */
#define TRIES_AT_ONCE 4
#define PAUSE_NS NSEC_PER_MSEC

void thp_split_addr(struct aspace *mm, unsigned long addr)
{
	unsigned int busy = 0;
	pte_t *pmd;

	while ((pmd = pt_find_pmd(mm, addr))) {
		pte_t e = pte_read(pmd);

		if (pmd_moving(e))
			thp_wait(mm, pmd);
		else if (!pmd_thp(e))
			return;
		else if (split_behind(mm, pmd) && ++busy > TRIES_AT_ONCE)
			sleep_ns(PAUSE_NS);
		else
			cond_resched();
	}
}

void thp_split_across(struct aspace *mm, unsigned long addr)
{
	pte_t *pmd, e;

	if (!(addr & ~HPAGE_MASK))
		return;
	pmd = pt_find_pmd(mm, addr);
	e = pmd ? pte_read(pmd) : (pte_t){ 0 };
	if (pmd_thp(e) || pmd_moving(e))
		thp_split_addr(mm, addr);
}
