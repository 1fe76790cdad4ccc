/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmalloc.c - virtually contiguous memory from scattered frames.
 *
 * Problem: large buffers must not depend on large free blocks, and an overrun should hit nothing.
 * Idea: addresses are plentiful (32 TiB), frames and TLB flushes are not. An area takes fresh
 * addresses from a cursor, one page more than it
 * needs: the unmapped guard. On free the frames go back at once, but the addresses may still be in
 * TLBs; they wait on a lazy list until one flush serves many areas, then sit in a bin by size and
 * are used again before the cursor moves, so page tables do not grow for ever. When memory is
 * wanted back neighbours in the bins are joined, what touches the cursor is forgotten, and the
 * records go.
 *
 *     cursor -> |area......|guard|area..|guard|          free: lazy list --one flush--> bins[pages]
 *                                                        --> reuse
 *
 * Invariants: areas never overlap and each ends with an unmapped page; the frame behind an area's
 * first page carries the area in page->private; the area list is sorted by address; an address
 * range is in use, lazy, or in one bin.
 * Locking: vmalloc_lock for the lists; mapping and unmapping touch only entries of the own area.
 */
#include "mm/kmem/vmalloc.h"

#include "arch/mmu.h"
#include "kernel/param.h"
#include "kernel/show.h"
#include "kernel/spinlock.h"
#include "lib/errno.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc_internal.h"
#include "mm/phys/page_alloc.h"

#define BIN_PAGES 64	/* larger areas share the last bin, first fit */
#define LAZY_PAGES 2048 /* 8 MiB of addresses wait for one flush */
#define LAZY_AREAS 128

static DEFINE_SPINLOCK(vmalloc_lock, RANK_VMALLOC);
static unsigned long cursor = VMALLOC_START;
static LIST_HEAD(areas);
static struct vm_area *bins[BIN_PAGES + 1];
static struct vm_area *lazy;
static unsigned long lazy_pages, lazy_areas;
static struct slab_cache *area_cache;

/* Early users (device registers) have no memory for records yet. */
static struct vm_area early[12];
static u32 nr_early;

static struct vm_area *record_alloc(void)
{
	if (area_cache)
		return slab_alloc(area_cache, GFP_KERNEL);
	return nr_early < ARRAY_SIZE(early) ? &early[nr_early++] : NULL;
}

static u32 bin_of(u32 nr_pages)
{
	return min(nr_pages, (u32)BIN_PAGES);
}

/*
 * From a bin: of exactly the size, or, if there is a record for the rest, the front of a joined
 * one. The large areas share
 * the last bin: first fit there.
 */
static struct vm_area *reuse_locked(u32 nr_pages, struct vm_area **fresh)
{
	struct vm_area **link, *a;

	for (link = &bins[bin_of(nr_pages)]; (a = *link); link = &a->next)
		if (a->span == nr_pages) {
			*link = a->next;
			return a;
		}
	if (!*fresh)
		return NULL;
	for (link = &bins[BIN_PAGES]; (a = *link); link = &a->next) {
		struct vm_area *front = *fresh;

		if (a->span <= nr_pages + 1)
			continue;
		*fresh = NULL;
		front->va = a->va;
		front->span = nr_pages;
		a->va += (nr_pages + 1ul) << PAGE_SHIFT;
		a->span -= nr_pages + 1;
		if (bin_of(a->span) != BIN_PAGES) {
			*link = a->next;
			a->next = bins[bin_of(a->span)];
			bins[bin_of(a->span)] = a;
		}
		return front;
	}
	return NULL;
}

static void insert_sorted_locked(struct vm_area *a)
{
	struct list_head *p = areas.prev;

	/* Fresh addresses belong at the end; used ones not far from it as a rule. */
	while (p != &areas && list_entry(p, struct vm_area, node)->va > a->va)
		p = p->prev;
	list_add(&a->node, p);
}

static void purge(void);

