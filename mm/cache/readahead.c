/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * readahead.c - reading pages before they are asked for: the doing. What to read is decided in
 * ra_window.c.
 *
 * A page read ahead goes into the index locked and not uptodate; whoever wants it meanwhile waits
 * for its lock. The first page behind the part somebody waits for carries PG_readahead: the reader
 * who meets it starts the next window, so that the device is never idle while he works. Missing
 * pages that follow each other go to the file system in one call (ops->read_pages), which makes one
 * large transfer of them.
 *
 * A mapped file has no request sizes to learn from: a miss reads the pages around it (half before,
 * half after), since code and data are used near each other; where misses outnumber hits that
 * stops. MADV_SEQUENTIAL makes faults go the way of read(2), MADV_RANDOM stops it all.
 *
 * Locking: truncate_lock shared (the window must not be added behind a truncation); the ra_state is
 * not locked.
 */
#include "mm/cache/readahead.h"

#include "lib/errno.h"
#include "mm/cache/internal.h"
#include "mm/cache/writeback.h"
#include "mm/phys/page_alloc.h"
#include "sched/sched.h"

#define RA_BATCH 64		 /* pages given to the file system at a time */
#define RA_DEFAULT_PAGES 32	 /* of a mapping without a device */
#define MMAP_LOTS_OF_MISSES 100u /* so many more misses than hits: mapped at random */
#define CONGESTED_READ BIT(1)	 /* of bdi->congested */

/* Missing pages in a row, not yet given to the file system. */
struct ra_batch {
	struct mapping *m;
	unsigned int n;
	unsigned long started;
	struct page *pages[RA_BATCH];
};

static void batch_flush(struct ra_batch *b)
{
	const struct mapping_ops *ops = b->m->ops;

	if (!b->n)
		return;
	if (ops->read_pages) {
		ops->read_pages(b->m, b->pages, b->n);
	} else {
		for (unsigned int i = 0; i < b->n; i++)
			ops->read_page(b->m, b->pages[i]);
	}
	b->started += b->n;
	/* While a page is locked the index keeps it; afterwards it may go at any time. */
	for (unsigned int i = 0; i < b->n; i++)
		page_put(b->pages[i]);
	b->n = 0;
}

static bool is_cached(struct mapping *m, unsigned long index)
{
	void *item;

	rcu_read_lock();
	item = xa_load(&m->pages, index);
	rcu_read_unlock();
	return item && !xa_is_value(item); /* a value: it was here once, or is in swap */
}

/* marker: index of the page that gets PG_readahead; ~0: none. => truncate_lock shared */
static unsigned long start_locked(struct mapping *m, unsigned long first, unsigned long nr,
				  unsigned long marker)
{
	gfp_t gfp = (m->gfp & ~(__GFP_IO | __GFP_FS)) | __GFP_NORETRY | __GFP_NOWARN;
	unsigned long end = PFN_UP(READ_ONCE(m->size)); /* exclusive */
	struct ra_batch b = { .m = m };

	if (first >= end || !m->ops || !m->ops->read_page)
		return 0;
	end = min(end, first + nr);
	for (unsigned long index = first; index < end; index++) {
		struct page *page;
		int err;

		if (is_cached(m, index)) {
			batch_flush(&b);
			continue;
		}
		page = alloc_page(gfp);
		if (!page)
			break;
		page->flags |= BIT(PG_locked) | (index == marker ? BIT(PG_readahead) : 0);
		err = pagecache_add(m, index, page, gfp);
		if (err) {
			page->flags &= ~BIT(PG_locked);
			page_put(page);
			if (err != -EEXIST)
				break;
			batch_flush(&b);
			continue;
		}
		b.pages[b.n++] = page;
		if (b.n == RA_BATCH)
			batch_flush(&b);
	}
	batch_flush(&b);
	return b.started;
}

unsigned long readahead_start(struct mapping *m, unsigned long first, unsigned long nr)
{
	unsigned long done = 0;

	/* In pieces, so that a truncation or a fatal signal gets its turn. */
	while (nr && !fatal_signal_pending()) {
		unsigned long n = min(nr, 512ul);

		down_read(&m->truncate_lock);
		done += start_locked(m, first, n, ~0ul);
		up_read(&m->truncate_lock);
		first += n;
		nr -= n;
		if (first >= PFN_UP(READ_ONCE(m->size)))
			break;
		cond_resched();
	}
	return done;
}

u32 readahead_max(const struct mapping *m, u32 mode)
{
	u32 max = m->bdi ? READ_ONCE(m->bdi->ra_pages) : RA_DEFAULT_PAGES;

	return mode == RA_SEQUENTIAL ? 2 * max : max;
}

