/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.h - between fault.c and cow.c: birth of anonymous pages, first writes to shared file pages.
 */
#ifndef MM_VM_FAULT_H
#define MM_VM_FAULT_H

struct aspace;
struct mapping;
struct page;
struct vma;
/*
 * A page nobody has seen becomes an anonymous page of vma, mapped once. => anon_vma prepared;
 * before the entry is set
 */
void page_set_new_anon(struct page *page, struct vma *vma, unsigned long addr);
/* Then, still before the entry is set: counters, LRU. => no lock */
void page_account_new_anon(struct page *page, struct vma *vma);
/* It was not needed after all: back to the allocator. */
void page_unset_new_anon(struct page *page, struct vma *vma);
/* The owner agrees (0) or not (-errno); the page becomes dirty. => truncate_lock shared */
int file_page_mkwrite(struct mapping *m, struct page *page);
/*
 * One entry of page went out of mm (mapcount already lowered; last: it was the last one): counters,
 * references.
 */
void page_mapping_gone(struct aspace *mm, struct page *page, int last);

#endif
