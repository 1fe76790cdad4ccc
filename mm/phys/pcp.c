/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pcp.c - per-CPU page lists: most allocations and frees of single pages never see the zone's lock.
 *
 * Problem: the zone lock with interrupts off costs more than the work under it, and single pages
 * come and go in streams. Idea (magazines): each CPU keeps, per zone and migrate type, an open
 * chain of up to `batch` pages and a few full ones. A full chain goes to, an empty one comes from
 * the buddy as a whole: one lock, at most 32 pages with interrupts off. Two chains' worth of slack
 * keep a CPU that frees and allocates in turn away from the lock.
 *
 *     push -> [open: 0..batch] --full--> full[] --too many: oldest--> merge in groups of 32 -->
 *     buddy
 *     pop  <- [open]           <-empty-- full[] <-none: refill------------------------------- buddy
 *
 * Pages freed one after the other are often neighbours. On their way to the buddy the frames of one
 * aligned group of 32 are collected as bits of a word and merged there, without touching memory; a
 * group that is not complete at the end of a batch is carried over to the next one, so a stream of
 * frees reaches the buddy as blocks of order 5.
 *
 * Interrupts never touch these lists (they take pages from the buddy directly), so preemption off
 * is all the
 * protection needed: no cli on the fast path.
 * Invariants: chains in full[] have exactly batch pages, the open one at most as many; small zones
 * (batch < 32) carry nothing; pages on lists have refs 0 and no flags but the zone bits.
 * Source: [Bonwick01] magazines; batch sizes as in [facts 1.5].
 */
#include "mm/phys/internal.h"

#include "kernel/param.h"
#include "lib/math.h"
#include "sched/sched.h"

static struct zone no_zone = { .fast_mark = { S64_MAX, S64_MAX, S64_MAX, S64_MAX, S64_MAX } };
struct pcp pcp_none = { .zone = &no_zone };

DEFINE_SWITCH(
	pcp_batch, 1, 0, 1, "003",
	"pages per trip between a CPU's lists and the buddy: 0 a 2730th of the zone, as in 3.6 "
	"(rounded down to a power of two), 1 a 1024th; 32 at most");

void pcp_init(struct pcp *pcp, struct zone *zone)
{
	/* 3.6: a quarter of a 1024th and half of that again, as it rounded down twice */
	unsigned long pages = zone->managed_pages / 1024, old = pages / 4 + pages / 8;

	*pcp = (struct pcp){ .zone = zone };
	/*
	 * A batch of a 1024th of the zone at most, so that all CPUs' lists together stay small
	 * against it; a power of two, because that is how blocks come. What lies on the lists is
	 * not counted as free: in a small zone a large batch eats up the gap between two
	 * watermarks.
	 */
	pcp->batch = (s32)rounddown_pow_of_two(
		clamp(switch_value(pcp_batch) ? pages : old, 1ul, (unsigned long)PCP_BATCH_MAX));
	for (u32 mt = 0; mt < MT_PCPTYPES; mt++)
		pcp->list[mt].room = pcp->batch;
	pcp->stat_threshold = 1;
}

/*
 * Our type took a block out of a pageblock of another type: move its other free blocks over, a
 * little at a time.
 */
static noinline void claim_pageblock(struct zone *zone, struct page *page, enum migratetype mt,
				     unsigned int taken)
{
	unsigned long pfn = ALIGN_DOWN(page_to_pfn(page), PAGEBLOCK_PAGES),
		      end = pfn + PAGEBLOCK_PAGES;
	unsigned long flags;

	for (unsigned long at = pfn; at < end; at += PCP_BATCH_MAX) {
		spin_lock_irqsave_l(&zone->lock, flags, "buddy_claim");
		taken += buddy_claim_range(&zone->buddy, at, PCP_BATCH_MAX, mt);
		irq_work(PCP_BATCH_MAX);
		/* Half of it is ours: frees go to our lists from now on. */
		if (at + PCP_BATCH_MAX >= end && taken >= PAGEBLOCK_PAGES / 2)
			*buddy_mt_slot(&zone->buddy, pfn) = mt;
		spin_unlock_irqrestore_l(&zone->lock, flags, "buddy_claim");
	}
}

/*
 * A free block of at least this order has just come to be by merging around page: does somebody who
 * compacts the zone wait for it? => zone->lock
 */
