/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * init.h - the machine's part of the boot order, called by kernel_main() one after the other on the
 * boot CPU with interrupts off, and the things the panic path asks of the machine.
 */
#ifndef ARCH_INIT_H
#define ARCH_INIT_H

#include "arch/regs.h"
#include "lib/types.h"

/*
 * sys/main.c: called by boot/start.asm on the boot stack, interrupts off, in the high half. Never
 * returns.
 */
void kernel_main(void);

/*
 * 1. First thing of all: per-CPU template, GDT, IDT, CPU features, early console, boot_info, final
 * kernel tables.
 */
void arch_early_init(void);
/*
 * 2. After the parameters are parsed: RSDP, MADT, SRAT, SLIT, FADT, HPET -> numa_info, cpu_node,
 * cpu_apic_id, ...
 */
void arch_acpi_init(void);
/* 3. After bootmem_init(): the direct map of all RAM. Table pages come from arch_pt_alloc(). */
void arch_map_ram(void);
/*
 * 4. After arch_map_ram(), while bootmem_alloc() works: per-CPU areas of the other CPUs, on their
 * nodes.
 */
void arch_percpu_init(void);
/* 5. After the allocators: local APIC, IO APIC, interrupt vectors. */
void arch_irq_init(void);
/*
 * 6. Clocksource and alarm of the boot CPU; before time_init(). arch_clock_ns() counts from
 * power-on afterwards.
 */
void arch_timer_init(void);
/*
 * 7. After SMP is up: give away what only the boot needed. Calls free_range(start, end, what) with
 *    page-aligned physical addresses for each piece (boot code, init sections, per-CPU template);
 *    the pieces are already unmapped from the kernel image and writable in the direct map. =>
 *    interrupts on (flushes every TLB); once; no __init code runs later.
 */
void arch_free_init(void (*free_range)(phys_addr_t start, phys_addr_t end, const char *what));

/*
 * mm/phys/bootmem.c implements it: see there. => between bootmem_init() and the end of
 * mm_phys_init()
 */
phys_addr_t bootmem_alloc(size_t bytes, size_t align, int node);
void bootmem_set_mapped(phys_addr_t end);

/*
 * True when time is counted in instructions (QEMU -icount shift=0): figures are exact and
 * repeatable. Tested at boot.
 */
extern bool arch_clock_is_virtual;

/* Prints the registers of regs (NULL: of the caller) with printk at level EMERG. => any context. */
void arch_dump_regs(const struct pt_regs *regs);
/*
 * Calls fn(addr, arg) for every return address, innermost first, by frame pointers. => any context;
 * reads only inside the stack it starts on; regs NULL: starts at the caller. Stops after 64 frames.
 */
void arch_backtrace(const struct pt_regs *regs, void (*fn)(unsigned long addr, void *arg),
		    void *arg);
/*
 * Last words of a panic: leaves QEMU with failing status 0x21 when the isa-debug-exit device is
 * there, else halts (or reboots when the boot parameter panic=reboot asks for it).
 */
__noreturn void arch_panic_exit(void);
/* Registers another CPU had when smp_stop_others() stopped it, or NULL. */
const struct pt_regs *arch_stopped_regs(u32 cpu);

/* Polled output on COM1 without any lock or state: works before everything else and in panic. */
void early_uart_write(const char *s, size_t n);

#endif
