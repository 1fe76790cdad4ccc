/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * swap.h - memory of programs on a disk: places (slots) in swap areas, and the swap cache.
 *
 * A slot holds one page. Its count says how many page-table entries (and places in shared memory
 * objects) name it; one bit says that the swap cache holds the page as well. When both are gone the
 * slot is free. A page in the swap cache has PG_swapcache and its entry in page->private; it is
 * found by the entry until swapcache_delete(). While a page is in the swap cache and clean, its slot
 * holds the same bytes.
 *
 * Life:  reclaim: swapcache_add_new (slot + cache) -> entries replaced by swap entries -> written ->
 *        swapcache_delete -> page free.   Fault: swapin -> mapped -> swap_free(entry); when nobody
 *        else names the slot, the page may leave it (swap_try_to_free).
 *
 * Locks: page lock: a page's membership in the cache. area->lock: counts and free slots (leaf,
 * spinlock, IRQs on).
 */
#ifndef MM_SWAP_SWAP_H
#define MM_SWAP_SWAP_H

#include "arch/mmu.h"
#include "mm/phys/page.h"

struct bdi;
struct vma;

#define MAX_SWAP_AREAS 32
#define SWAP_OFFSET_BITS 40

/* type << 40 | offset; 0: none (slot 0 of every area is its header) */
typedef struct {
	unsigned long v;
} swp_entry_t;
static inline swp_entry_t swp_entry(unsigned int type, u64 offset)
{
	return (swp_entry_t){ (unsigned long)type << SWAP_OFFSET_BITS | offset };
}
static inline unsigned int swp_type(swp_entry_t e)
{
	return (unsigned int)(e.v >> SWAP_OFFSET_BITS);
}
static inline u64 swp_offset(swp_entry_t e)
{
	return e.v & ((1ul << SWAP_OFFSET_BITS) - 1);
}
static inline pte_t swp_to_pte(swp_entry_t e)
{
	return pte_make_swap(swp_type(e), swp_offset(e));
}
static inline swp_entry_t pte_to_swp(pte_t e)
{
	return swp_entry(pte_swap_type(e), pte_swap_offset(e));
}
static inline swp_entry_t page_swp(const struct page *page)
{
	return (swp_entry_t){ page->private };
}

/* ---- areas (area.c) ---- */

/* What the owner of the file or device gives at swapon (fs/). */
struct swap_ops {
	/*
	 * Starts the I/O of one page at a slot. done(page, err) is called later (or at once), from any
	 * context that may end I/O. 0 or -ENOMEM (nothing was started). => page locked or under
	 * writeback; never waits for memory that needs I/O
	 */
	int (*submit)(void *owner, u64 slot, struct page *page, bool write,
		      void (*done)(struct page *page, int err));
	/* The area's last user is gone. => may sleep */
	void (*release)(void *owner);
};
struct swap_new {
	const char *path; /* for /proc/swaps; copied */
	const struct swap_ops *ops;
	void *owner;
	struct bdi *bdi; /* of the device, for congestion; NULL: memory */
	u64 slots;	 /* header included */
	bool is_file, prefer;
	int prio; /* with prefer: 0..32767 */
	const u64 *bad; /* slots that cannot be used */
	u32 nr_bad;
};
/* A new area. 0, -ENOMEM, -EPERM (32 are in use), -EINVAL (no slot left). => may sleep */
int swap_area_add(const struct swap_new *n);
/*
 * Everything in the area of this owner comes back to memory, then the area goes. 0, -ENOMEM, -EINTR
 * (a signal; the area is in use again), -EINVAL (none). => may sleep, long
 */
int swap_area_remove(void *owner);

/* Free and all slots, over all areas. */
unsigned long nr_swap_pages(void);
unsigned long total_swap_pages(void);
/* More than half of all slots are taken: pages that come back leave their slots at once. */
bool swap_half_full(void);
/* The device of an entry's area; NULL: none. */
struct bdi *swap_bdi(swp_entry_t e);

