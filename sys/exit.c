// SPDX-License-Identifier: BSD-2-Clause
/*
 * exit.c - the end of threads and processes.
 *
 * Theory: a thread gives its parts back one by one (user-visible promises first: vfork's parent,
 * robust futexes, the CLEARTID word; then memory, files, fs), then leaves its process. The last one
 * to leave turns the process into a zombie: children go to a new parent, the old parent gets its
 * signal, and what is left (struct process with status and totals) waits to be reaped; or is reaped
 * at once when the parent ignores SIGCHLD.
 *
 * Invariants: a zombie has no threads and no memory; its pid is in the table until
 * process_reap_locked(). Other CPUs copy mm, files and fs only under proc->lock while the thread
 * still shows them, so they are hidden under it before the put.
 */
#include "kernel/printk.h"
#include "lib/string.h"
#include "sys/files.h"
#include "sys/futex.h"
#include "sys/process.h"
#include "sys/syscall.h"
#include "sys/timers.h"
#include "sys/tty.h"

atomic_t nr_stopped_processes;

void task_mm_release(struct task *task)
{
	struct process *p = task->proc;
	struct completion *done;

	futex_exit_robust(task);
	if (task->clear_child_tid) {
		/* Only others who share the memory can wait for it. */
		if (atomic_read(&current->mm->users) > 1 &&
		    !put_user_u32(0, (u32 __user *)task->clear_child_tid))
			futex_wake_user(task->clear_child_tid, 1);
		task->clear_child_tid = 0;
	}
	if (!task->vfork_done)
		return;
	proc_lock(p);
	done = task->vfork_done;
	task->vfork_done = NULL;
	if (done)
		complete(
			/*
			 * under the lock: a killed parent's stack frame stays until we are through
			 */
			done);
	proc_unlock(p);
}

static void note_maxrss(struct process *p)
{
	unsigned long rss = current->mm ? mm_maxrss(current->mm) : 0;

	if (rss > p->dead_threads.maxrss)
		p->dead_threads.maxrss = rss;
}

static void give_parts_back(struct task *task)
{
	struct process *p = task->proc;
	struct aspace *mm = current->mm;
	struct files *files;
	struct fs_context *fs;

	if (mm) {
		task_mm_release(task);
		note_maxrss(p);
		sched_use_mm(NULL);
	}
	proc_lock(p);
	files = task->files;
	fs = task->fs;
	task->files = NULL;
	task->fs = NULL;
	proc_unlock(p);
	if (mm)
		aspace_put(mm);
	files_put(files);
	fs_put(fs);
	if (current->mempolicy) {
		struct mempolicy *pol = current->mempolicy;

		rcu_assign_pointer(current->mempolicy, NULL);
		mempolicy_put(pol);
	}
}

/* ---- telling the parent ---- */

static u64 ticks(u64 ns)
{
	return ns / (NSEC_PER_SEC / 100);
}

/* => proc_tree_lock. true: the parent does not want to know, reap at once. */
static bool notify_parent_locked(struct process *p)
{
	struct process *parent = p->parent;
	int sig = p->exit_signal, code = p->exit_code;
	struct ksiginfo info = {
		.signo = sig,
		.pid = p->pid,
		.uid = p->cred.uid,
		.code = code & 0x7f ? (code & 0x80 ? CLD_DUMPED : CLD_KILLED) : CLD_EXITED,
		.status = code & 0x7f ? code & 0x7f : code >> 8 & 0xff,
		.utime = ticks(p->dead_threads.utime_ns),
		.stime = ticks(p->dead_threads.stime_ns),
	};
	bool reap = false;

	if (!parent)
		return true;
	if (sig == SIGCHLD) {
		const struct ksigaction *act;

		proc_lock(parent);
		act = &parent->actions->action[SIGCHLD - 1];
		reap = act->handler == SIG_IGN || (act->flags & SA_NOCLDWAIT);
		if (act->handler == SIG_IGN)
			sig = 0;
		proc_unlock(parent);
	}
	if (sig)
		signal_send_process(parent, sig, &info);
	if (wait_queue_active(&parent->child_wait))
		wake_up_all(&parent->child_wait);
	return reap;
}

/* => proc_tree_lock; p is a zombie. */
void process_reap_locked(struct process *p)
{
	list_del_init(&p->sibling);
	atomic_inc(&p->refs); /* process_reaped() drops it */
	process_unpublish_locked(p);
}

void process_reaped(struct process *p)
{
	sigactions_put(p->actions);
	proc_put(p);
}

/* ---- the family ---- */

static struct process *find_reaper_locked(struct process *p)
{
	for (struct process *up = p->parent; up; up = up->parent)
		if ((up->flags & PF_SUBREAPER) && up->nr_threads)
			return up;
	return init_process;
}

static bool group_has_stopped_locked(pid_t pgid)
{
	struct process *p;

	list_for_each_entry(p, &proc_list, all_node)
		if (p->pgid == pgid && (p->flags & PF_STOPPED))
			return true;
	return false;
}

