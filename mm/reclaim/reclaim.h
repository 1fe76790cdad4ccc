/* SPDX-License-Identifier: BSD-2-Clause */
/* reclaim.h - giving memory back: the hooks reclaim works through, and the out-of-memory report. */
#ifndef MM_RECLAIM_RECLAIM_H
#define MM_RECLAIM_RECLAIM_H

#include "mm/reclaim/lruvec.h"

/* What reclaim needs from the page cache; mm/cache sets reclaim_ops. */
struct reclaim_ops {
	/*
	 * Takes a clean, unmapped file page nobody else uses out of the cache. => page locked and
	 * off the LRU, the caller holds one reference; true: only that one is left.
	 */
	bool (*drop_page)(struct page *page);
	/* All clean pages of all mappings; pages freed. => may sleep */
	unsigned long (*drop_clean)(void);
};
extern const struct reclaim_ops *reclaim_ops;

/* What the OOM killer needs from the process table; sys/ sets oom_ops. */
struct oom_ops {
	/* One pr_info line per process: pid, name, total and resident pages, score adjustment. */
	void (*print_tasks)(void);
	/* A process chosen before has not given its memory back yet. */
	bool (*victim_alive)(void);
	/*
	 * Chooses the process with the largest claim, says so in the log and kills it. false: there
	 * is none to kill.
	 */
	bool (*kill)(void);
};
extern const struct oom_ops *oom_ops;

/*
 * The memory of a process that is to die, used by nobody else: the reaper takes it away soon. =>
 * any thread context, the caller keeps mm from going meanwhile; no need to say it twice
 */
struct aspace;
void oom_reap_later(struct aspace *mm);

void reclaim_init(void); /* sets pressure_ops; => after the page cache, before the first program */
void oom_init(void);	 /* starts the reaper; by reclaim_init */
void reclaim_checks_init(void); /* registers the validators of LRU, slab and buddy */
/* Zones, free lists, totals: to the log. => any context */
void mm_report(void);
/*
 * Reports and kills somebody, unless somebody is dying already. => may sleep; true: trying again
 * makes sense
 */
bool oom_kill(gfp_t gfp, unsigned int order);
/*
 * Pages that lru_isolate() took, at most SWAP_CLUSTER_MAX: those nobody uses go, the others back to
 * their lists. => may sleep; pages freed (others may become free when they are written)
 */
unsigned long reclaim_isolated(struct page **pages, u32 nr);
/* At most nr pages from the zones of a list. => may sleep; pages freed */
unsigned long reclaim_pages(struct zonelist *zl, enum zone_type class, unsigned long nr);

#endif
