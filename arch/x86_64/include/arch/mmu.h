/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mmu.h - page-table entries of the 4-level x86-64 tables: layout, bits, constructors.
 *
 * Portable code (mm/vm) walks the tables with these inlines only and never sees a bit position. An
 * entry that is not present can hold a swap or migration entry: bits 1..63 are then ours (bit 0
 * clear).
 *   swap entry:      bit 1 set,  type in bits 2..6,  offset in bits 12..51
 *   migration entry: bit 1 clear, bit 2 set, bit 3 = was writable, pfn in bits 12..51
 *   PROT_NONE page:  bits 1 and 2 clear, bit 8 set, pfn and the other bits as in a present entry
 */
#ifndef ARCH_MMU_H
#define ARCH_MMU_H

#include "arch/page.h"

typedef struct {
	u64 v;
} pte_t; /* an entry of any level */

#define PTE_PRESENT BIT(0)
#define PTE_WRITE BIT(1)
#define PTE_USER BIT(2)
#define PTE_PWT BIT(3)
#define PTE_PCD BIT(4)
#define PTE_ACCESSED BIT(5)
#define PTE_DIRTY BIT(6)
#define PTE_HUGE BIT(7)
#define PTE_GLOBAL BIT(8)
/* with present, write and user clear: a page nobody may touch now (PROT_NONE) */
#define PTE_PROTNONE BIT(8)
#define PTE_SPECIAL BIT(9) /* software: no struct page accounting behind it (zero page, devices) */
#define PTE_SW1 BIT(10)
#define PTE_NX BIT(63)
#define PTE_PFN_MASK 0x000ffffffffff000ul

#define PTRS_PER_TABLE 512

typedef u64 pgprot_t;
#define PAGE_KERNEL (PTE_PRESENT | PTE_WRITE | PTE_ACCESSED | PTE_DIRTY | PTE_GLOBAL | PTE_NX)
#define PAGE_KERNEL_RO (PTE_PRESENT | PTE_ACCESSED | PTE_DIRTY | PTE_GLOBAL | PTE_NX)
#define PAGE_KERNEL_EXEC (PTE_PRESENT | PTE_ACCESSED | PTE_DIRTY | PTE_GLOBAL)
#define PAGE_KERNEL_NOCACHE (PAGE_KERNEL | PTE_PCD | PTE_PWT)
#define PAGE_TABLE_KERNEL (PTE_PRESENT | PTE_WRITE | PTE_ACCESSED)
#define PAGE_TABLE_USER (PTE_PRESENT | PTE_WRITE | PTE_USER | PTE_ACCESSED)

/* Index into the table of a level: 0 = PTE, 1 = PMD, 2 = PUD, 3 = PGD. */
static __always_inline unsigned int pt_index(unsigned long va, int level)
{
	return (va >> (PAGE_SHIFT + 9 * level)) & (PTRS_PER_TABLE - 1);
}
static __always_inline pte_t pte_read(const pte_t *p)
{
	return (pte_t){ READ_ONCE(p->v) };
}
static __always_inline void pte_set(pte_t *p, pte_t e)
{
	WRITE_ONCE(p->v, e.v);
}
/*
 * Takes the entry out, with any accessed/dirty bit another CPU's page walker sets at the same time.
 */
static __always_inline pte_t pte_get_and_clear(pte_t *p)
{
	return (pte_t){ __atomic_exchange_n(&p->v, 0, __ATOMIC_SEQ_CST) };
}
static __always_inline bool pte_none(pte_t e)
{
	return e.v == 0;
}
static __always_inline bool pte_present(pte_t e)
{
	return e.v & PTE_PRESENT;
}
/* Not present, but a page is kept behind it until mprotect gives access back. */
static __always_inline bool pte_protnone(pte_t e)
{
	return (e.v & (PTE_PRESENT | PTE_WRITE | PTE_USER | PTE_PROTNONE)) == PTE_PROTNONE;
}
/* A page (or the zero page) is behind the entry, accessible or not. */
static __always_inline bool pte_mapped(pte_t e)
{
	return pte_present(e) || pte_protnone(e);
}
static __always_inline bool pte_swap(pte_t e)
{
	return (e.v & (PTE_PRESENT | BIT(1))) == BIT(1);
}
/* => type below 32, offset below 2^40 */
static __always_inline pte_t pte_make_swap(unsigned int type, u64 offset)
{
	return (pte_t){ BIT(1) | (u64)type << 2 | offset << PAGE_SHIFT };
}
static __always_inline unsigned int pte_swap_type(pte_t e)
{
	return (e.v >> 2) & 31;
}
static __always_inline u64 pte_swap_offset(pte_t e)
{
	return (e.v & PTE_PFN_MASK) >> PAGE_SHIFT;
}
static __always_inline bool pte_migration(pte_t e)
{
	return (e.v & 7) == 4;
}
/*
 * The page of the entry is being moved. Keeps what the entry knew: its frame, dirty, accessed, and
 * whether it was writable (PTE_SW1). The rest comes from the VMA afterwards.
 */
