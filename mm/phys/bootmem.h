/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bootmem.h - memory before there is an allocator: two sorted range lists (memory, reserved), first fit from the top of the
 * wanted node. Ends when mm_phys_init() hands everything not reserved to the buddy.
 */
#ifndef MM_PHYS_BOOTMEM_H
#define MM_PHYS_BOOTMEM_H

#include "arch/bootinfo.h"

void bootmem_init(void); /* from boot_info and numa_info; reserves the kernel image, modules, loader tables, below 1 MiB */
void bootmem_reserve(phys_addr_t start, phys_addr_t end, const char *what);
/* Zeroed, aligned; node -1 = any. Panics with sizes when there is none (nothing can go on at boot). => physical address */
phys_addr_t bootmem_alloc(size_t bytes, size_t align, int node);
void *bootmem_alloc_va(size_t bytes, int node); /* 64-aligned, direct map (below what is mapped early: see arch_map_ram) */
bool bootmem_active(void);

#endif
