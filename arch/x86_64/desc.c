/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * desc.c - segment and interrupt descriptors. Each CPU has its own GDT and TSS (they differ in the
 * stacks); the IDT is shared and read-only once built.
 *
 * Four exceptions run on stacks of their own (IST), because they can strike when the normal stack
 * or GS is not to be
 * trusted: debug, NMI, double fault, machine check. The lowest word of such a stack holds the CPU's
 * per-CPU offset: the stub finds its data without believing the GS base it was interrupted with.
 */
#include "arch/mmu.h"
#include "internal.h"
#include "kernel/bug.h"
#include "kernel/preempt.h"

struct tss {
	u32 reserved0;
	u64 rsp[3];
	u64 reserved1;
	u64 ist[7];
	u64 reserved2;
	u16 reserved3, iomap;
} __packed;

#define NR_IST 4
#define GDT_TSS 7

struct gate {
	u16 offset_low, selector;
	u8 ist, type;
	u16 offset_mid;
	u32 offset_high, zero;
};
struct desc_ptr {
	u16 limit;
	u64 base;
} __packed;

static DEFINE_PER_CPU_ALIGNED(struct tss, cpu_tss);
static DEFINE_PER_CPU_ALIGNED(u64[9], cpu_gdt) = {
	0,
	0x00cf9b000000ffff, /* 0x08 32-bit code (trampoline) */
	0x00af9b000000ffff, /* 0x10 KERNEL_CS */
	0x00cf93000000ffff, /* 0x18 KERNEL_DS */
	0x00cffb000000ffff, /* 0x20 32-bit user code (not used; sysret's base) */
	0x00cff3000000ffff, /* 0x28 USER_DS */
	0x00affb000000ffff, /* 0x30 USER_CS */
};
DEFINE_PER_CPU(u64, kernel_stack_top); /* syscall entry */
DEFINE_PER_CPU(u64, syscall_user_rsp); /* its scratch word */
DEFINE_PER_CPU(u32, cpu_number);
DEFINE_PER_CPU(unsigned long, this_cpu_off);
unsigned long __per_cpu_offset[NR_CPUS];

static u8 boot_ist[NR_IST][STACK_BYTES_IST] __aligned(STACK_BYTES_IST);
/* NR_IST * STACK_BYTES_IST for each other CPU; arch_percpu_init() fills it */
u8 *desc_ist_memory[NR_CPUS];

static struct gate idt[256] __aligned(4096) __section(".bss.page_aligned");
extern u64 trap_stubs[32], irq_stubs[256]; /* entry.asm */

static unsigned int ist_of(unsigned int vector)
{
	switch (vector) {
	case TRAP_DB:
		return 1;
	case TRAP_NMI:
		return 2;
	case TRAP_DF:
		return 3;
	case TRAP_MC:
		return 4;
	default:
		return 0;
	}
}

void desc_init_idt(void)
{
	for (unsigned int v = 0; v < 256; v++) {
		u64 a = v < 32 ? trap_stubs[v] : irq_stubs[v];
		unsigned int dpl = v == TRAP_BP || v == 4 ? 3 : 0;

		idt[v] = (struct gate){ .offset_low = a,
					.selector = KERNEL_CS,
					.ist = ist_of(v),
					.type = 0x8e | dpl << 5,
					.offset_mid = a >> 16,
					.offset_high = a >> 32 };
	}
}

/*
 * Nobody changes the table any more: read-only in the image and in the direct map. => the final
 * page tables are loaded
 */
void desc_protect_idt(void)
{
	phys_addr_t pa = __pa(idt);

	if (kernel_map((unsigned long)idt, pa, PAGE_SIZE, PAGE_KERNEL_RO) ||
	    kernel_map((unsigned long)__va(pa), pa, PAGE_SIZE, PAGE_KERNEL_RO))
		panic("desc: cannot protect the IDT");
	tlb_flush_all_local();
}

void desc_init_cpu(u32 cpu)
{
	struct tss *tss = this_cpu_ptr(&cpu_tss);
	u64 *gdt = *this_cpu_ptr(&cpu_gdt), base = (u64)(unsigned long)tss;
	struct desc_ptr gp = { sizeof(cpu_gdt) - 1, (u64)(unsigned long)gdt };
	struct desc_ptr ip = { sizeof(idt) - 1, (u64)(unsigned long)idt };
	u8 *ist = cpu ? desc_ist_memory[cpu] : boot_ist[0];

	for (unsigned int i = 0; i < NR_IST; i++) {
		*(u64 *)(ist + i * STACK_BYTES_IST) = this_cpu_read(this_cpu_off);
		tss->ist[i] = (u64)(unsigned long)(ist + (i + 1) * STACK_BYTES_IST);
	}
	tss->iomap = sizeof(*tss);
	gdt[GDT_TSS] = (sizeof(*tss) - 1) | (base & 0xffffff) << 16 | 0x89ull << 40 |
		       (base >> 24 & 0xff) << 56;
	gdt[GDT_TSS + 1] = base >> 32;
	__asm__ volatile("lgdt %0\n\t"
			 "lidt %1\n\t"
			 "pushq %2\n\t"
			 "leaq 1f(%%rip), %%rax\n\t"
			 "pushq %%rax\n\t"
			 "lretq\n"
			 "1: movl %3, %%ss\n\t"
			 "movl %k4, %%ds\n\t"
			 "movl %k4, %%es\n\t"
			 "ltr %w5"
			 :
			 : "m"(gp), "m"(ip), "i"(KERNEL_CS), "r"(KERNEL_DS), "r"(0),
			   "r"(GDT_TSS * 8)
			 : "rax", "memory");
}

void desc_set_stack(u64 stack_top)
{
	this_cpu_write(kernel_stack_top, stack_top);
	/* rsp[0] lies at an odd offset of a packed struct: two halves of one field, one store */
	this_cpu_ptr(&cpu_tss)->rsp[0] = stack_top;
}
