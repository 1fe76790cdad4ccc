/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_migrate.c - pages of every kind change their frames under the eyes of those who use them:
 * contents, entries, indexes, marks and all counts stay right; a page somebody holds stays.
 */
#include "arch/uaccess.h"
#include "lib/errno.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/compact/migrate.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/swap/swap.h"
#include "mm/vm/aspace.h"
#include "mm/vm/ptwalk.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"

#define P PAGE_SIZE
#define ANON 0x22
#define SHARED 1
#define FIXED 0x10
#define RW 3

static int poke(unsigned long addr, u32 v)
{
	return put_user_u32(v, (u32 __user *)addr);
}

static u32 peek(unsigned long addr)
{
	u32 v;

	return get_user_u32(&v, (const u32 __user *)addr) ? 0xdead : v;
}

/* The page behind addr, referenced; NULL. => mm->lock, or nobody else is in mm */
static struct page *page_at(struct aspace *mm, unsigned long addr)
{
	pte_t *pte = pt_find(mm, addr), e;
	struct page *page = NULL;

	if (!pte)
		return NULL;
	spin_lock(&mm->pt_lock);
	e = pte_read(pte);
	if (pte_mapped(e) && !pte_special(e)) {
		page = pfn_to_page(pte_pfn(e));
		page_get(page);
	}
	spin_unlock(&mm->pt_lock);
	return page;
}

static struct page *fresh(struct page *old, struct migrate_control *mc)
{
	int node = nr_nodes > 1 ? !page_node(old) : -1;

	return alloc_pages_node(node, GFP_HIGHUSER_MOVABLE, 0);
}

/* Moves the page; the caller's reference is dropped first. => migrate_pages' answer, -ENOENT */
static int move(struct page *page, enum migrate_mode mode)
{
	struct migrate_control mc = { .mode = mode, .wait_rmap = true, .get_new = fresh };
	LIST_HEAD(list);
	bool taken;
	int left;

	taken = migrate_isolate(page);
	page_put(page);
	if (!taken)
		return -ENOENT;
	list_add(&page->lru, &list);
	left = migrate_pages(&list, &mc);
	migrate_putback(&list);
	return left;
}

/* The page at addr has another frame afterwards. */
static bool moves(struct aspace *mm, unsigned long addr)
{
	struct page *page = page_at(mm, addr), *now;
	bool ok;

	lru_drain_all();
	ok = page && move(page, MIGRATE_SYNC) == 0;
	now = page_at(mm, addr);
	ok = ok && now && now != page;
	if (now)
		page_put(now);
	return ok;
}

KTEST(migrate, anonymous)
{
	struct aspace *mm = aspace_create(), *child;
	long isolated = global_zone_state(NR_ISOLATED_ANON);
	long addr = vm_map(mm, NULL, NULL, 0, 4 * P, RW, ANON, 0, 0, NULL);

	aspace_use(mm);
	KT_EQ(poke(addr + P, 77), 0);
	for (int i = 0; i < 10; i++)
		KT_ASSERT(moves(mm, addr + P));
	KT_EQ(peek(addr + P), 77);
	child = aspace_fork(mm);
	KT_ASSERT(!IS_ERR(child));
	KT_ASSERT(moves(mm, addr + P)); /* both see it move */
	KT_ASSERT(moves(child, addr + P));
	KT_EQ(peek(addr + P), 77);
	KT_EQ(poke(addr + P, 78), 0);
	KT_ASSERT(!aspace_check(mm) && !aspace_check(child));
	aspace_use(child);
	KT_EQ(peek(addr + P), 77);
	KT_ASSERT(moves(child, addr + P));
	KT_EQ(poke(addr + P, 79), 0);
	aspace_use(mm);
	KT_EQ(peek(addr + P), 78);
	KT_ASSERT(!aspace_check(mm) && !aspace_check(child));
	KT_EQ(global_zone_state(NR_ISOLATED_ANON), isolated);
	aspace_use(NULL);
	aspace_put(child);
	aspace_put(mm);
}

