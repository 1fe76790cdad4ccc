/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xarray.h - sparse array from unsigned long to pointers with three tags, radix 64; lookups under RCU, changes under the
 * owner's lock. Nodes come from a slab; preload-free: xa_store may return -ENOMEM with GFP_NOWAIT, callers retry after
 * xa_reserve() outside the lock.
 */
#ifndef MM_CACHE_XARRAY_H
#define MM_CACHE_XARRAY_H

#include "lib/types.h"

enum xa_tag { XA_DIRTY, XA_WRITEBACK, XA_TOWRITE, XA_NR_TAGS };
struct xa_node;
struct xarray {
	struct xa_node *root; /* or NULL */
	u32 height;           /* 0 = empty */
};
void *xa_load(const struct xarray *xa, unsigned long index); /* => RCU or lock */
int xa_store(struct xarray *xa, unsigned long index, void *item, gfp_t gfp); /* 0, -EEXIST, -ENOMEM; => lock */
void *xa_replace(struct xarray *xa, unsigned long index, void *item); /* old item; slot must exist */
void *xa_erase(struct xarray *xa, unsigned long index); /* the item or NULL */
void xa_set_tag(struct xarray *xa, unsigned long index, enum xa_tag tag);
void xa_clear_tag(struct xarray *xa, unsigned long index, enum xa_tag tag);
bool xa_get_tag(const struct xarray *xa, unsigned long index, enum xa_tag tag);
bool xa_tagged(const struct xarray *xa, enum xa_tag tag);
/* First item at or after *index (<= last); *index becomes its index. NULL: none. */
void *xa_find(const struct xarray *xa, unsigned long *index, unsigned long last);
void *xa_find_tag(const struct xarray *xa, unsigned long *index, unsigned long last, enum xa_tag tag);
void xa_init_cache(void);

#endif
