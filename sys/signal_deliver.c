// SPDX-License-Identifier: BSD-2-Clause
/*
 * signal_deliver.c - receiving: what a thread does with its signals on the way back to user mode.
 *
 * Order of questions: is the whole process to die? is it to stop? is the parent to be told that we
 * go on? then one signal
 * after the other: ignored, default action, or a handler frame. One frame per visit; the entry
 * stubs call again while USER_WORK_SIGNAL is set.
 *
 * Interrupted system calls: they return one of four internal codes. With a handler to run,
 * ERESTARTSYS restarts only under SA_RESTART, ERESTARTNOINTR always, the others become -EINTR.
 * Without a handler (stopped and continued, ignored) all
 * restart: the instruction pointer goes back over the 2-byte syscall; ERESTART_RESTARTBLOCK through
 * restart_syscall(2), because its time-out has to shrink.
 *
 * Group stop: the thread that takes the stop signal marks the others and counts them in
 * stop_wanted; the last one to lie down tells the parent.
 */
#include "arch/trap.h"
#include "kernel/printk.h"
#include "lib/string.h"
#include "sys/process.h"
#include "sys/signal.h"
#include "sys/syscall.h"

#define SYSCALL_INSN_BYTES 2
#define NR_restart_syscall 219

static void tell_parent_job(struct process *p, int code, int status)
{
	struct process *parent;
	struct ksiginfo info = {
		.signo = SIGCHLD, .code = code, .pid = p->pid, .uid = p->cred.uid, .status = status
	};
	bool wanted;

	spin_lock(&proc_tree_lock);
	parent = p->parent;
	if (parent) {
		const struct ksigaction *act;

		proc_lock(parent);
		act = &parent->actions->action[SIGCHLD - 1];
		wanted = act->handler != SIG_IGN && !(act->flags & SA_NOCLDSTOP);
		proc_unlock(parent);
		if (wanted)
			signal_send_process(parent, SIGCHLD, &info);
		wake_up_all(&parent->child_wait);
	}
	spin_unlock(&proc_tree_lock);
}

/* One thread less to stop. => p->lock; true: all are down, tell the parent */
static bool stop_counted(struct process *p)
{
	if (!p->stop_wanted || --p->stop_wanted)
		return false;
	p->flags = (p->flags & ~PF_CONTINUED) | PF_STOPPED | PF_STOP_REPORT;
	atomic_inc(&nr_stopped_processes);
	return true;
}

/* => p->lock held, returns without it, after SIGCONT or on the way to death */
static void stop_here(struct task *t, struct process *p)
{
	int sig = p->stop_signal;
	bool last;

	t->stop_pending = false;
	t->stopped = true;
	last = stop_counted(p);
	proc_unlock(p);
	if (last)
		tell_parent_job(p, CLD_STOPPED, sig);
	for (;;) {
		thread_set_special_state(THREAD_STOPPED);
		if (!READ_ONCE(t->stopped) || (READ_ONCE(t->pending.set) & sigmask(SIGKILL)))
			break;
		schedule();
	}
	thread_set_state(THREAD_RUNNING);
}

/* => p->lock */
static void begin_stop(struct task *me, struct process *p, int sig)
{
	struct task *t;

	p->stop_signal = sig;
	p->stop_wanted = 0;
	list_for_each_entry(t, &p->threads, thread_node) {
		if (t->exiting || t->stopped)
			continue;
		p->stop_wanted++;
		t->stop_pending = true;
		if (t != me)
			signal_wake(t, false);
	}
}

void signal_exit_task(struct task *me)
{
	struct process *p = me->proc;
	struct task *t;
	bool last = false;
	int sig;

	proc_lock(p);
	me->exiting = true;
	sig = p->stop_signal;
	if (me->stop_pending) {
		me->stop_pending = false;
		last = stop_counted(p);
	}
	if (p->nr_threads > 1) /* what was sent to the process and only we could take */
		list_for_each_entry(t, &p->threads, thread_node)
			if (!t->exiting && (p->pending.set & ~t->blocked))
				signal_wake(t, false);
	proc_unlock(p);
	if (last)
		tell_parent_job(p, CLD_STOPPED, sig);
}

static bool group_is_orphaned(struct process *p)
{
	bool ret;

	spin_lock(&proc_tree_lock);
	ret = pgrp_orphaned_locked(p->pgid, NULL);
	spin_unlock(&proc_tree_lock);
	return ret;
}

/* Things that come before any signal. => p->lock; true: the lock was dropped, look again */
static bool before_signals(struct task *t, struct process *p)
{
	if ((t->pending.set & sigmask(SIGKILL)) || (p->flags & PF_GROUP_EXIT)) {
		int code = p->flags & PF_GROUP_EXIT ? p->exit_code : SIGKILL;

		if (p->exec_task && p->exec_task != t && !(p->flags & PF_GROUP_EXIT)) {
			proc_unlock(p);
			do_exit(0); /* another thread execs */
		}
		proc_unlock(p);
		do_group_exit(code);
	}
	if (t->stop_pending) {
		stop_here(t, p);
		return true;
	}
	if (p->tell_continued) {
		p->tell_continued = false;
		proc_unlock(p);
		tell_parent_job(p, CLD_CONTINUED, SIGCONT);
		return true;
	}
	return false;
}

