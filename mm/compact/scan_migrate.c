// SPDX-License-Identifier: BSD-2-Clause
/*
 * scan_migrate.c - the scanner that climbs: pages that can move, from the zone's beginning on.
 *
 * Problem: a page leaves its LRU list under the zone's lru_lock, with interrupts off; to find the
 * pages, frame after frame is looked at. Idea: at most one pageblock and 32 pages a step. What
 * happens to the lock meanwhile is the document's second patch, switch compact_migrate_irq:
 *
 *   0  held for the whole step: up to 512 frames
 *   1  given back whenever the frame's number has all lower five bits set, whoever waits, and taken
 *      again; between the two the thread may be scheduled and looks for a fatal signal. The test is
 *      made before the frame is looked at, and it comes after interrupts were let in: with them
 *      off the tick could not have asked for anything
 *   2  ours: not held while nothing worth taking is met (frames are looked at without it, and again
 *      with it); from the first page on for 32 frames
 *
 *        0  [================ lock: 512 frames, or until 32 pages =================]
 *        1  [==31==][==32==][==32==][==32==] ...
 *        2  ....[==32==]..................[=5=]   . looked at with interrupts on
 *
 * Switch compact_lock_lazy, what became of the second patch when many CPUs compacted at once: at 1
 * the lock is taken only for a page worth it, and given back only if somebody waits for it or for
 * the CPU.
 *
 * What is worth taking: a page on an LRU list, of the zone, no compound page; asynchronously not
 * while it is being written. Free blocks are passed frame by frame as in the document's kernel (0
 * and 1), as a whole in ours; asynchronously only movable pageblocks are entered.
 * Locking: lru_lock, label compact_migrate, work: frames visited.
 * Source: [facts 4.2-4.4], [seed-002].
 */
#include "mm/compact/internal.h"
#include "mm/reclaim/congestion.h"
#include "mm/reclaim/lruvec.h"
#include "sched/sched.h"

DEFINE_SWITCH(
	compact_migrate_irq, 2, 0, 2, "002",
	"compaction's migration scanner: 0 one section of interrupts off a pageblock, 1 let in "
	"after every 32 frames (second patch), 2 lock taken only where pages are, 32 frames");
DEFINE_SWITCH(
	compact_lock_lazy, 0, 0, 1, "002",
	"with compact_migrate_irq=1: the lock is taken only for pages, and given back only when "
	"somebody waits (of 2012)");
static long allow_unevictable = 1;
TUNABLE("vm/compact_unevictable_allowed", allow_unevictable, 0, 1, NULL);

#define WAIT_NS (100 * NSEC_PER_MSEC)

/* One section under lru_lock. */
struct section {
	struct zone *zone;
	unsigned long flags;
	u32 work;
	bool held;
};

static void section_begin(struct section *s)
{
	spin_lock_irqsave_l(&s->zone->lru_lock, s->flags, "compact_migrate");
	s->held = true;
	s->work = 0;
}

static void section_end(struct section *s)
{
	irq_work(s->work);
	s->held = false;
	spin_unlock_irqrestore_l(&s->zone->lru_lock, s->flags, "compact_migrate");
}

/* More are off the lists than half of those on them: others are at it. */
static bool too_many_isolated(struct zone *zone)
{
	unsigned long off =
		zone_state_exact(zone, NR_ISOLATED_ANON) + zone_state_exact(zone, NR_ISOLATED_FILE);
	unsigned long on = zone_state(zone, NR_INACTIVE_ANON) + zone_state(zone, NR_ACTIVE_ANON) +
			   zone_state(zone, NR_INACTIVE_FILE) + zone_state(zone, NR_ACTIVE_FILE);

	return off > on / 2;
}

static bool wait_isolated(struct zone *zone)
{
	while (unlikely(too_many_isolated(zone))) {
		congestion_wait(CONGEST_ASYNC, WAIT_NS);
		if (fatal_signal_pending())
			return false;
	}
	return true;
}

/* => with or without the lock; then it is only likely */
static bool worth_taking(const struct compact_control *cc, const struct page *page)
{
	unsigned long f = READ_ONCE(page->flags);

	return (f & (PAGE_ZONE_BITS | BIT(PG_lru))) == (cc->zone->buddy.flags | BIT(PG_lru)) &&
	       !(f & (BIT(PG_head) | BIT(PG_tail))) && !((f & BIT(PG_writeback)) && !cc->sync) &&
	       !((f & BIT(PG_unevictable)) && !READ_ONCE(allow_unevictable));
}

/* => lru_lock */
static void take_locked(struct compact_control *cc, struct page *page)
{
	enum lru_list lru = page_lru_list(page);

	if (!page_get_unless_zero(page))
		return; /* being freed */
	lruvec_del_locked(page_lruvec_in(cc->zone, page), page, lru);
	page_clear(page, PG_lru);
	page_set(page, PG_isolated);
	list_add(&page->lru, &cc->migratepages);
	cc->nr_migratepages++;
	cc->isolated[!page_test(page, PG_swapbacked)]++;
}

/* How many frames the free block or compound page at pfn takes; read without a lock, so checked. */
static unsigned long frames_at(const struct page *page, unsigned long pfn, bool free_too)
{
	unsigned long f = READ_ONCE(page->flags);
	unsigned int order = 0;

	if (f & BIT(PG_head))
		order = (unsigned int)READ_ONCE(page[1].comp_order);
	else if (free_too && (f & BIT(PG_buddy)))
		order = buddy_order(page);
	return order < MAX_ORDER && !(pfn & ((1ul << order) - 1)) ? 1ul << order : 1;
}

