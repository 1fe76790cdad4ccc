// SPDX-License-Identifier: BSD-2-Clause
/*
 * slots.c - the slots of a swap area: who names them, and which one the next page gets.
 *
 * Problem: pages that leave memory together come back together, and a disk likes both done in long
 * runs; but slots become free one by one, and the search for a free one must not grow with the
 * area. Idea: 256 slots are a cluster with a bitmap of the free ones. Each CPU (where seeks cost:
 * the area) works through a cluster of its own, from one end to the other, and then takes a wholly
 * free one; when there is none any more, one with holes; at last whatever other CPUs have left in
 * theirs.
 *
 *   slot word   0 free | count, cache bit: used | bad bit: never free
 *   cluster     FREE -> OWNED (by a cursor) -> FULL or PARTIAL -> ... -> FREE
 *               \ list \                              \ list
 *
 * Free clusters are queued, so a disk is written in rising order and a slot is left alone as long
 * as possible. Areas of one priority take turns of 32 slots: pages of one batch of reclaim stay
 * side by side, and both disks work.
 *
 * Invariants: a bit of cluster->free is set exactly when the slot's word is 0; nr_free counts them;
 * a cluster is on the list its count says unless a cursor owns it. area_check() proves it.
 * Cost: every operation looks at most at four words of a bitmap, two lists and, when the area is
 * nearly full, the cursors of the other CPUs.
 * Locking: area->lock, IRQs on, takes nothing inside: nobody takes it in an interrupt, nor holding
 * a lock that interrupts take; its rank is below theirs. Entries that mean nothing (a damaged page
 * table) are found out under it, since nr_slots of an area that is not there is 0.
 * Source: clusters as known from Linux; own code.
 */
#include "kernel/printk.h"
#include "lib/errno.h"
#include "lib/math.h"
#include "mm/swap/internal.h"

struct swap_area swap_areas[MAX_SWAP_AREAS] = {
	[0 ... MAX_SWAP_AREAS - 1] = { .lock = SPINLOCK_INIT(RANK_WB, "swap_area") },
};
struct swap_order swap_order;
static u32 swap_turn; /* which of equal areas is next; a lost step does no harm */

/* ---- lists of clusters. => area->lock ---- */
static void list_push(struct swap_area *a, u32 i, enum cluster_place place)
{
	struct swap_list *l = &a->lists[place];
	struct swap_cluster *c = &a->cluster[i];

	c->place = place;
	c->next = NO_CLUSTER;
	c->prev = l->last;
	if (l->last == NO_CLUSTER)
		l->first = i;
	else
		a->cluster[l->last].next = i;
	l->last = i;
}

static void list_take(struct swap_area *a, u32 i)
{
	struct swap_cluster *c = &a->cluster[i];
	struct swap_list *l = &a->lists[c->place];

	if (c->prev == NO_CLUSTER)
		l->first = c->next;
	else
		a->cluster[c->prev].next = c->next;
	if (c->next == NO_CLUSTER)
		l->last = c->prev;
	else
		a->cluster[c->next].prev = c->prev;
}

/* On no list so far: where its count says. */
static void cluster_put(struct swap_area *a, u32 i)
{
	struct swap_cluster *c = &a->cluster[i];

	if (!c->nr_free)
		c->place = CLUSTER_FULL;
	else
		list_push(a, i, c->nr_free == c->usable ? CLUSTER_FREE : CLUSTER_PARTIAL);
}

/* ---- giving out ---- */

/* The first free slot of a cluster from `at` on; CLUSTER_SLOTS: none. */
static u32 next_free(const struct swap_cluster *c, u32 at)
{
	u64 mask = ~0ull << (at % 64);

	for (u32 w = at / 64; w < CLUSTER_WORDS; w++, mask = ~0ull)
		if (c->free[w] & mask)
			return w * 64 + __builtin_ctzll(c->free[w] & mask);
	return CLUSTER_SLOTS;
}

static u64 take_slot(struct swap_area *a, u32 cluster, u32 bit)
{
	struct swap_cluster *c = &a->cluster[cluster];
	u64 slot = (u64)cluster * CLUSTER_SLOTS + bit;

	c->free[bit / 64] &= ~(1ull << (bit % 64));
	c->nr_free--;
	WRITE_ONCE(a->nr_free, a->nr_free - 1);
	a->slot[slot] = SLOT_CACHE;
	if (!--a->turn_left) {
		a->turn_left = SWAP_TURN;
		WRITE_ONCE(swap_turn, READ_ONCE(swap_turn) + 1);
	}
	return slot;
}

