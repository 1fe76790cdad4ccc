// SPDX-License-Identifier: BSD-2-Clause
/*
 * bblock.c - blocks of metadata, cached in the pages of their device.
 *
 * A file system works on blocks: it reads one, looks or changes, says so, lets go. A cached block
 * costs a lookup in the index of pages and two flags: it is on the way of every name and every
 * allocation. There is no object per block: page and offset are the block, the sectors' marks of
 * the page (bdevmap.c) are its state.
 *
 * Locking: the content of a block belongs to the file system's own locks. Marks change under the
 * page lock; a block that is marked already is marked again without it: the change came before
 * the look at PG_dirty, so a writer that clears PG_dirty later sees the change too.
 */
#include "fs/blkdev_internal.h"
#include "fs/internal.h"
#include "mm/cache/writeback.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"

#define READAHEAD_BATCH 32u

static __always_inline void fill(struct bblock *out, struct bdev *bdev, u64 nr, u32 size, u64 pos,
				 struct page *page)
{
	out->bdev = bdev;
	out->page = page;
	out->data = (char *)page_kmap(page) + offset_in_page(pos);
	out->nr = nr;
	out->size = size;
}

static __always_inline bool in_device(const struct bdev *bdev, u64 nr, u32 size)
{
	return likely(nr < READ_ONCE(bdev->mapping->size) >> __builtin_ctz(size));
}

static noinline int read_slow(struct bdev *bdev, u64 nr, u32 size, struct bblock *out)
{
	u64 pos = nr * size;
	struct page *page = pagecache_get(bdev->mapping, pos >> PAGE_SHIFT, 0);

	if (IS_ERR_OR_NULL(page))
		return page ? PTR_ERR(page) : -EIO;
	page_mark_accessed(page);
	fill(out, bdev, nr, size, pos, page);
	return 0;
}

int bblock_read(struct bdev *bdev, u64 nr, u32 size, struct bblock *out)
{
	u64 pos = nr * size;
	struct page *page;

	out->page = NULL;
	if (!in_device(bdev, nr, size))
		return -EFBIG;
	page = pagecache_find(bdev->mapping, pos >> PAGE_SHIFT);
	if (unlikely(!page))
		return read_slow(bdev, nr, size, out);
	if (unlikely(!page_test(page, PG_uptodate))) {
		page_put(page);
		return read_slow(bdev, nr, size, out);
	}
	if (unlikely(~READ_ONCE(page->flags) & (BIT(PG_referenced) | BIT(PG_active))))
		page_mark_accessed(page);
	fill(out, bdev, nr, size, pos, page);
	return 0;
}

int bblock_new(struct bdev *bdev, u64 nr, u32 size, struct bblock *out)
{
	u64 pos = nr * size;
	bool whole = size == PAGE_SIZE;
	struct page *page;

	out->page = NULL;
	if (!in_device(bdev, nr, size))
		return -EFBIG;
	/* the rest of the page is read: it must be right when somebody looks at it */
	page = pagecache_get(bdev->mapping, pos >> PAGE_SHIFT,
			     whole ? PCG_CREATE | PCG_WRITE | PCG_LOCK : PCG_LOCK);
	if (IS_ERR_OR_NULL(page))
		return page ? PTR_ERR(page) : -EIO;
	fill(out, bdev, nr, size, pos, page);
	memset(out->data, 0, size);
	if (whole)
		page_set(page, PG_uptodate);
	page_unlock(page);
	return 0;
}

/* Sectors [first byte, last byte] of one page. */
static unsigned long sector_mask(u32 from, u32 to)
{
	return (2ul << (to >> SECTOR_SHIFT)) - (1ul << (from >> SECTOR_SHIFT));
}

static unsigned long bblock_mask(const struct bblock *b)
{
	u32 off = offset_in_page((unsigned long)b->data);

	return sector_mask(off, off + b->size - 1);
}

static noinline void dirty_slow(struct bblock *b, unsigned long mask)
{
	struct page *page = b->page;
	bool dirty;

	page_lock(page);
	if (unlikely(page->mapping != b->bdev->mapping)) { /* the device let go of it */
		page_unlock(page);
		return;
	}
	dirty = page_test(page, PG_dirty);
	page_set(page, PG_private);
	if (dirty && !(READ_ONCE(page->private) & BP_DIRTY))
		mask = BP_DIRTY; /* it was dirty as a whole */
	__atomic_fetch_or(&page->private, mask, __ATOMIC_RELAXED);
	if (!dirty)
		pagecache_set_dirty(page);
	page_unlock(page);
}

