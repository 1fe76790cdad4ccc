/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both scanners of compaction at work on a zone of their own: buddy, LRU list and pageblocks are
 * real, moving a page is done by the test. The lock macros are the test's, so it sees each section
 * with interrupts off: which frames were looked at in it, and what another CPU may have done just
 * before it.
 *
 *   0  free scanner over many pageblocks in one section, migration scanner over one
 *   1  at most 512 frames, always of one pageblock; at most 32, up to a frame number ...11111
 *   2  at most 32 frames each
 */
// SOURCES: mm/compact/fragindex.c mm/compact/events.c mm/phys/watermark.c
#include "host.h"

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
		/* Those of the document go on from the highest block that gave, so they may cross. */
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

/* ---- bounds ---- */

static void whole_run(char (*kind)(unsigned long), u32 value)
{
	struct compact_control cc;
	unsigned long nr_free;

	make_zone(kind);
	set_switches(value);
	nr_free = zone->buddy.nr_free_pages;
	refuse = value == 1 ? 0 : 5;
	cc = (struct compact_control){ .zone = zone,
				       .order = -1,
				       .mt = MT_MOVABLE,
				       .sync = true,
				       .wait_locks = true,
				       .ignore_hints = true };
	CHECK_EQ(compact_zone(&cc), COMPACT_COMPLETE);
	check_zone(nr_free);
	CHECK(moved > 100);
	CHECK_EQ(vm_events[COMPACTPAGES], moved);
	CHECK(sec.nr[FREE] && sec.nr[MIGRATE]);
	/* What the report of the tracer says is what was done. */
	CHECK(sec.max_frames[MIGRATE] <= sec.max_work[MIGRATE]);
	CHECK(sec.max_frames[FREE] <= sec.max_work[FREE] + 1);
}

HOST_TEST(scan_bounds_before_the_document)
{
	whole_run(document, 0);
	CHECK(sec.max_work[FREE] > 10 * PAGEBLOCK_PAGES); /* all the way down at once */
	CHECK(sec.two_blocks);
	CHECK(sec.max_work[MIGRATE] > 32 && sec.max_work[MIGRATE] <= PAGEBLOCK_PAGES);
	whole_run(mixed, 0);
	CHECK(sec.max_work[MIGRATE] <= PAGEBLOCK_PAGES);
}

HOST_TEST(scan_bounds_as_posted)
{
	for (int i = 0; i < 2; i++) {
		whole_run(i ? mixed : document, 1);
		CHECK_EQ(sec.max_work[FREE], PAGEBLOCK_PAGES);
		CHECK(!sec.two_blocks);
		CHECK_EQ(sec.max_work[MIGRATE], 32);
		CHECK_EQ(sec.max_frames[MIGRATE], 32);
	}
}

HOST_TEST(scan_bounds_of_ours)
{
	for (int i = 0; i < 2; i++) {
		whole_run(i ? mixed : document, 2);
		/* and the pageblock's first, to see whose it is */
		CHECK(sec.max_work[FREE] <= 32 && sec.max_frames[FREE] <= 32 + 1);
		CHECK(sec.max_work[MIGRATE] <= 32 && sec.max_frames[MIGRATE] <= 32);
		CHECK(!sec.two_blocks);
	}
}

/* All that can move is above all that is free, whatever the values. */
HOST_TEST(scan_leaves_free_memory_in_a_row)
{
	for (u32 value = 0; value <= 2; value++) {
		struct compact_control cc = { .order = -1, .mt = MT_MOVABLE, .sync = true };
		unsigned long lowest = END;

		make_zone(mixed);
		set_switches(value);
		cc.zone = zone;
		cc.ignore_hints = true;
		CHECK_EQ(compact_zone(&cc), COMPACT_COMPLETE);
		for (unsigned long pfn = END - 1; pfn >= START; pfn--)
			if (page_test(frame(pfn), PG_lru))
				lowest = pfn;
		CHECK(lowest + 2 * PAGEBLOCK_PAGES > cc.migrate_pfn);
	}
}

