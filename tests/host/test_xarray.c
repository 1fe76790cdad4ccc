/* SPDX-License-Identifier: BSD-2-Clause */
// SOURCES: mm/cache/xarray.c
/*
 * test_xarray.c - the page cache's index against a plain list of what it should hold: pointers, and
 * values, which have no tags.
 */
#include "host.h"
#include "kernel/rcu.h"
#include "lib/errno.h"
#include "mm/cache/xarray.h"
#include "mm/kmem/slab.h"

/* One slab, whose objects can be made to run out. */
static int budget = -1, live;
static size_t object_size;

struct slab_cache *slab_create(const char *name, size_t size, size_t align, unsigned int flags,
			       void (*ctor)(void *))
{
	object_size = size;
	return (struct slab_cache *)&object_size;
}
void *slab_alloc(struct slab_cache *c, gfp_t gfp)
{
	if (budget == 0)
		return NULL;
	if (budget > 0)
		budget--;
	live++;
	return calloc(1, object_size);
}
void slab_free(struct slab_cache *c, void *obj)
{
	live--;
	free(obj);
}
void rcu_call(struct rcu_head *head, void (*fn)(struct rcu_head *head))
{
	fn(head); /* no readers here */
}

#define MAX 600
struct model {
	unsigned long index[MAX];
	void *item[MAX];
	unsigned int tags[MAX];
	int n;
};

static int model_find(struct model *m, unsigned long index)
{
	for (int i = 0; i < m->n; i++)
		if (m->index[i] == index)
			return i;
	return -1;
}

/* Smallest index >= from with (tag < 0 or) the tag; -1: none */
static int model_next(struct model *m, unsigned long from, int tag)
{
	int best = -1;

	for (int i = 0; i < m->n; i++)
		if (m->index[i] >= from && (tag < 0 || m->tags[i] & 1u << tag) &&
		    (best < 0 || m->index[i] < m->index[best]))
			best = i;
	return best;
}

static unsigned long random_index(void)
{
	switch (host_random() % 8) {
	case 0:
		return host_random();
	case 1:
		return ~0ul - host_random() % 70;
	case 2:
		return host_random() % 64 << 30;
	case 3:
		return host_random() % 8192;
	default:
		return host_random() % 200;
	}
}

static void compare(struct xarray *xa, struct model *m)
{
	long n = xa_check(xa);

	CHECK_EQ(n, m->n);
	for (int tag = -1; tag < XA_NR_TAGS; tag++) {
		unsigned long at = 0;

		for (;;) {
			int want = model_next(m, at, tag);
			void *got =
				tag < 0 ? xa_find(xa, &at, ~0ul) : xa_find_tag(xa, &at, ~0ul, tag);

			CHECK(got == (want < 0 ? NULL : m->item[want]));
			if (want < 0)
				break;
			CHECK_EQ(at, m->index[want]);
			CHECK(xa_load(xa, at) == got);
			if (!++at)
				break;
		}
		if (tag >= 0)
			CHECK_EQ(xa_tagged(xa, tag), model_next(m, 0, tag) >= 0);
	}
}

/* Between index and a random end, node by node as a walk does it. */
static void copy_tag(struct xarray *xa, struct model *m, unsigned long index, int from, int to)
{
	unsigned long last = host_random() % 3 ? index + host_random() % 300 : ~0ul, at = index;

	if (last < index)
		last = ~0ul;
	while (xa_copy_tag(xa, &at, last, from, to))
		if (at++ >= last)
			break;
	for (int i = 0; i < m->n; i++)
		if (m->index[i] >= index && m->index[i] <= last && m->tags[i] & 1u << from)
			m->tags[i] |= 1u << to;
}

HOST_TEST(xarray_model)
{
	for (int round = 0; round < 40; round++) {
		struct xarray xa = { NULL };
		struct model m = { .n = 0 };

		xa_init_cache();
		for (int step = 0; step < 600; step++) {
			unsigned long index = random_index();
			int at, tag = host_random() % XA_NR_TAGS;
			void *item = (void *)(uintptr_t)(host_random() | 8);

			if (m.n && host_random() % 2)
				index = m.index[host_random() % m.n];
			at = model_find(&m, index);
			switch (host_random() % 7) {
			case 6:
				copy_tag(&xa, &m, index, tag, (tag + 1) % XA_NR_TAGS);
				break;
			case 0:
			case 1:
				CHECK_EQ(xa_store(&xa, index, item, GFP_NOWAIT),
					 at >= 0 ? -EEXIST : 0);
				if (at < 0) {
					m.index[m.n] = index;
					m.item[m.n] = item;
					m.tags[m.n++] = 0;
				}
				break;
			case 2:
				CHECK(xa_erase(&xa, index) == (at < 0 ? NULL : m.item[at]));
				if (at >= 0) {
					m.n--;
					m.index[at] = m.index[m.n];
					m.item[at] = m.item[m.n];
					m.tags[at] = m.tags[m.n];
				}
				break;
			case 3:
				xa_set_tag(&xa, index, tag);
				if (at >= 0 && !xa_is_value(m.item[at]))
					m.tags[at] |= 1u << tag;
				break;
			case 4:
				xa_clear_tag(&xa, index, tag);
				if (at >= 0)
					m.tags[at] &= ~(1u << tag);
				break;
			case 5:
				CHECK(xa_replace(&xa, index, item) == (at < 0 ? NULL : m.item[at]));
				if (at >= 0)
					m.item[at] = item;
				if (at >= 0 && xa_is_value(item))
					m.tags[at] = 0;
				CHECK_EQ(xa_get_tag(&xa, index, tag),
					 at >= 0 && m.tags[at] & 1u << tag);
				break;
			}
			if (step % 20 == 0)
				compare(&xa, &m);
		}
		compare(&xa, &m);
		xa_destroy(&xa);
		CHECK_EQ(live, 0);
	}
}

