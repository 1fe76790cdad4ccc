/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * irqflags.h - the one place that turns interrupts off and on.
 *
 * Problem: to trust an interrupts-off figure, no cli or sti may escape the tracer. Idea: every use
 * of the macros below plants a static `struct irq_site` (a fixed label, so that inlining cannot
 * rename it, plus function and line) and records the address of its cli/sti in section .irq_insns.
 * The tracer, lint, the reports and the outside referee all read that one table; nothing is hashed
 * at run time.
 *
 * Protocol: a section starts when IF goes 1 -> 0 and ends when it goes 0 -> 1. The start hook runs
 * right after cli, the stop hook right before sti. Nested uses see IF already clear and call no
 * hook. Interrupt and exception entry (gates clear IF) and the system call entry call the same
 * hooks with the sites of their stubs. With the tracer off a hook costs one compare and one
 * predicted branch.
 *
 * The hooks live in trace/ (floor 2) and see only the site and per-CPU state.
 * Source: sampling rule and report of [seed-002]; see docs/sources.md.
 */
#ifndef ARCH_IRQFLAGS_H
#define ARCH_IRQFLAGS_H

#include "lib/types.h"

#define X86_EFLAGS_IF 0x200ul

/* What one place in the code costs; a copy per CPU (the address of the site indexes it). */
struct irq_site {
	const char *label; /* fixed name in the reports */
	const char *func;  /* function it was written in */
	const char *file;
	u32 line;
	u32 id; /* index into the per-CPU statistics, given at boot */
};

/* One per emitted instruction: which cli/sti/iretq/sysretq belongs to which site. */
struct irq_insn {
	u64 addr;
	struct irq_site *site;
	u64 kind; /* enum irq_insn_kind */
};

enum irq_insn_kind {
	IRQ_INSN_OFF = 0,    /* cli */
	IRQ_INSN_ON = 1,     /* sti, before which the stop hook runs */
	IRQ_INSN_RETURN = 2, /* iretq, sysretq */
	IRQ_INSN_IDLE = 3,   /* sti of sti;hlt: not measured */
	IRQ_INSN_ENTRY = 4,  /* first instruction of a gate or of the syscall entry */
};

#ifdef QUIRE_HOST
#define local_irq_save_l(flags, name) ((flags) = 0)
#define local_irq_restore_l(flags, name) ((void)(flags))
#define local_irq_disable_l(name) ((void)0)
#define local_irq_enable_l(name) ((void)0)
#define irqs_disabled() false
#define irq_work(n) ((void)0)
#else

extern bool irqoff_enabled; /* the tracer records; read-mostly */

/*
 * trace/irqsoff.c. => IF is clear; called only while irqoff_enabled; never sleeps, takes no lock.
 */
void irqoff_start(struct irq_site *site);
void irqoff_stop(struct irq_site *site);
/* Adds n to the open section's work counter (pfns visited, pages freed). => IF is clear. */
void irqoff_work(unsigned long n);

#define DEFINE_IRQ_SITE(var, name)                                                                 \
	static struct irq_site var __attribute__((section(".irq_sites"), used, aligned(8))) = {    \
		.label = name, .func = __func__, .file = __FILE__, .line = __LINE__                \
	}

#define __IRQ_INSN(kind)                                                                           \
	".pushsection .irq_insns, \"a\"\n\t"                                                       \
	".quad 771b, %c[site], " #kind "\n\t"                                                      \
	".popsection\n\t"

static __always_inline unsigned long __read_flags(void)
{
	unsigned long flags;

	__asm__ volatile("pushfq; popq %0" : "=r"(flags) : : "memory");
	return flags;
}

#define __irq_cli(sitevar)                                                                         \
	__asm__ volatile("771: cli\n\t" __IRQ_INSN(0) : : [site] "i"(&(sitevar)) : "memory")
#define __irq_sti(sitevar)                                                                         \
	__asm__ volatile("771: sti\n\t" __IRQ_INSN(1) : : [site] "i"(&(sitevar)) : "memory")

#define irqs_disabled() (!(__read_flags() & X86_EFLAGS_IF))

/*
 * local_irq_save_l(flags, label): remember IF in flags and turn interrupts off; _restore_l puts it
 * back. Use spin_lock_irqsave() and friends where a lock is involved. => any context; labels are
 * string literals.
 */
#define local_irq_save_l(flags, name)                                                              \
	do {                                                                                       \
		DEFINE_IRQ_SITE(_irq_site, name);                                                  \
		(flags) = __read_flags();                                                          \
		__irq_cli(_irq_site);                                                              \
		if (unlikely(irqoff_enabled) && ((flags)&X86_EFLAGS_IF))                           \
			irqoff_start(&_irq_site);                                                  \
	} while (0)

#define local_irq_restore_l(flags, name)                                                           \
	do {                                                                                       \
		DEFINE_IRQ_SITE(_irq_site, name);                                                  \
		if ((flags)&X86_EFLAGS_IF) {                                                       \
			if (unlikely(irqoff_enabled))                                              \
				irqoff_stop(&_irq_site);                                           \
			__irq_sti(_irq_site);                                                      \
		}                                                                                  \
	} while (0)

#define local_irq_disable_l(name)                                                                  \
	do {                                                                                       \
		DEFINE_IRQ_SITE(_irq_site, name);                                                  \
		bool _was_on = unlikely(irqoff_enabled) && !irqs_disabled();                       \
		__irq_cli(_irq_site);                                                              \
		if (unlikely(_was_on))                                                             \
			irqoff_start(&_irq_site);                                                  \
	} while (0)

#define local_irq_enable_l(name)                                                                   \
	do {                                                                                       \
		DEFINE_IRQ_SITE(_irq_site, name);                                                  \
		if (unlikely(irqoff_enabled))                                                      \
			irqoff_stop(&_irq_site);                                                   \
		__irq_sti(_irq_site);                                                              \
	} while (0)

#define irq_work(n)                                                                                \
	do {                                                                                       \
		if (unlikely(irqoff_enabled))                                                      \
			irqoff_work(n);                                                            \
	} while (0)
#endif

/* Without a label of its own a site is named after its function. */
#define local_irq_save(flags) local_irq_save_l(flags, __func__)
#define local_irq_restore(flags) local_irq_restore_l(flags, __func__)
#define local_irq_disable() local_irq_disable_l(__func__)
#define local_irq_enable() local_irq_enable_l(__func__)

#endif
