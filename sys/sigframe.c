// SPDX-License-Identifier: BSD-2-Clause
/*
 * sigframe.c - the frame a handler runs on, and the way back.
 *
 * The layout is the x86-64 Linux ABI (libc's restorer, unwinders and programs that edit the context
 * know it): return address of the restorer, ucontext, siginfo, and above them the 512-byte FXSAVE
 * area, 64-byte aligned. Everything the way
 * back reads is hostile: segments are set here, flags are masked, MXCSR is masked before it reaches
 * the FPU, addresses are left to the exit path (which returns with iretq when sysretq would fault
 * in the kernel).
 */
#include "arch/uaccess.h"
#include "kernel/preempt.h"
#include "lib/string.h"
#include "sys/process.h"
#include "sys/signal.h"
#include "sys/syscall.h"

struct stack_user {
	u64 sp;
	s32 flags;
	u32 pad;
	u64 size;
};
struct sigcontext_user {
	u64 r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip,
		rflags;
	u16 cs, gs, fs, ss;
	u64 err, trapno, oldmask, cr2, fpstate, reserved[8];
};
struct ucontext_user {
	u64 flags, link;
	struct stack_user stack;
	struct sigcontext_user mc;
	u64 sigmask;
};
struct rt_sigframe {
	u64 pretcode;
	struct ucontext_user uc;
	u8 info[128];
};
_Static_assert(sizeof(struct sigcontext_user) == 256, "ABI");
_Static_assert(offsetof(struct rt_sigframe, info) == 8 + 304, "ABI");

#define UC_SIGCONTEXT_SS 2
#define UC_STRICT_RESTORE_SS 4
#define SS_ONSTACK 1
#define SS_DISABLE 2
#define SS_AUTODISARM 0x80000000u
#define MINSIGSTKSZ 2048
#define REDZONE 128
/* CF PF AF ZF SF TF DF OF RF AC */
#define FLAGS_RESTORED 0x50dd5ul

void signal_copy_info(void *to128, const struct ksiginfo *info)
{
	s32 *w = to128;
	u64 *q = to128;

	memset(to128, 0, 128);
	w[0] = info->signo;
	w[1] = info->error;
	w[2] = info->code;
	if (info->code <= 0 ||
	    (info->code == SI_KERNEL && !(sigmask(info->signo) & SIG_SYNC_SET))) {
		w[4] = info->pid;
		w[5] = info->uid;
		q[3] = info->value;
	} else if (info->signo == SIGCHLD) {
		w[4] = info->pid;
		w[5] = info->uid;
		w[6] = info->status;
		q[4] = info->utime;
		q[5] = info->stime;
	} else if (info->signo == SIGIO) {
		q[2] = info->value; /* band */
		w[6] = info->status;
	} else {
		q[2] = info->value; /* address */
	}
}

static bool on_altstack(const struct task *t, u64 sp)
{
	if (t->sas_flags & SS_AUTODISARM)
		return false;
	return t->sas_size && sp > t->sas_sp && sp - t->sas_sp <= t->sas_size;
}

static int altstack_flags(const struct task *t, u64 sp)
{
	if (!t->sas_size)
		return SS_DISABLE;
	return on_altstack(t, sp) ? SS_ONSTACK : 0;
}

static void fill_stack(const struct task *t, u64 sp, struct stack_user *st)
{
	*st = (struct stack_user){ .sp = t->sas_sp,
				   .size = t->sas_size,
				   .flags = altstack_flags(t, sp) |
					    (s32)(t->sas_flags & SS_AUTODISARM) };
}

static void fill_context(struct sigcontext_user *c, const struct pt_regs *r, const struct task *t,
			 sigset_t mask)
{
	*c = (struct sigcontext_user){
		.r8 = r->r8,
		.r9 = r->r9,
		.r10 = r->r10,
		.r11 = r->r11,
		.r12 = r->r12,
		.r13 = r->r13,
		.r14 = r->r14,
		.r15 = r->r15,
		.rdi = r->rdi,
		.rsi = r->rsi,
		.rbp = r->rbp,
		.rbx = r->rbx,
		.rdx = r->rdx,
		.rax = r->rax,
		.rcx = r->rcx,
		.rsp = r->rsp,
		.rip = r->rip,
		.rflags = r->rflags,
		.cs = r->cs,
		.ss = r->ss,
		.err = t->trap_error,
		.trapno = t->trap_nr,
		.oldmask = mask,
		.cr2 = t->trap_addr,
	};
}

/* Handlers start with a fresh FPU. */
static void fresh_fpu(struct thread *th)
{
	preempt_disable();
	arch_fpu_init(&th->arch);
	arch_fpu_restore(&th->arch);
	preempt_enable();
}

