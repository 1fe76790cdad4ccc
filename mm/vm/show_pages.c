/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show_pages.c - where the pages of a program lie: /proc/PID/numa_maps and pagemap, as Linux 6.1
 * has them. A huge page counts as its 512.
 */
#include "kernel/show.h"
#include "lib/string.h"
#include "mm/phys/zone.h"
#include "mm/vm/anon_shared.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"

struct numa_maps {
	unsigned long anon, dirty, mapped, mapmax, active, writeback, swapcache, pages,
		node[MAX_NODES];
};

static void numa_page(struct numa_maps *n, const struct page *page, pte_t e, unsigned long pages)
{
	n->pages += pages;
	n->anon += page_test(page, PG_anon) ? pages : 0;
	n->dirty += pte_dirty(e) || page_test(page, PG_dirty) ? pages : 0;
	n->active += page_test(page, PG_active) || page_test(page, PG_unevictable) ? pages : 0;
	n->writeback += page_test(page, PG_writeback) ? pages : 0;
	n->swapcache += page_test(page, PG_swapcache) ? pages : 0;
	n->mapmax = max(n->mapmax, (unsigned long)page_mapcount(page));
	n->node[page_node(page)] += pages;
}

/* A page on its way lies where it comes from, until it is there. */
static int numa_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte);

		if ((pte_mapped(e) && !pte_special(e)) || pte_migration(e))
			numa_page(w->arg, pfn_to_page(pte_pfn(e)), e, 1);
	}
	return 0;
}

static int numa_thp(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end)
{
	pte_t e = pte_read(pmd);

	numa_page(w->arg, pfn_to_page(pte_pfn(e)), e, (end - addr) >> PAGE_SHIFT);
	return 0;
}

static const struct pt_walk_ops numa_ops = { .ptes = numa_ptes, .thp = numa_thp };

/* Words of the line are separated by spaces. */
static void escaped(struct seq *seq, const char *text)
{
	for (; *text; text++)
		if (strchr(" =\t\n\\", *text))
			seq_printf(seq, "\\%03o", (unsigned int)*text);
		else
			seq_putc(seq, *text);
}

static void numa_line(struct seq *seq, struct vma *vma, struct mempolicy *policy)
{
	struct numa_maps n = { 0 };
	struct pt_walk w = { .mm = vma->mm, .vma = vma, .arg = &n };
	const char *name = vma_name(vma);
	char text[256] = "";
	dev_t dev;
	u64 ino;

	mpol_text(vma->policy ? vma->policy : policy, text, sizeof(text));
	seq_printf(seq, "%08lx %s", vma->start, text);
	if (vma->file && vm_file_ops->describe) {
		vm_file_ops->describe(vma->file, text, sizeof(text), &dev, &ino);
		seq_puts(seq, " file=");
		escaped(seq, text);
	} else if (vma_is_anon_shared(vma)) {
		seq_puts(seq, " file=");
		escaped(seq, name);
	} else if (name && !strcmp(name, "[heap]")) {
		seq_puts(seq, " heap");
	} else if (vma->flags & VM_GROWSDOWN) {
		seq_puts(seq, " stack");
	}
	pt_walk(&w, &numa_ops, vma->start, vma->end);
	if (n.pages) {
		if (n.anon)
			seq_printf(seq, " anon=%lu", n.anon);
		if (n.dirty)
			seq_printf(seq, " dirty=%lu", n.dirty);
		if (n.pages != n.anon && n.pages != n.dirty)
			seq_printf(seq, " mapped=%lu", n.pages);
		if (n.mapmax > 1)
			seq_printf(seq, " mapmax=%lu", n.mapmax);
		if (n.swapcache)
			seq_printf(seq, " swapcache=%lu", n.swapcache);
		if (n.active < n.pages)
			seq_printf(seq, " active=%lu", n.active);
		if (n.writeback)
			seq_printf(seq, " writeback=%lu", n.writeback);
		for (int i = 0; i < nr_nodes; i++)
			if (n.node[i])
				seq_printf(seq, " N%d=%lu", i, n.node[i]);
		seq_printf(seq, " kernelpagesize_kB=%lu", PAGE_SIZE >> 10);
	}
	seq_putc(seq, '\n');
}

