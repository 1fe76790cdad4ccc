// SPDX-License-Identifier: BSD-2-Clause
/*
 * kswapd.c - the thread per node that keeps memory free.
 *
 * Problem: an allocation that must reclaim is slow. Idea: a thread of its own does it ahead of
 * time. The allocator wakes it when a zone is below its low watermark; it scans all zones up to the
 * highest one that is short, again and again, until each is above its high one.
 *
 *   pass       priorities 12..0. At each: the zones from the lowest up to the highest that is below
 *              HIGH are scanned and slabs shrunk; it ends early when all are above HIGH, or when 32
 *              pages came free (then from 12 again).
 *   wait       below priority 10, when something was scanned. Not when a zone is below MIN.
 *   sleep      first for 100 ms; only if it was not woken in that time and all is still well,
 *              without a time limit. The two ways of that failing are counted.
 *   blocks     for a request of order > 0 it is enough that a quarter of the pages up to the class
 *              asked for is in zones with such a block; a pass that gains little goes on for single
 *              pages.
 *
 * Switch kswapd_wait_iff, the wait's form ([seed-003] changes 0 into 1): 0 always up to 100 ms,
 * which without I/O in flight is the whole time; 1 one wait_iff_congested per zone up to the
 * highest short one, no sleep unless a disk is congested and the zone is marked; 2 at most one such
 * wait, on the first zone still short that is marked; 3 (as merged for 3.8) one on the last zone
 * found short, marked or not; 4 (3.9 and later) none, nor is the skip counted: the batches wait by
 * themselves. Switch kswapd_temper, the third patch of that series: when the priority has run away
 * for the sake of one zone, another that becomes short is first scanned at the mean of its last and
 * the present.
 *
 * Enough is enough: a zone whose pages were scanned six times since one of them came free, with no
 * object of a slab freed either, is given up (all_unreclaimable) until a page comes free in it.
 * And after 16 passes without a single page the thread is not woken any more until somebody else
 * could reclaim something. So nothing is burnt on memory that cannot be had.
 * Source: [facts 1.9, 5.1-5.4], [seed-003].
 */
#include "mm/reclaim/kswapd.h"

#include "kernel/counter.h"
#include "kernel/printk.h"
#include "lib/string.h"
#include "mm/compact/compact.h"
#include "mm/kmem/slab.h"
#include "mm/reclaim/congestion.h"
#include "mm/reclaim/events.h"
#include "mm/reclaim/lumpy.h"
#include "mm/reclaim/scan.h"
#include "mm/reclaim/throttle.h"
#include "sched/kthread.h"
#include "sched/psi.h"
#include "sched/sched.h"

DEFINE_SWITCH(
	kswapd_wait_iff, WAIT_IFF_ONCE, WAIT_ALWAYS, WAIT_NEVER, "003",
	"kswapd below priority 10: 0 sleeps up to 100 ms, 1 sleeps per zone only if a disk is "
	"congested and the zone marked, 2 the same at most once, 3 once on the last short zone "
	"(3.8), 4 never (3.9)");
DEFINE_SWITCH(kswapd_temper, 0, 0, 1, "003",
	      "kswapd's priority for a zone that was not scanned while it rose: 0 as it is, 1 the "
	      "mean of the zone's last and the present, once (third patch of the series)");
COUNTER(kswapd_congestion_sleep_ms, "time kswapd slept in the wait that kswapd_wait_iff is about");

#define MAX_FAILURES 16
#define MAX_BLOCK_PASSES 8 /* for blocks, one after the other: then single pages will do */
#define TRIAL_SLEEP_NS (100 * NSEC_PER_MSEC)
#define TOP_CLASS (NR_ZONE_TYPES - 1)

struct request {
	u32 order;
	enum zone_type class; /* the highest zone that would do */
};

/* Locks: (a) read and written without one; a lost change costs one pass. */
struct kswapd {
	struct node *node;
	struct wait_queue wait;
	struct request wanted; /* (a) the hardest since it last looked */
	u32 failures;	       /* (a) passes in a row without a page */
	u32 asleep;	       /* (a) */
	u64 wait_ns;	       /* what is not in the counter yet */
};
static struct kswapd kswapds[MAX_NODES];

/* control-struct of one pass */
struct pass {
	struct node *node;
	struct request req;
	int end;		     /* highest zone below its high mark */
	u8 last_priority[MAX_ZONES]; /* each zone was scanned at */
	struct zone *last_short;     /* the last one found so at this priority */
	unsigned long balanced;	     /* pages of the zones that are not */
	unsigned long total_scanned, lru_pages;
	bool all_ok, under_min, was_short;
	struct scan_control sc;
};

