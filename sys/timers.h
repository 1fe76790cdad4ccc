/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timers.h - timers that belong to processes: interval timers and POSIX timers; clocks by number.
 */
#ifndef SYS_TIMERS_H
#define SYS_TIMERS_H

#include "sys/process.h"

void timers_new_process(struct process *p); /* zeroed process: timers ready */
void timers_exit(struct process *p);	    /* the last thread ends */
void timers_exec(struct process *p);	    /* POSIX timers go, interval timers stay */
void timers_rlimit_cpu(struct process *p);  /* RLIMIT_CPU was set */
/* => proc->lock: overrun count into info */
void posix_timer_dequeued(void *owner, struct ksiginfo *info);

/* time_calls.c. clock_now: 0 or -EINVAL (no such clock) */
int clock_now(int clock, u64 *ns);
bool clock_is_cpu(int clock);
/*
 * Absolute time of a clock as ktime; clocks that stand still while we sleep give a guess that must
 * be checked again.
 */
ktime_t clock_to_ktime(int clock, u64 ns);
#endif
