/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - what the files of mm/vm share: VMA tree, rmap links, faults, zap. */
#ifndef MM_VM_INTERNAL_H
#define MM_VM_INTERNAL_H

#include "lib/err.h"
#include "mm/cache/writeback.h"
#include "mm/debug/vmstat.h"
#include "mm/vm/aspace.h"
#include "mm/vm/rmap.h"

#define VM_ACCESS (VM_READ | VM_WRITE | VM_EXEC)
#define VM_MAX_MAP_COUNT 65530
#define VM_MIN_ADDR 65536ul		    /* lowest address chosen for anybody */
#define STACK_GUARD_GAP (256ul * PAGE_SIZE) /* kept free below a growing stack */

#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define PROT_SEM 8
#define PROT_GROWSDOWN 0x01000000
#define PROT_GROWSUP 0x02000000

#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_SHARED_VALIDATE 3
#define MAP_TYPE 0xf
#define MAP_FIXED 0x10
#define MAP_ANONYMOUS 0x20
#define MAP_32BIT 0x40
#define MAP_GROWSDOWN 0x100
#define MAP_DENYWRITE 0x800
#define MAP_EXECUTABLE 0x1000
#define MAP_LOCKED 0x2000
#define MAP_NORESERVE 0x4000
#define MAP_POPULATE 0x8000
#define MAP_NONBLOCK 0x10000
#define MAP_STACK 0x20000
#define MAP_HUGETLB 0x40000
#define MAP_SYNC 0x80000
#define MAP_FIXED_NOREPLACE 0x100000
#define MAP_UNINITIALIZED 0x4000000

struct tlb_gather;

static inline unsigned long vma_pages(const struct vma *vma)
{
	return (vma->end - vma->start) >> PAGE_SHIFT;
}
static inline bool vma_is_anon(const struct vma *vma)
{
	return !vma->mapping;
}
/* Index of addr's page in the mapping (anonymous: in the linear numbering of its pages). */
static inline unsigned long vma_index(const struct vma *vma, unsigned long addr)
{
	return vma->pgoff + ((addr - vma->start) >> PAGE_SHIFT);
}
/* Private memory that a program may write: its pages become its own. */
static inline bool vma_flags_private_writable(unsigned long flags)
{
	return (flags & (VM_WRITE | VM_SHARED)) == VM_WRITE;
}
static inline unsigned long vma_start_gap(const struct vma *vma)
{
	unsigned long gap = vma->flags & VM_GROWSDOWN ? STACK_GUARD_GAP : 0;

	return vma->start > gap ? vma->start - gap : 0;
}
static inline struct vma *vma_next(struct vma *vma)
{
	return list_is_last(&vma->list, &vma->mm->vma_list) ? NULL : list_next_entry(vma, list);
}
static inline struct vma *vma_prev(struct vma *vma)
{
	return list_is_first(&vma->list, &vma->mm->vma_list) ? NULL : list_prev_entry(vma, list);
}
pgprot_t vma_pgprot(unsigned long vm_flags);

