/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_swap.c - programs' memory goes to swap and comes back: contents, sharing, who pays, races,
 * errors, and that every slot is free again afterwards. The area is memory behind a thread that
 * takes its time.
 */
#include "arch/uaccess.h"
#include "lib/err.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/debug/check.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/reclaim.h"
#include "mm/swap/swap.h"
#include "mm/vm/aspace.h"
#include "mm/vm/ptwalk.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"

#define P PAGE_SIZE
#define ANON 0x22
#define RW 3
#define BASE 0x40000000ul
#define DONTNEED 4
#define WILLNEED 3
#define COLD 20
#define PAGEOUT 21

/* ---- the area ---- */
#define QUEUE 1024u
struct io {
	struct page *page;
	u64 slot;
	bool write;
	void (*done)(struct page *page, int err);
};
struct area {
	char *bytes;
	u64 slots;
	spinlock_t lock;
	struct io queue[QUEUE]; /* ring */
	u32 head, tail;
	struct wait_queue wait;
	struct thread *thread;
	u64 ns; /* per page; 0: at once, by whoever asks */
	int read_error, write_error, refuse;
	u32 reads, writes, released;
};

static void transfer(struct area *a, const struct io *io)
{
	char *place = a->bytes + io->slot * P, *page = page_kmap(io->page);
	int err = io->write ? a->write_error : a->read_error;

	if (!err)
		memcpy(io->write ? place : page, io->write ? page : place, P);
	page_kunmap(page);
	io->done(io->page, err);
}

static int submit(void *owner, u64 slot, struct page *page, bool write,
		  void (*done)(struct page *page, int err))
{
	struct area *a = owner;
	struct io io = { page, slot, write, done };

	if (a->refuse)
		return a->refuse;
	if (slot >= a->slots)
		panic("swap: slot %llu is behind the area", (unsigned long long)slot);
	if (write)
		a->writes++;
	else
		a->reads++;
	if (!a->ns) {
		transfer(a, &io);
		return 0;
	}
	spin_lock(&a->lock);
	if (a->head - a->tail == QUEUE)
		panic("swap: the test's queue is full");
	a->queue[a->head++ % QUEUE] = io;
	spin_unlock(&a->lock);
	wake_up(&a->wait);
	return 0;
}

static int area_thread(void *arg)
{
	struct area *a = arg;

	while (!kthread_should_stop()) {
		struct io io = { NULL };

		(void)wait_event_interruptible(&a->wait,
					       kthread_should_stop() || a->head != a->tail);
		spin_lock(&a->lock);
		if (a->head != a->tail)
			io = a->queue[a->tail++ % QUEUE];
		spin_unlock(&a->lock);
		if (!io.page)
			continue;
		sleep_ns(max(a->ns, (u64)100));
		transfer(a, &io);
	}
	return 0;
}

static void area_release(void *owner)
{
	((struct area *)owner)->released++;
}

static const struct swap_ops area_ops = { .submit = submit, .release = area_release };

static struct area *area_make(u64 slots, u64 ns)
{
	struct area *a = kzalloc(sizeof(*a), GFP_KERNEL);
	struct swap_new n = { .path = "/test", .ops = &area_ops, .owner = a, .slots = slots };

	a->bytes = vmalloc(slots * P);
	a->slots = slots;
	a->ns = ns;
	spin_lock_init(&a->lock, RANK_LEAF, "test_swap");
	wait_queue_init(&a->wait);
	if (!a->bytes || swap_area_add(&n))
		panic("test_swap: no area");
	a->thread = kthread_run(area_thread, a, -1, "testswap");
	return a;
}

/* 0, or what swapoff says: then the area is still there. */
static int area_unmake(struct area *a)
{
	int err = swap_area_remove(a);

	if (err)
		return err;
	if (a->released != 1)
		return -EBADF;
	kthread_stop(a->thread);
	vfree(a->bytes);
	kfree(a);
	return 0;
}

