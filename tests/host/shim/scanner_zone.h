/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scanner_zone.h - a zone of its own for the scanners of compaction, in the one file that includes
 * this: their real code, with lock macros that tell of each section with interrupts off, and a
 * stand-in for moving a page.
 */
#ifndef SCANNER_ZONE_H
#define SCANNER_ZONE_H

#include "lib/errno.h"
#include "mm/compact/internal.h"
#include "mm/compact/migrate.h"
#include "mm/memcg/memcg.h"
#include "mm/reclaim/congestion.h"
#include "mm/reclaim/events.h"
#include "mm/reclaim/lruvec.h"
#include "mm/reclaim/scan.h"
#include "sched/sched.h"

#define FIRST 0x10000ul
#define BLOCKS 16ul
#define MAPPED ((BLOCKS + 4) * PAGEBLOCK_PAGES)
#define START (FIRST + 5)			    /* zones begin where they like */
#define END (FIRST + BLOCKS * PAGEBLOCK_PAGES + 77) /* and end so */
#define ZONE_FLAGS (2ul << PAGE_ZONE_SHIFT)

struct page *host_mem_map;
unsigned long host_first_pfn = FIRST;
DEFINE_PER_CPU(u64[NR_VM_EVENTS], vm_events);

/* ---- sections ---- */

enum { FREE, MIGRATE, OTHER, NR_LABELS };
static struct {
	int open; /* label, or -1 */
	unsigned long first, last, frames, work, opened_at;
	unsigned long nr[NR_LABELS], max_frames[NR_LABELS], max_work[NR_LABELS];
	bool two_blocks, wrong_end; /* ever */
	u8 seen[MAPPED];
} sec;
static void (*before_section)(int label); /* another CPU was faster */
static void (*at_frame)(unsigned long pfn);
static unsigned long breaks; /* cond_resched */
static bool resched, contended, killed;

static void section_opens(const char *label)
{
	int l = !strcmp(label, "compact_free")	    ? FREE
		: !strcmp(label, "compact_migrate") ? MIGRATE
						    : OTHER;

	CHECK_EQ(sec.open, -1);
	if (before_section)
		before_section(l);
	sec.open = l;
	sec.nr[l]++;
	sec.frames = sec.work = 0;
	memset(sec.seen, 0, sizeof(sec.seen));
}

static void section_closes(void)
{
	int l = sec.open;

	CHECK(l >= 0);
	sec.max_frames[l] = max(sec.max_frames[l], sec.frames);
	sec.max_work[l] = max(sec.max_work[l], sec.work);
	if (sec.frames && sec.first >> PAGEBLOCK_ORDER != sec.last >> PAGEBLOCK_ORDER)
		sec.two_blocks = true;
	sec.open = -1;
}

static unsigned long looked_at(unsigned long pfn)
{
	if (pfn < FIRST || pfn >= FIRST + MAPPED)
		host_fail(__FILE__, __LINE__, "a frame without struct page was looked at");
	if (sec.open >= 0 && !sec.seen[pfn - FIRST]++) {
		if (!sec.frames++)
			sec.first = sec.last = pfn;
		sec.first = min(sec.first, pfn);
		sec.last = max(sec.last, pfn);
		if (at_frame)
			at_frame(pfn);
	}
	return pfn;
}

static bool breather(void)
{
	CHECK_EQ(sec.open, -1); /* not with interrupts off */
	breaks++;
	resched = false;
	return false;
}

#undef spin_lock_irqsave_l
#undef spin_unlock_irqrestore_l
#undef spin_is_contended
#undef irq_work
#undef need_resched
#undef pfn_to_page
#define spin_lock_irqsave_l(l, f, name) ((void)(l), (f) = 0, section_opens(name))
#define spin_unlock_irqrestore_l(l, f, name) ((void)(l), (void)(f), section_closes())
#define spin_is_contended(l) ((void)(l), contended)
#define irq_work(n) (sec.work += (n))
#define need_resched() resched
#define cond_resched() breather()
#undef trace_event
#define trace_event(name, ...) ((void)(u64[]){ __VA_ARGS__ })
void event_record(struct trace_event_def *def, const u64 *args);
#define pfn_to_page(pfn) (host_mem_map + (looked_at(pfn) - FIRST))
#include "mm/compact/compact.c"
#define used hint_used
#include "mm/compact/hints.c"
#undef used
#include "mm/compact/scan_free.c"
#include "mm/compact/scan_migrate.c"
#include "mm/phys/buddy.c"

/* ---- the zone ---- */

static struct node node;
static struct zone *const zone = &node.zones[2];
static u8 types[BLOCKS + 2];
static unsigned long absent = ~0ul; /* a pageblock without memory */
static unsigned long nr_lru, moved;
static unsigned int refuse; /* one page of so many does not move; 0: all do */

