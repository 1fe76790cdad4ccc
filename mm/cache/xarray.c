/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xarray.c - the index of the page cache.
 *
 * Problem: find page number i of a file in a few steps, for files of one page and of a billion,
 * with readers that take no lock; find the next dirty page without looking at the clean ones. Idea:
 * a radix tree of 64-way nodes, only as high as the largest index needs.
 *
 *   root (shift 6) --slot i>>6--> node (shift 0) --slot i&63--> item
 *
 * A node knows its own shift, so a reader starts at whatever root it sees and needs no second word
 * to agree with it: an old root is still a correct, smaller tree. Each node has, per tag, one bit
 * per slot: "something below is tagged".
 *
 * Invariants: count = used slots, > 0 for every linked node; a tag bit of an inner slot is set
 * exactly when the child has a bit of that tag; a value (bit 0) has none.
 * Locking: writers hold the owner's lock. Readers hold rcu_read_lock: nodes are freed after a grace
 * period, and slots are single pointers written with release order.
 * Source: the radix tree of [Morrison68], in the 64-way form common in kernels.
 */
#include "mm/cache/xarray.h"
#include "kernel/bug.h"
#include "kernel/rcu.h"
#include "lib/errno.h"
#include "lib/math.h"
#include "mm/kmem/slab.h"

#define XA_BITS 6
#define XA_SLOTS (1u << XA_BITS)
#define XA_MASK (XA_SLOTS - 1)

struct xa_node {
	u8 shift;  /* of the index bits that pick a slot here */
	u8 offset; /* slot in the parent */
	u8 count;  /* used slots */
	u8 values; /* lowest nodes: of these, values */
	struct xa_node *parent;
	u64 tags[XA_NR_TAGS];
	void *slots[XA_SLOTS];
	struct rcu_head rcu;
};

static struct slab_cache *xa_cache;

void xa_init_cache(void)
{
	if (!xa_cache)
		xa_cache = slab_create("radix_tree_node", sizeof(struct xa_node), 64,
				       SLAB_RECLAIMABLE, NULL);
	BUG_ON(!xa_cache);
}

struct xa_node *xa_node_alloc(gfp_t gfp)
{
	return slab_alloc(xa_cache, gfp | __GFP_ZERO);
}

static void xa_node_free_rcu(struct rcu_head *head)
{
	slab_free(xa_cache, container_of(head, struct xa_node, rcu));
}

void xa_add_spare(struct xarray *xa, struct xa_node *node)
{
	node->parent = xa->spare;
	xa->spare = node;
}

/* => xa_provide() has seen to it that there is one */
static struct xa_node *xa_take_spare(struct xarray *xa)
{
	struct xa_node *node = xa->spare;

	xa->spare = node->parent;
	node->parent = NULL;
	return node;
}

/* Largest index a root of this shift covers. */
static inline unsigned long xa_max_index(unsigned int shift)
{
	return shift + XA_BITS >= 64 ? ~0ul : (1ul << (shift + XA_BITS)) - 1;
}

/* The lowest-level node that covers index, or NULL. */
static __always_inline struct xa_node *xa_leaf(const struct xarray *xa, unsigned long index)
{
	struct xa_node *node = rcu_dereference(xa->root);
	unsigned int shift;

	if (!node)
		return NULL;
	shift = node->shift;
	if (unlikely(index >> shift > XA_MASK))
		return NULL;
	while (shift) {
		node = rcu_dereference(node->slots[(index >> shift) & XA_MASK]);
		if (!node)
			return NULL;
		shift -= XA_BITS;
	}
	return node;
}

void *xa_load(const struct xarray *xa, unsigned long index)
{
	struct xa_node *leaf = xa_leaf(xa, index);

	return leaf ? rcu_dereference(leaf->slots[index & XA_MASK]) : NULL;
}

unsigned int xa_load_batch(const struct xarray *xa, unsigned long index, unsigned int n,
			   void **items)
{
	struct xa_node *leaf = xa_leaf(xa, index);
	unsigned int off = index & XA_MASK;

	n = min(n, XA_SLOTS - off);
	for (unsigned int i = 0; i < n; i++)
		items[i] = leaf ? rcu_dereference(leaf->slots[off + i]) : NULL;
	return n;
}

