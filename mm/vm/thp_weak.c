/* SPDX-License-Identifier: BSD-2-Clause */
/* thp_weak.c - stands in for parts of huge pages that are not linked yet: none is ever made. */
#include "lib/errno.h"
#include "mm/vm/thp.h"

#define WEAK __attribute__((weak))

WEAK int split_huge_page(struct page *head, int refs, bool wait)
{
	return -EBUSY;
}
WEAK void thp_split_addr(struct aspace *mm, unsigned long addr) {}
WEAK void thp_split_across(struct aspace *mm, unsigned long addr) {}
WEAK gfp_t thp_gfp(const struct vma *vma)
{
	return GFP_HIGHUSER_MOVABLE | __GFP_NORETRY | __GFP_NOWARN;
}
WEAK void khugepaged_enter(struct aspace *mm, const struct vma *vma) {}
WEAK void khugepaged_exit(struct aspace *mm) {}
WEAK int thp_collapse(struct aspace *mm, unsigned long addr)
{
	return -EINVAL;
}

WEAK u64 khugepaged_pages_collapsed, khugepaged_full_scans;
void khugepaged_start(void);
void khugepaged_all(void);
WEAK void khugepaged_start(void) {}
WEAK void khugepaged_all(void) {}
