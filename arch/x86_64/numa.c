/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * numa.c - memory nodes out of SRAT and SLIT, or without them.
 *
 * Firmware numbers its domains as it likes; the kernel numbers nodes densely in ascending order of
 * domain. A domain becomes a node when SRAT lists memory or CPUs for it, so nodes without memory
 * and nodes without CPUs both exist. RAM that SRAT does not cover joins the node of the range
 * before it. Distances come from SLIT when it speaks of all our domains, else 10 at home and 20
 * elsewhere.
 *
 * Invariant afterwards: ranges sorted, not overlapping, every RAM range of boot_info covered.
 */
#include "arch/x86_64/acpi_parse.h"
#include "lib/err.h"
#include "lib/string.h"

#define MAX_RANGES ARRAY_SIZE(((struct numa_info *)0)->ranges)

static void default_distances(struct numa_info *out)
{
	for (u32 i = 0; i < MAX_NODES; i++)
		for (u32 j = 0; j < MAX_NODES; j++)
			out->distance[i][j] = i == j ? 10 : 20;
}

static void reset(struct numa_info *out, const char *source)
{
	memset(out, 0, sizeof(*out));
	out->nr_nodes = 1;
	out->source = source;
	default_distances(out);
}

static bool add_range(struct numa_info *out, u64 start, u64 end, int node, bool hotplug)
{
	struct numa_range *last = out->nr_ranges ? &out->ranges[out->nr_ranges - 1] : NULL;

	if (start >= end)
		return true;
	if (last && last->node == node && last->end == start && last->hotplug == hotplug) {
		last->end = end;
		return true;
	}
	if (out->nr_ranges == MAX_RANGES)
		return false;
	out->ranges[out->nr_ranges++] = (struct numa_range){ start, end, node, hotplug };
	return true;
}

/* Everything on node 0. */
static void build_flat(const struct numa_input *in, struct numa_info *out, int *cpu_node,
		       const char *source)
{
	u64 end = 0;

	reset(out, source);
	for (u32 i = 0; i < in->boot->nr_ranges; i++)
		if (in->boot->ranges[i].type == BOOT_RAM)
			end = in->boot->ranges[i].end;
	add_range(out, 0, end, 0, false);
	for (u32 i = 0; i < in->nr_cpus; i++)
		cpu_node[i] = 0;
}

/*
 * Equal shares of the RAM, cut at 2 MiB, in address order; CPUs dealt out in order. => false: so
 * many there cannot be
 */
static bool build_fake(const struct numa_input *in, struct numa_info *out, int *cpu_node)
{
	u64 total = 0, share, left, at = 0;
	int node = 0, nodes = in->fake_nodes;

	for (u32 i = 0; i < in->boot->nr_ranges; i++)
		if (in->boot->ranges[i].type == BOOT_RAM)
			total += in->boot->ranges[i].end - in->boot->ranges[i].start;
	if (nodes > MAX_NODES || total / MiB(16) < (u64)nodes) {
		in->log("numa=fake=%u: needs at most %d nodes of at least 16 MiB, ignored",
			in->fake_nodes, MAX_NODES);
		return false;
	}
	reset(out, "numa=fake");
	out->nr_nodes = nodes;
	left = share = ALIGN_DOWN(total / nodes, MiB(2));
	for (u32 i = 0; i < in->boot->nr_ranges; i++) {
		const struct boot_range *r = &in->boot->ranges[i];
		u64 start = r->start;

		if (r->type != BOOT_RAM)
			continue;
		while (node < nodes - 1 && r->end - start >= left) {
			u64 cut = ALIGN_UP(start + left, MiB(2));

			if (cut >= r->end)
				cut = r->end;
			add_range(out, at, cut, node, false);
			at = start = cut;
			node++;
			left = share;
		}
		left -= node < nodes - 1 ? min(left, r->end - start) : 0;
		if (i + 1 == in->boot->nr_ranges || node < nodes)
			add_range(out, at, r->end, node, false), at = r->end;
	}
	for (int i = 0; i < nodes; i++)
		out->pxm[i] = i;
	for (u32 i = 0; i < in->nr_cpus; i++)
		cpu_node[i] = (u64)i * nodes / max(in->nr_cpus, (u32)nodes);
	return true;
}

/* ---- SRAT ---- */

static int node_of_domain(const u32 *domains, int n, u32 domain)
{
	for (int i = 0; i < n; i++)
		if (domains[i] == domain)
			return i;
	return -1;
}

/*
 * Inserts in ascending order. => the new number of domains; MAX_NODES + 1 when there are too many.
 */
static int add_domain(u32 *domains, int n, u32 domain)
{
	int at = n;

	if (n > MAX_NODES || node_of_domain(domains, n, domain) >= 0)
		return n;
	if (n == MAX_NODES)
		return MAX_NODES + 1;
	for (; at > 0 && domains[at - 1] > domain; at--)
		domains[at] = domains[at - 1];
	domains[at] = domain;
	return n + 1;
}

static bool cpu_exists(const struct numa_input *in, u32 apic_id)
{
	for (u32 i = 0; i < in->nr_cpus; i++)
		if (in->cpu_ids[i] == apic_id)
			return true;
	return false;
}

