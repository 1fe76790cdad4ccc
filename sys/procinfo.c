// SPDX-License-Identifier: BSD-2-Clause
/*
 * procinfo.c - processes as procfs sees them: who exists, the files of each, and the magic links.
 *
 * Problem: a reader of /proc/PID looks at a process that may be dying. Idea: every file opens a proc_view, which holds
 * references on the process, one thread and the address space, prints from it, and lets go; nothing is cached between
 * reads. Kernel threads appear too, with no process behind them.
 */
#include "kernel/rcu.h"
#include "lib/err.h"
#include "lib/parse.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "sys/files.h"
#include "sys/proc_view.h"
#include "sys/procinfo.h"

/* ---- a look at one process ---- */

static struct thread *kthread_get(pid_t tid)
{
	struct thread *t;

	rcu_read_lock();
	t = thread_find(tid);
	if (t && (t->proc || !atomic_inc_not_zero(&t->refs)))
		t = NULL;
	rcu_read_unlock();
	return t;
}

int proc_view_open(pid_t pid, pid_t tid, struct proc_view *v)
{
	struct task *task;

	*v = (struct proc_view){ 0 };
	if (tid) {
		task = task_get(tid);
		if (task) {
			v->thread = &task->thread;
			v->proc = proc_get(task->proc->pid);
		} else {
			v->thread = kthread_get(tid);
		}
	} else {
		v->proc = proc_get(pid);
		task = v->proc ? proc_next_task(v->proc, 0) : NULL;
		v->thread = task ? &task->thread : v->proc ? NULL : kthread_get(pid);
	}
	if (!v->proc && !v->thread)
		return -ESRCH;
	v->mm = v->proc ? proc_get_mm(v->proc) : NULL;
	return 0;
}

void proc_view_close(struct proc_view *v)
{
	if (v->mm)
		aspace_put(v->mm);
	if (v->thread)
		thread_put(v->thread);
	if (v->proc)
		proc_put(v->proc);
}

const char *proc_view_comm(const struct proc_view *v)
{
	return v->thread ? v->thread->comm : v->proc->comm;
}

char proc_view_state(const struct proc_view *v)
{
	u32 s;

	if (!v->thread || (v->proc && (v->proc->flags & PF_ZOMBIE)))
		return 'Z';
	s = READ_ONCE(v->thread->state);
	if (s == THREAD_RUNNING)
		return 'R';
	if (s & THREAD_INTERRUPTIBLE)
		return 'S';
	if (s & THREAD_STOPPED)
		return 'T';
	if (s & (THREAD_UNINTERRUPTIBLE | THREAD_KILLABLE))
		return v->proc ? 'D' : 'I'; /* a kernel thread without work is idle, not waiting for a disk */
	return s & THREAD_DEAD ? 'Z' : 'R';
}

/* ---- who exists ---- */

static pid_t next_kthread(pid_t from)
{
	struct thread *t;
	pid_t best = -1;

	rcu_read_lock();
	list_for_each_entry_rcu(t, &thread_list, all_node)
		if (!t->proc && t->tid > 0 && t->tid >= from && (best < 0 || t->tid < best))
			best = t->tid;
	rcu_read_unlock();
	return best;
}

static pid_t procinfo_next(pid_t pid, pid_t tgid)
{
	pid_t best = -1, kt;
	struct process *p;

	if (tgid) {
		p = proc_get(tgid);
		if (!p)
			return next_kthread(tgid) == tgid && pid <= tgid ? tgid : -1;
		struct task *t = proc_next_task(p, pid);

		if (t) {
			best = t->thread.tid;
			thread_put(&t->thread);
		}
		proc_put(p);
		return best;
	}
	p = proc_next(pid);
	if (p) {
		best = p->pid;
		proc_put(p);
	}
	kt = next_kthread(pid);
	return kt > 0 && (best < 0 || kt < best) ? kt : best;
}

static bool procinfo_exists(pid_t pid, pid_t tgid)
{
	struct proc_view v;
	bool yes;

	if (proc_view_open(tgid ? tgid : pid, tgid ? pid : 0, &v))
		return false;
	yes = !tgid || (v.proc ? v.proc->pid == tgid : v.thread->tid == tgid);
	proc_view_close(&v);
	return yes;
}

static pid_t procinfo_self(void)
{
	return current->tgid;
}

static pid_t procinfo_self_tid(void)
{
	return current->tid;
}

static void procinfo_owner(pid_t pid, u32 *uid, u32 *gid)
{
	struct process *p = proc_get(pid);

	*uid = p ? p->cred.euid : 0;
	*gid = p ? p->cred.egid : 0;
	if (p)
		proc_put(p);
}

