/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * move_pages.c - a program's pages go to other nodes by system call: move_pages(2),
 * migrate_pages(2).
 *
 * The answers are Linux 6.1's, with what is odd in them. The status of an address:
 *
 *   a page           the node it went to, or was on; -EACCES: several programs map it, and ALL was
 *                    not said; -EBUSY: it is on no list of the LRU
 *   on its way       waited for, then as a page (who only asks gets the node it leaves)
 *   a huge page      split, if it is to move; one address moves one small page
 *   without rights   -ENOENT (PROT_NONE)
 *   swap             -ENOENT
 *   zero page        -EFAULT
 *   nothing          -EFAULT in anonymous memory and outside of all, -ENOENT in files and shared
 *                    memory
 *
 * A run of addresses with one target in which every page was taken is a group, and moves together.
 * If one of a group cannot be moved, the statuses of the group stay as they are, and the answer is
 * how many were not moved or not tried. migrate_pages empties nodes one after the other, in an
 * order in which no page moves twice.
 */
#include "mm/vm/numa.h"

#include "arch/uaccess.h"
#include "lib/math.h"
#include "mm/reclaim/lruvec.h"
#include "mm/vm/thp.h"
#include "sched/sched.h"

/* __GFP_NOWARN: whoever wanted them is told that there are none. */
#define MOVE_GFP (GFP_HIGHUSER_MOVABLE | __GFP_NOWARN)

/* ---- migrate_pages(2) ---- */

static struct page *new_on_node(struct page *old, struct migrate_control *mc)
{
	return alloc_pages_node((int)(long)mc->arg, MOVE_GFP | __GFP_THISNODE, 0);
}

/* Where the pages of node go: as far along in `to` as it is in `from`. */
static int counterpart(int node, u64 from, u64 to)
{
	return nth_node(to, hweight64(from & (BIT(node) - 1)));
}

/*
 * The next node to be emptied: one whose pages go to a node that is empty already, or is not to be
 * emptied. So 0,1 to 1,2 empties 1 first. Where nodes change places, one has to be the first. -1:
 * done.
 */
static int next_source(u64 left, u64 from, u64 to, int *dest)
{
	int source = -1;

	for (; left; left &= left - 1) {
		int s = __ffs(left), d;

		/* Unequal in number: who is among the targets keeps its pages. */
		if (hweight64(from) != hweight64(to) && (to & BIT(s)))
			continue;
		d = counterpart(s, from, to);
		if (d == s)
			continue;
		source = s;
		*dest = d;
		if (!(left & BIT(d)))
			break;
	}
	return source;
}

long vm_migrate_pages(struct aspace *mm, u64 from, u64 to, int all)
{
	u64 left = from;
	long stayed = 0;
	int s, d = 0;

	while ((s = next_source(left, from, to, &d)) >= 0) {
		struct page_queue q;
		int err;

		left &= ~BIT(s);
		page_queue_init(&q, BIT(s), all);
		q.mc.get_new = new_on_node;
		q.mc.arg = (void *)(long)d;
		err = page_queue_move_range(&q, mm, 0, USER_TOP);
		if (err)
			return err;
		if (q.no_memory)
			return -ENOMEM;
		stayed += q.failed;
	}
	return stayed;
}

/* ---- move_pages(2) ---- */

enum { LOOK = -1 }; /* instead of a target node: where does it lie? */

/* What a huge page answers: node, -errno, or PT_AGAIN: it is another entry now. => mm->lock */
static int place_of_huge(struct aspace *mm, unsigned long addr, pte_t *pmd, int target, bool all)
{
	struct page *head;
	pte_t e;

	spin_lock(&mm->pt_lock);
	e = pte_read(pmd);
	spin_unlock(&mm->pt_lock);
	if (pmd_moving(e)) {
		thp_wait(mm, pmd);
		return PT_AGAIN;
	}
	if (!pmd_thp(e))
		return PT_AGAIN;
	head = pfn_to_page(pte_pfn(e));
	if (target == LOOK || page_node(head) == target)
		return page_node(head);
	if (page_mapcount(head) > 1 && !all)
		return -EACCES;
	thp_split_addr(mm, addr);
	return PT_AGAIN;
}

/* Nothing there that could move. */
static int absent_status(const struct vma *vma, pte_t e)
{
	if (pte_none(e))
		return vma_is_anon(vma) ? -EFAULT : -ENOENT;
	return pte_present(e) ? -EFAULT : -ENOENT; /* zero page; swap */
}

/* What an entry answers. *taken: the page, referenced, if it is to move. => as place_of_huge() */
static int place_of_page(struct vma *vma, pte_t *pte, int target, bool all, struct page **taken)
{
	struct aspace *mm = vma->mm;
	struct page *page = NULL;
	pte_t e;
	int node;

	spin_lock(&mm->pt_lock);
	e = pte_read(pte);
	if (pte_mapped(e) && !pte_special(e)) {
		page = pfn_to_page(pte_pfn(e));
		page_get(page);
	}
	spin_unlock(&mm->pt_lock);
	if (pte_migration(e)) {
		if (target == LOOK)
			return page_node(pfn_to_page(pte_pfn(e)));
		thp_wait(mm, pte); /* it asks no more of an entry than to be one of migration */
		return PT_AGAIN;
	}
	if (!page)
		return absent_status(vma, e);
	node = page_node(page);
	if (!pte_present(e)) /* PROT_NONE: nobody can look at it */
		node = -ENOENT;
	else if (target != LOOK && node != target && page_mapcount(page) > 1 && !all)
		node = -EACCES;
	if (target != LOOK && node >= 0 && node != target)
		*taken = page;
	else
		page_put(page);
	return node;
}

