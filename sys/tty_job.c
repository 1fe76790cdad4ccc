// SPDX-License-Identifier: BSD-2-Clause
/*
 * tty_job.c - whose terminal is it: controlling terminals, foreground groups, hang-up.
 *
 * A terminal controls at most one session; the session's processes point to it (proc->tty), the
 * terminal knows session and foreground group by number. All of that is under proc_tree_lock. A
 * background process that reads gets SIGTTIN, one that writes (with TOSTOP) or changes settings
 * SIGTTOU.
 */
#include "arch/uaccess.h"
#include "sys/process.h"
#include "sys/syscall.h"
#include "sys/tty.h"

#define TIOCSCTTY 0x540e
#define TIOCGPGRP 0x540f
#define TIOCSPGRP 0x5410
#define TIOCNOTTY 0x5422
#define TIOCGSID 0x5429

static bool ignored_or_blocked(int sig)
{
	struct task *t = current_task();

	return (t->blocked & sigmask(sig)) || t->proc->actions->action[sig - 1].handler == SIG_IGN;
}

int tty_check_background(struct tty *tty, int sig)
{
	struct process *p = current_proc;
	pid_t pgrp = READ_ONCE(tty->pgrp);
	bool orphaned;

	if (!p || p->tty != tty || !pgrp || pgrp == p->pgid)
		return 0;
	if (ignored_or_blocked(sig))
		return sig == SIGTTIN ? -EIO : 0;
	spin_lock(&proc_tree_lock);
	orphaned = pgrp_orphaned_locked(p->pgid, NULL);
	if (!orphaned)
		signal_send_pgrp_locked(p->pgid, sig, NULL);
	spin_unlock(&proc_tree_lock);
	return orphaned ? -EIO : -ERESTARTSYS;
}

void tty_signal_foreground(struct tty *tty, int sig)
{
	pid_t pgrp = READ_ONCE(tty->pgrp);

	if (pgrp > 0)
		signal_send_pgrp(pgrp, sig, NULL);
}

/* => proc_tree_lock. The current process is the leader of a session without terminal. */
static void set_control_locked(struct tty *tty)
{
	struct process *p = current_proc;

	tty->session = p->sid;
	tty->pgrp = p->pgid;
	tty_get(tty);
	p->tty = tty;
}

void tty_take_control(struct tty *tty)
{
	struct process *p = current_proc;

	if (!p || !(p->flags & PF_SESSION_LEADER) || p->tty)
		return;
	spin_lock(&proc_tree_lock);
	if (!p->tty && !tty->session)
		set_control_locked(tty);
	spin_unlock(&proc_tree_lock);
}

/* => proc_tree_lock; every process of the session lets go of tty. Returns references to drop. */
static int forget_locked(struct tty *tty, pid_t session)
{
	struct process *p;
	int n = 0;

	list_for_each_entry(p, &proc_list, all_node)
		if (p->sid == session && p->tty == tty) {
			p->tty = NULL;
			n++;
		}
	tty->session = 0;
	tty->pgrp = 0;
	return n;
}

static void drop_refs(struct tty *tty, int n)
{
	while (n--)
		tty_put(tty);
}

static void mark_dead(struct tty *tty)
{
	mutex_lock(&tty->lock);
	tty->hangups++;
	tty->stopped = false;
	ldisc_flush_input(tty);
	mutex_unlock(&tty->lock);
	wake_up_all(&tty->read_wait);
	wake_up_all(&tty->write_wait);
}

void tty_session_end(struct process *leader)
{
	struct tty *tty;
	pid_t pgrp = 0;
	int n = 0;

	spin_lock(&proc_tree_lock);
	tty = leader->tty;
	if (tty) {
		tty_get(tty);
		pgrp = tty->pgrp;
		n = forget_locked(tty, leader->sid);
	}
	spin_unlock(&proc_tree_lock);
	if (!tty)
		return;
	if (pgrp > 0) {
		signal_send_pgrp(pgrp, SIGHUP, NULL);
		signal_send_pgrp(pgrp, SIGCONT, NULL);
	}
	mark_dead(tty);
	drop_refs(tty, n + 1);
}