int signal_setup_frame(struct pt_regs *regs, const struct ksigaction *act,
		       const struct ksiginfo *info, sigset_t mask)
{
	struct task *t = current_task();
	struct rt_sigframe frame;
	u64 sp = regs->rsp - REDZONE, fp;

	if (!(act->flags & SA_RESTORER))
		return -EFAULT;
	if ((act->flags & SA_ONSTACK) && altstack_flags(t, regs->rsp) == 0)
		sp = t->sas_sp + t->sas_size;
	else if (on_altstack(t, regs->rsp) && !on_altstack(t, sp - sizeof(frame) - FPU_STATE_BYTES))
		return -EFAULT; /* the alternate stack is full */
	fp = ALIGN_DOWN(sp - FPU_STATE_BYTES, 64);
	sp = ALIGN_DOWN(fp - sizeof(frame), 16) - 8;
	frame.pretcode = act->restorer;
	frame.uc.flags = UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS;
	frame.uc.link = 0;
	fill_stack(t, regs->rsp, &frame.uc.stack);
	fill_context(&frame.uc.mc, regs, t, mask);
	frame.uc.mc.fpstate = fp;
	frame.uc.sigmask = mask;
	signal_copy_info(frame.info, info);
	arch_fpu_save(&current->arch);
	if (copy_to_user((void __user *)fp, current->arch.fpu, FPU_STATE_BYTES) ||
	    copy_to_user((void __user *)sp, &frame, sizeof(frame)))
		return -EFAULT;
	if (t->sas_flags & SS_AUTODISARM) {
		t->sas_sp = t->sas_size = 0;
		t->sas_flags = SS_DISABLE;
	}
	regs->rdi = info->signo;
	regs->rsi = sp + offsetof(struct rt_sigframe, info);
	regs->rdx = sp + offsetof(struct rt_sigframe, uc);
	regs->rax = 0;
	regs->rip = act->handler;
	regs->rsp = sp;
	regs->cs = USER_CS;
	regs->ss = USER_DS;
	regs->rflags &= ~(0x100ul | 0x400ul | 0x10000ul); /* TF DF RF */
	fresh_fpu(current);
	return 0;
}

static void restore_context(struct pt_regs *r, const struct sigcontext_user *c)
{
	r->r8 = c->r8;
	r->r9 = c->r9;
	r->r10 = c->r10;
	r->r11 = c->r11;
	r->r12 = c->r12;
	r->r13 = c->r13;
	r->r14 = c->r14;
	r->r15 = c->r15;
	r->rdi = c->rdi;
	r->rsi = c->rsi;
	r->rbp = c->rbp;
	r->rbx = c->rbx;
	r->rdx = c->rdx;
	r->rax = c->rax;
	r->rcx = c->rcx;
	r->rsp = c->rsp;
	r->rip = c->rip;
	r->rflags = (r->rflags & ~FLAGS_RESTORED) | (c->rflags & FLAGS_RESTORED);
	r->cs = USER_CS;
	r->ss = USER_DS;
	r->orig_rax = -1;
}

static int restore_fpu(u64 user)
{
	u8 state[FPU_STATE_BYTES] __aligned(16);
	u32 mxcsr, mask;

	if (!user) {
		fresh_fpu(current);
		return 0;
	}
	if (copy_from_user(state, (void __user *)user, sizeof(state)))
		return -EFAULT;
	arch_fpu_save(&current->arch); /* for the machine's MXCSR mask, bytes 28..31 */
	memcpy(&mask, current->arch.fpu + 28, 4);
	memcpy(&mxcsr, state + 24, 4);
	mxcsr &= mask ? mask : 0xffbf;
	memcpy(state + 24, &mxcsr, 4);
	memset(state + 416, 0, 96); /* reserved and software bytes */
	preempt_disable();
	memcpy(current->arch.fpu, state, sizeof(state));
	arch_fpu_restore(&current->arch);
	preempt_enable();
	return 0;
}

static int set_altstack(struct task *t, const struct stack_user *st, u64 sp, size_t min_size)
{
	u32 mode = st->flags & ~SS_AUTODISARM;

	if (on_altstack(t, sp))
		return -EPERM;
	if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
		return -EINVAL;
	if (mode == SS_DISABLE) {
		t->sas_sp = t->sas_size = 0;
	} else {
		if (st->size < min_size)
			return -ENOMEM;
		t->sas_sp = st->sp;
		t->sas_size = st->size;
	}
	t->sas_flags = st->flags;
	return 0;
}

SYSCALL(rt_sigreturn)
{
	struct pt_regs *regs = arch_user_regs(&current->arch);
	struct ucontext_user uc;

	if (copy_struct_from_user(
		    &uc, (void __user *)(regs->rsp - 8 + offsetof(struct rt_sigframe, uc))))
		goto bad;
	if (restore_fpu(uc.mc.fpstate))
		goto bad;
	restore_context(regs, &uc.mc);
	__atomic_fetch_or(&current->arch.user_work, USER_WORK_FULL_REGS, __ATOMIC_RELAXED);
	signal_set_blocked(uc.sigmask);
	set_altstack(current_task(), &uc.stack, regs->rsp, 0); /* an error changes nothing */
	return regs->rax;
bad:
	signal_force(SIGSEGV, SI_KERNEL, 0);
	return 0;
}

SYSCALL(sigaltstack)
{
	u64 sp = arch_user_regs(&current->arch)->rsp;
	struct task *t = current_task();
	struct stack_user new, old;
	int err;

	if (a0 && copy_struct_from_user(&new, (void __user *)a0))
		return -EFAULT;
	fill_stack(t, sp, &old);
	if (a0) {
		err = set_altstack(t, &new, sp, MINSIGSTKSZ);
		if (err)
			return err;
	}
	return a1 ? copy_struct_to_user((void __user *)a1, &old) : 0;
}
