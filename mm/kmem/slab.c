/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slab.c - caches of equal objects.
 *
 * Problem: kernel objects are small, of few sizes, and come and go all the time; pages are too big
 * and a general heap searches. Idea: a slab is a block of frames cut into objects of one kind, the
 * free ones chained through themselves. Each CPU keeps a chain of free objects per cache, so that
 * alloc and free are a pop and a push; the chain is filled from and emptied into slabs in batches
 * of at most 32 under the node's lock.
 *
 *     CPU chain   o->o->o->o                (preemption off; interrupts go to the node directly)
 *     node        partial: [##.#..] [#.....]   full: [######]   (lock, IRQs off)
 *     struct page slab_free -> chain inside the slab, slab_inuse, slab_objects, slab_cache
 *
 * Nodes: a CPU's chain holds objects of its own node only; others go straight back to their slab.
 * So memory stays near.
 *
 * Invariants: slab_inuse + length of slab_free chain = slab_objects (objects on CPU chains count as
 * in use by the slab); a slab is on partial iff its chain is not empty; sum over nodes of
 * nr_objects - nr_free - CPU chains = objects in use. Debug builds put a red zone behind each
 * object, poison free ones, and keep the link outside (slab_debug.c).
 * Source: [Bonwick94], [Bonwick01].
 */
#include "mm/kmem/slab_internal.h"

#include "arch/smp.h"
#include "kernel/rcu.h"
#include "lib/string.h"

DEFINE_PER_CPU_ALIGNED(struct slab_cpu[SLAB_MAX_CACHES], slab_cpus);
DEFINE_PER_CPU(int, slab_local_nid) = -1;
struct slab_cache *slab_caches;
static u32 nr_caches;
static DEFINE_SPINLOCK(cache_list_lock, RANK_SLAB);

/* ---- making slabs ---- */

static void count_pages(struct slab_cache *c, struct page *slab, long sign)
{
	mod_zone_state(page_zone(slab),
		       c->flags & SLAB_RECLAIMABLE ? NR_SLAB_RECLAIMABLE : NR_SLAB_UNRECLAIMABLE,
		       sign * (1l << compound_order(slab)));
}

static struct page *slab_make(struct slab_cache *c, gfp_t gfp, int node)
{
	unsigned int order = c->order, smallest = 0;
	struct page *slab;
	char *obj, *end;

	gfp = (gfp & ~(__GFP_ZERO | __GFP_HIGH_ZONE | __GFP_MOVABLE | __GFP_DMA | __GFP_DMA32)) |
	      c->gfp | __GFP_COMP;
	while ((PAGE_SIZE << smallest) < c->stride)
		smallest++;
	slab = alloc_pages_node(node,
				order > smallest ? (gfp | __GFP_NORETRY | __GFP_NOWARN) &
							   ~__GFP_DIRECT_RECLAIM
						 : gfp,
				order);
	if (!slab && order > smallest) {
		order = smallest;
		slab = alloc_pages_node(node, gfp, order);
	}
	if (!slab)
		return NULL;
	slab->flags |= BIT(PG_slab);
	slab->slab_cache = c;
	slab->slab_inuse = 0;
	slab->slab_objects = (u32)((PAGE_SIZE << order) / c->stride);
	obj = page_address(slab);
	slab->slab_free = obj;
	end = obj + (size_t)(slab->slab_objects - 1) * c->stride;
	for (; obj < end; obj += c->stride)
		*slab_link(c, obj) = obj + c->stride;
	*slab_link(c, obj) = NULL;
	obj = slab->slab_free;
	for (u32 i = 0; i < slab->slab_objects; i++, obj += c->stride) {
		slab_debug_init(c, obj);
		if (c->ctor)
			c->ctor(obj);
	}
	count_pages(c, slab, 1);
	return slab;
}

static void slab_release(struct page *slab)
{
	unsigned int order = compound_order(slab);

	slab->flags &= ~BIT(PG_slab);
	free_pages_order(slab, order);
}

static void slab_release_rcu(struct rcu_head *head)
{
	slab_release(container_of((struct list_head *)head, struct page, lru));
}

/* Empty slabs, off all lists; never under a lock. */
static unsigned long slabs_destroy(struct slab_cache *c, struct list_head *list)
{
	unsigned long pages = 0;
	struct page *slab, *next;

	_Static_assert(sizeof(struct rcu_head) <= sizeof(struct list_head),
		       "the link holds an rcu_head");
	list_for_each_entry_safe(slab, next, list, lru) {
		pages += 1ul << compound_order(slab);
		count_pages(c, slab, -1);
		if (c->flags & SLAB_TYPESAFE_RCU)
			rcu_call((struct rcu_head *)&slab->lru, slab_release_rcu);
		else
			slab_release(slab);
	}
	list_init(list);
	return pages;
}

/* ---- node lists ---- */

static void node_add_slab_locked(struct slab_node *n, struct page *slab)
{
	list_add(&slab->lru, &n->partial);
	n->nr_partial++;
	n->nr_empty++;
	n->nr_slabs++;
	n->nr_objects += slab->slab_objects;
	n->nr_free += slab->slab_objects;
}

/* Takes up to want objects from partial slabs, chained. => how many. */
static u32 node_take_locked(struct slab_cache *c, struct slab_node *n, u32 want, void **chain)
{
	u32 got = 0;

	while (got < want && !list_empty(&n->partial)) {
		struct page *slab = list_first_entry(&n->partial, struct page, lru);
		void *obj = slab->slab_free;
		u32 was = got;

		n->nr_empty -= slab->slab_inuse == 0;
		while (obj && got < want) {
			void *next = *slab_link(c, obj);

			*slab_link(c, obj) = *chain;
			*chain = obj;
			obj = next;
			got++;
		}
		slab->slab_free = obj;
		slab->slab_inuse += got - was;
		if (!obj) {
			list_move(&slab->lru, &n->full);
			n->nr_partial--;
		}
	}
	n->nr_free -= got;
	return got;
}

/* One object back into its slab; a slab that became empty and is one too many goes to *dead. */
static __always_inline void node_put_locked(struct slab_cache *c, struct slab_node *n,
					    struct page *slab, void *obj, struct list_head *dead)
{
	void *first = slab->slab_free;

	*slab_link(c, obj) = first;
	slab->slab_free = obj;
	n->nr_free++;
	if (unlikely(!first)) {
		list_move(&slab->lru, &n->partial);
		n->nr_partial++;
	}
	if (unlikely(--slab->slab_inuse == 0)) {
		if (n->nr_empty >= 2) {
			list_move(&slab->lru, dead);
			n->nr_partial--;
			n->nr_slabs--;
			n->nr_objects -= slab->slab_objects;
			n->nr_free -= slab->slab_objects;
		} else {
			n->nr_empty++;
			list_move_tail(&slab->lru, &n->partial);
		}
	}
}

/* ---- slow paths ---- */

/* want objects of a node, making a slab when there are none. => 0: out of memory. */
static u32 node_get(struct slab_cache *c, gfp_t gfp, int node, u32 want, void **chain)
{
	struct slab_node *n = &c->node[node];
	unsigned long flags;
	struct page *slab;
	u32 got;

	*chain = NULL;
	spin_lock_irqsave_l(&n->lock, flags, "slab_refill");
	got = node_take_locked(c, n, want, chain);
	irq_work(got);
	spin_unlock_irqrestore_l(&n->lock, flags, "slab_refill");
	if (got)
		return got;
	slab = slab_make(c, gfp, node);
	if (!slab)
		return 0;
	n = &c->node[page_node(slab)]; /* it may come from another one */
	spin_lock_irqsave_l(&n->lock, flags, "slab_refill");
	node_add_slab_locked(n, slab);
	got = node_take_locked(c, n, want, chain);
	irq_work(got);
	spin_unlock_irqrestore_l(&n->lock, flags, "slab_refill");
	return got;
}

/* Puts a chain on this CPU's list if it may lie there, else back. => preemption on. */
static void keep_chain(struct slab_cache *c, void *chain)
{
	while (chain) {
		void *next = *slab_link(c, chain);
		struct page *slab = page_head(virt_to_page(chain));
		struct slab_cpu *sc;

		preempt_disable();
		if (page_node(slab) == this_cpu_read(slab_local_nid)) {
			sc = this_cpu_ptr(c->cpu);
			*slab_link(c, chain) = sc->head;
			sc->head = chain;
			sc->room--;
			preempt_enable();
		} else {
			preempt_enable();
			slab_free_slow(c, chain, slab);
		}
		chain = next;
	}
}

static __always_inline void *clear(struct slab_cache *c, void *obj, gfp_t gfp)
{
	return gfp & __GFP_ZERO && obj ? memset(obj, 0, c->obj_size) : obj;
}

void *slab_alloc_slow(struct slab_cache *c, gfp_t gfp, int node)
{
	bool irq = in_interrupt();
	int local = this_cpu_read(slab_local_nid);
	void *chain, *obj;
	u32 want = irq || (node >= 0 && node != local) ? 1 : c->batch;

	if (node < 0)
		node = local < 0 ? 0 : local;
	if (!node_get(c, gfp, node, want, &chain))
		return NULL;
	obj = chain;
	chain = *slab_link(c, obj);
	if (chain)
		keep_chain(c, chain);
	slab_debug_alloc(c, obj);
	return clear(c, obj, gfp);
}

void slab_free_slow(struct slab_cache *c, void *obj, struct page *slab)
{
	struct slab_node *n = &c->node[page_node(slab)];
	unsigned long flags;
	LIST_HEAD(dead);

	spin_lock_irqsave_l(&n->lock, flags, "slab_free");
	node_put_locked(c, n, slab, obj, &dead);
	spin_unlock_irqrestore_l(&n->lock, flags, "slab_free");
	if (unlikely(!list_empty(&dead)))
		slabs_destroy(c, &dead);
}

/* One batch of this CPU's objects back to their slabs. => preemption off. */
static void flush_batch(struct slab_cache *c, struct slab_cpu *sc, u32 nr)
{
	struct slab_node *n = &c->node[this_cpu_read(slab_local_nid)];
	unsigned long flags;
	LIST_HEAD(dead);
	u32 i;

	spin_lock_irqsave_l(&n->lock, flags, "slab_flush");
	for (i = 0; i < nr && sc->head; i++) {
		void *obj = sc->head;

		sc->head = *slab_link(c, obj);
		node_put_locked(c, n, page_head(virt_to_page(obj)), obj, &dead);
	}
	sc->room += i;
	irq_work(i);
	spin_unlock_irqrestore_l(&n->lock, flags, "slab_flush");
	slabs_destroy(c, &dead);
}

void *slab_alloc_fallback(struct slab_cache *c, gfp_t gfp)
{
	return slab_alloc_slow(c, gfp, -1);
}

void *slab_reschedule(void *obj)
{
	preempt_schedule();
	return obj;
}

/* This CPU's list is full, the object is of another node, or this is an interrupt. */
void slab_free_fallback(struct slab_cache *c, void *obj, struct page *slab)
{
	struct slab_cpu *sc;

	slab_debug_free(c, obj);
	if (in_interrupt()) {
		slab_free_slow(c, obj, slab);
		return;
	}
	preempt_disable();
	if (page_node(slab) == this_cpu_read(slab_local_nid)) {
		sc = this_cpu_ptr(c->cpu);
		*slab_link(c, obj) = sc->head;
		sc->head = obj;
		if (--sc->room < 0)
			flush_batch(c, sc, c->batch);
		preempt_enable();
	} else {
		preempt_enable();
		slab_free_slow(c, obj, slab);
	}
}

static __always_inline void *alloc_plain(struct slab_cache *c, gfp_t gfp)
{
	return SLAB_ALLOC(c, gfp, slab_link);
}

void *slab_alloc(struct slab_cache *c, gfp_t gfp)
{
	return likely(!(gfp & __GFP_ZERO)) ? alloc_plain(c, gfp)
					   : clear(c, alloc_plain(c, gfp & ~__GFP_ZERO), gfp);
}

void slab_free(struct slab_cache *c, void *obj)
{
	struct page *slab = page_head(virt_to_page(obj));

	ASSERT(page_test(slab, PG_slab) && slab->slab_cache == c);
	SLAB_FREE(c, obj, slab, slab_link);
}

/* ---- caches ---- */

static void drain_here(void *arg)
{
	struct slab_cache *c = arg;

	preempt_disable();
	while (this_cpu_ptr(c->cpu)->head)
		flush_batch(c, this_cpu_ptr(c->cpu), SLAB_BATCH);
	preempt_enable();
}

static void drain_all_here(void *unused)
{
	for (struct slab_cache *c = slab_caches; c; c = c->next)
		drain_here(c);
}

/*
 * An empty slab off its list, or NULL. Empty ones stand at the tail, or were just made at the head.
 */
static struct page *node_take_empty_locked(struct slab_node *n)
{
	struct page *slab = list_last_entry_or_null(&n->partial, struct page, lru);

	if (slab && slab->slab_inuse)
		slab = list_first_entry(&n->partial, struct page, lru);
	if (!slab || slab->slab_inuse)
		return NULL;
	__list_del(&slab->lru);
	n->nr_partial--;
	n->nr_empty--;
	n->nr_slabs--;
	n->nr_objects -= slab->slab_objects;
	n->nr_free -= slab->slab_objects;
	return slab;
}

static unsigned long free_empty(struct slab_cache *c)
{
	unsigned long pages = 0, flags;

	for (int i = 0; i < nr_nodes; i++) {
		struct slab_node *n = &c->node[i];
		struct page *slab;
		LIST_HEAD(dead);

		do {
			spin_lock_irqsave_l(&n->lock, flags, "slab_shrink");
			slab = node_take_empty_locked(n);
			spin_unlock_irqrestore_l(&n->lock, flags, "slab_shrink");
			if (slab)
				list_add(&slab->lru, &dead);
		} while (slab);
		pages += slabs_destroy(c, &dead);
	}
	return pages;
}

unsigned long slab_shrink(struct slab_cache *c)
{
	visit_cpus(drain_here, c);
	return free_empty(c);
}

unsigned long slab_free_empty(void)
{
	unsigned long pages = 0;

	for (struct slab_cache *c = slab_caches; c; c = c->next)
		pages += free_empty(c);
	return pages;
}

unsigned long slab_shrink_all(void)
{
	visit_cpus(drain_all_here, NULL);
	return slab_free_empty();
}

unsigned long slab_nr_objects(struct slab_cache *c)
{
	long used = 0;
	u32 cpu;

	for (int i = 0; i < nr_nodes; i++)
		used += (long)(c->node[i].nr_objects - c->node[i].nr_free);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		used -= (long)c->limit - (long)per_cpu(slab_cpus, cpu)[c->id].room;
	return used < 0 ? 0 : (unsigned long)used;
}

/*
 * Frames per slab: the smallest order that holds eight objects and wastes at most an eighth, at
 * most order 3.
 */
static u32 choose_order(u32 stride)
{
	u32 order = 0;

	while (order < 3 && ((PAGE_SIZE << order) < 8ul * stride ||
			     (PAGE_SIZE << order) % stride > (PAGE_SIZE << order) / 8))
		order++;
	return order;
}

static void choose_layout(struct slab_cache *c)
{
	u32 size = (u32)ALIGN_UP(max(c->obj_size, 8u), 8u);
	bool outside = c->ctor || (c->flags & SLAB_TYPESAFE_RCU);

#ifdef QUIRE_DEBUG
	size += 8; /* red zone */
	outside = true;
#endif
	c->free_off = outside ? size : 0;
	c->stride = ALIGN_UP(size + (outside ? 8 : 0), c->align);
	c->order = choose_order(c->stride);
	c->per_slab = (u32)((PAGE_SIZE << c->order) / c->stride);
	/* A CPU keeps at most about four pages of one kind. */
	c->batch = (u32)clamp(2 * PAGE_SIZE / c->stride, 2ul, (unsigned long)SLAB_BATCH);
	c->limit = 2 * c->batch;
}

/* Caches live for ever, so their memory comes from a page that is never given back. */
static void *forever(size_t bytes)
{
	static char *at, *end;
	void *p;

	bytes = ALIGN_UP(bytes, 64);
	if (at == NULL || at + bytes > end) {
		at = get_free_page(GFP_KERNEL | __GFP_ZERO);
		if (!at)
			return NULL;
		end = at + PAGE_SIZE;
	}
	p = at;
	at += bytes;
	return p;
}

struct slab_cache *slab_create(const char *name, size_t size, size_t align, unsigned int flags,
			       void (*ctor)(void *))
{
	struct slab_cache *c;

	BUG_ON(size > 16384 || (align & (align - 1)));
	BUG_ON(nr_caches == SLAB_MAX_CACHES);
	c = forever(sizeof(*c) + (size_t)nr_nodes * sizeof(struct slab_node));
	if (!c)
		return NULL;
	c->name = name;
	c->obj_size = (u32)size;
	c->align = max_t(u32, align, flags & SLAB_HWALIGN ? 64 : 8);
	c->flags = flags;
	c->ctor = ctor;
	c->gfp = flags & SLAB_RECLAIMABLE ? __GFP_RECLAIMABLE : 0;
	choose_layout(c);
	for (int i = 0; i < nr_nodes; i++) {
		spin_lock_init(&c->node[i].lock, RANK_SLAB, name);
		list_init(&c->node[i].partial);
		list_init(&c->node[i].full);
	}
	spin_lock(&cache_list_lock);
	c->id = nr_caches++;
	c->cpu = &slab_cpus[c->id];
	for (u32 cpu = 0; cpu < max(nr_possible_cpus, 1u); cpu++)
		per_cpu(slab_cpus, cpu)[c->id].room = c->limit;
	c->next = slab_caches;
	smp_store_release(&slab_caches, c);
	spin_unlock(&cache_list_lock);
	return c;
}
