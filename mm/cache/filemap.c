/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filemap.c - read and write on the page cache.
 *
 * Problem: overwriting or reading a cached page must cost little more than the copy, and copying
 * from a program may fault on the very page that is written. Idea: no page is ever locked while
 * bytes are copied. A found, uptodate page is held by a reference alone; a missing page is filled
 * while nobody else can see it and only then added to the index (if somebody was faster, his page
 * is written instead). So a fault during the copy meets no lock of ours.
 *
 * What a reader may see is what POSIX lets it see: old bytes, new bytes, or both. Bytes past the
 * end of the last page are
 * zero: fresh pages are zeroed, truncation zeroes the tail.
 * Locking: writers of one file exclude each other and truncation by the owner's lock (inode->lock),
 * taken by the caller. Readers take none; a page that must be read in is made under truncate_lock
 * (shared), so that truncation cannot be overtaken.
 */
#include "arch/uaccess.h"
#include "lib/err.h"
#include "lib/string.h"
#include "mm/cache/internal.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"

/* Bytes that were NOT copied. */
static __always_inline size_t copy_in(void *to, const void *from, size_t n, bool user)
{
	if (user)
		return copy_from_user(to, (const void __user *)from, n);
	memcpy(to, from, n);
	return 0;
}
static __always_inline size_t copy_out(void *to, const void *from, size_t n, bool user)
{
	if (user)
		return copy_to_user((void __user *)to, from, n);
	memcpy(to, from, n);
	return 0;
}

/*
 * The page is missing: fills a new one before it becomes visible. Bytes copied, -EEXIST (somebody
 * was faster) or -errno.
 */
static ssize_t write_fresh(struct mapping *m, u64 pos, const void *buf, size_t n, bool user)
{
	unsigned int off = offset_in_page(pos);
	int err = mapping_charge(m, 1);
	struct page *page;
	size_t left;
	char *va;

	if (err)
		return err;
	page = alloc_page(m->gfp | __GFP_WRITE | (n < PAGE_SIZE ? __GFP_ZERO : 0));
	if (!page) {
		mapping_charge(m, -1);
		return -ENOMEM;
	}
	va = page_kmap(page);
	left = copy_in(va + off, buf, n, user);
	if (unlikely(left))
		memset(va + off + n - left, 0, left);
	page_kunmap(va);
	err = left == n ? -EFAULT : 0;
	if (!err) {
		page->flags |= BIT(PG_uptodate) | (mapping_is_shmem(m) ? BIT(PG_dirty) : 0);
		err = pagecache_add(m, pos >> PAGE_SHIFT, page, m->gfp);
	}
	if (err)
		mapping_charge(m, -1);
	else if (!mapping_is_shmem(m))
		pagecache_set_dirty(page);
	page_put(page);
	return err ? err : (ssize_t)(n - left);
}

/* The page is not cached, or not uptodate. page: as found (reference consumed) or NULL. */
static noinline ssize_t write_slow(struct mapping *m, u64 pos, const void *buf, size_t n, bool user,
				   struct page *page)
{
	size_t left;
	char *va;

	if (!page) {
		bool beyond = (pos & PAGE_MASK) >= READ_ONCE(m->size);

		if (mapping_is_shmem(m) || n == PAGE_SIZE || beyond || !m->ops ||
		    !m->ops->read_page) {
			ssize_t done = write_fresh(m, pos, buf, n, user);

			if (done != -EEXIST)
				return done;
		}
	} else {
		page_put(page);
	}
	page = pagecache_get(m, pos >> PAGE_SHIFT, PCG_CREATE);
	if (IS_ERR(page))
		return PTR_ERR(page);
	va = page_kmap(page);
	left = copy_in(va + offset_in_page(pos), buf, n, user);
	page_kunmap(va);
	pagecache_set_dirty(page);
	page_put(page);
	return left == n ? -EFAULT : (ssize_t)(n - left);
}

static __always_inline ssize_t do_write(struct mapping *m, u64 pos, const char *buf, size_t n,
					bool user)
{
	size_t done = 0;

	while (done < n) {
		unsigned int off = offset_in_page(pos);
		size_t bytes = min(n - done, PAGE_SIZE - off);
		struct page *page = mapping_find_get(m, pos >> PAGE_SHIFT);
		ssize_t copied;

		if (likely(page && page_test(page, PG_uptodate))) {
			char *va = page_kmap(page);

			copied = bytes - copy_in(va + off, buf + done, bytes, user);
			page_kunmap(va);
			if (unlikely(!page_test(page, PG_dirty)))
				pagecache_set_dirty(page);
			page_put(page);
			if (unlikely(!copied))
				copied = -EFAULT;
		} else {
			copied = write_slow(m, pos, buf + done, bytes, user, page);
		}
		if (unlikely(copied < 0))
			return done ? (ssize_t)done : copied;
		done += copied;
		pos += copied;
		if (pos > m->size)
			WRITE_ONCE(m->size, pos);
		cond_resched();
	}
	return done;
}

ssize_t pagecache_write(struct mapping *m, u64 pos, const void __user *buf, size_t n)
{
	return do_write(m, pos, (const char *)buf, n, true);
}

ssize_t pagecache_write_kernel(struct mapping *m, u64 pos, const void *buf, size_t n)
{
	return do_write(m, pos, buf, n, false);
}

/* The page must be read in. Referenced page, NULL (a hole, or past the end by now) or ERR_PTR. */
static noinline struct page *read_in(struct mapping *m, u64 pos)
{
	struct page *page = NULL;

	down_read(&m->truncate_lock);
	if ((pos & PAGE_MASK) < READ_ONCE(m->size))
		page = pagecache_get(m, pos >> PAGE_SHIFT, 0);
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

static __always_inline ssize_t do_read(struct mapping *m, u64 pos, char *buf, size_t n, bool user)
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

		if (unlikely(page ? !page_test(page, PG_uptodate) : !mapping_is_shmem(m))) {
			if (page)
				page_put(page);
			page = read_in(m, pos);
			if (IS_ERR(page))
				return done ? (ssize_t)done : PTR_ERR(page);
		}
		if (likely(page)) {
			char *va = page_kmap(page);

			left = copy_out(buf + done, va + off, bytes, user);
			page_kunmap(va);
			if (unlikely(!page_test(page, PG_referenced)))
				page_set(page, PG_referenced);
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
	return done;
}

ssize_t pagecache_read(struct mapping *m, u64 pos, void __user *buf, size_t n)
{
	return do_read(m, pos, (char *)buf, n, true);
}

ssize_t pagecache_read_kernel(struct mapping *m, u64 pos, void *buf, size_t n)
{
	return do_read(m, pos, buf, n, false);
}
