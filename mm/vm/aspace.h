/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aspace.h - an address space: VMAs, page tables, counters. Front door of mm/vm.
 *
 * Locks: (w) aspace->lock held for writing to change, reading to look (p) page-table lock (a)
 * atomic
 */
#ifndef MM_VM_ASPACE_H
#define MM_VM_ASPACE_H

#include "arch/mmu.h"
#include "arch/regs.h"
#include "lib/rbtree.h"
#include "mm/cache/mapping.h"
#include "sched/mutex.h"

#define VM_READ 0x1ul
#define VM_WRITE 0x2ul
#define VM_EXEC 0x4ul
#define VM_SHARED 0x8ul
#define VM_MAYREAD 0x10ul
#define VM_MAYWRITE 0x20ul
#define VM_MAYEXEC 0x40ul
#define VM_GROWSDOWN 0x100ul
#define VM_LOCKED 0x2000ul
#define VM_DONTCOPY 0x20000ul
#define VM_DONTEXPAND 0x40000ul
#define VM_NORESERVE 0x200000ul
#define VM_HUGEPAGE 0x20000000ul
#define VM_NOHUGEPAGE 0x40000000ul
#define VM_WIPEONFORK 0x02000000ul
#define VM_SEQ_READ 0x8000ul
#define VM_RAND_READ 0x10000ul
#define VM_LOCKONFAULT 0x80000ul
#define VM_PFNMAP 0x400ul
#define VM_STACK VM_GROWSDOWN
#define VM_DONTDUMP 0x04000000ul
#define VM_MAYSHARE 0x80ul    /* made with MAP_SHARED, even when the file cannot be written */
#define VM_ACCOUNT 0x100000ul /* counts towards Committed_AS */
#define VM_MERGEABLE 0x80000000ul

struct file;	 /* fs/vfs.h */
struct ra_state; /* mm/cache/readahead.h */
struct vma;
struct anon_vma;
struct mempolicy;
struct thread;

struct vm_file_ops { /* file references, given by fs at boot (upward hook) */
	void (*get)(struct file *f);
	void (*put)(struct file *f);
	/* "/bin/busybox" into buf for maps; dev, inode numbers */
	void (*describe)(struct file *f, char *buf, size_t n, dev_t *dev, u64 *ino);
	/* The rest may be NULL. VM_READ | VM_WRITE as the file was opened (NULL: both). */
	u32 (*modes)(struct file *f);
	int (*fsync)(struct file *f, u64 from,
		     u64 to);		  /* msync(MS_SYNC), bytes [from, to]: 0 or -errno */
	void (*accessed)(struct file *f); /* mmap: access time */
	struct ra_state *(*readahead)(struct file *f);	/* of faults */
	int (*punch)(struct file *f, u64 off, u64 len); /* MADV_REMOVE: a hole */
	void (*written)(struct file *f); /* a page became writable in a shared mapping */
};
extern const struct vm_file_ops *vm_file_ops;

struct vma {
	unsigned long start, end; /* page aligned, end exclusive (w) */
	struct aspace *mm;
	struct rb_node node; /* (w) by address, augmented with the largest gap */
	unsigned long gap;   /* (w) largest own_gap of the subtree */
	/* (w) free bytes right below, guard of a growing stack excluded */
	unsigned long own_gap;
	struct list_head list; /* (w) in address order */
	unsigned long flags;   /* VM_* (w) */
	pgprot_t prot;
	/* offset in the mapping in pages; for anonymous: start >> 12 at creation */
	unsigned long pgoff;
	struct file *file;	 /* NULL for anonymous */
	struct mapping *mapping; /* file's pages */
	struct rb_node i_mmap_node;
	unsigned long i_mmap_subtree_last;
	struct anon_vma *anon_vma;
	struct list_head anon_chain;
	struct mempolicy *policy;
	const char *name;		/* "[stack]", "[heap]" is derived; NULL */
	void (*close)(struct vma *vma); /* SysV shm attach counts */
	void (*open)(struct vma *vma);
	void *private;
};

