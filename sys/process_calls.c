// SPDX-License-Identifier: BSD-2-Clause
/*
 * process_calls.c - who am I, who is my group, what are my limits: the calls that only read or set
 * numbers.
 */
#include "kernel/time.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sched/autogroup.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/syscall.h"
#include "sys/timers.h"
#include "sys/tty.h"

SYSCALL(getpid)
{
	return current->tgid;
}

SYSCALL(gettid)
{
	return current->tid;
}

SYSCALL(getppid)
{
	struct process *parent;
	pid_t pid;

	rcu_read_lock();
	parent = READ_ONCE(current_proc->parent);
	pid = parent ? parent->pid : 0;
	rcu_read_unlock();
	return pid;
}

SYSCALL(getpgrp)
{
	return current_proc->pgid;
}

static long number_of(pid_t pid, bool session)
{
	struct process *p;
	long ret = -ESRCH;

	if (!pid)
		return session ? current_proc->sid : current_proc->pgid;
	rcu_read_lock();
	p = proc_find(pid);
	if (p)
		ret = session ? p->sid : p->pgid;
	rcu_read_unlock();
	return ret;
}

SYSCALL(getpgid)
{
	return number_of(a0, false);
}

SYSCALL(getsid)
{
	return number_of(a0, true);
}

/* => proc_tree_lock */
static int setpgid_locked(pid_t pid, pid_t pgid)
{
	struct process *me = current_proc, *p = proc_find(pid);

	if (!p)
		return -ESRCH;
	if (p != me) {
		if (p->parent != me)
			return -ESRCH;
		if (p->sid != me->sid)
			return -EPERM;
		if (p->flags & PF_EXECED)
			return -EACCES;
	}
	if (p->flags & PF_SESSION_LEADER)
		return -EPERM;
	if (pgid != pid && !pgrp_exists_locked(pgid, me->sid))
		return -EPERM;
	if (p->pgid == pgid)
		return 0;
	p->pgid = pgid;
	if (pgid == pid)
		p->flags |= PF_LEADER;
	pgrp_left_locked();
	return 0;
}

SYSCALL(setpgid)
{
	pid_t pid = a0, pgid = a1;
	int ret;

	if (pgid < 0)
		return -EINVAL;
	if (!pid)
		pid = current->tgid;
	if (!pgid)
		pgid = pid;
	spin_lock(&proc_tree_lock);
	ret = setpgid_locked(pid, pgid);
	spin_unlock(&proc_tree_lock);
	return ret;
}

/* ---- a session's share of the CPU (sched/autogroup.h) ---- */

static void session_group_free(struct sched_group *g)
{
	kfree(g);
}

/* The caller's threads get a group of their own; without memory they stay in the old one. */
static void session_group_new(struct process *p)
{
	struct sched_group *g = kmalloc(sizeof(*g), GFP_KERNEL);
	struct task *task;

	if (!g)
		return;
	sched_group_init(g, session_group_free);
	proc_lock(p);
	list_for_each_entry(task, &p->threads, thread_node)
		sched_group_join(&task->thread, g);
	proc_unlock(p);
	sched_group_put(g);
}

SYSCALL(setsid)
{
	struct process *p = current_proc;
	struct tty *tty = NULL;
	long ret = -EPERM;

	spin_lock(&proc_tree_lock);
	if (!(p->flags & PF_SESSION_LEADER) && !pgrp_exists_locked(p->pid, 0)) {
		p->sid = p->pgid = p->pid;
		p->flags |= PF_LEADER | PF_SESSION_LEADER;
		tty = p->tty;
		p->tty = NULL;
		pgrp_left_locked();
		ret = p->pid;
	}
	spin_unlock(&proc_tree_lock);
	if (tty)
		tty_put(tty);
	if (ret >= 0)
		session_group_new(p);
	return ret;
}

/* ---- limits ---- */

static bool limit_is_ours(u32 which, struct process *p)
{
	return which < RLIM_NLIMITS && p != NULL;
}

static void limits_to_aspace(struct process *p)
{
	struct aspace *mm = proc_get_mm(p);

	if (!mm)
		return;
	mm->rlimit_as = p->rlim[RLIMIT_AS].cur;
	mm->rlimit_data = p->rlim[RLIMIT_DATA].cur;
	mm->rlimit_stack = p->rlim[RLIMIT_STACK].cur;
	mm->rlimit_memlock = p->cred.euid ? p->rlim[RLIMIT_MEMLOCK].cur : RLIM_INFINITY;
	aspace_put(mm);
}

static int limit_set(struct process *p, u32 which, const struct rlimit *new)
{
	struct rlimit *old = &p->rlim[which];
	int ret = 0;

	if (new->cur > new->max)
		return -EINVAL;
	if (which == RLIMIT_NOFILE && new->max > (u64)sysctl_nr_open)
		return -EPERM;
	spin_lock(&proc_tree_lock);
	if (new->max > old->max && current_proc->cred.euid != 0)
		ret = -EPERM;
	else
		*old = *new;
	spin_unlock(&proc_tree_lock);
	if (!ret && (which == RLIMIT_AS || which == RLIMIT_DATA || which == RLIMIT_STACK ||
		     which == RLIMIT_MEMLOCK))
		limits_to_aspace(p);
	if (!ret && which == RLIMIT_FSIZE && new->cur != RLIM_INFINITY)
		WRITE_ONCE(fsize_limits, true);
	if (!ret && which == RLIMIT_CPU && new->cur != RLIM_INFINITY)
		timers_rlimit_cpu(p);
	return ret;
}

