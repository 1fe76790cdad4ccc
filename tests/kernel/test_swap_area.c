/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_swap_area.c - swap areas over a "device" in memory that is slow or broken when told to:
 * coming and going, pages out and in, errors, and many threads at the slots at once.
 */
#include "kernel/show.h"
#include "lib/errno.h"
#include "lib/random.h"
#include "lib/string.h"
#include "mm/debug/vmstat.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/page_alloc.h"
#include "mm/swap/swap.h"
#include "sched/kthread.h"
#include "tests/kernel/ktest.h"

#define SLOTS 1024ul

struct fake {
	char *data; /* SLOTS pages */
	int error, submit_error;
	int writes, reads, released;
	bool hold; /* a transfer waits until somebody ends it */
	struct page *held;
	u64 held_slot;
	bool held_write;
	void (*held_done)(struct page *page, int err);
};

static void transfer(struct fake *f, u64 slot, struct page *page, bool write)
{
	char *va = page_kmap(page);

	if (write)
		memcpy(f->data + slot * PAGE_SIZE, va, PAGE_SIZE);
	else
		memcpy(va, f->data + slot * PAGE_SIZE, PAGE_SIZE);
	page_kunmap(va);
}

static int submit(void *owner, u64 slot, struct page *page, bool write,
		  void (*done)(struct page *page, int err))
{
	struct fake *f = owner;

	if (f->submit_error)
		return f->submit_error;
	*(write ? &f->writes : &f->reads) += 1;
	if (f->hold) {
		f->held = page;
		f->held_slot = slot;
		f->held_write = write;
		f->held_done = done;
		return 0;
	}
	if (!f->error)
		transfer(f, slot, page, write);
	done(page, f->error);
	return 0;
}

static void finish_held(struct fake *f)
{
	if (!f->error)
		transfer(f, f->held_slot, f->held, f->held_write);
	f->held_done(f->held, f->error);
}

static void release(void *owner)
{
	((struct fake *)owner)->released++;
}
static const struct swap_ops ops = { .submit = submit, .release = release };

static int add(struct fake *f, u64 slots, int prio, const u64 *bad, u32 nr_bad)
{
	struct swap_new n = { .path = "/fake dev",
			      .ops = &ops,
			      .owner = f,
			      .slots = slots,
			      .prefer = prio >= 0,
			      .prio = prio,
			      .bad = bad,
			      .nr_bad = nr_bad };

	return swap_area_add(&n);
}

static void show_swaps(char *buf, size_t n)
{
	struct seq seq = { .buf = buf, .size = n - 1 };
	char path[64];

	for (struct show_entry *e = NULL; (e = show_next(e));)
		if (show_path(e, 0, path, sizeof(path)) > 0 && !strcmp(path, "/proc/swaps"))
			e->show(&seq);
	buf[min(seq.count, n - 1)] = 0;
}

KTEST(swap_area, comes_and_goes)
{
	struct fake f = { 0 }, g = { 0 };
	unsigned long total = total_swap_pages(), left = nr_swap_pages(), t_total, t_free;
	const u64 bad[] = { 7, 9 };
	swp_entry_t e;
	char *buf = kmalloc(2048, GFP_KERNEL);

	KT_ASSERT(buf);
	KT_EQ(add(&f, 1, -1, NULL, 0), -EINVAL); /* the header alone */
	KT_EQ(add(&f, 1ull << 41, -1, NULL, 0), -EINVAL);
	KT_EQ(add(&f, 256, -1, bad, 2), 0);
	KT_EQ(total_swap_pages() - total, 253);
	KT_EQ(nr_swap_pages() - left, 253);
	swap_pages_hook(&t_total, &t_free);
	KT_EQ(t_total, total + 253);
	KT_EQ(t_free, left + 253);
	KT_EQ(add(&g, 65, 100, NULL, 0), 0);
	e = swap_slot_get(); /* of the one that is preferred */
	KT_EQ(swp_offset(e), 1);
	KT_EQ(nr_swap_pages() - left, 253 + 63);
	show_swaps(buf, 2048);
	KT_ASSERT(strstr(buf, "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n") == buf);
	KT_ASSERT(strstr(buf,
			 "/fake\\040dev                            partition\t256\t\t4\t\t100\n"));
	KT_ASSERT(strstr(buf, "partition\t1012\t\t0\t\t-"));
	KT_ASSERT(!swap_check());
	swap_slot_uncache(e);
	KT_EQ(swap_area_remove(&g), 0);
	KT_EQ(swap_area_remove(&g), -EINVAL);
	KT_EQ(g.released, 1);
	KT_EQ(swap_dup(e), -ENOENT); /* the entry means nothing any more */
	KT_ASSERT(!swap_get(e));
	KT_EQ(swap_area_remove(&f), 0);
	KT_EQ(total_swap_pages(), total);
	KT_EQ(nr_swap_pages(), left);
	KT_EQ(f.released, 1);
	kfree(buf);
}

