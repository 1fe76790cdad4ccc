// SPDX-License-Identifier: BSD-2-Clause
/*
 * exec.c - execve: a new program in the same process.
 *
 * Two halves. Up to the point of no return everything is checked and prepared beside the running
 * program (file opened, #! lines followed, ELF headers of program and interpreter verified, strings
 * copied, a new address space made) and any error is just returned. Then the other threads are
 * ended, the old address space is left, and the new one is filled; an error there (no memory for
 * the mappings) can only kill the process.
 */
#include "sys/exec.h"
#include "arch/cpu.h"
#include "kernel/printk.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/syscall.h"
#include "sys/timers.h"

static void say_bad(const struct exec *x, const char *what, int err)
{
	static u64 next_ns; /* ten lines a second at most */
	u64 now = ktime_get();

	if (now < next_ns)
		return;
	next_ns = now + NSEC_PER_SEC / 10;
	pr_debug("exec: %s: %s (error %d)", x->path, what, -err);
}

/* => the file, checked to be an executable regular file, or ERR_PTR */
static struct file *open_exec(const struct path *base, const char *name)
{
	struct file *f = vfs_open(base, name, O_RDONLY, 0);
	int err = 0;

	if (IS_ERR(f))
		return f;
	if (!S_ISREG(f->inode->mode) || (f->path.mnt && (f->path.mnt->flags & MS_NOEXEC)))
		err = -EACCES;
	else
		err = inode_permission(f->inode, MAY_EXEC, NULL);
	if (!err && !(f->inode->mode & 0111))
		err = -EACCES;
	if (!err)
		err = file_deny_write(f);
	if (!err)
		return f;
	file_put(f);
	return ERR_PTR(err);
}

static void close_exec(struct file *f)
{
	if (IS_ERR_OR_NULL(f))
		return;
	file_put(f);
}

static int read_head(struct exec *x)
{
	ssize_t n = vfs_read_kernel(x->file, x->head, EXEC_HEAD_BYTES, 0);

	if (n < 0)
		return n;
	memset(x->head + n, 0, EXEC_HEAD_BYTES - n);
	return n;
}