/* A page leaves for a value and comes back: nothing is allocated, nothing else moves. */
HOST_TEST(xarray_values)
{
	struct xarray xa = { NULL };
	static long pages[300];
	unsigned long at = 0;
	int nodes;

	xa_init_cache();
	CHECK_EQ(xa_to_value(xa_mk_value(~0ul >> 1)), ~0ul >> 1);
	CHECK(xa_is_value(xa_mk_value(0)) && !xa_is_value(&pages[1]) && !xa_is_value(NULL));
	for (unsigned long i = 0; i < 300; i++)
		CHECK_EQ(xa_store(&xa, i * 7, &pages[i], GFP_NOWAIT), 0);
	for (unsigned long i = 0; i < 300; i += 2)
		xa_set_tag(&xa, i * 7, XA_DIRTY);
	nodes = live;
	budget = 0;
	for (unsigned long i = 0; i < 300; i += 2)
		CHECK(xa_replace(&xa, i * 7, xa_mk_value(i)) == &pages[i]);
	CHECK_EQ(xa_check(&xa), 300);
	CHECK(!xa_tagged(&xa, XA_DIRTY));
	CHECK(!xa_replace(&xa, 1, xa_mk_value(1)) && !xa_load(&xa, 1));
	CHECK_EQ(xa_store(&xa, 14, &pages[0], GFP_NOWAIT), -EEXIST);
	for (unsigned long i = 0; i < 300; i++, at++) {
		CHECK(xa_find(&xa, &at, ~0ul) == (i % 2 ? (void *)&pages[i] : xa_mk_value(i)));
		CHECK_EQ(at, i * 7);
		xa_set_tag(&xa, at, XA_DIRTY);
		CHECK_EQ(xa_get_tag(&xa, at, XA_DIRTY), i % 2);
	}
	for (unsigned long i = 0; i < 300; i += 2)
		CHECK(xa_replace(&xa, i * 7, &pages[i]) == xa_mk_value(i));
	CHECK_EQ(live, nodes);
	for (unsigned long i = 0; i < 300; i++)
		CHECK(xa_erase(&xa, i * 7) == &pages[i]);
	CHECK_EQ(xa_check(&xa), 0);
	budget = -1;
	xa_destroy(&xa);
	CHECK_EQ(live, 0);
}

HOST_TEST(xarray_batch)
{
	struct xarray xa = { NULL };
	void *items[100];

	xa_init_cache();
	for (unsigned long i = 0; i < 200; i += 3)
		CHECK_EQ(xa_store(&xa, i, (void *)(i + 1), GFP_NOWAIT), 0);
	for (unsigned long i = 0; i < 200; i++) {
		unsigned int n = xa_load_batch(&xa, i, 16, items);

		CHECK(n >= 1 && n <= 16 && (i + n) / 64 <= i / 64 + 1);
		for (unsigned int k = 0; k < n; k++)
			CHECK(items[k] ==
			      ((i + k) % 3 == 0 && i + k < 200 ? (void *)(i + k + 1) : NULL));
	}
	xa_destroy(&xa);
	CHECK_EQ(live, 0);
}

/* Out of memory leaves the array as it was; a spare node lets the store go on. */
HOST_TEST(xarray_no_memory)
{
	xa_init_cache();
	for (int have = 0; have < 14; have++) {
		struct xarray xa = { NULL };
		int err;

		budget = -1;
		CHECK_EQ(xa_store(&xa, 5, &xa, GFP_NOWAIT), 0);
		budget = have;
		err = xa_store(&xa, ~0ul - 1, &budget, GFP_NOWAIT);
		while (err == -ENOMEM) {
			CHECK(xa_check(&xa) == 1);
			CHECK(xa_load(&xa, 5) == &xa && !xa_load(&xa, ~0ul - 1));
			budget = 1;
			xa_add_spare(&xa, xa_node_alloc(0));
			err = xa_store(&xa, ~0ul - 1, &budget, GFP_NOWAIT);
		}
		CHECK_EQ(err, 0);
		CHECK_EQ(xa_check(&xa), 2);
		budget = -1;
		xa_destroy(&xa);
		CHECK_EQ(live, 0);
	}
}