int vm_show_numa_maps(struct seq *seq, struct aspace *mm, struct mempolicy *policy)
{
	struct vma *vma;

	down_read(&mm->lock);
	list_for_each_entry(vma, &mm->vma_list, list)
		numa_line(seq, vma, policy);
	up_read(&mm->lock);
	return 0;
}

/* /proc/PID/pagemap: one u64 per page from byte position pos (a multiple of 8). */
#define PM_TYPE_BITS 5 /* of a swap entry: the area's number, then the slot */
#define PM_TYPE_MASK ((1ul << PM_TYPE_BITS) - 1)
#define PM_EXCLUSIVE BIT(56)
#define PM_FILE BIT(61)
#define PM_SWAP BIT(62)
#define PM_PRESENT BIT(63)
#define PM_PFN_MASK ((1ul << 55) - 1)

struct pagemap {
	u64 *out;
	unsigned long base;
};

static u64 present_entry(const struct page *page, unsigned long pfn)
{
	return PM_PRESENT | (pfn & PM_PFN_MASK) | (page_test(page, PG_anon) ? 0 : PM_FILE) |
	       (page_mapcount(page) == 1 ? PM_EXCLUSIVE : 0);
}

static u64 pagemap_entry(pte_t e)
{
	if (pte_mapped(e))
		return pte_special(e) ? PM_PRESENT | (pte_pfn(e) & PM_PFN_MASK)
				      : present_entry(pfn_to_page(pte_pfn(e)), pte_pfn(e));
	if (pte_swap(e))
		return PM_SWAP | ((e.v >> 2) & PM_TYPE_MASK) |
		       ((e.v & PTE_PFN_MASK) >> PAGE_SHIFT << PM_TYPE_BITS);
	if (pte_migration(e)) /* the frame it leaves, in an area that cannot be */
		return PM_SWAP | PM_TYPE_MASK | (pte_pfn(e) << PM_TYPE_BITS & PM_PFN_MASK) |
		       (page_test(pfn_to_page(pte_pfn(e)), PG_anon) ? 0 : PM_FILE);
	return 0;
}

static int pagemap_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct pagemap *p = w->arg;

	for (; addr < end; addr += PAGE_SIZE, pte++)
		p->out[(addr - p->base) >> PAGE_SHIFT] = pagemap_entry(pte_read(pte));
	return 0;
}

static int pagemap_thp(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end)
{
	struct pagemap *p = w->arg;
	unsigned long pfn = pte_pfn(pte_read(pmd));
	const struct page *head = pfn_to_page(pfn);

	for (; addr < end; addr += PAGE_SIZE)
		p->out[(addr - p->base) >> PAGE_SHIFT] =
			present_entry(head, pfn + ((addr & ~HPAGE_MASK) >> PAGE_SHIFT));
	return 0;
}

static const struct pt_walk_ops pagemap_ops = { .ptes = pagemap_ptes, .thp = pagemap_thp };

size_t vm_read_pagemap(struct aspace *mm, u64 pos, u64 *out, size_t entries)
{
	unsigned long first = pos / sizeof(u64), top = USER_TOP >> PAGE_SHIFT;
	struct pagemap p = { .out = out, .base = first << PAGE_SHIFT };
	struct pt_walk w = { .mm = mm, .arg = &p };

	if (first >= top)
		return 0;
	entries = min(entries, top - first);
	memset(out, 0, entries * sizeof(u64));
	down_read(&mm->lock);
	pt_walk(&w, &pagemap_ops, p.base, p.base + (entries << PAGE_SHIFT));
	up_read(&mm->lock);
	return entries;
}
