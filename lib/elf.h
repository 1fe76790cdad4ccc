/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf.h - the parts of the ELF-64 format a program loader needs, and elf_parse(), which turns
 * hostile bytes into a
 * checked list of segments: whoever maps them needs no further test.
 */
#ifndef LIB_ELF_H
#define LIB_ELF_H

#include "lib/types.h"

#define ELF_MAGIC "\177ELF"
#define ET_EXEC 2
#define ET_DYN 3
#define EM_X86_64 62
#define PT_NULL 0
#define PT_LOAD 1
#define PT_DYNAMIC 2
#define PT_INTERP 3
#define PT_NOTE 4
#define PT_PHDR 6
#define PT_TLS 7
#define PT_GNU_STACK 0x6474e551
#define PF_X 1
#define PF_W 2
#define PF_R 4

struct elf64_ehdr {
	u8 e_ident[16];
	u16 e_type, e_machine;
	u32 e_version;
	u64 e_entry, e_phoff, e_shoff;
	u32 e_flags;
	u16 e_ehsize, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx;
};
struct elf64_phdr {
	u32 p_type, p_flags;
	u64 p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align;
};

#define ELF_MAX_PHDRS 64    /* more are refused */
#define ELF_MAX_SEGMENTS 32 /* PT_LOAD entries */

struct elf_segment {
	u64 vaddr, offset; /* exact, congruent modulo the page size */
	u64 filesz, memsz; /* filesz <= memsz, memsz > 0 */
	u32 flags;	   /* PF_R | PF_W | PF_X */
};
struct elf_image {
	u16 type; /* ET_EXEC or ET_DYN */
	u16 phnum;
	u64 entry; /* without load bias */
	u64 phoff; /* file offset of the program headers */
	/* where they will lie in memory (for AT_PHDR), 0 when they are not mapped */
	u64 phdr_vaddr;
	u64 start, end; /* page-rounded span of all segments */
	u64 align;	/* largest segment alignment, at least a page */
	u32 nr_segments;
	/* rising, page-wise disjoint where permissions matter */
	struct elf_segment segments[ELF_MAX_SEGMENTS];
	u64 interp_offset, interp_size; /* path of the interpreter in the file, size 0: none */
	bool exec_stack;		/* PT_GNU_STACK says executable (absent: false) */
};

/*
 * Step 1: check the file header (head_len bytes were read, at least 64). => bytes of program
 * headers to read at (*phoff), or -ENOEXEC.
 */
long elf_check_header(const void *head, size_t head_len, u64 file_size, u64 *phoff);
/*
 * Step 2: check the program headers and fill image. limit: first address programs may not use.
 * => 0, or -ENOEXEC (malformed), -EINVAL (well-formed but not for us: addresses out of range, no
 *    segments).
 */
int elf_parse(const void *head, size_t head_len, const void *phdrs, size_t phdrs_len, u64 file_size,
	      u64 limit, struct elf_image *image);

#endif
