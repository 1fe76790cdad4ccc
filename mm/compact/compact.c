// SPDX-License-Identifier: BSD-2-Clause
/*
 * compact.c - free memory in pieces becomes free memory in blocks.
 *
 * Problem: somebody needs 2^n frames in a row; there is free memory enough, but one page here and
 * one there stands in the way. Idea: two scanners. One climbs from the zone's beginning and takes
 * pages that can move, 32 at a time; the other descends from its end and takes free frames; the
 * pages go to the frames. What is left below is free in a row.
 *
 *     start                                                        end
 *     | p . p p . . p . p . . p . . p . p . . p . . . p . . . p . . |
 *       migrate_pfn -->                          <-- free_pfn
 *     | . . . . . . . . . . . p . . p . p . p p p p . p p p . p p p |   the scanners met: complete
 *
 * A run ends early when a block of the wanted type is there and the zone stands above its low mark
 * with it. Then it may be gone before the allocation comes to it; so who compacts says so in
 * zone->capture, and the free that completes a block hands it over on the spot.
 *
 * Entry: an allocation's slow path (first asynchronously: no page is waited for; after reclaim
 * synchronously), kcompactd, /proc/sys/vm/compact_memory. An allocation that was not served puts
 * later attempts off (fragindex.c).
 * Locking: no lock from one step to the next. Page and rmap locks are only tried unless the caller
 * holds none (wait_locks). zone->capture: zone->lock.
 * Source: [facts 4.2], [seed-002].
 */
#include "mm/compact/migrate.h"

#include "mm/compact/internal.h"
#include "mm/reclaim/events.h"
#include "mm/reclaim/lruvec.h"
#include "mm/reclaim/scan.h"
#include "sched/sched.h"

static long extfrag_threshold = 500;
TUNABLE("vm/extfrag_threshold", extfrag_threshold, 0, 1000, NULL);

unsigned int defer_order(unsigned int order)
{
	return switch_value(compact_hints) ? order : MAX_ORDER;
}

enum compact_result compaction_suitable(struct zone *zone, int order)
{
	struct compact_input in = { .order = order,
				    .free = zone_state(zone, NR_FREE_PAGES),
				    .low = zone->watermark[WMARK_LOW],
				    .area = zone->buddy.area,
				    .threshold = (int)READ_ONCE(extfrag_threshold) };
	enum compact_result r = compact_suitable(&in);

	trace_event(mm_compaction_suitable, (u64)zone->node->id, (u64)zone->name, (u64)(s64)order,
		    (u64)compact_result_name(r));
	return r;
}

bool compaction_ready(struct zone *zone, unsigned int order)
{
	unsigned long mark = zone->watermark[WMARK_HIGH] + (2ul << order);

	return order > COSTLY_ORDER && !compact_would_defer(zone, defer_order(order)) &&
	       zone_watermark_ok(zone, 0, mark, ZONE_DMA, 0) &&
	       compaction_suitable(zone, (int)order) != COMPACT_SKIPPED;
}

/* ---- where pages move to ---- */

/* The first frame of the first free block; its halves stay on the list. */
static struct page *target(struct page *old, struct migrate_control *mc)
{
	struct compact_control *cc = mc->arg;
	unsigned int order;
	struct page *page;

	if (list_empty(&cc->freepages))
		compact_isolate_free(cc);
	if (list_empty(&cc->freepages))
		return NULL;
	page = list_first_entry(&cc->freepages, struct page, lru);
	list_del(&page->lru);
	for (order = (unsigned int)page->private; order > 0;) {
		struct page *half = page + (1ul << --order);

		half->private = order;
		list_add(&half->lru, &cc->freepages);
	}
	cc->nr_freepages--;
	cc->nr_used++;
	page->private = 0;
	page->mapping = NULL;
	atomic_set(&page->refs, 1);
	return page;
}

static void target_unused(struct page *page, struct migrate_control *mc)
{
	struct compact_control *cc = mc->arg;

	atomic_set(&page->refs, 0);
	page->private = 0;
	list_add(&page->lru, &cc->freepages);
	cc->nr_freepages++;
	cc->nr_used--;
}

/* ---- one run ---- */

