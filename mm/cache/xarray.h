/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xarray.h - sparse array from unsigned long to pointers with three tags, radix 64; lookups under
 * RCU, changes under the owner's lock. Nodes come from a slab; xa_store may return -ENOMEM with
 * GFP_NOWAIT, callers then allocate a node outside the lock (xa_node_alloc), hand it in under the
 * lock (xa_add_spare) and try again.
 *
 * An item is a pointer or a value: a number of 63 bits, told apart by bit 0. All functions here
 * treat both alike, except that a value has no tags; what a value means is the owner's affair.
 */
#ifndef MM_CACHE_XARRAY_H
#define MM_CACHE_XARRAY_H

#include "lib/types.h"

enum xa_tag { XA_DIRTY, XA_WRITEBACK, XA_TOWRITE, XA_NR_TAGS };
struct xa_node;
static inline bool xa_is_value(const void *item)
{
	return (unsigned long)item & 1;
}
static inline void *xa_mk_value(unsigned long v)
{
	return (void *)(v << 1 | 1);
}
static inline unsigned long xa_to_value(const void *item)
{
	return (unsigned long)item >> 1;
}
struct xarray {
	struct xa_node *root;  /* or NULL */
	u32 height;	       /* 0 = empty */
	u32 value_nodes;       /* lowest nodes that hold values alone */
	struct xa_node *spare; /* nodes set aside for the next store, linked by parent */
};
void *xa_load(const struct xarray *xa, unsigned long index); /* => RCU or lock */
/*
 * Copies the slots index, index+1, ... into items (NULL = empty), at most n and never past one
 * node: how many. => RCU
 */
unsigned int xa_load_batch(const struct xarray *xa, unsigned long index, unsigned int n,
			   void **items);
/* 0, -EEXIST, -ENOMEM; gfp 0: from the spare nodes alone, the allocator is not called. => lock */
int xa_store(struct xarray *xa, unsigned long index, void *item, gfp_t gfp);
/* The item before; NULL: the slot is empty, and stays so. A value in a page's place has no tags. */
void *xa_replace(struct xarray *xa, unsigned long index, void *item);
void *xa_erase(struct xarray *xa, unsigned long index); /* the item or NULL */
void xa_set_tag(struct xarray *xa, unsigned long index, enum xa_tag tag);
/*
 * Items from *index on (<= last) that have tag `from` get tag `to` as well: those of one node, up
 * to 64, in one step; *index becomes the last index of that node. false: there was none. => lock
 */
bool xa_copy_tag(struct xarray *xa, unsigned long *index, unsigned long last, enum xa_tag from,
		 enum xa_tag to);
void xa_clear_tag(struct xarray *xa, unsigned long index, enum xa_tag tag);
bool xa_get_tag(const struct xarray *xa, unsigned long index, enum xa_tag tag);
bool xa_tagged(const struct xarray *xa, enum xa_tag tag);
/* First item at or after *index (<= last); *index becomes its index. NULL: none. */
void *xa_find(const struct xarray *xa, unsigned long *index, unsigned long last);
void *xa_find_tag(const struct xarray *xa, unsigned long *index, unsigned long last,
		  enum xa_tag tag);
struct xa_node *xa_node_alloc(gfp_t gfp);		    /* NULL when out of memory */
void xa_add_spare(struct xarray *xa, struct xa_node *node); /* => lock; takes node over */
/*
 * Looks at up to XA_FORGET_NODES lowest nodes from *index on for one that holds values alone, and
 * empties it: how many values went, 0: none of these. *index moves behind what was looked at, to 0 at
 * the end. => lock
 */
#define XA_FORGET_NODES 16u
unsigned int xa_forget_values(struct xarray *xa, unsigned long *index);
/*
 * Frees the spare nodes (and, were there any, the rest): the array is empty afterwards. => nobody
 * else sees it
 */
void xa_destroy(struct xarray *xa);
void xa_init_cache(void);
/* Validator: every node counted, linked and tagged as it should be. Number of items, or -1. */
long xa_check(const struct xarray *xa);

#endif
