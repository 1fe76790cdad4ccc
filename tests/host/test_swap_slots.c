/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_swap_slots.c - slots of swap areas against a plain table of what each should be: random
 * takers, copiers and givers; bad slots; the last slot; clusters; several areas in turn.
 */
// SOURCES: mm/swap/slots.c
#include "host.h"

#include "lib/errno.h"
#include "mm/swap/internal.h"

struct page *host_mem_map;
unsigned long host_first_pfn;

#define TYPES 3

static void area_make(u32 type, u64 slots, u32 cursors, const u64 *bad, u32 nr_bad, int prio)
{
	struct swap_area *a = &swap_areas[type];
	u64 usable;

	a->nr_clusters = slots_clusters(slots);
	a->nr_cursors = cursors;
	a->slot =
		calloc(slots, sizeof(*a->slot)); /* exact: the sanitizer sees every step outside */
	a->cluster = calloc(a->nr_clusters, sizeof(*a->cluster));
	a->cursor = calloc(cursors, sizeof(*a->cursor));
	usable = slots_init(a, slots, bad, nr_bad);
	CHECK_EQ(usable, a->nr_free);
	a->prio = prio;
	swap_order_insert(type);
	CHECK(!area_check(a));
}

static void area_drop(u32 type)
{
	struct swap_area *a = &swap_areas[type];

	swap_order_remove(type);
	free(a->slot);
	free(a->cluster);
	free(a->cursor);
	a->nr_slots = a->nr_free = 0;
	a->slot = NULL;
}

HOST_TEST(slots_runs_are_consecutive)
{
	area_make(0, 4096, 1, NULL, 0, 0);
	for (u64 i = 1; i < 4096; i++)
		CHECK_EQ(swap_slot_get().v, swp_entry(0, i).v);
	CHECK_EQ(swap_slot_get().v, 0);
	CHECK_EQ(swap_areas[0].nr_free, 0);
	CHECK(!area_check(&swap_areas[0]));
	/* one hole in each of many clusters, then a whole cluster: the whole one is taken first */
	for (u64 i = 0; i < 8; i++)
		swap_slot_uncache(swp_entry(0, i * 256 + 77));
	for (u64 i = 0; i < 256; i++)
		swap_slot_uncache(swp_entry(0, 2560 + (i * 37 & 255)));
	CHECK(!area_check(&swap_areas[0]));
	for (u64 i = 0; i < 256; i++)
		CHECK_EQ(swap_slot_get().v, swp_entry(0, 2560 + i).v);
	for (u64 i = 0; i < 8; i++)
		CHECK_EQ(swp_offset(swap_slot_get()) % 256, 77);
	CHECK_EQ(swap_slot_get().v, 0);
	area_drop(0);
}

HOST_TEST(slots_next_fit)
{
	area_make(0, 1024, 1, NULL, 0, 0);
	for (int i = 0; i < 100; i++)
		swap_slot_get();
	swap_slot_uncache(swp_entry(0, 5)); /* behind: not before the cluster is through */
	CHECK_EQ(swp_offset(swap_slot_get()), 101);
	swap_slot_uncache(swp_entry(0, 5 + 1));
	for (int i = 102; i < 1024; i++)
		CHECK_EQ(swp_offset(swap_slot_get()), i);
	CHECK_EQ(swp_offset(swap_slot_get()), 5);
	CHECK_EQ(swp_offset(swap_slot_get()), 6);
	CHECK_EQ(swap_slot_get().v, 0);
	area_drop(0);
}

HOST_TEST(slots_cpus_have_their_own)
{
	struct swap_area *a = &swap_areas[0];
	u64 at[4], n = 0, slot;

	area_make(0, 2048, 4, NULL, 0, 0);
	for (u32 cpu = 0; cpu < 4; cpu++)
		at[cpu] = area_slot_get(a, cpu);
	for (int i = 1; i < 200; i++)
		for (u32 cpu = 0; cpu < 4; cpu++)
			CHECK_EQ(area_slot_get(a, cpu), at[cpu] + i);
	CHECK_EQ(area_slot_get(a, 17), at[0] + 200); /* a CPU nobody counted on */
	/* one CPU gets all that is left, out of the others' clusters at last */
	while ((slot = area_slot_get(a, 2)))
		n++;
	CHECK_EQ(n, 2047 - 4 * 200 - 1);
	CHECK(!area_check(a));
	area_drop(0);
}

