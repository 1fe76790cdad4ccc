// SPDX-License-Identifier: BSD-2-Clause
/*
 * timers.c - interval timers (alarm, setitimer) and POSIX timers.
 *
 * Timers on the wall are kernel timers whose function sends a signal. Timers on processor time have
 * no tick of their own: t nanoseconds of processor time cannot pass in less than t / threads of
 * real time, so a kernel timer is set for then, looks at the clock, and sets itself again for what
 * is missing. Nobody without such a timer pays for it.
 *
 * A POSIX timer owns its queue entry: while the signal of the last expiry is still queued, further
 * expiries only count (overrun). Its period is then stretched to 1 ms at least, as that of an
 * interval timer whose signal nobody takes: a program that does not look cannot drown the machine.
 *
 * Locking: proc->lock for all state; functions run in the TIMER softirq.
 */
#include "sys/timers.h"
#include "arch/uaccess.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sys/syscall.h"

enum { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF };
#define SIGEV_SIGNAL 0
#define SIGEV_NONE 1
#define SIGEV_THREAD_ID 4
#define TIMER_ABSTIME 1
#define MIN_PENDING_PERIOD NSEC_PER_MSEC
#define MIN_PERIOD 10000u /* ns: a shorter one would leave no time for anything else */

/* ---- ITIMER_REAL ---- */

static void real_expired(struct timer *t)
{
	struct process *p = container_of(t, struct process, real_timer);

	bool unseen = READ_ONCE(p->pending.set) & sigmask(SIGALRM);

	signal_send_process(p, SIGALRM, NULL);
	if (p->real_interval_ns) {
		u64 now = ktime_get();

		timer_start(t, max(t->expires + p->real_interval_ns,
				   now + (unseen ? MIN_PENDING_PERIOD : MIN_PERIOD)));
	}
}

/* Sets it; old value returned. value 0 disarms. */
static u64 set_real(struct process *p, u64 value, u64 interval, u64 *old_interval)
{
	u64 now, left = 0;
	bool was = timer_pending(&p->real_timer);

	if (was || p->real_interval_ns)
		timer_cancel_sync(&p->real_timer);
	now = ktime_get();
	if (was)
		left = p->real_timer.expires > now ? p->real_timer.expires - now : 1;
	*old_interval = p->real_interval_ns;
	p->real_interval_ns = interval;
	if (value)
		timer_start(&p->real_timer, value >= KTIME_MAX - now ? KTIME_MAX : now + value);
	else
		p->real_interval_ns = 0;
	return left;
}

/* ---- processor time ---- */

static u64 cpu_time_of(struct process *p, int which) /* 0: user, 1: user + system */
{
	struct process_times t;

	if (which)
		return proc_cputime_ns(p);
	proc_times(p, &t);
	return t.utime_ns;
}

/* Earliest missing time of all processor-time limits; sends what is due. U64_MAX: none is armed. */
static u64 check_cpu(struct process *p)
{
	static const int sigs[2] = { SIGVTALRM, SIGPROF };
	u64 missing = U64_MAX, limit = p->rlim[RLIMIT_CPU].cur;

	for (int i = 0; i < 2; i++) {
		u64 now, expires = p->cpu_itimer[i].expires_ns;

		if (!expires)
			continue;
		now = cpu_time_of(p, i);
		if (now >= expires) {
			signal_send_process(p, sigs[i], NULL);
			expires = p->cpu_itimer[i].interval_ns ? now + p->cpu_itimer[i].interval_ns
							       : 0;
			p->cpu_itimer[i].expires_ns = expires;
		}
		if (expires)
			missing = min(missing, expires - now);
	}
	if (limit != RLIM_INFINITY && limit < U64_MAX / NSEC_PER_SEC) {
		u64 now = cpu_time_of(p, 1);

		if (now >= limit * NSEC_PER_SEC) {
			u64 hard = p->rlim[RLIMIT_CPU].max;

			if (hard != RLIM_INFINITY && now / NSEC_PER_SEC >= hard)
				signal_kill_process(p);
			else
				signal_send_process(p, SIGXCPU, NULL);
			missing = min_t(u64, missing, NSEC_PER_SEC);
		} else {
			missing = min(missing, limit * NSEC_PER_SEC - now);
		}
	}
	return missing;
}

static void cpu_expired(struct timer *t)
{
	struct process *p = container_of(t, struct process, cpu_timer);
	u64 missing = check_cpu(p);
	u32 threads = max_t(u32, READ_ONCE(p->nr_threads), 1);

	if (missing != U64_MAX && !(p->flags & PF_ZOMBIE))
		timer_start(t, ktime_get() +
				       max_t(u64, missing / min(threads, nr_cpus), NSEC_PER_MSEC));
}

