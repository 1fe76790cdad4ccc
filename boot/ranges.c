/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ranges.c - make a memory map one can trust out of the one the firmware gave.
 *
 * Problem: firmware maps come unsorted, overlapping and with odd byte boundaries. Idea: cut the
 * address space at every boundary of every range; each elementary piece gets the worst type of the
 * ranges that cover it (bad > reserved > NVS > ACPI > RAM); equal neighbours grow together; RAM
 * shrinks to whole pages, so that no page is half something else. With at most 128 ranges the
 * quadratic sweep is cheap.
 *
 * Invariant afterwards: sorted by start, no overlap, no empty range, RAM page aligned.
 */
#include "boot/boot.h"
#include "kernel/printk.h"
#include "lib/err.h"

#define PAGE 4096ull

static unsigned int severity(u32 type)
{
	switch (type) {
	case BOOT_RAM:
		return 1;
	case BOOT_ACPI:
		return 2;
	case BOOT_NVS:
		return 3;
	case BOOT_BAD:
		return 5;
	default:
		return 4;
	}
}

bool boot_add_range(struct boot_info *b, u64 start, u64 end, u32 type)
{
	if (start >= end) {
		if (start > end)
			pr_warn("boot: memory range %#llx-%#llx ends before it starts, ignored",
				(unsigned long long)start, (unsigned long long)end);
		return true;
	}
	if (b->nr_ranges == BOOT_MAX_RANGES) {
		pr_warn_once("boot: more than %d memory ranges, the rest is ignored",
			     BOOT_MAX_RANGES);
		return false;
	}
	if (type < BOOT_RAM || type > BOOT_BAD)
		type = BOOT_RESERVED;
	b->ranges[b->nr_ranges++] = (struct boot_range){ start, end, type };
	return true;
}

static void sort_u64(u64 *v, u32 n)
{
	for (u32 i = 1; i < n; i++) {
		u64 x = v[i];
		u32 j = i;

		for (; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

/* The worst type over the piece that starts at `at`; 0 when nothing covers it. */
static u32 worst_type(const struct boot_range *r, u32 n, u64 at)
{
	u32 type = 0;

	for (u32 i = 0; i < n; i++)
		if (r[i].start <= at && at < r[i].end &&
		    (!type || severity(r[i].type) > severity(type)))
			type = r[i].type;
	return type;
}

static int emit(struct boot_range *out, u32 *n, u64 start, u64 end, u32 type)
{
	if (*n && out[*n - 1].type == type && out[*n - 1].end == start) {
		out[*n - 1].end = end;
		return 0;
	}
	if (*n == BOOT_MAX_RANGES)
		return -ENOSPC;
	out[(*n)++] = (struct boot_range){ start, end, type };
	return 0;
}

static struct boot_range work_in[BOOT_MAX_RANGES + 1], work_out[BOOT_MAX_RANGES];
static u64 work_cut[2 * (BOOT_MAX_RANGES + 1)];

static int sweep(struct boot_info *b, u32 nr_in)
{
	u32 nr_cut = 0, n = 0;
	int err = 0;

	for (u32 i = 0; i < nr_in; i++) {
		work_cut[nr_cut++] = work_in[i].start;
		work_cut[nr_cut++] = work_in[i].end;
	}
	sort_u64(work_cut, nr_cut);
	for (u32 i = 0; i + 1 < nr_cut; i++) {
		u32 type;

		if (work_cut[i] == work_cut[i + 1])
			continue;
		type = worst_type(work_in, nr_in, work_cut[i]);
		if (type && emit(work_out, &n, work_cut[i], work_cut[i + 1], type))
			err = -ENOSPC;
	}
	b->nr_ranges = 0;
	for (u32 i = 0; i < n; i++) {
		struct boot_range r = work_out[i];

		if (r.type == BOOT_RAM) {
			r.start = r.start > U64_MAX - PAGE ? U64_MAX : ALIGN_UP(r.start, PAGE);
			r.end = ALIGN_DOWN(r.end, PAGE);
			if (r.start >= r.end)
				continue;
		}
		b->ranges[b->nr_ranges++] = r;
	}
	if (err)
		pr_warn("boot: the memory map is too fragmented, its end is ignored");
	return err;
}

int boot_ranges_finish(struct boot_info *b)
{
	u32 n = b->nr_ranges;

	for (u32 i = 0; i < n; i++)
		work_in[i] = b->ranges[i];
	return sweep(b, n);
}

int boot_ranges_carve(struct boot_info *b, u64 start, u64 end, u32 type)
{
	u32 n = b->nr_ranges;

	for (u32 i = 0; i < n; i++)
		work_in[i] = b->ranges[i];
	work_in[n] = (struct boot_range){ start, end, type };
	return sweep(b, n + 1);
}

size_t boot_copy_string(char *to, size_t size, const char *from, size_t n, const char *what)
{
	size_t i = 0;

	while (i < n && from[i] && i + 1 < size) {
		to[i] = from[i];
		i++;
	}
	to[i] = 0;
	if (i < n && from[i])
		pr_warn("boot: %s is longer than %zu bytes, cut", what, size - 1);
	return i;
}

void boot_add_module(struct boot_info *b, u64 start, u64 end, const char *name)
{
	struct boot_module *m;

	if (start >= end) {
		pr_warn("boot: module '%s' is empty, ignored", name);
		return;
	}
	if (b->nr_modules == BOOT_MAX_MODULES) {
		pr_warn("boot: more than %d modules, '%s' is ignored", BOOT_MAX_MODULES, name);
		return;
	}
	m = &b->modules[b->nr_modules++];
	m->start = start;
	m->end = end;
	boot_copy_string(m->name, sizeof(m->name), name, sizeof(m->name) * 4, "a module's name");
}
