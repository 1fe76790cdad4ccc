// SPDX-License-Identifier: BSD-2-Clause
/*
 * signal.c - sending: from an event to a bit in somebody's pending set.
 *
 * Theory: a signal is sent to a process (any thread that does not block it may take it) or to one
 * thread. Pending sets are bit masks; details (who sent it) queue beside them. The receiver is told
 * by USER_WORK_SIGNAL in its user_work word: set by the sender together with a wake-up, tested by
 * every return to user mode and by every interruptible sleep, cleared only by the receiver under
 * its proc->lock when nothing deliverable is left (signal_recalc).
 *
 * A signal whose effect is certain death is not left for the receiver to find: the sender decides
 * the exit code and marks every thread with SIGKILL at once, so that also threads in killable
 * sleeps go.
 *
 * Signal actions are shared between relatives until one of them changes something (fork and exec
 * mostly never do).
 *
 * Locking: proc->lock covers pending sets, masks, actions, thread list. Senders may be timers, so
 * it is held with softirqs off; interrupts stay on, for a process may have any number of threads.
 */
#include "sys/signal.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sys/process.h"
#include "sys/timers.h"

static struct slab_cache *sigqueue_cache, *actions_cache;
struct sigactions initial_actions = { .refs = ATOMIC_INIT(1) };

/* ---- actions: copy on write ---- */

struct sigactions *sigactions_share(struct process *p)
{
	struct sigactions *a;

	proc_lock(p);
	a = p->actions;
	atomic_inc(&a->refs);
	proc_unlock(p);
	return a;
}

void sigactions_put(struct sigactions *a)
{
	if (atomic_dec_and_test(&a->refs))
		slab_free(actions_cache, a);
}

int sigactions_lock_own(struct process *p)
{
	struct sigactions *own = NULL, *old = NULL;

	for (;;) {
		proc_lock(p);
		if (atomic_read(&p->actions->refs) == 1)
			break;
		if (own) {
			old = p->actions;
			memcpy(own, old, sizeof(*own));
			atomic_set(&own->refs, 1);
			p->actions = own;
			own = NULL;
			break;
		}
		proc_unlock(p);
		own = slab_alloc(actions_cache, GFP_KERNEL);
		if (!own)
			return -ENOMEM;
	}
	if (old)
		sigactions_put(old);
	if (own)
		slab_free(actions_cache, own);
	return 0;
}

int signal_exec_reset(struct process *p)
{
	int err;

	if (!p->actions->caught)
		return 0;
	err = sigactions_lock_own(p);
	if (err)
		return err;
	for (int i = 0; i < NSIG; i++) {
		struct ksigaction *act = &p->actions->action[i];

		if (act->handler != SIG_IGN)
			*act = (struct ksigaction){ 0 };
		else
			*act = (struct ksigaction){ .handler = SIG_IGN };
	}
	p->actions->caught = 0;
	proc_unlock(p);
	return 0;
}

bool signal_is_ignored(struct process *p, int sig)
{
	const struct sigactions *a = p->actions;
	sigset_t mask = sigmask(sig);

	if (a->caught & mask)
		return false;
	if ((a->ignored & mask) || (SIG_IGNORED_SET & mask))
		return true;
	return p->flags & PF_UNKILLABLE;
}

/* ---- queues ---- */

static void queue_free(struct sigqueue *q)
{
	if (!q->owner)
		slab_free(sigqueue_cache, q);
}

void signal_flush(struct sigpending *pend)
{
	struct sigqueue *q, *n;

	pend->set = 0;
	pend->nr = 0;
	list_for_each_entry_safe(q, n, &pend->queue, node) {
		list_del_init(&q->node);
		queue_free(q);
	}
}

static void remove_signals(struct sigpending *pend, sigset_t mask)
{
	struct sigqueue *q, *n;

	if (!(pend->set & mask))
		return;
	pend->set &= ~mask;
	list_for_each_entry_safe(q, n, &pend->queue, node)
		if (sigmask(q->info.signo) & mask) {
			list_del_init(&q->node);
			pend->nr--;
			queue_free(q);
		}
}