HOST_TEST(slots_bad_ones)
{
	u64 bad[300], n = 0, all = 0;

	for (u64 i = 0; i < 256; i++)
		bad[n++] = 512 + i; /* a cluster of nothing else */
	bad[n++] = 1;
	bad[n++] = 1;	 /* twice */
	bad[n++] = 0;	 /* the header */
	bad[n++] = 5000; /* outside */
	bad[n++] = 1000; /* the last but two */
	area_make(0, 1003, 1, bad, n, 0);
	CHECK_EQ(swap_areas[0].nr_usable, 1002 - 256 - 2);
	for (swp_entry_t e; (e = swap_slot_get()).v; all++) {
		u64 slot = swp_offset(e);

		CHECK(slot > 1 && slot < 1003 && slot != 1000 && (slot < 512 || slot >= 768));
	}
	CHECK_EQ(all, swap_areas[0].nr_usable);
	CHECK_EQ(swap_dup(swp_entry(0, 1000)), -ENOENT);
	CHECK_EQ(swap_count(swp_entry(0, 0)), -1);
	CHECK_EQ(swap_slot_cache(swp_entry(0, 600)), -ENOENT);
	for (u64 slot = 0; slot < 1010; slot++)
		if (swap_count(swp_entry(0, slot)) == 0)
			swap_slot_uncache(swp_entry(0, slot));
	CHECK(!area_check(&swap_areas[0]));
	CHECK_EQ(swap_areas[0].nr_free, swap_areas[0].nr_usable);
	area_drop(0);
}

HOST_TEST(slots_of_nothing)
{
	u64 bad[] = { 1, 2 };
	struct swap_area *a = &swap_areas[0];

	area_make(0, 3, 1, bad, 2, 0);
	CHECK_EQ(a->nr_usable, 0);
	CHECK_EQ(swap_slot_get().v, 0);
	area_drop(0);
	area_make(0, 2, 1, NULL, 0, 0); /* one slot */
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(swap_slot_get().v, 1);
		CHECK_EQ(swap_slot_get().v, 0);
		swap_slot_uncache(swp_entry(0, 1));
	}
	area_drop(0);
	/* entries of areas that are not there, and beyond */
	swap_free(swp_entry(0, 1));
	swap_free(swp_entry(31, 1));
	swap_slot_uncache(swp_entry(40, 7));
	CHECK_EQ(swap_dup(swp_entry(5, 1)), -ENOENT);
	CHECK_EQ(swap_count(swp_entry(7, 1ull << 39)), -1);
}

HOST_TEST(slots_counts)
{
	swp_entry_t e;

	area_make(0, 300, 1, NULL, 0, 0);
	e = swap_slot_get();
	CHECK_EQ(swap_count(e), 0);
	CHECK_EQ(swap_slot_cache(e), -EEXIST);
	CHECK_EQ(swap_dup(e), 0);
	CHECK_EQ(swap_dup(e), 0);
	CHECK_EQ(swap_dup(e), 0);
	swap_slot_uncache(e);
	CHECK_EQ(swap_count(e), 3);
	CHECK_EQ(swap_slot_cache(e), 0);
	swap_free_nr(e, 2);
	swap_free_nr(e, 2); /* one too many: refused, nothing changes */
	CHECK_EQ(swap_count(e), 1);
	swap_free(e);
	CHECK_EQ(swap_count(e), 0);
	swap_slot_uncache(e);
	CHECK_EQ(swap_count(e), -1);
	CHECK_EQ(swap_slot_cache(e), -ENOENT);
	swap_areas[0].slot[9] = SLOT_COUNT;
	CHECK_EQ(swap_dup(swp_entry(0, 9)), -ENOMEM);
	swap_areas[0].slot[9] = 0;
	CHECK(!area_check(&swap_areas[0]));
	area_drop(0);
}

