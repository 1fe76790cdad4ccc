// SPDX-License-Identifier: BSD-2-Clause
/*
 * shm_attach.c - shmat and shmdt: segments of System V shared memory in address spaces.
 *
 * An attachment is an ordinary shared mapping of the segment's file whose VMAs carry hooks; cutting
 * such a VMA in two makes two attachments, as on Linux. shmdt finds the pieces again by their
 * distance from the address that was attached.
 * Locking: aspace->lock, then shm_lock.
 */
#include "mm/vm/aspace.h"
#include "sys/process.h"
#include "sys/shm_internal.h"
#include "sys/syscall.h"

#define SHM_RDONLY 010000
#define SHM_RND 020000
#define SHM_REMAP 040000
#define SHM_EXEC 0100000
#define MAP_SHARED 1
#define MAP_FIXED 0x10
#define MAP_FIXED_NOREPLACE 0x100000

/* ---- attachments: hooks of the VMA ---- */

static void shm_open(struct vma *vma)
{
	struct segment *s = vma->private;

	spin_lock(&shm_lock);
	s->refs++;
	s->nattch++;
	s->lpid = current->tgid;
	spin_unlock(&shm_lock);
}

static void shm_close(struct vma *vma)
{
	struct segment *s = vma->private;
	bool gone = false;

	spin_lock(&shm_lock);
	s->nattch--;
	s->dtime = shm_now();
	s->lpid = current->tgid;
	if (!s->nattch && (s->mode & SHM_DEST))
		gone = segment_remove_locked(s);
	spin_unlock(&shm_lock);
	if (gone)
		segment_put(s);
	segment_put(s);
}

/* ---- the calls ---- */

static long attach(struct segment *s, unsigned long addr, int flags)
{
	struct aspace *mm = current->mm;
	int prot = 1 | (flags & SHM_RDONLY ? 0 : 2) | (flags & SHM_EXEC ? 4 : 0);
	int map = MAP_SHARED | (addr ? (flags & SHM_REMAP ? MAP_FIXED : MAP_FIXED_NOREPLACE) : 0);
	long at = vm_mmap(s->file, s->file->inode->mapping, addr, s->bytes, prot, map, 0);
	struct vma *vma;

	if (at == -EEXIST)
		return -EINVAL;
	if (IS_ERR_VALUE(at))
		return at;
	down_write(&mm->lock);
	vma = vma_find(mm, at);
	if (vma && vma->start == (unsigned long)at && vma->file == s->file && !vma->close) {
		vma->private = s;
		vma->open = shm_open;
		vma->close = shm_close;
		shm_open(vma);
		spin_lock(&shm_lock);
		s->atime = shm_now();
		spin_unlock(&shm_lock);
	}
	up_write(&mm->lock);
	return at;
}

SYSCALL(shmat)
{
	unsigned long addr = a1;
	int flags = a2;
	struct segment *s;
	long ret;

	if (addr && offset_in_page(addr)) {
		if (!(flags & SHM_RND))
			return -EINVAL;
		addr &= PAGE_MASK;
	}
	if (!addr && (flags & SHM_REMAP))
		return -EINVAL;
	s = segment_get(a0);
	if (!s)
		return -EINVAL;
	ret = segment_allowed(s, flags & SHM_RDONLY ? 4 : 6) ? attach(s, addr, flags) : -EACCES;
	segment_put(s);
	return ret;
}

/* The next part of the attachment that began at base: [*start, *end). */
static struct segment *part_of(unsigned long base, unsigned long from, unsigned long *start,
			       unsigned long *end)
{
	struct aspace *mm = current->mm;
	struct segment *s = NULL;
	struct vma *vma;

	down_read(&mm->lock);
	for (vma = vma_find(mm, from); vma; vma = vma_find(mm, vma->end)) {
		if (vma->close != shm_close || vma->start < base)
			continue;
		if (vma->start - base == vma->pgoff << PAGE_SHIFT) {
			s = vma->private;
			*start = vma->start;
			*end = vma->end;
			break;
		}
	}
	up_read(&mm->lock);
	return s;
}

SYSCALL(shmdt)
{
	unsigned long start = 0, end = 0, limit;
	struct segment *s, *first;

	if (offset_in_page(a0))
		return -EINVAL;
	first = part_of(a0, a0, &start, &end);
	if (!first)
		return -EINVAL;
	limit = a0 + ALIGN_UP(first->bytes, PAGE_SIZE);
	if (start >= limit)
		return -EINVAL;
	for (s = first; s == first && start < limit; s = part_of(a0, end, &start, &end))
		vm_munmap(start, end - start);
	return 0;
}
