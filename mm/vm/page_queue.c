/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_queue.c - pages that lie on the wrong node are found in page tables and sent to other
 * frames.
 *
 * Problem: pages are named by addresses, but what moves is a page off the LRU
 * (mm/compact/migrate.c), and it does so only while nobody but page tables and caches refers to it.
 * Idea: walk the entries, take a reference to each page that lies where it is not wanted, take it
 * off the LRU, let the reference go; when a list is full, let go of mm->lock as well and send the
 * list to its new frames; then walk on. So at most QUEUE_MAX pages are off the LRU at a time, no
 * lock is held while pages are copied, and the locks of pages and mappings may be waited for.
 *
 * A page on its way already is waited for and looked at again: so the answer does not depend on
 * what compaction is doing. A huge page is split first, where it is not wanted.
 * Locking: mm->lock shared while entries are looked at; no lock while pages move.
 */
#include "mm/vm/numa.h"

#include "mm/reclaim/lruvec.h"
#include "mm/vm/thp.h"
#include "sched/sched.h"

void page_queue_init(struct page_queue *q, u64 nodes, bool shared_too)
{
	*q = (struct page_queue){ .nodes = nodes, .shared_too = shared_too };
	q->mc = (struct migrate_control){ .mode = MIGRATE_SYNC, .wait_rmap = true };
	list_init(&q->pages);
}

/* The pages of the last run off the LRU. => their references are given back */
static void isolate_run(struct page_queue *q)
{
	for (unsigned int i = 0; i < q->nr_run; i++) {
		struct page *page = q->run[i];

		if (migrate_isolate(page)) {
			list_add_tail(&page->lru, &q->pages);
			q->nr++;
		} else {
			q->refused++;
		}
		page_put(page);
	}
	q->nr_run = 0;
}

void page_queue_send(struct page_queue *q)
{
	int left;

	if (!q->nr)
		return;
	left = migrate_pages(&q->pages, &q->mc);
	q->no_memory |= left == -ENOMEM;
	migrate_putback(&q->pages);
	q->failed = q->mc.nr_failed;
	q->nr = 0;
}

/* ---- ranges ---- */

static int queue_before(struct pt_walk *w, unsigned long addr)
{
	struct page_queue *q = w->arg;

	isolate_run(q);
	if (fatal_signal_pending())
		return -EINTR;
	if (q->nr <= QUEUE_MAX - QUEUE_RUN)
		return 0;
	q->stop = addr;
	return 1;
}

static bool unwanted(const struct page_queue *q, const struct page *page)
{
	return (q->nodes & BIT(page_node(page))) && !page_test(page, PG_reserved) &&
	       (q->shared_too || page_mapcount(page) <= 1);
}

static int queue_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct page_queue *q = w->arg;

	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte);
		struct page *page;

		if (unlikely(pte_migration(e))) {
			q->stop = addr;
			q->waits = pte;
			return 1;
		}
		if (!pte_mapped(e) || pte_special(e))
			continue;
		page = pfn_to_page(pte_pfn(e));
		if (!unwanted(q, page))
			continue;
		page_get(page);
		q->run[q->nr_run++] = page;
	}
	return 0;
}

static int queue_thp(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end)
{
	return unwanted(w->arg, pfn_to_page(pte_pfn(pte_read(pmd)))) ? PT_SPLIT : 0;
}

static const struct pt_walk_ops queue_ops = { .before = queue_before,
					      .ptes = queue_ptes,
					      .thp = queue_thp };

/* Fills the list from [start, end). => where it is to be gone on, or -EINTR; mm->lock shared */
static long queue_some(struct page_queue *q, struct aspace *mm, unsigned long start,
		       unsigned long end)
{
	struct vma *vma = vma_find(mm, start);

	for (; vma && vma->start < end; vma = vma_next(vma)) {
		struct pt_walk w = { .mm = mm, .vma = vma, .arg = q };
		int ret;

		if (!vma_movable(vma)) {
			/* who insists is to hear of it */
			q->refused += vma_has_pages_on(vma, max(start, vma->start),
						       min(end, vma->end), q->nodes);
			continue;
		}
		ret = pt_walk(&w, &queue_ops, max(start, vma->start), min(end, vma->end));
		isolate_run(q);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		if (q->waits)
			thp_wait(mm, q->waits);
		q->waits = NULL;
		return q->stop;
	}
	return end;
}

int page_queue_move_range(struct page_queue *q, struct aspace *mm, unsigned long start,
			  unsigned long end)
{
	lru_drain_all(); /* pages born lately are on no list yet */
	while (start < end) {
		long next;

		if (down_read_killable(&mm->lock))
			return -EINTR;
		next = queue_some(q, mm, start, end);
		up_read(&mm->lock);
		page_queue_send(q);
		if (next < 0)
			return next;
		if (q->no_memory)
			break;
		start = next;
		cond_resched();
	}
	return 0;
}

/* ---- is there any? ---- */

static int any_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	const u64 *nodes = w->arg;

	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte);

		/* One on its way counts as where it comes from. */
		if ((pte_mapped(e) && !pte_special(e)) || pte_migration(e)) {
			struct page *page = pfn_to_page(pte_pfn(e));

			if ((*nodes & BIT(page_node(page))) && !page_test(page, PG_reserved))
				return 1;
		}
	}
	return 0;
}

static int any_thp(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end)
{
	const u64 *nodes = w->arg;

	return (*nodes & BIT(page_node(pfn_to_page(pte_pfn(pte_read(pmd)))))) != 0;
}

static const struct pt_walk_ops any_ops = { .ptes = any_ptes, .thp = any_thp };

bool vma_has_pages_on(struct vma *vma, unsigned long start, unsigned long end, u64 nodes)
{
	struct pt_walk w = { .mm = vma->mm, .vma = vma, .arg = &nodes };

	return pt_walk(&w, &any_ops, start, end) != 0;
}
