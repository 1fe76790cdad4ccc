// SPDX-License-Identifier: BSD-2-Clause
/*
 * process.c - the tables: who exists, by what number, in which group and session.
 *
 * Theory: two hash tables, pid -> process and tid -> thread. Writers hold proc_tree_lock; readers
 * need only RCU, so kill(2) and /proc never stop a fork. A process is in the table until its parent
 * has reaped it; a thread until it exits.
 *
 * Groups and sessions have no objects of their own: they are numbers in the processes. Sending to a
 * group walks the list of all processes. Its price is linear, but groups are signalled by people
 * and shells, not in loops; what it buys is that fork and exit, which do run in loops, have nothing
 * to maintain. One invariant needs care: a pid must not be handed out again while it is still some
 * group's or session's number. PF_LEADER marks pids that ever became one; the struct of such a
 * process stays (PF_REAPED, on held_list) until nobody carries its number.
 *
 * Locking: proc_tree_lock (a spinlock, IRQs on) > proc->lock (IRQs off).
 */
#include "sys/process.h"
#include "lib/hash.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "sys/files.h"
#include "sys/timers.h"

#define PID_BUCKETS 1024

DEFINE_SPINLOCK(proc_tree_lock, RANK_FILES);
LIST_HEAD(proc_list);
struct process *init_process;
static LIST_HEAD(held_list); /* reaped, number still in use (t) */
static struct hlist_head pid_hash[PID_BUCKETS], tid_hash[PID_BUCKETS];
static struct slab_cache *process_cache, *task_cache;
static u32 nr_processes, nr_tasks; /* (t) */

static inline struct hlist_head *bucket(struct hlist_head *table, pid_t nr)
{
	/* numbers are handed out in sequence: no mixing needed */
	return &table[(u32)nr % PID_BUCKETS];
}

struct process *proc_find(pid_t pid)
{
	struct process *p;

	hlist_for_each_entry_rcu(p, bucket(pid_hash, pid), pid_node) if (p->pid == pid) return p;
	return NULL;
}

struct process *proc_get(pid_t pid)
{
	struct process *p;

	rcu_read_lock();
	p = proc_find(pid);
	if (p && !atomic_inc_not_zero(&p->refs))
		p = NULL;
	rcu_read_unlock();
	return p;
}

struct task *task_find(pid_t tid)
{
	struct task *t;

	hlist_for_each_entry_rcu(t, bucket(tid_hash, tid),
				 tid_node) if (t->thread.tid == tid) return t;
	return NULL;
}

struct task *task_get(pid_t tid)
{
	struct task *t;

	rcu_read_lock();
	t = task_find(tid);
	if (t && !atomic_inc_not_zero(&t->thread.refs))
		t = NULL;
	rcu_read_unlock();
	return t;
}

static void process_free(struct rcu_head *head)
{
	slab_free(process_cache, container_of(head, struct process, rcu));
}

void proc_put(struct process *p)
{
	if (atomic_dec_and_test(&p->refs))
		rcu_call(&p->rcu, process_free);
}

struct process *process_alloc(void)
{
	struct process *p = slab_alloc(process_cache, GFP_KERNEL | __GFP_ZERO);

	if (!p)
		return NULL;
	atomic_set(&p->refs, 1);
	list_init(&p->children);
	list_init(&p->sibling);
	list_init(&p->threads);
	list_init(&p->pending.queue);
	list_init(&p->posix_timers);
	wait_queue_init(&p->child_wait);
	wait_queue_init(&p->signalfd_wait);
	spin_lock_init(&p->lock, RANK_SIGHAND, "process");
	timers_new_process(p);
	return p;
}

/* The last switch away from the thread is over, a grace period too. => softirq */
static void task_release(struct thread *thread)
{
	struct task *task = (struct task *)thread;

	kstack_free(thread->stack);
	proc_put(task->proc);
	slab_free(task_cache, task);
}

struct task *task_alloc(int node)
{
	struct task *task = slab_alloc(task_cache, GFP_KERNEL | __GFP_ZERO);
	void *stack;

	if (!task)
		return NULL;
	stack = kstack_alloc(node);
	if (!stack) {
		slab_free(task_cache, task);
		return NULL;
	}
	task->thread.stack = stack;
	task->thread.release = task_release;
	list_init(&task->pending.queue);
	list_init(&task->thread_node);
	return task;
}

void task_discard(struct task *task)
{
	kstack_free(task->thread.stack);
	slab_free(task_cache, task);
}

void process_publish_locked(struct process *p)
{
	hlist_add_head_rcu(&p->pid_node, bucket(pid_hash, p->pid));
	list_add_tail_rcu(&p->all_node, &proc_list);
	nr_processes++;
}

void task_publish_locked(struct task *task)
{
	hlist_add_head_rcu(&task->tid_node, bucket(tid_hash, task->thread.tid));
	nr_tasks++;
}

void task_unpublish_locked(struct task *task)
{
	hlist_del_rcu(&task->tid_node);
	nr_tasks--;
}

static bool number_in_use(pid_t nr)
{
	struct process *p;

	list_for_each_entry(p, &proc_list, all_node)
		if (p->pgid == nr || p->sid == nr)
			return true;
	return false;
}