SYSCALL(prlimit64)
{
	pid_t pid = a0;
	struct rlimit new, old;
	struct process *p;
	int ret = 0;

	if ((u32)a1 >= RLIM_NLIMITS)
		return -EINVAL;
	if (a2 && copy_struct_from_user(&new, (void __user *)a2))
		return -EFAULT;
	p = proc_get(pid ? pid : current->tgid);
	if (!limit_is_ours(a1, p))
		return -ESRCH;
	if (p != current_proc && current_proc->cred.euid && current_proc->cred.uid != p->cred.uid)
		ret = -EPERM;
	old = p->rlim[(u32)a1];
	if (!ret && a2)
		ret = limit_set(p, a1, &new);
	proc_put(p);
	if (!ret && a3)
		ret = copy_struct_to_user((void __user *)a3, &old);
	return ret;
}

SYSCALL(getrlimit)
{
	if ((u32)a0 >= RLIM_NLIMITS)
		return -EINVAL;
	return copy_struct_to_user((void __user *)a1, &current_proc->rlim[(u32)a0]);
}

SYSCALL(setrlimit)
{
	struct rlimit new;

	if ((u32)a0 >= RLIM_NLIMITS)
		return -EINVAL;
	if (copy_struct_from_user(&new, (void __user *)a1))
		return -EFAULT;
	return limit_set(current_proc, a0, &new);
}

/* ---- resource usage ---- */

struct user_rusage {
	s64 utime_sec, utime_usec, stime_sec, stime_usec;
	s64 maxrss, ixrss, idrss, isrss, minflt, majflt, nswap, inblock, oublock, msgsnd, msgrcv,
		nsignals, nvcsw, nivcsw;
};

int rusage_to_user(u64 user, const struct process_times *t)
{
	struct user_rusage r = {
		.utime_sec = t->utime_ns / NSEC_PER_SEC,
		.utime_usec = t->utime_ns % NSEC_PER_SEC / 1000,
		.stime_sec = t->stime_ns / NSEC_PER_SEC,
		.stime_usec = t->stime_ns % NSEC_PER_SEC / 1000,
		.maxrss = t->maxrss * (PAGE_SIZE / 1024),
		.minflt = t->min_flt,
		.majflt = t->maj_flt,
		.inblock = t->read_bytes / 512,
		.oublock = t->write_bytes / 512,
		.nvcsw = t->nvcsw,
		.nivcsw = t->nivcsw,
	};

	return copy_struct_to_user((void __user *)user, &r);
}

static unsigned long mm_rss(struct aspace *mm)
{
	return atomic_long_read(&mm->rss_anon) + atomic_long_read(&mm->rss_file) +
	       atomic_long_read(&mm->rss_shmem);
}

unsigned long mm_maxrss(struct aspace *mm)
{
	return max(mm->hiwater_rss, mm_rss(mm));
}

SYSCALL(getrusage)
{
	struct process *p = current_proc;
	struct process_times t = { 0 };

	switch ((int)a0) {
	case 0: /* RUSAGE_SELF */
		proc_times(p, &t);
		t.maxrss = max(t.maxrss, mm_maxrss(current->mm));
		break;
	case -1: /* RUSAGE_CHILDREN */
		spin_lock(&proc_tree_lock);
		t = p->dead_children;
		spin_unlock(&proc_tree_lock);
		break;
	case 1: /* RUSAGE_THREAD */
		task_times_add(current_task(), &t);
		t.maxrss = mm_maxrss(current->mm);
		break;
	default:
		return -EINVAL;
	}
	return rusage_to_user(a1, &t);
}

SYSCALL(times)
{
	struct process *p = current_proc;
	struct process_times t;
	const u64 tick = NSEC_PER_SEC / 100;
	s64 out[4];

	if (a0) {
		proc_times(p, &t);
		out[0] = t.utime_ns / tick;
		out[1] = t.stime_ns / tick;
		spin_lock(&proc_tree_lock);
		out[2] = p->dead_children.utime_ns / tick;
		out[3] = p->dead_children.stime_ns / tick;
		spin_unlock(&proc_tree_lock);
		if (copy_to_user((void __user *)a0, out, sizeof(out)))
			return -EFAULT;
	}
	return ktime_get() / tick;
}

SYSCALL(set_tid_address)
{
	current_task()->clear_child_tid = a0;
	return current->tid;
}

SYSCALL(personality)
{
	u32 old = current_proc->personality;

	if ((u32)a0 != 0xffffffff)
		current_proc->personality = a0;
	return old;
}

SYSCALL(unshare)
{
	struct task *task = current_task();

	if (a0 &
	    ~(CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD))
		return a0 & CLONE_NEW_ANY ? -EPERM : -EINVAL;
	if ((a0 & (CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)) && current_proc->nr_threads > 1)
		return -EINVAL;
	if ((a0 & CLONE_FS) && atomic_read(&task->fs->refs) > 1) {
		struct fs_context *fs = fs_copy(task->fs);

		if (!fs)
			return -ENOMEM;
		swap(fs, task->fs);
		fs_put(fs);
	}
	return a0 & CLONE_FILES ? files_unshare() : 0;
}
