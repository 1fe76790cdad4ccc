// SPDX-License-Identifier: BSD-2-Clause
/*
 * scan.c - one zone gives pages back.
 *
 * Problem: find pages nobody will miss without looking at all of them, and without throwing out
 * what is read once with what is used. Idea: two lists per type. Pages enter the inactive one at
 * its head; batches of 32 are taken from its tail and each page gets a verdict:
 *
 *   being written                     stays; comes to the tail when that is over (PG_reclaim)
 *   used through a mapping            the first time: one more trip (so a mapped page that was
 *                                     touched once costs two scans); the second time, or by two
 *                                     mappings, or if it is code: to the active list
 *   of a program or tmpfs             gets a slot and is written to it (swapout.c)
 *   dirty                             stays; comes to the tail when the flusher has written it.
 *                                     kswapd, once it has become urgent (priority below 10), writes
 *                                     it itself
 *   else                              leaves the page cache and is free
 *
 * The active list is touched only while the inactive one is the shorter: its tail moves over.
 *
 * Waiting: who finds that a good part of a batch is being written sleeps if a disk is congested and
 * the zone is marked so; and everybody waits while far more is being written than may be dirty.
 * Pages off the lists are counted (nr_isolated_*): who finds more of them than on the list waits,
 * else many reclaimers would take everything and declare the zone empty.
 * Locking: lru_lock, IRQs off, at most 32 pages a time. The verdict holds the page lock and a
 * reference; page lock and i_mmap_lock are only tried, whoever needs memory may hold them.
 * Source: [facts 1.7, 6], [seed-003].
 */
#include "mm/reclaim/scan.h"

#include "mm/cache/writeback.h"
#include "mm/reclaim/congestion.h"
#include "mm/reclaim/events.h"
#include "mm/reclaim/lumpy.h"
#include "mm/reclaim/swapout.h"
#include "mm/swap/swap.h"
#include "mm/vm/aspace.h"
#include "mm/vm/rmap.h"
#include "sched/sched.h"

DEFINE_SWITCH(
	scan_rules, SCAN_RULES_3_6, 0, NR_SCAN_RULES - 1, "003",
	"how many pages reclaim looks at: 0 as in 3.0-3.2 (kswapd at least 32), 1 as in 3.6, 2 "
	"as in 3.8 (files alone while many are used once; fewer reclaimers at a time)");
DEFINE_SWITCH(mapped_stream, 0, 0, 1, "003",
	      "mapped pages touched once: 0 cost two looks, 1 go at the first while eight batches "
	      "in a row were four fifths such pages (fifth patch of the series)");
static long swappiness = 60;
TUNABLE("vm/swappiness", swappiness, 0, 100, NULL);
long laptop_mode;
TUNABLE("vm/laptop_mode", laptop_mode, 0, S32_MAX, NULL);

#define WRITEBACK_STEPS 100 /* ten seconds: the disk does not write at all */

/* control-struct of one batch */
struct batch {
	struct page *page[SWAP_CLUSTER_MAX];
	u32 taken, kept;
	u32 pages; /* frames of those taken: a huge page has many */
	u32 dirty, congested, writeback;
	u32 freed, activated;
	u32 immediate, ref_keep, unmap_fail; /* for the event alone */
};

gfp_t reclaim_gfp(gfp_t gfp)
{
	if (current->flags & (TF_NOIO | TF_FLUSHER))
		return gfp & ~(__GFP_IO | __GFP_FS);
	return current->flags & TF_NOFS ? gfp & ~__GFP_FS : gfp;
}

unsigned long zone_reclaimable_pages(struct zone *zone)
{
	unsigned long n = zone_state(zone, NR_ACTIVE_FILE) + zone_state(zone, NR_INACTIVE_FILE);

	if (nr_swap_pages())
		n += zone_state(zone, NR_ACTIVE_ANON) + zone_state(zone, NR_INACTIVE_ANON);
	return n;
}

/* ---- one page ---- */

enum verdict { KEEP, ACTIVATE, FREED, WRITE };

enum reference { UNUSED, UNUSED_IF_CLEAN, NOT_KNOWN, USED_ONCE, USED };

static enum reference look_for_use(struct page *page)
{
	unsigned long vm_flags;
	int entries = page_referenced_ptes(page, &vm_flags);
	bool before;