static struct page *frame(unsigned long pfn)
{
	return host_mem_map + (pfn - FIRST);
}

bool pageblock_present(unsigned long pfn)
{
	return pfn >> PAGEBLOCK_ORDER != absent && pfn < END;
}
unsigned long zone_state(struct zone *z, enum zone_stat_item item)
{
	return (unsigned long)z->vm_stat[item].v;
}
unsigned long zone_state_exact(struct zone *z, enum zone_stat_item item)
{
	return zone_state(z, item);
}
void mod_zone_state(struct zone *z, enum zone_stat_item item, long delta)
{
	z->vm_stat[item].v += delta;
}
bool zone_watermark_ok(struct zone *z, unsigned int order, unsigned long mark, enum zone_type class,
		       u32 flags)
{
	return wm_ok(z->buddy.nr_free_pages, z->buddy.area, order, mark, 0, flags);
}
static unsigned long waits;
s64 congestion_wait(enum congestion_dir dir, u64 ns)
{
	CHECK_EQ(sec.open, -1);
	CHECK_EQ(ns, 100000000);
	zone->vm_stat[NR_ISOLATED_ANON].v = 0;
	waits++;
	return 0;
}
bool fatal_signal_pending(void)
{
	return killed;
}
void pcp_drain_local(void) {}
void pcp_drain_all(void) {}
void lru_drain_local(void) {}
void lru_drain_all(void) {}
void kcompactd_start(void) {}
gfp_t reclaim_gfp(gfp_t gfp)
{
	return gfp;
}
enum migratetype gfp_migratetype(gfp_t gfp)
{
	return MT_MOVABLE;
}
const char *gfp_text(gfp_t gfp)
{
	return "";
}
void event_record(struct trace_event_def *def, const u64 *args) {}
struct zone *zone_first(void)
{
	return zone;
}
struct zone *zone_next(struct zone *z)
{
	return NULL;
}
void *kmalloc(size_t size, gfp_t gfp)
{
	return calloc(1, size);
}

static void to_buddy(struct page *page, unsigned int order)
{
	page->flags &= PAGE_ZONE_BITS;
	atomic_set(&page->refs, 0);
	buddy_free(&zone->buddy, page, order);
	zone_sync_free(zone);
}

void zone_free_list(struct zone *z, struct list_head *blocks)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, blocks, lru)
		to_buddy(page, (unsigned int)page->private);
	list_init(blocks);
}

static void to_lru(struct page *page, unsigned long flags)
{
	page->flags = ZONE_FLAGS | BIT(PG_lru) | flags;
	atomic_set(&page->refs, 1);
	lruvec_add_locked(&zone->lruvec, page, page_lru_list(page));
}

void migrate_putback(struct list_head *pages)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, pages, lru) {
		zone->vm_stat[page_test(page, PG_swapbacked) ? NR_ISOLATED_ANON : NR_ISOLATED_FILE]
			.v--;
		to_lru(page, page->flags & (BIT(PG_swapbacked) | BIT(PG_writeback)));
	}
	list_init(pages);
}

int migrate_pages(struct list_head *pages, struct migrate_control *mc)
{
	struct page *page, *next, *new;

	list_for_each_entry_safe(page, next, pages, lru) {
		CHECK(page_test(page, PG_isolated) && !page_test(page, PG_lru));
		CHECK_EQ(atomic_read(&page->refs), 2);
		new = mc->get_new(page, mc);
		if (!new)
			return -ENOMEM;
		/* The document's go on from the highest block that gave, so they may cross. */
		CHECK(new > page || switch_compact_free_irq.value < 2);
		CHECK(!page_test(new, PG_buddy));
		CHECK_EQ(atomic_read(&new->refs), 1);
		CHECK_EQ(new->flags, ZONE_FLAGS);
		if (refuse && host_random() % refuse == 0) {
			mc->put_new(new, mc);
			mc->nr_failed++;
			continue;
		}
		list_del(&page->lru);
		zone->vm_stat[page_test(page, PG_swapbacked) ? NR_ISOLATED_ANON : NR_ISOLATED_FILE]
			.v--;
		to_lru(new, page->flags & BIT(PG_swapbacked));
		new->index = page->index;
		to_buddy(page, 0);
		mc->nr_succeeded++;
		moved++;
	}
	return 0;
}

