// SPDX-License-Identifier: BSD-2-Clause
/*
 * bdi.c - coming and going of backing devices, and their counters.
 *
 * A counter is a total plus one delta per CPU of at most bdi_stat_batch, so reading it costs one
 * load and may be off by bdi_stat_error(); bdi_stat_sum adds the deltas. Pages under writeback are
 * counted exactly instead, because a sync waits for that number to reach zero:
 *
 *   epoch 0:  inflight[0] rises and falls      a sync sets epoch 1 and waits for inflight[0] == 0:
 *   epoch 1:  inflight[1] rises and falls      exactly the pages that were started before
 *
 * New writers count in the other half, so no writer can keep a sync waiting. A page that reads the
 * epoch just before it changes and counts just after was still dirty (tagged) then: the sync, which
 * writes before it waits, has met it under its page lock.
 *
 * Locking: the list under bdi_mutex, readers RCU. A removed bdi waits for a grace period: the
 * softirq that ends the last page runs with preemption off.
 */
#include "mm/cache/bdi.h"

#include "arch/smp.h"
#include "kernel/printk.h"
#include "kernel/rcu.h"
#include "lib/math.h"
#include "lib/string.h"
#include "mm/cache/wb.h"
#include "mm/kmem/slab.h"
#include "mm/reclaim/congestion.h"
#include "sched/kthread.h"

static LIST_HEAD(bdis);
static DEFINE_MUTEX(bdi_mutex, RANK_BDI);
s64 bdi_stat_batch = 8;
/*
 * What the counters of a removed device go to: its mappings may outlive it (an unmount comes
 * later).
 */
static s64 dead_stat[NR_CPUS * BDI_STAT_STRIDE];

/* Names that trace records point to: one copy of each, never freed. */
struct trace_name {
	struct trace_name *next;
	char name[32];
};
static struct trace_name *trace_names; /* bdi_mutex */

static const char *trace_name_get(const char *name)
{
	struct trace_name *t;

	for (t = trace_names; t; t = t->next)
		if (!strcmp(t->name, name))
			return t->name;
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return "bdi";
	strlcpy(t->name, name, sizeof(t->name));
	t->next = trace_names;
	trace_names = t;
	return t->name;
}

unsigned long bdi_stat_error(void)
{
	return (unsigned long)bdi_stat_batch * max(nr_possible_cpus, 1u);
}

unsigned long bdi_stat(struct bdi *bdi, enum bdi_stat item)
{
	long v = item == BDI_WRITEBACK
			 ? atomic_long_read(&bdi->inflight[0]) + atomic_long_read(&bdi->inflight[1])
			 : atomic_long_read(&bdi->total[item]);

	return v < 0 ? 0 : (unsigned long)v;
}

unsigned long bdi_stat_sum(struct bdi *bdi, enum bdi_stat item)
{
	long v = atomic_long_read(&bdi->total[item]);

	if (item == BDI_WRITEBACK)
		return bdi_stat(bdi, item);
	for (u32 cpu = 0; cpu < max(nr_possible_cpus, 1u); cpu++)
		v += READ_ONCE(bdi->stat[cpu * BDI_STAT_STRIDE + item]);
	return v < 0 ? 0 : (unsigned long)v;
}

struct bdi *bdi_next(struct bdi *bdi)
{
	struct list_head *next = READ_ONCE((bdi ? &bdi->node : &bdis)->next);

	return next == &bdis ? NULL : list_entry(next, struct bdi, node);
}

static void periodic(struct timer *timer)
{
	struct wb *wb = container_of(timer, struct wb, timer);

	__atomic_fetch_or(&wb->state, WB_TIMER, __ATOMIC_SEQ_CST);
	wake_up(&wb->wait);
}