	if (entries < 0)
		return NOT_KNOWN;
	if (page_test(page, PG_workingset)) { /* read twice */
		page_clear(page, PG_workingset);
		page_clear(page, PG_referenced);
		return USED;
	}
	before = page_test_and_clear(page, PG_referenced);
	if (entries) {
		if (page_test(page, PG_swapbacked))
			return USED;
		page_set(page, PG_referenced);
		return before || entries > 1 || (vm_flags & VM_EXEC) ? USED : USED_ONCE;
	}
	return before && !page_test(page, PG_swapbacked) ? UNUSED_IF_CLEAN : UNUSED;
}

/* Its home is swap. => as judge */
static enum verdict judge_swapbacked(struct page *page, struct scan_control *sc, struct batch *b)
{
	bool mapped = page_mapped(page);
	enum swapout out = swapout_prepare(page, sc->gfp);

	b->unmap_fail += mapped && page_mapped(page);
	if (out == SWAPOUT_CLEAN)
		return swapcache_drop(page) ? FREED : KEEP;
	if (out != SWAPOUT_DIRTY)
		return out == SWAPOUT_ACTIVATE ? ACTIVATE : KEEP;
	b->dirty++;
	return sc->may_write ? WRITE : KEEP;
}

/* => page locked, and still so with every verdict */
static enum verdict judge(struct page *page, struct scan_control *sc, struct batch *b)
{
	enum reference use;

	if (!page->mapping && !page_test(page, PG_swapcache))
		return KEEP; /* truncated: the last reference frees it */
	if (page_test(page, PG_writeback)) {
		if (!sc->sync) {
			page_set(page, PG_reclaim);
			b->writeback++;
			return KEEP;
		}
		page_wait_writeback(page);
	}
	use = look_for_use(page);
	b->ref_keep += use == USED_ONCE;
	if ((sc->lumpy && use != NOT_KNOWN) || (sc->stream && use == USED_ONCE))
		use = UNUSED;
	if (use == USED)
		return ACTIVATE;
	if (use == USED_ONCE || use == NOT_KNOWN)
		return KEEP;
	if (page_test(page, PG_swapbacked))
		return judge_swapbacked(page, sc, b);
	if (page_mapped(page) && !(mapping_unmap_page_hook && mapping_unmap_page_hook(page))) {
		page_set(page, PG_referenced); /* used just now, or its mappings cannot be had */
		b->unmap_fail++;
		return KEEP;
	}
	if (!page_test(page, PG_dirty))
		return reclaim_ops->drop_page(page) ? FREED : KEEP;
	b->dirty++;
	if (!sc->kswapd || sc->priority >= DEF_PRIORITY - 2) {
		mod_zone_state(page_zone(page), NR_VMSCAN_IMMEDIATE, 1);
		b->immediate++;
		page_set(page, PG_reclaim);
		return KEEP;
	}
	return use == UNUSED_IF_CLEAN || !(sc->gfp & __GFP_FS) || !sc->may_write ? KEEP : WRITE;
}

/* May this thread add to the device's work? Who frees memory for all, and the flushers, may. */
static bool device_takes(struct bdi *bdi)
{
	return (current->flags & (TF_KSWAPD | TF_FLUSHER)) || !bdi ||
	       !bdi_is_congested(bdi, CONGEST_ASYNC);
}

/* The same for a page of the swap cache. => page locked; unlocks */
static enum verdict pageout_swap(struct page *page, struct batch *b)
{
	if (atomic_read(&page->refs) == 2 && device_takes(swap_bdi(page_swp(page))))
		return swapout_write(page) ? FREED : KEEP;
	b->congested++;
	page_unlock(page);
	return KEEP;
}

/*
 * Writes a dirty page. Its mapping may be gone as soon as the page is unlocked and written, so it
 * is not looked at afterwards; an error was told to it by write_page. => page locked; unlocks
 */
static enum verdict pageout(struct page *page, struct batch *b)
{
	struct writeback_control wbc = { .nr_to_write = SWAP_CLUSTER_MAX,
					 .range_end = ~0ull,
					 .reason = WB_REASON_VMSCAN,
					 .for_reclaim = 1 };
	struct mapping *m = page->mapping;
	enum verdict v = KEEP;

