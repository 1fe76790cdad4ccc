// SPDX-License-Identifier: BSD-2-Clause
/*
 * wb.c - which mappings of a device wait to be written, and in what order.
 *
 * Problem: the flusher must find what has been dirty longest, must not write the same busy file
 * for ever while others wait, and must not lose a file that is dirtied while it is being written.
 * Idea: three lists, one place per mapping.
 *
 *   mark_dirty -> b_dirty (newest first) --old enough--> b_io --written--> off, if clean
 *                    ^                                    |
 *                    |  not now (locked, redirtied)       |  pages left after its chunk
 *                    '------------------------------------+--> b_more_io --next round--> b_io
 *
 * Invariants: on a list <=> MAPD_QUEUED <=> the owner is held; dirtied_when falls from the head of
 * b_dirty to its tail; MAPD_SYNCING: one thread writes it, and only that one (or a waiter for it)
 * takes it off. A flag is cleared before the pages or attributes are looked at and set after they
 * were changed, so a change during writing leaves the flag set.
 * Locking: wb->list_lock (a plain spinlock: never in interrupts).
 * Source: [facts 1.12].
 */
#include "mm/cache/wb.h"

#include "sched/sched.h"

static DEFINE_WAIT_QUEUE(syncing_wait); /* for the end of any mapping's MAPD_SYNCING; few wait */

const char *const wb_reason_name[NR_WB_REASONS] = {
	[WB_REASON_BACKGROUND] = "background",
	[WB_REASON_VMSCAN] = "vmscan",
	[WB_REASON_SYNC] = "sync",
	[WB_REASON_PERIODIC] = "periodic",
	[WB_REASON_LAPTOP_TIMER] = "laptop_timer",
	[WB_REASON_FREE_MORE_MEM] = "free_more_memory",
	[WB_REASON_FS_FREE_SPACE] = "fs_free_space",
	[WB_REASON_FORKER_THREAD] = "forker_thread",
};

DEFINE_EVENT(writeback, writeback_dirty_inode, "bdi %s: owner=%lx state=%lx flags=%lx", "name",
	     "ino", "state", "flags");
DEFINE_EVENT(writeback, writeback_queue_io, "bdi %s: older=%lu enqueue=%lu", "name", "older",
	     "enqueue");
DEFINE_EVENT(writeback, writeback_single_inode,
	     "bdi %s: owner=%lx state=%lx dirtied_when=%lu index=%lu to_write=%lu wrote=%lu",
	     "name", "ino", "state", "dirtied_when", "writeback_index", "nr_to_write", "wrote");

#define MAPD_ANY (MAPD_PAGES | MAPD_META)

/* => list_lock */
void wb_arm_timer(struct wb *wb)
{
	long cs = READ_ONCE(dirty_writeback_centisecs);

	if (!wb->nr_dirty_mappings || cs <= 0)
		return;
	wb->timer_armed++;
	timer_start(&wb->timer, ktime_get() + (u64)cs * 10 * NSEC_PER_MSEC);
}

void mapping_mark_dirty(struct mapping *m, u32 what)
{
	struct bdi *bdi = m->bdi;
	struct wb *wb;

	if (!bdi || (bdi->capabilities & BDI_CAP_NO_WRITEBACK))
		return;
	smp_mb(); /* the change, then the look at the flag */
	if ((READ_ONCE(m->dirty) & what) == what)
		return;
	wb = &bdi->wb;
	spin_lock(&wb->list_lock);
	m->dirty |= what;
	if (!(m->dirty & MAPD_QUEUED) && likely(bdi->registered)) {
		m->dirty |= MAPD_QUEUED;
		m->dirtied_when = jiffies();
		list_add(&m->wb_link, &wb->b_dirty);
		if (m->ops->hold)
			m->ops->hold(m);
		if (!wb->nr_dirty_mappings++)
			wb_arm_timer(wb);
	}
	spin_unlock(&wb->list_lock);
	trace_event(writeback_dirty_inode, (u64)bdi->trace_name, (u64)m->owner, m->dirty, what);
}

