/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmalloc.c - memory by size: fourteen slab caches up to 8 KiB, whole blocks of frames above.
 *
 * The class of a small size is one table look-up; kfree finds the cache through the struct page of
 * the object. Blocks of frames are compound pages, so their size is found the same way. => sizes
 * are rounded up: ksize() says to what; alignment is that of the class's largest power of two, at
 * most 64 (page size for blocks of frames).
 */
#include "kernel/printk.h"
#include "lib/math.h"
#include "lib/string.h"
#include "arch/smp.h"
#include "mm/kmem/slab_internal.h"

#define KMALLOC_SLAB_MAX 8192u
#define TABLE_MAX 1024u

static const struct {
	u16 size;
	const char *name;
} classes[] = {
	{ 8, "kmalloc-8" },	{ 16, "kmalloc-16" },	{ 32, "kmalloc-32" },
	{ 64, "kmalloc-64" },	{ 96, "kmalloc-96" },	{ 128, "kmalloc-128" },
	{ 192, "kmalloc-192" }, { 256, "kmalloc-256" }, { 512, "kmalloc-512" },
	{ 1024, "kmalloc-1k" }, { 2048, "kmalloc-2k" }, { 4096, "kmalloc-4k" },
	{ 8192, "kmalloc-8k" },
};
static struct slab_cache *by_eight[TABLE_MAX / 8 + 1]; /* size rounded up to 8, divided by 8 */
static struct slab_cache *large[3];		       /* 2048, 4096, 8192 */

static __always_inline struct slab_cache *class_of(size_t bytes)
{
	if (likely(bytes <= TABLE_MAX))
		return by_eight[(bytes + 7) / 8];
	return large[bytes > 2048 ? bytes > 4096 ? 2 : 1 : 0];
}

static noinline void *alloc_block(size_t bytes, gfp_t gfp, int node)
{
	unsigned int order = order_base_2(DIV_ROUND_UP(bytes, PAGE_SIZE));
	struct page *page;

	if (bytes > PAGE_SIZE << (MAX_ORDER - 1))
		return NULL;
	page = alloc_pages_node(node, (gfp & ~(__GFP_HIGH_ZONE | __GFP_MOVABLE)) | __GFP_COMP,
				order);
	if (!page)
		return NULL;
	page->flags |= BIT(PG_kmalloc);
	mod_zone_state(page_zone(page), NR_SLAB_UNRECLAIMABLE, 1l << order);
	return page_address(page);
}

static noinline void free_block(struct page *page)
{
	if (WARN_ON(!page_test(page, PG_head) || page_test(page, PG_reserved)))
		return;
	mod_zone_state(page_zone(page), NR_SLAB_UNRECLAIMABLE, -(1l << compound_order(page)));
	free_pages_order(page, compound_order(page));
}

static __always_inline void *alloc_object(size_t bytes, gfp_t gfp)
{
	return SLAB_ALLOC(class_of(bytes), gfp, kmalloc_link);
}

static noinline void *kmalloc_special(size_t bytes, gfp_t gfp)
{
	void *p;

	if (bytes > KMALLOC_SLAB_MAX)
		return alloc_block(bytes, gfp, -1);
	p = alloc_object(bytes, gfp & ~__GFP_ZERO);
	return p && (gfp & __GFP_ZERO) ? memset(p, 0, bytes) : p;
}

void *kmalloc(size_t bytes, gfp_t gfp)
{
	if (unlikely(bytes > TABLE_MAX || (gfp & __GFP_ZERO)))
		return kmalloc_special(bytes, gfp);
	return alloc_object(bytes, gfp);
}

void *kmalloc_node(size_t bytes, gfp_t gfp, int node)
{
	if (node < 0 || node == this_cpu_read(slab_local_nid))
		return kmalloc(bytes, gfp);
	if (unlikely(bytes > KMALLOC_SLAB_MAX))
		return alloc_block(bytes, gfp, node);
	return slab_alloc_slow(class_of(bytes), gfp, node);
}

void kfree(const void *p)
{
	struct page *page;

	if (unlikely(!p))
		return;
	/* Never an address in the kernel image: so virt_to_page() without asking. */
	page = page_head(pfn_to_page(((unsigned long)p - PAGE_OFFSET) >> PAGE_SHIFT));
	if (unlikely(!page_test(page, PG_slab))) {
		free_block(page);
		return;
	}
	SLAB_FREE(page->slab_cache, (void *)p, page, kmalloc_link);
}

size_t ksize(const void *p)
{
	const struct page *page = page_head(virt_to_page(p));

	return page_test(page, PG_slab) ? page->slab_cache->obj_size
					: PAGE_SIZE << compound_order(page);
}

void *krealloc(void *p, size_t bytes, gfp_t gfp)
{
	size_t old = p ? ksize(p) : 0;
	void *n;

	if (old >= bytes && p)
		return p;
	n = kmalloc(bytes, gfp);
	if (n && p) {
		memcpy(n, p, old);
		kfree(p);
	}
	return n;
}

void *kmemdup(const void *p, size_t n, gfp_t gfp)
{
	void *d = kmalloc(n, gfp);

	return d ? memcpy(d, p, n) : NULL;
}

char *kstrdup(const char *s, gfp_t gfp)
{
	return s ? kmemdup(s, strlen(s) + 1, gfp) : NULL;
}

void kmem_init(void)
{
	u32 at = 0;

	for (u32 cpu = 0; cpu < max(nr_possible_cpus, 1u); cpu++)
		per_cpu(slab_local_nid, cpu) = cpu_mem_node(cpu);
	for (u32 i = 0; i < ARRAY_SIZE(classes); i++) {
		u32 size = classes[i].size;
		struct slab_cache *c =
			slab_create(classes[i].name, size, min(size & -size, 64u), 0, NULL);

		if (!c)
			panic("kmem: no memory for cache %s", classes[i].name);
		for (; at <= size / 8 && at <= TABLE_MAX / 8; at++)
			by_eight[at] = c;
		if (size > TABLE_MAX)
			large[ilog2(size) - 11] = c;
	}
}