struct vm_area *vm_area_alloc(u32 nr_pages, u32 flags)
{
	struct vm_area *a, *fresh = NULL;
	bool tried = false;

again:
	spin_lock(&vmalloc_lock);
	a = reuse_locked(nr_pages, &fresh);
	if (!a && !fresh) {
		spin_unlock(&vmalloc_lock);
		/* rather flush than use up page tables */
		if (!tried && lazy_areas > LAZY_AREAS / 2) {
			tried = true;
			purge();
			goto again;
		}
		fresh = record_alloc();
		if (!fresh)
			return NULL;
		goto again;
	}
	if (!a) {
		unsigned long bytes = (nr_pages + 1ul) << PAGE_SHIFT;

		if (VMALLOC_END - cursor < bytes) {
			spin_unlock(&vmalloc_lock);
			slab_free(area_cache, fresh);
			return NULL;
		}
		a = fresh;
		fresh = NULL;
		a->va = cursor;
		a->span = nr_pages;
		cursor += bytes;
	}
	a->nr_pages = nr_pages;
	a->flags = flags;
	a->caller = __builtin_return_address(0);
	insert_sorted_locked(a);
	spin_unlock(&vmalloc_lock);
	if (fresh && area_cache)
		slab_free(area_cache, fresh);
	return a;
}

void vm_area_free(struct vm_area *a)
{
	bool full;

	spin_lock(&vmalloc_lock);
	list_del(&a->node);
	a->next = lazy;
	lazy = a;
	lazy_pages += a->span;
	lazy_areas++;
	full = lazy_pages > LAZY_PAGES || lazy_areas > LAZY_AREAS;
	spin_unlock(&vmalloc_lock);
	if (full && may_sleep())
		purge();
}

/* One flush for all addresses that wait. => may sleep, interrupts on */
static noinline void purge(void)
{
	unsigned long start = ~0ul, end = 0;
	struct vm_area *list, *a;

	if (!may_sleep())
		return;
	spin_lock(&vmalloc_lock);
	list = lazy;
	lazy = NULL;
	lazy_pages = lazy_areas = 0;
	spin_unlock(&vmalloc_lock);
	for (a = list; a; a = a->next) {
		start = min(start, a->va);
		end = max(end, a->va + ((unsigned long)a->span << PAGE_SHIFT));
	}
	if (!list)
		return;
	tlb_flush_kernel_range(start, end);
	spin_lock(&vmalloc_lock);
	while ((a = list)) {
		list = a->next;
		a->next = bins[bin_of(a->span)];
		bins[bin_of(a->span)] = a;
	}
	spin_unlock(&vmalloc_lock);
}

/* ---- giving records back ---- */

/* Two lists sorted by address become one. */
static struct vm_area *merge(struct vm_area *x, struct vm_area *y)
{
	struct vm_area *head = NULL, **tail = &head;

	while (x && y) {
		struct vm_area **from = x->va < y->va ? &x : &y;

		*tail = *from;
		tail = &(*tail)->next;
		*from = *tail;
	}
	*tail = x ? x : y;
	return head;
}

/* Bottom-up merge sort: run[i] holds a sorted list of 2^i areas or nothing. */
static struct vm_area *sort_areas(struct vm_area *list)
{
	struct vm_area *run[32] = { NULL }, *a;

	while ((a = list)) {
		u32 i = 0;

		list = a->next;
		a->next = NULL;
		for (; run[i]; run[i++] = NULL)
			a = merge(run[i], a);
		run[i] = a;
	}
	for (u32 i = 0; i < ARRAY_SIZE(run); i++)
		if (run[i])
			list = list ? merge(run[i], list) : run[i];
	return list;
}

/* Joins neighbours of a sorted list; *spare receives the records no longer needed. */
static void join_areas(struct vm_area *a, struct vm_area **spare)
{
	while (a && a->next) {
		struct vm_area *b = a->next;

		if (a->va + ((a->span + 1ul) << PAGE_SHIFT) != b->va ||
		    (u64)a->span + b->span + 1 > U32_MAX) {
			a = b;
			continue;
		}
		a->span += b->span + 1; /* the guard between them too */
		a->next = b->next;
		b->next = *spare;
		*spare = b;
	}
}

