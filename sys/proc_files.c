// SPDX-License-Identifier: BSD-2-Clause
/*
 * proc_files.c - the files of /proc/PID: command line, memory maps, limits, out-of-memory scores;
 * the table procfs shows. Each opens a proc_view, prints from it, and lets go. Formats are Linux's
 * (proc(5)).
 */
#include "lib/parse.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "sys/proc_view.h"

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
static int show_user_range(struct seq *seq, struct aspace *mm, unsigned long start,
			   unsigned long end)
{
	char *buf = kmalloc(PAGE_SIZE, GFP_KERNEL);
	size_t total = end > start ? min_t(size_t, end - start, 65536) : 0;

	if (!buf)
		return -ENOMEM;
	for (size_t done = 0; done < total;) {
		size_t want = min_t(size_t, total - done, PAGE_SIZE),
		       got = vm_access(mm, start + done, buf, want, 0);

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
static int with_mm(struct seq *seq, pid_t pid, pid_t tid,
		   int (*show)(struct seq *, struct aspace *))
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
	struct mempolicy *policy;
	struct proc_view v;
	int err = proc_view_open(pid, tid, &v);

	if (err)
		return err;
	if (v.mm) {
		policy = v.thread ? mempolicy_of(v.thread) : NULL;
		err = vm_show_numa_maps(seq, v.mm, policy);
		mempolicy_put(policy);
	}
	proc_view_close(&v);
	return err;
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
		[RLIMIT_CPU] = { "Max cpu time", "seconds" },
		[RLIMIT_FSIZE] = { "Max file size", "bytes" },
		[RLIMIT_DATA] = { "Max data size", "bytes" },
		[RLIMIT_STACK] = { "Max stack size", "bytes" },
		[RLIMIT_CORE] = { "Max core file size", "bytes" },
		[RLIMIT_RSS] = { "Max resident set", "bytes" },
		[RLIMIT_NPROC] = { "Max processes", "processes" },
		[RLIMIT_NOFILE] = { "Max open files", "files" },
		[RLIMIT_MEMLOCK] = { "Max locked memory", "bytes" },
		[RLIMIT_AS] = { "Max address space", "bytes" },
		[RLIMIT_LOCKS] = { "Max file locks", "locks" },
		[RLIMIT_SIGPENDING] = { "Max pending signals", "signals" },
		[RLIMIT_MSGQUEUE] = { "Max msgqueue size", "bytes" },
		[RLIMIT_NICE] = { "Max nice priority", "" },
		[RLIMIT_RTPRIO] = { "Max realtime priority", "" },
		[RLIMIT_RTTIME] = { "Max realtime timeout", "us" },
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
		if (rows[i].unit[0])
			seq_printf(seq, "%-10s", rows[i].unit);
		seq_putc(seq, '\n');
	}
	proc_put(p);
	return 0;
}

static int io_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct process *p = proc_get(pid);
	struct process_times times;

	if (!p)
		return -ESRCH;
	proc_times(p, &times);
	seq_printf(seq, "rchar: %llu\nwchar: %llu\nsyscr: %llu\nsyscw: %llu\n",
		   (unsigned long long)p->read_chars, (unsigned long long)p->write_chars,
		   (unsigned long long)p->read_calls, (unsigned long long)p->write_calls);
	seq_printf(seq, "read_bytes: %llu\nwrite_bytes: %llu\ncancelled_write_bytes: 0\n",
		   (unsigned long long)times.read_bytes, (unsigned long long)times.write_bytes);
	proc_put(p);
	return 0;
}

static int wchan_show(struct seq *seq, pid_t pid, pid_t tid)
{
	struct proc_view v;
	int err = proc_view_open(pid, tid, &v);

	if (!err) {
		seq_puts(seq, "0");
		proc_view_close(&v);
	}
	return err;
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
		long pages = atomic_long_read(&v.mm->rss_anon) +
			     atomic_long_read(&v.mm->rss_shmem) + atomic_long_read(&v.mm->pt_pages);

		score = clamp(pages * 1000 / max_t(long, totalram_pages, 1) + v.proc->oom_score_adj,
			      0l, 2000l);
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

static ssize_t store_oom(const char *text, size_t n, pid_t pid, long lo, long hi, long scale_num,
			 long scale_den)
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

const struct proc_file proc_files[] = {
	{ .name = "stat", .mode = 0444, .show = proc_stat_show },
	{ .name = "statm", .mode = 0444, .show = proc_statm_show },
	{ .name = "status", .mode = 0444, .show = proc_status_show },
	{ .name = "schedstat", .mode = 0444, .show = proc_schedstat_show },
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
	{ .name = "oom_score_adj",
	  .mode = 0644,
	  .show = oom_score_adj_show,
	  .store = oom_score_adj_store },
	{ .name = "oom_adj", .mode = 0644, .show = oom_adj_show, .store = oom_adj_store },
};
