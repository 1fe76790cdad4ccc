/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rbtree.h - intrusive red-black trees: ordered sets with O(log n) insert, erase, neighbours.
 *
 * The caller searches (it knows its keys): walk down from root->rb_node remembering parent and the
 * link to fill, rb_link_node() there, then rb_insert_color() rebalances. rb_add() does all of it
 * with a less() function. Augmented trees keep in each node a value computed from the node and its
 * children (a maximum gap, an earliest deadline): pass the function that recomputes one node, and
 * use the _augmented forms. rbtree.c holds the theory.
 */
#ifndef LIB_RBTREE_H
#define LIB_RBTREE_H

#include "lib/types.h"

struct rb_node {
	unsigned long parent_color; /* parent | colour (bit 0: 1 = black) */
	struct rb_node *rb_left, *rb_right;
} __aligned(8);
struct rb_root {
	struct rb_node *rb_node;
};
/* Also remembers the smallest node. */
struct rb_root_cached {
	struct rb_root rb_root;
	struct rb_node *rb_leftmost;
};
#define RB_ROOT ((struct rb_root){ NULL })
#define RB_ROOT_CACHED ((struct rb_root_cached){ { NULL }, NULL })
#define RB_EMPTY_ROOT(root) (READ_ONCE((root)->rb_node) == NULL)
/* A node that is in no tree points to itself once it was cleared. */
#define RB_CLEAR_NODE(node) ((node)->parent_color = (unsigned long)(node))
#define RB_EMPTY_NODE(node) ((node)->parent_color == (unsigned long)(node))
#define rb_entry(ptr, type, member) container_of(ptr, type, member)
#define rb_entry_safe(ptr, type, member)                                                           \
	({                                                                                         \
		struct rb_node *_rp = (ptr);                                                       \
		_rp ? rb_entry(_rp, type, member) : NULL;                                          \
	})

/* Recomputes node's augmented value from node and its two children. */
typedef void (*rb_update_fn)(struct rb_node *node);

void rb_insert_color(struct rb_node *node, struct rb_root *root);
void rb_erase(struct rb_node *node, struct rb_root *root);
/* => node is linked and its own value set; its ancestors' values are recomputed here. */
void rb_insert_augmented(struct rb_node *node, struct rb_root *root, rb_update_fn update);
void rb_erase_augmented(struct rb_node *node, struct rb_root *root, rb_update_fn update);
/* After node's own key data changed (not its place): recompute it and its ancestors. */
void rb_propagate(struct rb_node *node, rb_update_fn update);
/* Puts fresh where old was, without rebalancing. */
void rb_replace_node(struct rb_node *old, struct rb_node *fresh, struct rb_root *root);
struct rb_node *rb_first(const struct rb_root *root);
struct rb_node *rb_last(const struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *node);
struct rb_node *rb_prev(const struct rb_node *node);
/* Children before parents: for tearing a whole tree down without erasing. */
struct rb_node *rb_first_postorder(const struct rb_root *root);
struct rb_node *rb_next_postorder(const struct rb_node *node);
/* Validator: black height when the red-black rules and parent links hold, -1 otherwise. */
int rb_check(const struct rb_root *root);

static inline struct rb_node *rb_parent(const struct rb_node *node)
{
	return (struct rb_node *)(node->parent_color & ~3ul);
}
static inline void rb_link_node(struct rb_node *node, struct rb_node *parent, struct rb_node **link)
{
	node->parent_color = (unsigned long)parent; /* red */
	node->rb_left = NULL;
	node->rb_right = NULL;
	__atomic_store_n(link, node, __ATOMIC_RELEASE);
}
/* Inserts by less(a, b); equal keys go after their equals. */
static inline void rb_add(struct rb_node *node, struct rb_root *root,
			  bool (*less)(const struct rb_node *a, const struct rb_node *b))
{
	struct rb_node **link = &root->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = less(node, parent) ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(node, parent, link);
	rb_insert_color(node, root);
}
#define rb_first_cached(root) ((root)->rb_leftmost)
static inline void rb_insert_color_cached(struct rb_node *node, struct rb_root_cached *root,
					  bool leftmost)
{
	if (leftmost)
		root->rb_leftmost = node;
	rb_insert_color(node, &root->rb_root);
}
static inline void rb_erase_cached(struct rb_node *node, struct rb_root_cached *root)
{
	if (root->rb_leftmost == node)
		root->rb_leftmost = rb_next(node);
	rb_erase(node, &root->rb_root);
}
static inline void rb_insert_augmented_cached(struct rb_node *node, struct rb_root_cached *root,
					      bool leftmost, rb_update_fn update)
{
	if (leftmost)
		root->rb_leftmost = node;
	rb_insert_augmented(node, &root->rb_root, update);
}
static inline void rb_erase_augmented_cached(struct rb_node *node, struct rb_root_cached *root,
					     rb_update_fn update)
{
	if (root->rb_leftmost == node)
		root->rb_leftmost = rb_next(node);
	rb_erase_augmented(node, &root->rb_root, update);
}
/* Inserts by less(); true when node became the smallest. */
static inline bool rb_add_cached(struct rb_node *node, struct rb_root_cached *root,
				 bool (*less)(const struct rb_node *a, const struct rb_node *b))
{
	struct rb_node **link = &root->rb_root.rb_node, *parent = NULL;
	bool leftmost = true;

	while (*link) {
		parent = *link;
		if (less(node, parent)) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}
	rb_link_node(node, parent, link);
	rb_insert_color_cached(node, root, leftmost);
	return leftmost;
}

#define rb_for_each(pos, root) for ((pos) = rb_first(root); (pos); (pos) = rb_next(pos))
#define rb_for_each_postorder_safe(pos, n, root)                                                   \
	for ((pos) = rb_first_postorder(root); (pos) && ((n) = rb_next_postorder(pos), 1);         \
	     (pos) = (n))

#endif
