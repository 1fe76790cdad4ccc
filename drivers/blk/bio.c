// SPDX-License-Identifier: BSD-2-Clause
/*
 * bio.c - memory for bios, with a reserve that makes writing out memory possible without memory.
 *
 * Problem: dirty pages are written to free memory; a bio is needed for that, and there may be no
 * memory for it. Idea: a few bios of every size class are made at boot. An allocation first asks
 * the slab without waiting; when that fails it takes one of the reserve, and when that is empty it
 * sleeps until a bio in flight comes back. Bios end by themselves (the device does it), so that
 * sleep ends.
 *
 * Each CPU keeps some of the bios it freed, up to STASH_MAX of the two small classes.
 *
 * Invariants: a class whose reserve is not full keeps the next bio that is put. Allocation never
 * waits for reclaim. Who allocates a second bio while holding one that is not submitted could wait
 * for himself: submit first.
 * Locking: reserve_lock, IRQs off (bios end in softirqs).
 * Source: the idea of a reserve behind an allocator is known from Linux's mempool; own code.
 */
#include "drivers/blk/internal.h"
#include "kernel/counter.h"
#include "kernel/printk.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"

struct bio_class {
	const char *name;
	u16 vecs, keep;
	u16 kept; /* in the reserve */
	struct bio *reserve;
	struct slab_cache *cache;
};
static struct bio_class classes[] = {
	{ .name = "bio-1", .vecs = 1, .keep = 32 },
	{ .name = "bio-16", .vecs = 16, .keep = 8 },
	{ .name = "bio-64", .vecs = 64, .keep = 4 },
	{ .name = "bio-256", .vecs = BIO_MAX_VECS, .keep = 4 },
};
/*
 * Bios of the two small classes that this CPU freed last. They are freed in softirqs, where the
 * slab has no list of the CPU to offer. Touched with IRQs off.
 */
#define STASH_CLASSES 2
#define STASH_MAX 32u
struct bio_stash {
	struct bio *first[STASH_CLASSES];
	u32 count[STASH_CLASSES];
};
static DEFINE_PER_CPU(struct bio_stash, bio_stash);

static DEFINE_SPINLOCK(reserve_lock, RANK_BLK);
static u32 missing; /* bios that the reserves lack; nonzero is the slow way */
static DEFINE_WAIT_QUEUE(reserve_wait);

COUNTER(bio_reserve_used, "bios taken from the reserve because there was no memory");
COUNTER(bio_reserve_waits, "sleeps because the reserve of bios was empty too");

static size_t class_bytes(const struct bio_class *c)
{
	return sizeof(struct bio) + c->vecs * sizeof(struct bio_vec);
}

static struct bio *reserve_take(struct bio_class *c)
{
	unsigned long flags;
	struct bio *bio;

	spin_lock_irqsave(&reserve_lock, flags);
	bio = c->reserve;
	if (bio) {
		c->reserve = bio->next;
		c->kept--;
		missing++;
	}
	spin_unlock_irqrestore(&reserve_lock, flags);
	return bio;
}

static bool reserve_give(struct bio_class *c, struct bio *bio)
{
	unsigned long flags;
	bool taken = false;

	spin_lock_irqsave(&reserve_lock, flags);
	if (c->kept < c->keep) {
		bio->next = c->reserve;
		c->reserve = bio;
		c->kept++;
		missing--;
		taken = true;
	}
	spin_unlock_irqrestore(&reserve_lock, flags);
	if (taken && wait_queue_active(&reserve_wait))
		wake_up_all(&reserve_wait);
	return taken;
}

static __always_inline struct bio *stash_take(u32 class)
{
	struct bio_stash *s;
	unsigned long flags;
	struct bio *bio;

	local_irq_save_l(flags, "bio_stash");
	s = this_cpu_ptr(&bio_stash);
	bio = s->first[class];
	if (bio) {
		s->first[class] = bio->next;
		s->count[class]--;
	}
	local_irq_restore_l(flags, "bio_stash");
	return bio;
}

static __always_inline bool stash_give(u32 class, struct bio *bio)
{
	struct bio_stash *s;
	unsigned long flags;
	bool taken;

	local_irq_save_l(flags, "bio_stash");
	s = this_cpu_ptr(&bio_stash);
	taken = s->count[class] < STASH_MAX;
	if (taken) {
		bio->next = s->first[class];
		s->first[class] = bio;
		s->count[class]++;
	}
	local_irq_restore_l(flags, "bio_stash");
	return taken;
}

