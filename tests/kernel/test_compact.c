/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_compact.c - memory in pieces becomes blocks: order-9 requests are served after everything
 * was fragmented, contents stay, counts are right, and no section with interrupts off is longer
 * than its switch says.
 */
#include "arch/uaccess.h"
#include "kernel/time.h"
#include "lib/errno.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/compact/compact.h"
#include "mm/compact/migrate.h"
#include "mm/phys/buddy.h"
#include "mm/reclaim/kswapd.h"
#include "mm/reclaim/lruvec.h"
#include "mm/vm/aspace.h"
#include "mm/vm/ptwalk.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"
#include "trace/irqsoff.h"

#define P PAGE_SIZE
#define ANON 0x22
#define RW 3
#define ORDER 9
#define TAKE_ALL (__GFP_HIGH_ZONE | __GFP_MOVABLE | __GFP_MEMALLOC | __GFP_NOWARN)
#define BLOCK_GFP (GFP_HIGHUSER_MOVABLE | __GFP_NOWARN)

/* Nothing of order 9 and more is free any more but what compaction makes. */
struct world {
	struct aspace *mm;
	unsigned long addr, pages; /* every second one of them is free in the end */
	unsigned long top;	   /* pages in use above them, which cannot move */
	struct list_head hoard[MAX_ORDER];
};
static struct world w;

static bool poke(unsigned long addr, u32 v)
{
	return !put_user_u32(v, (u32 __user *)addr);
}

static u32 peek(unsigned long addr)
{
	u32 v;

	return get_user_u32(&v, (const u32 __user *)addr) ? 0xdead : v;
}

/* Half of what is free: the upper end of memory, so that the way to free frames is long. */
static void fill_top(void)
{
	struct node *node;

	for_each_node(node) {
		unsigned long n = node_zone_state(node->id, NR_FREE_PAGES) / 2 >> (MAX_ORDER - 1);
		struct page *page;

		for (; n && (page = alloc_pages_node(node->id, TAKE_ALL | __GFP_THISNODE,
						     MAX_ORDER - 1));
		     n--) {
			list_add(&page->lru, &w.hoard[MAX_ORDER - 1]);
			w.top += 1ul << (MAX_ORDER - 1);
		}
	}
}

static void hoard(void)
{
	struct page *page;

	for (int o = MAX_ORDER - 1; o >= ORDER; o--)
		while ((page = alloc_pages(TAKE_ALL, (unsigned int)o)))
			list_add(&page->lru, &w.hoard[o]);
}

static void world_end(void)
{
	struct page *page, *next;
	struct node *node;

	for (int o = 0; o < MAX_ORDER; o++)
		list_for_each_entry_safe(page, next, &w.hoard[o], lru)
			free_pages_order(page, (unsigned int)o);
	aspace_use(NULL);
	aspace_put(w.mm);
	w.mm = NULL;
	lru_drain_all();
	pcp_drain_all();
	for_each_node(node)
		kswapd_try_again(node); /* there was nothing it could have freed */
}

/* A world of eight blocks needs half of it free, and the other half to stand above it. */
static bool too_small(void)
{
	return nr_free_pages() / (unsigned long)nr_nodes < 8 * 16 * PAGEBLOCK_PAGES / 2;
}
#define NEEDS_ROOM()                                                                               \
	do {                                                                                       \
		if (!w.mm && too_small())                                                          \
			KT_SKIP("a node has less than 128 MiB free");                              \
	} while (0)

/* What a test that failed left behind goes first. */
static bool world_make(void)
{
	long addr;

	if (w.mm)
		world_end();
	for (int o = 0; o < MAX_ORDER; o++)
		list_init(&w.hoard[o]);
	w.top = 0;
	w.pages = ALIGN_DOWN(nr_free_pages() / (4 * (unsigned long)nr_nodes), 1024ul);
	fill_top();
	w.mm = aspace_create();
	if (!w.mm)
		return false;
	addr = vm_map(w.mm, NULL, NULL, 0, w.pages * P, RW, ANON, 0, 0, NULL);
	if (addr < 0)
		return false;
	w.addr = (unsigned long)addr;
	aspace_use(w.mm);
	vm_madvise(w.mm, w.addr, w.pages * P, 15); /* small pages, whatever the machine prefers */
	for (unsigned long i = 0; i < w.pages; i++)
		if (!poke(w.addr + i * P, (u32)i + 1))
			return false;
	for (unsigned long i = 1; i < w.pages; i += 2)
		vm_madvise(w.mm, w.addr + i * P, P, 4);
	lru_drain_all();
	pcp_drain_all();
	hoard();
	return true;
}

