/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * balance.c - which CPU? At a wake-up, for a new thread, when a queue runs dry, and now and then.
 *
 * Problem: no CPU should sit idle while another has two threads to run, but a thread that moves
 * leaves its cache behind, and one that leaves its node its memory. Idea: three words of hints, one
 * bit per CPU (running the scheduler, idle, more than one runnable), and an order of nodes by
 * distance seen from each node. Every question is then a few ands:
 *
 *   wake-up   its old CPU if idle; else an idle one of its old node, of the waker's node, of the
 *             nearest node; else stay
 *   new       an idle CPU of this node or the nearest; else the least loaded one it may use
 *   run dry pull one thread from the most loaded queue of the nearest node that has a queue of two
 *   or more each 8 ms (SCHED softirq): compare with this node's most loaded queue and pull at most
 *   PULL_MAX threads while that
 *             evens the two out; every 64 ms also with the other nodes', where the step must be an
 *             improvement for sure
 *   idle CPUs have no tick: a CPU whose tick sees two runnable threads here and an idle CPU there
 *   pokes it to run dry
 *
 * Bounded work: a scan reads at most NR_CPUS hints, looks at 16 threads and moves at most PULL_MAX
 * with IRQs off.
 * Locking: two queue locks in order of CPU numbers; running dry holds its own already and only
 * tries the other's, so that its lock is never let go in the middle of a schedule().
 */
#include "arch/bootinfo.h"
#include "kernel/softirq.h"
#include "sched/internal.h"

#define PULL_MAX 4
#define BALANCE_NS (8 * NSEC_PER_MSEC)
#define REMOTE_NS (64 * NSEC_PER_MSEC)
#define KICK_MIN_NS NSEC_PER_MSEC
#define KICK_MAX_NS (64 * NSEC_PER_MSEC)

u64 sched_node_cpus[MAX_NODES];
static u8 node_order[MAX_NODES][MAX_NODES]; /* nodes by distance, itself first */
static u32 nr_order_nodes = 1;

/* ---- who is where ---- */

static void order_nodes(void)
{
	u32 n = clamp(numa_info.nr_nodes, 1, MAX_NODES);

	for (u32 from = 0; from < n; from++) {
		u8 *order = node_order[from];

		/* insertion sort; equal distances keep the numbers turning */
		for (u32 i = 0; i < n; i++) {
			u8 node = (u8)((from + i) % n);
			u32 d = i ? numa_info.distance[from][node] : 0, j = i;

			for (; j > 1 && numa_info.distance[from][order[j - 1]] > d; j--)
				order[j] = order[j - 1];
			order[j] = node;
		}
	}
	nr_order_nodes = n;
}

static void sched_balance(void);

void balance_add_cpu(u32 cpu)
{
	struct rq *rq = cpu_rq(cpu);
	int node = cpu_node[cpu];

	rq->node = node >= 0 && node < MAX_NODES ? node : 0;
	order_nodes();
	__atomic_fetch_or(&sched_node_cpus[rq->node], CPU_BIT(cpu), __ATOMIC_SEQ_CST);
	/* CPUs balance at different times */
	rq->next_balance = rq->clock + BALANCE_NS + cpu * NSEC_PER_TICK;
	rq->next_remote = rq->clock + REMOTE_NS + cpu * NSEC_PER_TICK;
	if (!cpu)
		softirq_open(SOFTIRQ_SCHED, sched_balance);
}

/* The first CPU of mask at or after start, going round. => mask not 0 */
static inline u32 pick_cpu(u64 mask, u32 start)
{
	u64 high = mask & ~(CPU_BIT(start) - 1);

	return (u32)__builtin_ctzll(high ? high : mask);
}

/* A CPU of mask on the nearest node that has one. => mask not 0 */
static u32 nearest(u64 mask, int node, u32 start)
{
	for (u32 i = 0; i < nr_order_nodes; i++) {
		u64 m = mask & sched_node_cpus[node_order[node][i]];

		if (m)
			return pick_cpu(m, start);
	}
	return pick_cpu(mask, start);
}

static inline u64 usable(const struct thread *t)
{
	u64 mask = t->allowed & sched_cpus;

	return mask ? mask : sched_cpus; /* none is online: better anywhere than never */
}

