// SPDX-License-Identifier: BSD-2-Clause
/*
 * kswapd.c - the thread per node that keeps memory free.
 *
 * Problem: an allocation that must reclaim is slow. Idea: a thread of its own does it ahead of time.
 * The allocator wakes it when a zone is below its low watermark; it scans all zones up to the
 * highest one that is short, again and again, until each is above its high one.
 *
 *   pass       priorities 12..0. At each: the zones from the lowest up to the highest that is below
 *              HIGH are scanned and slabs shrunk; it ends early when all are above HIGH, or when 32
 *              pages came free (then from 12 again).
 *   wait       below priority 10, when something was scanned. Not when a zone is below MIN.
 *   sleep      first for 100 ms; only if it was not woken in that time and all is still well, without
 *              a time limit. The two ways of that failing are counted.
 *
 * Switch kswapd_wait_iff, the wait's form ([seed-003] changes 0 into 1): 0 always up to 100 ms, which
 * without I/O in flight is the whole time; 1 one wait_iff_congested per zone up to the highest short
 * one, no sleep unless a disk is congested and the zone is marked; 2 at most one wait, on the first
 * zone still short that is marked.
 *
 * Enough is enough: a zone whose pages were scanned six times since one of them came free, with no
 * object of a slab freed either, is given up (all_unreclaimable) until a page comes free in it.
 * And after 16 passes without a single page the thread is not woken any more until somebody else
 * could reclaim something. So nothing is burnt on memory that cannot be had.
 * Higher orders are not aimed at: pages in a row are compaction's business.
 * Source: [facts 1.9, 5.2-5.4], [seed-003].
 */
#include "mm/reclaim/kswapd.h"

#include "kernel/counter.h"
#include "kernel/printk.h"
#include "mm/kmem/slab.h"
#include "mm/reclaim/congestion.h"
#include "mm/reclaim/events.h"
#include "mm/reclaim/scan.h"
#include "sched/kthread.h"
#include "sched/sched.h"

DEFINE_SWITCH(
	kswapd_wait_iff, 1, 0, 2, "003",
	"kswapd below priority 10: 0 sleeps up to 100 ms, 1 sleeps per zone only if a disk is "
	"congested and the zone marked, 2 the same at most once");
COUNTER(kswapd_congestion_sleep_ms, "time kswapd slept in the wait that kswapd_wait_iff is about");

#define MAX_FAILURES 16
#define TRIAL_SLEEP_NS (100 * NSEC_PER_MSEC)

/* Locks: (a) read and written without one; a lost change costs one pass. */
struct kswapd {
	struct node *node;
	struct wait_queue wait;
	u32 class;    /* (a) lowest class of the requests since it last looked */
	u32 failures; /* (a) passes in a row without a page */
	u32 asleep;   /* (a) */
	u64 wait_ns;  /* what is not in the counter yet */
};
static struct kswapd kswapds[MAX_NODES];

/* control-struct of one pass */
struct pass {
	struct node *node;
	int end; /* highest zone below its high mark */
	struct scan_control sc;
	unsigned long total_scanned, lru_pages;
	bool all_ok, under_min, was_short;
};

static bool above(struct zone *zone, unsigned long mark, enum zone_type class)
{
	return zone_watermark_ok(zone, 0, mark, class, 0);
}

static void clear_congested(struct zone *zone)
{
	if (READ_ONCE(zone->zone_flags) & BIT(ZF_CONGESTED))
		clear_bit(ZF_CONGESTED, &zone->zone_flags);
}

static bool skip(struct zone *zone, int priority)
{
	return !zone->managed_pages || (zone_hopeless(zone) && priority != DEF_PRIORITY);
}

/* => index of the highest zone that is short, -1: none */
static int highest_short(struct pass *p)
{
	for (int i = (int)p->node->nr_zones - 1; i >= 0; i--) {
		struct zone *zone = &p->node->zones[i];

		if (skip(zone, p->sc.priority))
			continue;
		age_anon(zone, p->sc.priority);
		if (!above(zone, zone->watermark[WMARK_HIGH], ZONE_DMA))
			return i;
		clear_congested(zone);
	}
	return -1;
}

