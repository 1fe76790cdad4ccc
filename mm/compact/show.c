// SPDX-License-Identifier: BSD-2-Clause
/*
 * show.c - compaction by hand, and fragmentation as numbers: /proc/sys/vm/compact_memory,
 * /sys/devices/system/node/nodeN/compact, /sys/kernel/debug/extfrag, in Linux's forms.
 */
#include "kernel/show.h"
#include "lib/math.h"
#include "mm/compact/internal.h"

static ssize_t compact_memory_store(const char *text, size_t n, long index)
{
	struct node *node;

	for_each_node(node)
		compact_node(node);
	return (ssize_t)n;
}
SHOW("/proc/sys/vm/compact_memory", 0200, NULL, compact_memory_store);

static int node_count(void)
{
	return nr_nodes;
}

static ssize_t node_compact_store(const char *text, size_t n, long index)
{
	compact_node(nodes[index]);
	return (ssize_t)n;
}
SHOW_ARRAY("/sys/devices/system/node/node%d/compact", 0200, node_count, NULL, NULL,
	   node_compact_store);

/* A line for each zone, a number for each order. */
static void show_orders(struct seq *seq, int (*value)(unsigned int, const struct free_area *))
{
	struct zone *z;

	for_each_zone(z) {
		seq_printf(seq, "Node %d, zone %8s ", z->node->id, z->name);
		for (unsigned int o = 0; o < MAX_ORDER; o++) {
			int v = value(o, z->buddy.area), size = v < 0 ? -v : v;

			seq_printf(seq, "%s%d.%03d ", v < 0 ? "-" : "", size / 1000, size % 1000);
		}
		seq_putc(seq, '\n');
	}
}

static int unusable_show(struct seq *seq)
{
	show_orders(seq, frag_unusable);
	return 0;
}
SHOW("/sys/kernel/debug/extfrag/unusable_index", 0444, unusable_show, NULL);

static int extfrag_show(struct seq *seq)
{
	show_orders(seq, frag_index);
	return 0;
}
SHOW("/sys/kernel/debug/extfrag/extfrag_index", 0444, extfrag_show, NULL);
