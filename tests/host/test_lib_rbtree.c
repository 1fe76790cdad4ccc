/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Red-black trees: random insertions and removals keep the order, the rules and the augmented
 * values.
 */
// SOURCES: lib/rbtree.c
#include "host.h"

#include "lib/rbtree.h"

#define N 500

struct item {
	struct rb_node node;
	int key;
	int subtree_max; /* augmented: largest weight below */
	int weight;
	bool in;
};
static struct item items[N];

static struct item *item_of(const struct rb_node *n)
{
	return rb_entry(n, struct item, node);
}

static bool less(const struct rb_node *a, const struct rb_node *b)
{
	return item_of(a)->key < item_of(b)->key;
}

static int want_max(const struct rb_node *n)
{
	int m = item_of(n)->weight;

	if (n->rb_left)
		m = max(m, item_of(n->rb_left)->subtree_max);
	if (n->rb_right)
		m = max(m, item_of(n->rb_right)->subtree_max);
	return m;
}

static void update(struct rb_node *n)
{
	item_of(n)->subtree_max = want_max(n);
}

static void insert_augmented(struct rb_node *node, struct rb_root *root)
{
	struct rb_node **link = &root->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = less(node, parent) ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(node, parent, link);
	rb_insert_augmented(node, root, update);
}

static void check_augmented(const struct rb_node *n)
{
	if (!n)
		return;
	CHECK_EQ(item_of(n)->subtree_max, want_max(n));
	check_augmented(n->rb_left);
	check_augmented(n->rb_right);
}

static void check_order(const struct rb_root *root, int count)
{
	struct rb_node *n, *prev = NULL;
	int seen = 0;

	CHECK(rb_check(root) >= 0);
	for (n = rb_first(root); n; prev = n, n = rb_next(n), seen++) {
		CHECK(item_of(n)->in);
		CHECK(rb_prev(n) == prev);
		if (prev)
			CHECK(item_of(prev)->key <= item_of(n)->key);
	}
	CHECK(rb_last(root) == prev);
	CHECK_EQ(seen, count);
}

HOST_TEST(random_insert_erase)
{
	struct rb_root_cached root = RB_ROOT_CACHED;
	int count = 0;

	memset(items, 0, sizeof(items));
	for (int step = 0; step < 40000; step++) {
		struct item *it = &items[host_random() % N];

		if (it->in) {
			rb_erase_cached(&it->node, &root);
			it->in = false;
			count--;
		} else {
			it->key = host_random() % 100;
			it->in = true;
			rb_add_cached(&it->node, &root, less);
			count++;
		}
		CHECK(root.rb_leftmost == rb_first(&root.rb_root));
		if (step % 64 == 0)
			check_order(&root.rb_root, count);
	}
	check_order(&root.rb_root, count);
}

HOST_TEST(augmented)
{
	struct rb_root root = RB_ROOT;
	int count = 0;

	memset(items, 0, sizeof(items));
	for (int step = 0; step < 20000; step++) {
		struct item *it = &items[host_random() % N];

		if (it->in && host_random() % 3 == 0) {
			it->weight = host_random() % 1000;
			rb_propagate(&it->node, update);
		} else if (it->in) {
			rb_erase_augmented(&it->node, &root, update);
			it->in = false;
			count--;
		} else {
			it->key = host_random() % 1000;
			it->weight = host_random() % 1000;
			it->in = true;
			insert_augmented(&it->node, &root);
			count++;
		}
		if (step % 32 == 0) {
			check_order(&root, count);
			check_augmented(root.rb_node);
		}
	}
}

HOST_TEST(equal_keys_keep_their_order)
{
	struct rb_root root = RB_ROOT;
	struct rb_node *n;
	int i = 0;

	for (i = 0; i < 100; i++) {
		items[i].key = i / 10;
		items[i].in = true;
		rb_add(&items[i].node, &root, less);
	}
	i = 0;
	rb_for_each(n, &root)
		CHECK(item_of(n) == &items[i++]);
}

HOST_TEST(replace_and_postorder)
{
	struct rb_root root = RB_ROOT;
	struct item fresh;
	struct rb_node *n, *next;
	int seen = 0;

	for (int i = 0; i < N; i++) {
		items[i].key = i;
		items[i].in = true;
		rb_add(&items[i].node, &root, less);
	}
	fresh = items[77];
	rb_replace_node(&items[77].node, &fresh.node, &root);
	check_order(&root, N);
	rb_for_each_postorder_safe(n, next, &root) {
		memset(n, 0xa5, sizeof(*n)); /* may be destroyed */
		seen++;
	}
	CHECK_EQ(seen, N);
}

HOST_TEST(depth_is_logarithmic)
{
	struct rb_root root = RB_ROOT;

	for (int i = 0; i < N; i++) { /* rising keys: the worst case of a plain tree */
		items[i].key = i;
		rb_add(&items[i].node, &root, less);
	}
	CHECK(rb_check(&root) <= 9);
}