/* ---- magic links ---- */

static struct file *open_file_of(pid_t pid, int fd)
{
	struct process *p = proc_get(pid);
	struct files *files = p ? proc_get_files(p) : NULL;
	struct file *f = files ? files_get_file(files, fd) : NULL;

	if (files)
		files_put(files);
	if (p)
		proc_put(p);
	return f;
}

static int link_of_fs(struct process *p, int kind, struct path *out)
{
	struct fs_context *fs = proc_get_fs(p);
	struct path root, cwd;

	if (!fs)
		return -ENOENT;
	fs_context_get(fs, &root, &cwd);
	*out = kind == 1 ? cwd : root;
	path_put(kind == 1 ? &root : &cwd);
	fs_put(fs);
	return 0;
}

static int link_of_exe(struct process *p, struct path *out)
{
	struct aspace *mm = proc_get_mm(p);
	int err = -ENOENT;

	if (!mm)
		return err;
	down_read(&mm->lock);
	if (mm->exe_file) {
		*out = mm->exe_file->path;
		path_get(out);
		err = 0;
	}
	up_read(&mm->lock);
	aspace_put(mm);
	return err;
}

static int procinfo_link(pid_t pid, int kind, int fd, struct path *out)
{
	struct process *p;
	int err;

	if (kind == 3) {
		struct file *f = open_file_of(pid, fd);

		if (!f)
			return -ENOENT;
		*out = f->path;
		path_get(out);
		file_put(f);
		return 0;
	}
	p = proc_get(pid);
	if (!p)
		return -ENOENT;
	err = kind == 0 ? link_of_exe(p, out) : link_of_fs(p, kind, out);
	proc_put(p);
	return err;
}

static int procinfo_link_text(pid_t pid, int kind, int fd, char *buf, size_t n)
{
	char *page = kmalloc(PAGE_SIZE, GFP_KERNEL), *text;
	struct path path;
	int len = page ? procinfo_link(pid, kind, fd, &path) : -ENOMEM;

	if (len)
		goto out;
	text = vfs_path(&path, page, PAGE_SIZE);
	len = IS_ERR(text) ? PTR_ERR(text) : (int)min(strlen(text), n);
	if (len > 0)
		memcpy(buf, text, len);
	path_put(&path);
out:
	kfree(page);
	return len;
}

static int procinfo_next_fd(pid_t pid, int fd)
{
	struct process *p = proc_get(pid);
	struct files *files = p ? proc_get_files(p) : NULL;
	int next = files ? files_next(files, fd) : -1;

	if (files)
		files_put(files);
	if (p)
		proc_put(p);
	return next;
}

/* ---- small files ---- */

static int comm_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct proc_view v;
	int err = proc_view_open(pid, tid, &v);

	if (!err) {
		seq_printf(seq, "%s\n", proc_view_comm(&v));
		proc_view_close(&v);
	}
	return err;
}

static ssize_t comm_store(const char *text, size_t n, pid_t pid, pid_t tid)
{
	struct proc_view v;
	int err = proc_view_open(pid, tid, &v);
	size_t len = min_t(size_t, strcspn(text, "\n"), sizeof(v.thread->comm) - 1);

	if (err)
		return err;
	if (v.thread && v.proc) {
		memcpy(v.thread->comm, text, len);
		v.thread->comm[len] = '\0';
	}
	proc_view_close(&v);
	return n;
}

/* Memory of the process between two of its own addresses, at most 64 KiB of it. */
static int show_user_range(struct seq *seq, struct aspace *mm, unsigned long start, unsigned long end)
{
	char *buf = kmalloc(PAGE_SIZE, GFP_KERNEL);
	size_t total = end > start ? min_t(size_t, end - start, 65536) : 0;

	if (!buf)
		return -ENOMEM;
	for (size_t done = 0; done < total;) {
		size_t want = min_t(size_t, total - done, PAGE_SIZE), got = vm_access(mm, start + done, buf, want, 0);

		seq_write(seq, buf, got);
		done += got;
		if (got < want)
			break;
	}
	kfree(buf);
	return 0;
}

static int cmdline_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct proc_view v;
	int err = proc_view_open(pid, tid, &v);

	if (err)
		return err;
	if (v.mm)
		err = show_user_range(seq, v.mm, v.mm->arg_start, v.mm->arg_end);
	proc_view_close(&v);
	return err;
}

static int environ_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct proc_view v;
	int err = proc_view_open(pid, tid, &v);

	if (err)
		return err;
	if (v.mm)
		err = show_user_range(seq, v.mm, v.mm->env_start, v.mm->env_end);
	proc_view_close(&v);
	return err;
}