/* What each frame is: 'p' page on the LRU, 'w' one being written, 'k' the kernel's, '.' free. */
static void make_zone(char (*kind)(unsigned long pfn))
{
	free(host_mem_map);
	free(zone->compact_skip);
	host_mem_map = aligned_alloc(64, MAPPED * sizeof(struct page));
	memset(host_mem_map, 0, MAPPED * sizeof(struct page));
	memset(&node, 0, sizeof(node));
	memset(&sec, 0, sizeof(sec));
	memset(types, MT_MOVABLE, sizeof(types));
	memset(vm_events, 0, sizeof(vm_events));
	sec.open = -1;
	before_section = NULL;
	at_frame = NULL;
	resched = contended = killed = false;
	absent = ~0ul;
	breaks = nr_lru = moved = refuse = waits = 0;
	zone->node = &node;
	zone->name = "test";
	zone->start_pfn = START;
	zone->spanned_pages = zone->managed_pages = zone->present_pages = END - START;
	zone->lruvec.zone = zone;
	for (int i = 0; i < NR_LRU_LISTS; i++)
		list_init(&zone->lruvec.lists[i]);
	zone->compact_order_failed = MAX_ORDER;
	for (unsigned long i = 0; i < MAPPED; i++) {
		host_mem_map[i].flags = ZONE_FLAGS;
		host_mem_map[i].index = i;
	}
	for (unsigned long pfn = FIRST; pfn < FIRST + MAPPED; pfn++)
		if (pfn < START || pfn >= END)
			frame(pfn)->flags = BIT(PG_reserved);
	buddy_init(&zone->buddy, START, END, types, ZONE_FLAGS);
	for (unsigned long pfn = START; pfn < END; pfn++) {
		char k = kind(pfn);

		if (k == '.') {
			to_buddy(frame(pfn), 0);
		} else if (k == 'p' || k == 'w') {
			nr_lru++;
			to_lru(frame(pfn), (k == 'w' ? BIT(PG_writeback) : 0) |
						   (pfn % 3 ? BIT(PG_swapbacked) : 0));
		} else {
			atomic_set(&frame(pfn)->refs, 1);
		}
	}
	compact_hints_init();
	switch_compact_hints.value = 1;
	switch_compact_lock_lazy.value = 0;
}

static void set_switches(u32 value)
{
	switch_compact_free_irq.value = switch_compact_migrate_irq.value = value;
}

static unsigned long list_length(const struct list_head *list)
{
	const struct list_head *p;
	unsigned long n = 0;

	list_for_each(p, list)
		n++;
	return n;
}

/* Nothing lost, nothing twice. */
static void check_zone(unsigned long nr_free)
{
	const char *what = buddy_check(&zone->buddy, ~0ul);
	unsigned long lru = 0;
	static u8 owner[MAPPED];

	if (what)
		fprintf(stderr, "# %s\n", what);
	CHECK(!what);
	CHECK_EQ(zone->buddy.nr_free_pages, nr_free);
	CHECK_EQ(zone->vm_stat[NR_ISOLATED_ANON].v, 0);
	CHECK_EQ(zone->vm_stat[NR_ISOLATED_FILE].v, 0);
	memset(owner, 0, sizeof(owner));
	for (unsigned long pfn = START; pfn < END; pfn++) {
		struct page *page = frame(pfn);

		CHECK(!page_test(page, PG_isolated));
		if (!page_test(page, PG_lru))
			continue;
		CHECK_EQ(atomic_read(&page->refs), 1);
		CHECK(!owner[page->index]++);
		lru++;
	}
	CHECK_EQ(lru, nr_lru);
	for (int l = 0; l < NR_LRU_LISTS; l++) {
		CHECK_EQ(list_length(&zone->lruvec.lists[l]), zone->lruvec.nr[l]);
		CHECK_EQ(zone->lruvec.nr[l], zone_state(zone, NR_INACTIVE_ANON + l));
	}
}

static void control(struct compact_control *cc, bool sync)
{
	*cc = (struct compact_control){ .zone = zone, .order = -1, .mt = MT_MOVABLE, .sync = sync };
	list_init(&cc->migratepages);
	list_init(&cc->freepages);
	compact_hints_start(cc);
}

/* ---- layouts ---- */

static char mixed(unsigned long pfn)
{
	u64 r = host_random() % 16;

	return r < 6 ? '.' : r < 12 ? 'p' : r < 13 ? 'w' : 'k';
}
/* A quarter in pieces at the lower end, the rest full but for the last frames looked at. */
static char document(unsigned long pfn)
{
	if (pfn < FIRST + 4 * PAGEBLOCK_PAGES)
		return pfn % 2 ? 'p' : '.';
	return pfn < FIRST + 5 * PAGEBLOCK_PAGES && pfn % 8 == 0 ? '.' : 'k';
}
static char scattered(unsigned long pfn)
{
	return host_random() % 2 ? 'p' : '.';
}
static char pages_only(unsigned long pfn)
{
	return 'p';
}
static char kernel_only(unsigned long pfn)
{
	return 'k';
}
static char pages_below(unsigned long pfn)
{
	return pfn < FIRST + 4 * PAGEBLOCK_PAGES ? 'p' : '.';
}

#endif
