// SPDX-License-Identifier: BSD-2-Clause
/*
 * procstat.c - /proc/PID/{stat,statm,status}: the three files that ps, top and free of procps and
 * busybox parse. Fields, order and units are Linux's (proc(5)); what Quire does not have prints as
 * zero.
 */
#include "lib/string.h"
#include "mm/phys/zone.h"
#include "mm/vm/aspace.h"
#include "sys/files.h"
#include "sys/proc_view.h"
#include "sys/tty.h"

#define NS_PER_CLOCK_TICK 10000000ull /* USER_HZ is 100 */

static unsigned long mm_rss(struct aspace *mm)
{
	long pages = atomic_long_read(&mm->rss_anon) + atomic_long_read(&mm->rss_file) +
		     atomic_long_read(&mm->rss_shmem);

	return pages > 0 ? pages : 0;
}

/* Times, faults and ids gathered under their locks, so that printing holds none. */
struct numbers {
	pid_t ppid, pgid, sid, tpgid;
	dev_t tty;
	struct process_times t, children;
	sigset_t pending, shared_pending, blocked, ignored, caught;
	u32 nr_threads, nr_queued;
};

static void gather_signals(const struct proc_view *v, struct numbers *n)
{
	struct process *p = v->proc;
	struct task *t = (struct task *)v->thread;

	proc_lock(p);
	n->shared_pending = p->pending.set;
	n->nr_queued = p->pending.nr;
	n->nr_threads = p->nr_threads;
	if (p->actions) {
		n->ignored = p->actions->ignored;
		n->caught = p->actions->caught;
	}
	if (t) {
		n->pending = t->pending.set;
		n->blocked = t->blocked;
	}
	proc_unlock(p);
}

static void gather(const struct proc_view *v, pid_t tid, struct numbers *n)
{
	struct process *p = v->proc;

	memset(n, 0, sizeof(*n));
	n->tpgid = -1;
	n->nr_threads = 1;
	if (!p) {
		thread_cputime(v->thread, &n->t.utime_ns, &n->t.stime_ns);
		n->ppid = v->thread->tid == 2 ? 0 : 2;
		return;
	}
	spin_lock(&proc_tree_lock);
	n->ppid = p->parent ? p->parent->pid : 0;
	n->pgid = p->pgid;
	n->sid = p->sid;
	if (p->tty) {
		n->tty = p->tty->dev;
		n->tpgid = p->tty->pgrp;
	}
	n->children = p->dead_children;
	spin_unlock(&proc_tree_lock);
	gather_signals(v, n);
	if (tid && v->thread)
		task_times_add((struct task *)v->thread, &n->t);
	else
		proc_times(p, &n->t);
}

/* Linux's dev_t of 32 bits for tty_nr: minor 0..7 and 20..31, major 8..19. */
static u32 tty_number(dev_t d)
{
	return (MINOR(d) & 0xff) | MAJOR(d) << 8 | (MINOR(d) & ~0xffu) << 12;
}

static int kernel_priority(const struct thread *t)
{
	if (t->policy == SCHED_FIFO || t->policy == SCHED_RR)
		return -1 - (int)t->rt_prio;
	return 20 + t->nice;
}

int proc_stat_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct proc_view v;
	struct numbers n;
	int err = proc_view_open(pid, tid, &v);

	if (err)
		return err;
	gather(&v, tid, &n);
	struct aspace *mm = v.mm;
	struct thread *t = v.thread;
	u64 start = t ? t->start_ns : v.proc ? v.proc->start_ns : 0;

	seq_printf(seq, "%d (%s) %c %d %d %d %u %d 0 ", tid ? tid : pid, proc_view_comm(&v),
		   proc_view_state(&v), n.ppid, n.pgid, n.sid, tty_number(n.tty), n.tpgid);
	seq_printf(seq, "%llu %llu %llu %llu %llu %llu %llu %llu ", (unsigned long long)n.t.min_flt,
		   (unsigned long long)n.children.min_flt, (unsigned long long)n.t.maj_flt,
		   (unsigned long long)n.children.maj_flt,
		   (unsigned long long)(n.t.utime_ns / NS_PER_CLOCK_TICK),
		   (unsigned long long)(n.t.stime_ns / NS_PER_CLOCK_TICK),
		   (unsigned long long)(n.children.utime_ns / NS_PER_CLOCK_TICK),
		   (unsigned long long)(n.children.stime_ns / NS_PER_CLOCK_TICK));
	seq_printf(seq, "%d %d %u 0 %llu %lu %lu %lu ", t ? kernel_priority(t) : 20,
		   t ? t->nice : 0, n.nr_threads, (unsigned long long)(start / NS_PER_CLOCK_TICK),
		   mm ? mm->total_vm << PAGE_SHIFT : 0, mm ? mm_rss(mm) : 0,
		   v.proc ? (unsigned long)v.proc->rlim[RLIMIT_RSS].cur : RLIM_INFINITY);
	seq_printf(seq, "%lu %lu %lu 0 0 ", mm ? mm->start_code : 0, mm ? mm->end_code : 0,
		   mm ? mm->stack_start : 0);
	seq_printf(seq, "%llu %llu %llu %llu 0 0 0 %d %u %u %u 0 0 0 ",
		   (unsigned long long)(n.pending & 0x7fffffff),
		   (unsigned long long)(n.blocked & 0x7fffffff),
		   (unsigned long long)(n.ignored & 0x7fffffff),
		   (unsigned long long)(n.caught & 0x7fffffff), v.proc ? v.proc->exit_signal : 0,
		   t ? t->cpu : 0, t ? t->rt_prio : 0, t ? t->policy : 0);
	seq_printf(seq, "%lu %lu %lu %lu %lu %lu %lu %d\n", mm ? mm->start_data : 0,
		   mm ? mm->end_data : 0, mm ? mm->brk_start : 0, mm ? mm->arg_start : 0,
		   mm ? mm->arg_end : 0, mm ? mm->env_start : 0, mm ? mm->env_end : 0,
		   v.proc ? v.proc->exit_code : 0);
	proc_view_close(&v);
	return 0;
}

