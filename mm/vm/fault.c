/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.c - page faults: bringing in what a program may touch, on demand.
 *
 *   address -> VMA -> right? -> entry   none      anonymous: zero page on read, a cleared page on
 *                                                 write
 *                                                 (thp.c: 2 MiB of them)
 *                                                 file: filefault.c
 *                                       present   written but read-only: cow.c
 *                                       swap      swapfault.c
 *                                       else      PROT_NONE, migration
 *
 * Rule: work (allocate, clear, read, copy) happens without pt_lock; then the lock is taken, the
 * entry is looked at again, and only if it is still what it was, the new one goes in. So two
 * threads may fault on one page; one of them throws its work away.
 *
 * Locking: aspace->lock shared from the VMA lookup to the end (growing the stack takes it
 * exclusively for a moment). Kernel accesses to user memory come here too. With page faults
 * disabled, or in a context that may not sleep, the answer is -EFAULT at once and the access
 * continues at its fixup.
 */
#include "arch/trap.h"
#include "arch/uaccess.h"
#include "kernel/printk.h"
#include "mm/phys/page_alloc.h"
#include "mm/reclaim/lruvec.h"
#include "mm/vm/fault.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"
#include "sched/sched.h"

#define SIGBUS 7
#define OOM_PAUSE_NS (20 * NSEC_PER_MSEC)
#define OOM_TRIES 50 /* a second */
#define SIGSEGV 11
#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define BUS_ADRERR 2

pfn_t zero_pfn;

struct page *vma_alloc_page(struct vma *vma, unsigned long addr, gfp_t gfp)
{
	gfp |= GFP_HIGHUSER_MOVABLE | __GFP_ACCOUNT;
	if (unlikely(vma->policy))
		return mpol_alloc_page(vma->policy, gfp, vma_index(vma, addr));
	return alloc_page(gfp);
}

/*
 * A page nobody has seen yet becomes an anonymous page of the VMA. => anon_vma prepared; before the
 * entry is set
 */
void page_set_new_anon(struct page *page, struct vma *vma, unsigned long addr)
{
	page->flags |= BIT(PG_anon) | BIT(PG_swapbacked) | BIT(PG_uptodate);
	page->anon_vma = vma->anon_vma;
	page->index = vma_index(vma, addr);
	atomic_set(&page->mapcount, 0);
	atomic_inc(&vma->anon_vma->refs);
}

/*
 * Counters and LRU, before the entry is set: once it is, another thread may unmap and free the page
 * at any time.
 */
void page_account_new_anon(struct page *page, struct vma *vma)
{
	mod_lruvec_state(page, NR_ANON_PAGES, 1);
	if (unlikely(vma->flags & VM_LOCKED))
		mlock_page(page);
	lru_add(page);
}

/* Somebody was faster: nothing of it is left but flags, which the allocator resets. */
void page_unset_new_anon(struct page *page, struct vma *vma)
{
	if (unlikely(page_test(page, PG_mlocked)))
		mlock_page_gone(page);
	anon_page_counted(page, -1);
	atomic_set(&page->mapcount, -1);
	atomic_dec(&vma->anon_vma->refs); /* the VMA holds another */
	page_put(page);
}

static int anon_fault(struct vma *vma, unsigned long addr, pte_t *pte, unsigned int flags)
{
	struct aspace *mm = vma->mm;
	struct page *page;
	pte_t entry;

	if (!(flags & FAULT_WRITE)) {
		entry = pte_make(zero_pfn, (vma->prot & ~PTE_WRITE) | PTE_SPECIAL);
		spin_lock(&mm->pt_lock);
		if (pte_none(pte_read(pte)))
			pte_set(pte, entry);
		spin_unlock(&mm->pt_lock);
		return 0;
	}
	if (anon_vma_prepare(vma))
		return -ENOMEM;
	page = vma_alloc_page(vma, addr, __GFP_ZERO);
	if (unlikely(!page))
		return -ENOMEM;
	entry = pte_make(page_to_pfn(page), vma->prot | PTE_DIRTY);
	page_set_new_anon(page, vma, addr);
	page_account_new_anon(page, vma);
	spin_lock(&mm->pt_lock);
	if (unlikely(!pte_none(pte_read(pte)))) {
		spin_unlock(&mm->pt_lock);
		page_unset_new_anon(page, vma);
		return 0;
	}
	pte_set(pte, entry);
	spin_unlock(&mm->pt_lock);
	atomic_long_inc(&mm->rss_anon);
	return 0;
}

