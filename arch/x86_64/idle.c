/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * idle.c - waiting for an interrupt.
 *
 * Under QEMU's -icount with sleep=off a plain "sti; hlt" is not repeatable: the emulator's main
 * loop may see the halt before the instructions that led to it are accounted for, and time jumps
 * differently from run to run. Instructions that end in the emulator's main loop by themselves
 * (pause) settle the account before the halt.
 */
#include "arch/cpu.h"
#include "internal.h"
#include "kernel/preempt.h"

/* The sti of the idle pair: listed, but not the end of a measured section. */
#define IDLE_PAIR(sitevar)                                                                         \
	__asm__ volatile("771: sti\n\thlt\n\t" __IRQ_INSN(3)                                       \
			 :                                                                         \
			 : [site] "i"(&(sitevar))                                                  \
			 : "memor"                                                                 \
			   "y")

void arch_idle(void)
{
	DEFINE_IRQ_SITE(site, "idle");

	if (unlikely(irqoff_enabled))
		irqoff_stop(&site);
	if (arch_clock_is_virtual)
		cpu_relax();
	IDLE_PAIR(site);
}
