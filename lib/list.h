/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.h - intrusive doubly linked lists (circular, with a head that is no element) and hash
 * chains.
 *
 * The link lies inside the object, so joining a list never allocates and leaving it needs no
 * search. hlist is the same with a one-pointer head, for hash tables. No locks: the owner's lock
 * protects a list.
 */
#ifndef LIB_LIST_H
#define LIB_LIST_H

#include "lib/types.h"

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name)                                                                       \
	{                                                                                          \
		&(name), &(name)                                                                   \
	}
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)
/* What a removed link points to: a use after removal faults at a telling address. */
#define LIST_POISON1 ((void *)0xdead000000000100ul)
#define LIST_POISON2 ((void *)0xdead000000000122ul)

static inline void list_init(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}
#define INIT_LIST_HEAD(head) list_init(head)

static inline bool list_empty(const struct list_head *head)
{
	return READ_ONCE(head->next) == head;
}
static inline bool list_is_singular(const struct list_head *head)
{
	return head->next != head && head->next == head->prev;
}
static inline bool list_is_last(const struct list_head *node, const struct list_head *head)
{
	return node->next == head;
}
static inline bool list_is_first(const struct list_head *node, const struct list_head *head)
{
	return node->prev == head;
}
static inline void __list_link(struct list_head *node, struct list_head *prev,
			       struct list_head *next)
{
	next->prev = node;
	node->next = next;
	node->prev = prev;
	WRITE_ONCE(prev->next, node);
}
/* Puts node first. */
static inline void list_add(struct list_head *node, struct list_head *head)
{
	__list_link(node, head, head->next);
}
/* Puts node last (or, with head an element, before that element). */
static inline void list_add_tail(struct list_head *node, struct list_head *head)
{
	__list_link(node, head->prev, head);
}
/* Takes node out and leaves its links as they are: for RCU readers and immediate re-adding. */
static inline void __list_del(struct list_head *node)
{
	node->next->prev = node->prev;
	WRITE_ONCE(node->prev->next, node->next);
}
static inline void list_del(struct list_head *node)
{
	__list_del(node);
	node->next = LIST_POISON1;
	node->prev = LIST_POISON2;
}
static inline void list_del_init(struct list_head *node)
{
	__list_del(node);
	list_init(node);
}
static inline void list_replace(struct list_head *old, struct list_head *node)
{
	node->next = old->next;
	node->next->prev = node;
	node->prev = old->prev;
	node->prev->next = node;
}
static inline void list_move(struct list_head *node, struct list_head *head)
{
	__list_del(node);
	list_add(node, head);
}
static inline void list_move_tail(struct list_head *node, struct list_head *head)
{
	__list_del(node);
	list_add_tail(node, head);
}
static inline void __list_splice(struct list_head *list, struct list_head *prev,
				 struct list_head *next)
{
	struct list_head *first = list->next, *last = list->prev;

	first->prev = prev;
	prev->next = first;
	last->next = next;
	next->prev = last;
}
/*
 * Moves all of list to the front (tail: the back) of head; the plain forms leave list's head
 * undefined.
 */
static inline void list_splice(struct list_head *list, struct list_head *head)
{
	if (!list_empty(list))
		__list_splice(list, head, head->next);
}
static inline void list_splice_tail(struct list_head *list, struct list_head *head)
{
	if (!list_empty(list))
		__list_splice(list, head->prev, head);
}
static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	list_splice(list, head);
	list_init(list);
}
static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	list_splice_tail(list, head);
	list_init(list);
}
/* Moves the elements from first to (including) last out of their list to the back of head. */
static inline void list_bulk_move_tail(struct list_head *head, struct list_head *first,
				       struct list_head *last)
{
	first->prev->next = last->next;
	last->next->prev = first->prev;
	head->prev->next = first;
	first->prev = head->prev;
	last->next = head;
	head->prev = last;
}
/* Moves head's elements up to and including entry to the (empty) list. */
static inline void list_cut_position(struct list_head *list, struct list_head *head,
				     struct list_head *entry)
{
	list_init(list);
	if (!list_empty(head) && entry != head)
		list_bulk_move_tail(list, head->next, entry);
}
/* Makes entry's successor the first: turns the circle by moving the head. */
static inline void list_rotate_to_front(struct list_head *entry, struct list_head *head)
{
	list_move_tail(head, entry);
}

#define list_entry(ptr, type, member) container_of(ptr, type, member)
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) list_entry((head)->prev, type, member)
#define list_next_entry(pos, member) list_entry((pos)->member.next, __typeof__(*(pos)), member)
#define list_prev_entry(pos, member) list_entry((pos)->member.prev, __typeof__(*(pos)), member)
#define list_first_entry_or_null(head, type, member)                                               \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_last_entry_or_null(head, type, member)                                                \
	(list_empty(head) ? NULL : list_last_entry(head, type, member))
#define list_entry_is_head(pos, head, member) (&(pos)->member == (head))

#define list_for_each(pos, head) for ((pos) = (head)->next; (pos) != (head); (pos) = (pos)->next)
#define list_for_each_safe(pos, n, head)                                                           \
	for ((pos) = (head)->next, (n) = (pos)->next; (pos) != (head);                             \
	     (pos) = (n), (n) = (pos)->next)
#define list_for_each_entry(pos, head, member)                                                     \
	for ((pos) = list_first_entry(head, __typeof__(*(pos)), member);                           \
	     !list_entry_is_head(pos, head, member); (pos) = list_next_entry(pos, member))
#define list_for_each_entry_reverse(pos, head, member)                                             \
	for ((pos) = list_last_entry(head, __typeof__(*(pos)), member);                            \
	     !list_entry_is_head(pos, head, member); (pos) = list_prev_entry(pos, member))
