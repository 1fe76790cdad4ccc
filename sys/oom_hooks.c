// SPDX-License-Identifier: BSD-2-Clause
/*
 * oom_hooks.c - which process pays when memory is gone.
 *
 * The claim of a process is what killing it gives back: anonymous pages, slots, page tables; of
 * file and shared pages, which mostly stay when their user goes, a quarter counts. It is moved by
 * oom_score_adj thousandths of all memory (-1000: never). PID 1 is exempt. Counters of an address
 * space are read under proc->lock, where the pointer is still good; nothing here allocates.
 *
 * A fork bomb is a thousand processes that are each smaller than the shell that started them. So
 * claims are first summed
 * over families: a process and those of its descendants that have not executed a program of their
 * own. The worst family
 * pays: with its largest member if that one holds a quarter of it (a server and the one worker that
 * grew), else with all. Families are followed under proc_tree_lock.
 */
#include "kernel/printk.h"
#include "lib/string.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/reclaim.h"
#include "sys/procinfo.h"

#define MAX_GENERATIONS 64

struct claim {
	unsigned long total, rss_anon, rss_file, rss_shmem, swap, tables; /* pages */
	char comm[16];
	bool has_mm, dying;
};

static void read_claim(struct process *p, struct claim *c)
{
	struct task *t;

	memset(c, 0, sizeof(*c));
	memcpy(c->comm, p->comm, sizeof(c->comm));
	proc_lock(p);
	c->dying = p->flags & (PF_GROUP_EXIT | PF_ZOMBIE);
	list_for_each_entry(t, &p->threads, thread_node) {
		struct aspace *mm = t->thread.mm;

		if (t == p->leader)
			memcpy(c->comm, t->thread.comm, sizeof(c->comm));
		if (!mm || c->has_mm)
			continue;
		c->has_mm = true;
		c->total = mm->total_vm;
		c->rss_anon = atomic_long_read(&mm->rss_anon);
		c->rss_file = atomic_long_read(&mm->rss_file);
		c->rss_shmem = atomic_long_read(&mm->rss_shmem);
		c->swap = atomic_long_read(&mm->rss_swap);
		c->tables = atomic_long_read(&mm->pt_pages);
	}
	proc_unlock(p);
}

static long points(const struct process *p, const struct claim *c)
{
	long adj = p->oom_score_adj,
	     sum = c->rss_anon + c->swap + (c->rss_file + c->rss_shmem) / 4 + c->tables;

	if (adj == -1000 || p == init_process)
		return -1;
	return max(sum + adj * (long)totalram_pages / 1000, 1l);
}

/* 0..2000 as /proc/PID/oom_score shows it */
long oom_score(struct process *p)
{
	struct claim c;
	long n;

	read_claim(p, &c);
	n = c.has_mm ? points(p, &c) : 0;
	return n < 0 ? 0 : n * 1000 / (long)max(totalram_pages, 1ul);
}

static void print_tasks(void)
{
	struct process *p;
	u32 n = 0;

	pr_info("[  pid  ]   uid  total_vm      rss pgtables swapents oom_score_adj name");
	rcu_read_lock();
	list_for_each_entry_rcu(p, &proc_list, all_node) {
		struct claim c;

		read_claim(p, &c);
		if (!c.has_mm || n++ >= 100)
			continue;
		pr_info("[%7d] %5u %9lu %8lu %8lu %8lu %13d %s", p->pid, p->cred.uid, c.total,
			c.rss_anon + c.rss_file + c.rss_shmem, c.tables, c.swap, p->oom_score_adj,
			c.comm);
	}
	rcu_read_unlock();
	if (n > 100)
		pr_info("and %u more", n - 100);
}

static bool victim_alive(void)
{
	struct process *p;
	bool alive = false;

	rcu_read_lock();
	list_for_each_entry_rcu(p, &proc_list, all_node)
		if ((p->flags & PF_OOM_KILLED) && !(p->flags & PF_ZOMBIE)) {
			alive = true;
			break;
		}
	rcu_read_unlock();
	return alive;
}

/* -1: not to be killed */
static long claim_of(struct process *p, struct claim *c)
{
	read_claim(p, c);
	return c->has_mm && !c->dying ? points(p, c) : -1;
}

