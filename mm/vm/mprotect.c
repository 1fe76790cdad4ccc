/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mprotect.c - new rights for existing memory.
 *
 * The VMAs are cut at the borders, get their flags, and are joined again where that makes
 * neighbours alike. Entries follow: taking a right away is done at once; giving the right to write
 * to private memory is left to the next write fault, which knows whether the page may be written in
 * place. PROT_NONE keeps the page behind an entry the processor takes as absent; a huge page is
 * split for that. Errors come after the prefix of the range has been changed, as on Linux.
 */
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"

struct protect {
	pgprot_t prot;
	bool writable_now; /* shared memory that needs no notice of writes */
	unsigned long changed;
};

static int protect_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct protect *p = w->arg;

	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte), n;

		if (!pte_mapped(e)) {
			if (pte_migration(e) && !(p->prot & PTE_WRITE))
				pte_set(pte, pte_migration_read(e));
			continue;
		}
		n.v = (e.v & (PTE_PFN_MASK | PTE_SPECIAL | PTE_DIRTY | PTE_ACCESSED)) |
		      (p->prot & ~PTE_WRITE);
		if ((p->prot & PTE_WRITE) && !pte_special(e) && (p->writable_now || pte_write(e)))
			n.v |= PTE_WRITE;
		if (n.v == e.v)
			continue;
		e = pte_get_and_clear(pte); /* the processor may just be setting the dirty bit */
		n.v |= e.v & (PTE_DIRTY | PTE_ACCESSED);
		pte_set(pte, n);
		p->changed++;
	}
	return 0;
}

static int protect_thp(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end)
{
	struct protect *p = w->arg;
	pte_t e = pte_read(pmd), n;

	if (end - addr != HPAGE_SIZE || !(p->prot & PTE_PRESENT))
		return PT_SPLIT;
	n.v = (e.v & (PTE_PFN_MASK | PTE_HUGE | PTE_DIRTY | PTE_ACCESSED)) |
	      (p->prot & (pte_write(e) ? ~0ul : ~PTE_WRITE));
	if (n.v == e.v)
		return 0;
	e = pte_get_and_clear(pmd);
	n.v |= e.v & (PTE_DIRTY | PTE_ACCESSED);
	pte_set(pmd, n);
	p->changed++;
	return 0;
}

static const struct pt_walk_ops protect_ops = { .ptes = protect_ptes, .thp = protect_thp };

static void change_entries(struct vma *vma, unsigned long start, unsigned long end)
{
	bool shmem = vma->mapping && (vma->flags & VM_SHARED) && (vma->mapping->flags & MAPF_SHMEM);
	struct protect p = { .prot = vma->prot, .writable_now = shmem };
	struct pt_walk w = { .mm = vma->mm, .vma = vma, .arg = &p };

	pt_walk(&w, &protect_ops, start, end);
	if (p.changed)
		tlb_flush_range(&vma->mm->arch, start, end);
}

/* => [start, end) inside vma; vma after it (cut or joined) in *pvma */
static int protect_vma(struct vma **pvma, unsigned long start, unsigned long end, unsigned long new)
{
	struct vma *vma = *pvma;
	struct aspace *mm = vma->mm;
	unsigned long old = vma->flags, n = (end - start) >> PAGE_SHIFT;

	if (new == old)
		return 0;
	/* Memory becomes private and writable: from now on it may cost pages. */
	if (vma_flags_private_writable(new) && !vma_flags_private_writable(old)) {
		if (!(old & (VM_ACCOUNT | VM_NORESERVE)))
			new |= VM_ACCOUNT;
		if (mm->data_vm + n > mm->rlimit_data >> PAGE_SHIFT ||
		    (((new ^ old) & VM_ACCOUNT) && !vm_may_commit(new, n)))
			return -ENOMEM;
	}
	vma = vma_carve(vma, start, end);
	if (IS_ERR(vma))
		return PTR_ERR(vma);
	vm_stat_account(mm, old, -(long)n);
	vm_stat_account(mm, new, n);
	if ((new ^ old) & VM_ACCOUNT)
		vm_commit(VM_ACCOUNT, n);
	vma->flags = new;
	vma->prot = vma_pgprot(new);
	change_entries(vma, start, end);
	if ((old & VM_LOCKED) && vma_flags_private_writable(new) && !(old & VM_ACCESS))
		vm_populate_vma(vma, start, end, FAULT_WRITE);
	*pvma = vma_merge(vma);
	return 0;
}

static int protect_range(struct aspace *mm, unsigned long start, unsigned long end, int prot,
			 int grows)
{
	unsigned long want = prot & (PROT_READ | PROT_WRITE | PROT_EXEC), addr;
	struct vma *vma = vma_intersect(mm, start, end);

	if (!vma)
		return -ENOMEM;
	if (grows & PROT_GROWSDOWN) {
		if (!(vma->flags & VM_GROWSDOWN))
			return -EINVAL;
		start = vma->start;
	} else if (vma->start > start) {
		return -ENOMEM;
	} else if (grows & PROT_GROWSUP) {
		return -EINVAL;
	}
	for (addr = start; addr < end;) {
		unsigned long stop = min(end, vma->end), new = (vma->flags & ~VM_ACCESS) | want;
		int err;

		if ((want & ~(vma->flags >> 4)) & VM_ACCESS) /* VM_MAYREAD.. are VM_READ.. << 4 */
			return -EACCES;
		err = protect_vma(&vma, addr, stop, new);
		if (err)
			return err;
		addr = stop;
		if (addr < end) {
			vma = vma_find(mm, addr);
			if (!vma || vma->start > addr)
				return -ENOMEM;
		}
	}
	return 0;
}

int vm_mprotect(unsigned long addr, size_t len, int prot)
{
	int grows = prot & (PROT_GROWSDOWN | PROT_GROWSUP), err;
	struct aspace *mm = current->mm;
	unsigned long end;

	prot &= ~(PROT_GROWSDOWN | PROT_GROWSUP);
	if (grows == (PROT_GROWSDOWN | PROT_GROWSUP) || offset_in_page(addr))
		return -EINVAL;
	if (!len)
		return 0;
	len = ALIGN_UP(len, PAGE_SIZE);
	end = addr + len;
	if (end <= addr)
		return -ENOMEM;
	if (prot & ~(PROT_READ | PROT_WRITE | PROT_EXEC | PROT_SEM))
		return -EINVAL;
	if (down_write_killable(&mm->lock))
		return -EINTR;
	err = protect_range(mm, addr, end, prot, grows);
	up_write(&mm->lock);
	return err;
}
