// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_sys.c - what of sys/ can be tried without a program: process tables, groups, siginfo layout,
 * pipes without bytes, the line discipline against a terminal that only remembers. What programs
 * see is compared with Linux by user/syscheck.c.
 */
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "sys/pipe.h"
#include "sys/process.h"
#include "sys/syscall.h"
#include "sys/tty.h"
#include "tests/kernel/ktest.h"

KTEST(sys, syscall_table)
{
	KT_ASSERT(syscall_table[39] == sys_getpid);
	KT_ASSERT(syscall_table[0] == sys_read);
	KT_ASSERT(syscall_table[231] == sys_exit_group);
	KT_ASSERT(!syscall_table[134]); /* uselib: nobody answers */
	KT_ASSERT(!syscall_table[334]); /* rseq: must be ENOSYS until it is real */
}

/* ---- tables ---- */

static struct process *make(pid_t pgid, pid_t sid)
{
	struct process *p = process_alloc();

	if (!p)
		return NULL;
	p->pid = tid_alloc();
	p->pgid = pgid ? pgid : p->pid;
	p->sid = sid ? sid : p->pid;
	if (p->pgid == p->pid)
		p->flags |= PF_LEADER;
	spin_lock(&proc_tree_lock);
	process_publish_locked(p);
	spin_unlock(&proc_tree_lock);
	return p;
}

static void unmake(struct process *p)
{
	spin_lock(&proc_tree_lock);
	process_unpublish_locked(p);
	spin_unlock(&proc_tree_lock);
}

KTEST(sys, process_table)
{
	u32 before = proc_count();
	struct process *a = make(0, 0), *b, *found;
	pid_t pid;

	KT_ASSERT(a != NULL);
	pid = a->pid;
	b = make(pid, pid);
	KT_ASSERT(b != NULL);
	KT_EQ(proc_count(), before + 2);
	found = proc_get(pid);
	KT_ASSERT(found == a);
	proc_put(found);
	KT_ASSERT(!proc_get(4000000));
	found = proc_next(pid);
	KT_ASSERT(found == a);
	proc_put(found);
	spin_lock(&proc_tree_lock);
	bool own = pgrp_exists_locked(pid, pid), foreign = pgrp_exists_locked(pid, pid + 100000);
	spin_unlock(&proc_tree_lock);
	KT_ASSERT(own && !foreign);
	unmake(a);
	KT_ASSERT(!proc_get(pid));
	unmake(b); /* the last one with a's number: now it is free */
	spin_lock(&proc_tree_lock);
	own = pgrp_exists_locked(pid, 0);
	spin_unlock(&proc_tree_lock);
	KT_ASSERT(!own);
	KT_EQ(proc_count(), before);
}

KTEST(sys, orphaned_groups)
{
	struct process *shell = make(0, 0), *job, *child;
	bool orphaned;

	KT_ASSERT(shell != NULL);
	job = make(0, shell->sid);
	KT_ASSERT(job != NULL);
	child = make(job->pid, shell->sid);
	KT_ASSERT(child != NULL);
	job->parent = shell;
	child->parent = job;
	spin_lock(&proc_tree_lock);
	orphaned = pgrp_orphaned_locked(job->pgid, NULL);
	spin_unlock(&proc_tree_lock);
	KT_ASSERT(!orphaned); /* the shell can continue it */
	spin_lock(&proc_tree_lock);
	orphaned = pgrp_orphaned_locked(job->pgid, job);
	spin_unlock(&proc_tree_lock);
	KT_ASSERT(orphaned); /* without the job's first process nobody can */
	unmake(child);
	unmake(job);
	unmake(shell);
}

/* ---- signals ---- */

KTEST(sys, siginfo_layout)
{
	s32 w[32];
	u64 *q = (u64 *)w;

	signal_copy_info(w, &(struct ksiginfo){ .signo = SIGCHLD,
						.code = CLD_KILLED,
						.pid = 7,
						.uid = 8,
						.status = 9,
						.utime = 10,
						.stime = 11 });
	KT_EQ(w[0], SIGCHLD);
	KT_EQ(w[2], CLD_KILLED);
	KT_EQ(w[4], 7);
	KT_EQ(w[5], 8);
	KT_EQ(w[6], 9);
	KT_EQ(q[4], 10);
	KT_EQ(q[5], 11);
	signal_copy_info(
		w, &(struct ksiginfo){ .signo = SIGSEGV, .code = SEGV_MAPERR, .value = 0x1234 });
	KT_EQ(q[2], 0x1234);
	signal_copy_info(w,
			 &(struct ksiginfo){
				 .signo = 40, .code = SI_QUEUE, .pid = 5, .uid = 6, .value = 77 });
	KT_EQ(w[4], 5);
	KT_EQ(q[3], 77);
}

/* ---- pipes ---- */

