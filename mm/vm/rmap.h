/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rmap.h - from a page to the page-table entries that map it. Reclaim, migration and mlock use it.
 */
#ifndef MM_VM_RMAP_H
#define MM_VM_RMAP_H

#include "arch/mmu.h"
#include "mm/phys/page.h"
#include "sched/mutex.h"

struct aspace;
struct vma;

/*
 * Where pages of a VMA come from when they are not a file's. refs = attached VMAs + pages mapped +
 * children + holders. anon_vma.c holds the theory.
 */
struct anon_vma {
	struct anon_vma *root, *parent; /* root: itself; parent NULL at the root */
	atomic_t refs;
	struct list_head vmas;	   /* (r) attached, by anon_chain */
	struct list_head children; /* (r) made by fork */
	struct list_head sibling;  /* (r) */
	struct mutex lock;	   /* (r) in the root: RANK_ANON_VMA */
};

void anon_vma_init(void);
int __anon_vma_prepare(struct vma *vma);
int anon_vma_fork(struct vma *child, const struct vma *parent); /* 0 or -ENOMEM */
/* => root locked; takes a reference */
void anon_vma_attach(struct vma *vma, struct anon_vma *av);
/* => root locked; the reference stays, the caller puts it after unlocking */
void anon_vma_detach(struct vma *vma);
void anon_vma_put(struct anon_vma *av, int n); /* may sleep */
/*
 * The tree a mapped page belongs to, referenced; NULL when it is not mapped (any more). => page
 * referenced
 */
struct anon_vma *page_anon_vma_get(struct page *page);
unsigned long anon_vma_count(void); /* objects alive (tests) */

/*
 * Calls fn for each entry that maps page: under that address space's pt_lock, *pte maps page now.
 * fn returns non-zero to stop; rmap_walk returns it. fn may change *pte (and then owns the
 * bookkeeping: mapcount, rss, TLB). Of a huge page the entries are PMDs.
 * => page referenced and locked, so that it stays in its mapping and keeps its anon_vma; may sleep
 *    between entries
 */
typedef int (*rmap_fn)(struct page *page, struct vma *vma, unsigned long addr, pte_t *pte,
		       void *arg);
int rmap_walk(struct page *page, rmap_fn fn, void *arg);
/* Accessed bits of all entries, taken away; number of entries that had it. For reclaim. */
int page_referenced(struct page *page, unsigned long *vm_flags);
/*
 * The same of the entries alone, and it waits for no lock: reclaim may be called with any above
 * this room's. -EAGAIN: the list of mappings cannot be had now. => page locked
 */
int page_referenced_ptes(struct page *page, unsigned long *vm_flags);

/* mlock.c: a VM_LOCKED VMA maps the page; the last mapping of a page went, or the page itself. */
void mlock_page(struct page *page);
void mlock_page_gone(struct page *page);

/* ---- migration (migrmap.c) ---- */

/* The mappings of one page, held still: no VMA comes, goes or moves until rmap_release(). */
struct rmap_hold {
	struct page *page;
	struct anon_vma *av;	 /* of an anonymous page, referenced */
	struct mapping *mapping; /* of a file page */
	int puts;		 /* references to av the page's mappings gave up */
};
/*
 * 0; -ENOENT: the page has no mappings; -EAGAIN: the lock is held and wait is 0. => page locked and
 * referenced
 */
int rmap_hold(struct rmap_hold *h, struct page *page, int wait);
/*
 * Every entry of the page becomes a migration entry: mappings and their references are gone,
 * resident counts stay. => number; if page_mapped() still says yes, a fork is just adding one
 */
int rmap_to_migration(struct rmap_hold *h);
/*
 * Every migration entry of h->page becomes a mapping of `to`, which may be the page itself; it is
 * PG_mlocked where a VM_LOCKED VMA maps it. => number; to: locked, its index and mapping set
 */
int rmap_from_migration(struct rmap_hold *h, struct page *to);
void rmap_release(struct rmap_hold *h); /* may sleep */

/*
 * For reclaim: every entry of a page in the swap cache becomes a swap entry. 0: what could be seen
 * is done (page_mapped() tells whether any is left); 1: it is in use, or locked in memory, and some
 * are left; -EAGAIN: the list of mappings cannot be had now. => page locked, waits for no lock
 */
int page_swap_out_entries(struct page *page);

#endif