/* The cursor is through with its cluster: another one, with a free slot. false: there is none. */
static bool cursor_move(struct swap_area *a, struct swap_cursor *cur)
{
	u32 next;

	if (cur->cluster != NO_CLUSTER)
		cluster_put(a, cur->cluster);
	next = a->lists[CLUSTER_FREE].first;
	if (next == NO_CLUSTER)
		next = a->lists[CLUSTER_PARTIAL].first;
	cur->cluster = next;
	cur->at = 0;
	if (next == NO_CLUSTER)
		return false;
	list_take(a, next);
	a->cluster[next].place = CLUSTER_OWNED;
	return true;
}

/* A slot in a cluster that another cursor owns. 0: none */
static u64 take_from_others(struct swap_area *a)
{
	for (u32 i = 0; i < a->nr_cursors; i++) {
		u32 cluster = a->cursor[i].cluster;

		if (cluster != NO_CLUSTER && a->cluster[cluster].nr_free)
			return take_slot(a, cluster, next_free(&a->cluster[cluster], 0));
	}
	return 0;
}

static u64 slot_get_locked(struct swap_area *a, struct swap_cursor *cur)
{
	u32 bit = CLUSTER_SLOTS;

	if (likely(cur->cluster != NO_CLUSTER && cur->at < CLUSTER_SLOTS))
		bit = next_free(&a->cluster[cur->cluster], cur->at);
	if (unlikely(bit == CLUSTER_SLOTS)) {
		if (!cursor_move(a, cur))
			return take_from_others(a);
		bit = next_free(&a->cluster[cur->cluster], 0);
	}
	cur->at = bit + 1;
	return take_slot(a, cur->cluster, bit);
}

u64 area_slot_get(struct swap_area *a, u32 cpu)
{
	u64 slot = 0;

	if (!READ_ONCE(a->nr_free))
		return 0;
	spin_lock(&a->lock);
	if (a->nr_free && !a->closing)
		slot = slot_get_locked(a, &a->cursor[cpu < a->nr_cursors ? cpu : 0]);
	spin_unlock(&a->lock);
	return slot;
}

/* One look at all areas. */
static swp_entry_t slot_get_once(u32 cpu)
{
	u32 n = min(READ_ONCE(swap_order.n), MAX_SWAP_AREAS), end;

	for (u32 i = 0; i < n; i = end) {
		int prio = READ_ONCE(swap_areas[swap_order.type[i]].prio);
		u32 first = 0;

		for (end = i + 1; end < n; end++)
			if (READ_ONCE(swap_areas[swap_order.type[end]].prio) != prio)
				break;
		if (end - i > 1)
			first = READ_ONCE(swap_turn) % (end - i);
		for (u32 k = 0; k < end - i; k++) {
			u32 type = swap_order.type[i + (first + k) % (end - i)];
			u64 slot = area_slot_get(&swap_areas[type], cpu);

			if (slot)
				return swp_entry(type, slot);
		}
	}
	return (swp_entry_t){ 0 };
}

swp_entry_t swap_slot_get(void)
{
	swp_entry_t e;
	u32 version;

	do {
		version = smp_load_acquire(&swap_order.version);
		e = slot_get_once(smp_processor_id());
		smp_rmb();
	} while (unlikely(!e.v && version != READ_ONCE(swap_order.version)));
	return e;
}

/* ---- names ---- */

/* The word of a slot that can be used. => area->lock */
static inline u32 *slot_locked(struct swap_area *a, u64 offset)
{
	if (unlikely(offset >= a->nr_slots || (a->slot[offset] & SLOT_BAD)))
		return NULL;
	return &a->slot[offset];
}

static inline struct swap_area *area_lock(swp_entry_t e)
{
	struct swap_area *a = &swap_areas[swp_type(e) % MAX_SWAP_AREAS];

	spin_lock(&a->lock);
	return a;
}

