/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * access.c - the kernel reaches into an address space by address: exec argument pages, ptrace,
 * /proc/PID/mem, populate, futex keys. Pages are faulted in as if the program had touched them and
 * held by a reference while they are used. A huge page is split first: nobody ever holds a part of
 * one.
 */
#include "lib/string.h"
#include "mm/phys/page_alloc.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"
#include "sched/sched.h"

/*
 * May the kernel write to the page behind an entry that forbids it? Only where nobody else can see
 * it. => pt_lock
 */
static bool force_write(struct page *page)
{
	bool ours;

	if (!page_test(page, PG_anon) || page_mapcount(page) != 1 || !page_trylock(page))
		return false;
	ours = page_mapcount(page) == 1 && !page_test(page, PG_swapcache);
	page_unlock(page);
	return ours;
}

/* The page an entry shows, if it allows what flags want; else NULL. => referenced */
static struct page *page_behind(struct vma *vma, unsigned long addr, unsigned int flags)
{
	pte_t *pte = pt_find(vma->mm, addr);
	struct page *page = NULL;
	pte_t e;

	if (unlikely(!pte)) {
		thp_split_addr(vma->mm, addr);
		pte = pt_find(vma->mm, addr);
		if (!pte)
			return NULL;
	}
	spin_lock(&vma->mm->pt_lock);
	e = pte_read(pte);
	if (pte_present(e)) {
		page = pfn_to_page(pte_pfn(e));
		if ((flags & FAULT_WRITE) && !pte_write(e) &&
		    !((flags & FAULT_FORCE) && !pte_special(e) && force_write(page)))
			page = NULL;
	}
	if (page)
		page_get(page);
	spin_unlock(&vma->mm->pt_lock);
	return page;
}

struct page *vm_get_page(struct aspace *mm, unsigned long addr, unsigned int flags)
{
	struct vma *vma = vma_find(mm, addr);
	struct page *page;
	int err;

	if (!vma || vma->start > addr)
		return ERR_PTR(-EFAULT);
	if (flags & FAULT_WRITE) {
		if (!(vma->flags & VM_WRITE) &&
		    (!(flags & FAULT_FORCE) || !(vma->flags & VM_MAYWRITE) ||
		     (vma->flags & VM_MAYSHARE)))
			return ERR_PTR(-EFAULT);
	} else if (!(vma->flags & VM_ACCESS) &&
		   !((flags & FAULT_FORCE) && (vma->flags & VM_MAYREAD))) {
		return ERR_PTR(-EFAULT);
	}
	while (!(page = page_behind(vma, addr & PAGE_MASK, flags))) {
		if (!(vma->flags & VM_ACCESS))
			return ERR_PTR(-EFAULT);
		err = handle_fault(vma, addr, flags);
		if (err)
			return ERR_PTR(err);
		if (fatal_signal_pending())
			return ERR_PTR(-EINTR);
	}
	return page;
}

size_t vm_access(struct aspace *mm, unsigned long addr, void *buf, size_t n, int write)
{
	unsigned int flags = FAULT_FORCE | (write ? FAULT_WRITE : 0);
	size_t done = 0;

	while (done < n && addr < USER_TOP) {
		size_t bytes = min(n - done, PAGE_SIZE - offset_in_page(addr));
		struct page *page;
		struct vma *vma;
		char *va;

		down_read(&mm->lock);
		vma = vma_find(mm, addr);
		if (write && vma && vma->start > addr && (vma->flags & VM_GROWSDOWN)) {
			up_read(&mm->lock);
			down_write(&mm->lock);
			expand_stack(mm, vma_find(mm, addr), addr);
			downgrade_write(&mm->lock);
		}
		page = vm_get_page(mm, addr, flags);
		if (IS_ERR(page)) {
			up_read(&mm->lock);
			break;
		}
		va = page_kmap(page);
		if (write) {
			memcpy(va + offset_in_page(addr), (char *)buf + done, bytes);
			if (!page_test(page, PG_dirty))
				pagecache_set_dirty(page);
		} else {
			memcpy((char *)buf + done, va + offset_in_page(addr), bytes);
		}
		page_kunmap(va);
		up_read(&mm->lock);
		page_put(page);
		done += bytes;
		addr += bytes;
	}
	return done;
}

