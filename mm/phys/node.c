/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node.c - from ranges to nodes: builds nodes, zones and the struct page array, and hands all free
 * memory to the buddy.
 *
 * Problem: a gigabyte has 262144 struct pages; setting each up by hand would be most of the boot.
 * Idea: all pages of a zone start alike, so one template page of 64 structs is copied (8
 * instructions per struct), only exceptions are touched (reserved frames, holes), and free memory
 * enters the buddy in blocks of the top order.
 *
 *   bootmem ranges --node_span--> nodes --zone_layout--> zones --> struct pages (sparse, 4 MiB of
 *   frames at a time)
 *                                                               --> free ranges into the buddy -->
 *                                                               watermarks, zonelists
 *
 * Invariants: a struct page exists for each frame of every 2^(MAX_ORDER-1)-aligned block with any
 * RAM in it, so the buddy may look at any neighbour; frames without RAM are PG_reserved with
 * private = PAGE_HOLE; a zone's frames all carry its zone id, holes that of the range before. The
 * struct pages of a node lie on that node.
 * Locking: boot CPU only, once.
 */
#include "arch/mmu.h"
#include "kernel/cpumask.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "lib/math.h"
#include "lib/string.h"
#include "mm/phys/bootmem.h"
#include "mm/phys/internal.h"
#include "mm/phys/zone_layout.h"

#define BLOCK_PAGES (1ul << (MAX_ORDER - 1))
#define PAGES_PER_PAGE (PAGE_SIZE / sizeof(struct page)) /* struct pages in a page: 64 */

const char *const zone_type_name[NR_ZONE_TYPES] = { "DMA", "DMA32", "Normal", "HighMem",
						    "Movable" };

struct node *nodes[MAX_NODES];
int nr_nodes;
struct zone *all_zones[MAX_NODES * MAX_ZONES];
u32 nr_all_zones;
struct pcp *pcp_block[NR_CPUS];
u8 *pageblock_types;
const u8 *pageblock_types_by_page;
unsigned long nr_pageblocks;
unsigned long totalram_pages;

static u64 movablecore;
static unsigned long movable_start[MAX_NODES]; /* first pfn of Movable in each node; ~0 = none */
BOOT_PARAM_SIZE("movablecore", movablecore, 0, GiB(1024),
		"memory in Movable zones, spread over the nodes");

static int zones_param(const char *text)
{
	return zone_layout_parse(&zone_layout, text);
}
BOOT_PARAM_FUNC("zones", zones_param,
		"zone sizes upwards from 0: dma:16M,normal:208M,high:276M,movable:12M");

/* The layout's span a frame lies in, Movable by movablecore= not considered. */
static struct zone_span layout_raw(unsigned long pfn)
{
	for (u32 i = 0; i < zone_layout.nr; i++)
		if (pfn >= zone_layout.span[i].start_pfn && pfn < zone_layout.span[i].end_pfn)
			return zone_layout.span[i];
	return (struct zone_span){ .type = NR_ZONE_TYPES, .start_pfn = pfn, .end_pfn = ~0ul };
}

/* The zone type of a frame of a node, and where that stops being true. */
static struct zone_span layout_at(int node, unsigned long pfn)
{
	struct zone_span s = layout_raw(pfn);

	if (pfn >= movable_start[node]) {
		s.type = ZONE_MOVABLE;
		s.start_pfn = max(s.start_pfn, movable_start[node]);
	} else {
		s.end_pfn = min(s.end_pfn, movable_start[node]);
	}
	return s;
}

/* zones= may describe less than there is: what lies above is left out, and said so. */
static __init void drop_beyond_layout(void)
{
	phys_addr_t end = PFN_PHYS(zone_layout.span[zone_layout.nr - 1].end_pfn),
		    top = bootmem_ram_end();

	if (zone_layout.span[zone_layout.nr - 1].end_pfn == ~0ul || end >= top)
		return;
	bm_remove(&bootmem, end, ~0ull);
	if (top - end > MiB(1))
		pr_info("phys: zones= leaves %llu KiB above %#llx unused\n",
			(unsigned long long)(top - end) >> 10, (unsigned long long)end);
}