/* Nothing names it and nobody caches it: back into its cluster. => area->lock */
static void slot_release(struct swap_area *a, u64 slot)
{
	u32 i = slot / CLUSTER_SLOTS, bit = slot % CLUSTER_SLOTS;
	struct swap_cluster *c = &a->cluster[i];

	c->free[bit / 64] |= 1ull << (bit % 64);
	c->nr_free++;
	WRITE_ONCE(a->nr_free, a->nr_free + 1);
	if (c->place == CLUSTER_OWNED)
		return;
	if (c->place == CLUSTER_FULL) {
		cluster_put(a, i);
	} else if (c->nr_free == c->usable) {
		list_take(a, i);
		cluster_put(a, i);
	}
}

static noinline void complain(swp_entry_t e, const char *what)
{
	static atomic_t told;

	if (atomic_add_return(1, &told) <= 10)
		pr_err("swap: entry %#lx (area %u, slot %llu): %s", e.v, swp_type(e),
		       (unsigned long long)swp_offset(e), what);
}

int swap_dup(swp_entry_t e)
{
	struct swap_area *a = area_lock(e);
	u32 *s = slot_locked(a, swp_offset(e));
	int err = 0;

	if (unlikely(!s || !*s))
		err = -ENOENT;
	else if (unlikely((*s & SLOT_COUNT) == SLOT_COUNT))
		err = -ENOMEM;
	else
		++*s;
	spin_unlock(&a->lock);
	if (unlikely(err == -ENOENT))
		complain(e, "copied, but no slot in use");
	return err;
}

void swap_free_nr(swp_entry_t e, unsigned int n)
{
	struct swap_area *a = area_lock(e);
	u32 *s = slot_locked(a, swp_offset(e));
	bool bad = !s || (*s & SLOT_COUNT) < n;

	if (likely(!bad)) {
		*s -= n;
		if (!*s)
			slot_release(a, swp_offset(e));
	}
	spin_unlock(&a->lock);
	if (unlikely(bad))
		complain(e, "given back more often than it was taken");
}

int swap_count(swp_entry_t e)
{
	struct swap_area *a = area_lock(e);
	u32 *s = slot_locked(a, swp_offset(e));
	int n = s && *s ? (int)(*s & SLOT_COUNT) : -1;

	spin_unlock(&a->lock);
	return n;
}

int swap_slot_cache(swp_entry_t e)
{
	struct swap_area *a = area_lock(e);
	u32 *s = slot_locked(a, swp_offset(e));
	int err = 0;

	if (!s || !*s)
		err = -ENOENT;
	else if (*s & SLOT_CACHE)
		err = -EEXIST;
	else
		*s |= SLOT_CACHE;
	spin_unlock(&a->lock);
	return err;
}

void swap_slot_uncache(swp_entry_t e)
{
	struct swap_area *a = area_lock(e);
	u32 *s = slot_locked(a, swp_offset(e));
	bool bad = !s || !(*s & SLOT_CACHE);

	if (likely(!bad)) {
		*s &= ~SLOT_CACHE;
		if (!*s)
			slot_release(a, swp_offset(e));
	}
	spin_unlock(&a->lock);
	if (unlikely(bad))
		complain(e, "taken out of the cache, but not in it");
}

/* ---- areas in order ---- */
static void order_change(void)
{
	smp_store_release(&swap_order.version, swap_order.version + 1);
}

void swap_order_insert(unsigned int type)
{
	u32 i = swap_order.n;

	order_change();
	while (i && swap_areas[swap_order.type[i - 1]].prio < swap_areas[type].prio) {
		swap_order.type[i] = swap_order.type[i - 1];
		i--;
	}
	swap_order.type[i] = type;
	WRITE_ONCE(swap_order.n, swap_order.n + 1);
	order_change();
}

void swap_order_remove(unsigned int type)
{
	u32 i = 0;

	order_change();
	while (i < swap_order.n && swap_order.type[i] != type)
		i++;
	if (i < swap_order.n) {
		WRITE_ONCE(swap_order.n, swap_order.n - 1);
		for (; i < swap_order.n; i++)
			swap_order.type[i] = swap_order.type[i + 1];
	}
	order_change();
}

