/* SPDX-License-Identifier: BSD-2-Clause */
/* regs.h - the register frame every entry into the kernel leaves at the top of the kernel stack. */
#ifndef ARCH_REGS_H
#define ARCH_REGS_H

#include "lib/types.h"

struct pt_regs {
	u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8;
	u64 rax, rcx, rdx, rsi, rdi;
	u64 orig_rax; /* system call number, -1 for traps, ~vector for interrupts */
	u64 rip, cs, rflags, rsp, ss;
};

#define KERNEL_CS 0x10
#define KERNEL_DS 0x18
#define USER_DS 0x2b
#define USER_CS 0x33

static __always_inline bool user_mode(const struct pt_regs *regs)
{
	return regs->cs & 3;
}

#endif