/* How many nodes a store at index would have to make. */
static unsigned int xa_missing(const struct xarray *xa, unsigned long index)
{
	struct xa_node *node = xa->root;
	unsigned int shift = 0, grow = 0;

	if (!node) {
		while (index > xa_max_index(shift))
			shift += XA_BITS;
		return shift / XA_BITS + 1;
	}
	for (shift = node->shift; index > xa_max_index(shift); shift += XA_BITS)
		grow++;
	if (grow) /* index lies beside the old root: its whole path is new */
		return grow + shift / XA_BITS;
	while (shift && node) {
		node = node->slots[(index >> shift) & XA_MASK];
		if (node)
			shift -= XA_BITS;
	}
	return shift / XA_BITS;
}

/*
 * All nodes a store needs, before it changes anything: a store that fails half-way would have to
 * take published nodes back. What was found stays in the list of spares, so trying again makes
 * progress.
 */
static int xa_provide(struct xarray *xa, unsigned int need, gfp_t gfp)
{
	for (struct xa_node *n = xa->spare; n && need; n = n->parent)
		need--;
	if (need && !gfp)
		return -ENOMEM;
	for (; need; need--) {
		struct xa_node *node = xa_node_alloc(gfp);

		if (!node)
			return -ENOMEM;
		xa_add_spare(xa, node);
	}
	return 0;
}

/* Puts levels on top until index is covered. */
static void xa_grow(struct xarray *xa, unsigned long index)
{
	struct xa_node *root = xa->root, *top;

	if (!root) {
		top = xa_take_spare(xa);
		while (index > xa_max_index(top->shift))
			top->shift += XA_BITS;
		xa->height = top->shift / XA_BITS + 1;
		rcu_assign_pointer(xa->root, top);
		return;
	}
	for (; index > xa_max_index(root->shift); root = top) {
		top = xa_take_spare(xa);
		top->shift = root->shift + XA_BITS;
		top->slots[0] = root;
		top->count = 1;
		for (int t = 0; t < XA_NR_TAGS; t++)
			top->tags[t] = root->tags[t] != 0;
		root->parent = top;
		root->offset = 0;
		rcu_assign_pointer(xa->root, top);
		xa->height++;
	}
}

/* The lowest-level node of index, with all nodes above it, from the spares. */
static struct xa_node *xa_make_leaf(struct xarray *xa, unsigned long index)
{
	struct xa_node *node, *child;

	xa_grow(xa, index);
	for (node = xa->root; node->shift; node = child) {
		unsigned int off = (index >> node->shift) & XA_MASK;

		child = node->slots[off];
		if (child)
			continue;
		child = xa_take_spare(xa);
		child->shift = node->shift - XA_BITS;
		child->offset = off;
		child->parent = node;
		node->count++;
		rcu_assign_pointer(node->slots[off], child);
	}
	return node;
}

/* Takes empty nodes out, upwards from node; an empty array has no root. */
static void xa_trim(struct xarray *xa, struct xa_node *node)
{
	while (node && !node->count) {
		struct xa_node *parent = node->parent;

		if (parent) {
			WRITE_ONCE(parent->slots[node->offset], NULL);
			parent->count--;
			for (int t = 0; t < XA_NR_TAGS; t++)
				parent->tags[t] &= ~BIT(node->offset);
		} else {
			WRITE_ONCE(xa->root, NULL);
			xa->height = 0;
		}
		rcu_call(&node->rcu, xa_node_free_rcu);
		node = parent;
	}
}

/* Did the node hold values alone before one more item came? */
static bool only_values_but_one(const struct xa_node *leaf)
{
	return leaf->count > 1 && leaf->values == leaf->count - 1;
}

/* The node has n values more; before: it held values alone. => count is right already */
static void count_values(struct xarray *xa, struct xa_node *leaf, bool before, int n)
{
	leaf->values = (u8)(leaf->values + n);
	xa->value_nodes += (leaf->count && leaf->values == leaf->count) - before;
}

int xa_store(struct xarray *xa, unsigned long index, void *item, gfp_t gfp)
{
	struct xa_node *leaf = xa_leaf(xa, index);
	unsigned int off = index & XA_MASK;

	ASSERT(item);
	if (unlikely(!leaf)) {
		if (xa_provide(xa, xa_missing(xa, index), gfp))
			return -ENOMEM;
		leaf = xa_make_leaf(xa, index);
	}
	if (leaf->slots[off])
		return -EEXIST;
	leaf->count++;
	if (unlikely(leaf->values || xa_is_value(item)))
		count_values(xa, leaf, only_values_but_one(leaf), xa_is_value(item));
	rcu_assign_pointer(leaf->slots[off], item);
	return 0;
}