/* The files that mm/vm prints: the address space is all they need. */
static int with_mm(struct seq *seq, pid_t pid, pid_t tid, int (*show)(struct seq *, struct aspace *))
{
	struct proc_view v;
	int err = proc_view_open(pid, tid, &v);

	if (err)
		return err;
	if (v.mm)
		err = show(seq, v.mm);
	proc_view_close(&v);
	return err;
}

static int maps_show(struct seq *seq, pid_t pid, pid_t tid)
{
	return with_mm(seq, pid, tid, vm_show_maps);
}

static int smaps_show(struct seq *seq, pid_t pid, pid_t tid)
{
	return with_mm(seq, pid, tid, vm_show_smaps);
}

static int smaps_rollup_show(struct seq *seq, pid_t pid, pid_t tid)
{
	return with_mm(seq, pid, tid, vm_show_smaps_rollup);
}

static int numa_maps_show(struct seq *seq, pid_t pid, pid_t tid)
{
	return with_mm(seq, pid, tid, vm_show_numa_maps);
}

static ssize_t pagemap_read(pid_t pid, void *buf, size_t n, u64 pos)
{
	struct proc_view v;
	ssize_t err = proc_view_open(pid, 0, &v);

	if (err)
		return err;
	if ((n | pos) & 7)
		err = -EINVAL;
	else if (v.mm)
		err = vm_read_pagemap(v.mm, pos, buf, n / 8) * 8;
	proc_view_close(&v);
	return err;
}

static ssize_t auxv_read(pid_t pid, void *buf, size_t n, u64 pos)
{
	struct proc_view v;
	ssize_t err = proc_view_open(pid, 0, &v);
	size_t bytes = 0;

	if (err)
		return err;
	if (v.mm) {
		while (bytes + 16 <= sizeof(v.mm->auxv) && v.mm->auxv[bytes / 8])
			bytes += 16;
		bytes += 16; /* AT_NULL */
		bytes = min(bytes, sizeof(v.mm->auxv));
	}
	err = pos < bytes ? min_t(size_t, n, bytes - pos) : 0;
	if (err)
		memcpy(buf, (char *)v.mm->auxv + pos, err);
	proc_view_close(&v);
	return err;
}

static int limits_show(struct seq *seq, pid_t pid, pid_t tid)
{
	static const struct {
		const char *name, *unit;
	} rows[RLIM_NLIMITS] = {
		[RLIMIT_CPU] = { "Max cpu time", "seconds" },     [RLIMIT_FSIZE] = { "Max file size", "bytes" },
		[RLIMIT_DATA] = { "Max data size", "bytes" },     [RLIMIT_STACK] = { "Max stack size", "bytes" },
		[RLIMIT_CORE] = { "Max core file size", "bytes" }, [RLIMIT_RSS] = { "Max resident set", "bytes" },
		[RLIMIT_NPROC] = { "Max processes", "processes" }, [RLIMIT_NOFILE] = { "Max open files", "files" },
		[RLIMIT_MEMLOCK] = { "Max locked memory", "bytes" }, [RLIMIT_AS] = { "Max address space", "bytes" },
		[RLIMIT_LOCKS] = { "Max file locks", "locks" },   [RLIMIT_SIGPENDING] = { "Max pending signals", "signals" },
		[RLIMIT_MSGQUEUE] = { "Max msgqueue size", "bytes" }, [RLIMIT_NICE] = { "Max nice priority", "" },
		[RLIMIT_RTPRIO] = { "Max realtime priority", "" }, [RLIMIT_RTTIME] = { "Max realtime timeout", "us" },
	};
	struct process *p = proc_get(pid);

	if (!p)
		return -ESRCH;
	seq_printf(seq, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		u64 v[2] = { p->rlim[i].cur, p->rlim[i].max };

		seq_printf(seq, "%-25s ", rows[i].name);
		for (int k = 0; k < 2; k++)
			if (v[k] == RLIM_INFINITY)
				seq_printf(seq, "%-20s ", "unlimited");
			else
				seq_printf(seq, "%-20llu ", (unsigned long long)v[k]);
		seq_printf(seq, "%-10s\n", rows[i].unit);
	}
	proc_put(p);
	return 0;
}

static int io_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct process *p = proc_get(pid);

	if (!p)
		return -ESRCH;
	seq_printf(seq, "rchar: %llu\nwchar: %llu\nsyscr: %llu\nsyscw: %llu\n", (unsigned long long)p->read_chars,
		   (unsigned long long)p->write_chars, (unsigned long long)p->read_calls, (unsigned long long)p->write_calls);
	seq_puts(seq, "read_bytes: 0\nwrite_bytes: 0\ncancelled_write_bytes: 0\n");
	proc_put(p);
	return 0;
}

