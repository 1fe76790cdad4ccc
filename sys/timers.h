/* SPDX-License-Identifier: BSD-2-Clause */
/* timers.h - timers that belong to processes: interval timers and POSIX timers. */
#ifndef SYS_TIMERS_H
#define SYS_TIMERS_H

#include "sys/process.h"

void timers_exit(struct process *p);       /* the last thread ends; or exec (POSIX timers only: timers_exec) */
void timers_exec(struct process *p);
void timers_tick(void);                    /* the current thread at its return to user mode: CPU-time timers, limits */
void posix_timer_dequeued(void *owner, struct ksiginfo *info); /* => proc->lock: overrun count into info */
u64 cpu_clock_of_thread(struct thread *t);
void timers_init(void);
extern bool cpu_timers_armed;              /* any process has a CPU-time timer: the tick looks closer */

#endif
