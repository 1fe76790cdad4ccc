// SPDX-License-Identifier: BSD-2-Clause
/*
 * fork.c - new processes and threads.
 *
 * Theory: fork, vfork and thread creation are one act with different answers to "share or copy?"
 * for five parts: address space, files, fs context, signal actions, process. Everything is built
 * before anybody can see it; the only step under proc_tree_lock is the last one, which also looks
 * for signals: a signal to a group is then either seen by the parent before the child exists (the
 * call restarts after the handler) or finds the child in the table.
 *
 * Signal actions are never copied here: the table is shared and copied by whoever changes it first
 * (signal.c). A child of vfork borrows the address space; its parent sleeps until the child has let
 * go of it (exec or exit).
 */
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/syscall.h"
#include "sys/tty.h"

static struct slab_cache *fs_cache;

struct fs_context *fs_copy(struct fs_context *old)
{
	struct fs_context *fs;

	if (!fs_cache)
		fs_cache = slab_create("fs_context", sizeof(struct fs_context), 0, 0, NULL);
	fs = fs_cache ? slab_alloc(fs_cache, GFP_KERNEL) : NULL;
	if (!fs)
		return NULL;
	rwsem_init(&fs->lock, RANK_FS_CONTEXT, "fs_context");
	atomic_set(&fs->refs, 1);
	fs_context_get(old, &fs->root, &fs->cwd);
	fs->umask = old->umask;
	return fs;
}

void fs_put(struct fs_context *fs)
{
	if (!fs || !atomic_dec_and_test(&fs->refs))
		return;
	path_put(&fs->root);
	path_put(&fs->cwd);
	slab_free(fs_cache, fs);
}

static int check_flags(const struct clone_args *args)
{
	u64 f = args->flags;

	if (f & CLONE_NEW_ANY)
		return -EINVAL;
	if ((f & CLONE_THREAD) && !(f & CLONE_SIGHAND))
		return -EINVAL;
	if ((f & CLONE_SIGHAND) && !(f & CLONE_VM))
		return -EINVAL;
	if (args->exit_signal < 0 || args->exit_signal > NSIG)
		return -EINVAL;
	if ((f & CLONE_PARENT) && current_proc == init_process)
		return -EINVAL;
	return 0;
}

/* ---- the five parts ---- */

static int copy_parts(struct task *task, u64 flags)
{
	struct task *me = current_task();

	if (flags & CLONE_FILES) {
		atomic_inc(&me->files->refs);
		task->files = me->files;
	} else {
		task->files = files_copy(me->files);
	}
	if (!task->files)
		return -ENOMEM;
	if (flags & CLONE_FS) {
		atomic_inc(&me->fs->refs);
		task->fs = me->fs;
	} else {
		task->fs = fs_copy(me->fs);
	}
	if (!task->fs)
		return -ENOMEM;
	if (flags & CLONE_VM) {
		aspace_get(current->mm);
		task->thread.mm = current->mm;
	} else {
		struct aspace *mm = aspace_fork(current->mm);

		if (IS_ERR(mm))
			return PTR_ERR(mm);
		if (!mm)
			return -ENOMEM;
		task->thread.mm = mm;
	}
	return 0;
}

static struct process *copy_process(const struct clone_args *args)
{
	struct process *me = current_proc, *p = process_alloc();

	if (!p)
		return NULL;
	p->exit_signal = args->flags & CLONE_PARENT ? me->exit_signal : args->exit_signal;
	p->cred = me->cred;
	memcpy(p->rlim, me->rlim, sizeof(p->rlim));
	p->actions = sigactions_share(me);
	p->oom_score_adj = me->oom_score_adj;
	p->personality = me->personality;
	p->dumpable = me->dumpable;
	p->no_new_privs = me->no_new_privs;
	p->start_ns = ktime_get();
	return p;
}

/* ---- the thread ---- */

/*
 * First thing the child does before it reaches user mode, when its own memory has to be told its
 * number.
 */
static void child_settid(struct task *task, struct pt_regs *regs)
{
	if (put_user_u32(current->tid, (u32 __user *)task->set_child_tid))
		return; /* as Linux: a bad pointer is the program's affair */
}