void timers_rlimit_cpu(struct process *p)
{
	timer_start(&p->cpu_timer, ktime_get());
}

static u64 set_cpu(struct process *p, int i, u64 value, u64 interval, u64 *old_interval)
{
	u64 now = cpu_time_of(p, i), left = 0, old = p->cpu_itimer[i].expires_ns;

	if (old)
		left = old > now ? old - now : 1;
	*old_interval = p->cpu_itimer[i].interval_ns;
	p->cpu_itimer[i].expires_ns = value ? now + value : 0;
	p->cpu_itimer[i].interval_ns = value ? interval : 0;
	if (value)
		timer_start(&p->cpu_timer, ktime_get() + NSEC_PER_MSEC);
	return left;
}

/* ---- calls ---- */

struct itimerval {
	s64 interval_sec, interval_usec, value_sec, value_usec;
};

static bool usec_ok(s64 sec, s64 usec)
{
	return sec >= 0 && sec < S64_MAX / (s64)NSEC_PER_SEC && usec >= 0 && usec < 1000000;
}

static struct itimerval to_itimerval(u64 value, u64 interval)
{
	return (struct itimerval){ interval / NSEC_PER_SEC, interval % NSEC_PER_SEC / 1000,
				   value / NSEC_PER_SEC, value % NSEC_PER_SEC / 1000 };
}

SYSCALL(setitimer)
{
	struct process *p = current_proc;
	struct itimerval new = { 0 }, old;
	u64 value, interval, left, old_interval = 0;
	int which = a0;

	if (which < ITIMER_REAL || which > ITIMER_PROF)
		return -EINVAL;
	if (a1 && copy_struct_from_user(&new, (void __user *)a1))
		return -EFAULT;
	if (!usec_ok(new.value_sec, new.value_usec) ||
	    !usec_ok(new.interval_sec, new.interval_usec))
		return -EINVAL;
	value = new.value_sec *NSEC_PER_SEC + new.value_usec * 1000;
	interval = new.interval_sec *NSEC_PER_SEC + new.interval_usec * 1000;
	if (which == ITIMER_REAL)
		left = set_real(p, value, interval, &old_interval);
	else
		left = set_cpu(p, which - 1, value, interval, &old_interval);
	if (!a2)
		return 0;
	old = to_itimerval(left, old_interval);
	return copy_struct_to_user((void __user *)a2, &old);
}

SYSCALL(getitimer)
{
	struct process *p = current_proc;
	u64 left = 0, interval, now;
	struct itimerval out;
	int which = a0;

	if (which < ITIMER_REAL || which > ITIMER_PROF)
		return -EINVAL;
	if (which == ITIMER_REAL) {
		now = ktime_get();
		interval = p->real_interval_ns;
		if (timer_pending(&p->real_timer))
			left = p->real_timer.expires > now ? p->real_timer.expires - now : 1000;
	} else {
		now = cpu_time_of(p, which - 1);
		interval = p->cpu_itimer[which - 1].interval_ns;
		if (p->cpu_itimer[which - 1].expires_ns)
			left = p->cpu_itimer[which - 1].expires_ns > now
				       ? p->cpu_itimer[which - 1].expires_ns - now
				       : 1000;
	}
	out = to_itimerval(left, interval);
	return copy_struct_to_user((void __user *)a1, &out);
}

SYSCALL(alarm)
{
	u64 interval, left = set_real(current_proc, (u64)(u32)a0 * NSEC_PER_SEC, 0, &interval);

	/* never 0 for an alarm that was set */
	return left ? max_t(u64, (left + NSEC_PER_SEC / 2) / NSEC_PER_SEC, 1) : 0;
}

/* ---- POSIX timers ---- */

struct posix_timer {
	struct list_head node; /* (s) proc->posix_timers */
	int id, clock, notify;
	struct process *proc;
	struct task *target; /* SIGEV_THREAD_ID, referenced */
	struct timer timer;
	u64 interval_ns, expires_ns; /* on its clock; expires 0: disarmed (s) */
	u32 overrun, last_overrun;   /* (s) */
	struct sigqueue entry;
};

/* => true: somebody is there to take it */
static bool posix_fire_locked(struct posix_timer *pt)
{
	if (pt->notify == SIGEV_NONE)
		return false;
	if (!list_empty(&pt->entry.node)) {
		pt->overrun++;
		return false;
	}
	pt->overrun = 0;
	if (pt->target && pt->target->exiting)
		return false;
	return signal_send_queued_locked(pt->proc, pt->target, &pt->entry);
}

/* Sets the kernel timer for the next expiry. => proc->lock */
static void posix_arm_locked(struct posix_timer *pt, u64 not_before)
{
	ktime_t at = clock_is_cpu(pt->clock) ? ktime_get() + NSEC_PER_MSEC
					     : clock_to_ktime(pt->clock, pt->expires_ns);

	timer_start(&pt->timer, max_t(ktime_t, at, not_before));
}

