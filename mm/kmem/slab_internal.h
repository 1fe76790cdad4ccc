/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slab_internal.h - the parts of the slab allocator between its files (slab.c, kmalloc.c,
 * slab_show.c).
 */
#ifndef MM_KMEM_SLAB_INTERNAL_H
#define MM_KMEM_SLAB_INTERNAL_H

#include "kernel/spinlock.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"

#define SLAB_MAX_CACHES 112
#define SLAB_BATCH 32 /* objects moved under one lock */

struct slab_node { /* (s) its lock, IRQs off */
	spinlock_t lock;
	struct list_head partial; /* slabs with free objects, empty ones at the tail (s) */
	struct list_head full;	  /* (s) */
	unsigned long nr_slabs, nr_objects; /* (s) */
	unsigned long nr_free;		    /* free objects in slabs (s) */
	unsigned long nr_empty, nr_partial; /* slabs (s) */
};

/*
 * This CPU's free objects of one cache: touched by its CPU with preemption off, never by
 * interrupts.
 */
struct slab_cpu {
	void *head;
	s64 room; /* objects it still takes: limit minus its objects */
};
DECLARE_PER_CPU(struct slab_cpu[SLAB_MAX_CACHES], slab_cpus);
/* node whose objects this CPU keeps; -1 before kmem_init: none */
DECLARE_PER_CPU(int, slab_local_nid);

struct slab_cache {
	struct slab_cpu *cpu; /* template address: this_cpu_ptr() it */
	u32 free_off;	      /* where a free object keeps the link */
	u32 limit;	      /* objects a CPU keeps at most */
	u32 obj_size, stride;
	u32 batch;
	u32 flags;
	u32 order, per_slab;
	u32 align, id;
	gfp_t gfp;
	void (*ctor)(void *);
	const char *name;
	struct slab_cache *next;
	struct slab_node node[]; /* nr_nodes */
};
extern struct slab_cache *slab_caches; /* all, newest first; never shrinks */

void *slab_alloc_slow(struct slab_cache *c, gfp_t gfp, int node);
void slab_free_slow(struct slab_cache *c, void *obj, struct page *slab);

#ifdef QUIRE_DEBUG
void slab_debug_init(struct slab_cache *c, void *obj);
void slab_debug_alloc(struct slab_cache *c, void *obj);
void slab_debug_free(struct slab_cache *c, void *obj);
#else
#define slab_debug_init(c, obj) ((void)0)
#define slab_debug_alloc(c, obj) ((void)0)
#define slab_debug_free(c, obj) ((void)0)
#endif

static __always_inline void **slab_link(const struct slab_cache *c, void *obj)
{
	return (void **)((char *)obj + c->free_off);
}
#ifdef QUIRE_DEBUG
#define kmalloc_link(c, obj) slab_link(c, obj)
#else
#define kmalloc_link(c, obj)                                                                       \
	((void **)(obj)) /* kmalloc's caches have no constructor: the link is the first word */
#endif

void slab_free_fallback(struct slab_cache *c, void *obj, struct page *slab);
void *slab_alloc_fallback(struct slab_cache *c, gfp_t gfp);
void *slab_reschedule(void *obj); /* preempt_schedule(), then obj: a tail call */

/* LINK: slab_link or kmalloc_link. */
#define SLAB_ALLOC(c, gfp, LINK)                                                                   \
	({                                                                                         \
		struct slab_cache *_c = (c);                                                       \
		struct slab_cpu *_sc;                                                              \
		void *_obj;                                                                        \
                                                                                                   \
		preempt_disable_short();                                                           \
		_sc = this_cpu_ptr(_c->cpu);                                                       \
		_obj = _sc->head;                                                                  \
		if (unlikely(!_obj || in_interrupt())) {                                           \
			preempt_enable_short_later();                                              \
			return slab_alloc_fallback(_c, gfp);                                       \
		}                                                                                  \
		_sc->head = *LINK(_c, _obj);                                                       \
		_sc->room++;                                                                       \
		slab_debug_alloc(_c, _obj);                                                        \
		if (preempt_enable_short_test())                                                   \
			return slab_reschedule(_obj);                                              \
		_obj;                                                                              \
	})

/*
 * slab: head page of obj. An object of another node goes home at once, so that this CPU's list
 * stays near.
 */
#define SLAB_FREE(c, obj, slab, LINK)                                                              \
	do {                                                                                       \
		struct slab_cache *_c = (c);                                                       \
		struct slab_cpu *_sc;                                                              \
                                                                                                   \
		preempt_disable_short();                                                           \
		_sc = this_cpu_ptr(_c->cpu);                                                       \
		if (unlikely(_sc->room <= 0 || page_node(slab) != this_cpu_read(slab_local_nid) || \
			     in_interrupt())) {                                                    \
			preempt_enable_short_later();                                              \
			slab_free_fallback(_c, obj, slab);                                         \
			return;                                                                    \
		}                                                                                  \
		slab_debug_free(_c, obj);                                                          \
		*LINK(_c, obj) = _sc->head;                                                        \
		_sc->head = (obj);                                                                 \
		_sc->room--;                                                                       \
		preempt_enable_short();                                                            \
	} while (0)

#endif
