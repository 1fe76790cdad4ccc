/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.c - page faults: bringing in what a program may touch, on demand.
 *
 *   address -> VMA -> right? -> entry   none      anonymous: zero page on read, a cleared page on
 *                                                 write
 *                                                 (thp.c: 2 MiB of them)
 *                                                 file: the cached page (and its cached
 *                                                 neighbours), or a private copy
 *                                       present   written but read-only: cow.c
 *                                       swap      swapfault.c
 *                                       else      PROT_NONE, migration
 *
 * Rule: work (allocate, clear, read, copy) happens without pt_lock; then the lock is taken, the
 * entry is looked at again, and only if it is still what it was, the new one goes in. So two
 * threads may fault on one page; one of them throws its work away.
 *
 * Shared pages of a disk's file are entered read-only until somebody writes, so that the first
 * write is noticed: the page gets its home on the disk and becomes dirty before the entry allows
 * the store; writing the page back takes the right away again (vm_page_mkclean).
 *
 * Locking: aspace->lock shared from the VMA lookup to the end (growing the stack takes it
 * exclusively for a moment); for file pages also the mapping's truncate_lock, so that no page is
 * mapped that truncation has already passed. Kernel accesses to user memory come here too. With
 * page faults disabled, or in a context that may not sleep, the answer is -EFAULT at once and the
 * access continues at its fixup.
 */
#include "arch/trap.h"
#include "arch/uaccess.h"
#include "kernel/printk.h"
#include "mm/cache/readahead.h"
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

#define FAULT_AROUND_PAGES 16ul

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

/* One more entry for a file page. => pt_lock; a reference goes with it */
static inline void map_file_page(struct vma *vma, struct page *page, pte_t *pte, pte_t entry)
{
	if (atomic_add_return(1, &page->mapcount) == 0)
		mod_lruvec_state(page, NR_MAPPED, 1);
	pte_set(pte, entry);
}

static inline atomic_long_t *file_rss(struct aspace *mm, const struct mapping *m)
{
	return m->flags & MAPF_SHMEM ? &mm->rss_shmem : &mm->rss_file;
}

/*
 * Entry of a file page that may be read (SHMEM needs no notice of the first write: shared ones are
 * writable at once).
 */
static inline pgprot_t file_read_prot(const struct vma *vma)
{
	if ((vma->flags & VM_SHARED) && (vma->mapping->flags & MAPF_SHMEM))
		return vma->prot;
	return vma->prot & ~PTE_WRITE;
}

/*
 * Maps the cached pages around addr: an aligned window of 16 pages inside the VMA, the file and the
 * table. True when addr's own page was among them. => truncate_lock shared
 */
static bool fault_around(struct vma *vma, unsigned long addr, pte_t *pte, unsigned long file_pages)
{
	unsigned long window = FAULT_AROUND_PAGES * PAGE_SIZE;
	unsigned long start = max(addr & ~(window - 1), vma->start);
	unsigned long end = min((addr & ~(window - 1)) + window, vma->end);
	unsigned long index = vma_index(vma, start), n = (end - start) >> PAGE_SHIFT, mapped = 0;
	pgprot_t prot = file_read_prot(vma);
	struct page *pages[FAULT_AROUND_PAGES];
	bool hit = false;

	n = min(n, file_pages - index);
	pte -= (addr - start) >> PAGE_SHIFT;
	for (unsigned long done = 0; done < n;) {
		unsigned int got =
			pagecache_find_batch(vma->mapping, index + done, n - done, pages + done);

		done += got;
	}
	spin_lock(&vma->mm->pt_lock);
	for (unsigned long i = 0; i < n; i++) {
		struct page *page = pages[i];

		if (!page)
			continue;
		/* A page with the marker of reading ahead is left to a fault of its own. */
		if (!pte_none(pte_read(pte + i)) ||
		    (READ_ONCE(page->flags) & (BIT(PG_uptodate) | BIT(PG_readahead))) !=
			    BIT(PG_uptodate))
			continue;
		map_file_page(vma, page, pte + i, pte_make(page_to_pfn(page), prot));
		pages[i] = NULL;
		mapped++;
		hit |= start + i * PAGE_SIZE == addr;
	}
	spin_unlock(&vma->mm->pt_lock);
	if (mapped)
		atomic_long_add(mapped, file_rss(vma->mm, vma->mapping));
	for (unsigned long i = 0; i < n; i++)
		if (pages[i])
			page_put(pages[i]);
	return hit;
}

static inline struct ra_state *vma_readahead(const struct vma *vma)
{
	return vma->file && vm_file_ops->readahead ? vm_file_ops->readahead(vma->file) : NULL;
}

/* Nothing there: read ahead, then wait. */
static noinline struct page *file_page_miss(struct vma *vma, unsigned long index)
{
	struct mapping *m = vma->mapping;

	current->maj_flt++;
	current->min_flt--; /* counted when it began */
	count_vm_event(PGMAJFAULT);
	readahead_fault(m, vma_readahead(vma), index,
			vma->flags & VM_RAND_READ  ? RA_RANDOM
			: vma->flags & VM_SEQ_READ ? RA_SEQUENTIAL
						   : RA_NORMAL);
	return pagecache_get(m, index, PCG_CREATE);
}

/* It is being read already, or has the marker of reading ahead. Consumes the reference. */
static noinline struct page *file_page_ahead(struct vma *vma, unsigned long index,
					     struct page *page)
{
	if (page_test(page, PG_readahead))
		readahead_fault_hit(vma->mapping, vma_readahead(vma), page);
	if (page_test(page, PG_uptodate))
		return page;
	page_put(page);
	return pagecache_get(vma->mapping, index, PCG_CREATE);
}

