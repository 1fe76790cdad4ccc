/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mempolicy.c - on which node a program's pages shall lie.
 *
 *   DEFAULT      near the CPU that touches the page
 *   LOCAL        the same, said explicitly
 *   PREFERRED    one node first, then by distance; PREFERRED_MANY: any of a set first
 *   BIND         only these nodes, nearest first
 *   INTERLEAVE   round robin: by page number in a VMA's policy, by turn in a thread's
 *
 * A policy belongs to a thread (set_mempolicy) or a range (mbind); the range wins. Once made a
 * policy never changes, so it is shared by reference count and compared by value. STATIC and
 * RELATIVE flags keep the mask the program gave; there are no cpusets here that could change what
 * it means.
 * mbind with MOVE: migration is a later room's; pages that lie elsewhere stay, and STRICT reports
 * them with -EIO.
 * Locking: a thread's policy is changed by the thread alone; a VMA's under aspace->lock for
 * writing.
 */
#include "arch/smp.h"
#include "arch/uaccess.h"
#include "lib/math.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/phys/page_alloc.h"
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
	u16 mode, flags;
	u64 nodes;	/* where pages go; empty for DEFAULT and LOCAL */
	u64 user_nodes; /* as given */
};

static const char *const mode_name[NR_MPOL] = { "default",    "prefer", "bind",
						"interleave", "local",	"prefer (many)" };

static u64 memory_nodes(void)
{
	u64 mask = 0;
	struct node *n;

	for_each_node(n)
		if (n->has_memory)
			mask |= BIT(n->id);
	return mask;
}

struct mempolicy *mempolicy_get(struct mempolicy *pol)
{
	if (pol)
		atomic_inc(&pol->refs);
	return pol;
}

void mempolicy_put(struct mempolicy *pol)
{
	if (pol && atomic_dec_and_test(&pol->refs))
		kfree(pol);
}

bool mpol_equal(const struct mempolicy *a, const struct mempolicy *b)
{
	return a == b || (a && b && a->mode == b->mode && a->flags == b->flags &&
			  a->nodes == b->nodes && a->user_nodes == b->user_nodes);
}

/* The n-th set bit, counted modulo their number. => mask not empty */
static int nth_node(u64 mask, unsigned long n)
{
	for (n %= hweight64(mask); n; n--)
		mask &= mask - 1;
	return __ffs(mask);
}

static int next_node(u64 mask, int node)
{
	u64 above = node < 63 ? mask & (~0ul << (node + 1)) : 0;

	return __ffs(above ? above : mask);
}

static struct page *alloc_interleaved(int node, gfp_t gfp, unsigned int order)
{
	struct page *page = alloc_pages_node(node, gfp, order);

	if (page && page_node(page) == node)
		numa_interleave_hit(page);
	return page;
}

static struct page *alloc_by(const struct mempolicy *pol, gfp_t gfp, unsigned int order,
			     int interleave_node)
{
	struct page *page;
	int here = cpu_mem_node(smp_processor_id());

	switch (pol->mode) {
	case MPOL_INTERLEAVE:
		return alloc_interleaved(interleave_node, gfp, order);
	case MPOL_PREFERRED:
		return alloc_pages_node(__ffs(pol->nodes), gfp, order);
	case MPOL_BIND:
		return alloc_pages_nodemask(pol->nodes & BIT(here) ? here : (int)__ffs(pol->nodes),
					    pol->nodes, gfp, order);
	case MPOL_PREFERRED_MANY:
		page = alloc_pages_nodemask(-1, pol->nodes,
					    (gfp | __GFP_NOWARN) & ~__GFP_DIRECT_RECLAIM, order);
		return page ? page : alloc_pages_node(-1, gfp, order);
	}
	return alloc_pages_node(-1, gfp, order);
}

struct page *mpol_alloc_page(struct mempolicy *pol, gfp_t gfp, unsigned long index)
{
	return alloc_by(pol, gfp, 0,
			pol->mode == MPOL_INTERLEAVE ? nth_node(pol->nodes, index) : 0);
}

struct page *mpol_alloc_pages(struct mempolicy *pol, gfp_t gfp, unsigned int order,
			      unsigned long index)
{
	return alloc_by(pol, gfp, order,
			pol->mode == MPOL_INTERLEAVE ? nth_node(pol->nodes, index >> order) : 0);
}

