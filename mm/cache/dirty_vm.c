// SPDX-License-Identifier: BSD-2-Clause
/*
 * dirty_vm.c - the machine's dirty limits: tunables under /proc/sys/vm, the figures they are
 * applied to, and the two floating proportions (devices by completed pages, tasks by dirtied
 * pages).
 *
 * Setting a ratio clears the matching byte limit and the other way round; the one that was set last
 * counts. Every figure is a read of zone counters: that is the cost [seed-000] and [seed-001] work
 * on, so nothing here is read twice.
 * Locking: the proportion of devices under each bdi's est_lock (its own part) and prop_lock (the
 * common part); that of tasks: own part by the task only, common part one atomic counter.
 */
#include "kernel/param.h"
#include "kernel/show.h"
#include "lib/math.h"
#include "mm/cache/writeback.h"
#include "mm/phys/page_alloc.h"

DEFINE_SWITCH(dirtyable, 0, 0, 1, "001",
	      "what counts as dirtyable memory: 0 2.6.37 (free + file, + anon with swap), 1 3.16 "
	      "(free beyond the reserves + file)");
/*
 * The series of [seed-001] contains a patch for a faster ramp-up of a device's limit and stands on
 * it: with 0 a new device reaches its whole limit only after a minute of writing at full speed.
 */
DEFINE_SWITCH(
	bdi_ramp, 1, 0, 1, "001",
	"a device's share of the dirty limit follows its completions over: 0 up to four times "
	"the limit (2.6.37), 1 an eighth of that (the document's series)");

static struct dirty_tunables tun = { .background_ratio = 10, .ratio = 20 };
long dirty_writeback_centisecs = 500, dirty_expire_centisecs = 3000;
static long highmem_is_dirtyable;

static DEFINE_SPINLOCK(prop_lock, RANK_LEAF);
static struct prop_global completions; /* (prop_lock) pages written, by device */
static struct prop_global dirties;     /* pages dirtied, by task; events atomically */

unsigned long dirtyable_pages(void)
{
	struct dirty_figures f = { .highmem_is_dirtyable = highmem_is_dirtyable != 0 };
	unsigned long total, swap_free = 0;
	struct zone *z;

	if (!switch_value(dirtyable) && swap_pages_hook)
		swap_pages_hook(&total, &swap_free);
	f.swap = swap_free != 0;
	for_each_zone(z) {
		unsigned long free = zone_state(z, NR_FREE_PAGES);
		unsigned long inactive = zone_state(z, NR_INACTIVE_FILE);
		unsigned long active = zone_state(z, NR_ACTIVE_FILE);

		f.free += free;
		f.inactive_file += inactive;
		f.active_file += active;
		f.reserve += z->dirty_balance_reserve;
		if (f.swap)
			f.anon += zone_state(z, NR_INACTIVE_ANON) + zone_state(z, NR_ACTIVE_ANON);
		if (z->is_high)
			f.high += free + inactive + active;
	}
	return dirty_dirtyable(&f, switch_value(dirtyable));
}

void dirty_limits(unsigned long *background, unsigned long *dirty)
{
	bool lift = (current->flags & TF_LESS_THROTTLE) || current->policy == SCHED_FIFO ||
		    current->policy == SCHED_RR;

	dirty_compute_limits(&tun, tun.bytes && tun.background_bytes ? 0 : dirtyable_pages(), lift,
			     background, dirty);
}

void dirty_global(unsigned long *dirty, unsigned long *with_writeback)
{
	*dirty = global_zone_state(NR_DIRTY) + global_zone_state(NR_UNSTABLE);
	*with_writeback = *dirty + global_zone_state(NR_WRITEBACK);
}

bool dirty_over_background(void)
{
	unsigned long bg, limit;

	dirty_limits(&bg, &limit);
	return global_zone_state(NR_DIRTY) + global_zone_state(NR_UNSTABLE) > bg;
}

/* ---- proportions ---- */