/* Blocks the free half of it could make. */
static unsigned long possible(void)
{
	return w.pages / 2 >> ORDER;
}

static long world_wrong(void)
{
	long wrong = 0;

	for (unsigned long i = 0; i < w.pages; i += 2)
		wrong += peek(w.addr + i * P) != (u32)i + 1;
	return wrong;
}

static unsigned long pfn_at(unsigned long addr)
{
	return pte_pfn(pte_read(pt_find(w.mm, addr)));
}

static unsigned long large_blocks(void)
{
	unsigned long n = 0;
	struct zone *z;

	for_each_zone(z)
		for (int o = ORDER; o < MAX_ORDER; o++)
			n += z->buddy.area[o].nr_free << (o - ORDER);
	return n;
}

static const char *all_zones_wrong(void)
{
	const char *what = NULL;
	struct zone *z;

	for_each_zone(z)
		what = what ? what : zone_check(z);
	return what;
}

static void set_switches(u32 free_irq, u32 migrate_irq)
{
	WRITE_ONCE(switch_compact_free_irq.value, free_irq);
	WRITE_ONCE(switch_compact_migrate_irq.value, migrate_irq);
	WRITE_ONCE(switch_compact_hints.value, free_irq && migrate_irq == 2);
}

static unsigned long isolated(void)
{
	return global_zone_state(NR_ISOLATED_ANON) + global_zone_state(NR_ISOLATED_FILE);
}

/* The thread of the node sleeps, and is not woken any more. */
static void daemon_off(void)
{
	WRITE_ONCE(switch_kcompactd.value, 0);
	for (int calm = 0; calm < 5; calm++) {
		sleep_ns(NSEC_PER_MSEC);
		if (isolated())
			calm = 0;
	}
}

/* Deferral and hints of earlier tests are not this one's business, nor is the daemon. */
static void forget_failures(void)
{
	struct zone *z;

	daemon_off();
	WRITE_ONCE(switch_compact_lock_lazy.value, 0);
	for_each_zone(z) {
		compact_succeeded(z, MAX_ORDER - 1);
		z->compact_migrate_pfn = z->compact_free_pfn = 0;
	}
}

/*
 * Requests until one fails. => how many were served; the blocks join the hoard. Without
 * __GFP_NORETRY the last one would reclaim before it gives up.
 */
static unsigned long serve(gfp_t gfp)
{
	unsigned long served = 0;
	struct page *page;

	while ((page = alloc_pages(gfp, ORDER))) {
		served++;
		list_add(&page->lru, &w.hoard[ORDER]);
	}
	return served;
}

KTEST(compact, blocks_are_made)
{
	static const u32 forms[][2] = { { 2, 2 }, { 1, 1 }, { 0, 0 } };
	long anon;

	NEEDS_ROOM();
	for (u32 f = 0; f < ARRAY_SIZE(forms); f++) {
		u64 success, moved, stall;
		unsigned long served;

		set_switches(forms[f][0], forms[f][1]);
		forget_failures();
		KT_ASSERT(world_make());
		KT_EQ(large_blocks(), 0);
		success = vm_event_sum(COMPACTSUCCESS);
		stall = vm_event_sum(COMPACTSTALL);
		moved = vm_event_sum(PGMIGRATE_SUCCESS);
		anon = global_zone_state(NR_ANON_PAGES);
		served = serve(BLOCK_GFP | __GFP_NORETRY);
		pr_warn("# compact.blocks_are_made: form %u: %lu of at most %lu blocks, %llu pages "
			"moved in %llu attempts\n",
			forms[f][0], served, possible(),
			(unsigned long long)(vm_event_sum(PGMIGRATE_SUCCESS) - moved),
			(unsigned long long)(vm_event_sum(COMPACTSTALL) - stall));
		/* half the area is free; what the low mark and the copies need is not to be had */
		KT_ASSERT(served >= possible() * 3 / 4);
		/* one run may make two */
		KT_ASSERT(vm_event_sum(COMPACTSUCCESS) - success >= served / 2);
		KT_ASSERT(vm_event_sum(COMPACTSUCCESS) - success <= served);
		KT_ASSERT(vm_event_sum(PGMIGRATE_SUCCESS) - moved >= served * 128);
		KT_EQ(world_wrong(), 0);
		KT_ASSERT(!aspace_check(w.mm));
		KT_EQ(global_zone_state(NR_ANON_PAGES), anon);
		KT_EQ(isolated(), 0);
		KT_ASSERT(!all_zones_wrong());
		world_end();
	}
	set_switches(2, 2);
}

