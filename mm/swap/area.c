// SPDX-License-Identifier: BSD-2-Clause
/*
 * area.c - swap areas come and go: files and devices that hold pages of programs.
 *
 * Problem: an area may be taken away while its slots are named in page tables, cached, and being
 * read. Idea: areas live in a fixed table and never move; an area passes through these states:
 *
 *   NONE -> BUSY (arrays are made) -> OPEN (gives slots out) -> CLOSING -> BUSY -> NONE
 *                                        ^---- swap_unuse failed ---'
 *
 * CLOSING: no slot is given out, everything comes back to memory (swap_unuse). Then no entry names
 * the area; who still looks at a slot of it (swap_get) is waited for; then nr_slots becomes 0 under
 * area->lock, so that an entry left over by mistake means nothing, and the arrays are freed.
 *
 * Priorities as in Linux: given ones are 0 to 32767; areas without one get -2, -3, ... in order of
 * their coming, and close up when one of them goes.
 *
 * Locking: swap_lock (spinlock) for states, priorities, the order. area->lock is not taken
 * inside it.
 */
#include "arch/percpu.h"
#include "kernel/cpumask.h"
#include "kernel/printk.h"
#include "kernel/show.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/debug/check.h"
#include "mm/debug/vmstat.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/swap/internal.h"
#include "sched/sched.h"
#include "sched/wait.h"

static DEFINE_SPINLOCK(swap_lock, RANK_WB);
static int least_prio = -1; /* (swap_lock) of those without a given one */
static DEFINE_WAIT_QUEUE(users_wait);

/* ---- how much there is ---- */
unsigned long nr_swap_pages(void)
{
	u32 n = min(READ_ONCE(swap_order.n), MAX_SWAP_AREAS);
	unsigned long sum = 0;

	for (u32 i = 0; i < n; i++)
		sum += READ_ONCE(swap_areas[swap_order.type[i]].nr_free);
	return sum;
}

unsigned long total_swap_pages(void)
{
	u32 n = min(READ_ONCE(swap_order.n), MAX_SWAP_AREAS);
	unsigned long sum = 0;

	for (u32 i = 0; i < n; i++)
		sum += READ_ONCE(swap_areas[swap_order.type[i]].nr_usable);
	return sum;
}

bool swap_half_full(void)
{
	return nr_swap_pages() * 2 < total_swap_pages();
}

static void swap_pages(unsigned long *total, unsigned long *free)
{
	*total = total_swap_pages();
	*free = min(nr_swap_pages(), *total);
}

/* With the first area. */
static void announce(void)
{
	static struct checker checker = { .name = "swap", .check = swap_check };
	static u32 once;

	if (xchg(&once, 1))
		return;
	swap_pages_hook = swap_pages;
	checker_register(&checker);
}

/* ---- looking at an area ---- */
struct bdi *swap_bdi(swp_entry_t e)
{
	return READ_ONCE(swap_areas[swp_type(e) % MAX_SWAP_AREAS].bdi);
}

bool swap_get(swp_entry_t e)
{
	struct swap_area *a = &swap_areas[swp_type(e) % MAX_SWAP_AREAS];

	if (unlikely(!atomic_inc_not_zero(&a->users)))
		return false;
	if (likely(swp_offset(e) && swp_offset(e) < READ_ONCE(a->nr_slots)))
		return true;
	swap_put(e);
	return false;
}

void swap_put(swp_entry_t e)
{
	if (unlikely(atomic_dec_and_test(&swap_areas[swp_type(e) % MAX_SWAP_AREAS].users)))
		wake_up_all(&users_wait);
}

/* ---- coming ---- */
static void free_arrays(struct swap_area *a)
{
	kvfree(a->slot);
	kvfree(a->cluster);
	kfree(a->cursor);
	kfree(a->path);
	a->slot = NULL;
	a->cluster = NULL;
	a->cursor = NULL;
	a->path = NULL;
}

/* A place in the table, BUSY; NULL: all are in use. */
static struct swap_area *area_reserve(void)
{
	struct swap_area *found = NULL;

	spin_lock(&swap_lock);
	for (u32 i = 0; i < MAX_SWAP_AREAS && !found; i++)
		if (swap_areas[i].state == AREA_NONE)
			found = &swap_areas[i];
	if (found)
		found->state = AREA_BUSY;
	spin_unlock(&swap_lock);
	return found;
}

static void area_unreserve(struct swap_area *a)
{
	free_arrays(a);
	spin_lock(&swap_lock);
	a->state = AREA_NONE;
	spin_unlock(&swap_lock);
}

static int make_arrays(struct swap_area *a, const struct swap_new *n)
{
	if (n->slots > (u64)NO_CLUSTER * CLUSTER_SLOTS || n->slots >> SWAP_OFFSET_BITS)
		return -EINVAL;
	a->nr_clusters = slots_clusters(n->slots);
	a->nr_cursors = n->seeks ? 1 : nr_cpus;
	a->slot = kvmalloc(n->slots * sizeof(*a->slot), GFP_KERNEL | __GFP_ZERO);
	a->cluster = kvmalloc(a->nr_clusters * sizeof(*a->cluster), GFP_KERNEL | __GFP_ZERO);
	a->cursor = kmalloc(a->nr_cursors * sizeof(*a->cursor), GFP_KERNEL);
	a->path = kstrdup(n->path, GFP_KERNEL);
	return a->slot && a->cluster && a->cursor && a->path ? 0 : -ENOMEM;
}

