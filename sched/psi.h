/* SPDX-License-Identifier: BSD-2-Clause */
/* psi.h - pressure: how much time threads lose for want of a CPU, of memory, of a disk. */
#ifndef SCHED_PSI_H
#define SCHED_PSI_H

#include "lib/types.h"

/*
 * From here on the current thread works or waits only because memory is short. Nests: hand the
 * value over to psi_memstall_leave(). => thread context, no spinlock needed; IRQs on
 */
bool psi_memstall_enter(void);
void psi_memstall_leave(bool before);

enum psi_resource { PSI_CPU, PSI_MEMORY, PSI_IO, NR_PSI_RESOURCES };
/* ns so far in which some thread, or every one that had work, was stalled. => may sleep */
void psi_totals(enum psi_resource r, u64 *some_ns, u64 *full_ns);

#endif
