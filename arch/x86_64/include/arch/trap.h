/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trap.h - hooks the machine calls upward: page faults (mm/vm), other exceptions and signals (sys),
 * system calls (sys), device interrupts. Each is a pointer set once at boot; before that a fault
 * panics.
 */
#ifndef ARCH_TRAP_H
#define ARCH_TRAP_H

#include "arch/percpu.h"
#include "arch/regs.h"

#define PF_PRESENT 1 /* error code bits of a page fault */
#define PF_WRITE 2
#define PF_USER 4
#define PF_INSTR 16

struct fault_ops {
	/*
	 * A page fault. => interrupts on as they were in the interrupted code, may sleep when they
	 * were on and preemption was possible. Returns 0 when mended, or negative errno: then arch
	 * tries .extable, else exception() or panic.
	 * On failure for user mode: *signo and *si_code receive SIGSEGV/SIGBUS and the siginfo
	 * code.
	 */
	int (*page_fault)(struct pt_regs *regs, unsigned long addr, unsigned int error, int *signo,
			  int *si_code);
};
struct trap_ops {
	/* A user-mode exception nobody mended: deliver a signal to the current thread. */
	void (*user_exception)(struct pt_regs *regs, int signo, int si_code, unsigned long addr,
			       int trapno, u64 error);
	/*
	 * Before a return to user mode while current_arch->user_work is set (repeated until clear).
	 * => interrupts on. The callee clears the bits it handles.
	 */
	void (*user_return)(struct pt_regs *regs);
};
extern const struct fault_ops *fault_ops;
extern const struct trap_ops *trap_ops;

/*
 * sys/syscall.c implements it: regs->orig_rax is the number; the result goes to regs->rax. =>
 * interrupts on.
 */
void syscall_dispatch(struct pt_regs *regs);

/* The frame the outermost running interrupt of this CPU interrupted; NULL outside interrupts. */
DECLARE_PER_CPU(struct pt_regs *, irq_regs);
static inline bool irq_from_user(void)
{
	struct pt_regs *regs = this_cpu_read(irq_regs);

	return regs && user_mode(regs);
}
/*
 * Statistics by vector: name (NULL: not in use) and how often it came on a CPU; 0..255. For
 * /proc/interrupts.
 */
const char *irq_vector_name(unsigned int vector);
u64 irq_vector_count(unsigned int vector, u32 cpu);

/*
 * Device interrupts: fn runs in hard interrupt context with interrupts off. => vector number or
 * -ENOSPC.
 */
typedef void (*irq_handler_t)(void *arg);
int irq_request_isa(unsigned int isa_irq, irq_handler_t fn, void *arg, const char *name);
int irq_alloc_vector(irq_handler_t fn, void *arg, const char *name); /* MSI */
/* Gives it back. => the device does not send it any more; no handler of it is running */
void irq_free_vector(int vector);
/* Address and data of an MSI message for a vector on a CPU. */
void irq_msi_message(int vector, u32 cpu, u64 *addr, u32 *data);

#endif
