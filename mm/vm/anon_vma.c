/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * anon_vma.c - which VMAs can map an anonymous page.
 *
 * Problem: a page born in one process is after fork mapped by its children and theirs. From the
 * page we must find all those entries, without searching every process, and without a link per page
 * and process. Idea: a tree of anon_vmas that follows fork. A VMA is attached to one anon_vma;
 * pages it faults in belong to that one. Fork gives the child's VMA a new anon_vma below the
 * parent's:
 *
 *        A  (vma of the shell)            page of A: mapped in the subtree of A only
 *       / \
 *      B   C  (vmas of two children)      page of B: only in B's subtree
 *          |
 *          D  (vma of C's child)
 *
 * Claim: every VMA that maps a page of X is attached inside X's subtree. A page gets into a VMA by
 * a fault (X is the VMA's own) or by fork from a VMA inside X's subtree, and fork attaches below
 * it; splitting, moving and joining keep the anon_vma. So a walk of the subtree finds all, and a
 * child's new pages never cost a look at its parent or siblings.
 *
 * Size: a node without VMA, without mapped pages and with one child is spliced out (its child moves
 * up): no page needs it. So the tree has at most as many nodes as twice the VMAs plus the nodes
 * that still own mapped pages: a daemon that forks and exits a thousand times in a row leaves no
 * chain of a thousand nodes.
 *
 * Counting: refs = attached VMAs + pages mapped somewhere (one each, given at the first mapping,
 * returned when mapcount falls back to none) + children + temporary holders. The root is never
 * spliced: its mutex guards the whole tree.
 * Lookup from a page: memory of an anon_vma stays an anon_vma for a grace period (TYPESAFE_RCU), so
 * a reader may try to take a reference and then check that the page is still mapped and still says
 * so.
 */
#include "kernel/rcu.h"
#include "mm/kmem/slab.h"
#include "mm/vm/internal.h"

static struct slab_cache *anon_vma_cache;

void anon_vma_init(void)
{
	anon_vma_cache =
		slab_create("anon_vma", sizeof(struct anon_vma), 8, SLAB_TYPESAFE_RCU, NULL);
	BUG_ON(!anon_vma_cache);
}

unsigned long anon_vma_count(void)
{
	return slab_nr_objects(anon_vma_cache);
}

/* refs = 1: the VMA it is made for. */
static struct anon_vma *anon_vma_alloc(struct anon_vma *parent)
{
	struct anon_vma *av = slab_alloc(anon_vma_cache, GFP_KERNEL | __GFP_ACCOUNT);

	if (!av)
		return NULL;
	list_init(&av->vmas);
	list_init(&av->children);
	list_init(&av->sibling);
	av->parent = parent;
	atomic_set(&av->refs, 1);
	if (parent) {
		av->root = parent->root;
	} else {
		av->root = av;
		mutex_init(&av->lock, RANK_ANON_VMA, "anon_vma");
	}
	return av;
}

void anon_vma_attach(struct vma *vma, struct anon_vma *av)
{
	vma->anon_vma = av;
	list_add_tail(&vma->anon_chain, &av->vmas);
	atomic_inc(&av->refs);
}

void anon_vma_detach(struct vma *vma)
{
	list_del(&vma->anon_chain);
}

/* An adjoining VMA's anon_vma, so that the two can be joined later. */
static struct anon_vma *neighbour_anon_vma(struct vma *vma)
{
	struct vma *v = vma_prev(vma);

	if (v && v->end == vma->start && v->anon_vma && !v->mapping && !vma->mapping &&
	    vma_index(v, vma->start) == vma->pgoff)
		return v->anon_vma;
	v = vma_next(vma);
	if (v && vma->end == v->start && v->anon_vma && !v->mapping && !vma->mapping &&
	    vma_index(vma, v->start) == v->pgoff)
		return v->anon_vma;
	return NULL;
}

/* Several threads may come here for one VMA (lock shared): pt_lock decides. */
int __anon_vma_prepare(struct vma *vma)
{
	struct anon_vma *near = neighbour_anon_vma(vma), *av = NULL;
	spinlock_t *ptl = &vma->mm->pt_lock;

	if (near) {
		mutex_lock(&near->root->lock);
		spin_lock(ptl);
		if (!vma->anon_vma) {
			list_add_tail(&vma->anon_chain, &near->vmas);
			atomic_inc(&near->refs);
			smp_store_release(&vma->anon_vma, near);
		}
		spin_unlock(ptl);
		mutex_unlock(&near->root->lock);
		return 0;
	}
	av = anon_vma_alloc(NULL);
	if (!av)
		return -ENOMEM;
	spin_lock(ptl);
	if (!vma->anon_vma) {
		list_add_tail(&vma->anon_chain, &av->vmas);
		smp_store_release(&vma->anon_vma, av);
		av = NULL;
	}
	spin_unlock(ptl);
	if (av)
		slab_free(anon_vma_cache, av);
	return 0;
}

int anon_vma_fork(struct vma *child, const struct vma *parent)
{
	struct anon_vma *up = parent->anon_vma, *av;

	child->anon_vma = NULL;
	if (!up)
		return 0;
	av = anon_vma_alloc(up);
	if (!av)
		return -ENOMEM;
	mutex_lock(&up->root->lock);
	list_add_tail(&av->sibling, &up->children);
	list_add_tail(&child->anon_chain, &av->vmas);
	atomic_inc(&up->refs);
	mutex_unlock(&up->root->lock);
	child->anon_vma = av;
	return 0;
}

/*
 * Takes a node out of the middle when nothing but its one child needs it. => reference held,
 * returned by the caller
 */
static void anon_vma_splice(struct anon_vma *av)
{
	struct anon_vma *root = av->root, *child;

	mutex_lock(&root->lock);
	if (av->parent && atomic_read(&av->refs) == 2 && list_empty(&av->vmas) &&
	    list_is_singular(&av->children)) {
		child = list_first_entry(&av->children, struct anon_vma, sibling);
		child->parent = av->parent; /* the parent's count for av becomes the child's */
		list_move_tail(&child->sibling, &av->parent->children);
		list_del_init(&av->sibling);
		av->parent = NULL;
		atomic_dec(&av->refs); /* the child's; ours is left */
	}
	mutex_unlock(&root->lock);
}

/*
 * Returns the parent, whose count for av the caller puts. It is read under the lock: splicing may
 * just give av another.
 */
static struct anon_vma *anon_vma_free(struct anon_vma *av)
{
	struct anon_vma *parent = READ_ONCE(av->parent);

	ASSERT(list_empty(&av->vmas) && list_empty(&av->children));
	if (parent) {
		mutex_lock(&av->root->lock);
		parent = av->parent;
		list_del(&av->sibling);
		mutex_unlock(&av->root->lock);
	}
	slab_free(anon_vma_cache, av);
	return parent;
}

void anon_vma_put(struct anon_vma *av, int n)
{
	while (av) {
		bool only_child = false;
		int left;

		rcu_read_lock();
		left = atomic_add_return(-n, &av->refs);
		if (left == 1 && READ_ONCE(av->parent) && !list_empty(&av->children))
			only_child = atomic_inc_not_zero(&av->refs);
		rcu_read_unlock();
		n = 1;
		if (only_child) {
			anon_vma_splice(av);
			left = atomic_add_return(-1, &av->refs);
		}
		if (left)
			return;
		av = anon_vma_free(av);
	}
}

struct anon_vma *page_anon_vma_get(struct page *page)
{
	struct anon_vma *av, *got = NULL;

	rcu_read_lock();
	/*
	 * In this order: mapped now, so the anon_vma it says afterwards was alive in this section.
	 * A page that lies unmapped in the swap cache still names one that may be long gone.
	 */
	if (page_test(page, PG_anon) && page_mapped(page)) {
		smp_rmb();
		av = READ_ONCE(page->anon_vma);
		if (atomic_inc_not_zero(&av->refs))
			got = av;
	}
	rcu_read_unlock();
	if (got && (!page_mapped(page) || READ_ONCE(page->anon_vma) != got)) {
		anon_vma_put(got, 1);
		got = NULL;
	}
	return got;
}
