/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fileread.c - reading on the page cache.
 *
 * Problem: reading a cached page must cost little more than the copy; reading one that is not
 * cached must ask the disk for more than that page. Idea: a found, uptodate page is held by a
 * reference alone, no lock is held while bytes are copied, so a fault during the copy meets no
 * lock of ours. A missing page, or one with the marker of reading ahead, takes the slow way
 * (readahead.c).
 *
 * What a reader may see is what POSIX lets it see: old bytes, new bytes, or both.
 * Locking: readers take no lock of the file; a page that must be read in is made under
 * truncate_lock (shared), so that truncation cannot be overtaken.
 */
#include "arch/uaccess.h"
#include "lib/err.h"
#include "lib/string.h"
#include "mm/cache/internal.h"
#include "mm/cache/readahead.h"
#include "sched/sched.h"

/* Bytes that were NOT copied. */
static __always_inline size_t copy_out(void *to, const void *from, size_t n, bool user)
{
	if (user)
		return copy_to_user((void __user *)to, from, n);
	memcpy(to, from, n);
	return 0;
}

/*
 * The page is missing, not uptodate, or the place to read on from. page: as found (reference
 * consumed) or NULL; nr: pages wanted from here on. Referenced page, NULL (past the end by now) or
 * ERR_PTR.
 */
static noinline struct page *read_slow(struct mapping *m, struct ra_state *ra, u64 pos,
				       unsigned long nr, struct page *page)
{
	unsigned long index = pos >> PAGE_SHIFT;

	down_read(&m->truncate_lock);
	if ((pos & PAGE_MASK) < READ_ONCE(m->size)) {
		if (!page) {
			readahead_miss(m, ra, index, nr);
			page = mapping_find_get(m, index);
		}
		if (page && page_test(page, PG_readahead))
			readahead_marker(m, ra, page, index, nr);
		if (!page || !page_test(page, PG_uptodate)) {
			if (page)
				page_put(page);
			page = pagecache_get(m, index, 0);
		}
	} else if (page) {
		page_put(page);
		page = NULL;
	}
	up_read(&m->truncate_lock);
	return page;
}

static noinline size_t read_hole(char *to, size_t n, bool user)
{
	if (user)
		return clear_user((void __user *)to, n);
	memset(to, 0, n);
	return 0;
}

/*
 * A use of the page; the second one marks it for the active list, where reclaim puts it when it
 * comes by. Several reads in a row of one page by one open file are one use.
 */
static __always_inline void mark_read(struct page *page, unsigned long prev, unsigned long index)
{
	unsigned long f = READ_ONCE(page->flags);

	if (unlikely(!(f & BIT(PG_referenced))))
		page_set(page, PG_referenced);
	else if (unlikely(!(f & BIT(PG_workingset))) && index != prev)
		page_set(page, PG_workingset);
}

#define READ_FLAGS (BIT(PG_uptodate) | BIT(PG_readahead))

static __always_inline ssize_t do_read(struct mapping *m, struct ra_state *ra, u64 pos, char *buf,
				       size_t n, bool user)
{
	u64 size = READ_ONCE(m->size);
	size_t done = 0, left;

	if (pos >= size)
		return 0;
	n = min(n, size - pos);
	while (done < n) {
		unsigned int off = offset_in_page(pos);
		size_t bytes = min(n - done, PAGE_SIZE - off);
		struct page *page = mapping_find_get(m, pos >> PAGE_SHIFT);

		if (unlikely(page ? (READ_ONCE(page->flags) & READ_FLAGS) != BIT(PG_uptodate)
				  : !mapping_is_shmem(m))) {
			page = read_slow(m, ra, pos, PFN_UP(off + n - done), page);
			if (IS_ERR(page))
				return done ? (ssize_t)done : PTR_ERR(page);
		}
		if (unlikely(!page)) { /* a hole, or in swap */
			page = shmem_missing(m, pos >> PAGE_SHIFT);
			if (IS_ERR(page))
				return done ? (ssize_t)done : PTR_ERR(page);
		}
		if (likely(page)) {
			char *va = page_kmap(page);

			left = copy_out(buf + done, va + off, bytes, user);
			page_kunmap(va);
			mark_read(page, ra ? ra->prev : ~0ul, pos >> PAGE_SHIFT);
			page_put(page);
		} else {
			left = read_hole(buf + done, bytes, user);
		}
		done += bytes - left;
		pos += bytes;
		if (unlikely(left))
			return done ? (ssize_t)done : -EFAULT;
		cond_resched();
	}
	if (ra)
		ra->prev = (pos - 1) >> PAGE_SHIFT;
	return done;
}

static noinline ssize_t read_many(struct mapping *m, struct ra_state *ra, u64 pos, void __user *buf,
				  size_t n)
{
	return do_read(m, ra, pos, (char *)buf, n, true);
}

ssize_t pagecache_read(struct mapping *m, u64 pos, void __user *buf, size_t n)
{
	return read_many(m, NULL, pos, buf, n);
}

/* The plainest read, without a loop: within one page that is there, and within the file. */
ssize_t pagecache_read_ra(struct mapping *m, struct ra_state *ra, u64 pos, void __user *buf,
			  size_t n)
{
	unsigned int off = offset_in_page(pos);
	struct page *page;
	size_t left;

	if (n - 1 >= PAGE_SIZE - off || pos + n > READ_ONCE(m->size))
		return read_many(m, ra, pos, buf, n);
	page = mapping_find_get(m, pos >> PAGE_SHIFT);
	if (unlikely(!page))
		return read_many(m, ra, pos, buf, n);
	if (unlikely((READ_ONCE(page->flags) & READ_FLAGS) != BIT(PG_uptodate))) {
		page_put(page);
		return read_many(m, ra, pos, buf, n);
	}
	left = copy_to_user(buf, (char *)page_kmap(page) + off, n);
	mark_read(page, ra->prev, pos >> PAGE_SHIFT);
	page_put(page);
	ra->prev = pos >> PAGE_SHIFT;
	return likely(!left) ? (ssize_t)n : read_many(m, ra, pos, buf, n);
}

ssize_t pagecache_read_kernel_ra(struct mapping *m, struct ra_state *ra, u64 pos, void *buf,
				 size_t n)
{
	return do_read(m, ra, pos, buf, n, false);
}

ssize_t pagecache_read_kernel(struct mapping *m, u64 pos, void *buf, size_t n)
{
	return pagecache_read_kernel_ra(m, NULL, pos, buf, n);
}
