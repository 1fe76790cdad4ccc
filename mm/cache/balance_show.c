// SPDX-License-Identifier: BSD-2-Clause
/*
 * balance_show.c - the brake and the devices print themselves: /sys/kernel/quire/balance, wb,
 * pauses, hz, and one directory per device, /sys/kernel/quire/bdi/NAME.
 */
#include "arch/smp.h"
#include "kernel/show.h"
#include "lib/errno.h"
#include "lib/parse.h"
#include "lib/string.h"
#include "mm/cache/balance.h"
#include "mm/cache/wb.h"
#include "mm/debug/vmstat.h"

DEFINE_PER_CPU(struct balance_stats, balance_stats);
long max_pause_ms;
TUNABLE("vm/max_pause_ms", max_pause_ms, 0, 10000, NULL);

static int max_pause_param(const char *text)
{
	const char *end;
	u64 v;

	end = parse_digits(text, 10, &v);
	if (!end || end == text || *end || v > 10000)
		return -EINVAL;
	max_pause_ms = (long)v;
	return 0;
}
BOOT_PARAM_FUNC(
	"max_pause_ms", max_pause_param,
	"longest pause of who dirties pages, ms (0: by memory, 1 ms per 4 MiB of the limit)");

void balance_slept(u64 ns)
{
	u64 ticks = min_t(u64, ns / NSEC_PER_TICK, BALANCE_HIST - 1);

	preempt_disable();
	this_cpu_ptr(&balance_stats)->hist[ticks]++;
	preempt_enable();
}

static u64 sum(size_t offset)
{
	u64 v = 0;

	for (u32 cpu = 0; cpu < max(nr_possible_cpus, 1u); cpu++)
		v += *(u64 *)((char *)&per_cpu(balance_stats, cpu) + offset);
	return v;
}

static void show_hist(struct seq *seq, const char *word)
{
	for (u32 i = 0; i < BALANCE_HIST; i++) {
		u64 n = sum(offsetof(struct balance_stats, hist) + i * sizeof(u64));

		if (n)
			seq_printf(seq, "%s%u %llu\n", word, i, (unsigned long long)n);
	}
}

static int balance_show(struct seq *seq)
{
#define _X(e, n) n,
	static const char *const name[] = { BALANCE_COUNTS(_X) };
#undef _X

	for (u32 i = 0; i < NR_BALANCE_COUNTS; i++)
		seq_printf(seq, "%s %llu\n", name[i],
			   (unsigned long long)sum(offsetof(struct balance_stats, count) +
						   i * sizeof(u64)));
	show_hist(seq, "hist ");
	return 0;
}

static int pauses_show(struct seq *seq)
{
	show_hist(seq, "");
	return 0;
}

static ssize_t stats_reset(const char *text, size_t n, long index)
{
	for (u32 cpu = 0; cpu < max(nr_possible_cpus, 1u); cpu++)
		memset(&per_cpu(balance_stats, cpu), 0, sizeof(struct balance_stats));
	return (ssize_t)n;
}
SHOW("/sys/kernel/quire/balance", 0644, balance_show, stats_reset);
SHOW("/sys/kernel/quire/pauses", 0644, pauses_show, stats_reset);

static int hz_show(struct seq *seq)
{
	seq_printf(seq, "%d\n", HZ);
	return 0;
}
SHOW("/sys/kernel/quire/hz", 0444, hz_show, NULL);

/* ---- devices ---- */

/* As the brake sees it, but with the exact number of dirty pages. */
static void exact_position(struct bdi *bdi, struct wb_position *p)
{
	wb_position(&bdi->wb, p);
	p->bdi_reclaimable = bdi_stat_sum(bdi, BDI_RECLAIMABLE);
}

static int wb_show(struct seq *seq)
{
	struct bdi *bdi;

	rcu_read_lock();
	for (bdi = NULL; (bdi = bdi_next(bdi));) {
		const struct throttle_est *e = &bdi->wb.est;
		struct wb_position p;

		exact_position(bdi, &p);
		seq_printf(seq,
			   "%s write_bw=%lu throttle_bw=%lu ratelimit=%lu avg_write_bw=%lu "
			   "avg_dirty=%lu "
			   "bdi_dirty=%lu bdi_writeback=%lu bdi_limit=%lu task_limit=%lu ",
			   bdi->name, e->write_bw, e->throttle_bw, e->ratelimit, e->avg_write_bw,
			   e->avg_dirty, p.bdi_reclaimable, p.bdi_writeback, p.bdi_limit,
			   p.task_limit);
		seq_printf(seq,
			   "global_dirty=%lu global_writeback=%lu limit=%lu bg=%lu freerun=%lu "
			   "max_pause=%u min_pause=%u dirty_exceeded=%u written=%lu dirtied=%lu\n",
			   p.dirty, p.dirty_writeback - p.dirty, p.limit, p.bg,
			   dirty_freerun(p.bg, p.limit), p.max_pause, p.min_pause,
			   bdi->wb.dirty_exceeded, bdi_stat_sum(bdi, BDI_WRITTEN),
			   bdi_stat_sum(bdi, BDI_DIRTIED));
	}
	rcu_read_unlock();
	return 0;
}
SHOW("/sys/kernel/quire/wb", 0444, wb_show, NULL);