static void balance_zone(struct pass *p, int i)
{
	struct zone *zone = &p->node->zones[i];
	enum zone_type class = p->node->zones[p->end].type;
	unsigned long high = zone->watermark[WMARK_HIGH];
	unsigned long gap = balance_gap(zone->watermark[WMARK_LOW], zone->managed_pages);

	if (!above(zone, high + gap, class)) {
		p->sc.nr_scanned = 0;
		shrink_zone(zone, &p->sc);
		if (!shrink_slab(p->sc.nr_scanned, p->lru_pages, &p->sc.nr_reclaimed) &&
		    zone_given_up(zone))
			WRITE_ONCE(zone->all_unreclaimable, true);
		p->total_scanned += p->sc.nr_scanned;
	}
	if (READ_ONCE(zone->all_unreclaimable)) {
		if (p->end && p->end == i)
			p->end--;
	} else if (!above(zone, high, class)) {
		p->all_ok = false;
		if (!above(zone, zone->watermark[WMARK_MIN], class))
			p->under_min = true;
	} else {
		clear_congested(zone);
	}
}

/* The first zone still short that is marked; NULL: none. */
static struct zone *marked_zone(struct pass *p)
{
	for (int i = 0; i <= p->end; i++) {
		struct zone *zone = &p->node->zones[i];

		if ((READ_ONCE(zone->zone_flags) & BIT(ZF_CONGESTED)) &&
		    !above(zone, zone->watermark[WMARK_HIGH], p->node->zones[p->end].type))
			return zone;
	}
	return NULL;
}

/* The block that [seed-003] is about. */
static void wait_a_little(struct kswapd *k, struct pass *p)
{
	long form = switch_value(kswapd_wait_iff);
	ktime_t start = ktime_get();
	struct zone *zone;

	if (form == 0) {
		congestion_wait(CONGEST_ASYNC, RECLAIM_WAIT_NS);
	} else if (form == 1) {
		for (int i = 0; i <= p->end; i++) {
			zone = &p->node->zones[i];
			if (zone->managed_pages)
				wait_iff_congested(zone, CONGEST_ASYNC, RECLAIM_WAIT_NS);
		}
	} else if ((zone = marked_zone(p))) {
		wait_iff_congested(zone, CONGEST_ASYNC, RECLAIM_WAIT_NS);
	} else {
		cond_resched();
	}
	if (form && !nr_congested(CONGEST_ASYNC))
		return; /* the time others ran is no sleep */
	k->wait_ns += (u64)(ktime_get() - start);
	count_add(kswapd_congestion_sleep_ms, k->wait_ns / NSEC_PER_MSEC);
	k->wait_ns %= NSEC_PER_MSEC;
}

/* One priority. => true: the pass is over */
static bool one_priority(struct kswapd *k, struct pass *p)
{
	p->all_ok = true;
	p->under_min = false;
	p->end = highest_short(p);
	if (p->end < 0)
		return true;
	p->was_short = true;
	p->lru_pages = 0;
	for (int i = 0; i <= p->end; i++)
		p->lru_pages += zone_reclaimable_pages(&p->node->zones[i]);
	for (int i = 0; i <= p->end; i++)
		if (!skip(&p->node->zones[i], p->sc.priority))
			balance_zone(p, i);
	if (p->all_ok)
		return true;
	if (p->total_scanned && p->sc.priority < DEF_PRIORITY - 2) {
		if (p->under_min)
			count_vm_event(KSWAPD_SKIP_CONGESTION_WAIT);
		else
			wait_a_little(k, p);
	}
	return p->sc.nr_reclaimed >= SWAP_CLUSTER_MAX;
}

/* Passes until every zone is above its high mark or given up. */
static void balance(struct kswapd *k)
{
	struct pass p;

	do {
		count_vm_event(PAGEOUTRUN);
		p = (struct pass){
			.node = k->node,
			.sc = { .gfp = GFP_KERNEL, .nr_to_reclaim = ~0ul, .kswapd = true }
		};
		for (p.sc.priority = DEF_PRIORITY; p.sc.priority >= 0; p.sc.priority--)
			if (one_priority(k, &p))
				break;
		cond_resched();
		if (p.sc.nr_reclaimed)
			WRITE_ONCE(k->failures, 0);
		else if (p.was_short)
			WRITE_ONCE(k->failures, k->failures + 1);
	} while (!p.all_ok && READ_ONCE(k->failures) < MAX_FAILURES);
}