static unsigned long records_count(struct shrinker *s)
{
	unsigned long n = 0;

	spin_lock(&vmalloc_lock);
	for (u32 i = 0; i <= BIN_PAGES; i++)
		n += bins[i] != NULL;
	n += lazy_areas;
	spin_unlock(&vmalloc_lock);
	return n;
}

/*
 * Everything in the bins, joined and put back; the addresses are out of reach meanwhile, which only
 * moves the cursor.
 */
static unsigned long records_scan(struct shrinker *s, unsigned long nr)
{
	struct vm_area *list = NULL, *spare = NULL, *a;
	unsigned long freed = 0;

	purge();
	spin_lock(&vmalloc_lock);
	for (u32 i = 0; i <= BIN_PAGES; i++)
		while ((a = bins[i])) {
			bins[i] = a->next;
			a->next = list;
			list = a;
		}
	spin_unlock(&vmalloc_lock);
	list = sort_areas(list);
	join_areas(list, &spare);
	spin_lock(&vmalloc_lock);
	while ((a = list)) {
		list = a->next;
		if (a->va + ((a->span + 1ul) << PAGE_SHIFT) == cursor) {
			cursor = a->va;
			a->next = spare;
			spare = a;
		} else {
			a->next = bins[bin_of(a->span)];
			bins[bin_of(a->span)] = a;
		}
	}
	spin_unlock(&vmalloc_lock);
	while ((a = spare)) {
		spare = a->next;
		if (a >= early && a < early + ARRAY_SIZE(early))
			continue;
		slab_free(area_cache, a);
		freed++;
	}
	return freed;
}

static struct shrinker record_shrinker = {
	.name = "vmap_area", .count = records_count, .scan = records_scan, .batch = 32
};

/* ---- frames behind an area ---- */

/* The entry of a kernel address, stepping within one table. */
static pte_t *next_pte(pte_t *pte, unsigned long va)
{
	return pte && pt_index(va, 0) ? pte + 1 : kernel_pte(va);
}

void vm_area_unmap(struct vm_area *a, enum zone_stat_item item)
{
	unsigned long va = a->va;
	pte_t *pte = NULL;

	for (u32 i = 0; i < a->nr_pages; i++, va += PAGE_SIZE) {
		struct page *page;
		pte_t e;

		pte = next_pte(pte, va);
		if (!pte)
			continue;
		e = pte_get_and_clear(pte);
		if (!pte_present(e))
			break;
		page = pfn_to_page(pte_pfn(e));
		mod_zone_state(page_zone(page), item, -1);
		free_page(page);
	}
}

int vm_area_fill(struct vm_area *a, gfp_t gfp, int node, enum zone_stat_item item)
{
	unsigned long va = a->va;
	pte_t *pte = NULL;

	for (u32 i = 0; i < a->nr_pages; i++, va += PAGE_SIZE) {
		struct page *page = alloc_pages_node(node, gfp, 0);

		if (!page)
			return -ENOMEM;
		/* The table exists from the second page on, and for addresses used before. */
		pte = next_pte(pte, va);
		if (pte) {
			pte_set(pte, pte_make(page_to_pfn(page), PAGE_KERNEL));
		} else if (kernel_map(va, page_to_phys(page), PAGE_SIZE, PAGE_KERNEL)) {
			free_page(page);
			return -ENOMEM;
		} else {
			pte = kernel_pte(va);
		}
		if (i == 0)
			page->private = (unsigned long)a;
		page->flags |= item == NR_KERNEL_STACK ? BIT(PG_kstack) : BIT(PG_vmalloc);
		mod_zone_state(page_zone(page), item, 1);
	}
	return 0;
}

struct vm_area *vm_area_of(const void *p)
{
	pte_t *pte = kernel_pte((unsigned long)p);

	if (!pte || !pte_present(pte_read(pte)))
		return NULL;
	return (struct vm_area *)pfn_to_page(pte_pfn(pte_read(pte)))->private;
}

