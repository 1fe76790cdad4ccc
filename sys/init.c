// SPDX-License-Identifier: BSD-2-Clause
/*
 * init.c - wiring of this room into the boot order, and the first process.
 *
 * PID 1 is made by hand: a task whose first way to user mode runs first_steps() instead
 * (task->first_run), in its own
 * context: it opens the console three times and execs. Candidates in order: init= (or /init),
 * /sbin/init, /bin/init,
 * /bin/sh. When none works the machine stops and says what was tried.
 */
#include "sys/init.h"
#include "arch/bootinfo.h"
#include "arch/init.h"
#include "arch/trap.h"
#include "fs/loop.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "lib/err.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/reclaim.h"
#include "mm/vm/thp.h"
#include "sys/boot_times.h"
#include "sys/files.h"
#include "sys/futex.h"
#include "sys/pipe.h"
#include "sys/process.h"
#include "sys/procinfo.h"
#include "sys/signal.h"
#include "sys/special.h"
#include "sys/tty.h"

static char init_path[128];
BOOT_PARAM_STRING("init", init_path, "the first program (default /init)");

/* ---- hooks of lower floors ---- */

static struct fs_context *fs_of_current(void)
{
	return current->proc && current_task()->fs ? current_task()->fs : &kernel_fs;
}

static void cred_of_current(struct fs_cred *out, int real)
{
	const struct process *p = current->proc;

	if (!p || current_task()->as_kernel) {
		*out = (struct fs_cred){ 0 };
		return;
	}
	out->uid = real ? p->cred.uid : p->cred.fsuid;
	out->gid = real ? p->cred.gid : p->cred.fsgid;
	out->nr_groups = p->cred.nr_groups;
	out->groups = p->cred.groups;
}

static u64 fsize_limit_of_current(void)
{
	return current_proc ? current_proc->rlim[RLIMIT_FSIZE].cur : RLIM_INFINITY;
}

static void fsize_exceeded_by_current(void)
{
	if (current_proc)
		signal_send_task(current_task(), SIGXFSZ,
				 &(struct ksiginfo){ .code = SI_USER,
						     .pid = current->tgid,
						     .uid = current_proc->cred.uid });
}

void sys_init(void)
{
	process_init();
	signal_init();
	files_init();
	pipe_init();
	futex_init();
	special_init();
	current_fs = fs_of_current;
	current_fs_cred = cred_of_current;
	current_fsize_limit = fsize_limit_of_current;
	fsize_exceeded = fsize_exceeded_by_current;
	current_fd_file = fd_get_file;
	trap_ops = &sys_trap_ops;
	procinfo_init();
	oom_hooks_init();
	reclaim_init();
	thp_init();
}

/* ---- the initramfs ---- */

static void unpack_initramfs(void)
{
	for (u32 i = 0; i < boot_info.nr_modules; i++) {
		const struct boot_module *m = &boot_info.modules[i];
		int err = initramfs_unpack(__va(m->start), m->end - m->start);

		if (err)
			pr_err("init: initramfs %s (%llu bytes) not usable: error %d",
			       m->name[0] ? m->name : "without a name",
			       (unsigned long long)(m->end - m->start), -err);
		free_reserved_range(ALIGN_DOWN(m->start, PAGE_SIZE), ALIGN_UP(m->end, PAGE_SIZE),
				    "initramfs");
	}
	if (!boot_info.nr_modules)
		pr_err("init: the loader gave no initramfs");
}

void sys_start(void)
{
	tty_init();
	unpack_initramfs();
	arch_free_init(free_reserved_range);
}

/* ---- PID 1 ---- */

static void open_console(void)
{
	for (int i = 0; i < 3; i++) {
		struct file *f = vfs_open(NULL, "/dev/console", i ? O_RDWR : O_RDWR, 0);

		if (IS_ERR(f)) {
			pr_warn("init: no /dev/console (error %d): the first program has no files "
				"open",
				-(int)PTR_ERR(f));
			return;
		}
		fd_new(f, false);
	}
}

static void first_steps(struct task *task, struct pt_regs *regs)
{
	const char *candidates[] = { init_path[0] ? init_path : "/init", "/sbin/init", "/bin/init",
				     "/bin/sh" };
	static const char *const envp[] = { "HOME=/", "TERM=linux",
					    "PATH=/bin:/sbin:/usr/bin:/usr/sbin", NULL };
	char tried[300] = "";
	size_t n = 0;

	open_console();
	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		const char *argv[] = { candidates[i], NULL };
		int err = exec_kernel(candidates[i], argv, envp);

		if (!err) {
			pr_info("init: %s is PID 1", candidates[i]);
			boot_mark("first program");
			return;
		}
		n += scnprintf(tried + n, sizeof(tried) - n, "%s%s (error %d)", n ? ", " : "",
			       candidates[i], -err);
	}
	panic("no first program: tried %s", tried);
}

static void default_limits(struct process *p)
{
	for (int i = 0; i < RLIM_NLIMITS; i++)
		p->rlim[i] = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	p->rlim[RLIMIT_STACK].cur = 8ul << 20;
	p->rlim[RLIMIT_CORE].cur = 0;
	p->rlim[RLIMIT_NOFILE] = (struct rlimit){ 1024, 4096 };
	p->rlim[RLIMIT_MEMLOCK] = (struct rlimit){ 8ul << 20, 8ul << 20 };
	p->rlim[RLIMIT_MSGQUEUE] = (struct rlimit){ 819200, 819200 };
	p->rlim[RLIMIT_NICE] = p->rlim[RLIMIT_RTPRIO] = (struct rlimit){ 0, 0 };
	p->rlim[RLIMIT_SIGPENDING].cur = p->rlim[RLIMIT_SIGPENDING].max =
		clamp(totalram_pages / 32, 1024ul, 65536ul);
	p->rlim[RLIMIT_NPROC].cur = p->rlim[RLIMIT_NPROC].max =
		clamp(totalram_pages / 32, 1024ul, 32000ul);
}

static struct process *first_process(void)
{
	struct process *p = process_alloc();

	if (!p)
		return NULL;
	p->pid = p->pgid = p->sid = 1;
	p->flags = PF_LEADER | PF_SESSION_LEADER | PF_UNKILLABLE;
	p->exit_signal = SIGCHLD;
	p->actions = &initial_actions;
	atomic_inc(&initial_actions.refs);
	p->dumpable = true;
	p->start_ns = ktime_get();
	default_limits(p);
	return p;
}

void init_run(void)
{
	struct process *p = first_process();
	struct task *task = task_alloc(-1);
	struct pt_regs regs = { .cs = USER_CS, .ss = USER_DS, .rflags = 0x202, .orig_rax = -1 };

	if (!p || !task)
		panic("no memory for the first process");
	thread_init(&task->thread, current, "init", task->thread.stack);
	arch_thread_init_user(&task->thread.arch, (char *)task->thread.stack + KSTACK_BYTES, &regs);
	arch_fpu_init(&task->thread.arch);
	task->thread.arch.user = true;
	task->thread.arch.user_work = USER_WORK_SIGNAL;
	task->thread.memcg = current->memcg;
	task->first_run = first_steps;
	task->files = files_new();
	task->fs = fs_copy(&kernel_fs);
	if (!task->files || !task->fs)
		panic("no memory for the first process");
	task->timer_slack_ns = 50000;
	task->sas_flags = 2;
	task->thread.tid = task->thread.tgid = 1;
	task->proc = task->thread.proc = p;
	atomic_inc(&p->refs);
	init_process = p;
	if (task_launch(task, p, false))
		panic("the first process cannot start");
	thread_start(&task->thread);
}
