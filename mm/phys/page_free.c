/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_free.c - frames come back.
 *
 * A page without references goes onto this CPU's list of its zone and migrate type (pcp.c), a block
 * of a small order into the magazines of its order, anything larger, and whatever an interrupt
 * frees, to the buddy. Before that it is judged: a page that is still locked, mapped or on a list
 * is reported and kept out of circulation, so that one bug loses one page.
 * Locking: preemption off for the lists; zone->lock inside pcp.c for the rest.
 */
#include "kernel/event.h"
#include "kernel/printk.h"
#include "mm/phys/internal.h"
#include "mm/phys/page_alloc.h"
#include "sched/sched.h"

DEFINE_EVENT(kmem, mm_page_free, "pfn=%lu order=%lu", "pfn", "order");

/* A page about to be freed must not be in use in any of these ways. */
#define FLAGS_BAD_AT_FREE                                                                          \
	(BIT(PG_locked) | BIT(PG_writeback) | BIT(PG_buddy) | BIT(PG_reserved) | BIT(PG_lru) |     \
	 BIT(PG_slab) | BIT(PG_tail) | BIT(PG_swapcache) | BIT(PG_lru_pending))

noinline void bad_page(struct page *page, const char *why)
{
	static u32 reported;

	if (reported++ < 20)
		pr_err("page_alloc: bad page pfn %#lx: %s (flags %#lx mapcount %d refs %d mapping "
		       "%p private %#lx)\n",
		       page_to_pfn(page), why, page->flags, atomic_read(&page->mapcount),
		       atomic_read(&page->refs), (void *)page->mapping, page->private);
	WARN_ON(reported == 1);
}

static noinline void break_compound(struct page *page, unsigned int order)
{
	for (struct page *t = page + 1, *end = page + (1ul << order); t < end; t++)
		t->flags &= PAGE_ZONE_BITS;
	page->flags &= ~BIT(PG_head);
}

static noinline void note_free(struct page *page, unsigned int order)
{
	trace_event(mm_page_free, page_to_pfn(page), order);
}

/*
 * The open magazine is full, the pageblock is reserved or being isolated, or this is an interrupt.
 */
static noinline void free_one_slow(struct page *page)
{
	unsigned int mt = pageblock_mt(page);

	if (in_interrupt() || mt >= MT_PCPTYPES) {
		zone_put(page_zone(page), page, 0);
		return;
	}
	preempt_disable();
	pcp_push_full(this_cpu_read(pcp_of_zid[page_zid(page)]),
		      &this_cpu_read(pcp_of_zid[page_zid(page)])->list[mt], page);
	preempt_enable();
}

/* A page in use is lost, but nothing else is; or somebody watches. */
static noinline void free_one_odd(struct page *page)
{
	if ((page->flags & FLAGS_BAD_AT_FREE) || page_counts(page) != FREE_COUNTS) {
		bad_page(page, "freed page is in use");
		return;
	}
	note_free(page, 0);
	page->flags &= PAGE_ZONE_BITS;
	count_vm_event(PGFREE);
	free_one_slow(page);
}

/* A single page without references: onto this CPU's list. */
static __always_inline void free_one(struct page *page)
{
	unsigned long flags = page->flags, zid = flags >> PAGE_NODE_SHIFT;
	struct pcp_list *l;
	unsigned int mt;

	if (unlikely((flags & FLAGS_BAD_AT_FREE) || page_counts(page) != FREE_COUNTS ||
		     event_mm_page_free.enabled)) {
		free_one_odd(page);
		return;
	}
	page->flags = zid << PAGE_NODE_SHIFT;
	count_vm_event(PGFREE);
	mt = pageblock_mt(page);
	if (unlikely(mt >= MT_PCPTYPES)) {
		free_one_slow(page);
		return;
	}
	preempt_disable_short();
	l = &this_cpu_read(pcp_of_zid[zid])->list[mt];
	if (unlikely(l->room <= 0 || in_interrupt())) {
		preempt_enable_short_later();
		free_one_slow(page);
		return;
	}
	page->pcp_next = l->head;
	l->head = page;
	l->room--;
	preempt_enable_short();
}

static noinline void free_block(struct page *page, unsigned int order)
{
	unsigned int mt = pageblock_mt(page);
	struct pcp *pcp;

	if (page->flags & BIT(PG_head)) {
		if (likely(!page_test(page + 1, PG_tail)))
			page->flags &=
				~BIT(PG_head); /* of a program: its tails were never touched */
		else
			break_compound(page, order);
	}
	if (unlikely((page->flags & FLAGS_BAD_AT_FREE) || page_counts(page) != FREE_COUNTS)) {
		bad_page(page, "freed block is in use");
		return;
	}
	page->flags &= PAGE_ZONE_BITS;
	if (unlikely(event_mm_page_free.enabled))
		note_free(page, order);
	count_vm_events(PGFREE, 1ul << order);
	if (order <= PCP_BIG_ORDER && likely(mt < MT_PCPTYPES && !in_interrupt())) {
		preempt_disable();
		pcp = this_cpu_read(pcp_of_zid[page_zid(page)]);
		if ((s32)pcp->big[order - 1][mt].count < pcp->batch >> order) {
			page->pcp_next = pcp->big[order - 1][mt].head;
			pcp->big[order - 1][mt].head = page;
			pcp->big[order - 1][mt].count++;
			preempt_enable();
			return;
		}
		preempt_enable();
	}
	zone_put(page_zone(page), page, order);
}

void free_frozen_page(struct page *page, unsigned int order)
{
	if (likely(order == 0))
		free_one(page);
	else
		free_block(page, order);
}

void free_pages_order(struct page *page, unsigned int order)
{
	if (!atomic_dec_and_test(&page->refs))
		return;
	if (likely(order == 0))
		free_one(page);
	else
		free_block(page, order);
}

void __page_free_last(struct page *page)
{
	if (unlikely(page->flags & (BIT(PG_lru) | BIT(PG_lru_pending))))
		page_lru_release(page);
	if (unlikely(page->flags & BIT(PG_head)))
		free_block(page, compound_order(page));
	else
		free_one(page);
}

void free_page_list(struct list_head *list)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, list, lru)
		free_one(page);
	list_init(list);
}

void put_free_page(void *va)
{
	if (va)
		free_pages_order(virt_to_page(va), 0);
}
