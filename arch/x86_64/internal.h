/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - what the files of arch/x86_64 share among themselves. */
#ifndef ARCH_X86_64_INTERNAL_H
#define ARCH_X86_64_INTERNAL_H

#include "arch/init.h"
#include "arch/cpu.h"
#include "arch/irqflags.h"
#include "arch/percpu.h"
#include "arch/regs.h"
#include "arch/x86_64/acpi_parse.h"

/* Interrupt vectors. Devices get 0x30..0xdf. */
#define VECTOR_FIRST_DEVICE 0x30
#define VECTOR_LAST_DEVICE 0xdf
#define VECTOR_CALL 0xfb
#define VECTOR_RESCHEDULE 0xfc
#define VECTOR_TIMER 0xfd
#define VECTOR_ERROR 0xfe
#define VECTOR_SPURIOUS 0xff

#define TRAP_DB 1
#define TRAP_NMI 2
#define TRAP_BP 3
#define TRAP_DF 8
#define TRAP_PF 14
#define TRAP_MC 18

#define MSR_EFER 0xc0000080
#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_CSTAR 0xc0000083
#define MSR_SFMASK 0xc0000084
#define MSR_FS_BASE 0xc0000100
#define MSR_GS_BASE 0xc0000101
#define MSR_KERNEL_GS_BASE 0xc0000102
#define MSR_TSC_AUX 0xc0000103
#define MSR_APIC_BASE 0x1b
#define MSR_TSC_DEADLINE 0x6e0
#define MSR_PAT 0x277

#define EFER_SCE BIT(0)
#define EFER_NXE BIT(11)

#define CR0_MP BIT(1)
#define CR0_EM BIT(2)
#define CR0_TS BIT(3)
#define CR0_NE BIT(5)
#define CR0_WP BIT(16)
#define CR4_PGE BIT(7)
#define CR4_OSFXSR BIT(9)
#define CR4_OSXMMEXCPT BIT(10)
#define CR4_UMIP BIT(11)
#define CR4_FSGSBASE BIT(16)
#define CR4_SMEP BIT(20)
#define CR4_SMAP BIT(21)

#define X86_EFLAGS_TF 0x100ul
#define X86_EFLAGS_DF 0x400ul
#define X86_EFLAGS_IOPL 0x3000ul
#define X86_EFLAGS_NT 0x4000ul
#define X86_EFLAGS_RF 0x10000ul
#define X86_EFLAGS_AC 0x40000ul

/* aligned to its size; its lowest word holds the CPU's per-CPU offset */
#define STACK_BYTES_IST 8192

/* Linker symbols. */
extern char __boot_start[], __boot_end[], __kernel_start[], __kernel_end[];
extern char __text_start[], __text_end[], __rodata_start[], __rodata_end[];
extern char __init_start[], __init_end[], __init_text_start[], __init_text_end[];
extern char __init_data_start[], __init_data_end[], __data_start[], __data_end[];
extern char __percpu_start[], __percpu_end[], __bss_start[], __bss_end[];
extern char __percpu_copy_start[], __percpu_copy_end[];
extern char boot_stack[], boot_stack_top[];

/* Fixed sites of the entry stubs (sites.c). */
extern struct irq_site site_syscall_entry, site_syscall_exit, site_irq_entry, site_irq_exit;
extern struct irq_site site_fault_entry, site_fault_exit, site_nmi, site_ap_start;

/* cpu.c */
void cpu_detect(void);	  /* CPUID -> cpu_features; boot CPU, once */
void cpu_init_this(void); /* control registers and MSRs of the CPU we run on */
void smap_patch(void);	  /* stac/clac into the text; while it is still writable */

/* desc.c */
void desc_init_cpu(u32 cpu); /* GDT, TSS, IST stacks, IDT of the CPU we run on */
void desc_init_idt(void);
void desc_protect_idt(void);
/* kernel stack of the thread that runs next (TSS.rsp0 and the syscall entry) */
void desc_set_stack(u64 stack_top);

/* paging.c */
/* builds kernel_pgd and switches to it; the boot tables are not used any more */
void paging_init(void);
/*
 * Makes firmware memory readable in the direct map. => early (before arch_map_ram) only. NULL when
 * out of reach.
 */
const void *acpi_map(phys_addr_t pa, size_t bytes);

/* trap.c */
void kernel_oops(const struct pt_regs *regs, const char *what, u64 error) __noreturn;

/* irq.c */
void irq_system_vector(unsigned int vector, void (*fn)(struct pt_regs *regs), const char *name);
void irq_vectors_init(void);

/* lapic.c */
extern bool lapic_x2apic;
void lapic_init(void);	   /* boot CPU: maps the registers */
void lapic_init_cpu(void); /* enables the local APIC of this CPU */
u32 lapic_id(void);
void lapic_eoi(void);
void lapic_send(u32 apic_id, u32 icr_low); /* fixed, NMI, INIT, STARTUP; waits until accepted */
void lapic_timer_oneshot(u32 count);
void lapic_timer_deadline(u64 tsc);
void lapic_timer_mode(bool deadline);
/* timer counts during at least window_tsc; took: exact window */
u64 lapic_timer_measure(u64 window_tsc, u64 *took);
#define ICR_FIXED 0x4000u
#define ICR_NMI 0x4400u
#define ICR_INIT 0x4500u
#define ICR_STARTUP 0x4600u

/* ioapic.c */
void ioapic_init(void);
int ioapic_route(unsigned int isa_irq, unsigned int vector, u32 apic_id);
void pic_disable(void);

/* timer.c */
void timer_init_cpu(void);

/* tlb.c, smp.c */
void smp_init_vectors(void);
void smp_nmi(struct pt_regs *regs);
extern phys_addr_t trampoline_pa; /* page below 1 MiB, 0: none */

extern struct acpi_machine acpi_machine;

#endif
