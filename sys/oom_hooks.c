// SPDX-License-Identifier: BSD-2-Clause
/*
 * oom_hooks.c - which process pays when memory is gone.
 *
 * The claim of a process is what killing it gives back: resident pages and page tables, moved by oom_score_adj thousandths
 * of all memory (-1000: never). PID 1 is exempt. Counters of an address space are read under proc->lock, where the pointer
 * is still good; nothing here allocates.
 */
#include "kernel/printk.h"
#include "lib/string.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/reclaim.h"
#include "sys/procinfo.h"

struct claim {
	unsigned long total, rss_anon, rss_file, rss_shmem, tables; /* pages */
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
		c->tables = atomic_long_read(&mm->pt_pages);
	}
	proc_unlock(p);
}

static long points(const struct process *p, const struct claim *c)
{
	long adj = p->oom_score_adj, sum = c->rss_anon + c->rss_file + c->rss_shmem + c->tables;

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

	pr_info("[  pid  ]   uid  total_vm      rss pgtables oom_score_adj name");
	rcu_read_lock();
	list_for_each_entry_rcu(p, &proc_list, all_node) {
		struct claim c;

		read_claim(p, &c);
		if (!c.has_mm || n++ >= 100)
			continue;
		pr_info("[%7d] %5u %9lu %8lu %8lu %13d %s", p->pid, p->cred.uid, c.total,
			c.rss_anon + c.rss_file + c.rss_shmem, c.tables, p->oom_score_adj, c.comm);
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

static struct process *choose(struct claim *best_claim)
{
	struct process *p, *best = NULL;
	long most = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(p, &proc_list, all_node) {
		struct claim c;
		long n;

		read_claim(p, &c);
		n = c.has_mm && !c.dying ? points(p, &c) : -1;
		if (n <= most || !atomic_inc_not_zero(&p->refs))
			continue;
		if (best)
			proc_put(best);
		best = p;
		most = n;
		*best_claim = c;
	}
	rcu_read_unlock();
	return best;
}

static void mark_and_kill(struct process *p)
{
	struct task *t;

	proc_lock(p);
	p->flags |= PF_OOM_KILLED;
	list_for_each_entry(t, &p->threads, thread_node)
		__atomic_fetch_or(&t->thread.flags, TF_OOM_VICTIM, __ATOMIC_SEQ_CST);
	proc_unlock(p);
	signal_kill_process(p);
}

static bool kill_worst(void)
{
	struct claim c;
	struct process *p = choose(&c);

	if (!p)
		return false;
	pr_err("Out of memory: Killed process %d (%s) total-vm:%lukB, anon-rss:%lukB, file-rss:%lukB, shmem-rss:%lukB, "
	       "UID:%u pgtables:%lukB oom_score_adj:%d",
	       p->pid, c.comm, c.total * 4, c.rss_anon * 4, c.rss_file * 4, c.rss_shmem * 4, p->cred.uid, c.tables * 4,
	       p->oom_score_adj);
	mark_and_kill(p);
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
