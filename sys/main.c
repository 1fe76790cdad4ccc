// SPDX-License-Identifier: BSD-2-Clause
/*
 * main.c - the boot order, as a list.
 *
 * The machine's entry code (boot/, arch/x86_64/) calls kernel_main() on the boot CPU with
 * interrupts off, on the boot stack, in the higher half. Every step may use what the steps above it
 * set up, and nothing below. The list ends by turning the boot flow into CPU 0's idle thread; what
 * needs to sleep goes on in kernel_init().
 */
#include "arch/bootinfo.h"
#include "arch/init.h"
#include "arch/smp.h"
#include "drivers/blk/blk.h"
#include "drivers/blk/virtio_blk.h"
#include "drivers/pci/pci.h"
#include "drivers/virtio/virtio.h"
#include "fs/vfs.h"
#include "kernel/event.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/time.h"
#include "lib/string.h"
#include "mm/cache/writeback.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/bootmem.h"
#include "mm/phys/page_alloc.h"
#include "mm/vm/aspace.h"
#include "sched/kthread.h"
#include "sys/boot_times.h"
#include "sys/init.h"
#include "sys/klogd.h"
#include "sys/rootfs.h"
#include "trace/irqsoff.h"
#ifdef QUIRE_TESTS
#include "tests/kernel/ktest.h"
#endif

static void parse_parameters(void)
{
	params_parse(boot_info.cmdline);
}

/*
 * The tracer stands below the allocator: it is handed its statistics' memory. Zeroed, near the CPU;
 * NULL when out of memory.
 */
static void *tracer_memory(size_t bytes, u32 cpu)
{
	void *p = vmalloc_node(bytes, cpu_mem_node(cpu));

	return p ? memset(p, 0, bytes) : NULL;
}

static void tracer_init(void)
{
	trace_alloc = tracer_memory;
	trace_init();
}

static void announce(void)
{
	pr_notice("Quire booted by %s; command line: %s", boot_info.loader, boot_info.cmdline);
}

static const struct boot_step {
	const char *what;
	void (*fn)(void);
} boot_order[] = {
	{ "machine", arch_early_init },
	{ "banner", announce },
	{ "parameters", parse_parameters },
	{ "ACPI tables", arch_acpi_init },
	{ "boot memory", bootmem_init },
	{ "direct map", arch_map_ram },
	{ "per-CPU areas", arch_percpu_init },
	{ "nodes and zones", mm_phys_init },
	{ "kernel objects", kmem_init },
	{ "vmalloc", vmalloc_init },
	{ "interrupts", arch_irq_init },
	{ "clock", arch_timer_init },
	{ "scheduler", sched_init },
	{ "timers", time_init },
	{ "tracer", tracer_init },
	{ "address spaces", vm_init },
	{ "writeback", writeback_init },
	{ "file systems", fs_init },
	{ "processes", sys_init },
};

/* Everything that needs threads: the other CPUs, daemons, then tests or PID 1. */
static int kernel_init(void *unused)
{
	cpus_init();
	smp_start_others();
	boot_mark("other CPUs");
	sched_start_daemons();
	klogd_start();
	fs_start();
	blk_init();
	pci_init();
	virtio_init();
	virtio_blk_init();
	boot_mark("disks");
	sys_start();
	mount_root();
	boot_mark("daemons, initramfs");
#ifdef QUIRE_TESTS
	if (param_get("ktest"))
		ktest_main(param_get("ktest"));
#endif
	init_run(); /* becomes PID 1 */
	return 0;
}

void kernel_main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(boot_order); i++) {
		boot_order[i].fn();
		boot_mark(boot_order[i].what);
	}
	if (!kthread_run(kernel_init, NULL, -1, "init"))
		panic("main: no memory for the first thread");
	sched_idle_loop();
}
