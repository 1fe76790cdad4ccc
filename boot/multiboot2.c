/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * multiboot2.c - reads the tag list GRUB leaves in memory (Multiboot2 specification 2.0, section
 * 3.6). Every tag is {type, size} and starts on 8 bytes; size counts the header. Nothing in it is
 * trusted: a tag that leaves the list or is shorter than its kind ends the walk with one line.
 */
#include "boot/boot.h"
#include "kernel/printk.h"
#include "lib/err.h"

enum {
	TAG_END = 0,
	TAG_CMDLINE = 1,
	TAG_MODULE = 3,
	TAG_MMAP = 6,
	TAG_EFI64 = 12,
	TAG_ACPI_OLD = 14,
	TAG_ACPI_NEW = 15,
	TAG_EFI_MMAP = 17,
};

struct tag {
	u32 type, size;
};
struct tag_module {
	struct tag t;
	u32 start, end;
	char cmdline[];
};
struct tag_mmap {
	struct tag t;
	u32 entry_size, version;
	u8 entries[];
};
struct mmap_entry {
	u64 addr, len;
	u32 type, zero;
};
struct tag_efi_mmap {
	struct tag t;
	u32 descr_size, descr_version;
	u8 descr[];
};
struct efi_descr {
	u32 type, pad;
	u64 phys, virt, pages, attr;
};

static u64 end_of(u64 start, u64 len)
{
	return len > U64_MAX - start ? U64_MAX : start + len;
}

static void parse_mmap(struct boot_info *b, const struct tag_mmap *m)
{
	u32 bytes = m->t.size - sizeof(*m);

	if (m->entry_size < sizeof(struct mmap_entry)) {
		pr_warn("boot: memory map entries of %u bytes, map ignored", m->entry_size);
		return;
	}
	for (u32 at = 0; at + m->entry_size <= bytes; at += m->entry_size) {
		const struct mmap_entry *e = (const void *)(m->entries + at);

		if (!boot_add_range(b, e->addr, end_of(e->addr, e->len), e->type))
			return;
	}
}

/*
 * Used only when the loader gave no plain map. After ExitBootServices the loader and boot services
 * are free.
 */
static void parse_efi_mmap(struct boot_info *b, const struct tag_efi_mmap *m)
{
	static const u8 kind[] = {
		[1] = BOOT_RAM, [2] = BOOT_RAM, [3] = BOOT_RAM,	 [4] = BOOT_RAM,
		[7] = BOOT_RAM, [8] = BOOT_BAD, [9] = BOOT_ACPI, [10] = BOOT_NVS
	};
	u32 bytes = m->t.size - sizeof(*m);

	if (m->descr_size < sizeof(struct efi_descr)) {
		pr_warn("boot: EFI memory descriptors of %u bytes, map ignored", m->descr_size);
		return;
	}
	for (u32 at = 0; at + m->descr_size <= bytes; at += m->descr_size) {
		const struct efi_descr *e = (const void *)(m->descr + at);
		u32 type = e->type < sizeof(kind) && kind[e->type] ? kind[e->type] : BOOT_RESERVED;
		u64 len = e->pages > U64_MAX >> 12 ? U64_MAX : e->pages << 12;

		if (!boot_add_range(b, e->phys, end_of(e->phys, len), type))
			return;
	}
}

struct found {
	const struct tag_mmap *mmap;
	const struct tag_efi_mmap *efi_mmap;
	u8 *rsdp;
	bool *has_rsdp, new_rsdp;
};

static void copy_rsdp(struct found *f, const struct tag *t)
{
	u32 n = t->size - sizeof(*t), want = t->type == TAG_ACPI_NEW ? 36 : 20;

	if (n < want) {
		pr_warn("boot: RSDP tag of %u bytes, ignored", n);
		return;
	}
	if (f->new_rsdp)
		return;
	f->new_rsdp = t->type == TAG_ACPI_NEW;
	*f->has_rsdp = true;
	for (u32 i = 0; i < 36; i++)
		f->rsdp[i] = i < want ? ((const u8 *)(t + 1))[i] : 0;
}

static u32 least_size(u32 type)
{
	switch (type) {
	case TAG_MODULE:
		return sizeof(struct tag_module);
	case TAG_MMAP:
	case TAG_EFI_MMAP:
		return sizeof(struct tag_mmap);
	default:
		return sizeof(struct tag);
	}
}

static void parse_tag(struct boot_info *b, const struct tag *t, struct found *f)
{
	const struct tag_module *mod = (const void *)t;
	char name[64];

	switch (t->type) {
	case TAG_CMDLINE:
		boot_copy_string(b->cmdline, sizeof(b->cmdline), (const char *)(t + 1),
				 t->size - sizeof(*t), "the command line");
		break;
	case TAG_MODULE:
		boot_copy_string(name, sizeof(name), mod->cmdline, t->size - sizeof(*mod),
				 "a module's name");
		boot_add_module(b, mod->start, mod->end, name);
		break;
	case TAG_MMAP:
		f->mmap = (const void *)t;
		break;
	case TAG_EFI_MMAP:
		f->efi_mmap = (const void *)t;
		break;
	case TAG_EFI64:
		b->loader = "multiboot2-uefi";
		break;
	case TAG_ACPI_OLD:
	case TAG_ACPI_NEW:
		copy_rsdp(f, t);
		break;
	}
}

int boot_parse_multiboot2(struct boot_info *b, u64 pa, boot_read_fn rd, u8 rsdp_copy[36],
			  bool *has_rsdp)
{
	struct found f = { .rsdp = rsdp_copy, .has_rsdp = has_rsdp };
	const u32 *head = rd(pa, 8);
	const u8 *base;
	u32 total;

	b->loader = "multiboot2-bios";
	if (!head || head[0] < 16 || head[0] > MiB(16) || !rd(pa, head[0])) {
		pr_err("boot: the Multiboot2 list at %#llx has a bad size", (unsigned long long)pa);
		return -EINVAL;
	}
	total = head[0];
	base = rd(pa, total);
	for (u32 at = 8; at + sizeof(struct tag) <= total;) {
		const struct tag *t = (const void *)(base + at);

		if (t->type == TAG_END)
			break;
		if (t->size < least_size(t->type) || t->size > total - at) {
			pr_warn("boot: Multiboot2 tag %u has size %u, the rest is ignored", t->type,
				t->size);
			break;
		}
		parse_tag(b, t, &f);
		at = ALIGN_UP(at + t->size, 8u);
	}
	if (f.mmap)
		parse_mmap(b, f.mmap);
	else if (f.efi_mmap)
		parse_efi_mmap(b, f.efi_mmap);
	if (!b->nr_ranges) {
		pr_err("boot: the loader gave no memory map");
		return -EINVAL;
	}
	return 0;
}
