/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zone.h - nodes and zones: which frames are alike in address and distance, with their watermarks,
 * free areas, LRU lock and counters. Zone layout is data: code walks node->zones[0..nr_zones),
 * lowest first; no index is hard-coded.
 *
 * Locks: (z) zone->lock, IRQs off  (l) zone->lru_lock, IRQs off  (o) set at boot  (a) atomic
 */
#ifndef MM_PHYS_ZONE_H
#define MM_PHYS_ZONE_H

#include "arch/bootinfo.h"
#include "kernel/spinlock.h"
#include "mm/debug/vmstat.h"
#include "mm/phys/gfp.h"
#include "mm/phys/page.h"

#define MAX_ORDER 11 /* orders 0..10 */
#define PAGEBLOCK_ORDER 9
#define PAGEBLOCK_PAGES (1ul << PAGEBLOCK_ORDER)
#define MAX_ZONES 5

enum zone_type { ZONE_DMA, ZONE_DMA32, ZONE_NORMAL, ZONE_HIGH, ZONE_MOVABLE, NR_ZONE_TYPES };
extern const char
	*const zone_type_name[NR_ZONE_TYPES]; /* "DMA" "DMA32" "Normal" "HighMem" "Movable" */

enum migratetype {
	MT_UNMOVABLE,
	MT_RECLAIMABLE,
	MT_MOVABLE,
	MT_PCPTYPES,
	MT_RESERVE = MT_PCPTYPES,
	MT_ISOLATE,
	NR_MIGRATETYPES
};
extern const char *const migratetype_name[NR_MIGRATETYPES];

enum { WMARK_MIN, WMARK_LOW, WMARK_HIGH, NR_WMARKS };

struct free_area {
	struct list_head free[NR_MIGRATETYPES];
	unsigned long nr_free;		   /* blocks of this order, all types */
	unsigned long nr[NR_MIGRATETYPES]; /* by list */
};

/*
 * Buddy of one zone: no policy, no lock inside, instance-able (a host test builds one of 64 pages).
 * mm/phys/buddy.c
 */
struct buddy {
	struct free_area area[MAX_ORDER];
	unsigned long start_pfn, end_pfn; /* span */
	unsigned long nr_free_pages;
	/*
	 * migrate type per pageblock, index (pfn >> PAGEBLOCK_ORDER) - (start_pfn >>
	 * PAGEBLOCK_ORDER)
	 */
	u8 *pageblock_mt;
	/* bit per order whose list of that type may have blocks (a hint: set is not sure) */
	u32 mt_mask[NR_MIGRATETYPES];
	unsigned long flags; /* zone bits of every page of it */
};

/*
 * Per-CPU page lists of one zone: "magazines" of `batch` pages. The open one is a chain through
 * pcp_next; full ones wait whole, so that exchange with the buddy is always one batch under one
 * lock (mm/phys/pcp.c).
 */
#define PCP_BATCH_MAX 32
#define PCP_FULL_MAX 4
#define PCP_BIG_ORDER 3 /* orders 1..3 have short lists of their own */
struct pcp_list {	/* 64 bytes */
	struct page *head;
	s32 room; /* the open magazine takes so many more: batch minus its pages */
	u32 nr_full;
	struct page *full[PCP_FULL_MAX];
	/* a group of 32 frames not all of which have come yet: its first frame, */
	struct page *carry;
	u32 carry_set; /* and which frames of it wait here to be merged with the rest */
};
struct pcp { /* per CPU and zone; (p) its CPU with preemption off, never from interrupts */
	struct zone *zone;
	s32 batch;
	u32 stat_threshold;
	/*
	 * order-0 pages handed out here on the local node: numa_hit, numa_local and pgalloc at once
	 */
	u64 fast_allocs;
	struct pcp_list list[MT_PCPTYPES] __cacheline_aligned;
	struct {
		struct page *head;
		u32 count;
	} big[PCP_BIG_ORDER][MT_PCPTYPES];
	u64 numa[NR_NUMA_ITEMS];
	s16 vm_stat_diff[NR_ZONE_STAT_ITEMS];
};

enum lru_list {
	LRU_INACTIVE_ANON,
	LRU_ACTIVE_ANON,
	LRU_INACTIVE_FILE,
	LRU_ACTIVE_FILE,
	LRU_UNEVICTABLE,
	NR_LRU_LISTS
};

/* LRU lists of one (memory group, zone); the lock is the zone's. */
struct lruvec {
	struct list_head lists[NR_LRU_LISTS];		    /* (l) */
	unsigned long nr[NR_LRU_LISTS];			    /* (l) pages on each list */
	unsigned long recent_scanned[2], recent_rotated[2]; /* (l) 0 = anon, 1 = file */
	struct zone *zone;
	struct memcg *memcg;
};

/* Mapped pages touched once at the tail of the file list (mm/reclaim/targets.c). */
struct stream_watch {
	u32 streak;	   /* batches' worth of pages in a row that were mostly such */
	u32 seen, touched; /* of the batch that is not full yet */
};

struct zone {
	/* read mostly */
	unsigned long watermark[NR_WMARKS];
	unsigned long lowmem_reserve[NR_ZONE_TYPES]; /* by class of the request */
	/* low watermark + reserve: the order-0 fast path's test */
	unsigned long fast_mark[NR_ZONE_TYPES];
	struct node *node;
	enum zone_type type;
	u32 index;    /* in node->zones */
	u32 seq;      /* among all populated zones: index into a CPU's pcp block */
	bool is_high; /* High, or Movable carved from High */
	unsigned long start_pfn, spanned_pages, present_pages, managed_pages;
	const char *name;
	u32 inactive_ratio;
	unsigned long dirty_balance_reserve;

	spinlock_t lock __cacheline_aligned; /* RANK_ZONE */
	struct buddy buddy;		     /* (z) */