static unsigned long exact(enum zone_stat_item item)
{
	unsigned long sum = 0;
	struct zone *z;

	for_each_zone(z)
		sum += zone_state_exact(z, item);
	return sum;
}

static unsigned long used(void)
{
	return total_swap_pages() - nr_swap_pages();
}

/* ---- programs ---- */
static long region(struct aspace *mm, unsigned long pages)
{
	return vm_map(mm, NULL, NULL, 0, pages * P, RW, ANON, 0, 0, NULL);
}

static u64 peek(struct aspace *mm, unsigned long addr)
{
	u64 v = ~0ull;

	return vm_access(mm, addr, &v, sizeof(v), 0) == sizeof(v) ? v : ~0ull;
}

static bool poke(struct aspace *mm, unsigned long addr, u64 v)
{
	return vm_access(mm, addr, &v, sizeof(v), 1) == sizeof(v);
}

/* Page i holds `seed + i` at its start and at its end. */
static bool fill(struct aspace *mm, unsigned long addr, unsigned long pages, u64 seed)
{
	for (unsigned long i = 0; i < pages; i++)
		if (!poke(mm, addr + i * P, seed + i) || !poke(mm, addr + i * P + P - 8, seed + i))
			return false;
	return true;
}

static long wrong(struct aspace *mm, unsigned long addr, unsigned long pages, u64 seed)
{
	long bad = 0;

	for (unsigned long i = 0; i < pages; i++)
		bad += peek(mm, addr + i * P) != seed + i ||
		       peek(mm, addr + i * P + P - 8) != seed + i;
	return bad;
}

static pte_t entry(struct aspace *mm, unsigned long addr)
{
	pte_t *pte = pt_find(mm, addr);

	return pte ? pte_read(pte) : (pte_t){ 0 };
}

static struct page *page_at(struct aspace *mm, unsigned long addr)
{
	pte_t e = entry(mm, addr);

	return pte_mapped(e) && !pte_special(e) ? pfn_to_page(pte_pfn(e)) : NULL;
}

static int named(struct aspace *mm, unsigned long addr)
{
	pte_t e = entry(mm, addr);

	return pte_swap(e) ? swap_count(pte_to_swp(e)) : -1;
}

/* Everything nobody else uses goes to swap. Pages still mapped. */
static long out(struct aspace *mm, unsigned long addr, unsigned long pages)
{
	for (int look = 0; look < 3; look++) {
		lru_drain_all();
		vm_madvise(mm, addr, pages * P, PAGEOUT);
	}
	return atomic_long_read(&mm->rss_anon);
}

/* Reclaim looks at each page that the cache has of the first slots. */
static unsigned long take_cached(unsigned int type, u64 slots)
{
	unsigned long freed = 0;

	lru_drain_all();
	for (u64 slot = 1; slot < slots; slot++) {
		struct page *page = swapcache_find(swp_entry(type, slot));
		bool isolated = page && lru_isolate(page);

		if (page)
			page_put(page);
		if (isolated)
			freed += reclaim_isolated(&page, 1);
	}
	return freed;
}

/* Reclaim looks at it until it has seen that nobody uses it. */
static void push_out(struct page *page)
{
	lru_drain_all();
	for (int look = 0; look < 4 && page_mapped(page); look++)
		if (lru_isolate(page))
			reclaim_isolated(&page, 1);
}

static bool written(void)
{
	for (int i = 0; i < 1000 && exact(NR_WRITEBACK); i++)
		sleep_ns(NSEC_PER_MSEC);
	return !exact(NR_WRITEBACK);
}

static const char *checked(struct aspace *mm)
{
	const char *what = aspace_check(mm);

	what = what ? what : swap_check();
	what = what ? what : swapcache_check();
	if (what)
		pr_err("test_swap: %s", what);
	return what;
}