/* Hook of alloc_pages(): the current thread has a policy. */
static struct page *thread_alloc(gfp_t gfp, unsigned int order)
{
	struct thread *t = current;
	struct mempolicy *pol = t->mempolicy;
	int node = 0;

	if (gfp & __GFP_THISNODE)
		return alloc_pages_node(-1, gfp, order);
	if (pol->mode == MPOL_INTERLEAVE) {
		node = next_node(pol->nodes, t->il_next ? t->il_next - 1 : 63);
		t->il_next = node + 1;
	}
	return alloc_by(pol, gfp, order, node);
}

void mempolicy_init(void)
{
	mempolicy_alloc = thread_alloc;
}

/* Node mask of a system call: maxnode counts one more than it has bits. 0 or -errno. */
static int get_nodes(u64 *nodes, const unsigned long __user *mask, unsigned long maxnode)
{
	unsigned long word;

	*nodes = 0;
	maxnode--;
	if (!maxnode || maxnode == ~0ul || !mask)
		return 0;
	if (maxnode > PAGE_SIZE * 8)
		return -EINVAL;
	for (unsigned long i = 0; i < DIV_ROUND_UP(maxnode, 64); i++) {
		if (copy_from_user(&word, mask + i, sizeof(word)))
			return -EFAULT;
		if (maxnode - i * 64 < 64)
			word &= BIT(maxnode - i * 64) - 1;
		if (i == 0)
			*nodes = word;
		else if (word)
			return -EINVAL;
	}
	return 0;
}

static int put_nodes(unsigned long __user *mask, unsigned long maxnode, u64 nodes)
{
	unsigned long bytes = ALIGN_UP(maxnode - 1, 64) / 8;

	if (bytes > PAGE_SIZE)
		return -EINVAL;
	if (bytes > sizeof(nodes)) {
		if (clear_user((char __user *)mask + sizeof(nodes), bytes - sizeof(nodes)))
			return -EFAULT;
		bytes = sizeof(nodes);
	}
	return copy_to_user(mask, &nodes, bytes) ? -EFAULT : 0;
}

/* NULL for DEFAULT, or ERR_PTR. */
static struct mempolicy *mpol_new(int mode_and_flags, u64 nodes)
{
	int flags = mode_and_flags & MPOL_MODE_FLAGS, mode = mode_and_flags & ~MPOL_MODE_FLAGS;
	struct mempolicy *pol;
	u64 user = nodes;

	if (mode < 0 || mode >= NR_MPOL)
		return ERR_PTR(-EINVAL);
	if ((flags & MPOL_F_STATIC_NODES) && (flags & MPOL_F_RELATIVE_NODES))
		return ERR_PTR(-EINVAL);
	if ((flags & MPOL_F_NUMA_BALANCING) && mode != MPOL_BIND)
		return ERR_PTR(-EINVAL);
	if (mode == MPOL_DEFAULT)
		return nodes ? ERR_PTR(-EINVAL) : NULL;
	if (mode == MPOL_PREFERRED && !nodes) {
		if (flags & (MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES))
			return ERR_PTR(-EINVAL);
		mode = MPOL_LOCAL;
	} else if (mode == MPOL_LOCAL) {
		if (nodes || (flags & (MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES)))
			return ERR_PTR(-EINVAL);
	} else if (!nodes) {
		return ERR_PTR(-EINVAL);
	}
	if (mode != MPOL_LOCAL) {
		if (flags & MPOL_F_RELATIVE_NODES) { /* bit i: the i-th node there is */
			u64 rel = 0, have = memory_nodes();

			for (int i = 0; i < 64; i++)
				if (nodes & BIT(i))
					rel |= BIT(nth_node(have, i));
			nodes = rel;
		}
		nodes &= memory_nodes();
		if (!nodes)
			return ERR_PTR(-EINVAL);
		if (mode == MPOL_PREFERRED)
			nodes &= -nodes;
	}
	pol = kmalloc(sizeof(*pol), GFP_KERNEL);
	if (!pol)
		return ERR_PTR(-ENOMEM);
	*pol = (struct mempolicy){ .refs = ATOMIC_INIT(1),
				   .mode = mode,
				   .flags = flags,
				   .nodes = nodes,
				   .user_nodes = user };
	return pol;
}