KTEST(sys, pipe_ends)
{
	struct file *ends[2];

	KT_EQ(pipe_files(ends, O_NONBLOCK), 0);
	KT_ASSERT(ends[0]->inode == ends[1]->inode);
	KT_EQ(ends[0]->ops->poll(ends[0], NULL), 0);
	KT_EQ(ends[1]->ops->poll(ends[1], NULL), POLLOUT | POLLWRNORM);
	KT_EQ(pipe_fcntl(ends[0], 1032, 0), 65536);
	KT_EQ(pipe_fcntl(ends[0], 1031, 5000), 8192);
	KT_EQ(pipe_fcntl(ends[0], 1031, 1ul << 40), -EPERM);
	file_put(ends[1]);
	KT_EQ(ends[0]->ops->poll(ends[0], NULL), POLLHUP);
	file_put(ends[0]);
	KT_EQ(pipe_files(ends, 0), 0);
	file_put(ends[0]);
	KT_EQ(ends[1]->ops->poll(ends[1], NULL), POLLOUT | POLLWRNORM | POLLERR);
	file_put(ends[1]);
}

/* ---- line discipline ---- */

static char shown[256];
static size_t nr_shown;

static size_t remember(unsigned int line, const u8 *p, size_t n)
{
	n = min(n, sizeof(shown) - 1 - nr_shown);
	memcpy(shown + nr_shown, p, n);
	nr_shown += n;
	shown[nr_shown] = 0;
	return n;
}

static size_t much_room(unsigned int line)
{
	return sizeof(shown) - 1 - nr_shown;
}

static size_t nothing(unsigned int line)
{
	return 0;
}

static void forget(unsigned int line) {}

static const struct tty_driver paper = {
	.name = "paper",
	.write = remember,
	.write_room = much_room,
	.pending = nothing,
	.flush = forget,
};

static void type_in(struct tty *tty, const char *s)
{
	nr_shown = 0;
	shown[0] = 0;
	mutex_lock(&tty->lock);
	ldisc_receive(tty, (const u8 *)s, strlen(s));
	mutex_unlock(&tty->lock);
}

static struct tty *new_terminal(void)
{
	struct tty *tty = kzalloc(sizeof(*tty), GFP_KERNEL);

	if (!tty)
		return NULL;
	tty_setup(tty);
	tty->driver = &paper;
	return tty;
}

KTEST(sys, line_editing)
{
	struct tty *tty = new_terminal();

	KT_ASSERT(tty != NULL);
	type_in(tty, "ab");
	KT_ASSERT(!ldisc_ready(tty));
	KT_ASSERT(!strcmp(shown, "ab"));
	type_in(tty, "d\177c\r");
	KT_ASSERT(!strcmp(shown, "d\b \bc\r\n"));
	KT_ASSERT(ldisc_ready(tty));
	KT_EQ(ldisc_bytes(tty), 4); /* abc and the newline */
	ldisc_flush_input(tty);
	type_in(tty, "one two\027x\n");
	KT_EQ(ldisc_bytes(tty), 6); /* "one x\n" */
	ldisc_flush_input(tty);
	type_in(tty, "gone\025");
	KT_ASSERT(!strcmp(shown, "gone\b \b\b \b\b \b\b \b"));
	type_in(tty, "\004");
	KT_ASSERT(ldisc_ready(tty)); /* end of file is something to read */
	KT_EQ(ldisc_bytes(tty), 0);
	ldisc_flush_input(tty);
	type_in(tty, "\001");
	KT_ASSERT(!strcmp(shown, "^A"));
	type_in(tty, "\177");
	KT_ASSERT(!strcmp(shown, "\b \b\b \b"));
	type_in(tty, "\t\177");
	KT_ASSERT(!strcmp(shown, "\t\b\b\b\b\b\b\b\b"));
	kfree(tty);
}

KTEST(sys, raw_mode)
{
	struct tty *tty = new_terminal();
	struct termios old;

	KT_ASSERT(tty != NULL);
	type_in(tty, "part");
	old = tty->termios;
	mutex_lock(&tty->lock);
	tty->termios.lflag &= ~(ICANON | ECHO | ISIG);
	tty->termios.iflag &= ~(ICRNL | IXON);
	ldisc_settings_changed(tty, &old);
	mutex_unlock(&tty->lock);
	KT_ASSERT(ldisc_ready(tty)); /* what was being typed can be read now */
	KT_EQ(ldisc_bytes(tty), 4);
	type_in(tty, "\r\003\023");
	KT_EQ(ldisc_bytes(tty), 7);
	KT_ASSERT(!shown[0]);
	old = tty->termios;
	mutex_lock(&tty->lock);
	tty->termios.lflag |= ICANON;
	ldisc_settings_changed(tty, &old);
	mutex_unlock(&tty->lock);
	KT_ASSERT(ldisc_ready(tty)); /* and counts as a line in canonical mode */
	kfree(tty);
}

KTEST(sys, output_processing)
{
	struct tty *tty = new_terminal();

	KT_ASSERT(tty != NULL);
	nr_shown = 0;
	mutex_lock(&tty->lock);
	KT_EQ(ldisc_output(tty, (const u8 *)"a\nb", 3), 3);
	KT_ASSERT(!strcmp(shown, "a\r\nb"));
	KT_EQ(tty->column, 1);
	tty->termios.oflag |= XTABS;
	nr_shown = 0;
	KT_EQ(ldisc_output(tty, (const u8 *)"\tc", 2), 2);
	KT_ASSERT(!strcmp(shown, "       c"));
	tty->stopped = true;
	KT_EQ(ldisc_output(tty, (const u8 *)"x", 1), 0);
	mutex_unlock(&tty->lock);
	kfree(tty);
}
