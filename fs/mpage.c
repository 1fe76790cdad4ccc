// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpage.c - pages of files that live in blocks: reading, writing, giving blocks a home.
 *
 * Problem: a page holds one to four blocks and a file's blocks lie anywhere on the disk, but a disk
 * wants few and large transfers. Idea: a gatherer. Pages are taken in order; each piece of a page
 * (blocks that lie together) joins the bio being gathered when it continues where that ends,
 * otherwise that bio is handed over and a new one begun.
 *
 *   page 0        page 1        page 2              file
 *   [a][b][c][d]  [e][f][ ][g]  [h][i][j][k]
 *   a..f on the disk together: bio 1;  hole: zeroed;  g..k: bio 2
 *
 * A page may so be in several bios. page->private counts them while they are under way, plus one
 * held by whoever is adding pieces; who takes the last one ends the page (unlocks it after a read,
 * ends its writeback after a write). PG_error says that one of them failed.
 *
 * Invariants: a block is mapped (get_block) while its page is locked and in the file; truncation
 * takes pages out before it frees their blocks, so a piece never goes to somebody else's block. A
 * run found for one page of a read may serve the next ones, since all are locked; a write asks for
 * each page anew.
 * A hole whose bytes in the page are all zero stays a hole when the page is written.
 * Locking: page lock; get_block brings its own. end_io functions run in softirqs.
 */
#include "fs/mpage.h"
#include "fs/vfs.h"
#include "kernel/bug.h"
#include "lib/err.h"
#include "lib/string.h"
#include "sched/sched.h"

struct gather { /* control-struct of one read or write */
	const struct mpage_fs *fs;
	struct mapping *m;
	struct bio *bio;
	u64 next;	   /* sector behind the bio's end */
	struct page *last; /* last page counted into bio */
	void (*end_io)(struct bio *bio);
	u32 max_vecs;
	u8 op, flags;
	u64 run_first; /* block of the file that run begins with; run.count 0: none */
	struct block_run run;
};

static inline void page_bio_get(struct page *page)
{
	__atomic_add_fetch(&page->private, 1, __ATOMIC_RELAXED);
}
static inline bool page_bio_put(struct page *page)
{
	return __atomic_sub_fetch(&page->private, 1, __ATOMIC_ACQ_REL) == 0;
}

static void gather_submit(struct gather *g)
{
	struct bio *bio = g->bio;

	g->bio = NULL;
	g->last = NULL;
	if (bio)
		submit_bio(bio);
}

/* Bytes [off, off + len) of page lie at sector. => the adder's count on page is held */
static void gather_add(struct gather *g, struct page *page, u32 off, u32 len, u64 sector)
{
	if (g->bio && (g->next != sector || !bio_add_page(g->bio, page, off, len)))
		gather_submit(g);
	if (!g->bio) {
		g->bio = bio_alloc(g->fs->part, g->op, sector, g->max_vecs, GFP_NOFS);
		g->bio->flags |= g->flags;
		g->bio->end_io = g->end_io;
		bio_add_page(g->bio, page, off, len);
	}
	g->next = sector + (len >> SECTOR_SHIFT);
	if (g->last != page) {
		page_bio_get(page);
		g->last = page;
	}
}

/* Calls fn once for each page of a bio (neighbouring pieces may have become one vector). */
static void each_page(struct bio *bio, void (*fn)(struct page *page, int error))
{
	struct page *last = NULL;

	for (unsigned int i = 0; i < bio->nr_vecs; i++) {
		const struct bio_vec *v = &bio->vecs[i];
		struct page *page = v->page + (v->off >> PAGE_SHIFT);
		struct page *end = v->page + ((v->off + v->len - 1) >> PAGE_SHIFT);

		for (; page <= end; page++) {
			if (page != last)
				fn(page, bio->error);
			last = page;
		}
	}
}

/* ---- reading ---- */

static void read_page_done(struct page *page, int error)
{
	if (unlikely(error))
		page_set(page, PG_error);
	if (!page_bio_put(page))
		return;
	if (likely(!page_test(page, PG_error)))
		page_set(page, PG_uptodate);
	page_unlock(page);
}

static void read_end_io(struct bio *bio)
{
	each_page(bio, read_page_done);
	bio_put(bio);
}

static void zero_part(struct page *page, u32 off, u32 len)
{
	char *va = page_kmap(page);

	memset(va + off, 0, len);
	page_kunmap(va);
}

/* Finds where block lies, from the run at hand if it holds it. left: blocks that will be asked. */
static int gather_map(struct gather *g, u64 block, u32 left, struct block_run *out)
{
	u64 skip = block - g->run_first;

	if (skip >= g->run.count) {
		int err = g->fs->get_block(g->m, block, left, 0, &g->run);

		if (err) {
			g->run.count = 0;
			return err;
		}
		g->run_first = block;
		skip = 0;
	}
	out->block = g->run.block ? g->run.block + skip : 0;
	out->count = g->run.count - skip;
	return 0;
}