/* Clears a slot's tag and, where a node loses its last one, the bit above it. */
static void xa_untag(struct xa_node *node, unsigned int off, enum xa_tag tag)
{
	for (; node && (node->tags[tag] & BIT(off)); node = node->parent) {
		node->tags[tag] &= ~BIT(off);
		if (node->tags[tag])
			return;
		off = node->offset;
	}
}

void *xa_replace(struct xarray *xa, unsigned long index, void *item)
{
	struct xa_node *leaf = xa_leaf(xa, index);
	unsigned int off = index & XA_MASK;
	void *old;

	ASSERT(item);
	if (!leaf)
		return NULL;
	old = leaf->slots[off];
	if (!old)
		return NULL;
	for (int t = 0; xa_is_value(item) && t < XA_NR_TAGS; t++)
		xa_untag(leaf, off, t);
	count_values(xa, leaf, leaf->values == leaf->count,
		     (int)xa_is_value(item) - (int)xa_is_value(old));
	rcu_assign_pointer(leaf->slots[off], item);
	return old;
}

void *xa_erase(struct xarray *xa, unsigned long index)
{
	struct xa_node *leaf = xa_leaf(xa, index);
	unsigned int off = index & XA_MASK;
	void *item = leaf ? leaf->slots[off] : NULL;

	if (!item)
		return NULL;
	for (int t = 0; t < XA_NR_TAGS; t++)
		if (unlikely(leaf->tags[t] & BIT(off)))
			xa_untag(leaf, off, t);
	WRITE_ONCE(leaf->slots[off], NULL);
	leaf->count--;
	if (unlikely(leaf->values))
		count_values(xa, leaf, leaf->values == leaf->count + 1, -(int)xa_is_value(item));
	if (!leaf->count)
		xa_trim(xa, leaf);
	return item;
}

unsigned int xa_forget_values(struct xarray *xa, unsigned long *index)
{
	for (unsigned int looked = 0; looked < XA_FORGET_NODES; looked++) {
		struct xa_node *leaf;
		unsigned int n;

		if (!xa_find(xa, index, ~0ul)) {
			*index = 0;
			return 0;
		}
		leaf = xa_leaf(xa, *index);
		*index = (*index | XA_MASK) + 1; /* 0 behind the last */
		if (leaf->values != leaf->count) {
			if (!*index)
				return 0;
			continue;
		}
		for (unsigned int i = 0; i < XA_SLOTS; i++)
			WRITE_ONCE(leaf->slots[i], NULL);
		n = leaf->count;
		leaf->count = leaf->values = 0;
		xa->value_nodes--;
		xa_trim(xa, leaf);
		return n;
	}
	return 0;
}

void xa_set_tag(struct xarray *xa, unsigned long index, enum xa_tag tag)
{
	struct xa_node *node = xa_leaf(xa, index);
	unsigned int off = index & XA_MASK;

	if (!node || !node->slots[off] || xa_is_value(node->slots[off]))
		return;
	for (; node && !(node->tags[tag] & BIT(off)); off = node->offset, node = node->parent)
		node->tags[tag] |= BIT(off);
}

bool xa_copy_tag(struct xarray *xa, unsigned long *index, unsigned long last, enum xa_tag from,
		 enum xa_tag to)
{
	struct xa_node *node, *parent;
	u64 mask;

	if (!xa_find_tag(xa, index, last, from))
		return false;
	node = xa_leaf(xa, *index);
	mask = node->tags[from] & (~0ul << (*index & XA_MASK));
	*index |= XA_MASK;
	if (*index > last)
		mask &= ~0ul >> (XA_MASK - (last & XA_MASK));
	node->tags[to] |= mask;
	for (; (parent = node->parent); node = parent) {
		if (parent->tags[to] & BIT(node->offset))
			break;
		parent->tags[to] |= BIT(node->offset);
	}
	return true;
}

void xa_clear_tag(struct xarray *xa, unsigned long index, enum xa_tag tag)
{
	struct xa_node *node = xa_leaf(xa, index);

	if (node)
		xa_untag(node, index & XA_MASK, tag);
}

bool xa_get_tag(const struct xarray *xa, unsigned long index, enum xa_tag tag)
{
	struct xa_node *node = xa_leaf(xa, index);

	return node && (READ_ONCE(node->tags[tag]) & BIT(index & XA_MASK));
}

