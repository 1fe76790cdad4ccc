/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show_maps.c - /proc/PID/maps, smaps, smaps_rollup, numa_maps: bytes as Linux 6.1 prints them.
 *
 * PSS: a page that n processes map counts 1/n in each. The sum is kept with 12 fraction bits.
 */
#include "kernel/show.h"
#include "lib/string.h"
#include "mm/phys/zone.h"
#include "mm/swap/swap.h"
#include "mm/vm/anon_shared.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"

#define NAME_COLUMN 73
#define PSS_SHIFT 12

static void pad_to(struct seq *seq, size_t line_start, size_t column)
{
	do
		seq_putc(seq, ' ');
	while (seq->count - line_start < column);
}

static const char *vma_name(struct vma *vma)
{
	struct aspace *mm = vma->mm;

	if (vma->name)
		return vma->name;
	if (!vma->file && vma->start <= mm->brk && vma->end >= mm->brk_start && mm->brk_start &&
	    !vma->mapping && mm->brk != mm->brk_start)
		return "[heap]";
	if (vma_is_anon_shared(vma))
		return "/dev/zero (deleted)";
	return NULL;
}

static void show_header(struct seq *seq, struct vma *vma)
{
	size_t line = seq->count;
	unsigned long f = vma->flags;
	const char *name = vma_name(vma);
	char path[256] = "";
	dev_t dev = 0;
	u64 ino = 0;

	if (vma->file && vm_file_ops->describe)
		vm_file_ops->describe(vma->file, path, sizeof(path), &dev, &ino);
	seq_printf(seq, "%08lx-%08lx %c%c%c%c %08llx %02x:%02x %llu", vma->start, vma->end,
		   f & VM_READ ? 'r' : '-', f & VM_WRITE ? 'w' : '-', f & VM_EXEC ? 'x' : '-',
		   f & VM_MAYSHARE ? 's' : 'p',
		   vma->mapping ? (unsigned long long)vma->pgoff << PAGE_SHIFT : 0ull,
		   (unsigned int)(dev >> 20), (unsigned int)(dev & 0xfffff),
		   (unsigned long long)ino);
	if (vma->file && path[0])
		name = path;
	if (name) {
		pad_to(seq, line, NAME_COLUMN);
		seq_puts(seq, name);
	} else {
		seq_putc(seq, ' ');
	}
	seq_putc(seq, '\n');
}

int vm_show_maps(struct seq *seq, struct aspace *mm)
{
	struct vma *vma;

	down_read(&mm->lock);
	list_for_each_entry(vma, &mm->vma_list, list)
		show_header(seq, vma);
	up_read(&mm->lock);
	return 0;
}

struct smaps {
	u64 rss, shared_clean, shared_dirty, private_clean, private_dirty, referenced, anonymous,
		swap, locked;
	u64 swap_pss, pss, pss_dirty, pss_anon, pss_file, pss_shmem, pss_locked; /* << PSS_SHIFT */
};

static void smaps_page(struct smaps *s, const struct vma *vma, struct page *page, pte_t e)
{
	int maps = max(page_mapcount(page), 1);
	bool dirty = pte_dirty(e) || page_test(page, PG_dirty), anon = page_test(page, PG_anon);
	u64 pss = (PAGE_SIZE << PSS_SHIFT) / maps;

	s->rss += PAGE_SIZE;
	if (anon)
		s->anonymous += PAGE_SIZE;
	if (pte_young(e) || page_test(page, PG_referenced))
		s->referenced += PAGE_SIZE;
	s->pss += pss;
	if (anon)
		s->pss_anon += pss;
	else if (page_test(page, PG_swapbacked))
		s->pss_shmem += pss;
	else
		s->pss_file += pss;
	if (vma->flags & VM_LOCKED)
		s->pss_locked += pss;
	if (dirty)
		s->pss_dirty += pss;
	if (maps >= 2)
		*(dirty ? &s->shared_dirty : &s->shared_clean) += PAGE_SIZE;
	else
		*(dirty ? &s->private_dirty : &s->private_clean) += PAGE_SIZE;
}

static void smaps_swap(struct smaps *s, pte_t e)
{
	int names = max(swap_count(pte_to_swp(e)), 1);

	s->swap += PAGE_SIZE;
	s->swap_pss += (PAGE_SIZE << PSS_SHIFT) / names;
}