KTEST(migrate, held_stays)
{
	struct aspace *mm = aspace_create();
	long addr = vm_map(mm, NULL, NULL, 0, P, RW, ANON, 0, 0, NULL);
	struct page *page, *now;

	aspace_use(mm);
	KT_EQ(poke(addr, 5), 0);
	page = page_at(mm, addr); /* this reference stays */
	lru_drain_all();
	page_get(page);
	KT_EQ(move(page, MIGRATE_SYNC), 1);
	now = page_at(mm, addr);
	KT_ASSERT(now == page);
	page_put(now);
	page_lock(page);
	page_get(page);
	KT_EQ(move(page, MIGRATE_ASYNC), 1);
	page_unlock(page);
	KT_EQ(poke(addr, 6), 0);
	page_put(page);
	KT_ASSERT(moves(mm, addr));
	KT_EQ(peek(addr), 6);
	KT_ASSERT(!aspace_check(mm));
	aspace_use(NULL);
	aspace_put(mm);
}

KTEST(migrate, locked_in_memory)
{
	long mlocked = global_zone_state(NR_MLOCK);
	struct aspace *mm = aspace_create();
	long addr = vm_map(mm, NULL, NULL, 0, 2 * P, RW, ANON, 0, 0, NULL);
	struct page *page;

	aspace_use(mm);
	KT_EQ(vm_mlock(addr, 2 * P, 0), 0);
	KT_EQ(global_zone_state(NR_MLOCK), mlocked + 2);
	KT_ASSERT(moves(mm, addr));
	KT_EQ(global_zone_state(NR_MLOCK), mlocked + 2);
	page = page_at(mm, addr);
	lru_drain_all();
	KT_ASSERT(page_test(page, PG_mlocked) && page_test(page, PG_unevictable));
	page_put(page);
	KT_EQ(vm_munlock(addr, 2 * P), 0);
	KT_EQ(global_zone_state(NR_MLOCK), mlocked);
	KT_ASSERT(moves(mm, addr));
	aspace_use(NULL);
	aspace_put(mm);
}

static const struct mapping_ops no_ops;

KTEST(migrate, shared_memory)
{
	struct mapping *m = kzalloc(sizeof(*m), GFP_KERNEL);
	struct aspace *a = aspace_create(), *b = aspace_create();
	long shmem = global_zone_state(NR_SHMEM), one, two;
	struct page *page, *now;
	u32 word = 4711;

	KT_ASSERT(m && a && b);
	mapping_init(m, &no_ops, NULL, MAPF_SHMEM);
	KT_EQ(pagecache_write_kernel(m, 5 * P, &word, 4), 4);
	lru_drain_all();
	page = pagecache_find(m, 5);
	KT_EQ(move(page, MIGRATE_SYNC), 0); /* nobody maps it */
	now = pagecache_find(m, 5);
	KT_ASSERT(now && now != page && page_test(now, PG_uptodate) && page_test(now, PG_dirty));
	page_put(now);
	one = vm_map(a, NULL, m, 0, 8 * P, RW, SHARED, 0, 0, NULL);
	two = vm_map(b, NULL, m, 0, 2 * P, RW, SHARED, 5 * P, 0, NULL);
	aspace_use(a);
	KT_EQ(peek(one + 5 * P), 4711);
	aspace_use(b);
	KT_EQ(poke(two, 4712), 0);
	KT_ASSERT(moves(b, two));
	KT_EQ(peek(two), 4712);
	aspace_use(a);
	KT_ASSERT(moves(a, one + 5 * P));
	KT_EQ(poke(one + 5 * P, 4713), 0);
	aspace_use(b);
	KT_EQ(peek(two), 4713);
	KT_ASSERT(!aspace_check(a) && !aspace_check(b));
	aspace_use(NULL);
	aspace_put(a);
	aspace_put(b);
	mapping_destroy(m);
	kfree(m);
	KT_EQ(global_zone_state(NR_SHMEM), shmem);
}

/* ---- swap ---- */

#define SLOTS 512ul
static char *swap_data;

static int submit(void *owner, u64 slot, struct page *page, bool write,
		  void (*done)(struct page *page, int err))
{
	char *va = page_kmap(page);

	if (write)
		memcpy(swap_data + slot * P, va, P);
	else
		memcpy(va, swap_data + slot * P, P);
	page_kunmap(va);
	done(page, 0);
	return 0;
}

static void release(void *owner) {}
static const struct swap_ops swap_test_ops = { .submit = submit, .release = release };

