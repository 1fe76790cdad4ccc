/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pcp.c - per-CPU page lists: most allocations and frees of single pages never see the zone's lock.
 *
 * Problem: the zone lock with interrupts off costs more than the work under it, and single pages come and go in streams.
 * Idea (magazines): each CPU keeps, per zone and migrate type, an open chain of up to `batch` pages and a few full ones.
 * A full chain goes to, an empty one comes from the buddy as a whole: one lock, at most 32 pages with interrupts off.
 * Two chains' worth of slack keep a CPU that frees and allocates in turn away from the lock.
 *
 *     push -> [open: 0..batch] --full--> full[0..5) --too many: oldest--> buddy
 *     pop  <- [open]           <-empty-- full[]     <-none: refill------- buddy
 *
 * Interrupts never touch these lists (they take pages from the buddy directly), so preemption off is all the
 * protection needed: no cli on the fast path.
 * Invariants: chains in full[] have exactly batch pages; pages on lists have refs 0 and no flags but the zone bits.
 * Source: [Bonwick01] magazines; batch sizes as in [facts 1.5].
 */
#include "mm/phys/internal.h"

#include "sched/sched.h"

void pcp_init(struct pcp *pcp, struct zone *zone)
{
	*pcp = (struct pcp){ .zone = zone };
	/* A batch of a 4096th of the zone, so that all CPUs' lists together stay small against it. */
	pcp->batch = (u32)clamp(zone->managed_pages / 4096, 1ul, (unsigned long)PCP_BATCH_MAX);
	pcp->stat_threshold = 1;
}

/* Our type took a block out of a pageblock of another type: move its other free blocks over, a little at a time. */
static noinline void claim_pageblock(struct zone *zone, struct page *page, enum migratetype mt, unsigned int taken)
{
	unsigned long pfn = ALIGN_DOWN(page_to_pfn(page), PAGEBLOCK_PAGES), end = pfn + PAGEBLOCK_PAGES;
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
	buddy_free(&zone->buddy, page, order);
	zone_sync_free(zone);
	zone->pages_scanned = 0;
	spin_unlock_irqrestore_l(&zone->lock, flags, "buddy_free");
}

bool pcp_refill(struct pcp *pcp, enum migratetype mt)
{
	struct pcp_list *l = &pcp->list[mt];
	struct zone *zone = pcp->zone;
	struct page *claim = NULL;
	unsigned long flags;

	if (l->nr_full) {
		l->head = l->full[--l->nr_full];
		l->count = pcp->batch;
		return true;
	}
	spin_lock_irqsave_l(&zone->lock, flags, "pcp_refill");
	l->count = buddy_alloc_bulk(&zone->buddy, mt, pcp->batch, &l->head, &claim);
	zone_sync_free(zone);
	irq_work(l->count);
	spin_unlock_irqrestore_l(&zone->lock, flags, "pcp_refill");
	if (unlikely(claim != NULL))
		claim_pageblock(zone, claim, mt, l->count);
	return l->count;
}

/* One chain of at most PCP_BATCH_MAX pages back to the buddy. */
static void free_chain(struct zone *zone, struct page *page)
{
	unsigned long flags;
	unsigned int n = 0;

	spin_lock_irqsave_l(&zone->lock, flags, "pcp_free");
	for (struct page *next; page; page = next, n++) {
		next = page->pcp_next;
		buddy_free(&zone->buddy, page, 0);
	}
	zone_sync_free(zone);
	zone->pages_scanned = 0;
	irq_work(n);
	spin_unlock_irqrestore_l(&zone->lock, flags, "pcp_free");
}

void pcp_stash(struct pcp *pcp, struct pcp_list *l)
{
	if (l->nr_full == PCP_FULL_MAX) {
		/* The oldest pages are the least likely to be in a cache still. */
		free_chain(pcp->zone, l->full[0]);
		for (u32 i = 1; i < PCP_FULL_MAX; i++)
			l->full[i - 1] = l->full[i];
		l->nr_full--;
	}
	l->full[l->nr_full++] = l->head;
	l->head = NULL;
	l->count = 0;
}

static void pcp_drain(struct pcp *pcp)
{
	for (u32 mt = 0; mt < MT_PCPTYPES; mt++) {
		struct pcp_list *l = &pcp->list[mt];
		struct page *page = l->head;

		l->head = NULL;
		l->count = 0;
		if (page)
			free_chain(pcp->zone, page);
		while (l->nr_full)
			free_chain(pcp->zone, l->full[--l->nr_full]);
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

/* Per-CPU lists belong to their CPU, so we go there: no interrupt handler ever frees a hundred objects for somebody else. */
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

/* ---- zone counters ---------------------------------------------------------------------------- */

void mod_zone_state(struct zone *zone, enum zone_stat_item item, long delta)
{
	struct pcp *pcp;
	long v;

	preempt_disable();
	pcp = &pcp_block[smp_processor_id()][zone->seq];
	/*
	 * An interrupt may add to the same delta between our read and our add: harmless, both adds are one instruction
	 * and s16 has room for a few thresholds.
	 */
	v = pcp->vm_stat_diff[item] + delta;
	if (likely(v <= (long)pcp->stat_threshold && v >= -(long)pcp->stat_threshold))
		local_add16(&pcp->vm_stat_diff[item], (s16)delta);
	else
		atomic_long_add(delta, &zone->vm_stat[item]);
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

	/* Exact over all zones: a page counted up in one zone's delta may have been counted down in another's. */
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
