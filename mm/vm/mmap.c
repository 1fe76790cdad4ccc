/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mmap.c - mmap, munmap and brk: which ranges of an address space exist.
 *
 * New mappings go top-down from mmap_base, below the room kept for the stack; a mapping that
 * continues its neighbour extends it instead of making a VMA. Unmapping from either end of a VMA
 * only moves its border; out of the middle it cuts first. Argument checks and their order are
 * Linux's, because programs test for the errno.
 * Locking: aspace->lock for writing. Order of munmap: out of the VMA tree, pages out, out of rmap,
 * tables freed.
 */
#include "arch/cpu.h"
#include "kernel/param.h"
#include "lib/hash.h"
#include "mm/phys/page_alloc.h"
#include "mm/vm/anon_shared.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/tlbgather.h"

static bool vm_aslr;
BOOT_PARAM_BOOL("aslr", vm_aslr, "place stack and mmap area at random (default: fixed places)");

void vm_stat_account(struct aspace *mm, unsigned long vm_flags, long npages)
{
	mm->total_vm += npages;
	if ((vm_flags & (VM_EXEC | VM_WRITE)) == VM_EXEC)
		mm->exec_vm += npages;
	else if (vm_flags & VM_GROWSDOWN)
		mm->stack_vm += npages;
	else if (vma_flags_private_writable(vm_flags))
		mm->data_vm += npages;
	if (vm_flags & VM_LOCKED)
		mm->locked_vm += npages;
}

bool may_expand_vm(struct aspace *mm, unsigned long vm_flags, unsigned long npages)
{
	if (mm->total_vm + npages > mm->rlimit_as >> PAGE_SHIFT)
		return false;
	if (vma_flags_private_writable(vm_flags) && !(vm_flags & VM_GROWSDOWN) &&
	    mm->data_vm + npages > mm->rlimit_data >> PAGE_SHIFT)
		return false;
	return vm_may_commit(vm_flags, npages);
}

unsigned long get_unmapped_area(struct aspace *mm, unsigned long hint, size_t len, int flags)
{
	unsigned long addr;

	if (len > USER_TOP)
		return -ENOMEM;
	if (flags & MAP_FIXED) {
		if (hint > USER_TOP - len)
			return -ENOMEM;
		return offset_in_page(hint) ? (unsigned long)-EINVAL : hint;
	}
	if (hint) {
		struct vma *next;

		hint = ALIGN_UP(max(hint & PAGE_MASK, (unsigned long)vm_mmap_min_addr), PAGE_SIZE);
		next = vma_find(mm, hint);
		if (hint <= USER_TOP - len && (!next || hint + len <= vma_start_gap(next)) &&
		    (!next || next->start >= hint + len))
			return hint;
	}
	if (unlikely(flags & MAP_32BIT))
		return vma_find_gap(mm, len, GiB(1), GiB(2));
	addr = vma_find_gap(mm, len, vm_mmap_min_addr, mm->mmap_base);
	if (IS_ERR_VALUE(addr)) /* above, where the stack was to have room */
		addr = vma_find_gap(mm, len, vm_mmap_min_addr, USER_TOP);
	return addr;
}

void vma_link(struct vma *vma)
{
	vma_tree_insert(vma->mm, vma);
	rmap_link(vma);
}

/* Takes [from, to), one end of vma, off it. */
static void trim(struct vma *vma, unsigned long from, unsigned long to)
{
	bool head = from == vma->start;
	struct vma *prev = vma_prev(vma), *next = vma_next(vma);
	struct tlb_gather g;

	if (unlikely(vma->flags & VM_LOCKED))
		munlock_vma_pages(vma, from, to);
	tlb_gather_init(&g, vma->mm, 0);
	zap_range(&g, vma, from, to);
	if (head)
		vma_resize(vma, to, vma->end);
	else
		vma_resize(vma, vma->start, from);
	pt_free_range(&g, from, to, head ? (prev ? prev->end : 0) : vma->end,
		      head ? vma->start : (next ? next->start : 0));
	tlb_gather_finish(&g);
	vm_stat_account(vma->mm, vma->flags, -(long)((to - from) >> PAGE_SHIFT));
	vm_commit(vma->flags, -(long)((to - from) >> PAGE_SHIFT));
}