void wb_dequeue(struct wb *wb, struct mapping *m)
{
	assert_spin_held(&wb->list_lock);
	ASSERT(m->dirty & MAPD_QUEUED);
	list_del_init(&m->wb_link);
	m->dirty &= ~MAPD_QUEUED;
	if (!--wb->nr_dirty_mappings)
		timer_cancel(&wb->timer); /* nothing dirty: no wake-up */
}

void wb_redirty_tail(struct wb *wb, struct mapping *m)
{
	if (!list_empty(&wb->b_dirty)) {
		struct mapping *newest = list_first_entry(&wb->b_dirty, struct mapping, wb_link);

		if (m->dirtied_when < newest->dirtied_when)
			m->dirtied_when = jiffies();
	}
	list_move(&m->wb_link, &wb->b_dirty);
}

unsigned long wb_queue_io(struct wb *wb, u64 older_than)
{
	unsigned long n = 0;

	assert_spin_held(&wb->list_lock);
	list_splice_init(&wb->b_more_io, &wb->b_io);
	/* The oldest is last in both lists and is written first. */
	while (!list_empty(&wb->b_dirty)) {
		struct mapping *m = list_last_entry(&wb->b_dirty, struct mapping, wb_link);

		if (older_than && m->dirtied_when > older_than)
			break;
		list_move(&m->wb_link, &wb->b_io);
		n++;
	}
	trace_event(writeback_queue_io, (u64)wb->bdi->trace_name, older_than, n);
	return n;
}

void wb_sync_done(struct wb *wb, struct mapping *m)
{
	m->dirty &= ~MAPD_SYNCING;
	if (wait_queue_active(&syncing_wait))
		wake_up_all(&syncing_wait);
}

void wb_wait_syncing(struct wb *wb, struct mapping *m)
{
	WAIT_ENTRY(entry);

	/* One sleep: m may be anything afterwards, so the caller looks at the lists again. */
	wait_prepare(&syncing_wait, &entry, THREAD_UNINTERRUPTIBLE);
	spin_unlock(&wb->list_lock);
	schedule();
	wait_finish(&syncing_wait, &entry);
	spin_lock(&wb->list_lock);
}

static bool dirty_tagged(struct mapping *m)
{
	bool tagged;

	rcu_read_lock();
	tagged = xa_tagged(&m->pages, XA_DIRTY);
	rcu_read_unlock();
	return tagged;
}

bool wb_requeue(struct wb *wb, struct mapping *m, const struct writeback_control *wbc)
{
	assert_spin_held(&wb->list_lock);
	if (!(m->dirty & MAPD_QUEUED))
		return false;
	/* What was written whole and is dirty again was dirtied meanwhile. */
	if ((m->dirty & MAPD_ANY) && (wbc->sync == WB_SYNC_ALL || wbc->tagged))
		m->dirtied_when = jiffies();
	if (!(m->dirty & MAPD_ANY)) {
		wb_dequeue(wb, m);
		return true;
	}
	if (wbc->pages_skipped) {
		wb_redirty_tail(wb, m); /* some pages cannot be written now */
	} else if (dirty_tagged(m)) {
		if (wbc->nr_to_write <= 0)
			list_move(&m->wb_link, &wb->b_more_io); /* its chunk was used up */
		else
			wb_redirty_tail(wb, m); /* held up by something: later */
	} else {
		wb_redirty_tail(wb, m); /* only attributes, changed while they were written */
	}
	return false;
}

