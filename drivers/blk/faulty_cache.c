// SPDX-License-Identifier: BSD-2-Clause
/*
 * faulty_cache.c - the volatile write cache of a faulty disk.
 *
 * Problem: a file system is right only if what it promised survives a power cut, and a cut shows
 * what a disk's cache can do: keep any part of what was not flushed and lose the rest. Killing an
 * emulator shows nothing of that. Idea: writes end in memory; a flush (or FUA) carries them to the
 * medium; when the device freezes, a seeded choice among the sectors that were not flushed
 * reaches the medium and the rest never existed.
 *
 *   medium after a cut = what was flushed + any subset of the later versions
 *
 * A disk may also have written an older version of a sector before a newer one replaced it in the
 * cache: with the chance `destage` a sector that is written again goes to the medium first.
 * The unit that is kept or lost is one sector, or with unit=8 an aligned 4 KiB (a disk whose
 * physical sector that is).
 *
 * Everything here is serialised by cache_mutex, reads of cached data included: exactness is the
 * point, not speed. Pages come with GFP_NOIO; without one the write goes through to the medium.
 */
#include "drivers/blk/faulty.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/phys/page_alloc.h"

#define PAGE_SECTORS 8u
#define CACHE_PAGES_MAX 16384u /* 64 MiB; then everything is written, which a disk may do */

static u8 mask_of(u32 offset, u32 bytes)
{
	return ((1u << (bytes >> SECTOR_SHIFT)) - 1) << (offset >> SECTOR_SHIFT);
}

static u8 piece_mask(const struct bio_piece *p)
{
	return mask_of((p->sector % PAGE_SECTORS) << SECTOR_SHIFT, p->v.len);
}

static struct page *cached(struct faulty *f, u64 sector)
{
	return xa_load(&f->cache, sector / PAGE_SECTORS);
}

static void clean(const struct bio_vec *v)
{
	v->page->private &= ~(unsigned long)mask_of(v->off, v->len);
}

/* The sectors of mask as runs. */
static void run_add_mask(struct faulty_run *run, unsigned long index, struct page *page, u8 mask)
{
	for (u32 i = 0; i < PAGE_SECTORS; i++) {
		u32 from = i;

		while (i < PAGE_SECTORS && mask & 1u << i)
			i++;
		if (i > from)
			run_add(run, index * PAGE_SECTORS + from,
				(struct bio_vec){ .page = page,
						  .off = from << SECTOR_SHIFT,
						  .len = (i - from) << SECTOR_SHIFT });
	}
}

/* Pages without a dirty sector leave. */
static void drop_clean(struct faulty *f)
{
	unsigned long index = 0;
	struct page *page;

	for (; (page = xa_find(&f->cache, &index, ~0ul)); index++) {
		if (page->private)
			continue;
		xa_erase(&f->cache, index);
		f->cache_pages--;
		free_page(page);
		cond_resched();
	}
}

void cache_drop_all(struct faulty *f)
{
	unsigned long index = 0;
	struct page *page;

	mutex_lock(&f->cache_mutex);
	for (; (page = xa_find(&f->cache, &index, ~0ul)); index++)
		page->private = 0;
	drop_clean(f);
	mutex_unlock(&f->cache_mutex);
	xa_destroy(&f->cache);
}

static int write_all_locked(struct faulty *f)
{
	struct faulty_run run;
	unsigned long index = 0;
	struct page *page;
	int err;

	run_start(&run, f);
	run.sent = clean;
	for (; !run.refused && (page = xa_find(&f->cache, &index, ~0ul)); index++) {
		f->stats.flushed += hweight64(page->private);
		run_add_mask(&run, index, page, page->private);
	}
	err = run_finish(&run);
	drop_clean(f);
	return err;
}

int cache_flush(struct faulty *f)
{
	int err;

	mutex_lock(&f->cache_mutex);
	err = write_all_locked(f);
	if (!err)
		err = blk_flush(f->lower);
	if (!f->plan.cache && !f->cache_pages)
		WRITE_ONCE(f->caching, 0);
	mutex_unlock(&f->cache_mutex);
	return err;
}

/* The old versions of some of the sectors that are about to change go to the medium. */
static void destage(struct faulty *f, struct page *page, u64 sector, u8 mask)
{
	struct faulty_run run;
	u8 chosen = 0;

	for (u32 i = 0; i < PAGE_SECTORS; i += f->plan.unit) {
		u8 unit = ((1u << f->plan.unit) - 1) << i;

		if (mask & unit && faulty_chance(f, f->plan.destage))
			chosen |= mask & unit;
	}
	if (!chosen)
		return;
	run_start(&run, f);
	run_add_mask(&run, sector / PAGE_SECTORS, page, chosen);
	run_finish(&run);
	f->stats.destaged += hweight64(chosen);
}

static struct page *make_page(struct faulty *f, u64 sector)
{
	struct page *page = alloc_page(GFP_NOIO | __GFP_NOWARN | __GFP_NORETRY);