/* ---- the tests ---- */
KTEST(swap, out_and_in)
{
	struct area *a = area_make(256, 0);
	struct aspace *mm = aspace_create();
	long addr = region(mm, 64);

	KT_ASSERT(fill(mm, addr, 64, 1000));
	KT_EQ(out(mm, addr, 64), 0);
	KT_EQ(atomic_long_read(&mm->rss_swap), 64);
	KT_EQ(a->writes, 64);
	KT_EQ(used(), 64);
	KT_EQ(swapcache_pages(), 0); /* a memory disk: gone at once */
	KT_ASSERT(!checked(mm));
	KT_EQ(wrong(mm, addr, 64, 1000), 0);
	KT_EQ(atomic_long_read(&mm->rss_swap), 0);
	KT_EQ(atomic_long_read(&mm->rss_anon), 64);
	KT_EQ(a->reads, 64);
	KT_ASSERT(!checked(mm));
	/* not written to since: they leave for nothing */
	KT_EQ(out(mm, addr, 64), 0);
	KT_EQ(a->writes, 64);
	KT_EQ(wrong(mm, addr, 64, 1000), 0);
	KT_ASSERT(fill(mm, addr, 64, 2000)); /* written to: the slots are given back */
	KT_EQ(used(), 0);
	KT_EQ(out(mm, addr, 64), 0);
	KT_EQ(a->writes, 128);
	KT_EQ(wrong(mm, addr, 64, 2000), 0);
	aspace_put(mm);
	KT_EQ(used(), 0);
	KT_EQ(swapcache_pages(), 0);
	KT_EQ(area_unmake(a), 0);
}

KTEST(swap, neighbours_come_along)
{
	struct area *a = area_make(256, 0);
	struct aspace *mm = aspace_create();
	unsigned long majors = vm_event_sum(PGMAJFAULT);
	long addr = region(mm, 64);

	KT_ASSERT(fill(mm, addr, 64, 1));
	KT_EQ(out(mm, addr, 64), 0);
	KT_EQ(wrong(mm, addr, 64, 1), 0);
	/* slots 1..64 in aligned clusters of 8: nine reads */
	KT_EQ(vm_event_sum(PGMAJFAULT) - majors, 9);
	KT_EQ(a->reads, 64);
	KT_EQ(out(mm, addr, 64), 0);
	vm_madvise(mm, addr, 16 * P, WILLNEED);
	KT_EQ(a->reads, 80);
	KT_EQ(swapcache_pages(), 16);
	KT_EQ(atomic_long_read(&mm->rss_swap), 64);
	aspace_put(mm);
	KT_EQ(used(), 0);
	KT_EQ(area_unmake(a), 0);
}