	if (!m->ops->write_page) {
		page_unlock(page);
		return ACTIVATE;
	}
	if (atomic_read(&page->refs) != 2 || !device_takes(m->bdi)) {
		b->congested++;
		page_unlock(page);
		return KEEP;
	}
	if (page_clear_dirty_for_io(page)) {
		page_set(page, PG_reclaim);
		m->ops->write_page(m, page, &wbc);
		if (!page_test(page, PG_writeback))
			page_clear(page, PG_reclaim);
		mod_zone_state(page_zone(page), NR_VMSCAN_WRITE, 1);
		vmscan_event(writepage, page);
		if (page_test(page, PG_writeback) || page_test(page, PG_dirty) ||
		    !page_trylock(page))
			return KEEP;
	}
	if (!page_test(page, PG_writeback) && reclaim_ops->drop_page(page))
		v = FREED; /* a memory disk has written it already */
	page_unlock(page);
	return v;
}

static enum verdict examine(struct page *page, struct scan_control *sc, struct batch *b)
{
	enum verdict v;

	if (!page_trylock(page))
		return KEEP;
	sc->nr_scanned += page_mapped(page) ? 2 : 1;
	v = judge(page, sc, b);
	if (v == WRITE)
		return page_test(page, PG_swapcache) ? pageout_swap(page, b) : pageout(page, b);
	page_unlock(page);
	return v;
}

/* ---- one batch ---- */

/* Up to nr pages from the cold end, each with a reference. => lru_lock; how many were looked at */
static __always_inline u32 isolate_locked(struct zone *zone, enum lru_list lru, u32 nr,
					  struct batch *b)
{
	struct list_head *list = &zone->lruvec.lists[lru];
	u32 seen = 0;

	for (; seen < nr && b->pages < nr && !list_empty(list); seen++) {
		struct page *page = list_last_entry(list, struct page, lru);

		if (!page_get_unless_zero(page)) { /* being freed: out of the way */
			list_move(&page->lru, list);
			continue;
		}
		lruvec_del_locked(&zone->lruvec, page, lru);
		page_clear(page, PG_lru);
		b->pages += page_nr(page);
		b->page[b->taken++] = page;
	}
	zone->lruvec.recent_scanned[lru >= LRU_INACTIVE_FILE] += b->pages;
	irq_work(seen);
	return seen;
}

static void count_isolated(struct zone *zone, bool file, long n)
{
	mod_zone_state(zone, file ? NR_ISOLATED_FILE : NR_ISOLATED_ANON, n);
}

static void count_scanned_locked(struct zone *zone, struct scan_control *sc, u32 seen)
{
	zone->pages_scanned += seen;
	if (sc->kswapd)
		count_vm_event_zone(PGSCAN_KSWAPD, zone->type, seen);
	else
		count_vm_event_zone(PGSCAN_DIRECT, zone->type, seen);
}

static void isolate_inactive(struct zone *zone, enum lru_list lru, u32 nr, struct scan_control *sc,
			     struct batch *b)
{
	unsigned long flags;
	u32 seen;

	lru_drain_local();
	spin_lock_irqsave_l(&zone->lru_lock, flags, "shrink_inactive");
	seen = isolate_locked(zone, lru, nr, b);
	count_scanned_locked(zone, sc, seen);
	spin_unlock_irqrestore_l(&zone->lru_lock, flags, "shrink_inactive");
	vmscan_event(lru_isolate, zone, lru, 0, nr, seen, b->taken);
	count_isolated(zone, lru >= LRU_INACTIVE_FILE, b->pages);
}

/* What stays goes back; rotated: frames of the batch that turned out to be in use. */
static void put_back(struct zone *zone, bool file, struct batch *b, u32 rotated)
{
	unsigned long flags;

	spin_lock_irqsave_l(&zone->lru_lock, flags, "shrink_putback");
	if (b->freed && (current->flags & TF_KSWAPD))
		count_vm_event_zone(PGSTEAL_KSWAPD, zone->type, b->freed);
	else if (b->freed)
		count_vm_event_zone(PGSTEAL_DIRECT, zone->type, b->freed);
	zone->lruvec.recent_rotated[file] += rotated;
	lru_putback_locked(zone, b->page, b->kept);
	spin_unlock_irqrestore_l(&zone->lru_lock, flags, "shrink_putback");
	count_isolated(zone, file, -(long)b->pages);
	release_pages(b->page, b->kept);
}

