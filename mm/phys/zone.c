/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zone.c - zonelists, watermarks of all zones, distances: what is computed once zones exist and
 * again when a tunable changes.
 *
 * Zonelists: a request names a class (highest zone it may use) and starts at a node; the list says
 * in which order zones are tried. Node order: all zones of a node, highest first, then the next
 * nearest node. Zone order: one zone type over all nodes, then the next lower type; it spares the
 * low zones of the near node at the price of distance.
 * Source: [facts 1.4]; the arithmetic is in watermark.c.
 */
#include "mm/phys/zone.h"

#include "arch/smp.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "lib/errno.h"
#include "lib/parse.h"
#include "lib/string.h"
#include "mm/phys/internal.h"
#include "mm/phys/watermark.h"

long min_free_kbytes;
long lowmem_reserve_ratio[NR_ZONE_TYPES - 1] = { 256, 256, 32, 32 };
static bool min_free_set; /* by the user: do not compute it again */
static long min_free_user;
static bool keep_blocks; /* huge pages are in use */
static DEFINE_SPINLOCK(marks_lock, RANK_LEAF);

enum zonelist_order { ORDER_DEFAULT, ORDER_NODE, ORDER_ZONE };
static enum zonelist_order zonelist_order;

static int zonelist_order_param(const char *text)
{
	static const char *const names[] = { "default", "node", "zone" };

	for (u32 i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcasecmp(text, names[i])) {
			zonelist_order = (enum zonelist_order)i;
			return 0;
		}
	return -EINVAL;
}
BOOT_PARAM_FUNC("numa_zonelist_order", zonelist_order_param,
		"default, node or zone: which zone comes next");

int node_distance(int a, int b)
{
	return numa_info.nr_nodes ? numa_info.distance[a][b] : a == b ? 10 : 20;
}

struct zone *zone_first(void)
{
	return nr_all_zones ? all_zones[0] : NULL;
}

struct zone *zone_next(struct zone *zone)
{
	return zone->seq + 1 < nr_all_zones ? all_zones[zone->seq + 1] : NULL;
}

struct pcp *zone_pcp(struct zone *zone, u32 cpu)
{
	return &pcp_block[cpu][zone->seq];
}

/*
 * The nearest node with memory not in used; among equals the next one upwards, so that neighbours
 * spread.
 */
static int next_node(int from, u64 used)
{
	int best = -1, best_distance = 0;

	for (int i = 0; i < nr_nodes; i++) {
		int n = (from + i) % nr_nodes;

		if ((used & BIT(n)) || !nodes[n]->has_memory)
			continue;
		if (best < 0 || node_distance(from, n) < best_distance) {
			best = n;
			best_distance = node_distance(from, n);
		}
	}
	return best;
}

int cpu_mem_node(u32 cpu)
{
	return next_node(cpu_node[cpu], 0);
}

/*
 * Node order, unless low memory would be used up by near-node requests while other nodes have
 * plenty.
 */
static enum zonelist_order choose_order(void)
{
	unsigned long low = 0, total = 0;
	bool lacks_normal = false;

	for (u32 i = 0; i < nr_all_zones; i++) {
		total += all_zones[i]->present_pages;
		if (all_zones[i]->type <= ZONE_DMA32)
			low += all_zones[i]->present_pages;
	}
	for (int n = 0; n < nr_nodes; n++) {
		unsigned long node_low = 0;
		bool normal = false;

		for (u32 i = 0; i < nodes[n]->nr_zones; i++) {
			const struct zone *z = &nodes[n]->zones[i];

			node_low += z->type <= ZONE_DMA32 ? z->present_pages : 0;
			normal = normal || z->type == ZONE_NORMAL;
		}
		lacks_normal = lacks_normal || (nodes[n]->has_memory && !normal);
		if (node_low * 10 > nodes[n]->present_pages * 7 &&
		    nodes[n]->present_pages > total / (unsigned long)nr_nodes)
			return ORDER_NODE;
	}
	return lacks_normal || !low || low > total / 2 ? ORDER_NODE : ORDER_ZONE;
}

static void list_add_node(struct zonelist *zl, u32 *nr, const struct node *node, int type)
{
	for (u32 i = node->nr_zones; i-- > 0;) {
		struct zone *z = (struct zone *)&node->zones[i];

		if (z->present_pages && (type < 0 || z->type == (u32)type))
			zl->refs[(*nr)++] = (struct zoneref){ z, z->type };
	}
}