/*
 * The entry is present and allows more or less what was wanted: another thread was faster, or the
 * TLB is old.
 */
static int spurious_fault(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e)
{
	struct aspace *mm = vma->mm;

	spin_lock(&mm->pt_lock);
	if (pte_protnone(e) && pte_read(pte).v == e.v && (vma->flags & VM_ACCESS))
		pte_set(pte, (pte_t){ (e.v & PTE_PFN_MASK) | (vma->prot & ~PTE_WRITE) |
				      (e.v & (PTE_SPECIAL | PTE_DIRTY)) });
	spin_unlock(&mm->pt_lock);
	tlb_flush_page_local(addr);
	return 0;
}

/* There is a huge page. */
static int huge_fault(struct vma *vma, unsigned long addr, pte_t *pmd, pte_t e, unsigned int flags)
{
	if ((flags & FAULT_WRITE) && !pte_write(e))
		return thp_cow(vma, addr, pmd, e, flags);
	tlb_flush_page_local(addr); /* another thread was faster, or the TLB is old */
	return 0;
}

/*
 * There is no table for addr: a huge page is there, or its place is empty and may get one, else it
 * gets a table. 1: *pte is the entry; 0: the fault has been dealt with, or is taken again; -errno
 */
static noinline int fault_above(struct vma *vma, unsigned long addr, unsigned int flags,
				pte_t **pte)
{
	struct aspace *mm = vma->mm;
	pte_t *pmd = pt_alloc_pmd(mm, addr), e;
	int err;

	if (!pmd)
		return -ENOMEM;
	e = pte_read(pmd);
	if (pmd_thp(e))
		return huge_fault(vma, addr, pmd, e, flags);
	if (pmd_moving(e)) {
		thp_wait(mm, pmd);
		return 0;
	}
	if (pte_none(e) && vma_is_anon(vma) && thp_enabled != THP_NEVER) {
		if (unlikely(READ_ONCE(mm->oom_reaped)))
			return -EFAULT;
		err = thp_eligible(vma, addr) ? thp_fault(vma, addr, flags) : THP_FALLBACK;
		if (err != THP_FALLBACK)
			return err;
		khugepaged_enter(mm, vma); /* it may become one later */
	}
	*pte = pt_alloc_slow(mm, addr);
	if (*pte)
		return 1;
	return pte_none(pte_read(pmd)) ? -ENOMEM : 0;
}

int handle_fault(struct vma *vma, unsigned long addr, unsigned int flags)
{
	pte_t *pte, e;
	int err;

	addr &= PAGE_MASK;
	pte = pt_find(vma->mm, addr);
	if (unlikely(!pte)) {
		err = fault_above(vma, addr, flags, &pte);
		if (err <= 0)
			return err;
	}
	e = pte_read(pte);
	if (likely(pte_none(e))) {
		/* after the entry was read: reap.c clears entries after it set this */
		if (unlikely(READ_ONCE(vma->mm->oom_reaped)))
			return -EFAULT;
		return vma_is_anon(vma) ? anon_fault(vma, addr, pte, flags)
					: file_fault(vma, addr, pte, flags);
	}
	if (pte_present(e) && (flags & FAULT_WRITE) && !pte_write(e))
		return fault_cow(vma, addr, pte, e, flags);
	if (pte_mapped(e))
		return spurious_fault(vma, addr, pte, e);
	if (pte_swap(e))
		return swap_fault(vma, addr, pte, e, flags);
	thp_wait(vma->mm, pte); /* on its way: the entry is of the same kind as a huge page's */
	return 0;
}

/* May the access be made at all? */
static __always_inline bool access_allowed(const struct vma *vma, unsigned int flags)
{
	unsigned long want = flags & FAULT_WRITE  ? VM_WRITE
			     : flags & FAULT_EXEC ? VM_EXEC
						  : VM_ACCESS;

	return vma->flags & want;
}

struct vma *expand_stack(struct aspace *mm, struct vma *vma, unsigned long addr)
{
	unsigned long start = addr & PAGE_MASK, grow;
	struct vma *prev;