static int smaps_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte);

		if (pte_mapped(e) && !pte_special(e))
			smaps_page(w->arg, w->vma, pfn_to_page(pte_pfn(e)), e);
		else if (pte_swap(e))
			smaps_swap(w->arg, e);
	}
	return 0;
}

static const struct pt_walk_ops smaps_ops = { .ptes = smaps_ptes };

static void smaps_gather(struct smaps *s, struct vma *vma)
{
	struct pt_walk w = { .mm = vma->mm, .vma = vma, .arg = s };

	pt_walk(&w, &smaps_ops, vma->start, vma->end);
}

static void line(struct seq *seq, const char *label, u64 bytes)
{
	seq_printf(seq, "%-16s%8llu kB\n", label, (unsigned long long)(bytes >> 10));
}

static void smaps_lines(struct seq *seq, const struct smaps *s, bool rollup)
{
	line(seq, "Rss:", s->rss);
	line(seq, "Pss:", s->pss >> PSS_SHIFT);
	line(seq, "Pss_Dirty:", s->pss_dirty >> PSS_SHIFT);
	if (rollup) {
		line(seq, "Pss_Anon:", s->pss_anon >> PSS_SHIFT);
		line(seq, "Pss_File:", s->pss_file >> PSS_SHIFT);
		line(seq, "Pss_Shmem:", s->pss_shmem >> PSS_SHIFT);
	}
	line(seq, "Shared_Clean:", s->shared_clean);
	line(seq, "Shared_Dirty:", s->shared_dirty);
	line(seq, "Private_Clean:", s->private_clean);
	line(seq, "Private_Dirty:", s->private_dirty);
	line(seq, "Referenced:", s->referenced);
	line(seq, "Anonymous:", s->anonymous);
	line(seq, "LazyFree:", 0);
	line(seq, "AnonHugePages:", 0);
	line(seq, "ShmemPmdMapped:", 0);
	line(seq, "FilePmdMapped:", 0);
	line(seq, "Shared_Hugetlb:", 0);
	line(seq, "Private_Hugetlb:", 0);
	line(seq, "Swap:", s->swap);
	line(seq, "SwapPss:", s->swap_pss >> PSS_SHIFT);
	line(seq, "Locked:", s->pss_locked >> PSS_SHIFT);
}

static void show_vm_flags(struct seq *seq, unsigned long flags)
{
	static const struct {
		unsigned long flag;
		char name[3];
	} names[] = {
		{ VM_READ, "rd" },	  { VM_WRITE, "wr" },	  { VM_EXEC, "ex" },
		{ VM_SHARED, "sh" },	  { VM_MAYREAD, "mr" },	  { VM_MAYWRITE, "mw" },
		{ VM_MAYEXEC, "me" },	  { VM_MAYSHARE, "ms" },  { VM_GROWSDOWN, "gd" },
		{ VM_PFNMAP, "pf" },	  { VM_LOCKED, "lo" },	  { VM_SEQ_READ, "sr" },
		{ VM_RAND_READ, "rr" },	  { VM_DONTCOPY, "dc" },  { VM_DONTEXPAND, "de" },
		{ VM_LOCKONFAULT, "lf" }, { VM_ACCOUNT, "ac" },	  { VM_NORESERVE, "nr" },
		{ VM_WIPEONFORK, "wf" },  { VM_DONTDUMP, "dd" },  { VM_HUGEPAGE, "hg" },
		{ VM_NOHUGEPAGE, "nh" },  { VM_MERGEABLE, "mg" },
	};

	seq_puts(seq, "VmFlags: ");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & names[i].flag)
			seq_printf(seq, "%s ", names[i].name);
	seq_putc(seq, '\n');
}

int vm_show_smaps(struct seq *seq, struct aspace *mm)
{
	struct vma *vma;

	down_read(&mm->lock);
	list_for_each_entry(vma, &mm->vma_list, list) {
		struct smaps s = { 0 };

		smaps_gather(&s, vma);
		show_header(seq, vma);
		line(seq, "Size:", vma->end - vma->start);
		line(seq, "KernelPageSize:", PAGE_SIZE);
		line(seq, "MMUPageSize:", PAGE_SIZE);
		smaps_lines(seq, &s, false);
		seq_printf(seq, "THPeligible:    %d\n", 0);
		show_vm_flags(seq, vma->flags);
	}
	up_read(&mm->lock);
	return 0;
}

