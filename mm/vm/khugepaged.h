/* SPDX-License-Identifier: BSD-2-Clause */
/* khugepaged.h - between thp_show.c, thp_collapse.c and khugepaged.c. */
#ifndef MM_VM_KHUGEPAGED_H
#define MM_VM_KHUGEPAGED_H

#include "mm/phys/zone.h"
#include "mm/vm/thp.h"

/* /sys/kernel/mm/transparent_hugepage/khugepaged: what it does, and when. Read without a lock. */
struct khugepaged_settings {
	u32 pages_to_scan;	   /* entries looked at between two sleeps */
	u32 scan_sleep_millisecs;  /* between two parts of a scan */
	u32 alloc_sleep_millisecs; /* after no huge page was to be had */
	u32 max_ptes_none;	   /* of 512 places: how many may be empty */
	u32 max_ptes_swap;	   /* lie in swap */
	u32 max_ptes_shared;	   /* be shared with other programs */
	u32 defrag;		   /* may it reclaim and compact */
};
extern struct khugepaged_settings khugepaged_settings;
extern u64 khugepaged_pages_collapsed, khugepaged_full_scans;

/* How one look at 2 MiB, or the attempt to collapse them, ended. */
enum collapse_result {
	COLLAPSE_DONE,
	COLLAPSE_MAPPED,    /* they are a huge page already */
	COLLAPSE_CANDIDATE, /* looked at: worth it */
	COLLAPSE_EMPTY,	    /* no table there */
	COLLAPSE_NONE,	    /* too many empty places */
	COLLAPSE_SWAP,	    /* too many places in swap */
	COLLAPSE_SHARED,    /* too many shared with others */
	COLLAPSE_RO,	    /* not one place is writable */
	COLLAPSE_UNUSED,    /* not one place was used lately */
	COLLAPSE_BUSY,	    /* a page is locked or held by somebody */
	COLLAPSE_NOMEM,	    /* no huge page */
	COLLAPSE_UNFIT,	    /* no longer a place for a huge page */
	NR_COLLAPSE_RESULTS
};

extern const char *const collapse_result_name[NR_COLLAPSE_RESULTS]; /* Linux's words */

/* One attempt. Limits are numbers of places out of 512. */
struct collapse_control {
	u32 max_none, max_swap, max_shared;
	bool unused_too; /* also where nothing was used lately, and nothing is writable */
	gfp_t gfp;	 /* of the huge page */
	/* results of the look */
	u32 none, swap, shared, young, writable;
	u32 on_node[8]; /* MAX_NODES: where its pages lie */
};
_Static_assert(MAX_NODES <= 8, "collapse_control counts by node");

/* Looks at the 2 MiB of vma at addr. => mm->lock either way; may sleep */
enum collapse_result collapse_look(struct vma *vma, unsigned long addr,
				   struct collapse_control *cc);
/*
 * Looks, brings pages back from swap, allocates, collapses. => no lock: takes mm->lock, shared and
 * then for writing; a user of mm held; may sleep
 */
enum collapse_result collapse(struct aspace *mm, unsigned long addr, struct collapse_control *cc);
/* madvise(MADV_COLLAPSE) of a range: 0 or -errno as Linux answers. => takes mm->lock */
int thp_madvise_collapse(struct aspace *mm, unsigned long start, unsigned long end);

/* The thread, if it does not run yet. => may sleep */
void khugepaged_start(void);
/* Settings changed: every address space is looked at again. => may sleep */
void khugepaged_all(void);

#endif