/* One locked page. left: pages of this read from here on. */
static int read_one(struct gather *g, struct page *page, u32 left)
{
	unsigned int bits = g->fs->block_bits, per_page = PAGE_SIZE >> bits, done = 0;
	u64 first = (u64)page->index << (PAGE_SHIFT - bits);
	u64 end = (READ_ONCE(g->m->size) + (1u << bits) - 1) >> bits;
	bool homed = true;
	int err = 0;

	page->private = 1;
	page_clear(page, PG_error);
	while (done < per_page) {
		u32 n = per_page - done;
		struct block_run run = { .block = 0, .count = n };

		if (first + done < end)
			err = gather_map(g, first + done, left * per_page - done, &run);
		if (err)
			break;
		n = min(n, run.count);
		if (run.block) {
			gather_add(g, page, done << bits, n << bits,
				   run.block << (bits - SECTOR_SHIFT));
		} else {
			zero_part(page, done << bits, n << bits);
			homed = false;
		}
		done += n;
	}
	if (err)
		page_set(page, PG_error);
	else if (homed)
		page_set(page, PG_homed);
	read_page_done(page, 0); /* the adder's own count */
	return err;
}

int mpage_read_page(const struct mpage_fs *fs, struct mapping *m, struct page *page)
{
	struct gather g = { .fs = fs,
			    .m = m,
			    .end_io = read_end_io,
			    .max_vecs = 4,
			    .op = BIO_READ,
			    .flags = BIO_SYNC };
	int err = read_one(&g, page, 1);

	gather_submit(&g);
	return err;
}

void mpage_read_pages(const struct mpage_fs *fs, struct mapping *m, struct page **pages,
		      unsigned int nr)
{
	struct gather g = {
		.fs = fs, .m = m, .end_io = read_end_io, .op = BIO_READ, .flags = BIO_SYNC
	};
	struct blk_plug plug;

	g.max_vecs = min(nr << (PAGE_SHIFT - fs->block_bits), BIO_MAX_VECS);
	blk_plug_start(&plug);
	for (unsigned int i = 0; i < nr; i++)
		read_one(&g, pages[i], nr - i);
	gather_submit(&g);
	blk_plug_finish(&plug);
}

/* ---- writing ---- */

static void write_page_done(struct page *page, int error)
{
	if (unlikely(error))
		page_set(page, PG_error);
	if (page_bio_put(page))
		pagecache_end_writeback(page, page_test_and_clear(page, PG_error) ? -EIO : 0);
}

static void write_end_io(struct bio *bio)
{
	each_page(bio, write_page_done);
	bio_put(bio);
}

static bool all_zero(struct page *page, u32 off, u32 len)
{
	const char *va = page_kmap(page);
	const u64 *p = (const u64 *)(va + off), *end = p + len / 8;

	while (p < end && !*p)
		p++;
	page_kunmap((void *)va);
	return p == end;
}

/* Where the first `blocks` blocks of a dirty page go; where[i] 0: a hole that stays one. */
static int map_dirty(const struct mpage_fs *fs, struct mapping *m, struct page *page,
		     unsigned int blocks, u64 where[8])
{
	unsigned int bits = fs->block_bits;
	u64 first = (u64)page->index << (PAGE_SHIFT - bits);

	for (unsigned int i = 0; i < blocks;) {
		struct block_run run;
		int err = fs->get_block(m, first + i, blocks - i, 0, &run);

		if (!err && !run.block) {
			run.count = 1;
			if (!all_zero(page, i << bits, 1u << bits))
				err = fs->get_block(m, first + i, 1, 1, &run);
		}
		if (err)
			return err;
		for (u32 k = 0; k < run.count && i < blocks; k++)
			where[i++] = run.block ? run.block + k : 0;
	}
	return 0;
}

static int write_one(struct gather *g, struct page *page)
{
	unsigned int bits = g->fs->block_bits, blocks, i = 0;
	u64 pos = (u64)page->index << PAGE_SHIFT, size = READ_ONCE(g->m->size), where[8];
	u32 bytes = size <= pos ? 0 : min_t(u64, size - pos, PAGE_SIZE);
	int err;

	if (!bytes) { /* cut off since: it is about to leave the file */
		page_unlock(page);
		return 0;
	}
	if (bytes < PAGE_SIZE)
		zero_part(page, bytes, PAGE_SIZE - bytes);
	blocks = (bytes + (1u << bits) - 1) >> bits;
	err = map_dirty(g->fs, g->m, page, blocks, where);
	if (err) {
		mapping_set_error(g->m, err);
		page_unlock(page);
		return err;
	}
	page->private = 1;
	page_clear(page, PG_error);
	page_start_writeback(page);
	while (i < blocks) {
		unsigned int n = 1;

		while (where[i] && i + n < blocks && where[i + n] == where[i] + n)
			n++;
		if (where[i])
			gather_add(g, page, i << bits, n << bits,
				   where[i] << (bits - SECTOR_SHIFT));
		i += n;
	}
	page_unlock(page);
	write_page_done(page, 0);
	return 0;
}

