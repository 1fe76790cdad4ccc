/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * swap.h - memory of programs on a disk: places (slots) in swap areas, and the swap cache.
 *
 * A slot holds one page. Its count says how many page-table entries (and places in shared memory
 * objects) name it; one bit says that the swap cache holds the page as well. When both are gone the
 * slot is free. A page in the swap cache has PG_swapcache and its entry in page->private; it is
 * found by the entry until swapcache_delete(). While a page is in the swap cache and clean, its
 * slot holds the same bytes.
 *
 * Life:  reclaim: swapcache_add_new (slot + cache) -> entries replaced by swap entries -> written
 *        -> swapcache_drop -> page free.   Fault: swapin -> mapped -> swap_free(entry); when nobody
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
	 * Starts the I/O of one page at a slot. done(page, err) is called later (or at once), from
	 * any context that may end I/O. 0 or -ENOMEM (nothing was started). => page locked or under
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
	bool seeks;	/* a rotating disk: all CPUs write at one place */
	int prio;	/* with prefer: 0..32767 */
	const u64 *bad; /* slots that cannot be used */
	u32 nr_bad;
};
/*
 * A new area. 0; else nothing of n was kept: -ENOMEM, -EPERM (32 are in use), -EINVAL (no slot
 * left). => may sleep
 */
int swap_area_add(const struct swap_new *n);
/*
 * Everything in the area of this owner comes back to memory, then the area goes (ops->release). 0;
 * else the area is in use as before: -ENOMEM, -EINTR (a signal), -EBUSY (slots that nobody gives
 * back: said so), -EINVAL (none of this owner, or it is going already). => may sleep, long
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

/*
 * What follows takes area->lock: never under a lock that interrupts take, nor in an interrupt.
 *
 * One more name for a used slot (fork). 0; -ENOENT: the entry means nothing (bad table); -ENOMEM:
 * 2^30 names
 */
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
/* Validator: NULL or what is wrong. */
const char *swap_check(void);

/* ---- the cache (cache.c) ---- */

/*
 * Page gets a slot and enters the cache: PG_swapcache, private, one reference more, PG_dirty. 0,
 * -ENOSPC, -ENOMEM. => page locked, swap-backed, not in the cache
 */
int swapcache_add_new(struct page *page);
/*
 * Migration: new takes old's place. 0; -EAGAIN: somebody but cache and caller has a reference. =>
 * both locked, old not mapped, not under writeback
 */
int swapcache_replace(struct page *old, struct page *new);
/* The cached page of an entry, referenced; NULL. */
struct page *swapcache_find(swp_entry_t e);
/*
 * Out of the cache, its reference with it, the slot's cache bit too. => page locked, clean or
 * dying, not under writeback
 */
void swapcache_delete(struct page *page);
/*
 * For reclaim: the same if nobody but cache and caller has a reference and it is clean, or nothing
 * names its slot any more. true: only the caller's reference is left. => page locked
 */
bool swapcache_drop(struct page *page);
/*
 * The page leaves the cache if no entry names its slot any more (its slot is freed and it becomes
 * dirty: memory is its only place). true: it left. => page locked
 */
bool swap_try_to_free(struct page *page);
/* Nobody but this one mapping has the page, counting entries on disk. => page locked */
bool swap_page_alone(struct page *page);
/*
 * An entry is gone for good (munmap): one name fewer, and when it was the last, the page leaves the
 * cache, if it can be had. => any thread context, spinlocks of page tables allowed
 */
void swap_forget(swp_entry_t e);
/*
 * A locked page, alone in its hands (refs 1, PG_swapbacked), becomes the cached page of a used
 * slot. 0, -EEXIST: there is one, -ENOENT: the slot is free, -ENOMEM
 */
int swapcache_add(struct page *page, swp_entry_t e);
/* SwapCached of /proc/meminfo. */
unsigned long swapcache_pages(void);
/* Validator: NULL or what is wrong. */
const char *swapcache_check(void);

/* ---- I/O (io.c) ---- */

/*
 * Writes a locked page of the cache whose dirty state was cleared; unlocks it. Counts PSWPOUT.
 * An error leaves it dirty and is told once per area. 0 or -ENOMEM (dirty again, unlocked)
 */
int swap_write_page(struct page *page);
/*
 * Between start and finish neighbours that are written or read become one transfer (a plug of the
 * block layer; what is gathered goes out too when the thread sleeps). Around a batch of reclaim,
 * around a readahead. Cheap when there is no area.
 */
struct swap_plug {
	void *space[3];
	bool started;
};
void swap_plug_start(struct swap_plug *plug);
void swap_plug_finish(struct swap_plug *plug);
/* Set by who gives areas (fs/): a plug of his in the space. */
struct swap_plug_ops {
	void (*start)(void *space);
	void (*finish)(void *space);
};
extern const struct swap_plug_ops *swap_plug_ops;
/* Reads a locked page of the cache; unlocks it, there (PG_uptodate) or not. Counts PSWPIN. */
void swap_read_page(struct page *page);

/* ---- coming back (swapin.c) ---- */

/*
 * The page of an entry, referenced, in the cache, perhaps still being read (locked): reads it with
 * its neighbours of 2^page-cluster slots. vma, addr: for the policy; vma may be NULL. *major is set
 * when it had to be read. NULL: out of memory or the entry is stale (look again). => may sleep
 */
struct page *swapin(swp_entry_t e, struct vma *vma, unsigned long addr, bool *major);
/* Begins to read the page of an entry, if it is not in the cache, alone. */
void swapin_start(swp_entry_t e, struct vma *vma, unsigned long addr);

/*
 * swapoff: every entry of this type in every address space and shared memory object comes back. 0,
 * -ENOMEM, -EINTR (unuse.c). => no new slot of the type is given out
 */
int swap_unuse(unsigned int type);

/* ---- shared memory objects (shmem.c) ---- */

struct mapping;
/*
 * Reclaim: a locked, unmapped page of a SHMEM mapping moves to a slot: the mapping's index holds
 * the entry from now on, the page is in the cache and dirty. 0 (still locked; to be written as any
 * page of the cache); else nothing has changed: -EBUSY (in use, or locked in memory), -ENOSPC,
 * -ENOMEM. => one reference of the caller beside the index's; the mapping is not touched after
 * success
 */
int shmem_swap_out(struct page *page);
/*
 * The page behind a value of the mapping's index comes back into it and out of swap: referenced,
 * uptodate, not locked. ERR_PTR: -EEXIST (the index holds something else by now: look again),
 * -ENOMEM, -EIO. *major: it had to be read. => a reference on the mapping; may sleep
 */
struct page *shmem_swap_in(struct mapping *m, unsigned long index, void *value, bool *major);
/*
 * The page behind a value is no longer wanted (truncation). 1: it went; 0: the index holds
 * something else. => as above, not m->lock
 */
unsigned int shmem_forget(struct mapping *m, unsigned long index, void *value);
/* The mapping is about to go: no page of it goes to swap any more, and swapoff has left it. */
void shmem_forget_mapping(struct mapping *m);
/* swapoff: every entry of this type comes back into its mapping. 0, -ENOMEM, -EINTR, -EIO */
int shmem_unuse(unsigned int type);

#endif