/* The first nr pages of the batch; those that stay move together at its beginning. */
static void examine_batch(struct scan_control *sc, struct batch *b, u32 nr)
{
	b->kept = 0;
	for (u32 i = 0; i < nr; i++) {
		struct page *page = b->page[i];

		switch (examine(page, sc, b)) {
		case FREED:
			page_put(page);
			b->freed++;
			break;
		case ACTIVATE:
			page_set(page, PG_active);
			b->activated += page_nr(page);
			fallthrough;
		default:
			b->page[b->kept++] = page;
		}
		cond_resched();
	}
}

/* Waits while others hold more pages of the list than it has. false: killed meanwhile */
static bool wait_isolated(struct zone *zone, bool file, struct scan_control *sc)
{
	enum zone_stat_item isolated = file ? NR_ISOLATED_FILE : NR_ISOLATED_ANON;
	enum zone_stat_item inactive = file ? NR_INACTIVE_FILE : NR_INACTIVE_ANON;
	enum scan_rules rules = switch_value(scan_rules);
	bool nofs = (sc->gfp & (__GFP_IO | __GFP_FS)) != (__GFP_IO | __GFP_FS);

	if (sc->kswapd)
		return true;
	/* The quick figure may be off by what other CPUs have not added yet. */
	while (isolated_too_many(zone_state(zone, isolated), zone_state(zone, inactive), nofs,
				 rules) &&
	       isolated_too_many(zone_state_exact(zone, isolated), zone_state(zone, inactive), nofs,
				 rules)) {
		congestion_wait(CONGEST_ASYNC, RECLAIM_WAIT_NS);
		if (fatal_signal_pending())
			return false;
	}
	return true;
}

static noinline void trace_batch(struct zone *zone, enum lru_list lru, const struct batch *b,
				 int priority)
{
	struct vmscan_inactive v = { .scanned = b->taken,
				     .freed = b->freed,
				     .dirty = b->dirty,
				     .writeback = b->writeback,
				     .congested = b->congested,
				     .immediate = b->immediate,
				     .activated = b->activated,
				     .ref_keep = b->ref_keep,
				     .unmap_fail = b->unmap_fail,
				     .priority = priority };

	vmscan_trace_lru_shrink_inactive(zone, lru, &v);
}

/*
 * A batch that was taken off its list: verdicts, counts, back what stays, and a wait if much of it
 * is being written. => pages freed
 */
static unsigned long shrink_batch(struct zone *zone, enum lru_list lru, struct scan_control *sc,
				  struct batch *b)
{
	bool file = lru >= LRU_INACTIVE_FILE;

	sc->stream = file && zone->stream.streak >= STREAM_BATCHES;
	examine_batch(sc, b, b->taken);
	if (b->dirty && b->dirty == b->congested)
		set_bit(ZF_CONGESTED, &zone->zone_flags);
	if (unlikely(sc->lumpy) && lumpy_must_wait(sc, b->freed, b->taken)) {
		sc->sync = true;
		examine_batch(sc, b, b->kept);
		sc->sync = false;
	}
	if (file && switch_value(mapped_stream))
		stream_note(&zone->stream, b->ref_keep, b->taken);
	else if (file)
		zone->stream.streak = 0;
	count_vm_events(PGACTIVATE, b->activated);
	if (unlikely(event_mm_vmscan_lru_shrink_inactive.enabled))
		trace_batch(zone, lru, b, sc->priority);
	put_back(zone, file, b, b->activated);
	if (writeback_enough(b->writeback, b->taken, sc->priority))
		wait_iff_congested(zone, CONGEST_ASYNC, RECLAIM_WAIT_NS);
	return b->freed;
}

static void batch_init(struct batch *b)
{
	b->taken = b->kept = b->pages = b->dirty = b->congested = b->writeback = b->freed =
		b->activated = 0;
	b->immediate = b->ref_keep = b->unmap_fail = 0;
}

/* Whole blocks around the pages at the tail, in batches of 32. */
static noinline unsigned long shrink_blocks(struct zone *zone, enum lru_list lru, u32 nr,
					    struct scan_control *sc)
{
	struct lumpy l = { .order = sc->order, .any = lumpy_any(sc), .lru = lru };
	unsigned long flags, freed = 0;
	struct batch b;

