/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power.c - ways to stop: power off, reboot, panic, halt.
 *
 * QEMU's isa-debug-exit device (port 0xf4) ends the emulator with status value * 2 + 1; 0x10
 * (status 33) is success. It cannot be probed, but without it the write goes nowhere: so power off
 * tries it first (debugexit=0: never) and ACPI next. A panic writes to it always: even one before
 * the command line is parsed fails loudly.
 */
#include "arch/io.h"
#include "arch/timer.h"
#include "internal.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "lib/err.h"
#include "lib/string.h"

#define DEBUG_EXIT_PORT 0xf4
#define DEBUG_EXIT_SUCCESS 0x10u
#define DEBUG_EXIT_PANIC 0x21u

static bool debugexit = true, panic_reboot;

static int set_panic(const char *text)
{
	if (strcmp(text, "reboot") && strcmp(text, "halt"))
		return -EINVAL;
	panic_reboot = text[0] == 'r';
	return 0;
}

BOOT_PARAM_BOOL("debugexit", debugexit,
		"power off through QEMU's isa-debug-exit first: status 33 is success (default 1)");
BOOT_PARAM_FUNC("panic", set_panic, "after a panic: halt (default) or reboot");

__noreturn void arch_halt(void)
{
	for (;;)
		__asm__ volatile("hlt" : : : "memory");
}

/* Status for a failing exit: never the success value, never the panic's. */
static u32 exit_value(int code)
{
	return code == 0 ? DEBUG_EXIT_SUCCESS : 0x40u | (code & 0x3f);
}

static void acpi_s5(void)
{
	const struct acpi_machine *m = &acpi_machine;

	if (!m->has_s5)
		return;
	outw((inw(m->pm1a_cnt) & 0x203) | m->s5_a << 10 | 1 << 13, m->pm1a_cnt);
	if (m->pm1b_cnt)
		outw((inw(m->pm1b_cnt) & 0x203) | m->s5_b << 10 | 1 << 13, m->pm1b_cnt);
	/* The power goes a little later (an emulator's other threads finish first). */
	for (u64 until = arch_clock_ns() + 1000000000; arch_clock_ns() < until;)
		cpu_relax();
}

__noreturn void arch_poweroff(int code)
{
	printk_flush();
	if (debugexit)
		outl(exit_value(code), DEBUG_EXIT_PORT);
	acpi_s5();
	pr_err("power: this machine does not switch itself off, halted");
	printk_flush();
	arch_halt();
}

__noreturn void arch_reboot(void)
{
	const struct acpi_machine *m = &acpi_machine;
	const struct {
		u16 limit;
		u64 base;
	} __packed no_idt = { 0, 0 };

	printk_flush();
	if (m->has_reset && m->reset_space == 1)
		outb(m->reset_value, m->reset_addr);
	for (int i = 0; i < 10000 && (inb(0x64) & 2); i++)
		cpu_relax();
	outb(0xfe, 0x64); /* keyboard controller: pulse the reset line */
	for (int i = 0; i < 100000; i++)
		cpu_relax();
	__asm__ volatile("lidt %0; int3" : : "m"(no_idt)); /* triple fault */
	arch_halt();
}

__noreturn void arch_panic_exit(void)
{
	outl(DEBUG_EXIT_PANIC, DEBUG_EXIT_PORT);
	if (panic_reboot)
		arch_reboot();
	arch_halt();
}