void signal_fix_set(struct sigpending *pend, int sig)
{
	struct sigqueue *q;

	list_for_each_entry(q, &pend->queue, node)
		if (q->info.signo == sig)
			return;
	pend->set &= ~sigmask(sig);
}

/* Removes signals from every queue of the process. => p->lock */
void signal_remove_everywhere(struct process *p, sigset_t mask)
{
	struct task *t;

	remove_signals(&p->pending, mask);
	list_for_each_entry(t, &p->threads, thread_node)
		remove_signals(&t->pending, mask);
}

static int next_signal(sigset_t set)
{
	if (set & SIG_SYNC_SET)
		set &= SIG_SYNC_SET; /* a fault's own signal goes before what others sent */
	return __builtin_ctzll(set) + 1;
}

/* Takes one instance of sig off a queue; clears the bit when it was the only one. */
static void take(struct sigpending *pend, int sig, struct ksiginfo *info)
{
	struct sigqueue *q, *found = NULL;
	bool more = false;

	list_for_each_entry(q, &pend->queue, node) {
		if (q->info.signo != sig)
			continue;
		if (found) {
			more = true;
			break;
		}
		found = q;
	}
	if (!more)
		pend->set &= ~sigmask(sig);
	if (!found) {
		*info = (struct ksiginfo){ .signo = sig, .code = SI_USER };
		return;
	}
	*info = found->info;
	list_del_init(&found->node);
	pend->nr--;
	if (found->owner)
		posix_timer_dequeued(found->owner, info);
	else
		slab_free(sigqueue_cache, found);
}

int signal_dequeue(struct task *t, sigset_t blocked, struct ksiginfo *info)
{
	struct sigpending *pend = &t->pending;
	int sig;

	if (!(pend->set & ~blocked))
		pend = &t->proc->pending;
	if (!(pend->set & ~blocked))
		return 0;
	sig = next_signal(pend->set & ~blocked);
	take(pend, sig, info);
	return sig;
}

/* ---- telling the receiver ---- */

void signal_recalc(struct task *t)
{
	struct process *p = t->proc;

	if (((t->pending.set | p->pending.set) & ~t->blocked) || t->stop_pending ||
	    p->tell_continued || t->first_run)
		__atomic_fetch_or(&t->thread.arch.user_work, USER_WORK_SIGNAL, __ATOMIC_SEQ_CST);
	else if (READ_ONCE(t->thread.arch.user_work) & USER_WORK_SIGNAL)
		__atomic_fetch_and(&t->thread.arch.user_work, ~USER_WORK_SIGNAL, __ATOMIC_SEQ_CST);
}

void signal_wake(struct task *t, bool fatal)
{
	u32 states = THREAD_INTERRUPTIBLE;

	if (fatal)
		states |= THREAD_KILLABLE | THREAD_STOPPED;
	__atomic_fetch_or(&t->thread.arch.user_work, USER_WORK_SIGNAL, __ATOMIC_SEQ_CST);
	/* Also the current thread: a timer's signal may find it on its way to sleep. */
	if (!thread_wake(&t->thread, states) && t != current_task())
		thread_kick(&t->thread);
}

static bool wants(const struct task *t, sigset_t mask)
{
	if (t->exiting)
		return false;
	return !(t->blocked & mask) || (t->wait_set & mask) || (mask & sigmask(SIGKILL));
}

static struct task *choose_thread(struct process *p, sigset_t mask)
{
	struct task *t;

	if (current->proc == p && wants(current_task(), mask))
		return current_task();
	list_for_each_entry(t, &p->threads, thread_node)
		if (wants(t, mask))
			return t;
	return NULL;
}

/* Everybody dies of sig. => p->lock */
static void begin_group_exit(struct process *p, int sig)
{
	struct task *t;

	p->flags |= PF_GROUP_EXIT;
	p->exit_code = sig;
	list_for_each_entry(t, &p->threads, thread_node) {
		t->pending.set |= sigmask(SIGKILL);
		t->stopped = false;
		signal_wake(t, true);
	}
}

