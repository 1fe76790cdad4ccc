/* SPDX-License-Identifier: BSD-2-Clause */
/* show_node.c - /proc/meminfo and /sys/devices/system/node, in Linux's names and columns. */
#include "arch/smp.h"
#include "kernel/show.h"
#include "mm/phys/internal.h"

unsigned long (*committed_pages_hook)(void);
void (*swap_pages_hook)(unsigned long *total, unsigned long *free);

#define KB(pages) ((pages) << (PAGE_SHIFT - 10))
#define G(item) global_zone_state(NR_##item)

/* Name with colon, padded so that the numbers of all lines end in one column. */
static void line(struct seq *seq, const char *name, unsigned long pages)
{
	seq_printf(seq, "%-16s%8lu kB\n", name, KB(pages));
}

/*
 * An estimate of what a new program could get without swapping: free pages, cache and slabs above
 * what must stay.
 */
static unsigned long available_pages(void)
{
	unsigned long file = G(ACTIVE_FILE) + G(INACTIVE_FILE), slab = G(SLAB_RECLAIMABLE), low = 0,
		      reserve = 0;
	unsigned long keep;
	struct zone *z;
	long n;

	for_each_zone(z) {
		low += z->watermark[WMARK_LOW];
		reserve += z->dirty_balance_reserve;
	}
	n = (long)nr_free_pages() - (long)reserve;
	keep = min(file / 2, low);
	n += (long)(file - keep);
	n += (long)(slab - min(slab / 2, low));
	return n < 0 ? 0 : (unsigned long)n;
}

static void show_lru(struct seq *seq)
{
	line(seq, "Active:", G(ACTIVE_ANON) + G(ACTIVE_FILE));
	line(seq, "Inactive:", G(INACTIVE_ANON) + G(INACTIVE_FILE));
	line(seq, "Active(anon):", G(ACTIVE_ANON));
	line(seq, "Inactive(anon):", G(INACTIVE_ANON));
	line(seq, "Active(file):", G(ACTIVE_FILE));
	line(seq, "Inactive(file):", G(INACTIVE_FILE));
	line(seq, "Unevictable:", G(UNEVICTABLE));
	line(seq, "Mlocked:", G(MLOCK));
}

static int meminfo_show(struct seq *seq)
{
	unsigned long swap_total = 0, swap_free = 0, cached = G(FILE_PAGES);

	if (swap_pages_hook)
		swap_pages_hook(&swap_total, &swap_free);
	line(seq, "MemTotal:", totalram_pages);
	line(seq, "MemFree:", nr_free_pages());
	line(seq, "MemAvailable:", available_pages());
	line(seq, "Buffers:", 0);
	line(seq, "Cached:", cached);
	line(seq, "SwapCached:", G(SWAPCACHE));
	show_lru(seq);
	line(seq, "SwapTotal:", swap_total);
	line(seq, "SwapFree:", swap_free);
	line(seq, "Dirty:", G(DIRTY));
	line(seq, "Writeback:", G(WRITEBACK));
	line(seq, "AnonPages:", G(ANON_PAGES));
	line(seq, "Mapped:", G(MAPPED));
	line(seq, "Shmem:", G(SHMEM));
	line(seq, "KReclaimable:", G(SLAB_RECLAIMABLE));
	line(seq, "Slab:", G(SLAB_RECLAIMABLE) + G(SLAB_UNRECLAIMABLE));
	line(seq, "SReclaimable:", G(SLAB_RECLAIMABLE));
	line(seq, "SUnreclaim:", G(SLAB_UNRECLAIMABLE));
	line(seq, "KernelStack:", G(KERNEL_STACK));
	line(seq, "PageTables:", G(PAGETABLE));
	line(seq, "NFS_Unstable:", G(UNSTABLE));
	line(seq, "Bounce:", G(BOUNCE));
	line(seq, "WritebackTmp:", 0);
	line(seq, "CommitLimit:", totalram_pages / 2 + swap_total);
	line(seq, "Committed_AS:", committed_pages_hook ? committed_pages_hook() : 0);
	seq_printf(seq, "VmallocTotal:   %8lu kB\n", (VMALLOC_END - VMALLOC_START + 1) >> 10);
	line(seq, "VmallocUsed:", G(VMALLOC) + G(KERNEL_STACK));
	line(seq, "VmallocChunk:", 0);
	line(seq, "AnonHugePages:", G(ANON_THPS) * PAGEBLOCK_PAGES);
	return 0;
}
SHOW("/proc/meminfo", 0444, meminfo_show, NULL);