/* ---- traps ---- */

static unsigned long race_block;
static unsigned int races;

static void changes_hands(int label)
{
	if (label != FREE || !race_block)
		return;
	*buddy_mt_slot(&zone->buddy, race_block) = MT_ISOLATE;
	races++;
	race_block = 0;
}

/* Where the second look under the lock says no, nothing is added: neither frames nor restart point. */
static void one_race(u32 value)
{
	unsigned long last = free_scan_start(END), lost, nr_free;
	struct compact_control cc;

	make_zone(pages_below);
	set_switches(value);
	control(&cc, true);
	nr_free = zone->buddy.nr_free_pages;
	races = 0;
	/* the block before gave something, so an n that is left over would be seen */
	cc.free_pfn = last;
	cc.nr_migratepages = 32;
	compact_isolate_free(&cc);
	CHECK(cc.nr_freepages >= 32);
	race_block = lost = last - 2 * PAGEBLOCK_PAGES;
	before_section = changes_hands;
	cc.nr_migratepages = (u32)cc.nr_freepages + PAGEBLOCK_PAGES;
	cc.free_pfn = lost;
	cc.free_from = 0;
	compact_isolate_free(&cc);
	CHECK_EQ(races, 1);
	CHECK_EQ(nr_free - zone->buddy.nr_free_pages, cc.nr_freepages);
	CHECK(page_test(frame(lost), PG_buddy));
	CHECK(cc.free_pfn < lost);
	zone_free_list(zone, &cc.freepages);
	check_zone(nr_free);
}

HOST_TEST(scan_block_that_changes_hands)
{
	one_race(1);
	one_race(2);
}

/* A block that is lost in every section: nothing is taken at all, and the way ends. */
static void always_too_late(int label)
{
	if (label == FREE)
		memset(types, MT_ISOLATE, sizeof(types));
}

HOST_TEST(scan_always_too_late)
{
	for (u32 value = 1; value <= 2; value++) {
		struct compact_control cc;

		make_zone(pages_below);
		set_switches(value);
		control(&cc, true);
		before_section = always_too_late;
		cc.nr_migratepages = 32;
		compact_isolate_free(&cc);
		CHECK_EQ(cc.nr_freepages, 0);
		CHECK(list_empty(&cc.freepages));
		CHECK_EQ(sec.nr[FREE], 1);
	}
}

HOST_TEST(scan_restarts_at_the_highest_that_gave)
{
	for (u32 value = 0; value <= 1; value++) {
		unsigned long last = free_scan_start(END);
		struct compact_control cc;

		make_zone(pages_below);
		set_switches(value);
		types[(last >> PAGEBLOCK_ORDER) - (START >> PAGEBLOCK_ORDER)] = MT_RESERVE;
		control(&cc, true);
		cc.nr_migratepages = 4 * PAGEBLOCK_PAGES;
		compact_isolate_free(&cc);
		CHECK_EQ(cc.nr_freepages, 4 * PAGEBLOCK_PAGES);
		CHECK_EQ(list_length(&cc.freepages), cc.nr_freepages); /* single frames */
		CHECK_EQ(cc.free_pfn, last - 2 * PAGEBLOCK_PAGES);     /* a block of order 10 */
		zone_free_list(zone, &cc.freepages);
	}
}