static noinline void try_capture(struct zone *zone, struct page *page, unsigned int order)
{
	struct capture *c = zone->capture;
	unsigned long pfn = ALIGN_DOWN(page_to_pfn(page), 1ul << order);
	enum migratetype mt = buddy_mt(&zone->buddy, pfn);

	if (c->page || order < c->order ||
	    (order < PAGEBLOCK_ORDER ? mt != c->mt : mt >= MT_PCPTYPES))
		return;
	c->page = buddy_take_part(&zone->buddy, pfn_to_page(pfn), order, c->order);
	for (unsigned long p = 0; c->order >= PAGEBLOCK_ORDER && p < 1ul << c->order;
	     p += PAGEBLOCK_PAGES)
		*buddy_mt_slot(&zone->buddy, pfn + p) = c->mt;
}

/* => merges; zone->lock */
static __always_inline unsigned int free_or_capture(struct zone *zone, struct page *page,
						    unsigned int order)
{
	unsigned int merges = buddy_free(&zone->buddy, page, order);

	if (unlikely(zone->capture != NULL))
		try_capture(zone, page, order + merges);
	return merges;
}

struct page *zone_take(struct zone *zone, unsigned int order, enum migratetype mt)
{
	struct page *page, *claim = NULL;
	unsigned long flags;

	spin_lock_irqsave_l(&zone->lock, flags, "buddy_alloc");
	page = buddy_alloc(&zone->buddy, order, mt, &claim);
	zone_sync_free(zone);
	spin_unlock_irqrestore_l(&zone->lock, flags, "buddy_alloc");
	if (unlikely(claim != NULL))
		claim_pageblock(zone, claim, mt, 1u << order);
	return page;
}

void zone_put(struct zone *zone, struct page *page, unsigned int order)
{
	unsigned long flags;

	spin_lock_irqsave_l(&zone->lock, flags, "buddy_free");
	free_or_capture(zone, page, order);
	zone_sync_free(zone);
	zone->pages_scanned = 0;
	zone->all_unreclaimable = false;
	spin_unlock_irqrestore_l(&zone->lock, flags, "buddy_free");
}

/* The frames waiting in the carry, as a chain. */
static void carry_to_open(struct pcp *pcp, struct pcp_list *l)
{
	u32 set = l->carry_set;

	l->carry_set = 0;
	for (; set; set &= set - 1) {
		struct page *page = l->carry + __ffs(set);

		page->pcp_next = l->head;
		l->head = page;
		l->room--;
	}
}

bool pcp_refill(struct pcp *pcp, enum migratetype mt)
{
	struct pcp_list *l = &pcp->list[mt];
	struct zone *zone = pcp->zone;
	struct page *claim = NULL;
	unsigned long flags;
	unsigned int n;

	if (l->nr_full) {
		l->head = l->full[--l->nr_full];
		l->room = 0;
		return true;
	}
	if (l->carry_set) {
		carry_to_open(pcp, l);
		return true;
	}
	spin_lock_irqsave_l(&zone->lock, flags, "pcp_refill");
	n = buddy_alloc_bulk(&zone->buddy, mt, (unsigned int)pcp->batch, &l->head, &claim);
	zone_sync_free(zone);
	irq_work(n);
	spin_unlock_irqrestore_l(&zone->lock, flags, "pcp_refill");
	l->room = pcp->batch - (s32)n;
	if (unlikely(claim != NULL))
		claim_pageblock(zone, claim, mt, n);
	return n;
}

/*
 * Pages on their way to the buddy. A batch is at most 32 of them, but each may merge through every
 * order (the last page of a mapping whose neighbours are free already), so what bounds the section
 * is steps: one per merge, two per block.
 */
#define FREE_STEPS_MAX 40
struct give_back {
	struct zone *zone;
	unsigned long flags;
	u32 steps, pages; /* in this section */
};

static void section_begin(struct give_back *g)
{
	spin_lock_irqsave_l(&g->zone->lock, g->flags, "pcp_free");
	g->steps = g->pages = 0;
}

static void section_end(struct give_back *g)
{
	zone_sync_free(g->zone);
	g->zone->pages_scanned = 0;
	g->zone->all_unreclaimable = false;
	irq_work(g->pages);
	spin_unlock_irqrestore_l(&g->zone->lock, g->flags, "pcp_free");
}

static noinline void breathe(struct give_back *g)
{
	section_end(g);
	section_begin(g);
}