static int swap_on(void)
{
	struct swap_new n = {
		.path = "/migrate", .ops = &swap_test_ops, .owner = &swap_data, .slots = SLOTS
	};

	swap_data = vmalloc(SLOTS * P);
	return swap_data ? swap_area_add(&n) : -ENOMEM;
}

static int swap_off(void)
{
	int err = swap_area_remove(&swap_data);

	vfree(swap_data);
	return err;
}

KTEST(migrate, swap_cache)
{
	struct aspace *mm = aspace_create();
	long addr = vm_map(mm, NULL, NULL, 0, P, RW, ANON, 0, 0, NULL);
	struct page *page, *now;
	swp_entry_t e;

	KT_EQ(swap_on(), 0);
	aspace_use(mm);
	KT_EQ(poke(addr, 31), 0);
	page = page_at(mm, addr);
	lru_drain_all();
	page_lock(page);
	KT_EQ(swapcache_add_new(page), 0);
	e = page_swp(page);
	page_unlock(page);
	page_put(page);
	KT_ASSERT(moves(mm, addr));
	now = swapcache_find(e);
	KT_ASSERT(now && now != page && page_test(now, PG_dirty));
	page_put(now);
	KT_EQ(peek(addr), 31);
	KT_ASSERT(!aspace_check(mm) && !swapcache_check());
	KT_EQ(vm_madvise(mm, addr, P, 21), 0); /* out, from where it is now */
	KT_EQ(peek(addr), 31);
	KT_ASSERT(moves(mm, addr));
	KT_EQ(peek(addr), 31);
	aspace_use(NULL);
	aspace_put(mm);
	KT_EQ(swap_off(), 0);
}

/* ---- a crowd, and somebody who moves their pages ---- */

#define CROWD 3
#define PAGES 64ul
#define BASE 0x40000000ul
static struct aspace *crowd_mm;
static struct mapping *crowd_file;
static u64 moved, tried;

static void one_step(struct rng *rng, long *bad)
{
	unsigned long i = rng_below(rng, PAGES), n = 1 + rng_below(rng, 8), addr = BASE + i * P;
	struct aspace *child;
	u32 v;

	n = min(n, PAGES - i);
	switch (rng_below(rng, 18)) {
	case 0:
		vm_madvise(crowd_mm, addr, n * P, 4);
		break;
	case 1:
		vm_munmap(addr, n * P);
		break;
	case 2:
		vm_mmap(NULL, NULL, addr, n * P, RW, ANON | FIXED, 0);
		break;
	case 3:
		vm_map(crowd_mm, NULL, crowd_file, addr, n * P, RW, SHARED | FIXED, i * P, 0, NULL);
		break;
	case 4:
		vm_mprotect(addr, n * P, rng_below(rng, 2) ? RW : rng_below(rng, 2));
		break;
	case 5:
		child = aspace_fork(crowd_mm);
		if (!IS_ERR(child))
			aspace_put(child);
		break;
	case 6:
		rng_below(rng, 2) ? vm_mlock(addr, n * P, 0) : vm_munlock(addr, n * P);
		break;
	case 7:
		vm_madvise(crowd_mm, addr, n * P, 21);
		break;
	case 8:
		if (rng_below(rng, 8) == 0)
			pagecache_truncate(crowd_file, i * P);
		else
			pagecache_punch(crowd_file, i * P, (i + n) * P);
		crowd_file->size = PAGES * P;
		break;
	case 9:
		v = (u32)i + 1;
		pagecache_write_kernel(crowd_file, i * P + 16, &v, 4);
		break;
	default:
		v = peek(addr + 16);
		*bad += v != 0 && v != 0xdead && v != (u32)i + 1;
		poke(addr + 16, (u32)i + 1);
	}
}

static int crowd_member(void *arg)
{
	struct rng rng;
	long bad = 0;

	rng_seed(&rng, (unsigned long)arg);
	aspace_use(crowd_mm);
	for (int step = 0; step < 1500; step++) {
		one_step(&rng, &bad);
		cond_resched();
	}
	aspace_use(NULL);
	while (!kthread_should_stop())
		sleep_ns(1000000);
	return bad ? -EIO : 0;
}