KTEST(swap, fork_shares)
{
	struct area *a = area_make(256, 0);
	struct aspace *mm = aspace_create(), *child, *grandchild;
	unsigned long anon = exact(NR_ANON_PAGES);
	long addr = region(mm, 16);

	KT_ASSERT(fill(mm, addr, 16, 1));
	KT_EQ(out(mm, addr, 16), 0);
	child = aspace_fork(mm);
	KT_ASSERT(!IS_ERR(child));
	KT_EQ(atomic_long_read(&child->rss_swap), 16);
	KT_EQ(named(mm, addr), 2);
	grandchild = aspace_fork(child);
	KT_ASSERT(!IS_ERR(grandchild));
	KT_EQ(named(mm, addr), 3);
	KT_EQ(used(), 16);
	/* one page for all who read it */
	KT_EQ(peek(grandchild, addr), 1);
	KT_EQ(named(mm, addr), 2);
	KT_EQ(peek(mm, addr), 1);
	KT_EQ(peek(child, addr), 1);
	KT_ASSERT(page_at(mm, addr) && page_at(mm, addr) == page_at(grandchild, addr) &&
		  page_at(mm, addr) == page_at(child, addr));
	KT_EQ(page_mapcount(page_at(mm, addr)), 3);
	/* a copy for who writes */
	KT_ASSERT(poke(child, addr, 77));
	KT_EQ(peek(mm, addr), 1);
	KT_EQ(peek(child, addr), 77);
	KT_EQ(page_mapcount(page_at(mm, addr)), 2);
	KT_ASSERT(poke(child, addr + 2 * P, 78)); /* straight from the disk */
	KT_EQ(peek(mm, addr + 2 * P), 3);
	KT_EQ(peek(grandchild, addr + 2 * P), 3);
	KT_EQ(peek(child, addr + 2 * P), 78);
	KT_ASSERT(!checked(mm) && !checked(child) && !checked(grandchild));
	aspace_put(mm);
	KT_EQ(peek(grandchild, addr + P), 2);
	KT_EQ(wrong(child, addr + 4 * P, 12, 5), 0);
	KT_ASSERT(!checked(child) && !checked(grandchild));
	/* out again: a shared page has two names of one slot */
	KT_EQ(out(child, addr + 2 * P, 1), 14 - 1);
	KT_EQ(peek(grandchild, addr + 5 * P), 6);
	KT_EQ(page_mapcount(page_at(child, addr + 5 * P)), 2);
	push_out(page_at(child, addr + 5 * P));
	KT_EQ(named(child, addr + 5 * P), 2);
	KT_EQ(named(grandchild, addr + 5 * P), 2);
	KT_ASSERT(!checked(child) && !checked(grandchild));
	aspace_put(child);
	KT_EQ(wrong(grandchild, addr, 16, 1), 0);
	aspace_put(grandchild);
	KT_EQ(used(), 0);
	KT_EQ(swapcache_pages(), 0);
	KT_EQ(exact(NR_ANON_PAGES), anon);
	KT_EQ(area_unmake(a), 0);
}

/* Whoever is left with a page has it alone: no copy, no slot. */
KTEST(swap, reuse)
{
	struct area *a = area_make(64, 0);
	struct aspace *mm = aspace_create(), *child;
	long addr = region(mm, 4);
	struct page *page;

	KT_ASSERT(fill(mm, addr, 4, 1));
	KT_EQ(out(mm, addr, 4), 0);
	KT_EQ(peek(mm, addr), 1);
	page = page_at(mm, addr);
	KT_ASSERT(page && page_test(page, PG_swapcache));
	KT_ASSERT(poke(mm, addr, 9));
	KT_ASSERT(page_at(mm, addr) == page && !page_test(page, PG_swapcache));
	KT_EQ(used(), 3);
	child = aspace_fork(mm); /* names: slot of page 1 has two */
	KT_EQ(peek(child, addr + P), 2);
	page = page_at(child, addr + P);
	aspace_put(mm);
	KT_EQ(used(), 3);
	KT_ASSERT(poke(child, addr + P, 10)); /* mm is gone: nobody else */
	KT_ASSERT(page_at(child, addr + P) == page);
	KT_EQ(used(), 2);
	KT_ASSERT(!checked(child));
	aspace_put(child);
	KT_EQ(used(), 0);
	KT_EQ(area_unmake(a), 0);
}

KTEST(swap, slow_disk)
{
	struct area *a = area_make(256, NSEC_PER_MSEC);
	struct aspace *mm = aspace_create();
	long addr = region(mm, 64);

	KT_ASSERT(fill(mm, addr, 64, 1));
	lru_drain_all();
	vm_madvise(mm, addr, 64 * P, PAGEOUT);
	/* entries are gone, the pages are being written and can be had from the cache */
	KT_EQ(atomic_long_read(&mm->rss_swap), 64);
	KT_EQ(swapcache_pages(), 64);
	KT_ASSERT(poke(mm, addr + 63 * P, 7)); /* while it is being written */
	KT_EQ(peek(mm, addr + 62 * P), 63);
	KT_ASSERT(written());
	KT_EQ(a->reads, 0);
	KT_ASSERT(!checked(mm));
	a->writes = 0;
	KT_EQ(out(mm, addr, 64), 0); /* the changed one is written once more */
	KT_EQ(a->writes, 1);
	KT_ASSERT(written());
	KT_EQ(swapcache_pages(), 63); /* clean, on disk: reclaim need only take them; 62 went */
	KT_EQ(take_cached(0, 256), 63);
	KT_EQ(swapcache_pages(), 0);
	KT_EQ(peek(mm, addr + 63 * P), 7);
	KT_EQ(wrong(mm, addr, 63, 1), 0);
	KT_EQ(a->writes, 1);
	KT_EQ(a->reads, 64);
	aspace_put(mm);
	KT_EQ(used(), 0);
	KT_EQ(area_unmake(a), 0);
}