/* ---- /sys/devices/system/node ---- */

static int node_count(void)
{
	return nr_nodes;
}

static void node_line(struct seq *seq, const char *name, unsigned long pages)
{
	seq_printf(seq, "Node %ld %-16s%8lu kB\n", seq->index, name, KB(pages));
}

#define N(item) node_zone_state((int)seq->index, NR_##item)

static int node_meminfo_show(struct seq *seq)
{
	unsigned long total = 0, free_pages = N(FREE_PAGES);
	const struct node *node = nodes[seq->index];

	for (u32 i = 0; i < node->nr_zones; i++)
		total += node->zones[i].managed_pages;
	node_line(seq, "MemTotal:", total);
	node_line(seq, "MemFree:", free_pages);
	node_line(seq, "MemUsed:", total - free_pages);
	node_line(seq, "SwapCached:", N(SWAPCACHE));
	node_line(seq, "Active:", N(ACTIVE_ANON) + N(ACTIVE_FILE));
	node_line(seq, "Inactive:", N(INACTIVE_ANON) + N(INACTIVE_FILE));
	node_line(seq, "Active(anon):", N(ACTIVE_ANON));
	node_line(seq, "Inactive(anon):", N(INACTIVE_ANON));
	node_line(seq, "Active(file):", N(ACTIVE_FILE));
	node_line(seq, "Inactive(file):", N(INACTIVE_FILE));
	node_line(seq, "Unevictable:", N(UNEVICTABLE));
	node_line(seq, "Mlocked:", N(MLOCK));
	node_line(seq, "Dirty:", N(DIRTY));
	node_line(seq, "Writeback:", N(WRITEBACK));
	node_line(seq, "FilePages:", N(FILE_PAGES));
	node_line(seq, "Mapped:", N(MAPPED));
	node_line(seq, "AnonPages:", N(ANON_PAGES));
	node_line(seq, "Shmem:", N(SHMEM));
	node_line(seq, "KernelStack:", N(KERNEL_STACK));
	node_line(seq, "PageTables:", N(PAGETABLE));
	node_line(seq, "NFS_Unstable:", N(UNSTABLE));
	node_line(seq, "Bounce:", N(BOUNCE));
	node_line(seq, "WritebackTmp:", 0);
	node_line(seq, "KReclaimable:", N(SLAB_RECLAIMABLE));
	node_line(seq, "Slab:", N(SLAB_RECLAIMABLE) + N(SLAB_UNRECLAIMABLE));
	node_line(seq, "SReclaimable:", N(SLAB_RECLAIMABLE));
	node_line(seq, "SUnreclaim:", N(SLAB_UNRECLAIMABLE));
	node_line(seq, "AnonHugePages:", N(ANON_THPS) * PAGEBLOCK_PAGES);
	seq_printf(seq, "Node %ld HugePages_Total: %5u\n", seq->index, 0u);
	seq_printf(seq, "Node %ld HugePages_Free:  %5u\n", seq->index, 0u);
	seq_printf(seq, "Node %ld HugePages_Surp:  %5u\n", seq->index, 0u);
	return 0;
}
SHOW_ARRAY("/sys/devices/system/node/node%d/meminfo", 0444, node_count, NULL, node_meminfo_show,
	   NULL);

static u64 node_numa(long node, enum numa_item item)
{
	u64 v = 0;

	for (u32 i = 0; i < nodes[node]->nr_zones; i++)
		v += zone_numa_sum(&nodes[node]->zones[i], item);
	return v;
}