KTEST(swap_area, all_places_taken)
{
	struct fake *f = kzalloc(sizeof(*f) * (MAX_SWAP_AREAS + 1), GFP_KERNEL);
	int n = 0, err;

	KT_ASSERT(f);
	while ((err = add(&f[n], 16, -1, NULL, 0)) == 0 && n < (int)MAX_SWAP_AREAS)
		n++;
	KT_EQ(err, -EPERM);
	KT_ASSERT(n > 0);
	for (int i = 0; i < n; i += 2)
		KT_EQ(swap_area_remove(&f[i]), 0);
	for (int i = 1; i < n; i += 2)
		KT_EQ(swap_area_remove(&f[i]), 0);
	kfree(f);
}

/* A page as the swap cache holds it, locked, of a fresh slot. */
static struct page *cache_page(u8 fill)
{
	struct page *page = alloc_page(GFP_KERNEL);
	swp_entry_t e = swap_slot_get();

	if (!page || !e.v)
		return NULL;
	memset(page_address(page), fill, PAGE_SIZE);
	page->private = e.v;
	page->flags |= BIT(PG_swapcache) | BIT(PG_swapbacked) | BIT(PG_uptodate) | BIT(PG_locked);
	return page;
}

static void drop_page(struct page *page)
{
	swap_slot_uncache(page_swp(page));
	page->flags &= ~(BIT(PG_swapcache) | BIT(PG_swapbacked) | BIT(PG_uptodate) | BIT(PG_dirty));
	page->private = 0;
	page_put(page);
}

KTEST(swap_area, out_and_in)
{
	struct fake f = { .data = vzalloc(SLOTS * PAGE_SIZE) };
	u64 out = vm_event_sum(PSWPOUT), in = vm_event_sum(PSWPIN);
	long wb = global_zone_state(NR_WRITEBACK);
	struct page *page, *back;

	KT_ASSERT(f.data);
	KT_EQ(add(&f, SLOTS, 30000, NULL, 0), 0);
	page = cache_page(0x5a);
	KT_ASSERT(page);
	f.hold = true;
	KT_EQ(swap_write_page(page), 0);
	KT_ASSERT(page_test(page, PG_writeback) && !page_test(page, PG_locked));
	KT_EQ(global_zone_state(NR_WRITEBACK), wb + 1);
	finish_held(&f);
	page_wait_writeback(page);
	KT_ASSERT(!page_test(page, PG_dirty) && !page_test(page, PG_writeback));
	KT_EQ(global_zone_state(NR_WRITEBACK), wb);
	KT_EQ(vm_event_sum(PSWPOUT) - out, 1);
	/* another page, the same slot */
	back = alloc_page(GFP_KERNEL);
	KT_ASSERT(back);
	memset(page_address(back), 0, PAGE_SIZE);
	back->private = page->private;
	back->flags |= BIT(PG_swapcache) | BIT(PG_swapbacked) | BIT(PG_locked);
	swap_read_page(back);
	KT_ASSERT(page_test(back, PG_locked) && !page_test(back, PG_uptodate));
	finish_held(&f);
	page_lock(back);
	KT_ASSERT(page_test(back, PG_uptodate));
	page_unlock(back);
	KT_EQ(memcmp(page_address(back), page_address(page), PAGE_SIZE), 0);
	KT_EQ(vm_event_sum(PSWPIN) - in, 1);
	back->private = 0;
	back->flags &= ~(BIT(PG_swapcache) | BIT(PG_swapbacked) | BIT(PG_uptodate));
	page_put(back);
	drop_page(page);
	KT_EQ(swap_area_remove(&f), 0);
	vfree(f.data);
}

KTEST(swap_area, errors)
{
	struct fake f = { .data = vzalloc(SLOTS * PAGE_SIZE), .error = -EIO };
	u64 out = vm_event_sum(PSWPOUT), in = vm_event_sum(PSWPIN);
	struct page *page;

	KT_ASSERT(f.data);
	KT_EQ(add(&f, SLOTS, 30000, NULL, 0), 0);
	page = cache_page(1);
	KT_ASSERT(page);
	for (int i = 0; i < 3; i++) { /* one line in the log for all of them */
		page_clear(page, PG_dirty);
		page_set(page, PG_reclaim);
		KT_EQ(swap_write_page(page), 0);
		KT_ASSERT(page_test(page, PG_dirty) && page_test(page, PG_uptodate));
		KT_ASSERT(!page_test(page, PG_writeback) && !page_test(page, PG_reclaim));
		page_lock(page);
	}
	KT_EQ(vm_event_sum(PSWPOUT) - out, 3);
	page_clear(page, PG_dirty);
	f.submit_error = -ENOMEM;
	KT_EQ(swap_write_page(page), -ENOMEM);
	KT_ASSERT(page_test(page, PG_dirty) && !page_test(page, PG_writeback));
	KT_ASSERT(!page_test(page, PG_locked));
	KT_EQ(vm_event_sum(PSWPOUT) - out, 3);
	page_lock(page);
	page_clear(page, PG_dirty);
	page_clear(page, PG_uptodate);
	swap_read_page(page);
	KT_ASSERT(!page_test(page, PG_uptodate) && !page_test(page, PG_locked));
	KT_EQ(vm_event_sum(PSWPIN) - in, 0);
	f.submit_error = 0;
	page_lock(page);
	swap_read_page(page);
	KT_ASSERT(!page_test(page, PG_uptodate) && !page_test(page, PG_locked));
	drop_page(page);
	KT_EQ(swap_area_remove(&f), 0);
	vfree(f.data);
}