/* left: what was left of the trial sleep when it was woken */
static bool may_sleep_now(struct kswapd *k, enum zone_type class, s64 left)
{
	if (left > 0)
		return false;
	if (READ_ONCE(k->failures) >= MAX_FAILURES)
		return true;
	for (u32 i = 0; i < k->node->nr_zones; i++) {
		struct zone *zone = &k->node->zones[i];

		if (zone->type > class || !zone->managed_pages ||
		    READ_ONCE(zone->all_unreclaimable))
			continue;
		if (!above(zone, zone->watermark[WMARK_HIGH], zone->type))
			return false;
	}
	return true;
}

static void try_to_sleep(struct kswapd *k, enum zone_type class)
{
	WAIT_ENTRY(entry);
	s64 left = 0;

	wait_prepare(&k->wait, &entry, THREAD_INTERRUPTIBLE);
	if (may_sleep_now(k, class, 0)) {
		left = schedule_timeout(TRIAL_SLEEP_NS);
		wait_finish(&k->wait, &entry);
		wait_prepare(&k->wait, &entry, THREAD_INTERRUPTIBLE);
	}
	if (may_sleep_now(k, class, left)) {
		vmscan_event(kswapd_sleep, k->node->id);
		WRITE_ONCE(k->asleep, 1);
		schedule();
		WRITE_ONCE(k->asleep, 0);
	} else if (left > 0) {
		count_vm_event(KSWAPD_LOW_WMARK_HIT_QUICKLY);
	} else {
		count_vm_event(KSWAPD_HIGH_WMARK_HIT_QUICKLY);
	}
	wait_finish(&k->wait, &entry);
}

static int kswapd(void *arg)
{
	struct kswapd *k = arg;

	/* It frees memory, so it may take from the reserves, and it never reclaims for itself. */
	__atomic_fetch_or(&current->flags, TF_KSWAPD | TF_MEMALLOC, __ATOMIC_RELAXED);
	for (;;) {
		try_to_sleep(k, READ_ONCE(k->class));
		vmscan_event(kswapd_wake, k->node->id, READ_ONCE(k->class), 0);
		WRITE_ONCE(k->class, NR_ZONE_TYPES - 1);
		balance(k);
	}
	return 0;
}

void kswapd_wake(struct zone *zone, unsigned int order, enum zone_type class)
{
	struct kswapd *k = &kswapds[zone->node->id];

	if (unlikely(!zone->node->kswapd))
		return;
	if (class < READ_ONCE(k->class))
		WRITE_ONCE(k->class, class);
	if (!wait_queue_active(&k->wait) || READ_ONCE(k->failures) >= MAX_FAILURES ||
	    above(zone, zone->watermark[WMARK_LOW], ZONE_DMA))
		return;
	vmscan_event(wakeup_kswapd, zone, order);
	wake_up(&k->wait);
}

void kswapd_try_again(struct node *node)
{
	if (READ_ONCE(kswapds[node->id].failures))
		WRITE_ONCE(kswapds[node->id].failures, 0);
}

bool kswapd_asleep(const struct node *node)
{
	return READ_ONCE(kswapds[node->id].asleep);
}

void kswapd_start(void)
{
	struct node *node;

	for_each_node(node) {
		struct kswapd *k = &kswapds[node->id];
		struct thread *t;

		if (!node->has_memory)
			continue;
		k->node = node;
		k->class = NR_ZONE_TYPES - 1;
		wait_queue_init(&k->wait);
		t = kthread_create(kswapd, k, node->id, "kswapd%d", node->id);
		if (!t)
			panic("kswapd: no memory for its thread");
		if (node->has_cpu)
			sched_set_affinity(t, node->cpus);
		thread_start(t);
		node->kswapd = t;
	}
}
