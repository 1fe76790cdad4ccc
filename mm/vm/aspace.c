/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aspace.c - life of an address space.
 *
 *   aspace_create (exec)  or  aspace_fork        users = refs = 1
 *   threads share it: users                      at 0: everything is unmapped, pages and tables go
 *   kernel threads borrow its tables: refs       at 0: the struct and the top table go
 *
 * All users together hold one of the refs. A kernel thread keeps running on the tables of whoever
 * ran before it (no TLB flush); the scheduler takes and drops refs through the hooks set here. What
 * such a borrower has loaded is an address space without user half once the last user is gone.
 */
#include "kernel/param.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
#include "mm/vm/forkcopy.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"
#include "mm/vm/tlbgather.h"

const struct vm_file_ops *vm_file_ops;
void (*aspace_exit_hook)(struct aspace *mm);
static struct slab_cache *aspace_cache;
LIST_HEAD(aspace_list);
DEFINE_SPINLOCK(aspace_list_lock, RANK_LEAF);

/* Fields that never come from a parent. */
static int aspace_init(struct aspace *mm)
{
	rwsem_init(&mm->lock, RANK_MMAP, "mmap");
	mm->vmas = RB_ROOT;
	list_init(&mm->vma_list);
	mm->cached = NULL;
	mm->nr_vmas = 0;
	spin_lock_init(&mm->pt_lock, RANK_PGTABLE, "pgtable");
	list_init(&mm->deposits);
	list_init(&mm->khuge);
	mm->khuge_seq = mm->khuge_next = 0;
	atomic_set(&mm->users, 1);
	atomic_set(&mm->refs, 1);
	atomic_long_set(&mm->rss_anon, 0);
	atomic_long_set(&mm->rss_file, 0);
	atomic_long_set(&mm->rss_shmem, 0);
	atomic_long_set(&mm->rss_swap, 0);
	atomic_long_set(&mm->pt_pages, 0);
	mm->hiwater_rss = 0;
	mm->locked_vm = 0;
	mm->oom_reaped = false;
	mm->reap_next = NULL;
	mm->aio = NULL;
	return arch_mm_init(&mm->arch);
}

static void aspace_publish(struct aspace *mm)
{
	spin_lock(&aspace_list_lock);
	list_add_tail(&mm->node, &aspace_list);
	spin_unlock(&aspace_list_lock);
}

struct aspace *aspace_create(void)
{
	struct aspace *mm = slab_alloc(aspace_cache, GFP_KERNEL | __GFP_ZERO | __GFP_ACCOUNT);

	if (!mm)
		return NULL;
	if (aspace_init(mm)) {
		slab_free(aspace_cache, mm);
		return NULL;
	}
	mm->mmap_base = USER_TOP - MiB(128);
	mm->rlimit_as = mm->rlimit_data = mm->rlimit_memlock = ~0ul;
	mm->rlimit_stack = MiB(8);
	if (current && current->mm)
		mm->thp_disabled = current->mm->thp_disabled; /* exec keeps it */
	aspace_publish(mm);
	return mm;
}

struct aspace *aspace_fork(struct aspace *old)
{
	struct aspace *mm = slab_alloc(aspace_cache, GFP_KERNEL | __GFP_ACCOUNT);
	int err;

	if (!mm)
		return ERR_PTR(-ENOMEM);
	down_write(&old->lock);
	*mm = *old;
	mm->def_flags &= ~(VM_LOCKED | VM_LOCKONFAULT);
	err = aspace_init(mm);
	if (err) {
		up_write(&old->lock);
		slab_free(aspace_cache, mm);
		return ERR_PTR(err);
	}
	vm_file_get(mm->exe_file);
	err = fork_copy(mm, old);
	/*
	 * Only now do others see it: it has been changed without its lock. And while the parent's
	 * is held, so that who follows the list (swapoff) finds each swap entry in one of the two.
	 */
	aspace_publish(mm);
	khugepaged_fork(mm, old);
	up_write(&old->lock);
	if (err) {
		aspace_put(mm);
		return ERR_PTR(err);
	}
	return mm;
}