int swap_area_add(const struct swap_new *n)
{
	struct swap_area *a = area_reserve();
	u64 usable;
	int err, prio;

	if (!a)
		return -EPERM;
	err = make_arrays(a, n);
	if (err) {
		area_unreserve(a);
		return err;
	}
	a->ops = n->ops;
	a->owner = n->owner;
	a->bdi = n->bdi;
	a->is_file = n->is_file;
	a->told_write = a->told_read = false;
	usable = slots_init(a, n->slots, n->bad, n->nr_bad);
	if (!usable) {
		spin_lock(&a->lock);
		a->nr_slots = 0;
		spin_unlock(&a->lock);
		area_unreserve(a);
		return -EINVAL;
	}
	announce();
	spin_lock(&swap_lock);
	a->prio = n->prefer ? n->prio : --least_prio;
	a->state = AREA_OPEN;
	atomic_set(&a->users, 1);
	swap_order_insert(a - swap_areas);
	prio = a->prio;
	spin_unlock(&swap_lock);
	pr_info("swap: %s: %llu KiB, priority %d", n->path,
		(unsigned long long)usable << (PAGE_SHIFT - 10), prio);
	return 0;
}

/* ---- going ---- */
static struct swap_area *area_close(void *owner)
{
	struct swap_area *found = NULL;

	spin_lock(&swap_lock);
	for (u32 i = 0; i < MAX_SWAP_AREAS && !found; i++)
		if (swap_areas[i].state == AREA_OPEN && swap_areas[i].owner == owner)
			found = &swap_areas[i];
	if (found) {
		found->state = AREA_CLOSING;
		swap_order_remove(found - swap_areas);
	}
	spin_unlock(&swap_lock);
	return found;
}

static void area_reopen(struct swap_area *a)
{
	spin_lock(&a->lock);
	a->closing = false;
	spin_unlock(&a->lock);
	spin_lock(&swap_lock);
	a->state = AREA_OPEN;
	swap_order_insert(a - swap_areas);
	spin_unlock(&swap_lock);
}

/* The others without a given priority close up. */
static void area_forget_prio(struct swap_area *a)
{
	spin_lock(&swap_lock);
	a->state = AREA_BUSY;
	if (a->prio < 0) {
		for (u32 i = 0; i < MAX_SWAP_AREAS; i++) {
			struct swap_area *o = &swap_areas[i];

			if ((o->state == AREA_OPEN || o->state == AREA_CLOSING) &&
			    o->prio < a->prio)
				WRITE_ONCE(o->prio, o->prio + 1);
		}
		least_prio++;
	}
	spin_unlock(&swap_lock);
}

static int empty_area(struct swap_area *a)
{
	u64 left;
	int err;

	spin_lock(&a->lock);
	a->closing = true;
	spin_unlock(&a->lock);
	err = swap_unuse(a - swap_areas);
	if (err)
		return err;
	left = a->nr_usable - READ_ONCE(a->nr_free);
	if (!left)
		return 0;
	pr_err("swap: %s: %llu slots are in use and nobody has them; the area stays", a->path,
	       (unsigned long long)left);
	return -EBUSY;
}

int swap_area_remove(void *owner)
{
	struct swap_area *a = area_close(owner);
	int err;

	if (!a)
		return -EINVAL;
	err = empty_area(a);
	if (err) {
		area_reopen(a);
		return err;
	}
	if (!atomic_dec_and_test(&a->users))
		wait_event(&users_wait, !atomic_read(&a->users));
	area_forget_prio(a);
	spin_lock(&a->lock);
	a->nr_slots = 0;
	a->nr_free = 0;
	spin_unlock(&a->lock);
	WRITE_ONCE(a->bdi, NULL);
	if (a->ops->release)
		a->ops->release(a->owner);
	area_unreserve(a);
	return 0;
}

/* ---- /proc/swaps, as Linux writes it ---- */

/* White space and the backslash as \ooo. Length as printed. */
static u32 put_path(struct seq *seq, const char *path)
{
	u32 n = 0;

	for (; *path; path++) {
		if (strchr(" \t\n\\", *path)) {
			seq_printf(seq, "\\%03o", *path);
			n += 4;
		} else {
			seq_putc(seq, *path);
			n++;
		}
	}
	return n;
}

static void show_area(struct seq *seq, const struct swap_area *a)
{
	unsigned long kib = a->nr_usable << (PAGE_SHIFT - 10);
	unsigned long used = (a->nr_usable - READ_ONCE(a->nr_free)) << (PAGE_SHIFT - 10);
	u32 n = put_path(seq, a->path);

	do
		seq_putc(seq, ' ');
	while (++n < 40);
	seq_printf(seq, "%s\t%lu\t%s%lu\t%s%d\n", a->is_file ? "file\t" : "partition", kib,
		   kib < 10000000 ? "\t" : "", used, used < 10000000 ? "\t" : "", a->prio);
}

static int swaps_show(struct seq *seq)
{
	seq_puts(seq, "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
	spin_lock(&swap_lock);
	for (u32 i = 0; i < MAX_SWAP_AREAS; i++)
		if (swap_areas[i].state == AREA_OPEN || swap_areas[i].state == AREA_CLOSING)
			show_area(seq, &swap_areas[i]);
	spin_unlock(&swap_lock);
	return 0;
}
SHOW("/proc/swaps", 0444, swaps_show, NULL);