/* Whole VMAs, already out of the tree, linked by list. */
static void unmap_list(struct aspace *mm, struct list_head *dead, unsigned long floor,
		       unsigned long ceiling)
{
	struct vma *vma, *next;
	struct tlb_gather g;

	tlb_gather_init(&g, mm, 0);
	list_for_each_entry(vma, dead, list) {
		if (unlikely(vma->flags & VM_LOCKED))
			munlock_vma_pages(vma, vma->start, vma->end);
		zap_range(&g, vma, vma->start, vma->end);
	}
	/* A table goes with the last VMA it covers: upwards, each up to where the next begins. */
	list_for_each_entry(vma, dead, list) {
		rmap_unlink(vma);
		pt_free_range(&g, vma->start, vma->end, floor,
			      list_is_last(&vma->list, dead) ? ceiling
							     : list_next_entry(vma, list)->start);
	}
	tlb_gather_finish(&g);
	list_for_each_entry_safe(vma, next, dead, list) {
		vm_stat_account(mm, vma->flags, -(long)vma_pages(vma));
		vm_commit(vma->flags, -(long)vma_pages(vma));
		vma_free(vma);
	}
}

int do_munmap(struct aspace *mm, unsigned long start, size_t len)
{
	unsigned long end = start + len;
	struct vma *vma = vma_intersect(mm, start, end), *prev, *next, *last;
	LIST_HEAD(dead);

	if (!vma)
		return 0;
	next = vma_next(vma);
	if ((vma->start < start) != (vma->end > end) && (!next || next->start >= end) &&
	    !vma->close) {
		trim(vma, max(start, vma->start), min(end, vma->end));
		return 0;
	}
	if (vma->start < start) {
		vma = vma_split(vma, start);
		if (IS_ERR(vma))
			return PTR_ERR(vma);
	}
	for (last = vma; last->end < end && (next = vma_next(last)) && next->start < end;)
		last = next;
	if (last->end > end) {
		next = vma_split(last, end);
		if (IS_ERR(next))
			return PTR_ERR(next);
	}
	prev = vma_prev(vma);
	vm_rss(mm);
	for (; vma && vma->start < end; vma = next) {
		next = vma_next(vma);
		vma_tree_remove(mm, vma);
		list_add_tail(&vma->list, &dead);
	}
	unmap_list(mm, &dead, prev ? prev->end : 0, vma ? vma->start : 0);
	return 0;
}

int vm_munmap(unsigned long addr, size_t len)
{
	struct aspace *mm = current->mm;
	int err;

	if (offset_in_page(addr) || addr > USER_TOP || len > USER_TOP - addr)
		return -EINVAL;
	len = ALIGN_UP(len, PAGE_SIZE);
	if (!len)
		return -EINVAL;
	if (down_write_killable(&mm->lock))
		return -EINTR;
	err = do_munmap(mm, addr, len);
	up_write(&mm->lock);
	return err;
}

