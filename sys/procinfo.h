/* SPDX-License-Identifier: BSD-2-Clause */
/* procinfo.h - /proc/PID and the system files sys/ knows. */
#ifndef SYS_PROCINFO_H
#define SYS_PROCINFO_H

#include "kernel/show.h"
#include "sys/process.h"

void procinfo_init(void);	   /* sets proc_ops */
void oom_hooks_init(void);	   /* sets oom_ops */
long oom_score(struct process *p); /* thousandths of memory it claims */

#endif
