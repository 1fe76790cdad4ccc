/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bootmem.c - memory before there is an allocator.
 *
 * Problem: page tables, per-CPU areas and the struct page array are needed before anything can
 * manage pages.
 * Idea: two sorted lists of ranges. `memory` says which RAM belongs to which node; `reserved` what
 * is taken. To allocate is to look from the top of the node's memory for a gap between reservations
 * and to add one more. Top-down, so that the scarce low zones stay whole.
 *
 *     memory     [---- node 0 ----------)[------- node 1 --------)
 *     reserved   [<1M) [image)[modules)              [pt)[memmap)
 *
 * Invariants: both lists are sorted and do not overlap; touching reservations are merged; the lists
 * are only changed by the boot CPU before mm_phys_init() ends this allocator. No locks.
 */
#include "mm/phys/bootmem.h"

#include "arch/page.h"
#include "kernel/bug.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/phys/zone_layout.h"

static void bm_insert(struct bootmem_range *list, u32 *nr, u32 at, struct bootmem_range r)
{
	for (u32 i = *nr; i > at; i--)
		list[i] = list[i - 1];
	list[at] = r;
	(*nr)++;
}

static void bm_delete(struct bootmem_range *list, u32 *nr, u32 at)
{
	for (u32 i = at; i + 1 < *nr; i++)
		list[i] = list[i + 1];
	(*nr)--;
}

void bm_add(struct bootmem *bm, phys_addr_t start, phys_addr_t end, int node)
{
	u32 i = 0;

	start = ALIGN_UP(start, PAGE_SIZE);
	end = ALIGN_DOWN(end, PAGE_SIZE);
	if (start >= end || bm->nr_memory == BOOTMEM_MAX_RANGES)
		return;
	while (i < bm->nr_memory && bm->memory[i].start < start)
		i++;
	if (i && bm->memory[i - 1].end == start && bm->memory[i - 1].node == node) {
		bm->memory[i - 1].end = end;
		return;
	}
	bm_insert(bm->memory, &bm->nr_memory, i, (struct bootmem_range){ start, end, node, NULL });
}

void bm_remove(struct bootmem *bm, phys_addr_t start, phys_addr_t end)
{
	for (u32 i = 0; i < bm->nr_memory; i++) {
		struct bootmem_range *r = &bm->memory[i], tail = *r;

		if (r->end <= start || r->start >= end)
			continue;
		if (r->start >= start && r->end <= end) {
			bm_delete(bm->memory, &bm->nr_memory, i--);
			continue;
		}
		if (r->start < start)
			r->end = start;
		else
			r->start = end;
		if (tail.start < start && tail.end > end) {
			tail.start = end;
			bm_insert(bm->memory, &bm->nr_memory, i + 1, tail);
			return;
		}
	}
}

int bm_reserve(struct bootmem *bm, phys_addr_t start, phys_addr_t end, const char *what)
{
	u32 i = 0, last;

	start = ALIGN_DOWN(start, PAGE_SIZE);
	end = ALIGN_UP(end, PAGE_SIZE);
	if (start >= end)
		return 0;
	while (i < bm->nr_reserved && bm->reserved[i].end < start)
		i++;
	/* [i, last) touch or overlap the new one: they become one. */
	for (last = i; last < bm->nr_reserved && bm->reserved[last].start <= end; last++) {
		start = min(start, bm->reserved[last].start);
		end = max(end, bm->reserved[last].end);
	}
	if (last > i) {
		bm->reserved[i].start = start;
		bm->reserved[i].end = end;
		while (--last > i)
			bm_delete(bm->reserved, &bm->nr_reserved, last);
		return 0;
	}
	if (bm->nr_reserved == BOOTMEM_MAX_RANGES)
		return -ENOSPC;
	bm_insert(bm->reserved, &bm->nr_reserved, i,
		  (struct bootmem_range){ start, end, -1, what });
	return 0;
}

phys_addr_t bm_find(const struct bootmem *bm, size_t bytes, size_t align, int node,
		    phys_addr_t limit)
{
	if (!bytes)
		return 0;
	for (u32 m = bm->nr_memory; m-- > 0;) {
		const struct bootmem_range *mem = &bm->memory[m];
		phys_addr_t node_end = bm->node_end[mem->node], top = min(mem->end, limit);

		if (node_end)
			top = min(top, node_end);
		if ((node >= 0 && mem->node != node) || top <= mem->start)
			continue;
		for (u32 r = bm->nr_reserved; top > mem->start && top - mem->start >= bytes;) {
			phys_addr_t s = ALIGN_DOWN(top - bytes, align);

			if (s < mem->start || !s)
				break;
			/* The highest reservation that begins below the end of the candidate. */
			while (r > 0 && bm->reserved[r - 1].start >= s + bytes)
				r--;
			if (r == 0 || bm->reserved[r - 1].end <= s)
				return s;
			top = min(top, bm->reserved[r - 1].start);
		}
	}
	return 0;
}

bool bm_next_free(const struct bootmem *bm, phys_addr_t *pos, phys_addr_t *start, phys_addr_t *end)
{
	for (u32 m = 0, r = 0; m < bm->nr_memory; m++) {
		phys_addr_t s = max(bm->memory[m].start, *pos), e = bm->memory[m].end;

		while (s < e) {
			while (r < bm->nr_reserved && bm->reserved[r].end <= s)
				r++;
			if (r == bm->nr_reserved || bm->reserved[r].start >= e)
				break;
			if (bm->reserved[r].start > s) {
				e = bm->reserved[r].start;
				break;
			}
			s = bm->reserved[r].end;
		}
		if (s < e) {
			*start = s;
			*pos = *end = e;
			return true;
		}
	}
	return false;
}

