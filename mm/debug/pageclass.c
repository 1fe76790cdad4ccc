/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pageclass.c - what a frame is used for, and counting a pageblock.
 *
 * Problem: a map of memory looks at every struct page several times a second, while everybody goes
 * on changing them. A lock would stop the machine we want to watch; a decision of thirty branches
 * per page would cost as much as the load.
 * Idea: read without locks. A free block is one step whatever its order, and so is a compound page.
 * Other frames come in runs: neighbours are mostly of the same kind. So the walk compares the words
 * that matter with those of the page before, and only where they differ is the run counted and the
 * decision taken anew.
 *
 *     [buddy, order 6: one step][anon anon anon ... one decision][slab, order 2: one step] ...
 *
 * Races: the words are read one by one and may belong to two moments. An order read from a block
 * that was just taken is checked against alignment and range; nonsense counts as one frame. So each
 * frame is counted exactly once, as something it was or is about to be, and nothing is followed
 * that could go away: no pointer of a page is dereferenced.
 * Cost: about 12 instructions a page in runs, 60 where every page differs from the one before,
 * nearly none for free memory (docs/memmap.md has what was measured).
 */
#include "mm/debug/pageclass.h"

#include "lib/math.h"

#define _X(e, k, h) k,
const char *const page_class_key[NR_PAGE_CLASSES] = { PAGE_CLASSES(_X) };
const char *const page_attr_key[NR_PAGE_ATTRS] = { PAGE_ATTRS(_X) };
#undef _X

/* Flags that decide, directly or as an attribute. */
#define DECIDES                                                                                    \
	(BIT(PG_buddy) | BIT(PG_slab) | BIT(PG_table) | BIT(PG_kstack) | BIT(PG_vmalloc) |         \
	 BIT(PG_kmalloc) | BIT(PG_reserved) | BIT(PG_lru) | BIT(PG_lru_pending) | BIT(PG_active) | \
	 BIT(PG_unevictable) | BIT(PG_mlocked) | BIT(PG_swapbacked) | BIT(PG_anon) |               \
	 BIT(PG_swapcache) | BIT(PG_dirty) | BIT(PG_writeback) | BIT(PG_isolated) | BIT(PG_head) | \
	 BIT(PG_tail) | PAGE_ZONE_BITS)
#define NOT_USERS                                                                                  \
	(BIT(PG_buddy) | BIT(PG_slab) | BIT(PG_table) | BIT(PG_kstack) | BIT(PG_vmalloc) |         \
	 BIT(PG_kmalloc) | BIT(PG_reserved))
#define OF_USERS                                                                                   \
	(BIT(PG_lru) | BIT(PG_lru_pending) | BIT(PG_anon) | BIT(PG_swapbacked) |                   \
	 BIT(PG_swapcache) | BIT(PG_isolated))

#define HOLE_MARK 1ul /* private of a reserved frame without memory: PAGE_HOLE of mm/phys */

/* The words of a page that decide. */
struct view {
	unsigned long flags; /* DECIDES only */
	u64 counts;	     /* mapcount and refs, read as one */
	bool mapping;
};

static __always_inline struct view look(const struct page *page)
{
	return (struct view){ .flags = READ_ONCE(page->flags) & DECIDES,
			      .counts = READ_ONCE(*(const u64 *)&page->mapcount),
			      .mapping = READ_ONCE(page->mapping) != NULL };
}

static enum page_class kernel_class(unsigned long f, const struct page *page)
{
	if (f & BIT(PG_buddy))
		return PC_FREE;
	if (f & BIT(PG_reserved))
		return READ_ONCE(page->private) == HOLE_MARK ? PC_HOLE : PC_RESERVED;
	if (f & (BIT(PG_slab) | BIT(PG_kmalloc)))
		return PC_SLAB;
	if (f & BIT(PG_table))
		return PC_TABLE;
	return f & BIT(PG_kstack) ? PC_STACK : PC_VMALLOC;
}

static u32 user_attrs(const struct view *v, bool in_cache)
{
	unsigned long f = v->flags;
	s32 mapped = (s32)v->counts + 1, expected = mapped, refs = (s32)(v->counts >> 32);
	bool anon = f & BIT(PG_anon);
	u32 a = 0;

	if (in_cache)
		a |= BIT(PA_CACHED) | (f & BIT(PG_swapbacked) ? BIT(PA_SHMEM) : 0);
	if ((f & BIT(PG_dirty)) && in_cache && !(f & BIT(PG_swapbacked)))
		a |= BIT(PA_DIRTY);
	if (f & BIT(PG_writeback))
		a |= BIT(PA_WRITEBACK);
	if (f & BIT(PG_swapcache))
		a |= BIT(PA_SWAPCACHE);
	if (f & BIT(PG_mlocked))
		a |= BIT(PA_MLOCKED);
	if (mapped > 0)
		a |= anon ? BIT(PA_ANON_MAPPED) : BIT(PA_FILE_MAPPED);
	expected += in_cache || (f & BIT(PG_swapcache));
	if (refs > expected && !(f & BIT(PG_isolated)))
		a |= BIT(PA_PINNED);
	return a;
}