/* The loop body may remove pos (and only pos). */
#define list_for_each_entry_safe(pos, n, head, member)                                             \
	for ((pos) = list_first_entry(head, __typeof__(*(pos)), member),                           \
	    (n) = list_next_entry(pos, member);                                                    \
	     !list_entry_is_head(pos, head, member);                                               \
	     (pos) = (n), (n) = list_next_entry(n, member))
#define list_for_each_entry_safe_reverse(pos, n, head, member)                                     \
	for ((pos) = list_last_entry(head, __typeof__(*(pos)), member),                            \
	    (n) = list_prev_entry(pos, member);                                                    \
	     !list_entry_is_head(pos, head, member);                                               \
	     (pos) = (n), (n) = list_prev_entry(n, member))
#define list_for_each_entry_continue(pos, head, member)                                            \
	for ((pos) = list_next_entry(pos, member); !list_entry_is_head(pos, head, member);         \
	     (pos) = list_next_entry(pos, member))
#define list_for_each_entry_from(pos, head, member)                                                \
	for (; !list_entry_is_head(pos, head, member); (pos) = list_next_entry(pos, member))

/*
 * RCU: add publishes a filled element; del leaves the element's own links for readers still on it.
 */
static inline void list_add_tail_rcu(struct list_head *node, struct list_head *head)
{
	struct list_head *prev = head->prev;

	node->next = head;
	node->prev = prev;
	__atomic_store_n(&prev->next, node, __ATOMIC_RELEASE);
	head->prev = node;
}
static inline void list_add_rcu(struct list_head *node, struct list_head *head)
{
	struct list_head *next = head->next;

	node->next = next;
	node->prev = head;
	__atomic_store_n(&head->next, node, __ATOMIC_RELEASE);
	next->prev = node;
}
static inline void list_del_rcu(struct list_head *node)
{
	__list_del(node);
	node->prev = LIST_POISON2;
}
#define list_for_each_entry_rcu(pos, head, member)                                                 \
	for ((pos) = list_entry(READ_ONCE((head)->next), __typeof__(*(pos)), member);              \
	     !list_entry_is_head(pos, head, member);                                               \
	     (pos) = list_entry(READ_ONCE((pos)->member.next), __typeof__(*(pos)), member))

/* True when every link of the list agrees with its neighbour; at most max elements are visited. */
static inline bool list_check(const struct list_head *head, size_t max)
{
	const struct list_head *p = head;

	do {
		if (!p->next || p->next->prev != p)
			return false;
		p = p->next;
	} while (p != head && max--);
	return p == head;
}
static inline size_t list_count(const struct list_head *head)
{
	size_t n = 0;

	for (const struct list_head *p = head->next; p != head; p = p->next)
		n++;
	return n;
}

/* Hash chains. pprev points at whatever points at the node, so removal needs no head. */
struct hlist_node {
	struct hlist_node *next, **pprev;
};
struct hlist_head {
	struct hlist_node *first;
};
#define HLIST_HEAD_INIT                                                                            \
	{                                                                                          \
		NULL                                                                               \
	}

static inline bool hlist_empty(const struct hlist_head *head)
{
	return !READ_ONCE(head->first);
}
static inline void hlist_node_init(struct hlist_node *node)
{
	node->next = NULL;
	node->pprev = NULL;
}
#define INIT_HLIST_NODE(node) hlist_node_init(node)
#define INIT_HLIST_HEAD(head) ((head)->first = NULL)
static inline bool hlist_unhashed(const struct hlist_node *node)
{
	return !node->pprev;
}
static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	struct hlist_node *first = head->first;

	node->next = first;
	if (first)
		first->pprev = &node->next;
	node->pprev = &head->first;
	__atomic_store_n(&head->first, node, __ATOMIC_RELEASE);
}
#define hlist_add_head_rcu hlist_add_head
static inline void __hlist_del(struct hlist_node *node)
{
	WRITE_ONCE(*node->pprev, node->next);
	if (node->next)
		node->next->pprev = node->pprev;
}
static inline void hlist_del(struct hlist_node *node)
{
	__hlist_del(node);
	node->next = LIST_POISON1;
	node->pprev = LIST_POISON2;
}
static inline void hlist_del_init(struct hlist_node *node)
{
	if (!hlist_unhashed(node)) {
		__hlist_del(node);
		hlist_node_init(node);
	}
}
/* => readers under RCU may still stand on node; it counts as unhashed afterwards. */
static inline void hlist_del_init_rcu(struct hlist_node *node)
{
	if (!hlist_unhashed(node)) {
		__hlist_del(node);
		node->pprev = NULL;
	}
}
#define hlist_del_rcu hlist_del_init_rcu
#define hlist_entry(ptr, type, member) container_of(ptr, type, member)
#define hlist_entry_safe(ptr, type, member)                                                        \
	({                                                                                         \
		__typeof__(ptr) _hp = (ptr);                                                       \
		_hp ? hlist_entry(_hp, type, member) : NULL;                                       \
	})
#define hlist_for_each_entry(pos, head, member)                                                    \
	for ((pos) = hlist_entry_safe(READ_ONCE((head)->first), __typeof__(*(pos)), member);       \
	     (pos);                                                                                \
	     (pos) = hlist_entry_safe(READ_ONCE((pos)->member.next), __typeof__(*(pos)), member))
#define hlist_for_each_entry_rcu hlist_for_each_entry
#define hlist_for_each_entry_safe(pos, n, head, member)                                            \
	for ((pos) = hlist_entry_safe((head)->first, __typeof__(*(pos)), member);                  \
	     (pos) && ((n) = (pos)->member.next, 1);                                               \
	     (pos) = hlist_entry_safe(n, __typeof__(*(pos)), member))

#endif
