/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - shared inside mm/compact: one run of compaction over one zone. */
#ifndef MM_COMPACT_INTERNAL_H
#define MM_COMPACT_INTERNAL_H

#include "kernel/event.h"
#include "mm/compact/compact.h"
#include "mm/phys/buddy.h"
#include "mm/phys/page_alloc.h"

#define COMPACT_CLUSTER 32u /* pages moved at a time; frames of a breather */

/* control-struct of one run */
struct compact_control {
	struct zone *zone;
	int order; /* -1: the whole zone */
	enum migratetype mt;
	bool sync;	 /* may wait for pages; enters pageblocks of every type */
	bool wait_locks; /* no lock above mm is held */
	bool ignore_hints;
	bool daemon;
	unsigned long migrate_pfn, free_pfn; /* the scanners */
	unsigned long free_from;	     /* ours: where in its block the free scanner stopped */
	struct list_head migratepages;
	u32 nr_migratepages, isolated[2]; /* anonymous, file */
	struct list_head freepages;	  /* free blocks, order in private */
	unsigned long nr_freepages;	  /* frames in them */
	unsigned long nr_used;		  /* frames that pages were moved to */
	unsigned long scanned_migrate, scanned_free;
	bool capturing;
	struct capture capture;
};

/* Up to 32 pages of the next pageblock onto cc->migratepages. => how many; may sleep */
u32 compact_isolate_migrate(struct compact_control *cc);
/* Free frames from above onto cc->freepages, as many as there are pages to move. => may sleep */
void compact_isolate_free(struct compact_control *cc);
enum compact_result compact_zone(struct compact_control *cc);
/* Order by which attempts are put off: of 2.6.38 all are alike. */
unsigned int defer_order(unsigned int order);

/* Pageblocks in which a scanner found nothing (hints.c). */
enum compact_hint { HINT_NOTHING_TO_MOVE, HINT_NOTHING_FREE };
void compact_hints_init(void);
bool compact_hint(const struct compact_control *cc, unsigned long pfn, enum compact_hint h);
void compact_hint_set(const struct compact_control *cc, unsigned long pfn, enum compact_hint h);
/* Where a run begins, and what it leaves for the next one. */
void compact_hints_start(struct compact_control *cc);
void compact_hints_end(struct compact_control *cc, enum compact_result result);

void kcompactd_start(void);
const char *compact_result_name(enum compact_result r);

DECLARE_EVENT(mm_compaction_isolate_migratepages);
DECLARE_EVENT(mm_compaction_isolate_freepages);
DECLARE_EVENT(mm_compaction_migratepages);
DECLARE_EVENT(mm_compaction_begin);
DECLARE_EVENT(mm_compaction_end);
DECLARE_EVENT(mm_compaction_try_to_compact_pages);
DECLARE_EVENT(mm_compaction_finished);
DECLARE_EVENT(mm_compaction_suitable);
DECLARE_EVENT(mm_compaction_deferred);
DECLARE_EVENT(mm_compaction_defer_compaction);
DECLARE_EVENT(mm_compaction_defer_reset);
DECLARE_EVENT(mm_compaction_kcompactd_sleep);
DECLARE_EVENT(mm_compaction_wakeup_kcompactd);
DECLARE_EVENT(mm_compaction_kcompactd_wake);

#endif
