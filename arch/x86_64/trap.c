/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trap.c - exceptions: who mends them, and what happens when nobody does.
 *
 *   page fault      -> fault_ops (mm/vm), with interrupts as they were in the interrupted code
 *   user mode       -> trap_ops->user_exception (a signal)
 *   kernel mode     -> .extable fixup (user copies), else panic with registers
 *
 * A kernel-mode page fault on a user address is only ever legal at an instruction listed in
 * .extable; anything else (a null pointer, a wild one) panics before the fault handler sees it.
 */
#include "arch/context.h"
#include "arch/mmu.h"
#include "arch/trap.h"
#include "arch/uaccess.h"
#include "internal.h"
#include "kernel/bug.h"
#include "kernel/preempt.h"

const struct fault_ops *fault_ops;
const struct trap_ops *trap_ops;

#define SIGILL 4
#define SIGTRAP 5
#define SIGBUS 7
#define SIGFPE 8
#define SIGSEGV 11

/* CF PF AF ZF SF TF DF OF RF AC ID */
#define USER_FLAGS 0x250dd5ul

/* The scheduler's; without it (first boot steps) nothing is ever preempted. */
void preempt_schedule_irq(void) __attribute__((weak));

void trap_page_fault(struct pt_regs *regs);
void trap_dispatch(unsigned int vector, struct pt_regs *regs);
void trap_paranoid(unsigned int vector, struct pt_regs *regs);
void exit_to_user(struct pt_regs *regs);
void syscall_exit_slow(struct pt_regs *regs);

extern struct extable_entry __extable_start[], __extable_end[];

u64 extable_find(u64 rip)
{
	for (struct extable_entry *e = __extable_start; e < __extable_end; e++)
		if (e->insn == rip)
			return e->fixup;
	return 0;
}

/* A program may have asked for any frame (sigreturn): only what user mode may have goes out. */
static void sanitise_user_regs(struct pt_regs *regs)
{
	regs->cs = USER_CS;
	regs->ss = USER_DS;
	regs->rflags = (regs->rflags & USER_FLAGS) | X86_EFLAGS_IF | 2;
}

/*
 * The last C code before user mode: work until there is none.
 * => IRQs off, section open when traced; closes it. The caller restores the frame with iretq.
 */
void exit_to_user(struct pt_regs *regs)
{
	struct arch_thread *t = this_cpu_read(current_arch);

	for (;;) {
		while (unlikely(READ_ONCE(t->user_work) & ~USER_WORK_FULL_REGS)) {
			local_irq_enable_l("user_work");
			if (trap_ops)
				trap_ops->user_return(regs);
			else
				t->user_work = 0;
			local_irq_disable_l("user_work");
		}
		if (likely(regs->rip < USER_TOP))
			break;
		/* iretq would fault in the kernel: report it as the program's fault instead */
		local_irq_enable_l("user_work");
		if (!trap_ops)
			kernel_oops(regs, "return to a kernel address", 0);
		trap_ops->user_exception(regs, SIGSEGV, 1, regs->rip, TRAP_PF, PF_USER | PF_INSTR);
		local_irq_disable_l("user_work");
	}
	if (unlikely(t->user_work))
		__atomic_fetch_and(&t->user_work, ~USER_WORK_FULL_REGS, __ATOMIC_RELAXED);
	sanitise_user_regs(regs);
	if (unlikely(irqoff_enabled))
		irqoff_stop(&site_irq_exit);
}

void syscall_exit_slow(struct pt_regs *regs)
{
	if (unlikely(irqoff_enabled))
		irqoff_start(&site_syscall_exit);
	exit_to_user(regs);
}

/* The way out of an exception: IRQs go off, then user work or kernel preemption. */
static void trap_exit(struct pt_regs *regs)
{
	if (user_mode(regs)) {
		local_irq_disable_l("fault_exit");
		exit_to_user(regs);
		return;
	}
	if (!(regs->rflags & X86_EFLAGS_IF))
		return;
	local_irq_disable_l("fault_exit");
	if (unlikely(this_cpu_read(__preempt_count) == 0) && preempt_schedule_irq)
		preempt_schedule_irq();
	if (unlikely(irqoff_enabled))
		irqoff_stop(&site_fault_exit);
}

static inline void trap_enter(struct pt_regs *regs)
{
	if (regs->rflags & X86_EFLAGS_IF) {
		if (unlikely(irqoff_enabled))
			irqoff_start(&site_fault_entry);
		local_irq_enable_l("fault_entry");
	}
}