int vm_pin_user(unsigned long addr, u32 nr, int write, struct page **pages)
{
	struct aspace *mm = current->mm;
	u32 n;
	int err = -EFAULT;

	if (!mm)
		return err;
	down_read(&mm->lock);
	for (n = 0; n < nr && addr < USER_TOP; n++, addr += PAGE_SIZE) {
		struct page *page = vm_get_page(mm, addr, write ? FAULT_WRITE : 0);

		if (IS_ERR(page)) {
			err = PTR_ERR(page);
			break;
		}
		pages[n] = page;
	}
	up_read(&mm->lock);
	return n ? (int)n : err;
}

/* How many bytes from addr on are there as flags want them: a page, a huge page or nothing. */
static unsigned long populated(struct vma *vma, unsigned long addr, unsigned int flags)
{
	pte_t *pte = pt_find(vma->mm, addr), e;
	unsigned long bytes = PAGE_SIZE;

	if (unlikely(!pte)) {
		pte = pt_find_pmd(vma->mm, addr);
		if (!pte || !pmd_thp(pte_read(pte)))
			return 0;
		bytes = HPAGE_SIZE - (addr & ~HPAGE_MASK);
	}
	e = pte_read(pte);
	return pte_present(e) && (!(flags & FAULT_WRITE) || pte_write(e)) ? bytes : 0;
}

int vm_populate_vma(struct vma *vma, unsigned long start, unsigned long end, unsigned int flags)
{
	unsigned long bytes;

	for (unsigned long addr = start; addr < end; addr += bytes) {
		while (!(bytes = populated(vma, addr, flags))) {
			int err = handle_fault(vma, addr, flags);

			if (err)
				return err;
			if (fatal_signal_pending())
				return -EINTR;
		}
		cond_resched();
	}
	return 0;
}

/*
 * Private writable memory is populated with pages of its own, other memory with what a read finds.
 */
static unsigned int populate_flags(const struct vma *vma)
{
	return vma_flags_private_writable(vma->flags) ? FAULT_WRITE : 0;
}

void vm_populate(struct aspace *mm, unsigned long start, size_t len)
{
	unsigned long end = start + len, addr;
	struct vma *vma;

	down_read(&mm->lock);
	for (addr = start; addr < end; addr = vma->end) {
		vma = vma_find(mm, addr);
		if (!vma || vma->start >= end)
			break;
		if (!(vma->flags & VM_ACCESS) || (vma->flags & VM_PFNMAP))
			continue;
		if (vm_populate_vma(vma, max(addr, vma->start), min(end, vma->end),
				    populate_flags(vma)))
			break;
	}
	up_read(&mm->lock);
}

int vm_futex_key(unsigned long addr, int shared, struct futex_key *key)
{
	struct aspace *mm = current->mm;
	struct page *page;
	struct vma *vma;

	key->object = mm;
	key->offset = addr;
	key->shared = 0;
	if (addr >= USER_TOP || (addr & 3))
		return addr & 3 ? -EINVAL : -EFAULT;
	if (!shared)
		return 0;
	down_read(&mm->lock);
	vma = vma_find(mm, addr);
	if (!vma || vma->start > addr || !(vma->flags & VM_ACCESS)) {
		up_read(&mm->lock);
		return -EFAULT;
	}
	if (vma->mapping && (vma->flags & VM_MAYSHARE)) {
		page = vm_get_page(mm, addr, vma->flags & VM_WRITE ? FAULT_WRITE : 0);
		if (!IS_ERR(page)) {
			key->object = vma->mapping;
			key->offset =
				((u64)vma_index(vma, addr) << PAGE_SHIFT) | offset_in_page(addr);
			key->shared = 1;
			page_put(page);
		} else {
			up_read(&mm->lock);
			return -EFAULT;
		}
	}
	up_read(&mm->lock);
	return 0;
}
