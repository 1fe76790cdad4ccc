/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proc_view.h - a referenced look at one process or thread, from which the files of /proc/PID are
 * printed.
 */
#ifndef SYS_PROC_VIEW_H
#define SYS_PROC_VIEW_H

#include "kernel/show.h"
#include "sys/process.h"

/* One process (tid 0), one of its threads, or a kernel thread (proc NULL), held by references. */
struct proc_view {
	struct process *proc;  /* NULL: kernel thread */
	struct thread *thread; /* NULL: no thread is left (zombie) */
	struct aspace *mm;     /* NULL: none (any more) */
};
/* => 0 or -ESRCH; proc_view_close afterwards. May sleep. */
int proc_view_open(pid_t pid, pid_t tid, struct proc_view *v);
void proc_view_close(struct proc_view *v);
const char *proc_view_comm(const struct proc_view *v);
/* 'R' 'S' 'D' 'T' 'Z' 'I' as Linux prints it. */
char proc_view_state(const struct proc_view *v);

/* sys/procstat.c: the number files. */
int proc_stat_show(struct seq *seq, pid_t pid, pid_t tid);
int proc_statm_show(struct seq *seq, pid_t pid, pid_t tid);
int proc_schedstat_show(struct seq *seq, pid_t pid, pid_t tid);
int proc_status_show(struct seq *seq, pid_t pid, pid_t tid);

/* sys/proc_files.c: what lies in /proc/PID. */
#define PROC_FILES 20
extern const struct proc_file proc_files[PROC_FILES];

#endif