static void user_page_fault(struct pt_regs *regs, unsigned long addr, u64 error)
{
	int signo = SIGSEGV, code = 1;

	if (!trap_ops)
		kernel_oops(regs, "page fault in user mode before there are programs", error);
	if (addr >= USER_TOP || !fault_ops ||
	    fault_ops->page_fault(regs, addr, error, &signo, &code))
		trap_ops->user_exception(regs, signo, code, addr, TRAP_PF, error);
}

static void kernel_page_fault(struct pt_regs *regs, unsigned long addr, u64 error)
{
	u64 fixup = addr < USER_TOP ? extable_find(regs->rip) : 0;
	int signo, code;

	if (!fixup)
		kernel_oops(regs,
			    addr < PAGE_SIZE ? "null pointer access" : "page fault in the kernel",
			    error);
	if (fault_ops && !this_cpu_read(current_arch)->pagefault_off && !in_interrupt() &&
	    !fault_ops->page_fault(regs, addr, error, &signo, &code))
		return;
	regs->rip = fixup;
}

void trap_page_fault(struct pt_regs *regs)
{
	unsigned long addr = read_cr2();
	u64 error = regs->orig_rax;

	regs->orig_rax = -1;
	trap_enter(regs);
	if (user_mode(regs) && !(error & PF_USER) && (error & PF_PRESENT))
		/*
		 * iretq in user mode reads its stack as supervisor in TCG, which SMAP forbids for
		 * ever: nothing to mend
		 */
		user_page_fault(regs, USER_TOP, error | PF_USER);
	else if (user_mode(regs))
		user_page_fault(regs, addr, error | PF_USER);
	else
		kernel_page_fault(regs, addr, error);
	trap_exit(regs);
}

static const struct {
	const char *name;
	u8 signo, code;
} traps[32] = {
	[0] = { "divide error", SIGFPE, 1 },
	[1] = { "debug", SIGTRAP, 2 },
	[3] = { "breakpoint", SIGTRAP, 0x80 },
	[4] = { "overflow", SIGSEGV, 0x80 },
	[5] = { "bound range", SIGSEGV, 0x80 },
	[6] = { "invalid opcode", SIGILL, 2 },
	[7] = { "no coprocessor", SIGFPE, 0x80 },
	[8] = { "double fault" },
	[10] = { "invalid TSS", SIGSEGV, 0x80 },
	[11] = { "segment not present", SIGBUS, 0x80 },
	[12] = { "stack segment", SIGBUS, 0x80 },
	[13] = { "general protection", SIGSEGV, 0x80 },
	[16] = { "x87 error", SIGFPE, 7 },
	[17] = { "alignment check", SIGBUS, 1 },
	[18] = { "machine check" },
	[19] = { "SIMD error", SIGFPE, 7 },
	[21] = { "control protection", SIGSEGV, 0x80 },
};

static const char *trap_name(unsigned int vector)
{
	return traps[vector].name ? traps[vector].name : "unknown exception";
}

void trap_dispatch(unsigned int vector, struct pt_regs *regs)
{
	u64 error = regs->orig_rax;

	regs->orig_rax = -1;
	trap_enter(regs);
	if (user_mode(regs) && trap_ops) {
		bool at_insn = vector == 0 || vector == 6 || vector == 16 || vector == 19;

		trap_ops->user_exception(regs, traps[vector].signo ? traps[vector].signo : SIGSEGV,
					 traps[vector].code ? traps[vector].code : 0x80,
					 at_insn ? regs->rip : 0, vector, error);
	} else {
		u64 fixup = user_mode(regs) ? 0 : extable_find(regs->rip);

		if (!fixup)
			kernel_oops(regs, trap_name(vector), error);
		regs->rip = fixup; /* a copy from a non-canonical address */
	}
	trap_exit(regs);
}

/* On an IST stack, GS set by hand: only what is safe anywhere. */
void trap_paranoid(unsigned int vector, struct pt_regs *regs)
{
	if (vector == TRAP_NMI) {
		this_cpu_add(__preempt_count, NMI_OFFSET);
		smp_nmi(regs);
		this_cpu_sub(__preempt_count, NMI_OFFSET);
		return;
	}
	if (vector == TRAP_DB) { /* a stray hardware breakpoint in the kernel: go on */
		regs->rflags &= ~X86_EFLAGS_TF;
		return;
	}
	kernel_oops(regs, trap_name(vector), regs->orig_rax);
}

void pagefault_disable(void)
{
	this_cpu_read(current_arch)->pagefault_off++;
	barrier();
}

void pagefault_enable(void)
{
	barrier();
	this_cpu_read(current_arch)->pagefault_off--;
}

bool pagefault_disabled(void)
{
	return this_cpu_read(current_arch)->pagefault_off != 0;
}