long vm_set_mempolicy(int mode, const unsigned long __user *mask, unsigned long maxnode)
{
	struct mempolicy *pol, *old;
	u64 nodes;
	int err = get_nodes(&nodes, mask, maxnode);

	if (err)
		return err;
	pol = mpol_new(mode, nodes);
	if (IS_ERR(pol))
		return PTR_ERR(pol);
	old = current->mempolicy;
	current->mempolicy = pol;
	current->il_next = 0;
	mempolicy_put(old);
	return 0;
}

/* Is a page of the range where the policy does not want it? */
struct placed {
	u64 nodes;
	unsigned long misplaced;
};

static int placed_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct placed *p = w->arg;

	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte);

		if (pte_mapped(e) && !pte_special(e) &&
		    !(p->nodes & BIT(page_node(pfn_to_page(pte_pfn(e))))))
			p->misplaced++;
	}
	return 0;
}

static const struct pt_walk_ops placed_ops = { .ptes = placed_ptes };

static unsigned long count_misplaced(struct vma *vma, unsigned long start, unsigned long end,
				     const struct mempolicy *pol)
{
	struct placed p = { .nodes = pol && pol->nodes ? pol->nodes : ~0ul };
	struct pt_walk w = { .mm = vma->mm, .vma = vma, .arg = &p };

	pt_walk(&w, &placed_ops, start, end);
	return p.misplaced;
}

/* => lock for writing */
static int bind_range(struct aspace *mm, unsigned long start, unsigned long end,
		      struct mempolicy *pol, unsigned int flags)
{
	unsigned long misplaced = 0;
	struct vma *vma;

	/* holes first: nothing is changed then */
	for (unsigned long addr = start; addr < end; addr = vma->end) {
		vma = vma_find(mm, addr);
		if (!vma || vma->start > addr)
			return -EFAULT;
	}
	for (unsigned long addr = start; addr < end;) {
		unsigned long stop;

		vma = vma_find(mm, addr);
		stop = min(end, vma->end);
		if (flags & (MPOL_MF_STRICT | MPOL_MF_MOVE | MPOL_MF_MOVE_ALL))
			misplaced += count_misplaced(vma, addr, stop, pol);
		if (!mpol_equal(vma->policy, pol)) {
			struct mempolicy *old;

			vma = vma_carve(vma, addr, stop);
			if (IS_ERR(vma))
				return PTR_ERR(vma);
			old = vma->policy;
			vma->policy = mempolicy_get(pol);
			mempolicy_put(old);
			vma_merge(vma);
		}
		addr = stop;
	}
	return misplaced && (flags & MPOL_MF_STRICT) ? -EIO : 0;
}

long vm_mbind(unsigned long addr, size_t len, int mode, const unsigned long __user *mask,
	      unsigned long maxnode, unsigned int flags)
{
	struct aspace *mm = current->mm;
	struct mempolicy *pol;
	unsigned long end;
	u64 nodes;
	int err = get_nodes(&nodes, mask, maxnode);

	if (err)
		return err;
	if ((mode & ~MPOL_MODE_FLAGS) >= NR_MPOL ||
	    (flags & ~(MPOL_MF_STRICT | MPOL_MF_MOVE | MPOL_MF_MOVE_ALL)))
		return -EINVAL;
	if (offset_in_page(addr))
		return -EINVAL;
	if (mode == MPOL_DEFAULT)
		flags &= ~MPOL_MF_STRICT;
	len = ALIGN_UP(len, PAGE_SIZE);
	end = addr + len;
	if (end < addr)
		return -EINVAL;
	if (end == addr)
		return 0;
	pol = mpol_new(mode, nodes);
	if (IS_ERR(pol))
		return PTR_ERR(pol);
	if (down_write_killable(&mm->lock)) {
		err = -EINTR;
	} else {
		err = bind_range(mm, addr, end, pol, flags);
		up_write(&mm->lock);
	}
	mempolicy_put(pol);
	return err;
}

/* Node of the page at addr (faulted in), or -errno. */
static int node_of(struct aspace *mm, unsigned long addr)
{
	struct page *page = vm_get_page(mm, addr, 0);
	int node;

	if (IS_ERR(page))
		return -EFAULT;
	node = page_node(page);
	page_put(page);
	return node;
}