static inline u64 load_of(u32 cpu)
{
	const struct rq *rq = cpu_rq(cpu);

	return READ_ONCE(rq->fair.load) + (u64)READ_ONCE(rq->rt.nr) * 2 * FAIR_WEIGHT_0;
}

static u32 least_loaded(u64 mask)
{
	u32 cpu, best = (u32)__builtin_ctzll(mask);
	u64 least = U64_MAX;

	for_each_cpu(cpu, mask) {
		u64 l = load_of(cpu);

		if (l < least) {
			least = l;
			best = cpu;
		}
	}
	return best;
}

/* ---- placement ---- */

/* Real time: the CPU that runs the least important thing, the old one if it will do. */
static u32 select_rt(const struct thread *t, u64 mask)
{
	int level = LEVEL_RT + (int)t->rt.prio, lowest = S32_MAX;
	u32 cpu, best = t->cpu;

	if ((mask & CPU_BIT(t->cpu)) && READ_ONCE(cpu_rq(t->cpu)->curr_level) < level)
		return t->cpu;
	if (mask & sched_idle_cpus)
		return nearest(mask & sched_idle_cpus, cpu_rq(t->cpu)->node, t->cpu);
	for_each_cpu(cpu, mask) {
		int l = READ_ONCE(cpu_rq(cpu)->curr_level);

		if (l < lowest) {
			lowest = l;
			best = cpu;
		}
	}
	return best;
}

u32 select_cpu_wake(struct thread *t)
{
	u64 mask = usable(t), idle = READ_ONCE(sched_idle_cpus) & mask;
	u32 prev = t->cpu, here = smp_processor_id();
	int node = cpu_rq(prev)->node;

	if (likely(idle & CPU_BIT(prev)) || mask == CPU_BIT(prev))
		return prev;
	if (unlikely(t->sclass == &rt_class))
		return select_rt(t, mask);
	if (idle) {
		u64 m = idle & sched_node_cpus[node];

		if (!m)
			m = idle & sched_node_cpus[cpu_rq(here)->node];
		return m ? pick_cpu(m, prev) : nearest(idle, node, prev);
	}
	if (mask & CPU_BIT(prev)) {
		/*
		 * Nobody is idle: to the waker's side only if that is closer to idle, on the same
		 * node.
		 */
		if (here != prev && (mask & CPU_BIT(here)) && cpu_rq(here)->node == node &&
		    load_of(here) + t->se.weight < load_of(prev))
			return here;
		return prev;
	}
	return least_loaded(mask);
}

u32 select_cpu_new(struct thread *t)
{
	u64 mask = usable(t), idle = READ_ONCE(sched_idle_cpus) & mask;
	u32 here = smp_processor_id();
	u64 near = mask & sched_node_cpus[cpu_rq(here)->node];
	u32 best;

	if (unlikely(t->sclass == &rt_class))
		return select_rt(t, mask);
	if (idle)
		return nearest(idle, cpu_rq(here)->node, here);
	best = least_loaded(mask);
	if (near) { /* stay on the node unless that is worse by more than this thread */
		u32 local = least_loaded(near);

		if (load_of(local) <= load_of(best) + t->se.weight)
			best = local;
	}
	return best;
}

u32 select_cpu_allowed(struct thread *t)
{
	u64 mask = usable(t), idle = READ_ONCE(sched_idle_cpus) & mask;
	int node = cpu_rq(t->cpu)->node;
	u64 near = mask & sched_node_cpus[node];

	if (mask & CPU_BIT(t->cpu))
		return t->cpu;
	if (idle)
		return nearest(idle, node, t->cpu);
	return least_loaded(near ? near : mask);
}

/* ---- pulling ---- */

static u32 busiest_of(u64 mask)
{
	u64 most = 0;
	u32 cpu, best = NR_CPUS;

	for_each_cpu(cpu, mask) {
		u64 l = load_of(cpu);

		if (l > most) {
			most = l;
			best = cpu;
		}
	}
	return best;
}

static inline struct thread *movable(struct rq *src, u32 cpu)
{
	struct thread *t = src->rt.nr ? rt_class.movable(src, cpu) : NULL;

	return t ? t : fair_class.movable(src, cpu);
}