/* ---- slots (slots.c) ---- */

/* One more name for a used slot (fork). 0 or -ENOENT: the entry means nothing (bad table). */
int swap_dup(swp_entry_t e);
/* n names fewer. The slot becomes free when nothing is left. => any thread context */
void swap_free_nr(swp_entry_t e, unsigned int n);
static inline void swap_free(swp_entry_t e)
{
	swap_free_nr(e, 1);
}
/* Names of the slot, the cache not counted; -1: no such slot, or it is free. */
int swap_count(swp_entry_t e);
/* A free slot with its cache bit set and count 0; {0}: swap is full. */
swp_entry_t swap_slot_get(void);
/* The cache bit: set on a used slot (0; -EEXIST: it is set; -ENOENT: slot is free), cleared. */
int swap_slot_cache(swp_entry_t e);
void swap_slot_uncache(swp_entry_t e);
/*
 * A slot of an area a lookup is about to touch keeps the area from going. false: no such slot (area
 * gone, out of range). => swap_put with true
 */
bool swap_get(swp_entry_t e);
void swap_put(swp_entry_t e);

/* ---- the cache (cache.c) ---- */

/*
 * Page gets a slot and enters the cache: PG_swapcache, private, one reference more, PG_dirty. 0,
 * -ENOSPC, -ENOMEM. => page locked, swap-backed, not in the cache
 */
int swapcache_add_new(struct page *page);
/* The cached page of an entry, referenced; NULL. */
struct page *swapcache_find(swp_entry_t e);
/* Out of the cache, its reference with it, the slot's cache bit too. => page locked, clean or dying, not
 * under writeback */
void swapcache_delete(struct page *page);
/*
 * For reclaim: the same if nobody but cache and caller has a reference and it is clean: refs become
 * 0, the caller frees. => page locked
 */
bool swapcache_drop(struct page *page);
/*
 * The page leaves the cache if no entry names its slot any more (its slot is freed and it becomes
 * dirty: memory is its only place). true: it left. => page locked
 */
bool swap_try_to_free(struct page *page);
/* Nobody but this one mapping has the page, counting entries on disk. => page locked */
bool swap_page_alone(struct page *page);
/* SwapCached of /proc/meminfo. */
unsigned long swapcache_pages(void);

/* ---- I/O (io.c) ---- */

/*
 * Writes a locked page of the cache whose dirty state was cleared; unlocks it. Counts PSWPOUT.
 * An error leaves it dirty and is told once per area. 0 or -ENOMEM (dirty again, unlocked)
 */
int swap_write_page(struct page *page);
/* Reads a locked page of the cache, unlocks it when it is there (PG_uptodate) or not. Counts PSWPIN. */
void swap_read_page(struct page *page);

/* ---- coming back (swapin.c) ---- */

/*
 * The page of an entry, referenced, in the cache, perhaps still being read (locked): reads it with
 * its neighbours of 2^page-cluster slots. vma, addr: for the policy; vma may be NULL. *major is set
 * when it had to be read. NULL: out of memory or the entry is stale (look again). => may sleep
 */
struct page *swapin(swp_entry_t e, struct vma *vma, unsigned long addr, bool *major);

/*
 * swapoff: every entry of this type in every address space and shared memory object comes back. 0,
 * -ENOMEM, -EINTR (unuse.c). => no new slot of the type is given out
 */
int swap_unuse(unsigned int type);

/* ---- shared memory objects (shmem.c) ---- */

struct mapping;
/*
 * Reclaim: a dirty, locked, unmapped page of a SHMEM mapping moves to a slot: the mapping's index
 * holds the entry from now on, the page is in the cache. 0 (still locked; to be written as any page of
 * the cache), -ENOSPC, -ENOMEM
 */
int shmem_swap_out(struct page *page);
/* swapoff: every entry of this type comes back into its mapping. 0, -ENOMEM, -EINTR */
int shmem_unuse(unsigned int type);

#endif
