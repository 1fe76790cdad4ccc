/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sort.h - sorting in place (heap sort, no extra memory, O(n log n) always) and of lists (stable
 * merge sort).
 */
#ifndef LIB_SORT_H
#define LIB_SORT_H

#include "lib/list.h"
#include "lib/types.h"

/*
 * cmp(a, b) < 0 when a comes first. Not stable: make cmp total where the order must be repeatable.
 */
void sort(void *base, size_t n, size_t size, int (*cmp)(const void *a, const void *b));
void list_sort(struct list_head *head,
	       int (*cmp)(const struct list_head *a, const struct list_head *b));
/* => pointer to an element with cmp(key, element) == 0, or NULL. */
void *bsearch(const void *key, const void *base, size_t n, size_t size,
	      int (*cmp)(const void *key, const void *element));

#endif