/* The longest section of a site in visited frames and in clock ticks. */
static u64 work_of(const char *label, u64 *len)
{
	struct irqoff_stat s;

	if (!irqoff_stat_of(label, &s))
		s = (struct irqoff_stat){ .max = 0 };
	*len = s.max;
	return s.work_max;
}

KTEST(compact, sections)
{
	u64 free_work[3], migrate_work[3], free_len, migrate_len;
	char old[20];

	NEEDS_ROOM();
	strlcpy(old, tracer_name(), sizeof(old));
	KT_EQ(tracer_select("irqsoff"), 0);
	for (u32 form = 0; form < 3; form++) {
		struct zone *z;

		set_switches(form, form);
		forget_failures();
		KT_ASSERT(world_make());
		irqoff_reset();
		for_each_zone(z)
			compact_whole_zone(z);
		free_work[form] = work_of("compact_free", &free_len);
		migrate_work[form] = work_of("compact_migrate", &migrate_len);
		pr_warn("# compact.sections: form %u: free scanner %llu frames %llu ticks, "
			"migration scanner %llu frames %llu ticks\n",
			form, (unsigned long long)free_work[form], (unsigned long long)free_len,
			(unsigned long long)migrate_work[form], (unsigned long long)migrate_len);
		KT_EQ(world_wrong(), 0);
		world_end();
	}
	set_switches(2, 2);
	tracer_select(old);
	KT_ASSERT(free_work[0] >= 2 * PAGEBLOCK_PAGES);
	/* the way down over all that is full: what the document is about */
	if (nr_nodes == 1 && w.top >= 40 * PAGEBLOCK_PAGES)
		KT_ASSERT(free_work[0] >= 20000);
	KT_ASSERT(free_work[1] > 32 && free_work[1] <= PAGEBLOCK_PAGES);
	KT_ASSERT(free_work[2] > 0 && free_work[2] <= 32);
	KT_ASSERT(migrate_work[0] > 32 && migrate_work[0] <= PAGEBLOCK_PAGES);
	KT_ASSERT(migrate_work[1] > 0 && migrate_work[1] <= 32);
	KT_ASSERT(migrate_work[2] > 0 && migrate_work[2] <= 32);
}

/* The lock kept until somebody waits: not bounded, but it works. */
KTEST(compact, lazy)
{
	NEEDS_ROOM();
	set_switches(1, 1);
	forget_failures();
	WRITE_ONCE(switch_compact_lock_lazy.value, 1);
	KT_ASSERT(world_make());
	KT_ASSERT(serve(BLOCK_GFP | __GFP_NORETRY) >= possible() * 3 / 4);
	KT_EQ(world_wrong(), 0);
	world_end();
	WRITE_ONCE(switch_compact_lock_lazy.value, 0);
	set_switches(2, 2);
}

static void compact_all_nodes(void)
{
	struct node *node;

	for_each_node(node)
		compact_node(node);
}

