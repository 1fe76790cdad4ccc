// SPDX-License-Identifier: BSD-2-Clause
/*
 * bdevmap.c - the pages of a block device: how they are read and written.
 *
 * Problem: blocks of metadata (512 bytes to a page) and blocks of file data lie side by side on the
 * disk, but file data is cached in the pages of its file. If a whole page of the device were
 * written because one block of it changed, old bytes would go over its neighbours. Idea: the page
 * knows its dirty sectors (page->private, see blkdev_internal.h); each run of them is one piece of
 * a bio, and pieces that follow each other on the disk share a bio.
 *
 *   page 7: [. . D D . . . D]   page 8: [D D D D D D D D]
 *                 run 1    `---------------- run 2 -----'
 *
 * A page that is dirty without any sector marked was dirtied as a whole: write(2) to /dev/vda, or a
 * store through mmap. Marking sectors and taking the marks both happen under the page lock, so the
 * two kinds cannot be mistaken for each other. The marks of sectors under way stay until the last
 * of the page's bios has ended: whoever frees a block waits for these alone.
 *
 * The end of a device need not be the end of a page: sectors behind it read as zero and are never
 * written.
 */
#include "fs/blkdev_internal.h"
#include "fs/direct.h"
#include "fs/internal.h"
#include "mm/cache/writeback.h"

#define PAGE_SECTORS (PAGE_SIZE / SECTOR_SIZE)
#define WRITE_VECS 64u /* pieces gathered in one bio */

static struct bdev *bdev_of(const struct mapping *m)
{
	return ((struct inode *)m->owner)->private;
}

/* Sectors of this page that the device has. */
static u32 sectors_in_page(const struct mapping *m, unsigned long index)
{
	u64 size = READ_ONCE(m->size), pos = (u64)index << PAGE_SHIFT;

	return pos >= size ? 0 : min_t(u64, PAGE_SECTORS, (size - pos) >> SECTOR_SHIFT);
}

/* ---- reading ---- */
static void read_end(struct bio *bio)
{
	for (u32 i = 0; i < bio->nr_vecs; i++) {
		struct page *page = bio->vecs[i].page;

		if (likely(!bio->error))
			page_set(page, PG_uptodate);
		else if (!(bio->flags & BIO_RAHEAD))
			page_set(page, PG_error);
		page_unlock(page);
	}
	bio_put(bio);
}

/* What lies behind the end of the device is zero. => number of sectors to read */
static u32 prepare_read(struct mapping *m, struct page *page)
{
	u32 n = sectors_in_page(m, page->index);
	char *va;

	page_clear(page, PG_error);
	if (n == PAGE_SECTORS)
		return n;
	va = page_kmap(page);
	memset(va + n * SECTOR_SIZE, 0, PAGE_SIZE - n * SECTOR_SIZE);
	page_kunmap(va);
	if (!n) {
		page_set(page, PG_uptodate);
		page_unlock(page);
	}
	return n;
}

static struct bio *read_bio(struct mapping *m, unsigned long index, u32 nr, u32 flags)
{
	struct bio *bio = bio_alloc(bdev_of(m)->part, BIO_READ, (u64)index * PAGE_SECTORS, nr,
				    flags & BIO_RAHEAD ? GFP_NOWAIT | __GFP_NOWARN : GFP_NOFS);

	if (bio) {
		bio->flags = flags | BIO_META;
		bio->end_io = read_end;
	}
	return bio;
}

static int read_page(struct mapping *m, struct page *page)
{
	u32 n = prepare_read(m, page);
	struct bio *bio;

	if (!n)
		return 0;
	bio = read_bio(m, page->index, 1, BIO_SYNC);
	if (!bio) {
		page_unlock(page);
		return -ENOMEM;
	}
	bio_add_page(bio, page, 0, n * SECTOR_SIZE);
	submit_bio(bio);
	return 0;
}

static void read_pages(struct mapping *m, struct page **pages, unsigned int nr)
{
	struct bio *bio = NULL;

	for (unsigned int i = 0; i < nr; i++) {
		u32 n = prepare_read(m, pages[i]);

		if (!n)
			continue;
		if (bio && !bio_add_page(bio, pages[i], 0, n * SECTOR_SIZE)) {
			submit_bio(bio);
			bio = NULL;
		} else if (bio) {
			continue;
		}
		bio = read_bio(m, pages[i]->index, min(nr - i, BIO_MAX_VECS), BIO_RAHEAD);
		if (bio)
			bio_add_page(bio, pages[i], 0, n * SECTOR_SIZE);
		else
			page_unlock(pages[i]); /* read when it is wanted */
	}
	if (bio)
		submit_bio(bio);
}

/* ---- writing ---- */
static void piece_end(struct page *page, int error)
{
	unsigned long v;

	if (unlikely(error))
		__atomic_fetch_or(&page->private, BP_ERROR, __ATOMIC_RELAXED);
	v = __atomic_sub_fetch(&page->private, BP_BIO, __ATOMIC_ACQ_REL);
	if (v & BP_BIOS)
		return;
	__atomic_fetch_and(&page->private, ~(BP_FLIGHT | BP_ERROR), __ATOMIC_RELEASE);
	pagecache_end_writeback(page, v & BP_ERROR ? -EIO : 0);
}

static void write_end(struct bio *bio)
{
	for (u32 i = 0; i < bio->nr_vecs; i++)
		piece_end(bio->vecs[i].page, bio->error);
	bio_put(bio);
}

