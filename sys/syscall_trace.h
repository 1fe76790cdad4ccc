/* SPDX-License-Identifier: BSD-2-Clause */
/* syscall_trace.h - strace=1: calls in the kernel log. */
#ifndef SYS_SYSCALL_TRACE_H
#define SYS_SYSCALL_TRACE_H

#include "lib/types.h"

const char *syscall_name(u64 nr); /* "read", or "?" */
void syscall_trace_enter(u64 nr, const u64 *args);
void syscall_trace_exit(u64 nr, const u64 *args, long result);

#endif
