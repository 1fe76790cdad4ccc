/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paging.c - the kernel's page tables.
 *
 * Problem: no page may ever be writable and executable, through any alias, yet the kernel boots on
 * tables that show everything writable and executable. Idea: build a second set from the linker's
 * symbols (text RX, rodata R, init text RX, data RW) plus a direct map in which the image's
 * read-only pages are read-only too, and switch. The rest of the direct map follows when the memory
 * map is known (arch_map_ram): RAM only, never executable.
 *
 * Table pages come from a small pool in .bss until bootmem runs, then from arch_pt_alloc().
 * Top-level entries of the kernel half exist before the first address space copies them, so they
 * never need to be synchronised.
 *
 * Locking: none. Tables are added with one compare-and-exchange and never removed; a leaf belongs
 * to whoever owns its address range (vmalloc's lock, boot).
 */
#include "arch/atomic.h"
#include "arch/bootinfo.h"
#include "arch/mmu.h"
#include "internal.h"
#include "kernel/bug.h"
#include "kernel/printk.h"
#include "lib/err.h"
#include "lib/string.h"

#define POOL_PAGES 28 /* the image twice, the direct map of the first GiB, device registers */

static u8 pool[POOL_PAGES][PAGE_SIZE] __aligned(4096) __section(".bss.page_aligned");
static u32 pool_used;
static u8 first_pgd[PAGE_SIZE] __aligned(4096) __section(".bss.page_aligned");

pte_t *kernel_pgd = (pte_t *)first_pgd;
/* Device registers: the last GiB of the vmalloc range. */
#define IOREMAP_START (VMALLOC_END + 1 - GiB(1))
static unsigned long ioremap_next = IOREMAP_START;

static void *table_alloc(void)
{
	if (READ_ONCE(pool_used) < POOL_PAGES) {
		u32 n = __atomic_fetch_add(&pool_used, 1, __ATOMIC_RELAXED);

		if (n < POOL_PAGES)
			return pool[n];
	}
	return arch_pt_alloc();
}

/* Puts a new table behind e, or uses the one another CPU put there meanwhile. NULL: no memory. */
static pte_t *table_add(pte_t *e)
{
	void *page = table_alloc();
	pte_t made, found;

	if (!page)
		return NULL;
	made = pte_make(__pa(page) >> PAGE_SHIFT, PAGE_TABLE_KERNEL);
	found.v = cmpxchg(&e->v, 0, made.v);
	if (pte_none(found))
		return page;
	arch_pt_free(page);
	return pte_huge(found) ? NULL : pte_table(found);
}

/*
 * The entry for va at a level (0 = 4 KiB, 1 = 2 MiB, 2 = 1 GiB), making tables on the way. NULL: no
 * memory, or a leaf.
 */
static pte_t *walk_alloc(unsigned long va, int level)
{
	pte_t *table = kernel_pgd;

	for (int l = 3; l > level; l--) {
		pte_t *e = &table[pt_index(va, l)], v = pte_read(e);

		if (pte_present(v))
			table = pte_huge(v) ? NULL : pte_table(v);
		else
			table = table_add(e);
		if (!table)
			return NULL;
	}
	return &table[pt_index(va, level)];
}

/* The leaf of va and its level; NULL when nothing is mapped. */
static pte_t *walk_leaf(unsigned long va, int *level)
{
	pte_t *table = kernel_pgd;

	for (int l = 3; l >= 0; l--) {
		pte_t *e = &table[pt_index(va, l)];

		if (!pte_present(*e))
			return NULL;
		if (l == 0 || pte_huge(*e)) {
			*level = l;
			return e;
		}
		table = pte_table(*e);
	}
	return NULL;
}

pte_t *kernel_pte(unsigned long va)
{
	int level;

	return walk_leaf(va, &level);
}

static bool leaf_fits(int level, unsigned long va, phys_addr_t pa, size_t left)
{
	size_t size = 1ul << (PAGE_SHIFT + 9 * level);

	return left >= size && IS_ALIGNED(va | pa, size);
}

/* Largest leaf allowed here; a slot that already holds a table keeps it. */
static int map_one(unsigned long va, phys_addr_t pa, size_t left, pgprot_t prot, int max_level,
		   size_t *done)
{
	for (int level = max_level; level >= 0; level--) {
		pte_t *e;

		if (level && !leaf_fits(level, va, pa, left))
			continue;
		e = walk_alloc(va, level);
		if (!e)
			return kernel_pte(va) ? -EEXIST : -ENOMEM;
		if (level && pte_present(*e) && !pte_huge(*e))
			continue;
		pte_set(e, pte_make(pa >> PAGE_SHIFT, prot | (level ? PTE_HUGE : 0)));
		*done = 1ul << (PAGE_SHIFT + 9 * level);
		return 0;
	}
	return -EINVAL;
}

static int map_range(unsigned long va, phys_addr_t pa, size_t bytes, pgprot_t prot, int max_level)
{
	while (bytes) {
		size_t done = 0;
		int err = map_one(va, pa, bytes, prot, max_level, &done);

		if (err)
			return err;
		va += done;
		pa += done;
		bytes -= done;
	}
	return 0;
}

int kernel_map(unsigned long va, phys_addr_t pa, size_t bytes, pgprot_t prot)
{
	return map_range(va, pa, bytes, prot, 0);
}

int kernel_map_huge(unsigned long va, phys_addr_t pa, size_t bytes, pgprot_t prot)
{
	return map_range(va, pa, bytes, prot, cpu_features.gbpages ? 2 : 1);
}

void kernel_unmap(unsigned long va, size_t bytes)
{
	unsigned long end = va + bytes, at = va;

	while (at < end) {
		int level = 0;
		pte_t *e = walk_leaf(at, &level);
		unsigned long size = 1ul << (PAGE_SHIFT + 9 * level);

		if (e) {
			BUG_ON(level && (!IS_ALIGNED(at, size) || end - at < size));
			pte_set(e, (pte_t){ 0 });
		}
		at = (at & ~(size - 1)) + size;
	}
	tlb_flush_kernel_range(va, end);
}

volatile void *ioremap(phys_addr_t pa, size_t bytes)
{
	phys_addr_t first = pa & PAGE_MASK;
	size_t size = ALIGN_UP(pa - first + bytes, PAGE_SIZE);
	unsigned long va = __atomic_fetch_add(&ioremap_next, size + PAGE_SIZE, __ATOMIC_SEQ_CST);

	if (va + size > VMALLOC_END || kernel_map(va, first, size, PAGE_KERNEL_NOCACHE))
		return NULL;
	return (volatile void *)(va + (pa - first));
}

/* ---- the image ---- */

static void must(int err, const char *what)
{
	if (err)
		panic("paging: cannot map %s: %d", what, err);
}

static void map_image_part(const char *start, const char *end, pgprot_t image, pgprot_t direct)
{
	size_t n = end - start;

	must(map_range((unsigned long)start, __pa(start), n, image, 0), "the kernel image");
	must(map_range((unsigned long)__va(__pa(start)), __pa(start), n, direct, 0),
	     "the image's direct map");
}

/* Top-level entries of the regions that grow after address spaces have copied the kernel half. */
static void reserve_top_level(unsigned long va)
{
	if (!walk_alloc(va, 2))
		panic("paging: no page for a top-level table");
}

/* ---- all RAM ---- */

/* The image keeps the protections map_image_part() gave its pages. */
static void map_ram_piece(u64 start, u64 end)
{
	u64 image = (unsigned long)__boot_start, image_end = __pa(__kernel_end);

	if (start < image && end > image) {
		map_ram_piece(start, image);
		start = image;
	}
	if (start < image_end && end > image)
		start = image_end;
	if (start < end)
		must(map_range((unsigned long)__va(start), start, end - start, PAGE_KERNEL,
			       cpu_features.gbpages ? 2 : 1),
		     "RAM");
}

/* Bootmem gives out pages below this from its first moment on: paging_init() maps so far. */
#define EARLY_END GiB(1)

static void map_ram_between(u64 low, u64 high)
{
	for (u32 i = 0; i < boot_info.nr_ranges; i++) {
		const struct boot_range *r = &boot_info.ranges[i];

		if (r->type == BOOT_RAM && r->start < high && r->end > low)
			map_ram_piece(max(r->start, low), min(r->end, high));
	}
}

void arch_map_ram(void)
{
	u64 end = 0;

	map_ram_between(EARLY_END, U64_MAX);
	for (u32 i = 0; i < boot_info.nr_ranges; i++) {
		const struct boot_range *r = &boot_info.ranges[i];
		u64 first = ALIGN_DOWN(r->start, PAGE_SIZE);

		if (r->type == BOOT_RAM)
			end = r->end;
		else if (r->type == BOOT_ACPI && r->end - r->start <= MiB(16))
			must(map_range((unsigned long)__va(first), first,
				       ALIGN_UP(r->end, PAGE_SIZE) - first, PAGE_KERNEL_RO, 0),
			     "ACPI tables");
	}
	bootmem_set_mapped(end);
}

void paging_init(void)
{
	map_image_part(__text_start, __text_end, PAGE_KERNEL_EXEC, PAGE_KERNEL_RO);
	map_image_part(__rodata_start, __rodata_end, PAGE_KERNEL_RO, PAGE_KERNEL_RO);
	map_image_part(__init_text_start, __init_text_end, PAGE_KERNEL_EXEC, PAGE_KERNEL_RO);
	map_image_part(__init_data_start, __init_data_end, PAGE_KERNEL, PAGE_KERNEL);
	map_image_part(__data_start, __kernel_end, PAGE_KERNEL, PAGE_KERNEL);
	/* The boot part is data from now on, until arch_free_init() gives it away. */
	must(map_range((unsigned long)__va((unsigned long)__boot_start),
		       (unsigned long)__boot_start, __boot_end - __boot_start, PAGE_KERNEL, 0),
	     "the boot part");
	map_ram_between(0, EARLY_END);
	reserve_top_level(VMALLOC_START);
	reserve_top_level(IOREMAP_START);
	reserve_top_level(VMEMMAP_START);
	write_cr3(__pa(kernel_pgd));
}

const void *acpi_map(phys_addr_t pa, size_t bytes)
{
	phys_addr_t first = pa & PAGE_MASK, end = ALIGN_UP(pa + bytes, PAGE_SIZE);

	if (!pa || end < pa || end >> cpu_features.phys_bits || bytes > MiB(16))
		return NULL;
	for (; first < end; first += PAGE_SIZE)
		if (!kernel_pte((unsigned long)__va(first)) &&
		    kernel_map((unsigned long)__va(first), first, PAGE_SIZE, PAGE_KERNEL_RO))
			return NULL;
	return __va(pa);
}

void arch_free_init(void (*free_range)(phys_addr_t start, phys_addr_t end, const char *what))
{
	unsigned long init = (unsigned long)__init_start;
	phys_addr_t copy_end = __pa(__percpu_copy_end),
		    copy = ALIGN_UP(__pa(__percpu_copy_start), PAGE_SIZE);

	kernel_unmap(init, __init_end - __init_start);
	must(kernel_map((unsigned long)__va(__pa(__init_start)), __pa(__init_start),
			__init_end - __init_start, PAGE_KERNEL),
	     "freed init code");
	kernel_unmap((unsigned long)__percpu_copy_start, copy_end - copy);
	tlb_flush_kernel_range(PAGE_OFFSET, PAGE_OFFSET + PMD_SIZE);
	free_range((unsigned long)__boot_start, (unsigned long)__boot_end, "boot code");
	free_range(__pa(__init_start), __pa(__init_end), "init code and data");
	free_range(copy, copy_end, "per-CPU template");
	/* Below 1 MiB everything was kept back for the firmware and the other CPUs' first page. */
	for (u32 i = 0; i < boot_info.nr_ranges; i++) {
		const struct boot_range *r = &boot_info.ranges[i];

		if (r->type == BOOT_RAM && r->start < 0xa0000 && r->end > 0x10000)
			free_range(max(r->start, (u64)0x10000), min(r->end, (u64)0xa0000),
				   "low memory");
	}
}
