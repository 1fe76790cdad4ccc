/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists and hash chains against a plain array. */
// SOURCES: lib/sort.c
#include "host.h"

#include "lib/list.h"
#include "lib/sort.h"

struct item {
	struct list_head link;
	struct hlist_node hash;
	int key, order;
};

static int model[64], nr;
static struct item items[64];
static LIST_HEAD(head);

static void same_as_model(void)
{
	struct item *it;
	int i = 0;

	CHECK(list_check(&head, 100));
	CHECK_EQ(list_count(&head), nr);
	list_for_each_entry(it, &head, link)
		CHECK_EQ(it->key, model[i++]);
	list_for_each_entry_reverse(it, &head, link)
		CHECK_EQ(it->key, model[--i]);
	CHECK_EQ(i, 0);
}

static void model_insert(int at, int key)
{
	memmove(model + at + 1, model + at, (nr - at) * sizeof(int));
	model[at] = key;
	nr++;
}

static int model_remove(int key)
{
	int at = 0;

	while (model[at] != key)
		at++;
	nr--;
	memmove(model + at, model + at + 1, (nr - at) * sizeof(int));
	return at;
}

HOST_TEST(list_against_array)
{
	bool in[64] = { false };

	nr = 0;
	list_init(&head);
	for (int i = 0; i < 64; i++)
		items[i].key = i;
	for (int step = 0; step < 20000; step++) {
		int k = host_random() % 64;
		struct list_head *link = &items[k].link;

		switch (host_random() % 4) {
		case 0:
			if (!in[k]) {
				list_add(link, &head);
				model_insert(0, k);
				in[k] = true;
			}
			break;
		case 1:
			if (!in[k]) {
				list_add_tail(link, &head);
				model_insert(nr, k);
				in[k] = true;
			}
			break;
		case 2:
			if (in[k]) {
				list_del(link);
				CHECK(link->next == LIST_POISON1);
				model_remove(k);
				in[k] = false;
			}
			break;
		case 3:
			if (in[k]) {
				list_move_tail(link, &head);
				model_remove(k);
				model_insert(nr, k);
			}
			break;
		}
		if (step % 16 == 0)
			same_as_model();
	}
	same_as_model();
}

HOST_TEST(list_splice_and_cut)
{
	LIST_HEAD(a);
	LIST_HEAD(b);
	struct item *it, *n;
	int i;

	for (i = 0; i < 10; i++) {
		items[i].key = i;
		list_add_tail(&items[i].link, i < 5 ? &a : &b);
	}
	list_splice_tail_init(&b, &a);
	CHECK(list_empty(&b));
	CHECK_EQ(list_count(&a), 10);
	list_cut_position(&b, &a, &items[3].link);
	CHECK_EQ(list_count(&b), 4);
	CHECK_EQ(list_first_entry(&a, struct item, link)->key, 4);
	list_rotate_to_front(&items[7].link, &a);
	CHECK_EQ(list_first_entry(&a, struct item, link)->key, 7);
	CHECK_EQ(list_last_entry(&a, struct item, link)->key, 6);
	list_splice(&b, &a);
	CHECK(list_check(&a, 20));
	i = 0;
	list_for_each_entry_safe(it, n, &a, link) {
		list_del_init(&it->link);
		i++;
	}
	CHECK_EQ(i, 10);
	CHECK(list_empty(&a));
}

HOST_TEST(hlist)
{
	struct hlist_head h = HLIST_HEAD_INIT;
	struct item *it;
	struct hlist_node *n;
	int sum = 0;

	for (int i = 0; i < 10; i++) {
		items[i].key = i;
		hlist_node_init(&items[i].hash);
		hlist_add_head(&items[i].hash, &h);
	}
	hlist_del_init(&items[9].hash);
	hlist_del_init(&items[0].hash);
	hlist_del_init(&items[5].hash);
	CHECK(hlist_unhashed(&items[5].hash));
	hlist_for_each_entry(it, &h, hash)
		sum += it->key;
	CHECK_EQ(sum, 45 - 9 - 5);
	hlist_for_each_entry_safe(it, n, &h, hash)
		hlist_del_init(&it->hash);
	CHECK(hlist_empty(&h));
}

static int by_key(const struct list_head *a, const struct list_head *b)
{
	return list_entry(a, struct item, link)->key - list_entry(b, struct item, link)->key;
}

HOST_TEST(list_sort_is_stable)
{
	static struct item many[1000];
	struct item *it, *prev = NULL;

	for (int round = 0; round < 50; round++) {
		LIST_HEAD(l);
		int n = host_random() % 1000;

		for (int i = 0; i < n; i++) {
			many[i].key = host_random() % 50;
			many[i].order = i;
			list_add_tail(&many[i].link, &l);
		}
		list_sort(&l, by_key);
		CHECK(list_check(&l, 1001));
		CHECK_EQ(list_count(&l), n);
		prev = NULL;
		list_for_each_entry(it, &l, link) {
			if (prev)
				CHECK(prev->key < it->key ||
				      (prev->key == it->key && prev->order < it->order));
			prev = it;
		}
	}
}