/* Default action of sig. => p->lock held; true: the lock was dropped */
static bool default_action(struct task *t, struct process *p, int sig)
{
	sigset_t mask = sigmask(sig);

	if (SIG_IGNORED_SET & mask)
		return false;
	if (p->flags & PF_UNKILLABLE)
		return false;
	if (!(SIG_STOP_SET & mask)) {
		proc_unlock(p);
		do_group_exit(sig);
	}
	if (sig != SIGSTOP) {
		bool orphaned;

		proc_unlock(p);
		orphaned = group_is_orphaned(p);
		proc_lock(p);
		if (orphaned || (p->pending.set & sigmask(SIGCONT)) || (p->flags & PF_GROUP_EXIT))
			return false;
	}
	begin_stop(t, p, sig);
	stop_here(t, p);
	return true;
}

/* SA_RESETHAND: one shot. => no lock */
static void reset_action(struct process *p, int sig)
{
	if (sigactions_lock_own(p))
		return;
	p->actions->action[sig - 1].handler = SIG_DFL;
	p->actions->caught &= ~sigmask(sig);
	proc_unlock(p);
}

/* => the signal to run a handler for (act, info filled), or 0 */
static int get_signal(struct task *t, struct ksigaction *act, struct ksiginfo *info)
{
	struct process *p = t->proc;
	int sig;

	for (;;) {
		proc_lock(p);
again:
		if (before_signals(t, p))
			continue;
		sig = signal_dequeue(t, t->blocked, info);
		if (!sig)
			break;
		*act = p->actions->action[sig - 1];
		if (act->handler == SIG_IGN)
			goto again;
		if (act->handler != SIG_DFL)
			break;
		if (!default_action(t, p, sig))
			goto again;
	}
	signal_recalc(t);
	proc_unlock(p);
	if (sig && (act->flags & SA_RESETHAND))
		reset_action(p, sig);
	return sig;
}

/* Decides what an interrupted system call returns; act NULL: no handler runs. */
static void finish_syscall(struct pt_regs *regs, const struct ksigaction *act)
{
	if ((s64)regs->orig_rax < 0)
		return;
	switch ((s64)regs->rax) {
	case -ERESTART_RESTARTBLOCK:
		if (act) {
			regs->rax = -EINTR;
		} else {
			regs->rax = NR_restart_syscall;
			regs->rip -= SYSCALL_INSN_BYTES;
		}
		break;
	case -ERESTARTNOHAND:
		if (act) {
			regs->rax = -EINTR;
			break;
		}
		goto restart;
	case -ERESTARTSYS:
		if (act && !(act->flags & SA_RESTART)) {
			regs->rax = -EINTR;
			break;
		}
		fallthrough;
	case -ERESTARTNOINTR:
restart:
		regs->rax = regs->orig_rax;
		regs->rip -= SYSCALL_INSN_BYTES;
		break;
	default:
		return;
	}
	regs->orig_rax = -1; /* decided once */
}

static void run_handler(struct pt_regs *regs, struct task *t, int sig, const struct ksigaction *act,
			const struct ksiginfo *info)
{
	sigset_t old = t->restore_mask ? t->saved_mask : t->blocked;
	sigset_t mask = t->blocked | act->mask;

	finish_syscall(regs, act);
	if (signal_setup_frame(regs, act, info, old)) {
		if (sig == SIGSEGV)
			do_group_exit(SIGSEGV);
		signal_force(SIGSEGV, SI_KERNEL, 0);
		return;
	}
	t->restore_mask = false;
	if (!(act->flags & SA_NODEFER))
		mask |= sigmask(sig);
	signal_set_blocked(mask);
}

static void deliver(struct pt_regs *regs, struct task *t)
{
	struct ksigaction act;
	struct ksiginfo info;
	int sig = get_signal(t, &act, &info);

	if (sig) {
		run_handler(regs, t, sig, &act, &info);
		return;
	}
	finish_syscall(regs, NULL);
	if (t->restore_mask) {
		t->restore_mask = false;
		signal_set_blocked(t->saved_mask);
	}
}

void signal_return_to_user(struct pt_regs *regs)
{
	struct task *t = current_task();
	u32 work = READ_ONCE(t->thread.arch.user_work);

	if (work & USER_WORK_RESCHED) {
		__atomic_fetch_and(&t->thread.arch.user_work, ~USER_WORK_RESCHED, __ATOMIC_SEQ_CST);
		if (need_resched())
			schedule();
	}
	if (unlikely(t->first_run)) {
		void (*fn)(struct task *, struct pt_regs *) = t->first_run;

		t->first_run = NULL;
		fn(t, regs);
	}
	if (READ_ONCE(t->thread.arch.user_work) & USER_WORK_SIGNAL)
		deliver(regs, t);
}

/* ---- exceptions of user mode ---- */

static void log_fault(struct pt_regs *regs, int sig, u64 addr, u64 error)
{
	static u64 next_ns; /* at most ten lines a second; races only let one more through */
	u64 now = ktime_get();

	if ((current_proc->actions->caught & sigmask(sig)) || now < next_ns)
		return;
	next_ns = now + NSEC_PER_SEC / 10;
	pr_info("%s[%d]: signal %d at ip %llx sp %llx, address %llx error %llx", current->comm,
		current->tid, sig, (unsigned long long)regs->rip, (unsigned long long)regs->rsp,
		(unsigned long long)addr, (unsigned long long)error);
}

static void user_exception(struct pt_regs *regs, int sig, int code, unsigned long addr, int trapno,
			   u64 error)
{
	struct task *t = current_task();

	if (!current->proc)
		panic("user exception %d in a kernel thread", trapno);
	t->trap_nr = trapno;
	t->trap_error = error;
	if (trapno == 14)
		t->trap_addr = addr;
	log_fault(regs, sig, addr, error);
	signal_force(sig, code, addr);
}

const struct trap_ops sys_trap_ops = {
	.user_exception = user_exception,
	.user_return = signal_return_to_user,
};
