// SPDX-License-Identifier: BSD-2-Clause
/* signal_calls.c - the system calls about signals: actions, masks, sending, waiting. */
#include "lib/string.h"
#include "sys/process.h"
#include "sys/signal.h"
#include "sys/syscall.h"

void signal_set_blocked(sigset_t mask)
{
	struct task *t = current_task();

	mask &= ~SIG_UNBLOCKABLE;
	if (t->blocked == mask)
		return;
	proc_lock(t->proc);
	t->blocked = mask;
	signal_recalc(t);
	proc_unlock(t->proc);
}

void signal_set_temporary_mask(sigset_t mask)
{
	struct task *t = current_task();

	t->saved_mask = t->blocked;
	t->restore_mask = true;
	signal_set_blocked(mask);
}

void signal_end_temporary_mask(bool interrupted)
{
	struct task *t = current_task();

	if (interrupted || !t->restore_mask)
		return; /* the delivery code puts it back */
	t->restore_mask = false;
	signal_set_blocked(t->saved_mask);
}

int signal_mask_arg(u64 user, u64 size, sigset_t *mask)
{
	if (size != sizeof(sigset_t))
		return -EINVAL;
	return get_user_u64(mask, (u64 __user *)user);
}

SYSCALL(rt_sigaction)
{
	struct process *p = current_proc;
	struct ksigaction new, old;
	int sig = a0;
	sigset_t mask;

	if (a3 != sizeof(sigset_t) || sig < 1 || sig > NSIG)
		return -EINVAL;
	if (!a1) {
		old = p->actions->action[sig - 1];
		return a2 ? copy_struct_to_user((void __user *)a2, &old) : 0;
	}
	if (copy_struct_from_user(&new, (void __user *)a1))
		return -EFAULT;
	mask = sigmask(sig);
	if (mask & SIG_UNBLOCKABLE)
		return -EINVAL;
	new.mask &= ~SIG_UNBLOCKABLE;
	if (sigactions_lock_own(p))
		return -ENOMEM;
	old = p->actions->action[sig - 1];
	p->actions->action[sig - 1] = new;
	p->actions->ignored &= ~mask;
	p->actions->caught &= ~mask;
	if (new.handler == SIG_IGN)
		p->actions->ignored |= mask;
	else if (new.handler != SIG_DFL)
		p->actions->caught |= mask;
	if (new.handler == SIG_IGN || (new.handler == SIG_DFL && (mask & SIG_IGNORED_SET)))
		signal_remove_everywhere(p, mask);
	proc_unlock(p);
	return a2 ? copy_struct_to_user((void __user *)a2, &old) : 0;
}

SYSCALL(rt_sigprocmask)
{
	sigset_t old = current_task()->blocked, set;

	if (a3 != sizeof(sigset_t))
		return -EINVAL;
	if (a1) {
		if (get_user_u64(&set, (u64 __user *)a1))
			return -EFAULT;
		switch ((int)a0) {
		case 0: /* SIG_BLOCK */
			set |= old;
			break;
		case 1: /* SIG_UNBLOCK */
			set = old & ~set;
			break;
		case 2: /* SIG_SETMASK */
			break;
		default:
			return -EINVAL;
		}
		signal_set_blocked(set);
	}
	return a2 ? put_user_u64(old, (u64 __user *)a2) : 0;
}

SYSCALL(rt_sigpending)
{
	struct task *t = current_task();
	sigset_t set = (t->pending.set | t->proc->pending.set) & t->blocked;

	if (a1 > sizeof(set))
		return -EINVAL;
	return copy_to_user((void __user *)a0, &set, a1) ? -EFAULT : 0;
}

static long sleep_for_signal(void)
{
	while (!signal_pending()) {
		thread_set_state(THREAD_INTERRUPTIBLE);
		if (signal_pending())
			break;
		schedule();
	}
	thread_set_state(THREAD_RUNNING);
	return -ERESTARTNOHAND;
}

SYSCALL(rt_sigsuspend)
{
	sigset_t mask;
	int err = signal_mask_arg(a0, a1, &mask);

	if (err)
		return err;
	signal_set_temporary_mask(mask);
	return sleep_for_signal();
}

SYSCALL(pause)
{
	return sleep_for_signal();
}

/* ---- waiting for signals one blocks ---- */

static int try_dequeue(struct task *t, sigset_t set, struct ksiginfo *info)
{
	int sig;

	proc_lock(t->proc);
	sig = signal_dequeue(t, ~set, info);
	if (!sig)
		t->wait_set = set;
	proc_unlock(t->proc);
	return sig;
}

static void stop_waiting(struct task *t)
{
	proc_lock(t->proc);
	t->wait_set = 0;
	signal_recalc(t);
	proc_unlock(t->proc);
}

static int wait_for_signal(struct task *t, sigset_t set, ktime_t deadline, struct ksiginfo *info)
{
	bool timed_out = false;
	int sig;

	for (;;) {
		thread_set_state(THREAD_INTERRUPTIBLE);
		sig = try_dequeue(t, set, info);
		if (sig || timed_out)
			break;
		if (signal_pending()) {
			/*
			 * Something: one of ours is taken by the next dequeue, else a signal with
			 * its own effect.
			 */
			sig = try_dequeue(t, set, info);
			if (!sig)
				sig = -EINTR;
			break;
		}
		timed_out = schedule_until(deadline) <= 0;
	}
	thread_set_state(THREAD_RUNNING);
	stop_waiting(t);
	return sig ? sig : -EAGAIN;
}

