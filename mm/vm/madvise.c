/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * madvise.c - advice about memory: madvise, msync.
 *
 * Advice is of two kinds: a flag of the VMA (cut out, set, join again), or an action on pages
 * (DONTNEED, FREE, REMOVE, POPULATE; WILLNEED: read ahead; COLD, PAGEOUT: advise_lru.c). A hole in
 * the range does not stop the rest; the answer is then -ENOMEM. FREE may take pages at any time, so
 * it takes them now.
 */
#include "arch/uaccess.h"
#include "mm/cache/readahead.h"
#include "mm/phys/page_alloc.h"
#include "mm/swap/swap.h"
#include "mm/vm/internal.h"
#include "mm/vm/khugepaged.h"
#include "mm/vm/ptwalk.h"

enum {
	MADV_NORMAL,
	MADV_RANDOM,
	MADV_SEQUENTIAL,
	MADV_WILLNEED,
	MADV_DONTNEED,
	MADV_FREE = 8,
	MADV_REMOVE,
	MADV_DONTFORK,
	MADV_DOFORK,
	MADV_MERGEABLE,
	MADV_UNMERGEABLE,
	MADV_HUGEPAGE,
	MADV_NOHUGEPAGE,
	MADV_DONTDUMP,
	MADV_DODUMP,
	MADV_WIPEONFORK,
	MADV_KEEPONFORK,
	MADV_COLD,
	MADV_PAGEOUT,
	MADV_POPULATE_READ,
	MADV_POPULATE_WRITE,
	MADV_DONTNEED_LOCKED,
	MADV_COLLAPSE,
};

static bool advice_known(int advice)
{
	return (advice >= MADV_NORMAL && advice <= MADV_DONTNEED) ||
	       (advice >= MADV_FREE && advice <= MADV_COLLAPSE);
}

/* The VMA's flags after the advice, or -errno; unchanged when the advice is not about flags. */
static long advised_flags(const struct vma *vma, int advice)
{
	unsigned long f = vma->flags;

	switch (advice) {
	case MADV_NORMAL:
		return f & ~(VM_RAND_READ | VM_SEQ_READ);
	case MADV_RANDOM:
		return (f & ~VM_SEQ_READ) | VM_RAND_READ;
	case MADV_SEQUENTIAL:
		return (f & ~VM_RAND_READ) | VM_SEQ_READ;
	case MADV_DONTFORK:
		return f | VM_DONTCOPY;
	case MADV_DOFORK:
		return f & VM_PFNMAP ? -EINVAL : (long)(f & ~VM_DONTCOPY);
	case MADV_WIPEONFORK:
		return vma->mapping || (f & VM_MAYSHARE) ? -EINVAL : (long)(f | VM_WIPEONFORK);
	case MADV_KEEPONFORK:
		return f & ~VM_WIPEONFORK;
	case MADV_DONTDUMP:
		return f | VM_DONTDUMP;
	case MADV_DODUMP:
		return f & ~VM_DONTDUMP;
	case MADV_MERGEABLE:
		return f | VM_MERGEABLE;
	case MADV_UNMERGEABLE:
		return f & ~VM_MERGEABLE;
	case MADV_HUGEPAGE:
		return (f & ~VM_NOHUGEPAGE) | VM_HUGEPAGE;
	case MADV_NOHUGEPAGE:
		return (f & ~VM_HUGEPAGE) | VM_NOHUGEPAGE;
	}
	return f;
}

/* Hole in the file itself. => lock held, given up and taken again: vma is stale afterwards */
static int advise_remove(struct aspace *mm, struct vma *vma, unsigned long start, unsigned long end)
{
	struct mapping *m = vma->mapping;
	struct file *file = vma->file;
	u64 from, to;
	int err = 0;

	if (vma->flags & VM_LOCKED)
		return -EINVAL;
	if (!m)
		return -EINVAL;
	if ((vma->flags & (VM_SHARED | VM_WRITE)) != (VM_SHARED | VM_WRITE))
		return -EACCES;
	if (!(m->flags & MAPF_SHMEM) && (!file || !vm_file_ops->punch))
		return -EOPNOTSUPP;
	from = (u64)vma_index(vma, start) << PAGE_SHIFT;
	to = from + (end - start);
	if (file) {
		vm_file_get(file);
		up_read(&mm->lock);
		if (m->flags & MAPF_SHMEM)
			pagecache_punch(m, from, to);
		else
			err = vm_file_ops->punch(file, from, to - from);
		vm_file_put(file);
		down_read(&mm->lock);
	} else {
		pagecache_punch(m, from, to); /* the VMA keeps the object; lock order allows it */
	}
	return err;
}