/* The end of a thread's work: it waits to be asked to stop. */
static int until_stopped(int result)
{
	while (!kthread_should_stop())
		sleep_ns(100 * NSEC_PER_USEC);
	return result;
}

/* Removal waits for who still looks. */
static int remover(void *arg)
{
	return until_stopped(swap_area_remove(arg));
}

KTEST(swap_area, going_waits)
{
	struct fake f = { 0 };
	struct thread *thread;
	swp_entry_t e;

	KT_EQ(add(&f, 64, 30000, NULL, 0), 0);
	e = swap_slot_get();
	KT_ASSERT(swap_get(e));
	KT_ASSERT(!swap_get(swp_entry(swp_type(e), 64)));
	KT_ASSERT(!swap_get(swp_entry(swp_type(e), 0)));
	swap_slot_uncache(e);
	thread = kthread_run(remover, &f, -1, "remover");
	KT_ASSERT(thread);
	sleep_ns(20 * NSEC_PER_MSEC);
	KT_EQ(f.released, 0);
	KT_EQ(swap_count(e), -1); /* still an area: the slot is free, nothing else */
	swap_put(e);
	KT_EQ(kthread_stop(thread), 0);
	KT_EQ(f.released, 1);
	KT_ASSERT(!swap_get(e));
}

/* Threads that take, copy and give back; each knows the counts of its own slots. */
#define THREADS 4
#define OWN 200
struct user {
	struct thread *thread;
	u64 seed;
	u32 n;
	swp_entry_t e[OWN];
	u32 count[OWN];
	int wrong;
	long taken;
};

static void use_slots(struct user *u, struct rng *r)
{
	for (int i = 0; i < 400; i++) {
		u32 k;

		if (u->n < OWN && rng_below(r, 2)) {
			swp_entry_t e = swap_slot_get();

			if (!e.v)
				continue;
			u->wrong += swap_count(e) != 0;
			u->e[u->n] = e;
			u->count[u->n++] = 0;
			u->taken++;
			continue;
		}
		if (!u->n)
			continue;
		k = rng_below(r, u->n);
		u->wrong += swap_count(u->e[k]) != (int)u->count[k];
		if (rng_below(r, 3)) {
			u->wrong += swap_dup(u->e[k]) != 0;
			u->count[k]++;
			continue;
		}
		if (u->count[k])
			swap_free_nr(u->e[k], u->count[k]);
		u->wrong += swap_count(u->e[k]) != 0;
		swap_slot_uncache(u->e[k]);
		u->n--;
		u->e[k] = u->e[u->n];
		u->count[k] = u->count[u->n];
	}
}

static int slot_user(void *arg)
{
	struct user *u = arg;
	struct rng r;

	rng_seed(&r, u->seed);
	for (int round = 0; round < 40; round++) {
		use_slots(u, &r);
		sleep_ns(50 * NSEC_PER_USEC);
	}
	while (u->n) {
		u->n--;
		if (u->count[u->n])
			swap_free_nr(u->e[u->n], u->count[u->n]);
		swap_slot_uncache(u->e[u->n]);
	}
	return until_stopped(0);
}

KTEST(swap_area, many_users)
{
	struct fake f = { 0 }, g = { 0 };
	struct user *u = kzalloc(sizeof(*u) * THREADS, GFP_KERNEL);
	unsigned long left = nr_swap_pages();
	long taken = 0;
	int wrong = 0;

	KT_ASSERT(u);
	/* so small that it is full now and then */
	KT_EQ(add(&f, 300, 30000, NULL, 0), 0);
	KT_EQ(add(&g, 260, 30000, NULL, 0), 0);
	for (int i = 0; i < THREADS; i++) {
		u[i].seed = i + 1;
		u[i].thread = kthread_run(slot_user, &u[i], -1, "slots%d", i);
		KT_ASSERT(u[i].thread);
	}
	for (int i = 0; i < THREADS; i++) {
		kthread_stop(u[i].thread);
		wrong += u[i].wrong;
		taken += u[i].taken;
	}
	KT_EQ(wrong, 0);
	KT_ASSERT(taken > 1000);
	KT_ASSERT(!swap_check());
	KT_EQ(nr_swap_pages() - left, 299 + 259);
	KT_EQ(swap_area_remove(&f), 0);
	KT_EQ(swap_area_remove(&g), 0);
	KT_EQ(nr_swap_pages(), left);
	kfree(u);
}
