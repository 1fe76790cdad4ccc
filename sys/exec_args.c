// SPDX-License-Identifier: BSD-2-Clause
/*
 * exec_args.c - the strings of a new program and the first page of its stack.
 *
 * argv and envp live in the memory that exec is about to drop, so they are copied into kernel pages
 * first, packed in the order they will have on the new stack; afterwards the pages are copied to
 * the stack's top and the pointers computed by walking the strings again:
 *
 *   STACK_TOP | 8 zero bytes | file name | envp strings | argv strings | 16 random bytes, "x86_64"
 *   | (align 16)
 *             | auxv | NULL envp | NULL argv | argc  <- RSP, 16-byte aligned
 */
#include "arch/cpu.h"
#include "arch/uaccess.h"
#include "kernel/random.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/kmem/vmalloc.h"
#include "mm/phys/page_alloc.h"
#include "sys/exec.h"
#include "sys/process.h"

#define MAX_LIMIT (6ul << 20) /* three quarters of the default stack, as Linux */

static int need_page(struct exec_strings *s, size_t index)
{
	if (index >= EXEC_INLINE_PAGES && s->pages == s->inline_pages) {
		char **more = kvmalloc(DIV_ROUND_UP(MAX_LIMIT, PAGE_SIZE) * sizeof(char *),
				       GFP_KERNEL | __GFP_ZERO);

		if (!more)
			return -ENOMEM;
		memcpy(more, s->inline_pages, sizeof(s->inline_pages));
		s->pages = more;
	}
	if (!s->pages[index])
		s->pages[index] = get_free_page(GFP_KERNEL);
	return s->pages[index] ? 0 : -ENOMEM;
}

void exec_strings_free(struct exec_strings *s)
{
	for (size_t i = 0; s->pages && i < DIV_ROUND_UP(s->bytes + 1, PAGE_SIZE); i++)
		if ((s->pages != s->inline_pages || i < EXEC_INLINE_PAGES) && s->pages[i])
			put_free_page(s->pages[i]);
	if (s->pages && s->pages != s->inline_pages)
		kvfree(s->pages);
	s->pages = NULL;
}

/* Appends one string; user or kernel pointer. */
static int append(struct exec_strings *s, const char *from, bool kernel)
{
	size_t len = 0;

	for (;;) {
		size_t off = s->bytes % PAGE_SIZE, n = PAGE_SIZE - off;
		ssize_t got;
		char *to;
		int err;

		if (len >= MAX_ARG_STRLEN || s->bytes >= s->limit)
			return -E2BIG;
		err = need_page(s, s->bytes / PAGE_SIZE);
		if (err)
			return err;
		to = s->pages[s->bytes / PAGE_SIZE] + off;
		if (kernel) {
			got = strnlen(from, n);
			memcpy(to, from, min_t(size_t, got + 1, n));
		} else {
			got = strncpy_from_user(to, (const char __user *)from, n);
		}
		if (got < 0)
			return got;
		if (len + got >= MAX_ARG_STRLEN) /* no room for its NUL */
			return -E2BIG;
		if ((size_t)got < n) {
			s->bytes += got + 1;
			return 0;
		}
		s->bytes += n;
		from += n;
		len += n;
	}
}

static int append_all(struct exec_strings *s, const struct exec_source *src, int skip, int *count)
{
	for (int i = skip;; i++) {
		const char *str;
		int err;

		if (src->kernel) {
			str = src->kernel[i];
		} else {
			u64 v = 0;

			if (src->user && get_user_u64(&v, (u64 __user *)src->user + i))
				return -EFAULT;
			str = (const char *)v;
		}
		if (!str)
			return 0;
		err = append(s, str, src->kernel != NULL);
		if (err)
			return err;
		if (s->limit < 8)
			return -E2BIG;
		s->limit -= 8; /* the pointer counts, too */
		++*count;
	}
}

/* Is there an argv[0] to skip? */
static int first_is_null(const struct exec_source *src)
{
	u64 v = 0;

	if (src->kernel)
		return !src->kernel[0];
	if (src->user && get_user_u64(&v, (u64 __user *)src->user))
		return -EFAULT;
	return !v;
}

int exec_strings_collect(struct exec *x)
{
	struct exec_strings *s = &x->strings;
	int err, skip = 0, none = first_is_null(&x->argv);

	if (none < 0)
		return none;
	s->pages = s->inline_pages;
	s->limit = clamp(current_proc ? current_proc->rlim[RLIMIT_STACK].cur / 4 : MAX_LIMIT,
			 MAX_ARG_STRLEN, MAX_LIMIT);
	for (int i = x->nr_prefix - 1; i >= 0; i--) {
		err = append(s, x->prefix[i], true);
		if (err)
			return err;
		s->argc++;
		skip = 1;
	}
	if (none && !s->argc) { /* a program without argv[0] breaks too many assumptions */
		err = append(s, "", true);
		if (err)
			return err;
		s->argc++;
	}
	if (!none) {
		err = append_all(s, &x->argv, skip, &s->argc);
		if (err)
			return err;
	}
	s->arg_bytes = s->bytes;
	err = append_all(s, &x->envp, 0, &s->envc);
	if (err)
		return err;
	s->execfn_start = s->bytes;
	return append(s, x->path, true);
}

