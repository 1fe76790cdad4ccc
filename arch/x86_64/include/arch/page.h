/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.h - page size and the kernel's map of its own half of the address space.
 *
 *   0xffff888000000000  direct map of all RAM                       PAGE_OFFSET
 *   0xffffc90000000000  vmalloc, kernel stacks, MMIO (guard pages)  VMALLOC_START
 *   0xffffea0000000000  struct page array, sparse by pfn            VMEMMAP_START
 *   0xffffffff80000000  the kernel image: physical = virtual - this KERNEL_BASE
 */
#ifndef ARCH_PAGE_H
#define ARCH_PAGE_H

#include "lib/types.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE 4096ul
#define PAGE_MASK (~(PAGE_SIZE - 1))
#define PMD_SHIFT 21
#define PMD_SIZE (1ul << PMD_SHIFT)
#define PUD_SHIFT 30
#define PUD_SIZE (1ul << PUD_SHIFT)
#define PGDIR_SHIFT 39

#define PAGE_OFFSET 0xffff888000000000ul
#define VMALLOC_START 0xffffc90000000000ul
#define VMALLOC_END 0xffffe8fffffffffful
#define VMEMMAP_START 0xffffea0000000000ul
#define KERNEL_BASE 0xffffffff80000000ul
#define USER_TOP 0x00007ffffffff000ul /* first address a program can never map */

#ifdef QUIRE_HOST
void *host_va(phys_addr_t pa); /* tests/host/shim gives the memory */
phys_addr_t host_pa(const volatile void *va);
#define __va(pa) host_va(pa)
#define __pa(va) host_pa(va)
#else
/* Direct map: any RAM address that has a struct page. */
static __always_inline void *__va(phys_addr_t pa)
{
	return (void *)(pa + PAGE_OFFSET);
}
/* => va lies in the direct map or in the kernel image; nothing else has a fixed translation. */
static __always_inline phys_addr_t __pa(const volatile void *va)
{
	unsigned long a = (unsigned long)va;

	return a >= KERNEL_BASE ? a - KERNEL_BASE : a - PAGE_OFFSET;
}
#endif

#define PFN_UP(x) (((u64)(x) + PAGE_SIZE - 1) >> PAGE_SHIFT)
#define PFN_DOWN(x) ((u64)(x) >> PAGE_SHIFT)
#define PFN_PHYS(pfn) ((phys_addr_t)(pfn) << PAGE_SHIFT)
#define offset_in_page(p) ((unsigned long)(p) & ~PAGE_MASK)

/* String instructions: one page is 512 counted instructions with the quadword forms. */
static __always_inline void clear_pages_raw(void *pages, unsigned long nr)
{
	unsigned long n = nr * (PAGE_SIZE / 8);

	__asm__ volatile("rep stosq" : "+D"(pages), "+c"(n) : "a"(0ul) : "memory");
}
static __always_inline void copy_pages_raw(void *to, const void *from, unsigned long nr)
{
	unsigned long n = nr * (PAGE_SIZE / 8);

	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
static __always_inline void clear_page_raw(void *page)
{
	clear_pages_raw(page, 1);
}
static __always_inline void copy_page_raw(void *to, const void *from)
{
	copy_pages_raw(to, from, 1);
}

#endif