void process_unpublish_locked(struct process *p)
{
	hlist_del_rcu(&p->pid_node);
	list_del_rcu(&p->all_node);
	nr_processes--;
	p->flags |= PF_REAPED;
	if ((p->flags & PF_LEADER) && number_in_use(p->pid)) {
		list_add(&p->sibling, &held_list); /* keeps the table's reference */
	} else {
		tid_free(p->pid);
		proc_put(p);
	}
	pgrp_left_locked();
}

void pgrp_left_locked(void)
{
	struct process *p, *n;

	list_for_each_entry_safe(p, n, &held_list, sibling) {
		if (number_in_use(p->pid))
			continue;
		list_del(&p->sibling);
		tid_free(p->pid);
		proc_put(p);
	}
}

bool pgrp_exists_locked(pid_t pgid, pid_t sid)
{
	struct process *p;

	list_for_each_entry(p, &proc_list, all_node)
		if (p->pgid == pgid && (!sid || p->sid == sid))
			return true;
	return false;
}

/*
 * A group is orphaned when no member has a parent in the same session but another group: nobody
 * there can continue it.
 */
bool pgrp_orphaned_locked(pid_t pgid, const struct process *without)
{
	struct process *p;

	list_for_each_entry(p, &proc_list, all_node) {
		struct process *up = p->parent;

		if (p->pgid != pgid || p == without || (p->flags & PF_ZOMBIE) || !up ||
		    up == init_process)
			continue;
		if (up->pgid != pgid && up->sid == p->sid)
			return false;
	}
	return true;
}

struct process *proc_next(pid_t pid)
{
	struct process *p, *best = NULL;

	rcu_read_lock();
	list_for_each_entry_rcu(p, &proc_list, all_node) {
		if (p->pid < pid || (best && p->pid >= best->pid))
			continue;
		if (!atomic_inc_not_zero(&p->refs))
			continue;
		if (best)
			proc_put(best);
		best = p;
		if (p->pid == pid)
			break;
	}
	rcu_read_unlock();
	return best;
}

struct task *proc_next_task(struct process *p, pid_t tid)
{
	struct task *t, *best = NULL;

	proc_lock(p);
	list_for_each_entry(t, &p->threads, thread_node)
		if (t->thread.tid >= tid && (!best || t->thread.tid < best->thread.tid))
			best = t;
	if (best)
		thread_get(&best->thread);
	proc_unlock(p);
	return best;
}

u32 proc_count(void)
{
	return READ_ONCE(nr_processes);
}

u32 proc_nr_threads_total(void)
{
	return READ_ONCE(nr_tasks);
}

/*
 * Address space, files and fs of another process hang on its threads; each thread lets go of them
 * in exit under proc->lock, so a pointer seen under that lock has a reference to copy.
 */
struct aspace *proc_get_mm(struct process *p)
{
	struct aspace *mm = NULL;
	struct task *t;

	proc_lock(p);
	list_for_each_entry(t, &p->threads, thread_node) {
		/* goes without the lock; put only after it was held once more */
		mm = READ_ONCE(t->thread.mm);
		if (mm) {
			aspace_get(mm);
			break;
		}
	}
	proc_unlock(p);
	return mm;
}

struct files *proc_get_files(struct process *p)
{
	struct files *files = NULL;
	struct task *t;

	proc_lock(p);
	list_for_each_entry(t, &p->threads, thread_node)
		if (t->files) {
			files = t->files;
			atomic_inc(&files->refs);
			break;
		}
	proc_unlock(p);
	return files;
}

struct fs_context *proc_get_fs(struct process *p)
{
	struct fs_context *fs = NULL;
	struct task *t;

	proc_lock(p);
	list_for_each_entry(t, &p->threads, thread_node)
		if (t->fs) {
			fs = t->fs;
			atomic_inc(&fs->refs);
			break;
		}
	proc_unlock(p);
	return fs;
}

void task_times_add(struct task *t, struct process_times *sum)
{
	u64 utime, stime;

	thread_cputime(&t->thread, &utime, &stime);
	sum->utime_ns += utime;
	sum->stime_ns += stime;
	sum->min_flt += t->thread.min_flt;
	sum->maj_flt += t->thread.maj_flt;
	sum->nvcsw += t->thread.nvcsw;
	sum->nivcsw += t->thread.nivcsw;
	sum->read_bytes += t->thread.io_read_bytes;
	sum->write_bytes += t->thread.io_write_bytes;
}

void proc_times(struct process *p, struct process_times *out)
{
	struct task *t;

	proc_lock(p);
	*out = p->dead_threads;
	list_for_each_entry(t, &p->threads, thread_node)
		task_times_add(t, out);
	proc_unlock(p);
}

u64 proc_cputime_ns(struct process *p)
{
	struct task *t;
	u64 sum;

	proc_lock(p);
	sum = p->dead_threads.utime_ns + p->dead_threads.stime_ns;
	list_for_each_entry(t, &p->threads, thread_node)
		sum += thread_runtime_ns(&t->thread);
	proc_unlock(p);
	return sum;
}

void process_init(void)
{
	process_cache = slab_create("process", sizeof(struct process), 64, 0, NULL);
	task_cache = slab_create("task", sizeof(struct task), 64, 0, NULL);
	if (!process_cache || !task_cache)
		panic("process: no memory for the caches");
}
