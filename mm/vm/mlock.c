/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mlock.c - memory that must stay: VMAs with VM_LOCKED, pages with PG_mlocked on the unevictable
 * list.
 *
 * A page is PG_mlocked while some VM_LOCKED VMA maps it. It becomes so when it is faulted in, or
 * when mlock finds it present. When a locked VMA lets it go, the page is asked (rmap) whether
 * another locked VMA still maps it; the last mapping takes the mark away in any case.
 * Huge pages are split when they are locked (the walk does it), and locked memory gets none.
 * RLIMIT_MEMLOCK does not bind root, and here everybody is root.
 */
#include "mm/reclaim/lruvec.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"

#define MCL_CURRENT 1
#define MCL_FUTURE 2
#define MCL_ONFAULT 4

void mlock_page(struct page *page)
{
	if (page_test_and_set(page, PG_mlocked))
		return;
	mod_lruvec_state(page, NR_MLOCK, 1);
	count_vm_event(UNEVICTABLE_MLOCKED);
	lru_make_unevictable(page);
}

static void munlock_page(struct page *page)
{
	if (!page_test_and_clear(page, PG_mlocked))
		return;
	mod_lruvec_state(page, NR_MLOCK, -1);
	count_vm_event(UNEVICTABLE_MUNLOCKED);
	lru_make_evictable(page);
}

void mlock_page_gone(struct page *page)
{
	munlock_page(page);
}

/* Pages of one run, collected under pt_lock and handled outside. */
struct lock_walk {
	unsigned int nr;
	bool lock;
	struct vma *leaving; /* the VMA that gives its pages up */
	struct page *pages[PT_BATCH];
};

static int other_locked(struct page *page, struct vma *vma, unsigned long addr, pte_t *pte,
			void *arg)
{
	return vma != arg && (vma->flags & VM_LOCKED);
}

static void lock_walk_flush(struct lock_walk *l)
{
	for (unsigned int i = 0; i < l->nr; i++) {
		struct page *page = l->pages[i];

		if (l->lock) {
			mlock_page(page);
		} else {
			page_lock(page);
			if (page_mapcount(page) <= 1 || !rmap_walk(page, other_locked, l->leaving))
				munlock_page(page);
			page_unlock(page);
		}
		page_put(page);
	}
	l->nr = 0;
}

static int lock_before(struct pt_walk *w, unsigned long addr)
{
	lock_walk_flush(w->arg);
	return 0;
}

static int lock_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct lock_walk *l = w->arg;

	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte);
		struct page *page;

		if (!pte_mapped(e) || pte_special(e))
			continue;
		page = pfn_to_page(pte_pfn(e));
		if (page_test(page, PG_mlocked) == l->lock)
			continue;
		page_get(page);
		l->pages[l->nr++] = page;
	}
	return 0;
}

static const struct pt_walk_ops lock_ops = { .before = lock_before, .ptes = lock_ptes };

static void walk_locked(struct vma *vma, unsigned long start, unsigned long end, bool lock)
{
	struct lock_walk l = { .lock = lock, .leaving = vma };
	struct pt_walk w = { .mm = vma->mm, .vma = vma, .arg = &l };

	pt_walk(&w, &lock_ops, start, end);
	lock_walk_flush(&l);
}

void munlock_vma_pages(struct vma *vma, unsigned long start, unsigned long end)
{
	walk_locked(vma, start, end, false);
}

/* => [start, end) inside vma; the VMA that holds it afterwards, or ERR_PTR */
static struct vma *set_locked(struct vma *vma, unsigned long start, unsigned long end,
			      unsigned long want)
{
	unsigned long old = vma->flags, new = (old & ~(VM_LOCKED | VM_LOCKONFAULT)) | want;
	long n = (end - start) >> PAGE_SHIFT;

	if (new == old || (vma->flags & VM_PFNMAP))
		return vma;
	vma = vma_carve(vma, start, end);
	if (IS_ERR(vma))
		return vma;
	if ((new ^ old) & VM_LOCKED)
		vma->mm->locked_vm += new &VM_LOCKED ? n : -n;
	vma->flags = new;
	walk_locked(vma, start, end, new &VM_LOCKED);
	return vma_merge(vma);
}

