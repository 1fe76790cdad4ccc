/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mapping.h - struct mapping: the pages of one file (or shared memory object, or block device), and
 * who maps it. The mapping, not the inode, is the unit of caching and writeback, so mm/ stands
 * below fs/.
 *
 * Locks: (t) mapping->lock, IRQs off: index and tags  (i) i_mmap_lock  (P) page lock
 * (w) list_lock of the wb (bdi.h)  (o) set once, before use
 */
#ifndef MM_CACHE_MAPPING_H
#define MM_CACHE_MAPPING_H

#include "kernel/spinlock.h"
#include "lib/errseq.h"
#include "lib/list.h"
#include "lib/rbtree.h"
#include "mm/cache/xarray.h"
#include "mm/phys/page.h"
#include "sched/mutex.h"

struct bdi;
struct dio_extent;
struct mapping;
struct ra_state;
struct writeback_control;

struct mapping_ops {
	/*
	 * Fill a locked, not uptodate page and unlock it. tmpfs: NULL (holes are zero pages made on
	 * demand).
	 */
	int (*read_page)(struct mapping *m, struct page *page);
	/*
	 * The same for nr pages of consecutive indexes, none waited for (readahead); a page that
	 * cannot be read is unlocked, not uptodate. The index holds them while they are locked.
	 * NULL: read_page one by one.
	 */
	void (*read_pages)(struct mapping *m, struct page **pages, unsigned int nr);
	/*
	 * Bytes [pos, pos + n) of one page are about to be written: give each block under them a
	 * home. 0, -ENOSPC, -EIO... Sets PG_homed on page (NULL: none yet; *homed instead) when
	 * every block of it has one: then no later write asks again. NULL: always room. => a fresh
	 * page is in the index, locked and not uptodate (nobody reads what its new blocks held
	 * before); others are uptodate and not locked; writers exclude each other
	 */
	int (*write_begin)(struct mapping *m, struct page *page, u64 pos, size_t n, bool *homed);
	/*
	 * Write a locked page whose dirty state was cleared: page_start_writeback, page_unlock,
	 * submit; or page_redirty and page_unlock. NULL: memory is its home (tmpfs).
	 */
	int (*write_page)(struct mapping *m, struct page *page, struct writeback_control *wbc);
	/* Many: NULL: mapping_write_generic with write_page. */
	int (*write_pages)(struct mapping *m, struct writeback_control *wbc);
	/* The owner's attributes to their place on the device (a block of its cache). NULL: none */
	int (*write_owner)(struct mapping *m, struct writeback_control *wbc);
	/* A reference on the owner. => any context; release: may sleep */
	void (*hold)(struct mapping *m);
	void (*release)(struct mapping *m);
	/* The page has left the mapping: drop what PG_private stands for. => page locked */
	void (*page_gone)(struct mapping *m, struct page *page);
	/*
	 * What PG_private stands for moves from page to page: 0 or -EAGAIN. NULL: it cannot. =>
	 * mapping->lock, IRQs off; old's count is frozen
	 */
	int (*page_migrate)(struct mapping *m, struct page *old, struct page *new);
	/*
	 * O_DIRECT (fs/direct.h): where bytes from pos on lie, at most len of them; a hole is said
	 * to be one, nothing is made. 0 or -errno. => the owner's lock. NULL: not possible
	 */
	int (*direct_map)(struct mapping *m, u64 pos, u64 len, struct dio_extent *out);
	/*
	 * A shared mapping is about to make a page without PG_homed writable: as write_begin. NULL:
	 * write_begin is asked for what of the page lies in the file. => truncate_lock shared
	 */
	int (*page_mkwrite)(struct mapping *m, struct page *page);
	/*
	 * May the owner's memory be charged for one more page (tmpfs size limit)? 0 or -ENOSPC.
	 * NULL: always.
	 */
	int (*charge)(struct mapping *m, long pages);
};

#define MAPF_SHMEM BIT(0) /* tmpfs / shared memory: pages are swap-backed, holes read as zero */
#define MAPF_UNEVICTABLE BIT(1)
#define MAPF_BDEV BIT(2)   /* a block device: its pages are metadata, a sync writes them last */
#define MAPF_STABLE BIT(3) /* a page under writeback may not be changed (checksums) */