struct aspace {
	struct arch_mm arch; /* first */
	struct rwsem lock;   /* RANK_MMAP */
	struct rb_root vmas; /* (w) */
	struct list_head vma_list;
	struct vma *cached; /* last hit; a hint */
	u32 nr_vmas;
	spinlock_t pt_lock; /* RANK_PGTABLE: page tables */
	/* (p) an empty table for each huge page, by lru (thp.h) */
	struct list_head deposits;
	atomic_t users; /* threads using it: at 0 the mappings go (exit_mmap) */
	atomic_t refs;	/* + lazy users: at 0 the struct and pgd go */
	unsigned long mmap_base, brk_start, brk, stack_top, stack_start;
	unsigned long arg_start, arg_end, env_start, env_end, start_code, end_code, start_data,
		end_data;
	atomic_long_t rss_anon, rss_file, rss_shmem; /* (a) pages */
	atomic_long_t rss_swap;			     /* (a) entries that name slots of swap areas */
	unsigned long hiwater_rss, total_vm, locked_vm, data_vm, stack_vm, exec_vm; /* pages (w) */
	atomic_long_t pt_pages;
	unsigned long def_flags;					    /* MCL_FUTURE */
	unsigned long rlimit_as, rlimit_data, rlimit_stack, rlimit_memlock; /* bytes; set by sys */
	struct file *exe_file;
	u64 auxv[48];
	void *aio;		/* sys/aio.c: contexts of asynchronous I/O */
	struct list_head node;	/* all address spaces (OOM, debug) */
	bool thp_disabled;	/* prctl: no huge pages here */
	struct list_head khuge; /* on khugepaged's list (khugepaged.c) */
	unsigned long khuge_seq, khuge_next;
	bool oom_reaped;	  /* private memory was taken away: nothing comes back (reap.c) */
	struct aspace *reap_next; /* on the reaper's list (mm/reclaim/oom.c) */
};

/* All of them, by node; an aspace stays on the list until its last user is gone. */
extern struct list_head aspace_list;
extern spinlock_t aspace_list_lock;

struct aspace *aspace_create(void); /* users = refs = 1; NULL when out of memory */
/* fork: copies VMAs and page tables (COW). ERR_PTR. => takes old->lock */
struct aspace *aspace_fork(struct aspace *old);
static inline void aspace_get(struct aspace *mm)
{
	atomic_inc(&mm->users);
}
/* sys/ sets it: the last user of an mm with ->aio is gone, its memory still there. => may sleep */
extern void (*aspace_exit_hook)(struct aspace *mm);
void aspace_put(struct aspace *mm);  /* may sleep; last user unmaps everything */
void aspace_grab(struct aspace *mm); /* lazy reference */
void aspace_drop(struct aspace *mm); /* any context (deferred free) */
/* Make mm the current thread's address space (exec, vfork child). */
void aspace_use(struct aspace *mm);

struct vma *vma_find(struct aspace *mm, unsigned long addr); /* first with end > addr; => lock */
/*
 * mmap/munmap/mprotect/... as the system calls, errors included. Addresses returned or -errno. =>
 * take mm->lock themselves
 */
long vm_mmap(struct file *file, struct mapping *mapping, unsigned long addr, size_t len, int prot,
	     int flags, u64 offset);
/*
 * The same into any address space, with extra VM_ flags and a name, for exec and shm. private data
 * for close/open hooks are set by the caller under lock through vma_find.
 */
long vm_map(struct aspace *mm, struct file *file, struct mapping *mapping, unsigned long addr,
	    size_t len, int prot, int flags, u64 offset, unsigned long vm_flags, const char *name);
int vm_munmap(unsigned long addr, size_t len);
int vm_mprotect(unsigned long addr, size_t len, int prot);
long vm_mremap(unsigned long old, size_t old_len, size_t new_len, int flags,
	       unsigned long new_addr);
long vm_brk(unsigned long brk); /* the new or the current break */
int vm_madvise(struct aspace *mm, unsigned long addr, size_t len, int advice);
int vm_mlock(unsigned long addr, size_t len, int onfault);
int vm_munlock(unsigned long addr, size_t len);
int vm_mlockall(int flags);
int vm_munlockall(void);
int vm_mincore(unsigned long addr, size_t len, unsigned char __user *vec);
int vm_msync(unsigned long addr, size_t len, int flags);
/* mempolicy.c, mbind.c, move_pages.c: NUMA system calls. privileged: CAP_SYS_NICE */
long vm_mbind(unsigned long addr, size_t len, int mode, const unsigned long __user *mask,
	      unsigned long maxnode, unsigned flags, int privileged);
long vm_set_mempolicy(int mode, const unsigned long __user *mask, unsigned long maxnode);
long vm_get_mempolicy(int __user *mode, unsigned long __user *mask, unsigned long maxnode,
		      unsigned long addr, unsigned long flags);