static noinline void *vmalloc_gfp(size_t bytes, gfp_t gfp, int node, const void *caller)
{
	size_t nr_pages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	struct vm_area *a;

	if (!bytes || nr_pages > totalram_pages)
		return NULL;
	a = vm_area_alloc((u32)nr_pages, VMA_VMALLOC);
	if (!a)
		return NULL;
	a->caller = caller;
	if (vm_area_fill(a, gfp, node, NR_VMALLOC)) {
		vm_area_unmap(a, NR_VMALLOC);
		vm_area_free(a);
		return NULL;
	}
	return (void *)a->va;
}

void *vmalloc(size_t bytes)
{
	return vmalloc_gfp(bytes, GFP_KERNEL, -1, __builtin_return_address(0));
}

void *vzalloc(size_t bytes)
{
	return vmalloc_gfp(bytes, GFP_KERNEL | __GFP_ZERO, -1, __builtin_return_address(0));
}

void *vmalloc_node(size_t bytes, int node)
{
	return vmalloc_gfp(bytes, GFP_KERNEL, node, __builtin_return_address(0));
}

void vfree(const void *p)
{
	struct vm_area *a;

	if (!p)
		return;
	a = vm_area_of(p);
	if (WARN_ON(!a || a->va != (unsigned long)p || a->flags != VMA_VMALLOC))
		return;
	vm_area_unmap(a, NR_VMALLOC);
	vm_area_free(a);
}

bool is_vmalloc_addr(const void *p)
{
	return (unsigned long)p >= VMALLOC_START && (unsigned long)p < VMALLOC_END;
}

void *kvmalloc(size_t bytes, gfp_t gfp)
{
	void *p = NULL;

	if (bytes <= 16384)
		p = kmalloc(bytes, bytes > PAGE_SIZE ? gfp | __GFP_NOWARN | __GFP_NORETRY : gfp);
	if (!p && bytes > PAGE_SIZE)
		p = vmalloc_gfp(bytes, gfp, -1, __builtin_return_address(0));
	return p;
}

void kvfree(const void *p)
{
	if (is_vmalloc_addr(p))
		vfree(p);
	else
		kfree(p);
}

unsigned long vmalloc_reserve_va(size_t bytes)
{
	struct vm_area *a = vm_area_alloc((u32)DIV_ROUND_UP(bytes, PAGE_SIZE), VMA_IOREMAP);
	unsigned long va;

	if (a) {
		a->caller = __builtin_return_address(0);
		return a->va;
	}
	/* No record to be had: addresses alone will do. */
	spin_lock(&vmalloc_lock);
	va = cursor;
	cursor += ALIGN_UP(bytes, PAGE_SIZE) + PAGE_SIZE;
	spin_unlock(&vmalloc_lock);
	return va;
}

void vmalloc_init(void)
{
	area_cache = slab_create("vmap_area", sizeof(struct vm_area), 0, 0, NULL);
	if (!area_cache)
		panic("vmalloc: no memory for the area cache");
	kstack_init(); /* its shrinker first: it gives areas back */
	list_add_tail(&record_shrinker.node, &shrinkers);
}

/* ---- /proc/vmallocinfo ---- */

static int vmallocinfo_show(struct seq *seq)
{
	struct vm_area *a;

	spin_lock(&vmalloc_lock);
	list_for_each_entry(a, &areas, node) {
		seq_printf(seq, "0x%016lx-0x%016lx %7lu %pS", a->va,
			   a->va + ((a->span + 1ul) << PAGE_SHIFT), (a->span + 1ul) << PAGE_SHIFT,
			   a->caller);
		if (a->flags != VMA_IOREMAP)
			seq_printf(seq, " pages=%u", a->nr_pages);
		seq_puts(seq, a->flags == VMA_IOREMAP  ? " ioremap\n"
			      : a->flags == VMA_KSTACK ? " vmalloc stack\n"
						       : " vmalloc\n");
	}
	spin_unlock(&vmalloc_lock);
	return 0;
}
SHOW("/proc/vmallocinfo", 0400, vmallocinfo_show, NULL);