static int node_numastat_show(struct seq *seq)
{
	static const char *const names[NR_NUMA_ITEMS] = { "numa_hit",	  "numa_miss",
							  "numa_foreign", "interleave_hit",
							  "local_node",	  "other_node" };

	for (int i = 0; i < NR_NUMA_ITEMS; i++)
		seq_printf(seq, "%s %llu\n", names[i],
			   (unsigned long long)node_numa(seq->index, (enum numa_item)i));
	return 0;
}
SHOW_ARRAY("/sys/devices/system/node/node%d/numastat", 0444, node_count, NULL, node_numastat_show,
	   NULL);

static int node_vmstat_show(struct seq *seq)
{
	for (int i = 0; i < NR_ZONE_STAT_ITEMS; i++)
		seq_printf(seq, "%s %lu\n", zone_stat_name((enum zone_stat_item)i),
			   node_zone_state((int)seq->index, (enum zone_stat_item)i));
	for (int i = 0; i < NR_NUMA_ITEMS; i++)
		seq_printf(seq, "%s %llu\n", numa_stat_name((enum numa_item)i),
			   (unsigned long long)node_numa(seq->index, (enum numa_item)i));
	return 0;
}
SHOW_ARRAY("/sys/devices/system/node/node%d/vmstat", 0444, node_count, NULL, node_vmstat_show,
	   NULL);

static int node_distance_show(struct seq *seq)
{
	for (int i = 0; i < nr_nodes; i++)
		seq_printf(seq, "%s%d", i ? " " : "", node_distance((int)seq->index, i));
	seq_putc(seq, '\n');
	return 0;
}
SHOW_ARRAY("/sys/devices/system/node/node%d/distance", 0444, node_count, NULL, node_distance_show,
	   NULL);

static unsigned long online_cpus_of(long node)
{
	return nodes[node]->cpus & cpu_online_mask;
}

static int node_cpumap_show(struct seq *seq)
{
	unsigned long cpus = online_cpus_of(seq->index);

	seq_bitmap_hex(seq, &cpus, nr_possible_cpus);
	seq_putc(seq, '\n');
	return 0;
}
SHOW_ARRAY("/sys/devices/system/node/node%d/cpumap", 0444, node_count, NULL, node_cpumap_show,
	   NULL);

static int node_cpulist_show(struct seq *seq)
{
	unsigned long cpus = online_cpus_of(seq->index);

	seq_bitmap_list(seq, &cpus, nr_possible_cpus);
	seq_putc(seq, '\n');
	return 0;
}
SHOW_ARRAY("/sys/devices/system/node/node%d/cpulist", 0444, node_count, NULL, node_cpulist_show,
	   NULL);

static int show_nodes(struct seq *seq, bool (*has)(const struct node *))
{
	unsigned long mask = 0;

	for (int n = 0; n < nr_nodes; n++)
		if (!has || has(nodes[n]))
			mask |= BIT(n);
	seq_bitmap_list(seq, &mask, MAX_NODES);
	seq_putc(seq, '\n');
	return 0;
}

static bool has_memory(const struct node *n)
{
	return n->has_memory;
}

static bool has_cpu(const struct node *n)
{
	return n->cpus & cpu_online_mask;
}

static bool has_normal(const struct node *n)
{
	for (u32 i = 0; i < n->nr_zones; i++)
		if (n->zones[i].type <= ZONE_NORMAL)
			return true;
	return false;
}

static int nodes_online_show(struct seq *seq)
{
	return show_nodes(seq, NULL);
}
static int nodes_memory_show(struct seq *seq)
{
	return show_nodes(seq, has_memory);
}
static int nodes_cpu_show(struct seq *seq)
{
	return show_nodes(seq, has_cpu);
}
static int nodes_normal_show(struct seq *seq)
{
	return show_nodes(seq, has_normal);
}
SHOW("/sys/devices/system/node/online", 0444, nodes_online_show, NULL);
SHOW("/sys/devices/system/node/possible", 0444, nodes_online_show, NULL);
SHOW("/sys/devices/system/node/has_memory", 0444, nodes_memory_show, NULL);
SHOW("/sys/devices/system/node/has_cpu", 0444, nodes_cpu_show, NULL);
SHOW("/sys/devices/system/node/has_normal_memory", 0444, nodes_normal_show, NULL);
