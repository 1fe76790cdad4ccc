/* SPDX-License-Identifier: BSD-2-Clause */
// SOURCES: boot/ranges.c boot/multiboot2.c boot/pvh.c
/*
 * test_bootinfo.c - the loader's structures: what GRUB and QEMU hand over is understood, garbage is
 * survived, and the memory map that comes out is sorted, disjoint and gives no byte a better type
 * than its worst range.
 */
#include "host.h"
#include "boot/boot.h"

static struct boot_info b;

static u32 type_at(const struct boot_range *r, u32 n, u64 at)
{
	for (u32 i = 0; i < n; i++)
		if (r[i].start <= at && at < r[i].end)
			return r[i].type;
	return 0;
}

static void check_map(void)
{
	for (u32 i = 0; i < b.nr_ranges; i++) {
		CHECK(b.ranges[i].start < b.ranges[i].end);
		CHECK(!i || b.ranges[i - 1].end <= b.ranges[i].start);
		if (b.ranges[i].type == BOOT_RAM)
			CHECK(!((b.ranges[i].start | b.ranges[i].end) & 4095));
	}
}

HOST_TEST(overlaps)
{
	memset(&b, 0, sizeof(b));
	boot_add_range(&b, 0x100000, 0x8000000, BOOT_RAM);
	boot_add_range(&b, 0, 0x9fc00, BOOT_RAM);
	boot_add_range(&b, 0x7000123, 0x7000456, BOOT_RESERVED);
	boot_add_range(&b, 0x7ff0000, 0x9000000, BOOT_ACPI);
	boot_add_range(&b, 0x7ff8000, 0x8000000, BOOT_NVS);
	CHECK_EQ(boot_ranges_finish(&b), 0);
	check_map();
	CHECK_EQ(type_at(b.ranges, b.nr_ranges, 0x9f000), 0);
	CHECK_EQ(type_at(b.ranges, b.nr_ranges, 0x7000000), 0); /* half a page */
	CHECK_EQ(type_at(b.ranges, b.nr_ranges, 0x7000200), BOOT_RESERVED);
	CHECK_EQ(type_at(b.ranges, b.nr_ranges, 0x7001000), BOOT_RAM);
	CHECK_EQ(type_at(b.ranges, b.nr_ranges, 0x7ff9000), BOOT_NVS);
	CHECK_EQ(type_at(b.ranges, b.nr_ranges, 0x8800000), BOOT_ACPI);
	CHECK_EQ(boot_ranges_carve(&b, 0x200000, 0x201000, BOOT_RESERVED), 0);
	check_map();
	CHECK_EQ(type_at(b.ranges, b.nr_ranges, 0x200fff), BOOT_RESERVED);
}

HOST_TEST(random_maps)
{
	for (int round = 0; round < 2000; round++) {
		struct boot_range in[40];
		u32 n = 1 + host_random() % 40;

		memset(&b, 0, sizeof(b));
		for (u32 i = 0; i < n; i++) {
			u64 s = host_random() % 0x100000, e = s + host_random() % 0x20000;

			in[i] = (struct boot_range){ s, e, 1 + host_random() % 5 };
			boot_add_range(&b, s, e, in[i].type);
		}
		if (boot_ranges_finish(&b))
			continue;
		check_map();
		for (int k = 0; k < 200; k++) {
			u64 at = host_random() % 0x120000;
			bool all_ram = true, any = false;

			for (u32 i = 0; i < n; i++)
				if (in[i].start <= at && at < in[i].end) {
					any = true;
					all_ram &= in[i].type == BOOT_RAM;
				}
			if (type_at(b.ranges, b.nr_ranges, at) == BOOT_RAM)
				CHECK(any && all_ram);
			if (any && !all_ram)
				CHECK(type_at(b.ranges, b.nr_ranges, at) > BOOT_RAM);
		}
	}
}

/* A small physical memory at address 0x1000. */
static u8 *mem;
static u64 mem_size;