/* The file's page, made if there is none (with the VMA's policy). */
static struct page *file_page(struct vma *vma, unsigned long addr, unsigned long index)
{
	struct mapping *m = vma->mapping;
	struct page *page = pagecache_find(m, index), *fresh = NULL;

	if (likely(page && (READ_ONCE(page->flags) & (BIT(PG_uptodate) | BIT(PG_readahead))) ==
				   BIT(PG_uptodate)))
		return page;
	if (page)
		return file_page_ahead(vma, index, page);
	if (!(m->flags & MAPF_SHMEM))
		return file_page_miss(vma, index);
	if (vma->policy)
		fresh = vma_alloc_page(vma, addr, __GFP_ZERO);
	page = pagecache_get_with(m, index, PCG_CREATE, &fresh);
	if (fresh)
		page_put(fresh);
	return page;
}

/* First write to a private file page: straight to a copy. Consumes the reference to page. */
static int file_cow_fault(struct vma *vma, unsigned long addr, pte_t *pte, struct page *page)
{
	struct aspace *mm = vma->mm;
	struct page *copy;
	void *from, *to;

	copy = anon_vma_prepare(vma) ? NULL : vma_alloc_page(vma, addr, 0);
	if (!copy) {
		page_put(page);
		return -ENOMEM;
	}
	from = page_kmap(page);
	to = page_kmap(copy);
	copy_page_raw(to, from);
	page_kunmap(to);
	page_kunmap(from);
	page_put(page);
	page_set_new_anon(copy, vma, addr);
	page_account_new_anon(copy, vma);
	spin_lock(&mm->pt_lock);
	if (!pte_none(pte_read(pte))) {
		spin_unlock(&mm->pt_lock);
		page_unset_new_anon(copy, vma);
		return 0;
	}
	pte_set(pte, pte_make(page_to_pfn(copy), vma->prot | PTE_DIRTY));
	spin_unlock(&mm->pt_lock);
	atomic_long_inc(&mm->rss_anon);
	return 0;
}

/* What a disk's file wants before a page is written to. */
static int page_home(struct mapping *m, struct page *page)
{
	u64 pos = (u64)page->index << PAGE_SHIFT, size = READ_ONCE(m->size);

	if (m->ops->page_mkwrite)
		return m->ops->page_mkwrite(m, page);
	if (!m->ops->write_begin)
		return 0;
	if (pos >= size)
		return -EIO;
	return m->ops->write_begin(m, page, pos, min(size - pos, (u64)PAGE_SIZE), NULL);
}

int file_page_mkwrite_begin(struct mapping *m, struct page *page)
{
	int err = 0;

	if (unlikely(m->flags & MAPF_STABLE)) {
		page_lock(page); /* no writing begins before the entry is there to be found */
		page_wait_writeback(page);
	}
	if (!page_test(page, PG_homed) && !(m->flags & MAPF_SHMEM) && m->ops)
		err = page_home(m, page);
	if (likely(!err))
		pagecache_set_dirty(page);
	else if (m->flags & MAPF_STABLE)
		page_unlock(page);
	return err;
}

void file_page_mkwrite_end(struct mapping *m, struct page *page)
{
	if (unlikely(m->flags & MAPF_STABLE))
		page_unlock(page);
}

/* => truncate_lock shared */
static int file_fault_locked(struct vma *vma, unsigned long addr, pte_t *pte, unsigned int flags)
{
	unsigned long index = vma_index(vma, addr),
		      file_pages = PFN_UP(READ_ONCE(vma->mapping->size));
	bool write = flags & FAULT_WRITE, shared = vma->flags & VM_SHARED, mapped = false;
	struct aspace *mm = vma->mm;
	struct page *page;
	int err;

	if (index >= file_pages)
		return -EIO;
	if (!write && !(vma->flags & VM_LOCKED) && fault_around(vma, addr, pte, file_pages))
		return 0;
	page = file_page(vma, addr, index);
	if (IS_ERR_OR_NULL(page))
		return PTR_ERR(page) == -ENOMEM ? -ENOMEM : -EIO;
	if (write && !shared)
		return file_cow_fault(vma, addr, pte, page);
	if (write) {
		err = file_page_mkwrite_begin(vma->mapping, page);
		if (err) {
			page_put(page);
			return err == -ENOMEM ? err : -EIO;
		}
	}
	spin_lock(&mm->pt_lock);
	if (pte_none(pte_read(pte))) {
		map_file_page(vma, page, pte,
			      pte_make(page_to_pfn(page),
				       write ? vma->prot | PTE_DIRTY : file_read_prot(vma)));
		mapped = true;
		if (write)
			file_page_written(page);
		if (unlikely(vma->flags & VM_LOCKED))
			mlock_page(page);
	}
	spin_unlock(&mm->pt_lock);
	if (write)
		file_page_mkwrite_end(vma->mapping, page);
	if (mapped)
		atomic_long_inc(file_rss(mm, vma->mapping));
	else
		page_put(page);
	return 0;
}

static int file_fault(struct vma *vma, unsigned long addr, pte_t *pte, unsigned int flags)
{
	struct mapping *m = vma->mapping;
	int err;

	down_read(&m->truncate_lock);
	err = file_fault_locked(vma, addr, pte, flags);
	up_read(&m->truncate_lock);
	if ((flags & FAULT_WRITE) && (vma->flags & VM_SHARED))
		file_written(vma);
	return err;
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