/* The line went away, or vhangup(2): the session leader hears of it and all open files die. */
void tty_hangup(struct tty *tty)
{
	struct process *p;
	int n;

	tty_get(tty);
	spin_lock(&proc_tree_lock);
	list_for_each_entry(p, &proc_list, all_node)
		if (p->tty == tty && (p->flags & PF_SESSION_LEADER)) {
			signal_send_process(p, SIGHUP, NULL);
			signal_send_process(p, SIGCONT, NULL);
		}
	if (tty->pgrp > 0) {
		signal_send_pgrp_locked(tty->pgrp, SIGHUP, NULL);
		signal_send_pgrp_locked(tty->pgrp, SIGCONT, NULL);
	}
	n = forget_locked(tty, tty->session);
	spin_unlock(&proc_tree_lock);
	mark_dead(tty);
	drop_refs(tty, n + 1);
}

SYSCALL(vhangup)
{
	struct tty *tty = NULL;

	if (current_proc->cred.euid)
		return -EPERM;
	spin_lock(&proc_tree_lock);
	tty = current_proc->tty;
	if (tty)
		tty_get(tty);
	spin_unlock(&proc_tree_lock);
	if (tty) {
		tty_hangup(tty);
		tty_put(tty);
	}
	return 0;
}

/* ---- ioctls ---- */

static long set_control(struct tty *tty, unsigned long steal)
{
	struct process *p = current_proc;
	int n = 0;
	long ret = 0;

	spin_lock(&proc_tree_lock);
	if ((p->flags & PF_SESSION_LEADER) && p->tty == tty && tty->session == p->sid) {
		ret = 0;
	} else if (!(p->flags & PF_SESSION_LEADER) || p->tty) {
		ret = -EPERM;
	} else {
		if (tty->session && tty->session != p->sid) {
			if (steal == 1 && !p->cred.euid)
				n = forget_locked(tty, tty->session);
			else
				ret = -EPERM;
		}
		if (!ret)
			set_control_locked(tty);
	}
	spin_unlock(&proc_tree_lock);
	drop_refs(tty, n);
	return ret;
}

static long give_up_control(struct tty *tty)
{
	struct process *p = current_proc;

	if (p->tty != tty)
		return -ENOTTY;
	if (p->flags & PF_SESSION_LEADER) {
		tty_session_end(p);
		return 0;
	}
	spin_lock(&proc_tree_lock);
	p->tty = NULL;
	spin_unlock(&proc_tree_lock);
	tty_put(tty);
	return 0;
}

static long get_number(struct tty *tty, bool session, unsigned long arg)
{
	if (current_proc->tty != tty && !tty->is_master)
		return -ENOTTY;
	if (session && !tty->session)
		return -ENOTTY;
	return put_user_u32(session ? tty->session : tty->pgrp, (u32 __user *)arg);
}

static long set_foreground(struct tty *tty, unsigned long arg)
{
	struct process *p = current_proc;
	u32 pgrp;
	long ret = tty_check_background(tty, SIGTTOU);

	if (ret == -EIO)
		return -ENOTTY;
	if (ret)
		return ret;
	if (p->tty != tty || tty->session != p->sid)
		return -ENOTTY;
	if (get_user_u32(&pgrp, (u32 __user *)arg))
		return -EFAULT;
	if ((pid_t)pgrp < 0)
		return -EINVAL;
	spin_lock(&proc_tree_lock);
	if (!pgrp_exists_locked(pgrp, 0))
		ret = -ESRCH;
	else if (!pgrp_exists_locked(pgrp, p->sid))
		ret = -EPERM;
	else
		tty->pgrp = pgrp;
	spin_unlock(&proc_tree_lock);
	return ret;
}

long tty_job_ioctl(struct tty *tty, unsigned int cmd, unsigned long arg)
{
	struct tty *end = tty->is_master ? tty->link : tty;

	switch (cmd) {
	case TIOCSCTTY:
		return set_control(end, arg);
	case TIOCNOTTY:
		return give_up_control(end);
	case TIOCGPGRP:
		return tty->is_master ? put_user_u32(end->pgrp, (u32 __user *)arg)
				      : get_number(tty, false, arg);
	case TIOCSPGRP:
		return set_foreground(end, arg);
	case TIOCGSID:
		return get_number(end, true, arg);
	default:
		return -ENOIOCTL;
	}
}
