/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_wait.c - sleeping until a page is unlocked or written.
 *
 * Problem: any of millions of pages may have waiters, few have. Idea: a small table of wait queues
 * picked by a hash of the page; PG_waiters says whether a look into the table is worth it. All
 * sleepers of a bucket wake and look again.
 *
 *   waiter:   queue itself; set PG_waiters; test the bit; sleep
 *   waker:    clear the bit; PG_waiters set? -> clear it, wake the bucket
 *
 * Every step is a locked instruction, so either the waiter sees the bit clear or the waker sees
 * PG_waiters. A flag left over from a waiter that did not need to sleep costs one idle wake-up.
 */
#include "lib/errno.h"
#include "mm/phys/internal.h"
#include "mm/phys/page.h"
#include "sched/psi.h"
#include "sched/wait.h"

#define BUCKETS 64 /* 2^6 */
static struct wait_queue buckets[BUCKETS];

void page_wait_init(void)
{
	for (u32 i = 0; i < BUCKETS; i++)
		wait_queue_init(&buckets[i]);
}

static struct wait_queue *bucket(const struct page *page)
{
	/* Fibonacci hashing of the page's number. */
	return &buckets[((unsigned long)page / sizeof(*page) * 0x9e3779b97f4a7c15ul) >> 58];
}

static noinline void wake_waiters(struct page *page)
{
	page_clear(page, PG_waiters);
	wake_up_all(bucket(page));
}

/*
 * Is it being read from where reclaim put it: from swap, or from a file that lost it too early
 * (only workingset_refault() makes a page active before it is read)? Then who waits for it waits
 * for memory.
 */
static bool is_coming_back(struct page *page)
{
	unsigned long f = READ_ONCE(page->flags);

	return !(f & BIT(PG_uptodate)) && (f & (BIT(PG_swapcache) | BIT(PG_active)));
}

/* Until done(page) or, killable, a fatal signal. */
static noinline int wait_on(struct page *page, bool (*done)(struct page *), u32 state)
{
	bool thrashing = is_coming_back(page), before = thrashing && psi_memstall_enter();
	struct wait_queue *q = bucket(page);
	WAIT_ENTRY(entry);
	int ret = 0;

	for (;;) {
		wait_prepare(q, &entry, state);
		page_set(page, PG_waiters);
		if (done(page))
			break;
		if (state == THREAD_KILLABLE && fatal_signal_pending()) {
			ret = -EINTR;
			break;
		}
		io_schedule();
	}
	wait_finish(q, &entry);
	if (thrashing)
		psi_memstall_leave(before);
	return ret;
}

static bool not_writeback(struct page *page)
{
	return !page_test(page, PG_writeback);
}

bool page_trylock(struct page *page)
{
	return !page_test_and_set(page, PG_locked);
}

void page_lock(struct page *page)
{
	if (unlikely(!page_trylock(page)))
		wait_on(page, page_trylock, THREAD_UNINTERRUPTIBLE);
}

int page_lock_killable(struct page *page)
{
	return likely(page_trylock(page)) ? 0 : wait_on(page, page_trylock, THREAD_KILLABLE);
}

/* With the reference gone the page may be anybody's: it is not looked at again. */
void page_wait_unlocked_put(struct page *page)
{
	struct wait_queue *q = bucket(page);
	WAIT_ENTRY(entry);
	bool locked;

	wait_prepare(q, &entry, THREAD_UNINTERRUPTIBLE);
	page_set(page, PG_waiters);
	locked = page_test(page, PG_locked);
	page_put(page);
	if (locked)
		io_schedule();
	wait_finish(q, &entry);
}

/* Its owner needs *lock before he can let the page go, so it is still his when we are queued. */
void page_wait_unlocked_under(struct page *page, spinlock_t *lock)
{
	struct wait_queue *q = bucket(page);
	WAIT_ENTRY(entry);
	bool locked;

	wait_prepare(q, &entry, THREAD_UNINTERRUPTIBLE);
	page_set(page, PG_waiters);
	locked = page_test(page, PG_locked);
	spin_unlock(lock);
	if (locked)
		io_schedule();
	wait_finish(q, &entry);
}

void page_unlock(struct page *page)
{
	ASSERT(page_test(page, PG_locked));
	page_clear(page, PG_locked);
	if (unlikely(page_test(page, PG_waiters)))
		wake_waiters(page);
}

void page_wait_writeback(struct page *page)
{
	if (page_test(page, PG_writeback))
		wait_on(page, not_writeback, THREAD_UNINTERRUPTIBLE);
}

void page_end_writeback(struct page *page)
{
	const unsigned long bits = BIT(PG_writeback) | BIT(PG_waiters) | BIT(PG_wb_epoch);
	unsigned long old;

	if (page_test(page, PG_reclaim)) {
		page_clear(page, PG_reclaim);
		page_lru_rotate(page);
	}
	/* One step: with the flag clear the page may be somebody else's before the next line. */
	old = __atomic_fetch_and(&page->flags, ~bits, __ATOMIC_SEQ_CST);
	ASSERT(old & BIT(PG_writeback));
	if (unlikely(old & BIT(PG_waiters)))
		wake_up_all(bucket(page));
}
