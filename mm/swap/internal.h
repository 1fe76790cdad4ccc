/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * internal.h - one swap area: its slots (slots.c) and who owns it (area.c). Private to mm/swap.
 *
 * Locks: (l) area->lock, spinlock, IRQs on, RANK_WB, takes nothing inside  (s) swap_lock of area.c
 * (o) set before the area is open, until it is gone
 */
#ifndef MM_SWAP_INTERNAL_H
#define MM_SWAP_INTERNAL_H

#include "kernel/spinlock.h"
#include "mm/swap/swap.h"

/* A slot's word. 0: free. */
#define SLOT_COUNT 0x3fffffffu /* names: entries of page tables, places in shared memory */
#define SLOT_CACHE BIT(30)     /* the swap cache holds its page */
#define SLOT_BAD BIT(31)       /* the header, or damaged: never given out */

#define CLUSTER_SLOTS 256u
#define CLUSTER_WORDS (CLUSTER_SLOTS / 64)
#define NO_CLUSTER (~0u)

enum cluster_place {
	CLUSTER_FREE,	 /* on lists[0]: every usable slot is free */
	CLUSTER_PARTIAL, /* on lists[1]: some are */
	CLUSTER_FULL,	 /* on none */
	CLUSTER_OWNED,	 /* on none: a cursor gives its slots out */
};
struct swap_cluster {
	u64 free[CLUSTER_WORDS]; /* (l) bit: the slot is free */
	u32 next, prev;		 /* (l) on its list */
	u16 nr_free, usable;	 /* (l) usable: without the bad ones */
	u8 place;		 /* (l) enum cluster_place */
};
struct swap_list {
	u32 first, last;
};
/* Where the next slot comes from: one per CPU, or one for all where seeks cost. */
struct swap_cursor {
	u32 cluster, at;
};

enum area_state { AREA_NONE, AREA_BUSY, AREA_OPEN, AREA_CLOSING };
struct swap_area {
	spinlock_t lock;
	u64 nr_slots;		      /* (l) header included; 0: there is no area */
	u64 nr_free;		      /* (l) read anywhere */
	u64 nr_usable;		      /* (o) */
	bool closing;		      /* (l) no slot is given out any more */
	u32 turn_left;		      /* (l) slots until the next area of this priority */
	u32 *slot;		      /* (l) */
	struct swap_cluster *cluster; /* (l) */
	u32 nr_clusters, nr_cursors;  /* (o) */
	struct swap_cursor *cursor;   /* (l) */
	struct swap_list lists[2];    /* (l) by enum cluster_place */
	int prio;		      /* (s) read anywhere */
	u8 state;		      /* (s) enum area_state */
	bool is_file;		      /* (o) */
	bool told_write, told_read;   /* an error of writing, reading was told */
	atomic_t users;		      /* swap_get, and one while it is open; 0: gone */
	const struct swap_ops *ops;   /* (o) */
	void *owner;		      /* (o) */
	struct bdi *bdi;	      /* (o) */
	char *path;		      /* (o) */
};
extern struct swap_area swap_areas[MAX_SWAP_AREAS];

/*
 * Areas that give slots out, highest priority first; among equals the older one first. Changed
 * under swap_lock; readers take no lock and look again when version has changed.
 */
struct swap_order {
	u32 version, n;
	u8 type[MAX_SWAP_AREAS];
};
extern struct swap_order swap_order;
/* After so many slots it is the next one's turn among areas of one priority: a batch of reclaim */
#define SWAP_TURN 32u
void swap_order_insert(unsigned int type); /* => swap_lock */
void swap_order_remove(unsigned int type); /* => swap_lock */

/*
 * Sets nr_slots, clusters and lists of an area whose arrays (slot, cluster: zeroed; cursor) and
 * their sizes are there. => nobody sees it yet; how many slots can be used
 */
u64 slots_init(struct swap_area *a, u64 nr_slots, const u64 *bad, u32 nr_bad);
static inline u32 slots_clusters(u64 nr_slots)
{
	return (nr_slots + CLUSTER_SLOTS - 1) / CLUSTER_SLOTS;
}
/* A free slot, its cache bit set; 0: none. */
u64 area_slot_get(struct swap_area *a, u32 cpu);
/* Validator: NULL or what is wrong. => nobody uses the area meanwhile */
const char *area_check(struct swap_area *a);

#endif
