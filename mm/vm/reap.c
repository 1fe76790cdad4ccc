/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reap.c - a process that dies for want of memory gives it back before it has run again.
 *
 * Problem: a victim of the out-of-memory killer frees its memory when it leaves, and it may not
 * come to that: it waits for a lock, for a disk, for memory. Idea: somebody else takes out of its
 * page tables what nobody but it can miss: private memory. The rest goes when it goes.
 *
 * From then on a place without an entry says nothing about what was there, so no fault may fill it
 * (handle_fault asks oom_reaped after it has read the entry, and we set it before we clear one).
 * The program will never see that: a fatal signal is pending. A system call of its that still reads
 * its memory gets EFAULT instead of zeros.
 * Locking: mm->lock for reading, only tried: its holder may be what waits.
 */
#include "mm/vm/internal.h"

/* Mapped by nobody else, as far as this address space goes, and not pinned by mlock. */
static bool reapable(const struct vma *vma)
{
	return !(vma->flags & (VM_SHARED | VM_PFNMAP | VM_LOCKED));
}

int aspace_reap(struct aspace *mm)
{
	struct vma *vma;

	if (!down_read_trylock(&mm->lock))
		return -EAGAIN;
	WRITE_ONCE(mm->oom_reaped, true);
	smp_mb();
	list_for_each_entry(vma, &mm->vma_list, list)
		if (reapable(vma))
			zap_vma_range(vma, vma->start, vma->end);
	up_read(&mm->lock);
	return 0;
}
