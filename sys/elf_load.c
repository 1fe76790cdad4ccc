// SPDX-License-Identifier: BSD-2-Clause
/*
 * elf_load.c - from a checked list of segments (lib/elf.h) to mappings.
 *
 * Each PT_LOAD becomes a private file mapping of its whole pages, a zeroed tail in the last file
 * page, and anonymous pages for the rest of memsz. ET_EXEC goes where it was linked, a
 * position-independent program to PIE_BASE, an interpreter to where mmap finds room. Addresses are
 * fixed on purpose (no ASLR): experiments must repeat.
 */
#include "arch/uaccess.h"
#include "kernel/printk.h"
#include "mm/kmem/slab.h"
#include "sys/exec.h"
#include "sys/process.h"

#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_PRIVATE 0x02
#define MAP_FIXED 0x10
#define MAP_ANONYMOUS 0x20
#define MAP_NORESERVE 0x4000

int elf_read(struct file *file, const u8 *head, size_t head_len, struct elf_image *image)
{
	u64 size = file->inode->mapping ? READ_ONCE(file->inode->mapping->size) : 0, phoff;
	long n = elf_check_header(head, head_len, size, &phoff);
	void *phdrs;
	int err;

	if (n < 0)
		return n;
	if (phoff + n <= head_len) /* the usual place: right after the header */
		return elf_parse(head, head_len, head + phoff, n, size, USER_TOP, image);
	phdrs = kmalloc(n, GFP_KERNEL);
	if (!phdrs)
		return -ENOMEM;
	err = vfs_read_kernel(file, phdrs, n, phoff);
	if (err == n)
		err = elf_parse(head, head_len, phdrs, n, size, USER_TOP, image);
	else if (err >= 0)
		err = -ENOEXEC;
	kfree(phdrs);
	return err;
}

int elf_interp_path(struct exec_elf *elf, char *buf, size_t n)
{
	u64 len = elf->image.interp_size;
	ssize_t got;

	if (len < 2 || len > n)
		return -ENOEXEC;
	got = vfs_read_kernel(elf->file, buf, len, elf->image.interp_offset);
	if (got < 0)
		return got;
	return (u64)got == len && !buf[len - 1] ? 0 : -ENOEXEC;
}

static int prot_of(u32 flags)
{
	return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) |
	       (flags & PF_X ? PROT_EXEC : 0);
}

static int map_anonymous(unsigned long start, unsigned long end, int prot)
{
	long ret;

	if (start >= end)
		return 0;
	ret = vm_mmap(NULL, NULL, start, end - start, prot, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS,
		      0);
	return ret < 0 ? ret : 0;
}

/* mapped_end: end of what the segments before cover. */
static int map_segment(struct file *file, struct mapping *mapping, const struct elf_segment *s,
		       unsigned long bias, unsigned long mapped_end)
{
	unsigned long vaddr = s->vaddr + bias, start = ALIGN_DOWN(vaddr, PAGE_SIZE);
	unsigned long file_end = vaddr + s->filesz, end = ALIGN_UP(vaddr + s->memsz, PAGE_SIZE);
	unsigned long bss = ALIGN_UP(file_end, PAGE_SIZE);
	int prot = prot_of(s->flags);

	if (s->filesz) {
		long ret = vm_mmap(file, mapping, start, file_end - start, prot,
				   MAP_PRIVATE | MAP_FIXED, ALIGN_DOWN(s->offset, PAGE_SIZE));

		if (ret < 0)
			return ret;
	} else {
		bss = max(start, mapped_end);
	}
	if (s->memsz > s->filesz && s->filesz && bss > file_end && (prot & PROT_WRITE) &&
	    clear_user((void __user *)file_end, bss - file_end))
		return -EFAULT;
	return map_anonymous(bss, end, prot);
}

/* A free range for a position-independent image, by letting mmap choose one. */
static long choose_base(const struct elf_image *image, bool interpreter)
{
	unsigned long span = image->end - image->start, align = image->align;
	long at;

	if (!interpreter)
		return ALIGN_UP(PIE_BASE, align);
	at = vm_mmap(NULL, NULL, 0, span + (align > PAGE_SIZE ? align : 0), 0,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, 0);
	if (at < 0)
		return at;
	vm_munmap(at, span + (align > PAGE_SIZE ? align : 0));
	return ALIGN_UP((unsigned long)at, align);
}

int elf_map(struct exec_elf *elf, bool interpreter)
{
	const struct elf_image *image = &elf->image;
	struct mapping *mapping = elf->file->inode->mapping;
	unsigned long mapped_end = 0;

	if (elf->file->ops->mmap) {
		mapping = elf->file->ops->mmap(elf->file, VM_READ | VM_EXEC);
		if (IS_ERR(mapping))
			return PTR_ERR(mapping);
	}
	elf->bias = 0;
	if (image->type == ET_DYN) {
		long base = choose_base(image, interpreter);

		if (base < 0)
			return base;
		elf->bias = base - image->start;
	}
	for (u32 i = 0; i < image->nr_segments; i++) {
		const struct elf_segment *s = &image->segments[i];
		int err = map_segment(elf->file, mapping, s, elf->bias, mapped_end);

		if (err)
			return err;
		mapped_end = ALIGN_UP(s->vaddr + s->memsz + elf->bias, PAGE_SIZE);
	}
	return 0;
}
