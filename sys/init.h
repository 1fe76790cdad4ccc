/* SPDX-License-Identifier: BSD-2-Clause */
/* init.h - what the boot order calls in sys/. */
#ifndef SYS_INIT_H
#define SYS_INIT_H

void cpus_init(void); /* what starting processors need; before smp_start_others() */
void sys_init(void);  /* caches, system call and trap hooks; IRQs off, boot CPU */
void sys_start(void); /* thread context: terminals, character devices, initramfs into / */
void init_run(void);  /* makes PID 1 and starts it; the caller then ends */

#endif