/* Movable comes from the top of a node, but only out of its highest zone. */
static __init void take_from_top(int node, unsigned long take)
{
	u32 type = NR_ZONE_TYPES;

	for (u32 i = bootmem.nr_memory; take && i-- > 0;) {
		const struct bootmem_range *r = &bootmem.memory[i];
		unsigned long end = PFN_DOWN(r->end), low;
		struct zone_span s = layout_raw(end - 1);

		if (r->node != node)
			continue;
		if (type == NR_ZONE_TYPES)
			type = s.type;
		if (s.type != type)
			return;
		low = max((unsigned long)PFN_UP(r->start), s.start_pfn);
		movable_start[node] =
			take < end - low ? ALIGN_UP(end - take, PAGEBLOCK_PAGES) : low;
		take -= min(take, end - low);
	}
}

static __init void place_movable(void)
{
	unsigned long pages[MAX_NODES] = { 0 }, take[MAX_NODES], total = 0;

	for (int n = 0; n < MAX_NODES; n++)
		movable_start[n] = ~0ul;
	if (!movablecore || zone_layout.custom)
		return;
	for (u32 i = 0; i < bootmem.nr_memory; i++)
		pages[bootmem.memory[i].node] +=
			(bootmem.memory[i].end - bootmem.memory[i].start) >> PAGE_SHIFT;
	movable_split(movablecore >> PAGE_SHIFT, pages, take, nr_nodes);
	for (int n = 0; n < nr_nodes; n++)
		total += take[n];
	if (total < movablecore >> PAGE_SHIFT)
		pr_warn("phys: movablecore=%lluM is more than can be movable, using %luM",
			(unsigned long long)(movablecore >> 20), total >> (20 - PAGE_SHIFT));
	for (int n = 0; n < nr_nodes; n++) {
		take_from_top(n, take[n]);
		/* What the kernel allocates from here on cannot move. */
		if (movable_start[n] != ~0ul)
			bootmem.node_end[n] = PFN_PHYS(movable_start[n]);
	}
}

static __init struct zone *zone_add(struct node *node, const struct zone_span *s)
{
	struct zone *zone;

	for (u32 i = 0; i < node->nr_zones; i++)
		if (node->zones[i].type == s->type)
			return &node->zones[i];
	if (node->nr_zones == MAX_ZONES)
		panic("phys: node %d has more than %d zones", node->id, MAX_ZONES);
	zone = &node->zones[node->nr_zones];
	zone->node = node;
	zone->type = s->type;
	zone->index = node->nr_zones++;
	zone->is_high = s->is_high;
	zone->name = zone_type_name[s->type];
	zone->start_pfn = ~0ul;
	return zone;
}

/* Adds [start, end) of one memory range to the node's zones. */
static __init void node_add_range(struct node *node, unsigned long start, unsigned long end)
{
	if (!node->has_memory)
		node->start_pfn = start;
	node->has_memory = true;
	node->spanned_pages = end - node->start_pfn;
	node->present_pages += end - start;
	while (start < end) {
		struct zone_span s = layout_at(node->id, start);
		unsigned long stop = min(end, s.end_pfn);
		struct zone *zone = zone_add(node, &s);

		zone->start_pfn = min(zone->start_pfn, start);
		zone->spanned_pages = stop - zone->start_pfn;
		zone->present_pages += stop - start;
		start = stop;
	}
}

static __init void nodes_build(void)
{
	u32 cpu;

	for (int n = 0; n < nr_nodes; n++) {
		nodes[n] = bootmem_alloc_va(sizeof(struct node), n);
		nodes[n]->id = n;
	}
	for (u32 i = 0; i < bootmem.nr_memory; i++)
		node_add_range(nodes[bootmem.memory[i].node], PFN_UP(bootmem.memory[i].start),
			       PFN_DOWN(bootmem.memory[i].end));
	for (cpu = 0; cpu < max(nr_possible_cpus, 1u); cpu++) {
		nodes[cpu_node[cpu]]->cpus |= CPU_BIT(cpu);
		nodes[cpu_node[cpu]]->has_cpu = true;
	}
}