long vm_get_mempolicy(int __user *policy, unsigned long __user *mask, unsigned long maxnode,
		      unsigned long addr, unsigned long flags)
{
	struct aspace *mm = current->mm;
	struct mempolicy *pol = mempolicy_get(current->mempolicy);
	u64 nodes;
	int value, err = 0;

	if (mask && maxnode < (unsigned long)nr_nodes + 1 && maxnode < MAX_NODES)
		err = -EINVAL;
	else if (flags & ~(unsigned long)(MPOL_F_NODE | MPOL_F_ADDR | MPOL_F_MEMS_ALLOWED))
		err = -EINVAL;
	else if ((flags & MPOL_F_MEMS_ALLOWED) && (flags & (MPOL_F_NODE | MPOL_F_ADDR)))
		err = -EINVAL;
	else if (!(flags & MPOL_F_ADDR) && addr)
		err = -EINVAL;
	if (err)
		goto out;
	if (flags & MPOL_F_MEMS_ALLOWED) {
		value = 0;
		nodes = memory_nodes();
		goto copy;
	}
	if (flags & MPOL_F_ADDR) {
		struct vma *vma;

		down_read(&mm->lock);
		vma = vma_find(mm, addr);
		if (!vma || vma->start > addr) {
			up_read(&mm->lock);
			err = -EFAULT;
			goto out;
		}
		if (vma->policy) {
			mempolicy_put(pol);
			pol = mempolicy_get(vma->policy);
		}
		value = flags & MPOL_F_NODE ? node_of(mm, addr) : 0;
		up_read(&mm->lock);
		if (value < 0)
			err = value;
	} else if (flags & MPOL_F_NODE) {
		if (!pol || pol->mode != MPOL_INTERLEAVE)
			err = -EINVAL;
		else
			value = next_node(pol->nodes, current->il_next ? current->il_next - 1 : 63);
	}
	if (err)
		goto out;
	if (!(flags & MPOL_F_NODE))
		value = pol ? pol->mode | pol->flags : MPOL_DEFAULT;
	nodes = !pol							     ? 0
		: pol->flags & (MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES) ? pol->user_nodes
									     : pol->nodes;
copy:
	if (policy && put_user_u32(value, (u32 __user *)policy))
		err = -EFAULT;
	else if (mask)
		err = put_nodes(mask, maxnode, nodes);
out:
	mempolicy_put(pol);
	return err;
}

long vm_move_pages(struct aspace *mm, unsigned long count, const u64 __user *pages,
		   const int __user *nodes, int __user *status, int flags)
{
	if (flags & ~(MPOL_MF_MOVE | MPOL_MF_MOVE_ALL))
		return -EINVAL;
	for (unsigned long i = 0; i < count; i++) {
		struct vma *vma;
		u32 wanted = 0;
		u64 addr;
		int found = -ENOENT;

		if (get_user_u64(&addr, pages + i) ||
		    (nodes && get_user_u32(&wanted, (const u32 __user *)nodes + i)))
			return -EFAULT;
		if (nodes && (wanted >= 64 || !(memory_nodes() & BIT(wanted))))
			return -ENODEV;
		down_read(&mm->lock);
		vma = vma_find(mm, addr);
		if (!vma || vma->start > addr) {
			found = -EFAULT;
		} else {
			pte_t *pte = pt_find(mm, addr), e = pte ? pte_read(pte) : (pte_t){ 0 };

			if (pte_mapped(e))
				found = pte_special(e) ? -EFAULT
						       : page_node(pfn_to_page(pte_pfn(e)));
		}
		up_read(&mm->lock);
		if (nodes && found >= 0 && found != (int)wanted)
			found = -EBUSY;
		if (put_user_u32(found, (u32 __user *)status + i))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}

/* As numa_maps shows it: "interleave:0-1". Length. */
int mpol_text(const struct mempolicy *pol, char *buf, size_t n)
{
	int len = scnprintf(buf, n, "%s", mode_name[pol ? pol->mode : MPOL_DEFAULT]);
	bool first = true;
	u64 nodes = pol ? pol->nodes : 0;

	if (pol && (pol->flags & (MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES)))
		len += scnprintf(buf + len, n - len, "=%s",
				 pol->flags & MPOL_F_STATIC_NODES ? "static" : "relative");
	while (nodes) {
		int from = __ffs(nodes), to = from;

		while (to < 63 && (nodes & BIT(to + 1)))
			to++;
		len += scnprintf(buf + len, n - len, to > from ? "%c%d-%d" : "%c%d",
				 first ? ':' : ',', from, to);
		nodes &= to < 63 ? ~0ul << (to + 1) : 0;
		first = false;
	}
	return len;
}