static int collect_domains(const struct numa_input *in, u32 *domains)
{
	int n = 0;

	for (u32 i = 0; i < in->srat->nr_mem; i++)
		n = add_domain(domains, n, in->srat->mem[i].domain);
	for (u32 i = 0; i < in->srat->nr_cpu; i++)
		if (cpu_exists(in, in->srat->cpu[i].apic_id))
			n = add_domain(domains, n, in->srat->cpu[i].domain);
	return n;
}

/* SRAT ranges in ascending order; overlaps are of the same domain (the parser saw to that). */
static bool srat_ranges(const struct numa_input *in, const u32 *domains, int n,
			struct numa_info *out)
{
	u64 done = 0;

	for (;;) {
		u32 best = U32_MAX;

		for (u32 i = 0; i < in->srat->nr_mem; i++)
			if (in->srat->mem[i].end > done &&
			    (best == U32_MAX || in->srat->mem[i].start < in->srat->mem[best].start))
				best = i;
		if (best == U32_MAX)
			return true;
		if (!add_range(out, max(done, in->srat->mem[best].start), in->srat->mem[best].end,
			       node_of_domain(domains, n, in->srat->mem[best].domain),
			       in->srat->mem[best].hotplug))
			return false;
		done = in->srat->mem[best].end;
	}
}

/*
 * First RAM byte at or after `from` that no range covers; U64_MAX when there is none. *end: how far
 * it goes.
 */
static u64 uncovered(const struct numa_input *in, const struct numa_info *out, u64 *end)
{
	for (u32 i = 0; i < in->boot->nr_ranges; i++) {
		const struct boot_range *r = &in->boot->ranges[i];
		u64 at = r->start;

		if (r->type != BOOT_RAM)
			continue;
		*end = r->end;
		for (u32 k = 0; k < out->nr_ranges && at < r->end; k++) {
			if (out->ranges[k].end <= at)
				continue;
			if (out->ranges[k].start > at) {
				*end = min(r->end, out->ranges[k].start);
				break;
			}
			at = out->ranges[k].end;
		}
		if (at < r->end)
			return at;
	}
	return U64_MAX;
}

static bool cover_rest(const struct numa_input *in, struct numa_info *out)
{
	u64 start, end = 0;

	while ((start = uncovered(in, out, &end)) != U64_MAX) {
		u32 k = 0;

		while (k < out->nr_ranges && out->ranges[k].start < start)
			k++;
		if (out->nr_ranges == MAX_RANGES)
			return false;
		in->log("SRAT does not cover RAM %#llx-%#llx, it joins node %d",
			(unsigned long long)start, (unsigned long long)end,
			k ? out->ranges[k - 1].node : 0);
		for (u32 i = out->nr_ranges; i > k; i--)
			out->ranges[i] = out->ranges[i - 1];
		out->ranges[k] =
			(struct numa_range){ start, end, k ? out->ranges[k - 1].node : 0, false };
		out->nr_ranges++;
	}
	return true;
}

static void srat_cpus(const struct numa_input *in, const u32 *domains, int n, int *cpu_node)
{
	for (u32 c = 0; c < in->nr_cpus; c++) {
		int node = -1;

		for (u32 i = 0; i < in->srat->nr_cpu; i++)
			if (in->srat->cpu[i].apic_id == in->cpu_ids[c])
				node = node_of_domain(domains, n, in->srat->cpu[i].domain);
		if (node < 0)
			in->log("SRAT does not list the CPU with APIC id %u, it joins node 0",
				in->cpu_ids[c]);
		cpu_node[c] = node < 0 ? 0 : node;
	}
}

static void srat_distances(const struct numa_input *in, const u32 *domains, int n,
			   struct numa_info *out)
{
	if (!in->slit || !in->slit->n)
		return;
	for (int i = 0; i < n; i++)
		if (domains[i] >= in->slit->n) {
			in->log("SLIT does not speak of domain %u, ignored", domains[i]);
			return;
		}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			out->distance[i][j] = in->slit->distance[domains[i]][domains[j]];
}

void numa_build(const struct numa_input *in, struct numa_info *out, int *cpu_node)
{
	u32 domains[MAX_NODES];
	int n;

	if (in->fake_nodes && build_fake(in, out, cpu_node))
		return;
	if (in->off || !in->srat || !in->srat->nr_mem) {
		build_flat(in, out, cpu_node, in->off ? "numa=off" : "none");
		return;
	}
	n = collect_domains(in, domains);
	if (n > MAX_NODES) {
		in->log("SRAT has more than %d nodes, ignored", MAX_NODES);
		build_flat(in, out, cpu_node, "none");
		return;
	}
	reset(out, "SRAT");
	out->nr_nodes = n;
	for (int i = 0; i < n; i++)
		out->pxm[i] = domains[i];
	if (!srat_ranges(in, domains, n, out) || !cover_rest(in, out)) {
		in->log("SRAT gives more than %zu memory ranges, ignored", MAX_RANGES);
		build_flat(in, out, cpu_node, "none");
		return;
	}
	srat_cpus(in, domains, n, cpu_node);
	srat_distances(in, domains, n, out);
}