/* vma.c: the tree. => mm->lock for writing (lookups: reading) */
void vma_tree_insert(struct aspace *mm, struct vma *vma);
/* The same between neighbours known already (NULL: none). */
void vma_tree_insert_at(struct aspace *mm, struct vma *vma, struct vma *prev, struct vma *next);
/* The VMA before next, the last one when next is NULL. */
struct vma *vma_before(struct aspace *mm, struct vma *next);
void vma_tree_remove(struct aspace *mm, struct vma *vma);
/* Makes the tree from the list (fork): balanced at once. => list and nr_vmas are right */
void vma_tree_build(struct aspace *mm);
/* Highest address of len free bytes inside [low, high), or -ENOMEM. */
unsigned long vma_find_gap(struct aspace *mm, size_t len, unsigned long low, unsigned long high);
/* First VMA that overlaps [start, end), or NULL. */
struct vma *vma_intersect(struct aspace *mm, unsigned long start, unsigned long end);
/* Cuts vma at addr (inside it); vma keeps the lower part. => the upper one or ERR_PTR(-ENOMEM) */
struct vma *vma_split(struct vma *vma, unsigned long addr);
/* So that no VMA crosses start or end: 0 or -ENOMEM. */
int vma_split_range(struct aspace *mm, unsigned long start, unsigned long end);
/* Cuts vma so that one VMA is exactly [start, end), a part of it: that one, or ERR_PTR(-ENOMEM). */
struct vma *vma_carve(struct vma *vma, unsigned long start, unsigned long end);
/* New borders of a VMA; its pages keep their place. => no overlap results */
void vma_resize(struct vma *vma, unsigned long start, unsigned long end);
/* Joins vma with its neighbours where they are alike. => the VMA that now holds vma's range */
struct vma *vma_merge(struct vma *vma);
/*
 * Would a VMA of these properties at [start, start + ...) continue vma (end == start)? And precede
 * it?
 */
struct vma_like {
	unsigned long flags, pgoff;
	struct file *file;
	struct mapping *mapping;
	struct mempolicy *policy;
};
bool vma_can_follow(const struct vma *vma, unsigned long start, const struct vma_like *like);
bool vma_can_precede(const struct vma *vma, unsigned long end, unsigned long npages,
		     const struct vma_like *like);
bool vma_tree_check(struct aspace *mm);

/* vma_life.c: allocation and references (stubbed by host tests) */
struct vma *vma_alloc(struct aspace *mm);
/* unlinked copy with its own references; NULL */
struct vma *vma_clone(const struct vma *vma, struct aspace *mm);
void vma_free(struct vma *vma); /* gives the references back */
void vma_cache_init(void);

/* i_mmap.c, anon_vma.c: rmap links */
struct rmap_lock {
	struct mapping *mapping;
	struct anon_vma *root;
};
void rmap_lock(struct rmap_lock *l, struct mapping *mapping, struct anon_vma *av);
void rmap_unlock(struct rmap_lock *l);
/* Next node of top's subtree in pre-order, NULL at the end. => root locked */
struct anon_vma *anon_vma_next(struct anon_vma *top, struct anon_vma *av);
void i_mmap_insert(struct vma *vma); /* => i_mmap_lock */
void i_mmap_remove(struct vma *vma);
/* overlapping, by start */
struct vma *i_mmap_first(struct mapping *m, unsigned long first, unsigned long last);
struct vma *i_mmap_next(struct vma *vma, unsigned long first, unsigned long last);
void rmap_link(struct vma *vma); /* into the mapping's tree; takes the lock */
/* out of the mapping's tree and off the anon_vma; takes the locks */
void rmap_unlink(struct vma *vma);

/* The VMA can take anonymous pages afterwards: 0 or -ENOMEM. => mm->lock for reading */
static inline int anon_vma_prepare(struct vma *vma)
{
	return likely(smp_load_acquire(&vma->anon_vma)) ? 0 : __anon_vma_prepare(vma);
}

/* zap.c */
void zap_range(struct tlb_gather *g, struct vma *vma, unsigned long start, unsigned long end);
/* One range with a gather of its own (madvise, truncate). */
void zap_vma_range(struct vma *vma, unsigned long start, unsigned long end);

/* mmap.c. => mm->lock for writing */
int do_munmap(struct aspace *mm, unsigned long start, size_t len);
unsigned long get_unmapped_area(struct aspace *mm, unsigned long hint, size_t len, int flags);
bool may_expand_vm(struct aspace *mm, unsigned long vm_flags, unsigned long npages);
void vm_stat_account(struct aspace *mm, unsigned long vm_flags, long npages);
void vm_commit(unsigned long vm_flags, long npages); /* overcommit.c */
extern long vm_max_map_count, vm_mmap_min_addr;
/* Anonymous memory at [start, start + len): 0 or -errno; merges. */
int do_brk_flags(struct aspace *mm, unsigned long start, size_t len, unsigned long vm_flags);
/* Links a filled VMA: tree, rmap, counts. */
void vma_link(struct vma *vma);