static unsigned long next_hole(void *arg, unsigned long index, unsigned long max)
{
	for (unsigned long i = 1; i <= max; i++)
		if (!is_cached(arg, index + i))
			return index + i;
	return 0;
}

static unsigned long run_before(void *arg, unsigned long index, unsigned long max)
{
	unsigned long n = 0;

	while (n < max && n < index && is_cached(arg, index - 1 - n))
		n++;
	return n;
}

static unsigned long start_window(struct mapping *m, const struct ra_state *ra)
{
	return start_locked(m, ra->start, ra->size,
			    ra->async ? ra->start + ra->size - ra->async : ~0ul);
}

void readahead_miss(struct mapping *m, struct ra_state *ra, unsigned long index, unsigned long nr)
{
	struct ra_view view = { next_hole, run_before, m };
	u32 max = readahead_max(m, ra ? ra->mode : RA_NORMAL);
	struct ra_state next;

	if (!m->ops || !m->ops->read_page)
		return;
	if (!ra || !max) { /* nobody's state: what is wanted, in pieces */
		start_locked(m, index, min(nr, (unsigned long)RA_DEFAULT_PAGES), ~0ul);
		return;
	}
	next = *ra;
	if (ra_window_miss(&next, index, nr, max, &view)) {
		*ra = next;
		start_window(m, ra);
	} else { /* random: the window of a stream beside it stays as it is */
		start_locked(m, index, min(nr, (unsigned long)max), ~0ul);
	}
}

void readahead_marker(struct mapping *m, struct ra_state *ra, struct page *page,
		      unsigned long index, unsigned long nr)
{
	struct ra_view view = { next_hole, run_before, m };
	u32 max = ra ? readahead_max(m, ra->mode) : 0;

	page_clear(page, PG_readahead);
	/* Nobody waits for these: not while the device has more than enough to do. */
	if (!max || (m->bdi && (READ_ONCE(m->bdi->congested) & CONGESTED_READ)))
		return;
	if (ra_window_marker(ra, index, nr, max, &view))
		start_window(m, ra);
}

void readahead_fault(struct mapping *m, struct ra_state *ra, unsigned long index, u32 mode)
{
	u32 max = readahead_max(m, RA_NORMAL);
	unsigned long first, half = max / 2;

	if (!max || mode == RA_RANDOM || !m->ops || !m->ops->read_page)
		return;
	if (mode == RA_SEQUENTIAL) {
		readahead_miss(m, ra, index, 1);
		if (ra)
			ra->prev = index;
		return;
	}
	if (ra) {
		u32 miss = READ_ONCE(ra->mmap_miss);

		if (miss < 10 * MMAP_LOTS_OF_MISSES)
			WRITE_ONCE(ra->mmap_miss, ++miss);
		if (miss > MMAP_LOTS_OF_MISSES)
			return;
	}
	first = index > half ? index - half : 0;
	if (ra) {
		ra->start = first;
		ra->size = max;
		ra->async = max / 4;
		start_window(m, ra);
	} else {
		start_locked(m, first, max, ~0ul);
	}
}

void readahead_fault_hit(struct mapping *m, struct ra_state *ra, struct page *page)
{
	if (ra && READ_ONCE(ra->mmap_miss))
		WRITE_ONCE(ra->mmap_miss, ra->mmap_miss - 1);
	readahead_marker(m, ra, page, page->index, 1);
}

int readahead_advise(struct mapping *m, struct ra_state *ra, u64 off, u64 len, int advice)
{
	u64 end = len ? off + len : ~0ull;

	if (end < off)
		end = ~0ull;
	switch (advice) {
	case FADV_NORMAL:
	case FADV_RANDOM:
	case FADV_SEQUENTIAL:
		if (ra)
			ra->mode = advice == FADV_NORMAL   ? RA_NORMAL
				   : advice == FADV_RANDOM ? RA_RANDOM
							   : RA_SEQUENTIAL;
		return 0;
	case FADV_WILLNEED:
		end = min(end, READ_ONCE(m->size));
		if (off < end)
			readahead_start(m, off >> PAGE_SHIFT, PFN_UP(end) - (off >> PAGE_SHIFT));
		return 0;
	case FADV_DONTNEED:
		/* the last, partly covered page goes too when the file ends there */
		if (end >= READ_ONCE(m->size))
			end = ALIGN_UP(READ_ONCE(m->size), PAGE_SIZE);
		if (off < end)
			pagecache_drop_range(m, off, end);
		return 0;
	case FADV_NOREUSE:
		return 0;
	}
	return -EINVAL;
}
