/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show_zones.c - /proc/buddyinfo, pagetypeinfo, zoneinfo and vmstat, byte for byte in the forms the
 * documents' kernels print (zoneinfo as of 3.16: counters are per zone here too). Reads take no
 * lock unless a list is walked.
 */
#include "kernel/cpumask.h"
#include "kernel/show.h"
#include "lib/math.h"
#include "mm/phys/internal.h"
#include "mm/reclaim/workingset.h"

static int buddyinfo_show(struct seq *seq)
{
	struct zone *z;

	for_each_zone(z) {
		seq_printf(seq, "Node %d, zone %8s ", z->node->id, z->name);
		for (int o = 0; o < MAX_ORDER; o++)
			seq_printf(seq, "%6lu ", READ_ONCE(z->buddy.area[o].nr_free));
		seq_putc(seq, '\n');
	}
	return 0;
}
SHOW("/proc/buddyinfo", 0444, buddyinfo_show, NULL);

static void show_blocks(struct seq *seq, struct zone *z)
{
	unsigned long count[NR_MIGRATETYPES] = { 0 };
	unsigned long first = z->start_pfn >> PAGEBLOCK_ORDER;
	unsigned long last = (z->start_pfn + z->spanned_pages - 1) >> PAGEBLOCK_ORDER;

	for (unsigned long b = first; b <= last; b++)
		if (pageblock_types[b] < NR_MIGRATETYPES &&
		    page_zone(pfn_to_page(max(b << PAGEBLOCK_ORDER, z->start_pfn))) == z)
			count[pageblock_types[b]]++;
	seq_printf(seq, "Node %d, zone %8s ", z->node->id, z->name);
	for (int m = 0; m < NR_MIGRATETYPES; m++)
		seq_printf(seq, "%12lu ", count[m]);
	seq_putc(seq, '\n');
}

static int pagetypeinfo_show(struct seq *seq)
{
	struct zone *z;

	seq_printf(seq, "Page block order: %d\n", PAGEBLOCK_ORDER);
	seq_printf(seq, "Pages per block:  %lu\n\n", PAGEBLOCK_PAGES);
	seq_printf(seq, "%-43s ", "Free pages count per migrate type at order");
	for (int o = 0; o < MAX_ORDER; o++)
		seq_printf(seq, "%6d ", o);
	seq_putc(seq, '\n');
	for_each_zone(z)
		for (int m = 0; m < NR_MIGRATETYPES; m++) {
			seq_printf(seq, "Node %4d, zone %8s, type %12s ", z->node->id, z->name,
				   migratetype_name[m]);
			for (unsigned int o = 0; o < MAX_ORDER; o++)
				seq_printf(seq, "%6lu ", READ_ONCE(z->buddy.area[o].nr[m]));
			seq_putc(seq, '\n');
		}
	seq_printf(seq, "\n%-23s", "Number of blocks type ");
	for (int m = 0; m < NR_MIGRATETYPES; m++)
		seq_printf(seq, "%12s ", migratetype_name[m]);
	seq_putc(seq, '\n');
	for_each_zone(z)
		show_blocks(seq, z);
	return 0;
}
SHOW("/proc/pagetypeinfo", 0400, pagetypeinfo_show, NULL);

/* ---- names ---- */

#define NAME_X(e, n, h) n,
#define NAME_Z(e, n, h) n "_dma", n "_dma32", n "_normal", n "_high", n "_movable",
static const char *const zone_item_name[] = { ZONE_STAT_ITEMS(NAME_X) };
static const char *const numa_item_name[] = { NUMA_ITEMS(NAME_X) };
static const char *const event_name[] = { VM_EVENTS(NAME_X, NAME_Z) };
#define ABOUT_X(e, n, h) { n, h },
#define ABOUT_Z(e, n, h) { n "_ZONE", h },
static const char *const about[][2] = { ZONE_STAT_ITEMS(ABOUT_X) NUMA_ITEMS(ABOUT_X)
						VM_EVENTS(ABOUT_X, ABOUT_Z) };

static int about_show(struct seq *seq)
{
	for (size_t i = 0; i < ARRAY_SIZE(about); i++)
		seq_printf(seq, "%-32s %s\n", about[i][0], about[i][1]);
	return 0;
}
SHOW("/sys/kernel/quire/vmstat_about", 0444, about_show, NULL);

const char *zone_stat_name(enum zone_stat_item item)
{
	return zone_item_name[item];
}