/* Neither kept-back blocks, nor holes, nor what would bring the zone to its low mark. */
HOST_TEST(scan_leaves_alone_what_is_not_its)
{
	for (u32 value = 0; value <= 2; value++) {
		unsigned long low = START >> PAGEBLOCK_ORDER, nr_free;
		struct compact_control cc;

		make_zone(pages_below);
		set_switches(value);
		types[6] = MT_RESERVE;
		types[7] = MT_ISOLATE;
		absent = low + 8;
		control(&cc, true);
		nr_free = zone->buddy.nr_free_pages;
		zone->watermark[WMARK_LOW] = 2000;
		cc.nr_migratepages = 100 * PAGEBLOCK_PAGES;
		compact_isolate_free(&cc);
		CHECK(cc.nr_freepages > PAGEBLOCK_PAGES);
		CHECK(zone->buddy.nr_free_pages > 2000);
		for (unsigned long pfn = (low + 6) << PAGEBLOCK_ORDER;
		     pfn < (low + 9) << PAGEBLOCK_ORDER; pfn++)
			CHECK(page_test(frame(pfn), PG_buddy) || pfn % 1024);
		zone_free_list(zone, &cc.freepages);
		check_zone(nr_free);
	}
}

/* ---- the migration scanner's lock ---- */

static unsigned long ends[600], nr_ends;
static unsigned long last_seen;
static void note_frame(unsigned long pfn)
{
	last_seen = pfn;
}
static void note_end(int label)
{
	if (last_seen && nr_ends < 600)
		ends[nr_ends++] = last_seen;
}

/* Interrupts come in before each frame whose number ends in 11111, whoever waits or not. */
HOST_TEST(scan_breathes_at_absolute_frame_numbers)
{
	struct compact_control cc;

	make_zone(kernel_only);
	set_switches(1);
	control(&cc, true);
	at_frame = note_frame;
	before_section = note_end;
	nr_ends = last_seen = 0;
	CHECK_EQ(compact_isolate_migrate(&cc), 0);
	CHECK_EQ(nr_ends, PAGEBLOCK_PAGES / 32);
	for (unsigned long i = 0; i < nr_ends; i++)
		CHECK_EQ((ends[i] + 1) % 32, 0);
	CHECK_EQ(breaks, 1); /* before the lock; nobody wants the CPU */
	CHECK_EQ(sec.nr[MIGRATE], PAGEBLOCK_PAGES / 32 + 1);
}

static void tick(unsigned long pfn)
{
	resched |= pfn % 64 == 10;
}

HOST_TEST(scan_gives_way_at_once)
{
	struct compact_control cc;

	make_zone(kernel_only);
	set_switches(1);
	control(&cc, true);
	at_frame = tick;
	compact_isolate_migrate(&cc);
	CHECK_EQ(breaks, 1 + PAGEBLOCK_PAGES / 64);
	contended = true;
	control(&cc, true);
	at_frame = NULL;
	compact_isolate_migrate(&cc);
	CHECK(sec.max_frames[MIGRATE] <= 32);
	CHECK(sec.nr[MIGRATE] > PAGEBLOCK_PAGES - 5);
	killed = true; /* a fatal signal ends the step, with the lock given back */
	control(&cc, true);
	compact_isolate_migrate(&cc);
	CHECK_EQ(sec.open, -1);
	CHECK_EQ(cc.migrate_pfn, START);
}

/* Before the document nobody can ask: the tick does not come in. */
HOST_TEST(scan_of_the_document_holds_on)
{
	struct compact_control cc;

	make_zone(kernel_only);
	set_switches(0);
	control(&cc, true);
	at_frame = tick;
	compact_isolate_migrate(&cc);
	CHECK_EQ(sec.nr[MIGRATE], 1);
	CHECK_EQ(sec.max_frames[MIGRATE], PAGEBLOCK_PAGES - 5);
	CHECK_EQ(breaks, 0);
}

HOST_TEST(scan_lazy_locks_for_pages_only)
{
	for (int lazy = 0; lazy <= 1; lazy++) {
		struct compact_control cc;

		make_zone(kernel_only);
		set_switches(lazy ? 1 : 2);
		switch_compact_lock_lazy.value = (u32)lazy;
		control(&cc, true);
		for (int i = 0; i < 10; i++)
			CHECK_EQ(compact_isolate_migrate(&cc), 0);
		CHECK_EQ(sec.nr[MIGRATE], 0);
		CHECK_EQ(cc.scanned_migrate, 10 * PAGEBLOCK_PAGES - 5);
		make_zone(pages_only);
		switch_compact_lock_lazy.value = (u32)lazy;
		control(&cc, true);
		CHECK_EQ(compact_isolate_migrate(&cc), 32);
		CHECK_EQ(sec.nr[MIGRATE], 1);
		migrate_putback(&cc.migratepages);
		check_zone(zone->buddy.nr_free_pages);
	}
}

