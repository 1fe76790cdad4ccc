/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filemap.c - writing on the page cache. Reading is fileread.c.
 *
 * Problem: overwriting a cached page must cost little more than the copy, and copying from a
 * program may fault on the very page that is written. Idea: no page is ever locked while
 * bytes are copied. A found, uptodate page is held by a reference alone; a missing page is filled
 * while nobody else can see it and only then added to the index (if somebody was faster, his page
 * is written instead). So a fault during the copy meets no lock of ours.
 *
 * Two things make a write to a disk's file more than that. A page needs a home on the device before
 * it may become dirty (write_begin; PG_homed: it has one), and the flusher zeroes what lies behind
 * the end of the file in the page it writes. So where the end of the file moves, the page is locked
 * from before the new bytes are in it until the new end is known:
 *
 *   fresh page      filled unseen -> in the index, locked, not uptodate -> home -> dirty -> end
 *                   moves -> unlocked     (no room: out of the index again, nothing has happened)
 *   longer in its   source touched -> locked -> copied without faulting -> end moves -> dirty
 *   last page       -> unlocked
 *   inside          home -> copied, not locked -> dirty
 *
 * The last form and a flusher: copy, barrier, look at PG_dirty here; take PG_dirty away (barrier),
 * then read the bytes there. So either he writes the new bytes, or the page is dirty again.
 *
 * Bytes past the end of the last page are zero: fresh pages are zeroed, truncation and extension
 * zero the tail.
 * Locking: writers of one file exclude each other and truncation by the owner's lock (inode->lock),
 * taken by the caller.
 */
#include "arch/uaccess.h"
#include "lib/err.h"
#include "lib/string.h"
#include "mm/cache/internal.h"
#include "mm/cache/writeback.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"

#define KILL_CHECK_BYTES (64 * PAGE_SIZE)

/* Such a page takes new bytes as it is. */
#define PAGE_WRITABLE (BIT(PG_uptodate) | BIT(PG_homed))

/* Bytes that were NOT copied. */
static __always_inline size_t copy_in(void *to, const void *from, size_t n, bool user)
{
	if (user)
		return copy_from_user(to, (const void __user *)from, n);
	memcpy(to, from, n);
	return 0;
}
/* => the page that holds the new end is locked (SHMEM: need not be) */
static __always_inline void grow(struct mapping *m, u64 end)
{
	if (end > m->size)
		WRITE_ONCE(m->size, end);
}

static inline int give_home(struct mapping *m, struct page *page, u64 pos, size_t n)
{
	if (page_test(page, PG_homed) || !m->ops || !m->ops->write_begin)
		return 0;
	return m->ops->write_begin(m, page, pos, n, NULL);
}

/* A filled page of a SHMEM mapping becomes visible. */
static inline int show_shmem(struct mapping *m, u64 pos, struct page *page)
{
	int err = mapping_charge(m, 1);

	if (err)
		return err;
	page->flags |= PAGE_WRITABLE | BIT(PG_dirty);
	err = pagecache_add(m, pos >> PAGE_SHIFT, page, m->gfp);
	if (err)
		mapping_charge(m, -1);
	return err;
}

/* The same for a file on a disk: home and new end come while it is locked. */
static int show_file(struct mapping *m, u64 pos, size_t n, struct page *page)
{
	int err;

	page->flags |= BIT(PG_locked); /* nobody sees it yet */
	err = pagecache_add(m, pos >> PAGE_SHIFT, page, m->gfp);
	if (unlikely(err)) {
		page->flags &= ~BIT(PG_locked);
		return err;
	}
	err = give_home(m, page, pos, n);
	if (unlikely(err)) {
		pagecache_remove(page);
	} else {
		page_set(page, PG_uptodate);
		pagecache_set_dirty(page);
		grow(m, pos + n);
	}
	page_unlock(page);
	return err;
}

/*
 * The page is missing, and nothing on the device is to be kept: fills a new one before it becomes
 * visible. Bytes copied, -EEXIST (somebody was faster) or -errno. keep: what the copy leaves out
 * is on the device.
 */
static __always_inline ssize_t write_fresh(struct mapping *m, u64 pos, const void *buf, size_t n,
					   bool user, bool keep, bool shmem)
{
	unsigned int off = offset_in_page(pos);
	struct page *page;
	size_t left;
	char *va;
	int err;

	if (shmem && unlikely(shmem_may_be_swapped(m)) && mapping_item(m, pos >> PAGE_SHIFT))
		return -EEXIST; /* in swap, most likely: it comes back first */
	page = alloc_page(m->gfp | __GFP_WRITE | (n < PAGE_SIZE ? __GFP_ZERO : 0));
	if (!page)
		return -ENOMEM;
	va = page_kmap(page);
	left = copy_in(va + off, buf, n, user);
	if (unlikely(left))
		memset(va + off + n - left, 0, left);
	page_kunmap(va);
	if (unlikely(left && (left == n || keep)))
		err = left == n ? -EFAULT : -EEXIST; /* keep: read it and come again */
	else if (shmem)
		err = show_shmem(m, pos, page);
	else
		err = show_file(m, pos, n - left, page);
	page_put(page);
	return err ? err : (ssize_t)(n - left);
}