static bool above(struct zone *zone, u32 order, unsigned long mark, enum zone_type class)
{
	return zone_watermark_ok(zone, order, mark, class, 0);
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

/* Are a quarter of the pages up to the class of the request among so many? */
static bool pages_balanced(const struct node *node, enum zone_type class, unsigned long balanced)
{
	unsigned long managed = 0;

	for (u32 i = 0; i < node->nr_zones; i++)
		if (node->zones[i].type <= (u32) class)
			managed += node->zones[i].managed_pages;
	return enough_balanced(balanced, managed);
}

/*
 * The order a zone is looked at by: where there is room enough for compaction, single pages will
 * do (the thread that compacts is told afterwards).
 */
static u32 order_for(const struct pass *p, struct zone *zone)
{
	u32 order = p->req.order;

	if (likely(!order) || switch_value(lumpy) != LUMPY_NEVER ||
	    compaction_suitable(zone, (int)order) == COMPACT_SKIPPED)
		return order;
	return 0;
}

/* => index of the highest zone that is short, -1: none */
static int highest_short(struct pass *p)
{
	for (int i = (int)p->node->nr_zones - 1; i >= 0; i--) {
		struct zone *zone = &p->node->zones[i];

		if (skip(zone, p->sc.priority))
			continue;
		age_anon(zone, p->sc.priority);
		if (!above(zone, order_for(p, zone), zone->watermark[WMARK_HIGH], ZONE_DMA))
			return i;
		clear_congested(zone);
	}
	return -1;
}

static void scan_zone(struct pass *p, int i)
{
	struct zone *zone = &p->node->zones[i];
	int priority = p->sc.priority;

	p->sc.nr_scanned = 0;
	if (switch_value(kswapd_temper))
		p->sc.priority = tempered_priority(p->last_priority[i], priority);
	shrink_zone(zone, &p->sc);
	p->sc.priority = priority;
	p->last_priority[i] = (u8)priority;
	if (!shrink_slab(p->sc.nr_scanned, p->lru_pages, &p->sc.nr_reclaimed) &&
	    zone_given_up(zone))
		WRITE_ONCE(zone->all_unreclaimable, true);
	p->total_scanned += p->sc.nr_scanned;
}

static void balance_zone(struct pass *p, int i)
{
	struct zone *zone = &p->node->zones[i];
	enum zone_type class = p->node->zones[p->end].type;
	unsigned long high = zone->watermark[WMARK_HIGH];
	unsigned long gap = balance_gap(zone->watermark[WMARK_LOW], zone->managed_pages);

	if (!above(zone, order_for(p, zone), high + gap, class))
		scan_zone(p, i);
	if (p->total_scanned > 2 * SWAP_CLUSTER_MAX &&
	    p->total_scanned > p->sc.nr_reclaimed + p->sc.nr_reclaimed / 2)
		p->sc.may_write = true;
	if (READ_ONCE(zone->all_unreclaimable)) {
		if (p->end && p->end == i)
			p->end--;
	} else if (!above(zone, order_for(p, zone), high, class)) {
		p->all_ok = false;
		p->last_short = zone;
		if (!above(zone, order_for(p, zone), zone->watermark[WMARK_MIN], class))
			p->under_min = true;
	} else {
		clear_congested(zone);
		if (zone->type <= p->req.class)
			p->balanced += zone->managed_pages;
	}
}

/* The first zone still short that is marked; NULL: none. */
static struct zone *marked_zone(struct pass *p)
{
	for (int i = 0; i <= p->end; i++) {
		struct zone *zone = &p->node->zones[i];

		if (zone_marked_congested(zone) &&
		    !above(zone, p->req.order, zone->watermark[WMARK_HIGH],
			   p->node->zones[p->end].type))
			return zone;
	}
	return NULL;
}

static void wait_iff(struct zone *zone)
{
	if (zone)
		wait_iff_congested(zone, CONGEST_ASYNC, RECLAIM_WAIT_NS);
	else
		cond_resched();
}

/* The block that [seed-003] is about. */
static void wait_a_little(struct kswapd *k, struct pass *p, enum kswapd_wait form)
{
	ktime_t start = ktime_get();

	switch (form) {
	case WAIT_ALWAYS:
		congestion_wait(CONGEST_ASYNC, RECLAIM_WAIT_NS);
		break;
	case WAIT_IFF_PER_ZONE:
		for (int i = 0; i <= p->end; i++)
			if (p->node->zones[i].managed_pages)
				wait_iff(&p->node->zones[i]);
		break;
	case WAIT_IFF_ONCE:
		wait_iff(marked_zone(p));
		break;
	default:
		wait_iff(p->last_short);
	}
	if (form != WAIT_ALWAYS && !nr_congested(CONGEST_ASYNC))
		return; /* the time others ran is no sleep */
	k->wait_ns += (u64)(ktime_get() - start);
	count_add(kswapd_congestion_sleep_ms, k->wait_ns / NSEC_PER_MSEC);
	k->wait_ns %= NSEC_PER_MSEC;
}

static bool pass_balanced(const struct pass *p)
{
	return p->all_ok || (p->req.order && pages_balanced(p->node, p->req.class, p->balanced));
}

/* One priority. => true: the pass is over */
static bool one_priority(struct kswapd *k, struct pass *p)
{
	enum kswapd_wait form = switch_value(kswapd_wait_iff);
	int end;

	p->all_ok = true;
	p->under_min = false;
	p->balanced = 0;
	p->last_short = NULL;
	end = highest_short(p);
	if (end < 0)
		return true;
	p->end = end;
	p->was_short = true;
	p->lru_pages = 0;
	for (int i = 0; i <= p->end; i++)
		p->lru_pages += zone_reclaimable_pages(&p->node->zones[i]);
	for (int i = 0; i <= p->end; i++)
		if (!skip(&p->node->zones[i], p->sc.priority))
			balance_zone(p, i);
	throttle_wake(p->node, 0);
	if (pass_balanced(p))
		return true;
	if (p->total_scanned && p->sc.priority < DEF_PRIORITY - 2 && form != WAIT_NEVER) {
		if (p->under_min)
			count_vm_event(KSWAPD_SKIP_CONGESTION_WAIT);
		else
			wait_a_little(k, p, form);
	}
	return p->sc.nr_reclaimed >= SWAP_CLUSTER_MAX;
}

static void note_result(struct kswapd *k, const struct pass *p)
{
	if (p->sc.nr_reclaimed)
		WRITE_ONCE(k->failures, 0);
	else if (p->was_short)
		WRITE_ONCE(k->failures, k->failures + 1);
	if (k->failures >= MAX_FAILURES)
		throttle_wake(k->node, 1);
}

/*
 * Passes until every zone is above its high mark or given up. => what it has balanced: the order,
 * and the highest zone it had to scan
 */
static struct request balance(struct kswapd *k, struct request req)
{
	struct pass p = { .end = 0 };

	for (u32 passes = 1;; passes++) {
		int end = p.end;

		count_vm_event(PAGEOUTRUN);
		p = (struct pass){ .node = k->node,
				   .req = req,
				   .end = end,
				   .sc = { .gfp = GFP_KERNEL,
					   .order = req.order,
					   .nr_to_reclaim = ~0ul,
					   .may_write = !laptop_mode,
					   .kswapd = true } };
		memset(p.last_priority, DEF_PRIORITY, sizeof(p.last_priority));
		for (p.sc.priority = DEF_PRIORITY; p.sc.priority >= 0; p.sc.priority--)
			if (one_priority(k, &p))
				break;
		note_result(k, &p);
		if (pass_balanced(&p) || READ_ONCE(k->failures) >= MAX_FAILURES)
			break;
		cond_resched();
		if (p.sc.nr_reclaimed < SWAP_CLUSTER_MAX || passes >= MAX_BLOCK_PASSES)
			req.order = 0;
	}
	for (u32 i = 0; req.order && i < k->node->nr_zones; i++)
		clear_congested(&k->node->zones[i]);
	if (switch_value(lumpy) == LUMPY_NEVER)
		req.order = 0; /* room for a block is all that was asked of us */
	return (struct request){ .order = req.order, .class = k->node->zones[p.end].type };
}

/* left: what was left of the trial sleep when it was woken */
static bool may_sleep_now(struct kswapd *k, struct request done, s64 left)
{
	unsigned long balanced = 0;
	bool all_ok = true;

	if (left > 0)
		return false;
	throttle_wake(k->node, 1);
	if (READ_ONCE(k->failures) >= MAX_FAILURES)
		return true;
	for (u32 i = 0; i < k->node->nr_zones; i++) {
		struct zone *zone = &k->node->zones[i];

		if (zone->type > done.class || !zone->managed_pages)
			continue;
		if (READ_ONCE(zone->all_unreclaimable) ||
		    above(zone, done.order, zone->watermark[WMARK_HIGH], zone->type))
			balanced += zone->managed_pages;
		else
			all_ok = false;
	}
	return all_ok || (done.order && pages_balanced(k->node, done.class, balanced));
}

static void try_to_sleep(struct kswapd *k, struct request done)
{
	WAIT_ENTRY(entry);
	s64 left = 0;

	wait_prepare(&k->wait, &entry, THREAD_INTERRUPTIBLE);
	if (may_sleep_now(k, done, 0)) {
		left = schedule_timeout(TRIAL_SLEEP_NS);
		wait_finish(&k->wait, &entry);
		wait_prepare(&k->wait, &entry, THREAD_INTERRUPTIBLE);
	}
	if (may_sleep_now(k, done, left)) {
		vmscan_event(kswapd_sleep, k->node->id);
		node_set_pressure(k->node, 0);
		WRITE_ONCE(k->asleep, 1);
		schedule();
		WRITE_ONCE(k->asleep, 0);
		node_set_pressure(k->node, 1);
	} else if (left > 0) {
		count_vm_event(KSWAPD_LOW_WMARK_HIT_QUICKLY);
	} else {
		count_vm_event(KSWAPD_HIGH_WMARK_HIT_QUICKLY);
	}
	wait_finish(&k->wait, &entry);
}

/* What was asked for meanwhile; from now on nothing. */
static struct request take_wanted(struct kswapd *k)
{
	struct request r = { READ_ONCE(k->wanted.order), READ_ONCE(k->wanted.class) };

	WRITE_ONCE(k->wanted.order, 0);
	WRITE_ONCE(k->wanted.class, TOP_CLASS);
	return r;
}

/*
 * A harder request than the one at work is begun at once. After an easier one, or one that was not
 * fulfilled, it tries to sleep first, by the measure of what it could balance.
 */
static int kswapd(void *arg)
{
	struct request req = { 0, TOP_CLASS }, next = req, done = req;
	struct kswapd *k = arg;
	bool stalled;

	/* It frees memory, so it may take from the reserves, and it never reclaims for itself. */
	__atomic_fetch_or(&current->flags, TF_KSWAPD | TF_MEMALLOC, __ATOMIC_RELAXED);
	for (;;) {
		if (done.class >= next.class && done.order == next.order)
			next = take_wanted(k);
		if (req.order < next.order || req.class > next.class) {
			req = next;
		} else {
			try_to_sleep(k, done);
			req = next = take_wanted(k);
		}
		vmscan_event(kswapd_wake, k->node->id, req.class, req.order);
		stalled = psi_memstall_enter();
		done = balance(k, req);
		psi_memstall_leave(stalled);
		if (req.order)
			kcompactd_wake(k->node, req.order, req.class);
	}
	return 0;
}

void kswapd_wake(struct zone *zone, unsigned int order, enum zone_type class)
{
	struct kswapd *k = &kswapds[zone->node->id];

	if (unlikely(!zone->node->kswapd))
		return;
	if (order > READ_ONCE(k->wanted.order)) {
		WRITE_ONCE(k->wanted.order, order);
		if (class < READ_ONCE(k->wanted.class))
			WRITE_ONCE(k->wanted.class, class);
	}
	if (unlikely(READ_ONCE(k->failures) >= MAX_FAILURES)) {
		/* Nothing can be freed; what is free can perhaps be put together. */
		kcompactd_wake(zone->node, order, class);
		return;
	}
	if (!wait_queue_active(&k->wait) ||
	    above(zone, order, zone->watermark[WMARK_LOW], ZONE_DMA))
		return;
	vmscan_event(wakeup_kswapd, zone, order);
	wake_up(&k->wait);
}

void kswapd_kick(struct node *node)
{
	struct kswapd *k = &kswapds[node->id];

	if (node->kswapd && wait_queue_active(&k->wait))
		wake_up(&k->wait);
}

void kswapd_try_again(struct node *node)
{
	if (READ_ONCE(kswapds[node->id].failures))
		WRITE_ONCE(kswapds[node->id].failures, 0);
}

bool kswapd_gave_up(const struct node *node)
{
	return READ_ONCE(kswapds[node->id].failures) >= MAX_FAILURES;
}

bool kswapd_asleep(const struct node *node)
{
	return READ_ONCE(kswapds[node->id].asleep);
}

void kswapd_start(void)
{
	struct node *node;

	throttle_init();
	for_each_node(node) {
		struct kswapd *k = &kswapds[node->id];
		struct thread *t;

		if (!node->has_memory)
			continue;
		k->node = node;
		k->wanted.class = TOP_CLASS;
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
