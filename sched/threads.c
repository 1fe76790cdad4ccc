/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads.c - the list of all threads, finding one by number, and the numbers.
 *
 * Readers walk the list and the hash chains under RCU; a thread leaves both when it ends and its
 * memory goes after a grace period. Numbers are bits in a map, given out in rising order (so that a
 * number just freed is not given again at once) and taken with one atomic operation, so that they
 * can be freed in any context.
 */
#include "kernel/param.h"
#include "lib/errno.h"
#include "sched/internal.h"

#define PID_LIMIT 32768
#define TID_HASH 512

LIST_HEAD(thread_list);
DEFINE_SPINLOCK(thread_list_lock, RANK_THREAD_LIST);

static struct hlist_head tid_hash[TID_HASH];
static unsigned long tid_map[PID_LIMIT / 64] = { 3 }; /* 0 is idle, 1 the first program (sys/) */
static u32 tid_last = 1;

static long pid_max = PID_LIMIT;
TUNABLE("kernel/pid_max", pid_max, 301, PID_LIMIT, NULL);

void thread_list_add(struct thread *t)
{
	spin_lock(&thread_list_lock);
	list_add_tail_rcu(&t->all_node, &thread_list);
	hlist_add_head_rcu(&t->tid_node, &tid_hash[(u32)t->tid % TID_HASH]);
	spin_unlock(&thread_list_lock);
}

void thread_list_del(struct thread *t)
{
	spin_lock(&thread_list_lock);
	list_del_rcu(&t->all_node);
	hlist_del_rcu(&t->tid_node);
	spin_unlock(&thread_list_lock);
}

struct thread *thread_find(pid_t tid)
{
	struct thread *t;

	if (tid <= 0)
		return NULL;
	hlist_for_each_entry_rcu(t, &tid_hash[(u32)tid % TID_HASH], tid_node)
	{
		if (t->tid == tid)
			return t;
	}
	return NULL;
}

/* A free number in [from, to), taken; 0 when there is none. */
static u32 take_between(u32 from, u32 to)
{
	for (u32 n = from; n < to;) {
		unsigned long used = READ_ONCE(tid_map[n / 64]) | (BIT(n % 64) - 1);

		if (used == ~0ul) {
			n = (n / 64 + 1) * 64;
			continue;
		}
		n = n / 64 * 64 + (u32)__builtin_ctzl(~used);
		if (n < to && !test_and_set_bit(n, tid_map))
			return n;
	}
	return 0;
}

pid_t tid_alloc(void)
{
	u32 last = READ_ONCE(tid_last), limit = (u32)READ_ONCE(pid_max);
	u32 tid = take_between(last + 1, limit);

	if (!tid) /* round again; the first 300 are for what starts at boot */
		tid = take_between(last < 300 ? 1 : 300, limit);
	if (!tid)
		return -EAGAIN;
	WRITE_ONCE(tid_last, tid);
	return (pid_t)tid;
}

void tid_free(pid_t tid)
{
	if (tid > 1 && tid < PID_LIMIT)
		clear_bit((unsigned long)tid, tid_map);
}