/* fault.c */
#define FAULT_WRITE 1u
#define FAULT_EXEC 2u
#define FAULT_USER 4u
/* ptrace: break COW of a private page even where the program may not write */
#define FAULT_FORCE 8u
/* swapoff: nobody waits for the page, it only has to leave its slot */
#define FAULT_UNUSE 16u
/* Mends addr in vma: 0, -ENOMEM, -EFAULT (no right), -EIO (SIGBUS). => mm->lock for reading */
int handle_fault(struct vma *vma, unsigned long addr, unsigned int flags);
/* cow.c */
int fault_cow(struct vma *vma, unsigned long addr, pte_t *pte, pte_t entry, unsigned int flags);
/* swapfault.c: the entry is one of swap. */
int swap_fault(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e, unsigned int flags);
/*
 * Faults every page of the range in (mlock, MAP_POPULATE). 0 or the first error. => mm->lock for
 * reading; start in a VMA
 */
int vm_populate_vma(struct vma *vma, unsigned long start, unsigned long end, unsigned int flags);
/* The whole range over several VMAs, errors ignored; takes the lock. */
void vm_populate(struct aspace *mm, unsigned long start, size_t len);
/* Page behind addr, referenced: faults it in. ERR_PTR. => mm->lock for reading */
struct page *vm_get_page(struct aspace *mm, unsigned long addr, unsigned int flags);
extern pfn_t zero_pfn;
/* => lock for writing; NULL */
struct vma *expand_stack(struct aspace *mm, struct vma *vma, unsigned long addr);

void fault_init(void);

/* advise_lru.c: madvise COLD and PAGEOUT; WILLNEED for what lies in swap. => mm->lock shared */
void vma_advise_cold(struct vma *vma, unsigned long start, unsigned long end, int pageout);
void vma_swap_willneed(struct vma *vma, unsigned long start, unsigned long end);

/* zap.c */
void vm_unmap_pages(struct mapping *m, unsigned long first, unsigned long last, int cows);
/* rmap.c: write-protects every entry of a file page; true: one was dirty. => page referenced */
bool vm_page_mkclean(struct page *page);
/* For reclaim: every entry goes unless one was used lately; true: none is left. => page locked */
bool vm_unmap_page(struct page *page);
/* mlock.c */
void munlock_vma_pages(struct vma *vma, unsigned long start, unsigned long end);

/* show_maps.c: as /proc/PID/maps calls it, when it has no file; NULL */
const char *vma_name(struct vma *vma);

/* mempolicy.c */
bool mpol_equal(const struct mempolicy *a, const struct mempolicy *b);
struct page *mpol_alloc_page(struct mempolicy *pol, gfp_t gfp, unsigned long index);
/* A block of 2^order pages; interleaving goes by blocks. */
struct page *mpol_alloc_pages(struct mempolicy *pol, gfp_t gfp, unsigned int order,
			      unsigned long index);
int mpol_text(const struct mempolicy *pol, char *buf, size_t n);
void mempolicy_init(void);

extern const struct vm_file_ops *vm_file_ops;
static inline void vm_file_get(struct file *f)
{
	if (f)
		vm_file_ops->get(f);
}
/*
 * A page of a shared mapping became writable: modification time, and the brake. => no lock but the
 * address space's, shared
 */
static inline void file_written(struct vma *vma)
{
	struct mapping *m = vma->mapping;

	if (!m->bdi)
		return;
	if (vma->file && vm_file_ops->written)
		vm_file_ops->written(vma->file);
	balance_dirty_pages_ratelimited(m);
}
static inline void vm_file_put(struct file *f)
{
	if (f)
		vm_file_ops->put(f);
}

#endif