const char *vm_event_name(enum vm_event e)
{
	return event_name[e];
}

const char *numa_stat_name(enum numa_item item)
{
	return numa_item_name[item];
}

/* ---- zoneinfo ---- */

static void show_zone(struct seq *seq, struct zone *z)
{
	u32 cpu;

	seq_printf(seq, "Node %d, zone %8s", z->node->id, z->name);
	seq_printf(seq,
		   "\n  pages free     %lu\n        min      %lu\n        low      %lu\n        "
		   "high     %lu",
		   zone_state(z, NR_FREE_PAGES), z->watermark[WMARK_MIN], z->watermark[WMARK_LOW],
		   z->watermark[WMARK_HIGH]);
	seq_printf(seq,
		   "\n        scanned  %lu\n        spanned  %lu\n        present  %lu\n        "
		   "managed  %lu",
		   z->pages_scanned, z->spanned_pages, z->present_pages, z->managed_pages);
	for (int i = 0; i < NR_ZONE_STAT_ITEMS; i++)
		seq_printf(seq, "\n    %-12s %lu", zone_item_name[i],
			   zone_state_exact(z, (enum zone_stat_item)i));
	for (int i = 0; i < NR_NUMA_ITEMS; i++)
		seq_printf(seq, "\n    %-12s %llu", numa_item_name[i],
			   (unsigned long long)zone_numa_sum(z, (enum numa_item)i));
	seq_printf(seq, "\n        protection: (%lu", z->lowmem_reserve[0]);
	for (int i = 1; i < NR_ZONE_TYPES; i++)
		seq_printf(seq, ", %lu", z->lowmem_reserve[i]);
	seq_puts(seq, ")\n  pagesets");
	for_each_online_cpu(cpu) {
		const struct pcp *pcp = zone_pcp(z, cpu);
		s32 count = 0;

		for (int mt = 0; mt < MT_PCPTYPES; mt++) {
			const struct pcp_list *l = &pcp->list[mt];

			count += pcp->batch - l->room +
				 (s32)(l->nr_full * pcp->batch + hweight64(l->carry_set));
			for (u32 o = 0; o < PCP_BIG_ORDER; o++)
				count += (s32)(pcp->big[o][mt].count << (o + 1));
		}
		seq_printf(seq,
			   "\n    cpu: %u\n              count: %d\n              high:  %d\n      "
			   "        batch: %d",
			   cpu, count, pcp->batch * (PCP_FULL_MAX + 2), pcp->batch);
		seq_printf(seq, "\n  vm stats threshold: %u", pcp->stat_threshold);
	}
	seq_printf(seq,
		   "\n  all_unreclaimable: %u\n  start_pfn:         %lu\n  inactive_ratio:    %u\n",
		   z->all_unreclaimable, z->start_pfn, z->inactive_ratio);
}

static int zoneinfo_show(struct seq *seq)
{
	struct zone *z;

	for_each_zone(z)
		show_zone(seq, z);
	return 0;
}
SHOW("/proc/zoneinfo", 0444, zoneinfo_show, NULL);

void (*dirty_limits_hook)(unsigned long *background, unsigned long *dirty);

static int vmstat_show(struct seq *seq)
{
	unsigned long background = 0, dirty = 0;
	struct zone *z;

	for (int i = 0; i < NR_ZONE_STAT_ITEMS; i++)
		seq_printf(seq, "%s %lu\n", zone_item_name[i],
			   global_zone_state((enum zone_stat_item)i));
	if (dirty_limits_hook)
		dirty_limits_hook(&background, &dirty);
	seq_printf(seq, "nr_dirty_threshold %lu\nnr_dirty_background_threshold %lu\n", dirty,
		   background);
	seq_printf(seq, "workingset_nodes %lu\n", workingset_nr_nodes());
	for (int i = 0; i < NR_NUMA_ITEMS; i++) {
		u64 v = 0;

		for_each_zone(z)
			v += zone_numa_sum(z, (enum numa_item)i);
		seq_printf(seq, "%s %llu\n", numa_item_name[i], (unsigned long long)v);
	}
	for (int i = 0; i < NR_VM_EVENTS; i++)
		seq_printf(seq, "%s %llu\n", event_name[i],
			   (unsigned long long)vm_event_sum((enum vm_event)i));
	return 0;
}
SHOW("/proc/vmstat", 0444, vmstat_show, NULL);
