/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boot.h - what the loader left behind, in one form. The parsers are pure functions on memory, so
 * that host tests can feed them anything.
 */
#ifndef BOOT_BOOT_H
#define BOOT_BOOT_H

#include "arch/bootinfo.h"

#define BOOT_KIND_MULTIBOOT2 1u
#define BOOT_KIND_PVH 2u

extern u32 boot_loader_kind, boot_loader_info; /* set by start.asm: BOOT_KIND_*, physical address */
extern u64 boot_tsc;

/* Physical memory as the parser sees it: bytes at pa or NULL when [pa, pa + n) cannot be read. */
typedef const void *(*boot_read_fn)(u64 pa, u64 n);

/*
 * Fill b from the loader's structures. => returns 0, or -EINVAL when they make no sense (reason
 * logged). rsdp_copy (36 bytes) receives a copy of the RSDP when the loader passes one by value;
 * *has_rsdp tells.
 */
int boot_parse_multiboot2(struct boot_info *b, u64 pa, boot_read_fn rd, u8 rsdp_copy[36],
			  bool *has_rsdp);
int boot_parse_pvh(struct boot_info *b, u64 pa, boot_read_fn rd);

/*
 * Append a range as the loader gave it (unsorted). => false and one log line when the list is full.
 */
bool boot_add_range(struct boot_info *b, u64 start, u64 end, u32 type);
/*
 * Sort, resolve overlaps (the worst type wins), merge neighbours, trim RAM to whole pages, drop
 * empty ones.
 * => -ENOSPC when the result does not fit (the rest is dropped, RAM last).
 */
int boot_ranges_finish(struct boot_info *b);
/* Turn [start, end) into type; both page aligned. => the list is finished before and after. */
int boot_ranges_carve(struct boot_info *b, u64 start, u64 end, u32 type);
/* Append a module; drops it with one line when it is empty, or does not lie in RAM. */
void boot_add_module(struct boot_info *b, u64 start, u64 end, const char *name);
/*
 * Copy a NUL-terminated or n-byte string of the loader; returns its length; says so when it is cut.
 */
size_t boot_copy_string(char *to, size_t size, const char *from, size_t n, const char *what);

/* Reads the loader's structures into boot_info. => boot page tables are still active. */
void boot_collect(void);

#endif
