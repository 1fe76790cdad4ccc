// SPDX-License-Identifier: BSD-2-Clause
/*
 * futex_robust.c - locks of a thread that died: its robust list, kept in its own memory, names
 * them.
 *
 * The list is hostile: every pointer is read with a checked access, its length is bounded, and a
 * word is touched only when it says that we are its owner.
 */
#include "arch/uaccess.h"
#include "sys/futex_internal.h"
#include "sys/process.h"
#include "sys/syscall.h"

#define ROBUST_LIMIT 2048

struct robust_head {
	u64 next;
	s64 offset; /* from a list entry to its futex word */
	u64 pending;
};

/* One word: if we own it, mark it and wake somebody. */
static void word_died(u64 addr, bool pi, bool pending)
{
	u32 value, found;

	if ((addr & 3) || addr >= USER_TOP || get_user_u32(&value, (u32 __user *)addr))
		return;
	if (pending && !pi && !value) {
		futex_wake_user(addr, 1); /* died between unlock and wake */
		return;
	}
	while ((value & FUTEX_TID_MASK) == (u32)current->tid) {
		if (cmpxchg_user_u32((u32 __user *)addr, value,
				     (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED, &found))
			return;
		if (found == value) {
			if (value & FUTEX_WAITERS)
				pi ? futex_wake_pi(addr) : futex_wake_user(addr, 1);
			return;
		}
		value = found;
	}
}

void futex_exit_robust(struct task *task)
{
	struct robust_head head;
	u64 entry, next, list = task->robust_list;
	int limit = ROBUST_LIMIT;

	if (!list)
		return;
	task->robust_list = 0;
	if (copy_struct_from_user(&head, (void __user *)list))
		return;
	for (entry = head.next; (entry & ~1ull) != list && limit--; entry = next) {
		if (get_user_u64(&next, (u64 __user *)(entry & ~1ull)))
			break;
		if (entry != head.pending)
			word_died((entry & ~1ull) + head.offset, entry & 1, false);
		cond_resched();
	}
	if (head.pending & ~1ull)
		word_died((head.pending & ~1ull) + head.offset, head.pending & 1, true);
}

SYSCALL(set_robust_list)
{
	if (a1 != sizeof(struct robust_head))
		return -EINVAL;
	current_task()->robust_list = a0;
	return 0;
}

SYSCALL(get_robust_list)
{
	pid_t tid = a0;
	struct task *t = task_get(tid ? tid : current->tid);
	u64 list;

	if (!t)
		return -ESRCH;
	list = t->robust_list;
	if (t->proc != current_proc && current_proc->cred.euid) {
		thread_put(&t->thread);
		return -EPERM;
	}
	thread_put(&t->thread);
	if (put_user_u64(sizeof(struct robust_head), (u64 __user *)a2))
		return -EFAULT;
	return put_user_u64(list, (u64 __user *)a1);
}
