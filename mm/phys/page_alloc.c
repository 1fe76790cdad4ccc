/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_alloc.c - the front door of the frame allocator: taking. Giving back is page_free.c.
 *
 * Problem: nearly every allocation is one page from the nearest zone with enough memory, and must
 * cost next to nothing; the rest must find the right zone among many, under watermarks, and know
 * what to do when there is none.
 * Idea: three tiers.
 *   1. fast: this CPU's list of the preferred zone, if that zone is above its low watermark: no
 *      lock, no loop.
 *   2. zonelist walk: nearest zone first, each tested against a watermark (zonelist_get_page).
 *   3. slow: kswapd, the min watermark, reclaim, the killer: alloc_slow.c.
 *
 * Interrupts take and give pages at the buddy directly (pcp.c says why).
 * Locking: tier 1 preemption off; the others zone->lock inside. Nothing is held while reclaim runs.
 * Source: [facts 1.4, 1.5].
 */
#include "mm/phys/page_alloc.h"

#include "kernel/event.h"
#include "lib/string.h"
#include "mm/phys/internal.h"
#include "mm/phys/watermark.h"
#include "sched/sched.h"

DEFINE_EVENT(kmem, mm_page_alloc, "pfn=%lu order=%lu gfp_flags=%#lx migratetype=%lu", "pfn",
	     "order", "gfp_flags", "migratetype");

DEFINE_PER_CPU(struct pcp *[NR_ZIDS], pcp_of_zid);
DEFINE_PER_CPU(struct pcp *[NR_ZONE_TYPES], pcp_preferred) = { &pcp_none, &pcp_none, &pcp_none,
							       &pcp_none, &pcp_none };
DEFINE_PER_CPU(struct node *, local_node);
DEFINE_PER_CPU(u64[NR_VM_EVENTS], vm_events);

const struct pressure_ops *pressure_ops;
struct page *(*mempolicy_alloc)(gfp_t gfp, unsigned int order);

/*
 * Index: the DMA, HIGH_ZONE, DMA32 and MOVABLE bits. The lowest zone asked for wins; MOVABLE raises
 * only with HIGH.
 */
#define C1(f)                                                                                      \
	((f)&1		  ? ZONE_DMA                                                               \
	 : (f)&4	  ? ZONE_DMA32                                                             \
	 : ((f)&10) == 10 ? ZONE_MOVABLE                                                           \
	 : (f)&2	  ? ZONE_HIGH                                                              \
			  : ZONE_NORMAL)
const u8 gfp_class_table[16] = { C1(0), C1(1), C1(2),  C1(3),  C1(4),  C1(5),  C1(6),  C1(7),
				 C1(8), C1(9), C1(10), C1(11), C1(12), C1(13), C1(14), C1(15) };
const u8 gfp_mt_table[4] = { MT_UNMOVABLE, MT_MOVABLE, MT_RECLAIMABLE, MT_RECLAIMABLE };

enum zone_type gfp_zone_class(gfp_t gfp)
{
	return gfp_class(gfp);
}

enum migratetype gfp_migratetype(gfp_t gfp)
{
	return gfp_mt(gfp);
}

bool zone_watermark_ok(struct zone *zone, unsigned int order, unsigned long mark,
		       enum zone_type class, u32 alloc_flags)
{
	if (alloc_flags & ALLOC_NO_WATERMARKS)
		return true;
	return wm_ok(zone_state(zone, NR_FREE_PAGES), zone->buddy.area, order, mark,
		     zone->lowmem_reserve[class], alloc_flags);
}

/* ---- preparing pages ---------------------------------------------------------------- */

static noinline void make_compound(struct page *page, unsigned int order)
{
	page->flags |= BIT(PG_head);
	for (struct page *t = page + 1, *end = page + (1ul << order); t < end; t++) {
		t->flags |= BIT(PG_tail);
		t->head = page;
	}
	page[1].comp_order = order;
}

static void clear_pages(struct page *page, unsigned int order)
{
	for (unsigned long i = 0; i < 1ul << order; i++) {
		void *va = page_kmap(page + i);

		clear_page_raw(va);
		page_kunmap(va);
	}
}

/* The ends of the fast paths nobody wants to wait for, as tail calls. */
static noinline struct page *note_alloc(struct page *page, gfp_t gfp, unsigned int order)
{
	trace_event(mm_page_alloc, page_to_pfn(page), order, gfp, gfp_mt(gfp));
	return page;
}

static noinline struct page *reschedule(struct page *page)
{
	preempt_schedule();
	return page;
}

/* What every fresh page gets. */
static __always_inline void prepare_head(struct page *page)
{
#ifdef QUIRE_DEBUG
	if ((page->flags & ~PAGE_ZONE_BITS) || page_counts(page) != FREE_COUNTS)
		bad_page(page, "allocated page was in use");
#endif
	atomic_set(&page->refs, 1);
	page->mapping = NULL;
	page->private = 0;
}

