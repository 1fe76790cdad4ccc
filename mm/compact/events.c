// SPDX-License-Identifier: BSD-2-Clause
/*
 * events.c - the events mm_compaction_*: names and fields of Linux, so that its scripts read our
 * traces.
 */
#include "mm/compact/internal.h"

DEFINE_EVENT(compaction, mm_compaction_isolate_migratepages,
	     "range=(0x%lx ~ 0x%lx) nr_scanned=%lu nr_taken=%lu", "start_pfn", "end_pfn",
	     "nr_scanned", "nr_taken");
DEFINE_EVENT(compaction, mm_compaction_isolate_freepages,
	     "range=(0x%lx ~ 0x%lx) nr_scanned=%lu nr_taken=%lu", "start_pfn", "end_pfn",
	     "nr_scanned", "nr_taken");
DEFINE_EVENT(compaction, mm_compaction_migratepages, "nr_migrated=%lu nr_failed=%lu", "nr_migrated",
	     "nr_failed");
DEFINE_EVENT(compaction, mm_compaction_begin,
	     "zone_start=0x%lx migrate_pfn=0x%lx free_pfn=0x%lx zone_end=0x%lx, mode=%s",
	     "zone_start", "migrate_pfn", "free_pfn", "zone_end", "sync");
DEFINE_EVENT(compaction, mm_compaction_end,
	     "zone_start=0x%lx migrate_pfn=0x%lx free_pfn=0x%lx zone_end=0x%lx, mode=%s status=%s",
	     "zone_start", "migrate_pfn", "free_pfn", "zone_end", "sync", "status");
DEFINE_EVENT(compaction, mm_compaction_try_to_compact_pages, "order=%ld gfp_mask=%s priority=%ld",
	     "order", "gfp_mask", "prio");
DEFINE_EVENT(compaction, mm_compaction_finished, "node=%ld zone=%-8s order=%ld ret=%s", "nid",
	     "idx", "order", "ret");
DEFINE_EVENT(compaction, mm_compaction_suitable, "node=%ld zone=%-8s order=%ld ret=%s", "nid",
	     "idx", "order", "ret");
#define DEFER_FORMAT "node=%ld zone=%-8s order=%ld order_failed=%ld consider=%lu limit=%lu"
#define DEFER_FIELDS "nid", "idx", "order", "order_failed", "considered", "defer_limit"
DEFINE_EVENT(compaction, mm_compaction_deferred, DEFER_FORMAT, DEFER_FIELDS);
DEFINE_EVENT(compaction, mm_compaction_defer_compaction, DEFER_FORMAT, DEFER_FIELDS);
DEFINE_EVENT(compaction, mm_compaction_defer_reset, DEFER_FORMAT, DEFER_FIELDS);
DEFINE_EVENT(compaction, mm_compaction_kcompactd_sleep, "nid=%ld", "nid");
DEFINE_EVENT(compaction, mm_compaction_wakeup_kcompactd, "nid=%ld order=%ld classzone_idx=%-8s",
	     "nid", "order", "classzone_idx");
DEFINE_EVENT(compaction, mm_compaction_kcompactd_wake, "nid=%ld order=%ld classzone_idx=%-8s",
	     "nid", "order", "classzone_idx");

const char *compact_result_name(enum compact_result r)
{
	static const char *const names[] = { "skipped", "continue", "partial", "complete" };

	return names[r];
}
