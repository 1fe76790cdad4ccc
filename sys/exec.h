/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exec.h - shared by exec.c (the act), exec_args.c (strings and stack) and elf_load.c (the image).
 */
#ifndef SYS_EXEC_H
#define SYS_EXEC_H

#include "fs/vfs.h"
#include "lib/elf.h"
#include "mm/vm/aspace.h"

#define EXEC_HEAD_BYTES 256
#define EXEC_SCRIPT_DEPTH 4
#define EXEC_INLINE_PAGES 8
#define MAX_ARG_STRLEN (32 * PAGE_SIZE)
#define STACK_TOP (USER_TOP - PAGE_SIZE)
#define PIE_BASE 0x555555554000ul

/* Where strings come from: a program's arrays or the kernel's. */
struct exec_source {
	const char *const *kernel; /* NULL-terminated, or NULL: user */
	u64 user;
};
/* argv and envp strings, one after the other as they will lie on the stack, in pages of our own. */
struct exec_strings {
	char **pages, *inline_pages[EXEC_INLINE_PAGES];
	size_t bytes, limit;
	int argc, envc;
	size_t arg_bytes;    /* of the argv part */
	size_t execfn_start; /* offset of the file name, which comes last */
};
struct exec_elf {
	struct file *file;
	struct elf_image image;
	unsigned long bias; /* where it was loaded, minus where it was linked */
};
struct exec {
	const char *path;  /* as given */
	struct file *file; /* what is opened now */
	struct exec_source argv, envp;
	struct exec_strings strings;
	char *prefix[2 * EXEC_SCRIPT_DEPTH + 1]; /* #!: what replaces argv[0], last one first */
	int nr_prefix, depth;
	char interp_path[2][PATH_MAX > 256 ? 256 : PATH_MAX];
	struct exec_elf main, interp;
	u8 head[EXEC_HEAD_BYTES];
	u32 euid, egid;
	bool secure;
};

/* exec_args.c */
int exec_strings_collect(struct exec *x); /* 0, -E2BIG, -EFAULT, -ENOMEM */
void exec_strings_free(struct exec_strings *s);
/*
 * Writes strings, pointers and auxv on the new stack (current->mm is the new one). 0 or -EFAULT;
 * *sp the entry RSP.
 */
int exec_build_stack(struct exec *x, unsigned long *sp);

/* elf_load.c */
/* checks everything */
int elf_read(struct file *file, const u8 *head, size_t head_len, struct elf_image *image);
int elf_map(struct exec_elf *elf, bool interpreter); /* into current->mm; sets bias */
int elf_interp_path(struct exec_elf *elf, char *buf, size_t n);

#endif