#ifndef QUIRE_HOST
struct bootmem bootmem __initdata;
phys_addr_t diskmem_start, diskmem_end;
static u64 diskmem_bytes;
static bool bootmem_on; /* outlives the freed instance */
BOOT_PARAM_SIZE("diskmem", diskmem_bytes, 0, GiB(64),
		"RAM set aside for disk models, outside all zones");

extern char __kernel_start[], __kernel_end[];

/*
 * The part of [start, end) each node owns, in order; what no node claims goes to the node of the
 * range before.
 */
static __init void add_ram(phys_addr_t start, phys_addr_t end)
{
	int node = 0;

	for (u32 i = 0; i < numa_info.nr_ranges && start < end; i++) {
		const struct numa_range *r = &numa_info.ranges[i];

		if (r->end <= start)
			continue;
		if (r->start >= end)
			break;
		if (r->start > start) { /* a gap in the firmware's table */
			bm_add(&bootmem, start, r->start, node);
			start = r->start;
		}
		node = r->node;
		bm_add(&bootmem, start, min(end, (phys_addr_t)r->end), node);
		start = min(end, (phys_addr_t)r->end);
	}
	bm_add(&bootmem, start, end, node);
}

static __init void carve_diskmem(void)
{
	u64 bytes = ALIGN_UP(diskmem_bytes, PAGE_SIZE);
	phys_addr_t at;

	if (!bytes)
		return;
	at = bm_find(&bootmem, bytes, PMD_SIZE, -1, ~0ull);
	if (!at) {
		pr_err("bootmem: diskmem=%lluK: no range that large, none set aside\n",
		       (unsigned long long)bytes >> 10);
		return;
	}
	bm_remove(&bootmem, at, at + bytes);
	diskmem_start = at;
	diskmem_end = at + bytes;
	pr_info("bootmem: disk memory %#llx-%#llx\n", (unsigned long long)at,
		(unsigned long long)(at + bytes));
}

void __init bootmem_init(void)
{
	const u64 image = (u64)__kernel_start - KERNEL_BASE;

	bootmem.mapped_end = GiB(1);
	for (u32 i = 0; i < boot_info.nr_ranges; i++)
		if (boot_info.ranges[i].type == BOOT_RAM)
			add_ram(boot_info.ranges[i].start, boot_info.ranges[i].end);
	bootmem_on = bootmem.active = true;
	bootmem_reserve(0, MiB(1), "low");
	bootmem_reserve(image, (u64)__kernel_end - KERNEL_BASE, "image");
	for (u32 i = 0; i < boot_info.nr_modules; i++)
		bootmem_reserve(boot_info.modules[i].start, boot_info.modules[i].end, "module");
	carve_diskmem();
	bootmem.low_end = zone_layout_low_end();
}

phys_addr_t bootmem_ram_end(void)
{
	phys_addr_t end = diskmem_end;

	if (bootmem.nr_memory)
		end = max(end, bootmem.memory[bootmem.nr_memory - 1].end);
	return end;
}

void bootmem_set_mapped(phys_addr_t end)
{
	bootmem.mapped_end = end;
}

void bootmem_reserve(phys_addr_t start, phys_addr_t end, const char *what)
{
	if (bm_reserve(&bootmem, start, end, what))
		panic("bootmem: no room to reserve %s at %#llx", what, (unsigned long long)start);
}

phys_addr_t bootmem_alloc_raw(size_t bytes, size_t align, int node)
{
	phys_addr_t limit = bootmem.mapped_end, at;

	BUG_ON(!bootmem_on);
	if (bootmem.low_end)
		limit = min(limit, bootmem.low_end);
	bytes = ALIGN_UP(bytes, 64);
	at = bm_find(&bootmem, bytes, max_t(size_t, align, PAGE_SIZE), node, limit);
	if (!at && node >= 0)
		at = bm_find(&bootmem, bytes, max_t(size_t, align, PAGE_SIZE), -1, limit);
	if (!at) { /* rather out of the Movable zones than not at all */
		memset(bootmem.node_end, 0, sizeof(bootmem.node_end));
		at = bm_find(&bootmem, bytes, max_t(size_t, align, PAGE_SIZE), node, limit);
	}
	if (!at)
		panic("bootmem: no memory for %zu bytes, alignment %zu, node %d", bytes, align,
		      node);
	bootmem_reserve(at, at + bytes, "boot");
	return at;
}

/* Reservations are whole pages, so small objects are packed into the last page opened. */
phys_addr_t bootmem_alloc(size_t bytes, size_t align, int node)
{
	static struct { /* the open page of each node, filled from the bottom */
		phys_addr_t at, end;
	} open[MAX_NODES + 1] __initdata;
	u32 n = node < 0 || node >= MAX_NODES ? MAX_NODES : (u32)node;
	phys_addr_t at = ALIGN_UP(open[n].at, max_t(size_t, align, 64));

	bytes = ALIGN_UP(bytes, 64);
	if (bytes >= PAGE_SIZE || align >= PAGE_SIZE || !at || at + bytes > open[n].end) {
		at = bootmem_alloc_raw(bytes, align, node);
		if (bytes < PAGE_SIZE && align < PAGE_SIZE)
			open[n].end = at + PAGE_SIZE;
	}
	if (bytes < PAGE_SIZE && align < PAGE_SIZE)
		open[n].at = at + bytes;
	memset(__va(at), 0, bytes);
	return at;
}

void *bootmem_alloc_va(size_t bytes, int node)
{
	return __va(bootmem_alloc(bytes, 64, node));
}

bool bootmem_active(void)
{
	return bootmem_on;
}

void bootmem_finish(void)
{
	bootmem_on = false;
}
#endif