/* What the request asks for beyond that. */
static __always_inline struct page *finish(struct page *page, gfp_t gfp, unsigned int order)
{
	if (gfp & (__GFP_ZERO | __GFP_COMP)) {
		if (gfp & __GFP_ZERO)
			clear_pages(page, order);
		if ((gfp & __GFP_COMP) && order)
			make_compound(page, order);
	}
	if (unlikely(event_mm_page_alloc.enabled))
		note_alloc(page, gfp, order);
	return page;
}

/* ---- tier 1 ---- */

/*
 * One page from this CPU's open magazine of its preferred zone, or NULL: then the walk decides (and
 * refills). The instructions here are what most allocations cost: nothing in it loops, calls or
 * touches a shared cache line for writing.
 */
static __always_inline struct page *alloc_fast(gfp_t gfp)
{
	enum zone_type class = gfp_class(gfp);
	struct pcp_list *l;
	struct page *page;
	struct pcp *pcp;

	preempt_disable_short();
	pcp = this_cpu_read(pcp_preferred[class]);
	l = &pcp->list[gfp_mt(gfp)];
	page = l->head;
	/* The watermark test for order 0, its constants added beforehand. */
	if (unlikely(!page || in_interrupt() ||
		     atomic_long_read(&pcp->zone->vm_stat[NR_FREE_PAGES]) <=
			     (long)pcp->zone->fast_mark[class])) {
		preempt_enable_short_later();
		return NULL;
	}
	l->head = page->pcp_next;
	l->room++;
	pcp->fast_allocs++;
	prepare_head(page);
	return preempt_enable_short_test() ? reschedule(page) : page;
}

/* ---- tier 2 ---- */

/*
 * From this CPU's lists if that is allowed here, else from the buddy; watermarks were asked
 * already.
 */
static struct page *take_from_zone(struct zone *zone, unsigned int order, enum migratetype mt)
{
	struct page *page = NULL;
	struct pcp *pcp;

	if (order > PCP_BIG_ORDER || in_interrupt())
		return zone_take(zone, order, mt);
	preempt_disable();
	pcp = &pcp_block[smp_processor_id()][zone->seq];
	if (order == 0) {
		struct pcp_list *l = &pcp->list[mt];

		if (l->head || pcp_refill(pcp, mt)) {
			page = l->head;
			l->head = page->pcp_next;
			l->room++;
		}
	} else if ((page = pcp->big[order - 1][mt].head)) {
		pcp->big[order - 1][mt].head = page->pcp_next;
		pcp->big[order - 1][mt].count--;
	}
	preempt_enable();
	return page || order == 0 ? page : zone_take(zone, order, mt);
}

void count_alloc(struct zone *zone, struct zone *preferred, unsigned int order)
{
	struct pcp *pcp;

	preempt_disable();
	count_vm_event_zone(PGALLOC, zone->type, 1ul << order);
	pcp = &pcp_block[smp_processor_id()][zone->seq];
	if (zone->node == preferred->node) {
		pcp->numa[NUMA_HIT]++;
	} else {
		pcp->numa[NUMA_MISS]++;
		pcp_block[smp_processor_id()][preferred->seq].numa[NUMA_FOREIGN]++;
	}
	pcp->numa[zone->node == this_cpu_read(local_node) ? NUMA_LOCAL : NUMA_OTHER]++;
	preempt_enable();
}

struct page *zonelist_get_page(const struct alloc_context *ac)
{
	struct zone *preferred = NULL;
	struct zoneref *zr;

	for_each_zoneref(zr, ac->zl, ac->class) {
		struct zone *zone = zr->zone;
		struct page *page;

		if (unlikely(ac->nodemask) && !(ac->nodemask & BIT(zone->node->id)))
			continue;
		if (!preferred)
			preferred = zone;
		if (!zone_watermark_ok(zone, ac->order, zone->watermark[ac->mark], ac->class,
				       ac->flags))
			continue;
		page = take_from_zone(zone, ac->order, ac->mt);
		if (page) {
			count_alloc(zone, preferred, ac->order);
			return page;
		}
	}
	return NULL;
}

/* ---- the whole way: tier 3 is alloc_slow.c ---- */

static struct page *alloc_walk(struct node *node, u64 nodemask, gfp_t gfp, unsigned int order)
{
	struct alloc_context ac = {
		.zl = gfp & __GFP_THISNODE ? &node->zonelist_this : &node->zonelist,
		.nodemask = nodemask,
		.class = gfp_class(gfp),
		.mt = gfp_mt(gfp),
		.order = order,
		.mark = WMARK_LOW,
	};
	struct page *page;

	if (unlikely(order >= MAX_ORDER))
		return NULL;
	page = zonelist_get_page(&ac);
	if (unlikely(!page))
		page = alloc_slow(&ac, gfp);
	if (unlikely(!page))
		return NULL;
	prepare_head(page);
	return finish(page, gfp, order);
}

