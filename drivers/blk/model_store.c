// SPDX-License-Identifier: BSD-2-Clause
/*
 * model_store.c - the media of modelled disks.
 *
 * Problem: an experiment writes a hundred gigabytes to a disk of four, on a machine of one. Idea:
 * the experiment never reads file data back, only the file system its metadata. So in discard mode
 * a write is stored only when its bio says BIO_META; file data is counted and forgotten, and reads
 * as zeros. A place that was metadata and is overwritten by data reads as zeros, too: what is
 * forgotten leaves nothing stale behind.
 *
 * Pages come from the ordinary allocator without waiting (this is a softirq). When there is none
 * the caller tries again later: the disk becomes slow, nothing is lost.
 */
#include "drivers/blk/model_store.h"
#include "drivers/blk/diskmem.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page.h"
#include "mm/phys/page_alloc.h"
#include "sched/sched.h"

#define PAGE_SECTORS (PAGE_SIZE >> 9)
#define STORE_GFP (GFP_ATOMIC | __GFP_NOWARN)
#define CLEAR_STEP 256u /* pages of one call of store_clear */

int store_init(struct model_store *s, u64 nr_sectors, bool mem_pages, bool discard)
{
	memset(s, 0, sizeof(*s));
	s->nr_sectors = nr_sectors;
	s->discard = discard;
	if (discard || mem_pages)
		return 0;
	s->mem = diskmem_alloc(nr_sectors << 9);
	return s->mem ? 0 : -ENOMEM;
}

void store_destroy(struct model_store *s)
{
	unsigned long index = 0;
	struct page *page;

	if (s->mem)
		diskmem_free(s->mem);
	while ((page = xa_find(&s->pages, &index, ~0ul))) {
		xa_erase(&s->pages, index);
		free_page(page);
		cond_resched();
	}
	xa_destroy(&s->pages);
}

static struct page *make_page(struct model_store *s, unsigned long index)
{
	struct page *page = alloc_page(STORE_GFP | __GFP_ZERO);

	if (!page)
		return NULL;
	if (xa_store(&s->pages, index, page, STORE_GFP)) {
		free_page(page);
		return NULL;
	}
	s->nr_pages++;
	return page;
}

static void drop_page(struct model_store *s, unsigned long index)
{
	struct page *page = xa_erase(&s->pages, index);

	if (page) {
		s->nr_pages--;
		free_page(page);
	}
}

/* File data in discard mode: whatever was kept there before is gone. */
static void forget(struct model_store *s, u64 sector, u32 bytes)
{
	unsigned long index = sector / PAGE_SECTORS;
	struct page *page = xa_load(&s->pages, index);

	s->dropped_bytes += bytes;
	if (likely(!page))
		return;
	if (bytes == PAGE_SIZE)
		drop_page(s, index);
	else
		memset((char *)page_kmap(page) + (sector % PAGE_SECTORS << 9), 0, bytes);
}

static bool is_zero(const u64 *p, u32 bytes)
{
	for (const u64 *end = p + bytes / 8; p < end; p += 8)
		if (p[0] | p[1] | p[2] | p[3] | p[4] | p[5] | p[6] | p[7])
			return false;
	return true;
}

/* Within one page. */
static int write_one(struct model_store *s, u64 sector, const void *from, u32 bytes, bool meta)
{
	struct page *page;

	if (s->discard && !meta) {
		forget(s, sector, bytes);
		return 0;
	}
	page = xa_load(&s->pages, sector / PAGE_SECTORS);
	if (!page && is_zero(from, bytes))
		return 0; /* what was never written is zero already: an empty inode table */
	if (!page)
		page = make_page(s, sector / PAGE_SECTORS);
	if (!page)
		return -ENOMEM;
	memcpy((char *)page_kmap(page) + (sector % PAGE_SECTORS << 9), from, bytes);
	s->kept_bytes += bytes;
	return 0;
}

static u32 within_page(u64 sector, u32 bytes)
{
	return min_t(u32, bytes, PAGE_SIZE - (sector % PAGE_SECTORS << 9));
}

int store_write(struct model_store *s, u64 sector, const void *from, u32 bytes, bool meta)
{
	if (s->mem) {
		memcpy(s->mem + (sector << 9), from, bytes);
		s->kept_bytes += bytes;
		return 0;
	}
	while (bytes) {
		u32 n = within_page(sector, bytes);
		int err = write_one(s, sector, from, n, meta);

		if (err)
			return err;
		sector += n >> 9;
		from = (const char *)from + n;
		bytes -= n;
	}
	return 0;
}

void store_read(struct model_store *s, u64 sector, void *to, u32 bytes)
{
	if (s->mem) {
		memcpy(to, s->mem + (sector << 9), bytes);
		return;
	}
	while (bytes) {
		u32 n = within_page(sector, bytes);
		struct page *page = xa_load(&s->pages, sector / PAGE_SECTORS);

		if (page) {
			memcpy(to, (char *)page_kmap(page) + (sector % PAGE_SECTORS << 9), n);
		} else {
			memset(to, 0, n);
			s->zero_read_bytes += n;
		}
		sector += n >> 9;
		to = (char *)to + n;
		bytes -= n;
	}
}

static u64 clear_pages(struct model_store *s, u64 sector, u64 nr)
{
	u64 end = sector + nr, at = sector;

	for (u32 i = 0; i < CLEAR_STEP && at < end; i++) {
		unsigned long index = at / PAGE_SECTORS;
		struct page *page = xa_find(&s->pages, &index, (end - 1) / PAGE_SECTORS);
		u64 from, to;

		if (!page)
			return nr;
		from = max_t(u64, at, index * PAGE_SECTORS);
		to = min_t(u64, end, (index + 1) * PAGE_SECTORS);
		if (to - from == PAGE_SECTORS)
			drop_page(s, index);
		else
			memset((char *)page_kmap(page) + (from % PAGE_SECTORS << 9), 0,
			       (to - from) << 9);
		at = to;
	}
	return at - sector;
}

u64 store_clear(struct model_store *s, u64 sector, u64 nr)
{
	if (!s->mem)
		return clear_pages(s, sector, nr);
	nr = min_t(u64, nr, CLEAR_STEP * PAGE_SECTORS);
	memset(s->mem + (sector << 9), 0, nr << 9);
	return nr;
}