	list_init(&l.pages[0]);
	list_init(&l.pages[1]);
	lru_drain_local();
	spin_lock_irqsave_l(&zone->lru_lock, flags, "shrink_inactive");
	lumpy_isolate_locked(zone, nr, &l, &flags);
	count_scanned_locked(zone, sc, l.seen);
	spin_unlock_irqrestore_l(&zone->lru_lock, flags, "shrink_inactive");
	vmscan_event(lru_isolate, zone, lru, sc->order, nr, l.seen, l.nr[0] + l.nr[1]);
	count_isolated(zone, false, l.nr[0]);
	count_isolated(zone, true, l.nr[1]);
	count_vm_events(PGDEACTIVATE, l.deactivated);
	sc->lumpy = l.any;
	for (int file = 0; file < 2; file++)
		while (!list_empty(&l.pages[file])) {
			batch_init(&b);
			while (b.taken < SWAP_CLUSTER_MAX && !list_empty(&l.pages[file])) {
				struct page *page;

				page = list_first_entry(&l.pages[file], struct page, lru);
				__list_del(&page->lru);
				b.pages += page_nr(page);
				b.page[b.taken++] = page;
			}
			freed += shrink_batch(zone, file ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON,
					      sc, &b);
		}
	sc->lumpy = false;
	return freed;
}

static unsigned long shrink_inactive(struct zone *zone, enum lru_list lru, u32 nr,
				     struct scan_control *sc)
{
	struct batch b;

	if (!wait_isolated(zone, lru >= LRU_INACTIVE_FILE, sc))
		return SWAP_CLUSTER_MAX; /* it will give back more by dying */
	if (unlikely(sc->order) && lumpy_blocks(sc))
		return shrink_blocks(zone, lru, nr, sc);
	batch_init(&b);
	isolate_inactive(zone, lru, nr, sc, &b);
	return b.taken ? shrink_batch(zone, lru, sc, &b) : 0;
}

/* The tail of the active list moves to the inactive one; code in use stays. */
static void shrink_active(struct zone *zone, enum lru_list lru, u32 nr, int priority)
{
	bool file = lru >= LRU_INACTIVE_FILE;
	u32 seen, used = 0, moved = 0;
	unsigned long flags;
	struct batch b;

	b.taken = b.kept = b.pages = b.freed = 0;
	lru_drain_local();
	spin_lock_irqsave_l(&zone->lru_lock, flags, "shrink_active");
	seen = isolate_locked(zone, lru, nr, &b);
	count_vm_event_zone(PGREFILL, zone->type, seen);
	spin_unlock_irqrestore_l(&zone->lru_lock, flags, "shrink_active");
	vmscan_event(lru_isolate, zone, lru, 0, nr, seen, b.taken);
	count_isolated(zone, file, b.pages);
	for (u32 i = 0; i < b.taken; i++) {
		struct page *page = b.page[i];
		unsigned long vm_flags = 0;
		int entries = 0;

		if (page_mapped(page)) {
			bool locked = page_trylock(page);

			/* without the lock it may be leaving its file: it counts as used */
			entries = locked ? page_referenced_ptes(page, &vm_flags) : 1;
			if (locked)
				page_unlock(page);
		}
		used += entries ? page_nr(page) : 0;
		if (!(entries && file && (vm_flags & VM_EXEC))) {
			page_clear(page, PG_active);
			moved += page_nr(page);
		}
		b.page[b.kept++] = page;
		cond_resched();
	}
	count_vm_events(PGDEACTIVATE, moved);
	vmscan_event(lru_shrink_active, zone, lru, b.taken, moved, used, priority);
	put_back(zone, file, &b, used);
}

/* ---- one zone ---- */

static bool inactive_low(struct zone *zone, bool file)
{
	const unsigned long *nr = zone->lruvec.nr;

	if (file)
		return inactive_file_low(READ_ONCE(nr[LRU_ACTIVE_FILE]),
					 READ_ONCE(nr[LRU_INACTIVE_FILE]));
	return nr_swap_pages() &&
	       inactive_anon_low(READ_ONCE(nr[LRU_ACTIVE_ANON]), READ_ONCE(nr[LRU_INACTIVE_ANON]),
				 zone->inactive_ratio);
}

void age_anon(struct zone *zone, int priority)
{
	if (inactive_low(zone, false))
		shrink_active(zone, LRU_ACTIVE_ANON, SWAP_CLUSTER_MAX, priority);
}

/*
 * There are free slots. As a last try before it is said that there is no memory: pages that have
 * slots already, and are perhaps in nobody's tables any more.
 */
static bool worth_looking_at_anon(const struct scan_control *sc)
{
	return nr_swap_pages() || (!sc->priority && swapcache_pages());
}

