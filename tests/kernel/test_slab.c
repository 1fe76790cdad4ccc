/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slabs and kmalloc: sizes, contents, constructors, counts back to the start, empty slabs returned,
 * validator.
 */
#include "lib/string.h"
#include "mm/debug/check.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "tests/kernel/ktest.h"

KTEST(slab, kmalloc_sizes)
{
	for (size_t n = 0; n <= 40000; n = n < 300 ? n + 1 : n + 777) {
		u8 *p = kmalloc(n, GFP_KERNEL), *q = kzalloc(n, GFP_KERNEL);

		KT_ASSERT(p && q && p != q);
		KT_ASSERT(ksize(p) >= n);
		KT_ASSERT(((unsigned long)p & 7) == 0);
		KT_ASSERT(!memchr_inv(q, 0, n));
		memset(p, 0xee, n);
		KT_ASSERT(!memchr_inv(q, 0, n));
		kfree(p);
		kfree(q);
	}
	KT_ASSERT(!kmalloc(64ul << 20, GFP_KERNEL | __GFP_NOWARN));
	kfree(NULL);
}

KTEST(slab, helpers)
{
	char *s = kstrdup("a leaf", GFP_KERNEL), *longer;

	KT_ASSERT(s && !strcmp(s, "a leaf"));
	longer = krealloc(s, 5000, GFP_KERNEL);
	KT_ASSERT(longer && !strcmp(longer, "a leaf"));
	kfree(longer);
}

static u32 built;
static void build(void *p)
{
	*(u32 *)p = 0x51ab;
	built++;
}

KTEST(slab, cache_with_constructor)
{
	static struct slab_cache *c;
	static u32 *obj[300];

	if (!c)
		c = slab_create("test-ctor", 40, 0, 0, build);
	KT_ASSERT(c);
	for (int i = 0; i < 300; i++) {
		obj[i] = slab_alloc(c, GFP_KERNEL);
		KT_ASSERT(obj[i] && *obj[i] == 0x51ab);
	}
	KT_EQ(slab_nr_objects(c), 300);
	KT_ASSERT(built >= 300);
	for (int i = 0; i < 300; i++)
		slab_free(c, obj[i]); /* in the state the constructor left */
	KT_EQ(slab_nr_objects(c), 0);
	KT_ASSERT(slab_shrink(c) > 0);
}

KTEST(slab, pages_come_back)
{
	static struct slab_cache *c;
	static void *obj[2000];
	unsigned long before;

	if (!c)
		c = slab_create("test-back", 200, 64, 0, NULL);
	KT_ASSERT(c);
	slab_shrink(c);
	pcp_drain_all();
	before = nr_free_pages();
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 2000; i++) {
			obj[i] = slab_alloc(c, GFP_KERNEL);
			KT_ASSERT(obj[i] && ((unsigned long)obj[i] & 63) == 0);
			memset(obj[i], i, 200);
		}
		/* odd ones first: slabs become partial in every way */
		for (int i = 0; i < 2000; i++) {
			int at = i < 1000 ? 2 * i + 1 : 2 * (i - 1000);

			KT_ASSERT(!memchr_inv(obj[at], at & 0xff, 200));
			slab_free(c, obj[at]);
		}
	}
	slab_shrink(c);
	pcp_drain_all();
	KT_ASSERT(nr_free_pages() + 64 >= before);
	KT_EQ(slab_nr_objects(c), 0);
}

KTEST(slab, other_nodes)
{
	for (int n = 0; n < nr_nodes; n++) {
		void *p = kmalloc_node(100, GFP_KERNEL, n);

		KT_ASSERT(p);
		if (nodes[n]->has_memory)
			KT_EQ(page_node(virt_to_page(p)), n);
		kfree(p);
	}
}

KTEST(slab, validator)
{
	const char *where = "";

	KT_ASSERT(!slab_check(&where));
	KT_ASSERT(!check_all(&where));
}
