/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rbtree.c - red-black trees.
 *
 * Problem: keep a set ordered so that the depth stays logarithmic whatever the order of insertion.
 * Idea: colour nodes red or black under two rules, and the longest path is at most twice the
 * shortest:
 *
 *   1. a red node has no red child;
 *   2. every path from a node down to a missing child passes the same number of black nodes (the
 *      black height).
 *
 * Insert: the new node is red. Only rule 1 can break, between it and a red parent. With a red uncle
 * the redness is pushed up two levels; with a black uncle one or two rotations end it.
 * Erase: a node with two children is first exchanged with its successor, so the removed place has
 * at most one child. If a black place vanished, its path lacks one black: the deficit moves up
 * until a red node can be painted black or a red nephew can be rotated over.
 *
 * Augmentation: `update` recomputes a node from its children. A rotation changes two nodes (lower
 * one first), insertion and removal change every ancestor of the changed place. The core is inlined
 * twice so that plain trees pay nothing.
 *
 * Invariants: rb_check(). Locking: the owner's. Source: [Guibas78], [CLRS] chapter 13.
 */
#include "lib/rbtree.h"

#define RB_BLACK 1ul

static inline bool is_red(const struct rb_node *n)
{
	return n && !(n->parent_color & RB_BLACK);
}
static inline void set_parent(struct rb_node *n, struct rb_node *parent)
{
	n->parent_color = (unsigned long)parent | (n->parent_color & RB_BLACK);
}
static inline void set_black(struct rb_node *n)
{
	n->parent_color |= RB_BLACK;
}
static inline void set_red(struct rb_node *n)
{
	n->parent_color &= ~RB_BLACK;
}
static inline void change_child(struct rb_node *old, struct rb_node *fresh, struct rb_node *parent,
				struct rb_root *root)
{
	if (!parent)
		WRITE_ONCE(root->rb_node, fresh);
	else if (parent->rb_left == old)
		WRITE_ONCE(parent->rb_left, fresh);
	else
		WRITE_ONCE(parent->rb_right, fresh);
}

/* n's right child r takes n's place, n becomes r's left child. */
static __always_inline void rotate_left(struct rb_node *n, struct rb_root *root,
					rb_update_fn update)
{
	struct rb_node *r = n->rb_right, *parent = rb_parent(n);

	n->rb_right = r->rb_left;
	if (r->rb_left)
		set_parent(r->rb_left, n);
	set_parent(r, parent);
	change_child(n, r, parent, root);
	r->rb_left = n;
	set_parent(n, r);
	if (update) {
		update(n);
		update(r);
	}
}
static __always_inline void rotate_right(struct rb_node *n, struct rb_root *root,
					 rb_update_fn update)
{
	struct rb_node *l = n->rb_left, *parent = rb_parent(n);

	n->rb_left = l->rb_right;
	if (l->rb_right)
		set_parent(l->rb_right, n);
	set_parent(l, parent);
	change_child(n, l, parent, root);
	l->rb_right = n;
	set_parent(n, l);
	if (update) {
		update(n);
		update(l);
	}
}

static __always_inline void insert_fix(struct rb_node *node, struct rb_root *root,
				       rb_update_fn update)
{
	struct rb_node *parent, *grand, *uncle;

	while ((parent = rb_parent(node)) && is_red(parent)) {
		grand = rb_parent(parent); /* exists: a red node is never the root */
		if (parent == grand->rb_left) {
			uncle = grand->rb_right;
			if (is_red(uncle))
				goto recolour;
			if (node == parent->rb_right) {
				rotate_left(parent, root, update);
				swap(node, parent);
			}
			set_black(parent);
			set_red(grand);
			rotate_right(grand, root, update);
			break;
		}
		uncle = grand->rb_left;
		if (is_red(uncle))
			goto recolour;
		if (node == parent->rb_left) {
			rotate_right(parent, root, update);
			swap(node, parent);
		}
		set_black(parent);
		set_red(grand);
		rotate_left(grand, root, update);
		break;
recolour:
		set_black(uncle);
		set_black(parent);
		set_red(grand);
		node = grand;
	}
	set_black(root->rb_node);
}

/* The place of node (maybe empty), child of parent, lacks one black. */
static __always_inline void erase_fix(struct rb_node *node, struct rb_node *parent,
				      struct rb_root *root, rb_update_fn update)
{
	struct rb_node *sib;

	while (parent && !is_red(node)) {
		if (node == parent->rb_left) {
			sib = parent->rb_right;
			if (is_red(sib)) {
				set_black(sib);
				set_red(parent);
				rotate_left(parent, root, update);
				sib = parent->rb_right;
			}
			if (!is_red(sib->rb_left) && !is_red(sib->rb_right))
				goto up;
			if (!is_red(sib->rb_right)) {
				set_black(sib->rb_left);
				set_red(sib);
				rotate_right(sib, root, update);
				sib = parent->rb_right;
			}
			if (is_red(parent))
				set_red(sib);
			else
				set_black(sib);
			set_black(parent);
			set_black(sib->rb_right);
			rotate_left(parent, root, update);
			return;
		}
		sib = parent->rb_left;
		if (is_red(sib)) {
			set_black(sib);
			set_red(parent);
			rotate_right(parent, root, update);
			sib = parent->rb_left;
		}
		if (!is_red(sib->rb_left) && !is_red(sib->rb_right))
			goto up;
		if (!is_red(sib->rb_left)) {
			set_black(sib->rb_right);
			set_red(sib);
			rotate_left(sib, root, update);
			sib = parent->rb_left;
		}
		if (is_red(parent))
			set_red(sib);
		else
			set_black(sib);
		set_black(parent);
		set_black(sib->rb_left);
		rotate_right(parent, root, update);
		return;
up:
		set_red(sib);
		node = parent;
		parent = rb_parent(node);
	}
	if (node)
		set_black(node);
}