/* Widened to what the device writes at once: whole logical blocks. */
static unsigned long whole_blocks(const struct mapping *m, unsigned long mask)
{
	u32 step = bdev_of(m)->part->disk->limits.logical_block >> SECTOR_SHIFT;
	unsigned long block = (1ul << step) - 1, out = 0;

	if (likely(step == 1))
		return mask;
	for (u32 i = 0; i < PAGE_SECTORS; i += step)
		if (mask >> i & block)
			out |= block << i;
	return out;
}

/* The marks of a page that is about to be written. => page locked; 0: nothing to write */
static unsigned long take_dirty(struct mapping *m, struct page *page)
{
	unsigned long valid = (1ul << sectors_in_page(m, page->index)) - 1, dirty = 0;

	if (page_test(page, PG_private))
		dirty = __atomic_fetch_and(&page->private, ~BP_DIRTY, __ATOMIC_RELAXED) & BP_DIRTY;
	return whole_blocks(m, dirty ? dirty : BP_DIRTY) & valid;
}

/* One run of sectors: behind what *gather holds, or a new bio in its place. */
static void write_run(struct mapping *m, struct page *page, u32 first, u32 nr,
		      struct writeback_control *wbc, struct bio **gather)
{
	u64 sector = (u64)page->index * PAGE_SECTORS + first;
	struct bio *bio = *gather;

	if (bio && bio->sector + (bio->bytes >> SECTOR_SHIFT) == sector &&
	    bio_add_page(bio, page, first * SECTOR_SIZE, nr * SECTOR_SIZE))
		return;
	if (bio)
		submit_bio(bio); /* before asking for another: the reserve may be one */
	bio = bio_alloc(bdev_of(m)->part, BIO_WRITE, sector, WRITE_VECS, GFP_NOFS);
	bio->flags = BIO_META | (wbc->sync == WB_SYNC_ALL ? BIO_SYNC : 0);
	bio->end_io = write_end;
	bio_add_page(bio, page, first * SECTOR_SIZE, nr * SECTOR_SIZE);
	*gather = bio;
}

static u32 count_runs(unsigned long mask)
{
	unsigned long starts = mask & ~(mask << 1);
	u32 n = 0;

	for (; starts; starts &= starts - 1)
		n++;
	return n;
}

static void write_runs(struct mapping *m, struct page *page, unsigned long mask,
		       struct writeback_control *wbc, struct bio **gather)
{
	while (mask) {
		u32 first = __builtin_ctzl(mask), nr = __builtin_ctzl(~(mask >> first));

		mask &= ~(((1ul << nr) - 1) << first);
		write_run(m, page, first, nr, wbc, gather);
	}
}

static int write_page(struct mapping *m, struct page *page, struct writeback_control *wbc)
{
	unsigned long mask = take_dirty(m, page);
	struct bio *own = NULL, **gather = wbc->fs ? wbc->fs : &own;

	if (unlikely(!mask)) { /* all of it lies behind the end by now */
		page_unlock(page);
		return 0;
	}
	page_set(page, PG_private);
	__atomic_fetch_or(&page->private, mask << BP_FLIGHT_SHIFT | count_runs(mask) * BP_BIO,
			  __ATOMIC_RELAXED);
	page_start_writeback(page);
	page_unlock(page);
	write_runs(m, page, mask, wbc, gather);
	if (own)
		submit_bio(own);
	return 0;
}

static int write_pages(struct mapping *m, struct writeback_control *wbc)
{
	struct bio *gather = NULL;
	struct blk_plug plug;
	void *outer = wbc->fs;
	int err;

	wbc->fs = &gather;
	blk_plug_start(&plug);
	err = mapping_write_generic(m, wbc, write_page);
	if (gather)
		submit_bio(gather);
	blk_plug_finish(&plug);
	wbc->fs = outer;
	return err;
}

/* ---- who changes pages without knowing of sectors ---- */

/*
 * write(2): a page that is dirty as a whole stays so; else its sectors are marked. A page not
 * cached yet comes in clean and will be dirty as a whole.
 */
static int write_begin(struct mapping *m, struct page *page, u64 pos, size_t n, bool *homed)
{
	u32 first, last;

	if (!page)
		return 0;
	if (page_test(page, PG_dirty) &&
	    !(page_test(page, PG_private) && (READ_ONCE(page->private) & BP_DIRTY)))
		return 0;
	first = offset_in_page(pos) >> SECTOR_SHIFT;
	last = (offset_in_page(pos) + n - 1) >> SECTOR_SHIFT;
	page_set(page, PG_private);
	__atomic_fetch_or(&page->private, (2ul << last) - (1ul << first), __ATOMIC_RELAXED);
	return 0;
}

static int page_mkwrite(struct mapping *m, struct page *page)
{
	page_set(page, PG_private);
	__atomic_fetch_or(&page->private, BP_DIRTY, __ATOMIC_RELAXED);
	pagecache_set_dirty(page);
	return 0;
}

static void page_gone(struct mapping *m, struct page *page)
{
	page->private = 0;
	page_clear(page, PG_private);
}

static void hold(struct mapping *m)
{
	inode_get(m->owner);
}

static void release(struct mapping *m)
{
	inode_put(m->owner);
}

/* A device has no holes: bytes lie where they lie. */
static int direct_map(struct mapping *m, u64 pos, u64 len, struct dio_extent *out)
{
	out->part = bdev_of(m)->part;
	out->sector = pos >> SECTOR_SHIFT;
	out->bytes = len;
	out->hole = false;
	return 0;
}

const struct mapping_ops bdev_mapping_ops = {
	.read_page = read_page,
	.read_pages = read_pages,
	.write_begin = write_begin,
	.write_page = write_page,
	.write_pages = write_pages,
	.hold = hold,
	.release = release,
	.page_gone = page_gone,
	.page_mkwrite = page_mkwrite,
	.direct_map = direct_map,
};
