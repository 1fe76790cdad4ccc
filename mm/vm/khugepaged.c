/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * khugepaged.c - the thread that makes huge pages where small ones were taken.
 *
 * Problem: a fault takes small pages when no block is free, when the VMA became eligible later, or
 * after a huge page was split; nobody would ever make a huge page of them again. To look for such
 * places all the time costs for ever. Idea: look only where something has changed. A fault that
 * makes a small table in an eligible VMA, madvise, fork and a change of the settings put the
 * address space on a list; the thread looks through it once, from the bottom to the top, and takes
 * it off.
 *
 *   enter -> todo --scan--> done, nothing left to do:  off the list
 *                    |
 *                    +----> places that did not fit (locked pages, too many empty, not used
 *                           lately):  later, up to TRIES times more; for want of a block: until
 *                           there is one
 *
 * As long as the list is not empty the thread works pages_to_scan entries and then sleeps
 * scan_sleep_millisecs (alloc_sleep_millisecs after it found no block). With an empty list it
 * sleeps without a timer: what does not change costs nothing.
 *
 * khuge_next is where in the address space the scan is; khuge_seq what is known about it: CHANGED
 * since the scan began at the bottom, LEFT places behind it that want another try, and how many
 * tries there are.
 * Locking: (l) aspace_list_lock: both lists; khuge_seq is written without it, a lost mark costs one
 * scan. While it looks the thread is a user of the address space, and leaves when it is the last.
 */
#include "mm/vm/khugepaged.h"

#include "kernel/printk.h"
#include "kernel/time.h"
#include "mm/vm/internal.h"
#include "sched/kthread.h"
#include "sched/sched.h"

#define TRIES 8ul
#define TRIES_MASK 0xfful
#define CHANGED 0x100ul
#define LEFT 0x200ul

static LIST_HEAD(todo);	 /* (l) aspace.khuge: of this round */
static LIST_HEAD(later); /* (l) of the next one */
static DEFINE_WAIT_QUEUE(khugepaged_wait);
static struct thread *thread;
static bool starting, hurry;
u64 khugepaged_pages_collapsed, khugepaged_full_scans;

static inline bool work(void)
{
	return !list_empty(&todo) || !list_empty(&later);
}

/* => aspace_list_lock */
static void add_locked(struct aspace *mm)
{
	if (list_empty(&mm->khuge) && atomic_read(&mm->users))
		list_add_tail(&mm->khuge, &todo);
}

void khugepaged_enter(struct aspace *mm, const struct vma *vma)
{
	bool first;

	if (!thp_wanted(vma) || !READ_ONCE(thread))
		return;
	WRITE_ONCE(mm->khuge_seq, READ_ONCE(mm->khuge_seq) | CHANGED);
	if (!list_empty(&mm->khuge))
		return;
	spin_lock(&aspace_list_lock);
	first = !work();
	add_locked(mm);
	spin_unlock(&aspace_list_lock);
	if (first)
		wake_up(&khugepaged_wait);
}

void khugepaged_fork(struct aspace *child, const struct aspace *parent)
{
	if (list_empty(&parent->khuge))
		return;
	WRITE_ONCE(child->khuge_seq, CHANGED);
	spin_lock(&aspace_list_lock);
	add_locked(child);
	spin_unlock(&aspace_list_lock);
}

void khugepaged_exit(struct aspace *mm)
{
	spin_lock(&aspace_list_lock);
	list_del_init(&mm->khuge);
	spin_unlock(&aspace_list_lock);
}

void khugepaged_all(void)
{
	struct aspace *mm;

	if (!READ_ONCE(thread))
		return;
	spin_lock(&aspace_list_lock);
	list_for_each_entry(mm, &aspace_list, node) {
		WRITE_ONCE(mm->khuge_seq, READ_ONCE(mm->khuge_seq) | CHANGED);
		add_locked(mm);
	}
	spin_unlock(&aspace_list_lock);
	WRITE_ONCE(hurry, true);
	wake_up(&khugepaged_wait);
}

/* ---- the scan ---- */

/* The next one, held as a user and off the list; NULL: all were looked at. */
static struct aspace *take(void)
{
	struct aspace *mm = NULL;

	spin_lock(&aspace_list_lock);
	while (!list_empty(&todo) && !mm) {
		mm = list_first_entry(&todo, struct aspace, khuge);
		list_del_init(&mm->khuge);
		if (!atomic_inc_not_zero(&mm->users))
			mm = NULL;
	}
	spin_unlock(&aspace_list_lock);
	return mm;
}

/* Back to where it belongs, if anywhere. finished: it was looked at up to the top */
static void give_back(struct aspace *mm, bool finished)
{
	unsigned long seq = READ_ONCE(mm->khuge_seq);

	spin_lock(&aspace_list_lock);
	if (!list_empty(&mm->khuge))
		list_del_init(&mm->khuge); /* it was entered meanwhile */
	if (!finished) {
		list_add(&mm->khuge, &todo);
	} else {
		mm->khuge_next = 0;
		if (seq & CHANGED || (seq & LEFT && seq & TRIES_MASK))
			list_add_tail(&mm->khuge, &later);
	}
	spin_unlock(&aspace_list_lock);
	aspace_put(mm);
}

