/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf.c - checks ELF-64 files of unknown origin. Pure: bytes in, checked numbers out; every sum is
 * tested for overflow before it is used, every place in the file against the file's size.
 */
#include "lib/elf.h"
#include "lib/errno.h"
#include "lib/string.h"

#define ELF_PAGE 4096ull

long elf_check_header(const void *head, size_t head_len, u64 file_size, u64 *phoff)
{
	struct elf64_ehdr eh;
	u64 bytes;

	if (head_len < sizeof(eh) || file_size < sizeof(eh))
		return -ENOEXEC;
	memcpy(&eh, head, sizeof(eh));
	if (memcmp(eh.e_ident, ELF_MAGIC, 4) || eh.e_ident[4] != 2 || eh.e_ident[5] != 1 ||
	    eh.e_ident[6] != 1)
		return -ENOEXEC;
	if (eh.e_machine != EM_X86_64 || (eh.e_type != ET_EXEC && eh.e_type != ET_DYN))
		return -ENOEXEC;
	if (eh.e_phentsize != sizeof(struct elf64_phdr) || !eh.e_phnum ||
	    eh.e_phnum > ELF_MAX_PHDRS)
		return -ENOEXEC;
	bytes = (u64)eh.e_phnum * sizeof(struct elf64_phdr);
	if (eh.e_phoff > file_size || bytes > file_size - eh.e_phoff)
		return -ENOEXEC;
	*phoff = eh.e_phoff;
	return bytes;
}

static int add_segment(struct elf_image *im, const struct elf64_phdr *ph, u64 file_size, u64 limit)
{
	struct elf_segment *prev = im->nr_segments ? &im->segments[im->nr_segments - 1] : NULL;
	u64 align = max(ph->p_align, ELF_PAGE);
	u64 end;

	if (ph->p_filesz > ph->p_memsz || ph->p_offset > file_size ||
	    ph->p_filesz > file_size - ph->p_offset)
		return -ENOEXEC;
	if (!ph->p_memsz)
		return 0;
	if (align & (align - 1))
		return -ENOEXEC;
	/*
	 * Only the page-wise congruence matters for mapping; a larger alignment just moves the load
	 * address.
	 */
	if ((ph->p_vaddr ^ ph->p_offset) & (ELF_PAGE - 1))
		return -ENOEXEC;
	if (im->nr_segments == ELF_MAX_SEGMENTS)
		return -ENOEXEC;
	if (__builtin_add_overflow(ph->p_vaddr, ph->p_memsz, &end) || end > limit || align > limit)
		return -EINVAL;
	if (prev && ph->p_vaddr < prev->vaddr + prev->memsz)
		return -ENOEXEC; /* they must rise and not overlap */
	/*
	 * Two segments in one page would fight over its contents: the second would hide the first's
	 * tail.
	 */
	if (prev &&
	    ALIGN_DOWN(ph->p_vaddr, ELF_PAGE) < ALIGN_UP(prev->vaddr + prev->memsz, ELF_PAGE))
		return -ENOEXEC;
	im->segments[im->nr_segments++] = (struct elf_segment){
		.vaddr = ph->p_vaddr,
		.offset = ph->p_offset,
		.filesz = ph->p_filesz,
		.memsz = ph->p_memsz,
		.flags = ph->p_flags & (PF_R | PF_W | PF_X),
	};
	im->align = max(im->align, align);
	return 0;
}

/* The headers are in memory when one segment's file part covers them. */
static u64 headers_vaddr(const struct elf_image *im)
{
	u64 bytes = (u64)im->phnum * sizeof(struct elf64_phdr);

	for (u32 i = 0; i < im->nr_segments; i++) {
		const struct elf_segment *s = &im->segments[i];

		if (im->phoff >= s->offset && im->phoff - s->offset <= s->filesz &&
		    bytes <= s->filesz - (im->phoff - s->offset))
			return s->vaddr + (im->phoff - s->offset);
	}
	return 0;
}

int elf_parse(const void *head, size_t head_len, const void *phdrs, size_t phdrs_len, u64 file_size,
	      u64 limit, struct elf_image *image)
{
	struct elf64_ehdr eh;
	u64 phoff;
	long bytes = elf_check_header(head, head_len, file_size, &phoff);

	if (bytes < 0)
		return bytes;
	if ((size_t)bytes > phdrs_len)
		return -ENOEXEC;
	memcpy(&eh, head, sizeof(eh));
	memset(image, 0, sizeof(*image));
	image->type = eh.e_type;
	image->phnum = eh.e_phnum;
	image->entry = eh.e_entry;
	image->phoff = phoff;
	image->align = ELF_PAGE;
	for (int i = 0; i < eh.e_phnum; i++) {
		struct elf64_phdr ph;
		int err;

		memcpy(&ph, (const u8 *)phdrs + i * sizeof(ph), sizeof(ph));
		switch (ph.p_type) {
		case PT_LOAD:
			err = add_segment(image, &ph, file_size, limit);
			if (err)
				return err;
			break;
		case PT_INTERP:
			if (image->interp_size || ph.p_filesz < 2 || ph.p_filesz > 4096 ||
			    ph.p_offset > file_size || ph.p_filesz > file_size - ph.p_offset)
				return -ENOEXEC;
			image->interp_offset = ph.p_offset;
			image->interp_size = ph.p_filesz;
			break;
		case PT_GNU_STACK:
			image->exec_stack = ph.p_flags & PF_X;
			break;
		}
	}
	if (!image->nr_segments)
		return -EINVAL;
	image->start = ALIGN_DOWN(image->segments[0].vaddr, ELF_PAGE);
	image->end = ALIGN_UP(image->segments[image->nr_segments - 1].vaddr +
				      image->segments[image->nr_segments - 1].memsz,
			      ELF_PAGE);
	if (image->end > ALIGN_UP(limit, ELF_PAGE))
		return -EINVAL;
	image->phdr_vaddr = headers_vaddr(image);
	return 0;
}