static bool is_fatal(struct process *p, const struct task *t, int sig)
{
	sigset_t mask = sigmask(sig);

	if ((p->flags & PF_GROUP_EXIT) || (p->actions->caught & mask) ||
	    ((SIG_STOP_SET | SIG_IGNORED_SET) & mask))
		return false;
	if ((p->flags & PF_UNKILLABLE) || (p->actions->ignored & mask))
		return false;
	return !(t->wait_set & mask) || sig == SIGKILL;
}

static void complete_signal(struct process *p, struct task *t, int sig)
{
	sigset_t mask = sigmask(sig);

	if (!t)
		t = choose_thread(p, mask);
	else if (!wants(t, mask))
		t = NULL;
	if (!t)
		return;
	if (is_fatal(p, t, sig))
		begin_group_exit(p, sig);
	else
		signal_wake(t, sig == SIGKILL);
}

/*
 * A stop signal cancels a pending SIGCONT and the other way round; SIGCONT also sets stopped
 * threads going.
 */
static void job_control(struct process *p, int sig)
{
	struct task *t;

	if (sigmask(sig) & SIG_STOP_SET) {
		signal_remove_everywhere(p, sigmask(SIGCONT));
		return;
	}
	if (sig != SIGCONT)
		return;
	signal_remove_everywhere(p, SIG_STOP_SET);
	if (!p->stop_signal)
		return;
	p->stop_signal = 0;
	p->stop_wanted = 0;
	if (p->flags & PF_STOPPED) {
		p->flags = (p->flags & ~(PF_STOPPED | PF_STOP_REPORT)) | PF_CONTINUED;
		p->tell_continued = true;
		atomic_dec(&nr_stopped_processes);
	}
	list_for_each_entry(t, &p->threads, thread_node) {
		t->stop_pending = false;
		if (t->stopped) {
			t->stopped = false;
			__atomic_fetch_or(&t->thread.arch.user_work, USER_WORK_SIGNAL,
					  __ATOMIC_SEQ_CST);
			thread_wake(&t->thread, THREAD_STOPPED);
		}
	}
}

/*
 * Dropped on arrival? Not when the receiver blocks or waits for it: it may change its mind before
 * it looks.
 */
static bool drop(struct process *p, const struct task *t, int sig)
{
	if (p->flags & (PF_ZOMBIE | PF_GROUP_EXIT))
		return true;
	if (!t && !list_empty(&p->threads))
		t = list_first_entry(&p->threads, struct task, thread_node);
	if (!t)
		return true;
	if ((t->blocked | t->wait_set) & sigmask(sig) & ~SIG_UNBLOCKABLE)
		return false;
	return signal_is_ignored(p, sig);
}

static int send_locked(struct process *p, struct task *t, int sig, const struct ksiginfo *info)
{
	struct sigpending *pend = t ? &t->pending : &p->pending;
	struct sigqueue *q;

	if (p->flags & PF_ZOMBIE)
		return 0;
	if (!(p->flags & PF_UNKILLABLE) || sig != SIGSTOP)
		job_control(p, sig);
	if (drop(p, t, sig))
		return 0;
	if (sig < SIGRTMIN && (pend->set & sigmask(sig)))
		return 0;
	if (sig != SIGKILL) {
		q = pend->nr < p->rlim[RLIMIT_SIGPENDING].cur
			    ? slab_alloc(sigqueue_cache, GFP_ATOMIC)
			    : NULL;
		if (q) {
			q->owner = NULL;
			if (info)
				q->info = *info;
			else
				q->info = (struct ksiginfo){ .code = SI_KERNEL };
			q->info.signo = sig;
			list_add_tail(&q->node, &pend->queue);
			pend->nr++;
		} else if (sig >= SIGRTMIN && info && info->code != SI_USER) {
			return -EAGAIN;
		}
	}
	pend->set |= sigmask(sig);
	if (wait_queue_active(&p->signalfd_wait))
		wake_up_all(&p->signalfd_wait);
	complete_signal(p, t, sig);
	return 0;
}