struct mapping {
	struct xarray pages;	 /* (t) index -> page, or value (internal.h) */
	spinlock_t lock;	 /* RANK_MAPPING_TREE */
	unsigned long nr_pages;	 /* (t) pages; SHMEM: those in swap too */
	unsigned long nr_values; /* (t) values in the index; SHMEM: pages in swap */
	/* file size in bytes; written under the owner's lock, read anywhere (READ_ONCE) */
	u64 size;
	const struct mapping_ops *ops;
	unsigned long flags; /* MAPF_* */
	gfp_t gfp;
	void *owner; /* the inode */
	/* RANK_MAPPING: faults and reads take it shared, truncate exclusive */
	struct rwsem truncate_lock;
	struct rb_root_cached i_mmap;  /* (i) VMAs mapping it, by interval: rmap of file pages */
	struct mutex i_mmap_lock;      /* RANK_RMAP-like sleeping lock */
	struct bdi *bdi;	       /* (o) whose pages these are; NULL: memory is their home */
	u64 dirtied_when;	       /* (w) tick of the first dirtying */
	struct list_head wb_link;      /* (w) place on a list of its wb */
	u32 dirty;		       /* (w) MAPD_* of writeback.h */
	u32 nr_mmap_writable;	       /* (i) shared writable VMAs */
	unsigned long writeback_index; /* range_cyclic goes on here */
	errseq_t wb_err;	       /* told once to every open file */
	/*
	 * every mapping whose clean pages can be dropped; mappings_lock. SHMEM: every one that ever
	 * had a page in swap; mm/swap/shmem.c
	 */
	struct list_head all_node;
	u32 unuse_pins; /* SHMEM: swapoff is at work on it: it must not go (mm/swap/shmem.c) */
	bool going;	/* SHMEM: its owner waits for that */
};

/*
 * mm/vm above the index sets it: takes all PTEs of pages [first, last] away; cows: private copies
 * too (truncate).
 */
extern void (*mapping_unmap_hook)(struct mapping *m, unsigned long first, unsigned long last,
				  int cows);
/*
 * The same: write-protects all entries of a page and collects their dirty bits; true when one was
 * dirty. => page locked
 */
extern bool (*mapping_mkclean_hook)(struct page *page);
/*
 * The same: takes all entries of a page away unless one was used since the last look, or is locked
 * in memory; true when none is left. For reclaim. => page locked
 */
extern bool (*mapping_unmap_page_hook)(struct page *page);
static inline bool mapping_mapped(const struct mapping *m)
{
	return !RB_EMPTY_ROOT(&m->i_mmap.rb_root);
}

void mapping_init(struct mapping *m, const struct mapping_ops *ops, void *owner,
		  unsigned long flags);
/* All pages gone, nobody maps it. */
void mapping_destroy(struct mapping *m);
/* Takes about nr index nodes away that hold nothing but traces of pages. => may sleep; how many */
unsigned long mapping_forget_traces(unsigned long nr);

/* mm/cache/pagecache.c. Pages returned hold a reference. */
/* NULL when absent; lockless (RCU) */
struct page *pagecache_find(struct mapping *m, unsigned long index);
/*
 * The page, uptodate, not locked: read in, or (SHMEM) created zeroed when asked.
 * ERR_PTR(-ENOMEM/-EIO/-ENOSPC); NULL: a hole and not PCG_CREATE. One that is in swap comes back.
 */
struct page *pagecache_get(struct mapping *m, unsigned long index, unsigned int flags);
#define PCG_CREATE 1u /* make holes into pages */
#define PCG_WRITE 2u  /* whole page will be overwritten: need not be read in */
#define PCG_LOCK 4u   /* return it locked */
/*
 * The same; when a page must be made, *fresh (zeroed, refs 1; may be NULL) is used first and then
 * set to NULL.
 */
struct page *pagecache_get_with(struct mapping *m, unsigned long index, unsigned int flags,
				struct page **fresh);