static unsigned long prot_to_flags(int prot)
{
	return prot & (PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* The VM_ flags of a new mapping, or -errno: file and sharing rules. */
static long mmap_flags(struct file *file, struct mapping *mapping, int prot, int flags,
		       unsigned long base)
{
	unsigned long vm = base | prot_to_flags(prot) | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC;
	u32 modes = file && vm_file_ops->modes ? vm_file_ops->modes(file) : VM_READ | VM_WRITE;
	const int known = MAP_SHARED_VALIDATE | MAP_FIXED | MAP_ANONYMOUS | MAP_DENYWRITE |
			  MAP_EXECUTABLE | MAP_GROWSDOWN | MAP_LOCKED | MAP_NORESERVE |
			  MAP_POPULATE | MAP_NONBLOCK | MAP_STACK | MAP_HUGETLB |
			  MAP_FIXED_NOREPLACE | MAP_32BIT | MAP_UNINITIALIZED;

	if (flags & MAP_GROWSDOWN)
		vm |= VM_GROWSDOWN;
	if (flags & MAP_LOCKED)
		vm |= VM_LOCKED;
	if (flags & MAP_NORESERVE)
		vm |= VM_NORESERVE;
	switch (flags & MAP_TYPE) {
	case MAP_SHARED_VALIDATE:
		if (!file && !mapping)
			return -EINVAL;
		if (flags & ~known)
			return -EOPNOTSUPP;
		fallthrough;
	case MAP_SHARED:
		if (file && (prot & PROT_WRITE) && !(modes & VM_WRITE))
			return -EACCES;
		if (file && !(modes & VM_READ))
			return -EACCES;
		vm |= VM_SHARED | VM_MAYSHARE;
		if (!(modes & VM_WRITE))
			vm &= ~(VM_MAYWRITE | VM_SHARED);
		break;
	case MAP_PRIVATE:
		if (file && !(modes & VM_READ))
			return -EACCES;
		break;
	default:
		return -EINVAL;
	}
	if ((vm & VM_GROWSDOWN) && ((vm & VM_MAYSHARE) || file))
		return -EINVAL;
	if (vma_flags_private_writable(vm) && !(vm & VM_NORESERVE))
		vm |= VM_ACCOUNT;
	return vm;
}

/* Lets a neighbour take the range in, when it would be the same VMA anyway. */
static bool extend_neighbour(struct vma *prev, struct vma *next, unsigned long addr, size_t len,
			     const struct vma_like *like)
{
	if (prev && vma_can_follow(prev, addr, like)) {
		vma_resize(prev, prev->start, addr + len);
		vma_merge(prev);
		return true;
	}
	if (next && vma_can_precede(next, addr + len, len >> PAGE_SHIFT, like)) {
		vma_resize(next, addr, next->end);
		return true;
	}
	return false;
}

/* => range free, lock for writing */
static int map_region(struct aspace *mm, unsigned long addr, size_t len, struct vma_like *like,
		      const char *name)
{
	struct vma *next = vma_find(mm, addr), *prev = vma_before(mm, next), *vma;
	int err;

	if (!name && extend_neighbour(prev, next, addr, len, like))
		return 0;
	if (mm->nr_vmas >= vm_max_map_count)
		return -ENOMEM;
	vma = vma_alloc(mm);
	if (!vma)
		return -ENOMEM;
	vma->start = addr;
	vma->end = addr + len;
	vma->flags = like->flags;
	vma->prot = vma_pgprot(like->flags);
	vma->pgoff = like->pgoff;
	vma->file = like->file;
	vma->mapping = like->mapping;
	vma->name = name;
	if (!vma->mapping && (vma->flags & VM_MAYSHARE)) {
		err = anon_shared_setup(vma);
		if (err) {
			vma->file = NULL;
			vma_free(vma);
			return err;
		}
	}
	vm_file_get(vma->file);
	vma_tree_insert_at(mm, vma, prev, next);
	rmap_link(vma);
	return 0;
}

static unsigned long map_locked(struct aspace *mm, struct file *file, struct mapping *mapping,
				unsigned long addr, size_t len, int flags, u64 offset,
				unsigned long vm, const char *name)
{
	struct vma_like like = { .flags = vm, .file = file, .mapping = mapping };
	int err;

	if (mm->nr_vmas > vm_max_map_count)
		return -ENOMEM;
	addr = get_unmapped_area(mm, addr, len, flags);
	if (IS_ERR_VALUE(addr))
		return addr;
	if ((flags & MAP_FIXED_NOREPLACE) && vma_intersect(mm, addr, addr + len))
		return -EEXIST;
	if (!may_expand_vm(mm, vm, len >> PAGE_SHIFT))
		return -ENOMEM;
	if (flags & MAP_FIXED) {
		err = do_munmap(mm, addr, len);
		if (err)
			return err;
	}
	like.pgoff = mapping ? offset >> PAGE_SHIFT : vm & VM_MAYSHARE ? 0 : addr >> PAGE_SHIFT;
	err = map_region(mm, addr, len, &like, name);
	if (err)
		return err;
	vm_stat_account(mm, vm, len >> PAGE_SHIFT);
	vm_commit(vm, len >> PAGE_SHIFT);
	return addr;
}

long vm_map(struct aspace *mm, struct file *file, struct mapping *mapping, unsigned long addr,
	    size_t len, int prot, int flags, u64 offset, unsigned long vm_flags, const char *name)
{
	long vm;

	if (!len)
		return -EINVAL;
	if (offset_in_page(offset))
		return -EINVAL;
	if (flags & MAP_HUGETLB)
		return -ENOMEM;
	if (flags & MAP_FIXED_NOREPLACE)
		flags |= MAP_FIXED;
	len = ALIGN_UP(len, PAGE_SIZE);
	if (!len)
		return -ENOMEM;
	if (offset + len < offset || (mapping && offset + len > (u64)S64_MAX))
		return -EOVERFLOW;
	if (down_write_killable(&mm->lock))
		return -EINTR;
	vm = mmap_flags(file, mapping, prot, flags, vm_flags | mm->def_flags);
	if (vm >= 0) {
		addr = map_locked(mm, file, mapping, addr, len, flags, offset, vm, name);
	} else {
		addr = vm;
	}
	up_write(&mm->lock);
	if (IS_ERR_VALUE(addr))
		return addr;
	if (file && vm_file_ops->accessed)
		vm_file_ops->accessed(file);
	if ((vm & (VM_LOCKED | VM_LOCKONFAULT)) == VM_LOCKED ||
	    (flags & (MAP_POPULATE | MAP_NONBLOCK)) == MAP_POPULATE)
		vm_populate(mm, addr, len);
	return addr;
}

long vm_mmap(struct file *file, struct mapping *mapping, unsigned long addr, size_t len, int prot,
	     int flags, u64 offset)
{
	return vm_map(current->mm, file, mapping, addr, len, prot, flags, offset, 0, NULL);
}

int do_brk_flags(struct aspace *mm, unsigned long start, size_t len, unsigned long vm_flags)
{
	struct vma_like like = {
		.flags = vm_flags | VM_READ | VM_WRITE | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC |
			 VM_ACCOUNT | mm->def_flags,
		.pgoff = start >> PAGE_SHIFT,
	};
	int err;

	if (!may_expand_vm(mm, like.flags, len >> PAGE_SHIFT))
		return -ENOMEM;
	err = map_region(mm, start, len, &like, NULL);
	if (err)
		return err;
	vm_stat_account(mm, like.flags, len >> PAGE_SHIFT);
	vm_commit(like.flags, len >> PAGE_SHIFT);
	return 0;
}

/* => lock for writing; true when the break moved */
static bool brk_locked(struct aspace *mm, unsigned long brk)
{
	unsigned long new = ALIGN_UP(brk, PAGE_SIZE), old = ALIGN_UP(mm->brk, PAGE_SIZE);
	struct vma *next;

	if (brk < mm->brk_start || brk > USER_TOP)
		return false;
	if (brk - mm->brk_start + (mm->end_data - mm->start_data) > mm->rlimit_data)
		return false;
	if (new < old)
		return !do_munmap(mm, new, old - new);
	if (new == old)
		return true;
	next = vma_find(mm, old);
	if (next && new + PAGE_SIZE > vma_start_gap(next))
		return false;
	return !do_brk_flags(mm, old, new - old, 0);
}

long vm_brk(unsigned long brk)
{
	struct aspace *mm = current->mm;
	unsigned long before;
	bool moved;

	if (down_write_killable(&mm->lock))
		return -EINTR;
	before = mm->brk;
	moved = brk_locked(mm, brk);
	if (moved)
		mm->brk = brk;
	else
		brk = before;
	up_write(&mm->lock);
	if (moved && brk > before && (mm->def_flags & VM_LOCKED))
		vm_populate(mm, ALIGN_UP(before, PAGE_SIZE),
			    ALIGN_UP(brk, PAGE_SIZE) - ALIGN_UP(before, PAGE_SIZE));
	return brk;
}

#define STACK_FIRST_BYTES (132ul << 10)

int vm_setup_stack(struct aspace *mm, unsigned long top)
{
	struct vma *vma = vma_alloc(mm);
	unsigned long room;

	if (!vma)
		return -ENOMEM;
	if (vm_aslr)
		top -= (hash_mix(rdtsc()) & 0x3fff) << PAGE_SHIFT;
	vma->end = ALIGN_DOWN(top, PAGE_SIZE);
	vma->start = vma->end - STACK_FIRST_BYTES;
	vma->flags = VM_READ | VM_WRITE | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC | VM_GROWSDOWN |
		     VM_ACCOUNT | mm->def_flags;
	vma->prot = vma_pgprot(vma->flags);
	vma->pgoff = vma->start >> PAGE_SHIFT;
	vma->name = "[stack]";
	down_write(&mm->lock);
	vma_link(vma);
	vm_stat_account(mm, vma->flags, vma_pages(vma));
	vm_commit(vma->flags, vma_pages(vma));
	mm->stack_top = vma->end;
	/*
	 * mmap starts below what the stack may become: at least 128 MiB, at most five sixths of the
	 * space.
	 */
	room = mm->rlimit_stack > USER_TOP ? USER_TOP : mm->rlimit_stack + STACK_GUARD_GAP;
	room = clamp(room, MiB(128), USER_TOP / 6 * 5);
	if (vm_aslr)
		room += (hash_mix(rdtsc() + 1) & 0xfffff) << PAGE_SHIFT;
	mm->mmap_base = ALIGN_DOWN(mm->stack_top - room, PAGE_SIZE);
	up_write(&mm->lock);
	return 0;
}
