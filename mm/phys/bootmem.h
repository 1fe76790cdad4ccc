/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bootmem.h - memory before there is an allocator: two sorted range lists (memory, reserved), first
 * fit from the top of the wanted node. Ends when mm_phys_init() hands everything not reserved to
 * the buddy.
 */
#ifndef MM_PHYS_BOOTMEM_H
#define MM_PHYS_BOOTMEM_H

#include "arch/bootinfo.h"

/*
 * RAM of the machine by node: sorted, page-trimmed, not overlapping. Without the part diskmem=
 * took.
 */
#define BOOTMEM_MAX_RANGES 160
struct bootmem_range {
	phys_addr_t start, end;
	int node;	  /* memory list */
	const char *what; /* reserved list */
};
struct bootmem {
	struct bootmem_range memory[BOOTMEM_MAX_RANGES], reserved[BOOTMEM_MAX_RANGES];
	u32 nr_memory, nr_reserved;
	phys_addr_t mapped_end; /* allocations end below: the direct map reaches so far */
	phys_addr_t low_end;	/* zones= with High: kernel data stay below (0: no limit) */
	phys_addr_t node_end[MAX_NODES]; /* movablecore=: on this node below (0: no limit) */
	bool active;
};
extern struct bootmem bootmem;

/*
 * From boot_info and numa_info; reserves the kernel image, modules, below 1 MiB. => boot parameters
 * are parsed already.
 */
void bootmem_init(void);
void bootmem_reserve(phys_addr_t start, phys_addr_t end, const char *what);
/*
 * Zeroed, aligned; node -1 = any. Panics with sizes when there is none (nothing can go on at boot).
 * => physical address
 */
phys_addr_t bootmem_alloc(size_t bytes, size_t align, int node);
void *bootmem_alloc_va(size_t bytes, int node); /* 64-aligned, direct map */
/* As bootmem_alloc, contents undefined (the struct page array). */
phys_addr_t bootmem_alloc_raw(size_t bytes, size_t align, int node);
/*
 * The direct map now reaches [0, end): allocations may go that high. At first 1 GiB (what the boot
 * tables map); arch calls it with the end of RAM when the direct map is whole.
 */
void bootmem_set_mapped(phys_addr_t end);
bool bootmem_active(void);
/* Highest RAM address + 1 (diskmem included: it is direct-mapped too). */
phys_addr_t bootmem_ram_end(void);

/* mm_phys_init: no allocation from here on. */
void bootmem_finish(void);

/*
 * diskmem=SIZE: taken from the top of the machine, in the direct map, in no zone, without page
 * structs. Empty: both 0.
 */
extern phys_addr_t diskmem_start, diskmem_end;

/* Pure core on an instance (host tests). */
void bm_add(struct bootmem *bm, phys_addr_t start, phys_addr_t end, int node);
/* 0 or -ENOSPC */
int bm_reserve(struct bootmem *bm, phys_addr_t start, phys_addr_t end, const char *what);
/* Highest fit below limit; 0 when there is none. Reserves nothing. */
phys_addr_t bm_find(const struct bootmem *bm, size_t bytes, size_t align, int node,
		    phys_addr_t limit);
/* Removes [start, end) from the memory list. */
void bm_remove(struct bootmem *bm, phys_addr_t start, phys_addr_t end);
/*
 * Walks the free ranges (memory minus reserved) upwards: *pos starts at 0. => false at the end.
 */
bool bm_next_free(const struct bootmem *bm, phys_addr_t *pos, phys_addr_t *start, phys_addr_t *end);

#endif