static enum page_class classify(const struct view *v, const struct page *page, u32 *attrs)
{
	unsigned long f = v->flags;

	*attrs = 0;
	if (f & NOT_USERS)
		return kernel_class(f, page);
	if (!(v->counts >> 32))
		return PC_PCP;
	if (!(f & OF_USERS) && !v->mapping)
		return PC_KERNEL;
	*attrs = user_attrs(v, v->mapping && !(f & BIT(PG_anon)));
	if (f & BIT(PG_lru)) {
		if (f & BIT(PG_unevictable))
			return PC_UNEVICTABLE;
		return (f & BIT(PG_swapbacked) ? PC_INACTIVE_ANON : PC_INACTIVE_FILE) +
		       !!(f & BIT(PG_active));
	}
	return f & BIT(PG_lru_pending) ? PC_WAITING : PC_OFF_LIST;
}

enum page_class page_classify(const struct page *page, u32 *attrs)
{
	struct view v = look(page);

	return classify(&v, page, attrs);
}

static void add(struct block_counts *c, u32 class, u32 attrs, u32 n)
{
	c->of[class] += n;
	for (; attrs; attrs &= attrs - 1)
		c->attr[__ffs(attrs)] += n;
}

/* Frames of the block that starts here, by what its head says; 1 where that makes no sense. */
static unsigned long block_pages(const struct page *page, unsigned long pfn, unsigned long flags)
{
	unsigned long order = 0;

	if (flags & BIT(PG_buddy))
		order = READ_ONCE(page->private) & 0xff;
	else if (flags & BIT(PG_head))
		order = READ_ONCE(page[1].comp_order);
	return order < MAX_ORDER && !(pfn & ((1ul << order) - 1)) ? 1ul << order : 1;
}

/* A head of many frames: counted up to end, the rest remembered. => the first frame behind it */
static unsigned long count_block(struct block_counts *c, struct class_walk *w, unsigned long pfn,
				 unsigned long end, const struct view *v)
{
	const struct page *page = pfn_to_page(pfn);
	unsigned long n = block_pages(page, pfn, v->flags), part = min(n, end - pfn);

	w->class = classify(v, page, &w->attrs);
	if (w->class == PC_FREE)
		c->free[__fls(n)]++;
	else if (n >= PAGEBLOCK_PAGES)
		w->attrs |= BIT(PA_HUGE);
	w->until = pfn + n;
	add(c, w->class, w->attrs, (u32)part);
	c->pages += (u32)part;
	return pfn + part;
}

/*
 * How many frames from here on, before end, are of one kind. What tells holes from other reserved
 * frames is private, what tells cached pages from the kernel's is mapping: is it there or not.
 */
static __always_inline u32 run_length(const struct page *first, const struct page *end)
{
	const unsigned long flags = READ_ONCE(first->flags);
	const u64 counts = READ_ONCE(*(const u64 *)&first->mapcount);
	const size_t at = flags & BIT(PG_reserved) ? offsetof(struct page, private)
						   : offsetof(struct page, mapping);
	const bool there = *(const unsigned long *)((const char *)first + at);
	const struct page *page = first + 1;

	while (page < end && !((READ_ONCE(page->flags) ^ flags) & DECIDES) &&
	       READ_ONCE(*(const u64 *)&page->mapcount) == counts &&
	       !!*(const unsigned long *)((const char *)page + at) == there)
		page++;
	return (u32)(page - first);
}

void pageclass_count(struct block_counts *c, struct class_walk *w, unsigned long pfn,
		     unsigned long end, unsigned long zone_flags)
{
	if (pfn < w->until) {
		unsigned long part = min(w->until, end) - pfn;

		add(c, w->class, w->attrs, (u32)part);
		c->pages += (u32)part;
		pfn += part;
	}
	while (pfn < end) {
		const struct page *page = pfn_to_page(pfn);
		struct view v = look(page);

		if ((v.flags & PAGE_ZONE_BITS) != zone_flags) {
			pfn++;
		} else if (v.flags & (BIT(PG_buddy) | BIT(PG_head))) {
			pfn = count_block(c, w, pfn, end, &v);
		} else {
			u32 n = run_length(page, page + (end - pfn)), attrs;
			u32 class = classify(&v, page, &attrs);

			add(c, class, attrs, n);
			c->pages += n;
			pfn += n;
		}
	}
}