void bblock_dirty(struct bblock *b)
{
	unsigned long mask = bblock_mask(b);

	smp_mb(); /* the change before the look */
	if (page_test(b->page, PG_dirty) && page_test(b->page, PG_private) &&
	    (READ_ONCE(b->page->private) & mask) == mask)
		return;
	dirty_slow(b, mask);
}

void bblock_put(struct bblock *b)
{
	if (!b->page)
		return;
	page_kunmap(b->data);
	page_put(b->page);
	b->page = NULL;
}

/* Locked new pages, not yet read, for indexes not cached among [index, last]. => how many */
static u32 make_pages(struct mapping *m, unsigned long *index, unsigned long last,
		      struct page **pages)
{
	u32 n = 0;

	for (; *index <= last && n < READAHEAD_BATCH; ++*index) {
		struct page *page = pagecache_find(m, *index);

		if (page) {
			page_put(page);
			if (n) /* consecutive ones only */
				break;
			continue;
		}
		page = alloc_page(GFP_NOWAIT | __GFP_NOWARN | __GFP_NORETRY);
		if (!page)
			break;
		page->flags |= BIT(PG_locked);
		if (pagecache_add(m, *index, page, GFP_NOWAIT | __GFP_NOWARN)) {
			page->flags &= ~BIT(PG_locked);
			page_put(page);
			break;
		}
		pages[n++] = page;
	}
	return n;
}

void bblock_readahead(struct bdev *bdev, u64 nr, unsigned int count, u32 size)
{
	struct page *pages[READAHEAD_BATCH];
	unsigned long index, last;
	struct blk_plug plug;
	u32 n;

	if (!count || !in_device(bdev, nr, size))
		return;
	if (!in_device(bdev, nr + count - 1, size))
		count = (bdev->mapping->size >> __builtin_ctz(size)) - nr;
	index = (nr * size) >> PAGE_SHIFT;
	last = ((nr + count) * size - 1) >> PAGE_SHIFT;
	blk_plug_start(&plug);
	while (index <= last) {
		unsigned long before = index;

		n = make_pages(bdev->mapping, &index, last, pages);
		if (!n && index == before)
			break; /* no memory */
		if (n)
			bdev_mapping_ops.read_pages(bdev->mapping, pages, n);
		for (u32 i = 0; i < n; i++)
			page_put(pages[i]);
	}
	blk_plug_finish(&plug);
}

int bblock_sync(struct bdev *bdev, u64 nr, unsigned int count, u32 size)
{
	struct mapping *m = bdev->mapping;
	errseq_t since = READ_ONCE(m->wb_err);
	int err;

	if (!count)
		return 0;
	err = mapping_sync_range(m, nr * size, (nr + count) * size - 1);
	if (!err)
		err = errseq_check(&m->wb_err, since);
	return err ? -EIO : 0;
}

/* => page locked: nothing of these sectors will be written any more; true: some are under way */
static bool forget_marks(struct page *page, unsigned long mask)
{
	unsigned long v;

	v = READ_ONCE(page->private);
	if (page_test(page, PG_dirty)) {
		unsigned long dirty = v & BP_DIRTY ? v & BP_DIRTY : BP_DIRTY;

		if (dirty & ~mask) {
			page_set(page, PG_private);
			__atomic_fetch_or(&page->private, dirty, __ATOMIC_RELAXED);
			__atomic_fetch_and(&page->private, ~mask, __ATOMIC_RELAXED);
		} else {
			if (page_test(page, PG_private))
				__atomic_fetch_and(&page->private, ~BP_DIRTY, __ATOMIC_RELAXED);
			page_cancel_dirty(page);
		}
	}
	return page_test(page, PG_writeback) && (v & BP_FLIGHT) >> BP_FLIGHT_SHIFT & mask;
}

static void forget_in_page(struct mapping *m, unsigned long index, unsigned long mask)
{
	struct page *page = pagecache_find(m, index);

	if (!page)
		return;
	page_lock(page);
	if (page->mapping == m && forget_marks(page, mask))
		page_wait_writeback(page);
	page_unlock(page);
	page_put(page);
}

void bblock_forget(struct bdev *bdev, u64 nr, unsigned int count, u32 size)
{
	u64 pos = nr * size, end = (nr + count) * size;

	while (pos < end) {
		u32 off = offset_in_page(pos);
		u32 bytes = min_t(u64, PAGE_SIZE - off, end - pos);

		forget_in_page(bdev->mapping, pos >> PAGE_SHIFT, sector_mask(off, off + bytes - 1));
		pos += bytes;
		cond_resched();
	}
}
