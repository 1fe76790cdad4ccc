// SPDX-License-Identifier: BSD-2-Clause
/*
 * events.c - the events mm_vmscan_*: names and fields of Linux, so that its scripts read our
 * traces.
 *
 * Where 3.6 and 6.1 differ the later text stands, with the zone (which it lost, and which
 * [seed-003] is about) behind it as zid. Not told apart here: isolate_mode is 0 (there is one way
 * to isolate), nothing is skipped, direct reclaim writes no pages of files (may_writepage counts
 * swap).
 */
#include "mm/reclaim/events.h"

#include "arch/atomic.h"
#include "lib/printf.h"
#include "lib/string.h"

DEFINE_EVENT(vmscan, mm_vmscan_kswapd_sleep, "nid=%ld", "nid");
DEFINE_EVENT(vmscan, mm_vmscan_kswapd_wake, "nid=%ld order=%ld zid=%ld", "nid", "order", "zid");
DEFINE_EVENT(vmscan, mm_vmscan_wakeup_kswapd, "nid=%ld zid=%ld order=%ld", "nid", "zid", "order");
DEFINE_EVENT(vmscan, mm_vmscan_direct_reclaim_begin, "order=%ld may_writepage=%ld gfp_flags=%s",
	     "order", "may_writepage", "gfp_flags");
DEFINE_EVENT(vmscan, mm_vmscan_direct_reclaim_end, "nr_reclaimed=%lu", "nr_reclaimed");
DEFINE_EVENT(vmscan, mm_vmscan_lru_isolate,
	     "isolate_mode=%lu classzone=%lu order=%lu nr_requested=%lu nr_scanned=%lu "
	     "nr_skipped=%lu nr_taken=%lu lru=%s nid=%ld",
	     "isolate_mode", "classzone", "order", "nr_requested", "nr_scanned", "nr_skipped",
	     "nr_taken", "lru", "nid");
DEFINE_EVENT(vmscan, mm_vmscan_lru_shrink_inactive,
	     "nid=%ld nr_scanned=%ld nr_reclaimed=%ld nr_dirty=%ld nr_writeback=%ld "
	     "nr_congested=%ld nr_immediate=%ld nr_activate_anon=%ld nr_activate_file=%ld "
	     "nr_ref_keep=%ld nr_unmap_fail=%ld priority=%ld flags=%s zid=%ld",
	     "nid", "nr_scanned", "nr_reclaimed", "nr_dirty", "nr_writeback", "nr_congested",
	     "nr_immediate", "nr_activate0", "nr_activate1", "nr_ref_keep", "nr_unmap_fail",
	     "priority", "reclaim_flags", "zid");
DEFINE_EVENT(vmscan, mm_vmscan_lru_shrink_active,
	     "nid=%ld nr_taken=%ld nr_active=%ld nr_deactivated=%ld nr_referenced=%ld priority=%ld "
	     "flags=%s zid=%ld",
	     "nid", "nr_taken", "nr_active", "nr_deactivated", "nr_referenced", "priority",
	     "reclaim_flags", "zid");
DEFINE_EVENT(vmscan, mm_vmscan_writepage, "page=%lx pfn=%lu flags=%s", "page", "pfn",
	     "reclaim_flags");

/* ---- words ---- */

static const struct {
	gfp_t bits;
	const char *name;
} gfp_names[] = {
	/* the longer first: each takes its bits out of what is left */
	{ GFP_HIGHUSER_MOVABLE, "GFP_HIGHUSER_MOVABLE" },
	{ GFP_HIGHUSER, "GFP_HIGHUSER" },
	{ GFP_USER, "GFP_USER" },
	{ GFP_KERNEL, "GFP_KERNEL" },
	{ GFP_NOFS, "GFP_NOFS" },
	{ GFP_ATOMIC, "GFP_ATOMIC" },
	{ GFP_NOIO, "GFP_NOIO" },
	{ GFP_NOWAIT, "GFP_NOWAIT" },
	{ __GFP_DMA, "GFP_DMA" },
	{ __GFP_HIGH_ZONE, "__GFP_HIGHMEM" },
	{ __GFP_DMA32, "GFP_DMA_THIRTYTWO" }, /* scripts take letters alone */
	{ __GFP_MOVABLE, "__GFP_MOVABLE" },
	{ __GFP_RECLAIMABLE, "__GFP_RECLAIMABLE" },
	{ __GFP_HIGH, "__GFP_HIGH" },
	{ __GFP_IO, "__GFP_IO" },
	{ __GFP_FS, "__GFP_FS" },
	{ __GFP_ZERO, "__GFP_ZERO" },
	{ __GFP_ATOMIC, "__GFP_ATOMIC" },
	{ __GFP_DIRECT_RECLAIM, "__GFP_DIRECT_RECLAIM" },
	{ __GFP_KSWAPD_RECLAIM, "__GFP_KSWAPD_RECLAIM" },
	{ __GFP_WRITE, "__GFP_WRITE" },
	{ __GFP_NOWARN, "__GFP_NOWARN" },
	{ __GFP_NORETRY, "__GFP_NORETRY" },
	{ __GFP_NOFAIL, "__GFP_NOFAIL" },
	{ __GFP_COMP, "__GFP_COMP" },
	{ __GFP_THISNODE, "__GFP_THISNODE" },
	{ __GFP_MEMALLOC, "__GFP_MEMALLOC" },
	{ __GFP_NOMEMALLOC, "__GFP_NOMEMALLOC" },
	{ __GFP_HARDWALL, "__GFP_HARDWALL" },
	{ __GFP_ACCOUNT, "__GFP_ACCOUNT" },
	{ __GFP_RETRY_MAYFAIL, "__GFP_RETRY_MAYFAIL" },
	{ __GFP_COLD, "__GFP_COLD" },
};

