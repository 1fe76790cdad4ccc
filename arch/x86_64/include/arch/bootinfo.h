/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bootinfo.h - what the loader (GRUB by Multiboot2 on BIOS or UEFI, or QEMU by PVH) told us, in one
 * form, copied out of the loader's memory before anything can overwrite it; and what ACPI says
 * about the machine.
 */
#ifndef ARCH_BOOTINFO_H
#define ARCH_BOOTINFO_H

#include "lib/types.h"

#define BOOT_MAX_RANGES 128
#define BOOT_MAX_MODULES 8
#define BOOT_CMDLINE_MAX 4096
#define MAX_NODES 8

enum boot_range_type { BOOT_RAM = 1, BOOT_RESERVED = 2, BOOT_ACPI = 3, BOOT_NVS = 4, BOOT_BAD = 5 };

struct boot_range {
	u64 start, end; /* bytes, end exclusive */
	u32 type;
};
struct boot_module {
	u64 start, end; /* physical */
	char name[64];
};
struct boot_info {
	const char *loader; /* "multiboot2-bios", "multiboot2-uefi", "pvh" */
	u32 nr_ranges, nr_modules;
	/* sorted, not overlapping (worst type wins), page-trimmed RAM */
	struct boot_range ranges[BOOT_MAX_RANGES];
	struct boot_module modules[BOOT_MAX_MODULES];
	char cmdline[BOOT_CMDLINE_MAX];
	u64 rsdp; /* physical address of the RSDP, 0 when unknown */
	u64 tsc_at_entry;
};
extern struct boot_info boot_info;

/*
 * One range of memory of one node, from SRAT (or numa=fake, or everything on node 0). Sorted, not
 * overlapping.
 */
struct numa_range {
	u64 start, end;
	int node;
	bool hotplug;
};
struct numa_info {
	int nr_nodes; /* logical nodes 0..nr_nodes-1 */
	u32 nr_ranges;
	struct numa_range ranges[64];
	u8 distance[MAX_NODES][MAX_NODES]; /* 10 = local */
	u8 pxm[MAX_NODES];		   /* proximity domain of each logical node */
	const char *source;		   /* "SRAT", "none", "numa=off", "numa=fake" */
};
extern struct numa_info numa_info;

#endif
