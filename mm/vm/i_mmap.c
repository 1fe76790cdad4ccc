/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * i_mmap.c - which VMAs map a range of a file: an interval tree per mapping.
 *
 * Problem: truncating pages 10..20 of a file mapped by a thousand processes must visit only the
 * VMAs that overlap. Idea: a red-black tree by first page in which each node keeps the largest last
 * page of its subtree; a subtree that ends before the wanted range begins is skipped. Iteration in
 * order of first page, O(log n + found).
 * Locking: mapping->i_mmap_lock. Also here: taking both rmap locks of a VMA in their order (file,
 * then anonymous).
 */
#include "mm/vm/internal.h"

#define entry(n) rb_entry(n, struct vma, i_mmap_node)

static inline unsigned long last_page(const struct vma *vma)
{
	return vma->pgoff + vma_pages(vma) - 1;
}

static void subtree_update(struct rb_node *node)
{
	struct vma *vma = entry(node);
	unsigned long last = last_page(vma);

	if (node->rb_left)
		last = max(last, entry(node->rb_left)->i_mmap_subtree_last);
	if (node->rb_right)
		last = max(last, entry(node->rb_right)->i_mmap_subtree_last);
	vma->i_mmap_subtree_last = last;
}

void i_mmap_insert(struct vma *vma)
{
	struct rb_root_cached *root = &vma->mapping->i_mmap;
	struct rb_node **link = &root->rb_root.rb_node, *parent = NULL;
	bool leftmost = true;

	while (*link) {
		parent = *link;
		if (vma->pgoff < entry(parent)->pgoff) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}
	vma->i_mmap_subtree_last = last_page(vma);
	rb_link_node(&vma->i_mmap_node, parent, link);
	rb_insert_augmented_cached(&vma->i_mmap_node, root, leftmost, subtree_update);
}

void i_mmap_remove(struct vma *vma)
{
	rb_erase_augmented_cached(&vma->i_mmap_node, &vma->mapping->i_mmap, subtree_update);
}

/* First overlapping node of a subtree, in order; NULL. */
static struct vma *subtree_search(struct rb_node *node, unsigned long first, unsigned long last)
{
	while (node) {
		struct rb_node *left = node->rb_left;

		if (left && entry(left)->i_mmap_subtree_last >= first) {
			node = left; /* if anything overlaps, the first does so there */
			continue;
		}
		if (entry(node)->pgoff > last)
			return NULL;
		if (last_page(entry(node)) >= first)
			return entry(node);
		node = node->rb_right;
		if (node && entry(node)->i_mmap_subtree_last < first)
			return NULL;
	}
	return NULL;
}

struct vma *i_mmap_first(struct mapping *m, unsigned long first, unsigned long last)
{
	return subtree_search(m->i_mmap.rb_root.rb_node, first, last);
}

struct vma *i_mmap_next(struct vma *vma, unsigned long first, unsigned long last)
{
	struct rb_node *node = &vma->i_mmap_node, *child;

	if (node->rb_right && entry(node->rb_right)->i_mmap_subtree_last >= first)
		return subtree_search(node->rb_right, first, last);
	for (;;) {
		do { /* up, until we come from the left */
			child = node;
			node = rb_parent(node);
			if (!node)
				return NULL;
		} while (node->rb_right == child);
		if (entry(node)->pgoff > last)
			return NULL;
		if (last_page(entry(node)) >= first)
			return entry(node);
		if (node->rb_right && entry(node->rb_right)->i_mmap_subtree_last >= first)
			return subtree_search(node->rb_right, first, last);
	}
}

void rmap_lock(struct rmap_lock *l, struct mapping *mapping, struct anon_vma *av)
{
	l->mapping = mapping;
	l->root = av ? av->root : NULL;
	if (mapping)
		mutex_lock(&mapping->i_mmap_lock);
	if (l->root)
		mutex_lock(&l->root->lock);
}

void rmap_unlock(struct rmap_lock *l)
{
	if (l->root)
		mutex_unlock(&l->root->lock);
	if (l->mapping)
		mutex_unlock(&l->mapping->i_mmap_lock);
}

void rmap_link(struct vma *vma)
{
	if (!vma->mapping)
		return;
	mutex_lock(&vma->mapping->i_mmap_lock);
	i_mmap_insert(vma);
	mutex_unlock(&vma->mapping->i_mmap_lock);
}

void rmap_unlink(struct vma *vma)
{
	struct anon_vma *av = vma->anon_vma;

	if (vma->mapping) {
		mutex_lock(&vma->mapping->i_mmap_lock);
		i_mmap_remove(vma);
		mutex_unlock(&vma->mapping->i_mmap_lock);
	}
	if (!av)
		return;
	mutex_lock(&av->root->lock);
	anon_vma_detach(vma);
	mutex_unlock(&av->root->lock);
	vma->anon_vma = NULL;
	anon_vma_put(av, 1);
}