static struct bdi *nth_bdi(long n)
{
	struct bdi *bdi;

	for (bdi = NULL; (bdi = bdi_next(bdi)) && n;)
		n--;
	return bdi;
}

static int nr_bdis(void)
{
	struct bdi *bdi;
	int n = 0;

	rcu_read_lock();
	for (bdi = NULL; (bdi = bdi_next(bdi));)
		n++;
	rcu_read_unlock();
	return n;
}

static const char *bdi_name(long n)
{
	const char *name;
	struct bdi *bdi;

	rcu_read_lock();
	bdi = nth_bdi(n);
	name = bdi ? bdi->trace_name : NULL;
	rcu_read_unlock();
	return name;
}

static unsigned long list_length(struct list_head *head)
{
	struct list_head *p;
	unsigned long n = 0;

	list_for_each(p, head)
		n++;
	return n;
}

static int bdi_stats_show(struct seq *seq)
{
	struct wb_position p;
	struct bdi *bdi;

	rcu_read_lock();
	bdi = nth_bdi(seq->index);
	if (bdi) {
		struct wb *wb = &bdi->wb;

		exact_position(bdi, &p);
		seq_printf(seq,
			   "BdiWriteback:   %10lu kB\nBdiReclaimable: %10lu kB\n"
			   "BdiDirtyThresh: %10lu kB\nDirtyThresh:    %10lu kB\n"
			   "BackgroundThresh: %8lu kB\nBdiDirtied:     %10lu kB\n"
			   "BdiWritten:     %10lu kB\nBdiWriteBandwidth: %7lu kBps\n"
			   "BdiAvgWriteBandwidth: %4lu kBps\nBdiThrottleBandwidth: %4lu kBps\n",
			   p.bdi_writeback * 4, p.bdi_reclaimable * 4, p.bdi_limit * 4, p.limit * 4,
			   p.bg * 4, bdi_stat_sum(bdi, BDI_DIRTIED) * 4,
			   bdi_stat_sum(bdi, BDI_WRITTEN) * 4, wb->est.write_bw * 4,
			   wb->est.avg_write_bw * 4, wb->est.throttle_bw * 4);
		spin_lock(&wb->list_lock);
		seq_printf(seq,
			   "b_dirty:        %10lu\nb_io:           %10lu\nb_more_io:      %10lu\n"
			   "dirty_exceeded: %10u\nstate:          %10x\ntimer_armed:    %10lu\n"
			   "min_ratio:      %10u\nmax_ratio:      %10u\ncongested:      %10x\n",
			   list_length(&wb->b_dirty), list_length(&wb->b_io),
			   list_length(&wb->b_more_io), wb->dirty_exceeded, wb->state,
			   (unsigned long)wb->timer_armed, bdi->min_ratio, bdi->max_ratio,
			   bdi->congested);
		spin_unlock(&wb->list_lock);
	}
	rcu_read_unlock();
	return 0;
}
SHOW_NAMED("/sys/kernel/quire/bdi/%s/stats", 0444, nr_bdis, bdi_name, bdi_stats_show, NULL);

/* min_ratio and max_ratio: per cent, min <= max; the minima together stay below 100. */
static ssize_t ratio_store(const char *text, size_t n, long index, bool is_min)
{
	struct bdi *bdi, *b;
	const char *end;
	u32 sum_min = 0;
	ssize_t ret = (ssize_t)n;
	u64 v;

	end = parse_digits(text, 10, &v);
	if (!end || end == text || (*end && *end != '\n') || v > 100)
		return -EINVAL;
	rcu_read_lock();
	bdi = nth_bdi(index);
	for (b = NULL; (b = bdi_next(b));)
		sum_min += b == bdi ? 0 : b->min_ratio;
	if (!bdi)
		ret = -ENODEV;
	else if (is_min ? v > bdi->max_ratio || v + sum_min >= 100 : v < bdi->min_ratio || !v)
		ret = -EINVAL;
	else if (is_min)
		bdi->min_ratio = (u32)v;
	else
		bdi->max_ratio = (u32)v;
	rcu_read_unlock();
	return ret;
}

static ssize_t min_ratio_store(const char *text, size_t n, long index)
{
	return ratio_store(text, n, index, true);
}

static ssize_t max_ratio_store(const char *text, size_t n, long index)
{
	return ratio_store(text, n, index, false);
}

static int ratio_show(struct seq *seq, bool is_min)
{
	struct bdi *bdi;

	rcu_read_lock();
	bdi = nth_bdi(seq->index);
	if (bdi)
		seq_printf(seq, "%u\n", is_min ? bdi->min_ratio : bdi->max_ratio);
	rcu_read_unlock();
	return 0;
}

static int min_ratio_show(struct seq *seq)
{
	return ratio_show(seq, true);
}

static int max_ratio_show(struct seq *seq)
{
	return ratio_show(seq, false);
}
SHOW_NAMED("/sys/class/bdi/%s/min_ratio", 0644, nr_bdis, bdi_name, min_ratio_show, min_ratio_store);
SHOW_NAMED("/sys/class/bdi/%s/max_ratio", 0644, nr_bdis, bdi_name, max_ratio_show, max_ratio_store);