static int wchan_show(struct seq *seq, pid_t pid, pid_t tid)
{
	seq_puts(seq, "0");
	return procinfo_exists(tid ? tid : pid, tid ? pid : 0) ? 0 : -ESRCH;
}

static int cgroup_show(struct seq *seq, pid_t pid, pid_t tid)
{
	seq_puts(seq, "0::/\n");
	return 0;
}

/* ---- out-of-memory score: share of memory in thousandths, shifted by oom_score_adj ---- */

static int oom_score_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct proc_view v;
	int err = proc_view_open(pid, tid, &v);
	long score = 0;

	if (err)
		return err;
	if (v.mm) {
		long pages = atomic_long_read(&v.mm->rss_anon) + atomic_long_read(&v.mm->rss_shmem) +
			     atomic_long_read(&v.mm->pt_pages);

		score = clamp(pages * 1000 / max_t(long, totalram_pages, 1) + v.proc->oom_score_adj, 0l, 2000l);
	}
	seq_printf(seq, "%ld\n", score);
	proc_view_close(&v);
	return 0;
}

static int oom_score_adj_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct process *p = proc_get(pid);

	seq_printf(seq, "%d\n", p ? p->oom_score_adj : 0);
	if (p)
		proc_put(p);
	return 0;
}

static int oom_adj_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct process *p = proc_get(pid);
	int adj = p ? p->oom_score_adj : 0;

	seq_printf(seq, "%d\n", adj == 1000 ? 15 : adj * 17 / 1000);
	if (p)
		proc_put(p);
	return 0;
}

static ssize_t store_oom(const char *text, size_t n, pid_t pid, long lo, long hi, long scale_num, long scale_den)
{
	struct process *p;
	s64 value;

	if (parse_s64(text, &value) || value < lo || value > hi)
		return -EINVAL;
	p = proc_get(pid);
	if (!p)
		return -ESRCH;
	p->oom_score_adj = value * scale_num / scale_den;
	proc_put(p);
	return n;
}

static ssize_t oom_score_adj_store(const char *text, size_t n, pid_t pid, pid_t tid)
{
	return store_oom(text, n, pid, -1000, 1000, 1, 1);
}

static ssize_t oom_adj_store(const char *text, size_t n, pid_t pid, pid_t tid)
{
	return store_oom(text, n, pid, -17, 15, 1000, 17);
}

static const struct proc_file proc_files[] = {
	{ .name = "stat", .mode = 0444, .show = proc_stat_show },
	{ .name = "statm", .mode = 0444, .show = proc_statm_show },
	{ .name = "status", .mode = 0444, .show = proc_status_show },
	{ .name = "cmdline", .mode = 0444, .show = cmdline_show },
	{ .name = "comm", .mode = 0644, .show = comm_show, .store = comm_store },
	{ .name = "environ", .mode = 0400, .show = environ_show },
	{ .name = "auxv", .mode = 0400, .read = auxv_read },
	{ .name = "maps", .mode = 0444, .show = maps_show },
	{ .name = "smaps", .mode = 0444, .show = smaps_show },
	{ .name = "smaps_rollup", .mode = 0444, .show = smaps_rollup_show },
	{ .name = "numa_maps", .mode = 0444, .show = numa_maps_show },
	{ .name = "pagemap", .mode = 0400, .read = pagemap_read },
	{ .name = "limits", .mode = 0444, .show = limits_show },
	{ .name = "io", .mode = 0400, .show = io_show },
	{ .name = "wchan", .mode = 0444, .show = wchan_show },
	{ .name = "cgroup", .mode = 0444, .show = cgroup_show },
	{ .name = "oom_score", .mode = 0444, .show = oom_score_show },
	{ .name = "oom_score_adj", .mode = 0644, .show = oom_score_adj_show, .store = oom_score_adj_store },
	{ .name = "oom_adj", .mode = 0644, .show = oom_adj_show, .store = oom_adj_store },
};

static const struct proc_ops procinfo_ops = {
	.next = procinfo_next,
	.exists = procinfo_exists,
	.files = proc_files,
	.nr_files = ARRAY_SIZE(proc_files),
	.self = procinfo_self,
	.self_tid = procinfo_self_tid,
	.link = procinfo_link,
	.link_text = procinfo_link_text,
	.next_fd = procinfo_next_fd,
	.owner = procinfo_owner,
	.fd_file = open_file_of,
};

void procinfo_init(void)
{
	proc_ops = &procinfo_ops;
}
