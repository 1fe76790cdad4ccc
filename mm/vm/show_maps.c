/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show_maps.c - /proc/PID/maps, smaps, smaps_rollup: bytes as Linux 6.1 prints them.
 *
 * PSS: a page that n processes map counts 1/n in each. The sum is kept with 12 fraction bits. A
 * page on its way to another frame is resident, and counts as this program's alone: who else maps
 * it is not known then.
 */
#include "kernel/show.h"
#include "lib/string.h"
#include "mm/phys/zone.h"
#include "mm/swap/swap.h"
#include "mm/vm/anon_shared.h"
#include "mm/vm/internal.h"
#include "mm/vm/ptwalk.h"
#include "mm/vm/thp.h"

#define NAME_COLUMN 73
#define PSS_SHIFT 12

static void pad_to(struct seq *seq, size_t line_start, size_t column)
{
	do
		seq_putc(seq, ' ');
	while (seq->count - line_start < column);
}

const char *vma_name(struct vma *vma)
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
		huge, swap;
	u64 swap_pss, pss, pss_dirty, pss_anon, pss_file, pss_shmem, pss_locked; /* << PSS_SHIFT */
};

/* page: of any size; bytes of it are mapped by the entry e */
static void smaps_page(struct smaps *s, const struct vma *vma, struct page *page, pte_t e,
		       unsigned long bytes)
{
	int maps = pte_migration(e) ? 1 : max(page_mapcount(page), 1);
	bool dirty = pte_dirty(e) || page_test(page, PG_dirty), anon = page_test(page, PG_anon);
	u64 pss = (bytes << PSS_SHIFT) / maps;

	s->rss += bytes;
	if (anon)
		s->anonymous += bytes;
	if (pte_young(e) || page_test(page, PG_referenced))
		s->referenced += bytes;
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
		*(dirty ? &s->shared_dirty : &s->shared_clean) += bytes;
	else
		*(dirty ? &s->private_dirty : &s->private_clean) += bytes;
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

		if ((pte_mapped(e) && !pte_special(e)) || pte_migration(e))
			smaps_page(w->arg, w->vma, pfn_to_page(pte_pfn(e)), e, PAGE_SIZE);
		else if (pte_swap(e))
			smaps_swap(w->arg, e);
	}
	return 0;
}

static int smaps_thp(struct pt_walk *w, pte_t *pmd, unsigned long addr, unsigned long end)
{
	struct smaps *s = w->arg;
	pte_t e = pte_read(pmd);

	smaps_page(s, w->vma, pfn_to_page(pte_pfn(e)), e, end - addr);
	s->huge += end - addr;
	return 0;
}

static const struct pt_walk_ops smaps_ops = { .ptes = smaps_ptes, .thp = smaps_thp };

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
	line(seq, "AnonHugePages:", s->huge);
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

/* May the last aligned 2 MiB of the VMA be a huge page? (The first ones may then, too.) */
static int may_have_thp(const struct vma *vma)
{
	return vma->end - vma->start >= HPAGE_SIZE &&
	       thp_eligible(vma, (vma->end - HPAGE_SIZE) & HPAGE_MASK);
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
		seq_printf(seq, "THPeligible:    %d\n", may_have_thp(vma));
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