	if (!page)
		return NULL;
	page->private = 0;
	if (xa_store(&f->cache, sector / PAGE_SECTORS, page, GFP_NOIO)) {
		free_page(page);
		return NULL;
	}
	f->cache_pages++;
	return page;
}

/* Straight to the medium: FUA, or no memory. Older versions in the cache are void. */
static int write_through_locked(struct faulty *f, struct bio *bio)
{
	struct bio_piece p = { 0 };
	struct bio *below;
	int err;

	while (bio_next_piece(bio, &p)) {
		struct page *page = cached(f, p.sector);

		if (page)
			page->private &= ~(unsigned long)piece_mask(&p);
	}
	if (!faulty_may_write(f))
		return -ESHUTDOWN;
	below = bio_clone(bio, f->lower, bio->disk_sector, GFP_NOIO);
	if (!below)
		return -EIO;
	below->flags &= ~BIO_PREFLUSH;
	err = submit_bio_wait(below);
	bio_put(below);
	f->stats.write_through++;
	return err;
}

static int take_locked(struct faulty *f, struct bio *bio)
{
	struct bio_piece p = { 0 };

	while (bio_next_piece(bio, &p)) {
		struct page *page = cached(f, p.sector);
		u8 mask = piece_mask(&p);

		if (!page)
			page = make_page(f, p.sector);
		if (!page)
			return write_through_locked(f, bio);
		if (page->private & mask)
			destage(f, page, p.sector, page->private & mask);
		memcpy((char *)page_kmap(page) + (p.sector % PAGE_SECTORS << SECTOR_SHIFT),
		       bio_vec_addr(&p.v), p.v.len);
		page->private |= mask;
		f->stats.cached += p.v.len >> SECTOR_SHIFT;
	}
	return 0;
}

int cache_write(struct faulty *f, struct bio *bio)
{
	int err = 0;

	mutex_lock(&f->cache_mutex);
	if (READ_ONCE(f->frozen)) { /* while it waited for its turn */
		mutex_unlock(&f->cache_mutex);
		return -ESHUTDOWN;
	}
	WRITE_ONCE(f->caching, 1);
	if (bio->flags & BIO_PREFLUSH || f->cache_pages > CACHE_PAGES_MAX) {
		err = write_all_locked(f);
		if (!err)
			err = blk_flush(f->lower);
	}
	if (!err)
		err = bio->flags & BIO_FUA ? write_through_locked(f, bio) : take_locked(f, bio);
	mutex_unlock(&f->cache_mutex);
	return err;
}

static bool any_cached_locked(struct faulty *f, const struct bio *bio)
{
	struct bio_piece p = { 0 };

	while (bio_next_piece(bio, &p)) {
		struct page *page = cached(f, p.sector);

		if (page && page->private & piece_mask(&p))
			return true;
	}
	return false;
}

static void overlay_locked(struct faulty *f, const struct bio *bio)
{
	struct bio_piece p = { 0 };

	while (bio_next_piece(bio, &p)) {
		struct page *page = cached(f, p.sector);
		u32 first = p.sector % PAGE_SECTORS;

		for (u32 i = 0; page && i < p.v.len >> SECTOR_SHIFT; i++)
			if (page->private & 1u << (first + i))
				memcpy((char *)bio_vec_addr(&p.v) + (i << SECTOR_SHIFT),
				       (char *)page_kmap(page) + ((first + i) << SECTOR_SHIFT),
				       SECTOR_SIZE);
	}
}

int cache_read(struct faulty *f, struct bio *bio)
{
	struct bio *below;
	int err = 1;

	mutex_lock(&f->cache_mutex);
	if (any_cached_locked(f, bio)) {
		below = bio_clone(bio, f->lower, bio->disk_sector, GFP_NOIO);
		err = below ? submit_bio_wait(below) : -EIO;
		if (below)
			bio_put(below);
		if (!err)
			overlay_locked(f, bio);
	}
	mutex_unlock(&f->cache_mutex);
	return err;
}

int cache_power_cut(struct faulty *f)
{
	struct faulty_run run;
	unsigned long index = 0;
	struct page *page;
	int err;

	mutex_lock(&f->cache_mutex);
	run_start(&run, f);
	run.force = true;
	for (; (page = xa_find(&f->cache, &index, ~0ul)); index++) {
		u8 keep = 0, dirty = page->private;

		for (u32 i = 0; i < PAGE_SECTORS; i += f->plan.unit) {
			u8 unit = ((1u << f->plan.unit) - 1) << i;

			if (dirty & unit && faulty_chance(f, f->plan.keep))
				keep |= dirty & unit;
		}
		run_add_mask(&run, index, page, keep);
		f->stats.kept += hweight64(keep);
		f->stats.dropped += hweight64(dirty & ~keep);
	}
	err = run_finish(&run);
	index = 0;
	for (; (page = xa_find(&f->cache, &index, ~0ul)); index++)
		page->private = 0;
	drop_clean(f);
	if (!f->plan.cache)
		WRITE_ONCE(f->caching, 0);
	if (!err)
		err = blk_flush(f->lower);
	mutex_unlock(&f->cache_mutex);
	return err;
}