/* Clears what is about to be written and says what it was. Pages still tagged keep their flag. */
static u32 take_dirty(struct wb *wb, struct mapping *m, u32 mask)
{
	unsigned long flags;
	u32 was;

	spin_lock(&wb->list_lock);
	was = m->dirty & mask;
	m->dirty &= ~mask;
	if (mask & MAPD_PAGES) {
		/* Whoever tags a page holds this lock and then looks at the flag. */
		spin_lock_irqsave_l(&m->lock, flags, "wb_tagged");
		if (xa_tagged(&m->pages, XA_DIRTY))
			m->dirty |= MAPD_PAGES;
		spin_unlock_irqrestore_l(&m->lock, flags, "wb_tagged");
	} else {
		smp_mb();
	}
	spin_unlock(&wb->list_lock);
	return was;
}

int wb_write_single(struct wb *wb, struct mapping *m, struct writeback_control *wbc)
{
	long asked = wbc->nr_to_write;
	int err, err2 = 0;
	u32 was;

	err = mapping_write_pages(m, wbc);
	/*
	 * A sync of this file alone: attributes only after the data. (A sync of the device waits
	 * for all at the end.)
	 */
	if (wbc->sync == WB_SYNC_ALL && !wbc->for_sync)
		mapping_wait_writeback(m, 0, U64_MAX);
	was = take_dirty(wb, m, MAPD_PAGES | MAPD_META | MAPD_DATASYNC);
	if ((was & MAPD_META) && m->ops->write_owner) {
		err2 = m->ops->write_owner(m, wbc);
		if (err2)
			mapping_set_error(m, err2);
	}
	trace_event(writeback_single_inode, (u64)wb->bdi->trace_name, (u64)m->owner, m->dirty,
		    m->dirtied_when, m->writeback_index, (u64)asked,
		    (u64)(asked - wbc->nr_to_write));
	return err ? err : err2;
}

int mapping_sync_owner(struct mapping *m, int datasync)
{
	struct writeback_control wbc = { .sync = WB_SYNC_ALL,
					 .reason = WB_REASON_SYNC,
					 .range_end = U64_MAX,
					 .nr_to_write = 1 };
	u32 wanted = datasync ? MAPD_DATASYNC : MAPD_META, mask = MAPD_PAGES;
	bool gone = false;
	struct wb *wb;
	int err = 0;

	/* Nothing to write, and not on a list only because nobody noticed yet: the common case. */
	if (!m->bdi || !(READ_ONCE(m->dirty) & (MAPD_ANY | MAPD_SYNCING)))
		return 0;
	wb = &m->bdi->wb;
	spin_lock(&wb->list_lock);
	while (m->dirty & MAPD_SYNCING)
		wb_wait_syncing(wb, m);
	if (!(m->dirty & MAPD_QUEUED)) {
		spin_unlock(&wb->list_lock);
		return 0;
	}
	if (m->dirty & wanted)
		mask |= MAPD_META | MAPD_DATASYNC;
	m->dirty |= MAPD_SYNCING;
	spin_unlock(&wb->list_lock);
	if ((take_dirty(wb, m, mask) & MAPD_META) && m->ops->write_owner) {
		err = m->ops->write_owner(m, &wbc);
		if (err)
			mapping_set_error(m, err);
	}
	spin_lock(&wb->list_lock);
	if (!(m->dirty & MAPD_ANY)) {
		wb_dequeue(wb, m);
		gone = true;
	}
	wb_sync_done(wb, m);
	spin_unlock(&wb->list_lock);
	if (gone)
		wb_release(m);
	return err;
}

void mapping_undirty(struct mapping *m)
{
	bool queued = false;
	struct wb *wb;

	if (!m->bdi || !(READ_ONCE(m->dirty) & (MAPD_QUEUED | MAPD_SYNCING)))
		return;
	wb = &m->bdi->wb;
	spin_lock(&wb->list_lock);
	while (m->dirty & MAPD_SYNCING)
		wb_wait_syncing(wb, m);
	if (m->dirty & MAPD_QUEUED) {
		wb_dequeue(wb, m);
		queued = true;
	}
	m->dirty = 0;
	spin_unlock(&wb->list_lock);
	if (queued)
		wb_release(m);
}
