/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * context.h - what the machine keeps of a thread while it does not run: kernel stack pointer, FS/GS
 * bases, x87/SSE state (FXSAVE; OSXSAVE stays clear, so libraries never pick AVX).
 */
#ifndef ARCH_CONTEXT_H
#define ARCH_CONTEXT_H

#include "arch/percpu.h"
#include "arch/regs.h"
#include "lib/types.h"

#define FPU_STATE_BYTES 512

/*
 * Reasons to call trap_ops->user_return before going back to user mode. Set with an atomic or, by
 * anyone.
 */
#define USER_WORK_RESCHED 1u
#define USER_WORK_SIGNAL 2u
/*
 * The current thread's entry frame was changed (execve, sigreturn): leave by iretq with all of it.
 * arch clears it.
 */
#define USER_WORK_FULL_REGS 4u

struct arch_thread {
	u32 user_work;	   /* offset 0: the exit stubs test it; USER_WORK_* */
	u32 pagefault_off; /* nesting of pagefault_disable() */
	u64 rsp;	   /* kernel stack pointer while switched out */
	u64 stack_top;	   /* kernel stack: entries from user mode start here */
	u64 fs_base, gs_base;
	bool user; /* has FPU state and FS/GS bases to save */
	u8 fpu[FPU_STATE_BYTES] __aligned(16);
};

/* The running thread's machine part; set by arch_switch_to (boot: a static one). */
DECLARE_PER_CPU(struct arch_thread *, current_arch);

/*
 * Save prev, load next, return on next's stack. Returns the arch_thread that ran before (in next's
 * view).
 * => interrupts off, run queue lock held by the scheduler; called from sched/ only.
 */
struct arch_thread *arch_switch_to(struct arch_thread *prev, struct arch_thread *next);

/*
 * sched/ implements it: the first thing on a new thread's stack; finishes the switch as the code
 * after arch_switch_to() would. => called with interrupts off, returns with interrupts on.
 */
void thread_first_run(struct arch_thread *prev);
/*
 * First run of a kernel thread: thread_first_run(), then fn(arg), which never returns. stack_top is
 * 16-aligned.
 */
void arch_thread_init_kernel(struct arch_thread *t, void *stack_top, void (*fn)(void *), void *arg);
/*
 * First run of a forked thread: returns to user mode with a copy of regs placed at the stack top
 * (rax = 0 set by caller).
 */
void arch_thread_init_user(struct arch_thread *t, void *stack_top, const struct pt_regs *regs);
/* The frame of the current thread's entry from user mode. */
struct pt_regs *arch_user_regs(struct arch_thread *t);
/* Fresh FPU state (FCW 0x37f, MXCSR 0x1f80). */
void arch_fpu_init(struct arch_thread *t);
/*
 * Current thread: copy live FPU state to/from memory (signal frames, fork); save also brings
 * fs_base, gs_base up to date.
 */
void arch_fpu_save(struct arch_thread *t);
void arch_fpu_restore(struct arch_thread *t);
/* Current thread: set and load a base. */
void arch_set_fs_base(struct arch_thread *t, u64 base);
void arch_set_gs_base(struct arch_thread *t, u64 base);

#endif
