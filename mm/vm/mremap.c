/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mremap.c - a mapping changes its length or its place.
 *
 * Growing in place needs a free range behind. Moving takes the entries along, not the pages: a
 * second VMA with the same page numbers is made, each run of entries is moved under pt_lock, the
 * old VMA goes. While entries are under way both rmap locks are held, so a walk by page meets each
 * page in the old or the new place, never in none. Page numbers (pgoff) move along too, so
 * page->index stays true; only memory nobody has touched yet is renumbered to its new address,
 * which lets it join its new neighbours.
 *
 * A huge page moves as one where both places are aligned and all of it goes; its deposit belongs to
 * the address space and stays. Else it is split before the rmap locks are taken, and so it is if
 * the new place has an old, empty table.
 */
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"

#define MREMAP_MAYMOVE 1
#define MREMAP_FIXED 2
#define MREMAP_DONTUNMAP 4

struct move {
	pte_t *dst;
	unsigned long offset; /* new - old */
	struct rmap_lock rmap;
	unsigned long moved_end;
};

/* One table's worth: the caller has made the target table. => pt_lock, rmap locks */
static int move_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct move *m = w->arg;
	pte_t *dst = m->dst;

	for (; addr < end; addr += PAGE_SIZE, pte++, dst++) {
		if (pte_none(pte_read(pte)))
			continue;
		pte_set(dst, pte_get_and_clear(pte));
	}
	return 0;
}

static const struct pt_walk_ops move_ops = { .ptes = move_ptes };

/*
 * A huge page at addr, if there is one: moved as one, or split. 1: moved; 0: there is none (any
 * more), entries may be moved; -ENOMEM
 */
static int move_thp(struct vma *vma, struct move *m, unsigned long addr, unsigned long end)
{
	struct aspace *mm = vma->mm;
	pte_t *from = pt_find_pmd(mm, addr), *to;
	pte_t e = from ? pte_read(from) : (pte_t){ 0 };
	bool moved = false;

	if (pte_none(e) || pt_is_table(e))
		return 0;
	if (!((addr | m->offset) & ~HPAGE_MASK) && end - addr >= HPAGE_SIZE) {
		to = pt_alloc_pmd(mm, addr + m->offset);
		if (!to)
			return -ENOMEM;
		rmap_lock(&m->rmap, vma->mapping, vma->anon_vma);
		spin_lock(&mm->pt_lock);
		moved = pmd_thp(pte_read(from)) && pte_none(pte_read(to));
		if (moved)
			pte_set(to, pte_get_and_clear(from));
		spin_unlock(&mm->pt_lock);
		rmap_unlock(&m->rmap);
	}
	if (!moved)
		thp_split_addr(mm, addr);
	return moved;
}

/* Entries of [old, old + len) of vma to new_vma at new. 0 or -ENOMEM (the rest stayed). */
static int move_entries(struct vma *vma, unsigned long old, struct vma *new_vma, unsigned long new,
			size_t len, unsigned long *moved)
{
	struct move m = { .offset = new - old };
	struct pt_walk w = { .mm = vma->mm, .vma = vma, .arg = &m };
	unsigned long addr = old, next;
	int err;

	for (; addr < old + len; addr = next) {
		/* A run that crosses no table and no batch border on either side. */
		next = min(old + len, (addr + PT_BATCH_BYTES) & ~(PT_BATCH_BYTES - 1));
		next = min(next, ((addr + m.offset + PMD_SIZE) & ~(PMD_SIZE - 1)) - m.offset);
		err = move_thp(vma, &m, addr, old + len);
		if (err < 0) {
			*moved = addr - old;
			return err;
		}
		if (err) {
			next = addr + HPAGE_SIZE;
			continue;
		}
		if (!pt_find(vma->mm, addr)) {
			next = min(old + len, (addr + PMD_SIZE) & ~(PMD_SIZE - 1));
			continue;
		}
		m.dst = pt_alloc(vma->mm, addr + m.offset);
		if (!m.dst) {
			*moved = addr - old;
			return -ENOMEM;
		}
		rmap_lock(&m.rmap, vma->mapping, vma->anon_vma);
		pt_walk(&w, &move_ops, addr, next);
		rmap_unlock(&m.rmap);
	}
	*moved = len;
	tlb_flush_range(&vma->mm->arch, old, old + len);
	return 0;
}

/* => new range free. The new address or -errno. */
static long move_vma(struct vma *vma, unsigned long old, size_t old_len, size_t new_len,
		     unsigned long new, int flags)
{
	struct aspace *mm = vma->mm;
	unsigned long vm = vma->flags, moved = 0;
	struct vma *copy;
	int err = 0;

	if (mm->nr_vmas >= (u32)vm_max_map_count - 3 ||
	    !may_expand_vm(mm, vm, new_len >> PAGE_SHIFT))
		return -ENOMEM;
	copy = vma_clone(vma, mm);
	if (!copy)
		return -ENOMEM;
	copy->start = new;
	copy->end = new + new_len;
	copy->pgoff = vma_index(vma, old);
	if (vma_is_anon(vma) && !vma->anon_vma)
		copy->pgoff = new >> PAGE_SHIFT;
	if (vma->anon_vma) {
		struct rmap_lock l;

		rmap_lock(&l, NULL, vma->anon_vma);
		anon_vma_attach(copy, vma->anon_vma);
		rmap_unlock(&l);
	}
	vma_link(copy);
	vm_stat_account(mm, vm, new_len >> PAGE_SHIFT);
	vm_commit(vm, new_len >> PAGE_SHIFT);
	err = move_entries(vma, old, copy, new, min(old_len, new_len), &moved);
	if (err) { /* back again: the old tables are still there */
		unsigned long back;

		move_entries(copy, new, vma, old, moved, &back);
		do_munmap(mm, new, new_len);
		return err;
	}
	if (!(flags & MREMAP_DONTUNMAP) && old_len)
		do_munmap(mm, old, old_len);
	vma_merge(copy);
	return new;
}