int proc_statm_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct proc_view v;
	int err = proc_view_open(pid, tid, &v);

	if (err)
		return err;
	if (v.mm) {
		struct aspace *mm = v.mm;
		unsigned long text = (ALIGN_UP(mm->end_code, PAGE_SIZE) -
				      ALIGN_DOWN(mm->start_code, PAGE_SIZE)) >>
				     PAGE_SHIFT;

		seq_printf(seq, "%lu %lu %lu %lu 0 %lu 0\n", mm->total_vm, mm_rss(mm),
			   (unsigned long)(atomic_long_read(&mm->rss_file) +
					   atomic_long_read(&mm->rss_shmem)),
			   text, mm->data_vm + mm->stack_vm);
	} else {
		seq_puts(seq, "0 0 0 0 0 0 0\n");
	}
	proc_view_close(&v);
	return 0;
}

/* ns on a CPU, ns runnable without one, how often it got one */
int proc_schedstat_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct proc_view v;
	int err = proc_view_open(pid, tid, &v);
	struct thread *t;

	if (err)
		return err;
	t = v.thread;
	if (t)
		seq_printf(seq, "%llu %llu %llu\n", (unsigned long long)t->sum_exec_ns,
			   (unsigned long long)t->wait_sum_ns,
			   (unsigned long long)(t->nvcsw + t->nivcsw));
	else
		seq_puts(seq, "0 0 0\n");
	proc_view_close(&v);
	return 0;
}

static const char *state_word(char c)
{
	switch (c) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "disk sleep";
	case 'T':
		return "stopped";
	case 'Z':
		return "zombie";
	default:
		return "idle";
	}
}

static void status_memory(struct seq *seq, struct aspace *mm)
{
	unsigned long rss = mm_rss(mm), kb = PAGE_SIZE / 1024;
	unsigned long text =
		(ALIGN_UP(mm->end_code, PAGE_SIZE) - ALIGN_DOWN(mm->start_code, PAGE_SIZE)) >> 10;

	seq_printf(seq, "VmPeak:\t%8lu kB\n", mm->total_vm * kb);
	seq_printf(seq, "VmSize:\t%8lu kB\n", mm->total_vm * kb);
	seq_printf(seq, "VmLck:\t%8lu kB\n", mm->locked_vm * kb);
	seq_printf(seq, "VmPin:\t%8lu kB\n", 0ul);
	seq_printf(seq, "VmHWM:\t%8lu kB\n", max(mm->hiwater_rss, rss) * kb);
	seq_printf(seq, "VmRSS:\t%8lu kB\n", rss * kb);
	seq_printf(seq, "RssAnon:\t%8lu kB\n", (unsigned long)atomic_long_read(&mm->rss_anon) * kb);
	seq_printf(seq, "RssFile:\t%8lu kB\n", (unsigned long)atomic_long_read(&mm->rss_file) * kb);
	seq_printf(seq, "RssShmem:\t%8lu kB\n",
		   (unsigned long)atomic_long_read(&mm->rss_shmem) * kb);
	seq_printf(seq, "VmData:\t%8lu kB\n", mm->data_vm * kb);
	seq_printf(seq, "VmStk:\t%8lu kB\n", mm->stack_vm * kb);
	seq_printf(seq, "VmExe:\t%8lu kB\n", text);
	seq_printf(seq, "VmLib:\t%8lu kB\n", mm->exec_vm * kb > text ? mm->exec_vm * kb - text : 0);
	seq_printf(seq, "VmPTE:\t%8lu kB\n", (unsigned long)atomic_long_read(&mm->pt_pages) * kb);
	seq_printf(seq, "VmSwap:\t%8lu kB\n", (unsigned long)atomic_long_read(&mm->rss_swap) * kb);
}