static u64 posix_now(const struct posix_timer *pt)
{
	u64 now = 0;

	if (pt->clock == 2)
		return proc_cputime_ns(pt->proc);
	if (pt->clock == 3)
		return pt->target ? thread_runtime_ns(&pt->target->thread) : 0;
	clock_now(pt->clock, &now);
	return now;
}

static void posix_expired(struct timer *t)
{
	struct posix_timer *pt = container_of(t, struct posix_timer, timer);
	struct process *p = pt->proc;
	u64 now = posix_now(pt), pause = MIN_PERIOD;

	proc_lock(p);
	if (pt->expires_ns && now >= pt->expires_ns) {
		if (!posix_fire_locked(pt))
			pause = MIN_PENDING_PERIOD;
		if (pt->interval_ns) {
			u64 periods = (now - pt->expires_ns) / pt->interval_ns;

			pt->overrun += min_t(u64, periods, S32_MAX / 2);
			pt->expires_ns += (periods + 1) * pt->interval_ns;
		} else {
			pt->expires_ns = 0;
		}
	}
	if (pt->expires_ns)
		posix_arm_locked(pt, ktime_get() + pause);
	proc_unlock(p);
}

void posix_timer_dequeued(void *owner, struct ksiginfo *info)
{
	struct posix_timer *pt = owner;

	pt->last_overrun = min_t(u32, pt->overrun, S32_MAX);
	pt->overrun = 0;
	info->uid = pt->last_overrun;
}

struct user_sigevent {
	u64 value;
	s32 signo, notify, tid;
	u8 pad[44];
};

static int event_arg(u64 user, struct posix_timer *pt)
{
	struct user_sigevent ev = { .signo = SIGALRM, .notify = SIGEV_SIGNAL, .value = pt->id };

	if (user && copy_struct_from_user(&ev, (void __user *)user))
		return -EFAULT;
	pt->notify = ev.notify;
	if (ev.notify == SIGEV_NONE)
		return 0;
	if ((ev.notify != SIGEV_SIGNAL && ev.notify != SIGEV_THREAD_ID) || ev.signo < 1 ||
	    ev.signo > NSIG)
		return -EINVAL;
	if (ev.notify == SIGEV_THREAD_ID) {
		pt->target = task_get(ev.tid);
		if (!pt->target || pt->target->proc != current_proc)
			return -EINVAL;
	}
	pt->entry.info = (struct ksiginfo){
		.signo = ev.signo, .code = SI_TIMER, .pid = pt->id, .value = ev.value
	};
	return 0;
}

static void posix_free(struct posix_timer *pt)
{
	proc_lock(pt->proc);
	pt->proc->nr_posix_timers--;
	proc_unlock(pt->proc);
	if (pt->target)
		thread_put(&pt->target->thread);
	kfree(pt);
}

SYSCALL(timer_create)
{
	struct process *p = current_proc;
	struct posix_timer *pt;
	int clock = a0, err;
	u64 now;

	if (clock < 0 || clock_now(clock, &now))
		return -EINVAL;
	pt = kzalloc(sizeof(*pt), GFP_KERNEL);
	if (!pt)
		return -EAGAIN;
	pt->clock = clock;
	pt->proc = p;
	timer_init(&pt->timer, posix_expired);
	list_init(&pt->entry.node);
	pt->entry.owner = pt;
	proc_lock(p);
	pt->id = p->next_timer_id++;
	err = p->nr_posix_timers >= p->rlim[RLIMIT_SIGPENDING].cur ? -EAGAIN : 0;
	p->nr_posix_timers++;
	proc_unlock(p);
	if (!err)
		err = event_arg(a1, pt);
	if (!err && clock == 3 && !pt->target) {
		thread_get(current);
		pt->target = current_task();
	}
	if (!err)
		err = put_user_u32(pt->id, (u32 __user *)a2);
	if (err) {
		posix_free(pt);
		return err;
	}
	proc_lock(p);
	list_add_tail(&pt->node, &p->posix_timers);
	proc_unlock(p);
	return 0;
}

/* => proc->lock */
static struct posix_timer *find_timer(struct process *p, int id)
{
	struct posix_timer *pt;

	list_for_each_entry(pt, &p->posix_timers, node)
		if (pt->id == id)
			return pt;
	return NULL;
}

struct itimerspec {
	struct timespec64 interval, value;
};

static bool spec_ok(const struct timespec64 *ts)
{
	return ts->tv_sec >= 0 && ts->tv_sec < S64_MAX / (s64)NSEC_PER_SEC &&
	       (u64)ts->tv_nsec < NSEC_PER_SEC;
}