static __always_inline void give(struct give_back *g, struct page *page, unsigned int order)
{
	if (unlikely(g->steps > FREE_STEPS_MAX))
		breathe(g);
	g->steps += 2 + free_or_capture(g->zone, page, order);
	g->pages += 1u << order;
}

/*
 * Frees the frames of one aligned group of 32 whose bit is set: a pair of neighbours at each level
 * becomes one block of the next, and only what has no partner goes to the buddy.
 */
static noinline void free_group(struct give_back *g, struct page *base, u32 set)
{
	static const u32 even[5] = { 0x55555555, 0x11111111, 0x01010101, 0x00010001, 0x00000001 };

	if (likely(set == U32_MAX)) {
		give(g, base, 5);
		return;
	}
	for (unsigned int order = 0; set; order++) {
		u32 pairs = order < 5 ? set & (set >> (1u << order)) & even[order] : 0;
		u32 alone = set & ~(pairs | pairs << (1u << (order & 31)));

		for (; alone; alone &= alone - 1)
			give(g, base + __ffs(alone), order);
		set = pairs;
	}
}

#define GROUP_MASK (~(32 * sizeof(struct page) - 1))

/*
 * One chain of at most PCP_BATCH_MAX pages on their way to the buddy. The group of its first pages,
 * which were freed last, stays in l->carry when it is not complete: what is missing may come next.
 * With no chain: the carry itself.
 */
static void free_chain(struct pcp *pcp, struct pcp_list *l, struct page *page)
{
	struct give_back g = { .zone = pcp->zone };
	struct page *first = NULL, *group = NULL;
	u32 set = 0, first_set = 0;

	section_begin(&g);
	for (;; page = page->pcp_next) {
		unsigned long at = (unsigned long)page;

		if ((at ^ (unsigned long)group) & GROUP_MASK) {
			if (group == l->carry) {
				set |= l->carry_set;
				l->carry_set = 0;
			}
			if (!first && pcp->batch == PCP_BATCH_MAX && set != U32_MAX) {
				first = group;
				first_set = set;
			} else if (set) {
				free_group(&g, group, set);
			}
			group = (struct page *)(at & GROUP_MASK);
			set = 0;
		}
		if (!page)
			break;
		set |= 1u << (at / sizeof(struct page) & 31);
	}
	if (l->carry_set)
		free_group(&g, l->carry, l->carry_set);
	section_end(&g);
	l->carry = first;
	l->carry_set = first_set;
}

void pcp_push_full(struct pcp *pcp, struct pcp_list *l, struct page *page)
{
	if (l->room <= 0) {
		if (l->nr_full == PCP_FULL_MAX) {
			/* The oldest pages are the least likely to be in a cache still. */
			free_chain(pcp, l, l->full[0]);
			for (u32 i = 1; i < PCP_FULL_MAX; i++)
				l->full[i - 1] = l->full[i];
			l->nr_full--;
		}
		l->full[l->nr_full++] = l->head;
		l->head = NULL;
		l->room = pcp->batch;
	}
	page->pcp_next = l->head;
	l->head = page;
	l->room--;
}

void zone_free_list(struct zone *zone, struct list_head *blocks)
{
	struct give_back g = { .zone = zone };
	struct page *page, *next;

	if (list_empty(blocks))
		return;
	section_begin(&g);
	list_for_each_entry_safe(page, next, blocks, lru)
		give(&g, page, (unsigned int)page->private);
	section_end(&g);
	list_init(blocks);
}

static void pcp_drain(struct pcp *pcp)
{
	for (u32 mt = 0; mt < MT_PCPTYPES; mt++) {
		struct pcp_list *l = &pcp->list[mt];
		struct page *page = l->head;

		l->head = NULL;
		l->room = pcp->batch;
		if (page)
			free_chain(pcp, l, page);
		while (l->nr_full)
			free_chain(pcp, l, l->full[--l->nr_full]);
		if (l->carry_set)
			free_chain(pcp, l, NULL);
		for (u32 o = 0; o < PCP_BIG_ORDER; o++) {
			while ((page = pcp->big[o][mt].head)) {
				pcp->big[o][mt].head = page->pcp_next;
				pcp->big[o][mt].count--;
				zone_put(pcp->zone, page, o + 1);
			}
		}
	}
}

void pcp_drain_local(void)
{
	if (in_interrupt())
		return;
	preempt_disable();
	for (u32 i = 0; i < nr_all_zones; i++)
		pcp_drain(&pcp_block[smp_processor_id()][i]);
	preempt_enable();
}

