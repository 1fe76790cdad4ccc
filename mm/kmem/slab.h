/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slab.h - kernel objects: caches of equal objects with per-CPU free lists, kmalloc on size
 * classes, shrinkers.
 */
#ifndef MM_KMEM_SLAB_H
#define MM_KMEM_SLAB_H

#include "lib/list.h"
#include "lib/types.h"
#include "mm/phys/gfp.h"

struct slab_cache;
#define SLAB_RECLAIMABLE 1u  /* counted in SReclaimable; owner registers a shrinker */
#define SLAB_HWALIGN 2u	     /* 64-byte alignment */
#define SLAB_TYPESAFE_RCU 4u /* memory returns to pages only after a grace period */
/* ctor (may be NULL) runs once per object when its slab is made. NULL when out of memory. */
struct slab_cache *slab_create(const char *name, size_t size, size_t align, unsigned int flags,
			       void (*ctor)(void *));
void *slab_alloc(struct slab_cache *c, gfp_t gfp); /* NULL when out of memory; __GFP_ZERO clears */
void slab_free(struct slab_cache *c, void *obj);
/* Gives empty slabs back; returns pages freed. */
unsigned long slab_shrink(struct slab_cache *c);
unsigned long slab_shrink_all(void);		     /* of all caches. => may sleep */
unsigned long slab_free_empty(void);		     /* the same, without other CPUs' objects */
unsigned long slab_nr_objects(struct slab_cache *c); /* in use */

void *kmalloc(size_t bytes, gfp_t gfp); /* up to 4 MiB; NULL when out of memory */
void *kmalloc_node(size_t bytes, gfp_t gfp, int node);
static inline void *kzalloc(size_t bytes, gfp_t gfp)
{
	return kmalloc(bytes, gfp | __GFP_ZERO);
}
void kfree(const void *p);   /* NULL is fine */
size_t ksize(const void *p); /* usable bytes */
void *krealloc(void *p, size_t bytes, gfp_t gfp);
char *kstrdup(const char *s, gfp_t gfp);
void *kmemdup(const void *p, size_t n, gfp_t gfp);

void kmem_init(void); /* after mm_phys_init */

/* Shrinkers: count objects that could go, scan (free) at most nr. */
struct shrinker {
	const char *name;
	unsigned long (*count)(struct shrinker *s);
	unsigned long (*scan)(struct shrinker *s, unsigned long nr); /* number freed */
	/* Objects of one call; 0: 128, and then they count as slabs_scanned. */
	u32 batch;
	unsigned long deferred; /* asked for, but less than a batch */
	struct list_head node;
};
/* What a thread that shrinks slabs frees besides objects: current->reclaim_state. */
struct reclaim_state {
	unsigned long inode_pages; /* page cache of inodes that went */
};
void shrinker_register(struct shrinker *s);
unsigned long shrink_slab_all(unsigned long nr_each); /* drop_caches 2, and the last resort */
/*
 * As hard as pages were just scanned: scanned of lru_pages. => may sleep; objects freed; *pages
 * rises by the pages they gave back
 */
unsigned long shrink_slab(unsigned long scanned, unsigned long lru_pages, unsigned long *pages);

#endif
