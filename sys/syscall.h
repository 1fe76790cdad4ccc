/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscall.h - how a system call is written: SYSCALL(name) { ... } defines sys_name() with six
 * register arguments a0..a5 and a result (>= 0 or negative errno). The number comes from
 * sys/syscall_list.h; a listed call without a definition answers -ENOSYS.
 */
#ifndef SYS_SYSCALL_H
#define SYS_SYSCALL_H

#include "arch/uaccess.h"
#include "sys/syscall_list.h"

#define SYSCALL(name) long sys_##name(u64 a0, u64 a1, u64 a2, u64 a3, u64 a4, u64 a5)
#define X(nr, name) SYSCALL(name);
SYSCALL_LIST(X)
#undef X

typedef long (*syscall_fn)(u64, u64, u64, u64, u64, u64);
#define NR_SYSCALLS 463
extern const syscall_fn syscall_table[NR_SYSCALLS];

/*
 * Path argument: a kernel copy (kfree-like path_arg_put) or ERR_PTR(-EFAULT, -ENAMETOOLONG, -ENOENT
 * for "").
 */
char *path_arg(u64 user);
char *path_arg_empty(u64 user); /* "" is allowed */
void path_arg_put(char *path);
/*
 * timespec of a call. => 0, -EFAULT, -EINVAL (nanoseconds out of range, negative seconds);
 * saturates at KTIME_MAX
 */
int timespec_arg(u64 user, u64 *ns);
int timespec_put(u64 user, u64 ns);
#endif