/*
 * Into a page that must be locked meanwhile. Bytes copied (0: come again) or -errno. => referenced,
 * uptodate, with a home
 */
static ssize_t write_locked(struct mapping *m, u64 pos, const void *buf, size_t n, bool user,
			    struct page *page)
{
	size_t left;
	char *va, c;

	if (user && (copy_from_user(&c, (const void __user *)buf, 1) ||
		     copy_from_user(&c, (const void __user *)buf + n - 1, 1)))
		n = min(n, PAGE_SIZE - offset_in_page(buf)); /* as far as its first page goes */
	if (user && copy_from_user(&c, (const void __user *)buf, 1))
		return -EFAULT;
	page_lock(page);
	if (unlikely(page->mapping != m || !page_test(page, PG_uptodate))) {
		page_unlock(page);
		return 0;
	}
	if (m->flags & MAPF_STABLE)
		page_wait_writeback(page);
	va = page_kmap(page);
	pagefault_disable();
	left = copy_in(va + offset_in_page(pos), buf, n, user);
	pagefault_enable();
	page_kunmap(va);
	if (likely(left < n)) {
		grow(m, pos + n - left);
		pagecache_set_dirty(page);
	}
	page_unlock(page);
	return n - left;
}

/*
 * The whole of a page that could not be read: by way of a page of our own, since nothing may be
 * copied half. As above.
 */
static ssize_t write_unread(struct mapping *m, u64 pos, const void *buf, bool user,
			    struct page *page)
{
	struct page *own;
	ssize_t ret = 0;

	own = alloc_page(GFP_HIGHUSER);
	if (!own)
		return -ENOMEM;
	if (copy_in(page_address(own), buf, PAGE_SIZE, user)) {
		page_put(own);
		return -EFAULT;
	}
	page_lock(page);
	if (page->mapping == m && !page_test(page, PG_uptodate)) {
		ret = give_home(m, page, pos, PAGE_SIZE);
		if (!ret) {
			memcpy(page_address(page), page_address(own), PAGE_SIZE);
			page_clear(page, PG_error);
			page_set(page, PG_uptodate);
			grow(m, pos + PAGE_SIZE);
			pagecache_set_dirty(page);
			ret = PAGE_SIZE;
		}
	}
	page_unlock(page);
	page_put(own);
	return ret;
}

/* The page is there and uptodate. limit: up to here it need not be locked. */
static ssize_t write_cached(struct mapping *m, u64 pos, const void *buf, size_t n, bool user,
			    struct page *page, u64 limit)
{
	int err = give_home(m, page, pos, n);
	size_t left;
	char *va;

	if (unlikely(err))
		return err;
	if (pos + n > limit)
		return write_locked(m, pos, buf, n, user, page);
	va = page_kmap(page);
	left = copy_in(va + offset_in_page(pos), buf, n, user);
	page_kunmap(va);
	smp_mb();
	pagecache_set_dirty(page);
	return left == n ? -EFAULT : (ssize_t)(n - left);
}

/*
 * All but the plainest case. page: as found (reference consumed) or NULL. Bytes copied (0: come
 * again) or -errno.
 */
static noinline ssize_t write_slow(struct mapping *m, u64 pos, const void *buf, size_t n, bool user,
				   struct page *page, u64 limit)
{
	bool whole = n == PAGE_SIZE;
	ssize_t done;

	/* A long write to a slow disk ends early when the program is killed. */
	if (unlikely(!(pos & (KILL_CHECK_BYTES - 1)) && fatal_signal_pending())) {
		if (page)
			page_put(page);
		return -EINTR;
	}
	if (!page) {
		bool beyond = (pos & PAGE_MASK) >= m->size || mapping_is_shmem(m) || !m->ops ||
			      !m->ops->read_page;

		if (whole || beyond) {
			done = write_fresh(m, pos, buf, n, user, !beyond, mapping_is_shmem(m));
			if (done != -EEXIST)
				return done;
		}
	} else if (!page_test(page, PG_uptodate) && whole) {
		page_lock(page); /* perhaps it is being read */
		page_unlock(page);
		if (!page_test(page, PG_uptodate)) {
			done = write_unread(m, pos, buf, user, page);
			page_put(page);
			return done;
		}
	}
	if (!page || !page_test(page, PG_uptodate)) {
		if (page)
			page_put(page);
		page = pagecache_get(m, pos >> PAGE_SHIFT, PCG_CREATE);
		if (IS_ERR(page))
			return PTR_ERR(page);
	}
	done = write_cached(m, pos, buf, n, user, page, limit);
	page_put(page);
	return done;
}

