/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ptalloc.c - pages for page tables: from bootmem while there is nothing else, then from the page
 * allocator. A table that came from bootmem is reserved memory and is never given back.
 */
#include "arch/mmu.h"
#include "mm/phys/bootmem.h"
#include "mm/phys/page_alloc.h"

void *arch_pt_alloc(void)
{
	struct page *page;

	if (bootmem_active())
		return __va(bootmem_alloc(PAGE_SIZE, PAGE_SIZE, -1));
	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!page)
		return NULL;
	page_set(page, PG_table);
	mod_zone_state(page_zone(page), NR_PAGETABLE, 1);
	return page_address(page);
}

void arch_pt_free(void *table)
{
	struct page *page = virt_to_page(table);

	if (!pfn_valid(page_to_pfn(page)) || page_test(page, PG_reserved))
		return;
	page_clear(page, PG_table);
	mod_zone_state(page_zone(page), NR_PAGETABLE, -1);
	free_page(page);
}