/* mlock: not to disk, but to another frame, unless vm/compact_unevictable_allowed is 0. */
KTEST(compact, locked_in_memory)
{
	long mlocked = global_zone_state(NR_MLOCK);
	struct tunable *allowed = NULL;
	unsigned long at[2], pfn[2], moved = 0;

	NEEDS_ROOM();
	for (struct tunable *tun = __tunables_start; tun < __tunables_end; tun++)
		if (!strcmp(tun->name, "vm/compact_unevictable_allowed"))
			allowed = tun;
	KT_ASSERT(allowed && *allowed->value == 1);
	forget_failures();
	KT_ASSERT(world_make());
	at[0] = w.addr; /* one of the two ends stands low in memory */
	at[1] = w.addr + (w.pages - 2) * P;
	for (int i = 0; i < 2; i++) {
		KT_EQ(vm_mlock(at[i], P, 0), 0);
		pfn[i] = pfn_at(at[i]);
	}
	lru_drain_all();
	*allowed->value = 0;
	compact_all_nodes();
	*allowed->value = 1;
	for (int i = 0; i < 2; i++)
		KT_EQ(pfn_at(at[i]), pfn[i]);
	compact_all_nodes();
	KT_EQ(global_zone_state(NR_MLOCK), mlocked + 2);
	for (int i = 0; i < 2; i++) {
		moved += pfn_at(at[i]) != pfn[i];
		KT_ASSERT(page_test(pfn_to_page(pfn_at(at[i])), PG_mlocked));
	}
	KT_ASSERT(moved);
	KT_EQ(world_wrong(), 0);
	world_end();
	KT_EQ(global_zone_state(NR_MLOCK), mlocked);
}

KTEST(compact, by_hand)
{
	unsigned long before;
	struct node *node;

	NEEDS_ROOM();
	KT_ASSERT(world_make());
	before = large_blocks();
	for_each_node(node)
		compact_node(node);
	pr_warn("# compact.by_hand: %lu blocks, before %lu\n", large_blocks(), before);
	KT_ASSERT(large_blocks() >= possible() * 9 / 10);
	KT_EQ(world_wrong(), 0);
	KT_ASSERT(!all_zones_wrong());
	world_end();
}

KTEST(compact, daemon)
{
	u64 woken = vm_event_sum(KCOMPACTD_WAKE);
	struct node *node;

	NEEDS_ROOM();
	forget_failures();
	KT_ASSERT(world_make());
	WRITE_ONCE(switch_kcompactd.value, 1);
	for_each_node(node)
		kcompactd_wake(node, ORDER, ZONE_MOVABLE);
	KT_ASSERT(vm_event_sum(KCOMPACTD_WAKE) > woken);
	for (int i = 0; i < 500 && !large_blocks(); i++)
		sleep_ns(10 * NSEC_PER_MSEC);
	KT_ASSERT(large_blocks());
	KT_ASSERT(vm_event_sum(KCOMPACTD_MIGRATE_SCANNED));
	KT_EQ(world_wrong(), 0);
	daemon_off();
	woken = vm_event_sum(KCOMPACTD_WAKE);
	for_each_node(node)
		kcompactd_wake(node, MAX_ORDER - 1, ZONE_MOVABLE);
	WRITE_ONCE(switch_kcompactd.value, 1);
	KT_EQ(vm_event_sum(KCOMPACTD_WAKE), woken);
	world_end();
}

/* A page that is locked or being written is passed over, and nobody waits for it. */
KTEST(compact, async_never_waits)
{
	struct page *locked, *written;
	unsigned long served;

	NEEDS_ROOM();
	forget_failures();
	KT_ASSERT(world_make());
	locked = pfn_to_page(pfn_at(w.addr));
	written = pfn_to_page(pfn_at(w.addr + 2 * P));
	page_lock(locked);
	page_set(written, PG_writeback);
	served = serve(BLOCK_GFP | __GFP_NORETRY);
	page_clear(written, PG_writeback);
	page_unlock(locked);
	KT_ASSERT(served >= possible() / 2);
	KT_EQ(pfn_at(w.addr), page_to_pfn(locked));
	KT_EQ(pfn_at(w.addr + 2 * P), page_to_pfn(written));
	KT_EQ(world_wrong(), 0);
	world_end();
}