SYSCALL(rt_sigtimedwait)
{
	struct task *t = current_task();
	ktime_t deadline = KTIME_MAX;
	struct ksiginfo info;
	sigset_t set;
	u64 ns;
	int sig = signal_mask_arg(a0, a3, &set);

	if (sig)
		return sig;
	set &= ~SIG_UNBLOCKABLE;
	if (a2) {
		sig = timespec_arg(a2, &ns);
		if (sig)
			return sig;
		deadline = ns >= KTIME_MAX - ktime_get() ? KTIME_MAX : ktime_get() + ns;
	}
	sig = try_dequeue(t, set, &info);
	if (sig)
		stop_waiting(t);
	else
		sig = wait_for_signal(t, set, deadline, &info);
	if (sig > 0 && a1) {
		u8 raw[128];

		signal_copy_info(raw, &info);
		if (copy_to_user((void __user *)a1, raw, sizeof(raw)))
			return -EFAULT;
	}
	return sig;
}

/* ---- sending ---- */

static bool may_signal(const struct process *p, int sig)
{
	const struct cred *c = &current_proc->cred;

	if (!c->euid || c->euid == p->cred.suid || c->euid == p->cred.uid ||
	    c->uid == p->cred.suid || c->uid == p->cred.uid)
		return true;
	return sig == SIGCONT && p->sid == current_proc->sid;
}

static int kill_one(struct process *p, int sig, const struct ksiginfo *info)
{
	if (!may_signal(p, sig))
		return -EPERM;
	return sig ? signal_send_process(p, sig, info) : 0;
}

/* pgid 0: everybody but PID 1 and the caller */
static int kill_many(pid_t pgid, int sig, const struct ksiginfo *info)
{
	struct process *p;
	int found = 0, done = 0, err = 0;

	spin_lock(&proc_tree_lock);
	list_for_each_entry(p, &proc_list, all_node) {
		if (pgid ? p->pgid != pgid : p == init_process || p == current_proc)
			continue;
		if (pgid == 0 && p->pid <= 1)
			continue;
		found++;
		err = kill_one(p, sig, info);
		done += !err;
	}
	spin_unlock(&proc_tree_lock);
	if (!found)
		return -ESRCH;
	return done ? 0 : err;
}

static struct ksiginfo from_me(int sig, int code)
{
	return (struct ksiginfo){
		.signo = sig, .code = code, .pid = current->tgid, .uid = current_proc->cred.uid
	};
}

SYSCALL(kill)
{
	pid_t pid = a0;
	int sig = a1, ret;
	struct ksiginfo info = from_me(sig, SI_USER);
	struct process *p;

	if (sig < 0 || sig > NSIG)
		return -EINVAL;
	if (pid == (pid_t)0x80000000)
		return -ESRCH;
	if (pid == -1)
		return kill_many(0, sig, &info);
	if (pid <= 0)
		return kill_many(pid ? -pid : current_proc->pgid, sig, &info);
	p = proc_get(pid);
	if (!p)
		return -ESRCH;
	ret = kill_one(p, sig, &info);
	proc_put(p);
	return ret;
}

static int tgkill(pid_t tgid, pid_t tid, int sig, const struct ksiginfo *info)
{
	struct task *t;
	int ret = -ESRCH;

	if (tid <= 0 || sig < 0 || sig > NSIG)
		return -EINVAL;
	t = task_get(tid);
	if (!t)
		return -ESRCH;
	if (tgid <= 0 || t->proc->pid == tgid) {
		if (!may_signal(t->proc, sig))
			ret = -EPERM;
		else
			ret = sig ? signal_send_task(t, sig, info) : 0;
	}
	thread_put(&t->thread);
	return ret;
}

SYSCALL(tgkill)
{
	struct ksiginfo info = from_me(a2, SI_TKILL);

	return (pid_t)a0 <= 0 ? -EINVAL : tgkill(a0, a1, a2, &info);
}

SYSCALL(tkill)
{
	struct ksiginfo info = from_me(a1, SI_TKILL);

	return tgkill(0, a0, a1, &info);
}

/* siginfo from a program: it may not pretend to be the kernel or kill(2) towards others. */
static int info_arg(u64 user, int sig, pid_t target, struct ksiginfo *info)
{
	u8 raw[48];
	s32 *w = (s32 *)raw;

	if (copy_from_user(raw, (void __user *)user, sizeof(raw)))
		return -EFAULT;
	*info = (struct ksiginfo){
		.signo = sig, .error = w[1], .code = w[2], .pid = w[4], .uid = w[5]
	};
	memcpy(&info->value, raw + 24, 8);
	if ((info->code >= 0 || info->code == SI_TKILL) && target != current->tgid)
		return -EPERM;
	return 0;
}

SYSCALL(rt_sigqueueinfo)
{
	struct ksiginfo info;
	struct process *p;
	int sig = a1, ret;

	if (sig < 0 || sig > NSIG)
		return -EINVAL;
	ret = info_arg(a2, sig, a0, &info);
	if (ret)
		return ret;
	p = proc_get(a0);
	if (!p)
		return -ESRCH;
	ret = kill_one(p, sig, &info);
	proc_put(p);
	return ret;
}

SYSCALL(rt_tgsigqueueinfo)
{
	struct ksiginfo info;
	int ret;

	if ((pid_t)a0 <= 0 || (pid_t)a1 <= 0)
		return -EINVAL;
	ret = info_arg(a3, a2, a0, &info);
	return ret ? ret : tgkill(a0, a1, a2, &info);
}

SYSCALL(restart_syscall)
{
	struct restart_block *rb = &current_task()->restart;

	return rb->fn ? rb->fn(rb) : -EINTR;
}
