/* SPDX-License-Identifier: BSD-2-Clause */
/* numa.h - between mempolicy.c, mbind.c and move_pages.c. */
#ifndef MM_VM_NUMA_H
#define MM_VM_NUMA_H

#include "kernel/rcu.h"
#include "mm/compact/migrate.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"

enum {
	MPOL_DEFAULT,
	MPOL_PREFERRED,
	MPOL_BIND,
	MPOL_INTERLEAVE,
	MPOL_LOCAL,
	MPOL_PREFERRED_MANY,
	NR_MPOL
};
#define MPOL_F_STATIC_NODES (1 << 15)
#define MPOL_F_RELATIVE_NODES (1 << 14)
#define MPOL_F_NUMA_BALANCING (1 << 13)
#define MPOL_MODE_FLAGS (MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES | MPOL_F_NUMA_BALANCING)
#define MPOL_F_NODE 1
#define MPOL_F_ADDR 2
#define MPOL_F_MEMS_ALLOWED 4
#define MPOL_MF_STRICT 1
#define MPOL_MF_MOVE 2
#define MPOL_MF_MOVE_ALL 4

struct mempolicy {
	atomic_t refs;
	struct rcu_head rcu; /* who shows another thread's takes a reference under RCU */
	u16 mode, flags;
	u64 nodes;	/* where pages go; empty for DEFAULT and LOCAL */
	u64 user_nodes; /* as given */
};

/* Bit of a node mask that stands for all nodes beyond the word: none of them is there. */
#define NODE_BEYOND 63

/* The n-th set bit, counted modulo their number. => mask not empty */
int nth_node(u64 mask, unsigned long n);
/* Mode and flags of a system call make sense: 0 or -EINVAL. */
int mpol_check_mode(int mode_and_flags);
/* NULL for DEFAULT, or ERR_PTR. => mode checked; may sleep */
struct mempolicy *mpol_new(int mode_and_flags, u64 nodes);

/* ---- page_queue.c: pages are taken off the LRU from page tables, and sent to other frames ---- */

#define QUEUE_RUN PT_BATCH	   /* references held between a run of entries and its isolation */
#define QUEUE_MAX (8u * QUEUE_RUN) /* isolated at once */

struct page_queue {
	/* what is wanted */
	u64 nodes;	 /* pages that lie on these */
	bool shared_too; /* those several programs map, too; otherwise they are passed over */
	/* what was found */
	struct list_head pages; /* isolated */
	unsigned int nr;
	struct page *run[QUEUE_RUN]; /* referenced, to be isolated */
	unsigned int nr_run;
	unsigned long refused; /* wanted, but on no list of the LRU */
	unsigned long stop;    /* where a walk ended early */
	pte_t *waits;	       /* an entry on its way there; NULL: the list is full */
	/* where they go */
	struct migrate_control mc;
	unsigned long failed; /* could not be moved */
	bool no_memory;	      /* for one of them at least */
};

/* Pages that can be on an LRU list lie in it. */
static inline bool vma_movable(const struct vma *vma)
{
	return !(vma->flags & VM_PFNMAP);
}
/* mc.get_new and mc.arg are the caller's to set. */
void page_queue_init(struct page_queue *q, u64 nodes, bool shared_too);
/* What is isolated goes to new frames. => no lock; may sleep */
void page_queue_send(struct page_queue *q);
/*
 * Moves what is wanted of [start, end): takes a part, moves it, goes on behind it. 0 (see q for
 * what stayed) or -EINTR. => no lock; takes mm->lock shared
 */
int page_queue_move_range(struct page_queue *q, struct aspace *mm, unsigned long start,
			  unsigned long end);
/* Does a page in [start, end) of vma lie on one of nodes? => mm->lock */
bool vma_has_pages_on(struct vma *vma, unsigned long start, unsigned long end, u64 nodes);

#endif
