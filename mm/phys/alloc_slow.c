/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alloc_slow.c - an allocation that found every zone below its low watermark.
 *
 * Problem: memory is short. Whoever asks shall get a page if that is possible at all, wait only for
 * what can come, and in the end get an answer. Idea: a ladder; each step costs more than the one
 * before, and after each step that gained something the walk over the zones is tried again.
 *
 *   1. kswapd of every zone of the list is woken
 *   2. the walk again, down to the min mark (less for __GFP_HIGH, __GFP_ATOMIC, real-time threads)
 *   3. without marks: whoever frees memory (kswapd, a reclaimer, a dying victim)
 *      - who may not sleep, or is itself reclaiming, ends here -
 *   4. compaction, for blocks (pressure_ops->compact, when there is one)
 *   5. direct reclaim, then the walk; if it finds nothing, once more with all CPUs' lists emptied
 *   6. progress: a short wait if the zone is marked congested, then from step 2
 *   7. no progress: is something on its way to a disk? (worth_waiting); else the killer, after one
 *      last look above the high mark in case memory came meanwhile; then from step 1
 *
 * No hang: steps 2 to 6 gain pages at most MAX_FUTILE_ROUNDS times without the caller getting one
 * (others are quicker, or only objects of slabs came); each wait has a limit; a victim does not
 * wait for another victim. Only __GFP_NOFAIL stays for ever.
 * Locking: none is held; callers may hold any lock above mm, so step 5 only tries locks.
 * Source: [facts 1.5].
 */
#include "kernel/printk.h"
#include "mm/phys/alloc_latency.h"
#include "mm/phys/internal.h"
#include "mm/phys/page_alloc.h"
#include "sched/psi.h"
#include "sched/sched.h"

#define MAX_FUTILE_ROUNDS 16
#define RETRY_WAIT_NS (20 * NSEC_PER_MSEC)

static void wake_kswapds(const struct alloc_context *ac)
{
	struct zoneref *zr;

	if (!pressure_ops || !pressure_ops->wake_kswapd)
		return;
	for_each_zoneref(zr, ac->zl, ac->class)
		pressure_ops->wake_kswapd(zr->zone, ac->order, ac->class);
}

static u32 slow_flags(gfp_t gfp, u32 round)
{
	struct thread *me = current;
	u32 flags = 0;

	if (gfp & __GFP_HIGH)
		flags |= ALLOC_HIGH;
	if (gfp & __GFP_ATOMIC)
		flags |= ALLOC_HARDER;
	else if (me && me->rt_prio && !in_interrupt())
		flags |= ALLOC_HARDER;
	if (gfp & __GFP_NOMEMALLOC)
		return flags;
	/* Who writes dirty pages makes memory free: he may not fail for want of a little. */
	if (me && !in_interrupt() && (me->flags & TF_FLUSHER)) {
		flags |= ALLOC_HIGH | ALLOC_HARDER;
		if (round && !(me->flags & TF_NOIO))
			flags |= ALLOC_NO_WATERMARKS;
	}
	if (gfp & __GFP_MEMALLOC)
		flags |= ALLOC_NO_WATERMARKS;
	else if (me && !in_interrupt() && (me->flags & (TF_MEMALLOC | TF_OOM_VICTIM)))
		flags |= ALLOC_NO_WATERMARKS;
	return flags;
}

static noinline void warn_failed(const struct alloc_context *ac, gfp_t gfp)
{
	static ktime_t last;
	static u32 burst;
	ktime_t now = ktime_get();

	if (gfp & __GFP_NOWARN)
		return;
	if (now - last > 5 * NSEC_PER_SEC)
		burst = 0;
	if (burst++ >= 5)
		return;
	last = now;
	pr_warn("page_alloc: %s: no memory for order %u, gfp %#x\n",
		current ? current->comm : "boot", ac->order, gfp);
}

/* Steps 2 and 3. */
static struct page *walk_again(struct alloc_context *ac, u32 flags)
{
	struct page *page;

	ac->flags = flags & ~ALLOC_NO_WATERMARKS;
	page = zonelist_get_page(ac);
	if (page || !(flags & ALLOC_NO_WATERMARKS))
		return page;
	ac->flags = flags;
	return zonelist_get_page(ac);
}

static struct zone *first_zone(const struct alloc_context *ac)
{
	struct zoneref *zr;

	for_each_zoneref(zr, ac->zl, ac->class)
		if (!ac->nodemask || (ac->nodemask & BIT(zr->zone->node->id)))
			return zr->zone;
	return NULL;
}

/*
 * Step 4. Who compacts is no reclaimer's customer meanwhile (TF_MEMALLOC). A block that can be done
 * without (__GFP_NORETRY) is not worth waiting for pages.
 */
static struct page *try_compaction(struct alloc_context *ac, gfp_t gfp, int sync)
{
	struct page *page = NULL;
	bool worth;

	sync = sync && !(gfp & __GFP_NORETRY);
	if (!ac->order || !pressure_ops || !pressure_ops->compact)
		return NULL;
	__atomic_fetch_or(&current->flags, TF_MEMALLOC, __ATOMIC_RELAXED);
	worth = pressure_ops->compact(ac->zl, gfp, ac->order, ac->class, sync, &page);
	__atomic_fetch_and(&current->flags, ~(u32)TF_MEMALLOC, __ATOMIC_RELAXED);
	if (!worth)
		return NULL;
	if (page && ac->nodemask && !(ac->nodemask & BIT(page_node(page)))) {
		zone_put(page_zone(page), page, ac->order);
		page = NULL;
	}
	if (page)
		count_alloc(page_zone(page), first_zone(ac), ac->order);
	else
		page = zonelist_get_page(ac);
	pressure_ops->compacted(ac->zl, ac->order, ac->class, sync, page != NULL);
	cond_resched();
	return page;
}