static void scan_begins(struct aspace *mm)
{
	unsigned long seq = READ_ONCE(mm->khuge_seq), tries = seq & TRIES_MASK;

	WRITE_ONCE(mm->khuge_seq, seq & CHANGED ? TRIES : tries ? tries - 1 : 0);
}

/* The place stays small for now: another look is worth it. for_ever: it does not cost a try */
static void left(struct aspace *mm, bool for_ever)
{
	unsigned long seq = READ_ONCE(mm->khuge_seq) | LEFT;

	if (for_ever && (seq & TRIES_MASK) < TRIES)
		seq++;
	WRITE_ONCE(mm->khuge_seq, seq);
}

static struct collapse_control control(void)
{
	const struct khugepaged_settings *s = &khugepaged_settings;
	gfp_t gfp = (GFP_HIGHUSER_MOVABLE & ~__GFP_RECLAIM) | __GFP_NOMEMALLOC | __GFP_NOWARN;

	return (struct collapse_control){
		.max_none = READ_ONCE(s->max_ptes_none),
		.max_swap = READ_ONCE(s->max_ptes_swap),
		.max_shared = READ_ONCE(s->max_ptes_shared),
		.gfp = READ_ONCE(s->defrag) ? gfp | __GFP_DIRECT_RECLAIM : gfp,
	};
}

/* First aligned place at or above addr that may become a huge page, and its VMA. => mm->lock */
static struct vma *next_place(struct aspace *mm, unsigned long *addr)
{
	struct vma *vma = vma_find(mm, *addr);

	for (; vma; vma = vma_next(vma)) {
		unsigned long a = ALIGN_UP(max(*addr, vma->start), HPAGE_SIZE);

		if (a >= vma->start && thp_eligible(vma, a)) {
			*addr = a;
			return vma;
		}
	}
	return NULL;
}

static bool given_up(const struct aspace *mm)
{
	return atomic_read(&mm->users) == 1 || READ_ONCE(mm->oom_reaped);
}

/*
 * Looks at mm from khuge_next on, for at most *budget entries, and collapses what is worth it.
 * true: up to the top. *nomem: there was no block
 */
static bool scan(struct aspace *mm, long *budget, bool *nomem)
{
	unsigned long addr = mm->khuge_next;
	bool finished = false;

	if (!addr)
		scan_begins(mm);
	while (*budget > 0 && !*nomem && !given_up(mm)) {
		struct collapse_control cc = control();
		enum collapse_result r = COLLAPSE_EMPTY;
		struct vma *vma;

		down_read(&mm->lock);
		vma = next_place(mm, &addr);
		if (vma)
			r = collapse_look(vma, addr, &cc);
		up_read(&mm->lock);
		if (!vma) {
			finished = true;
			break;
		}
		if (r == COLLAPSE_CANDIDATE)
			r = collapse(mm, addr, &cc);
		khugepaged_pages_collapsed += r == COLLAPSE_DONE;
		*nomem = r == COLLAPSE_NOMEM;
		if (r != COLLAPSE_DONE && r != COLLAPSE_MAPPED && r != COLLAPSE_EMPTY)
			left(mm, *nomem);
		*budget -= r == COLLAPSE_EMPTY || r == COLLAPSE_MAPPED ? 1 : HPAGE_NR;
		addr += HPAGE_SIZE;
		cond_resched();
	}
	mm->khuge_next = addr;
	return finished || given_up(mm);
}

/* One portion. => true: no block was to be had */
static bool scan_some(void)
{
	long budget = READ_ONCE(khugepaged_settings.pages_to_scan);
	bool nomem = false;
	struct aspace *mm;

	while (budget > 0 && !nomem && (mm = take()))
		give_back(mm, scan(mm, &budget, &nomem));
	spin_lock(&aspace_list_lock);
	if (list_empty(&todo)) {
		khugepaged_full_scans++;
		list_splice_init(&later, &todo);
	}
	spin_unlock(&aspace_list_lock);
	return nomem;
}

static void pause(u32 ms)
{
	ktime_t until = ktime_get() + (ktime_t)ms * NSEC_PER_MSEC;

	(void)wait_event_interruptible_until(&khugepaged_wait, READ_ONCE(hurry), until);
	WRITE_ONCE(hurry, false);
}

static int khugepaged(void *unused)
{
	bool nomem = false;

	sched_set_nice(current, 19);
	for (;;) {
		(void)wait_event_interruptible(&khugepaged_wait, work());
		pause(nomem ? READ_ONCE(khugepaged_settings.alloc_sleep_millisecs)
			    : READ_ONCE(khugepaged_settings.scan_sleep_millisecs));
		nomem = scan_some();
	}
	return 0;
}

void khugepaged_start(void)
{
	struct thread *t;

	if (READ_ONCE(thread) || xchg(&starting, true))
		return;
	t = kthread_create(khugepaged, NULL, -1, "khugepaged");
	if (!t) {
		pr_warn("khugepaged: no memory for its thread\n");
		WRITE_ONCE(starting, false);
		return;
	}
	WRITE_ONCE(thread, t);
	thread_start(t);
}
