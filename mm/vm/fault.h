/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.h - between the files of faults: birth of anonymous pages, pages of files, first writes to
 * shared ones.
 */
#ifndef MM_VM_FAULT_H
#define MM_VM_FAULT_H

#include "arch/mmu.h"
#include "mm/cache/mapping.h"

struct anon_vma;
struct aspace;
struct vma;
/*
 * A page nobody has seen becomes an anonymous page of vma, mapped once. => anon_vma prepared;
 * before the entry is set
 */
void page_set_new_anon(struct page *page, struct vma *vma, unsigned long addr);
/* Then, still before the entry is set: counters, LRU. => no lock; not for a huge page */
void page_account_new_anon(struct page *page, struct vma *vma);
/* It was not needed after all: back to the allocator. */
void page_unset_new_anon(struct page *page, struct vma *vma);
/* filefault.c: the entry at addr is empty, vma maps a file. 0, -ENOMEM, -EIO. => mm->lock shared */
int file_fault(struct vma *vma, unsigned long addr, pte_t *pte, unsigned int flags);
/*
 * A page of a shared mapping is about to become writable. The owner agrees (0; the page is dirty)
 * or not (-errno). Between begin and end the entry is set, under pt_lock, and then the page is
 * told so (file_page_written, still under it).
 * => truncate_lock shared
 */
int file_page_mkwrite_begin(struct mapping *m, struct page *page);
void file_page_mkwrite_end(struct mapping *m, struct page *page);
static __always_inline void file_page_written(struct page *page)
{
	/*
	 * A flusher may have cleaned the page since it became dirty, and looked for writable
	 * entries before there was ours. He clears PG_dirty first: so we see it here.
	 */
	if (unlikely(!page_test(page, PG_dirty)))
		pagecache_set_dirty(page);
}
/*
 * One entry of page went out of mm (mapcount already lowered; last: it was the last one): counters,
 * references. av: the page's anon_vma, read while it was still mapped: a page that has names in
 * swap may be mapped anew at once, and then has another.
 */
void page_mapping_gone(struct aspace *mm, struct page *page, struct anon_vma *av, int last);
/*
 * The first entry of an anonymous page that comes back from swap is about to be set; else one more.
 * => page locked, pt_lock; anon_vma of vma prepared
 */
void page_map_again(struct page *page, struct vma *vma, unsigned long addr, int alone);

#endif