/* At most 32 pages a step, never past the pageblock; the next step goes on where it stopped. */
HOST_TEST(scan_takes_at_most_a_cluster)
{
	for (u32 value = 0; value <= 2; value++) {
		struct compact_control cc;
		unsigned long at = START;

		make_zone(pages_only);
		set_switches(value);
		control(&cc, true);
		cc.free_pfn = END;
		for (int i = 0; i < 40; i++) {
			u32 want = (u32)min(32ul, migrate_scan_end(at) - at);

			zone->vm_stat[NR_ISOLATED_ANON].v = zone->vm_stat[NR_ISOLATED_FILE].v = 0;
			cc.nr_migratepages = 0;
			CHECK_EQ(compact_isolate_migrate(&cc), want);
			at += want;
			CHECK_EQ(cc.migrate_pfn, at);
		}
	}
}

HOST_TEST(scan_async_enters_movable_blocks_only)
{
	for (u32 value = 0; value <= 2; value++)
		for (int sync = 0; sync <= 1; sync++) {
			struct compact_control cc;
			unsigned long got[3] = { 0 }, written = 0;
			struct page *page;

			make_zone(mixed);
			set_switches(value);
			types[1] = MT_UNMOVABLE;
			control(&cc, sync);
			while (cc.migrate_pfn < FIRST + 3 * PAGEBLOCK_PAGES) {
				cc.nr_migratepages = 0;
				compact_isolate_migrate(&cc);
			}
			list_for_each_entry(page, &cc.migratepages, lru) {
				got[(page_to_pfn(page) - FIRST) >> PAGEBLOCK_ORDER]++;
				written += page_test(page, PG_writeback);
			}
			CHECK(got[0] && got[2]);
			CHECK_EQ(!!got[1], sync);
			CHECK_EQ(!!written, sync);
		}
}

/* Too many are away already: it waits for them, with interrupts on. */
HOST_TEST(scan_waits_for_those_isolated)
{
	struct compact_control cc;

	make_zone(pages_below);
	set_switches(2);
	control(&cc, true);
	zone->vm_stat[NR_ISOLATED_ANON].v = (long)nr_lru / 2 + 1;
	CHECK_EQ(compact_isolate_migrate(&cc), 32);
	CHECK_EQ(waits, 1);
	zone->vm_stat[NR_ISOLATED_ANON].v = (long)nr_lru / 2 - 32;
	cc.nr_migratepages = 0;
	CHECK_EQ(compact_isolate_migrate(&cc), 32);
	CHECK_EQ(waits, 1);
}

/* A huge page is passed as a whole, one that is half there (its order not yet written) frame by frame. */
HOST_TEST(scan_passes_huge_pages)
{
	for (u32 value = 0; value <= 2; value++) {
		unsigned long huge = FIRST + 2 * PAGEBLOCK_PAGES;
		struct compact_control cc;

		make_zone(pages_below);
		set_switches(value);
		for (unsigned long pfn = huge; pfn < huge + PAGEBLOCK_PAGES; pfn++) {
			lruvec_del_locked(&zone->lruvec, frame(pfn), page_lru_list(frame(pfn)));
			frame(pfn)->flags = ZONE_FLAGS;
			nr_lru--;
		}
		frame(huge)[1].comp_order = 9;
		frame(huge)->flags |=
			BIT(PG_head) | BIT(PG_lru) | BIT(PG_anon) | BIT(PG_swapbacked);
		control(&cc, true);
		cc.migrate_pfn = huge;
		CHECK_EQ(compact_isolate_migrate(&cc), 0);
		CHECK_EQ(cc.migrate_pfn, huge + PAGEBLOCK_PAGES);
		CHECK_EQ(cc.scanned_migrate, 1);
		frame(huge)[1].comp_order = ~0ul;
		cc.migrate_pfn = huge;
		CHECK_EQ(compact_isolate_migrate(&cc), 0);
		CHECK_EQ(cc.migrate_pfn, huge + PAGEBLOCK_PAGES);
	}
}

