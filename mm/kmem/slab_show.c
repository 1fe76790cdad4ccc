/* SPDX-License-Identifier: BSD-2-Clause */
/* slab_show.c - shrinkers, /proc/slabinfo and the slab validator. */
#include "arch/smp.h"
#include "kernel/event.h"
#include "kernel/show.h"
#include "lib/string.h"
#include "mm/debug/check.h"
#include "mm/kmem/slab_internal.h"
#include "mm/kmem/vmalloc_internal.h"
#include "mm/reclaim/events.h"
#include "sched/mutex.h"

DEFINE_EVENT(
	vmscan, mm_shrink_slab_start,
	"%s %lx: objects to shrink %ld gfp_flags %s pgs_scanned %ld lru_pgs %ld cache items %ld "
	"delta %ld total_scan %ld",
	"shrink", "shr", "nr_objects_to_shrink", "gfp_flags", "pgs_scanned", "lru_pgs",
	"cache_items", "delta", "total_scan");
DEFINE_EVENT(vmscan, mm_shrink_slab_end,
	     "%s %lx: unused scan count %ld new scan count %ld total_scan %ld last shrinker return "
	     "val %ld",
	     "shrink", "shr", "unused_scan", "new_scan", "total_scan", "retval");

/* ---- shrinkers ---- */

LIST_HEAD(shrinkers); /* (shrinker_mutex; at boot nobody else is there) */
static DEFINE_MUTEX(shrinker_mutex, RANK_NONE);

void shrinker_register(struct shrinker *s)
{
	mutex_lock(&shrinker_mutex);
	list_add_tail(&s->node, &shrinkers);
	mutex_unlock(&shrinker_mutex);
}

#define SHRINK_BATCH 128u
/* Pages that count as scanned when none were: there may be objects alone. */
#define SHRINK_LEAST 32u

/* Pages of files go with inodes: whose work was it? */
static void shrink_begin(struct reclaim_state *rs)
{
	*rs = (struct reclaim_state){ 0 };
	current->reclaim_state = rs;
}

static void shrink_end(struct reclaim_state *rs)
{
	current->reclaim_state = NULL;
	if (!rs->inode_pages)
		return;
	if (current->flags & TF_KSWAPD)
		count_vm_events(KSWAPD_INODESTEAL, rs->inode_pages);
	else
		count_vm_events(PGINODESTEAL, rs->inode_pages);
}

unsigned long shrink_slab_all(unsigned long nr_each)
{
	unsigned long freed = 0;
	struct reclaim_state rs;
	struct shrinker *s;

	if (!mutex_trylock(&shrinker_mutex))
		return 0; /* somebody is at it, perhaps we ourselves further up */
	shrink_begin(&rs);
	list_for_each_entry(s, &shrinkers, node) {
		unsigned long n = min(s->count(s), nr_each);

		count_vm_events(SLABS_SCANNED, s->batch ? 0 : ALIGN_UP(n, SHRINK_BATCH));
		if (n)
			freed += s->scan(s, n);
	}
	shrink_end(&rs);
	mutex_unlock(&shrinker_mutex);
	slab_shrink_all();
	return freed;
}

static noinline void trace_shrink(const struct shrinker *s, unsigned long scanned,
				  unsigned long lru_pages, unsigned long have, unsigned long delta,
				  unsigned long total)
{
	trace_event(mm_shrink_slab_start, (u64)s->name, (u64)s, s->deferred,
		    (u64)gfp_text(GFP_KERNEL), scanned, lru_pages, have, delta, total);
}

/*
 * Objects are taken to cost two pages' reading each, so twice the share of the pages that were
 * scanned is asked for; what is less than a batch waits for the next time. An avalanche after many
 * small rounds is cut to half of what there is.
 */
static unsigned long shrink_one(struct shrinker *s, unsigned long scanned, unsigned long lru_pages)
{
	unsigned long have = s->count(s), freed = 0, delta, total, left;
	unsigned long batch = s->batch ? s->batch : SHRINK_BATCH;

	if (!have)
		return 0;
	delta = 2 * scanned * have / (lru_pages + 1);
	total = s->deferred + delta;
	if (delta < have / 4)
		total = min(total, have / 2);
	total = min(total, 2 * have);
	left = total;
	if (unlikely(event_mm_shrink_slab_start.enabled))
		trace_shrink(s, scanned, lru_pages, have, delta, total);
	for (; total >= batch; total -= batch) {
		if (!s->batch)
			count_vm_events(SLABS_SCANNED, batch);
		freed += s->scan(s, batch);
		cond_resched();
	}
	trace_event(mm_shrink_slab_end, (u64)s->name, (u64)s, s->deferred, total, left - total,
		    freed);
	s->deferred = total;
	return freed;
}

