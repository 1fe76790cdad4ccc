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
 * Ranges: mbind.c. Pages that lie elsewhere already: move_pages.c.
 * Locking: a thread's policy is changed by the thread alone, others look at it under RCU; a VMA's
 * under aspace->lock for writing.
 */
#include "mm/vm/numa.h"

#include "arch/smp.h"
#include "arch/uaccess.h"
#include "lib/math.h"
#include "lib/printf.h"
#include "mm/kmem/slab.h"

static const char *const mode_name[NR_MPOL] = { "default",    "prefer", "bind",
						"interleave", "local",	"prefer (many)" };

u64 memory_nodes(void)
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

static void free_policy(struct rcu_head *head)
{
	kfree(container_of(head, struct mempolicy, rcu));
}

void mempolicy_put(struct mempolicy *pol)
{
	if (pol && atomic_dec_and_test(&pol->refs))
		rcu_call(&pol->rcu, free_policy);
}

struct mempolicy *mempolicy_of(struct thread *t)
{
	struct mempolicy *pol;

	rcu_read_lock();
	pol = rcu_dereference(t->mempolicy);
	if (pol && !atomic_inc_not_zero(&pol->refs))
		pol = NULL; /* it is exchanging it just now */
	rcu_read_unlock();
	return pol;
}

bool mpol_equal(const struct mempolicy *a, const struct mempolicy *b)
{
	return a == b || (a && b && a->mode == b->mode && a->flags == b->flags &&
			  a->nodes == b->nodes && a->user_nodes == b->user_nodes);
}

int nth_node(u64 mask, unsigned long n)
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

/* A longer mask of a program is accepted if the rest is zero: Linux's number of nodes. */
#define MASK_BITS 1024

int mpol_get_nodes(u64 *nodes, const unsigned long __user *mask, unsigned long maxnode)
{
	unsigned long word, bits = maxnode - 1;

	*nodes = 0;
	if (!bits || !mask)
		return 0;
	if (bits > PAGE_SIZE * 8)
		return -EINVAL;
	for (unsigned long i = 0; i < DIV_ROUND_UP(bits, 64); i++) {
		if (copy_from_user(&word, mask + i, sizeof(word)))
			return -EFAULT;
		if (bits - i * 64 < 64)
			word &= BIT(bits - i * 64) - 1;
		if (i == 0)
			*nodes = word;
		else if (word && i >= MASK_BITS / 64)
			return -EINVAL;
		else if (word)
			*nodes |= BIT(NODE_BEYOND);
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

int mpol_check_mode(int mode_and_flags)
{
	int flags = mode_and_flags & MPOL_MODE_FLAGS, mode = mode_and_flags & ~MPOL_MODE_FLAGS;

	if (mode < 0 || mode >= NR_MPOL)
		return -EINVAL;
	if ((flags & MPOL_F_STATIC_NODES) && (flags & MPOL_F_RELATIVE_NODES))
		return -EINVAL;
	return (flags & MPOL_F_NUMA_BALANCING) && mode != MPOL_BIND ? -EINVAL : 0;
}

struct mempolicy *mpol_new(int mode_and_flags, u64 nodes)
{
	int flags = mode_and_flags & MPOL_MODE_FLAGS, mode = mode_and_flags & ~MPOL_MODE_FLAGS;
	struct mempolicy *pol;
	u64 user = nodes;

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
	int err = mpol_check_mode(mode);

	if (!err)
		err = mpol_get_nodes(&nodes, mask, maxnode);
	if (err)
		return err;
	pol = mpol_new(mode, nodes);
	if (IS_ERR(pol))
		return PTR_ERR(pol);
	old = current->mempolicy;
	rcu_assign_pointer(current->mempolicy, pol);
	current->il_next = 0;
	mempolicy_put(old);
	return 0;
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

	if (mask && maxnode < (unsigned long)nr_nodes)
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
