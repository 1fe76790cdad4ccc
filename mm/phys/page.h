/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.h - struct page: 64 bytes per frame, the word everything in mm/ is about.
 *
 * The array is virtually contiguous and sparse (VMEMMAP_START + pfn), so pfn_to_page is an
 * addition.
 *
 * Locks: (z) zone->lock (l) zone->lru_lock (m) mapping->lock (P) page lock bit (a) atomic (o) owner
 * of the page
 */
#ifndef MM_PHYS_PAGE_H
#define MM_PHYS_PAGE_H

#include "arch/atomic.h"
#include "arch/page.h"
#include "lib/list.h"

struct mapping;
struct memcg;
struct slab_cache;
struct anon_vma;
struct spinlock;

enum page_flag {
	PG_locked,
	PG_referenced,
	PG_uptodate,
	PG_dirty,
	PG_writeback,
	PG_lru, /* on an LRU list (l) */
	PG_active,
	PG_unevictable,
	PG_mlocked,
	PG_workingset,
	PG_reclaim, /* rotate to the tail when writeback ends */
	PG_error,
	PG_private,    /* private holds buffers or the like */
	PG_swapbacked, /* anon or tmpfs: its home is swap */
	PG_swapcache,
	PG_buddy, /* free, head of a block of order private (z) */
	PG_slab,
	PG_reserved, /* never given to the buddy */
	PG_head,     /* head of a compound page; order in compound_order() */
	PG_tail,     /* not set in huge pages of programs (mm/vm/thp.h): nobody holds a part */
	PG_anon,     /* mapping is an anon_vma */
	PG_waiters,  /* somebody sleeps on locked/writeback */
	PG_table,    /* page-table page */
	PG_pcp,	     /* on a per-CPU list */
	PG_isolated, /* taken off the LRU for migration */
	PG_readahead,
	PG_lru_pending, /* waits in a CPU's batch to be put on an LRU list */
	PG_homed,	/* every block of this file page has its place on the device */
	PG_wb_epoch,	/* which half of bdi->inflight counts it while PG_writeback is set */
	PG_kstack,	/* of a kernel stack */
	PG_vmalloc,	/* behind vmalloc */
	PG_kmalloc,	/* larger than any slab's objects, from kmalloc */
	NR_PAGE_FLAGS,
};
/*
 * flags bits 48..50: node, 51..53: zone index in the node. Set at boot, never changed. Together
 * they are the zone id, dense enough to index a per-CPU table.
 */
#define PAGE_NODE_SHIFT 48
#define PAGE_ZONE_SHIFT 51
#define PAGE_ZID_MASK 0x3ful
#define NR_ZIDS 64
#define PAGE_ZONE_BITS (PAGE_ZID_MASK << PAGE_NODE_SHIFT)

struct page {
	unsigned long flags; /* (a) */
	union {
		struct list_head lru; /* LRU (l), buddy (z), pcp (p), owner's list */
		struct {	      /* tail of a compound page */
			struct page *head;
			unsigned long comp_order; /* first tail: order of the compound page */
		};
		struct page *pcp_next; /* on a per-CPU list (p) */
	};
	union {
		struct mapping *mapping;       /* page cache (m) */
		struct anon_vma *anon_vma;     /* PG_anon */
		struct slab_cache *slab_cache; /* PG_slab; slabs are linked through lru */
	};
	union {
		/* offset in the mapping / virtual page number for anon, in pages */
		unsigned long index;
		struct {
			u32 slab_inuse, slab_objects;
		};
	};
	union {
		unsigned long private; /* buddy order (z); swap entry; fs private */
		void *slab_free;       /* PG_slab: first free object */
	};
	atomic_t mapcount;   /* number of PTEs mapping it, minus one; -1 when free */
	atomic_t refs;	     /* 0 = free */
	struct memcg *memcg; /* owning group; root at first */
};
_Static_assert(sizeof(struct page) <= 64, "struct page must fit a cache line");

#ifdef QUIRE_HOST
extern struct page *host_mem_map;
extern unsigned long host_first_pfn;
#define pfn_to_page(pfn) (host_mem_map + ((pfn)-host_first_pfn))
#define page_to_pfn(page) ((unsigned long)((page)-host_mem_map) + host_first_pfn)
#else
#define pfn_to_page(pfn) ((struct page *)VMEMMAP_START + (pfn))
#define page_to_pfn(pg) ((unsigned long)((pg) - (struct page *)VMEMMAP_START))
#endif
/* Is there a struct page (and RAM) behind pfn? */
bool pfn_valid(unsigned long pfn);