	if (!vma || vma->end <= addr)
		return NULL;
	if (vma->start <= addr)
		return vma;
	if (!(vma->flags & VM_GROWSDOWN) || start < (unsigned long)vm_mmap_min_addr)
		return NULL;
	prev = vma_prev(vma);
	if (prev && !(prev->flags & VM_GROWSDOWN) && (prev->flags & VM_ACCESS) &&
	    start - prev->end < STACK_GUARD_GAP)
		return NULL;
	if (prev && prev->end > start)
		return NULL;
	grow = (vma->start - start) >> PAGE_SHIFT;
	if (vma->end - start > mm->rlimit_stack || !may_expand_vm(mm, vma->flags, grow))
		return NULL;
	vma_resize(vma, start, vma->end);
	vm_stat_account(mm, vma->flags, grow);
	vm_commit(vma->flags, grow);
	return vma;
}

/* The VMA of addr with the lock shared, or NULL without the lock. */
static noinline struct vma *find_slow(struct aspace *mm, struct vma *vma, unsigned long addr)
{
	if (!vma || !(vma->flags & VM_GROWSDOWN)) {
		up_read(&mm->lock);
		return NULL;
	}
	up_read(&mm->lock);
	down_write(&mm->lock);
	vma = expand_stack(mm, vma_find(mm, addr), addr);
	if (!vma) {
		up_write(&mm->lock);
		return NULL;
	}
	downgrade_write(&mm->lock);
	return vma;
}

static int bad_access(int *signo, int *si_code, int sig, int code)
{
	*signo = sig;
	*si_code = code;
	return -EFAULT;
}

/*
 * Nothing could be allocated, although the allocator has reclaimed and killed as it could. A victim
 * just dies on its way out; anybody else tries again after others had a turn. Who fails for a
 * second without a break cannot be helped: others are exempt from killing, or it is itself, and
 * everything that could end this wants memory too. It gets SIGBUS. Only the first process goes on
 * trying.
 */
static int fault_oom(const struct pt_regs *regs, int *signo, int *si_code)
{
	struct thread *t = current;

	if (!user_mode(regs))
		return -EFAULT;
	if (fatal_signal_pending())
		return 0;
	t->oom_tries = t->min_flt == t->oom_flt + 1 ? t->oom_tries + 1 : 0;
	t->oom_flt = t->min_flt;
	if (t->oom_tries >= OOM_TRIES && t->tgid != 1) {
		t->oom_tries = 0;
		pr_err("%s[%d]: no memory and nobody to kill for it", t->comm, t->tgid);
		return bad_access(signo, si_code, SIGBUS, BUS_ADRERR);
	}
	sleep_ns(OOM_PAUSE_NS);
	return 0;
}

static int page_fault(struct pt_regs *regs, unsigned long addr, unsigned int error, int *signo,
		      int *si_code)
{
	unsigned int flags =
		(error & PF_WRITE ? FAULT_WRITE : 0) | (error & PF_INSTR ? FAULT_EXEC : 0);
	struct thread *t = current;
	struct aspace *mm = t->mm;
	struct vma *vma;
	int err;

	if (unlikely(!user_mode(regs))) {
		if (!mm || t->arch.pagefault_off || preempt_count() ||
		    !(regs->rflags & X86_EFLAGS_IF))
			return -EFAULT;
		if ((error & PF_INSTR) || !extable_find(regs->rip))
			return -EFAULT;
	} else {
		flags |= FAULT_USER;
	}
	if (unlikely(addr >= USER_TOP))
		return bad_access(signo, si_code, SIGSEGV, SEGV_MAPERR);
	count_vm_event(PGFAULT);
	t->min_flt++;
	down_read(&mm->lock);
	vma = vma_find(mm, addr);
	if (unlikely(!vma || vma->start > addr)) {
		vma = find_slow(mm, vma, addr);
		if (!vma)
			return bad_access(signo, si_code, SIGSEGV, SEGV_MAPERR);
	}
	if (unlikely(!access_allowed(vma, flags))) {
		up_read(&mm->lock);
		return bad_access(signo, si_code, SIGSEGV, SEGV_ACCERR);
	}
	err = handle_fault(vma, addr, flags);
	up_read(&mm->lock);
	if (likely(!err))
		return 0;
	if (err == -ENOMEM)
		return fault_oom(regs, signo, si_code);
	if (err == -EIO)
		return bad_access(signo, si_code, SIGBUS, BUS_ADRERR);
	return bad_access(signo, si_code, SIGSEGV, SEGV_ACCERR);
}

static const struct fault_ops vm_fault_ops = { .page_fault = page_fault };

void fault_init(void)
{
	fault_ops = &vm_fault_ops;
}