/* ---- struct pages ---- */

static struct page template[PAGES_PER_PAGE] __initdata __aligned(4096);

static __init void fill_pages(unsigned long pfn, unsigned long end, unsigned long flags,
			      unsigned long private)
{
	struct page *page = pfn_to_page(pfn), *stop = pfn_to_page(end);

	for (u32 i = 0; i < PAGES_PER_PAGE; i++) {
		template[i] = (struct page){ .flags = flags, .private = private };
		atomic_set(&template[i].mapcount, -1);
	}
	while (page < stop && !IS_ALIGNED((unsigned long)page, PAGE_SIZE))
		*page++ = template[0];
	for (; page + PAGES_PER_PAGE <= stop; page += PAGES_PER_PAGE)
		copy_page_raw(page, template);
	while (page < stop)
		*page++ = template[0];
}

static __init unsigned long zone_bits(const struct zone *zone)
{
	return (unsigned long)zone->node->id << PAGE_NODE_SHIFT | (unsigned long)zone->index
									  << PAGE_ZONE_SHIFT;
}

/*
 * Struct pages of one memory range; *done: array built up to this pfn (a block two ranges share is
 * built once).
 */
static __init void memmap_range(struct node *node, unsigned long start, unsigned long end,
				unsigned long *done)
{
	unsigned long first = max(ALIGN_DOWN(start, BLOCK_PAGES), *done),
		      last = ALIGN_UP(end, BLOCK_PAGES);
	struct zone_span s = layout_at(node->id, start);

	if (first < last) {
		size_t bytes = (last - first) * sizeof(struct page);
		unsigned long va = (unsigned long)pfn_to_page(first);
		size_t align = IS_ALIGNED(va, PMD_SIZE) && bytes >= PMD_SIZE ? PMD_SIZE : PAGE_SIZE;
		phys_addr_t pa = bootmem_alloc_raw(bytes, align, node->id);

		if (kernel_map_huge(va, pa, bytes, PAGE_KERNEL))
			panic("phys: no page tables for the struct pages at pfn %#lx", first);
		for (unsigned long b = first >> PAGEBLOCK_ORDER; b < last >> PAGEBLOCK_ORDER; b++)
			if (b < nr_pageblocks)
				pageblock_types[b] = MT_MOVABLE;
		if (first < start)
			fill_pages(first, start, zone_bits(zone_add(node, &s)) | BIT(PG_reserved),
				   PAGE_HOLE);
		*done = last;
	}
	while (start < end) {
		s = layout_at(node->id, start);
		fill_pages(start, min(end, s.end_pfn), zone_bits(zone_add(node, &s)), 0);
		start = min(end, s.end_pfn);
	}
	if (end < last)
		fill_pages(end, last, zone_bits(zone_add(node, &s)) | BIT(PG_reserved), PAGE_HOLE);
}

static __init void memmap_build(void)
{
	unsigned long done = 0;

	nr_pageblocks =
		DIV_ROUND_UP(PFN_UP(bootmem.memory[bootmem.nr_memory - 1].end), PAGEBLOCK_PAGES);
	nr_pageblocks = ALIGN_UP(nr_pageblocks, BLOCK_PAGES / PAGEBLOCK_PAGES);
	pageblock_types = bootmem_alloc_va(nr_pageblocks, 0);
	memset(pageblock_types, PAGEBLOCK_HOLE, nr_pageblocks);
	pageblock_types_by_page = pageblock_types - (VMEMMAP_START >> (6 + PAGEBLOCK_ORDER));
	for (u32 i = 0; i < bootmem.nr_memory; i++)
		memmap_range(nodes[bootmem.memory[i].node], PFN_UP(bootmem.memory[i].start),
			     PFN_DOWN(bootmem.memory[i].end), &done);
}

