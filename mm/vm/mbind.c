/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mbind.c - mbind(2): a policy for a range of addresses, and its pages brought to where it wants
 * them.
 *
 * STRICT alone asks first: a page elsewhere is -EIO, and nothing is changed. With MOVE or MOVE_ALL
 * the policy is set and the pages follow it (move_pages.c) when mm->lock is let go; STRICT then
 * tells with -EIO that some had to stay. Pages of several programs are passed over by MOVE,
 * silently. The nodes that count are those the program named, also those that are not there; where
 * it named none, every page is elsewhere. All of this as Linux 6.1 has it. The policy is that of
 * the VMAs, also for shared memory. Locking: mm->lock for writing while VMAs are cut and their
 * policies exchanged.
 */
#include "arch/uaccess.h"
#include "mm/vm/numa.h"
#include "sched/sched.h"

/* Are there VMAs where they have to be? 0 or -EFAULT. => mm->lock */
static int check_holes(struct aspace *mm, unsigned long start, unsigned long end, int may_have)
{
	struct vma *vma = vma_find(mm, start);

	if (may_have)
		return vma && vma->start < end ? 0 : -EFAULT;
	for (unsigned long addr = start; addr < end; addr = vma->end) {
		vma = vma_find(mm, addr);
		if (!vma || vma->start > addr)
			return -EFAULT;
	}
	return 0;
}

/* Does a page lie on one of nodes? => mm->lock */
static bool any_on(struct aspace *mm, unsigned long start, unsigned long end, u64 nodes)
{
	struct vma *vma = vma_find(mm, start);

	for (; vma && vma->start < end; vma = vma_next(vma))
		if (vma_has_pages_on(vma, max(start, vma->start), min(end, vma->end), nodes))
			return true;
	return false;
}

/* => mm->lock for writing */
static int set_policy(struct aspace *mm, unsigned long start, unsigned long end,
		      struct mempolicy *pol)
{
	for (unsigned long addr = start; addr < end;) {
		struct vma *vma = vma_find(mm, addr);
		struct mempolicy *old;
		unsigned long stop;

		if (!vma || vma->start >= end)
			break;
		addr = max(addr, vma->start);
		stop = min(end, vma->end);
		if (!mpol_equal(vma->policy, pol)) {
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
	return 0;
}

static struct page *new_by_policy(struct page *old, struct migrate_control *mc)
{
	gfp_t gfp = GFP_HIGHUSER_MOVABLE | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;

	return mc->arg ? mpol_alloc_page(mc->arg, gfp, old->index) : alloc_pages(gfp, 0);
}

static int bind_range(struct aspace *mm, unsigned long start, unsigned long end,
		      struct mempolicy *pol, u64 nodes, unsigned int flags)
{
	bool moves = flags & (MPOL_MF_MOVE | MPOL_MF_MOVE_ALL);
	struct page_queue q;
	int err;

	if (down_write_killable(&mm->lock))
		return -EINTR;
	err = check_holes(mm, start, end, !pol);
	if (!err && !moves && (flags & MPOL_MF_STRICT) && any_on(mm, start, end, ~nodes))
		err = -EIO;
	if (!err)
		err = set_policy(mm, start, end, pol);
	up_write(&mm->lock);
	if (err || !moves)
		return err;
	page_queue_init(&q, ~nodes, flags & MPOL_MF_MOVE_ALL);
	q.mc.get_new = new_by_policy;
	q.mc.arg = pol;
	err = page_queue_move_range(&q, mm, start, end);
	if (!err && (flags & MPOL_MF_STRICT) && (q.refused || q.failed || q.no_memory))
		err = -EIO;
	return err;
}

long vm_mbind(unsigned long addr, size_t len, int mode, const unsigned long __user *mask,
	      unsigned long maxnode, unsigned int flags, int privileged)
{
	struct mempolicy *pol;
	unsigned long end;
	u64 nodes;
	int err = mpol_check_mode(mode);

	if (!err)
		err = mpol_get_nodes(&nodes, mask, maxnode);
	if (err)
		return err;
	if (flags & ~(MPOL_MF_STRICT | MPOL_MF_MOVE | MPOL_MF_MOVE_ALL))
		return -EINVAL;
	if ((flags & MPOL_MF_MOVE_ALL) && !privileged)
		return -EPERM;
	if (offset_in_page(addr))
		return -EINVAL;
	if ((mode & ~MPOL_MODE_FLAGS) == MPOL_DEFAULT)
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
	err = bind_range(current->mm, addr, end, pol, nodes, flags);
	mempolicy_put(pol);
	return err;
}