static void status_ids(struct seq *seq, const struct proc_view *v, pid_t id,
		       const struct numbers *n)
{
	static const struct cred root;
	const struct cred *c = v->proc ? &v->proc->cred : &root;
	struct files *files = v->proc ? proc_get_files(v->proc) : NULL;
	struct fs_context *fs = v->proc ? proc_get_fs(v->proc) : NULL;

	seq_printf(seq, "Umask:\t%04o\n", fs ? fs->umask : 0022);
	seq_printf(seq, "State:\t%c (%s)\n", proc_view_state(v), state_word(proc_view_state(v)));
	seq_printf(seq, "Tgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n",
		   v->proc ? v->proc->pid : id, id, n->ppid);
	seq_printf(seq, "Uid:\t%u\t%u\t%u\t%u\n", c->uid, c->euid, c->suid, c->fsuid);
	seq_printf(seq, "Gid:\t%u\t%u\t%u\t%u\n", c->gid, c->egid, c->sgid, c->fsgid);
	seq_printf(seq, "FDSize:\t%u\nGroups:\t", files ? files->size : 0);
	for (u32 i = 0; i < c->nr_groups; i++)
		seq_printf(seq, "%u ", c->groups[i]);
	seq_printf(seq, "\nNStgid:\t%d\nNSpid:\t%d\nNSpgid:\t%d\nNSsid:\t%d\n",
		   v->proc ? v->proc->pid : id, id, n->pgid, n->sid);
	if (fs)
		fs_put(fs);
	if (files)
		files_put(files);
}

static void status_signals(struct seq *seq, const struct proc_view *v, const struct numbers *n)
{
	seq_printf(seq, "Threads:\t%u\n", n->nr_threads);
	seq_printf(seq, "SigQ:\t%u/%llu\n", n->nr_queued,
		   v->proc ? (unsigned long long)v->proc->rlim[RLIMIT_SIGPENDING].cur : 0ull);
	seq_printf(seq, "SigPnd:\t%016llx\nShdPnd:\t%016llx\n", (unsigned long long)n->pending,
		   (unsigned long long)n->shared_pending);
	seq_printf(seq, "SigBlk:\t%016llx\nSigIgn:\t%016llx\nSigCgt:\t%016llx\n",
		   (unsigned long long)n->blocked, (unsigned long long)n->ignored,
		   (unsigned long long)n->caught);
}

static void status_places(struct seq *seq, const struct thread *t)
{
	unsigned long cpus = (t ? t->allowed : ~0ul) & cpu_online_mask;
	unsigned long mems = nr_nodes >= 64 ? ~0ul : BIT(nr_nodes) - 1;

	seq_puts(seq, "Cpus_allowed:\t");
	seq_bitmap_hex(seq, &cpus, nr_possible_cpus);
	seq_puts(seq, "\nCpus_allowed_list:\t");
	seq_bitmap_list(seq, &cpus, nr_possible_cpus);
	seq_puts(seq, "\nMems_allowed:\t");
	seq_bitmap_hex(seq, &mems, nr_nodes);
	seq_puts(seq, "\nMems_allowed_list:\t");
	seq_bitmap_list(seq, &mems, nr_nodes);
	seq_printf(seq, "\nvoluntary_ctxt_switches:\t%llu\nnonvoluntary_ctxt_switches:\t%llu\n",
		   t ? (unsigned long long)t->nvcsw : 0ull,
		   t ? (unsigned long long)t->nivcsw : 0ull);
}

int proc_status_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct proc_view v;
	struct numbers n;
	int err = proc_view_open(pid, tid, &v);

	if (err)
		return err;
	gather(&v, tid, &n);
	seq_printf(seq, "Name:\t%s\n", proc_view_comm(&v));
	status_ids(seq, &v, tid ? tid : pid, &n);
	if (v.mm)
		status_memory(seq, v.mm);
	status_signals(seq, &v, &n);
	seq_puts(seq, "CapInh:\t0000000000000000\nCapPrm:\t000001ffffffffff\nCapEff:"
		      "\t000001ffffffffff\n");
	seq_puts(seq, "CapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\n");
	seq_printf(seq, "NoNewPrivs:\t%d\nSeccomp:\t0\n", v.proc ? v.proc->no_new_privs : 0);
	status_places(seq, v.thread);
	proc_view_close(&v);
	return 0;
}