/* ---- several threads fault, write, fork and push out the same pages ---- */
#define CROWD 3
#define CROWD_PAGES 24
static struct aspace *crowd_mm;
static long crowd_addr;

static int crowd_member(void *arg)
{
	unsigned long me = (unsigned long)arg, bad = 0;

	for (u32 step = 0; step < 300; step++) {
		unsigned long i = (step * 7 + me * 5) % CROWD_PAGES, at = crowd_addr + i * P;

		bad += peek(crowd_mm, at) != 100 + i;
		if (step % 3 == me) /* a word of its own in each page */
			poke(crowd_mm, at + 64 * (me + 1), step);
		bad += step % 3 == me && peek(crowd_mm, at + 64 * (me + 1)) != step;
		if (step % 16 == me)
			vm_madvise(crowd_mm, crowd_addr, CROWD_PAGES * P, PAGEOUT);
		if (step % 64 == 10 * me) {
			struct aspace *child = aspace_fork(crowd_mm);

			if (!IS_ERR(child)) {
				bad += peek(child, at) != 100 + i;
				bad += !poke(child, at, 1);
				aspace_put(child);
			}
		}
		if (step % 8 == 0)
			sleep_ns(1000);
	}
	while (!kthread_should_stop())
		sleep_ns(NSEC_PER_MSEC);
	return bad ? -EIO : 0;
}

KTEST(swap, crowd)
{
	struct area *a = area_make(512, 100);
	struct thread *member[CROWD];
	int results = 0;

	crowd_mm = aspace_create();
	crowd_addr = region(crowd_mm, CROWD_PAGES);
	for (int i = 0; i < CROWD_PAGES; i++)
		KT_ASSERT(poke(crowd_mm, crowd_addr + i * P, 100 + i));
	for (unsigned long i = 0; i < CROWD; i++)
		member[i] = kthread_run(crowd_member, (void *)i, -1, "swapper/%lu", i);
	for (int i = 0; i < CROWD; i++)
		results |= kthread_stop(member[i]);
	KT_EQ(results, 0);
	KT_ASSERT(a->reads && a->writes);
	KT_ASSERT(written());
	KT_ASSERT(!checked(crowd_mm));
	KT_EQ(area_unmake(a), 0); /* all comes back */
	KT_EQ(atomic_long_read(&crowd_mm->rss_swap), 0);
	KT_EQ(atomic_long_read(&crowd_mm->rss_anon), CROWD_PAGES);
	KT_EQ(swapcache_pages(), 0);
	for (int i = 0; i < CROWD_PAGES; i++)
		KT_EQ(peek(crowd_mm, crowd_addr + i * P), 100 + i);
	KT_ASSERT(!checked(crowd_mm));
	aspace_put(crowd_mm);
}