/*
 * Larger orders from the preferred zone: a CPU's short list (orders 1..3) or the buddy; NULL: then
 * the walk decides.
 */
static __always_inline struct page *alloc_fast_big(gfp_t gfp, unsigned int order)
{
	enum zone_type class = gfp_class(gfp);
	enum migratetype mt = gfp_mt(gfp);
	struct page *page = NULL;
	struct zone *zone;
	struct pcp *pcp;

	preempt_disable();
	pcp = this_cpu_read(pcp_preferred[class]);
	zone = pcp->zone;
	if (unlikely(in_interrupt() || atomic_long_read(&zone->vm_stat[NR_FREE_PAGES]) <=
					       (long)(zone->fast_mark[class] + (1ul << order))))
		goto out;
	if (order <= PCP_BIG_ORDER) {
		page = pcp->big[order - 1][mt].head;
		if (!page)
			goto out;
		pcp->big[order - 1][mt].head = page->pcp_next;
		pcp->big[order - 1][mt].count--;
	} else if (likely(zone_watermark_ok(zone, order, zone->watermark[WMARK_LOW], class, 0))) {
		page = zone_take(zone, order, mt);
		if (!page)
			goto out;
	} else {
		goto out;
	}
	prepare_head(page);
	pcp->numa[NUMA_HIT]++;
	pcp->numa[NUMA_LOCAL]++;
	count_vm_event_zone(PGALLOC, zone->type, 1ul << order);
out:
	preempt_enable();
	return page;
}

/* All but the plainest request. */
static noinline struct page *alloc_here(gfp_t gfp, unsigned int order)
{
	struct page *page = NULL;

	if (likely(order == 0))
		page = alloc_fast(gfp);
	else if (order < MAX_ORDER)
		page = alloc_fast_big(gfp, order);
	if (likely(page != NULL))
		return finish(page, gfp, order);
	return alloc_walk(this_cpu_read(local_node), 0, gfp, order);
}

static noinline struct page *alloc_by_policy(gfp_t gfp, unsigned int order)
{
	if (in_interrupt() || (gfp & __GFP_THISNODE))
		return alloc_here(gfp, order);
	return mempolicy_alloc(gfp, order);
}

struct page *alloc_pages(gfp_t gfp, unsigned int order)
{
	struct page *page;

	/* Policies exist only once there are threads, so current is not looked at before. */
	if (mempolicy_alloc && unlikely(current->mempolicy != NULL))
		return alloc_by_policy(gfp, order);
	if (unlikely(order | (gfp & (__GFP_ZERO | __GFP_COMP))))
		return alloc_here(gfp, order);
	page = alloc_fast(gfp);
	if (unlikely(!page))
		return alloc_here(gfp, 0);
	return unlikely(event_mm_page_alloc.enabled) ? note_alloc(page, gfp, 0) : page;
}

struct page *alloc_pages_node(int node, gfp_t gfp, unsigned int order)
{
	if (node < 0 || node >= nr_nodes || nodes[node] == this_cpu_read(local_node))
		return alloc_here(gfp, order);
	return alloc_walk(nodes[node], 0, gfp, order);
}

struct page *alloc_pages_nodemask(int node, u64 nodemask, gfp_t gfp, unsigned int order)
{
	struct node *n = node < 0 || node >= nr_nodes ? this_cpu_read(local_node) : nodes[node];

	if (n == this_cpu_read(local_node) && (!nodemask || (nodemask & BIT(n->id))))
		return alloc_here(gfp, order);
	return alloc_walk(n, nodemask, gfp, order);
}

void numa_interleave_hit(struct page *page)
{
	preempt_disable();
	this_cpu_read(pcp_of_zid[page_zid(page)])->numa[NUMA_INTERLEAVE_HIT]++;
	preempt_enable();
}

void *get_free_page(gfp_t gfp)
{
	struct page *page = alloc_pages(gfp & ~(__GFP_HIGH_ZONE | __GFP_MOVABLE), 0);

	return page ? page_address(page) : NULL;
}

/* ---- counters ---- */

u64 vm_event_sum(enum vm_event e)
{
	u64 v = 0;
	u32 cpu;

	for_each_online_cpu(cpu) {
		v += per_cpu(vm_events, cpu)[e];
		/* Tier 1 counts in its own lists only. */
		for (u32 i = 0; e >= PGALLOC_DMA && e <= PGALLOC_MOVABLE && i < nr_all_zones; i++)
			if (all_zones[i]->type == (u32)(e - PGALLOC_DMA))
				v += pcp_block[cpu][i].fast_allocs;
	}
	return v;
}

unsigned long nr_free_pages(void)
{
	unsigned long n = 0;

	for (u32 i = 0; i < nr_all_zones; i++)
		n += zone_state(all_zones[i], NR_FREE_PAGES);
	return n;
}