/* => both locked, rq idle: takes one. */
static bool pull_one(struct rq *rq, struct rq *src)
{
	struct thread *t = src->nr_running > 1 ? movable(src, rq->cpu) : NULL;

	if (!t) {
		rq->nr_pull_failed++;
		return false;
	}
	rq_update_curr(src); /* their lag counts up to now */
	rq_move(src, rq, t);
	rq->nr_pulled++;
	src->kick_interval = KICK_MIN_NS;
	return true;
}

static bool rq_trylock(struct rq *rq)
{
	u32 v = READ_ONCE(rq->lock.word);

	if ((u16)v != (u16)(v >> 16) || cmpxchg(&rq->lock.word, v, v + 0x10000) != v)
		return false;
	lock_debug_acquire(&rq->lock, "trylock");
	return true;
}

bool newidle_balance(struct rq *rq)
{
	u64 busy = READ_ONCE(sched_busy_cpus) & ~CPU_BIT(rq->cpu);

	rq->kicked = 0;
	for (u32 i = 0; busy && i < nr_order_nodes; i++) {
		u64 mask = busy & sched_node_cpus[node_order[rq->node][i]];
		u32 cpu = mask ? busiest_of(mask) : NR_CPUS;
		struct rq *src;
		bool got;

		if (cpu == NR_CPUS)
			continue;
		src = cpu_rq(cpu);
		if (!rq_trylock(src))
			continue;
		got = pull_one(rq, src);
		rq_unlock(src);
		if (got)
			return true;
	}
	return false;
}

/* => both locked. Evens the two out as far as PULL_MAX threads and slack allow. */
static void pull_even(struct rq *rq, struct rq *src, u64 slack)
{
	rq_update_curr(src);
	rq_update_curr(rq);
	for (u32 n = 0; n < PULL_MAX && src->nr_running > 1; n++) {
		struct thread *t = movable(src, rq->cpu);
		u64 w;

		if (!t)
			break;
		w = t->sclass == &fair_class ? t->se.weight : 2 * FAIR_WEIGHT_0;
		/*
		 * Worth it when the two are not further apart afterwards (rotation is fairness)
		 * plus slack.
		 */
		if (load_of(src->cpu) < load_of(rq->cpu) + w + slack)
			break;
		rq_move(src, rq, t);
		rq->nr_pulled++;
		rq_check_preempt(rq, t);
	}
}

static void balance_with(struct rq *rq, u64 mask, u64 slack)
{
	unsigned long flags;
	struct rq *src;
	u32 cpu;

	mask &= READ_ONCE(sched_busy_cpus) & ~CPU_BIT(rq->cpu);
	cpu = mask ? busiest_of(mask) : NR_CPUS;
	if (cpu == NR_CPUS || load_of(cpu) <= load_of(rq->cpu) + slack)
		return;
	src = cpu_rq(cpu);
	local_irq_save_l(flags, "sched_balance");
	rq_lock_two(rq, src);
	pull_even(rq, src, slack);
	rq_unlock(src);
	rq_unlock(rq);
	local_irq_restore_l(flags, "sched_balance");
}

/* The SCHED softirq. */
static void sched_balance(void)
{
	struct rq *rq = this_rq();
	u64 now = ktime_get(), local = sched_node_cpus[rq->node];

	if (now >= rq->next_balance) {
		rq->next_balance = now + BALANCE_NS;
		balance_with(rq, local, 0);
	}
	if (now >= rq->next_remote) {
		rq->next_remote = now + REMOTE_NS;
		balance_with(rq, ~local, FAIR_WEIGHT_0 / 4);
	}
}

void balance_tick(struct rq *rq, u64 now)
{
	u64 idle = READ_ONCE(sched_idle_cpus);

	if (now >= rq->next_balance || now >= rq->next_remote)
		softirq_raise(SOFTIRQ_SCHED);
	if (rq->nr_running > 1 && idle && now >= rq->next_kick) {
		u32 cpu = nearest(idle, rq->node, rq->cpu);

		rq->next_kick = now + rq->kick_interval;
		rq->kick_interval = min(rq->kick_interval * 2, (u64)KICK_MAX_NS);
		if (cpu != rq->cpu) {
			WRITE_ONCE(cpu_rq(cpu)->kicked, 1);
			smp_send_reschedule(cpu);
		}
	}
}