/* A stopped job that lost its last shell: hang up and continue it, or it would stay for ever. */
static void check_orphaned_locked(struct process *p, struct process *parent,
				  const struct process *without)
{
	if (!parent || parent->pgid == p->pgid || parent->sid != p->sid)
		return; /* it was not the one that kept the group from being orphaned */
	if (pgrp_orphaned_locked(p->pgid, without) && group_has_stopped_locked(p->pgid)) {
		signal_send_pgrp_locked(p->pgid, SIGHUP, NULL);
		signal_send_pgrp_locked(p->pgid, SIGCONT, NULL);
	}
}

static void send_pdeath_locked(struct process *child)
{
	struct task *leader = child->leader;

	if (leader && leader->pdeath_signal)
		signal_send_process(child, leader->pdeath_signal, NULL);
}

/* Dead children nobody wants go on the list reaped. */
static void reparent_children_locked(struct process *p, struct list_head *reaped)
{
	struct process *child, *n, *reaper;

	if (list_empty(&p->children))
		return;
	reaper = find_reaper_locked(p);
	list_for_each_entry_safe(child, n, &p->children, sibling) {
		send_pdeath_locked(child);
		child->parent = reaper;
		list_move_tail(&child->sibling, &reaper->children);
		child->exit_signal = SIGCHLD;
		if (atomic_read(&nr_stopped_processes))
			check_orphaned_locked(child, p, NULL);
		if ((child->flags & PF_ZOMBIE) && notify_parent_locked(child)) {
			process_reap_locked(child);
			list_add(&child->sibling, reaped);
		}
	}
}

static void reap_list(struct list_head *reaped)
{
	struct process *p, *n;

	list_for_each_entry_safe(p, n, reaped, sibling) {
		list_del_init(&p->sibling);
		process_reaped(p);
	}
}

/* The last thread of p is here. */
static void process_exit(struct process *p)
{
	LIST_HEAD(reaped);
	struct tty *tty;
	bool reap;

	timers_exit(p);
	if (p->flags & PF_SESSION_LEADER)
		tty_session_end(p);
	spin_lock(&proc_tree_lock);
	tty = p->tty;
	p->tty = NULL;
	reparent_children_locked(p, &reaped);
	proc_lock(p);
	p->flags |= PF_ZOMBIE;
	if (p->flags & PF_STOPPED) {
		p->flags &= ~PF_STOPPED;
		atomic_dec(&nr_stopped_processes);
	}
	signal_flush(&p->pending);
	proc_unlock(p);
	if (atomic_read(&nr_stopped_processes))
		check_orphaned_locked(p, p->parent, p);
	reap = notify_parent_locked(p);
	if (reap)
		process_reap_locked(p);
	spin_unlock(&proc_tree_lock);
	if (reap)
		process_reaped(p);
	reap_list(&reaped);
	if (tty)
		tty_put(tty);
}

/* Leaves the thread list. => true: it was the last thread */
static bool leave_process(struct task *task, int code)
{
	struct process *p = task->proc;
	bool last;

	proc_lock(p);
	if (task == p->leader) {
		memcpy(p->comm, current->comm, sizeof(p->comm));
		p->leader = NULL;
		if (!(p->flags & PF_GROUP_EXIT))
			p->exit_code = code;
	}
	signal_flush(&task->pending);
	list_del_init(&task->thread_node);
	last = --p->nr_threads == 0;
	task_times_add(task, &p->dead_threads);
	if (p->exec_task && p->nr_threads == 1)
		thread_wake(&p->exec_task->thread, THREAD_ASLEEP);
	proc_unlock(p);
	return last;
}

__noreturn void do_exit(int code)
{
	struct task *task = current_task();
	struct process *p = task->proc;
	bool last;

	if (p == init_process && p->nr_threads == 1)
		panic("PID 1 (%s) ended with %s %d", current->comm,
		      code & 0x7f ? "signal" : "status",
		      code & 0x7f ? code & 0x7f : code >> 8 & 0xff);
	current->flags |= TF_EXITING;
	signal_exit_task(task);
	give_parts_back(task);
	last = leave_process(task, code);
	spin_lock(&proc_tree_lock);
	task_unpublish_locked(task);
	spin_unlock(&proc_tree_lock);
	if (current->tid != p->pid)
		tid_free(current->tid);
	if (last)
		process_exit(p);
	thread_exit();
}

__noreturn void do_group_exit(int code)
{
	struct process *p = current_proc;
	struct task *t;

	proc_lock(p);
	if (p->flags & PF_GROUP_EXIT) {
		code = p->exit_code;
	} else {
		p->flags |= PF_GROUP_EXIT;
		p->exit_code = code;
		list_for_each_entry(t, &p->threads, thread_node)
			if (t != current_task()) {
				t->pending.set |= sigmask(SIGKILL);
				signal_wake(t, true);
			}
	}
	proc_unlock(p);
	do_exit(code);
}

SYSCALL(exit)
{
	do_exit((a0 & 0xff) << 8);
}

SYSCALL(exit_group)
{
	do_group_exit((a0 & 0xff) << 8);
}