KTEST(swap, swapoff)
{
	struct area *a = area_make(512, 100), *b;
	struct aspace *mm = aspace_create(), *child, *other = aspace_create();
	long addr = region(mm, 32), there = region(other, 32);

	KT_ASSERT(fill(mm, addr, 32, 1) && fill(other, there, 32, 500));
	out(mm, addr, 32);
	KT_ASSERT(written());
	KT_EQ(out(mm, addr, 32), 0);
	child = aspace_fork(mm);
	KT_ASSERT(!IS_ERR(child));
	out(other, there, 32);
	KT_ASSERT(poke(child, addr, 99));
	b = area_make(64, 0); /* another area stays as it is */
	KT_EQ(area_unmake(a), 0);
	KT_EQ(used(), 0);
	KT_EQ(atomic_long_read(&mm->rss_swap) + atomic_long_read(&child->rss_swap) +
		      atomic_long_read(&other->rss_swap),
	      0);
	KT_EQ(wrong(mm, addr, 32, 1), 0);
	KT_EQ(wrong(child, addr + P, 31, 2), 0);
	KT_EQ(peek(child, addr), 99);
	KT_EQ(wrong(other, there, 32, 500), 0);
	KT_ASSERT(!checked(mm) && !checked(child) && !checked(other));
	aspace_put(mm);
	aspace_put(child);
	aspace_put(other);
	KT_EQ(area_unmake(b), 0);
}

KTEST(swap, full)
{
	struct area *a = area_make(17, 0); /* 16 slots */
	struct aspace *mm = aspace_create();
	long addr = region(mm, 40);

	KT_ASSERT(fill(mm, addr, 40, 1));
	KT_EQ(out(mm, addr, 40), 24);
	KT_EQ(nr_swap_pages(), 0);
	KT_ASSERT(swap_half_full());
	KT_EQ(wrong(mm, addr, 40, 1), 0);
	KT_EQ(used(),
	      8); /* while more than half is in use, pages that come back leave their slots */
	KT_ASSERT(!checked(mm));
	aspace_put(mm);
	KT_EQ(area_unmake(a), 0);
	mm = aspace_create();
	addr = region(mm, 4);
	KT_ASSERT(fill(mm, addr, 4, 1));
	KT_EQ(out(mm, addr, 4), 4); /* no swap at all */
	aspace_put(mm);
}

KTEST(swap, errors)
{
	struct area *a = area_make(64, 0);
	struct aspace *mm = aspace_create();
	long addr = region(mm, 8);
	pte_t *pte, was;

	KT_ASSERT(fill(mm, addr, 8, 1));
	a->write_error = -EIO;
	KT_EQ(out(mm, addr, 4), 8 - 4); /* unmapped, but still in memory, dirty */
	KT_EQ(wrong(mm, addr, 8, 1), 0);
	KT_EQ(a->reads, 0);
	a->write_error = 0;
	a->refuse = -ENOMEM;
	out(mm, addr, 4);
	KT_EQ(wrong(mm, addr, 8, 1), 0);
	a->refuse = 0;
	KT_EQ(out(mm, addr, 8), 0);
	a->read_error = -EIO;
	KT_EQ(peek(mm, addr), ~0ull);
	KT_ASSERT(!poke(mm, addr + P, 1));
	KT_EQ(area_unmake(a), -EIO); /* nothing is lost by trying */
	KT_EQ(nr_swap_pages(), 63 - 8);
	a->read_error = 0;
	KT_EQ(peek(mm, addr), 1); /* the disk has thought better of it */
	KT_EQ(wrong(mm, addr, 8, 1), 0);
	KT_EQ(out(mm, addr, 8), 0);
	/* a damaged table: an entry that names nothing */
	pte = pt_find(mm, addr);
	was = pte_read(pte);
	pte_set(pte, pte_make_swap(29, 12345));
	KT_EQ(peek(mm, addr), ~0ull);
	KT_ASSERT(aspace_check(mm) != NULL);
	pte_set(pte, was);
	KT_EQ(wrong(mm, addr, 8, 1), 0);
	aspace_put(mm);
	KT_EQ(used(), 0);
	KT_EQ(area_unmake(a), 0);
}

