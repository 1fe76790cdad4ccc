/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model_store.h - where the data of a modelled disk lies: a piece of diskmem, pages allocated as
 * they are written, or (discard) only the metadata, in such pages.
 *
 * Locking: none inside; the device's timer function alone moves data, and one timer never runs
 * twice at a time.
 */
#ifndef DRIVERS_BLK_MODEL_STORE_H
#define DRIVERS_BLK_MODEL_STORE_H

#include "mm/cache/xarray.h"

struct model_store {
	char *mem;    /* NULL: pages */
	bool discard; /* keep only what is marked as metadata */
	u64 nr_sectors;
	struct xarray pages; /* by sector / 8 */
	u64 nr_pages;	     /* in the array */
	u64 kept_bytes, dropped_bytes, zero_read_bytes;
};

/* mem_pages: not in diskmem. 0, -ENOMEM (diskmem too small). => may sleep */
int store_init(struct model_store *s, u64 nr_sectors, bool mem_pages, bool discard);
void store_destroy(struct model_store *s); /* => may sleep */
/*
 * One piece of a transfer. meta: to be kept in any case. => softirq; 0, or -ENOMEM: may be partly
 * done, do it again later
 */
int store_write(struct model_store *s, u64 sector, const void *from, u32 bytes, bool meta);
void store_read(struct model_store *s, u64 sector, void *to, u32 bytes);
/* Zeros from here on. => bounded: how many sectors it did (of nr), > 0 */
u64 store_clear(struct model_store *s, u64 sector, u64 nr);

#endif