static __always_inline phys_addr_t page_to_phys(const struct page *page)
{
	return PFN_PHYS(page_to_pfn(page));
}
static __always_inline void *page_address(const struct page *page)
{
	return __va(page_to_phys(page));
}
static __always_inline struct page *virt_to_page(const void *va)
{
	return pfn_to_page(__pa(va) >> PAGE_SHIFT);
}
static __always_inline int page_node(const struct page *page)
{
	return (page->flags >> PAGE_NODE_SHIFT) & 7;
}
static __always_inline int page_zone_index(const struct page *page)
{
	return (page->flags >> PAGE_ZONE_SHIFT) & 7;
}
static __always_inline unsigned int page_zid(const struct page *page)
{
	return (page->flags >> PAGE_NODE_SHIFT) & PAGE_ZID_MASK;
}
static __always_inline bool page_test(const struct page *page, enum page_flag f)
{
	return (READ_ONCE(page->flags) >> f) & 1;
}
static __always_inline void page_set(struct page *page, enum page_flag f)
{
	set_bit(f, &page->flags);
}
static __always_inline void page_clear(struct page *page, enum page_flag f)
{
	clear_bit(f, &page->flags);
}
static __always_inline bool page_test_and_set(struct page *page, enum page_flag f)
{
	return test_and_set_bit(f, &page->flags);
}
static __always_inline bool page_test_and_clear(struct page *page, enum page_flag f)
{
	return test_and_clear_bit(f, &page->flags);
}
static __always_inline struct page *page_head(struct page *page)
{
	return unlikely(page_test(page, PG_tail)) ? page->head : page;
}
/* Order of the block a page heads: 0 unless it is a compound page. */
static __always_inline unsigned int compound_order(const struct page *page)
{
	return unlikely(page_test(page, PG_head)) ? (unsigned int)page[1].comp_order : 0;
}
/* Frames it stands for. */
static __always_inline unsigned int page_nr(const struct page *page)
{
	return 1u << compound_order(page);
}
static __always_inline int page_mapcount(const struct page *page)
{
	return atomic_read(&page->mapcount) + 1;
}
static __always_inline bool page_mapped(const struct page *page)
{
	return atomic_read(&page->mapcount) >= 0;
}
static __always_inline void page_get(struct page *page)
{
	atomic_inc(&page->refs);
}
/* Speculative: fails when the page is free or frozen. => under rcu_read_lock */
static __always_inline bool page_get_unless_zero(struct page *page)
{
	return atomic_inc_not_zero(&page->refs);
}
/* Drops a reference; the last one frees the page (off the LRU first). => mm/phys/page_alloc.c */
void __page_free_last(struct page *page);
/* mm/reclaim/lruvec.c: takes a page without references off its LRU list. */
void page_lru_release(struct page *page);
/*
 * The same file: its writeback ended while reclaim wanted it, so it goes to the tail of its
 * inactive list. => any context
 */
void page_lru_rotate(struct page *page);
static __always_inline void page_put(struct page *page)
{
	if (atomic_dec_and_test(&page->refs))
		__page_free_last(page);
}
/* Freeze: refcount from expected to 0, so nobody can get it (migration, truncation). */
static __always_inline bool page_ref_freeze(struct page *page, int expected)
{
	return atomic_cmpxchg(&page->refs, expected, 0) == expected;
}
static __always_inline void page_ref_unfreeze(struct page *page, int n)
{
	atomic_set(&page->refs, n);
}

/*
 * Temporary kernel address of any page (a strict High zone is not in the direct map). Today: the
 * direct map.
 */
static __always_inline void *page_kmap(struct page *page)
{
	return page_address(page);
}
static __always_inline void page_kunmap(void *va)
{
	(void)va;
}

/* Page lock and writeback waits: mm/phys/page_wait.c. */
void page_lock(struct page *page); /* may sleep */
bool page_trylock(struct page *page);
void page_unlock(struct page *page);
void page_wait_writeback(struct page *page);
/*
 * => any context. The page is not touched after PG_writeback is clear: nobody need hold it, its
 *    cache's reference (kept while the flag is set) is enough
 */
void page_end_writeback(struct page *page);
int page_lock_killable(struct page *page);
/*
 * Drops the caller's reference, then sleeps until somebody unlocked the page (or wakes too early).
 * So who waits for a page to have been moved does not keep it from being moved.
 */
void page_wait_unlocked_put(struct page *page);
/*
 * The same without a reference: *lock, which is given up here, is what keeps the page locked and
 * with its owner until then.
 */
void page_wait_unlocked_under(struct page *page, struct spinlock *lock);

#endif