static void init_thread(struct task *task, const struct clone_args *args)
{
	struct task *me = current_task();
	struct arch_thread *at = &task->thread.arch;
	struct pt_regs regs = *arch_user_regs(&current->arch);

	thread_init(&task->thread, current, current->comm, task->thread.stack);
	arch_fpu_save(&current->arch);
	memcpy(at->fpu, current->arch.fpu, sizeof(at->fpu));
	at->fs_base = args->flags & CLONE_SETTLS ? args->tls : current->arch.fs_base;
	at->gs_base = current->arch.gs_base;
	regs.rax = 0;
	if (args->stack)
		regs.rsp = args->stack;
	arch_thread_init_user(at, (char *)task->thread.stack + KSTACK_BYTES, &regs);
	at->user = true;
	task->thread.mempolicy = current->mempolicy ? mempolicy_get(current->mempolicy) : NULL;
	task->thread.memcg = current->memcg;
	task->blocked = me->blocked;
	task->timer_slack_ns = me->timer_slack_ns;
	task->ioprio = me->ioprio;
	if (!(args->flags & CLONE_VM) || (args->flags & CLONE_VFORK)) {
		task->sas_sp = me->sas_sp;
		task->sas_size = me->sas_size;
		task->sas_flags = me->sas_flags;
	} else {
		task->sas_flags = 2; /* SS_DISABLE */
	}
	if (args->flags & CLONE_CHILD_CLEARTID)
		task->clear_child_tid = args->child_tid;
	if (args->flags & CLONE_CHILD_SETTID) {
		task->set_child_tid = args->child_tid;
		task->first_run = child_settid;
		at->user_work = USER_WORK_SIGNAL;
	}
}

static void drop_parts(struct task *task)
{
	if (task->thread.mm)
		aspace_put(task->thread.mm);
	fs_put(task->fs);
	files_put(task->files);
	if (task->thread.mempolicy)
		mempolicy_put(task->thread.mempolicy);
}

/* => proc_tree_lock */
static void join_family_locked(struct process *p, struct process *parent)
{
	p->parent = parent;
	if (!parent)
		return;
	p->pgid = parent->pgid;
	p->sid = parent->sid;
	p->tty = parent->tty;
	if (p->tty)
		tty_get(p->tty);
	list_add_tail(&p->sibling, &parent->children);
}

int task_launch(struct task *task, struct process *p, bool sibling)
{
	bool new_process = list_empty(&p->threads), dying;

	spin_lock(&proc_tree_lock);
	if (current_proc && (READ_ONCE(current->arch.user_work) & USER_WORK_SIGNAL)) {
		spin_unlock(&proc_tree_lock);
		return -ERESTARTNOINTR;
	}
	if (new_process) {
		join_family_locked(p, sibling ? current_proc->parent : current_proc);
		p->leader = task;
		process_publish_locked(p);
	}
	proc_lock(p);
	/*
	 * Whoever ends all threads, or all others, marks those in the list: nobody may join it
	 * after that.
	 */
	dying = (p->flags & PF_GROUP_EXIT) || p->exec_task;
	if (!dying) {
		list_add_tail(&task->thread_node, &p->threads);
		p->nr_threads++;
	}
	proc_unlock(p);
	if (!dying)
		task_publish_locked(task);
	spin_unlock(&proc_tree_lock);
	return dying ? -ERESTARTNOINTR : 0;
}

/*
 * Parent side of vfork: until the child has exec'd or ended. A fatal signal ends the wait; the
 * child is then on its own.
 */
static void wait_for_vfork(struct task *child, struct completion *done)
{
	struct process *p = child->proc;

	if (!wait_for_completion_killable(done))
		return;
	proc_lock(p);
	child->vfork_done = NULL;
	proc_unlock(p);
}

static long launch_and_wait(struct task *task, struct process *p, const struct clone_args *args)
{
	struct completion done;
	pid_t tid = task->thread.tid;
	int err;

	if (args->flags & CLONE_VFORK) {
		completion_init(&done);
		task->vfork_done = &done;
		thread_get(&task->thread);
	}
	err = task_launch(task, p, args->flags & CLONE_PARENT);
	if (err) {
		if (args->flags & CLONE_VFORK)
			atomic_dec(&task->thread.refs);
		return err;
	}
	if ((args->flags & CLONE_PARENT_SETTID) &&
	    put_user_u32(tid, (u32 __user *)args->parent_tid))
		barrier(); /* a bad pointer is the program's affair */
	thread_start(&task->thread);
	if (args->flags & CLONE_VFORK) {
		wait_for_vfork(task, &done);
		thread_put(&task->thread);
	}
	return tid;
}

