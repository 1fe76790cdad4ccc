// SPDX-License-Identifier: BSD-2-Clause
/*
 * kcompactd.c - the thread per node that moves pages together ahead of time.
 *
 * Problem: kswapd frees memory for a block, but single pages; then the allocation itself has to
 * compact, and waits. Idea: kswapd, once it has done its part for a block, wakes this thread. It
 * compacts synchronously the zones up to the class asked for until there is such a block, and
 * sleeps without a time limit: when nothing is asked for it costs nothing. What fails is put off
 * with the same account as the allocations' own attempts.
 *
 * Switch kcompactd: 0 it is not woken, as before 4.6 (2.6.38's kswapd compacted by itself, up to a
 * stricter mark; that was taken out in 2.6.39 and is not repeated).
 * Locking: (a) the request is written without one; a lost change costs one run.
 * Source: [facts 4.2].
 */
#include "kernel/printk.h"
#include "mm/compact/internal.h"
#include "sched/kthread.h"
#include "sched/sched.h"

DEFINE_SWITCH(kcompactd, 1, 0, 1, "002",
	      "a thread per node compacts after kswapd: 0 no (before 4.6), 1 yes");

struct kcompactd {
	struct node *node;
	struct wait_queue wait;
	u32 order;	      /* (a) 0: nothing is asked for */
	enum zone_type class; /* (a) */
};
static struct kcompactd kcompactds[MAX_NODES];

static bool worth(struct zone *zone, unsigned int order, enum zone_type class)
{
	return zone->managed_pages && zone->type <= class &&
	       compaction_suitable(zone, (int)order) == COMPACT_CONTINUE;
}

static void compact_for(struct zone *zone, unsigned int order)
{
	struct compact_control cc = { .zone = zone,
				      .order = (int)order,
				      .mt = MT_MOVABLE,
				      .sync = true,
				      .wait_locks = true,
				      .daemon = true };
	enum compact_result r = compact_zone(&cc);

	if (r == COMPACT_PARTIAL) {
		compact_succeeded(zone, defer_order(order));
	} else if (r == COMPACT_COMPLETE) {
		pcp_drain_try(); /* perhaps the missing page lies there */
		compact_defer(zone, defer_order(order));
	}
}

static int kcompactd(void *arg)
{
	struct kcompactd *k = arg;

	for (;;) {
		enum zone_type class;
		u32 order;

		trace_event(mm_compaction_kcompactd_sleep, (u64)k->node->id);
		if (wait_event_interruptible(&k->wait, READ_ONCE(k->order)))
			continue;
		order = xchg(&k->order, 0u);
		class = READ_ONCE(k->class);
		trace_event(mm_compaction_kcompactd_wake, (u64)k->node->id, order,
			    (u64)zone_type_name[class]);
		for (u32 i = 0; i < k->node->nr_zones; i++) {
			struct zone *zone = &k->node->zones[i];

			if (worth(zone, order, class) &&
			    !compact_deferred(zone, defer_order(order)))
				compact_for(zone, order);
		}
	}
	return 0;
}

void kcompactd_wake(struct node *node, unsigned int order, enum zone_type class)
{
	struct kcompactd *k = &kcompactds[node->id];
	bool any = false;

	if (!order || !k->node || !switch_value(kcompactd))
		return;
	for (u32 i = 0; i < node->nr_zones && !any; i++)
		any = worth(&node->zones[i], order, class) &&
		      !compact_would_defer(&node->zones[i], defer_order(order));
	if (!any)
		return;
	WRITE_ONCE(k->class, class);
	if (order > READ_ONCE(k->order))
		WRITE_ONCE(k->order, order);
	if (!wait_queue_active(&k->wait))
		return;
	count_vm_event(KCOMPACTD_WAKE);
	trace_event(mm_compaction_wakeup_kcompactd, (u64)node->id, order,
		    (u64)zone_type_name[class]);
	wake_up(&k->wait);
}

void kcompactd_start(void)
{
	struct node *node;

	for_each_node(node) {
		struct kcompactd *k = &kcompactds[node->id];
		struct thread *t;

		if (!node->has_memory)
			continue;
		wait_queue_init(&k->wait);
		t = kthread_create(kcompactd, k, node->id, "kcompactd%d", node->id);
		if (!t) {
			pr_warn("kcompactd: no memory for the thread of node %d\n", node->id);
			continue;
		}
		if (node->has_cpu)
			sched_set_affinity(t, node->cpus);
		k->node = node;
		thread_start(t);
	}
}