/* The VMA of [old, old + len), if it may grow to new_len; ERR_PTR. */
static struct vma *vma_to_resize(struct aspace *mm, unsigned long old, size_t old_len,
				 size_t new_len, int flags)
{
	struct vma *vma = vma_find(mm, old);
	unsigned long pgoff;

	if (!vma || vma->start > old)
		return ERR_PTR(-EFAULT);
	if (!old_len && !(vma->flags & (VM_SHARED | VM_MAYSHARE)))
		return ERR_PTR(-EINVAL);
	if ((flags & MREMAP_DONTUNMAP) && (vma->flags & (VM_DONTEXPAND | VM_PFNMAP)))
		return ERR_PTR(-EINVAL);
	if (old_len > vma->end - old)
		return ERR_PTR(-EFAULT);
	if (new_len == old_len)
		return vma;
	pgoff = vma_index(vma, old);
	if (pgoff + (new_len >> PAGE_SHIFT) < pgoff)
		return ERR_PTR(-EINVAL);
	if (vma->flags & (VM_DONTEXPAND | VM_PFNMAP))
		return ERR_PTR(-EFAULT);
	if (!may_expand_vm(mm, vma->flags, (new_len - old_len) >> PAGE_SHIFT))
		return ERR_PTR(-ENOMEM);
	return vma;
}

static long mremap_to(struct aspace *mm, unsigned long old, size_t old_len, size_t new_len,
		      int flags, unsigned long new)
{
	struct vma *vma;
	int err;

	if (offset_in_page(new) || new_len > USER_TOP || new > USER_TOP - new_len)
		return -EINVAL;
	if (old + old_len > new &&new + new_len > old)
		return -EINVAL;
	if (flags & MREMAP_FIXED) {
		err = do_munmap(mm, new, new_len);
		if (err)
			return err;
	}
	if (old_len > new_len) {
		err = do_munmap(mm, old + new_len, old_len - new_len);
		if (err)
			return err;
		old_len = new_len;
	}
	vma = vma_to_resize(mm, old, old_len, new_len, flags);
	if (IS_ERR(vma))
		return PTR_ERR(vma);
	if (!(flags & MREMAP_FIXED)) {
		new = get_unmapped_area(mm, new, new_len, 0);
		if (IS_ERR_VALUE(new))
			return new;
	}
	return move_vma(vma, old, old_len, new_len, new, flags);
}

static bool can_grow_in_place(struct vma *vma, unsigned long delta)
{
	struct vma *next = vma_next(vma);

	return vma->end + delta >= vma->end && vma->end + delta <= USER_TOP &&
	       (!next || next->start >= vma->end + delta);
}

static long mremap_locked(struct aspace *mm, unsigned long old, size_t old_len, size_t new_len,
			  int flags, unsigned long new, unsigned long *locked_from)
{
	struct vma *vma;
	int err;

	if (!vma_find(mm, old) || vma_find(mm, old)->start > old)
		return -EFAULT;
	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP))
		return mremap_to(mm, old, old_len, new_len, flags, new);
	if (old_len >= new_len) {
		err = old_len > new_len ? do_munmap(mm, old + new_len, old_len - new_len) : 0;
		return err ? err : (long)old;
	}
	vma = vma_to_resize(mm, old, old_len, new_len, flags);
	if (IS_ERR(vma))
		return PTR_ERR(vma);
	if (vma->flags & VM_LOCKED)
		*locked_from = old_len;
	if (old_len && old_len == vma->end - old && can_grow_in_place(vma, new_len - old_len)) {
		unsigned long n = (new_len - old_len) >> PAGE_SHIFT;

		vma_resize(vma, vma->start, old + new_len);
		vm_stat_account(mm, vma->flags, n);
		vm_commit(vma->flags, n);
		vma_merge(vma);
		return old;
	}
	if (!(flags & MREMAP_MAYMOVE))
		return -ENOMEM;
	new = get_unmapped_area(mm, 0, new_len, 0);
	if (IS_ERR_VALUE(new))
		return new;
	return move_vma(vma, old, old_len, new_len, new, flags);
}

long vm_mremap(unsigned long old, size_t old_len, size_t new_len, int flags, unsigned long new)
{
	struct aspace *mm = current->mm;
	unsigned long locked_from = ~0ul;
	long ret;

	if (flags & ~(MREMAP_FIXED | MREMAP_MAYMOVE | MREMAP_DONTUNMAP))
		return -EINVAL;
	if ((flags & MREMAP_FIXED) && !(flags & MREMAP_MAYMOVE))
		return -EINVAL;
	if ((flags & MREMAP_DONTUNMAP) && (!(flags & MREMAP_MAYMOVE) || old_len != new_len))
		return -EINVAL;
	if (offset_in_page(old))
		return -EINVAL;
	old_len = ALIGN_UP(old_len, PAGE_SIZE);
	new_len = ALIGN_UP(new_len, PAGE_SIZE);
	if (!new_len || old_len > USER_TOP || old > USER_TOP - old_len)
		return !new_len ? -EINVAL : -EFAULT;
	if (down_write_killable(&mm->lock))
		return -EINTR;
	ret = mremap_locked(mm, old, old_len, new_len, flags, new, &locked_from);
	up_write(&mm->lock);
	if (ret >= 0 && locked_from < new_len)
		vm_populate(mm, ret + locked_from, new_len - locked_from);
	return ret;
}