static void wb_init(struct wb *wb, struct bdi *bdi)
{
	*wb = (struct wb){ .bdi = bdi };
	spin_lock_init(&wb->list_lock, RANK_WB, "wb_list");
	list_init(&wb->b_dirty);
	list_init(&wb->b_io);
	list_init(&wb->b_more_io);
	spin_lock_init(&wb->work_lock, RANK_LEAF, "wb_work");
	list_init(&wb->work_list);
	wait_queue_init(&wb->wait);
	timer_init(&wb->timer, periodic);
	wb->last_old_flush = jiffies();
	throttle_est_init(&wb->est, jiffies());
}

int bdi_register(struct bdi *bdi)
{
	u32 cpus = max(nr_possible_cpus, 1u);

	bdi_stat_batch = 8 * (1 + (s64)ilog2(cpus));
	bdi->stat = kzalloc(cpus * BDI_STAT_STRIDE * sizeof(s64), GFP_KERNEL);
	if (!bdi->stat)
		return -ENOMEM;
	memset(bdi->total, 0, sizeof(bdi->total));
	memset(bdi->inflight, 0, sizeof(bdi->inflight));
	bdi->ra_pages = bdi->ra_pages ? bdi->ra_pages : 32;
	bdi->max_ratio = bdi->max_ratio ? bdi->max_ratio : 100;
	bdi->congested = 0;
	bdi->wb_epoch = 0;
	bdi->wb_err = 0;
	wait_queue_init(&bdi->drained);
	mutex_init(&bdi->sync_mutex, RANK_BDI, "bdi_sync");
	spin_lock_init(&bdi->est_lock, RANK_BLK, "bdi_est");
	wb_init(&bdi->wb, bdi);
	if (!(bdi->capabilities & BDI_CAP_NO_WRITEBACK)) {
		bdi->wb.flusher = kthread_run(wb_flusher, &bdi->wb, -1, "flush-%s", bdi->name);
		if (!bdi->wb.flusher) {
			kfree(bdi->stat);
			bdi->stat = NULL;
			return -ENOMEM;
		}
	}
	mutex_lock(&bdi_mutex);
	bdi->trace_name = trace_name_get(bdi->name);
	list_add_tail_rcu(&bdi->node, &bdis);
	bdi->registered = 1;
	mutex_unlock(&bdi_mutex);
	return 0;
}

/* What the flusher could not write in two rounds is given up: its owners are let go. */
static void give_up(struct wb *wb)
{
	unsigned long n = 0;

	spin_lock(&wb->list_lock);
	wb_queue_io(wb, 0);
	while (!list_empty(&wb->b_io)) {
		struct mapping *m = list_last_entry(&wb->b_io, struct mapping, wb_link);

		if (m->dirty & MAPD_SYNCING) {
			wb_wait_syncing(wb, m);
			wb_queue_io(wb, 0);
			continue;
		}
		wb_dequeue(wb, m);
		m->dirty = 0;
		spin_unlock(&wb->list_lock);
		mapping_set_error(m, -EIO);
		wb_release(m);
		n++;
		spin_lock(&wb->list_lock);
	}
	spin_unlock(&wb->list_lock);
	if (n)
		pr_warn("bdi: %s is gone; %lu files with unwritten pages are given up\n",
			wb->bdi->name, n);
}

void bdi_unregister(struct bdi *bdi)
{
	struct wb *wb = &bdi->wb;
	s64 *stat = bdi->stat;

	if (!bdi->registered)
		return;
	mutex_lock(&bdi_mutex);
	list_del_rcu(&bdi->node);
	mutex_unlock(&bdi_mutex);
	spin_lock(&wb->list_lock);
	bdi->registered = 0; /* from here on nothing is queued */
	spin_unlock(&wb->list_lock);
	if (wb->flusher) {
		kthread_stop(wb->flusher); /* writes what there is */
		wb->flusher = NULL;
		give_up(wb);
		timer_cancel_sync(&wb->timer);
		wait_event(&bdi->drained, !bdi_stat(bdi, BDI_WRITEBACK));
	}
	congestion_clear(bdi, CONGEST_ASYNC);
	congestion_clear(bdi, CONGEST_SYNC);
	WRITE_ONCE(bdi->stat, dead_stat);
	synchronize_rcu();
	kfree(stat);
}
