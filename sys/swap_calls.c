// SPDX-License-Identifier: BSD-2-Clause
/*
 * swap_calls.c - swapon(2) and swapoff(2): what a swap area says of itself is read and believed
 * only as far as it can be true.
 *
 * The header is the first page, as mkswap(8) writes it; its numbers are little-endian. UUID and
 * label are for programs. Whatever is refused is one line in the log that names path and value, and
 * Linux's error.
 */
#include "fs/swapfile.h"
#include "kernel/printk.h"
#include "lib/errno_name.h"
#include "lib/string.h"
#include "mm/kmem/slab.h"
#include "mm/swap/swap.h"
#include "sys/calls_at.h"
#include "sys/process.h"

#define SWAP_FLAG_PREFER 0x8000u
#define SWAP_FLAG_PRIO_MASK 0x7fffu
#define SWAP_FLAG_DISCARD 0x10000u /* whole area now, and slots later, unless one bit says which */
#define SWAP_FLAG_DISCARD_ONCE 0x20000u
#define SWAP_FLAG_DISCARD_PAGES 0x40000u
#define SWAP_FLAGS_KNOWN 0x7ffffu

/* A hundred times all memory, in thousandths: more than any program can claim. */
#define CULPRIT_ADJ 100000
#define MAGIC_BYTES 10u
struct swap_header {
	u8 boot[1024];
	u32 version, last_page, nr_badpages;
	u8 uuid[16], label[16];
	u32 unused[117];
	u32 badpages[];
};
_Static_assert(sizeof(struct swap_header) == 1536, "header of a swap area");
#define MAX_BADPAGES ((PAGE_SIZE - MAGIC_BYTES - sizeof(struct swap_header)) / sizeof(u32))

static int refuse(const char *path, const char *what, u64 value, const char *why)
{
	pr_err("swapon: %s: %s %llu: %s (EINVAL)", path, what, (unsigned long long)value, why);
	return -EINVAL;
}

/* No signature where it should be: is there one for larger pages? */
static int no_signature(struct swapfile *sf)
{
	const char *path = swapfile_path(sf);
	char magic[MAGIC_BYTES];

	for (u64 size = PAGE_SIZE * 2; size <= 65536; size *= 2) {
		if (swapfile_pages(sf) < size >> PAGE_SHIFT ||
		    swapfile_read(sf, magic, sizeof(magic), size - MAGIC_BYTES))
			break;
		if (!memcmp(magic, "SWAPSPACE2", MAGIC_BYTES))
			return refuse(path, "page size", size, "it must be 4096");
	}
	pr_err("swapon: %s: no signature SWAPSPACE2 at byte 4086 (EINVAL)", path);
	return -EINVAL;
}

/* 0: setup says what the header said; else a line was printed */
static int read_header(struct swapfile *sf, struct swap_header *h, struct swapfile_setup *setup)
{
	const char *path = swapfile_path(sf), *magic = (const char *)h + PAGE_SIZE - MAGIC_BYTES;
	u64 pages = swapfile_pages(sf);
	int err;

	if (!pages)
		return refuse(path, "size in pages", pages, "there is no room for a header");
	err = swapfile_read(sf, h, PAGE_SIZE, 0);
	if (err)
		return err;
	if (!memcmp(magic, "SWAP-SPACE", MAGIC_BYTES))
		return refuse(path, "header version", 0, "only 1 is known");
	if (memcmp(magic, "SWAPSPACE2", MAGIC_BYTES))
		return no_signature(sf);
	if (h->version == __builtin_bswap32(1))
		return refuse(path, "header version", h->version, "made by a big-endian machine");
	if (h->version != 1)
		return refuse(path, "header version", h->version, "only 1 is known");
	if (!h->last_page)
		return refuse(path, "last page", h->last_page, "it has no page but its header");
	if (h->last_page >= pages)
		return refuse(path, "last page", h->last_page, "it is shorter than that");
	if (h->nr_badpages && !swapfile_is_device(sf)) /* it would simply have other blocks */
		return refuse(path, "number of bad pages", h->nr_badpages, "a file has none");
	if (h->nr_badpages > MAX_BADPAGES)
		return refuse(path, "number of bad pages", h->nr_badpages,
			      "the header has room for 637");
	for (u32 i = 0; i < h->nr_badpages; i++)
		if (!h->badpages[i] || h->badpages[i] > h->last_page)
			return refuse(path, "bad page", h->badpages[i], "there is no such page");
	setup->slots = (u64)h->last_page + 1;
	setup->bad = h->badpages;
	setup->nr_bad = h->nr_badpages;
	return 0;
}

static u32 discard_flags(u32 flags)
{
	if (!(flags & SWAP_FLAG_DISCARD))
		return 0;
	if (flags & SWAP_FLAG_DISCARD_ONCE)
		return SWAPFILE_DISCARD;
	if (flags & SWAP_FLAG_DISCARD_PAGES)
		return SWAPFILE_DISCARD_PAGES;
	return SWAPFILE_DISCARD | SWAPFILE_DISCARD_PAGES;
}

static int swap_on(const char *path, u32 flags)
{
	struct swapfile_setup setup = { .prefer = flags & SWAP_FLAG_PREFER,
					.prio = flags & SWAP_FLAG_PRIO_MASK,
					.flags = discard_flags(flags) };
	struct swap_header *h = kmalloc(PAGE_SIZE, GFP_KERNEL);
	struct swapfile *sf;
	int err = h ? swapfile_open(path, &sf) : -ENOMEM;

	if (!err) {
		err = read_header(sf, h, &setup);
		if (!err)
			err = swapfile_start(sf, &setup);
		if (err)
			swapfile_close(sf);
	}
	kfree(h);
	return err;
}

SYSCALL(swapon)
{
	u32 flags = a1;
	char *path;
	long ret;

	if (flags & ~SWAP_FLAGS_KNOWN)
		return -EINVAL;
	if (current_proc->cred.euid)
		return -EPERM;
	path = path_arg(a0);
	if (IS_ERR(path))
		return PTR_ERR(path);
	ret = swap_on(path, flags);
	path_arg_put(path);
	return ret;
}

/*
 * What an area holds may not fit into memory. Then it is this call that is too much, and no program
 * shall be killed for it: while it lasts the caller is the first to go, and the area stays.
 */
static int stop_as_culprit(const char *path)
{
	int adj = current_proc->oom_score_adj, ret;

	current_proc->oom_score_adj = CULPRIT_ADJ;
	ret = swapfile_stop(path);
	if (current_proc->oom_score_adj == CULPRIT_ADJ)
		current_proc->oom_score_adj = adj;
	return ret;
}

SYSCALL(swapoff)
{
	char *path;
	long ret;

	if (current_proc->cred.euid)
		return -EPERM;
	path = path_arg(a0);
	if (IS_ERR(path))
		return PTR_ERR(path);
	ret = stop_as_culprit(path);
	path_arg_put(path);
	return ret;
}