static int mover(void *arg)
{
	struct rng rng;

	rng_seed(&rng, 99);
	while (!kthread_should_stop()) {
		unsigned long addr = BASE + rng_below(&rng, PAGES) * P;
		struct page *page;

		down_read(&crowd_mm->lock);
		page = page_at(crowd_mm, addr);
		up_read(&crowd_mm->lock);
		if (!page) {
			unsigned long i = (addr - BASE) >> PAGE_SHIFT;

			page = pagecache_find(crowd_file, i);
		}
		if (page) {
			int left;

			lru_drain_local();
			left = move(page, rng_below(&rng, 4) ? MIGRATE_SYNC : MIGRATE_ASYNC);
			tried += left >= 0;
			moved += left == 0;
		}
		if (rng_below(&rng, 8) == 0)
			sleep_ns(20000);
		cond_resched();
	}
	return 0;
}

KTEST(migrate, crowd)
{
	long mlocked, anon, shmem, mapped, isolated;
	struct thread *member[CROWD], *mv;
	int results = 0;

	mlocked = global_zone_state(NR_MLOCK);
	anon = global_zone_state(NR_ANON_PAGES);
	shmem = global_zone_state(NR_SHMEM);
	mapped = global_zone_state(NR_MAPPED);
	isolated = global_zone_state(NR_ISOLATED_ANON) + global_zone_state(NR_ISOLATED_FILE);
	KT_EQ(swap_on(), 0);
	moved = tried = 0;
	crowd_mm = aspace_create();
	crowd_file = kzalloc(sizeof(*crowd_file), GFP_KERNEL);
	mapping_init(crowd_file, &no_ops, NULL, MAPF_SHMEM);
	crowd_file->size = PAGES * P;
	mv = kthread_run(mover, NULL, -1, "mover");
	for (unsigned long i = 0; i < CROWD; i++) {
		member[i] = kthread_run(crowd_member, (void *)(i + 1), -1, "crowd/%lu", i);
		KT_ASSERT(member[i] && mv);
	}
	for (int i = 0; i < CROWD; i++)
		results |= kthread_stop(member[i]);
	kthread_stop(mv);
	pr_warn("# migrate.crowd: %llu of %llu pages moved\n", (unsigned long long)moved,
		(unsigned long long)tried);
	KT_EQ(results, 0);
	KT_ASSERT(moved > 100);
	KT_ASSERT(!aspace_check(crowd_mm) && !swapcache_check());
	aspace_put(crowd_mm);
	pagecache_truncate(crowd_file, 0);
	mapping_destroy(crowd_file);
	KT_EQ(swap_off(), 0);
	lru_drain_all();
	KT_EQ(global_zone_state(NR_MLOCK), mlocked);
	KT_EQ(global_zone_state(NR_ANON_PAGES), anon);
	KT_EQ(global_zone_state(NR_SHMEM), shmem);
	KT_EQ(global_zone_state(NR_MAPPED), mapped);
	KT_EQ(global_zone_state(NR_ISOLATED_ANON) + global_zone_state(NR_ISOLATED_FILE), isolated);
}

/* What a move costs, the copy included (about 520 instructions of it). Printed, not judged. */
KTEST(migrate, cost)
{
	struct aspace *mm = aspace_create();
	long addr = vm_map(mm, NULL, NULL, 0, 64 * P, RW, ANON, 0, 0, NULL);
	struct migrate_control mc = { .mode = MIGRATE_SYNC, .wait_rmap = true, .get_new = fresh };
	LIST_HEAD(list);
	u64 at[3];

	aspace_use(mm);
	for (unsigned long i = 0; i < 64; i++)
		KT_EQ(poke(addr + i * P, (u32)i), 0);
	lru_drain_all();
	at[0] = rdtsc();
	for (unsigned long i = 0; i < 64; i++) {
		struct page *page = page_at(mm, addr + i * P);

		KT_ASSERT(migrate_isolate(page));
		page_put(page);
		list_add_tail(&page->lru, &list);
	}
	at[1] = rdtsc();
	KT_EQ(migrate_pages(&list, &mc), 0);
	at[2] = rdtsc();
	pr_warn("# migrate.cost: isolate %llu, move %llu instructions a page\n",
		(unsigned long long)(at[1] - at[0]) / 64, (unsigned long long)(at[2] - at[1]) / 64);
	for (unsigned long i = 0; i < 64; i++)
		KT_EQ(peek(addr + i * P), (u32)i);
	aspace_use(NULL);
	aspace_put(mm);
}