/*
 * Up to which byte pages may be changed without their lock: where the end of a disk's file does not
 * move. Pages that may not change under writeback: none.
 */
static __always_inline u64 unlocked_limit(const struct mapping *m)
{
	if (m->flags & (MAPF_SHMEM | MAPF_STABLE))
		return m->flags & MAPF_SHMEM ? ~0ull : 0;
	return m->size;
}

static __always_inline ssize_t do_write(struct mapping *m, u64 pos, const char *buf, size_t n,
					bool user)
{
	u64 limit = unlocked_limit(m);
	size_t done = 0;

	if (unlikely(pos > m->size) && n)
		pagecache_zero_tail(m);
	while (done < n) {
		unsigned int off = offset_in_page(pos);
		size_t bytes = min(n - done, PAGE_SIZE - off);
		struct page *page = mapping_find_get(m, pos >> PAGE_SHIFT);
		ssize_t copied;

		if (likely(page && (READ_ONCE(page->flags) & PAGE_WRITABLE) == PAGE_WRITABLE &&
			   pos + bytes <= limit)) {
			char *va = page_kmap(page);

			copied = bytes - copy_in(va + off, buf + done, bytes, user);
			page_kunmap(va);
			smp_mb(); /* the flusher's: top of this file */
			if (unlikely(!page_test(page, PG_dirty)))
				pagecache_set_dirty(page);
			page_put(page);
			if (unlikely(!copied))
				copied = -EFAULT;
		} else {
			copied = write_slow(m, pos, buf + done, bytes, user, page, limit);
			limit = unlocked_limit(m);
		}
		if (unlikely(copied < 0))
			return done ? (ssize_t)done : copied;
		done += copied;
		pos += copied;
		if (m->bdi) {
			balance_dirty_pages_ratelimited(m);
		} else if (pos > m->size) {
			WRITE_ONCE(m->size, pos);
		}
		cond_resched();
	}
	return done;
}

static noinline ssize_t write_many(struct mapping *m, u64 pos, const void __user *buf, size_t n)
{
	return do_write(m, pos, (const char *)buf, n, true);
}

/* Within one page, but not the plainest case. As pagecache_write. */
static noinline ssize_t write_part(struct mapping *m, u64 pos, const void __user *buf, size_t n,
				   struct page *page)
{
	ssize_t done;

	if (unlikely(pos > m->size)) {
		if (page)
			page_put(page);
		return write_many(m, pos, buf, n);
	}
	if (!page && mapping_is_shmem(m))
		done = write_fresh(m, pos, (const void *)buf, n, true, false, true);
	else
		done = write_slow(m, pos, (const void *)buf, n, true, page, unlocked_limit(m));
	if (unlikely(done != (ssize_t)n))
		return done < 0 && done != -EEXIST ? done : write_many(m, pos, buf, n);
	if (m->bdi)
		balance_dirty_pages_ratelimited(m);
	else if (pos + n > m->size)
		WRITE_ONCE(m->size, pos + n);
	return n;
}

/*
 * The plainest write, without a loop: within one page that is there and has all it needs, and
 * within the file. A fault while copying starts again the long way.
 */
ssize_t pagecache_write(struct mapping *m, u64 pos, const void __user *buf, size_t n)
{
	unsigned int off = offset_in_page(pos);
	struct page *page;
	size_t left;

	if (unlikely(n - 1 >= PAGE_SIZE - off))
		return write_many(m, pos, buf, n);
	page = mapping_find_get(m, pos >> PAGE_SHIFT);
	if (unlikely(!page || (READ_ONCE(page->flags) & PAGE_WRITABLE) != PAGE_WRITABLE ||
		     pos + n > m->size || (m->flags & MAPF_STABLE)))
		return write_part(m, pos, buf, n, page);
	left = copy_from_user((char *)page_kmap(page) + off, buf, n);
	smp_mb(); /* the flusher's: top of this file */
	if (unlikely(!page_test(page, PG_dirty)))
		pagecache_set_dirty(page);
	page_put(page);
	balance_dirty_pages_ratelimited(m);
	return likely(!left) ? (ssize_t)n : write_many(m, pos, buf, n);
}

ssize_t pagecache_write_kernel(struct mapping *m, u64 pos, const void *buf, size_t n)
{
	return do_write(m, pos, buf, n, false);
}