/* Actions on pages. => lock shared */
static int advise_pages(struct aspace *mm, struct vma *vma, unsigned long start, unsigned long end,
			int advice)
{
	unsigned int flags = 0;
	int err;

	switch (advice) {
	case MADV_DONTNEED:
	case MADV_DONTNEED_LOCKED:
		if ((vma->flags & VM_PFNMAP) ||
		    ((vma->flags & VM_LOCKED) && advice == MADV_DONTNEED))
			return -EINVAL;
		zap_vma_range(vma, start, end);
		return 0;
	case MADV_FREE:
		if (vma->mapping || (vma->flags & VM_MAYSHARE))
			return -EINVAL;
		zap_vma_range(vma, start, end);
		return 0;
	case MADV_WILLNEED:
		vma_swap_willneed(vma, start, end);
		if (vma->mapping && !(vma->mapping->flags & MAPF_SHMEM))
			readahead_start(vma->mapping, vma_index(vma, start),
					(end - start) >> PAGE_SHIFT);
		return 0;
	case MADV_REMOVE:
		return advise_remove(mm, vma, start, end);
	case MADV_COLD:
	case MADV_PAGEOUT:
		if (vma->flags & (VM_LOCKED | VM_PFNMAP))
			return -EINVAL;
		vma_advise_cold(vma, start, end, advice == MADV_PAGEOUT);
		return 0;
	case MADV_POPULATE_WRITE:
		flags = FAULT_WRITE;
		fallthrough;
	case MADV_POPULATE_READ:
		if ((vma->flags & VM_PFNMAP) || !(vma->flags & (flags ? VM_WRITE : VM_ACCESS)))
			return -EINVAL;
		err = vm_populate_vma(vma, start, end, flags);
		return err == -EIO ? -EFAULT : err;
	}
	return 0;
}

static bool is_flag_advice(int advice)
{
	return advice <= MADV_SEQUENTIAL || (advice >= MADV_DONTFORK && advice <= MADV_KEEPONFORK);
}

/* => lock for writing; the VMA that holds the range afterwards, or ERR_PTR */
static struct vma *advise_flags(struct vma *vma, unsigned long start, unsigned long end, int advice)
{
	long flags = advised_flags(vma, advice);

	if (flags < 0)
		return ERR_PTR(flags);
	if ((unsigned long)flags == vma->flags)
		return vma;
	vma = vma_carve(vma, start, end);
	if (IS_ERR(vma))
		return vma;
	vma->flags = flags;
	vma = vma_merge(vma);
	if (advice == MADV_HUGEPAGE)
		khugepaged_enter(vma->mm, vma);
	return vma;
}

static int advise_range(struct aspace *mm, unsigned long start, unsigned long end, int advice)
{
	unsigned long addr = start;
	int hole = 0;

	while (addr < end) {
		struct vma *vma = vma_find(mm, addr);
		unsigned long stop;
		int err = 0;

		if (!vma || vma->start >= end)
			return -ENOMEM;
		if (vma->start > addr) {
			hole = -ENOMEM;
			addr = vma->start;
			if (advice == MADV_POPULATE_READ || advice == MADV_POPULATE_WRITE)
				return hole;
		}
		stop = min(end, vma->end);
		if (is_flag_advice(advice)) {
			vma = advise_flags(vma, addr, stop, advice);
			err = IS_ERR(vma) ? PTR_ERR(vma) : 0;
		} else {
			err = advise_pages(mm, vma, addr, stop, advice);
		}
		if (err)
			return err;
		addr = stop;
	}
	return hole;
}

int vm_madvise(struct aspace *mm, unsigned long addr, size_t len_in, int advice)
{
	size_t len = ALIGN_UP(len_in, PAGE_SIZE);
	int err;

	if (!advice_known(advice) || offset_in_page(addr))
		return -EINVAL;
	if ((len_in && !len) || addr + len < addr)
		return -EINVAL;
	if (!len)
		return 0;
	if (advice == MADV_COLLAPSE)
		return thp_madvise_collapse(mm, addr, addr + len);
	if (advice == MADV_HUGEPAGE)
		thp_advised();
	if (is_flag_advice(advice)) {
		if (down_write_killable(&mm->lock))
			return -EINTR;
		err = advise_range(mm, addr, addr + len, advice);
		up_write(&mm->lock);
	} else {
		down_read(&mm->lock);
		err = advise_range(mm, addr, addr + len, advice);
		up_read(&mm->lock);
	}
	return err;
}

#define MS_ASYNC 1
#define MS_INVALIDATE 2
#define MS_SYNC 4

int vm_msync(unsigned long addr, size_t len, int flags)
{
	struct aspace *mm = current->mm;
	unsigned long end;
	int hole = 0, err = 0;

	if ((flags & ~(MS_ASYNC | MS_INVALIDATE | MS_SYNC)) || offset_in_page(addr))
		return -EINVAL;
	if ((flags & (MS_ASYNC | MS_SYNC)) == (MS_ASYNC | MS_SYNC))
		return -EINVAL;
	len = ALIGN_UP(len, PAGE_SIZE);
	end = addr + len;
	if (end < addr)
		return -ENOMEM;
	while (addr < end && !err) {
		struct file *file = NULL;
		struct vma *vma;
		u64 from = 0, to = 0;

		down_read(&mm->lock);
		vma = vma_find(mm, addr);
		if (!vma || vma->start >= end) {
			up_read(&mm->lock);
			return -ENOMEM;
		}
		if (vma->start > addr) {
			hole = -ENOMEM;
			addr = vma->start;
		}
		if ((flags & MS_INVALIDATE) && (vma->flags & VM_LOCKED))
			err = -EBUSY;
		if ((flags & MS_SYNC) && vma->file && (vma->flags & VM_SHARED) &&
		    vm_file_ops->fsync) {
			file = vma->file;
			vm_file_get(file);
			from = (u64)vma_index(vma, addr) << PAGE_SHIFT;
			to = from + (min(end, vma->end) - addr) - 1;
		}
		addr = vma->end;
		up_read(&mm->lock);
		if (file && !err)
			err = vm_file_ops->fsync(file, from, to);
		vm_file_put(file);
	}
	return err ? err : hole;
}
