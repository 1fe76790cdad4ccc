/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pageclass.h - what a frame is used for, told from its struct page alone, and how many frames of a
 * pageblock are used for what. Pure: no lock, no state; also compiled for the host.
 */
#ifndef MM_DEBUG_PAGECLASS_H
#define MM_DEBUG_PAGECLASS_H

#include "mm/phys/zone.h"

/*
 * Every frame is of exactly one class. Two letters are its key in /sys/kernel/quire/memmap; the
 * file's documentation is docs/memmap.md.
 */
#define PAGE_CLASSES(X)                                                                            \
	X(FREE, "f", "in a free block of the buddy")                                               \
	X(PCP, "pc", "free on a CPU's list, or on its way there or from there")                    \
	X(INACTIVE_ANON, "ia", "on the inactive anonymous list")                                   \
	X(ACTIVE_ANON, "aa", "on the active anonymous list")                                       \
	X(INACTIVE_FILE, "if", "on the inactive file list")                                        \
	X(ACTIVE_FILE, "af", "on the active file list")                                            \
	X(UNEVICTABLE, "ue", "on the unevictable list")                                            \
	X(WAITING, "lw", "waits in a CPU's batch to be put on a list")                             \
	X(OFF_LIST, "ol", "of a program or a file, on no list: isolated, or in somebody's hands")  \
	X(SLAB, "sl", "kernel objects: slabs, and what kmalloc takes as whole pages")              \
	X(TABLE, "pt", "page tables")                                                              \
	X(STACK, "ks", "kernel stacks")                                                            \
	X(VMALLOC, "vm", "behind vmalloc")                                                         \
	X(KERNEL, "ke", "the kernel's otherwise")                                                  \
	X(RESERVED, "rs", "never given to the buddy: the image, tables of the boot")               \
	X(HOLE, "ho", "no memory behind this number")

/* What may be true besides, of a page of a program or a file; a page may have several. */
#define PAGE_ATTRS(X)                                                                              \
	X(DIRTY, "di", "dirty page of a file with a disk behind it")                               \
	X(WRITEBACK, "wb", "on its way to a disk")                                                 \
	X(CACHED, "ca", "in the page cache")                                                       \
	X(SHMEM, "sh", "of these, tmpfs and shared memory")                                        \
	X(SWAPCACHE, "sc", "in the swap cache")                                                    \
	X(ANON_MAPPED, "am", "anonymous page mapped by a program")                                 \
	X(FILE_MAPPED, "fm", "file page mapped by a program")                                      \
	X(MLOCKED, "ml", "locked into memory")                                                     \
	X(PINNED, "pn", "with references nobody who maps or caches it has: cannot move now")       \
	X(HUGE, "hu", "in a compound page of a pageblock or more")

#define _X(e, k, h) PC_##e,
enum page_class { PAGE_CLASSES(_X) NR_PAGE_CLASSES };
#undef _X
#define _X(e, k, h) PA_##e,
enum page_attr { PAGE_ATTRS(_X) NR_PAGE_ATTRS };
#undef _X
extern const char *const page_class_key[NR_PAGE_CLASSES], *const page_attr_key[NR_PAGE_ATTRS];

struct block_counts {
	u32 pages;		 /* frames looked at: those of the zone in the block */
	u32 free[MAX_ORDER];	 /* free blocks that begin here, by order */
	u32 of[NR_PAGE_CLASSES]; /* sum: pages */
	u32 attr[NR_PAGE_ATTRS];
};

/* The rest of a block that began before, in the order of frame numbers. {0}: none. */
struct class_walk {
	unsigned long until; /* frames below are like its head */
	u32 class, attrs;
};

/* Class of a frame that is no tail; *attrs receives bits 1 << enum page_attr. => races tolerated */
enum page_class page_classify(const struct page *page, u32 *attrs);
/*
 * Adds the frames [pfn, end) that carry zone_flags to *c. *w goes on from one call to the next,
 * frame numbers rising. => a struct page exists for each; no lock: a frame that changes hands
 * meanwhile is counted as what it was or as what it becomes
 */
void pageclass_count(struct block_counts *c, struct class_walk *w, unsigned long pfn,
		     unsigned long end, unsigned long zone_flags);

#endif