static bool other_type(const struct compact_control *cc, unsigned long pfn)
{
	return !cc->sync && buddy_mt(&cc->zone->buddy, pfn) != MT_MOVABLE;
}

/*
 * The second patch: interrupts come in before each 32nd frame, and whenever somebody waits. false:
 * killed. => lock held before and after
 */
static bool breathe(struct section *s, unsigned long pfn)
{
	bool lazy = switch_value(compact_lock_lazy), dropped = false;

	if (!lazy && !((pfn + 1) % COMPACT_CLUSTER)) {
		section_end(s);
		dropped = true;
	}
	if (need_resched() || spin_is_contended(&s->zone->lru_lock)) {
		if (!dropped)
			section_end(s);
		cond_resched();
		section_begin(s);
		return !fatal_signal_pending();
	}
	if (dropped)
		section_begin(s);
	return true;
}

/* Values 0 and 1. => where the step ended */
static unsigned long step_of_document(struct compact_control *cc, unsigned long pfn,
				      unsigned long end)
{
	bool patched = switch_value(compact_migrate_irq) == 1;
	struct section s = { .zone = cc->zone };
	bool entered = false;

	if (patched)
		cond_resched();
	section_begin(&s);
	for (; pfn < end; pfn++) {
		struct page *page = pfn_to_page(pfn);

		if (patched && !breathe(&s, pfn))
			break;
		s.work++;
		cc->scanned_migrate++;
		if (page_test(page, PG_buddy))
			continue;
		if (!entered && other_type(cc, pfn)) {
			pfn = end;
			break;
		}
		entered = true;
		if (page_test(page, PG_lru) && page_test(page, PG_head)) {
			pfn += frames_at(page, pfn, false) - 1;
			continue;
		}
		if (!worth_taking(cc, page))
			continue;
		take_locked(cc, page);
		if (cc->nr_migratepages == COMPACT_CLUSTER) {
			pfn++;
			break;
		}
	}
	section_end(&s);
	return min(pfn, end);
}

#define STANDS_OUT (BIT(PG_lru) | BIT(PG_head) | BIT(PG_buddy))

/* The next frame of [pfn, end) that is not one like most: of a list, or of several at once. */
static unsigned long skip_plain(unsigned long pfn, unsigned long end)
{
	const struct page *page = pfn_to_page(pfn);

	for (; pfn < end; pfn++, page++)
		if (READ_ONCE(page->flags) & STANDS_OUT)
			break;
	return pfn;
}

/* Value 2, and 1 with compact_lock_lazy. => where the step ended */
static unsigned long step_lazy(struct compact_control *cc, unsigned long pfn, unsigned long end)
{
	bool bounded = switch_value(compact_migrate_irq) == 2;
	struct section s = { .zone = cc->zone };

	if (other_type(cc, pfn))
		return end;
	while (pfn < end && cc->nr_migratepages < COMPACT_CLUSTER) {
		struct page *page;

		if (s.held && bounded && s.work == COMPACT_CLUSTER)
			section_end(&s);
		else if (s.held && !bounded && !breathe(&s, pfn))
			break;
		if (!s.held) {
			unsigned long from = pfn, stop = min(end, pfn + COMPACT_CLUSTER);

			cond_resched();
			pfn = skip_plain(pfn, stop);
			cc->scanned_migrate += pfn - from;
			if (pfn == stop)
				continue;
		}
		page = pfn_to_page(pfn);
		cc->scanned_migrate++;
		if (!s.held && worth_taking(cc, page))
			section_begin(&s);
		if (s.held) {
			s.work++;
			if (worth_taking(cc, page))
				take_locked(cc, page);
		}
		pfn += frames_at(page, pfn, true);
	}
	if (s.held)
		section_end(&s);
	return min(pfn, end);
}

/* Nothing of it was given to anybody yet: what the counters of the zone must know. */
static void account(struct compact_control *cc)
{
	if (cc->isolated[0])
		mod_zone_state(cc->zone, NR_ISOLATED_ANON, cc->isolated[0]);
	if (cc->isolated[1])
		mod_zone_state(cc->zone, NR_ISOLATED_FILE, cc->isolated[1]);
	count_vm_events(COMPACTISOLATED, cc->nr_migratepages);
	cc->isolated[0] = cc->isolated[1] = 0;
}

u32 compact_isolate_migrate(struct compact_control *cc)
{
	unsigned long from = max(cc->migrate_pfn, cc->zone->start_pfn),
		      scanned = cc->scanned_migrate;
	unsigned long end = migrate_scan_end(from), to = min(end, cc->zone->buddy.end_pfn);
	u32 form = switch_value(compact_migrate_irq);
	bool whole = IS_ALIGNED(from, PAGEBLOCK_PAGES);

	/* The block with the free scanner in it, one without memory, or one that is barren. */
	if (end > cc->free_pfn || !pageblock_present(from) ||
	    compact_hint(cc, from, HINT_NOTHING_TO_MOVE)) {
		cc->migrate_pfn = end;
		return 0;
	}
	if (!wait_isolated(cc->zone))
		return 0;
	if (form == 2 || (form == 1 && switch_value(compact_lock_lazy)))
		cc->migrate_pfn = step_lazy(cc, from, to);
	else
		cc->migrate_pfn = step_of_document(cc, from, to);
	account(cc);
	if (cc->migrate_pfn == to) {
		cc->migrate_pfn = end;
		if (whole && !cc->nr_migratepages && !other_type(cc, from))
			compact_hint_set(cc, from, HINT_NOTHING_TO_MOVE);
	}
	trace_event(mm_compaction_isolate_migratepages, from, cc->migrate_pfn,
		    cc->scanned_migrate - scanned, cc->nr_migratepages);
	return cc->nr_migratepages;
}
