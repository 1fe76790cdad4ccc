/* SPDX-License-Identifier: BSD-2-Clause */
/* klogd.h - the thread that drains the kernel log to the console. */
#ifndef SYS_KLOGD_H
#define SYS_KLOGD_H

void klogd_start(void); /* => thread context, once; without memory the log stays synchronous */

#endif