static u32 ramp_used; /* value of the switch the periods were made with */
static void update_periods(void)
{
	unsigned long bg, limit;
	u32 shift;

	ramp_used = switch_value(bdi_ramp);
	dirty_compute_limits(&tun, dirtyable_pages(), false, &bg, &limit);
	shift = prop_shift(limit, ramp_used);
	spin_lock(&prop_lock);
	prop_set_shift(&completions, shift);
	prop_set_shift(&dirties, shift);
	spin_unlock(&prop_lock);
}

void dirty_count_completions(struct bdi *bdi, u64 written)
{
	struct wb *wb = &bdi->wb;
	u64 n = written - wb->written_counted;

	if ((s64)n < 0)
		n = 0;
	wb->written_counted += n;
	if (unlikely(switch_value(bdi_ramp) != ramp_used)) /* flipped at run time */
		update_periods();
	spin_lock(&prop_lock);
	prop_add(&completions, &wb->completions, n);
	spin_unlock(&prop_lock);
}

unsigned long dirty_bdi_limit_now(struct bdi *bdi, unsigned long dirty)
{
	u32 min_sum = 0;
	struct bdi *b;
	u64 num, den;

	rcu_read_lock();
	for (b = NULL; (b = bdi_next(b));)
		min_sum += READ_ONCE(b->min_ratio);
	rcu_read_unlock();
	prop_fraction(&completions, &bdi->wb.completions, &num, &den);
	return dirty_bdi_limit(dirty, num, den, min_sum, bdi->min_ratio, bdi->max_ratio);
}

static struct prop_local task_dirties(void)
{
	return (struct prop_local){ .events = current->dirties,
				    .period = current->dirties_period,
				    .shift = READ_ONCE(dirties.shift) };
}

void dirty_count_task(u32 n)
{
	struct prop_global g = { .shift = READ_ONCE(dirties.shift) };
	struct prop_local l = task_dirties();

	g.events = __atomic_fetch_add(&dirties.events, n, __ATOMIC_RELAXED);
	prop_add(&g, &l, n);
	current->dirties = l.events;
	current->dirties_period = l.period;
}

unsigned long dirty_task_limit_now(unsigned long bdi_limit)
{
	struct prop_global g = { .events = READ_ONCE(dirties.events),
				 .shift = READ_ONCE(dirties.shift) };
	struct prop_local l = task_dirties();
	u64 num, den;

	prop_norm(&g, &l);
	prop_fraction(&g, &l, &num, &den);
	return dirty_task_limit(bdi_limit, THROTTLE_TASK_SOFT, num, den);
}

/* ---- tunables ---- */

/* The last one set wins: what it replaces reads 0. */
static struct dirty_tunables before = { .background_ratio = 10, .ratio = 20 };
static void limits_changed(void)
{
	if (tun.ratio != before.ratio)
		tun.bytes = 0;
	else if (tun.bytes != before.bytes)
		tun.ratio = 0;
	if (tun.background_ratio != before.background_ratio)
		tun.background_bytes = 0;
	else if (tun.background_bytes != before.background_bytes)
		tun.background_ratio = 0;
	before = tun;
	if (dirties.shift)
		update_periods();
}

static void interval_changed(void)
{
	struct bdi *bdi;

	/* Sleeping flushers look at the new interval. */
	rcu_read_lock();
	for (bdi = NULL; (bdi = bdi_next(bdi));)
		wb_start_background(&bdi->wb);
	rcu_read_unlock();
}
TUNABLE("vm/dirty_background_ratio", tun.background_ratio, 0, 100, limits_changed);
TUNABLE("vm/dirty_ratio", tun.ratio, 0, 100, limits_changed);
TUNABLE("vm/dirty_background_bytes", tun.background_bytes, 1, 1l << 50, limits_changed);
TUNABLE("vm/dirty_bytes", tun.bytes, 8192, 1l << 50, limits_changed);
TUNABLE("vm/dirty_writeback_centisecs", dirty_writeback_centisecs, 0, S32_MAX, interval_changed);
TUNABLE("vm/dirty_expire_centisecs", dirty_expire_centisecs, 0, S32_MAX, NULL);
TUNABLE("vm/highmem_is_dirtyable", highmem_is_dirtyable, 0, 1, NULL);

void dirty_init(void)
{
	before = tun;
	dirty_limits_hook = dirty_limits;
	update_periods();
}