/* ---- beginning, and the validator ---- */
u64 slots_init(struct swap_area *a, u64 nr_slots, const u64 *bad, u32 nr_bad)
{
	u64 usable = 0;

	for (u32 i = 0; i < a->nr_cursors; i++)
		a->cursor[i] = (struct swap_cursor){ .cluster = NO_CLUSTER };
	for (u32 i = 0; i < ARRAY_SIZE(a->lists); i++)
		a->lists[i] = (struct swap_list){ NO_CLUSTER, NO_CLUSTER };
	a->slot[0] = SLOT_BAD;
	for (u32 i = 0; i < nr_bad; i++)
		if (bad[i] < nr_slots)
			a->slot[bad[i]] = SLOT_BAD;
	for (u64 slot = 0; slot < nr_slots; slot++) {
		struct swap_cluster *c = &a->cluster[slot / CLUSTER_SLOTS];

		if (a->slot[slot])
			continue;
		c->free[slot % CLUSTER_SLOTS / 64] |= 1ull << (slot % 64);
		c->usable++;
		usable++;
	}
	for (u32 i = 0; i < a->nr_clusters; i++) {
		a->cluster[i].nr_free = a->cluster[i].usable;
		cluster_put(a, i);
	}
	a->turn_left = SWAP_TURN;
	a->closing = false;
	a->nr_usable = usable;
	a->nr_free = usable;
	spin_lock(&a->lock); /* from here on the entries mean something */
	a->nr_slots = nr_slots;
	spin_unlock(&a->lock);
	return usable;
}

/* => area->lock */
static const char *check_cluster(const struct swap_area *a, u32 i)
{
	const struct swap_cluster *c = &a->cluster[i];
	u64 first = (u64)i * CLUSTER_SLOTS;
	u32 nr_free = 0, usable = 0;

	for (u32 bit = 0; bit < CLUSTER_SLOTS; bit++) {
		bool in_range = first + bit < a->nr_slots;
		bool free = c->free[bit / 64] >> (bit % 64) & 1;

		if (free != (in_range && !a->slot[first + bit]))
			return "swap: a slot's word and its bit disagree";
		nr_free += free;
		usable += in_range && !(a->slot[first + bit] & SLOT_BAD);
	}
	if (nr_free != c->nr_free || usable != c->usable)
		return "swap: a cluster counts its slots wrongly";
	switch ((enum cluster_place)c->place) {
	case CLUSTER_OWNED:
		return NULL;
	case CLUSTER_FULL:
		return nr_free ? "swap: a cluster called full has a free slot" : NULL;
	default:
		break;
	}
	if (!nr_free || (nr_free == usable) != (c->place == CLUSTER_FREE))
		return "swap: a cluster is on the wrong list";
	if (c->next == NO_CLUSTER ? a->lists[c->place].last != i : a->cluster[c->next].prev != i)
		return "swap: a list of clusters is broken forwards";
	if (c->prev == NO_CLUSTER ? a->lists[c->place].first != i : a->cluster[c->prev].next != i)
		return "swap: a list of clusters is broken backwards";
	return NULL;
}

const char *area_check(struct swap_area *a)
{
	u64 nr_free = 0, usable = 0;
	const char *what = NULL;

	for (u32 i = 0; i < a->nr_clusters && !what; i++) {
		what = check_cluster(a, i);
		nr_free += a->cluster[i].nr_free;
		usable += a->cluster[i].usable;
	}
	for (u32 i = 0; i < a->nr_cursors && !what; i++)
		if (a->cursor[i].cluster != NO_CLUSTER &&
		    a->cluster[a->cursor[i].cluster].place != CLUSTER_OWNED)
			what = "swap: a cursor's cluster is not its own";
	if (!what && (nr_free != a->nr_free || usable != a->nr_usable))
		what = "swap: an area counts its slots wrongly";
	return what;
}

const char *swap_check(void)
{
	const char *what = NULL;

	for (u32 type = 0; type < MAX_SWAP_AREAS; type++) {
		struct swap_area *a = &swap_areas[type];

		for (u32 i = 0; !what; i++) {
			spin_lock(&a->lock);
			if ((u64)i * CLUSTER_SLOTS >= a->nr_slots) {
				spin_unlock(&a->lock);
				break;
			}
			what = check_cluster(a, i);
			spin_unlock(&a->lock);
		}
	}
	return what;
}