	spinlock_t lru_lock __cacheline_aligned; /* RANK_LRU, IRQs off */
	struct lruvec lruvec;			 /* root group's (l) */
	unsigned long pages_scanned;		 /* (l) since a page was last freed */
	bool all_unreclaimable;
	struct stream_watch stream; /* a lost change is harmless */
	unsigned long zone_flags;   /* ZF_*, (a) */

	atomic_long_t vm_stat[NR_ZONE_STAT_ITEMS] __cacheline_aligned;

	/* compaction; all of it hints, a lost change is harmless, but for capture */
	unsigned long compact_migrate_pfn, compact_free_pfn; /* where to go on; 0: at the ends */
	unsigned long *compact_skip; /* two bits a pageblock (hints.c), or NULL */
	u32 compact_considered, compact_defer_shift, compact_order_failed;
	struct capture *capture; /* (z) who compacts the zone and waits for a block */
};
/* A block that comes free while somebody compacts for it is his. */
struct capture {
	unsigned int order;
	enum migratetype mt;
	struct page *page; /* (z) */
};
enum { ZF_CONGESTED, ZF_FAIR_DEPLETED };

struct zoneref {
	struct zone *zone;
	u32 class; /* zone->type, for quick comparison */
};
#define MAX_ZONEREFS (MAX_NODES * MAX_ZONES)
struct zonelist { /* highest class first, nearest node first (node order); NULL zone ends it */
	struct zoneref refs[MAX_ZONEREFS + 1];
	u8 first[NR_ZONE_TYPES]; /* index of the first ref a request of that class may use */
};

struct node {
	int id;
	u32 nr_zones;
	struct zone zones[MAX_ZONES]; /* populated or not; lowest first; nr_zones used */
	unsigned long start_pfn, spanned_pages, present_pages;
	struct zonelist zonelist;      /* fallback over all nodes */
	struct zonelist zonelist_this; /* __GFP_THISNODE */
	u64 cpus;
	bool has_memory, has_cpu;
	struct thread *kswapd;
	bool pressure; /* its kswapd is awake: counters drift less */
};
extern struct node *nodes[MAX_NODES]; /* by logical id; NULL above nr_nodes */
extern int nr_nodes;

#define for_each_node(n) for (int _nid = 0; _nid < nr_nodes && ((n) = nodes[_nid], 1); _nid++)
/* All zones of all nodes, populated ones only. */
struct zone *zone_first(void);
struct zone *zone_next(struct zone *zone);
#define for_each_zone(z) for ((z) = zone_first(); (z); (z) = zone_next(z))

static __always_inline struct zone *page_zone(const struct page *page)
{
	return &nodes[page_node(page)]->zones[page_zone_index(page)];
}
enum zone_type gfp_zone_class(gfp_t gfp);
enum migratetype gfp_migratetype(gfp_t gfp);
struct pcp *zone_pcp(struct zone *zone, u32 cpu);
/*
 * Makes CPU's page lists reachable for it. => its per-CPU area exists (copied), it does not run
 * yet; idempotent.
 */
void mm_init_cpu(u32 cpu);
/* Walks zones in a zonelist a request of class may use: zr is set to each struct zoneref. */
#define for_each_zoneref(zr, zl, cls)                                                              \
	for ((zr) = &(zl)->refs[(zl)->first[cls]]; (zr)->zone; (zr)++)                             \
		if ((zr)->class <= (u32)(cls))
/* Nearest node with memory of a CPU (itself when it has memory). */
int cpu_mem_node(u32 cpu);
int node_distance(int a, int b);

/*
 * How far a CPU's part of the node's zone counters may drift: little while kswapd is at work
 * (pressure), when decisions hang on them. => thread context
 */
void node_set_pressure(struct node *node, int pressure);
/*
 * Huge pages are in use from now on: min_free_kbytes rises so far that every zone can keep
 * pageblocks of each type free.
 */
void zones_keep_pageblocks(void);
void zones_forget_pageblocks(void); /* and no longer */
/* After each change under zone->lock: the counter everybody reads. It never drifts. */
static __always_inline void zone_sync_free(struct zone *zone)
{
	atomic_long_set(&zone->vm_stat[NR_FREE_PAGES], (long)zone->buddy.nr_free_pages);
}
/* Zone counters: bounded drift (per-CPU deltas); _exact adds every CPU's delta. */
void mod_zone_state(struct zone *zone, enum zone_stat_item item, long delta);
/* Two items by the same amount, for little more than the price of one. */
void mod_zone_state_pair(struct zone *zone, enum zone_stat_item a, enum zone_stat_item b,
			 long delta);
/* one read, negatives read 0 */
unsigned long zone_state(struct zone *zone, enum zone_stat_item item);
unsigned long zone_state_exact(struct zone *zone, enum zone_stat_item item);
unsigned long global_zone_state(enum zone_stat_item item);
unsigned long node_zone_state(int node, enum zone_stat_item item);
/* LRU and memory-group aware form; for pages charged to a group. */
void mod_lruvec_state(struct page *page, enum zone_stat_item item, long delta);
void mod_lruvec_state_pair(struct page *page, enum zone_stat_item a, enum zone_stat_item b,
			   long delta);

/* Watermark test of facts (pure): order, mark, class, flags ALLOC_*. */
#define ALLOC_HIGH 0x20u
#define ALLOC_HARDER 0x10u
#define ALLOC_NO_WATERMARKS 0x04u
/* The counters of one NUMA item: per zone, summed over CPUs. */
u64 zone_numa_sum(struct zone *zone, enum numa_item item);
bool zone_watermark_ok(struct zone *zone, unsigned int order, unsigned long mark,
		       enum zone_type class, u32 alloc_flags);

#endif