bool pageblock_present(unsigned long pfn)
{
	return pfn >> PAGEBLOCK_ORDER < nr_pageblocks &&
	       pageblock_types[pfn >> PAGEBLOCK_ORDER] != PAGEBLOCK_HOLE;
}

bool pfn_valid(unsigned long pfn)
{
	const struct page *page;

	if (!pageblock_present(pfn))
		return false;
	page = pfn_to_page(pfn);
	return !(page_test(page, PG_reserved) && page->private == PAGE_HOLE);
}

/* Reserved memory that is RAM: marked, one reference, never in the buddy. */
static __init void mark_reserved(void)
{
	for (u32 i = 0; i < bootmem.nr_reserved; i++)
		for (u32 m = 0; m < bootmem.nr_memory; m++) {
			unsigned long pfn =
				PFN_DOWN(max(bootmem.reserved[i].start, bootmem.memory[m].start));
			unsigned long end =
				PFN_UP(min(bootmem.reserved[i].end, bootmem.memory[m].end));

			for (; pfn < end; pfn++) {
				pfn_to_page(pfn)->flags |= BIT(PG_reserved);
				atomic_set(&pfn_to_page(pfn)->refs, 1);
			}
		}
}

/* ---- zones and the buddy ---- */

static __init void zone_start(struct zone *zone)
{
	zone->seq = nr_all_zones;
	all_zones[nr_all_zones++] = zone;
	spin_lock_init(&zone->lock, RANK_ZONE, "zone->lock");
	spin_lock_init(&zone->lru_lock, RANK_LRU, "zone->lru_lock");
	buddy_init(&zone->buddy, zone->start_pfn, zone->start_pfn + zone->spanned_pages,
		   &pageblock_types[zone->start_pfn >> PAGEBLOCK_ORDER], zone_bits(zone));
	zone->lruvec.zone = zone;
	for (int i = 0; i < NR_LRU_LISTS; i++)
		list_init(&zone->lruvec.lists[i]);
}

/* Top-order blocks wherever alignment allows. */
static void free_span(unsigned long pfn, unsigned long end)
{
	while (pfn < end) {
		struct zone *zone = page_zone(pfn_to_page(pfn));
		unsigned int order = pfn ? min(__ffs(pfn), MAX_ORDER - 1u) : MAX_ORDER - 1;

		while (pfn + (1ul << order) > end ||
		       page_zid(pfn_to_page(pfn + (1ul << order) - 1)) !=
			       page_zid(pfn_to_page(pfn)))
			order--;
		zone_put(zone, pfn_to_page(pfn), order);
		zone->managed_pages += 1ul << order;
		totalram_pages += 1ul << order;
		pfn += 1ul << order;
	}
}

/*
 * Up to two wholly free pageblocks of each zone that can spare them are RESERVE: the last resort of
 * requests for blocks when everything else is in pieces. [facts 1.1]
 */
static __init void set_reserve_blocks(const struct zone *zone)
{
	unsigned long pfn = ALIGN_UP(zone->start_pfn, PAGEBLOCK_PAGES),
		      end = zone->start_pfn + zone->spanned_pages;
	int want =
		zone->present_pages / PAGEBLOCK_PAGES >= 64 && zone->type != ZONE_MOVABLE ? 2 : 0;

	for (; want && pfn + PAGEBLOCK_PAGES <= end; pfn += PAGEBLOCK_PAGES) {
		bool clean = pageblock_types[pfn >> PAGEBLOCK_ORDER] == MT_MOVABLE;

		for (unsigned long p = pfn; clean && p < pfn + PAGEBLOCK_PAGES; p += 16)
			clean = !page_test(pfn_to_page(p), PG_reserved) &&
				!page_test(pfn_to_page(p + 15), PG_reserved) &&
				page_zone(pfn_to_page(p)) == zone;
		if (clean) {
			pageblock_types[pfn >> PAGEBLOCK_ORDER] = MT_RESERVE;
			want--;
		}
	}
}

