// SPDX-License-Identifier: BSD-2-Clause
/*
 * throttle.c - programs wait while the reserves of the low zones are going.
 *
 * Problem: a direct reclaimer may use the reserves, and so do those who write pages out. A crowd of
 * programs that reclaim for themselves can eat what the writers need. Idea: when no more than half
 * of the min marks of DMA..Normal of its node is free, a program is parked before it reclaims, and
 * kswapd works alone until there is more.
 *
 * Who is parked (pgscan_direct_throttle counts each): threads of programs. Not kernel threads,
 * which others may wait for, and not who is dying. Whoever may not call file systems may hold a
 * lock of one that kswapd wants, so he waits a second at most. Who wakes: kswapd after each
 * priority when there is enough, and in any case before it sleeps or when it has given up; a fatal
 * signal. Who is parked wakes kswapd when it sleeps. PATIENCE is for what nobody thought of: then
 * he reclaims. Source: [facts 1.8].
 */
#include "mm/reclaim/throttle.h"

#include "mm/reclaim/kswapd.h"
#include "mm/reclaim/targets.h"
#include "sched/wait.h"

#define NOFS_WAIT_NS NSEC_PER_SEC
#define PATIENCE_NS (10 * NSEC_PER_SEC)

static struct wait_queue parked[MAX_NODES];

static bool enough_free(const struct node *node)
{
	unsigned long free = 0, marks = 0;

	for (u32 i = 0; i < node->nr_zones; i++) {
		struct zone *zone = (struct zone *)&node->zones[i];

		if (zone->type > ZONE_NORMAL || !zone->managed_pages)
			continue;
		marks += zone->watermark[WMARK_MIN];
		free += zone_state(zone, NR_FREE_PAGES);
	}
	return !reserves_low(free, marks);
}

static bool may_go_on(struct node *node)
{
	if (enough_free(node) || kswapd_gave_up(node))
		return true;
	kswapd_kick(node);
	return false;
}

bool throttle_direct(struct node *node, gfp_t gfp)
{
	ktime_t deadline;

	if ((current->flags & TF_KTHREAD) || !node->kswapd || likely(enough_free(node)) ||
	    fatal_signal_pending())
		return false;
	count_vm_event(PGSCAN_DIRECT_THROTTLE);
	if (!(gfp & __GFP_FS)) {
		deadline = ktime_get() + NOFS_WAIT_NS;
		wait_event_interruptible_until(&parked[node->id], may_go_on(node), deadline);
		return false;
	}
	deadline = ktime_get() + PATIENCE_NS;
	__wait_event(&parked[node->id], may_go_on(node), THREAD_KILLABLE, deadline,
		     fatal_signal_pending());
	return fatal_signal_pending();
}

void throttle_wake(struct node *node, int anyway)
{
	if (wait_queue_active(&parked[node->id]) && (anyway || enough_free(node)))
		wake_up_all(&parked[node->id]);
}

void throttle_init(void)
{
	for (int i = 0; i < MAX_NODES; i++)
		wait_queue_init(&parked[i]);
}
