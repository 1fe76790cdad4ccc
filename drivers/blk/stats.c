// SPDX-License-Identifier: BSD-2-Clause
/*
 * stats.c - what a part did, in the words of Linux: /proc/diskstats, /proc/partitions and the one
 * line of /sys/block/NAME/stat.
 *
 * Counted when a request is made (in flight) and when it ends (operations, sectors, time from the
 * beginning to the end, waiting included); a merged bio counts as a merge, its sectors with the
 * request. A partition's traffic counts for the whole disk too. "Ticks" are the time during which
 * anything was in flight: whoever changes the number in flight, or looks, adds the time since the
 * last change, if there was something.
 * Format: Linux's Documentation/admin-guide/iostats, fields 1 to 17.
 */
#include "drivers/blk/internal.h"
#include "arch/smp.h"
#include "kernel/show.h"
#include "kernel/time.h"
#include "mm/kmem/slab.h"

struct part_stats *part_stats_new(void)
{
	struct part_stats *s;

	s = kzalloc(sizeof(*s) + nr_cpus * sizeof(struct part_stat_cpu), GFP_KERNEL);
	if (s)
		s->stamp = ktime_get();
	return s;
}

static void sum(const struct part_stats *s, struct part_stat_cpu *out)
{
	*out = (struct part_stat_cpu){ 0 };
	for (u32 cpu = 0; cpu < nr_cpus; cpu++) {
		const struct part_stat_cpu *c = &s->cpu[cpu];

		for (int g = 0; g < NR_STAT_GROUPS; g++) {
			out->ios[g] += c->ios[g];
			out->merges[g] += c->merges[g];
			out->sectors[g] += c->sectors[g];
			out->nsecs[g] += c->nsecs[g];
		}
	}
}

static unsigned long long ms(u64 ns)
{
	return ns / NSEC_PER_MSEC;
}

static u32 in_flight(const struct part_stats *s)
{
	int n = atomic_read(&s->inflight[0]) + atomic_read(&s->inflight[1]);

	return n > 0 ? n : 0;
}

/* The seventeen numbers, each at least width wide. */
static void part_stat_numbers(struct seq *seq, const struct blk_part *part, int width)
{
	static const u8 order[] = { STAT_READ, STAT_WRITE, STAT_DISCARD };
	struct part_stats *s = part->stats;
	struct part_stat_cpu t;
	u64 total = 0;

	if (stat_busy(s))
		stat_ticks(s, ktime_get(), true);
	sum(s, &t);
	for (int g = 0; g < NR_STAT_GROUPS; g++)
		total += t.nsecs[g];
	for (u32 i = 0; i < ARRAY_SIZE(order); i++) {
		u32 g = order[i];

		seq_printf(seq, "%*llu %*llu %*llu %*llu ", width, (unsigned long long)t.ios[g],
			   width, (unsigned long long)t.merges[g], width,
			   (unsigned long long)t.sectors[g], width, ms(t.nsecs[g]));
		if (g == STAT_WRITE)
			seq_printf(seq, "%*u %*llu %*llu ", width, in_flight(s), width,
				   ms(s->io_ticks), width, ms(total));
	}
	seq_printf(seq, "%*llu %*llu", width, (unsigned long long)t.ios[STAT_FLUSH], width,
		   ms(t.nsecs[STAT_FLUSH]));
}

void part_stat_show(struct seq *seq, const struct blk_part *part)
{
	part_stat_numbers(seq, part, 8);
}

/* /proc/diskstats parts the same numbers by single blanks. */
static void diskstats_line(struct seq *seq, const struct blk_part *part)
{
	seq_printf(seq, "%4u %7u %s ", part->dev >> 20, part->dev & 0xfffff, part->name);
	part_stat_numbers(seq, part, 0);
	seq_putc(seq, '\n');
}

static int diskstats_show(struct seq *seq)
{
	for (struct disk *d = NULL; (d = disk_next(d));)
		for (u32 i = 0; i < DISK_MINORS; i++)
			if (d->parts[i] && d->parts[i]->nr_sectors)
				diskstats_line(seq, d->parts[i]);
	return 0;
}
SHOW("/proc/diskstats", 0444, diskstats_show, NULL);

static int partitions_show(struct seq *seq)
{
	bool head = false;

	for (struct disk *d = NULL; (d = disk_next(d));) {
		for (u32 i = 0; i < DISK_MINORS; i++) {
			const struct blk_part *p = d->parts[i];

			if (!p || !p->nr_sectors)
				continue;
			if (!head)
				seq_puts(seq, "major minor  #blocks  name\n\n");
			head = true;
			seq_printf(seq, "%4u  %7u %10llu %s\n", p->dev >> 20, p->dev & 0xfffff,
				   (unsigned long long)p->nr_sectors >> 1, p->name);
		}
	}
	if (!head)
		seq_puts(seq, "major minor  #blocks  name\n\n");
	return 0;
}
SHOW("/proc/partitions", 0444, partitions_show, NULL);