static __init void free_all(void)
{
	phys_addr_t pos = 0, start, end;

	while (bm_next_free(&bootmem, &pos, &start, &end))
		free_span(PFN_UP(start), PFN_DOWN(end));
}

static __init void pcps_build(void)
{
	for (u32 cpu = 0; cpu < max(nr_possible_cpus, 1u); cpu++) {
		pcp_block[cpu] = bootmem_alloc_va(nr_all_zones * sizeof(struct pcp), cpu_node[cpu]);
		for (u32 i = 0; i < nr_all_zones; i++)
			pcp_block[cpu][i].zone = all_zones[i];
	}
}

void mm_init_cpu(u32 cpu)
{
	struct node *node = nodes[cpu_mem_node(cpu)];

	per_cpu(local_node, cpu) = node;
	for (u32 i = 0; i < nr_all_zones; i++) {
		struct zone *z = all_zones[i];

		per_cpu(pcp_of_zid, cpu)[z->node->id | z->index << 3] = &pcp_block[cpu][i];
	}
	for (int c = 0; c < NR_ZONE_TYPES; c++) {
		struct zone *z = node->zonelist.refs[node->zonelist.first[c]].zone;

		/* Lists count as local hits: only zones of the own node qualify. */
		per_cpu(pcp_preferred, cpu)[c] =
			z && z->node == node ? &pcp_block[cpu][z->seq] : &pcp_none;
	}
}

static __init void report(void)
{
	for (u32 i = 0; i < nr_all_zones; i++) {
		const struct zone *z = all_zones[i];

		pr_info("phys: node %d %-7s pfn %#lx-%#lx present %lu managed %lu min %lu low %lu "
			"high %lu\n",
			z->node->id, z->name, z->start_pfn, z->start_pfn + z->spanned_pages,
			z->present_pages, z->managed_pages, z->watermark[WMARK_MIN],
			z->watermark[WMARK_LOW], z->watermark[WMARK_HIGH]);
	}
}

void __init mm_phys_init(void)
{
	if (!bootmem.nr_memory)
		panic("phys: the loader listed no RAM");
	if (!zone_layout.nr)
		zone_layout_default(&zone_layout);
	nr_nodes = max(numa_info.nr_nodes, 1);
	drop_beyond_layout();
	place_movable();
	nodes_build();
	memmap_build();
	for (int n = 0; n < nr_nodes; n++)
		for (u32 i = 0; i < nodes[n]->nr_zones; i++)
			zone_start(&nodes[n]->zones[i]);
	pcps_build();
	zonelists_build();
	bootmem_finish(); /* no reservation may come after this */
	mark_reserved();
	for (u32 i = 0; i < nr_all_zones; i++)
		set_reserve_blocks(all_zones[i]);
	free_all();
	for (u32 cpu = 0; cpu < max(nr_possible_cpus, 1u); cpu++) {
		for (u32 i = 0; i < nr_all_zones; i++)
			pcp_init(&pcp_block[cpu][i], all_zones[i]);
		if (cpu == 0 || __per_cpu_offset[cpu])
			mm_init_cpu(cpu);
	}
	zones_setup_marks();
	page_wait_init();
	report();
}

void free_reserved_range(phys_addr_t start, phys_addr_t end, const char *what)
{
	unsigned long pfn = PFN_UP(start), stop = PFN_DOWN(end), freed = 0;

	for (; pfn < stop; pfn++) {
		struct page *page = pfn_to_page(pfn);

		if (!pfn_valid(pfn) || !page_test(page, PG_reserved))
			continue;
		page->flags &= PAGE_ZONE_BITS;
		atomic_set(&page->refs, 0);
		free_span(pfn, pfn + 1);
		freed++;
	}
	zones_setup_marks();
	pr_info("phys: freed %lu KiB of %s\n", freed * 4, what);
}