static void find_targets(struct zone *zone, struct scan_control *sc, unsigned long *nr)
{
	struct lruvec *v = &zone->lruvec;
	struct scan_input in = { .free = zone_state(zone, NR_FREE_PAGES),
				 .high = zone->watermark[WMARK_HIGH],
				 .swappiness = (u32)READ_ONCE(swappiness),
				 .priority = sc->priority,
				 .swap = worth_looking_at_anon(sc),
				 .kswapd = sc->kswapd,
				 .unreclaimable = READ_ONCE(zone->all_unreclaimable),
				 .rules = switch_value(scan_rules) };
	unsigned long flags;

	for (int lru = 0; lru < NR_EVICTABLE_LISTS; lru++)
		in.size[lru] = READ_ONCE(v->nr[lru]);
	if (scan_balance(&in) == BALANCE_WEIGHTED) {
		spin_lock_irqsave_l(&zone->lru_lock, flags, "scan_weights");
		for (int file = 0; file < 2; file++) {
			scan_forget(&v->recent_scanned[file], &v->recent_rotated[file],
				    in.size[2 * file] + in.size[2 * file + 1]);
			in.recent_scanned[file] = v->recent_scanned[file];
			in.recent_rotated[file] = v->recent_rotated[file];
		}
		spin_unlock_irqrestore_l(&zone->lru_lock, flags, "scan_weights");
	}
	scan_targets(&in, nr);
}

/* Everybody waits while much more is being written than may be dirty at all. */
static void throttle_writeback(struct scan_control *sc)
{
	for (int step = 0; step < WRITEBACK_STEPS; step++) {
		unsigned long background, limit, writeback = global_zone_state(NR_WRITEBACK);

		if (!writeback || !(sc->gfp & __GFP_IO))
			return;
		dirty_limits(&background, &limit);
		if (writeback <= limit + limit / 10)
			return;
		congestion_wait(CONGEST_ASYNC, RECLAIM_WAIT_NS);
		if (!(sc->gfp & __GFP_FS) || fatal_signal_pending())
			return; /* who holds what the others wait for goes on after one step */
	}
}

static unsigned long shrink_lists(struct zone *zone, struct scan_control *sc)
{
	unsigned long nr[NR_EVICTABLE_LISTS], freed = 0;
	struct swap_plug plug;

	find_targets(zone, sc, nr);
	swap_plug_start(&plug);
	while (nr[LRU_INACTIVE_ANON] || nr[LRU_ACTIVE_FILE] || nr[LRU_INACTIVE_FILE]) {
		for (int lru = 0; lru < NR_EVICTABLE_LISTS; lru++) {
			u32 n = (u32)min(nr[lru], (unsigned long)SWAP_CLUSTER_MAX);

			nr[lru] -= n;
			if (!n)
				continue;
			if (!(lru & 1))
				freed += shrink_inactive(zone, lru, n, sc);
			else if (inactive_low(zone, lru >= LRU_INACTIVE_FILE))
				shrink_active(zone, lru, n, sc->priority);
		}
		cond_resched();
		if (freed >= sc->nr_to_reclaim && sc->priority < DEF_PRIORITY)
			break;
	}
	swap_plug_finish(&plug);
	return freed;
}

void shrink_zone(struct zone *zone, struct scan_control *sc)
{
	unsigned long freed;

	do {
		freed = shrink_lists(zone, sc);
		sc->nr_reclaimed += freed;
		age_anon(zone, sc->priority);
	} while (unlikely(sc->order) && lumpy_go_on(zone, sc, freed));
	throttle_writeback(sc);
}

unsigned long reclaim_isolated(struct page **pages, u32 nr)
{
	struct scan_control sc = { .gfp = reclaim_gfp(GFP_KERNEL),
				   .nr_to_reclaim = nr,
				   .may_write = true };
	bool nested = current->flags & TF_MEMALLOC;
	struct batch b;

	batch_init(&b);
	current->flags |= TF_MEMALLOC; /* what it allocates does not reclaim again */
	for (u32 i = 0; i < nr; i++) {
		enum verdict v = examine(pages[i], &sc, &b);

		b.freed += v == FREED;
		if (v == ACTIVATE)
			page_set(pages[i], PG_active);
		if (v == FREED)
			page_put(pages[i]);
		else
			lru_putback(pages[i]);
		cond_resched();
	}
	if (!nested)
		current->flags &= ~TF_MEMALLOC;
	return b.freed;
}
