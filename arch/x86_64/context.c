/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * context.c - switching between threads. Kernel threads use no FPU and have no user GS or FS: for
 * them a switch is six pushes, six pops and a stack pointer. User threads also save x87/SSE state
 * (FXSAVE, eagerly: a lazy scheme leaks state speculatively and costs a trap) and, where programs
 * can change their bases themselves (FSGSBASE), read them back.
 */
#include "arch/context.h"
#include "arch/page.h"
#include "arch/uaccess.h"
#include "internal.h"
#include "lib/string.h"

struct arch_thread *arch_switch_stacks(struct arch_thread *prev, struct arch_thread *next);
extern char thread_entry_kernel[], thread_entry_user[];

_Static_assert(offsetof(struct arch_thread, user_work) == 0 &&
		       offsetof(struct arch_thread, rsp) == 8,
	       "entry.asm knows these offsets");
_Static_assert(sizeof(struct pt_regs) == 168, "asm.inc knows the frame");

/* What arch_switch_stacks pops. */
struct switch_frame {
	u64 r15, r14, r13, r12, rbp, rbx, rip;
};

/* The user's GS base rests in KERNEL_GS_BASE while the kernel runs. */
static void save_user(struct arch_thread *t)
{
	__asm__ volatile("fxsave64 %0" : "=m"(t->fpu));
	if (cpu_features.fsgsbase) {
		u64 base;

		__asm__ volatile("rdfsbase %0" : "=r"(base));
		t->fs_base = base;
		t->gs_base = rdmsr(MSR_KERNEL_GS_BASE);
	}
}

static void load_user(const struct arch_thread *t)
{
	__asm__ volatile("fxrstor64 %0" : : "m"(t->fpu));
	if (cpu_features.fsgsbase)
		__asm__ volatile("wrfsbase %0" : : "r"(t->fs_base));
	else
		wrmsr(MSR_FS_BASE, t->fs_base);
	wrmsr(MSR_KERNEL_GS_BASE, t->gs_base);
	desc_set_stack(t->stack_top);
}

struct arch_thread *arch_switch_to(struct arch_thread *prev, struct arch_thread *next)
{
	if (prev->user)
		save_user(prev);
	if (next->user)
		load_user(next);
	return arch_switch_stacks(prev, next);
}

void arch_thread_init_kernel(struct arch_thread *t, void *stack_top, void (*fn)(void *), void *arg)
{
	/*
	 * At its first instruction rsp is a multiple of 16, as asm code that makes calls wants it.
	 */
	struct switch_frame *f = (struct switch_frame *)((char *)stack_top - 16) - 1;

	memset(f, 0, sizeof(*f) + 16);
	f->rip = (unsigned long)thread_entry_kernel;
	f->rbx = (unsigned long)fn;
	f->r12 = (unsigned long)arg;
	t->rsp = (unsigned long)f;
	t->stack_top = (unsigned long)stack_top;
	t->user = false;
}

void arch_thread_init_user(struct arch_thread *t, void *stack_top, const struct pt_regs *regs)
{
	struct pt_regs *copy = (struct pt_regs *)stack_top - 1;
	struct switch_frame *f = (struct switch_frame *)((char *)copy - 8) - 1;

	*copy = *regs;
	memset(f, 0, sizeof(*f));
	f->rip = (unsigned long)thread_entry_user;
	t->rsp = (unsigned long)f;
	t->stack_top = (unsigned long)stack_top;
	t->user = true;
}

struct pt_regs *arch_user_regs(struct arch_thread *t)
{
	return (struct pt_regs *)t->stack_top - 1;
}

void arch_fpu_init(struct arch_thread *t)
{
	memset(t->fpu, 0, sizeof(t->fpu));
	*(u16 *)(t->fpu + 0) = 0x37f;	/* FCW */
	*(u32 *)(t->fpu + 24) = 0x1f80; /* MXCSR */
	if (t == this_cpu_read(current_arch))
		arch_fpu_restore(t);
}

void arch_fpu_save(struct arch_thread *t)
{
	save_user(t);
}

/* The image may come from a program's signal frame: reserved MXCSR bits would fault. */
void arch_fpu_restore(struct arch_thread *t)
{
	*(u32 *)(t->fpu + 24) &= 0xffbf;
	__asm__ volatile("fxrstor64 %0" : : "m"(t->fpu));
}

void arch_set_fs_base(struct arch_thread *t, u64 base)
{
	t->fs_base = base;
	if (t == this_cpu_read(current_arch))
		wrmsr(MSR_FS_BASE, base);
}

void arch_set_gs_base(struct arch_thread *t, u64 base)
{
	t->gs_base = base;
	if (t == this_cpu_read(current_arch))
		wrmsr(MSR_KERNEL_GS_BASE, base);
}