KTEST(compact, a_block_is_caught)
{
	struct capture c = { .order = ORDER, .mt = MT_MOVABLE };
	struct page *page, *half;
	struct zone *zone;
	unsigned long flags;

	page = alloc_pages(GFP_HIGHUSER_MOVABLE, ORDER + 1);
	KT_ASSERT(page);
	half = page + (1ul << ORDER);
	atomic_set(&half->refs, 1);
	zone = page_zone(page);
	spin_lock_irqsave_l(&zone->lock, flags, "kt_capture");
	zone->capture = &c;
	spin_unlock_irqrestore_l(&zone->lock, flags, "kt_capture");
	free_pages_order(page, ORDER); /* caught */
	KT_ASSERT(c.page == page);
	free_pages_order(half, ORDER); /* one is enough */
	spin_lock_irqsave_l(&zone->lock, flags, "kt_capture");
	zone->capture = NULL;
	spin_unlock_irqrestore_l(&zone->lock, flags, "kt_capture");
	KT_ASSERT(!zone_check(zone));
	KT_ASSERT(!page_test(page, PG_buddy) && page_test(half, PG_buddy));
	atomic_set(&page->refs, 1);
	free_pages_order(page, ORDER);
	KT_ASSERT(!zone_check(zone));
}

/* ---- a crowd that uses its memory while it moves ---- */

#define CROWD 3
#define CROWD_PAGES 1024ul

static int crowd_member(void *arg)
{
	struct aspace *mm = aspace_create();
	unsigned long addr;
	struct rng rng;
	long got, bad = 0;

	if (!mm)
		return -ENOMEM;
	rng_seed(&rng, (unsigned long)arg);
	got = vm_map(mm, NULL, NULL, 0, CROWD_PAGES * P, RW, ANON, 0, 0, NULL);
	addr = (unsigned long)got;
	aspace_use(mm);
	while (got > 0 && !kthread_should_stop()) {
		for (int n = 0; n < 64; n++) {
			unsigned long i = rng_below(&rng, CROWD_PAGES);
			u32 v = peek(addr + i * P);

			bad += v != 0 && v != (u32)i + 1;
			poke(addr + i * P, (u32)i + 1);
			if (rng_below(&rng, 3) == 0)
				vm_madvise(mm, addr + i * P, P, 4);
			cond_resched();
		}
		sleep_ns(100000);
	}
	bad += aspace_check(mm) != NULL;
	aspace_use(NULL);
	aspace_put(mm);
	return bad ? -EIO : 0;
}

KTEST(compact, crowd)
{
	u64 moved = vm_event_sum(COMPACTPAGES);
	struct thread *member[CROWD];
	int results = 0;

	for (unsigned long i = 0; i < CROWD; i++) {
		member[i] = kthread_run(crowd_member, (void *)(i + 1), -1, "crowd/%lu", i);
		KT_ASSERT(member[i]);
	}
	for (int round = 0; round < 20; round++) {
		struct page *page = alloc_pages(BLOCK_GFP | __GFP_NORETRY, MAX_ORDER - 1);
		struct node *node;

		if (page)
			free_pages_order(page, MAX_ORDER - 1);
		for_each_node(node)
			compact_node(node);
		sleep_ns(2 * NSEC_PER_MSEC);
	}
	for (int i = 0; i < CROWD; i++)
		results |= kthread_stop(member[i]);
	pr_warn("# compact.crowd: %llu pages moved\n",
		(unsigned long long)(vm_event_sum(COMPACTPAGES) - moved));
	KT_EQ(results, 0);
	KT_ASSERT(vm_event_sum(COMPACTPAGES) - moved > 100);
	lru_drain_all();
	daemon_off();
	WRITE_ONCE(switch_kcompactd.value, 1);
	KT_EQ(isolated(), 0);
	KT_ASSERT(!all_zones_wrong());
}

/* What it costs for each frame looked at and each page moved. Printed, not judged. */
KTEST(compact, cost)
{
	u64 scanned, moved, at;
	struct zone *z;

	NEEDS_ROOM();
	KT_ASSERT(world_make());
	scanned = vm_event_sum(COMPACTMIGRATE_SCANNED) + vm_event_sum(COMPACTFREE_SCANNED);
	moved = vm_event_sum(COMPACTPAGES);
	at = rdtsc();
	for_each_zone(z)
		compact_whole_zone(z);
	at = rdtsc() - at;
	scanned =
		vm_event_sum(COMPACTMIGRATE_SCANNED) + vm_event_sum(COMPACTFREE_SCANNED) - scanned;
	moved = vm_event_sum(COMPACTPAGES) - moved;
	pr_warn("# compact.cost: %llu frames looked at, %llu pages moved, %llu instructions\n",
		(unsigned long long)scanned, (unsigned long long)moved, (unsigned long long)at);
	world_end();
}