/*
 * The cached pages among index, index+1, ... (at most n <= 16): pages[i] referenced or NULL. How
 * many were looked at.
 */
unsigned int pagecache_find_batch(struct mapping *m, unsigned long index, unsigned int n,
				  struct page **pages);
/* A value of a SHMEM mapping counts as a page, that of a file gives way. 0, -EEXIST, -ENOMEM */
int pagecache_add(struct mapping *m, unsigned long index, struct page *page, gfp_t gfp);
/* Its dirty state goes with it. => page locked, not mapped, not under writeback */
void pagecache_remove(struct page *page);
/* Bytes of the page have changed. => any thread context, page referenced (or mapped) */
void pagecache_set_dirty(struct page *page);
/*
 * Generic file I/O on the cache; user is a user pointer. Bytes done (may be short) or -errno.
 * Position handled by the caller.
 */
ssize_t pagecache_read(struct mapping *m, u64 pos, void __user *buf, size_t n);
/* The same for an open file: ra is its readahead state (readahead.h). */
ssize_t pagecache_read_ra(struct mapping *m, struct ra_state *ra, u64 pos, void __user *buf,
			  size_t n);
/* grows m->size */
ssize_t pagecache_write(struct mapping *m, u64 pos, const void __user *buf, size_t n);
/* The same for kernel buffers (exec, initramfs). */
ssize_t pagecache_read_kernel(struct mapping *m, u64 pos, void *buf, size_t n);
/* The same, reading ahead as the open file's state says (splice). */
ssize_t pagecache_read_kernel_ra(struct mapping *m, struct ra_state *ra, u64 pos, void *buf,
				 size_t n);
ssize_t pagecache_write_kernel(struct mapping *m, u64 pos, const void *buf, size_t n);
/*
 * Migration: new takes old's place in its mapping. 0; -EAGAIN: somebody but index and caller has a
 * reference, or what PG_private stands for cannot move. => both locked, old not mapped, not under
 * writeback
 */
int pagecache_replace(struct page *old, struct page *new);
/*
 * Drops pages and page-table entries from byte `from` on, zeroes the tail of the last page. size is
 * set first by the caller.
 */
void pagecache_truncate(struct mapping *m, u64 from);
void pagecache_punch(struct mapping *m, u64 from, u64 to); /* hole */
/*
 * The same with truncate_lock held exclusively by the caller, who frees the blocks before he drops
 * it: so no fault reads a block, or finds a home in it, that is about to be freed. Pages cut in
 * part have lost PG_homed.
 */
void pagecache_truncate_locked(struct mapping *m, u64 from);
void pagecache_punch_locked(struct mapping *m, u64 from, u64 to);
/*
 * The file becomes longer without being written: size is set here, and what a mapping may have left
 * behind the old end in its last page is zeroed first. => the owner's lock
 */
void pagecache_extend(struct mapping *m, u64 size);
/*
 * Bytes [from, to) leave the cache, written back first: what is read next comes from the device
 * (O_DIRECT). 0, -EBUSY (made dirty again meanwhile), or the error of writing. => the owner's lock,
 * if writers are to be kept out; may sleep
 */
int pagecache_invalidate_range(struct mapping *m, u64 from, u64 to);
/* Clean, unused pages inside [from, to) leave the cache; nothing is written. How many. */
unsigned long pagecache_drop_range(struct mapping *m, u64 from, u64 to);
/* The same by index, ends included: how many had to stay (dirty, mapped or in use). */
unsigned long pagecache_invalidate(struct mapping *m, unsigned long first, unsigned long last);
/*
 * SEEK_DATA / SEEK_HOLE: offset >= pos of the next data (hole); m->size when there is no more. =>
 * pos < m->size
 */
u64 pagecache_seek(struct mapping *m, u64 pos, bool hole);
unsigned long pagecache_drop_clean(void); /* drop_caches 1: all mappings; pages freed */
void pagecache_init(void);		  /* slab of the index */
/*
 * Validator: index, page->mapping, page->index and nr_pages agree. => nobody changes it meanwhile
 */
bool mapping_check(struct mapping *m);

#endif