void mempolicy_put(struct mempolicy *pol); /* NULL is fine */
/* the same policy: they never change once made */
struct mempolicy *mempolicy_get(struct mempolicy *pol);
/* of any thread, with a reference; NULL: default */
struct mempolicy *mempolicy_of(struct thread *t);
/* Node mask of a system call; maxnode counts one more than it has bits. 0, -EINVAL, -EFAULT */
int mpol_get_nodes(u64 *nodes, const unsigned long __user *mask, unsigned long maxnode);
u64 memory_nodes(void); /* those that have memory */
/*
 * move_pages(2) in mm; nodes NULL: only the status. flags are checked. 0, -errno, or how many pages
 * were not moved or not tried. => may sleep
 */
long vm_move_pages(struct aspace *mm, unsigned long count, const u64 __user *pages,
		   const int __user *nodes, int __user *status, int flags);
/*
 * migrate_pages(2) in mm; to not empty; all: pages other programs map, too. How many could not be
 * moved, -ENOMEM, -EINTR. => may sleep
 */
long vm_migrate_pages(struct aspace *mm, u64 from, u64 to, int all);
/* exec: stack VMA of the new address space at its top. Returns 0 or -errno. */
int vm_setup_stack(struct aspace *mm, unsigned long top);
/*
 * Kernel access to another address space (exec argument pages, ptrace, /proc/PID/mem, environ).
 * Bytes copied.
 */
size_t vm_access(struct aspace *mm, unsigned long addr, void *buf, size_t n, int write);
/*
 * References on the pages behind nr pages of the current program's memory from addr on, for a
 * device to read (write: to write). => may fault and sleep; how many, or -EFAULT, -ENOMEM, -EINTR
 * for none
 */
int vm_pin_user(unsigned long addr, u32 nr, int write, struct page **pages);
/*
 * Unique key of a futex word: shared mappings by (mapping, offset), private by (aspace, address).
 * => may fault.
 */
struct futex_key {
	void *object;
	unsigned long offset;
	int shared; /* holds nothing: callers compare only while the word's page is mapped */
};
int vm_futex_key(unsigned long addr, int shared, struct futex_key *key);

/*
 * Validator: tree, entries, counts. NULL or what is wrong (also logged). => sole user, or lock held
 */
const char *aspace_check(struct aspace *mm);

/* A page for an address of vma, by policy, not yet anybody's; NULL. => may sleep */
struct page *vma_alloc_page(struct vma *vma, unsigned long addr, gfp_t gfp);
/*
 * swapoff: the swap entry e at addr becomes a page again, as a fault would do it, unless it is not
 * there any more. 0, -ENOMEM, -EIO. => mm->lock shared
 */
int vm_swap_back(struct vma *vma, unsigned long addr, pte_t *pte, pte_t e);

/*
 * For the out-of-memory killer: takes private memory away from a program that will not run again. 0
 * or -EAGAIN: its lock cannot be had. => may sleep; all its threads have a fatal signal
 */
int aspace_reap(struct aspace *mm);

void vm_init(void); /* caches, zero page, fault_ops, mempolicy hook */
/* Removes all PTEs that map pages [first, last] of the mapping (truncate). */
void vm_unmap_mapping(struct mapping *m, unsigned long first, unsigned long last);
/* show helpers for /proc/PID: print into seq; mm from a process. */
struct seq;
unsigned long vm_committed_pages(void); /* Committed_AS */
unsigned long vm_commit_limit(void);	/* CommitLimit */
/* May npages more be promised under vm/overcommit_memory? vm_flags without VM_ACCOUNT: always. */
bool vm_may_commit(unsigned long vm_flags, unsigned long npages);
/* Resident pages now; also raises hiwater_rss. */
unsigned long vm_rss(struct aspace *mm);
int vm_show_maps(struct seq *seq, struct aspace *mm);
int vm_show_smaps(struct seq *seq, struct aspace *mm);
int vm_show_smaps_rollup(struct seq *seq, struct aspace *mm);
/* policy: of the thread, NULL is the default; it holds where a range has none */
int vm_show_numa_maps(struct seq *seq, struct aspace *mm, struct mempolicy *policy);
size_t vm_read_pagemap(struct aspace *mm, u64 pos, u64 *out, size_t entries); /* entries filled */

#endif