/*
 * first[class]: where a walk for that class may begin. In zone order too the first usable ref is
 * the best one.
 */
static void list_finish(struct zonelist *zl, u32 nr)
{
	zl->refs[nr].zone = NULL;
	for (u32 c = 0; c < NR_ZONE_TYPES; c++) {
		u32 i = 0;

		while (i < nr && zl->refs[i].class > c)
			i++;
		zl->first[c] = (u8)i;
	}
}

void zonelists_build(void)
{
	enum zonelist_order order =
		zonelist_order == ORDER_DEFAULT ? choose_order() : zonelist_order;

	for (int n = 0; n < nr_nodes; n++) {
		struct node *node = nodes[n];
		int seq[MAX_NODES], count = 0;
		u64 used = 0;
		u32 nr = 0;

		for (int m; (m = next_node(n, used)) >= 0; used |= BIT(m))
			seq[count++] = m;
		if (order == ORDER_NODE)
			for (int i = 0; i < count; i++)
				list_add_node(&node->zonelist, &nr, nodes[seq[i]], -1);
		else
			for (int t = NR_ZONE_TYPES - 1; t >= 0; t--)
				for (int i = 0; i < count; i++)
					list_add_node(&node->zonelist, &nr, nodes[seq[i]], t);
		list_finish(&node->zonelist, nr);
		nr = 0;
		list_add_node(&node->zonelist_this, &nr, node, -1);
		list_finish(&node->zonelist_this, nr);
	}
	if (nr_nodes > 1)
		pr_info("phys: zonelists in %s order\n", order == ORDER_NODE ? "node" : "zone");
}

/* ---- marks and reserves ---- */

static void setup_reserves(void)
{
	for (int n = 0; n < nr_nodes; n++) {
		unsigned long managed[NR_ZONE_TYPES] = { 0 }, reserve[NR_ZONE_TYPES][NR_ZONE_TYPES];

		for (u32 i = 0; i < nodes[n]->nr_zones; i++)
			managed[nodes[n]->zones[i].type] = nodes[n]->zones[i].managed_pages;
		wm_reserve(managed, lowmem_reserve_ratio, reserve);
		for (u32 i = 0; i < nodes[n]->nr_zones; i++)
			memcpy(nodes[n]->zones[i].lowmem_reserve, reserve[nodes[n]->zones[i].type],
			       sizeof(reserve[0]));
	}
}

/*
 * Another CPU may count with the old threshold once more; a delta above a new, smaller one is
 * folded at that CPU's next change. NR_FREE_PAGES needs none of this: it never drifts
 * (zone_sync_free).
 */
static void set_threshold(struct zone *z, bool pressure)
{
	u32 cpus = max(nr_possible_cpus, 1u);
	u32 n = pressure ? wm_pressure_threshold(cpus, z->watermark[WMARK_LOW],
						 z->watermark[WMARK_MIN])
			 : wm_stat_threshold(cpus, z->managed_pages);

	for (u32 cpu = 0; cpu < cpus; cpu++)
		WRITE_ONCE(pcp_block[cpu][z->seq].stat_threshold, n);
}

/* What [facts 1.2] wants at least when huge pages are in use. => the marks of kbytes are in wm */
static unsigned long kbytes_for_blocks(const struct wm_zone *wm, unsigned long kbytes)
{
	unsigned long low = 0;
	int populated = 0;

	for (u32 i = 0; i < nr_all_zones; i++) {
		populated += wm[i].managed != 0;
		if (!wm[i].is_high && wm[i].managed > wm[i].mark[WMARK_HIGH])
			low += wm[i].managed - wm[i].mark[WMARK_HIGH];
	}
	return wm_thp_min_free_kbytes(kbytes, populated, low);
}

void zones_keep_pageblocks(void)
{
	long before = min_free_kbytes;

	if (keep_blocks || xchg(&keep_blocks, true))
		return;
	zones_setup_marks();
	if (min_free_set && min_free_kbytes > before)
		pr_notice("vm/min_free_kbytes: %ld -> %ld for huge pages\n", before,
			  min_free_kbytes);
}

void zones_forget_pageblocks(void)
{
	if (keep_blocks && xchg(&keep_blocks, false))
		zones_setup_marks();
}

