// SPDX-License-Identifier: BSD-2-Clause
/*
 * procinfo.c - processes as procfs sees them: who exists, the files of each, and the magic links.
 *
 * Problem: a reader of /proc/PID looks at a process that may be dying. Idea: every file opens a
 * proc_view, which holds references on the process, one thread and the address space, prints from
 * it, and lets go; nothing is cached between reads. Kernel threads appear too, with no process
 * behind them.
 */
#include "kernel/rcu.h"
#include "lib/err.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
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
		return v->proc ? 'D'
			       /* a kernel thread without work is idle, not waiting for a disk */
			       : 'I';
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

static const struct proc_ops procinfo_ops = {
	.next = procinfo_next,
	.exists = procinfo_exists,
	.files = proc_files,
	.nr_files = PROC_FILES,
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