static u64 spec_ns(const struct timespec64 *ts)
{
	return ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;
}

/* => proc->lock */
static struct itimerspec timer_value(const struct posix_timer *pt, u64 now)
{
	u64 left = !pt->expires_ns ? 0 : pt->expires_ns > now ? pt->expires_ns - now : 1;

	return (struct itimerspec){ { pt->interval_ns / NSEC_PER_SEC,
				      pt->interval_ns % NSEC_PER_SEC },
				    { left / NSEC_PER_SEC, left % NSEC_PER_SEC } };
}

SYSCALL(timer_settime)
{
	struct process *p = current_proc;
	struct itimerspec new, old;
	struct posix_timer *pt;
	u64 now;

	if (copy_struct_from_user(&new, (void __user *)a2))
		return -EFAULT;
	if (!spec_ok(&new.interval) || !spec_ok(&new.value))
		return -EINVAL;
	proc_lock(p);
	pt = find_timer(p, a0);
	proc_unlock(p);
	if (!pt)
		return -EINVAL;
	/* only this thread's siblings could delete it: their race is theirs */
	timer_cancel_sync(&pt->timer);
	now = posix_now(pt);
	proc_lock(p);
	if (find_timer(p, a0) != pt) {
		proc_unlock(p);
		return -EINVAL;
	}
	old = timer_value(pt, now);
	pt->interval_ns = spec_ns(&new.interval);
	pt->expires_ns = spec_ns(&new.value);
	pt->overrun = 0;
	if (pt->expires_ns) {
		if (!(a1 & TIMER_ABSTIME))
			pt->expires_ns += now;
		posix_arm_locked(pt, 0);
	}
	proc_unlock(p);
	return a3 ? copy_struct_to_user((void __user *)a3, &old) : 0;
}

SYSCALL(timer_gettime)
{
	struct process *p = current_proc;
	struct posix_timer *pt;
	struct itimerspec out;
	u64 now;

	proc_lock(p);
	pt = find_timer(p, a0);
	proc_unlock(p);
	if (!pt)
		return -EINVAL;
	now = posix_now(pt);
	out = timer_value(pt, now);
	return copy_struct_to_user((void __user *)a1, &out);
}

SYSCALL(timer_getoverrun)
{
	struct process *p = current_proc;
	struct posix_timer *pt;
	long ret = -EINVAL;

	proc_lock(p);
	pt = find_timer(p, a0);
	if (pt)
		ret = pt->last_overrun;
	proc_unlock(p);
	return ret;
}

static void unqueue_locked(struct posix_timer *pt)
{
	struct sigpending *pend = pt->target ? &pt->target->pending : &pt->proc->pending;

	if (list_empty(&pt->entry.node))
		return;
	list_del_init(&pt->entry.node);
	pend->nr--;
	signal_fix_set(pend, pt->entry.info.signo);
}

static void posix_delete(struct process *p, struct posix_timer *pt)
{
	timer_cancel_sync(&pt->timer);
	proc_lock(p);
	unqueue_locked(pt);
	proc_unlock(p);
	posix_free(pt);
}

SYSCALL(timer_delete)
{
	struct process *p = current_proc;
	struct posix_timer *pt;

	proc_lock(p);
	pt = find_timer(p, a0);
	if (pt) {
		list_del_init(&pt->node);
		pt->expires_ns = 0; /* its function does not set it again */
	}
	proc_unlock(p);
	if (!pt)
		return -EINVAL;
	posix_delete(p, pt);
	return 0;
}

void timers_exec(struct process *p)
{
	while (!list_empty(&p->posix_timers)) {
		struct posix_timer *pt =
			list_first_entry(&p->posix_timers, struct posix_timer, node);

		proc_lock(p);
		list_del_init(&pt->node);
		pt->expires_ns = 0;
		proc_unlock(p);
		posix_delete(p, pt);
	}
}

void timers_new_process(struct process *p)
{
	timer_init(&p->real_timer, real_expired);
	timer_init(&p->cpu_timer, cpu_expired);
}

void timers_exit(struct process *p)
{
	timers_exec(p);
	if (p->real_interval_ns || timer_pending(&p->real_timer)) {
		p->real_interval_ns = 0;
		timer_cancel_sync(&p->real_timer);
	}
	if (p->cpu_itimer[0].expires_ns || p->cpu_itimer[1].expires_ns ||
	    p->rlim[RLIMIT_CPU].cur != RLIM_INFINITY) {
		p->cpu_itimer[0].expires_ns = p->cpu_itimer[1].expires_ns = 0;
		p->rlim[RLIMIT_CPU].cur = RLIM_INFINITY;
		timer_cancel_sync(&p->cpu_timer);
	}
}