int vm_show_smaps_rollup(struct seq *seq, struct aspace *mm)
{
	size_t start = seq->count;
	struct smaps s = { 0 };
	struct vma *vma;

	down_read(&mm->lock);
	if (list_empty(&mm->vma_list)) {
		up_read(&mm->lock);
		return 0;
	}
	list_for_each_entry(vma, &mm->vma_list, list)
		smaps_gather(&s, vma);
	seq_printf(seq, "%08lx-%08lx ---p 00000000 00:00 0",
		   list_first_entry(&mm->vma_list, struct vma, list)->start,
		   list_last_entry(&mm->vma_list, struct vma, list)->end);
	up_read(&mm->lock);
	pad_to(seq, start, NAME_COLUMN);
	seq_puts(seq, "[rollup]\n");
	smaps_lines(seq, &s, true);
	return 0;
}

struct numa_maps {
	unsigned long anon, dirty, mapped, mapmax, active, writeback, swapcache, pages,
		node[MAX_NODES];
};

static int numa_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct numa_maps *n = w->arg;

	for (; addr < end; addr += PAGE_SIZE, pte++) {
		pte_t e = pte_read(pte);
		struct page *page;

		if (!pte_mapped(e) || pte_special(e))
			continue;
		page = pfn_to_page(pte_pfn(e));
		n->pages++;
		n->anon += page_test(page, PG_anon);
		n->dirty += pte_dirty(e) || page_test(page, PG_dirty);
		n->active += page_test(page, PG_active) || page_test(page, PG_unevictable);
		n->writeback += page_test(page, PG_writeback);
		n->swapcache += page_test(page, PG_swapcache);
		n->mapmax = max(n->mapmax, (unsigned long)page_mapcount(page));
		n->node[page_node(page)]++;
	}
	return 0;
}

static const struct pt_walk_ops numa_ops = { .ptes = numa_ptes };

static void numa_line(struct seq *seq, struct vma *vma)
{
	struct numa_maps n = { 0 };
	struct pt_walk w = { .mm = vma->mm, .vma = vma, .arg = &n };
	const char *name = vma_name(vma);
	char text[256] = "";
	dev_t dev;
	u64 ino;

	mpol_text(vma->policy ? vma->policy : current->mempolicy, text, sizeof(text));
	seq_printf(seq, "%08lx %s", vma->start, text);
	if (vma->file && vm_file_ops->describe) {
		vm_file_ops->describe(vma->file, text, sizeof(text), &dev, &ino);
		seq_printf(seq, " file=%s", text);
	} else if (vma_is_anon_shared(vma)) {
		seq_printf(seq, " file=%s", name);
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

int vm_show_numa_maps(struct seq *seq, struct aspace *mm)
{
	struct vma *vma;

	down_read(&mm->lock);
	list_for_each_entry(vma, &mm->vma_list, list)
		numa_line(seq, vma);
	up_read(&mm->lock);
	return 0;
}

/* /proc/PID/pagemap: one u64 per page from byte position pos (a multiple of 8). */
#define PM_EXCLUSIVE BIT(56)
#define PM_FILE BIT(61)
#define PM_SWAP BIT(62)
#define PM_PRESENT BIT(63)
#define PM_PFN_MASK ((1ul << 55) - 1)

struct pagemap {
	u64 *out;
	unsigned long base;
};

static int pagemap_ptes(struct pt_walk *w, pte_t *pte, unsigned long addr, unsigned long end)
{
	struct pagemap *p = w->arg;

	for (; addr < end; addr += PAGE_SIZE, pte++) {
		u64 *out = p->out + ((addr - p->base) >> PAGE_SHIFT);
		pte_t e = pte_read(pte);

		if (pte_mapped(e)) {
			struct page *page = pfn_to_page(pte_pfn(e));

			*out = PM_PRESENT | (pte_pfn(e) & PM_PFN_MASK);
			if (pte_special(e))
				continue;
			if (!page_test(page, PG_anon))
				*out |= PM_FILE;
			if (page_mapcount(page) == 1)
				*out |= PM_EXCLUSIVE;
		} else if (pte_swap(e)) {
			*out = PM_SWAP | ((e.v >> 2) & 31) |
			       ((e.v & PTE_PFN_MASK) >> PAGE_SHIFT << 5);
		}
	}
	return 0;
}

static const struct pt_walk_ops pagemap_ops = { .ptes = pagemap_ptes };

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
