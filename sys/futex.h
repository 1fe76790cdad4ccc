/* SPDX-License-Identifier: BSD-2-Clause */
/* futex.h - what exit needs of futexes. */
#ifndef SYS_FUTEX_H
#define SYS_FUTEX_H

#include "lib/types.h"

struct task;
void futex_wake_user(u64 addr, u32 nr);	   /* shared key; errors are ignored */
void futex_exit_robust(struct task *task); /* the current thread: robust list, PI locks it holds */
void futex_init(void);

#endif
