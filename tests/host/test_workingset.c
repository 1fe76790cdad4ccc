/* SPDX-License-Identifier: BSD-2-Clause */
// SOURCES: mm/cache/xarray.c
/*
 * test_workingset.c - traces of pages that left: their encoding, the distance, the bound, and the
 * index's count of nodes with nothing but traces, against a plain array.
 */
#include "host.h"
#include "kernel/rcu.h"
#include "mm/cache/xarray.h"
#include "mm/kmem/slab.h"
#include "mm/reclaim/workingset.h"

static size_t object_size;

struct slab_cache *slab_create(const char *name, size_t size, size_t align, unsigned int flags,
			       void (*ctor)(void *))
{
	object_size = size;
	return (struct slab_cache *)&object_size;
}
void *slab_alloc(struct slab_cache *c, gfp_t gfp)
{
	return calloc(1, object_size);
}
void slab_free(struct slab_cache *c, void *obj)
{
	free(obj);
}
void rcu_call(struct rcu_head *head, void (*fn)(struct rcu_head *head))
{
	fn(head);
}

HOST_TEST(workingset_distance)
{
	unsigned long t = ws_pack(1000, 37);

	CHECK_EQ(ws_zid(t), 37);
	CHECK_EQ(ws_distance(t, 1000), 0);
	CHECK_EQ(ws_distance(t, 1400), 400);
	CHECK_EQ(ws_zid(ws_pack(~0ul, 63)), 63);
	CHECK_EQ(ws_distance(ws_pack(WS_AGE_MASK, 5), WS_AGE_MASK + 8), 8); /* it wrapped */
	/* a value keeps all of it */
	CHECK_EQ(xa_to_value(xa_mk_value(ws_pack(WS_AGE_MASK, 63))), ws_pack(WS_AGE_MASK, 63));
	CHECK(xa_is_value(xa_mk_value(t)));
}

HOST_TEST(workingset_bound)
{
	CHECK_EQ(ws_nodes_too_many(10, 80), 0);
	CHECK_EQ(ws_nodes_too_many(11, 80), 1);
	CHECK_EQ(ws_nodes_too_many(5, 0), 5);
}

#define SPAN 1024u
enum { NONE, PAGE_THERE, TRACE };
static u8 model[SPAN];

static u32 model_nodes(void)
{
	u32 n = 0;

	for (u32 node = 0; node < SPAN / 64; node++) {
		u32 pages = 0, traces = 0;

		for (u32 i = 0; i < 64; i++) {
			pages += model[node * 64 + i] == PAGE_THERE;
			traces += model[node * 64 + i] == TRACE;
		}
		n += traces && !pages;
	}
	return n;
}

HOST_TEST(workingset_nodes_of_traces_are_counted)
{
	static u64 pages[SPAN];
	struct xarray xa = { NULL };
	u64 rng = 12345;

	xa_init_cache();
	for (int step = 0; step < 40000; step++) {
		u32 i, what;

		rng = rng * 6364136223846793005ull + 1442695040888963407ull;
		i = (u32)(rng >> 33) % SPAN;
		what = (u32)(rng >> 20) % 8;
		if (step % 4096 > 3000)
			what = 7; /* times in which most goes */
		if (what < 3 && model[i] == NONE) {
			CHECK_EQ(xa_store(&xa, i, &pages[i], GFP_NOWAIT), 0);
			model[i] = PAGE_THERE;
		} else if (what < 3 && model[i] == TRACE) {
			CHECK(xa_is_value(xa_replace(&xa, i, &pages[i])));
			model[i] = PAGE_THERE;
		} else if (what < 6 && model[i] == PAGE_THERE) {
			CHECK(xa_replace(&xa, i, xa_mk_value(i)) == &pages[i]);
			model[i] = TRACE;
		} else if (what == 7 && model[i]) {
			CHECK(xa_erase(&xa, i) != NULL);
			model[i] = NONE;
		}
		CHECK_EQ(xa.value_nodes, model_nodes());
		if (step % 100 == 0)
			CHECK(xa_check(&xa) >= 0);
	}
	xa_destroy(&xa);
}

HOST_TEST(workingset_traces_are_forgotten_node_by_node)
{
	static u64 page;
	struct xarray xa = { NULL };
	unsigned long index = 0, rounds = 0;
	u32 gone = 0;

	xa_init_cache();
	memset(model, 0, sizeof(model));
	for (u32 node = 0; node < 100; node++)
		for (u32 i = 0; i < 64; i += 1 + node % 7)
			CHECK_EQ(xa_store(&xa, node * 64ul + i,
					  node % 3 || i ? xa_mk_value(node) : (void *)&page,
					  GFP_NOWAIT),
				 0);
	CHECK_EQ(xa.value_nodes, 66); /* every third has a page */
	do
		gone += xa_forget_values(&xa, &index) != 0;
	while (index && ++rounds < 1000);
	CHECK_EQ(gone, 66);
	CHECK_EQ(xa.value_nodes, 0);
	CHECK(xa_check(&xa) > 0);
	for (u32 node = 0; node < 100; node++)
		CHECK_EQ(xa_load(&xa, node * 64ul) != NULL, node % 3 == 0);
	xa_destroy(&xa);
}