/* Step 5. *progress: something came free, whoever has it now. */
static struct page *try_reclaim(struct alloc_context *ac, gfp_t gfp, bool *progress)
{
	struct thread *me = current;
	struct page *page;

	*progress = false;
	if (!pressure_ops || !pressure_ops->direct_reclaim)
		return NULL;
	__atomic_fetch_or(&me->flags, TF_MEMALLOC, __ATOMIC_RELAXED);
	*progress = pressure_ops->direct_reclaim(ac->zl, gfp, ac->order, ac->class);
	__atomic_fetch_and(&me->flags, ~(u32)TF_MEMALLOC, __ATOMIC_RELAXED);
	cond_resched();
	if (!*progress)
		return NULL;
	page = zonelist_get_page(ac);
	if (page)
		return page;
	pcp_drain_try(); /* what came free may lie on lists, where it does not merge either */
	return zonelist_get_page(ac);
}

static bool may_kill(const struct alloc_context *ac, gfp_t gfp)
{
	/*
	 * Nobody should die for a large block, for one that somebody else will free, or for a zone
	 * that programs hardly use.
	 */
	return pressure_ops && pressure_ops->oom && (gfp & __GFP_FS) &&
	       !(gfp & (__GFP_NORETRY | __GFP_THISNODE | __GFP_RETRY_MAYFAIL)) &&
	       ac->order <= COSTLY_ORDER && ac->class >= ZONE_NORMAL;
}

/* Step 7. *again: from step 1. */
static struct page *last_resort(struct alloc_context *ac, gfp_t gfp, bool *again)
{
	struct page *page;

	*again = false;
	pcp_drain_all();
	page = zonelist_get_page(ac);
	if (page)
		return page;
	if (pressure_ops && pressure_ops->worth_waiting && ac->order <= COSTLY_ORDER &&
	    !(current->flags & TF_OOM_VICTIM) && pressure_ops->worth_waiting(gfp)) {
		*again = true;
		return NULL;
	}
	if (!may_kill(ac, gfp))
		return NULL;
	/* Somebody may have died just now: then there is much, and nobody else has to. */
	ac->mark = WMARK_HIGH;
	ac->flags = 0;
	page = zonelist_get_page(ac);
	ac->mark = WMARK_MIN;
	if (!page && pressure_ops->oom(gfp, ac->order)) {
		sleep_ns(NSEC_PER_MSEC); /* let the victim leave */
		*again = true;
	}
	return page;
}

/* A victim that got nothing out of the reserves either gives up; it is to die, not to wait. */
static bool dying(gfp_t gfp, u32 round)
{
	return (current->flags & TF_OOM_VICTIM) && round > 1 && !(gfp & __GFP_NOFAIL);
}

/*
 * The ladder. *before: what psi_memstall_enter() said, if *stalled: it came to the steps that wait.
 */
static struct page *climb(struct alloc_context *ac, gfp_t gfp, bool *stalled, bool *before)
{
	bool can_sleep = (gfp & __GFP_DIRECT_RECLAIM) && current && may_sleep() &&
			 !(current->flags & TF_MEMALLOC);
	bool progress, again = true;
	struct page *page;

	ac->mark = WMARK_MIN;
	for (u32 round = 0;; round++) {
		if (again && (gfp & __GFP_KSWAPD_RECLAIM))
			wake_kswapds(ac);
		page = walk_again(ac, slow_flags(gfp, round));
		if (page)
			return page;
		if (!can_sleep || dying(gfp, round))
			break;
		if (!*stalled) {
			*stalled = true;
			*before = psi_memstall_enter();
		}
		page = try_compaction(ac, gfp, round > 0);
		if (!page)
			page = try_reclaim(ac, gfp, &progress);
		if (page)
			return page;
		again = false;
		if (gfp & __GFP_NORETRY)
			break;
		if (progress && round < MAX_FUTILE_ROUNDS) {
			if (pressure_ops->wait)
				pressure_ops->wait(ac->zl, ac->class, RETRY_WAIT_NS);
			continue;
		}
		if ((current->flags & TF_FLUSHER) && !round)
			continue; /* once more, with the reserves */
		page = last_resort(ac, gfp, &again);
		if (page)
			return page;
		if (again) {
			round = 0;
			continue;
		}
		if (!(gfp & __GFP_NOFAIL))
			break;
		sleep_ns(RETRY_WAIT_NS);
	}
	if (can_sleep && (page = try_compaction(ac, gfp, 1)))
		return page;
	warn_failed(ac, gfp);
	return NULL;
}

struct page *alloc_slow(struct alloc_context *ac, gfp_t gfp)
{
	ktime_t start = ktime_get();
	bool stalled = false, before = false;
	struct page *page = climb(ac, gfp, &stalled, &before);

	if (stalled)
		psi_memstall_leave(before);
	alloc_latency_note(ac->order,
			   !page     ? ALLOC_FAILED
			   : stalled ? ALLOC_RECLAIMED
				     : ALLOC_WALKED,
			   (u64)(ktime_get() - start));
	return page;
}