long do_clone(const struct clone_args *args)
{
	struct process *p;
	struct task *task;
	long ret = check_flags(args);

	if (ret)
		return ret;
	if ((long)proc_nr_threads_total() >= READ_ONCE(threads_max))
		return -EAGAIN;
	task = task_alloc(-1);
	if (!task)
		return -ENOMEM;
	init_thread(task, args);
	ret = -ENOMEM;
	if (args->flags & CLONE_THREAD) {
		p = current_proc;
		atomic_inc(&p->refs);
	} else {
		p = copy_process(args);
		if (!p)
			goto no_process;
	}
	ret = copy_parts(task, args->flags);
	if (ret)
		goto no_parts;
	ret = tid_alloc();
	if (ret < 0)
		goto no_parts;
	task->thread.tid = ret;
	task->proc = task->thread.proc = p;
	if (!(args->flags & CLONE_THREAD)) {
		atomic_inc(&p->refs); /* the thread's; the table's is the first one */
		p->pid = ret;
	}
	task->thread.tgid = p->pid;
	ret = launch_and_wait(task, p, args);
	if (ret >= 0)
		return ret;
	tid_free(task->thread.tid);
	if (!(args->flags & CLONE_THREAD))
		atomic_dec(&p->refs);
no_parts:
	if (!(args->flags & CLONE_THREAD))
		sigactions_put(p->actions);
	proc_put(p);
no_process:
	drop_parts(task);
	task_discard(task);
	return ret;
}

SYSCALL(fork)
{
	return do_clone(&(struct clone_args){ .exit_signal = SIGCHLD });
}

SYSCALL(vfork)
{
	return do_clone(
		&(struct clone_args){ .flags = CLONE_VFORK | CLONE_VM, .exit_signal = SIGCHLD });
}

SYSCALL(clone)
{
	struct clone_args args = {
		.flags = a0 & 0xffffff00,
		.exit_signal = a0 & 0xff,
		.stack = a1,
		.parent_tid = a2,
		.child_tid = a3,
		.tls = a4,
	};

	if ((args.flags & CLONE_SETTLS) && args.tls >= USER_TOP)
		return -EPERM;
	return do_clone(&args);
}

struct user_clone_args {
	u64 flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
		set_tid_size, cgroup;
};

SYSCALL(clone3)
{
	struct user_clone_args u = { 0 };
	struct clone_args args;
	size_t n = a1;

	if (n < 64)
		return -EINVAL;
	if (n > PAGE_SIZE)
		return -E2BIG;
	if (copy_from_user(&u, (void __user *)a0, min(n, sizeof(u))))
		return -EFAULT;
	/* what a newer program knows and we do not must be zero */
	for (size_t i = sizeof(u); i < n; i += 8) {
		u64 word = 0;

		if (copy_from_user(&word, (char __user *)a0 + i, min_t(size_t, 8, n - i)))
			return -EFAULT;
		if (word)
			return -E2BIG;
	}
	if ((u.flags & ~0x1ffffff00ull) || (u.flags & 0xff) || (u.flags & 0x1000 /* PIDFD */) ||
	    u.set_tid_size || (u.flags >> 32) || u.exit_signal > NSIG ||
	    (!u.stack != !u.stack_size) || u.stack + u.stack_size > USER_TOP)
		return -EINVAL;
	args = (struct clone_args){ .flags = u.flags,
				    .exit_signal = u.exit_signal,
				    .stack = u.stack ? u.stack + u.stack_size : 0,
				    .tls = u.tls,
				    .parent_tid = u.parent_tid,
				    .child_tid = u.child_tid };
	if ((args.flags & (CLONE_THREAD | CLONE_PARENT)) && args.exit_signal)
		return -EINVAL;
	if ((args.flags & CLONE_SETTLS) && args.tls >= USER_TOP)
		return -EPERM;
	return do_clone(&args);
}