KTEST(swap, locked)
{
	struct area *a = area_make(64, 0);
	struct aspace *mm = aspace_create();
	unsigned long mlocked = exact(NR_MLOCK);
	long addr = region(mm, 16);

	KT_ASSERT(fill(mm, addr, 16, 1));
	KT_EQ(out(mm, addr, 8), 8);
	aspace_use(mm);
	KT_EQ(vm_mlock(addr, 12 * P, 0), 0); /* 8 come back for it */
	KT_EQ(atomic_long_read(&mm->rss_swap), 0);
	KT_EQ(exact(NR_MLOCK), mlocked + 12);
	KT_EQ(vm_madvise(mm, addr, 12 * P, PAGEOUT), -EINVAL);
	KT_EQ(out(mm, addr + 12 * P, 4), 12);
	KT_EQ(vm_munlock(addr, 12 * P), 0);
	aspace_use(NULL);
	KT_EQ(exact(NR_MLOCK), mlocked);
	KT_EQ(out(mm, addr, 16), 0);
	KT_EQ(wrong(mm, addr, 16, 1), 0);
	KT_ASSERT(!checked(mm));
	aspace_put(mm);
	KT_EQ(used(), 0);
	KT_EQ(area_unmake(a), 0);
}

KTEST(swap, places_change)
{
	struct area *a = area_make(128, 0);
	struct aspace *mm = aspace_create();
	long addr = region(mm, 32), to;

	KT_ASSERT(fill(mm, addr, 32, 1));
	KT_EQ(out(mm, addr, 16), 16);
	aspace_use(mm);
	KT_EQ(vm_mprotect(addr + 4 * P, 8 * P, 0), 0); /* PROT_NONE over swap entries */
	KT_EQ(vm_mprotect(addr + 16 * P, 4 * P, 0), 0);
	KT_EQ(out(mm, addr, 32), 0);				  /* PROT_NONE pages go as well */
	KT_EQ(vm_mremap(addr, 32 * P, 32 * P, 3, BASE), -EFAULT); /* several VMAs */
	KT_EQ(vm_mprotect(addr, 32 * P, RW), 0);
	to = vm_mremap(addr, 32 * P, 32 * P, 3, BASE);
	aspace_use(NULL);
	KT_EQ(to, BASE);
	KT_EQ(atomic_long_read(&mm->rss_swap), 32);
	KT_ASSERT(!checked(mm));
	KT_EQ(wrong(mm, to, 32, 1), 0);
	KT_EQ(out(mm, to, 32), 0);
	KT_EQ(used(), 32);
	vm_madvise(mm, to, 8 * P, DONTNEED);
	KT_EQ(used(), 24);
	KT_EQ(atomic_long_read(&mm->rss_swap), 24);
	KT_EQ(peek(mm, to), 0);
	KT_EQ(peek(mm, to + 8 * P), 9); /* a cluster comes into the cache */
	KT_ASSERT(swapcache_pages() > 1);
	vm_madvise(mm, to + 8 * P, 8 * P, DONTNEED); /* mapped, cached, on disk: all go */
	KT_EQ(used(), 16);
	KT_ASSERT(!checked(mm));
	aspace_put(mm);
	KT_EQ(used(), 0);
	KT_EQ(swapcache_pages(), 0);
	KT_EQ(area_unmake(a), 0);
}

/* PROT_NONE memory that swapoff brings back stays so. */
KTEST(swap, swapoff_of_forbidden)
{
	struct area *a = area_make(128, 0);
	struct aspace *mm = aspace_create();
	long addr = region(mm, 8);

	KT_ASSERT(fill(mm, addr, 8, 1));
	aspace_use(mm);
	KT_EQ(vm_mprotect(addr, 8 * P, 0), 0);
	KT_EQ(out(mm, addr, 8), 0);
	KT_EQ(area_unmake(a), 0);
	KT_EQ(atomic_long_read(&mm->rss_anon), 8);
	KT_ASSERT(pte_protnone(entry(mm, addr)));
	KT_ASSERT(!checked(mm));
	KT_EQ(vm_mprotect(addr, 8 * P, RW), 0);
	aspace_use(NULL);
	KT_EQ(wrong(mm, addr, 8, 1), 0);
	aspace_put(mm);
}