static enum compact_result finished(struct compact_control *cc)
{
	struct zone *zone = cc->zone;
	unsigned int order = (unsigned int)cc->order;

	if (cc->capture.page || fatal_signal_pending())
		return COMPACT_PARTIAL;
	if (cc->free_pfn <= cc->migrate_pfn)
		return COMPACT_COMPLETE;
	if (cc->order < 0)
		return COMPACT_CONTINUE;
	if (!zone_watermark_ok(zone, order, zone->watermark[WMARK_LOW] + (1ul << order), ZONE_DMA,
			       0))
		return COMPACT_CONTINUE;
	return compact_block_there(zone->buddy.area, order, cc->mt) ? COMPACT_PARTIAL
								    : COMPACT_CONTINUE;
}

static void move_batch(struct compact_control *cc)
{
	struct migrate_control mc = { .mode = cc->sync ? MIGRATE_SYNC : MIGRATE_ASYNC,
				      .wait_rmap = cc->wait_locks,
				      .get_new = target,
				      .put_new = target_unused,
				      .arg = cc };

	migrate_pages(&cc->migratepages, &mc);
	count_vm_event(COMPACTBLOCKS);
	count_vm_events(COMPACTPAGES, mc.nr_succeeded);
	count_vm_events(COMPACTPAGEFAILED, mc.nr_failed);
	trace_event(mm_compaction_migratepages, mc.nr_succeeded, mc.nr_failed);
	migrate_putback(&cc->migratepages);
	cc->nr_migratepages = 0;
	if (mc.nr_succeeded)
		pcp_drain_local(); /* on these lists nothing merges */
}

static enum compact_result scan(struct compact_control *cc)
{
	enum compact_result r;

	while ((r = finished(cc)) == COMPACT_CONTINUE) {
		cond_resched();
		if (compact_isolate_migrate(cc))
			move_batch(cc);
	}
	trace_event(mm_compaction_finished, (u64)cc->zone->node->id, (u64)cc->zone->name,
		    (u64)(s64)cc->order, (u64)compact_result_name(r));
	return r;
}

static void capture_set(struct compact_control *cc, struct capture *from, struct capture *to)
{
	unsigned long flags;

	spin_lock_irqsave_l(&cc->zone->lock, flags, "compact_capture");
	if (cc->zone->capture == from)
		cc->zone->capture = to;
	spin_unlock_irqrestore_l(&cc->zone->lock, flags, "compact_capture");
}

static void begin(struct compact_control *cc)
{
	struct zone *zone = cc->zone;

	list_init(&cc->migratepages);
	list_init(&cc->freepages);
	compact_hints_start(cc);
	if (cc->wait_locks)
		lru_drain_all();
	else
		lru_drain_local();
	cc->capture = (struct capture){ .order = (unsigned int)cc->order, .mt = cc->mt };
	if (cc->capturing)
		capture_set(cc, NULL, &cc->capture);
	trace_event(mm_compaction_begin, zone->start_pfn, cc->migrate_pfn, cc->free_pfn,
		    zone->start_pfn + zone->spanned_pages, (u64)(cc->sync ? "sync" : "async"));
}

static void end(struct compact_control *cc, enum compact_result r)
{
	struct zone *zone = cc->zone;

	zone_free_list(zone, &cc->freepages);
	if (cc->capturing)
		capture_set(cc, &cc->capture, NULL);
	compact_hints_end(cc, r);
	count_vm_events(COMPACTMIGRATE_SCANNED, cc->scanned_migrate);
	count_vm_events(COMPACTFREE_SCANNED, cc->scanned_free);
	if (cc->daemon) {
		count_vm_events(KCOMPACTD_MIGRATE_SCANNED, cc->scanned_migrate);
		count_vm_events(KCOMPACTD_FREE_SCANNED, cc->scanned_free);
	}
	count_vm_event_zone(PGALLOC, zone->type, cc->nr_used);
	trace_event(mm_compaction_end, zone->start_pfn, cc->migrate_pfn, cc->free_pfn,
		    zone->start_pfn + zone->spanned_pages, (u64)(cc->sync ? "sync" : "async"),
		    (u64)compact_result_name(r));
}