static __always_inline pte_t pte_make_migration(pfn_t pfn, pte_t was)
{
	return (pte_t){ pfn << PAGE_SHIFT | PTE_USER | (was.v & (PTE_DIRTY | PTE_ACCESSED)) |
			(was.v & PTE_WRITE ? PTE_SW1 : 0) };
}
static __always_inline bool pte_migration_write(pte_t e)
{
	return e.v & PTE_SW1;
}
static __always_inline pte_t pte_migration_read(pte_t e)
{
	return (pte_t){ e.v & ~PTE_SW1 };
}
/* The mapping of frame pfn that the migration entry e stands for; prot: of the VMA. */
static __always_inline pte_t pte_from_migration(pte_t e, pfn_t pfn, pgprot_t prot)
{
	u64 write = pte_migration_write(e) ? prot & PTE_WRITE : 0;

	return (pte_t){ pfn << PAGE_SHIFT | (prot & ~(PTE_WRITE | PTE_ACCESSED)) | write |
			(e.v & (PTE_DIRTY | PTE_ACCESSED)) };
}
/* false: somebody (a page walker, too) changed the entry meanwhile. */
static __always_inline bool pte_cmpxchg(pte_t *p, pte_t old, pte_t new)
{
	return __atomic_compare_exchange_n(&p->v, &old.v, new.v, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}
/*
 * A present leaf of level 1 as a migration entry that keeps all of it; back again; and as entry i
 * of the table that maps the same frames.
 */
static __always_inline pte_t pmd_make_moving(pte_t e)
{
	return (pte_t){ (e.v & ~(PTE_PRESENT | PTE_WRITE)) | PTE_USER |
			(e.v & PTE_WRITE ? PTE_SW1 : 0) };
}
static __always_inline pte_t pmd_from_moving(pte_t e)
{
	return (pte_t){ (e.v & ~PTE_SW1) | PTE_PRESENT | (e.v & PTE_SW1 ? PTE_WRITE : 0) };
}
static __always_inline pte_t pmd_part(pte_t e, unsigned int i)
{
	return (pte_t){ (e.v & ~PTE_HUGE) + ((u64)i << PAGE_SHIFT) };
}
static __always_inline bool pte_write(pte_t e)
{
	return e.v & PTE_WRITE;
}
static __always_inline bool pte_dirty(pte_t e)
{
	return e.v & PTE_DIRTY;
}
static __always_inline bool pte_young(pte_t e)
{
	return e.v & PTE_ACCESSED;
}
static __always_inline bool pte_huge(pte_t e)
{
	return e.v & PTE_HUGE;
}
static __always_inline bool pte_special(pte_t e)
{
	return e.v & PTE_SPECIAL;
}
static __always_inline pfn_t pte_pfn(pte_t e)
{
	return (e.v & PTE_PFN_MASK) >> PAGE_SHIFT;
}
static __always_inline pte_t pte_make(pfn_t pfn, pgprot_t prot)
{
	return (pte_t){ (pfn << PAGE_SHIFT) | prot };
}
static __always_inline pte_t pte_set_bits(pte_t e, u64 bits)
{
	return (pte_t){ e.v | bits };
}
static __always_inline pte_t pte_clear_bits(pte_t e, u64 bits)
{
	return (pte_t){ e.v & ~bits };
}
/* The next table down. => e is present and not huge. */
static __always_inline pte_t *pte_table(pte_t e)
{
	return __va(e.v & PTE_PFN_MASK);
}
/*
 * Protection of a user leaf from PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4 (none: present bit clear is
 * the caller's job).
 */
static __always_inline pgprot_t pgprot_user(int prot)
{
	return PTE_PRESENT | PTE_USER | PTE_ACCESSED | (prot & 2 ? PTE_WRITE : 0) |
	       (prot & 4 ? 0 : PTE_NX);
}

/* The kernel's own table (its upper half is shared by every address space). */
extern pte_t *kernel_pgd;

/* Architecture part of an address space. */
struct arch_mm {
	pte_t *pgd;
	u64 cpus; /* bit per CPU that may hold TLB entries of it */
};

/*
 * Kernel mappings. => va, pa page aligned, bytes a multiple of PAGE_SIZE; uses huge leaves where
 * aligned if allow_huge. Tables come from arch_pt_alloc (early: bootmem; later: page allocator).
 * Returns 0 or -ENOMEM. No TLB flush is needed for new mappings; kernel_unmap flushes everywhere
 * (may not be called with IRQs off).
 */
int kernel_map(unsigned long va, phys_addr_t pa, size_t bytes, pgprot_t prot);
int kernel_map_huge(unsigned long va, phys_addr_t pa, size_t bytes, pgprot_t prot);
void kernel_unmap(unsigned long va, size_t bytes);
/* The leaf that maps va in the kernel's table or NULL (also splits nothing). */
pte_t *kernel_pte(unsigned long va);
/*
 * Device registers: maps pa uncached into the vmalloc range. NULL when out of space. => may be
 * called early.
 */
volatile void *ioremap(phys_addr_t pa, size_t bytes);

/*
 * A zeroed table page or NULL; implemented in mm (mm/phys/ptalloc.c): bootmem first, then the page
 * allocator.
 */
void *arch_pt_alloc(void);
void arch_pt_free(void *table);

/* arch_mm_init: allocates a pgd that shares the kernel half. => 0 or -ENOMEM. */
int arch_mm_init(struct arch_mm *mm);
void arch_mm_destroy(struct arch_mm *mm);
/* Make mm the current address space on this CPU. => preemption off. */
void arch_mm_switch(struct arch_mm *prev, struct arch_mm *next);

/*
 * TLB. The local forms act on this CPU only. The mm forms reach every CPU in mm->cpus with one IPI
 * for the whole batch and wait. => interrupts on (never waits for another CPU with interrupts off:
 * asserted).
 */
void tlb_flush_page_local(unsigned long va);
void tlb_flush_all_local(void);
void tlb_flush_range(struct arch_mm *mm, unsigned long start, unsigned long end);
void tlb_flush_mm(struct arch_mm *mm);
void tlb_flush_kernel_range(unsigned long start, unsigned long end);

#endif