bool signal_send_queued_locked(struct process *p, struct task *t, struct sigqueue *q)
{
	struct sigpending *pend = t ? &t->pending : &p->pending;
	int sig = q->info.signo;

	if (!list_empty(&q->node) || drop(p, t, sig))
		return false;
	list_add_tail(&q->node, &pend->queue);
	pend->nr++;
	pend->set |= sigmask(sig);
	if (wait_queue_active(&p->signalfd_wait))
		wake_up_all(&p->signalfd_wait);
	complete_signal(p, t, sig);
	return true;
}

int signal_send_process(struct process *p, int sig, const struct ksiginfo *info)
{
	int ret;

	proc_lock(p);
	ret = send_locked(p, NULL, sig, info);
	proc_unlock(p);
	return ret;
}

int signal_send_task(struct task *t, int sig, const struct ksiginfo *info)
{
	int ret = 0;

	proc_lock(t->proc);
	if (!t->exiting)
		ret = send_locked(t->proc, t, sig, info);
	proc_unlock(t->proc);
	return ret;
}

int signal_send_pgrp_locked(pid_t pgid, int sig, const struct ksiginfo *info)
{
	struct process *p;
	int ret = -ESRCH;

	list_for_each_entry(p, &proc_list, all_node)
		if (p->pgid == pgid && !(p->flags & PF_REAPED)) {
			signal_send_process(p, sig, info);
			ret = 0;
		}
	return ret;
}

int signal_send_pgrp(pid_t pgid, int sig, const struct ksiginfo *info)
{
	int ret;

	spin_lock(&proc_tree_lock);
	ret = signal_send_pgrp_locked(pgid, sig, info);
	spin_unlock(&proc_tree_lock);
	return ret;
}

void signal_kill_process(struct process *p)
{
	proc_lock(p);
	if (!(p->flags & (PF_ZOMBIE | PF_GROUP_EXIT)))
		begin_group_exit(p, SIGKILL);
	proc_unlock(p);
}

/*
 * A fault of the current thread: it cannot be put off, so a blocked or ignored signal falls back to
 * its default.
 */
void signal_force_info(const struct ksiginfo *info)
{
	struct process *p = current_proc;
	struct task *t = current_task();
	struct ksigaction *act;
	sigset_t mask = sigmask(info->signo);

	if (sigactions_lock_own(p))
		do_group_exit(info->signo);
	act = &p->actions->action[info->signo - 1];
	if ((t->blocked & mask) || act->handler == SIG_IGN) {
		act->handler = SIG_DFL;
		p->actions->caught &= ~mask;
		p->actions->ignored &= ~mask;
		t->blocked &= ~mask;
	}
	if (act->handler == SIG_DFL)
		p->flags &= ~PF_UNKILLABLE;
	send_locked(p, t, info->signo, info);
	signal_recalc(t);
	proc_unlock(p);
}

void signal_force(int sig, int code, u64 addr)
{
	signal_force_info(&(struct ksiginfo){ .signo = sig, .code = code, .value = addr });
}

static bool pending_hook(struct thread *thread, bool fatal_only)
{
	struct task *t = (struct task *)thread;

	if (!thread->proc)
		return false;
	if (fatal_only)
		return READ_ONCE(t->pending.set) & sigmask(SIGKILL);
	return READ_ONCE(thread->arch.user_work) & USER_WORK_SIGNAL;
}

void signal_init(void)
{
	sigqueue_cache = slab_create("sigqueue", sizeof(struct sigqueue), 0, 0, NULL);
	actions_cache = slab_create("sigactions", sizeof(struct sigactions), 0, 0, NULL);
	if (!sigqueue_cache || !actions_cache)
		panic("signal: no memory for the caches");
	signal_pending_hook = pending_hook;
}