enum compact_result compact_zone(struct compact_control *cc)
{
	enum compact_result r = compaction_suitable(cc->zone, cc->order);
	bool midway;

	if (r != COMPACT_CONTINUE)
		return r;
	begin(cc);
	midway = cc->migrate_pfn != cc->zone->start_pfn;
	r = scan(cc);
	if (r == COMPACT_COMPLETE && midway) {
		/* It began where the last run stopped: what lies before that comes now. */
		zone_free_list(cc->zone, &cc->freepages);
		cc->nr_freepages = 0;
		compact_hints_end(cc, r);
		compact_hints_start(cc);
		r = scan(cc);
	}
	end(cc, r);
	if (cc->capture.page)
		r = COMPACT_PARTIAL;
	return r;
}

/* ---- for an allocation ---- */

static struct zone *preferred_zone(struct zonelist *zl, enum zone_type class)
{
	struct zoneref *zr;

	for_each_zoneref(zr, zl, class)
		return zr->zone;
	return NULL;
}

static void trace_defer(struct trace_event_def *def, const struct zone *zone, unsigned int order)
{
	u64 args[14] = { (u64)zone->node->id,
			 (u64)zone->name,
			 order,
			 zone->compact_order_failed,
			 zone->compact_considered,
			 1ul << zone->compact_defer_shift };

	if (unlikely(def->enabled))
		event_record(def, args);
}

bool compact_try(struct zonelist *zl, gfp_t gfp, unsigned int order, enum zone_type class, int sync,
		 struct page **page)
{
	struct zone *preferred = preferred_zone(zl, class);
	enum compact_result best = COMPACT_SKIPPED;
	struct zoneref *zr;

	/* It waits for pages that go to a disk: not who sends them, or holds a file system. */
	if (!order || !preferred ||
	    (reclaim_gfp(gfp) & (__GFP_IO | __GFP_FS)) != (__GFP_IO | __GFP_FS))
		return false;
	if (compact_deferred(preferred, defer_order(order))) {
		trace_defer(&event_mm_compaction_deferred, preferred, order);
		return false;
	}
	count_vm_event(COMPACTSTALL);
	trace_event(mm_compaction_try_to_compact_pages, order, (u64)gfp_text(gfp), (u64)sync);
	for_each_zoneref(zr, zl, class) {
		struct compact_control cc = { .zone = zr->zone,
					      .order = (int)order,
					      .mt = gfp_migratetype(gfp),
					      .sync = sync,
					      .capturing = true };

		best = max(best, compact_zone(&cc));
		*page = cc.capture.page;
		if (*page || fatal_signal_pending() ||
		    zone_watermark_ok(zr->zone, order, zr->zone->watermark[WMARK_LOW], ZONE_DMA, 0))
			break;
	}
	if (best == COMPACT_SKIPPED)
		return false;
	pcp_drain_local();
	return true;
}

void compact_tried(struct zonelist *zl, unsigned int order, enum zone_type class, int sync,
		   bool served)
{
	struct zone *zone = preferred_zone(zl, class);

	if (served) {
		count_vm_event(COMPACTSUCCESS);
		compact_succeeded(zone, defer_order(order));
		trace_defer(&event_mm_compaction_defer_reset, zone, order);
		return;
	}
	count_vm_event(COMPACTFAIL);
	/* What an asynchronous run leaves out the synchronous one may do: ours lets it. */
	if (sync || !switch_value(compact_hints)) {
		compact_defer(zone, defer_order(order));
		trace_defer(&event_mm_compaction_defer_compaction, zone, order);
	}
}

/* ---- by hand ---- */

enum compact_result compact_whole_zone(struct zone *zone)
{
	struct compact_control cc = { .zone = zone,
				      .order = -1,
				      .mt = MT_MOVABLE,
				      .sync = true,
				      .wait_locks = true,
				      .ignore_hints = true };

	return compact_zone(&cc);
}

void compact_node(struct node *node)
{
	for (u32 i = 0; i < node->nr_zones; i++)
		if (node->zones[i].managed_pages)
			compact_whole_zone(&node->zones[i]);
	pcp_drain_all();
}

void compact_init(void)
{
	compact_hints_init();
	kcompactd_start();
}
