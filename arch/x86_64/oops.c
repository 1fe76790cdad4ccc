/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oops.c - what a dying kernel says of the machine: registers, and a backtrace by frame pointers
 * that never reads outside the stack it stands on.
 */
#include "arch/context.h"
#include "arch/cpu.h"
#include "arch/page.h"
#include "arch/smp.h"
#include "internal.h"
#include "kernel/bug.h"
#include "kernel/printk.h"
#include "kernel/ksyms.h"

#define MAX_FRAMES 64
#define MAX_STACK_BYTES 65536 /* no kernel stack is larger */

/* Registers of the fault that led to the panic on this CPU. */
static DEFINE_PER_CPU(const struct pt_regs *, oops_regs);

void kernel_oops(const struct pt_regs *regs, const char *what, u64 error)
{
	this_cpu_write(oops_regs, regs);
	panic("%s: error %#llx, rip %#llx, address %#llx", what, (unsigned long long)error,
	      (unsigned long long)regs->rip, (unsigned long long)read_cr2());
}

void arch_dump_regs(const struct pt_regs *r)
{
	char sym[96];

	if (!r)
		r = this_cpu_read(oops_regs);
	if (!r)
		return;
#define U(f) (unsigned long long)r->f
	printk(LOG_EMERG, "rip %016llx %s", U(rip), ksym_format(sym, sizeof(sym), r->rip));
	printk(LOG_EMERG, "rsp %04llx:%016llx rflags %06llx cs %02llx orig_rax %016llx", U(ss),
	       U(rsp), U(rflags), U(cs), U(orig_rax));
	printk(LOG_EMERG, "rax %016llx rbx %016llx rcx %016llx", U(rax), U(rbx), U(rcx));
	printk(LOG_EMERG, "rdx %016llx rsi %016llx rdi %016llx", U(rdx), U(rsi), U(rdi));
	printk(LOG_EMERG, "rbp %016llx r8  %016llx r9  %016llx", U(rbp), U(r8), U(r9));
	printk(LOG_EMERG, "r10 %016llx r11 %016llx r12 %016llx", U(r10), U(r11), U(r12));
	printk(LOG_EMERG, "r13 %016llx r14 %016llx r15 %016llx", U(r13), U(r14), U(r15));
#undef U
	printk(LOG_EMERG, "cr0 %08llx cr2 %016llx cr3 %012llx cr4 %06llx gs %016lx",
	       (unsigned long long)read_cr0(), (unsigned long long)read_cr2(),
	       (unsigned long long)read_cr3(), (unsigned long long)read_cr4(),
	       this_cpu_read(this_cpu_off));
}

/* End of the stack sp lies on, 0 when it is none we know. */
static unsigned long stack_end(unsigned long sp)
{
	struct arch_thread *t = this_cpu_read(current_arch);
	unsigned long boot = (unsigned long)boot_stack, top = (unsigned long)boot_stack_top;

	if (sp >= boot && sp < top)
		return top;
	if (t && sp < t->stack_top && t->stack_top - sp <= MAX_STACK_BYTES)
		return t->stack_top;
	if ((sp >= PAGE_OFFSET && sp < VMALLOC_START) || sp >= KERNEL_BASE) /* an exception stack */
		return (sp & ~(STACK_BYTES_IST - 1ul)) + STACK_BYTES_IST;
	/* a thread's, but not the current one's: this page is there */
	if (sp >= VMALLOC_START && sp < VMALLOC_END)
		return (sp | ~PAGE_MASK) + 1;
	return 0;
}

static unsigned long walk(unsigned long bp, unsigned long sp,
			  void (*fn)(unsigned long addr, void *arg), void *arg, unsigned int *left)
{
	unsigned long end = stack_end(sp);

	while (*left && end && bp >= sp && bp + 16 <= end && !(bp & 7)) {
		const unsigned long *frame = (const unsigned long *)bp;

		if (frame[1] < KERNEL_BASE)
			break;
		fn(frame[1], arg);
		(*left)--;
		if (frame[0] <= bp)
			break;
		bp = frame[0];
	}
	return bp;
}

void arch_backtrace(const struct pt_regs *regs, void (*fn)(unsigned long addr, void *arg),
		    void *arg)
{
	unsigned int left = MAX_FRAMES;

	if (!regs)
		regs = this_cpu_read(oops_regs);
	if (!regs) {
		unsigned long bp = (unsigned long)__builtin_frame_address(0);

		walk(bp, bp, fn, arg, &left);
		return;
	}
	if (user_mode(regs))
		return;
	fn(regs->rip, arg);
	walk(regs->rbp, regs->rsp, fn, arg, &left);
}