/* ---- a whole attempt ---- */

static struct zonelist *list_of_one(void)
{
	static struct zonelist zl;

	zl.refs[0] = (struct zoneref){ .zone = zone, .class = 0 };
	zl.refs[1].zone = NULL;
	return &zl;
}

/* Where every second frame is the kernel's no block can be made: 1, 3, 7, ... 63 attempts are left out. */
static char hopeless(unsigned long pfn)
{
	return pfn % 2 ? 'k' : pfn % 4 ? '.' : 'p';
}

static void deferral(u32 hints)
{
	make_zone(hopeless);
	switch_compact_hints.value = hints;
	set_switches(2);
	for (int round = 1; round <= 9; round++) {
		unsigned long left_out = 0;
		struct page *page = NULL;

		while (!compact_try(list_of_one(), GFP_KERNEL, 9, 0, 1, &page)) {
			CHECK(left_out < 64);
			left_out++;
		}
		CHECK(!page);
		CHECK_EQ(left_out, round == 1 ? 0 : (1 << min(round - 1, 6)) - 1);
		compact_tried(list_of_one(), 9, 0, 1, false);
		CHECK_EQ(vm_events[COMPACTSTALL], round);
		CHECK_EQ(vm_events[COMPACTFAIL], round);
	}
	/* success forgets it all */
	compact_tried(list_of_one(), 9, 0, 1, true);
	CHECK_EQ(zone->compact_defer_shift, 0);
	check_zone(zone->buddy.nr_free_pages);
}

HOST_TEST(scan_attempts_are_put_off)
{
	deferral(0);
	deferral(1);
}

/* An index of -1000 means that a block is there; the whole zone (order -1) has no index at all. */
HOST_TEST(scan_slips_of_2_6_38)
{
	struct compact_control cc = { .order = 9, .mt = MT_MOVABLE, .sync = true };

	make_zone(pages_below);
	cc.zone = zone;
	CHECK_EQ(frag_index(9, zone->buddy.area), -1000);
	CHECK_EQ(compact_zone(&cc), COMPACT_PARTIAL); /* without a look at any frame */
	CHECK_EQ(cc.scanned_migrate + cc.scanned_free, 0);
	cc.order = -1;
	CHECK_EQ(compact_zone(&cc), COMPACT_COMPLETE);
	make_zone(document);
	cc = (struct compact_control){ .zone = zone, .order = 9, .mt = MT_MOVABLE, .sync = true };
	CHECK(frag_index(9, zone->buddy.area) > 500);
	zone->watermark[WMARK_LOW] =
		zone->buddy.nr_free_pages - 1000; /* too little room for copies */
	CHECK_EQ(compact_zone(&cc), COMPACT_SKIPPED);
}

/* It ends as soon as the block is there and the zone keeps its low mark with it. */
HOST_TEST(scan_ends_with_the_block)
{
	for (u32 value = 0; value <= 2; value++) {
		struct compact_control cc = { .order = 8, .mt = MT_MOVABLE, .sync = true };
		unsigned long nr_free;

		make_zone(scattered);
		set_switches(value);
		nr_free = zone->buddy.nr_free_pages;
		cc.zone = zone;
		CHECK_EQ(compact_zone(&cc), COMPACT_PARTIAL);
		CHECK(compact_block_there(zone->buddy.area, 8, MT_MOVABLE));
		CHECK(cc.migrate_pfn < FIRST + 4 * PAGEBLOCK_PAGES);
		check_zone(nr_free);
	}
}
