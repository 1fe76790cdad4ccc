/* SPDX-License-Identifier: BSD-2-Clause */
/* vmalloc_internal.h - areas of kernel addresses, shared by vmalloc.c and kstack.c. */
#ifndef MM_KMEM_VMALLOC_INTERNAL_H
#define MM_KMEM_VMALLOC_INTERNAL_H

#include "mm/phys/zone.h"

enum { VMA_VMALLOC, VMA_IOREMAP, VMA_KSTACK };

struct vm_area {
	struct list_head node; /* in use: by address (l) */
	unsigned long va;
	u32 nr_pages; /* mapped */
	u32 span;     /* address pages it owns, guard not counted */
	u32 flags;    /* VMA_* */
	const void *caller;
	struct vm_area *next; /* lazy list, bins (l) */
};

/* Addresses for nr_pages and a guard page behind. => may sleep; NULL: none. */
struct vm_area *vm_area_alloc(u32 nr_pages, u32 flags);
/* Gives the addresses back once no TLB knows them. => nothing is mapped; any thread context */
void vm_area_free(struct vm_area *a);
/* Maps fresh frames, counted as item. => 0, -ENOMEM (then vm_area_unmap what is there). */
int vm_area_fill(struct vm_area *a, gfp_t gfp, int node, enum zone_stat_item item);
void vm_area_unmap(struct vm_area *a, enum zone_stat_item item);
/* The area whose first page p is, or NULL. */
struct vm_area *vm_area_of(const void *p);

void kstack_init(void);
extern struct list_head shrinkers;

#endif