static struct process *head_of(struct process *p)
{
	for (u32 i = 0; i < MAX_GENERATIONS && !(p->flags & PF_EXECED); i++) {
		if (!p->parent || p->parent == init_process)
			break;
		p = p->parent;
	}
	return p;
}

/* => tree lock. The head of the family with the largest claim, or NULL. */
static struct process *worst_family_locked(void)
{
	struct process *p, *worst = NULL;
	struct claim c;

	list_for_each_entry(p, &proc_list, all_node)
		p->oom_family = 0;
	list_for_each_entry(p, &proc_list, all_node) {
		long n = claim_of(p, &c);
		struct process *head = head_of(p);

		if (n <= 0)
			continue;
		head->oom_family += n;
		if (!worst || head->oom_family > worst->oom_family)
			worst = head;
	}
	return worst;
}

/* => tree lock. Its largest member, and what that one claims. */
static struct process *worst_member_locked(struct process *head, struct claim *best_claim,
					   long *most)
{
	struct process *p, *best = NULL;
	struct claim c;

	*most = 0;
	list_for_each_entry(p, &proc_list, all_node) {
		long n = head_of(p) == head ? claim_of(p, &c) : -1;

		if (n > *most) {
			best = p;
			*most = n;
			*best_claim = c;
		}
	}
	return best;
}

/* => proc->lock. Its address space, if every user of it is a thread of this process; else NULL. */
static struct aspace *own_mm_locked(struct process *p)
{
	struct aspace *mm = NULL;
	struct task *t;
	int users = 0;

	list_for_each_entry(t, &p->threads, thread_node) {
		if (!t->thread.mm)
			continue;
		mm = t->thread.mm;
		users++;
	}
	return mm && atomic_read(&mm->users) <= users ? mm : NULL;
}

static void mark_and_kill(struct process *p)
{
	struct aspace *mm;
	struct task *t;

	proc_lock(p);
	p->flags |= PF_OOM_KILLED;
	list_for_each_entry(t, &p->threads, thread_node)
		__atomic_fetch_or(&t->thread.flags, TF_OOM_VICTIM, __ATOMIC_SEQ_CST);
	proc_unlock(p);
	signal_kill_process(p);
	/* Only now: nobody returns to the program any more. */
	proc_lock(p);
	mm = own_mm_locked(p);
	if (mm)
		oom_reap_later(mm);
	proc_unlock(p);
}

/* => tree lock */
static u32 kill_family_locked(struct process *head, struct process *except)
{
	struct process *p;
	struct claim c;
	u32 n = 0;

	list_for_each_entry(p, &proc_list, all_node)
		if (p != except && head_of(p) == head && claim_of(p, &c) > 0) {
			mark_and_kill(p);
			n++;
		}
	return n;
}

static bool kill_worst(void)
{
	struct process *head, *p = NULL;
	struct claim c;
	u32 others = 0;
	long most;

	spin_lock(&proc_tree_lock);
	head = worst_family_locked();
	if (head)
		p = worst_member_locked(head, &c, &most);
	if (p) {
		atomic_inc(&p->refs);
		if (most < head->oom_family / 4)
			others = kill_family_locked(head, p);
		mark_and_kill(p);
	}
	spin_unlock(&proc_tree_lock);
	if (!p)
		return false;
	pr_err("Out of memory: Killed process %d (%s) total-vm:%lukB, anon-rss:%lukB, "
	       "file-rss:%lukB, shmem-rss:%lukB, "
	       "UID:%u pgtables:%lukB oom_score_adj:%d",
	       p->pid, c.comm, c.total * 4, c.rss_anon * 4, c.rss_file * 4, c.rss_shmem * 4,
	       p->cred.uid, c.tables * 4, p->oom_score_adj);
	if (others)
		pr_err("Out of memory: Killed %u more processes of its family, none of them large",
		       others);
	proc_put(p);
	return true;
}

static const struct oom_ops sys_oom_ops = {
	.print_tasks = print_tasks,
	.victim_alive = victim_alive,
	.kill = kill_worst,
};

void oom_hooks_init(void)
{
	oom_ops = &sys_oom_ops;
}