/* ---- the new stack ---- */

struct pointer_writer { /* batches pointers into one copy per 32 */
	u64 buf[32];
	u32 n;
	unsigned long at;
	bool failed;
};

static void writer_flush(struct pointer_writer *w)
{
	if (w->n && copy_to_user((void __user *)w->at, w->buf, w->n * 8))
		w->failed = true;
	w->at += w->n * 8;
	w->n = 0;
}

static void put(struct pointer_writer *w, u64 v)
{
	w->buf[w->n++] = v;
	if (w->n == ARRAY_SIZE(w->buf))
		writer_flush(w);
}

/* Writes count pointers to consecutive strings that start at offset *off. */
static void put_strings(struct pointer_writer *w, const struct exec_strings *s, unsigned long base,
			size_t *off, int count)
{
	for (int i = 0; i < count; i++) {
		put(w, base + *off);
		for (;;) {
			size_t in = *off % PAGE_SIZE, n = min(PAGE_SIZE - in, s->bytes - *off);
			const char *p = s->pages[*off / PAGE_SIZE] + in;
			size_t len = strnlen(p, n);

			*off += len;
			if (len < n) {
				++*off;
				break;
			}
		}
	}
	put(w, 0);
}

static int copy_strings(const struct exec_strings *s, unsigned long base)
{
	for (size_t off = 0; off < s->bytes; off += PAGE_SIZE)
		if (copy_to_user((void __user *)(base + off), s->pages[off / PAGE_SIZE],
				 min(PAGE_SIZE, s->bytes - off)))
			return -EFAULT;
	return 0;
}

enum {
	AT_NULL,
	AT_PHDR = 3,
	AT_PHENT,
	AT_PHNUM,
	AT_PAGESZ,
	AT_BASE,
	AT_FLAGS,
	AT_ENTRY,
	AT_UID = 11,
	AT_EUID,
	AT_GID,
	AT_EGID,
	AT_PLATFORM,
	AT_HWCAP,
	AT_CLKTCK,
	AT_SECURE = 23,
	AT_RANDOM = 25,
	AT_HWCAP2 = 26,
	AT_EXECFN = 31,
	AT_MINSIGSTKSZ = 51
};

static u32 fill_auxv(struct exec *x, u64 *v, unsigned long random, unsigned long platform,
		     unsigned long execfn)
{
	const struct elf_image *image = &x->main.image;
	const struct cred *c = &current_proc->cred;
	const u64 pairs[][2] = {
		{ AT_HWCAP, cpu_features.leaf1_edx },
		{ AT_PAGESZ, PAGE_SIZE },
		{ AT_CLKTCK, 100 },
		{ AT_PHDR, image->phdr_vaddr ? image->phdr_vaddr + x->main.bias : 0 },
		{ AT_PHENT, sizeof(struct elf64_phdr) },
		{ AT_PHNUM, image->phnum },
		{ AT_BASE, x->interp.file ? x->interp.bias + x->interp.image.start : 0 },
		{ AT_FLAGS, 0 },
		{ AT_ENTRY, image->entry + x->main.bias },
		{ AT_UID, c->uid },
		{ AT_EUID, c->euid },
		{ AT_GID, c->gid },
		{ AT_EGID, c->egid },
		{ AT_SECURE, x->secure },
		{ AT_RANDOM, random },
		{ AT_HWCAP2, 0 },
		{ AT_EXECFN, execfn },
		{ AT_PLATFORM, platform },
		{ AT_MINSIGSTKSZ, 2048 },
		{ AT_NULL, 0 },
	};

	_Static_assert(sizeof(pairs) <= sizeof(((struct aspace *)0)->auxv),
		       "auxv fits struct aspace");
	memcpy(v, pairs, sizeof(pairs));
	return ARRAY_SIZE(pairs) * 2;
}

int exec_build_stack(struct exec *x, unsigned long *sp_out)
{
	struct exec_strings *s = &x->strings;
	struct aspace *mm = current->mm;
	unsigned long base = ALIGN_DOWN(mm->stack_top - 8 - s->bytes, 16), random = base - 16,
		      platform = random - 16;
	struct pointer_writer w = { .n = 0 };
	u8 extra[32] = "x86_64";
	size_t off = 0;
	u32 nr_aux;

	if (copy_strings(s, base))
		return -EFAULT;
	random_bytes(extra + 16, 16);
	if (copy_to_user((void __user *)platform, extra, sizeof(extra)))
		return -EFAULT;
	nr_aux = fill_auxv(x, mm->auxv, random, platform, base + s->execfn_start);
	w.at = ALIGN_DOWN(platform - 8ul * (1 + s->argc + 1 + s->envc + 1 + nr_aux), 16);
	*sp_out = w.at;
	put(&w, s->argc);
	put_strings(&w, s, base, &off, s->argc);
	put_strings(&w, s, base, &off, s->envc);
	for (u32 i = 0; i < nr_aux; i++)
		put(&w, mm->auxv[i]);
	writer_flush(&w);
	mm->arg_start = base;
	mm->arg_end = mm->env_start = base + s->arg_bytes;
	mm->env_end = base + s->execfn_start;
	mm->stack_start = *sp_out;
	return w.failed ? -EFAULT : 0;
}