static const void *rd(u64 pa, u64 n)
{
	if (pa < 0x1000 || pa - 0x1000 > mem_size || n > mem_size - (pa - 0x1000))
		return NULL;
	return mem + (pa - 0x1000);
}

static u32 len;
static void put(u64 v, int n)
{
	for (int i = 0; i < n; i++)
		mem[len++] = v >> (8 * i);
}
static void text(const char *s)
{
	do
		mem[len++] = *s;
	while (*s++);
}
static void tag(u32 type, u32 size)
{
	len = (len + 7) & ~7u;
	put(type, 4), put(size, 4);
}

static void grub_list(void)
{
	mem_size = 1024;
	free(mem);
	mem = calloc(1, mem_size);
	len = 8;
	tag(1, 8 + 12), text("quiet a=\"b\"");
	tag(3, 16 + 10), put(0x200000, 4), put(0x201000, 4), text("initramfs");
	tag(6, 16 + 2 * 24), put(24, 4), put(0, 4);
	put(0, 8), put(0x9fc00, 8), put(1, 4), put(0, 4);
	put(0x100000, 8), put(0x7f00000, 8), put(1, 4), put(0, 4);
	tag(15, 8 + 36), put(0x2052545020445352ull, 8);
	len += 28;
	tag(0, 8);
	mem[0] = len;
	mem[1] = len >> 8;
}

HOST_TEST(multiboot2)
{
	u8 rsdp[36];
	bool has = false;

	grub_list();
	memset(&b, 0, sizeof(b));
	CHECK_EQ(boot_parse_multiboot2(&b, 0x1000, rd, rsdp, &has), 0);
	CHECK_STR(b.cmdline, "quiet a=\"b\"");
	CHECK_EQ(b.nr_modules, 1);
	CHECK_STR(b.modules[0].name, "initramfs");
	CHECK_EQ(b.nr_ranges, 2);
	CHECK(has);
	CHECK_STR(b.loader, "multiboot2-bios");
}

HOST_TEST(pvh)
{
	mem_size = 1024;
	free(mem);
	mem = calloc(1, mem_size);
	len = 0;
	put(0x336ec578, 4), put(1, 4), put(0, 4), put(1, 4);
	put(0x1100, 8), put(0x1180, 8), put(0xf5a00, 8), put(0x1200, 8), put(2, 4), put(0, 4);
	len = 0x100, put(0x300000, 8), put(0x1234, 8), put(0, 8), put(0, 8);
	len = 0x180, text("autorun=true");
	len = 0x200, put(0, 8), put(0xa0000, 8), put(1, 4), put(0, 4);
	put(0x100000, 8), put(0x7f00000, 8), put(1, 4), put(0, 4);
	memset(&b, 0, sizeof(b));
	CHECK_EQ(boot_parse_pvh(&b, 0x1000, rd), 0);
	CHECK_STR(b.cmdline, "autorun=true");
	CHECK_EQ(b.rsdp, 0xf5a00);
	CHECK_EQ(b.nr_modules, 1);
	CHECK_EQ(b.modules[0].end, 0x301234);
	CHECK_EQ(b.nr_ranges, 2);
	mem[0]++;
	CHECK(boot_parse_pvh(&b, 0x1000, rd) < 0);
}

HOST_TEST(garbage)
{
	u8 rsdp[36];
	bool has;

	for (int round = 0; round < 20000; round++) {
		grub_list();
		for (u32 k = host_random() % 6; k; k--)
			mem[host_random() % len] = host_random();
		mem_size = host_random() % 3 ? len : host_random() % (len + 1);
		mem = realloc(mem, mem_size ? mem_size : 1);
		memset(&b, 0, sizeof(b));
		boot_parse_multiboot2(&b, 0x1000, rd, rsdp, &has);
		boot_ranges_finish(&b);
		check_map();
		memset(&b, 0, sizeof(b));
		if (mem_size >= 4)
			memcpy(mem, "\x78\xc5\x6e\x33", 4);
		boot_parse_pvh(&b, 0x1000, rd);
	}
}