unsigned long shrink_slab(unsigned long scanned, unsigned long lru_pages, unsigned long *pages)
{
	unsigned long freed = 0;
	struct reclaim_state rs;
	struct shrinker *s;

	if (!mutex_trylock(&shrinker_mutex))
		return 0;
	shrink_begin(&rs);
	list_for_each_entry(s, &shrinkers, node)
		freed += shrink_one(s, scanned ? scanned : SHRINK_LEAST, lru_pages);
	shrink_end(&rs);
	mutex_unlock(&shrinker_mutex);
	*pages += rs.inode_pages;
	if (freed)
		*pages += slab_free_empty();
	return freed;
}

/* ---- /proc/slabinfo ---- */

static int slabinfo_show(struct seq *seq)
{
	seq_puts(seq, "slabinfo - version: 2.1\n");
	seq_puts(
		seq,
		"# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>");
	seq_puts(seq, " : tunables <limit> <batchcount> <sharedfactor>");
	seq_puts(seq, " : slabdata <active_slabs> <num_slabs> <sharedavail>\n");
	for (struct slab_cache *c = slab_caches; c; c = c->next) {
		unsigned long slabs = 0, objects = 0, empty = 0;

		for (int i = 0; i < nr_nodes; i++) {
			slabs += c->node[i].nr_slabs;
			objects += c->node[i].nr_objects;
			empty += c->node[i].nr_empty;
		}
		seq_printf(seq,
			   "%-17s %6lu %6lu %6u %4u %4d : tunables %4u %4u %4u : slabdata %6lu "
			   "%6lu %6lu\n",
			   c->name, slab_nr_objects(c), objects, c->stride, c->per_slab,
			   1 << c->order, c->limit, c->batch, 0, slabs - empty, slabs, 0ul);
	}
	return 0;
}
SHOW("/proc/slabinfo", 0400, slabinfo_show, NULL);

/* ---- validator ---- */

/* Objects one section may look at: the rest of a longer chain is taken on trust. */
#define CHECK_OBJECTS 64

static const char *check_slab(const struct slab_cache *c, const struct page *slab, bool full,
			      u32 *budget)
{
	u32 chain = 0;
	void *o;

	if (!page_test(slab, PG_slab) || slab->slab_cache != c)
		return "a page on a slab list is no slab of this cache";
	if (full != (slab->slab_free == NULL))
		return "a slab is on the wrong list";
	for (o = slab->slab_free; o && *budget; o = *slab_link(c, o), (*budget)--) {
		if (page_head(virt_to_page(o)) != slab)
			return "a free chain leaves its slab";
		if (++chain > slab->slab_objects)
			return "a free chain is a circle";
	}
	if (!o && chain + slab->slab_inuse != slab->slab_objects)
		return "in use + free is not the number of objects";
	return NULL;
}

static const char *check_list(const struct slab_cache *c, const struct list_head *list, bool full)
{
	u32 budget = CHECK_OBJECTS, n = 0;
	const struct page *slab;

	list_for_each_entry(slab, list, lru) {
		const char *what;

		if (n++ == 32 || !budget)
			break;
		what = check_slab(c, slab, full, &budget);
		if (what)
			return what;
	}
	return NULL;
}

const char *slab_check(const char **cache)
{
	for (struct slab_cache *c = slab_caches; c; c = c->next)
		for (int i = 0; i < nr_nodes; i++) {
			struct slab_node *n = &c->node[i];
			unsigned long flags;
			const char *what;

			spin_lock_irqsave_l(&n->lock, flags, "slab_check");
			what = check_list(c, &n->partial, false);
			if (!what)
				what = check_list(c, &n->full, true);
			if (!what && n->nr_free > n->nr_objects)
				what = "more objects free than there are";
			spin_unlock_irqrestore_l(&n->lock, flags, "slab_check");
			if (what) {
				*cache = c->name;
				return what;
			}
		}
	return NULL;
}
