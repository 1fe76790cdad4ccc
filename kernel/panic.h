/* SPDX-License-Identifier: BSD-2-Clause */
/* panic.h - the end of the road: what panic() offers to the rest beside kernel/bug.h. */
#ifndef KERNEL_PANIC_H
#define KERNEL_PANIC_H

#include "arch/regs.h"
#include "kernel/bug.h"

/* => any context. True from the first line of a panic on, on every CPU. */
bool panic_in_progress(void);
/* A panic that came by way of an exception: its registers and its stack are shown. */
__noreturn void panic_regs(const struct pt_regs *regs, const char *fmt, ...) __printf_like(2, 3);
/* Prints the stack of the caller (or of regs) with names, through printk at the level. */
void dump_stack(int level);
void dump_stack_regs(int level, const struct pt_regs *regs);

/*
 * Files of the SHOW registry that a panic prints ("/proc/buddyinfo"); the boot parameter
 * panic_show= names more. They are printed through a small buffer and never allocate.
 */
struct panic_show {
	const char *path;
	struct panic_show *next;
};
void panic_show_register(struct panic_show *show);

#endif
