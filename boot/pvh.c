/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvh.c - reads the hvm_start_info that QEMU -kernel leaves in memory (the PVH start of the Xen
 * public headers). All of its pointers are physical; the memory map exists from version 1 on.
 */
#include "boot/boot.h"
#include "kernel/printk.h"
#include "lib/err.h"

struct hvm_start_info {
	u32 magic, version, flags, nr_modules;
	u64 modlist, cmdline, rsdp;
	u64 memmap; /* version 1 */
	u32 memmap_entries, reserved;
};
struct hvm_module {
	u64 addr, size, cmdline, reserved;
};
struct hvm_range {
	u64 addr, size;
	u32 type, reserved;
};

static void copy_phys_string(char *to, size_t size, u64 pa, boot_read_fn rd, const char *what)
{
	size_t n = 0;

	to[0] = 0;
	if (!pa)
		return;
	/* Longest readable prefix: the string may end just before memory does. */
	while (n <= size && rd(pa + n, 1) && *(const char *)rd(pa + n, 1))
		n++;
	if (n)
		boot_copy_string(to, size, rd(pa, n), n, what);
}

static void parse_modules(struct boot_info *b, const struct hvm_start_info *s, boot_read_fn rd)
{
	for (u32 i = 0; i < s->nr_modules && i < 32; i++) {
		const struct hvm_module *m = rd(s->modlist + i * sizeof(*m), sizeof(*m));
		char name[64];

		if (!m || m->size > U64_MAX - m->addr) {
			pr_warn("boot: module %u of the PVH list is not readable, ignored", i);
			return;
		}
		copy_phys_string(name, sizeof(name), m->cmdline, rd, "a module's name");
		boot_add_module(b, m->addr, m->addr + m->size, name);
	}
}

int boot_parse_pvh(struct boot_info *b, u64 pa, boot_read_fn rd)
{
	const struct hvm_start_info *s = rd(pa, sizeof(*s));

	b->loader = "pvh";
	if (!s || s->magic != 0x336ec578) {
		pr_err("boot: no PVH start info at %#llx", (unsigned long long)pa);
		return -EINVAL;
	}
	if (s->version < 1 || !s->memmap_entries) {
		pr_err("boot: PVH start info of version %u has no memory map", s->version);
		return -EINVAL;
	}
	copy_phys_string(b->cmdline, sizeof(b->cmdline), s->cmdline, rd, "the command line");
	b->rsdp = s->rsdp;
	for (u32 i = 0; i < s->memmap_entries; i++) {
		const struct hvm_range *r = rd(s->memmap + i * sizeof(*r), sizeof(*r));

		if (!r) {
			pr_warn("boot: entry %u of the PVH memory map is not readable", i);
			break;
		}
		if (!boot_add_range(b, r->addr,
				    r->size > U64_MAX - r->addr ? U64_MAX : r->addr + r->size,
				    r->type))
			break;
	}
	parse_modules(b, s, rd);
	return b->nr_ranges ? 0 : -EINVAL;
}
