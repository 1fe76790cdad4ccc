/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * early.c - the first C code: from the boot tables to a kernel that can print, panic and trust its
 * page tables.
 */
#include "arch/context.h"
#include "arch/smp.h"
#include "arch/timer.h"
#include "boot/boot.h"
#include "internal.h"
#include "kernel/bug.h"
#include "kernel/preempt.h"
#include "kernel/printk.h"
#include "lib/string.h"

static struct arch_thread boot_arch_thread;
DEFINE_PER_CPU(struct arch_thread *, current_arch) = &boot_arch_thread;

static struct console early_console = { .name = "ttyS0", .write = early_uart_write };

void arch_early_init(void)
{
	/* Before anything writes per-CPU data: the other CPUs' areas start from this copy. */
	memcpy(__percpu_copy_start, __percpu_start, __percpu_end - __percpu_start);
	boot_arch_thread.stack_top = (unsigned long)boot_stack_top;
	tsc_boot = boot_tsc;
	cpu_detect();
	desc_init_idt();
	desc_init_cpu(0);
	console_register(&early_console);
	smap_patch();
	boot_collect();
	paging_init();
	desc_protect_idt();
	cpu_init_this();
	pr_info("cpu: %s", cpu_features.model);
	pr_info("boot: %s, %u memory ranges, %u modules", boot_info.loader, boot_info.nr_ranges,
		boot_info.nr_modules);
}