/* Directories and long symbolic links are metadata, though they live in pages of their own. */
static u8 write_flags(const struct mapping *m, const struct writeback_control *wbc)
{
	const struct inode *inode = m->owner;

	return (S_ISREG(inode->mode) ? 0 : BIO_META) | (wbc->sync == WB_SYNC_ALL ? BIO_SYNC : 0);
}

int mpage_write_page(const struct mpage_fs *fs, struct mapping *m, struct page *page,
		     struct writeback_control *wbc)
{
	struct gather one = { .fs = fs,
			      .m = m,
			      .end_io = write_end_io,
			      .max_vecs = 4,
			      .op = BIO_WRITE,
			      .flags = write_flags(m, wbc) };
	int err;

	if (wbc->fs)
		return write_one(wbc->fs, page);
	err = write_one(&one, page);
	gather_submit(&one);
	return err;
}

/* mapping_write_generic's callback: the gatherer is in wbc->fs. */
static int write_gathered(struct mapping *m, struct page *page, struct writeback_control *wbc)
{
	return write_one(wbc->fs, page);
}

int mpage_write_pages(const struct mpage_fs *fs, struct mapping *m, struct writeback_control *wbc)
{
	struct gather g = { .fs = fs,
			    .m = m,
			    .end_io = write_end_io,
			    .op = BIO_WRITE,
			    .flags = write_flags(m, wbc) };
	struct blk_plug plug;
	void *outer = wbc->fs;
	int err;

	g.max_vecs = clamp((u64)READ_ONCE(m->nr_pages) << (PAGE_SHIFT - fs->block_bits), (u64)4,
			   (u64)BIO_MAX_VECS);
	blk_plug_start(&plug);
	wbc->fs = &g;
	err = mapping_write_generic(m, wbc, write_gathered);
	wbc->fs = outer;
	gather_submit(&g);
	blk_plug_finish(&plug);
	return err;
}

/* ---- homes for blocks ---- */

/*
 * Blocks [first, first + n) of the file get homes; page (uptodate) is dirty as soon as one of them
 * was new, so that what the disk holds there is never taken for the file's.
 */
static int give_homes(const struct mpage_fs *fs, struct mapping *m, struct page *page, u64 first,
		      u32 n)
{
	bool fresh = false;
	int err = 0;

	while (n) {
		struct block_run run;

		err = fs->get_block(m, first, n, 1, &run);
		if (unlikely(err))
			break;
		fresh |= run.fresh;
		if (run.count >= n)
			break;
		first += run.count;
		n -= run.count;
	}
	if (fresh && page && page_test(page, PG_uptodate))
		pagecache_set_dirty(page);
	return err;
}

int mpage_write_begin(const struct mpage_fs *fs, struct mapping *m, struct page *page, u64 pos,
		      size_t n, bool *homed)
{
	unsigned int bits = fs->block_bits;
	u64 first = pos >> bits;
	u32 count = ((pos + n - 1) >> bits) - first + 1;
	int err = give_homes(fs, m, page, first, count);

	if (unlikely(err))
		return err;
	if (count << bits == PAGE_SIZE) {
		if (page)
			page_set(page, PG_homed);
		if (homed)
			*homed = true;
	}
	return 0;
}

int mpage_page_mkwrite(const struct mpage_fs *fs, struct mapping *m, struct page *page)
{
	u64 size = READ_ONCE(m->size), pos = (u64)page->index << PAGE_SHIFT;
	u32 bytes;
	int err;

	if (READ_ONCE(page->mapping) != m || pos >= size)
		return -EFAULT;
	bytes = min_t(u64, size - pos, PAGE_SIZE);
	err = mpage_write_begin(fs, m, page, pos, bytes, NULL);
	if (!err)
		pagecache_set_dirty(page);
	return err;
}

int mpage_seek(const struct mpage_fs *fs, struct mapping *m, u64 pos, int hole, u64 *out)
{
	u64 size = READ_ONCE(m->size), block = pos >> fs->block_bits, at = pos;
	u64 end = (size + (1u << fs->block_bits) - 1) >> fs->block_bits;

	while (block < end) {
		struct block_run run;
		int err = fs->get_block(m, block, min_t(u64, end - block, 1u << 30), 0, &run);

		if (err)
			return err;
		if (!run.block == !!hole) {
			*out = min(at, size);
			return 0;
		}
		block += run.count;
		at = block << fs->block_bits;
		if (fatal_signal_pending())
			return -EINTR;
		cond_resched();
	}
	*out = size;
	return 0;
}
