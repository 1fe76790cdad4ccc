/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mincore.c - which pages of a range are in memory: one byte for each. A page that is mapped is,
 * also on its way to another frame; else its file's cache, or the swap cache, decides.
 */
#include "arch/uaccess.h"
#include "lib/string.h"
#include "mm/phys/page_alloc.h"
#include "mm/swap/swap.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"

struct incore {
	unsigned char *vec; /* of the walk's first address */
	unsigned long base;
};

/* A private page in a slot: there, if the swap cache has it. => pt_lock */
static void incore_swapped(struct incore *c, unsigned long addr, pte_t e)
{
	struct page *page = swapcache_find(pte_to_swp(e));

	c->vec[(addr - c->base) >> PAGE_SHIFT] = page && page_test(page, PG_uptodate);
	if (page)
		page_put(page);
}

static void incore_absent(struct incore *c, struct vma *vma, unsigned long addr)
{
	struct page *page =
		vma->mapping ? pagecache_find(vma->mapping, vma_index(vma, addr)) : NULL;

	c->vec[(addr - c->base) >> PAGE_SHIFT] = page && page_test(page, PG_uptodate);
	if (page)
		page_put(page);
}

static int incore_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct incore *c = w->arg;

	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte);

		if (pte_mapped(e) || pte_migration(e))
			c->vec[(addr - c->base) >> PAGE_SHIFT] = 1;
		else if (pte_swap(e))
			incore_swapped(c, addr, e);
		else
			incore_absent(c, w->vma, addr);
	}
	return 0;
}

static int incore_thp(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end)
{
	struct incore *c = w->arg;

	memset(c->vec + ((addr - c->base) >> PAGE_SHIFT), 1, (end - addr) >> PAGE_SHIFT);
	return 0;
}

static int incore_hole(struct pt_walk *w, unsigned long addr, unsigned long end)
{
	for (; addr < end; addr += PAGE_SIZE)
		incore_absent(w->arg, w->vma, addr);
	return 0;
}

static const struct pt_walk_ops incore_ops = { .ptes = incore_ptes,
					       .thp = incore_thp,
					       .hole = incore_hole };

/* Pages looked at, at most n, or -ENOMEM. */
static long incore_some(struct aspace *mm, unsigned long addr, unsigned long n, unsigned char *vec)
{
	struct vma *vma = vma_find(mm, addr);
	struct incore c = { .vec = vec, .base = addr };
	struct pt_walk w = { .mm = mm, .vma = vma, .arg = &c };

	if (!vma || vma->start > addr)
		return -ENOMEM;
	n = min(n, (vma->end - addr) >> PAGE_SHIFT);
	pt_walk(&w, &incore_ops, addr, addr + n * PAGE_SIZE);
	return n;
}

int vm_mincore(unsigned long addr, size_t len, unsigned char __user *vec)
{
	unsigned long pages = PFN_UP(len);
	struct aspace *mm = current->mm;
	unsigned char *buf;
	int err = 0;

	if (offset_in_page(addr))
		return -EINVAL;
	if (addr > USER_TOP || len > USER_TOP - addr)
		return -ENOMEM;
	if (!access_ok(vec, pages))
		return -EFAULT;
	buf = get_free_page(GFP_KERNEL);
	if (!buf)
		return -EAGAIN;
	while (pages && !err) {
		long n;

		down_read(&mm->lock);
		n = incore_some(mm, addr, min(pages, PAGE_SIZE), buf);
		up_read(&mm->lock);
		if (n <= 0) {
			err = n;
		} else if (copy_to_user(vec, buf, n)) {
			err = -EFAULT;
		} else {
			pages -= n;
			addr += n << PAGE_SHIFT;
			vec += n;
		}
	}
	put_free_page(buf);
	return err;
}