/* -ENOMEM at a hole, after what lies before it. => lock for writing */
static int apply_range(struct aspace *mm, unsigned long start, unsigned long end,
		       unsigned long want)
{
	for (unsigned long addr = start; addr < end;) {
		struct vma *vma = vma_find(mm, addr);
		unsigned long stop;

		if (!vma || vma->start > addr)
			return -ENOMEM;
		stop = min(end, vma->end);
		vma = set_locked(vma, addr, stop, want);
		if (IS_ERR(vma))
			return PTR_ERR(vma);
		addr = stop;
	}
	return 0;
}

/* Faults the range in: 0, -ENOMEM (also for what may not be touched), -EAGAIN. */
static int populate_locked(struct aspace *mm, unsigned long start, unsigned long end)
{
	int err = 0;

	down_read(&mm->lock);
	for (unsigned long addr = start; addr < end && !err;) {
		struct vma *vma = vma_find(mm, addr);
		unsigned long stop;

		if (!vma || vma->start > addr) {
			err = -ENOMEM;
			break;
		}
		stop = min(end, vma->end);
		if (!(vma->flags & VM_ACCESS))
			err = -ENOMEM;
		else if (!(vma->flags & (VM_PFNMAP | VM_LOCKONFAULT)))
			err = vm_populate_vma(vma, addr, stop,
					      vma_flags_private_writable(vma->flags) ? FAULT_WRITE
										     : 0);
		addr = stop;
	}
	up_read(&mm->lock);
	return err == -ENOMEM || err == -EINTR || !err ? err : -ENOMEM;
}

static int lock_range(unsigned long addr, size_t len, unsigned long want)
{
	struct aspace *mm = current->mm;
	unsigned long start = addr & PAGE_MASK, end;
	int err;

	len = ALIGN_UP(len + offset_in_page(addr), PAGE_SIZE);
	end = start + len;
	if (end < start)
		return -EINVAL;
	if (end == start)
		return 0;
	if (down_write_killable(&mm->lock))
		return -EINTR;
	err = apply_range(mm, start, end, want);
	up_write(&mm->lock);
	if (!err && (want & VM_LOCKED) && !(want & VM_LOCKONFAULT))
		err = populate_locked(mm, start, end);
	return err;
}

int vm_mlock(unsigned long addr, size_t len, int onfault)
{
	return lock_range(addr, len, VM_LOCKED | (onfault ? VM_LOCKONFAULT : 0));
}

int vm_munlock(unsigned long addr, size_t len)
{
	return lock_range(addr, len, 0);
}

/* => lock for writing */
static void apply_all(struct aspace *mm, unsigned long want)
{
	struct vma *vma = vma_find(mm, 0);

	while (vma) {
		struct vma *now = set_locked(vma, vma->start, vma->end, want);

		vma = vma_next(IS_ERR(now) ? vma : now);
	}
}

int vm_mlockall(int flags)
{
	unsigned long want = VM_LOCKED | (flags & MCL_ONFAULT ? VM_LOCKONFAULT : 0);
	struct aspace *mm = current->mm;

	if (!flags || (flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)) || flags == MCL_ONFAULT)
		return -EINVAL;
	if (down_write_killable(&mm->lock))
		return -EINTR;
	mm->def_flags &= ~(VM_LOCKED | VM_LOCKONFAULT);
	if (flags & MCL_FUTURE)
		mm->def_flags |= want;
	if (flags & MCL_CURRENT)
		apply_all(mm, want);
	up_write(&mm->lock);
	if ((flags & MCL_CURRENT) && !(flags & MCL_ONFAULT))
		vm_populate(mm, 0, USER_TOP);
	return 0;
}

int vm_munlockall(void)
{
	struct aspace *mm = current->mm;

	if (down_write_killable(&mm->lock))
		return -EINTR;
	mm->def_flags &= ~(VM_LOCKED | VM_LOCKONFAULT);
	apply_all(mm, 0);
	up_write(&mm->lock);
	return 0;
}