HOST_TEST(slots_areas_in_turn)
{
	u64 got[TYPES] = { 0 };
	swp_entry_t e;

	area_make(0, 1000, 1, NULL, 0, -2);
	area_make(1, 1000, 1, NULL, 0, 5);
	area_make(2, 500, 1, NULL, 0, 5);
	CHECK_EQ(swap_order.type[0], 1);
	CHECK_EQ(swap_order.type[1], 2);
	CHECK_EQ(swap_order.type[2], 0);
	for (int i = 0; i < 640; i++) {
		e = swap_slot_get();
		got[swp_type(e)]++;
	}
	CHECK_EQ(got[0], 0);
	CHECK_EQ(got[1], 320);
	CHECK_EQ(got[2], 320);
	for (int i = 640; i < 999 + 499; i++) /* the smaller is full first */
		CHECK(swp_type(swap_slot_get()) != 0);
	CHECK_EQ(swap_areas[1].nr_free + swap_areas[2].nr_free, 0);
	CHECK_EQ(swp_type(swap_slot_get()), 0);
	swap_slot_uncache(swp_entry(1, 700));
	CHECK_EQ(swap_slot_get().v, swp_entry(1, 700).v);
	/* no slot of one that is about to go */
	swap_areas[2].closing = true;
	swap_slot_uncache(swp_entry(2, 3));
	CHECK_EQ(swp_type(swap_slot_get()), 0);
	for (int i = 0; i < TYPES; i++)
		area_drop(i);
	CHECK_EQ(swap_order.n, 0);
}

/* What each slot should be. */
struct model {
	u32 count;
	bool cached, bad;
};

static void random_step(struct model *m, u64 slots, u64 *used)
{
	u64 slot = host_random() % slots;
	swp_entry_t e = swp_entry(1, slot);
	struct model *s = &m[slot];
	bool in_use = s->count || s->cached;

	switch (host_random() % 6) {
	case 0:
	case 1:
		e = swap_slot_get();
		if (!e.v) {
			CHECK_EQ(*used, swap_areas[1].nr_usable);
			return;
		}
		s = &m[swp_offset(e)];
		CHECK(!s->bad && !s->count && !s->cached);
		s->cached = true;
		++*used;
		return;
	case 2:
		CHECK_EQ(swap_dup(e), in_use ? 0 : -ENOENT);
		s->count += in_use;
		return;
	case 3:
		CHECK_EQ(swap_slot_cache(e), s->cached ? -EEXIST : in_use ? 0 : -ENOENT);
		s->cached |= in_use;
		return;
	case 4:
		if (s->cached) {
			swap_slot_uncache(e);
			s->cached = false;
		}
		break;
	default:
		if (s->count) {
			u32 n = 1 + host_random() % s->count;

			swap_free_nr(e, n);
			s->count -= n;
		}
		break;
	}
	*used -= in_use && !s->count && !s->cached;
	CHECK_EQ(swap_count(e), s->count || s->cached ? (long)s->count : -1);
}

HOST_TEST(slots_random)
{
	for (int round = 0; round < 60; round++) {
		u64 slots = 2 + host_random() % (round % 3 ? 600 : 5000), used = 0, bad[40];
		struct model *m = calloc(slots, sizeof(*m));
		u32 nr_bad = host_random() % 41;

		for (u32 i = 0; i < nr_bad; i++) {
			bad[i] = host_random() % slots;
			m[bad[i]].bad = true;
		}
		m[0].bad = true;
		area_make(1, slots, 1 + host_random() % 3, bad, nr_bad, 0);
		for (int step = 0; step < 20000; step++) {
			random_step(m, slots, &used);
			if (step % 512 == 0)
				CHECK(!area_check(&swap_areas[1]));
			CHECK_EQ(swap_areas[1].nr_usable - swap_areas[1].nr_free, used);
		}
		CHECK(!area_check(&swap_areas[1]));
		area_drop(1);
		free(m);
	}
}