static void gfp_spell(char *buf, size_t n, gfp_t gfp)
{
	size_t len = 0;

	if (!gfp)
		strlcpy(buf, "none", n);
	for (u32 i = 0; i < ARRAY_SIZE(gfp_names); i++) {
		if ((gfp & gfp_names[i].bits) != gfp_names[i].bits)
			continue;
		gfp &= ~gfp_names[i].bits;
		len += (size_t)scnprintf(buf + len, n - len, "%s%s", len ? "|" : "",
					 gfp_names[i].name);
	}
}

/*
 * Every text is spelt once and kept. A place is claimed by its first byte of state, so that
 * interrupts and other CPUs can ask at any time; who comes while a text is being spelt spells it
 * into a place of its own.
 */
#define TEXTS 24
static struct {
	u32 state; /* 0 free, 1 being made, 2 ready */
	gfp_t gfp;
	char text[152];
} texts[TEXTS];

const char *gfp_text(gfp_t gfp)
{
	for (u32 i = 0; i < TEXTS; i++) {
		u32 state = smp_load_acquire(&texts[i].state);

		if (state == 2 && texts[i].gfp == gfp)
			return texts[i].text;
		if (state || cmpxchg(&texts[i].state, 0u, 1u) != 0)
			continue;
		texts[i].gfp = gfp;
		gfp_spell(texts[i].text, sizeof(texts[i].text), gfp);
		smp_store_release(&texts[i].state, 2u);
		return texts[i].text;
	}
	return "GFP_OTHER";
}

static const char *lru_text(enum lru_list lru)
{
	static const char *const names[] = { "inactive_anon", "active_anon", "inactive_file",
					     "active_file", "unevictable" };

	return names[lru];
}

/* Reclaim never waits for a page it writes. */
static const char *flags_text(bool file)
{
	return file ? "RECLAIM_WB_FILE|RECLAIM_WB_ASYNC" : "RECLAIM_WB_ANON|RECLAIM_WB_ASYNC";
}

/* ---- records ---- */

#define NID(zone) (u64)(zone)->node->id
#define ZID(zone) (u64)(zone)->type

void vmscan_trace_kswapd_sleep(int nid)
{
	trace_event(mm_vmscan_kswapd_sleep, (u64)nid);
}

void vmscan_trace_kswapd_wake(int nid, enum zone_type class, unsigned int order)
{
	trace_event(mm_vmscan_kswapd_wake, (u64)nid, order, class);
}

void vmscan_trace_wakeup_kswapd(struct zone *zone, unsigned int order)
{
	trace_event(mm_vmscan_wakeup_kswapd, NID(zone), ZID(zone), order);
}

void vmscan_trace_direct_reclaim_begin(unsigned int order, gfp_t gfp)
{
	trace_event(mm_vmscan_direct_reclaim_begin, order, (gfp & __GFP_IO) != 0,
		    (u64)gfp_text(gfp));
}

void vmscan_trace_direct_reclaim_end(unsigned long reclaimed)
{
	trace_event(mm_vmscan_direct_reclaim_end, reclaimed);
}

void vmscan_trace_lru_isolate(struct zone *zone, enum lru_list lru, unsigned int order,
			      unsigned long asked, unsigned long scanned, unsigned long taken)
{
	trace_event(mm_vmscan_lru_isolate, 0, ZID(zone), order, asked, scanned, 0, taken,
		    (u64)lru_text(lru), NID(zone));
}

void vmscan_trace_lru_shrink_inactive(struct zone *zone, enum lru_list lru,
				      const struct vmscan_inactive *v)
{
	bool file = lru >= LRU_INACTIVE_FILE;

	trace_event(mm_vmscan_lru_shrink_inactive, NID(zone), v->scanned, v->freed, v->dirty,
		    v->writeback, v->congested, v->immediate, file ? 0 : v->activated,
		    file ? v->activated : 0, v->ref_keep, v->unmap_fail, (u64)v->priority,
		    (u64)flags_text(file), ZID(zone));
}

void vmscan_trace_lru_shrink_active(struct zone *zone, enum lru_list lru, unsigned long taken,
				    unsigned long deactivated, unsigned long referenced,
				    int priority)
{
	trace_event(mm_vmscan_lru_shrink_active, NID(zone), taken, taken - deactivated, deactivated,
		    referenced, (u64)priority, (u64)flags_text(lru >= LRU_INACTIVE_FILE),
		    ZID(zone));
}

void vmscan_trace_writepage(struct page *page)
{
	trace_event(mm_vmscan_writepage, (u64)page, page_to_pfn(page),
		    (u64)flags_text(!page_test(page, PG_swapbacked)));
}