void zones_setup_marks(void)
{
	static struct wm_zone wm[MAX_NODES * MAX_ZONES]; /* under marks_lock */
	unsigned long kbytes;

	spin_lock(&marks_lock);
	for (u32 i = 0; i < nr_all_zones; i++)
		wm[i] = (struct wm_zone){ .managed = all_zones[i]->managed_pages,
					  .is_high = all_zones[i]->is_high };
	kbytes = min_free_set ? (unsigned long)min_free_user
			      : wm_min_free_kbytes(wm, (int)nr_all_zones);
	wm_set(wm, (int)nr_all_zones, kbytes);
	if (keep_blocks) {
		kbytes = kbytes_for_blocks(wm, kbytes);
		wm_set(wm, (int)nr_all_zones, kbytes);
	}
	min_free_kbytes = (long)kbytes;
	setup_reserves();
	for (u32 i = 0; i < nr_all_zones; i++) {
		struct zone *z = all_zones[i];

		memcpy(z->watermark, wm[i].mark, sizeof(z->watermark));
		for (int c = 0; c < NR_ZONE_TYPES; c++)
			z->fast_mark[c] = z->watermark[WMARK_LOW] + z->lowmem_reserve[c];
		z->inactive_ratio = wm_inactive_ratio(z->managed_pages);
		z->dirty_balance_reserve = wm_dirty_balance_reserve(
			z->managed_pages, z->watermark[WMARK_HIGH], z->lowmem_reserve);
		set_threshold(z, z->node->pressure);
	}
	spin_unlock(&marks_lock);
}

void node_set_pressure(struct node *node, int pressure)
{
	WRITE_ONCE(node->pressure, pressure);
	for (u32 i = 0; i < node->nr_zones; i++)
		if (node->zones[i].managed_pages)
			set_threshold(&node->zones[i], pressure);
}

static void min_free_changed(void)
{
	long most = (long)totalram_pages; /* KiB: a quarter of the memory */

	if (min_free_kbytes > most) {
		pr_warn("vm/min_free_kbytes: %ld is more than a quarter of the memory: %ld",
			min_free_kbytes, most);
		min_free_kbytes = most;
	}
	min_free_set = true;
	min_free_user = min_free_kbytes;
	keep_blocks = false; /* his word holds until huge pages are turned on again */
	zones_setup_marks();
}
TUNABLE("vm/min_free_kbytes", min_free_kbytes, 0, 1l << 32, min_free_changed);

static int lowmem_ratio_show(struct seq *seq)
{
	for (u32 i = 0; i < ARRAY_SIZE(lowmem_reserve_ratio); i++)
		seq_printf(seq, "%ld%c", lowmem_reserve_ratio[i],
			   i + 1 < ARRAY_SIZE(lowmem_reserve_ratio) ? '\t' : '\n');
	return 0;
}

static ssize_t lowmem_ratio_store(const char *text, size_t n, long index)
{
	long ratio[ARRAY_SIZE(lowmem_reserve_ratio)];

	memcpy(ratio, lowmem_reserve_ratio, sizeof(ratio));
	for (u32 i = 0; i < ARRAY_SIZE(ratio); i++) {
		const char *end;
		u64 v;

		while (isspace_c(*text))
			text++;
		if (!*text)
			break;
		end = parse_digits(text, 10, &v);
		if (!end || end == text || v < 1 || v > S32_MAX)
			return -EINVAL;
		ratio[i] = (long)v;
		text = end;
	}
	memcpy(lowmem_reserve_ratio, ratio, sizeof(ratio));
	zones_setup_marks();
	return (ssize_t)n;
}
SHOW("/proc/sys/vm/lowmem_reserve_ratio", 0644, lowmem_ratio_show, lowmem_ratio_store);

/*
 * The buddy under the zone's lock. A debugging aid: the section is as long as the free lists (debug
 * builds, tests).
 */
const char *zone_check(struct zone *zone)
{
	unsigned long flags;
	const char *what;

	spin_lock_irqsave_l(&zone->lock, flags, "zone_check");
	what = buddy_check(&zone->buddy, 64);
	if (!what && zone->buddy.nr_free_pages !=
			     (unsigned long)atomic_long_read(&zone->vm_stat[NR_FREE_PAGES]))
		what = "NR_FREE_PAGES differs from the buddy";
	if (!what && zone->buddy.nr_free_pages > zone->managed_pages)
		what = "more pages free than managed";
	spin_unlock_irqrestore_l(&zone->lock, flags, "zone_check");
	return what;
}
