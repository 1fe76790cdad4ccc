/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sort.c - heap sort for arrays, bottom-up merge sort for lists. Neither allocates or recurses,
 * both have a guaranteed O(n log n): no input of a program can make the kernel slow.
 */
#include "lib/sort.h"

static void swap_bytes(u8 *a, u8 *b, size_t size)
{
	while (size >= 8) {
		u64 t;

		__builtin_memcpy(&t, a, 8);
		__builtin_memcpy(a, b, 8);
		__builtin_memcpy(b, &t, 8);
		a += 8;
		b += 8;
		size -= 8;
	}
	while (size--) {
		u8 t = *a;

		*a++ = *b;
		*b++ = t;
	}
}

/* Lets element i sink to its place in the heap of n elements. */
static void sink(u8 *base, size_t i, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			return;
		if (child + 1 < n && cmp(base + child * size, base + (child + 1) * size) < 0)
			child++;
		if (cmp(base + i * size, base + child * size) >= 0)
			return;
		swap_bytes(base + i * size, base + child * size, size);
		i = child;
	}
}

void sort(void *base, size_t n, size_t size, int (*cmp)(const void *a, const void *b))
{
	for (size_t i = n / 2; i-- > 0;)
		sink(base, i, n, size, cmp);
	while (n-- > 1) {
		swap_bytes(base, (u8 *)base + n * size, size);
		sink(base, 0, n, size, cmp);
	}
}

/* Merges two NULL-terminated chains (next links only); on equal keys a comes first. */
static struct list_head *merge(struct list_head *a, struct list_head *b,
			       int (*cmp)(const struct list_head *, const struct list_head *))
{
	struct list_head *first = NULL, **tail = &first;

	while (a && b) {
		struct list_head **from = cmp(a, b) <= 0 ? &a : &b;

		*tail = *from;
		tail = &(*from)->next;
		*from = (*from)->next;
	}
	*tail = a ? a : b;
	return first;
}

/* part[k] is empty or a sorted chain of 2^k elements: a binary counter of chains. */
void list_sort(struct list_head *head,
	       int (*cmp)(const struct list_head *a, const struct list_head *b))
{
	struct list_head *part[48] = { NULL }, *rest = head->next, *all = NULL, *prev = head;
	size_t k;

	head->prev->next = NULL;
	if (rest == head)
		rest = NULL;
	while (rest) {
		struct list_head *one = rest;

		rest = rest->next;
		one->next = NULL;
		for (k = 0; part[k]; k++) {
			one = merge(part[k], one, cmp);
			part[k] = NULL;
		}
		part[k] = one;
	}
	for (k = 0; k < ARRAY_SIZE(part); k++)
		if (part[k])
			all = all ? merge(part[k], all, cmp) : part[k];
	for (; all; all = all->next) {
		prev->next = all;
		all->prev = prev;
		prev = all;
	}
	prev->next = head;
	head->prev = prev;
}

void *bsearch(const void *key, const void *base, size_t n, size_t size,
	      int (*cmp)(const void *key, const void *element))
{
	const u8 *lo = base;

	while (n) {
		const u8 *mid = lo + n / 2 * size;
		int c = cmp(key, mid);

		if (!c)
			return (void *)mid;
		if (c > 0) {
			lo = mid + size;
			n--;
		}
		n /= 2;
	}
	return NULL;
}