/*
 * The last user is gone: nobody else can look up a VMA here (rmap may still come until it is
 * unlinked).
 */
static void exit_mmap(struct aspace *mm)
{
	struct tlb_gather g;
	struct vma *vma, *next;

	tlb_gather_init(&g, mm, 1);
	list_for_each_entry(vma, &mm->vma_list, list) {
		if (unlikely(vma->flags & VM_LOCKED))
			munlock_vma_pages(vma, vma->start, vma->end);
		zap_range(&g, vma, vma->start, vma->end);
		vm_commit(vma->flags, -(long)vma_pages(vma));
	}
	list_for_each_entry(vma, &mm->vma_list, list) {
		rmap_unlink(vma);
		pt_free_range(&g, vma->start, vma->end, 0,
			      list_is_last(&vma->list, &mm->vma_list)
				      ? 0
				      : list_next_entry(vma, list)->start);
	}
	tlb_gather_finish(&g);
	list_for_each_entry_safe(vma, next, &mm->vma_list, list)
		vma_free(vma);
	list_init(&mm->vma_list);
	mm->vmas = RB_ROOT;
	mm->cached = NULL;
	mm->nr_vmas = 0;
	mm->total_vm = 0;
}

void aspace_put(struct aspace *mm)
{
	if (!atomic_dec_and_test(&mm->users))
		return;
	if (unlikely(mm->aio))
		aspace_exit_hook(mm);
	if (unlikely(!list_empty(&mm->khuge)))
		khugepaged_exit(mm);
	exit_mmap(mm);
	spin_lock(&aspace_list_lock);
	list_del(&mm->node);
	spin_unlock(&aspace_list_lock);
	vm_file_put(mm->exe_file);
	mm->exe_file = NULL;
	aspace_drop(mm);
}

void aspace_grab(struct aspace *mm)
{
	atomic_inc(&mm->refs);
}

void aspace_drop(struct aspace *mm)
{
	if (!atomic_dec_and_test(&mm->refs))
		return;
	ASSERT(atomic_long_read(&mm->pt_pages) == 0);
	arch_mm_destroy(&mm->arch);
	slab_free(aspace_cache, mm);
}

void aspace_use(struct aspace *mm)
{
	sched_use_mm(mm);
}

static void switch_mm(struct aspace *prev, struct aspace *next)
{
	arch_mm_switch(prev ? &prev->arch : NULL, &next->arch);
}

unsigned long vm_rss(struct aspace *mm)
{
	long rss = atomic_long_read(&mm->rss_anon) + atomic_long_read(&mm->rss_file) +
		   atomic_long_read(&mm->rss_shmem);

	rss = max(rss, 0l); /* an entry can be counted out before it was counted in */
	if ((unsigned long)rss > mm->hiwater_rss)
		mm->hiwater_rss = rss;
	return rss;
}

void vm_init(void)
{
	struct page *zero = alloc_page(GFP_KERNEL | __GFP_ZERO);

	BUG_ON(!zero);
	page_set(zero, PG_reserved);
	zero_pfn = page_to_pfn(zero);
	aspace_cache = slab_create("mm_struct", sizeof(struct aspace), 64, 0, NULL);
	BUG_ON(!aspace_cache);
	pagecache_init();
	vma_cache_init();
	anon_vma_init();
	pt_cache_init();
	mempolicy_init();
	mm_switch_hook = switch_mm;
	mm_grab_hook = aspace_grab;
	mm_drop_hook = aspace_drop;
	mapping_unmap_hook = vm_unmap_pages;
	mapping_mkclean_hook = vm_page_mkclean;
	mapping_unmap_page_hook = vm_unmap_page;
	committed_pages_hook = vm_committed_pages;
	fault_init();
}
