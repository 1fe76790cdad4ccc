/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * collect.c - fills boot_info while the boot page tables still show the loader's memory, and checks
 * it against the kernel image. After boot_collect() nothing of the loader's memory is needed but
 * the modules themselves, which stay where they are: mm reserves boot_info.modules before it gives
 * out any page.
 */
#include "arch/page.h"
#include "boot/boot.h"
#include "kernel/bug.h"
#include "kernel/printk.h"

struct boot_info boot_info;
u32 boot_loader_kind __section(".data");
u32 boot_loader_info __section(".data");
u64 boot_tsc __section(".data");

static u8 rsdp_copy[36] __aligned(16);

extern char __boot_start[], __kernel_end[];

/* The boot tables show the first 4 GiB at PAGE_OFFSET. */
static const void *read_low(u64 pa, u64 n)
{
	return pa && pa < GiB(4) && n <= GiB(4) - pa ? __va(pa) : NULL;
}

static bool inside_ram(const struct boot_info *b, u64 start, u64 end)
{
	for (u32 i = 0; i < b->nr_ranges; i++)
		if (b->ranges[i].type == BOOT_RAM && b->ranges[i].start <= start &&
		    end <= b->ranges[i].end)
			return true;
	return false;
}

/*
 * A module must lie in RAM (page-trimmed RAM may cut its last page: then it keeps its page from
 * being used).
 */
static void check_modules(struct boot_info *b)
{
	u64 image = (u64)(unsigned long)__boot_start, image_end = __pa(__kernel_end);
	u32 kept = 0;

	for (u32 i = 0; i < b->nr_modules; i++) {
		struct boot_module *m = &b->modules[i];
		const char *why = NULL;

		if (m->start < image_end && image < m->end)
			why = "overlaps the kernel";
		else if (!inside_ram(b, m->start, m->end))
			why = "does not lie in RAM";
		if (why)
			pr_err("boot: module '%s' at %#llx-%#llx %s, ignored", m->name,
			       (unsigned long long)m->start, (unsigned long long)m->end, why);
		else
			b->modules[kept++] = *m;
	}
	b->nr_modules = kept;
}

void boot_collect(void)
{
	struct boot_info *b = &boot_info;
	bool has_rsdp = false;
	int err;

	b->tsc_at_entry = boot_tsc;
	if (boot_loader_kind == BOOT_KIND_PVH)
		err = boot_parse_pvh(b, boot_loader_info, read_low);
	else
		err = boot_parse_multiboot2(b, boot_loader_info, read_low, rsdp_copy, &has_rsdp);
	if (err)
		panic("boot: no usable information from the loader");
	if (has_rsdp)
		b->rsdp = __pa(rsdp_copy);
	boot_ranges_finish(b);
	check_modules(b);
}