static __always_inline void erase(struct rb_node *node, struct rb_root *root, rb_update_fn update)
{
	struct rb_node *child, *parent, *changed;
	bool black;

	if (node->rb_left && node->rb_right) {
		struct rb_node *next = node->rb_right;

		while (next->rb_left)
			next = next->rb_left;
		child = next->rb_right;
		parent = rb_parent(next);
		black = !is_red(next);
		if (parent == node) {
			parent = next;
		} else {
			parent->rb_left = child;
			next->rb_right = node->rb_right;
			set_parent(node->rb_right, next);
		}
		if (child)
			set_parent(child, parent);
		next->rb_left = node->rb_left;
		set_parent(node->rb_left, next);
		change_child(node, next, rb_parent(node), root);
		next->parent_color = node->parent_color;
	} else {
		child = node->rb_left ? node->rb_left : node->rb_right;
		parent = rb_parent(node);
		black = !is_red(node);
		if (child)
			set_parent(child, parent);
		change_child(node, child, parent, root);
	}
	if (update)
		for (changed = parent; changed; changed = rb_parent(changed))
			update(changed);
	if (black)
		erase_fix(child, parent, root, update);
}

void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
	insert_fix(node, root, NULL);
}

void rb_erase(struct rb_node *node, struct rb_root *root)
{
	erase(node, root, NULL);
}

void rb_propagate(struct rb_node *node, rb_update_fn update)
{
	for (; node; node = rb_parent(node))
		update(node);
}

void rb_insert_augmented(struct rb_node *node, struct rb_root *root, rb_update_fn update)
{
	rb_propagate(node, update);
	insert_fix(node, root, update);
}

void rb_erase_augmented(struct rb_node *node, struct rb_root *root, rb_update_fn update)
{
	erase(node, root, update);
}

void rb_replace_node(struct rb_node *old, struct rb_node *fresh, struct rb_root *root)
{
	*fresh = *old;
	if (old->rb_left)
		set_parent(old->rb_left, fresh);
	if (old->rb_right)
		set_parent(old->rb_right, fresh);
	change_child(old, fresh, rb_parent(old), root);
}

struct rb_node *rb_first(const struct rb_root *root)
{
	struct rb_node *n = root->rb_node;

	while (n && n->rb_left)
		n = n->rb_left;
	return n;
}

struct rb_node *rb_last(const struct rb_root *root)
{
	struct rb_node *n = root->rb_node;

	while (n && n->rb_right)
		n = n->rb_right;
	return n;
}

struct rb_node *rb_next(const struct rb_node *node)
{
	struct rb_node *n, *parent;

	if (node->rb_right) {
		for (n = node->rb_right; n->rb_left;)
			n = n->rb_left;
		return n;
	}
	while ((parent = rb_parent(node)) && node == parent->rb_right)
		node = parent;
	return parent;
}

struct rb_node *rb_prev(const struct rb_node *node)
{
	struct rb_node *n, *parent;

	if (node->rb_left) {
		for (n = node->rb_left; n->rb_right;)
			n = n->rb_right;
		return n;
	}
	while ((parent = rb_parent(node)) && node == parent->rb_left)
		node = parent;
	return parent;
}

static struct rb_node *deepest_left(const struct rb_node *n)
{
	while (n->rb_left || n->rb_right)
		n = n->rb_left ? n->rb_left : n->rb_right;
	return (struct rb_node *)n;
}

struct rb_node *rb_first_postorder(const struct rb_root *root)
{
	return root->rb_node ? deepest_left(root->rb_node) : NULL;
}

struct rb_node *rb_next_postorder(const struct rb_node *node)
{
	struct rb_node *parent = rb_parent(node);

	if (parent && node == parent->rb_left && parent->rb_right)
		return deepest_left(parent->rb_right);
	return parent;
}

/* Depth is bounded by twice the black height, so recursion is at most 128 deep. */
static int check(const struct rb_node *n, const struct rb_node *parent)
{
	int left, right;

	if (!n)
		return 0;
	if (rb_parent(n) != parent || (is_red(n) && is_red(parent)))
		return -1;
	left = check(n->rb_left, n);
	right = check(n->rb_right, n);
	if (left < 0 || left != right)
		return -1;
	return left + !is_red(n);
}

int rb_check(const struct rb_root *root)
{
	return is_red(root->rb_node) ? -1 : check(root->rb_node, NULL);
}