static int place_in(struct vma *vma, unsigned long addr, int target, bool all, struct page **taken)
{
	pte_t *pte = pt_find(vma->mm, addr), *pmd;

	if (pte)
		return place_of_page(vma, pte, target, all, taken);
	pmd = pt_find_pmd(vma->mm, addr);
	if (pmd && !pte_none(pte_read(pmd)))
		return place_of_huge(vma->mm, addr, pmd, target, all);
	return absent_status(vma, (pte_t){ 0 });
}

/*
 * Node of what lies at addr, or -errno as move_pages says it. *taken: the page, referenced, if it
 * lies elsewhere than on target and may go there; else NULL. => takes mm->lock shared
 */
static int place(struct aspace *mm, unsigned long addr, int target, bool all, struct page **taken)
{
	struct vma *vma;
	int ret;

	*taken = NULL;
	do {
		down_read(&mm->lock);
		vma = vma_find(mm, addr);
		ret = -EFAULT;
		if (vma && vma->start <= addr && vma_movable(vma))
			ret = place_in(vma, addr & PAGE_MASK, target, all, taken);
		up_read(&mm->lock);
	} while (ret == PT_AGAIN);
	return ret;
}

static long look_at_pages(struct aspace *mm, unsigned long count, const u64 __user *pages,
			  int __user *status)
{
	for (unsigned long i = 0; i < count; i++) {
		struct page *none;
		u64 addr;

		if (get_user_u64(&addr, pages + i) ||
		    put_user_u32(place(mm, addr, LOOK, false, &none), (u32 __user *)status + i))
			return -EFAULT;
		if (fatal_signal_pending())
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* A run of addresses that go to one node. */
struct group {
	struct page_queue q;
	int __user *status;
	int node;	     /* -1: there is no group */
	unsigned long start; /* index of its first */
};

/* Off the LRU; false: it is on no list, and was not put on one meanwhile. => takes the reference */
static bool take(struct page_queue *q, struct page *page)
{
	bool taken = migrate_isolate(page);

	if (!taken && page_test(page, PG_lru_pending)) {
		lru_drain_all(); /* it waits on another CPU */
		taken = migrate_isolate(page);
	}
	if (taken) {
		list_add_tail(&page->lru, &q->pages);
		q->nr++;
	}
	page_put(page);
	return taken;
}

static int store_status(struct group *g, unsigned long from, unsigned long to, int value)
{
	for (; from < to; from++)
		if (put_user_u32(value, (u32 __user *)g->status + from))
			return -EFAULT;
	return 0;
}

/*
 * The group is at its end before index i of count: it moves. 0; how many pages were not moved or
 * will not be tried; -errno
 */
static long group_end(struct group *g, unsigned long i, unsigned long count)
{
	struct page_queue *q = &g->q;
	int node = g->node;

	if (node < 0)
		return 0;
	g->node = -1;
	page_queue_send(q);
	if (q->no_memory)
		return -ENOMEM;
	if (q->failed)
		return (long)(q->failed + count - i);
	return store_status(g, g->start, i, node);
}

/* One address. 0; the group's answer if it ended the group, which is not 0 */
static long group_add(struct group *g, struct aspace *mm, unsigned long i, unsigned long count,
		      unsigned long addr, int node, bool all)
{
	struct page *page;
	long ret;
	int place_now;

	if (g->node >= 0 && g->node != node) {
		ret = group_end(g, i, count);
		if (ret)
			return ret;
	}
	if (g->node < 0) {
		g->node = node;
		g->start = i;
		g->q.mc.arg = (void *)(long)node;
	}
	place_now = place(mm, addr, node, all, &page);
	if (page) {
		if (take(&g->q, page)) {
			if (g->q.nr == QUEUE_MAX)
				page_queue_send(&g->q);
			return 0;
		}
		place_now = -EBUSY;
	}
	/* It stays, where it is right or for another reason: the pages before it are a group. */
	if (store_status(g, i, i + 1, place_now)) {
		group_end(g, i, count);
		return -EFAULT;
	}
	ret = group_end(g, i, count);
	return ret > 0 ? ret - 1 : ret; /* this one is accounted for */
}

static long move_to_nodes(struct aspace *mm, unsigned long count, const u64 __user *pages,
			  const int __user *nodes, int __user *status, bool all)
{
	u64 have = memory_nodes();
	struct group g = { .status = status, .node = -1 };
	unsigned long i;
	long ret = 0, last;

	page_queue_init(&g.q, ~0ull, all);
	g.q.mc.get_new = new_on_node;
	lru_drain_all();
	for (i = 0; i < count && !ret; i++) {
		u32 node;
		u64 addr;

		if (get_user_u64(&addr, pages + i) ||
		    get_user_u32(&node, (const u32 __user *)nodes + i))
			ret = -EFAULT;
		else if (node >= 64 || !(have & BIT(node)))
			ret = -ENODEV;
		else if (fatal_signal_pending())
			ret = -EINTR;
		if (ret)
			break;
		ret = group_add(&g, mm, i, count, addr, (int)node, all);
		cond_resched();
	}
	last = group_end(&g, i, count);
	return ret ? ret : last;
}

long vm_move_pages(struct aspace *mm, unsigned long count, const u64 __user *pages,
		   const int __user *nodes, int __user *status, int flags)
{
	if (!nodes)
		return look_at_pages(mm, count, pages, status);
	return move_to_nodes(mm, count, pages, nodes, status, flags & MPOL_MF_MOVE_ALL);
}