/*
 * Per-CPU lists belong to their CPU, so we go there: no interrupt handler ever frees a hundred
 * objects for somebody else.
 */
void visit_cpus(void (*fn)(void *arg), void *arg)
{
	struct thread *me = current;
	cpumask_t allowed;
	u32 cpu;

	if (nr_cpus == 1 || !me) {
		fn(arg);
		return;
	}
	allowed = me->allowed;
	for_each_online_cpu(cpu)
		if (sched_set_affinity(me, CPU_BIT(cpu)) == 0)
			fn(arg);
	sched_set_affinity(me, allowed);
}

static void drain_here(void *unused)
{
	pcp_drain_local();
}

void pcp_drain_all(void)
{
	visit_cpus(drain_here, NULL);
}

void visit_cpus_alone(void (*fn)(void *arg), void *arg)
{
	static u32 on_tour;

	if (READ_ONCE(on_tour) || xchg(&on_tour, 1))
		return;
	visit_cpus(fn, arg);
	smp_store_release(&on_tour, 0);
}

void pcp_drain_try(void)
{
	visit_cpus_alone(drain_here, NULL);
}

/* ---- zone counters ---- */

/* => preemption off */
static __always_inline void mod_state_here(struct zone *zone, struct pcp *pcp,
					   enum zone_stat_item item, long delta)
{
	/*
	 * An interrupt may add to the same delta between our read and our add: harmless, both adds
	 * are one instruction and s16 has room for a few thresholds.
	 */
	long v = pcp->vm_stat_diff[item] + delta;

	if (likely(v <= (long)pcp->stat_threshold && v >= -(long)pcp->stat_threshold))
		local_add16(&pcp->vm_stat_diff[item], (s16)delta);
	else
		atomic_long_add(delta, &zone->vm_stat[item]);
}

void mod_zone_state(struct zone *zone, enum zone_stat_item item, long delta)
{
	preempt_disable();
	mod_state_here(zone, &pcp_block[smp_processor_id()][zone->seq], item, delta);
	preempt_enable();
}

void mod_zone_state_pair(struct zone *zone, enum zone_stat_item a, enum zone_stat_item b,
			 long delta)
{
	struct pcp *pcp;

	preempt_disable();
	pcp = &pcp_block[smp_processor_id()][zone->seq];
	mod_state_here(zone, pcp, a, delta);
	mod_state_here(zone, pcp, b, delta);
	preempt_enable();
}

unsigned long zone_state(struct zone *zone, enum zone_stat_item item)
{
	long v = atomic_long_read(&zone->vm_stat[item]);

	return v < 0 ? 0 : (unsigned long)v;
}

unsigned long zone_state_exact(struct zone *zone, enum zone_stat_item item)
{
	long v = atomic_long_read(&zone->vm_stat[item]);
	u32 cpu;

	for_each_online_cpu(cpu)
		v += READ_ONCE(pcp_block[cpu][zone->seq].vm_stat_diff[item]);
	return v < 0 ? 0 : (unsigned long)v;
}

unsigned long global_zone_state(enum zone_stat_item item)
{
	long v = 0;
	u32 cpu;

	/*
	 * Exact over all zones: a page counted up in one zone's delta may have been counted down in
	 * another's.
	 */
	for (u32 i = 0; i < nr_all_zones; i++) {
		v += atomic_long_read(&all_zones[i]->vm_stat[item]);
		for_each_online_cpu(cpu)
			v += READ_ONCE(pcp_block[cpu][i].vm_stat_diff[item]);
	}
	return v < 0 ? 0 : (unsigned long)v;
}

unsigned long node_zone_state(int node, enum zone_stat_item item)
{
	unsigned long v = 0;

	for (u32 i = 0; i < nodes[node]->nr_zones; i++)
		if (nodes[node]->zones[i].present_pages)
			v += zone_state_exact(&nodes[node]->zones[i], item);
	return v;
}

u64 zone_numa_sum(struct zone *zone, enum numa_item item)
{
	u64 v = 0;
	u32 cpu;

	for_each_online_cpu(cpu) {
		const struct pcp *pcp = &pcp_block[cpu][zone->seq];

		v += pcp->numa[item];
		if (item == NUMA_HIT || item == NUMA_LOCAL)
			v += pcp->fast_allocs;
	}
	return v;
}