/* "#! /bin/sh -x": the next file and what replaces argv[0]. Strings are kmalloc'd into prefix[]. */
static int follow_script(struct exec *x)
{
	char *line = (char *)x->head + 2, *end = memchr(line, '\n', EXEC_HEAD_BYTES - 2), *name,
	     *arg;
	char *script, *copy;
	bool whole;

	if (x->depth++ >= EXEC_SCRIPT_DEPTH)
		return -ELOOP;
	whole = end != NULL;
	if (!end)
		end = line + strnlen(line, EXEC_HEAD_BYTES - 3);
	*end = 0;
	line = strstrip(line);
	if (!*line)
		return whole ? -ENOEXEC : -EACCES;
	name = line;
	arg = name + strcspn(name, " \t");
	if (*arg) {
		*arg++ = 0;
		arg += strspn(arg, " \t");
	}
	if (x->nr_prefix == 0) { /* the script's own name; deeper levels find it there already */
		script = kstrdup(x->path, GFP_KERNEL);
		if (!script)
			return -ENOMEM;
		x->prefix[x->nr_prefix++] = script;
	}
	if (*arg) {
		copy = kstrdup(arg, GFP_KERNEL);
		if (!copy)
			return -ENOMEM;
		x->prefix[x->nr_prefix++] = copy;
	}
	copy = kstrdup(name, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	x->prefix[x->nr_prefix++] = copy;
	close_exec(x->file);
	x->file = open_exec(NULL, copy);
	return IS_ERR(x->file) ? PTR_ERR(x->file) : 0;
}

static int load_interpreter(struct exec *x)
{
	struct exec_elf *in = &x->interp;
	u8 head[EXEC_HEAD_BYTES];
	ssize_t n;
	int err;

	if (!x->main.image.interp_size)
		return 0;
	err = elf_interp_path(&x->main, x->interp_path[0], sizeof(x->interp_path[0]));
	if (err)
		return err;
	in->file = open_exec(NULL, x->interp_path[0]);
	if (IS_ERR(in->file)) {
		err = PTR_ERR(in->file);
		in->file = NULL;
		return err;
	}
	n = vfs_read_kernel(in->file, head, sizeof(head), 0);
	if (n < 0)
		return n;
	err = elf_read(in->file, head, n, &in->image);
	if (err)
		return err == -ENOEXEC ? -ELIBBAD : err;
	return in->image.interp_size ? -ELIBBAD : 0;
}

/* Everything that can be refused. */
static int prepare(struct exec *x)
{
	int n, err;

	for (;;) {
		n = read_head(x);
		if (n < 0)
			return n;
		if (n < 2 || x->head[0] != '#' || x->head[1] != '!')
			break;
		err = follow_script(x);
		if (err)
			return err;
	}
	x->main.file = x->file;
	err = elf_read(x->file, x->head, n, &x->main.image);
	if (err) {
		say_bad(x, "not a program this kernel can run", err);
		return err;
	}
	err = load_interpreter(x);
	if (err) {
		say_bad(x, "its interpreter cannot be used", err);
		return err;
	}
	return exec_strings_collect(x);
}

static void new_ids(struct exec *x)
{
	struct inode *inode = x->file->inode;
	struct cred *c = &current_proc->cred;
	bool nosuid = current_proc->no_new_privs ||
		      (x->file->path.mnt && (x->file->path.mnt->flags & MS_NOSUID));

	x->euid = c->euid;
	x->egid = c->egid;
	if (!nosuid && (inode->mode & S_ISUID))
		x->euid = inode->uid;
	if (!nosuid && (inode->mode & (S_ISGID | 0010)) == (S_ISGID | 0010))
		x->egid = inode->gid;
	x->secure = x->euid != c->uid || x->egid != c->gid;
}

/* ---- alone in the process ---- */

/*
 * A thread that is not the leader takes over its number: to the outside the process stays what it
 * was.
 */
static void become_leader(struct task *me)
{
	struct process *p = me->proc;
	pid_t old = current->tid;

	if (p->leader == me)
		return;
	spin_lock(&proc_tree_lock);
	task_unpublish_locked(me);
	current->tid = p->pid;
	task_publish_locked(me);
	p->leader = me;
	spin_unlock(&proc_tree_lock);
	tid_free(old);
}

static int end_other_threads(struct task *me)
{
	struct process *p = me->proc;
	struct task *t;

	proc_lock(p);
	if ((p->flags & PF_GROUP_EXIT) || p->exec_task) {
		proc_unlock(p);
		return -EAGAIN; /* the signal on its way ends us */
	}
	if (p->nr_threads > 1) {
		p->exec_task = me;
		list_for_each_entry(t, &p->threads, thread_node)
			if (t != me) {
				t->pending.set |= sigmask(SIGKILL);
				t->stopped = false;
				signal_wake(t, true);
			}
	}
	proc_unlock(p);
	for (;;) {
		thread_set_state(THREAD_UNINTERRUPTIBLE);
		if (READ_ONCE(p->nr_threads) == 1)
			break;
		schedule();
	}
	thread_set_state(THREAD_RUNNING);
	proc_lock(p); /* the last one may still be about to wake us */
	p->exec_task = NULL;
	proc_unlock(p);
	become_leader(me);
	return 0;
}

static void enter_aspace(struct task *me, struct aspace *mm)
{
	struct process *p = me->proc;
	struct aspace *old = current->mm;

	if (old)
		task_mm_release(me);
	sched_use_mm(mm);
	proc_lock(p); /* whoever saw the old one under this lock has its own reference */
	proc_unlock(p);
	if (old) {
		p->dead_threads.maxrss = max(p->dead_threads.maxrss, mm_maxrss(old));
		aspace_put(old);
	}
}

static void set_comm(const char *path)
{
	const char *base = strrchr(path, '/');

	strlcpy(current->comm, base ? base + 1 : path, sizeof(current->comm));
}

static void image_limits(struct aspace *mm, const struct exec_elf *main)
{
	unsigned long end = 0;

	for (u32 i = 0; i < main->image.nr_segments; i++) {
		const struct elf_segment *s = &main->image.segments[i];
		unsigned long from = s->vaddr + main->bias;

		if ((s->flags & PF_X) && !mm->end_code) {
			mm->start_code = from;
			mm->end_code = from + s->filesz;
		}
		if (s->flags & PF_W) {
			mm->start_data = from;
			mm->end_data = from + s->filesz;
		}
		end = max(end, from + s->memsz);
	}
	mm->brk_start = mm->brk = ALIGN_UP(end, PAGE_SIZE);
}

static int fill_aspace(struct exec *x, struct aspace *mm, unsigned long *sp)
{
	const struct rlimit *rlim = current_proc->rlim;
	int err;

	mm->rlimit_as = rlim[RLIMIT_AS].cur;
	mm->rlimit_data = rlim[RLIMIT_DATA].cur;
	mm->rlimit_stack = rlim[RLIMIT_STACK].cur;
	mm->rlimit_memlock = current_proc->cred.euid ? rlim[RLIMIT_MEMLOCK].cur : RLIM_INFINITY;
	err = vm_setup_stack(mm, STACK_TOP);
	if (err)
		return err;
	err = elf_map(&x->main, false);
	if (err)
		return err;
	image_limits(mm, &x->main);
	if (x->interp.file) {
		err = elf_map(&x->interp, true);
		if (err)
			return err;
	}
	return exec_build_stack(x, sp);
}

static void start_regs(const struct exec *x, unsigned long sp)
{
	struct pt_regs *regs = arch_user_regs(&current->arch);
	const struct exec_elf *first = x->interp.file ? &x->interp : &x->main;

	memset(regs, 0, sizeof(*regs));
	regs->rip = first->image.entry + first->bias;
	regs->rsp = sp;
	regs->rflags = 0x202;
	regs->cs = USER_CS;
	regs->ss = USER_DS;
	regs->orig_rax = -1;
	__atomic_fetch_or(&current->arch.user_work, USER_WORK_FULL_REGS, __ATOMIC_RELAXED);
	preempt_disable();
	arch_fpu_init(&current->arch);
	arch_fpu_restore(&current->arch);
	preempt_enable();
	arch_set_fs_base(&current->arch, 0);
	arch_set_gs_base(&current->arch, 0);
}

/* What the new program does not inherit. */
static int reset_process(struct exec *x)
{
	struct task *me = current_task();
	struct process *p = me->proc;
	int err = signal_exec_reset(p);

	if (err)
		return err;
	p->cred.euid = p->cred.suid = p->cred.fsuid = x->euid;
	p->cred.egid = p->cred.sgid = p->cred.fsgid = x->egid;
	p->keepcaps = false;
	p->dumpable = !x->secure;
	me->sas_sp = me->sas_size = 0;
	me->sas_flags = 2; /* SS_DISABLE */
	me->robust_list = 0;
	me->pdeath_signal = x->secure ? 0 : me->pdeath_signal;
	timers_exec(p);
	spin_lock(&proc_tree_lock);
	p->flags |= PF_EXECED;
	p->exit_signal = SIGCHLD;
	spin_unlock(&proc_tree_lock);
	files_close_on_exec(me->files);
	set_comm(x->path);
	return 0;
}

/* => 0 or an error while the old program can still be told; later errors kill */
static int commit(struct exec *x)
{
	struct aspace *mm = aspace_create();
	unsigned long sp = 0;
	int err;

	if (IS_ERR_OR_NULL(mm))
		return -ENOMEM;
	new_ids(x);
	err = files_unshare();
	if (!err)
		err = end_other_threads(current_task());
	if (err) {
		aspace_put(mm);
		return err;
	}
	enter_aspace(current_task(), mm);
	file_get(x->file);
	mm->exe_file = x->file;
	err = reset_process(x);
	if (!err)
		err = fill_aspace(x, mm, &sp);
	if (err) {
		pr_info("exec: %s: no way back after error %d, killed", x->path, -err);
		signal_force(SIGKILL, SI_KERNEL, 0);
		return err;
	}
	start_regs(x, sp);
	return 0;
}

/* file NULL: open path (relative to base). Takes file over. */
static int do_exec(struct file *file, const struct path *base, const char *path,
		   struct exec_source argv, struct exec_source envp)
{
	struct exec *x = kzalloc(sizeof(*x), GFP_KERNEL);
	int err;

	if (!x) {
		close_exec(file);
		return -ENOMEM;
	}
	x->path = path;
	x->argv = argv;
	x->envp = envp;
	x->file = file ? file : open_exec(base, path);
	if (IS_ERR(x->file)) {
		err = PTR_ERR(x->file);
	} else {
		err = prepare(x);
		if (!err)
			err = commit(x);
	}
	exec_strings_free(&x->strings);
	for (int i = 0; i < x->nr_prefix; i++)
		kfree(x->prefix[i]);
	close_exec(x->file);
	close_exec(x->interp.file);
	kfree(x);
	return err;
}

int exec_kernel(const char *path, const char *const *argv, const char *const *envp)
{
	return do_exec(NULL, NULL, path, (struct exec_source){ .kernel = argv },
		       (struct exec_source){ .kernel = envp });
}

/*
 * A successful exec "returns" 0 in the new program's rax through the frame: hand back what the
 * frame says.
 */
SYSCALL(execve)
{
	char *path = path_arg(a0);
	int err;

	if (IS_ERR(path))
		return PTR_ERR(path);
	err = do_exec(NULL, NULL, path, (struct exec_source){ .user = a1 },
		      (struct exec_source){ .user = a2 });
	path_arg_put(path);
	return err;
}

static long exec_open_file(struct file *f, u64 argv, u64 envp)
{
	char name[32];
	struct file *own;
	int err = -EACCES;

	if (!S_ISREG(f->inode->mode))
		return -EACCES;
	err = inode_permission(f->inode, MAY_EXEC, NULL);
	if (err)
		return err;
	path_get(&f->path);
	own = vfs_open_path(&f->path, O_RDONLY);
	if (IS_ERR(own))
		return PTR_ERR(own);
	err = file_deny_write(own);
	if (err) {
		file_put(own);
		return err;
	}
	strlcpy(name, "/proc/self/fd/exec", sizeof(name));
	return do_exec(own, NULL, name, (struct exec_source){ .user = argv },
		       (struct exec_source){ .user = envp });
}

SYSCALL(execveat)
{
	int dirfd = (int)a0;
	struct fd dir = { NULL, false };
	char *path;
	long ret;

	if ((int)a4 & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return -EINVAL;
	path = path_arg_empty(a1);
	if (IS_ERR(path))
		return PTR_ERR(path);
	if (dirfd != AT_FDCWD && path[0] != '/') {
		dir = fd_get(dirfd);
		if (!dir.file) {
			path_arg_put(path);
			return -EBADF;
		}
	}
	if (path[0])
		ret = do_exec(NULL, dir.file ? &dir.file->path : NULL, path,
			      (struct exec_source){ .user = a2 },
			      (struct exec_source){ .user = a3 });
	else
		ret = (a4 & AT_EMPTY_PATH) && dir.file ? exec_open_file(dir.file, a2, a3) : -ENOENT;
	if (dir.file)
		fd_put(dir);
	path_arg_put(path);
	return ret;
}
