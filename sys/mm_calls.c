// SPDX-License-Identifier: BSD-2-Clause
/*
 * mm_calls.c - system calls about address spaces; the work is mm/vm's, here are only the arguments.
 */
#include "arch/uaccess.h"
#include "lib/err.h"
#include "mm/vm/aspace.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/syscall.h"

#define MAP_SHARED 1
#define MAP_ANONYMOUS 0x20
#define MAP_TYPE 0x0f
#define MLOCK_ONFAULT 1
#define MPOL_MF_MOVE 2
#define MPOL_MF_MOVE_ALL 4

SYSCALL(mmap)
{
	int prot = a2, flags = a3;
	struct mapping *mapping;
	struct fd f;
	long ret;

	if (offset_in_page(a5))
		return -EINVAL;
	if (flags & MAP_ANONYMOUS)
		return vm_mmap(NULL, NULL, a0, a1, prot, flags, 0);
	f = fd_get(a4);
	if (!f.file)
		return -EBADF;
	ret = -ENODEV;
	if (f.file->flags & O_PATH) {
		ret = -EBADF;
	} else if (f.file->ops && f.file->ops->mmap) {
		unsigned long vm = (prot & 7) | ((flags & MAP_TYPE) == MAP_SHARED ? VM_SHARED : 0);

		mapping = f.file->ops->mmap(f.file, vm);
		ret = PTR_ERR(mapping);
		if (!IS_ERR(mapping)) {
			/* no mapping: the device asks for plain memory (/dev/zero) */
			ret = mapping ? vm_mmap(f.file, mapping, a0, a1, prot, flags, a5)
				      : vm_mmap(NULL, NULL, a0, a1, prot, flags | MAP_ANONYMOUS, 0);
		}
	}
	fd_put(f);
	return ret;
}

SYSCALL(munmap)
{
	return vm_munmap(a0, a1);
}

SYSCALL(mprotect)
{
	return vm_mprotect(a0, a1, a2);
}

SYSCALL(mremap)
{
	return vm_mremap(a0, a1, a2, a3, a4);
}

SYSCALL(brk)
{
	return vm_brk(a0);
}

SYSCALL(madvise)
{
	return vm_madvise(current->mm, a0, a1, a2);
}

SYSCALL(mincore)
{
	return vm_mincore(a0, a1, (unsigned char __user *)a2);
}

SYSCALL(msync)
{
	return vm_msync(a0, a1, a2);
}

SYSCALL(mlock)
{
	return vm_mlock(a0, a1, 0);
}

SYSCALL(mlock2)
{
	if (a2 & ~(u64)MLOCK_ONFAULT)
		return -EINVAL;
	return vm_mlock(a0, a1, a2);
}

SYSCALL(munlock)
{
	return vm_munlock(a0, a1);
}

SYSCALL(mlockall)
{
	return vm_mlockall(a0);
}

SYSCALL(munlockall)
{
	return vm_munlockall();
}

/* CAP_SYS_NICE; CAP_SYS_PTRACE, too */
static bool privileged(void)
{
	return !current_proc->cred.euid;
}

SYSCALL(mbind)
{
	return vm_mbind(a0, a1, a2, (const unsigned long __user *)a3, a4, a5, privileged());
}

SYSCALL(set_mempolicy)
{
	return vm_set_mempolicy(a0, (const unsigned long __user *)a1, a2);
}

SYSCALL(get_mempolicy)
{
	return vm_get_mempolicy((int __user *)a0, (unsigned long __user *)a1, a2, a3, a4);
}

/* May the caller look at, and move, the memory of p? As for ptrace, by real ids. */
static bool may_move(const struct process *p)
{
	const struct cred *me = &current_proc->cred, *c = &p->cred;

	if (p == current_proc || privileged())
		return true;
	return me->uid == c->uid && me->uid == c->euid && me->uid == c->suid && me->gid == c->gid &&
	       me->gid == c->egid && me->gid == c->sgid && p->dumpable;
}

/* The process of any thread, with a reference; 0: the caller's. NULL: there is none. */
static struct process *proc_of_thread(pid_t tid)
{
	struct process *p = proc_get(tid ? tid : current->tgid);
	struct task *t;

	if (p)
		return p;
	t = task_get(tid);
	if (!t)
		return NULL;
	p = proc_get(t->thread.tgid);
	thread_put(&t->thread);
	return p;
}

SYSCALL(move_pages)
{
	int flags = a5;
	struct process *p;
	struct aspace *mm;
	long ret;

	if (flags & ~(MPOL_MF_MOVE | MPOL_MF_MOVE_ALL))
		return -EINVAL;
	if ((flags & MPOL_MF_MOVE_ALL) && !privileged())
		return -EPERM;
	p = proc_of_thread(a0);
	if (!p)
		return -ESRCH;
	mm = may_move(p) ? proc_get_mm(p) : ERR_PTR(-EPERM);
	proc_put(p);
	if (IS_ERR_OR_NULL(mm))
		return mm ? PTR_ERR(mm) : -EINVAL;
	ret = vm_move_pages(mm, a1, (const u64 __user *)a2, (const int __user *)a3,
			    (int __user *)a4, flags);
	aspace_put(mm);
	return ret;
}

SYSCALL(migrate_pages)
{
	const unsigned long __user *from_mask = (const unsigned long __user *)a2;
	const unsigned long __user *to_mask = (const unsigned long __user *)a3;
	struct process *p;
	struct aspace *mm;
	u64 from, to;
	long ret = mpol_get_nodes(&from, from_mask, a1);

	if (!ret)
		ret = mpol_get_nodes(&to, to_mask, a1);
	if (ret)
		return ret;
	p = proc_of_thread(a0);
	if (!p)
		return -ESRCH;
	if (!may_move(p) || ((to & ~memory_nodes()) && !privileged()))
		mm = ERR_PTR(-EPERM);
	else
		mm = to & memory_nodes() ? proc_get_mm(p) : NULL;
	proc_put(p);
	if (IS_ERR_OR_NULL(mm))
		return mm ? PTR_ERR(mm) : -EINVAL;
	ret = vm_migrate_pages(mm, from, to & memory_nodes(), privileged());
	aspace_put(mm);
	return ret;
}