bool xa_tagged(const struct xarray *xa, enum xa_tag tag)
{
	struct xa_node *root = rcu_dereference(xa->root);

	return root && READ_ONCE(root->tags[tag]);
}

/* Which slots of node are worth entering, from off on. */
static inline u64 xa_candidates(const struct xa_node *node, unsigned int off, int tag)
{
	u64 mask = 0;

	if (tag >= 0)
		return READ_ONCE(node->tags[tag]) & (~0ul << off);
	for (unsigned int i = off; i < XA_SLOTS; i++)
		if (READ_ONCE(node->slots[i])) {
			mask |= BIT(i);
			break; /* the first is all a step needs */
		}
	return mask;
}

static void *xa_search(const struct xarray *xa, unsigned long *indexp, unsigned long last, int tag)
{
	unsigned long index = *indexp;
	struct xa_node *node;

restart:
	node = rcu_dereference(xa->root);
	if (!node || index > last || index > xa_max_index(node->shift))
		return NULL;
	for (;;) {
		unsigned int shift = node->shift, off = (index >> shift) & XA_MASK;
		u64 mask = xa_candidates(node, off, tag);
		void *slot;

		if (!mask) { /* nothing here: go on behind this node, from the top */
			if (shift + XA_BITS >= 64 || index > ULONG_MAX - (1ul << (shift + XA_BITS)))
				return NULL;
			index = (index | xa_max_index(shift)) + 1;
			if (!index)
				return NULL;
			goto restart;
		}
		if (__ffs(mask) != off) {
			off = __ffs(mask);
			index = (index & ~xa_max_index(shift)) | (unsigned long)off << shift;
			if (index > last)
				return NULL;
		}
		slot = rcu_dereference(node->slots[off]);
		if (!slot) { /* went away meanwhile */
			if (index > ULONG_MAX - (1ul << shift))
				return NULL;
			index = ((index >> shift) + 1) << shift;
			goto restart;
		}
		if (!shift) {
			*indexp = index;
			return slot;
		}
		node = slot;
	}
}

void *xa_find(const struct xarray *xa, unsigned long *index, unsigned long last)
{
	return xa_search(xa, index, last, -1);
}

void *xa_find_tag(const struct xarray *xa, unsigned long *index, unsigned long last,
		  enum xa_tag tag)
{
	return xa_search(xa, index, last, tag);
}

static void xa_free_tree(struct xa_node *node)
{
	if (node->shift)
		for (unsigned int i = 0; i < XA_SLOTS; i++)
			if (node->slots[i])
				xa_free_tree(node->slots[i]);
	rcu_call(&node->rcu, xa_node_free_rcu);
}

void xa_destroy(struct xarray *xa)
{
	if (xa->root)
		xa_free_tree(xa->root);
	xa->root = NULL;
	xa->height = 0;
	while (xa->spare) {
		struct xa_node *node = xa->spare;

		xa->spare = node->parent;
		slab_free(xa_cache, node);
	}
}

static long xa_check_node(const struct xa_node *node, const struct xa_node *parent,
			  unsigned int off)
{
	unsigned int used = 0, values = 0;
	long items = 0;

	if (node->parent != parent ||
	    (parent && (node->offset != off || node->shift + XA_BITS != parent->shift)))
		return -1;
	for (unsigned int i = 0; i < XA_SLOTS; i++) {
		const struct xa_node *child = node->slots[i];
		long below;

		if (!child) {
			for (int t = 0; t < XA_NR_TAGS; t++)
				if (node->tags[t] & BIT(i))
					return -1;
			continue;
		}
		used++;
		if (!node->shift) {
			for (int t = 0; xa_is_value(child) && t < XA_NR_TAGS; t++)
				if (node->tags[t] & BIT(i))
					return -1;
			values += xa_is_value(child);
			items++;
			continue;
		}
		for (int t = 0; t < XA_NR_TAGS; t++)
			if (!!(node->tags[t] & BIT(i)) != !!child->tags[t])
				return -1;
		below = xa_check_node(child, node, i);
		if (below <= 0)
			return -1;
		items += below;
	}
	return used == node->count && used && values == node->values ? items : -1;
}

long xa_check(const struct xarray *xa)
{
	if (!xa->root)
		return xa->height ? -1 : 0;
	if (xa->height != xa->root->shift / XA_BITS + 1u)
		return -1;
	return xa_check_node(xa->root, NULL, 0);
}
