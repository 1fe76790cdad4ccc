/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ksyms.c - names for addresses. The table is linked into .rodata by tools/mksyms: {offset from
 * KERNEL_BASE, offset of the name} sorted by address, so a look-up is one binary search and works
 * from the first instruction on, NMI included.
 */
#include "kernel/ksyms.h"
#include "arch/page.h"
#include "lib/printf.h"
#include "lib/string.h"

/* for %pS, from the start */
const char *(*printf_symbol)(char *buf, size_t n, unsigned long addr) = ksym_format;

struct ksym {
	u32 addr, name;
};
extern const struct ksym __ksyms[];
extern const u32 __ksyms_count;
extern const char __ksyms_names[];
extern const char __text_start[], __init_text_end[];

/* => index of the last symbol at or below addr, -1 when there is none. */
static long find(unsigned long addr)
{
	u32 lo = 0, hi = __ksyms_count, off;

	if (addr < (unsigned long)__text_start || addr >= (unsigned long)__init_text_end)
		return -1;
	off = addr - KERNEL_BASE;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (__ksyms[mid].addr <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (long)lo - 1;
}

const char *ksym_lookup(unsigned long addr, unsigned long *offset)
{
	long i = find(addr);

	if (i < 0)
		return NULL;
	if (offset)
		*offset = addr - KERNEL_BASE - __ksyms[i].addr;
	return __ksyms_names + __ksyms[i].name;
}

const char *ksym_format(char *buf, size_t n, unsigned long addr)
{
	long i = find(addr);
	unsigned long end;

	if (i < 0) {
		snprintf(buf, n, "0x%lx", addr);
		return buf;
	}
	end = i + 1 < (long)__ksyms_count ? __ksyms[i + 1].addr
					  : (unsigned long)__init_text_end - KERNEL_BASE;
	snprintf(buf, n, "%s+0x%lx/0x%lx", __ksyms_names + __ksyms[i].name,
		 addr - KERNEL_BASE - __ksyms[i].addr, end - __ksyms[i].addr);
	return buf;
}
