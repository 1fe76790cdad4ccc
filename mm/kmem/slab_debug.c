/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slab_debug.c - debug builds: every object is followed by a red zone word and the free link, and
 * free objects are filled with a pattern. Writing past the end, freeing twice and writing after
 * free are found at the next alloc or free.
 */
#include "mm/kmem/slab_internal.h"

#ifdef QUIRE_DEBUG
#include "lib/string.h"

#define RED_FREE 0xbbbbbbbbbbbbbbbbull
#define RED_USED 0xccccccccccccccccull
#define POISON_FREE 0x6b
#define POISON_FRESH 0x5a

static u64 *red_zone(const struct slab_cache *c, void *obj)
{
	return (u64 *)((char *)obj + c->free_off - 8);
}

static bool poisons(const struct slab_cache *c)
{
	return !c->ctor && !(c->flags & SLAB_TYPESAFE_RCU);
}

/* First byte that is not the poison any more, or NULL; whole words first. */
static const void *spoiled(const void *obj, size_t n)
{
	const u64 want = 0x0101010101010101ull * POISON_FREE;
	const u64 *w = obj;

	for (; n >= 8; n -= 8, w++)
		if (*w != want)
			break;
	return memchr_inv(w, POISON_FREE, min(n, (size_t)8));
}

void slab_debug_init(struct slab_cache *c, void *obj)
{
	*red_zone(c, obj) = RED_FREE;
	if (poisons(c))
		memset(obj, POISON_FREE, c->obj_size);
}

void slab_debug_alloc(struct slab_cache *c, void *obj)
{
	if (*red_zone(c, obj) != RED_FREE)
		panic("slab: %s %p: red zone %#llx of a free object was overwritten", c->name, obj,
		      (unsigned long long)*red_zone(c, obj));
	if (poisons(c)) {
		if (spoiled(obj, c->obj_size))
			panic("slab: %s %p: written after it was freed, at %p", c->name, obj,
			      spoiled(obj, c->obj_size));
		memset(obj, POISON_FRESH, c->obj_size);
	}
	*red_zone(c, obj) = RED_USED;
}

void slab_debug_free(struct slab_cache *c, void *obj)
{
	struct page *slab = page_head(virt_to_page(obj));
	size_t off = (size_t)((char *)obj - (char *)page_address(slab));

	if (off % c->stride || off / c->stride >= slab->slab_objects)
		panic("slab: %s %p: not the start of an object", c->name, obj);
	if (*red_zone(c, obj) != RED_USED)
		panic("slab: %s %p: %s (red zone %#llx)", c->name, obj,
		      *red_zone(c, obj) == RED_FREE ? "freed twice" : "written past its end",
		      (unsigned long long)*red_zone(c, obj));
	*red_zone(c, obj) = RED_FREE;
	if (poisons(c))
		memset(obj, POISON_FREE, c->obj_size);
}
#endif
