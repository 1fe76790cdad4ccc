// SPDX-License-Identifier: BSD-2-Clause
/*
 * wait.c - wait4 and waitid: what became of my children.
 *
 * One scan over the children under proc_tree_lock finds the first event that matches (dead,
 * stopped, continued). Nothing found but candidates exist: sleep on the process's child_wait, which
 * every such event wakes. The scan is done once before
 * the queue is joined: the common case (child already dead, or WNOHANG) never touches it.
 */
#include "sys/process.h"
#include "sys/syscall.h"
#include "lib/string.h"

#define WNOHANG 1u
#define WUNTRACED 2u
#define WEXITED 4u
#define WCONTINUED 8u
#define WNOWAIT 0x01000000u
#define WNOTHREAD 0x20000000u
#define WALL 0x40000000u
#define WCLONE 0x80000000u

enum { P_ALL, P_PID, P_PGID, P_PIDFD };

struct wait_request {
	int type;
	pid_t id;
	u32 options;
	/* the answer */
	pid_t pid;
	u32 uid;
	int code, status; /* CLD_* and its status; */
	int wait_status;  /* as wait4 gives it */
	struct process_times times;
};

static bool eligible(const struct wait_request *w, const struct process *p)
{
	if (w->type == P_PID && p->pid != w->id)
		return false;
	if (w->type == P_PGID && p->pgid != w->id)
		return false;
	return (w->options & WALL) || (p->exit_signal != SIGCHLD) == !!(w->options & WCLONE);
}

static void answer(struct wait_request *w, struct process *p, int code, int status, int wait_status)
{
	w->pid = p->pid;
	w->uid = p->cred.uid;
	w->code = code;
	w->status = status;
	w->wait_status = wait_status;
}

static void times_sum(struct process_times *to, const struct process_times *a)
{
	to->utime_ns += a->utime_ns;
	to->stime_ns += a->stime_ns;
	to->min_flt += a->min_flt;
	to->maj_flt += a->maj_flt;
	to->nvcsw += a->nvcsw;
	to->read_bytes += a->read_bytes;
	to->write_bytes += a->write_bytes;
	to->nivcsw += a->nivcsw;
	to->maxrss = max(to->maxrss, a->maxrss);
}

/* => proc_tree_lock; reaps unless WNOWAIT. */
static void take_zombie(struct wait_request *w, struct process *p, struct process **reaped)
{
	int code = p->exit_code;

	if (code & 0x7f)
		answer(w, p, code & 0x80 ? CLD_DUMPED : CLD_KILLED, code & 0x7f, code);
	else
		answer(w, p, CLD_EXITED, code >> 8 & 0xff, code);
	w->times = p->dead_threads;
	times_sum(&w->times, &p->dead_children);
	if (w->options & WNOWAIT)
		return;
	times_sum(&current_proc->dead_children, &w->times);
	process_reap_locked(p);
	*reaped = p;
}

/* => proc_tree_lock. Stopped or continued? */
static bool take_job_event(struct wait_request *w, struct process *p)
{
	u32 want = 0;

	if (w->options & WUNTRACED)
		want |= PF_STOP_REPORT;
	if (w->options & WCONTINUED)
		want |= PF_CONTINUED;
	if (!(p->flags & want))
		return false;
	proc_lock(p);
	want &= p->flags;
	if (want & PF_STOP_REPORT) {
		want = PF_STOP_REPORT;
		answer(w, p, CLD_STOPPED, p->stop_signal, p->stop_signal << 8 | 0x7f);
	} else if (want) {
		answer(w, p, CLD_CONTINUED, SIGCONT, 0xffff);
	}
	if (!(w->options & WNOWAIT))
		p->flags &= ~want;
	proc_unlock(p);
	if (want)
		proc_times(p, &w->times);
	return want;
}

/* => 1: w has the answer; 0: candidates but nothing to tell yet; -ECHILD */
static int scan(struct wait_request *w, struct process **reaped)
{
	struct process *p;
	int ret = -ECHILD;

	spin_lock(&proc_tree_lock);
	list_for_each_entry(p, &current_proc->children, sibling) {
		if (!eligible(w, p))
			continue;
		ret = 0;
		if (p->flags & PF_ZOMBIE) {
			if (!(w->options & WEXITED))
				continue;
			take_zombie(w, p, reaped);
			ret = 1;
			break;
		}
		if (take_job_event(w, p)) {
			ret = 1;
			break;
		}
	}
	spin_unlock(&proc_tree_lock);
	return ret;
}

static long do_wait(struct wait_request *w)
{
	struct wait_queue *q = &current_proc->child_wait;
	struct process *reaped = NULL;
	long ret = scan(w, &reaped);

	if (!ret && !(w->options & WNOHANG)) {
		WAIT_ENTRY(entry);

		for (;;) {
			wait_prepare(q, &entry, THREAD_INTERRUPTIBLE);
			ret = scan(w, &reaped);
			if (ret)
				break;
			if (signal_pending()) {
				ret = -ERESTARTSYS;
				break;
			}
			schedule();
		}
		wait_finish(q, &entry);
	}
	if (reaped)
		process_reaped(reaped);
	return ret;
}

SYSCALL(wait4)
{
	pid_t pid = a0;
	u32 options = a2;
	struct wait_request w = { .id = pid };
	long ret;

	if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | WNOTHREAD | WALL | WCLONE))
		return -EINVAL;
	if (pid == (pid_t)0x80000000)
		return -ESRCH;
	w.options = options | WEXITED;
	if (pid > 0) {
		w.type = P_PID;
	} else if (pid == -1) {
		w.type = P_ALL;
	} else {
		w.type = P_PGID;
		w.id = pid ? -pid : current_proc->pgid;
	}
	ret = do_wait(&w);
	if (ret <= 0)
		return ret;
	if (a1 && put_user_u32(w.wait_status, (u32 __user *)a1))
		return -EFAULT;
	if (a3 && rusage_to_user(a3, &w.times))
		return -EFAULT;
	return w.pid;
}

static int put_waitid_info(u64 user, const struct wait_request *w)
{
	struct ksiginfo info = { .signo = w->pid ? SIGCHLD : 0,
				 .code = w->code,
				 .pid = w->pid,
				 .uid = w->uid,
				 .status = w->status };
	u8 raw[128];

	if (!w->pid)
		return clear_user((void __user *)user, sizeof(raw)) ? -EFAULT : 0;
	signal_copy_info(raw, &info);
	return copy_to_user((void __user *)user, raw, sizeof(raw)) ? -EFAULT : 0;
}

SYSCALL(waitid)
{
	u32 options = a3;
	struct wait_request w = { .type = a0, .id = a1, .options = options };
	long ret;

	if (options &
	    ~(WNOHANG | WUNTRACED | WEXITED | WCONTINUED | WNOWAIT | WNOTHREAD | WALL | WCLONE))
		return -EINVAL;
	if (!(options & (WEXITED | WUNTRACED | WCONTINUED)))
		return -EINVAL;
	if (w.type > P_PGID || w.type < 0 || (w.type == P_PID && w.id <= 0) ||
	    (w.type == P_PGID && w.id < 0))
		return -EINVAL;
	if (w.type == P_PGID && !w.id)
		w.id = current_proc->pgid;
	ret = do_wait(&w);
	if (ret < 0)
		return ret;
	if (a2) {
		ret = put_waitid_info(a2, &w);
		if (ret)
			return ret;
	}
	return a4 && w.pid ? rusage_to_user(a4, &w.times) : 0;
}
