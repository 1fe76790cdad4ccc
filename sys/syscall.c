// SPDX-License-Identifier: BSD-2-Clause
/*
 * syscall.c - from a number to a function, and the few helpers every call uses for its arguments.
 *
 * The table is built from sys/syscall_list.h; a listed call nobody defined has a NULL slot (weak
 * reference), as has every
 * number not listed: -ENOSYS, and one log line per number, so that one sees what a new program
 * would like to have.
 */
#include "sys/syscall.h"
#include "arch/trap.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/time.h"
#include "lib/bitmap.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sys/process.h"
#include "sys/syscall_trace.h"

#define X(nr, name) extern __typeof__(sys_##name) sys_##name __attribute__((weak));
SYSCALL_LIST(X)
#undef X

const syscall_fn syscall_table[NR_SYSCALLS] = {
#define X(nr, name) [nr] = sys_##name,
	SYSCALL_LIST(X)
#undef X
};

static bool strace_enabled;
BOOT_PARAM_BOOL("strace", strace_enabled, "log every system call with arguments and result");
static unsigned long reported[DIV_ROUND_UP(NR_SYSCALLS, 64)];

static noinline long unknown_call(u64 nr)
{
	if (nr >= NR_SYSCALLS) {
		static u64 next_ns;
		u64 now = ktime_get();

		if (now >= next_ns) {
			next_ns = now + NSEC_PER_SEC;
			pr_info("syscall: no call %llu (asked by %s, pid %d)",
				(unsigned long long)nr, current->comm, current->tgid);
		}
	} else if (!test_and_set_bit(nr, reported)) {
		pr_info("syscall: no call %llu (%s), first asked by %s, pid %d",
			(unsigned long long)nr, syscall_name(nr), current->comm, current->tgid);
	}
	return -ENOSYS;
}

static noinline void dispatch_traced(struct pt_regs *regs, syscall_fn fn)
{
	u64 nr = regs->orig_rax,
	    args[6] = { regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8, regs->r9 };

	syscall_trace_enter(nr, args);
	regs->rax =
		fn ? fn(args[0], args[1], args[2], args[3], args[4], args[5]) : unknown_call(nr);
	syscall_trace_exit(nr, args, regs->rax);
}

void syscall_dispatch(struct pt_regs *regs)
{
	u64 nr = regs->orig_rax;
	syscall_fn fn = likely(nr < NR_SYSCALLS) ? syscall_table[nr] : NULL;

	if (unlikely(strace_enabled))
		dispatch_traced(regs, fn);
	else if (likely(fn != NULL))
		regs->rax = fn(regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8, regs->r9);
	else
		regs->rax = unknown_call(nr);
}

/* ---- arguments ---- */

char *path_arg_empty(u64 user)
{
	char *path = kmalloc(PATH_MAX, GFP_KERNEL);
	ssize_t n;

	if (!path)
		return ERR_PTR(-ENOMEM);
	n = strncpy_from_user(path, (const char __user *)user, PATH_MAX);
	if (n >= 0 && n < PATH_MAX)
		return path;
	kfree(path);
	return ERR_PTR(n < 0 ? n : -ENAMETOOLONG);
}

char *path_arg(u64 user)
{
	char *path = path_arg_empty(user);

	if (!IS_ERR(path) && !*path) {
		kfree(path);
		return ERR_PTR(-ENOENT);
	}
	return path;
}

void path_arg_put(char *path)
{
	kfree(path);
}

int timespec_arg(u64 user, u64 *ns)
{
	struct timespec64 ts;

	if (copy_struct_from_user(&ts, (void __user *)user))
		return -EFAULT;
	if (ts.tv_sec < 0 || (u64)ts.tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	if ((u64)ts.tv_sec >= (u64)KTIME_MAX / NSEC_PER_SEC)
		*ns = KTIME_MAX;
	else
		*ns = ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
	return 0;
}

int timespec_put(u64 user, u64 ns)
{
	struct timespec64 ts = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };

	return copy_struct_to_user((void __user *)user, &ts);
}