static noinline struct bio *alloc_slow(struct bio_class *c, gfp_t gfp)
{
	struct bio *bio;
	u8 iowait;

	if (!(gfp & __GFP_DIRECT_RECLAIM))
		return NULL;
	bio = reserve_take(c);
	if (!bio) {
		count(bio_reserve_waits);
		iowait = current->in_iowait;
		current->in_iowait = 1;
		wait_event(&reserve_wait,
			   (bio = reserve_take(c)) ||
				   (bio = slab_alloc(c->cache, GFP_NOWAIT | __GFP_NOWARN)));
		current->in_iowait = iowait;
	}
	count(bio_reserve_used);
	return bio;
}

struct bio *bio_alloc(struct blk_part *part, enum bio_op op, u64 sector, unsigned int nr_vecs,
		      gfp_t gfp)
{
	struct bio_class *c = classes;
	struct bio *bio = NULL;

	ASSERT(nr_vecs <= BIO_MAX_VECS);
	while (c->vecs < nr_vecs)
		c++;
	if (c < classes + STASH_CLASSES)
		bio = stash_take(c - classes);
	if (unlikely(!bio))
		bio = slab_alloc(c->cache,
				 (gfp & ~(__GFP_DIRECT_RECLAIM | __GFP_ZERO)) | __GFP_NOWARN);
	if (unlikely(!bio)) {
		bio = alloc_slow(c, gfp);
		if (!bio)
			return NULL;
	}
	bio->part = part;
	bio->sector = sector;
	bio->bytes = 0;
	bio->op = op;
	bio->flags = 0;
	bio->nr_vecs = 0;
	bio->max_vecs = c->vecs;
	bio->size_class = c - classes;
	bio->state = 0;
	bio->error = 0;
	bio->end_io = NULL;
	bio->private = NULL;
	bio->next = NULL;
	bio->tid = current->tid;
	bio->vecs = bio->inline_vecs;
	return bio;
}

void bio_put(struct bio *bio)
{
	struct bio_class *c = &classes[bio->size_class];

	if (unlikely(READ_ONCE(missing)) && reserve_give(c, bio))
		return;
	if (bio->size_class < STASH_CLASSES && stash_give(bio->size_class, bio))
		return;
	slab_free(c->cache, bio);
}

struct bio *bio_clone(const struct bio *bio, struct blk_part *part, u64 sector, gfp_t gfp)
{
	struct bio *clone = bio_alloc(part, bio->op, sector, 0, gfp);

	if (!clone)
		return NULL;
	clone->bytes = bio->bytes;
	clone->flags = bio->flags;
	clone->vecs = bio->vecs;
	clone->nr_vecs = bio->nr_vecs;
	clone->max_vecs = bio->nr_vecs;
	clone->tid = bio->tid;
	return clone;
}

static __always_inline bool add_vec(struct bio *bio, struct page *page, void *addr,
				    unsigned int off, unsigned int len)
{
	const struct disk_limits *l = &bio->part->disk->limits;
	struct bio_vec *v;

	if (bio->nr_vecs >= bio->max_vecs || bio->nr_vecs >= l->max_segments ||
	    bio->bytes + len > l->max_sectors << SECTOR_SHIFT || len > l->max_segment_bytes)
		return false;
	v = &bio->vecs[bio->nr_vecs++];
	v->page = page;
	v->addr = addr;
	v->off = off;
	v->len = len;
	bio->bytes += len;
	return true;
}

bool bio_add_page(struct bio *bio, struct page *page, unsigned int off, unsigned int len)
{
	return add_vec(bio, page, NULL, off, len);
}

bool bio_add_memory(struct bio *bio, void *addr, unsigned int len)
{
	return add_vec(bio, NULL, addr, 0, len);
}

void bio_init_caches(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		struct bio_class *c = &classes[i];

		c->cache = slab_create(c->name, class_bytes(c), 0, 0, NULL);
		if (!c->cache)
			panic("blk: no memory for the cache %s", c->name);
		missing += c->keep;
		for (u32 n = c->keep; n; n--) {
			struct bio *bio = slab_alloc(c->cache, GFP_KERNEL);

			if (!bio)
				break; /* the first that are put fill it up */
			reserve_give(c, bio);
		}
	}
}
